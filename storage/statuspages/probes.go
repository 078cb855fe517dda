package statuspages

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

// probeJoins follows the table of probes in statements with [probeColumns].
const probeJoins = ` p join status.component c on c.id = p.component_id and c.deleted_at is null left join status.component g on g.id = c.group_id
left join lateral (select * from status.probe_result where probe_id = p.id order by at desc limit 1) r on true`

// Probes reads the probes of a page with their newest results, in the order of creation.
func (s *DB) Probes(ctx context.Context, page string) ([]*status.Probe, error) {
	return read(ctx, s, probeTargets, nil,
		`select `+probeColumns+` from status.probe`+probeJoins+` where c.page_id = $1 order by p.id`, page)
}

// AddProbe adds a probe of a component and returns its id. It fails with [status.BadInput] if the settings are invalid
// or do not fit the component, and with [status.NotFound] if the component does not exist. It is one transaction,
// which also writes the audit log and raises the page's revision.
func (e *Editor) AddProbe(ctx context.Context, by Author, in status.Probe) (int64, error) {
	err := status.CheckProbe(&in)
	if err != nil {
		return 0, err
	}
	page, err := e.pageOf(ctx, by, componentTable, "component", in.Component)
	if err != nil {
		return 0, err
	}
	object, err := e.edit(ctx, by, "probe.add", page,
		func(ctx context.Context, tx *commandTx) error {
			w, err := tx.workingCopy(ctx)
			if err != nil {
				return err
			}
			c, err := w.Leaf(in.Component)
			if err != nil {
				return err
			}
			err = status.FailIf(in.Kind == status.NodeProbe && in.Spec.Node == 0 && !c.NodeID.Valid, status.BadInput,
				"%s does not represent a consensus node: give the node, or set it with component set --node",
				c.QualifiedName())
			if err != nil {
				return err
			}
			tx.table = probeTable
			_, err = tx.scan(ctx, "inserting a probe", []any{&tx.object}, `insert into status.probe (component_id, kind, spec, every_seconds, fail_after, pass_after,
sets_status, publish, enabled) values ($1, $2, $3, $4, $5, $6, $7, $8, true) returning id::text`,
				in.Component, in.Kind, in.Spec, int(in.Every/time.Second), in.FailAfter, in.PassAfter, in.Sets,
				in.Publish)
			return err
		})
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseInt(object, 10, 64)
	return id, wrap.Error(err, "parsing the id of the probe")
}

// RemoveProbe deletes a probe and its results. The status that it has set stays. It fails with [status.NotFound] if
// the probe does not exist. It is one transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) RemoveProbe(ctx context.Context, by Author, id int64) error {
	return e.editProbe(ctx, by, "probe.remove", id, `delete from status.probe where id = $1`)
}

// EnableProbe enables or disables a probe. An enabled one runs at once, and its count of consecutive results starts
// again. It is one transaction, which also writes the audit log and raises the page's revision. It fails with
// [status.NotFound] if the probe does not exist.
func (e *Editor) EnableProbe(ctx context.Context, by Author, id int64, on bool) error {
	if on {
		return e.editProbe(ctx, by, "probe.enable", id,
			`update status.probe set enabled = true, streak = 0, toward = level, next_at = '-infinity' where id = $1`)
	}
	return e.editProbe(ctx, by, "probe.disable", id, `update status.probe set enabled = false where id = $1`)
}

// editProbe runs a write that executes one statement on a probe. name is the action in the audit log. $1 in the
// statement is the id. It fails with [status.NotFound] if the probe does not exist.
func (e *Editor) editProbe(ctx context.Context, by Author, name string, id int64, sql string) error {
	_, err := e.editRow(ctx, by, name, probeTable, "probe", strconv.FormatInt(id, 10), executing(sql, id))
	return err
}

// Probe reads the probe with an id, with its last result; nil if it does not exist or its component was removed.
func (s *DB) Probe(ctx context.Context, id int64) (*status.Probe, error) {
	return readOne(ctx, s, probeTargets, nil,
		`select `+probeColumns+` from status.probe`+probeJoins+` where p.id = $1`, id)
}

// RecordHeartbeat stores the current time as the last heartbeat of a probe. It fails with [status.NotFound] if the
// probe does not exist or is of another kind. The audit log gets no entry.
func (e *Editor) RecordHeartbeat(ctx context.Context, id int64) error {
	tag, err := e.db.pool.Exec(ctx, `update status.probe set beat_at = $2 where id = $1 and kind = 'heartbeat'`, id,
		e.now())
	if err != nil {
		return explainWrite(fmt.Errorf("recording a heartbeat: %w", err))
	}
	if tag.RowsAffected() == 0 {
		return status.Errorf(status.NotFound, "probe %d of the kind heartbeat does not exist", id)
	}
	return nil
}

// ClaimProbes returns at most limit probes that are due, on pages that are not mirrors, and claims them by setting
// their next runs to now plus their interval and twice [status.ProbeTimeout]. Other gateways do not run them before. A
// next run that is too far ahead counts as due, since only a clock that was set back leaves it.
func (e *Editor) ClaimProbes(ctx context.Context, limit int) ([]*status.Probe, error) {
	// This runs every second. If nothing is due, nothing is written, so that a read-only database is no error.
	const due = ` p.enabled and (p.next_at <= $1::timestamptz
or p.next_at > $1::timestamptz + 2 * make_interval(secs => p.every_seconds) + $2::interval)`
	waiting, err := read(ctx, e.db, value[int], nil,
		`select 1 from status.probe p where`+due+` limit 1`, e.now(), 2*status.ProbeTimeout)
	if err != nil || len(waiting) == 0 {
		return nil, explainWrite(err)
	}
	rows, _ := e.db.pool.Query(ctx, `with taken as (
  update status.probe set next_at = $1::timestamptz + make_interval(secs => every_seconds) + $2::interval where id in (
    select p.id from status.probe p join status.component c on c.id = p.component_id and c.deleted_at is null join status.page g on g.id = c.page_id
and g.mode <> 'mirror'
    where`+due+`
    order by p.next_at, p.id limit $3 for update of p skip locked)
  returning *)
select `+probeColumns+` from taken`+probeJoins+` order by p.id`,
		e.now(), 2*status.ProbeTimeout, limit) // rows have the error
	out, err := storage.MapperOf(probeTargets, nil).Collect(rows)
	return out, explainWrite(wrap.Error(err, "claiming probes"))
}

// RecordResult stores a result of a probe, its level and the time of its next run. changed reports whether the level
// has to be applied; see [Editor.ApplyProbe]. It does nothing if the probe was removed. A second result of the same
// millisecond is not stored, but counts. With an error, changed is not valid.
func (e *Editor) RecordResult(
	ctx context.Context, id int64, r status.ProbeResult, next time.Time,
) (changed bool, err error) {
	err = e.db.begin(ctx, func(tx pgx.Tx) error {
		var h status.Hysteresis
		var fail, pass int32
		var acted status.Level
		err := tx.QueryRow(ctx,
			`select level::text, streak, toward::text, acted::text, fail_after, pass_after from status.probe
where id = $1 for update`, id).
			Scan(&h.Level, &h.Streak, &h.Toward, &acted, &fail, &pass)
		if errors.Is(err, pgx.ErrNoRows) { // removed while it ran
			return nil
		}
		if err != nil {
			return fmt.Errorf("locking the probe: %w", err)
		}
		h = h.Next(r.Level, fail, pass)
		changed = h.Level != acted
		_, err = tx.Exec(ctx,
			`update status.probe set level = $2, streak = $3, toward = $4, next_at = $5 where id = $1`,
			id, string(h.Level), h.Streak, string(h.Toward), next)
		if err != nil {
			return fmt.Errorf("updating the probe: %w", err)
		}
		took := ledger.Null[int64]{V: r.Took.Milliseconds(), Valid: r.Took >= 0}
		_, err = tx.Exec(ctx, `insert into status.probe_result (probe_id, at, ok, level, latency_ms, detail) values ($1, $2, $3, nullif($4, ''), $5, $6)
on conflict (probe_id, at) do nothing`,
			id, status.Milliseconds(r.At), r.Level == status.Good || r.Level == status.Unknown, string(r.Level),
			took.Pointer(), r.Detail)
		return wrap.Error(err, "inserting the result")
	})
	return changed, explainWrite(err)
}

const resultRetention = 30 * 24 * time.Hour

// PruneResults deletes results of probes that are older than resultRetention, 30 days. If there are none, it writes
// nothing.
func (e *Editor) PruneResults(ctx context.Context) error {
	old, err := read(ctx, e.db, value[int], nil,
		`select 1 from status.probe_result where at < $1 limit 1`, e.now().Add(-resultRetention))
	if err != nil || len(old) == 0 {
		return explainWrite(err)
	}
	return e.db.exec(ctx, "deleting old results of probes", `delete from status.probe_result where at < $1`,
		e.now().Add(-resultRetention))
}

// probeAuthor returns the author in the audit log of changes by the probe with an id.
func probeAuthor(id int64) Author {
	return Author{Name: "probe " + strconv.FormatInt(id, 10), Origin: status.FromProbe}
}

// ApplyProbe applies the level of a probe to its page by the rules of [status.WorkingCopy.ApplyProbe]: it sets the
// status of the component, or writes or withdraws an incident. It is a single write that happens once, even if several
// gateways call it. It returns the probe and the outcome. Both are nil if there is nothing to do, for example because
// the probe was removed or disabled, its level is applied already, the page is a mirror, or the component is under
// maintenance. If the page does not change, a transaction of its own records that the level was applied. If that
// transaction fails, it returns both with the error.
func (e *Editor) ApplyProbe(ctx context.Context, id int64) (p *status.Probe, out *status.ProbeOutcome, err error) {
	p, err = e.db.Probe(ctx, id)
	if err != nil || p == nil {
		return nil, nil, explainWrite(err)
	}
	_, err = e.edit(ctx, probeAuthor(id), status.ProbeNote, p.PageCode,
		func(ctx context.Context, tx *commandTx) error {
			out = nil
			facts, err := tx.probeFacts(ctx, id)
			if err != nil {
				return err
			}
			if facts == nil {
				return ErrUnchanged
			}
			p = facts.Probe
			c, err := tx.workingCopy(ctx)
			if err != nil {
				return err
			}
			out, err = c.ApplyProbe(*facts)
			if err != nil {
				return err
			}
			if out == nil || out.Unchanged {
				return ErrUnchanged
			}
			return tx.storeProbe(ctx, p, out)
		})
	if err != nil || out == nil {
		return nil, nil, err
	}
	if out.Unchanged {
		err = e.noteProbe(ctx, p, out)
	}
	return p, out, err
}

// noteProbe writes in a transaction of its own that the level of a probe was applied, without a change of the page. If
// another gateway has done so, it writes nothing. The audit log gets an entry if the outcome has an object.
func (e *Editor) noteProbe(ctx context.Context, p *status.Probe, out *status.ProbeOutcome) error {
	err := e.db.begin(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `update status.probe set acted = $2 where id = $1 and acted = $3`, p.ID,
			string(p.Level), string(p.Applied))
		if err != nil {
			return fmt.Errorf("updating the probe: %w", err)
		}
		if tag.RowsAffected() == 0 || out.Object == "" {
			return nil
		}
		_, err = tx.Exec(ctx, `insert into status.audit (at, page_id, actor, action, object_id, after)
values ($1, $2, $3, $4, $5, jsonb_build_object('component', $6::text, 'level', $7::text))`,
			e.now(), p.PageCode, probeAuthor(p.ID).Name, out.Action, out.Object, p.Component, string(p.Level))
		return wrap.Error(err, "writing the audit log")
	})
	return explainWrite(wrap.Error(err, "recording that a probe was applied"))
}

// probeFacts locks a probe and reads what its application depends on. It returns nil without an error if the probe was
// removed or disabled, its level is applied already, the page is a mirror, or the component is under maintenance. It
// also locks the incidents that it returns, until the transaction ends.
func (tx *commandTx) probeFacts(ctx context.Context, id int64) (*status.ProbeFacts, error) {
	_, err := tx.scan(ctx, "locking the probe", nil, `select from status.probe where id = $1 for update`, id)
	if err != nil {
		return nil, err
	}
	db := tx.editor.db
	p, err := db.Probe(ctx, id)
	if err != nil || p == nil || !p.Enabled || p.Level == p.Applied || tx.Page.Mode == status.Mirror {
		return nil, err
	}
	f := &status.ProbeFacts{Probe: p}
	var maintenance bool
	var joinable, joinableDraft *string
	_, err = tx.scan(ctx, "reading the state of probes",
		[]any{&maintenance, &f.Edited, &joinable, &joinableDraft, &f.PublishedLastHour, &f.Remotes, &f.FailingRemotes}, `with joinable as (
  select draft, max(id) as id from status.incident where page_id = $1 and origin = 'probe' and deleted_at is null and resolved_at is null
and probe_version = version
    and created_at between $3::timestamptz and $4::timestamptz group by draft)
select exists (select from status.incident_component h join status.incident n on n.id = h.incident_id
    where h.component_id = $2 and n.state in ('in_progress', 'verifying') and n.deleted_at is null and not n.draft),
  coalesce((select probe_version is distinct from version from status.incident where id = $5), false),
  (select id from joinable where not draft), (select id from joinable where draft),
  (select count(*) from status.incident where page_id = $1 and origin = 'probe' and not draft and created_at > $6),
  count(*) filter (where p.kind in ('http', 'graphql', 'tcp')), count(*) filter (where p.kind in ('http', 'graphql', 'tcp')
and (p.level = 'bad' or p.streak > 0 and p.toward = 'bad'))
from status.probe p join status.component c on c.id = p.component_id and c.deleted_at is null where c.page_id = $1 and p.enabled`,
		tx.Page.Code, p.Component, tx.At.Add(-status.ProbeJoin), tx.At, p.Incident, tx.At.Add(-time.Hour))
	if err != nil || maintenance { // probes are not applied during a maintenance
		return nil, err
	}
	for _, n := range []struct {
		code *string
		into *status.NoticeState
	}{{&p.Incident, &f.Incident}, {joinable, &f.Joinable}, {joinableDraft, &f.JoinableDraft}} {
		if n.code != nil && *n.code != "" {
			*n.into, err = tx.noticeState(ctx, *n.code, ` for update`)
			if err != nil {
				return nil, err
			}
		}
	}
	f.Others, err = read(ctx, db, probeTargets, nil,
		`select `+probeColumns+` from status.probe`+probeJoins+` where c.page_id = $1 and p.incident_id is not null and p.id <> $2
and p.acted <> 'good' and p.enabled order by p.id`, tx.Page.Code, id)
	return f, err
}

// storeProbe queues the statements that write what a probe does to its page, and that the level was applied. It sets
// the action and the object of the audit log in tx. It reads the row that it changes, for the audit log.
func (tx *commandTx) storeProbe(ctx context.Context, p *status.Probe, out *status.ProbeOutcome) error {
	tx.action = out.Action
	var err error
	switch {
	case out.Component != nil:
		_, err = tx.target(ctx, componentTable, byID, out.Object)
		tx.insertChanges(out.Changes)
		tx.updateBase(out.Component)
	case out.Withdraw != "":
		_, err = tx.target(ctx, noticeTable, byID, out.Withdraw)
		tx.deleteNotice(out.Withdraw)
	case !out.Effect.New:
		_, err = tx.target(ctx, noticeTable, byID, out.Object)
	}
	if err != nil {
		return err
	}
	if out.Effect != nil {
		tx.store(out.Effect)
		if out.Withdraw != "" { // its probes move to the new draft
			tx.queue(`update status.probe set incident_id = $2 where incident_id = $1`, out.Withdraw, out.Incident)
		}
	}
	tx.queue(`update status.probe set acted = level, incident_id = nullif($2, ''),
set_status = nullif($3, '')::status.component_status where id = $1`,
		p.ID, out.Incident, string(out.Set))
	if tx.object == out.Incident { // otherwise an editor may have changed it since
		tx.setProbeVersion()
	}
	return nil
}

// setProbeVersion queues the statement that records the version of the notice that is written to: later versions
// are those of editors.
func (tx *commandTx) setProbeVersion() {
	tx.queue(`update status.incident set probe_version = version where id = $1`, tx.object)
}

// ResolveProbed resolves the incidents of probes that have passed for [status.ProbeHoldOff] and that no editor has
// changed, on pages that publish automatically and are not mirrors. Each is a write of its own. An error of one does
// not affect the others. It returns the codes of resolved incidents, also with an error.
func (e *Editor) ResolveProbed(ctx context.Context) ([]string, error) {
	const ready = ` n.origin = 'probe' and not n.draft and n.deleted_at is null and n.state = 'monitoring' and n.probe_version = n.version
and n.monitoring_at <= $1
  and not exists (select from status.probe p where p.incident_id = n.id and p.enabled and (p.acted <> 'good' or p.level <> 'good'))`
	list, err := read(ctx, e.db, noticeTargets, nil,
		`select `+noticeColumns+` from status.incident n join status.page g on g.id = n.page_id and g.mode <> 'mirror'
and g.auto_publish where`+ready, e.now().Add(-status.ProbeHoldOff))
	if err != nil {
		return nil, err
	}
	var out []string
	var failed []error
	for _, n := range list {
		resolved := false
		_, err := e.edit(ctx, probeAuthor(n.ProbeID.V), status.ProbeResolve, n.PageCode,
			func(ctx context.Context, tx *commandTx) error {
				found, err := tx.scan(ctx, "checking whether an incident can be resolved", nil,
					`select from status.incident n where n.id = $2 and`+ready,
					tx.At.Add(-status.ProbeHoldOff), n.Code)
				if err == nil && !found {
					err = ErrUnchanged
				}
				if err != nil {
					return err
				}
				_, err = tx.target(ctx, noticeTable, byID, n.Code)
				if err != nil {
					return err
				}
				s, err := tx.notice(ctx, "incident", n.Code)
				if err != nil {
					return err
				}
				resolved = true
				err = tx.storeNotice(ctx, func(c *status.WorkingCopy) (*status.Effect, error) {
					return c.ResolveProbed(s)
				})
				tx.setProbeVersion()
				return err
			})
		if err != nil {
			failed = append(failed, fmt.Errorf("resolving the incident %s: %w", n.Code, err))
		} else if resolved {
			out = append(out, n.Code)
		}
	}
	return out, errors.Join(failed...)
}

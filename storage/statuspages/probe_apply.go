package statuspages

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/status"
)

// ProbeAction is what a probe did to its page.
type ProbeAction struct {
	Probe  *status.Probe
	Action string // as in the audit log, such as [status.ProbeOpen]
	Object string // code of the notice or the component
	Draft  bool
}

// probeAuthor returns the author of a probe's writes.
func probeAuthor(id int64) Author {
	return Author{Name: "probe " + strconv.FormatInt(id, 10), Origin: status.FromProbe}
}

// ApplyProbe applies the level of a probe to its page; see [status.WorkingCopy.ApplyProbe]. It is a single write that happens once, even if several gateways
// call it. It returns nil if there is nothing to do, because another gateway did it, or because the component is under maintenance, during which probes are
// not applied.
func (e *Editor) ApplyProbe(ctx context.Context, id int64) (*ProbeAction, error) {
	p, err := e.db.Probe(ctx, id)
	if err != nil || p == nil {
		return nil, explainWrite(err)
	}
	var out *status.ProbeOutcome
	_, err = e.edit(ctx, command{by: probeAuthor(id), name: status.ProbeNote, page: p.PageCode}, func(ctx context.Context, w *write) {
		out = nil
		facts := w.probeFacts(ctx, id)
		if facts == nil {
			check(ErrUnchanged)
			return
		}
		p = facts.Probe
		if out = must(w.workingCopy(ctx).ApplyProbe(*facts)); out == nil || out.Unchanged {
			check(ErrUnchanged)
		}
		w.storeProbe(ctx, p, out)
	})
	if err != nil || out == nil {
		return nil, err
	}
	if out.Unchanged {
		err = e.noteProbe(ctx, p, out)
	}
	return &ProbeAction{Probe: p, Action: out.Action, Object: out.Object, Draft: out.Draft()}, err
}

// noteProbe records that a probe's level was applied without a change of the page.
func (e *Editor) noteProbe(ctx context.Context, p *status.Probe, out *status.ProbeOutcome) error {
	err := e.db.begin(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `update status.probe set acted = $2 where id = $1 and acted = $3`, p.ID, string(p.Level), string(p.Applied))
		if err != nil {
			return fmt.Errorf("updating the probe: %w", err)
		}
		if tag.RowsAffected() == 0 || out.Object == "" {
			return nil
		}
		_, err = tx.Exec(ctx, `insert into status.audit (at, page_id, actor, action, object_id, after)
values ($1, $2, $3, $4, $5, jsonb_build_object('component', $6::text, 'level', $7::text))`,
			e.now(), p.PageCode, probeAuthor(p.ID).Name, out.Action, out.Object, p.Component, string(p.Level))
		if err != nil {
			return fmt.Errorf("writing the audit log: %w", err)
		}
		return nil
	})
	if err != nil {
		return explainWrite(fmt.Errorf("recording that a probe was applied: %w", err))
	}
	return nil
}

// probeFacts locks a probe and reads what its application depends on. It returns nil if the level is applied already, or cannot be applied now.
func (w *write) probeFacts(ctx context.Context, id int64) *status.ProbeFacts {
	w.scan(ctx, "locking the probe", nil, `select from status.probe where id = $1 for update`, id)
	db := w.editor.db
	p := must(db.Probe(ctx, id))
	if p == nil || !p.Enabled || p.Level == p.Applied || w.Page.Mode == status.Mirror {
		return nil
	}
	f := &status.ProbeFacts{Probe: p}
	var maintenance bool
	var joinable, joinableDraft *string
	w.scan(ctx, "reading the state of probes",
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
		w.Page.Code, p.Component, w.At.Add(-status.ProbeJoin), w.At, p.Incident, w.At.Add(-time.Hour))
	if maintenance {
		return nil // probes are not applied during a maintenance
	}
	for _, n := range []struct {
		code *string
		into *status.NoticeState
	}{{&p.Incident, &f.Incident}, {joinable, &f.Joinable}, {joinableDraft, &f.JoinableDraft}} {
		if n.code != nil && *n.code != "" {
			*n.into = w.noticeState(ctx, *n.code, ` for update`)
		}
	}
	f.Others = must(read(ctx, db, `select `+probeColumns+` from status.probe`+probeJoins+` where c.page_id = $1 and p.incident_id is not null and p.id <> $2
and p.acted <> 'good' and p.enabled order by p.id`,
		[]any{w.Page.Code, id}, probeTargets, nil))
	return f
}

// storeProbe writes what a probe does to its page.
func (w *write) storeProbe(ctx context.Context, p *status.Probe, out *status.ProbeOutcome) {
	w.command.name = out.Action
	switch {
	case out.Component != nil:
		w.target(ctx, componentTable, out.Object)
		w.insertChanges(out.Changes)
		w.updateBase(out.Component)
	case out.Withdraw != "":
		w.target(ctx, noticeTable, out.Withdraw)
		w.deleteDraft(out.Withdraw)
	case !out.Effect.New:
		w.target(ctx, noticeTable, out.Object)
	}
	if out.Effect != nil {
		w.store(out.Effect)
		if out.Withdraw != "" { // its probes move to the new draft
			w.queue(`update status.probe set incident_id = $2 where incident_id = $1`, out.Withdraw, out.Incident)
		}
	}
	w.queue(`update status.probe set acted = level, incident_id = nullif($2, ''),
set_status = nullif($3, '')::status.component_status where id = $1`,
		p.ID, out.Incident, string(out.Set))
	if w.object == out.Incident { // otherwise an editor may have changed it since
		w.setProbeVersion()
	}
}

// setProbeVersion records the version of the notice that is written to: later versions are those of editors.
func (w *write) setProbeVersion() {
	w.queue(`update status.incident set probe_version = version where id = $1`, w.object)
}

// ResolveProbed resolves the incidents of probes that have passed for [status.ProbeHoldOff] and that no editor has changed. It returns their codes.
func (e *Editor) ResolveProbed(ctx context.Context) ([]string, error) {
	const ready = ` n.origin = 'probe' and not n.draft and n.deleted_at is null and n.state = 'monitoring' and n.probe_version = n.version
and n.monitoring_at <= $1
  and not exists (select from status.probe p where p.incident_id = n.id and p.enabled and (p.acted <> 'good' or p.level <> 'good'))`
	list, err := read(ctx, e.db, `select `+noticeColumns+` from status.incident n join status.page g on g.id = n.page_id and g.mode <> 'mirror'
and g.auto_publish where`+ready,
		[]any{e.now().Add(-status.ProbeHoldOff)}, noticeTargets, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range list {
		resolved := false
		_, err := e.edit(ctx, command{by: probeAuthor(n.ProbeID.V), name: status.ProbeResolve, page: n.PageCode}, func(ctx context.Context, w *write) {
			if !w.scan(ctx, "checking whether an incident can be resolved", nil, `select from status.incident n where n.id = $2 and`+ready,
				w.At.Add(-status.ProbeHoldOff), n.Code) {
				check(ErrUnchanged)
			}
			s := w.notice(ctx, "incident", n.Code)
			resolved = true
			w.store(must(w.workingCopy(ctx).ResolveProbed(s)))
			w.setProbeVersion()
		})
		if err != nil {
			return out, err
		}
		if resolved {
			out = append(out, n.Code)
		}
	}
	return out, nil
}

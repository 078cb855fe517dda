package statuspages

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

const probeTable = "status.probe"

const probeColumns = `p.id, c.page_id, p.component_id, coalesce(g.name || ' - ', '') || c.name, p.kind, p.spec, make_interval(secs => p.every_seconds),
  p.fail_after, p.pass_after, p.sets_status::text, p.publish, p.enabled,
  p.level::text, p.streak, p.toward::text, p.acted::text, coalesce(p.incident_id, ''), coalesce(p.set_status::text, ''), p.beat_at, coalesce(c.node_id, -1),
  r.at, coalesce(r.level, ''), coalesce(r.latency_ms, -1) * interval '1 millisecond', coalesce(r.detail, '')`

// probeJoins follows the table of probes in statements with [probeColumns].
const probeJoins = ` p join status.component c on c.id = p.component_id and c.deleted_at is null left join status.component g on g.id = c.group_id
left join lateral (select * from status.probe_result where probe_id = p.id order by at desc limit 1) r on true`

func probeTargets(p *status.Probe, into []any) []any {
	return append(into, &p.ID, &p.PageCode, &p.Component, &p.Name, &p.Kind, &p.Spec, &p.Every, &p.FailAfter, &p.PassAfter, &p.Sets,
		&p.Publish, &p.Enabled,
		&p.Level, &p.Streak, &p.Toward, &p.Applied, &p.Incident, &p.Set, (*maybeTime)(&p.BeatAt), &p.NodeID,
		(*maybeTime)(&p.Last.At), &p.Last.Level, &p.Last.Took, &p.Last.Detail)
}

// Probes returns the probes of a page with their newest results, in the order of creation.
func (s *DB) Probes(ctx context.Context, page string) ([]*status.Probe, error) {
	return read(ctx, s, `select `+probeColumns+` from status.probe`+probeJoins+` where c.page_id = $1 order by p.id`, []any{page}, probeTargets, nil)
}

// AddProbe adds a probe of a component and returns its id.
func (e *Editor) AddProbe(ctx context.Context, by Author, in status.Probe) (int64, error) {
	if err := status.CheckProbe(&in); err != nil {
		return 0, err
	}
	page, err := e.pageOf(ctx, componentTable, "component", in.Component)
	if err != nil {
		return 0, err
	}
	object, err := e.edit(ctx, command{by: by, name: "probe.add", page: page}, func(ctx context.Context, w *write) {
		c := must(w.workingCopy(ctx).Leaf(in.Component))
		if in.Kind == status.NodeProbe && in.Spec.Node == 0 && !c.NodeID.Valid {
			check(status.Errorf(status.BadInput, "%s does not represent a consensus node: give the node, or set it with component set --node",
				c.QualifiedName()))
		}
		w.table = probeTable
		w.scan(ctx, "inserting a probe", []any{&w.object}, `insert into status.probe (component_id, kind, spec, every_seconds, fail_after, pass_after,
sets_status, publish, enabled) values ($1, $2, $3, $4, $5, $6, $7, $8, true) returning id::text`,
			in.Component, in.Kind, in.Spec, int(in.Every/time.Second), in.FailAfter, in.PassAfter, in.Sets, in.Publish)
	})
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseInt(object, 10, 64)
	if err != nil && by.Preview == nil {
		return 0, fmt.Errorf("parsing the id of the probe: %w", err)
	}
	return id, nil
}

// RemoveProbe removes a probe. The status that it has set stays.
func (e *Editor) RemoveProbe(ctx context.Context, by Author, id int64) error {
	return e.editProbe(ctx, by, "probe.remove", id, `delete from status.probe where id = $1`)
}

// EnableProbe enables or disables a probe.
func (e *Editor) EnableProbe(ctx context.Context, by Author, id int64, on bool) error {
	if on {
		return e.editProbe(ctx, by, "probe.enable", id, `update status.probe set enabled = true, streak = 0, toward = level, next_at = '-infinity' where id = $1`)
	}
	return e.editProbe(ctx, by, "probe.disable", id, `update status.probe set enabled = false where id = $1`)
}

func (e *Editor) editProbe(ctx context.Context, by Author, name string, id int64, sql string) error {
	p, err := e.db.Probe(ctx, id)
	if err != nil {
		return explainWrite(err)
	}
	if p == nil {
		return noProbe(id)
	}
	_, err = e.edit(ctx, command{by: by, name: name, page: p.PageCode}, func(ctx context.Context, w *write) {
		if !w.target(ctx, probeTable, strconv.FormatInt(id, 10)) {
			check(noProbe(id))
		}
		w.queue(sql, id)
	})
	return err
}

func noProbe(id int64) error { return status.Errorf(status.NotFound, "probe %d does not exist", id) }

// Probe returns the probe with an id, or nil.
func (s *DB) Probe(ctx context.Context, id int64) (*status.Probe, error) {
	return readOne(ctx, s, `select `+probeColumns+` from status.probe`+probeJoins+` where p.id = $1`, []any{id}, probeTargets, nil)
}

// RecordHeartbeat records a heartbeat of a probe.
func (e *Editor) RecordHeartbeat(ctx context.Context, id int64) error {
	tag, err := e.db.pool.Exec(ctx, `update status.probe set beat_at = $2 where id = $1 and kind = 'heartbeat'`, id, e.now())
	if err != nil {
		return explainWrite(fmt.Errorf("recording a heartbeat: %w", err))
	}
	if tag.RowsAffected() == 0 {
		return status.Errorf(status.NotFound, "probe %d of the kind heartbeat does not exist", id)
	}
	return nil
}

// ClaimProbes claims at most limit probes that are due, on pages that are not mirrors, until their timeouts. Other gateways do not run them meanwhile.
func (e *Editor) ClaimProbes(ctx context.Context, limit int) ([]*status.Probe, error) {
	// This runs every second. If nothing is due, nothing is written, so that a read-only database is no error.
	const due = ` p.enabled and (p.next_at <= $1::timestamptz or p.next_at > $1::timestamptz + 2 * make_interval(secs => p.every_seconds) + $2::interval)`
	waiting, err := read(ctx, e.db, `select 1 from status.probe p where`+due+` limit 1`, []any{e.now(), 2 * status.ProbeTimeout}, value[int], nil)
	if err != nil || len(waiting) == 0 {
		return nil, explainWrite(err)
	}
	rows, err := e.db.pool.Query(ctx, `with taken as (
  update status.probe set next_at = $1::timestamptz + make_interval(secs => every_seconds) + $2::interval where id in (
    select p.id from status.probe p join status.component c on c.id = p.component_id and c.deleted_at is null join status.page g on g.id = c.page_id
and g.mode <> 'mirror'
    where`+due+`
    order by p.next_at, p.id limit $3 for update of p skip locked)
  returning *)
select `+probeColumns+` from taken`+probeJoins+` order by p.id`,
		e.now(), 2*status.ProbeTimeout, limit)
	if err != nil {
		return nil, explainWrite(fmt.Errorf("claiming probes: %w", err))
	}
	out, err := storage.MapperOf(probeTargets, nil).Collect(rows)
	return out, explainWrite(err)
}

// RecordResult records a result of a probe and the time of its next run. changed reports whether the level has to be applied; see [Editor.ApplyProbe].
func (e *Editor) RecordResult(ctx context.Context, id int64, r status.ProbeResult, next time.Time) (changed bool, err error) {
	err = e.db.begin(ctx, func(tx pgx.Tx) error {
		var h status.Hysteresis
		var fail, pass int32
		var acted status.Level
		err := tx.QueryRow(ctx, `select level::text, streak, toward::text, acted::text, fail_after, pass_after from status.probe where id = $1 for update`, id).
			Scan(&h.Level, &h.Streak, &h.Toward, &acted, &fail, &pass)
		if errors.Is(err, pgx.ErrNoRows) { // removed while it ran
			return nil
		}
		if err != nil {
			return fmt.Errorf("locking the probe: %w", err)
		}
		h = h.Next(r.Level, fail, pass)
		changed = h.Level != acted
		if _, err := tx.Exec(ctx, `update status.probe set level = $2, streak = $3, toward = $4, next_at = $5 where id = $1`, id, string(h.Level), h.Streak,
			string(h.Toward), next); err != nil {
			return fmt.Errorf("updating the probe: %w", err)
		}
		took := ledger.Null[int64]{V: r.Took.Milliseconds(), Valid: r.Took >= 0}
		_, err = tx.Exec(ctx, `insert into status.probe_result (probe_id, at, ok, level, latency_ms, detail) values ($1, $2, $3, nullif($4, ''), $5, $6)
on conflict (probe_id, at) do nothing`,
			id, status.Milliseconds(r.At), r.Level == status.Good || r.Level == status.Unknown, string(r.Level), took.Pointer(), r.Detail)
		if err != nil {
			return fmt.Errorf("inserting the result: %w", err)
		}
		return nil
	})
	return changed, explainWrite(err)
}

// resultRetention is the retention period of results of probes.
const resultRetention = 30 * 24 * time.Hour

// PruneResults deletes old results of probes.
func (e *Editor) PruneResults(ctx context.Context) error {
	old, err := read(ctx, e.db, `select 1 from status.probe_result where at < $1 limit 1`, []any{e.now().Add(-resultRetention)}, value[int], nil)
	if err != nil || len(old) == 0 {
		return explainWrite(err)
	}
	return e.db.exec(ctx, "deleting old results of probes", `delete from status.probe_result where at < $1`, e.now().Add(-resultRetention))
}

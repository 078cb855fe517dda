package statuspages

import (
	"context"
	"slices"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/status"
)

// components reads the components of a page that are not deleted, in no order, with times in its zone. Their statuses
// are not computed yet; see [status.NewWorkingCopy].
func (s *DB) components(ctx context.Context, page *status.Page) ([]*status.Component, error) {
	return read(ctx, s, componentTargets, func(c *status.Component) error {
		status.InZone(page.Zone, &c.CreatedAt, &c.UpdatedAt)
		return nil
	}, `select `+componentColumns+` from status.component where page_id = $1 and deleted_at is null`, page.Code)
}

// Components reads the components of a page with their statuses, in the order of documents. It leaves out empty
// groups, which are not published.
func (s *DB) Components(ctx context.Context, page *status.Page) ([]*status.Component, error) {
	w, err := s.WorkingCopy(ctx, page)
	if err != nil {
		return nil, err
	}
	isEmpty := func(c *status.Component) bool { return c.IsGroup && c.Children == nil }
	return slices.DeleteFunc(w.Components, isEmpty), nil
}

// PageState reads the components of a page and the worst impact of its open incidents, and returns them as the
// state of the page. All reads see one snapshot: that of ctx if it has one, else a new one.
func (s *DB) PageState(ctx context.Context, page *status.Page) (*status.PageState, error) {
	if ctx.Value(txKey{s}) == nil {
		snapshot, end, err := s.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		ctx = snapshot
	}
	components, err := s.Components(ctx, page)
	if err != nil {
		return nil, err
	}
	worst, err := readValue[status.Impact](ctx, s, `select coalesce(max(impact)::text, '') from status.incident
where page_id = $1 and kind = 'realtime' and state in ('investigating', 'identified', 'monitoring') and deleted_at is null and not draft`, page.Code)
	if err != nil {
		return nil, err
	}
	return status.NewPageState(page, components, worst), nil
}

// PageOfComponent reads the code of the page of a component, or "" if the component does not exist or was removed.
func (s *DB) PageOfComponent(ctx context.Context, code string) (string, error) {
	return readValue[string](ctx, s, `select page_id from status.component where id = $1 and deleted_at is null`, code)
}

// Histories reads the events of components and returns their known statuses, for their uptimes; one list per
// component, in the given order. With an error, the list is nil.
func (s *DB) Histories(ctx context.Context, components []*status.Component) ([][]status.HistoryPoint, error) {
	codes := list.Map(components, func(c *status.Component) string { return c.Code })
	events, err := read(ctx, s, eventTargets, nil, `with mentioned as (
  select distinct c.code, n.id from status.update_component c join status.incident_update u on u.id = c.update_id
  join status.incident n on n.id = u.incident_id and n.deleted_at is null and not n.draft where c.code = any($1::text[]))
select m.code, m.id, u.id, u.state::text, u.created_at, u.display_at, coalesce(c.old_status::text, ''), coalesce(c.new_status::text, '')
from mentioned m join status.incident_update u on u.incident_id = m.id left join status.update_component c on c.update_id = u.id and c.code = m.code
where c.code is not null or u.state in ('resolved', 'completed')
union all `+statusChanges+` where component_id = any($1::text[]) and update_id is null order by 5, 3`, codes)
	if err != nil {
		return nil, err
	}
	out := make([][]status.HistoryPoint, len(components))
	for i, stated := range grouped(events, codes, func(e *status.HistoryEvent) string { return e.Component }) {
		c := components[i]
		out[i] = status.HistoryOf(stated, c.KnownFrom.Or(c.CreatedAt),
			status.HistoryPoint{At: c.UpdatedAt, Status: c.Status})
	}
	return out, nil
}

const statusChanges = `select component_id, '', '', '', changed_at, null::timestamptz, coalesce(old_status::text, ''), new_status::text
from status.component_change`

// eventTargets appends the scan targets of the columns of an event in the order of the statements of [DB.Histories]
// and of statusChanges.
func eventTargets(e *status.HistoryEvent, into []any) []any {
	return append(into, &e.Component, &e.Notice, &e.Update, &e.State, &e.CreatedAt, &e.DisplayAt, &e.Old, &e.New)
}

// grouped returns the rows of each key, in the order of keys. Keys without rows have nil.
func grouped[T any](rows []T, keys []string, key func(T) string) [][]T {
	byKey := make(map[string][]T, len(keys))
	for _, r := range rows {
		byKey[key(r)] = append(byKey[key(r)], r)
	}
	return list.Map(keys, func(k string) []T { return byKey[k] })
}

// AddComponent adds a component or group to a page, moves those behind its position, and returns its code. Empty
// groups are not published. It fails with [status.NotFound] if the page or the group does not exist, with
// [status.BadInput] for invalid settings, and with [status.Conflict] if another component of the page represents the
// same node. It is one transaction, which also writes the audit log and messages for webhooks, and raises the page's
// revision.
func (e *Editor) AddComponent(ctx context.Context, by Author, page string, in status.NewComponent) (string, error) {
	name := "component.add"
	if in.IsGroup {
		name = "group.add"
	}
	return e.edit(ctx, by, name, page, func(ctx context.Context, tx *commandTx) error {
		w, err := tx.workingCopy(ctx)
		if err != nil {
			return err
		}
		c, moved, err := w.AddComponent(in)
		if err != nil {
			return err
		}
		tx.insertComponent(c)
		tx.table, tx.object = componentTable, c.Code
		tx.updatePositions(moved, c)
		return nil
	})
}

// insertComponent queues the insert of a component, and of its first change of status if it is not operational. It
// sets code, page, times and version in c, and in tx the error for a second component of the same node.
func (tx *commandTx) insertComponent(c *status.Component) {
	c.Code = status.NewCode()
	c.PageCode, c.CreatedAt, c.UpdatedAt, c.Version = tx.Page.Code, tx.At, tx.At, 1
	tx.statements.InsertComponent(c)
	tx.conflict = nodeConflict(c)
	if !c.IsGroup && c.BaseStatus != status.Operational {
		tx.insertChanges([]*status.Change{{
			ComponentCode: c.Code, At: tx.At, OldStatus: status.Operational,
			NewStatus: c.BaseStatus, Origin: c.Origin,
		}})
	}
}

// nodeConflict returns the [status.Conflict] error of a second component for the same node, for commandTx.conflict.
func nodeConflict(c *status.Component) error {
	return status.Errorf(status.Conflict, "another component of the page represents node %d", c.NodeID.V)
}

// updatePositions queues the statements that write the positions of moved components other than except. Their
// versions stay, since nothing changes that an editor has seen.
func (tx *commandTx) updatePositions(moved []*status.Component, except *status.Component) {
	for _, c := range moved {
		if c != except {
			tx.queue(`update status.component set position = $2, list_index = $3, updated_at = $4 where id = $1`,
				c.Code, c.Position, c.ListIndex, tx.At)
		}
	}
}

// EditComponent changes a component or group, records the resulting changes of statuses, and returns its code. It
// fails with [status.NotFound] if it does not exist, with [status.BadInput] for invalid settings, and with
// [status.Conflict] if in.ExpectedVersion is neither 0 nor the current version, or if another component of the page
// represents the same node. It is one transaction, which also writes the audit log and messages for webhooks, and
// raises the page's revision.
func (e *Editor) EditComponent(ctx context.Context, by Author, code string, in status.ComponentEdit) (string, error) {
	return e.editComponent(ctx, by, "component.set", code, in.ExpectedVersion,
		func(tx *commandTx, w *status.WorkingCopy, c *status.Component) error {
			changes, err := w.EditComponent(c, in)
			if err != nil {
				return err
			}
			tx.insertChanges(changes)
			tx.conflict = nodeConflict(c)
			tx.queue(`update status.component set name = $2, description = $3,
base_status = nullif($4, '')::status.component_status,
  showcase = $5, only_show_if_degraded = $6, start_date = $7::text::date, node_id = $8 where id = $1`,
				c.Code, c.Name, c.Description.Pointer(), string(c.BaseStatus), c.Showcase, c.OnlyShowIfDegraded,
				c.StartDate.Pointer(), c.NodeID.Pointer())
			return nil
		})
}

// MoveComponent moves a component or group to a position, within its group or to another one, and returns its code.
// Components behind the position move too. It fails with [status.NotFound] if it or the group does not exist, with
// [status.BadInput] for an invalid group or position, and with [status.Conflict] if in.ExpectedVersion is neither 0
// nor the current version. It is one transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) MoveComponent(ctx context.Context, by Author, code string, in status.ComponentMove) (string, error) {
	return e.editComponent(ctx, by, "component.move", code, in.ExpectedVersion,
		func(tx *commandTx, w *status.WorkingCopy, c *status.Component) error {
			moved, err := w.Move(c, in.Group, in.Position)
			if err != nil {
				return err
			}
			tx.updatePositions(moved, c)
			tx.queue(`update status.component set group_id = $2, position = $3, list_index = 0 where id = $1`, c.Code,
				c.GroupCode.Pointer(), c.Position)
			return nil
		})
}

// RemoveComponent marks a component or an empty group of a page as deleted, releases the holds of notices on it, and
// returns its code. Updates that mention it stay. It fails with [status.NotFound] if it does not exist, with
// [status.BadState] if a group is not empty, and with [status.Conflict] if in.ExpectedVersion is neither 0 nor the
// current version. It is one transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) RemoveComponent(
	ctx context.Context, by Author, code string, in status.VersionInput,
) (string, error) {
	return e.editComponent(ctx, by, "component.remove", code, in.ExpectedVersion,
		func(tx *commandTx, w *status.WorkingCopy, c *status.Component) error {
			err := w.CheckRemove(c)
			if err != nil {
				return err
			}
			tx.queue(`update status.incident_component set held_status = null where component_id = $1`, c.Code)
			tx.queue(`update status.component set deleted_at = $2 where id = $1`, c.Code, tx.At)
			return nil
		})
}

// editComponent runs do on a component or group of a working copy, and increments its version, in a write with the
// action name. It fails with [status.NotFound] if it does not exist. It fails with [status.Conflict] unless expected
// is 0 or the current version.
func (e *Editor) editComponent(ctx context.Context, by Author, name, code string, expected int64,
	do func(tx *commandTx, w *status.WorkingCopy, c *status.Component) error,
) (string, error) {
	return e.editRow(ctx, by, name, componentTable, "component", code, func(ctx context.Context, tx *commandTx) error {
		w, err := tx.workingCopy(ctx)
		if err != nil {
			return err
		}
		c := w.Component(code)
		if c == nil {
			return status.Errorf(status.NotFound, "component %s does not exist", code)
		}
		err = status.CheckVersion(c.Name, expected, c.Version)
		if err != nil {
			return err
		}
		version := c.Version
		err = do(tx, w, c)
		if err != nil {
			return err
		}
		tx.queue(`update status.component set version = $2, updated_at = $3 where id = $1`, code, version+1, tx.At)
		return nil
	})
}

package statuspages

import (
	"context"

	"heliograph/internal/domain/status"
)

// AddComponent adds a component or group to a page and returns its code. Empty groups are not published.
func (e *Editor) AddComponent(ctx context.Context, by Author, page string, in status.NewComponent) (string, error) {
	name := "component.add"
	if in.IsGroup {
		name = "group.add"
	}
	return e.edit(ctx, command{by: by, name: name, page: page}, func(ctx context.Context, w *write) error {
		b, err := w.workingCopy(ctx)
		if err != nil {
			return err
		}
		c, moved, err := b.AddComponent(in)
		if err != nil {
			return err
		}
		if err := w.insertComponent(c); err != nil {
			return err
		}
		w.table, w.object = componentTable, c.Code
		w.updatePositions(moved, c)
		return nil
	})
}

// insertComponent writes a new component and sets its code.
func (w *write) insertComponent(c *status.Component) (err error) {
	if c.Code, err = w.editor.code(); err != nil {
		return err
	}
	c.PageCode, c.CreatedAt, c.UpdatedAt, c.Version = w.Page.Code, w.At, w.At, 1
	w.statements.InsertComponent(c)
	w.conflict = nodeConflict(c)
	if !c.IsGroup && c.BaseStatus != status.Operational {
		w.insertChanges([]*status.Change{{ComponentCode: c.Code, At: w.At, OldStatus: status.Operational, NewStatus: c.BaseStatus, Origin: c.Origin}})
	}
	return nil
}

func nodeConflict(c *status.Component) error {
	return status.Errorf(status.Conflict, "another component of the page represents node %d", c.NodeID.V)
}

// updatePositions writes the positions of components other than except. Their versions stay, since nothing changes that an editor has seen.
func (w *write) updatePositions(moved []*status.Component, except *status.Component) {
	for _, c := range moved {
		if c != except {
			w.queue(`update status.component set position = $2, list_index = $3, updated_at = $4 where id = $1`, c.Code, c.Position, c.ListIndex, w.At)
		}
	}
}

// EditComponent changes a component or group.
func (e *Editor) EditComponent(ctx context.Context, by Author, code string, in status.ComponentEdit) (string, error) {
	return e.editComponent(ctx, by, "component.set", code, in.ExpectedVersion, func(w *write, b *status.WorkingCopy, c *status.Component) error {
		changes, err := b.EditComponent(c, in)
		w.insertChanges(changes)
		w.conflict = nodeConflict(c)
		w.queue(`update status.component set name = $2, description = $3,
base_status = nullif($4, '')::status.component_status,
  showcase = $5, only_show_if_degraded = $6, start_date = $7::text::date, node_id = $8 where id = $1`,
			c.Code, c.Name, c.Description.Pointer(), string(c.BaseStatus), c.Showcase, c.OnlyShowIfDegraded, c.StartDate.Pointer(), c.NodeID.Pointer())
		return err
	})
}

// MoveComponent moves a component or group.
func (e *Editor) MoveComponent(ctx context.Context, by Author, code string, in status.ComponentMove) (string, error) {
	return e.editComponent(ctx, by, "component.move", code, in.ExpectedVersion, func(w *write, b *status.WorkingCopy, c *status.Component) error {
		moved, err := b.Move(c, in.Group, in.Position)
		w.updatePositions(moved, c)
		w.queue(`update status.component set group_id = $2, position = $3, list_index = 0 where id = $1`, c.Code, c.GroupCode.Pointer(), c.Position)
		return err
	})
}

// RemoveComponent removes a component or an empty group from its page. Updates that mention it stay.
func (e *Editor) RemoveComponent(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.editComponent(ctx, by, "component.remove", code, expectedVersion, func(w *write, b *status.WorkingCopy, c *status.Component) error {
		w.queue(`update status.incident_component set held_status = null where component_id = $1`, c.Code)
		w.queue(`update status.component set deleted_at = $2 where id = $1`, c.Code, w.At)
		return b.CheckRemove(c)
	})
}

// editComponent writes to a component and increments its version.
func (e *Editor) editComponent(ctx context.Context, by Author, name, code string, expected int64,
	do func(w *write, b *status.WorkingCopy, c *status.Component) error,
) (string, error) {
	page, err := e.pageOf(ctx, componentTable, "component", code)
	if err != nil {
		return "", err
	}
	return e.edit(ctx, command{by: by, name: name, page: page}, func(ctx context.Context, w *write) error {
		if err := w.target(ctx, componentTable, code); err != nil {
			return err
		}
		b, err := w.workingCopy(ctx)
		if err != nil {
			return err
		}
		c := b.Component(code)
		if c == nil {
			return status.Errorf(status.NotFound, "component %s does not exist", code)
		}
		if err := status.CheckVersion(c.Name, expected, c.Version); err != nil {
			return err
		}
		version := c.Version
		err = do(w, b, c)
		w.queue(`update status.component set version = $2, updated_at = $3 where id = $1`, code, version+1, w.At)
		return err
	})
}

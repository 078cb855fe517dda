package statuspages

import (
	"context"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// NewComponent is a component or group to be made.
type NewComponent struct {
	IsGroup            bool
	Name               string
	Description        string // empty is none
	Group              string // its code; empty is none
	Position           int32  // 0 is the last one
	Status             status.ComponentStatus
	Showcase           bool
	OnlyShowIfDegraded bool
	StartDate          ledger.Null[status.Date] // unknown is today
	NodeID             ledger.Null[int64]
}

// AddComponent makes a component or group on a page, and returns its code. A group shows when it has a component.
func (e *Editor) AddComponent(ctx context.Context, by Author, page string, in NewComponent) (string, error) {
	name := "component.add"
	if in.IsGroup {
		name = "group.add"
	}
	return e.edit(ctx, action{by: by, name: name, page: page}, func(ctx context.Context, w *writing) error {
		b, err := w.board(ctx)
		if err != nil {
			return err
		}
		c := &status.Component{IsGroup: in.IsGroup, Name: in.Name, Description: orNone(in.Description), Origin: by.origin()}
		if !in.IsGroup {
			c.BaseStatus = status.ComponentStatus(orText(string(in.Status), string(status.Operational)))
			c.Showcase, c.OnlyShowIfDegraded, c.NodeID = in.Showcase, in.OnlyShowIfDegraded, in.NodeID
			if c.StartDate = in.StartDate; !c.StartDate.Valid {
				c.StartDate = ledger.Of(status.DateOf(w.At))
			}
		}
		if err := checkComponent(c); err != nil {
			return err
		}
		moved, err := b.Place(c, in.Group, in.Position)
		if err != nil {
			return err
		}
		w.table = componentTable
		if err := w.insertComponent(ctx, c); err != nil {
			return err
		}
		w.object = c.Code
		return w.storePlaces(ctx, moved, c)
	})
}

// checkComponent refuses a component whose settings cannot be.
func checkComponent(c *status.Component) error {
	if err := status.CheckName("the component", c.Name); err != nil {
		return err
	}
	if !c.IsGroup && !c.BaseStatus.Valid() {
		return status.Refuse(status.BadInput, "%q is no state of a component", c.BaseStatus)
	}
	if c.NodeID.Valid && c.NodeID.V < 0 {
		return status.Refuse(status.BadInput, "%d is no number of a node", c.NodeID.V)
	}
	if c.IsGroup && (c.Showcase || c.OnlyShowIfDegraded || c.StartDate.Valid || c.NodeID.Valid) {
		return status.Refuse(status.BadInput, "groups have a name and a description only")
	}
	return nil
}

// insertComponent writes a new component, and gives it its code.
func (w *writing) insertComponent(ctx context.Context, c *status.Component) (err error) {
	if c.Code, err = w.editor.code(); err != nil {
		return err
	}
	c.PageCode, c.CreatedAt, c.UpdatedAt, c.Version = w.Page.Code, w.At, w.At, 1
	err = w.exec(ctx, "inserting a component", `insert into status.component (id, page_id, is_group, group_id, name, description, base_status, position, showcase, only_show_if_degraded, start_date,
  node_id, origin, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, nullif($7, '')::status.component_status, $8, $9, $10, $11::text::date, $12, $13, $14, $14)`,
		c.Code, c.PageCode, c.IsGroup, valueOrNull(c.GroupCode), c.Name, valueOrNull(c.Description), string(c.BaseStatus), c.Position, c.Showcase, c.OnlyShowIfDegraded, valueOrNull(c.StartDate),
		valueOrNull(c.NodeID), c.Origin, w.At)
	if duplicate(err) {
		return status.Refuse(status.Conflict, "another component of the page is the node %d", c.NodeID.V)
	}
	return err
}

// storePlaces writes where components stand that have moved. That others made room for except is no change of theirs that their editors have to look at.
func (w *writing) storePlaces(ctx context.Context, moved []*status.Component, except *status.Component) error {
	for _, c := range moved {
		if c == except {
			continue
		}
		if err := w.exec(ctx, "moving a component", `update status.component set position = $2, list_index = $3, updated_at = $4 where id = $1`, c.Code, c.Position, c.ListIndex, w.At); err != nil {
			return err
		}
	}
	return nil
}

// ComponentChange is what changes of a component. What is unknown stays.
type ComponentChange struct {
	Name        ledger.Null[string]
	Description ledger.Null[string] // empty takes it away
	// Status is what editors say of it. What notices hold may be worse.
	Status             ledger.Null[status.ComponentStatus]
	Showcase           ledger.Null[bool]
	OnlyShowIfDegraded ledger.Null[bool]
	StartDate          ledger.Null[status.Date] // empty takes it away
	NodeID             ledger.Null[int64]       // -1 takes it away
	// ExpectedVersion is the version that the editor has seen, 0 for any.
	ExpectedVersion int64
}

// SetComponent changes a component or group.
func (e *Editor) SetComponent(ctx context.Context, by Author, code string, change ComponentChange) (string, error) {
	return e.editComponent(ctx, by, "component.set", code, change.ExpectedVersion, func(ctx context.Context, w *writing, b *status.Board, c *status.Component) error {
		if change.Status.Valid {
			if _, err := b.Leaf(c.Code); err != nil {
				return err
			}
			if !change.Status.V.Valid() {
				return status.Refuse(status.BadInput, "%q is no state of a component", change.Status.V)
			}
			if err := w.storeChanges(ctx, b.SetBase(c, change.Status.V, by.origin(), w.At)); err != nil {
				return err
			}
		}
		c.Name, c.Showcase, c.OnlyShowIfDegraded = change.Name.Or(c.Name), change.Showcase.Or(c.Showcase), change.OnlyShowIfDegraded.Or(c.OnlyShowIfDegraded)
		if change.Description.Valid {
			c.Description = orNone(change.Description.V)
		}
		if change.StartDate.Valid {
			c.StartDate = orNone(change.StartDate.V)
		}
		if change.NodeID.Valid {
			if c.NodeID = change.NodeID; c.NodeID.V == -1 {
				c.NodeID = ledger.Null[int64]{}
			}
		}
		if err := checkComponent(c); err != nil {
			return err
		}
		err := w.exec(ctx, "changing a component", `update status.component set name = $2, description = $3, base_status = nullif($4, '')::status.component_status, showcase = $5,
  only_show_if_degraded = $6, start_date = $7::text::date, node_id = $8 where id = $1`,
			c.Code, c.Name, valueOrNull(c.Description), string(c.BaseStatus), c.Showcase, c.OnlyShowIfDegraded, valueOrNull(c.StartDate), valueOrNull(c.NodeID))
		if duplicate(err) {
			return status.Refuse(status.Conflict, "another component of the page is the node %d", c.NodeID.V)
		}
		return err
	})
}

// MoveComponent puts a component or group at a position of a group, or of the top of the page where the group is empty. 0 is the last position.
func (e *Editor) MoveComponent(ctx context.Context, by Author, code, group string, position int32, expectedVersion int64) (string, error) {
	return e.editComponent(ctx, by, "component.move", code, expectedVersion, func(ctx context.Context, w *writing, b *status.Board, c *status.Component) error {
		moved, err := b.Place(c, group, position)
		if err != nil {
			return err
		}
		if err := w.storePlaces(ctx, moved, c); err != nil {
			return err
		}
		return w.exec(ctx, "moving a component", `update status.component set group_id = $2, position = $3, list_index = 0 where id = $1`, c.Code, valueOrNull(c.GroupCode), c.Position)
	})
}

// RemoveComponent takes a component or a group without components off its page. What was said of it stays.
func (e *Editor) RemoveComponent(ctx context.Context, by Author, code string, expectedVersion int64) (string, error) {
	return e.editComponent(ctx, by, "component.remove", code, expectedVersion, func(ctx context.Context, w *writing, b *status.Board, c *status.Component) error {
		if n := len(b.Siblings(c.Code)); c.IsGroup && n > 0 {
			return status.Refuse(status.BadState, "the group %s has %d components: move or remove them first", c.Name, n)
		}
		if err := w.exec(ctx, "letting go of a component", `update status.incident_component set held_status = null where component_id = $1`, c.Code); err != nil {
			return err
		}
		return w.exec(ctx, "removing a component", `update status.component set deleted_at = $2 where id = $1`, c.Code, w.At)
	})
}

// editComponent writes to a component, whose version it raises.
func (e *Editor) editComponent(ctx context.Context, by Author, name, code string, expected int64,
	do func(ctx context.Context, w *writing, b *status.Board, c *status.Component) error,
) (string, error) {
	page, err := e.pageOf(ctx, componentTable, "component", code)
	if err != nil {
		return "", err
	}
	return e.edit(ctx, action{by: by, name: name, page: page}, func(ctx context.Context, w *writing) error {
		if err := w.watch(ctx, componentTable, code); err != nil {
			return err
		}
		b, err := w.board(ctx)
		if err != nil {
			return err
		}
		c := b.Component(code)
		if c == nil {
			return status.Refuse(status.NotFound, "there is no component %s", code)
		}
		if err := status.CheckVersion(c.Name, expected, c.Version); err != nil {
			return err
		}
		version := c.Version
		if err := do(ctx, w, b, c); err != nil {
			return err
		}
		return w.exec(ctx, "raising a component's version", `update status.component set version = $2, updated_at = $3 where id = $1`, code, version+1, w.At)
	})
}

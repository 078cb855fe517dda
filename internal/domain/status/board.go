package status

import (
	"maps"
	"slices"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// Board is what a write to a page works on: its components, and the notices that hold them.
type Board struct {
	Page *Page
	// Components are all that are not deleted, groups without components among them, in the order of documents.
	Components []*Component
	// Holds are the states in which open notices hold components: by the code of the component, then by that of the notice.
	Holds map[string]map[string]ComponentStatus
}

// NewBoard makes a board of rows. The states of the components are set.
func NewBoard(p *Page, components []*Component, attachments []*Attachment) *Board {
	b := &Board{Page: p, Components: components, Holds: map[string]map[string]ComponentStatus{}}
	for _, a := range attachments {
		if a.HeldStatus != "" {
			b.hold(a.ComponentCode, a.NoticeCode, a.HeldStatus)
		}
	}
	b.Settle()
	return b
}

// Settle sets the states of the components from their bases and from what holds them.
func (b *Board) Settle() {
	held := make(map[string][]ComponentStatus, len(b.Holds))
	for c, by := range b.Holds {
		held[c] = slices.Collect(maps.Values(by))
	}
	slices.SortFunc(b.Components, compareComponents)
	for _, c := range b.Components {
		if c.IsGroup {
			c.Status, c.Shown = "", ""
		}
	}
	Settle(slices.Clone(b.Components), held, b.Page.Vocabulary)
}

func (b *Board) hold(component, notice string, s ComponentStatus) {
	if s == "" {
		delete(b.Holds[component], notice)
		return
	}
	if b.Holds[component] == nil {
		b.Holds[component] = map[string]ComponentStatus{}
	}
	b.Holds[component][notice] = s
}

// Component finds a component or group by its code, nil when there is none.
func (b *Board) Component(code string) *Component {
	for _, c := range b.Components {
		if c.Code == code {
			return c
		}
	}
	return nil
}

// Leaf finds a component that is no group.
func (b *Board) Leaf(code string) (*Component, error) {
	c := b.Component(code)
	switch {
	case c == nil:
		return nil, Refuse(NotFound, "there is no component %s on the page %s", code, b.Page.Slug)
	case c.IsGroup:
		return nil, Refuse(BadInput, "%s is a group: its state is that of its components", c.Name)
	}
	return c, nil
}

// Find finds a component or group by what people call it: its code, its name where no other has it, or Group/Component.
func (b *Board) Find(ref string) (*Component, error) {
	if c := b.Component(ref); c != nil {
		return c, nil
	}
	var found []*Component
	for _, c := range b.Components {
		if c.Name == ref || c.GroupName != "" && c.GroupName+"/"+c.Name == ref {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return nil, Refuse(NotFound, "there is no component %q on the page %s", ref, b.Page.Slug)
	case 1:
		return found[0], nil
	default:
		codes := make([]string, len(found))
		for i, c := range found {
			codes[i] = c.Code + " (" + c.QualifiedName() + ")"
		}
		return nil, Refuse(BadInput, "%q is ambiguous: %s", ref, strings.Join(codes, ", "))
	}
}

// SetBase says what editors or probes say of a component, and returns the changes that it makes.
func (b *Board) SetBase(c *Component, s ComponentStatus, origin Origin, at time.Time) []*Change {
	before := b.snapshot()
	c.BaseStatus = s
	b.Settle()
	return b.changesSince(before, origin, ledger.Null[string]{}, at)
}

// Release lets go of all components that a notice holds, and returns the changes that it makes.
func (b *Board) Release(notice string, origin Origin, at time.Time) []*Change {
	before := b.snapshot()
	for _, by := range b.Holds {
		delete(by, notice)
	}
	b.Settle()
	return b.changesSince(before, origin, ledger.Null[string]{}, at)
}

// snapshot is the state of every component that is no group.
func (b *Board) snapshot() map[string]ComponentStatus {
	out := make(map[string]ComponentStatus, len(b.Components))
	for _, c := range b.Components {
		if !c.IsGroup {
			out[c.Code] = c.Status
		}
	}
	return out
}

// changesSince are the components whose states differ from before.
func (b *Board) changesSince(before map[string]ComponentStatus, origin Origin, update ledger.Null[string], at time.Time) []*Change {
	var out []*Change
	for _, c := range b.Components {
		if old, known := before[c.Code]; known && old != c.Status {
			out = append(out, &Change{ComponentCode: c.Code, At: at, OldStatus: old, NewStatus: c.Status, UpdateCode: update, Origin: origin})
		}
	}
	return out
}

// Siblings are the components and groups that stand in a group, or at the top of the page where the group is empty, by position.
func (b *Board) Siblings(group string) []*Component {
	var out []*Component
	for _, c := range b.Components {
		if c.GroupCode.V == group {
			out = append(out, c)
		}
	}
	return out
}

// Place puts a component at a position among those of a group, or at the top of the page where the group is empty, and returns all whose position or
// group changed. A position of 0 is the last one. The component need not be on the board yet.
func (b *Board) Place(c *Component, group string, position int32) ([]*Component, error) {
	if group != "" {
		switch g := b.Component(group); {
		case g == nil:
			return nil, Refuse(NotFound, "there is no group %s on the page %s", group, b.Page.Slug)
		case !g.IsGroup:
			return nil, Refuse(BadInput, "%s is no group", g.Name)
		case c.IsGroup:
			return nil, Refuse(BadInput, "%s is a group, and groups do not nest", c.Name)
		}
	}
	if position < 0 {
		return nil, Refuse(BadInput, "positions count from 1 on, not from %d", position)
	}
	list := slices.DeleteFunc(b.Siblings(group), func(s *Component) bool { return s == c })
	if position == 0 || int(position) > len(list) {
		list = append(list, c)
	} else {
		list = slices.Insert(list, int(position)-1, c)
	}
	var moved []*Component
	for i, s := range list {
		p := int32(i + 1)
		if s == c && c.GroupCode.V != group || s.Position != p || s.ListIndex != 0 {
			moved = append(moved, s)
		}
		s.Position, s.ListIndex = p, 0
	}
	c.GroupCode = ledger.Null[string]{}
	if group != "" {
		c.GroupCode = ledger.Of(group)
	}
	return moved, nil
}

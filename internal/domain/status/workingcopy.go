package status

import (
	"maps"
	"slices"
	"strings"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// WorkingCopy is the state of a page that a write reads and changes: its components, and the notices that hold them in a status. Its methods are the rules
// for writes. They change the copy and return what has to be stored.
type WorkingCopy struct {
	Page *Page
	// Components are all components that are not deleted, including empty groups, in the order of documents.
	Components []*Component
	// Holds are the statuses in which open notices hold components, by the code of the component and then of the notice.
	Holds map[string]map[string]ComponentStatus

	// At is the time of the write, in milliseconds and in the zone of the page.
	At time.Time
	// Origin is recorded with everything that is written.
	Origin Origin
	// NewCode returns a new unique code.
	NewCode func() (string, error)
}

// NewWorkingCopy returns a working copy of stored rows. It computes the statuses of the components.
func NewWorkingCopy(p *Page, components []*Component, attachments []*Attachment) *WorkingCopy {
	b := &WorkingCopy{Page: p, Components: components, Holds: map[string]map[string]ComponentStatus{}}
	for _, a := range attachments {
		if a.HeldStatus != "" {
			b.hold(a.ComponentCode, a.NoticeCode, a.HeldStatus)
		}
	}
	b.compute()
	return b
}

// compute sets the statuses of the components from their base statuses and from the holds.
func (b *WorkingCopy) compute() {
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
	ComputeStatuses(slices.Clone(b.Components), held, b.Page.Vocabulary)
}

func (b *WorkingCopy) hold(component, notice string, s ComponentStatus) {
	if s == "" {
		delete(b.Holds[component], notice)
		return
	}
	if b.Holds[component] == nil {
		b.Holds[component] = map[string]ComponentStatus{}
	}
	b.Holds[component][notice] = s
}

// Component returns the component or group with a code, or nil.
func (b *WorkingCopy) Component(code string) *Component {
	for _, c := range b.Components {
		if c.Code == code {
			return c
		}
	}
	return nil
}

// Leaf returns the component with a code. It fails for groups.
func (b *WorkingCopy) Leaf(code string) (*Component, error) {
	c := b.Component(code)
	switch {
	case c == nil:
		return nil, Errorf(NotFound, "component %s does not exist on the page %s", code, b.Page.Slug)
	case c.IsGroup:
		return nil, Errorf(BadInput, "%s is a group: its status is computed from its components", c.Name)
	}
	return c, nil
}

// Find returns the component or group that a reference names: its code, its name if that is unique, or Group/Component.
func (b *WorkingCopy) Find(ref string) (*Component, error) {
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
		return nil, Errorf(NotFound, "component %q does not exist on the page %s", ref, b.Page.Slug)
	case 1:
		return found[0], nil
	default:
		codes := list.Map(found, func(c *Component) string { return c.Code + " (" + c.QualifiedName() + ")" })
		return nil, Errorf(BadInput, "%q is ambiguous: %s", ref, strings.Join(codes, ", "))
	}
}

// setBase sets the base status of a component and returns the resulting changes of statuses.
func (b *WorkingCopy) setBase(c *Component, s ComponentStatus) []*Change {
	before := b.statuses()
	c.BaseStatus = s
	b.compute()
	return b.changesSince(before, b.Origin, ledger.Null[string]{})
}

// Release removes the holds of a notice and returns the resulting changes of statuses.
func (b *WorkingCopy) Release(notice string) []*Change {
	before := b.statuses()
	for _, by := range b.Holds {
		delete(by, notice)
	}
	b.compute()
	return b.changesSince(before, b.Origin, ledger.Null[string]{})
}

// statuses returns the status of each component that is not a group, by code.
func (b *WorkingCopy) statuses() map[string]ComponentStatus {
	out := make(map[string]ComponentStatus, len(b.Components))
	for _, c := range b.Components {
		if !c.IsGroup {
			out[c.Code] = c.Status
		}
	}
	return out
}

// changesSince returns the changes of the components whose statuses differ from before.
func (b *WorkingCopy) changesSince(before map[string]ComponentStatus, origin Origin, update ledger.Null[string]) []*Change {
	var out []*Change
	for _, c := range b.Components {
		if old, known := before[c.Code]; known && old != c.Status {
			out = append(out, &Change{ComponentCode: c.Code, At: b.At, OldStatus: old, NewStatus: c.Status, UpdateCode: update, Origin: origin})
		}
	}
	return out
}

// Children returns the components of a group, or the top level of the page if group is empty, by position.
func (b *WorkingCopy) Children(group string) []*Component {
	var out []*Component
	for _, c := range b.Components {
		if c.GroupCode.V == group {
			out = append(out, c)
		}
	}
	return out
}

package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// ComputeStatuses computes the statuses of components and groups. That of a component is the worst of its base status
// and of those in held, by its code, in which open notices hold it. That of a group is the worst of its components. v
// determines the statuses that are shown. A component whose group is not in the list, because it was deleted, leaves
// the group. It sorts the list, sets the statuses, group names and children in its elements, and returns it in the
// order of documents, without empty groups. list itself must not be used afterwards.
func ComputeStatuses(list []*Component, held map[string][]ComponentStatus, v Vocabulary) []*Component {
	slices.SortFunc(list, CompareComponents)
	byCode := make(map[string]*Component, len(list))
	for _, c := range list {
		byCode[c.Code] = c
		c.Children, c.GroupName, c.Status, c.Shown = nil, "", "", ""
	}
	for _, c := range list {
		if c.IsGroup {
			continue
		}
		c.Status = Worst(append(held[c.Code], c.BaseStatus)...)
		c.Shown = c.Status.Shown(v)
		if g := byCode[c.GroupCode.V]; g != nil {
			c.GroupName = g.Name
			g.Children = append(g.Children, c.Code)
			g.Status, g.Shown = Worst(g.Status, c.Status), Worst(g.Shown, c.Shown)
		} else {
			c.GroupCode = ledger.Null[string]{} // the group was deleted
		}
	}
	return slices.DeleteFunc(list, func(c *Component) bool { return c.IsGroup && c.Children == nil })
}

// CompareComponents orders components for sorting as documents do: by position, regardless of groups. Codes decide at
// last, so no two components are equal.
func CompareComponents(a, b *Component) int {
	return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ListIndex, b.ListIndex),
		a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Code, b.Code))
}

// DisplayOrder returns a function that compares components of a page in display order: by the position of the group,
// then within it. Affected components of updates have this order.
func DisplayOrder(all []*Component) func(a, b *Component) int {
	byCode := list.By(all, codeOf)
	top := func(c *Component) *Component {
		if g := byCode[c.GroupCode.V]; g != nil {
			return g
		}
		return c
	}
	return func(a, b *Component) int {
		if a == b {
			return 0
		}
		if ta, tb := top(a), top(b); ta != tb {
			return CompareComponents(ta, tb)
		}
		return CompareComponents(a, b)
	}
}

// impactOf returns the impact of an incident that sets a component to a status, which is none for a status that is no
// disruption.
func impactOf(s ComponentStatus) Impact {
	return cmp.Or(map[ComponentStatus]Impact{
		DegradedPerformance: ImpactMinor, PartialOutage: ImpactMajor,
		MajorOutage: ImpactCritical,
	}[s], ImpactNone)
}

// ImpactOf returns the impact of a notice: the override if it is not empty; "maintenance" for a maintenance; for an
// incident, the impact of the worst status that its updates gave to components.
func ImpactOf(k Kind, override Impact, given ...ComponentStatus) Impact {
	switch {
	case override != "":
		return override
	case k == Scheduled:
		return ImpactMaintenance
	}
	worst := ImpactNone
	for _, s := range given {
		if i := impactOf(s); i.WorseThan(worst) {
			worst = i
		}
	}
	return worst
}

// WorkingCopy is the state of a page that a write reads and changes: its components, and the notices that hold them in
// a status. Its methods are the rules for writes. They change the copy and return what has to be stored.
type WorkingCopy struct {
	Page *Page
	// Components are all components that are not deleted, including empty groups, in the order of documents.
	Components []*Component
	// Holds are the statuses in which open notices hold components. An empty status holds nothing.
	Holds []*Attachment

	// At is the time of the write, in milliseconds and in the zone of the page.
	At time.Time
	// Origin is recorded with everything that is written.
	Origin Origin
	// NewCode returns a new unique code.
	NewCode func() string
}

// NewWorkingCopy returns a working copy of stored rows, for a command or a read. It sorts components, computes
// their statuses in place, and keeps the slices. The caller sets At, Origin and NewCode before rules that write.
func NewWorkingCopy(p *Page, components []*Component, attachments []*Attachment) *WorkingCopy {
	w := &WorkingCopy{Page: p, Components: components, Holds: attachments}
	w.compute()
	return w
}

// AddComponent returns a new component or group without a code, and the components whose position changes, c included.
// It does not add c to w.Components: the caller stores it. Positions of the components beside it change in the working
// copy. An error of the position or group comes with c, which must not be stored then. Empty groups are not published.
// Invalid settings fail with [BadInput], a group that does not exist with [NotFound].
func (w *WorkingCopy) AddComponent(in NewComponent) (c *Component, moved []*Component, err error) {
	c = &Component{IsGroup: in.IsGroup, Name: in.Name, Description: ledger.NonZero(in.Description), Origin: w.Origin}
	if !in.IsGroup {
		c.BaseStatus = cmp.Or(in.Status, Operational)
		c.Showcase, c.OnlyShowIfDegraded, c.NodeID = in.Showcase.Or(true), in.OnlyShowIfDegraded, in.NodeID
		c.StartDate = ledger.Of(in.StartDate.Or(DateOf(w.At)))
	}
	err = checkComponent(c)
	if err != nil {
		return nil, nil, err
	}
	moved, err = w.Move(c, in.Group, in.Position)
	return c, moved, err
}

// checkComponent fails with [BadInput] if the settings of a component or group are invalid. It changes nothing.
func checkComponent(c *Component) error {
	_, noDate := ParseDate(string(c.StartDate.V))
	return cmp.Or(CheckName("the component", c.Name),
		badIf(!c.IsGroup && !c.BaseStatus.Valid(), noComponentStatus, c.BaseStatus),
		badIf(c.StartDate.Valid && noDate != nil, "%v", noDate),
		badIf(c.NodeID.Valid && c.NodeID.V < 0, "%d is not a node number", c.NodeID.V),
		badIf(c.IsGroup && (c.Showcase || c.OnlyShowIfDegraded || c.StartDate.Valid || c.NodeID.Valid),
			"groups have only a name and a description"))
}

// EditComponent changes c, a component or group of the working copy, and with its status those of its groups in w. It
// returns the resulting changes of statuses and stores nothing. Settings that are not given stay. An empty description
// or start date, and node -1, remove the one before. Even if it fails, with [BadInput], w may have changed: the caller
// must not store it then.
func (w *WorkingCopy) EditComponent(c *Component, in ComponentEdit) ([]*Change, error) {
	var changes []*Change
	if in.Status != "" {
		_, err := w.Leaf(c.Code)
		if err != nil {
			return nil, err
		}
		changes = w.setBase(c, in.Status)
	}
	c.Name, c.Showcase, c.OnlyShowIfDegraded = in.Name.Or(c.Name), in.Showcase.Or(c.Showcase),
		in.OnlyShowIfDegraded.Or(c.OnlyShowIfDegraded)
	if in.Description.Valid {
		c.Description = ledger.NonZero(in.Description.V)
	}
	if in.StartDate.Valid {
		c.StartDate = ledger.NonZero(in.StartDate.V)
	}
	if in.NodeID.Valid {
		if c.NodeID = in.NodeID; c.NodeID.V == -1 {
			c.NodeID = ledger.Null[int64]{}
		}
	}
	return changes, checkComponent(c)
}

// CheckRemove fails with [BadState] if a component cannot be removed: groups must be empty. It removes nothing.
func (w *WorkingCopy) CheckRemove(c *Component) error {
	n := len(w.Children(c.Code))
	return FailIf(c.IsGroup && n > 0, BadState, "the group %s has %d components: move or remove them first", c.Name, n)
}

// Move puts a component at a position of a group, or of the top level of the page if group is empty, and returns all
// components whose position or group changes. It writes the positions into the components; those of the group that c
// leaves keep theirs. Position 1 is the first one and 0 the last one. The component may be new. It fails with
// [NotFound] if there is no such group, and with [BadInput] if group is a component, if c is a group itself, or if the
// position is negative. Then nothing changes. Move does not sort w.Components and computes no statuses.
func (w *WorkingCopy) Move(c *Component, group string, position int32) ([]*Component, error) {
	if group != "" {
		switch g := w.Component(group); {
		case g == nil:
			return nil, Errorf(NotFound, "group %s does not exist on the page %s", group, w.Page.Slug)
		case !g.IsGroup:
			return nil, Errorf(BadInput, "%s is not a group", g.Name)
		case c.IsGroup:
			return nil, Errorf(BadInput, "%s is a group, and groups do not nest", c.Name)
		}
	}
	if position < 0 {
		return nil, Errorf(BadInput, "the position must be 1 or more, not %d", position)
	}
	list := slices.DeleteFunc(w.Children(group), func(s *Component) bool { return s == c })
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
	c.GroupCode = ledger.NonZero(group)
	return moved, nil
}

// compute sorts w.Components in place, and sets their statuses and those of groups from the base statuses and the
// holds. Rules call it after they have changed either.
func (w *WorkingCopy) compute() {
	held := make(map[string][]ComponentStatus, len(w.Holds))
	for _, a := range w.Holds {
		held[a.ComponentCode] = append(held[a.ComponentCode], a.HeldStatus)
	}
	slices.SortFunc(w.Components, CompareComponents)
	ComputeStatuses(slices.Clone(w.Components), held, w.Page.Vocabulary)
}

// hold replaces the holds of the notice with a code in w.Holds, or removes them if none are given. The list changes
// in place. It does not compute statuses.
func (w *WorkingCopy) hold(notice string, holds ...*Attachment) {
	w.Holds = append(slices.DeleteFunc(w.Holds, func(a *Attachment) bool { return a.NoticeCode == notice }), holds...)
}

// Component returns the component or group with a code, or nil.
func (w *WorkingCopy) Component(code string) *Component {
	return list.Find(w.Components, func(c *Component) bool { return c.Code == code })
}

// Leaf returns the component with a code. It fails with [NotFound] if there is none, and with [BadInput] for
// groups.
func (w *WorkingCopy) Leaf(code string) (*Component, error) {
	c := w.Component(code)
	switch {
	case c == nil:
		return nil, Errorf(NotFound, "component %s does not exist on the page %s", code, w.Page.Slug)
	case c.IsGroup:
		return nil, Errorf(BadInput, "%s is a group: its status is computed from its components", c.Name)
	}
	return c, nil
}

// Find returns the component or group that a reference names: its code, its name if that is unique, or
// Group/Component. It fails with [NotFound] if there is none, and with [BadInput] if the reference is ambiguous.
func (w *WorkingCopy) Find(ref string) (*Component, error) {
	if c := w.Component(ref); c != nil {
		return c, nil
	}
	found := slices.DeleteFunc(slices.Clone(w.Components), func(c *Component) bool {
		return c.Name != ref && (c.GroupName == "" || c.GroupName+"/"+c.Name != ref)
	})
	switch len(found) {
	case 0:
		return nil, Errorf(NotFound, "component %q does not exist on the page %s", ref, w.Page.Slug)
	case 1:
		return found[0], nil
	default:
		codes := list.Map(found, func(c *Component) string { return c.Code + " (" + c.QualifiedName() + ")" })
		return nil, Errorf(BadInput, "%q is ambiguous: %s", ref, strings.Join(codes, ", "))
	}
}

// setBase sets the base status of a component of the working copy, which is not a group, computes all statuses again,
// and returns the resulting changes of statuses. It does not check s.
func (w *WorkingCopy) setBase(c *Component, s ComponentStatus) []*Change {
	before := w.statuses()
	c.BaseStatus = s
	w.compute()
	return w.changesSince(before, w.Origin, ledger.Null[string]{})
}

// Release removes the holds of the notice with a code from the working copy, computes all statuses again, and returns
// the resulting changes.
func (w *WorkingCopy) Release(notice string) []*Change {
	before := w.statuses()
	w.hold(notice)
	w.compute()
	return w.changesSince(before, w.Origin, ledger.Null[string]{})
}

// statuses returns the status of each component that is not a group, by code, before a change (see changesSince).
func (w *WorkingCopy) statuses() map[string]ComponentStatus {
	out := make(map[string]ComponentStatus, len(w.Components))
	for _, c := range w.Components {
		if !c.IsGroup {
			out[c.Code] = c.Status
		}
	}
	return out
}

// changesSince returns the changes of the components whose statuses differ from before. Components that before does
// not contain, such as groups, have none. The changes get origin, and update, the code of the update that caused them,
// or null.
func (w *WorkingCopy) changesSince(
	before map[string]ComponentStatus, origin Origin, update ledger.Null[string],
) []*Change {
	var out []*Change
	for _, c := range w.Components {
		if old, known := before[c.Code]; known && old != c.Status {
			out = append(out, &Change{
				ComponentCode: c.Code, At: w.At, OldStatus: old, NewStatus: c.Status,
				UpdateCode: update, Origin: origin,
			})
		}
	}
	return out
}

// Children returns a new list of the components of a group, or of the top level of the page if group is empty, in the
// order of w.Components, which is by position. It is empty for an unknown group.
func (w *WorkingCopy) Children(group string) []*Component {
	return slices.DeleteFunc(slices.Clone(w.Components), func(c *Component) bool { return c.GroupCode.V != group })
}

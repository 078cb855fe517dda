package status

import (
	"slices"

	"heliograph/internal/domain/ledger"
)

// Effective is the state of a component: the worst of its base state and of those in which open notices hold it.
func Effective(base ComponentStatus, held ...ComponentStatus) ComponentStatus {
	return Worst(append([]ComponentStatus{base}, held...)...)
}

// Settle completes components as they were read: their states from what notices hold (by the code of the component), what groups show, and the
// order of documents. Groups without components are left out. The list and its elements are changed and returned.
func Settle(list []*Component, held map[string][]ComponentStatus, v Vocabulary) []*Component {
	slices.SortFunc(list, compareComponents)
	byCode := make(map[string]*Component, len(list))
	for _, c := range list {
		byCode[c.Code] = c
		c.Children, c.GroupName = nil, ""
	}
	for _, c := range list {
		if c.IsGroup {
			continue
		}
		c.Status = Effective(c.BaseStatus, held[c.Code]...)
		c.Shown = c.Status.Shown(v)
		if g := byCode[c.GroupCode.V]; g != nil {
			c.GroupName = g.Name
			g.Children = append(g.Children, c.Code)
			g.Status, g.Shown = Worst(g.Status, c.Status), Worst(g.Shown, c.Shown)
		} else {
			c.GroupCode = ledger.Null[string]{} // its group was deleted
		}
	}
	return slices.DeleteFunc(list, func(c *Component) bool { return c.IsGroup && c.Children == nil })
}

// compareComponents is the order of documents: by position over the whole page, whatever group a component is in.
func compareComponents(a, b *Component) int {
	switch {
	case a.Position != b.Position:
		return int(a.Position) - int(b.Position)
	case a.ListIndex != b.ListIndex:
		return int(a.ListIndex) - int(b.ListIndex)
	case !a.CreatedAt.Equal(b.CreatedAt):
		return a.CreatedAt.Compare(b.CreatedAt)
	case a.Code < b.Code:
		return -1
	default:
		return 1
	}
}

// ByPlace orders components of a page as people see them: by the position of the group, then within it. It is the order of affected components.
func ByPlace(all []*Component) func(a, b *Component) int {
	byCode := make(map[string]*Component, len(all))
	for _, c := range all {
		byCode[c.Code] = c
	}
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
			return compareComponents(ta, tb)
		}
		return compareComponents(a, b)
	}
}

// impactOf is the impact of an incident that puts a component into a state.
func impactOf(s ComponentStatus) Impact {
	switch s {
	case DegradedPerformance:
		return ImpactMinor
	case PartialOutage:
		return ImpactMajor
	case MajorOutage:
		return ImpactCritical
	case Operational, UnderMaintenance:
		return ImpactNone
	default:
		return ImpactNone
	}
}

// ImpactOf is the impact of a notice: the override where there is one (the zero value is none), else "maintenance" for a maintenance, and for an incident
// what the worst state is worth that any of its updates ever gave a component.
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

package status

import (
	"cmp"
	"slices"

	"heliograph/internal/domain/ledger"
)

// EffectiveStatus returns the status of a component: the worst of its base status and of those in which open notices hold it.
func EffectiveStatus(base ComponentStatus, held ...ComponentStatus) ComponentStatus {
	return Worst(append([]ComponentStatus{base}, held...)...)
}

// ComputeStatuses computes the statuses of components and groups from base statuses and holds, by the code of the component. It changes the list and its
// elements and returns the list in the order of documents, without empty groups.
func ComputeStatuses(list []*Component, held map[string][]ComponentStatus, v Vocabulary) []*Component {
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
		c.Status = EffectiveStatus(c.BaseStatus, held[c.Code]...)
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

// compareComponents orders components as documents do: by position, regardless of groups.
func compareComponents(a, b *Component) int {
	return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ListIndex, b.ListIndex), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Code, b.Code))
}

// DisplayOrder returns a function that compares components of a page in display order: by the position of the group, then within it. Affected components of
// updates have this order.
func DisplayOrder(all []*Component) func(a, b *Component) int {
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

// impactOf returns the impact of an incident that sets a component to a status.
func impactOf(s ComponentStatus) Impact {
	return cmp.Or(map[ComponentStatus]Impact{DegradedPerformance: ImpactMinor, PartialOutage: ImpactMajor, MajorOutage: ImpactCritical}[s], ImpactNone)
}

// ImpactOf returns the impact of a notice: the override if it is not empty; "maintenance" for a maintenance; for an incident, the impact of the worst status
// that its updates gave to components.
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

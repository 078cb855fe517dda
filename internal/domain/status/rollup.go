package status

// Rollup is the overall status of a page.
type Rollup struct {
	Indicator   Indicator
	Description string
}

// The descriptions of rollups.
const (
	allOperational    = "All Systems Operational"
	majorSystem       = "Major System Outage"
	partialSystem     = "Partial System Outage"
	minorService      = "Minor Service Outage"
	degradedService   = "Degraded System Service"
	partiallyDegraded = "Partially Degraded Service"
	underMaintenance  = "Service Under Maintenance"
)

// RollupOf returns the rollup of a page from the statuses of its components, without groups. worstOpen is the worst impact of unresolved incidents; it is used
// only if there are no components.
func RollupOf(leaves []ComponentStatus, worstOpen Impact) Rollup {
	if len(leaves) == 0 {
		leaves = map[Impact][]ComponentStatus{ImpactCritical: {MajorOutage}, ImpactMajor: {PartialOutage}, ImpactMinor: {PartialOutage, Operational}}[worstOpen]
	}
	count := map[ComponentStatus]int{}
	for _, s := range leaves {
		count[s]++
	}
	switch all := len(leaves); {
	case all == 0:
		return Rollup{ImpactNone, allOperational}
	case count[MajorOutage] == all:
		return Rollup{ImpactCritical, majorSystem}
	case count[MajorOutage] > 0, count[PartialOutage] == all:
		return Rollup{ImpactMajor, partialSystem}
	case count[PartialOutage] > 0:
		return Rollup{ImpactMinor, minorService}
	case count[DegradedPerformance] == all && all > 1:
		return Rollup{ImpactMinor, degradedService}
	case count[DegradedPerformance] > 0:
		return Rollup{ImpactMinor, partiallyDegraded}
	case count[UnderMaintenance] > 0:
		return Rollup{ImpactMaintenance, underMaintenance}
	default:
		return Rollup{ImpactNone, allOperational}
	}
}

// EffectiveIndicator returns the worse of a rollup and of the worst impact of unresolved incidents, which a rollup ignores.
func EffectiveIndicator(r Rollup, worstOpen Impact) Indicator {
	if worstOpen.WorseThan(r.Indicator) {
		return worstOpen
	}
	return r.Indicator
}

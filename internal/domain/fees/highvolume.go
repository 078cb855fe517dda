package fees

import (
	"cmp"
	"slices"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"

	"heliograph/internal/domain/fees/feepb"
)

// once is the multiplier 1 in thousandths.
const once = 1000

// hasHighVolume reports whether transactions of a type can be sent with high volume.
func hasHighVolume(f services.HederaFunctionality) bool {
	switch f {
	case services.HederaFunctionality_CryptoCreate, services.HederaFunctionality_ConsensusCreateTopic, services.HederaFunctionality_ScheduleCreate,
		services.HederaFunctionality_CryptoApproveAllowance, services.HederaFunctionality_FileCreate, services.HederaFunctionality_FileAppend,
		services.HederaFunctionality_ContractCreate, services.HederaFunctionality_HookStore, services.HederaFunctionality_TokenAssociateToAccount,
		services.HederaFunctionality_TokenAirdrop, services.HederaFunctionality_TokenClaimAirdrop, services.HederaFunctionality_TokenMint,
		services.HederaFunctionality_TokenCreate:
		return true
	default:
		return false
	}
}

// newRates returns the rates of a message, or nil. The points of the curve are sorted, and multipliers are at least [once].
func newRates(r *feepb.HighVolumeRates) *rates {
	if r == nil {
		return nil
	}
	out := &rates{most: int64(r.GetMaxMultiplier())}
	for _, p := range r.GetPricingCurve().GetPiecewiseLinear().GetPoints() {
		out.points = append(out.points, point{int64(p.GetUtilizationBasisPoints()), max(int64(p.GetMultiplier()), once)})
	}
	slices.SortStableFunc(out.points, func(a, b point) int { return cmp.Compare(a.utilization, b.utilization) })
	return out
}

// at returns the multiplier at a utilization in basis points, in thousandths and at least [once].
func (r *rates) at(utilization int64) int64 {
	if r == nil {
		return once
	}
	most := max(r.most, once)
	return max(once, min(r.curve(utilization, most), most))
}

// curve returns the multiplier before limits are applied.
func (r *rates) curve(u, most int64) int64 {
	if len(r.points) == 0 {
		return once + (most-once)*u/maxThrottle
	}
	points := r.points
	var lower, upper *point
	for i := range points {
		if points[i].utilization <= u {
			lower = &points[i]
		}
		if upper == nil && points[i].utilization >= u {
			upper = &points[i]
		}
	}
	switch {
	case len(points) == 1 || lower == nil:
		return points[0].multiplier
	case upper == nil:
		return points[len(points)-1].multiplier
	case lower.utilization == upper.utilization:
		return upper.multiplier
	default:
		return lower.multiplier + (upper.multiplier-lower.multiplier)*(u-lower.utilization)/(upper.utilization-lower.utilization)
	}
}

// scale multiplies each part of an estimate separately, so totals may differ from sums by rounding.
func (e *Estimate) scale(raw int64) {
	scaled := func(v int64) int64 { return times(v, raw) / once }
	for _, part := range []*Part{&e.Node, &e.Service} {
		part.Base, part.Subtotal = scaled(part.Base), scaled(part.Subtotal)
		for _, c := range part.Extras {
			c.FeePerUnit = scaled(c.FeePerUnit)
			c.Subtotal = times(c.FeePerUnit, c.Charged)
		}
	}
	e.HighVolumeMultiplier = raw / once
}

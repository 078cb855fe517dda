package fees

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"

	"heliograph/internal/domain/fees/feepb"
)

// Extra is a unit that a fee schedule prices. The values are those of the network's messages.
type Extra feepb.Extra

// AccountCreations is an extra that schedules do not have: see [Schedule.Estimate].
const AccountCreations Extra = extras

// extras is the number of extras in schedules.
const extras = 26

// String returns the network's name of the extra.
func (e Extra) String() string {
	if e == AccountCreations {
		return "ACCOUNT_CREATIONS"
	}
	return feepb.Extra(e).String()
}

// unit returns the English name of one unit of the extra, in the singular, for [Charge.Explanation], or "piece" if it
// has none.
func (e Extra) unit() string {
	units := [...]string{
		"signature", "key", "NFT", "account whose balance changes", "entry of a token's transfers", "unit of gas",
		"allowance", "airdrop",
		"hook created or deleted", "transfer of tokens", "transfer of tokens with custom fees", "call of a hook",
		"token created with custom fees or a key for them", "NFT minted", "topic created with custom fees",
		"message to a topic with custom fees",
		"contract call scheduled", "token associated", "slot of a hook's storage written", "minting of NFTs",
		"NFT updated", "record", "byte kept in state",
		"byte of the transaction", "byte of the message", "byte of the message", "account created for an alias",
	}
	if int(e) >= len(units) {
		return "piece"
	}
	return units[e]
}

// Name returns the network's name of the extra.
func (c *Charge) Name() string { return c.Extra.String() }

// Explanation returns an English text with the count, the included units and the price in tinycents.
func (c *Charge) Explanation() string {
	covered := ""
	if c.Included > 0 {
		covered = fmt.Sprintf("the base fee covers %d, ", c.Included)
	}
	return fmt.Sprintf("%d × %s; %s%d charged at %d tinycents each.", c.Count, c.Extra.unit(), covered, c.Charged,
		c.FeePerUnit)
}

// once is the multiplier 1 in thousandths.
const once = 1000

// highVolume are the types of transactions that can be sent with high volume.
var highVolume = []services.HederaFunctionality{
	services.HederaFunctionality_CryptoCreate, services.HederaFunctionality_ConsensusCreateTopic,
	services.HederaFunctionality_ScheduleCreate, services.HederaFunctionality_CryptoApproveAllowance,
	services.HederaFunctionality_FileCreate, services.HederaFunctionality_FileAppend,
	services.HederaFunctionality_ContractCreate, services.HederaFunctionality_HookStore,
	services.HederaFunctionality_TokenAssociateToAccount, services.HederaFunctionality_TokenAirdrop,
	services.HederaFunctionality_TokenClaimAirdrop, services.HederaFunctionality_TokenMint,
	services.HederaFunctionality_TokenCreate,
}

// newRates returns the high-volume rates of a message, or nil if it is nil. The points of the curve are sorted,
// and multipliers, in thousandths, are at least [once].
func newRates(r *feepb.HighVolumeRates) *rates {
	if r == nil {
		return nil
	}
	out := &rates{most: int64(r.GetMaxMultiplier())}
	for _, p := range r.GetPricingCurve().GetPiecewiseLinear().GetPoints() {
		out.points = append(out.points, point{
			int64(p.GetUtilizationBasisPoints()),
			max(int64(p.GetMultiplier()), once),
		})
	}
	slices.SortStableFunc(out.points, func(a, b point) int { return cmp.Compare(a.utilization, b.utilization) })
	return out
}

// at returns the multiplier at a utilization in basis points, in thousandths and at least [once]: exactly that for nil
// rates.
func (r *rates) at(utilization int64) int64 {
	if r == nil {
		return once
	}
	most := max(r.most, once)
	return max(once, min(r.curve(utilization, most), most))
}

// curve returns the multiplier, in thousandths, before limits are applied: on the line between the points beside the
// utilization u, in basis points, and beyond the points that of the nearest. Without points, the line goes from [once]
// to most at 100 percent.
func (r *rates) curve(u, most int64) int64 {
	if len(r.points) == 0 {
		return once + (most-once)*u/maxThrottle
	}
	at := slices.IndexFunc(r.points, func(p point) bool { return p.utilization >= u })
	if at < 0 {
		return r.points[len(r.points)-1].multiplier
	}
	upper := r.points[at]
	if at == 0 || upper.utilization == u {
		return upper.multiplier
	}
	lower := r.points[at-1]
	return lower.multiplier +
		(upper.multiplier-lower.multiplier)*(u-lower.utilization)/(upper.utilization-lower.utilization)
}

// scale multiplies the fees of an estimate by a high-volume multiplier in thousandths. It multiplies each part
// separately, so totals may differ from sums by rounding. The multiplier in the estimate is rounded down to a whole
// number. It leaves the network's part, which the caller computes from that of the node.
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

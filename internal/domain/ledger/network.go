package ledger

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"
)

// Network is the network as a whole. It is not a row of the database.
type Network struct{}

// TotalSupply is the total supply in tinybars.
const TotalSupply = 5_000_000_000_000_000_000

// NetworkSupply is the circulating supply at an instant.
type NetworkSupply struct {
	ReleasedSupply int64 // tinybars
	Timestamp      Timestamp
}

// TotalSupply returns the total supply in tinybars.
func (*NetworkSupply) TotalSupply() int64 { return TotalSupply }

// ReleasedHbar returns the released supply in hbars with eight decimals.
func (s *NetworkSupply) ReleasedHbar() string { return hbarText(s.ReleasedSupply) }

// TotalHbar returns the total supply in hbars with eight decimals.
func (*NetworkSupply) TotalHbar() string { return hbarText(TotalSupply) }

// hbarText formats tinybars as hbars with eight decimals.
func hbarText(tinybars int64) string {
	const decimals = 8
	sign, digits := "", strconv.FormatInt(tinybars, 10)
	if tinybars < 0 {
		sign, digits = "-", digits[1:]
	}
	for len(digits) <= decimals {
		digits = "0" + digits
	}
	return sign + digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
}

// Unreleased has the account numbers that hold the unreleased supply: the first and last of each range.
var Unreleased = [...][2]int64{{2, 2}, {42, 42}, {44, 71}, {73, 87}, {99, 100}, {200, 349}, {400, 750}}

// UnreleasedAccounts returns a new list of the accounts, in base's shard and realm, that hold the unreleased supply,
// in ascending order.
func UnreleasedAccounts(base EntityID) []EntityID {
	var ids []EntityID
	for _, r := range Unreleased {
		for n := r[0]; n <= r[1]; n++ {
			ids = append(ids, base.WithNum(n))
		}
	}
	return ids
}

// Type returns the type of service that the endpoint provides: the one whose member is set. Without any, it is a
// general service.
func (e *RegisteredServiceEndpoint) Type() RegisteredNodeType {
	switch {
	case e.BlockNode != nil:
		return RegisteredBlockNode
	case e.GeneralService != nil:
		return RegisteredGeneralService
	case e.MirrorNode.Valid:
		return RegisteredMirrorNode
	case e.RPCRelay.Valid:
		return RegisteredRPCRelay
	default:
		return RegisteredGeneralService
	}
}

// Empty is an object without fields.
type Empty struct{}

// BlockNodeAPIOf returns the API that the database stores by name, or BlockNodeUnrecognized for an unknown name.
func BlockNodeAPIOf[T ~string](name T) BlockNodeAPI {
	if api := BlockNodeAPI(name); slices.Contains(blockNodeAPIs, api) {
		return api
	}
	return BlockNodeUnrecognized
}

// RegisteredNodeTypeOf returns the type of a registered node with a number in the database, or [Unknown].
func RegisteredNodeTypeOf(code int16) RegisteredNodeType {
	return nameOf(registeredNodeTypes, int32(code))
}

// Code returns the number of the type in the database, or 0 for an unknown type.
func (t RegisteredNodeType) Code() int16 { return int16(max(slices.Index(registeredNodeTypes, t), 0)) }

// StakingPeriodOf returns the staking period of 24 hours that begins one nanosecond after end, the last instant of
// the period before. The end of the range is exclusive.
func StakingPeriodOf(end Timestamp) TimestampRange {
	const day = Timestamp(24 * 60 * 60 * second)
	return TimestampRange{From: Of(end + 1), To: Of(end + 1 + day)}
}

// Share is a fraction with nine decimals, rounded to the nearest 32-bit float.
type Share float32

// NewShare returns numerator / denominator as a fraction of the network's fees, with the ninth decimal rounded half
// away from zero. If the denominator is 0, it returns 0.
func NewShare(numerator, denominator int64) Share {
	if denominator == 0 {
		return 0
	}
	const decimals = 9
	text := new(big.Rat).SetFrac64(numerator, denominator).FloatString(decimals) // rounds halves away from zero
	f, err := strconv.ParseFloat(text, 32)
	if err != nil {
		return 0 // a quotient of 64-bit integers always fits
	}
	return Share(f)
}

// MaxPeriods is the maximum number of periods of statistics.
const MaxPeriods = 1000

// Periods returns the bounds of the periods of statistics in a range, in ascending order: the start of the range, the
// starts of all periods in it, and its end, which is until if the range has none. It fails, with a text for clients,
// for ranges that are empty or start before 1970, and for more than [MaxPeriods] periods.
func (r StatisticsRange) Periods(by StatisticsInterval, until Timestamp) ([]Timestamp, error) {
	if r.To != nil {
		until = *r.To
	}
	if r.From < 0 {
		return nil, fmt.Errorf("the range starts before 1970, at %s", r.From)
	}
	if r.From >= until {
		return nil, fmt.Errorf("the range from %s to %s is empty", r.From, until)
	}
	bounds := []Timestamp{r.From}
	for next := r.From; len(bounds) <= MaxPeriods; bounds = append(bounds, next) {
		if next = by.after(next); next >= until || next < r.From { // or after the latest timestamp
			return append(bounds, until), nil
		}
	}
	return nil, fmt.Errorf("the range has more than %d periods: use a shorter range or longer periods", MaxPeriods)
}

// after returns the start, in UTC, of the next period after t: hour, day, week (from Monday) or month. A start after
// [MaxTimestamp] overflows to an instant before t.
func (i StatisticsInterval) after(t Timestamp) Timestamp {
	at := t.Time()
	year, month, day := at.Date()
	switch i {
	case IntervalHour:
		return TimestampOf(at.Truncate(time.Hour).Add(time.Hour))
	case IntervalDay:
		day++
	case IntervalWeek:
		day += 7 - (int(at.Weekday())+6)%7
	case IntervalMonth:
		month, day = month+1, 1
	}
	return TimestampOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

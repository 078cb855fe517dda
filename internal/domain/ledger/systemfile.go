package ledger

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"
)

// Numbers of the system files.
const (
	AddressBookFile  = 102
	FeeScheduleFile  = 111
	ExchangeRateFile = 112
	SimpleFeeFile    = 113
)

// DecodeExchangeRates decodes a serialized ExchangeRateSet, without its timestamp. A missing rate is nil. Errors wrap
// [ErrSyntax].
func DecodeExchangeRates(b []byte) (*ExchangeRateSet, error) {
	var set services.ExchangeRateSet
	if err := proto.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("reading exchange rates: %w: %w", ErrSyntax, err)
	}
	return &ExchangeRateSet{
		CurrentRate: exchangeRate(set.GetCurrentRate()),
		NextRate:    exchangeRate(set.GetNextRate()),
	}, nil
}

// exchangeRate returns the rate of a message of the exchange rates file, or nil for a missing message.
func exchangeRate(r *services.ExchangeRate) *ExchangeRate {
	if r == nil {
		return nil
	}
	rate := &ExchangeRate{CentEquivalent: r.GetCentEquiv(), HbarEquivalent: r.GetHbarEquiv()}
	if expires := r.GetExpirationTime(); expires != nil {
		rate.ExpirationTime = Of(expires.GetSeconds())
	}
	return rate
}

// FeeSchedules is the content of the fee schedule file.
type FeeSchedules struct {
	Current *services.FeeSchedule
	Next    *services.FeeSchedule
}

// DecodeFeeSchedules decodes a serialized CurrentAndNextFeeSchedule. A missing schedule is nil. Errors wrap
// [ErrSyntax].
func DecodeFeeSchedules(b []byte) (*FeeSchedules, error) {
	var both services.CurrentAndNextFeeSchedule
	if err := proto.Unmarshal(b, &both); err != nil {
		return nil, fmt.Errorf("reading a fee schedule: %w: %w", ErrSyntax, err)
	}
	return &FeeSchedules{Current: both.GetCurrentFeeSchedule(), Next: both.GetNextFeeSchedule()}, nil
}

// tinycentsPerFee is the number of fee schedule units in a tinycent. The price of a unit of gas in a schedule is in
// thousandths of tinycents.
const tinycentsPerFee = 1000

// Tinybars converts tinycents to tinybars, rounded down. It returns null if the result exceeds 64 bits, the rate is
// empty or tinycents is negative.
func (r *ExchangeRate) Tinybars(tinycents int64) Null[int64] {
	if r.CentEquivalent <= 0 || r.HbarEquivalent < 0 || tinycents < 0 {
		return Null[int64]{}
	}
	hi, lo := bits.Mul64(uint64(tinycents), uint64(r.HbarEquivalent))
	if hi >= uint64(r.CentEquivalent) {
		return Null[int64]{}
	}
	quotient, _ := bits.Div64(hi, lo, uint64(r.CentEquivalent))
	if quotient > math.MaxInt64 {
		return Null[int64]{}
	}
	return Of(int64(quotient))
}

// At returns a copy of the rate at an instant: the current one up to and including its expiration, then the next one,
// or an empty rate if the file does not have it. A current rate that is missing or has no expiration counts as
// expired.
func (s *ExchangeRateSet) At(at Timestamp) ExchangeRate {
	var rate ExchangeRate
	if s.CurrentRate != nil {
		rate = *s.CurrentRate
	}
	switch {
	case !isAfter(at, rate.ExpirationTime.V):
		return rate
	case s.NextRate == nil:
		return ExchangeRate{}
	default:
		return *s.NextRate
	}
}

// GasFile is the decoded content of a file with the price of gas: 0.0.111 ([FeeSchedules]) or 0.0.113 ([SimpleGas]).
type GasFile interface {
	// Tinycents returns the price of a unit of gas of the network's contract functions, in tinycents. It is null if
	// the file has none. since is the time of the file's version.
	Tinycents(since Timestamp) Null[int64]
	// GasPrice returns the price of a unit of gas of a contract call at an instant, in tinybars and at least 1. It is
	// null if the files do not have it.
	GasPrice(rates *ExchangeRateSet, at Timestamp) Null[int64]
}

// SimpleGas is the price of a unit of gas in the simple fee schedule, in tinycents. It is null if the schedule has
// none.
type SimpleGas Null[int64]

// Tinycents implements [GasFile]. It returns the price of gas in tinycents, the same at any time, or null if the
// schedule has none.
func (g SimpleGas) Tinycents(Timestamp) Null[int64] { return Null[int64](g) }

// GasPrice implements [GasFile]. It returns the price of gas in tinybars, at least 1, or null, also if the rate is
// empty. The start of the hour selects the current or the next rate. rates must not be nil.
func (g SimpleGas) GasPrice(rates *ExchangeRateSet, at Timestamp) Null[int64] {
	if !g.Valid {
		return Null[int64]{}
	}
	rate := rates.At(startOfHour(at))
	return rate.gasTinybars(g.V)
}

// gasFunctions are the functions that use gas, sorted by name.
var gasFunctions = []services.HederaFunctionality{
	services.HederaFunctionality_ContractCall, services.HederaFunctionality_ContractCreate,
	services.HederaFunctionality_EthereumTransaction,
}

// GasFees converts the price of a unit of gas from tinycents to tinybars and returns it as the fee of each function
// that uses gas, sorted by transaction type. It returns no fees if the price is null or the rate is empty.
func GasFees(tinycents Null[int64], rate ExchangeRate) []*NetworkFee {
	if !tinycents.Valid {
		return []*NetworkFee{}
	}
	gas := rate.gasTinybars(tinycents.V)
	if !gas.Valid {
		return []*NetworkFee{}
	}
	out := make([]*NetworkFee, len(gasFunctions))
	for i, function := range gasFunctions {
		out[i] = &NetworkFee{Gas: gas.V, TransactionType: function.String()}
	}
	return out
}

// gasTinybars converts the price of a unit of gas from tinycents to tinybars, rounded down and at least 1. A negative
// price counts as 0. It returns null if the rate is empty or the result exceeds 64 bits.
func (r *ExchangeRate) gasTinybars(tinycents int64) Null[int64] {
	price := r.Tinybars(max(tinycents, 0))
	if price.Valid {
		price.V = max(price.V, 1)
	}
	return price
}

// Tinycents implements [GasFile]. It is the price of the first function that uses gas and has one, rounded down, or
// null. The next schedule applies, unless it has no fees, if the current one had expired when the file was published
// or has no expiry time.
func (s *FeeSchedules) Tinycents(since Timestamp) Null[int64] {
	schedule := s.Current
	if len(s.Next.GetTransactionFeeSchedule()) > 0 && isAfter(since, schedule.GetExpiryTime().GetSeconds()) {
		schedule = s.Next
	}
	for _, f := range schedule.GetTransactionFeeSchedule() {
		if variants := f.GetFees(); slices.Contains(gasFunctions, f.GetHederaFunctionality()) && len(variants) > 0 {
			if service := variants[0].GetServicedata(); service != nil {
				return Of(service.GetGas() / tinycentsPerFee)
			}
		}
	}
	return Null[int64]{}
}

// GasPrice implements [GasFile] with the price of contract calls, in tinybars and at least 1, or null, also if the
// rate is empty. The start of the hour selects the current or the next schedule and rate. A schedule without an
// expiry time does not expire. rates must not be nil.
func (s *FeeSchedules) GasPrice(rates *ExchangeRateSet, at Timestamp) Null[int64] {
	hour := startOfHour(at)
	schedule := s.Current
	if expires := schedule.GetExpiryTime(); expires != nil && isAfter(hour, expires.GetSeconds()) {
		schedule = s.Next
	}
	all := schedule.GetTransactionFeeSchedule()
	i := slices.IndexFunc(all, func(f *services.TransactionFeeSchedule) bool {
		return f.GetHederaFunctionality() == services.HederaFunctionality_ContractCall && len(f.GetFees()) > 0
	})
	if i < 0 {
		return Null[int64]{}
	}
	rate := rates.At(hour)
	price := rate.Tinybars(all[i].GetFees()[0].GetServicedata().GetGas())
	if price.Valid {
		price.V = max(price.V/tinycentsPerFee, 1)
	}
	return price
}

// startOfHour returns the start of the UTC hour of an instant since 1970, by which GasPrice selects rates and
// schedules.
func startOfHour(at Timestamp) Timestamp { return at - at%Timestamp(time.Hour) }

// isAfter reports whether an instant is after a time in seconds since 1970.
func isAfter(at Timestamp, seconds int64) bool {
	whole, rest := int64(at)/second, int64(at)%second
	return whole > seconds || whole == seconds && rest > 0
}

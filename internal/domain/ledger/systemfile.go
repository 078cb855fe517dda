package ledger

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
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

// DecodeExchangeRates decodes a serialized ExchangeRateSet. Errors wrap [ErrSyntax].
func DecodeExchangeRates(b []byte) (*ExchangeRateSet, error) {
	var set services.ExchangeRateSet
	if err := proto.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("reading exchange rates: %w: %w", ErrSyntax, err)
	}
	return &ExchangeRateSet{CurrentRate: exchangeRate(set.GetCurrentRate()), NextRate: exchangeRate(set.GetNextRate())}, nil
}

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
	Current   *services.FeeSchedule
	Next      *services.FeeSchedule
	Timestamp Timestamp // of the file's version
}

// DecodeFeeSchedules decodes a serialized CurrentAndNextFeeSchedule. Errors wrap [ErrSyntax].
func DecodeFeeSchedules(b []byte) (*FeeSchedules, error) {
	var both services.CurrentAndNextFeeSchedule
	if err := proto.Unmarshal(b, &both); err != nil {
		return nil, fmt.Errorf("reading a fee schedule: %w: %w", ErrSyntax, err)
	}
	return &FeeSchedules{Current: both.GetCurrentFeeSchedule(), Next: both.GetNextFeeSchedule()}, nil
}

// gasFunctions are the functions that use gas.
var gasFunctions = []services.HederaFunctionality{
	services.HederaFunctionality_ContractCall, services.HederaFunctionality_ContractCreate, services.HederaFunctionality_EthereumTransaction,
}

// tinycentsPerFee is the number of fee schedule units in a tinycent. The price of a unit of gas in a schedule is in thousandths of tinycents.
const tinycentsPerFee = 1000

// Tinybars converts tinycents to tinybars, rounded down. It returns null if the result exceeds 64 bits or the rate is empty.
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

// At returns the rate at an instant, or an empty rate if the file does not have one.
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

// GasFees returns the prices of gas at an instant in tinybars, sorted by transaction type. It uses the next schedule and the next rate if the current ones have
// expired, but not a next schedule without fees.
func (s *FeeSchedules) GasFees(rates *ExchangeRateSet, at Timestamp) []*NetworkFee {
	schedule := s.Current
	if len(s.Next.GetTransactionFeeSchedule()) > 0 && isAfter(at, schedule.GetExpiryTime().GetSeconds()) {
		schedule = s.Next
	}
	rate := rates.At(at)
	fees := []*NetworkFee{}
	for _, f := range schedule.GetTransactionFeeSchedule() {
		function, variants := f.GetHederaFunctionality(), f.GetFees()
		if !slices.Contains(gasFunctions, function) || len(variants) == 0 || variants[0].GetServicedata() == nil || rate.CentEquivalent == 0 {
			continue
		}
		gas := variants[0].GetServicedata().GetGas() / tinycentsPerFee * int64(rate.HbarEquivalent) / int64(rate.CentEquivalent)
		fees = append(fees, &NetworkFee{Gas: max(1, gas), TransactionType: function.String()})
	}
	slices.SortStableFunc(fees, func(a, b *NetworkFee) int {
		return cmp.Compare(strings.ToLower(a.TransactionType), strings.ToLower(b.TransactionType))
	})
	return fees
}

// GasPrice returns the price of a unit of gas of contract calls at an instant, in tinybars and at least 1, or null if the files do not have it. The start of
// the hour selects the current or the next schedule and rate.
func (s *FeeSchedules) GasPrice(rates *ExchangeRateSet, at Timestamp) Null[int64] {
	hour := at - at%Timestamp(time.Hour)
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

// isAfter reports whether an instant is after a time in seconds since 1970.
func isAfter(at Timestamp, seconds int64) bool {
	whole, rest := int64(at)/second, int64(at)%second
	return whole > seconds || whole == seconds && rest > 0
}

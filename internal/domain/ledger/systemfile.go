package ledger

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the system files.
const (
	AddressBookFile  = 102
	FeeScheduleFile  = 111
	ExchangeRateFile = 112
	SimpleFeeFile    = 113
)

// ExchangeRateSet is the content of the exchange rate file.
type ExchangeRateSet struct {
	CurrentRate *ExchangeRate
	NextRate    *ExchangeRate
	Timestamp   Timestamp // of the file's version
}

// ExchangeRate is the exchange rate of hbars: HbarEquivalent hbars are worth CentEquivalent US cents.
type ExchangeRate struct {
	CentEquivalent int32
	HbarEquivalent int32
	ExpirationTime Null[int64] // seconds since 1970
}

// DecodeExchangeRates decodes a serialized ExchangeRateSet: field 1 the current rate, 2 the next, each with 1 hbars, 2 cents, 3 expiration. Errors wrap
// [ErrSyntax].
func DecodeExchangeRates(b []byte) (*ExchangeRateSet, error) {
	set := &ExchangeRateSet{}
	err := eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			return readMessage(&set.CurrentRate, "current rate", f.bytes, (*ExchangeRate).read)
		case f.is(2, protowire.BytesType):
			return readMessage(&set.NextRate, "next rate", f.bytes, (*ExchangeRate).read)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading exchange rates: %w", err)
	}
	return set, nil
}

// readMessage reads a part of a message into *into. A part that occurs twice is read into the same value.
func readMessage[T any](into **T, name string, b []byte, read func(*T, []byte) error) error {
	if *into == nil {
		*into = new(T)
	}
	if err := read(*into, b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (r *ExchangeRate) read(b []byte) error {
	return eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			r.HbarEquivalent = int32(f.varint)
		case f.is(2, protowire.VarintType):
			r.CentEquivalent = int32(f.varint)
		case f.is(3, protowire.BytesType):
			return readSeconds(f.bytes, &r.ExpirationTime)
		}
		return nil
	})
}

// readSeconds reads a serialized TimestampSeconds: field 1 seconds.
func readSeconds(b []byte, into *Null[int64]) error {
	into.Valid = true
	return eachField(b, func(f field) error {
		if f.is(1, protowire.VarintType) {
			into.V = int64(f.varint)
		}
		return nil
	})
}

// FeeSchedules is the content of the fee schedule file.
type FeeSchedules struct {
	Current   *FeeSchedule
	Next      *FeeSchedule
	Timestamp Timestamp // of the file's version
}

// FeeSchedule has the fees of all functions until its expiry.
type FeeSchedule struct {
	Fees       []*FunctionFees
	ExpiryTime Null[int64] // seconds since 1970
}

// FunctionFees are the fees of a function of the network, one per variant.
type FunctionFees struct {
	Function int32
	Fees     []*FeeData
}

// FeeData are the fees of a variant of a function.
type FeeData struct {
	Service *FeeComponents
}

// FeeComponents are the components of a fee that contract calls need.
type FeeComponents struct {
	Gas int64 // the price of a unit of gas in thousandths of tinycents
}

// DecodeFeeSchedules decodes a serialized CurrentAndNextFeeSchedule: field 1 the current schedule, 2 the next. Errors wrap [ErrSyntax].
func DecodeFeeSchedules(b []byte) (*FeeSchedules, error) {
	s := &FeeSchedules{}
	err := eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			return readMessage(&s.Current, "current schedule", f.bytes, (*FeeSchedule).read)
		case f.is(2, protowire.BytesType):
			return readMessage(&s.Next, "next schedule", f.bytes, (*FeeSchedule).read)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading a fee schedule: %w", err)
	}
	return s, nil
}

// read reads a serialized FeeSchedule: field 1 repeated fees of a function, 2 expiry.
func (s *FeeSchedule) read(b []byte) error {
	return eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			fees := &FunctionFees{}
			s.Fees = append(s.Fees, fees)
			return fees.read(f.bytes)
		case f.is(2, protowire.BytesType):
			return readSeconds(f.bytes, &s.ExpiryTime)
		}
		return nil
	})
}

// read reads a serialized TransactionFeeSchedule: field 1 the function, 2 a deprecated form of its fee, 3 repeated fees.
func (t *FunctionFees) read(b []byte) error {
	return eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			t.Function = int32(f.varint)
		case f.is(2, protowire.BytesType):
			return new(FeeData).read(f.bytes) // unused, but must be well-formed
		case f.is(3, protowire.BytesType):
			data := &FeeData{}
			t.Fees = append(t.Fees, data)
			return data.read(f.bytes)
		}
		return nil
	})
}

// read reads a serialized FeeData: fields 1 node, 2 network, 3 service.
func (d *FeeData) read(b []byte) error {
	return eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType), f.is(2, protowire.BytesType):
			return new(FeeComponents).read(f.bytes) // as above
		case f.is(3, protowire.BytesType):
			return readMessage(&d.Service, "service fee", f.bytes, (*FeeComponents).read)
		}
		return nil
	})
}

// read reads a serialized FeeComponents: field 8 gas.
func (c *FeeComponents) read(b []byte) error {
	return eachField(b, func(f field) error {
		if f.is(8, protowire.VarintType) {
			c.Gas = int64(f.varint)
		}
		return nil
	})
}

// NetworkFees are the prices of gas.
type NetworkFees struct {
	Fees      []*NetworkFee
	Timestamp Timestamp // of the fee schedule's version
}

// NetworkFee is the price of gas of a transaction type.
type NetworkFee struct {
	Gas             int64 // tinybars
	TransactionType string
}

// gasFunctions are the functions that use gas, by their numbers.
var gasFunctions = map[int32]string{contractCall: "ContractCall", 7: "ContractCreate", 84: "EthereumTransaction"}

// contractCall is the number of the function ContractCall.
const contractCall = 6

// tinycentsPerFee is the number of fee schedule units in a tinycent.
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
	case !isAfter(at, rate.ExpirationTime):
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
	if schedule == nil {
		schedule = &FeeSchedule{}
	}
	if s.Next != nil && len(s.Next.Fees) > 0 && isAfter(at, schedule.ExpiryTime) {
		schedule = s.Next
	}
	rate := rates.At(at)
	fees := []*NetworkFee{}
	for _, f := range schedule.Fees {
		name, usesGas := gasFunctions[f.Function]
		if !usesGas || len(f.Fees) == 0 || f.Fees[0].Service == nil || rate.CentEquivalent == 0 {
			continue
		}
		gas := f.Fees[0].Service.Gas / tinycentsPerFee * int64(rate.HbarEquivalent) / int64(rate.CentEquivalent)
		fees = append(fees, &NetworkFee{Gas: max(1, gas), TransactionType: name})
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
	if schedule != nil && schedule.ExpiryTime.Valid && isAfter(hour, schedule.ExpiryTime) {
		schedule = s.Next
	}
	if schedule == nil {
		return Null[int64]{}
	}
	i := slices.IndexFunc(schedule.Fees, func(f *FunctionFees) bool { return f.Function == contractCall && len(f.Fees) > 0 })
	if i < 0 {
		return Null[int64]{}
	}
	gas := FeeComponents{}
	if service := schedule.Fees[i].Fees[0].Service; service != nil {
		gas = *service
	}
	rate := rates.At(hour)
	price := rate.Tinybars(gas.Gas)
	if price.Valid {
		price.V = max(price.V/tinycentsPerFee, 1)
	}
	return price
}

// isAfter reports whether an instant is after a time in seconds since 1970. A null time counts as 0.
func isAfter(at Timestamp, seconds Null[int64]) bool {
	whole, rest := int64(at)/second, int64(at)%second
	return whole > seconds.V || whole == seconds.V && rest > 0
}

package ledger

import (
	"fmt"
	"math/big"

	"google.golang.org/protobuf/encoding/protowire"
)

// The network's price of gas is in two system files. The fee schedule has it in thousandths of tinycents, and the exchange rates convert it. Both files have
// the current and the next values.
const (
	contractCall = 6 // the number of the functionality ContractCall
	feeDivisor   = 1000
)

// GasFee is the current and the next price of gas in a fee schedule, in thousandths of tinycents.
type GasFee struct {
	current, next Null[int64]
	expiry        Null[int64] // of the current price, in seconds since 1970
}

// HbarRate is the current and the next exchange rate of hbars.
type HbarRate struct {
	current, next rate
}

type rate struct{ hbars, cents, expiry int64 }

// DecodeGasFee decodes a CurrentAndNextFeeSchedule. Errors wrap [ErrSyntax].
func DecodeGasFee(b []byte) (GasFee, error) {
	var fee GasFee
	err := eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			return readSchedule(f.bytes, &fee.current, &fee.expiry)
		case f.is(2, protowire.BytesType):
			var unused Null[int64]
			return readSchedule(f.bytes, &fee.next, &unused)
		}
		return nil
	})
	if err != nil {
		return GasFee{}, fmt.Errorf("reading a fee schedule: %w", err)
	}
	return fee, nil
}

// readSchedule reads a FeeSchedule: 1 repeated entries (1 functionality, 3 repeated FeeData), 2 expiry (1 seconds).
func readSchedule(b []byte, gas, expiry *Null[int64]) error {
	return eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			found, fee, err := readEntry(f.bytes)
			if err == nil && found && !gas.Valid {
				*gas = Of(fee)
			}
			return err
		case f.is(2, protowire.BytesType):
			seconds, err := readNumbers(f.bytes, 1)
			*expiry = Of(seconds[0])
			return err
		}
		return nil
	})
}

// readEntry reads a TransactionFeeSchedule. found is set if it is of contract calls and has a fee.
func readEntry(b []byte) (found bool, gas int64, err error) {
	functionality, fees := int64(0), 0
	err = eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			functionality = int64(f.varint)
		case f.is(3, protowire.BytesType):
			fees++
			if fees > 1 {
				return nil // the first one is used
			}
			return eachField(f.bytes, func(f field) error {
				if !f.is(3, protowire.BytesType) { // the service component
					return nil
				}
				parts, err := readNumbers(f.bytes, 8)
				gas = parts[0]
				return err
			})
		}
		return nil
	})
	return functionality == contractCall && fees > 0, gas, err
}

// readNumbers reads the varints of the given fields, 0 for missing fields.
func readNumbers(b []byte, nums ...protowire.Number) ([]int64, error) {
	out := make([]int64, len(nums))
	return out, eachField(b, func(f field) error {
		for i, n := range nums {
			if f.is(n, protowire.VarintType) {
				out[i] = int64(f.varint)
			}
		}
		return nil
	})
}

// DecodeHbarRate decodes an ExchangeRateSet. Errors wrap [ErrSyntax].
func DecodeHbarRate(b []byte) (HbarRate, error) {
	var rates HbarRate
	err := eachField(b, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			return readRate(f.bytes, &rates.current)
		case f.is(2, protowire.BytesType):
			return readRate(f.bytes, &rates.next)
		}
		return nil
	})
	if err != nil {
		return HbarRate{}, fmt.Errorf("reading exchange rates: %w", err)
	}
	return rates, nil
}

// readRate reads an ExchangeRate: 1 hbars, 2 cents, 3 expiry (1 seconds).
func readRate(b []byte, r *rate) error {
	numbers, err := readNumbers(b, 1, 2)
	if err != nil {
		return err
	}
	r.hbars, r.cents = numbers[0], numbers[1]
	return eachField(b, func(f field) error {
		if !f.is(3, protowire.BytesType) {
			return nil
		}
		seconds, err := readNumbers(f.bytes, 1)
		r.expiry = seconds[0]
		return err
	})
}

// GasPrice returns the price of gas at an instant, in tinybars and at least 1, or null if the files do not have it. The start of the hour selects the
// current or the next values.
func GasPrice(fee GasFee, rates HbarRate, at Timestamp) Null[int64] {
	hour := int64(at) / second / 3600 * 3600
	gas, r := fee.current, rates.current
	if fee.expiry.Valid && hour > fee.expiry.V {
		gas = fee.next
	}
	if hour > r.expiry {
		r = rates.next
	}
	if !gas.Valid || r.cents == 0 {
		return Null[int64]{}
	}
	price := new(big.Int).Mul(big.NewInt(gas.V), big.NewInt(r.hbars))
	price.Quo(price, new(big.Int).Mul(big.NewInt(r.cents), big.NewInt(feeDivisor)))
	if !price.IsInt64() {
		return Null[int64]{}
	}
	return Of(max(price.Int64(), 1))
}

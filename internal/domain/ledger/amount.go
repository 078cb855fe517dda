package ledger

import (
	"math/big"
	"strconv"
	"strings"
)

// Amount is an amount of hbars or of a token.
type Amount struct {
	Raw      int64       // tinybars, or the token's smallest unit
	TokenID  EntityID    // 0 for hbars
	Decimals Null[int32] // of the token; null if unknown
	At       Timestamp   // the time whose exchange rate applies; 0 is the present
}

// maxDecimals is the largest number of decimals of a token whose amounts are displayed.
const maxDecimals = 100

// Display returns the amount with a decimal point and, for hbars, the unit. It is null for a token without a known
// number of decimals.
func (a *Amount) Display() Null[string] {
	if a.TokenID.IsNone() {
		return Of(string(appendDecimal(nil, a.Raw, hbarDecimals)) + " ℏ")
	}
	if !a.Decimals.Valid || a.Decimals.V < 0 || a.Decimals.V > maxDecimals {
		return Null[string]{}
	}
	return Of(string(appendDecimal(nil, a.Raw, int(a.Decimals.V))))
}

// appendDecimal appends n / 10^decimals without trailing zeros.
func appendDecimal(dst []byte, n int64, decimals int) []byte {
	abs := uint64(n) // two's complement: negated below
	if n < 0 {
		dst, abs = append(dst, '-'), -abs
	}
	digits := strconv.FormatUint(abs, 10)
	digits = strings.Repeat("0", max(0, decimals+1-len(digits))) + digits
	dst = append(dst, digits[:len(digits)-decimals]...)
	if fraction := strings.TrimRight(digits[len(digits)-decimals:], "0"); fraction != "" {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst
}

// USD returns the value of tinybars in US dollars, rounded to at most 6 and at least 2 decimals. It is null if the
// rate is empty.
func (r ExchangeRate) USD(tinybars int64) Null[string] {
	if r.CentEquivalent <= 0 || r.HbarEquivalent <= 0 {
		return Null[string]{}
	}
	cents := new(big.Int).Mul(big.NewInt(tinybars), big.NewInt(int64(r.CentEquivalent)))
	per := new(big.Int).Mul(big.NewInt(100*tinybarsPerHbar), big.NewInt(int64(r.HbarEquivalent)))
	text := new(big.Rat).SetFrac(cents, per).FloatString(6)
	end := len(text) - len("0000")
	if text = text[:end] + strings.TrimRight(text[end:], "0"); text == "-0.00" {
		text = "0.00"
	}
	return Of(text)
}

const (
	hbarDecimals    = 8
	tinybarsPerHbar = 100_000_000
	weibarZeros     = "0000000000" // 10^10 weibars are one tinybar
)

// HbarAmount is an amount in a unit.
type HbarAmount struct {
	Tinybars Null[int64]
	Unit     HbarUnit
}

// AppendText implements [encoding.TextAppender]. The amount must not be null. It appends nothing for an unknown unit,
// and the error is always nil.
func (a HbarAmount) AppendText(dst []byte) ([]byte, error) {
	n := a.Tinybars.V
	switch a.Unit {
	case UnitWeibar:
		dst = strconv.AppendInt(dst, n, 10)
		if n != 0 {
			dst = append(dst, weibarZeros...)
		}
	case UnitHbar:
		dst = appendDecimal(dst, n, hbarDecimals)
	case UnitTinybar:
		dst = strconv.AppendInt(dst, n, 10)
	}
	return dst, nil
}

// BalanceIn returns the account's balance in tinybars together with a unit, in which it is formatted.
func (a *Account) BalanceIn(unit HbarUnit) HbarAmount { return HbarAmount{a.Balance.Balance, unit} }

// Holdings returns a pointer to the balances in the account, or nil unless include is set. It reads nothing from
// the database.
func (a *Account) Holdings(include bool) *Balance {
	if !include {
		return nil
	}
	return &a.Balance
}

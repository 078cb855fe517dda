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

// Display returns the amount as decimal text, in hbars with the unit, or in whole tokens without one. Zeros at the
// end of the fraction are omitted. It is null for a token whose number of decimals is unknown, negative or above
// [maxDecimals].
func (a *Amount) Display() Null[string] {
	if a.TokenID.IsNone() {
		return Of(string(appendDecimal(nil, a.Raw, hbarDecimals)) + " ℏ")
	}
	if !a.Decimals.Valid || a.Decimals.V < 0 || a.Decimals.V > maxDecimals {
		return Null[string]{}
	}
	return Of(string(appendDecimal(nil, a.Raw, int(a.Decimals.V))))
}

// appendDecimal appends n / 10^decimals without trailing zeros of the fraction, and without a point if there is none.
// decimals must not be negative.
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

// USD returns the value of tinybars in US dollars as decimal text, rounded to 6 decimals (halves away from zero).
// Zeros at its end are omitted, but 2 decimals stay. It is null if the rate is empty.
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

// AppendText implements [encoding.TextAppender]. It appends the amount in a.Unit as decimal text, hbars without zeros
// at the end of the fraction. The amount must not be null. It appends nothing for an unknown unit, and the error is
// always nil.
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

// BalanceIn resolves Account.balance: the balance in tinybars, or null, together with the unit in which it is
// formatted.
func (a *Account) BalanceIn(unit HbarUnit) HbarAmount { return HbarAmount{a.Balance.Balance, unit} }

// Holdings resolves Account.holdings: a pointer to the balances in the account, or nil unless the argument include is
// set. It reads nothing from the database.
func (a *Account) Holdings(include bool) *Balance {
	if !include {
		return nil
	}
	return &a.Balance
}

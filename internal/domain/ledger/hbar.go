package ledger

import "strconv"

// HbarUnit is a unit of the ledger's currency.
type HbarUnit string

// The units: one hbar is 10^8 tinybars and 10^18 weibars.
const (
	Tinybar HbarUnit = "TINYBAR"
	Weibar  HbarUnit = "WEIBAR"
	Hbar    HbarUnit = "HBAR"
)

const (
	tinybarsPerHbar = 100_000_000
	weibarZeros     = "0000000000" // 10^10 weibars are one tinybar
)

// HbarAmount is an amount in a unit.
type HbarAmount struct {
	Tinybars Null[int64]
	Unit     HbarUnit
}

// AppendText implements [encoding.TextAppender]. The amount must not be null.
func (a HbarAmount) AppendText(dst []byte) ([]byte, error) {
	n := a.Tinybars.V
	switch a.Unit {
	case Weibar:
		dst = strconv.AppendInt(dst, n, 10)
		if n != 0 {
			dst = append(dst, weibarZeros...)
		}
	case Hbar:
		abs := uint64(n) // two's complement: negated below
		if n < 0 {
			dst, abs = append(dst, '-'), -abs
		}
		dst = strconv.AppendUint(dst, abs/tinybarsPerHbar, 10)
		if fraction := abs % tinybarsPerHbar; fraction > 0 {
			at := len(dst)
			dst = strconv.AppendUint(dst, tinybarsPerHbar+fraction, 10) // prints a leading 1 to keep leading zeros; the decimal point replaces it
			dst[at] = '.'
			for dst[len(dst)-1] == '0' {
				dst = dst[:len(dst)-1]
			}
		}
	case Tinybar:
		dst = strconv.AppendInt(dst, n, 10)
	}
	return dst, nil
}

// BalanceIn returns the account's balance in a unit.
func (a *Account) BalanceIn(unit HbarUnit) HbarAmount { return HbarAmount{a.Balance.Balance, unit} }

// Holdings returns the account's balances, or nil if they are not included.
func (a *Account) Holdings(include bool) *Balance {
	if !include {
		return nil
	}
	return &a.Balance
}

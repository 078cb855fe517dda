package ledger

import "strconv"

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

// AppendText implements [encoding.TextAppender]. The amount must not be null.
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

// BalanceIn returns the account's balance in a unit.
func (a *Account) BalanceIn(unit HbarUnit) HbarAmount { return HbarAmount{a.Balance.Balance, unit} }

// Holdings returns the account's balances, or nil if they are not included.
func (a *Account) Holdings(include bool) *Balance {
	if !include {
		return nil
	}
	return &a.Balance
}

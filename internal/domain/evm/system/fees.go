package system

import (
	"iter"
	"math/big"
	"slices"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// maxFeeLevels is the maximum depth of fees that are due for paying other fees.
const maxFeeLevels = 2

// charge adds custom fees to a transfer.
func (c *call) charge(x *transfer) {
	asked := len(x.tokens)
	paidFor := map[relationKey]bool{}
	for i := range asked {
		m := x.tokens[i]
		if !m.token.hasFees() {
			continue
		}
		c.chargeFor(x, m, 1)
		c.chargeParts(&x.tokens[i])
		c.chargeRoyalties(x, m, asked, paidFor)
	}
}

// exempt reports whether an account pays no fee of a token: the treasury, the fee's collector and, if all is set, each collector of the token.
func exempt(t *token, payer party, collector ledger.EntityID, all bool) bool {
	if payer.id == 0 {
		return false
	}
	return payer.id == t.TreasuryAccountID || payer.id == collector || all && slices.Contains(collectors(t.Fees.V), payer.id)
}

// collectors returns the collectors of fees.
func collectors(f *ledger.TokenCustomFees) []ledger.EntityID {
	return slices.Concat(
		list.Map(f.FixedFees, func(x *ledger.FixedFee) ledger.EntityID { return x.CollectorAccountID }),
		list.Map(f.FractionalFees, func(x *ledger.FractionalFee) ledger.EntityID { return x.CollectorAccountID }),
		list.Map(f.RoyaltyFees, func(x *ledger.RoyaltyFee) ledger.EntityID { return x.CollectorAccountID }),
	)
}

// chargeFor adds the fixed fees of a token, which each sender pays.
func (c *call) chargeFor(x *transfer, m movement, level int) {
	var payers []party
	for _, v := range m.moves {
		if v.amount < 0 {
			payers = append(payers, v.party)
		}
	}
	for _, v := range m.serials {
		payers = append(payers, v.from)
	}
	for _, fee := range m.token.Fees.V.FixedFees {
		for _, payer := range payers {
			if exempt(m.token, payer, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				continue
			}
			failIf(level > maxFeeLevels, codes.CustomFeeChargingExceededMaxRecursionDepth)
			c.pay(x, m.token, payer, fee.CollectorAccountID, fee.Amount, fee.DenominatingTokenID, level)
		}
	}
}

// pay adds a fee in hbars or in a token to a transfer, and the fees that are due for it.
func (c *call) pay(x *transfer, of *token, payer party, collector ledger.EntityID, amount int64, denomination ledger.EntityID, level int) {
	moves := []move{{party: payer, amount: -amount, fee: true}, {party: partyOf(collector), amount: amount, fee: true}}
	if denomination.IsNone() {
		x.hbars = append(x.hbars, moves...)
		return
	}
	t := c.activeTokenAt(longZero(denomination))
	m := movement{token: t, moves: moves}
	if t.EntityID != of.EntityID {
		c.chargeParts(&m)
		failIf(len(m.moves) > len(moves) && level >= maxFeeLevels, codes.CustomFeeChargingExceededMaxRecursionDepth)
	}
	x.tokens = append(x.tokens, m)
	if t.EntityID != of.EntityID {
		m.moves = moves
		c.chargeFor(x, m, level+1)
	}
}

// chargeParts adds fractional fees. The sender pays them in addition, or they are deducted from the amounts of the receivers in proportion.
func (c *call) chargeParts(m *movement) {
	given := m.moves
	left := make([]int64, len(given)) // the remaining amount of each receiver
	for i, v := range given {
		left[i] = max(v.amount, 0)
	}
	for _, from := range given {
		if from.amount >= 0 {
			continue
		}
		units := -from.amount
		for _, fee := range m.token.Fees.V.FractionalFees {
			if exempt(m.token, from.party, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				continue
			}
			part, collector := partOf(-from.amount, fee), partyOf(fee.CollectorAccountID)
			var payers []int
			for i, v := range given {
				if v.amount > 0 && !exempt(m.token, v.party, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
					payers = append(payers, i)
				}
			}
			switch {
			case len(payers) == 0:
			case fee.NetOfTransfers || m.onTop:
				m.moves = append(m.moves, move{party: from.party, amount: -part, fee: true}, move{party: collector, amount: part, fee: true})
			default:
				failIf(part > units, codes.InsufficientSenderAccountBalanceForCustomFee)
				units -= part
				for i, share := range shares(part, payers, left) {
					m.moves = append(m.moves, move{party: given[i].party, amount: -share, fee: true})
				}
				m.moves = append(m.moves, move{party: collector, amount: part, fee: true})
			}
		}
	}
}

// shares divides an amount among payers in proportion to the amounts in left, and subtracts each share from them. The first payers pay the remainder.
func shares(amount int64, payers []int, left []int64) iter.Seq2[int, int64] {
	all, rest := new(big.Int), amount
	for _, i := range payers {
		all.Add(all, big.NewInt(left[i]))
	}
	out := make([]int64, len(payers))
	for n, i := range payers {
		if all.Sign() > 0 {
			v := new(big.Int).Mul(big.NewInt(left[i]), big.NewInt(amount))
			out[n] = min(v.Quo(v, all).Int64(), left[i])
		}
		left[i] -= out[n]
		rest -= out[n]
	}
	for n, i := range payers {
		more := min(rest, left[i])
		left[i] -= more
		rest -= more
		out[n] += more
	}
	return func(yield func(int, int64) bool) {
		for n, i := range payers {
			if out[n] != 0 && !yield(i, out[n]) {
				return
			}
		}
	}
}

// partOf returns the fractional fee of an amount, within its minimum and maximum.
func partOf(amount int64, fee *ledger.FractionalFee) int64 {
	if fee.Amount.Denominator == 0 {
		return fee.Minimum
	}
	v := new(big.Int).Mul(big.NewInt(amount), big.NewInt(fee.Amount.Numerator))
	v.Quo(v, big.NewInt(fee.Amount.Denominator))
	part := max(v.Int64(), fee.Minimum)
	if fee.Maximum.V > 0 {
		part = min(part, fee.Maximum.V)
	}
	return part
}

// chargeRoyalties adds royalty fees. The sender pays them from the payment, once for all serials of the token. If there is no payment, the receiver of each
// serial pays the fallback fee.
func (c *call) chargeRoyalties(x *transfer, m movement, asked int, paidFor map[relationKey]bool) {
	for _, v := range m.serials {
		got := received(x, asked, v.from)
		once := relationKey{v.from, m.token.EntityID}
		if len(got) > 0 && paidFor[once] {
			continue
		}
		paidFor[once] = len(got) > 0
		for _, fee := range m.token.Fees.V.RoyaltyFees {
			if exempt(m.token, v.from, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				continue
			}
			for _, paid := range got {
				share := partOf(paid.amount, &ledger.FractionalFee{Amount: fee.Amount})
				if share != 0 {
					c.pay(x, m.token, v.from, fee.CollectorAccountID, share, paid.token, 1)
				}
			}
			if len(got) == 0 && fee.FallbackFee != nil && !exempt(m.token, v.to, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				c.pay(x, m.token, v.to, fee.CollectorAccountID, fee.FallbackFee.Amount, fee.FallbackFee.DenominatingTokenID, 1)
			}
		}
	}
}

// payment is an amount of hbars or of a token.
type payment struct {
	token  ledger.EntityID
	amount int64
}

// received returns the payments that an account receives among the requested movements.
func received(x *transfer, asked int, of party) (out []payment) {
	collect := func(token ledger.EntityID, moves []move) {
		for _, m := range moves {
			if m.party == of && m.amount > 0 && !m.fee {
				out = append(out, payment{token, m.amount})
			}
		}
	}
	collect(0, x.hbars)
	for _, m := range x.tokens[:asked] {
		collect(m.token.EntityID, m.moves)
	}
	return out
}

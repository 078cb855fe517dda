package system

import (
	"math/big"

	"heliograph/internal/ledger"
)

// mostFeeLevels is how many times a fee may be due for what was moved for a fee.
const mostFeeLevels = 2

// charge adds to a transfer the custom fees that are due for it. What is due depends on who gets what for what in two cases that are not
// simulated: a part of the amount that moves between more than two accounts, and a royalty of what is paid for a serial.
func (c *call) charge(x *transfer) ledger.ResponseCode {
	asked := len(x.tokens)
	for i := range asked {
		m := &x.tokens[i]
		if f := m.token.Fees.V; len(f.FixedFees)+len(f.FractionalFees)+len(f.RoyaltyFees) == 0 {
			continue
		}
		if code := c.chargeFor(x, *m, 1); code != success {
			return code
		}
		if code := c.chargeParts(&x.tokens[i]); code != success {
			return code
		}
		if code := c.chargeRoyalties(x, x.tokens[i], asked); code != success {
			return code
		}
	}
	return success
}

// exempt tells whether an account pays no fee of a token: the treasury, who collects the fee, and if the fee says so who collects any.
func exempt(t *token, payer party, collector ledger.EntityID, all bool) bool {
	if payer.id == 0 {
		return false
	}
	if payer.id == t.TreasuryAccountID || payer.id == collector {
		return true
	}
	if !all {
		return false
	}
	f := t.Fees.V
	for _, x := range f.FixedFees {
		if x.CollectorAccountID == payer.id {
			return true
		}
	}
	for _, x := range f.FractionalFees {
		if x.CollectorAccountID == payer.id {
			return true
		}
	}
	for _, x := range f.RoyaltyFees {
		if x.CollectorAccountID == payer.id {
			return true
		}
	}
	return false
}

// chargeFor adds the fixed fees of a token, which everybody pays who gives of it.
func (c *call) chargeFor(x *transfer, m movement, level int) ledger.ResponseCode {
	var payers []party
	for _, v := range m.moves {
		if v.amount < 0 {
			payers = append(payers, v.who)
		}
	}
	for _, v := range m.hands {
		payers = append(payers, v.from)
	}
	for _, fee := range m.token.Fees.V.FixedFees {
		for _, payer := range payers {
			if exempt(m.token, payer, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				continue
			}
			if level > mostFeeLevels {
				return feesTooDeep
			}
			if code := c.pay(x, m.token, payer, fee.CollectorAccountID, fee.Amount, fee.DenominatingTokenID, level); code != success {
				return code
			}
		}
	}
	return success
}

// pay adds a fee to a transfer, in hbars or units of a token, and the fees that are due for that.
func (c *call) pay(x *transfer, of *token, payer party, collector ledger.EntityID, amount int64, denomination ledger.EntityID, level int) ledger.ResponseCode {
	moves := []move{{who: payer, amount: -amount, fee: true}, {who: partyOf(collector), amount: amount, fee: true}}
	if denomination.IsNone() {
		x.hbars = append(x.hbars, moves...)
		return success
	}
	t, code := c.usableAt(longZero(denomination))
	if code != success {
		return code
	}
	m := movement{token: t, moves: moves}
	x.tokens = append(x.tokens, m)
	if t.EntityID == of.EntityID {
		return success
	}
	if len(t.Fees.V.FractionalFees) > 0 {
		c.NotImplemented()
	}
	return c.chargeFor(x, m, level+1)
}

// chargeParts adds the fees that are a part of the amount: the sender pays them on top, or they are taken from what the receiver gets.
func (c *call) chargeParts(m *movement) ledger.ResponseCode {
	fees := m.token.Fees.V.FractionalFees
	if len(fees) == 0 || len(m.moves) == 0 {
		return success
	}
	from, to := m.moves[0], m.moves[len(m.moves)-1]
	if len(m.moves) != 2 || from.amount == 0 || from.who == to.who {
		if len(m.moves) == 2 && from.amount == 0 {
			return success
		}
		c.NotImplemented()
	}
	if from.amount > 0 {
		from, to = to, from
	}
	amount, received := to.amount, to.amount
	for _, fee := range fees {
		if exempt(m.token, from.who, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
			continue
		}
		part := partOf(amount, fee)
		collector := partyOf(fee.CollectorAccountID)
		switch {
		case fee.NetOfTransfers:
			m.moves = append(m.moves, move{who: from.who, amount: -part, fee: true}, move{who: collector, amount: part, fee: true})
		case exempt(m.token, to.who, fee.CollectorAccountID, fee.AllCollectorsAreExempt):
		case part > received:
			return cannotPayFee
		default:
			received -= part
			m.moves = append(m.moves, move{who: to.who, amount: -part, fee: true}, move{who: collector, amount: part, fee: true})
		}
	}
	return success
}

// partOf is the part of an amount that a fee is, between its bounds.
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

// chargeRoyalties adds the fees that the receiver of a serial pays for which nothing was paid.
func (c *call) chargeRoyalties(x *transfer, m movement, asked int) ledger.ResponseCode {
	for _, v := range m.hands {
		for _, fee := range m.token.Fees.V.RoyaltyFees {
			if exempt(m.token, v.from, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				continue
			}
			if paid(x, asked, v.from) {
				c.NotImplemented()
			}
			if fee.FallbackFee == nil || exempt(m.token, v.to, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				continue
			}
			if code := c.pay(x, m.token, v.to, fee.CollectorAccountID, fee.FallbackFee.Amount, fee.FallbackFee.DenominatingTokenID, 1); code != success {
				return code
			}
		}
	}
	return success
}

// paid tells whether an account gets anything that can be paid with in what was asked for.
func paid(x *transfer, asked int, who party) bool {
	lists := [][]move{x.hbars}
	for _, m := range x.tokens[:asked] {
		lists = append(lists, m.moves)
	}
	for _, moves := range lists {
		for _, m := range moves {
			if m.who == who && m.amount > 0 && !m.fee {
				return true
			}
		}
	}
	return false
}

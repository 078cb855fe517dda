package system

import (
	"iter"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
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

// exempt reports whether an account pays no fee of a token: the treasury, the fee's collector and, if all is set, each
// collector of the token.
func exempt(t *token, payer party, collector ledger.EntityID, all bool) bool {
	if payer.id == 0 {
		return false
	}
	return payer.id == t.TreasuryAccountID || payer.id == collector || all && slices.Contains(
		collectors(t.Fees.V), payer.id,
	)
}

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
func (c *call) pay(
	x *transfer, of *token, payer party, collector ledger.EntityID, amount int64, denomination ledger.EntityID,
	level int,
) {
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

// chargeParts adds fractional fees. The sender pays them in addition, or they are deducted from the amounts of the
// receivers in proportion.
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
				m.moves = append(m.moves, move{
					party: from.party, amount: -part, fee: true,
				}, move{party: collector, amount: part, fee: true})
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

// shares divides an amount among payers in proportion to the amounts in left, and subtracts each share from them. The
// first payers pay the remainder.
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

// chargeRoyalties adds royalty fees. The sender pays them from the payment, once for all serials of the token. If
// there is no payment, the receiver of each serial pays the fallback fee.
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
			if len(got) == 0 && fee.FallbackFee != nil && !exempt(
				m.token, v.to, fee.CollectorAccountID, fee.AllCollectorsAreExempt,
			) {
				fallback := fee.FallbackFee
				c.pay(x, m.token, v.to, fee.CollectorAccountID, fallback.Amount, fallback.DenominatingTokenID, 1)
			}
		}
	}
}

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

// maxFees is the maximum number of custom fees of a token.
const maxFees = 10

// updateFees is updateFungibleTokenCustomFees(token, fixed fees, fractional fees) and
// updateNonFungibleTokenCustomFees(token, fixed fees, royalty fees).
func updateFees(c *call, in []any) {
	t, rest := c.keyedToken(in, worldstate.FeeScheduleKey)
	fixed, others := abi.List(rest[0]), abi.List(rest[1])
	failIf(len(fixed)+len(others) > maxFees, codes.CustomFeesListTooLong)
	misplaced := len(others) > 0 && t.Type != c.f.of
	failIf(misplaced && c.f.of == ledger.TokenFungibleCommon, codes.CustomFractionalFeeOnlyAllowedForFungibleCommon)
	failIf(misplaced, codes.CustomRoyaltyFeeOnlyAllowedForNonFungibleUnique)
	failIf(len(fixed)+len(others) == 0 && !t.hasFees(), codes.CustomScheduleAlreadyHasNoFees)
	change(c.facts, &t.Fees, ledger.Of(c.customFees(t, c.f.of, fixed, others)))
}

// customFees reads the fixed fees of a token and its fractional or royalty fees.
func (c *call) customFees(t *token, of ledger.TokenType, fixed, others []any) *ledger.TokenCustomFees {
	fees := &ledger.TokenCustomFees{}
	for _, v := range fixed {
		fees.FixedFees = append(fees.FixedFees, c.fixedFee(t, abi.List(v)))
	}
	for _, v := range others {
		if of == ledger.TokenFungibleCommon {
			fees.FractionalFees = append(fees.FractionalFees, c.fractionalFee(t, abi.List(v)))
		} else {
			fees.RoyaltyFees = append(fees.RoyaltyFees, c.royaltyFee(abi.List(v)))
		}
	}
	return fees
}

func (t *token) hasFees() bool {
	f := t.Fees.V
	return len(f.FixedFees)+len(f.FractionalFees)+len(f.RoyaltyFees) > 0
}

// fixedFee reads (amount, token, useHbars, useCurrentToken, collector).
func (c *call) fixedFee(t *token, in []any) *ledger.FixedFee {
	amount, _ := amountOf(in[0])
	failIf(amount <= 0, codes.CustomFeeMustBePositive)
	paidIn, hbars, itself := in[1].(common.Address), in[2].(bool), in[3].(bool)
	denomination := t
	if itself {
		failIf(hbars || paidIn != (common.Address{}), codes.InvalidTransactionBody)
		failIf(t.Type != ledger.TokenFungibleCommon, codes.CustomFeeDenominationMustBeFungibleCommon)
	} else {
		denomination = c.denomination(paidIn, hbars)
	}
	fee := &ledger.FixedFee{Amount: amount, CollectorAccountID: c.collector(in[4], denomination)}
	if denomination != nil {
		fee.DenominatingTokenID = denomination.EntityID
	}
	return fee
}

// denomination returns the token that a fee is paid in, or nil for hbars. Exactly one of them must be given.
func (c *call) denomination(at common.Address, hbars bool) *token {
	failIf(hbars != (at == common.Address{}), codes.InvalidTransactionBody)
	if hbars {
		return nil
	}
	t := c.facts.token(at)
	failIf(t == nil, codes.InvalidTokenIDInCustomFees)
	failIf(t.Type != ledger.TokenFungibleCommon, codes.CustomFeeDenominationMustBeFungibleCommon)
	return t
}

// collector returns the account that receives a fee. It must be associated with the token that the fee is paid in,
// unless that token is being created.
func (c *call) collector(at any, paidIn *token) ledger.EntityID {
	p := c.existingParty(at, codes.InvalidCustomFeeCollector)
	failIf(paidIn != nil && !paidIn.fresh && !c.facts.relation(
		p, paidIn,
	).associated, codes.TokenNotAssociatedToFeeCollector)
	return p.id
}

func fraction(numerator, denominator any) *ledger.Fraction {
	f := &ledger.Fraction{}
	f.Numerator, _ = amountOf(numerator)
	f.Denominator, _ = amountOf(denominator)
	failIf(f.Denominator == 0, codes.FractionDividesByZero)
	failIf(f.Numerator <= 0 || f.Denominator < 0, codes.CustomFeeMustBePositive)
	return f
}

// fractionalFee reads (numerator, denominator, minimum, maximum, netOfTransfers, collector).
func (c *call) fractionalFee(t *token, in []any) *ledger.FractionalFee {
	part := fraction(in[0], in[1])
	least, _ := amountOf(in[2])
	most, _ := amountOf(in[3])
	failIf(least < 0 || most < 0, codes.CustomFeeMustBePositive)
	failIf(most > 0 && most < least, codes.FractionalFeeMaxAmountLessThanMinAmount)
	fee := &ledger.FractionalFee{
		Amount: part, CollectorAccountID: c.collector(
			in[5], t,
		), DenominatingTokenID: t.EntityID, Minimum: least, NetOfTransfers: in[4].(bool),
	}
	if most > 0 {
		fee.Maximum = ledger.Of(most)
	}
	return fee
}

// royaltyFee reads (numerator, denominator, amount, token, useHbars, collector). An amount adds a fallback fee.
func (c *call) royaltyFee(in []any) *ledger.RoyaltyFee {
	part := fraction(in[0], in[1])
	amount, _ := amountOf(in[2])
	failIf(part.Numerator > part.Denominator, codes.RoyaltyFractionCannotExceedOne)
	failIf(amount < 0, codes.CustomFeeMustBePositive)
	fee := &ledger.RoyaltyFee{Amount: part}
	var paidIn *token
	if amount > 0 {
		paidIn = c.denomination(in[3].(common.Address), in[4].(bool))
		fee.FallbackFee = &ledger.FallbackFee{Amount: amount}
		if paidIn != nil {
			fee.FallbackFee.DenominatingTokenID = paidIn.EntityID
		}
	}
	fee.CollectorAccountID = c.collector(in[5], paidIn)
	return fee
}

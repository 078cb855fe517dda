package system

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// maxFeeLevels is the maximum depth of fees that are due for paying other fees.
const maxFeeLevels = 2

// charge adds the custom fees of all tokens in a transfer to its moves. It changes x only, but can read tokens that
// fees are paid in. A fee that cannot be added is a [refusal].
func (c *call) charge(x *transfer) error {
	asked := len(x.tokens)
	paidFor := map[worldstate.RelationKey]bool{}
	for i := range asked {
		m := x.tokens[i]
		if !m.token.hasFees() {
			continue
		}
		err := c.chargeFor(x, m, 1)
		if err != nil {
			return err
		}
		err = c.chargeParts(&x.tokens[i])
		if err != nil {
			return err
		}
		err = c.chargeRoyalties(x, m, asked, paidFor)
		if err != nil {
			return err
		}
	}
	return nil
}

// exempt reports whether an account pays no fee of a token: the treasury, the fee's collector and, if all is set, each
// collector of the token.
func exempt(t *token, payer, collector ledger.EntityID, all bool) bool {
	return payer == t.TreasuryAccountID || payer == collector ||
		all && slices.Contains(collectors(t.Fees.V), payer)
}

// collectors returns the accounts that receive custom fees of any kind, which can be repeated.
func collectors(f *ledger.TokenCustomFees) []ledger.EntityID {
	return slices.Concat(
		list.Map(f.FixedFees, func(x *ledger.FixedFee) ledger.EntityID { return x.CollectorAccountID }),
		list.Map(f.FractionalFees, func(x *ledger.FractionalFee) ledger.EntityID { return x.CollectorAccountID }),
		list.Map(f.RoyaltyFees, func(x *ledger.RoyaltyFee) ledger.EntityID { return x.CollectorAccountID }),
	)
}

// chargeFor adds the fixed fees of a token, which each sender in m pays, and the fees due for them to x. level is the
// depth of fees for fees, from 1; too deep fees fail. It moves nothing, but can read tokens.
func (c *call) chargeFor(x *transfer, m movement, level int) error {
	var payers []ledger.EntityID
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
			err := refuse(level > maxFeeLevels, codes.CustomFeeChargingExceededMaxRecursionDepth)
			if err != nil {
				return err
			}
			err = c.pay(x, m.token, payer, fee.CollectorAccountID, fee.Amount, fee.DenominatingTokenID, level)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// pay adds a fee in tinybars, or in units of a token, to a transfer, and the fees that are due for it. of is the token
// that has the fee, and level the depth of the fee, from 1. It moves nothing yet. A fee in units of the same token has
// no further fees. It fails if the token is unknown, deleted or paused, or fees nest too deeply.
func (c *call) pay(
	x *transfer, of *token, payer, collector ledger.EntityID, amount int64, denomination ledger.EntityID, level int,
) error {
	moves := []move{{party: payer, amount: -amount, fee: true}, {party: collector, amount: amount, fee: true}}
	if denomination.IsNone() {
		x.hbars = append(x.hbars, moves...)
		return nil
	}
	t, err := c.activeTokenAt(longZero(denomination))
	if err != nil {
		return err
	}
	m := movement{token: t, moves: moves}
	if t.EntityID != of.EntityID {
		err = c.chargeParts(&m)
		if err != nil {
			return err
		}
		err = refuse(len(m.moves) > len(moves) && level >= maxFeeLevels,
			codes.CustomFeeChargingExceededMaxRecursionDepth)
		if err != nil {
			return err
		}
	}
	x.tokens = append(x.tokens, m)
	if t.EntityID == of.EntityID {
		return nil
	}
	m.moves = moves
	return c.chargeFor(x, m, level+1)
}

// chargeParts adds fractional fees to the moves of m. The sender pays them in addition, or they are deducted from the
// amounts of the receivers in proportion. If all receivers are exempt, there is no fee. It fails if the deducted fees
// exceed the amount.
func (c *call) chargeParts(m *movement) error {
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
			part, err := partOf(-from.amount, fee)
			if err != nil {
				return err
			}
			var payers []int
			for i, v := range given {
				if v.amount > 0 && !exempt(m.token, v.party, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
					payers = append(payers, i)
				}
			}
			switch {
			case len(payers) == 0:
			case fee.NetOfTransfers || m.onTop:
				m.moves = append(m.moves, move{party: from.party, amount: -part, fee: true},
					move{party: fee.CollectorAccountID, amount: part, fee: true})
			default:
				err = refuse(part > units, codes.InsufficientSenderAccountBalanceForCustomFee)
				if err != nil {
					return err
				}
				units -= part
				for n, share := range shares(part, payers, left) {
					if share != 0 {
						m.moves = append(m.moves, move{party: given[payers[n]].party, amount: -share, fee: true})
					}
				}
				m.moves = append(m.moves, move{party: fee.CollectorAccountID, amount: part, fee: true})
			}
		}
	}
	return nil
}

// shares divides an amount among payers, which are indexes of left, in proportion to the amounts there, and
// subtracts each share from left. The first payers pay the remainder.
func shares(amount int64, payers []int, left []int64) []int64 {
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
	return out
}

// partOf returns the fractional fee of an amount, rounded down and within its minimum and maximum. A maximum of 0 is
// none. A denominator of 0 gives the minimum. It fails if the fee without these limits does not fit into int64.
func partOf(amount int64, fee *ledger.FractionalFee) (int64, error) {
	if fee.Amount.Denominator == 0 {
		return fee.Minimum, nil
	}
	v := new(big.Int).Mul(big.NewInt(amount), big.NewInt(fee.Amount.Numerator))
	v.Quo(v, big.NewInt(fee.Amount.Denominator))
	part := max(v.Int64(), fee.Minimum)
	if fee.Maximum.V > 0 {
		part = min(part, fee.Maximum.V)
	}
	return part, refuse(!v.IsInt64(), codes.CustomFeeOutsideNumericRange)
}

// chargeRoyalties adds royalty fees for the serials in m to x. The sender pays them from the payment, once for all
// serials of the token, which paidFor records. If there is no payment, the receiver of each serial pays the
// fallback fee. The payment is what the sender receives in hbars and in the first asked movements of x.tokens; later
// ones are fees. It changes x and paidFor only, and fails with a [refusal] if a fee cannot be added, for instance
// because its token is paused.
func (c *call) chargeRoyalties(x *transfer, m movement, asked int, paidFor map[worldstate.RelationKey]bool) error {
	for _, v := range m.serials {
		got := received(x, asked, v.from)
		once := worldstate.RelationKey{Account: v.from, Token: m.token.EntityID}
		if len(got) > 0 && paidFor[once] {
			continue
		}
		paidFor[once] = len(got) > 0
		for _, fee := range m.token.Fees.V.RoyaltyFees {
			if exempt(m.token, v.from, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				continue
			}
			for _, paid := range got {
				share, err := partOf(paid.amount, &ledger.FractionalFee{Amount: fee.Amount})
				if share != 0 && err == nil {
					err = c.pay(x, m.token, v.from, fee.CollectorAccountID, share, paid.token, 1)
				}
				if err != nil {
					return err
				}
			}
			if len(got) == 0 && fee.FallbackFee != nil &&
				!exempt(m.token, v.to, fee.CollectorAccountID, fee.AllCollectorsAreExempt) {
				fallback := fee.FallbackFee
				err := c.pay(x, m.token, v.to, fee.CollectorAccountID, fallback.Amount, fallback.DenominatingTokenID, 1)
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type payment struct {
	token  ledger.EntityID
	amount int64
}

// received returns the payments that an account receives, in hbars and among the first asked movements of tokens,
// without fees.
func received(x *transfer, asked int, of ledger.EntityID) (out []payment) {
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

// updateFees implements updateFungibleTokenCustomFees(token, fixed fees, fractional fees) and
// updateNonFungibleTokenCustomFees(token, fixed fees, royalty fees): it replaces the fees in the simulation. Empty
// lists remove them. It fails with a [refusal], also without fees to remove or a key for fees. No signature is needed.
func updateFees(c *call, in []any) error {
	t, rest, err := c.keyedToken(in, worldstate.FeeScheduleKey)
	if err != nil {
		return err
	}
	fixed, others := abi.List(rest[0]), abi.List(rest[1])
	err = refuse(len(fixed)+len(others) > maxFees, codes.CustomFeesListTooLong)
	if err != nil {
		return err
	}
	misplaced := len(others) > 0 && t.Type != c.f.of
	err = firstOf(
		refuse(misplaced && c.f.of == ledger.TokenFungibleCommon,
			codes.CustomFractionalFeeOnlyAllowedForFungibleCommon),
		refuse(misplaced, codes.CustomRoyaltyFeeOnlyAllowedForNonFungibleUnique),
		refuse(len(fixed)+len(others) == 0 && !t.hasFees(), codes.CustomScheduleAlreadyHasNoFees),
	)
	if err != nil {
		return err
	}
	fees, err := c.customFees(t, c.f.of, fixed, others)
	if err != nil {
		return err
	}
	evm.Set(c.State, &t.Fees, ledger.Of(fees))
	return nil
}

// customFees reads the fixed fees of a token and others, which are fractional fees if of is fungible, else royalty
// fees, from the values of the ABI, and validates them. It can read tokens and accounts.
func (c *call) customFees(t *token, of ledger.TokenType, fixed, others []any) (*ledger.TokenCustomFees, error) {
	fees := &ledger.TokenCustomFees{}
	for _, v := range fixed {
		fee, err := c.fixedFee(t, abi.List(v))
		if err != nil {
			return nil, err
		}
		fees.FixedFees = append(fees.FixedFees, fee)
	}
	for _, v := range others {
		if of == ledger.TokenFungibleCommon {
			fee, err := c.fractionalFee(t, abi.List(v))
			if err != nil {
				return nil, err
			}
			fees.FractionalFees = append(fees.FractionalFees, fee)
		} else {
			fee, err := c.royaltyFee(abi.List(v))
			if err != nil {
				return nil, err
			}
			fees.RoyaltyFees = append(fees.RoyaltyFees, fee)
		}
	}
	return fees, nil
}

// hasFees reports whether transfers of the token cost custom fees.
func (t *token) hasFees() bool {
	f := t.Fees.V
	return len(f.FixedFees)+len(f.FractionalFees)+len(f.RoyaltyFees) > 0
}

// fixedFee reads a fixed fee of t from the values of the ABI: (amount, token, useHbars, useCurrentToken, collector).
// It fails unless the amount is positive, exactly one of token, useHbars and useCurrentToken is given, and the
// collector is valid; see [call.collector].
func (c *call) fixedFee(t *token, in []any) (*ledger.FixedFee, error) {
	amount, _ := amountOf(in[0])
	err := refuse(amount <= 0, codes.CustomFeeMustBePositive)
	if err != nil {
		return nil, err
	}
	paidIn, hbars, itself := in[1].(common.Address), in[2].(bool), in[3].(bool)
	denomination := t
	if itself {
		err = firstOf(
			refuse(hbars || paidIn != (common.Address{}), codes.InvalidTransactionBody),
			refuse(t.Type != ledger.TokenFungibleCommon, codes.CustomFeeDenominationMustBeFungibleCommon),
		)
		if err != nil {
			return nil, err
		}
	} else {
		denomination, err = c.denomination(paidIn, hbars)
		if err != nil {
			return nil, err
		}
	}
	collector, err := c.collector(in[4], denomination)
	if err != nil {
		return nil, err
	}
	fee := &ledger.FixedFee{Amount: amount, CollectorAccountID: collector}
	if denomination != nil {
		fee.DenominatingTokenID = denomination.EntityID
	}
	return fee, nil
}

// denomination returns the fungible token that a fee is paid in, or nil for hbars. Exactly one of them must be given.
// It fails if the token is unknown or not fungible.
func (c *call) denomination(at common.Address, hbars bool) (*token, error) {
	err := refuse(hbars != (at == common.Address{}), codes.InvalidTransactionBody)
	if err != nil {
		return nil, err
	}
	if hbars {
		return nil, nil
	}
	t := c.facts.token(at)
	err = refuse(t == nil, codes.InvalidTokenIDInCustomFees)
	if err != nil {
		return nil, err
	}
	return t, refuse(t.Type != ledger.TokenFungibleCommon, codes.CustomFeeDenominationMustBeFungibleCommon)
}

// collector returns the account that receives a fee. It must be associated with paidIn, the token of the fee, unless
// paidIn is nil, which stands for hbars, or is being created.
func (c *call) collector(at any, paidIn *token) (ledger.EntityID, error) {
	p, err := c.existingParty(at, codes.InvalidCustomFeeCollector)
	if err != nil {
		return 0, err
	}
	err = refuse(paidIn != nil && !paidIn.fresh && !c.facts.relation(p, paidIn).associated,
		codes.TokenNotAssociatedToFeeCollector)
	if err != nil {
		return 0, err
	}
	return p, nil
}

// fraction returns a fraction of a custom fee from the values of the ABI. It fails unless it is positive.
func fraction(numerator, denominator any) (*ledger.Fraction, error) {
	f := &ledger.Fraction{}
	f.Numerator, _ = amountOf(numerator)
	f.Denominator, _ = amountOf(denominator)
	return f, firstOf(
		refuse(f.Denominator == 0, codes.FractionDividesByZero),
		refuse(f.Numerator <= 0 || f.Denominator < 0, codes.CustomFeeMustBePositive),
	)
}

// fractionalFee reads a fractional fee of t from the values of the ABI: (numerator, denominator, minimum, maximum,
// netOfTransfers, collector). A maximum of 0 is none. It fails if a number or the collector is invalid.
func (c *call) fractionalFee(t *token, in []any) (*ledger.FractionalFee, error) {
	part, err := fraction(in[0], in[1])
	if err != nil {
		return nil, err
	}
	least, _ := amountOf(in[2])
	most, _ := amountOf(in[3])
	err = firstOf(
		refuse(least < 0 || most < 0, codes.CustomFeeMustBePositive),
		refuse(most > 0 && most < least, codes.FractionalFeeMaxAmountLessThanMinAmount),
	)
	if err != nil {
		return nil, err
	}
	collector, err := c.collector(in[5], t)
	if err != nil {
		return nil, err
	}
	fee := &ledger.FractionalFee{
		Amount: part, CollectorAccountID: collector, DenominatingTokenID: t.EntityID, Minimum: least,
		NetOfTransfers: in[4].(bool),
	}
	if most > 0 {
		fee.Maximum = ledger.Of(most)
	}
	return fee, nil
}

// royaltyFee reads a royalty fee from the values of the ABI: (numerator, denominator, amount, token, useHbars,
// collector). A positive amount adds a fallback fee; without one, token and useHbars are ignored. It fails if the
// fraction exceeds 1, or another value is invalid.
func (c *call) royaltyFee(in []any) (*ledger.RoyaltyFee, error) {
	part, err := fraction(in[0], in[1])
	if err != nil {
		return nil, err
	}
	amount, _ := amountOf(in[2])
	err = firstOf(
		refuse(part.Numerator > part.Denominator, codes.RoyaltyFractionCannotExceedOne),
		refuse(amount < 0, codes.CustomFeeMustBePositive),
	)
	if err != nil {
		return nil, err
	}
	fee := &ledger.RoyaltyFee{Amount: part}
	var paidIn *token
	if amount > 0 {
		paidIn, err = c.denomination(in[3].(common.Address), in[4].(bool))
		if err != nil {
			return nil, err
		}
		fee.FallbackFee = &ledger.FallbackFee{Amount: amount}
		if paidIn != nil {
			fee.FallbackFee.DenominatingTokenID = paidIn.EntityID
		}
	}
	fee.CollectorAccountID, err = c.collector(in[5], paidIn)
	if err != nil {
		return nil, err
	}
	return fee, nil
}

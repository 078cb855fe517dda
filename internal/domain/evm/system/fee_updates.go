package system

import (
	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// maxFees is the maximum number of custom fees of a token.
const maxFees = 10

// updateFees returns the operation of updateFungibleTokenCustomFees and updateNonFungibleTokenCustomFees. The arguments are a token, its fixed fees, and its
// fractional or royalty fees.
func updateFees(of ledger.TokenType) operation {
	return keyed(worldstate.FeeScheduleKey, func(c *call, t *token, in []any) []any {
		fixed, others := abi.List(in[0]), abi.List(in[1])
		failIf(len(fixed)+len(others) > maxFees, codes.CustomFeesListTooLong)
		failIf(len(others) > 0 && t.Type != of && of == ledger.TokenFungibleCommon, codes.CustomFractionalFeeOnlyAllowedForFungibleCommon)
		failIf(len(others) > 0 && t.Type != of, codes.CustomRoyaltyFeeOnlyAllowedForNonFungibleUnique)
		failIf(len(fixed)+len(others) == 0 && !t.hasFees(), codes.CustomScheduleAlreadyHasNoFees)
		change(c.facts, &t.Fees, ledger.Of(c.customFees(t, of, fixed, others)))
		return nil
	})
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

// hasFees reports whether a token has custom fees.
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

// collector returns the account that receives a fee. It must be associated with the token that the fee is paid in, unless that token is being created.
func (c *call) collector(at any, paidIn *token) ledger.EntityID {
	p, ok := c.facts.party(at.(common.Address))
	failIf(!ok, codes.InvalidCustomFeeCollector)
	failIf(paidIn != nil && !paidIn.fresh && !c.facts.relation(p, paidIn).associated, codes.TokenNotAssociatedToFeeCollector)
	return p.id
}

// fraction reads a numerator and a denominator.
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
		Amount: part, CollectorAccountID: c.collector(in[5], t), DenominatingTokenID: t.EntityID, Minimum: least, NetOfTransfers: in[4].(bool),
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

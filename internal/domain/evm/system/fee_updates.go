package system

import (
	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// maxFees is the maximum number of custom fees of a token.
const maxFees = 10

// updateFees returns the operation of updateFungibleTokenCustomFees and updateNonFungibleTokenCustomFees. The arguments are a token, its fixed fees, and its
// fractional or royalty fees.
func updateFees(of ledger.TokenType) operation {
	return keyed(worldstate.FeeScheduleKey, hasNoFeeScheduleKey, func(c *call, t *token, in []any) (ledger.ResponseCode, []any) {
		fixed, others := abi.List(in[0]), abi.List(in[1])
		switch {
		case len(fixed)+len(others) > maxFees:
			return feesTooMany, nil
		case len(others) > 0 && t.Type != of && of == ledger.TokenFungibleCommon:
			return fractionalOnlyForFungible, nil
		case len(others) > 0 && t.Type != of:
			return royaltyOnlyForNFT, nil
		case len(fixed)+len(others) == 0 && !t.hasFees():
			return alreadyHasNoFees, nil
		}
		fees, code := c.customFees(t, of, fixed, others)
		if code != success {
			return code, nil
		}
		change(c.facts, &t.Fees, ledger.Of(fees))
		return success, nil
	})
}

// customFees reads the fixed fees of a token and its fractional or royalty fees.
func (c *call) customFees(t *token, of ledger.TokenType, fixed, others []any) (*ledger.TokenCustomFees, ledger.ResponseCode) {
	fees := &ledger.TokenCustomFees{}
	for _, v := range fixed {
		fee, code := c.fixedFee(t, abi.List(v))
		if code != success {
			return nil, code
		}
		fees.FixedFees = append(fees.FixedFees, fee)
	}
	for _, v := range others {
		var code ledger.ResponseCode
		if of == ledger.TokenFungibleCommon {
			var fee *ledger.FractionalFee
			fee, code = c.fractionalFee(t, abi.List(v))
			fees.FractionalFees = append(fees.FractionalFees, fee)
		} else {
			var fee *ledger.RoyaltyFee
			fee, code = c.royaltyFee(abi.List(v))
			fees.RoyaltyFees = append(fees.RoyaltyFees, fee)
		}
		if code != success {
			return nil, code
		}
	}
	return fees, success
}

// hasFees reports whether a token has custom fees.
func (t *token) hasFees() bool {
	f := t.Fees.V
	return len(f.FixedFees)+len(f.FractionalFees)+len(f.RoyaltyFees) > 0
}

// fixedFee reads (amount, token, useHbars, useCurrentToken, collector).
func (c *call) fixedFee(t *token, in []any) (*ledger.FixedFee, ledger.ResponseCode) {
	amount, _ := amountOf(in[0])
	if amount <= 0 {
		return nil, feeNotPositive
	}
	paidIn, hbars := in[1].(common.Address), in[2].(bool)
	var denomination *token
	var code ledger.ResponseCode
	switch itself := in[3].(bool); {
	case itself && (hbars || paidIn != (common.Address{})):
		return nil, invalidTransactionBody
	case itself && t.Type != ledger.TokenFungibleCommon:
		return nil, denominationNotFungible
	case itself:
		denomination = t
	default:
		if denomination, code = c.denomination(paidIn, hbars); code != success {
			return nil, code
		}
	}
	collector, code := c.collector(in[4], denomination)
	if code != success {
		return nil, code
	}
	fee := &ledger.FixedFee{Amount: amount, CollectorAccountID: collector}
	if denomination != nil {
		fee.DenominatingTokenID = denomination.EntityID
	}
	return fee, success
}

// denomination returns the token that a fee is paid in, or nil for hbars. Exactly one of them must be given.
func (c *call) denomination(at common.Address, hbars bool) (*token, ledger.ResponseCode) {
	if hbars != (at == common.Address{}) {
		return nil, invalidTransactionBody
	}
	if hbars {
		return nil, success
	}
	t := c.facts.token(at)
	switch {
	case t == nil:
		return nil, invalidTokenInFees
	case t.Type != ledger.TokenFungibleCommon:
		return nil, denominationNotFungible
	}
	return t, success
}

// collector returns the account that receives a fee. It must be associated with the token that the fee is paid in, unless that token is being created.
func (c *call) collector(at any, paidIn *token) (ledger.EntityID, ledger.ResponseCode) {
	p, ok := c.facts.party(at.(common.Address))
	switch {
	case !ok:
		return 0, invalidFeeCollector
	case paidIn != nil && !paidIn.fresh && !c.facts.relation(p, paidIn).associated:
		return 0, collectorNotAssociated
	}
	return p.id, success
}

// fraction reads a numerator and a denominator.
func fraction(numerator, denominator any) (*ledger.Fraction, ledger.ResponseCode) {
	f := &ledger.Fraction{}
	f.Numerator, _ = amountOf(numerator)
	f.Denominator, _ = amountOf(denominator)
	switch {
	case f.Denominator == 0:
		return nil, dividesByZero
	case f.Numerator <= 0 || f.Denominator < 0:
		return nil, feeNotPositive
	}
	return f, success
}

// fractionalFee reads (numerator, denominator, minimum, maximum, netOfTransfers, collector).
func (c *call) fractionalFee(t *token, in []any) (*ledger.FractionalFee, ledger.ResponseCode) {
	part, code := fraction(in[0], in[1])
	if code != success {
		return nil, code
	}
	least, _ := amountOf(in[2])
	most, _ := amountOf(in[3])
	switch {
	case least < 0 || most < 0:
		return nil, feeNotPositive
	case most > 0 && most < least:
		return nil, maximumBelowMinimum
	}
	collector, code := c.collector(in[5], t)
	if code != success {
		return nil, code
	}
	fee := &ledger.FractionalFee{Amount: part, CollectorAccountID: collector, DenominatingTokenID: t.EntityID, Minimum: least, NetOfTransfers: in[4].(bool)}
	if most > 0 {
		fee.Maximum = ledger.Of(most)
	}
	return fee, success
}

// royaltyFee reads (numerator, denominator, amount, token, useHbars, collector). An amount adds a fallback fee.
func (c *call) royaltyFee(in []any) (*ledger.RoyaltyFee, ledger.ResponseCode) {
	part, code := fraction(in[0], in[1])
	amount, _ := amountOf(in[2])
	switch {
	case code != success:
		return nil, code
	case part.Numerator > part.Denominator:
		return nil, royaltyAboveOne
	case amount < 0:
		return nil, feeNotPositive
	}
	fee := &ledger.RoyaltyFee{Amount: part}
	var paidIn *token
	if amount > 0 {
		if paidIn, code = c.denomination(in[3].(common.Address), in[4].(bool)); code != success {
			return nil, code
		}
		fee.FallbackFee = &ledger.FallbackFee{Amount: amount}
		if paidIn != nil {
			fee.FallbackFee.DenominatingTokenID = paidIn.EntityID
		}
	}
	fee.CollectorAccountID, code = c.collector(in[5], paidIn)
	return fee, code
}

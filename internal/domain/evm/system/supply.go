package system

import (
	"math"
	"math/big"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

const (
	maxSerials  = 10  // per mint, burn or wipe
	maxMetadata = 100 // bytes per serial
)

// amountOf converts a signed or unsigned amount. ok is false if it is negative or too large.
func amountOf(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, v >= 0
	case uint64:
		return int64(v & math.MaxInt64), v <= math.MaxInt64
	case *big.Int:
		return v.Int64(), v.IsInt64() && v.Sign() >= 0
	default:
		return 0, false
	}
}

// remainingSupply returns the amount that can still be minted.
func (t *token) remainingSupply() int64 {
	if t.SupplyType == infinite {
		return math.MaxInt64 - t.TotalSupply
	}
	return t.MaxSupply - t.TotalSupply
}

func mint() operation { return keyed(worldstate.SupplyKey, hasNoSupplyKey, mintOf) }

func mintOf(c *call, t *token, rest []any) (ledger.ResponseCode, []any) {
	amount, ok := amountOf(rest[0])
	metadata := abi.List(rest[1])
	if t.Type != ledger.TokenFungibleCommon {
		return mintSerials(c, t, metadata)
	}
	switch {
	case !ok || len(metadata) > 0:
		return invalidMintAmount, nil
	case amount > t.remainingSupply():
		return maxSupplyReached, nil
	}
	r := c.facts.relation(partyOf(t.TreasuryAccountID), t)
	if !r.associated {
		return notAssociated, nil
	}
	c.changeSupply(t, r, amount)
	return success, []any{t.TotalSupply, []any{}}
}

func mintSerials(c *call, t *token, metadata []any) (ledger.ResponseCode, []any) {
	switch {
	case len(metadata) == 0:
		return invalidMintMetadata, nil
	case len(metadata) > maxSerials:
		return batchTooLarge, nil
	case int64(len(metadata)) > t.remainingSupply():
		return maxSupplyReached, nil
	}
	treasury := partyOf(t.TreasuryAccountID)
	c.facts.load(request{relations: []relationKey{{treasury, t.EntityID}}, serials: []ledger.EntityID{t.EntityID}})
	r, last := c.facts.relation(treasury, t), c.facts.serials[t.EntityID]
	if !r.associated {
		return notAssociated, nil
	}
	var serials []any
	for _, m := range metadata {
		data := m.([]byte)
		if len(data) > maxMetadata {
			return metadataTooLong, nil
		}
		change(c.facts, last, *last+1)
		k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: *last}
		c.facts.load(request{nfts: []ledger.NFTKey{k}})
		change(c.facts, c.facts.nfts[k], nft{exists: true, metadata: data, created: c.Block.Start})
		serials = append(serials, *last)
	}
	c.changeSupply(t, r, int64(len(serials)))
	return success, []any{t.TotalSupply, serials}
}

func burn() operation { return keyed(worldstate.SupplyKey, hasNoSupplyKey, burnOf) }

func burnOf(c *call, t *token, rest []any) (ledger.ResponseCode, []any) {
	amount, ok := amountOf(rest[0])
	treasury := partyOf(t.TreasuryAccountID)
	r := c.facts.relation(treasury, t)
	if t.Type != ledger.TokenFungibleCommon {
		code := c.destroy(t, treasury, r, abi.List(rest[1]), invalidBurnAmount, treasuryMustOwnBurned)
		return code, []any{t.TotalSupply}
	}
	switch {
	case !r.associated:
		return notAssociated, nil
	case !ok || len(abi.List(rest[1])) > 0 || amount > t.TotalSupply:
		return invalidBurnAmount, nil
	case amount > r.balance:
		return insufficientTokenBalance, nil
	}
	c.changeSupply(t, r, -amount)
	return success, []any{t.TotalSupply}
}

// destroy removes serials of an owner.
func (c *call) destroy(t *token, owner party, r *relation, serials []any, none, foreign ledger.ResponseCode) ledger.ResponseCode {
	switch {
	case len(serials) == 0:
		return none
	case len(serials) > maxSerials:
		return batchTooLarge
	}
	for _, v := range serials {
		n := c.facts.nft(t, v.(int64))
		switch {
		case n == nil:
			return invalidNFTID
		case c.facts.owner(t, n) != owner:
			return foreign
		}
		change(c.facts, n, nft{})
		c.changeSupply(t, r, -1)
	}
	return success
}

// wipe removes units or serials of a token from an account.
func wipe(serials bool) operation {
	return keyed(worldstate.WipeKey, hasNoWipeKey, func(c *call, t *token, rest []any) (ledger.ResponseCode, []any) {
		r, p, code := c.held(t, rest[0])
		switch {
		case code != success:
			return code, nil
		case p == partyOf(t.TreasuryAccountID):
			return cannotWipeTreasury, nil
		case serials != (t.Type == ledger.TokenNonFungibleUnique):
			return invalidWipingAmount, nil
		case serials:
			return c.destroy(t, p, r, abi.List(rest[1]), invalidWipingAmount, doesNotOwnWiped), nil
		}
		amount, ok := amountOf(rest[1])
		if !ok || amount > r.balance {
			return invalidWipingAmount, nil
		}
		c.changeSupply(t, r, -amount)
		return success, nil
	})
}

// changeSupply adds to the total supply of a token, and to the balance of the account whose association is given.
func (c *call) changeSupply(t *token, r *relation, by int64) {
	change(c.facts, &r.balance, r.balance+by)
	change(c.facts, &t.TotalSupply, t.TotalSupply+by)
}

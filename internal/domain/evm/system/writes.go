package system

import (
	"math"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// failIf makes the current operation fail with a response code if a condition is true. [call.do] returns the code.
func failIf(condition bool, code ledger.ResponseCode) {
	if condition {
		evm.Refuse(code)
	}
}

// do calls a function, and undoes its changes if it fails.
func (c *call) do(do func(*call, []any) []any, in []any) (code ledger.ResponseCode, values []any) {
	if code = c.State.Attempt(func() { values = do(c, in) }); code == 0 {
		return codes.Success, values
	}
	if c.f.kind == write {
		c.ChildFailed(code)
	}
	return code, nil
}

// keyedToken returns the active token of a call, which must have a key of the given kind, and the remaining arguments.
func (c *call) keyedToken(in []any, key worldstate.KeyKind) (*token, []any) {
	t, rest := c.activeToken(in)
	t.requireKey(key)
	return t, rest
}

// activeToken returns the token of a call and the remaining arguments. The token must not be paused.
func (c *call) activeToken(in []any) (*token, []any) {
	a := c.entity
	if !c.redirect {
		a, in = in[0].(common.Address), in[1:]
	}
	return c.activeTokenAt(a), in
}

func (c *call) activeTokenAt(a common.Address) *token {
	t := c.existingToken(a)
	t.requireActive()
	return t
}

// requireActive fails if a token is paused.
func (t *token) requireActive() { failIf(t.PauseStatus == ledger.PausePaused, codes.TokenIsPaused) }

// existingToken returns the token at an address, paused or not.
func (c *call) existingToken(a common.Address) *token {
	t := c.facts.token(a)
	id, ok := c.facts.tokenID(a)
	failIf(t == nil && ok && c.facts.tokens[id] != nil, codes.TokenWasDeleted)
	failIf(t == nil, codes.InvalidTokenID)
	return t
}

// existingParty returns the account or contract at an address. It fails with the code if there is none.
func (c *call) existingParty(address any, code ledger.ResponseCode) party {
	p, ok := c.facts.party(address.(common.Address))
	failIf(!ok, code)
	return p
}

// existingSerial returns a serial of a token. It fails with the code if it does not exist.
func (c *call) existingSerial(t *token, serial int64, code ledger.ResponseCode) *nft {
	n := c.facts.nft(t, serial)
	failIf(n == nil, code)
	return n
}

func (c *call) caller() party {
	p, ok := c.facts.party(c.Caller)
	if !ok {
		return party{address: c.Caller}
	}
	return p
}

// held returns the association of an account with a token. It fails without one.
func (c *call) held(t *token, account any) *relation {
	r := c.facts.relation(c.existingParty(account, codes.InvalidAccountID), t)
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	return r
}

// log emits a log of a token.
func (c *call) log(t *token, event string, topics []common.Hash, data []byte) {
	c.State.AddLog(&types.Log{
		Address: longZero(t.EntityID), Topics: append(
			[]common.Hash{crypto.Keccak256Hash([]byte(event))}, topics...,
		), Data: data, BlockNumber: uint64(c.Block.Number),
	})
}

// topic returns an address or a number as a topic of a log.
func topic(v any) common.Hash { return abi.Word(v) }

// word returns a number as the data of a log.
func word(n int64) []byte {
	w := abi.Word(n)
	return w[:]
}

const (
	maxSerials  = 10  // per mint, burn or wipe
	maxMetadata = 100 // bytes per serial
)

// amountOf converts a signed or unsigned amount. ok is false if it is negative or too large, and for other values.
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
	if t.SupplyType == ledger.SupplyInfinite {
		return math.MaxInt64 - t.TotalSupply
	}
	return t.MaxSupply - t.TotalSupply
}

// mint creates units of a token for its treasury, or a serial for each metadata: mintToken(token, amount, metadata).
func mint(c *call, in []any) []any {
	amount, _ := amountOf(in[1])
	metadata := abi.List(in[2])
	failIf(amount > 0 && len(metadata) > 0, codes.InvalidTransactionBody)
	failIf(amount < 0, codes.InvalidTokenMintAmount)
	t := c.existingToken(in[0].(common.Address))
	failIf(len(metadata) > maxSerials, codes.BatchSizeLimitExceeded)
	for _, m := range metadata {
		failIf(len(m.([]byte)) > maxMetadata, codes.MetadataTooLong)
	}
	r := c.treasuryRelation(t)
	if t.Type != ledger.TokenFungibleCommon {
		return mintSerials(c, t, r, metadata)
	}
	failIf(amount > t.remainingSupply(), codes.TokenMaxSupplyReached)
	c.changeSupply(t, r, amount)
	return []any{t.TotalSupply, []any{}}
}

// treasuryRelation returns the association of the treasury with an active token whose supply can change.
func (c *call) treasuryRelation(t *token) *relation {
	t.requireActive()
	t.requireKey(worldstate.SupplyKey)
	return c.usableRelation(t, partyOf(t.TreasuryAccountID), false)
}

func mintSerials(c *call, t *token, r *relation, metadata []any) []any {
	failIf(len(metadata) == 0, codes.InvalidTokenMintMetadata)
	failIf(int64(len(metadata)) > t.remainingSupply(), codes.TokenMaxSupplyReached)
	c.facts.load(request{serials: []ledger.EntityID{t.EntityID}})
	last := c.facts.serials[t.EntityID]
	var serials []any
	for _, m := range metadata {
		change(c.facts, last, *last+1)
		k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: *last}
		c.facts.load(request{nfts: []ledger.NFTKey{k}})
		change(c.facts, c.facts.nfts[k], nft{exists: true, metadata: m.([]byte), created: c.Block.Start})
		serials = append(serials, *last)
	}
	c.changeSupply(t, r, int64(len(serials)))
	return []any{t.TotalSupply, serials}
}

// burn removes units or serials of a token from its treasury: burnToken(token, amount, serials). It ignores serials of
// a fungible token, and the amount of a non-fungible one.
func burn(c *call, in []any) []any {
	at, serials := in[0].(common.Address), abi.List(in[2])
	amount, _ := amountOf(in[1])
	if t := c.facts.token(at); t != nil && t.Type == ledger.TokenNonFungibleUnique {
		amount = 0
	} else {
		serials = nil
	}
	failIf(amount < 0, codes.InvalidTokenBurnAmount)
	numbers := distinctSerials(serials)
	t := c.existingToken(at)
	failIf(len(numbers) > maxSerials, codes.BatchSizeLimitExceeded)
	r := c.treasuryRelation(t)
	if t.Type == ledger.TokenNonFungibleUnique {
		failIf(len(numbers) == 0, codes.InvalidTokenBurnMetadata)
		c.destroy(t, partyOf(t.TreasuryAccountID), r, numbers, codes.TreasuryMustOwnBurnedNFT)
		return []any{t.TotalSupply}
	}
	failIf(amount > t.TotalSupply, codes.InvalidTokenBurnAmount)
	failIf(amount > r.balance, codes.InsufficientTokenBalance)
	c.changeSupply(t, r, -amount)
	return []any{t.TotalSupply}
}

// distinctSerials returns each serial of a burn or wipe once. All must be positive.
func distinctSerials(values []any) []int64 {
	var out []int64
	for _, v := range values {
		serial := v.(int64)
		failIf(serial <= 0, codes.InvalidNFTID)
		if !slices.Contains(out, serial) {
			out = append(out, serial)
		}
	}
	return out
}

// destroy removes serials of an owner.
func (c *call) destroy(t *token, owner party, r *relation, serials []int64, foreign ledger.ResponseCode) {
	for _, serial := range serials {
		n := c.existingSerial(t, serial, codes.InvalidNFTID)
		failIf(c.facts.owner(t, n) != owner, foreign)
		change(c.facts, n, nft{})
		c.changeSupply(t, r, -1)
	}
}

// wipe removes an amount of a fungible token from an account, or serials of a non-fungible one:
// wipeTokenAccount(token, account, amount) and wipeTokenAccountNFT(token, account, serials).
func wipe(c *call, in []any) {
	amount, _ := amountOf(in[2]) // 0 for serials
	failIf(amount < 0, codes.InvalidWipingAmount)
	serials := distinctSerials(abi.List(in[2]))
	t := c.existingToken(in[0].(common.Address))
	p := c.existingParty(in[1], codes.InvalidAccountID)
	failIf(len(serials) > maxSerials, codes.BatchSizeLimitExceeded)
	t.requireActive()
	t.requireKey(worldstate.WipeKey)
	r := c.usableRelation(t, p, false)
	failIf(p == partyOf(t.TreasuryAccountID), codes.CannotWipeTokenTreasuryAccount)
	if t.Type == ledger.TokenNonFungibleUnique {
		failIf(len(serials) == 0, codes.InvalidWipingAmount)
		c.destroy(t, p, r, serials, codes.AccountDoesNotOwnWipedNFT)
		return
	}
	failIf(amount > t.TotalSupply || amount > r.balance, codes.InvalidWipingAmount)
	c.changeSupply(t, r, -amount)
}

// changeSupply adds to the total supply of a token, and to the balance of the account whose association is given.
func (c *call) changeSupply(t *token, r *relation, by int64) {
	change(c.facts, &r.balance, r.balance+by)
	change(c.facts, &t.TotalSupply, t.TotalSupply+by)
}

package system

import (
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// operation is the body of a function that writes. It returns the return values, or fails by [failIf].
type operation func(c *call, in []any) []any

// failure is the panic value of an operation that fails: the response code. [call.do] recovers it.
type failure ledger.ResponseCode

// failIf makes the current operation fail with a response code if a condition is true.
func failIf(condition bool, code ledger.ResponseCode) {
	if condition {
		panic(failure(code))
	}
}

// withCode returns a function that returns the response code of an operation. An operation that fails changes nothing.
func withCode(do operation) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		return c.returns(append([]any{int64(code)}, values...)...)
	}
}

// orRevert returns a function that reverts with the response code of an operation that fails.
func orRevert(do operation) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		if code != codes.Success {
			return c.reverts(code)
		}
		return c.returns(values...)
	}
}

// do runs an operation and undoes its changes if it fails.
func (c *call) do(do operation, in []any) (code ledger.ResponseCode, values []any) {
	mark := c.State.Snapshot()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			code = ledger.ResponseCode(p)
			c.State.RevertToSnapshot(mark)
			c.ChildFailed(code)
		default:
			panic(p) // the simulation was aborted, or a bug
		}
	}()
	return codes.Success, do(c, in)
}

// keyed returns an operation on an active token that has a key of the given kind.
func keyed(key worldstate.KeyKind, do func(c *call, t *token, in []any) []any) operation {
	return func(c *call, in []any) []any {
		t, rest := c.activeToken(in)
		t.requireKey(key)
		return do(c, t, rest)
	}
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
	failIf(t.PauseStatus == ledger.PausePaused, codes.TokenIsPaused)
	return t
}

// existingToken returns the token at an address, paused or not.
func (c *call) existingToken(a common.Address) *token {
	t := c.facts.token(a)
	id, ok := c.facts.tokenID(a)
	failIf(t == nil && ok && c.facts.tokens[id] != nil, codes.TokenWasDeleted)
	failIf(t == nil, codes.InvalidTokenID)
	return t
}

func (c *call) caller() party {
	p, ok := c.facts.party(c.Caller)
	if !ok {
		return party{address: c.Caller}
	}
	return p
}

// held returns the association of an account with a token. It fails without one.
func (c *call) held(t *token, v any) (*relation, party) {
	p, ok := c.facts.party(v.(common.Address))
	failIf(!ok, codes.InvalidAccountID)
	r := c.facts.relation(p, t)
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	return r, p
}

// log emits a log of a token.
func (c *call) log(t *token, event string, topics []common.Hash, data []byte) {
	c.State.AddLog(&types.Log{
		Address: longZero(t.EntityID), Topics: append([]common.Hash{crypto.Keccak256Hash([]byte(event))}, topics...), Data: data, BlockNumber: uint64(c.Block.Number),
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
	if t.SupplyType == ledger.SupplyInfinite {
		return math.MaxInt64 - t.TotalSupply
	}
	return t.MaxSupply - t.TotalSupply
}

func mint() operation { return keyed(worldstate.SupplyKey, mintOf) }

func mintOf(c *call, t *token, rest []any) []any {
	amount, ok := amountOf(rest[0])
	metadata := abi.List(rest[1])
	if t.Type != ledger.TokenFungibleCommon {
		return mintSerials(c, t, metadata)
	}
	failIf(!ok || len(metadata) > 0, codes.InvalidTokenMintAmount)
	failIf(amount > t.remainingSupply(), codes.TokenMaxSupplyReached)
	r := c.facts.relation(partyOf(t.TreasuryAccountID), t)
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	c.changeSupply(t, r, amount)
	return []any{t.TotalSupply, []any{}}
}

func mintSerials(c *call, t *token, metadata []any) []any {
	failIf(len(metadata) == 0, codes.InvalidTokenMintMetadata)
	failIf(len(metadata) > maxSerials, codes.BatchSizeLimitExceeded)
	failIf(int64(len(metadata)) > t.remainingSupply(), codes.TokenMaxSupplyReached)
	treasury := partyOf(t.TreasuryAccountID)
	c.facts.load(request{relations: []relationKey{{treasury, t.EntityID}}, serials: []ledger.EntityID{t.EntityID}})
	r, last := c.facts.relation(treasury, t), c.facts.serials[t.EntityID]
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	var serials []any
	for _, m := range metadata {
		data := m.([]byte)
		failIf(len(data) > maxMetadata, codes.MetadataTooLong)
		change(c.facts, last, *last+1)
		k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: *last}
		c.facts.load(request{nfts: []ledger.NFTKey{k}})
		change(c.facts, c.facts.nfts[k], nft{exists: true, metadata: data, created: c.Block.Start})
		serials = append(serials, *last)
	}
	c.changeSupply(t, r, int64(len(serials)))
	return []any{t.TotalSupply, serials}
}

func burn() operation { return keyed(worldstate.SupplyKey, burnOf) }

func burnOf(c *call, t *token, rest []any) []any {
	amount, ok := amountOf(rest[0])
	treasury := partyOf(t.TreasuryAccountID)
	r := c.facts.relation(treasury, t)
	if t.Type != ledger.TokenFungibleCommon {
		c.destroy(t, treasury, r, abi.List(rest[1]), codes.InvalidTokenBurnAmount, codes.TreasuryMustOwnBurnedNFT)
		return []any{t.TotalSupply}
	}
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	failIf(!ok || len(abi.List(rest[1])) > 0 || amount > t.TotalSupply, codes.InvalidTokenBurnAmount)
	failIf(amount > r.balance, codes.InsufficientTokenBalance)
	c.changeSupply(t, r, -amount)
	return []any{t.TotalSupply}
}

// destroy removes serials of an owner.
func (c *call) destroy(t *token, owner party, r *relation, serials []any, none, foreign ledger.ResponseCode) {
	failIf(len(serials) == 0, none)
	failIf(len(serials) > maxSerials, codes.BatchSizeLimitExceeded)
	for _, v := range serials {
		n := c.facts.nft(t, v.(int64))
		failIf(n == nil, codes.InvalidNFTID)
		failIf(c.facts.owner(t, n) != owner, foreign)
		change(c.facts, n, nft{})
		c.changeSupply(t, r, -1)
	}
}

// wipe removes units or serials of a token from an account.
func wipe(serials bool) operation {
	return keyed(worldstate.WipeKey, func(c *call, t *token, rest []any) []any {
		r, p := c.held(t, rest[0])
		failIf(p == partyOf(t.TreasuryAccountID), codes.CannotWipeTokenTreasuryAccount)
		failIf(serials != (t.Type == ledger.TokenNonFungibleUnique), codes.InvalidWipingAmount)
		if serials {
			c.destroy(t, p, r, abi.List(rest[1]), codes.InvalidWipingAmount, codes.AccountDoesNotOwnWipedNFT)
			return nil
		}
		amount, ok := amountOf(rest[1])
		failIf(!ok || amount > r.balance, codes.InvalidWipingAmount)
		c.changeSupply(t, r, -amount)
		return nil
	})
}

// changeSupply adds to the total supply of a token, and to the balance of the account whose association is given.
func (c *call) changeSupply(t *token, r *relation, by int64) {
	change(c.facts, &r.balance, r.balance+by)
	change(c.facts, &t.TotalSupply, t.TotalSupply+by)
}

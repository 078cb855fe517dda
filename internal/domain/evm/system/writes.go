package system

import (
	"cmp"
	"errors"
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

// refusal is the response code with which the network would reject an operation, as an error.
type refusal ledger.ResponseCode

// Error returns the name of the response code.
func (r refusal) Error() string { return ledger.ResponseCode(r).String() }

// refuse returns a [refusal] with a response code if a condition is true, else nil. It ends the call only if the caller
// returns it.
func refuse(condition bool, code ledger.ResponseCode) error {
	if condition {
		return refusal(code)
	}
	return nil
}

// firstOf returns the first error that is not nil, or nil. All checks have run before the call.
func firstOf(checks ...error) error {
	return cmp.Or(checks...)
}

// do calls a function and returns its results with the code of success. If it fails with a [refusal], do undoes its
// changes of the simulation, records the failure of a write, and returns the code of the refusal. Functions fail with
// no other errors: failed reads end the simulation.
func (c *call) do(do func(*call, []any) ([]any, error), in []any) (code ledger.ResponseCode, values []any) {
	mark := c.State.Snapshot()
	values, err := do(c, in)
	var refused refusal
	if !errors.As(err, &refused) {
		return codes.Success, values
	}
	c.State.RevertToSnapshot(mark)
	if c.f.kind == write {
		c.ChildFailed(ledger.ResponseCode(refused))
	}
	return ledger.ResponseCode(refused), nil
}

// keyedToken returns the active token of a call, which must have a key of the given kind, and the remaining arguments.
// It fails without that key, and as [call.activeToken] does. With an error, the other results are not valid.
func (c *call) keyedToken(in []any, key worldstate.KeyKind) (*token, []any, error) {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return nil, nil, err
	}
	err = t.requireKey(key)
	return t, rest, err
}

// activeToken returns the token of a call, which is the called one or the first argument, and the remaining
// arguments. It fails if the token does not exist, is deleted or paused.
func (c *call) activeToken(in []any) (*token, []any, error) {
	a := c.entity
	if !c.redirect {
		a, in = in[0].(common.Address), in[1:]
	}
	t, err := c.activeTokenAt(a)
	return t, in, err
}

// activeTokenAt returns the token at an address; it fails if it is paused, and as [call.existingToken] does.
func (c *call) activeTokenAt(a common.Address) (*token, error) {
	t, err := c.existingToken(a)
	if err != nil {
		return nil, err
	}
	err = t.requireActive()
	return t, err
}

// requireActive fails with a [refusal] if a token is paused in the simulation.
func (t *token) requireActive() error {
	return refuse(t.PauseStatus == ledger.PausePaused, codes.TokenIsPaused)
}

// existingToken returns the token at an address, paused or not, which it reads if necessary. It fails if the token
// does not exist or is deleted.
func (c *call) existingToken(a common.Address) (*token, error) {
	t := c.facts.token(a)
	id, _ := c.facts.tokenID(a)
	return t, firstOf(
		refuse(t == nil && c.facts.tokens[id] != nil, codes.TokenWasDeleted),
		refuse(t == nil, codes.InvalidTokenID),
	)
}

// existingParty returns the account or contract at an address, in the simulation or else in the ledger. If there is
// none, it fails with a [refusal] with the code.
func (c *call) existingParty(address any, code ledger.ResponseCode) (ledger.EntityID, error) {
	p, ok := c.facts.party(address.(common.Address))
	return p, refuse(!ok, code)
}

// existingSerial returns a serial of a token, which it reads if necessary. It fails with the code if it does not
// exist.
func (c *call) existingSerial(t *token, serial int64, code ledger.ResponseCode) (*nft, error) {
	n := c.facts.nft(t, serial)
	return n, refuse(n == nil, code)
}

// caller returns the id of the caller. One that the ledger does not have, as the treasury of an empty ledger, gets
// a number of the simulation.
func (c *call) caller() ledger.EntityID {
	if p, ok := c.facts.party(c.Caller); ok {
		return p
	}
	return c.facts.newParty(c.Caller)
}

// held returns the association of an account with a token, which the caller may change with [evm.Set]. It fails
// without one, and if the account does not exist. With an error, the association is not valid.
func (c *call) held(t *token, account any) (*relation, error) {
	p, err := c.existingParty(account, codes.InvalidAccountID)
	if err != nil {
		return nil, err
	}
	r := c.facts.relation(p, t)
	return r, refuse(!r.associated, codes.TokenNotAssociatedToAccount)
}

// log adds a log of a token to the simulation: event is the signature whose hash is the first topic, and topics are
// the others. The log is removed if the frame is reverted.
func (c *call) log(t *token, event string, topics []common.Hash, data []byte) {
	c.State.AddLog(&types.Log{
		Address: longZero(t.EntityID), Topics: append(
			[]common.Hash{crypto.Keccak256Hash([]byte(event))}, topics...,
		), Data: data, BlockNumber: uint64(c.Block.Number),
	})
}

// topic returns an address or a number as a topic of a log.
func topic(v any) common.Hash { return abi.Word(v) }

// word returns the 32 bytes of a number, as the data of a log.
func word(n int64) []byte {
	w := abi.Word(n)
	return w[:]
}

const (
	maxSerials  = 10  // per mint, burn or wipe
	maxMetadata = 100 // bytes per serial
)

// amountOf returns a signed or unsigned number of the ABI as int64. ok is false if it is negative or too large, and
// for other values; n is then not valid, except that a negative int64 is returned all the same, so that callers can
// refuse it.
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

// remainingSupply returns the amount that can still be minted, in units of the smallest denomination or serials.
func (t *token) remainingSupply() int64 {
	if t.SupplyType == ledger.SupplyInfinite {
		return math.MaxInt64 - t.TotalSupply
	}
	return t.MaxSupply - t.TotalSupply
}

// mint implements mintToken(token, amount, metadata): it creates units of a token for its treasury, or a serial for
// each metadata, in the simulation. It returns the new supply and the serial numbers. It fails for an amount and
// metadata together, and for a token without a supply key.
func mint(c *call, in []any) ([]any, error) {
	amount, _ := amountOf(in[1])
	metadata := abi.List(in[2])
	err := firstOf(
		refuse(amount > 0 && len(metadata) > 0, codes.InvalidTransactionBody),
		refuse(amount < 0, codes.InvalidTokenMintAmount),
	)
	if err != nil {
		return nil, err
	}
	t, err := c.existingToken(in[0].(common.Address))
	if err != nil {
		return nil, err
	}
	tooLong := func(m any) bool { return len(m.([]byte)) > maxMetadata }
	err = firstOf(
		refuse(len(metadata) > maxSerials, codes.BatchSizeLimitExceeded),
		refuse(slices.ContainsFunc(metadata, tooLong), codes.MetadataTooLong),
	)
	if err != nil {
		return nil, err
	}
	r, err := c.treasuryRelation(t)
	if err != nil {
		return nil, err
	}
	if t.Type != ledger.TokenFungibleCommon {
		return mintSerials(c, t, r, metadata)
	}
	err = refuse(amount > t.remainingSupply(), codes.TokenMaxSupplyReached)
	if err != nil {
		return nil, err
	}
	c.changeSupply(t, r, amount)
	return []any{t.TotalSupply, []any{}}, nil
}

// treasuryRelation returns the association of the treasury with a token. It fails if the token is paused or has no
// supply key, and as [call.usableRelation] does.
func (c *call) treasuryRelation(t *token) (*relation, error) {
	err := firstOf(
		t.requireActive(),
		t.requireKey(worldstate.SupplyKey),
	)
	if err != nil {
		return nil, err
	}
	return c.usableRelation(t, t.TreasuryAccountID, false /* takes */)
}

// mintSerials creates a serial for each metadata in the treasury, whose association is r, in the simulation. It
// returns the new supply and the serial numbers, which follow the last serial, read on first use. It fails without
// metadata, or beyond the maximum supply.
func mintSerials(c *call, t *token, r *relation, metadata []any) ([]any, error) {
	err := firstOf(
		refuse(len(metadata) == 0, codes.InvalidTokenMintMetadata),
		refuse(int64(len(metadata)) > t.remainingSupply(), codes.TokenMaxSupplyReached),
	)
	if err != nil {
		return nil, err
	}
	c.facts.load(worldstate.TokenReads{Serials: []ledger.EntityID{t.EntityID}})
	last := c.facts.serials[t.EntityID]
	var serials []any
	for _, m := range metadata {
		evm.Set(c.State, last, *last+1)
		k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: *last}
		c.facts.load(worldstate.TokenReads{NFTs: []ledger.NFTKey{k}})
		evm.Set(c.State, c.facts.nfts[k], nft{exists: true, metadata: m.([]byte), created: c.Block.Start})
		serials = append(serials, *last)
	}
	c.changeSupply(t, r, int64(len(serials)))
	return []any{t.TotalSupply, serials}, nil
}

// burn implements burnToken(token, amount, serials): it removes units or serials of a token, which needs a supply key,
// from its treasury in the simulation, and returns the new supply. It ignores serials of a fungible token, and the
// amount of a non-fungible one.
func burn(c *call, in []any) ([]any, error) {
	at, serials := in[0].(common.Address), abi.List(in[2])
	amount, _ := amountOf(in[1])
	if t := c.facts.token(at); t != nil && t.Type == ledger.TokenNonFungibleUnique {
		amount = 0
	} else {
		serials = nil
	}
	err := refuse(amount < 0, codes.InvalidTokenBurnAmount)
	if err != nil {
		return nil, err
	}
	numbers, err := distinctSerials(serials)
	if err != nil {
		return nil, err
	}
	t, err := c.existingToken(at)
	if err != nil {
		return nil, err
	}
	err = refuse(len(numbers) > maxSerials, codes.BatchSizeLimitExceeded)
	if err != nil {
		return nil, err
	}
	r, err := c.treasuryRelation(t)
	if err != nil {
		return nil, err
	}
	if t.Type == ledger.TokenNonFungibleUnique {
		err = refuse(len(numbers) == 0, codes.InvalidTokenBurnMetadata)
		if err != nil {
			return nil, err
		}
		err = c.destroy(t, t.TreasuryAccountID, r, numbers, codes.TreasuryMustOwnBurnedNFT)
		if err != nil {
			return nil, err
		}
		return []any{t.TotalSupply}, nil
	}
	err = firstOf(
		refuse(amount > t.TotalSupply, codes.InvalidTokenBurnAmount),
		refuse(amount > r.balance, codes.InsufficientTokenBalance),
	)
	if err != nil {
		return nil, err
	}
	c.changeSupply(t, r, -amount)
	return []any{t.TotalSupply}, nil
}

// distinctSerials returns each serial of a burn or wipe once. It fails if one is not positive.
func distinctSerials(values []any) ([]int64, error) {
	var out []int64
	for _, v := range values {
		serial := v.(int64)
		err := refuse(serial <= 0, codes.InvalidNFTID)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, serial) {
			out = append(out, serial)
		}
	}
	return out, nil
}

// destroy removes serials in the simulation and subtracts them from the supply and the owner's balance in r. foreign
// is the response code for a serial of another owner. If one fails, call.do undoes those before it.
func (c *call) destroy(
	t *token, owner ledger.EntityID, r *relation, serials []int64, foreign ledger.ResponseCode,
) error {
	for _, serial := range serials {
		n, err := c.existingSerial(t, serial, codes.InvalidNFTID)
		if err != nil {
			return err
		}
		err = refuse(t.ownerOf(n) != owner, foreign)
		if err != nil {
			return err
		}
		evm.Set(c.State, n, nft{})
		c.changeSupply(t, r, -1)
	}
	return nil
}

// wipe implements wipeTokenAccount(token, account, amount) and wipeTokenAccountNFT(token, account, serials): it
// removes an amount of a fungible token from an account, or serials of a non-fungible one, in the simulation. The
// token needs a wipe key, and the account must not be its treasury. Serials of a fungible token are ignored.
func wipe(c *call, in []any) error {
	amount, _ := amountOf(in[2]) // 0 for serials
	err := refuse(amount < 0, codes.InvalidWipingAmount)
	if err != nil {
		return err
	}
	serials, err := distinctSerials(abi.List(in[2]))
	if err != nil {
		return err
	}
	t, err := c.existingToken(in[0].(common.Address))
	if err != nil {
		return err
	}
	p, err := c.existingParty(in[1], codes.InvalidAccountID)
	if err != nil {
		return err
	}
	err = firstOf(
		refuse(len(serials) > maxSerials, codes.BatchSizeLimitExceeded),
		t.requireActive(),
		t.requireKey(worldstate.WipeKey),
	)
	if err != nil {
		return err
	}
	r, err := c.usableRelation(t, p, false /* takes */)
	if err != nil {
		return err
	}
	err = refuse(p == t.TreasuryAccountID, codes.CannotWipeTokenTreasuryAccount)
	if err != nil {
		return err
	}
	if t.Type == ledger.TokenNonFungibleUnique {
		err = refuse(len(serials) == 0, codes.InvalidWipingAmount)
		if err != nil {
			return err
		}
		return c.destroy(t, p, r, serials, codes.AccountDoesNotOwnWipedNFT)
	}
	err = refuse(amount > t.TotalSupply || amount > r.balance, codes.InvalidWipingAmount)
	if err != nil {
		return err
	}
	c.changeSupply(t, r, -amount)
	return nil
}

// changeSupply adds by, which can be negative, to the total supply of a token and to the balance in r, in the
// simulation. It checks nothing.
func (c *call) changeSupply(t *token, r *relation, by int64) {
	evm.Set(c.State, &r.balance, r.balance+by)
	evm.Set(c.State, &t.TotalSupply, t.TotalSupply+by)
}

package system

import (
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/evm"
	"heliograph/internal/ledger"
)

// act is the body of a function that changes something: how it ended, and what it returns when it succeeded.
type act func(c *call, in []any) (ledger.ResponseCode, []any)

// classic makes a function that returns its response code, whatever that is. When it is not success, nothing has changed.
func classic(do act) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		return c.returns(append([]any{int64(code)}, values...)...)
	}
}

// strict makes a function that reverts with its response code when that is not success.
func strict(do act) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		if code != success {
			return c.reverts(code)
		}
		return c.returns(values...)
	}
}

// do runs the body of a function and undoes what it changed when it fails.
func (c *call) do(do act, in []any) (ledger.ResponseCode, []any) {
	mark := c.State.Snapshot()
	code, values := do(c, in)
	if code != success {
		c.State.RevertToSnapshot(mark)
		c.ChildFailed(code)
		return code, nil
	}
	return success, values
}

// usable is the token that a function is about if it can be worked with, and what of the arguments is left. A paused token can not.
func (c *call) usable(in []any) (*token, []any, ledger.ResponseCode) {
	a := c.entity
	if !c.redirect {
		a, in = in[0].(common.Address), in[1:]
	}
	t, code := c.usableAt(a)
	return t, in, code
}

func (c *call) usableAt(a common.Address) (*token, ledger.ResponseCode) {
	t, code := c.present(a)
	if code == success && t.PauseStatus == paused {
		return nil, tokenIsPaused
	}
	return t, code
}

// present is the token at an address, paused or not.
func (c *call) present(a common.Address) (*token, ledger.ResponseCode) {
	if t := c.facts.token(a); t != nil {
		return t, success
	}
	if id, ok := c.facts.tokenID(a); ok && c.facts.tokens[id] != nil {
		return nil, tokenWasDeleted
	}
	return nil, invalidTokenID
}

// Pause statuses as the ledger names them.
const (
	paused   ledger.TokenPauseStatus = "PAUSED"
	unpaused ledger.TokenPauseStatus = "UNPAUSED"
)

// caller is who called.
func (c *call) caller() party {
	p, ok := c.facts.party(c.Caller)
	if !ok {
		return party{address: c.Caller}
	}
	return p
}

// held is the association of an account with a token, if it is there.
func (c *call) held(t *token, v any) (*relation, party, ledger.ResponseCode) {
	p, ok := c.facts.party(v.(common.Address))
	if !ok {
		return nil, p, invalidAccountID
	}
	r := c.facts.relation(p, t)
	if !r.associated {
		return nil, p, notAssociated
	}
	return r, p, success
}

// associations

func associate(c *call, account common.Address, tokens []any) ledger.ResponseCode {
	p, ok := c.facts.party(account)
	if !ok {
		return invalidAccountID
	}
	seen := map[common.Address]bool{}
	for _, v := range tokens {
		a := v.(common.Address)
		if seen[a] {
			return tokenRepeated
		}
		seen[a] = true
		t, code := c.usableAt(a)
		if code != success {
			return code
		}
		if c.facts.relation(p, t).associated {
			return alreadyAssociated
		}
		c.relate(p, t, false)
	}
	return success
}

// relate associates an account with a token.
func (c *call) relate(p party, t *token, automatic bool) {
	change(c.facts, c.facts.relation(p, t), relation{
		associated: true, frozen: t.HasKey(ledger.TokenFreezeKey) && t.FreezeDefault, kyc: !t.HasKey(ledger.TokenKYCKey), automatic: automatic,
	})
}

func dissociate(c *call, account common.Address, tokens []any) ledger.ResponseCode {
	p, ok := c.facts.party(account)
	if !ok {
		return invalidAccountID
	}
	seen := map[common.Address]bool{}
	for _, v := range tokens {
		a := v.(common.Address)
		if seen[a] {
			return tokenRepeated
		}
		seen[a] = true
		t, code := c.usableAt(a)
		if code != success {
			return code
		}
		r := c.facts.relation(p, t)
		switch {
		case !r.associated:
			return notAssociated
		case partyOf(t.TreasuryAccountID) == p:
			return accountIsTreasury
		case r.frozen:
			return accountFrozen
		case r.balance > 0 && t.Type == ledger.TokenFungibleCommon:
			return requiresZeroBalances
		case r.balance > 0:
			return stillOwnsNFTs
		}
		change(c.facts, r, relation{})
	}
	return success
}

// statuses of relationships and tokens

// setStatus makes a function that changes the association of an account with a token, for which the token must have a key.
func setStatus(key ledger.TokenKeyKind, without ledger.ResponseCode, set func(*relation)) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, rest, code := c.usable(in)
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(key):
			return without, nil
		}
		r, _, code := c.held(t, rest[0])
		if code != success {
			return code, nil
		}
		changed := *r
		set(&changed)
		change(c.facts, r, changed)
		return success, nil
	}
}

func setPause(status ledger.TokenPauseStatus) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, code := c.present(in[0].(common.Address))
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(ledger.TokenPauseKey):
			return hasNoPauseKey, nil
		}
		change(c.facts, &t.PauseStatus, status)
		return success, nil
	}
}

func deleteToken(c *call, in []any) (ledger.ResponseCode, []any) {
	t, _, code := c.usable(in)
	switch {
	case code != success:
		return code, nil
	case !t.HasKey(ledger.TokenAdminKey):
		return tokenIsImmutable, nil
	}
	change(c.facts, &t.deleted, true)
	return success, nil
}

// supply

const (
	mostSerials  = 10  // that are minted, burned or wiped together
	mostMetadata = 100 // bytes of a serial
)

// amountOf is an amount that can be signed or not; ok is false when it is not one.
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

func mint(c *call, in []any) (ledger.ResponseCode, []any) {
	t, rest, code := c.usable(in)
	switch {
	case code != success:
		return code, nil
	case !t.HasKey(ledger.TokenSupplyKey):
		return hasNoSupplyKey, nil
	}
	amount, ok := amountOf(rest[0])
	metadata := list(rest[1])
	if t.Type != ledger.TokenFungibleCommon {
		return mintSerials(c, t, metadata)
	}
	switch {
	case !ok || len(metadata) > 0:
		return invalidMintAmount, nil
	case amount > t.MaxSupply-t.TotalSupply:
		return maxSupplyReached, nil
	}
	r := c.facts.relation(partyOf(t.TreasuryAccountID), t)
	if !r.associated {
		return notAssociated, nil
	}
	change(c.facts, &r.balance, r.balance+amount)
	change(c.facts, &t.TotalSupply, t.TotalSupply+amount)
	return success, []any{t.TotalSupply, []any{}}
}

func mintSerials(c *call, t *token, metadata []any) (ledger.ResponseCode, []any) {
	switch {
	case len(metadata) == 0:
		return invalidMintMetadata, nil
	case len(metadata) > mostSerials:
		return batchTooLarge, nil
	case int64(len(metadata)) > t.MaxSupply-t.TotalSupply:
		return maxSupplyReached, nil
	}
	treasury := partyOf(t.TreasuryAccountID)
	c.facts.load(wants{relations: []relationKey{{treasury, t.EntityID}}, serials: []ledger.EntityID{t.EntityID}})
	r, last := c.facts.relation(treasury, t), c.facts.serials[t.EntityID]
	if !r.associated {
		return notAssociated, nil
	}
	var serials []any
	for _, m := range metadata {
		data := m.([]byte)
		if len(data) > mostMetadata {
			return metadataTooLong, nil
		}
		change(c.facts, last, *last+1)
		k := ledger.NFTKey{TokenID: t.EntityID, SerialNumber: *last}
		c.facts.load(wants{nfts: []ledger.NFTKey{k}})
		change(c.facts, c.facts.nfts[k], nft{exists: true, owner: treasury, metadata: data, created: c.Block.Start})
		serials = append(serials, *last)
	}
	change(c.facts, &r.balance, r.balance+int64(len(serials)))
	change(c.facts, &t.TotalSupply, t.TotalSupply+int64(len(serials)))
	return success, []any{t.TotalSupply, serials}
}

func burn(c *call, in []any) (ledger.ResponseCode, []any) {
	t, rest, code := c.usable(in)
	switch {
	case code != success:
		return code, nil
	case !t.HasKey(ledger.TokenSupplyKey):
		return hasNoSupplyKey, nil
	}
	amount, ok := amountOf(rest[0])
	treasury := partyOf(t.TreasuryAccountID)
	r := c.facts.relation(treasury, t)
	if t.Type != ledger.TokenFungibleCommon {
		code = c.end(t, treasury, r, list(rest[1]), invalidBurnAmount, treasuryMustOwnBurned)
		return code, []any{t.TotalSupply}
	}
	switch {
	case !r.associated:
		return notAssociated, nil
	case !ok || len(list(rest[1])) > 0 || amount > t.TotalSupply:
		return invalidBurnAmount, nil
	case amount > r.balance:
		return insufficientTokenBalance, nil
	}
	change(c.facts, &r.balance, r.balance-amount)
	change(c.facts, &t.TotalSupply, t.TotalSupply-amount)
	return success, []any{t.TotalSupply}
}

// end takes serials of an owner out of the world.
func (c *call) end(t *token, owner party, r *relation, serials []any, none, foreign ledger.ResponseCode) ledger.ResponseCode {
	switch {
	case len(serials) == 0:
		return none
	case len(serials) > mostSerials:
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
		change(c.facts, &r.balance, r.balance-1)
		change(c.facts, &t.TotalSupply, t.TotalSupply-1)
	}
	return success
}

// wipe takes units or serials of a token from an account.
func wipe(serials bool) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, rest, code := c.usable(in)
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(ledger.TokenWipeKey):
			return hasNoWipeKey, nil
		}
		r, p, code := c.held(t, rest[0])
		switch {
		case code != success:
			return code, nil
		case p == partyOf(t.TreasuryAccountID):
			return cannotWipeTreasury, nil
		case serials != (t.Type == ledger.TokenNonFungibleUnique):
			return invalidWipingAmount, nil
		case serials:
			return c.end(t, p, r, list(rest[1]), invalidWipingAmount, doesNotOwnWiped), nil
		}
		amount, ok := amountOf(rest[1])
		if !ok || amount > r.balance {
			return invalidWipingAmount, nil
		}
		change(c.facts, &r.balance, r.balance-amount)
		change(c.facts, &t.TotalSupply, t.TotalSupply-amount)
		return success, nil
	}
}

// log tells the world of something that happened to a token.
func (c *call) log(t *token, event string, topics []common.Hash, data []byte) {
	c.State.AddLog(&types.Log{
		Address: longZero(t.EntityID), Topics: append([]common.Hash{crypto.Keccak256Hash([]byte(event))}, topics...), Data: data, BlockNumber: uint64(c.Block.Number),
	})
}

// topic is an address or a number as logs have it.
func topic(v any) common.Hash { return encodeWord(v) }

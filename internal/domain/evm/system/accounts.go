package system

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// accountFunctions returns the functions of the account service.
func accountFunctions() []*function {
	return []*function{
		{signature: "hbarAllowance(address,address)", returns: "int64,int256", run: hbarAllowance},
		{signature: "getEvmAddressAlias(address)", returns: "int64,address", run: evmAddressAlias},
		{signature: "getHederaAccountNumAlias(address)", returns: "int64,address", run: accountNumber},
		{signature: "isValidAlias(address)", returns: "bool", run: isValidAlias},
		{signature: "isAuthorizedRaw(address,bytes,bytes)", returns: "bool", run: isAuthorizedRaw},
		{signature: "isAuthorized(address,bytes,bytes)", returns: "int64,bool", run: isAuthorized},
		{signature: "hbarApprove(address,address,int256)", returns: "int64", kind: write, tinycents: approvePrice, run: hbarApprove},
	}
}

// accountFacade returns the functions of the address of an account without code.
func accountFacade() []*function {
	return []*function{
		{signature: "hbarAllowance(address)", returns: "int64,int256", run: hbarAllowance},
		{signature: "hbarApprove(address,int256)", returns: "int64", kind: write, tinycents: approvePrice, run: hbarApprove},
		{signature: "setUnlimitedAutomaticAssociations(bool)", returns: "int64", kind: write, tinycents: accountUpdatePrice, run: setUnlimitedAssociations},
	}
}

// Prices in tinycents: a ten-billionth of a dollar.
const (
	dollar             = 10_000_000_000
	approvePrice       = dollar / 20
	accountUpdatePrice = dollar / 100_000 * 22
)

// ownerAndSpender returns the parties of an allowance and the remaining arguments. The owner is the called account, or the first argument.
func (c *call) ownerAndSpender(in []any) (owner, spender party, rest []any, code ledger.ResponseCode) {
	at := c.entity
	if !c.redirect {
		at, in = in[0].(common.Address), in[1:]
	}
	owner, ok := c.facts.party(at)
	if !ok {
		return owner, spender, nil, codes.InvalidAllowanceOwnerID
	}
	spender, ok = c.facts.party(in[0].(common.Address))
	if !ok {
		return owner, spender, in[1:], codes.InvalidAllowanceSpenderID
	}
	return owner, spender, in[1:], 0
}

func hbarAllowance(c *call, in []any) evm.Outcome {
	owner, spender, _, code := c.ownerAndSpender(in)
	switch code {
	case 0:
		return c.returns(int64(codes.Success), *c.facts.allowance(owner, spender, nil))
	case codes.InvalidAllowanceSpenderID:
		return c.returns(int64(codes.Success), int64(0))
	default:
		return c.reverts(code)
	}
}

func hbarApprove(c *call, in []any) evm.Outcome {
	if delegated(c.Op) && !c.redirect {
		return c.reverts(codes.InvalidAllowanceOwnerID)
	}
	owner, spender, rest, code := c.ownerAndSpender(in)
	if code != 0 {
		return c.reverts(code)
	}
	amount := rest[0].(*big.Int)
	switch {
	case amount.Sign() < 0:
		return c.returns(int64(codes.NegativeAllowanceAmount))
	case !amount.IsInt64():
		return c.reverts(codes.InvalidTransactionBody)
	case owner == spender:
		return c.returns(int64(codes.SpenderAccountSameAsOwner))
	}
	change(c.facts, c.facts.allowance(owner, spender, nil), amount.Int64())
	return c.returns(int64(codes.Success))
}

func setUnlimitedAssociations(c *call, in []any) evm.Outcome {
	p, ok := c.facts.party(c.entity)
	if !ok {
		return c.reverts(codes.InvalidAccountID)
	}
	most := int64(0)
	if in[0].(bool) {
		most = -1
	}
	c.facts.load(request{slots: []party{p}})
	change(c.facts, &c.facts.slots[p].Most, most)
	return c.returns(int64(codes.Success))
}

// isAccount reports whether an entity is an account or a contract.
func isAccount(e *worldstate.Entity) bool {
	return e != nil && (e.Type == ledger.EntityAccount || e.Type == ledger.EntityContract)
}

func evmAddressAlias(c *call, in []any) evm.Outcome {
	a := in[0].(common.Address)
	_, ok := ledger.EVMAddress(a).Num()
	if e := c.State.Entity(a); ok && isAccount(e) && e.Alias.Valid {
		return c.returns(int64(codes.Success), common.Address(e.Alias.V))
	}
	return c.returns(int64(codes.InvalidAccountID))
}

func accountNumber(c *call, in []any) evm.Outcome {
	if p, ok := c.facts.party(in[0].(common.Address)); ok && p.id != 0 {
		return c.returns(int64(codes.Success), longZero(p.id))
	}
	return c.returns(int64(codes.InvalidSolidityAddress))
}

func isValidAlias(c *call, in []any) evm.Outcome {
	a := in[0].(common.Address)
	if isAccount(c.State.Entity(a)) {
		return c.returns(true)
	}
	_, ok := c.facts.party(a)
	return c.returns(ok)
}

// ofTokens returns a function that applies do to an account and each of some distinct tokens.
func ofTokens(do func(c *call, p party, at common.Address)) func(*call, common.Address, []any) []any {
	return func(c *call, account common.Address, tokens []any) []any {
		p, ok := c.facts.party(account)
		failIf(!ok, codes.InvalidAccountID)
		failIf(repeats(tokens), codes.TokenIDRepeatedInTokenList)
		for _, v := range tokens {
			do(c, p, v.(common.Address))
		}
		return nil
	}
}

func associate(c *call, p party, at common.Address) {
	t := c.activeTokenAt(at)
	failIf(c.facts.relation(p, t).associated, codes.TokenAlreadyAssociatedToAccount)
	c.relate(p, t, false)
}

// relate associates an account with a token.
func (c *call) relate(p party, t *token, automatic bool) {
	change(c.facts, c.facts.relation(p, t), relation{
		associated: true, frozen: t.HasKey(worldstate.FreezeKey) && t.FreezeDefault, kyc: !t.HasKey(worldstate.KYCKey), automatic: automatic,
	})
}

// dissociate removes the association of an account with a token. If the simulation has deleted the token, it removes the balance too.
func dissociate(c *call, p party, at common.Address) {
	id, ok := c.facts.tokenID(at)
	failIf(!ok, codes.InvalidTokenID)
	k := relationKey{p, id}
	c.facts.load(request{tokens: []ledger.EntityID{id}, relations: []relationKey{k}})
	t, r := c.facts.tokens[id], c.facts.relations[k]
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	if t != nil {
		t.requireActive()
	}
	if t != nil && !t.deleted {
		failIf(partyOf(t.TreasuryAccountID) == p, codes.AccountIsTreasury)
		failIf(r.frozen, codes.AccountFrozenForToken)
		failIf(r.balance > 0 && t.Type == ledger.TokenFungibleCommon, codes.TransactionRequiresZeroTokenBalances)
		failIf(r.balance > 0, codes.AccountStillOwnsNFTs)
	}
	change(c.facts, r, relation{})
}

// setStatus returns an operation that changes the association of an account with a token. The token must have the key. If the account is frozen, the
// operation fails unless it unfreezes.
func setStatus(key worldstate.KeyKind, set func(*relation)) operation {
	return keyed(key, func(c *call, t *token, in []any) []any {
		r, _ := c.held(t, in[0])
		changed := *r
		set(&changed)
		failIf(r.frozen && changed.frozen, codes.AccountFrozenForToken)
		change(c.facts, r, changed)
		return nil
	})
}

// one returns an operation on an account and a token.
func one(do func(*call, party, common.Address)) operation {
	return func(c *call, in []any) []any { return ofTokens(do)(c, in[0].(common.Address), in[1:2]) }
}

// many returns an operation on an account and several tokens.
func many(do func(*call, party, common.Address)) operation {
	return func(c *call, in []any) []any { return ofTokens(do)(c, in[0].(common.Address), abi.List(in[1])) }
}

// ofItself returns an operation on the caller and the called token.
func ofItself(do func(*call, party, common.Address)) operation {
	return func(c *call, _ []any) []any { return ofTokens(do)(c, c.Caller, []any{c.entity}) }
}

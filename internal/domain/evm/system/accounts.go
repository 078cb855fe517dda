package system

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// accountFunctions returns the table of the functions of the account service (HAS), which the EVM calls at its
// address.
func accountFunctions() []*function {
	const amount, alias = responseCode + ",int256 amount", responseCode + ",address "
	return []*function{
		{signature: "hbarAllowance(address owner,address spender)", returns: amount, run: hbarAllowance},
		{
			signature: "getEvmAddressAlias(address accountNumAlias)", returns: alias + "evmAddressAlias",
			run: evmAddressAlias,
		},
		{
			signature: "getHederaAccountNumAlias(address evmAddressAlias)", returns: alias + "accountNumAlias",
			run: accountNumber,
		},
		{signature: "isValidAlias(address addr)", returns: "bool response", run: isValidAlias},
		{
			signature: "isAuthorizedRaw(address account,bytes messageHash,bytes signature)",
			returns:   "bool authorized",
			run:       isAuthorizedRaw,
		},
		{
			signature: "isAuthorized(address account,bytes message,bytes signature)",
			returns:   responseCode + ",bool authorized", run: isAuthorized,
		},
		{
			signature: "hbarApprove(address owner,address spender,int256 amount)", returns: responseCode, kind: write,
			price: priceOfApproval, run: hbarApprove,
		},
	}
}

// accountFacade returns the table of the functions that an account without code has at its own address.
func accountFacade() []*function {
	return []*function{
		{signature: "hbarAllowance(address spender)", returns: responseCode + ",int256 amount", run: hbarAllowance},
		{
			signature: "hbarApprove(address spender,int256 amount)", returns: responseCode, kind: write,
			price: priceOfApproval, run: hbarApprove,
		},
		{
			signature: "setUnlimitedAutomaticAssociations(bool enableAutoAssociations)", returns: responseCode,
			kind: write, run: setUnlimitedAssociations,
			price: func(*call, []any) int64 { return accountUpdatePrice },
		},
	}
}

// priceOfApproval returns the price of hbarApprove in tinycents.
func priceOfApproval(*call, []any) int64 { return approvePrice }

// Prices in tinycents: a ten-billionth of a dollar.
const (
	dollar             = 10_000_000_000
	approvePrice       = dollar / 20
	accountUpdatePrice = dollar / 100_000 * 22
)

// ownerAndSpender returns the parties of an allowance and the arguments after them. The owner is the called account,
// or the first argument. code is not 0 if one of them does not exist; the other results must then not be used.
func (c *call) ownerAndSpender(in []any) (owner, spender ledger.EntityID, rest []any, code ledger.ResponseCode) {
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

// hbarAllowance ends the call with the response code and the tinybars that a spender may spend of an owner. An
// unknown spender has none; an unknown owner is a revert.
func hbarAllowance(c *call, in []any) evm.Outcome {
	owner, spender, _, code := c.ownerAndSpender(in)
	switch code {
	case 0:
		return c.returns(int64(codes.Success), *c.facts.allowance(owner, spender, 0))
	case codes.InvalidAllowanceSpenderID:
		return c.returns(int64(codes.Success), int64(0))
	default:
		return c.reverts(code)
	}
}

// hbarApprove sets, in the simulation, the tinybars that a spender may spend of an owner, and ends the call with a
// response code. Unknown accounts, an amount beyond int64 and a delegate call at the address of the service are
// reverts.
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
	evm.Set(c.State, c.facts.allowance(owner, spender, 0), amount.Int64())
	return c.returns(int64(codes.Success))
}

// setUnlimitedAssociations sets, in the simulation, whether the called account is associated with every token that it
// receives, or with none. An unknown account is a revert.
func setUnlimitedAssociations(c *call, in []any) evm.Outcome {
	p, ok := c.facts.party(c.entity)
	if !ok {
		return c.reverts(codes.InvalidAccountID)
	}
	most := int64(0)
	if in[0].(bool) {
		most = -1
	}
	c.facts.load(worldstate.TokenReads{Slots: []ledger.EntityID{p}})
	evm.Set(c.State, &c.facts.slots[p].Most, most)
	return c.returns(int64(codes.Success))
}

// isAccount reports whether an entity, which may be nil, is an account or a contract.
func isAccount(e *worldstate.Entity) bool {
	return e != nil && (e.Type == ledger.EntityAccount || e.Type == ledger.EntityContract)
}

// evmAddressAlias ends the call with the EVM alias of the account with a long-zero address, or with a response code if
// it has none. It reads the account on first use; a failed read aborts the run.
func evmAddressAlias(c *call, in []any) evm.Outcome {
	a := in[0].(common.Address)
	_, ok := ledger.EVMAddress(a).Num()
	if e := c.State.Entity(a); ok && isAccount(e) && e.Alias.Valid {
		return c.returns(int64(codes.Success), common.Address(e.Alias.V))
	}
	return c.returns(int64(codes.InvalidAccountID))
}

// accountNumber ends the call with the long-zero address of the account with an EVM address, or with a response code
// if there is none. It reads the account on first use; a failed read aborts the run.
func accountNumber(c *call, in []any) evm.Outcome {
	if p, ok := c.facts.party(in[0].(common.Address)); ok && p != 0 {
		return c.returns(int64(codes.Success), longZero(p))
	}
	return c.returns(int64(codes.InvalidSolidityAddress))
}

// isValidAlias ends the call with whether an address belongs to an account, which it reads on first use.
func isValidAlias(c *call, in []any) evm.Outcome {
	a := in[0].(common.Address)
	if isAccount(c.State.Entity(a)) {
		return c.returns(true)
	}
	_, ok := c.facts.party(a)
	return c.returns(ok)
}

// associate implements associateToken(account, token), associateTokens(account, tokens), and associate() of a token:
// it associates an account with tokens in the simulation. It fails for a token that is unknown, deleted, paused or
// already associated. Earlier associations remain then until call.do undoes them.
func associate(c *call, in []any) error {
	p, tokens, err := c.accountAndTokens(in)
	if err != nil {
		return err
	}
	for _, v := range tokens {
		t, err := c.activeTokenAt(v.(common.Address))
		if err != nil {
			return err
		}
		err = refuse(c.facts.relation(p, t).associated, codes.TokenAlreadyAssociatedToAccount)
		if err != nil {
			return err
		}
		c.relate(p, t, false /* automatic */)
	}
	return nil
}

// accountAndTokens returns the account whose associations change, and the addresses of the tokens: the arguments,
// or the caller and the called token. It fails if the account does not exist or a token is repeated.
func (c *call) accountAndTokens(in []any) (ledger.EntityID, []any, error) {
	account, tokens := c.Caller, []any{c.entity}
	if !c.redirect {
		account, tokens = in[0].(common.Address), in[1:]
		if several, ok := in[1].([]any); ok {
			tokens = several
		}
	}
	p, err := c.existingParty(account, codes.InvalidAccountID)
	if err != nil {
		return 0, nil, err
	}
	return p, tokens, refuse(repeats(tokens), codes.TokenIDRepeatedInTokenList)
}

// relate associates an account with a token in the simulation, frozen and with KYC as the token has it by default.
// automatic records that a transfer did so.
func (c *call) relate(p ledger.EntityID, t *token, automatic bool) {
	evm.Set(c.State, c.facts.relation(p, t), relation{
		associated: true, frozen: t.HasKey(
			worldstate.FreezeKey,
		) && t.FreezeDefault, kyc: !t.HasKey(worldstate.KYCKey), automatic: automatic,
	})
}

// dissociate implements dissociateToken(account, token), dissociateTokens(account, tokens), and dissociate() of a
// token: it removes associations of an account in the simulation. If one fails, those before it stay removed until
// call.do undoes that.
func dissociate(c *call, in []any) error {
	p, tokens, err := c.accountAndTokens(in)
	if err != nil {
		return err
	}
	for _, v := range tokens {
		err = c.dissociateFrom(p, v.(common.Address))
		if err != nil {
			return err
		}
	}
	return nil
}

// dissociateFrom removes the association of an account with the token at an address in the simulation. It fails
// without one, if the token is paused, or if the account still has a balance, is frozen or is the treasury. If the
// token is deleted, in the ledger or in the simulation, the last three do not matter, and the balance is removed too.
func (c *call) dissociateFrom(p ledger.EntityID, at common.Address) error {
	id, ok := c.facts.tokenID(at)
	err := refuse(!ok, codes.InvalidTokenID)
	if err != nil {
		return err
	}
	k := worldstate.RelationKey{Account: p, Token: id}
	c.facts.load(worldstate.TokenReads{Tokens: []ledger.EntityID{id}, Relations: []worldstate.RelationKey{k}})
	t, r := c.facts.tokens[id], c.facts.relations[k]
	err = refuse(!r.associated, codes.TokenNotAssociatedToAccount)
	if err != nil {
		return err
	}
	if t != nil {
		err = t.requireActive()
		if err != nil {
			return err
		}
	}
	if t != nil && !t.deleted {
		err = firstOf(
			refuse(t.TreasuryAccountID == p, codes.AccountIsTreasury),
			refuse(r.frozen, codes.AccountFrozenForToken),
			refuse(r.balance > 0 && t.Type == ledger.TokenFungibleCommon, codes.TransactionRequiresZeroTokenBalances),
			refuse(r.balance > 0, codes.AccountStillOwnsNFTs),
		)
		if err != nil {
			return err
		}
	}
	evm.Set(c.State, r, relation{})
	return nil
}

// setFrozen implements freezeToken(token, account), if c.f.sets is set, and unfreezeToken(token, account) in the
// simulation. The token needs a freeze key. Freezing a frozen account fails; unfreezing an account that is not frozen
// does not.
func setFrozen(c *call, in []any) error {
	t, rest, err := c.keyedToken(in, worldstate.FreezeKey)
	if err != nil {
		return err
	}
	r, err := c.held(t, rest[0])
	if err != nil {
		return err
	}
	err = refuse(c.f.sets && r.frozen, codes.AccountFrozenForToken)
	if err != nil {
		return err
	}
	evm.Set(c.State, &r.frozen, c.f.sets)
	return nil
}

// setKYC implements grantTokenKyc(token, account), if c.f.sets is set, and revokeTokenKyc(token, account) in the
// simulation. The token needs a KYC key. It fails if the account is frozen.
func setKYC(c *call, in []any) error {
	t, rest, err := c.keyedToken(in, worldstate.KYCKey)
	if err != nil {
		return err
	}
	r, err := c.held(t, rest[0])
	if err != nil {
		return err
	}
	err = refuse(r.frozen, codes.AccountFrozenForToken)
	if err != nil {
		return err
	}
	evm.Set(c.State, &r.kyc, c.f.sets)
	return nil
}

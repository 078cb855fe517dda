package system

import (
	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// ofTokens returns a function that applies do to an account and each of some distinct tokens.
func ofTokens(do func(c *call, p party, t *token)) func(*call, common.Address, []any) []any {
	return func(c *call, account common.Address, tokens []any) []any {
		p, ok := c.facts.party(account)
		failIf(!ok, codes.InvalidAccountID)
		seen := map[common.Address]bool{}
		for _, v := range tokens {
			a := v.(common.Address)
			failIf(seen[a], codes.TokenIDRepeatedInTokenList)
			seen[a] = true
			do(c, p, c.activeTokenAt(a))
		}
		return nil
	}
}

func associate(c *call, p party, t *token) {
	failIf(c.facts.relation(p, t).associated, codes.TokenAlreadyAssociatedToAccount)
	c.relate(p, t, false)
}

// relate associates an account with a token.
func (c *call) relate(p party, t *token, automatic bool) {
	change(c.facts, c.facts.relation(p, t), relation{
		associated: true, frozen: t.HasKey(worldstate.FreezeKey) && t.FreezeDefault, kyc: !t.HasKey(worldstate.KYCKey), automatic: automatic,
	})
}

func dissociate(c *call, p party, t *token) {
	r := c.facts.relation(p, t)
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	failIf(partyOf(t.TreasuryAccountID) == p, codes.AccountIsTreasury)
	failIf(r.frozen, codes.AccountFrozenForToken)
	failIf(r.balance > 0 && t.Type == ledger.TokenFungibleCommon, codes.TransactionRequiresZeroTokenBalances)
	failIf(r.balance > 0, codes.AccountStillOwnsNFTs)
	change(c.facts, r, relation{})
}

// setStatus returns an operation that changes the association of an account with a token. The token must have the key.
func setStatus(key worldstate.KeyKind, set func(*relation)) operation {
	return keyed(key, func(c *call, t *token, in []any) []any {
		r, _ := c.held(t, in[0])
		changed := *r
		set(&changed)
		change(c.facts, r, changed)
		return nil
	})
}

// one returns an operation on an account and a token.
func one(do func(*call, party, *token)) operation {
	return func(c *call, in []any) []any { return ofTokens(do)(c, in[0].(common.Address), in[1:2]) }
}

// many returns an operation on an account and several tokens.
func many(do func(*call, party, *token)) operation {
	return func(c *call, in []any) []any { return ofTokens(do)(c, in[0].(common.Address), abi.List(in[1])) }
}

// ofItself returns an operation on the caller and the called token.
func ofItself(do func(*call, party, *token)) operation {
	return func(c *call, _ []any) []any { return ofTokens(do)(c, c.Caller, []any{c.entity}) }
}

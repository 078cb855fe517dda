package system

import (
	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// ofTokens returns a function that applies do to an account and each of some distinct tokens.
func ofTokens(do func(c *call, p party, t *token) ledger.ResponseCode) func(*call, common.Address, []any) ledger.ResponseCode {
	return func(c *call, account common.Address, tokens []any) ledger.ResponseCode {
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
			t, code := c.activeTokenAt(a)
			if code == success {
				code = do(c, p, t)
			}
			if code != success {
				return code
			}
		}
		return success
	}
}

func associate(c *call, p party, t *token) ledger.ResponseCode {
	if c.facts.relation(p, t).associated {
		return alreadyAssociated
	}
	c.relate(p, t, false)
	return success
}

// relate associates an account with a token.
func (c *call) relate(p party, t *token, automatic bool) {
	change(c.facts, c.facts.relation(p, t), relation{
		associated: true, frozen: t.HasKey(worldstate.FreezeKey) && t.FreezeDefault, kyc: !t.HasKey(worldstate.KYCKey), automatic: automatic,
	})
}

func dissociate(c *call, p party, t *token) ledger.ResponseCode {
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
	return success
}

// setStatus returns an operation that changes the association of an account with a token. The token must have the key.
func setStatus(key worldstate.KeyKind, without ledger.ResponseCode, set func(*relation)) operation {
	return keyed(key, without, func(c *call, t *token, in []any) (ledger.ResponseCode, []any) {
		r, _, code := c.held(t, in[0])
		if code != success {
			return code, nil
		}
		changed := *r
		set(&changed)
		change(c.facts, r, changed)
		return success, nil
	})
}

// one returns an operation on an account and a token.
func one(do func(*call, party, *token) ledger.ResponseCode) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		return ofTokens(do)(c, in[0].(common.Address), in[1:2]), nil
	}
}

// many returns an operation on an account and several tokens.
func many(do func(*call, party, *token) ledger.ResponseCode) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		return ofTokens(do)(c, in[0].(common.Address), abi.List(in[1])), nil
	}
}

// ofItself returns an operation on the caller and the called token.
func ofItself(do func(*call, party, *token) ledger.ResponseCode) operation {
	return func(c *call, _ []any) (ledger.ResponseCode, []any) {
		return ofTokens(do)(c, c.Caller, []any{c.entity}), nil
	}
}

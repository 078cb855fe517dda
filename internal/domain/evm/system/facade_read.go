package system

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger"
)

// facadeReads returns the read-only functions of the address of a token: those of ERC-20 and ERC-721, and of the network.
func facadeReads() []*function {
	return []*function{
		{signature: "name()", returns: "string", run: ofToken(func(_ *call, t *token) []any { return []any{t.Name} })},
		{signature: "symbol()", returns: "string", run: ofToken(func(_ *call, t *token) []any { return []any{t.Symbol} })},
		{signature: "decimals()", returns: "uint8", run: decimals},
		{signature: "totalSupply()", returns: "uint256", run: ofToken(func(_ *call, t *token) []any { return []any{t.TotalSupply} })},
		{signature: "balanceOf(address)", returns: "uint256", run: balanceOf},
		{signature: "allowance(address,address)", returns: "uint256", run: allowance},
		{signature: "ownerOf(uint256)", returns: "address", run: ownerOf},
		{signature: "tokenURI(uint256)", returns: "string", run: tokenURI},
		{signature: "getApproved(uint256)", returns: "address", run: getApproved},
		{signature: "isApprovedForAll(address,address)", returns: "bool", run: isApprovedForAll},
		{signature: "isAssociated()", returns: "bool", run: isAssociated},
	}
}

func decimals(c *call, in []any) evm.Outcome {
	t, _ := c.tokenOf(in)
	if t == nil || t.Type != ledger.TokenFungibleCommon {
		return c.fails(invalidTokenID)
	}
	return c.answers(t.Decimals)
}

func balanceOf(c *call, in []any) evm.Outcome {
	account := in[0].(common.Address)
	c.prefetch(c.entity, account)
	t, _ := c.tokenOf(in)
	if t == nil {
		return c.fails(invalidTokenID)
	}
	p, ok := c.facts.party(account)
	if !ok {
		return c.fails(invalidAccountID)
	}
	balance := int64(0)
	if r := c.facts.relation(p, t); r.associated {
		balance = r.balance
	}
	return c.answers(balance)
}

func ownerOf(c *call, in []any) evm.Outcome {
	t, rest := c.tokenOf(in)
	if t == nil || t.Type != ledger.TokenNonFungibleUnique {
		return c.fails(invalidTokenID)
	}
	n := c.facts.nft(t, serialOf(rest[0]))
	if n == nil {
		return c.fails(invalidSerial)
	}
	owner := c.facts.owner(t, n)
	if owner.id != 0 && c.State.Entity(longZero(owner.id)) == nil {
		return c.fails(invalidSerial)
	}
	return c.answers(c.facts.address(owner))
}

// noSuchURI is the URI of a serial that does not exist.
const noSuchURI = "ERC721Metadata: URI query for nonexistent token"

func tokenURI(c *call, in []any) evm.Outcome {
	t, rest := c.tokenOf(in)
	switch {
	case t == nil:
		return c.fails(invalidTokenID)
	case t.Type != ledger.TokenNonFungibleUnique:
		return evm.Halt(evm.ContractExecutionException)
	}
	n := c.facts.nft(t, serialOf(rest[0]))
	if n == nil {
		return c.answers(noSuchURI)
	}
	return c.answers(strings.ToValidUTF8(string(n.metadata), "\uFFFD"))
}

func isAssociated(c *call, in []any) evm.Outcome {
	c.prefetch(c.entity, c.Caller)
	t, _ := c.tokenOf(in)
	if t == nil {
		return c.fails(invalidTokenID)
	}
	p, ok := c.facts.party(c.Caller)
	return c.answers(ok && c.facts.relation(p, t).associated)
}

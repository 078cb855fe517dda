package system

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// facadeReads returns the read-only functions of the address of a token: those of ERC-20 and ERC-721, and of the network.
func facadeReads() []*function {
	return []*function{
		{signature: "name()", returns: "string", run: ofToken(func(_ *call, t *token) []any { return []any{t.Name} })},
		{signature: "symbol()", returns: "string", run: ofToken(func(_ *call, t *token) []any { return []any{t.Symbol} })},
		{
			signature: "decimals()", returns: "uint8",
			run: reading(ledger.TokenFungibleCommon, func(c *call, t *token, _ []any) evm.Outcome { return c.answers(t.Decimals) }),
		},
		{signature: "totalSupply()", returns: "uint256", run: ofToken(func(_ *call, t *token) []any { return []any{t.TotalSupply} })},
		{signature: "balanceOf(address)", returns: "uint256", run: balanceOf},
		{signature: "allowance(address,address)", returns: "uint256", run: reading("", allowance)},
		{signature: "ownerOf(uint256)", returns: "address", run: readingSerial(ownerOf)},
		{signature: "tokenURI(uint256)", returns: "string", run: reading("", tokenURI)},
		{signature: "getApproved(uint256)", returns: "address", run: readingSerial(approved)},
		{signature: "isApprovedForAll(address,address)", returns: "bool", run: reading(ledger.TokenNonFungibleUnique, approvedForAll)},
		{signature: "isAssociated()", returns: "bool", run: isAssociated},
	}
}

func balanceOf(c *call, in []any) evm.Outcome {
	account := in[0].(common.Address)
	c.prefetch(c.entity, account)
	t, _ := c.tokenOf(in)
	if t == nil {
		return c.fails(codes.InvalidTokenID)
	}
	p, ok := c.facts.party(account)
	if !ok {
		return c.fails(codes.InvalidAccountID)
	}
	balance := int64(0)
	if r := c.facts.relation(p, t); r.associated {
		balance = r.balance
	}
	return c.answers(balance)
}

func ownerOf(c *call, t *token, n *nft, _ int64) evm.Outcome {
	owner := c.facts.owner(t, n)
	if owner.id != 0 && c.State.Entity(longZero(owner.id)) == nil {
		return c.fails(codes.InvalidTokenNFTSerialNumber)
	}
	return c.answers(c.facts.address(owner))
}

// noSuchURI is the URI of a serial that does not exist.
const noSuchURI = "ERC721Metadata: URI query for nonexistent token"

func tokenURI(c *call, t *token, in []any) evm.Outcome {
	if t.Type != ledger.TokenNonFungibleUnique {
		return evm.Halt(codes.ContractExecutionException)
	}
	n := c.facts.nft(t, serialOf(in[0]))
	if n == nil {
		return c.answers(noSuchURI)
	}
	return c.answers(strings.ToValidUTF8(string(n.metadata), "\uFFFD"))
}

func isAssociated(c *call, in []any) evm.Outcome {
	c.prefetch(c.entity, c.Caller)
	t, _ := c.tokenOf(in)
	if t == nil {
		return c.fails(codes.InvalidTokenID)
	}
	p, ok := c.facts.party(c.Caller)
	return c.answers(ok && c.facts.relation(p, t).associated)
}

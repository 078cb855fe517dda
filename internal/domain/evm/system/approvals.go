package system

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// approve lets a spender transfer units of the caller, or one serial. For NFTs the number is the serial, and the zero address clears the approval.
func approve(c *call, in []any) []any {
	t, rest := c.activeToken(in)
	if t.Type == ledger.TokenNonFungibleUnique {
		return approveSerial(c, t, rest[0].(common.Address), rest[1].(*big.Int))
	}
	owner, at := c.caller(), rest[0].(common.Address)
	amount, _ := amountOf(rest[1])
	spender, ok := c.facts.party(at)
	failIf(!ok, codes.InvalidAllowanceSpenderID)
	failIf(owner == spender, codes.SpenderAccountSameAsOwner)
	failIf(t.SupplyType == ledger.SupplyFinite && amount > t.MaxSupply, codes.AmountExceedsTokenMaxSupply)
	failIf(!c.facts.relation(owner, t).associated, codes.TokenNotAssociatedToAccount)
	change(c.facts, c.facts.allowance(owner, spender, t), amount)
	c.log(t, "Approval(address,address,uint256)", []common.Hash{topic(c.Caller), topic(at)}, word(amount))
	return []any{true}
}

func approveSerial(c *call, t *token, at common.Address, serial *big.Int) []any {
	n := c.facts.nft(t, serialOf(serial))
	failIf(n == nil, codes.InvalidTokenNFTSerialNumber)
	owner, by := c.facts.owner(t, n), c.caller()
	failIf(by != owner && !*c.facts.operator(owner, by, t), codes.DelegatingSpenderDoesNotHaveApproveForAll)
	var spender party
	if at != (common.Address{}) {
		var ok bool
		spender, ok = c.facts.party(at)
		failIf(!ok, codes.InvalidAllowanceSpenderID)
		failIf(spender == owner, codes.SpenderAccountSameAsOwner)
	}
	change(c.facts, &n.spender, spender)
	c.log(t, "Approval(address,address,uint256)", []common.Hash{topic(c.facts.address(owner)), topic(at), topic(serial)}, nil)
	return nil
}

// approveOf is the operation of approve for tokens of one type. Other tokens fail with a code.
func approveOf(kind ledger.TokenType, otherwise ledger.ResponseCode) operation {
	return func(c *call, in []any) []any {
		t, _ := c.activeToken(in)
		failIf(t.Type != kind, otherwise)
		return approve(c, in)
	}
}

// setApprovalForAll lets an operator transfer all serials of the caller, or revokes that.
func setApprovalForAll(c *call, in []any) []any {
	t, rest := c.activeToken(in)
	owner, at, all := c.caller(), rest[0].(common.Address), rest[1].(bool)
	operator, ok := c.facts.party(at)
	failIf(t.Type != ledger.TokenNonFungibleUnique, codes.FungibleTokenInNFTAllowances)
	failIf(!ok, codes.InvalidAllowanceSpenderID)
	failIf(owner == operator, codes.SpenderAccountSameAsOwner)
	failIf(!c.facts.relation(owner, t).associated, codes.TokenNotAssociatedToAccount)
	change(c.facts, c.facts.operator(owner, operator, t), all)
	word := abi.Word(all)
	c.log(t, "ApprovalForAll(address,address,bool)", []common.Hash{topic(c.Caller), topic(at)}, word[:])
	return nil
}

// bounded makes a function halt if an argument exceeds the range of amounts, as for invalid input.
func bounded(at int, run func(*call, []any) evm.Outcome) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		if n := in[at].(*big.Int); !n.IsInt64() {
			return evm.Halt(codes.ContractExecutionException)
		}
		return run(c, in)
	}
}

// approval approves at the address of a token. For units it returns true, for a serial nothing.
func approval(c *call, in []any) evm.Outcome {
	code, values := c.do(approve, in)
	switch {
	case code != codes.Success:
		return c.reverts(code)
	case values == nil:
		return evm.Return(c.gas(), nil)
	}
	return c.returns(values...)
}

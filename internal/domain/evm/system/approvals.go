package system

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
)

// approve lets a spender transfer units of the caller, or one serial. For NFTs the number is the serial, and the zero address clears the approval.
func approve(c *call, in []any) (ledger.ResponseCode, []any) {
	t, rest, code := c.activeToken(in)
	if code != success {
		return code, nil
	}
	if t.Type == ledger.TokenNonFungibleUnique {
		return approveSerial(c, t, rest[0].(common.Address), rest[1].(*big.Int))
	}
	owner, at := c.caller(), rest[0].(common.Address)
	amount, _ := amountOf(rest[1])
	spender, ok := c.facts.party(at)
	switch {
	case !ok:
		return invalidAllowanceSpender, nil
	case owner == spender:
		return spenderSameAsOwner, nil
	case t.SupplyType == finite && amount > t.MaxSupply:
		return amountExceedsMaxSupply, nil
	case !c.facts.relation(owner, t).associated:
		return notAssociated, nil
	}
	change(c.facts, c.facts.allowance(owner, spender, t), amount)
	c.log(t, "Approval(address,address,uint256)", []common.Hash{topic(c.Caller), topic(at)}, word(amount))
	return success, []any{true}
}

func approveSerial(c *call, t *token, at common.Address, serial *big.Int) (ledger.ResponseCode, []any) {
	n := c.facts.nft(t, serialOf(serial))
	if n == nil {
		return invalidSerial, nil
	}
	owner, by := c.facts.owner(t, n), c.caller()
	if by != owner && !*c.facts.operator(owner, by, t) {
		return delegatingSpenderNotPermitted, nil
	}
	var spender party
	if at != (common.Address{}) {
		var ok bool
		if spender, ok = c.facts.party(at); !ok {
			return invalidAllowanceSpender, nil
		}
		if spender == owner {
			return spenderSameAsOwner, nil
		}
	}
	change(c.facts, &n.spender, spender)
	c.log(t, "Approval(address,address,uint256)", []common.Hash{topic(c.facts.address(owner)), topic(at), topic(serial)}, nil)
	return success, nil
}

// approveOf is the operation of approve for tokens of one type. Other tokens fail with a code.
func approveOf(kind ledger.TokenType, otherwise ledger.ResponseCode) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, _, code := c.activeToken(in)
		switch {
		case code != success:
			return code, nil
		case t.Type != kind:
			return otherwise, nil
		}
		return approve(c, in)
	}
}

// setApprovalForAll lets an operator transfer all serials of the caller, or revokes that.
func setApprovalForAll(c *call, in []any) (ledger.ResponseCode, []any) {
	t, rest, code := c.activeToken(in)
	if code != success {
		return code, nil
	}
	owner, at, all := c.caller(), rest[0].(common.Address), rest[1].(bool)
	operator, ok := c.facts.party(at)
	switch {
	case t.Type != ledger.TokenNonFungibleUnique:
		return fungibleInNFTAllowances, nil
	case !ok:
		return invalidAllowanceSpender, nil
	case owner == operator:
		return spenderSameAsOwner, nil
	case !c.facts.relation(owner, t).associated:
		return notAssociated, nil
	}
	change(c.facts, c.facts.operator(owner, operator, t), all)
	word := abi.Word(all)
	c.log(t, "ApprovalForAll(address,address,bool)", []common.Hash{topic(c.Caller), topic(at)}, word[:])
	return success, nil
}

// bounded makes a function halt if an argument exceeds the range of amounts, as for invalid input.
func bounded(at int, run func(*call, []any) evm.Outcome) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		if n := in[at].(*big.Int); !n.IsInt64() {
			return evm.Halt(evm.ContractExecutionException)
		}
		return run(c, in)
	}
}

// approval approves at the address of a token. For units it returns true, for a serial nothing.
func approval(c *call, in []any) evm.Outcome {
	code, values := c.do(approve, in)
	switch {
	case code != success:
		return c.reverts(code)
	case values == nil:
		return evm.Return(c.gas(), nil)
	}
	return c.returns(values...)
}

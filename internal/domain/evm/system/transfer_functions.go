package system

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// units moves an amount of a token between two accounts.
func (c *call) units(t *token, from, to any, amount int64, approved bool) movement {
	giver, taker := c.party(from, false), c.party(to, true)
	return movement{token: t, moves: []move{{party: giver, amount: -amount, approved: approved && giver != c.caller()}, {party: taker, amount: amount}}}
}

// serials moves serials of a token between accounts.
func (c *call) serials(t *token, from, to, numbers []any, approved bool) movement {
	m := movement{token: t}
	failIf(len(from) != len(to) || len(to) != len(numbers), codes.InvalidTransactionBody)
	for i := range numbers {
		giver, taker := c.party(from[i], false), c.party(to[i], true)
		m.serials = append(m.serials, serialMove{from: giver, to: taker, serial: numbers[i].(int64), approved: approved && giver != c.caller()})
	}
	return m
}

// sends returns an operation that transfers one token.
func sends(what func(c *call, t *token, in []any) movement) operation {
	return func(c *call, in []any) []any {
		t, rest := c.activeToken(in)
		return c.transfer(&transfer{tokens: []movement{what(c, t, rest)}})
	}
}

// transferToken(token, from, to, amount)
func oneAmount(c *call, t *token, in []any) movement {
	amount := in[2].(int64)
	failIf(amount < 0, codes.InvalidTransactionBody)
	return c.units(t, in[0], in[1], amount, false)
}

// transferTokens(token, accounts, amounts)
func amounts(c *call, t *token, in []any) movement {
	accounts, values := abi.List(in[0]), abi.List(in[1])
	m := movement{token: t}
	failIf(len(accounts) != len(values), codes.InvalidTransactionBody)
	for i, v := range values {
		m.moves = append(m.moves, move{party: c.party(accounts[i], v.(int64) > 0), amount: v.(int64)})
	}
	return m
}

// transferNFT(token, from, to, serial)
func oneSerial(c *call, t *token, in []any) movement {
	return c.serials(t, in[:1], in[1:2], in[2:3], false)
}

// transferNFTs(token, from, to, serials)
func manySerials(c *call, t *token, in []any) movement {
	return c.serials(t, abi.List(in[0]), abi.List(in[1]), abi.List(in[2]), false)
}

// taken is transferFrom(token, from, to, amount or serial). The caller uses its allowance.
func taken(c *call, t *token, in []any) movement {
	n := in[2].(*big.Int).Int64()
	if t.Type == ledger.TokenNonFungibleUnique {
		return c.serials(t, in[:1], in[1:2], []any{n}, true)
	}
	return c.units(t, in[0], in[1], n, true)
}

// takenOf is the operation of taken for tokens of one type.
func takenOf(kind ledger.TokenType) operation {
	return sends(func(c *call, t *token, in []any) movement {
		failIf(t.Type != kind, codes.InvalidTokenID)
		return taken(c, t, in)
	})
}

// announced returns a transfer at the address of a token. It emits a log. For NFTs it returns nothing.
func announced(from func(c *call, in []any) []any) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		in = from(c, in)
		if n := in[2].(*big.Int); !n.IsInt64() {
			return evm.Halt(codes.ContractExecutionException)
		}
		code, _ := c.do(func(c *call, in []any) []any {
			sends(taken)(c, in)
			t, parties := c.facts.token(c.entity), []common.Hash{topic(in[0]), topic(in[1])}
			if t.Type == ledger.TokenNonFungibleUnique {
				c.log(t, "Transfer(address,address,uint256)", append(parties, topic(in[2])), nil)
			} else {
				word := abi.Word(in[2])
				c.log(t, "Transfer(address,address,uint256)", parties, word[:])
			}
			return nil
		}, in)
		if code != codes.Success {
			return c.reverts(code)
		}
		if t := c.facts.token(c.entity); t != nil && t.Type == ledger.TokenNonFungibleUnique {
			return evm.Return(c.gas(), nil)
		}
		return c.returns(true)
	}
}

// itself returns the arguments of transferFrom.
func itself(_ *call, in []any) []any   { return in }
func ofCaller(c *call, in []any) []any { return append([]any{c.Caller}, in...) }

// onlyUnits makes a function fail for NFTs.
func onlyUnits(run func(*call, []any) evm.Outcome) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		if t := c.facts.token(c.entity); t != nil && t.PauseStatus != paused && t.Type != ledger.TokenFungibleCommon {
			return c.reverts(codes.AccountAmountTransfersOnlyAllowedForFungibleCommon)
		}
		return run(c, in)
	}
}

// cryptoTransfer transfers hbars and tokens at once. Its arguments are lists of tokens with their movements. The newer form has a list of hbar transfers
// before them, and reports which movements use an approval.
func cryptoTransfer(c *call, in []any) []any {
	x := &transfer{}
	if len(in) == 2 {
		x.hbars = c.amountsOf(abi.List(abi.List(in[0])[0]))
	}
	for _, v := range abi.List(in[len(in)-1]) {
		part := abi.List(v)
		t := c.activeTokenAt(part[0].(common.Address))
		x.tokens = append(x.tokens, movement{token: t, moves: c.amountsOf(abi.List(part[1])), serials: c.serialMovesOf(t, abi.List(part[2]))})
	}
	return c.transfer(x)
}

// serialMovesOf reads the transfers of serials of a token, with or without the flag for approvals.
func (c *call) serialMovesOf(t *token, values []any) []serialMove {
	var out []serialMove
	for _, v := range values {
		h := abi.List(v)
		out = append(out, c.serials(t, h[:1], h[1:2], h[2:3], len(h) > 3 && h[3].(bool)).serials...)
	}
	return out
}

// amountsOf reads the amounts of accounts, with or without the flag for approvals.
func (c *call) amountsOf(values []any) []move {
	var out []move
	for _, v := range values {
		part := abi.List(v)
		amount := part[1].(int64)
		out = append(out, move{party: c.party(part[0], amount > 0), amount: amount, approved: len(part) > 2 && part[2].(bool)})
	}
	return out
}

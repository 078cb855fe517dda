package system

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// operation is the body of a function that writes. It returns the return values, or fails by [failIf].
type operation func(c *call, in []any) []any

// failure is the panic value of an operation that fails: the response code. [call.do] recovers it.
type failure ledger.ResponseCode

// failIf makes the current operation fail with a response code if a condition is true.
func failIf(condition bool, code ledger.ResponseCode) {
	if condition {
		panic(failure(code))
	}
}

// withCode returns a function that returns the response code of an operation. An operation that fails changes nothing.
func withCode(do operation) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		return c.returns(append([]any{int64(code)}, values...)...)
	}
}

// orRevert returns a function that reverts with the response code of an operation that fails.
func orRevert(do operation) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		if code != codes.Success {
			return c.reverts(code)
		}
		return c.returns(values...)
	}
}

// do runs an operation and undoes its changes if it fails.
func (c *call) do(do operation, in []any) (code ledger.ResponseCode, values []any) {
	mark := c.State.Snapshot()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			code = ledger.ResponseCode(p)
			c.State.RevertToSnapshot(mark)
			c.ChildFailed(code)
		default:
			panic(p) // the simulation was aborted, or a bug
		}
	}()
	return codes.Success, do(c, in)
}

// keyed returns an operation on an active token that has a key of the given kind.
func keyed(key worldstate.KeyKind, do func(c *call, t *token, in []any) []any) operation {
	return func(c *call, in []any) []any {
		t, rest := c.activeToken(in)
		t.requireKey(key)
		return do(c, t, rest)
	}
}

// activeToken returns the token of a call and the remaining arguments. The token must not be paused.
func (c *call) activeToken(in []any) (*token, []any) {
	a := c.entity
	if !c.redirect {
		a, in = in[0].(common.Address), in[1:]
	}
	return c.activeTokenAt(a), in
}

func (c *call) activeTokenAt(a common.Address) *token {
	t := c.existingToken(a)
	failIf(t.PauseStatus == paused, codes.TokenIsPaused)
	return t
}

// existingToken returns the token at an address, paused or not.
func (c *call) existingToken(a common.Address) *token {
	t := c.facts.token(a)
	id, ok := c.facts.tokenID(a)
	failIf(t == nil && ok && c.facts.tokens[id] != nil, codes.TokenWasDeleted)
	failIf(t == nil, codes.InvalidTokenID)
	return t
}

// Pause statuses and types of supplies as the ledger names them.
const (
	finite   ledger.TokenSupplyType = "FINITE"
	infinite ledger.TokenSupplyType = "INFINITE"

	pauseless ledger.TokenPauseStatus = "NOT_APPLICABLE"
	paused    ledger.TokenPauseStatus = "PAUSED"
	unpaused  ledger.TokenPauseStatus = "UNPAUSED"
)

func (c *call) caller() party {
	p, ok := c.facts.party(c.Caller)
	if !ok {
		return party{address: c.Caller}
	}
	return p
}

// held returns the association of an account with a token. It fails without one.
func (c *call) held(t *token, v any) (*relation, party) {
	p, ok := c.facts.party(v.(common.Address))
	failIf(!ok, codes.InvalidAccountID)
	r := c.facts.relation(p, t)
	failIf(!r.associated, codes.TokenNotAssociatedToAccount)
	return r, p
}

// log emits a log of a token.
func (c *call) log(t *token, event string, topics []common.Hash, data []byte) {
	c.State.AddLog(&types.Log{
		Address: longZero(t.EntityID), Topics: append([]common.Hash{crypto.Keccak256Hash([]byte(event))}, topics...), Data: data, BlockNumber: uint64(c.Block.Number),
	})
}

// topic returns an address or a number as a topic of a log.
func topic(v any) common.Hash { return abi.Word(v) }

// word returns a number as the data of a log.
func word(n int64) []byte {
	w := abi.Word(n)
	return w[:]
}

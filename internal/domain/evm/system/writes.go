package system

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// operation is the body of a function that writes. It returns a response code and, on success, the return values.
type operation func(c *call, in []any) (ledger.ResponseCode, []any)

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
		if code != success {
			return c.reverts(code)
		}
		return c.returns(values...)
	}
}

// do runs an operation and undoes its changes if it fails.
func (c *call) do(do operation, in []any) (ledger.ResponseCode, []any) {
	mark := c.State.Snapshot()
	code, values := do(c, in)
	if code != success {
		c.State.RevertToSnapshot(mark)
		c.ChildFailed(code)
		return code, nil
	}
	return success, values
}

// keyed returns an operation on an active token that has a key of the given kind.
func keyed(key worldstate.KeyKind, without ledger.ResponseCode, do func(c *call, t *token, in []any) (ledger.ResponseCode, []any)) operation {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, rest, code := c.activeToken(in)
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(key):
			return without, nil
		}
		return do(c, t, rest)
	}
}

// activeToken returns the token of a call and the remaining arguments. The token must not be paused.
func (c *call) activeToken(in []any) (*token, []any, ledger.ResponseCode) {
	a := c.entity
	if !c.redirect {
		a, in = in[0].(common.Address), in[1:]
	}
	t, code := c.activeTokenAt(a)
	return t, in, code
}

func (c *call) activeTokenAt(a common.Address) (*token, ledger.ResponseCode) {
	t, code := c.existingToken(a)
	if code == success && t.PauseStatus == paused {
		return nil, tokenIsPaused
	}
	return t, code
}

// existingToken returns the token at an address, paused or not.
func (c *call) existingToken(a common.Address) (*token, ledger.ResponseCode) {
	if t := c.facts.token(a); t != nil {
		return t, success
	}
	if id, ok := c.facts.tokenID(a); ok && c.facts.tokens[id] != nil {
		return nil, tokenWasDeleted
	}
	return nil, invalidTokenID
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
func (c *call) held(t *token, v any) (*relation, party, ledger.ResponseCode) {
	p, ok := c.facts.party(v.(common.Address))
	if !ok {
		return nil, p, invalidAccountID
	}
	r := c.facts.relation(p, t)
	if !r.associated {
		return nil, p, notAssociated
	}
	return r, p, success
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

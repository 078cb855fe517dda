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

// act is the body of a function that changes something: how it ended, and what it returns when it succeeded.
type act func(c *call, in []any) (ledger.ResponseCode, []any)

// classic makes a function that returns its response code, whatever that is. When it is not success, nothing has changed.
func classic(do act) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		return c.returns(append([]any{int64(code)}, values...)...)
	}
}

// strict makes a function that reverts with its response code when that is not success.
func strict(do act) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		code, values := c.do(do, in)
		if code != success {
			return c.reverts(code)
		}
		return c.returns(values...)
	}
}

// do runs the body of a function and undoes what it changed when it fails.
func (c *call) do(do act, in []any) (ledger.ResponseCode, []any) {
	mark := c.State.Snapshot()
	code, values := do(c, in)
	if code != success {
		c.State.RevertToSnapshot(mark)
		c.ChildFailed(code)
		return code, nil
	}
	return success, values
}

// keyed makes the body of a function that does something to a token which can be worked with, and which must have a key for it.
func keyed(key worldstate.KeyKind, without ledger.ResponseCode, do func(c *call, t *token, in []any) (ledger.ResponseCode, []any)) act {
	return func(c *call, in []any) (ledger.ResponseCode, []any) {
		t, rest, code := c.usable(in)
		switch {
		case code != success:
			return code, nil
		case !t.HasKey(key):
			return without, nil
		}
		return do(c, t, rest)
	}
}

// usable is the token that a function is about if it can be worked with, and what of the arguments is left. A paused token can not.
func (c *call) usable(in []any) (*token, []any, ledger.ResponseCode) {
	a := c.entity
	if !c.redirect {
		a, in = in[0].(common.Address), in[1:]
	}
	t, code := c.usableAt(a)
	return t, in, code
}

func (c *call) usableAt(a common.Address) (*token, ledger.ResponseCode) {
	t, code := c.present(a)
	if code == success && t.PauseStatus == paused {
		return nil, tokenIsPaused
	}
	return t, code
}

// present is the token at an address, paused or not.
func (c *call) present(a common.Address) (*token, ledger.ResponseCode) {
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

// caller is who called.
func (c *call) caller() party {
	p, ok := c.facts.party(c.Caller)
	if !ok {
		return party{address: c.Caller}
	}
	return p
}

// held is the association of an account with a token, if it is there.
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

// log tells the world of something that happened to a token.
func (c *call) log(t *token, event string, topics []common.Hash, data []byte) {
	c.State.AddLog(&types.Log{
		Address: longZero(t.EntityID), Topics: append([]common.Hash{crypto.Keccak256Hash([]byte(event))}, topics...), Data: data, BlockNumber: uint64(c.Block.Number),
	})
}

// topic is an address or a number as logs have it.
func topic(v any) common.Hash { return abi.Word(v) }

// word returns a number as the data of a log.
func word(n int64) []byte {
	w := abi.Word(n)
	return w[:]
}

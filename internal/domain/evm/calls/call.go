// Package calls has the values of contract calls in the graph: requests and their validation, results, gas estimates and traces.
package calls

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// ContractCallInput is a contract call. Addresses have 20 bytes or are nil.
type ContractCallInput struct {
	Block          string
	Data           []byte
	From           []byte
	Gas            int64
	GasPrice       int64
	To             []byte
	Value          int64
	StateOverrides []*StateOverrideInput
}

// StateOverrideInput replaces values of an account for a call.
type StateOverrideInput struct {
	Address   []byte
	Balance   []byte
	Code      []byte
	Nonce     []byte
	State     []*SlotValueInput
	StateDiff []*SlotValueInput
}

// SlotValueInput is a storage slot and its value.
type SlotValueInput struct {
	Key   []byte
	Value []byte
}

// ContractCall is the result of a call.
type ContractCall struct {
	BlockNumber int64
	Failure     *ContractCallFailure
	GasUsed     int64
	Output      []byte // nil if it failed
}

// GasEstimate is an estimate of the gas of a call.
type GasEstimate struct {
	BlockNumber int64
	Failure     *ContractCallFailure
	Gas         ledger.Null[int64]
}

// GasHex returns the gas as "0x" and 16 hex digits, or null if the call fails.
func (e *GasEstimate) GasHex() ledger.Null[string] {
	if !e.Gas.Valid {
		return ledger.Null[string]{}
	}
	return ledger.Of(fmt.Sprintf("0x%016x", e.Gas.V))
}

// ContractCallFailure is the reason of a failed call.
type ContractCallFailure struct {
	Children []ledger.ResponseCode
	Code     ledger.ResponseCode
	Data     []byte
	Reason   ledger.Null[string]
}

// MinGas is the minimum gas of a call.
const MinGas = 21_000

// Limits of state overrides.
const (
	maxOverrideSlots = 100
	maxOverrideWord  = 8 // bytes of balances and nonces
)

// initCode matches initcode: code that copies its payload and returns it.
var initCode = regexp.MustCompile(`(60806040|60606040)[0-9a-f]*39[0-9a-f]*f3`)

// minInitCode is the minimum length of initcode in hex digits.
const minInitCode = 14

// Complaints are the rules that the input breaks, in the words of the REST API. Whether there may be so much gas, and overrides at all, others know.
func (c *ContractCallInput) Complaints() []string {
	var out []string
	complain := func(bad bool, text string) {
		if bad {
			out = append(out, text)
		}
	}
	complain(c.From != nil && len(c.From) != len(ledger.EVMAddress{}), "from field invalid hexadecimal string")
	complain(len(c.To) != 0 && len(c.To) != len(ledger.EVMAddress{}), "to field invalid hexadecimal string")
	complain(c.Gas < MinGas, "gas field must be greater than or equal to "+strconv.Itoa(MinGas))
	complain(c.GasPrice < 0, "gasPrice field must be greater than or equal to 0")
	complain(c.Value < 0, "value field must be greater than or equal to 0")
	switch {
	case c.Value <= 0:
	case c.From == nil:
		out = append(out, "from field must not be empty")
	case c.Callee().Valid:
	case !c.createsContract():
		out = append(out, "to field must not be empty")
	}
	for i, o := range c.StateOverrides {
		for _, text := range o.complaints() {
			out = append(out, fmt.Sprintf("stateOverrides[%d].%s", i, text))
		}
	}
	return out
}

// createsContract reports whether the data looks like initcode.
func (c *ContractCallInput) createsContract() bool {
	digits := string(ledger.AppendHex(nil, c.Data)[2:])
	return len(digits) >= minInitCode && initCode.MatchString(digits)
}

func (o *StateOverrideInput) complaints() []string {
	var out []string
	complain := func(bad bool, text string) {
		if bad {
			out = append(out, text)
		}
	}
	complain(len(o.Address) != len(ledger.EVMAddress{}), "address field invalid hexadecimal string")
	complain(len(o.Balance) > maxOverrideWord, "balance field invalid hexadecimal string")
	complain(len(o.Nonce) > maxOverrideWord, "nonce field invalid hexadecimal string")
	complain(o.State != nil && o.StateDiff != nil, "state and state_diff are mutually exclusive")
	for _, part := range []struct {
		name  string
		slots []*SlotValueInput
	}{{"state", o.State}, {"state_diff", o.StateDiff}} {
		complain(len(part.slots) > maxOverrideSlots, part.name+" size must be between 0 and "+strconv.Itoa(maxOverrideSlots))
		for _, s := range part.slots {
			complain(len(s.Key) != 32, part.name+" key field invalid hexadecimal string")
			complain(len(s.Value) != 32, part.name+" value field invalid hexadecimal string")
		}
	}
	return out
}

// Sender returns the sender, or null if there is none.
func (c *ContractCallInput) Sender() ledger.Null[ledger.EVMAddress] {
	a, ok := ledger.EVMAddressOf(c.From)
	return ledger.Null[ledger.EVMAddress]{V: a, Valid: ok}
}

// Callee returns the called contract, or null if the call creates a contract.
func (c *ContractCallInput) Callee() ledger.Null[ledger.EVMAddress] {
	a, ok := ledger.EVMAddressOf(c.To)
	return ledger.Null[ledger.EVMAddress]{V: a, Valid: ok && a != ledger.EVMAddress{}}
}

// overrideWord decodes a big-endian number of up to 8 bytes, null if b is nil.
func overrideWord(b []byte) ledger.Null[uint64] {
	if b == nil {
		return ledger.Null[uint64]{}
	}
	var w [maxOverrideWord]byte
	copy(w[max(0, len(w)-len(b)):], b)
	return ledger.Of(binary.BigEndian.Uint64(w[:]))
}

// BalanceValue returns the balance in tinybars.
func (o *StateOverrideInput) BalanceValue() ledger.Null[uint64] { return overrideWord(o.Balance) }

// NonceValue returns the nonce.
func (o *StateOverrideInput) NonceValue() ledger.Null[uint64] { return overrideWord(o.Nonce) }

var (
	decimalBlock = regexp.MustCompile(`^\d{1,20}$`)
	hexBlock     = regexp.MustCompile(`^0x[0-9a-f]{1,16}$`)
	hashBlock    = regexp.MustCompile(`^0x([0-9a-f]{64}|[0-9a-f]{96})$`)
)

// ParseBlockRef reads in which block something is run: a tag, a number in decimal or with "0x", or a hash with "0x". Errors have the words of the REST
// API.
func ParseBlockRef(s string) (worldstate.BlockRef, error) {
	low := strings.ToLower(s)
	switch low {
	case "", "latest", "pending", "safe", "finalized":
		return worldstate.BlockRef{}, nil
	case "earliest":
		return worldstate.BlockRef{Earliest: true}, nil
	}
	base, digits, kind := 10, low, "Decimal"
	switch {
	case decimalBlock.MatchString(low):
	case hexBlock.MatchString(low):
		base, digits, kind = 16, low[2:], "Hex"
	case hashBlock.MatchString(low):
		return worldstate.BlockRef{Hash: low[2:]}, nil
	default:
		return worldstate.BlockRef{}, fmt.Errorf("Invalid block value: %s", s) //nolint:staticcheck // words of the REST API
	}
	number, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		return worldstate.BlockRef{}, fmt.Errorf("%s value out of range for block: %s", kind, s)
	}
	return worldstate.BlockRef{Number: ledger.Of(number)}, nil
}

// Package calls has the values of contract calls in the graph: requests and their validation, results, gas estimates
// and traces.
package calls

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// GasHex returns the field gasHex of the schema: the gas as "0x" and 16 hex digits, or null if the call fails.
func (e *GasEstimate) GasHex() ledger.Null[string] {
	if !e.Gas.Valid {
		return ledger.Null[string]{}
	}
	return ledger.Of(fmt.Sprintf("0x%016x", e.Gas.V))
}

// MinGas is the minimum gas of a call.
const MinGas = 21_000

// Limits of state overrides.
const (
	MaxOverrides     = 10
	MaxOverrideSlots = 100
	maxOverrideWord  = 8  // bytes of balances and nonces
	wordLength       = 32 // bytes of keys and values of storage
)

// initCode matches initcode: code that copies its payload and returns it.
var initCode = regexp.MustCompile(`(60806040|60606040)[0-9a-f]*39[0-9a-f]*f3`)

// minInitCode is the minimum length of initcode in hex digits.
const minInitCode = 14

// Validate returns an error for each rule that the input violates, nil if there is none. The maximum gas and whether
// state overrides are allowed are settings of the service, which it does not check.
func (c *ContractCallInput) Validate() []*InputError {
	var v violations
	v.check(c.From == nil || len(c.From) == len(ledger.EVMAddress{}), InputError{Field: "from", Rule: ValidLength})
	v.check(len(c.To) == 0 || len(c.To) == len(ledger.EVMAddress{}), InputError{Field: "to", Rule: ValidLength})
	v.check(c.Gas >= MinGas, InputError{Field: "gas", Rule: AtLeast, Bound: MinGas})
	v.check(c.GasPrice >= 0, InputError{Field: "gasPrice", Rule: AtLeast})
	v.check(c.Value >= 0, InputError{Field: "value", Rule: AtLeast})
	switch {
	case c.Value <= 0:
	case c.From == nil:
		v.check(false, InputError{Field: "from", Rule: Required})
	case c.Callee().Valid:
	default:
		v.check(c.createsContract(), InputError{Field: "to", Rule: Required})
	}
	validateOverrides(c.StateOverrides, "", &v)
	return v
}

// validateOverrides adds the violations of state overrides to v. path is the path of the input object that has them,
// with a dot at its end, or empty.
func validateOverrides(list []*StateOverrideInput, path string, v *violations) {
	path += "stateOverrides"
	v.check(len(list) <= MaxOverrides, InputError{Field: path, Rule: MaxEntries, Bound: MaxOverrides})
	for i, o := range list {
		o.validate(path+"["+strconv.Itoa(i)+"]", v)
	}
}

// createsContract reports whether the data looks like initcode.
func (c *ContractCallInput) createsContract() bool {
	digits := string(ledger.AppendHex(nil, c.Data)[2:])
	return len(digits) >= minInitCode && initCode.MatchString(digits)
}

// validate adds the violations of one state override to v. path is its place in the input.
func (o *StateOverrideInput) validate(path string, v *violations) {
	v.check(len(o.Address) == len(ledger.EVMAddress{}), InputError{Field: path + ".address", Rule: ValidLength})
	v.check(len(o.Balance) <= maxOverrideWord, InputError{Field: path + ".balance", Rule: ValidLength})
	v.check(len(o.Nonce) <= maxOverrideWord, InputError{Field: path + ".nonce", Rule: ValidLength})
	v.check(o.State == nil || o.StateDiff == nil, InputError{Field: path, Rule: Exclusive})
	for _, part := range []struct {
		name  string
		slots []*SlotValueInput
	}{{".state", o.State}, {".stateDiff", o.StateDiff}} {
		v.check(len(part.slots) <= MaxOverrideSlots,
			InputError{Field: path + part.name, Rule: MaxEntries, Bound: MaxOverrideSlots})
		for _, s := range part.slots {
			v.check(len(s.Key) == wordLength, InputError{Field: path + part.name + ".key", Rule: ValidLength})
			v.check(len(s.Value) == wordLength, InputError{Field: path + part.name + ".value", Rule: ValidLength})
		}
	}
}

// Sender returns the sender, or null if there is none or From does not have the length of an address.
func (c *ContractCallInput) Sender() ledger.Null[ledger.EVMAddress] {
	a, ok := ledger.EVMAddressOf(c.From)
	return ledger.Null[ledger.EVMAddress]{V: a, Valid: ok}
}

// Callee returns the called contract, or null if the call creates a contract: To is empty or the zero address. It is
// also null if To does not have the length of an address.
func (c *ContractCallInput) Callee() ledger.Null[ledger.EVMAddress] {
	a, ok := ledger.EVMAddressOf(c.To)
	return ledger.Null[ledger.EVMAddress]{V: a, Valid: ok && a != ledger.EVMAddress{}}
}

// overrideWord decodes a big-endian number of up to 8 bytes, null if b is nil. Validate has checked its length.
func overrideWord(b []byte) ledger.Null[uint64] {
	if b == nil {
		return ledger.Null[uint64]{}
	}
	var w [maxOverrideWord]byte
	copy(w[max(0, len(w)-len(b)):], b)
	return ledger.Of(binary.BigEndian.Uint64(w[:]))
}

// BalanceValue returns the balance in tinybars, or null if the input has none.
func (o *StateOverrideInput) BalanceValue() ledger.Null[uint64] { return overrideWord(o.Balance) }

// NonceValue returns the nonce, or null if the input has none.
func (o *StateOverrideInput) NonceValue() ledger.Null[uint64] { return overrideWord(o.Nonce) }

var (
	decimalBlock = regexp.MustCompile(`^\d{1,20}$`)
	hexBlock     = regexp.MustCompile(`^0x[0-9a-f]{1,16}$`)
	hashBlock    = regexp.MustCompile(`^0x([0-9a-f]{64}|[0-9a-f]{96})$`)
)

// ParseBlockRef parses a block in which a contract runs: a tag, a number in decimal or hex with 0x, or a hash with
// 0x. An empty text and all tags except earliest are the newest block. Errors are a [BlockError].
func ParseBlockRef(s string) (worldstate.BlockRef, error) {
	low := strings.ToLower(s)
	switch low {
	case "", "latest", "pending", "safe", "finalized":
		return worldstate.BlockRef{}, nil
	case "earliest":
		return worldstate.BlockRef{Earliest: true}, nil
	}
	base, digits, problem := 10, low, DecimalRange
	switch {
	case decimalBlock.MatchString(low):
	case hexBlock.MatchString(low):
		base, digits, problem = 16, low[2:], HexRange
	case hashBlock.MatchString(low):
		return worldstate.BlockRef{Hash: low[2:]}, nil
	default:
		return worldstate.BlockRef{}, &BlockError{Block: s, Problem: BlockSyntax}
	}
	number, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		return worldstate.BlockRef{}, &BlockError{Block: s, Problem: problem}
	}
	return worldstate.BlockRef{Number: ledger.Of(number)}, nil
}

// The errors of calls that the service does not run.
var (
	ErrRequestRate       = errors.New("too many contract calls per second")
	ErrGasRate           = errors.New("too much gas per second")
	ErrRejected          = errors.New("a filter of the operator rejects the call")
	ErrOverridesDisabled = errors.New("state overrides are disabled")
	ErrTracesDisabled    = errors.New("traces are disabled on this server")
	ErrSimulateDisabled  = errors.New("simulations are disabled on this server")
	ErrPrestateDisabled  = errors.New("states before transactions are disabled on this server")
	ErrPrestateSize      = errors.New("the contracts have more than 10000000 bytes of code")
	ErrUnknownBlock      = errors.New("the block does not exist")
)

// InputError is a field of a [ContractCallInput] that violates a rule.
type InputError struct {
	// Field is the path of the field, such as "gas" or "stateOverrides[0].stateDiff.key".
	Field string
	Rule  Rule
	// Bound is the limit of the rules AtLeast, AtMost, MaxEntries and MaxCalls.
	Bound int64
}

// Rule is a rule for a field of a [ContractCallInput].
type Rule uint8

// The rules.
const (
	ValidLength Rule = iota // bytes of the length that the field requires
	AtLeast
	AtMost
	Required   // required in calls with a value
	Exclusive  // not both state and stateDiff
	MaxEntries // the maximum length of a list
	AnyCall    // at least one call in a simulation
	MaxCalls   // the maximum number of calls in a simulation
	// OneOfNumberAndTime allows a block of a simulation to replace its number or its time, not both.
	OneOfNumberAndTime
)

// texts are the texts of the rules. The first argument is the field, and the second one the bound.
var texts = [...]string{
	ValidLength:        "%[1]s has an invalid length",
	AtLeast:            "%[1]s must be at least %[2]d",
	AtMost:             "%[1]s must be at most %[2]d",
	Required:           "%[1]s is required if value is positive",
	Exclusive:          "%[1]s has both state and stateDiff",
	MaxEntries:         "%[1]s must have at most %[2]d entries",
	AnyCall:            "%[1]s must have at least one entry in all blocks together",
	MaxCalls:           "%[1]s must have at most %[2]d entries in all blocks together",
	OneOfNumberAndTime: "%[1]s cannot be combined with time",
}

// Error implements error in the terms of the schema, with the field and the bound.
func (e *InputError) Error() string { return fmt.Sprintf(texts[e.Rule], e.Field, e.Bound) }

type violations []*InputError

// check appends a pointer to a copy of e to v unless the rule is met.
func (v *violations) check(met bool, e InputError) {
	if !met {
		*v = append(*v, &e)
	}
}

// BlockError is an invalid [ContractCallInput.Block].
type BlockError struct {
	Block   string
	Problem BlockProblem
}

// BlockProblem is the reason why a block is invalid.
type BlockProblem uint8

// The reasons.
const (
	BlockSyntax  BlockProblem = iota // no number, hash or tag
	DecimalRange                     // a decimal number of more than 64 bits
	HexRange                         // a hex number of more than 64 bits
)

// Error returns the message for clients, with the block that they named, in the terms of the schema.
func (e *BlockError) Error() string {
	if e.Problem == BlockSyntax {
		return fmt.Sprintf("block %q is not a number, a hash with 0x, or a tag such as latest", e.Block)
	}
	return "block " + e.Block + " does not fit into 64 bits"
}

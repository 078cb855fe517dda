package calls

import (
	"errors"
	"fmt"
)

// The errors of calls that the service does not run.
var (
	ErrRequestRate       = errors.New("too many contract calls per second")
	ErrGasRate           = errors.New("too much gas per second")
	ErrRejected          = errors.New("a filter of the operator rejects the call")
	ErrOverridesDisabled = errors.New("state overrides are disabled")
	ErrTracesDisabled    = errors.New("traces are disabled")
	ErrUnknownBlock      = errors.New("the block does not exist")
)

// InputError is a field of a [ContractCallInput] that violates a rule.
type InputError struct {
	// Field is the path of the field, such as "gas" or "stateOverrides[0].stateDiff.key".
	Field string
	Rule  Rule
	// Bound is the limit of the rules AtLeast, AtMost and MaxEntries.
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
)

func (e *InputError) Error() string {
	switch e.Rule {
	case ValidLength:
		return e.Field + " has an invalid length"
	case AtLeast:
		return fmt.Sprintf("%s must be at least %d", e.Field, e.Bound)
	case AtMost:
		return fmt.Sprintf("%s must be at most %d", e.Field, e.Bound)
	case Required:
		return e.Field + " is required if value is positive"
	case Exclusive:
		return e.Field + " has both state and stateDiff"
	case MaxEntries:
		return fmt.Sprintf("%s must have at most %d entries", e.Field, e.Bound)
	}
	return e.Field + " is invalid"
}

type violations []*InputError

// check adds e unless the rule is met.
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

func (e *BlockError) Error() string {
	if e.Problem == BlockSyntax {
		return fmt.Sprintf("block %q is not a number, a hash with 0x, or a tag such as latest", e.Block)
	}
	return "block " + e.Block + " does not fit into 64 bits"
}

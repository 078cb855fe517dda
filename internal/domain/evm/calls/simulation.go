package calls

import (
	"math"
	"slices"
	"strconv"
)

// Limits of simulations.
const (
	MaxSimulatedBlocks = 16
	MaxSimulatedCalls  = 16
	MaxSimulatedData   = 150_000 // bytes
	maxSimulatedTime   = math.MaxInt64 / 1_000_000_000
)

// GasUsedHex returns the gas used as "0x" and hex digits.
func (c *SimulatedCall) GasUsedHex() string { return "0x" + strconv.FormatInt(c.GasUsed, 16) }

// Status returns the status in the form of an Ethereum receipt: "0x1" if the call succeeded, else "0x0".
func (c *SimulatedCall) Status() string {
	if c.Failure != nil {
		return "0x0"
	}
	return "0x1"
}

// Removed returns false, for the field removed of the schema, which Ethereum clients expect.
func (l *SimulatedLog) Removed() bool { return false }

// Call returns the call as a new input of a single call, without block and state overrides.
func (c *SimulatedCallInput) Call() *ContractCallInput {
	return &ContractCallInput{Data: c.Data, From: c.From, Gas: c.Gas, GasPrice: c.GasPrice, To: c.To, Value: c.Value}
}

// Calls returns the calls of all blocks in order, as new inputs of single calls.
func (s *SimulationInput) Calls() []*ContractCallInput {
	var all []*ContractCallInput
	for _, b := range s.Blocks {
		for _, c := range b.Calls {
			all = append(all, c.Call())
		}
	}
	return all
}

// HasOverrides reports whether a block has state overrides, which a setting of the service can forbid.
func (s *SimulationInput) HasOverrides() bool {
	return slices.ContainsFunc(s.Blocks, func(b *SimulatedBlockInput) bool { return len(b.StateOverrides) > 0 })
}

// Validate returns an error for each rule that the input violates, nil if there is none. The maximum gas and whether
// state overrides are allowed are settings of the service, which it does not check. Once there are too many calls, it
// does not check those of the same block and of later ones.
func (s *SimulationInput) Validate() []*InputError {
	var v violations
	v.check(
		len(s.Blocks) <= MaxSimulatedBlocks,
		InputError{Field: "blocks", Rule: MaxEntries, Bound: MaxSimulatedBlocks},
	)
	total := 0
	for i, b := range s.Blocks {
		path := "blocks[" + strconv.Itoa(i) + "]."
		v.check(b.Number == nil || *b.Number >= 0, InputError{Field: path + "number", Rule: AtLeast})
		v.check(b.Time == nil || *b.Time >= 0, InputError{Field: path + "time", Rule: AtLeast})
		v.check(
			b.Time == nil || *b.Time <= maxSimulatedTime,
			InputError{Field: path + "time", Rule: AtMost, Bound: maxSimulatedTime},
		)
		v.check(b.Number == nil || b.Time == nil, InputError{Field: path + "number", Rule: OneOfNumberAndTime})
		validateOverrides(b.StateOverrides, path, &v)
		total += len(b.Calls)
		if total > MaxSimulatedCalls {
			continue // it is rejected below
		}
		for j, c := range b.Calls {
			path := path + "calls[" + strconv.Itoa(j) + "]."
			v.check(len(c.Data) <= MaxSimulatedData, InputError{Field: path + "data", Rule: ValidLength})
			for _, e := range c.Call().Validate() {
				e.Field = path + e.Field
				v = append(v, e)
			}
		}
	}
	v.check(total > 0, InputError{Field: "calls", Rule: AnyCall})
	v.check(total <= MaxSimulatedCalls, InputError{Field: "calls", Rule: MaxCalls, Bound: MaxSimulatedCalls})
	return v
}

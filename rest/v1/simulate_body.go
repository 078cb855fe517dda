package v1

import (
	"errors"
	"slices"
	"strconv"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// The most bytes of a word in hex digits: of amounts, and of parts of access lists and signatures.
const maxSimulateWord = 64

// simulateBody reads the body of a simulation.
type simulateBody struct {
	callBody
	simulation calls.SimulationInput
}

// bindSimulate reads the body of POST /contracts/simulate into the variable input. All violations are reported in one
// 400, sorted. Malformed JSON, a value of another JSON type, and an invalid block are a 400 with one message.
func bindSimulate(r *rest.Request, body []byte) error {
	var s simulateBody
	// The number of tokens has no limit of its own: a simulation has many calls.
	if err := parseBody(body, MaxCallBody, s.read); err != nil {
		return err
	}
	s.violations = append(s.violations, inputTexts(s.simulation.Validate())...)
	if len(s.violations) > 0 {
		return rest.ModernBadAll(slices.Compact(slices.Sorted(slices.Values(s.violations)))...)
	}
	r.Set("input", s.variables())
	return nil
}

// read converts a decoded document, the body of POST /contracts/simulate, to s.simulation. Violations are collected in
// s, and a value of another JSON type, or an invalid block, is the error, which is reported alone. It ignores unknown
// members.
func (s *simulateBody) read(tree any) error {
	m, in := s.membersOf(tree, "the document"), &s.simulation
	in.Block = m.text("block").Or("latest")
	in.TraceTransfers = m.boolean("trace_transfers")
	if s.err != nil {
		return s.err
	}
	_, err := calls.ParseBlockRef(in.Block)
	if err != nil {
		return errors.New(blockText(err))
	}
	s.require(m, "block_state_calls", "blockStateCalls")
	in.Blocks = list.Map(m.list("block_state_calls"), s.block)
	return s.err
}

// require collects a violation in s if a member is missing or null. field is the name of the member in the message.
func (s *simulateBody) require(m members, name, field string) {
	if m.values[name] == nil {
		s.violations = append(s.violations, field+" field must not be null")
	}
}

// block returns an entry of block_state_calls as the input of the document. What is invalid in it is added to the
// errors in s.
func (s *simulateBody) block(entry any) *calls.SimulatedBlockInput {
	m := s.membersOf(entry, "an entry of block_state_calls")
	s.require(m, "calls", "calls")
	out := &calls.SimulatedBlockInput{Calls: list.Map(m.list("calls"), s.call), StateOverrides: s.overrides(m)}
	if m.values["block_override"] != nil {
		override := s.membersOf(m.values["block_override"], "block_override")
		out.Number, out.Time = override.quantity("number").Pointer(), override.quantity("time").Pointer()
	}
	return out
}

// call returns an entry of calls. Members that the simulation does not use, such as signatures, are checked and
// dropped. Errors are collected in s.
func (s *simulateBody) call(entry any) *calls.SimulatedCallInput {
	m := s.membersOf(entry, "an entry of calls")
	price := m.quantity("gasPrice")
	if !price.Valid {
		price = m.quantity("gas_price")
	}
	s.hexWord(m, "max_fee_per_gas", "maxFeePerGas")
	for _, entry := range m.list("access_list") {
		access := s.membersOf(entry, "an entry of access_list")
		s.address(access.text("address"), "address", false)
		for _, key := range access.list("storage_keys") {
			s.hexWord(members{map[string]any{"key": key}, &s.callBody}, "key", "storageKeys")
		}
	}
	for _, entry := range m.list("authorization_list") {
		authorization := s.membersOf(entry, "an entry of authorization_list")
		s.address(authorization.text("address"), "address", false)
		for _, name := range []string{"r", "s"} {
			s.hexWord(authorization, name, name)
		}
		for _, name := range []string{"chain_id", "nonce", "y_parity"} {
			authorization.quantity(name)
		}
	}
	return &calls.SimulatedCallInput{
		Data: s.data(
			m.text("data"),
		), From: s.address(m.text("from"), "from", false), To: s.address(m.text("to"), "to", true),
		Gas: m.quantity("gas").Or(defaultCallGas), GasPrice: price.V, Value: m.quantity("value").V,
	}
}

// hexWord collects a violation in s if a member has invalid or too many hex digits. field is the name of the member in
// the message.
func (s *simulateBody) hexWord(m members, name, field string) {
	if len(trimPrefix(m.text(name).V)) > maxSimulateWord {
		s.violations = append(s.violations, inputText(&calls.InputError{Field: field}))
		return
	}
	s.word(m.text(name), field)
}

// quantity returns a number member, given as a number, as decimal digits or as hex digits with 0x, or null. Another
// value is an error of the body, and the result is then of no use.
func (m members) quantity(name string) ledger.Null[int64] {
	text := m.text(name)
	if !text.Valid {
		return ledger.Null[int64]{}
	}
	digits, base := text.V, 10
	if short := trimPrefix(text.V); short != text.V {
		digits, base = short, 16
	}
	n, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		m.call.fail(name, "64-bit integer")
	}
	return ledger.Of(n)
}

// variables returns the simulation that [simulateBody.read] has read as the value of the variable input of the
// document.
func (s *simulateBody) variables() map[string]any {
	in := &s.simulation
	return map[string]any{
		"block": in.Block, "traceTransfers": in.TraceTransfers,
		"blocks": list.Map(in.Blocks, func(b *calls.SimulatedBlockInput) any {
			v := map[string]any{
				"calls": list.Map(
					b.Calls,
					func(c *calls.SimulatedCallInput) any { return callVariables(c.Call()) },
				),
				"stateOverrides": overrideVariables(b.StateOverrides),
			}
			for name, n := range map[string]*int64{"number": b.Number, "time": b.Time} {
				if n != nil {
					v[name] = strconv.FormatInt(*n, 10)
				}
			}
			return v
		}),
	}
}

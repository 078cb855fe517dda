package v1

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
)

// Limits of the JSON of calls.
const (
	MaxCallBody    = 2*131_072 + 1024
	maxCallDepth   = 10
	maxCallDigits  = 19
	maxCallName    = 100
	maxCallTokens  = 100
	maxDataDigits  = 300_000
	addressDigits  = 40
	maxWordDigits  = 16 // of balances and nonces in hex
	defaultCallGas = 15_000_000
)

// readJSON decodes a JSON document. Objects become map[string]any, numbers json.Number. It fails if the document is
// malformed, or has more than maxTokens tokens or exceeds the other limits of calls. It accepts invalid UTF-8 and
// repeated names, of which the last value counts.
func readJSON(body []byte, maxTokens int) (v any, _ error) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	for n := 0; ; n++ {
		t, err := d.ReadToken()
		within, length := d.StackIndex(d.StackDepth())
		switch {
		case errors.Is(err, io.EOF) && length == 1:
			dec := json.NewDecoder(bytes.NewReader(body))
			dec.UseNumber()
			err = dec.Decode(&v)
			return v, wrap.Error(err, "malformed document")
		case err != nil:
			return nil, fmt.Errorf("malformed document: %w", err)
		case n >= maxTokens:
			return nil, fmt.Errorf("the document has more than %d tokens", maxTokens)
		case d.StackDepth() > maxCallDepth:
			return nil, fmt.Errorf("the document is nested more than %d times", maxCallDepth)
		case within == 0 && length > 1:
			return nil, errors.New("something follows the document")
		case within == '{' && length%2 == 1 && len(t.String()) > maxCallName:
			return nil, fmt.Errorf("a name has more than %d characters", maxCallName)
		case t.Kind() == '0' && len(strings.Trim(t.String(), "-")) > maxCallDigits:
			return nil, fmt.Errorf("a number has more than %d digits", maxCallDigits)
		}
	}
}

type callBody struct {
	input      calls.ContractCallInput
	estimate   bool
	violations []string
	// err is the first member with a value of another type. Unlike a violation, it is reported alone.
	err error
}

// read converts a decoded document, the body of POST /contracts/call, to the call c.input and c.estimate. Violations
// are collected in c, and a value of another JSON type, or an invalid block, is the error, which is reported alone. It
// ignores unknown members.
func (c *callBody) read(tree any) error {
	m, in := c.membersOf(tree, "the document"), &c.input
	in.Block = m.text("block").Or("latest")
	c.estimate = m.boolean("estimate")
	in.Gas, in.GasPrice, in.Value = m.number("gas", defaultCallGas), m.number("gasPrice", 0), m.number("value", 0)
	in.Data = c.data(m.text("data"))
	in.From = c.address(m.text("from"), "from", false)
	in.To = c.address(m.text("to"), "to", true)
	if c.err != nil {
		return c.err
	}
	_, err := calls.ParseBlockRef(in.Block)
	if err != nil {
		return errors.New(blockText(err))
	}
	in.StateOverrides = c.overrides(m)
	return c.err
}

// overrides returns the state overrides of a call or of a simulated block in m. Errors are collected in c.
func (c *callBody) overrides(m members) []*calls.StateOverrideInput {
	if v, given := m.values["state_overrides"]; given && v == nil {
		c.violations = append(c.violations, "stateOverrides field must not be null")
	}
	return list.Map(m.list("state_overrides"), c.override)
}

// data returns the bytes of the call's data: an empty slice if the text is missing or empty, and nil if it is invalid.
// A violation is collected in c.
func (c *callBody) data(text ledger.Null[string]) []byte {
	digits := trimPrefix(text.V)
	switch b, err := ledger.ParseHex("0x" + digits); {
	case len(digits) > maxDataDigits || !ledger.IsHex(digits) && digits != "":
		c.violations = append(c.violations, "data field invalid hexadecimal string")
	case len(digits)%2 != 0:
		c.violations = append(c.violations, "Odd number of characters.")
	case err == nil:
		return b
	}
	return nil
}

// address returns the 20 bytes of an address. It returns nil if the text is missing, or is empty and mayBeEmpty is
// set. An invalid address is collected in c as a violation, and the result is 20 zero bytes, so that the address
// counts as given.
func (c *callBody) address(text ledger.Null[string], name string, mayBeEmpty bool) []byte {
	if !text.Valid || mayBeEmpty && text.V == "" {
		return nil
	}
	digits := trimPrefix(text.V)
	if b, err := ledger.ParseHex("0x" + digits); err == nil && len(digits) == addressDigits {
		return b
	}
	c.violations = append(c.violations, name+" field invalid hexadecimal string")
	return make([]byte, len(ledger.EVMAddress{}))
}

// trimPrefix returns s without "0x" or "0X" at its start, for hex in the bodies of calls.
func trimPrefix(s string) string {
	if len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return s[2:]
	}
	return s
}

// override returns an entry of state_overrides as the input of the document. What is invalid in it is added to the
// errors in c.
func (c *callBody) override(entry any) *calls.StateOverrideInput {
	m := c.membersOf(entry, "an entry of state_overrides")
	return &calls.StateOverrideInput{
		Address: c.word(m.text("address"), "address"), Balance: c.amount(m, "balance"),
		Code: c.word(m.text("code"), "code"), Nonce: c.amount(m, "nonce"), State: c.slots(m, "state"),
		StateDiff: c.slots(m, "state_diff"),
	}
}

// amount returns a balance or nonce as 8 bytes: a number, decimal digits, or up to 16 hex digits with 0x. It
// returns nil if there is none or it is invalid, which is collected in c.
func (c *callBody) amount(m members, name string) []byte {
	text := m.text(name)
	if !text.Valid {
		return nil
	}
	digits, base, bits := text.V, 10, 63
	if short := trimPrefix(text.V); short != text.V && len(short) <= maxWordDigits {
		digits, base, bits = short, 16, 64
	}
	if n, err := strconv.ParseUint(digits, base, bits); err == nil {
		return binary.BigEndian.AppendUint64(nil, n)
	}
	negative, err := strconv.ParseInt(digits, base, 64)
	_, isNumber := m.values[name].(json.Number)
	switch {
	case err == nil && negative < 0:
		c.violations = append(c.violations, inputText(&calls.InputError{Field: name, Rule: calls.AtLeast}))
	case isNumber:
		c.fail(name, "64-bit integer")
	default:
		c.violations = append(c.violations, inputText(&calls.InputError{Field: name}))
	}
	return nil
}

// slots returns a list of storage slots with values, or nil if it is missing. Errors are collected in c.
func (c *callBody) slots(m members, name string) []*calls.SlotValueInput {
	if m.values[name] == nil {
		return nil
	}
	return list.Map(m.list(name), func(entry any) *calls.SlotValueInput {
		m := c.membersOf(entry, "an entry of "+name)
		return &calls.SlotValueInput{Key: c.word(m.text("key"), "key"), Value: c.word(m.text("value"), "value")}
	})
}

// word returns the bytes of hex digits, with a leading zero if their number is odd. It returns nil without text and
// for other text. A violation is collected in c.
func (c *callBody) word(text ledger.Null[string], name string) []byte {
	if !text.Valid {
		return nil
	}
	digits := trimPrefix(text.V)
	b, err := ledger.ParseHex("0x" + strings.Repeat("0", len(digits)%2) + digits)
	if err != nil {
		c.violations = append(c.violations, inputText(&calls.InputError{Field: name}))
	}
	return b
}

// fail records in c.err, unless it has an error, that a value is not of the required kind.
func (c *callBody) fail(name, kind string) {
	c.err = cmp.Or(c.err, fmt.Errorf("%s is no %s", name, kind))
}

// members are the members of an object of a call. A value of another type is the error of the call, and is read as if
// it were missing.
type members struct {
	values map[string]any
	call   *callBody
}

// membersOf returns the members of a JSON object, for which what is its name in messages. Another value is an
// error in c and has no members.
func (c *callBody) membersOf(v any, what string) members {
	object, ok := v.(map[string]any)
	if !ok {
		c.fail(what, "object")
	}
	return members{object, c}
}

// text returns a string member, or the source text of a number or boolean. A missing one is null; another type is
// an error of the body.
func (m members) text(name string) ledger.Null[string] {
	switch v := m.values[name].(type) {
	case nil:
	case string:
		return ledger.Of(v)
	case json.Number:
		return ledger.Of(ledger.Whole(v.String()))
	case bool:
		return ledger.Of(strconv.FormatBool(v))
	default:
		m.call.fail(name, "text")
	}
	return ledger.Null[string]{}
}

// number returns an integer member, given as a number or as decimal digits. Null is 0, and a missing one is
// unless. Another value is an error of the body, and the result is then of no use.
func (m members) number(name string, unless int64) int64 {
	v, given := m.values[name]
	if !given {
		return unless
	}
	var digits string
	switch v := v.(type) {
	case nil:
		return 0
	case json.Number:
		digits = ledger.Whole(v.String())
	case string:
		digits = strings.TrimSpace(v)
	default:
		m.call.fail(name, "number")
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		m.call.fail(name, "64-bit integer") // unless it failed before
	}
	return n
}

// list returns the elements of a list member, or nil if it is missing or null. Another type is an error of the
// body.
func (m members) list(name string) []any {
	v, ok := m.values[name].([]any)
	if !ok && m.values[name] != nil {
		m.call.fail(name, "list")
	}
	return v
}

// boolean returns a Boolean member, which may be the string "true", "false" or "". A missing one, null and "" are
// false. Another value is an error of the body.
func (m members) boolean(name string) bool {
	switch v := m.values[name].(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		if v == "true" || v == "false" || v == "" {
			return v == "true"
		}
	}
	m.call.fail(name, "truth value")
	return false
}

// variables returns the call that [callBody.read] has read as the value of the variable input of the document. A
// missing list of state overrides is an empty one.
func (c *callBody) variables() map[string]any {
	v := callVariables(&c.input)
	v["block"] = c.input.Block
	if c.input.StateOverrides != nil {
		v["stateOverrides"] = overrideVariables(c.input.StateOverrides)
	}
	return v
}

// callVariables returns a new map of the members of the variable input that calls and simulated calls have in common:
// numbers as decimal text, bytes as hex, and nil bytes left out.
func callVariables(in *calls.ContractCallInput) map[string]any {
	v := map[string]any{
		"gas": strconv.FormatInt(in.Gas, 10), "gasPrice": strconv.FormatInt(in.GasPrice, 10),
		"value": strconv.FormatInt(in.Value, 10),
	}
	setHex(v, map[string][]byte{"data": in.Data, "from": in.From, "to": in.To})
	return v
}

// overrideVariables returns state overrides in the form of GraphQL variables. Members that are nil are left out.
func overrideVariables(overrides []*calls.StateOverrideInput) []any {
	return list.Map(overrides, func(o *calls.StateOverrideInput) any {
		entry := map[string]any{}
		setHex(entry, map[string][]byte{"address": o.Address, "balance": o.Balance, "code": o.Code, "nonce": o.Nonce})
		for name, slots := range map[string][]*calls.SlotValueInput{"state": o.State, "stateDiff": o.StateDiff} {
			if slots == nil {
				continue
			}
			entry[name] = list.Map(slots, func(s *calls.SlotValueInput) any {
				return map[string]any{
					"key":   string(ledger.AppendHex(nil, s.Key)),
					"value": string(ledger.AppendHex(nil, s.Value)),
				}
			})
		}
		return entry
	})
}

// setHex sets members of into, the variables of a call, to "0x" and hex digits: one for each of the values that is not
// nil.
func setHex(into map[string]any, values map[string][]byte) {
	for name, b := range values {
		if b != nil {
			into[name] = string(ledger.AppendHex(nil, b))
		}
	}
}

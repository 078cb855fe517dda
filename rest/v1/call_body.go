package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
)

// Limits of the JSON of calls.
const (
	maxCallBody    = 2*131_072 + 1024
	maxCallDepth   = 10
	maxCallDigits  = 19
	maxCallName    = 100
	maxCallTokens  = 100
	maxDataDigits  = 1_048_576
	addressDigits  = 40
	defaultCallGas = 15_000_000
)

// readJSON parses a JSON document within the limits. Objects become map[string]any, numbers json.Number.
func readJSON(body []byte) (any, error) {
	d := &boundedDecoder{dec: json.NewDecoder(bytes.NewReader(body))}
	d.dec.UseNumber()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := d.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	return v, nil
}

type boundedDecoder struct {
	dec    *json.Decoder
	tokens int
}

func (d *boundedDecoder) token() (json.Token, error) {
	t, err := d.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected end of the document")
	}
	if err != nil {
		return nil, fmt.Errorf("malformed document: %w", err)
	}
	d.tokens++
	if d.tokens > maxCallTokens {
		return nil, fmt.Errorf("the document has more than %d tokens", maxCallTokens)
	}
	if n, ok := t.(json.Number); ok && len(strings.Trim(string(n), "-")) > maxCallDigits {
		return nil, fmt.Errorf("a number has more than %d digits", maxCallDigits)
	}
	return t, nil
}

func (d *boundedDecoder) value(depth int) (any, error) {
	t, err := d.token()
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	depth++
	if depth > maxCallDepth {
		return nil, fmt.Errorf("the document is nested more than %d times", maxCallDepth)
	}
	if delim == '[' {
		list := []any{}
		for d.dec.More() {
			v, err := d.value(depth)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.token()
		return list, err
	}
	object := map[string]any{}
	for d.dec.More() {
		t, err := d.token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string) // names are always strings
		if len(name) > maxCallName {
			return nil, fmt.Errorf("a name has more than %d characters", maxCallName)
		}
		if object[name], err = d.value(depth); err != nil {
			return nil, err
		}
	}
	_, err = d.token()
	return object, err
}

type callBody struct {
	input      calls.ContractCallInput
	estimate   bool
	violations []string
}

// readCall converts a document to a call. It ignores unknown members.
func readCall(tree any) (*callBody, error) {
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("the document is no object")
	}
	m := &members{of: object}
	c := &callBody{input: calls.ContractCallInput{Gas: defaultCallGas}}
	in := &c.input
	in.Block = m.text("block").Or("latest")
	c.estimate = m.boolean("estimate")
	in.Gas, in.GasPrice, in.Value = m.number("gas", defaultCallGas), m.number("gasPrice", 0), m.number("value", 0)
	in.Data = c.data(m.text("data"))
	in.From = c.address(m.text("from"), "from", false)
	in.To = c.address(m.text("to"), "to", true)
	if m.err != nil {
		return nil, m.err
	}
	if _, err := calls.ParseBlockRef(in.Block); err != nil {
		return nil, errors.New(blockText(err))
	}
	list, given := object["state_overrides"]
	switch list := list.(type) {
	case []any:
		for _, entry := range list {
			o, err := c.override(entry)
			if err != nil {
				return nil, err
			}
			in.StateOverrides = append(in.StateOverrides, o)
		}
	case nil:
		if given {
			c.violations = append(c.violations, "stateOverrides field must not be null")
		}
	default:
		return nil, errors.New("state_overrides is no list")
	}
	return c, nil
}

// data parses the call's data.
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

// address parses an address. An invalid address counts as given.
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

// trimPrefix removes "0x" or "0X".
func trimPrefix(s string) string {
	if len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return s[2:]
	}
	return s
}

func (c *callBody) override(entry any) (*calls.StateOverrideInput, error) {
	object, ok := entry.(map[string]any)
	if !ok {
		return nil, errors.New("an entry of state_overrides is no object")
	}
	m := &members{of: object}
	o := &calls.StateOverrideInput{
		Address: c.word(m.text("address"), "address"), Balance: c.word(m.text("balance"), "balance"), Code: c.word(m.text("code"), "code"),
		Nonce: c.word(m.text("nonce"), "nonce"),
	}
	var err error
	if o.State, err = c.slots(object["state"], "state"); err != nil {
		return nil, err
	}
	if o.StateDiff, err = c.slots(object["state_diff"], "state_diff"); err != nil {
		return nil, err
	}
	return o, m.err
}

func (c *callBody) slots(list any, name string) ([]*calls.SlotValueInput, error) {
	if list == nil {
		return nil, nil
	}
	entries, ok := list.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is no list", name)
	}
	out := []*calls.SlotValueInput{}
	for _, entry := range entries {
		object, ok := entry.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an entry of %s is no object", name)
		}
		m := &members{of: object}
		out = append(out, &calls.SlotValueInput{Key: c.word(m.text("key"), name+" key"), Value: c.word(m.text("value"), name+" value")})
		if m.err != nil {
			return nil, m.err
		}
	}
	return out, nil
}

// word parses hex digits and adds a leading zero if their number is odd. It returns nil without text.
func (c *callBody) word(text ledger.Null[string], name string) []byte {
	if !text.Valid {
		return nil
	}
	digits := trimPrefix(text.V)
	b, err := ledger.ParseHex("0x" + strings.Repeat("0", len(digits)%2) + digits)
	if err != nil {
		c.violations = append(c.violations, "stateOverrides "+name+" field invalid hexadecimal string")
	}
	return b
}

// members reads the members of an object. err is the error of the first invalid value.
type members struct {
	of  map[string]any
	err error
}

func (m *members) fail(name, kind string) {
	if m.err == nil {
		m.err = fmt.Errorf("%s is no %s", name, kind)
	}
}

// text returns a string, or the source text of a number or boolean.
func (m *members) text(name string) ledger.Null[string] {
	switch v := m.of[name].(type) {
	case nil:
		return ledger.Null[string]{}
	case string:
		return ledger.Of(v)
	case json.Number:
		return ledger.Of(v.String())
	case bool:
		return ledger.Of(strconv.FormatBool(v))
	default:
		m.fail(name, "text")
		return ledger.Null[string]{}
	}
}

// number returns an integer, given as a number or as decimal digits. Null is 0.
func (m *members) number(name string, unless int64) int64 {
	v, given := m.of[name]
	if !given {
		return unless
	}
	var digits string
	switch v := v.(type) {
	case nil:
		return 0
	case json.Number:
		digits = v.String()
	case string:
		digits = strings.TrimSpace(v)
	default:
		m.fail(name, "number")
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		m.fail(name, "64-bit integer")
	}
	return n
}

func (m *members) boolean(name string) bool {
	switch v := m.of[name].(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		if v == "true" || v == "false" || v == "" {
			return v == "true"
		}
	}
	m.fail(name, "truth value")
	return false
}

func (c *callBody) variables() map[string]any {
	in := &c.input
	v := map[string]any{
		"block": in.Block, "gas": strconv.FormatInt(in.Gas, 10), "gasPrice": strconv.FormatInt(in.GasPrice, 10),
		"value": strconv.FormatInt(in.Value, 10),
	}
	setHex(v, map[string][]byte{"data": in.Data, "from": in.From, "to": in.To})
	if in.StateOverrides == nil {
		return v
	}
	list := make([]any, len(in.StateOverrides))
	for i, o := range in.StateOverrides {
		entry := map[string]any{}
		setHex(entry, map[string][]byte{"address": o.Address, "balance": o.Balance, "code": o.Code, "nonce": o.Nonce})
		for name, slots := range map[string][]*calls.SlotValueInput{"state": o.State, "stateDiff": o.StateDiff} {
			if slots == nil {
				continue
			}
			values := make([]any, len(slots))
			for j, s := range slots {
				values[j] = map[string]any{"key": string(ledger.AppendHex(nil, s.Key)), "value": string(ledger.AppendHex(nil, s.Value))}
			}
			entry[name] = values
		}
		list[i] = entry
	}
	v["stateOverrides"] = list
	return v
}

// setHex sets the members whose value is known.
func setHex(into map[string]any, values map[string][]byte) {
	for name, b := range values {
		if b != nil {
			into[name] = string(ledger.AppendHex(nil, b))
		}
	}
}

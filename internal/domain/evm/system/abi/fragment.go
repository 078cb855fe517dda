package abi

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// Standard has declarations of the standards ERC-20, ERC-165, ERC-721 and ERC-1155, of the errors of Solidity, and of
// the system contracts without tables.
//
//go:embed standard.txt
var Standard string

// MaxText is the maximum total size of the declarations of an ABI, in bytes.
const MaxText = 64 << 10

// ABI decodes calls, their results, errors and logs by declarations of functions, errors and events.
type ABI struct {
	declared map[string][]*fragment // by kind and the part of the hash that identifies them
	next     *ABI                   // used after the own declarations; may be nil
}

// fragment is the declaration of a function, event or error.
type fragment struct {
	kind, name      string
	inputs, outputs *Type
	indexed         []bool // of the inputs
	anonymous       bool
}

// The kinds of fragments.
const (
	functions = "function"
	events    = "event"
	failures  = "error"
)

// Declarations that nothing is decoded with. They have no names.
var unnamed = []string{"constructor", "fallback", "receive"}

// Decoded is a decoded call, error or log.
type Decoded struct {
	Name, Signature string
	Arguments       []*Argument
	Results         []*Argument // of a call; nil if unknown
	Inner           *Decoded    // the call that a call passes on, or nil
}

// Argument is an argument of a call, error or log, or a result of a call.
type Argument struct {
	Name, Type, Value string
	Indexed           bool
}

// New returns an ABI with declarations to decode with. Each text has declarations in the notation of Solidity,
// separated by semicolons or line breaks, or the JSON of an ABI: an object or an array of them, an array of
// declarations in the notation of Solidity, or an object with one of these as its member abi, as compilers write it.
// The result also uses the declarations of next, which can be nil. It fails for the first invalid declaration. The
// caller has checked that the texts have at most [MaxText] bytes.
func New(texts []string, next *ABI) (*ABI, error) {
	a := &ABI{declared: map[string][]*fragment{}, next: next}
	for _, text := range texts {
		list, err := split(text)
		if err != nil {
			return nil, err
		}
		for _, text := range list {
			if err := a.declare(text); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// split returns the texts in the notation of Solidity that a text is, or that its JSON stands for. It fails for
// invalid JSON.
func split(text string) ([]string, error) {
	text = strings.TrimLeft(text, " \t\r\n\ufeff")
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return fromJSON([]byte(text))
	}
	return []string{text}, nil
}

// declare parses the declarations of a text in the notation of Solidity, at least one, and adds them to a.
// Constructors, functions without a selector, and anonymous events are only checked. It fails for the first invalid
// declaration; those before it stay in a.
func (a *ABI) declare(text string) error {
	p := parser{text}
	for found := false; ; found = true {
		for p.accept(";") {
		}
		if p.rest == "" && found {
			return nil
		}
		start := p.rest
		f, err := p.fragment()
		if err != nil {
			return fmt.Errorf("ABI fragment %.60q: %w", start, err)
		}
		if f.inputs == nil || f.anonymous {
			continue
		}
		hash := crypto.Keccak256([]byte(f.signature()))
		key := f.kind + string(hash[:4])
		if f.kind == events {
			key = f.kind + string(hash)
		}
		a.declared[key] = append(a.declared[key], f)
	}
}

// find returns the declarations of a kind with a selector or hash, those of this ABI before those of next.
func (a *ABI) find(kind string, id []byte) (out []*fragment) {
	for ; a != nil; a = a.next {
		out = append(out, a.declared[kind+string(id)]...)
	}
	return out
}

// Call decodes the input of a call, with its selector, and its output unless it is nil. It returns nil if no
// declaration fits.
func (a *ABI) Call(input, output []byte) *Decoded { return a.decode(functions, input, output) }

// Error decodes the data of a revert, with its selector. It returns nil if no declaration fits.
func (a *ABI) Error(data []byte) *Decoded { return a.decode(failures, data, nil) }

// decode returns the call or error in data, as the first declaration with its selector understands it; one whose
// outputs fit output as well is preferred. kind is functions or failures. It returns nil if there is none.
func (a *ABI) decode(kind string, data, output []byte) (first *Decoded) {
	if len(data) < 4 {
		return nil
	}
	for _, f := range a.find(kind, data[:4]) {
		arguments, err := f.inputs.arguments(data[4:])
		if err != nil {
			continue
		}
		d := &Decoded{Name: f.name, Signature: f.signature(), Arguments: arguments}
		if output != nil {
			d.Results, _ = f.outputs.arguments(output) // nil if the output is that of another function
		}
		if output == nil || d.Results != nil {
			return d
		}
		if first == nil {
			first = d
		}
	}
	return first
}

// Log decodes a log. Each topic must have 32 bytes. It returns nil if no declaration fits.
func (a *ABI) Log(topics [][]byte, data []byte) *Decoded {
	if len(topics) == 0 {
		return nil
	}
	for _, f := range a.find(events, topics[0]) {
		if d := f.decodeLog(topics[1:], data); d != nil {
			return d
		}
	}
	return nil
}

// signature returns the canonical signature, such as transfer(address,uint256). The fragment must have inputs.
func (f *fragment) signature() string { return f.name + f.inputs.text }

// decodeLog decodes a log without its first topic, or returns nil if it does not fit. An indexed value of a
// dynamic type, array or tuple is represented by its hash.
func (f *fragment) decodeLog(topics [][]byte, data []byte) *Decoded {
	rest := &Type{kind: kindTuple}
	for i, t := range f.inputs.parts {
		if !f.indexed[i] {
			rest.parts, rest.names = append(rest.parts, t), append(rest.names, f.inputs.names[i])
		}
	}
	if len(topics) != len(f.inputs.parts)-len(rest.parts) {
		return nil
	}
	others, err := rest.arguments(data)
	if err != nil {
		return nil
	}
	d := &Decoded{Name: f.name, Signature: f.signature()}
	for i, t := range f.inputs.parts {
		if !f.indexed[i] {
			d.Arguments, others = append(d.Arguments, others[0]), others[1:]
			continue
		}
		var v any = topics[0]
		if !t.dynamic && t.kind != kindTuple && t.kind != kindSequence {
			if v, err = t.Decode(topics[0]); err != nil {
				return nil
			}
		}
		d.Arguments, topics = append(
			d.Arguments, &Argument{Name: f.inputs.names[i], Type: t.text, Value: t.format(v), Indexed: true},
		), topics[1:]
	}
	return d
}

// arguments decodes the parts of a tuple from data, with their names, types and values as text. The result is not
// nil if there is no error.
func (t *Type) arguments(data []byte) ([]*Argument, error) {
	v, err := t.Decode(data)
	if err != nil {
		return nil, err
	}
	out := make([]*Argument, len(t.parts))
	for i, v := range List(v) {
		out[i] = &Argument{Name: t.names[i], Type: t.parts[i].text, Value: t.parts[i].format(v)}
	}
	return out, nil
}

// format returns the text of a decoded value for people. That of an array or tuple is JSON, and bytes and
// addresses are "0x" and hex.
func (t *Type) format(v any) string {
	switch v := v.(type) {
	case common.Address:
		return hexutil.Encode(v[:])
	case [32]byte:
		return hexutil.Encode(v[:])
	case []byte:
		return hexutil.Encode(v)
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case []any:
		return string(t.appendJSON(nil, v))
	default: // numbers and booleans
		return fmt.Sprint(v)
	}
}

// appendJSON appends the JSON of a decoded value to dst: arrays as arrays, tuples as objects if all parts have
// names, booleans, and other values as strings.
func (t *Type) appendJSON(dst []byte, v any) []byte {
	values, nested := v.([]any)
	if b, ok := v.(bool); ok {
		return strconv.AppendBool(dst, b)
	} else if !nested {
		text, _ := json.Marshal(t.format(v)) //nolint:errchkjson // a string
		return append(dst, text...)
	}
	ends := "[]"
	if len(t.names) > 0 && !slices.Contains(t.names, "") {
		ends = "{}"
	}
	dst = append(dst, ends[0])
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		part := t.elem
		if t.kind == kindTuple {
			part = t.parts[i]
		}
		if ends == "{}" {
			dst = append(strconv.AppendQuote(dst, t.names[i]), ':')
		}
		dst = part.appendJSON(dst, v)
	}
	return append(dst, ends[1])
}

// parser parses types and declarations in the notation of Solidity.
type parser struct{ rest string }

// accept skips blanks and comments, and a text if it is next. It reports whether it is. Otherwise the blanks and
// comments are skipped all the same.
func (p *parser) accept(text string) (found bool) {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		end := "\n"
		if strings.HasPrefix(p.rest, "/*") {
			end = "*/"
		} else if !strings.HasPrefix(p.rest, "//") {
			break
		}
		_, after, closed := strings.Cut(p.rest[2:], end)
		if !closed && end == "*/" {
			break // reported as an unexpected text
		}
		p.rest = after
	}
	p.rest, found = strings.CutPrefix(p.rest, text)
	return found
}

// skipGroup skips a text, whose opening parenthesis has been read, up to the parenthesis that closes it, such as the
// arguments of a modifier. It reports whether there is one; without it, nothing is skipped. Parentheses in quotes do
// not count.
func (p *parser) skipGroup() bool {
	depth, quote := 1, rune(0)
	for i, r := range p.rest {
		switch {
		case r == quote:
			quote = 0
		case quote != 0:
		case r == '"' || r == '\'':
			quote = r
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
		if depth == 0 {
			p.rest = p.rest[i+1:]
			return true
		}
	}
	return false
}

// word skips blanks and comments and reads the next word, or an empty string if there is none.
func (p *parser) word() string {
	p.accept("")
	n := strings.IndexFunc(p.rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '$'
	})
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

// typ reads a type: the name of an elementary type, or a tuple as "(…)" or "tuple(…)", with the lengths of arrays
// after it. It fails for another text, and if more than MaxDepth tuples and arrays are nested or a type has more than
// MaxWords words; depth counts the tuples around it. With an error, t is not valid.
func (p *parser) typ(depth int) (t *Type, err error) {
	if p.accept("tuple(") || p.accept("(") {
		t, _, err = p.tuple(depth + 1)
	} else {
		t, err = elementary(p.word())
	}
	for err == nil && p.accept("[") {
		digits := p.word()
		n, _ := strconv.Atoi(digits)
		switch {
		case depth+t.depth >= MaxDepth:
			err = errDeep
		case !p.accept("]") || t.words == 0 || n > MaxWords/t.words,
			digits != "" && (n <= 0 || strconv.Itoa(n) != digits):
			err = fmt.Errorf("invalid array %.40q", t.text+"["+digits)
		case digits == "":
			t = &Type{kind: kindArray, elem: t, text: t.text + "[]", words: 1, depth: t.depth + 1, dynamic: true}
		default:
			text := t.text + "[" + digits + "]"
			t = &Type{
				kind: kindSequence, elem: t, bits: n, text: text, words: t.words * n, depth: t.depth + 1,
				dynamic: t.dynamic,
			}
			if t.dynamic {
				t.words = 1
			}
		}
	}
	return t, err
}

// maxName is the maximum length of a name.
const maxName = 64

var errDeep = errors.New("the type is nested too deeply")

// tuple reads parameters after their opening parenthesis and returns them as a tuple. indexed reports for each whether
// it has this modifier. depth is the nesting of the parameters, 0 for those of a declaration. It fails beyond
// [MaxDepth], [MaxWords] or maxName.
func (p *parser) tuple(depth int) (t *Type, indexed []bool, err error) {
	t = &Type{kind: kindTuple, text: "(", depth: 1}
	words := 0
	if depth > MaxDepth {
		return nil, nil, errDeep
	}
	for !p.accept(")") {
		if len(t.parts) > 0 && !p.accept(",") {
			return nil, nil, fmt.Errorf("unexpected %.20q in a list of parameters", p.rest)
		}
		if len(t.parts) > 0 {
			t.text += ","
		}
		part, err := p.typ(depth)
		if err != nil {
			return nil, nil, err
		}
		name, isIndexed := "", false
		for word := p.word(); word != ""; word = p.word() {
			switch {
			case word == "indexed":
				isIndexed = true
			case slices.Contains([]string{"memory", "calldata", "storage", "payable"}, word):
			case name != "":
				return nil, nil, fmt.Errorf("a parameter has two names, %.40q and %.40q", name, word)
			default:
				name = word
			}
		}
		t.parts, t.names, indexed = append(t.parts, part), append(t.names, name), append(indexed, isIndexed)
		t.text += part.text
		t.dynamic = t.dynamic || part.dynamic
		t.depth = max(t.depth, part.depth+1)
		if words += part.words; words > MaxWords || len(name) > maxName {
			return nil, nil, errors.New("too many words, or too long a name")
		}
	}
	t.text += ")"
	if t.words = words; t.dynamic {
		t.words = 1
	}
	return t, indexed, nil
}

// fragment reads a declaration in the notation of Solidity, and stops before the next one. The parameters of a
// constructor, and of the functions for calls without a selector, are read but left out. It fails for another text.
func (p *parser) fragment() (f *fragment, err error) {
	f = &fragment{kind: p.word(), outputs: &Type{kind: kindTuple}}
	named := !slices.Contains(unnamed, f.kind)
	if named {
		f.name = p.word()
	}
	if named && f.kind != functions && f.kind != events && f.kind != failures {
		return nil, errors.New("a declaration must start with function, event or error")
	}
	if named && f.name == "" || !p.accept("(") {
		return nil, errors.New("a name and parameters are missing")
	}
	if f.inputs, f.indexed, err = p.tuple(0); err != nil {
		return nil, err
	}
	if err := p.modifiers(f); err != nil {
		return nil, err
	}
	if !named {
		f.inputs = nil
	}
	return f, nil
}

// modifiers reads what follows the parameters of a declaration into f. Only anonymous and returns matter. It stops
// before a semicolon or the next declaration, and fails for a body.
func (p *parser) modifiers(f *fragment) (err error) {
	for {
		before := *p
		word := p.word()
		if word == functions || word == events || word == failures || slices.Contains(unnamed, word) {
			*p = before // the next declaration
			return nil
		}
		f.anonymous = f.anonymous || word == "anonymous"
		switch {
		case word == "" && (p.rest == "" || p.rest[0] == ';'):
			return nil
		case word == "" && p.accept("{"):
			return errors.New("a body is not part of a declaration, which ends with a semicolon")
		case word == "":
			return fmt.Errorf("unexpected %.20q after the parameters", p.rest)
		case !p.accept("("):
		case word == "returns":
			if f.outputs, _, err = p.tuple(0); err != nil {
				return err
			}
		case !p.skipGroup():
			return fmt.Errorf("the arguments of the modifier %.40q do not end", word)
		}
	}
}

type parameter struct {
	Name       string      `json:"name"`
	Type       string      `json:"type"`
	Indexed    bool        `json:"indexed"`
	Components []parameter `json:"components"`
}

// declaration is a declaration in the JSON of an ABI.
type declaration struct {
	Type      string      `json:"type"`
	Name      string      `json:"name"`
	Inputs    []parameter `json:"inputs"`
	Outputs   []parameter `json:"outputs"`
	Anonymous bool        `json:"anonymous"`
	// ABI has the declarations if the object is the output of a compiler.
	ABI json.RawMessage `json:"abi"`
}

// fromJSON returns the declarations in the JSON of an ABI, which begins with a brace or bracket, each in the notation
// of Solidity. Constructors and functions without a selector are omitted. The output of a compiler stands for the
// declarations in its member abi. It fails for the first invalid element.
func fromJSON(text []byte) (out []string, err error) {
	var list []json.RawMessage
	if text[0] == '{' {
		list = []json.RawMessage{text}
	} else if err = json.Unmarshal(text, &list); err != nil {
		return nil, invalidJSON(err)
	}
	for _, element := range list {
		var d declaration
		switch element[0] {
		case '"':
			out = append(out, "")
			err = json.Unmarshal(element, &out[len(out)-1])
		case '{':
			err = json.Unmarshal(element, &d)
		default:
			return nil, fmt.Errorf("JSON of an ABI: %.20q is neither a declaration nor a text", element)
		}
		if err != nil {
			return nil, invalidJSON(err)
		}
		switch {
		case d.ABI != nil && text[0] == '{' && d.ABI[0] == '[':
			return fromJSON(d.ABI)
		case d.ABI != nil:
			return nil, errors.New("JSON of an ABI: abi must be an array, and a member of the outermost object")
		case element[0] == '"', slices.Contains(unnamed, d.Type):
		default:
			out = append(out, d.text())
		}
	}
	return out, nil
}

// invalidJSON returns the error for JSON that is not an ABI, which names no Go type.
func invalidJSON(err error) error {
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("JSON of an ABI: %w after %d bytes", syntax, syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("JSON of an ABI: %.100s must not be a JSON %s", kind.Field, kind.Value)
	}
	return fmt.Errorf("JSON of an ABI: %w", err)
}

// text returns a declaration of a JSON ABI in the notation of Solidity, for [ABI.declare], which checks it.
func (d *declaration) text() string {
	var b strings.Builder
	b.WriteString(cmp.Or(d.Type, functions) + " " + d.Name)
	writeParameters(&b, d.Inputs)
	if d.Anonymous {
		b.WriteString(" anonymous")
	}
	if d.Outputs != nil {
		b.WriteString(" returns ")
		writeParameters(&b, d.Outputs)
	}
	return b.String()
}

// writeParameters writes a list of parameters to b as in Solidity, with parentheses. It checks neither types nor
// names.
func writeParameters(b *strings.Builder, list []parameter) {
	for i, p := range list {
		b.WriteString([]string{"(", ","}[min(i, 1)])
		if lengths, isTuple := strings.CutPrefix(p.Type, "tuple"); isTuple {
			writeParameters(b, p.Components)
			b.WriteString(lengths)
		} else {
			b.WriteString(p.Type)
		}
		if p.Indexed {
			b.WriteString(" indexed")
		}
		b.WriteString(" " + p.Name)
	}
	if len(list) == 0 {
		b.WriteString("(")
	}
	b.WriteString(")")
}

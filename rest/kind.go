package rest

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
)

// Kind is the kind of values that a parameter accepts. Kinds are immutable.
type Kind struct {
	// Parse returns a value with the canonical form of its text, and with its number if it has one. ok is false if the
	// text is invalid. The operator is one of Ops.
	Parse func(c *Config, v Value) (_ Value, ok bool)
	// Ops are the supported operators. Without any, values have no operator.
	Ops []Op
	// AnyOp accepts all other operators too, and ignores them.
	AnyOp bool
	// ExactOp accepts operators in lower case only. Those of the classic family always are.
	ExactOp bool

	// The other fields document the text after the operator, for people and tools. Without them, it is any text.

	// Doc describes the text in one sentence.
	Doc string
	// Pattern is a regular expression that matches the whole text, in the syntax common to Go and ECMAScript.
	Pattern string
	// Enum are the allowed values in their usual spelling. They are case-insensitive.
	Enum []string
	// Min and Max are the limits of an integer. Max is 0 for anything else.
	Min, Max int64
}

// Matching returns a Parse that accepts the texts that a pattern matches entirely, and leaves them as they are. It
// panics for an invalid pattern.
func Matching(pattern string) func(*Config, Value) (Value, bool) {
	syntax := whole(pattern)
	return Accepting(func(_ *Config, text string) bool { return syntax.MatchString(text) })
}

// Accepting returns a Parse that leaves the values as they are that accepts reports as valid, and rejects others.
func Accepting(accepts func(c *Config, text string) bool) func(*Config, Value) (Value, bool) {
	return func(c *Config, v Value) (Value, bool) { return v, accepts(c, v.Text) }
}

// Value returns a value of a parameter of c's API, converted by the rules of the endpoint's family. ok is false if
// its operator or text is invalid. The operator eq is valid for all kinds. The modern family reads no operator if the
// kind has none: it is part of the text then.
func (e *Endpoint) Value(c *Config, p *Param, text string) (v Value, ok bool) {
	k := &p.Kind
	switch {
	case e.Family != Modern:
		v, ok = e.Grammar.read(text)
		ok = ok && v.Text != ""
	case len(k.Ops) == 0:
		v, ok = Value{Op: Eq, Text: text}, true
	default:
		v, ok = modernValue(text, k.ExactOp)
	}
	if !ok || !k.AnyOp && v.Op != Eq && !slices.Contains(k.Ops, v.Op) {
		return v, false
	}
	return k.Parse(c, v)
}

// Operators returns a new list of all comparison operators of query strings, such as gt.
func Operators() []Op { return []Op{Eq, Ne, Gt, Gte, Lt, Lte} }

// The patterns of values.
const (
	entityIDPattern   = `(\d{1,4}\.)?\d{1,5}\.\d{1,12}|-?\d{1,19}`
	evmAddressPattern = `((0x)?|(\d{1,4}\.)?(\d{1,5}\.)?)([A-Fa-f0-9]{40})`
	publicKeyPattern  = `(0x)?([0-9a-fA-F]{64}|[0-9a-fA-F]{66}|[0-9a-fA-F]{88})`
	timestampPattern  = `\d{1,10}(\.\d{1,9})?`
	longPattern       = `\d{1,19}`
	hexNumberPattern  = `0x[0-9A-Fa-f]+`
)

var (
	evmAddressSyntax = whole(evmAddressPattern)
	entityIDSyntax   = whole(entityIDPattern)
	hexNumberSyntax  = whole(hexNumberPattern)
)

// whole returns the regular expression of texts that match the pattern entirely. It panics for an invalid pattern.
// The outer group does not change the numbers of the pattern's groups.
func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) }

// The kinds of values that several endpoints accept.
var (
	// EntityID accepts entity ids and EVM addresses.
	EntityID = Kind{
		Parse:   Accepting(func(c *Config, text string) bool { return IsEntityID(text) || isEVMAddress(c, text) }),
		Doc:     "An entity ID `shard.realm.num`; shard and realm are optional. Or an EVM address.",
		Pattern: entityIDPattern + "|" + evmAddressPattern,
		Ops:     Operators(),
	}
	// EntityIDOrLongZero accepts entity ids and long-zero EVM addresses.
	EntityIDOrLongZero = Kind{
		Parse:   Accepting(isEntityIDOrLongZero),
		Doc:     "An entity ID `shard.realm.num`; shard and realm are optional. Or its long-zero EVM address.",
		Pattern: entityIDPattern + "|" + evmAddressPattern,
		Ops:     Operators(),
	}
	// Int accepts 32-bit integers that are not negative.
	Int = Kind{
		Parse: Accepting(isInt),
		Doc:   "An integer.", Max: math.MaxInt32,
		Ops: Operators(),
	}
	// BlockNumber accepts decimal and hex numbers that are not negative.
	BlockNumber = Kind{
		Parse: Accepting(func(_ *Config, text string) bool {
			_, err := parseBlockNumber(text)
			return err == nil
		}),
		Doc:     "A number, decimal or in hex with `0x`.",
		Pattern: longPattern + "|" + hexNumberPattern,
		Ops:     Operators(),
	}
	// Timestamp accepts timestamps. Those after [ledger.MaxTimestamp] are later than that of any row.
	Timestamp = Kind{
		Parse:   Matching(timestampPattern),
		Doc:     "Seconds since 1970 with up to nine decimals, such as `1700000000.000000001`.",
		Pattern: timestampPattern,
		Ops:     Operators(),
	}
	// PublicKey accepts public keys in hex, raw or in DER.
	PublicKey = Kind{
		Parse: Matching(publicKeyPattern),
		Doc:   "A public key in hex, raw or DER-encoded.", Pattern: publicKeyPattern,
		Ops: Operators(),
	}
	// Boolean accepts true and false, case-insensitive.
	Boolean = OneOf("true", "false").Only()
	// TransactionType accepts the names of transaction types, case-insensitive.
	TransactionType = Kind{
		Parse: Accepting(func(_ *Config, text string) bool {
			_, err := ledger.ParseTransactionType(text)
			return err == nil
		}),
		Doc: "The name of a transaction type, such as `CRYPTOTRANSFER`.", Pattern: `[A-Za-z]+`,
		Ops:   []Op{Eq},
		AnyOp: true,
	}
)

// Only returns a copy of the kind that accepts only the given operators, and eq, which is always valid.
func (k Kind) Only(ops ...Op) Kind {
	k.Ops, k.AnyOp = ops, false
	return k
}

// Except returns a copy of the kind that does not accept an operator. It does not change AnyOp, with which all
// operators are accepted.
func (k Kind) Except(op Op) Kind {
	k.Ops = slices.DeleteFunc(slices.Clone(k.Ops), func(o Op) bool { return o == op })
	return k
}

// isEntityIDOrLongZero reports whether a text is an entity ID or an address that contains one.
func isEntityIDOrLongZero(c *Config, text string) bool {
	ref, err := ledger.ParseAccountRef(text, c.Base)
	return IsEntityID(text) || err == nil && !ref.Address.Valid && isEVMAddress(c, text)
}

// isEVMAddress reports whether s is an EVM address. If s has a shard or realm, they must be this ledger's.
func isEVMAddress(c *Config, s string) bool {
	_, err := ledger.ParseAccountRef(s, c.Base)
	return err == nil && evmAddressSyntax.MatchString(s)
}

// Long returns the kind of parameters that accept decimal integers without a sign, of at most 63 bits, that are not
// less than least. Parse returns the text without leading zeros, and the number.
func Long(least int64) Kind {
	return Kind{
		Parse: func(_ *Config, v Value) (Value, bool) {
			n, ok := naturalNumber(v.Text)
			v.Text, v.Number = strconv.FormatInt(n, 10), n
			return v, ok && n >= least
		},
		Doc: "An integer.", Min: least, Max: math.MaxInt64,
		Ops: Operators(),
	}
}

// Index accepts integers that are not negative, with white space around them or a plus sign.
var Index = Kind{
	Parse: Accepting(func(_ *Config, text string) bool {
		_, ok := naturalNumber(trimNumber(text))
		return ok
	}),
	Doc: "An integer.", Max: math.MaxInt64,
	Ops: Operators(),
}

// naturalNumber returns the value of a decimal number without sign. ok is false for other texts and for one that
// is too large for 63 bits.
func naturalNumber(s string) (int64, bool) {
	if !IsDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// trimNumber returns a number without the white space around it and without a plus sign.
func trimNumber(s string) string { return strings.TrimPrefix(strings.TrimSpace(s), "+") }

// isInt reports whether a text is a decimal number without sign and with at most 31 bits and 10
// characters, leading zeros included. The kind [Int] uses it.
func isInt(_ *Config, text string) bool {
	n, ok := naturalNumber(text)
	return ok && len(text) <= 10 && n <= math.MaxInt32
}

// parseBlockNumber returns the value of a decimal or hexadecimal number with 63 bits. Its error has no text for
// clients.
func parseBlockNumber(s string) (int64, error) {
	if hexNumberSyntax.MatchString(s) {
		return strconv.ParseInt(s[2:], 16, 64) //nolint:wrapcheck // the caller returns its own error
	}
	if !IsDigits(s) {
		return 0, ledger.ErrSyntax
	}
	return strconv.ParseInt(s, 10, 64) //nolint:wrapcheck // as above
}

// OneOf returns the kind of parameters that accept the given words, case-insensitive. The number of a value is the
// index of its word. It accepts all operators of the [Classic] family; most bindings ignore them.
func OneOf(words ...string) Kind {
	return Kind{
		Parse: func(_ *Config, v Value) (Value, bool) {
			i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(v.Text, w) })
			if i < 0 {
				return v, false
			}
			v.Text, v.Number = words[i], int64(i)
			return v, true
		},
		Enum:  words,
		AnyOp: true,
	}
}

// IsEntityID reports whether text has the form of an entity id; shard and realm are optional. It does not check the
// ranges of the parts, and a single number may be negative: [ExpandID] rejects these.
func IsEntityID(text string) bool { return entityIDSyntax.MatchString(text) }

// IsDigits reports whether text is 1 to 19 decimal digits.
func IsDigits(text string) bool {
	return text != "" && len(text) <= 19 && strings.Trim(text, "0123456789") == ""
}

// Op is a comparison operator.
type Op string

// The operators.
const (
	Eq  Op = "eq"
	Ne  Op = "ne"
	Gt  Op = "gt"
	Gte Op = "gte"
	Lt  Op = "lt"
	Lte Op = "lte"
)

// Value is a value of a query parameter with its operator.
type Value struct {
	Op   Op
	Text string
	// Given reports that the operator was explicit.
	Given bool
	// Number is the comparable form of the value, if it has one. In the modern family the parameter's kind sets it.
	Number int64
	// None reports that no row can have the value.
	None bool
}

// isOp reports whether a text is a comparison operator.
func isOp(s string) bool { return Op(s) == Eq || Op(s) == Ne || Op(s).isRange() }

// isRange reports whether the operator bounds a range.
func (o Op) isRange() bool { return o == Gt || o == Gte || o == Lt || o == Lte }

// Grammar selects one of the classic family's two validators of "operator:value".
type Grammar uint8

const (
	// InOrder allows one colon and validates the parameters in one pass. Problems have the order of the request.
	InOrder Grammar = iota
	// ByGroup uses the last two parts only. It reports wrong counts, then invalid values, then unknown names.
	ByGroup
)

// read splits a value of the [Classic] family into operator and text; without an operator it is eq. ok is false if
// the operator is unknown or, for [InOrder], the value has more than two parts. [ByGroup] ignores those before the last
// two.
func (g Grammar) read(s string) (v Value, ok bool) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		return Value{Op: Eq, Text: s}, true
	}
	op, text := s[:at], s[at+1:]
	if i := strings.LastIndexByte(op, ':'); i >= 0 {
		if g == InOrder {
			return Value{}, false
		}
		op = op[i+1:]
	}
	return Value{Op: Op(op), Text: text, Given: true}, isOp(op)
}

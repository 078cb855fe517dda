package rest

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
)

// Kind is what a parameter takes. A kind is a value: nothing changes it.
type Kind struct {
	// Takes tells whether a value is taken.
	Takes func(c *Config, v Value) bool
	// Form describes the text behind the operator.
	Form Form
	// Ops are the operators that mean something; none means that a value is written without.
	Ops []Op
}

// Form describes the text of a value to people and their tools. The zero form is any text.
type Form struct {
	// Doc says what the text stands for, in a sentence.
	Doc string
	// Pattern is a regular expression that the whole text matches, of the syntax that Go and ECMAScript share.
	Pattern string
	// Words are all that can be said, in the usual spelling; case does not matter.
	Words []string
	// Least and Most bound an integer; Most is 0 for everything else.
	Least, Most int64
}

// Operators are all operators.
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
	publicKeySyntax  = whole(publicKeyPattern)
	hexNumberSyntax  = whole(hexNumberPattern)
)

// whole matches texts that are all of the pattern. The outer group keeps the numbers of the pattern's own ones.
func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) }

// The kinds of values that several endpoints take.
var (
	// EntityID takes entity ids and EVM addresses.
	EntityID = Kind{takesEntityID, Form{Doc: "An entity id `shard.realm.num`, where shard and realm may be left out, or an EVM address.", Pattern: entityIDPattern + "|" + evmAddressPattern}, Operators()}
	// EntityIDOrLongZero takes entity ids and the EVM addresses that are made of one.
	EntityIDOrLongZero = Kind{takesEntityIDOrLongZero, Form{Doc: "An entity id `shard.realm.num`, where shard and realm may be left out, or the EVM address made of one.", Pattern: entityIDPattern + "|" + evmAddressPattern}, Operators()}
	// Int takes 32-bit integers from 0 on.
	Int = Kind{takesInt, Form{Doc: "An integer.", Most: math.MaxInt32}, Operators()}
	// BlockNumber takes decimal numbers from 0 on, and hex ones.
	BlockNumber = Kind{takesBlockNumber, Form{Doc: "A number, decimal or in hex with `0x`.", Pattern: longPattern + "|" + hexNumberPattern}, Operators()}
	// Timestamp takes instants that fit into 64 bits.
	Timestamp = Kind{takesTimestamp, Form{Doc: "Seconds since 1970 with up to nine decimals, such as `1700000000.000000001`.", Pattern: timestampPattern}, Operators()}
	// PublicKey takes public keys in hex, raw or in DER.
	PublicKey = Kind{takesPublicKey, Form{Doc: "A public key in hex, raw or in DER.", Pattern: publicKeyPattern}, Operators()}
	// Boolean takes true and false in any case.
	Boolean = Kind{takesBoolean, Form{Words: []string{"true", "false"}}, nil}
	// TransactionType takes the names of transaction types in any case.
	TransactionType = Kind{takesTransactionType, Form{Doc: "The name of a transaction type, such as `CRYPTOTRANSFER`.", Pattern: `[A-Za-z]+`}, []Op{Eq}}
)

// Only makes a kind that takes no operator but the given ones.
func (k Kind) Only(ops ...Op) Kind {
	takes := k.Takes
	k.Takes = func(c *Config, v Value) bool { return slices.Contains(ops, v.Op) && takes(c, v) }
	k.Ops = ops
	return k
}

// Except makes a kind that does not take an operator.
func (k Kind) Except(op Op) Kind {
	takes := k.Takes
	k.Takes = func(c *Config, v Value) bool { return v.Op != op && takes(c, v) }
	k.Ops = slices.DeleteFunc(slices.Clone(k.Ops), func(o Op) bool { return o == op })
	return k
}

func takesEntityID(c *Config, v Value) bool {
	return IsEntityID(v.Text) || isEVMAddress(c, v.Text)
}

func takesEntityIDOrLongZero(c *Config, v Value) bool {
	if IsEntityID(v.Text) {
		return true
	}
	if !isEVMAddress(c, v.Text) {
		return false
	}
	ref, err := ledger.ParseAccountRef(v.Text, c.Base)
	return err == nil && !ref.Address.Valid
}

// isEVMAddress tells whether s is an EVM address, of this ledger when it names shard or realm.
func isEVMAddress(c *Config, s string) bool {
	m := evmAddressSyntax.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	_, err := ledger.ParseAccountRef(s, c.Base)
	return err == nil
}

// Long takes 64-bit integers from least on.
func Long(least int64) Kind {
	return Kind{
		Takes: func(_ *Config, v Value) bool {
			if !IsDigits(v.Text) {
				return false
			}
			n, err := strconv.ParseInt(v.Text, 10, 64)
			return err == nil && n >= least
		},
		Form: Form{Doc: "An integer.", Least: least, Most: math.MaxInt64},
		Ops:  Operators(),
	}
}

func takesInt(_ *Config, v Value) bool {
	if !digits(v.Text, 10) {
		return false
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	return err == nil && n <= math.MaxInt32
}

func takesBlockNumber(_ *Config, v Value) bool {
	_, err := parseBlockNumber(v.Text)
	return err == nil
}

func parseBlockNumber(s string) (int64, error) {
	if hexNumberSyntax.MatchString(s) {
		return strconv.ParseInt(s[2:], 16, 64) //nolint:wrapcheck // the caller says what was wrong
	}
	if !IsDigits(s) {
		return 0, ledger.ErrSyntax
	}
	return strconv.ParseInt(s, 10, 64) //nolint:wrapcheck // as above
}

func takesTimestamp(_ *Config, v Value) bool {
	if !isTimestamp(v.Text) {
		return false
	}
	_, err := ledger.ParseTimestamp(v.Text)
	return err == nil
}

func takesPublicKey(_ *Config, v Value) bool { return publicKeySyntax.MatchString(v.Text) }

func takesBoolean(_ *Config, v Value) bool {
	return v.Op == Eq && (strings.EqualFold(v.Text, "true") || strings.EqualFold(v.Text, "false"))
}

// OneOf takes some words in any case.
func OneOf(words ...string) Kind {
	return Kind{
		Takes: func(_ *Config, v Value) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(v.Text, w) })
		},
		Form: Form{Words: words},
	}
}

func takesTransactionType(_ *Config, v Value) bool {
	_, err := ledger.ParseTransactionType(v.Text)
	return err == nil
}

// IsEntityID tells whether text has the form of an entity id: it says what entityIDPattern says, without the price of a regular expression.
func IsEntityID(text string) bool {
	first, rest, dotted := strings.Cut(text, ".")
	if !dotted {
		return IsDigits(strings.TrimPrefix(text, "-"))
	}
	if second, third, whole := strings.Cut(rest, "."); whole {
		return digits(first, 4) && digits(second, 5) && digits(third, 12)
	}
	return digits(first, 5) && digits(rest, 12)
}

// isTimestamp tells what timestampPattern tells.
func isTimestamp(text string) bool {
	seconds, nanos, dotted := strings.Cut(text, ".")
	return digits(seconds, 10) && (!dotted || digits(nanos, 9))
}

// IsDigits tells whether text is 1 to 19 decimal digits.
func IsDigits(text string) bool { return digits(text, 19) }

// digits tells whether text is decimal digits, at least one and at most so many.
func digits(text string, most int) bool {
	if text == "" || len(text) > most {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

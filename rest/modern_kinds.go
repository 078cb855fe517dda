package rest

import (
	"encoding/base32"
	"math"
	"regexp"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
)

// The kinds of values that several endpoints of the modern family accept.
var (
	// ModernEntityID parses one to three numbers separated by points, with an operator. The value's number is the id as
	// stored in the database.
	ModernEntityID = Kind{
		Parse:   parseEntityID,
		Doc:     "An entity ID `shard.realm.num`; shard and realm are optional.",
		Pattern: `(\d+\.){0,2}\d+`,
		Ops:     Operators(),
	}
	// ModernLong parses a 64-bit integer that is not negative, with an operator.
	ModernLong = Kind{Parse: Long(0).Parse, Max: math.MaxInt64, Ops: Operators()}
	// ModernTimestamp parses a timestamp with any operator but ne. The digits after the point are a number of
	// nanoseconds, not a fraction: "1.5" is five nanoseconds after the first second. The value's number is nanoseconds
	// since 1970.
	ModernTimestamp = Kind{
		Parse:   parseModernTimestamp,
		Doc:     "Seconds since 1970, a point, and a number of nanoseconds, such as `1700000000.000000001`.",
		Pattern: `\d{1,17}(\.\d{1,9})?`,
		Ops:     []Op{Eq, Gt, Gte, Lt, Lte},
	}
	// Int32 parses a 32-bit integer without an operator.
	Int32 = Kind{Parse: parseInteger(32), Min: math.MinInt32, Max: math.MaxInt32}
	// Int64 parses a 64-bit integer without an operator.
	Int64 = Kind{Parse: parseInteger(64), Min: math.MinInt64, Max: math.MaxInt64}
	// Switch parses true, on, yes, 1 and their opposites, case-insensitive. The value's number is 1 or 0.
	Switch = Kind{Parse: parseSwitch, Enum: []string{"true", "false"}}
	// PathID parses the entity id of a path, without an operator.
	PathID = Kind{Parse: parsePathID, Pattern: `(\d{1,4}\.)?(\d{1,5}\.)?\d{1,12}`}
	// PathAccount parses the account of a path. The value's text is an AccountRef of the graph. Addresses and aliases
	// are looked up as stored: the shard and realm before them are ignored, and long-zero addresses are not converted
	// to ids.
	PathAccount = Kind{Parse: parsePathAccount}
	// Slot parses a storage slot of up to 32 bytes in hex. The value's text has all 64 digits with "0x".
	Slot = Kind{
		Parse: parseSlot,
		Doc:   "Up to 32 bytes in hex.", Pattern: `(0x)?[0-9a-fA-F]{1,64}`,
		Ops:     []Op{Eq, Gt, Gte, Lt, Lte},
		ExactOp: true,
	}
)

var (
	modernTimestampSyntax = regexp.MustCompile(`^(\d{1,17})(?:\.(\d{1,9}))?$`)
	modernIDSyntax        = regexp.MustCompile(`^(\d{1,4}\.)?(\d{1,5}\.)?\d{1,12}$`)
	modernAddressSyntax   = regexp.MustCompile(`^(?:(?:\d{1,5}\.){0,2}|0x)([A-Fa-f0-9]{40})$`)
	modernAliasSyntax     = regexp.MustCompile(`^(?:\d{1,5}\.){0,2}([A-Z2-7]{40,70})$`)
	slotSyntax            = regexp.MustCompile(`^(?:0x)?([0-9a-fA-F]{1,64})$`)
	signedSyntax          = regexp.MustCompile(`^-?\d{1,19}$`)
)

// modernValue splits a value of the modern family into operator and text; without an operator it is eq. ok is
// false if the operator is unknown or there is more than one. Unless exact is true, it may be in upper case.
func modernValue(text string, exact bool) (v Value, ok bool) {
	op, rest, given := strings.Cut(text, ":")
	if !given {
		return Value{Op: Eq, Text: text}, true
	}
	if !exact {
		op = strings.ToLower(op)
	}
	return Value{Op: Op(op), Text: rest, Given: true}, isOp(op) && !strings.Contains(rest, ":")
}

// parseEntityID returns v with the text and number of an entity ID, to which the shard and realm of the
// configuration are added if they are missing. The result is false for other texts.
func parseEntityID(c *Config, v Value) (Value, bool) {
	parts := strings.Split(v.Text, ".")
	if len(parts) > 3 {
		return v, false
	}
	numbers := []int64{c.Base.Shard(), c.Base.Realm(), 0}
	for i, part := range parts {
		n, ok := naturalNumber(part)
		if !ok {
			return v, false
		}
		numbers[3-len(parts)+i] = n
	}
	id, err := ledger.NewEntityID(numbers[0], numbers[1], numbers[2])
	if err != nil {
		return v, false
	}
	v.Text, v.Number = id.String(), int64(id)
	return v, true
}

// parseModernTimestamp returns v with the text and nanoseconds of a time given as seconds with nanoseconds. The
// result is false for other texts and for a time after the range of timestamps.
func parseModernTimestamp(_ *Config, v Value) (Value, bool) {
	m := modernTimestampSyntax.FindStringSubmatch(v.Text)
	if m == nil {
		return v, false
	}
	seconds, _ := strconv.ParseInt(m[1], 10, 64) // 17 digits always fit
	nanos, _ := strconv.ParseInt("0"+m[2], 10, 64)
	const second = 1_000_000_000
	if seconds > math.MaxInt64/second || seconds == math.MaxInt64/second && nanos > math.MaxInt64%second {
		return v, false
	}
	t := ledger.Timestamp(seconds*second + nanos)
	v.Text, v.Number = t.String(), int64(t)
	return v, true
}

// parseInteger returns a Parse of decimal numbers that have a minus sign or none and fit into a signed integer of the
// given number of bits.
func parseInteger(bits int) func(*Config, Value) (Value, bool) {
	return func(_ *Config, v Value) (Value, bool) {
		n, err := strconv.ParseInt(v.Text, 10, bits)
		ok := err == nil && signedSyntax.MatchString(v.Text)
		v.Text, v.Number = strconv.FormatInt(n, 10), n
		return v, ok
	}
}

// parseSwitch returns v with "true" and 1, or "false" and 0, for a Boolean in one of the forms that the old
// service accepted. The result is false for other texts.
func parseSwitch(_ *Config, v Value) (Value, bool) {
	switch strings.ToLower(v.Text) {
	case "true", "on", "yes", "1":
		v.Text, v.Number = "true", 1
	case "false", "off", "no", "0":
		v.Text = "false"
	default:
		return v, false
	}
	return v, true
}

// Word returns the kind of parameters that accept words. It compares letters and digits only and ignores case. The
// value's text is the word as given here, and its number is the word's index.
func Word(words ...string) Kind {
	byLetters := map[string]int{}
	for i, w := range words {
		byLetters[lettersOf(w)] = i
	}
	parse := func(_ *Config, v Value) (Value, bool) {
		i, ok := byLetters[lettersOf(v.Text)]
		if ok {
			v.Text, v.Number = words[i], int64(i)
		}
		return v, ok
	}
	return Kind{Parse: parse, Enum: words}
}

// lettersOf returns the ASCII letters and digits of s in lower case.
func lettersOf(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		default:
			return -1
		}
	}, s)
}

// parsePathID returns v with the text and number of an entity ID of the path, which is stricter than in
// parameters. The result is false for other texts.
func parsePathID(c *Config, v Value) (Value, bool) {
	id, err := ledger.ParseEntityID(v.Text, c.Base)
	ok := err == nil && modernIDSyntax.MatchString(v.Text)
	v.Text, v.Number = id.String(), int64(id)
	return v, ok
}

// literalPrefix precedes an AccountRef of the graph that identifies a live account by its stored address or alias.
const literalPrefix = "literal:"

// parsePathAccount returns v with an account of the path: an entity ID, an EVM address or an alias. The text of the
// latter two loses shard and realm and gets literalPrefix. The result is false for other texts.
func parsePathAccount(c *Config, v Value) (Value, bool) {
	if modernIDSyntax.MatchString(v.Text) {
		return parsePathID(c, v)
	}
	if m := modernAddressSyntax.FindStringSubmatch(v.Text); m != nil {
		v.Text = literalPrefix + "0x" + strings.ToLower(m[1])
		return v, true
	}
	m := modernAliasSyntax.FindStringSubmatch(v.Text)
	if m == nil {
		return v, false
	}
	switch len(m[1]) % 8 {
	case 1, 3, 6: // no whole number of bytes has this many letters
		return v, false
	}
	// Bits after the last byte are dropped.
	alias, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(m[1])
	v.Text = literalPrefix + ledger.Alias(alias).String()
	return v, err == nil
}

// parseSlot returns v with a storage slot as "0x" and 64 digits. The result is false for other texts.
func parseSlot(_ *Config, v Value) (Value, bool) {
	m := slotSyntax.FindStringSubmatch(v.Text)
	if m == nil {
		return v, false
	}
	v.Text = "0x" + strings.Repeat("0", 64-len(m[1])) + strings.ToLower(m[1])
	return v, true
}

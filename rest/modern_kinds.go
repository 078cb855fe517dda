package rest

import (
	"encoding/base32"
	"encoding/hex"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
)

// Read converts the values of a parameter in the modern family. Reads are immutable.
type Read struct {
	// Convert parses text, with the operator in any case. It returns the operator, the canonical text and its number.
	// ok is false if the text is invalid.
	Convert func(c *Config, text string) (v Value, ok bool)
	// Form documents the text after the operator.
	Form Form
	// Ops are the supported operators. Without any, values have no operator.
	Ops []Op
}

// Except returns a Read that does not accept an operator.
func (r Read) Except(op Op) Read {
	convert := r.Convert
	r.Convert = func(c *Config, text string) (Value, bool) {
		v, ok := convert(c, text)
		return v, ok && v.Op != op
	}
	r.Ops = slices.DeleteFunc(slices.Clone(r.Ops), func(o Op) bool { return o == op })
	return r
}

// The conversions that several endpoints share.
var (
	// ReadEntityID parses one to three numbers separated by points, with an operator. The value's number is the id as
	// stored in the database.
	ReadEntityID = Read{readEntityID, Form{
		Doc:     "An entity ID `shard.realm.num`; shard and realm are optional.",
		Pattern: `(\d+\.){0,2}\d+`,
	}, Operators()}
	// ReadLong parses a 64-bit integer that is not negative, with an operator.
	ReadLong = Read{readLong, Form{Max: math.MaxInt64}, Operators()}
	// ReadTimestamp parses a timestamp with any operator but ne. The digits after the point are a number of
	// nanoseconds, not a fraction: "1.5" is five nanoseconds after the first second. The value's number is nanoseconds
	// since 1970.
	ReadTimestamp = Read{readTimestamp, Form{
		Doc:     "Seconds since 1970, a point, and a number of nanoseconds, such as `1700000000.000000001`.",
		Pattern: `\d{1,17}(\.\d{1,9})?`,
	}, []Op{Eq, Gt, Gte, Lt, Lte}}
	// ReadInt parses a 32-bit integer without an operator.
	ReadInt = Read{readInteger(32), Form{Min: math.MinInt32, Max: math.MaxInt32}, nil}
	// ReadSignedLong parses a 64-bit integer without an operator.
	ReadSignedLong = Read{readInteger(64), Form{Min: math.MinInt64, Max: math.MaxInt64}, nil}
	// ReadBoolean parses true, on, yes, 1 and their opposites, case-insensitive. The value's number is 1 or 0.
	ReadBoolean = Read{readBoolean, Form{Enum: []string{"true", "false"}}, nil}
	// ReadPathID parses the entity id of a path, without an operator.
	ReadPathID = Read{readPathID, Form{Pattern: `(\d{1,4}\.)?(\d{1,5}\.)?\d{1,12}`}, nil}
	// ReadAccount parses the account of a path. The value's text is an AccountRef of the graph. Addresses and aliases
	// are looked up as stored: the shard and realm before them are ignored, and long-zero addresses are not converted
	// to ids.
	ReadAccount = Read{readAccount, Form{}, nil}
	// ReadSlot parses a storage slot of up to 32 bytes in hex. The value's text has all 64 digits with "0x".
	ReadSlot = Read{
		readSlot,
		Form{Doc: "Up to 32 bytes in hex.", Pattern: `(0x)?[0-9a-fA-F]{1,64}`},
		[]Op{Eq, Gt, Gte, Lt, Lte},
	}

	readOrder = Read{convertOrder, Form{Enum: []string{"asc", "desc"}}, nil}
)

var (
	modernTimestampSyntax = regexp.MustCompile(`^(\d{1,17})(?:\.(\d{1,9}))?$`)
	modernIDSyntax        = regexp.MustCompile(`^(\d{1,4}\.)?(\d{1,5}\.)?\d{1,12}$`)
	modernAddressSyntax   = regexp.MustCompile(`^(?:(?:\d{1,5}\.){0,2}|0x)([A-Fa-f0-9]{40})$`)
	modernAliasSyntax     = regexp.MustCompile(`^(?:\d{1,5}\.){0,2}([A-Z2-7]{40,70})$`)
	signedSyntax          = regexp.MustCompile(`^-?\d{1,19}$`)
)

// modernValue splits off the operator. ok is false if the operator is unknown or there is more than one.
func modernValue(text string) (v Value, ok bool) {
	op, rest, given := strings.Cut(text, ":")
	if !given {
		return Value{Op: Eq, Text: text}, true
	}
	op = strings.ToLower(op)
	return Value{Op: Op(op), Text: rest, Given: true}, isOp(op) && !strings.Contains(rest, ":")
}

func readEntityID(c *Config, text string) (Value, bool) {
	v, ok := modernValue(text)
	if !ok {
		return v, false
	}
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

func naturalNumber(s string) (int64, bool) {
	if !IsDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func readLong(_ *Config, text string) (Value, bool) {
	v, ok := modernValue(text)
	if !ok {
		return v, false
	}
	n, ok := naturalNumber(v.Text)
	v.Text, v.Number = strconv.FormatInt(n, 10), n
	return v, ok
}

func readTimestamp(_ *Config, text string) (Value, bool) {
	v, ok := modernValue(text)
	m := modernTimestampSyntax.FindStringSubmatch(v.Text)
	if !ok || v.Op == Ne || m == nil {
		return v, false
	}
	seconds, _ := strconv.ParseInt(m[1], 10, 64) // 17 digits always fit
	var nanos int64
	if m[2] != "" {
		nanos, _ = strconv.ParseInt(m[2], 10, 64)
	}
	const second = 1_000_000_000
	if seconds > math.MaxInt64/second || seconds == math.MaxInt64/second && nanos > math.MaxInt64%second {
		return v, false
	}
	t := ledger.Timestamp(seconds*second + nanos)
	v.Text, v.Number = t.String(), int64(t)
	return v, true
}

func readInteger(bits int) func(*Config, string) (Value, bool) {
	return func(_ *Config, text string) (Value, bool) {
		n, err := strconv.ParseInt(text, 10, bits)
		return Value{Op: Eq, Text: strconv.FormatInt(n, 10), Number: n}, err == nil && signedSyntax.MatchString(text)
	}
}

func readBoolean(_ *Config, text string) (Value, bool) {
	switch strings.ToLower(text) {
	case "true", "on", "yes", "1":
		return Value{Op: Eq, Text: "true", Number: 1}, true
	case "false", "off", "no", "0":
		return Value{Op: Eq, Text: "false"}, true
	default:
		return Value{}, false
	}
}

// ReadWord returns a conversion of words. It compares letters and digits only and ignores case. The value's text is
// the word as given here, and its number is the word's index.
func ReadWord(words ...string) Read {
	byLetters := map[string]int{}
	for i, w := range words {
		byLetters[lettersOf(w)] = i
	}
	convert := func(_ *Config, text string) (Value, bool) {
		i, ok := byLetters[lettersOf(text)]
		if !ok {
			return Value{}, false
		}
		return Value{Op: Eq, Text: words[i], Number: int64(i)}, true
	}
	return Read{convert, Form{Enum: words}, nil}
}

// lettersOf returns the letters and digits of s in lower case.
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

// convertOrder parses a direction, case-insensitive.
func convertOrder(_ *Config, text string) (Value, bool) {
	if !strings.EqualFold(text, "asc") && !strings.EqualFold(text, "desc") {
		return Value{}, false
	}
	return Value{Op: Eq, Text: strings.ToLower(text)}, true
}

func readPathID(c *Config, text string) (Value, bool) {
	id, err := ledger.ParseEntityID(text, c.Base)
	return Value{Op: Eq, Text: id.String(), Number: int64(id)}, err == nil && modernIDSyntax.MatchString(text)
}

// literalPrefix precedes an AccountRef of the graph that identifies a live account by its stored address or alias.
const literalPrefix = "literal:"

func readAccount(c *Config, text string) (Value, bool) {
	if modernIDSyntax.MatchString(text) {
		return readPathID(c, text)
	}
	if m := modernAddressSyntax.FindStringSubmatch(text); m != nil {
		return Value{Op: Eq, Text: literalPrefix + "0x" + strings.ToLower(m[1])}, true
	}
	m := modernAliasSyntax.FindStringSubmatch(text)
	if m == nil {
		return Value{}, false
	}
	switch len(m[1]) % 8 {
	case 1, 3, 6: // no whole number of bytes has this many letters
		return Value{}, false
	}
	// Bits after the last byte are dropped.
	alias, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(m[1])
	return Value{Op: Eq, Text: literalPrefix + ledger.Alias(alias).String()}, err == nil
}

// slotSyntax matches a storage slot with an operator. Unlike elsewhere, the operator must be in lower case.
var slotSyntax = regexp.MustCompile(`^(?:(eq|gt|gte|lt|lte):)?(?:0x)?([0-9a-fA-F]{1,64})$`)

func readSlot(_ *Config, text string) (Value, bool) {
	m := slotSyntax.FindStringSubmatch(text)
	if m == nil {
		return Value{}, false
	}
	v := Value{Op: Eq, Text: "0x" + strings.Repeat("0", 64-len(m[2])) + strings.ToLower(m[2])}
	if m[1] != "" {
		v.Op, v.Given = Op(m[1]), true
	}
	_, err := hex.DecodeString(v.Text[2:])
	return v, err == nil
}

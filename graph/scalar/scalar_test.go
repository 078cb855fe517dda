package scalar

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"heliograph/graph/relay"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
)

// TestAppend tests the JSON of each type of value in the styles GraphQL, REST and RESTCompact.
func TestAppend(t *testing.T) {
	t.Parallel()
	type styles [3]string
	all := func(text string) styles { return styles{text, text, text} }
	const null = "null"
	written := func(write func(dst []byte, style Style) []byte) styles {
		var out styles
		for i, style := range []Style{GraphQL, REST, RESTCompact} {
			text := string(write([]byte("before:"), style))
			out[i] = strings.TrimPrefix(text, "before:")
			if len(out[i]) == len(text) {
				t.Errorf("the bytes before the value were overwritten: %s", text)
			}
		}
		return out
	}
	long := func(v int64) func([]byte, Style) []byte {
		return func(dst []byte, s Style) []byte { return AppendLong(dst, v, s) }
	}
	at := func(v ledger.Timestamp) func([]byte, Style) []byte {
		return func(dst []byte, s Style) []byte { return AppendTimestamp(dst, v, s) }
	}
	text := func(v string) func([]byte, Style) []byte {
		return func(dst []byte, s Style) []byte { return AppendString(dst, v, s) }
	}
	raw := func(v []byte) func([]byte, Style) []byte {
		return func(dst []byte, s Style) []byte { return AppendBytes(dst, v, s) }
	}
	address, err := ledger.ParseEVMAddress("00a1B2c3d4e5f60718293a4b5c6d7e8f90a1b2c3")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		write func([]byte, Style) []byte
		want  styles
	}{
		"long": {long(1), styles{`"1"`, `1`, `1`}},
		"greatest long": {
			long(math.MaxInt64),
			styles{`"9223372036854775807"`, `9223372036854775807`, `9223372036854775807`},
		},
		"least long": {
			long(math.MinInt64),
			styles{`"-9223372036854775808"`, `-9223372036854775808`, `-9223372036854775808`},
		},
		"unknown long": {func(d []byte, s Style) []byte {
			return AppendNullLong(d, ledger.Null[int64]{V: 5}, s)
		}, all(null)},
		"known long": {func(d []byte, s Style) []byte {
			return AppendNullLong(d, ledger.Of(int64(0)), s)
		}, styles{`"0"`, `0`, `0`}},
		"big integer": {func(d []byte, s Style) []byte {
			return AppendBigInt(d, math.MaxInt64, s)
		}, all(`"9223372036854775807"`)},
		"unknown big integer": {func(d []byte, s Style) []byte {
			return AppendNullBigInt(d, ledger.Null[int64]{}, s)
		}, all(null)},
		"integer": {func(d []byte, s Style) []byte {
			return AppendInt(d, math.MinInt32, s)
		}, all(`-2147483648`)},
		"unknown integer": {func(d []byte, s Style) []byte {
			return AppendNullInt(d, ledger.Null[int32]{}, s)
		}, all(null)},
		"boolean": {func(d []byte, s Style) []byte { return AppendBoolean(d, true, s) }, all(`true`)},
		"known boolean": {func(d []byte, s Style) []byte {
			return AppendNullBoolean(d, ledger.Of(false), s)
		}, all(`false`)},
		"unknown boolean": {func(d []byte, s Style) []byte {
			return AppendNullBoolean(d, ledger.Null[bool]{V: true}, s)
		}, all(null)},
		"empty string":       {text(""), all(`""`)},
		"string":             {text("a\"b\\c/<&>é\U0001F600"), all("\"a\\\"b\\\\c/<&>é\U0001F600\"")},
		"control characters": {text("\x00\b\t\n\f\r\x1f\x7f"), all("\"\\u0000\\u0008\\t\\n\\u000c\\r\\u001f\x7f\"")},
		"no UTF-8":           {text("a\xffb\xc3"), all("\"a\uFFFDb\uFFFD\"")},
		"invalid bytes":      {text("\xff\x80\xc0\xaf\xf4\x90"), all("\"" + strings.Repeat("\uFFFD", 6) + "\"")},
		"surrogate":          {text("\xed\xa0\x80"), all("\"\uFFFD\uFFFD\uFFFD\"")},
		"cut characters": {
			text("\xe2\x82\xe2\x82\xacA\xf0\x9f\x98\xf0\x9f\"\xe2"),
			all("\"\uFFFD\u20ACA\uFFFD\uFFFD\\\"\uFFFD\""),
		},
		"line separators": {text("\u2028\u2029"), all("\"\u2028\u2029\"")},
		"unknown string": {func(d []byte, s Style) []byte {
			return AppendNullString(d, ledger.Null[string]{V: "x"}, s)
		}, all(null)},
		"text": {func(d []byte, s Style) []byte {
			return AppendText(d, []byte("\"\xfe\n"), s)
		}, all("\"\\\"\uFFFD\\n\"")},
		"no text":              {func(d []byte, s Style) []byte { return AppendText(d, nil, s) }, all(null)},
		"entity id":            {func(d []byte, s Style) []byte { return AppendEntityID(d, 98, s) }, all(`"0.0.98"`)},
		"no entity":            {func(d []byte, s Style) []byte { return AppendEntityID(d, 0, s) }, all(null)},
		"no entity of a shard": {func(d []byte, s Style) []byte { return AppendEntityID(d, 5<<54, s) }, all(null)},
		"entity of shard 1023": {func(d []byte, s Style) []byte {
			return AppendEntityID(d, -1, s)
		}, all(`"1023.65535.274877906943"`)},
		"timestamp":        {at(1700000000000000001), all(`"1700000000.000000001"`)},
		"instant 0":        {at(0), styles{`"0.000000000"`, `"0.000000000"`, `"0.0"`}},
		"instant 1":        {at(1), all(`"0.000000001"`)},
		"before 1970":      {at(-500_000_000), all(`"-0.500000000"`)},
		"long before 1970": {at(math.MinInt64), all(`"-9223372036.854775808"`)},
		"last instant":     {at(math.MaxInt64), all(`"9223372036.854775807"`)},
		"unknown timestamp": {func(d []byte, s Style) []byte {
			return AppendNullTimestamp(d, ledger.Null[ledger.Timestamp]{}, s)
		}, all(null)},
		"unknown day": {func(d []byte, s Style) []byte {
			return AppendDay(d, ledger.Day{Days: 5}, s)
		}, all(null)},
		"first day": {func(d []byte, s Style) []byte {
			return AppendDay(d, ledger.Day{Valid: true}, s)
		}, all(`"0.000000000"`)},
		"day of no timestamp": {
			func(d []byte, s Style) []byte { return AppendDay(d, ledger.Day{Days: 1705318581, Valid: true}, s) },
			all(`"147339525398400.000000000"`),
		},
		"last day": {
			func(d []byte, s Style) []byte { return AppendDay(d, ledger.Day{Days: math.MaxInt64, Valid: true}, s) },
			all(`"796899343984252629724800.000000000"`),
		},
		"bytes":       {raw([]byte{0xfb, 0xff}), styles{`"0xfbff"`, `"+/8="`, `"+/8="`}},
		"empty bytes": {raw([]byte{}), styles{`"0x"`, `""`, `""`}},
		"no bytes":    {raw(nil), all(null)},
		"hex":         {func(d []byte, s Style) []byte { return AppendHex(d, []byte{0xAB}, s) }, all(`"0xab"`)},
		"empty hex":   {func(d []byte, s Style) []byte { return AppendHex(d, []byte{}, s) }, all(`"0x"`)},
		"no hex":      {func(d []byte, s Style) []byte { return AppendHex(d, nil, s) }, all(null)},
		"hash":        {func(d []byte, s Style) []byte { return AppendHash(d, "0xab", s) }, all(`"0xab"`)},
		"address": {func(d []byte, s Style) []byte {
			return AppendEVMAddress(d, address, s)
		}, all(`"0x00a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3"`)},
		"unknown address": {func(d []byte, s Style) []byte {
			return AppendNullEVMAddress(d, ledger.Null[ledger.EVMAddress]{}, s)
		}, all(null)},
		"alias": {func(d []byte, s Style) []byte {
			return AppendAlias(d, ledger.Alias{0xff}, s)
		}, all(`"74"`)},
		"no alias": {func(d []byte, s Style) []byte { return AppendAlias(d, nil, s) }, all(null)},
		"transaction id": {func(d []byte, s Style) []byte {
			return AppendTransactionID(d, ledger.TransactionID{Payer: 2, ValidStart: 7_000_000_042}, s)
		}, all(`"0.0.2-7-000000042"`)},
		"order": {func(d []byte, s Style) []byte {
			return AppendOrder(d, relay.Desc, s)
		}, all(`"DESC"`)},
		"entity type": {func(d []byte, s Style) []byte {
			return AppendEntityType(d, "TOPIC", s)
		}, all(`"TOPIC"`)},
		"component status": {func(d []byte, s Style) []byte {
			return AppendComponentStatus(d, "operational", s)
		}, styles{`"OPERATIONAL"`, `"operational"`, `"operational"`}},
		"no component status": {func(d []byte, s Style) []byte { return AppendComponentStatus(d, "", s) }, all(null)},
		"unknown KYC status": {func(d []byte, s Style) []byte {
			return AppendNullTokenKYCStatus(d, ledger.Null[ledger.TokenKYCStatus]{V: "GRANTED"}, s)
		}, all(null)},
		"known KYC status": {func(d []byte, s Style) []byte {
			return AppendNullTokenKYCStatus(d, ledger.Of[ledger.TokenKYCStatus]("GRANTED"), s)
		}, all(`"GRANTED"`)},
		"complex key": {func(d []byte, s Style) []byte {
			return AppendKeyType(d, ledger.KeyProtobufEncoded, s)
		}, styles{`"PROTOBUF_ENCODED"`, `"ProtobufEncoded"`, `"ProtobufEncoded"`}},
		"simple key": {func(d []byte, s Style) []byte {
			return AppendKeyType(d, "ED25519", s)
		}, all(`"ED25519"`)},
		"transaction type": {func(d []byte, s Style) []byte {
			return AppendTransactionType(d, 14, s)
		}, all(`"CRYPTOTRANSFER"`)},
		"unknown type": {func(d []byte, s Style) []byte {
			return AppendTransactionType(d, 32767, s)
		}, all(`"UNKNOWN"`)},
		"result": {func(d []byte, s Style) []byte {
			return AppendResponseCode(d, 22, s)
		}, all(`"SUCCESS"`)},
		"unknown result": {func(d []byte, s Style) []byte {
			return AppendResponseCode(d, 32767, s)
		}, all(`"UNKNOWN"`)},
		"nothing pointed to": {func(d []byte, s Style) []byte {
			return AppendPointer(d, nil, s, AppendLong)
		}, all(null)},
		"something pointed to": {func(d []byte, s Style) []byte {
			v := int64(3)
			return AppendPointer(d, &v, s, AppendLong)
		}, styles{`"3"`, `3`, `3`}},
	} {
		got := written(c.write)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, text := range got {
			if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
				t.Errorf("%s: %q is not valid JSON", name, text)
			}
		}
	}
}

// TestMarshal tests that marshallers for gqlgen use the style of the context, and GraphQL by default.
func TestMarshal(t *testing.T) {
	t.Parallel()
	for style, want := range map[Style]string{GraphQL: `"5"`, REST: `5`} {
		var b bytes.Buffer
		if err := MarshalLong(5).MarshalGQLContext(values.Context(t.Context(), (&Env{Style: style}).Value()),
			&b); err != nil || b.String() != want {
			t.Errorf("%s, error %v, want %s", b.String(), err, want)
		}
	}
	var b bytes.Buffer
	if err := MarshalLong(5).MarshalGQLContext(t.Context(), &b); err != nil || b.String() != `"5"` {
		t.Errorf("%s, error %v", b.String(), err)
	}
}

// TestAppendStringEscapes tests each byte at each place of a string, and beside each other one: several are checked at
// a time.
func TestAppendStringEscapes(t *testing.T) {
	t.Parallel()
	check := func(s string) {
		t.Helper()
		library, err := json.Marshal(s)
		var back, want string
		text := AppendString(nil, s, REST)
		for into, text := range map[*string][]byte{&want: library, &back: text} {
			err = cmp.Or(err, json.Unmarshal(text, into))
		}
		if err != nil || back != want {
			t.Errorf("%q is encoded as %s: %v", s, text, err)
		}
	}
	for c := range 256 {
		for i := range 17 {
			b := []byte("abcdefghijklmnopq")
			b[i] = byte(c)
			check(string(b))
		}
		for d := range utf8.RuneSelf {
			check("ab" + string([]byte{byte(c), byte(d)}) + "cdef")
		}
	}
}

// FuzzAppendString tests that any string is encoded as one JSON string, and that valid UTF-8 is decoded to the same
// string.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{
		"", "a", "\x00\x1f\"\\", "\xff\xc3", "\u2028é\U0001F600",
		strings.Repeat("x", 100) + "\n",
	} {
		f.Add(s)
	}
	readable := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\uFFFD", "") }
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		text := AppendString(nil, s, REST)
		if err := json.Unmarshal(text, &back); err != nil || !utf8.Valid(text) {
			t.Fatalf("%q is encoded as %q: %v", s, text, err)
		}
		if utf8.ValidString(s) && back != s || readable(s) != readable(back) {
			t.Errorf("%q is decoded as %q", s, back)
		}
	})
}

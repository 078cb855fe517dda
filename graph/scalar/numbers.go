package scalar

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/internal/domain/ledger"
)

// AppendLong appends a 64-bit integer: a string in GraphQL, because JavaScript clients round numbers above 2^53, and a number in REST.
func AppendLong(dst []byte, v int64, style Style) []byte {
	if style == GraphQL {
		return AppendBigInt(dst, v, style)
	}
	return strconv.AppendInt(dst, v, 10)
}

// MarshalLong is [AppendLong] for gqlgen.
func MarshalLong(v int64) graphql.ContextMarshaler { return with(v, AppendLong) }

// UnmarshalLong parses a signed 64-bit integer given as a number or a decimal string.
func UnmarshalLong(_ context.Context, v any) (int64, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fault.Input("%q is not a signed 64-bit integer", text)
	}
	return n, nil
}

// AppendBigInt appends an integer as a decimal string in every style.
func AppendBigInt(dst []byte, v int64, _ Style) []byte {
	return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
}

// MarshalBigInt is [AppendBigInt] for gqlgen.
func MarshalBigInt(v int64) graphql.ContextMarshaler { return with(v, AppendBigInt) }

// UnmarshalBigInt is [UnmarshalLong].
func UnmarshalBigInt(ctx context.Context, v any) (int64, error) { return UnmarshalLong(ctx, v) }

// AppendInt appends a 32-bit integer.
func AppendInt(dst []byte, v int32, _ Style) []byte { return strconv.AppendInt(dst, int64(v), 10) }

// MarshalInt is [AppendInt] for gqlgen.
func MarshalInt(v int32) graphql.ContextMarshaler { return with(v, AppendInt) }

// UnmarshalInt parses a signed 32-bit integer given as a number, as the GraphQL specification requires for Int.
func UnmarshalInt(_ context.Context, v any) (int32, error) {
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case int32:
		return v, nil
	case json.Number:
		var err error
		if n, err = v.Int64(); err != nil {
			return 0, fault.Input("%s is not an integer", v)
		}
	default:
		return 0, fault.Input("an integer is required, not %T", v)
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 0, fault.Input("%d is not a signed 32-bit integer", n)
	}
	return int32(n), nil
}

// AppendBoolean appends true or false.
func AppendBoolean(dst []byte, v bool, _ Style) []byte { return strconv.AppendBool(dst, v) }

// MarshalBoolean is [AppendBoolean] for gqlgen.
func MarshalBoolean(v bool) graphql.ContextMarshaler { return with(v, AppendBoolean) }

// UnmarshalBoolean parses true or false.
func UnmarshalBoolean(_ context.Context, v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, fault.Input("a boolean is required, not %T", v)
	}
	return b, nil
}

// readNullable parses a nullable value. Null is unknown.
func readNullable[T any](ctx context.Context, v any, read func(context.Context, any) (T, error)) (ledger.Null[T], error) {
	if v == nil {
		return ledger.Null[T]{}, nil
	}
	got, err := read(ctx, v)
	return ledger.Null[T]{V: got, Valid: err == nil}, err
}

// AppendFloat appends a number with the smallest number of digits that represents it exactly. Integers have one decimal.
func AppendFloat(dst []byte, v ledger.Share, _ Style) []byte {
	text := strconv.FormatFloat(float64(v), 'f', -1, 32)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return append(dst, text...)
}

// MarshalFloat is [AppendFloat] for gqlgen.
func MarshalFloat(v ledger.Share) graphql.ContextMarshaler { return with(v, AppendFloat) }

// UnmarshalFloat parses a number.
func UnmarshalFloat(_ context.Context, v any) (ledger.Share, error) {
	f, err := graphql.UnmarshalFloat(v)
	if err != nil {
		return 0, fault.Input("a number is required, not %T", v)
	}
	return ledger.Share(f), nil
}

// AppendDouble appends a number with the smallest number of digits that represents it exactly.
func AppendDouble(dst []byte, v float64, _ Style) []byte {
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// MarshalDouble is [AppendDouble] for gqlgen.
func MarshalDouble(v float64) graphql.ContextMarshaler { return with(v, AppendDouble) }

// UnmarshalDouble parses a number.
func UnmarshalDouble(_ context.Context, v any) (float64, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fault.Input("%q is not a number", text)
	}
	return f, nil
}

// AppendInteger appends an integer of any size: a string in GraphQL, a number in REST, or null if it is empty.
func AppendInteger(dst []byte, v ledger.Integer, style Style) []byte {
	switch {
	case v == "":
		return append(dst, null...)
	case style == GraphQL:
		return AppendString(dst, string(v), style)
	default:
		return append(dst, v...)
	}
}

// MarshalInteger is [AppendInteger] for gqlgen.
func MarshalInteger(v ledger.Integer) graphql.ContextMarshaler { return with(v, AppendInteger) }

// UnmarshalInteger parses an integer given as a number or in decimal digits.
func UnmarshalInteger(_ context.Context, v any) (ledger.Integer, error) {
	text, err := inputText(v)
	if err != nil {
		return "", err
	}
	if _, ok := new(big.Int).SetString(text, 10); !ok {
		return "", fault.Input("%q is not an integer", text)
	}
	return ledger.Integer(text), nil
}

// AppendQuantity appends an integer as "0x" and hex, or null if it is empty.
func AppendQuantity(dst []byte, v ledger.Quantity, style Style) []byte {
	if v == "" {
		return append(dst, null...)
	}
	return AppendString(dst, string(v), style)
}

// MarshalQuantity is [AppendQuantity] for gqlgen.
func MarshalQuantity(v ledger.Quantity) graphql.ContextMarshaler { return with(v, AppendQuantity) }

// UnmarshalQuantity parses "0x" and hex digits.
func UnmarshalQuantity(_ context.Context, v any) (ledger.Quantity, error) {
	text, err := inputText(v)
	if err != nil {
		return "", err
	}
	if len(text) < 3 || text[:2] != "0x" || !ledger.IsHex(text[2:]) {
		return "", fault.Input("%q is not 0x and hex digits", text)
	}
	return ledger.Quantity(text), nil
}

const hexDigits = "0123456789abcdef"

// AppendString appends a JSON string. It escapes only what JSON requires, except in the documents of status pages. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string, style Style) []byte {
	if style == Status {
		return appendEscaped(dst, s)
	}
	if !utf8.ValidString(s) {
		s = validUTF8(s)
	}
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// validUTF8 replaces invalid UTF-8 as the Unicode standard recommends and as clients' decoders do: each prefix of a valid sequence, and each other invalid
// byte, becomes one U+FFFD.
func validUTF8(s string) string {
	var b strings.Builder
	b.Grow(len(s) + utf8.UTFMax)
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		b.WriteRune(r)
		if r == utf8.RuneError && n == 1 {
			for n < len(s) && !utf8.FullRuneInString(s[:n+1]) {
				n++
			}
		}
		s = s[n:]
	}
	return b.String()
}

// MarshalString is [AppendString] for gqlgen.
func MarshalString(v string) graphql.ContextMarshaler { return with(v, AppendString) }

// UnmarshalString parses a string.
func UnmarshalString(_ context.Context, v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fault.Input("a string is required, not %T", v)
	}
	return s, nil
}

// AppendText appends UTF-8 text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendText(dst, v []byte, style Style) []byte {
	if v == nil {
		return append(dst, null...)
	}
	return AppendString(dst, string(v), style)
}

// MarshalText is [AppendText] for gqlgen.
func MarshalText(v []byte) graphql.ContextMarshaler { return with(v, AppendText) }

// UnmarshalText parses a string as its UTF-8 bytes.
func UnmarshalText(ctx context.Context, v any) ([]byte, error) {
	s, err := UnmarshalString(ctx, v)
	return []byte(s), err
}

// AppendHbarAmount writes an amount in its unit as a string, or null.
func AppendHbarAmount(dst []byte, v ledger.HbarAmount, _ Style) []byte {
	if !v.Tinybars.Valid {
		return append(dst, null...)
	}
	dst, _ = v.AppendText(append(dst, '"'))
	return append(dst, '"')
}

// MarshalHbarAmount is [AppendHbarAmount] for gqlgen.
func MarshalHbarAmount(v ledger.HbarAmount) graphql.ContextMarshaler {
	return with(v, AppendHbarAmount)
}

// UnmarshalHbarAmount fails: amounts with a unit are not an input.
func UnmarshalHbarAmount(context.Context, any) (ledger.HbarAmount, error) {
	return ledger.HbarAmount{}, fault.Input("an amount with a unit is not an input")
}

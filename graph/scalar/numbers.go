package scalar

import (
	"context"
	"encoding/json"
	"math"
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

// AppendNullLong is [AppendLong], or null.
func AppendNullLong(dst []byte, v ledger.Null[int64], style Style) []byte {
	return nullable(dst, v, style, AppendLong)
}

// MarshalNullLong is [AppendNullLong] for gqlgen.
func MarshalNullLong(v ledger.Null[int64]) graphql.ContextMarshaler { return with(v, AppendNullLong) }

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

// UnmarshalNullLong is [UnmarshalLong]. Null is unknown.
func UnmarshalNullLong(ctx context.Context, v any) (ledger.Null[int64], error) {
	return readNullable(ctx, v, UnmarshalLong)
}

// AppendBigInt appends an integer as a decimal string in every style.
func AppendBigInt(dst []byte, v int64, _ Style) []byte {
	return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
}

// MarshalBigInt is [AppendBigInt] for gqlgen.
func MarshalBigInt(v int64) graphql.ContextMarshaler { return with(v, AppendBigInt) }

// UnmarshalBigInt is [UnmarshalLong].
func UnmarshalBigInt(ctx context.Context, v any) (int64, error) { return UnmarshalLong(ctx, v) }

// AppendNullBigInt is [AppendBigInt], or null.
func AppendNullBigInt(dst []byte, v ledger.Null[int64], style Style) []byte {
	return nullable(dst, v, style, AppendBigInt)
}

// MarshalNullBigInt is [AppendNullBigInt] for gqlgen.
func MarshalNullBigInt(v ledger.Null[int64]) graphql.ContextMarshaler {
	return with(v, AppendNullBigInt)
}

// UnmarshalNullBigInt is [UnmarshalLong]. Null is unknown.
func UnmarshalNullBigInt(ctx context.Context, v any) (ledger.Null[int64], error) {
	return readNullable(ctx, v, UnmarshalLong)
}

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

// AppendNullInt is [AppendInt], or null.
func AppendNullInt(dst []byte, v ledger.Null[int32], style Style) []byte {
	return nullable(dst, v, style, AppendInt)
}

// MarshalNullInt is [AppendNullInt] for gqlgen.
func MarshalNullInt(v ledger.Null[int32]) graphql.ContextMarshaler { return with(v, AppendNullInt) }

// UnmarshalNullInt is [UnmarshalInt]. Null is unknown.
func UnmarshalNullInt(ctx context.Context, v any) (ledger.Null[int32], error) {
	return readNullable(ctx, v, UnmarshalInt)
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

// AppendNullBoolean is [AppendBoolean], or null.
func AppendNullBoolean(dst []byte, v ledger.Null[bool], style Style) []byte {
	return nullable(dst, v, style, AppendBoolean)
}

// MarshalNullBoolean is [AppendNullBoolean] for gqlgen.
func MarshalNullBoolean(v ledger.Null[bool]) graphql.ContextMarshaler {
	return with(v, AppendNullBoolean)
}

// UnmarshalNullBoolean is [UnmarshalBoolean]. Null is unknown.
func UnmarshalNullBoolean(ctx context.Context, v any) (ledger.Null[bool], error) {
	return readNullable(ctx, v, UnmarshalBoolean)
}

// readNullable parses a nullable value. Null is unknown.
func readNullable[T any](ctx context.Context, v any, read func(context.Context, any) (T, error)) (ledger.Null[T], error) {
	if v == nil {
		return ledger.Null[T]{}, nil
	}
	got, err := read(ctx, v)
	return ledger.Null[T]{V: got, Valid: err == nil}, err
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

// AppendNullString is [AppendString], or null.
func AppendNullString(dst []byte, v ledger.Null[string], style Style) []byte {
	return nullable(dst, v, style, AppendString)
}

// MarshalNullString is [AppendNullString] for gqlgen.
func MarshalNullString(v ledger.Null[string]) graphql.ContextMarshaler {
	return with(v, AppendNullString)
}

// UnmarshalNullString is [UnmarshalString]. Null is unknown.
func UnmarshalNullString(ctx context.Context, v any) (ledger.Null[string], error) {
	return readNullable(ctx, v, UnmarshalString)
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

package scalar

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/internal/domain/ledger"
)

// lineLength is the number of base64 characters in a line of [ledger.LineBytes].
const lineLength = 76

// AppendLineBytes appends bytes like [AppendBytes], but splits base64 into lines. Each line except the last ends with a line feed.
func AppendLineBytes(dst []byte, v ledger.LineBytes, style Style) []byte {
	if style == GraphQL || v == nil {
		return AppendHex(dst, v, style)
	}
	text := base64.StdEncoding.EncodeToString(v)
	dst = append(dst, '"')
	for len(text) > lineLength {
		dst = append(append(dst, text[:lineLength]...), '\\', 'n')
		text = text[lineLength:]
	}
	return append(append(dst, text...), '"')
}

// MarshalLineBytes is [AppendLineBytes] for gqlgen.
func MarshalLineBytes(v ledger.LineBytes) graphql.ContextMarshaler { return with(v, AppendLineBytes) }

// UnmarshalLineBytes is [UnmarshalBytes].
func UnmarshalLineBytes(ctx context.Context, v any) (ledger.LineBytes, error) {
	return UnmarshalBytes(ctx, v)
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

// AppendNullEmpty appends an object without members, or null.
func AppendNullEmpty(dst []byte, v ledger.Null[ledger.Empty], style Style) []byte {
	return nullable(dst, v, style, func(dst []byte, _ ledger.Empty, _ Style) []byte { return append(dst, "{}"...) })
}

// MarshalNullEmpty is [AppendNullEmpty] for gqlgen.
func MarshalNullEmpty(v ledger.Null[ledger.Empty]) graphql.ContextMarshaler {
	return with(v, AppendNullEmpty)
}

// UnmarshalNullEmpty returns a known value unless v is null.
func UnmarshalNullEmpty(_ context.Context, v any) (ledger.Null[ledger.Empty], error) {
	return ledger.Null[ledger.Empty]{Valid: v != nil}, nil
}

// AppendScheduleState appends a schedule state.
func AppendScheduleState(dst []byte, v ledger.ScheduleState, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalScheduleState is [AppendScheduleState] for gqlgen.
func MarshalScheduleState(v ledger.ScheduleState) graphql.ContextMarshaler {
	return with(v, AppendScheduleState)
}

// UnmarshalScheduleState parses a schedule state.
func UnmarshalScheduleState(_ context.Context, v any) (ledger.ScheduleState, error) {
	return readName[ledger.ScheduleState](v)
}

// AppendSignatureType appends a signature type.
func AppendSignatureType(dst []byte, v ledger.SignatureType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalSignatureType is [AppendSignatureType] for gqlgen.
func MarshalSignatureType(v ledger.SignatureType) graphql.ContextMarshaler {
	return with(v, AppendSignatureType)
}

// UnmarshalSignatureType parses a signature type.
func UnmarshalSignatureType(_ context.Context, v any) (ledger.SignatureType, error) {
	return readName[ledger.SignatureType](v)
}

// AppendBlockNodeAPI appends a block node API.
func AppendBlockNodeAPI(dst []byte, v ledger.BlockNodeAPI, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalBlockNodeAPI is [AppendBlockNodeAPI] for gqlgen.
func MarshalBlockNodeAPI(v ledger.BlockNodeAPI) graphql.ContextMarshaler {
	return with(v, AppendBlockNodeAPI)
}

// UnmarshalBlockNodeAPI parses a block node API.
func UnmarshalBlockNodeAPI(_ context.Context, v any) (ledger.BlockNodeAPI, error) {
	return readName[ledger.BlockNodeAPI](v)
}

// AppendRegisteredNodeType appends a registered node type.
func AppendRegisteredNodeType(dst []byte, v ledger.RegisteredNodeType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalRegisteredNodeType is [AppendRegisteredNodeType] for gqlgen.
func MarshalRegisteredNodeType(v ledger.RegisteredNodeType) graphql.ContextMarshaler {
	return with(v, AppendRegisteredNodeType)
}

// UnmarshalRegisteredNodeType parses a registered node type.
func UnmarshalRegisteredNodeType(_ context.Context, v any) (ledger.RegisteredNodeType, error) {
	return readName[ledger.RegisteredNodeType](v)
}

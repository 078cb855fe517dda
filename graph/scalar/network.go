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

// lineLength is how many characters of base64 stand in a line of [ledger.LineBytes].
const lineLength = 76

// AppendLineBytes writes bytes as [AppendBytes] does, but base64 in lines, which end with a line feed, the last one excepted.
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

// AppendFloat writes a fraction with as few digits as tell it from its neighbours; whole numbers keep one decimal.
func AppendFloat(dst []byte, v ledger.Share, _ Style) []byte {
	text := strconv.FormatFloat(float64(v), 'f', -1, 32)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return append(dst, text...)
}

// MarshalFloat is [AppendFloat] for gqlgen.
func MarshalFloat(v ledger.Share) graphql.ContextMarshaler { return with(v, AppendFloat) }

// UnmarshalFloat reads a number.
func UnmarshalFloat(_ context.Context, v any) (ledger.Share, error) {
	f, err := graphql.UnmarshalFloat(v)
	if err != nil {
		return 0, fault.Input("a number is needed, not %T", v)
	}
	return ledger.Share(f), nil
}

// AppendNullEmpty writes an object without members, or null.
func AppendNullEmpty(dst []byte, v ledger.Null[ledger.Empty], style Style) []byte {
	return nullable(dst, v, style, func(dst []byte, _ ledger.Empty, _ Style) []byte { return append(dst, "{}"...) })
}

// MarshalNullEmpty is [AppendNullEmpty] for gqlgen.
func MarshalNullEmpty(v ledger.Null[ledger.Empty]) graphql.ContextMarshaler {
	return with(v, AppendNullEmpty)
}

// UnmarshalNullEmpty reads whether there is something.
func UnmarshalNullEmpty(_ context.Context, v any) (ledger.Null[ledger.Empty], error) {
	return ledger.Null[ledger.Empty]{Valid: v != nil}, nil
}

// AppendScheduleState writes what became of a schedule.
func AppendScheduleState(dst []byte, v ledger.ScheduleState, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalScheduleState is [AppendScheduleState] for gqlgen.
func MarshalScheduleState(v ledger.ScheduleState) graphql.ContextMarshaler {
	return with(v, AppendScheduleState)
}

// UnmarshalScheduleState reads what became of a schedule.
func UnmarshalScheduleState(_ context.Context, v any) (ledger.ScheduleState, error) {
	return readName[ledger.ScheduleState](v)
}

// AppendSignatureType writes how a signature was made.
func AppendSignatureType(dst []byte, v ledger.SignatureType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalSignatureType is [AppendSignatureType] for gqlgen.
func MarshalSignatureType(v ledger.SignatureType) graphql.ContextMarshaler {
	return with(v, AppendSignatureType)
}

// UnmarshalSignatureType reads how a signature was made.
func UnmarshalSignatureType(_ context.Context, v any) (ledger.SignatureType, error) {
	return readName[ledger.SignatureType](v)
}

// AppendBlockNodeAPI writes an interface of a block node.
func AppendBlockNodeAPI(dst []byte, v ledger.BlockNodeAPI, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalBlockNodeAPI is [AppendBlockNodeAPI] for gqlgen.
func MarshalBlockNodeAPI(v ledger.BlockNodeAPI) graphql.ContextMarshaler {
	return with(v, AppendBlockNodeAPI)
}

// UnmarshalBlockNodeAPI reads an interface of a block node.
func UnmarshalBlockNodeAPI(_ context.Context, v any) (ledger.BlockNodeAPI, error) {
	return readName[ledger.BlockNodeAPI](v)
}

// AppendRegisteredNodeType writes a kind of registered node.
func AppendRegisteredNodeType(dst []byte, v ledger.RegisteredNodeType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalRegisteredNodeType is [AppendRegisteredNodeType] for gqlgen.
func MarshalRegisteredNodeType(v ledger.RegisteredNodeType) graphql.ContextMarshaler {
	return with(v, AppendRegisteredNodeType)
}

// UnmarshalRegisteredNodeType reads a kind of registered node.
func UnmarshalRegisteredNodeType(_ context.Context, v any) (ledger.RegisteredNodeType, error) {
	return readName[ledger.RegisteredNodeType](v)
}

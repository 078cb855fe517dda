package scalar

import (
	"context"
	"encoding/hex"

	"github.com/99designs/gqlgen/graphql"
	"github.com/emmansun/base64"

	"heliograph/graph/fault"
	"heliograph/internal/domain/ledger"
)

// quoted appends a JSON string of text that needs no escaping.
func quoted(dst []byte, write func([]byte) []byte) []byte {
	return append(write(append(dst, '"')), '"')
}

// AppendEntityID appends "shard.realm.num", or null for the zero id.
func AppendEntityID(dst []byte, v ledger.EntityID, _ Style) []byte {
	if v.IsNone() {
		return append(dst, null...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// MarshalEntityID is [AppendEntityID] for gqlgen.
func MarshalEntityID(v ledger.EntityID) graphql.ContextMarshaler { return with(v, AppendEntityID) }

// UnmarshalEntityID parses "shard.realm.num". Shard and realm are optional.
func UnmarshalEntityID(ctx context.Context, v any) (ledger.EntityID, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	return input(ledger.ParseEntityID(text, EnvOf(ctx).Base))
}

// AppendTimestamp appends "seconds.nanoseconds".
func AppendTimestamp(dst []byte, v ledger.Timestamp, style Style) []byte {
	if v == 0 && style == RESTCompact {
		return append(dst, `"0.0"`...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// MarshalTimestamp is [AppendTimestamp] for gqlgen.
func MarshalTimestamp(v ledger.Timestamp) graphql.ContextMarshaler { return with(v, AppendTimestamp) }

// UnmarshalTimestamp parses seconds with an optional fraction of up to nine digits.
func UnmarshalTimestamp(_ context.Context, v any) (ledger.Timestamp, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	return input(ledger.ParseTimestamp(text))
}

// AppendNullTimestamp is [AppendTimestamp], or null.
func AppendNullTimestamp(dst []byte, v ledger.Null[ledger.Timestamp], style Style) []byte {
	return nullable(dst, v, style, AppendTimestamp)
}

// MarshalNullTimestamp is [AppendNullTimestamp] for gqlgen.
func MarshalNullTimestamp(v ledger.Null[ledger.Timestamp]) graphql.ContextMarshaler {
	return with(v, AppendNullTimestamp)
}

// UnmarshalNullTimestamp is [UnmarshalTimestamp]. Null is unknown.
func UnmarshalNullTimestamp(ctx context.Context, v any) (ledger.Null[ledger.Timestamp], error) {
	return readNullable(ctx, v, UnmarshalTimestamp)
}

// AppendBytes appends bytes: "0x" and hex in GraphQL, padded base64 in REST, null for nil.
func AppendBytes(dst, v []byte, style Style) []byte {
	if style == GraphQL || v == nil {
		return AppendHex(dst, v, style)
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v), '"')
}

// MarshalBytes is [AppendBytes] for gqlgen.
func MarshalBytes(v []byte) graphql.ContextMarshaler { return with(v, AppendBytes) }

// UnmarshalBytes parses hex with or without "0x".
func UnmarshalBytes(_ context.Context, v any) ([]byte, error) {
	text, err := inputText(v)
	if err != nil {
		return nil, err
	}
	return input(ledger.ParseHex(text))
}

// AppendHex appends bytes as "0x" and hex in every style, or null for nil.
func AppendHex(dst, v []byte, _ Style) []byte {
	if v == nil {
		return append(dst, null...)
	}
	return append(ledger.AppendHex(append(dst, '"'), v), '"')
}

// MarshalHex is [AppendHex] for gqlgen.
func MarshalHex(v []byte) graphql.ContextMarshaler { return with(v, AppendHex) }

// UnmarshalHex is [UnmarshalBytes].
func UnmarshalHex(ctx context.Context, v any) ([]byte, error) { return UnmarshalBytes(ctx, v) }

// AppendHexDigits appends bytes as hex without "0x" in every style.
func AppendHexDigits(dst []byte, v ledger.HexDigits, _ Style) []byte {
	return append(hex.AppendEncode(append(dst, '"'), v), '"')
}

// MarshalHexDigits is [AppendHexDigits] for gqlgen.
func MarshalHexDigits(v ledger.HexDigits) graphql.ContextMarshaler { return with(v, AppendHexDigits) }

// UnmarshalHexDigits parses hex digits of either case, an even number of them, with or without "0x".
func UnmarshalHexDigits(_ context.Context, v any) (ledger.HexDigits, error) {
	text, err := inputText(v)
	if err != nil {
		return nil, err
	}
	return ledger.ParseHex(text)
}

// AppendHash appends a hash in hex.
func AppendHash(dst []byte, v string, style Style) []byte { return AppendString(dst, v, style) }

// MarshalHash is [AppendHash] for gqlgen.
func MarshalHash(v string) graphql.ContextMarshaler { return with(v, AppendHash) }

// UnmarshalHash parses 64 or 96 hex digits with or without "0x", and returns them in lower case with "0x".
func UnmarshalHash(_ context.Context, v any) (string, error) {
	text, err := inputText(v)
	if err != nil {
		return "", err
	}
	h, err := ledger.ParseHash(text)
	if err != nil {
		return "", fault.Input("%v", err)
	}
	return h.String(), nil
}

// AppendEVMAddress appends "0x" and 40 hex digits.
func AppendEVMAddress(dst []byte, v ledger.EVMAddress, _ Style) []byte {
	return append(v.Append(append(dst, '"')), '"')
}

// MarshalEVMAddress is [AppendEVMAddress] for gqlgen.
func MarshalEVMAddress(v ledger.EVMAddress) graphql.ContextMarshaler {
	return with(v, AppendEVMAddress)
}

// UnmarshalEVMAddress parses 40 hex digits with or without "0x".
func UnmarshalEVMAddress(_ context.Context, v any) (ledger.EVMAddress, error) {
	text, err := inputText(v)
	if err != nil {
		return ledger.EVMAddress{}, err
	}
	return input(ledger.ParseEVMAddress(text))
}

// AppendNullEVMAddress is [AppendEVMAddress], or null.
func AppendNullEVMAddress(dst []byte, v ledger.Null[ledger.EVMAddress], style Style) []byte {
	return nullable(dst, v, style, AppendEVMAddress)
}

// MarshalNullEVMAddress is [AppendNullEVMAddress] for gqlgen.
func MarshalNullEVMAddress(v ledger.Null[ledger.EVMAddress]) graphql.ContextMarshaler {
	return with(v, AppendNullEVMAddress)
}

// UnmarshalNullEVMAddress is [UnmarshalEVMAddress]. Null is unknown.
func UnmarshalNullEVMAddress(ctx context.Context, v any) (ledger.Null[ledger.EVMAddress], error) {
	return readNullable(ctx, v, UnmarshalEVMAddress)
}

// AppendAlias appends an alias in base32, or null for nil.
func AppendAlias(dst []byte, v ledger.Alias, _ Style) []byte {
	if v == nil {
		return append(dst, null...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// MarshalAlias is [AppendAlias] for gqlgen.
func MarshalAlias(v ledger.Alias) graphql.ContextMarshaler { return with(v, AppendAlias) }

// UnmarshalAlias parses base32.
func UnmarshalAlias(_ context.Context, v any) (ledger.Alias, error) {
	text, err := inputText(v)
	if err != nil {
		return nil, err
	}
	return input(ledger.ParseAlias(text))
}

// AppendTransactionID appends "shard.realm.num-seconds-nanoseconds".
func AppendTransactionID(dst []byte, v ledger.TransactionID, _ Style) []byte {
	return quoted(dst, v.Append)
}

// MarshalTransactionID is [AppendTransactionID] for gqlgen.
func MarshalTransactionID(v ledger.TransactionID) graphql.ContextMarshaler {
	return with(v, AppendTransactionID)
}

// UnmarshalTransactionID parses "shard.realm.num-seconds-nanoseconds".
func UnmarshalTransactionID(_ context.Context, v any) (ledger.TransactionID, error) {
	text, err := inputText(v)
	if err != nil {
		return ledger.TransactionID{}, err
	}
	return input(ledger.ParseTransactionID(text))
}

// MarshalAccountRef marshals a reference in the form that the Unmarshal function parses.
func MarshalAccountRef(v ledger.AccountRef) graphql.ContextMarshaler {
	return with(v, func(dst []byte, v ledger.AccountRef, style Style) []byte { return AppendString(dst, v.String(), style) })
}

// UnmarshalAccountRef parses an entity id, an EVM address or an alias. An EVM address or an alias can have the prefix "live:".
func UnmarshalAccountRef(ctx context.Context, v any) (ledger.AccountRef, error) {
	text, err := inputText(v)
	if err != nil {
		return ledger.AccountRef{}, err
	}
	return input(ledger.ParseLiveAccountRef(text, EnvOf(ctx).Base))
}

package scalar

import (
	"context"
	"encoding/hex"

	"github.com/99designs/gqlgen/graphql"
	"github.com/emmansun/base64"

	"heliograph/internal/domain/ledger"
)

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
	return parsed(v, func(text string) (ledger.EntityID, error) { return ledger.ParseEntityID(text, EnvOf(ctx).Base) })
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
	return parsed(v, ledger.ParseTimestamp)
}

// AppendDay appends the start of a day like a timestamp, or null.
func AppendDay(dst []byte, v ledger.Day, _ Style) []byte {
	if !v.Valid {
		return append(dst, null...)
	}
	return append(v.Append(append(dst, '"')), '"')
}

// MarshalDay is [AppendDay] for gqlgen.
func MarshalDay(v ledger.Day) graphql.ContextMarshaler { return with(v, AppendDay) }

// UnmarshalDay parses the start of a day as [UnmarshalTimestamp] does.
func UnmarshalDay(ctx context.Context, v any) (ledger.Day, error) {
	t, err := UnmarshalTimestamp(ctx, v)
	return ledger.Day{Days: t.Time().Unix() / secondsPerDay, Valid: err == nil}, err
}

const secondsPerDay = 86400

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
	return parsed(v, ledger.ParseHex)
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
func UnmarshalHexDigits(ctx context.Context, v any) (ledger.HexDigits, error) {
	return UnmarshalBytes(ctx, v)
}

// AppendHash appends a hash in hex.
func AppendHash(dst []byte, v string, style Style) []byte { return AppendString(dst, v, style) }

// MarshalHash is [AppendHash] for gqlgen.
func MarshalHash(v string) graphql.ContextMarshaler { return with(v, AppendHash) }

// UnmarshalHash parses 64 or 96 hex digits with or without "0x", and returns them in lower case with "0x".
func UnmarshalHash(_ context.Context, v any) (string, error) {
	h, err := parsed(v, ledger.ParseHash)
	if err != nil {
		return "", err
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
	return parsed(v, ledger.ParseEVMAddress)
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
	return parsed(v, ledger.ParseAlias)
}

// AppendTransactionID appends "shard.realm.num-seconds-nanoseconds".
func AppendTransactionID(dst []byte, v ledger.TransactionID, _ Style) []byte {
	return append(v.Append(append(dst, '"')), '"')
}

// MarshalTransactionID is [AppendTransactionID] for gqlgen.
func MarshalTransactionID(v ledger.TransactionID) graphql.ContextMarshaler {
	return with(v, AppendTransactionID)
}

// UnmarshalTransactionID parses "shard.realm.num-seconds-nanoseconds".
func UnmarshalTransactionID(_ context.Context, v any) (ledger.TransactionID, error) {
	return parsed(v, ledger.ParseTransactionID)
}

// MarshalAccountRef marshals a reference in the form that the Unmarshal function parses.
func MarshalAccountRef(v ledger.AccountRef) graphql.ContextMarshaler {
	return with(v, func(dst []byte, v ledger.AccountRef, style Style) []byte { return AppendString(dst, v.String(), style) })
}

// UnmarshalAccountRef parses an entity id, an EVM address or an alias. An EVM address or an alias can have the prefix "live:".
func UnmarshalAccountRef(ctx context.Context, v any) (ledger.AccountRef, error) {
	return parsed(v, func(text string) (ledger.AccountRef, error) { return ledger.ParseLiveAccountRef(text, EnvOf(ctx).Base) })
}

// MarshalContractRef marshals a reference in the form that the Unmarshal function parses.
func MarshalContractRef(v ledger.ContractRef) graphql.ContextMarshaler {
	return with(v, func(dst []byte, v ledger.ContractRef, style Style) []byte {
		return AppendString(dst, v.String(), style)
	})
}

// UnmarshalContractRef parses an entity id or an EVM address.
func UnmarshalContractRef(ctx context.Context, v any) (ledger.ContractRef, error) {
	return parsed(v, func(text string) (ledger.ContractRef, error) { return ledger.ParseContractRef(text, EnvOf(ctx).Base) })
}

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

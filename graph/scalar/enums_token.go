package scalar

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/internal/domain/ledger"
)

// AppendTokenType appends a token type.
func AppendTokenType(dst []byte, v ledger.TokenType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalTokenType is [AppendTokenType] for gqlgen.
func MarshalTokenType(v ledger.TokenType) graphql.ContextMarshaler { return with(v, AppendTokenType) }

// UnmarshalTokenType parses a token type.
func UnmarshalTokenType(_ context.Context, v any) (ledger.TokenType, error) {
	return readName[ledger.TokenType](v)
}

// AppendTokenSupplyType appends a token supply type.
func AppendTokenSupplyType(dst []byte, v ledger.TokenSupplyType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalTokenSupplyType is [AppendTokenSupplyType] for gqlgen.
func MarshalTokenSupplyType(v ledger.TokenSupplyType) graphql.ContextMarshaler {
	return with(v, AppendTokenSupplyType)
}

// UnmarshalTokenSupplyType parses a token supply type.
func UnmarshalTokenSupplyType(_ context.Context, v any) (ledger.TokenSupplyType, error) {
	return readName[ledger.TokenSupplyType](v)
}

// AppendTokenPauseStatus appends a pause status.
func AppendTokenPauseStatus(dst []byte, v ledger.TokenPauseStatus, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalTokenPauseStatus is [AppendTokenPauseStatus] for gqlgen.
func MarshalTokenPauseStatus(v ledger.TokenPauseStatus) graphql.ContextMarshaler {
	return with(v, AppendTokenPauseStatus)
}

// UnmarshalTokenPauseStatus parses a pause status.
func UnmarshalTokenPauseStatus(_ context.Context, v any) (ledger.TokenPauseStatus, error) {
	return readName[ledger.TokenPauseStatus](v)
}

// AppendTokenFreezeStatus appends a freeze status, or null.
func AppendTokenFreezeStatus(dst []byte, v ledger.Null[ledger.TokenFreezeStatus], style Style) []byte {
	return nullable(dst, v, style, AppendName)
}

// MarshalTokenFreezeStatus is [AppendTokenFreezeStatus] for gqlgen.
func MarshalTokenFreezeStatus(v ledger.Null[ledger.TokenFreezeStatus]) graphql.ContextMarshaler {
	return with(v, AppendTokenFreezeStatus)
}

// UnmarshalTokenFreezeStatus parses a freeze status.
func UnmarshalTokenFreezeStatus(ctx context.Context, v any) (ledger.Null[ledger.TokenFreezeStatus], error) {
	return readNullable(ctx, v, func(_ context.Context, v any) (ledger.TokenFreezeStatus, error) {
		return readName[ledger.TokenFreezeStatus](v)
	})
}

// AppendTokenKYCStatus appends a KYC status, or null.
func AppendTokenKYCStatus(dst []byte, v ledger.Null[ledger.TokenKYCStatus], style Style) []byte {
	return nullable(dst, v, style, AppendName)
}

// MarshalTokenKYCStatus is [AppendTokenKYCStatus] for gqlgen.
func MarshalTokenKYCStatus(v ledger.Null[ledger.TokenKYCStatus]) graphql.ContextMarshaler {
	return with(v, AppendTokenKYCStatus)
}

// UnmarshalTokenKYCStatus parses a KYC status.
func UnmarshalTokenKYCStatus(ctx context.Context, v any) (ledger.Null[ledger.TokenKYCStatus], error) {
	return readNullable(ctx, v, func(_ context.Context, v any) (ledger.TokenKYCStatus, error) {
		return readName[ledger.TokenKYCStatus](v)
	})
}

package scalar

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/internal/domain/ledger"
)

// AppendTokenType writes what kind of token a token is.
func AppendTokenType(dst []byte, v ledger.TokenType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalTokenType is [AppendTokenType] for gqlgen.
func MarshalTokenType(v ledger.TokenType) graphql.ContextMarshaler { return with(v, AppendTokenType) }

// UnmarshalTokenType reads what kind of token a token is.
func UnmarshalTokenType(_ context.Context, v any) (ledger.TokenType, error) {
	return readName[ledger.TokenType](v)
}

// AppendTokenSupplyType writes whether a token's supply has a limit.
func AppendTokenSupplyType(dst []byte, v ledger.TokenSupplyType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalTokenSupplyType is [AppendTokenSupplyType] for gqlgen.
func MarshalTokenSupplyType(v ledger.TokenSupplyType) graphql.ContextMarshaler {
	return with(v, AppendTokenSupplyType)
}

// UnmarshalTokenSupplyType reads whether a token's supply has a limit.
func UnmarshalTokenSupplyType(_ context.Context, v any) (ledger.TokenSupplyType, error) {
	return readName[ledger.TokenSupplyType](v)
}

// AppendTokenPauseStatus writes whether a token is paused.
func AppendTokenPauseStatus(dst []byte, v ledger.TokenPauseStatus, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalTokenPauseStatus is [AppendTokenPauseStatus] for gqlgen.
func MarshalTokenPauseStatus(v ledger.TokenPauseStatus) graphql.ContextMarshaler {
	return with(v, AppendTokenPauseStatus)
}

// UnmarshalTokenPauseStatus reads whether a token is paused.
func UnmarshalTokenPauseStatus(_ context.Context, v any) (ledger.TokenPauseStatus, error) {
	return readName[ledger.TokenPauseStatus](v)
}

// AppendTokenFreezeStatus writes whether an account can move a token, or null.
func AppendTokenFreezeStatus(dst []byte, v ledger.Null[ledger.TokenFreezeStatus], style Style) []byte {
	return nullable(dst, v, style, AppendName)
}

// MarshalTokenFreezeStatus is [AppendTokenFreezeStatus] for gqlgen.
func MarshalTokenFreezeStatus(v ledger.Null[ledger.TokenFreezeStatus]) graphql.ContextMarshaler {
	return with(v, AppendTokenFreezeStatus)
}

// UnmarshalTokenFreezeStatus reads whether an account can move a token.
func UnmarshalTokenFreezeStatus(ctx context.Context, v any) (ledger.Null[ledger.TokenFreezeStatus], error) {
	return readNullable(ctx, v, func(_ context.Context, v any) (ledger.TokenFreezeStatus, error) {
		return readName[ledger.TokenFreezeStatus](v)
	})
}

// AppendTokenKYCStatus writes whether an account may hold a token, or null.
func AppendTokenKYCStatus(dst []byte, v ledger.Null[ledger.TokenKYCStatus], style Style) []byte {
	return nullable(dst, v, style, AppendName)
}

// MarshalTokenKYCStatus is [AppendTokenKYCStatus] for gqlgen.
func MarshalTokenKYCStatus(v ledger.Null[ledger.TokenKYCStatus]) graphql.ContextMarshaler {
	return with(v, AppendTokenKYCStatus)
}

// UnmarshalTokenKYCStatus reads whether an account may hold a token.
func UnmarshalTokenKYCStatus(ctx context.Context, v any) (ledger.Null[ledger.TokenKYCStatus], error) {
	return readNullable(ctx, v, func(_ context.Context, v any) (ledger.TokenKYCStatus, error) {
		return readName[ledger.TokenKYCStatus](v)
	})
}

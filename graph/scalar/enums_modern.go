package scalar

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/internal/domain/ledger"
)

// MarshalBoundsMode writes how bounds hold together.
func MarshalBoundsMode(v ledger.BoundsMode) graphql.ContextMarshaler { return with(v, AppendName) }

// UnmarshalBoundsMode reads how bounds hold together.
func UnmarshalBoundsMode(_ context.Context, v any) (ledger.BoundsMode, error) {
	return readName[ledger.BoundsMode](v)
}

// AppendHookType writes what runs a hook.
func AppendHookType(dst []byte, v ledger.HookType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalHookType is [AppendHookType] for gqlgen.
func MarshalHookType(v ledger.HookType) graphql.ContextMarshaler { return with(v, AppendHookType) }

// UnmarshalHookType reads what runs a hook.
func UnmarshalHookType(_ context.Context, v any) (ledger.HookType, error) {
	return readName[ledger.HookType](v)
}

// AppendHookExtensionPoint writes where a hook is called.
func AppendHookExtensionPoint(dst []byte, v ledger.HookExtensionPoint, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalHookExtensionPoint is [AppendHookExtensionPoint] for gqlgen.
func MarshalHookExtensionPoint(v ledger.HookExtensionPoint) graphql.ContextMarshaler {
	return with(v, AppendHookExtensionPoint)
}

// UnmarshalHookExtensionPoint reads where a hook is called.
func UnmarshalHookExtensionPoint(_ context.Context, v any) (ledger.HookExtensionPoint, error) {
	return readName[ledger.HookExtensionPoint](v)
}

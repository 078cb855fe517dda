package scalar

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/internal/domain/ledger"
)

// MarshalBoundsMode marshals a bounds mode.
func MarshalBoundsMode(v ledger.BoundsMode) graphql.ContextMarshaler { return with(v, AppendName) }

// UnmarshalBoundsMode parses a bounds mode.
func UnmarshalBoundsMode(_ context.Context, v any) (ledger.BoundsMode, error) {
	return readName[ledger.BoundsMode](v)
}

// AppendHookType appends a hook type.
func AppendHookType(dst []byte, v ledger.HookType, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalHookType is [AppendHookType] for gqlgen.
func MarshalHookType(v ledger.HookType) graphql.ContextMarshaler { return with(v, AppendHookType) }

// UnmarshalHookType parses a hook type.
func UnmarshalHookType(_ context.Context, v any) (ledger.HookType, error) {
	return readName[ledger.HookType](v)
}

// AppendHookExtensionPoint appends a hook extension point.
func AppendHookExtensionPoint(dst []byte, v ledger.HookExtensionPoint, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalHookExtensionPoint is [AppendHookExtensionPoint] for gqlgen.
func MarshalHookExtensionPoint(v ledger.HookExtensionPoint) graphql.ContextMarshaler {
	return with(v, AppendHookExtensionPoint)
}

// UnmarshalHookExtensionPoint parses a hook extension point.
func UnmarshalHookExtensionPoint(_ context.Context, v any) (ledger.HookExtensionPoint, error) {
	return readName[ledger.HookExtensionPoint](v)
}

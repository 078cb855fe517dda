package scalar

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/internal/domain/ledger"
)

// MarshalContractRef marshals a reference in the form that the Unmarshal function parses.
func MarshalContractRef(v ledger.ContractRef) graphql.ContextMarshaler {
	return with(v, func(dst []byte, v ledger.ContractRef, style Style) []byte {
		return AppendString(dst, v.String(), style)
	})
}

// UnmarshalContractRef parses an entity id or an EVM address.
func UnmarshalContractRef(ctx context.Context, v any) (ledger.ContractRef, error) {
	text, err := inputText(v)
	if err != nil {
		return ledger.ContractRef{}, err
	}
	return input(ledger.ParseContractRef(text, EnvOf(ctx).Base))
}

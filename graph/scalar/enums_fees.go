package scalar

import (
	"context"
	"fmt"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/internal/domain/fees"
)

// AppendFeeEstimateMode appends a fee estimate mode.
func AppendFeeEstimateMode(dst []byte, v fees.Mode, style Style) []byte {
	return AppendName(dst, v, style)
}

// MarshalFeeEstimateMode is [AppendFeeEstimateMode] for gqlgen.
func MarshalFeeEstimateMode(v fees.Mode) graphql.ContextMarshaler {
	return with(v, AppendFeeEstimateMode)
}

// UnmarshalFeeEstimateMode parses a fee estimate mode.
func UnmarshalFeeEstimateMode(_ context.Context, v any) (fees.Mode, error) {
	return readName[fees.Mode](v)
}

// AppendFeeExtraName appends the name of an extra fee.
func AppendFeeExtraName(dst []byte, v fees.Extra, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// MarshalFeeExtraName is [AppendFeeExtraName] for gqlgen.
func MarshalFeeExtraName(v fees.Extra) graphql.ContextMarshaler { return with(v, AppendFeeExtraName) }

// UnmarshalFeeExtraName parses the name of an extra fee.
func UnmarshalFeeExtraName(_ context.Context, v any) (fees.Extra, error) {
	text, err := inputText(v)
	if err != nil {
		return 0, err
	}
	for e := fees.Signatures; e <= fees.AccountCreations; e++ {
		if e.String() == text {
			return e, nil
		}
	}
	return 0, fmt.Errorf("%q is not the name of an extra fee", text)
}

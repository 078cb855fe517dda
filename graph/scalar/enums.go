package scalar

import (
	"context"
	"fmt"
	"strings"

	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
)

func appendName[T ~string](dst []byte, v T, style Style) []byte {
	return AppendString(dst, string(v), style)
}

// readName parses the name of an enum value. Validation has checked that the value exists.
func readName[T ~string](v any) (T, error) {
	text, err := inputText(v)
	return T(text), err
}

// AppendKeyType appends a key type. REST spells the type of complex keys differently.
func AppendKeyType(dst []byte, v ledger.KeyType, style Style) []byte {
	if style != GraphQL && v == ledger.KeyProtobufEncoded {
		return append(dst, `"ProtobufEncoded"`...)
	}
	return appendName(dst, v, style)
}

// AppendTransactionType appends the name of a transaction type.
func AppendTransactionType(dst []byte, v ledger.TransactionType, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// UnmarshalTransactionType parses the name of a transaction type.
func UnmarshalTransactionType(_ context.Context, v any) (ledger.TransactionType, error) {
	return parsed(v, func(name string) (ledger.TransactionType, error) {
		if strings.EqualFold(name, ledger.Unknown) {
			return 0, fmt.Errorf("%s is not a valid transaction type for input", ledger.Unknown)
		}
		return ledger.ParseTransactionType(name)
	})
}

// AppendResponseCode appends the name of a response code.
func AppendResponseCode(dst []byte, v ledger.ResponseCode, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

// AppendFeeExtraName appends the name of an extra fee.
func AppendFeeExtraName(dst []byte, v fees.Extra, style Style) []byte {
	return AppendString(dst, v.String(), style)
}

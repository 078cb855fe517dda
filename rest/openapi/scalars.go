package openapi

import (
	"math"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
)

// The patterns of formatted scalars.
const (
	entityIDPattern      = `^\d{1,4}\.\d{1,5}\.\d{1,12}$`
	timestampPattern     = `^-?\d{1,10}\.(\d{9}|0)$`
	transactionIDPattern = `^\d{1,4}\.\d{1,5}\.\d{1,12}-\d{1,10}-\d{9}$`
	hexPattern           = `^0x([0-9a-f]{2})*$`
	hashPattern          = `^0x([0-9a-f]{64}|[0-9a-f]{96})$`
	evmAddressPattern    = `^0x[0-9a-f]{40}$`
	aliasPattern         = `^[A-Z2-7]*$`
	quantityPattern      = `^0x[0-9a-f]*$`
	bigIntPattern        = `^-?\d{1,39}$`
	namePattern          = `^[A-Z][A-Z0-9_]*$`
)

func ptr[T any](v T) *T { return &v }

func text(pattern string) *Schema { return &Schema{Type: Types{"string"}, Pattern: pattern} }

// scalarSchema returns the schema of a scalar as formatted in REST responses, or nil for an unknown scalar. A test ensures that all scalars are known.
func scalarSchema(name string) *Schema {
	switch name {
	case "Boolean":
		return &Schema{Type: Types{"boolean"}}
	case "Int":
		return &Schema{Type: Types{"integer"}, Format: "int32", Minimum: ptr[int64](math.MinInt32), Maximum: ptr[int64](math.MaxInt32)}
	case "Float":
		return &Schema{Type: Types{"number"}, Format: "double"}
	case "Long":
		return &Schema{Type: Types{"integer"}, Format: "int64"}
	case "String", "ID", "AccountRef":
		return &Schema{Type: Types{"string"}}
	case "BigInt":
		return text(bigIntPattern)
	case "EntityID":
		return text(entityIDPattern)
	case "Timestamp":
		return text(timestampPattern)
	case "TransactionID":
		return text(transactionIDPattern)
	case "Bytes":
		return &Schema{Type: Types{"string"}, Format: "byte", ContentEncoding: "base64"}
	case "Integer":
		return &Schema{Type: Types{"integer"}}
	case "Quantity":
		return text(quantityPattern)
	case "Empty":
		return newObject()
	case "Hex":
		return text(hexPattern)
	case "Hash":
		return text(hashPattern)
	case "EVMAddress":
		return text(evmAddressPattern)
	case "Alias":
		return text(aliasPattern)
	case "ResponseCode", "TransactionType":
		return text(namePattern)
	default:
		return nil
	}
}

// enumSchema returns the schema of an enum as formatted in REST responses.
func enumSchema(def *ast.Definition) *Schema {
	s := &Schema{Type: Types{"string"}}
	for _, v := range def.EnumValues {
		s.Enum = append(s.Enum, restName(def.Name, v.Name))
	}
	return s
}

// restName returns the REST spelling of an enum value.
func restName(enum, value string) string {
	if enum != "KeyType" {
		return value
	}
	quoted := string(scalar.AppendKeyType(nil, ledger.KeyType(value), scalar.REST))
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return value
	}
	return name
}

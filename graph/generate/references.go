package main

import (
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/codegen"
)

const referencesFile = "resolvers/references_gen.go"

// queues are the functions that queue reading objects of a type by their keys.
var queues = map[string]string{
	"Account": "entities.QueueAccounts", "Block": "transactions.QueueBlocksAt", "Contract": "entities.QueueContracts",
	"ContractResult": "transactions.QueueContractResultsAt", "Entity": "queueEntities", "File": "entities.QueueFiles",
	"NetworkNode": "entities.QueueNetworkNodes", "Token": "entities.QueueTokens", "Topic": "queueTopics", "Transaction": "transactions.QueueTransactionsAt",
}

// references returns the source of the functions of fields with @reference: each reads the objects with the keys in another field of the rows.
func (f *fields) references() []byte {
	var b strings.Builder
	for _, one := range f.list {
		key := one.reference()
		if key == nil {
			continue
		}
		function, typ, value := "read", goType(key.TypeReference.GO), "row."+key.GoFieldName
		if key.TypeReference.IsSlice() {
			function = "readLists"
		}
		if nullable, found := strings.CutPrefix(typ, "ledger.Null["); found {
			typ, value = strings.TrimSuffix(nullable, "]"), value+".Or(-1)" // no object has this key
		}
		fmt.Fprintf(&b, `func (fields) %s(_ context.Context, q rowplan.Request, of []%s) (rowplan.Results[%s], error) {
	return %s(q, of, func(row %s) %s { return %s }, %s)
}

`, one.function(), one.row(), one.result(), function, one.row(), typ, value, queues[one.TypeReference.Definition.Name])
	}
	return file("resolvers", b.String())
}

// reference returns the field with the key of the object that the field refers to, or nil if the field has no @reference.
func (f field) reference() *codegen.Field {
	d := f.FieldDefinition.Directives.ForName("reference")
	if d == nil {
		return nil
	}
	by := d.Arguments.ForName("by").Value.Raw
	for _, other := range f.object.Fields {
		if other.Name == by {
			return other
		}
	}
	return nil
}

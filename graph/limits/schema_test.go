package limits_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
)

// smallLists are the lists of scalars that have few elements in every row.
var smallLists = map[string]bool{
	"AssessedCustomFee.effectivePayerAccountIds": true,
	"AccessListItem.storageKeys":                 true, "ContractCallFailure.children": true,
	"ContractLog.topics": true, "ContractResult.createdContractIds": true,
	"FeeEstimate.notes": true, "NetworkNode.associatedRegisteredNodes": true, "RegisteredNode.types": true,
	"BlockNodeService.endpointApis": true,
	"SimulatedLog.topics":           true, "StatusComponent.childCodes": true, "Topic.feeExemptKeys": true,
	"Transaction.innerTransactionIds": true,
}

// keys are the arguments with numbers or lists that identify or filter objects and do not change how many are read.
var keys = map[string]bool{
	"nodeId": true, "registeredNodeId": true, "nonce": true, "serialNumber": true, "number": true,
	"sequenceNumber": true, "hookId": true, "index": true,
	"from": true, "fromIndex": true, "types": true, "statuses": true, "highVolumeThrottle": true, "gas": true,
	"value": true, "abi": true,
}

// TestEveryListHasAPrice checks that each list and each argument that multiplies work has a rule that prices it.
func TestEveryListHasAPrice(t *testing.T) {
	t.Parallel()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	sized := map[string]bool{} // types whose lists have the size that an argument of their field sets
	fields := func(f func(t *ast.Definition, field *ast.FieldDefinition)) {
		for _, typ := range s.Types {
			if typ.Kind != ast.Object && typ.Kind != ast.Interface || strings.HasPrefix(typ.Name, "__") {
				continue
			}
			for _, field := range typ.Fields {
				if !strings.HasPrefix(field.Name, "__") {
					f(typ, field)
				}
			}
		}
	}
	fields(func(_ *ast.Definition, field *ast.FieldDefinition) {
		if field.Type.Elem == nil && (field.Arguments.ForName("first") != nil ||
			field.Arguments.ForName("days") != nil) {
			sized[field.Type.Name()] = true
		}
	})
	lists, arguments := 0, 0
	fields(func(typ *ast.Definition, field *ast.FieldDefinition) {
		name := typ.Name + "." + field.Name
		for _, a := range field.Arguments {
			if a.Type.Elem == nil && a.Type.Name() != "Int" && a.Type.Name() != "Long" {
				continue
			}
			arguments++
			switch a.Name {
			case "first", "last", "days", "ids", "numbers", "hashes", "timestamps", "keys", "representations":
			default:
				if !keys[a.Name] {
					t.Errorf("%s: the argument %s is not part of the price", name, a.Name)
				}
			}
		}
		if field.Type.Elem == nil {
			return
		}
		lists++
		leaf := s.Types[field.Type.Name()].IsLeafType()
		switch {
		case field.Directives.ForName("cost") != nil || field.Directives.ForName("listSize") != nil:
		case leaf && smallLists[name]:
		case !leaf && (strings.HasSuffix(field.Type.Name(), "Edge") || field.Name == "nodes" &&
			strings.HasSuffix(typ.Name, "Connection") || sized[typ.Name]):
		case !leaf && slices.ContainsFunc([]string{
			"first", "ids", "numbers", "hashes", "timestamps", "keys", "representations",
		}, func(name string) bool { return field.Arguments.ForName(name) != nil }):
		default:
			t.Errorf("%s: the list has no price: add @listSize or @cost", name)
		}
	})
	if lists < 50 || arguments < 50 {
		t.Errorf("%d lists and %d arguments: the schema was not read", lists, arguments)
	}
}

// TestPastPrice checks the price of fields that scan at a past moment, and that only those are scans.
func TestPastPrice(t *testing.T) {
	t.Parallel()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	price := func(query string) (cost int, scans bool) {
		doc, errs := gqlparser.LoadQueryWithRules(s, query, nil)
		if errs != nil {
			t.Fatal(errs)
		}
		op := doc.Operations[0]
		return limits.Price(op, relay.Limits{Default: 25, Max: 100}).Of(nil), limits.ScansPast(op.SelectionSet)
	}
	const state = `{ ledger(at: {time: "2026-01-01"}) { `
	for _, c := range []struct {
		now, then string
		more      int
	}{
		{`token(id: 1) { totalSupply }`, `token(id: 1) { totalSupply }`, 100},
		{`token(id: 1) { holders(first: 5) { nodes { balance } } }`, `token(id: 1) { holders(first: 5) { nodes { ` +
			`balance } } }`, 100},
		{`account(id: 1) { hooks { nodes { id } } }`, `account(id: 1) { ...F } } } fragment F on Account { ... { ` +
			`hooks { nodes { id } }`, 100},
		{`token(id: 1) { name }`, `tokens(ids: [1, 2, 3]) { name totalSupply }`, 2 + 300},
		{`account(id: 1) { balance }`, `account(id: 1) { balance }`, 0},
	} {
		now, scan := price("{ " + c.now + " }")
		then, scans := price(state + c.then + " } }")
		const own = 10 // of ledger
		if then-now-own != c.more || scan || scans != (c.more > 0) {
			t.Errorf("%s: %d, scan %t; then %d, scan %t", c.then, now, scan, then, scans)
		}
	}
}

package lists

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/app/testing/testenv"
	"heliograph/graph"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestCoverage checks that each argument of each list of the ledger, each value of an enum in it and each member of a
// filter is measured.
func TestCoverage(t *testing.T) {
	g := testenv.Demo(t)
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, of := range schema.Types {
		for _, f := range of.Fields {
			if name := f.Type.Name(); strings.HasSuffix(name, "Connection") && !strings.HasPrefix(name, "Status") {
				for _, arg := range f.Arguments {
					addArgument(missing, schema, of.Name+"."+f.Name, arg)
				}
			}
		}
	}
	conn, err := pgx.Connect(t.Context(), testenv.Filled.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	v := &values{conn: conn, seen: map[string][]string{}}
	var documents []string
	explained := map[string]bool{}
	for _, l := range allLists() {
		for _, m := range l.requests(t, v, 1) {
			shape := fmt.Sprint(m.group, strings.Count(m.path, "&"), strings.HasSuffix(m.path, "asc"))
			if explained[shape] {
				continue
			}
			x, err := g.Explain(t.Context(), "/api/v1"+m.path, nil)
			if err == nil { // some combinations are not supported
				explained[shape] = true
				documents = append(documents, x.Standalone)
			}
		}
	}
	for _, l := range graphLists() {
		documents = append(documents, l.document)
	}
	for _, l := range nestedLists() {
		for _, m := range l.requests(t, v) {
			documents = append(documents, m.path)
		}
	}
	for _, text := range documents {
		doc, err := gqlparser.LoadQueryWithRules(schema, text, nil)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for _, op := range doc.Operations {
			removeGiven(missing, op.SelectionSet)
		}
	}
	for name := range notMeasured() {
		delete(missing, name)
	}
	if len(missing) > 0 {
		t.Errorf("not measured: add these to allLists, graphLists or nestedLists:\n%s",
			strings.Join(slices.Sorted(maps.Keys(missing)), "\n"))
	}
}

// addArgument adds what is to be measured of an argument.
func addArgument(names map[string]bool, schema *ast.Schema, field string, arg *ast.ArgumentDefinition) {
	if slices.Contains([]string{"first", "last", "after", "before"}, arg.Name) {
		return
	}
	of := schema.Types[arg.Type.Name()]
	for _, v := range of.EnumValues {
		names[field+"("+arg.Name+": "+v.Name+")"] = true
	}
	if of.Kind == ast.InputObject && of.Name != "TimestampFilter" {
		for _, member := range of.Fields {
			names[field+"("+arg.Name+"."+member.Name+")"] = true
		}
	}
	if of.Kind == ast.Scalar || of.Name == "TimestampFilter" {
		names[field+"("+arg.Name+")"] = true
	}
}

// removeGiven removes the arguments that are given in a selection.
func removeGiven(names map[string]bool, selection ast.SelectionSet) {
	for _, s := range selection {
		switch s := s.(type) {
		case *ast.InlineFragment:
			removeGiven(names, s.SelectionSet)
		case *ast.FragmentSpread:
			removeGiven(names, s.Definition.SelectionSet)
		case *ast.Field:
			removeGiven(names, s.SelectionSet)
			for _, arg := range s.Definition.Arguments {
				value, name := arg.DefaultValue, s.ObjectDefinition.Name+"."+s.Name+"("+arg.Name
				if own := s.Arguments.ForName(arg.Name); own != nil {
					value = own.Value
				}
				if value = given(value); value == nil {
					continue
				}
				delete(names, name+")")
				delete(names, name+": "+value.Raw+")")
				for _, member := range value.Children { // of an input object or, without names, of a list
					delete(names, name+": "+member.Value.Raw+")")
					if given(member.Value) != nil {
						delete(names, name+"."+member.Name+")")
					}
				}
			}
		}
	}
}

// given returns a value, the default if it is a variable, or nil if it is null.
func given(v *ast.Value) *ast.Value {
	if v != nil && v.Kind == ast.Variable {
		v = v.VariableDefinition.DefaultValue
	}
	if v == nil || v.Kind == ast.NullValue {
		return nil
	}
	return v
}

// notMeasured returns the arguments that are not measured, with the reasons.
func notMeasured() map[string]string {
	reasons := map[string]string{"Query.contractActions(transactionId)": "finds one contract result, as the hash does"}
	for list := range strings.FieldsSeq("Account.contractResults Block.contractResults Contract.results " +
		"Block.contractLogs Contract.logs Transaction.contractLogs") {
		for member := range strings.FieldsSeq("contract blockHash blockNumber") {
			reasons[list+"(filter."+member+")"] = "is supported at the root only"
		}
	}
	return reasons
}

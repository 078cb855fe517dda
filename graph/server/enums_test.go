package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph"
)

// TestEnumVariables checks each place of an enum in each input type: variables have the values of the schema and no
// others, as literals.
func TestEnumVariables(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	places := 0
	for name, def := range schema.Types {
		if !def.IsInputType() || def.BuiltIn {
			continue
		}
		for _, at := range enumPlaces(schema, def, nil) {
			places++
			for _, typ := range []*ast.Type{
				ast.NamedType(name, nil),
				ast.ListType(ast.NamedType(name, nil), nil),
				ast.NonNullListType(ast.NonNullNamedType(name, nil), nil),
			} {
				op := &ast.OperationDefinition{VariableDefinitions: ast.VariableDefinitionList{{
					Variable: "v",
					Type:     typ, Definition: def,
				}}}
				first := at.values[0]
				for _, given := range []any{
					first, strings.ToLower(first), first[:1] + strings.ToLower(first[1:]),
					first + " ", "", json.Number("1"),
				} {
					nested := given
					for _, field := range slices.Backward(at.path) {
						nested = map[string]any{field: nested}
					}
					_, err := coerce(schema, op, map[string]any{"v": nested})
					refused := err != nil && strings.Contains(err[0].Message, "is not a valid") &&
						err[0].Extensions["code"] == "BAD_USER_INPUT"
					text, isText := given.(string)
					// a valid one can be refused because other fields are missing
					if valid := isText && slices.Contains(at.values, text); refused == valid {
						t.Errorf("$v: %s, %s = %v: %v", typ, strings.Join(at.path, "."), given, err)
					}
				}
			}
		}
	}
	if places < 50 {
		t.Errorf("only %d places of enums", places)
	}
}

// enumPlace is a field of an input type, or of one in it.
type enumPlace struct {
	path   []string
	values []string
}

// enumPlaces returns the places of enums in an input type, at most three levels deep.
func enumPlaces(schema *ast.Schema, def *ast.Definition, path []string) (places []enumPlace) {
	if def.Kind == ast.Enum {
		place := enumPlace{path: path}
		for _, v := range def.EnumValues {
			place.values = append(place.values, v.Name)
		}
		return []enumPlace{place}
	}
	if len(path) < 3 {
		for _, f := range def.Fields {
			places = append(places, enumPlaces(schema, schema.Types[f.Type.Name()],
				append(slices.Clone(path), f.Name))...)
		}
	}
	return places
}

package limits

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Cache lifetimes in seconds where the schema has no @cacheControl.
const (
	// ShortAge is the lifetime of data that the next block can change.
	ShortAge = 2
	// schemaAge is the lifetime of introspection results.
	schemaAge = 60
	// longestAge is the lifetime of a response that depends on no data.
	longestAge = 3600
)

// Age returns how many seconds the response to an operation can be cached: the shortest lifetime of everything that the operation selects.
// Blocks, transactions and other history never change. Accounts, tokens and the ends of lists do. Mutations and subscriptions are not cached: 0.
func Age(op *ast.OperationDefinition) int {
	if op.Operation != ast.Query {
		return 0
	}
	return setAge(op.SelectionSet, ShortAge)
}

// setAge returns the shortest lifetime in a selection set. parent is the lifetime of the object that the fields belong to.
func setAge(set ast.SelectionSet, parent int) int {
	shortest := longestAge
	for f := range Fields(set) {
		shortest = min(shortest, fieldAge(f, parent))
	}
	return shortest
}

func fieldAge(f *ast.Field, parent int) int {
	switch f.Name {
	case "__typename":
		return longestAge
	case "__schema", "__type":
		return schemaAge
	}
	age, declared := directiveInt(f.Definition.Directives, "cacheControl", "maxAge")
	switch {
	case len(f.SelectionSet) == 0 && declared:
		return age
	case len(f.SelectionSet) == 0:
		return parent
	case !declared:
		age = typeAge(f, parent)
	}
	return min(age, setAge(f.SelectionSet, age))
}

// typeAge returns the lifetime that the type of a field implies: its @cacheControl, ShortAge for connections and for objects with a global id, and
// the lifetime of the parent for plain value objects.
func typeAge(f *ast.Field, parent int) int {
	def := objectType(f.SelectionSet)
	if def == nil || def.Kind != ast.Object {
		return ShortAge
	}
	if age, declared := directiveInt(def.Directives, "cacheControl", "maxAge"); declared {
		return age
	}
	if strings.HasSuffix(def.Name, "Connection") || len(def.Interfaces) > 0 {
		return ShortAge
	}
	return parent
}

// objectType returns the type that a selection set selects from. The validator records it in each selection.
func objectType(set ast.SelectionSet) *ast.Definition {
	for _, selection := range set {
		var def *ast.Definition
		switch s := selection.(type) {
		case *ast.Field:
			def = s.ObjectDefinition
		case *ast.InlineFragment:
			def = s.ObjectDefinition
		case *ast.FragmentSpread:
			def = s.ObjectDefinition
		}
		if def != nil {
			return def
		}
	}
	return nil
}

package limits

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// How long answers may be kept, in seconds, that the schema's @cacheControl says nothing of.
const (
	// ShortAge is for what may change with the next block.
	ShortAge = 2
	// schemaAge is for the schema, which changes with the gateway.
	schemaAge = 60
	// longestAge is for what nothing was read for.
	longestAge = 3600
)

// Age is for how many seconds the answer to an operation may be kept: as long as what changes soonest of all that is read. Blocks, transactions and
// other history stay as they are; accounts, tokens and the beginnings and ends of lists do not. An operation that writes may not be kept: 0.
func Age(op *ast.OperationDefinition) int {
	if op.Operation != ast.Query {
		return 0
	}
	return ageOfSet(op.SelectionSet, ShortAge)
}

// ageOfSet is the least age of the fields of a selection set; around is the age of the object that they belong to.
func ageOfSet(set ast.SelectionSet, around int) int {
	least := longestAge
	for _, one := range set {
		age := least
		switch one := one.(type) {
		case *ast.Field:
			age = ageOf(one, around)
		case *ast.InlineFragment:
			age = ageOfSet(one.SelectionSet, around)
		case *ast.FragmentSpread:
			age = ageOfSet(one.Definition.SelectionSet, around)
		}
		least = min(least, age)
	}
	return least
}

func ageOf(f *ast.Field, around int) int {
	switch f.Name {
	case "__typename":
		return longestAge
	case "__schema", "__type":
		return schemaAge
	}
	age, said := fieldAge(f)
	switch {
	case len(f.SelectionSet) == 0 && said:
		return age
	case len(f.SelectionSet) == 0:
		return around
	case !said:
		age = typeAge(f, around)
	}
	return min(age, ageOfSet(f.SelectionSet, age))
}

// fieldAge is what the schema says of a field itself.
func fieldAge(f *ast.Field) (age int, found bool) {
	if f.Definition == nil {
		return 0, false
	}
	return directiveInt(f.Definition.Directives, "cacheControl", "maxAge")
}

// typeAge is the age of an object: what its type says; of things with ids and of pages the short one; of values that of what they belong to.
func typeAge(f *ast.Field, around int) int {
	def := objectOf(f)
	switch {
	case def == nil || def.Kind != ast.Object:
		return ShortAge
	case def.Directives.ForName("cacheControl") != nil:
		age, _ := directiveInt(def.Directives, "cacheControl", "maxAge")
		return age
	case strings.HasSuffix(def.Name, "Connection"), len(def.Interfaces) > 0:
		return ShortAge
	default:
		return around
	}
}

// objectOf is the type of a field's value, which the fields that are selected in it know.
func objectOf(f *ast.Field) *ast.Definition {
	for _, one := range f.SelectionSet {
		switch one := one.(type) {
		case *ast.Field:
			if one.ObjectDefinition != nil {
				return one.ObjectDefinition
			}
		case *ast.InlineFragment:
			if one.ObjectDefinition != nil {
				return one.ObjectDefinition
			}
		case *ast.FragmentSpread:
			if one.ObjectDefinition != nil {
				return one.ObjectDefinition
			}
		}
	}
	return nil
}

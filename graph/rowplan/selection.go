package rowplan

import (
	"context"
	"iter"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Selection is what an operation selects below a field. It includes fields of fragments, and fields with @skip and @include.
type Selection struct {
	set ast.SelectionSet
	all bool // later parts of the response may select more
}

// SelectionOf returns the selection below the field that ctx resolves.
func SelectionOf(ctx context.Context) Selection {
	return Selection{set: graphql.GetFieldContext(ctx).Field.Selections, all: inParts(ctx)}
}

// Has reports whether any of some fields is selected, or may be selected by a later part of the response.
func (s Selection) Has(names ...string) bool {
	if s.all {
		return true
	}
	for f := range s.fields() {
		if slices.Contains(names, f.Name) {
			return true
		}
	}
	return false
}

// HasOther reports whether a field is selected, or may be, that is not among names.
func (s Selection) HasOther(names ...string) bool {
	if s.all {
		return true
	}
	for f := range s.fields() {
		if !slices.Contains(names, f.Name) {
			return true
		}
	}
	return false
}

// Below returns the selection below the fields of a name.
func (s Selection) Below(name string) Selection {
	below := Selection{all: s.all}
	for f := range s.fields() {
		if f.Name == name {
			below.set = append(below.set[:len(below.set):len(below.set)], f.SelectionSet...)
		}
	}
	return below
}

func (s Selection) fields() iter.Seq[*ast.Field] {
	return func(yield func(*ast.Field) bool) { eachField(s.set, yield) }
}

func eachField(set ast.SelectionSet, yield func(*ast.Field) bool) (more bool) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			more = yield(s)
		case *ast.InlineFragment:
			more = eachField(s.SelectionSet, yield)
		case *ast.FragmentSpread:
			more = eachField(s.Definition.SelectionSet, yield)
		}
		if !more {
			return false
		}
	}
	return true
}

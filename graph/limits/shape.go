// Package limits bounds what a document may ask for, before anything is read for it: its shape when it has been parsed, and its cost when the
// variables are known.
package limits

import (
	"fmt"
	"math"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/fault"
)

// Limits are the bounds. Fields that fragments bring count as often as the fragments are spread.
type Limits struct {
	// Cost bounds what an operation costs; see [Prices].
	Cost int
	// Bytes bounds the length of a document in bytes.
	Bytes int
	// Tokens bounds the length of a document, in lexical tokens.
	Tokens int
	// Depth bounds how deep fields may lie; root fields have depth 1.
	Depth int
	// Fields bounds how many fields a document may have.
	Fields int
	// RootFields bounds how many fields the root of an operation may have.
	RootFields int
	// Aliases bounds how often one selection set may ask for one field, under whatever names.
	Aliases int
	// Directives bounds how many directives a document may have.
	Directives int
}

// Default are limits that leave room for everything that an application asks for by hand.
func Default() Limits {
	return Limits{Cost: 50_000, Bytes: 64 << 10, Tokens: 5000, Depth: 20, Fields: 1000, RootFields: 30, Aliases: 50, Directives: 50}
}

// extent is how large a selection set is with everything that its fragments bring.
type extent struct {
	fields, directives, depth, spreads int
}

// shape looks at a document that has been parsed, but not checked against the schema.
type shape struct {
	limits    Limits
	fragments map[string]*ast.FragmentDefinition
	// known are the extents of the fragments that have been looked at; those that are being looked at are there as nil.
	known map[string]*extent
}

// Check refuses a document that is too large in some way. It needs time in proportion to the text, whatever fragments would make of it, and
// comes before the check against the schema, which needs more.
func (l Limits) Check(doc *ast.QueryDocument) *fault.Error {
	s := &shape{limits: l}
	if len(doc.Fragments) > 0 {
		s.known = make(map[string]*extent, len(doc.Fragments))
		s.fragments = make(map[string]*ast.FragmentDefinition, len(doc.Fragments))
		for _, f := range doc.Fragments {
			s.fragments[f.Name] = f
		}
	}
	var all extent
	add := func(set ast.SelectionSet, directives ast.DirectiveList) *fault.Error {
		e, err := s.set(set)
		if err != nil {
			return err
		}
		all = all.plus(e)
		all.directives = sum(all.directives, len(directives))
		return nil
	}
	for _, op := range doc.Operations {
		for _, v := range op.VariableDefinitions {
			all.directives = sum(all.directives, len(v.Directives))
		}
		if err := add(op.SelectionSet, op.Directives); err != nil {
			return err
		}
		if n := s.roots(op.SelectionSet); n > l.RootFields {
			return tooMuch("the operation has %s root fields; at most %d are allowed", count(n), l.RootFields)
		}
	}
	for _, f := range doc.Fragments {
		if s.known[f.Name] != nil { // counted where it is spread
			continue
		}
		if err := add(f.SelectionSet, f.Directives); err != nil {
			return err
		}
	}
	switch {
	case all.depth > l.Depth:
		return tooMuch("the document is %s fields deep; at most %d are allowed", count(all.depth), l.Depth)
	case all.fields > l.Fields || all.spreads > l.Fields:
		return tooMuch("the document has %s fields, fragments counted each time they are spread; at most %d are allowed", count(max(all.fields, all.spreads)), l.Fields)
	case all.directives > l.Directives:
		return tooMuch("the document has %s directives; at most %d are allowed", count(all.directives), l.Directives)
	}
	return nil
}

// set is the extent of a selection set.
func (s *shape) set(set ast.SelectionSet) (extent, *fault.Error) {
	var all extent
	names := map[string]int(nil)
	for _, one := range set {
		var e extent
		var err *fault.Error
		switch one := one.(type) {
		case *ast.Field:
			if len(set) > s.limits.Aliases { // else there cannot be too many
				if names == nil {
					names = make(map[string]int, len(set))
				}
				names[one.Name]++
				if names[one.Name] > s.limits.Aliases {
					return extent{}, tooMuch("the field %s is asked for more than %d times in one place", quote(one.Name), s.limits.Aliases)
				}
			}
			if len(one.SelectionSet) > 0 {
				e, err = s.set(one.SelectionSet)
			}
			e.fields, e.depth, e.directives = sum(e.fields, 1), e.depth+1, sum(e.directives, len(one.Directives))
		case *ast.InlineFragment:
			e, err = s.set(one.SelectionSet)
			e.directives, e.spreads = sum(e.directives, len(one.Directives)), sum(e.spreads, 1)
		case *ast.FragmentSpread:
			e, err = s.fragment(one.Name)
			e.directives, e.spreads = sum(e.directives, len(one.Directives)), sum(e.spreads, 1)
		}
		if err != nil {
			return extent{}, err
		}
		all = all.plus(e)
	}
	return all, nil
}

// fragment is the extent of a named fragment. One that does not exist is left to the check against the schema.
func (s *shape) fragment(name string) (extent, *fault.Error) {
	f := s.fragments[name]
	if f == nil {
		return extent{}, nil
	}
	e, begun := s.known[name]
	switch {
	case e != nil:
		return *e, nil
	case begun:
		return extent{}, &fault.Error{Code: fault.BadUserInput, Message: "the fragment " + quote(name) + " spreads itself"}
	}
	s.known[name] = nil
	got, err := s.set(f.SelectionSet)
	if err != nil {
		return extent{}, err
	}
	got.directives = sum(got.directives, len(f.Directives))
	s.known[name] = &got
	return got, nil
}

// roots is how many fields a selection set has itself. Its fragments have been looked at.
func (s *shape) roots(set ast.SelectionSet) int {
	memo := make(map[string]int, len(s.fragments))
	var of func(ast.SelectionSet) int
	of = func(set ast.SelectionSet) int {
		n := 0
		for _, one := range set {
			switch one := one.(type) {
			case *ast.Field:
				n = sum(n, 1)
			case *ast.InlineFragment:
				n = sum(n, of(one.SelectionSet))
			case *ast.FragmentSpread:
				f := s.fragments[one.Name]
				if f == nil {
					continue
				}
				inside, known := memo[one.Name]
				if !known {
					inside = of(f.SelectionSet)
					memo[one.Name] = inside
				}
				n = sum(n, inside)
			}
		}
		return n
	}
	return of(set)
}

func (e extent) plus(f extent) extent {
	return extent{sum(e.fields, f.fields), sum(e.directives, f.directives), max(e.depth, f.depth), sum(e.spreads, f.spreads)}
}

// most is where counting ends: fragments that spread fragments grow without bound.
const most = math.MaxInt32

func sum(a, b int) int { return min(a+b, most) }

func product(a, b int) int {
	if a > 0 && b > most/a {
		return most
	}
	return a * b
}

func count(n int) string {
	if n >= most {
		return "more than 2 billion"
	}
	return strconv.Itoa(n)
}

// quote names something of the client's, cut where it is too long to be read.
func quote(name string) string {
	const longest = 60
	if len(name) > longest {
		name = name[:longest] + "…"
	}
	return `"` + name + `"`
}

func tooMuch(format string, args ...any) *fault.Error {
	return &fault.Error{Code: fault.TooComplex, Message: fmt.Sprintf(format, args...)}
}

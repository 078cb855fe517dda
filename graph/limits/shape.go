// Package limits bounds GraphQL operations before they are executed: the shape of a document after parsing, and the
// cost of an operation when its variables are known. It also computes how long a response can be cached.
package limits

import (
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/fault"
)

// Limits are the maximum values for documents of clients. Fields of a fragment count once for each spread.
type Limits struct {
	// Cost is the maximum cost of an operation; see [Price].
	Cost int `name:"max-query-cost" env:"HELIOGRAPH_MAX_QUERY_COST" min:"1" default:"50000" help:"Maximum cost of a GraphQL operation. The cost is about the number of objects that the response can contain."`
	// Bytes is the maximum length of a document in bytes.
	Bytes int `name:"max-query-bytes" env:"HELIOGRAPH_MAX_QUERY_BYTES" min:"1" default:"65536" help:"Maximum size of a document in bytes. Pass long values as variables."`
	// Tokens is the maximum number of lexical tokens in a document.
	Tokens int `name:"max-query-tokens" env:"HELIOGRAPH_MAX_QUERY_TOKENS" min:"1" default:"5000" help:"Maximum number of lexical tokens of a document."`
	// Depth is the maximum nesting of fields. Root fields have depth 1.
	Depth int `name:"max-query-depth" env:"HELIOGRAPH_MAX_QUERY_DEPTH" min:"1" default:"20" help:"Maximum nesting depth of fields."`
	// Fields is the maximum number of fields in a document.
	Fields int `name:"max-query-fields" env:"HELIOGRAPH_MAX_QUERY_FIELDS" min:"1" default:"1000" help:"Maximum number of fields of a document. Fields of a fragment count once for each spread."`
	// RootFields is the maximum number of root fields of an operation.
	RootFields int `name:"max-query-root-fields" env:"HELIOGRAPH_MAX_QUERY_ROOT_FIELDS" min:"1" default:"30" help:"Maximum number of root fields of an operation."`
	// Aliases is the maximum number of times that a selection set can select the same field, under any alias.
	Aliases int `name:"max-query-aliases" env:"HELIOGRAPH_MAX_QUERY_ALIASES" min:"1" default:"50" help:"Maximum number of times that one selection set selects the same field under different aliases."`
	// Directives is the maximum number of directives in a document.
	Directives int `name:"max-query-directives" env:"HELIOGRAPH_MAX_QUERY_DIRECTIVES" min:"1" default:"50" help:"Maximum number of directives of a document."`
}

// Default returns the default limits of documents, which allow those of typical applications. Settings change
// them.
func Default() Limits {
	return Limits{
		Cost: 50_000, Bytes: 64 << 10, Tokens: 5000, Depth: 20, Fields: 1000, RootFields: 30, Aliases: 50,
		Directives: 50,
	}
}

// extent is the size of a selection set, including its fragments.
type extent struct {
	fields, directives, depth, spreads int
	roots                              int // the fields directly in the selection set and its fragments
}

// shape measures a document that has been parsed but not validated.
type shape struct {
	limits    Limits
	fragments map[string]*ast.FragmentDefinition
	// measured has the extents of the fragments measured so far, and nil for a fragment that is being measured.
	measured map[string]*extent
}

// Check returns an error with the code of documents that are too complex if a document exceeds the limits of depth,
// fields, root fields, aliases or directives, and BAD_USER_INPUT if a fragment spreads itself, otherwise nil. It does
// not check the other limits. It takes time proportional to the length of the document, however often fragments are
// spread. It runs before validation, which takes longer.
func (l Limits) Check(doc *ast.QueryDocument) *fault.Error {
	s := &shape{limits: l}
	if len(doc.Fragments) > 0 {
		s.measured = make(map[string]*extent, len(doc.Fragments))
		s.fragments = make(map[string]*ast.FragmentDefinition, len(doc.Fragments))
		for _, f := range doc.Fragments {
			s.fragments[f.Name] = f
		}
	}
	var all extent
	measure := func(set ast.SelectionSet, directives ast.DirectiveList) (roots int, err *fault.Error) {
		e, err := s.set(set)
		all = all.plus(e)
		all.directives = add(all.directives, len(directives))
		return e.roots, err
	}
	for _, op := range doc.Operations {
		for _, v := range op.VariableDefinitions {
			all.directives = add(all.directives, len(v.Directives))
		}
		roots, err := measure(op.SelectionSet, op.Directives)
		switch {
		case err != nil:
			return err
		case roots > l.RootFields:
			return exceeded("the operation has %s root fields; the maximum is %d", count(roots), l.RootFields)
		}
	}
	for _, f := range doc.Fragments {
		if s.measured[f.Name] != nil { // counted where it is spread
			continue
		}
		if _, err := measure(f.SelectionSet, f.Directives); err != nil {
			return err
		}
	}
	switch {
	case all.depth > l.Depth:
		return exceeded("the document is nested %s fields deep; the maximum is %d", count(all.depth), l.Depth)
	case all.fields > l.Fields || all.spreads > l.Fields:
		return exceeded("the document has %s fields, counting fragments once for each spread; the maximum is %d",
			count(max(all.fields, all.spreads)), l.Fields)
	case all.directives > l.Directives:
		return exceeded("the document has %s directives; the maximum is %d", count(all.directives), l.Directives)
	}
	return nil
}

// set returns the extent of a selection set. It fails if a field is selected too often in one set, or a fragment
// spreads itself. It keeps the extents of fragments in s, and does not check the other limits.
func (s *shape) set(set ast.SelectionSet) (extent, *fault.Error) {
	var all extent
	names := map[string]int(nil)
	for _, one := range set {
		var e extent
		var err *fault.Error
		switch one := one.(type) {
		case *ast.Field:
			if len(set) > s.limits.Aliases {
				if names == nil {
					names = make(map[string]int, len(set))
				}
				names[one.Name]++
				if names[one.Name] > s.limits.Aliases {
					return extent{}, exceeded("the field %s is selected more than %d times in one selection set",
						quote(one.Name), s.limits.Aliases)
				}
			}
			if len(one.SelectionSet) > 0 {
				e, err = s.set(one.SelectionSet)
			}
			e.fields, e.depth, e.directives = add(e.fields, 1), e.depth+1, add(e.directives, len(one.Directives))
			e.roots = 1
		case *ast.InlineFragment:
			e, err = s.set(one.SelectionSet)
			e.directives, e.spreads = add(e.directives, len(one.Directives)), add(e.spreads, 1)
		case *ast.FragmentSpread:
			e, err = s.fragment(one.Name)
			e.directives, e.spreads = add(e.directives, len(one.Directives)), add(e.spreads, 1)
		}
		if err != nil {
			return extent{}, err
		}
		all = all.plus(e)
	}
	return all, nil
}

// fragment returns the extent of a named fragment and keeps it in s, so that each fragment is measured once. It
// fails if the fragment spreads itself. An unknown fragment has no extent; validation rejects it later.
func (s *shape) fragment(name string) (extent, *fault.Error) {
	f := s.fragments[name]
	if f == nil {
		return extent{}, nil
	}
	e, started := s.measured[name]
	switch {
	case e != nil:
		return *e, nil
	case started:
		return extent{}, &fault.Error{
			Code:    fault.BadUserInput,
			Message: "the fragment " + quote(name) + " spreads itself",
		}
	}
	s.measured[name] = nil
	got, err := s.set(f.SelectionSet)
	if err != nil {
		return extent{}, err
	}
	got.directives = add(got.directives, len(f.Directives))
	s.measured[name] = &got
	return got, nil
}

// plus returns the extent of two selections that stand beside each other: the sums of their counts, and the larger
// depth.
func (e extent) plus(f extent) extent {
	return extent{
		add(e.fields, f.fields), add(e.directives, f.directives), max(e.depth, f.depth),
		add(e.spreads, f.spreads), add(e.roots, f.roots),
	}
}

// Fields returns the fields that a selection set selects, including those of its fragments. The document must be
// valid. Fields below these are not included, and @skip and @include have no effect.
func Fields(set ast.SelectionSet) iter.Seq[*ast.Field] {
	return func(yield func(*ast.Field) bool) { visit(set, yield) }
}

// visit calls yield with the fields of a selection and of its fragments, without those below the fields, until yield
// returns false. It reports whether yield has never returned false.
func visit(set ast.SelectionSet, yield func(*ast.Field) bool) (more bool) {
	more = true
	for i := 0; more && i < len(set); i++ {
		switch s := set[i].(type) {
		case *ast.Field:
			more = yield(s)
		case *ast.InlineFragment:
			more = visit(s.SelectionSet, yield)
		case *ast.FragmentSpread:
			more = visit(s.Definition.SelectionSet, yield)
		}
	}
	return more
}

// maxCount is the largest count. Sums and products saturate there, because nested fragments and lists grow
// exponentially.
const maxCount = math.MaxInt32

// add returns the sum of two counts, at most maxCount.
func add(a, b int) int { return min(a+b, maxCount) }

// multiply returns the product of two counts, at most maxCount.
func multiply(a, b int) int {
	if a > 0 && b > maxCount/a {
		return maxCount
	}
	return a * b
}

// clamp returns n as a count between 0 and maxCount.
func clamp(n int64) int { return int(max(0, min(n, maxCount))) }

// count returns a count for an error message: its digits, or words for maxCount, which can stand for any larger
// number.
func count(n int) string {
	if n >= maxCount {
		return "more than 2 billion"
	}
	return strconv.Itoa(n)
}

// quote returns a name from a document in quotes, for an error message. Of a name of more than 60 bytes it has the
// first 60 and "…".
func quote(name string) string {
	const longest = 60
	if len(name) > longest {
		name = name[:longest] + "…"
	}
	return `"` + name + `"`
}

// exceeded returns the QUERY_TOO_COMPLEX error of a document that exceeds a limit. Clients see the message.
func exceeded(format string, args ...any) *fault.Error {
	return fault.New(fault.TooComplex, fmt.Sprintf(format, args...))
}

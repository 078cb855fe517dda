// Package incremental splits operations with @defer into one operation for the initial response and one for each
// deferred fragment, and finds the objects that a deferred fragment belongs to in a response. It does not execute
// anything.
package incremental

import (
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
)

// Operation is a query with deferred fragments.
//
// gqlgen defers field by field, so a deferred relation costs one statement for each parent. Here each deferred
// fragment becomes an operation: it selects the path from the root to the objects that the fragment belongs to, and
// the fragment there. The server does not read that path again, and reads a deferred relation with one statement for
// all parents.
type Operation struct {
	definition *ast.OperationDefinition
	set        ast.SelectionSet // of the operation, with fragment spreads replaced by inline fragments
	defers     ast.DirectiveList

	mu     sync.Mutex
	splits map[string]*Split // by the directives whose condition is true
}

// maxSplits is the number of splits of one operation that are cached. Others are computed for each request.
const maxSplits = 2

// WeightFactor is the approximate size of a document with its deferred operations and cached splits, relative to the
// document alone.
const WeightFactor = 2 + 2*maxSplits

// Split is an operation without its deferred fragments, and these fragments.
type Split struct {
	// Cached reports whether the split is shared by requests. Plans are cached for such splits only.
	Cached  bool
	Initial *ast.OperationDefinition
	// Groups are the deferred fragments. A fragment precedes those nested in it.
	Groups []*Group
}

// Group is one deferred fragment.
type Group struct {
	Operation *ast.OperationDefinition
	// Label is the label argument of the directive, or nil.
	Label *ast.Value
	// Parent is the index of the group that contains this one, or [Initial].
	Parent int
	// Path has the response names from the root to the objects that the fragment belongs to.
	Path []string
	// Base is the length of the parent's path.
	Base int
}

// Initial is the parent of groups that are not nested in other groups.
const Initial = -1

// Extract returns the queries of a document that have deferred fragments, by their definitions. It changes the
// document: it removes all @defer directives. The returned operations are copies. Mutations and subscriptions do
// not defer. The result is nil if the document has no @defer.
func Extract(doc *ast.QueryDocument) map[*ast.OperationDefinition]*Operation {
	found := false
	visitFragments(doc, func(directives *ast.DirectiveList) { found = found || directives.ForName(directive) != nil })
	if !found {
		return nil
	}
	operations := map[*ast.OperationDefinition]*Operation{}
	for _, op := range doc.Operations {
		if op.Operation != ast.Query {
			continue
		}
		e := expansion{positions: map[string]*ast.Position{}}
		if set := e.set(op.SelectionSet); len(e.defers) > 0 {
			operations[op] = &Operation{definition: op, set: set, defers: e.defers, splits: map[string]*Split{}}
		}
	}
	visitFragments(doc, func(directives *ast.DirectiveList) {
		*directives = slices.DeleteFunc(*directives, func(d *ast.Directive) bool { return d.Name == directive })
	})
	return operations
}

// directive is the name of the directive that defers a fragment.
const directive = "defer"

// visitFragments calls visit with the directives of each inline fragment and fragment spread in a document, once each.
// visit may change them.
func visitFragments(doc *ast.QueryDocument, visit func(*ast.DirectiveList)) {
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch s := selection.(type) {
			case *ast.Field:
				walk(s.SelectionSet)
			case *ast.InlineFragment:
				visit(&s.Directives)
				walk(s.SelectionSet)
			case *ast.FragmentSpread:
				visit(&s.Directives)
			}
		}
	}
	for _, op := range doc.Operations {
		walk(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		walk(f.SelectionSet)
	}
}

// expansion copies selection sets and replaces fragment spreads by inline fragments.
type expansion struct {
	defers ast.DirectiveList
	// positions gives equal fields the same position. Data that was read for one of them is found by its position.
	positions map[string]*ast.Position
}

// set returns a copy of the selections in which spreads are inline fragments, so that they can be cut without
// changing other operations of the document. It collects the @defer directives in e.
func (e *expansion) set(set ast.SelectionSet) ast.SelectionSet {
	out := make(ast.SelectionSet, 0, len(set))
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			f := *s
			f.Position, f.SelectionSet = e.position(s), e.set(s.SelectionSet)
			out = append(out, &f)
		case *ast.InlineFragment:
			f := *s
			out = append(out, e.fragment(&f, s.SelectionSet))
		case *ast.FragmentSpread:
			out = append(out, e.fragment(&ast.InlineFragment{
				TypeCondition: s.Definition.TypeCondition, Directives: s.Directives,
				ObjectDefinition: s.ObjectDefinition, Position: s.Position,
			}, s.Definition.SelectionSet))
		}
	}
	return out
}

// fragment completes f, the copy of a fragment, with its own directives and a copy of the selections, and returns
// it. It collects its @defer directive in e.
func (e *expansion) fragment(f *ast.InlineFragment, set ast.SelectionSet) *ast.InlineFragment {
	if d := f.Directives.ForName(directive); d != nil {
		e.defers = append(e.defers, d)
	}
	f.Directives = slices.Clone(f.Directives)
	f.SelectionSet = e.set(set)
	return f
}

// position returns the position of the first equal field in the operation, for a field that was expanded from a
// fragment, so that all copies share what is read for the position. If f is the first one, it records the position of
// f in e.
func (e *expansion) position(f *ast.Field) *ast.Position {
	var key strings.Builder
	if f.ObjectDefinition != nil {
		key.WriteString(f.ObjectDefinition.Name)
	}
	key.WriteString("." + f.Name)
	for _, a := range f.Arguments {
		key.WriteString(" " + a.Name + ":" + a.Value.String())
	}
	if e.positions[key.String()] == nil {
		e.positions[key.String()] = f.Position
	}
	return e.positions[key.String()]
}

// Split returns the parts of the operation for the given variables: the initial one and the deferred groups. It
// returns nil if the condition of every @defer is false. It keeps up to maxSplits results, which requests share:
// callers must not change them.
func (o *Operation) Split(variables map[string]any) *Split {
	active := make([]byte, len(o.defers))
	for i, d := range o.defers {
		active[i] = '0'
		if isActive(d, variables) {
			active[i] = '1'
		}
	}
	key := string(active)
	if !strings.Contains(key, "1") {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.splits[key]; s != nil {
		return s
	}
	c := cutter{operation: o.definition, variables: variables, Split: &Split{}}
	c.Initial = c.operationWith(c.set(o.set, location{group: Initial}))
	if len(o.splits) < maxSplits {
		c.Cached, o.splits[key] = true, c.Split
	}
	return c.Split
}

// isActive reports whether a @defer directive applies. It does unless its condition is false: also if that is absent,
// null, or no boolean.
func isActive(d *ast.Directive, variables map[string]any) bool {
	a := d.Arguments.ForName("if")
	if a == nil || a.Value == nil {
		return true
	}
	v, err := a.Value.Value(variables)
	condition, isBool := v.(bool)
	return err != nil || !isBool || condition
}

// cutter moves the deferred fragments of an operation to groups.
type cutter struct {
	operation *ast.OperationDefinition
	variables map[string]any
	*Split
}

// location is the location of a selection set in the operation.
type location struct {
	parents []ast.Selection // fields and inline fragments from the root
	names   []string        // response names of the fields
	group   int             // that contains the selection set
}

// in returns the location of the selection set of parent. names has the response name if parent is a field.
func (l location) in(parent ast.Selection, names ...string) location {
	return location{
		append(l.parents[:len(l.parents):len(l.parents)], parent),
		append(l.names[:len(l.names):len(l.names)], names...), l.group,
	}
}

// wrap returns a selection set of the operation's root that selects the given set at the location, and nothing else.
func (l location) wrap(set ast.SelectionSet) ast.SelectionSet {
	for _, parent := range slices.Backward(l.parents) {
		switch p := parent.(type) {
		case *ast.Field:
			f := *p
			f.SelectionSet = set
			set = ast.SelectionSet{&f}
		case *ast.InlineFragment:
			f := *p
			f.SelectionSet = set
			set = ast.SelectionSet{&f}
		}
	}
	return set
}

// operationWith returns a copy of the operation with other selections.
func (c *cutter) operationWith(set ast.SelectionSet) *ast.OperationDefinition {
	op := *c.operation
	op.SelectionSet = set
	return &op
}

// set returns a copy of a selection set without its deferred fragments, which become groups of c. The set has no
// fragment spreads; see [expansion].
func (c *cutter) set(set ast.SelectionSet, at location) ast.SelectionSet {
	out := make(ast.SelectionSet, 0, len(set))
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			f := *s
			f.SelectionSet = c.set(s.SelectionSet, at.in(s, s.Alias))
			out = append(out, &f)
		case *ast.InlineFragment:
			if f := c.fragment(s, at); f != nil {
				out = append(out, f)
			}
		}
	}
	return out
}

// fragment returns a copy of a fragment without nested deferred fragments. If the fragment is deferred itself, it
// becomes a group of c, and the result is nil.
func (c *cutter) fragment(original *ast.InlineFragment, at location) ast.Selection {
	f := *original
	deferred := original.Directives.ForName(directive)
	f.Directives = slices.DeleteFunc(slices.Clone(original.Directives), func(d *ast.Directive) bool {
		return d.Name == directive
	})
	if deferred == nil || !isActive(deferred, c.variables) {
		f.SelectionSet = c.set(original.SelectionSet, at.in(&f))
		return &f
	}
	g := &Group{Parent: at.group, Path: at.names}
	if a := deferred.Arguments.ForName("label"); a != nil {
		g.Label = a.Value
	}
	if at.group != Initial {
		g.Base = len(c.Groups[at.group].Path)
	}
	inside := at.in(&f)
	inside.group = len(c.Groups)
	c.Groups = append(c.Groups, g)
	f.SelectionSet = c.set(original.SelectionSet, inside)
	g.Operation = c.operationWith(at.wrap(ast.SelectionSet{&f}))
	return nil
}

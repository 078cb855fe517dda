package server

import (
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
)

// deferral is an operation that defers parts of its answer.
//
// The answer is not put together of single fields that were put off, as gqlgen would do it: each deferred fragment becomes an operation of its own,
// which goes from the root to the objects that the fragment belongs to and selects the fragment there. What lies on the way has been read for the
// part before and is not read again (defer_memo.go, [rowplan.NewPartsStore]), so a deferred relation is still one statement for all its parents.
type deferral struct {
	operation *ast.OperationDefinition
	set       ast.SelectionSet // the operation's, with its fragments inside and the directives in place
	sites     ast.DirectiveList

	mu     sync.Mutex
	splits map[string]*split // by which of the sites defer
}

// mostSplits bounds how many ways to split an operation are kept; those beyond are made each time.
const mostSplits = 2

// splitWeight is how many times as much as a document alone one takes that defers something: the copy of its operations, and what they are split into.
const splitWeight = 2 + 2*mostSplits

// split is an operation without the fragments that it defers, and those.
type split struct {
	kept   bool
	first  *ast.OperationDefinition
	groups []*group // outer ones before those in them
}

// group is one deferred fragment.
type group struct {
	operation *ast.OperationDefinition
	label     *ast.Value // nil where there is none
	within    int        // the group that this one is a part of, or whole
	route     []string   // the response names from the root to the objects that the fragment belongs to
	from      int        // how many of them lead to the objects of the group around
}

// whole stands for the first part of an answer.
const whole = -1

// deferrals are the operations of a document that defer something. They are copies: what becomes of the document does not change them.
func deferrals(doc *ast.QueryDocument) map[*ast.OperationDefinition]*deferral {
	var found map[*ast.OperationDefinition]*deferral
	for _, op := range doc.Operations {
		if op.Operation != ast.Query { // what is written, and what has happened, is told whole
			continue
		}
		e := expansion{places: map[string]*ast.Position{}}
		set := e.set(op.SelectionSet)
		if len(e.sites) == 0 {
			continue
		}
		if found == nil {
			found = map[*ast.OperationDefinition]*deferral{}
		}
		found[op] = &deferral{operation: op, set: set, sites: e.sites, splits: map[string]*split{}}
	}
	return found
}

// expansion copies a selection set with its fragments inside.
type expansion struct {
	sites ast.DirectiveList
	// places gives fields that read the same the same position, by which what was read for one is found for the other.
	places map[string]*ast.Position
}

func (e *expansion) set(set ast.SelectionSet) ast.SelectionSet {
	out := make(ast.SelectionSet, 0, len(set))
	for _, one := range set {
		switch one := one.(type) {
		case *ast.Field:
			f := *one
			f.Position, f.SelectionSet = e.place(one), e.set(one.SelectionSet)
			out = append(out, &f)
		case *ast.InlineFragment:
			f := *one
			out = append(out, e.fragment(&f, one.SelectionSet))
		case *ast.FragmentSpread:
			out = append(out, e.fragment(&ast.InlineFragment{
				TypeCondition: one.Definition.TypeCondition, Directives: one.Directives, ObjectDefinition: one.ObjectDefinition, Position: one.Position,
			}, one.Definition.SelectionSet))
		}
	}
	return out
}

// fragment completes the copy of a fragment.
func (e *expansion) fragment(f *ast.InlineFragment, set ast.SelectionSet) *ast.InlineFragment {
	if d := f.Directives.ForName(deferDirective); d != nil {
		e.sites = append(e.sites, d)
	}
	f.Directives = slices.Clone(f.Directives)
	f.SelectionSet = e.set(set)
	return f
}

// place is the first place in the operation where this is read.
func (e *expansion) place(f *ast.Field) *ast.Position {
	var key strings.Builder
	if f.ObjectDefinition != nil {
		key.WriteString(f.ObjectDefinition.Name)
	}
	key.WriteString("." + f.Name)
	for _, a := range f.Arguments {
		key.WriteString(" " + a.Name + ":" + a.Value.String())
	}
	if e.places[key.String()] == nil {
		e.places[key.String()] = f.Position
	}
	return e.places[key.String()]
}

// split splits the operation as the variables say, nil when nothing is to be deferred.
func (d *deferral) split(variables map[string]any) *split {
	on := make([]byte, len(d.sites))
	some := false
	for i, site := range d.sites {
		on[i] = '0'
		if isOn(site, variables) {
			on[i], some = '1', true
		}
	}
	if !some {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := string(on)
	if s := d.splits[key]; s != nil {
		return s
	}
	c := cutter{operation: d.operation, variables: variables, split: &split{}}
	c.first = c.as(c.set(d.set, trail{group: whole}))
	if len(d.splits) < mostSplits {
		c.kept, d.splits[key] = true, c.split
	}
	return c.split
}

// isOn tells whether a @defer defers. One whose condition has no value does.
func isOn(d *ast.Directive, variables map[string]any) bool {
	a := d.Arguments.ForName("if")
	if a == nil || a.Value == nil {
		return true
	}
	v, err := a.Value.Value(variables)
	on, isBool := v.(bool)
	return err != nil || !isBool || on
}

// cutter takes the deferred fragments out of an operation.
type cutter struct {
	operation *ast.OperationDefinition
	variables map[string]any
	*split
}

// trail leads from the root to a selection set.
type trail struct {
	steps []ast.Selection // fields and fragments
	names []string        // of the fields
	group int             // that the selection set is a part of
}

func (t trail) to(step ast.Selection, names ...string) trail {
	return trail{append(t.steps[:len(t.steps):len(t.steps)], step), append(t.names[:len(t.names):len(t.names)], names...), t.group}
}

// wrap is what leads to a selection set, and the set.
func (t trail) wrap(set ast.SelectionSet) ast.SelectionSet {
	for i := len(t.steps) - 1; i >= 0; i-- {
		switch step := t.steps[i].(type) {
		case *ast.Field:
			f := *step
			f.SelectionSet = set
			set = ast.SelectionSet{&f}
		case *ast.InlineFragment:
			f := *step
			f.SelectionSet = set
			set = ast.SelectionSet{&f}
		}
	}
	return set
}

// as is the operation with another selection set.
func (c *cutter) as(set ast.SelectionSet) *ast.OperationDefinition {
	op := *c.operation
	op.SelectionSet = set
	return &op
}

// set is what stays of a selection set. What it defers becomes groups.
func (c *cutter) set(set ast.SelectionSet, at trail) ast.SelectionSet {
	out := make(ast.SelectionSet, 0, len(set))
	for _, one := range set {
		switch one := one.(type) {
		case *ast.Field:
			f := *one
			f.SelectionSet = c.set(one.SelectionSet, at.to(one, one.Alias))
			out = append(out, &f)
		case *ast.InlineFragment:
			if f := c.fragment(one, at); f != nil {
				out = append(out, f)
			}
		}
	}
	return out
}

// fragment is what stays of a fragment, nil when it is deferred.
func (c *cutter) fragment(one *ast.InlineFragment, at trail) ast.Selection {
	f := *one
	f.Directives = nil
	var site *ast.Directive
	for _, d := range one.Directives {
		if d.Name == deferDirective {
			site = d
			continue
		}
		f.Directives = append(f.Directives, d)
	}
	if site == nil || !isOn(site, c.variables) {
		f.SelectionSet = c.set(one.SelectionSet, at.to(&f))
		return &f
	}
	g := &group{within: at.group, route: at.names}
	if a := site.Arguments.ForName("label"); a != nil {
		g.label = a.Value
	}
	if at.group != whole {
		g.from = len(c.groups[at.group].route)
	}
	inside := at.to(&f)
	inside.group = len(c.groups)
	c.groups = append(c.groups, g)
	f.SelectionSet = c.set(one.SelectionSet, inside)
	g.operation = c.as(at.wrap(ast.SelectionSet{&f}))
	return nil
}

// deferDirective is the name of the directive that defers fragments.
const deferDirective = "defer"

// defers tells whether a document has a @defer.
func defers(doc *ast.QueryDocument) bool {
	found := false
	eachFragment(doc, func(directives *ast.DirectiveList) { found = found || directives.ForName(deferDirective) != nil })
	return found
}

// undefer takes every @defer out of a document: its answers are whole.
func undefer(doc *ast.QueryDocument) {
	eachFragment(doc, func(directives *ast.DirectiveList) {
		*directives = slices.DeleteFunc(*directives, func(d *ast.Directive) bool { return d.Name == deferDirective })
	})
}

// eachFragment visits the directives of each place where a fragment is used.
func eachFragment(doc *ast.QueryDocument, visit func(*ast.DirectiveList)) {
	var in func(ast.SelectionSet)
	in = func(set ast.SelectionSet) {
		for _, one := range set {
			switch one := one.(type) {
			case *ast.Field:
				in(one.SelectionSet)
			case *ast.InlineFragment:
				visit(&one.Directives)
				in(one.SelectionSet)
			case *ast.FragmentSpread:
				visit(&one.Directives)
			}
		}
	}
	for _, op := range doc.Operations {
		in(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		in(f.SelectionSet)
	}
}

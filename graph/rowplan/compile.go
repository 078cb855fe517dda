package rowplan

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/scalar"
	"heliograph/internal/base/list"
)

// compiler collects the properties of a plan while it is compiled.
type compiler struct {
	slots      int
	conditions []condition
	path       ast.Path // of the field that is compiled, below the field of the plan
	past       *Past    // what can be read in the state of the plan; nil for the present
}

// slot reserves a place in run.slots, where the results of one relation, or the arguments of one field, are at run
// time, and returns its index.
func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

// directives are the @skip and @include on the way to a field. The field is included if all of them allow it.
type directives []*ast.Directive

// condition holds if any of some directives allow a field and none of others do.
type condition struct{ any, none []directives }

// always is the index of no condition.
const always = -1

// condition adds a condition to the plan and returns its index for [run.included], or always if it holds in every
// case.
func (c *compiler) condition(when condition) int {
	if slices.ContainsFunc(when.any, func(d directives) bool { return d == nil }) && len(when.none) == 0 {
		return always
	}
	c.conditions = append(c.conditions, when)
	return len(c.conditions) - 1
}

// evaluate returns, for each condition of a plan, whether it holds with the variables of the operation: any of some
// directives @skip and @include, and none of others, permit the field. Without conditions it returns nil. An argument
// that is null or absent counts as false, and one that cannot be read permits no field.
func evaluate(conditions []condition, variables map[string]any) []bool {
	if conditions == nil {
		return nil
	}
	allowed := func(of directives) bool {
		return !slices.ContainsFunc(of, func(d *ast.Directive) bool {
			v, err := d.Arguments.ForName("if").Value.Value(variables)
			on, _ := v.(bool)
			return err != nil || on == (d.Name == "skip")
		})
	}
	return list.Map(conditions, func(when condition) bool {
		return slices.ContainsFunc(when.any, allowed) && !slices.ContainsFunc(when.none, allowed)
	})
}

// selected is a response name in a selection set: one field, merged of all its occurrences.
type selected struct {
	field       *ast.Field
	occurrences []directives
	merged      bool
}

// occurrence is where a response name is selected.
type occurrence struct{ name, number int }

// collector flattens a selection set for an object, as CollectFields of the GraphQL specification (§6.3.2) does.
// Conditions are evaluated when the plan runs.
type collector struct {
	*compiler
	names []string // of the object, its interfaces and unions
	out   []*selected
	order []occurrence
}

// collect adds the fields of a selection that apply to the type to c, with the conditions of all fragments around
// them. outer has those around the set, or is nil.
func (c *collector) collect(set ast.SelectionSet, outer directives) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			c.add(s, c.directives(outer, s.Directives))
		case *ast.InlineFragment:
			if s.TypeCondition == "" || slices.Contains(c.names, s.TypeCondition) {
				c.collect(s.SelectionSet, c.directives(outer, s.Directives))
			}
		case *ast.FragmentSpread:
			if slices.Contains(c.names, s.Definition.TypeCondition) {
				c.collect(s.Definition.SelectionSet, c.directives(outer, s.Directives))
			}
		}
	}
}

// add adds an occurrence of a field, under the directives of, to c. The selection sets of all occurrences are merged,
// each under its own directives (§5.3.2 of the specification: names and arguments are equal).
func (c *collector) add(f *ast.Field, of directives) {
	at := slices.IndexFunc(c.out, func(s *selected) bool { return s.field.Alias == f.Alias })
	if at < 0 {
		at = len(c.out)
		c.out = append(c.out, &selected{field: f})
	} else if s := c.out[at]; len(f.SelectionSet) > 0 {
		if !s.merged {
			first := *s.field
			first.SelectionSet = under(s.occurrences[0], first.SelectionSet)
			s.field, s.merged = &first, true
		}
		s.field.SelectionSet = slices.Concat(s.field.SelectionSet, under(of, f.SelectionSet))
	}
	s := c.out[at]
	// else an earlier one is always included
	if !slices.ContainsFunc(s.occurrences, func(d directives) bool { return d == nil }) {
		c.order = append(c.order, occurrence{at, len(s.occurrences)})
	}
	s.occurrences = append(s.occurrences, of)
}

// under returns a selection set that is included if directives allow it; without directives it returns set.
func under(of directives, set ast.SelectionSet) ast.SelectionSet {
	if of == nil {
		return set
	}
	return ast.SelectionSet{&ast.InlineFragment{Directives: ast.DirectiveList(of), SelectionSet: set}}
}

// directives returns outer with the @skip and @include of list, without changing outer. Other directives do
// nothing here; see package incremental for @defer.
func (c *collector) directives(outer directives, list ast.DirectiveList) directives {
	for _, d := range list {
		if d.Name == "skip" || d.Name == "include" {
			outer = append(slices.Clip(outer), d)
		}
	}
	return outer
}

// column is a field of an object in the response.
type column[T any] struct {
	prefix string // `,"alias":`
	alias  string
	when   int  // index of the condition under which it is written
	must   bool // not be null: otherwise the object is null. Package scalar writes no null for a non-null scalar.
	node[T]
}

// columnLoad is the load of a field.
type columnLoad[T any] struct {
	when int
	load func(ctx context.Context, r *run, rows []T) error
}

// included reports whether the condition at an index of the plan holds with the variables of the operation.
func (r *run) included(when int) bool { return when == always || r.holds[when] }

// compile returns the node that reads and writes the selected fields of an object. It adds slots and conditions to c.
// A nil row is written as null. If the object stands for a past state, what c compiles from then on is of that state.
func (o *Object[T]) compile(c *compiler, set ast.SelectionSet) node[T] {
	if o.past != nil {
		c.past = o.past
	}
	fields := collector{compiler: c, names: o.names}
	fields.collect(set, nil)
	var loads []columnLoad[T]
	var relations []string
	nodes := make([]node[T], len(fields.out))
	for i, s := range fields.out {
		c.path = append(c.path, ast.PathName(s.field.Alias))
		nodes[i] = o.node(c, s.field)
		c.path = c.path[:len(c.path)-1]
		for _, below := range nodes[i].relations {
			relations = append(relations, strings.TrimSuffix(s.field.Name+"."+below, "."))
		}
		if nodes[i].load != nil {
			loads = append(loads, columnLoad[T]{c.condition(condition{any: s.occurrences}), nodes[i].load})
		}
	}
	columns := make([]column[T], len(fields.order))
	for i, at := range fields.order {
		s := fields.out[at.name]
		// A name is written where its first occurrence is that is included.
		when := c.condition(condition{
			any:  s.occurrences[at.number : at.number+1],
			none: s.occurrences[:at.number:at.number],
		})
		must := s.field.Definition != nil && s.field.Definition.Type.NonNull
		columns[i] = column[T]{"," + strconv.Quote(s.field.Alias) + ":", s.field.Alias, when, must, nodes[at.name]}
	}
	n := node[T]{relations: relations, put: func(dst []byte, r *run, v T) []byte {
		if isNil(v) {
			return append(dst, "null"...)
		}
		at, missing := len(dst), false
		for i := range columns {
			col := &columns[i]
			if !r.included(col.when) {
				continue
			}
			dst = append(dst, col.prefix...)
			if col.bare != nil { // nearly all are
				dst = col.bare(dst, v, r.style)
				continue
			}
			start := len(dst)
			if r.tracing {
				r.path = append(r.path, ast.PathName(col.alias))
			}
			dst = col.put(dst, r, v)
			if col.must && isNull(dst[start:]) {
				r.missing()
				missing = true // the other fields are written for the order of the results; see results
			}
			r.leave()
		}
		switch {
		case missing:
			return append(dst[:at], "null"...)
		case len(dst) == at:
			return append(dst, '{', '}')
		}
		dst[at] = '{'
		return append(dst, '}')
	}}
	if loads != nil {
		n.load = func(ctx context.Context, r *run, rows []T) error {
			rows = present(rows)
			for i := range loads {
				if !r.included(loads[i].when) {
					continue
				}
				if err := loads[i].load(ctx, r, rows); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return n
}

// node returns the node that reads and writes one field of the object, including __typename, for [Object.compile]. It
// adds the slots and conditions of the field to c. It panics if the table has no such field.
func (o *Object[T]) node(c *compiler, f *ast.Field) node[T] {
	if f.Name == "__typename" {
		name := strconv.Quote(o.names[0])
		return scalarNode(func(dst []byte, _ T, _ scalar.Style) []byte { return append(dst, name...) })
	}
	return o.fieldAt(c, f.Name).compile(c, f) // the generator checks that the tables have all fields
}

package rowplan

import (
	"context"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// compiler collects what is known about a plan while it is compiled.
type compiler struct {
	slots int
	all   []conditions // of the fields that have some
	// partial is set when a field has no plan: the plan then loads but does not write.
	partial bool
}

// merge makes one field of two selections of it (§5.3.2 of the GraphQL specification: their names and arguments are equal).
func merge(a, b *ast.Field) *ast.Field {
	merged := *a // at the place of the first, by which gqlgen's resolvers know the field
	merged.SelectionSet = slices.Concat(a.SelectionSet, b.SelectionSet)
	return &merged
}

// conditions are the @skip and @include on the way to a field.
type conditions []*ast.Directive

// selected is a field of a selection set with its conditions.
type selected struct {
	field      *ast.Field
	conditions conditions
}

// collect flattens a selection set for an object of the given names, as CollectFields of the GraphQL specification (§6.3.2) does, but
// leaves conditions to be decided when the plan runs.
func (c *compiler) collect(out []selected, set ast.SelectionSet, names []string, outer conditions) []selected {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			conditions := c.conditions(outer, s.Directives)
			at := slices.IndexFunc(out, func(o selected) bool { return o.field.Alias == s.Alias })
			switch {
			case at < 0:
				out = append(out, selected{s, conditions})
			case len(conditions) > 0 || len(out[at].conditions) > 0:
				c.partial = true // which selections there are to merge is known when they run: gqlgen does that
			case len(s.SelectionSet) > 0:
				out[at].field = merge(out[at].field, s)
			}
		case *ast.InlineFragment:
			if s.TypeCondition == "" || slices.Contains(names, s.TypeCondition) {
				out = c.collect(out, s.SelectionSet, names, c.conditions(outer, s.Directives))
			}
		case *ast.FragmentSpread:
			if slices.Contains(names, s.Definition.TypeCondition) {
				out = c.collect(out, s.Definition.SelectionSet, names, c.conditions(outer, s.Directives))
			}
		}
	}
	return out
}

// conditions adds the @skip and @include among directives to outer. Any other directive changes the answer in a way that plans do not know.
func (c *compiler) conditions(outer conditions, directives ast.DirectiveList) conditions {
	for _, d := range directives {
		if d.Name != "skip" && d.Name != "include" {
			c.partial = true
			continue
		}
		outer = append(slices.Clip(outer), d)
	}
	return outer
}

// column is a compiled field of an object.
type column[T any] struct {
	prefix    string // `,"alias":`
	condition int    // the place of its conditions among those of the plan, or always
	node[T]
}

// always is the place of no condition.
const always = -1

// condition gives conditions a place in the plan.
func (c *compiler) condition(of conditions) int {
	if of == nil {
		return always
	}
	c.all = append(c.all, of)
	return len(c.all) - 1
}

// shows tells whether the conditions let the field through.
func (col *column[T]) shows(r *run) bool { return col.condition == always || r.holds[col.condition] }

// evaluate tells of the conditions of each field whether all let it through.
func evaluate(all []conditions, variables map[string]any) []bool {
	if all == nil {
		return nil
	}
	out := make([]bool, len(all))
	for i, of := range all {
		out[i] = !slices.ContainsFunc(of, func(d *ast.Directive) bool {
			v, err := d.Arguments.ForName("if").Value.Value(variables)
			on, _ := v.(bool)
			return err != nil || on == (d.Name == "skip")
		})
	}
	return out
}

// compile makes the node of a selection set.
func (o *Object[T]) compile(c *compiler, set ast.SelectionSet) node[T] {
	var columns []column[T]
	loads := false
	for _, s := range c.collect(nil, set, o.names, nil) {
		prefix := "," + strconv.Quote(s.field.Alias) + ":"
		if s.field.Name == "__typename" {
			name := strconv.Quote(o.names[0])
			columns = append(columns, column[T]{prefix, c.condition(s.conditions), node[T]{put: func(dst []byte, _ *run, _ T) []byte { return append(dst, name...) }}})
			continue
		}
		field, ok := o.fields[s.field.Name]
		if !ok {
			c.partial = true
			continue
		}
		n := field.compile(c, s.field)
		loads = loads || n.load != nil
		columns = append(columns, column[T]{prefix, c.condition(s.conditions), n})
	}
	n := node[T]{put: func(dst []byte, r *run, v T) []byte {
		at := len(dst)
		for i := range columns {
			col := &columns[i]
			if !col.shows(r) {
				continue
			}
			dst = append(dst, col.prefix...)
			if col.bare != nil { // nearly all are
				dst = col.bare(dst, v, r.style)
			} else {
				dst = col.put(dst, r, v)
			}
		}
		if len(dst) == at {
			return append(dst, '{', '}')
		}
		dst[at] = '{'
		return append(dst, '}')
	}}
	if loads {
		n.load = func(ctx context.Context, r *run, rows []T) error {
			if len(rows) == 0 {
				rows = nil // loads still run: each puts an empty result into its slot
			}
			for i := range columns {
				col := &columns[i]
				if col.load == nil || !col.shows(r) {
					continue
				}
				if err := col.load(ctx, r, rows); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return n
}

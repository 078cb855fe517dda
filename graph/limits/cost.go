package limits

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/relay"
)

// assumedSize is how many elements a list is taken to have that has no page size and no @listSize.
const assumedSize = 10

// Cost is what an operation costs: how many objects its answer can hold, deferred fragments counted as such, and what the fields with a @cost of their own add. It is compiled with the
// document; only page sizes that are variables are left for when the operation is run.
type Cost struct {
	// fixed is the cost of everything that no variable changes.
	fixed int
	// parts are the rest.
	parts []part
}

// part is a list whose size a variable gives, or something with such a list in it.
type part struct {
	size size
	own  int // of the list itself, whatever its size
	each Cost
}

// size is how many elements a list has at most.
type size struct {
	// fixed is the size where no variable gives it.
	fixed int
	// variables give the size where they are not null: of a list variable its length, else its value. The first that is given counts.
	variables []string
	// largest is where variables end.
	largest int
}

// Price compiles the cost of an operation that has been checked against the schema, and whose size [Limits.Check] has bounded. pages are the page
// sizes that there are: larger ones cost what the largest does, since they are refused.
func Price(op *ast.OperationDefinition, pages relay.Limits) *Cost {
	c := pricing{pages}.set(op.SelectionSet, size{fixed: 1})
	return &c
}

// Of is the cost with given variables, coerced already. It does not allocate.
func (c *Cost) Of(variables map[string]any) int {
	total := c.fixed
	for i := range c.parts {
		p := &c.parts[i]
		total = sum(total, sum(p.own, product(p.size.of(variables), p.each.Of(variables))))
	}
	return total
}

func (s size) of(variables map[string]any) int {
	for _, name := range s.variables {
		switch v := variables[name].(type) {
		case nil:
		case []any:
			return min(len(v), s.largest)
		case int64:
			return min(bounded(v), s.largest)
		case int:
			return min(bounded(int64(v)), s.largest)
		case json.Number:
			n, err := v.Int64()
			if err != nil {
				return s.largest
			}
			return min(bounded(n), s.largest)
		default:
			return 1 // one value stands for a list of one
		}
	}
	return s.fixed
}

func bounded(n int64) int { return int(max(0, min(n, most))) }

// add adds a field that costs own, and each for every one of its elements.
func (c *Cost) add(own int, n size, each Cost) {
	if len(n.variables) == 0 {
		c.fixed = sum(c.fixed, sum(own, product(n.fixed, each.fixed)))
		if len(each.parts) == 0 || n.fixed == 0 {
			return
		}
		if n.fixed == 1 {
			c.parts = append(c.parts, each.parts...)
			return
		}
		each.fixed, own = 0, 0
	}
	c.parts = append(c.parts, part{size: n, own: own, each: each})
}

// pricing prices the operations of clients with these page sizes.
type pricing struct{ pages relay.Limits }

// set is the cost of a selection set. page is the size of the page that it is a connection of, 1 elsewhere.
func (p pricing) set(set ast.SelectionSet, page size) Cost {
	var c Cost
	for _, one := range set {
		switch one := one.(type) {
		case *ast.Field:
			p.addField(&c, one, page)
		case *ast.InlineFragment:
			c.add(deferred(one.Directives), size{fixed: 1}, p.set(one.SelectionSet, page))
		case *ast.FragmentSpread:
			c.add(deferred(one.Directives), size{fixed: 1}, p.set(one.Definition.SelectionSet, page))
		}
	}
	return c
}

// deferred is what a fragment costs that comes by itself when it is deferred: an object of the answer, with the path that leads to it.
func deferred(directives ast.DirectiveList) int {
	if directives.ForName("defer") != nil {
		return 1
	}
	return 0
}

// addField adds what a field costs.
func (p pricing) addField(c *Cost, f *ast.Field, page size) {
	if f.Definition == nil || strings.HasPrefix(f.Name, "__") { // the schema costs nothing to tell
		return
	}
	weight, priced := directiveInt(f.Definition.Directives, "cost", "weight")
	if len(f.SelectionSet) == 0 {
		c.fixed = sum(c.fixed, weight)
		return
	}
	one := size{fixed: 1}
	kind := f.Definition.Type.Name()
	list := f.Definition.Type.Elem != nil
	switch {
	case kind == "PageInfo":
		c.add(0, one, p.set(f.SelectionSet, one))
	case strings.HasSuffix(kind, "Connection"):
		if !priced {
			weight = 1
		}
		c.add(weight, one, p.set(f.SelectionSet, p.pageSize(f)))
	case strings.HasSuffix(kind, "Edge") && list:
		c.add(0, page, p.set(f.SelectionSet, one))
	case list && f.Name == "nodes" && f.ObjectDefinition != nil && strings.HasSuffix(f.ObjectDefinition.Name, "Connection"):
		inside := p.set(f.SelectionSet, one)
		inside.fixed = sum(inside.fixed, 1)
		c.add(0, page, inside)
	default:
		if !priced {
			weight = 1
		}
		inside := p.set(f.SelectionSet, one)
		inside.fixed = sum(inside.fixed, weight)
		if list {
			one = listSize(f)
		}
		c.add(0, one, inside)
	}
}

// pageSize is how many rows a connection has at most.
func (p pricing) pageSize(f *ast.Field) size {
	s := size{fixed: p.pages.Default, largest: p.pages.Max}
	for _, name := range [...]string{"first", "last"} {
		a := f.Arguments.ForName(name)
		switch {
		case a == nil || a.Value == nil || a.Value.Kind == ast.NullValue:
		case a.Value.Kind == ast.Variable:
			s.variables = append(s.variables, a.Value.Raw)
		default:
			s.fixed = min(literal(a.Value), s.largest)
			return s
		}
	}
	return s
}

// listSize is how many elements a list without pages has.
func listSize(f *ast.Field) size {
	n, ok := directiveInt(f.Definition.Directives, "listSize", "assumedSize")
	if !ok {
		n = assumedSize
	}
	s := size{fixed: n, largest: most}
	for _, name := range [...]string{"first", "ids", "representations"} {
		def := f.Definition.Arguments.ForName(name)
		if def == nil {
			continue
		}
		if def.DefaultValue != nil {
			s.fixed = literal(def.DefaultValue)
		}
		switch a := f.Arguments.ForName(name); {
		case a == nil || a.Value == nil || a.Value.Kind == ast.NullValue:
		case a.Value.Kind == ast.Variable:
			s.variables = append(s.variables, a.Value.Raw)
		default:
			s.fixed = literal(a.Value)
		}
	}
	return s
}

// literal is the size that a value in the document gives.
func literal(v *ast.Value) int {
	switch v.Kind {
	case ast.ListValue:
		return len(v.Children)
	case ast.IntValue:
		n, err := strconv.ParseInt(v.Raw, 10, 64)
		if err != nil {
			return most
		}
		return bounded(n)
	default:
		return 1
	}
}

// directiveInt is the integer argument of a directive of the schema.
func directiveInt(list ast.DirectiveList, directive, argument string) (n int, found bool) {
	d := list.ForName(directive)
	if d == nil {
		return 0, false
	}
	a := d.Arguments.ForName(argument)
	if a == nil || a.Value == nil {
		return 0, false
	}
	return literal(a.Value), true
}

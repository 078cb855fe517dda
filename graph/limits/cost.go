package limits

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/graph/relay"
)

// defaultListSize is the assumed length of a list without page arguments and without @listSize.
const defaultListSize = 10

// Cost is the compiled cost of an operation: the maximum number of objects in the response, plus the weights of fields
// with @cost, plus one for each deferred fragment. It is compiled once per document. Page sizes given by variables are
// applied by [Cost.Of].
type Cost struct {
	// fixed is the part that does not depend on variables.
	fixed int
	// parts depend on variables.
	parts []part
}

// part is the cost of a list whose size depends on a variable, or which contains such a list.
type part struct {
	size size
	own  int // cost of the list itself, whatever its size
	each Cost
}

// size is the maximum number of elements of a list.
type size struct {
	// fixed is the size if all variables are null or absent.
	fixed int
	// variables name the variables that set the size. The first one that is not null counts: the length of a list, or
	// the value of an integer.
	variables []string
	// max bounds the value of a variable.
	max int
	// ofParent is set if an argument of an object sets the size of the lists in it.
	ofParent bool
}

// single is the size of everything that is not a list.
var single = size{fixed: 1}

// Price compiles the cost of an operation. The document must be valid, and [Limits.Check] must have accepted it. Page
// sizes above the maximum in pages cost as much as the maximum, because the resolver rejects them.
func Price(op *ast.OperationDefinition, pages relay.Limits) *Cost {
	c := pricing{pages: pages}.set(op.SelectionSet, single)
	return &c
}

// Of returns the cost for the given variables, which must be coerced. It does not allocate. The result is at most
// maxCount.
func (c *Cost) Of(variables map[string]any) int {
	total := c.fixed
	for i := range c.parts {
		p := &c.parts[i]
		total = add(total, add(p.own, multiply(p.size.of(variables), p.each.Of(variables))))
	}
	return total
}

// of returns the number of elements that a list can have for the given variables: the length of the list or the value
// of the integer in the first variable that is not null, at most s.max, or s.fixed without one. A number that is not
// an integer counts as s.max, and any other value as one element.
func (s size) of(variables map[string]any) int {
	for _, name := range s.variables {
		switch v := variables[name].(type) {
		case nil:
		case []any:
			return min(len(v), s.max)
		case int64:
			return min(clamp(v), s.max)
		case int:
			return min(clamp(int64(v)), s.max)
		case json.Number:
			n, err := v.Int64()
			if err != nil {
				return s.max
			}
			return min(clamp(n), s.max)
		default:
			return 1 // a single value is coerced to a list of one element
		}
	}
	return s.fixed
}

// addList adds to c a field that costs own once, and each for every element of a list with n elements. If neither n
// nor each depends on variables, the cost is added to c.fixed. Otherwise, the part that depends on them becomes parts
// of c.
func (c *Cost) addList(own int, n size, each Cost) {
	if len(n.variables) == 0 {
		c.fixed = add(c.fixed, add(own, multiply(n.fixed, each.fixed)))
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

// pricing computes the costs of the selection sets of a document, in points; see [Cost].
type pricing struct {
	pages relay.Limits
	past  bool // inside of a state of the ledger
}

// set returns the cost of a selection set. page is the page size if the set selects from a connection, the size of the
// lists in it if an argument of an object sets that (ofParent), and single otherwise.
func (p pricing) set(set ast.SelectionSet, page size) Cost {
	var c Cost
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			p.addField(&c, s, page)
		case *ast.InlineFragment:
			c.addList(deferCost(s.Directives), single, p.set(s.SelectionSet, page))
		case *ast.FragmentSpread:
			c.addList(deferCost(s.Directives), single, p.set(s.Definition.SelectionSet, page))
		}
	}
	return c
}

// Scans returns the number of lists at the root of an operation whose filters make them expensive. A list without the
// argument filter does not count. scans reports that for a list; given reports whether one of its filters is given
// and not null. Filters whose variables are invalid are no error here, because the executor reports them.
func Scans(
	set ast.SelectionSet, variables map[string]any, scans func(list string, given func(filter string) bool) bool,
) (n int) {
	for f := range Fields(set) {
		if arg := f.Arguments.ForName("filter"); arg != nil {
			filter, _ := variables[arg.Value.Raw].(map[string]any) // nil if it is no variable: it has children then
			if scans(f.Name, func(name string) bool {
				v := filter[name]
				if of := arg.Value.Children.ForName(name); of != nil {
					v, _ = of.Value(variables) // the executor reports the error
				}
				return v != nil
			}) {
				n++
			}
		}
	}
	return n
}

// ScanCost is the additional cost of each of these lists.
const ScanCost = 1000

// pastScans are the fields that read the rows of many objects at a past moment: all relationships of a token with the
// transfers of all tokens since the balance snapshot, or a history without an index by account.
var pastScans = strings.Fields("Account.hooks Account.outstandingAirdrops Account.pendingAirdrops Token.balances " +
	"Token.holderCount Token.holders Token.totalSupply Token.totalSupplyValue")

// pastScanCost is the additional cost of each of these fields, for each parent.
const pastScanCost = 100

// isPastScan reports whether a field is one of pastScans. It does not check that the field is below a past state.
func isPastScan(f *ast.Field) bool {
	return f.ObjectDefinition != nil && slices.Contains(pastScans, f.ObjectDefinition.Name+"."+f.Name)
}

// ScansPast reports whether an operation selects one of pastScans below a past state, which reads many rows.
func ScansPast(set ast.SelectionSet) bool {
	for f := range Fields(set) {
		if f.Definition.Type.Name() == pastState && Selects(f.SelectionSet, isPastScan) {
			return true
		}
	}
	return false
}

// Selects reports whether a selection set selects a field, at any depth and in fragments, for which the function is
// true.
func Selects(set ast.SelectionSet, is func(*ast.Field) bool) bool {
	for f := range Fields(set) {
		if is(f) || Selects(f.SelectionSet, is) {
			return true
		}
	}
	return false
}

// deferCost returns the additional cost of a fragment: 1 if it is deferred, because it is delivered as an object of
// its own.
func deferCost(directives ast.DirectiveList) int {
	if directives.ForName("defer") != nil {
		return 1
	}
	return 0
}

// introspectionSizes are the assumed lengths of the lists of introspection.
var introspectionSizes = map[string]int{
	"types": 400, "fields": 12, "args": 2, "inputFields": 4, "enumValues": 5, "interfaces": 1, "possibleTypes": 1,
	"directives": 20, "locations": 3,
}

// introspectionRate is the number of values of introspection that cost as much as an object. The usual introspection
// query costs 10,000.
const introspectionRate = 50

// introspected returns the estimated number of values that a selection set of introspection selects.
func introspected(set ast.SelectionSet) int {
	n := 0
	for f := range Fields(set) {
		each := cmp.Or(introspectionSizes[f.Name], 1)
		n = add(n, multiply(each, add(1, introspected(f.SelectionSet))))
	}
	return n
}

// addField adds the cost of a field and of what it selects to c. A scalar costs its @cost, or else 0. An object costs
// its @cost, or else 1, for each element if it is in a list. Of a connection, each of the nodes costs 1, and edges and
// pageInfo cost what they select. page is the page size for a field of a connection, the size of lists in an object
// that one of its arguments sets (ofParent), and single otherwise. __typename is free. Other fields of introspection
// cost one point for each introspectionRate values that they select.
func (p pricing) addField(c *Cost, f *ast.Field, page size) {
	if strings.HasPrefix(f.Name, "__") {
		c.fixed = add(c.fixed, introspected(f.SelectionSet)/introspectionRate)
		return
	}
	weight, weighted := directiveInt(f.Definition.Directives, "cost", "weight")
	if !weighted && len(f.SelectionSet) > 0 {
		weight = 1
	}
	if p.past && isPastScan(f) {
		weight += pastScanCost
	}
	if len(f.SelectionSet) == 0 {
		c.fixed = add(c.fixed, weight)
		return
	}
	kind := f.Definition.Type.Name()
	p.past = p.past || kind == pastState
	list := f.Definition.Type.Elem != nil
	switch {
	case kind == "PageInfo":
		c.addList(0, single, p.set(f.SelectionSet, single))
	case strings.HasSuffix(kind, "Connection"):
		c.addList(weight, single, p.set(f.SelectionSet, p.pageSize(f)))
	case list && strings.HasSuffix(kind, "Edge"):
		c.addList(0, page, p.set(f.SelectionSet, single))
	case list && f.Name == "nodes" && strings.HasSuffix(f.ObjectDefinition.Name, "Connection"):
		node := p.set(f.SelectionSet, single)
		node.fixed = add(node.fixed, 1)
		c.addList(0, page, node)
	default:
		inner, n := single, single
		switch _, declared := directiveInt(f.Definition.Directives, "listSize", "assumedSize"); {
		case list && !declared && page.ofParent:
			n = page
		case list:
			n = listSize(f)
		case f.Definition.Arguments.ForName("first") != nil || f.Definition.Arguments.ForName("days") != nil:
			inner = listSize(f)
			inner.ofParent = true
		}
		object := p.set(f.SelectionSet, inner)
		object.fixed = add(object.fixed, weight)
		c.addList(0, n, object)
	}
}

// pageSize returns the maximum number of rows of a connection: its argument first or last, up to the maximum, or the
// default. If an argument is a variable, the result contains its name, for [Cost.Of].
func (p pricing) pageSize(f *ast.Field) size {
	s := size{fixed: p.pages.Default, max: p.pages.Max}
	for _, name := range [...]string{"first", "last"} {
		if literal, found := s.argument(f, name); found {
			s.fixed = min(literal, s.max)
			return s
		}
	}
	return s
}

// listSize returns the maximum length of a list without pages, or of the lists in an object with the argument first
// or days. An argument such as first or ids sets it, with its value or its default value in the schema, else
// @listSize, else it is defaultListSize. The result contains the names of variables among the arguments, for
// [Cost.Of].
func listSize(f *ast.Field) size {
	n, declared := directiveInt(f.Definition.Directives, "listSize", "assumedSize")
	if !declared {
		n = defaultListSize
	}
	s := size{fixed: n, max: maxCount}
	for _, name := range [...]string{
		"first", "days", "ids", "numbers", "hashes", "timestamps", "keys", "representations",
	} {
		def := f.Definition.Arguments.ForName(name)
		if def == nil {
			continue
		}
		if def.DefaultValue != nil {
			s.fixed = literalSize(def.DefaultValue)
		}
		if literal, found := s.argument(f, name); found {
			s.fixed = literal
		}
	}
	return s
}

// argument returns the size that an argument of a field sets with a literal. If the argument is a variable, it is
// added to s.variables instead, and found is false. An absent argument and null set no size: found is false too.
func (s *size) argument(f *ast.Field, name string) (literal int, found bool) {
	a := f.Arguments.ForName(name)
	switch {
	case a == nil || a.Value == nil || a.Value.Kind == ast.NullValue:
		return 0, false
	case a.Value.Kind == ast.Variable:
		s.variables = append(s.variables, a.Value.Raw)
		return 0, false
	default:
		return literalSize(a.Value), true
	}
}

// literalSize returns the size that a literal sets: the length of a list, or the value of an integer, at most
// maxCount. Any other value counts as a list of one element.
func literalSize(v *ast.Value) int {
	switch v.Kind {
	case ast.ListValue:
		return len(v.Children)
	case ast.IntValue:
		n, err := strconv.ParseInt(v.Raw, 10, 64)
		if err != nil {
			return maxCount
		}
		return clamp(n)
	default:
		return 1
	}
}

// directiveInt returns an integer argument of a directive in the schema, and false if the directive or the
// argument is absent. A list counts with its length.
func directiveInt(list ast.DirectiveList, directive, argument string) (n int, found bool) {
	d := list.ForName(directive)
	if d == nil {
		return 0, false
	}
	a := d.Arguments.ForName(argument)
	if a == nil || a.Value == nil {
		return 0, false
	}
	return literalSize(a.Value), true
}

// Cache lifetimes in seconds where the schema has no @cacheControl.
const (
	// ShortAge is the lifetime of data that the next block can change.
	ShortAge = 2
	// schemaAge is the lifetime of introspection results.
	schemaAge = 60
	// longestAge is the lifetime of a response that depends on no data.
	longestAge = 3600
	// PastAge is the lifetime of states of the ledger at past moments, which never change: a year.
	PastAge = 365 * 24 * 3600
)

// pastState is the type of these states.
const pastState = "LedgerState"

// Age returns how many seconds the response to an operation can be cached: the shortest lifetime of everything that
// the operation selects. Blocks, transactions and other history never change. Accounts, tokens and the ends of lists
// do. Mutations and subscriptions are not cached: 0.
func Age(op *ast.OperationDefinition) int {
	if op.Operation != ast.Query {
		return 0
	}
	return setAge(op.SelectionSet, ShortAge)
}

// setAge returns the shortest lifetime in seconds in a selection set. parent is the lifetime of the object that the
// fields belong to. The result is at most PastAge, also for an empty set.
func setAge(set ast.SelectionSet, parent int) int {
	shortest := PastAge
	for f := range Fields(set) {
		shortest = min(shortest, fieldAge(f, parent))
	}
	return shortest
}

// stateAge returns the lifetime in seconds of the selected part of a past state of the ledger: only its own fields can
// change. Fields without @cacheControl, and those below its fields, do not count.
func stateAge(set ast.SelectionSet) int {
	shortest := PastAge
	for f := range Fields(set) {
		if age, declared := directiveInt(f.Definition.Directives, "cacheControl", "maxAge"); declared {
			shortest = min(shortest, age)
		}
	}
	return shortest
}

// fieldAge returns the seconds for which the result of a field may be cached; parent are those of the object that has
// the field. A field cannot be cached for longer than those below it. That of a past state depends on the fields
// directly in it only; see [stateAge].
func fieldAge(f *ast.Field, parent int) int {
	switch f.Name {
	case "__typename":
		return longestAge
	case "__schema", "__type":
		return schemaAge
	}
	age, declared := directiveInt(f.Definition.Directives, "cacheControl", "maxAge")
	switch {
	case f.Definition.Type.Name() == pastState:
		return stateAge(f.SelectionSet)
	case len(f.SelectionSet) == 0 && declared:
		return age
	case len(f.SelectionSet) == 0:
		return parent
	case !declared:
		age = typeAge(f, parent)
	}
	return min(age, setAge(f.SelectionSet, age))
}

// typeAge returns the lifetime in seconds that the type of a field implies: its @cacheControl, ShortAge for
// connections, interfaces, unions and objects with an interface, such as Node, and the lifetime of the parent for
// plain value objects.
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

// objectType returns the type that a selection set selects from, which the validator records in each selection, or
// nil for an empty set or one that was not validated.
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

package main

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/internal/base/list"
)

// kind is how the value of a field is obtained.
type kind string

const (
	column         kind = "column"         // from the row
	method         kind = "method"         // by a method of the row that takes a context
	methodWithArgs kind = "methodWithArgs" // by a method of the row that takes the arguments of the field
	derived        kind = "derived"        // by a function of the row that executes no statement
	batched        kind = "batched"        // by a function that reads it for many rows
	root           kind = "root"           // by a function for a field of an object without rows
)

type field struct {
	*codegen.Field

	Kind      kind
	IsWritten bool // a function that is written by hand reads the field
}

// fields are the fields of the schema, except those of introspection.
type fields struct {
	*codegen.Data

	Rows  map[string]*codegen.Object // objects with rows, by name
	Names []string                   // of objects with rows, sorted
	Roots []string                   // of objects without rows whose fields have functions
	List  []field                    // of all objects, sorted by object
}

// fieldsOf returns the fields of the schema with their kinds. It fails if the generator cannot write code for all of
// them. With an error, the fields must not be used. It parses the Go files of package resolvers, and an error there
// ends the program; see [check].
func fieldsOf(data *codegen.Data) (*fields, error) {
	f := &fields{Data: data, Rows: map[string]*codegen.Object{}, Roots: []string{"Network", "Query"}}
	written := writtenFunctions()
	for _, o := range data.Objects {
		if o.IsReserved() {
			continue
		}
		if !namespaces[o.Name] {
			f.Rows[o.Name] = o
			f.Names = append(f.Names, o.Name)
		}
		for _, one := range o.Fields {
			if !one.IsReserved() {
				f.List = append(f.List, newField(one, written))
			}
		}
	}
	slices.Sort(f.Names)
	slices.SortStableFunc(f.List, func(a, b field) int { return cmp.Compare(a.Object.Name, b.Object.Name) })
	err := f.check()
	return f, err
}

// newField returns a field with its kind: how its value is obtained. written has the numbers of parameters of the
// functions that are written by hand, by name; see [writtenFunctions].
func newField(of *codegen.Field, written map[string]int) field {
	f := field{Field: of}
	parameters := written[f.Function()]
	f.IsWritten = parameters > 0
	switch {
	case namespaces[of.Object.Name]:
		f.Kind = root
	case parameters == 1, of.IsResolver && !f.IsWritten && (f.IsID() || f.IsAmount() && !f.NeedsDecimals()):
		f.Kind = derived
	case of.IsResolver:
		f.Kind = batched
	case of.MethodHasContext:
		f.Kind = method
	case len(of.Args) > 0:
		f.Kind = methodWithArgs
	default:
		f.Kind = column
	}
	return f
}

// isAmount reports whether a field of the schema has the type Amount.
func isAmount(f *ast.FieldDefinition) bool { return f.Type.NamedType == "Amount" }

// check fails if a field of the schema does not have exactly one entry, or if the code of an entry cannot be written.
func (f *fields) check() error {
	entries := map[string]int{}
	functions := map[string]string{}
	for _, one := range f.List {
		name := one.FullName()
		entries[name]++
		switch one.Kind {
		case derived, batched:
			if other := functions[one.Function()]; other != "" {
				return fmt.Errorf("%s and %s need functions of the same name %s", other, name, one.Function())
			}
			functions[one.Function()] = name
		case column, method, methodWithArgs:
		case root:
			continue
		}
		if one.Reference() == nil && one.FieldDefinition.Directives.ForName("reference") != nil {
			return fmt.Errorf("%s: @reference names a field that does not exist", name)
		}
		if f.Shape(one.TypeReference) == "" {
			return fmt.Errorf("%s: no function of package scalar writes %s", name, one.Result())
		}
	}
	for name, def := range f.Schema.Types {
		if def.Kind != ast.Object || strings.HasPrefix(name, "__") {
			continue
		}
		for _, d := range def.Fields {
			if n := entries[name+"."+d.Name]; n != 1 && !strings.HasPrefix(d.Name, "__") {
				return fmt.Errorf("%s.%s has %d entries", name, d.Name, n)
			}
		}
	}
	return nil
}

// reduce changes the data of gqlgen: it removes the query type and the objects with rows, because our code resolves
// the fields of the one, and plans execute the others. For gqlgen, types with rows then have no fields and no members,
// and a marshaler. Call it after the other files are rendered from f.
func (f *fields) reduce() {
	planned := types.NewFunc(token.NoPos, types.NewPackage("heliograph/graph/rowplan", "rowplan"), "Unplanned", nil)
	reduced := map[*config.TypeReference]bool{}
	opaque := func(ref *config.TypeReference) {
		if !f.isPlanned(ref.Definition) || reduced[ref] {
			return
		}
		reduced[ref] = true
		ref.Definition = &ast.Definition{Kind: ast.Union, Name: ref.Definition.Name}
		ref.Marshaler, ref.Target, ref.IsMarshaler = planned, ref.GO, false
	}
	f.Objects = slices.DeleteFunc(f.Objects, func(o *codegen.Object) bool { return f.Rows[o.Name] != nil })
	for name, of := range f.Interfaces {
		of.Implementors = slices.DeleteFunc(of.Implementors, func(i codegen.InterfaceImplementor) bool {
			return f.Rows[i.Name] != nil
		})
		if len(of.Implementors) == 0 {
			delete(f.Interfaces, name)
		}
	}
	for _, ref := range f.ReferencedTypes {
		opaque(ref)
	}
	used := map[string]bool{}
	for _, o := range f.Objects {
		for _, one := range o.Fields { // those of the query type too
			opaque(one.TypeReference)
			for ref := one.TypeReference; ref != nil; ref = ref.Elem() {
				used[ref.UniquenessKey()] = true
			}
		}
	}
	maps.DeleteFunc(f.ReferencedTypes, func(_ string, ref *config.TypeReference) bool {
		return reduced[ref] && !used[ref.UniquenessKey()]
	})
	f.Objects = slices.DeleteFunc(f.Objects, func(o *codegen.Object) bool { return o == f.QueryRoot })
	f.QueryRoot = nil
}

// isPlanned reports whether all objects of a type have rows. For interfaces and unions that is known only after
// [fields.reduce] has removed their implementors with rows.
func (f *fields) isPlanned(def *ast.Definition) bool {
	switch def.Kind {
	case ast.Object:
		return f.Rows[def.Name] != nil
	case ast.Interface, ast.Union:
		return f.Interfaces[def.Name] == nil
	default:
		return false
	}
}

// Of returns the fields of an object that have one of the given kinds, or all without kinds. Templates call it.
func (f *fields) Of(object string, kinds ...kind) []field {
	return slices.DeleteFunc(slices.Clone(f.List), func(one field) bool {
		return one.Object.Name != object || len(kinds) > 0 && !slices.Contains(kinds, one.Kind)
	})
}

// FullName returns the name of the field with that of its object, such as Account.balance.
func (f field) FullName() string { return f.Object.Name + "." + f.Name }

// Function returns the name of the Go function that reads the field, such as AccountBalance.
func (f field) Function() string { return f.Object.Name + templates.ToGo(f.Name) }

// Relation returns the name of the field's relation in the generated struct: that of the function with a
// lower-case first letter.
func (f field) Relation() string { return templates.LcFirst(f.Function()) }

// Row returns the Go type of the parent object, a pointer.
func (f field) Row() string { return "*" + goType(f.Object.Type) }

// Result returns the Go type of the field.
func (f field) Result() string { return goType(f.TypeReference.GO) }

// Reference returns the field with the key of the object that the field refers to, or nil if the field has no
// @reference, or if its @reference names no field of the object.
func (f field) Reference() *codegen.Field {
	d := f.FieldDefinition.Directives.ForName("reference")
	if d == nil {
		return nil
	}
	by := d.Arguments.ForName("by").Value.Raw
	return list.Find(f.Object.Fields, func(other *codegen.Field) bool { return other.Name == by })
}

// Queue returns the name of the function that queues reading the objects that a field with @reference refers to, or
// "" if [queues] has none for their type.
func (f field) Queue() string { return queues[f.TypeReference.Definition.Name] }

// ArgsType returns the Go type of the arguments, or an empty string if the field has none.
func (f field) ArgsType() string {
	if len(f.Args) == 0 {
		return ""
	}
	return f.Function() + "Args"
}

// Parameters returns Go source: the parameters a0, a1, … of gqlgen's resolver for the arguments of the field, each
// after a comma.
func (f field) Parameters() string {
	var b strings.Builder
	for i, a := range f.Args {
		fmt.Fprintf(&b, ", a%d %s", i, goType(a.TypeReference.GO))
	}
	return b.String()
}

// PassArgs returns Go source: a composite literal of the arguments with the values of [field.Parameters].
func (f field) PassArgs() string {
	return f.argsLiteral(func(i int) string { return fmt.Sprintf("a%d", i) })
}

// ReadArgs returns Go source: a composite literal of the arguments that reads their values from the request with the
// function argument of graph/schema.go. The source uses the variables ctx, in and ec.
func (f field) ReadArgs() string {
	return f.argsLiteral(func(i int) string {
		return fmt.Sprintf("argument(ctx, &in, %d, ec.%s)", i, f.Args[i].TypeReference.UnmarshalFunc())
	})
}

// argsLiteral returns Go source: a composite literal of the arguments, in which those of paging are the embedded
// relay.Args, and a filter that is null becomes one without conditions. value returns the expression of the argument
// at an index.
func (f field) argsLiteral(value func(i int) string) string {
	var b strings.Builder
	b.WriteString(f.ArgsType() + "{")
	if f.Pages() {
		b.WriteString("Args: relay.Args{")
		for _, name := range paging {
			fmt.Fprintf(&b, "%s: %s, ", templates.ToGo(name), value(f.arg(name)))
		}
		b.WriteString("}, ")
	}
	for i, a := range f.Args {
		format := "%s: %s, "
		if a.Name == "filter" { // without conditions instead of nil
			format = "%s: OrZero(%s), "
		}
		if !f.IsPaging(a) {
			fmt.Fprintf(&b, format, templates.ToGo(a.Name), value(i))
		}
	}
	b.WriteString("}")
	return b.String()
}

// ListFilter returns the type of the filter if the arguments are those of most lists: filter, order and page. It is
// empty otherwise.
func (f field) ListFilter() string {
	at := f.arg("filter")
	if len(f.Args) != 2+len(paging) || at < 0 || f.arg("order") < 0 || !f.Pages() {
		return ""
	}
	return strings.TrimPrefix(goType(f.Args[at].TypeReference.GO), "*")
}

// paging are the arguments of connections, which [relay.Args] holds.
var paging = []string{"first", "after", "last", "before"}

// Pages reports whether the field has all arguments of connections.
func (f field) Pages() bool {
	return !slices.ContainsFunc(paging, func(name string) bool { return f.arg(name) < 0 })
}

// IsPaging reports whether an argument of the field is first, after, last or before, and the field has all of these,
// so that [relay.Args] holds it.
func (f field) IsPaging(a *codegen.FieldArgument) bool {
	return f.Pages() && slices.Contains(paging, a.Name)
}

// arg returns the index of the argument with the given name, or -1.
func (f field) arg(name string) int {
	return slices.IndexFunc(f.Args, func(a *codegen.FieldArgument) bool { return a.Name == name })
}

// Lists returns the shapes, as Go expressions, of interfaces and unions of which root fields return lists, each once.
// Templates call it before [fields.reduce], which removes the query type.
func (f *fields) Lists() []string {
	var out []string
	for _, one := range f.QueryRoot.Fields {
		ref := one.TypeReference
		if !ref.IsSlice() || !isAbstract(ref) {
			continue
		}
		if shape := f.anyOf(ref.Elem()); !slices.Contains(out, shape) {
			out = append(out, shape)
		}
	}
	return out
}

// Child returns the Go expression of a function that returns the table of a field's object, or "" for other types. In
// the expression, o is the struct of all tables.
func (f *fields) Child(ref *config.TypeReference) string {
	name := ref.Definition.Name
	if ref.Definition.Kind != ast.Object || f.Rows[name] == nil {
		return ""
	}
	return fmt.Sprintf("func() *rowplan.Object[*%s] { return o.%s }", goType(f.Rows[name].Type), name)
}

// Shape returns the Go expression of the shape of a field's values, or "" if no function of package scalar writes
// them.
func (f *fields) Shape(ref *config.TypeReference) string {
	if ref.IsSlice() {
		element := f.Shape(ref.Elem())
		switch {
		case element == "":
			return ""
		case ref.GQL.NonNull:
			return "rowplan.ListOf(" + element + ")"
		default:
			return "rowplan.NullableListOf(" + element + ")"
		}
	}
	if child := f.Child(ref); child != "" {
		return "rowplan.ObjectOf(" + child + ")"
	}
	if isAbstract(ref) {
		return f.anyOf(ref)
	}
	write := appendFunction(ref)
	switch {
	case write == "":
		return ""
	case ref.IsPtr():
		return "rowplan.PointerOf(" + write + ")"
	default:
		return "rowplan.ScalarOf(" + write + ")"
	}
}

// anyOf returns the Go expression of the shape of an interface or union, with a case for each possible type that has
// rows.
func (f *fields) anyOf(ref *config.TypeReference) string {
	var b strings.Builder
	b.WriteString("rowplan.AnyOf(")
	for _, n := range f.Names {
		for _, possible := range f.Schema.PossibleTypes[ref.Definition.Name] {
			if possible.Name == n {
				fmt.Fprintf(&b, "rowplan.CaseOf[%s](func() *rowplan.Object[*%s] { return o.%s }), ", goType(ref.GO),
					goType(f.Rows[n].Type), n)
			}
		}
	}
	b.WriteString(")")
	return b.String()
}

// isAbstract reports whether a type is an interface or a union.
func isAbstract(ref *config.TypeReference) bool {
	return ref.Definition.Kind == ast.Interface || ref.Definition.Kind == ast.Union
}

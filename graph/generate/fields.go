package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// kind is how a plan reads a field.
type kind int

const (
	column   kind = iota // the row holds it
	counted              // a method of the row with a context reads it
	argued               // a method of the row with arguments computes it
	light                // a function computes it from the row
	alone                // a function reads it for one row
	batched              // a function reads it for many rows
	rootLike             // a function resolves it like a root field
)

// field is a field of an object that is not gqlgen's own.
type field struct {
	*codegen.Field

	object *codegen.Object
	kind   kind
}

// fields are the fields of all objects, sorted by object.
type fields struct {
	data    *codegen.Data
	objects map[string]*codegen.Object // with rows
	names   []string                   // of objects with rows
	list    []field
}

// fieldsOf classifies the fields of the schema.
func fieldsOf(data *codegen.Data) (*fields, error) {
	f := &fields{data: data, objects: map[string]*codegen.Object{}}
	for _, o := range data.Objects {
		if o.IsReserved() {
			continue
		}
		if !namespaces[o.Name] {
			f.objects[o.Name] = o
			f.names = append(f.names, o.Name)
		}
	}
	slices.Sort(f.names)
	for _, o := range data.Objects {
		if o.IsReserved() {
			continue
		}
		for _, one := range o.Fields {
			if !one.IsReserved() {
				f.list = append(f.list, field{one, o, kindOf(o, one)})
			}
		}
	}
	slices.SortStableFunc(f.list, func(a, b field) int { return cmp.Compare(a.object.Name, b.object.Name) })
	err := f.check()
	return f, err
}

func kindOf(o *codegen.Object, f *codegen.Field) kind {
	name := o.Name + "." + f.Name
	switch {
	case namespaces[o.Name]:
		return rootLike
	case unbatched[name] != "":
		return alone
	case f.IsResolver && (f.Name == "id" || computed[name]):
		return light
	case f.IsResolver:
		return batched
	case f.MethodHasContext:
		return counted
	case len(f.Args) > 0:
		return argued
	default:
		return column
	}
}

// check fails if a field of the schema has no entry or two, if a type of a field cannot be written, or if the list of exceptions is wrong.
func (f *fields) check() error {
	have := map[string]int{}
	functions := map[string]string{}
	for _, one := range f.list {
		name := one.object.Name + "." + one.Name
		have[name]++
		if one.kind == light || one.kind == alone || one.kind == batched {
			if other := functions[one.function()]; other != "" {
				return fmt.Errorf("%s and %s need functions of the same name %s", other, name, one.function())
			}
			functions[one.function()] = name
		}
		if one.kind != rootLike && f.shape(one.TypeReference) == "" {
			return fmt.Errorf("%s: no function of package scalar writes %s", name, goType(one.TypeReference.GO))
		}
	}
	for name, def := range f.data.Schema.Types {
		if def.Kind != ast.Object || strings.HasPrefix(name, "__") {
			continue
		}
		for _, d := range def.Fields {
			if n := have[name+"."+d.Name]; n != 1 && !strings.HasPrefix(d.Name, "__") {
				return fmt.Errorf("%s.%s has %d entries", name, d.Name, n)
			}
		}
	}
	if len(unbatched) > maxUnbatched {
		return fmt.Errorf("%d fields have no plan, more than %d", len(unbatched), maxUnbatched)
	}
	for name := range unbatched {
		if have[name] == 0 {
			return fmt.Errorf("%s is in the list of fields without a plan, but not in the schema", name)
		}
	}
	for _, one := range f.list {
		if name := one.object.Name + "." + one.Name; one.object.Name == "Network" && unbatched[name] == "" {
			return fmt.Errorf("%s has neither a plan nor a reason", name)
		}
	}
	return nil
}

// function is the name of the function that reads a field.
func (f field) function() string { return f.object.Name + templates.ToGo(f.Name) }

// relation is the name of the variable of a field's relation.
func (f field) relation() string { return templates.LcFirst(f.function()) }

// row is the Go type of the parent.
func (f field) row() string { return "*" + goType(f.object.Type) }

// result is the Go type of the field.
func (f field) result() string { return goType(f.TypeReference.GO) }

// args is the Go type of the arguments, empty if there are none.
func (f field) args() string {
	if len(f.Args) == 0 {
		return ""
	}
	return f.function() + "Args"
}

// argParameter is the parameter of a function for the arguments.
func (f field) argParameter() string {
	if f.args() == "" {
		return ""
	}
	return ", args " + f.args()
}

// paging are the arguments of connections, which are one field of the arguments.
var paging = []string{"first", "after", "last", "before"}

func (f field) pages() bool {
	for _, name := range paging {
		if f.arg(name) < 0 {
			return false
		}
	}
	return true
}

func (f field) arg(name string) int {
	return slices.IndexFunc(f.Args, func(a *codegen.FieldArgument) bool { return a.Name == name })
}

// source writes the arguments and functions of fields, and gqlgen's resolvers that call them.
func (f *fields) source() []byte {
	var b bytes.Buffer
	f.writeArgs(&b)
	f.writeInterfaces(&b)
	f.writeRelations(&b)
	f.writeResolvers(&b)
	return file(b.String())
}

// file is a file of package graph with the imports that its body uses.
func file(body string) []byte {
	var std, third, own []string
	for path := range seen {
		if name := path[strings.LastIndex(path, "/")+1:]; !strings.Contains(body, name+".") {
			continue
		}
		switch {
		case strings.HasPrefix(path, "heliograph/"):
			own = append(own, path)
		case strings.Contains(path, "."):
			third = append(third, path)
		default:
			std = append(std, path)
		}
	}
	var b bytes.Buffer
	b.WriteString("// Code generated by graph/generate, DO NOT EDIT.\n\npackage graph\n\nimport (\n")
	for _, group := range [][]string{std, third, own} {
		slices.Sort(group)
		for _, path := range group {
			fmt.Fprintf(&b, "%q\n", path)
		}
		b.WriteString("\n")
	}
	b.WriteString(")\n\n" + body)
	return b.Bytes()
}

// seen are the packages that the generated code can use. Those of types are added when their names are written.
var seen = map[string]bool{
	"context": true, "github.com/99designs/gqlgen/graphql": true, "github.com/vektah/gqlparser/v2/ast": true, "heliograph/graph/relay": true,
	"heliograph/graph/rowplan": true, "heliograph/graph/scalar": true,
}

// takesArgs reports whether the field has a type for its arguments.
func (f field) takesArgs() bool {
	return len(f.Args) > 0 && f.object.Name != "Mutation" && f.object.Name != "Subscription"
}

func (f *fields) writeArgs(b *bytes.Buffer) {
	for _, one := range f.list {
		if !one.takesArgs() {
			continue
		}
		fmt.Fprintf(b, "// %s are the arguments of %s.%s.\ntype %s ", one.args(), one.object.Name, one.Name, one.args())
		if filter := one.listFilter(); filter != "" {
			fmt.Fprintf(b, "= ListArgs[%s]\n\n", filter)
		} else {
			one.writeArgs(b)
		}
		if one.kind == rootLike {
			continue
		}
		result := "any"
		if one.kind == argued {
			result = one.args()
		}
		fmt.Fprintf(b, "func (ec *executionContext) read%s(ctx context.Context, f *ast.Field, variables map[string]any) (%s, error) {\nin := arguments{of: f, "+
			"variables: variables}\n", one.args(), result)
		fmt.Fprintf(b, "a := %s\nreturn a, in.err\n}\n\n", one.literal(func(i int) string {
			return fmt.Sprintf("argument(ctx, &in, %d, ec.%s)", i, one.Args[i].TypeReference.UnmarshalFunc())
		}))
	}
}

// listFilter returns the type of the filter if the arguments are those of most lists: filter, order and page.
func (f field) listFilter() string {
	at := f.arg("filter")
	if len(f.Args) != 2+len(paging) || at < 0 || f.arg("order") < 0 || !f.pages() {
		return ""
	}
	return strings.TrimPrefix(goType(f.Args[at].TypeReference.GO), "*")
}

func (f field) writeArgs(b *bytes.Buffer) {
	b.WriteString("struct {\n")
	for _, a := range f.Args {
		if !f.pages() || !slices.Contains(paging, a.Name) {
			fmt.Fprintf(b, "%s %s\n", templates.ToGo(a.Name), goType(a.TypeReference.GO))
		}
	}
	if f.pages() {
		b.WriteString("relay.Args\n")
	}
	b.WriteString("}\n\n")
}

// literal is the value of the arguments, whose elements value returns.
func (f field) literal(value func(i int) string) string {
	var b strings.Builder
	b.WriteString(f.args() + "{")
	if f.pages() {
		b.WriteString("Args: relay.Args{")
		for _, name := range paging {
			fmt.Fprintf(&b, "%s: %s, ", templates.ToGo(name), value(f.arg(name)))
		}
		b.WriteString("}, ")
	}
	for i, a := range f.Args {
		if !f.pages() || !slices.Contains(paging, a.Name) {
			fmt.Fprintf(&b, "%s: %s, ", templates.ToGo(a.Name), value(i))
		}
	}
	b.WriteString("}")
	return b.String()
}

func (f *fields) writeInterfaces(b *bytes.Buffer) {
	b.WriteString("// Fields read the fields that rows do not hold. Each has one function; the rest of this file calls it.\ntype Fields interface {\n")
	for _, n := range f.names {
		if len(f.of(n, light, alone, batched)) > 0 {
			fmt.Fprintf(b, "%sFields\n", n)
		}
	}
	b.WriteString("}\n\n")
	for _, n := range f.names {
		list := f.of(n, light, alone, batched)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(b, "// %sFields read fields of %s.\ntype %sFields interface {\n", n, n, n)
		for _, one := range list {
			switch one.kind {
			case light:
				fmt.Fprintf(b, "%s(of %s%s) %s\n", one.function(), one.row(), one.argParameter(), one.result())
			case alone:
				fmt.Fprintf(b, "%s(ctx context.Context, of %s%s) (%s, error)\n", one.function(), one.row(), one.argParameter(), one.result())
			default:
				fmt.Fprintf(b, "%s(ctx context.Context, q rowplan.Request, of []%s%s) (rowplan.Results[%s], error)\n", one.function(), one.row(), one.argParameter(),
					one.result())
			}
		}
		b.WriteString("}\n\n")
	}
	for _, n := range []string{"Network", "Query"} {
		fmt.Fprintf(b, "// %sFields resolve the fields of %s.\ntype %sFields interface {\n", n, n, n)
		for _, one := range f.of(n, rootLike) {
			if one.IsResolver {
				fmt.Fprintf(b, "%s(ctx context.Context%s) (%s, error)\n", one.GoFieldName, one.argParameter(), one.result())
			}
		}
		b.WriteString("}\n\n")
	}
}

// of returns the fields of an object that have one of some kinds.
func (f *fields) of(object string, kinds ...kind) []field {
	var out []field
	for _, one := range f.list {
		if one.object.Name == object && slices.Contains(kinds, one.kind) {
			out = append(out, one)
		}
	}
	return out
}

func (f *fields) writeRelations(b *bytes.Buffer) {
	var declared, made strings.Builder
	for _, n := range f.names {
		for _, one := range f.of(n, counted, alone, batched) {
			typ := fmt.Sprintf("rowplan.Relation[%s, %s]", one.row(), one.result())
			fmt.Fprintf(&declared, "%s *%s\n", one.relation(), typ)
			fmt.Fprintf(&made, "%s: &%s{\n", one.relation(), typ)
			if one.args() != "" {
				fmt.Fprintf(&made, "Args: ec.read%s,\n", one.args())
			}
			args, name := "", "_"
			if one.args() != "" {
				args, name = ", args.("+one.args()+")", "args"
			}
			switch one.kind {
			case counted:
				fmt.Fprintf(&made, "Method: true, OneByOne: true,\nLoad: rowplan.OneByOne(func(ctx context.Context, of %s, _ any) (%s, error) { return of.%s(ctx) "+
					"}),\n", one.row(), one.result(), one.GoFieldName)
			case alone:
				fmt.Fprintf(&made, "OneByOne: true,\nLoad: rowplan.OneByOne(func(ctx context.Context, of %s, %s any) (%s, error) { return fields.%s(ctx, of%s) }),\n",
					one.row(), name, one.result(), one.function(), args)
			default:
				fmt.Fprintf(&made, "Load: func(ctx context.Context, q rowplan.Request, of []%s, %s any) (rowplan.Results[%s], error) { return fields.%s(ctx, q, "+
					"of%s) },\n", one.row(), name, one.result(), one.function(), args)
			}
			made.WriteString("},\n")
		}
	}
	fmt.Fprintf(b, "// relations are the fields that are read for many rows at once.\ntype relations struct {\n%s}\n\n", declared.String())
	fmt.Fprintf(b, "func newRelations(fields Fields, ec *executionContext) *relations {\nreturn &relations{\n%s}\n}\n\n", made.String())
}

func (f *fields) writeResolvers(b *bytes.Buffer) {
	for _, n := range f.names {
		o := f.objects[n]
		if !o.HasResolvers() {
			continue
		}
		typ := templates.LcFirst(n) + "Rows"
		fmt.Fprintf(b, "// %s implements [ResolverRoot].\nfunc (r *Rows) %s() %sResolver { return %s{r} }\n\ntype %s struct{ *Rows }\n\n", templates.UcFirst(n),
			templates.UcFirst(n), templates.UcFirst(n), typ, typ)
		for _, one := range f.of(n, light, alone, batched) {
			body := fmt.Sprintf("rowplan.Resolve(ctx, r.Tables, r.relations.%s, of)", one.relation())
			if one.kind == light {
				body = fmt.Sprintf("r.fields.%s(of), nil", one.function())
			}
			fmt.Fprintf(b, "func (r %s) %s(ctx context.Context, of %s%s) (%s, error) {\nreturn %s\n}\n\n", typ, one.GoFieldName, one.row(), one.parameters(),
				one.result(), body)
		}
	}
	for _, n := range []string{"Network", "Query"} {
		fmt.Fprintf(b, "// New%sResolver returns gqlgen's resolver of %s.\nfunc New%sResolver(fields %sFields) %sResolver { return %sFunctions{fields} "+
			"}\n\ntype %sFunctions struct{ %sFields }\n\n", n, n, n, n, n, templates.LcFirst(n), templates.LcFirst(n), n)
		typ := templates.LcFirst(n) + "Functions"
		for _, one := range f.of(n, rootLike) {
			if !one.IsResolver || len(one.Args) == 0 && n == "Query" {
				continue
			}
			of, args := "", ""
			if n == "Network" {
				of = ", _ " + one.row()
			}
			if len(one.Args) > 0 {
				args = ", " + one.literal(func(i int) string { return fmt.Sprintf("a%d", i) })
			}
			fmt.Fprintf(b, "func (r %s) %s(ctx context.Context%s%s) (%s, error) {\nreturn r.%sFields.%s(ctx%s)\n}\n\n", typ, one.GoFieldName, of, one.parameters(),
				one.result(), n, one.GoFieldName, args)
		}
	}
}

// parameters are gqlgen's parameters of a resolver.
func (f field) parameters() string {
	var b strings.Builder
	for i, a := range f.Args {
		fmt.Fprintf(&b, ", a%d %s", i, goType(a.TypeReference.GO))
	}
	return b.String()
}

// goType is a Go type as it is written in package graph.
func goType(t types.Type) string {
	return types.TypeString(types.Unalias(t), func(p *types.Package) string {
		seen[p.Path()] = true
		return p.Name()
	})
}

// appendFunction is the function that writes a scalar: scalar.AppendX if gqlgen marshals it with scalar.MarshalX. It is empty if there is none.
func appendFunction(ref *config.TypeReference) string {
	if ref == nil || ref.Marshaler == nil {
		return ""
	}
	switch path, name := ref.Marshaler.Pkg().Path(), strings.TrimPrefix(ref.Marshaler.Name(), "Marshal"); {
	case path == "heliograph/graph/scalar":
		return "scalar.Append" + name
	case name == "ID":
		return "scalar.AppendString"
	default:
		return ""
	}
}

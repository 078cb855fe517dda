package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/templates"
)

// writeArguments writes a type for the arguments of each field that has any, and the function that reads them. Mutations and subscriptions get their
// arguments from gqlgen. So do root fields, and their resolvers pass them on in a value of the type.
func (f *fields) writeArguments(b *bytes.Buffer) {
	for _, one := range f.list {
		if len(one.Args) == 0 || one.object.Name == "Mutation" || one.object.Name == "Subscription" {
			continue
		}
		fmt.Fprintf(b, "// %[1]s are the arguments of %[2]s.\ntype %[1]s %[3]s\n\n", one.args(), one.name(), one.argsType())
		if one.kind == root {
			continue
		}
		result := "any"
		if one.kind == methodWithArgs {
			result = one.args()
		}
		fmt.Fprintf(b, `func (ec *executionContext) read%s(ctx context.Context, f *ast.Field, variables map[string]any) (%s, error) {
	in := arguments{of: f, variables: variables}
	a := %s
	return a, in.err
}

`, one.args(), result, one.argsLiteral(func(i int) string {
			return fmt.Sprintf("argument(ctx, &in, %d, ec.%s)", i, one.Args[i].TypeReference.UnmarshalFunc())
		}))
	}
}

// argsType returns the definition of the type of the arguments.
func (f field) argsType() string {
	if filter := f.listFilter(); filter != "" {
		return "= ListArgs[" + filter + "]"
	}
	var b strings.Builder
	b.WriteString("struct {\n")
	for _, a := range f.Args {
		if !f.isPaging(a) {
			fmt.Fprintf(&b, "%s %s\n", templates.ToGo(a.Name), goType(a.TypeReference.GO))
		}
	}
	if f.pages() {
		b.WriteString("relay.Args\n")
	}
	b.WriteString("}")
	return b.String()
}

// argsLiteral returns a composite literal of the arguments. value returns the expression of the argument at an index.
func (f field) argsLiteral(value func(i int) string) string {
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
		if !f.isPaging(a) {
			fmt.Fprintf(&b, "%s: %s, ", templates.ToGo(a.Name), value(i))
		}
	}
	b.WriteString("}")
	return b.String()
}

// listFilter returns the type of the filter if the arguments are those of most lists: filter, order and page. It is empty otherwise.
func (f field) listFilter() string {
	at := f.arg("filter")
	if len(f.Args) != 2+len(paging) || at < 0 || f.arg("order") < 0 || !f.pages() {
		return ""
	}
	return strings.TrimPrefix(goType(f.Args[at].TypeReference.GO), "*")
}

// paging are the arguments of connections, which [relay.Args] holds.
var paging = []string{"first", "after", "last", "before"}

// pages reports whether the field has all arguments of connections.
func (f field) pages() bool {
	return !slices.ContainsFunc(paging, func(name string) bool { return f.arg(name) < 0 })
}

// isPaging reports whether an argument of the field is one of those that [relay.Args] holds.
func (f field) isPaging(a *codegen.FieldArgument) bool {
	return f.pages() && slices.Contains(paging, a.Name)
}

// arg returns the index of the argument with the given name, or -1.
func (f field) arg(name string) int {
	return slices.IndexFunc(f.Args, func(a *codegen.FieldArgument) bool { return a.Name == name })
}

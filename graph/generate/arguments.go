package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/templates"
)

// ArgsType returns the Go type of the arguments, or an empty string if the field has none.
func (f field) ArgsType() string {
	if len(f.Args) == 0 {
		return ""
	}
	return f.Function() + "Args"
}

// Parameters returns gqlgen's parameters of a resolver for the arguments of the field.
func (f field) Parameters() string {
	var b strings.Builder
	for i, a := range f.Args {
		fmt.Fprintf(&b, ", a%d %s", i, goType(a.TypeReference.GO))
	}
	return b.String()
}

// PassArgs returns a composite literal of the arguments with the values of [field.Parameters].
func (f field) PassArgs() string {
	return f.argsLiteral(func(i int) string { return fmt.Sprintf("a%d", i) })
}

// ReadArgs returns a composite literal of the arguments that reads their values.
func (f field) ReadArgs() string {
	return f.argsLiteral(func(i int) string {
		return fmt.Sprintf("argument(ctx, &in, %d, ec.%s)", i, f.Args[i].TypeReference.UnmarshalFunc())
	})
}

// argsLiteral returns a composite literal of the arguments. value returns the expression of the argument at an index.
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
		if !f.IsPaging(a) {
			fmt.Fprintf(&b, "%s: %s, ", templates.ToGo(a.Name), value(i))
		}
	}
	b.WriteString("}")
	return b.String()
}

// ListFilter returns the type of the filter if the arguments are those of most lists: filter, order and page. It is empty otherwise.
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

// IsPaging reports whether an argument of the field is one of those that [relay.Args] holds.
func (f field) IsPaging(a *codegen.FieldArgument) bool {
	return f.Pages() && slices.Contains(paging, a.Name)
}

// arg returns the index of the argument with the given name, or -1.
func (f field) arg(name string) int {
	return slices.IndexFunc(f.Args, func(a *codegen.FieldArgument) bool { return a.Name == name })
}

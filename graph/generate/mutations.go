package main

import (
	"bytes"
	"fmt"

	"github.com/99designs/gqlgen/codegen"
)

// mutations returns the source of a table of the functions that execute mutations, and of gqlgen's resolver that calls them.
func mutations(data *codegen.Data) []byte {
	var fields, methods bytes.Buffer
	for _, f := range data.MutationRoot.Fields {
		in, out := goType(f.Args[0].TypeReference.GO), goType(f.TypeReference.GO)
		fmt.Fprintf(&fields, "%s func(ctx context.Context, in %s) (%s, error)\n", f.GoFieldName, in, out)
		fmt.Fprintf(&methods, "\nfunc (m mutations) %[1]s(ctx context.Context, in %[2]s) (%[3]s, error) {\nreturn m.of.%[1]s(ctx, in)\n}\n", f.GoFieldName, in, out)
	}
	return file("graph", fmt.Sprintf(`// Mutations are the functions that execute mutations.
type Mutations struct {
%s}

// NewMutationResolver returns a resolver that calls the functions of a table.
func NewMutationResolver(of Mutations) MutationResolver { return mutations{of} }

type mutations struct{ of Mutations }
%s`, fields.String(), methods.String()))
}

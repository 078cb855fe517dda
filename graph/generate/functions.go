package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"
)

// functions returns the source of what connects fields to the functions that read them: the types of their arguments, the interfaces that package
// resolvers implements, the relations of plans, and gqlgen's resolvers.
func (f *fields) functions() []byte {
	var b bytes.Buffer
	f.writeArguments(&b)
	f.writeInterfaces(&b)
	f.writeRelations(&b)
	f.writeResolvers(&b)
	return file("graph", b.String())
}

// roots are the objects without rows whose fields have functions.
var roots = []string{"Network", "Query"}

// writeInterfaces writes an interface for the functions of each object.
func (f *fields) writeInterfaces(b *bytes.Buffer) {
	var embedded, interfaces strings.Builder
	for _, n := range f.names {
		list := f.of(n, derived, single, batched)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&embedded, "%sFields\n", n)
		fmt.Fprintf(&interfaces, "// %[1]sFields read fields of %[1]s.\ntype %[1]sFields interface {\n", n)
		for _, one := range list {
			args := ""
			if one.args() != "" {
				args = ", args " + one.args()
			}
			switch one.kind {
			case derived:
				fmt.Fprintf(&interfaces, "%s(of %s%s) %s\n", one.function(), one.row(), args, one.result())
			case single:
				fmt.Fprintf(&interfaces, "%s(ctx context.Context, of %s%s) (%s, error)\n", one.function(), one.row(), args, one.result())
			default:
				fmt.Fprintf(&interfaces, "%s(ctx context.Context, q rowplan.Request, of []%s%s) (rowplan.Results[%s], error)\n", one.function(), one.row(), args,
					one.result())
			}
		}
		interfaces.WriteString("}\n\n")
	}
	fmt.Fprintf(b, `// Fields read the fields that rows do not hold. Each has one function; the rest of this file calls it.
type Fields interface {
%s}

%s`, embedded.String(), interfaces.String())
	for _, n := range roots {
		fmt.Fprintf(b, "// %[1]sFields resolve the fields of %[1]s.\ntype %[1]sFields interface {\n", n)
		for _, one := range f.of(n, root) {
			if !one.IsResolver {
				continue
			}
			args := ""
			if one.args() != "" {
				args = ", args " + one.args()
			}
			fmt.Fprintf(b, "%s(ctx context.Context%s) (%s, error)\n", one.GoFieldName, args, one.result())
		}
		b.WriteString("}\n\n")
	}
}

// writeRelations writes a relation for each field that plans read for many rows.
func (f *fields) writeRelations(b *bytes.Buffer) {
	var declared, made strings.Builder
	for _, n := range f.names {
		for _, one := range f.of(n, method, single, batched) {
			typ := fmt.Sprintf("rowplan.Relation[%s, %s]", one.row(), one.result())
			fmt.Fprintf(&declared, "%s *%s\n", one.relation(), typ)
			fmt.Fprintf(&made, "%s: &%s{\n%s},\n", one.relation(), typ, one.relationFields())
		}
	}
	fmt.Fprintf(b, `// relations are the fields that are read for many rows at once.
type relations struct {
%s}

func newRelations(fields Fields, ec *executionContext) *relations {
	return &relations{
%s}
}

`, declared.String(), made.String())
}

// relationFields returns the elements of the composite literal of the field's relation.
func (f field) relationFields() string {
	var read, parameter, argument string
	parameter = "_"
	if f.args() != "" {
		read = fmt.Sprintf("Args: ec.read%s,\n", f.args())
		parameter, argument = "args", ", args.("+f.args()+")"
	}
	switch f.kind {
	case method:
		return read + fmt.Sprintf(`Method: true, OneByOne: true,
Load: rowplan.OneByOne(func(ctx context.Context, of %s, _ any) (%s, error) { return of.%s(ctx) }),
`, f.row(), f.result(), f.GoFieldName)
	case single:
		return read + fmt.Sprintf(`OneByOne: true,
Load: rowplan.OneByOne(func(ctx context.Context, of %s, %s any) (%s, error) { return fields.%s(ctx, of%s) }),
`, f.row(), parameter, f.result(), f.function(), argument)
	default:
		return read + fmt.Sprintf(`Load: func(ctx context.Context, q rowplan.Request, of []%s, %s any) (rowplan.Results[%s], error) {
	return fields.%s(ctx, q, of%s)
},
`, f.row(), parameter, f.result(), f.function(), argument)
	}
}

// writeResolvers writes gqlgen's resolvers. Those of objects with rows use the relations of the plans, and those of other objects call the functions.
func (f *fields) writeResolvers(b *bytes.Buffer) {
	for _, n := range f.names {
		if !f.objects[n].HasResolvers() {
			continue
		}
		typ := templates.LcFirst(n) + "Rows"
		fmt.Fprintf(b, `// %[1]s implements [ResolverRoot].
func (r *Rows) %[1]s() %[1]sResolver { return %[2]s{r} }

type %[2]s struct{ *Rows }

`, templates.UcFirst(n), typ)
		for _, one := range f.of(n, derived, single, batched) {
			body := fmt.Sprintf("rowplan.Resolve(ctx, r.Tables, r.relations.%s, of)", one.relation())
			if one.kind == derived {
				body = fmt.Sprintf("r.fields.%s(of), nil", one.function())
			}
			fmt.Fprintf(b, "func (r %s) %s(ctx context.Context, of %s%s) (%s, error) {\nreturn %s\n}\n\n", typ, one.GoFieldName, one.row(), one.parameters(),
				one.result(), body)
		}
	}
	for _, n := range roots {
		typ := templates.LcFirst(n) + "Functions"
		fmt.Fprintf(b, `// New%[1]sResolver returns gqlgen's resolver of %[1]s.
func New%[1]sResolver(fields %[1]sFields) %[1]sResolver { return %[2]s{fields} }

type %[2]s struct{ %[1]sFields }

`, n, typ)
		parent := ""
		if n == "Network" {
			parent = ", _ *" + goType(f.data.Objects.ByName(n).Type)
		}
		for _, one := range f.of(n, root) {
			if !one.IsResolver || len(one.Args) == 0 && parent == "" { // the embedded function has the signature of gqlgen's resolver
				continue
			}
			args := ""
			if len(one.Args) > 0 {
				args = ", " + one.argsLiteral(func(i int) string { return fmt.Sprintf("a%d", i) })
			}
			fmt.Fprintf(b, "func (r %s) %s(ctx context.Context%s%s) (%s, error) {\nreturn r.%sFields.%s(ctx%s)\n}\n\n", typ, one.GoFieldName, parent,
				one.parameters(), one.result(), n, one.GoFieldName, args)
		}
	}
}

// parameters returns gqlgen's parameters of a resolver for the arguments of the field.
func (f field) parameters() string {
	var b strings.Builder
	for i, a := range f.Args {
		fmt.Fprintf(&b, ", a%d %s", i, goType(a.TypeReference.GO))
	}
	return b.String()
}

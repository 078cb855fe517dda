// Command generate writes the code of the graph from its schema and gqlgen.yml: gqlgen's own, the tables of the row
// plan, what connects fields to the functions that read them, the rows and enums of the ledger, and the functions of
// package scalar for enums and nullable values. It also writes the constants of package codes, and the configurations
// of client libraries in examples/clients.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"go/types"
	"io"
	"log"
	"maps"
	"os"
	"regexp"
	"strings"
	"text/template"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2"

	"heliograph/graph/sdl"
)

// main writes the generated files of the repository, relative to the working directory, and exits with 1 on an
// error.
func main() {
	check(generate())
}

// check ends the program with status 1 if err is not nil, after it has printed err to standard error. Files that were
// written before remain.
func check(err error) {
	if err != nil {
		log.SetOutput(os.Stderr)
		log.Fatal(err)
	}
}

// generate writes all generated files, at paths relative to the working directory: first those that gqlgen binds, then
// gqlgen's code, ours, the SDL and the files for clients. It returns the errors of gqlgen and its configuration. Any
// other error ends the program; see [check].
func generate() error {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	write(bound(cfg))
	log.SetOutput(io.Discard) // gqlgen logs each field that has a resolver
	err = api.Generate(cfg, api.AddPlugin(generator{}))
	log.SetOutput(os.Stderr)
	if err != nil {
		return fmt.Errorf("generating the graph: %w", err)
	}
	check(parseLate(cfg.Exec.Filename))
	check(os.WriteFile("graph/schema.graphql", []byte(sdl.Print(sdl.Inherit(cfg.Schema))), 0o644))
	for _, name := range []string{"apollo.ts", "relay.json", "scalars.json", "scalars.ts", "urql.ts"} {
		var text bytes.Buffer
		check(bodies.ExecuteTemplate(&text, name+".gotpl", cfg.Schema))
		check(os.WriteFile("examples/clients/generated/"+name, text.Bytes(), 0o644))
	}
	return nil
}

// parseLate rewrites gqlgen's file so that its code parses the schema when it is first needed. Otherwise every
// process would parse it before main. It fails if the file does not have the expected line.
func parseLate(file string) error {
	const now = "var parsedSchema = gqlparser.MustLoadSchema(sources...)\n"
	const late = "var parsedSchema = whenNeeded(func() *ast.Schema { return gqlparser.MustLoadSchema(sources...) })\n"
	src, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the generated code: %w", err)
	}
	before, after, found := strings.Cut(string(src), now)
	if !found {
		return fmt.Errorf("%s does not have the line %s", file, now)
	}
	call := strings.NewReplacer("parsedSchema", "parsedSchema()")
	return os.WriteFile(file, []byte(call.Replace(before)+late+call.Replace(after)), 0o644)
}

// generator is a gqlgen plugin that writes the files of package graph which are not gqlgen's, and leaves to gqlgen
// what has no rows.
type generator struct{}

// Name returns the name of the generator, which gqlgen prints in errors. It is a part of gqlgen's plugin interface.
func (generator) Name() string { return "heliograph" }

// GenerateCode implements gqlgen's code generator interface: it writes our files and then removes from data what plans
// execute, so that gqlgen generates no code for it. It returns the error of [fieldsOf], before it writes a file. Other
// errors end the program; see [check].
func (generator) GenerateCode(data *codegen.Data) error {
	fields, err := fieldsOf(data)
	if err != nil {
		return err
	}
	write(outputs(fields))
	fields.reduce()
	return nil
}

// bound returns the unformatted sources of the files that gqlgen binds, by path. They must exist before it runs. It
// adds the bindings of [bindByRule] to cfg. An error, such as an invalid schema, ends the program; see [check].
func bound(cfg *config.Config) map[string][]byte {
	schema, err := gqlparser.LoadSchema(cfg.Sources...)
	check(err)
	bindByRule(cfg.Models, schema)
	files := rows(cfg.Models, schema)
	maps.Copy(files, map[string][]byte{
		scalarFile: scalars(), connectionsFile: connections(schema), codesFile: codes(),
		"internal/domain/ledger/nodes_gen.go": members(schema),
	})
	return files
}

// outputs returns the unformatted sources of the generated files that are neither gqlgen's nor bound by it, by path.
// An error ends the program; see [check].
func outputs(fields *fields) map[string][]byte {
	out := map[string][]byte{}
	for _, body := range []string{"fields", "mutations", "roots", "tables"} {
		out["graph/"+body+"_gen.go"] = render("graph", body, fields)
	}
	out["resolvers/references_gen.go"] = render("resolvers", "references", fields)
	return out
}

// write formats Go sources and writes them to files, by path. It ends the program on an error.
func write(files map[string][]byte) {
	for name, src := range files {
		formatted, err := format.Source(src)
		if err != nil {
			check(fmt.Errorf("formatting %s: %w\n%s", name, err, src))
		}
		check(os.WriteFile(name, formatted, 0o644))
	}
}

// imports are the packages that the generated code can use, in groups.
var imports = [][]string{
	{"context", "encoding/hex", "strconv", "time"},
	{"github.com/99designs/gqlgen/graphql", "github.com/vektah/gqlparser/v2/ast"},
	{
		"heliograph/graph", "heliograph/graph/model", "heliograph/graph/relay", "heliograph/graph/rowplan",
		"heliograph/graph/scalar",
		"heliograph/internal/base/list", "heliograph/internal/domain/evm/calls",
		"heliograph/internal/domain/evm/system/abi",
		"heliograph/internal/domain/fees", "heliograph/internal/domain/ledger", "heliograph/internal/domain/status",
		"heliograph/resolvers/loading",
		"heliograph/storage",
		"heliograph/storage/entities", "heliograph/storage/transactions",
	},
}

//go:embed templates
var sources embed.FS

var bodies = template.Must(template.New("").Funcs(template.FuncMap{
	"type": goType, "notNull": notNull, "go": templates.ToGo, "lower": templates.LcFirst, "upper": templates.UcFirst,
	"constant":  constantName,
	"hasPrefix": strings.HasPrefix, "hasSuffix": strings.HasSuffix, "append": appendFunction, "isAbstract": isAbstract,
	"comment": comment,
}).ParseFS(sources, "templates/*.gotpl"))

// render returns the unformatted source of a file of the package name: the template called body, without .gotpl,
// executed with data, after the imports that it uses. It ends the program if the template fails.
func render(name, body string, data any) []byte {
	var text bytes.Buffer
	check(bodies.ExecuteTemplate(&text, body+".gotpl", data))
	var b bytes.Buffer
	b.WriteString("// Code generated by graph/generate, DO NOT EDIT.\n\npackage " + name + "\n\nimport (\n")
	for _, group := range imports {
		for _, path := range group {
			if regexp.MustCompile(`\b` + path[strings.LastIndex(path, "/")+1:] + `\.[A-Z]`).Match(text.Bytes()) {
				fmt.Fprintf(&b, "%q\n", path)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString(")\n\n" + text.String())
	return b.Bytes()
}

// comment returns a description in the schema as a Go comment: with // before each line and no line break at the end.
// Templates call it.
func comment(description string) string {
	return "// " + strings.ReplaceAll(description, "\n", "\n// ")
}

// goType returns the source of a Go type as it is written in package graph, with the names of packages.
func goType(t types.Type) string { return types.TypeString(types.Unalias(t), (*types.Package).Name) }

// notNull returns the Go type T for "ledger.Null[T]", and other types as they are.
func notNull(typ string) string {
	if values, ok := strings.CutPrefix(typ, "ledger.Null["); ok {
		return strings.TrimSuffix(values, "]")
	}
	return typ
}

// appendFunction returns the name of the function that writes a scalar: scalar.AppendX if gqlgen marshals it with
// scalar.MarshalX. It is empty if there is none.
func appendFunction(ref *config.TypeReference) string {
	if ref == nil || ref.Marshaler == nil {
		return ""
	}
	if ref.Marshaler.Pkg().Path() == "heliograph/graph/scalar" {
		return "scalar.Append" + strings.TrimPrefix(ref.Marshaler.Name(), "Marshal")
	}
	return ""
}

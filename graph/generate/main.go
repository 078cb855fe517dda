// Command generate makes the graph's code of the schema and gqlgen.yml: gqlgen's own, and the tables of the row plan from the same bindings.
package main

import (
	"fmt"
	"go/format"
	"log"
	"os"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"

	"heliograph/graph/sdl"
)

func main() {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		log.Fatalf("reading gqlgen.yml: %v", err)
	}
	if err := api.Generate(cfg, api.AddPlugin(tables{out: "graph/rowplan/tables_gen.go"}), api.AddPlugin(inputs{out: "graph/inputs_gen.go"}), api.AddPlugin(roots{out: "graph/roots_gen.go"})); err != nil {
		log.Fatalf("generating the graph: %v", err)
	}
	if err := os.WriteFile("graph/schema.graphql", []byte(sdl.Print(cfg.Schema)), 0o644); err != nil {
		log.Fatalf("writing the schema: %v", err)
	}
}

// writeSource formats a file of Go and writes it.
func writeSource(name string, src []byte) error {
	formatted, err := format.Source(src)
	if err != nil {
		return fmt.Errorf("formatting %s: %w\n%s", name, err, src)
	}
	if err := os.WriteFile(name, formatted, 0o644); err != nil {
		return fmt.Errorf("writing generated code: %w", err)
	}
	return nil
}

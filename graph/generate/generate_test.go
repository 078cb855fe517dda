//go:build verify

package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
)

// These tests run gqlgen, which takes as long as all other tests of the graph. `make verify`, which runs it too, runs
// them. It also compares the generated files.

// TestMain runs the tests in the root of the module, as the generator runs.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		log.Fatal(err)
	}
	log.SetOutput(io.Discard) // gqlgen logs the fields that have resolvers
	os.Exit(m.Run())
}

// load returns the schema, bound to Go types, and its fields.
var load = sync.OnceValues(func() (*codegen.Data, *fields) {
	cfg, err := config.LoadConfig("gqlgen.yml")
	if err != nil {
		panic(err)
	}
	bound(cfg)                                                    // as generate does
	cfg.AutoBind = append(cfg.AutoBind, "heliograph/graph/model") // whose types another plugin generates
	if err := cfg.Init(); err != nil {
		panic(err)
	}
	data, err := codegen.BuildData(cfg)
	if err != nil {
		panic(err)
	}
	all, err := fieldsOf(data)
	if err != nil {
		panic(err)
	}
	return data, all
})

// TestEveryFieldHasAnEntry removes each entry in memory. The generator must fail: without its entry, a field would
// have no table entry, loader or function.
func TestEveryFieldHasAnEntry(t *testing.T) {
	t.Parallel()
	_, all := load()
	for i, one := range all.List {
		less := *all
		less.List = slices.Delete(slices.Clone(all.List), i, i+1)
		if less.check() == nil {
			t.Errorf("%s.%s can be removed", one.Object.Name, one.Name)
		}
	}
}

// TestReferences makes sure that a reference to a missing field is an error, and that each reference has a function.
func TestReferences(t *testing.T) {
	t.Parallel()
	_, all := load()
	n := 0
	for i, one := range all.List {
		if one.Reference() == nil {
			continue
		}
		n++
		wrong, definition := *one.Field, *one.FieldDefinition
		definition.Directives = ast.DirectiveList{{
			Name:      "reference",
			Arguments: ast.ArgumentList{{Name: "by", Value: &ast.Value{Raw: "none"}}},
		}}
		wrong.FieldDefinition = &definition
		changed := *all
		changed.List = slices.Clone(all.List)
		changed.List[i].Field = &wrong
		if changed.check() == nil {
			t.Errorf("%s can refer to a field that does not exist", one.FullName())
		}
	}
	source := outputs(all)["resolvers/references_gen.go"]
	got := bytes.Count(source, []byte("return loading.Refer(")) +
		bytes.Count(source, []byte("return loading.ReferMany("))
	if got != n || n == 0 {
		t.Errorf("%d functions for %d references", got, n)
	}
}

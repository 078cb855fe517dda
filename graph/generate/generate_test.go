package main

import (
	"bytes"
	"go/format"
	"io"
	"log"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
)

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

// TestEveryFieldHasAnEntry removes each entry in memory. The generator must fail: without its entry, a field would have no table entry, loader or function.
func TestEveryFieldHasAnEntry(t *testing.T) {
	t.Parallel()
	_, all := load()
	for i, one := range all.list {
		less := *all
		less.list = slices.Delete(slices.Clone(all.list), i, i+1)
		if less.check() == nil {
			t.Errorf("%s.%s can be removed", one.object.Name, one.Name)
		}
	}
}

// TestFilesAreCurrent compares the generated files with what the generator writes. An entry of a table that is removed from a file still compiles.
func TestFilesAreCurrent(t *testing.T) {
	t.Parallel()
	files := outputs(load())
	src, err := scalars()
	if err != nil {
		t.Fatal(err)
	}
	files[scalarFile] = src
	for name, src := range files {
		want, err := format.Source(src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current (error %v); run go run ./graph/generate", name, err)
		}
	}
}

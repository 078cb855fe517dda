package main

import (
	"io"
	"log"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
)

// TestEveryFieldHasAnEntry removes each entry in memory. The generator must fail: without its entry, a field would have no table entry, loader or function.
func TestEveryFieldHasAnEntry(t *testing.T) {
	t.Chdir("../..")
	cfg, err := config.LoadConfig("gqlgen.yml")
	if err != nil {
		t.Fatal(err)
	}
	cfg.AutoBind = append(cfg.AutoBind, "heliograph/graph/model") // whose types another plugin generates
	log.SetOutput(io.Discard)
	if err := cfg.Init(); err != nil {
		t.Fatal(err)
	}
	data, err := codegen.BuildData(cfg)
	if err != nil {
		t.Fatal(err)
	}
	all, err := fieldsOf(data)
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range all.list {
		less := *all
		less.list = slices.Delete(slices.Clone(all.list), i, i+1)
		if less.check() == nil {
			t.Errorf("%s.%s can be removed", one.object.Name, one.Name)
		}
	}
	if len(unbatched) > maxUnbatched {
		t.Errorf("%d fields are read for each parent by itself, more than %d", len(unbatched), maxUnbatched)
	}
}

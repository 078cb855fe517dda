package v1_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"heliograph/app/testing/testenv"
	v1 "heliograph/rest/v1"
)

var update = flag.Bool("update", false,
	"rewrite the golden files and testdata; review the changes before committing them")

// goldenFolder has one file per request with the response body.
const goldenFolder = "testdata/golden"

// TestGolden compares complete responses over the demo network with approved ones.
func TestGolden(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	known := map[string]bool{}
	for _, r := range requests() {
		file := r.name + ".json"
		if known[file] {
			t.Fatalf("two requests are named %s", r.name)
		}
		known[file] = true
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(goldenFolder, file)
			got := g.Get(t, v1.Prefix+fillPlaceholders(t, g, r.path)).Body
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from %s:\n%s", r.path, path, testenv.Diff(string(want), got))
			}
		})
	}
	files, err := os.ReadDir(goldenFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s belongs to no request", f.Name())
		}
	}
}

package v1_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	v1 "heliograph/rest/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files and testdata; review the changes before committing them")

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
				t.Errorf("%s: response\n%s\nwant\n%s", r.path, got, want)
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

// TestSameBodiesWithoutPlans checks that responses with and without row plans have the same bytes, for the golden requests and for all sample paths of each
// endpoint.
func TestSameBodiesWithoutPlans(t *testing.T) {
	t.Parallel()
	planned, unplanned := testenv.Shared(t), testenv.Demo(t, testenv.PlansOff())
	var paths []string
	for _, r := range requests() {
		paths = append(paths, fillPlaceholders(t, planned, r.path))
	}
	for _, e := range v1.Endpoints() {
		for _, path := range samplePaths(t, planned, e.Path) {
			paths = append(paths, path)
			if e.Next != nil {
				paths = append(paths, path+"?limit=100", path+"?order=asc&limit=10", path+"?order=desc&limit=10")
			}
		}
	}
	succeeded := 0
	for _, path := range paths {
		want, got := unplanned.Get(t, v1.Prefix+path), planned.Get(t, v1.Prefix+path)
		if got.Status != want.Status || got.Body != want.Body {
			t.Errorf("%s: status %d,\n%s\nwithout plans status %d,\n%s", path, got.Status, got.Body, want.Status, want.Body)
		}
		for _, name := range []string{"Cache-Control", "Link", "Etag"} {
			if got.Header.Get(name) != want.Header.Get(name) {
				t.Errorf("%s: %s is %q, without plans %q", path, name, got.Header.Get(name), want.Header.Get(name))
			}
		}
		if got.Status < 300 && !strings.Contains(got.Body, "[]") {
			succeeded++
		}
	}
	if succeeded < len(paths)/3 {
		t.Errorf("only %d of %d requests succeeded", succeeded, len(paths))
	}
}

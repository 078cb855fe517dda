package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is the root of the repository, relative to this package.
const repository = "../.."

var (
	// packageRow is a row of the package table in docs/architecture.md.
	packageRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|")
	// link is a relative link of a Markdown document, without its fragment.
	link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	// sourceFile is the quoted path of a source file.
	sourceFile = regexp.MustCompile("`([a-z][a-z0-9_/]*/[a-z0-9_.]+\\.(?:go|graphqls?|sql|sh|md|mod|yml))`")
)

// TestArchitecturePackages checks that the package table of docs/architecture.md lists each package of this module
// exactly once.
func TestArchitecturePackages(t *testing.T) {
	t.Parallel()
	var got []string
	for _, row := range packageRow.FindAllStringSubmatch(read(t, "docs/architecture.md"), -1) {
		got = append(got, row[1])
	}
	slices.Sort(got)
	if want := packages(t); !slices.Equal(got, want) {
		missing := slices.DeleteFunc(slices.Clone(want), func(p string) bool { return slices.Contains(got, p) })
		unknown := slices.DeleteFunc(slices.Clone(got), func(p string) bool { return slices.Contains(want, p) })
		t.Errorf("docs/architecture.md: missing packages %q, unknown packages %q, %d rows for %d packages", missing,
			unknown, len(got), len(want))
	}
}

// TestDocumentFiles checks that all files exist that the documents mention or link to.
func TestDocumentFiles(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range documents {
		if documents[i], err = filepath.Rel(repository, d); err != nil {
			t.Fatal(err)
		}
	}
	for _, document := range append(documents, "README.md", "CONTRIBUTING.md", "storage/demo/README.md") {
		text := read(t, document)
		for _, l := range link.FindAllStringSubmatch(text, -1) {
			if target := filepath.Join(filepath.Dir(document), l[1]); !exists(target) {
				t.Errorf("%s: broken link to %s", document, target)
			}
		}
		for _, m := range sourceFile.FindAllStringSubmatch(text, -1) {
			if !exists(m[1]) && !exists(filepath.Join(filepath.Dir(document), m[1])) {
				t.Errorf("%s: file %s not found", document, m[1])
			}
		}
	}
}

// TestArchitectureWalks checks that each name in a step of the walks occurs in the files that the step names.
func TestArchitectureWalks(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "docs/architecture.md"), "\n## Six walks\n")
	text, _, _ = strings.Cut(text, "\n## ")
	names := 0
	for _, walk := range strings.Split(text, "\n### ")[1:] {
		request, steps, _ := strings.Cut(walk, "\n1. ")
		for i, step := range walkStep.Split(steps, -1) {
			known := []string{request}
			for _, m := range sourceFile.FindAllStringSubmatch(step, -1) {
				if exists(m[1]) {
					known = append(known, read(t, m[1]))
				}
			}
			for _, m := range walkName.FindAllStringSubmatch(step, -1) {
				names++
				if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(strings.Join(known, " ")) {
					t.Errorf("%s, step %d: %s is not in the files of the step", strings.TrimSpace(walk[:30]), i+1, m[1])
				}
			}
		}
	}
	if names < 60 {
		t.Errorf("the walks have only %d names", names)
	}
}

var (
	walkStep = regexp.MustCompile(`\n\d+\. `)
	// walkName is a name in a step, without the package before it.
	walkName = regexp.MustCompile("`(?:\\w+\\.)?(\\w+)`")
)

// packages returns the folders with Go files that are not tests, sorted, without those of other modules.
func packages(t *testing.T) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(repository), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder, base := path.Split(name)
		folder = path.Clean(folder)
		switch {
		case d.IsDir() && name != ".":
			if strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata" ||
				exists(path.Join(name, "go.mod")) {
				return fs.SkipDir
			}
		case strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") && !slices.Contains(found, folder):
			found = append(found, folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(repository, name))
	return err == nil
}

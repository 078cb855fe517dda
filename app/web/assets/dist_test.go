package assets

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// TestBuilds checks that the built files of the pages depend on their current sources only, and send no requests to
// other hosts.
func TestBuilds(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../apidocs", "../graphiql"} {
		files := built(t, folder)
		if len(files) < 3 {
			t.Errorf("%s has %d files", folder, len(files))
		}
		checkCurrent(t, folder)
		for name, content := range files {
			for _, found := range externalRequests(content) {
				t.Errorf("%s: %s", name, found)
			}
		}
	}
}

// built returns the unpacked files of a folder's dist by name.
func built(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	dist := os.DirFS(folder)
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		packed, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", name, err)
		}
		files[strings.TrimSuffix(strings.TrimPrefix(name, "dist/"), ".br")] = content
		return nil
	})
	if err != nil {
		t.Fatalf("reading dist: %v", err)
	}
	return files
}

// checkCurrent fails the test if src has changed since scripts/build-assets.sh ran. Example queries are not part of
// the build.
func checkCurrent(t *testing.T, folder string) {
	t.Helper()
	var sums strings.Builder
	src := filepath.Join(folder, "src")
	err := filepath.WalkDir(src, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "examples" || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative := strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(src)+"/")
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), relative)
		return nil
	})
	if err != nil {
		t.Fatalf("reading the sources: %v", err)
	}
	recorded, err := os.ReadFile(filepath.Join(folder, "dist.sum"))
	if err != nil {
		t.Fatal(err)
	}
	lines := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
	if now, then := lines(sums.String()), lines(string(recorded)); !slices.Equal(now, then) {
		t.Errorf("dist is older than src: run scripts/generate-assets.sh\nsources:\n%v\nbuilt from:\n%v", now, then)
	}
}

// requestPatterns match code that sends a request to another host. Other URLs in scripts, such as XML namespaces and
// links, do not match.
func requestPatterns() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?i)<(script|link|img|iframe|source|use)[^>]*(src|href)\s*=\s*["']?(https?:)?//`),
		regexp.MustCompile(`(?i)@import\s+(url\()?\s*["']?(https?:)?//`),
		regexp.MustCompile(`(?i)url\(\s*["']?(https?:)?//`),
		regexp.MustCompile(
			`(?i)\b(fetch|import|importScripts|Worker|WebSocket|EventSource|sendBeacon)\(\s*["'\x60](https?:|wss?:)` +
				`?//`),
		regexp.MustCompile(`(?i)//(fonts|cdn|unpkg|esm|cdnjs|ajax)\.`),
	}
}

// window is the number of bytes before and after each "//" that are searched. Searching whole files of several
// megabytes would be slow.
const window = 300

// externalRequests describes the code of a file that sends requests to other hosts.
func externalRequests(content []byte) []string {
	var all []string
	patterns := requestPatterns()
	for at, end := 0, 0; ; at += 2 {
		next := bytes.Index(content[at:], []byte("//"))
		if next < 0 {
			break
		}
		at += next
		if at+2 <= end { // covered by the previous window: URLs are close together in minified files
			continue
		}
		from := max(0, at-window)
		end = min(len(content), at+window)
		for _, pattern := range patterns {
			if found := pattern.Find(content[from:end]); found != nil {
				all = append(all, fmt.Sprintf("%s matches %q", pattern, found))
			}
		}
	}
	for _, host := range []string{"unpkg.com", "jsdelivr.net", "esm.sh", "googleapis.com", "gstatic.com"} {
		if bytes.Contains(content, []byte(host)) {
			all = append(all, "contains "+host)
		}
	}
	return all
}

func TestExternalRequests(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`<script src="https://a.example/x.js">`, `<link rel=stylesheet href=//a.example/x.css>`,
		`@import "https://a.example"`,
		`src:url(https://a.example/f.woff2)`, `fetch("https://a.example")`, `"https://fonts.a.example"`,
		`cdn.jsdelivr.net/npm`,
	} {
		if len(externalRequests([]byte(bad))) == 0 {
			t.Errorf("%s is not found", bad)
		}
	}
	for _, good := range []string{`<a href="./docs/openapi.json">`, `xmlns="http://www.w3.org/2000/svg"`} {
		if got := externalRequests([]byte(good)); got != nil {
			t.Errorf("%s: %v", good, got)
		}
	}
}

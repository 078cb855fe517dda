// Package assetstest has the checks that all embedded pages go through.
package assetstest

import (
	"bytes"
	"compress/gzip"
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
)

// Built returns the unpacked files of a dist folder by name.
func Built(t *testing.T, dist fs.FS) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		packed, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", name, err)
		}
		if !reader.ModTime.IsZero() || reader.Name != "" {
			t.Errorf("%s carries a time or a name; dist must depend on the sources alone", name)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", name, err)
		}
		files[strings.TrimSuffix(strings.TrimPrefix(name, "dist/"), ".gz")] = content
		return nil
	})
	if err != nil {
		t.Fatalf("reading dist: %v", err)
	}
	return files
}

// Current fails the test if src was edited and scripts/build-assets.sh did not run afterwards. Folders with the names in apart are not part of the build.
func Current(t *testing.T, apart ...string) {
	t.Helper()
	var sums strings.Builder
	err := filepath.WalkDir("src", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(apart, entry.Name()) || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative := strings.TrimPrefix(filepath.ToSlash(name), "src/")
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), relative)
		return nil
	})
	if err != nil {
		t.Fatalf("reading the sources: %v", err)
	}
	recorded, err := os.ReadFile("dist.sum")
	if err != nil {
		t.Fatal(err)
	}
	lines := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
	if now, then := lines(sums.String()), lines(string(recorded)); !slices.Equal(now, then) {
		t.Errorf("dist is older than src: run scripts/generate-assets.sh\nsources:\n%v\nbuilt from:\n%v", now, then)
	}
}

// fetched returns patterns for content that makes the browser send a request to another host. They do not match plain addresses in a script (an XML
// name space, a link in the help text).
func fetched() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?i)<(script|link|img|iframe|source|use)[^>]*(src|href)\s*=\s*["']?(https?:)?//`),
		regexp.MustCompile(`(?i)@import\s+(url\()?\s*["']?(https?:)?//`),
		regexp.MustCompile(`(?i)url\(\s*["']?(https?:)?//`),
		regexp.MustCompile(`(?i)\b(fetch|import|importScripts|Worker|WebSocket|EventSource|sendBeacon)\(\s*["'\x60](https?:|wss?:)?//`),
		regexp.MustCompile(`(?i)//(fonts|cdn|unpkg|esm|cdnjs|ajax)\.`),
	}
}

// around is the number of bytes before and after "//" in which the patterns are searched. Searching whole scripts of megabytes takes too long.
const around = 300

// NothingOutside fails the test if a built file could make the browser send a request to another host.
func NothingOutside(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		for _, complaint := range outside(content) {
			t.Errorf("%s: %s", name, complaint)
		}
	}
}

// outside returns the parts of a file that could make the browser send a request to another host.
func outside(content []byte) []string {
	var complaints []string
	patterns := fetched()
	for at, end := 0, 0; ; at += 2 {
		next := bytes.Index(content[at:], []byte("//"))
		if next < 0 {
			break
		}
		at += next
		if at+2 <= end { // neighbours share a window: addresses stand close together in minified files
			continue
		}
		from := max(0, at-around)
		end = min(len(content), at+around)
		for _, pattern := range patterns {
			if found := pattern.Find(content[from:end]); found != nil {
				complaints = append(complaints, fmt.Sprintf("%s finds %q", pattern, found))
			}
		}
	}
	for _, host := range []string{"unpkg.com", "jsdelivr.net", "esm.sh", "googleapis.com", "gstatic.com"} {
		if bytes.Contains(content, []byte(host)) {
			complaints = append(complaints, "it names "+host)
		}
	}
	return complaints
}

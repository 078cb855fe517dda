package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// example is a command of a document with its output.
type example struct{ shell, output string }

var console = regexp.MustCompile("(?s)```console\n(.*?)\n```")

// examplesOf returns the commands of the console blocks of a document.
func examplesOf(text string) []example {
	var out []example
	for _, block := range console.FindAllStringSubmatch(text, -1) {
		for one := range strings.SplitSeq("\n"+block[1], "\n$ ") {
			shell, prints, _ := strings.Cut(strings.ReplaceAll(one, "\\\n> ", ""), "\n")
			if shell != "" {
				out = append(out, example{shell, strings.TrimSpace(prints)})
			}
		}
	}
	return out
}

// tryExamples runs examples of the documentation against a running gateway and compares their output: all examples of the README, and those of
// docs that call curl and show its output.
func tryExamples(t *testing.T, base string) {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	const readme = "../../README.md"
	for _, file := range append(files, readme) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, e := range examplesOf(string(text)) {
			if file != readme && (e.output == "" || !strings.HasPrefix(e.shell, "curl -s ") && !strings.HasPrefix(e.shell, "curl -s --compressed ")) {
				continue
			}
			tried++
			cmd := exec.Command("sh", "-c", strings.NewReplacer("http://localhost:8080", base, "bin/heliograph", os.Args[0]).Replace(e.shell))
			cmd.Env = append(os.Environ(), asCommand+"=1")
			got, err := cmd.Output()
			if err != nil {
				t.Errorf("%s: %s: %v", file, e.shell, err)
			}
			if strings.TrimSpace(string(got)) != e.output {
				t.Errorf("%s: %s\nprints\n%s\nwant\n%s", file, e.shell, got, e.output)
			}
		}
		t.Logf("%s: %d examples", filepath.Base(file), tried)
		if file == readme && tried < 3 {
			t.Errorf("the README has %d examples", tried)
		}
	}
}

package main

import (
	"os"
	"os/exec"
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

// tryExamples runs the examples of the README against a running gateway and compares their output. tests/docs runs
// those of all documents.
func tryExamples(t *testing.T, base string) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := examplesOf(string(text))
	if len(examples) < 3 {
		t.Errorf("the README has %d examples", len(examples))
	}
	for _, e := range examples {
		cmd := exec.Command("sh", "-c", strings.NewReplacer("http://localhost:8080", base, "bin/heliograph",
			os.Args[0]).Replace(e.shell))
		cmd.Env = append(os.Environ(), asCommand+"=1")
		got, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", e.shell, err)
		}
		if strings.TrimSpace(string(got)) != e.output {
			t.Errorf("%s\nprints\n%s\nwant\n%s", e.shell, got, e.output)
		}
	}
}

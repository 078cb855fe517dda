package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated documents")

// TestConfigurationDocument compares docs/configuration.md with the flags. Update it with: go test ./cmd/heliograph
// -run Document -update
func TestConfigurationDocument(t *testing.T) {
	t.Parallel()
	var cli commands
	parser := newParser(t, &cli)
	var b strings.Builder
	b.WriteString("# Configuration\n\nFlags take precedence over environment variables, and these over defaults. " +
		"Boolean settings accept on/off, true/false, yes/no and 1/0. Lists are repeated flags or comma-separated " +
		"variables. Durations have a unit, such as 250ms, 3s or 20m.\n" +
		"Secrets (passwords in URLs, `HELIOGRAPH_USERS`) are not printed or logged.\n")
	for _, c := range parser.Model.Children {
		rows, group := 0, ""
		for _, f := range c.Flags {
			if f.Name == "help" {
				continue
			}
			variable := "none"
			if len(f.Envs) > 0 {
				variable = "`" + f.Envs[0] + "`"
			}
			header := "\n| Flag | Variable | Default | Description |\n|---|---|---|---|\n"
			if rows == 0 {
				fmt.Fprintf(&b, "\n## heliograph %s\n\n%s\n", c.Name, c.Help)
			}
			if f.Group != nil && f.Group.Title != group {
				group = f.Group.Title
				fmt.Fprintf(&b, "\n### %s\n", group)
			} else if rows > 0 {
				header = ""
			}
			b.WriteString(header)
			rows++
			def := "none"
			if f.Default != "" {
				def = "`" + f.Default + "`"
			}
			fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", f.Name, variable,
				def, strings.ReplaceAll(f.Help, "|", `\|`))
		}
	}
	const path = "../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is out of date; update it with: go test ./cmd/heliograph -run Document -update", path)
	}
}

package main

import (
	"bytes"
	"debug/buildinfo"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// component is a Go module or an npm package that is part of a binary.
type component struct {
	kind    string // of package URLs: golang or npm
	name    string
	version string
	licence string // SPDX expression
	texts   []text
}

// text is a licence file.
type text struct{ name, content string }

// components returns the components of the binaries, sorted.
func components(source string, binaries []string) ([]component, error) {
	used := map[string]string{} // versions of modules
	goVersion := ""
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		goVersion = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			used[m.Path] = m.Version
		}
	}
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}", "all")
	list.Dir, list.Stderr = source, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[path] = dir
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	used["std"], dirs["std"] = goVersion, strings.TrimSpace(string(root))
	var all []component
	for path, version := range used {
		c := component{kind: "golang", name: path, version: version}
		if c.texts, err = licences(os.DirFS(dirs[path])); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if c.texts == nil { // the module is a folder of a repository whose licence is above it
			if c.texts, err = licences(missing(path)); err != nil {
				return nil,
					fmt.Errorf("%s has no licence file; copy that of its repository to tests/release/licences: %w",
						path, err)
			}
		}
		if c.licence, err = classify(c.texts); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, c)
	}
	front, err := frontEnd(source)
	if err != nil {
		return nil, err
	}
	all = append(all, front...)
	slices.SortFunc(all, func(a, b component) int {
		return strings.Compare(a.kind+" "+a.name+" "+a.version, b.kind+" "+b.name+" "+b.version)
	})
	return all, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

//go:embed licences
var missingLicences embed.FS

// missing returns the folder with the licence files of a module that has none of its own.
func missing(path string) fs.FS {
	folder, err := fs.Sub(missingLicences, "licences/"+path)
	if err != nil { // the path is invalid
		return embed.FS{}
	}
	return folder
}

// licences returns the licence files of a folder.
func licences(folder fs.FS) (texts []text, err error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		content, err := fs.ReadFile(folder, e.Name())
		if err != nil {
			return nil, err
		}
		texts = append(texts, text{e.Name(), strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n")) +
			"\n"})
	}
	return texts, nil
}

// marks are sentences of licences, the more specific ones first.
var marks = []struct{ mark, licence string }{
	{"GNU LESSER GENERAL PUBLIC LICENSE", "LGPL-3.0-only"},
	{"Mozilla Public License", "MPL-2.0"},
	{"Apache License", "Apache-2.0"},
	{"Permission to use, copy, modify, and/or distribute", "ISC"},
	{"Permission to use, copy, modify, and distribute", "ISC"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Neither the name", "BSD-3-Clause"},
	{"names of its contributors may be used", "BSD-3-Clause"},
	{"Redistributions in binary form", "BSD-2-Clause"},
	{"CC0", "CC0-1.0"},
	{"released into the public domain", "Unlicense"},
}

// classify returns the SPDX identifier of licence files. It fails for a licence that it does not know.
func classify(texts []text) (string, error) {
	var all []string
	for _, t := range texts {
		all = append(all, strings.Join(strings.Fields(t.content), " "))
	}
	for _, m := range marks {
		if strings.Contains(strings.Join(all, " "), m.mark) {
			return m.licence, nil
		}
	}
	return "", fmt.Errorf("no known licence in %d files", len(texts))
}

// frontEnd returns the npm packages that the embedded front-end files can contain: those of the lock files that are
// not for development only.
func frontEnd(source string) (all []component, err error) {
	locks, err := filepath.Glob(filepath.Join(source, "app/web/*/src/package-lock.json"))
	if err != nil || len(locks) == 0 {
		return nil, fmt.Errorf("no lock files of the front end below %s: %w", source, err)
	}
	seen := map[string]bool{}
	for _, path := range locks {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var lock struct {
			Packages map[string]struct {
				Version, License string
				Dev              bool
			}
		}
		if err := json.Unmarshal(content, &lock); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for folder, p := range lock.Packages {
			_, name, found := cutLast(folder, "node_modules/")
			if key := name + "@" + p.Version; found && !p.Dev && !seen[key] {
				seen[key] = true
				all = append(all, component{kind: "npm", name: name, version: p.Version, licence: p.License})
			}
		}
	}
	return all, nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// terms introduces the notice. The licences that ask for more than their text have a paragraph.
const terms = `Heliograph is licensed under the Apache License 2.0 (LICENSE). Its binaries contain the components below, under their own licences.

LGPL-3.0 (%s): the library is used unmodified, at the version below, through its public interfaces. To run Heliograph with a modified version of it, take the
source of this Heliograph version, add a line "replace MODULE => FOLDER" to go.mod, and run "make build". Heliograph does not restrict that, nor reverse
engineering for debugging such changes. The texts of the LGPL and the GPL are below.

`

// mplTerms are the terms of components under the MPL.
const mplTerms = `MPL-2.0 (%s): the files are used unmodified. Their source is the module at the version below, which "go mod download MODULE@VERSION" retrieves.

`

// notice returns the licence texts of all components. A text that several components share is included once.
func notice(parts []component) ([]byte, error) {
	named := map[string][]string{}
	var b bytes.Buffer
	texts, order := map[string][]string{}, []string{}
	for _, c := range parts {
		named[c.licence] = append(named[c.licence], c.name)
		for _, t := range c.texts {
			if texts[t.content] == nil {
				order = append(order, t.content)
			}
			texts[t.content] = append(texts[t.content], c.name+" "+c.version+": "+t.name)
		}
	}
	fmt.Fprintf(&b, terms, strings.Join(named["LGPL-3.0-only"], ", "))
	if names := named["MPL-2.0"]; names != nil {
		fmt.Fprintf(&b, mplTerms, strings.Join(names, ", "))
	}
	for _, c := range parts {
		fmt.Fprintf(&b, "%-7s %-20s %s %s\n", c.kind, c.licence, c.name, c.version)
	}
	for _, content := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s", strings.Repeat("=", 80), strings.Join(texts[content], "\n"),
			strings.Repeat("-", 80), content)
	}
	return b.Bytes(), nil
}

// billOfMaterials returns the components in CycloneDX 1.6.
func billOfMaterials(version string, at time.Time, parts []component) ([]byte, error) {
	type licence struct {
		Expression string `json:"expression,omitempty"`
	}
	type entry struct {
		Type     string    `json:"type"`
		Ref      string    `json:"bom-ref"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		Licences []licence `json:"licenses,omitempty"`
		PURL     string    `json:"purl,omitempty"`
	}
	list := []entry{}
	for _, c := range parts {
		purl := "pkg:" + c.kind + "/" + strings.Replace(c.name, "@", "%40", 1) + "@" + c.version
		e := entry{Type: "library", Ref: purl, Name: c.name, Version: c.version, PURL: purl}
		if c.licence != "" {
			e.Licences = []licence{{c.licence}}
		}
		list = append(list, e)
	}
	type metadata struct {
		Timestamp string `json:"timestamp"`
		Component entry  `json:"component"`
	}
	b, err := json.MarshalIndent(struct {
		Format      string   `json:"bomFormat"`
		SpecVersion string   `json:"specVersion"`
		Version     int      `json:"version"`
		Metadata    metadata `json:"metadata"`
		Components  []entry  `json:"components"`
	}{"CycloneDX", "1.6", 1, metadata{
		at.UTC().Format(time.RFC3339),
		entry{
			Type: "application", Ref: "heliograph", Name: "heliograph", Version: version,
			Licences: []licence{{"Apache-2.0"}},
		},
	}, list}, "", "  ")
	return append(b, '\n'), err
}

package assetstest

import (
	"regexp"
	"slices"
	"testing"
)

func TestFetched(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`<script src="https://a.example/x.js">`, `<link rel=stylesheet href=//a.example/x.css>`, `@import "https://a.example"`,
		`src:url(https://a.example/f.woff2)`, `fetch("https://a.example")`, `"https://fonts.a.example"`, `cdn.jsdelivr.net/npm`,
	} {
		if !slices.ContainsFunc(fetched(), func(pattern *regexp.Regexp) bool { return pattern.MatchString(bad) }) {
			t.Errorf("no pattern finds %s", bad)
		}
	}
	for _, good := range []string{`<a href="./docs/openapi.json">`, `xmlns="http://www.w3.org/2000/svg"`} {
		if slices.ContainsFunc(fetched(), func(pattern *regexp.Regexp) bool { return pattern.MatchString(good) }) {
			t.Errorf("a pattern finds %s", good)
		}
	}
}

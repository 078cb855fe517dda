package assetstest

import "testing"

func TestExternalRequests(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`<script src="https://a.example/x.js">`, `<link rel=stylesheet href=//a.example/x.css>`, `@import "https://a.example"`,
		`src:url(https://a.example/f.woff2)`, `fetch("https://a.example")`, `"https://fonts.a.example"`, `cdn.jsdelivr.net/npm`,
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

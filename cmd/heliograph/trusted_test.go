package main

import (
	"maps"
	"testing"
)

// TestTrustedFormats reads the files that tools for persisted queries write.
func TestTrustedFormats(t *testing.T) {
	t.Parallel()
	const apollo = `"format":"apollo-persisted-query-manifest","version":1`
	for name, c := range map[string]struct {
		text string
		want map[string]string
	}{
		"Relay, Code Generator": {
			`{"a1":"{a}","b2":"query B { b }"}`,
			map[string]string{"a1": "{a}", "b2": "query B { b }"},
		},
		"no documents": {`{}`, map[string]string{}},
		"Apollo": {
			`{` + apollo +
				`,"operations":[{"id":"a1","name":"A","type":"query","body":"query A {a}"},{"id":"b2","body":"{b}"}]}`,
			map[string]string{"a1": "query A {a}", "b2": "{b}"},
		},
		"Apollo, empty": {`{` + apollo + `,"operations":[]}`, map[string]string{}},
		"repeated": {
			`{` + apollo + `,"operations":[{"id":"a","body":"{b}"},{"id":"a","body":"{b}"}]}`,
			map[string]string{"a": "{b}"},
		},
		"two bodies": {
			`{` + apollo + `,"operations":[{"id":"a","body":"{b}"},{"id":"a","body":"{c}"}]}`,
			nil,
		},
		"no id":          {`{` + apollo + `,"operations":[{"body":"{b}"}]}`, nil},
		"no body":        {`{` + apollo + `,"operations":[{"id":"b"}]}`, nil},
		"another format": {`{"format":"x","version":1,"operations":[]}`, nil},
		"a list":         {`["{a}"]`, nil},
		"null":           {`null`, nil},
		"no text":        {`{"a":1}`, nil},
		"malformed":      {`{`, nil},
	} {
		got, err := parseTrusted([]byte(c.text))
		if (err == nil) != (c.want != nil) || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

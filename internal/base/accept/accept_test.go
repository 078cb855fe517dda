package accept_test

import (
	"slices"
	"testing"

	"heliograph/internal/base/accept"
)

func TestElements(t *testing.T) {
	t.Parallel()
	type element struct {
		value   string
		quality float64
	}
	for _, c := range []struct {
		values []string
		want   []element
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{"*/*"}, []element{{"*/*", 1}}},
		{[]string{" text/html ; q=0.5,application/json;Q=0"}, []element{{"text/html", 0.5}, {"application/json", 0}}},
		{[]string{"a/b;q=x, c/d", "e/f;v=1; q = 0.25"}, []element{{"c/d", 1}, {"e/f", 0.25}}},
		{[]string{", ,a/b,"}, []element{{"a/b", 1}}},
	} {
		var got []element
		for e := range accept.Elements(c.values) {
			got = append(got, element{e.Value, e.Quality})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.values, got, c.want)
		}
	}
}

func TestParam(t *testing.T) {
	t.Parallel()
	for e := range accept.Elements([]string{`multipart/mixed; deferSpec=20220824; boundary="-"; empty`}) {
		for name, want := range map[string]string{"deferspec": "20220824", "Boundary": "-", "empty": ""} {
			if got, ok := e.Param(name); !ok || got != want {
				t.Errorf("%s: got %q, %t, want %q", name, got, ok, want)
			}
		}
		if got, ok := e.Param("q"); ok {
			t.Errorf("q: got %q", got)
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "", "*/*": "a/json", "text/html": "text/html", "text/html,a/xml;q=0.9,*/*;q=0.8": "text/html",
		"A/*": "a/json", "text/*;q=0.5, a/other": "text/html", "text/html;q=0": "",
		"*/*, text/html": "a/json", "a/json;q=0.2, text/html;q=0.1": "a/json", "[": "", "a/json/*": "",
		"a/json;q=0, */*": "text/html", "*/*;q=0.1, a/*;q=0": "text/html", "text/html;v=1, a/json": "text/html",
		"text/html, text/html;q=0":   "text/html",
		"a/*;q=0.5, text/html;q=0.5": "a/json", "*/*;q=0, text/html": "text/html", "*": "",
	} {
		if got := accept.Best([]string{header}, "a/json", "text/html"); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header  string
		quality float64
		named   bool
	}{
		{"", 0, false},
		{"gzip", 1, true},
		{"br, GZIP;q=0.5, *;q=0", 0.5, true},
		{"*;q=0.3", 0.3, false},
		{"*, gzip;q=0", 0, true},
		{"gzip;q=x, *", 1, false},
		{"deflate", 0, false},
	} {
		if quality, named := accept.Encoding([]string{c.header}, "gzip"); quality != c.quality || named != c.named {
			t.Errorf("%q: got %v, %t, want %v, %t", c.header, quality, named, c.quality, c.named)
		}
	}
}

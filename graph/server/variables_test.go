package server_test

import (
	"net/http"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestVariableErrors checks the texts of errors about variables, which have a location and no path.
func TestVariableErrors(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const query = `query($a: AccountRef!, $n: Int, $f: AccountFilter, $o: Order) { account(id: $a) { id } ` +
		`accounts(first: $n, filter: $f, order: $o) { nodes { id } } }`
	for name, c := range map[string]struct {
		variables map[string]any
		want      string
	}{
		"missing": {nil, `Variable \"$a\" of required type \"AccountRef!\" was not provided.`},
		"null": {
			map[string]any{"a": nil},
			`Variable \"$a\" of non-null type \"AccountRef!\" must not be null.`,
		},
		"no integer": {
			map[string]any{"a": "2", "n": "x"},
			`Variable \"$n\" got invalid value \"x\"; cannot use string as Int.`,
		},
		"a fraction": {
			map[string]any{"a": "2", "n": 1.5},
			`Variable \"$n\" got invalid value 1.5; cannot use this number as Int.`,
		},
		"no enum value": {
			map[string]any{"a": "2", "o": "UP"},
			`Variable \"$o\" got invalid value \"UP\"; UP is not a valid Order.`,
		},
		"unknown field": {
			map[string]any{"a": "2", "f": map[string]any{"x": 1}},
			`Variable \"$f\" got invalid value {…}; Field \"x\" is not defined.`,
		},
		"long": {
			map[string]any{"a": "2", "n": strings.Repeat("y", 1000)},
			`Variable \"$n\" got invalid value \"` + strings.Repeat("y", 100) + `…\"; cannot use string as Int.`,
		},
	} {
		got := g.Query(t, query, c.variables)
		if !strings.Contains(got.Body, c.want) || !strings.Contains(got.Body, `"locations":[{"line":1,`) ||
			strings.Contains(got.Body, `"path"`) ||
			!strings.Contains(got.Body, `"BAD_USER_INPUT"`) || got.Status != http.StatusOK {
			t.Errorf("%s: status %d: %s", name, got.Status, got.Body)
		}
	}
	if got := g.Query(t, `{ `+strings.Repeat("z", 200)+` }`, nil); strings.Contains(got.Body,
		strings.Repeat("z", 101)) || !strings.Contains(got.Body, strings.Repeat("z", 100)) {
		t.Errorf("a long name: %s", got.Body)
	}
}

package v2_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
)

// update rewrites the golden documents of the documented vocabulary.
var update = flag.Bool("update", false, "write the golden documents anew")

// TestGolden renders the documents of the example from the tables, byte for byte.
func TestGolden(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, g.Status, status.Statuspage)
	for path, want := range example(t) {
		got := g.Get(t, path)
		if got.Status != 200 || got.Body != string(want) {
			t.Errorf("%s: status %d\n%s", path, got.Status, testenv.Diff(string(want), got.Body))
		}
	}
}

// TestGoldenDocumented renders the documents of the same page in the documented vocabulary.
func TestGoldenDocumented(t *testing.T) {
	t.Parallel()
	const file = "testdata/ledgerlight_documented.json"
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, g.Status, status.Documented)
	got := map[string]json.RawMessage{}
	for path := range example(t) {
		got[path] = json.RawMessage(g.Get(t, path).Body)
	}
	if *update {
		text, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for path, body := range want {
		compact, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if string(got[path]) != string(compact) {
			t.Errorf("%s:\n%s", path, testenv.Diff(string(compact), string(got[path])))
		}
		if strings.Contains(string(got[path]), "under_maintenance") {
			t.Errorf("%s has a word that is not documented", path)
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d golden documents", len(want))
	}
}

// TestImportRoundTrip imports the example, and then the documents rendered from that import. Only the time of the last
// write may change, and a repeated import writes nothing.
func TestImportRoundTrip(t *testing.T) {
	t.Parallel()
	first, second := testenv.Over(t, testenv.Empty.Fresh(t)), testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, first.Status, status.Statuspage)
	documents := map[string]json.RawMessage{}
	for path := range example(t) {
		documents[path] = json.RawMessage(first.Get(t, path).Body)
	}
	importExample := func(at int) (changed int) {
		return importPage(t, second.Status, parse(t, documents), mirrorOptions("copy"),
			lastWrite().AddDate(0, 0, at)).Changed
	}
	if n := importExample(1); n != 13 {
		t.Errorf("%d components and notices were written", n)
	}
	for path, want := range documents {
		got := second.Get(t, path).Body
		if got == string(want) || strings.Replace(got, `"2026-03-13T09:42:10.118Z"`, `"2026-03-12T09:42:10.118Z"`,
			1) != string(want) {
			t.Errorf("%s:\n%s", path, testenv.Diff(string(want), got))
		}
	}
	before := second.Get(t, "/api/v2/summary.json").Body
	if n := importExample(2); n != 0 || second.Get(t, "/api/v2/summary.json").Body != before {
		t.Errorf("importing the same again writes %d rows, and %s", n, second.Get(t, "/api/v2/summary.json").Body)
	}
}

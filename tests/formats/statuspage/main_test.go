package statuspage_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/rest"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// cached enables the cache of the REST API.
func cached() testenv.Option { return testenv.REST(func(c *rest.Config) { c.Cache = true }) }

// ready waits until the gateway serves its status page.
func ready(tb testing.TB, g *testenv.Gateway) {
	tb.Helper()
	for end := time.Now().Add(15 * time.Second); g.Get(tb, "/").Status != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatal("the status page is not served")
		}
	}
}

// example is the page that the golden documents are of, by the paths of its documents.
func example(tb testing.TB) map[string]json.RawMessage {
	tb.Helper()
	text, err := os.ReadFile("../../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		tb.Fatal(err)
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		tb.Fatal(err)
	}
	if len(documents) != len(status.Documents()) {
		tb.Fatalf("%d documents", len(documents))
	}
	return documents
}

// TestDemoDocuments holds the documents of the demo network against the schema and the invariants, and the lists of fifty against what there is.
func TestDemoDocuments(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	documents := map[string][]byte{}
	for _, name := range status.Documents() {
		got := g.Get(t, "/api/v2/"+name)
		documents[name] = []byte(got.Body)
		if err := validate(schemas(t)[name], documents[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := checkOrder(documents[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := invariants(documents, status.Documented); err != nil {
		t.Error(err)
	}
	if n := bytes.Count(documents[status.IncidentsDocument], []byte(`"reminder_intervals"`)); n != 50 {
		t.Errorf("%d incidents are listed", n)
	}
	var all struct {
		Status struct {
			Incidents struct{ Nodes []struct{ Code string } }
		}
	}
	g.Data(t, `{ status { incidents(first: 100) { nodes { code } } } }`, nil, &all)
	if n := len(all.Status.Incidents.Nodes); n <= 50 {
		t.Errorf("the graph has %d incidents", n)
	}
}

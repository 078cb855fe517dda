package statuspage_test

import (
	"bytes"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestDemoDocuments checks the documents of the demo network against the schema and the invariants, and the length of
// the lists of fifty.
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
		t.Errorf("GraphQL returns %d incidents", n)
	}
}

package statuspage_test

import (
	"net/http"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/rest"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// cached enables the cache of the REST API.
func cached() testenv.Option { return testenv.REST(func(c *rest.Config) { c.Cache = true }) }

var byTest = statuspages.Author{Name: "test"}

// editor returns an editor of the status pages of a gateway, whose clock advances by a minute with each reading.
func editor(g *testenv.Gateway) *statuspages.Editor {
	now := testenv.Now()
	return statuspages.NewEditor(g.Status, func() time.Time {
		now = now.Add(time.Minute)
		return now
	}, nil)
}

// ready waits until the gateway serves its status page.
func ready(tb testing.TB, g *testenv.Gateway) {
	tb.Helper()
	for end := time.Now().Add(15 * time.Second); g.Get(tb, "/").Status != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatal("the status page is not served")
		}
	}
}

// newest returns the code of the newest incident.
func newest(t *testing.T, g *testenv.Gateway) string {
	t.Helper()
	var data struct {
		Status struct {
			Incidents struct{ Nodes []struct{ Code string } }
		}
	}
	g.Data(t, `{ status { incidents(first: 1) { nodes { code } } } }`, nil, &data)
	return data.Status.Incidents.Nodes[0].Code
}

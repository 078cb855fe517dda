package testenv

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"heliograph/rest"
	"heliograph/storage/statuspages"
)

// Cached enables all caches, as in production. By default they are disabled.
func Cached() Option { return REST(func(c *rest.Config) { c.Cache = true }) }

// Author is the author of writes to status pages.
var Author = statuspages.Author{Name: "test"}

// Editor returns an editor of the gateway's status pages. Its clock advances by a minute on each call.
func (g *Gateway) Editor() *statuspages.Editor {
	now := Now()
	return statuspages.NewEditor(g.Status, func() time.Time {
		now = now.Add(time.Minute)
		return now
	}, nil)
}

// WaitForPage waits until a gateway with caches serves its status page, for at most 15 seconds.
func (g *Gateway) WaitForPage(tb testing.TB) {
	tb.Helper()
	for end := time.Now().Add(15 * time.Second); g.Get(tb, "/").Status != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatal("the status page is not served")
		}
	}
}

// NewestIncident returns the code of the newest incident of the status page.
func (g *Gateway) NewestIncident(tb testing.TB) string {
	tb.Helper()
	var data struct {
		Status struct {
			Incidents struct{ Nodes []struct{ Code string } }
		}
	}
	g.Data(tb, `{ status { incidents(first: 1) { nodes { code } } } }`, nil, &data)
	return data.Status.Incidents.Nodes[0].Code
}

// ReadExample reads the documents of the example status page, by path, from its file rest/v2/testdata/ledgerlight.json.
func ReadExample(tb testing.TB, file string) map[string]json.RawMessage {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		tb.Fatal(err)
	}
	return documents
}

package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"heliograph/graph"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/server"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers"
	"heliograph/storage"
)

// oneNode are fields of the query type, of which only node and ledger are resolved.
type oneNode struct{ graph.QueryFields }

func (oneNode) Node(context.Context, graph.QueryNodeArgs) (relay.Node, error) {
	return &ledger.NetworkNode{}, nil
}

func (oneNode) Ledger(context.Context, graph.QueryLedgerArgs) (*ledger.LedgerState, error) {
	return nil, nil
}

// ofOneNode returns a server with these fields, without a database.
func ofOneNode(t *testing.T, work func(ctx context.Context, scans, event bool) values.Value) *server.Server {
	t.Helper()
	nothing := values.Value{}
	s, err := server.New(server.Options{
		Schema: graph.NewSchema(nil, oneNode{}, storage.Together),
		// the functions of fields that are computed while they are written are missing, so calling them panics
		Tables:    graph.NewTables(struct{ graph.Fields }{}, func() rowplan.Batch { return nil }),
		Operation: func() values.Value { return nothing },
		Work:      work,
		Scans:     func(string, func(string) bool) bool { return false },
		Classify:  resolvers.Classify, Limits: relay.Limits{Default: 1, Max: 1},
		Settings: server.Settings{
			DocumentBytes: 1 << 20, Bounds: limits.Default(), MaxValues: 100, MaxBody: 1 << 20,
		},
		NewID: func() string { return "an id" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sendTo sends a body to the server.
func sendTo(t *testing.T, s *server.Server, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestPanicWhileWriting checks that a panic while a field is written is an error of this field, and that the others
// are kept.
func TestPanicWhileWriting(t *testing.T) {
	s := ofOneNode(t, func(context.Context, bool, bool) values.Value { return values.Value{} })
	w := sendTo(t, s, `{"query":"{ before: __typename a: node(id: \"x\") { id } after: __typename }"}`)
	body := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(body, `"data":{"before":"Query","a":null,"after":"Query"}`) ||
		!strings.Contains(body, `"path":["a"]`) || !strings.Contains(body, `"code":"INTERNAL"`) ||
		strings.Count(body, `"message"`) != 1 {
		t.Errorf("%d %s", w.Code, body)
	}
}

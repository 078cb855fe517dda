package bench

import (
	"testing"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"net/http"
	"net/http/httptest"
)

func BenchmarkFixed(b *testing.B) {
	r := newRig(b)
	d, err := r.graph.Prepare(`query Q($n: Int!) { __typename @include(if: true) }`)
	_ = err
	d, err = r.graph.Prepare(`query Q { __typename }`)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			res := r.graph.Run(b.Context(), server.Call{Document: d, Operation: "Q", Variables: map[string]any{}, Style: scalar.REST, Limits: relay.Limits{Default: 25, Max: 100}})
			r.graph.Done(res.Data)
		}
	})
	for _, path := range []string{"/api/v1/blocks?limit=1", "/api/v1/blocks?limit=25", r.paths[2]} {
		for _, w := range r.ways(b, path) {
			b.Run(w.name+path, func(b *testing.B) {
				b.ReportAllocs()
				c := w.clients[0]
				for b.Loop() {
					c.ask()
				}
			})
		}
	}
	b.Run("404", func(b *testing.B) {
		b.ReportAllocs()
		to := newSink()
		req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/v1/blocks?limit=x", http.NoBody)
		for b.Loop() {
			to.reset()
			r.rest.ServeHTTP(to, req)
		}
	})
}

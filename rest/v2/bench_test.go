package v2_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
)

// discard is a response writer that discards the body.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) WriteHeader(status int) { d.status = status }

func (d *discard) Write(b []byte) (int, error) {
	d.bytes += len(b)
	return len(b), nil
}

// requests returns two requests per document: one that gets the body, and one with a matching ETag.
func requests(b *testing.B, g *testenv.Gateway) []*http.Request {
	b.Helper()
	var all []*http.Request
	for _, name := range status.Documents() {
		miss, err := http.NewRequestWithContext(b.Context(), http.MethodGet, g.URL+"/api/v2/"+name, http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		hit := miss.Clone(b.Context())
		hit.Header.Set("If-None-Match", g.Get(b, "/api/v2/"+name).Header.Get("ETag"))
		all = append(all, miss, hit)
	}
	return all
}

// demoGateway returns a gateway over the demo network with rendered documents.
func demoGateway(b *testing.B) *testenv.Gateway {
	b.Helper()
	g := testenv.Demo(b, withCache())
	waitFor(b, 15*time.Second, "the page is there", func() bool { return g.Get(b, summaryPath).Status == 200 })
	return g
}

// BenchmarkCached serves the eight documents from memory, in full and with a matching ETag, by the handler alone and
// with logging, metrics and deadlines.
func BenchmarkCached(b *testing.B) {
	g := demoGateway(b)
	all := requests(b, g)
	for name, h := range map[string]http.Handler{"handler": g.StatusAPI(), "gateway": g.Public()} {
		b.Run(name, func(b *testing.B) {
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				clear(w.header)
				h.ServeHTTP(w, all[i%len(all)])
				if w.status != http.StatusOK && w.status != http.StatusNotModified {
					b.Fatalf("status %d", w.status)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
	}
}

// BenchmarkLoopback requests the documents over loopback, in turns with a handler that writes the same bytes without
// further work. "ratio" is the time of the documents divided by that of the handler.
func BenchmarkLoopback(b *testing.B) {
	g := demoGateway(b)
	var bodies [][]byte
	for _, name := range status.Documents() {
		bodies = append(bodies, []byte(g.Get(b, "/api/v2/"+name).Body))
	}
	index := map[string]int{}
	for i, name := range status.Documents() {
		index["/api/v2/"+name] = i
	}
	constant := serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(bodies[index[r.URL.Path]])
	}))
	ours := serve(b, g.StatusAPI())
	all := requests(b, g)
	client := &http.Transport{DisableCompression: true}
	b.Cleanup(client.CloseIdleConnections)
	var spent [2]time.Duration
	for i := 0; b.Loop(); i++ {
		for turn := range 2 {
			k := (turn + i/len(all)) % 2 // the order alternates, because the second one runs on a warm processor
			base := []string{ours, constant}[k]
			r := all[i%len(all)].Clone(b.Context())
			r.URL.Host = base
			start := time.Now()
			resp, err := client.RoundTrip(r)
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			spent[k] += time.Since(start)
			if want := bodies[i%len(all)/2]; err != nil || resp.StatusCode == http.StatusOK && n != int64(len(want)) ||
				k == 0 && i%2 == 1 &&
					resp.StatusCode != http.StatusNotModified {
				b.Fatalf("%s: status %d with %d bytes, error %v", r.URL, resp.StatusCode, n, err)
			}
		}
	}
	b.ReportMetric(spent[0].Seconds()/spent[1].Seconds(), "ratio")
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(b.N), "ns/document")
	b.ReportMetric(float64(spent[1].Nanoseconds())/float64(b.N), "ns/constant")
}

// serve starts a server on a loopback address and returns the address.
func serve(b *testing.B, h http.Handler) string {
	b.Helper()
	l, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	go func() { _ = s.Serve(l) }() // until it is closed
	b.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

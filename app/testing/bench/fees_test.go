package bench

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// estimate is a client that requests the fee of the path's example, a transfer of a token with custom fees.
func (r *rig) estimate(tb testing.TB, mode string) client {
	tb.Helper()
	var example []byte
	for i := range r.rest.Endpoints {
		if e := &r.rest.Endpoints[i]; e.Path == "/network/fees" && e.Body != nil {
			example = e.Body.Example
		}
	}
	to, from := newSink(), bytes.NewReader(nil)
	req := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/api/v1/network/fees?mode="+mode,
		io.NopCloser(from))
	req.Header.Set("Content-Type", "application/protobuf")
	req.ContentLength = int64(len(example))
	return client{ask: func() { to.reset(); from.Reset(example); r.rest.ServeHTTP(to, req) }, to: to}
}

// feeAllocations bounds what an estimate from the transaction alone allocates, all of REST and the graph included.
const feeAllocations = 200

// TestFeeEstimate makes sure that what is measured is an estimate, and that it stays cheap.
func TestFeeEstimate(t *testing.T) {
	r := newRig(t)
	for mode, total := range map[string]string{"INTRINSIC": `"total":2000000}`, "STATE": `"total":20000000}`} {
		c := r.estimate(t, mode)
		c.to.keep = true
		c.ask()
		if c.to.status != http.StatusOK || !strings.HasSuffix(string(c.to.body), total) {
			t.Errorf("%s: %d %s", mode, c.to.status, c.to.body)
		}
	}
	if got := testing.AllocsPerRun(50, r.estimate(t, "INTRINSIC").ask); got > feeAllocations {
		t.Errorf("%v allocations, should be at most %d", got, feeAllocations)
	}
}

// BenchmarkFeeEstimate requests estimates over REST, sequentially: from the transaction alone, and from the state too,
// which is one round trip to the database more.
func BenchmarkFeeEstimate(b *testing.B) {
	r := newRig(b)
	for _, mode := range []string{"INTRINSIC", "STATE"} {
		b.Run(mode, func(b *testing.B) {
			c := r.estimate(b, mode)
			c.ask() // the schedule is read once
			b.ReportAllocs()
			for b.Loop() {
				c.ask()
			}
		})
	}
}

package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"heliograph/internal/base/admission"
)

// TestRefusalRate checks that many new requests are refused at a limited rate, but not those that have waited in vain,
// and that a client that has disconnected is not waited for.
func TestRefusalRate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit        admission.Limit
		disconnected bool
		want         time.Duration
	}{
		{limit: admission.ByQueue, want: time.Second},
		{limit: admission.ByQueue, disconnected: true},
		{limit: admission.ByTimeout},
		{limit: admission.ByMemory},
	} {
		synctest.Test(t, func(t *testing.T) {
			t.Helper()
			g := &Gateway{
				o:        Options{Logger: slog.New(slog.DiscardHandler)},
				refusals: refusals{pace: rate.NewLimiter(refusalRate, refusalBurst)},
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.disconnected {
				cancel()
			}
			start := time.Now()
			var all sync.WaitGroup
			for range refusalRate + refusalBurst {
				all.Go(func() {
					r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/other", http.NoBody)
					w := httptest.NewRecorder()
					g.refuse(w, r, "client", &admission.Refusal{Limit: test.limit, Seconds: 7})
					if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "7" {
						t.Errorf("status %d, %v", w.Code, w.Header())
					}
				})
			}
			all.Wait()
			if took := time.Since(start).Round(time.Millisecond); took != test.want {
				t.Errorf("%s, disconnected %v: %s, want %s", test.limit, test.disconnected, took, test.want)
			}
		})
	}
}

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

// TestRefusalRate checks that many new requests are refused at a limited rate, but those that have waited in vain, and
// those whose context ends, at once.
func TestRefusalRate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit   admission.Limit
		timeout time.Duration
		want    time.Duration // until all are refused
	}{
		{limit: admission.ByQueue, timeout: time.Minute, want: time.Second},
		{limit: admission.ByQueue, timeout: time.Second / 2, want: time.Second / 2},
		{limit: admission.ByQueue, timeout: -1},
		{limit: admission.ByTimeout, timeout: time.Minute},
		{limit: admission.ByMemory, timeout: time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			t.Helper()
			g := &Gateway{
				o:        Options{Logger: slog.New(slog.DiscardHandler)},
				refusals: refusals{pace: rate.NewLimiter(refusalRate, refusalBurst)},
			}
			ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
			defer cancel()
			start := time.Now()
			var all sync.WaitGroup
			for range refusalRate + refusalBurst {
				all.Go(func() {
					r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/other", http.NoBody)
					w := httptest.NewRecorder()
					g.refuse(ctx, w, r, "client", &admission.Refusal{Limit: test.limit, Seconds: 7})
					if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "7" {
						t.Errorf("status %d, %v", w.Code, w.Header())
					}
				})
			}
			all.Wait()
			if took := time.Since(start).Round(time.Millisecond); took != test.want {
				t.Errorf("%s, timeout %s: %s, want %s", test.limit, test.timeout, took, test.want)
			}
		})
	}
}

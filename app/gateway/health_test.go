package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// TestReadiness checks that health checks respond within 200 ms while the database does not, first with the last
// result and its age, and then with 503.
func TestReadiness(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url)
	for _, path := range []string{"/health/readiness", "/health/readiness/ledger", "/health/readiness/status"} {
		if got := g.Get(t, path); got.Status != http.StatusOK || !strings.Contains(got.Body, `"status":"UP"`) {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	conn := pgtest.Connect(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `lock table address_book`); err != nil {
		t.Fatal(err)
	}
	seen, late, all := map[int]bool{}, 0, 0
	for start := time.Now(); time.Since(start) < time.Minute && (len(seen) < 2 || time.Since(start) < 2*time.Second); {
		asked := time.Now()
		got := g.Get(t, "/health/readiness/ledger")
		all++
		if time.Since(asked) > time.Second { // the check itself waits for two seconds
			late++
		}
		if got.Status == http.StatusServiceUnavailable || !strings.Contains(got.Body, `"ageMs":0}`) {
			seen[got.Status] = true
		}
	}
	if late > all/4 { // other tests run at the same time
		t.Errorf("%d of %d answers took more than a second", late, all)
	}
	if !seen[http.StatusOK] || !seen[http.StatusServiceUnavailable] {
		t.Errorf("statuses %v, want both", seen)
	}
	if got := g.Get(t, "/health/readiness"); got.Status != http.StatusOK { // the status page serves
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); g.Get(t, "/health/readiness/ledger").Status != http.StatusOK; {
		if time.Since(start) > time.Minute {
			t.Fatal("not ready after the lock")
		}
	}
	var age float64 // of the metric
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", http.NoBody))
	if i := strings.Index(w.Body.String(), "\nheliograph_ledger_lag_seconds "); i < 0 {
		t.Error("no metric of the lag")
	} else if _, err := fmt.Sscanf(w.Body.String()[i:], "\nheliograph_ledger_lag_seconds %g", &age); err != nil ||
		age < 0 || age > 3600 {
		t.Errorf("the lag is %g s, %v", age, err)
	}
	for limit, want := range map[time.Duration]int{
		time.Hour:       http.StatusOK,
		time.Nanosecond: http.StatusServiceUnavailable,
	} {
		late := testenv.Over(t, url, func(o *testenv.Options) {
			o.MaxLag = limit
			now := o.REST.Now
			o.REST.Now = func() time.Time { return now().Add(time.Minute) }
		})
		if got := late.Get(t, "/health/readiness/ledger"); got.Status != want ||
			strings.Contains(got.Body, `"reason":"the newest block is too old"`) != (want != http.StatusOK) {
			t.Errorf("at most %s: status %d, want %d", limit, got.Status, want)
		}
	}
	g.Close()
	if got := g.Get(t, "/health/readiness"); got.Status != http.StatusServiceUnavailable ||
		!strings.Contains(got.Body, `"reason":"shutting down"`) {
		t.Errorf("while the gateway shuts down: status %d", got.Status)
	}
}

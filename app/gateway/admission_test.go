package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
)

// TestStateReads checks that a contract call that reads the balances of too many accounts fails.
func TestStateReads(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.RequestTimeout = time.Minute }, func(o *testenv.Options) {
		o.EVM.Timeout = time.Minute
	})
	// PUSH3 0x100000; loop: PUSH1 1; ADD; DUP1; BALANCE; POP; PUSH1 loop; JUMP
	got := g.Do(t, http.MethodPost, "/api/v1/contracts/call",
		`{"data":"0x621000005b600101803150600456","gas":15000000}`, "Content-Type: application/json")
	if got.Status != http.StatusBadRequest || !strings.Contains(got.Body, "too much state") {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
}

// TestMemoryLimit checks that requests are refused while the memory is used up, except health checks.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	if n := gateway.DefaultMemoryLimit(true); runtime.GOOS == "linux" && n < 1<<20 || n < 0 {
		t.Errorf("default limit %d", n)
	}
	limit := func(n int64) *testenv.Gateway {
		return testenv.Demo(t, func(o *testenv.Options) { o.MemoryLimit = n })
	}
	g, roomy := limit(1), limit(1<<40)
	for path, want := range map[string]string{
		"/api/v1/blocks":          `{"_status":{"messages":[{"message":"Service unavailable"}]}}`,
		"/api/v1/topics/0.0.4001": `{"_status":{"messages":[{"message":"Service Unavailable","detail":""}]}}`,
		typenamePath:              `"code":"UNAVAILABLE"`,
	} {
		if got := g.Get(t, path); got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" ||
			!strings.Contains(got.Body, want) {
			t.Errorf("%s: status %d: %s", path, got.Status, got.Body)
		}
		if got := roomy.Get(t, path); got.Status != http.StatusOK {
			t.Errorf("%s within the limit: status %d", path, got.Status)
		}
	}
	if got := g.Get(t, "/health/readiness"); got.Status != http.StatusOK {
		t.Errorf("readiness: status %d", got.Status)
	}
}

// TestConnectionLimit checks that connections above the limit of an address get a response and are closed, and that
// closed connections do not count.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	go func() {
		_ = s.Serve(gateway.LimitConnections(inner, 2, []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}))
	}()
	t.Cleanup(func() { _ = s.Close() })
	status := func(from string) (int, net.Conn) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode, c
	}
	var open []net.Conn
	for i, c := range []struct {
		from string
		want int
	}{
		{"127.0.0.1", 404},
		{"127.0.0.1", 404},
		{"127.0.0.1", 503},
		{"127.0.0.2", 404},
		{"127.0.0.9", 404},
		{"127.0.0.9", 404},
		{"127.0.0.9", 404},
	} {
		got, conn := status(c.from)
		if got != c.want {
			t.Errorf("connection %d: status %d, want %d", i, got, c.want)
		}
		open = append(open, conn)
	}
	_ = open[0].Close()
	for range 100 {
		if got, _ := status("127.0.0.1"); got == http.StatusNotFound {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a closed connection counts")
}

// TestAdminHost checks that the admin port rejects unknown hosts, and that the log has long URLs in part.
func TestAdminHost(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	g := testenv.Demo(t, func(o *testenv.Options) {
		o.Logger, o.AdminHosts = slog.New(slog.NewTextHandler(&log, nil)), []string{"gateway.internal"}
	})
	for host, want := range map[string]int{
		"127.0.0.1:9464": 200, "[::1]:9464": 200, "localhost:9464": 200, "LOCALHOST": 200,
		"gateway.internal:9464": 200, "evil.example": 421, "": 421,
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
		r.Host = host
		g.Admin().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: status %d, want %d", host, w.Code, want)
		}
	}
	g.Get(t, "/api/v1/"+strings.Repeat("p", 4000)+"?q="+strings.Repeat("q", 4000))
	if n := log.Len(); n < 2048 || n > 3000 || strings.Count(log.String(), "…") != 2 {
		t.Errorf("%d bytes: %s", n, log.String())
	}
}

// TestOperationMetrics checks that operations are counted by name, and that the number of names is limited.
func TestOperationMetrics(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for i := range 150 {
		g.Query(t, fmt.Sprintf("query Name%d { __typename }", i), nil)
	}
	g.Query(t, "query Name7 { __typename }", nil)
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", http.NoBody))
	for _, want := range []string{
		`operations_total{kind="query",name="Name7"} 2`,
		`operations_total{kind="query",name="other"} 50`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the metrics do not have %s", want)
		}
	}
}

// TestForwardedWarning checks that the log has one warning about X-Forwarded-For of other peers than proxies.
func TestForwardedWarning(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	g := testenv.Demo(t,
		func(o *testenv.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		})
	for range 3 {
		g.Do(t, http.MethodGet, "/health/liveness", "", "X-Forwarded-For: 10.0.0.1")
	}
	if n := strings.Count(log.String(), "--trusted-proxies"); n != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}

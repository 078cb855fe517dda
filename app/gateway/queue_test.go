package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/admission"
	"heliograph/storage/pgtest"
)

// own is the name of the client of requests without X-Forwarded-For.
const own = "address 127.0.0.1"

// occupy takes all turns of a client that can compute. The caller must call free.
func occupy(t *testing.T, g *testenv.Gateway, client string) (free func()) {
	t.Helper()
	var all []*admission.Turn
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		turn := g.DB.Queue().Turn(client, "test")
		err := turn.Enter(ctx)
		cancel()
		if err != nil {
			turn.End()
			return func() {
				for _, turn := range all {
					turn.End()
				}
			}
		}
		all = append(all, turn)
	}
}

// queue sets the options of the queue.
func queue(o admission.Options) testenv.Option {
	return func(all *testenv.Options) { all.Storage.Queue = admission.New(o) }
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// waiting returns the number of requests that wait.
func waiting(g *testenv.Gateway) (n int64) {
	for _, s := range g.DB.Queue().Stats() {
		n += s.Waiting
	}
	return n
}

// TestLockedTable checks that many requests for a locked table do not keep the requests of other clients from being
// served, and that they are served when the table is free again.
func TestLockedTable(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url, queue(admission.Options{Timeout: time.Hour}), func(o *testenv.Options) {
		o.RequestTimeout, o.Proxies = time.Minute, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		o.Storage.MaxConnections, o.Storage.StatementTimeout = 10, time.Minute
	})
	tx, err := pgtest.Connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `lock table topic`); err != nil {
		t.Fatal(err)
	}
	var attack sync.WaitGroup
	var served atomic.Int64
	for i := range 60 {
		attack.Go(func() {
			path := "/api/v1/topics/0.0.4001"
			if i%2 == 0 {
				path = "/graphql?query=%7Btopic(id:%220.0.4001%22)%7Bmemo%7D%7D"
			}
			if got := g.Get(t, path); got.Status == http.StatusOK && !strings.Contains(got.Body, "errors") {
				served.Add(1)
			} else {
				t.Errorf("status %d: %s", got.Status, got.Body)
			}
		})
	}
	time.Sleep(300 * time.Millisecond)
	for range 20 {
		for _, path := range []string{"/api/v1/blocks", "/api/v1/accounts?limit=2"} {
			if got := g.Do(t, http.MethodGet, path, "", "X-Forwarded-For: 203.0.113.9"); got.Status != http.StatusOK {
				t.Errorf("%s: status %d: %s", path, got.Status, got.Body)
			}
		}
	}
	if n := served.Load(); n > 0 {
		t.Errorf("%d requests did not wait for the table", n)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	attack.Wait()
	if n := served.Load(); n != 60 {
		t.Errorf("%d requests are served after the lock", n)
	}
}

// TestRefused checks the responses of each API to a request that has waited for the timeout, the log line, the
// metrics, and the time in the queue of one that is served.
func TestRefused(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	g := testenv.Demo(t, queue(admission.Options{Timeout: 300 * time.Millisecond}),
		func(o *testenv.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	free := occupy(t, g, own)
	for path, want := range map[string]string{
		"/api/v1/accounts/0.0.1001": `{"_status":{"messages":[{"message":"Service unavailable"}]}}`,
		"/api/v1/topics/0.0.4001":   `{"_status":{"messages":[{"message":"Service Unavailable","detail":""}]}}`,
		typenamePath: `{"errors":[{"message":"the server is busy: retry after 1 s",` +
			`"extensions":{"code":"UNAVAILABLE","retryAfter":1}}]}`,
	} {
		got := g.Get(t, path)
		retry, timing := got.Header.Get("Retry-After"), got.Header.Get("Server-Timing")
		if got.Status != http.StatusServiceUnavailable || got.Body != want || retry != "1" || timing != "" {
			t.Errorf("%s: status %d, %v: %s", path, got.Status, got.Header, got.Body)
		}
	}
	time.AfterFunc(50*time.Millisecond, free)
	got := g.Get(t, "/api/v1/accounts/0.0.1001")
	var waited float64
	n, _ := fmt.Sscanf(got.Header.Get("Server-Timing"), "queue;dur=%f", &waited)
	if got.Status != http.StatusOK || n != 1 || waited < 10 {
		t.Errorf("status %d, waited %v ms: %v", got.Status, waited, got.Header)
	}
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", http.NoBody))
	const class = `{class="/api/v1/accounts/{idOrAliasOrEvmAddress}"}`
	for metric, want := range map[string]int{"queue_waiting": 0, "queue_served_total": 1, "queue_refused_total": 1} {
		if line := fmt.Sprintf("%s%s %d\n", metric, class, want); !strings.Contains(w.Body.String(), line) {
			t.Errorf("the metrics do not have %s", line)
		}
	}
	eventually(t, "no log line", func() bool { return strings.Contains(log.String(), "requests were refused") })
	want := `requests=3 client="` + own + `" limit=timeout setting="--queue-timeout`
	if text := log.String(); !strings.Contains(text, want) || strings.Contains(text, "status=503") {
		t.Errorf("log: %s", text)
	}
}

// syncBuffer is a buffer that can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// queries counts statements.
type queries struct{ n atomic.Int64 }

func (q *queries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	q.n.Add(1)
	return ctx
}
func (*queries) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestAborts checks that requests whose clients disconnect while they wait leave the queue at once, and cost no
// statement.
func TestAborts(t *testing.T) {
	t.Parallel()
	count := &queries{}
	g := testenv.Demo(t, func(o *testenv.Options) { o.Storage.Tracer = count },
		queue(admission.Options{Timeout: time.Hour}))
	free := occupy(t, g, own)
	const n = 1000
	start := count.n.Load() // those that open the database
	var conns []net.Conn
	for range n {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(g.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		if _, err := io.WriteString(conn, "GET /api/v1/accounts?limit=25 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the requests do not wait", func() bool { return waiting(g) == n })
	for _, conn := range conns {
		_ = conn.Close()
	}
	eventually(t, "the requests do not leave", func() bool { return waiting(g) == 0 })
	free()
	before := count.n.Load() - start
	if got := g.Get(t, "/api/v1/accounts?limit=25"); got.Status != http.StatusOK {
		t.Errorf("status %d", got.Status)
	}
	if before > 0 || count.n.Load() > start+10 {
		t.Errorf("%d statements before the first request that was served, and %d after it", before,
			count.n.Load()-start)
	}
}

// TestSocketQueue checks that queries on a WebSocket wait in the queue, that those that the client completes leave it,
// and that a refusal is an error.
func TestSocketQueue(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, queue(admission.Options{Timeout: 2 * time.Second}))
	conn := socketOf(t, g, "graphql-transport-ws")
	send := func(format string, args ...any) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		t.Helper()
		_, b, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	send(`{"type":"connection_init"}`)
	read()
	free := occupy(t, g, own)
	for _, id := range []string{"completed", "served"} {
		send(`{"type":"subscribe","id":"%s","payload":{"query":"{__typename}"}}`, id)
	}
	eventually(t, "the operations do not wait", func() bool { return waiting(g) == 2 })
	send(`{"type":"complete","id":"completed"}`)
	eventually(t, "the completed operation waits", func() bool { return waiting(g) == 1 })
	free()
	for _, want := range []string{`"type":"next","id":"served"`, `"type":"complete","id":"served"`} {
		if got := read(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	defer occupy(t, g, own)()
	send(`{"type":"subscribe","id":"refused","payload":{"query":"{__typename}"}}`)
	got := read()
	for _, want := range []string{`"type":"error","id":"refused"`, `"code":"UNAVAILABLE","retryAfter":`} {
		if !strings.Contains(got, want) {
			t.Errorf("a refusal is %s", got)
		}
	}
}

// TestWaitingBodies checks that the bodies of waiting requests use a bounded amount of memory: large ones wait until
// others of their client leave room, and small ones of a client that uses much are refused. Others are served, and all
// clients can read their response.
func TestWaitingBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, number, missing int // missing are the bytes that every other body lacks
		refused, waiting      int64
	}{"large": {400_000, 20, 0, 0, 1}, "small": {60_000, 100, 1, 20, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testenv.Demo(t, queue(admission.Options{Timeout: time.Hour, Memory: 4 << 20}),
				func(o *testenv.Options) { o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
			free := occupy(t, g, "address 203.0.113.9")
			defer free()
			var complete []net.Conn
			for i := range c.number {
				conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(g.URL, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				const head = "POST /graphql HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n" +
					"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
				missing := i % 2 * c.missing
				go func() { // the gateway may read it later
					_, _ = fmt.Fprintf(conn, head, c.size, strings.Repeat("x", c.size-missing))
				}()
				if missing == 0 {
					complete = append(complete, conn)
				}
			}
			eventually(t, "the requests do not wait, or are not refused", func() bool {
				return g.DB.Queue().Stats()["/graphql"].Refused >= c.refused && waiting(g) >= c.waiting
			})
			body := `{"query":"{__typename}","extensions":{"x":"` + strings.Repeat("x", 200_000) + `"}}`
			got := g.Do(t, http.MethodPost, "/graphql", body,
				"Content-Type: application/json", "X-Forwarded-For: 203.0.113.10")
			if got.Status != http.StatusOK {
				t.Errorf("another client: status %d: %s", got.Status, got.Body)
			}
			free()
			for i, conn := range complete {
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatalf("request %d: %v", i, err)
				}
				busy := resp.Header.Get("Retry-After") != ""
				if resp.StatusCode != http.StatusBadRequest && !busy || busy && c.refused == 0 {
					t.Errorf("request %d: status %d, %v", i, resp.StatusCode, resp.Header)
				}
				_ = resp.Body.Close()
			}
		})
	}
}

// TestOneAddress checks that requests of many clients of a proxy that is not trusted are one client, which is served.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, queue(admission.Options{Timeout: time.Hour}),
		func(o *testenv.Options) { o.RequestTimeout = time.Minute })
	var all sync.WaitGroup
	for i := range 256 {
		all.Go(func() {
			forwarded := fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", i)
			got := g.Do(t, http.MethodGet, "/api/v1/blocks?limit=5", "", forwarded)
			if got.Status != http.StatusOK {
				t.Errorf("status %d: %s", got.Status, got.Body)
			}
		})
	}
	all.Wait()
}

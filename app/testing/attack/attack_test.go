package attack

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/storage"
	"heliograph/storage/pgtest"
)

var (
	duration = flag.Duration("attack.time", 500*time.Millisecond, "duration of each attack")
	clients  = flag.Int("attack.clients", 16, "number of connections of the attacker")
	target   = flag.String("attack.url", "", "URL of a gateway with the demo network; default: one in the process of the test")
	slowest  = flag.Duration("attack.slowest", time.Second, "maximum latency of the victim, at the 99th percentile, and of health checks")
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The attacker, the victim and the health checks have different addresses.
const (
	attacker = "127.0.0.2"
	victim   = "127.0.0.3"
	prober   = "127.0.0.4"
)

// clientOf returns a client with a loopback address.
func clientOf(address string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 100}}
}

// request is a request of an attack. With abort, the client disconnects after that time.
type request struct {
	path, body string
	abort      time.Duration
}

func graphQL(query string) request {
	b, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		panic(err) // a string always encodes
	}
	return request{path: "/graphql", body: string(b)}
}

// repeat returns n texts, each with its number in place of #.
func repeat(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)) + " ")
	}
	return b.String()
}

var attacks = map[string]request{
	"introspection with aliases": graphQL("{__schema{types{fields{type{" + repeat(50, "a#:fields{"+repeat(17, "d:description")+"}") + "}}}}}"),
	"large leaves": graphQL("{" + repeat(9, "r#:contracts(first:100){nodes{...F}}") + "} fragment F on Contract {" +
		repeat(50, "a#:bytecode b#:runtimeBytecode") + "}"),
	"cold accounts":             {path: "/api/v1/contracts/call", body: `{"data":"0x621000005b600101803150600456","gas":15000000}`},
	"unindexed filters":         graphQL("{" + repeat(30, "r#:transactions(filter:{outcome:FAILURE,types:[CRYPTOTRANSFER]},order:ASC){nodes{id}}") + "}"),
	"trace with memory":         graphQL("{contractTrace(contract:\"0.0.3001\",first:10000,memory:true,storage:true){opcodes{memory stack}}}"),
	"clients that abort":        {path: "/api/v1/transactions?limit=100", abort: 5 * time.Millisecond},
	"as many lists as possible": {path: "/api/v1/accounts?limit=100"},
}

// send sends a request and returns its status, or 0 if it failed.
func send(ctx context.Context, c *http.Client, url string, r request) int {
	if r.abort > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.abort)
		defer cancel()
	}
	method := http.MethodGet
	if r.body != "" {
		method = http.MethodPost
	}
	q, err := http.NewRequestWithContext(ctx, method, url+r.path, strings.NewReader(r.body))
	if err != nil {
		return 0
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(q)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// seen is what a client measured.
type seen struct {
	latencies []time.Duration
	failed    map[int]int
}

func (s *seen) p99() time.Duration {
	slices.Sort(s.latencies)
	return s.latencies[len(s.latencies)*99/100]
}

// watch sends requests one after the other until the time is over.
func watch(ctx context.Context, address, url string, paths ...string) *seen {
	c, s := clientOf(address), &seen{failed: map[int]int{}}
	defer c.CloseIdleConnections()
	for i := 0; ctx.Err() == nil; i++ {
		start := time.Now()
		if status := send(context.WithoutCancel(ctx), c, url, request{path: paths[i%len(paths)]}); status != http.StatusOK {
			s.failed[status]++
		}
		s.latencies = append(s.latencies, time.Since(start))
		time.Sleep(2 * time.Millisecond)
	}
	return s
}

// TestAttacks runs each attack, and checks that other clients and health checks are served at the same time.
func TestAttacks(t *testing.T) { //nolint:paralleltest // measures latencies
	url := *target
	if url == "" {
		url = testenv.Demo(t, testenv.Storage(func(o *storage.Options) { o.MaxConnections, o.MaxWait = 10, 0 })).URL
	}
	measure := func(ctx context.Context) (other, health *seen) {
		var all sync.WaitGroup
		all.Go(func() {
			other = watch(ctx, victim, url, "/api/v1/accounts/0.0.1001", "/api/v1/blocks", "/api/v1/transactions?limit=5")
		})
		all.Go(func() { health = watch(ctx, prober, url, "/health/readiness") })
		all.Wait()
		return other, health
	}
	quiet, cancel := context.WithTimeout(t.Context(), *duration)
	defer cancel()
	other, health := measure(quiet)
	t.Logf("%-26s victim p99 %8s, readiness p99 %8s", "quiet", other.p99().Round(time.Microsecond), health.p99().Round(time.Microsecond))
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			var (
				all  sync.WaitGroup
				sent atomic.Int64
				peak atomic.Uint64
			)
			ctx, cancel := context.WithTimeout(t.Context(), *duration)
			defer cancel()
			c := clientOf(attacker)
			defer c.CloseIdleConnections()
			for range *clients {
				all.Go(func() {
					for ctx.Err() == nil {
						send(ctx, c, url, attack)
						sent.Add(1)
					}
				})
			}
			all.Go(func() {
				for ctx.Err() == nil {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					peak.Store(max(peak.Load(), m.HeapInuse))
					time.Sleep(20 * time.Millisecond)
				}
			})
			other, health := measure(ctx)
			all.Wait()
			t.Logf("%-26s victim p99 %8s, readiness p99 %8s, heap %4d MB, %d requests of the attacker", name, other.p99().Round(time.Microsecond),
				health.p99().Round(time.Microsecond), peak.Load()>>20, sent.Load())
			if len(other.failed)+len(health.failed) > 0 || other.p99() > *slowest || health.p99() > *slowest {
				t.Errorf("failures by status: victim %v, readiness %v", other.failed, health.failed)
			}
		})
	}
}

// TestHalfSentBodies opens connections that send a part of a body, and checks that others are served.
func TestHalfSentBodies(t *testing.T) { //nolint:paralleltest // measures latencies
	g := testenv.Demo(t)
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(attacker)}}
	for range 20 * *clients {
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(g.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		head := "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 524000\r\n\r\n"
		if _, err := io.WriteString(conn, head+strings.Repeat("x", 50_000)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), *duration)
	defer cancel()
	if s := watch(ctx, victim, g.URL, "/api/v1/blocks"); len(s.failed) > 0 || s.p99() > *slowest {
		t.Errorf("p99 %s, failures by status %v", s.p99(), s.failed)
	}
}

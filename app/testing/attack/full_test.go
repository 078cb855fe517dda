//go:build attack

package attack

import (
	"context"
	"flag"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
	"heliograph/storage/pgtest"
)

var (
	binary = flag.String("attack.binary", "../../../bin/heliograph", "gateway to attack")
	procs  = flag.Int("attack.procs", runtime.GOMAXPROCS(0), "GOMAXPROCS of the gateway")
)

// within returns a context that ends after the duration.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestAttacksOnProcess runs each attack against a gateway in a process of its own, and checks its memory too.
func TestAttacksOnProcess(t *testing.T) { //nolint:paralleltest // measures latencies
	attackProcess(t, start(t), math.MaxInt, slices.Sorted(maps.Keys(attacks))...)
}

// TestSmallMemory checks that the memory of a gateway stays below a small limit, and that other clients are served
// nevertheless.
func TestSmallMemory(t *testing.T) { //nolint:paralleltest // measures latencies
	const limit = 256 // MiB
	attackProcess(t, start(t, "--memory-limit", strconv.Itoa(limit<<20)), limit, "clients that do not read",
		"large answers")
}

// attackProcess runs attacks. maxMemory is the maximum resident memory in MiB.
func attackProcess(t *testing.T, p *process, maxMemory int, names ...string) {
	t.Helper()
	other, stranger, health := measure(within(t, *duration), p.url)
	limit := max(5*other.p99(), *slowest)
	t.Logf("%-26s %10s %10s %10s %8s %6s %6s %9s", "attack", "victim", "newcomer", "readiness", "resident", "CPU",
		"GC", "requests")
	row := func(name string, requests string, cpu time.Duration, collector float64) {
		t.Logf("%-26s %10s %10s %10s %5d MB %4.0f %% %4.0f %% %9s", name, round(other.p99()), round(stranger.p99()),
			round(health.p99()), p.usage(t).peak,
			100*cpu.Seconds()/duration.Seconds(), 100*collector, requests)
	}
	row("quiet", "-", 0, 0)
	for _, name := range names {
		p.resetPeak(t)
		before := p.usage(t).cpu
		takenBefore, allBefore := p.collector(t)
		end := beginAttack(t, p.url, name)
		other, stranger, health = measure(within(t, *duration), p.url)
		requests, cpu := end(), p.usage(t).cpu-before
		taken, all := p.collector(t)
		collector := (taken - takenBefore) / (all - allBefore)
		row(name, requests, cpu, collector)
		if peak := p.usage(t).peak; peak > maxMemory || maxMemory == math.MaxInt && collector > 0.25 {
			t.Errorf("%s: resident %d MB, collector %.0f %% of the processor time", name, peak, 100*collector)
		}
		if len(other.failed)+len(stranger.failed)+len(health.failed) > 0 || max(other.p99(), stranger.p99()) > limit ||
			health.p99() > 200*time.Millisecond {
			t.Errorf("%s: failures by status: victim %v, with new connections %v, readiness %v", name, other.failed,
				stranger.failed, health.failed)
		}
	}
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// TestSingleRequests checks the memory and the processor time of one request of each attack, and that nothing runs on
// after its client has left.
func TestSingleRequests(t *testing.T) { //nolint:paralleltest // measures processor time
	p := start(t)
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		r := attacks[name]
		r.abort = 0
		time.Sleep(300 * time.Millisecond)
		p.resetPeak(t)
		before := p.usage(t)
		c := clientOf(attacker)
		status := send(t.Context(), c, p.url, r)
		after := p.usage(t)
		memory, cpu := after.peak-before.resident, after.cpu-before.cpu
		r.abort = 20 * time.Millisecond
		send(t.Context(), c, p.url, r)
		c.CloseIdleConnections()
		time.Sleep(100 * time.Millisecond)
		before = p.usage(t)
		time.Sleep(400 * time.Millisecond)
		rest := p.usage(t).cpu - before.cpu
		t.Logf("%-26s status %d, %3d MB above idle, %8s of CPU, %8s of CPU in the 400 ms that begin 100 ms after "+
			"the client left", name, status, memory, round(cpu), round(rest))
		if memory > 300 || cpu > 3*time.Second || rest > 40*time.Millisecond {
			t.Error(name)
		}
	}
}

// TestConnections checks many connections of one address that are open without requests.
func TestConnections(t *testing.T) { //nolint:paralleltest // measures latencies
	p := start(t)
	const open, most = 7500, 2000
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(attacker)}}
	refused := 0
	for i := range open {
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(i, err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if i < most {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		text, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 503 ") ||
			!strings.Contains(string(text), "\r\nRetry-After: ") {
			t.Fatalf("connection %d: %q %v", i, text, err)
		}
		refused++
	}
	other, stranger, held := measure(within(t, *duration), p.url)
	t.Logf("%d connections open, %d refused: victim p99 %s, with new connections %s, readiness %s, resident %d MB",
		open-refused, refused, round(other.p99()),
		round(stranger.p99()), round(held.p99()), p.usage(t).peak)
	if len(other.failed)+len(stranger.failed)+len(held.failed) > 0 || p.usage(t).peak > 400 {
		t.Error(other.failed, stranger.failed, held.failed)
	}
}

// TestBrokenDatabase breaks the ledger database under load. What does not need it keeps its speed, and its requests
// are served again soon after it works.
func TestBrokenDatabase(t *testing.T) { //nolint:paralleltest // measures latencies
	p := start(t)
	url := p.ledger.URL(embedded.Name)
	status := watch(within(t, *duration), victim, p.url, "/api/v2/summary.json")
	t.Logf("%-28s status page p99 %8s", "quiet", round(status.p99()))
	for _, c := range []struct {
		name string
		fail func(t *testing.T) (repair func())
		path string // of the victim; default: the status page
	}{
		{name: "a locked table", path: "/api/v1/blocks", fail: func(t *testing.T) func() {
			tx, err := pgtest.Connect(t, url).Begin(t.Context())
			if err == nil {
				_, err = tx.Exec(t.Context(), "lock table transaction")
			}
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = tx.Rollback(t.Context()) }
		}},
		{name: "a paused database", fail: func(t *testing.T) func() {
			pid := p.postmaster(t)
			all := append([]int{pid}, children(t, pid)...)
			signal := func(s syscall.Signal) {
				for _, pid := range all {
					_ = syscall.Kill(pid, s)
				}
			}
			signal(syscall.SIGSTOP)
			return func() { signal(syscall.SIGCONT) }
		}},
		{name: "max_connections reached", fail: func(t *testing.T) func() {
			var conns []*pgx.Conn
			admin := pgtest.Connect(t, url)
			pgtest.Exec(t,
				admin, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'heliograph'")
			for {
				conn, err := pgx.Connect(t.Context(), url)
				if err != nil {
					break
				}
				conns = append(conns, conn)
			}
			return func() {
				for _, c := range conns {
					_ = c.Close(t.Context())
				}
			}
		}},
		{name: "kill -9 of a backend", fail: func(t *testing.T) func() {
			for _, pid := range children(t, p.postmaster(t)) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return func() {}
		}},
		{name: "kill -9 of the database", fail: func(t *testing.T) func() {
			pid := p.postmaster(t)
			for _, pid := range append([]int{pid}, children(t, pid)...) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			time.Sleep(200 * time.Millisecond)
			return func() {
				_ = p.ledger.Stop(context.WithoutCancel(t.Context()))
				p.startLedger(t)
			}
		}},
	} {
		end := beginAttack(t, p.url, "transactions")
		repair := c.fail(t)
		if c.path == "" {
			c.path = "/api/v2/summary.json"
		}
		ctx := within(t, *duration)
		health := make(chan *seen, 1)
		go func() { health <- watch(ctx, prober, p.url, "/health/readiness") }()
		other := watch(ctx, victim, p.url, c.path)
		h := <-health
		begin := time.Now()
		repair()
		repaired := time.Since(begin)
		client := clientOf(victim)
		for code := 0; code != http.StatusOK && time.Since(begin) < time.Minute; time.Sleep(10 * time.Millisecond) {
			code = send(t.Context(), client, p.url, request{path: "/api/v1/transactions?limit=5"})
		}
		recovered := time.Since(begin) - repaired
		client.CloseIdleConnections()
		t.Logf("%-28s %s p99 %8s, readiness p99 %8s %v, ledger served %.2f s after the repair, attacker %s requests",
			c.name, c.path, round(other.p99()),
			round(h.p99()), h.failed, recovered.Seconds(), end())
		if len(other.failed) > 0 || other.p99() > max(5*status.p99(), *slowest) || h.p99() > 200*time.Millisecond ||
			recovered > 5*time.Second {
			t.Errorf("%s: failures %v", c.name, other.failed)
		}
		time.Sleep(time.Second)
	}
}

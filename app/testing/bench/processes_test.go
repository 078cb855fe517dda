package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"heliograph/app/gateway"
	"heliograph/storage/demo/demotest"
)

var binaries = flag.String("processes.gateways", "",
	"gateways to compare: name=file of a heliograph command, separated by commas (default: that of this tree)")

// processClients is the number of connections to a process.
const processClients = 12

// more returns further requests, so that with those of requests there are thirty.
func more(tb testing.TB, pool *pgxpool.Pool) []request {
	tb.Helper()
	text := func(sql string) string { return textOf(tb, pool, sql) }
	num := func(sql string) string {
		return "0.0." + text(`select (id % (1::bigint << 38))::text from (`+sql+`) t`)
	}
	plain := num(`select min(payer_account_id) as id from transaction`)
	fungible := num(`select token_id as id from token_account where associated
group by 1 order by count(*) desc limit 1`)
	contract := num(`select contract_id as id from contract_result where contract_id > 0
group by 1 order by count(*) desc limit 1`)
	block := text(`select hash from record_file order by index offset 20 limit 1`)
	schedule := num(`select schedule_id as id from schedule order by 1 offset 3 limit 1`)
	nft := strings.Split(text(`select token_id % (1::bigint << 38) || ' ' || serial_number from nft
where account_id is not null and deleted is not true order by token_id, serial_number offset 10 limit 1`), " ")
	busiest := num(`select topic_id as id from topic_message group by 1 order by count(*) desc limit 1`)
	day := strings.Split(text(`select end_ns / 1000000000 - 86400 || ' ' || end_ns / 1000000000 from (
select max(consensus_timestamp) as end_ns from contract_log) t`), " ")
	return []request{
		{"plain-account", "/api/v1/accounts/" + plain + "?transactions=false", false},
		{"nfts-of-account", "/api/v1/accounts/" + num(`select account_id as id from nft where deleted is not true
and account_id is not null group by 1 order by abs(count(*) - 40), 1 limit 1`) + "/nfts", false},
		{"message", "/api/v1/topics/" + busiest + "/messages/2", false},
		{"topic", "/api/v1/topics/" + busiest, false},
		{"schedule", "/api/v1/schedules/" + schedule, false},
		{"hbar-allowances", "/api/v1/accounts/" + num(`select owner as id from crypto_allowance where amount > 0
group by 1 order by count(*) desc, 1 limit 1`) + "/allowances/crypto", false},
		{"token-allowances", "/api/v1/accounts/" + num(`select owner as id from token_allowance where amount > 0
group by 1 order by count(*) desc, 1 limit 1`) + "/allowances/tokens", false},
		{"rewards", "/api/v1/accounts/" + num(`select account_id as id from staking_reward_transfer
group by 1 order by count(*) desc, 1 limit 1`) + "/rewards", false},
		{"token-balances", "/api/v1/tokens/" + fungible + "/balances", false},
		{"tokens-of-account", "/api/v1/accounts/" + num(`select account_id as id from token_account where associated
group by 1 order by abs(count(*) - 20), 1 limit 1`) + "/tokens", false},
		{"balances", "/api/v1/balances", false},
		{"logs-of-a-day", "/api/v1/contracts/results/logs?timestamp=gte:" + day[0] + "&timestamp=lt:" + day[1], false},
		{"results", "/api/v1/contracts/results", false},
		{"results-of-contract", "/api/v1/contracts/" + contract + "/results", false},
		{"logs-of-contract", "/api/v1/contracts/" + contract + "/results/logs", false},
		{"contract", "/api/v1/contracts/" + contract, false},
		{"block-by-hash", "/api/v1/blocks/0x" + block, false},
		{"nft", "/api/v1/tokens/0.0." + nft[0] + "/nfts/" + nft[1], false},
		{"supply", "/api/v1/network/supply", false},
		{"nodes", "/api/v1/network/nodes", false},
		{"tokens", "/api/v1/tokens", false},
	}
}

// process is a server in a process of its own.
type process struct {
	name, address string
	pid           int
}

// handName is the name of the process with the hand-written handlers.
const handName = "hand"

// graphQL is the suffix of the names of variants that send documents.
const graphQL = "-graphql"

// cpu returns the CPU time of all threads.
func (p *process) cpu(tb testing.TB) time.Duration {
	tb.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.pid))
	if err != nil {
		tb.Fatal(err)
	}
	return backendTime(tb, files)
}

// start starts a command that listens on the address of a variable of the environment, and waits until it does.
func start(tb testing.TB, name string, cmd *exec.Cmd) *process {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once: its port is free
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{name: name, address: l.Addr().String()}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	cmd.Env = append(append(os.Environ(), cmd.Env...), "HELIOGRAPH_LISTEN="+p.address, "HELIOGRAPH_ADMIN_LISTEN=")
	var errors strings.Builder
	cmd.Stderr = &errors
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.pid = cmd.Process.Pid
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(tb.Context(), "tcp", p.address)
		if err == nil {
			_ = conn.Close()
			return p
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%s does not listen: %v\n%s", name, err, errors.String())
		}
	}
}

// processes starts the hand-written handler and the gateways on the database of the rig.
func processes(b *testing.B, url string) []*process {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	hand := exec.CommandContext(b.Context(), self)
	hand.Env = []string{"HELIOGRAPH_HAND_WRITTEN=1", "HELIOGRAPH_DATABASE_URL=" + url}
	all := []*process{start(b, handName, hand)}
	list := *binaries
	if list == "" {
		file := filepath.Join(b.TempDir(), "heliograph")
		build := exec.CommandContext(b.Context(), "go", "build", "-o", file, "heliograph/cmd/heliograph")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		list = "gateway=" + file
	}
	for one := range strings.SplitSeq(list, ",") {
		name, file, _ := strings.Cut(one, "=")
		cmd := exec.CommandContext(b.Context(), file, "serve")
		cmd.Env = []string{"HELIOGRAPH_DATABASE_URL=" + url, "HELIOGRAPH_RESPONSE_CACHE_BYTES=0", "HELIOGRAPH_DEMO=off"}
		if os.Getenv("HELIOGRAPH_DATABASE_URL") == "" {
			cmd.Env = append(cmd.Env, "HELIOGRAPH_FIXED_TIME="+demotest.Now().Format(time.RFC3339))
		}
		all = append(all, start(b, name, cmd))
	}
	return all
}

// handMain serves the hand-written handlers as a process of its own, with a log line and metrics of each request as
// the gateway has them.
func handMain() error {
	settings, err := pgxpool.ParseConfig(os.Getenv("HELIOGRAPH_DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("reading the URL: %w", err)
	}
	settings.MaxConns = 10
	settings.ConnConfig.RuntimeParams["enable_bitmapscan"] = "off"
	pool, err := pgxpool.NewWithConfig(context.Background(), settings)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	gateway.SetCollector()
	lines := gateway.NewAccessLog(os.Stderr, func(out io.Writer) slog.Handler { return slog.NewJSONHandler(out, nil) })
	log := slog.New(slog.NewJSONHandler(lines, nil))
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "seconds", Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
	}, []string{"route", "status"})
	next := handWritten(pool)
	handler := func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		took := time.Since(start)
		seconds.WithLabelValues(r.Pattern, strconv.Itoa(rec.status)).Observe(took.Seconds())
		log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", r.Method),
			slog.String("path", r.URL.Path), slog.String("query", r.URL.RawQuery), slog.Int("status", rec.status),
			slog.Int("bytes", rec.size), slog.Duration("took", took), slog.String("client", r.RemoteAddr))
	}
	server := &http.Server{
		Addr: os.Getenv("HELIOGRAPH_LISTEN"), Handler: http.HandlerFunc(handler), ReadHeaderTimeout: time.Minute,
	}
	return server.ListenAndServe()
}

// recorder remembers the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	status, size int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	r.size += n
	return n, err
}

// over is a way whose clients have a connection each to a process, on which they repeat a request.
func over(b *testing.B, p *process, name, request string) way {
	b.Helper()
	return newWayOf(b, name, processClients, func() client {
		conn, err := net.Dial("tcp", p.address) //nolint:noctx // ends with the test
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		to, from := newSink(), bufio.NewReaderSize(conn, 64<<10)
		return client{to: to, ask: func() {
			to.status = 0
			if _, err := io.WriteString(conn, request); err != nil {
				return
			}
			resp, err := http.ReadResponse(from, nil)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, resp.Body); err == nil && resp.Body.Close() == nil {
				to.status = resp.StatusCode
			}
		}}
	})
}

// processCost is what requests cost a server and PostgreSQL.
type processCost struct {
	requests   int
	server, pg time.Duration
}

// perTurn is the number of requests on each connection before the next variant is measured.
const perTurn = 50

// BenchmarkProcesses compares servers in processes of their own under twelve connections: the hand-written handler for
// the requests that it has, and REST and GraphQL of each gateway, without caches of responses. They take turns. It
// prints the CPU time of a request in the server and in PostgreSQL, and the ratios of REST and GraphQL to the
// hand-written handler and of each gateway to the first one. At the end it prints their geometric means.
func BenchmarkProcesses(b *testing.B) {
	r := newRig(b)
	all := processes(b, r.pool.Config().ConnString())
	written := requests(b, r.pool)
	ratios := means{}
	for i, q := range slices.Concat(written, more(b, r.pool)) {
		b.Run(q.name, func(b *testing.B) {
			get, post := r.texts(b, q.path)
			var ways []way
			var of []*process
			for _, p := range all {
				if p.name != handName {
					ways = append(ways, over(b, p, p.name, get), over(b, p, p.name+graphQL, post))
					of = append(of, p, p)
				} else if i < len(written) {
					ways, of = append(ways, over(b, p, p.name, get)), append(of, p)
				}
			}
			costs := make([]processCost, len(ways))
			for i, w := range ways { // statements are prepared, plans compiled
				new(processCost).measure(b, r, of[i], w)
			}
			for round := 0; b.Loop(); round++ {
				for i := range ways {
					turn := (i + round) % len(ways)
					costs[turn].measure(b, r, of[turn], ways[turn])
				}
			}
			ratios.report(b, ways, costs, all[1].name)
		})
	}
	ratios.print()
}

// texts returns the requests for a path: that of REST, and its document as a request of GraphQL.
func (r *rig) texts(b *testing.B, path string) (get, post string) {
	b.Helper()
	x, err := r.rest.Explain(b.Context(), path, nil)
	if err != nil {
		b.Fatal(err)
	}
	body, err := json.Marshal(x)
	if err != nil {
		b.Fatal(err)
	}
	const head = " HTTP/1.1\r\nHost: localhost\r\n"
	return "GET " + path + head + "\r\n", fmt.Sprintf("POST /graphql%sContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", head, len(body), body)
}

// measure adds the cost of a turn. It repeats the turn if a connection to the database ends meanwhile, at most twice.
func (c *processCost) measure(b *testing.B, r *rig, p *process, w way) {
	b.Helper()
	var err error
	for range 3 {
		backends := r.backends(b)
		before, gone := cpuOf(backends)
		server := p.cpu(b)
		w.askAll(perTurn)
		server = p.cpu(b) - server
		for _, one := range w.clients {
			if one.to.status != http.StatusOK {
				b.Fatalf("%s answers %d", w.name, one.to.status)
			}
		}
		var after time.Duration
		after, err = cpuOf(backends)
		if err = cmp.Or(gone, err); err == nil {
			c.server += server
			c.pg += after - before
			c.requests += perTurn * len(w.clients)
			return
		}
	}
	b.Fatal(err)
}

func (c processCost) micros(of time.Duration) float64 {
	return float64(of.Microseconds()) / float64(c.requests)
}

// means are sums of logarithms of ratios, and how many there are.
type means map[string][2]float64

// report reports a request: times, and ratios to the hand-written handler, of GraphQL to REST of the same gateway, and
// of each gateway to the first one.
func (m means) report(b *testing.B, ways []way, costs []processCost, first string) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // turns, not requests
	for i, c := range costs {
		name := ways[i].name
		b.ReportMetric(c.micros(c.server), name+"-µs")
		b.ReportMetric(c.micros(c.server+c.pg), name+"+pg-µs")
		rest, isGraphQL := strings.CutSuffix(name, graphQL)
		base := first
		if isGraphQL {
			base += graphQL
		}
		for at, other := range costs[:i] {
			if to := ways[at].name; to == handName || to == rest || to == base {
				m.add(b, name+"/"+to, c.server, other.server)
				m.add(b, name+"/"+to+"+pg", c.server+c.pg, other.server+other.pg)
			}
		}
	}
}

func (m means) add(b *testing.B, name string, of, base time.Duration) {
	b.Helper()
	ratio := float64(of) / float64(base)
	b.ReportMetric(ratio, name)
	sum := m[name]
	m[name] = [2]float64{sum[0] + math.Log(ratio), sum[1] + 1}
}

func (m means) print() {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		sum := m[name]
		fmt.Printf("geometric mean of %3.0f: %-50s %.3f\n", sum[1], name, math.Exp(sum[0]/sum[1]))
	}
}

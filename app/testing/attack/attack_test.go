//go:build attack

package attack

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

var (
	duration = flag.Duration("attack.time", time.Second, "duration of each attack")
	clients  = flag.Int("attack.clients", 16, "number of connections of the attacker")
	target   = flag.String("attack.url",
		"", "URL of a gateway with the demo network; default: one in the process of the test")
	slowest = flag.Duration("attack.slowest", 3*time.Second,
		"maximum latency of the victim, at the 99th percentile, and of health checks")
)

func TestMain(m *testing.M) {
	if os.Getenv(attackEnv) != "" {
		attack()
		return
	}
	if os.Getenv(driveEnv) != "" {
		sendLoad()
		return
	}
	pgtest.Main(m)
}

// The attacker, the victim and the health checks have different addresses.
const (
	attacker = "127.0.0.2"
	victim   = "127.0.0.3"
	prober   = "127.0.0.4"
)

// clientOf returns a client with a loopback address.
func clientOf(address string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 100},
	}
}

// request is a request of an attack. With abort or unread, the client disconnects after that time.
type request struct {
	path, body string
	abort      time.Duration
	unread     time.Duration // how long the client does not read the response
	unique     bool          // each § is replaced by a number of the request
}

func graphQL(query string) request {
	b, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		panic(err) // a string always encodes
	}
	return request{path: "/graphql", body: string(b)}
}

func unique(r request) request {
	r.unique = true
	return r
}

// repeat returns n texts, each with its number in place of #.
func repeat(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)) + " ")
	}
	return b.String()
}

// largeAnswer has a response of megabytes that is not cached.
var largeAnswer = unique(graphQL("{" + repeat(4, "r#_§:transactions(first:100){nodes{...F}}") +
	"} fragment F on Transaction {" +
	repeat(50, "a#:consensusTimestamp b#:id c#:transactionHash d#:transactionId") + "}"))

var attacks = map[string]request{
	"introspection with aliases": graphQL("{__schema{types{fields{type{" +
		repeat(50, "a#:fields{"+repeat(17, "d:description")+"}") + "}}}}}"),
	"large leaves": graphQL("{" + repeat(9, "r#:contracts(first:100){nodes{...F}}") + "} fragment F on Contract {" +
		repeat(50, "a#:bytecode b#:runtimeBytecode") + "}"),
	"cold accounts": {
		path: "/api/v1/contracts/call",
		body: `{"data":"0x621000005b600101803150600456","gas":15000000}`,
	},
	"unindexed filters": graphQL("{" + repeat(30,
		"r#:transactions(filter:{outcome:FAILURE,types:[CRYPTOTRANSFER]},order:ASC){nodes{id}}") + "}"),
	"trace with memory": graphQL("{contractTrace(contract:\"0.0.3001\",first:10000,memory:true," +
		"storage:true){opcodes{memory stack}}}"),
	"new documents":             unique(graphQL("{" + repeat(500, "a#_§:__typename") + "}")),
	"large answers":             largeAnswer,
	"clients that do not read":  {path: "/graphql", body: largeAnswer.body, unique: true, unread: time.Second},
	"clients that abort":        {path: "/api/v1/transactions?limit=100", abort: 5 * time.Millisecond},
	"as many lists as possible": {path: "/api/v1/accounts?limit=100"},
	"transactions":              {path: "/api/v1/transactions?limit=100"},
}

// sent is the number of requests of the process.
var sent atomic.Int64

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
	if n := sent.Add(1); r.unique {
		r.body = strings.ReplaceAll(r.body, "§", strconv.FormatInt(n, 36))
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
	if r.unread > 0 {
		time.Sleep(r.unread)
		return resp.StatusCode
	}
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

// newcomer returns a client that opens a connection for each request.
func newcomer() *http.Client {
	c := clientOf(victim)
	c.Transport.(*http.Transport).DisableKeepAlives = true
	return c
}

// watch sends requests one after the other until the time is over.
func watch(ctx context.Context, address, url string, paths ...string) *seen {
	return watchFrom(ctx, clientOf(address), url, paths...)
}

func watchFrom(ctx context.Context, c *http.Client, url string, paths ...string) *seen {
	s := &seen{failed: map[int]int{}}
	defer c.CloseIdleConnections()
	for i := 0; ctx.Err() == nil; i++ {
		start := time.Now()
		if status := send(context.WithoutCancel(ctx), c, url,
			request{path: paths[i%len(paths)]}); status != http.StatusOK {
			s.failed[status]++
		}
		s.latencies = append(s.latencies, time.Since(start))
		time.Sleep(2 * time.Millisecond)
	}
	return s
}

// wellBehaved are the requests of the victim: point reads and lists.
var wellBehaved = []string{"/api/v1/accounts/0.0.1001", "/api/v1/blocks", "/api/v1/transactions?limit=5"}

// measure measures a victim, one that opens a new connection for each request, and the health checks until the context
// ends.
func measure(ctx context.Context, url string) (other, stranger, health *seen) {
	var all sync.WaitGroup
	all.Go(func() { other = watch(ctx, victim, url, wellBehaved...) })
	all.Go(func() { stranger = watchFrom(ctx, newcomer(), url, "/api/v1/blocks") })
	all.Go(func() { health = watch(ctx, prober, url, "/health/readiness") })
	all.Wait()
	return other, stranger, health
}

// attackEnv is the environment variable with the name of the attack and the URL for a process that attacks. The
// attacker has a process of its own with a low priority, so that it does not take the processors from the victim.
const attackEnv = "HELIOGRAPH_TEST_ATTACK"

// beginAttack runs an attack in another process. The caller must call end, which returns the number of requests.
func beginAttack(t *testing.T, url, name string) (end func() string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-attack.clients", strconv.Itoa(*clients))
	cmd.Env = append(os.Environ(), attackEnv+"="+name+"\n"+url)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceValue(func() string {
		_ = in.Close()
		_ = cmd.Wait()
		return out.String()
	})
	t.Cleanup(func() { end() })
	return end
}

// attack attacks until its standard input ends, and prints the number of requests.
func attack() {
	flag.Parse()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10)
	name, url, _ := strings.Cut(os.Getenv(attackEnv), "\n")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var all sync.WaitGroup
	c := clientOf(attacker)
	for range *clients {
		all.Go(func() {
			for ctx.Err() == nil {
				send(ctx, c, url, attacks[name])
			}
		})
	}
	all.Wait()
	fmt.Print(sent.Load())
}

// TestAttacks runs each attack, and checks that other clients and health checks are served at the same time.
func TestAttacks(t *testing.T) { //nolint:paralleltest // measures latencies
	url := *target
	if url == "" {
		url = testenv.Demo(t, func(o *testenv.Options) { o.Storage.MaxConnections = 10 }).URL
	}
	run := func(name string, end func() string) {
		ctx, cancel := context.WithTimeout(t.Context(), *duration)
		defer cancel()
		other, stranger, health := measure(ctx, url)
		requests := end()
		t.Logf("%-26s p99 of the victim %8s, with new connections %8s, readiness %8s, attacker %s requests",
			name, other.p99().Round(100*time.Microsecond),
			stranger.p99().Round(100*time.Microsecond), health.p99().Round(100*time.Microsecond), requests)
		if len(other.failed)+len(stranger.failed)+len(health.failed) > 0 ||
			max(other.p99(), stranger.p99(), health.p99()) > *slowest {
			t.Errorf("%s: failures by status: victim %v, with new connections %v, readiness %v", name, other.failed,
				stranger.failed, health.failed)
		}
	}
	run("quiet", func() string { return "no" })
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		run(name, beginAttack(t, url, name))
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

//go:build attack

package attack

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

var (
	loadTime  = flag.Duration("load.time", 20*time.Second, "duration of a measurement; three times that of open loops")
	loadShort = flag.Bool("load.short", false, "less of everything, and neither rates nor latencies are judged: "+
		"other processes on the machine change them")
	database = flag.String("load.database", "", "URL of the ledger database; default: the demo network")
)

// ordinary are the requests of an ordinary client, which any database can answer.
var ordinary = []string{"/api/v1/blocks", "/api/v1/transactions?limit=5", "/api/v1/accounts?limit=2"}

// queueTimeout is the default of --queue-timeout.
const queueTimeout = 5 * time.Second

// wallet is a GraphQL query of a wallet. In requests it has another number each time, so that the cache has no response
// for it.
const wallet = `query Wallet($id: AccountRef!) { account(id: $id) { entityId memo balanceValue { display } ` +
	`tokens(first: 10) { nodes { balanceValue { display } token { name symbol } } } ` +
	`transfers(first: 10) { nodes { consensusTimestamp amountValue { display } transaction { type result } } } } }`

// of returns the full number of something, or the one for short tests.
func of(full, short int) int {
	if *loadShort {
		return short
	}
	return full
}

// startLoaded starts a gateway over the database of the test, and returns the requests by kind. In a short test,
// requests wait for as long as it takes, because the machine can be busy.
func startLoaded(t *testing.T, args ...string) (p *process, requests map[string]string) {
	t.Helper()
	args = append(args, "--evm-requests-per-second", "1000000", "--evm-gas-per-second", "1000000000000000")
	if *loadShort {
		args = append([]string{"--queue-timeout", "2m", "--request-timeout", "3m"}, args...)
	}
	if *database == "" {
		p = startOver(t, testenv.Filled.Fresh(t), testenv.Now(), args...)
	} else {
		p = startOver(t, *database, newestBlock(t), args...)
	}
	read := func(path string, into any) {
		t.Helper()
		resp, err := http.Get(p.url + path) //nolint:noctx // the test has a timeout
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			t.Fatal(path, err)
		}
	}
	var blocks struct{ Blocks []struct{ Number int64 } }
	read("/api/v1/blocks?limit=25", &blocks)
	var transactions struct {
		Transactions []struct{ Transfers []struct{ Account string } }
	}
	read("/api/v1/transactions?limit=25&transactiontype=cryptotransfer", &transactions)
	if len(blocks.Blocks) == 0 || len(transactions.Transactions) == 0 {
		t.Fatal("the database has no blocks or no transfers")
	}
	transfers := transactions.Transactions[0].Transfers
	account := transfers[len(transfers)-1].Account
	variables, err := json.Marshal(map[string]any{
		"query": wallet, "variables": map[string]string{"id": account}, "extensions": map[string]string{"n": number},
	})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Errors []json.RawMessage }
	read("/graphql?"+url.Values{"query": {wallet}, "variables": {`{"id":"` + account + `"}`}}.Encode(), &answer)
	if len(answer.Errors) > 0 {
		t.Fatalf("the query of the wallet fails: %s", answer.Errors)
	}
	return p, map[string]string{
		"block":           get(fmt.Sprintf("/api/v1/blocks/%d", blocks.Blocks[len(blocks.Blocks)-1].Number)),
		"account":         get("/api/v1/accounts/" + account),
		"25 accounts":     get("/api/v1/accounts?limit=25"),
		"25 transactions": get("/api/v1/transactions?limit=25"),
		"results":         get("/api/v1/contracts/results?limit=25"),
		"supply":          get("/api/v1/network/supply"),
		"wallet":          post("/graphql", string(variables)),
		"call":            post("/api/v1/contracts/call", `{"data":"0x600160005260206000f3","gas":100000}`),
	}
}

// newestBlock returns the time of the newest block of the database.
func newestBlock(t *testing.T) (at time.Time) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), *database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var ns int64
	if err := conn.QueryRow(t.Context(), `select max(consensus_end) from record_file`).Scan(&ns); err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, ns+1e9).UTC()
}

// kinds are the kinds of requests of closed loops.
func kinds() []string {
	if *loadShort {
		return []string{"block", "25 accounts", "wallet", "call"}
	}
	return []string{"block", "account", "25 accounts", "25 transactions", "results", "supply", "wallet", "call"}
}

// busy keeps connections of one address busy with a request for a time.
func busy(t *testing.T, p *process, connections int, text string, during time.Duration) *result {
	t.Helper()
	l := load{Address: attacker, Connections: connections, Request: text}
	return drive{Server: host(p.url), Loads: []load{l}, Warm: during / 4, During: during}.run(t)[0]
}

// TestLoadClosed keeps connections of one address busy. No request is refused, more connections do not lower the rate,
// and all wait for about the same time.
func TestLoadClosed(t *testing.T) { //nolint:paralleltest // measures latencies
	p, requests := startLoaded(t)
	numbers := []int{1, 8, 16, 64, 256, 1000}
	if *loadShort {
		numbers = []int{16, 64, 256}
	}
	t.Logf("%-16s %12s %9s %9s %9s %9s %9s %9s",
		"request", "connections", "200s/s", "of best", "other", "p50", "p99", "of limit")
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) { closed(t, p, kind, requests[kind], numbers) })
	}
}

// closed keeps numbers of connections busy with a request, in turns, because the speed of a machine changes within
// seconds. Rates are medians of the rounds. The p99 of a round is judged by the rate of that round, and the mean of the
// rounds counts, so that one with a pause counts too.
func closed(t *testing.T, p *process, kind, text string, numbers []int) {
	t.Helper()
	rounds := of(10, 1)
	results, rates, best := map[int][]*result{}, map[int]float64{}, 0.0
	for range rounds {
		for _, n := range numbers {
			results[n] = append(results[n], busy(t, p, n, text, *loadTime/time.Duration(rounds)))
		}
	}
	for n, all := range results {
		slices.SortFunc(all, func(a, b *result) int { return cmp.Compare(a.rate(), b.rate()) })
		rates[n] = all[rounds/2].rate()
		best = max(best, rates[n])
	}
	for _, n := range numbers {
		rate, r := rates[n], sum(results[n])
		late := 0.0 // the mean of the p99 of the rounds, as a part of its limit
		for _, round := range results[n] {
			cycle := float64(n) / max(1, round.rate()) // in seconds
			most := 2 * cycle
			if n < 64 {
				most = max(0.04, 4*cycle)
			}
			late += round.Statuses[http.StatusOK].at(0.99).Seconds() / most / float64(rounds)
		}
		ok := r.Statuses[http.StatusOK]
		t.Logf("%-16s %12d %9.0f %7.0f %% %9d %9s %9s %9.2f",
			kind, n, rate, 100*rate/best, r.other(), ok.at(0.5), ok.at(0.99), late)
		unfit := late > 1 || n >= 64 && rate < 0.95*best
		served := float64(n)/max(1, rate) <= queueTimeout.Seconds()
		if r.other() > 0 && (*loadShort || served) || unfit && !*loadShort {
			t.Errorf("%d connections: %.0f of %.0f requests/s, %d others, p99 %s is %.2f of its limit",
				n, rate, best, r.other(), ok.at(0.99), late)
		}
	}
}

// TestLoadShares keeps 32 connections of each of eight addresses busy: they get the same number of responses. Then one
// of them sends expensive requests. It gets fewer responses, and the others keep their latency.
func TestLoadShares(t *testing.T) { //nolint:paralleltest // measures latencies
	p, requests := startLoaded(t)
	run := func(last string) (shares []float64, p99s []time.Duration) {
		d := drive{Server: host(p.url), Warm: *loadTime / 4, During: *loadTime}
		for i, address := range addresses(8) {
			kind := "block"
			if i == 7 {
				kind = last
			}
			d.Loads = append(d.Loads, load{Address: address, Connections: 32, Request: requests[kind]})
		}
		all := d.run(t)
		total := sum(all)
		for i, r := range all {
			shares = append(shares, r.rate()*8/total.rate())
			p99s = append(p99s, r.Statuses[http.StatusOK].at(0.99))
			if r.other() > 0 {
				t.Errorf("address %d: %d requests are not served", i, r.other())
			}
		}
		t.Logf("the last address sends %-8s: %.0f requests/s, shares %.2f, p99 %v", last, total.rate(), shares, p99s)
		return shares, p99s
	}
	shares, p99s := run("block")
	tolerance := float64(of(15, 50)) / 100
	for i, share := range shares {
		if share < 1-tolerance || share > 1+tolerance {
			t.Errorf("address %d has %.2f of its share", i, share)
		}
	}
	mixed, later := run("results")
	if mixed[7] > 0.9*shares[7] {
		t.Errorf("the expensive requests have %.2f of the share, the others had %.2f", mixed[7], shares[7])
	}
	for i, p99 := range later[:7] {
		if p99 > 2*p99s[i] && !*loadShort {
			t.Errorf("address %d: p99 %s instead of %s", i, p99, p99s[i])
		}
	}
}

// TestLoadOpen sends requests at fixed rates from eight addresses. The gateway serves what it can, and refuses the
// rest at once. An ordinary client is served soon afterwards.
func TestLoadOpen(t *testing.T) { //nolint:paralleltest // measures latencies
	timeout := queueTimeout
	if *loadShort {
		timeout = time.Second // so that requests are refused
	}
	p, requests := startLoaded(t, "--queue-timeout", timeout.String())
	connections, during := of(1500, 300), 3**loadTime
	send := func(n int, rate float64, d time.Duration) *result {
		all := drive{Server: host(p.url), During: d}
		for _, address := range addresses(8) {
			l := load{Address: address, Connections: n, Rate: rate / 8, Request: requests["25 accounts"]}
			all.Loads = append(all.Loads, l)
		}
		return sum(all.run(t))
	}
	send(2, 0, *loadTime/4)
	capacity := func() float64 { return send(2, 0, *loadTime/2).rate() }
	quiet := watch(within(t, time.Second), victim, p.url, ordinary...).p99()
	t.Logf("p99 of an ordinary client %s", quiet)
	factors := []float64{0.9, 1.2, 2, 10}
	if *loadShort {
		factors = []float64{10}
	}
	for _, times := range factors {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			before := capacity()
			r := send(connections, times*before, during)
			served, refused := r.Statuses[http.StatusOK], r.Statuses[http.StatusServiceUnavailable]
			t.Logf("%4.1f × %4.0f/s: %4.0f/s served p50 %s p99 %s",
				times, before, r.rate(), served.at(0.5), served.at(0.99))
			t.Logf("      %d refused p50 %s p99 %s, %d failed, %d without a connection, %d MB",
				r.count(503), refused.at(0.5), refused.at(0.99), r.count(0), r.Unsent, p.usage(t).peak)
			if failed := r.other() - r.count(503); r.Bare > 0 || failed > 0 {
				t.Errorf("%d refusals without a usable Retry-After, %d failures", r.Bare, failed)
			}
			time.Sleep(timeout)
			after := watch(within(t, time.Second), victim, p.url, ordinary...)
			t.Logf("      afterwards an ordinary client has p99 %s", after.p99())
			if slow := after.p99() > max(50*time.Millisecond, 5*quiet); len(after.failed) > 0 || slow && !*loadShort {
				t.Errorf("afterwards p99 %s, failures %v", after.p99(), after.failed)
			}
			mean := (before + capacity()) / 2 // the speed of a machine changes within seconds
			goodput, wanted := r.rate()/mean, 0.9*min(times*before/mean, 1)
			late := refused.at(0.99) > 50*time.Millisecond
			t.Logf("      goodput %3.0f %% of the capacity, which is %4.0f/s", 100*goodput, mean)
			if (goodput < wanted || late || times < 1 && r.other() > 0) && !*loadShort {
				t.Errorf("goodput %.2f of %.2f, refusals after %s, %d others",
					goodput, wanted, refused.at(0.99), r.other())
			}
		})
	}
}

// TestLoadIdle keeps 64 connections busy beside 10,000 idle connections of ten addresses, and 2,000 subscriptions.
func TestLoadIdle(t *testing.T) { //nolint:paralleltest // measures latencies
	p, requests := startLoaded(t)
	idle, subscriptions := of(1000, 100), of(2000, 200)
	for _, address := range addresses(10) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
		for range idle {
			conn, err := d.DialContext(t.Context(), "tcp", host(p.url))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			_, _ = io.WriteString(conn, get("/health/liveness"))
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%v: %v", err, resp)
			}
			_ = resp.Body.Close()
		}
	}
	const perSocket = 50
	for range subscriptions / perSocket {
		conn, resp, err := websocket.Dial(t.Context(), p.url+"/graphql", &websocket.DialOptions{
			Subprotocols: []string{"graphql-transport-ws"}, HTTPClient: clientOf(prober),
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body // belongs to the connection
		t.Cleanup(func() { _ = conn.CloseNow() })
		messages := []string{`{"type":"connection_init"}`}
		for i := range perSocket {
			const subscribe = `{"type":"subscribe","id":"%d","payload":{"query":"subscription { blocks { number } }"}}`
			messages = append(messages, fmt.Sprintf(subscribe, i))
		}
		for _, m := range messages {
			if err := conn.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			for {
				_, b, err := conn.Read(t.Context())
				if err != nil {
					return
				}
				if strings.Contains(string(b), `"error"`) {
					t.Errorf("a subscription: %s", b)
				}
			}
		}()
	}
	r := busy(t, p, 64, requests["25 accounts"], *loadTime)
	t.Logf("%d idle connections, %d subscriptions: %.0f requests/s, p99 %s, %d others, %d MB",
		10*idle, subscriptions, r.rate(), r.Statuses[200].at(0.99), r.other(), p.usage(t).peak)
	if r.other() > 0 {
		t.Errorf("%d requests are not served", r.other())
	}
}

// TestLoadBodies sends large bodies from 2,000 connections to a gateway with little memory: it stays below the limit,
// and others are served.
func TestLoadBodies(t *testing.T) { //nolint:paralleltest // measures memory
	const limit = 256 // MiB
	p, _ := startLoaded(t, "--memory-limit", strconv.Itoa(limit<<20))
	quiet := watch(within(t, time.Second), victim, p.url, ordinary...).p99()
	const padding = 512_000
	text := post("/graphql", `{"query":"{blocks(first:100){nodes{number}}}","extensions":{"x":"§"}}`)
	length := strings.Index(text, "Content-Length: ") + len("Content-Length: ")
	_, body, _ := strings.Cut(text, "\r\n\r\n")
	text = text[:length] + strconv.Itoa(len(body)-len("§")+padding) + "\r\n\r\n" + body
	d := drive{Server: host(p.url), During: *loadTime, Nice: 10} // as attackers
	for _, address := range addresses(2) {
		l := load{Address: address, Connections: 1000, Request: text, Padding: padding, Pause: time.Second}
		d.Loads = append(d.Loads, l)
	}
	p.resetPeak(t)
	ctx, cancel := context.WithCancel(t.Context())
	var other *seen
	var all sync.WaitGroup
	all.Go(func() { other = watch(ctx, victim, p.url, ordinary...) })
	sent := sum(d.run(t))
	cancel()
	all.Wait()
	peak := p.usage(t).peak
	t.Logf("2,000 bodies: %d served, %d refused, %d failed; victim p99 %s (quiet %s), failures %v, %d MB",
		sent.count(200), sent.count(503), sent.count(0), other.p99(), quiet, other.failed, peak)
	slow := other.p99() > max(50*time.Millisecond, 5*quiet)
	if len(other.failed) > 0 || peak > limit || sent.other() > sent.count(503) || sent.Bare > 0 || slow && !*loadShort {
		t.Errorf("victim p99 %s, failures %v, resident %d MB, %d requests failed", other.p99(), other.failed, peak,
			sent.other()-sent.count(503))
	}
}

//go:build soak

package soak

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage"
	"heliograph/storage/migrations"
	"heliograph/storage/statuspages"
)

// fleet is three gateways over one database, behind HAProxy.
type fleet struct {
	network   *network
	gateways  [3]*exec.Cmd
	addresses [3]string
	proxy     string // address
	args      []string
}

// shutdownDelay is longer than HAProxy needs to notice that a gateway is not ready.
const shutdownDelay = "1500ms"

const proxyConfig = `
global
  maxconn 4000
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 2s
frontend public
  bind %s
  default_backend gateways
backend gateways
  balance roundrobin
  option forwardfor
  option redispatch 1
  option abortonclose
  option httpchk
  http-check send meth GET uri /health/readiness/ledger ver HTTP/1.1 hdr Host localhost
  default-server check inter 300ms fall 1 rise 1
`

// apiKey is the key that the gateways know.
const apiKey = "key of a reader"

// startFleet starts the gateways and HAProxy.
func startFleet(t *testing.T, n *network) *fleet {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		t.Fatalf("%v: install it with scripts/ensure-haproxy.sh", err)
	}
	f := &fleet{network: n, proxy: freeAddress(t)}
	hash := sha256.Sum256([]byte(apiKey))
	for option, text := range map[string]string{
		"--trusted-documents": `{"newest":"{blocks(first:1){nodes{number}}}"}`,
		"--api-keys":          hex.EncodeToString(hash[:]) + " reader\n",
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f.args = append(f.args, option, path)
	}
	var config strings.Builder
	fmt.Fprintf(&config, proxyConfig, f.proxy)
	for i := range f.gateways {
		f.addresses[i] = freeAddress(t)
		f.start(t, i)
		fmt.Fprintf(&config, "  server gateway%d %s\n", i, f.addresses[i])
	}
	t.Cleanup(func() {
		for _, g := range f.gateways {
			stopGateway(g)
		}
	})
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := exec.Command(program, "-f", path, "-db")
	proxy.Stderr = os.Stderr
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = proxy.Process.Kill()
		_ = proxy.Wait()
	})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if resp, err := get(t.Context(), http.DefaultClient, "http://"+f.proxy+"/api/v1/blocks"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return f
			}
		}
		if time.Now().After(end) {
			t.Fatal("no response through HAProxy")
		}
	}
}

func get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func (f *fleet) start(t *testing.T, i int) {
	t.Helper()
	f.gateways[i], _ = f.network.startGateway(t, f.addresses[i],
		append([]string{"--shutdown-delay", shutdownDelay, "--trusted-proxies", "127.0.0.1"}, f.args...)...)
}

// readers send requests through the proxy, each on a connection that it keeps.
type readers struct {
	requests, failed atomic.Int64
	text             atomic.Pointer[string] // of a failure
}

func (r *readers) read(ctx context.Context, f *fleet) {
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, 1)}}
	client := &http.Client{Transport: &http.Transport{DialContext: from.DialContext}, Timeout: 10 * time.Second}
	for i := 0; ctx.Err() == nil; i++ {
		path := []string{
			"/api/v1/transactions?limit=2", "/api/v1/topics/9001/messages?limit=2",
			"/graphql?query=" + url.QueryEscape("{blocks(first:1){nodes{number}}}"),
		}[i%3]
		resp, err := get(context.WithoutCancel(ctx), client, "http://"+f.proxy+path)
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(body), `"errors"`) {
				text = fmt.Sprintf("%s: %s %v %s", path, resp.Status, err, body)
			}
		}
		r.requests.Add(1)
		if text != "" {
			r.failed.Add(1)
			r.text.Store(&text)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// report logs what happened since the last report.
func (r *readers) report(t *testing.T, event string, most int64) {
	t.Helper()
	n, failed := r.requests.Swap(0), r.failed.Swap(0)
	t.Logf("%s: %d requests, %d failed", event, n, failed)
	if failed > most || n < 100 {
		t.Errorf("a failure: %s", *r.text.Load())
	}
}

// TestGateways restarts three gateways behind HAProxy one after the other under load, and kills one of them. It checks
// that no request fails but those on the connections of the killed gateway, and that subscribers over both transports
// receive each message, and each revision of the status page, once and in order.
func TestGateways(t *testing.T) {
	n := startNetwork(t)
	conn, err := pgx.Connect(t.Context(), n.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, memo) values (9001, ` +
			`9001, 0, 0, 'TOPIC', '[5,)', 0, 'topic')`,
		`insert into topic (id, created_timestamp, timestamp_range) values (9001, 0, '[5,)')`,
		`insert into custom_fee (entity_id, timestamp_range) values (9001, '[5,)')`,
		`insert into address_book (start_consensus_timestamp, file_id, node_count, file_data) values (1, 102, 1, '')`,
		`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index)
			values ('b', 0, 0, lpad('1', 96, '0'), lpad('0', 96, '0'), 1, 2, 1, 0, 6, 'f', 1)`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	_ = conn.Close(t.Context())
	if err := migrations.Status(t.Context(), n.url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("../../../bin/heliograph", "status", "init", "--database-url", n.url, "--name",
		"Network", "--url", "http://localhost").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pages, err := statuspages.Open(t.Context(), storage.PoolOptions{URL: n.url, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	var page string
	if conn, err = pgx.Connect(t.Context(), n.url); err == nil {
		err = conn.QueryRow(t.Context(), `select id from status.page`).Scan(&page)
		_ = conn.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	revision, err := pages.NewestRevision(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	f := startFleet(t, n)
	n.address = f.proxy
	w := &writer{url: n.url, topics: *topics}
	*subscribers = min(*subscribers, 300)
	a := listen(t, n)
	ctx, stop := context.WithCancel(t.Context())
	r := &readers{}
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	const clients = 6
	for range clients {
		running.Go(func() { r.read(ctx, f) })
	}
	running.Go(func() {
		if err := w.write(ctx, *rate, time.Hour); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	var sockets, watchers []*follower // of messages over WebSockets, and of the status page
	for i := range 60 {
		topic := firstTopic + i%*topics
		sockets = append(sockets, &follower{
			address: f.proxy, socket: true, from: "0.0",
			number: regexp.MustCompile(`"sequenceNumber":"(\d+)","consensusTimestamp":"([\d.]+)"`),
			query: fmt.Sprintf(`subscription($from: Timestamp) { topicMessages(topic: "0.0.%d", from: $from) { `+
				`sequenceNumber consensusTimestamp } }`, topic),
		})
	}
	for i := range 12 {
		watchers = append(watchers, &follower{
			address: f.proxy, socket: i%2 == 0, from: strconv.FormatInt(revision, 10),
			number: regexp.MustCompile(`"revision":"(\d+)"`),
			query:  `subscription($from: Long) { statusChanged(from: $from) { revision } }`,
		})
		watchers[i].reached.Store(revision)
	}
	following, leave := context.WithCancel(t.Context())
	var followers sync.WaitGroup
	defer func() { leave(); followers.Wait() }()
	for _, one := range slices.Concat(sockets, watchers) {
		followers.Go(func() { one.follow(following) })
	}
	running.Go(func() {
		for ctx.Err() == nil {
			err := pages.Write(context.WithoutCancel(ctx), page, time.Now(), nil,
				func(context.Context, *statuspages.Tx) error {
					return nil
				})
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	time.Sleep(3 * time.Second)
	r.report(t, "three gateways", 0)
	for i := range f.gateways {
		stopGateway(f.gateways[i])
		time.Sleep(500 * time.Millisecond)
		f.start(t, i)
		time.Sleep(1500 * time.Millisecond) // HAProxy uses it again
	}
	r.report(t, "rolling restart", 0)
	_ = f.gateways[1].Process.Signal(syscall.SIGKILL)
	_ = f.gateways[1].Wait()
	time.Sleep(3 * time.Second)
	r.report(t, "one gateway killed", clients) // those in flight, and those that are sent before HAProxy notices
	f.start(t, 1)
	f.agree(t)
	stop()
	running.Wait()
	if !a.complete(w, 30*time.Second) {
		t.Error("messages are missing after 30 s")
	}
	again, err := waitFor(sockets, func(one *follower) int64 {
		topic, _ := strconv.Atoi(regexp.MustCompile(`0\.0\.(\d+)`).FindStringSubmatch(one.query)[1])
		return w.inTopic(topic)
	})
	if err != nil {
		t.Errorf("WebSocket: %v", err)
	}
	t.Logf("%d subscribers over WebSocket received each message once and in order, after %d interruptions",
		len(sockets), again)
	last, err := pages.NewestRevision(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	again, err = waitFor(watchers, func(*follower) int64 { return last })
	if err != nil || last < revision+50 {
		t.Errorf("status page: %d revisions, %v", last-revision, err)
	}
	t.Logf("%d subscribers of the status page received each of %d revisions once and in order, after %d interruptions",
		len(watchers), last-revision, again)
	delays, breaks := a.check()
	if want := w.count() * int64(*subscribers / *topics); int64(len(delays)) != want {
		t.Errorf("%d deliveries, want %d", len(delays), want)
	}
	t.Logf("%d messages, %d deliveries, each once and in order; %d interrupted streams; delay p50 %v, p99 %v, max "+
		"%v; load average %s", w.count(), len(delays), breaks,
		quantile(delays, 0.5), quantile(delays, 0.99), quantile(delays, 1), load())
}

// agree checks that all gateways give the same bodies, ETags, cursors and document ids, and accept the same API keys.
func (f *fleet) agree(t *testing.T) {
	t.Helper()
	read := func(i int, path string) (etag, body string) {
		resp, err := get(t.Context(), http.DefaultClient, "http://"+f.addresses[i]+path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v %s", path, resp.Status, err, b)
		}
		return resp.Header.Get("ETag"), string(b)
	}
	query := func(i int, text string) string {
		_, body := read(i, "/graphql?query="+url.QueryEscape(text))
		return body
	}
	const page = `{topic(id:"9001"){messages(first:3%s){nodes{id sequenceNumber} pageInfo{endCursor}}}}`
	var first struct {
		Data struct {
			Topic struct {
				Messages struct{ PageInfo struct{ EndCursor string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(query(0, fmt.Sprintf(page, ""))), &first); err != nil {
		t.Fatal(err)
	}
	next := fmt.Sprintf(page, fmt.Sprintf(`,after:%q`, first.Data.Topic.Messages.PageInfo.EndCursor))
	for i := range f.gateways {
		for _, path := range []string{
			"/api/v1/topics/9001/messages?limit=3", "/api/v1/topics/9001/messages/2",
			"/graphql/schema.graphql",
		} {
			wantTag, want := read(0, path)
			if tag, body := read(i, path); body != want || tag != wantTag || tag == "" {
				t.Errorf("gateway %d, %s: ETag %s, want %s; equal bodies: %t", i, path, tag, wantTag, body == want)
			}
		}
		for key, want := range map[string]int{apiKey: http.StatusOK, "unknown": http.StatusUnauthorized} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+f.addresses[i]+"/graphql",
				strings.NewReader(`{"documentId":"newest"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-API-Key", key)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != want || want == http.StatusOK &&
				!strings.Contains(string(body), `{"data":{"blocks":{"nodes":[{"number":`) {
				t.Errorf("gateway %d, a trusted document with the key %q: %s %s", i, key, resp.Status, body)
			}
		}
		if got, want := query(i, next), query(0, next); got != want || !strings.Contains(got, `"sequenceNumber":"4"`) {
			t.Errorf("gateway %d, the second page: %s, want %s", i, got, want)
		}
	}
}

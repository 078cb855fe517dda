package gateway_test

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
)

const typenamePath = "/graphql?query=%7B__typename%7D"

// keyFile writes a key file. age sets its modification time.
func keyFile(t *testing.T, path string, age time.Duration, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func line(key, rest string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:]) + " " + rest
}

// TestRateOfAddress checks that requests over the limit of an address are rejected, in the error format of each API.
// Health checks are not limited.
func TestRateOfAddress(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 3} })
	for i, path := range []string{"/api/v1/blocks?limit=1", typenamePath, "/api/v1/nothing"} {
		got := g.Get(t, path)
		if got.Status == http.StatusTooManyRequests || got.Header.Get("X-RateLimit-Limit") != "3" ||
			got.Header.Get("X-RateLimit-Remaining") != strconv.Itoa(2-i) {
			t.Errorf("request %d: status %d, %v", i+1, got.Status, got.Header)
		}
	}
	for path, want := range map[string]string{
		"/api/v1/blocks": `{"_status":{"messages":[{"message":"Too many requests"}]}}`,
		"/graphiql":      `{"_status":{"messages":[{"message":"Too many requests"}]}}`,
		typenamePath: `{"errors":[{"message":"Too many requests","extensions":{"code":"RATE_LIMITED",` +
			`"retryAfter":60}}]}`,
	} {
		got := g.Do(t, http.MethodGet, path, "", "Origin: https://example.com")
		if got.Status != http.StatusTooManyRequests || got.Body != want || got.Header.Get("Retry-After") != "60" ||
			got.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: status %d, %v: %s", path, got.Status, got.Header, got.Body)
		}
	}
	if got := g.Get(t, "/health/liveness"); got.Status != http.StatusOK {
		t.Errorf("health check: status %d", got.Status)
	}
	preflight := g.Do(t, http.MethodOptions, "/graphql", "", "Origin: https://example.com",
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type,x-api-key")
	if preflight.Status != http.StatusOK || preflight.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight request: status %d, %v", preflight.Status, preflight.Header)
	}
}

// TestRateOfCost checks that the cost of an operation counts, and that each operation on a WebSocket does.
func TestRateOfCost(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 20} })
	// about 1,000
	const expensive = `{ blocks(first: 100) { nodes { number transactions(first: 9) { nodes { id } } } } }`
	if got := g.Query(t, expensive, nil); got.Status != http.StatusOK ||
		got.Header.Get("X-RateLimit-Remaining") != "8" {
		t.Errorf("status %d, %s points remain: %.200s", got.Status, got.Header.Get("X-RateLimit-Remaining"), got.Body)
	}
	if got := g.Query(t, expensive, nil); got.Status != http.StatusTooManyRequests ||
		!strings.Contains(got.Body, `"RATE_LIMITED"`) {
		t.Errorf("status %d: %.200s", got.Status, got.Body)
	}
	limited := testenv.Demo(t, func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 5} })
	conn := socketOf(t, limited, "graphql-transport-ws")
	var answers strings.Builder
	send := func(m string) {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"type":"connection_init"}`)
	for i := range 10 {
		send(`{"type":"subscribe","id":"` + strconv.Itoa(i) + `","payload":{"query":"{__typename}"}}`)
	}
	for strings.Count(answers.String(), `"complete"`)+strings.Count(answers.String(), "RATE_LIMITED") < 10 {
		_, b, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		answers.Write(b)
	}
	if n := strings.Count(answers.String(), "RATE_LIMITED"); n != 6 { // the connection is a request
		t.Errorf("%d operations were rejected", n)
	}
}

// TestSocketLimits checks that a WebSocket without connection_init is closed, and that the subscriptions of a client
// are limited.
func TestSocketLimits(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) {
		o.Graph.Streams.InitTimeout, o.Graph.Streams.PerClient = 100*time.Millisecond, 1
	})
	if _, _, err := socketOf(t, g, "graphql-transport-ws").Read(t.Context()); websocket.CloseStatus(err) != 4408 {
		t.Error(err)
	}
	conn := socketOf(t, g, "graphql-transport-ws")
	for _, m := range []string{
		`{"type":"connection_init"}`,
		`{"type":"subscribe","id":"1","payload":{"query":"subscription { blocks { number } }"}}`,
		`{"type":"subscribe","id":"2","payload":{"query":"subscription { blocks { number } }"}}`,
	} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m, `"1"`) {
			time.Sleep(200 * time.Millisecond) // longer than connection_init may take
		}
	}
	for {
		_, b, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), `"id":"2"`) {
			if !strings.Contains(string(b), "RATE_LIMITED") {
				t.Errorf("the second subscription: %s", b)
			}
			return
		}
	}
}

// TestRateBehindProxy checks that X-Forwarded-For is used only if a trusted proxy sends it.
func TestRateBehindProxy(t *testing.T) {
	t.Parallel()
	status := func(g *testenv.Gateway, forwarded string) int {
		return g.Do(t, http.MethodGet, typenamePath, "", "X-Forwarded-For: "+forwarded).Status
	}
	const ok, rejected = http.StatusOK, http.StatusTooManyRequests
	plain := testenv.Demo(t, func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 1} })
	if a, b := status(plain, "203.0.113.1"), status(plain, "203.0.113.2"); a != ok || b != rejected {
		t.Errorf("without trusted proxies: %d, %d", a, b)
	}
	behind := testenv.Demo(t, func(o *testenv.Options) {
		o.Rates, o.Proxies = gateway.RateOptions{PerMinute: 1}, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for _, c := range []struct {
		forwarded string
		want      int
	}{
		{"203.0.113.1", ok},
		{"203.0.113.1", rejected},
		{"203.0.113.2", ok},
		{"198.51.100.7, 203.0.113.2", rejected},
		{"2001:db8:1:2::1", ok},
		{"2001:db8:1:2:ffff::9", rejected},
		{"2001:db8:1:3::1", ok},
		{"203.0.113.3:50001", ok},
		{"203.0.113.3:50002", rejected},
		{"[2001:db8:1:4::1]:50003", ok},
		{"2001:db8:1:4::2", rejected},
	} {
		if got := status(behind, c.forwarded); got != c.want {
			t.Errorf("%s: status %d, want %d", c.forwarded, got, c.want)
		}
	}
}

// TestKeys checks that API keys have their own limits, are looked up by hash, and are reloaded when the file changes.
func TestKeys(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	path := filepath.Join(t.TempDir(), "keys")
	keyFile(t, path, 3*time.Hour, "# the wallet's", line("wallet", "wallet 2"), "", line("explorer", "explorer"))
	g := testenv.Demo(t, func(o *testenv.Options) {
		o.Rates = gateway.RateOptions{PerMinute: 1, KeyFile: path, PerMinuteOfKeys: 3}
	},
		func(o *testenv.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	status := func(key string) int {
		var headers []string
		if key != "" {
			headers = []string{"X-API-Key: " + key}
		}
		return g.Do(t, http.MethodGet, typenamePath, "", headers...).Status
	}
	expect := func(key string, want ...int) {
		t.Helper()
		for i, w := range want {
			if got := status(key); got != w {
				t.Errorf("request %d with %q: status %d, want %d", i+1, key, got, w)
			}
		}
	}
	expect("", 200, 429)
	expect("wallet", 200, 200, 429)
	expect("explorer", 200, 200, 200, 429)
	expect("unknown", 401)
	for key, want := range map[string]int{"wallet": 3, "explorer": 4} {
		if n := strings.Count(log.String(), " key="+key+"\n"); n != want {
			t.Errorf("%d requests of %s in the log, want %d", n, key, want)
		}
	}
	if got := g.Do(t, http.MethodGet, "/api/v1/blocks",
		"", "X-API-Key: unknown"); got.Body != `{"_status":{"messages":[{"message":"Unknown API key"}]}}` {
		t.Errorf("%s", got.Body)
	}
	keyFile(t, path, 2*time.Hour, line("other", "other 1"))
	expect("wallet", 401)
	expect("other", 200, 429)
	keyFile(t, path, time.Hour, line("other", "other many"))
	expect("other", 429)
	expect("wallet", 401)
	if n := strings.Count(log.String(), "line 1: the points per minute must be a number of 1 or more"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
	keyFile(t, path, time.Minute, line("wallet", "fresh 5"))
	expect("wallet", 200)
	expect("other", 401)
}

// TestKeyFiles checks that invalid key files prevent the start.
func TestKeyFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no hash":         {"wallet 5", "line 1"},
		"no name":         {"\n" + strings.TrimSpace(line("a", "")), "line 2"},
		"not hexadecimal": {strings.Repeat("x", 64) + " a", "hexadecimal SHA-256"},
		"extra field":     {line("a", "a 5 6"), "line 1"},
		"limit 0":         {line("a", "a 0"), "1 or more"},
		"duplicate key":   {line("a", "a") + "\n" + line("a", "b"), "line 2 repeats"},
		"duplicate name":  {line("a", "a") + "\n" + line("b", "a"), "line 2 repeats"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "keys")
			keyFile(t, path, 0, c.text)
			err := gateway.CheckRates(gateway.RateOptions{KeyFile: path})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if err := gateway.CheckRates(gateway.RateOptions{KeyFile: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a missing file is accepted")
	}
}

package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// A document that defers a relation, whose table a test can lock, and a column.
const (
	lockable = `{ account(id: 1008) { entityId ... @defer(label: "slow") { nfts(first: 1) { nodes { serialNumber } ` +
		`} } ... @defer(label: "quick") { memo } } }`
	firstPart = `{"data":{"account":{"entityId":"0.0.1008"}},"hasNext":true}`
)

// lock locks a table of the database at url against readers until unlock is called or the test ends.
func lock(t *testing.T, url, table string) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "begin; lock table "+pgx.Identifier{table}.Sanitize()+
		" in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	unlock = func() { _ = conn.Close(context.WithoutCancel(t.Context())) } // ends the transaction
	t.Cleanup(unlock)
	return unlock
}

// post sends a document and returns the response without reading its body.
func post(ctx context.Context, t *testing.T, g *testenv.Gateway, document, accept string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+"/graphql",
		strings.NewReader(body(t, document, nil)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", plainMedia)
	req.Header.Set("Accept", accept)
	req.Header.Set("Accept-Encoding", "gzip, br") // compression could delay parts
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// chunk reads up to and including end.
func chunk(t *testing.T, r *bufio.Reader, end string) string {
	t.Helper()
	var text strings.Builder
	for !strings.HasSuffix(text.String(), end) {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
		text.WriteByte(b)
	}
	return strings.TrimSuffix(text.String(), end)
}

// TestPartsArriveWhenReady tests that a part and its delimiter arrive while a later part waits for the database, and
// that parts arrive in the order in which they are complete.
func TestPartsArriveWhenReady(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url)
	unlock := lock(t, url, "nft")
	resp := post(t.Context(), t, g, lockable, partsMedia)
	r := bufio.NewReader(resp.Body)
	if got := chunk(t, r, delimiter); got != "" {
		t.Errorf("before the first part: %q", got)
	}
	if got := chunk(t, r, delimiter); !strings.HasSuffix(got, "\r\n\r\n"+firstPart) {
		t.Errorf("the first part is %q", got)
	}
	if got := chunk(t, r, delimiter); !strings.Contains(got, `"label":"quick"}],"hasNext":true}`) {
		t.Errorf("the second part is %q", got)
	}
	unlock()
	if got := chunk(t, r, lastDelimiter); !strings.Contains(got,
		`{"incremental":[{"data":{"nfts":{"nodes":[{"serialNumber":"`) ||
		!strings.HasSuffix(got, `"path":["account"],"label":"slow"}],"hasNext":false}`) {
		t.Errorf("the last part is %q", got)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %v, %q", err, rest)
	}
}

// TestPartsAsEvents tests deferred fragments on WebSockets and server-sent events.
func TestPartsAsEvents(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url)
	const document = `{ account(id: 1008) { entityId ... @defer { nfts(first: 1) { nodes { entityId: tokenId } } } } }`
	const lastPart = `"path":["account"]}],"hasNext":false}`
	t.Run("server-sent events", func(t *testing.T) {
		unlock := lock(t, url, "nft")
		r := bufio.NewReader(post(t.Context(), t, g, document, "text/event-stream").Body)
		chunk(t, r, ":\n\n")
		if got := chunk(t, r, "\n\n"); got != "event: next\ndata: "+firstPart {
			t.Errorf("the first event is %q", got)
		}
		unlock()
		if got := chunk(t, r, "\n\n"); !strings.HasPrefix(got,
			"event: next\ndata: {\"incremental\":[{\"data\":{\"nfts\":") || !strings.HasSuffix(got, lastPart) {
			t.Errorf("the second event is %q", got)
		}
		if got := chunk(t, r, "\n\n"); got != "event: complete\ndata:" {
			t.Errorf("the last event is %q", got)
		}
	})
	t.Run("WebSocket", func(t *testing.T) {
		unlock := lock(t, url, "nft")
		conn, resp, err := websocket.Dial(t.Context(), g.URL+"/graphql",
			&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.CloseNow() }()
		if resp.Body != nil {
			_ = resp.Body.Close()
		}
		for _, m := range []string{
			`{"type":"connection_init"}`,
			`{"type":"subscribe","id":"1","payload":` + body(t, document, nil) + `}`,
		} {
			if err := conn.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{
			`{"type":"connection_ack"}`,
			`{"type":"next","id":"1","payload":` + firstPart + `}`, lastPart + "}", `{"type":"complete","id":"1"}`,
		} {
			_, got, err := conn.Read(t.Context())
			if err != nil || !strings.HasSuffix(string(got), want) {
				t.Errorf("message %d is %s, %v", i, got, err)
			}
			if i == 1 {
				unlock()
			}
		}
	})
}

// TestErrorsInParts tests that each error is in the part with the object that it belongs to, with the path and the
// code that it has otherwise.
func TestErrorsInParts(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url, `drop table nft cascade`)
	var log buffer
	g := testenv.Over(t, url, func(o *testenv.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	const nfts, inside = `nfts(first: 1) { nodes { serialNumber } }`, `UNAVAILABLE with an id`
	for name, c := range map[string]struct{ document, want string }{
		"of an object": {
			`{ account(id: 1008) { entityId ... @defer(label: "bad") { ` +
				nfts + ` } } blocks(first: 1) { nodes { number } } }`,
			`[account]=null account ` + inside,
		},
		"beside others": {
			`{ account(id: 1008) { entityId ... @defer { ` + nfts + ` } ... @defer { declineReward } } }`,
			`[account]=null account ` + inside + `; [account]=map[declineReward:false]`,
		},
		"in a list": {
			`{ accounts(first: 2) { nodes { entityId ... @defer { ` + nfts + ` } } } }`,
			`[accounts nodes 0]=null accounts.nodes.0 ` + inside + `; [accounts nodes 1]=null accounts.nodes.1 ` +
				inside,
		},
		"within another group": {
			`{ account(id: 1008) { entityId ... @defer { declineReward ... @defer { ` + nfts + ` } } } }`,
			`[account]=map[declineReward:false]; [account]=null account ` + inside,
		},
		"of the group around": {
			`{ account(id: 1008) { entityId ... @defer { nfts(first: 1) { nodes { serialNumber ... @defer { ` +
				`metadata } } } } } }`,
			`[account]=null account ` + inside,
		},
		"of the first part": {
			`{ account(id: 1008) { ` +
				nfts +
				` ... @defer { memo } } accounts(first: 1) { nodes { entityId ... @defer { declineReward } } } }`,
			`account ` + inside + `; [accounts nodes 0]=map[declineReward:false]`,
		},
		"of each in a list": {
			`{ accounts(first: 2) { nodes { entityId ... @defer { transactions(first: 101) { nodes { name: type } ` +
				`} } } } }`,
			`[accounts nodes 0]=null accounts.nodes.0.transactions BAD_USER_INPUT; ` +
				`[accounts nodes 1]=null accounts.nodes.1 BAD_USER_INPUT`,
		},
		"of an argument": {
			`{ account(id: 1008) { entityId ... @defer { transactions(first: 101) { nodes { name: type } } } } }`,
			`[account]=null account.transactions BAD_USER_INPUT`,
		},
		"of a root field": {
			`{ __typename ... @defer { block { hash } account(id: 1008) { declineReward } } }`,
			`[]=map[account:map[declineReward:false] block:<nil>] block BAD_USER_INPUT`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for i, p := range inParts(t, g, c.document, nil) {
				if i == 0 {
					got = append(got, listErrors(t, p.payload, &log)...)
				}
				for _, one := range p.Incremental {
					data := fmt.Sprint(one.Data)
					if one.Data == nil {
						data = "null"
					}
					got = append(got,
						strings.Join(append([]string{fmt.Sprintf("%v=%s", one.Path, data)},
							listErrors(t, one, &log)...), " "))
				}
			}
			slices.Sort(got) // the order of groups of one level varies
			want := strings.Split(c.want, "; ")
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Error(cmp.Diff(want, got))
			}
		})
	}
}

// listErrors returns the paths and codes of the errors of a payload. Each error with an id must be in the log once.
func listErrors(t *testing.T, p payload, log *buffer) []string {
	t.Helper()
	var got []string
	for _, e := range p.Errors {
		path := make([]string, len(e.Path))
		for i, step := range e.Path {
			path[i] = fmt.Sprint(step)
		}
		text := fmt.Sprintf("%s %v", strings.Join(path, "."), e.Extensions["code"])
		if id, ok := e.Extensions["id"].(string); ok {
			text += " with an id"
			if n := strings.Count(log.String(), "id="+id); n != 1 {
				t.Errorf("the log has the error %s %d times", id, n)
			}
		}
		got = append(got, text)
	}
	return got
}

// TestPartTimeout tests a request that times out while parts are pending: completed parts are delivered, and the
// others have errors.
func TestPartTimeout(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url, func(o *testenv.Options) { o.RequestTimeout = 500 * time.Millisecond })
	lock(t, url, "nft")
	parts := inParts(t, g, lockable, nil)
	if len(parts) != 3 || parts[1].Incremental[0].Label != "quick" || len(parts[1].Incremental[0].Errors) > 0 {
		t.Fatalf("%+v", parts)
	}
	slow := parts[2].Incremental[0]
	if slow.Label != "slow" || slow.Data != nil || len(slow.Errors) != 1 ||
		slow.Errors[0].Extensions["code"] != "TIMEOUT" {
		t.Errorf("%+v", slow)
	}
}

// TestPartsCancelled tests that the statements of pending parts are cancelled when the client disconnects.
func TestPartsCancelled(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url)
	lock(t, url, "nft")
	ctx, cancel := context.WithCancel(t.Context())
	resp := post(ctx, t, g, lockable, partsMedia)
	r := bufio.NewReader(resp.Body)
	for range 3 {
		chunk(t, r, delimiter)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }() // the error does not matter
	waiting := func(want int) bool {
		for range 100 {
			var n int
			if err := conn.QueryRow(t.Context(),
				`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = `+
					`'Lock'`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n == want {
				return true
			}
			time.Sleep(20 * time.Millisecond)
		}
		return false
	}
	if !waiting(1) {
		t.Fatal("no statement waits for the lock")
	}
	cancel()
	if !waiting(0) {
		t.Error("the statement is still waiting after two seconds")
	}
}

// TestPartLimits tests that the limits apply to an operation with all its deferred fragments.
func TestPartLimits(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.Bounds.Cost, o.Graph.Bounds.Directives = 100, 10 })
	for name, document := range map[string]string{
		"cost": `{ accounts(first: 10) { nodes { entityId ... @defer { transactions(first: 10) { nodes { ` +
			`name: type } } } } } }`,
		"parts": `{ accounts(first: 30) { nodes { entityId ... @defer { memo } ... @defer { key { type } } ... ` +
			`@defer { evmAddress } } } }`,
		"directives": `{ account(id: 1008) {` + strings.Repeat(` ... @defer { memo }`, 11) + ` } }`,
		"fragments": `{ account(id: 1008) {` + strings.Repeat(` ...F`, 4) + ` } } fragment F on Account {` +
			strings.Repeat(` ... @defer { memo }`, 3) + ` }`,
		"depth": `{ account(id: 2) ` + strings.Repeat(`{ ... @defer { stakedAccount `, 9) +
			strings.Repeat(`{ stakedAccount `, 12) + `{ memo }` + strings.Repeat(` }`, 30) + ` }`,
	} {
		got := g.Do(t, http.MethodPost, "/graphql", body(t, document, nil), "Content-Type: "+plainMedia,
			"Accept: "+partsMedia)
		if _, codes := read(t, got); codes != "QUERY_TOO_COMPLEX" ||
			got.Header.Get("Content-Type") != plainMedia+"; charset=utf-8" {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}

package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// buffer is a log for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// leaks reports words that must not be in a response.
func leaks(t *testing.T, body string) {
	t.Helper()
	for _, word := range []string{
		"select", "SQLSTATE", "pgx", "pool", "entity_stake", "canceling",
		"dial", "goroutine", ".go:",
	} {
		if strings.Contains(body, word) {
			t.Errorf("%q is in %s", word, body)
		}
	}
}

const accountsQuery = `{ accounts(first: 1) { nodes { memo } } }`

// TestUnavailable tests the responses while the database is unavailable. The log has the reason.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	var log buffer
	g := testenv.Demo(t, func(o *testenv.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	g.DB.Close()
	got := g.Query(t, accountsQuery, nil)
	a, codes := read(t, got)
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || codes != "UNAVAILABLE" ||
		len(a.Errors[0].Path) != 1 || a.Errors[0].Path[0] != "accounts" {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
	leaks(t, got.Body)
	if !strings.Contains(log.String(), "closed pool") {
		t.Errorf("the log is %s", log.String())
	}
	rest := g.Get(t, "/api/v1/accounts")
	const down = `{"_status":{"messages":[{"message":"Service unavailable"}]}}`
	if rest.Status != http.StatusServiceUnavailable || rest.Body != down || rest.Header.Get("Cache-Control") != "" ||
		rest.Header.Get("Retry-After") != "1" {
		t.Errorf("status %d: %s", rest.Status, rest.Body)
	}
	modern := g.Get(t, "/api/v1/topics/7")
	const modernDown = `{"_status":{"messages":[{"message":"Service Unavailable","detail":""}]}}`
	if modern.Status != http.StatusServiceUnavailable || modern.Body != modernDown {
		t.Errorf("status %d: %s", modern.Status, modern.Body)
	}
	for path, want := range map[string]int{
		"": http.StatusOK, "/ledger": http.StatusServiceUnavailable,
		"/status": http.StatusOK,
	} {
		if ready := g.Get(t, "/health/readiness"+path); ready.Status != want {
			t.Errorf("readiness%s: status %d", path, ready.Status)
		}
	}
	if alive := g.Get(t, "/health/liveness"); alive.Status != http.StatusOK {
		t.Errorf("liveness: status %d", alive.Status)
	}
}

// slow makes each read of table entity take a second.
const slow = `alter table entity rename to entity_rows`

// slowed returns the URL of a database in which reading accounts is slow.
func slowed(t *testing.T) string {
	t.Helper()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url,
		slow, `create view entity as select r.* from entity_rows r, (select pg_sleep(30) offset 0) nap`)
	return url
}

// TestTimeouts tests the responses after a timeout of the statement and of the request.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	url := slowed(t)
	for name, option := range map[string]testenv.Option{
		"statement": func(o *testenv.Options) { // of the session, which poolers do not support
			o.Storage.URL, o.Storage.StatementTimeout = pgtest.Direct(o.Storage.URL), 200*time.Millisecond
		},
		"request": func(o *testenv.Options) { o.RequestTimeout = 300 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testenv.Over(t, url, option)
			start := time.Now()
			got := g.Query(t, accountsQuery, nil)
			if _, codes := read(t, got); got.Status != http.StatusOK || codes != "TIMEOUT" {
				t.Errorf("status %d: %s", got.Status, got.Body)
			}
			leaks(t, got.Body)
			rest := g.Get(t, "/api/v1/accounts")
			const down = `{"_status":{"messages":[{"message":"Service unavailable"}]}}`
			if rest.Status != http.StatusServiceUnavailable || rest.Body != down {
				t.Errorf("status %d: %s", rest.Status, rest.Body)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestBrokenDatabase tests that responses to failures such as a missing table have no internal details.
func TestBrokenDatabase(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	testenv.Exec(t, url, `drop table entity_stake cascade`,
		`insert into topic (id, timestamp_range, fee_exempt_key_list) values (7, '[1,)', '\x0a7f')`,
		`insert into entity (id, num, realm, shard, timestamp_range, type) values (7, 7, 0, 0, '[1,)', 'TOPIC')`,
		`insert into custom_fee (entity_id, timestamp_range) values (7, '[1,)')`)
	g := testenv.Over(t, url)
	got := g.Query(t, accountsQuery, nil)
	if _, codes := read(t, got); codes != "UNAVAILABLE" {
		t.Errorf("%s", got.Body)
	}
	leaks(t, got.Body)
	got = g.Query(t, `{ topic(id: 7) { memo } }`, nil)
	if _, codes := read(t, got); codes != "INTERNAL" {
		t.Errorf("%s", got.Body)
	}
	leaks(t, got.Body)
	if rest := g.Get(t, "/api/v1/topics/7"); rest.Status != http.StatusInternalServerError ||
		rest.Body != `{"_status":{"messages":[{"message":"Internal Server Error","detail":""}]}}` {
		t.Errorf("status %d: %s", rest.Status, rest.Body)
	}
}

// TestExplain tests that the operation explained for a path returns the data of the path, and that invalid paths have
// the same errors.
func TestExplain(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	got := g.Get(t, "/graphql/explain?path=/api/v1/accounts%3Flimit%3D1%26order%3Ddesc")
	var x struct {
		Query, OperationName string
		Variables            map[string]any
	}
	testenv.Decode(t, got.Body, &x)
	run := g.Query(t, x.Query, x.Variables)
	if a, codes := read(t, run); codes != "" || !strings.Contains(string(*a.Data), `"accounts":[{"account":"0.0.`) {
		t.Errorf("%s: %s", x.Query, run.Body)
	}
	for path, status := range map[string]int{
		"/api/v1/accounts%3Flimit%3D0": 400, "/api/v1/nothing": 404, "": 404,
		"%25zz": 400, "/api/v1/transactions%3Ftype%3Dcredit%26type%3Ddebit": 400,
	} {
		if got := g.Get(t, "/graphql/explain?path="+path); got.Status != status {
			t.Errorf("%s: status %d, want %d: %s", path, got.Status, status, got.Body)
		}
	}
}

// TestInvalidArguments checks that errors have the path of the field, and name the argument.
func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for query, want := range map[string]string{
		`{accounts(first:2){nodes{x:transactions(first:101){nodes{memo}}}}}`: `"first must be between 0 and ` +
			`100","path":["accounts","nodes",0,"x"]`,
		`{accounts(first:1){nodes{transactions(filter:{accountId:{in:["1","x"]}}){nodes{memo}}}}}`: `filter.` +
			`accountId.in[1]: entity id \"x\": number: \"x\" is not a number",` +
			`"path":["accounts","nodes",0,"transactions"]`,
		`{account(id:"a b"){memo}}`: `"id: \"a b\" is no entity id, EVM address or alias","path":["account"]`,
	} {
		if got := g.Query(t, query, nil); !strings.Contains(got.Body, want) {
			t.Errorf("%s: %s", query, got.Body)
		}
	}
}

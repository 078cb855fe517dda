// Package bench compares the gateway with handlers that are hand-written for single requests. Both read the same
// database in the same process and return the same bytes. In addition, the gateway validates parameters and computes
// ETags and links.
package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/app/gateway"
	"heliograph/graph"
	"heliograph/graph/limits"
	"heliograph/graph/relay"
	"heliograph/graph/server"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers"
	"heliograph/rest"
	v1 "heliograph/rest/v1"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) {
	if os.Getenv("HELIOGRAPH_HAND_WRITTEN") != "" {
		fmt.Fprintln(os.Stderr, handMain())
		os.Exit(1)
	}
	pgtest.Main(m)
}

// pageSize is the number of rows of a page in all requests below.
const pageSize = 25

// rig has the three variants on one database.
type rig struct {
	hand     http.Handler
	rest     *rest.API
	graph    *server.Server
	db       *storage.DB // of both
	requests []request
	pool     *pgxpool.Pool // of hand, with a connection more
}

// request is a request that is compared.
type request struct {
	name, path string
	list       bool
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	url, now := os.Getenv("HELIOGRAPH_DATABASE_URL"), demotest.Now
	if url == "" {
		url = demotest.Network.Shared(tb)
	} else {
		now = newestBlock(tb, url)
	}
	log := slog.New(slog.DiscardHandler)
	base := ledger.EntityID(0)
	db, err := storage.Open(tb.Context(),
		storage.Options{
			PoolOptions: storage.PoolOptions{URL: url, MaxConnections: 2*clients + 1}, ReadOnly: true,
			Base: base,
		})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(db.Close)
	cfg := &rest.Config{
		Base: base, LimitDefault: pageSize, LimitMax: 100, TokensInList: tokensPerAccount, TokensOfAccount: 1000,
		MaxRepeats:           100,
		MaxTransactionsRange: 60 * 24 * time.Hour, Now: now,
	}
	root := resolvers.New(resolvers.Options{DB: db, Now: cfg.Now, Cache: true, Logger: log})
	srv, err := server.New(server.Options{
		Schema: graph.NewSchema(root.Root(), root.Queries(), storage.Together),
		Tables: root.Tables(), Operation: root.Operation,
		Work: resolvers.Work, Scans: resolvers.Scans,
		Classify: resolvers.Classify, Base: base, Limits: relay.Limits{Default: cfg.LimitDefault, Max: cfg.LimitMax},
		Settings: server.Settings{
			DocumentBytes: 8 << 20, Bounds: limits.Default(), MaxValues: 10_000, MaxBody: 1 << 20,
		},
		NewID: func() string { return "" }, Logger: log,
	})
	if err != nil {
		tb.Fatal(err)
	}
	api, err := v1.New(cfg, srv)
	if err != nil {
		tb.Fatal(err)
	}
	settings, err := pgxpool.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	settings.MaxConns = clients + 1
	settings.ConnConfig.RuntimeParams["enable_bitmapscan"] = "off" // else pages of busy accounts are sorted
	pool, err := pgxpool.NewWithConfig(tb.Context(), settings)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	gateway.SetCollector() // garbage is collected as in the gateway
	return &rig{hand: handWritten(pool), rest: api, graph: srv, db: db, pool: pool, requests: requests(tb, pool)}
}

// newestBlock returns a clock that shows the end of the newest block of a database.
func newestBlock(tb testing.TB, url string) func() time.Time {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(tb.Context()) }()
	var end int64
	if err := conn.QueryRow(tb.Context(), `select max(consensus_end) from record_file`).Scan(&end); err != nil {
		tb.Fatal(err)
	}
	return func() time.Time { return time.Unix(0, end) }
}

// textOf returns the only value of a query.
func textOf(tb testing.TB, pool *pgxpool.Pool, sql string) string {
	tb.Helper()
	var s string
	if err := pool.QueryRow(tb.Context(), sql).Scan(&s); err != nil {
		tb.Fatalf("%v in %s", err, sql)
	}
	return s
}

// requests returns the compared requests: lists, and objects in the middle of their tables.
func requests(tb testing.TB, pool *pgxpool.Pool) []request {
	tb.Helper()
	text := func(sql string) string { return textOf(tb, pool, sql) }
	limit := "?limit=" + strconv.Itoa(pageSize)
	return []request{
		{"accounts", "/api/v1/accounts" + limit, true},
		{"transactions", "/api/v1/transactions" + limit, true},
		{"messages", "/api/v1/topics/0.0." + text(`select num from (select topic_id % (1::bigint << 38) as num, count(*) from topic_message
group by 1 order by 2 desc limit 1) t`) + "/messages", true},
		{"blocks", "/api/v1/blocks", true},
		{"account", "/api/v1/accounts/0.0." + text(`select num from entity where type = 'ACCOUNT' and id = (
  select payer_account_id from transaction group by 1 having count(*) between 30 and 300 order by 1 limit 1)`), false},
		{"transaction", "/api/v1/transactions/0.0." + text(`select payer_account_id % (1::bigint << 38) || '-' || valid_start_ns / 1000000000 || '-' ||
  lpad((valid_start_ns % 1000000000)::text, 9, '0') from transaction t where type = 14 and (
  select count(*) from transaction s where s.payer_account_id = t.payer_account_id and s.valid_start_ns = t.valid_start_ns) = 1
order by consensus_timestamp offset 1000 limit 1`), false},
		{"result", "/api/v1/contracts/results/0x" + text(`select encode(h.hash, 'hex') from ethereum_transaction e join contract_transaction_hash h
  using (consensus_timestamp) where length(e.call_data) > 0 and h.transaction_result = 22 and e.authorization_list is null
order by e.consensus_timestamp offset 10 limit 1`), false},
		{"token", "/api/v1/tokens/0.0." + text(`select token_id % (1::bigint << 38) from token where type = 'FUNGIBLE_COMMON' and not exists (
  select from custom_fee f where f.entity_id = token_id and f.fractional_fees is not null) order by token_id offset 3 limit 1`), false},
		{"block", "/api/v1/blocks/" + text(`select max(index) / 2 from record_file`), false},
	}
}

// clients is the number of concurrent clients. Each can use one connection to the database. They keep two cores busy.
const clients = 4

// way is one of the three variants for a path.
type way struct {
	name     string
	clients  []client
	answered *sync.WaitGroup
}

// client repeats one request. Its goroutine exists until the end of the test, like that of a connection: a new
// goroutine would have to grow its stack first.
type client struct {
	ask   func() // sends the request and stores the response in the sink
	to    *sink
	turns chan int // numbers of requests to send
}

func newWay(tb testing.TB, name string, newClient func() client) way {
	tb.Helper()
	return newWayOf(tb, name, clients, newClient)
}

// newWayOf returns a way with n clients.
func newWayOf(tb testing.TB, name string, n int, newClient func() client) way {
	tb.Helper()
	w := way{name: name, clients: make([]client, n), answered: new(sync.WaitGroup)}
	for i := range w.clients {
		c := newClient()
		c.turns = make(chan int)
		w.clients[i] = c
		go func() {
			for n := range c.turns {
				for range n {
					c.ask()
				}
				w.answered.Done()
			}
		}()
		tb.Cleanup(func() { close(c.turns) })
	}
	return w
}

// askAll lets each client send n requests.
func (w way) askAll(n int) {
	w.answered.Add(len(w.clients))
	for _, c := range w.clients {
		c.turns <- n
	}
	w.answered.Wait()
}

// ways returns the variants in this order: the hand-written handler, REST, and the same query sent as GraphQL.
func (r *rig) ways(tb testing.TB, path string) []way {
	tb.Helper()
	return []way{r.get(tb, "hand", path, r.hand), r.get(tb, "rest", path, r.rest), r.post(tb, path)}
}

// get calls a handler with a path.
func (*rig) get(tb testing.TB, name, path string, h http.Handler) way {
	tb.Helper()
	return newWay(tb, name, func() client {
		to := newSink()
		req := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, path, http.NoBody)
		return client{ask: func() { to.reset(); h.ServeHTTP(to, req) }, to: to}
	})
}

// post sends the GraphQL document of a REST path.
func (r *rig) post(tb testing.TB, path string) way {
	tb.Helper()
	x, err := r.rest.Explain(tb.Context(), path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	body, err := json.Marshal(x)
	if err != nil {
		tb.Fatal(err)
	}
	return newWay(tb, "graphql", func() client {
		to, from := newSink(), bytes.NewReader(nil)
		req := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/graphql", from)
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = int64(len(body))
		return client{ask: func() { to.reset(); from.Reset(body); r.graph.ServeHTTP(to, req) }, to: to}
	})
}

// sink is a response writer that discards the body unless keep is set.
type sink struct {
	header http.Header
	status int
	size   int // bytes
	keep   bool
	body   []byte
}

func newSink() *sink { return &sink{header: http.Header{}} }

func (s *sink) reset() {
	clear(s.header)
	s.status, s.size, s.body = 0, 0, s.body[:0]
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	s.size += len(b)
	if s.keep {
		s.body = append(s.body, b...)
	}
	return len(b), nil
}

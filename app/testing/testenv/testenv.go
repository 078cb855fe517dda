// Package testenv runs complete gateways for tests, over a database with the demo network or with empty tables.
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestAccounts(t *testing.T) {
//		g := testenv.Shared(t)
//		got := g.Get(t, "/api/v1/accounts?limit=2")
//		…
//	}
package testenv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/gateway"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/status"
	"heliograph/resolvers/contractcalls"
	"heliograph/rest"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
	"heliograph/storage/statuspages"
)

// Now returns the fixed current time of test gateways, at which the demo network was loaded.
func Now() time.Time { return demotest.Now() }

// Templates of test databases. They are variables, because pgtest identifies templates by their addresses.
var (
	// Empty has empty ledger and status tables.
	Empty = tables.All
	// Filled has the demo network at [Now] and its status page.
	Filled = demotest.Full
)

// Rows returns a template with the rows that a batch of statements inserts into empty tables. insert queues them when
// the template is first used; an error of a statement is one of the template.
func Rows(name string, insert func(b *pgx.Batch)) *pgtest.Template {
	return &pgtest.Template{Name: name, From: Empty, Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }() // every statement has been committed
		var b pgx.Batch
		insert(&b)
		return conn.SendBatch(ctx, &b).Close()
	}}
}

// Options are the options of a gateway and of its ledger database.
type Options struct {
	gateway.Options

	Storage storage.Options
}

// Option changes the options of a gateway.
type Option = func(*Options)

// Tokens sets the tokens of editors of status pages: comma-separated entries name:role:token. The option panics if the
// text is invalid.
func Tokens(text string) Option {
	return func(o *Options) {
		var err error
		if o.Tokens, err = status.ParseTokens(text); err != nil {
			panic(err) // the test is wrong
		}
	}
}

// Gateway is a gateway on a loopback address that runs until the test ends.
type Gateway struct {
	*gateway.Gateway

	// URL is the URL of the public port, without a trailing slash.
	URL string
	// DB is the pool of the ledger database.
	DB *storage.DB
	// Status is the pool of the status database.
	Status *statuspages.DB
	// Config is the configuration of the REST APIs.
	Config *rest.Config

	transport *http.Transport
}

// Demo returns a gateway of its own over the demo network in a read-only database that tests share. It stops when the
// test ends, and errors end the test. Tests without options use [Shared], unless they close or change the gateway, or
// need its caches empty.
func Demo(tb testing.TB, options ...Option) *Gateway {
	tb.Helper()
	return Over(tb, Filled.Shared(tb), options...)
}

// shared is the gateway of [Shared].
var shared struct {
	once    sync.Once
	gateway *Gateway
	err     error
}

// Shared returns a gateway with the default options over the demo network, which all tests of the binary share. They
// must not close or change it. The first call starts it, and it runs until the process ends. Errors end the test.
func Shared(tb testing.TB) *Gateway {
	tb.Helper()
	url := pgtest.Pooled(tb, Filled.Shared(tb))
	shared.once.Do(func() { shared.gateway, _, shared.err = open(url) })
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.gateway
}

// Over starts a gateway over the existing database at url, which it neither creates nor deletes, and stops it when the
// test ends. With caches, its background tasks save documents of status pages there. Errors end the test.
func Over(tb testing.TB, url string, options ...Option) *Gateway {
	tb.Helper()
	g, closers, err := open(pgtest.Pooled(tb, url), options...)
	for _, c := range closers {
		tb.Cleanup(c)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// open returns a gateway that runs over the database at url, with its background tasks, and the functions that close
// it, of which the last is called first. With an error, they close what was opened before.
func open(url string, options ...Option) (g *Gateway, closers []func(), err error) {
	g = &Gateway{Config: &rest.Config{
		LimitDefault: 25, LimitMax: 100, TokensInList: 50, TokensOfAccount: 1000, MaxRepeats: 100,
		MaxTransactionsRange: 60 * 24 * time.Hour, Now: Now,
	}}
	o := Options{
		Options: gateway.Options{
			REST: g.Config, Graph: gateway.DefaultGraph(), Logger: slog.New(slog.DiscardHandler),
			Origins: []string{"*"}, RequestTimeout: 20 * time.Second, Version: "test",
		},
		Storage: storage.Options{PoolOptions: storage.PoolOptions{
			URL: url, StatementTimeout: 20 * time.Second, ConnectTimeout: 10 * time.Second, MaxConnections: 8,
		}},
	}
	o.EVM = contractcalls.Options{
		MaxGas: 15_000_000, GasPerSecond: 7_500_000_000, RequestsPerSecond: 500, TracesPerSecond: 1000,
		RefundPercent: 100, MinimumBalance: evm.DefaultMinimumBalance, Timeout: 4 * time.Second, CacheBytes: 64 << 20,
		Clock: time.Now, Simulations: true, Prestate: true,
	}
	for _, change := range options {
		change(&o)
	}
	o.EVM.TraceTimeout = cmp.Or(o.EVM.TraceTimeout, o.EVM.Timeout)
	o.EVM.SimulationTimeout = cmp.Or(o.EVM.SimulationTimeout, o.EVM.Timeout)
	o.Storage.Base = g.Config.Base
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if g.DB, err = storage.Open(ctx, o.Storage); err != nil {
		return nil, closers, err
	}
	closers = append(closers, g.DB.Close)
	if err = g.DB.ReadPlacement(ctx); err != nil && storage.FailureOf(err) == storage.FailureOther {
		return nil, closers, err
	}
	o.DB = g.DB
	if g.Status, err = statuspages.Open(ctx, o.Storage.PoolOptions); err != nil {
		return nil, closers, err
	}
	closers = append(closers, g.Status.Close)
	o.Status = g.Status
	if g.Gateway, err = gateway.New(o.Options); err != nil {
		return nil, closers, err
	}
	running, stop := context.WithCancel(context.Background())
	var background sync.WaitGroup
	if o.Storage.Tracer == nil { // a tracer must not see statements of background tasks
		background.Go(func() { g.Run(running) })
	}
	closers = append(closers, func() {
		stop()
		background.Wait()
	})
	server := httptest.NewServer(g.Public())
	closers = append(closers, server.Close, g.Close) // the gateway first, because the server waits for open requests
	g.URL = server.URL
	g.transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}
	closers = append(closers, g.transport.CloseIdleConnections)
	return g, closers, nil
}

// Response is a complete response.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Get sends a GET request for a path to the gateway and returns the response, also one with an error status. Errors of
// the connection end the test.
func (g *Gateway) Get(tb testing.TB, path string) *Response {
	tb.Helper()
	return g.Do(tb, http.MethodGet, path, "")
}

// Do sends a request to the gateway and returns the response, also one with an error status. Headers have the form
// "Name: value". It does not decompress bodies or follow redirects. Errors of the connection, and a minute without a
// response, end the test.
func (g *Gateway) Do(tb testing.TB, method, path, body string, headers ...string) *Response {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, g.URL+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := g.transport.RoundTrip(req) // neither decompresses nor follows redirects
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it has been read to its end
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: string(b)}
}

// Query sends a GraphQL document to the gateway and returns the response, also one with errors. Errors of the
// connection end the test.
func (g *Gateway) Query(tb testing.TB, document string, variables map[string]any) *Response {
	tb.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		tb.Fatal(err)
	}
	return g.Do(tb, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
}

// Data sends a GraphQL document to the gateway and decodes the data of the response into v. It ends the test if the
// response has errors.
func (g *Gateway) Data(tb testing.TB, document string, variables map[string]any, v any) {
	tb.Helper()
	got := g.Query(tb, document, variables)
	var response struct {
		Data   json.RawMessage `json:"data"`
		Errors json.RawMessage `json:"errors"`
	}
	Decode(tb, got.Body, &response)
	if got.Status != http.StatusOK || response.Errors != nil {
		tb.Fatalf("%s\nvariables %v\nstatus %d: %s", document, variables, got.Status, got.Body)
	}
	Decode(tb, string(response.Data), v)
}

// Decode decodes JSON into v, and ends the test if that fails. Numbers become json.Number in values of type any.
func Decode(tb testing.TB, text string, v any) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
}

// Exec runs statements on the database at url, with a connection of its own, and ends the test on the first error.
func Exec(tb testing.TB, url string, statements ...string) {
	tb.Helper()
	pgtest.Exec(tb, pgtest.Connect(tb, url), statements...)
}

// Cached enables all caches, as in production. By default they are disabled.
func Cached(o *Options) { o.REST.Cache = true }

// Author is the author of writes to status pages.
var Author = statuspages.Author{Name: "test"}

// Editor returns an editor of the gateway's status pages. Its clock starts at [Now] and advances by a minute each time
// that it is read. The editor must not be used concurrently.
func (g *Gateway) Editor() *statuspages.Editor {
	now := Now()
	return statuspages.NewEditor(g.Status, func() time.Time {
		now = now.Add(time.Minute)
		return now
	})
}

// WaitForPage waits until a gateway with caches serves its status page. After 15 seconds it ends the test.
func (g *Gateway) WaitForPage(tb testing.TB) {
	tb.Helper()
	end := time.Now().Add(15 * time.Second)
	for ; g.Get(tb, "/").Status != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatal("the status page is not served")
		}
	}
}

// NewestIncident returns the code of the newest incident of the status page. It panics if there is none.
func (g *Gateway) NewestIncident(tb testing.TB) string {
	tb.Helper()
	var data struct {
		Status struct {
			Incidents struct{ Nodes []struct{ Code string } }
		}
	}
	g.Data(tb, `{ status { incidents(first: 1) { nodes { code } } } }`, nil, &data)
	return data.Status.Incidents.Nodes[0].Code
}

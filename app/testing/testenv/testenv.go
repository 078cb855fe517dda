// Package testenv gives tests a whole gateway over a real database: the demo network, or tables without rows.
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func TestAccounts(t *testing.T) {
//		g := testenv.Demo(t)
//		got := g.Get(t, "/api/v1/accounts?limit=2")
//		…
//	}
package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/gateway"
	"heliograph/app/tracing"
	"heliograph/internal/domain/status"
	"heliograph/resolvers/contractcalls"
	"heliograph/rest"
	"heliograph/storage"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/demo/statusdemo"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

// Now returns the instant at which the clock of every test gateway stands still, and at which the demo network was loaded.
func Now() time.Time { return time.Date(2026, 5, 17, 12, 34, 56, 0, time.UTC) }

// Templates are what databases are copied from. They are variables because pgtest knows templates by their addresses.
var (
	// Empty has the tables of the ledger and of the status pages without rows.
	Empty = &pgtest.Template{Name: "empty", Prepare: func(ctx context.Context, url string) error {
		log := slog.New(slog.DiscardHandler)
		return errors.Join(migrations.Ledger(ctx, url, log), migrations.Status(ctx, url, log))
	}}
	// Filled has the demo network of [Now], and its status page.
	Filled = &pgtest.Template{Name: "demo", From: Empty, Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }() // nothing is lost: the load has been committed
		if _, err = demodb.Load(ctx, conn, Now(), nil); err != nil {
			return err
		}
		return statusdemo.Load(ctx, conn, Now())
	}}
)

// Rows are the ledger's tables with some rows, which a batch of statements inserts.
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

// Option changes how a gateway is made.
type Option func(*gateway.Options, *storage.Options)

// REST changes the configuration of the REST APIs.
func REST(change func(*rest.Config)) Option {
	return func(o *gateway.Options, _ *storage.Options) { change(o.REST) }
}

// EVM changes how contracts are run.
func EVM(change func(*contractcalls.Options)) Option {
	return func(o *gateway.Options, _ *storage.Options) { change(&o.EVM) }
}

// Graph changes what clients of the graph may do.
func Graph(change func(*gateway.GraphOptions)) Option {
	return func(o *gateway.Options, _ *storage.Options) { change(&o.Graph) }
}

// Rates bounds how often clients may ask.
func Rates(r gateway.RateOptions) Option {
	return func(o *gateway.Options, _ *storage.Options) { o.Rates = r }
}

// Proxies are the networks whose forwarding headers are believed.
func Proxies(list ...netip.Prefix) Option {
	return func(o *gateway.Options, _ *storage.Options) { o.Proxies = list }
}

// Storage changes how the database is reached.
func Storage(change func(*storage.Options)) Option {
	return func(_ *gateway.Options, o *storage.Options) { change(o) }
}

// PlansOff leaves all answers to gqlgen's own way.
func PlansOff() Option {
	return func(o *gateway.Options, _ *storage.Options) { o.PlansOff = true }
}

// Traces sends traces of requests and statements.
func Traces(t *tracing.Traces) Option {
	return func(o *gateway.Options, s *storage.Options) {
		o.Traces, s.Tracer, o.Logger = t, t.Statements(), t.Logger(o.Logger)
	}
}

// Tokens are who may write to status pages: name:role:token, separated by commas.
func Tokens(text string) Option {
	return func(o *gateway.Options, _ *storage.Options) {
		var err error
		if o.Tokens, err = status.ParseTokens(text); err != nil {
			panic(err) // the test is wrong
		}
	}
}

// Timeout bounds each request.
func Timeout(d time.Duration) Option {
	return func(o *gateway.Options, _ *storage.Options) { o.RequestTimeout = d }
}

// Logger takes the gateway's log, which is dropped otherwise.
func Logger(l *slog.Logger) Option {
	return func(o *gateway.Options, _ *storage.Options) { o.Logger = l }
}

// Gateway is a gateway that listens on a loopback address until the test ends.
type Gateway struct {
	*gateway.Gateway

	// URL is where the public port is, without a slash at the end.
	URL string
	// DB is the gateway's pool.
	DB *storage.DB
	// Status is the gateway's pool of status pages.
	Status *statuspages.DB
	// Config is the configuration of the REST APIs.
	Config *rest.Config

	transport *http.Transport
}

// Demo returns a gateway over the demo network, which the test shares with others and cannot write to.
func Demo(tb testing.TB, options ...Option) *Gateway {
	tb.Helper()
	return Over(tb, Filled.Shared(tb), options...)
}

// Over returns a gateway over the database at url.
func Over(tb testing.TB, url string, options ...Option) *Gateway {
	tb.Helper()
	g := &Gateway{Config: &rest.Config{
		LimitDefault: 25, LimitMax: 100, TokensInList: 50, TokensOfAccount: 1000, MaxRepeats: 100,
		MaxTransactionsRange: 60 * 24 * time.Hour, Now: Now,
	}}
	so := storage.Options{PoolOptions: storage.PoolOptions{URL: url, StatementTimeout: 20 * time.Second, ConnectTimeout: 10 * time.Second, MaxConnections: 8}}
	o := gateway.Options{REST: g.Config, Graph: gateway.DefaultGraph(), Logger: slog.New(slog.DiscardHandler), Origins: []string{"*"}, RequestTimeout: 20 * time.Second, Version: "test", CheckVariables: true}
	o.EVM.Clock, o.EVM.TracesPerSecond = time.Now, 1000
	for _, change := range options {
		change(&o, &so)
	}
	so.Base = g.Config.Base
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if g.DB, err = storage.Open(ctx, so); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(g.DB.Close)
	o.DB = g.DB
	if g.Status, err = statuspages.Open(ctx, so.PoolOptions); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(g.Status.Close)
	o.Status = g.Status
	if g.Gateway, err = gateway.New(o); err != nil {
		tb.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	var background sync.WaitGroup
	if so.Tracer == nil { // who counts statements wants to see those of the test alone
		background.Go(func() { g.Run(running) })
	}
	tb.Cleanup(func() {
		stop()
		background.Wait()
	})
	server := httptest.NewServer(g.Public())
	tb.Cleanup(server.Close)
	tb.Cleanup(g.Close) // before the server, which waits for its requests
	g.URL = server.URL
	g.transport = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}
	tb.Cleanup(g.transport.CloseIdleConnections)
	return g
}

// Response is an answer that has been read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Get asks for a path.
func (g *Gateway) Get(tb testing.TB, path string) *Response {
	tb.Helper()
	return g.Do(tb, http.MethodGet, path, "")
}

// Do sends a request. headers are "Name: value". Nothing is decoded, and no redirect is followed.
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
	resp, err := g.transport.RoundTrip(req) // which neither decodes nor follows
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

// Query posts a document to the graph.
func (g *Gateway) Query(tb testing.TB, document string, variables map[string]any) *Response {
	tb.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		tb.Fatal(err)
	}
	return g.Do(tb, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
}

// Data posts a document, which must be answered without errors, and reads its data into v.
func (g *Gateway) Data(tb testing.TB, document string, variables map[string]any, v any) {
	tb.Helper()
	got := g.Query(tb, document, variables)
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors json.RawMessage `json:"errors"`
	}
	Decode(tb, got.Body, &answer)
	if got.Status != http.StatusOK || answer.Errors != nil {
		tb.Fatalf("%s\nvariables %v\nis answered with status %d: %s", document, variables, got.Status, got.Body)
	}
	Decode(tb, string(answer.Data), v)
}

// Decode reads JSON into v; numbers that go into an any keep their digits.
func Decode(tb testing.TB, text string, v any) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
}

// Exec runs statements on the database at url.
func Exec(tb testing.TB, url string, statements ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // every statement has been committed
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			tb.Fatal(fmt.Errorf("%s: %w", sql, err))
		}
	}
}

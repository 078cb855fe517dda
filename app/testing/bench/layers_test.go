package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// layer is a part of the stack of one request. Its way contains all layers before it.
type layer struct {
	name string
	way  way
}

// BenchmarkLayers walks a point read, a block by its number, through the stack: each way adds a layer to that before.
// It prints what each layer adds, in microseconds of this process's CPU time, allocations and KiB, and the same for
// the hand-written handler. The client, which writes a request and reads the response, counts as part of the socket.
func BenchmarkLayers(b *testing.B) {
	r := newRig(b)
	var path string
	for _, q := range r.requests {
		if q.name == "block" {
			path = q.path
		}
	}
	ours, hand := r.layers(b, path), r.handLayers(b, path)
	all := append(append([]layer(nil), ours...), hand...)
	costs := make([]cost, len(all))
	for _, l := range all {
		new(cost).measure(b, nil, l.way, perRound)
	}
	for b.Loop() {
		for i, l := range all {
			costs[i].measure(b, nil, l.way, perRound)
		}
	}
	shareCollections(costs)
	before := cost{requests: 1}
	for i, l := range all {
		if i == len(ours) {
			before = cost{requests: 1}
		}
		c := costs[i]
		per := func(of func(c cost) float64) float64 { return c.per(of(c)) - before.per(of(before)) }
		b.ReportMetric(per(func(c cost) float64 { return float64(c.cpu.Microseconds()) }), l.name+"-µs")
		b.ReportMetric(per(func(c cost) float64 { return float64(c.objects) }), l.name+"-allocs")
		b.ReportMetric(per(func(c cost) float64 { return float64(c.bytes) / 1024 }), l.name+"-KiB")
		before = c
	}
}

// layers returns the layers of the gateway.
func (r *rig) layers(b *testing.B, path string) []layer {
	b.Helper()
	number, err := strconv.ParseInt(path[strings.LastIndexByte(path, '/')+1:], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	x, err := r.rest.Explain(b.Context(), path, nil)
	if err != nil {
		b.Fatal(err)
	}
	doc, err := r.graph.Prepare(x.Query)
	if err != nil {
		b.Fatal(err)
	}
	g := testenv.Over(b, r.pool.Config().ConnString(),
		func(o *testenv.Options) {
			o.Storage.MaxConnections = 2*clients + 1
			o.AccessLog = gateway.NewAccessLog(io.Discard, func(out io.Writer) slog.Handler { // as serve writes it
				return slog.NewJSONHandler(out, nil)
			})
		})
	// direct is a way that calls a function.
	direct := func(name string, call func(ctx context.Context) error) way {
		return newWay(b, name, func() client {
			to := newSink()
			return client{to: to, ask: func() {
				to.status = http.StatusOK
				if err := call(b.Context()); err != nil {
					to.status = http.StatusInternalServerError
				}
			}}
		})
	}
	return []layer{
		{"driver", direct("driver", func(ctx context.Context) error {
			batch := r.db.NewBatch()
			_, err := storage.Run(ctx, batch, transactions.QueueBlocks(batch, []int64{number}))
			return err
		})},
		{"plan", direct("plan", func(ctx context.Context) error {
			res := r.graph.Run(ctx, server.Call{
				Document: doc, Operation: x.OperationName, Style: scalar.REST,
				Variables: map[string]any{"number": number, "receipts": true},
				Limits:    relay.Limits{Default: pageSize, Max: pageSize},
			})
			defer r.graph.Done(res.Data)
			if len(res.Errors) > 0 {
				return res.Errors
			}
			return nil
		})},
		{"parameters+writing", r.get(b, "rest", path, r.rest)},
		{"middleware+turn", r.get(b, "gateway", path, g.Public())},
		{"socket", dial(b, "socket", strings.TrimPrefix(g.URL, "http://"), path)},
	}
}

// handLayers returns the layers of the hand-written handler.
func (r *rig) handLayers(b *testing.B, path string) []layer {
	b.Helper()
	s := httptest.NewServer(r.hand)
	b.Cleanup(s.Close)
	return []layer{
		{"hand", r.get(b, "hand", path, r.hand)},
		{"hand-socket", dial(b, "hand-socket", strings.TrimPrefix(s.URL, "http://"), path)},
	}
}

// dial is a way whose clients have a connection each.
func dial(b *testing.B, name, address, path string) way {
	b.Helper()
	text := []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
	return newWay(b, name, func() client {
		conn, err := net.Dial("tcp", address) //nolint:noctx // ends with the test
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		to, from := newSink(), bufio.NewReader(conn)
		return client{to: to, ask: func() {
			to.status = 0
			if _, err := conn.Write(text); err == nil {
				to.status, _ = response(from)
			}
		}}
	})
}

// response reads a response with a length, and returns its status.
func response(from *bufio.Reader) (status int, err error) {
	length := 0
	for first := true; ; first = false {
		line, err := from.ReadSlice('\n')
		switch {
		case err != nil:
			return 0, fmt.Errorf("reading a response: %w", err)
		case first:
			status, _ = strconv.Atoi(string(line[9:12]))
		case len(line) == 2: // the empty line
			_, err := from.Discard(length)
			return status, err
		case strings.HasPrefix(string(line), "Content-Length: "):
			length, _ = strconv.Atoi(strings.TrimSpace(string(line[len("Content-Length: "):])))
		}
	}
}

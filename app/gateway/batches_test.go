package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/admission"
)

// connections is a tracer that counts the connections on which statements run. Each statement takes a while, so that
// those of concurrent operations run at the same time if they can.
type connections struct {
	mu       sync.Mutex
	now, max int
}

func (c *connections) begin() {
	c.mu.Lock()
	c.now++
	c.max = max(c.max, c.now)
	c.mu.Unlock()
	time.Sleep(20 * time.Millisecond)
}

func (c *connections) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
}

// reset returns the maximum so far, and sets it to 0.
func (c *connections) reset() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := c.max
	c.max = 0
	return most
}

func (c *connections) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.begin()
	return ctx
}

func (c *connections) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) { c.end() }

func (c *connections) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.begin()
	return ctx
}

func (*connections) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (c *connections) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) { c.end() }

// TestBatchConnections checks that a batch of ten lists waits for its turn as one request, and then uses the
// connections of one operation.
func TestBatchConnections(t *testing.T) {
	t.Parallel()
	var operations []map[string]string
	for i := range 10 {
		operations = append(operations, map[string]string{"query": fmt.Sprintf(
			`{ accounts(first: %d) { nodes { entityId tokens(first: 2) { nodes { balance } } } } }`, i+2)})
	}
	body, err := json.Marshal(operations)
	if err != nil {
		t.Fatal(err)
	}
	for most := 1; most <= 3; most++ {
		var used connections
		g := testenv.Demo(t, queue(admission.Options{}), func(o *testenv.Options) {
			o.Storage.Tracer, o.Storage.PerOperation, o.Storage.MaxConnections = &used, most, 8
		})
		used.reset() // without what is read at the start
		free := occupy(t, g, own)
		state := func() (waiting, served int64) {
			for _, s := range g.DB.Queue().Stats() {
				waiting += s.Waiting
				served += s.Served
			}
			return waiting, served
		}
		_, before := state()
		responses := make(chan *testenv.Response)
		go func() {
			responses <- g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
		}()
		eventually(t, "the batch to wait as one request", func() bool {
			waiting, _ := state()
			return waiting == 1
		})
		if used.reset() > 0 {
			t.Errorf("%d connections: statements run before the turn of the batch", most)
		}
		free()
		resp := <-responses
		got := strings.Count(resp.Body, `{"data":{"accounts":`)
		if resp.Status != http.StatusOK || got != len(operations) {
			t.Fatalf("%d connections: %d responses: %d %.300s", most, got, resp.Status, resp.Body)
		}
		if got := used.reset(); got != most {
			t.Errorf("a batch uses %d connections at the same time, and an operation can use %d", got, most)
		}
		if _, served := state(); served != before+1 {
			t.Errorf("%d connections: %d requests were served, want one", most, served-before)
		}
	}
}

//go:build soak

package soak

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/embedded"
	"heliograph/storage/migrations"
)

// firstTopic is the number of the first topic.
const firstTopic = 9001

// network is a PostgreSQL server with a ledger, and a gateway over it in a separate process.
type network struct {
	dir     string
	server  *embedded.Server
	url     string
	gateway *exec.Cmd
	address string
}

// startNetwork starts both. The gateway is the binary that `make build` creates.
func startNetwork(t *testing.T) *network {
	t.Helper()
	//nolint:usetesting // the folders of t.TempDir are closed to the user that PostgreSQL runs as
	dir, err := os.MkdirTemp("", "heliograph-soak")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	n := &network{dir: dir}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	n.startServer(t)
	t.Cleanup(func() { n.stopServer(t) })
	quiet := slog.New(slog.DiscardHandler)
	if err := migrations.Ledger(t.Context(), n.url, quiet); err != nil {
		t.Fatal(err)
	}
	n.gateway, n.address = n.startGateway(t, freeAddress(t))
	t.Cleanup(func() { stopGateway(n.gateway) })
	return n
}

// startGateway starts a gateway over the server. It returns the address where it serves requests.
func (n *network) startGateway(t *testing.T, listen string, args ...string) (gateway *exec.Cmd, address string) {
	t.Helper()
	binary, err := filepath.Abs("../../../bin/heliograph")
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{
		"serve", "--listen", listen, "--admin-listen", "", "--database-url", n.url, "--log-format",
		"text", "--log-level", "warn",
	}, args...)
	gateway = exec.Command(binary, args...)
	gateway.Stderr = os.Stderr
	if err := gateway.Start(); err != nil {
		t.Fatalf("%v: create the binary with `make build`", err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if resp, err := get(t.Context(), http.DefaultClient, "http://"+listen+"/health/liveness"); err == nil {
			_ = resp.Body.Close() // it is not read
			return gateway, listen
		}
	}
	t.Fatal("the gateway did not start")
	return nil, ""
}

func stopGateway(gateway *exec.Cmd) {
	_ = gateway.Process.Signal(syscall.SIGTERM)
	_ = gateway.Wait()
}

func (n *network) startServer(t *testing.T) {
	t.Helper()
	var err error
	if n.server, err = embedded.Start(t.Context(), embedded.Options{DataDir: n.dir}); err != nil {
		t.Fatal(err)
	}
	n.url = n.server.URL(embedded.Name)
}

func (n *network) stopServer(t *testing.T) {
	t.Helper()
	if err := n.server.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// resident returns the current and the peak memory of the gateway's process in MiB.
func (n *network) resident(t *testing.T) (now, peak int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.gateway.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) int {
		_, rest, _ := strings.Cut(string(text), name+":")
		kib, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		return kib >> 10
	}
	return read("VmRSS"), read("VmHWM")
}

// cpuTime returns the CPU time of the gateway's process.
func (n *network) cpuTime(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.gateway.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text)[strings.LastIndex(string(text), ")")+1:])
	var ticks int
	for _, f := range fields[11:13] {
		v, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += v
	}
	return time.Duration(ticks) * (10 * time.Millisecond)
}

// ownTime returns the CPU time of this process, which runs the clients and the writer.
func ownTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// writer inserts messages into the topics in turn, as an importer does: with their transactions, in order.
type writer struct {
	url    string
	topics int
	mu     sync.Mutex
	sent   int64 // messages that are in the database
}

// tick is the minimum time between transactions of the writer.
const tick = 10 * time.Millisecond

// write inserts rate messages per second for the given time. While the database is unavailable, messages wait.
func (w *writer) write(ctx context.Context, rate int, length time.Duration) error {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx)) // what was written is committed
		}
	}()
	start, before := time.Now(), w.count()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		passed := min(time.Since(start), length)
		due := before + int64(passed.Seconds()*float64(rate))
		if n := due - w.count(); n > 0 {
			if err := w.submit(context.WithoutCancel(ctx), &conn, n); err != nil { // counted if it is committed
				return err
			}
		}
		if passed == length && w.count() >= due {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func (w *writer) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// countMessages is the query for the number of messages in the database.
const countMessages = "select count(*) from topic_message"

// submit inserts n messages in one transaction. If the database fails, it disconnects and returns nil, so that the
// caller tries again. It fails only if the context has ended.
func (w *writer) submit(ctx context.Context, conn **pgx.Conn, n int64) error {
	if *conn == nil {
		c, err := pgx.Connect(ctx, w.url)
		if err != nil {
			return ctx.Err()
		}
		*conn = c
		// A commit whose response was lost may have succeeded.
		var sent int64
		if err := c.QueryRow(ctx, countMessages).Scan(&sent); err != nil {
			return w.disconnect(ctx, conn)
		}
		w.mu.Lock()
		w.sent = sent
		w.mu.Unlock()
		return nil
	}
	const sql = `
		with new as materialized (
			select $1::bigint + i as at, $2::bigint + i as number, $3::bigint + ($2::bigint + i) % $4::bigint as topic, ($2::bigint + i) / $4::bigint + 1 as sequence
			from generate_series(0, $5::bigint - 1) i),
		inserted as (
			insert into topic_message (consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash)
			select at, topic, sequence, 'soak', 1001, '\x01' from new)
		insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, entity_id, transaction_hash)
		select at, 27, 22, 1001, at - 1, topic, '\x01' from new`
	if _, err := (*conn).Exec(ctx, sql, time.Now().UnixNano(), w.count(), int64(firstTopic), int64(w.topics),
		n); err != nil {
		return w.disconnect(ctx, conn)
	}
	w.mu.Lock()
	w.sent += n
	w.mu.Unlock()
	return nil
}

func (w *writer) disconnect(ctx context.Context, conn **pgx.Conn) error {
	_ = (*conn).Close(context.WithoutCancel(ctx)) // it is broken already
	*conn = nil
	return ctx.Err()
}

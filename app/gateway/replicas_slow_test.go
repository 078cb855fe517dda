//go:build slow

package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/demo"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

// replicated are a primary, the first, and its standbys.
type replicated struct {
	ports [3]int
	cmds  [3]*exec.Cmd
}

// command returns a command of PostgreSQL, which refuses to run as root.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	folder := os.Getenv("HELIOGRAPH_PG_BINDIR")
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); folder == "" && len(found) > 0 {
		folder = found[len(found)-1]
	}
	if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
		name = path
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if u, err := user.Lookup("postgres"); err == nil && os.Getuid() == 0 {
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return cmd
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := command(t, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// startReplicated starts the servers with the demo network.
func startReplicated(t *testing.T) *replicated {
	t.Helper()
	//nolint:usetesting // the folders of t.TempDir are closed to the user that PostgreSQL runs as
	dir, err := os.MkdirTemp("", "replicas")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &replicated{}
	t.Cleanup(func() {
		for _, cmd := range r.cmds {
			if cmd != nil {
				_ = cmd.Process.Signal(syscall.SIGQUIT)
				_ = cmd.Wait()
			}
		}
		_ = os.RemoveAll(dir)
	})
	for i := range r.ports {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r.ports[i] = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
	}
	folder := func(i int) string { return filepath.Join(dir, strconv.Itoa(i)) }
	for i := range r.ports {
		if i == 0 {
			run(t, "initdb", "-D", folder(0), "-U", "heliograph", "-A", "trust", "-E", "UTF8", "--locale=C",
				"--no-sync")
		} else {
			run(t, "pg_basebackup", "-D", folder(i), "-h", "127.0.0.1", "-p", strconv.Itoa(r.ports[0]), "-U",
				"heliograph", "-R", "-X", "stream", "-c", "fast", "--no-sync")
		}
		args := []string{"-D", folder(i)}
		for _, setting := range []string{
			"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(r.ports[i]), "unix_socket_directories=", "fsync=off",
			"shared_buffers=32MB", "max_connections=100",
			"wal_keep_size=256MB", "wal_receiver_status_interval=1s", "autovacuum=off",
		} {
			args = append(args, "-c", setting)
		}
		r.cmds[i] = command(t, "postgres", args...)
		if err := r.cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
		r.exec(t, i, "postgres", `select 1`)
		if i == 0 {
			r.exec(t, 0, "postgres", `create database heliograph`)
			if err := testenv.Filled.Fill(t.Context(), r.url("heliograph", 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// url returns the URL of a database on some of the servers.
func (r *replicated) url(database string, servers ...int) string {
	var hosts []string
	for _, i := range servers {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", r.ports[i]))
	}
	return "postgres://heliograph@" + strings.Join(hosts, ",") + "/" + database
}

// exec runs statements on a server when it accepts connections.
func (r *replicated) exec(t *testing.T, i int, database string, statements ...string) (result string) {
	t.Helper()
	var conn *pgx.Conn
	var err error
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if conn, err = pgx.Connect(t.Context(), r.url(database, i)); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range statements {
		rows, err := conn.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if err == nil && rows.Next() && len(rows.RawValues()) > 0 {
			result = string(rows.RawValues()[0])
		}
		rows.Close()
		if err != nil || rows.Err() != nil {
			t.Fatalf("%s: %v %v", sql, err, rows.Err())
		}
	}
	return result
}

// kill kills a server.
func (r *replicated) kill(i int) {
	_ = r.cmds[i].Process.Kill()
	_ = r.cmds[i].Wait()
	r.cmds[i] = nil
}

// importer writes a block with a message 20 times a second. After a failover, it repeats what the new primary lacks,
// like an importer does.
type importer struct {
	url     string
	first   int // sequence number of the first message
	mu      sync.Mutex
	times   []time.Time
	written atomic.Int64 // sequence number of the newest message
	stopped atomic.Bool
	done    chan struct{}
}

const newest = `select max(sequence_number)::int, (select max(index) from record_file), (select max(consensus_end) ` +
	`from record_file) from topic_message where topic_id = 4001`

func startImporter(t *testing.T, r *replicated) *importer {
	t.Helper()
	m := &importer{
		url:  r.url("heliograph", 0, 1, 2) + "?target_session_attrs=read-write&connect_timeout=2",
		done: make(chan struct{}),
	}
	conn := pgtest.Connect(t, m.url)
	var block, end int64
	if err := conn.QueryRow(t.Context(), newest).Scan(&m.first, &block, &end); err != nil {
		t.Fatal(err)
	}
	m.written.Store(int64(m.first))
	start := time.Now()
	go func() {
		defer close(m.done)
		for !m.stopped.Load() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			var err error
			if conn == nil || conn.IsClosed() {
				var last int
				if conn, err = pgx.Connect(ctx, m.url); err == nil {
					var b, e int64
					if err = conn.QueryRow(ctx, newest).Scan(&last, &b, &e); err == nil {
						m.written.Store(int64(last))
					}
				}
			}
			if n := int(m.written.Load()) - m.first; err == nil {
				m.mu.Lock()
				if n == len(m.times) {
					m.times = append(m.times, time.Now())
				}
				at := end + m.times[n].Sub(start).Nanoseconds() + 1000
				m.mu.Unlock()
				_, err = conn.Exec(ctx, `with block as (
insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index)
values ('b' || $2::bigint, 0, 0, lpad(to_hex($2::bigint), 96, '0'), lpad(to_hex($2::bigint - 1), 96, '0'), $1::bigint - 10, $1::bigint, 1, 0, 6, 'f', $2::bigint)),
message as (insert into topic_message (consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash, running_hash_version)
values ($1::bigint - 5, 4001, $3, 'm', 1001, '\x01', 3))
insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, entity_id, transaction_hash)
values ($1::bigint - 5, 27, 22, 1001, $1::bigint - 6, 4001, '\x01')`, at, block+int64(n)+1, m.first+n+1)
			}
			cancel()
			if err == nil {
				m.written.Add(1)
			} else if conn != nil {
				_ = conn.Close(context.Background())
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { m.stopped.Store(true); <-m.done })
	return m
}

// since returns the sequence number of the newest message that was written before a time.
func (m *importer) since(at time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for n < len(m.times)-1 && m.times[n].Before(at) {
		n++
	}
	return m.first + n
}

// readers send requests and check the answers.
type readers struct {
	mu                      sync.Mutex
	requests, errors, wrong int
	firstError, lastError   time.Time
	slowest                 time.Duration
	text                    string
	unchecked               atomic.Bool // how recent the answers are
}

const maxTestLag = time.Second

func (c *readers) read(ctx context.Context, g *testenv.Gateway, m *importer) {
	query, _ := json.Marshal(map[string]string{"query": `{ topic(id: "0.0.4001") { messages(order: DESC, first: 3) { nodes { sequenceNumber payer { entityId } } } }
blocks(order: DESC, first: 2) { nodes { number previous { number } } } }`})
	for ctx.Err() == nil {
		start := time.Now()
		due := m.since(start.Add(-maxTestLag - time.Second))
		q, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, g.URL+"/graphql",
			bytes.NewReader(query))
		if err != nil {
			panic(err)
		}
		q.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(q)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		took := time.Since(start)
		failed := err != nil || resp.StatusCode != http.StatusOK || bytes.Contains(body, []byte(`"errors"`))
		wrong := false
		if !failed {
			var data struct {
				Data struct {
					Topic struct {
						Messages struct {
							Nodes []struct {
								SequenceNumber int `json:",string"`
								Payer          *struct{ EntityID string }
							}
						}
					}
					Blocks struct {
						Nodes []struct {
							Number   int `json:",string"`
							Previous *struct {
								Number int `json:",string"`
							}
						}
					}
				}
			}
			err := json.Unmarshal(body, &data)
			messages, blocks := data.Data.Topic.Messages.Nodes, data.Data.Blocks.Nodes
			wrong = err != nil || len(messages) != 3 || len(blocks) != 2
			for i := range messages {
				wrong = wrong || messages[i].Payer == nil || messages[i].SequenceNumber != messages[0].SequenceNumber-i
			}
			for _, b := range blocks {
				wrong = wrong || b.Previous == nil || b.Previous.Number != b.Number-1
			}
			wrong = wrong || !c.unchecked.Load() && messages[0].SequenceNumber < due
		}
		c.mu.Lock()
		c.requests++
		c.slowest = max(c.slowest, took)
		if failed {
			c.errors++
			c.text = string(body)
			c.lastError = time.Now()
			if c.firstError.IsZero() {
				c.firstError = c.lastError
			}
		}
		if wrong {
			c.wrong++
			c.text = string(body)
		}
		c.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
}

// report logs what happened since the last report, and fails the test if there were wrong answers or too many errors.
func (c *readers) report(t *testing.T, phase string, most int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("%-24s %5d requests, %3d errors within %.2f s, %d wrong, slowest %.2f s", phase, c.requests, c.errors,
		c.lastError.Sub(c.firstError).Seconds(), c.wrong,
		c.slowest.Seconds())
	if c.wrong > 0 || c.errors > most || c.requests < 10 {
		t.Errorf("%s: %s", phase, c.text)
	}
	c.requests, c.errors, c.wrong, c.slowest, c.firstError, c.lastError = 0, 0, 0, 0, time.Time{}, time.Time{}
}

// subscriber receives messages, each once and in order.
type subscriber struct {
	reached atomic.Int64
	failed  atomic.Pointer[string]
}

func follow(t *testing.T, g *testenv.Gateway, from string) *subscriber {
	t.Helper()
	s := &subscriber{}
	events := subscribe(t, g, listen, map[string]any{"topic": "0.0.4001", "from": from})
	number := regexp.MustCompile(`"sequenceNumber":"(\d+)"`)
	go func() {
		for e := range events {
			found := number.FindStringSubmatch(e.data)
			if found == nil || !strings.Contains(e.data, `"payer":{"id":"`) ||
				found[1] != strconv.FormatInt(s.reached.Load()+1, 10) {
				text := fmt.Sprintf("%s after message %d: %s", e.name, s.reached.Load(), e.data)
				s.failed.CompareAndSwap(nil, &text)
				return
			}
			s.reached.Add(1)
		}
	}()
	return s
}

// TestReplicas runs a gateway over a primary and two standbys while readers and subscribers use it: a standby that is
// late, conflicts with recovery, a standby that is killed, and a primary that is killed while a standby is promoted.
func TestReplicas(t *testing.T) {
	r := startReplicated(t)
	g := testenv.Over(t, r.url("heliograph", 0, 1, 2), func(o *testenv.Options) {
		o.Storage.MaxLag = maxTestLag
	},
		func(o *testenv.Options) { o.Graph.Backlog = 40 })
	m := startImporter(t, r)
	var subscribers []*subscriber
	reading, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	c := &readers{}
	for range 6 {
		running.Go(func() { c.read(reading, g, m) })
	}
	pass := func(d time.Duration) { // with new subscribers, which read the past
		for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(d / 4) {
			subscribers = append(subscribers, follow(t, g, "0.0"))
		}
	}
	write := func() error {
		_, err := g.Editor().SetPage(t.Context(), statuspages.Author{Name: "test"}, demo.StatusPage,
			[]status.PageSetting{{Key: "url", Value: "http://localhost:" + strconv.Itoa(int(m.written.Load()))}})
		return err
	}
	pass(3 * time.Second)
	c.report(t, "three servers", 0)
	ports := map[int64]bool{}
	for range 60 {
		ctx := values.Context(t.Context(), storage.Work(t.Context(), admission.Reads, false))
		for i, first := 0, int64(0); i < 3; i++ {
			port, err := storage.Value[int64](ctx, g.DB, "the port", `select inet_server_port()::bigint`)
			if err != nil || first != 0 && port != first {
				t.Fatalf("an operation reads from the servers %d and %d: %v", first, port, err)
			}
			first, ports[port] = port, true
		}
	}
	if len(ports) != 3 {
		t.Errorf("reads used %d of 3 servers", len(ports))
	}
	if err := write(); err != nil {
		t.Error(err)
	}

	r.exec(t, 2, "heliograph", `alter system set recovery_min_apply_delay = '10s'`, `select pg_reload_conf()`)
	pass(14 * time.Second)
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", http.NoBody))
	lag := regexp.MustCompile(fmt.Sprintf(`heliograph_server_lag_seconds\{server="127.0.0.1:%d"\} (\S+)`,
		r.ports[2])).FindStringSubmatch(w.Body.String())
	if seconds, err := strconv.ParseFloat(append(lag, "", "")[1], 64); err != nil || seconds < 8 || seconds > 13 {
		t.Errorf("the lag of the late server is %v s, %v", lag, err)
	}
	c.report(t, "a standby 10 s late", 0)
	r.exec(t, 2, "heliograph", `alter system reset recovery_min_apply_delay`,
		`alter system set max_standby_streaming_delay = 0`, `select pg_reload_conf()`)
	r.exec(t, 1, "heliograph", `alter system set max_standby_streaming_delay = 0`, `select pg_reload_conf()`)
	conflicts := 0
	for start := time.Now(); time.Since(start) < 6*time.Second || conflicts == 0 && time.Since(start) < time.Minute; {
		r.exec(t, 0, "heliograph", `update entity set memo = memo where id in (1001, 4001)`, `vacuum entity`,
			`begin; lock table topic_message in access exclusive mode; commit`)
		conflicts = 0
		for _, i := range []int{1, 2} {
			n, _ := strconv.Atoi(r.exec(t, i, "heliograph",
				`select sum(confl_snapshot + confl_lock + confl_bufferpin + confl_deadlock) from `+
					`pg_stat_database_conflicts`))
			conflicts += n
		}
	}
	t.Logf("%d conflicts with recovery", conflicts)
	if conflicts == 0 {
		t.Error("there were no conflicts with recovery")
	}
	c.report(t, "conflicts with recovery", 0)

	pass(time.Second)
	r.kill(1)
	pass(4 * time.Second)
	c.report(t, "a standby is killed", 0)

	c.unchecked.Store(true)
	killed := time.Now()
	r.kill(0)
	time.Sleep(time.Second)
	before := m.written.Load()
	r.exec(t, 2, "postgres", `select pg_promote(true, 20)`)
	promoted := time.Since(killed)
	for write() != nil {
		if time.Since(killed) > time.Minute {
			t.Fatal("status pages cannot be written after the promotion")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("promoted after %.2f s, a status page was written after %.2f s", promoted.Seconds(),
		time.Since(killed).Seconds())
	for m.written.Load() < before+20 {
		if time.Since(killed) > time.Minute {
			t.Fatal("the importer does not continue")
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.report(t, "the primary is killed", 2*6) // those in flight, of six readers
	c.unchecked.Store(false)
	pass(2 * time.Second)
	c.report(t, "one server", 0)

	m.stopped.Store(true)
	<-m.done
	last := m.written.Load()
	for i, s := range subscribers {
		for end := time.Now().Add(20 * time.Second); s.reached.Load() < last && s.failed.Load() == nil &&
			time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		if text := s.failed.Load(); text != nil || s.reached.Load() != last {
			t.Errorf("subscriber %d received %d of %d messages: %v", i, s.reached.Load(), last, text)
		}
	}
	t.Logf("%d subscribers received %d messages each", len(subscribers), last)
}

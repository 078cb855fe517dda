package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/profile"
	"heliograph/resolvers/contractcalls"
	"heliograph/rest"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
)

// asCommand makes the test binary behave as the program itself.
const asCommand = "HELIOGRAPH_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	for _, variable := range os.Environ() { // commands run without settings of the environment
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "HELIOGRAPH_") && name != "HELIOGRAPH_PG_BINDIR" {
			_ = os.Unsetenv(name) // fails for invalid names only
		}
	}
	pgtest.Main(m)
}

// command returns a command that runs the program with arguments, in an environment without Heliograph settings.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{
		asCommand + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"GORACE=" + os.Getenv("GORACE"),
	}
	if dir := os.Getenv("HELIOGRAPH_PG_BINDIR"); dir != "" {
		cmd.Env = append(cmd.Env, "HELIOGRAPH_PG_BINDIR="+dir)
	}
	return cmd
}

// result is the outcome of a command.
type result struct {
	code           int
	stdout, stderr string
}

// runProcess runs a command as a process of its own.
func runProcess(t *testing.T, args ...string) result {
	t.Helper()
	cmd := command(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// running is held while a command runs in this process, because commands write to the standard output and error of the
// process.
var running sync.Mutex

// newParser returns a parser of the command line. It reads the standard output and error of the process.
func newParser(t *testing.T, target *commands) *kong.Kong {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	parser, err := kong.New(target, kong.Name("heliograph"), kong.BindTo(t.Context(), (*context.Context)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// runCommand runs a command in this process, which saves the start of another one.
func runCommand(t *testing.T, args ...string) result {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	logger, memory := slog.Default(), debug.SetMemoryLimit(-1) // serve sets both
	out, errs := capture(t, &os.Stdout), capture(t, &os.Stderr)
	code := run(ctx, args)
	slog.SetDefault(logger)
	debug.SetMemoryLimit(memory)
	return result{code, out(), errs()}
}

// capture redirects a file of the process, and returns a function that ends this and returns what was written.
func capture(t *testing.T, file **os.File) func() string {
	t.Helper()
	temporary, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	original := *file
	*file = temporary
	return func() string {
		*file = original
		text, err := os.ReadFile(temporary.Name())
		if err := errors.Join(err, temporary.Close()); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// dataDir returns a folder that the user of the embedded server can access.
func dataDir(t *testing.T) string {
	t.Helper()
	//nolint:usetesting // the folders of t.TempDir are closed to the user that PostgreSQL runs as
	dir, err := os.MkdirTemp("", "heliograph-cmd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Log(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBadInput checks that each mistake is reported in one line and with a non-zero exit code.
func TestBadInput(t *testing.T) {
	t.Parallel()
	taken := listen(t, "127.0.0.1:0")
	empty := pgtest.Database(t)
	partly := pgtest.Database(t)
	foreign := tables.Ledger.Fresh(t)
	execSQL(t, partly, "create table entity (id bigint primary key)")
	execSQL(t,
		foreign,
		"insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, "+
			"count, digest_algorithm, version, file_hash, index) "+
			"values ('a', 0, 0, repeat('0', 96), repeat('0', 96), 1, 2, 0, 0, 6, repeat('0', 96), 1)")
	free := []string{"--listen", "127.0.0.1:0", "--admin-listen", ""}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"unknown flag":    {[]string{"serve", "--colour"}, `unknown flag --colour`},
		"unknown command": {[]string{"sreve"}, `unexpected argument sreve`},
		"number expected": {
			[]string{"serve", "--limit-max", "many"},
			`--limit-max: expected a valid 64 bit int but got "many"`,
		},
		"limit 0": {
			append([]string{"serve", "--limit-default", "0"}, free...),
			`--limit-default (HELIOGRAPH_LIMIT_DEFAULT) must be 1 or more, not 0`,
		},
		"no connections": {
			append([]string{"serve", "--max-connections", "0"}, free...),
			`--max-connections (HELIOGRAPH_MAX_CONNECTIONS) must be 1 or more, not 0`,
		},
		"too little memory": {
			append([]string{"serve", "--memory-limit", "1"}, free...),
			`--memory-limit (HELIOGRAPH_MEMORY_LIMIT) must be 67108864 or more, not 1`,
		},
		"timeout too short": {
			append([]string{"serve", "--request-timeout", "1us"}, free...),
			`--request-timeout (HELIOGRAPH_REQUEST_TIMEOUT) must be 10ms or more, not 1µs`,
		},
		"more than everything": {
			append([]string{"serve", "--evm-refund-percent", "101"}, free...),
			`--evm-refund-percent (HELIOGRAPH_EVM_REFUND_PERCENT) must be 100 at most, not 101`,
		},
		"less gas than any call": {
			append([]string{"serve", "--evm-gas-per-second", "20999"}, free...),
			`--evm-gas-per-second (HELIOGRAPH_EVM_GAS_PER_SECOND) must be 21000 or more, not 20999`,
		},
		"no call has so little gas": {
			append([]string{"serve", "--evm-max-gas", "20999"}, free...),
			`--evm-max-gas (HELIOGRAPH_EVM_MAX_GAS) must be 21000 or more, not 20999`,
		},
		"throttle without a limit": {
			append([]string{
				"serve", "--evm-request-filters", `[{"field":"TO","pattern":".","action":"THROTTLE"}]`,
			}, free...),
			`entry 1: invalid limit 0: use 1 or more`,
		},
		"negative delay": {
			append([]string{"serve", "--shutdown-delay=-1s"}, free...),
			`--shutdown-delay (HELIOGRAPH_SHUTDOWN_DELAY) must be 0s or more, not -1s`,
		},
		"no value": {
			[]string{"serve", "--require-ledger", "--listen", "127.0.0.1:0"},
			`--require-ledger needs a value (try heliograph serve --help)`,
		},
		"invalid demo mode": {[]string{"serve", "--demo", "perhaps"}, `"perhaps" is not on, off or live`},
		"live demo, external database": {
			[]string{"serve", "--demo=live", "--database-url", foreign},
			"--demo=live writes",
		},
		"live demo, fixed time": {
			[]string{"serve", "--demo=live", "--fixed-time", "2026-01-01T00:00:00Z"},
			"--demo=live needs a running clock",
		},
		"invalid time": {
			append([]string{"serve", "--fixed-time", "noon"}, free...),
			`HELIOGRAPH_FIXED_TIME "noon" is not an RFC 3339 time`,
		},
		"shard out of range": {
			append([]string{"serve", "--shard", "5000"}, free...),
			`shard 5000 and realm 0`,
		},
		"users are not a list": {append([]string{"serve", "--users", `{"username":"a","password":"hidden"}`},
			free...), `HELIOGRAPH_USERS is not a JSON list`},
		"user without password": {
			append([]string{"serve", "--users", `[{"username":"a"}]`}, free...),
			`entry 1 has no username or no password`,
		},
		"duplicate user": {
			append([]string{
				"serve", "--users",
				`[{"username":"a","password":"hidden"},{"username":"a","password":"hidden"}]`,
			}, free...),
			`entry 2 repeats a username`,
		},
		"origin without scheme": {
			append([]string{"serve", "--cors-origins", "app.example.com"}, free...),
			`"app.example.com" is not an origin`,
		},
		"invalid proxy": {
			append([]string{"serve", "--trusted-proxies", "home"}, free...),
			`"home" is not an address or a network`,
		},
		"invalid database URL": {
			append([]string{"serve", "--database-url", "mysql://hidden@host"}, free...),
			`(HELIOGRAPH_DATABASE_URL) is not a PostgreSQL URL`,
		},
		"unreachable database": {
			append([]string{
				"serve", "--database-url",
				"postgres://me:hidden@127.0.0.1:1/ledger", "--require-ledger=on",
			}, free...),
			`cannot use the database ledger on 127.0.0.1`,
		},
		"missing database": {
			append([]string{"serve", "--database-url", otherDatabase(t, empty)}, free...),
			`does not exist`,
		},
		"no tables": {
			append([]string{"serve", "--database-url", empty}, free...),
			"run `heliograph migrate` to create them",
		},
		"some tables": {
			append([]string{"serve", "--database-url", partly}, free...),
			"missing tables: account_balance",
		},
		"migrate over some tables": {[]string{"migrate", "--database-url", partly}, "entity"},
		"migrate without a ledger": {
			[]string{"migrate", "--status-database-url", empty},
			"--database-url is missing",
		},
		"distribute the embedded database": {[]string{"migrate", "--citus"}, "--citus needs --database-url"},
		"demo over other data":             {[]string{"demo", "--database-url", foreign}, "use an empty database"},
		"check an invalid URL": {
			[]string{"check", "--database-url", "hidden"},
			"such as postgres://user@host:5432/name",
		},
		"check without tables": {
			[]string{"check", "--database-url", empty},
			"`heliograph migrate` creates the tables in an empty database",
		},
		"missing file of keys": {append([]string{
			"serve", "--database-url", foreign, "--api-keys",
			"/nonexistent",
		}, free...), "the file of --api-keys: stat /nonexistent"},
		"compare without a gateway": {[]string{
			"compare", "--against", "http://127.0.0.1:1", "--url",
			"http://127.0.0.1:1",
		}, "start the gateway, or give its URL with --url"},
		"port in use": {
			[]string{"serve", "--listen", taken.Addr().String(), "--database-url", empty},
			"the address " + taken.Addr().String() + " is already in use",
		},
		"admin port in use": {[]string{
			"serve", "--listen", "127.0.0.1:0", "--admin-listen",
			taken.Addr().String(), "--database-url", empty,
		}, "is already in use"},
		"invalid address": {
			[]string{"serve", "--listen", "nowhere", "--database-url", empty},
			"cannot listen on nowhere",
		},
		"no PostgreSQL": {append([]string{
			"serve", "--pg-bindir", "/nonexistent", "--data-dir",
			dataDir(t),
		}, free...), "/nonexistent"},
		"health of no gateway": {
			[]string{"health", "--admin-listen", "127.0.0.1:1"},
			"the gateway does not respond",
		},
		"group without a command": {
			[]string{"status"},
			"heliograph status needs one of its commands (try heliograph status --help)",
		},
		"nested group": {[]string{"status", "incident"}, "(try heliograph status incident --help)"},
		"address without port": {
			[]string{"serve", "--listen", "8080", "--database-url", empty},
			"with a port, for example 127.0.0.1:8080",
		},
		"explain without a slash": {[]string{"explain", "api/v1/blocks"}, "paths begin with /api/v1/"},
		"explain without path":    {[]string{"explain"}, `expected "<path>"`},
		"explain an unknown path": {[]string{"explain", "/api/v9/accounts"}, "no such path: /api/v9/accounts"},
		"explain an invalid parameter": {
			[]string{"explain", "/api/v1/accounts?limit=none"},
			"Invalid parameter: limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			execute := runCommand
			if name == "unknown flag" || name == "no tables" {
				execute = runProcess
			}
			r := execute(t, c.args...)
			if r.code == 0 || r.code != exitUsage && strings.Contains(c.want, "HELIOGRAPH_") {
				t.Errorf("exit code %d, standard error %s", r.code, r.stderr)
			}
			if !strings.Contains(r.stderr, c.want) {
				t.Errorf("standard error %q, want %q", r.stderr, c.want)
			}
			if n := strings.Count("\n"+r.stderr, "\nheliograph: "); n != 1 {
				t.Errorf("%d error messages: %q", n, r.stderr)
			}
			if strings.Contains(r.stderr+r.stdout, "hidden") {
				t.Errorf("output contains a secret: %q", r.stderr)
			}
		})
	}
}

// TestCheck checks the table for a complete and for an empty database, and that settings which sessions set themselves
// have no row without a pooler.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url  string
		want []string
	}{
		"complete": {tables.Ledger.Fresh(t), []string{
			"age of the newest block none", "missing tables and columns 0",
			"status pages no tables", "pooler off",
		}},
		"empty": {pgtest.Database(t), []string{
			"missing all tables correct the name of the database",
			"status pages no tables",
		}},
	} {
		r := runCommand(t, "check", "--database-url", c.url)
		got := strings.Join(strings.Fields(r.stdout), " ")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, r.stdout)
			}
		}
		if strings.Contains(got, "jit") || name == "empty" && strings.Count(r.stdout, "\n") != 5 {
			t.Errorf("%s: unexpected rows in\n%s", name, r.stdout)
		}
	}
	r := runCommand(t, "check", "--database-url", tables.Ledger.Fresh(t), "--status-database-url",
		"postgres://me:hidden@127.0.0.1:1/pages")
	if r.code != 0 || !strings.Contains(r.stdout, "cannot use the database pages on 127.0.0.1") ||
		strings.Contains(r.stdout, "hidden") {
		t.Errorf("unreachable status database: exit code %d, %s", r.code, r.stdout+r.stderr)
	}
}

// TestUnknownVariables checks that misspelled variables are reported, but not those that Kubernetes sets.
// TestGasOfCalls checks that no call may have more gas than all calls of a second.
func TestGasOfCalls(t *testing.T) {
	t.Parallel()
	for gas, want := range map[int64]int64{30_000_000: 15_000_000, 1_000_000: 1_000_000} {
		s := evmSettings{Options: contractcalls.Options{MaxGas: 15_000_000, GasPerSecond: gas}}
		if o, err := s.evm(true, false); err != nil || o.MaxGas != want {
			t.Errorf("with %d gas per second a call may have %d, want %d; %v", gas, o.MaxGas, want, err)
		}
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	got := unknownVariables(newParser(t, &commands{}).Model, []string{
		"HELIOGRAPH_DATABASE_URL=x", "HELIOGRAPH_STATUS_PAGE=x", "HELIOGRAPH_DATABSE_URL=x", "PATH=x",
		"HELIOGRAPH_SERVICE_HOST=x", "HELIOGRAPH_PORT_8080_TCP_ADDR=x",
	})
	if len(got) != 1 || got[0] != "HELIOGRAPH_DATABSE_URL" {
		t.Errorf("got %q", got)
	}
}

// TestCheckDistributed tests the row of a setting that only databases with distributed tables have.
func TestCheckDistributed(t *testing.T) {
	t.Parallel()
	const name = "citus.max_adaptive_executor_pool_size"
	url := tables.Ledger.Fresh(t)
	mark := "?"
	if strings.Contains(url, "?") {
		mark = "&"
	}
	check := func(pool, kept string) string {
		t.Helper()
		r := runCommand(t, "check", "--database-url", url+mark+name+"="+pool+"&citus.max_cached_conns_per_worker="+
			kept)
		if r.code != 0 {
			t.Errorf("exit code %d: %s", r.code, r.stderr)
		}
		return regexp.MustCompile("(?m)^(" + name + ".*|.*ERROR.*)$").FindString(r.stdout)
	}
	if got := check("16", "1"); got != "" {
		t.Errorf("without distributed tables: %q", got)
	}
	execSQL(t, url, `create view citus_tables as select 'entity' table_name`)
	for kept, want := range map[string]string{
		"1": "16 alter role postgres set " + name + " = 1",
		"4": "16 alter role postgres set " + name + " = 4", "16": "16",
	} {
		got := strings.TrimPrefix(strings.Join(strings.Fields(check("16", kept)), " "), name+" ")
		if regexp.MustCompile(`role \S+ set`).ReplaceAllString(got, "role postgres set") != want {
			t.Errorf("%s kept: %q, want %q", kept, got, want)
		}
	}
}

// otherDatabase returns the URL of a database that does not exist.
func otherDatabase(t *testing.T, url string) string {
	t.Helper()
	return strings.Replace(url, "/"+config(t, url).Database, "/nosuchdatabase", 1)
}

func execSQL(t *testing.T, url, sql string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // also used for the cleanup
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}

// process is a running program.
type process struct {
	cmd      *exec.Cmd
	base     string
	database chan string // receives the URL of the embedded database once it is logged
	out      *bytes.Buffer
}

// start runs "serve" and waits until it listens.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	g := &process{cmd: command(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""},
		args...)...), out: &bytes.Buffer{}, database: make(chan string, 1)}
	log, writer := io.Pipe()
	g.cmd.Stderr = io.MultiWriter(g.out, writer)
	stdout, err := g.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.cmd.Process.Kill() })
	found := make(chan string, 2)
	go func() {
		listening := regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				found <- "http://" + m[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, log) // the writer must not block
	}()
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if url, ok := strings.CutPrefix(lines.Text(), "  database  "); ok {
				g.database <- url
			}
		}
		_ = writer.Close() // the process has ended
		found <- ""
	}()
	select {
	case g.base = <-found:
	case <-time.After(5 * time.Minute): // creating the demo network takes minutes on a busy machine
	}
	if g.base == "" {
		t.Fatalf("the gateway did not start: %s", g.out)
	}
	return g
}

// end sends a signal and returns the exit code.
func (g *process) end(t *testing.T, sig os.Signal) int {
	t.Helper()
	if err := g.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = g.cmd.Wait() // the error only repeats the exit code
	return g.cmd.ProcessState.ExitCode()
}

// send sends a request. Headers have the form "Name: value".
func send(
	t *testing.T, method, url, body string, headers ...string,
) (status int, header http.Header, response string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func statusOf(t *testing.T, url string) int {
	t.Helper()
	status, _, _ := send(t, http.MethodGet, url, "")
	return status
}

// TestEmbedded starts with an empty folder, serves the demo network, rejects a second gateway on the same data, stops
// cleanly and starts again.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	g := start(t, "--data-dir", dir)
	for _, path := range []string{
		"/health/liveness", "/health/readiness", "/graphiql", "/graphql/schema.graphql",
		"/api/v1/accounts", "/api/v1/blocks/1",
	} {
		if got := statusOf(t, g.base+path); got != http.StatusOK {
			t.Errorf("%s: %d", path, got)
		}
	}
	t.Run("examples", func(t *testing.T) { tryExamples(t, g.base) })
	t.Run("subscription", func(t *testing.T) { trySubscription(t, g.base) })
	second := runCommand(t, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--data-dir", dir)
	if second.code == 0 || !strings.Contains(second.stderr, dir) {
		t.Errorf("second gateway on the folder: exit code %d, standard error %q", second.code, second.stderr)
	}
	if code := g.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d after SIGTERM: %s", code, g.out)
	}
	again := start(t, "--data-dir", dir, "--demo=live")
	if got := statusOf(t, again.base+"/api/v1/accounts/1001"); got != http.StatusOK {
		t.Errorf("status %d after a restart", got)
	}
	waitForBlock(t, again)
	pid, err := os.ReadFile(filepath.Join(dir, postmasterFile(t, dir)))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(pid), "\n")
	n, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := again.cmd.Wait(); again.cmd.ProcessState.ExitCode() != exitDatabaseDied {
		t.Errorf("the database process was killed: %v: %s", err, again.out)
	}
}

// trySubscription subscribes to the messages of a topic from the first one.
func trySubscription(t *testing.T, base string) {
	t.Helper()
	body := `{"query":"subscription { topicMessages(topic: \"0.0.4001\", from: \"0.0\") { sequenceNumber } }"}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/graphql", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // the stream does not end
	const want = ":\n\nevent: next\ndata: {\"data\":{\"topicMessages\":{\"sequenceNumber\":\"1\"}}}\n\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// waitForBlock waits for a new block of a live demo network.
func waitForBlock(t *testing.T, g *process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	body := `{"query":"subscription { blocks { number count } }"}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.base+"/graphql", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // the stream does not end
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), `data: {"data":{"blocks":{"number":"`) {
			return
		}
	}
	t.Errorf("no new block: %s", g.out)
}

// TestLiveNeedsTheDemo checks that --demo=live fails if the embedded database contains other data than the demo
// network.
func TestLiveNeedsTheDemo(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	g := start(t, "--data-dir", dir, "--demo=off")
	execSQL(t, <-g.database, "insert into entity (id, num, realm, shard, timestamp_range) values (5, 5, 0, 0, '[1,)')")
	if code := g.end(t, syscall.SIGTERM); code != 0 {
		t.Fatalf("exit code %d without the demo network", code)
	}
	r := runCommand(t, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--data-dir", dir, "--demo=live")
	if r.code == 0 || !strings.Contains(r.stderr, "the embedded database contains other data") {
		t.Errorf("exit code %d, standard error %q", r.code, r.stderr)
	}
}

// postmasterFile returns the file with the process id of the server, below the data folder.
func postmasterFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "pg*", "data", "postmaster.pid"))
	if err != nil || len(found) != 1 {
		t.Fatalf("looking for postmaster.pid: %v, %v", found, err)
	}
	rel, err := filepath.Rel(dir, found[0])
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// TestAttached serves an external database with a role that cannot write.
func TestAttached(t *testing.T) {
	t.Parallel()
	url := tables.Ledger.Fresh(t)
	if r := runCommand(t, "demo", "--database-url", url); r.code != 0 {
		t.Fatalf("demo: %s", r.stderr)
	}
	if r := runCommand(t, "migrate", "--database-url", url); r.code != 0 || !strings.Contains(r.stdout, "up to date") {
		t.Fatalf("migrate: %s %s", r.stdout, r.stderr)
	}
	reader := pgtest.Role(t, url)
	execSQL(t, url, "grant select on all tables in schema public to "+reader)
	l := listen(t, "127.0.0.1:0")
	admin := l.Addr().String()
	_ = l.Close()
	g := start(t, "--database-url", strings.Replace(url, config(t, url).User+"@", reader+"@", 1),
		"--admin-listen", admin)
	for _, path := range []string{
		"/health/readiness", "/api/v1/accounts/1001", "/api/v1/balances", "/api/v1/blocks",
		"/api/v1/transactions", "/api/v1/topics/4001", "/api/v1/topics/4001/messages",
	} {
		if got := statusOf(t, g.base+path); got != http.StatusOK {
			t.Errorf("%s: %d", path, got)
		}
	}
	analyze(t, admin)
	readAtOnce(t, g.base, "/api/v1/blocks?limit=10")
	if code := g.end(t, syscall.SIGINT); code != 0 {
		t.Errorf("exit code %d after SIGINT: %s", code, g.out)
	}
}

// readAtOnce checks that a response of some kilobytes arrives as one part, each of twenty times.
func readAtOnce(t *testing.T, base, path string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	part := make([]byte, 64<<10)
	for range 20 {
		_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
		n, err := conn.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		header, body, _ := bytes.Cut(part[:n], []byte("\r\n\r\n"))
		length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
		if len(body) < 5000 || !bytes.Contains(append(header, "\r\n"...), []byte(length)) {
			t.Fatalf("%d bytes of the body arrive with the header:\n%s", len(body), header)
		}
	}
}

// analyze checks the plans that the command prints, of REST paths, a document and a request.
func analyze(t *testing.T, admin string) {
	t.Helper()
	document, request := filepath.Join(t.TempDir(), "accounts.graphql"), filepath.Join(t.TempDir(), "account.json")
	for file, text := range map[string]string{
		document: `{ accounts(first: 2) { nodes { tokens { nodes { balance } } } } }`,
		request: `{"query":"query($id: AccountRef!) { account(id: $id) { memo } }",` +
			`"variables":{"id":"0.0.1001"}}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for argument, want := range map[string][]string{
		"/api/v1/accounts?limit=2":    {"█", " page\n", "the slowest, ", "round trips"},
		"POST /api/v1/contracts/call": {" body\n", "1 levels, 2 round trips"},
		document:                      {"\n    2    2 ", " accounts.nodes.tokens\n", "2 levels, 2 round trips"},
		request: {
			" account\n", "1 levels, 1 round trips, 1 statements", " entity entity_pkey\n",
		},
		"/api/v1/accounts?limit=x":      nil,
		filepath.Join(document, "none"): nil,
	} {
		r := runCommand(t, "explain", "--analyze", "--admin-listen", admin, argument)
		if want == nil != (r.code != 0) {
			t.Errorf("%s: exit code %d: %s", argument, r.code, r.stderr)
		}
		for _, part := range want {
			if !strings.Contains(r.stdout, part) {
				t.Errorf("%s: %q is missing in\n%s%s", argument, part, r.stdout, r.stderr)
			}
		}
	}
	r := runCommand(t, "explain", "--analyze", "--json", "--admin-listen", admin, request)
	var plan profile.Profile
	if err := json.Unmarshal([]byte(r.stdout), &plan); err != nil || len(plan.Statements) != 1 {
		t.Errorf("--json: %v: %s%s", err, r.stdout, r.stderr)
	}
}

// TestDegraded starts without the ledger database: the status page serves, and ledger requests fail until the database
// responds.
func TestDegraded(t *testing.T) {
	t.Parallel()
	cfg, pages := twoDatabases(t)
	l := listen(t, "127.0.0.1:0")
	address := l.Addr().String()
	_ = l.Close() // the database is down
	g := start(t, "--database-url", "postgres://"+cfg.User+"@"+address+"/"+cfg.Database+"?sslmode=disable",
		"--status-database-url", pages,
		"--operator-tokens", "ops:operator:"+strings.Repeat("0", 32))
	check := func(want map[string]int) {
		t.Helper()
		for path, status := range want {
			if got := statusOf(t, g.base+path); got != status {
				t.Errorf("%s: %d, want %d", path, got, status)
			}
		}
	}
	check(map[string]int{
		"/": 200, "/api/v2/summary.json": 200, "/health/readiness": 200, "/health/readiness/status": 200,
		"/health/readiness/ledger": 503, "/api/v1/accounts": 503,
	})
	for part, want := range map[string]int{"": 0, "ledger": 1, "status": 0} {
		if r := runCommand(t, "health", "--admin-listen", strings.TrimPrefix(g.base, "http://"),
			"--part", part); r.code != want {
			t.Errorf("health of %q: exit code %d, want %d: %s", part, r.code, want, r.stderr)
		}
	}
	_, _, opened := send(t, http.MethodPost, g.base+"/graphql",
		`{"query":"mutation { openIncident(input: {name: \"Down\", body: \"No data.\"}) { incident { status } } }"}`,
		"Content-Type: application/json", "Authorization: Bearer "+strings.Repeat("0", 32))
	if !strings.Contains(opened, `"INVESTIGATING"`) {
		t.Errorf("opening an incident: %s", opened)
	}
	go forward(listen(t, address), filepath.Join(cfg.Host, ".s.PGSQL."+strconv.Itoa(int(cfg.Port))))
	check(map[string]int{"/api/v1/accounts": 200})
	ledger := g.base + "/health/readiness/ledger"
	await(t, "the ledger is ready", func() bool { return statusOf(t, ledger) == http.StatusOK }) // after a new check
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

// TestIndependence restarts a gateway while its ledger database is down. The page and its documents show an incident
// that is opened and resolved meanwhile. Then the status database goes down too: all is served as it was, and marked.
func TestIndependence(t *testing.T) {
	t.Parallel()
	cfg, pages := twoDatabases(t)
	l := listen(t, "127.0.0.1:0")
	go forward(l, filepath.Join(cfg.Host, ".s.PGSQL."+strconv.Itoa(int(cfg.Port))))
	args := []string{"--database-url", "postgres://" + cfg.User + "@" + l.Addr().String() + "/" + cfg.Database +
		"?sslmode=disable", "--status-database-url", pages}
	g := start(t, args...)
	if got := statusOf(t, g.base+"/api/v1/accounts"); got != http.StatusOK {
		t.Fatalf("with both databases: %d", got)
	}
	_ = l.Close()
	g.end(t, syscall.SIGKILL)
	g = start(t, args...)
	if got := statusOf(t, g.base+"/api/v1/accounts"); got != http.StatusServiceUnavailable {
		t.Errorf("without the ledger: %d", got)
	}
	get := func(path string) (body, stale string) {
		status, header, body := send(t, http.MethodGet, g.base+path, "")
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		return body, header.Get("X-Stale-Since")
	}
	shows := func(words map[string]string) {
		t.Helper()
		for path, text := range words {
			await(t, path+" shows "+text, func() bool { body, _ := get(path); return strings.Contains(body, text) })
		}
	}
	e := &statusCLI{t: t, url: pages, now: time.Now().UTC().Format(time.RFC3339)}
	code := e.id("incident", "open", "--name", "The ledger is gone", "--body", "We look.", "--affect",
		"Website=major_outage")
	own := "/incidents/" + code
	shows(map[string]string{
		"/": own, own: "We look.", "/history": own, "/history.atom": own, "/badge.svg": "Major System Outage",
		"/api/v2/incidents/unresolved.json": code,
		"/api/v2/components.json":           `"name":"Website","status":"major_outage"`,
		"/api/v2/incidents.json":            `"body":"We look."`,
	})
	e.ok("incident", "resolve", code, "--body", "It is back.")
	resolved := map[string]string{
		"/": "It is back.", own: "It is back.", "/history": own, "/history.atom": "It is back.",
		"/api/v2/components.json": `"name":"Website","status":"operational"`,
		"/api/v2/incidents.json":  `"body":"It is back."`,
	}
	shows(resolved)
	if body, _ := get("/api/v2/incidents/unresolved.json"); strings.Contains(body, code) {
		t.Errorf("the incident is still unresolved: %s", body)
	}
	pgtest.Allow(t, pages, false)
	await(t, "the page is marked", func() bool { _, stale := get("/"); return stale != "" })
	shows(resolved)
	for path := range resolved {
		if body, stale := get(path); stale == "" ||
			strings.Contains(body, "<html") != strings.Contains(body, "This page shows the status as of") {
			t.Errorf("%s is not marked", path)
		}
	}
}

// twoDatabases returns the ledger database and the URL of the status database of the demo network.
func twoDatabases(t *testing.T) (ledger *pgx.ConnConfig, pages string) {
	t.Helper()
	url, pages := tables.Ledger.Fresh(t), pgtest.Database(t)
	if r := runCommand(t, "demo", "--database-url", url, "--status-database-url", pages); r.code != 0 {
		t.Fatalf("demo: %s", r.stderr)
	}
	return config(t, url), pages
}

func config(t *testing.T, url string) *pgx.ConnConfig {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// listen opens a port until the test and its subtests end.
func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// forward connects each client of a listener to a Unix socket.
func forward(l net.Listener, socket string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			server, err := (&net.Dialer{}).DialContext(context.Background(), "unix", socket)
			if err != nil {
				return
			}
			defer server.Close()
			go func() { _, _ = io.Copy(server, client) }()
			_, _ = io.Copy(client, server)
		}()
	}
}

// TestExplain runs the document that explain prints, unchanged.
func TestExplain(t *testing.T) {
	t.Parallel()
	r := runCommand(t, "explain", "/api/v1/accounts?account.balance=gt:100&order=desc")
	if r.code != 0 || !strings.Contains(r.stdout, `$filter: AccountFilter = {balance:{gt:"100"}}`) {
		t.Fatalf("explain: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	asJSON := runCommand(t, "explain", "--json", "/api/v1/accounts?account.balance=gt:100&order=desc")
	if asJSON.code != 0 || !strings.Contains(asJSON.stdout, `"operationName": "Accounts"`) {
		t.Errorf("explain --json: exit code %d: %s%s", asJSON.code, asJSON.stdout, asJSON.stderr)
	}
}

// TestVersion checks that the output contains what bug reports need.
func TestVersion(t *testing.T) {
	t.Parallel()
	r := runProcess(t, "version")
	text, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil || !strings.Contains(string(text), "of version "+rest.CompatibleVersion+".") ||
		!strings.Contains(r.stdout, "REST API "+rest.CompatibleVersion+"\n") {
		t.Errorf("docs/compatibility.md and the command do not have the version %s: %v, %s", rest.CompatibleVersion,
			err, r.stdout)
	}
	if want := fmt.Sprintf("schema %d", migrations.Version()); r.code != 0 || !strings.Contains(r.stdout, want) {
		t.Errorf("exit code %d: %s", r.code, r.stdout)
	}
}

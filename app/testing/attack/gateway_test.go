//go:build attack

package attack

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/storage/embedded"
)

// process is a gateway in a process of its own, over a ledger database and a status database on separate servers.
type process struct {
	cmd    *exec.Cmd
	url    string
	admin  string // URL of the admin port
	data   string // folder of the ledger database
	ledger *embedded.Server
}

// dataFolder returns a folder for a PostgreSQL server, which runs as another user.
func dataFolder(t *testing.T) string {
	t.Helper()
	//nolint:usetesting // the folders of t.TempDir are closed to the user that PostgreSQL runs as
	dir, err := os.MkdirTemp("", "heliograph-attack")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start starts the binary that `make build` creates, with the demo network and default settings except those in args.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{data: dataFolder(t)}
	p.startLedger(t)
	t.Cleanup(func() { _ = p.ledger.Stop(context.WithoutCancel(t.Context())) })
	url := p.ledger.URL(embedded.Name)
	if err := testenv.Filled.Fill(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	p.serve(t, url, testenv.Now(), wellBehaved, args...)
	return p
}

// startOver starts the binary like start, over another ledger database.
func startOver(t *testing.T, url string, now time.Time, args ...string) *process {
	t.Helper()
	p := &process{}
	p.serve(t, url, now, nil, args...)
	return p
}

// serve starts the process, and waits until it serves paths.
func (p *process) serve(t *testing.T, url string, now time.Time, paths []string, args ...string) {
	t.Helper()
	p.cmd = exec.Command(*binary, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--database-url", url,
		"--status-database-url", testenv.Filled.Fresh(t),
	}, args...)...)
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(*procs),
		"HELIOGRAPH_FIXED_TIME="+now.Format(time.RFC3339))
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = log
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%v: create the binary with `make build`", err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait()
	})
	found := regexp.MustCompile(`(?s)"listening","address":"([^"]+)".*"listening for admin ` +
		`requests","address":"([^"]+)"`)
	for end := time.Now().Add(time.Minute); p.url == ""; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(log.Name())
		if m := found.FindSubmatch(text); m != nil {
			p.url, p.admin = "http://"+string(m[1]), "http://"+string(m[2])
		} else if time.Now().After(end) {
			t.Fatalf("the gateway did not start: %v: %s", err, text)
		}
	}
	c := clientOf(victim)
	defer c.CloseIdleConnections()
	for _, path := range append([]string{"/api/v2/summary.json", "/api/v1/blocks"}, paths...) {
		for end := time.Now().Add(time.Minute); send(t.Context(), c,
			p.url, request{path: path}) != http.StatusOK; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is not served", path)
			}
		}
	}
}

func (p *process) startLedger(t *testing.T) {
	t.Helper()
	var err error
	if p.ledger, err = embedded.Start(t.Context(), embedded.Options{DataDir: p.data}); err != nil {
		t.Fatal(err)
	}
}

// postmaster returns the process ID of the server of the ledger database.
func (p *process) postmaster(t *testing.T) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.data, "pg*", "data", "postmaster.pid"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// children returns the process IDs of the children of a process.
func children(t *testing.T, pid int) []int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for word := range strings.FieldsSeq(string(text)) {
		child, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, child)
	}
	return all
}

// usage is the use of resources of a process.
type usage struct {
	resident, peak int // in MB; the peak is that since resetPeak
	cpu            time.Duration
}

func (p *process) usage(t *testing.T) (u usage) {
	t.Helper()
	read := func(file string) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	status := read("status")
	for name, v := range map[string]*int{"VmRSS:": &u.resident, "VmHWM:": &u.peak} {
		_, rest, _ := strings.Cut(status, name)
		kib, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		*v = kib >> 10
	}
	var nanoseconds int64
	for _, task := range tasks(t, p.cmd.Process.Pid) { // the times in stat have a resolution of 10 ms
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", p.cmd.Process.Pid, task)); err == nil {
			n, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
			nanoseconds += n
		}
	}
	u.cpu = time.Duration(nanoseconds)
	return u
}

// collector returns the seconds that the garbage collector has taken from others, and that the process was not idle.
// Both contain the time in which other processes had the processors.
func (p *process) collector(t *testing.T) (taken, all float64) {
	t.Helper()
	resp, err := http.Get(p.admin + "/metrics") //nolint:noctx // the test has a timeout
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "go_cpu_classes_gc_total_cpu_seconds_total":
			taken += n
		case "go_cpu_classes_gc_mark_idle_cpu_seconds_total":
			taken -= n
			all -= n
		case "go_cpu_classes_total_cpu_seconds_total":
			all += n
		case "go_cpu_classes_idle_cpu_seconds_total":
			all -= n
		}
	}
	return taken, all
}

func tasks(t *testing.T, pid int) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// resetPeak resets the peak of the resident memory.
func (p *process) resetPeak(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}

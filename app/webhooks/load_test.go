//go:build slow

package webhooks_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/gateway"
	"heliograph/app/webhooks"
	"heliograph/rest"
	"heliograph/storage"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

// gatewayVariable is the environment variable that makes the test binary a gateway on this status database.
const gatewayVariable = "HELIOGRAPH_TEST_GATEWAY"

func TestMain(m *testing.M) {
	if url := os.Getenv(gatewayVariable); url != "" {
		fmt.Fprintln(os.Stderr, runGateway(context.Background(), url))
		os.Exit(1)
	}
	pgtest.Main(m)
}

// runGateway serves the status pages of a database, sends to webhooks, and prints its address.
func runGateway(ctx context.Context, url string) error {
	db, err := statuspages.Open(ctx, storage.PoolOptions{
		URL: url, StatementTimeout: 20 * time.Second,
		MaxConnections: 4,
	})
	if err != nil {
		return err
	}
	ledger, err := storage.Open(ctx, storage.Options{PoolOptions: storage.PoolOptions{
		URL:              url,
		StatementTimeout: 20 * time.Second, MaxConnections: 2,
	}})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	g, err := gateway.New(gateway.Options{
		DB: ledger, Status: db, REST: &rest.Config{LimitDefault: 25, LimitMax: 100, Now: time.Now, Cache: true},
		Logger: log, RequestTimeout: 20 * time.Second,
		Sender: webhooks.New(statuspages.NewEditor(db, time.Now), time.Now, log, loopback),
		Graph:  gateway.DefaultGraph(),
	})
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go g.Run(ctx)
	fmt.Println(l.Addr())
	return (&http.Server{Handler: g.Public(), ReadHeaderTimeout: time.Minute}).Serve(l)
}

// startGateway starts a gateway in a process of its own.
func startGateway(t *testing.T, url string) (address string, process *exec.Cmd) {
	t.Helper()
	process = exec.CommandContext(t.Context(), os.Args[0])
	process.Env, process.Stderr = append(os.Environ(), gatewayVariable+"="+url), os.Stderr
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), process
}

const subscribers = 5000

// subscribe adds 5,000 webhooks, of which 2 % refuse connections, 2 % respond with status 500, and 1 % never respond.
func subscribe(t *testing.T, editor *statuspages.Editor, page string) *receiver {
	t.Helper()
	hanging := make(chan struct{})
	x := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/error"):
			w.WriteHeader(http.StatusInternalServerError)
		case strings.HasPrefix(r.URL.Path, "/hang"):
			<-hanging
		}
	})
	t.Cleanup(func() { close(hanging) })
	_, err := editor.DB().Pool().Exec(t.Context(), `insert into status.webhook (id, page_id, url, secret, created_at)
select 'w' || i, $1, case when i % 50 = 0 then 'http://127.0.0.1:1/refuse/' when i % 50 = 1 then $2 || '/error/' when i % 100 = 2 then $2 || '/hang/'
  else $2 || '/ok/' end || i, '\x00', now() from generate_series(1, $3) i`, page, x.URL, subscribers)
	if err == nil {
		_, err = editor.DB().Pool().Exec(t.Context(), `analyze status.webhook`) // as autovacuum does within a minute
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// notified returns how many webhooks that respond have received a message, and how many messages were sent more than
// once.
func (x *receiver) notified() (notified, repeated int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for message, n := range x.messages {
		if strings.HasPrefix(message, "/ok/") {
			notified++
			repeated += n - 1
		}
	}
	return notified, repeated
}

const healthy = subscribers * 95 / 100

// measure requests the page every 20 ms until the context ends, and returns the sorted durations.
func measure(ctx context.Context, address string) []time.Duration {
	var out []time.Duration
	for ctx.Err() == nil {
		start := time.Now()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", http.NoBody)
		if err != nil {
			return nil
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				out = append(out, time.Since(start))
			}
		} else if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			out = append(out, time.Minute)
		}
		time.Sleep(20 * time.Millisecond)
	}
	slices.Sort(out)
	return out
}

func quantiles(d []time.Duration) string {
	if len(d) == 0 {
		return "none"
	}
	return fmt.Sprintf("p50 %s, p99 %s, max %s of %d", d[len(d)/2], d[len(d)*99/100], d[len(d)-1], len(d))
}

// TestLoad sends an incident to 5,000 webhooks. All that respond must have it within 30 seconds, while the page is
// served as before.
func TestLoad(t *testing.T) {
	editor, page := newPage(t)
	x := subscribe(t, editor, page)
	address, _ := startGateway(t, editor.DB().Pool().Config().ConnString())
	quiet, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	before := measure(quiet, address)
	cancel()
	busy, stop := context.WithCancel(t.Context())
	var during []time.Duration
	var measuring sync.WaitGroup
	measuring.Go(func() { during = measure(busy, address) })
	start := time.Now()
	open(t, editor, page, "Slow")
	opened := time.Since(start)
	wait(t, "every webhook is notified", 30*time.Second, func() bool { n, _ := x.notified(); return n == healthy })
	took := time.Since(start)
	stop()
	measuring.Wait()
	notified, repeated := x.notified()
	t.Logf(
		"%d of %d webhooks were notified in %s (the write took %s), %d messages repeated; page before: %s; during: %s",
		notified, healthy, took.Round(time.Millisecond),
		opened.Round(time.Millisecond), repeated, quantiles(before), quantiles(during))
	if repeated > 0 || len(before) < 100 || len(during) < 100 || during[len(during)-1] >= time.Minute {
		t.Errorf("%d messages were repeated; the page was served %d times before and %d times during", repeated,
			len(before), len(during))
	}
}

// TestKills sends incidents from two gateways, of which three are killed meanwhile. No webhook is left out, and at
// most 0.1 % of the messages are repeated.
func TestKills(t *testing.T) {
	editor, page := newPage(t)
	x := subscribe(t, editor, page)
	url := editor.DB().Pool().Config().ConnString()
	var processes [2]*exec.Cmd
	for i := range processes {
		_, processes[i] = startGateway(t, url)
	}
	start := time.Now()
	open(t, editor, page, "Slow")
	for i := range 3 {
		wait(t, "progress", 60*time.Second, func() bool { n, _ := x.notified(); return n >= healthy*(i+1)/4 })
		if err := processes[i%2].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = processes[i%2].Wait()
		_, processes[i%2] = startGateway(t, url)
	}
	wait(t, "every webhook is notified", 2*time.Minute, func() bool { n, _ := x.notified(); return n == healthy })
	took := time.Since(start)
	var pending int
	wait(t, "the outbox has failing webhooks only", 2*time.Minute, func() bool {
		err := editor.DB().Pool().QueryRow(t.Context(),
			`select count(*) from status.outbox o join status.webhook w on w.id = o.webhook_id
where w.url like '%/ok/%'`).Scan(&pending)
		return err == nil && pending == 0
	})
	_, repeated := x.notified()
	t.Logf("all %d webhooks were notified in %s; %d messages repeated (%.3f %%)", healthy,
		took.Round(time.Millisecond),
		repeated, float64(repeated)*100/healthy)
	if repeated > healthy/1000 {
		t.Errorf("%d messages were repeated", repeated)
	}
}

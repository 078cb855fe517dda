package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
	"heliograph/storage/pgtest"
)

// threeServers returns a primary, a standby that is 4 s behind, and one that is 60 s behind, without connections.
func threeServers() *servers {
	s := &servers{maxLag: 10 * time.Second, checked: make(chan struct{})}
	close(s.checked)
	for i, lag := range []time.Duration{0, 4 * time.Second, time.Minute} {
		one := &server{name: string(rune('a' + i)), admission: admission.New(admission.Options{}).Pool(10, 2)}
		one.up.Store(true)
		one.primary.Store(i == 0)
		one.newest.Store((time.Hour - lag).Nanoseconds())
		s.list = append(s.list, one)
	}
	return s
}

// TestChooseServer checks which servers are used, and that a request keeps to its own.
func TestChooseServer(t *testing.T) {
	t.Parallel()
	s := threeServers()
	used := func(event bool) (names string) {
		for range 30 {
			ctx := values.Context(t.Context(), admission.New(admission.Options{}).Turn("a", "").Value())
			first := ""
			for range 2 { // operations of the same request
				w, _ := workKey.Of(values.Context(ctx, Work(ctx, admission.Reads, event)))
				one, err := s.of(ctx, w)
				if err != nil || !event && first != "" && one.name != first {
					t.Fatalf("%v after %s: %v", one, first, err)
				}
				if first = one.name; !strings.Contains(names, first) {
					names += first
				}
			}
		}
		return names
	}
	if got := used(false); len(got) != 2 || strings.Contains(got, "c") {
		t.Errorf("used servers: %s, want those that are fresh enough", got)
	}
	s.seen.Store(time.Hour.Nanoseconds())
	if used(true) != "a" {
		t.Error("a subscription uses a server without its rows")
	}
	slot, err := s.list[0].admission.Enter(t.Context(), &admission.Operation{}, admission.Reads, nil)
	if err != nil || used(false) != "b" {
		t.Error("the least loaded server is not used", err)
	}
	slot.Leave()
	s.list[0].up.Store(false)
	if used(false) != "b" {
		t.Error("without the primary, the freshest standby is not used")
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	w := newWork(ctx, admission.Reads)
	w.latest = true
	if one, err := s.of(ctx, w); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a subscription does not wait for its rows: %v %v", one, err)
	}
}

// TestMove checks which failed statements are repeated, and where.
func TestMove(t *testing.T) {
	t.Parallel()
	conflict, shutdown := &pgconn.PgError{Code: "40001"}, &pgconn.PgError{Code: "57P01"}
	for name, c := range map[string]struct {
		from     int
		answered bool
		err      error
		want     string
	}{
		"a conflict":                     {1, false, conflict, "a"},
		"a conflict after an answer":     {1, true, conflict, "a"},
		"a lost standby after an answer": {1, true, shutdown, "a"},
		"a lost primary":                 {0, false, shutdown, "b"},
		"a lost primary after an answer": {0, true, shutdown, ""},
		"a statement that took too long": {
			1, false,
			&pgconn.PgError{Code: "57014", Message: "canceling statement due to statement timeout"}, "",
		},
		"a recovery conflict as a cancel": {
			1, false,
			&pgconn.PgError{Code: "57014", Message: "canceling statement due to conflict with recovery"}, "a",
		},
	} {
		s := threeServers()
		w := newWork(t.Context(), admission.Reads)
		w.own.server, w.own.answered = s.list[c.from], c.answered
		moved, got := s.move(t.Context(), w, s.list[c.from], c.err), ""
		if moved {
			got = w.own.server.name
		}
		if got != c.want {
			t.Errorf("%s: repeated on %q, want %q", name, got, c.want)
		}
		if up := s.list[c.from].up.Load(); up == errors.Is(c.err, shutdown) {
			t.Errorf("%s: the server is up: %t", name, up)
		}
	}
}

// TestHosts checks the configurations for the hosts of a URL, and which connections have to lead to the primary.
func TestHosts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://u@a,b:5433/db?sslmode=disable":                           "a:5432 b:5433 ",
		"postgres://u@a,b/db?sslmode=prefer":                                 "a:5432 a:5432 b:5432 b:5432 ",
		"postgres://u@a/db?sslmode=prefer":                                   "a:5432 a:5432 ",
		"postgres://u@a,b/db?sslmode=disable&target_session_attrs=any":       "a:5432 b:5432 ",
		"postgres://u@a,b/db?sslmode=disable&target_session_attrs=read-only": "a:5432 b:5432 (one pool)",
	} {
		o := PoolOptions{URL: url}
		cfg, err := o.parse()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		all := hosts(cfg)
		for _, one := range all {
			for _, f := range append([]*pgconn.FallbackConfig{{Host: one.ConnConfig.Host, Port: one.ConnConfig.Port}},
				one.ConnConfig.Fallbacks...) {
				if f.Host != one.ConnConfig.Host && len(all) > 1 {
					t.Errorf("%s: a pool leads to %s and %s", url, one.ConnConfig.Host, f.Host)
				}
				names = append(names, fmt.Sprintf("%s:%d ", f.Host, f.Port))
			}
		}
		if len(all) == 1 && strings.Contains(url, ",") {
			names = append(names, "(one pool)")
		}
		if got := strings.Join(names, ""); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
		writes, err := o.Config(nil)
		if err != nil || (writes.ConnConfig.ValidateConnect != nil) != strings.Contains(url, ",") {
			t.Errorf("%s: writes lead to the primary: %t, %v", url, writes.ConnConfig.ValidateConnect != nil, err)
		}
	}
}

// duringQuery is a tracer that calls a function while a statement runs.
type duringQuery func()

func (f duringQuery) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	f()
	return ctx
}

func (duringQuery) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

var oneBlock = &pgtest.Template{Name: "one_block", Prepare: func(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `create table record_file (consensus_end bigint); insert into record_file values (10)`)
	return err
}}

// TestCheck checks that a check stores the newest block of a server, also if that is older than before, but keeps the
// time of a row that a subscription has read meanwhile.
func TestCheck(t *testing.T) {
	t.Parallel()
	during := func() {}
	db, err := Open(t.Context(), Options{PoolOptions: PoolOptions{
		URL: oneBlock.Fresh(t), Tracer: duringQuery(func() { during() }),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	one := db.servers.list[0]
	for name, c := range map[string]struct{ before, meanwhile, want int64 }{
		"the first check": {0, 0, 10}, "blocks were lost": {15, 0, 10}, "a newer row was read": {10, 12, 12},
		"an older row was read": {5, 7, 10},
	} {
		one.newest.Store(c.before)
		during = func() { raise(&one.newest, c.meanwhile) }
		one.check(t.Context(), db.servers)
		if got := one.newest.Load(); got != c.want || !one.up.Load() {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

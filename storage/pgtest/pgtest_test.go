package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// userVariable makes the test binary a user of the server in the folder that is its value. It prints a line, and waits
// to be killed.
const userVariable = "PGTEST_TEST_USER"

func TestMain(m *testing.M) {
	dir := os.Getenv(userVariable)
	if dir == "" {
		Main(m)
		return
	}
	running.begin(dir)
	server, err := running.get()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := admin(context.Background(), server.URL, "create database "+running.nextName()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("uses the server")
	time.Sleep(time.Minute)
}

// built counts how often the template numbers was prepared.
var built atomic.Int32

var numbers = &Template{Name: "numbers", Prepare: func(ctx context.Context, url string) error {
	built.Add(1)
	return admin(ctx, url,
		"create table number (n int primary key)",
		"insert into number select generate_series(1, 1000)")
}}

var primes = &Template{Name: "Primes", From: numbers, Prepare: func(ctx context.Context, url string) error {
	return admin(ctx, url, "delete from number where n not in (2, 3, 5, 7)")
}}

func connect(tb testing.TB, url string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func queryInt(tb testing.TB, conn *pgx.Conn, sql string) int {
	tb.Helper()
	var n int
	if err := conn.QueryRow(tb.Context(), sql).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestFreshCopiesAreIndependent(t *testing.T) {
	t.Parallel()
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			conn := connect(t, numbers.Fresh(t))
			if n := queryInt(t, conn, "select count(*) from number"); n != 1000 {
				t.Errorf("a copy begins with %d rows, want 1000", n)
			}
			if _, err := conn.Exec(t.Context(), "delete from number"); err != nil {
				t.Error(err)
			}
			if n := built.Load(); n != 1 {
				t.Errorf("the template was prepared %d times", n)
			}
		})
	}
}

func TestFreshIsDroppedWithTheTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("owner", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), numbers.Fresh(t)) // stays open, which must not keep the database
		if err != nil {
			t.Fatal(err)
		}
		name = conn.Config().Database
	})
	conn := connect(t, Database(t))
	if queryInt(t, conn, "select count(*) from pg_database where datname = '"+name+"'") != 0 {
		t.Errorf("database %s is still there", name)
	}
}

func TestSharedIsOneReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	urls := make([]string, 4)
	t.Run("users", func(t *testing.T) {
		for i := range urls {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				urls[i] = primes.Shared(t)
				if n := queryInt(t, connect(t, urls[i]), "select count(*) from number"); n != 4 {
					t.Errorf("%d rows, want the 4 of the derived template", n)
				}
			})
		}
	})
	for _, url := range urls {
		if url != urls[0] {
			t.Errorf("shared databases differ: %s and %s", url, urls[0])
		}
	}
	_, err := connect(t, urls[0]).Exec(t.Context(), "delete from number")
	if err == nil || !strings.Contains(err.Error(), "read-only transaction") {
		t.Errorf("deleting from the shared database: %v", err)
	}
	if n := queryInt(t, connect(t, numbers.Shared(t)), "select count(*) from number"); n != 1000 {
		t.Errorf("the derived template changed its origin: %d rows", n)
	}
}

func TestDatabaseIsEmpty(t *testing.T) {
	t.Parallel()
	conn := connect(t, Database(t))
	const tables = "select count(*) from pg_class where relnamespace = 'public'::regnamespace"
	if n := queryInt(t, conn, tables); n != 0 {
		t.Errorf("%d relations in an empty database", n)
	}
}

func TestStatisticsAreCollected(t *testing.T) {
	t.Parallel()
	conn := connect(t, numbers.Fresh(t))
	if n := queryInt(t, conn, "select reltuples::int from pg_class where relname = 'number'"); n != 1000 {
		t.Errorf("the planner estimates %d rows, want 1000", n)
	}
}

func TestTemplateWithAnOpenConnection(t *testing.T) {
	t.Parallel()
	leaky := &Template{Name: "leaky", Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			_, err = conn.Exec(ctx, "create table kept ()")
		}
		return err
	}}
	if n := queryInt(t, connect(t, leaky.Fresh(t)), "select count(*) from kept"); n != 0 {
		t.Errorf("%d rows in an empty table", n)
	}
}

// failing records how a test would have failed.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}

func (f *failing) Fatal(args ...any) {
	f.message = fmt.Sprint(args...)
	panic(f)
}

func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// failure returns the message with which use fails a test.
func failure(t *testing.T, use func(tb testing.TB)) string {
	t.Helper()
	f := &failing{TB: t}
	func() {
		defer func() { _ = recover() }()
		use(f)
	}()
	return f.message
}

func TestFailures(t *testing.T) {
	t.Parallel()
	broken := &Template{Name: "broken", Prepare: func(context.Context, string) error { return errors.New("no luck") }}
	namesake := &Template{Name: "numbers"}
	for _, test := range []struct {
		use  func(tb testing.TB)
		want string
	}{
		{func(tb testing.TB) { broken.Fresh(tb) }, "prepare template broken: no luck"},
		{func(tb testing.TB) { broken.Shared(tb) }, "prepare template broken: no luck"},
		{func(tb testing.TB) { (&Template{Name: "child", From: broken}).Fresh(tb) }, "template broken: no luck"},
		{func(tb testing.TB) { numbers.Fresh(t); namesake.Fresh(tb) }, "duplicate template name numbers"},
		{func(tb testing.TB) { (&Template{Name: `a"b`}).Fresh(tb) }, "invalid template name"},
	} {
		if got := failure(t, test.use); !strings.Contains(got, test.want) {
			t.Errorf("the test fails with %q, want %q", got, test.want)
		}
	}
}

func BenchmarkFresh(b *testing.B) {
	numbers.Fresh(b)
	for b.Loop() {
		numbers.Fresh(b)
	}
}

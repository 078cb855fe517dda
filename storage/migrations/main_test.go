package migrations

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// atReference sets the current time of the migrations to the day on which the reference had its last partition added.
const atReference = "&heliograph.now=2026-11-21T08:00:00Z"

// empty has all ledger tables without rows. Its partitions do not depend on the current time.
var empty = &pgtest.Template{
	Name: "empty", Package: "heliograph/storage/migrations",
	Prepare: func(ctx context.Context, url string) error {
		return Ledger(ctx, url+atReference, slog.New(slog.DiscardHandler))
	},
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// query returns the rows of a query with one column.
func query[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return values
}

// migrate runs Ledger and returns its log.
func migrate(t *testing.T, url string) (string, error) {
	t.Helper()
	var log logText
	err := Ledger(t.Context(), url, slog.New(slog.NewTextHandler(&log, nil)))
	return string(log), err
}

// logText collects log lines. Handlers write one line per call.
type logText []byte

func (l *logText) Write(line []byte) (int, error) {
	*l = append(*l, line...)
	return len(line), nil
}

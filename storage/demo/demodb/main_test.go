package demodb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// noon is when the tests load the demo, in the middle of a month and of a day.
var noon = time.Date(2026, 5, 17, 12, 34, 56, 789, time.UTC)

// empty has the tables of the ledger without rows.
var empty = &pgtest.Template{
	Name: "empty", Package: "heliograph/storage/demo/demodb",
	Prepare: func(ctx context.Context, url string) error {
		return migrations.Ledger(ctx, url, slog.New(slog.DiscardHandler))
	},
}

// filled has the demo of noon.
var filled = &pgtest.Template{
	Name: "filled", From: empty, Package: "heliograph/storage/demo/demodb",
	Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		err = Load(ctx, conn, noon, nil)
		return err
	},
}

// digestOf is a digest of all rows of all tables.
func digestOf(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	h := sha256.New()
	for _, table := range tables {
		var d string
		query := fmt.Sprintf("select coalesce(md5(string_agg(x::text, chr(10) order by x::text)), '') from %s x",
			table)
		if err := conn.QueryRow(t.Context(), query).Scan(&d); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		h.Write([]byte(table + " " + d + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// one returns the single number of a query.
func one(t *testing.T, conn *pgx.Conn, sql string) int64 {
	t.Helper()
	var n int64
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatalf("%s: %v", strings.TrimSpace(sql), err)
	}
	return n
}

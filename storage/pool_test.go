package storage

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRefusal checks that attempts to connect are limited while the server refuses connections, and only then.
func TestRefusal(t *testing.T) {
	t.Parallel()
	cfg, err := (&PoolOptions{URL: "postgres://127.0.0.1/x", Pooler: PoolerNone}).Config(nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := func(code string) (failures int) {
		cfg.ConnConfig.OnPgError(nil, &pgconn.PgError{Code: code})
		for range 2 * attempts {
			if err := cfg.BeforeConnect(t.Context(), cfg.ConnConfig); err != nil {
				failures++
			}
		}
		return failures
	}
	if n := failed("42P01"); n != 0 {
		t.Errorf("%d attempts failed after an error of a statement", n)
	}
	if n := failed("57P03"); n < attempts {
		t.Errorf("%d attempts failed after a refusal", n)
	}
}

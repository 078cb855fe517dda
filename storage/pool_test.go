package storage

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRefusal checks that attempts to connect are limited while the server refuses connections, and only then. They
// are not if another server can accept them.
func TestRefusal(t *testing.T) {
	t.Parallel()
	failed := func(hosts, code string) (failures int) {
		cfg, err := (&PoolOptions{URL: "postgres://" + hosts + "/x", Pooler: PoolerNone}).Config(nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg.ConnConfig.OnPgError(nil, &pgconn.PgError{Code: code})
		for range 2 * attempts {
			if err := cfg.BeforeConnect(t.Context(), cfg.ConnConfig); err != nil {
				failures++
			}
		}
		return failures
	}
	if n := failed("127.0.0.1", "42P01"); n != 0 {
		t.Errorf("%d attempts failed after an error of a statement", n)
	}
	if n := failed("127.0.0.1", "57P03"); n < attempts {
		t.Errorf("%d attempts failed after a refusal", n)
	}
	for _, several := range []string{"127.0.0.1,127.0.0.2", "127.0.0.1:5432,127.0.0.1:5433"} {
		if n := failed(several, "57P03"); n != 0 {
			t.Errorf("%s: %d attempts failed after a refusal of one", several, n)
		}
	}
}

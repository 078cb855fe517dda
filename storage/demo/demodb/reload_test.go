package demodb

import (
	"errors"
	"testing"
	"time"

	"heliograph/storage/pgtest"
)

func TestReload(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, filled.Fresh(t))
	before := digestOf(t, conn)

	// Reload restores the demo network after changes.
	pgtest.Exec(t, conn, "update entity set memo = 'gone'; delete from crypto_transfer; truncate nft")
	if digestOf(t, conn) == before {
		t.Fatal("the digest does not see changes")
	}
	if err := Reload(t.Context(), conn, noon, nil); err != nil {
		t.Fatal(err)
	}
	if after := digestOf(t, conn); after != before {
		t.Error("two loads at the same time differ")
	}
}

// TestReloadOfAnEmptyDatabase also checks that a later load has other times.
func TestReloadOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, empty.Fresh(t))
	later := noon.Add(40 * 24 * time.Hour)
	if err := Reload(t.Context(), conn, later, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := one(t, conn, "select max(consensus_timestamp) from transaction"),
		later.Truncate(time.Second).Add(-4*time.Second); got != want.UnixNano() {
		t.Errorf("last transaction at %d, want %v", got, want)
	}
	if is, err := IsDemo(t.Context(), conn); err != nil || !is {
		t.Errorf("IsDemo after a reload: %v, %v", is, err)
	}
}

// refuses checks that neither Load nor Reload changes the database.
func refuses(t *testing.T, url, sql string) {
	t.Helper()
	conn := pgtest.Connect(t, url)
	pgtest.Exec(t, conn, sql)
	before := digestOf(t, conn)
	if is, err := IsDemo(t.Context(), conn); err != nil || is {
		t.Errorf("IsDemo: %v, %v", is, err)
	}
	if err := Load(t.Context(), conn, noon, nil); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("Load: %v", err)
	}
	if err := Reload(t.Context(), conn, noon, nil); !errors.Is(err, ErrNotDemo) {
		t.Errorf("Reload: %v", err)
	}
	if digestOf(t, conn) != before {
		t.Error("the refused database has changed")
	}
}

func TestForeignDatabases(t *testing.T) {
	t.Parallel()
	t.Run("one entity", func(t *testing.T) {
		t.Parallel()
		refuses(t, empty.Fresh(t),
			"insert into entity (id, num, realm, shard, timestamp_range) values (5, 5, 0, 0, '[1,)')")
	})
	t.Run("a continued demo", func(t *testing.T) {
		t.Parallel()
		refuses(t, filled.Fresh(t), `
			insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index)
			select 'next', load_start, load_end, repeat('a', 96), hash, consensus_end + 1, consensus_end + 2, 0, 0, 6, file_hash, index + 1
			from record_file order by index desc limit 1`)
	})
	t.Run("the mark of a demo that was replaced", func(t *testing.T) {
		t.Parallel()
		refuses(t, filled.Fresh(t), "truncate record_file")
	})
}

package migrations

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/pgtest"
)

// catalog returns all relations with their object ids, which change if a relation is dropped and created again.
func catalog(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return query[string](t, conn, `
		select concat(relnamespace::regnamespace, '.', relname, ' ', oid, ' ', relnatts)
		from pg_class
		where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
		order by 1`)
}

func TestSecondRunChangesNothing(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	conn := connect(t, url)
	before := catalog(t, conn)
	if log, err := migrate(t, url+atReference); err != nil || log != "" {
		t.Errorf("log %q, error %v", log, err)
	}
	if after := catalog(t, conn); !slices.Equal(before, after) {
		t.Error("the second run changed relations")
		diff(t, before, after)
	}
}

func TestLaterRunAddsMonths(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	if _, err := migrate(t, url+"&heliograph.now=2027-02-03T00:00:00Z"); err != nil {
		t.Fatal(err)
	}
	if n := countPartitions(t, connect(t, url)); n != 2*(88+3) {
		t.Errorf("%d partitions in February 2027, want %d", n, 2*(88+3))
	}
}

func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := Ledger(t.Context(), url+atReference, slog.New(slog.DiscardHandler)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	conn := connect(t, url)
	versions := query[int](t, conn, "select version_id::int from heliograph_migration order by id")
	if len(versions) != Version()+1 || !slices.IsSorted(versions) || versions[len(versions)-1] != Version() {
		t.Errorf("recorded versions: %v", versions)
	}
	if n := countPartitions(t, conn); n != 2*88 {
		t.Errorf("%d partitions, want %d", n, 2*88)
	}
	if missing, err := Missing(t.Context(), conn); err != nil || len(missing) > 0 {
		t.Errorf("missing %q, error %v", missing, err)
	}
}

func TestFailedRunCanBeRepeated(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	conn := connect(t, url)
	exec(t, conn, "create function updateentitytypefromint(integer) returns int language sql as 'select 1'")
	if _, err := migrate(t, url); err == nil || !strings.Contains(err.Error(), "updateentitytypefromint") {
		t.Fatalf("migrating past a function of the same name: %v", err)
	}
	exec(t, conn, "drop function updateentitytypefromint(integer)")
	if _, err := migrate(t, url); err != nil {
		t.Fatal(err)
	}
	if missing, err := Missing(t.Context(), conn); err != nil || len(missing) > 0 {
		t.Errorf("missing %q, error %v", missing, err)
	}
}

func TestSearchPath(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	if _, err := migrate(t, url); err != nil {
		t.Fatal(err)
	}
	if path := query[string](t, connect(t, url), "show search_path")[0]; path != "public, temporary" {
		t.Errorf("search path of a new database: %s", path)
	}

	url = pgtest.Database(t)
	conn := connect(t, url)
	exec(t, conn, "create schema other",
		fmt.Sprintf("alter database %s set search_path = other, public", conn.Config().Database))
	if _, err := migrate(t, url); err != nil {
		t.Fatal(err)
	}
	conn = connect(t, url)
	if path := query[string](t, conn, "show search_path")[0]; path != "other, public" {
		t.Errorf("search path that was set before: %s", path)
	}
	others := query[int](t, conn, "select count(*) from pg_class where relnamespace = 'other'::regnamespace")[0]
	if others != 0 {
		t.Errorf("%d relations outside of public", others)
	}
}

func TestCompleteForeignDatabase(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	conn := connect(t, url)
	// An importer may deny access to tables that the gateway does not read, and has no default partitions.
	exec(t, conn, "drop table heliograph_migration, account_balance_old, token_balance_old, non_fee_transfer, "+
		"account_balance_default, token_balance_default")
	before := catalog(t, conn)
	log, err := migrate(t, url)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log, "nothing to do") || !strings.Contains(log, "owner=heliograph") {
		t.Errorf("log: %q", log)
	}
	if after := catalog(t, conn); !slices.Equal(before, after) {
		t.Error("a foreign database was changed")
		diff(t, before, after)
	}
}

func TestPartialForeignDatabase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		before  []string
		missing []string // first missing objects
	}{
		{
			"lacks a table and a column",
			[]string{"drop table heliograph_migration, nft", "alter table entity drop column delegation_address"},
			[]string{"entity.delegation_address", "nft"},
		},
		{
			"lacks the function",
			[]string{"drop table heliograph_migration", "drop function get_transaction_info_by_hash"},
			[]string{"get_transaction_info_by_hash(bytea)"},
		},
		{
			"has another application's table",
			[]string{
				"drop schema public cascade", "create schema public", "create table node (name text)",
			},
			[]string{"account_balance", "address_book"},
		},
		{
			"keeps the tables in a schema out of reach",
			[]string{
				"drop table heliograph_migration", "alter schema public rename to mirror", "create schema public",
				"create table topic ()",
			},
			[]string{"account_balance", "address_book"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url := empty.Fresh(t)
			conn := connect(t, url)
			exec(t, conn, test.before...)
			before := catalog(t, conn)
			_, err := migrate(t, url)
			var foreign *ForeignError
			if !errors.As(err, &foreign) || !errors.Is(err, ErrForeign) {
				t.Fatalf("error %v, want a ForeignError", err)
			}
			first := foreign.Missing[:min(len(test.missing), len(foreign.Missing))]
			if !slices.Equal(first, test.missing) {
				t.Errorf("missing %q, want %q first", foreign.Missing, test.missing)
			}
			if foreign.Owner != "heliograph" || len(foreign.Present) == 0 {
				t.Errorf("owner %q, present %q", foreign.Owner, foreign.Present)
			}
			if !strings.Contains(err.Error(), "role heliograph") || !strings.Contains(err.Error(), test.missing[0]) {
				t.Errorf("message: %v", err)
			}
			if after := catalog(t, conn); !slices.Equal(before, after) {
				t.Error("a foreign database was changed")
				diff(t, before, after)
			}
		})
	}
}

// TestForeignSearchPath has tables in the search path of the role, but not in public.
func TestForeignSearchPath(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	conn := connect(t, url)
	exec(t, conn, "drop table heliograph_migration", "alter schema public rename to mirror", "create schema public")
	log, err := migrate(t, url+"&search_path=mirror")
	if err != nil || !strings.Contains(log, "nothing to do") {
		t.Errorf("log %q, error %v", log, err)
	}
	n := query[int](t, conn, "select count(*) from pg_class where relnamespace = 'public'::regnamespace")[0]
	if n != 0 {
		t.Errorf("%d relations were made in public", n)
	}
}

func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	conn := connect(t, url)
	exec(t, conn, "insert into heliograph_migration (version_id, is_applied) values (9999, true)")
	before := catalog(t, conn)
	log, err := migrate(t, url+atReference)
	if err != nil || !strings.Contains(log, "newer than this binary") {
		t.Errorf("log %q, error %v", log, err)
	}
	diff(t, before, catalog(t, conn))
}

func TestBadURL(t *testing.T) {
	t.Parallel()
	_, err := migrate(t, "postgres://user:secret@host:port/")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error: %v", err)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	if missing, err := Missing(t.Context(), connect(t, empty.Shared(t))); err != nil || len(missing) > 0 {
		t.Errorf("complete database lacks %q, error %v", missing, err)
	}

	missing, err := Missing(t.Context(), connect(t, pgtest.Database(t)))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := ledgerTables()
	if err != nil {
		t.Fatal(err)
	}
	want := 1 // the function
	for table := range tables {
		if !unread(table) {
			want++
		}
	}
	if len(missing) != want || want < 60 || !slices.IsSorted(missing) {
		t.Errorf("empty database lacks %d: %q", len(missing), missing)
	}

	conn := connect(t, empty.Fresh(t))
	exec(t, conn,
		"drop table topic_history, account_balance_old, live_hash",
		"alter table transaction rename column memo to note",
		"alter table nft rename to serial", "create view nft as select * from serial")
	missing, err = Missing(t.Context(), conn)
	if want := []string{"topic_history", "transaction.memo"}; err != nil || !slices.Equal(missing, want) {
		t.Errorf("missing %q, want %q, error %v", missing, want, err)
	}
}

package migrations

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/storage/pgtest"
)

// migrateStatus runs Status and returns its log.
func migrateStatus(t *testing.T, url string) string {
	t.Helper()
	var log logText
	if err := Status(t.Context(), url, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	return string(log)
}

func TestStatusOnly(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	conn := connect(t, url)
	if has, err := HasStatus(t.Context(), conn); err != nil || has {
		t.Fatalf("an empty database has the status tables: %v, error %v", has, err)
	}
	migrateStatus(t, url)
	if has, err := HasStatus(t.Context(), conn); err != nil || !has {
		t.Errorf("they are there: %v, error %v", has, err)
	}
	diff(t, []string{"public", "status"},
		query[string](t, conn, "select nspname::text from pg_namespace where nspname !~ '^(pg_|information_schema)'"))
	if n := query[int](t,
		conn, "select count(*)::int from pg_class where relnamespace = 'public'::regnamespace")[0]; n != 0 {
		t.Errorf("%d relations were made in public", n)
	}
	before := catalog(t, conn)
	if log := migrateStatus(t, url); log != "" {
		t.Errorf("the second run logged %s", log)
	}
	diff(t, before, catalog(t, conn))
}

// TestStatusBesideLedger migrates both in one database, in either order.
func TestStatusBesideLedger(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	migrateStatus(t, url)
	if _, err := migrate(t, url); err != nil {
		t.Fatal(err)
	}
	migrateStatus(t, url)
	conn := connect(t, url)
	if missing, err := Missing(t.Context(), conn); err != nil || len(missing) > 0 {
		t.Errorf("missing %q, error %v", missing, err)
	}
	if path := query[string](t, conn, "show search_path")[0]; path != "public, temporary" {
		t.Errorf("search path %s", path)
	}
}

func TestStatusConcurrently(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := Status(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	conn := connect(t, url)
	files, err := filepath.Glob("status/*.sql")
	if err != nil || !strings.HasPrefix(files[len(files)-1], fmt.Sprintf("status/%05d_", StatusVersion())) {
		t.Errorf("version %d with the files %v, error %v", StatusVersion(), files, err)
	}
	if versions := query[int](t, conn,
		"select version_id::int from status.heliograph_migration order by id"); len(versions) != len(files)+1 {
		t.Errorf("recorded versions: %v", versions)
	}
	exec(t, conn, "insert into status.heliograph_migration (version_id, is_applied) values (9999, true)")
	if log := migrateStatus(t, url); !strings.Contains(log, "newer than this binary") {
		t.Errorf("log %q", log)
	}
	if has, err := HasStatus(t.Context(), conn); err != nil || !has {
		t.Errorf("newer tables do not count: %v", err)
	}
}

// TestStatusConstraints inserts invalid rows.
func TestStatusConstraints(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	migrateStatus(t, url)
	conn := connect(t, url)
	exec(t, conn,
		`insert into status.page (id, slug, name, url, is_default) values ('p', 'p', 'P', 'https://p.example', `+
			`true), ('q', 'q', 'Q', 'https://q.example', false)`,
		`insert into status.component (id, page_id, is_group, name, position) values ('g', 'p', true, 'G', 1)`,
		`insert into status.component (id, page_id, group_id, name, base_status, position, node_id) values ('c', `+
			`'p', 'g', 'C', 'operational', 1, 3)`,
		`insert into status.incident (id, page_id, kind, name, state, shortlink, started_at, created_at, updated_at)
values ('i', 'p', 'realtime', 'I', 'identified', 'x', now(), now(), now())`,
	)
	const incident = `insert into status.incident (id, page_id, kind, state, resolved_at, scheduled_for, ` +
		`scheduled_until, origin, name, shortlink, started_at, created_at, updated_at) select `
	const at = `, 'N', 'x', now(), now(), now()`
	for _, c := range []struct{ sql, code string }{
		{
			`insert into status.page (id, slug, name, url, is_default) values ('r', 'r', 'R', 'https://r.example', ` +
				`true)`,
			"23505",
		},
		{`insert into status.page (id, slug, name, url) values ('r r', 'r', 'R', 'https://r.example')`, "23514"},
		{`update status.page set vocabulary = 'other'`, "23514"},
		{`insert into status.component (id, page_id, name, position) values ('d', 'p', 'D', 1)`, "23514"},
		{`insert into status.component (id, page_id, group_id, name, base_status, position) values ('d', 'q', 'g', ` +
			`'D', 'operational', 1)`, "23503"},
		{`insert into status.component (id, page_id, group_id, name, base_status, position) values ('d', 'p', 'c', ` +
			`'D', 'operational', 1)`, "23503"},
		{`insert into status.component (id, page_id, is_group, group_id, name, position) values ('d', 'p', true, ` +
			`'g', 'D', 1)`, "23514"},
		{`insert into status.component (id, page_id, name, base_status, position, node_id) values ('d', 'p', 'D', ` +
			`'operational', 1, 3)`, "23505"},
		{`insert into status.incident_component (page_id, incident_id, component_id) values ('q', 'i', 'c')`, "23503"},
		{`update status.incident set state = 'resolved'`, "23514"},
		{`update status.incident set resolved_at = now()`, "23514"},
		{`update status.incident set state = 'verifying'`, "23514"},
		{incident + `'m', 'p', 'scheduled', 'scheduled', null::timestamptz, now(), now(), 'operator'::status.origin` +
			at, "23514"},
		{incident +
			`'m', 'p', 'scheduled', 'scheduled', null::timestamptz, now(), null::timestamptz, ` +
			`'operator'::status.origin` + at, "23514"},
		{
			incident + `'m', 'p', 'scheduled', 'scheduled', null::timestamptz, now(), now(), 'sync'::status.origin` +
				at,
			"",
		},
		{`insert into status.incident_update (id, incident_id, state, body, created_at, updated_at) values ('u', ` +
			`'i', 'identified', '', now(), now())`, "23514"},
		{`delete from status.page where id = 'p'`, ""},
	} {
		_, err := conn.Exec(t.Context(), c.sql)
		var pg *pgconn.PgError
		errors.As(err, &pg)
		if (err == nil) != (c.code == "") || err != nil && pg.Code != c.code {
			t.Errorf("%s: %v, want code %q", c.sql, err, c.code)
		}
	}
}

package statusdemo

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func texts(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return list
}

// digest is a sum of all rows of the page.
func digest(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	var all []string
	for _, table := range []string{
		"page", "component", "incident", "incident_component", "incident_update",
		"update_component", "component_change",
	} {
		columns := "r"
		if table == "incident" {
			columns = "(r.id, r.state, r.created_at, r.updated_at, r.impact)" // the serial number goes on
		}
		all = append(all, texts(t, conn, "select '"+table+"' || md5(string_agg("+columns+
			"::text, ' ' order by r::text)) from status."+table+" r")...)
	}
	return all
}

func TestStatusPage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 17, 12, 34, 56, 789, time.UTC)
	conn := pgtest.Connect(t, tables.Status.Fresh(t))
	if err := Load(t.Context(), conn, now, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		sql  string
		want []string
	}{
		{"select state::text from status.incident where not draft group by state order by state", []string{
			"completed", "identified", "in_progress", "investigating", "monitoring", "postmortem", "resolved",
			"scheduled", "verifying",
		}},
		{
			"select status::text from status.component_now where not is_group group by status order by status",
			[]string{"degraded_performance", "operational", "under_maintenance"},
		},
		{
			"select impact::text from status.incident group by impact order by impact",
			[]string{"critical", "maintenance", "major", "minor", "none"},
		},
		{"select (count(*) > 50)::text from status.incident where kind = 'realtime' and not draft", []string{"true"}},
		{"select (count(*) >= 12)::text from status.component where not is_group", []string{"true"}},
		{"select count(*)::text from status.component where node_id is not null", []string{"7"}},
		{"select count(*)::text from status.component where is_group", []string{"3"}},
		{"select (count(*) > 150)::text from status.component_change", []string{"true"}},
		{"select count(*)::text from status.incident where draft", []string{"1"}},
		{"select name from status.incident where updated_at > '2026-05-17 12:34:56Z' or created_at > '2026-05-17 " +
			"12:34:56Z'", nil},
		// The last change of a component is its present state, and each change begins where the one before ended.
		{`select c.name from status.component_now c join lateral (select new_status from status.component_change where component_id = c.id order by changed_at desc limit 1) x on true
where x.new_status <> c.status`, nil},
		{`select component_id::text from (select component_id, old_status, lag(new_status) over (partition by component_id order by changed_at) as before from status.component_change) x
where before <> old_status`, nil},
	} {
		if got := texts(t, conn, want.sql); !slices.Equal(got, want.want) {
			t.Errorf("%s: %q", want.sql, got)
		}
	}
	before := digest(t, conn)
	if err := Load(t.Context(), conn, now.Add(time.Hour), false); err != nil {
		t.Fatal(err)
	}
	if after := digest(t, conn); !slices.Equal(before, after) {
		t.Error("a page that was there is changed")
	}
	if err := Load(t.Context(), conn, now.Add(time.Hour), true); err != nil {
		t.Fatal(err)
	}
	if after := digest(t, conn); slices.Equal(before, after) {
		t.Error("an hour later it is the same page")
	}
	if err := Load(t.Context(), conn, now, true); err != nil {
		t.Fatal(err)
	}
	if after := digest(t, conn); !slices.Equal(before, after) {
		t.Errorf("the same instant gives other rows: %q and %q", before, after)
	}

	pgtest.Exec(t, conn,
		`insert into status.page (id, slug, name, url) values ('own', 'own', 'Own', 'https://own.example')`)
	before = digest(t, conn)
	if err := Load(t.Context(), conn, now, true); !errors.Is(err, ErrNotDemo) {
		t.Errorf("beside another page: %v", err)
	}
	if after := digest(t, conn); !slices.Equal(before, after) {
		t.Error("a page is changed that has another one beside it")
	}
}

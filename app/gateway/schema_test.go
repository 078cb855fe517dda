package gateway_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/list"
	"heliograph/storage"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

// TestOtherSchema tests a database that lacks columns, a table and an index, and has others that the gateway does not
// know.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	const account, blocks, token, messages = "/api/v1/accounts/0.0.2", "/api/v1/blocks?limit=3", "/api/v1/tokens/",
		"/api/v1/topics/0.0.4001/messages"
	before := testenv.Over(t, url)
	wantAccount, wantBlocks := before.Get(t, account), before.Get(t, blocks)
	id := regexp.MustCompile(`"token_id":"([^"]+)"`).FindStringSubmatch(before.Get(t,
		"/api/v1/tokens?limit=1").Body)[1]
	before.DB.Close()
	before.Status.Close()

	testenv.Exec(t, url, `alter table entity drop column auto_renew_period`,
		`alter table token drop column total_supply`, `drop table topic_message`,
		`alter table record_file drop column receipts_root`,
		`drop index nft__account_token_serialnumber`, `drop index token__name`,
		`drop index nft_history__account_timestamp_range`,
		`alter table entity add column later text`, `create table later (id bigint)`)
	report, err := migrations.Inspect(t.Context(), pgtest.Connect(t, url))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(list.Map(report.Absent, storage.Absent.String),
		" "); got != "entity.auto_renew_period record_file.receipts_root token.total_supply topic_message" {
		t.Errorf("absent: %s", got)
	}
	if !slices.Equal(report.Unknown, []string{"entity.later", "later"}) || report.Version == "" {
		t.Errorf("unknown: %q, version %q", report.Unknown, report.Version)
	}
	for _, part := range []string{
		"create index concurrently nft__account_token_serialnumber on nft (",
		"(name gin_trgm_ops) -- needs the extension pg_trgm",
		"timestamp_range) -- needs the extension btree_gist",
	} {
		if len(report.Indexes) != 3 || !slices.ContainsFunc(report.Indexes, func(sql string) bool {
			return strings.Contains(sql, part)
		}) {
			t.Errorf("indexes without %q: %q", part, report.Indexes)
		}
	}

	conn := pgtest.Connect(t, url)
	for i, p := range report.Further {
		if _, err := conn.Exec(t.Context(), p.SQL); err != nil || p.Size == "" {
			t.Errorf("%+v: %v", p, err)
		}
		again, err := migrations.Inspect(t.Context(), conn)
		if err != nil || len(report.Further) != 2 || len(again.Further) != 1-i {
			t.Errorf("%+v, %v", again, err)
		}
	}

	g := testenv.Over(t, url)
	g.DB.SetAbsent(report.Absent)
	// The time of expiry is computed from the period.
	want := regexp.MustCompile(`"(auto_renew_period|expiry_timestamp)":[^,]+`).ReplaceAllString(wantAccount.Body,
		`"$1":null`)
	if got := g.Get(t, account); got.Status != http.StatusOK || got.Body != want || want == wantAccount.Body {
		t.Errorf("status %d: %.900s\nwant %.900s", got.Status, got.Body, want)
	}
	want = regexp.MustCompile(`"receipts_root":[^,]+,`).ReplaceAllString(wantBlocks.Body, "")
	if got := g.Get(t, blocks); got.Status != http.StatusOK || got.Body != want || want == wantBlocks.Body {
		t.Errorf("status %d:\n%s", got.Status, testenv.Diff(want, got.Body))
	}
	for path, want := range map[string]string{
		token + id: `{"_status":{"messages":[{"message":"the database has no token.total_supply"}]}}`,
		messages:   `{"_status":{"messages":[{"message":"the database has no topic_message"}]}}`,
	} {
		if got := g.Get(t, path); got.Status != http.StatusNotImplemented || got.Body != want {
			t.Errorf("%s: status %d: %s", path, got.Status, got.Body)
		}
	}
	got := g.Query(t, `{ token(id: "`+id+`") { totalSupply } }`, nil)
	if !strings.Contains(got.Body, `"code":"SCHEMA_MISMATCH"`) || !strings.Contains(got.Body, "token.total_supply") {
		t.Error(got.Body)
	}
}

// TestDenied checks the statement that grants missing permissions.
func TestDenied(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	reader, conn := pgtest.Role(t, url), pgtest.Connect(t, url)
	pgtest.Exec(t, conn, "grant select on all tables in schema public to "+reader,
		"revoke select on token, prng from "+reader, "set role "+reader)
	if got, err := migrations.Denied(t.Context(), conn); err != nil || got != "grant select on token to "+reader {
		t.Errorf("%q, %v", got, err)
	}
	pgtest.Exec(t, conn, "reset role", "revoke select on all tables in schema public from "+reader, "set role "+reader)
	if got, err := migrations.Denied(t.Context(), conn); err != nil ||
		got != "grant select on all tables in schema public to "+reader {
		t.Errorf("%q, %v", got, err)
	}
	pgtest.Exec(t, conn, "reset role")
	if got, err := migrations.Denied(t.Context(), conn); err != nil || got != "" {
		t.Errorf("of the owner: %q, %v", got, err)
	}
}

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/pgtest"
)

// grid has the pairs (1, 1) to (5, 5), and the tables that health and readiness read.
var grid = &pgtest.Template{Name: "grid", Prepare: func(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `create table grid (a bigint, b bigint);
insert into grid select a, b from generate_series(1, 5) a, generate_series(1, 5) b;
create table version (id bigint, timestamp_range int8range);
insert into version values (1, '[10,20)'), (2, '[20,30)'), (3, '[30,)');
create table change (key bigint, value text, consensus_timestamp bigint);
insert into change values (1, 'old', 10), (1, 'new', 20), (2, 'only', 15), (3, 'late', 40);
create table address_book (start_consensus_timestamp bigint);
create table address_book_entry (consensus_timestamp bigint, node_id bigint, node_account_id bigint);
create table node (node_id bigint, deleted boolean, account_id bigint);
create table node_stake (node_id bigint, stake bigint, min_stake bigint, consensus_timestamp bigint);
create table record_file (index bigint, consensus_end bigint);
create table transaction (consensus_timestamp bigint, node_account_id bigint);`)
	return err
}}

func open(t *testing.T, change func(*storage.Options)) *storage.DB {
	t.Helper()
	o := storage.Options{PoolOptions: storage.PoolOptions{
		URL: grid.Fresh(t), MaxConnections: 2,
		StatementTimeout: time.Minute, ConnectTimeout: time.Minute,
	}}
	if change != nil {
		change(&o)
	}
	if o.Pooler == "" {
		o.URL = pgtest.Pooled(t, o.URL)
	}
	db, err := storage.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

type pair struct{ a, b int64 }

var pairRows = storage.MapperOf(func(p *pair, into []any) []any { return append(into, &p.a, &p.b) }, nil)

// text returns pairs as "11 12".
func text(rows []*pair) string {
	var s []string
	for _, p := range rows {
		s = append(s, fmt.Sprintf("%d%d", p.a, p.b))
	}
	return strings.Join(s, " ")
}

// pageOf reads a page of the grid.
func pageOf(t *testing.T, db *storage.DB, w *storage.Where, p storage.Page) string {
	t.Helper()
	w.Keyset(p, "a", "b")
	rows, err := pairRows.List(t.Context(), db, "pairs",
		`select a, b from grid where true`+w.String()+w.OrderBy(p, "a", "b"), w.Args...)
	if err != nil {
		t.Fatal(err)
	}
	return text(rows)
}

func TestKeysetPages(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	for name, c := range map[string]struct {
		page storage.Page
		want string
	}{
		"first":            {storage.Page{Limit: 3}, "11 12 13"},
		"last":             {storage.Page{Limit: 3, Desc: true}, "55 54 53"},
		"after a key":      {storage.Page{Limit: 3, Greater: []any{2, 4}}, "25 31 32"},
		"before a key":     {storage.Page{Limit: 3, Desc: true, Less: []any{2, 2}}, "21 15 14"},
		"between two keys": {storage.Page{Limit: 9, Greater: []any{1, 4}, Less: []any{2, 3}}, "15 21 22"},
		"between, backwards": {
			storage.Page{Limit: 9, Desc: true, Greater: []any{1, 4}, Less: []any{2, 3}},
			"22 21 15",
		},
	} {
		if got := pageOf(t, db, &storage.Where{}, c.page); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestBoundsInOrder compares the rows within bounds with the rows whose pairs are within the same bounds as keys.
func TestBoundsInOrder(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	all := storage.Page{Limit: 25}
	at := func(v int64) *int64 { return &v }
	for name, c := range map[string]struct {
		a, b *ledger.LongFilter
		want string
	}{
		"lower": {&ledger.LongFilter{Gte: at(4)}, &ledger.LongFilter{Gt: at(3)}, "44 45 51 52 53 54 55"},
		"upper": {&ledger.LongFilter{Lte: at(2)}, &ledger.LongFilter{Lte: at(1)}, "11 12 13 14 15 21"},
		"both": {
			&ledger.LongFilter{Gte: at(2), Lte: at(3)}, &ledger.LongFilter{Gte: at(4), Lt: at(3)},
			"24 25 31 32",
		},
		"one value": {
			&ledger.LongFilter{Gte: at(2), Lte: at(2)}, &ledger.LongFilter{Gte: at(2), Lt: at(4)},
			"22 23",
		},
		"equality":        {&ledger.LongFilter{Eq: at(3)}, &ledger.LongFilter{Gt: at(4)}, "35"},
		"second equality": {&ledger.LongFilter{Gt: at(3)}, &ledger.LongFilter{Eq: at(2)}, "42 52"},
		"first only":      {&ledger.LongFilter{Gt: at(4)}, nil, "51 52 53 54 55"},
		"second only": {
			nil, &ledger.LongFilter{Gt: at(4)},
			"11 12 13 14 15 21 22 23 24 25 31 32 33 34 35 41 42 43 44 45 51 52 53 54 55",
		},
		"greatest integer": {&ledger.LongFilter{Gt: at(1<<63 - 1)}, &ledger.LongFilter{Gt: at(1)}, ""},
	} {
		var w storage.Where
		w.InOrder(storage.BoundsOn("a", c.a), storage.BoundsOn("b", c.b))
		if got := pageOf(t, db, &w, all); got != c.want {
			t.Errorf("%s: %q, want %q (%s)", name, got, c.want, w.String())
		}
	}
}

func TestChildren(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	parents := []ledger.EntityID{4, 9, 2}
	b := db.NewBatch()
	ps, _ := b.ParentsOrOne("id", storage.Int64s(parents))
	if b.DB() != db || b.Len() != 0 {
		t.Error("a new batch is not empty")
	}
	finished, ran := 0, false
	counting := storage.MapperOf(func(p *pair, into []any) []any {
		return append(into, &p.a, &p.b)
	}, func(*pair) error { finished++; return nil })
	r := &storage.Read{
		Parents: ps, Select: `p.ord, g.a, g.b`, From: ps.From,
		Joins: []storage.Join{ps.Join("join", "grid", "g", "a", "id")},
		Rest:  ` where g.b < 3 order by g.a, g.b`,
	}
	children := counting.QueueChildren(b, len(parents), r, ps.Args)
	child := pairRows.QueueChild(b, len(parents), r, ps.Args)
	if rows, err := children(); err == nil {
		t.Errorf("a batch that has not run returns %v", rows)
	}
	storage.Use(b, children, func(rows [][]*pair) { ran = rows != nil })
	got, err := storage.Run(t.Context(), b, children)
	if err != nil {
		t.Fatal(err)
	}
	first, err := child()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"41 42", "", "21 22"}
	for i, rows := range got {
		if text(rows) != want[i] {
			t.Errorf("parent %d has %s, want %s", parents[i], text(rows), want[i])
		}
	}
	if len(first) != 3 || *first[0] != (pair{4, 1}) || first[1] != nil || *first[2] != (pair{2, 1}) {
		t.Errorf("the first rows are %v", first)
	}
	if finished != 4 || !ran {
		t.Errorf("%d rows finished; Then ran: %t", finished, ran)
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	b := db.NewBatch()
	if err := b.Run(t.Context()); err != nil {
		t.Errorf("an empty batch: %v", err)
	}
	b.Exec(`select 1`)
	both := storage.All([]storage.Result[[]*pair]{
		pairRows.Queue(b, `select a, b from grid where a = $1 order by b`, []any{1}),
		pairRows.Queue(b, `select a, b from grid where a = $1 and b = $1`, []any{5}),
	})
	if b.Len() != 3 {
		t.Error(b.Len())
	}
	got, err := storage.Run(t.Context(), b, both)
	if err != nil {
		t.Fatal(err)
	}
	if text(got[0]) != "11 12 13 14 15" || text(got[1]) != "55" {
		t.Errorf("%s; %s", text(got[0]), text(got[1]))
	}
	b = db.NewBatch()
	b.Exec(`select 1 / 0`)
	if err := b.Run(t.Context()); storage.FailureOf(err) != storage.FailureOutOfBounds {
		t.Error(err)
	}
}

// TestSettings runs the same statement with different settings on one connection, often enough for cached plans. Each
// keeps its own settings and plan.
func TestSettings(t *testing.T) {
	t.Parallel()
	db := open(t, func(o *storage.Options) { o.MaxConnections, o.Pooler = 1, storage.PoolerNone })
	conn := pgtest.Connect(t, db.Pool().Config().ConnString())
	pgtest.Exec(t, conn,
		`create table held as select i * 7919 % 1000 as owner, i as at from generate_series(1::bigint, 100000) i`,
		`create index held_owner on held (owner)`, `vacuum analyze held`)
	const settings = `current_setting('enable_bitmapscan') || ' ' || current_setting('plan_cache_mode')`
	const sum = `select sum(at) from held where owner = ` + storage.Any1
	all := []storage.Setting{storage.NoBitmapsCustom, 0, storage.NoBitmaps}
	comments := map[storage.Setting]string{
		storage.NoBitmaps:       "/* enable_bitmapscan = off */ ",
		storage.NoBitmapsCustom: "/* enable_bitmapscan = off, plan_cache_mode = force_custom_plan */ ",
	}
	read := func(with storage.Setting, columns string) *storage.Read {
		return &storage.Read{Setting: with, Select: columns, From: "(select) one"}
	}
	for range 8 {
		got := map[storage.Setting]string{}
		b := db.NewBatch()
		for _, with := range all {
			set := storage.Values[string]().QueueRead(b, read(with, settings), nil)
			keys := []any{[]int64{5}}
			storage.Use(b, set, func(rows []*string) { got[with] = *rows[0] })
			total := storage.Values[string]().QueueRead(b, read(with, `(`+sum+`)::text`), keys)
			storage.Use(b, total, func(rows []*string) { got[with] += " " + *rows[0] })
		}
		if n := b.Len(); n != 6 {
			t.Errorf("%d statements are queued, want 6", n)
		}
		if err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		// A statement that is not in a batch has the same settings.
		for _, with := range all {
			v, err := storage.Values[string]().ListRead(t.Context(), db, "settings", read(with, settings), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(got[with], *v[0]+" ") {
				t.Errorf("%q: %q in a batch, %q alone", comments[with], got[with], *v[0])
			}
		}
		if want := map[storage.Setting]string{
			0: "on auto 4989500", storage.NoBitmaps: "off auto 4989500",
			storage.NoBitmapsCustom: "off force_custom_plan 4989500",
		}; !maps.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	plans := map[storage.Setting]string{}
	for _, with := range all[1:] {
		var name string
		var generic int
		if err := db.Pool().QueryRow(t.Context(),
			`select name, generic_plans from pg_prepared_statements where statement = $1`,
			comments[with]+`select (`+sum+`)::text`+"\nfrom (select) one").Scan(&name, &generic); err != nil {
			t.Fatal(err)
		}
		if generic == 0 {
			t.Errorf("%q has no generic plan", comments[with])
		}
		rows, err := storage.Values[string]().List(t.Context(), db, "a plan", `explain execute "`+name+`" ('{5}')`)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range rows {
			plans[with] += *line + "\n"
		}
	}
	if !strings.Contains(plans[0], "Bitmap Heap Scan") || strings.Contains(plans[storage.NoBitmaps], "Bitmap") {
		t.Errorf("the cached plans do not keep their settings: %v", plans)
	}
}

func TestErrorsOfRows(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	broken := errors.New("broken")
	failing := storage.MapperOf(func(p *pair, into []any) []any {
		return append(into, &p.a, &p.b)
	}, func(*pair) error { return broken })
	_, err := failing.List(t.Context(), db, "pairs", `select a, b from grid`)
	if !errors.Is(err, broken) || storage.FailureOf(err) != storage.FailureOther {
		t.Error(err)
	}
	for _, sql := range []string{
		`select a from grid`, `select a, 'x' from grid`, `select a, b from missing`,
		`select 2 - a, 1 / (2 - a) from grid`,
	} {
		if _, err := pairRows.List(t.Context(), db, "pairs", sql); err == nil {
			t.Errorf("%s: no error", sql)
		}
		b := db.NewBatch()
		rows := pairRows.Queue(b, sql, nil)
		storage.Use(b, rows, func([]*pair) { t.Errorf("%s: the rows are used", sql) })
		if err := b.Run(t.Context()); err == nil {
			t.Errorf("%s in a batch: no error", sql)
		}
		if _, err := rows(); err == nil {
			t.Errorf("%s: the rows have no error", sql)
		}
	}
}

func TestVersionsAndChanges(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	at := func(v int64) *ledger.Timestamp { return (*ledger.Timestamp)(&v) }
	ids := func(sql string, args []any) string {
		t.Helper()
		rows, err := storage.Values[int64]().List(t.Context(), db, "ids", sql, args...)
		if err != nil {
			t.Fatal(sql, err)
		}
		var s strings.Builder
		for _, r := range rows {
			fmt.Fprint(&s, *r)
		}
		return s.String()
	}
	for name, c := range map[string]struct {
		f                ledger.TimestampFilter
		versions, during string // IDs; keys of changes
	}{
		"no filter":  {ledger.TimestampFilter{}, "123", "1123"},
		"at":         {ledger.TimestampFilter{Eq: at(20)}, "12", "112"},
		"one of":     {ledger.TimestampFilter{In: []ledger.Timestamp{19}}, "1", "12"},
		"none of":    {ledger.TimestampFilter{In: []ledger.Timestamp{}}, "", ""},
		"after all":  {ledger.TimestampFilter{Gt: at(int64(ledger.MaxTimestamp))}, "", ""},
		"before":     {ledger.TimestampFilter{Lt: at(20)}, "1", "12"},
		"until":      {ledger.TimestampFilter{Lte: at(20)}, "12", "112"},
		"after":      {ledger.TimestampFilter{Gt: at(19)}, "23", "13"},
		"since":      {ledger.TimestampFilter{Gte: at(19)}, "123", "13"},
		"not at":     {ledger.TimestampFilter{Ne: at(20)}, "13", "123"},
		"not one of": {ledger.TimestampFilter{NotIn: []ledger.Timestamp{10, 40}}, "2", "12"},
	} {
		var w storage.Where
		w.Versions("timestamp_range", &c.f)
		if got := ids(`select id from version where true`+w.String()+` order by id`, w.Args); got != c.versions {
			t.Errorf("%s: versions %s, want %s", name, got, c.versions)
		}
		w = storage.Where{}
		w.During("consensus_timestamp", &c.f)
		if got := ids(`select key from change where true`+w.String()+` order by key`, w.Args); got != c.during {
			t.Errorf("%s: changes of %s, want %s", name, got, c.during)
		}
	}
	var w storage.Where
	w.Versions("timestamp_range", nil)
	if w.String() != "" {
		t.Error(w.String())
	}
	sql := storage.LatestChanges("change", "true", "s.key", "s.value", "", " and s.consensus_timestamp < 40",
		" order by 1 limit 9")
	rows, err := storage.Values[string]().List(t.Context(), db, "changes",
		`select value from (`+sql+`) l order by key`)
	if err != nil || len(rows) != 2 || *rows[0] != "new" || *rows[1] != "only" {
		t.Error(len(rows), err)
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	setting := func(db *storage.DB, name string) string {
		t.Helper()
		value, err := storage.Values[string]().One(t.Context(), db, "a setting", `select current_setting($1)`, name)
		if err != nil {
			t.Fatal(err)
		}
		return *value
	}
	db := open(t, func(o *storage.Options) {
		o.Pooler, o.ReadOnly, o.Cache, o.Base = storage.PoolerNone, true, true, ledger.EntityID(0).WithNum(0)
	})
	for name, want := range map[string]string{
		"enable_bitmapscan": "on", "jit": "off",
		"application_name": "heliograph", "default_transaction_read_only": "on", "statement_timeout": "1min",
	} {
		if got := setting(db, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if !db.Cache() || db.ChainID() != 0x128 || db.NetworkChainID() != "0x128" || db.FileAttempts() != 12 ||
		db.SystemEntity(98) != 98 {
		t.Error(db.Cache(), db.ChainID(), db.NetworkChainID(), db.FileAttempts(), db.SystemEntity(98))
	}
	other := open(t, func(o *storage.Options) {
		o.Pooler = storage.PoolerNone
		o.URL += "&jit=on"
		o.ChainID, o.FileAttempts = "none", 3
	})
	if setting(other, "jit") != "on" || setting(other, "default_transaction_read_only") != "off" ||
		other.ChainID() != 0 || other.FileAttempts() != 3 || other.Cache() {
		t.Error("the settings of the URL and of the options do not apply")
	}
	// Statements of On run in the transaction of the connection.
	conn, err := other.Pool().Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	pgtest.Exec(t, conn.Conn(), `begin`, `set local jit = off`)
	if got := setting(other.On(conn.Conn()), "jit"); got != "off" {
		t.Error(got)
	}
	pgtest.Exec(t, conn.Conn(), `rollback`)
}

// TestCancellation checks that the end of a context stops the statement at the server, and that the connection stays
// usable.
func TestCancellation(t *testing.T) {
	t.Parallel()
	db := open(t, func(o *storage.Options) { o.MaxConnections = 1 })
	backend := func() int64 {
		rows, err := storage.Values[int64]().List(t.Context(), db, "a process", `select pg_backend_pid()::bigint`)
		if err != nil {
			t.Fatal(err)
		}
		return *rows[0]
	}
	first := backend()
	for name, c := range map[string]struct {
		ctx  func() (context.Context, context.CancelFunc)
		want storage.Failure
	}{
		"the client left": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Millisecond, cancel)
			return ctx, cancel
		}, storage.FailureCancelled},
		"the deadline passed": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 10*time.Millisecond)
		}, storage.FailureTimeout},
	} {
		ctx, cancel := c.ctx()
		start := time.Now()
		_, err := storage.Values[int64]().List(ctx, db, "nothing", `select 1::bigint from pg_sleep(60)`)
		if got := storage.FailureOf(err); got != c.want || time.Since(start) > 30*time.Second {
			t.Errorf("%s: class %d after %s, want %d: %v", name, got, time.Since(start), c.want, err)
		}
		b := db.NewBatch()
		for range 2 {
			storage.Values[int64]().Queue(b, `select 1::bigint from pg_sleep(60)`, nil)
		}
		if got := storage.FailureOf(b.Run(ctx)); got != c.want {
			t.Errorf("%s: class %d of a batch, want %d", name, got, c.want)
		}
		cancel()
	}
	if now := backend(); now != first {
		t.Error("a canceled statement closed its connection")
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	if db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: "://"}}); err == nil {
		db.Close()
		t.Error("invalid URL: no error")
	}
	nowhere, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: "postgres://127.0.0.1:1/none?connect_timeout=1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nowhere.Close)
	if _, err := nowhere.Newest(t.Context()); storage.FailureOf(err) != storage.FailureDatabase {
		t.Error(err)
	}
	db := open(t, nil)
	db.Close()
	ready := db.Ready(t.Context())
	_, newest := db.Newest(t.Context())
	_, estimate := db.Estimate(t.Context(), `select from grid`)
	_, health := db.LedgerHealth(t.Context())
	for i, err := range []error{ready, newest, estimate, health} {
		if err == nil {
			t.Errorf("function %d of a closed database: no error", i)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	ctx := t.Context()
	if err := db.Ready(ctx); !errors.Is(err, storage.ErrEmpty) {
		t.Error(err)
	}
	if newest, err := db.Newest(ctx); newest != 0 || err != nil {
		t.Error(newest, err)
	}
	if h, err := db.LedgerHealth(ctx); err != nil || h.Block != 0 || h.At != 0 || len(h.Nodes) != 0 {
		t.Error(h, err)
	}
	pgtest.Exec(t, pgtest.Connect(t, db.Pool().Config().ConnString()), `insert into address_book values (1), (2)`,
		`insert into address_book_entry values (2, 0, 3), (2, 1, 4), (1, 9, 12)`,
		`insert into node values (1, true, 4)`, `insert into node_stake values (0, 700, -1, 5), (0, 1, 1, 4)`,
		`insert into record_file select i, i * 1000000000::bigint from generate_series(1, 9) i where i <> 4`,
		`insert into transaction select 8000000000::bigint + i, case when i < 4 then 3 end from generate_series(1, `+
			`5) i`)
	if err := db.Ready(ctx); err != nil {
		t.Error(err)
	}
	pgtest.Exec(t, pgtest.Connect(t, db.Pool().Config().ConnString()), `create function get_transaction_info_by_hash(bytea) returns table (n int)
language plpgsql as $$ begin raise exception 'broken'; end $$`)
	if err := db.Ready(ctx); storage.FailureOf(err) != storage.FailureDatabase {
		t.Error("a broken function:", err)
	}
	if newest, err := db.Newest(ctx); newest != 9_000_000_000 || err != nil {
		t.Error(newest, err)
	}
	h, err := db.LedgerHealth(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if h.Block != 9 || h.At != 9_000_000_000 || h.Missing != 1 || h.Transactions != 3 || len(h.Nodes) != 2 {
		t.Errorf("%+v", h)
	}
	first, second := h.Nodes[0], h.Nodes[1]
	if first.Transactions != 3 || first.Deleted || first.Stake != ledger.Of(int64(700)) || first.MinStake.Valid ||
		second.Transactions != 0 ||
		!second.Deleted || second.Stake.Valid {
		t.Errorf("%+v %+v", first, second)
	}
	if n, err := db.Estimate(ctx, `select from grid`); n != 25 || err != nil {
		t.Error(n, err)
	}
}

type values struct {
	big            int64
	small          int32
	id, none       ledger.EntityID
	at             ledger.Timestamp
	maybe, null    ledger.Null[int64]
	maybeID        ledger.Null[ledger.EntityID]
	maybeAt        ledger.Null[ledger.Timestamp]
	int4, noInt4   ledger.Null[int32]
	int2           ledger.Null[int16]
	kind           ledger.TransactionType
	result         ledger.ResponseCode
	yes            bool
	maybeYes, unk  ledger.Null[bool]
	text, empty    string
	maybeText, nul ledger.Null[string]
	bytes          []byte
	key            ledger.Key
	ids, noIDs     []ledger.EntityID
	alias          ledger.Alias
	line           ledger.LineBytes
	short          int16
	list           []int64
	lists          [][]byte
	json           map[string]int
	noList         []int64
	noLists        [][]byte
	noBytes        []byte
	numeric        ledger.Null[int64]
	numericID      ledger.EntityID
	numericAt      ledger.Timestamp
	numericType    ledger.TransactionType
	numericResult  ledger.ResponseCode
}

// TestDecoding decodes every kind of target, with the decoder and with the driver (columns of type numeric).
func TestDecoding(t *testing.T) {
	t.Parallel()
	db := open(t, nil)
	mapper := storage.MapperOf(func(v *values, into []any) []any {
		return append(into, &v.big, &v.small, &v.id, &v.none, &v.at, &v.maybe, &v.null, &v.maybeID, &v.maybeAt,
			&v.int4, &v.noInt4,
			&v.int2, &v.kind, &v.result, &v.yes, &v.maybeYes, &v.unk, &v.text, &v.empty, &v.maybeText, &v.nul,
			&v.bytes, &v.key, &v.ids, &v.noIDs, &v.alias, &v.line, &v.short, &v.list, &v.lists, &v.json, &v.noList,
			&v.noLists, &v.noBytes,
			&v.numeric, &v.numericID, &v.numericAt, &v.numericType, &v.numericResult)
	}, nil)
	rows, err := mapper.List(t.Context(), db, "values", `select 1::bigint, 2::smallint, 3::bigint, null::bigint, 4::bigint, 5::integer, null::bigint, 6::bigint, 7::bigint, 8::integer, null::integer,
  9::smallint, 14::smallint, 22::smallint, true, false, null::boolean, 'text'::text, ''::varchar, 'maybe'::text, null::text,
  '\x0102'::bytea, '\x03'::bytea, array[3, -4]::bigint[], '{}'::bigint[], '\x05'::bytea, null::bytea, 6::smallint,
  array[1, 2]::bigint[], array['\x05']::bytea[], '{"a": 1}'::jsonb, null::bigint[], null::bytea[], null::bytea,
  10::numeric, 11::numeric, 12::numeric, 13::numeric, 14::numeric from generate_series(1, 30) where $1 > 0`, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := &values{
		big: 1, small: 2, id: 3, at: 4, maybe: ledger.Of[int64](5), maybeID: ledger.Of[ledger.EntityID](6),
		maybeAt: ledger.Of[ledger.Timestamp](7),
		int4:    ledger.Of[int32](8),
		int2:    ledger.Of[int16](9), kind: 14, result: 22, yes: true, maybeYes: ledger.Of(false), text: "text",
		maybeText: ledger.Of("maybe"),
		bytes:     []byte{1, 2}, key: ledger.Key{3}, ids: []ledger.EntityID{3, -4}, noIDs: []ledger.EntityID{},
		alias: ledger.Alias{5}, short: 6, list: []int64{1, 2}, lists: [][]byte{{5}},
		json:    map[string]int{"a": 1},
		numeric: ledger.Of[int64](10), numericID: 11, numericAt: 12, numericType: 13, numericResult: 14,
	}
	if len(rows) != 30 {
		t.Fatal(len(rows))
	}
	for _, v := range rows {
		if !reflect.DeepEqual(v, want) {
			t.Fatalf("%+v\nwant\n%+v", v, want)
		}
	}
	for _, sql := range []string{`select 70000::bigint`, `select 'x'::text`, `select 1.5::numeric`} {
		if _, err := storage.Values[ledger.TransactionType]().List(t.Context(), db, "values", sql); err == nil {
			t.Errorf("%s: no error", sql)
		}
	}
	for _, list := range [][]int64{nil, {}, {1, -2}} {
		got, err := storage.Values[[]int64]().One(t.Context(), db, "an array", `select $1::bigint[]`, list)
		if err != nil || !slices.Equal(*got, list) || (*got == nil) != (list == nil) {
			t.Errorf("%v: %v", list, err)
		}
	}
}

// TestPanicOfReader checks that a panic while the fields of a row are computed is an error of the statement, and that
// its connection can be used again.
func TestPanicOfReader(t *testing.T) {
	t.Parallel()
	db := open(t, nil) // with two connections
	faulty := storage.MapperOf(func(p *pair, into []any) []any {
		return append(into, &p.a, &p.b)
	}, func(p *pair) error {
		if p.a == 0 {
			panic("a zero")
		}
		return nil
	})
	const sql = `select $1::bigint, 1::bigint`
	for range 5 {
		if _, err := faulty.List(t.Context(), db, "pairs", sql, 0); err == nil ||
			storage.FailureOf(err) != storage.FailureOther || !strings.Contains(err.Error(), "a zero") {
			t.Errorf("a statement: %v", err)
		}
		b := db.NewBatch()
		before, bad := faulty.Queue(b, sql, []any{1}), faulty.Queue(b, sql, []any{0})
		after := faulty.Queue(b, sql, []any{2})
		if err := b.Run(t.Context()); err == nil {
			t.Error("no error of a batch")
		}
		for _, read := range []storage.Result[[]*pair]{bad, after} {
			if _, err := read(); err == nil {
				t.Error("no error of a statement in a batch")
			}
		}
		if rows, err := before(); len(rows) != 1 || err != nil {
			t.Errorf("the statement before: %v, %v", rows, err)
		}
	}
	if rows, err := faulty.List(t.Context(), db, "pairs", sql, 3); len(rows) != 1 || err != nil {
		t.Errorf("a valid row: %v, %v", rows, err)
	}
}

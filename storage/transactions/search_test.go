package transactions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/entities"
	"heliograph/storage/pgtest"
)

// TestForms compares the two forms of a search for transactions: each finds the same rows for all combinations of
// account, direction, result, type and order.
func TestForms(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: pgtest.Pooled(t, demotest.Network.Shared(t))}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var types []ledger.TransactionType
	var accounts []*ledger.EntityIDFilter
	read(t, db, `select type from (select type, row_number() over (order by count(*) desc, type) n, count(*) over () kinds
  from transaction group by type) t where n <= 4 or n > kinds - 4`, func(v int64) { types = append(types, ledger.TransactionType(v)) })
	read(t, db, `select entity_id from crypto_transfer group by 1 order by count(*) desc limit 4`, func(v int64) {
		accounts = append(accounts, &ledger.EntityIDFilter{Eq: new(ledger.EntityID(v))})
	})
	read(t, db, `select account_id from token_transfer group by 1 order by count(*), 1 limit 2`, func(v int64) {
		accounts = append(accounts, &ledger.EntityIDFilter{In: []ledger.EntityID{ledger.EntityID(v)}},
			&ledger.EntityIDFilter{Lte: new(ledger.EntityID(v))})
	})
	accounts = append(accounts, nil, &ledger.EntityIDFilter{Eq: new(ledger.EntityID(FeeAccount))},
		&ledger.EntityIDFilter{Eq: new(ledger.EntityID(999_999_999))})
	kinds := [][]ledger.TransactionType{nil, {}, {types[0], types[1]}}
	for _, v := range types {
		kinds = append(kinds, []ledger.TransactionType{v})
	}
	found := 0
	for _, account := range accounts {
		for _, direction := range []*ledger.TransferDirection{
			nil, new(ledger.DirectionCredit),
			new(ledger.DirectionDebit),
		} {
			for _, outcome := range []*ledger.TransactionOutcome{
				nil, new(ledger.OutcomeSuccess),
				new(ledger.OutcomeFailure),
			} {
				for i, kind := range kinds {
					if account == nil && direction == nil {
						continue
					}
					f := ledger.TransactionFilter{
						AccountID: account, Direction: direction, Outcome: outcome,
						Types: kind,
					}
					p := storage.Page{Limit: 7, Desc: i%2 == 0}
					want, got := timesOf(t, db, f, p, false), timesOf(t, db, f, p, true)
					if !slices.Equal(got, want) {
						t.Errorf("account %+v, direction %v, outcome %v, types %v: by time %v, by participant %v",
							account, direction, outcome, kind, got, want)
					}
					found += len(want)
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("found %d transactions in all, too few for a comparison", found)
	}
}

func read(t *testing.T, db *storage.DB, sql string, each func(int64)) {
	t.Helper()
	rows, err := storage.Values[int64]().List(t.Context(), db, "values", sql)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range rows {
		each(*v)
	}
}

func timesOf(t *testing.T, db *storage.DB, f ledger.TransactionFilter, p storage.Page, byTime bool) []int64 {
	t.Helper()
	s, err := searchFor(t.Context(), db, f, p)
	if err != nil {
		t.Fatal(err)
	}
	s.byTime = byTime
	var w storage.Where
	sql := `select consensus_timestamp from (` + s.page(&w, "") + `) page` + w.OrderBy(p, "consensus_timestamp")
	rows, err := storage.Values[int64]().List(t.Context(), db, "times", sql, w.Args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	out := make([]int64, len(rows))
	for i, v := range rows {
		out[i] = *v
	}
	return out
}

// TestChoice checks the form of searches in a network of two million transactions: 0.0.98 takes part in all of them,
// account "busy" in a sixth, "quiet" in one of 100,000. Type "rare" is one of 4,000 transactions, "frequent" a third
// of them.
func TestChoice(t *testing.T) {
	t.Parallel()
	const all, busy, quiet, rare, frequent = 1, 1.0 / 6, 1e-5, 1.0 / 4000, 1.0 / 3
	for name, c := range map[string]struct {
		rows, matching, ofType, share float64
		byTime                        bool
	}{
		"fee account, rare":         {2e6, rare, rare, all, true},
		"fee account, frequent":     {2e6, frequent, frequent, all, true},
		"busy account, rare":        {2e6, rare, rare, busy, true},
		"busy account, frequent":    {2e6, frequent, frequent, busy, false},
		"quiet account, rare":       {2e6, rare, rare, quiet, false},
		"quiet account, frequent":   {2e6, frequent, frequent, quiet, false},
		"fee account, absent type":  {2e6, 0, 0, all, true},
		"busy account, failed":      {2e6, 0.01, 1, busy, false},
		"busy account, rare failed": {2e6, rare * 0.01, rare, busy, true},
		"an hour, fee account":      {5000, rare, rare, all, true},
	} {
		if got := byTime(26, c.rows, c.matching, c.ofType, c.share); got != c.byTime {
			t.Errorf("%s: by time is %v", name, got)
		}
	}
}

// TestSearchWithoutStatistics checks that a search works in a database that was never analyzed.
func TestSearchWithoutStatistics(t *testing.T) {
	t.Parallel()
	url := demotest.Network.Fresh(t)
	pgtest.Exec(t, pgtest.Connect(t, url), `delete from pg_statistic`,
		`update pg_class set reltuples = -1 where relname = 'transaction'`)
	db, err := storage.Open(t.Context(), storage.Options{PoolOptions: storage.PoolOptions{URL: pgtest.Pooled(t, url)}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f, err := db.Frequencies(t.Context(), "transaction", "type")
	if err != nil || f.Known() {
		t.Fatalf("statistics: %+v, %v", f, err)
	}
	rows, err := Transactions(t.Context(), db, ledger.TransactionFilter{
		AccountID: &ledger.EntityIDFilter{Eq: new(ledger.EntityID(FeeAccount))}, Types: []ledger.TransactionType{14},
	}, storage.Page{Limit: 3})
	if err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestGenericPlans checks that PostgreSQL plans look-ups by key once per connection, not at each execution.
func TestGenericPlans(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: demotest.Network.Shared(t), MaxConnections: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newest, err := Transactions(t.Context(), db, ledger.TransactionFilter{}, storage.Page{Limit: 10, Desc: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range newest {
		b := db.NewBatch()
		QueueTransactionsAt(b, []ledger.Timestamp{v.ConsensusTimestamp})
		QueueTransfers(b, []*ledger.Transaction{v})
		QueueTokenTransfers(b, []*ledger.Transaction{v})
		QueueBlocksAt(b, []ledger.Timestamp{v.ConsensusTimestamp})
		if _, err := QueueAccountTransactions(t.Context(), b, []ledger.EntityID{v.PayerAccountID},
			ledger.TransactionFilter{}, storage.Page{Limit: 26, Desc: true}); err != nil {
			t.Fatal(err)
		}
		if err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := ledger.TransactionFilter{AccountID: &ledger.EntityIDFilter{Eq: &v.PayerAccountID}}
		if _, err := Transactions(t.Context(), db, f, storage.Page{Limit: 25, Desc: true}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Pool().Query(t.Context(),
		`select statement, generic_plans, custom_plans from pg_prepared_statements where generic_plans + `+
			`custom_plans > 6`)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	var sql string
	var generic, custom int
	if _, err := pgx.ForEachRow(rows, []any{&sql, &generic, &custom}, func() error {
		seen++
		if generic == 0 {
			return fmt.Errorf("planned %d times: %s", custom, sql)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if seen != 7 { // six, and the setting of those in order
		t.Errorf("%d statements were executed more than six times, want 7", seen)
	}
}

// TestLocks counts the locks of look-ups in partitioned tables. A generic plan locks all partitions before it selects
// some of them, so these statements must be planned for their values.
func TestLocks(t *testing.T) {
	t.Parallel()
	pool, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{
			URL:            pgtest.Pooled(t, demotest.Network.Shared(t)),
			MaxConnections: 1,
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	newest, err := Transactions(t.Context(), pool, ledger.TransactionFilter{}, storage.Page{Limit: 1, Desc: true})
	if err != nil {
		t.Fatal(err)
	}
	conn := pgtest.Connect(t, demotest.Network.Shared(t))
	db := pool.On(conn)
	now := newest[0].ConsensusTimestamp
	var hash []byte
	if err := conn.QueryRow(t.Context(),
		`select hash || coalesce(hash_suffix, '') from transaction_hash limit 1`).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() error{
		"account_balance": func() error {
			window, err := entities.SnapshotWindow(t.Context(), db, &ledger.TimestampFilter{Lte: &now}, now)
			if err != nil || !window.Valid {
				return fmt.Errorf("no snapshot: %w", err)
			}
			_, err = entities.BalancesAt(t.Context(), db, ledger.BalanceFilter{}, window.V, storage.Page{Limit: 25})
			return err
		},
		"transaction_hash": func() error {
			found, err := ByHash(t.Context(), db, hash, TransactionFilterOfID{})
			if err == nil && len(found) == 0 {
				err = errors.New("no transaction")
			}
			return err
		},
	} {
		locks, partitions := 0, 0
		for range 8 { // PostgreSQL considers a generic plan after five executions
			pgtest.Exec(t, conn, `begin`)
			if err := read(); err != nil {
				t.Fatal(err)
			}
			if err := conn.QueryRow(t.Context(), `select count(*), (select count(*) from pg_inherits where inhparent = $1::text::regclass) from pg_locks
where pid = pg_backend_pid() and relation in (select inhrelid from pg_inherits where inhparent = $1::text::regclass)`, name).Scan(&locks, &partitions); err != nil {
				t.Fatal(err)
			}
			pgtest.Exec(t, conn, `commit`)
		}
		if locks > 2 || partitions < 10 {
			t.Errorf("%s: %d of %d partitions are locked, want 2 at most", name, locks, partitions)
		}
	}
}

// TestBothForms checks searches in which both forms run at the same time.
func TestBothForms(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: demotest.Network.Shared(t), MaxConnections: 5}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := storage.Page{Limit: 10, Desc: true}
	for _, account := range []ledger.EntityID{FeeAccount, 1002, 1_000_000} {
		f := ledger.TransactionFilter{
			AccountID: &ledger.EntityIDFilter{Eq: &account},
			Types:     []ledger.TransactionType{14},
		}
		want := timesOf(t, db, f, p, false)
		s, err := searchFor(t.Context(), db, f, p)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			rows, err := s.run(t.Context(), db, 0)
			got := list.Map(rows, func(t *ledger.Transaction) int64 { return int64(t.ConsensusTimestamp) })
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("account %d: %d, %v; want %d", account, got, err, want)
			}
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.run(canceled, db, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("account %d, canceled: %v", account, err)
		}
	}
}

// TestTypesAreLiterals checks that a single type is part of the statement: a cached generic plan for a parameter
// assumes the average frequency, and reads all transactions in order of time for a rare type.
func TestTypesAreLiterals(t *testing.T) {
	t.Parallel()
	f := ledger.TransactionFilter{Types: []ledger.TransactionType{14}}
	entry := (&search{filter: f, window: storage.Page{Limit: 3}, others: true}).page(new(storage.Where), "")
	if strings.Count(entry, " and o.type = 14::smallint") != 2 || strings.Count(entry, ".type = 14::smallint") != 4 {
		t.Errorf("a form by participant has types that are not literals: %s", entry)
	}
	var w storage.Where
	outcome(&w, "t", f)
	if w.String() != " and t.type = 14::smallint" || w.Args != nil {
		t.Errorf("%s with %v", w.String(), w.Args)
	}
}

// TestKept checks that a search with a kept text has one form, and that everything else on which the text depends is
// in its key.
func TestKept(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: "postgres://127.0.0.1/none"}}) // connects to nothing
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := map[any]string{}
	for _, account := range []ledger.EntityID{FeeAccount, 1001, 1002} {
		for _, limit := range []int{1, 2, 26, 101} {
			for _, desc := range []bool{false, true} {
				f := ledger.TransactionFilter{AccountID: &ledger.EntityIDFilter{Eq: &account}}
				s, err := searchFor(t.Context(), db, f, storage.Page{Limit: limit, Desc: desc})
				if err != nil || !s.oneForm {
					t.Fatalf("the search has two forms: %t, %v", !s.oneForm, err)
				}
				for _, s.byTime = range []bool{false, true} { // if it had both
					w := storage.With(int64(account))
					key, text := s.keptAs("$1"), s.page(&w, "$1")
					if key == nil || len(w.Args) != 1 {
						t.Fatalf("key %v, arguments %v", key, w.Args)
					}
					if known, ok := texts[key]; ok && known != text {
						t.Errorf("%v is the key of\n%s\nand\n%s", key, known, text)
					}
					texts[key] = text
				}
			}
		}
	}
	all := ledger.EntityIDFilter{Eq: new(ledger.EntityID(1001))}
	for _, f := range []ledger.TransactionFilter{
		{AccountID: &all, Types: []ledger.TransactionType{}},
		{AccountID: &all, Outcome: new(ledger.OutcomeFailure)},
		{AccountID: &all, Direction: new(ledger.DirectionDebit)},
		{AccountID: &all, Timestamp: &ledger.TimestampFilter{}},
	} {
		if s := (&search{filter: f, window: storage.Page{Limit: 1}}); s.keptAs("$1") != nil {
			t.Errorf("the text for %+v is kept", f)
		}
	}
}

// TestEmptyLists checks that filters with a list without elements match nothing, and that statements do not compare
// all rows with such a list.
func TestEmptyLists(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: "postgres://127.0.0.1/none"}}) // connects to nothing
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var types storage.Where
	outcome(&types, "t", ledger.TransactionFilter{Types: []ledger.TransactionType{}})
	results := ledger.ContractResultFilter{TransactionIndex: []int64{}}
	var recorded storage.Where
	filterResults(db, &recorded, results)
	var times storage.Where
	changesAt(&times, &ledger.TimestampFilter{In: []ledger.Timestamp{}})
	for name, w := range map[string]*storage.Where{"types": &types, "indexes": &recorded, "times": &times} {
		if sql := w.String(); !strings.HasSuffix(sql, " and false") || len(w.Args) != 0 {
			t.Errorf("%s: %s %v", name, sql, w.Args)
		}
	}
	logs := syntheticPage(db, &storage.Where{}, results, storage.Page{Limit: 1})
	if !strings.Contains(logs, " and false") {
		t.Error(logs)
	}
}

package transactions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// FeeAccount is the account that collects network fees. It takes part in nearly every transaction, and the index of
// transfers by account excludes it.
const FeeAccount = 98

// precedingTypes are the types of child transactions that precede their parent and so have no parent timestamp:
// account creations and updates.
const precedingTypes = `(11, 15)`

// search finds the page of transactions in which an account takes part, or in which any account sends or receives.
// There are two forms of the statement:
//
//   - By participant: read the entries of the account in order of time, and look up result and type of each
//     transaction until the page is full. Its cost grows with the number of entries that do not match.
//   - By time: read the transactions with the result and type in order of time, and look for an entry of the account
//     in each. Its cost grows with the number of transactions in which the account does not take part.
//
// Each of them reads millions of rows where the other reads few, so [searchFor] compares what they will probably read.
// Statistics do not show how account, result and type depend on each other, so [search.run] tries both if the first
// takes long.
type search struct {
	filter ledger.TransactionFilter
	window storage.Page
	byTime bool
	// oneForm is set if the other form is never faster.
	oneForm bool
	// apart is set if tables are distributed.
	apart bool
	// fees and others are set if the account can be the fee account, or any other.
	fees, others bool
}

// lookups is what reading a transaction by time costs, compared with reading an entry of an account: it looks into
// three tables instead of one.
const lookups = 2

// searchFor returns how to find transactions: by time, or by account first. accounts are those whose pages are read,
// in addition to the one in the filter. It chooses by the planner's statistics, which it reads from the database at
// intervals. Without conditions on outcome and types, and if tables are distributed, it reads nothing and chooses by
// account. Without statistics it chooses by time if f has types or the only account is the fee account. It does not
// read the transactions.
func searchFor(
	ctx context.Context, db *storage.DB, f ledger.TransactionFilter, p storage.Page, accounts ...ledger.EntityID,
) (*search, error) {
	s := &search{filter: f, window: p, apart: db.Distributed(), fees: true, others: true}
	if id, ok := only(f.AccountID); ok {
		accounts = append(accounts, id)
	}
	if len(accounts) == 1 {
		s.fees, s.others = accounts[0] == FeeAccount, accounts[0] != FeeAccount
	}
	// The form by time joins tables that are not distributed by the same column, and the statistics of distributed
	// tables are not in the catalog.
	if s.oneForm = f.Outcome == nil && f.Types == nil || s.apart; s.oneForm {
		return s, nil
	}
	columns := map[string]*storage.Frequencies{}
	for _, c := range []string{
		"transaction.type", "transaction.result", "transaction.consensus_timestamp",
		"crypto_transfer.entity_id",
	} {
		table, column, _ := strings.Cut(c, ".")
		got, err := db.Frequencies(ctx, table, column)
		if err != nil {
			return nil, fmt.Errorf("choosing how to find transactions: %w", err)
		}
		columns[c] = got
	}
	if !columns["transaction.type"].Known() {
		// A new database. The form by time reads at most the transactions of the type.
		s.byTime = f.Types != nil || !s.others
		return s, nil
	}
	matching, ofType := 1.0, 1.0
	if f.Outcome != nil {
		success := 0.0
		for _, code := range ledger.SuccessCodes() {
			success += columns["transaction.result"].Of(int64(code))
		}
		matching = success
		if *f.Outcome == ledger.OutcomeFailure {
			matching = max(0, 1-success)
		}
	}
	if f.Types != nil {
		ofType = 0
		for _, t := range f.Types {
			ofType += columns["transaction.type"].Of(int64(t))
		}
	}
	rows := columns["transaction.type"].Rows
	if f.Timestamp != nil {
		window := storage.WindowOf(f.Timestamp)
		rows *= columns["transaction.consensus_timestamp"].Part(int64(window.Lower), int64(window.Upper))
	}
	share := s.share(columns["crypto_transfer.entity_id"], columns["transaction.type"].Rows, accounts)
	s.byTime = byTime(float64(p.Limit), rows, matching*ofType, ofType, share)
	return s, nil
}

// searchDelay is how long the first form of a search runs before the other one starts.
const searchDelay = 50 * time.Millisecond

// run reads the page of transactions. If the chosen form does not end within a delay, the other one runs beside it.
// The first that succeeds cancels the other, for which run does not wait; if one fails, run waits for the other. Only
// the chosen form runs if the other is never faster, or if db is a single connection. If the chosen form fails within
// the delay, run returns its error. A panic in a goroutine becomes an error. If both can run, the other parts of the
// operation no longer wait for its batches ([storage.RunAlone]).
func (s *search) run(ctx context.Context, db *storage.DB, delay time.Duration) ([]*ledger.Transaction, error) {
	read := func(ctx context.Context, form search) ([]*ledger.Transaction, error) {
		var w storage.Where
		owner := "" // the only account, hidden from the planner: no form depends on it except for the fee account
		if id, ok := only(s.filter.AccountID); ok {
			owner = db.Hidden(w.Arg(int64(id)) + "::bigint")
		}
		r := db.Kept(form.keptAs(owner), func() *storage.Read {
			return s.read(transactionColumns, form.page(&w, owner), w.OrderBy(s.window, "t.consensus_timestamp"))
		})
		return transactionRows.ListRead(ctx, db, "transactions", r, w.Args)
	}
	if s.oneForm || !db.Concurrent() {
		return read(ctx, *s)
	}
	storage.RunAlone(ctx) // other statements must not end with one of the forms
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		rows []*ledger.Transaction
		err  error
	}
	ended := make(chan result, 2)
	start := func(form search) {
		r := result{err: errors.New("reading transactions failed unexpectedly")}
		defer func() { ended <- r }() // also after a panic, which the caller's goroutine could not recover
		defer func() { _ = recover() }()
		r.rows, r.err = read(ctx, form)
	}
	go start(*s)
	select {
	case r := <-ended:
		return r.rows, r.err
	case <-time.After(delay):
	}
	other := *s
	other.byTime = !s.byTime
	go start(other)
	r := <-ended
	if r.err != nil && ctx.Err() == nil {
		r = <-ended
	}
	return r.rows, r.err
}

// keptAs returns the key of the statement ([storage.DB.Kept]) if the account is its only argument: for the first page,
// of a usual size, without further conditions. Otherwise it returns nil. owner is as in [search.page]. Composing the
// text takes a twentieth of a request for an account.
func (s *search) keptAs(owner string) any {
	f := s.filter
	f.AccountID, f.Account = nil, nil // the caller has looked the account up
	if owner == "" || !reflect.ValueOf(f).IsZero() || !s.window.IsFirst() {
		return nil
	}
	return [...]any{"transactions of an account", s.window.Limit, s.window.Desc, s.fees, s.byTime}
}

// byTime reports whether the form by time is expected to be faster than that by participant. limit is the length of
// the page, rows is the number of transactions in the range of time, matching and ofType are the fractions with the
// result and type and with the type, and share is the fraction in which the account takes part.
func byTime(limit, rows, matching, ofType, share float64) bool {
	const never = 1e-9
	participant := min(rows*share, limit/max(matching, never))
	time := min(rows*ofType, limit*ofType/max(matching*share, never))
	return lookups*time < participant
}

// share estimates the fraction of transactions in which one of the accounts takes part. It is the largest of theirs,
// and 1 without accounts or with the fee account. entries are the statistics of hbar transfers by account, and
// transactions is the number of all transactions.
func (s *search) share(entries *storage.Frequencies, transactions float64, accounts []ledger.EntityID) float64 {
	if len(accounts) == 0 {
		return 1
	}
	share := 0.0
	for _, id := range accounts {
		if id == FeeAccount {
			return 1
		}
		share = max(share, entries.Of(int64(id))*entries.Rows/max(transactions, 1))
	}
	return min(share, 1)
}

// only returns the account of a condition that selects exactly one by eq or in. It returns false for other
// conditions and for nil.
func only(f *ledger.EntityIDFilter) (ledger.EntityID, bool) {
	switch {
	case f == nil || f.Ne != nil || f.Gt != nil || f.Gte != nil || f.Lt != nil || f.Lte != nil || f.NotIn != nil:
		return 0, false
	case f.Eq != nil && f.In == nil:
		return *f.Eq, true
	case f.Eq == nil && len(f.In) == 1:
		return f.In[0], true
	default:
		return 0, false
	}
}

// page returns the statement for consensus times and payers of a page, and adds its arguments to w. A non-empty owner
// is an SQL expression for the only account to search for.
func (s *search) page(w *storage.Where, owner string) string {
	if s.byTime {
		return s.inTime(w, owner)
	}
	return s.ofParticipant(w, owner)
}

// entries is a table with an account column.
type entries struct {
	table, account string
	outcome        func(w *storage.Where, alias string, f ledger.TransactionFilter, apart bool)
}

var (
	paid = entries{
		"transaction", "payer_account_id",
		func(w *storage.Where, alias string, f ledger.TransactionFilter, _ bool) {
			outcome(w, alias, f)
		},
	}
	related    = entries{"entity_transaction", "entity_id", outcomeOfRelated}
	hbarMoves  = entries{"crypto_transfer", "entity_id", outcomeOfEntry}
	tokenMoves = entries{"token_transfer", "account_id", outcomeOfEntry}
)

// sources returns the tables in which an account can take part in a transaction: with a token in the filter only the
// transfers of tokens, and with a direction only transfers.
func (s *search) sources() []entries {
	if s.filter.TokenID != nil {
		return []entries{tokenMoves}
	}
	if s.filter.Direction != nil {
		return []entries{hbarMoves, tokenMoves}
	}
	return []entries{paid, related, hbarMoves, tokenMoves}
}

// key returns the columns of a page by which its transactions are read: the time, which is in the indexes of entries
// by account, so that these are read from the index alone. Tables that are distributed by the payer need it too. alias
// is the prefix of the columns: an alias with its dot, or empty.
func (s *search) key(alias string) string {
	if s.apart {
		return alias + "consensus_timestamp, " + alias + "payer_account_id"
	}
	return alias + "consensus_timestamp"
}

// read describes the statement for the transactions t of a page. It joins them by the columns of [search.key]. page is
// the statement of [search.page], columns are the select list, and order follows the join.
func (s *search) read(columns, page, order string) *storage.Read {
	by := []string{"consensus_timestamp", "consensus_timestamp"}
	if s.apart {
		by = append(by, "payer_account_id", "payer_account_id")
	}
	return &storage.Read{
		Setting: storage.NoBitmaps, Select: columns, Page: page, As: "page",
		Joins: []storage.Join{storage.By("join", "transaction", "t", "page", by...)}, Rest: order,
	}
}

// match adds the conditions on a table to w: the account, and that the entry counts. alias is that of the table,
// without a dot. owner is the SQL expression for the account; if it is empty, the filter selects the accounts.
func (s *search) match(w *storage.Where, e entries, alias, owner string) {
	if owner == "" {
		storage.Filter(w, alias+"."+e.account, s.filter.AccountID)
	} else {
		w.Raw(" and " + alias + "." + e.account + " = " + owner)
	}
	if s.filter.TokenID != nil {
		w.And(alias+".token_id = ?", int64(*s.filter.TokenID))
	}
	switch d := s.filter.Direction; {
	case e.table == paid.table:
		w.Raw(" and (" + alias + ".nonce = 0 or " + alias + ".parent_consensus_timestamp is not null or " + alias +
			".type in " + precedingTypes + ")")
	case d == nil:
	case *d == ledger.DirectionDebit:
		w.Raw(" and " + alias + ".amount < 0")
	default:
		w.Raw(" and " + alias + ".amount > 0")
	}
}

// ofParticipant returns the statement of the form by participant, and adds its arguments to w. Each table is limited
// to the page. If entries may not match, the other tables are read only up to the end of a full page of the first.
// owner is as in [search.page].
func (s *search) ofParticipant(w *storage.Where, owner string) string {
	var parts []string
	bounded := !s.apart && (s.filter.Outcome != nil || s.filter.Types != nil || s.filter.EntityID != nil)
	until, last := `>= coalesce((select min(consensus_timestamp) from first having count(*) = ?), ?)`, int64(0)
	if !s.window.Desc {
		until, last = strings.NewReplacer(">=", "<=", "min", "max").Replace(until), math.MaxInt64
	}
	add := func(e entries, fees string) {
		part := storage.With(w.Args...)
		s.match(&part, e, "s", owner)
		part.Raw(fees)
		storage.Filter(&part, "s.consensus_timestamp", s.filter.Timestamp)
		e.outcome(&part, "s", s.filter, s.apart)
		part.Keyset(s.window, "s.consensus_timestamp")
		if bounded && parts != nil {
			part.And("s.consensus_timestamp "+until, s.window.Limit, last)
		}
		order := part.OrderBy(s.window, "s.consensus_timestamp")
		w.Args = part.Args
		distinct := "distinct on (s.consensus_timestamp) "
		// an account has one row of a transaction
		if owner != "" && (e.table == paid.table || e.table == related.table) {
			distinct = ""
		}
		parts = append(parts, "(select "+distinct+s.key("s.")+" from "+e.table+" s where true"+part.String()+order+")")
	}
	for _, e := range s.sources() {
		if owner == "" || e.table != hbarMoves.table {
			add(e, "")
			continue
		}
		// PostgreSQL uses the index by account only if the statement excludes the fee account as the index does.
		if s.others {
			add(e, fmt.Sprintf(" and s.entity_id <> %d", FeeAccount))
		}
		if s.fees {
			add(e, fmt.Sprintf(" and s.entity_id = %d and %s = %[1]d", FeeAccount, owner))
		}
	}
	first := ""
	if bounded {
		first, parts[0] = "with first as materialized "+parts[0]+" ", "select * from first"
	}
	return first + `select distinct on (consensus_timestamp) ` + s.key("") + ` from (
  ` + strings.Join(parts, "\n  union all ") + `) found` + w.OrderBy(s.window, "consensus_timestamp")
}

// outcomeOfRelated adds the conditions on result and type to w. Rows of entity_transaction have these, but not the
// entity of the transaction: a condition on it makes them be looked up as in [outcomeOfEntry].
func outcomeOfRelated(w *storage.Where, table string, f ledger.TransactionFilter, apart bool) {
	if f.EntityID != nil {
		outcomeOfEntry(w, table, f, apart)
		return
	}
	outcome(w, table, f)
}

// outcomeOfEntry adds to w a subquery that looks up result and type of each entry s in order until the page is full. A
// join would first process all entries of an account, but is what Citus supports. Without these conditions it adds
// nothing. apart is whether tables are distributed; the alias is ignored.
func outcomeOfEntry(w *storage.Where, _ string, f ledger.TransactionFilter, apart bool) {
	if f.Outcome == nil && f.Types == nil && f.EntityID == nil {
		return
	}
	exists := ""
	if apart {
		exists = "exists "
	}
	w.Raw(" and " + exists +
		"(select true from transaction o where o.consensus_timestamp = s.consensus_timestamp and o.payer_account_id " +
		"= s.payer_account_id")
	outcome(w, "o", f)
	w.Raw(")")
}

// inTime returns the statement of the form by time, and adds its arguments to w. Each type has an index in order of
// time, so each type is limited to the page. owner is as in [search.page].
func (s *search) inTime(w *storage.Where, owner string) string {
	part := storage.With(w.Args...)
	f := s.filter
	from := `transaction t where true`
	if f.Types != nil {
		from = `unnest((select ` + part.Arg(codes(f.Types)) +
			`::smallint[])) y(type) cross join lateral (select * from transaction t where t.type = y.type`
		f.Types = nil
	}
	storage.Filter(&part, "t.consensus_timestamp", f.Timestamp)
	outcome(&part, "t", f)
	part.Keyset(s.window, "t.consensus_timestamp")
	or := " and ("
	for _, e := range s.sources() {
		part.Raw(or)
		or = " or "
		if e.table == paid.table {
			part.Raw("true")
			s.match(&part, e, "t", owner)
			continue
		}
		// The planner could hash a subquery after "exists": it would read all entries of the account. That is right
		// for a range of accounts in a table without an index by time only.
		exists, limit := "", " limit 1"
		if owner == "" && e.table == related.table {
			exists, limit = "exists ", ""
		}
		part.Raw(exists + "(select true from " + e.table +
			" s where s.consensus_timestamp = t.consensus_timestamp and s.payer_account_id = t.payer_account_id")
		s.match(&part, e, "s", owner)
		part.Raw(limit + ")")
	}
	sql := `select ` + s.key("t.") + ` from ` + from + part.String() + ")" +
		part.OrderBy(s.window, "t.consensus_timestamp")
	w.Args = part.Args
	if s.filter.Types != nil {
		sql += `) t` + w.OrderBy(s.window, "t.consensus_timestamp")
	}
	return sql
}

// QueueAccountTransactions queues a query for the transactions of each of the given accounts. It can first read the
// planner's statistics, and the error is that of this read. The result has one page per account. Unlike
// [Transactions], it runs only the form that is expected to be faster; see [search].
func QueueAccountTransactions(ctx context.Context, b *storage.Batch, accounts []ledger.EntityID,
	f ledger.TransactionFilter, p storage.Page,
) (storage.Result[[][]*ledger.Transaction], error) {
	s, err := searchFor(ctx, b.DB(), f, p, accounts...)
	if err != nil {
		return nil, err
	}
	ps, w := b.Parents("id", storage.Int64s(accounts))
	page := `
  select p.ord, found.* from ` + ps.From + ` cross join lateral (` + s.page(&w, ps.Key("id")) + `) found`
	r := s.read(`page.ord, `+transactionColumns, page, ` order by page.ord, t.consensus_timestamp`+p.Direction())
	r.Parents = ps
	return transactionRows.QueueChildren(b, len(accounts), r, w.Args), nil
}

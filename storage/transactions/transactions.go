package transactions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// Limits of the search for a transaction id: from shortly before the valid start to half an hour after it, or to two
// months if a schedule may have executed it.
const (
	validStartDrift = ledger.Timestamp(time.Second)
	consensusWindow = ledger.Timestamp(35 * time.Minute)
	ScheduledWindow = ledger.Timestamp(89285 * time.Minute)
	scheduleCreate  = ledger.TransactionType(42)
	hashPrefix      = 32
)

var malformedFees storage.Malformed

// finishTransaction sets the members of a transaction that are computed from columns; it decodes keys, fees and NFT
// transfers. If one fee limit is invalid, it is logged, and all limits of the transaction are omitted. It fails if the
// NFT transfers are invalid JSON.
func finishTransaction(t *transactionRow) error {
	t.BatchKey = t.batchKey.Info()
	for i := 0; i+1 < len(t.inner); i += 2 {
		t.InnerTransactions = append(t.InnerTransactions,
			ledger.TransactionID{Payer: ledger.EntityID(t.inner[i]), ValidStart: ledger.Timestamp(t.inner[i+1])})
	}
	for _, b := range t.maxCustomFees {
		limits, err := ledger.DecodeCustomFeeLimit(b)
		if err != nil {
			malformedFees.Report("max_custom_fees", "transaction", t.ConsensusTimestamp, err)
			t.MaxCustomFees = nil
			break
		}
		for _, l := range limits {
			l.ConsensusTimestamp = t.ConsensusTimestamp
		}
		t.MaxCustomFees = append(t.MaxCustomFees, limits...)
	}
	err := storage.DecodeJSON(t.nftTransfers, &t.NFTTransfers)
	if err != nil {
		return fmt.Errorf("NFT transfers of transaction %s: %w", t.ConsensusTimestamp, err)
	}
	return nil
}

// outcome adds the conditions on result, type and entity to w, of which those that f does not have are left out. table
// is the alias of the table that has these columns.
func outcome(w *storage.Where, table string, f ledger.TransactionFilter) {
	if f.Outcome != nil {
		not := ""
		if *f.Outcome == ledger.OutcomeFailure {
			not = "not "
		}
		w.And(not+table+".result = any(?)", codes(ledger.SuccessCodes()))
	}
	if f.EntityID != nil {
		w.And(table+".entity_id = ?", int64(*f.EntityID))
	}
	switch {
	case f.Types == nil:
	// a literal, so that a generic plan for a rare type does not read all transactions in order of time
	case len(f.Types) == 1:
		w.And(table + ".type = " + strconv.Itoa(int(f.Types[0])) + "::smallint")
	default:
		w.Among(table+".type = any(?)", len(f.Types), codes(f.Types))
	}
}

// codes returns the numbers of response codes or types as an array argument of a statement.
func codes[T ~int16](values []T) []int16 {
	return list.Map(values, func(v T) int16 { return int16(v) })
}

// Transactions reads a page of transactions, ordered by consensus time. With an account or direction in the filter, it
// can read the planner's statistics first, and run two statements concurrently; see [search.run].
func Transactions(
	ctx context.Context, db *storage.DB, f ledger.TransactionFilter, p storage.Page,
) ([]*ledger.Transaction, error) {
	if f.AccountID != nil || f.Direction != nil {
		s, err := searchFor(ctx, db, f, p)
		if err != nil {
			return nil, err
		}
		return s.run(ctx, db, searchDelay)
	}
	var w storage.Where
	storage.Filter(&w, "t.consensus_timestamp", f.Timestamp)
	outcome(&w, "t", f)
	w.Keyset(p, "t.consensus_timestamp")
	sql := `select ` + transactionColumns + ` from transaction t where true` + w.String() +
		w.OrderBy(p, "t.consensus_timestamp")
	return transactionRows.List(ctx, db, "transactions", sql, w.Args...)
}

var transactionsByTime = storage.ByKeys(`select ` + transactionColumns +
	` from transaction t where t.consensus_timestamp = ` + storage.Any1)

// QueueTransactionsAt queues a query for transactions by consensus time. The result has one transaction per time, or
// nil if there is none.
func QueueTransactionsAt(b *storage.Batch, times []ledger.Timestamp) storage.Result[[]*ledger.Transaction] {
	return storage.QueueByKey(b, transactionRows, transactionsByTime, times,
		func(t *ledger.Transaction) ledger.Timestamp { return t.ConsensusTimestamp })
}

// QueueTransactionsBetween queues a query for the transactions in each of the given time ranges, ordered by consensus
// time. Both ends are inclusive. The result has one page per range.
func QueueTransactionsBetween(
	b *storage.Batch, spans []ledger.TimestampRange, p storage.Page,
) storage.Result[[][]*ledger.Transaction] {
	ps, w := ranges(b, spans)
	w.Keyset(p, "consensus_timestamp")
	return transactionRows.QueueChildren(b, len(spans), &storage.Read{
		Parents: ps, Select: `p.ord, ` + transactionColumns, From: ps.From,
		Page: `
  select * from transaction where consensus_timestamp ` + within(ps) + w.String() + w.OrderBy(p, "consensus_timestamp"),
		As:   "t",
		Rest: ` order by p.ord, t.consensus_timestamp` + p.Direction(),
	}, w.Args)
}

// ranges returns ranges of time as parents of a statement with the keys since and until, and conditions that start with
// its arguments. An end that is null counts as 0. It reads nothing.
func ranges(b *storage.Batch, spans []ledger.TimestampRange) (*storage.Parents, storage.Where) {
	return b.Parents("since, until",
		list.Map(spans, func(s ledger.TimestampRange) int64 { return int64(s.From.V) }),
		list.Map(spans, func(s ledger.TimestampRange) int64 { return int64(s.To.V) }))
}

// within returns the end of an SQL condition, after a column: that its value is within one of [ranges].
func within(ps *storage.Parents) string {
	return `between ` + ps.Key("since") + ` and ` + ps.Key("until")
}

// TransactionFilterOfID selects among the transactions with the same id.
type TransactionFilterOfID struct {
	Nonce     *int32
	Scheduled *bool
}

// ofID adds the conditions of the filter on nonce and scheduled to w, the conditions of a statement on transaction
// as t.
func ofID(w *storage.Where, f TransactionFilterOfID) {
	if f.Nonce != nil {
		w.And("t.nonce = ?", *f.Nonce)
	}
	if f.Scheduled != nil {
		w.And("t.scheduled = ?", *f.Scheduled)
	}
}

// queueByID queues a query for the transactions with an id, oldest first, that ran within window after their valid
// start. f selects among them. parts reads their transfers in the same statement, unless tables are distributed.
func queueByID(
	b *storage.Batch, id ledger.TransactionID, f TransactionFilterOfID, window ledger.Timestamp, parts bool,
) storage.Result[[]*ledger.Transaction] {
	columns, queue := transactionColumns, transactionRows.Queue
	if parts && !b.DB().Distributed() {
		columns, queue = wholeColumns, wholeRows.Queue
	}
	w := storage.With(
		int64(id.Payer), int64(id.ValidStart), int64(id.ValidStart-validStartDrift),
		int64(later(id.ValidStart, window)),
	)
	ofID(&w, f)
	return queue(b, `select `+columns+` from transaction t
where t.payer_account_id = $1 and t.valid_start_ns = $2 and t.consensus_timestamp between $3 and $4`+w.String()+` order by t.consensus_timestamp`, w.Args)
}

// QueueAllWithID queues a query for the transactions with an id, oldest first, including the execution of a schedule.
// Unlike [ByID], it does not add the inner transactions of a batch.
func QueueAllWithID(b *storage.Batch, id ledger.TransactionID) storage.Result[[]*ledger.Transaction] {
	return queueByID(b, id, TransactionFilterOfID{}, ScheduledWindow-validStartDrift, false)
}

// ByID reads the transactions with an id, oldest first. If a schedule may have executed one of them much later, it
// reads them again from a longer range. The inner transactions of a batch follow the batch. parts reads the transfers
// of the others in the same statement ([ledger.TransactionParts]), unless tables are distributed.
func ByID(
	ctx context.Context, db *storage.DB, id ledger.TransactionID, f TransactionFilterOfID, parts bool,
) ([]*ledger.Transaction, error) {
	find := func(window ledger.Timestamp) ([]*ledger.Transaction, error) {
		b := db.NewBatch()
		return storage.Run(ctx, b, queueByID(b, id, f, window, parts))
	}
	found, err := find(consensusWindow)
	if err == nil && mayRunLater(found, f.Scheduled) {
		found, err = find(ScheduledWindow - validStartDrift)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the transactions with an id: %w", err)
	}
	b := db.NewBatch()
	lists, err := storage.Run(ctx, b, queueInner(b, found, f))
	if err != nil {
		return nil, fmt.Errorf("reading the transactions of a batch: %w", err)
	}
	inner := slices.Concat(lists...)
	byTime := func(a, b *ledger.Transaction) int { return cmp.Compare(a.ConsensusTimestamp, b.ConsensusTimestamp) }
	slices.SortFunc(inner, byTime)
	inner = slices.CompactFunc(inner, func(a, b *ledger.Transaction) bool { return byTime(a, b) == 0 })
	return append(found, inner...), nil
}

// later returns t plus while, both in nanoseconds, capped at the largest timestamp.
func later(t, while ledger.Timestamp) ledger.Timestamp {
	if t > ledger.MaxTimestamp-while {
		return ledger.MaxTimestamp
	}
	return t + while
}

// mayRunLater reports whether a schedule may have executed the transaction after the usual range, so that it is
// not in found. scheduled is the condition of the filter.
func mayRunLater(found []*ledger.Transaction, scheduled *bool) bool {
	switch {
	case scheduled == nil:
		return AwaitsExecution(found)
	case *scheduled:
		return len(found) == 0
	default:
		return false
	}
}

// AwaitsExecution reports whether found contains a transaction that creates a schedule, but not the schedule's
// execution.
func AwaitsExecution(found []*ledger.Transaction) bool {
	created := false
	for _, t := range found {
		if t.Scheduled {
			return false
		}
		created = created || CreatesSchedule(t)
	}
	return created
}

// CreatesSchedule reports whether a transaction is a successful ScheduleCreate. It reads nothing.
func CreatesSchedule(t *ledger.Transaction) bool {
	return t.Type == scheduleCreate && slices.Contains(ledger.SuccessCodes(), t.Result)
}

// queueByHash queues a query for the transactions with a hash, oldest first, at most 25. Duplicates have the same
// hash. If the hash is longer than 32 bytes, all bytes must match. The limit makes the planner look up each
// transaction by its time.
func queueByHash(b *storage.Batch, hash ledger.Hash, f TransactionFilterOfID) storage.Result[[]*ledger.Transaction] {
	w := storage.With([]byte(hash[:min(len(hash), hashPrefix)]))
	if len(hash) > hashPrefix {
		w.And("h.hash = ?", []byte(hash))
	}
	ofID(&w, f)
	return transactionRows.QueueRead(b, &storage.Read{
		Select: transactionColumns,
		Page:   `select * from ` + b.DB().ByHash("$1") + ` t order by consensus_timestamp limit 25`, As: "h",
		Joins: ofHashes,
		Rest:  ` where true` + w.String() + ` order by t.consensus_timestamp`,
	}, w.Args)
}

// ofHashes joins the transactions with rows h of hashes.
var ofHashes = []storage.Join{storage.Joined(
	` join transaction t on t.consensus_timestamp = h.consensus_timestamp and t.payer_account_id = `+
		`coalesce(h.payer_account_id, t.payer_account_id)`,
	"transaction", `consensus_timestamp in (select consensus_timestamp from page)`,
)}

// QueueByHashes queues a query for the transactions with some hashes. The result has for each hash the transaction
// that [decisive] selects, or nil if there is none. The statement looks up at most 2500 transactions for all hashes,
// the oldest. If a hash is longer than 32 bytes, all bytes must match.
func QueueByHashes(b *storage.Batch, hashes []ledger.Hash) storage.Result[[]*ledger.Transaction] {
	starts, places := distinct(hashes)
	return storage.Map(transactionRows.QueueChildren(b, len(starts), &storage.Read{
		Select: `array_position($1::bytea[], substring(h.hash from 1 for 32))::bigint, ` + transactionColumns,
		Page:   `select * from ` + b.DB().ByHashes("$1") + ` t order by consensus_timestamp limit 2500`, As: "h",
		Joins: ofHashes, Rest: ` order by 1, t.consensus_timestamp`,
	}, []any{starts}), func(found [][]*ledger.Transaction) []*ledger.Transaction {
		out := make([]*ledger.Transaction, len(hashes))
		for i, hash := range hashes {
			out[i] = decisive(slices.DeleteFunc(slices.Clone(found[places[i]]), func(t *ledger.Transaction) bool {
				return len(hash) > hashPrefix && !bytes.Equal(hash, t.Hash)
			}))
		}
		return out
	})
}

// distinct returns the different prefixes of some hashes, and the place of each hash among them. starts is never nil.
func distinct(hashes []ledger.Hash) (starts [][]byte, places []int) {
	starts = [][]byte{} // an array without elements, not null
	for _, hash := range hashes {
		start := prefix(hash)
		place := slices.IndexFunc(starts, func(other []byte) bool { return bytes.Equal(start, other) })
		if place < 0 {
			place, starts = len(starts), append(starts, start)
		}
		places = append(places, place)
	}
	return starts, places
}

// QueueByHash queues a query for the transactions with a hash or its first 32 bytes, oldest first, at most 25.
func QueueByHash(b *storage.Batch, hash ledger.Hash) storage.Result[[]*ledger.Transaction] {
	return queueByHash(b, hash, TransactionFilterOfID{})
}

// ByHash reads the transactions with a hash, or its first 32 bytes, that match f, oldest first. Of more than 25 with
// the hash it reads the oldest 25.
func ByHash(
	ctx context.Context, db *storage.DB, hash ledger.Hash, f TransactionFilterOfID,
) ([]*ledger.Transaction, error) {
	b := db.NewBatch()
	return storage.Run(ctx, b, queueByHash(b, hash, f))
}

// QueueInnerTransactions queues a query for the inner transactions of batches, oldest first. The result has one list
// per transaction, empty for those that are not a batch.
func QueueInnerTransactions(b *storage.Batch, of []*ledger.Transaction) storage.Result[[][]*ledger.Transaction] {
	return queueInner(b, of, TransactionFilterOfID{})
}

// queueInner queues a query for the inner transactions of batches that match f, oldest first. The result has one list
// for each of the given transactions, empty for those that are not a batch.
func queueInner(
	b *storage.Batch, of []*ledger.Transaction, f TransactionFilterOfID,
) storage.Result[[][]*ledger.Transaction] {
	return queueWithIDs(b, list.Map(of, func(t *ledger.Transaction) []ledger.TransactionID {
		return t.InnerTransactions
	}), f)
}

// QueueUserTransactions queues a query for the transactions of users with some IDs: neither children nor executions by
// a schedule. The result has for each ID the transaction that [decisive] selects, or nil if there is none.
func QueueUserTransactions(b *storage.Batch, ids []ledger.TransactionID) storage.Result[[]*ledger.Transaction] {
	users := TransactionFilterOfID{Nonce: new(int32), Scheduled: new(bool)}
	return storage.Map(queueWithIDs(b, list.Map(ids, func(id ledger.TransactionID) []ledger.TransactionID {
		return []ledger.TransactionID{id}
	}), users), func(found [][]*ledger.Transaction) []*ledger.Transaction { return list.Map(found, decisive) })
}

// decisive returns a successful one of several transactions with the same ID or hash, otherwise the last one. It
// returns nil if there are none.
func decisive(found []*ledger.Transaction) *ledger.Transaction {
	if i := slices.IndexFunc(found, func(t *ledger.Transaction) bool {
		return slices.Contains(ledger.SuccessCodes(), t.Result)
	}); i >= 0 {
		return found[i]
	}
	if len(found) == 0 {
		return nil
	}
	return found[len(found)-1]
}

// queueWithIDs queues a query for the transactions with the IDs in some lists that match f, oldest first. The result
// has one list of transactions for each list of IDs. Those that a schedule executed later than consensusWindow after
// their valid start are not found. Without any ID it queues nothing.
func queueWithIDs(
	b *storage.Batch, ids [][]ledger.TransactionID, f TransactionFilterOfID,
) storage.Result[[][]*ledger.Transaction] {
	var parents, payers, starts []int64
	for i, some := range ids {
		for _, id := range some {
			parents, payers, starts = append(parents, int64(i+1)), append(payers, int64(id.Payer)),
				append(starts, int64(id.ValidStart))
		}
	}
	if parents == nil {
		return storage.Known(make([][]*ledger.Transaction, len(ids)))
	}
	ps, _ := b.Parents("parent, payer, start", parents, payers, starts)
	ps.Placed = true
	w := storage.With(append(ps.Args, int64(validStartDrift), int64(consensusWindow))...)
	ofID(&w, f)
	payer, start := ps.Key("payer"), ps.Key("start")
	withID := func(alias string) string {
		return fmt.Sprintf(`%[1]spayer_account_id = %[2]s
and %[1]svalid_start_ns = %[3]s and %[1]sconsensus_timestamp between %[3]s - $4 and %[3]s + $5`,
			alias, payer, start)
	}
	return transactionRows.QueueChildren(b, len(ids), &storage.Read{
		Parents: ps, Select: `p.parent, ` + transactionColumns, From: ps.From,
		Joins: []storage.Join{
			storage.Joined(` join transaction t on `+withID("t."), "transaction", withID("")),
		},
		Rest: ` where true` + w.String() + ` order by p.parent, t.consensus_timestamp`,
	}, w.Args)
}

// QueueTopicTransactions queues a query for the successful transactions that changed each of the given topics or sent
// a message to it, ordered by consensus time. Each change of a topic begins a version of its entity, of its keys or of
// its fees. The result has one page per topic.
func QueueTopicTransactions(
	b *storage.Batch, topics []ledger.EntityID, p storage.Page,
) storage.Result[[][]*ledger.Transaction] {
	ps, w := b.Parents("id", storage.Int64s(topics))
	source := func(table, topic, at string) string {
		part := storage.With(w.Args...)
		part.Keyset(p, at)
		sql := "(select " + at + " as at from " + table + " where " + topic + " = " + ps.Key("id") + part.String() +
			part.OrderBy(p, at) + ")"
		w.Args = part.Args
		return sql
	}
	const version = "lower(timestamp_range)"
	times := append(list.Map([]string{"entity", "entity_history", "topic", "topic_history"},
		func(table string) string {
			return source(table, "id", version)
		}),
		source("topic_message", "topic_id", "consensus_timestamp"), source("custom_fee", "entity_id", version),
		source("custom_fee_history", "entity_id", version))
	return transactionRows.QueueChildren(b, len(topics), &storage.Read{
		Setting: storage.NoBitmaps, Parents: ps, Select: `v.ord, ` + transactionColumns,
		Page: `
  select p.ord, v.at from ` + ps.From + ` cross join lateral (select at from (` + strings.Join(times, " union ") + `) v` +
			w.OrderBy(p, "at") + `) v`, As: "v",
		Joins: []storage.Join{storage.By("join", "transaction", "t", "v", "consensus_timestamp", "at")},
		Rest:  ` order by v.ord, t.consensus_timestamp` + p.Direction(),
	}, w.Args)
}

// CountTransactions counts transactions.
const CountTransactions storage.Countable = `select 1 from transaction`

// Stream is a kind of rows that are ordered by consensus time.
type Stream string

// Streams. The value is the query for the time of the newest row.
const (
	StreamBlocks   Stream = "select max(consensus_end) from record_file"
	StreamLogs     Stream = "select max(consensus_timestamp) from contract_log"
	StreamMessages Stream = "select max(consensus_timestamp) from transaction where " + submitted
	StreamResults  Stream = "select greatest((select max(consensus_timestamp) from contract_result), (select " +
		"max(consensus_timestamp) from contract_log " +
		"where synthetic))"
	StreamTransactions Stream = "select max(consensus_timestamp) from transaction"
)

// submitted matches transactions that submitted a message. Messages have no index on time alone, so they are found
// through their transactions.
const submitted = "type = 27 and result = 22"

// Newest reads the consensus time of a stream's newest row, or 0 if the stream is empty.
func Newest(ctx context.Context, db *storage.DB, s Stream) (ledger.Timestamp, error) {
	at, err := storage.Value[ledger.Null[ledger.Timestamp]](ctx, db, "the newest row", string(s))
	return at.V, err
}

const (
	atTimes    = storage.Any1 + ` and payer_account_id = ` + storage.Any2
	partiesSQL = `select ` + partyColumns + ` from (
  select consensus_timestamp, entity_id as account_id, amount from crypto_transfer where consensus_timestamp = ` + atTimes + `
  union all select consensus_timestamp, account_id, amount from token_transfer where consensus_timestamp = ` + atTimes + `
  union all select consensus_timestamp, entity_id, 0 from entity_transaction
    where entity_id = ` + storage.Any3 + ` and consensus_timestamp = ` + storage.Any1 + `
  union all select consensus_timestamp, payer_account_id, 0 from transaction where consensus_timestamp = ` + atTimes + `
    and (nonce = 0 or parent_consensus_timestamp is not null or type in ` + precedingTypes + `)) party
group by consensus_timestamp, account_id order by consensus_timestamp`
)

var partiesByTime = storage.ByKeys(partiesSQL)

// Parties reads the parties of the given transactions, as [Transactions] finds them by account, for subscriptions with
// a filter on accounts. It returns one list per transaction, in order. Accounts that are related only by
// entity_transaction are included only if they are in named, because that table has no index by time.
func Parties(
	ctx context.Context, db *storage.DB, of []*ledger.Transaction, named []ledger.EntityID,
) ([][]ledger.Party, error) {
	rows, err := partyRows.ListRead(ctx, db, "the parties of transactions", partiesByTime.Arrays(db),
		[]any{times(of), payers(of), storage.Int64s(named)})
	if err != nil {
		return nil, err
	}
	out := make([][]ledger.Party, len(of))
	at := newTimeline(of)
	for _, r := range rows {
		if i := at.place(r.at, nil); i >= 0 {
			out[i] = append(out[i], r.Party)
		}
	}
	return out, nil
}

package transactions

import (
	"context"
	"math"
	"strconv"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// blockSearch is the maximum time, in nanoseconds, between the newest log of a page and the end of its block.
const blockSearch = "10000000000"

// logJoins are the joins for the columns of a page of logs l that is already limited. The first is that for the columns
// without a block.
var logJoins = []storage.Join{
	storage.By("left join", "entity", "e", "l", "id", "contract_id"),
	storage.Beside(`
left join lateral (
  select hash, index, consensus_start from record_file where consensus_end >= l.consensus_timestamp
    and consensus_end <= (select max(consensus_timestamp) from page) + ` + blockSearch + `
  order by consensus_end limit 1) r on r.consensus_start <= l.consensus_timestamp`),
}

// finishLog sets the members of a log that are computed from columns: address, and words with their leading zeros. The
// hash of a block that was not read or does not exist becomes "0x". The error is always nil.
func finishLog(l *logRow) error {
	l.Address = addressOf(l.Address, l.ContractID)
	if len(l.Data) > 0 {
		l.Data = word(l.Data)
	}
	for _, t := range l.topics {
		if t != nil {
			l.Topics = append(l.Topics, word(t))
		}
	}
	l.BlockHash = l.blockHash.Or("0x")
	return nil
}

// logBounds are conditions on time and index that select one part of a filter's range.
type logBounds struct {
	timestamp *ledger.TimestampFilter
	index     *ledger.LongFilter
}

// parts splits the range that a filter selects by time and index. A range that starts or ends within a transaction has
// up to three parts: a part of the first transaction, the transactions between, and a part of the last. It does not
// change its arguments. Other filters have one part: themselves.
func parts(at *ledger.TimestampFilter, index *ledger.LongFilter) []logBounds {
	whole := []logBounds{{at, index}}
	if at == nil || index == nil || at.Eq != nil || at.In != nil || at.Gte != nil && at.Lte != nil &&
		*at.Gte == *at.Lte {
		return whole
	}
	inner := *at
	list := make([]logBounds, 0, 3)
	if (index.Gt != nil || index.Gte != nil) && at.Gte != nil {
		lower := *index
		lower.Lt, lower.Lte = nil, nil
		list = append(list, logBounds{&ledger.TimestampFilter{Eq: at.Gte}, &lower})
		inner.Gte, inner.Gt = nil, at.Gte
	}
	if (index.Lt != nil || index.Lte != nil) && at.Lte != nil {
		upper := *index
		upper.Gt, upper.Gte = nil, nil
		list = append(list, logBounds{&ledger.TimestampFilter{Eq: at.Lte}, &upper})
		inner.Lte, inner.Lt = nil, at.Lte
	}
	if len(list) == 0 {
		return whole
	}
	return append(list, logBounds{&inner, nil})
}

// logs returns the statement for a page of logs l that match the filter f and the SQL condition of, and adds its
// arguments to w, which has those of the condition already. It omits logs that match [wildcard]. It ignores
// f.Contract: the caller has added its ID to f.ContractID. With f.TransactionHash, only logs of the transaction of
// [hashTime] match, to which f.Timestamp applies.
func logs(db *storage.DB, w *storage.Where, f ledger.ContractLogFilter, of string, p storage.Page) string {
	bounds := parts(f.Timestamp, f.Index)
	if f.TransactionHash != nil {
		bounds = []logBounds{{nil, f.Index}}
		of += ` and l.consensus_timestamp = (` + hashTime(db, w, f, p) + `)`
	}
	selects := make([]string, len(bounds))
	for i, b := range bounds {
		part := storage.With(w.Args...)
		storage.Filter(&part, "l.contract_id", f.ContractID)
		storage.FilterOpaque(db, &part, "l.consensus_timestamp", b.timestamp)
		storage.Filter(&part, "l.index::bigint", b.index) // values can exceed the range of the column
		for n, wanted := range f.Topics {
			if len(wanted) > 0 {
				part.And("l.topic"+strconv.Itoa(n)+" = any(?)", list.Map(wanted, trimmed))
			}
		}
		logKeyset(&part, p)
		order := part.OrderBy(p, "l.consensus_timestamp", "l.index")
		w.Args = part.Args
		selects[i] = `select l.* from contract_log l where ` + of + ` and not ` + wildcard + part.String() + order
	}
	if len(selects) == 1 {
		return selects[0]
	}
	return `select * from ((` + strings.Join(selects, `) union all (`) +
		`)) l` + w.OrderBy(p, "l.consensus_timestamp", "l.index")
}

// hashTime returns the statement for the consensus time of the transaction with the hash in the filter, the first of
// several in the direction of the page, and adds its arguments to w. An invalid hash selects null.
func hashTime(db *storage.DB, w *storage.Where, f ledger.ContractLogFilter, p storage.Page) string {
	hash, err := ledger.ParseHash(*f.TransactionHash)
	if err != nil {
		return `null::bigint`
	}
	t := storage.With(w.Args...)
	call := db.ByHash(t.Arg([]byte(hash[:hashPrefix]))) + ` t`
	if len(hash) > hashPrefix {
		t.And("t.hash = ?", []byte(hash))
	}
	storage.Filter(&t, "t.consensus_timestamp", f.Timestamp)
	w.Args = t.Args
	return `select t.consensus_timestamp from ` + call + ` where true` + t.String() +
		` order by t.consensus_timestamp` + p.Direction() + ` limit 1`
}

// logKeyset adds the conditions of keyset pagination by time and index to w. The keys in p must have both values.
// Indexes are bounded to the type of the column; one that is no int64 counts as 0.
func logKeyset(w *storage.Where, p storage.Page) {
	for _, place := range []*[]any{&p.Greater, &p.Less} {
		if *place != nil {
			index, _ := (*place)[1].(int64)
			*place = []any{(*place)[0], int32(max(min(index, math.MaxInt32), math.MinInt32))}
		}
	}
	w.Keyset(p, "l.consensus_timestamp", "l.index")
}

// logSettings has the setting for a page of logs, with topics or without. The planner takes all topics for rare, and
// would read the whole range of time or all logs of the contract with a bitmap, to sort the many logs of a frequent
// topic.
var logSettings = map[bool]storage.Setting{true: storage.NoBitmaps}

// ContractLogs reads a page of logs, ordered by consensus time and index, with their blocks. It omits logs that match
// [wildcard]. It ignores f.Contract: the caller has added its ID to f.ContractID.
func ContractLogs(
	ctx context.Context, db *storage.DB, f ledger.ContractLogFilter, p storage.Page,
) ([]*ledger.ContractLog, error) {
	var w storage.Where
	return logWithBlockRows.ListRead(ctx, db, "contract logs", &storage.Read{
		Setting: logSettings[f.Topics != nil], Select: logWithBlockColumns, Page: logs(db, &w, f, "true", p),
		Name: "page", As: "l", Joins: logJoins, Rest: ` order by ` + p.Order("l.consensus_timestamp", "l.index"),
	}, w.Args)
}

// CountLogs counts logs.
const CountLogs storage.Countable = `select 1 from contract_log`

// queueLogs queues a query for a page of logs for each of the n parents ps, as [ContractLogs] selects and orders them.
// of is the SQL condition that relates them to logs.
func queueLogs(b *storage.Batch, n int, ps *storage.Parents, of string, f ledger.ContractLogFilter, p storage.Page,
) storage.Result[[][]*ledger.ContractLog] {
	w := storage.With(ps.Args...)
	return logWithBlockRows.QueueChildren(b, n, &storage.Read{
		Setting: logSettings[f.Topics != nil], Parents: ps, Select: `l.ord, ` + logWithBlockColumns,
		Page: `select p.ord, l.* from ` + ps.From + ` cross join lateral (` + logs(b.DB(), &w, f, of, p) + `) l`,
		Name: "page", As: "l", Joins: logJoins,
		Rest: ` order by l.ord, ` + p.Order("l.consensus_timestamp", "l.index"),
	}, w.Args)
}

// QueueLogsOfContracts queues a query for the logs of each of the given contracts, as [ContractLogs] selects and
// orders them. The result has one page per contract.
func QueueLogsOfContracts(
	b *storage.Batch, ids []ledger.EntityID, f ledger.ContractLogFilter, p storage.Page,
) storage.Result[[][]*ledger.ContractLog] {
	ps, _ := b.ParentsOrOne("id", storage.Int64s(ids))
	return queueLogs(b, len(ids), ps, `l.contract_id = `+ps.Key("id"), f, p)
}

// QueueLogsBetween queues a query for the logs in each of the given time ranges, as [ContractLogs] selects and orders
// them. Both ends are inclusive. The result has one page per range.
func QueueLogsBetween(
	b *storage.Batch, spans []ledger.TimestampRange, f ledger.ContractLogFilter, p storage.Page,
) storage.Result[[][]*ledger.ContractLog] {
	ps, _ := ranges(b, spans)
	return queueLogs(b, len(spans), ps, `l.consensus_timestamp `+within(ps), f, p)
}

// maxLogsOfResult is the maximum number of logs that are read for one result. The gas limit of a transaction allows
// far fewer.
const maxLogsOfResult = 100_000

// QueueLogsOfResults queues a query for the logs that the parties of the results' transactions emitted, ordered by
// index, except those that match [wildcard]. Those of a synthetic result are the synthetic logs of the transaction, of
// the requested contract if there is one. blocks reads the block of each log. The result has one list per result, and
// all lists together at most maxLogsOfResult logs for each result.
func QueueLogsOfResults(
	b *storage.Batch, of []*ledger.ContractResult, blocks bool,
) storage.Result[[][]*ledger.ContractLog] {
	ps := partiesOf(b, of)
	w := storage.With(ps.Args...)
	most := w.Arg(len(of) * maxLogsOfResult)
	r := b.DB().Kept([...]any{"logs of results", ps.From, ps.page, blocks}, func() *storage.Read {
		columns, joins := logWithBlockColumns, logJoins
		if !blocks {
			columns, joins = logColumns+`, null::text, null::bigint`, logJoins[:1]
		}
		page := ps.read(`p.ord, l.*`, `
  where case `+ps.Key("synthetic")+` when 1 then l.synthetic is true and `+ps.Key("asked")+` in (0, l.contract_id)
    else coalesce(cardinality(ct.contract_ids), 0) = 0 or l.contract_id = any(ct.contract_ids) end
    and not `+wildcard+` limit `+most,
			ps.join("join", "contract_log", "l", "consensus_timestamp", "at"), ps.transaction("left join"))
		return &storage.Read{
			Parents: ps.Parents, Select: `l.ord, ` + columns, Page: page.Query(b.DB()), Name: "page", As: "l",
			Joins: joins, Rest: ` order by l.ord, l.consensus_timestamp, l.index`,
		}
	})
	return logWithBlockRows.QueueChildren(b, len(of), r, w.Args)
}

// ContractLog reads the log with a consensus time and an index. It returns nil if the log does not exist or matches
// [wildcard]: such a log stands for all serials of a collection, and clients never see it.
func ContractLog(ctx context.Context, db *storage.DB, at ledger.Timestamp, index int64) (*ledger.ContractLog, error) {
	return storage.FirstOf(ContractLogs(ctx, db, ledger.ContractLogFilter{
		Timestamp: &ledger.TimestampFilter{Eq: &at},
		Index:     &ledger.LongFilter{Eq: &index},
	},
		storage.Page{Limit: 1}))
}

package transactions

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// wildcard matches the logs l that stand for the transfer of all serials of a collection at a change of its treasury.
// Their serial is a marker, so clients never see them.
const wildcard = `(l.synthetic is true
  and l.topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  and l.topic3 = '\xffffffffffffffff') is true`

// syntheticResult contains the columns of a contract result derived from a synthetic log.
const syntheticResult = `l.consensus_timestamp, coalesce(nullif(l.root_contract_id, 0), l.contract_id) as contract_id,
  l.payer_account_id, l.payer_account_id as sender_id, null::bigint as amount, null::bytea as bloom,
  null::bytea as call_result, '{}'::bigint[] as created_contract_ids, null::text as error_message,
  null::bytea as failed_initcode, ''::bytea as function_parameters, null::bytea as function_result,
  null::bigint as gas_consumed, 0::bigint as gas_limit, null::bigint as gas_used, l.transaction_hash,
  l.transaction_index, 0::integer as transaction_nonce, 22::smallint as transaction_result`

// maxForeignLogs is the maximum number of logs of a contract that are searched for synthetic ones. Only tokens, which
// are not in the table of contracts, have such logs, so that none are found: each hundred of them costs 50 µs.
const maxForeignLogs = 100

// syntheticPage returns the statement for a page of results derived from synthetic logs: the first log of each
// transaction. It adds its arguments to those of w, but no conditions. If the filter has a single contract that is no
// token, only maxForeignLogs of its logs are searched, unless tables are distributed.
func syntheticPage(db *storage.DB, w *storage.Where, f ledger.ContractResultFilter, p storage.Page) string {
	logs := storage.With(w.Args...)
	from := `contract_log`
	storage.Filter(&logs, "l.contract_id", f.ContractID)
	storage.Filter(&logs, "l.consensus_timestamp", f.Timestamp)
	if f.TransactionIndex != nil {
		logs.Among("l.transaction_index = any(?::bigint[])", len(f.TransactionIndex), f.TransactionIndex)
	}
	logs.Keyset(p, "l.consensus_timestamp")
	direction := p.Direction()
	if id, single := only(f.ContractID); single && !db.Distributed() {
		// The index of a contract's logs does not tell which are synthetic.
		from = `(select l.* from contract_log l where true` + logs.String() + `
  order by l.contract_id, l.consensus_timestamp` + direction + `
  limit (select ` + strconv.Itoa(maxForeignLogs) + ` from contract
    where id = ` + logs.Arg(int64(id)) + `))`
	}
	page := `select distinct on (l.consensus_timestamp) ` + syntheticResult + `, true as synthetic from ` + from + ` l
where l.synthetic is true and not ` + wildcard + logs.String() +
		logs.OrderBy(p, "l.consensus_timestamp", "l.index")
	w.Args = logs.Args
	return page
}

// SyntheticResult reads the result derived from the synthetic logs of a transaction for which the caller has found no
// contract result. It returns nil if the transaction has no such logs or, by hash, if it is a contract transaction.
// Wildcard logs count, except by hash, but the result is derived from another log if there is one.
func SyntheticResult(ctx context.Context, db *storage.DB, ref ResultRef) (*ledger.ContractResult, error) {
	var w, logs storage.Where
	var found string
	switch {
	case ref.Hash != nil:
		// A statement of its own, because distributed tables are read by one key at a time.
		known, err := storage.Value[bool](ctx, db, "a contract transaction",
			`select exists (select 1 from contract_transaction_hash where hash = $1)`, prefix(ref.Hash))
		if err != nil || known {
			return nil, err
		}
		found = `select consensus_timestamp as at from ` + db.ByHash(w.Arg(prefix(ref.Hash))) + ` t
order by consensus_timestamp limit 1`
		logs.And(`not ` + wildcard)
	case ref.TransactionID != nil:
		found = ref.locator(&w)
		logs.And(`l.payer_account_id = ?`, int64(ref.TransactionID.Payer))
	default:
		found = `select ` + w.Arg(int64(ref.At)) + `::bigint as at`
		if ref.Named {
			logs.And(`l.contract_id = ?`, int64(ref.Contract))
		}
	}
	found = `select (select at from (` + found + `) f)`
	at, err := storage.Value[ledger.Null[ledger.Timestamp]](ctx, db, "the time of a transaction", found, w.Args...)
	if err != nil || !at.Valid {
		return nil, err
	}
	logs.And(`l.consensus_timestamp = ?`, int64(at.V))
	b := db.NewBatch()
	rows, err := storage.Run(ctx, b, ResultDetails.list(b, 0, `select `+syntheticResult+`, true as synthetic from contract_log l
where l.synthetic is true`+logs.String()+` order by `+wildcard+`, l.index limit 1`, "", logs.Args))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	r := withChainID(db, rows)[0]
	r.Asked = ref.Contract
	return r, nil
}

// AddSyntheticResults reads the results that are derived from synthetic logs, and writes them into found, the result
// of [QueueResultsByHashes], in place of nil. It reads nothing if no result is missing. The elements of found are
// those of hashes at the same position. An element stays nil if its hash is that of a contract transaction, or if the
// transaction has no such logs. With an error, found is unchanged.
func AddSyntheticResults(
	ctx context.Context, db *storage.DB, hashes []ledger.Hash, found []*ledger.ContractResult,
) error {
	var missing []ledger.Hash
	for i, r := range found {
		if r == nil {
			missing = append(missing, hashes[i])
		}
	}
	if missing == nil {
		return nil
	}
	starts, _ := distinct(missing)
	b := db.NewBatch()
	known := storage.Values[[]byte]().Queue(b, `select hash from contract_transaction_hash where hash = any($1)`,
		[]any{starts})
	rows, err := storage.Run(ctx, b, QueueByHashes(b, missing))
	if err != nil {
		return err
	}
	calls, err := known()
	times := map[string]ledger.Timestamp{}
	for i, t := range rows {
		if t != nil {
			times[string(prefix(missing[i]))] = t.ConsensusTimestamp
		}
	}
	for _, start := range calls {
		delete(times, string(*start))
	}
	if err != nil || len(times) == 0 {
		return err
	}
	f := ledger.ContractResultFilter{Timestamp: &ledger.TimestampFilter{In: slices.Collect(maps.Values(times))}}
	var w storage.Where
	page := syntheticPage(db, &w, f, storage.Page{Limit: len(times)})
	b = db.NewBatch()
	results, err := storage.Run(ctx, b, ResultDetails.list(b, 0, page, "", w.Args))
	withChainID(db, results)
	byTime := list.By(results, func(r *ledger.ContractResult) ledger.Timestamp { return r.ConsensusTimestamp })
	for i, r := range found {
		if r == nil {
			found[i] = byTime[times[string(prefix(hashes[i]))]]
		}
	}
	return err
}

// QueueChildFlags queues a query for whether the transactions of results have a parent, unless it was read with all
// results. The results can be [ResultRef.Key]. A transaction that does not exist has no parent.
func QueueChildFlags(b *storage.Batch, of []*ledger.ContractResult) storage.Result[[]bool] {
	if !slices.ContainsFunc(of, func(r *ledger.ContractResult) bool { return !r.Child.Valid }) {
		return storage.Known(list.Map(of, func(r *ledger.ContractResult) bool { return r.Child.V }))
	}
	ps := partiesOf(b, of)
	r := b.DB().Kept([...]any{"children", ps.From, ps.page}, func() *storage.Read {
		return ps.read(`p.ord, t.parent_consensus_timestamp is not null`, ` order by p.ord, 2 desc`,
			ps.join("join", "transaction", "t", "consensus_timestamp", "at"))
	})
	return storage.Map(storage.Values[bool]().QueueChild(b, len(of), r, ps.Args), func(rows []*bool) []bool {
		return list.Map(rows, func(has *bool) bool { return has != nil && *has })
	})
}

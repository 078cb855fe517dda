package transactions

import (
	"context"
	"fmt"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// ResultRef identifies a contract result by hash, by transaction id and nonce, or by consensus time.
type ResultRef struct {
	Hash          ledger.Hash
	TransactionID *ledger.TransactionID
	Nonce         int32
	// Late also finds a scheduled transaction that ran after the window of its transaction id.
	Late bool
	At   ledger.Timestamp
	// Contract is an entity that must be a party. It applies to references by consensus time with Named set.
	Contract ledger.EntityID
	Named    bool
	// CallData requests the call data of the Ethereum transaction.
	CallData bool
}

// byHash is the statement that finds a transaction by the hash in $1.
const byHash = `select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1`

func prefix(hash []byte) []byte { return hash[:min(len(hash), hashPrefix)] }

// Key returns a result with the columns by which its logs and state changes can be read before the result, or nil if
// there is none.
func (ref *ResultRef) Key() *ledger.ContractResult {
	if ref.Hash == nil && !ref.Named {
		return nil
	}
	return &ledger.ContractResult{
		Hash: ref.Hash, ConsensusTimestamp: ref.At, Party: ref.Contract, Asked: ref.Contract,
		Input: ledger.Null[ledger.CallData]{Valid: ref.CallData},
	}
}

// locator returns the statement that finds the transaction: its consensus time (at), its payer, and the entity by
// which its parties are found.
func (ref *ResultRef) locator(w *storage.Where) string {
	switch {
	case ref.Hash != nil:
		w.Arg(prefix(ref.Hash))
		return byHash
	case ref.TransactionID != nil:
		start := ref.TransactionID.ValidStart
		until := `consensus_timestamp <= ` + w.Arg(int64(later(start, consensusWindow)))
		if ref.Late {
			until += ` or scheduled and parent_consensus_timestamp is null and consensus_timestamp <= ` +
				w.Arg(int64(later(start, ScheduledWindow)))
		}
		return `select consensus_timestamp as at, payer_account_id as party, payer_account_id as payer from transaction
where payer_account_id = ` + w.Arg(int64(ref.TransactionID.Payer)) + ` and valid_start_ns = ` + w.Arg(int64(start)) + `
  and consensus_timestamp >= ` + w.Arg(int64(start)) + ` and (` + until + `) and nonce = ` + w.Arg(ref.Nonce) + `
order by (result = any(` + w.Arg(codes(ledger.SuccessCodes())) + `)) desc, consensus_timestamp desc limit 1`
	case !ref.Named:
		return `select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction
where consensus_timestamp = ` + w.Arg(int64(ref.At)) + ` order by entity_id limit 1`
	default:
		return `select ` + w.Arg(int64(ref.At)) + `::bigint as at, ` + w.Arg(int64(ref.Contract)) +
			`::bigint as party, null::bigint as payer`
	}
}

type foundResult struct {
	contractResultRow
	party ledger.EntityID
	file  ledger.EntityID
	input ledger.CallData
}

var foundResultRows = storage.MapperOf(func(r *foundResult, into []any) []any {
	return append(detailTargets(&r.contractResultRow, append(into, &r.party, &r.input.Own, &r.file)), &r.input.File)
}, func(r *foundResult) error { return finishContractResult(&r.contractResultRow) })

// ownData are the call data of an Ethereum transaction et, and its file.
const ownData = `et.call_data, et.call_data_id`

// withFile is a statement that reads the newest content of the file, if the transaction has no call data, as an
// additional last column of rows with [ownData].
func withFile(rows string) string {
	return fmt.Sprintf(`select x.*, case when coalesce(x.call_data, '') = '' then (
  select string_agg(file_data, '' order by consensus_timestamp) from file_data where entity_id = x.call_data_id
    and x.call_data_id & %d > %d and consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = x.call_data_id and transaction_type in (17, 19))) end
from (%s) x`, ledger.MaxNum, entities.MaxSystemFile, rows)
}

// QueueContractResults queues a query for each of some contract results with its block and its Ethereum transaction.
// done receives nil for those that do not exist. Unlike in lists, the parties of the transaction determine which rows
// belong to the result.
func QueueContractResults(b *storage.Batch, refs []ResultRef, done func([]*ledger.ContractResult)) {
	out := make([]*ledger.ContractResult, len(refs))
	for i, ref := range refs {
		var w storage.Where
		found, input, file := ref.locator(&w), `null::bytea, null::bigint`, `, null::bytea`
		if ref.CallData {
			input, file = ownData, ``
		}
		sql := `with found as (` + found + `)
select found.party, ` + input + `, ` + detailColumns + file + ` from found
join contract_transaction ct on ct.consensus_timestamp = found.at and ct.entity_id = found.party
join contract_result cr on cr.consensus_timestamp = found.at and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0)
left join entity e on e.id = cr.contract_id` + blockOf + `true
left join ethereum_transaction et on et.consensus_timestamp = found.at and et.payer_account_id = ct.payer_account_id
order by cr.contract_id limit 1`
		if ref.CallData {
			sql = withFile(sql)
		}
		foundResultRows.Queue(b, sql, w.Args, func(rows []*foundResult) {
			for _, r := range rows {
				r.NetworkChainID, r.Party, r.Asked = b.DB().NetworkChainID(), r.party, ref.Contract
				r.Input = ledger.Null[ledger.CallData]{V: r.input, Valid: ref.CallData}
				out[i] = &r.ContractResult
			}
		})
	}
	b.Then(func() { done(out) })
}

// Located contains the values by which the actions of a transaction are found.
type Located struct {
	At    ledger.Timestamp
	Payer ledger.EntityID
}

var locatedRows = storage.MapperOf(func(l *Located, into []any) []any { return append(into, &l.At, &l.Payer) }, nil)

// LocateTransaction finds a transaction by hash or id. It returns null if the transaction does not exist.
func LocateTransaction(ctx context.Context, db *storage.DB, ref ResultRef) (ledger.Null[Located], error) {
	var w storage.Where
	sql := ref.locator(&w)
	found, err := locatedRows.One(ctx, db, "the time of a transaction", `select at, payer from (`+sql+`) found`,
		w.Args...)
	return ledger.FromPointer(found), err
}

// partiesOf returns a FROM item p with the columns at, party, asked, synthetic and ord of results, and its arguments.
// The result can be a [ResultRef.Key].
func partiesOf(of []*ledger.ContractResult) (from string, args []any) {
	if len(of) == 1 && of[0].ConsensusTimestamp == 0 {
		return `(select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (` + byHash + `) found) p`,
			[]any{prefix(of[0].Hash)}
	}
	keys := make([][]int64, 4)
	for _, r := range of {
		synthetic := int64(0)
		if r.Synthetic {
			synthetic = 1
		}
		for i, v := range []int64{int64(r.ConsensusTimestamp), int64(r.Party), int64(r.Asked), synthetic} {
			keys[i] = append(keys[i], v)
		}
	}
	return storage.UnnestKeys([]string{"at", "party", "asked", "synthetic"}, keys...)
}

var stateChangeRows = storage.MapperOf(func(c *ledger.ContractStateChange, into []any) []any {
	return append(into, &c.ContractID, &c.Slot, &c.ValueRead, &c.ValueWritten, &c.Address)
}, func(c *ledger.ContractStateChange) error {
	c.Address = addressOf(c.Address, c.ContractID)
	c.Slot, c.ValueRead, c.ValueWritten = word(c.Slot), word(c.ValueRead), word(c.ValueWritten)
	return nil
})

// QueueStateChanges queues a query for the storage slots that the results' transactions read and wrote, ordered by
// contract and slot. done receives one list per result. Migrated state is excluded, except that of the requested
// contract. The case keeps the planner from reading all changes of a contract by its index: they are found by their
// time.
func QueueStateChanges(b *storage.Batch, of []*ledger.ContractResult, done func([][]*ledger.ContractStateChange)) {
	from, args := partiesOf(of)
	stateChangeRows.QueueChildren(b, len(of), `select p.ord, s.contract_id, s.slot, s.value_read, s.value_written, e.evm_address
from `+from+`
join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party
join contract_state_change s on s.consensus_timestamp = p.at
  and case when s.migration then s.contract_id = p.asked else s.contract_id = any(ct.contract_ids || p.asked) end
left join entity e on e.id = s.contract_id
order by p.ord, s.contract_id, s.slot`, args, done)
}

// wordSize is the size of an EVM word in bytes.
const wordSize = 32

// word left-pads b with zeros to an EVM word. It returns nil for nil.
func word(b []byte) []byte {
	if b == nil || len(b) >= wordSize {
		return b
	}
	return append(make([]byte, wordSize-len(b), wordSize), b...)
}

var callDataRows = storage.NewMapper(func(r *foundResult, into []any) []any {
	return append(into, &r.input.Own, &r.file, &r.input.File)
}, nil,
	func(r *foundResult) *ledger.CallData { return &r.input })

// QueueCallData queues a query for the call data of the results' Ethereum transactions. done receives nil for results
// without an Ethereum transaction.
func QueueCallData(b *storage.Batch, of []*ledger.ContractResult, done func([]*ledger.CallData)) {
	var times, payers, places []int64
	for i, r := range of {
		if r.Ethereum != nil {
			times, payers, places = append(times, int64(r.ConsensusTimestamp)),
				append(payers, int64(r.Ethereum.PayerAccountID)), append(places, int64(i+1))
		}
	}
	if places == nil {
		done(make([]*ledger.CallData, len(of)))
		return
	}
	callDataRows.QueueChild(b, len(of), withFile(`select p.place, `+ownData+` from `+storage.Unnest("at", "payer", "place")+`
join ethereum_transaction et on et.consensus_timestamp = p.at and et.payer_account_id = p.payer`), []any{times, payers, places}, done)
}

// QueueContractResultsAt queues a query for contract results by consensus time. done receives one result per time, or
// nil if there is none.
func QueueContractResultsAt(b *storage.Batch, times []ledger.Timestamp, done func([]*ledger.ContractResult)) {
	storage.QueueByKey(b, detailRows, `select `+detailColumns+` from (
select * from contract_result where consensus_timestamp = `+storage.Any1+`) cr`+ResultDetails.joins(), times,
		func(r *ledger.ContractResult) ledger.Timestamp { return r.ConsensusTimestamp },
		func(rows []*ledger.ContractResult) { done(withChainID(b.DB(), rows)) })
}

// queueOwnedResults queues a query for a page of contract results for each of the given parents. The statement "from"
// unnests the parents as p(…, ord), and the condition of relates them to results.
func queueOwnedResults(b *storage.Batch, w *storage.Where, n int, from, of string, f *ledger.ContractResultFilter,
	p storage.Page,
	done func([][]*ledger.ContractResult),
) {
	filterResults(w, f)
	w.Keyset(p, "cr.consensus_timestamp")
	detailRows.QueueChildren(b, n, storage.NoBitmaps+`select p.ord, `+detailColumns+` from `+from+` cross join lateral (
  select * from contract_result cr where `+of+w.String()+w.OrderBy(p, "cr.consensus_timestamp")+`) cr`+ResultDetails.joins()+`
order by p.ord, cr.consensus_timestamp`+p.Direction(), w.Args, func(lists [][]*ledger.ContractResult) {
		for _, rows := range lists {
			withChainID(b.DB(), rows)
		}
		done(lists)
	})
}

// QueueResultsOfContracts queues a query for the results of each of the given contracts. done receives one page per
// contract.
func QueueResultsOfContracts(
	b *storage.Batch, ids []ledger.EntityID, f *ledger.ContractResultFilter, p storage.Page,
	done func([][]*ledger.ContractResult),
) {
	from, arg := storage.OfParents(ids)
	queueOwnedResults(b, &storage.Where{Args: []any{arg}}, len(ids), from, `cr.contract_id = p.id`, f, p, done)
}

// QueueResultsOfSenders queues a query for the results of transactions from each of the given senders. done receives
// one page per sender.
func QueueResultsOfSenders(
	b *storage.Batch, ids []ledger.EntityID, f *ledger.ContractResultFilter, p storage.Page,
	done func([][]*ledger.ContractResult),
) {
	from, arg := storage.OfParents(ids)
	queueOwnedResults(b, &storage.Where{Args: []any{arg}}, len(ids), from, `cr.sender_id = p.id`, f, p, done)
}

// QueueResultsBetween queues a query for the results in each of the given time ranges. Both ends are inclusive. done
// receives one page per range.
func QueueResultsBetween(b *storage.Batch, spans []ledger.TimestampRange, f *ledger.ContractResultFilter,
	p storage.Page,
	done func([][]*ledger.ContractResult),
) {
	queueOwnedResults(b, &storage.Where{Args: ends(spans)}, len(spans), storage.Unnest("since", "until"),
		`cr.consensus_timestamp between p.since and p.until`, f, p, done)
}

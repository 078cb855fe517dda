package storage

import (
	"context"
	"fmt"

	"heliograph/internal/domain/ledger"
)

// ResultRef says which contract result is meant: that of a hash, of a transaction id with a nonce, or at a consensus time.
type ResultRef struct {
	Hash          ledger.Hash
	TransactionID *ledger.TransactionID
	Nonce         int32
	At            ledger.Timestamp
	// Contract, at a consensus time and when it is Named, is the entity that must have taken part.
	Contract ledger.EntityID
	Named    bool
}

// locator is a statement that finds the transaction: its consensus time (at), its payer and the entity by which its parties are found.
func (ref *ResultRef) locator(w *where) string {
	switch {
	case ref.Hash != nil:
		return `select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction_hash
where hash = ` + w.arg([]byte(ref.Hash[:min(len(ref.Hash), hashPrefix)])) + ` order by (transaction_result = 22) desc, consensus_timestamp desc limit 1`
	case ref.TransactionID != nil:
		start := ref.TransactionID.ValidStart
		return `select consensus_timestamp as at, payer_account_id as party, payer_account_id as payer from transaction
where payer_account_id = ` + w.arg(int64(ref.TransactionID.Payer)) + ` and valid_start_ns = ` + w.arg(int64(start)) + `
  and consensus_timestamp between ` + w.arg(int64(start)) + ` and ` + w.arg(int64(later(start, consensusWindow))) + ` and nonce = ` + w.arg(ref.Nonce) + `
order by (result = any(` + w.arg(codes(ledger.SuccessCodes())) + `)) desc, consensus_timestamp desc limit 1`
	case !ref.Named:
		return `select consensus_timestamp as at, entity_id as party, payer_account_id as payer from contract_transaction
where consensus_timestamp = ` + w.arg(int64(ref.At)) + ` order by entity_id limit 1`
	default:
		return `select ` + w.arg(int64(ref.At)) + `::bigint as at, ` + w.arg(int64(ref.Contract)) + `::bigint as party, null::bigint as payer`
	}
}

type foundResult struct {
	contractResultRow
	party ledger.EntityID
}

// ContractResult reads one contract result with its block and its Ethereum transaction, nil when there is none. Unlike in lists, the parties of
// the transaction say which rows belong to it.
func (db *DB) ContractResult(ctx context.Context, ref ResultRef) (*ledger.ContractResult, error) {
	var w where
	sql := `with found as (` + ref.locator(&w) + `)
select found.party, ` + detailColumns + ` from found
join contract_transaction ct on ct.consensus_timestamp = found.at and ct.entity_id = found.party
cross join lateral (
  select * from contract_result c where c.consensus_timestamp = found.at and (c.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0)
  order by c.contract_id limit 1) cr
left join entity e on e.id = cr.contract_id` + blockOf + `true
left join ethereum_transaction et on et.consensus_timestamp = found.at and et.payer_account_id = ct.payer_account_id and exists (
  select from transaction t where t.consensus_timestamp = found.at and t.payer_account_id = ct.payer_account_id)
limit 1`
	rows, err := list(ctx, db, sql, w.args, func(r *foundResult, into []any) []any {
		return detailTargets(&r.contractResultRow, append(into, &r.party))
	},
		func(r *foundResult) error { return finishContractResult(&r.contractResultRow) })
	if err != nil {
		return nil, fmt.Errorf("reading a contract result: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil //nolint:nilnil // no such result
	}
	r := &rows[0].ContractResult
	r.NetworkChainID, r.Party, r.Asked = db.chainID, rows[0].party, ref.Contract
	return r, nil
}

// Located is where a transaction's actions are.
type Located struct {
	At    ledger.Timestamp
	Payer ledger.EntityID
}

// LocateTransaction finds the transaction of a hash or of an id. Unknown when there is none.
func (db *DB) LocateTransaction(ctx context.Context, ref ResultRef) (ledger.Null[Located], error) {
	var w where
	sql := ref.locator(&w)
	rows, err := list(ctx, db, `select at, payer from (`+sql+`) found`, w.args, func(l *Located, into []any) []any { return append(into, &l.At, &l.Payer) }, nil)
	if err != nil {
		return ledger.Null[Located]{}, fmt.Errorf("looking for a transaction: %w", err)
	}
	if len(rows) == 0 {
		return ledger.Null[Located]{}, nil
	}
	return ledger.Of(*rows[0]), nil
}

// ordered is a row with the place of its parent among those that were asked for.
type ordered[T any] struct {
	row   T
	owner int64
}

func resultKeys(of []*ledger.ContractResult) (times, parties []int64) {
	times, parties = make([]int64, len(of)), make([]int64, len(of))
	for i, r := range of {
		times[i], parties[i] = int64(r.ConsensusTimestamp), int64(r.Party)
	}
	return times, parties
}

// QueueStateChanges queues reading what the transactions of results read and wrote of storage, by contract and slot; done gets one list for each.
// State that was migrated is no change of the transaction's, except of the contract that was asked for.
func (b *Batch) QueueStateChanges(of []*ledger.ContractResult, done func([][]*ledger.ContractStateChange)) {
	times, parties := resultKeys(of)
	asked := make([]int64, len(of))
	for i, r := range of {
		asked[i] = int64(r.Asked)
	}
	type row = ordered[ledger.ContractStateChange]
	out := make([][]*ledger.ContractStateChange, len(of))
	queue(b, `select p.ord, s.contract_id, s.slot, s.value_read, s.value_written, e.evm_address
from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality p(at, party, asked, ord)
join contract_transaction ct on ct.consensus_timestamp = p.at and ct.entity_id = p.party
join contract_state_change s on s.consensus_timestamp = p.at and (s.contract_id = p.asked or not s.migration and s.contract_id = any(ct.contract_ids))
left join entity e on e.id = s.contract_id
order by p.ord, s.contract_id, s.slot`, []any{times, parties, asked}, func(r *row, into []any) []any {
		return append(into, &r.owner, &r.row.ContractID, &r.row.Slot, &r.row.ValueRead, &r.row.ValueWritten, &r.row.Address)
	}, func(r *row) error {
		c := &r.row
		c.Address = addressOf(c.Address, c.ContractID)
		c.Slot, c.ValueRead, c.ValueWritten = word(c.Slot), word(c.ValueRead), word(c.ValueWritten)
		return nil
	}, func(rows []*row) {
		for _, r := range rows {
			out[r.owner-1] = append(out[r.owner-1], &r.row)
		}
		done(out)
	})
}

// wordSize is the size of the EVM's words in bytes.
const wordSize = 32

// word fills bytes with zeros in front to a word of the EVM; null stays null.
func word(b []byte) []byte {
	if b == nil || len(b) >= wordSize {
		return b
	}
	return append(make([]byte, wordSize-len(b), wordSize), b...)
}

// maxSystemFile is the greatest number of a system file; call data are never in one.
const maxSystemFile = 1000

// QueueTransactionCallData queues reading the call data that Ethereum transactions carried themselves; done gets nil where there are none.
func (b *Batch) QueueTransactionCallData(of []*ledger.ContractResult, done func([][]byte)) {
	b.queueCallData(of, func(*ledger.ContractResult) bool { return false }, done)
}

// QueueCallData queues reading the call data of the Ethereum transactions of results; done gets nil where there are none. What was too large for
// a transaction is read of the newest contents of its file, unless the record has the parameters.
func (b *Batch) QueueCallData(of []*ledger.ContractResult, done func([][]byte)) {
	b.queueCallData(of, func(r *ledger.ContractResult) bool { return len(r.FunctionParameters) == 0 }, done)
}

func (b *Batch) queueCallData(of []*ledger.ContractResult, ofFile func(*ledger.ContractResult) bool, done func([][]byte)) {
	var times, payers, places []int64
	var files []bool
	for i, r := range of {
		if r.Ethereum != nil {
			files = append(files, ofFile(r))
			times, payers, places = append(times, int64(r.ConsensusTimestamp)), append(payers, int64(r.Ethereum.PayerAccountID)), append(places, int64(i))
		}
	}
	out := make([][]byte, len(of))
	if len(places) == 0 {
		done(out)
		return
	}
	type row = ordered[[]byte]
	queue(b, `select p.place, coalesce(nullif(et.call_data, ''), f.content, '')
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[]) p(at, payer, place, of_file)
join ethereum_transaction et on et.consensus_timestamp = p.at and et.payer_account_id = p.payer
left join lateral (
  select string_agg(d.file_data, '' order by d.consensus_timestamp) as content from file_data d
  where p.of_file and coalesce(et.call_data, '') = '' and et.call_data_id & $5 > $6 and d.entity_id = et.call_data_id and d.consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = et.call_data_id and transaction_type in (17, 19))) f on true`,
		[]any{times, payers, places, files, int64(ledger.MaxNum), int64(maxSystemFile)},
		func(r *row, into []any) []any { return append(into, &r.owner, &r.row) }, nil, func(rows []*row) {
			for _, r := range rows {
				out[r.owner] = r.row
			}
			done(out)
		})
}

// QueueContractResultsAt queues reading the contract results at some consensus times; done gets one for each, nil where there is none.
func (b *Batch) QueueContractResultsAt(times []ledger.Timestamp, done func([]*ledger.ContractResult)) {
	queue(b, `select `+detailColumns+` from contract_result cr`+ResultDetails.joins()+` where cr.consensus_timestamp = any($1)`,
		[]any{int64s(times)}, detailTargets, finishContractResult, func(rows []*contractResultRow) {
			byTime := make(map[ledger.Timestamp]*ledger.ContractResult, len(rows))
			for _, r := range b.db.contractResults(rows) {
				byTime[r.ConsensusTimestamp] = r
			}
			out := make([]*ledger.ContractResult, len(times))
			for i, at := range times {
				out[i] = byTime[at]
			}
			done(out)
		})
}

type ownedResult struct {
	contractResultRow
	owner int64
}

// queueOwnedResults queues reading a page of contract results for each of some parents, which the statement "from" unnests as p(…, ord) and
// relates to a result by the condition of.
func (b *Batch) queueOwnedResults(w *where, n int, from, of string, f *ledger.ContractResultFilter, p Page, done func([][]*ledger.ContractResult)) {
	w.results(f)
	w.keyset(p, "cr.consensus_timestamp")
	out := make([][]*ledger.ContractResult, n)
	queue(b, `select p.ord, `+detailColumns+` from `+from+` cross join lateral (
  select * from contract_result cr where `+of+w.String()+w.orderBy(p, "cr.consensus_timestamp")+`) cr`+ResultDetails.joins()+`
order by p.ord, cr.consensus_timestamp`+p.direction(), w.args,
		func(r *ownedResult, into []any) []any {
			return detailTargets(&r.contractResultRow, append(into, &r.owner))
		},
		func(r *ownedResult) error { return finishContractResult(&r.contractResultRow) }, func(rows []*ownedResult) {
			for _, r := range rows {
				r.NetworkChainID = b.db.chainID
				out[r.owner-1] = append(out[r.owner-1], &r.ContractResult)
			}
			done(out)
		})
}

// QueueResultsOfContracts queues reading a page of the results of each of some contracts; done gets one list for each.
func (b *Batch) QueueResultsOfContracts(ids []ledger.EntityID, f *ledger.ContractResultFilter, p Page, done func([][]*ledger.ContractResult)) {
	from, arg := ofParents(ids)
	b.queueOwnedResults(&where{args: []any{arg}}, len(ids), from, `cr.contract_id = p.id`, f, p, done)
}

// QueueResultsOfSenders queues reading a page of the results that each of some accounts caused; done gets one list for each.
func (b *Batch) QueueResultsOfSenders(ids []ledger.EntityID, f *ledger.ContractResultFilter, p Page, done func([][]*ledger.ContractResult)) {
	from, arg := ofParents(ids)
	b.queueOwnedResults(&where{args: []any{arg}}, len(ids), from, `cr.sender_id = p.id`, f, p, done)
}

// QueueResultsBetween queues reading a page of the results of each of some spans of time, both ends included; done gets one list for each.
func (b *Batch) QueueResultsBetween(spans []ledger.TimestampRange, f *ledger.ContractResultFilter, p Page, done func([][]*ledger.ContractResult)) {
	from, to := make([]int64, len(spans)), make([]int64, len(spans))
	for i, s := range spans {
		from[i], to[i] = int64(s.From.V), int64(s.To.V)
	}
	b.queueOwnedResults(&where{args: []any{from, to}}, len(spans), `unnest($1::bigint[], $2::bigint[]) with ordinality p(since, until, ord)`,
		`cr.consensus_timestamp between p.since and p.until`, f, p, done)
}

// ResolveCallee returns the id of the account or contract that ref names, or no id when nothing live has that address. Ids are not looked up:
// one may name nothing. Two live entities with one address are [ErrAmbiguous].
func (db *DB) ResolveCallee(ctx context.Context, ref ledger.AccountRef) (ledger.Null[ledger.EntityID], error) {
	if !ref.Address.Valid {
		return ledger.Of(ref.ID), nil
	}
	ids, err := list(ctx, db, `select id from entity where evm_address = $1 and deleted = false and type in ('ACCOUNT', 'CONTRACT') limit 2`,
		[]any{ref.Address.V[:]}, func(id *ledger.EntityID, into []any) []any { return append(into, id) }, nil)
	switch {
	case err != nil:
		return ledger.Null[ledger.EntityID]{}, fmt.Errorf("looking for the contract %s: %w", ref, err)
	case len(ids) > 1:
		return ledger.Null[ledger.EntityID]{}, fmt.Errorf("looking for the contract %s: %w", ref, ErrAmbiguous)
	case len(ids) == 0:
		return ledger.Null[ledger.EntityID]{}, nil
	default:
		return ledger.Of(*ids[0]), nil
	}
}

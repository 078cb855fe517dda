package transactions

import (
	"context"
	"fmt"

	"heliograph/internal/base/list"
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

// prefix returns the first 32 bytes of a hash, which the lookup tables have, or a shorter hash as it is.
func prefix(hash []byte) []byte { return hash[:min(len(hash), hashPrefix)] }

// Key returns a result with the columns by which its logs and state changes can be read before the result, or nil if
// the reference has neither a hash nor a named contract.
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
// which its parties are found. Of several with the hash or id, it finds a successful one if there is one, else the
// newest. By consensus time it finds the row of the first entity of the transaction. If the contract is named, it
// looks nothing up, and the payer is null. It adds its arguments to w.
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

var withFileData = fmt.Sprintf(`x.*, case when coalesce(x.call_data, '') = '' then (
  select string_agg(file_data, '' order by consensus_timestamp) from file_data where entity_id = x.call_data_id
    and x.call_data_id & %d > %d and consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = x.call_data_id and transaction_type in (17, 19))) end`,
	ledger.MaxNum, entities.MaxSystemFile)

// fileRead describes the statement that reads the newest content of the file, if the transaction has no call data, as
// an additional last column of the rows of a query with [ownData]. The column is null if the transaction has call data
// of its own, and for files with numbers up to [entities.MaxSystemFile].
func fileRead(rows string) *storage.Read {
	return &storage.Read{
		Select: withFileData, Page: rows, As: "x",
		Joins: []storage.Join{storage.Joined("", "file_data", `entity_id in (select call_data_id from page)`)},
	}
}

// ofFound is the condition on the time of what [foundJoins] joins.
const ofFound = `consensus_timestamp in (select at from found)`

// foundJoins joins the result, its block and its Ethereum transaction with the transaction that a locator finds.
var foundJoins = []storage.Join{
	storage.Joined(` join contract_transaction ct on ct.consensus_timestamp = found.at
and ct.entity_id = found.party`,
		"contract_transaction", ofFound+` and entity_id in (select party from found)`),
	storage.Joined(` join contract_result cr on cr.consensus_timestamp = found.at
and (cr.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0)`,
		"contract_result", ofFound),
	storage.Joined(` left join entity e on e.id = cr.contract_id`,
		"entity", `id in (select contract_id from contract_result)`),
	storage.Beside(blockOf + `true`),
	storage.Joined(` left join ethereum_transaction et on et.consensus_timestamp = found.at
and et.payer_account_id = ct.payer_account_id`,
		"ethereum_transaction", ofFound+` and payer_account_id in (select payer_account_id
from contract_transaction)`),
}

// The columns of a result that a locator finds, without and with its call data. The content of a file follows the
// latter.
const (
	foundColumns  = `found.party, null::bytea, null::bigint, ` + detailColumns + `, null::bytea`
	foundWithData = `found.party, ` + ownData + `, ` + detailColumns
)

// foundRead describes the statement for the contract result of the transaction that locator, a statement of
// [ResultRef.locator], finds. Its call data are null: a caller that needs them replaces the columns.
func foundRead(locator string) *storage.Read {
	return &storage.Read{
		Select: foundColumns, Page: locator, Name: "found", Joins: foundJoins, Rest: ` order by cr.contract_id limit 1`,
	}
}

// QueueContractResults queues a query for each of some contract results with its block and its Ethereum
// transaction. The result has one element per reference, nil for those that do not exist. Unlike in lists, the
// parties of the transaction determine which rows belong to the result.
func QueueContractResults(b *storage.Batch, refs []ResultRef) storage.Result[[]*ledger.ContractResult] {
	return storage.All(list.Map(refs, func(ref ResultRef) storage.Result[*ledger.ContractResult] {
		var w storage.Where
		locator := ref.locator(&w)
		r := b.DB().Kept([...]any{"result", locator, ref.CallData}, func() *storage.Read {
			r := foundRead(locator)
			if ref.CallData {
				r.Select = foundWithData
				r = fileRead(r.Query(b.DB()))
			}
			return r
		})
		row := storage.First(foundResultRows.QueueRead(b, r, w.Args))
		return storage.Map(row, func(r *foundResult) *ledger.ContractResult { return r.result(b.DB(), &ref) })
	}))
}

// result sets in a row that ref finds the chain ID of the network, the entity of its parties, the named contract and,
// if ref requests it, the call data. It returns the contract result of the row, or nil for nil.
func (r *foundResult) result(db *storage.DB, ref *ResultRef) *ledger.ContractResult {
	if r == nil {
		return nil
	}
	r.NetworkChainID, r.Party, r.Asked = db.NetworkChainID(), r.party, ref.Contract
	r.Input = ledger.Null[ledger.CallData]{V: r.input, Valid: ref.CallData}
	return &r.ContractResult
}

// QueueResultsByHashes queues a query for the contract results with hashes, as [QueueContractResults] does for other
// references, with one statement for all. The result has one contract result per hash, or nil. Hashes with the same
// first 32 bytes share it. Call data are not read.
func QueueResultsByHashes(b *storage.Batch, hashes []ledger.Hash) storage.Result[[]*ledger.ContractResult] {
	starts, places := distinct(hashes)
	r := foundRead(`select distinct on (hash) hash, consensus_timestamp as at, entity_id as party, payer_account_id as payer
from contract_transaction_hash where hash = any(` + b.DB().Hidden("$1::bytea[]") + `::bytea[])
order by hash, (transaction_result = 22) desc, consensus_timestamp desc`)
	r.Select = `array_position($1::bytea[], found.hash)::bigint, ` + foundColumns
	r.Rest = ` order by 1, cr.contract_id`
	read := foundResultRows.QueueChild(b, len(starts), r, []any{starts})
	return storage.Map(read, func(rows []*foundResult) []*ledger.ContractResult {
		return list.Map(places, func(place int) *ledger.ContractResult {
			return rows[place].result(b.DB(), &ResultRef{})
		})
	})
}

// Located contains the values by which the actions of a transaction are found.
type Located struct {
	At    ledger.Timestamp
	Payer ledger.EntityID
}

// LocateTransaction reads the consensus time and payer of a transaction by hash, id or consensus time. It returns null
// if the transaction does not exist. For the consensus time of a named contract it does not check that the transaction
// exists, and the payer is 0.
func LocateTransaction(ctx context.Context, db *storage.DB, ref ResultRef) (ledger.Null[Located], error) {
	var w storage.Where
	sql := ref.locator(&w)
	found, err := locatedRows.One(ctx, db, "the time of a transaction",
		`select `+locatedColumns+` from (`+sql+`) found`, w.Args...)
	return ledger.FromPointer(found), err
}

// parties are results as parents p with the columns at, party, asked and synthetic. A result that is not read yet has
// a page, the query that finds it.
type parties struct {
	*storage.Parents
	page string
}

// partiesOf returns the parties of results, as parents of the rows to read. A result without a time, which is the
// [ResultRef.Key] of a hash, must be the only one: the statement finds its transaction. It reads nothing.
func partiesOf(b *storage.Batch, of []*ledger.ContractResult) parties {
	if len(of) == 1 && of[0].ConsensusTimestamp == 0 {
		return parties{
			&storage.Parents{Args: []any{prefix(of[0].Hash)}},
			`select at, party, 0 as asked, 0 as synthetic, 1::bigint as ord from (` + byHash + `) found`,
		}
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
	ps, _ := b.ParentsOrOne("at, party, asked, synthetic", keys...)
	return parties{ps, ""}
}

// join returns the join of a table with the parties by pairs of columns: one of the table, and one of the parties.
// kind is "join" or "left join".
func (p parties) join(kind, table, alias string, columns ...string) storage.Join {
	if p.page == "" {
		return p.Join(kind, table, alias, columns...)
	}
	return storage.By(kind, table, alias, "p", columns...)
}

// transaction returns the join with the entities ct that took part in the transaction. kind is "join" or "left
// join".
func (p parties) transaction(kind string) storage.Join {
	return p.join(kind, "contract_transaction", "ct", "consensus_timestamp", "at", "entity_id", "party")
}

// read returns a read of rows that belong to the parties, with their keys as parents. If the result is not read yet,
// its statement is the page.
func (p parties) read(columns, rest string, joins ...storage.Join) *storage.Read {
	r := &storage.Read{Parents: p.Parents, Select: columns, From: p.From, Page: p.page, Joins: joins, Rest: rest}
	if p.page != "" {
		r.As = "p"
	}
	return r
}

// finishStateChange sets the members of a state change that are computed from columns: address, and words with their
// leading zeros. The error is always nil.
func finishStateChange(c *ledger.ContractStateChange) error {
	c.Address = addressOf(c.Address, c.ContractID)
	c.Slot, c.ValueRead, c.ValueWritten = word(c.Slot), word(c.ValueRead), word(c.ValueWritten)
	return nil
}

// QueueStateChanges queues a query for the storage slots that the results' transactions read and wrote, ordered by
// contract and slot. The result has one list per result. Migrated state is excluded, except that of the requested
// contract. The case keeps the planner from reading all changes of a contract by its index: they are found by their
// time.
func QueueStateChanges(b *storage.Batch, of []*ledger.ContractResult) storage.Result[[][]*ledger.ContractStateChange] {
	ps := partiesOf(b, of)
	r := b.DB().Kept([...]any{"state changes", ps.From, ps.page}, func() *storage.Read {
		asked := ps.Key("asked")
		return ps.read(`p.ord, `+stateChangeColumns, ` order by p.ord, s.contract_id, s.slot`,
			ps.transaction("join"),
			ps.join("join", "contract_state_change", "s", "consensus_timestamp", "at").
				And(`case when s.migration then s.contract_id = `+
					asked+` else s.contract_id = any(ct.contract_ids || `+asked+`) end`),
			storage.Joined(` left join entity e on e.id = s.contract_id`,
				"entity", `id in (select contract_id from contract_state_change)`))
	})
	return stateChangeRows.QueueChildren(b, len(of), r, ps.Args)
}

// wordSize is the size of an EVM word in bytes.
const wordSize = 32

// word left-pads b with zeros to an EVM word. It returns nil for nil, and longer values as they are.
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

// QueueCallData queues a query for the call data of the results' Ethereum transactions: those of the transaction, or
// of the file that it names. The result has nil for results without an Ethereum transaction. Without any Ethereum
// transaction it queues nothing.
func QueueCallData(b *storage.Batch, of []*ledger.ContractResult) storage.Result[[]*ledger.CallData] {
	var times, payers, places []int64
	for i, r := range of {
		if r.Ethereum != nil {
			times, payers, places = append(times, int64(r.ConsensusTimestamp)),
				append(payers, int64(r.Ethereum.PayerAccountID)), append(places, int64(i+1))
		}
	}
	if places == nil {
		return storage.Known(make([]*ledger.CallData, len(of)))
	}
	ps, _ := b.Parents("at, payer, place", times, payers, places)
	ps.Placed = true
	own := storage.Read{
		Parents: ps, Select: `p.place, ` + ownData, From: ps.From,
		Joins: []storage.Join{
			ps.Join("join", "ethereum_transaction", "et", "consensus_timestamp", "at", "payer_account_id", "payer"),
		},
	}
	read := fileRead(own.Query(b.DB()))
	read.Parents = ps
	return callDataRows.QueueChild(b, len(of), read, ps.Args)
}

// QueueContractResultsAt queues a query for contract results by consensus time. The result has one result per time, or
// nil if there is none.
func QueueContractResultsAt(b *storage.Batch, times []ledger.Timestamp) storage.Result[[]*ledger.ContractResult] {
	page, args := resultsByTime.For(b.DB(), storage.Int64s(times))
	read := detailRows.QueueRead(b, detailsOf(page.SQL, ""), args)
	return storage.Map(read, func(rows []*ledger.ContractResult) []*ledger.ContractResult {
		return withChainID(b.DB(), storage.ForKeys(rows, times, func(r *ledger.ContractResult) ledger.Timestamp {
			return r.ConsensusTimestamp
		}))
	})
}

var resultsByTime = storage.ByKeys(`
select * from contract_result where consensus_timestamp = ` + storage.Any1)

// queueOwnedResults queues a query for a page of contract results for each of n parents. of is the SQL condition that
// relates them to results. Those of a parent are ordered by consensus time. [filterResults] adds the conditions of f,
// and synthetic results are not read.
func queueOwnedResults(b *storage.Batch, n int, ps *storage.Parents, of string, f ledger.ContractResultFilter,
	p storage.Page,
) storage.Result[[][]*ledger.ContractResult] {
	w := storage.With(ps.Args...)
	filterResults(b.DB(), &w, f)
	w.Keyset(p, "cr.consensus_timestamp")
	r := detailsOf(`
  select * from contract_result cr where `+of+w.String()+w.OrderBy(p, "cr.consensus_timestamp"),
		` order by p.ord, cr.consensus_timestamp`+p.Direction())
	r.Setting, r.Parents, r.From, r.Select = storage.NoBitmaps, ps, ps.From, `p.ord, `+detailColumns
	read := detailRows.QueueChildren(b, n, r, w.Args)
	return storage.Map(read, func(lists [][]*ledger.ContractResult) [][]*ledger.ContractResult {
		for _, rows := range lists {
			withChainID(b.DB(), rows)
		}
		return lists
	})
}

// QueueResultsOfContracts queues a query for the results of each of the given contracts, ordered by consensus time.
// The result has one page per contract. Results of child transactions need f.Internal. Unlike [ContractResults], it
// reads no synthetic results.
func QueueResultsOfContracts(
	b *storage.Batch, ids []ledger.EntityID, f ledger.ContractResultFilter, p storage.Page,
) storage.Result[[][]*ledger.ContractResult] {
	ps, _ := b.ParentsOrOne("id", storage.Int64s(ids))
	return queueOwnedResults(b, len(ids), ps, `cr.contract_id = `+ps.Key("id"), f, p)
}

// QueueResultsOfSenders queues a query for the results of transactions from each of the given senders, ordered by
// consensus time. The result has one page per sender. Results of child transactions need f.Internal. Unlike
// [ContractResults], it reads no synthetic results.
func QueueResultsOfSenders(
	b *storage.Batch, ids []ledger.EntityID, f ledger.ContractResultFilter, p storage.Page,
) storage.Result[[][]*ledger.ContractResult] {
	ps, _ := b.ParentsOrOne("id", storage.Int64s(ids))
	return queueOwnedResults(b, len(ids), ps, `cr.sender_id = `+ps.Key("id"), f, p)
}

// QueueResultsBetween queues a query for the results in each of the given time ranges, ordered by consensus time. Both
// ends are inclusive. The result has one page per range. Results of child transactions need f.Internal. Unlike
// [ContractResults], it reads no synthetic results.
func QueueResultsBetween(b *storage.Batch, spans []ledger.TimestampRange, f ledger.ContractResultFilter,
	p storage.Page,
) storage.Result[[][]*ledger.ContractResult] {
	ps, _ := ranges(b, spans)
	return queueOwnedResults(b, len(spans), ps, `cr.consensus_timestamp `+within(ps), f, p)
}

package transactions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// ResultParts selects the parts of contract results to read.
type ResultParts int

// Parts of contract results.
const (
	ResultRecord  ResultParts = iota // the ledger's record of the execution
	ResultDetails                    // the record, the block and the Ethereum transaction
)

// wrongNonce is the response code of Ethereum transactions that were rejected for their nonce. Lists exclude them.
const wrongNonce = 312

// finishContractResult sets the members of a contract result that are computed from columns: addresses, sender, and
// the Ethereum transaction if there is one. It replaces missing bytes and hashes by empty ones, the block hash by "0x",
// and empty messages and initcodes by null; a stored bloom without bytes has bloomSize zero bytes, a missing one none.
// A function result that cannot be decoded leaves the sender unknown. It fails only if the lists of the Ethereum
// transaction are malformed.
func finishContractResult(r *contractResultRow) error {
	r.Address = addressOf(r.evmAddress, r.ContractID)
	r.Partial = r.CallResult == nil
	r.CallResult = present(r.CallResult)
	switch {
	case r.Bloom == nil:
		r.Bloom = []byte{}
	case len(r.Bloom) == 0:
		r.Bloom = make([]byte, bloomSize)
	}
	if r.ErrorMessage.V == "" {
		r.ErrorMessage = ledger.Null[string]{}
	}
	if len(r.FailedInitcode) == 0 {
		r.FailedInitcode = nil
	}
	r.Hash = present(r.Hash)
	r.SenderID = r.sender.V
	switch {
	case r.sender.Valid && !r.SenderID.IsNone():
		a := r.SenderID.LongZero()
		r.From = a[:]
	case !r.sender.Valid && r.functionResult != nil:
		// A function result that cannot be decoded has no sender. The other fields are still returned.
		if alias, err := ledger.DecodeSenderAlias(r.functionResult); err == nil {
			r.From = alias
		}
	}
	r.Party = r.PayerAccountID
	r.BlockHash = r.blockHash.Or("0x")
	if !r.ethereumPayer.Valid {
		return nil
	}
	e := &r.ethereum
	e.PayerAccountID, e.GasLimit, e.Nonce, e.Type = r.ethereumPayer.V, r.gasLimit.V, r.nonce.V, r.kind.V
	e.AccessList, e.AuthorizationList = []*ledger.AccessListItem{}, []*ledger.Authorization{}
	err := cmp.Or(storage.DecodeJSON(r.accessList, &e.AccessList),
		storage.DecodeJSON(r.authorized, &e.AuthorizationList))
	if err != nil {
		return fmt.Errorf("lists of Ethereum transaction %s: %w", r.ConsensusTimestamp, err)
	}
	r.Ethereum = e
	return nil
}

// present returns b, or an empty slice for nil.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// addressOf returns the EVM address of an entity: the assigned address, or the long-zero address of its id. It returns
// nil if there is no entity.
func addressOf(evmAddress []byte, id ledger.EntityID) []byte {
	switch {
	case id.IsNone():
		return nil
	case len(evmAddress) > 0:
		return evmAddress
	default:
		a := id.LongZero()
		return a[:]
	}
}

// blockOf joins the block of a result. The end of the block limits the search; the start is checked afterwards.
const blockOf = ` left join lateral (select hash, index, gas_used, consensus_start from record_file where consensus_end >= cr.consensus_timestamp
  order by consensus_end limit 1) r on `

// detailJoins are the joins for the columns of a page's results cr, the first of which is that for the columns of the
// record.
var detailJoins = []storage.Join{
	storage.By("left join", "entity", "e", "cr", "id", "contract_id"),
	storage.Beside(blockOf + `r.consensus_start <= cr.consensus_timestamp`),
	storage.By("left join", "ethereum_transaction", "et", "cr",
		"consensus_timestamp", "consensus_timestamp", "payer_account_id", "payer_account_id"),
}

// detailsOf describes the statement for the results of a page, which is already limited, with their details. rest
// follows the joins.
func detailsOf(page, rest string) *storage.Read {
	return &storage.Read{Select: detailColumns, Page: page, As: "cr", Joins: detailJoins, Rest: rest}
}

// The rows of a list of results, which can be synthetic.
var (
	recordedRows = listedRows(contractResultTargets)
	detailedRows = listedRows(detailTargets)
)

// listedRows returns the mapper of rows with the columns of targets, and then whether the result is synthetic and
// a child. Synthetic results are not partial and have no Ethereum transaction.
func listedRows(targets storage.Columns[contractResultRow]) *storage.Mapper[contractResultRow, ledger.ContractResult] {
	return storage.NewMapper(func(r *contractResultRow, into []any) []any {
		return append(targets(r, into), &r.Synthetic, &r.Child)
	}, func(r *contractResultRow) error {
		err := finishContractResult(r)
		if r.Synthetic {
			r.Partial, r.Ethereum = false, nil
		}
		return err
	}, func(r *contractResultRow) *ledger.ContractResult { return &r.ContractResult })
}

// list queues a query for the results of a page, which has the column synthetic and is already limited, with these
// parts. It also reads whether their transactions have a parent. order is an ORDER BY clause. It does not set the
// chain ID.
func (parts ResultParts) list(
	b *storage.Batch, setting storage.Setting, page, order string, args []any,
) storage.Result[[]*ledger.ContractResult] {
	r, rows := detailsOf(page, order), detailedRows
	if parts == ResultRecord {
		r.Select, r.Joins, rows = contractResultColumns, detailJoins[:1], recordedRows
	}
	r.Joins = append(slices.Clip(r.Joins), storage.By("left join", "transaction", "t", "cr",
		"consensus_timestamp", "consensus_timestamp"))
	r.Setting, r.Select = setting, r.Select+`, cr.synthetic, t.parent_consensus_timestamp is not null`
	return rows.QueueRead(b, r, args)
}

// withChainID sets the configured chain ID of the network in results, of which some may be nil, and returns the
// same list.
func withChainID(db *storage.DB, results []*ledger.ContractResult) []*ledger.ContractResult {
	for _, r := range results {
		if r != nil {
			r.NetworkChainID = db.NetworkChainID()
		}
	}
	return results
}

// filterResults adds the conditions of a filter to w, the conditions of a statement on contract_result as cr. Results
// with the code WRONG_NONCE are never listed, and those of child transactions only if the filter includes internal
// results. The planner of PostgreSQL does not see the contract: it expects a range of one contract to have many
// results, and reads them in the order of the index. It ignores the other members of the filter, such as Synthetic.
func filterResults(db *storage.DB, w *storage.Where, f ledger.ContractResultFilter) {
	w.And("cr.transaction_result <> " + strconv.Itoa(wrongNonce))
	if f.Internal == nil || !*f.Internal {
		w.And("cr.transaction_nonce = 0")
	}
	storage.FilterOpaque(db, w, "cr.contract_id", f.ContractID)
	storage.Filter(w, "cr.sender_id", f.From)
	storage.Filter(w, "cr.consensus_timestamp", f.Timestamp)
	if f.TransactionIndex != nil {
		w.Among("cr.transaction_index = any(?::bigint[])", len(f.TransactionIndex), f.TransactionIndex)
	}
}

// CountResults counts contract results.
const CountResults storage.Countable = `select 1 from contract_result`

// recorded are the columns of contract_result in the order of those of [syntheticResult].
const recorded = `cr.consensus_timestamp, cr.contract_id, cr.payer_account_id, cr.sender_id, cr.amount, cr.bloom,
  cr.call_result, cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters,
  cr.function_result, cr.gas_consumed, cr.gas_limit, cr.gas_used, cr.transaction_hash, cr.transaction_index,
  cr.transaction_nonce, cr.transaction_result`

// ContractResults reads a page of contract results, ordered by consensus time. Logs of token transfers outside of the
// EVM appear as synthetic results, unless the filter excludes them or selects a sender. A condition on the contract
// selects those whose own logs are of that contract. A recorded result replaces the one derived from its logs.
func ContractResults(
	ctx context.Context, db *storage.DB, f ledger.ContractResultFilter, parts ResultParts, p storage.Page,
) ([]*ledger.ContractResult, error) {
	var w storage.Where
	ran, keys, setting := f, []string{"cr.consensus_timestamp"}, storage.Setting(0)
	id, single := only(f.ContractID)
	switch {
	case single && f.From == nil && f.Timestamp == nil && !db.Distributed():
		// Few of its results can be those of a transaction. A range of one contract lets the planner use only the
		// index on contract and time.
		ran.ContractID = &ledger.EntityIDFilter{Gte: &id, Lte: &id}
		keys = append([]string{"cr.contract_id"}, keys...)
	case f.ContractID != nil || f.From != nil:
		setting = storage.NoBitmaps
	}
	filterResults(db, &w, ran)
	w.Keyset(p, "cr.consensus_timestamp")
	page := `select ` + recorded + `, false as synthetic from contract_result cr where true` + w.String() +
		w.OrderBy(p, keys...)
	if f.From == nil && (f.Synthetic == nil || *f.Synthetic) {
		page = `select * from (select distinct on (consensus_timestamp) * from (
  (` + page + `)
  union all (` + syntheticPage(db, &w, f, p) + `)) cr order by ` + p.Order("consensus_timestamp") + `, synthetic) cr` +
			w.OrderBy(p, "consensus_timestamp")
	}
	b := db.NewBatch()
	rows, err := storage.Run(ctx, b, parts.list(b, setting, page, ` order by `+p.Order("cr.consensus_timestamp"),
		w.Args))
	if err != nil {
		return nil, fmt.Errorf("reading contract results: %w", err)
	}
	return withChainID(db, rows), nil
}

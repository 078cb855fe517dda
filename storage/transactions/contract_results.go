package transactions

import (
	"cmp"
	"context"
	"fmt"
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
// the Ethereum transaction if there is one.
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
	r.BlockHash = "0x"
	if r.blockHash.Valid {
		r.BlockHash = r.blockHash.V
	}
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

// present returns an empty slice for nil.
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

// rows returns the mapper of the rows with these parts.
func (parts ResultParts) rows() *storage.Mapper[contractResultRow, ledger.ContractResult] {
	if parts == ResultRecord {
		return contractResultRows
	}
	return detailRows
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

// read describes the statement for a page of results, which is already limited.
func (parts ResultParts) read(page, rest string) *storage.Read {
	r := &storage.Read{Select: detailColumns, Page: page, As: "cr", Joins: detailJoins, Rest: rest}
	if parts == ResultRecord {
		r.Select, r.Joins = contractResultColumns, detailJoins[:1]
	}
	return r
}

// withChainID sets the chain ID of the network in results, of which some may be nil, and returns them.
func withChainID(db *storage.DB, results []*ledger.ContractResult) []*ledger.ContractResult {
	for _, r := range results {
		if r != nil {
			r.NetworkChainID = db.NetworkChainID()
		}
	}
	return results
}

// filterResults adds the conditions of a filter to those of a statement on contract_result as cr. Results with the
// code WRONG_NONCE are never listed.
func filterResults(w *storage.Where, f ledger.ContractResultFilter) {
	w.And("cr.transaction_result <> " + strconv.Itoa(wrongNonce))
	if f.Internal == nil || !*f.Internal {
		w.And("cr.transaction_nonce = 0")
	}
	storage.Filter(w, "cr.contract_id", f.ContractID)
	storage.Filter(w, "cr.sender_id", f.From)
	storage.Filter(w, "cr.consensus_timestamp", f.Timestamp)
	if f.TransactionIndex != nil {
		w.And("cr.transaction_index = any(?::bigint[])", f.TransactionIndex)
	}
}

// CountResults counts contract results.
const CountResults storage.Countable = `select 1 from contract_result`

// ContractResults reads a page of contract results, ordered by consensus time. Logs of token transfers outside of the
// EVM appear as synthetic results, unless the filter excludes them or selects a sender. A condition on the contract
// selects those whose own logs are of that contract.
func ContractResults(
	ctx context.Context, db *storage.DB, f ledger.ContractResultFilter, parts ResultParts, p storage.Page,
) ([]*ledger.ContractResult, error) {
	given := f
	b := db.NewBatch()
	var w storage.Where
	keys := []string{"cr.consensus_timestamp"}
	if f.From == nil && f.Timestamp == nil && !db.Distributed() {
		// Few of its results can be those of a transaction. A range of one contract lets the planner use only the
		// index on contract and time.
		if id, single := only(f.ContractID); single {
			f.ContractID = &ledger.EntityIDFilter{Gte: &id, Lte: &id}
			keys = append([]string{"cr.contract_id"}, keys...)
		}
	}
	filterResults(&w, f)
	w.Keyset(p, "cr.consensus_timestamp")
	cut := `select * from contract_result cr where true` + w.String() + w.OrderBy(p, keys...)
	r := parts.read(cut, ` order by cr.consensus_timestamp`+p.Direction())
	r.Setting = storage.NoBitmaps
	ran, synthetic := parts.rows().QueueRead(b, r, w.Args), storage.Known[[]*ledger.ContractResult](nil)
	if given.From == nil && (given.Synthetic == nil || *given.Synthetic) {
		synthetic = queueSyntheticResults(b, given, parts, p)
	}
	rows, err := storage.Run(ctx, b, storage.All([]storage.Result[[]*ledger.ContractResult]{ran, synthetic}))
	if err != nil {
		return nil, fmt.Errorf("reading contract results: %w", err)
	}
	// A recorded result replaces the one derived from its logs.
	return storage.Merge(withChainID(db, rows[0]), rows[1], p, func(r *ledger.ContractResult) int64 {
		return int64(r.ConsensusTimestamp)
	}), nil
}

package transactions

import (
	"context"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// Stream is a kind of rows that are ordered by consensus time.
type Stream string

// Streams. The value is the query for the time of the newest row.
const (
	StreamBlocks   Stream = "select max(consensus_end) from record_file"
	StreamLogs     Stream = "select max(consensus_timestamp) from contract_log"
	StreamMessages Stream = "select max(consensus_timestamp) from transaction where " + submitted
	StreamResults  Stream = "select greatest((select max(consensus_timestamp) from contract_result), (select max(consensus_timestamp) from contract_log " +
		"where synthetic))"
	StreamTransactions Stream = "select max(consensus_timestamp) from transaction"
)

// submitted matches transactions that submitted a message. Messages have no index on time alone, so they are found through their transactions.
const submitted = "type = 27 and result = 22"

// Newest reads the consensus time of a stream's newest row, or 0 if the stream is empty.
func Newest(ctx context.Context, db *storage.DB, s Stream) (ledger.Timestamp, error) {
	at, err := storage.Value[ledger.Null[ledger.Timestamp]](ctx, db, "the newest row", string(s))
	return at.V, err
}

// partyRow relates an account to the transaction at a consensus time.
type partyRow struct {
	at ledger.Timestamp
	ledger.Party
}

var partyRows = storage.MapperOf(func(r *partyRow, into []any) []any { return append(into, &r.at, &r.AccountID, &r.Credited, &r.Debited) }, nil)

// Parties reads the parties of the given transactions, as [Transactions] finds them by account. It returns one list per transaction, in order. Accounts that
// are related only by entity_transaction are included only if they are in named, because that table has no index by time.
func Parties(ctx context.Context, db *storage.DB, of []*ledger.Transaction, named []ledger.EntityID) ([][]ledger.Party, error) {
	const page = storage.Any1 + ` and payer_account_id = ` + storage.Any2
	const sql = `select consensus_timestamp, account_id, bool_or(amount > 0), bool_or(amount < 0) from (
  select consensus_timestamp, entity_id as account_id, amount from crypto_transfer where consensus_timestamp = ` + page + `
  union all select consensus_timestamp, account_id, amount from token_transfer where consensus_timestamp = ` + page + `
  union all select consensus_timestamp, entity_id, 0 from entity_transaction
    where entity_id = ` + storage.Any3 + ` and consensus_timestamp = ` + storage.Any1 + `
  union all select consensus_timestamp, payer_account_id, 0 from transaction where consensus_timestamp = ` + page + `
    and (nonce = 0 or parent_consensus_timestamp is not null or type in ` + precedingTypes + `)) party
group by consensus_timestamp, account_id order by consensus_timestamp`
	rows, err := partyRows.List(ctx, db, "the parties of transactions", sql, times(of), payers(of), storage.Int64s(named))
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

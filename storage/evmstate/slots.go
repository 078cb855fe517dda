package evmstate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// evmSlotRow is the value of a slot and the position of its request.
type evmSlotRow struct {
	ord   int64
	value []byte
}

var evmSlotRows = storage.MapperOf(func(r *evmSlotRow, into []any) []any {
	return append(into, &r.ord, &r.value)
}, nil)

const slotsWanted = `select w.ord, s.value from unnest(` + storage.Array1 + `, ` + storage.Bytes2 +
	`) with ordinality w(contract, slot, ord)
`

var (
	evmSlotsNow = storage.ByKeys(slotsWanted + `join contract_state s on s.contract_id = w.contract
and s.slot = w.slot`)

	// The value before a change is the value that the change read.
	evmSlotsThen = storage.ByKeys(slotsWanted + `cross join lateral (select coalesce(value_written, value_read) as value from contract_state_change
  where contract_id = w.contract and slot = w.slot and consensus_timestamp <= $3 order by consensus_timestamp desc limit 1) s`)

	// slotChanges are the last changes of slots.
	slotChanges = []storage.Rows{{Table: "contract_state_change", Query: `select distinct on (contract_id, slot) * from contract_state_change
  where contract_id = any($1::bigint[]) and slot = any($2::bytea[]) and consensus_timestamp <= $3 order by contract_id, slot, consensus_timestamp desc`}}
)

// queueSlots queues a query for slots that the snapshot does not have yet. It stores zeros for them in the snapshot,
// and their values when the batch has run. If it does not run or fails, the snapshot must not be used.
func (s *Snapshot) queueSlots(b *storage.Batch, wanted []slotKey) {
	var (
		contracts []int64
		slots     [][]byte
		asked     []slotKey
	)
	for _, w := range wanted {
		if _, known := s.slots[w]; known {
			continue
		}
		s.slots[w] = [32]byte{}
		slot := w.slot[:]
		if s.history.past {
			slot = transactions.SlotKey(slot, true)
		}
		contracts, slots, asked = append(contracts, int64(w.contract)), append(slots, slot), append(asked, w)
	}
	if len(asked) == 0 {
		return
	}
	r, args := storage.Read{SQL: evmSlotsNow.Arrays(s.db).SQL}, []any{contracts, slots}
	if s.history.past {
		r = storage.Read{SQL: evmSlotsThen.Arrays(s.db).SQL, Ahead: slotChanges}
		args = append(args, int64(s.history.until))
	}
	storage.Use(b, evmSlotRows.QueueRead(b, &r, args), func(rows []*evmSlotRow) {
		for _, r := range rows {
			s.slots[asked[r.ord-1]] = wordOf(r.value)
		}
	})
}

// wordOf left-pads b with zeros to 32 bytes. Of a longer b it uses the last 32 bytes.
func wordOf(b []byte) (w [32]byte) {
	if n := len(b) - len(w); n > 0 {
		b = b[n:]
	}
	copy(w[len(w)-len(b):], b)
	return w
}

// Slots returns the values of slots of a contract, in order. It reads those from the database that the snapshot has
// not read before, in one round trip, and with them the slots of the contract that earlier executions read. It records
// the slots for later ones. Slots that were never written are zero. It can fail with [ErrTooManyReads]. After an error
// all further calls fail.
func (s *Snapshot) Slots(ctx context.Context, contract ledger.EntityID, slots [][32]byte) ([][32]byte, error) {
	wanted := list.Map(slots, func(slot [32]byte) slotKey { return slotKey{contract, slot} })
	s.asked.slots = append(s.asked.slots, wanted...)
	b := s.db.NewBatch()
	for _, w := range wanted {
		if _, known := s.slots[w]; !known {
			s.queueSlots(b, append(wanted[:len(wanted):len(wanted)], s.evm.memory.slotsOf(contract)...))
			break
		}
	}
	if b.Len() > 0 || s.failed != nil {
		if err := s.run(ctx, b); err != nil {
			return nil, fmt.Errorf("reading storage: %w", err)
		}
	}
	out := make([][32]byte, len(slots))
	for i, w := range wanted {
		out[i] = s.slots[w]
	}
	return out, nil
}

// keysOf contains columns of each distributed table, and the arguments with their values.
var keysOf = map[string]string{
	"crypto_allowance": "owner=owners spender=spenders",
	"crypto_transfer":  "entity_id=owners payer_account_id=spenders",
	"custom_fee":       "entity_id=tokens",
	"entity":           "id=tokens id=accounts",
	"nft":              "token_id=tokens serial_number=serials account_id=accounts",
	"nft_allowance":    "owner=owners spender=spenders token_id=tokens",
	"token":            "token_id=tokens",
	"token_account":    "account_id=accounts token_id=tokens",
	"token_airdrop":    "sender_account_id=senders receiver_account_id=receivers token_id=tokens serial_number=serials",
	"token_allowance":  "owner=owners spender=spenders token_id=tokens",
	"token_transfer":   "account_id=owners account_id=accounts token_id=tokens payer_account_id=spenders",
}

// keyed describes the rows of tables that have the values of some named arguments, for statements that only use such
// rows. It reads nothing. Of a history they are only the versions that began by @instant. args are the names,
// separated by spaces; see [keysOf].
func keyed(args string, tables ...string) (out []storage.Rows) {
	for _, table := range tables {
		condition := ofKeys(args, strings.TrimSuffix(table, "_history"))
		if strings.HasSuffix(table, "_history") {
			condition += " and lower(timestamp_range) <= @instant"
		}
		out = append(out, storage.RowsOf(table, condition))
	}
	return out
}

// ofKeys returns the condition that a table's rows have the values of some of the named arguments. args are the names,
// separated by spaces. At least one must be in [keysOf] for the table: otherwise the condition is empty.
func ofKeys(args, table string) string {
	var where []string
	for key := range strings.FieldsSeq(keysOf[table]) {
		if column, arg, _ := strings.Cut(key, "="); slices.Contains(strings.Fields(args), arg) {
			where = append(where, column+" = any(@"+arg+"::bigint[])")
		}
	}
	return strings.Join(where, " and ")
}

// sinceShot describes what a historical statement reads first if tables are distributed: the time of the newest full
// balance snapshot, the sums of the transfers of tokens since, and the rows of tables, as [keyed] does. args are the
// names of the arguments with their keys, separated by spaces. It reads nothing.
func sinceShot(args string, tables ...string) []storage.Rows {
	return append([]storage.Rows{
		{Table: "shot", Query: "select coalesce(max(at), 0) as at from " + newestShot},
		{Table: "token_transfer", Query: `select account_id, token_id, @instant::bigint as consensus_timestamp,
  sum(amount)::bigint as amount from token_transfer where ` + ofKeys(args, "token_transfer") + `
  and consensus_timestamp > (select at from shot) and consensus_timestamp <= @instant group by account_id, token_id`},
	}, keyed(args, tables...)...)
}

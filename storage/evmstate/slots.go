package evmstate

import (
	"context"
	"fmt"
	"regexp"
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

const (
	evmSlotsNow = `select w.ord, s.value from unnest((select $1::bigint[]), (select $2::bytea[])) with ordinality w(contract, slot, ord)
join contract_state s on s.contract_id = w.contract and s.slot = w.slot`

	// The value before a change is the value that the change read.
	evmSlotsThen = `select w.ord, s.value from unnest((select $1::bigint[]), (select $2::bytea[])) with ordinality w(contract, slot, ord)
cross join lateral (select coalesce(value_written, value_read) as value from contract_state_change
  where contract_id = w.contract and slot = w.slot and consensus_timestamp <= $3 order by consensus_timestamp desc limit 1) s`
)

// slotChanges reads the last changes of slots ahead.
var slotChanges = [2]string{"contract_state_change", `select distinct on (contract_id, slot) * from contract_state_change
  where contract_id = any($1::bigint[]) and slot = any($2::bytea[]) and consensus_timestamp <= $3 order by contract_id, slot, consensus_timestamp desc`}

// queueSlots queues a query for slots. It stores their values in the snapshot.
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
	sql, args := evmSlotsNow, []any{contracts, slots}
	if s.history.past {
		sql, args = s.db.ReadAhead(evmSlotsThen, slotChanges), append(args, int64(s.history.until))
	}
	evmSlotRows.Queue(b, sql, args, func(rows []*evmSlotRow) {
		for _, r := range rows {
			s.slots[asked[r.ord-1]] = wordOf(r.value)
		}
	})
}

// wordOf left-pads b with zeros to a word.
func wordOf(b []byte) (w [32]byte) {
	if n := len(b) - len(w); n > 0 {
		b = b[n:]
	}
	copy(w[len(w)-len(b):], b)
	return w
}

// Slots returns the values of slots of a contract, in order. Slots that were never written are zero. The first read of
// a contract also prefetches the slots that earlier executions read.
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
	if b.Len() > 0 {
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

var table = regexp.MustCompile(`\b(?:from|join) ([a-z_]+)\b`)

// keysOf contains columns of each distributed table, and the arguments with their values. A statement that has the
// argument only uses rows with these values.
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

// ahead returns the tables of a statement with the queries for [storage.DB.ReadAhead].
func ahead(sql string) (out [][2]string) {
	if strings.Contains(sql, newestShot) {
		out = append(out, [2]string{"shot", "select coalesce(max(at), 0) as at from " + newestShot})
	}
	shots, seen := len(out) > 0, map[string]bool{}
	for _, m := range table.FindAllStringSubmatch(sql, -1) {
		name := m[1]
		keys := keysOf[strings.TrimSuffix(name, "_history")]
		if keys == "" || seen[name] {
			continue
		}
		seen[name] = true
		columns, where, group := "*", []string{"true"}, ""
		for key := range strings.FieldsSeq(keys) {
			if column, arg, _ := strings.Cut(key, "="); strings.Contains(sql, "@"+arg) {
				where = append(where, column+" = any(@"+arg+"::bigint[])")
			}
		}
		switch {
		case name == "nft" && strings.Contains(sql, "max(serial_number)"):
			columns, group = "token_id, created_timestamp, max(serial_number) as serial_number",
				" group by token_id, created_timestamp"
		case strings.HasSuffix(name, "_transfer") && shots:
			columns, group = "account_id, token_id, @instant::bigint as consensus_timestamp, sum(amount)::bigint as amount", " group by account_id, token_id"
			where = append(where, "consensus_timestamp > (select at from shot_rows)",
				"consensus_timestamp <= @instant")
		case strings.HasSuffix(name, "_history"):
			where = append(where, "lower(timestamp_range) <= @instant")
		}
		out = append(out,
			[2]string{name, "select " + columns + " from " + name + " where " + strings.Join(where, " and ") + group})
	}
	return out
}

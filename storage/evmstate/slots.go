package evmstate

import (
	"context"
	"fmt"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// evmSlotRow is what a slot holds, with its place among those asked for.
type evmSlotRow struct {
	ord   int64
	value []byte
}

func evmSlotTargets(r *evmSlotRow, into []any) []any { return append(into, &r.ord, &r.value) }

const (
	evmSlotsNow = `select w.ord, s.value from unnest($1::bigint[], $2::bytea[]) with ordinality w(contract, slot, ord)
join contract_state s on s.contract_id = w.contract and s.slot = w.slot`

	// Before the change that wrote a value, there was the value that was read.
	evmSlotsThen = `select w.ord, s.value from unnest($1::bigint[], $2::bytea[]) with ordinality w(contract, slot, ord)
cross join lateral (select coalesce(value_written, value_read) as value from contract_state_change
  where contract_id = w.contract and slot = w.slot and consensus_timestamp <= $3 order by consensus_timestamp desc limit 1) s`
)

// queueSlots queues reading slots into the snapshot.
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
		sql, args = evmSlotsThen, append(args, int64(s.history.until))
	}
	storage.Queue(b, sql, args, evmSlotTargets, nil, func(rows []*evmSlotRow) {
		for _, r := range rows {
			s.slots[asked[r.ord-1]] = wordOf(r.value)
		}
	})
}

// wordOf fills a value up with zeros in front.
func wordOf(b []byte) (w [32]byte) {
	if n := len(b) - len(w); n > 0 {
		b = b[n:]
	}
	copy(w[len(w)-len(b):], b)
	return w
}

// Slots returns what slots of a contract hold, in their order; zeros where nothing was written. What is asked of a contract for the first time
// brings along what was asked of it before, in other executions.
func (s *Snapshot) Slots(ctx context.Context, contract ledger.EntityID, slots [][32]byte) ([][32]byte, error) {
	wanted := make([]slotKey, len(slots))
	for i, slot := range slots {
		wanted[i] = slotKey{contract, slot}
	}
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

package storage

import (
	"bytes"

	"heliograph/internal/ledger"
)

// slots adds the conditions on slots of storage; form makes them what the column holds.
func (w *where) slots(f *ledger.ContractStateFilter, form func([]byte) []byte) {
	if f == nil || f.Slot == nil {
		return
	}
	s := f.Slot
	for _, c := range []struct {
		op    string
		value []byte
	}{{" = ?", s.Eq}, {" > ?", s.Gt}, {" >= ?", s.Gte}, {" < ?", s.Lt}, {" <= ?", s.Lte}} {
		if c.value != nil {
			w.and("s.slot"+c.op, form(c.value))
		}
	}
	if s.In == nil {
		return
	}
	in := make([][]byte, len(s.In))
	for i, v := range s.In {
		in[i] = form(v)
	}
	w.and("s.slot = any(?)", in)
}

// filled is a slot as the table contract_state holds it: a whole word.
func filled(slot []byte) []byte { return word(trimmed(slot)) }

// trimmed is a slot or a topic as the tables of changes and of logs hold them: without zeros in front.
func trimmed(b []byte) []byte {
	b = bytes.TrimLeft(b, "\x00")
	if b == nil {
		return []byte{}
	}
	return b
}

// changesAt adds the conditions on the time of changes. eq and in mean "as of that instant".
func (w *where) changesAt(at *ledger.TimestampFilter) {
	copied := *at
	copied.Eq, copied.In = nil, nil
	filter(w, "s.consensus_timestamp", &copied)
	if at.Eq != nil {
		w.and("s.consensus_timestamp <= ?", int64(*at.Eq))
	}
	for _, v := range at.In {
		w.and("s.consensus_timestamp <= ?", int64(v))
	}
}

type stateRow = ordered[ledger.ContractState]

// QueueContractStates queues reading a page of the storage of each of some contracts by slot, now or at a time; done gets one list for each. At a
// time, slots are ordered without zeros in front.
func (b *Batch) QueueContractStates(ids []ledger.EntityID, f *ledger.ContractStateFilter, at *ledger.TimestampFilter, p Page, done func([][]*ledger.ContractState)) {
	w := where{args: []any{int64s(ids)}}
	var page string
	if at == nil {
		w.slots(f, filled)
		w.keyset(p, "s.slot")
		page = `select s.slot, s.value, s.modified_timestamp as at from contract_state s where s.contract_id = p.id` + w.String() + w.orderBy(p, "s.slot")
	} else {
		w.slots(f, trimmed)
		w.changesAt(at)
		w.keyset(p, "s.slot")
		page = `select distinct on (s.slot) s.slot, coalesce(s.value_written, s.value_read) as value, s.consensus_timestamp as at
  from contract_state_change s where s.contract_id = p.id` + w.String() + ` order by s.slot` + p.direction() + `, s.consensus_timestamp desc limit ` + w.arg(p.Limit)
	}
	out := make([][]*ledger.ContractState, len(ids))
	queue(b, `select p.ord, p.id, e.evm_address, s.slot, s.value, s.at
from unnest($1::bigint[]) with ordinality p(id, ord) left join entity e on e.id = p.id cross join lateral (`+page+`) s
order by p.ord, s.slot`+p.direction(), w.args, func(r *stateRow, into []any) []any {
		return append(into, &r.owner, &r.row.ContractID, &r.row.Address, &r.row.Slot, &r.row.Value, &r.row.Timestamp)
	}, func(r *stateRow) error {
		s := &r.row
		s.Address = addressOf(s.Address, s.ContractID)
		s.Slot, s.Value = word(s.Slot), word(s.Value)
		return nil
	}, func(rows []*stateRow) {
		for _, r := range rows {
			out[r.owner-1] = append(out[r.owner-1], &r.row)
		}
		done(out)
	})
}

// SlotKey is the place of a slot in a list of storage: as it is now, or at a time.
func SlotKey(slot []byte, atTime bool) []byte {
	if atTime {
		return trimmed(slot)
	}
	return filled(slot)
}

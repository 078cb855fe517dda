package storage

import (
	"bytes"

	"heliograph/internal/domain/ledger"
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

// QueueContractStates queues reading a page of the storage of each of some contracts by slot, now or at a time; done gets one list for each. At a
// time, slots are ordered without zeros in front.
func (b *Batch) QueueContractStates(ids []ledger.EntityID, f *ledger.ContractStateFilter, at *ledger.TimestampFilter, p Page, done func([][]*ledger.ContractState)) {
	from, arg := ofParents(ids)
	w := where{args: []any{arg}}
	var page string
	if at == nil {
		w.slots(f, filled)
		w.keyset(p, "s.slot")
		page = `select s.slot as key, s.value, s.modified_timestamp as at from contract_state s where s.contract_id = p.id` + w.String() + w.orderBy(p, "s.slot")
	} else {
		w.slots(f, trimmed)
		w.keyset(p, "s.slot")
		times := where{args: w.args}
		times.changesAt(at)
		w.args = times.args
		page = latest("contract_state_change", "s.contract_id = p.id", "s.slot", "coalesce(s.value_written, s.value_read)", w.String(), times.String(), w.orderBy(p, "s.slot"))
	}
	queueChildren(b, len(ids), `select p.ord, p.id, e.evm_address, s.key, s.value, s.at
from `+from+` left join entity e on e.id = p.id cross join lateral (`+page+`) s
order by p.ord, s.key`+p.direction(), w.args, func(s *ledger.ContractState, into []any) []any {
		return append(into, &s.ContractID, &s.Address, &s.Slot, &s.Value, &s.Timestamp)
	}, func(s *ledger.ContractState) error {
		s.Address = addressOf(s.Address, s.ContractID)
		s.Slot, s.Value = word(s.Slot), word(s.Value)
		return nil
	}, itself, done)
}

// latest is the statement that reads the newest change of each key in a table of changes s: of the keys that of and keys select, cut to the page by
// order, the newest change that meets times. The keys come out of an index in order, and each of its changes is looked for alone.
func latest(table, of, key, value, keys, times, order string) string {
	return `select k.key, c.value, c.at from (select distinct ` + key + ` as key from ` + table + ` s where ` + of + keys + times + order + `) k
  cross join lateral (select ` + value + ` as value, s.consensus_timestamp as at from ` + table + ` s where ` + of + ` and ` + key + ` = k.key` + times + `
    order by s.consensus_timestamp desc limit 1) c`
}

// SlotKey is the place of a slot in a list of storage: as it is now, or at a time.
func SlotKey(slot []byte, atTime bool) []byte {
	if atTime {
		return trimmed(slot)
	}
	return filled(slot)
}

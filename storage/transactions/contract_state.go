package transactions

import (
	"bytes"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// trimmed returns a slot or a topic in the form of the tables of state changes and logs: without leading zeros.
func trimmed(b []byte) []byte {
	b = bytes.TrimLeft(b, "\x00")
	if b == nil {
		return []byte{}
	}
	return b
}

// changesAt adds the conditions on the time of changes. eq and in mean "as of that time".
func changesAt(w *storage.Where, at *ledger.TimestampFilter) {
	copied := *at
	copied.Eq, copied.In = nil, nil
	storage.Filter(w, "s.consensus_timestamp", &copied)
	if at.Eq != nil {
		w.And("s.consensus_timestamp <= ?", int64(*at.Eq))
	}
	for _, v := range at.In {
		w.And("s.consensus_timestamp <= ?", int64(v))
	}
}

var stateRows = storage.MapperOf(func(s *ledger.ContractState, into []any) []any {
	return append(into, &s.ContractID, &s.Address, &s.Slot, &s.Value, &s.Timestamp)
}, func(s *ledger.ContractState) error {
	s.Address = addressOf(s.Address, s.ContractID)
	s.Slot, s.Value = word(s.Slot), word(s.Value)
	return nil
})

// QueueContractStates queues a query for the storage of each of the given contracts, current or as of a time, ordered by slot. done receives one page per
// contract. Historical slots are ordered without leading zeros.
func QueueContractStates(b *storage.Batch, ids []ledger.EntityID, f *ledger.ContractStateFilter, at *ledger.TimestampFilter, p storage.Page,
	done func([][]*ledger.ContractState),
) {
	from, arg := storage.OfParents(ids)
	w := storage.Where{Args: []any{arg}}
	if f != nil {
		storage.FilterBytes(&w, "s.slot", f.Slot, func(slot []byte) []byte { return SlotKey(slot, at != nil) })
	}
	w.Keyset(p, "s.slot")
	var page string
	if at == nil {
		page = `select s.slot as key, s.value, s.modified_timestamp as at from contract_state s where s.contract_id = p.id` + w.String() + w.OrderBy(p, "s.slot")
	} else {
		times := storage.Where{Args: w.Args}
		changesAt(&times, at)
		w.Args = times.Args
		page = storage.LatestChanges("contract_state_change", "s.contract_id = p.id", "s.slot", "coalesce(s.value_written, s.value_read)", w.String(),
			times.String(), w.OrderBy(p, "s.slot"))
	}
	stateRows.QueueChildren(b, len(ids), `select p.ord, p.id, e.evm_address, s.key, s.value, s.at
from `+from+` left join entity e on e.id = p.id cross join lateral (`+page+`) s
order by p.ord, s.key`+p.Direction(), w.Args, done)
}

// SlotKey returns a slot in the form of the table of current storage, a whole word, or in that of state changes, without leading zeros. It is the sort key.
func SlotKey(slot []byte, atTime bool) []byte {
	if atTime {
		return trimmed(slot)
	}
	return word(trimmed(slot))
}

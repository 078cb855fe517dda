package transactions

import (
	"bytes"
	"context"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// trimmed returns a slot or a topic in the form of the tables of state changes and logs: without leading zeros.
// The result is never nil.
func trimmed(b []byte) []byte {
	return present(bytes.TrimLeft(b, "\x00"))
}

// changesAt adds the conditions on the time of changes s to w. eq and in mean "as of that time". An empty in that is
// not nil matches no change. at must not be nil.
func changesAt(w *storage.Where, at *ledger.TimestampFilter) {
	copied := *at
	copied.Eq = nil
	if len(at.In) > 0 {
		copied.In = nil
	}
	storage.Filter(w, "s.consensus_timestamp", &copied)
	if at.Eq != nil {
		w.And("s.consensus_timestamp <= ?", int64(*at.Eq))
	}
	for _, v := range at.In {
		w.And("s.consensus_timestamp <= ?", int64(v))
	}
}

// finishState sets the members of a storage slot that are computed from columns: address, and words with their leading
// zeros. The error is always nil.
func finishState(s *ledger.ContractState) error {
	s.Address = addressOf(s.Address, s.ContractID)
	s.Slot, s.Value = word(s.Slot), word(s.Value)
	return nil
}

// QueueContractStates queues a query for the storage of each of the given contracts, as of a time or, if at is nil,
// current, ordered by slot. The result has one page per contract. Historical slots are ordered without leading zeros.
func QueueContractStates(b *storage.Batch, ids []ledger.EntityID, f ledger.ContractStateFilter,
	at *ledger.TimestampFilter, p storage.Page,
) storage.Result[[][]*ledger.ContractState] {
	ps, w := b.ParentsOrOne("id", storage.Int64s(ids))
	contract := "s.contract_id = " + ps.Key("id")
	storage.FilterBytes(&w, "s.slot", f.Slot, func(slot []byte) []byte { return SlotKey(slot, at != nil) })
	w.Keyset(p, "s.slot")
	var page string
	if at == nil {
		page = `select s.slot as key, s.value, s.modified_timestamp as at
from contract_state s where ` + contract + w.String() + w.OrderBy(p, "s.slot")
	} else {
		times := storage.With(w.Args...)
		changesAt(&times, at)
		w.Args = times.Args
		page = storage.LatestChanges("contract_state_change", contract,
			"s.slot", "coalesce(s.value_written, s.value_read)", w.String(),
			times.String(), w.OrderBy(p, "s.slot"))
	}
	return stateRows.QueueChildren(b, len(ids), &storage.Read{
		Parents: ps, Select: `p.ord, ` + stateColumns, From: ps.From,
		Joins: []storage.Join{
			ps.Join("left join", "entity", "e", "id", "id"), storage.Beside(` cross join lateral (` + page + `) s`),
		},
		Rest: ` order by p.ord, s.key` + p.Direction(),
	}, w.Args)
}

// SlotKey returns a slot in the form of the table of current storage, a whole word, or with atTime in that of state
// changes, without leading zeros. It is the sort key.
func SlotKey(slot []byte, atTime bool) []byte {
	if atTime {
		return trimmed(slot)
	}
	return word(trimmed(slot))
}

// finishAction sets the members of an action that are computed from columns: names of numeric values, and the
// recipient of the call, which is 0 if the row has none. Its address is that of the row, or else the long-zero one, or
// nil without a recipient. Missing input and result become empty. The error is always nil.
func finishAction(a *actionRow) error {
	a.CallOperationType, a.CallType = ledger.CallOperationTypeOf(a.operation.V), ledger.CallTypeOf(a.callType.V)
	a.ResultDataType = ledger.ResultDataTypeOf(a.dataType)
	a.CallerType = ledger.EntityType(a.callerType.Or(string(ledger.EntityContract)))
	a.Input, a.ResultData = present(a.Input), present(a.ResultData)
	kind := ledger.EntityContract
	switch {
	case a.account.Valid:
		kind = ledger.EntityAccount
		a.Recipient, a.RecipientType = a.account.V, &kind
	case a.contract.Valid:
		a.Recipient, a.RecipientType = a.contract.V, &kind
	}
	a.To = addressOf(nil, a.Recipient)
	if n := len(a.address); n > 0 {
		a.To = append(make([]byte, max(len(ledger.EVMAddress{})-n, 0)), a.address...)
	}
	return nil
}

// ContractActions reads a page of the actions of a transaction, ordered by index.
func ContractActions(
	ctx context.Context, db *storage.DB, of Located, f ledger.ContractActionFilter, p storage.Page,
) ([]*ledger.ContractAction, error) {
	w := storage.With(int64(of.At), int64(of.Payer))
	storage.Filter(&w, "a.index::bigint", f.Index) // which can exceed the range of the column
	w.Keyset(p, "a.index")
	return actionRows.ListRead(ctx, db, "the actions of a transaction", &storage.Read{
		Setting: storage.NoBitmaps, Select: actionColumns, From: `contract_action a
where a.consensus_timestamp = $1 and a.payer_account_id = $2` + w.String() + w.OrderBy(p, "a.index"),
	}, w.Args)
}

// QueueContractActions queues a query for the actions of each of the given transactions. The result has one page per
// transaction.
func QueueContractActions(
	b *storage.Batch, of []Located, f ledger.ContractActionFilter, p storage.Page,
) storage.Result[[][]*ledger.ContractAction] {
	times, payers := make([]int64, len(of)), make([]int64, len(of))
	for i, l := range of {
		times[i], payers[i] = int64(l.At), int64(l.Payer)
	}
	ps, w := b.Parents("at, payer", times, payers)
	storage.Filter(&w, "a.index::bigint", f.Index) // which can exceed the range of the column
	w.Keyset(p, "a.index")
	return actionRows.QueueChildren(b, len(of), &storage.Read{
		Parents: ps, Select: `p.ord, a.*`, From: ps.From,
		Page: `
  select ` + actionColumns + ` from contract_action a where a.consensus_timestamp = ` + ps.Key("at") +
			` and a.payer_account_id = ` + ps.Key("payer") + w.String() + w.OrderBy(p, "a.index"), As: "a",
		Rest: ` order by p.ord, a.index` + p.Direction(),
	}, w.Args)
}

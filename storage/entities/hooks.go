package entities

import (
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

const hookColumns = `h.admin_key, h.contract_id, h.created_timestamp, h.deleted, h.extension_point::text, h.hook_id, h.owner_id,
  h.timestamp_range is not null, lower(h.timestamp_range), upper(h.timestamp_range), h.type::text`

// hookRow is a hook and the columns from which its fields are computed.
type hookRow struct {
	ledger.Hook
	adminKey            ledger.Key
	extensionPoint, typ string
	hasRange            bool
	lasts               ledger.TimestampRange
}

func hookTargets(h *hookRow, into []any) []any {
	return append(into, (*[]byte)(&h.adminKey), &h.ContractID, &h.CreatedTimestamp, &h.Deleted, &h.extensionPoint, &h.HookID, &h.OwnerID,
		&h.hasRange, &h.lasts.From, &h.lasts.To, &h.typ)
}

func finishHook(h *hookRow) error {
	h.AdminKey = h.adminKey.Info()
	h.ExtensionPoint, h.Type = ledger.HookExtensionPoint(h.extensionPoint), ledger.HookType(h.typ)
	if h.hasRange {
		h.Timestamp = &h.lasts
	}
	return nil
}

var hookRows = storage.NewMapper(hookTargets, finishHook, func(h *hookRow) *ledger.Hook { return &h.Hook })

// QueueHooks queues a query for the hooks of each of the given accounts, including deleted ones, ordered by id. done receives one page per account.
func QueueHooks(b *storage.Batch, owners []ledger.EntityID, f *ledger.HookFilter, p storage.Page, done func([][]*ledger.Hook)) {
	from, arg := storage.OfParents(owners)
	w := storage.Where{Args: []any{arg}}
	if f != nil {
		storage.Filter(&w, "hook_id", f.HookID)
	}
	w.Keyset(p, "hook_id")
	hookRows.QueueChildren(b, len(owners), `select p.ord, `+hookColumns+` from `+from+` cross join lateral (
  select * from hook where owner_id = p.id`+w.String()+w.OrderBy(p, "hook_id")+`) h
order by p.ord, h.hook_id`+p.Direction(), w.Args, done)
}

// HookRef identifies a hook by its owner and the id that is unique for the owner.
type HookRef struct {
	OwnerID ledger.EntityID
	HookID  int64
}

// refs converts references to two array parameters.
func refs(hooks []HookRef) (owners, ids []int64) {
	owners, ids = make([]int64, len(hooks)), make([]int64, len(hooks))
	for i, h := range hooks {
		owners[i], ids[i] = int64(h.OwnerID), h.HookID
	}
	return owners, ids
}

// QueueHooksByID queues a query for hooks by reference. done receives one hook per reference, or nil for hooks that do not exist.
func QueueHooksByID(b *storage.Batch, hooks []HookRef, done func([]*ledger.Hook)) {
	owners, ids := refs(hooks)
	from, args := storage.UnnestKeys([]string{"owner", "id"}, owners, ids)
	hookRows.QueueChild(b, len(hooks), `select p.ord, `+hookColumns+` from `+from+` join hook h on h.owner_id = p.owner and h.hook_id = p.id`, args, done)
}

func hookSlotTargets(s *ledger.HookSlot, into []any) []any {
	return append(into, &s.OwnerID, &s.HookID, &s.Key, &s.Value, &s.Timestamp)
}

// finishHookSlot left-pads keys and values that are stored without leading zeros. An empty value is zero.
func finishHookSlot(s *ledger.HookSlot) error {
	s.Key = slotBytes(s.Key)
	if s.Value != nil {
		s.Value = slotBytes(s.Value)
	}
	return nil
}

var hookSlotRows = storage.MapperOf(hookSlotTargets, finishHookSlot)

// slotBytes left-pads b with zeros to the size of a slot.
func slotBytes(b []byte) []byte {
	if n := len(b); n < ledger.HookSlotSize {
		return append(make([]byte, ledger.HookSlotSize-n), b...)
	}
	return b
}

// QueueHookSlots queues a query for the storage of each of the given hooks, ordered by key. done receives one page per hook. If at is nil, the slots are the
// current ones, without deleted slots. Otherwise they are the last writes within at, including deletions.
func QueueHookSlots(b *storage.Batch, hooks []HookRef, f *ledger.HookSlotFilter, at *ledger.TimestampFilter, p storage.Page, done func([][]*ledger.HookSlot)) {
	owners, ids := refs(hooks)
	w := storage.Where{Args: []any{owners, ids}}
	if f != nil {
		storage.FilterBytes(&w, "s.key", f.Key, slotBytes)
	}
	w.Keyset(p, "s.key")
	const of = `s.owner_id = p.owner and s.hook_id = p.id`
	var page string
	if at == nil {
		page = `select s.key, s.value, s.modified_timestamp as at from hook_storage s where ` + of + ` and not s.deleted` + w.String() + w.OrderBy(p, "s.key")
	} else {
		times := storage.Where{Args: w.Args}
		times.During("s.consensus_timestamp", at)
		w.Args = times.Args
		page = storage.LatestChanges("hook_storage_change", of, "s.key", "s.value_written", w.String(), times.String(), w.OrderBy(p, "s.key"))
	}
	hookSlotRows.QueueChildren(b, len(hooks), `select p.ord, p.owner, p.id, s.key, s.value, s.at
from `+storage.Unnest("owner", "id")+` cross join lateral (`+page+`) s
order by p.ord, s.key`+p.Direction(), w.Args, done)
}

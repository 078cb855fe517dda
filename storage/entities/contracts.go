package entities

import (
	"context"
	"fmt"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// finishContract sets the members of a contract that are computed from columns: key, expiry, and the long-zero address
// if it has no other. The error is always nil.
func finishContract(c *contractRow) error {
	c.AdminKey = c.key.Info()
	c.ExpirationTimestamp = Expiry(c.expiration, c.CreatedTimestamp, c.AutoRenewPeriod)
	if len(c.EVMAddress) == 0 {
		a := c.EntityID.LongZero()
		c.EVMAddress = a[:]
	}
	return nil
}

// Contracts reads a page of contracts, including deleted ones, ordered by id. With onlyIDs, only the ids of the
// contracts are set.
func Contracts(
	ctx context.Context, db *storage.DB, f *ledger.EntityIDFilter, onlyIDs bool, p storage.Page,
) ([]*ledger.Contract, error) {
	var w storage.Where
	storage.Filter(&w, "e.id", f)
	w.Keyset(p, "e.id")
	cut := ` from entity e where e.type = 'CONTRACT'` + w.String() + w.OrderBy(p, "e.id")
	if onlyIDs {
		return contractIDRows.List(ctx, db, "contracts", `select `+contractIDColumns+cut, w.Args...)
	}
	// The page is limited before the join.
	return contractRows.ListRead(ctx, db, "contracts", &storage.Read{
		Select: contractColumns, Page: `select *` + cut, As: "e", Joins: []storage.Join{withCode},
		Rest: ` order by e.id` + p.Direction(),
	}, w.Args)
}

// withCode joins a page of entities e with their rows of the table contract.
var withCode = storage.By("left join", "contract", "c", "e", "id", "id")

// Contract reads a contract, deleted or not: its current state, or the newest version that matches at. Without at,
// that is the state at the moment of ctx if it has one. It returns nil if the contract does not exist. If several
// contracts, deleted ones included, have the address, it returns nil without at, and with at the newest version of any
// of them.
func Contract(
	ctx context.Context, db *storage.DB, ref ledger.ContractRef, at *ledger.TimestampFilter,
) (*ledger.Contract, error) {
	var w storage.Where
	if ref.Address.Valid {
		w.And("e.evm_address = ?", ref.Address.V[:])
	} else {
		w.And("e.id = ?", int64(ref.ID))
	}
	entity := `entity e where e.type = 'CONTRACT'` + w.String() + ` limit 2`
	if at != nil {
		w.Versions("e.timestamp_range", at)
		versions := `select * from %s e where e.type = 'CONTRACT'` + w.String()
		entity = `(` + fmt.Sprintf(versions, "entity") + ` union all ` + fmt.Sprintf(versions, "entity_history") +
			`) v order by timestamp_range desc limit 1`
	}
	found, err := contractRows.ListRead(ctx, db, "a contract", &storage.Read{
		Select: contractColumns, Page: `select * from ` + entity, As: "e", Joins: []storage.Join{withCode},
	}, w.Args)
	if err != nil || len(found) != 1 {
		return nil, err
	}
	return found[0], nil
}

var contractsByID = storage.ByKeys(`select ` + contractColumns +
	` from entity e left join contract c on c.id = e.id where e.id = ` + storage.Any1 + ` and e.type = 'CONTRACT'`)

// QueueContracts queues a query for contracts by id, deleted or not. The result has one contract per id, or nil for
// ids that do not exist.
func QueueContracts(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]*ledger.Contract] {
	return storage.QueueByKey(b, contractRows, contractsByID, ids,
		func(c *ledger.Contract) ledger.EntityID { return c.EntityID })
}

// ResolveContracts reads the ids of the accounts and contracts that refs identify, with one statement per address.
// Addresses of no entity, or of deleted ones, are skipped. Ids in refs are returned without a lookup, so the entity
// may not exist. If two entities that are not deleted share an address, the error is [storage.ErrAmbiguous].
func ResolveContracts(ctx context.Context, db *storage.DB, refs []ledger.ContractRef) ([]ledger.EntityID, error) {
	ids := []ledger.EntityID{}
	for _, ref := range refs {
		id, err := ResolveCallee(ctx, db, ref.AccountRef())
		if err != nil {
			return nil, err
		}
		if id.Valid {
			ids = append(ids, id.V)
		}
	}
	return ids, nil
}

// QueueBytecodes queues a query for the init code of each of the given contracts, as hex with the prefix "0x". The
// result has one string per contract, "0x" if the code is unknown. File contents are already hex; they are read as of
// the contract's creation.
func QueueBytecodes(b *storage.Batch, of []*ledger.Contract) storage.Result[[]string] {
	ids := list.Map(of, func(c *ledger.Contract) int64 { return int64(c.EntityID) })
	// without a time of creation it is 0, before all files
	created := list.Map(of, func(c *ledger.Contract) int64 { return int64(c.CreatedTimestamp.V) })
	ps, _ := b.Parents("id, created", ids, created)
	id, until := ps.Key("id"), ps.Key("created")
	rows := initcodeRows.QueueChild(b, len(of), &storage.Read{
		Parents: ps,
		Ahead: []storage.Rows{
			storage.RowsOf("contract", `id = `+id),
			storage.RowsOf("file_data", `entity_id in (select file_id
from contract) and consensus_timestamp <= `+until),
		},
		Select: `ord, ` + initcodeColumns,
		Page: `
  select p.ord, case when c.file_id & $3 > $4 then null else c.initcode end as initcode, d.file_data, d.transaction_type, d.consensus_timestamp as at,
    max(d.consensus_timestamp) filter (where ` + StartsVersion + `) over (partition by p.ord) as since
  from ` + ps.From + ` join contract c on c.id = ` + id + `
  left join file_data d on d.entity_id = c.file_id and d.consensus_timestamp <= ` + until + ` and c.file_id & $3 > $4`,
		As:   "f",
		Rest: ` group by ord, initcode`,
	}, append(ps.Args, int64(ledger.MaxNum), int64(MaxSystemFile)))
	return storage.Map(rows, func(rows []*initcodeRow) []string { return list.Map(rows, (*initcodeRow).text) })
}

// text returns the init code as hex with the prefix "0x": that of the contract, which is binary, or else the content
// of its file, which is hex. For a nil row it is "0x".
func (c *initcodeRow) text() string {
	switch {
	case c == nil:
		return "0x"
	case c.bytes != nil:
		return withHexPrefix(string(ledger.AppendHex(nil, c.bytes)))
	default:
		return withHexPrefix(string(c.file))
	}
}

// QueueRuntimeBytecodes queues a query for the runtime bytecode of each of the given contracts. The result has one
// value per contract, empty if unknown.
func QueueRuntimeBytecodes(b *storage.Batch, ids []ledger.EntityID) storage.Result[[][]byte] {
	ps, _ := b.Parents("id", storage.Int64s(ids))
	rows := storage.Values[[]byte]().QueueChild(b, len(ids), &storage.Read{
		Parents: ps, Select: `p.ord, coalesce(c.runtime_bytecode, '')`,
		From: ps.From, Joins: []storage.Join{ps.Join("join", "contract", "c", "id", "id")},
	}, ps.Args)
	return storage.Map(rows, func(rows []*[]byte) [][]byte {
		return list.Map(rows, func(code *[]byte) []byte {
			if code == nil {
				return []byte{}
			}
			return *code
		})
	})
}

// CountContracts counts contracts.
const CountContracts storage.Countable = `select 1 from entity where type = 'CONTRACT'`

// ResolveCallee reads the id of the account or contract that ref identifies, or null if no entity that is not deleted
// has the address. An id in ref is returned without a lookup, so the entity may not exist. If two such entities share
// the address, the error is [storage.ErrAmbiguous]. An entity of which it is unknown whether it is deleted counts as
// deleted.
func ResolveCallee(ctx context.Context, db *storage.DB, ref ledger.AccountRef) (ledger.Null[ledger.EntityID], error) {
	if !ref.Address.Valid {
		return ledger.Of(ref.ID), nil
	}
	return onlyID(ctx, db,
		ref,
		`select id from entity where evm_address = $1 and deleted = false and type in ('ACCOUNT', 'CONTRACT') limit 2`,
		ref.Address.V[:])
}

// finishHook sets the members of a hook that are computed from columns: key, types and time range, which stays nil if
// the database has none. The error is always nil.
func finishHook(h *hookRow) error {
	h.AdminKey = h.adminKey.Info()
	h.ExtensionPoint, h.Type = ledger.HookExtensionPoint(h.extensionPoint), ledger.HookType(h.typ)
	if h.hasRange {
		h.Timestamp = &h.lasts
	}
	return nil
}

// QueueHooks queues a query for the hooks of each of the given accounts, including deleted ones, ordered by id. The
// result has one page per account.
func QueueHooks(
	b *storage.Batch, owners []ledger.EntityID, f ledger.HookFilter, p storage.Page,
) storage.Result[[][]*ledger.Hook] {
	ps, w := b.ParentsOrOne("id", storage.Int64s(owners))
	storage.Filter(&w, "hook_id", f.HookID)
	w.Keyset(p, "hook_id")
	return hookRows.QueueChildren(b, len(owners), &storage.Read{
		Parents: ps, Select: `p.ord, ` + hookColumns, From: ps.From,
		Page: `
  select * from hook where owner_id = ` + ps.Key("id") + w.String() + w.OrderBy(p, "hook_id"), As: "h",
		Rest: ` order by p.ord, h.hook_id` + p.Direction(),
	}, w.Args)
}

// elementKeys returns the entities and numbers of elements as two array arguments of a statement. Those at one
// position belong to one element.
func elementKeys(of []ledger.Element) (owners, numbers []int64) {
	return list.Map(of, func(e ledger.Element) int64 { return int64(e.Entity) }),
		list.Map(of, func(e ledger.Element) int64 { return e.Number })
}

// QueueHooksByID queues a query for hooks by owner and number. The result has one hook per element, or nil for hooks
// that do not exist.
func QueueHooksByID(b *storage.Batch, hooks []ledger.Element) storage.Result[[]*ledger.Hook] {
	owners, ids := elementKeys(hooks)
	ps, _ := b.ParentsOrOne("owner, id", owners, ids)
	return hookRows.QueueChild(b, len(hooks), &storage.Read{
		Parents: ps, Select: `p.ord, ` + hookColumns, From: ps.From,
		Joins: []storage.Join{ps.Join("join", "hook", "h", "owner_id", "owner", "hook_id", "id")},
	}, ps.Args)
}

// finishHookSlot left-pads key and value, which are stored without leading zeros, to 32 bytes. An empty value is zero.
// A null value, of a slot that was only read, stays null. The error is always nil.
func finishHookSlot(s *ledger.HookSlot) error {
	s.Key = slotBytes(s.Key)
	if s.Value != nil {
		s.Value = slotBytes(s.Value)
	}
	return nil
}

// slotBytes left-pads b with zeros to the 32 bytes of a slot of a hook. A b that is not shorter is returned unchanged.
func slotBytes(b []byte) []byte {
	if n := len(b); n < ledger.HookSlotSize {
		return append(make([]byte, ledger.HookSlotSize-n), b...)
	}
	return b
}

// QueueHookSlots queues a query for the storage of each of the given hooks, ordered by key. The result has one page
// per hook. If at is nil, the slots are the current ones, without deleted slots. Otherwise they are the last reads or
// writes within at, including deletions. The value of a read is null.
func QueueHookSlots(
	b *storage.Batch, hooks []ledger.Element, f ledger.HookSlotFilter, at *ledger.TimestampFilter, p storage.Page,
) storage.Result[[][]*ledger.HookSlot] {
	owners, ids := elementKeys(hooks)
	ps, w := b.Parents("owner, id", owners, ids)
	storage.FilterBytes(&w, "s.key", f.Key, slotBytes)
	w.Keyset(p, "s.key")
	of := `s.owner_id = ` + ps.Key("owner") + ` and s.hook_id = ` + ps.Key("id")
	var page string
	if at == nil {
		page = `select s.key, s.value, s.modified_timestamp as at from hook_storage s where ` + of +
			` and not s.deleted` + w.String() + w.OrderBy(p, "s.key")
	} else {
		times := storage.With(w.Args...)
		times.During("s.consensus_timestamp", at)
		w.Args = times.Args
		page = storage.LatestChanges("hook_storage_change", of, "s.key", "s.value_written", w.String(), times.String(),
			w.OrderBy(p, "s.key"))
	}
	return hookSlotRows.QueueChildren(b, len(hooks), &storage.Read{
		Parents: ps, Select: `p.ord, ` + hookSlotColumns, From: ps.From, Page: page, As: "s",
		Rest: ` order by p.ord, s.key` + p.Direction(),
	}, w.Args)
}

package evmstate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/maypok86/otter/v2"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// evmEntityRow is an entity, the key by which it was requested, and a contract's code unless it is cached.
type evmEntityRow struct {
	worldstate.Entity
	evmAddress, alias, delegation []byte
	asked                         []byte // the requested address, nil if the request was by number
	receiver                      ledger.Null[bool]
	nonce                         ledger.Null[int64]
}

// evmEntityTargets appends the targets of the columns in the order in which the statements of this file select them.
func evmEntityTargets(e *evmEntityRow, into []any) []any {
	return append(into, &e.asked, &e.ID, &e.Type, &e.evmAddress, &e.alias, &e.Balance, &e.nonce, &e.delegation,
		&e.Key, &e.receiver, &e.Code)
}

// finishEVMEntity sets the members of an entity that are computed from columns. The alias is the EVM address, or else
// the alias of the account; one that is the long-zero address is none. The error is always nil.
func finishEVMEntity(e *evmEntityRow) error {
	for _, b := range [][]byte{e.evmAddress, e.alias} {
		if a, ok := ledger.EVMAddressOf(b); ok && a != e.ID.LongZero() {
			e.Alias = ledger.Of(a)
			break
		}
	}
	if a, ok := ledger.EVMAddressOf(e.delegation); ok {
		e.Delegation = ledger.Of(a)
	}
	e.ReceiverSigRequired, e.Nonce = e.receiver.V, e.nonce.V
	return nil
}

var evmEntityRows = storage.MapperOf(evmEntityTargets, finishEVMEntity)

// evmEntityColumns are selected from the entity e, the request w and the contract c.
const evmEntityColumns = `w.address, e.id, e.type::text, e.evm_address, e.alias, e.balance, e.ethereum_nonce, e.delegation_address, e.key,
e.receiver_sig_required, c.runtime_bytecode`

var (
	// evmEntitiesNow has the ids and the requests of current entities. $1 are ids, and $2 addresses.
	evmEntitiesNow = storage.ByKeys(`
  select id, null::bytea as address from entity where id = ` + storage.Any1 + `
  union all
  select e.id, a.address from unnest(` + storage.Bytes2 + `) a(address) join entity e on e.evm_address = a.address or e.alias = a.address
  where e.deleted is not true`)

	// evmEntitiesJoined are their rows. $3 are the ids whose code is cached.
	evmEntitiesJoined = []storage.Join{
		storage.Joined(` join entity e on e.id = w.id and e.deleted is not true`,
			"entity", `id in (select id from page) and deleted is not true`),
		storage.Joined(` left join contract c on c.id = e.id and not c.id = any($3)`,
			"contract", `id in (select id from entity) and not id = any($3)`),
	}
)

const evmVersionColumns = `id, type, evm_address, alias, ethereum_nonce, delegation_address, key, receiver_sig_required, deleted, created_timestamp,
  lower(timestamp_range) as since`

// evmEntitiesThen reads entities as of $4: the newest version that started by then. If several entities have an
// address, the one created last by then is used. The balance is that of the last full balance snapshot before, plus
// the transfers since.
var evmEntitiesThen = storage.ByKeys(`select ` + evmEntityColumns + ` from (
  select id, null::bytea as address from unnest(` + storage.Array1 + `) id
  union all
  select f.id, a.address from unnest(` + storage.Bytes2 + `) a(address) cross join lateral (
    select id from entity where (evm_address = a.address or alias = a.address) and created_timestamp <= $4 order by created_timestamp desc limit 1) f) w
cross join lateral (
  select * from (
    (select ` + evmVersionColumns + ` from entity where id = w.id and lower(timestamp_range) <= $4)
    union all
    (select ` + evmVersionColumns + ` from entity_history where id = w.id and lower(timestamp_range) <= $4 order by lower(timestamp_range) desc limit 1)) v
  order by since desc limit 1) v
cross join lateral (select v.id, v.type, v.evm_address, v.alias, v.ethereum_nonce, v.delegation_address, v.key, v.receiver_sig_required, v.deleted,
  case when v.created_timestamp > $4 then 0 else ` + evmBalanceThen + ` end as balance) e
left join contract c on c.id = e.id and not c.id = any($3)
where e.deleted is not true`)

// entitiesAhead are the rows that evmEntitiesThen uses.
var entitiesAhead = []storage.Rows{
	storage.RowsOf("entity", `id = any($1::bigint[]) or evm_address = any($2::bytea[]) or alias = any($2::bytea[])`),
	storage.RowsOf("entity_history", `id in (select id from entity) and lower(timestamp_range) <= $4`),
	storage.RowsOf("contract", `id in (select id from entity) and not id = any($3::bigint[])`),
	{Table: "shot", Query: `select coalesce(max(consensus_timestamp), 0) as at from account_balance where account_id = $5 and consensus_timestamp > $6
  and consensus_timestamp <= $4`},
	{Table: "crypto_transfer", Query: `select entity_id, $4::bigint as consensus_timestamp, sum(amount) as amount, null::text as errata from crypto_transfer
  where entity_id in (select id from entity) and consensus_timestamp > (select at from shot) and consensus_timestamp <= $4
  and errata is distinct from 'DELETE' group by entity_id`},
}

// queueEntities queues a query for the entities at the given addresses that the snapshot does not have yet. It marks
// them as missing in the snapshot at once, and stores those that are found when the batch has run. If it does not run
// or fails, the snapshot must not be used. Code in the memory of all snapshots is not read again. For a past state, $4
// is its time, $5 the treasury, and $6 and $7 are the times before it after which balance snapshots are sought.
func (s *Snapshot) queueEntities(b *storage.Batch, addresses []ledger.EVMAddress) {
	ids, opaque, remembered := []int64{}, [][]byte{}, []int64{}
	for _, a := range addresses {
		if _, known := s.entities[a]; known {
			continue
		}
		s.entities[a] = nil
		if num, ok := a.Num(); ok {
			ids = append(ids, int64(s.db.SystemEntity(num)))
		} else {
			opaque = append(opaque, a[:])
		}
		if id := s.evm.memory.idOf(s.db.SystemEntity(0), a); id != 0 {
			if code := s.evm.memory.code(id); code != nil {
				s.codes[id] = code
				remembered = append(remembered, int64(id))
			}
		}
	}
	if len(ids)+len(opaque) == 0 {
		return
	}
	args := []any{ids, opaque, remembered}
	r := storage.Read{
		Select: evmEntityColumns, Page: evmEntitiesNow.Arrays(s.db).SQL, As: "w", Joins: evmEntitiesJoined,
	}
	if s.history.past {
		month := ledger.Timestamp(snapshotSpan)
		args = append(args, int64(s.history.until), int64(s.db.SystemEntity(entities.TreasuryNum)),
			int64(s.history.until-month), int64(s.history.until-2*month))
		r = storage.Read{SQL: evmEntitiesThen.Arrays(s.db).SQL, Ahead: entitiesAhead}
	}
	storage.Use(b, evmEntityRows.QueueRead(b, &r, args), s.keepEntities)
}

// keepEntities stores entities in the snapshot by the address that was asked for, and what cannot change, such as
// code, in the memory of all snapshots. Code that was not read, because it is in that memory, is set.
func (s *Snapshot) keepEntities(rows []*evmEntityRow) {
	for _, row := range rows {
		e := &row.Entity
		switch code, remembered := s.codes[e.ID]; {
		case remembered:
			e.Code = code
		case len(e.Code) > 0:
			e.Code = bytes.Clone(e.Code) // alone in its memory, as the caches count it
			s.evm.memory.keepCode(e.ID, e.Code)
		}
		asked := e.ID.LongZero()
		if row.asked != nil {
			asked = ledger.EVMAddress(row.asked)
			s.evm.memory.keepID(asked, e.ID)
		}
		s.entities[asked] = e
	}
}

// Entities returns the entity at each address, in order, or nil if there is none. It reads those from the database
// that the snapshot has not read before. A long-zero address refers to the entity with that number. It records the
// addresses, so that later snapshots read them ahead. It can fail with [ErrTooManyReads]. After an error all further
// calls fail.
func (s *Snapshot) Entities(ctx context.Context, addresses []ledger.EVMAddress) ([]*worldstate.Entity, error) {
	s.asked.addresses = append(s.asked.addresses, addresses...)
	b := s.db.NewBatch()
	s.queueEntities(b, addresses)
	if b.Len() > 0 || s.failed != nil {
		if err := s.run(ctx, b); err != nil {
			return nil, fmt.Errorf("reading entities: %w", err)
		}
	}
	return list.Map(addresses, func(a ledger.EVMAddress) *worldstate.Entity { return s.entities[a] }), nil
}

// HighestEntity reads the largest entity number of the database, also for a historical block. It takes one round trip,
// and can fail with [ErrTooManyReads].
func (s *Snapshot) HighestEntity(ctx context.Context) (int64, error) {
	if err := s.trip(); err != nil {
		return 0, err
	}
	id, err := storage.Values[ledger.EntityID]().One(ctx, s.db, "the highest id",
		`select coalesce(max(id), 0) from entity`)
	if err != nil {
		return 0, err
	}
	return id.Num(), nil
}

// Limits of the data that is recorded for prefetching.
const (
	mostFootprints   = 10_000
	mostAddresses    = 32  // per footprint
	mostSlots        = 128 // per contract
	mostSlotted      = 10_000
	mostKnownAddress = 100_000
)

// memory caches data between executions: the code of contracts, which never changes, and keys to prefetch. A nil
// memory caches nothing.
type memory struct {
	codes      *otter.Cache[ledger.EntityID, []byte]
	ids        *otter.Cache[ledger.EVMAddress, ledger.EntityID]
	slots      *otter.Cache[ledger.EntityID, *slotList]
	footprints *otter.Cache[footprintKey, []ledger.EVMAddress]
}

// footprintKey identifies a function of a contract.
type footprintKey struct {
	callee   ledger.EVMAddress
	selector [4]byte
}

// footprint contains the keys that an execution read.
type footprint struct {
	addresses []ledger.EVMAddress
	slots     []slotKey
}

// slotList contains the slots of a contract that were read, newest last.
type slotList struct {
	mu    sync.Mutex
	slots []slotKey
}

// newMemory returns a memory with a capacity for code in bytes, or nil for 0. A nil memory is valid and remembers
// nothing. Goroutines can share it.
func newMemory(codeBytes uint64) *memory {
	if codeBytes == 0 {
		return nil
	}
	return &memory{
		codes: otter.Must(&otter.Options[ledger.EntityID, []byte]{
			MaximumWeight: codeBytes, Weigher: func(_ ledger.EntityID, code []byte) uint32 {
				return uint32(len(code))
			},
		}),
		ids:        otter.Must(&otter.Options[ledger.EVMAddress, ledger.EntityID]{MaximumSize: mostKnownAddress}),
		slots:      otter.Must(&otter.Options[ledger.EntityID, *slotList]{MaximumSize: mostSlotted}),
		footprints: otter.Must(&otter.Options[footprintKey, []ledger.EVMAddress]{MaximumSize: mostFootprints}),
	}
}

// code returns the cached code of a contract, or nil. Callers must not change it. m may be nil.
func (m *memory) code(id ledger.EntityID) []byte {
	if m == nil {
		return nil
	}
	code, _ := m.codes.GetIfPresent(id)
	return code
}

// keepCode caches the code of a contract, which cannot change, without copying it. m may be nil.
func (m *memory) keepCode(id ledger.EntityID, code []byte) {
	if m != nil {
		m.codes.Set(id, code)
	}
}

// idOf returns the entity last seen at an address, or the zero id. For a long-zero address it is base, which has the
// shard and realm of the network, with the number in the address, whether or not it exists. It may be outdated, so it
// is used for prefetching only.
func (m *memory) idOf(base ledger.EntityID, a ledger.EVMAddress) ledger.EntityID {
	if num, ok := a.Num(); ok {
		return base.WithNum(num)
	}
	if m == nil {
		return 0
	}
	id, _ := m.ids.GetIfPresent(a)
	return id
}

// keepID caches the entity with an EVM address, for prefetching. m may be nil.
func (m *memory) keepID(a ledger.EVMAddress, id ledger.EntityID) {
	if m != nil {
		m.ids.Set(a, id)
	}
}

// slotsOf returns a copy of the slots of a contract that earlier executions read. m may be nil.
func (m *memory) slotsOf(id ledger.EntityID) []slotKey {
	if m == nil {
		return nil
	}
	l, ok := m.slots.GetIfPresent(id)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.slots)
}

// footprint returns the addresses that earlier calls of a function read. Callers must not change the list. m may
// be nil.
func (m *memory) footprint(key footprintKey) []ledger.EVMAddress {
	if m == nil {
		return nil
	}
	addresses, _ := m.footprints.GetIfPresent(key)
	return addresses
}

// remember records the addresses and slots that an execution read, so that the next execution with the same key reads
// them ahead. Of too many addresses or slots the oldest are dropped. m may be nil. Calls can overlap: of two with the
// same key, the addresses of one can be lost.
func (m *memory) remember(key footprintKey, f footprint) {
	if m == nil {
		return
	}
	old := m.footprint(key)
	merged := old
	for _, a := range f.addresses {
		if !slices.Contains(merged, a) {
			merged = append(merged[:len(merged):len(merged)], a)
		}
	}
	if len(merged) > len(old) {
		m.footprints.Set(key, merged[max(0, len(merged)-mostAddresses):])
	}
	for _, s := range f.slots {
		l, ok := m.slots.GetIfPresent(s.contract)
		if !ok {
			l, _ = m.slots.SetIfAbsent(s.contract, &slotList{})
		}
		l.add(s)
	}
}

// add adds a slot that a call has used, for [memory.remember], unless the list has it. If there are more than
// mostSlots, the oldest is dropped. It locks l: calls can overlap.
func (l *slotList) add(s slotKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.slots, s) {
		return
	}
	l.slots = append(l.slots, s)
	if n := len(l.slots); n > mostSlots {
		l.slots = slices.Clone(l.slots[n-mostSlots:])
	}
}

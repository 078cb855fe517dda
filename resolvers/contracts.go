package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

var contractList = ofNumber("contracts", func(c *ledger.Contract) int64 { return int64(c.EntityID) })

// slotList returns the description of the list of a contract's storage, now or, with atTime, at a time: its order and
// its cursors. It reads nothing. The two order slots in different ways, so that the cursors of one are refused by the
// other.
func slotList(atTime bool) listOf[ledger.ContractState] {
	kind := "slots"
	if atTime {
		kind = "slots at a time"
	}
	return listOf[ledger.ContractState]{kind, 1, func(s *ledger.ContractState) relay.Key {
		return relay.Key{transactions.SlotKey(s.Slot, atTime)}
	}}
}

// contractEntityID returns the id of a contract, as a function for [list.Map].
func contractEntityID(c *ledger.Contract) ledger.EntityID { return c.EntityID }

// ContractState resolves Contract.state. It queues a read in the batch of q: a page of the storage slots of each
// contract, ordered by slot, now, at a time, or at the moment of ctx. Invalid page arguments, and slots in the filter
// that are empty or have more than 32 bytes, are BAD_USER_INPUT. Only current, unfiltered lists have a totalCount.
func (fields) ContractState(
	ctx context.Context, q rowplan.Request, of []*ledger.Contract, args graph.ContractStateArgs,
) (
	rowplan.Results[*relay.ContractStateConnection], error,
) {
	if err := checkSlots(args.Filter); err != nil {
		return nil, err
	}
	if m := ledger.MomentOf(ctx); m != nil && args.At == nil {
		args.At = &ledger.TimestampFilter{Lte: &m.At}
	}
	countable := args.At == nil && unfiltered(args.Filter)
	return slotList(args.At != nil).below(ctx, q, args.Order, args.Args,
		countable, rowsOf(list.Map(of, contractEntityID), args.Filter, statesAt(args.At)))
}

// statesAt returns the function that queues reading the storage of contracts at a time, or the current one if at is
// nil.
func statesAt(
	at *ledger.TimestampFilter,
) queueList[ledger.EntityID, ledger.ContractStateFilter, ledger.ContractState] {
	return func(b *storage.Batch, ids []ledger.EntityID, f ledger.ContractStateFilter, p storage.Page,
	) storage.Result[[][]*ledger.ContractState] {
		return transactions.QueueContractStates(b, ids, f, at, p)
	}
}

// Contracts resolves Query.contracts. It reads a page of contracts, including deleted ones, ordered by id, after it
// has looked up the addresses in the filter, one statement each. An address that nothing live has matches nothing.
// Invalid page arguments are BAD_USER_INPUT. Unfiltered lists have an estimated totalCount.
func (r queries) Contracts(ctx context.Context, args graph.QueryContractsArgs) (*relay.ContractConnection, error) {
	f := args.Filter
	c, err := contractList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.Contract, error) {
		ids := f.ID
		if f.Contracts != nil {
			var err error
			if ids, err = r.withContracts(ctx, f.ID, f.Contracts...); err != nil {
				return nil, err
			}
		}
		return entities.Contracts(ctx, r.db, ids, onlyIDs(ctx), p)
	})
	return estimated(r.Resolver, c, f.ID == nil && f.Contracts == nil, entities.CountContracts), err
}

// ContractState resolves Query.contractState. It reads a page of the storage slots of a contract, now or at a time,
// after it has looked up its address. The list of a contract that does not exist is empty. Invalid page arguments, and
// slots in the filter that are empty or have more than 32 bytes, are BAD_USER_INPUT. Only current, unfiltered lists
// have a totalCount.
func (r queries) ContractState(
	ctx context.Context, args graph.QueryContractStateArgs,
) (*relay.ContractStateConnection, error) {
	if err := checkSlots(args.Filter); err != nil {
		return nil, err
	}
	id, err := r.callee(ctx, args.Contract.AccountRef())
	if err != nil {
		return nil, err
	}
	l := slotList(args.At != nil)
	countable := args.At == nil && unfiltered(args.Filter)
	read := rowsOf([]ledger.EntityID{id.V}, args.Filter, statesAt(args.At))
	if !id.Valid {
		read = func(_ *storage.Batch, _ storage.Page) (storage.Result[[][]*ledger.ContractState], error) {
			return storage.Known(make([][]*ledger.ContractState, 1)), nil
		}
	}
	return rootList(ctx, r.Resolver, l, args.Order, args.Args, countable, read)
}

// maxWord is the size of slots and topics in bytes.
const maxWord = 32

// checkWords fails with BAD_USER_INPUT if one of the values is empty or has more than 32 bytes, the size of a slot or
// topic, which what names. Nil values are left out.
func checkWords(what string, list ...[]byte) error {
	for _, b := range list {
		if b != nil && (len(b) == 0 || len(b) > maxWord) {
			return fault.Input("a %s has 1 to %d bytes, not %d", what, maxWord, len(b))
		}
	}
	return nil
}

// checkSlots fails with BAD_USER_INPUT if a filter has a storage slot that is empty or has more than 32 bytes.
func checkSlots(f ledger.ContractStateFilter) error {
	if f.Slot == nil {
		return nil
	}
	s := f.Slot
	return checkWords("slot", append([][]byte{s.Eq, s.Gt, s.Gte, s.Lt, s.Lte}, s.In...)...)
}

// withContracts returns a copy of f, which can be nil, with the ids of contracts added to those that in lists. It
// reads the ids of addresses, one statement each. Addresses that no live contract or account has add nothing; if in
// stays empty, the filter matches nothing. The filter beside an error must not be used.
func (r *Resolver) withContracts(
	ctx context.Context, f *ledger.EntityIDFilter, contracts ...ledger.ContractRef,
) (*ledger.EntityIDFilter, error) {
	ids, err := entities.ResolveContracts(ctx, r.db, contracts)
	return withIDs(f, ids...), err
}

// withIDs returns a copy of f, which can be nil, with more ids added to those that in lists. The other conditions of f
// stay, and must match too. If in stays empty, the filter matches nothing. It does not change f.
func withIDs(f *ledger.EntityIDFilter, more ...ledger.EntityID) *ledger.EntityIDFilter {
	ids := ledger.EntityIDFilter{}
	if f != nil {
		ids = *f
	}
	ids.In = append(append([]ledger.EntityID{}, ids.In...), more...)
	return &ids
}

// The lists of hooks and their storage.
var (
	hookList     = ofNumber("hooks", func(h *ledger.Hook) int64 { return h.HookID })
	hookSlotList = listOf[ledger.HookSlot]{"hook storage", 1, func(s *ledger.HookSlot) relay.Key {
		return relay.Key{s.Key}
	}}
)

// HookSlotHook resolves HookSlot.hook. It queues a read in the batch of q: the hook of each slot, nil if it does not
// exist.
func (fields) HookSlotHook(
	_ context.Context, q rowplan.Request, of []*ledger.HookSlot,
) (rowplan.Results[*ledger.Hook], error) {
	hooks := list.Map(of, func(s *ledger.HookSlot) ledger.Element {
		return ledger.Element{Entity: s.OwnerID, Number: s.HookID}
	})
	return entities.QueueHooksByID(loading.BatchOf(q), hooks), nil
}

// HookStorage resolves Hook.storage. It queues a read in the batch of q: a page of the storage slots of each hook,
// ordered by key, now or at a time. Invalid page arguments are BAD_USER_INPUT. Only current, unfiltered lists have a
// totalCount. With an error, the function that it returns must not be called.
func (fields) HookStorage(ctx context.Context, q rowplan.Request, of []*ledger.Hook, args graph.HookStorageArgs) (
	rowplan.Results[*relay.HookSlotConnection], error,
) {
	hooks := list.Map(of, func(h *ledger.Hook) ledger.Element {
		return ledger.Element{Entity: h.OwnerID, Number: h.HookID}
	})
	countable := args.At == nil && unfiltered(args.Filter)
	get, err := hookSlotList.below(ctx, q, args.Order, args.Args, countable,
		rowsOf(hooks, args.Filter, slotsAt(args.At)))
	return func() ([]*relay.HookSlotConnection, error) {
		got, err := get()
		out := make([]*relay.HookSlotConnection, len(got))
		for i, c := range got {
			out[i] = hookSlots(hooks[i], c)
		}
		return out, err
	}, err
}

// slotsAt returns the function that queues reading the storage of hooks at a time, or the current one if at is nil.
func slotsAt(at *ledger.TimestampFilter) queueList[ledger.Element, ledger.HookSlotFilter, ledger.HookSlot] {
	return func(b *storage.Batch, hooks []ledger.Element, f ledger.HookSlotFilter, p storage.Page,
	) storage.Result[[][]*ledger.HookSlot] {
		return entities.QueueHookSlots(b, hooks, f, at, p)
	}
}

// hookSlots returns c, a page of the storage slots of the hook of, with the owner and the number of the hook, for
// Hook.storage and Query.hookStorage. It copies c.
func hookSlots(of ledger.Element, c *relay.Connection[ledger.HookSlot]) *relay.HookSlotConnection {
	return &relay.HookSlotConnection{Connection: *c, OwnerID: of.Entity, HookID: of.Number}
}

// Hook resolves Query.hook. It reads a hook of an account, deleted or not, after it has looked up the account; nil if
// one of them does not exist.
func (r queries) Hook(ctx context.Context, args graph.QueryHookArgs) (*ledger.Hook, error) {
	id, err := entities.ResolveAccount(ctx, r.db, args.Owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	return storage.ReadOne(ctx, r.db, "hook", ledger.Element{Entity: id.V, Number: args.HookID},
		entities.QueueHooksByID)
}

// Hooks resolves Query.hooks. It reads a page of the hooks of an account, also deleted ones, ordered by number, after
// it has looked up the account; nil if no account has the alias or address. Invalid page arguments are BAD_USER_INPUT.
// Unfiltered lists have a totalCount.
func (r queries) Hooks(ctx context.Context, args graph.QueryHooksArgs) (*relay.HookConnection, error) {
	id, err := entities.ResolveAccount(ctx, r.db, args.Owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	return rootList(ctx, r.Resolver, hookList, args.Order, args.Args, unfiltered(args.Filter),
		rowsOf([]ledger.EntityID{id.V}, args.Filter, entities.QueueHooks))
}

// HookStorage resolves Query.hookStorage. It reads a page of the storage slots of a hook, which need not exist, now or
// at a time, after it has looked up the account. It returns nil if no account has the alias or address. Invalid page
// arguments are BAD_USER_INPUT. Only current, unfiltered lists have a totalCount.
func (r queries) HookStorage(ctx context.Context, args graph.QueryHookStorageArgs) (*relay.HookSlotConnection, error) {
	id, err := entities.ResolveAccount(ctx, r.db, args.Owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	of := ledger.Element{Entity: id.V, Number: args.HookID}
	countable := args.At == nil && unfiltered(args.Filter)
	c, err := rootList(ctx, r.Resolver, hookSlotList, args.Order, args.Args, countable,
		rowsOf([]ledger.Element{of}, args.Filter, slotsAt(args.At)))
	if err != nil {
		return nil, err
	}
	return hookSlots(of, c), nil
}

// AccountHooks resolves Account.hooks. It queues a read in the batch of q: a page of the hooks of each account, also
// deleted ones, ordered by number. Invalid page arguments are BAD_USER_INPUT.
func (fields) AccountHooks(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountHooksArgs,
) (rowplan.Results[*relay.Connection[ledger.Hook]], error) {
	return below(ctx, q, hookList, args, accountIDs(of), entities.QueueHooks)
}

// ContractBytecode resolves Contract.bytecode. It queues a read in the batch of q: the init code of each contract in
// hex, from its row or from its file; "0x" if it is unknown.
func (fields) ContractBytecode(_ context.Context, q rowplan.Request, of []*ledger.Contract) (
	rowplan.Results[string], error,
) {
	return entities.QueueBytecodes(loading.BatchOf(q), of), nil
}

// ContractRuntimeBytecode resolves Contract.runtimeBytecode. It queues a read in the batch of q: the code that each
// contract runs, empty if it is unknown.
func (fields) ContractRuntimeBytecode(_ context.Context, q rowplan.Request, of []*ledger.Contract) (
	rowplan.Results[[]byte], error,
) {
	return entities.QueueRuntimeBytecodes(loading.BatchOf(q), list.Map(of, contractEntityID)), nil
}

// Contract resolves Query.contract. It reads a contract, deleted or not, by id or address, now or at a time; nil if it
// does not exist, or if several have the address now. Other places of the operation use the current one too.
func (r queries) Contract(ctx context.Context, args graph.QueryContractArgs) (*ledger.Contract, error) {
	c, err := entities.Contract(ctx, r.db, args.ID, args.At)
	if c != nil && args.At == nil {
		loading.Prime(ctx, contractType, c.EntityID, c)
	}
	return c, err
}

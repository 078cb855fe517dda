package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// The lists of hooks and their storage.
var (
	hookList     = listOf[ledger.Hook]{"hooks", 1, func(h *ledger.Hook) relay.Key { return relay.Key{h.HookID} }}
	hookSlotList = listOf[ledger.HookSlot]{"hook storage", 1, func(s *ledger.HookSlot) relay.Key { return relay.Key{s.Key} }}
)

// HookSlotHook reads the hooks of slots.
func (fields) HookSlotHook(_ context.Context, q rowplan.Request, of []*ledger.HookSlot) (rowplan.Results[*ledger.Hook], error) {
	return read(q, of, func(s *ledger.HookSlot) entities.HookRef {
		return entities.HookRef{OwnerID: s.OwnerID, HookID: s.HookID}
	},
		entities.QueueHooksByID)
}

// HookStorage reads the storage of hooks.
func (fields) HookStorage(ctx context.Context, q rowplan.Request, of []*ledger.Hook, args graph.HookStorageArgs) (
	rowplan.Results[*relay.HookSlotConnection], error,
) {
	hooks := list.Map(of, func(h *ledger.Hook) entities.HookRef { return entities.HookRef{OwnerID: h.OwnerID, HookID: h.HookID} })
	countable := args.At == nil && unfiltered(args.Filter)
	get, err := hookSlotList.below(ctx, q, args.Order, args.Args, countable, rowsOf(hooks, args.Filter, slotsAt(args.At)))
	return func() ([]*relay.HookSlotConnection, error) {
		got, err := get()
		out := make([]*relay.HookSlotConnection, len(got))
		for i, c := range got {
			out[i] = hookSlots(hooks[i], c)
		}
		return out, err
	}, err
}

// slotsAt returns the function that queues reading the storage of hooks at a time, or now.
func slotsAt(at *ledger.TimestampFilter) queueList[entities.HookRef, ledger.HookSlotFilter, ledger.HookSlot] {
	return func(b *storage.Batch, hooks []entities.HookRef, f *ledger.HookSlotFilter, p storage.Page, done func([][]*ledger.HookSlot)) {
		entities.QueueHookSlots(b, hooks, f, at, p, done)
	}
}

// hookSlots returns a page of the storage of a hook.
func hookSlots(of entities.HookRef, c *relay.Connection[ledger.HookSlot]) *relay.HookSlotConnection {
	return &relay.HookSlotConnection{Connection: *c, OwnerID: of.OwnerID, HookID: of.HookID}
}

// Hook returns a hook of an account.
func (r queries) Hook(ctx context.Context, args graph.QueryHookArgs) (*ledger.Hook, error) {
	id, err := entities.ResolveAccount(ctx, r.db, args.Owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	return storage.ReadOne(ctx, r.db, "hook", entities.HookRef{OwnerID: id.V, HookID: args.HookID}, entities.QueueHooksByID)
}

// Hooks returns a page of the hooks of an account, or nil if the account does not exist.
func (r queries) Hooks(ctx context.Context, args graph.QueryHooksArgs) (*relay.HookConnection, error) {
	id, err := entities.ResolveAccount(ctx, r.db, args.Owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	return rootList(ctx, r.Resolver, hookList, args.Order, args.Args, unfiltered(args.Filter), rowsOf([]ledger.EntityID{id.V}, args.Filter, entities.QueueHooks))
}

// HookStorage returns a page of the storage of a hook, which need not exist. It returns nil if the account does not exist.
func (r queries) HookStorage(ctx context.Context, args graph.QueryHookStorageArgs) (*relay.HookSlotConnection, error) {
	id, err := entities.ResolveAccount(ctx, r.db, args.Owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	of := entities.HookRef{OwnerID: id.V, HookID: args.HookID}
	countable := args.At == nil && unfiltered(args.Filter)
	c, err := rootList(ctx, r.Resolver, hookSlotList, args.Order, args.Args, countable, rowsOf([]entities.HookRef{of}, args.Filter, slotsAt(args.At)))
	if err != nil {
		return nil, err
	}
	return hookSlots(of, c), nil
}

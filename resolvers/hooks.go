package resolvers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// hookType is what stands in the global ids of hooks, hookSlotKind in the cursors of their storage.
const (
	hookType     = "Hook"
	hookSlotKind = "hook storage"
)

// hookRelations are the arrows to and from hooks.
type hookRelations struct {
	list        *accountList[ledger.Hook, ledger.HookFilter]
	hooks       *rowplan.Relation[*ledger.Account, *relay.HookConnection]
	owner       *rowplan.Relation[*ledger.Hook, *ledger.Account]
	contract    *rowplan.Relation[*ledger.Hook, *ledger.Contract]
	storage     *rowplan.Relation[*ledger.Hook, *relay.HookSlotConnection]
	hook        *rowplan.Relation[*ledger.HookSlot, *ledger.Hook]
	transaction *rowplan.Relation[*ledger.HookSlot, *ledger.Transaction]
}

func newHookRelations() hookRelations {
	list := &accountList[ledger.Hook, ledger.HookFilter]{
		kind: "hooks", columns: 1,
		key: func(h *ledger.Hook) relay.Key { return relay.Key{h.HookID} },
		queue: func(b *storage.Batch, accounts []ledger.EntityID, f *ledger.HookFilter, p storage.Page, done func([][]*ledger.Hook)) {
			entities.QueueHooks(b, accounts, f, p, done)
		},
	}
	return hookRelations{
		list: list, hooks: list.relation(),
		owner:    accountOf(func(h *ledger.Hook) ledger.EntityID { return h.OwnerID }),
		contract: contractOf(func(h *ledger.Hook) ledger.EntityID { return h.ContractID }),
		storage:  queued(queueHookStorage),
		hook: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.HookSlot, _ rowplan.Args, done func([]*ledger.Hook)) error {
			entities.QueueHooksByID(b, keys(parents, func(s *ledger.HookSlot) entities.HookRef {
				return entities.HookRef{OwnerID: s.OwnerID, HookID: s.HookID}
			}), done)
			return nil
		}),
		transaction: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.HookSlot, _ rowplan.Args, done func([]*ledger.Transaction)) error {
			transactions.QueueTransactionsAt(b, keys(parents, func(s *ledger.HookSlot) ledger.Timestamp { return s.Timestamp }), done)
			return nil
		}),
	}
}

func (r *hookRelations) add(t *rowplan.Tables) {
	hooks := func() *rowplan.Object[*relay.HookConnection] { return t.HookConnection }
	slots := func() *rowplan.Object[*relay.HookSlotConnection] { return t.HookSlotConnection }
	t.Account.Add("hooks", rowplan.RelatedOne(r.hooks, hooks))
	t.Hook.Add("contract", rowplan.RelatedOne(r.contract, func() *rowplan.Object[*ledger.Contract] { return t.Contract }))
	t.Hook.Add("owner", rowplan.RelatedOne(r.owner, func() *rowplan.Object[*ledger.Account] { return t.Account }))
	t.Hook.Add("storage", rowplan.RelatedOne(r.storage, slots))
	t.HookSlot.Add("hook", rowplan.RelatedOne(r.hook, func() *rowplan.Object[*ledger.Hook] { return t.Hook }))
	t.HookSlot.Add("transaction", rowplan.RelatedOne(r.transaction, func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }))
}

func hookSlotKey(s *ledger.HookSlot) relay.Key { return relay.Key{s.Key} }

// hookSlots makes a page of a hook's storage.
func hookSlots(of entities.HookRef, p relay.Page, rows []*ledger.HookSlot) *relay.HookSlotConnection {
	return &relay.HookSlotConnection{Connection: *relay.NewConnection(hookSlotKind, p, rows, hookSlotKey), OwnerID: of.OwnerID, HookID: of.HookID}
}

func queueHookStorage(ctx context.Context, b *storage.Batch, parents []*ledger.Hook, args rowplan.Args, done func([]*relay.HookSlotConnection)) error {
	p, err := pageArgs(ctx, args, hookSlotKind, 1)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.HookSlotFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	at, err := filterArg[ledger.TimestampFilter](ctx, args, "at")
	if err != nil {
		return err
	}
	hooks := keys(parents, func(h *ledger.Hook) entities.HookRef { return entities.HookRef{OwnerID: h.OwnerID, HookID: h.HookID} })
	entities.QueueHookSlots(b, hooks, f, at, storagePage(p), func(rows [][]*ledger.HookSlot) {
		out := make([]*relay.HookSlotConnection, len(rows))
		for i := range rows {
			out[i] = hookSlots(hooks[i], p, rows[i])
		}
		done(out)
	})
	return nil
}

// hookStorage reads what a hook of one account has stored. The hook need not exist.
func (r *Resolver) hookStorage(ctx context.Context, owner ledger.AccountRef, hook int64, at *ledger.TimestampFilter, f *ledger.HookSlotFilter, order relay.Order, args relay.Args) (*relay.HookSlotConnection, error) {
	p, sp, err := r.page(ctx, hookSlotKind, 1, order, args)
	if err != nil {
		return nil, err
	}
	id, err := entities.ResolveAccount(ctx, r.db, owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	of := entities.HookRef{OwnerID: id.V, HookID: hook}
	rows, err := firstOf(ctx, r.db, func(b *storage.Batch, done func([][]*ledger.HookSlot)) {
		entities.QueueHookSlots(b, []entities.HookRef{of}, f, at, sp, done)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the storage of hook %d of %s: %w", hook, id.V, err)
	}
	return hookSlots(of, p, rows), nil
}

// hook reads one hook of an account.
func (r *Resolver) hook(ctx context.Context, owner ledger.AccountRef, hook int64) (*ledger.Hook, error) {
	id, err := entities.ResolveAccount(ctx, r.db, owner)
	if err != nil || !id.Valid {
		return nil, err
	}
	return entities.Hook(ctx, r.db, entities.HookRef{OwnerID: id.V, HookID: hook})
}

// hookID is the global id of a hook: its owner and its number.
func hookID(h *ledger.Hook) string {
	return relay.ID(hookType, h.OwnerID.String()+"/"+strconv.FormatInt(h.HookID, 10))
}

// hookByName reads a hook by what its global id says.
func (r *Resolver) hookByName(ctx context.Context, name string) (relay.Node, error) {
	owner, number, _ := strings.Cut(name, "/")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return nil, fault.Input("%q names no hook", name)
	}
	return byEntityID(owner, func(id ledger.EntityID) (*ledger.Hook, error) {
		return entities.Hook(ctx, r.db, entities.HookRef{OwnerID: id, HookID: n})
	})
}

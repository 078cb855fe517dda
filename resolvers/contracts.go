package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

var contractList = listOf[ledger.Contract]{"contracts", 1, func(c *ledger.Contract) relay.Key { return relay.Key{int64(c.EntityID)} }}

// slotList is the list of a contract's storage, now or at a time.
func slotList(atTime bool) listOf[ledger.ContractState] {
	kind := "slots"
	if atTime {
		kind = "slots at a time"
	}
	return listOf[ledger.ContractState]{kind, 1, func(s *ledger.ContractState) relay.Key { return relay.Key{transactions.SlotKey(s.Slot, atTime)} }}
}

func contractEntityID(c *ledger.Contract) ledger.EntityID { return c.EntityID }

// ContractState reads the storage of contracts.
func (fields) ContractState(ctx context.Context, q rowplan.Request, of []*ledger.Contract, args graph.ContractStateArgs) (
	rowplan.Results[*relay.ContractStateConnection], error,
) {
	if err := checkSlots(args.Filter); err != nil {
		return nil, err
	}
	countable := args.At == nil && unfiltered(args.Filter)
	return slotList(args.At != nil).below(ctx, q, args.Order, args.Args, countable, rowsOf(list.Map(of, contractEntityID), args.Filter, statesAt(args.At)))
}

// statesAt returns the function that queues reading the storage of contracts at a time, or now.
func statesAt(at *ledger.TimestampFilter) queueList[ledger.EntityID, ledger.ContractStateFilter, ledger.ContractState] {
	return func(b *storage.Batch, ids []ledger.EntityID, f *ledger.ContractStateFilter, p storage.Page, done func([][]*ledger.ContractState)) {
		transactions.QueueContractStates(b, ids, f, at, p, done)
	}
}

// Contracts returns a page of contracts.
func (r queries) Contracts(ctx context.Context, args graph.QueryContractsArgs) (*relay.ContractConnection, error) {
	f := args.Filter
	if f == nil {
		f = &ledger.ContractFilter{}
	}
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

// ContractState returns a page of the storage of a contract.
func (r queries) ContractState(ctx context.Context, args graph.QueryContractStateArgs) (*relay.ContractStateConnection, error) {
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
		read = func(_ *storage.Batch, _ storage.Page, done func([][]*ledger.ContractState)) error {
			done(make([][]*ledger.ContractState, 1))
			return nil
		}
	}
	return rootList(ctx, r.Resolver, l, args.Order, args.Args, countable, read)
}

// maxWord is the size of slots and topics in bytes.
const maxWord = 32

// checkWords rejects values that are too long for a slot or topic.
func checkWords(what string, list ...[]byte) error {
	for _, b := range list {
		if b != nil && (len(b) == 0 || len(b) > maxWord) {
			return fault.Input("a %s has 1 to %d bytes, not %d", what, maxWord, len(b))
		}
	}
	return nil
}

func checkSlots(f *ledger.ContractStateFilter) error {
	if f == nil || f.Slot == nil {
		return nil
	}
	s := f.Slot
	return checkWords("slot", append([][]byte{s.Eq, s.Gt, s.Gte, s.Lt, s.Lte}, s.In...)...)
}

// withContracts adds the ids of contracts to the alternatives of a filter.
func (r *Resolver) withContracts(ctx context.Context, f *ledger.EntityIDFilter, contracts ...ledger.ContractRef) (*ledger.EntityIDFilter, error) {
	ids, err := entities.ResolveContracts(ctx, r.db, contracts)
	return withIDs(f, ids...), err
}

// withIDs adds ids to the alternatives of a filter.
func withIDs(f *ledger.EntityIDFilter, more ...ledger.EntityID) *ledger.EntityIDFilter {
	ids := ledger.EntityIDFilter{}
	if f != nil {
		ids = *f
	}
	ids.In = append(append([]ledger.EntityID{}, ids.In...), more...)
	return &ids
}

package resolvers

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// contractRelations are the arrows from and to contracts.
type contractRelations struct {
	account          *rowplan.Relation[*ledger.Contract, *ledger.Account]
	autoRenewAccount *rowplan.Relation[*ledger.Contract, *ledger.Account]
	bytecode         *rowplan.Relation[*ledger.Contract, string]
	logs             *rowplan.Relation[*ledger.Contract, *relay.ContractLogConnection]
	obtainer         *rowplan.Relation[*ledger.Contract, *ledger.Account]
	results          *rowplan.Relation[*ledger.Contract, *relay.ContractResultConnection]
	runtimeBytecode  *rowplan.Relation[*ledger.Contract, []byte]
	state            *rowplan.Relation[*ledger.Contract, *relay.ContractStateConnection]

	ofAccount *rowplan.Relation[*ledger.Account, *ledger.Contract]
	ofResult  *rowplan.Relation[*ledger.ContractResult, *ledger.Contract]
}

// contractOf is the relation from a row to a contract that it names; what it names may be no contract.
func contractOf[T any](id func(T) ledger.EntityID) *rowplan.Relation[T, *ledger.Contract] {
	return queued(func(_ context.Context, b *storage.Batch, parents []T, _ rowplan.Args, done func([]*ledger.Contract)) error {
		entities.QueueContracts(b, keys(parents, id), done)
		return nil
	})
}

func idOfContract(c *ledger.Contract) ledger.EntityID { return c.EntityID }

func newContractRelations() contractRelations {
	return contractRelations{
		account:          accountOf(idOfContract),
		autoRenewAccount: accountOf(func(c *ledger.Contract) ledger.EntityID { return c.AutoRenewAccountID }),
		bytecode: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Contract, _ rowplan.Args, done func([]string)) error {
			entities.QueueBytecodes(b, parents, done)
			return nil
		}),
		logs: queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.Contract, args rowplan.Args, done func([]*relay.ContractLogConnection)) error {
			return queueLogs(ctx, args, false, done, func(f *ledger.ContractLogFilter, p storage.Page, got func([][]*ledger.ContractLog)) {
				transactions.QueueLogsOfContracts(b, keys(parents, idOfContract), f, p, got)
			})
		}),
		obtainer: accountOf(func(c *ledger.Contract) ledger.EntityID { return c.ObtainerID }),
		results: queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.Contract, args rowplan.Args, done func([]*relay.ContractResultConnection)) error {
			return queueResults(ctx, args, done, func(f *ledger.ContractResultFilter, p storage.Page, got func([][]*ledger.ContractResult)) {
				transactions.QueueResultsOfContracts(b, keys(parents, idOfContract), f, p, got)
			})
		}),
		runtimeBytecode: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Contract, _ rowplan.Args, done func([][]byte)) error {
			entities.QueueRuntimeBytecodes(b, keys(parents, idOfContract), done)
			return nil
		}),
		state: queued(queueState),

		ofAccount: contractOf(func(a *ledger.Account) ledger.EntityID { return a.EntityID }),
		ofResult:  contractOf(func(r *ledger.ContractResult) ledger.EntityID { return r.ContractID }),
	}
}

func (r *contractRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	contract := func() *rowplan.Object[*ledger.Contract] { return t.Contract }
	t.Contract.Add("account", rowplan.RelatedOne(r.account, account))
	t.Contract.Add("autoRenewAccount", rowplan.RelatedOne(r.autoRenewAccount, account))
	t.Contract.Add("bytecode", rowplan.RelatedScalar(r.bytecode, scalar.AppendString))
	t.Contract.Add("logs", rowplan.RelatedOne(r.logs, func() *rowplan.Object[*relay.ContractLogConnection] { return t.ContractLogConnection }))
	t.Contract.Add("obtainer", rowplan.RelatedOne(r.obtainer, account))
	t.Contract.Add("results", rowplan.RelatedOne(r.results, func() *rowplan.Object[*relay.ContractResultConnection] { return t.ContractResultConnection }))
	t.Contract.Add("runtimeBytecode", rowplan.RelatedScalar(r.runtimeBytecode, scalar.AppendHex))
	t.Contract.Add("state", rowplan.RelatedOne(r.state, func() *rowplan.Object[*relay.ContractStateConnection] { return t.ContractStateConnection }))
	t.Account.Add("contract", rowplan.RelatedOne(r.ofAccount, contract))
	t.ContractResult.Add("contract", rowplan.RelatedOne(r.ofResult, contract))
}

func contractKey(c *ledger.Contract) relay.Key { return relay.Key{int64(c.EntityID)} }

// slotKey is the place of a slot in a list of storage, now or at a time.
func slotKey(atTime bool) (kind string, key func(*ledger.ContractState) relay.Key) {
	kind = slotKind
	if atTime {
		kind = slotAtKind
	}
	return kind, func(s *ledger.ContractState) relay.Key { return relay.Key{transactions.SlotKey(s.Slot, atTime)} }
}

func queueState(ctx context.Context, b *storage.Batch, parents []*ledger.Contract, args rowplan.Args, done func([]*relay.ContractStateConnection)) error {
	at, err := filterArg[ledger.TimestampFilter](ctx, args, "at")
	if err != nil {
		return err
	}
	kind, key := slotKey(at != nil)
	p, err := pageArgs(ctx, args, kind, 1)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.ContractStateFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	if err := checkSlots(f); err != nil {
		return err
	}
	transactions.QueueContractStates(b, keys(parents, idOfContract), f, at, storagePage(p), func(rows [][]*ledger.ContractState) {
		done(connections(kind, p, rows, key))
	})
	return nil
}

// maxWord is how many bytes a slot and a topic have.
const maxWord = 32

// checkWords refuses what is no slot or topic.
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

// contracts reads a page of contracts.
func (r *Resolver) contracts(ctx context.Context, f *ledger.ContractFilter, p relay.Page, sp storage.Page) (*relay.ContractConnection, error) {
	var ids *ledger.EntityIDFilter
	if f != nil {
		ids = f.ID
		if f.Contracts != nil {
			named, err := entities.ResolveContracts(ctx, r.db, f.Contracts)
			if err != nil {
				return nil, err
			}
			ids = withIDs(ids, named)
		}
	}
	rows, err := entities.Contracts(ctx, r.db, ids, sp)
	if err != nil {
		return nil, err
	}
	return estimated(r, relay.NewConnection(contractKind, p, rows, contractKey), f == nil || f.ID == nil && f.Contracts == nil, entities.CountContracts), nil
}

// withIDs adds ids to the alternatives of a filter.
func withIDs(f *ledger.EntityIDFilter, more []ledger.EntityID) *ledger.EntityIDFilter {
	ids := ledger.EntityIDFilter{}
	if f != nil {
		ids = *f
	}
	ids.In = append(append([]ledger.EntityID{}, ids.In...), more...)
	return &ids
}

// contractState reads a page of the storage of one contract.
func (r *Resolver) contractState(ctx context.Context, ref ledger.ContractRef, f *ledger.ContractStateFilter, at *ledger.TimestampFilter, order relay.Order, args relay.Args) (*relay.ContractStateConnection, error) {
	kind, key := slotKey(at != nil)
	p, sp, err := r.page(ctx, kind, 1, order, args)
	if err != nil {
		return nil, err
	}
	if err := checkSlots(f); err != nil {
		return nil, err
	}
	id, err := r.callee(ctx, ref.AccountRef())
	if err != nil {
		return nil, err
	}
	var rows []*ledger.ContractState
	if id.Valid {
		b := r.db.NewBatch()
		transactions.QueueContractStates(b, []ledger.EntityID{id.V}, f, at, sp, func(got [][]*ledger.ContractState) { rows = got[0] })
		if err := b.Run(ctx); err != nil {
			return nil, err
		}
	}
	return relay.NewConnection(kind, p, rows, key), nil
}

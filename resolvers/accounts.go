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

// maxTokensOfBalance bounds the tokens that one balance shows.
const maxTokensOfBalance = 1000

// accountRelations are the arrows from accounts and balances.
type accountRelations struct {
	autoRenewAccount *rowplan.Relation[*ledger.Account, *ledger.Account]
	stakedAccount    *rowplan.Relation[*ledger.Account, *ledger.Account]
	holdings         *rowplan.Relation[*ledger.Account, *ledger.Balance]
	transactions     *rowplan.Relation[*ledger.Account, *relay.TransactionConnection]
	holder           *rowplan.Relation[*ledger.Balance, *ledger.Account]
	tokens           *rowplan.Relation[*ledger.Balance, []*ledger.TokenBalance]
}

func newAccountRelations() accountRelations {
	return accountRelations{
		autoRenewAccount: accountOf(func(a *ledger.Account) ledger.EntityID { return a.AutoRenewAccountID }),
		stakedAccount:    accountOf(func(a *ledger.Account) ledger.EntityID { return a.StakedAccountID }),
		holdings:         &rowplan.Relation[*ledger.Account, *ledger.Balance]{Load: loadHoldings},
		transactions:     queued(queueAccountTransactions),
		holder:           accountOf(func(b *ledger.Balance) ledger.EntityID { return b.AccountID }),
		tokens:           queued(queueTokenBalances),
	}
}

func (r *accountRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	t.Account.Add("autoRenewAccount", rowplan.RelatedOne(r.autoRenewAccount, account))
	t.Account.Add("stakedAccount", rowplan.RelatedOne(r.stakedAccount, account))
	t.Account.Add("holdings", rowplan.RelatedOne(r.holdings, func() *rowplan.Object[*ledger.Balance] { return t.Balance }))
	t.Account.Add("transactions", rowplan.RelatedOne(r.transactions, func() *rowplan.Object[*relay.TransactionConnection] { return t.TransactionConnection }))
	t.Balance.Add("account", rowplan.RelatedOne(r.holder, account))
	t.Balance.Add("tokens", rowplan.RelatedMany(r.tokens, func() *rowplan.Object[*ledger.TokenBalance] { return t.TokenBalance }))
}

// loadHoldings gives what accounts hold; their rows know it already.
func loadHoldings(_ context.Context, _ rowplan.Batch, parents []*ledger.Account, args rowplan.Args) (func() ([]*ledger.Balance, error), error) {
	out := make([]*ledger.Balance, len(parents))
	if args["include"] != false {
		for i, a := range parents {
			out[i] = &a.Balance
		}
	}
	return func() ([]*ledger.Balance, error) { return out, nil }, nil
}

func queueTokenBalances(ctx context.Context, b *storage.Batch, parents []*ledger.Balance, args rowplan.Args, done func([][]*ledger.TokenBalance)) error {
	first, err := scalar.UnmarshalInt(ctx, args["first"])
	if err != nil {
		return err
	}
	if first < 0 || first > maxTokensOfBalance {
		return fault.Input("first must be between 0 and %d", maxTokensOfBalance)
	}
	entities.QueueTokenBalances(b, parents, int(first), args["order"] == string(relay.Desc), done)
	return nil
}

func queueAccountTransactions(ctx context.Context, b *storage.Batch, parents []*ledger.Account, args rowplan.Args, done func([]*relay.TransactionConnection)) error {
	p, err := pageArgs(ctx, args, transactionKind, 1)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.TransactionFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	if f != nil && f.Account != nil {
		return fault.Input("filter.account cannot be given here: the transactions are those of this account")
	}
	transactions.QueueAccountTransactions(b, keys(parents, func(a *ledger.Account) ledger.EntityID { return a.EntityID }), f, storagePage(p), func(rows [][]*ledger.Transaction) {
		done(connections(transactionKind, p, rows, transactionKey))
	})
	return nil
}

func accountKey(a *ledger.Account) relay.Key { return relay.Key{int64(a.EntityID)} }

func balanceKey(b *ledger.Balance) relay.Key { return relay.Key{int64(b.AccountID)} }

// account reads one account, as it is or as it was.
func (r *Resolver) account(ctx context.Context, ref ledger.AccountRef, at *ledger.TimestampFilter) (*ledger.Account, error) {
	id, err := entities.ResolveAccount(ctx, r.db, ref)
	if err != nil || !id.Valid {
		return nil, err
	}
	if at != nil {
		return entities.AccountAt(ctx, r.db, id.V, at, r.timestamp())
	}
	return entities.Account(ctx, r.db, id.V)
}

// balances reads a page of what accounts hold, now or at a snapshot.
func (r *Resolver) balances(ctx context.Context, f *ledger.BalanceFilter, at *ledger.TimestampFilter, p relay.Page) (*relay.BalanceConnection, error) {
	f, err := r.withAccount(ctx, f)
	if err != nil {
		return nil, err
	}
	if at == nil {
		rows, err := entities.Balances(ctx, r.db, f, storagePage(p))
		if err != nil {
			return nil, err
		}
		c := relay.NewConnection(balanceKind, p, rows, balanceKey)
		for _, b := range c.Nodes {
			if b.Timestamp.Valid && (!c.Timestamp.Valid || b.Timestamp.V > c.Timestamp.V) {
				c.Timestamp = b.Timestamp
			}
		}
		return c, nil
	}
	window, err := entities.SnapshotWindow(ctx, r.db, at, r.timestamp())
	if err != nil {
		return nil, err
	}
	var rows []*ledger.Balance
	if window.Valid {
		if rows, err = entities.BalancesAt(ctx, r.db, f, window.V, storagePage(p)); err != nil {
			return nil, err
		}
	}
	c := relay.NewConnection(balanceKind, p, rows, balanceKey)
	if len(c.Nodes) > 0 {
		c.Timestamp = ledger.Of(window.V.At)
	}
	return c, nil
}

// withAccount turns the condition on an account's name into one on its id.
func (r *Resolver) withAccount(ctx context.Context, f *ledger.BalanceFilter) (*ledger.BalanceFilter, error) {
	if f == nil || f.Account == nil {
		return f, nil
	}
	ids, err := r.withID(ctx, f.AccountID, *f.Account)
	if err != nil {
		return nil, err
	}
	copied := *f
	copied.AccountID = ids
	return &copied, nil
}

// withID adds the id of an account to the alternatives of a filter. An account that does not exist matches nothing.
func (r *Resolver) withID(ctx context.Context, f *ledger.EntityIDFilter, ref ledger.AccountRef) (*ledger.EntityIDFilter, error) {
	id, err := entities.ResolveAccount(ctx, r.db, ref)
	if err != nil {
		return nil, err
	}
	ids := ledger.EntityIDFilter{}
	if f != nil {
		ids = *f
	}
	ids.In = append([]ledger.EntityID{}, ids.In...)
	if id.Valid {
		ids.In = append(ids.In, id.V)
	}
	return &ids, nil
}

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
	"heliograph/resolvers/past"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// The lists of accounts and balances.
var (
	accountList = ofNumber("accounts", func(a *ledger.Account) int64 { return int64(a.EntityID) })
	balanceList = ofNumber("balances", func(b *ledger.Balance) int64 { return int64(b.AccountID) })
)

// accountEntityID returns the id of an account, as a function for [list.Map].
func accountEntityID(a *ledger.Account) ledger.EntityID { return a.EntityID }

// accountIDs returns the ids of accounts in their order, by which their fields are read.
func accountIDs(of []*ledger.Account) []ledger.EntityID { return list.Map(of, accountEntityID) }

// AccountTransactions resolves Account.transactions. It queues a read in the batch of q: a page of the transactions of
// each account, ordered by time. It can first read the planner's statistics. Invalid page arguments and a filter by
// account are BAD_USER_INPUT.
func (fields) AccountTransactions(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountTransactionsArgs,
) (
	rowplan.Results[*relay.TransactionConnection], error,
) {
	if args.Filter.Account != nil {
		return nil, fault.Input("filter.account cannot be given here: the transactions are those of this account")
	}
	countable := unfiltered(args.Filter)
	return transactionList.below(ctx, q, args.Order, args.Args, countable,
		func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.Transaction], error) {
			return transactions.QueueAccountTransactions(ctx, b, accountIDs(of), args.Filter, p)
		})
}

// MaxTokensOfBalance is the maximum number of tokens of one balance.
const MaxTokensOfBalance = 1000

// BalanceTokens resolves Balance.tokens. It queues a read in the batch of q: the first tokens of each balance, ordered
// by token id; at a past moment without their amounts, which [past.Fields.FillTokenBalances] adds. A negative number,
// or more than [MaxTokensOfBalance], is BAD_USER_INPUT.
func (fields) BalanceTokens(
	ctx context.Context, q rowplan.Request, of []*ledger.Balance, args graph.BalanceTokensArgs,
) (rowplan.Results[[]*ledger.TokenBalance], error) {
	if args.First < 0 || args.First > MaxTokensOfBalance {
		return nil, fault.Input("first must be between 0 and %d", MaxTokensOfBalance)
	}
	if ledger.MomentOf(ctx) != nil {
		return past.TokenBalances(q, of, args)
	}
	return entities.QueueTokenBalances(loading.BatchOf(q), of, int(args.First), args.Order == relay.Desc), nil
}

// accountByID are the relations of accounts that are read by the account's ID.
var accountByID = []string{
	"holdings.account", "holdings.tokens", "transactions", "outstandingAirdrops", "pendingAirdrops", "allowances",
	"receivedAllowances", "rewards", "contractResults", "hooks", "nfts",
	"nftAllowances", "receivedNFTAllowances", "schedules", "tokens", "transfers",
}

// onlyIDs reports whether the root list of ctx needs only the IDs of its rows, so that the statement need not read the
// rest. byID are the relations that are read by the IDs.
func onlyIDs(ctx context.Context, byID ...string) bool {
	return !hasOtherRows(rowplan.SelectionOf(ctx), append(byID, "__typename", "id", "entityId")...)
}

// Account resolves Query.account. It reads an account or contract by id, alias or EVM address; nil if it does not
// exist. By id, it reads its relations in the same round trip where they need nothing else. At a time, it looks up the
// alias or address, and reads the version and the balance snapshot of then.
func (r queries) Account(ctx context.Context, args graph.QueryAccountArgs) (*ledger.Account, error) {
	switch {
	case args.At != nil:
	case args.ID.Alias != nil || args.ID.Address.Valid:
		return entities.Account(ctx, r.db, args.ID)
	default:
		row := &ledger.Account{EntityID: args.ID.ID, Balance: ledger.Balance{AccountID: args.ID.ID}}
		return loading.LoadAhead(ctx, r.db, r.tables, accountType, args.ID.ID, row, accountByID,
			entities.QueueAccounts)
	}
	id, err := entities.ResolveAccount(ctx, r.db, args.ID)
	if err != nil || !id.Valid {
		return nil, err
	}
	return entities.AccountAt(ctx, r.db, id.V, args.At, r.timestamp())
}

// Accounts resolves Query.accounts. It reads a page of accounts and contracts in one statement, ordered by id. Invalid
// page arguments are BAD_USER_INPUT. Unfiltered lists have an estimated totalCount.
func (r queries) Accounts(ctx context.Context, args graph.QueryAccountsArgs) (*relay.AccountConnection, error) {
	c, err := accountList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.Account, error) {
		return entities.Accounts(ctx, r.db, args.Filter, args.HideSyntheticTreasury, onlyIDs(ctx, accountByID...), p)
	})
	return estimated(r.Resolver, c, unfiltered(args.Filter), entities.CountAccounts), err
}

// Balances resolves Query.balances. It reads a page of balances in tinybars, ordered by id, after it has looked up the
// account of the filter: the current ones, or those of the last snapshot that matches a time, which it looks up first.
// The timestamp of the connection is the newest of its balances, or that of the snapshot. Without a snapshot the list
// is empty. Invalid page arguments are BAD_USER_INPUT. Only current, unfiltered lists have a totalCount, which is
// estimated.
func (r queries) Balances(ctx context.Context, args graph.QueryBalancesArgs) (*relay.BalanceConnection, error) {
	p, _, err := balanceList.page(ctx, args.Order, args.Args)
	if err != nil {
		return nil, err
	}
	f := args.Filter
	if err := r.addAccount(ctx, &f.AccountID, f.Account); err != nil {
		return nil, err
	}
	if args.At == nil {
		rows, err := entities.Balances(ctx, r.db, f, storage.NewPage(p.Range()))
		if err != nil {
			return nil, err
		}
		c := estimated(r.Resolver, balanceList.connection(p, rows), unfiltered(f), entities.CountAccounts)
		for _, b := range c.Nodes {
			if b.Timestamp.Valid && (!c.Timestamp.Valid || b.Timestamp.V > c.Timestamp.V) {
				c.Timestamp = b.Timestamp
			}
		}
		return c, nil
	}
	window, err := entities.SnapshotWindow(ctx, r.db, args.At, r.timestamp())
	if err != nil {
		return nil, err
	}
	var rows []*ledger.Balance
	if window.Valid {
		if rows, err = entities.BalancesAt(ctx, r.db, f, window.V, storage.NewPage(p.Range())); err != nil {
			return nil, err
		}
	}
	c := balanceList.connection(p, rows)
	if len(c.Nodes) > 0 {
		c.Timestamp = ledger.Of(window.V.At)
	}
	return c, nil
}

// EntityID resolves Query.entityId. It reads the id of the account or contract with an alias or EVM address, nil if
// there is none. An id is returned without a lookup.
func (r queries) EntityID(ctx context.Context, args graph.QueryEntityIDArgs) (*ledger.EntityID, error) {
	id, err := entities.ResolveAccount(ctx, r.db, args.Of)
	if err != nil || !id.Valid {
		return nil, err
	}
	return &id.V, nil
}

// addAccount adds the id of an account to those that the condition of a filter lists in in, unless ref is nil. It reads
// the id if ref is an alias or address. An account that does not exist adds none; if in stays empty, the filter matches
// nothing. The other conditions stay, and what the condition pointed to is not changed. Beside an error the filter must
// not be used.
func (r *Resolver) addAccount(ctx context.Context, to **ledger.EntityIDFilter, ref *ledger.AccountRef) error {
	if ref == nil {
		return nil
	}
	*to = withIDs(*to)
	id, err := entities.ResolveAccount(ctx, r.db, *ref)
	if err == nil && id.Valid {
		(*to).In = append((*to).In, id.V)
	}
	return err
}

// AccountHistory resolves Account.history. It queues a read in the batch of q: a page of the versions of each account,
// ordered by time. Invalid page arguments are BAD_USER_INPUT.
func (fields) AccountHistory(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountHistoryArgs,
) (rowplan.Results[*relay.Connection[ledger.Version]], error) {
	return versionsOf(ctx, q, args.Order, args.Args, accountIDs(of), entities.QueueAccountVersions)
}

// AccountNode resolves Account.node. It queues a read in the batch of q: the consensus node that each account belongs
// to, nil for other accounts.
func (fields) AccountNode(_ context.Context, q rowplan.Request, of []*ledger.Account) (
	rowplan.Results[*ledger.NetworkNode], error,
) {
	return entities.QueueNetworkNodesOf(loading.BatchOf(q), list.Map(of, accountEntityID)), nil
}

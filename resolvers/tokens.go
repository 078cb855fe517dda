package resolvers

import (
	"context"
	"slices"

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

// The lists of tokens, their holders and their relationships with accounts.
var (
	tokenList  = ofNumber("tokens", func(t *ledger.Token) int64 { return int64(t.EntityID) })
	holderList = ofNumber("holders", func(h *ledger.TokenHolder) int64 { return int64(h.AccountID) })
	richList   = listOf[ledger.TokenHolder]{
		"holders by balance", 2, func(h *ledger.TokenHolder) relay.Key {
			return relay.Key{h.Balance, int64(h.AccountID)}
		},
	}
	relationshipList = ofNumber("token relationships", func(r *ledger.TokenRelationship) int64 {
		return int64(r.TokenID)
	})
)

// tokenEntityID returns the id of a token, as a function for [list.Map].
func tokenEntityID(t *ledger.Token) ledger.EntityID { return t.EntityID }

// TokenCustomFees resolves Token.customFees. It queues a read in the batch of q, unless all tokens hold their custom
// fees already. Fees that a token holds are not replaced. The fees are nil for tokens of which the database has none.
func (fields) TokenCustomFees(
	_ context.Context, q rowplan.Request, of []*ledger.Token,
) (rowplan.Results[*ledger.TokenCustomFees], error) {
	if !slices.ContainsFunc(of, func(t *ledger.Token) bool { return !t.Fees.Valid }) {
		return storage.Known(list.Map(of, func(t *ledger.Token) *ledger.TokenCustomFees { return t.Fees.V })), nil
	}
	read := entities.QueueTokenFees(loading.BatchOf(q), of)
	return storage.Map(read, func(fees []*ledger.TokenCustomFees) []*ledger.TokenCustomFees {
		for i, t := range of {
			fees[i] = t.Fees.Or(fees[i]) // of a past version, for example
		}
		return fees
	}), nil
}

// TokenBalances resolves Token.balances. It queues a read in the batch of q: a page of the holders of each token,
// ordered by account: current, of the snapshot for a time, which it looks up at once, or at the moment of ctx. A time
// at a past moment and invalid page arguments are BAD_USER_INPUT. The timestamp of a page is the newest of its
// balances. With an error, the function that it returns must not be called.
func (f fields) TokenBalances(
	ctx context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenBalancesArgs,
) (
	rowplan.Results[*relay.TokenHolderConnection], error,
) {
	if m := ledger.MomentOf(ctx); m != nil {
		if args.At != nil {
			return nil, fault.Input("at cannot be given here: the balances are those at the moment of the ledger")
		}
		holders := graph.ListArgs[ledger.TokenHolderFilter]{Filter: args.Filter, Order: args.Order, Args: args.Args}
		return f.holdersAt(ctx, q, of, holderList, holders, past.Holders{Zero: true})
	}
	at := list.Map(of, func(t *ledger.Token) *ledger.TimestampFilter {
		if args.At != nil {
			return args.At
		}
		return t.At
	})
	current := !slices.ContainsFunc(at, func(f *ledger.TimestampFilter) bool { return f != nil })
	countable := current && unfiltered(args.Filter)
	read := func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.TokenHolder], error) {
		return entities.QueueTokenHolders(ctx, b, list.Map(of, tokenEntityID), at, args.Filter, f.timestamp(), p), nil
	}
	get, err := holderList.below(ctx, q, args.Order, args.Args, countable, read)
	return func() ([]*relay.TokenHolderConnection, error) {
		got, err := get()
		for _, c := range got {
			c.Timestamp = newest(c.Nodes)
		}
		return got, err
	}, err
}

// TokenHolders resolves Token.holders. It queues reads in the batch of q: a page of the holders of each token, by
// balance, now or at the moment of ctx. To find out whether the database has the index of holders, it can read at
// once. Invalid page arguments are BAD_USER_INPUT, and without that index the whole field is too if a token has more
// than [entities.MaxSortedHolders] relationships. With an error, the function that it returns must not be called.
func (f fields) TokenHolders(ctx context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenHoldersArgs) (
	rowplan.Results[*relay.TokenHolderConnection], error,
) {
	if ledger.MomentOf(ctx) != nil {
		return f.holdersAt(ctx, q, of, richList, args, past.Holders{ByBalance: true})
	}
	tokens := list.Map(of, tokenEntityID)
	db := loading.BatchOf(q).DB()
	if _, err := db.Frequencies(ctx, "token_account", ""); err != nil { // whether there is the index
		return nil, err
	}
	indexed := db.HasIndex(entities.HoldersIndex)
	counted := storage.Known[[]*int64](nil)
	if !indexed {
		counted = entities.QueueRelationshipCounts(loading.BatchOf(q), tokens, entities.MaxSortedHolders)
	}
	get, err := below(ctx, q, richList, args, tokens, entities.QueueHoldersByBalance)
	return func() ([]*relay.TokenHolderConnection, error) {
		counts, err := counted()
		if err != nil {
			return nil, err
		}
		for i, c := range counts {
			if *c > entities.MaxSortedHolders {
				return nil,
					fault.Input("token %s has more than %d relationships, so its holders are not sorted by balance: "+
						"use balances", tokens[i],
						entities.MaxSortedHolders)
			}
		}
		got, err := get()
		for _, c := range got {
			c.Timestamp = newest(c.Nodes)
			if len(c.Nodes) > 0 && unfiltered(args.Filter) && !indexed { // the page has the count
				c.WithCount(func(context.Context) (*relay.Count, error) {
					return &relay.Count{Value: c.Nodes[0].Holders, Exact: true}, nil
				})
			}
		}
		return got, err
	}, err
}

// TokenHolderCount resolves Token.holderCount. It queues a read in the batch of q: the number of accounts that hold
// each token, now or at the moment of ctx. A token with more than [entities.MaxCountedHolders] relationships now has
// nil, one with too many at the moment of ctx an error.
func (f fields) TokenHolderCount(
	ctx context.Context, q rowplan.Request, of []*ledger.Token,
) (rowplan.Results[*relay.Count], error) {
	if ledger.MomentOf(ctx) != nil {
		return f.HolderCounts(ctx, q, of)
	}
	read := entities.QueueHolderCounts(loading.BatchOf(q), list.Map(of, tokenEntityID), entities.MaxCountedHolders)
	return storage.Map(read, func(counts []*entities.HolderCount) []*relay.Count {
		return list.Map(counts, func(c *entities.HolderCount) *relay.Count {
			if c.Relationships > entities.MaxCountedHolders {
				return nil
			}
			return &relay.Count{Value: c.Holders, Exact: true}
		})
	}), nil
}

// holdersAt queues in the batch of q reading a page of the holders of each token at the moment of ctx. h says which
// holders, and in which order; the list l must have the same order. Errors of the arguments are BAD_USER_INPUT; those
// of tokens are those of [past.Fields.Holders].
func (f fields) holdersAt(
	ctx context.Context, q rowplan.Request, of []*ledger.Token, l listOf[ledger.TokenHolder],
	args graph.ListArgs[ledger.TokenHolderFilter], h past.Holders,
) (rowplan.Results[*relay.TokenHolderConnection], error) {
	p, page, err := l.pageOf(ctx, args.Order, args.Args, true) // true: page has one row more than p
	if err != nil {
		return nil, err
	}
	h.Page, h.Filter, h.Countable = page, args.Filter, unfiltered(args.Filter)
	h.Connection = func(rows []*ledger.TokenHolder) *relay.TokenHolderConnection { return l.connection(p, rows) }
	return f.Holders(ctx, q, of, h)
}

// newest returns the newest timestamp of the balances of a page, or null if none has one.
func newest(holders []*ledger.TokenHolder) ledger.Null[ledger.Timestamp] {
	var t ledger.Null[ledger.Timestamp]
	for _, h := range holders {
		if h.Timestamp.Valid && (!t.Valid || h.Timestamp.V > t.V) {
			t = h.Timestamp
		}
	}
	return t
}

// Token resolves Query.token. It reads a token with its custom fees, now or at a time; nil if it does not exist. If
// its custom fees are missing in the database, the error beside it is a [relay.Note] that says so. Other places of the
// operation use the current token too.
func (r queries) Token(ctx context.Context, args graph.QueryTokenArgs) (*ledger.Token, error) {
	t, err := entities.Token(ctx, r.db, args.ID, args.At)
	if err == nil && args.At == nil {
		loading.Prime(ctx, tokenType, args.ID, t)
	}
	if err == nil && t != nil && t.Fees.V == nil {
		err = relay.Lacking(relay.Missing{Kind: relay.MissingTokenFees})
	}
	return t, err
}

// Tokens resolves Query.tokens. It reads a page of tokens, ordered by id, after it has looked up the accounts of the
// filter, one statement each. An account that does not exist matches nothing. Invalid page arguments are
// BAD_USER_INPUT. Unfiltered lists have an estimated totalCount.
func (r queries) Tokens(ctx context.Context, args graph.QueryTokensArgs) (*relay.TokenConnection, error) {
	f := args.Filter
	c, err := tokenList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.Token, error) {
		var associated ledger.Null[ledger.EntityID]
		var treasury ledger.Null[ledger.EntityID]
		for _, of := range []struct {
			ref  *ledger.AccountRef
			into *ledger.Null[ledger.EntityID]
		}{{f.AssociatedTo, &associated}, {f.Treasury, &treasury}} {
			if of.ref == nil {
				continue
			}
			var err error
			if *of.into, err = entities.ResolveAccount(ctx, r.db, *of.ref); err != nil || !of.into.Valid {
				return nil, err
			}
		}
		return entities.Tokens(ctx, r.db, f, associated, treasury, onlyIDs(ctx), p)
	})
	return estimated(r.Resolver, c, unfiltered(f), entities.CountTokens), err
}

// TokenBalances resolves Query.tokenBalances. It reads a page of the holders of a token, ordered by account: current
// ones, or those of the snapshot for a time, which it looks up first. The list of a token that does not exist is
// empty. The timestamp of the page is the newest of its balances. Invalid page arguments are BAD_USER_INPUT.
func (r queries) TokenBalances(
	ctx context.Context, args graph.QueryTokenBalancesArgs,
) (*relay.TokenHolderConnection, error) {
	countable := args.At == nil && unfiltered(args.Filter)
	read := func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.TokenHolder], error) {
		return entities.QueueTokenHolders(ctx, b, []ledger.EntityID{args.Token}, []*ledger.TimestampFilter{args.At},
			args.Filter, r.timestamp(), p), nil
	}
	c, err := rootList(ctx, r.Resolver, holderList, args.Order, args.Args, countable, read)
	if err != nil {
		return nil, err
	}
	c.Timestamp = newest(c.Nodes)
	return c, nil
}

// AccountTokens resolves Account.tokens. It queues a read in the batch of q: a page of the token relationships of each
// account, ordered by token, without those that have ended. Invalid page arguments are BAD_USER_INPUT.
func (fields) AccountTokens(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountTokensArgs,
) (rowplan.Results[*relay.Connection[ledger.TokenRelationship]], error) {
	return below(ctx, q, relationshipList, args, accountIDs(of), entities.QueueTokenRelationships)
}

// TokenHistory resolves Token.history. It queues a read in the batch of q: a page of the versions of each token,
// ordered by time. Invalid page arguments are BAD_USER_INPUT.
func (fields) TokenHistory(ctx context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenHistoryArgs) (
	rowplan.Results[*relay.Connection[ledger.Version]], error,
) {
	return versionsOf(ctx, q, args.Order, args.Args, list.Map(of, tokenEntityID), entities.QueueTokenVersions)
}

// TransactionTokenTransfers resolves Transaction.tokenTransfers. It queues a read in the batch of q: the transfers of
// fungible tokens of each transaction, unless they were read with it.
func (fields) TransactionTokenTransfers(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (
	rowplan.Results[[]*ledger.TokenTransfer], error,
) {
	return transactions.QueueTokenTransfers(loading.BatchOf(q), of), nil
}

// TokenRelationships resolves Query.tokenRelationships. It reads a page of the token relationships of an account,
// ordered by token. If the account does not exist, the list is empty, and the error beside it is a [relay.Note] that
// says so. Invalid page arguments are BAD_USER_INPUT.
func (r queries) TokenRelationships(ctx context.Context, args graph.QueryTokenRelationshipsArgs) (
	*relay.Connection[ledger.TokenRelationship], error,
) {
	return listOfAccount(
		ctx, r.Resolver, relationshipList, args.Account, true, args.Order, args.Args, args.Filter,
		entities.QueueTokenRelationships,
	)
}

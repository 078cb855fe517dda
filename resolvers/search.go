package resolvers

import (
	"context"
	"fmt"
	"slices"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// search collects what the statements of one batch find, in the order of the statements.
type search struct {
	*storage.Batch
	types   []model.SearchType
	results []func() ([]relay.Node, error)
}

// wants reports whether objects of a type are to be found: the client named it, or gave no list of types.
func (s *search) wants(t model.SearchType) bool { return s.types == nil || slices.Contains(s.types, t) }

// find queues in s a statement for objects of a type, if the text can name one and the type is to be found, and adds a
// function for its results to s. A contract is also an account: it is found as an account only if contracts are not to
// be found.
func find[T any, P nodePointer[T]](
	s *search, t model.SearchType, can bool, queue func(b *storage.Batch) storage.Result[[]P],
) {
	if !can || !s.wants(t) {
		return
	}
	results := queue(s.Batch)
	s.results = append(s.results, func() (found []relay.Node, err error) {
		rows, err := results()
		for _, row := range rows {
			account, ok := any(row).(*ledger.Account)
			if row != nil && (!ok || account.Type != ledger.EntityContract || !s.wants(model.SearchTypeContract)) {
				found = append(found, row)
			}
		}
		return found, err
	})
}

// one returns a statement for [find] that reads the object of a type with a key, through the loader of the operation of
// ctx.
func one[K comparable, P any](
	ctx context.Context, typ string, key K, queue storage.QueueKeys[K, P],
) func(*storage.Batch) storage.Result[[]P] {
	return func(b *storage.Batch) storage.Result[[]P] { return loading.Load(ctx, b, typ, []K{key}, queue) }
}

// by returns a statement for [find] that reads all objects that queue finds by a key, such as a hash or a name.
func by[K, P any](
	key K, queue func(*storage.Batch, K) storage.Result[[]P],
) func(*storage.Batch) storage.Result[[]P] {
	return func(b *storage.Batch) storage.Result[[]P] { return queue(b, key) }
}

// Search resolves Query.search. It reads the objects that a text can name: an id, number, hash, address, key, time, or
// the beginning of a token's name. All statements are sent in one round trip; if one fails, the search fails. Invalid
// page arguments are BAD_USER_INPUT. Names can have more results than a page; then totalCount is missing.
func (r queries) Search(ctx context.Context, args graph.QuerySearchArgs) (*relay.SearchResultConnection, error) {
	const kind = "search"
	p, err := relay.Args{First: args.First, After: args.After}.Page(kind, 1, false, relay.LimitsOf(ctx))
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	ctx, cancel := context.WithCancel(ctx) // see loading.Load
	defer cancel()
	s := &search{Batch: r.db.NewBatch(), types: args.Types}
	c := ledger.ParseSearch(args.Text, r.db.SystemEntity(0), r.db.ChainID())
	id, isID, isNamed, isElement := c.Entity, !c.Entity.IsNone(), c.Address.Valid || c.Alias != nil ||
		c.PublicKey != "", c.Element.Number > 0
	find(s, model.SearchTypeContract, isID, one(ctx, contractType, id, entities.QueueContracts))
	find(s, model.SearchTypeAccount, isID, one(ctx, accountType, id, entities.QueueAccounts))
	find(s, model.SearchTypeToken, isID, one(ctx, tokenType, id, entities.QueueTokens))
	find(s, model.SearchTypeTopic, isID, one(ctx, topicType, id, entities.QueueTopics))
	find(s, model.SearchTypeSchedule, isID, one(ctx, scheduleType, id, transactions.QueueSchedules))
	find(s, model.SearchTypeFile, isID, one(ctx, fileType, id, entities.QueueFiles))
	find(s, model.SearchTypeNetworkNode, isID, one(ctx, networkNodeType, id, entities.QueueNetworkNodesOf))
	find(s, model.SearchTypeContract, isNamed, by(c, entities.QueueNamedContracts))
	find(s, model.SearchTypeAccount, isNamed, by(c, entities.QueueNamedAccounts))
	find(s, model.SearchTypeTransaction, c.Transaction.Valid, by(c.Transaction.V, transactions.QueueAllWithID))
	find(s, model.SearchTypeTransaction, c.At.Valid, one(ctx, transactionType, c.At.V,
		transactions.QueueTransactionsAt))
	find(s, model.SearchTypeTransaction, c.Hash != nil, by(c.Hash, transactions.QueueByHash))
	find(s, model.SearchTypeBlock, c.Number.Valid, one(ctx, blockType, c.Number.V, transactions.QueueBlocks))
	find(s, model.SearchTypeBlock, c.Hash != nil, by(c.Hash, transactions.QueueBlocksByHash))
	find(s, model.SearchTypeNetworkNode, c.Number.Valid, one(ctx, networkNodeType, c.Number.V,
		entities.QueueNetworkNodes))
	find(s, model.SearchTypeTopicMessage, isElement, one(ctx, messageType, c.Element, entities.QueueMessagesOf))
	find(s, model.SearchTypeNft, isElement, one(ctx, nftType, nftOf(c.Element), entities.QueueNFTsByKey))
	find(s, model.SearchTypeToken, c.Name != "", by(c.Name,
		func(b *storage.Batch, name string) storage.Result[[]*ledger.Token] {
			return entities.QueueTokensNamed(b, name, p.Skipped()+p.Limit+1)
		}))
	if err := s.Run(ctx); err != nil {
		return nil, fmt.Errorf("searching: %w", err)
	}
	var found []relay.Node
	for _, result := range s.results {
		nodes, err := result()
		if err != nil {
			return nil, fmt.Errorf("searching: %w", err)
		}
		found = append(found, nodes...)
	}
	results := relay.NewSearch(kind, p, found)
	if c.Name == "" || !results.PageInfo.HasNextPage {
		results.TotalCount = &relay.Count{Value: int64(len(found)), Exact: true}
	}
	return results, nil
}

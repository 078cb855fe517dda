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

var versionList = listOf[ledger.Version]{"versions", 1, func(v *ledger.Version) relay.Key { return relay.Key{int64(v.Timestamp)} }}

// AccountHistory reads the versions of accounts.
func (fields) AccountHistory(ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountHistoryArgs) (
	rowplan.Results[*relay.VersionConnection], error,
) {
	return versionsOf(ctx, q, args.Order, args.Args, accountIDs(of), entities.QueueAccountVersions)
}

// TokenHistory reads the versions of tokens.
func (fields) TokenHistory(ctx context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenHistoryArgs) (
	rowplan.Results[*relay.VersionConnection], error,
) {
	return versionsOf(ctx, q, args.Order, args.Args, list.Map(of, tokenEntityID), entities.QueueTokenVersions)
}

// NFTHistory reads the versions of NFTs.
func (fields) NFTHistory(ctx context.Context, q rowplan.Request, of []*ledger.NFT, args graph.NFTHistoryArgs) (
	rowplan.Results[*relay.VersionConnection], error,
) {
	return versionsOf(ctx, q, args.Order, args.Args, list.Map(of, (*ledger.NFT).Key), entities.QueueNFTVersions)
}

func versionsOf[K any](ctx context.Context, q rowplan.Request, order relay.Order, args relay.Args, keys []K,
	queue func(*storage.Batch, []K, storage.Page, func([][]*ledger.Version)),
) (rowplan.Results[*relay.VersionConnection], error) {
	return versionList.below(ctx, q, order, args, true, func(b *storage.Batch, p storage.Page, done func([][]*ledger.Version)) error {
		queue(b, keys, p, done)
		return nil
	})
}

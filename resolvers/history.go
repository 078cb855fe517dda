package resolvers

import (
	"context"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var versionList = listOf[ledger.Version]{"versions", 1, func(v *ledger.Version) relay.Key { return relay.Key{int64(v.Timestamp)} }}

func versionsOf[K any](ctx context.Context, q rowplan.Request, order relay.Order, args relay.Args, keys []K,
	queue func(*storage.Batch, []K, storage.Page, func([][]*ledger.Version)),
) (rowplan.Results[*relay.VersionConnection], error) {
	return versionList.below(ctx, q, order, args, true, func(b *storage.Batch, p storage.Page, done func([][]*ledger.Version)) error {
		queue(b, keys, p, done)
		return nil
	})
}

package resolvers

import (
	"context"
	"fmt"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// The lists of NFTs and their transactions.
var (
	nftList = listOf[ledger.NFT]{"NFTs", 2, func(n *ledger.NFT) relay.Key {
		return relay.Key{int64(n.TokenID), n.SerialNumber}
	}}
	nftTransactionList = ofNumber("NFT transactions", func(t *ledger.NFTTransaction) int64 {
		return int64(t.ConsensusTimestamp)
	})
)

// NFTTransferNft resolves NFTTransfer.nft. It queues a read in the batch of q: the NFT of each transfer, nil if it does
// not exist.
func (fields) NFTTransferNft(
	_ context.Context, q rowplan.Request, of []*ledger.NFTTransfer,
) (rowplan.Results[*ledger.NFT], error) {
	key := func(t *ledger.NFTTransfer) ledger.NFTKey {
		return ledger.NFTKey{TokenID: t.TokenID, SerialNumber: t.SerialNumber}
	}
	return entities.QueueNFTsByKey(loading.BatchOf(q), list.Map(of, key)), nil
}

// NFTTransactions resolves NFT.transactions. It queues reads in the batch of q: a page of the history of each NFT,
// ordered by time. If the database lacks the beginning of a history, its page is marked as partial. Invalid page
// arguments are BAD_USER_INPUT.
func (fields) NFTTransactions(
	ctx context.Context, q rowplan.Request, of []*ledger.NFT, args graph.NFTTransactionsArgs,
) (
	rowplan.Results[*relay.NFTTransactionConnection], error,
) {
	p, sp, err := nftTransactionList.pageOf(ctx, args.Order, args.Args, true) // true: sp has one row more than p
	if err != nil {
		return nil, err
	}
	keys := list.Map(of, (*ledger.NFT).Key)
	b := loading.BatchOf(q)
	read := entities.QueueNFTHistories(b, keys, args.Filter, sp)
	return storage.Map(read, func(got []entities.NFTHistory) []*relay.NFTTransactionConnection {
		return nftHistories(b.DB(), keys, args.Filter, p, got)
	}), nil
}

// nftHistories returns the histories of some NFTs, which were read for the page p, as connections, one for each of
// keys. It reads nothing itself. If totalCount is selected, one round trip of db reads the events of all keys that
// match f, to count them up to [storage.MaxCount] each.
func nftHistories(
	db *storage.DB, keys []ledger.NFTKey, f ledger.NFTTransactionFilter, p relay.Page, of []entities.NFTHistory,
) []*relay.NFTTransactionConnection {
	out := list.Map(of, func(h entities.NFTHistory) *relay.NFTTransactionConnection {
		c := relay.NewCutConnection(nftTransactionList.kind, p, h.Transactions, h.More, nftTransactionList.key)
		c.Partial = h.Partial
		return c
	})
	relay.SetCounts(out, func(ctx context.Context) ([]int64, error) {
		b := db.NewBatch()
		rows, err := storage.Run(ctx, b, queueNFTTransactions(b, keys, f, storage.Page{Limit: storage.MaxCount + 1}))
		return list.Map(rows, func(r []*ledger.NFTTransaction) int64 { return int64(len(r)) }), err
	}, storage.MaxCount)
	return out
}

// queueNFTTransactions queues in b reading a page of the history of each of some NFTs, to count its events and for
// global ids. Unlike [fields.NFTTransactions], it does not say whether a history is partial.
func queueNFTTransactions(
	b *storage.Batch, keys []ledger.NFTKey, f ledger.NFTTransactionFilter, p storage.Page,
) storage.Result[[][]*ledger.NFTTransaction] {
	p.Limit++ // the last event only shows whether the history continues
	read := entities.QueueNFTHistories(b, keys, f, p)
	return storage.Map(read, func(got []entities.NFTHistory) [][]*ledger.NFTTransaction {
		return list.Map(got, func(h entities.NFTHistory) []*ledger.NFTTransaction { return h.Transactions })
	})
}

// nftsBelow queues reading a page of the NFTs of each token or account in ids, ordered by token and serial number,
// with one statement in the batch of q. of says which of both the ids are. It first looks up the owner in the filter,
// at once, if that is an alias or address. An owner that does not exist matches nothing. Invalid page arguments and
// more than [MaxAlternatives] alternatives are BAD_USER_INPUT.
func nftsBelow(
	ctx context.Context, q rowplan.Request, of entities.NFTParent, ids []ledger.EntityID,
	args graph.ListArgs[ledger.NFTFilter],
) (
	rowplan.Results[*relay.NFTConnection], error,
) {
	return nftList.below(ctx, q, args.Order, args.Args, true, // countable
		func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.NFT], error) {
			var owner ledger.Null[ledger.EntityID]
			if err := checkAlternatives(len(args.Filter.AnyOf)); err != nil {
				return nil, err
			}
			if ref := args.Filter.Owner; ref != nil {
				var err error
				if owner, err = entities.ResolveAccount(ctx, b.DB(), *ref); err != nil {
					return nil, err
				}
				if !owner.Valid {
					return storage.Known(make([][]*ledger.NFT, len(ids))), nil
				}
			}
			return entities.QueueNFTsOf(b, of, ids, owner, args.Filter, p), nil
		})
}

// Nfts resolves Query.nfts. It reads a page of NFTs, ordered by token and serial number, of an owner, of tokens or
// all. If no account has the alias or address of the owner, the list is empty, and the error beside it is a
// [relay.Note] that says so. An id is not checked. Invalid page arguments, too many alternatives, and deleted without
// a token or owner, are BAD_USER_INPUT. Unfiltered lists have an estimated totalCount.
func (r queries) Nfts(ctx context.Context, args graph.QueryNftsArgs) (*relay.NFTConnection, error) {
	f := args.Filter
	if err := checkAlternatives(len(f.AnyOf)); err != nil {
		return nil, err
	}
	if f.Deleted != nil && f.Owner == nil && !selects(f.OwnerID) && !selects(f.TokenID) {
		return nil, fault.Input("deleted requires tokenId, owner or ownerId")
	}
	if f.Owner != nil {
		return listOfAccount(ctx, r.Resolver, nftList, *f.Owner, false, args.Order, args.Args, f,
			func(b *storage.Batch, ids []ledger.EntityID, f ledger.NFTFilter, p storage.Page,
			) storage.Result[[][]*ledger.NFT] {
				return entities.QueueNFTsOf(b, entities.OfAccount, ids, ledger.Null[ledger.EntityID]{}, f, p)
			})
	}
	c, err := rootList(ctx, r.Resolver, nftList, args.Order, args.Args, false,
		func(b *storage.Batch, p storage.Page) (storage.Result[[][]*ledger.NFT], error) {
			return entities.QueueNFTs(b, f, p), nil
		})
	return estimated(r.Resolver, c, unfiltered(f), entities.CountNFTs), err
}

// NftTransactions resolves Query.nftTransactions. It reads a page of the history of an NFT, ordered by time; an empty
// one if the NFT does not exist. If its beginning is missing in the database, the error beside the page is a
// [relay.Note] that says so. Invalid page arguments are BAD_USER_INPUT.
func (r queries) NftTransactions(
	ctx context.Context, args graph.QueryNftTransactionsArgs,
) (*relay.NFTTransactionConnection, error) {
	p, sp, err := nftTransactionList.pageOf(ctx, args.Order, args.Args, true) // true: sp has one row more than p
	if err != nil {
		return nil, err
	}
	keys := []ledger.NFTKey{{TokenID: args.Token, SerialNumber: args.SerialNumber}}
	b := r.db.NewBatch()
	history, err := storage.Run(ctx, b, entities.QueueNFTHistories(b, keys, args.Filter, sp))
	if err != nil {
		return nil, fmt.Errorf("reading the history of serial %d of token %s: %w", args.SerialNumber, args.Token, err)
	}
	c := nftHistories(r.db, keys, args.Filter, p, history)[0]
	if history[0].Partial {
		return c, &relay.Note{Partial: true}
	}
	return c, nil
}

// AccountNfts resolves Account.nfts. It queues a read in the batch of q: a page of the NFTs that each account owns,
// ordered by token and serial number. Invalid page arguments and too many alternatives are BAD_USER_INPUT.
func (fields) AccountNfts(ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountNftsArgs) (
	rowplan.Results[*relay.Connection[ledger.NFT]], error,
) {
	return nftsBelow(ctx, q, entities.OfAccount, accountIDs(of), args)
}

// NFTHistory resolves NFT.history. It queues a read in the batch of q: a page of the versions of each NFT, ordered by
// time. Invalid page arguments are BAD_USER_INPUT.
func (fields) NFTHistory(ctx context.Context, q rowplan.Request, of []*ledger.NFT, args graph.NFTHistoryArgs) (
	rowplan.Results[*relay.Connection[ledger.Version]], error,
) {
	return versionsOf(ctx, q, args.Order, args.Args, list.Map(of, (*ledger.NFT).Key), entities.QueueNFTVersions)
}

// TokenNfts resolves Token.nfts. It queues a read in the batch of q: a page of the NFTs of each token, ordered by
// serial number, after it has looked up the owner of the filter. Invalid page arguments and too many alternatives are
// BAD_USER_INPUT.
func (fields) TokenNfts(ctx context.Context, q rowplan.Request, of []*ledger.Token, args graph.TokenNftsArgs) (
	rowplan.Results[*relay.Connection[ledger.NFT]], error,
) {
	return nftsBelow(ctx, q, entities.OfToken, list.Map(of, tokenEntityID), args)
}

// Nft resolves Query.nft. It reads an NFT, unless the operation has read it; nil if it does not exist.
func (r queries) Nft(ctx context.Context, args graph.QueryNftArgs) (*ledger.NFT, error) {
	key := ledger.NFTKey{TokenID: args.Token, SerialNumber: args.SerialNumber}
	return loading.LoadOne(ctx, r.db, nftType, key, entities.QueueNFTsByKey)
}

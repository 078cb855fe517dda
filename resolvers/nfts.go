package resolvers

import (
	"context"
	"fmt"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// nftRelations are the arrows from NFTs and their transfers.
type nftRelations struct {
	owner     *rowplan.Relation[*ledger.NFT, *ledger.Account]
	spender   *rowplan.Relation[*ledger.NFT, *ledger.Account]
	token     *rowplan.Relation[*ledger.NFT, *ledger.Token]
	transfers *rowplan.Relation[*ledger.NFT, *relay.NFTTransactionConnection]
	owned     *rowplan.Relation[*ledger.Account, *relay.NFTConnection]

	receiver    *rowplan.Relation[*ledger.NFTTransaction, *ledger.Account]
	sender      *rowplan.Relation[*ledger.NFTTransaction, *ledger.Account]
	transaction *rowplan.Relation[*ledger.NFTTransaction, *ledger.Transaction]

	transferNFT      *rowplan.Relation[*ledger.NFTTransfer, *ledger.NFT]
	transferReceiver *rowplan.Relation[*ledger.NFTTransfer, *ledger.Account]
	transferSender   *rowplan.Relation[*ledger.NFTTransfer, *ledger.Account]
	transferToken    *rowplan.Relation[*ledger.NFTTransfer, *ledger.Token]
}

func newNFTRelations() nftRelations {
	return nftRelations{
		owner:     accountOf(func(n *ledger.NFT) ledger.EntityID { return n.AccountID }),
		spender:   accountOf(func(n *ledger.NFT) ledger.EntityID { return n.SpenderID }),
		token:     tokenOf(func(n *ledger.NFT) ledger.EntityID { return n.TokenID }),
		transfers: queued(queueNFTTransactions),
		owned:     listed(nftList, nftsOf(entities.OfAccount, accountEntityID)),

		receiver:    accountOf(func(t *ledger.NFTTransaction) ledger.EntityID { return t.ReceiverAccountID }),
		sender:      accountOf(func(t *ledger.NFTTransaction) ledger.EntityID { return t.SenderAccountID }),
		transaction: transactionAtTime(func(t *ledger.NFTTransaction) ledger.Timestamp { return t.ConsensusTimestamp }),

		transferNFT: nftOf(func(t *ledger.NFTTransfer) ledger.NFTKey {
			return ledger.NFTKey{TokenID: t.TokenID, SerialNumber: t.SerialNumber}
		}),
		transferReceiver: accountOf(func(t *ledger.NFTTransfer) ledger.EntityID { return t.ReceiverAccountID }),
		transferSender:   accountOf(func(t *ledger.NFTTransfer) ledger.EntityID { return t.SenderAccountID }),
		transferToken:    tokenOf(func(t *ledger.NFTTransfer) ledger.EntityID { return t.TokenID }),
	}
}

func (r *nftRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	token := func() *rowplan.Object[*ledger.Token] { return t.Token }
	t.NFT.Add("owner", rowplan.RelatedOne(r.owner, account))
	t.NFT.Add("spender", rowplan.RelatedOne(r.spender, account))
	t.NFT.Add("token", rowplan.RelatedOne(r.token, token))
	connect(t.NFT, "transfers", r.transfers, func() *rowplan.Object[*relay.NFTTransactionConnection] { return t.NFTTransactionConnection })
	connect(t.Account, "nfts", r.owned, func() *rowplan.Object[*relay.NFTConnection] { return t.NFTConnection })

	t.NFTTransaction.Add("receiver", rowplan.RelatedOne(r.receiver, account))
	t.NFTTransaction.Add("sender", rowplan.RelatedOne(r.sender, account))
	t.NFTTransaction.Add("transaction", rowplan.RelatedOne(r.transaction, func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }))

	t.NFTTransfer.Add("nft", rowplan.RelatedOne(r.transferNFT, func() *rowplan.Object[*ledger.NFT] { return t.NFT }))
	t.NFTTransfer.Add("receiver", rowplan.RelatedOne(r.transferReceiver, account))
	t.NFTTransfer.Add("sender", rowplan.RelatedOne(r.transferSender, account))
	t.NFTTransfer.Add("token", rowplan.RelatedOne(r.transferToken, token))
}

// nftOf is the relation from a row to a serial that it names; a parent may name none.
func nftOf[T any](key func(T) ledger.NFTKey) *rowplan.Relation[T, *ledger.NFT] {
	return queued(func(_ context.Context, b *storage.Batch, parents []T, _ rowplan.Args, done func([]*ledger.NFT)) error {
		entities.QueueNFTsByKey(b, keys(parents, key), done)
		return nil
	})
}

var nftList = listOf[ledger.NFT]{nftKind, 2, func(n *ledger.NFT) relay.Key { return relay.Key{int64(n.TokenID), n.SerialNumber} }}

func nftTransactionKey(t *ledger.NFTTransaction) relay.Key {
	return relay.Key{int64(t.ConsensusTimestamp)}
}

// nftsOf queues the NFTs of accounts or tokens.
func nftsOf[T any](of entities.NFTParent, id func(T) ledger.EntityID) queueList[T, ledger.NFT, ledger.NFTFilter] {
	return func(ctx context.Context, b *storage.Batch, parents []T, f *ledger.NFTFilter, _ rowplan.Args, p storage.Page, done func([][]*ledger.NFT)) error {
		var owner ledger.Null[ledger.EntityID]
		if f != nil {
			if err := checkAlternatives(len(f.AnyOf)); err != nil {
				return err
			}
			if f.Owner != nil {
				var err error
				if owner, err = entities.ResolveAccount(ctx, b.DB(), *f.Owner); err != nil {
					return err
				}
				if !owner.Valid {
					done(make([][]*ledger.NFT, len(parents)))
					return nil
				}
			}
		}
		entities.QueueNFTsOf(b, of, keys(parents, id), owner, f, p, done)
		return nil
	}
}

func queueNFTTransactions(ctx context.Context, b *storage.Batch, parents []*ledger.NFT, args rowplan.Args, done func([]*relay.NFTTransactionConnection)) error {
	p, err := pageArgs(ctx, args, nftTransactionKind, 1)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.NFTTransactionFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	entities.QueueNFTHistories(b, keys(parents, (*ledger.NFT).Key), f, storagePage(p), func(got []entities.NFTHistory) {
		out := make([]*relay.NFTTransactionConnection, len(got))
		for i, h := range got {
			out[i] = nftHistory(p, h)
		}
		done(out)
	})
	return nil
}

// nftHistory is the page of an NFT's history.
func nftHistory(p relay.Page, h entities.NFTHistory) *relay.NFTTransactionConnection {
	c := relay.NewCutConnection(nftTransactionKind, p, h.Transactions, h.More, nftTransactionKey)
	c.Partial = h.Partial
	return c
}

// nfts reads a page of NFTs. The hints say when the owner does not exist.
func (r *Resolver) nfts(ctx context.Context, f *ledger.NFTFilter, order relay.Order, args relay.Args) (*relay.NFTConnection, error) {
	if f != nil {
		if err := checkAlternatives(len(f.AnyOf)); err != nil {
			return nil, err
		}
	}
	if f != nil && f.Owner != nil {
		return listOfAccount(ctx, r, nftList, *f.Owner, false, order, args, func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.NFT)) error {
			entities.QueueNFTsOf(b, entities.OfAccount, []ledger.EntityID{id}, ledger.Null[ledger.EntityID]{}, f, p, done)
			return nil
		})
	}
	return rootList(ctx, r, nftList, order, args, func(b *storage.Batch, p storage.Page, done func([][]*ledger.NFT)) error {
		entities.QueueNFTs(b, f, p, func(rows []*ledger.NFT) { done([][]*ledger.NFT{rows}) })
		return nil
	})
}

// nftTransactions reads a page of the history of an NFT. The hints say when the database lacks its beginning.
func (r *Resolver) nftTransactions(ctx context.Context, key ledger.NFTKey, f *ledger.NFTTransactionFilter, order relay.Order, args relay.Args) (*relay.NFTTransactionConnection, error) {
	p, _, err := r.page(ctx, nftTransactionKind, 1, order, args)
	if err != nil {
		return nil, err
	}
	var history entities.NFTHistory
	b := r.db.NewBatch()
	entities.QueueNFTHistories(b, []ledger.NFTKey{key}, f, storagePage(p), func(got []entities.NFTHistory) { history = got[0] })
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("reading the history of serial %d of token %s: %w", key.SerialNumber, key.TokenID, err)
	}
	relay.OutcomeOf(ctx).Partial = history.Partial
	return nftHistory(p, history), nil
}

package statements

import (
	"context"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/entities"
)

// entityReads are the reads of package entities.
func entityReads() reads {
	now := ledger.TimestampOf(demotest.Now())
	hooks := []ledger.Element{{Entity: 1001, Number: 1}, {Entity: 1002, Number: 2}}
	none := ledger.Null[ledger.EntityID]{}
	is := func(id ledger.EntityID) *ledger.EntityIDFilter { return &ledger.EntityIDFilter{Eq: &id} }
	name := ledger.Candidates{Address: ledger.Of(ledger.EVMAddress{1})}
	return reads{
		"balances": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.Balances(ctx, b.DB(), ledger.BalanceFilter{}, page)
			return err
		},
		"contracts": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.Contracts(ctx, b.DB(), nil, false, page)
			return err
		},
		"relationships of accounts": queued(func(b *storage.Batch) {
			entities.QueueTokenRelationships(b, ids, ledger.TokenRelationshipFilter{}, page)
		}),
		"NFTs of an account, and of tokens": queued(func(b *storage.Batch) {
			entities.QueueNFTsOf(b, entities.OfAccount, ids[:1], none, ledger.NFTFilter{}, pairs)
			entities.QueueNFTsOf(b, entities.OfToken, ids, none, ledger.NFTFilter{}, pairs)
		}),
		"first NFTs of an account": queued(func(b *storage.Batch) {
			entities.QueueNFTsOf(b, entities.OfAccount, ids[:1], none, ledger.NFTFilter{}, storage.Page{Limit: 26})
		}),
		"airdrops": queued(func(b *storage.Batch) {
			entities.QueueAirdrops(b, ids, true, ledger.AirdropFilter{}, storage.Page{Limit: 25})
		}),
		"hbar allowances, granted and received": queued(func(b *storage.Batch) {
			entities.QueueCryptoAllowances(b, ids, false, ledger.CryptoAllowanceFilter{}, page)
			entities.QueueCryptoAllowances(b, ids, true, ledger.CryptoAllowanceFilter{}, page)
		}),
		"token allowances, granted and received": queued(func(b *storage.Batch) {
			entities.QueueTokenAllowances(b, ids, false, ledger.TokenAllowanceFilter{}, pairs)
			entities.QueueTokenAllowances(b, ids, true, ledger.TokenAllowanceFilter{}, pairs)
		}),
		"NFT allowances": queued(func(b *storage.Batch) {
			entities.QueueNftAllowances(b, ids, true, ledger.NFTAllowanceFilter{}, pairs)
		}),
		"staking rewards": queued(func(b *storage.Batch) {
			entities.QueueStakingRewards(b, ids, ledger.StakingRewardFilter{}, page)
		}),
		"hooks": queued(func(b *storage.Batch) { entities.QueueHooks(b, ids, ledger.HookFilter{}, page) }),
		"messages of topics": queued(func(b *storage.Batch) {
			entities.QueueTopicMessages(b, ids, ledger.TopicMessageFilter{}, page)
		}),
		"account by address, and the treasury": func(ctx context.Context, b *storage.Batch) error {
			entities.QueueAccounts(b, []ledger.EntityID{2, 1001})
			_, err := entities.Account(ctx, b.DB(), ledger.AccountRef{Address: ledger.Of(ledger.EVMAddress{1})})
			return err
		},
		"account at a time": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.AccountAt(ctx, b.DB(), 1001, before, at)
			return err
		},
		"accounts with all filters": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.Accounts(ctx, b.DB(), ledger.AccountFilter{
				ID: is(1001), Balance: &ledger.LongFilter{Gt: ptr[int64](5)},
				PublicKey: &ledger.StringFilter{Eq: ptr("ab")},
			}, true, false, page)
			return err
		},
		"accounts by id": queued(func(b *storage.Batch) { entities.QueueAccounts(b, ids) }),
		"account by id":  queued(func(b *storage.Batch) { entities.QueueAccounts(b, ids[:1]) }),
		"accounts with a name": queued(func(b *storage.Batch) {
			entities.QueueNamedAccounts(b, name)
		}),
		"contracts with a name": queued(func(b *storage.Batch) {
			entities.QueueNamedContracts(b, name)
		}),
		"contracts by id": queued(func(b *storage.Batch) { entities.QueueContracts(b, ids) }),
		"contract at a time": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.Contract(ctx, b.DB(), ledger.ContractRef{ID: 1001}, before)
			return err
		},
		"init codes": queued(func(b *storage.Batch) {
			entities.QueueBytecodes(b, []*ledger.Contract{{EntityID: 1001}, {EntityID: 1002}})
		}),
		"codes":       queued(func(b *storage.Batch) { entities.QueueRuntimeBytecodes(b, ids) }),
		"hooks by id": queued(func(b *storage.Batch) { entities.QueueHooksByID(b, hooks) }),
		"slots of hooks": queued(func(b *storage.Batch) {
			entities.QueueHookSlots(b, hooks, ledger.HookSlotFilter{}, nil, storage.Page{Limit: 25})
		}),
		"slots of hooks at a time": queued(func(b *storage.Batch) {
			entities.QueueHookSlots(b, hooks, ledger.HookSlotFilter{}, before, storage.Page{Limit: 25})
		}),
		"balances of a snapshot": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.BalancesAt(ctx, b.DB(), ledger.BalanceFilter{},
				ledger.SnapshotWindow{From: 1, At: at}, page)
			return err
		},
		"token balances, now and of a snapshot": queued(func(b *storage.Batch) {
			entities.QueueTokenBalances(b, []*ledger.Balance{{AccountID: 1001}, {AccountID: 1002}}, 50, false)
			past := ledger.Of(ledger.SnapshotWindow{From: 1, At: at})
			entities.QueueTokenBalances(b, []*ledger.Balance{{AccountID: 1001, Snapshot: past}}, 50, false)
		}),
		"tokens of an account and a treasury": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.Tokens(ctx, b.DB(), ledger.TokenFilter{},
				ledger.Of(ids[0]), ledger.Of(ids[1]), false, page)
			return err
		},
		"tokens by id, their decimals and their fees": queued(func(b *storage.Batch) {
			entities.QueueTokens(b, ids)
			entities.QueueDecimals(b, ids)
			entities.QueueTokenFees(b, []*ledger.Token{{EntityID: 1001}, {EntityID: 1002}})
		}),
		"token, now and at a time": func(ctx context.Context, b *storage.Batch) error {
			if _, err := entities.Token(ctx, b.DB(), 1001, nil); err != nil {
				return err
			}
			_, err := entities.Token(ctx, b.DB(), 1001, before)
			return err
		},
		"tokens with a name": queued(func(b *storage.Batch) { entities.QueueTokensNamed(b, "x", 25) }),
		"holders of tokens": queued(func(b *storage.Batch) {
			entities.QueueCurrentHolders(b, ids, ledger.TokenHolderFilter{}, page)
		}),
		"holders by balance": queued(func(b *storage.Batch) {
			entities.QueueHoldersByBalance(b, ids, ledger.TokenHolderFilter{}, pairs)
		}),
		"numbers of holders": queued(func(b *storage.Batch) {
			entities.QueueHolderCounts(b, ids, 9)
			entities.QueueRelationshipCounts(b, ids, 9)
		}),
		"holders at a time": func(ctx context.Context, b *storage.Batch) error {
			at := []*ledger.TimestampFilter{{Lte: ptr(now)}}
			entities.QueueTokenHolders(ctx, b, ids[:1], at, ledger.TokenHolderFilter{}, now, page)
			return nil
		},
		"NFTs by key": queued(func(b *storage.Batch) { entities.QueueNFTsByKey(b, serial) }),
		"NFTs that are deleted": queued(func(b *storage.Batch) {
			entities.QueueNFTs(b, ledger.NFTFilter{Deleted: ptr(true)}, pairs)
		}),
		"numbers of NFTs that are not deleted": func(ctx context.Context, b *storage.Batch) error {
			_, err := b.Count(1, func(p storage.Page) error {
				f := ledger.NFTFilter{Deleted: ptr(false)}
				entities.QueueNFTsOf(b, entities.OfAccount, ids, none, f, p)
				return nil
			})
			return err
		},
		"histories of NFTs": queued(func(b *storage.Batch) {
			entities.QueueNFTHistories(b, serial, ledger.NFTTransactionFilter{}, page)
		}),
		"versions": queued(func(b *storage.Batch) {
			entities.QueueTokenVersions(b, ids, page)
			entities.QueueNFTVersions(b, serial, page)
		}),
		"topics by id": queued(func(b *storage.Batch) {
			entities.QueueTopicParts(b, ids)
		}),
		"joined messages of topics": queued(func(b *storage.Batch) {
			entities.QueueTopicMessages(b, ids, ledger.TopicMessageFilter{JoinChunks: true}, page)
		}),
		"messages by key": queued(func(b *storage.Batch) { entities.QueueMessagesOf(b, hooks) }),
		"new messages": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.MessagesAfter(ctx, b.DB(), at, 25)
			return err
		},
		"numbers of messages": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.CountTopicMessages(ctx, b.DB(), ids)
			return err
		},
		"supply, now and at a time": func(ctx context.Context, b *storage.Batch) error {
			if _, err := entities.NetworkSupply(ctx, b.DB()); err != nil {
				return err
			}
			_, err := entities.NetworkSupplyAt(ctx, b.DB(), storage.Window{Upper: at})
			return err
		},
		"nodes": queued(func(b *storage.Batch) {
			entities.QueueNetworkNodes(b, []int64{0, 1})
			entities.QueueServiceEndpoints(b, []*ledger.NetworkNode{{NodeID: 0}, {NodeID: 1}})
			entities.QueueRegisteredNodesOf(b, []*ledger.NetworkNode{{AssociatedRegisteredNodes: []int64{1}}})
		}),
		"files by id": queued(func(b *storage.Batch) { entities.QueueFiles(b, ids) }),
		"prices of gas": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.NewGasPrices(nil).Read(ctx, b.DB(), []ledger.Timestamp{at})
			return err
		},
		"what a fee depends on": func(ctx context.Context, b *storage.Batch) error {
			_, err := entities.FeeFacts(ctx, b.DB(), &ledger.FeeQuestions{Topic: 1001, Tokens: ids})
			return err
		},
	}
}

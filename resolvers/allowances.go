package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// The lists of allowances and staking rewards. Allowances that an account granted are ordered by the spender, those
// that it received by the owner.
var (
	rewardList = ofNumber("rewards", func(r *ledger.StakingReward) int64 { return int64(r.ConsensusTimestamp) })

	cryptoAllowanceLists = directedLists[ledger.CryptoAllowance]{
		false: {"crypto allowances by spender", 1, func(a *ledger.CryptoAllowance) relay.Key {
			return relay.Key{int64(a.SpenderID)}
		}},
		true: {"crypto allowances by owner", 1, func(a *ledger.CryptoAllowance) relay.Key {
			return relay.Key{int64(a.OwnerID)}
		}},
	}
	tokenAllowanceLists = directedLists[ledger.TokenAllowance]{
		false: {"token allowances by spender", 2, func(a *ledger.TokenAllowance) relay.Key {
			return relay.Key{int64(a.SpenderID), int64(a.TokenID)}
		}},
		true: {"token allowances by owner", 2, func(a *ledger.TokenAllowance) relay.Key {
			return relay.Key{int64(a.OwnerID), int64(a.TokenID)}
		}},
	}
	nftAllowanceLists = directedLists[ledger.NFTAllowance]{
		false: {"NFT allowances", 2, func(a *ledger.NFTAllowance) relay.Key {
			return relay.Key{int64(a.SpenderID), int64(a.TokenID)}
		}},
		true: {"received NFT allowances", 2, func(a *ledger.NFTAllowance) relay.Key {
			return relay.Key{int64(a.OwnerID), int64(a.TokenID)}
		}},
	}
)

// allowancesOf returns one parent for each account, for Account.allowances and receivedAllowances: its fields read the
// allowances that the account gave, or with received those that it received. It reads nothing and never fails.
func allowancesOf(of []*ledger.Account, received bool) (rowplan.Results[*ledger.AccountAllowances], error) {
	return func() ([]*ledger.AccountAllowances, error) {
		return list.Map(of, func(a *ledger.Account) *ledger.AccountAllowances {
			return &ledger.AccountAllowances{AccountID: a.EntityID, Received: received}
		}), nil
	}, nil
}

// AccountAllowancesTokens resolves AccountAllowances.tokens. It queues a read in the batch of q: a page of the
// allowances of fungible tokens that each account gave, or received if Received is set, ordered by the other account
// and the token. Invalid page arguments and more than [MaxAlternatives] alternatives in the filter are BAD_USER_INPUT.
func (fields) AccountAllowancesTokens(
	ctx context.Context, q rowplan.Request, of []*ledger.AccountAllowances, args graph.AccountAllowancesTokensArgs,
) (rowplan.Results[*relay.TokenAllowanceConnection], error) {
	if err := checkAlternatives(len(args.Filter.AnyOf)); err != nil {
		return nil, err
	}
	return bothWays(ctx, q, of, args, tokenAllowanceLists, entities.QueueTokenAllowances)
}

// bothWays queues in the batch of q reading a page of the allowances that each account granted or received, which are
// lists with different orders. One fragment can select both, so parents can be mixed: each direction takes a
// statement. Errors of the arguments are BAD_USER_INPUT; the function that is returned beside one must not be called.
func bothWays[C, F any](
	ctx context.Context, q rowplan.Request, of []*ledger.AccountAllowances, args graph.ListArgs[F],
	lists directedLists[C], queue queueDirected[F, C],
) (rowplan.Results[*relay.Connection[C]], error) {
	directions := list.Map(of, func(a *ledger.AccountAllowances) bool { return a.Received })
	var failed error
	read := storage.QueueGroups(directions, func(received bool, places []int) storage.Result[[]*relay.Connection[C]] {
		ids := list.Map(places, func(i int) ledger.EntityID { return of[i].AccountID })
		lists, err := below(ctx, q, lists[received], args, ids, directed(received, queue))
		if err != nil {
			failed = err
		}
		return lists
	})
	return read, failed
}

// CryptoAllowances resolves Query.cryptoAllowances. It reads a page of the hbar allowances that an account granted,
// ordered by spender. If no account has the alias or address, the list is empty, and the error beside it is a
// [relay.Note] that says so. An id is not checked. Invalid page arguments are BAD_USER_INPUT.
func (r queries) CryptoAllowances(
	ctx context.Context, args graph.QueryCryptoAllowancesArgs,
) (*relay.CryptoAllowanceConnection, error) {
	return listOfAccount(ctx, r.Resolver, cryptoAllowanceLists[false], args.Owner, false, args.Order, args.Args,
		args.Filter,
		directed(false, entities.QueueCryptoAllowances))
}

// TokenAllowances resolves Query.tokenAllowances. It reads a page of the allowances of fungible tokens that an account
// granted, ordered by spender and token. If no account has the alias or address, the list is empty, and the error
// beside it is a [relay.Note] that says so. An id is not checked. Invalid page arguments and more than
// [MaxAlternatives] alternatives in the filter are BAD_USER_INPUT.
func (r queries) TokenAllowances(
	ctx context.Context, args graph.QueryTokenAllowancesArgs,
) (*relay.TokenAllowanceConnection, error) {
	if err := checkAlternatives(len(args.Filter.AnyOf)); err != nil {
		return nil, err
	}
	return listOfAccount(ctx, r.Resolver, tokenAllowanceLists[false], args.Owner, false, args.Order, args.Args,
		args.Filter,
		directed(false, entities.QueueTokenAllowances))
}

// NftAllowances resolves Query.nftAllowances. It reads a page of the allowances for collections that one account
// granted or received, ordered by the other account and the token; nil if no account has the alias or address. An id
// is not checked. Both or neither account, and invalid page arguments, are BAD_USER_INPUT.
func (r queries) NftAllowances(
	ctx context.Context, args graph.QueryNftAllowancesArgs,
) (*relay.NFTAllowanceConnection, error) {
	return ofEither(ctx, r.Resolver, "owner and spender", args.Owner, args.Spender, nftAllowanceLists, args.Order,
		args.Args, args.Filter,
		entities.QueueNftAllowances)
}

// The lists of airdrops: those that an account sent by the receiver, and those that it received by the sender.
var airdropLists = directedLists[ledger.Airdrop]{
	false: {"outstanding airdrops", 3, func(a *ledger.Airdrop) relay.Key {
		return relay.Key{int64(a.ReceiverID), int64(a.TokenID), a.SerialNumber.V}
	}},
	true: {"pending airdrops", 3, func(a *ledger.Airdrop) relay.Key {
		return relay.Key{int64(a.SenderID), int64(a.TokenID), a.SerialNumber.V}
	}},
}

// AirdropNft resolves Airdrop.nft. It queues a read in the batch of q: the NFT of each airdrop. Airdrops of fungible
// tokens have none: no serial has the number 0.
func (fields) AirdropNft(
	_ context.Context, q rowplan.Request, of []*ledger.Airdrop,
) (rowplan.Results[*ledger.NFT], error) {
	key := func(a *ledger.Airdrop) ledger.NFTKey {
		return ledger.NFTKey{TokenID: a.TokenID, SerialNumber: a.SerialNumber.V}
	}
	return entities.QueueNFTsByKey(loading.BatchOf(q), list.Map(of, key)), nil
}

// AccountOutstandingAirdrops resolves Account.outstandingAirdrops. It queues a read in the batch of q: a page of the
// airdrops that each account sent and that are pending, ordered by receiver, token and serial number. Invalid page
// arguments are BAD_USER_INPUT.
func (fields) AccountOutstandingAirdrops(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountOutstandingAirdropsArgs,
) (rowplan.Results[*relay.Connection[ledger.Airdrop]], error) {
	return below(ctx, q, airdropLists[false], args, accountIDs(of), directed(false, entities.QueueAirdrops))
}

// AccountPendingAirdrops resolves Account.pendingAirdrops. It queues a read in the batch of q: a page of the airdrops
// that each account can claim, ordered by sender, token and serial number. Invalid page arguments are BAD_USER_INPUT.
func (fields) AccountPendingAirdrops(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountPendingAirdropsArgs,
) (rowplan.Results[*relay.Connection[ledger.Airdrop]], error) {
	return below(ctx, q, airdropLists[true], args, accountIDs(of), directed(true, entities.QueueAirdrops))
}

// AccountAllowances resolves Account.allowances: what accounts allow others to spend. It reads nothing.
func (fields) AccountAllowances(_ context.Context, _ rowplan.Request, of []*ledger.Account) (
	rowplan.Results[*ledger.AccountAllowances], error,
) {
	return allowancesOf(of, false)
}

// AccountReceivedAllowances resolves Account.receivedAllowances: what accounts may spend of others. It reads nothing.
func (fields) AccountReceivedAllowances(_ context.Context, _ rowplan.Request, of []*ledger.Account) (
	rowplan.Results[*ledger.AccountAllowances], error,
) {
	return allowancesOf(of, true)
}

// AccountRewards resolves Account.rewards. It queues a read in the batch of q: a page of the staking rewards that each
// account received, in tinybars, ordered by time. Invalid page arguments are BAD_USER_INPUT.
func (fields) AccountRewards(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountRewardsArgs,
) (rowplan.Results[*relay.Connection[ledger.StakingReward]], error) {
	return below(ctx, q, rewardList, args, accountIDs(of), entities.QueueStakingRewards)
}

// AccountNftAllowances resolves Account.nftAllowances. It queues a read in the batch of q: a page of the allowances
// for all NFTs of a token that each account gave, ordered by spender and token. Invalid page arguments are
// BAD_USER_INPUT.
func (fields) AccountNftAllowances(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountNftAllowancesArgs,
) (rowplan.Results[*relay.Connection[ledger.NFTAllowance]], error) {
	return below(ctx, q, nftAllowanceLists[false], args, accountIDs(of), directed(false, entities.QueueNftAllowances))
}

// AccountReceivedNFTAllowances resolves Account.receivedNFTAllowances. It queues a read in the batch of q: a page of
// the allowances for all NFTs of a token that each account received, ordered by owner and token. Invalid page
// arguments are BAD_USER_INPUT.
func (fields) AccountReceivedNFTAllowances(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountReceivedNFTAllowancesArgs,
) (rowplan.Results[*relay.Connection[ledger.NFTAllowance]], error) {
	return below(ctx, q, nftAllowanceLists[true], args, accountIDs(of), directed(true, entities.QueueNftAllowances))
}

// AccountAllowancesCrypto resolves AccountAllowances.crypto. It queues a read in the batch of q: a page of the
// allowances of hbars that each account gave, ordered by spender, or received, ordered by owner. Invalid page
// arguments are BAD_USER_INPUT.
func (fields) AccountAllowancesCrypto(
	ctx context.Context, q rowplan.Request, of []*ledger.AccountAllowances, args graph.AccountAllowancesCryptoArgs,
) (rowplan.Results[*relay.Connection[ledger.CryptoAllowance]], error) {
	return bothWays(ctx, q, of, args, cryptoAllowanceLists, entities.QueueCryptoAllowances)
}

// Airdrops resolves Query.airdrops. It reads a page of the pending airdrops of a sender or a receiver, ordered by the
// other one, token and serial number; nil if no account has the alias or address. An id is not checked. Both or
// neither, and invalid page arguments, are BAD_USER_INPUT.
func (r queries) Airdrops(ctx context.Context, args graph.QueryAirdropsArgs) (
	*relay.Connection[ledger.Airdrop], error,
) {
	return ofEither(
		ctx, r.Resolver, "sender and receiver", args.Sender, args.Receiver, airdropLists, args.Order, args.Args,
		args.Filter, entities.QueueAirdrops,
	)
}

// StakingRewards resolves Query.stakingRewards. It reads a page of the staking rewards of an account, in tinybars,
// ordered by time. If the account does not exist, the list is empty, and the error beside it is a [relay.Note] that
// says so. Invalid page arguments are BAD_USER_INPUT.
func (r queries) StakingRewards(ctx context.Context, args graph.QueryStakingRewardsArgs) (
	*relay.Connection[ledger.StakingReward], error,
) {
	return listOfAccount(
		ctx, r.Resolver, rewardList, args.Account, true, args.Order, args.Args, args.Filter,
		entities.QueueStakingRewards,
	)
}

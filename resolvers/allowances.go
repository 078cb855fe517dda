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

// The lists of allowances and staking rewards. Allowances that an account granted are ordered by the spender, those that it received by the owner.
var (
	rewardList = listOf[ledger.StakingReward]{"rewards", 1, func(r *ledger.StakingReward) relay.Key { return relay.Key{int64(r.ConsensusTimestamp)} }}

	grantedCryptoList = listOf[ledger.CryptoAllowance]{
		"crypto allowances by spender", 1, func(a *ledger.CryptoAllowance) relay.Key { return relay.Key{int64(a.SpenderID)} },
	}
	receivedCryptoList = listOf[ledger.CryptoAllowance]{
		"crypto allowances by owner", 1, func(a *ledger.CryptoAllowance) relay.Key { return relay.Key{int64(a.OwnerID)} },
	}
	grantedTokenList = listOf[ledger.TokenAllowance]{
		"token allowances by spender", 2, func(a *ledger.TokenAllowance) relay.Key { return relay.Key{int64(a.SpenderID), int64(a.TokenID)} },
	}
	receivedTokenList = listOf[ledger.TokenAllowance]{
		"token allowances by owner", 2, func(a *ledger.TokenAllowance) relay.Key { return relay.Key{int64(a.OwnerID), int64(a.TokenID)} },
	}
	grantedNftList = listOf[ledger.NftAllowance]{
		"NFT allowances", 2, func(a *ledger.NftAllowance) relay.Key { return relay.Key{int64(a.SpenderID), int64(a.TokenID)} },
	}
	receivedNftList = listOf[ledger.NftAllowance]{
		"received NFT allowances", 2, func(a *ledger.NftAllowance) relay.Key { return relay.Key{int64(a.OwnerID), int64(a.TokenID)} },
	}
)

func (fields) CryptoAllowanceOwner(_ context.Context, q rowplan.Request, of []*ledger.CryptoAllowance) (rowplan.Results[*ledger.Account], error) {
	return accounts(q, of, func(v *ledger.CryptoAllowance) ledger.EntityID { return v.OwnerID })
}

func (fields) CryptoAllowanceSpender(_ context.Context, q rowplan.Request, of []*ledger.CryptoAllowance) (rowplan.Results[*ledger.Account], error) {
	return accounts(q, of, func(v *ledger.CryptoAllowance) ledger.EntityID { return v.SpenderID })
}

func (fields) TokenAllowanceOwner(_ context.Context, q rowplan.Request, of []*ledger.TokenAllowance) (rowplan.Results[*ledger.Account], error) {
	return accounts(q, of, func(v *ledger.TokenAllowance) ledger.EntityID { return v.OwnerID })
}

func (fields) TokenAllowanceSpender(_ context.Context, q rowplan.Request, of []*ledger.TokenAllowance) (rowplan.Results[*ledger.Account], error) {
	return accounts(q, of, func(v *ledger.TokenAllowance) ledger.EntityID { return v.SpenderID })
}

func (fields) TokenAllowanceToken(_ context.Context, q rowplan.Request, of []*ledger.TokenAllowance) (rowplan.Results[*ledger.Token], error) {
	return tokens(q, of, func(v *ledger.TokenAllowance) ledger.EntityID { return v.TokenID })
}

func (fields) NftAllowanceOwner(_ context.Context, q rowplan.Request, of []*ledger.NftAllowance) (rowplan.Results[*ledger.Account], error) {
	return accounts(q, of, func(v *ledger.NftAllowance) ledger.EntityID { return v.OwnerID })
}

func (fields) NftAllowanceSpender(_ context.Context, q rowplan.Request, of []*ledger.NftAllowance) (rowplan.Results[*ledger.Account], error) {
	return accounts(q, of, func(v *ledger.NftAllowance) ledger.EntityID { return v.SpenderID })
}

func (fields) NftAllowanceToken(_ context.Context, q rowplan.Request, of []*ledger.NftAllowance) (rowplan.Results[*ledger.Token], error) {
	return tokens(q, of, func(v *ledger.NftAllowance) ledger.EntityID { return v.TokenID })
}

func (fields) StakingRewardAccount(_ context.Context, q rowplan.Request, of []*ledger.StakingReward) (rowplan.Results[*ledger.Account], error) {
	return accounts(q, of, func(v *ledger.StakingReward) ledger.EntityID { return v.AccountID })
}

func (fields) StakingRewardTransaction(_ context.Context, q rowplan.Request, of []*ledger.StakingReward) (rowplan.Results[*ledger.Transaction], error) {
	return transactionsAt(q, of, func(v *ledger.StakingReward) ledger.Timestamp { return v.ConsensusTimestamp })
}

// AccountAllowances returns the parents of the allowances that accounts granted.
func (fields) AccountAllowances(_ context.Context, _ rowplan.Request, of []*ledger.Account) (rowplan.Results[*ledger.AccountAllowances], error) {
	return allowancesOf(of, false)
}

// AccountReceivedAllowances returns the parents of the allowances that accounts received.
func (fields) AccountReceivedAllowances(_ context.Context, _ rowplan.Request, of []*ledger.Account) (rowplan.Results[*ledger.AccountAllowances], error) {
	return allowancesOf(of, true)
}

func allowancesOf(of []*ledger.Account, received bool) (rowplan.Results[*ledger.AccountAllowances], error) {
	return func() ([]*ledger.AccountAllowances, error) {
		return list.Map(of, func(a *ledger.Account) *ledger.AccountAllowances {
			return &ledger.AccountAllowances{AccountID: a.EntityID, Received: received}
		}), nil
	}, nil
}

// AccountRewards reads the staking rewards of accounts.
func (fields) AccountRewards(ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountRewardsArgs) (
	rowplan.Results[*relay.StakingRewardConnection], error,
) {
	return rewardList.below(ctx, q, args.Order, args.Args, func(b *storage.Batch, p storage.Page, done func([][]*ledger.StakingReward)) error {
		entities.QueueStakingRewards(b, list.Map(of, accountEntityID), args.Filter, p, done)
		return nil
	})
}

// AccountNftAllowances reads the allowances for collections that accounts granted.
func (fields) AccountNftAllowances(ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountNftAllowancesArgs) (
	rowplan.Results[*relay.NftAllowanceConnection], error,
) {
	return grantedNftList.below(ctx, q, args.Order, args.Args, nftAllowances(list.Map(of, accountEntityID), false, args.Filter))
}

// AccountReceivedNftAllowances reads the allowances for collections that accounts received.
func (fields) AccountReceivedNftAllowances(ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountReceivedNftAllowancesArgs) (
	rowplan.Results[*relay.NftAllowanceConnection], error,
) {
	return receivedNftList.below(ctx, q, args.Order, args.Args, nftAllowances(list.Map(of, accountEntityID), true, args.Filter))
}

func nftAllowances(ids []ledger.EntityID, received bool, f *ledger.NftAllowanceFilter) queueRows[ledger.NftAllowance] {
	return func(b *storage.Batch, p storage.Page, done func([][]*ledger.NftAllowance)) error {
		entities.QueueNftAllowances(b, ids, received, f, p, done)
		return nil
	}
}

// AccountAllowancesCrypto reads allowances of hbar.
func (fields) AccountAllowancesCrypto(
	ctx context.Context, q rowplan.Request, of []*ledger.AccountAllowances, args graph.AccountAllowancesCryptoArgs,
) (rowplan.Results[*relay.CryptoAllowanceConnection], error) {
	return bothWays(ctx, q, of, args, grantedCryptoList, receivedCryptoList, queueCryptoAllowances)
}

// AccountAllowancesTokens reads allowances of fungible tokens.
func (fields) AccountAllowancesTokens(
	ctx context.Context, q rowplan.Request, of []*ledger.AccountAllowances, args graph.AccountAllowancesTokensArgs,
) (rowplan.Results[*relay.TokenAllowanceConnection], error) {
	return bothWays(ctx, q, of, args, grantedTokenList, receivedTokenList, queueTokenAllowances)
}

// queueAllowances queues reading the allowances that accounts granted or received.
type queueAllowances[C, F any] func(b *storage.Batch, ids []ledger.EntityID, received bool, f *F, p storage.Page, done func([][]*C)) error

// bothWays reads allowances that were granted or received, which are lists with different orders. One fragment can select both, so parents can be mixed.
func bothWays[C, F any](
	ctx context.Context, q rowplan.Request, of []*ledger.AccountAllowances, args graph.ListArgs[F], granted, received listOf[C], queue queueAllowances[C, F],
) (rowplan.Results[*relay.Connection[C]], error) {
	type part struct {
		places []int
		get    rowplan.Results[*relay.Connection[C]]
	}
	var parts []part
	for _, l := range []struct {
		received bool
		list     listOf[C]
	}{{false, granted}, {true, received}} {
		var ids []ledger.EntityID
		var places []int
		for i, a := range of {
			if a.Received == l.received {
				ids, places = append(ids, a.AccountID), append(places, i)
			}
		}
		if ids == nil {
			continue
		}
		get, err := l.list.below(ctx, q, args.Order, args.Args, func(b *storage.Batch, p storage.Page, done func([][]*C)) error {
			return queue(b, ids, l.received, args.Filter, p, done)
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{places, get})
	}
	return func() ([]*relay.Connection[C], error) {
		out := make([]*relay.Connection[C], len(of))
		for _, p := range parts {
			got, err := p.get()
			if err != nil {
				return nil, err
			}
			for i, c := range got {
				out[p.places[i]] = c
			}
		}
		return out, nil
	}, nil
}

func queueCryptoAllowances(
	b *storage.Batch, ids []ledger.EntityID, received bool, f *ledger.CryptoAllowanceFilter, p storage.Page, done func([][]*ledger.CryptoAllowance),
) error {
	entities.QueueCryptoAllowances(b, ids, received, f, p, done)
	return nil
}

func queueTokenAllowances(
	b *storage.Batch, ids []ledger.EntityID, received bool, f *ledger.TokenAllowanceFilter, p storage.Page, done func([][]*ledger.TokenAllowance),
) error {
	if f != nil {
		if err := checkAlternatives(len(f.AnyOf)); err != nil {
			return err
		}
	}
	entities.QueueTokenAllowances(b, ids, received, f, p, done)
	return nil
}

// CryptoAllowances returns a page of the hbar allowances that an account granted.
func (r queries) CryptoAllowances(ctx context.Context, args graph.QueryCryptoAllowancesArgs) (*relay.CryptoAllowanceConnection, error) {
	return listOfAccount(ctx, r.Resolver, grantedCryptoList, args.Owner, false, args.Order, args.Args,
		func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.CryptoAllowance)) error {
			return queueCryptoAllowances(b, []ledger.EntityID{id}, false, args.Filter, p, done)
		})
}

// TokenAllowances returns a page of the allowances of fungible tokens that an account granted.
func (r queries) TokenAllowances(ctx context.Context, args graph.QueryTokenAllowancesArgs) (*relay.TokenAllowanceConnection, error) {
	return listOfAccount(ctx, r.Resolver, grantedTokenList, args.Owner, false, args.Order, args.Args,
		func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.TokenAllowance)) error {
			return queueTokenAllowances(b, []ledger.EntityID{id}, false, args.Filter, p, done)
		})
}

// StakingRewards returns a page of the staking rewards of an account.
func (r queries) StakingRewards(ctx context.Context, args graph.QueryStakingRewardsArgs) (*relay.StakingRewardConnection, error) {
	return listOfAccount(ctx, r.Resolver, rewardList, args.Account, true, args.Order, args.Args,
		func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.StakingReward)) error {
			entities.QueueStakingRewards(b, []ledger.EntityID{id}, args.Filter, p, done)
			return nil
		})
}

// NftAllowances returns a page of the allowances for collections that one account granted or received.
func (r queries) NftAllowances(ctx context.Context, args graph.QueryNftAllowancesArgs) (*relay.NftAllowanceConnection, error) {
	return ofEither(ctx, r.Resolver, "owner and spender", args.Owner, args.Spender, func(id ledger.EntityID, second bool) (*relay.NftAllowanceConnection, error) {
		l := grantedNftList
		if second {
			l = receivedNftList
		}
		return rootList(ctx, r.Resolver, l, args.Order, args.Args, nftAllowances([]ledger.EntityID{id}, second, args.Filter))
	})
}

package resolvers

import (
	"context"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// allowanceRelations are the arrows from accounts to allowances and staking rewards, and from these.
type allowanceRelations struct {
	granted  *rowplan.Relation[*ledger.Account, *ledger.AccountAllowances]
	received *rowplan.Relation[*ledger.Account, *ledger.AccountAllowances]
	rewards  *rowplan.Relation[*ledger.Account, *relay.StakingRewardConnection]

	crypto *rowplan.Relation[*ledger.AccountAllowances, *relay.CryptoAllowanceConnection]
	tokens *rowplan.Relation[*ledger.AccountAllowances, *relay.TokenAllowanceConnection]

	cryptoOwner       *rowplan.Relation[*ledger.CryptoAllowance, *ledger.Account]
	cryptoSpender     *rowplan.Relation[*ledger.CryptoAllowance, *ledger.Account]
	tokenOwner        *rowplan.Relation[*ledger.TokenAllowance, *ledger.Account]
	tokenSpender      *rowplan.Relation[*ledger.TokenAllowance, *ledger.Account]
	token             *rowplan.Relation[*ledger.TokenAllowance, *ledger.Token]
	rewarded          *rowplan.Relation[*ledger.StakingReward, *ledger.Account]
	rewardTransaction *rowplan.Relation[*ledger.StakingReward, *ledger.Transaction]
}

func newAllowanceRelations() allowanceRelations {
	return allowanceRelations{
		granted:  allowancesOf(false),
		received: allowancesOf(true),
		rewards: listed(rewardList, func(_ context.Context, b *storage.Batch, parents []*ledger.Account, f *ledger.StakingRewardFilter, _ rowplan.Args, p storage.Page, done func([][]*ledger.StakingReward)) error {
			entities.QueueStakingRewards(b, keys(parents, accountEntityID), f, p, done)
			return nil
		}),

		crypto: bothWays(grantedCryptoList, receivedCryptoList, func(b *storage.Batch, ids []ledger.EntityID, received bool, f *ledger.CryptoAllowanceFilter, p storage.Page, done func([][]*ledger.CryptoAllowance)) error {
			entities.QueueCryptoAllowances(b, ids, received, f, p, done)
			return nil
		}),
		tokens: bothWays(grantedTokenList, receivedTokenList, queueTokenAllowances),

		cryptoOwner:       accountOf(func(a *ledger.CryptoAllowance) ledger.EntityID { return a.OwnerID }),
		cryptoSpender:     accountOf(func(a *ledger.CryptoAllowance) ledger.EntityID { return a.SpenderID }),
		tokenOwner:        accountOf(func(a *ledger.TokenAllowance) ledger.EntityID { return a.OwnerID }),
		tokenSpender:      accountOf(func(a *ledger.TokenAllowance) ledger.EntityID { return a.SpenderID }),
		token:             tokenOf(func(a *ledger.TokenAllowance) ledger.EntityID { return a.TokenID }),
		rewarded:          accountOf(func(r *ledger.StakingReward) ledger.EntityID { return r.AccountID }),
		rewardTransaction: transactionAtTime(func(r *ledger.StakingReward) ledger.Timestamp { return r.ConsensusTimestamp }),
	}
}

func (r *allowanceRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	allowances := func() *rowplan.Object[*ledger.AccountAllowances] { return t.AccountAllowances }
	t.Account.Add("allowances", rowplan.RelatedOne(r.granted, allowances))
	t.Account.Add("receivedAllowances", rowplan.RelatedOne(r.received, allowances))
	connect(t.Account, "rewards", r.rewards, func() *rowplan.Object[*relay.StakingRewardConnection] { return t.StakingRewardConnection })
	connect(t.AccountAllowances, "crypto", r.crypto, func() *rowplan.Object[*relay.CryptoAllowanceConnection] { return t.CryptoAllowanceConnection })
	connect(t.AccountAllowances, "tokens", r.tokens, func() *rowplan.Object[*relay.TokenAllowanceConnection] { return t.TokenAllowanceConnection })
	t.CryptoAllowance.Add("owner", rowplan.RelatedOne(r.cryptoOwner, account))
	t.CryptoAllowance.Add("spender", rowplan.RelatedOne(r.cryptoSpender, account))
	t.TokenAllowance.Add("owner", rowplan.RelatedOne(r.tokenOwner, account))
	t.TokenAllowance.Add("spender", rowplan.RelatedOne(r.tokenSpender, account))
	t.TokenAllowance.Add("token", rowplan.RelatedOne(r.token, func() *rowplan.Object[*ledger.Token] { return t.Token }))
	t.StakingReward.Add("account", rowplan.RelatedOne(r.rewarded, account))
	t.StakingReward.Add("transaction", rowplan.RelatedOne(r.rewardTransaction, func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }))
}

// allowancesOf is the relation from accounts to what they granted or received; it reads nothing itself.
func allowancesOf(received bool) *rowplan.Relation[*ledger.Account, *ledger.AccountAllowances] {
	return &rowplan.Relation[*ledger.Account, *ledger.AccountAllowances]{
		Load: func(_ context.Context, _ rowplan.Batch, parents []*ledger.Account, _ rowplan.Args) (func() ([]*ledger.AccountAllowances, error), error) {
			out := make([]*ledger.AccountAllowances, len(parents))
			for i, a := range parents {
				out[i] = &ledger.AccountAllowances{AccountID: a.EntityID, Received: received}
			}
			return func() ([]*ledger.AccountAllowances, error) { return out, nil }, nil
		},
	}
}

var (
	rewardList         = listOf[ledger.StakingReward]{rewardKind, 1, func(r *ledger.StakingReward) relay.Key { return relay.Key{int64(r.ConsensusTimestamp)} }}
	grantedCryptoList  = listOf[ledger.CryptoAllowance]{grantedCryptoKind, 1, func(a *ledger.CryptoAllowance) relay.Key { return relay.Key{int64(a.SpenderID)} }}
	receivedCryptoList = listOf[ledger.CryptoAllowance]{receivedCryptoKind, 1, func(a *ledger.CryptoAllowance) relay.Key { return relay.Key{int64(a.OwnerID)} }}
	grantedTokenList   = listOf[ledger.TokenAllowance]{grantedAllowanceKind, 2, func(a *ledger.TokenAllowance) relay.Key { return relay.Key{int64(a.SpenderID), int64(a.TokenID)} }}
	receivedTokenList  = listOf[ledger.TokenAllowance]{receivedAllowanceKind, 2, func(a *ledger.TokenAllowance) relay.Key { return relay.Key{int64(a.OwnerID), int64(a.TokenID)} }}
)

// bothWays is the relation to allowances that were granted or received, which are lists of different orders. One fragment can ask for both, so
// the parents may be mixed.
func bothWays[C, F any](granted, received listOf[C], queue func(b *storage.Batch, ids []ledger.EntityID, received bool, f *F, p storage.Page, done func([][]*C)) error) *rowplan.Relation[*ledger.AccountAllowances, *relay.Connection[C]] {
	return queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.AccountAllowances, args rowplan.Args, done func([]*relay.Connection[C])) error {
		f, err := filterArg[F](ctx, args, "filter")
		if err != nil {
			return err
		}
		out := make([]*relay.Connection[C], len(parents))
		left := 0
		var queues []func() error
		for _, way := range []struct {
			received bool
			list     listOf[C]
		}{{false, granted}, {true, received}} {
			var ids []ledger.EntityID
			var places []int
			for i, a := range parents {
				if a.Received == way.received {
					ids, places = append(ids, a.AccountID), append(places, i)
				}
			}
			if ids == nil {
				continue
			}
			p, err := pageArgs(ctx, args, way.list.kind, way.list.columns)
			if err != nil {
				return err
			}
			left++
			queues = append(queues, func() error {
				return queue(b, ids, way.received, f, storagePage(p), func(rows [][]*C) {
					for i, c := range connections(way.list.kind, p, rows, way.list.key) {
						out[places[i]] = c
					}
					left--
					if left == 0 {
						done(out)
					}
				})
			})
		}
		for _, q := range queues {
			if err := q(); err != nil {
				return err
			}
		}
		return nil
	})
}

func queueTokenAllowances(b *storage.Batch, ids []ledger.EntityID, received bool, f *ledger.TokenAllowanceFilter, p storage.Page, done func([][]*ledger.TokenAllowance)) error {
	if f != nil {
		if err := checkAlternatives(len(f.AnyOf)); err != nil {
			return err
		}
	}
	entities.QueueTokenAllowances(b, ids, received, f, p, done)
	return nil
}

// cryptoAllowances reads a page of the hbar allowances that an account granted.
func (r *Resolver) cryptoAllowances(ctx context.Context, owner ledger.AccountRef, f *ledger.CryptoAllowanceFilter, order relay.Order, args relay.Args) (*relay.CryptoAllowanceConnection, error) {
	return listOfAccount(ctx, r, grantedCryptoList, owner, false, order, args, func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.CryptoAllowance)) error {
		entities.QueueCryptoAllowances(b, []ledger.EntityID{id}, false, f, p, done)
		return nil
	})
}

// tokenAllowances reads a page of the allowances of fungible tokens that an account granted.
func (r *Resolver) tokenAllowances(ctx context.Context, owner ledger.AccountRef, f *ledger.TokenAllowanceFilter, order relay.Order, args relay.Args) (*relay.TokenAllowanceConnection, error) {
	return listOfAccount(ctx, r, grantedTokenList, owner, false, order, args, func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.TokenAllowance)) error {
		return queueTokenAllowances(b, []ledger.EntityID{id}, false, f, p, done)
	})
}

// stakingRewards reads a page of the staking rewards that an account was paid.
func (r *Resolver) stakingRewards(ctx context.Context, account ledger.AccountRef, f *ledger.StakingRewardFilter, order relay.Order, args relay.Args) (*relay.StakingRewardConnection, error) {
	return listOfAccount(ctx, r, rewardList, account, true, order, args, func(b *storage.Batch, id ledger.EntityID, p storage.Page, done func([][]*ledger.StakingReward)) error {
		entities.QueueStakingRewards(b, []ledger.EntityID{id}, f, p, done)
		return nil
	})
}

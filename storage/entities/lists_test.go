package entities

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// key identifies a row in its list: the values of the columns that the list is sorted by.
type key = []int64

// A listing is a list, or one list per parent.
type listing struct {
	all  string // reads the parent (0 if there is none) and the key of each row
	read func(ctx context.Context, db *storage.DB, parents []ledger.EntityID, p storage.Page) ([][]key, error)
}

// root returns a list without parents.
func root[T any](
	all string, read func(context.Context, *storage.DB, storage.Page) ([]*T, error), keyOf func(*T) key,
) listing {
	return listing{"select 0::bigint, " + all, func(ctx context.Context, db *storage.DB, _ []ledger.EntityID,
		p storage.Page,
	) ([][]key, error) {
		rows, err := read(ctx, db, p)
		return [][]key{list.Map(rows, keyOf)}, err
	}}
}

// perParent returns the lists of parents, which one statement reads.
func perParent[T any](
	all string, queue func(*storage.Batch, []ledger.EntityID, storage.Page) storage.Result[[][]*T], keyOf func(*T) key,
) listing {
	return listing{"select " + all, func(ctx context.Context, db *storage.DB, parents []ledger.EntityID,
		p storage.Page,
	) ([][]key, error) {
		b := db.NewBatch()
		rows, err := storage.Run(ctx, b, queue(b, parents, p))
		return list.Map(rows, func(page []*T) []key { return list.Map(page, keyOf) }), err
	}}
}

func ids(v ...ledger.EntityID) key { return storage.Int64s(v) }

var listings = map[string]listing{
	"accounts": root(`id from entity where type in ('ACCOUNT', 'CONTRACT')`,
		func(ctx context.Context, db *storage.DB, p storage.Page) ([]*ledger.Account, error) {
			return Accounts(ctx, db, ledger.AccountFilter{}, false, false, p)
		},
		func(a *ledger.Account) key { return ids(a.EntityID) }),
	"balances": root(`id from entity where type in ('ACCOUNT', 'CONTRACT')`,
		func(ctx context.Context, db *storage.DB, p storage.Page) ([]*ledger.Balance, error) {
			return Balances(ctx, db, ledger.BalanceFilter{}, p)
		},
		func(b *ledger.Balance) key { return ids(b.AccountID) }),
	"contracts": root(`id from entity where type = 'CONTRACT'`,
		func(ctx context.Context, db *storage.DB, p storage.Page) ([]*ledger.Contract, error) {
			return Contracts(ctx, db, nil, false, p)
		},
		func(c *ledger.Contract) key { return ids(c.EntityID) }),
	"tokens": root(`token_id from token`,
		func(ctx context.Context, db *storage.DB, p storage.Page) ([]*ledger.Token, error) {
			return Tokens(ctx, db, ledger.TokenFilter{}, ledger.Null[ledger.EntityID]{},
				ledger.Null[ledger.EntityID]{}, false, p)
		},
		func(t *ledger.Token) key { return ids(t.EntityID) }),
	"registered nodes": root(`registered_node_id from registered_node where not coalesce(deleted, false)`,
		func(ctx context.Context, db *storage.DB, p storage.Page) ([]*ledger.RegisteredNode, error) {
			return RegisteredNodes(ctx, db, ledger.RegisteredNodeFilter{}, p)
		},
		func(n *ledger.RegisteredNode) key { return key{n.RegisteredNodeID} }),
	"token relationships": perParent(`account_id, token_id from token_account where associated`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.TokenRelationship] {
			return QueueTokenRelationships(b, of, ledger.TokenRelationshipFilter{}, p)
		}, func(r *ledger.TokenRelationship) key { return ids(r.TokenID) }),
	"NFTs of accounts": perParent(`account_id, token_id, serial_number from nft where account_id is not null`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.NFT] {
			return QueueNFTsOf(b, OfAccount, of, ledger.Null[ledger.EntityID]{}, ledger.NFTFilter{}, p)
		}, func(n *ledger.NFT) key { return key{int64(n.TokenID), n.SerialNumber} }),
	"NFTs of tokens": perParent(`token_id, token_id, serial_number from nft`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.NFT] {
			return QueueNFTsOf(b, OfToken, of, ledger.Null[ledger.EntityID]{}, ledger.NFTFilter{}, p)
		}, func(n *ledger.NFT) key { return key{int64(n.TokenID), n.SerialNumber} }),
	"sent airdrops": perParent(`sender_account_id, receiver_account_id, token_id, serial_number from token_airdrop `+
		`where state = 'PENDING'`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.Airdrop] {
			return QueueAirdrops(b, of, false, ledger.AirdropFilter{}, p)
		},
		func(a *ledger.Airdrop) key { return key{int64(a.ReceiverID), int64(a.TokenID), a.SerialNumber.V} }),
	"received airdrops": perParent(`receiver_account_id, sender_account_id, token_id, serial_number from `+
		`token_airdrop where state = 'PENDING'`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.Airdrop] {
			return QueueAirdrops(b, of, true, ledger.AirdropFilter{}, p)
		},
		func(a *ledger.Airdrop) key { return key{int64(a.SenderID), int64(a.TokenID), a.SerialNumber.V} }),
	"granted hbar allowances": perParent(`owner, spender from crypto_allowance where amount > 0`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.CryptoAllowance] {
			return QueueCryptoAllowances(b, of, false, ledger.CryptoAllowanceFilter{}, p)
		}, func(a *ledger.CryptoAllowance) key { return ids(a.SpenderID) }),
	"received hbar allowances": perParent(`spender, owner from crypto_allowance where amount > 0`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.CryptoAllowance] {
			return QueueCryptoAllowances(b, of, true, ledger.CryptoAllowanceFilter{}, p)
		}, func(a *ledger.CryptoAllowance) key { return ids(a.OwnerID) }),
	"granted token allowances": perParent(`owner, spender, token_id from token_allowance where amount > 0`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.TokenAllowance] {
			return QueueTokenAllowances(b, of, false, ledger.TokenAllowanceFilter{}, p)
		}, func(a *ledger.TokenAllowance) key { return ids(a.SpenderID, a.TokenID) }),
	"received token allowances": perParent(`spender, owner, token_id from token_allowance where amount > 0`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.TokenAllowance] {
			return QueueTokenAllowances(b, of, true, ledger.TokenAllowanceFilter{}, p)
		}, func(a *ledger.TokenAllowance) key { return ids(a.OwnerID, a.TokenID) }),
	"granted NFT allowances": perParent(`owner, spender, token_id from nft_allowance where approved_for_all`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.NFTAllowance] {
			return QueueNftAllowances(b, of, false, ledger.NFTAllowanceFilter{}, p)
		}, func(a *ledger.NFTAllowance) key { return ids(a.SpenderID, a.TokenID) }),
	"received NFT allowances": perParent(`spender, owner, token_id from nft_allowance where approved_for_all`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.NFTAllowance] {
			return QueueNftAllowances(b, of, true, ledger.NFTAllowanceFilter{}, p)
		}, func(a *ledger.NFTAllowance) key { return ids(a.OwnerID, a.TokenID) }),
	"staking rewards": perParent(`account_id, consensus_timestamp from staking_reward_transfer`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.StakingReward] {
			return QueueStakingRewards(b, of, ledger.StakingRewardFilter{}, p)
		},
		func(r *ledger.StakingReward) key { return key{int64(r.ConsensusTimestamp)} }),
	"hooks": perParent(`owner_id, hook_id from hook`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.Hook] {
			return QueueHooks(b, of, ledger.HookFilter{}, p)
		},
		func(h *ledger.Hook) key { return key{h.HookID} }),
	"topic messages": perParent(`topic_id, consensus_timestamp from topic_message`,
		func(b *storage.Batch, of []ledger.EntityID, p storage.Page) storage.Result[[][]*ledger.TopicMessage] {
			return QueueTopicMessages(b, of, ledger.TopicMessageFilter{}, p)
		},
		func(m *ledger.TopicMessage) key { return key{int64(m.ConsensusTimestamp)} }),
}

// TestPages reads random pages of each list, several parents at once, and compares them with the same selection from
// all keys of the table.
func TestPages(t *testing.T) {
	t.Parallel()
	testPages(t, demotest.Network.Shared(t))
}

// TestPagesKeyByKey is [TestPages] with the statements for distributed tables.
func TestPagesKeyByKey(t *testing.T) {
	t.Parallel()
	url := demotest.Network.Fresh(t)
	if err := pgtest.Distributed(t.Context(), url, migrations.Distribution()); err != nil {
		t.Fatal(err)
	}
	testPages(t, url)
}

func testPages(t *testing.T, url string) {
	t.Helper()
	db, err := storage.Open(t.Context(), storage.Options{PoolOptions: storage.PoolOptions{URL: pgtest.Pooled(t, url)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.ReadPlacement(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn := pgtest.Connect(t, url)
	for name, l := range listings {
		t.Run(name, func(t *testing.T) {
			all := map[ledger.EntityID][]key{}
			rows, err := conn.Query(t.Context(), l.all)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				values, err := rows.Values()
				if err != nil {
					t.Fatal(err)
				}
				row := list.Map(values, func(v any) int64 { return v.(int64) })
				all[ledger.EntityID(row[0])] = append(all[ledger.EntityID(row[0])], row[1:])
			}
			if rows.Err() != nil || len(all) == 0 {
				t.Fatalf("%d lists, %v", len(all), rows.Err())
			}
			parents := []ledger.EntityID{}
			for id, keys := range all {
				slices.SortFunc(keys, slices.Compare)
				parents = append(parents, id)
			}
			slices.Sort(parents)
			random := rand.New(rand.NewPCG(1, uint64(len(name))))
			for range 60 {
				of := []ledger.EntityID{parents[random.IntN(len(parents))]}
				if len(parents) > 1 {
					// an account without rows, and perhaps one twice
					of = append(of, 999_999_999, parents[random.IntN(len(parents))])
				}
				p := storage.Page{
					Limit: 1 + random.IntN(9), Desc: random.IntN(2) == 0,
					Greater: bound(random, all[of[0]]), Less: bound(random, all[of[0]]),
				}
				got, err := l.read(t.Context(), db, of, p)
				if err != nil {
					t.Fatal(err)
				}
				want := list.Map(of, func(id ledger.EntityID) []key { return selected(all[id], p) })
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("parents %v, page %+v:\ngot  %v\nwant %v", of, p, got, want)
				}
			}
		})
	}
}

// bound returns a bound of a page: none, the key of a row, or one next to it.
func bound(random *rand.Rand, keys []key) []any {
	if random.IntN(3) == 0 {
		return nil
	}
	k := slices.Clone(keys[random.IntN(len(keys))])
	k[random.IntN(len(k))] += int64(random.IntN(3) - 1)
	return list.Map(k, func(v int64) any { return v })
}

// selected returns the keys of the page.
func selected(sorted []key, p storage.Page) (page []key) {
	compare := func(k key, bound []any) int {
		return slices.Compare(k, list.Map(bound, func(v any) int64 { return v.(int64) }))
	}
	for _, k := range sorted {
		if (p.Greater == nil || compare(k, p.Greater) > 0) && (p.Less == nil || compare(k, p.Less) < 0) {
			page = append(page, k)
		}
	}
	if p.Desc {
		slices.Reverse(page)
	}
	return page[:min(len(page), p.Limit)]
}

package storage

import "heliograph/internal/domain/ledger"

func nftAllowanceTargets(a *ledger.NftAllowance, into []any) []any {
	return append(into, &a.ApprovedForAll, &a.OwnerID, &a.SpenderID, &a.TokenID, &a.Timestamp.From, &a.Timestamp.To)
}

// QueueNftAllowances queues reading a page of the collections that each of some accounts lets others take, or with received may take from others, by the
// other account and the token; done gets one list for each account.
func (b *Batch) QueueNftAllowances(accounts []ledger.EntityID, received bool, f *ledger.NftAllowanceFilter, p Page, done func([][]*ledger.NftAllowance)) {
	own, other := "owner", "spender"
	if received {
		own, other = other, own
	}
	from, arg := ofParents(accounts)
	w := where{args: []any{arg}}
	if f != nil {
		if f.Bounds == ledger.BoundsInOrder {
			filter(&w, other, withoutBounds(f.AccountID))
			filter(&w, "token_id", withoutBounds(f.TokenID))
			w.inOrder(boundsOn(other, f.AccountID), boundsOn("token_id", f.TokenID))
		} else {
			filter(&w, other, f.AccountID)
			filter(&w, "token_id", f.TokenID)
		}
	}
	w.keyset(p, other, "token_id")
	queueChildren(b, len(accounts), `select p.ord, a.approved_for_all, a.owner, a.spender, a.token_id, lower(a.timestamp_range), upper(a.timestamp_range)
from `+from+` cross join lateral (
  select * from nft_allowance where `+own+` = p.id and approved_for_all`+w.String()+w.orderBy(p, other, "token_id")+`) a
order by p.ord, a.`+other+p.direction()+`, a.token_id`+p.direction(), w.args, nftAllowanceTargets, nil, itself, done)
}

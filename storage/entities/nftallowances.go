package entities

import (
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var nftAllowanceRows = storage.MapperOf(func(a *ledger.NftAllowance, into []any) []any {
	return append(into, &a.ApprovedForAll, &a.OwnerID, &a.SpenderID, &a.TokenID, &a.Timestamp.From, &a.Timestamp.To)
}, nil)

// QueueNftAllowances queues a query for the NFT allowances that each of the given accounts granted, or with received was granted. They are ordered by the
// other account and the token. done receives one page per account.
func QueueNftAllowances(b *storage.Batch, accounts []ledger.EntityID, received bool, f *ledger.NftAllowanceFilter, p storage.Page,
	done func([][]*ledger.NftAllowance),
) {
	own, other := "owner", "spender"
	if received {
		own, other = other, own
	}
	from, arg := storage.OfParents(accounts)
	w := storage.Where{Args: []any{arg}}
	if f != nil {
		if f.Bounds == ledger.BoundsInOrder {
			storage.Filter(&w, other, storage.WithoutBounds(f.AccountID))
			storage.Filter(&w, "token_id", storage.WithoutBounds(f.TokenID))
			w.InOrder(storage.BoundsOn(other, f.AccountID), storage.BoundsOn("token_id", f.TokenID))
		} else {
			storage.Filter(&w, other, f.AccountID)
			storage.Filter(&w, "token_id", f.TokenID)
		}
	}
	w.Keyset(p, other, "token_id")
	nftAllowanceRows.QueueChildren(b, len(accounts), `select p.ord, a.approved_for_all, a.owner, a.spender, a.token_id,
  lower(a.timestamp_range), upper(a.timestamp_range)
from `+from+` cross join lateral (
  select * from nft_allowance where `+own+` = p.id and approved_for_all`+w.String()+w.OrderBy(p, other, "token_id")+`) a
order by p.ord, `+p.Order("a."+other, "a.token_id"), w.Args, done)
}

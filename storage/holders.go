package storage

import (
	"context"
	"fmt"

	"heliograph/internal/domain/ledger"
)

func holderTargets(h *ledger.TokenHolder, into []any) []any {
	return append(into, &h.TokenID, &h.AccountID, &h.Balance, &h.Timestamp, &h.Decimals)
}

// QueueTokenHolders queues reading a page of the holders of each of some tokens, by account id; done gets one list for each token. Where at is
// given for a token, the list is of the newest balance snapshot that meets it, which is looked for at once; now bounds that search. Without such
// a snapshot the list is empty.
func (b *Batch) QueueTokenHolders(ctx context.Context, tokens []ledger.EntityID, at []*ledger.TimestampFilter, f *ledger.TokenHolderFilter, now ledger.Timestamp, p Page, done func([][]*ledger.TokenHolder)) error {
	out := make([][]*ledger.TokenHolder, len(tokens))
	groups := map[*ledger.TimestampFilter][]int{}
	for i := range tokens {
		groups[at[i]] = append(groups[at[i]], i)
	}
	for when, places := range groups {
		ids := make([]int64, len(places))
		for i, place := range places {
			ids[i] = int64(tokens[place])
		}
		take := func(rows [][]*ledger.TokenHolder) {
			for i, place := range places {
				out[place] = rows[i]
			}
		}
		if when == nil {
			b.queueHolders(ids, f, p, take)
			continue
		}
		window, err := b.db.SnapshotWindow(ctx, when, now)
		if err != nil {
			return fmt.Errorf("reading holders of tokens: %w", err)
		}
		if window.Valid {
			b.queueHoldersAt(ids, f, window.V, p, take)
		}
	}
	b.then(func() { done(out) })
	return nil
}

// holderAccounts adds the conditions on the accounts of holders.
func (w *where) holderAccounts(f *ledger.TokenHolderFilter) {
	if f == nil {
		return
	}
	filter(w, "h.account_id", f.AccountID)
	if f.PublicKey != nil {
		w.sql.WriteString(" and h.account_id in (select id from entity where type = 'ACCOUNT'")
		textFilter(w, "public_key", f.PublicKey)
		w.sql.WriteString(")")
	}
}

func (b *Batch) queueHolders(ids []int64, f *ledger.TokenHolderFilter, p Page, done func([][]*ledger.TokenHolder)) {
	from, arg := ofParents(ids)
	w := where{args: []any{arg}}
	w.holderAccounts(f)
	if f != nil {
		filter(&w, "h.balance", f.Balance)
	}
	w.keyset(p, "h.account_id")
	queueChildren(b, len(ids), `select p.ord, h.*, (select decimals from token where token_id = p.id) from `+from+` cross join lateral (
  select h.token_id, h.account_id, h.balance, h.balance_timestamp from token_account h
  where h.token_id = p.id and h.associated`+w.String()+w.orderBy(p, "h.account_id")+`) h
order by p.ord, h.account_id`+p.direction(), w.args, holderTargets, nil, itself, done)
}

func (b *Batch) queueHoldersAt(ids []int64, f *ledger.TokenHolderFilter, window ledger.SnapshotWindow, p Page, done func([][]*ledger.TokenHolder)) {
	from, arg := ofParents(ids)
	w := where{args: []any{arg, int64(window.From), int64(window.At)}}
	w.holderAccounts(f)
	w.keyset(p, "h.account_id")
	held := where{args: w.args}
	if f != nil {
		filter(&held, "h.balance", f.Balance) // of the latest balance, so it is asked when that has been picked
	}
	order := held.orderBy(p, "h.account_id")
	b.set("plan_cache_mode", "force_custom_plan") // without its values the planner would not know that the time leaves one partition, in order
	direction := p.direction()
	queueChildren(b, len(ids), `select p.ord, h.*, $3::bigint, (select decimals from token where token_id = p.id) from `+from+` cross join lateral (
  select * from (
    select distinct on (h.account_id) h.token_id, h.account_id, h.balance from token_balance h
    where h.token_id = p.id and h.consensus_timestamp between $2 and $3`+w.String()+`
    order by h.account_id`+direction+`, h.consensus_timestamp desc) h where true`+held.String()+order+`) h
order by p.ord, h.account_id`+direction, held.args, holderTargets, nil, itself, done)
}

// relationshipRow is a token relationship with the statuses as the database numbers them.
type relationshipRow struct {
	ledger.TokenRelationship
	freeze, kyc ledger.Null[int16]
}

func relationshipTargets(r *relationshipRow, into []any) []any {
	return append(into, &r.AccountID, &r.TokenID, &r.AutomaticAssociation, &r.Balance, &r.CreatedTimestamp, &r.Timestamp.From, &r.Timestamp.To,
		&r.Decimals, &r.freeze, &r.kyc)
}

func finishRelationship(r *relationshipRow) error {
	switch {
	case !r.freeze.Valid:
	case r.freeze.V == 1:
		r.FreezeStatus = ledger.Of(ledger.Frozen)
	case r.freeze.V == 2:
		r.FreezeStatus = ledger.Of(ledger.Unfrozen)
	default:
		r.FreezeStatus = ledger.Of(ledger.FreezeNotApplicable)
	}
	switch {
	case !r.kyc.Valid:
	case r.kyc.V == 1:
		r.KYCStatus = ledger.Of(ledger.KYCGranted)
	case r.kyc.V == 2:
		r.KYCStatus = ledger.Of(ledger.KYCRevoked)
	default:
		r.KYCStatus = ledger.Of(ledger.KYCNotApplicable)
	}
	return nil
}

// QueueTokenRelationships queues reading a page of the token relationships of each of some accounts, by token id; done gets one list for each.
func (b *Batch) QueueTokenRelationships(accounts []ledger.EntityID, f *ledger.TokenRelationshipFilter, p Page, done func([][]*ledger.TokenRelationship)) {
	from, arg := ofParents(accounts)
	w := where{args: []any{arg}}
	if f != nil {
		filter(&w, "r.token_id", f.TokenID)
	}
	w.keyset(p, "r.token_id")
	queueChildren(b, len(accounts), `select r.ord, r.account_id, r.token_id, r.automatic_association, r.balance, r.created_timestamp,
  lower(r.timestamp_range), upper(r.timestamp_range), t.decimals, coalesce(r.freeze_status, t.freeze_status), coalesce(r.kyc_status, t.kyc_status)
from (select p.ord, r.* from `+from+` cross join lateral (
  select * from token_account r where r.account_id = p.id and r.associated`+w.String()+w.orderBy(p, "r.token_id")+`) r) r
left join token t on t.token_id = r.token_id
order by r.ord, r.token_id`+p.direction(), w.args, relationshipTargets, finishRelationship,
		func(r *relationshipRow) *ledger.TokenRelationship { return &r.TokenRelationship }, done)
}

// QueueEntityExists queues asking whether there is an entity of any type with an id.
func (b *Batch) QueueEntityExists(id ledger.EntityID, done func(bool)) {
	queue(b, `select exists (select from entity where id = $1)`, []any{int64(id)}, func(v *bool, into []any) []any { return append(into, v) }, nil,
		func(rows []*bool) { done(*rows[0]) })
}

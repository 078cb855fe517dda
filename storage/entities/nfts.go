package entities

import (
	"fmt"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var nftRows = storage.MapperOf(NFTTargets, nil)

// nftPage returns the statement for a page of NFTs that match a condition and f, ordered by token and serial, what
// follows the parents in its FROM clause, and the setting and the columns for its order. It is part of [queueNFTs]. It
// adds conditions and arguments to w. The condition is on a column of NFTs, which is a key of the n parents ps.
// Without parents, of is empty, ps is nil, and the condition is "true". distributed is whether tables are distributed
// with Citus, for which some forms are not possible.
func nftPage(
	w *storage.Where, n int, of NFTParent, ps *storage.Parents, condition string, f ledger.NFTFilter, p storage.Page,
	distributed bool,
) (page, from string, setting storage.Setting, keys []string) {
	storage.Filter(w, "n.token_id", f.TokenID)
	storage.Filter(w, "n.serial_number", f.SerialNumber)
	storage.Filter(w, "n.account_id", f.OwnerID)
	storage.Filter(w, "n.spender", f.SpenderID)
	if f.Deleted != nil {
		// The planner could hash a subquery after "exists": it would read all entities.
		ofToken := func(id string) string {
			return "coalesce((select deleted from entity where id = " + id + "), false)"
		}
		deleted := ofToken("n.token_id")
		switch {
		case of == OfToken:
			deleted = ofToken(ps.Key("id")) // PostgreSQL then looks for the token once
		case f.TokenID != nil && f.TokenID.Eq != nil:
			deleted = ofToken(w.Arg(int64(*f.TokenID.Eq)))
		// the many NFTs of an account have few tokens
		case p.Limit > storage.MaxCount && of == OfAccount && !distributed:
			deleted = "n.token_id = any(gone.tokens)"
			from = ` cross join lateral (select array(select e.id from (select distinct token_id from nft n where ` + condition + `) n
  join entity e on e.id = n.token_id and e.deleted) as tokens offset 0) gone`
		}
		w.And("(coalesce(n.deleted, false) or "+deleted+") = ?", *f.Deleted)
	}
	setting, keys = storage.NoBitmaps, []string{"n.token_id", "n.serial_number"}
	if of == OfAccount && n == 1 && w.String() == "" && f.AnyOf == nil && !distributed {
		// The account stands in the order too: at a past moment, PostgreSQL would otherwise read the history of all
		// NFTs in the order of tokens. It does not see the ends of this range, and expects many rows: the index is
		// then cheaper than a bitmap without a setting. With conditions on further columns, the index would be read
		// for all of the range.
		condition = `n.account_id between (select $1::bigint) and (select $1::bigint)`
		setting, keys = 0, append([]string{"n.account_id"}, keys...)
	}
	w.Keyset(p, keys...)
	order := w.OrderBy(p, keys...)
	statement := func(conditions string) string {
		return `select n.token_id, n.serial_number, n.account_id, n.created_timestamp, n.delegating_spender, n.deleted, n.metadata, n.spender, n.timestamp_range
  from nft n where ` + condition + w.String() + conditions + order
	}
	if f.AnyOf == nil {
		return statement(""), from, setting, keys
	}
	return `select * from (` + w.Union(len(f.AnyOf), statement, func(part *storage.Where, i int) {
		storage.Filter(part, "n.token_id", f.AnyOf[i].TokenID)
		storage.Filter(part, "n.serial_number", f.AnyOf[i].SerialNumber)
	}) + `) n` + order, from, setting, keys
}

// queueNFTs queues a query for a page of NFTs for each of n parents, whose keys are in the column of; the result has
// one page per parent, ordered by token and serial. With nil parents, n is 1, of is empty, and it reads one page of
// all NFTs. It adds the conditions of f and of the page to w, which the caller can have filled.
func queueNFTs(
	b *storage.Batch, w *storage.Where, n int, of NFTParent, ps *storage.Parents, f ledger.NFTFilter, p storage.Page,
) storage.Result[[][]*ledger.NFT] {
	from, condition := "(values (1::bigint)) p(ord)", "true"
	if ps != nil {
		from, condition = ps.From, string(of)+" = "+ps.Key("id")
	}
	page, tokens, setting, keys := nftPage(w, n, of, ps, condition, f, p, b.DB().Distributed())
	return nftRows.QueueChildren(b, n, &storage.Read{
		Setting: setting, Parents: ps, Select: `n.ord, ` + NFTColumns,
		Page: `select p.ord, n.* from ` + from + tokens + ` cross join lateral (` + page + `) n`, As: "n",
		Joins: []storage.Join{withToken},
		Rest:  ` order by n.ord, ` + p.Order(keys...),
	}, w.Args)
}

// withToken joins a page of NFTs n with the entities e of their tokens.
var withToken = storage.By("left join", "entity", "e", "n", "id", "token_id")

// NFTParent is the column of nft by which NFTs are listed.
type NFTParent string

// Parents of NFTs.
const (
	OfAccount NFTParent = "n.account_id"
	OfToken   NFTParent = "n.token_id"
)

// QueueNFTsOf queues a query for the NFTs that each of the given accounts owns, or for the serials of each of the
// given tokens, ordered by token and serial. The result has one page per parent. A valid owner limits the NFTs to
// those of one account. f.Owner is ignored: the caller has looked it up. f.OwnerID applies.
func QueueNFTsOf(b *storage.Batch, of NFTParent, ids []ledger.EntityID, owner ledger.Null[ledger.EntityID],
	f ledger.NFTFilter, p storage.Page,
) storage.Result[[][]*ledger.NFT] {
	ps, w := b.ParentsOrOne("id", storage.Int64s(ids))
	if owner.Valid {
		w.And("n.account_id = ?", int64(owner.V))
	}
	return queueNFTs(b, &w, len(ids), of, ps, f, p)
}

// QueueNFTs queues a query for a page of all NFTs, ordered by token and serial. The result has one page. f.Owner is
// ignored, but f.OwnerID applies.
func QueueNFTs(b *storage.Batch, f ledger.NFTFilter, p storage.Page) storage.Result[[][]*ledger.NFT] {
	return queueNFTs(b, &storage.Where{}, 1, "", nil, f, p)
}

// CountNFTs counts NFTs.
const CountNFTs storage.Countable = `select 1 from nft`

// QueueNFTsByKey queues a query for NFTs by token and serial. The result has one NFT per key, or nil for NFTs that do
// not exist.
func QueueNFTsByKey(b *storage.Batch, keys []ledger.NFTKey) storage.Result[[]*ledger.NFT] {
	tokens, serials := nftKeys(keys)
	ps, _ := b.ParentsOrOne("token_id, serial", tokens, serials)
	return nftRows.QueueChild(b, len(keys), &storage.Read{
		Parents: ps, Select: `p.ord, ` + NFTColumns, From: ps.From,
		Joins: []storage.Join{
			ps.Join("join", "nft", "n", "token_id", "token_id", "serial_number", "serial"),
			storage.Joined(` left join entity e on e.id = n.token_id`, "entity", `id in (select token_id from nft)`),
		},
	}, ps.Args)
}

// nftKeys returns the tokens and serials of keys as two array arguments of a statement. Those at one position belong
// to one key.
func nftKeys(keys []ledger.NFTKey) (tokens, serials []int64) {
	return list.Map(keys, func(k ledger.NFTKey) int64 {
		return int64(k.TokenID)
	}), list.Map(keys, func(k ledger.NFTKey) int64 { return k.SerialNumber })
}

// tokenDeletion is the type of transactions that delete a token. They transfer nothing, even if their rows list NFTs.
const tokenDeletion = ledger.TransactionType(35)

// finishNFTEvent sets the members of an event in the history of an NFT from the transfers of its transaction. The
// deletion of its token, and a transaction that does not move this NFT, have no transfer: the accounts and the
// approval stay empty. It fails if their JSON is invalid.
func finishNFTEvent(e *nftEventRow) error {
	e.ConsensusTimestamp, e.Nonce, e.ValidStartTimestamp = e.at, e.nonce.V, e.start.V
	if e.Type == tokenDeletion {
		return nil
	}
	var moved []ledger.NFTTransfer
	err := storage.DecodeJSON(e.transfers, &moved)
	if err != nil {
		return fmt.Errorf("NFT transfers of transaction %s: %w", e.at, err)
	}
	for _, m := range moved {
		if m.TokenID == e.NFT.TokenID && m.SerialNumber == e.NFT.SerialNumber {
			e.IsApproval = m.IsApproval
			e.ReceiverAccountID, e.SenderAccountID = m.ReceiverAccountID, m.SenderAccountID
			break
		}
	}
	return nil
}

// NFTHistory is a page of an NFT's history.
type NFTHistory struct {
	Transactions []*ledger.NFTTransaction
	// More reports whether the history continues after the page.
	More bool
	// Partial reports that transactions exist, but the oldest row of the history is missing or lacks the mint time.
	Partial bool
}

// QueueNFTHistories queues a query for the history of each of the given NFTs: the transactions that changed it or
// deleted its token, ordered by consensus time. The result has one page per NFT. The page limit applies to the times
// of changes: the page is shorter if transactions are missing from the database or if times are duplicated. p.Limit is
// one more than the length of a page: the last event only shows whether the history continues.
func QueueNFTHistories(
	b *storage.Batch, keys []ledger.NFTKey, f ledger.NFTTransactionFilter, p storage.Page,
) storage.Result[[]NFTHistory] {
	tokens, serials := nftKeys(keys)
	ps, w := b.Parents("token_id, serial", tokens, serials)
	token, serial := ps.Key("token_id"), ps.Key("serial")
	storage.Filter(&w, "lower(x.timestamp_range)", f.Timestamp)
	w.Keyset(p, "lower(x.timestamp_range)")
	order := w.OrderBy(p, "at")
	source := func(table, condition string) string {
		return `(select lower(x.timestamp_range) as at from ` + table + ` x where ` + condition + w.String() +
			order + `)`
	}
	one := "x.token_id = " + token + " and x.serial_number = " + serial
	events := nftEventRows.QueueChildren(b, len(keys), &storage.Read{
		Parents: ps,
		Select:  `p.ord, ` + nftEventColumns,
		From:    ps.From,
		Page: `
  select at from (
    ` + source("nft", one) + `
    union all ` + source("nft_history", one) + `
    union all ` + source("entity", "x.id = "+token+" and x.deleted") + `) v` + order, As: "v",
		Joins: []storage.Join{storage.By("left join", "transaction", "t", "v", "consensus_timestamp", "at")},
		Rest:  ` order by p.ord, v.at` + p.Direction(),
	}, w.Args)
	minted := storage.Values[bool]().QueueChild(b, len(keys), &storage.Read{
		Parents: ps, Select: `p.ord, n.created_timestamp is not null`, From: ps.From,
		Joins: []storage.Join{ps.Join("left join", "nft", "n", "token_id", "token_id", "serial_number", "serial")},
	}, ps.Args)
	return func() ([]NFTHistory, error) {
		lists, err := events()
		if err != nil {
			return nil, err
		}
		flags, err := minted()
		if err != nil {
			return nil, err
		}
		out := make([]NFTHistory, len(keys))
		for i, list := range lists {
			out[i].Transactions, out[i].More = nftTransactions(list, p.Limit-1)
			out[i].Partial = len(out[i].Transactions) > 0 && !*flags[i]
		}
		return out, nil
	}
}

// nftTransactions returns the distinct transactions of the first most events, which are ordered by time, without
// events whose transaction is missing. more reports whether further events follow.
func nftTransactions(events []*nftEventRow, most int) (list []*ledger.NFTTransaction, more bool) {
	if more = len(events) > most; more {
		events = events[:most]
	}
	for i, e := range events {
		if e.found && (i == 0 || events[i-1].at != e.at) {
			list = append(list, &e.NFTTransaction)
		}
	}
	return list, more
}

package transactions

import (
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var netRows = storage.MapperOf(func(t *ledger.Transfer, into []any) []any {
	return append(into, &t.ConsensusTimestamp, &t.TokenID, &t.AccountID, &t.Amount, &t.PayerAccountID, &t.ChargedFee)
}, nil)

type moves struct{ table, token, account string }

var (
	hbars  = moves{"crypto_transfer", "0::bigint", "s.entity_id"}
	tokens = moves{"token_transfer", "s.token_id", "s.account_id"}
)

// net returns the statement for the net changes of the rows s that match a condition: their sums per transaction,
// token and account. rest follows the grouping.
func (m moves) net(condition, rest string) string {
	return `(select s.consensus_timestamp, ` + m.token + ` as token_id, ` + m.account + ` as account_id, sum(s.amount)::bigint as amount from ` + m.table + ` s
    where ` + condition + ` group by s.consensus_timestamp, ` + m.token + `, ` + m.account + rest + `)`
}

// page returns the statement for the page p of the net changes of a parent, without those beyond a bound unless it is
// "". of is the condition that relates rows to the parent, and bound the end of a condition on their time; their
// arguments are in w already. It adds its own arguments to w and leaves the text of w. second is the sort column after
// the time.
func (m moves) page(w *storage.Where, of, second, bound string, f ledger.TransferFilter, p storage.Page) string {
	part := storage.With(w.Args...)
	storage.Filter(&part, "s.consensus_timestamp", f.Timestamp)
	if bound != "" {
		part.Raw(" and s.consensus_timestamp " + bound)
	}
	if f.Token != nil && m == tokens {
		part.And("s.token_id = ?", int64(*f.Token))
	}
	part.Keyset(p, "s.consensus_timestamp", second)
	rest := part.OrderBy(p, "s.consensus_timestamp", second)
	if f.Direction != nil {
		sign := map[ledger.TransferDirection]string{
			ledger.DirectionDebit:  "<",
			ledger.DirectionCredit: ">",
		}[*f.Direction]
		rest = " having sum(s.amount) " + sign + " 0" + rest
	}
	w.Args = part.Args
	return m.net(of+part.String(), rest)
}

// MaxSoughtTransfers is the number of transfers of an account, in hbars and in tokens each, among which those with a
// direction or of a token are sought. No index has these.
const MaxSoughtTransfers = 20_000

// QueueAccountTransfers queues a query for the net changes of the balances of each of the given accounts, ordered by
// time and token, one page per account. The statement excludes the fee account as the index does. If the filter has a
// direction or a token and bounded is true, only the first [MaxSoughtTransfers] of the page's range are read, and
// bounds is not nil: the page is whole if it is full or bounds has null for the account, and else contains what is
// before the time in bounds.
func QueueAccountTransfers(b *storage.Batch, accounts []ledger.EntityID, f ledger.TransferFilter, p storage.Page,
	bounded bool,
) (pages storage.Result[[][]*ledger.Transfer], bounds storage.Result[[]*ledger.Null[ledger.Timestamp]]) {
	ps, w := b.Parents("id", storage.Int64s(accounts))
	var parts []string
	kinds := map[moves]string{}
	if f.Token == nil || f.Token.IsNone() {
		kinds[hbars] = "s.entity_id = " + ps.Key("id") + " and s.entity_id <> 98"
	}
	if f.Token == nil || !f.Token.IsNone() {
		kinds[tokens] = "s.account_id = " + ps.Key("id")
	}
	bound := ""
	if bounded && (f.Direction != nil || f.Token != nil && !f.Token.IsNone()) {
		end, beyond, unbounded := "max", ">", "0"
		if !p.Desc {
			end, beyond, unbounded = "min", "<", "9223372036854775807"
		}
		for _, m := range []moves{hbars, tokens} {
			of := kinds[m]
			if of == "" {
				continue
			}
			part := storage.With(w.Args...)
			storage.Filter(&part, "s.consensus_timestamp", f.Timestamp)
			part.KeysetFirst(p, "s.consensus_timestamp")
			parts = append(parts, "(select s.consensus_timestamp from "+m.table+" s where "+of+part.String()+
				" order by s.consensus_timestamp"+p.Direction()+" offset "+strconv.Itoa(MaxSoughtTransfers)+
				" limit 1)")
			w.Args = part.Args
		}
		last := "(select " + end + "(consensus_timestamp) from (" + strings.Join(parts, " union all ") + ") l)"
		bounds = storage.Values[ledger.Null[ledger.Timestamp]]().QueueChild(b, len(accounts), &storage.Read{
			Setting: storage.NoBitmaps, Parents: ps, Select: "p.ord, " + last, From: ps.From,
		}, slices.Clone(w.Args))
		bound, parts = beyond+" coalesce("+last+", "+unbounded+")", nil
	}
	for _, m := range []moves{hbars, tokens} {
		if of := kinds[m]; of != "" {
			parts = append(parts, m.page(&w, of, m.token, bound, f, p))
		}
	}
	changes := "select * from (" + strings.Join(parts, " union all ") + ") n" +
		w.OrderBy(p, "consensus_timestamp", "token_id")
	pages = queueNet(b, len(accounts), ps, changes, "true", p.Order("n.consensus_timestamp", "n.token_id"), w.Args)
	return pages, bounds
}

// QueueTransfersOfTokens queues a query for the net changes of all balances of each of the given tokens, ordered by
// time and account. The result has one page per token.
func QueueTransfersOfTokens(
	b *storage.Batch, ids []ledger.EntityID, f ledger.TransferFilter, p storage.Page,
) storage.Result[[][]*ledger.Transfer] {
	ps, w := b.Parents("id", storage.Int64s(ids))
	changes := tokens.page(&w, "s.token_id = "+ps.Key("id"), tokens.account, "", f, p)
	return queueNet(b, len(ids), ps, changes, "true", p.Order("n.consensus_timestamp", "n.account_id"), w.Args)
}

// queueNet queues a query for the net changes n of each of the parents, with the payer and the fee of their
// transactions t. n is the number of parents. changes is the statement for the rows n, condition one on n and t, and
// order the sort columns after the parent, all in SQL; args are the arguments of all.
func queueNet(
	b *storage.Batch, n int, ps *storage.Parents, changes, condition, order string, args []any,
) storage.Result[[][]*ledger.Transfer] {
	return netRows.QueueChildren(b, n, &storage.Read{
		Setting: storage.NoBitmaps, Parents: ps,
		Select: `p.ord, n.*, t.payer_account_id, t.charged_tx_fee`, From: ps.From, Page: changes, As: "n",
		Joins: []storage.Join{
			storage.By("left join", "transaction", "t", "n", "consensus_timestamp", "consensus_timestamp"),
		},
		Rest: ` where ` + condition + ` order by p.ord, ` + order,
	}, args)
}

// QueueCounterparties queues a query for the net changes of other accounts in the same currency by the same
// transactions as some changes, ordered by account, without what the node and the fee accounts received ([QueueFees]).
// The result has one list per change.
func QueueCounterparties(b *storage.Batch, of []*ledger.Transfer) storage.Result[[][]*ledger.Transfer] {
	return queueOthers(b, of, "not ")
}

// QueueFees queues a query for the hbars that the node and the network's fee accounts received from the transactions of
// some changes, ordered by account. The result has one list per change.
func QueueFees(b *storage.Batch, of []*ledger.Transfer) storage.Result[[][]*ledger.Transfer] {
	return queueOthers(b, of, "")
}

// queueOthers queues the net transfers of other accounts by the same transactions, in hbars or the token of each given
// transfer: what the node and the fee accounts received in hbars, or with "not " as not all but that. The result has
// one list per transfer, ordered by account.
func queueOthers(b *storage.Batch, of []*ledger.Transfer, not string) storage.Result[[][]*ledger.Transfer] {
	ps, _ := b.Parents("at, token, account",
		list.Map(of, func(t *ledger.Transfer) int64 { return int64(t.ConsensusTimestamp) }),
		list.Map(of, func(t *ledger.Transfer) int64 { return int64(t.TokenID) }),
		list.Map(of, func(t *ledger.Transfer) int64 { return int64(t.AccountID) }))
	args := slices.Concat(ps.Args, []any{
		list.Map([]int64{FeeAccount, stakingRewardNum, 801, 802}, func(num int64) int64 {
			return int64(b.DB().SystemEntity(num))
		}),
	})
	token, account := ps.Key("token"), ps.Key("account")
	at := "s.consensus_timestamp = " + ps.Key("at") + " and "
	changes := hbars.net(token+" = 0 and "+at+"s.entity_id <> "+account, "") + " union all " +
		tokens.net(at+"s.token_id = "+token+" and s.account_id <> "+account, "")
	fee := "(n.token_id = 0 and n.amount > 0 and (n.account_id = any($4) or n.account_id = " +
		"coalesce(t.node_account_id, 0)))"
	return queueNet(b, len(of), ps, changes, not+fee, "n.account_id", args)
}

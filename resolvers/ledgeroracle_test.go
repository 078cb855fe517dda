package resolvers_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/breadth"
	"heliograph/storage/pgtest"
)

var (
	replayed      = flag.String("replay.database", "", "URL of the ledger to replay; default: the demo network")
	randomMoments = flag.Int("replay.moments", 500, "random moments to compare, with full breadth")
	changes       = flag.Int("replay.changes", 200, "changes around which to compare, with full breadth")
)

// oracle keeps the state of the ledger in memory. It replays the rows of the tables in the order of their times, and
// knows nothing of snapshots or of the statements of the gateway.
type oracle struct {
	events []event
	next   int

	hbars     map[int64]int64      // by account
	amounts   map[holding]int64    // of fungible tokens
	relations map[holding]relation // by account and token
	nfts      map[serial]nftState  // by token and serial
	grants    map[grant]int64      // 1 for approvals of all serials
	kinds     map[int64]string     // of tokens
	exists    map[int64]bool       // accounts and contracts
	gone      map[int64]bool       // deleted tokens
	memos     map[int64]string     // of entities
	contracts map[int64]bool       // that exist
	slots     map[slot]string      // of contracts
	snapshot  int64                // the first one: balances before are unknown
	tokens    []int64              // with an id
	accounts  []int64              // that exist at some time
}

type event struct {
	at    int64
	apply func(*oracle)
}

type (
	holding  struct{ account, token int64 }
	serial   struct{ token, number int64 }
	relation struct {
		associated, automatic bool
		freeze, kyc           string
	}
	nftState struct {
		owner, spender, delegate int64
		deleted, exists          bool
	}
	slot struct {
		contract int64
		slot     string // as a word in hexadecimal
	}
	grant struct {
		kind                  string
		owner, spender, token int64
	}
)

// each calls read with each row of a statement.
func each(t *testing.T, conn *pgx.Conn, sql string, read func(rows pgx.Rows) error) {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			t.Fatalf("%v: %s", err, sql)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// newOracle reads the rows of the tables.
func newOracle(t *testing.T, url string) *oracle {
	t.Helper()
	conn := pgtest.Connect(t, url)
	o := &oracle{
		hbars: map[int64]int64{}, amounts: map[holding]int64{}, relations: map[holding]relation{},
		nfts:   map[serial]nftState{},
		grants: map[grant]int64{}, kinds: map[int64]string{}, exists: map[int64]bool{}, gone: map[int64]bool{},
		memos: map[int64]string{}, contracts: map[int64]bool{}, slots: map[slot]string{},
	}
	add := func(at int64, apply func(*oracle)) { o.events = append(o.events, event{at, apply}) }
	defaults := map[int64]relation{}
	statuses := [2][3]string{{"NOT_APPLICABLE", "FROZEN", "UNFROZEN"}, {"NOT_APPLICABLE", "GRANTED", "REVOKED"}}
	const tokens = `select token_id, type::text, freeze_status, kyc_status from token order by token_id`
	each(t, conn, tokens, func(r pgx.Rows) error {
		var id int64
		var kind string
		var freeze, kyc int16
		err := r.Scan(&id, &kind, &freeze, &kyc)
		o.kinds[id], o.tokens = kind, append(o.tokens, id)
		defaults[id] = relation{freeze: statuses[0][freeze], kyc: statuses[1][kyc]}
		return err
	})
	each(t, conn, `select entity_id, consensus_timestamp, amount from crypto_transfer where errata is null or `+
		`errata <> 'DELETE'`,
		func(r pgx.Rows) error {
			var account, at, amount int64
			err := r.Scan(&account, &at, &amount)
			add(at, func(o *oracle) { o.hbars[account] += amount })
			return err
		})
	each(t, conn, `select min(consensus_timestamp) from account_balance`, func(r pgx.Rows) error {
		return r.Scan(&o.snapshot)
	})
	// Accounts of the genesis have balances without transfers: they are what the transfers leave of the present ones.
	for _, e := range o.events {
		e.apply(o)
	}
	sums := o.hbars
	o.hbars = map[int64]int64{}
	each(t, conn, `select id, balance from entity where balance is not null`, func(r pgx.Rows) error {
		var id, balance int64
		err := r.Scan(&id, &balance)
		o.hbars[id] = balance - sums[id]
		return err
	})
	const moved = `select account_id, token_id, consensus_timestamp, amount from token_transfer`
	each(t, conn, moved, func(r pgx.Rows) error {
		var of holding
		var at, amount int64
		err := r.Scan(&of.account, &of.token, &at, &amount)
		add(at, func(o *oracle) { o.amounts[of] += amount })
		o.amounts[of] -= amount
		return err
	})
	// So do holdings of tokens that are older than the first transfer.
	each(t, conn, `select account_id, token_id, coalesce(balance, 0) from token_account`, func(r pgx.Rows) error {
		var of holding
		var balance int64
		err := r.Scan(&of.account, &of.token, &balance)
		o.amounts[of] += balance
		return err
	})
	versions := func(table, columns string) string {
		return `select lower(timestamp_range), ` + columns + ` from ` + table + ` union all select ` +
			`lower(timestamp_range), ` + columns +
			` from ` + table + `_history`
	}
	each(t, conn, versions("entity", "id, type::text, coalesce(deleted, false), memo"), func(r pgx.Rows) error {
		var at, id int64
		var kind, memo string
		var deleted bool
		err := r.Scan(&at, &id, &kind, &deleted, &memo)
		if holds := kind == "ACCOUNT" || kind == "CONTRACT"; holds && !slices.Contains(o.accounts, id) {
			o.accounts = append(o.accounts, id)
		}
		add(at, func(o *oracle) {
			o.exists[id] = kind == "ACCOUNT" || kind == "CONTRACT"
			o.contracts[id] = kind == "CONTRACT"
			o.gone[id], o.memos[id] = deleted, memo
		})
		return err
	})
	each(t, conn, versions("token_account", "account_id, token_id, associated, coalesce(automatic_association, "+
		"false), freeze_status, kyc_status"),
		func(r pgx.Rows) error {
			var at int64
			var of holding
			var v relation
			var freeze, kyc *int16
			err := r.Scan(&at, &of.account, &of.token, &v.associated, &v.automatic, &freeze, &kyc)
			v.freeze, v.kyc = defaults[of.token].freeze, defaults[of.token].kyc
			if freeze != nil {
				v.freeze = statuses[0][*freeze]
			}
			if kyc != nil {
				v.kyc = statuses[1][*kyc]
			}
			add(at, func(o *oracle) { o.relations[of] = v })
			return err
		})
	each(t, conn, versions("nft", `token_id, serial_number, coalesce(account_id, 0), coalesce(spender, 0), coalesce(delegating_spender, 0),
  coalesce(deleted, false)`), func(r pgx.Rows) error {
		var at int64
		var of serial
		v := nftState{exists: true}
		err := r.Scan(&at, &of.token, &of.number, &v.owner, &v.spender, &v.delegate, &v.deleted)
		add(at, func(o *oracle) { o.nfts[of] = v })
		return err
	})
	each(t, conn, `select consensus_timestamp, contract_id, encode(slot, 'hex'), encode(coalesce(value_written, value_read), 'hex')
from contract_state_change`, func(r pgx.Rows) error {
		var at int64
		var of slot
		var value string
		err := r.Scan(&at, &of.contract, &of.slot, &value)
		of.slot = fmt.Sprintf("%064s", of.slot)
		add(at, func(o *oracle) { o.slots[of] = fmt.Sprintf("%064s", value) })
		return err
	})
	for _, kind := range []struct{ table, columns, amount string }{
		{"crypto_allowance", "owner, spender, 0::bigint, ", "amount_granted"},
		{"token_allowance", "owner, spender, token_id, ", "amount_granted"},
		{"nft_allowance", "owner, spender, token_id, ", "approved_for_all::int::bigint"},
	} {
		grants := func(r pgx.Rows) error {
			var at, amount int64
			of := grant{kind: kind.table}
			err := r.Scan(&at, &of.owner, &of.spender, &of.token, &amount)
			add(at, func(o *oracle) { o.grants[of] = amount })
			return err
		}
		each(t, conn, `select upper(timestamp_range), `+kind.columns+`0::bigint from `+
			kind.table+`_history`, grants) // unless a version follows
		each(t, conn, versions(kind.table, kind.columns+kind.amount), grants)
	}
	slices.SortStableFunc(o.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	slices.Sort(o.accounts)
	return o
}

// replay applies the rows up to a time.
func (o *oracle) replay(at int64) {
	for ; o.next < len(o.events) && o.events[o.next].at <= at; o.next++ {
		o.events[o.next].apply(o)
	}
}

// state returns the lines that describe the state: all balances, relationships, NFTs, holders and grants.
func (o *oracle) state() []string {
	var out []string
	owned := map[holding]int64{}
	for of, n := range o.nfts {
		if n.exists {
			out = append(out, fmt.Sprintf("NFT %d/%d owner %d spender %d delegate %d deleted %t", of.token, of.number,
				n.owner, n.spender,
				n.delegate, n.deleted || o.gone[of.token]))
			if !n.deleted {
				owned[holding{n.owner, of.token}]++
			}
		}
	}
	for _, id := range o.accounts {
		if o.exists[id] {
			out = append(out, fmt.Sprintf("account %d has %d", id, o.hbars[id]))
		}
	}
	for of, r := range o.relations {
		if !r.associated {
			continue
		}
		balance := o.amounts[of]
		if o.kinds[of.token] == "NON_FUNGIBLE_UNIQUE" {
			balance = owned[of]
		}
		if o.exists[of.account] {
			out = append(out, fmt.Sprintf("account %d token %d has %d %s %s %t", of.account, of.token, balance,
				r.freeze, r.kyc, r.automatic))
		}
		if balance > 0 {
			out = append(out, fmt.Sprintf("token %d holder %d has %d", of.token, of.account, balance))
		}
	}
	for of, value := range o.slots {
		if o.contracts[of.contract] {
			out = append(out, fmt.Sprintf("contract %d slot %s is %s", of.contract, of.slot, value))
		}
	}
	for of, amount := range o.grants {
		if amount > 0 && o.exists[of.owner] {
			out = append(out, fmt.Sprintf("%s of %d for %d token %d: %d", of.kind, of.owner, of.spender,
				of.token, amount))
		}
	}
	slices.Sort(out)
	return out
}

// answers returns the same lines from the scope of the gateway.
func answers(t *testing.T, g *testenv.Gateway, o *oracle, at int64) []string {
	t.Helper()
	var out []string
	id := func(v any) int64 {
		text, _ := v.(string)
		n, _ := strconv.ParseInt(text[strings.LastIndexByte(text, '.')+1:], 10, 64)
		return n
	}
	ask := func(selection string) map[string]any {
		var got struct {
			Data   struct{ Ledger map[string]any }
			Errors []struct{ Message string }
		}
		body := g.Query(t, fmt.Sprintf(`{ ledger(at: {time: "%d.%09d"}) { %s } }`, at/1e9, at%1e9, selection), nil).Body
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Errors) > 0 {
			t.Fatalf("%v: %.500s", err, body)
		}
		return got.Data.Ledger
	}
	// each reads all pages of a list of objects, which is a field or one of a field.
	each := func(object, path, fields string, ids []int64, read func(id int64, node map[string]any)) {
		type page struct {
			id    int64
			after any
		}
		var left []page
		for _, id := range ids {
			left = append(left, page{id: id})
		}
		names := strings.Fields(path)
		for len(left) > 0 {
			now := left[:min(len(left), 50)]
			left = left[len(now):]
			var selections strings.Builder
			for _, p := range now {
				cursor, _ := json.Marshal(p.after)
				fmt.Fprintf(&selections, " o%d: %s(id: %[1]d) { %[3]s(first: 100, after: %[4]s) { nodes { %[5]s } "+
					"pageInfo { endCursor hasNextPage } } %[6]s }", p.id, object, strings.Join(names, " { "),
					cursor, fields,
					strings.Repeat("}", len(names)-1))
			}
			got := ask(selections.String())
			for _, p := range now {
				of, _ := got[fmt.Sprintf("o%d", p.id)].(map[string]any)
				if of == nil {
					continue
				}
				for _, name := range names {
					of = of[name].(map[string]any)
				}
				for _, n := range of["nodes"].([]any) {
					read(p.id, n.(map[string]any))
				}
				if info := of["pageInfo"].(map[string]any); info["hasNextPage"].(bool) {
					left = append(left, page{p.id, info["endCursor"]})
				}
			}
		}
	}
	// lists are what an account has, and their lines.
	lists := []struct {
		path, fields string
		line         func(own int64, n map[string]any) string
	}{
		{
			"tokens", "tokenId balance freezeStatus kycStatus automaticAssociation",
			func(own int64, r map[string]any) string {
				return fmt.Sprintf("account %d token %d has %s %s %s %t", own, id(r["tokenId"]), r["balance"],
					r["freezeStatus"], r["kycStatus"], r["automaticAssociation"])
			},
		},
		{"allowances crypto", "spenderId amountGranted", func(own int64, r map[string]any) string {
			return fmt.Sprintf("crypto_allowance of %d for %d token 0: %s", own, id(r["spenderId"]), r["amountGranted"])
		}},
		{"allowances tokens", "spenderId tokenId amountGranted", func(own int64, r map[string]any) string {
			return fmt.Sprintf("token_allowance of %d for %d token %d: %s", own, id(r["spenderId"]), id(r["tokenId"]),
				r["amountGranted"])
		}},
		{"nftAllowances", "spenderId tokenId", func(own int64, r map[string]any) string {
			return fmt.Sprintf("nft_allowance of %d for %d token %d: 1", own, id(r["spenderId"]), id(r["tokenId"]))
		}},
	}
	var selection strings.Builder
	for i, l := range lists {
		names := strings.Fields(l.path)
		fmt.Fprintf(&selection, " l%d: %s(first: 100) { nodes { %s } pageInfo { hasNextPage } }%s", i,
			strings.Join(names, fmt.Sprintf(" { l%d: ", i)), l.fields, strings.Repeat(" }", len(names)-1))
	}
	for ids := range slices.Chunk(o.accounts, 50) {
		got := ask(fmt.Sprintf(`accounts(ids: [%s]) { entityId balance %s }`, list(ids), selection.String()))
		for _, a := range got["accounts"].([]any) {
			if a == nil {
				continue
			}
			of := a.(map[string]any)
			own := id(of["entityId"])
			out = append(out, fmt.Sprintf("account %d has %s", own, of["balance"]))
			for i, l := range lists {
				page := of
				for range strings.FieldsSeq(l.path) {
					page = page[fmt.Sprintf("l%d", i)].(map[string]any)
				}
				read := func(_ int64, n map[string]any) { out = append(out, l.line(own, n)) }
				if page["pageInfo"].(map[string]any)["hasNextPage"].(bool) {
					each("account", l.path, l.fields, []int64{own}, read)
					continue
				}
				for _, n := range page["nodes"].([]any) {
					read(own, n.(map[string]any))
				}
			}
		}
	}
	stored := map[int64]bool{}
	for of := range o.slots {
		stored[of.contract] = true
	}
	each("contract", "state", "slot value", slices.Sorted(maps.Keys(stored)), func(contract int64, s map[string]any) {
		word := func(name string) string { return fmt.Sprintf("%064s", strings.TrimPrefix(s[name].(string), "0x")) }
		out = append(out, fmt.Sprintf("contract %d slot %s is %s", contract, word("slot"), word("value")))
	})
	const nft = "serialNumber ownerId spenderId delegatingSpenderId deleted"
	each("token", "nfts", nft, o.tokens, func(token int64, n map[string]any) {
		none := func(v any) int64 {
			if v == nil {
				return 0
			}
			return id(v)
		}
		out = append(out, fmt.Sprintf("NFT %d/%s owner %d spender %d delegate %d deleted %t",
			token, n["serialNumber"], none(n["ownerId"]), none(n["spenderId"]), none(n["delegatingSpenderId"]),
			n["deleted"]))
	})
	each("token", "holders", "accountId balance", o.tokens, func(token int64, h map[string]any) {
		out = append(out, fmt.Sprintf("token %d holder %d has %s", token, id(h["accountId"]), h["balance"]))
	})
	slices.Sort(out)
	return out
}

func list(ids []int64) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(text, ", ")
}

// moments returns moments to compare: random ones, one nanosecond around changes, and the last day of each month.
func (o *oracle) moments(random, changes int) []int64 {
	rng := rand.New(rand.NewPCG(42, 7))
	first, last := o.events[0].at, o.events[len(o.events)-1].at
	for first <= 0 { // rows without a time
		o.events = o.events[1:]
		first = o.events[0].at
	}
	first = max(first, o.snapshot)
	known, _ := slices.BinarySearchFunc(o.events, first, func(e event, at int64) int { return cmp.Compare(e.at, at) })
	all := map[int64]bool{}
	for range random {
		all[first+rng.Int64N(last-first)] = true
	}
	for range changes {
		at := o.events[known+rng.IntN(len(o.events)-known)].at
		all[at-1], all[at], all[at+1] = true, true, true
	}
	end := time.Unix(0, last).UTC()
	for months := range random/40 + 1 {
		start := time.Date(end.Year(), end.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		all[start.UnixNano()-1], all[start.Add(-12*time.Hour).UnixNano()] = true, true
	}
	maps.DeleteFunc(all, func(at int64, _ bool) bool { return at < first || at > last })
	return slices.Sorted(maps.Keys(all))
}

// TestReplay compares the states of the ledger at many moments with those that an independent replay of all rows gives:
// every balance, relationship, NFT, holder, grant and slot.
func TestReplay(t *testing.T) {
	t.Parallel()
	url := cmp.Or(*replayed, testenv.Filled.Shared(t))
	o, g := newOracle(t, url), testenv.Over(t, url)
	lines := 0
	for _, at := range o.moments(breadth.Of(6, *randomMoments), breadth.Of(4, *changes)) {
		o.replay(at)
		want := o.state()
		got := answers(t, g, o, at)
		lines += len(want)
		if !slices.Equal(got, want) {
			t.Errorf("at %d: %s", at, differences(got, want))
		}
	}
	t.Logf("%d facts", lines)
	if lines < 10_000 {
		t.Errorf("only %d facts were compared", lines)
	}
}

// differences returns the first lines that only one of two sorted lists has.
func differences(got, want []string) string {
	var out []string
	for _, one := range []struct {
		name string
		a, b []string
	}{{"wrong", got, want}, {"missing", want, got}} {
		for _, line := range one.a {
			if _, found := slices.BinarySearch(one.b, line); !found && len(out) < 20 {
				out = append(out, one.name+": "+line)
			}
		}
	}
	return strings.Join(out, "\n\t")
}

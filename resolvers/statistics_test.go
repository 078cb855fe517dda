package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
)

// TestStatistics compares statistics of each object and interval with counts over whole tables.
func TestStatistics(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*testenv.Gateway{"demo": testenv.Shared(t)} {
		var first, last int64
		if err := g.DB.Pool().QueryRow(t.Context(),
			`select min(consensus_timestamp), max(consensus_timestamp) from transaction`).Scan(&first,
			&last); err != nil {
			t.Fatal(err)
		}
		from, to := first+(last-first)/50+7, last-(last-first)/50-7
		for field, sql := range map[string]string{
			`network { stats(ARGS) { from to a: blocks b: transactions c: gasUsed } }`: `select consensus_end as ` +
				`at, 1 as a, count as b, gas_used as c from record_file`,
			`account(id: "1001") { stats(ARGS) { from to a: transactions b: received c: sent } }`: `select consensus_timestamp as at, 1 as a, 0 as b, 0 as c from transaction where payer_account_id = 1001
				union all select consensus_timestamp, 0, greatest(amount, 0), greatest(-amount, 0) from crypto_transfer where entity_id = 1001`,
			`account(id: "98") { stats(ARGS) { from to a: transactions } }`: `select consensus_timestamp as ` +
				`at, 1 as a, 0 as b, 0 as c from transaction where payer_account_id = 98`,
			`account(id: "1001") { stats(ARGS) { from to a: rewards } }`: `select consensus_timestamp as ` +
				`at, amount as a, 0 as b, 0 as c from staking_reward_transfer where account_id = 1001`,
			`topic(id: "4001") { stats(ARGS) { from to a: messages } }`: `select consensus_timestamp as ` +
				`at, 1 as a, 0 as b, 0 as c from topic_message where topic_id = 4001`,
			`topic(id: "4002") { stats(ARGS) { from to a: messages } }`: `select consensus_timestamp as ` +
				`at, 1 as a, 0 as b, 0 as c from topic_message where topic_id = 4002`,
			`contract(id: "3001") { stats(ARGS) { from to a: calls b: gasUsed } }`: `select consensus_timestamp as ` +
				`at, 1 as a, gas_used as b, 0 as c from contract_result where contract_id = 3001`,
			`token(id: "2001") { stats(ARGS) { from to a: transfers b: volume } }`: `select consensus_timestamp as ` +
				`at, 1 as a, amount as b, 0 as c from token_transfer where token_id = 2001 and amount > 0`,
		} {
			for _, by := range []string{"HOUR", "DAY", "WEEK", "MONTH"} {
				start := from
				if by == "HOUR" {
					start = to - int64(900*time.Hour)
				}
				arguments := fmt.Sprintf(`range: {from: %q, to: %q}, by: %s`, ledger.Timestamp(start).String(),
					ledger.Timestamp(to).String(), by)
				var data map[string]*struct {
					Stats []struct{ From, To, A, B, C string }
				}
				g.Data(t, "{"+strings.Replace(field, "ARGS", arguments, 1)+"}", nil, &data)
				var got, want []string
				bound, rows := ledger.Timestamp(start).String(), false
				for _, object := range data {
					for _, s := range object.Stats {
						if s.From != bound || s.To <= s.From {
							t.Errorf("%s: %s by %s: the period from %s to %s begins at %s", name, field, by,
								bound, s.To, s.From)
						}
						bound = s.To
						if (s.A+s.B+s.C) != "0" && s.A != "0" || s.B != "0" && s.B != "" || s.C != "0" && s.C != "" {
							got = append(got, s.From+" "+s.A+" "+s.B+" "+s.C)
						}
					}
				}
				if bound != ledger.Timestamp(to).String() {
					t.Errorf("%s: %s by %s ends at %s", name, field, by, bound)
				}
				list, err := g.DB.Pool().Query(t.Context(), `select greatest($1::bigint, (extract(epoch from date_trunc($3, to_timestamp(at / 1000000000), 'UTC')) * 1000000000)::bigint), sum(a)::text, sum(b)::text, sum(c)::text
					from (`+sql+`) r where at >= $1 and at < $2 group by 1 order by 1`, start, to, by)
				if err != nil {
					t.Fatal(err)
				}
				for list.Next() {
					var at int64
					var a, b, c string
					if err := list.Scan(&at, &a, &b, &c); err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(field, "b:") {
						b = ""
					}
					if !strings.Contains(field, "c:") {
						c = ""
					}
					want = append(want, ledger.Timestamp(at).String()+" "+a+" "+b+" "+c)
					rows = true
				}
				if list.Err() != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %s by %s:\n%s\nwant\n%s\n%v", name, field, by, strings.Join(got, "\n"),
						strings.Join(want, "\n"), list.Err())
				}
				if !rows && by == "MONTH" && !strings.Contains(field, `"98"`) {
					t.Errorf("%s has no rows", field)
				}
			}
		}
	}
}

// TestStatisticsErrors checks ranges that are refused, and objects without statistics.
func TestStatisticsErrors(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for query, want := range map[string]string{
		`{ topic(id: "4001") { stats(range: {from: "5", to: "5"}, by: DAY) { messages } ` +
			`} }`: `the range from 5.000000000 to 5.000000000 is empty`,
		`{ topic(id: "4001") { stats(range: {from: "0"}, by: DAY) { messages } ` +
			`} }`: `the range has more than 1000 periods: use a shorter range or longer periods`,
		`{ account(id: "98") { stats(range: {from: "1700000000", to: "1700000001"}, by: MONTH) { transactions sent ` +
			`} } }`: `{"data":{"account":{"stats":[{"transactions":"0","sent":null}]}}}`,
		`{ tokens(first: 1, filter: {types: [NON_FUNGIBLE_UNIQUE]}) { nodes { type stats(range: {from: ` +
			`"1700000000"}, by: MONTH) { transfers } } } }`: `{"data":{"tokens":{"nodes":[{` +
			`"type":"NON_FUNGIBLE_UNIQUE","stats":[]}]}}}`,
		`{ accounts(first: 2) { nodes { stats(range: {from: "1700000000", to: "1700000001"}, by: MONTH) { received ` +
			`} } } }`: `{"data":{"accounts":{"nodes":[{"stats":[{"received":"0"}]},{"stats":[{"received":"0"}]}]}}}`,
	} {
		if got := g.Query(t, query, nil).Body; !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

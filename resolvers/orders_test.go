package resolvers_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// same executes a query and compares the data with the JSON that an SQL statement returns.
func same(t *testing.T, g *testenv.Gateway, query, sql string) {
	t.Helper()
	var got, want any
	var text string
	if err := g.DB.Pool().QueryRow(t.Context(), sql).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	testenv.Decode(t, text, &want)
	g.Data(t, query, nil, &got)
	if !reflect.DeepEqual(got, want) {
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		t.Errorf("%s\nis answered %s\nSQL has     %s", query, a, b)
	}
}

// TestNestedCounts compares the totalCount of lists with counts over whole tables, and with the rows of the list.
func TestNestedCounts(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*testenv.Gateway{"demo": testenv.Shared(t)} {
		for list, sql := range map[string]string{
			`account(id: "1001") { tokens`:  `token_account where account_id = 1001 and associated`,
			`account(id: "1001") { nfts`:    `nft where account_id = 1001`,
			`account(id: "1001") { rewards`: `staking_reward_transfer where account_id = 1001`,
			`account(id: "1001") { hooks`:   `hook where owner_id = 1001`,
			`account(id: "1001") { history`: `(select from entity where id = 1001 union all select from ` +
				`entity_history where id = 1001) v`,
			`account(id: "1019") { schedules`: `schedule where creator_account_id = 1019`,
			`account(id: "1001") { transfers`: `(select consensus_timestamp, 0 from crypto_transfer where ` +
				`entity_id = 1001 group by 1 union all select consensus_timestamp, token_id from token_transfer ` +
				`where account_id = 1001 group by 1, 2) c`,
			`account(id: "1001") { transactions`: `(select consensus_timestamp from transaction where ` +
				`payer_account_id = 1001 and (nonce = 0 or parent_consensus_timestamp is not null or type in (11, ` +
				`15)) union select consensus_timestamp from crypto_transfer where entity_id = 1001 union select ` +
				`consensus_timestamp from token_transfer where account_id = 1001 union select consensus_timestamp ` +
				`from entity_transaction where entity_id = 1001) c`,
			`account(id: "1002") { contractResults(filter: null) { nodes { gasUsed } } nfts`: `nft where ` +
				`account_id = 1002`,
			`token(id: "2007") { nfts`:     `nft where token_id = 2007`,
			`token(id: "2001") { balances`: `token_account where token_id = 2001 and associated`,
			`token(id: "2001") { holders`: `token_account where token_id = 2001 and ` +
				`associated and balance > 0`,
			`topic(id: "4001") { messages`:   `topic_message where topic_id = 4001`,
			`topic(id: "999") { messages`:    ``,
			`contract(id: "3001") { results`: `contract_result where contract_id = 3001`,
			`contract(id: "3001") { logs`:    `contract_log where contract_id = 3001`,
			`contract(id: "3001") { state`:   `contract_state where contract_id = 3001`,
			`block(number: 5) { transactions`: `transaction t join record_file r on ` +
				`t.consensus_timestamp between r.consensus_start and r.consensus_end where r.index = 5`,
			`network { nodes`: `address_book_entry where consensus_timestamp = ` +
				`(select max(start_consensus_timestamp) from address_book where file_id = 102)`,
			`network { registeredNodes`:                     `registered_node where deleted is false`,
			`account(id: "1001") { outstandingAirdrops`:     ``,
			`account(id: "1005") { pendingAirdrops`:         ``,
			`account(id: "1001") { allowances { crypto`:     ``,
			`account(id: "1001") { allowances { tokens`:     ``,
			`account(id: "1001") { nftAllowances`:           ``,
			`account(id: "1001") { receivedNFTAllowances`:   ``,
			`hook(owner: "1001", hookId: 1) { storage`:      ``,
			`token(id: "2001") { history`:                   ``,
			`nft(token: "2007", serialNumber: 1) { history`: ``,
			`nft(token: "2007", serialNumber: 1) { transactions`: `(select lower(timestamp_range) t from nft where ` +
				`token_id = 2007 and serial_number = 1 union select lower(timestamp_range) from nft_history where ` +
				`token_id = 2007 and serial_number = 1 union select lower(timestamp_range) from entity where id = ` +
				`2007 and deleted) c join transaction on consensus_timestamp = t`,
		} {
			query := "{ " +
				list + `(first: 100) { totalCount { value exact } nodes { __typename } pageInfo { hasNextPage } } }` +
				strings.Repeat(" }", strings.Count(list, "{")-2*strings.Count(list, "nodes {"))
			var data any
			g.Data(t, query, nil, &data)
			for at, ok := data, true; ok; {
				object, _ := at.(map[string]any)
				if len(object) > 2 {
					count, _ := object["totalCount"].(map[string]any)
					rows, _ := object["nodes"].([]any)
					more := object["pageInfo"].(map[string]any)["hasNextPage"].(bool)
					want := strconv.Itoa(len(rows))
					if sql != "" {
						if err := g.DB.Pool().QueryRow(t.Context(),
							`select count(*)::text from `+sql).Scan(&want); err != nil {
							t.Fatalf("%s: %v", sql, err)
						}
					} else if more {
						t.Errorf("%s has more than 100 rows: count them with SQL", list)
					}
					if count["value"] != want || count["exact"] != true || !more && want != strconv.Itoa(len(rows)) {
						t.Errorf("%s: %s: %v, want %s; the page has %d rows", name, list, count, want, len(rows))
					}
					break
				}
				at, ok = nil, false
				for key, v := range object {
					if key != "contractResults" {
						at, ok = v, v != nil
					}
				}
			}
		}
		var filtered map[string]map[string]map[string]any
		g.Data(t, `{ account(id: "1001") { transactions(filter: {outcome: SUCCESS}) { totalCount { value } } tokens(filter: {tokenId: {gt: "1"}}) { totalCount { value } }
			transfers(direction: DEBIT) { totalCount { value } } rewards(filter: {timestamp: {gt: "1"}}) { totalCount { value } } } }`, nil, &filtered)
		for list, got := range filtered["account"] {
			if count, ok := got["totalCount"]; !ok || count != nil {
				t.Errorf("%s: %s with a filter: %v", name, list, got)
			}
		}
	}
}

// TestCountsTogether checks that the lists of all parents are counted with one statement.
func TestCountsTogether(t *testing.T) {
	t.Parallel()
	statements := func(first int, count string) int {
		return len(counting(t, func(g *testenv.Gateway) {
			g.Data(t,
				fmt.Sprintf(`{ accounts(first: %d, filter: {id: {gt: "1000"}}) { nodes { nfts(first: 1) { %s nodes `+
					`{ serialNumber } } tokens(first: 1) { %[2]s nodes { tokenId } } } } }`, first, count), nil,
				new(any))
		}).statements)
	}
	const total = "totalCount { value exact }"
	if with, without := statements(20, total), statements(20, ""); with != without+2 || statements(3, total) != with {
		t.Errorf("%d statements with counts of 20 accounts, %d with those of 3, %d without", with,
			statements(3, total), without)
	}
}

var manyNFTs = testenv.Rows("nfts", func(b *pgx.Batch) {
	b.Queue(`insert into entity (id, num, realm, shard, type, deleted, timestamp_range) values (5000, 5000, 0, 0, 'TOKEN', false, '[1,)'),
(5001, 5001, 0, 0, 'TOKEN', true, '[1,)'), (1001, 1001, 0, 0, 'ACCOUNT', false, '[1,)'), (1002, 1002, 0, 0, 'ACCOUNT', false, '[1,)')`)
	b.Queue(`insert into token (token_id, created_timestamp, decimals, initial_supply, name, symbol, treasury_account_id, timestamp_range, type, freeze_status, kyc_status)
select id, 1, 0, 0, 'NFT', 'NFT', 1001, '[1,)', 'NON_FUNGIBLE_UNIQUE', 0, 0 from generate_series(5000, 5001) id`)
	b.Queue(`insert into nft (token_id, serial_number, account_id, deleted, timestamp_range) select 5000, n, 1001, ` +
		`n % 500 = 0, '[1,)' from generate_series(1, 1000) n`)
	b.Queue(`insert into nft (token_id, serial_number, account_id, deleted, timestamp_range) values (5001, 1, 1001, false, '[1,)'), (5001, 2, 1002, true, '[1,)'),
(5000, 1001, 1002, null, '[1,)')`)
})

// TestDeletedNFTs checks that deleted NFTs are counted, and that those of a token are read with one look-up of the
// token, not one for each NFT.
func TestDeletedNFTs(t *testing.T) {
	t.Parallel()
	var rec pgtest.Recorder
	g := testenv.Over(t, manyNFTs.Shared(t), func(o *testenv.Options) { o.Storage.Tracer = &rec })
	const count = `nfts(first: 0, filter: {deleted: %s}) { totalCount { value } }`
	for query, want := range map[string]string{
		`{ nfts(filter: {tokenId: {eq: "5000"}, deleted: true}) { nodes { serialNumber } ` +
			`} }`: `"nodes":[{"serialNumber":"1000"},{"serialNumber":"500"}]`,
		`{ token(id: "5000") { nfts(filter: {deleted: true}) { nodes { serialNumber } } ` +
			`} }`: `"nodes":[{"serialNumber":"1000"},{"serialNumber":"500"}]`,
		`{ account(id: "1001") { nfts(filter: {tokenId: {eq: "5000"}, deleted: true}) { nodes { ` +
			`serialNumber } } } }`: `"nodes":[{"serialNumber":"1000"},{"serialNumber":"500"}]`,
		`{ account(id: "1001") { ` + fmt.Sprintf(count, "true") +
			` } }`: `{"value":"3"}`,
		`{ account(id: "1001") { ` + fmt.Sprintf(count, "false") +
			` } }`: `{"value":"998"}`,
		`{ accounts(filter: {id: {gt: "1000"}}, order: ASC) { nodes { ` + fmt.Sprintf(count, "false") +
			` } } }`: `{"value":"998"}}},{"nfts":{"totalCount":{"value":"1"}}}`,
	} {
		rec.Reset()
		got := g.Query(t, query, nil).Body
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", query, got)
		}
		if rows, err := rec.RowsRead(t.Context(), g.DB.Pool()); err != nil || rows > 1100 &&
			!strings.Contains(query, "totalCount") {
			t.Errorf("%s reads %f rows: %v", query, rows, err)
		}
	}
}

// TestOrdersAndFilters compares filtered and sorted lists with SQL.
func TestOrdersAndFilters(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	now := testenv.Now().UnixNano()
	for query, sql := range map[string]string{
		`tokens(first: 100, filter: {treasury: "1017"}) { nodes { entityId } }`: `select '0.0.' || token_id as ` +
			`"entityId" from token where treasury_account_id = 1017 order by token_id`,
		`tokens(first: 100, filter: {treasury: "1001"}) { nodes { entityId } }`: `select '0.0.' || token_id as ` +
			`"entityId" from token where treasury_account_id = 1001 order by token_id`,
		`tokens(first: 100, filter: {treasury: "99999999"}) { nodes { entityId } }`: `select 1 where false`,
		`tokens(filter: {id: {in: ["2003", "2001"]}}) { nodes { entityId } }`: `select '0.0.' || token_id as ` +
			`"entityId" from token where token_id in (2003, 2001) order by token_id`,
		`tokens(order: DESC, first: 3) { nodes { createdTimestamp } }`: `select ` +
			fmt.Sprintf(sqlTime, "created_timestamp") +
			` as "createdTimestamp" from token order by created_timestamp desc limit 3`,
		`nfts(first: 100, filter: {tokenId: {eq: "2007"}, deleted: true}) { nodes { serialNumber } }`: `select ` +
			`serial_number::text as "serialNumber" from nft where token_id = 2007 and deleted order by ` +
			`serial_number desc`,
		`nfts(first: 100, filter: {tokenId: {eq: "2007"}, deleted: false}) { nodes { serialNumber } }`: `select ` +
			`serial_number::text as "serialNumber" from nft where token_id = 2007 and not deleted order by ` +
			`serial_number desc limit 100`,
		`nfts(first: 100, filter: {tokenId: {eq: "2010"}, deleted: true}) { nodes { serialNumber } }`: `select ` +
			`serial_number::text as "serialNumber" from nft where token_id = 2010 order by serial_number desc`,
		`nfts(first: 100, filter: {tokenId: {eq: "2010"}, deleted: false}) { nodes { serialNumber } }`: `select 1 ` +
			`where false`,
		`nfts(first: 100, filter: {owner: "1001", deleted: false}) { nodes { tokenId serialNumber } }`: `select ` +
			`'0.0.' || token_id as "tokenId", serial_number::text as "serialNumber" from nft n where account_id = ` +
			`1001 and not deleted and not exists (select from entity where id = token_id and deleted) order by ` +
			`n.token_id desc, n.serial_number desc`,
	} {
		name, _, _ := strings.Cut(query, "(")
		same(t, g, "{"+query+"}", `select jsonb_build_object('`+
			name+`', jsonb_build_object('nodes', coalesce(jsonb_agg(to_jsonb(r)), '[]')))::text from (`+sql+`) r`)
	}
	state := fmt.Sprintf(`case when executed_timestamp is not null then 'EXECUTED' when e.deleted then 'DELETED'
		when coalesce(expiration_time + 60000000000, consensus_timestamp + 1860000000000) <= %d then 'EXPIRED' else 'PENDING' end`, now)
	rows, err := g.DB.Pool().Query(t.Context(), `select creator_account_id, `+state+
		`, string_agg('0.0.' || schedule_id, ' ' order by schedule_id) from schedule s left join entity e on e.id = `+
		`s.schedule_id group by 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	states := map[string]bool{}
	for rows.Next() {
		var creator int64
		var state, want string
		if err := rows.Scan(&creator, &state, &want); err != nil {
			t.Fatal(err)
		}
		states[state] = true
		var data struct {
			Account struct {
				Schedules struct {
					Nodes      []struct{ EntityID, State string }
					TotalCount total
				}
			}
			Schedules struct{ Nodes []struct{ EntityID string } }
		}
		g.Data(t, `query($creator: AccountRef!, $id: EntityID!, $state: ScheduleState!) {
			account(id: $creator) { schedules(first: 100, filter: {state: $state}) { nodes { entityId state } totalCount { value exact } } }
			schedules(first: 100, filter: {creatorAccountId: {eq: $id}, state: $state}) { nodes { entityId } } }`, map[string]any{"creator": strconv.FormatInt(creator, 10), "id": strconv.FormatInt(creator, 10), "state": state}, &data)
		var nested, root []string
		for i, n := range data.Account.Schedules.Nodes {
			nested, root = append(nested, n.EntityID), append(root, data.Schedules.Nodes[i].EntityID)
			if n.State != state {
				t.Errorf("schedule %s is %s, not %s", n.EntityID, n.State, state)
			}
		}
		if strings.Join(nested, " ") != want || strings.Join(root, " ") != want ||
			data.Account.Schedules.TotalCount.Value != strconv.Itoa(len(nested)) {
			t.Errorf("schedules of %d that are %s: %v, %v, want %s", creator, state, nested, root, want)
		}
	}
	if rows.Err() != nil || len(states) < 3 {
		t.Errorf("the states are %v: %v", states, rows.Err())
	}
	for _, wrong := range []string{
		`nfts(filter: {deleted: true}) { nodes { serialNumber } }`,
		`nfts(filter: {deleted: true, tokenId: {gt: "1"}}) { nodes { serialNumber } }`,
		`schedules(filter: {state: PENDING}) { nodes { entityId } }`,
		`transactions(filter: {entityId: "4001"}) { nodes { type } }`,
		`transactions(filter: {tokenId: "2001"}) { nodes { type } }`,
	} {
		if got := g.Query(t, "{"+wrong+"}", nil); !strings.Contains(got.Body, `"BAD_USER_INPUT"`) ||
			!strings.Contains(got.Body, "require") {
			t.Errorf("%s: %s", wrong, got.Body)
		}
	}
}

// TestTransactionsOfEntity compares the transactions of accounts that concern an entity or transfer a token with SQL.
func TestTransactionsOfEntity(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const at = `consensus_timestamp`
	for filter, sql := range map[string]string{
		`entityId: "4001"`: `select distinct t.consensus_timestamp from transaction t where entity_id = 4001 and (payer_account_id = 1001 and (nonce = 0 or parent_consensus_timestamp is not null or type in (11, 15))
			or exists (select from crypto_transfer c where c.consensus_timestamp = t.consensus_timestamp and c.entity_id = 1001)
			or exists (select from token_transfer c where c.consensus_timestamp = t.consensus_timestamp and c.account_id = 1001))`,
		`tokenId: "2001"`: `select distinct consensus_timestamp from token_transfer where ` +
			`token_id = 2001 and account_id = 1001`,
		`tokenId: "2001", direction: DEBIT`: `select distinct consensus_timestamp from token_transfer where ` +
			`token_id = 2001 and account_id = 1001 and amount < 0`,
		`tokenId: "2001", outcome: FAILURE`: `select distinct c.consensus_timestamp from token_transfer c ` +
			`join transaction t using (consensus_timestamp) where token_id = 2001 and account_id = 1001 and result ` +
			`not in (22, 104, 220)`,
		`tokenId: "2001", types: [CRYPTOTRANSFER]`: `select distinct c.consensus_timestamp from token_transfer c ` +
			`join transaction t using (consensus_timestamp) where token_id = 2001 and account_id = 1001 and type = 14`,
	} {
		list := `nodes { consensusTimestamp }`
		same(t, g, `{ root: transactions(first: 100, filter: {accountId: {eq: "1001"}, `+filter+`}) { `+list+
			` } ref: transactions(first: 100, filter: {account: "1001", `+filter+`}) { `+
			list+` } account(id: "1001") { transactions(first: 100, filter: {`+filter+`}) { `+list+` } } }`,
			`with page as (select jsonb_build_object('nodes', coalesce(jsonb_agg(jsonb_build_object('consensusTimestamp', `+fmt.Sprintf(sqlTime, at)+`) order by `+at+` desc), '[]')) as p
				from (select * from (`+sql+`) t order by `+at+` desc limit 100) t)
			select jsonb_build_object('root', p, 'ref', p, 'account', jsonb_build_object('transactions', p))::text from page`)
	}
}

// TestNodesByStake pages through the nodes by stake.
func TestNodesByStake(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var want []string
	rows, err := g.DB.Pool().Query(t.Context(), `select e.node_id || ' ' || coalesce(s.stake::text, '') from address_book_entry e
		left join node_stake s on s.node_id = e.node_id and s.consensus_timestamp = (select max(consensus_timestamp) from node_stake)
		where e.consensus_timestamp = (select max(start_consensus_timestamp) from address_book where file_id = 102) order by coalesce(s.stake, -1) desc, e.node_id desc`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		want = append(want, one)
	}
	for _, way := range []struct{ size, cursor, start string }{
		{"first", "after", "endCursor"},
		{"last", "before", "startCursor"},
	} {
		var got []string
		for cursor, more := "", true; more && len(got) < 99; {
			var data struct {
				Network struct {
					Nodes struct {
						Nodes    []struct{ NodeID, Stake string }
						PageInfo struct {
							HasNextPage, HasPreviousPage bool
							StartCursor, EndCursor       string
						}
					}
				}
			}
			g.Data(t, `{ network { nodes(orderBy: STAKE, order: DESC, `+way.size+`: 1`+cursor+
				`) { nodes { nodeId stake } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`,
				nil, &data)
			page := data.Network.Nodes
			one := page.Nodes[0].NodeID + " " + page.Nodes[0].Stake
			if way.size == "first" {
				got, more = append(got, one), page.PageInfo.HasNextPage
			} else {
				got, more = append([]string{one}, got...), page.PageInfo.HasPreviousPage
			}
			cursor = `, ` + way.cursor + `: "` + page.PageInfo.EndCursor + `"`
		}
		if len(want) < 3 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", way.size, got, want)
		}
	}
}

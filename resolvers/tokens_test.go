package resolvers_test

import (
	"encoding/base64"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/storage/entities"
	"heliograph/storage/pgtest"
)

// tokenGateways returns gateways with the fixture rows of the REST token endpoints: one with plans, one without.
func tokenGateways(t *testing.T) map[string]*testenv.Gateway {
	t.Helper()
	rows, err := os.ReadFile("../rest/v1/testdata/tokens.sql")
	if err != nil {
		t.Fatal(err)
	}
	url := testenv.Empty.Fresh(t)
	testenv.Exec(t, url, string(rows))
	return map[string]*testenv.Gateway{"demo": testenv.Over(t, url)}
}

func globalID(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// TestTokenGraph tests the relations between tokens, NFTs, accounts, allowances and rewards.
func TestTokenGraph(t *testing.T) {
	t.Parallel()
	gateways := tokenGateways(t)
	for _, c := range []struct{ query, want string }{
		{
			`{ token(id: "1500") { id treasuryAccount { entityId } autoRenewAccount { entityId } decimals ` +
				`decimalsText: decimalsString expirationNanoseconds timestamp { from to } } }`,
			`{"token":{"id":"` + globalID("Token:0.0.1500") +
				`","treasuryAccount":{"entityId":"0.0.1001"},"autoRenewAccount":{"entityId":"0.0.1001"},` +
				`"decimals":3,"decimalsText":"3","expirationNanoseconds":"1234567900000000001",` +
				`"timestamp":{"from":"1234567890.000000005","to":null}}}`,
		},
		{
			`{ token(id: "1500", at: {lt: "1234567890.000000005"}) { memo timestamp { from to } customFees { ` +
				`createdTimestamp royaltyFees { minimum: collectorAccountId } fractionalFees { minimum } } } }`,
			`{"token":{"memo":"before","timestamp":{"from":"1234567890.000000003","to":"1234567890.000000005"},` +
				`"customFees":{"createdTimestamp":"1234567890.000000002","royaltyFees":null,"fractionalFees":[]}}}`,
		},
		{
			`{ tokens(filter: {types: [FUNGIBLE_COMMON]}) { nodes { name customFees { fixedFees { collectorAccount ` +
				`{ entityId } denominatingToken { symbol } } fractionalFees { collectorAccount { entityId } } } } } }`,
			`{"tokens":{"nodes":[{"name":"First Coin","customFees":{"fixedFees":[{"collectorAccount":{` +
				`"entityId":"0.0.1001"},"denominatingToken":null},{"collectorAccount":{"entityId":"0.0.1002"},` +
				`"denominatingToken":{"symbol":"FIRST"}}],"fractionalFees":[{"collectorAccount":{` +
				`"entityId":"0.0.1003"}},{"collectorAccount":{"entityId":"0.0.1002"}}]}},{"name":"Feeless",` +
				`"customFees":null}]}}`,
		},
		{
			`{ tokens(first: 2, filter: {id: {in: ["1500", "1501"]}}) { nodes { balances(first: 1, order: ASC) { ` +
				`timestamp nodes { account { entityId } token { symbol } balance } pageInfo { hasNextPage } } ` +
				`nfts(first: 1, order: ASC) { nodes { serialNumber } } } } }`,
			`{"tokens":{"nodes":[{"balances":{"timestamp":"0.000000100",` +
				`"nodes":[{"account":{"entityId":"0.0.1001"},"token":{"symbol":"FIRST"},"balance":"15"}],` +
				`"pageInfo":{"hasNextPage":true}},"nfts":{"nodes":[]}},{"balances":{"timestamp":null,` +
				`"nodes":[{"account":{"entityId":"0.0.1001"},"token":{"symbol":"ART"},"balance":"0"}],` +
				`"pageInfo":{"hasNextPage":false}},"nfts":{"nodes":[{"serialNumber":"1"}]}}]}}`,
		},
		{
			`{ token(id: "1500") { now: balances(first: 1) { nodes { balance } } then: balances(first: 1, at: {eq: ` +
				`"1779000000"}) { timestamp nodes { balance timestamp } } } }`,
			`{"token":{"now":{"nodes":[{"balance":"40"}]},"then":{"timestamp":"1778000000.000000000",` +
				`"nodes":[{"balance":"2","timestamp":"1778000000.000000000"}]}}}`,
		},
		{
			`{ token(id: "1500", at: {lte: "1777999999"}) { balances { nodes { balance } } } }`,
			`{"token":{"balances":{"nodes":[{"balance":"22"},{"balance":"11"}]}}}`,
		},
		{
			`{ nft(token: "1501", serialNumber: 1) { id owner { entityId } spender { entityId } token { symbol } ` +
				`transfers: transactions(first: 1, order: ASC) { partial nodes { type sender { entityId } receiver ` +
				`{ entityId } transaction { nftTransfers { serialNumber nft { metadata } receiver { entityId } ` +
				`sender { entityId } token { symbol } } } } pageInfo { hasNextPage hasPreviousPage } } } }`,
			`{"nft":{"id":"` + globalID("NFT:0.0.1501/1") +
				`","owner":{"entityId":"0.0.1001"},"spender":null,"token":{"symbol":"ART"},` +
				`"transfers":{"partial":false,"nodes":[{"type":"TOKENMINT","sender":null,` +
				`"receiver":{"entityId":"0.0.1003"},"transaction":{"nftTransfers":[{"serialNumber":"2",` +
				`"nft":{"metadata":null},"receiver":{"entityId":"0.0.1002"},"sender":null,` +
				`"token":{"symbol":"ART"}},{"serialNumber":"1","nft":{"metadata":"0x01"},` +
				`"receiver":{"entityId":"0.0.1003"},"sender":null,"token":{"symbol":"ART"}},` +
				`{"serialNumber":"1","nft":{"metadata":"0x01"},"receiver":null,` +
				`"sender":null,"token":{"symbol":"ART"}}]}}],` +
				`"pageInfo":{"hasNextPage":true,"hasPreviousPage":false}}}}`,
		},
		{
			`{ nfts(first: 2, order: ASC, filter: {tokenId: {eq: "1501"}}) { nodes { serialNumber transfers: ` +
				`transactions(last: 1, order: ASC) { nodes { consensusTimestamp } pageInfo { hasNextPage ` +
				`hasPreviousPage } } } } }`,
			`{"nfts":{"nodes":[{"serialNumber":"1","transfers":{"nodes":[{"consensusTimestamp":"1234567890.` +
				`000000006"}],"pageInfo":{"hasNextPage":false,"hasPreviousPage":true}}},{"serialNumber":"2",` +
				`"transfers":{"nodes":[{"consensusTimestamp":"1234567890.000000002"}],` +
				`"pageInfo":{"hasNextPage":false,"hasPreviousPage":false}}}]}}`,
		},
		{
			`{ nftTransactions(token: "1501", serialNumber: 77) { partial nodes { transactionId } } }`,
			`{"nftTransactions":{"partial":true,"nodes":[{"transactionId":"0.0.1002-1234567889-000000005"}]}}`,
		},
		{
			`{ accounts(filter: {id: {in: ["1001", "1002", "1004"]}}) { nodes { tokens(first: 1, filter: {tokenId: ` +
				`{gt: "1500"}}) { nodes { tokenId token { symbol } account { entityId } freezeStatus } } nfts(last: ` +
				`1) { nodes { tokenId serialNumber } } rewards(first: 1) { nodes { amount account { entityId } ` +
				`transaction { name: type } } } } } }`,
			`{"accounts":{"nodes":[{"tokens":{"nodes":[{"tokenId":"0.0.1501","token":{"symbol":"ART"},` +
				`"account":{"entityId":"0.0.1001"},"freezeStatus":"NOT_APPLICABLE"}]},` +
				`"nfts":{"nodes":[{"tokenId":"0.0.1501","serialNumber":"1"}]},` +
				`"rewards":{"nodes":[{"amount":"9007199254740993","account":{"entityId":"0.0.1001"},` +
				`"transaction":{"name":"CRYPTOAPPROVEALLOWANCE"}}]}},{"tokens":{"nodes":[]},` +
				`"nfts":{"nodes":[{"tokenId":"0.0.1501","serialNumber":"9886299254743552"}]},` +
				`"rewards":{"nodes":[{"amount":"12","account":{"entityId":"0.0.1002"},` +
				`"transaction":{"name":"CRYPTOAPPROVEALLOWANCE"}}]}},` +
				`{"tokens":{"nodes":[]},"nfts":{"nodes":[{"tokenId":"0.0.1599",` +
				`"serialNumber":"1"}]},"rewards":{"nodes":[]}}]}}`,
		},
		{
			`{ accounts(filter: {id: {in: ["1001", "1002"]}}) { nodes { allowances { ...A } receivedAllowances { ...A } } } }
fragment A on AccountAllowances { crypto(first: 1) { nodes { owner { entityId } spenderId amount } pageInfo { hasNextPage } } tokens(first: 1) { nodes { ownerId spender { entityId } token { symbol } } } }`,
			`{"accounts":{"nodes":[{"allowances":{"crypto":{"nodes":[{"owner":{"entityId":"0.0.1001"},` +
				`"spenderId":"0.0.2003","amount":"45"}],"pageInfo":{"hasNextPage":true}},` +
				`"tokens":{"nodes":[{"ownerId":"0.0.1001","spender":null,"token":{"symbol":"FIRST"}}]}},` +
				`"receivedAllowances":{"crypto":{"nodes":[{"owner":{"entityId":"0.0.1002"},` +
				`"spenderId":"0.0.1001","amount":"1"}],"pageInfo":{"hasNextPage":false}},` +
				`"tokens":{"nodes":[{"ownerId":"0.0.1002","spender":{"entityId":"0.0.1001"},` +
				`"token":{"symbol":"FIRST"}}]}}},` +
				`{"allowances":{"crypto":{"nodes":[{"owner":{"entityId":"0.0.1002"},` +
				`"spenderId":"0.0.2001","amount":"56"}],` +
				`"pageInfo":{"hasNextPage":true}},` +
				`"tokens":{"nodes":[{"ownerId":"0.0.1002",` +
				`"spender":{"entityId":"0.0.1001"},` +
				`"token":{"symbol":"FIRST"}}]}},` +
				`"receivedAllowances":{"crypto":{"nodes":[],` +
				`"pageInfo":{"hasNextPage":false}},` +
				`"tokens":{"nodes":[]}}}]}}`,
		},
		{
			`{ account(id: "1001") { allowances { tokens(filter: {anyOf: [{spenderId: {eq: "2002"}, tokenId: {gt: ` +
				`"1500"}}, {spenderId: {gt: "2002"}}, {tokenId: {eq: "1504"}, spenderId: {eq: "2003"}}]}) { nodes { ` +
				`spenderId tokenId } } } receivedAllowances { tokens(filter: {anyOf: [{tokenId: {gt: "1500"}}]}) { ` +
				`nodes { tokenId } } } } }`,
			`{"account":{"allowances":{"tokens":{"nodes":[{"spenderId":"0.0.2002","tokenId":"0.0.1504"},` +
				`{"spenderId":"0.0.2003","tokenId":"0.0.1500"},{"spenderId":"0.0.2003","tokenId":"0.0.1504"}]}},` +
				`"receivedAllowances":{"tokens":{"nodes":[]}}}}`,
		},
		{`{ nfts(filter: {anyOf: []}) { nodes { tokenId } } }`, `{"nfts":{"nodes":[]}}`},
		{`{ token(id: "1503") { nfts(filter: {owner: "1001", serialNumber: {lt: 6}}, order: ASC) { nodes { ` +
			`serialNumber } } } }`, `{"token":{"nfts":{"nodes":[{"serialNumber":"1"},{"serialNumber":"5"}]}}}`},
		{`{ token(id: "1503") { nfts(filter: {owner: "0xaabbccddeeff00112233445566778899aabbccde"}) { nodes { ` +
			`serialNumber } } } }`, `{"token":{"nfts":{"nodes":[]}}}`},
		{`{ tokenRelationships(account: "9999") { nodes { tokenId } } }`, `{"tokenRelationships":{"nodes":[]}}`},
		{
			`{ balances(filter: {accountId: {eq: "1002"}}) { nodes { tokens { balance token { name } } } } }`,
			`{"balances":{"nodes":[{"tokens":[{"balance":"30","token":{"name":"First Coin"}}]}]}}`,
		},
		{
			`{ nodes(ids: ["` + globalID("Token:0.0.1502") + `", "` + globalID("NFT:0.0.1503/5") + `", "` +
				globalID("NFT:0.0.1503/6") +
				`"]) { __typename ... on Token { name } ... on NFT { serialNumber deleted } } }`,
			`{"nodes":[{"__typename":"Token","name":"Feeless"},{"__typename":"NFT","serialNumber":"5",` +
				`"deleted":true},null]}`,
		},
	} {
		var want any
		testenv.Decode(t, c.want, &want)
		for name, g := range gateways {
			var got any
			g.Data(t, c.query, nil, &got)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s\nis answered %v\nnot         %v", name, c.query, got, want)
			}
		}
	}
}

// TestTokenCursors checks that every list continues after its last cursor, forward and backward.
func TestTokenCursors(t *testing.T) {
	t.Parallel()
	g := tokenGateways(t)["demo"]
	for field, rows := range map[string]int{
		`tokens(PAGE)`: 5, `tokenBalances(token: "1500", PAGE)`: 4, `nfts(PAGE)`: 10,
		`nftTransactions(token: "1501", serialNumber: 1, PAGE)`: 3,
		`tokenRelationships(account: "1001", PAGE)`:             3, `cryptoAllowances(owner: "1001", PAGE)`: 2,
		`tokenAllowances(owner: "1001", PAGE)`:  6,
		`stakingRewards(account: "1001", PAGE)`: 3,
	} {
		for _, way := range []struct{ count, cursor, at, more string }{
			{"first", "after", "endCursor", "hasNextPage"},
			{"last", "before", "startCursor", "hasPreviousPage"},
		} {
			seen := map[any]bool{}
			for cursor, more := "", true; more && len(seen) <= rows; {
				page := way.count + ": 2"
				if cursor != "" {
					page += ", " + way.cursor + `: "` + cursor + `"`
				}
				var data struct {
					List struct {
						Edges    []struct{ Cursor string }
						PageInfo map[string]any
					}
				}
				g.Data(t, `{ list: `+strings.Replace(field, "PAGE", page, 1)+
					` { edges { cursor } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`,
					nil, &data)
				for _, e := range data.List.Edges {
					if seen[e.Cursor] {
						t.Errorf("%s: %s is there twice", field, e.Cursor)
					}
					seen[e.Cursor] = true
				}
				cursor, _ = data.List.PageInfo[way.at].(string)
				more = data.List.PageInfo[way.more] == true
			}
			if len(seen) != rows {
				t.Errorf("%s by %s: %d rows, not %d", field, way.count, len(seen), rows)
			}
		}
	}
}

// TestTokenBounds tests rejected arguments.
func TestTokenBounds(t *testing.T) {
	t.Parallel()
	g := tokenGateways(t)["demo"]
	many := strings.Repeat(`{tokenId: {eq: "1"}},`, 11)
	for _, query := range []string{
		`{ nfts(filter: {anyOf: [` + many + `]}) { nodes { tokenId } } }`,
		`{ account(id: "1001") { nfts(filter: {anyOf: [` + many + `]}) { nodes { tokenId } } } }`,
		`{ tokenAllowances(owner: "1001", filter: {anyOf: [` + many + `]}) { nodes { tokenId } } }`,
		`{ nfts(first: 101) { nodes { tokenId } } }`,
		`{ token(id: "1500") { balances(after: "x") { nodes { balance } } } }`,
		`{ node(id: "` + globalID("NFT:0.0.5") + `") { id } }`,
	} {
		if got := g.Query(t, query, nil); !strings.Contains(got.Body, `"BAD_USER_INPUT"`) {
			t.Errorf("%s is answered %s", query, got.Body)
		}
	}
}

// TestHoldersByBalance compares the pages of holders and their number with the table, in both directions, and checks
// tokens with too many holders.
func TestHoldersByBalance(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url,
		`insert into token_account (account_id, token_id, associated, balance, timestamp_range) select n, 2001, `+
			`true, n % 7, '[1,)' from generate_series(500001, 500060) n`)
	for name, g := range map[string]*testenv.Gateway{"demo": testenv.Over(t, url)} {
		for order, direction := range map[string]string{"ASC": "asc", "DESC": "desc"} {
			var want []string
			rows, err := g.DB.Pool().Query(t.Context(), `select '0.0.' || account_id || ' ' || balance from token_account where token_id = 2001 and associated and balance > 0
				order by balance `+direction+`, account_id `+direction)
			if err != nil {
				t.Fatal(err)
			}
			if want, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
				t.Fatal(err)
			}
			var got []string
			var count string
			for after := any(nil); ; {
				var data struct {
					Token struct {
						HolderCount *total
						Holders     struct {
							TotalCount *total
							Nodes      []struct{ AccountID, Balance string }
							PageInfo   struct {
								EndCursor   string
								HasNextPage bool
							}
						}
					}
				}
				g.Data(t, `query($after: String) { token(id: 2001) { holderCount { value exact } holders(first: 7, after: $after, order: `+order+`) {
					totalCount { value exact } nodes { accountId balance } pageInfo { endCursor hasNextPage } } } }`, map[string]any{"after": after}, &data)
				if listed := data.Token.Holders.TotalCount; listed == nil || *listed != *data.Token.HolderCount {
					t.Errorf("%s, %s: the list counts %v, the field %v", name, order, listed, data.Token.HolderCount)
				}
				for _, h := range data.Token.Holders.Nodes {
					got = append(got, h.AccountID+" "+h.Balance)
				}
				if count = data.Token.HolderCount.Value; !data.Token.HolderCount.Exact ||
					!data.Token.Holders.PageInfo.HasNextPage {
					break
				}
				after = data.Token.Holders.PageInfo.EndCursor
			}
			if len(want) < 50 || !slices.Equal(got, want) || count != strconv.Itoa(len(want)) {
				t.Errorf("%s, %s: %s holders %v, want %v", name, order, count, got, want)
			}
		}
	}
	testenv.Exec(t, url,
		`insert into token_account (account_id, token_id, associated, balance, timestamp_range) select n, 2001, `+
			`true, 1, '[1,)' from generate_series(600001, 620000) n`)
	g := testenv.Over(t, url)
	if got := g.Query(t, `{ token(id: 2001) { holders { nodes { balance } } } }`, nil).Body; !strings.Contains(got,
		"token 0.0.2001 has more than 15000 relationships") {
		t.Error(got)
	}
	testenv.Exec(t, url,
		`insert into token_account (account_id, token_id, associated, balance, timestamp_range) select n, 2001, `+
			`true, 1, '[1,)' from generate_series(620001, 800000) n`)
	if got := g.Query(t, `{ token(id: 2001) { holderCount { value } } }`,
		nil).Body; got != `{"data":{"token":{"holderCount":null}}}` {
		t.Error(got)
	}

	// With the optional index, a page of any token is read in its order.
	testenv.Exec(t, url, `create index `+entities.HoldersIndex+
		` on token_account (token_id, balance, account_id) where associated and balance > 0`,
		`update token_account set balance = 9e15 + account_id where token_id = 2001 and account_id in (700001, `+
			`700002)`, `vacuum analyze token_account`)
	var rec pgtest.Recorder
	g = testenv.Over(t, url, func(o *testenv.Options) { o.Storage.Tracer = &rec })
	const query = `{ token(id: 2001) { holders(first: 2) { nodes { accountId } } } }`
	g.Query(t, query, nil) // reads the statistics, by which the gateway finds the index
	rec.Reset()
	if got := g.Query(t,
		query,
		nil).Body; got != `{"data":{"token":{"holders":{"nodes":[{"accountId":"0.0.700002"},`+
		`{"accountId":"0.0.700001"}]}}}}` {
		t.Error(got)
	}
	if rows, err := rec.RowsRead(t.Context(), g.DB.Pool()); err != nil || rows > 50 {
		t.Errorf("a page reads %.0f rows, %v", rows, err)
	}
	if got := g.Query(t, `{ token(id: 2001) { holders { totalCount { value exact } } } }`,
		nil).Body; !strings.Contains(got, `{"value":"10000","exact":false}`) {
		t.Error(got)
	}
}

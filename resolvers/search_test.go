package resolvers_test

import (
	"cmp"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/transactions"
)

const searchQuery = `query($text: String!, $types: [SearchType!], $first: Int, $after: String) { search(text: $text, types: $types, first: $first, after: $after) {
	nodes { type: __typename ... on Entity { entityId } ... on Block { number } ... on NetworkNode { nodeId } ... on NFT { serialNumber }
		... on TopicMessage { consensusTimestamp } ... on Transaction { consensusTimestamp } }
	edges { cursor node { __typename } } pageInfo { hasNextPage endCursor } totalCount { value exact } } }`

// found is a page of search results.
type found struct {
	Search struct {
		Nodes    []struct{ Type, EntityID, Number, NodeID, SerialNumber, ConsensusTimestamp string }
		Edges    []struct{ Cursor string }
		PageInfo struct {
			HasNextPage bool
			EndCursor   string
		}
		TotalCount *struct {
			Value string
			Exact bool
		}
	}
}

func (f *found) String() string {
	var out []string
	for _, n := range f.Search.Nodes {
		out = append(out, n.Type+" "+cmp.Or(n.EntityID, n.Number, n.NodeID, n.SerialNumber, n.ConsensusTimestamp))
	}
	return strings.Join(out, ", ")
}

// Expressions for a time and for an entity id in SQL.
const (
	sqlTime   = `(%[1]s / 1000000000 || '.' || lpad((%[1]s %% 1000000000)::text, 9, '0'))`
	sqlEntity = `('0.0.' || %s)`
)

// TestSearch finds objects by texts from the database, and compares with SQL.
func TestSearch(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	at := fmt.Sprintf(sqlTime, "consensus_timestamp")
	transaction := `string_agg('Transaction ' || ` + at + `, ', ' order by consensus_timestamp)`
	start := fmt.Sprintf(sqlTime, "valid_start_ns")
	for name, sql := range map[string]string{
		"account": `select '0.0.1001', 'Account 0.0.1001'`,
		"account without shard": `select '1001', 'Account 0.0.1001' || (select coalesce(min(', Block ' || index), ` +
			`'') from record_file where index = 1001)`,
		"checksum":       `select '0.0.1001-eevit', 'Account 0.0.1001'`,
		"wrong checksum": `select '0.0.1001-eevis', ''`,
		"contract":       `select '0.0.3001', 'Contract 0.0.3001'`,
		"token":          `select '0.0.2001', 'Token 0.0.2001'`,
		"topic":          `select '0.0.4001', 'Topic 0.0.4001'`,
		"schedule":       `select '0.0.5001', 'Schedule 0.0.5001'`,
		"file":           `select '0.0.6001', 'File 0.0.6001'`,
		"system file":    `select '0.0.102', 'File 0.0.102'`,
		"node account":   `select '0.0.3', 'Account 0.0.3, NetworkNode 0'`,
		"nothing":        `select '0.0.99999999', ''`,
		"address": `select '0x' || encode(evm_address, 'hex'), 'Account 0.0.' || id from entity where ` +
			`type = 'ACCOUNT' and evm_address is not null and not deleted order by id limit 1`,
		"address of a contract": `select encode(evm_address, 'hex'), 'Contract 0.0.' || id from entity where type = ` +
			`'CONTRACT' and evm_address is not null and not deleted order by id limit 1`,
		"address of a number": `select '0x' || lpad(to_hex(2001), 40, '0'), 'Token 0.0.2001'`,
		"public key": `select public_key, string_agg(initcap(type::text) || ' 0.0.' || id, ', ' order by ` +
			`type = 'ACCOUNT', id) from entity where public_key = (select public_key from entity where id = 1001) ` +
			`and type in ('ACCOUNT', 'CONTRACT') group by 1`,
		"public key, DER": `select '302a300506032b6570032100' || public_key, string_agg(initcap(type::text) ` +
			`|| ' 0.0.' || id, ', ' order by type = 'ACCOUNT', id) from entity where public_key = (select ` +
			`public_key from entity where id = 1001) and type in ('ACCOUNT', 'CONTRACT') group by 1`,
		"block hash":       `select '0x' || hash, 'Block ' || index from record_file order by index desc limit 1`,
		"short block hash": `select left(hash, 64), 'Block ' || index from record_file order by index limit 1`,
		"hash": `select encode(transaction_hash, 'hex'), ` + transaction +
			` from transaction where type = 14 and nonce = 0 group by 1 order by min(consensus_timestamp) desc limit 1`,
		"hash in base64": `select encode(transaction_hash, 'base64'), ` + transaction +
			` from transaction where type = 14 and nonce = 0 group by 1 order by min(consensus_timestamp) limit 1`,
		"Ethereum hash": `select '0x' || encode(hash, 'hex'), ` + transaction +
			` from ethereum_transaction group by 1 order by min(consensus_timestamp) limit 1`,
		"transaction": `select '0.0.' || payer_account_id || '@' || ` + start + `, ` + transaction +
			` from transaction group by payer_account_id, valid_start_ns having count(*) > 1 order by 1 limit 1`,
		"transaction in REST": `select '0.0.' || payer_account_id || '-' || replace(` + start + `, '.', '-'), ` +
			transaction +
			` from transaction where (payer_account_id, valid_start_ns) in (select payer_account_id, valid_start_ns ` +
			`from transaction where scheduled) group by payer_account_id, valid_start_ns order by 1 limit 1`,
		"time": `select ` + at + `, 'Transaction ' || ` +
			at + ` from transaction order by consensus_timestamp limit 1`,
		"message": `select '0.0.' || topic_id || '/' || sequence_number, 'TopicMessage ' || ` +
			at + ` from topic_message order by consensus_timestamp desc limit 1`,
		"message with #": `select topic_id || '#' || sequence_number, 'TopicMessage ' || ` +
			at + ` from topic_message order by consensus_timestamp limit 1`,
		"NFT": `select '0.0.2007@1', 'NFT 1'`,
		"name": `select 'LIGHT', string_agg('Token 0.0.' || token_id, ', ' order by length(name), ` +
			`token_id) from token where lower(name) like 'light%'`,
		"long name":        `select 'Messages in b', 'Token 0.0.2010'`,
		"inside of a name": `select 'ouses', ''`,
		"pattern":          `select 'Light%', ''`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text, want string
			if err := g.DB.Pool().QueryRow(t.Context(), sql).Scan(&text, &want); err != nil {
				t.Fatal(err)
			}
			var got found
			g.Data(t, searchQuery, map[string]any{"text": text}, &got)
			if got.String() != want {
				t.Errorf("%s: %s, want %s", text, &got, want)
			}
			if n := got.Search.TotalCount; n == nil || n.Value != strconv.Itoa(len(got.Search.Nodes)) || !n.Exact {
				t.Errorf("%s: the count of %d results is %+v", text, len(got.Search.Nodes), n)
			}
		})
	}
}

// TestSearchPages reads results page by page, and limits their types.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	search := func(variables map[string]any) (got found) {
		g.Data(t, searchQuery, variables, &got)
		return got
	}
	all := search(map[string]any{"text": "3"})
	if want := "Account 0.0.3, NetworkNode 0, Block 3, NetworkNode 3"; all.String() != want {
		t.Errorf("%s, want %s", &all, want)
	}
	var walked []string
	variables := map[string]any{"text": "3", "first": 1}
	for more := true; more && len(walked) < 9; {
		page := search(variables)
		walked = append(walked, page.String())
		if len(page.Search.Edges) != 1 || page.Search.Edges[0].Cursor != page.Search.PageInfo.EndCursor {
			t.Errorf("%+v", page)
		}
		more, variables["after"] = page.Search.PageInfo.HasNextPage, page.Search.PageInfo.EndCursor
	}
	if got := strings.Join(walked, ", "); got != all.String() {
		t.Errorf("in pages %s, want %s", got, &all)
	}
	if one := search(map[string]any{"text": "3", "first": 1}).Search; one.TotalCount == nil ||
		one.TotalCount.Value != "4" {
		t.Errorf("the count of IDs on the first page is %+v", one.TotalCount)
	}
	if one := search(map[string]any{"text": "LIGHT", "first": 0}).Search; !one.PageInfo.HasNextPage ||
		one.TotalCount != nil {
		t.Errorf("more names than a page shows: %+v", one)
	}
	for types, want := range map[string]string{
		"NETWORK_NODE": "NetworkNode 0, NetworkNode 3",
		"BLOCK TOKEN":  "Block 3", "FILE": "",
	} {
		if got := search(map[string]any{"text": "3", "types": strings.Fields(types)}); got.String() != want {
			t.Errorf("%s: %s, want %s", types, &got, want)
		}
	}
	if got := search(map[string]any{
		"text":  "0.0.3001",
		"types": []string{"ACCOUNT"},
	}); got.String() != "Account 0.0.3001" {
		t.Errorf("a contract as an account is %s", &got)
	}
	for _, wrong := range []map[string]any{
		{"text": "3", "first": 101},
		{"text": "3", "after": "x"},
		{"text": "3", "first": -1},
	} {
		if got := g.Query(t, searchQuery, wrong); !strings.Contains(got.Body, `"BAD_USER_INPUT"`) {
			t.Errorf("%v: %s", wrong, got.Body)
		}
	}
}

// TestSearchTrips checks that any text takes one round trip at most, and that only the types it can name are read.
func TestSearchTrips(t *testing.T) {
	t.Parallel()
	texts := map[string]int{ // the number of statements
		"": 0, "xy": 0, "0.0.1001-aaaaa": 0, "0.0.1001": 7, "1001": 10, "0": 2, "Sunlight": 1,
		strings.Repeat("ab", 20): 2, strings.Repeat("ab", 32): 4,
		strings.Repeat("ab", 48): 2, "02" + strings.Repeat("ab", 32): 2, "0.0.1020@1795340293.944155807": 1,
		"1795340293.944155807": 1, "0.0.4001/7": 2,
	}
	for text, want := range texts {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got := counting(t, func(g *testenv.Gateway) {
				var page found
				g.Data(t, searchQuery, map[string]any{"text": text}, &page)
			})
			if len(got.statements) != want || got.trips != min(want, 1) {
				t.Errorf("%d statements in %d round trips, want %d:\n%s", len(got.statements), got.trips, want,
					strings.Join(got.statements, "\n---\n"))
			}
		})
	}
}

// TestSearchForms finds objects by 200 texts of all forms, and compares the types with SQL. Each takes at most one
// round trip.
func TestSearchForms(t *testing.T) {
	t.Parallel()
	const (
		kinds = `initcap(type::text) || case when id in (select node_account_id from address_book_entry) then ` +
			`',NetworkNode' else '' end`
		some = ` order by md5(id::text) limit 12`
	)
	start := fmt.Sprintf(sqlTime, "valid_start_ns")
	count := &counter{}
	g := testenv.Demo(t, func(o *testenv.Options) { o.Storage.Tracer, o.Storage.MaxConnections = count, 1 })
	db := testenv.Shared(t).DB.Pool()
	texts := 0
	for form, sql := range map[string]string{ // texts, and the types that they find, sorted
		"entity ID": `select '0.0.' || id, ` + kinds + ` from entity where type <> 'UNKNOWN'` + some,
		"node account": `select '0.0.' || id, ` + kinds +
			` from entity where id in (select node_account_id from address_book_entry)` + some,
		"number": `select id::text, ` + kinds +
			` || coalesce((select ',Block' from record_file where index = id), '') from entity where id > 100 and ` +
			`type <> 'UNKNOWN'` + some,
		"checksum": `select 'checksum ' || id, ` + kinds +
			` from entity where id > 100 and type <> 'UNKNOWN'` + some,
		"alias": `select 'alias ' || encode(alias, 'hex'), ` + kinds +
			` from entity where length(alias) > 20 and not deleted` + some,
		"address of a number": `select '0x' || lpad(to_hex(id), 40, '0'), ` + kinds +
			` from entity where id > 1000 and evm_address is null` + some,
		"address without 0x": `select lpad(to_hex(id), 40, '0'), ` +
			kinds + ` from entity where id > 1000 and evm_address is null` + some,
		"EVM address": `select '0x' || encode(evm_address, 'hex'), ` + kinds +
			` from entity where evm_address is not null and not deleted` + some,
		"public key": `select min(public_key), string_agg(distinct initcap(type::text), ',') from ` +
			`entity where type in ('ACCOUNT', 'CONTRACT') and public_key <> '' group by public_key order by ` +
			`md5(public_key) limit 12`,
		"block number": `select index::text, 'Block' from record_file where index > 10 and index not in ` +
			`(select id from entity) order by md5(index::text) limit 12`,
		"block hash":       `select '0x' || hash, 'Block' from record_file order by hash limit 12`,
		"short block hash": `select left(hash, 64), 'Block' from record_file order by hash desc limit 12`,
		"hash": `select encode(transaction_hash, 'hex'), 'Transaction' from transaction where ` +
			`type = 14 and nonce = 0 group by transaction_hash order by transaction_hash limit 12`,
		"hash in base64": `select encode(transaction_hash, 'base64'), 'Transaction' from transaction where ` +
			`type = 14 and nonce = 0 group by transaction_hash order by transaction_hash desc limit 12`,
		"Ethereum hash": `select '0x' || encode(hash, 'hex'), 'Transaction' from ethereum_transaction ` +
			`group by hash order by hash limit 12`,
		"transaction ID of SDKs": `select '0.0.' || payer_account_id || '@' || ` + start +
			`, 'Transaction' from transaction group by payer_account_id, valid_start_ns order by ` +
			`md5(valid_start_ns::text) limit 12`,
		"transaction ID": `select '0.0.' || payer_account_id || '-' || replace(` + start +
			`, '.', '-'), 'Transaction' from transaction group by payer_account_id, valid_start_ns order by ` +
			`md5(valid_start_ns::text) limit 12`,
		"time": `select ` + fmt.Sprintf(sqlTime, "consensus_timestamp") +
			`, 'Transaction' from transaction order by md5(consensus_timestamp::text) limit 12`,
		"message": `select '0.0.' || topic_id || substr('/#@:-', (1 + sequence_number % 5)::int, 1) ` +
			`|| sequence_number, 'TopicMessage' from topic_message order by md5(consensus_timestamp::text) limit 15`,
		"NFT": `select '0.0.' || token_id || substr('/#@:-', (1 + serial_number % 5)::int, 1) || ` +
			`serial_number, 'NFT' from nft order by token_id, serial_number limit 12`,
		"name": `select left(name, 5), 'Token' from token order by token_id`,
		"nothing": `select unnest(array['', 'x', 'zz', '0.0', '0.0.', '0.0.0.1', '1.0.1001', ` +
			`'0.0.1001-zzzzz', '0x', '0x12', '-1', '99999999999999999999', '0.0.99999998', '%%%', '0.0.4001/0', ` +
			`'0.0.2007/999999']), ''`,
	} {
		rows, err := db.Query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		for rows.Next() {
			var text, want string
			if err := rows.Scan(&text, &want); err != nil {
				t.Fatal(err)
			}
			if id, found := strings.CutPrefix(text, "checksum "); found {
				number, _ := strconv.ParseInt(id, 10, 64)
				text = "0.0." + id + "-" + ledger.EntityID(number).Checksum(296)
			}
			if alias, found := strings.CutPrefix(text, "alias "); found {
				b, _ := hex.DecodeString(alias)
				text = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)
			}
			var got found
			g.Data(t, searchQuery, map[string]any{"text": text}, &got) // prepares the statements
			count.mu.Lock()
			count.trips = 0
			count.mu.Unlock()
			got = found{}
			g.Data(t, searchQuery, map[string]any{"text": text}, &got)
			var types []string
			for _, n := range got.Search.Nodes {
				types = append(types, n.Type)
			}
			slices.Sort(types)
			expected := strings.FieldsFunc(want, func(c rune) bool { return c == ',' })
			slices.Sort(expected)
			if types = slices.Compact(types); !slices.Equal(types, expected) {
				t.Errorf("%s: %q finds %s, want %s", form, text, types, expected)
			}
			count.mu.Lock()
			if count.trips > 1 || count.trips == 0 && want != "" {
				t.Errorf("%s: %q takes %d round trips", form, text, count.trips)
			}
			count.mu.Unlock()
			texts++
		}
		if rows.Err() != nil {
			t.Errorf("%s: %v", form, rows.Err())
		}
	}
	if texts < 200 {
		t.Errorf("%d texts", texts)
	}
}

// TestReferenceForms requests objects by other forms of their ids.
func TestReferenceForms(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var id string
	sql := `select '0.0.' || payer_account_id || '@' || ` + fmt.Sprintf(sqlTime, "valid_start_ns") +
		` from transaction where payer_account_id = 1002 order by consensus_timestamp limit 1`
	if err := g.DB.Pool().QueryRow(t.Context(), sql).Scan(&id); err != nil {
		t.Fatal(err)
	}
	var data struct {
		Account, Token struct{ EntityID string }
		Transaction    []struct{ Payer struct{ EntityID string } }
	}
	g.Data(t, `query($id: TransactionID, $account: AccountRef!) { account(id: $account) { entityId } transaction(id: $id) { payer { entityId } }
		token(id: "0x00000000000000000000000000000000000007d1") { entityId } }`, map[string]any{"id": id, "account": id}, &data)
	if data.Account.EntityID != "0.0.1002" || len(data.Transaction) == 0 ||
		data.Transaction[0].Payer.EntityID != "0.0.1002" || data.Token.EntityID != "0.0.2001" {
		t.Errorf("%+v", data)
	}

	var address, account string
	if err := g.DB.Pool().QueryRow(t.Context(), `select '0x' || encode(evm_address, 'hex'), '0.0.' || id from entity
		where type = 'ACCOUNT' and evm_address is not null and not deleted order by id limit 1`).Scan(&address, &account); err != nil {
		t.Fatal(err)
	}
	const holders = `query($of: [EntityID!]) { accounts(filter: {id: {in: $of}}) { nodes { entityId } } token(id: 2001) {
		balances(filter: {accountId: {in: $of}}) { nodes { accountId } } } }`
	ask := func(of ...string) string { return g.Query(t, holders, map[string]any{"of": of}).Body }
	if got := ask(address); got != ask(account) || !strings.Contains(got, `"accountId":"`+account) {
		t.Errorf("%s is answered %s", address, got)
	}
	const unknown = "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789"
	if got := g.Query(t, `{ token(id: "`+unknown+`") { name } }`, nil); !strings.Contains(got.Body,
		"no account or contract has the EVM address "+unknown) {
		t.Errorf("%s", got.Body)
	}
	if got := ask(slices.Repeat([]string{address}, 101)...); !strings.Contains(got, "at most 100 EVM addresses") {
		t.Errorf("%s", got)
	}
}

// TestEntityObjects reads entities of all types by the ids in transactions and actions.
func TestEntityObjects(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var data struct {
		Transactions struct {
			Nodes []struct {
				EntityID            *string
				Entity              *struct{ Typename, EntityID string }
				InnerTransactionIds []string
				InnerTransactions   []struct{ TransactionID string }
			}
		}
		ContractResults struct {
			Nodes []struct {
				CreatedContractIds []string
				CreatedContracts   []struct{ EntityID string }
				Actions            struct {
					Nodes []struct {
						Recipient       *string
						RecipientEntity *struct{ Typename, EntityID string }
					}
				}
			}
		}
	}
	types := map[string]int{}
	inner, created := 0, 0
	for _, kind := range []string{
		"CONSENSUSCREATETOPIC", "CRYPTOUPDATEACCOUNT", "FILECREATE", "SCHEDULECREATE",
		"TOKENMINT", "CONTRACTCALL", "ATOMICBATCH",
	} {
		g.Data(t, `query($types: [TransactionType!]) { transactions(first: 5, filter: {types: $types}) { nodes { entityId entity { typename: __typename entityId }
			innerTransactionIds innerTransactions { transactionId } } }
			contractResults(first: 100, order: ASC, filter: {synthetic: false}) { nodes { createdContractIds createdContracts { entityId } actions { nodes { recipient: recipientId recipientEntity: recipient { typename: __typename entityId } } } } } }`,
			map[string]any{"types": []string{kind}}, &data)
		for _, n := range data.Transactions.Nodes {
			if n.Entity != nil {
				types[n.Entity.Typename]++
			}
			if (n.EntityID == nil) != (n.Entity == nil) || n.Entity != nil && n.Entity.EntityID != *n.EntityID {
				t.Errorf("%s: %v is %v", kind, n.EntityID, n.Entity)
			}
			ids := map[string]bool{}
			for _, i := range n.InnerTransactions {
				ids[i.TransactionID] = true
				inner++
			}
			for _, id := range n.InnerTransactionIds {
				if !ids[id] {
					t.Errorf("the inner transaction %s is missing", id)
				}
			}
		}
	}
	for _, n := range data.ContractResults.Nodes {
		for i, c := range n.CreatedContracts {
			created++
			if c.EntityID != n.CreatedContractIds[i] {
				t.Errorf("%s is not %s", c.EntityID, n.CreatedContractIds[i])
			}
		}
		for _, a := range n.Actions.Nodes {
			if a.RecipientEntity != nil && a.RecipientEntity.EntityID != *a.Recipient {
				t.Errorf("%s is not %s", a.RecipientEntity.EntityID, *a.Recipient)
			}
		}
	}
	for _, want := range []string{"Account", "Contract", "File", "Schedule", "Token", "Topic"} {
		if types[want] == 0 {
			t.Errorf("no %s among %v", want, types)
		}
	}
	if inner == 0 || created == 0 {
		t.Errorf("%d inner transactions, %d created contracts", inner, created)
	}
}

// transfer is a transfer as "time token account amount".
type transfer struct {
	AccountID, Amount, ConsensusTimestamp, Fee string
	TokenID                                    *string
	Counterparties, Fees                       []transfer
	Transaction                                *struct{ ConsensusTimestamp string }
}

func (t transfer) String() string {
	token := "0.0.0"
	if t.TokenID != nil {
		token = *t.TokenID
	}
	return strings.Join([]string{t.ConsensusTimestamp, token, t.AccountID, t.Amount}, " ")
}

func transfersText(list []transfer) string {
	var out []string
	for _, t := range list {
		out = append(out, t.String())
	}
	return strings.Join(out, "\n")
}

const transferFields = `{ nodes { accountId amount consensusTimestamp fee tokenId transaction { consensusTimestamp }
	counterparties { accountId amount consensusTimestamp tokenId } fees { accountId amount consensusTimestamp tokenId } } pageInfo { hasNextPage endCursor } }`

// TestTransfers compares the transfers of accounts with SQL.
func TestTransfers(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	moves := `(select consensus_timestamp, 0 as token, entity_id as account, amount from crypto_transfer
		union all select consensus_timestamp, token_id, account_id, amount from token_transfer) m`
	line := fmt.Sprintf(sqlTime, "consensus_timestamp") +
		` || ' 0.0.' || token || ' 0.0.' || account || ' ' || sum(amount)`
	for name, c := range map[string]struct {
		account         int
		args, condition string
		having          string
		desc            bool
	}{
		"all":        {1001, "", "true", "true", true},
		"oldest":     {1002, "order: ASC", "true", "true", false},
		"hbar":       {1001, `token: "0.0.0"`, "token = 0", "true", true},
		"one token":  {1002, `token: "0.0.2001"`, "token = 2001", "true", true},
		"debits":     {1001, "direction: DEBIT", "true", "sum(amount) < 0", true},
		"credits":    {1017, "direction: CREDIT, order: ASC", "true", "sum(amount) > 0", false},
		"fees":       {98, "", "token <> 0", "true", true},
		"a contract": {3003, "", "true", "true", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direction := "asc"
			if c.desc {
				direction = "desc"
			}
			var want string
			if err := g.DB.Pool().QueryRow(t.Context(), fmt.Sprintf(`select coalesce(string_agg(line, E'\n' order by consensus_timestamp %[1]s, token %[1]s), '') from (
				select consensus_timestamp, token, %[2]s as line from %[3]s where account = %[4]d and %[5]s group by consensus_timestamp, token, account having %[6]s
				order by consensus_timestamp %[1]s, token %[1]s limit 60) l`, direction, line, moves, c.account, c.condition, c.having)).Scan(&want); err != nil {
				t.Fatal(err)
			}
			var walked []transfer
			after := ""
			for range 3 {
				var data struct {
					Account struct {
						Transfers struct {
							Nodes    []transfer
							PageInfo struct {
								HasNextPage bool
								EndCursor   string
							}
						}
					}
				}
				g.Data(t, fmt.Sprintf(`{ account(id: %d) { transfers(first: 20 %s %s) %s } }`, c.account, c.args,
					after, transferFields), nil, &data)
				walked = append(walked, data.Account.Transfers.Nodes...)
				after = fmt.Sprintf("after: %q", data.Account.Transfers.PageInfo.EndCursor)
				if !data.Account.Transfers.PageInfo.HasNextPage {
					break
				}
			}
			if got := transfersText(walked); got != want {
				t.Error(testenv.Diff(want, got))
			}
			for _, one := range walked {
				checkParties(t, g, one)
			}
		})
	}
}

// checkParties checks that a change and those of the other accounts are all changes of the transaction in this
// currency.
func checkParties(t *testing.T, g *testenv.Gateway, one transfer) {
	t.Helper()
	table, account, token := "crypto_transfer", "entity_id", "true"
	if one.TokenID != nil {
		table, account, token = "token_transfer", "account_id", "token_id = "+strings.TrimPrefix(*one.TokenID, "0.0.")
	}
	at := strings.Replace(one.ConsensusTimestamp, ".", "", 1)
	var all []string
	var paid string
	if err := g.DB.Pool().QueryRow(t.Context(), fmt.Sprintf(`select array(select '0.0.' || %[1]s || ' ' || sum(amount) from %[2]s where consensus_timestamp = %[3]s and %[4]s group by %[1]s),
		(select case when payer_account_id = %[5]s and %[6]t then charged_tx_fee else 0 end from transaction where consensus_timestamp = %[3]s)`,
		account, table, at, token, strings.TrimPrefix(one.AccountID, "0.0."), one.TokenID == nil)).Scan(&all,
		&paid); err != nil {
		t.Fatal(err)
	}
	got := []string{one.AccountID + " " + one.Amount}
	for _, p := range slices.Concat(one.Counterparties, one.Fees) {
		got = append(got, p.AccountID+" "+p.Amount)
	}
	for _, p := range one.Fees {
		if strings.HasPrefix(p.Amount, "-") || len(p.AccountID) > len("0.0.802") {
			t.Errorf("%s: %s is a fee", one, p)
		}
	}
	slices.Sort(all)
	slices.Sort(got)
	if !slices.Equal(got, all) || one.Fee != paid || one.Transaction.ConsensusTimestamp != one.ConsensusTimestamp {
		t.Errorf("%s: %v with the fee %s, want %v with %s", one, got, one.Fee, all, paid)
	}
}

// TestTokenTransfers compares the transfers of tokens with SQL.
func TestTokenTransfers(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var from, to, want string
	at := fmt.Sprintf(sqlTime, "consensus_timestamp")
	if err := g.DB.Pool().QueryRow(t.Context(), `with r as (select consensus_timestamp as since, consensus_timestamp + 86400000000000 as until from token_transfer where token_id = 2001
		order by 1 desc offset 20 limit 1)
		select `+fmt.Sprintf(sqlTime, "(select since from r)")+`, `+fmt.Sprintf(sqlTime, "(select until from r)")+`, string_agg(line, E'\n' order by consensus_timestamp desc, account_id desc) from (
		select consensus_timestamp, account_id, `+at+` || ' 0.0.2001 0.0.' || account_id || ' ' || sum(amount) as line from token_transfer, r
		where token_id = 2001 and consensus_timestamp between since and until group by consensus_timestamp, account_id) l`).Scan(&from, &to, &want); err != nil {
		t.Fatal(err)
	}
	var data struct {
		Token struct{ Transfers struct{ Nodes []transfer } }
	}
	variables := map[string]any{"at": map[string]string{"gte": from, "lte": to}}
	const query = `query($at: TimestampFilter!) { token(id: "0.0.2001") { transfers(first: 100, timestamp: $at) ` +
		transferFields + ` } }`
	g.Data(t, query, variables, &data)
	if got := transfersText(data.Token.Transfers.Nodes); got != want || got == "" {
		t.Error(testenv.Diff(want, got))
	}
	for _, one := range data.Token.Transfers.Nodes {
		checkParties(t, g, one)
	}
	for _, wrong := range []map[string]string{{}, {"gte": from}, {"lt": to}, {"gte": "1000", "lt": "90000"}} {
		if got := g.Query(t, query, map[string]any{"at": wrong}); !strings.Contains(got.Body, "at most 24 hours") {
			t.Errorf("%v: %s", wrong, got.Body)
		}
	}
}

// TestTopicTransactions compares the transactions of topics with SQL.
func TestTopicTransactions(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, topic := range []int{4001, 4002, 4003, 4005} {
		for order, sql := range map[string]string{"ASC": "asc", "DESC": "desc"} {
			var want []string
			if err := g.DB.Pool().QueryRow(t.Context(), fmt.Sprintf(`select array(select `+strings.ReplaceAll(fmt.Sprintf(sqlTime, "consensus_timestamp"), "%", "%%")+` from transaction
				where entity_id = %d and result = 22 order by consensus_timestamp %s limit 60)`, topic, sql)).Scan(&want); err != nil {
				t.Fatal(err)
			}
			var data struct {
				Topic struct {
					Transactions struct {
						Nodes []struct{ ConsensusTimestamp string }
					}
				}
			}
			g.Data(t,
				fmt.Sprintf(`{ topic(id: "%d") { transactions(first: 60, order: %s) { nodes { consensusTimestamp } `+
					`} } }`, topic, order), nil, &data)
			var got []string
			for _, n := range data.Topic.Transactions.Nodes {
				got = append(got, n.ConsensusTimestamp)
			}
			if !slices.Equal(got, want) || len(got) < 2 {
				t.Errorf("topic %d, %s: %v, want %v", topic, order, got, want)
			}
		}
	}
}

// TestSoughtTransfers checks that transfers in a direction or of a token are sought among a bounded number, and that
// clients can continue.
func TestSoughtTransfers(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t))
	const account = 1017
	ask := func(args string, at map[string]string) *testenv.Response {
		return g.Query(t,
			fmt.Sprintf(`query($at: TimestampFilter) { account(id: %d) { transfers(timestamp: $at, %s) { nodes { `+
				`consensusTimestamp amount } } } }`, account, args),
			map[string]any{"at": at})
	}
	before := ask("direction: DEBIT", nil).Body
	var newest string
	if err := g.DB.Pool().QueryRow(t.Context(), `select `+fmt.Sprintf(sqlTime, "max(consensus_timestamp)")+
		` from crypto_transfer where entity_id = $1`,
		account).Scan(&newest); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(before, `"amount":"-`) {
		t.Fatal(before)
	}
	if _, err := g.DB.Pool().Exec(t.Context(), `insert into crypto_transfer (entity_id, consensus_timestamp, amount, payer_account_id)
		select $1::bigint, 1900000000000000000 + n, 1, $1::bigint from generate_series(1, $2::int) n`, account, transactions.MaxSoughtTransfers); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"direction: DEBIT", `direction: CREDIT, token: "0.0.2001"`} {
		want := fmt.Sprintf(`the page is not full after 20000 transfers of account 0.0.%d: set timestamp to {gt: `+
			`\"%s\"}, then continue with {lte: \"%[2]s\"}`, account, newest)
		if got := ask(args, nil); args == "direction: DEBIT" && !strings.Contains(got.Body, want) ||
			args != "direction: DEBIT" && strings.Contains(got.Body, "errors") {
			t.Errorf("%s: %s, want %s", args, got.Body, want)
		}
	}
	if got := ask("direction: DEBIT", map[string]string{"gt": newest}); !strings.HasSuffix(got.Body,
		`"nodes":[]}}}}`) {
		t.Error(got.Body)
	}
	for _, at := range []map[string]string{{"lte": newest}, {"lt": "1900000000.000000001"}} {
		if got := ask("direction: DEBIT", at); got.Body != before {
			t.Errorf("%v: %s, want %s", at, got.Body, before)
		}
	}
	if got := ask("direction: CREDIT, first: 100, order: ASC", nil); got.Status != http.StatusOK ||
		strings.Count(got.Body, "amount") != 100 {
		t.Error(got.Body)
	}
	if got := ask("direction: CREDIT, first: 100", nil); strings.Count(got.Body, `"amount":"1"`) != 100 {
		t.Error(got.Body)
	}
}

// TestTransferStatements counts the statements of a wallet's history.
func TestTransferStatements(t *testing.T) {
	t.Parallel()
	got := count(t,
		`{ account(id: 1001) { transfers(first: 25) { nodes { amount fee token { symbol } transaction { memo } `+
			`counterparties { amount account { memo } } fees { amount } } } } }`)
	if len(got.statements) != 7 || got.trips != 3 {
		text, _ := json.MarshalIndent(got.statements, "", "\t")
		t.Errorf("%d statements in %d round trips, want 7 in 3: %s", len(got.statements), got.trips, text)
	}
}

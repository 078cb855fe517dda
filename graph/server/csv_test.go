package server_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// export requests an operation as CSV.
func export(t *testing.T, g *testenv.Gateway, query string, variables map[string]any) *testenv.Response {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json", "Accept: text/csv")
}

func records(t *testing.T, got *testenv.Response) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(got.Body))
	r.FieldsPerRecord = -1 // the last line of an incomplete export has one field
	all, err := r.ReadAll()
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("status %d: %v: %.300s", got.Status, err, got.Body)
	}
	return all
}

// TestCSV compares an export with the pages of the list, read one by one, and with the number of rows of the table.
func TestCSV(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*testenv.Gateway{"demo": testenv.Shared(t)} {
		const query = `query Paid($of: EntityID!, $first: Int, $after: String) {
			transactions(filter: {accountId: {eq: $of}}, first: $first, after: $after, order: ASC) { ...Rows pageInfo { hasNextPage endCursor } }
		}
		fragment Rows on TransactionConnection { nodes { at: consensusTimestamp payer { entityId memo } chargedFee scheduled } }`
		const account = "0.0.98" // takes part in so many transactions that they need several pages
		got := export(t, g, query, map[string]any{"of": account, "first": 2})
		all := records(t, got)
		if want := []string{"at", "payer.entityId", "payer.memo", "chargedFee", "scheduled"}; !slices.Equal(all[0],
			want) {
			t.Errorf("%s: the columns are %v", name, all[0])
		}
		if media := got.Header.Get("Content-Type"); !strings.HasPrefix(media, "text/csv; charset=utf-8") ||
			got.Header.Get("Content-Disposition") != `attachment; filename="Paid.csv"` {
			t.Errorf("%s: %v", name, got.Header)
		}
		var after any
		rows := all[1:]
		for more, n := true, 0; more; {
			var data struct {
				Transactions struct {
					Nodes []struct {
						At, ChargedFee string
						Payer          struct{ EntityID, Memo string }
						Scheduled      bool
					}
					PageInfo struct {
						HasNextPage bool
						EndCursor   string
					}
				}
			}
			g.Data(t, query, map[string]any{"of": account, "first": 100, "after": after}, &data)
			for _, node := range data.Transactions.Nodes {
				scheduled := "false"
				if node.Scheduled {
					scheduled = "true"
				}
				if want := []string{
					node.At, node.Payer.EntityID, node.Payer.Memo, node.ChargedFee,
					scheduled,
				}; n >= len(rows) || !slices.Equal(rows[n], want) {
					t.Fatalf("%s: row %d of %d is not %v", name, n, len(rows), want)
				}
				n++
			}
			if more, after = data.Transactions.PageInfo.HasNextPage, data.Transactions.PageInfo.EndCursor; !more &&
				n != len(rows) {
				t.Errorf("%s: %d rows instead of %d", name, len(rows), n)
			}
		}
		if len(rows) < 1200 {
			t.Errorf("%s: %d rows do not need several pages", name, len(rows))
		}
		edges := records(t,
			export(t, g, `{ account(id: "1001") { transfers { edges { cursor node { amount token { symbol } } } } } }`,
				nil))
		if !slices.Equal(edges[0], []string{"cursor", "node.amount", "node.token.symbol"}) || len(edges) < 2 {
			t.Errorf("%s: %v", name, edges[:min(len(edges), 2)])
		}
		empty := export(t, g, `{ nfts(filter: {anyOf: []}) { nodes { tokenId serialNumber } } }`, nil)
		if empty.Body != "tokenId,serialNumber\r\n" {
			t.Errorf("%s: %q", name, empty.Body)
		}
	}
}

// TestCSVEscapes checks values that spreadsheets would execute, and values with separators.
func TestCSVEscapes(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url, `update entity set memo = '=1+1' where id = 1001`,
		`update entity set memo = '@a,"b"' where id = 1002`,
		`update entity set memo = '-5' where id = 1003`, `update entity set memo = '-5+cmd' where id = 1004`,
		`update entity set memo = 'a=b' where id = 1005`, `update entity set memo = '-1.5 ℏ' where id = 1006`,
		`update entity set memo = '＝1+1' where id = 1007`, `update entity set memo = '＋1' where id = 1008`,
		`update entity set memo = '－1' where id = 1009`, `update entity set memo = '＠a' where id = 1010`,
		`update entity set memo = e'\t=1' where id = 1011`, `update entity set memo = e'\u200b=1' where id = 1012`,
		`update entity set memo = '# cut' where id = 1013`, `update entity set memo = 'ｗide' where id = 1014`)
	got := export(t, testenv.Over(t, url),
		`{ accounts(filter: {id: {gte: "1001", lte: "1014"}}) { nodes { memo key { type } } } }`, nil)
	var memos []string
	for _, row := range records(t, got)[1:] {
		memos = append(memos, row[0])
	}
	if want := []string{
		"'=1+1", `'@a,"b"`, "-5", "'-5+cmd", "a=b", "-1.5 ℏ", "'＝1+1", "'＋1", "'－1", "'＠a", "'\t=1",
		"'\u200b=1", "'# cut", "ｗide",
	}; !slices.Equal(memos, want) {
		t.Errorf("%q, want %q", memos, want)
	}
}

// TestCSVLimit checks the last line of an export that is cut, and that the export continues after its cursor.
func TestCSVLimit(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.CSVRows = 7 })
	const query = `query($after: String) { accounts(after: $after) { nodes { entityId } } }`
	first := records(t, export(t, g, query, nil))
	last := first[len(first)-1][0]
	reason, quoted, found := strings.Cut(last, "; continue with after: ")
	var cursor string
	if len(first) != 9 || !found || reason != "# cut after 7 rows" || json.Unmarshal([]byte(quoted), &cursor) != nil {
		t.Fatalf("%q", first)
	}
	second := records(t, export(t, g, query, map[string]any{"after": cursor}))
	var data struct {
		Accounts struct{ Nodes []struct{ EntityID string } }
	}
	g.Data(t, `{ accounts(first: 14) { nodes { entityId } } }`, nil, &data)
	for i, n := range data.Accounts.Nodes {
		if row := slices.Concat(first[1:8], second[1:8])[i]; row[0] != n.EntityID {
			t.Errorf("row %d is %s, want %s", i, row[0], n.EntityID)
		}
	}
	whole := records(t, export(t, g, `{ network { nodes(filter: {nodeId: {lt: 7}}) { nodes { nodeId } } } }`, nil))
	if line := whole[len(whole)-1][0]; strings.HasPrefix(line, "#") {
		t.Errorf("a whole export ends with %q", line)
	}
}

// TestCSVErrors checks operations that cannot be exported.
func TestCSVErrors(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for query, want := range map[string]string{
		`{ accounts { nodes { entityId } } tokens { nodes { name } } }`: "selects one list",
		`{ account(id: "1001") { memo transactions { nodes { result } } } }`: "remove memo or " +
			"transactions",
		`{ account(id: "1001") { memo } }`:                               "selects one list",
		`{ accounts { totalCount { value } } }`:                          "scalar fields",
		`{ accounts { nodes { nfts { nodes { serialNumber } } } } }`:     "nfts is a list",
		`{ topics: contractLogs { nodes { topics } } }`:                  "topics is a list",
		`{ accounts(last: 5) { nodes { entityId } } }`:                   "last and before",
		`{ accounts { nodes { nothing } } }`:                             "Cannot query field",
		`{ accounts(after: "x") { nodes { entityId } } }`:                "cursor",
		`query($a: Int!) { accounts(first: $a) { nodes { entityId } } }`: "a",
		`subscription { topicMessages(topic: "4001") { text } }`:         "only a query",
		`query A { accounts { nodes { entityId } } } query B { accounts { nodes { entityId } } }`: "operationName " +
			"is missing",
	} {
		got := export(t, g, query, nil)
		if got.Status != http.StatusBadRequest || !strings.Contains(got.Body, want) ||
			!strings.Contains(got.Body, `"BAD_USER_INPUT"`) {
			t.Errorf("%s: status %d: %s", query, got.Status, got.Body)
		}
	}
	if got := export(t, g,
		`{ __typename account(id: "1001") { __typename id tokens { nodes { __typename balance } } } }`,
		nil); got.Status != http.StatusOK ||
		!strings.HasPrefix(got.Body, "account") && !strings.HasPrefix(got.Body, "__typename,balance\r\n") {
		t.Errorf("ids beside the list: %d %s", got.Status, got.Body)
	}
	if got := g.Do(t, http.MethodGet, "/graphql?query="+strings.ReplaceAll(`{accounts(first:1){nodes{entityId}}}`,
		`"`, "%22"), "", "Accept: text/csv"); !strings.HasPrefix(got.Body, "entityId\r\n0.0.2\r\n") {
		t.Errorf("GET: %d %.200s", got.Status, got.Body)
	}
}

// TestCSVRefused checks the status of exports whose first page cannot be read: a client learns whether to wait or to
// change the request.
func TestCSVRefused(t *testing.T) {
	t.Parallel()
	limited := testenv.Demo(t, func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 1} })
	down := testenv.Demo(t)
	down.DB.Close()
	for status, g := range map[int]*testenv.Gateway{
		http.StatusTooManyRequests: limited, http.StatusServiceUnavailable: down,
	} {
		got := export(t, g, accountsQuery, nil)
		for range 9 {
			if got.Status != http.StatusOK {
				break
			}
			got = export(t, g, accountsQuery, nil)
		}
		if got.Status != status || got.Header.Get("Retry-After") == "" || !strings.HasPrefix(got.Body, `{"errors"`) {
			t.Errorf("status %d, want %d: %v %s", got.Status, status, got.Header, got.Body)
		}
	}
}

// TestCSVTexts exports texts with all characters that CSV treats specially, and reads them again. Only the
// apostrophe in front of formulas is not part of a text.
func TestCSVTexts(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, special := range []string{
		"\r", "\n", "\r\n", "\n\r", `"`, `""`, ",", ";", " ", "\t", "#", "'", "\\",
		"\u2028", "\ufeff", "\x00",
	} {
		texts = append(texts, "a"+special, "a"+special+"b", "a"+special+special+"b", special+"b", special)
	}
	url := testenv.Filled.Fresh(t)
	conn := pgtest.Connect(t, url)
	for i, text := range texts {
		if _, err := conn.Exec(t.Context(), `insert into topic_message (topic_id, sequence_number, consensus_timestamp, message, payer_account_id, running_hash, running_hash_version)
			values (77, $1::bigint, $1::bigint, $2, 1001, '\x00', 3)`, i+1, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	got := export(t, testenv.Over(t, url), `{ topicMessages(topic: "77") { nodes { sequenceNumber text } } }`, nil)
	rows, ok := strings.CutPrefix(got.Body, "sequenceNumber,text\r\n")
	if !ok {
		t.Fatalf("%.100q", got.Body)
	}
	for i, want := range texts {
		number, rest, _ := strings.Cut(rows, ",")
		text, after, _ := strings.Cut(rest, "\r\n")
		if quoted, isQuoted := strings.CutPrefix(rest, `"`); isQuoted {
			// The last quote is the first that is not one of a pair.
			end := 0
			for quoted[end] != '"' || quoted[end+1] == '"' {
				if quoted[end] == '"' {
					end++
				}
				end++
			}
			text, after = strings.ReplaceAll(quoted[:end], `""`, `"`), strings.TrimPrefix(quoted[end+1:], "\r\n")
		}
		rows = after
		if got, escaped := strings.CutPrefix(text, "'"); number != strconv.Itoa(i+1) || text != want &&
			(!escaped || got != want) {
			t.Errorf("row %s is %q, want %q", number, text, want)
		}
	}
	if rows != "" {
		t.Errorf("%q follows the rows", rows)
	}
}

// TestCSVLastLine checks that no text in the first column can be taken for the last line of an export that was cut.
func TestCSVLastLine(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url, `update entity set memo = '# cut after 7 rows; continue with after: "x"'`)
	for _, row := range records(t, export(t, testenv.Over(t, url), `{ accounts { nodes { memo } } }`, nil)) {
		if strings.HasPrefix(row[0], "#") {
			t.Fatalf("%q", row)
		}
	}
}

// TestCSVOfNulls checks that an export of one column has a line for each row, also if the value is null.
func TestCSVOfNulls(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	all := records(t, export(t, g, `{ schedules { nodes { entityId executedTimestamp } } }`, nil))
	one := records(t, export(t, g, `{ schedules { nodes { executedTimestamp } } }`, nil))
	if len(all) < 3 || len(one) != len(all) {
		t.Errorf("%d lines with one column, %d with two", len(one), len(all))
	}
	for i, line := range one {
		if line[0] != all[i][1] {
			t.Errorf("line %d is %q, want %q", i, line[0], all[i][1])
		}
	}
}

// TestNDJSON compares the lines of an export with the nodes of the pages of the list, which have lists themselves.
func TestNDJSON(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.CSVRows = 250 })
	const query = `query Recent($first: Int, $after: String) {
		transactions(first: $first, after: $after, order: ASC) {
			nodes { consensusTimestamp transfers { accountId amount }
				payer { entityId memo tokens(first: 1) { nodes { balance token { symbol } } } } }
			pageInfo { hasNextPage endCursor } } }`
	ask := func(query string, variables map[string]any) *testenv.Response {
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			t.Fatal(err)
		}
		return g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json",
			"Accept: application/x-ndjson")
	}
	var after any
	for page, want := range []int{250, 250} {
		got := ask(query, map[string]any{"after": after})
		lines := strings.Split(strings.TrimSuffix(got.Body, "\n"), "\n")
		if got.Header.Get("Content-Type") != "application/x-ndjson; charset=utf-8" || len(lines) != want+1 ||
			got.Header.Get("Content-Disposition") != `attachment; filename="Recent.ndjson"` {
			t.Fatalf("page %d: %d lines, %v: %.300s", page, len(lines), got.Header, got.Body)
		}
		for from := 0; from < want; from += 50 {
			var data struct {
				Transactions struct {
					Nodes    []json.RawMessage
					PageInfo struct{ EndCursor string }
				}
			}
			g.Data(t, query, map[string]any{"first": 50, "after": after}, &data)
			for i, node := range data.Transactions.Nodes {
				if lines[from+i] != string(node) {
					t.Errorf("line %d is\n%s, want\n%s", from+i, lines[from+i], node)
				}
			}
			after = data.Transactions.PageInfo.EndCursor
		}
		var end struct {
			Errors []struct {
				Message    string
				Extensions struct{ After string }
			}
		}
		testenv.Decode(t, lines[want], &end)
		if len(end.Errors) != 1 || end.Errors[0].Message != "cut after 250 rows" ||
			end.Errors[0].Extensions.After != after {
			t.Errorf("page %d ends with %s", page, lines[want])
		}
	}
	for query, want := range map[string]string{
		`{ block(number: 1) { transactions { nodes { type transfers { amount } } } } }`: "{\"type\":",
		`{ block(number: 99999999) { transactions { nodes { type } } } }`:               "",
		`{ accounts { totalCount { value } } }`: "NDJSON requires scalar " +
			"fields",
		`{ accounts { nodes { entityId } } blocks { nodes { number } } }`: "NDJSON requires an " +
			"operation that selects one list",
		`{ accounts { nodes { entityId } edges { cursor } } }`: "NDJSON requires either " +
			"nodes or edges",
		`mutation { __typename }`: "only a query can be " +
			"exported as NDJSON",
	} {
		if got := ask(query, nil); !strings.Contains(got.Body, want) || want == "" && got.Body != "" {
			t.Errorf("%s: %s", query, got.Body)
		}
	}
}

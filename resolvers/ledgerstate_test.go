package resolvers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"heliograph/app/testing/testenv"
	"heliograph/graph"
	"heliograph/internal/base/breadth"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

// pastSchema knows which fields can be read at a past moment.
type pastSchema struct {
	*ast.Schema
	sources map[string]string // by field, such as "Account.memo"
}

func newPastSchema(t *testing.T) *pastSchema {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: graph.SDL})
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for line := range strings.Lines(graph.PastSources) {
		parts := strings.SplitN(strings.TrimSpace(line), ",", 3)
		sources[parts[0]] = parts[1]
	}
	return &pastSchema{s, sources}
}

// below calls visit with each object that can be read below LedgerState.
func (s *pastSchema) below(visit func(*ast.Definition)) {
	seen := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		def := s.Types[name]
		if seen[name] || def.IsLeafType() {
			return
		}
		seen[name] = true
		if def.IsAbstractType() {
			for _, possible := range s.GetPossibleTypes(def) {
				walk(possible.Name)
			}
			return
		}
		visit(def)
		for _, f := range def.Fields {
			if s.sources[name+"."+f.Name] != "unknown" && s.sources[name+"."+f.Name] != "" {
				walk(f.Type.Name())
			}
		}
	}
	walk("LedgerState")
}

// TestPastSources checks the table of the fields at past moments: every field below LedgerState has a line, and every
// line has a field.
func TestPastSources(t *testing.T) {
	t.Parallel()
	s, found := newPastSchema(t), map[string]bool{}
	kinds := []string{"versions", "transfers", "rows", "unchanged", "computed", "moment", "unknown"}
	s.below(func(def *ast.Definition) {
		for _, f := range def.Fields {
			name := def.Name + "." + f.Name
			if found[name] = true; !slices.Contains(kinds, s.sources[name]) {
				t.Errorf("%s has no source in graph/past.csv: it would be an error", name)
			}
		}
	})
	for name := range s.sources {
		if !found[name] {
			t.Errorf("%s of graph/past.csv is not below LedgerState", name)
		}
	}
}

// differs are the fields that have another value in the newest state of the ledger than in the present, with the
// reasons.
var differs = map[string]string{
	"Balance.timestamp": "the moment", "Balance.timestampIso": "the moment",
	"TokenHolder.timestamp": "the moment", "TokenHolder.timestampIso": "the moment",
	"TokenHolderConnection.timestamp": "the moment",
	"NetworkSupply.timestamp":         "the moment", "NetworkSupply.timestampIso": "the moment",
	"Contract.state": "in another order; see TestReplay",
	"Contract.call":  "it takes arguments",
}

// selection returns the fields of an object that the present and the past have, with objects to a depth.
func (s *pastSchema) selection(def *ast.Definition, depth int) string {
	var out []string
	for _, f := range def.Fields {
		if one := s.field(def, f, depth); one != "" {
			out = append(out, one)
		}
	}
	return strings.Join(out, " ")
}

// field returns the selection of a field, or "" if it cannot be compared.
func (s *pastSchema) field(def *ast.Definition, f *ast.FieldDefinition, depth int) string {
	name := def.Name + "." + f.Name
	source := s.sources[name]
	if source == "" || source == "unknown" || differs[name] != "" ||
		slices.Contains([]string{"cursor", "edges", "startCursor", "endCursor"}, f.Name) {
		return ""
	}
	arguments := ""
	for _, a := range f.Arguments {
		switch {
		case a.Name == "first":
			arguments = "(first: 3)"
		case a.Name == "timestamp" && a.Type.NonNull:
			arguments = `(first: 3, timestamp: {gte: "2026-05-17T00:00:00Z", lt: "2026-05-17T12:00:00Z"})`
			return f.Name + arguments + " { nodes { id amount } }"
		case a.Type.NonNull && a.DefaultValue == nil:
			return ""
		}
	}
	of := s.Types[f.Type.Name()]
	switch {
	case of.IsLeafType():
		return f.Name + arguments
	case of.IsAbstractType():
		return f.Name + arguments + " { __typename }"
	case strings.HasSuffix(of.Name, "Connection"):
		depth++ // its nodes are on the level of the list
	}
	if depth == 0 {
		return ""
	}
	inner := s.selection(of, depth-1)
	if inner == "" {
		return ""
	}
	return f.Name + arguments + " { " + inner + " }"
}

// maxSelection is the size of the selections of a document, in characters.
const maxSelection = 9_000

// overwritten matches changes of values that are overwritten without a version: a state has none.
var overwritten = regexp.MustCompile(`,?\{"field":"(ethereumNonce|totalSupply)",[^}]*\}`)

// pastRoots are the fields with which objects are read, now and in a state of the ledger.
var pastRoots = map[string][]string{
	"Account": {
		"account(id: 2)", "account(id: 1001)", "account(id: 1002)", "account(id: 1003)", "account(id: 1009)",
		"account(id: 1013)", "account(id: 1015)", "account(id: 1017)", "account(id: 3003)", "account(id: 98)",
		"account(id: 9999999)",
	},
	"Contract": {"contract(id: 3001)", "contract(id: 3011)", "contract(id: 3021)"},
	"File":     {"file(id: 112)", "file(id: 150)"},
	"NFT": {"nft(token: 2007, serialNumber: 1)", "nft(token: 2007, serialNumber: 4)", "nft(token: 2010, " +
		"serialNumber: 1)"},
	"Schedule": {"schedule(id: 5001)", "schedule(id: 5002)", "schedule(id: 5003)", "schedule(id: 5004)"},
	"Token": {
		"token(id: 2001)", "token(id: 2002)", "token(id: 2004)", "token(id: 2006)", "token(id: 2007)", "token(id: " +
			"2008)",
		"token(id: 2010)",
	},
	"Topic": {"topic(id: 4001)", "topic(id: 4002)"},
}

// TestNewestState checks that the state of the ledger at its newest block is the present, for every field that both
// have.
func TestNewestState(t *testing.T) {
	t.Parallel()
	g, s := testenv.Shared(t), newPastSchema(t)
	newest := newestBlock(t, g)
	compared := 0
	for typ, roots := range pastRoots {
		def := s.Types[typ]
		for _, f := range def.Fields {
			field := s.field(def, f, 2)
			if len(field) > maxSelection {
				field = s.field(def, f, 1)
			}
			if field == "" {
				continue
			}
			size := max(1, maxSelection/len(field))
			for some := range slices.Chunk(roots[:breadth.Of(min(size, len(roots)), len(roots))], size) {
				var objects strings.Builder
				for i, root := range some {
					fmt.Fprintf(&objects, " r%d: %s { %s }", i, root, field)
				}
				compared += sameState(t, g, typ+"."+f.Name, objects.String(), newest)
			}
		}
	}
	network := s.selection(s.Types["NetworkSupply"], 1)
	compared += sameState(t, g, "the network",
		`network { supply { `+network+` } exchangeRate { timestamp currentRate { centEquivalent } } fees { `+
			`timestamp fees { gas } } stake { `+
			s.selection(s.Types["NetworkStake"], 2)+` } }`, newest)
	if compared < 500 {
		t.Errorf("only %d objects were compared", compared)
	}
}

// newestBlock returns the number of the newest block.
func newestBlock(t *testing.T, g *testenv.Gateway) string {
	t.Helper()
	var out struct {
		Data struct {
			Blocks struct{ Nodes []struct{ Number string } }
		}
	}
	body := g.Query(t, `{ blocks(first: 1) { nodes { number } } }`, nil).Body
	if err := json.Unmarshal([]byte(body), &out); err != nil || len(out.Data.Blocks.Nodes) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	return out.Data.Blocks.Nodes[0].Number
}

// sameState compares the objects of two selections, and returns their number.
func sameState(t *testing.T, g *testenv.Gateway, what, objects, block string) int {
	t.Helper()
	var a, b struct {
		Data   map[string]json.RawMessage
		Errors []struct{ Message string }
	}
	for document, into := range map[string]any{
		"{ " + objects + " }": &a, "{ ledger(at: {block: {number: " + block + "}}) { " + objects + " } }": &b,
	} {
		body := g.Query(t, document, nil).Body
		if err := json.Unmarshal([]byte(body), into); err != nil {
			t.Fatalf("%s: %v: %.300s", what, err, body)
		}
	}
	if len(a.Errors)+len(b.Errors) > 0 {
		t.Errorf("%s: now %v, then %v", what, a.Errors, b.Errors)
		return 0
	}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(b.Data["ledger"], &state); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for name := range a.Data {
		x, y := overwritten.ReplaceAllString(string(a.Data[name]), ""), string(state[name])
		x = strings.ReplaceAll(x, "[,", "[")
		if x != y {
			x, y = difference(x, y)
			t.Errorf("%s, %s:\n now %s\nthen %s", what, name, x, y)
		}
	}
	return len(a.Data)
}

// difference returns the surroundings of the first difference of two texts.
func difference(a, b string) (string, string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	start := max(i-150, 0)
	return a[start:min(i+100, len(a))], b[start:min(i+100, len(b))]
}

// TestMoments tests the ways to select a moment, and those that are refused.
func TestMoments(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	body := g.Query(t, `{ transaction(at: "1776429868.910668494") { transactionId } }`, nil).Body
	_, rest, _ := strings.Cut(body, `"transactionId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	for moment, want := range map[string]string{
		`{block: {number: 0}}`:                                  `"at":"1747053293.945123450"`,
		`{block: {number: 999999}}`:                             `{"data":{"ledger":null}}`,
		`{block: {hash: "0x` + strings.Repeat("00", 48) + `"}}`: `{"data":{"ledger":null}}`,
		`{time: "2026-01-01"}`:                                  `"at":"1767225600.000000000"`,
		`{time: "2027-01-01"}`:                                  `is after the newest block`,
		`{transaction: {timestamp: "1"}}`:                       `{"data":{"ledger":null}}`,
		`{transaction: {timestamp: "1776429868.910668494"}}`:    `"at":"1776429868.910668494"`,
		`{transaction: {id: "0.0.1001-1-1"}}`:                   `{"data":{"ledger":null}}`,
		`{transaction: {id: "0.0.1001-1-1", timestamp: "1"}}`:   `give exactly one of timestamp and id`,
		`{transaction: {id: "` + id + `"}}`:                     `"at":"1776429868.910668494"`,
		`{transaction: {}}`:                                     `give exactly one of timestamp and id`,
		`{block: {}}`:                                           `exactly one`,
		`{time: "2026-01-01", block: {number: 1}}`:              `exactly one`,
		`{}`: `exactly one`,
	} {
		got := g.Query(t, `{ ledger(at: `+moment+`) { at } }`, nil).Body
		if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s: %s, want %s", moment, got, want)
		}
	}
}

// TestStates tests what is different in a state of the ledger: errors of single fields, several states in one document,
// cursors, and balances before the first snapshot.
func TestStates(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	page := func(moment, after string) string {
		return g.Query(t, `{ ledger(at: {time: "`+moment+`"}) { token(id: 2001) { holders(first: 2, after: `+after+
			`) { nodes { accountId balance } pageInfo { endCursor } } } } }`, nil).Body
	}
	first := page("2026-03-01", "null")
	_, rest, _ := strings.Cut(first, `"endCursor":`)
	cursor, _, _ := strings.Cut(rest, "}")
	if second := page("2026-03-01", cursor); strings.Contains(second, "errors") || second == first {
		t.Errorf("the second page is %s", second)
	}
	if other := page("2026-03-02", cursor); !strings.Contains(other, "the cursor is not one of this list") {
		t.Errorf("the cursor of another moment gives %s", other)
	}
	for document, want := range map[string]string{
		`{ ledger(at: {time: "2026-03-01"}) { account(id: 1001) { memo ethereumNonce } } }`: `"ethereumNonce":null}` +
			`}},"errors"` +
			`or:[{"message":"Account.ethereumNonce is not known at a past moment`,
		`{ ledger(at: {time: "2026-03-01"}) { account(id: 1001) { allowances { crypto { nodes { amount } } } } ` +
			`} }`: `CryptoAllowance.amount is not known at a past moment: the remaining amount is overwritten`,
		`{ ledger(at: {time: "2026-03-01"}) { accounts(ids: [1086, 1002]) { memo pendingReward pendingRewardValue ` +
			`{ raw } } } }`: `"pendingReward":null,"pendingRewardValue":null}` +
			`or:"pendingReward":"0","pendingRewardValue":{"raw":"0"}}or:the results of staking periods begin later`,
		`{ a: ledger(at: {block: {number: 0}}) { account(id: 1001) { memo } } b: ledger(at: {time: "2026-03-01"}) ` +
			`{ account(id: 1001) { memo } } }`: `{"a":{"account":null},"b":{"account":{"memo":"Alice's wallet, ` +
			`second edition"}}}`,
		`{ ledger(at: {time: "2025-05-12T12:35:12Z"}) { account(id: 2) { balance } } }`: `no balance snapshot before`,
		`{ ledger(at: {time: "2026-03-01"}) { token(id: 2001) { balances(at: {lte: "2026-02-01"}) { nodes { ` +
			`balance } } } } }`: `at cannot be given here`,
		`{ ledger(at: {time: "2026-03-01"}) { contract(id: 3001) { call(data: "0x18160ddd") { output } } ` +
			`} }`: `a call needs the moment after a block`,
		`{ ledger(at: {block: {number: 3000}}) { contract(id: 3001) { call(data: "0x18160ddd") { output ` +
			`blockNumber } } } }`: `"blockNumber":"3000"`,
	} {
		got := g.Query(t, document, nil).Body
		for part := range strings.SplitSeq(want, "or:") {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s, want %s", document, got, part)
			}
		}
	}
}

// TestStatesKeyByKey tests that the statements for distributed tables give the same states.
func TestStatesKeyByKey(t *testing.T) {
	t.Parallel()
	plain, distributed, s := testenv.Shared(t), testenv.Over(t, distributed(t)), newPastSchema(t)
	// The balances of accounts without an index are known for fewer rows. Later transactions of the day have too many.
	for _, document := range []string{
		`{ account(id: 1013) { balanceHistory(range: {from: "2025-04-01"}, by: WEEK) { to balance } } }`,
		`{ account(id: 800) { balanceHistory(range: {from: "2026-05-16T06:00:00Z"}, by: HOUR) { to balance } } }`,
		`{ transactions(first: 4, filter: {types: [CRYPTOTRANSFER], timestamp: {lt: "2026-05-17T12:00:00Z"}}) { nodes { effects { entities { entityId balance { amount before after } changes { field after } }
  relationships { accountId tokenId balance { amount before after } changes { field } } nfts { tokenId serialNumber changes { field before after } } } } } }`,
	} {
		want, got := plain.Query(t, document, nil).Body, distributed.Query(t, document, nil).Body
		if want != got || strings.Contains(want, `"errors"`) {
			t.Errorf("%s:\n got %.1000s\nwant %.1000s", document, got, want)
		}
	}
	for typ, roots := range pastRoots {
		for _, f := range s.Types[typ].Fields {
			field := s.field(s.Types[typ], f, 1)
			if field == "" {
				continue
			}
			document := `{ ledger(at: {time: "2026-03-01"}) { ` + roots[len(roots)/2] + ` { ` + field + ` } } }`
			want, got := plain.Query(t, document, nil).Body, distributed.Query(t, document, nil).Body
			if want != got || strings.Contains(want, "INTERNAL") {
				t.Errorf("%s:\n got %.1000s\nwant %.1000s", document, got, want)
			}
		}
	}
}

// TestDocumentedSources checks that docs/ledger.md has the source of each field.
func TestDocumentedSources(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 3 {
			continue
		}
		object, source := strings.Trim(cells[0], " `"), strings.TrimSpace(cells[1])
		for name := range strings.SplitSeq(cells[2], ",") {
			found[object+"."+strings.Trim(name, " `")+","+strings.Replace(source, ": ", ",", 1)] = true
		}
	}
	for line := range strings.Lines(graph.PastSources) {
		line = strings.TrimRight(line, ",\n")
		if object, _, _ := strings.Cut(line, "."); !found[line] && !strings.HasSuffix(object, "Edge") {
			t.Errorf("docs/ledger.md lacks %q", line)
		}
	}
}

// TestBalanceHistory compares the balances at the ends of months with those in the states of the ledger right before.
func TestBalanceHistory(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type balance struct {
		To      string
		Balance *string
	}
	for _, id := range []string{"2", "1001", "1013", "3003"} {
		var got struct {
			Data struct {
				Account struct{ BalanceHistory []balance }
			}
		}
		body := g.Query(t, `{ account(id: `+id+`) { balanceHistory(range: {from: "2025-04-01"}, by: MONTH) { to `+
			`balance } } }`, nil).Body
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Data.Account.BalanceHistory) != 14 {
			t.Fatalf("%v: %s", err, body)
		}
		months := got.Data.Account.BalanceHistory
		if months[0].Balance != nil {
			t.Errorf("account %s has %s before the first snapshot", id, *months[0].Balance)
		}
		for _, m := range months[1 : len(months)-1] {
			before := strings.Replace(m.To, ".000000000", "", 1)
			seconds, _ := strconv.ParseInt(before, 10, 64)
			document := fmt.Sprintf(`{ ledger(at: {time: "%d.999999999"}) { account(id: %s) { balance } } }`,
				seconds-1, id)
			state := g.Query(t, document, nil).Body
			if want := `{"account":{"balance":"` + *m.Balance + `"}}`; !strings.Contains(state, want) {
				t.Errorf("account %s at %s: %s, want %s", id, m.To, state, want)
			}
		}
	}
	const unindexed = `{ account(id: 98) { balanceHistory(range: {from: "2026-05-01"}, by: MONTH) { to } } }`
	if body := g.Query(t, unindexed, nil).Body; !strings.Contains(body, "have no index") {
		t.Errorf("account 98: %s", body)
	}
}

// TestStatesWithoutColumns compares the newest state with the present in a database that lacks columns which may be
// null, some of them only in the tables of the history.
func TestStatesWithoutColumns(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	testenv.Exec(t, url, `alter table entity drop column proxy_account_id, drop column delegation_address, drop `+
		`column receiver_sig_required`,
		`alter table entity_history drop column delegation_address, drop column obtainer_id`,
		`alter table nft drop column delegating_spender`, `alter table nft_history drop column delegating_spender`,
		`alter table token_history drop column metadata_key`, `alter table topic drop column fee_exempt_key_list`,
		`alter table node drop column grpc_proxy_endpoint`, `alter table record_file drop column receipts_root`,
		`drop table registered_node, registered_node_history`)
	report, err := migrations.Inspect(t.Context(), pgtest.Connect(t, url))
	if err != nil {
		t.Fatal(err)
	}
	g, s := testenv.Over(t, url), newPastSchema(t)
	g.DB.SetAbsent(report.Absent)
	newest, compared := newestBlock(t, g), 0
	for typ, roots := range pastRoots {
		for _, f := range s.Types[typ].Fields {
			field := s.field(s.Types[typ], f, 1)
			if field == "" {
				continue
			}
			var objects strings.Builder
			for i, root := range roots[:min(len(roots), max(1, breadth.Of(3, maxSelection/len(field))))] {
				fmt.Fprintf(&objects, " r%d: %s { %s }", i, root, field)
			}
			compared += sameState(t, g, typ+"."+f.Name, objects.String(), newest)
		}
	}
	if compared < 300 {
		t.Errorf("only %d objects were compared", compared)
	}
}

// TestStatesStay tests that the pages of a state are the same while rows are written: those that follow the newest
// block, and new versions of what the pages show.
func TestStatesStay(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url)
	const document = `{ ledger(at: {block: {number: %s}}) {
  token(id: 2001) { totalSupply holderCount { value } holders(first: 5, after: %s) { totalCount { value } nodes { accountId balance } pageInfo { endCursor hasNextPage } } }
  collection: token(id: 2007) { nfts(first: 50) { totalCount { value } nodes { serialNumber ownerId spenderId } } }
  account(id: 1001) { memo balance tokens(first: 50) { totalCount { value } nodes { tokenId balance freezeStatus } } transactions(first: 5) { nodes { consensusTimestamp }
    pageInfo { endCursor } } transfers(first: 5) { nodes { amount } } allowances { crypto { nodes { spenderId amountGranted } } } }
  topic(id: 4001) { messages(first: 5, order: DESC) { totalCount { value } nodes { sequenceNumber } pageInfo { endCursor } } } network { supply { releasedSupply } } } }`
	block := newestBlock(t, g)
	pages := func() (all []string) {
		cursor := "null"
		for range 50 {
			got := g.Query(t, fmt.Sprintf(document, block, cursor), nil).Body
			if strings.Contains(got, `"errors"`) {
				t.Fatal(got)
			}
			all = append(all, got)
			_, rest, _ := strings.Cut(got, `"endCursor":`)
			if cursor, rest, _ = strings.Cut(rest, ","); strings.HasPrefix(rest, `"hasNextPage":false`) {
				break
			}
		}
		return all
	}
	want := pages()
	begin, transactions := time.Now(), 0
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		conn := pgtest.Connect(t, url)
		for ticks := time.Tick(100 * time.Millisecond); ; transactions += 50 {
			writeChanges(t, conn, transactions)
			select {
			case <-stop:
				return
			case <-ticks:
			}
		}
	})
	for range 5 { // and between pages, too
		if got := pages(); !slices.Equal(got, want) {
			a, b := difference(strings.Join(got, "\n"), strings.Join(want, "\n"))
			t.Errorf("while rows are written:\n got %s\nwant %s", a, b)
		}
	}
	for newestBlock(t, g) == block {
		time.Sleep(10 * time.Millisecond)
	}
	close(stop)
	writing.Wait()
	t.Logf("%.0f transactions a second", float64(transactions)/time.Since(begin).Seconds())
	if len(want) < 3 || newestBlock(t, g) == block {
		t.Errorf("%d pages, and the newest block is %s", len(want), block)
	}
}

// writeChanges writes the rows of fifty transactions that follow the n-th after the newest block, new versions of what
// TestStatesStay reads, and the block.
func writeChanges(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	const at = "(select max(consensus_end) + 1000 from record_file)"
	version := func(table, set, where string) []string {
		return []string{
			`insert into ` + table + `_history select * from ` + table + ` where ` + where,
			`update ` + table + `_history set timestamp_range = int8range(lower(timestamp_range), ` + at + `)
  where upper(timestamp_range) is null`,
			`update ` + table + ` set timestamp_range = int8range(` + at + `, null), ` + set + ` where ` + where,
		}
	}
	const fifty = ` from generate_series(0, 49) i`
	sql := strings.Join(slices.Concat(
		[]string{
			`insert into transaction (consensus_timestamp, payer_account_id, valid_start_ns, type, result)
  select ` + at + ` + i, 1001, ` + at + ` + i - 1, 14, 22` + fifty,
			`insert into crypto_transfer (entity_id, consensus_timestamp, amount, payer_account_id)
  select 1001 + i % 2, ` + at + ` + i / 2 * 2, i % 2 * 10 - 5, 1001` + fifty,
			`insert into token_transfer (account_id, token_id, consensus_timestamp, amount, payer_account_id)
  select 1001 + i % 2, 2001, ` + at + ` + i / 2 * 2, i % 2 * 14 - 7, 1001` + fifty,
			`update entity set balance = balance - 125 where id = 1001`,
			`update token_account set balance = balance + 175 where account_id = 1002 and token_id = 2001`,
			`insert into topic_message (consensus_timestamp, topic_id, message, sequence_number, payer_account_id, running_hash, running_hash_version)
  select ` + at + ` + i, 4001, 'x', 100000 + ` + strconv.Itoa(n) + ` + i, 1001, '', 3` + fifty,
		},
		version("entity", "memo = 'changed'", "id = 1001"),
		version("token_account", "freeze_status = 1", "account_id = 1001 and token_id = 2001"),
		version("nft", "account_id = 1003", "token_id = 2007 and serial_number = "+strconv.Itoa(n/50%20+1)),
		version("crypto_allowance", "amount_granted = 1, amount = 1", "owner = 1001 and spender = (select "+
			"min(spender) from crypto_allowance where owner = 1001)"),
		[]string{`insert into record_file select (jsonb_populate_record(r, jsonb_build_object('index', r.index + 1,
  'consensus_start', r.consensus_end + 1000, 'consensus_end', r.consensus_end + 2000, 'hash', md5(r.hash) || md5(r.hash) || md5(r.hash),
  'name', r.name || 'x'))).* from record_file r order by index desc limit 1`},
	), ";\n")
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil { // in one transaction, as by the importer
		t.Error(err)
	}
}

// TestTooLong tests that balances which need more rows than the bounds are errors. They name the bound, and where that
// helps the nearest moments that need fewer rows.
func TestTooLong(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g, conn := testenv.Over(t, url), pgtest.Connect(t, url)
	var before, last int64 // the last two snapshots
	if err := conn.QueryRow(t.Context(), `select min(t), max(t) from (select distinct consensus_timestamp as t
  from account_balance order by t desc limit 2) s`).Scan(&before, &last); err != nil {
		t.Fatal(err)
	}
	after := fmt.Sprintf("%d + ", before)
	for _, c := range []struct{ sql, selection, message string }{
		{
			`insert into crypto_transfer (entity_id, consensus_timestamp, amount, payer_account_id)
  select 1001, ` + after + `i, 0, 1001 from generate_series(1, 200001) i`,
			`account(id: 1001) { balance }`, "more than 200000 transfers since the balance snapshot",
		},
		{
			`insert into token_transfer (account_id, token_id, consensus_timestamp, amount, payer_account_id)
  select 1001, 2001, ` + after + `i, 0, 1001 from generate_series(1, 200001) i`,
			`account(id: 1001) { tokens { nodes { balance } } }`,
			"more than 200000 transfers since the balance snapshot, or NFTs",
		},
		{
			`insert into token_account (account_id, token_id, associated, created_timestamp, timestamp_range, balance)
  select 1000000 + i, 2001, true, 1, '[1,)', 0 from generate_series(1, 50001) i`,
			`token(id: 2001) { holders { nodes { balance } } }`, "had more than 50000 relationships",
		},
		{`select`, `token(id: 2001) { totalSupply }`, "more than 50000 relationships or transfers of all tokens"},
	} {
		pgtest.Exec(t, conn, c.sql)
		document := fmt.Sprintf(`{ ledger(at: {time: "%d.%09d"}) { %s } }`, (last-1)/1e9, (last-1)%1e9, c.selection)
		got := g.Query(t, document, nil).Body
		if !strings.Contains(got, c.message) || strings.Contains(got, "INTERNAL") {
			t.Errorf("%s: %.500s", c.selection, got)
		}
		if _, near, found := strings.Cut(got, "right after a balance snapshot, "); found {
			near, _, _ = strings.Cut(near, `"`)
			near, _, _ = strings.Cut(near, " or ")
			document := fmt.Sprintf(`{ ledger(at: {time: %q}) { %s } }`, near, c.selection)
			if got := g.Query(t, document, nil).Body; strings.Contains(got, "errors") && c.message[0] == 'm' &&
				!strings.Contains(c.message, "relationships") {
				t.Errorf("at %s: %.500s", near, got)
			}
		} else if !strings.HasPrefix(c.message, "had") {
			t.Errorf("no other moment is named: %.500s", got)
		}
	}
}

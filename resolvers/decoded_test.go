package resolvers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/evm/system/abi"
)

// sqlValue reads one value with SQL of its own.
func sqlValue[T any](t *testing.T, g *testenv.Gateway, sql string) (v T) {
	t.Helper()
	if err := g.DB.Pool().QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

const decodedKey = `fragment Decoded on Key { decoded { kind: __typename ... on ED25519Key { publicKey } ... on ECDSAKey { publicKey } ... on ThresholdKey { threshold }
	... on ContractKey { contractId contract { memo } evmAddress } ... on DelegatableContractKey { contractId contract { entityId } } } }
fragment Members on Key { ...Decoded decoded { ... on KeyList { keys { type ...Decoded } } ... on ThresholdKey { keys { type ...Decoded } } } }`

var publicKey = regexp.MustCompile(`"publicKey":"([0-9a-f]+)"`)

// TestDecodedKeys decodes keys of every kind. The public keys are those in the bytes of the keys.
func TestDecodedKeys(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for account, want := range map[string]string{
		"1001": `{"kind":"ED25519Key","publicKey":32}`,
		"1002": `{"kind":"ECDSAKey","publicKey":33}`,
		"1003": `{"kind":"KeyList","keys":[{"type":"ED25519","decoded":{"kind":"ED25519Key","publicKey":32}},
			{"type":"ECDSA_SECP256K1","decoded":{"kind":"ECDSAKey","publicKey":33}}]}`,
		"1004": `{"kind":"ThresholdKey","threshold":2,"keys":[{"type":"ED25519","decoded":{"kind":"ED25519Key","publicKey":32}},
			{"type":"ED25519","decoded":{"kind":"ED25519Key","publicKey":32}},{"type":"ECDSA_SECP256K1","decoded":{"kind":"ECDSAKey","publicKey":33}}]}`,
		"1007": `{"kind":"ContractKey","contractId":"0.0.3010","contract":{"memo":"Toll gate, used as a ` +
			`hook"},"evmAddress":null}`,
		"1010": `null`,
		"1019": `{"kind":"KeyList","keys":[{"type":"PROTOBUF_ENCODED","decoded":{"kind":"ContractKey","contractId":"0.0.3001","contract":{"memo":"Harbour Coin"},"evmAddress":null}},
			{"type":"PROTOBUF_ENCODED","decoded":{"kind":"DelegatableContractKey","contractId":"0.0.3004","contract":{"entityId":"0.0.3004"}}},
			{"type":"ED25519","decoded":{"kind":"ED25519Key","publicKey":32}}]}`,
	} {
		var got struct {
			Account struct {
				Key *struct{ Decoded json.RawMessage }
			}
		}
		g.Data(t, `query($id: AccountRef!) { account(id: $id) { key { ...Members } } } `+decodedKey,
			map[string]any{"id": account}, &got)
		text := "null"
		if got.Account.Key != nil {
			text = string(got.Account.Key.Decoded)
		}
		stored := sqlValue[*string](t, g, `select encode(key, 'hex') from entity where id = `+account)
		text = publicKey.ReplaceAllStringFunc(text, func(found string) string {
			hex := publicKey.FindStringSubmatch(found)[1]
			if !strings.Contains(*stored, hex) {
				t.Errorf("account %s: %s is not in the key %s", account, hex, *stored)
			}
			return fmt.Sprintf(`"publicKey":%d`, len(hex)/2)
		})
		if want := strings.NewReplacer("\n", "", "\t", "").Replace(want); text != want {
			t.Errorf("account %s:\n got %s\nwant %s", account, text, want)
		}
	}
}

// TestText reads bytes as text where they are UTF-8.
func TestText(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var got struct {
		TopicMessages struct {
			Nodes []struct {
				MessageText *string
				Text        string
			}
		}
		Transactions struct {
			Nodes []struct{ Memo, MemoText *string }
		}
		Nfts struct {
			Nodes []struct{ Metadata, MetadataText *string }
		}
		Token struct{ MetadataText *string }
	}
	g.Data(t, `{ topicMessages(topic: "4006", first: 2) { nodes { messageText text } } transactions(first: 100) { nodes { memo memoText } }
		nfts(first: 100) { nodes { metadata metadataText } } token(id: "2001") { metadataText } }`, nil, &got)
	if m := got.TopicMessages.Nodes; m[0].MessageText != nil || m[1].MessageText == nil ||
		*m[1].MessageText != m[1].Text {
		t.Errorf("messages: %+v", m)
	}
	texts := 0
	for _, n := range got.Transactions.Nodes {
		if n.Memo == nil || n.MemoText == nil {
			t.Errorf("a transaction without a memo: %+v", n)
		} else if *n.MemoText != "" && sqlValue[bool](t,
			g, `select convert_to('`+strings.ReplaceAll(*n.MemoText, "'", "''")+`', 'UTF8') = '\`+(*n.Memo)[1:]+`'`) {
			texts++
		}
	}
	for _, n := range got.Nfts.Nodes {
		if (n.Metadata == nil) != (n.MetadataText == nil) {
			t.Errorf("metadata: %+v", n)
		}
	}
	if texts == 0 || got.Token.MetadataText == nil {
		t.Errorf("%d memos, metadata %v", texts, got.Token.MetadataText)
	}
}

// TestJoinedChunks joins the chunks of messages, at the root and below topics, and pages through the joined list in
// both directions.
func TestJoinedChunks(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type message struct {
		SequenceNumber, Message string
		JoinedChunks            int
		ChunkInfo               *struct{ Number, Total int }
	}
	type page struct {
		TotalCount *struct{ Value string }
		Nodes      []message
		PageInfo   struct {
			HasNextPage, HasPreviousPage bool
			StartCursor, EndCursor       string
		}
	}
	const fields = ` { totalCount { value } nodes { sequenceNumber message joinedChunks chunkInfo { number total } ` +
		`} pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
	const early = `filter: {sequenceNumber: {lte: "40"}}`
	for _, topic := range []string{"4001", "4006"} {
		var got struct {
			TopicMessages page
			Topic         struct{ Messages page }
		}
		g.Data(t, `query($t: EntityID!) { topicMessages(topic: $t, joinChunks: true, first: 100, `+early+`)`+
			fields+` topic(id: $t) { messages(joinChunks: true, first: 100, `+early+`)`+fields+` } }`,
			map[string]any{"t": topic}, &got)
		joined := sqlValue[[]string](t, g, `select array_agg(n || ' ' || m order by n) from (
			select min(sequence_number) as n, '0x' || encode(string_agg(message, '' order by sequence_number), 'hex') as m from topic_message where sequence_number <= 40 and topic_id = `+topic+`
			group by coalesce(valid_start_timestamp || '/' || payer_account_id || '/' || chunk_total, consensus_timestamp::text)) x`)
		all := got.TopicMessages.Nodes
		long := 0
		for i, m := range all {
			if i >= len(joined) || m.SequenceNumber+" "+m.Message != joined[i] {
				t.Fatalf("topic %s, message %d: %+v, want %d messages", topic, i, m, len(joined))
			}
			if m.JoinedChunks > 1 && m.ChunkInfo.Number == 1 && m.ChunkInfo.Total == m.JoinedChunks {
				long++
			}
		}
		if len(all) != len(joined) || len(got.Topic.Messages.Nodes) != len(all) || long == 0 ||
			got.TopicMessages.TotalCount != nil {
			t.Fatalf("topic %s: %d messages, below the topic %d, want %d; %d long", topic, len(all),
				len(got.Topic.Messages.Nodes), len(joined), long)
		}
		for _, args := range []struct{ size, cursor string }{{"first: 2", "after"}, {"last: 2", "before"}} {
			var pages []message
			for cursor := ""; ; {
				var got struct{ TopicMessages page }
				g.Data(t, `query($t: EntityID!, $c: String) { topicMessages(topic: $t, joinChunks: true, `+early+
					`, `+args.size+`, `+args.cursor+`: $c)`+fields+` }`,
					map[string]any{"t": topic, "c": map[bool]any{true: nil, false: cursor}[cursor == ""]}, &got)
				p := got.TopicMessages
				if args.cursor == "after" {
					pages, cursor = append(pages, p.Nodes...), p.PageInfo.EndCursor
					if !p.PageInfo.HasNextPage {
						break
					}
				} else {
					pages, cursor = append(p.Nodes, pages...), p.PageInfo.StartCursor
					if !p.PageInfo.HasPreviousPage {
						break
					}
				}
			}
			a, _ := json.Marshal(pages)
			b, _ := json.Marshal(all)
			if !bytes.Equal(a, b) {
				t.Errorf("topic %s, %s: %d messages by page, want %d", topic, args.size, len(pages), len(all))
			}
		}
	}
	// A message with a missing chunk stands alone.
	var got struct{ TopicMessages page }
	g.Data(t, `{ topicMessages(topic: "4001", filter: {sequenceNumber: {gte: "5"}}, first: 1, joinChunks: true)`+
		fields+` }`, nil, &got)
	if n := got.TopicMessages.Nodes; len(n) != 1 || n[0].JoinedChunks != 1 {
		t.Errorf("from the second chunk: %+v", n)
	}
}

// TestScheduledTransactions decodes the transactions of schedules, and tells who has signed them.
func TestScheduledTransactions(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type signer struct {
		EntityID    string
		Entity      struct{ EntityID string }
		MissingKeys []struct{ Value string }
	}
	var got struct {
		Schedules struct {
			Nodes []struct {
				Memo, EntityID, PayerAccountID string
				Transaction                    struct {
					Type, Memo, MaxFee                   string
					EntityID                             *string
					Entity                               *struct{ Memo string }
					Transfers                            []struct{ AccountID, Amount string }
					SignaturesPresent, SignaturesMissing []signer
				}
			}
		}
	}
	g.Data(t, `fragment Signer on ScheduleSigner { entityId entity { entityId } missingKeys { value } }
	{ schedules(first: 100) { nodes { memo entityId payerAccountId transaction { type memo maxFee entityId entity { memo } transfers { accountId amount }
		signaturesPresent { ...Signer } signaturesMissing { ...Signer } } } } }`, nil, &got)
	want := map[string]string{ // who has signed, and who has not with the number of keys that are missing
		"Rent of the boat shed":               "1002 1017 |",
		"Nobody else signed this":             "1005 | 1004:3",
		"Guarded by the toll gate":            "1007 1004 | 1011:1",
		"A reading, tomorrow":                 "1001 |",
		"New bell for the fog signal":         "1021 1001 | 1011:1",
		"Painting of the east mole":           "1008 | 1021:1",
		"A round for everybody":               "1006 | 1018:1",
		"A gift that was thought better of":   "1006 | 1011:1",
		"Harbour dues, when the week is over": "1003 |",
	}
	for _, s := range got.Schedules.Nodes {
		tx := s.Transaction
		var signed strings.Builder
		for _, x := range tx.SignaturesPresent {
			signed.WriteString(strings.TrimPrefix(x.EntityID, "0.0.") + " ")
		}
		signed.WriteString("|")
		for _, x := range tx.SignaturesMissing {
			fmt.Fprintf(&signed, " %s:%d", strings.TrimPrefix(x.EntityID, "0.0."), len(x.MissingKeys))
		}
		text := signed.String()
		if w, known := want[s.Memo]; known && text != w {
			t.Errorf("%s: signed %q, want %q", s.Memo, text, w)
		}
		sum := 0
		for _, x := range tx.Transfers {
			n, err := strconv.Atoi(x.Amount)
			if err != nil {
				t.Error(err)
			}
			sum += n
		}
		switch {
		case tx.Type == "CONTRACTCALL" && tx.EntityID != nil && *tx.EntityID == "0.0.3003" && tx.Entity != nil &&
			len(tx.Transfers) == 0:
		case tx.Type == "CRYPTOTRANSFER" && tx.EntityID == nil && len(tx.Transfers) == 2 && sum == 0 &&
			tx.MaxFee == "200000000" && tx.Memo == s.Memo:
		default:
			t.Errorf("%s: %+v", s.Memo, tx)
		}
	}
}

// TestDecodedLogs decodes all logs of the demo network: transfers by the built-in declarations, others by those of the
// request.
func TestDecodedLogs(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var got struct {
		ContractLogs struct {
			Nodes []struct {
				Topics  []string
				Data    string
				Decoded *struct {
					Name, Signature string
					Arguments       []struct {
						Name, Type, Value string
						Indexed           bool
					}
				}
			}
		}
	}
	g.Data(t,
		`query($abi: [String!]) { contractLogs(first: 100) { nodes { topics data decoded(abi: $abi) { name `+
			`signature arguments { name type value indexed } } } } }`,
		map[string]any{"abi": []string{"event Nothing(uint256)"}}, &got)
	transfers := 0
	for _, l := range got.ContractLogs.Nodes {
		d := l.Decoded
		if len(l.Topics) == 0 || d == nil || d.Name != "Transfer" {
			continue
		}
		transfers++
		a := d.Arguments
		last := l.Data
		if len(l.Topics) == 4 {
			last = l.Topics[3]
		}
		n, _ := new(big.Int).SetString(last[2:], 16)
		if d.Signature != "Transfer(address,address,uint256)" || len(a) != 3 || a[0].Value != "0x"+l.Topics[1][26:] ||
			a[1].Value != "0x"+l.Topics[2][26:] ||
			!a[0].Indexed || a[2].Value != n.String() || a[2].Indexed != (len(l.Topics) == 4) {
			t.Errorf("%+v", l)
		}
	}
	if transfers == 0 {
		t.Error("there are no transfers")
	}
	for _, texts := range [][]string{{"event"}, {strings.Repeat(" ", 65537)}} {
		if r := g.Query(t,
			`query($abi: [String!]) { contractLogs(first: 1) { nodes { decoded(abi: $abi) { name } } } }`,
			map[string]any{"abi": texts}); !strings.Contains(r.Body, "BAD_USER_INPUT") {
			t.Errorf("%.20q: %s", texts, r.Body)
		}
	}
}

// TestABIMemory sends many different ABIs. Afterwards only the newest is in memory.
//
//nolint:paralleltest // it compares the memory of the process before and after
func TestABIMemory(t *testing.T) {
	g := testenv.Shared(t)
	parse := func(n int) {
		text := fmt.Sprintf("function f%d(%s uint256)", n, strings.Repeat("address,", abi.MaxText/32))
		g.Data(t, `query($abi: [String!]) { contractLogs(first: 1) { nodes { decoded(abi: $abi) { name } } } }`,
			map[string]any{"abi": []string{text}}, new(any))
	}
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	parse(0)
	before := used()
	for n := range 200 {
		parse(n + 1)
	}
	if after := used(); after > before+8<<20 {
		t.Errorf("200 ABIs of 32 KiB keep %d KiB", (after-before)>>10)
	}
}

// TestDecodedCalls decodes the calls of the demo network. A decoded call has the selector of its signature, and
// arguments that an independent decoder reads.
func TestDecodedCalls(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type decoded struct {
		Name, Signature    string
		Arguments, Results []struct{ Name, Type, Value string }
	}
	var got struct {
		ContractResults struct {
			PageInfo struct {
				EndCursor   string
				HasNextPage bool
			}
			Nodes []struct {
				CallData, Result          string
				DecodedCall, DecodedError *decoded
			}
		}
	}
	calls := map[string]int{}
	for after, more := any(nil), true; more; after, more = got.ContractResults.PageInfo.EndCursor,
		got.ContractResults.PageInfo.HasNextPage {
		got.ContractResults.Nodes = nil
		g.Data(t, `query($after: String) { contractResults(first: 100, after: $after) { pageInfo { endCursor hasNextPage } nodes { callData result
			decodedCall(abi: ["function report(int64 level)", "function write(string text)"]) { name signature arguments { name type value } results { name type value } }
			decodedError { name signature arguments { value } } } } }`, map[string]any{"after": after}, &got)
		for _, r := range got.ContractResults.Nodes {
			if d := r.DecodedCall; d != nil {
				calls[d.Name]++
				if want := hexutil.Encode(crypto.Keccak256([]byte(d.Signature))[:4]); !strings.HasPrefix(r.CallData,
					want) {
					t.Errorf("%s: %s", d.Signature, r.CallData[:10])
				}
			}
			if d := r.DecodedError; d != nil {
				calls["!"+d.Name]++
				if r.Result == "SUCCESS" {
					t.Errorf("a successful call has an error: %+v", d)
				}
			}
		}
	}
	if calls["report"]+calls["write"] == 0 || calls["!Error"] == 0 {
		t.Errorf("decoded calls: %v", calls)
	}
}

// TestISOTimes compares times in both notations, in responses and in arguments.
func TestISOTimes(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var got struct {
		Transactions struct {
			Nodes []struct {
				ConsensusTimestamp, ConsensusTimestampIso string
				Payer                                     struct{ CreatedTimestamp, CreatedTimestampIso *string }
			}
		}
	}
	const nodes = ` { nodes { consensusTimestamp consensusTimestampIso payer { createdTimestamp ` +
		`createdTimestampIso } } }`
	g.Data(t, `{ transactions(first: 5)`+nodes+` }`, nil, &got)
	for _, n := range got.Transactions.Nodes {
		at, err := time.Parse(time.RFC3339Nano, n.ConsensusTimestampIso)
		if err != nil || fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond()) != n.ConsensusTimestamp ||
			(n.Payer.CreatedTimestamp == nil) != (n.Payer.CreatedTimestampIso == nil) {
			t.Errorf("%+v: %v", n, err)
		}
		for _, text := range []string{
			n.ConsensusTimestampIso,
			at.In(time.FixedZone("", 7200)).Format(time.RFC3339Nano),
		} {
			one := got
			g.Data(t, `query($at: Timestamp) { transactions(filter: {timestamp: {eq: $at}})`+nodes+` }`,
				map[string]any{"at": text}, &one)
			if len(one.Transactions.Nodes) != 1 ||
				one.Transactions.Nodes[0].ConsensusTimestamp != n.ConsensusTimestamp {
				t.Errorf("%s: %+v", text, one)
			}
		}
	}
	for _, text := range []string{"2026-13-01", "2026-01-01T00:00:00", "1969-12-31", "2300-01-01T00:00:00Z", "-1"} {
		if r := g.Query(t, `query($at: Timestamp) { transactions(filter: {timestamp: {eq: $at}})`+nodes+` }`,
			map[string]any{"at": text}); !strings.Contains(r.Body, "BAD_USER_INPUT") {
			t.Errorf("%s: %s", text, r.Body)
		}
	}
}

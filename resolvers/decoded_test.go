package resolvers_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
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
	g := testenv.Demo(t)
	for account, want := range map[string]string{
		"1001": `{"kind":"ED25519Key","publicKey":32}`,
		"1002": `{"kind":"ECDSAKey","publicKey":33}`,
		"1003": `{"kind":"KeyList","keys":[{"type":"ED25519","decoded":{"kind":"ED25519Key","publicKey":32}},
			{"type":"ECDSA_SECP256K1","decoded":{"kind":"ECDSAKey","publicKey":33}}]}`,
		"1004": `{"kind":"ThresholdKey","threshold":2,"keys":[{"type":"ED25519","decoded":{"kind":"ED25519Key","publicKey":32}},
			{"type":"ED25519","decoded":{"kind":"ED25519Key","publicKey":32}},{"type":"ECDSA_SECP256K1","decoded":{"kind":"ECDSAKey","publicKey":33}}]}`,
		"1007": `{"kind":"ContractKey","contractId":"0.0.3010","contract":{"memo":"Toll gate, used as a hook"},"evmAddress":null}`,
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
		g.Data(t, `query($id: AccountRef!) { account(id: $id) { key { ...Members } } } `+decodedKey, map[string]any{"id": account}, &got)
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
	g := testenv.Demo(t)
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
	if m := got.TopicMessages.Nodes; m[0].MessageText != nil || m[1].MessageText == nil || *m[1].MessageText != m[1].Text {
		t.Errorf("messages: %+v", m)
	}
	texts := 0
	for _, n := range got.Transactions.Nodes {
		if n.Memo == nil || n.MemoText == nil {
			t.Errorf("a transaction without a memo: %+v", n)
		} else if *n.MemoText != "" && sqlValue[bool](t, g, `select convert_to('`+strings.ReplaceAll(*n.MemoText, "'", "''")+`', 'UTF8') = '\`+(*n.Memo)[1:]+`'`) {
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

// TestJoinedChunks joins the chunks of messages, at the root and below topics, and pages through the joined list in both directions.
func TestJoinedChunks(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
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
	const fields = ` { totalCount { value } nodes { sequenceNumber message joinedChunks chunkInfo { number total } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
	const early = `filter: {sequenceNumber: {lte: "40"}}`
	for _, topic := range []string{"4001", "4006"} {
		var got struct {
			TopicMessages page
			Topic         struct{ Messages page }
		}
		g.Data(t, `query($t: EntityID!) { topicMessages(topic: $t, joinChunks: true, first: 100, `+early+`)`+fields+` topic(id: $t) { messages(joinChunks: true, first: 100, `+early+`)`+fields+` } }`,
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
		if len(all) != len(joined) || len(got.Topic.Messages.Nodes) != len(all) || long == 0 || got.TopicMessages.TotalCount != nil {
			t.Fatalf("topic %s: %d messages, below the topic %d, want %d; %d long", topic, len(all), len(got.Topic.Messages.Nodes), len(joined), long)
		}
		for _, args := range []struct{ size, cursor string }{{"first: 2", "after"}, {"last: 2", "before"}} {
			var pages []message
			for cursor := ""; ; {
				var got struct{ TopicMessages page }
				g.Data(t, `query($t: EntityID!, $c: String) { topicMessages(topic: $t, joinChunks: true, `+early+`, `+args.size+`, `+args.cursor+`: $c)`+fields+` }`,
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
			if string(a) != string(b) {
				t.Errorf("topic %s, %s: %d messages by page, want %d", topic, args.size, len(pages), len(all))
			}
		}
	}
	// A message with a missing chunk stands alone.
	var got struct{ TopicMessages page }
	g.Data(t, `{ topicMessages(topic: "4001", filter: {sequenceNumber: {gte: "5"}}, first: 1, joinChunks: true)`+fields+` }`, nil, &got)
	if n := got.TopicMessages.Nodes; len(n) != 1 || n[0].JoinedChunks != 1 {
		t.Errorf("from the second chunk: %+v", n)
	}
}

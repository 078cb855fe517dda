package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// event is a server-sent event.
type event struct{ name, data string }

// subscribe opens a stream of server-sent events that ends with the test.
func subscribe(t *testing.T, g *testenv.Gateway, document string, variables map[string]any) <-chan event {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return subscribeBody(t, g, string(body))
}

// subscribeBody is like [subscribe] with a complete request body.
func subscribeBody(t *testing.T, g *testenv.Gateway, body string) <-chan event {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/graphql", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("status %d, type %s", resp.StatusCode, got)
	}
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		defer func() { _ = resp.Body.Close() }() // read to the end
		var e event
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ":")
			switch name {
			case "event":
				e.name = strings.TrimSpace(value)
			case "data":
				e.data = strings.TrimSpace(value)
			case "":
				if e.name != "" {
					events <- e
				}
				e = event{}
			}
		}
	}()
	return events
}

func await(t *testing.T, events <-chan event) event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(20 * time.Second):
		t.Fatal("timeout: no event")
		return event{}
	}
}

// messageOf returns the sequence number and the consensus time of a topic message event.
func messageOf(t *testing.T, e event) (number, at string) {
	t.Helper()
	var v struct {
		Data struct {
			TopicMessages struct {
				SequenceNumber     string `json:"sequenceNumber"`
				ConsensusTimestamp string `json:"consensusTimestamp"`
			} `json:"topicMessages"`
		} `json:"data"`
	}
	testenv.Decode(t, e.data, &v)
	return v.Data.TopicMessages.SequenceNumber, v.Data.TopicMessages.ConsensusTimestamp
}

const listen = `subscription($topic: EntityID!, $from: Timestamp) { topicMessages(topic: $topic, from: $from) { ` +
	`sequenceNumber consensusTimestamp payer { id } } }`

// TestTopicMessages subscribes to past and new messages, and resumes after a disconnect. Each message is delivered
// once and in order.
func TestTopicMessages(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url, func(o *testenv.Options) { o.Graph.CacheBytes = 1 << 20 })
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var had int
	if err := conn.QueryRow(t.Context(),
		`select count(*) from topic_message where topic_id = 4001`).Scan(&had); err != nil || had < 5 {
		t.Fatal(had, err)
	}
	write := func(n int) {
		t.Helper()
		for range n {
			if _, err := conn.Exec(t.Context(), `with inserted as (
insert into topic_message (consensus_timestamp, topic_id, sequence_number, message, payer_account_id, running_hash, running_hash_version)
select (select max(consensus_timestamp) from topic_message) + 1000, 4001, max(sequence_number) + 1, 'hello', 1001, '\x01', 3 from topic_message where topic_id = 4001
returning consensus_timestamp as at)
insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, entity_id, transaction_hash) select at, 27, 22, 1001, at - 1, 4001, '\x01' from inserted`); err != nil {
				t.Fatal(err)
			}
		}
	}
	events := subscribe(t, g, listen, map[string]any{"topic": "0.0.4001", "from": "0.0"})
	want := 0
	at := ""
	expect := func(n int) {
		t.Helper()
		for range n {
			e := await(t, events)
			want++
			var number string
			if number, at = messageOf(t, e); e.name != "next" || number != strconv.Itoa(want) {
				t.Fatalf("got event %s %s, want message %d", e.name, e.data, want)
			}
			if !strings.Contains(e.data, `"payer":{"id":"`) {
				t.Fatalf("no payer in %s", e.data)
			}
		}
	}
	expect(had)
	write(20)
	expect(20)
	write(5)
	events = subscribe(t, g, listen, map[string]any{"topic": "0.0.4001", "from": at})
	expect(5)
	// the response cache has the answer from before the event, but a query after the event returns its data
	for range 3 {
		const newest = `{"query":"{ topicMessages(topic: \"0.0.4001\", order: DESC, first: 1) { nodes { ` +
			`sequenceNumber } } }"}`
		g.Do(t, http.MethodPost, "/graphql", newest, "Content-Type: application/json")
		write(1)
		expect(1)
		if got := g.Do(t, http.MethodPost, "/graphql", newest,
			"Content-Type: application/json"); !strings.Contains(got.Body, `"`+strconv.Itoa(want)+`"`) {
			t.Errorf("after message %d: %s", want, got.Body)
		}
	}
	g.Close()
	if e := await(t, events); e.name != "next" || !strings.Contains(e.data, "shutting down") {
		t.Errorf("after Close: event %s %s", e.name, e.data)
	}
	if e := await(t, events); e.name != "complete" {
		t.Errorf("last event: %s %s", e.name, e.data)
	}
}

// TestPastEvents compares the past events of subscriptions with lists.
func TestPastEvents(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for name, c := range map[string]struct{ subscription, query string }{
		"transactions of an account": {
			`subscription { of: transactions(from: "0.0", filter: {accountId: {eq: "0.0.1001"}}) { at: ` +
				`consensusTimestamp } }`,
			`{ of: transactions(first: 100, order: ASC, filter: {accountId: {eq: "0.0.1001"}}) { nodes { at: ` +
				`consensusTimestamp } } }`,
		},
		"failed transfers": {
			`subscription { of: transactions(from: "0.0", filter: {types: [CRYPTOTRANSFER], outcome: FAILURE}) { ` +
				`at: consensusTimestamp } }`,
			`{ of: transactions(first: 100, order: ASC, filter: {types: [CRYPTOTRANSFER], outcome: FAILURE}) { ` +
				`nodes { at: consensusTimestamp } } }`,
		},
		"logs": {
			`subscription { of: contractLogs(from: "0.0") { at: consensusTimestamp index } }`,
			`{ of: contractLogs(first: 100, order: ASC) { nodes { at: consensusTimestamp index } } }`,
		},
		"results": {
			`subscription { of: contractResults(from: "0.0") { at: consensusTimestamp } }`,
			`{ of: contractResults(first: 100, order: ASC) { nodes { at: consensusTimestamp } } }`,
		},
		"blocks": {
			`subscription { of: blocks(from: "0.0") { at: number } }`,
			`{ of: blocks(first: 100, order: ASC, orderBy: TIMESTAMP) { nodes { at: number } } }`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list struct {
				Of struct{ Nodes []json.RawMessage }
			}
			g.Data(t, c.query, nil, &list)
			if len(list.Of.Nodes) == 0 {
				t.Fatal("the list is empty")
			}
			events := subscribe(t, g, c.subscription, nil)
			for i, want := range list.Of.Nodes {
				e := await(t, events)
				var got struct {
					Data struct{ Of json.RawMessage }
				}
				testenv.Decode(t, e.data, &got)
				if string(got.Data.Of) != string(want) {
					t.Fatalf("event %d: got %s, want %s", i, e.data, want)
				}
			}
		})
	}
}

// TestLiveEvents inserts later copies of the demo data and compares the live events of subscriptions with lists.
func TestLiveEvents(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	g := testenv.Over(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var newest int64
	if err := conn.QueryRow(t.Context(),
		`select max(consensus_timestamp) from transaction`).Scan(&newest); err != nil {
		t.Fatal(err)
	}
	filters := map[string]string{
		"all":       `null`,
		"account":   `{accountId: {in: ["0.0.1001", "0.0.1002"]}}`,
		"credits":   `{accountId: {eq: "0.0.1001"}, direction: CREDIT}`,
		"debits":    `{accountId: {eq: "0.0.1001"}, direction: DEBIT}`,
		"types":     `{types: [CONSENSUSSUBMITMESSAGE, CONTRACTCALL], outcome: SUCCESS}`,
		"others":    `{accountId: {ne: "0.0.1001"}, outcome: FAILURE}`,
		"mentioned": `{accountId: {in: ["0.0.1001", "0.0.99999"]}, types: [CRYPTOTRANSFER]}`,
	}
	listen := func() map[string]<-chan event {
		streams := map[string]<-chan event{}
		for name, f := range filters {
			streams[name] = subscribe(t,
				g,
				fmt.Sprintf(`subscription { of: transactions(from: "%d.%09d", filter: %s) { at: consensusTimestamp `+
					`} }`, newest/1e9, newest%1e9, f), nil)
		}
		return streams
	}
	early := listen()
	time.Sleep(time.Second) // the subscriptions are live now
	const later = 2_000_000_000_000_000
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"transaction", "crypto_transfer", "token_transfer", "entity_transaction"} {
		if _, err := tx.Exec(t.Context(), fmt.Sprintf(`create temp table copied as select * from %s where consensus_timestamp > %d - 60000000000;
update copied set consensus_timestamp = consensus_timestamp + %d; insert into %s select * from copied; drop table copied`, table, newest, later, table)); err != nil {
			t.Fatal(table, err)
		}
	}
	// Two accounts appear only in entity_transaction.
	if tag, err := tx.Exec(t.Context(), `insert into entity_transaction select consensus_timestamp, named, payer_account_id, result, type from transaction, unnest(array[99998, 99999]) named
where consensus_timestamp > $1 and type = 14`, newest); err != nil || tag.RowsAffected() == 0 {
		t.Fatal(tag, err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	compareWithLists(t, g, early, filters, newest)
	// not a filter when the transactions were read
	filters["mentioned, subscribed later"] = `{accountId: {eq: "0.0.99998"}}`
	compareWithLists(t, g, listen(), filters, newest)
}

// compareWithLists compares the events of transaction subscriptions with the lists of the same filters.
func compareWithLists(
	t *testing.T, g *testenv.Gateway, streams map[string]<-chan event, filters map[string]string, newest int64,
) {
	t.Helper()
	for name, f := range filters {
		var list struct {
			Of struct{ Nodes []struct{ At string } }
		}
		g.Data(t,
			fmt.Sprintf(`{ of: transactions(first: 100, order: ASC, filter: %s) { nodes { at: consensusTimestamp } } }`,
				strings.Replace(strings.Replace(f, "null", "{}", 1),
					"{", fmt.Sprintf(`{timestamp: {gt: "%d.%09d"}, `, newest/1e9, newest%1e9), 1)), nil, &list)
		var got, want []string
		for _, n := range list.Of.Nodes {
			want = append(want, n.At)
			var v struct {
				Data struct{ Of struct{ At string } }
			}
			testenv.Decode(t, await(t, streams[name]).data, &v)
			got = append(got, v.Data.Of.At)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if name == "all" && len(want) < 10 {
			t.Errorf("only %d transactions were added", len(want))
		}
	}
}

// TestSubscriptionErrors checks that errors of subscription requests are delivered in the stream.
func TestSubscriptionErrors(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for document, want := range map[string]string{
		`subscription { nothing }`:                                                 "Cannot query field",
		`subscription { topicMessages { text } }`:                                  "argument",
		`subscription { contractLogs(filter: {index: {eq: "1"}}) { index } }`:      "does not filter by index",
		`subscription { transactions(filter: {entityId: "1002"}) { id } }`:         "does not filter by entity",
		`subscription { transactions(filter: {tokenId: "2001"}) { id } }`:          "does not filter by entity",
		`subscription { contractLogs(fromIndex: "1") { index } }`:                  "fromIndex needs from",
		`subscription { contractResults(filter: {blockNumber: "1"}) { gasUsed } }`: "does not filter by block",
		`{`: "Expected Name",
	} {
		events := subscribe(t, g, document, nil)
		if e := await(t, events); e.name != "next" || !strings.Contains(e.data, want) {
			t.Errorf("%s: got %s %s, want %q", document, e.name, e.data, want)
		}
		if e := await(t, events); e.name != "complete" {
			t.Errorf("%s: last event %s %s", document, e.name, e.data)
		}
	}
	if got := g.Query(t, `subscription { blocks { number } }`, nil); got.Status != http.StatusNotAcceptable ||
		!strings.Contains(got.Body, "text/event-stream") {
		t.Errorf("without Accept: text/event-stream: status %d, %s", got.Status, got.Body)
	}
	if got := g.Query(t, `subscription { blocks { number } transactions { memo } }`, nil); !strings.Contains(got.Body,
		"must select only one top level field") {
		t.Errorf("two root fields: %s", got.Body)
	}
	if e := await(t, subscribe(t, g, `{ __typename }`, nil)); e.data != `{"data":{"__typename":"Query"}}` {
		t.Errorf("query over a stream: %s", e.data)
	}
}

// TestQueryInStream checks that a query times out even if it is sent over a stream without a deadline.
func TestQueryInStream(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.RequestTimeout = time.Nanosecond })
	if e := await(t, subscribe(t, g, `{ blocks(first: 1) { nodes { number } } }`, nil)); !strings.Contains(e.data,
		"TIMEOUT") {
		t.Errorf("query: got %s", e.data)
	}
	if e := await(t, subscribe(t, g, `subscription { blocks(from: "0.0") { number } }`,
		nil)); !strings.Contains(e.data, `"number":`) {
		t.Errorf("subscription: got %s", e.data)
	}
}

// socketOf opens a WebSocket.
func socketOf(t *testing.T, g *testenv.Gateway, protocols ...string) *websocket.Conn {
	t.Helper()
	c, resp, err := websocket.Dial(t.Context(), g.URL+"/graphql", &websocket.DialOptions{Subprotocols: protocols})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body // belongs to the connection
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

// TestWebSocket tests the graphql-transport-ws protocol.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.Graph.Streams.PerConnection = 2 })
	for name, c := range map[string]struct {
		send []string
		want []string // prefixes of the expected messages
		code websocket.StatusCode
	}{
		"query": {
			[]string{
				`{"type":"connection_init"}`, `{"type":"ping","payload":{"a":1}}`,
				`{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}`,
			},
			[]string{
				`{"type":"connection_ack"}`, `{"type":"pong","payload":{"a":1}}`,
				`{"type":"next","id":"1","payload":{"data":{"__typename":"Query"}}}`, `{"type":"complete","id":"1"}`,
			},
			0,
		},
		"invalid query": {
			[]string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":{"query":"{ nothing }"}}`},
			[]string{
				`{"type":"connection_ack"}`,
				`{"type":"error","id":"1","payload":[{"message":"Cannot query field`,
			},
			0,
		},
		"subscription": {
			[]string{
				`{"type":"connection_init"}`,
				`{"id":"a","type":"subscribe","payload":{"query":"subscription { blocks(from: \"0.0\") { number } }"}}`,
			},
			[]string{`{"type":"connection_ack"}`, `{"type":"next","id":"a","payload":{"data":{"blocks":{"number":"`},
			0,
		},
		"subscribe before connection_init": {[]string{`{"id":"1","type":"subscribe","payload":{"query":"{ ` +
			`__typename }"}}`}, nil, 4401},
		"second connection_init": {
			[]string{`{"type":"connection_init"}`, `{"type":"connection_init"}`},
			[]string{`{"type":"connection_ack"}`},
			4429,
		},
		"invalid JSON": {
			[]string{`{"type":"connection_init"}`, `hello`},
			[]string{`{"type":"connection_ack"}`},
			4400,
		},
		"unknown message type": {[]string{`{"type":"start"}`}, nil, 4400},
		"duplicate id": {
			[]string{
				`{"type":"connection_init"}`,
				`{"id":"a","type":"subscribe","payload":{"query":"subscription { blocks { number } }"}}`,
				`{"id":"a","type":"subscribe","payload":{"query":"subscription { blocks { number } }"}}`,
			},
			[]string{`{"type":"connection_ack"}`},
			4409,
		},
		"too many operations": {
			[]string{
				`{"type":"connection_init"}`,
				`{"id":"a","type":"subscribe","payload":{"query":"subscription { blocks { number } }"}}`,
				`{"id":"b","type":"subscribe","payload":{"query":"subscription { blocks { number } }"}}`,
				`{"id":"c","type":"subscribe","payload":{"query":"subscription { blocks { number } }"}}`,
			},
			[]string{
				`{"type":"connection_ack"}`,
				`{"type":"error","id":"c","payload":[{"message":"too many operations`,
			},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := socketOf(t, g, "graphql-transport-ws")
			for _, m := range c.send {
				if err := conn.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for _, want := range c.want {
				_, got, err := conn.Read(ctx)
				if err != nil || !strings.HasPrefix(string(got), want) {
					t.Fatalf("got %s (%v), want %s", got, err, want)
				}
			}
			if c.code != 0 {
				if _, got, err := conn.Read(ctx); websocket.CloseStatus(err) != c.code {
					t.Errorf("got %s (%v), want close code %d", got, err, c.code)
				}
			}
		})
	}
	t.Run("unsupported protocol", func(t *testing.T) {
		t.Parallel()
		conn := socketOf(t, g, "graphql-ws")
		if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != 4406 {
			t.Errorf("got %v, want close code 4406", err)
		}
	})
}

// TestReusedID completes and repeats subscriptions with one ID as fast as the connection permits. Each sees its own
// events only, and the socket stays open.
func TestReusedID(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	conn := socketOf(t, g, "graphql-transport-ws")
	send := func(text string) {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"type":"connection_init"}`)
	const rounds = 60
	for i := range rounds {
		send(fmt.Sprintf(`{"id":"1","type":"subscribe","payload":{"query":"subscription { b%d: blocks(from: `+
			`\"0.0\") { number } }"}}`, i))
		if i < rounds-1 {
			send(`{"id":"1","type":"complete"}`)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	latest, events := 0, 0
	for events < 3 {
		_, got, err := conn.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var of, number int
		if strings.Contains(string(got), `"connection_ack"`) {
			continue
		}
		if _, err := fmt.Sscanf(string(got), `{"type":"next","id":"1","payload":{"data":{"b%d":{"number":"%d"}}}}`,
			&of, &number); err != nil || of < latest {
			t.Fatalf("%s after subscription %d: %v", got, latest, err)
		}
		if of == rounds-1 {
			events++
		}
		latest = of
	}
}

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

var update = flag.Bool("update", false, "write the answers, costs and counts of TestCookbook to the cookbook")

const cookbook = "../../../docs/cookbook.md"

// screen is a screen of the cookbook: a document with variables, and its answer on the demo network.
type screen struct {
	name, document, answer string
	variables              map[string]any
}

var screenForm = regexp.MustCompile("(?s)\n## ([^\n]+)\n.*?```graphql\n(.*?)```.*?```json " +
	"variables\n(.*?)```.*?```json\n(.*?)```")

// screens reads the cookbook.
func screens(tb testing.TB) (text string, all []screen) {
	tb.Helper()
	file, err := os.ReadFile(cookbook)
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range screenForm.FindAllStringSubmatch(string(file), -1) {
		s := screen{name: m[1], document: m[2], answer: m[4]}
		testenv.Decode(tb, m[3], &s.variables)
		all = append(all, s)
	}
	if len(all) != 18 {
		tb.Fatalf("the cookbook has %d screens", len(all))
	}
	return string(file), all
}

// ask returns the response to a screen. Of a subscription, it returns the data of the first events.
func (s *screen) ask(tb testing.TB, g *testenv.Gateway, events int) (body, cost string) {
	tb.Helper()
	if !strings.HasPrefix(s.document, "subscription") {
		got := g.Query(tb, s.document, s.variables)
		if got.Status != http.StatusOK || strings.Contains(got.Body, `"errors"`) {
			tb.Fatalf("%s: %d %s", s.name, got.Status, got.Body)
		}
		return got.Body, got.Header.Get("X-Query-Cost")
	}
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	request, err := json.Marshal(map[string]any{"query": s.document, "variables": s.variables})
	if err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+"/graphql", bytes.NewReader(request))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // cancelled
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for events > 0 && lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != "" {
			text.WriteString(data + "\n")
			events--
		}
	}
	body = text.String()
	if events > 0 || strings.Contains(body, `"errors"`) {
		tb.Fatalf("%s: %d events are missing: %s", s.name, events, body)
	}
	return body, resp.Header.Get("X-Query-Cost")
}

// layout returns JSON with one line for each object or array that fits into a line.
func layout(tb testing.TB, raw json.RawMessage, indent string) string {
	tb.Helper()
	if text := string(raw); len(indent)+len(text) < 150 || text[0] != '{' && text[0] != '[' {
		return text
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	start, err := d.Token()
	if err != nil {
		tb.Fatal(err)
	}
	var members []string
	for d.More() {
		name := ""
		if start == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				tb.Fatal(err)
			}
			name = fmt.Sprintf("%q:", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			tb.Fatal(err)
		}
		members = append(members, indent+"  "+name+layout(tb, value, indent+"  "))
	}
	return string(raw[:1]) + "\n" + strings.Join(members, ",\n") + "\n" + indent + string(raw[len(raw)-1:])
}

// trips counts statements and round trips.
type trips struct{ statements, trips atomic.Int64 }

func (c *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if sql := strings.TrimSpace(data.SQL); sql != "" && !strings.HasPrefix(sql, "--") &&
		!strings.HasPrefix(sql, "select set_config") {
		c.statements.Add(1)
		c.trips.Add(1)
	}
	return ctx
}

func (c *trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (c *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.trips.Add(1)
	return ctx
}

func (c *trips) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if !strings.HasPrefix(data.SQL, "select set_config") {
		c.statements.Add(1)
	}
}

func (c *trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// pick returns the values at a path of names, separated by spaces. All elements of arrays are included.
func pick(v any, path []string) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		var out []string
		for _, element := range v {
			out = append(out, pick(element, path)...)
		}
		return out
	case map[string]any:
		if len(path) > 0 {
			return pick(v[path[0]], path[1:])
		}
	}
	return []string{fmt.Sprint(v)}
}

// votes are the holders of a token after a block: the present ones without the transfers since.
const votes = `with held as (select account_id, balance from (select account_id, balance - (select coalesce(sum(amount), 0)
  from token_transfer t where t.account_id = a.account_id and t.token_id = 2001 and t.consensus_timestamp >
    (select consensus_end from record_file r where r.index = 3000)) as balance from token_account a where token_id = 2001) h where balance > 0) `

// facts are values of the answers, by path, and the SQL that computes them. Lists are those of a full page, in order.
var facts = map[string]map[string]string{
	"Wallet home": {
		"account.balanceValue.raw": `select balance::text from entity where id = 1001`,
		"account.tokens.nodes.balanceValue.raw": `select balance::text from token_account where account_id = ` +
			`1001 and associated order by token_id`,
		"account.tokens.nodes.token.symbol": `select symbol from token_account join token using (token_id) ` +
			`where account_id = 1001 and associated order by token_id`,
		"account.tokens.totalCount.value": `select count(*)::text from token_account where account_id = ` +
			`1001 and associated`,
		"account.transfers.nodes.amountValue.raw": `select sum(amount)::text from (select consensus_timestamp, 0 ` +
			`as token, amount from crypto_transfer where entity_id = 1001 union all select consensus_timestamp, ` +
			`token_id, amount from token_transfer where account_id = 1001) t group by consensus_timestamp, token ` +
			`order by consensus_timestamp desc, token desc limit 3`,
		"account.stakedNode.nodeId": `select staked_node_id::text from entity where id = 1001`,
		"account.tokens.nodes.balanceValue.display": `select trim_scale(balance / 10::numeric ^ decimals)::text ` +
			`from token_account join token using (token_id) where account_id = 1001 and associated order by token_id`,
	},
	"NFT gallery": {
		"account.nfts.nodes.serialNumber": `select serial_number::text from nft where account_id = 1002 and not ` +
			`deleted and token_id <> 2010 order by token_id desc, serial_number desc limit 25`,
		"account.nfts.nodes.metadataText": `select convert_from(metadata, 'UTF8') from nft where account_id = 1002 ` +
			`and not deleted and token_id <> 2010 order by token_id desc, serial_number desc limit 25`,
		"account.nfts.nodes.token.name": `select name from nft join token using (token_id) where account_id = ` +
			`1002 and not deleted and token_id <> 2010 order by token_id desc, serial_number desc limit 25`,
	},
	"History with counterparties": {
		"account.transfers.nodes.amountValue.raw": `select sum(amount)::text from (select consensus_timestamp, 0 as ` +
			`token, amount from crypto_transfer where entity_id = 1001 union all select consensus_timestamp, ` +
			`token_id, amount from token_transfer where account_id = 1001) t group by consensus_timestamp, token ` +
			`order by consensus_timestamp desc, token desc limit 25`,
		"account.transfers.nodes.counterparties.account.entityId": `select '0.0.' || other from (select consensus_timestamp, token, other, row_number() over (order by consensus_timestamp desc, token desc) from (
			select distinct consensus_timestamp, 0 as token from crypto_transfer where entity_id = 1001 union select consensus_timestamp, token_id from token_transfer where account_id = 1001
			order by 1 desc, 2 desc limit 25) mine left join lateral (select distinct entity_id as other from crypto_transfer c where c.consensus_timestamp = mine.consensus_timestamp and token = 0
				and entity_id not in (98, 800, 801, 802, 1001) and entity_id is distinct from (select node_account_id from transaction t where t.consensus_timestamp = mine.consensus_timestamp)
			union select account_id from token_transfer x where x.consensus_timestamp = mine.consensus_timestamp and token_id = token and account_id <> 1001) o on true) l where other is not null
			order by consensus_timestamp desc, token desc, other`,
	},
	"Holder leaderboard": {
		"token.holders.nodes.balanceValue.raw": `select balance::text from token_account where token_id = 2001 and ` +
			`balance > 0 order by token_account.balance desc, account_id desc limit 25`,
		"token.holders.nodes.account.entityId": `select '0.0.' || account_id from token_account where token_id = ` +
			`2001 and balance > 0 order by balance desc, account_id desc limit 25`,
		"token.holders.totalCount.value": `select count(*)::text from token_account where token_id = 2001 and ` +
			`balance > 0`,
		"token.totalSupply": `select sum(balance)::text from token_account where token_id = 2001`,
	},
	"Contract events": {
		"contract.logs.nodes.transactionHash": `select '0x' || encode(substring(l.transaction_hash for 32), ` +
			`'hex') from contract_log l where contract_id = 3003 order by consensus_timestamp desc, index desc ` +
			`limit 25`,
		"contract.logs.nodes.decoded.signature": `select 'TideRead(address,uint256,int64)' from contract_log where ` +
			`contract_id = 3003 order by consensus_timestamp desc, index desc limit 25`,
	},
	"Live topic chat": {
		"topicMessages.messageText": `select convert_from(message, 'UTF8') from topic_message where topic_id = 4001 ` +
			`and consensus_timestamp > 1779021278000000000 order by consensus_timestamp`,
	},
	"Staking rewards": {
		"account.pendingRewardValue.display": `select trim_scale(pending_reward / 100000000::numeric) || ' ℏ' ` +
			`from entity_stake where id = 1086 and pending_reward > 0`,
		"account.rewards.nodes.amountValue.raw": `select amount::text from staking_reward_transfer where account_id ` +
			`= 1086 order by consensus_timestamp desc limit 25`,
		"account.rewards.totalCount.value": `select count(*)::text from staking_reward_transfer where ` +
			`account_id = 1086`,
		"account.stats.rewards": `select coalesce(sum(amount), 0)::text from generate_series(timestamp '2026-03-01', '2026-05-01', '1 month') month left join staking_reward_transfer
			on account_id = 1086 and to_timestamp(consensus_timestamp / 1000000000) at time zone 'UTC' between month and month + interval '1 month' group by month order by month`,
	},
	"Node status": {
		"network.nodes.nodes.stake": `select stake::text from node_stake where consensus_timestamp = ` +
			`(select max(consensus_timestamp) from node_stake) order by stake_rewarded + stake_not_rewarded >= 0, ` +
			`node_stake.stake desc, node_id desc`,
		"network.freshness.newestBlock.number": `select max(index)::text from record_file`,
	},
	"Search box": {
		"search.nodes.entityId": `select '0.0.' || token_id from token where lower(name) like 'light%' order by ` +
			`length(name), token_id`,
	},
	"Activity by day": {
		"account.stats.transactions": `select count(*)::text from transaction where payer_account_id = 1001 and ` +
			`consensus_timestamp >= 1778630400000000000 and consensus_timestamp < 1778803200000000000 group by ` +
			`consensus_timestamp / 86400000000000 order by consensus_timestamp / 86400000000000`,
		"account.stats.received": `select sum(amount)::text from crypto_transfer where entity_id = 1001 and ` +
			`amount > 0 and consensus_timestamp >= 1778630400000000000 and consensus_timestamp < ` +
			`1778803200000000000 group by consensus_timestamp / 86400000000000 order by consensus_timestamp / ` +
			`86400000000000`,
	},
	"Votes at a block": {
		"ledger.token.holders.nodes.balanceValue.raw": votes + `select balance::text from held order by ` +
			`held.balance desc, account_id desc limit 25`,
		"ledger.token.holders.nodes.account.entityId": votes + `select '0.0.' || account_id from held order by ` +
			`held.balance desc, account_id desc limit 25`,
		"ledger.token.holders.totalCount.value": votes + `select count(*)::text from held`,
	},
	"Portfolio at the end of the year": {
		"ledger.account.balanceValue.raw": `select (balance - (select sum(amount) from crypto_transfer where ` +
			`entity_id = 1001 and ` +
			`consensus_timestamp >= 1767225600000000000))::text from entity where id = 1001`,
		"ledger.account.tokens.nodes.balanceValue.raw": `select case token.type when 'FUNGIBLE_COMMON' then ` +
			`a.balance - (select ` +
			`coalesce(sum(amount), 0) from token_transfer t where t.account_id = 1001 and t.token_id = a.token_id ` +
			`and ` +
			`consensus_timestamp >= 1767225600000000000) else (select count(*) from (select account_id, token_id, ` +
			`timestamp_range from nft ` +
			`union all select account_id, token_id, timestamp_range from nft_history) n where n.account_id = 1001 ` +
			`and ` +
			`n.token_id = a.token_id and timestamp_range @> 1767225599999999999) end::text from token_account a ` +
			`join token using (token_id) ` +
			`where account_id = 1001 and a.created_timestamp < 1767225600000000000 order by token_id`,
	},
	"Allowances to revoke": {
		"account.allowances.crypto.nodes.spender.entityId": `select '0.0.' || spender from crypto_allowance where ` +
			`owner = 1001 and amount > 0 order by spender desc`,
		"account.allowances.crypto.nodes.amountValue.raw": `select amount::text from crypto_allowance where owner ` +
			`= 1001 and amount > 0 order by spender desc`,
		"account.allowances.tokens.nodes.token.symbol": `select symbol from token_allowance join token using ` +
			`(token_id) where owner = 1001 and amount > 0 order by spender, token_id`,
		"account.nftAllowances.nodes.spender.entityId": `select '0.0.' || spender from nft_allowance where ` +
			`owner = 1001 and approved_for_all order by spender, token_id`,
		"account.nfts.nodes.spender.entityId": `select '0.0.' || spender from nft where account_id = ` +
			`1001 and spender > 0 order by token_id desc, serial_number desc`,
	},
	"Schedules to sign": {
		"account.schedules.nodes.entityId": `select '0.0.' || schedule_id from schedule s join entity e on e.id = schedule_id where creator_account_id = 1008 and executed_timestamp is null and not e.deleted
			and coalesce(s.expiration_time, s.consensus_timestamp + 1800000000000) > 1779021296000000000 order by schedule_id`,
		"account.schedules.nodes.transaction.signaturesPresent.entityId": `select '0.0.' || id from ` +
			`transaction_signature s join entity e on e.id = 1008 where s.entity_id = 5016 and e.public_key like ` +
			`encode(public_key_prefix, 'hex') || '%'`,
	},
	"Block page": {
		"block.hash": `select '0x' || hash from record_file r where r.index = 6191`,
		"block.transactions.nodes.chargedFeeValue.raw": `select charged_tx_fee::text from transaction t, ` +
			`record_file r where r.index = 6191 and consensus_timestamp between consensus_start and consensus_end ` +
			`order by consensus_timestamp`,
		"block.contractLogs.nodes.index": `select l.index::text from contract_log l, record_file r ` +
			`where r.index = 6191 and consensus_timestamp between consensus_start and consensus_end order by ` +
			`consensus_timestamp, l.index`,
	},
	"Fee estimate": {
		"estimateFee.tinybars": `select (1000000::bigint * 30000 / 356400)::text`,
	},
	"Status banner": {
		"status.unresolvedIncidents.nodes.name": `select i.name from status.incident i where i.kind = 'realtime' ` +
			`and not i.draft and i.resolved_at is null order by i.created_at desc limit 3`,
	},
}

// TestCookbook runs the documents of the cookbook on the demo network.
func TestCookbook(t *testing.T) {
	text, all := screens(t)
	count := &trips{}
	g := testenv.Demo(t, func(o *testenv.Options) { o.Storage.Tracer, o.Storage.MaxConnections = count, 1 })
	db := testenv.Demo(t).DB.Pool()
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			body, _ := s.ask(t, g, 1)
			text = compare(t, text, s, strings.TrimSpace(body))
			delete(s.variables, "first") // full pages
			delete(s.variables, "tokens")
			s.ask(t, g, 2) // prepares the statements
			count.statements.Store(0)
			count.trips.Store(0)
			_, cost := s.ask(t, g, 2)
			link := fmt.Sprintf("| [%s](#%s) |", s.name, strings.ReplaceAll(strings.ToLower(s.name), " ", "-"))
			row := regexp.MustCompile(regexp.QuoteMeta(link) + `( [0-9–]* \|){3}`)
			want := fmt.Sprintf("%s %s | %d | %d |", link, cost, count.statements.Load(), count.trips.Load())
			if cost == "" { // of a subscription, events that arrive together are read together
				want = link + " – | – | – |"
			}
			if got := row.FindString(text); *update {
				text = strings.Replace(text, got, want, 1)
			} else if got != want {
				t.Errorf("the table has %q, want %q", got, want)
			}
			for path, sql := range facts[s.name] {
				rows, err := db.Query(t.Context(), sql)
				if err != nil {
					t.Fatal(err)
				}
				want, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					t.Fatal(err)
				}
				body, _ := s.ask(t, g, len(want))
				var got []string
				for line := range strings.Lines(body) {
					var answer struct{ Data any }
					testenv.Decode(t, line, &answer)
					got = append(got, pick(answer.Data, strings.Split(path, "."))...)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
					t.Errorf("%s: %v, want %v", path, got, want)
				}
			}
		})
	}
	if *update {
		if err := os.WriteFile(cookbook, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compare compares an answer with that in the cookbook, and returns the text of the cookbook with the answer if it is
// updated.
func compare(t *testing.T, text string, s screen, body string) string {
	t.Helper()
	got := layout(t, json.RawMessage(body), "") + "\n"
	if *update {
		before, after, _ := strings.Cut(text, "\n## "+s.name+"\n")
		return before + "\n## " + s.name + "\n" + strings.Replace(after, "```json\n"+s.answer, "```json\n"+got, 1)
	}
	if got != s.answer {
		t.Errorf("%s: the answer is\n%s\nwant\n%s", s.name, got, s.answer)
	}
	return text
}

// frequent are SQL queries for the variables of screens on a large database: objects with many rows.
var frequent = map[string]map[string]string{
	"Wallet home": {"account": `select account_id from token_account where associated group by 1 ` +
		`order by count(*) desc, 1 limit 1`},
	"NFT gallery": {"account": `select account_id from nft where not deleted group by 1 order by ` +
		`count(*) desc, 1 limit 1`},
	"History with counterparties": {"account": `select payer_account_id from transaction group by 1 order by ` +
		`count(*) desc limit 1`},
	"Holder leaderboard": {"token": `select token_id from token_account group by 1 having count(*) <= ` +
		`15000 order by count(*) desc limit 1`},
	"Contract events": {"contract": `select contract_id from contract_log where contract_id in (select ` +
		`id from entity where type = 'CONTRACT') group by 1 order by count(*) desc limit 1`},
	"Live topic chat": {
		"topic": `select topic_id from topic_message group by 1 order by count(*) desc limit 1`,
		"from": `select consensus_timestamp / 1000000000 || '.' || lpad((consensus_timestamp % 1000000000)::text, 9, '0') from topic_message
			where topic_id = (select topic_id from topic_message group by 1 order by count(*) desc limit 1) order by consensus_timestamp desc offset 25 limit 1`,
	},
	"Staking rewards": {
		"account": `select account_id from staking_reward_transfer group by 1 order by count(*) desc limit 1`,
		"from":    `select max(consensus_end) / 1000000000 - 365 * 86400 from record_file`,
	},
	"Search box": {"text": `select left(name, 5) from token group by 1 order by count(*) desc, 1 limit 1`},
	"Activity by day": {
		"account": `select payer_account_id from transaction group by 1 order by count(*) desc offset 10 limit 1`,
		"from":    `select max(consensus_end) / 1000000000 - 30 * 86400 from record_file`,
		"to":      `select max(consensus_end) / 1000000000 from record_file`,
	},
	"Allowances to revoke": {"account": `select owner from (select owner from crypto_allowance union all select ` +
		`owner from token_allowance) a group by 1 order by count(*) desc limit 1`},
	"Schedules to sign": {"account": `select creator_account_id from schedule where executed_timestamp is null ` +
		`group by 1 order by count(*) desc limit 1`},
	"Block page": {"number": `select index from record_file order by count desc limit 1`},
}

// BenchmarkCookbook measures the screens on the database at HELIOGRAPH_DATABASE_URL, with full pages for objects with
// many rows.
func BenchmarkCookbook(b *testing.B) {
	url := os.Getenv("HELIOGRAPH_DATABASE_URL")
	if url == "" {
		b.Skip("HELIOGRAPH_DATABASE_URL is not set")
	}
	_, all := screens(b)
	now := newestBlock(b, url)
	count := &trips{}
	g := testenv.Over(b, url, func(o *testenv.Options) {
		o.REST.Now = now
	}, func(o *testenv.Options) { o.Storage.Tracer, o.Storage.ReadOnly = count, true },
		func(o *testenv.Options) { o.Graph.CacheBytes = 0 })
	for _, s := range all {
		delete(s.variables, "first")
		delete(s.variables, "tokens")
		for name, sql := range frequent[s.name] {
			var value string
			if err := g.DB.Pool().QueryRow(b.Context(), `select (`+sql+`)::text`).Scan(&value); err != nil {
				b.Fatalf("%s: %v", sql, err)
			}
			s.variables[name] = value
		}
		g := g
		// their page and fee schedule are those of the demo network
		if s.name == "Status banner" || s.name == "Fee estimate" {
			g = testenv.Demo(b, func(o *testenv.Options) { o.Graph.CacheBytes = 0 })
		}
		b.Run(strings.ReplaceAll(s.name, " ", "-"), func(b *testing.B) {
			body, _ := s.ask(b, g, 25)
			s.ask(b, g, 25) // statements are prepared now
			var times []float64
			count.trips.Store(0)
			for b.Loop() {
				start := time.Now()
				s.ask(b, g, 25)
				times = append(times, time.Since(start).Seconds()*1000)
			}
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "median-ms")
			b.ReportMetric(float64(count.trips.Load())/float64(len(times)), "trips")
			b.ReportMetric(float64(len(body)), "B/answer")
		})
	}
}

package v1_test

import (
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// Values of the rows.
const (
	aliasBytes  = "1220aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899"
	evmAddress  = "00a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3"
	deadAddress = "11a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3"
	twinAddress = "22a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3"
	ed25519Key  = "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899"
	edDER       = "302a300506032b6570032100"
	awkwardMemo = `a"b\c<&>é` + "\n\t\x01\u2028\U0001F600"
	firstSecond = 1700000000
)

// rows has a few rows for tests of links and values: accounts 302, 304 … 322 and some special ones below 300, ten
// transactions paid by 302, ten messages of topic 700, and blocks 30 to 41.
var rows = testenv.Rows("rows", func(b *pgx.Batch) {
	account := `insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, balance, ` +
		`balance_timestamp, memo, %s) values ($1, $1, 0, 0, 'ACCOUNT', '[1000,)', 1000, $2, 2345, $3, $4)`
	for id := int64(302); id <= 322; id += 2 {
		b.Queue(fmt.Sprintf(account, "public_key"), id, id*10, "", ed25519Key)
	}
	b.Queue(fmt.Sprintf(account, "deleted"), 2, int64(5), "Mirror node created synthetic treasury account", false)
	b.Queue(fmt.Sprintf(account, "alias"), 210, int64(1), "named", mustHex(aliasBytes))
	b.Queue(fmt.Sprintf(account, "evm_address"), 211, int64(1), "addressed", mustHex(evmAddress))
	b.Queue(fmt.Sprintf(account, "deleted"), 212, int64(9223372036854775807), "", false)
	b.Queue(fmt.Sprintf(account, "deleted"), 213, int64(1), awkwardMemo, false)
	b.Queue(fmt.Sprintf(account, "evm_address"), 214, int64(1), "dead", mustHex(deadAddress))
	b.Queue(fmt.Sprintf(account, "evm_address"), 215, int64(1), "twin", mustHex(twinAddress))
	b.Queue(fmt.Sprintf(account, "evm_address"), 216, int64(1), "twin", mustHex(twinAddress))
	b.Queue(`update entity set deleted = false where evm_address is not null`)
	b.Queue(`update entity set deleted = true where id = 214`)
	b.Queue(`insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, charged_tx_fee, max_fee, transaction_hash, memo)
select 1000000000::bigint * (1700000000 + i), case when i = 9 then 27 else 14 end, case when i % 5 = 0 then 10 else 22 end, 302, 1000000000::bigint * (1700000000 + i) - 1,
  9223372036854775807, 9223372036854775807, decode(repeat(lpad(to_hex(i), 2, '0'), 48), 'hex'), '\x' from generate_series(1, 10) i`)
	b.Queue(`insert into crypto_transfer (entity_id, consensus_timestamp, amount, payer_account_id)
select e, 1000000000::bigint * (1700000000 + i), case when e = 302 then -i else i end, 302 from generate_series(1, 10) i, unnest(array[302, 304]) e where i <= 8`)
	b.Queue(`insert into crypto_transfer (entity_id, consensus_timestamp, amount, payer_account_id) values (800, ` +
		`1700000001000000000, -7, 302), (800, 1700000002000000000, -7, 304)`)
	b.Queue(`insert into staking_reward_transfer (consensus_timestamp, payer_account_id, account_id, amount)
select 1000000000::bigint * (1700000000 + i), 304, 302, 7 from generate_series(1, 3) i`)
	b.Queue(`insert into topic (id, timestamp_range, created_timestamp) values (700, '[5,)', 0), (702, '[5,)', 0), ` +
		`(703, '[5,)', 0)`)
	b.Queue(`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, memo) select i, ` +
		`i, 0, 0, 'TOPIC', '[5,)', 0, 'topic' from unnest(array[700, 703]) i`)
	b.Queue(`insert into custom_fee (entity_id, timestamp_range) values (700, '[5,)')`)
	b.Queue(`insert into topic_message (consensus_timestamp, message, running_hash, sequence_number, running_hash_version, payer_account_id, topic_id)
select 1000000000::bigint * (1700000100 + i), convert_to('message ' || i, 'UTF8'), '\xfbff', i, 2, 302, 700 from generate_series(1, 10) i`)
	b.Queue(`insert into topic_message (consensus_timestamp, message, running_hash, sequence_number, payer_account_id, topic_id) values
(1700000009000000000, '\x22ffc05c0a', '\x', 9223372036854775807, 302, 701)`)
	b.Queue(`update transaction set entity_id = 701 where type = 27`)
	b.Queue(`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index, gas_used)
select i || '.rcd', 0, 0, lpad(to_hex(i), 96, 'a'), lpad(to_hex(i - 1), 96, 'a'), 1000000000::bigint * (1700000000 + i), 1000000000::bigint * (1700000001 + i) - 1, 1, 0, 6,
  repeat('0', 96), i, -1 from generate_series(30, 41) i`)
	b.Queue(`insert into account_balance (consensus_timestamp, balance, account_id)
select 1000000000::bigint * s, a + s % 10, a from unnest(array[1699000001, 1700000002]) s, unnest(array[2, 302, 304]) a`)
	b.Queue(`insert into token_account (account_id, token_id, associated, balance, timestamp_range) select 302, t, ` +
		`t <> 903, t, '[1,)' from generate_series(901, 905) t`)
})

func mustHex(s string) []byte {
	b := make([]byte, len(s)/2)
	if _, err := fmt.Sscanf(s, "%x", &b); err != nil {
		panic(err)
	}
	return b
}

// alias returns the text of the alias of account 210.
func alias() string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mustHex(aliasBytes))
}

// messages returns the body of a problem.
func messages(texts ...string) string {
	items := make([]string, len(texts))
	for i, t := range texts {
		items[i] = `{"message":"` + strings.ReplaceAll(t, `"`, `\"`) + `"}`
	}
	return `{"_status":{"messages":[` + strings.Join(items, ",") + `]}}`
}

func modernProblem(message, detail string) string {
	return `{"_status":{"messages":[{"message":"` + message + `","detail":"` + detail + `"}]}}`
}

// checkProblem checks that a response is the given problem, must not be cached and has no link.
func checkProblem(t *testing.T, got *testenv.Response, status int, body string) {
	t.Helper()
	if got.Status != status || got.Body != body {
		t.Errorf("status %d, %s\nwant %d, %s", got.Status, got.Body, status, body)
	}
	if got.Header.Get("Cache-Control") != "" || got.Header.Get("Link") != "" {
		t.Errorf("a problem has Cache-Control %q and Link %q", got.Header.Get("Cache-Control"), got.Header.Get("Link"))
	}
	if got.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("Content-Type %q", got.Header.Get("Content-Type"))
	}
}

// nextOf returns links.next of a list and checks that the Link header is the same.
func nextOf(t *testing.T, got *testenv.Response) string {
	t.Helper()
	if got.Status != http.StatusOK {
		t.Fatalf("status %d: %s", got.Status, got.Body)
	}
	var body struct {
		Links struct{ Next *string }
	}
	testenv.Decode(t, got.Body, &body)
	next, header := "null", ""
	if body.Links.Next != nil {
		next = *body.Links.Next
		header = "<" + next + `>; rel="next"`
	}
	if got.Header.Get("Link") != header {
		t.Errorf("Link is %q, want %q", got.Header.Get("Link"), header)
	}
	return next
}

// encode returns the base64 of b in the standard or the URL alphabet.
func encode(urlSafe bool, b []byte) string {
	if urlSafe {
		return base64.URLEncoding.EncodeToString(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}

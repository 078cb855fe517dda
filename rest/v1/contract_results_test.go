package v1_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// txIDText is the id of the transaction at second 1.
const txIDText = "0.0.1002-1700000000-1"

// results has contract results of every kind, one per second: 1 an Ethereum call, 2 a revert without a call result, 3
// a child, 4 a wrong nonce, 5 a failed Ethereum creation, 6 a token transfer outside of the EVM. A token transfer at
// second 2 is hidden by the result there.
var results = testenv.Rows("results", func(b *pgx.Batch) {
	b.Queue(`insert into entity (id, num, realm, shard, type, timestamp_range, deleted, evm_address, memo) values
(1001, 1001, 0, 0, 'ACCOUNT', '[1,)', false, null, ''), (1002, 1002, 0, 0, 'ACCOUNT', '[1,)', false, decode(repeat('ab', 20), 'hex'), ''),
(5001, 5001, 0, 0, 'CONTRACT', '[1,)', false, decode(repeat('c1', 20), 'hex'), ''), (5002, 5002, 0, 0, 'CONTRACT', '[1,)', false, null, ''),
(5003, 5003, 0, 0, 'CONTRACT', '[1,)', false, decode(repeat('d3', 20), 'hex'), ''), (5004, 5004, 0, 0, 'CONTRACT', '[1,)', false, decode(repeat('d3', 20), 'hex'), ''),
(5005, 5005, 0, 0, 'CONTRACT', '[1,)', true, decode(repeat('dd', 20), 'hex'), '')`)
	b.Queue(`insert into contract_result (consensus_timestamp, contract_id, sender_id, payer_account_id, amount, bloom, call_result, created_contract_ids, error_message,
  function_parameters, function_result, gas_limit, gas_used, gas_consumed, transaction_hash, transaction_index, transaction_nonce, transaction_result, failed_initcode) values
(1700000001000000000, 5001, 1001, 1002, 30, '\x8080', '\x2a', '{6001,6002}', '', '\xa9059cbb', null, 1000000, 987000, 988000, decode(repeat('01', 32), 'hex'), 1, 0, 22, null),
(1700000002000000000, 5002, null, 1001, null, '\x', null, null, '0x08c379a0', '\x', '\x6a1622140102030405060708090a0b0c0d0e0f1011121314', 300000, null, null, decode(repeat('02', 32), 'hex'), 2, 0, 33, '\x6001'),
(1700000003000000000, 5002, 5001, 1002, 0, null, '\x', '{}', null, '\x01', null, 5000, 10, 10, decode(repeat('03', 32), 'hex'), 3, 1, 22, null),
(1700000004000000000, 5001, 1001, 1002, 0, '\x', '\x', '{}', null, '\x01', null, 5000, 0, 0, decode(repeat('04', 32), 'hex'), 0, 0, 312, null),
(1700000005000000000, 0, 1001, 1002, 9, '\x', '\x', '{}', null, '\x', null, 7000, 700, 700, decode(repeat('05', 32), 'hex'), 1, 0, 96, null)`)
	b.Queue(`insert into ethereum_transaction (consensus_timestamp, payer_account_id, call_data, call_data_id, chain_id, data, gas_limit, gas_price, hash, max_fee_per_gas,
  max_gas_allowance, max_priority_fee_per_gas, nonce, recovery_id, signature_r, signature_s, signature_v, to_address, type, value, access_list, authorization_list) values
(1700000001000000000, 1002, '', 7001, '\x0128', '\x', 1500000, '\x4a817c8000', decode(repeat('01', 32), 'hex'), null, 0, '\x', 9, 1, decode(repeat('71', 32), 'hex'),
  decode(repeat('1f', 32), 'hex'), null, decode(repeat('c1', 20), 'hex'), 1, '\x45d964b800', '[{"address":"0xaa","storage_keys":["0x01","0x02"]}]', null),
(1700000005000000000, 1002, '\x60016002', null, '\x', '\x', 8000, null, decode(repeat('05', 32), 'hex'), '\x0a', 0, '\x02540be400', 3, 0, '\x00', '\x01', '\x1b', '\x', 0,
  '\xffffffffdabf41c000', null, '[{"address":"0xbb","chain_id":"0x128","nonce":5,"r":"0x1","s":"0x2","y_parity":"0x0"}]')`)
	b.Queue(`insert into transaction (consensus_timestamp, payer_account_id, valid_start_ns, type, result, nonce, entity_id) values
(1700000001000000000, 1002, 1700000001000000000 - 999999999, 50, 22, 0, 5001), (1700000002000000000, 1001, 1700000001000000000, 7, 33, 0, 5002),
(1700000005000000000, 1002, 1700000005000000000 - 5, 50, 96, 0, null), (1700000006000000000, 1001, 1700000006000000000 - 5, 14, 22, 0, null)`)
	b.Queue(`insert into contract_transaction (consensus_timestamp, entity_id, contract_ids, payer_account_id)
select t.at, e, t.ids, t.payer from (values (1700000001000000000, array[5001, 5002, 1002], 1002), (1700000002000000000, array[5002, 1001], 1001),
  (1700000003000000000, array[5002, 1002], 1002), (1700000004000000000, array[5001, 1002], 1002), (1700000005000000000, array[0, 1002], 1002)) t(at, ids, payer), unnest(t.ids) e`)
	b.Queue(`insert into contract_transaction_hash (consensus_timestamp, hash, payer_account_id, entity_id, transaction_result) values
(1700000001000000000, decode(repeat('01', 32), 'hex'), 1002, 5001, 22), (1700000002000000000, decode(repeat('02', 32), 'hex'), 1001, 5002, 33),
(1700000003000000000, decode(repeat('01', 32), 'hex'), 1002, 5002, 312), (1700000005000000000, decode(repeat('05', 32), 'hex'), 1002, 0, 96)`)
	b.Queue(`insert into contract_log (consensus_timestamp, index, contract_id, root_contract_id, payer_account_id, bloom, data, topic0, topic1, topic2, transaction_hash, transaction_index, synthetic) values
(1700000001000000000, 0, 5001, null, 1002, '\x40', '\x07e5', '\x5a5b', '\x', null, decode(repeat('01', 32), 'hex'), 1, null),
(1700000001000000000, 1, 5002, 5001, 1002, '\x', '\x', null, null, null, decode(repeat('01', 32), 'hex'), 1, false),
(1700000002000000000, 0, 8001, 8001, 1001, '\x', '\x01', '\xdd', '\x01', '\x02', decode(repeat('02', 32), 'hex'), 2, true),
(1700000006000000000, 0, 8001, null, 1001, '\x', '\x01', '\xdd', '\x01', '\x02', decode(repeat('06', 32), 'hex'), 4, true),
(1700000006000000000, 1, 8002, 8003, 1001, '\x', '\x02', '\xdd', '\x01', '\x02', decode(repeat('06', 32), 'hex'), 4, true)`)
	b.Queue(`insert into contract_state_change (consensus_timestamp, contract_id, payer_account_id, slot, value_read, value_written, migration) values
(1700000001000000000, 5001, 1002, '\x01', '\x65', null, false), (1700000001000000000, 5001, 1002, '\x', '\x', '\x', false),
(1700000001000000000, 5002, 1002, '\x02', '\x01', '\x02', false), (1700000001000000000, 5001, 1002, '\x09', '\x', '\x63', true)`)
	b.Queue(`insert into contract_action (consensus_timestamp, payer_account_id, index, call_depth, call_type, call_operation_type, caller, caller_type, gas, gas_used, input,
  recipient_account, recipient_contract, recipient_address, result_data, result_data_type, value) values
(1700000001000000000, 1002, 0, 0, 1, 1, 1001, 'ACCOUNT', 9000, 5000, '\x0123', null, 5001, null, '\x2a', 11, 100),
(1700000001000000000, 1002, 1, 1, 3, 4, 5001, 'CONTRACT', 800, 500, null, 70, null, '\x0167', null, 12, 0),
(1700000001000000000, 1002, 2, 1, 2, 6, 5001, 'CONTRACT', 80, 50, '\x60', null, null, null, '\x', 13, 9223372036854775807),
(1700000001000000000, 1001, 3, 1, 1, 1, 5001, 'CONTRACT', 80, 50, '\x60', null, null, null, '\x', 13, 0)`)
	b.Queue(`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index, gas_used)
select i || '.rcd', 0, 0, repeat('a', 95) || i, repeat('b', 96), 1700000001000000000 + 3000000000 * i::bigint, 1700000003999999999 + 3000000000 * i::bigint, 1, 0, 6,
  repeat('0', 96), i, case i when 0 then 1731000 else -1 end from generate_series(0, 1) i`)
	// Contract calls cost 852000 thousandths of tinycents. 30000 hbars cost 360000 cents in the hour of all results:
	// 71 tinybars.
	fee := message(1,
		append(message(1, append([]byte{8, 6}, message(3, message(3, append([]byte{0x40}, varint(852_000)...)))...)),
			message(2, append([]byte{8}, varint(1800000000)...))...))
	rate := func(cents, until uint64) []byte {
		return append(append(append([]byte{8}, varint(30_000)...), append([]byte{16}, varint(cents)...)...),
			message(3, append([]byte{8}, varint(until)...))...)
	}
	rates := append(message(1, rate(360_000, 1699999200)), message(2, rate(720_000, 1700006400))...)
	file := `insert into file_data (entity_id, consensus_timestamp, transaction_type, file_data) values ($1, $2, ` +
		`$3, $4)`
	b.Queue(file, 111, 1600000000000000001, 17, fee[:10])
	b.Queue(file, 111, 1600000000000000002, 16, fee[10:])
	b.Queue(file, 111, 1700000001500000000, 19, []byte("\x0a\xffno schedule"))
	b.Queue(file, 112, 1600000000000000003, 17, rates)
	b.Queue(file, 112, 1700000005500000000, 16, []byte("\x0a"))
	b.Queue(file, 7001, 1600000000000000004, 17, []byte("old"))
	b.Queue(file, 7001, 1600000000000000005, 19, []byte("call "))
	b.Queue(file, 7001, 1900000000000000006, 16, []byte("data"))
})

// message returns a length-delimited protobuf field of less than 128 bytes.
func message(field byte, content []byte) []byte {
	return append([]byte{field<<3 | 2, byte(len(content))}, content...)
}

func varint(v uint64) []byte {
	var b []byte
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// TestContractResults compares responses, headers included, with testdata that was checked against the rules of the
// API.
func TestContractResults(t *testing.T) {
	t.Parallel()
	url := results.Shared(t)
	delegation := func(o *testenv.Options) { o.REST.DelegationAddress = true }
	g := testenv.Over(t, url, delegation)
	h := func(digits string) string { return strings.Repeat(digits, 32) }
	const file = "testdata/contract_results.json"
	type response struct {
		Path   string
		Status int
		Cache  string          `json:",omitempty"`
		Body   json.RawMessage `json:",omitempty"`
	}
	var got []response
	for _, path := range []string{
		"/contracts/results", "/contracts/results?order=asc&limit=2", "/contracts/results?internal=TRUE&limit=3",
		"/contracts/results?hbar=false&order=asc",
		"/contracts/results/" + h("01"), "/contracts/results/0x" + h("02"),
		"/contracts/results/" + h("05") + "?hbar=FALSE", "/contracts/results/" + txIDText,
		"/contracts/0.0.5001/results/1700000001", "/contracts/results/1700000001.0",
		"/contracts/5002/results/1700000001.000000000?hbar=false",
		"/contracts/0x" + strings.Repeat("c1", 20) + "/results?limit=1", "/contracts/5002/results?internal=true",
		"/contracts/results/" + h("01") + "/actions",
		"/contracts/results/0x" + h("01") + "/results?limit=1&index=gte:1&order=desc",
	} {
		r := g.Get(t, "/api/v1"+path)
		got = append(got, response{path, r.Status, r.Header.Get("Cache-Control"), json.RawMessage(r.Body)})
	}
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var expected []response
	testenv.Decode(t, string(want), &expected)
	if len(expected) != len(got) {
		t.Fatalf("%d responses, want %d", len(got), len(expected))
	}
	for i := range got {
		a, errA := json.Marshal(got[i])
		b, errB := json.Marshal(expected[i])
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("got  %s\nwant %s", a, b)
		}
	}
}

// TestContractResultLists checks which results requests select, by their seconds, and the next links.
func TestContractResultLists(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, results.Shared(t))
	address, hash := strings.Repeat("ab", 20), strings.Repeat("a", 95)
	next := func(query string) string { return "/api/v1/contracts/results?" + query }
	for path, want := range map[string]string{
		"/contracts/results":                         "6 5 2 1 null",
		"/contracts/results?internal=true&order=asc": "1 2 3 5 6 null",
		"/contracts/results?limit=2": "6 5 " +
			next("limit=2&timestamp=lt:1700000005.000000000"),
		"/contracts/results?limit=2&timestamp=lt:1700000006": "5 2 " +
			next("limit=2&timestamp=lt:1700000002.000000000"),
		"/contracts/results?limit=1&order=asc": "1 " +
			next("limit=1&order=asc&timestamp=gt:1700000001.000000000"),
		"/contracts/results?limit=1&timestamp=1700000006": "6 " +
			next("limit=1&timestamp=1700000006"),
		"/contracts/results?timestamp=1700000006&timestamp=1700000001":         "6 1 null",
		"/contracts/results?timestamp=ne:1700000006&timestamp=gt:1700000001":   "5 2 null",
		"/contracts/results?timestamp=gt:1700000006&timestamp=lt:1700000006":   "null",
		"/contracts/results?timestamp=gte:1700000002&timestamp=gte:1700000005": "6 5 null",
		"/contracts/results?from=1001":                                         "5 1 null",
		"/contracts/results?from=1001&from=5001&internal=true":                 "5 3 1 null",
		"/contracts/results?from=gt:1001&internal=true":                        "3 null",
		"/contracts/results?from=ne:1001&internal=true":                        "3 null",
		"/contracts/results?from=0x00000000000000000000000000000000000003e9&limit=1": "5 " +
			next("from=0x00000000000000000000000000000000000003e9&limit=1&timestamp=lt:1700000005.000000000"),
		"/contracts/results?from=" + address:                                                   "null",
		"/contracts/results?from=1001&from=" + address:                                         "5 1 null",
		"/contracts/results?block.number=0":                                                    "2 1 null",
		"/contracts/results?block.number=0x1":                                                  "6 5 null",
		"/contracts/results?block.number=5&block.number=1":                                     "6 5 null",
		"/contracts/results?block.number=7":                                                    "null",
		"/contracts/results?block.hash=" + hash + "0":                                          "2 1 null",
		"/contracts/results?block.hash=0x" + hash + "1&timestamp=gt:1700000005":                "6 null",
		"/contracts/results?block.hash=" + strings.ToUpper(hash) + "0":                         "null",
		"/contracts/results?block.hash=" + strings.Repeat("a", 64):                             "null",
		"/contracts/results?block.hash=" + strings.Repeat("b", 64):                             "null",
		"/contracts/results?block.number=0&transaction.index=1":                                "1 null",
		"/contracts/results?block.number=0&transaction.index=1&transaction.index=2":            "2 1 null",
		"/contracts/results?block.number=1&transaction.index=4":                                "6 null",
		"/contracts/results?block.number=1&transaction.index=9223372036854775807":              "null",
		"/contracts/5001/results":                                                              "1 null",
		"/contracts/0.0.5001/results?from=1001":                                                "1 null",
		"/contracts/5002/results?internal=true&hbar=false":                                     "3 2 null",
		"/contracts/5002/results?internal=true&internal=false":                                 "2 null",
		"/contracts/0.0." + strings.Repeat("c1", 20) + "/results":                              "1 null",
		"/contracts/9." + strings.Repeat("C1", 20) + "/results":                                "1 null",
		"/contracts/000000000000000000000000000000000000138a/results":                          "2 null",
		"/contracts/0x000000000000000000000000000000000000138a/results?order=asc":              "2 null",
		"/contracts/" + strings.Repeat("ef", 20) + "/results?from=" + strings.Repeat("ee", 20): "null",
		"/contracts/" + strings.Repeat("dd", 20) + "/results":                                  "null",
		"/contracts/0/results":                                                                 "5 2 1 null",
		"/contracts/0.0.0/results?internal=true&limit=1": "5 /api/v1/contracts/0.0.0/results?internal=true&limit=1" +
			"&timestamp=lt:1700000005.000000000",
		"/contracts/77/results": "null",
	} {
		got := g.Get(t, "/api/v1"+path)
		if got.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
			continue
		}
		var body struct {
			Results []struct{ Timestamp string }
		}
		testenv.Decode(t, got.Body, &body)
		var list []string
		for _, r := range body.Results {
			list = append(list, strings.TrimSuffix(strings.TrimPrefix(r.Timestamp, "170000000"), ".000000000"))
		}
		if is := strings.Join(append(list, nextOf(t, got)), " "); is != want {
			t.Errorf("%s\n is %s\nnot %s", path, is, want)
		}
	}
}

// TestContractResultsBounded checks how open timestamp ranges are bounded: seconds 1 to 6 are long before the tests'
// current time.
func TestContractResultsBounded(t *testing.T) {
	t.Parallel()
	url := results.Shared(t)
	g := testenv.Over(t, url, func(o *testenv.Options) {
		o.REST.BindTimestampRange, o.REST.MaxTransactionsRange = true, 3*time.Second
	})
	for path, want := range map[string]string{
		"/contracts/results": `{"results":[],"links":{"next":null}}`,
		"/contracts/results?timestamp=1700000001&limit=1": "1700000001.000000000 " +
			"/api/v1/contracts/results?timestamp=1700000001&limit=1",
		"/contracts/results?order=asc": "1700000001.000000000 1700000002.000000000 " +
			"/api/v1/contracts/results?order=asc&timestamp=gt:1700000003.999999999",
		"/contracts/results?timestamp=lte:1700000006": "1700000006.000000000 1700000005.000000000 " +
			"/api/v1/contracts/results?timestamp=lt:1700000003.000000001",
		"/contracts/results?timestamp=lte:1700000003":      "1700000002.000000000 1700000001.000000000 null",
		"/contracts/results?block.number=0":                "1700000002.000000000 1700000001.000000000 null",
		"/contracts/5001/results":                          "1700000001.000000000 null",
		"/contracts/results?timestamp=gt:5&timestamp=lt:1": "null",
	} {
		got := g.Get(t, "/api/v1"+path)
		var body struct {
			Results []struct{ Timestamp string }
		}
		testenv.Decode(t, got.Body, &body)
		is := got.Body
		if !strings.HasPrefix(want, "{") {
			var list []string
			for _, r := range body.Results {
				list = append(list, r.Timestamp)
			}
			is = strings.Join(append(list, nextOf(t, got)), " ")
		}
		if is != want {
			t.Errorf("%s\n is %s\nnot %s", path, is, want)
		}
	}
}

// TestContractResultProblems checks the problems of invalid requests.
func TestContractResultProblems(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, results.Shared(t), func(o *testenv.Options) { o.REST.MaxRepeats = 8 })
	tx, hash := badTransactionIDText, strings.Repeat("01", 32)
	missing, twins := strings.Repeat("ee", 20), strings.Repeat("d3", 20)
	both := "Invalid parameter usage: block.hash - cannot combine block.number and block.hash"
	lonely := "Invalid parameter usage: transaction.index - transaction.index requires block.number or block.hash " +
		"filter to be specified"
	hbar := func(v string) string { return "Invalid hbar parameter value: " + v + ". Must be 'true' or 'false'" }
	for path, want := range map[string][]string{
		"/contracts/results?from=x&foo=1&block.number=gt:5&limit=0": {
			"Invalid parameter: from",
			"Invalid parameter: block.number", "Invalid parameter: limit", "Unknown query parameter: foo",
		},
		"/contracts/results?from=0.0." +
			missing: {"Invalid parameter: from"},
		"/contracts/results?from=0x123":                             {"Invalid parameter: from"},
		"/contracts/results?from=1234567890123&transaction.index=1": {"Invalid parameter: from"},
		"/contracts/results?block.hash=ne:" +
			hash: {"Invalid parameter: block.hash"},
		"/contracts/results?block.hash=12":                    {"Invalid parameter: block.hash"},
		"/contracts/results?block.number=-1":                  {"Invalid parameter: block.number"},
		"/contracts/results?internal=gt:true":                 {"Invalid parameter: internal"},
		"/contracts/results?hbar=maybe":                       {"Invalid parameter: hbar"},
		"/contracts/results?hbar=gt:true":                     {"Invalid parameter: hbar"},
		"/contracts/results?hbar=eq:true":                     {hbar("eq:true")},
		"/contracts/results?hbar=true&hbar=false":             {hbar("true,false")},
		"/contracts/results?hbar=eq:true&transaction.index=1": {lonely},
		"/contracts/results?hbar=eq:true&from=" +
			missing: {hbar("eq:true")},
		"/contracts/results?timestamp=x&transaction.index=gt:1": {"Invalid " +
			"parameter: timestamp", "Invalid parameter: transaction.index"},
		"/contracts/results?transaction.index=1":                                                        {lonely},
		"/contracts/results?block.number=1&block.hash=" + hash:                                          {both},
		"/contracts/results?block.number=1&block.hash=" + hash + "&transaction.index=1&from=" + missing: {both},
		"/contracts/abc/results?foo=1": {"Invalid " +
			"parameter: contractid"},
		"/contracts/-1/results?foo=1": {"Unknown " +
			"query parameter: foo"},
		"/contracts/-1/results": {"Invalid " +
			"parameter: contractid"},
		"/contracts/1234567890123/results": {"Invalid " +
			"parameter: contractid"},
		"/contracts/0.0.0x" + missing +
			"/results": {"Invalid parameter: contractid"},
		"/contracts/1.0.0000000000000000000000000000000000000001/results": {"Invalid parameter: contractid"},
		"/contracts/results/results":                                      {"Invalid parameter: contractid"},
		"/contracts/results/results/x": {
			"Invalid parameter: contractid",
			"Invalid parameter: timestamp",
		},
		"/contracts/results/results/5":                {"Invalid parameter: contractid"},
		"/contracts/5001/results?transaction.index=1": {lonely},
		"/contracts/5001/results?hbar=x":              {"Invalid parameter: hbar"},
		"/contracts/abc/results/x?hbar=1&foo=1":       {hbar("1")},
		"/contracts/abc/results/x?foo=1": {
			"Invalid parameter: contractid",
			"Invalid parameter: timestamp",
		},
		"/contracts/5001/results/eq:1":         {"Invalid parameter: timestamp"},
		"/contracts/5001/results/1.1234567890": {"Invalid parameter: timestamp"},
		"/contracts/5001/results/1?foo=1&nonce=1": {
			"Unknown query parameter: foo",
			"Unknown query parameter: nonce",
		},
		"/contracts/-1/results/1?foo=1":    {"Unknown query parameter: foo"},
		"/contracts/-1/results/1":          {"Invalid parameter: contractid"},
		"/contracts/results/1.5?nonce=1":   {"Unknown query parameter: nonce"},
		"/contracts/results/12345678901.5": {"Invalid parameter: timestamp"},
		"/contracts/results/x?foo=1&nonce=-1&hbar=eq:true": {
			"Unknown query parameter: foo",
			"Invalid parameter: nonce",
		},
		"/contracts/results/x?hbar=eq:true":                    {hbar("eq:true")},
		"/contracts/results/x":                                 {tx},
		"/contracts/results/0.0.1@1.1":                         {tx},
		"/contracts/results/" + hash + strings.Repeat("0", 32): {tx},
		"/contracts/results/" + hash +
			"?nonce=2147483648": {"Invalid parameter: nonce"},
		"/contracts/results/x/actions?index=ne:1": {"Invalid parameter: index"},
		"/contracts/results/x/actions?index=1.5&nonce=1": {
			"Invalid parameter: index",
			"Unknown query parameter: nonce",
		},
		"/contracts/results/x/actions":          {tx},
		"/contracts/results/logs/actions":       {tx},
		"/contracts/results/x/results?index=-1": {"Invalid parameter: index"},
	} {
		checkProblem(t, g.Get(t, "/api/v1"+path), http.StatusBadRequest, messages(want...))
	}
	for _, path := range []string{
		"/contracts/results?from=" + missing, "/contracts/5001/results?from=0x" + missing,
		"/contracts/" + missing + "/results/1700000001",
		"/contracts/1001/results/1700000001", "/contracts/5001/results/1700000001.000000001",
		"/contracts/results/1700000001.000000001",
		"/contracts/results/" + strings.Repeat("77", 32), "/contracts/results/0.0.1002-1700000001-2",
		"/contracts/results/" + txIDText + "?nonce=1",
		"/contracts/results/0.0.1001-1700000007-1/actions", "/contracts/results/" + strings.Repeat("77", 32) +
			"/results",
		"/contracts/results/0.0.1001-9999999999999-1",
	} {
		checkProblem(t, g.Get(t, "/api/v1"+path), http.StatusNotFound, messages("Not found"))
	}
	for _, path := range []string{
		"/contracts/results?from=" + twins, "/contracts/" + twins + "/results",
		"/contracts/" + twins + "/results/1700000001",
	} {
		checkProblem(t, g.Get(t, "/api/v1"+path), http.StatusInternalServerError, messages("Internal error"))
	}
	for path, what := range map[string]string{
		"0.0.1001-1700000005-999999995/actions": "a transaction without actions",
		strings.Repeat("01", 32) +
			"/actions?index=9223372036854775807": "a place that no action can have",
		strings.Repeat("01", 32) + "/actions?index=gte:2147483648":                    "places behind all actions",
		strings.Repeat("01", 32) + "/actions?index=gt:2147483647&index=lt:9999999999": "a range behind all actions",
	} {
		if got := g.Get(t, "/api/v1/contracts/results/"+path); got.Status != http.StatusOK ||
			got.Body != `{"actions":[],"links":{"next":null}}` {
			t.Errorf("%s: %d %s", what, got.Status, got.Body)
		}
	}
}

// TestPartialResult checks that a response without the call result is 206 and can be cached.
func TestPartialResult(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, results.Shared(t))
	path := "/api/v1/contracts/5002/results/1700000002"
	got := g.Get(t, path)
	if got.Status != http.StatusPartialContent || got.Header.Get("Cache-Control") != "public, max-age=600" ||
		!strings.Contains(got.Body, `"call_result":"0x"`) {
		t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
	}
	again := g.Do(t, http.MethodGet, path, "", "If-None-Match: "+got.Header.Get("ETag"))
	if again.Status != http.StatusNotModified || again.Body != "" {
		t.Errorf("unchanged: %d %s", again.Status, again.Body)
	}
}

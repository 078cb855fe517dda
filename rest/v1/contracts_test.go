package v1_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// contracts has contracts 5001 (code of a file, two versions), 5002 (code of the creation), 5003 and 5004 (the same
// address), 5005 (deleted), and an account 5006 with an address and storage, with the slots and logs below. The logs
// are at seconds 1 (indexes 0 to 2), 2 (0), 3 (0 to 2) and 20 (0).
var contracts = testenv.Rows("contracts", func(b *pgx.Batch) {
	b.Queue(`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, deleted, evm_address, key, memo, auto_renew_period, auto_renew_account_id,
  ethereum_nonce, expiration_timestamp, max_automatic_token_associations, obtainer_id, permanent_removal, proxy_account_id) values
(5001, 5001, 0, 0, 'CONTRACT', '[2000000000,)', 1000000000, false, decode(repeat('c1', 20), 'hex'), '\x3200', 'escrow', 60, 7001, 3, null, -1, null, null, null),
(5002, 5002, 0, 0, 'CONTRACT', '[1,)', null, null, null, decode('1220' || repeat('ab', 32), 'hex'), '', null, 0, null, 9000000000, null, 7002, true, 7003),
(5003, 5003, 0, 0, 'CONTRACT', '[1,)', 1000000000, false, decode(repeat('d3', 20), 'hex'), null, '', null, null, 1, null, 0, null, false, null),
(5004, 5004, 0, 0, 'CONTRACT', '[3,)', 1000000000, false, decode(repeat('d3', 20), 'hex'), null, '', null, null, 1, null, 0, null, false, null),
(5005, 5005, 0, 0, 'CONTRACT', '[1,)', 1000000000, true, decode(repeat('dd', 20), 'hex'), '\x0102', '', 1, null, 1, null, 0, null, false, null),
(5006, 5006, 0, 0, 'ACCOUNT', '[1,)', 1000000000, false, decode(repeat('ac', 20), 'hex'), null, '', null, null, 0, null, 0, null, false, null)`)
	b.Queue(`insert into entity_history (id, num, realm, shard, type, timestamp_range, created_timestamp, deleted, evm_address, memo, ethereum_nonce) values
(5001, 5001, 0, 0, 'CONTRACT', '[1000000000,2000000000)', 1000000000, false, decode(repeat('c1', 20), 'hex'), 'old', 1)`)
	b.Queue(`insert into contract (id, file_id, initcode, runtime_bytecode) values (5001, 6001, '\xff', '\x60ab'), ` +
		`(5002, null, '\x6001', null), (5003, 111, null, ''), (5005, 6002, null, null)`)
	b.Queue(`insert into file_data (entity_id, consensus_timestamp, transaction_type, file_data) values
(6001, 100, 17, 'dead'), (6001, 200, 16, 'ffff'), (6001, 300, 19, '6080'), (6001, 400, 19, ''), (6001, 500, 16, '60AB'), (6001, 1000000000, 16, '01'), (6001, 1000000001, 16, 'ee'),
(6002, 1000000002, 17, '0x77')`)
	b.Queue(`insert into contract_state (contract_id, created_timestamp, modified_timestamp, slot, value) values
(5001, 1, 11000000001, decode(lpad('01', 64, '0'), 'hex'), '\x10'), (5001, 1, 12000000000, decode(lpad('02', 64, '0'), 'hex'), ''),
(5001, 1, 13000000000, decode(lpad('0100', 64, '0'), 'hex'), null), (5006, 1, 14000000000, decode(lpad('00', 64, '0'), 'hex'), '\x05'),
(5003, 1, 14000000000, decode(lpad('07', 64, '0'), 'hex'), '\x05')`)
	b.Queue(`insert into contract_state_change (consensus_timestamp, contract_id, payer_account_id, slot, value_read, value_written) values
(10000000000, 5001, 1001, '\x01', '\x', '\x0a'), (11000000000, 5001, 1001, '\x01', '\x0a', null), (12000000000, 5001, 1001, '\x01', '\x0a', '\x0b'),
(10000000000, 5001, 1001, '\x02', '\x', ''), (11000000000, 5001, 1001, '\x0100', '\x63', null)`)
	b.Queue(`insert into contract_log (consensus_timestamp, index, contract_id, root_contract_id, payer_account_id, bloom, data, topic0, topic1, topic2, topic3, transaction_hash, transaction_index, synthetic) values
(1700000001000000000, 0, 5001, null, 1001, '\x40', '\x07e5', '\x5a5b', '\x', null, '\x01', decode(repeat('01', 32), 'hex'), 1, null),
(1700000001000000000, 1, 5002, 5001, 1001, '\x', '\x', null, null, null, null, decode(repeat('01', 32), 'hex'), 1, false),
(1700000001000000000, 2, 5001, 5001, 1001, '\x', '\x', '\x5a5b', '\x02', null, null, decode(repeat('01', 32), 'hex'), 1, false),
(1700000002000000000, 0, 8001, 8001, 1001, '\x', '\x01', '\xdd', '\x01', '\x02', null, null, null, true),
(1700000003000000000, 0, 5001, null, 1001, '\x', '\x', '\x5a5b', null, null, null, decode(repeat('03', 32), 'hex'), 0, null),
(1700000003000000000, 1, 5001, null, 1001, '\x', '\x', '\xdd', '\x', null, null, decode(repeat('03', 32), 'hex'), 0, null),
(1700000003000000000, 2, 5002, null, 1001, '\x', '\x', '\x5a5b', null, null, null, decode(repeat('03', 32), 'hex'), 0, null),
(1700000020000000000, 0, 5001, null, 1001, '\x', '\x', null, null, null, null, decode(repeat('04', 32), 'hex'), 0, null)`)
	b.Queue(`insert into transaction (consensus_timestamp, payer_account_id, valid_start_ns, type, result) values ` +
		`(1700000001000000000, 1001, 1700000000000000000, 7, 22)`)
	b.Queue(`insert into transaction_hash (consensus_timestamp, hash, hash_suffix, payer_account_id) values
(1700000001000000000, decode(repeat('01', 32), 'hex'), decode(repeat('aa', 16), 'hex'), 1001), (1700000003000000000, decode(repeat('01', 32), 'hex'), decode(repeat('bb', 16), 'hex'), 1001),
(1700000009000000000, decode(repeat('09', 32), 'hex'), null, 1001)`)
	b.Queue(`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index, gas_used) values
('0.rcd', 0, 0, repeat('a0', 48), repeat('b0', 48), 1700000001000000000, 1700000001999999999, 1, 0, 6, repeat('0', 96), 0, -1),
('1.rcd', 0, 0, repeat('a1', 48), repeat('b1', 48), 1700000002500000000, 1700000003000000000, 1, 0, 6, repeat('0', 96), 1, -1),
('2.rcd', 0, 0, repeat('a2', 48), repeat('b2', 48), 1700000019000000000, 1700000030000000001, 1, 0, 6, repeat('0', 96), 2, -1)`)
})

// address returns an EVM address of one repeated byte.
func address(b string) string { return strings.Repeat(b, 20) }

// wordOf returns a number as a word of the EVM.
func wordOf(digits string) string { return "0x" + strings.Repeat("0", 64-len(digits)) + digits }

const (
	contract5001 = `{"admin_key":null,"auto_renew_account":"0.0.7001","auto_renew_period":60,` +
		`"contract_id":"0.0.5001","created_timestamp":"1.000000000","deleted":false,` +
		`"evm_address":"0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1","expiration_timestamp":"61.000000000",` +
		`"file_id":"0.0.6001","max_automatic_token_associations":-1,` +
		`"memo":"escrow","nonce":3,"obtainer_id":null,"permanent_removal":null,"proxy_account_id":null,` +
		`"timestamp":{"from":"2.000000000","to":null}`
	old5001 = `{"admin_key":null,"auto_renew_account":null,"auto_renew_period":null,"contract_id":"0.0.5001",` +
		`"created_timestamp":"1.000000000","deleted":false,` +
		`"evm_address":"0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1","expiration_timestamp":null,` +
		`"file_id":"0.0.6001","max_automatic_token_associations":null,` +
		`"memo":"old","nonce":1,"obtainer_id":null,"permanent_removal":null,"proxy_account_id":null,` +
		`"timestamp":{"from":"1.000000000","to":"2.000000000"}`
	contract5002 = `{"admin_key":{` +
		`"_type":"ED25519","key":"abababababababababababababababababababababababababababababababab"},` +
		`"auto_renew_account":null,"auto_renew_period":null,` +
		`"contract_id":"0.0.5002","created_timestamp":null,"deleted":null,` +
		`"evm_address":"0x000000000000000000000000000000000000138a","expiration_timestamp":"9.000000000",` +
		`"file_id":null,"max_automatic_token_associations":null,"memo":"","nonce":null,"obtainer_id":"0.0.7002",` +
		`"permanent_removal":true,"proxy_account_id":"0.0.7003",` +
		`"timestamp":{"from":"0.000000001","to":null}`
	code5001 = `,"bytecode":"0x608060AB01","runtime_bytecode":"0x60ab"}`
	noBody   = ""
)

// TestContract checks the lookup and the response of a single contract.
func TestContract(t *testing.T) {
	t.Parallel()
	url := contracts.Shared(t)
	g := testenv.Over(t, url)
	now, old := contract5001+code5001, old5001+code5001
	for path, want := range map[string]string{
		"5001":                 now,
		"0.0.5001":             now,
		address("c1"):          now,
		"0x" + address("C1"):   now,
		"7.9." + address("c1"): now,
		"0x0000000000000000000000000000000000001389": now,
		"5001?timestamp=1.5":                         old,
		"5001?timestamp=lt:2":                        old,
		"5001?timestamp=lte:2":                       now,
		"5001?timestamp=2":                           now,
		"5001?timestamp=gt:1.5":                      now,
		"5001?timestamp=gt:1.5&timestamp=lt:2":       old,
		"5001?timestamp=1.5&timestamp=7":             old,
		"5001?timestamp=ne:3":                        old,
		address("c1") + "?timestamp=1.999999999":     old,
		"5002":                                       contract5002 + `,"bytecode":"0x6001","runtime_bytecode":"0x"}`,
		"5001?timestamp=0.5":                         noBody,
		"5001?timestamp=ne:1&timestamp=ne:3":         noBody,
		"5006":                                       noBody,
		address("ac"):                                noBody,
		address("d3"):                                noBody,
		address("ee"):                                noBody,
		"5":                                          noBody,
		"0":                                          noBody,
		"1.1.5001":                                   noBody,
	} {
		got := g.Get(t, "/api/v1/contracts/"+path)
		if want == noBody {
			checkProblem(t, got, http.StatusNotFound, messages("Not found"))
			continue
		}
		if got.Status != http.StatusOK || got.Body != want || got.Header.Get("Cache-Control") != "public, max-age=1" {
			t.Errorf("%s: %d, Cache-Control %s\n%s\nwant %s", path, got.Status, got.Header.Get("Cache-Control"),
				got.Body, want)
		}
	}
	for path, want := range map[string]string{
		address("dd"): `"bytecode":"0x","runtime_bytecode":"0x"}`, // the file was created after the contract
		address("d3") +
			// the historical version selects one of the contracts with the address
			"?timestamp=5": `"bytecode":"0x","runtime_bytecode":"0x"}`,
		"5003": `"file_id":"0.0.111"`,
	} {
		if got := g.Get(t, "/api/v1/contracts/"+path); got.Status != http.StatusOK ||
			!strings.Contains(got.Body, want) {
			t.Errorf("%s: %d %s\nlacks %s", path, got.Status, got.Body, want)
		}
	}
}

// TestContracts checks which contracts requests select, and the next links.
func TestContracts(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, contracts.Shared(t))
	next := func(query string) string { return "/api/v1/contracts?" + query }
	for query, want := range map[string]string{
		"":                  "5 4 3 2 1 null",
		"limit=2":           "5 4 " + next("limit=2&contract.id=lt:0.0.5004"),
		"limit=2&order=asc": "1 2 " + next("limit=2&order=asc&contract.id=gt:0.0.5002"),
		"limit=1&contract.id=lt:5005&contract.id=gt:5002": "4 " +
			next("limit=1&contract.id=gt:5002&contract.id=lt:0.0.5004"),
		"limit=1&contract.id=lt:5005&contract.id=gt:5003": "4 null",
		"limit=1&contract.id=5001&contract.id=5003": "3 " +
			next("limit=1&contract.id=5001&contract.id=5003"),
		"contract.id=ne:5001&contract.id=ne:5005":               "4 3 2 null",
		"contract.id=gte:5002&contract.id=lte:5003":             "3 2 null",
		"contract.id=" + address("c1"):                          "1 null",
		"contract.id=0.0." + address("c1"):                      "1 null",
		"contract.id=9.9." + address("c1"):                      "1 null",
		"contract.id=" + address("C1") + "&contract.id=5002":    "2 1 null",
		"contract.id=" + address("c1") + "&contract.id=gt:5001": "null",
		"contract.id=" + address("ee"):                          "null",
		"contract.id=" + address("ee") + "&contract.id=5002":    "2 null",
		"contract.id=" + address("dd"):                          "null",
		"contract.id=" + address("ac"):                          "null",
		"contract.id=0000000000000000000000000000000000001389":  "1 null",
		"contract.id=5006":                                      "null",
	} {
		got := g.Get(t, next(query))
		var body struct {
			Contracts []struct {
				ID string `json:"contract_id"`
			}
		}
		testenv.Decode(t, got.Body, &body)
		var list []string
		for _, c := range body.Contracts {
			list = append(list, strings.TrimPrefix(c.ID, "0.0.500"))
		}
		if is := strings.Join(append(list, nextOf(t, got)), " "); is != want {
			t.Errorf("%s\n is %s\nnot %s", query, is, want)
		}
	}
	if got := g.Get(t, next("contract.id=5001")); got.Body != `{"contracts":[`+contract5001+
		`}],"links":{"next":null}}` || got.Header.Get("Cache-Control") != "public, max-age=10" {
		t.Errorf("Cache-Control %s, %s", got.Header.Get("Cache-Control"), got.Body)
	}
}

// TestContractState checks which slots requests select, their values, and the next links.
func TestContractState(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, contracts.Shared(t))
	next := func(query string) string { return "/api/v1/contracts/5001/state?" + query }
	for path, want := range map[string]string{
		"5001":            "1=10 2=0 100=null null",
		"5001?order=desc": "100=null 2=0 1=10 null",
		"5001?limit=2":    "1=10 2=0 " + next("limit=2&slot=gt:"+wordOf("2")),
		"5001?limit=1&order=desc&slot=lte:0x2": "2=0 " +
			next("limit=1&order=desc&slot=lt:"+wordOf("2")),
		"5001?limit=1&slot=gte:1&slot=lt:2": "1=10 null",
		"5001?limit=1&slot=gte:1&slot=lt:3": "1=10 " +
			next("limit=1&slot=lt:3&slot=gt:"+wordOf("1")),
		"5001?limit=1&slot=2":                      "2=0 " + next("limit=1&slot=2"),
		"5001?slot=0x0100&slot=" + wordOf("1")[2:]: "1=10 100=null null",
		"5001?slot=gt:1&slot=gt:02":                "100=null null",
		"5001?slot=lt:2&slot=lt:0100":              "1=10 null",
		"5001?slot=1&slot=gt:1":                    "null",
		"5001?timestamp=11":                        "1=a 100=63 2=0 null",
		"5001?timestamp=lt:11":                     "1=a 2=0 null",
		"5001?timestamp=gt:10":                     "1=b 100=63 null",
		"5001?timestamp=gt:10&timestamp=lt:12":     "1=a 100=63 null",
		"5001?timestamp=12&timestamp=10":           "1=a 2=0 null",
		"5001?timestamp=9":                         "null",
		"5001?timestamp=50&slot=gt:0001":           "100=63 2=0 null",
		"5001?timestamp=50&slot=gt:0100&slot=gt:1": "2=0 null",
		"5001?timestamp=50&slot=lt:02&slot=lt:03":  "1=b 100=63 null",
		"5001?timestamp=50&slot=0x000100":          "100=63 null",
		"5001?timestamp=50&limit=2": "1=b 100=63 " +
			next("timestamp=50&limit=2&slot=gt:"+wordOf("100")),
		"5001?timestamp=50&limit=2&slot=gt:" + wordOf("100")[2:]: "2=0 null",
		"5001?timestamp=50&order=desc&limit=1": "2=0 " +
			next("timestamp=50&order=desc&limit=1&slot=lt:"+wordOf("2")),
		"5001?timestamp=50&limit=1&slot=lte:02&slot=gt:01": "100=63 " +
			next("timestamp=50&limit=1&slot=lte:02&slot=gt:"+wordOf("100")),
		address("c1"):                     "1=10 2=0 100=null null",
		"5006":                            "0=5 null",
		"3." + address("ac"):              "0=5 null",
		address("dd"):                     "null",
		address("ee"):                     "null",
		address("ee") + "?timestamp=ne:5": "null",
		"77":                              "null",
		"0":                               "null",
	} {
		id, query, _ := strings.Cut(path, "?")
		got := g.Get(t, "/api/v1/contracts/"+id+"/state?"+query)
		var body struct {
			State []struct {
				Slot  string
				Value *string
			}
		}
		testenv.Decode(t, got.Body, &body)
		short := func(word string) string {
			if len(word) != 66 {
				t.Errorf("%s: %s is no word", path, word)
			}
			if digits := strings.TrimLeft(word[2:], "0"); digits != "" {
				return digits
			}
			return "0"
		}
		var list []string
		for _, s := range body.State {
			value := "null"
			if s.Value != nil {
				value = short(*s.Value)
			}
			list = append(list, short(s.Slot)+"="+value)
		}
		if is := strings.Join(append(list, nextOf(t, got)), " "); is != want {
			t.Errorf("%s\n is %s\nnot %s", path, is, want)
		}
	}
	want := `{"state":[{"address":"0x` + address("c1") +
		`","contract_id":"0.0.5001","timestamp":"11.000000001","slot":"` + wordOf("1") + `","value":"` + wordOf("10") +
		`"}],"links":{"next":null}}`
	if got := g.Get(t, next("slot=1&limit=9")); got.Body != want ||
		got.Header.Get("Cache-Control") != "public, max-age=1" {
		t.Errorf("Cache-Control %s:\n%s", got.Header.Get("Cache-Control"), testenv.Diff(want, got.Body))
	}
}

// logsOf returns the positions of logs, by second and index, and the next link.
func logsOf(t *testing.T, got *testenv.Response) string {
	t.Helper()
	var body struct {
		Logs []struct {
			Timestamp string
			Index     int
		}
	}
	testenv.Decode(t, got.Body, &body)
	var list []string
	for _, l := range body.Logs {
		second := strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(l.Timestamp, "17000000"), ".000000000"), "0")
		list = append(list, second+"."+string(rune('0'+l.Index)))
	}
	return strings.Join(append(list, nextOf(t, got)), " ")
}

// seconds expands the times of requests: @3 is second 3.
func seconds(text string) string {
	return strings.NewReplacer("@20", "1700000020.000000000", "@1", "1700000001.000000000", "@2",
		"1700000002.000000000", "@3", "1700000003.000000000").Replace(text)
}

// TestContractLogs checks which logs requests select, and the next links.
func TestContractLogs(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, contracts.Shared(t))
	hash := strings.Repeat("01", 32)
	for path, want := range map[string]string{
		"results/logs":   "20.0 3.2 3.1 3.0 2.0 1.2 1.1 1.0 null",
		"logs":           "20.0 3.2 3.1 3.0 2.0 1.2 1.1 1.0 null",
		"logs?order=asc": "1.0 1.1 1.2 2.0 3.0 3.1 3.2 20.0 null",
		"logs?limit=2":   "20.0 3.2 /api/v1/contracts/logs?limit=2&timestamp=lte:@3&index=lt:2",
		"results/logs?limit=2&timestamp=lte:@3&index=lt:2": "3.1 3.0 " +
			"/api/v1/contracts/results/logs?limit=2&timestamp=lte:@3&index=lt:0",
		"results/logs?limit=2&timestamp=lte:@3&index=lt:0": "2.0 1.2 " +
			"/api/v1/contracts/results/logs?limit=2&timestamp=lte:@1&index=lt:2",
		"results/logs?order=asc&limit=2": "1.0 1.1 " +
			"/api/v1/contracts/results/logs?order=asc&limit=2&timestamp=gte:@1&index=gt:1",
		"results/logs?order=asc&timestamp=gte:@1&index=gt:1": "1.2 2.0 3.0 3.1 3.2 " +
			"20.0 null",
		"results/logs?timestamp=gte:@1&timestamp=lte:@3&index=gte:1&index=lte:1": "3.1 3.0 2.0 1.2 1.1 null",
		"results/logs?timestamp=gte:@1&timestamp=lt:@3&index=gte:1":              "2.0 1.2 1.1 null",
		"results/logs?timestamp=gt:@1&timestamp=lte:@3&index=lt:1":               "3.0 2.0 null",
		"results/logs?timestamp=@3":                                              "3.2 3.1 3.0 null",
		"results/logs?timestamp=@3&limit=1": "3.2 " +
			"/api/v1/contracts/results/logs?timestamp=@3&limit=1&index=lt:2",
		"results/logs?timestamp=@3&index=gt:0&index=lt:2":      "3.1 null",
		"results/logs?timestamp=@3&index=1&limit=1":            "3.1 null",
		"results/logs?timestamp=@3&index=%201":                 "3.1 null",
		"results/logs?timestamp=@3&index=gte:+1&index=lt:%2B2": "3.1 null",
		"results/logs?timestamp=gte:@3&timestamp=lte:@3&index=lt:2&limit=1": "3.1 " +
			"/api/v1/contracts/results/logs?timestamp=gte:@3&timestamp=lte:@3&limit=1&index=lt:1",
		"results/logs?timestamp=gte:@3&timestamp=lte:@3&index=gt:0&index=lt:2&limit=1": "3.1 null",
		"results/logs?timestamp=@3&index=9223372036854775807":                          "null",
		"results/logs?timestamp=gte:@3&timestamp=lte:@1&index=gte:0":                   "null",
		"results/logs?timestamp=gt:@1&timestamp=lt:@1":                                 "null",
		"results/logs?timestamp=gte:@2&limit=1": "20.0 " +
			"/api/v1/contracts/results/logs?timestamp=gte:@2&timestamp=lte:@20&limit=1&index=lt:0",
		"results/logs?timestamp=@3&topic0=5a5b":                                             "3.2 3.0 null",
		"results/logs?timestamp=gte:@1&timestamp=lt:@20&topic0=0x5a5b&topic1=0":             "1.0 null",
		"results/logs?timestamp=gte:@1&timestamp=lt:@20&topic0=0x5a5b&topic1=0&topic1=0002": "1.2 1.0 null",
		"results/logs?timestamp=gte:@1&timestamp=lt:@20&topic0=dd&topic0=5A5B&topic1=0":     "3.1 1.0 null",
		"results/logs?timestamp=gte:@1&timestamp=lt:@20&topic3=" + wordOf("1"):              "1.0 null",
		"results/logs?timestamp=gt:1&timestamp=lt:604801.000000001&topic0=5a5b":             "null",
		"results/logs?transaction.hash=" + hash:                                             "3.2 3.1 3.0 null",
		"results/logs?order=asc&transaction.hash=0x" + hash:                                 "1.0 1.1 1.2 null",
		"results/logs?transaction.hash=" + hash + "&timestamp=lt:@3":                        "1.2 1.1 1.0 null",
		"results/logs?transaction.hash=" + hash + strings.Repeat("aa", 16):                  "1.2 1.1 1.0 null",
		"results/logs?transaction.hash=" + hash + strings.Repeat("cc", 16):                  "null",
		"results/logs?transaction.hash=" + strings.Repeat("09", 32):                         "null",
		"results/logs?transaction.hash=" + strings.Repeat("08", 32):                         "null",
		"results/logs?limit=1&transaction.hash=" +
			hash: "3.2 /api/v1/contracts/results/logs?limit=1&transaction.hash=" + hash +
			"&timestamp=lte:@3&index=lt:2",
		"results/logs?limit=1&timestamp=lte:@3&index=lt:2&transaction.hash=" +
			hash: "3.1 /api/v1/contracts/results/logs?limit=1&transaction.hash=" + hash +
			"&timestamp=lte:@3&index=lt:1",
		"5001/results/logs": "20.0 3.1 3.0 1.2 1.0 null",
		"5001/results/logs?order=asc&limit=2": "1.0 1.2 /api/v1/contracts/5001/results/logs?order=asc&limit=2&" +
			"timestamp=gte:@1&index=gt:2",
		"8001/results/logs": "2.0 null",
		"0x" + address("c1") + "/results/logs?timestamp=lte:@3&index=lte:0": "3.0 1.2 1.0 null",
		"5001/results/logs?timestamp=gte:@1&timestamp=lt:@20&topic1=0":      "3.1 1.0 null",
		address("ee") + "/results/logs":                                     "null",
		address("ee") + "/results/logs?index=gt:1":                          "null",
		address("dd") + "/results/logs?timestamp=ne:@1":                     "null",
		"0/results/logs?index=gt:1":                                         "null",
		"0.0.0/results/logs":                                                "null",
		address("00") + "/results/logs":                                     "null",
	} {
		if is := logsOf(t, g.Get(t, "/api/v1/contracts/"+seconds(path))); is != seconds(want) {
			t.Errorf("%s\n is %s\nnot %s", path, is, want)
		}
	}
}

// TestContractLog checks the response of logs.
func TestContractLog(t *testing.T) {
	t.Parallel()
	url := contracts.Shared(t)
	g := testenv.Over(t, url)
	for path, want := range map[string]string{
		"@1&index=0": `{"address":"0x` + address("c1") + `","bloom":"0x40","contract_id":"0.0.5001","data":"` +
			wordOf("07e5") + `","index":0,"topics":["` + wordOf("5a5b") + `","` +
			wordOf("") + `","` + wordOf("01") + `"],"block_hash":"0x` + strings.Repeat("a0", 48) +
			`","block_number":0,"root_contract_id":null,"timestamp":"1700000001.000000000",` +
			`"transaction_hash":"0x` + strings.Repeat("01", 32) + `","transaction_index":1}`,
		"@2": `{"address":"0x0000000000000000000000000000000000001f41","bloom":"0x","contract_id":"0.0.8001","data":"` +
			wordOf("01") + `","index":0,"topics":["` + wordOf("dd") + `","` +
			wordOf("01") + `","` + wordOf("02") +
			`"],"block_hash":"0x","block_number":null,"root_contract_id":"0.0.8001",` +
			`"timestamp":"1700000002.000000000",` +
			`"transaction_hash":"0x","transaction_index":null}`,
		// The block ends more than 10 s after the log.
		"@20": `{"address":"0x` + address("c1") +
			`","bloom":"0x","contract_id":"0.0.5001","data":"0x","index":0,"topics":[],"block_hash":"0x",` +
			`"block_number":null,` +
			`"root_contract_id":null,"timestamp":"1700000020.000000000","transaction_hash":"0x` +
			strings.Repeat("04", 32) + `","transaction_index":0}`,
	} {
		path = seconds("/api/v1/contracts/results/logs?timestamp=" + path)
		got := g.Get(t, path)
		if want = `{"logs":[` + want + `],"links":{"next":null}}`; got.Body != want ||
			got.Header.Get("Cache-Control") != "public, max-age=10" {
			t.Errorf("%s: Cache-Control %s:\n%s", path, got.Header.Get("Cache-Control"), testenv.Diff(want, got.Body))
		}
	}
}

// TestContractLogsBounded checks how open timestamp ranges are bounded: all logs are long before the tests' current
// time.
func TestContractLogsBounded(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, contracts.Shared(t), func(o *testenv.Options) {
		o.REST.BindTimestampRange, o.REST.MaxTransactionsRange = true, 2*time.Second
	})
	for path, want := range map[string]string{
		"results/logs": "null",
		"results/logs?order=asc": "1.0 1.1 1.2 2.0 " +
			"/api/v1/contracts/results/logs?order=asc&timestamp=gte:1700000002.999999999&index=gt:0",
		"results/logs?order=asc&limit=2": "1.0 1.1 " +
			"/api/v1/contracts/results/logs?order=asc&limit=2&timestamp=gte:@1&index=gt:1",
		"results/logs?timestamp=lte:@3": "3.2 3.1 3.0 2.0 " +
			"/api/v1/contracts/results/logs?timestamp=lte:1700000001.000000001&index=lt:0",
		"results/logs?timestamp=lte:@3&index=lt:1": "3.0 2.0 " +
			"/api/v1/contracts/results/logs?timestamp=lte:1700000001.000000001&index=lt:0",
		"results/logs?timestamp=@3":                                           "3.2 3.1 3.0 null",
		"results/logs?timestamp=gt:@2&timestamp=lt:@3":                        "null",
		"results/logs?timestamp=gt:@3&timestamp=lt:@1":                        "null",
		"5002/results/logs":                                                   "3.2 1.1 null",
		"results/logs?order=asc&transaction.hash=" + strings.Repeat("01", 32): "1.0 1.1 1.2 null",
	} {
		if is := logsOf(t, g.Get(t, "/api/v1/contracts/"+seconds(path))); is != seconds(want) {
			t.Errorf("%s\n is %s\nnot %s", path, is, want)
		}
	}
}

// TestContractProblems checks the problems of invalid requests, and which of several errors is reported.
func TestContractProblems(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, contracts.Shared(t), func(o *testenv.Options) { o.REST.MaxRepeats = 8 })
	topics := func(text string) string { return "Cannot search topics without a valid timestamp range: " + text }
	missing := address("ee")
	for path, want := range map[string][]string{
		"?contract.id=0x" + missing:  {"Invalid parameter: contract.id"},
		"?contract.id=gt:" + missing: {"Invalid parameter: contract.id"},
		"?contract.id=x&limit=0&foo=1&order=up": {
			"Invalid parameter: contract.id",
			"Invalid parameter: limit", "Invalid parameter: order", "Unknown query parameter: foo",
		},
		"?contract.id=5001&contract.id=1234567890123":             {"Invalid parameter: contractid"},
		"?contract.id=1.0000000000000000000000000000000000000001": {"Invalid parameter: contractid"},
		"/abc?foo=1":        {"Invalid parameter: contractid"},
		"/1.2.3.4":          {"Invalid parameter: contractid"},
		"/0.0.0x" + missing: {"Invalid parameter: contractid"},
		"/" + missing + "0": {"Invalid parameter: contractid"},
		"/-1?foo=1":         {"Unknown query parameter: foo"},
		"/-1":               {`Invalid entity ID "0.0.-1"`},
		"/1234567890123":    {`Invalid entity ID "0.0.1234567890123"`},
		"/70000.1":          {`Invalid entity ID "0.70000.1"`},
		"/5001?timestamp=x&timestamp=1.1234567890": {"Invalid parameter: timestamp", "Invalid parameter: timestamp"},
		"/5001?limit=1":         {"Unknown query parameter: limit"},
		"/results/state":        {"Invalid parameter: contractid"},
		"/results/results/logs": {"Invalid parameter: contractid"},
		"/abc/state?slot=x":     {"Invalid parameter: contractid"},
		"/-1/state?slot=x":      {"Invalid parameter: slot"},
		"/-1/state":             {"Invalid parameter: contractid"},
		"/1.0000000000000000000000000000000000000001/state": {"Invalid parameter: contractid"},
		"/5001/state?slot=ne:1&slot=&slot=0x": {
			"Invalid parameter: slot",
			"Invalid parameter: slot", "Invalid parameter: slot",
		},
		"/5001/state?timestamp=ne:1": {"Not equals (ne) operator is not " +
			"supported for timestamp"},
		"/" + address("c1") +
			"/state?timestamp=ne:1": {"Not equals (ne) operator is not supported for timestamp"},
		"/abc/results/logs?index=x":   {"Invalid parameter: contractid"},
		"/-1/results/logs?index=gt:1": {"Invalid parameter: contractid"},
		"/-1/results/logs?topic0=1": {topics("No timestamp range or eq " +
			"operator provided")},
		"/5001/results/logs?transaction.hash=" + strings.Repeat("01",
			32): {"Unknown query parameter: transaction.hash"},
		"/5001/results/logs?topic0=gt:1&topic4=1&index=-1&index=1.5": {
			"Invalid parameter: topic0",
			"Invalid parameter: index", "Invalid parameter: index", "Unknown query parameter: topic4",
		},
		"/results/logs?topic0=0x":              {"Invalid parameter: topic0"},
		"/results/logs?transaction.hash=gt:01": {"Invalid parameter: transaction.hash"},
		"/logs?topic0=1": {topics("No timestamp range or eq " +
			"operator provided")},
		"/logs?topic0=1&timestamp=ne:1&timestamp=gt:1&timestamp=gt:2": {topics("Not equals operator not " +
			"supported for timestamp param")},
		"/logs?topic0=1&timestamp=gte:1&timestamp=gt:2": {topics("Multiple gt or gte operators not permitted for " +
			"timestamp param")},
		"/logs?topic0=1&timestamp=lte:1&timestamp=lt:2": {topics("Multiple lt or lte operators not permitted for " +
			"timestamp param")},
		"/logs?topic0=1&timestamp=1&timestamp=lt:2": {topics("Cannot combine eq with ne, " +
			"gt, gte, lt, or lte for timestamp param")},
		"/logs?topic0=1&timestamp=lt:2": {topics("Timestamp range must have " +
			"gt (or gte) and lt (or lte), or eq operator")},
		"/logs?topic0=1&timestamp=gt:1&timestamp=lte:604802": {topics("Timestamp range by the " +
			"lower and upper bounds must be positive and within 7d")},
		"/logs?topic0=1&timestamp=gt:1&timestamp=lt:604801.000000002": {topics("Timestamp range by the " +
			"lower and upper bounds must be positive and within 7d")},
		"/logs?topic0=1&timestamp=1&timestamp=2": {"Only one equal (eq) operator is " +
			"allowed for timestamp"},
		"/logs?topic0=1&timestamp=gte:1&timestamp=lte:1&index=gt:1&index=gt:2": {"Only one gt/gte operator is " +
			"allowed for index"},
		"/logs?timestamp=1&index=1&index=2": {"Only one equal (eq) operator is " +
			"allowed for index"},
		"/logs?index=lt:1&timestamp=lt:1&timestamp=lte:2&index=lte:2": {"Only one lt/lte operator is " +
			"allowed for index"},
		"/logs?timestamp=gt:1&index=lt:1&index=lte:2&timestamp=gte:2": {"Only one gt/gte operator is " +
			"allowed for timestamp"},
		"/logs?timestamp=ne:1": {"Not equal (ne) operator is not " +
			"supported for timestamp"},
		"/logs?timestamp=1&index=ne:1": {"Not equal (ne) operator is not " +
			"supported for index"},
		"/logs?index=1":                 {"timestamp must have eq operator"},
		"/logs?index=1&timestamp=gte:1": {"timestamp must have eq operator"},
		"/logs?timestamp=1&timestamp=gt:1": {"Can't support both range and " +
			"equal for timestamp"},
		"/logs?timestamp=1&index=1&index=gt:1": {"Can't support both range and " +
			"equal for index"},
		"/logs?index=gt:1": {"index without a timestamp " +
			"parameter filter"},
		"/logs?index=gt:1&timestamp=gt:1":  {"timestamp must have gte or eq operator"},
		"/logs?index=gt:1&timestamp=lte:1": {"timestamp must have gte or eq operator"},
		"/logs?index=lt:1&timestamp=lt:1":  {"timestamp must have lte or eq operator"},
		"/logs?index=lt:1&timestamp=gte:1": {"timestamp must have lte or eq operator"},
		"/" + address("c1") +
			"/results/logs?index=lt:1": {"index without a timestamp parameter filter"},
		"/logs?transaction.hash=" + strings.Repeat("01", 32) + "&transaction.hash=" + strings.Repeat("02", 32) +
			"&timestamp=ne:1": {"Only one transaction.hash filter is allowed"},
	} {
		checkProblem(t, g.Get(t, "/api/v1/contracts"+path), http.StatusBadRequest, messages(want...))
	}
	for _, path := range []string{"/state", "/results/logs"} {
		checkProblem(t, g.Get(t, "/api/v1/contracts/"+address("d3")+path), http.StatusInternalServerError,
			messages("Internal error"))
	}
}

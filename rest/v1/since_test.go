package v1_test

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/fees/feepb"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/pgtest"
)

// simpleFees returns a simple fee schedule with the given price of gas in tinycents.
func simpleFees(tinycents int64) []byte {
	b, err := proto.Marshal(&feepb.FeeSchedule{Extras: []*feepb.ExtraFee{
		{Name: feepb.Extra_KEYS, Fee: 9}, {Name: feepb.Extra_GAS, Fee: tinycents}, {Name: feepb.Extra_GAS, Fee: 1},
	}})
	if err != nil {
		panic(err) // the test is wrong
	}
	return b
}

// oldFees returns a fee schedule of file 0.0.111 with a price of gas in thousandths of tinycents.
func oldFees(gas int64) []byte {
	b, err := proto.Marshal(&services.CurrentAndNextFeeSchedule{CurrentFeeSchedule: &services.FeeSchedule{
		TransactionFeeSchedule: []*services.TransactionFeeSchedule{{
			HederaFunctionality: services.HederaFunctionality_ContractCall,
			Fees:                []*services.FeeData{{Servicedata: &services.FeeComponents{Gas: gas}}},
		}},
		ExpiryTime: &services.TimestampSeconds{Seconds: 9e9},
	}})
	if err != nil {
		panic(err) // the test is wrong
	}
	return b
}

// hbarRates returns exchange rates at which an hbar is worth 12 cents.
func hbarRates() []byte {
	b, err := proto.Marshal(&services.ExchangeRateSet{CurrentRate: &services.ExchangeRate{
		HbarEquiv: 1, CentEquiv: 12, ExpirationTime: &services.TimestampSeconds{Seconds: 9e9},
	}})
	if err != nil {
		panic(err) // the test is wrong
	}
	return b
}

const insertFile = `insert into file_data (entity_id, consensus_timestamp, file_data, transaction_type) values ($1, ` +
	`$2, $3, 17)`

// feeFiles has versions of the fee files around the time at which mainnet began to use file 0.0.113, and two results
// around a change of the price.
var feeFiles = testenv.Rows("feefiles", func(b *pgx.Batch) {
	b.Queue(insertFile, 112, 1, hbarRates())
	b.Queue(insertFile, 112, 1700000000000000001, hbarRates()) // inside all bounds, which apply to both files
	b.Queue(insertFile, 111, 1700000000000000000, oldFees(240_000))
	b.Queue(insertFile, 113, 1779000000000000000, simpleFees(1200))
	b.Queue(insertFile, 113, 1782900000000000001, simpleFees(852))
	b.Queue(insertFile, 113, 1782990000000000000, append(simpleFees(99), 0x78, 1)) // with an unknown field
	for _, at := range []int64{1779296400389248895, 1779296400389248896, 1782900000000000000, 1782900000000000002} {
		b.Queue(`insert into contract_result (consensus_timestamp, contract_id, sender_id, payer_account_id, function_parameters, gas_limit, transaction_hash, transaction_nonce,
transaction_result) values ($1, 3001, 1001, 1001, '', 1, '', 0, 22)`, at)
	}
})

// gasFees returns the body with the same price of gas for all functions.
func gasFees(gas int64, at string) string {
	return fmt.Sprintf(`{"fees":[{"gas":%[1]d,"transaction_type":"ContractCall"},{"gas":%[1]d,`+
		`"transaction_type":"ContractCreate"},`+
		`{"gas":%[1]d,"transaction_type":"EthereumTransaction"}],"timestamp":"%[2]s"}`, gas, at)
}

func feesOf(name string) testenv.Option {
	return func(o *testenv.Options) {
		var err error
		if o.Storage.Fees, err = ledger.FeeFilesOf(name, "0x128"); err != nil {
			panic(err) // the test is wrong
		}
	}
}

// TestFeeFileOfTime tests which file has the price of gas, and which version of it is used.
func TestFeeFileOfTime(t *testing.T) {
	t.Parallel()
	const old, first, second = "1700000000.000000000", "1779000000.000000000", "1782900000.000000001"
	main, test := testenv.Over(t, feeFiles.Shared(t), feesOf("MAINNET")),
		testenv.Over(t, feeFiles.Shared(t), feesOf(""))
	for _, c := range []struct {
		g           *testenv.Gateway
		query, want string
	}{
		{main, "?timestamp=1779296400.389248895", gasFees(20, old)},
		{main, "?timestamp=lt:1779296400.389248896", gasFees(20, old)},
		{main, "?timestamp=1779296400.389248896", gasFees(100, first)},
		{main, "?timestamp=lte:1779296400.389248896", gasFees(100, first)},
		{main, "?timestamp=gt:1700000000", gasFees(71, second)},
		{main, "", gasFees(71, second)},
		{main, "?timestamp=gte:1782990000", notFoundBody("File 0.0.113 not found")},
		{main, "?timestamp=1600000000", notFoundBody("File 0.0.111 not found")},
		{main, "?timestamp=gte:1700000001&timestamp=lte:1779000000", notFoundBody("File 0.0.111 not found")},
		// Without the name of a network, the other file answers if the first has no valid version.
		{test, "?timestamp=1779000000", gasFees(100, first)},
		{test, "?timestamp=1777000000", gasFees(20, old)},
		{test, "?timestamp=gte:1700000000&timestamp=lt:1779000000", gasFees(20, old)},
		{test, "?timestamp=gte:1778000000&timestamp=lt:1779000000", notFoundBody("File 0.0.113 not found")},
	} {
		if got := c.g.Get(t, "/api/v1/network/fees"+c.query); got.Body != c.want {
			t.Errorf("%s: %s, want %s", c.query, got.Body, c.want)
		}
	}
	if got := main.Query(t,
		`{ network { fees { fileId } old: fees(at: {lt: "1779296400.389248896"}) { fileId timestamp } } }`,
		nil).Body; got !=
		`{"data":{"network":{"fees":{"fileId":"0.0.113"},"old":{"fileId":"0.0.111","timestamp":"`+old+`"}}}}` {
		t.Error(got)
	}
}

// TestGasPriceOfTime tests that the gas price of results depends on their own time only, in any order of requests and
// with caches.
func TestGasPriceOfTime(t *testing.T) {
	t.Parallel()
	want := []string{"0x14", "0x64", "0x64", "0x47"}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2, 1, 0, 3, 2}} {
		g := testenv.Over(t, feeFiles.Shared(t), feesOf("MAINNET"), testenv.Cached,
			func(o *testenv.Options) {
				o.Storage.Cache = true
			})
		for _, i := range order {
			at := []string{
				"1779296400.389248895", "1779296400.389248896", "1782900000.000000000",
				"1782900000.000000002",
			}[i]
			if got := g.Get(t, "/api/v1/contracts/results?timestamp="+at); !strings.Contains(got.Body,
				`"gas_price":"`+want[i]+`"`) {
				t.Errorf("order %v, result %d: %s, want a price of %s", order, i, got.Body, want[i])
			}
		}
	}
}

const transferTopic = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

// synthetic has a token transfer of 0.0.1009, five logs at one time of which the third is a wildcard, and a
// transaction with a wildcard log only.
var synthetic = testenv.Rows("synthetic", func(b *pgx.Batch) {
	b.Queue(insertFile, 112, 1, hbarRates())
	b.Queue(insertFile, 113, 2, simpleFees(852))
	b.Queue(`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index, gas_used)
values ('a', 1, 1, repeat('ab', 48), repeat('00', 48), 1784900000000000000, 1784900300000000000, 3, 0, 6, '', 77, 300000)`)
	for i, second := range []int64{1784900000, 1784900100, 1784900200} {
		at := second*1e9 + 5
		b.Queue(`insert into transaction (consensus_timestamp, payer_account_id, valid_start_ns, type, result, `+
			`nonce, entity_id) values ($1, 1001, $2, 14, 22, 0, null)`, at, at-5)
		b.Queue(`insert into transaction_hash (consensus_timestamp, hash, payer_account_id) values ($1, `+
			`decode(repeat($2, 32), 'hex'), 1001)`, at, fmt.Sprintf("4%d", i))
	}
	log := func(at, index, contract int64, topic3 any) {
		topic, _ := hex.DecodeString(transferTopic)
		b.Queue(`insert into contract_log (consensus_timestamp, index, contract_id, root_contract_id, payer_account_id, bloom, data, topic0, topic1, topic2, topic3,
transaction_hash, transaction_index, synthetic) values ($1, $2, $3, null, 1001, '', '\x64', $4, '\x03e9', '\x03ea', $5, decode(repeat('40', 32), 'hex'), 4, true)`,
			at*1e9+5, index, contract, topic, topic3)
	}
	marker := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	log(1784900000, 0, 1009, nil)
	for i := range int64(5) {
		if i == 2 {
			log(1784900100, i, 1010, marker)
		} else {
			log(1784900100, i, 1010, []byte{byte(i)})
		}
	}
	log(1784900200, 0, 1011, marker)
})

// syntheticBody is the response with the token transfer of 0.0.1009.
var syntheticBody = `{"address":"0x00000000000000000000000000000000000003f1","amount":null,"bloom":"0x",` +
	`"call_result":"0x","child":false,"contract_id":"0.0.1009","created_contract_ids":[],` +
	`"error_message":null,"from":"0x00000000000000000000000000000000000003e9","function_parameters":"0x",` +
	`"gas_consumed":null,"gas_limit":0,"gas_used":null,` +
	`"timestamp":"1784900000.000000005","to":"0x00000000000000000000000000000000000003f1","hash":"0x` +
	strings.Repeat("40", 32) + `","block_hash":"0x` + strings.Repeat("ab", 48) + `","block_number":77,` +
	`"logs":[{"address":"0x00000000000000000000000000000000000003f1","bloom":"0x","contract_id":"0.0.1009","data":"0x` +
	strings.Repeat("0", 62) + `64","index":0,` +
	`"topics":["0x` + transferTopic + `","0x` + strings.Repeat("0", 60) + `03e9","0x` + strings.Repeat("0", 60) +
	`03ea"]}],` +
	`"result":"SUCCESS","transaction_index":4,"state_changes":[],"status":"0x1","failed_initcode":null,` +
	`"access_list":[],"block_gas_used":300000,"chain_id":"0x128",` +
	`"gas_price":"0x47","max_fee_per_gas":null,"max_priority_fee_per_gas":null,"r":null,"s":null,"type":0,"v":null,` +
	`"nonce":null}`

// TestSyntheticResults tests the single look-ups and the lists of results that are derived from logs.
func TestSyntheticResults(t *testing.T) {
	t.Parallel()
	g, off := testenv.Over(t, synthetic.Shared(t)),
		testenv.Over(t, synthetic.Shared(t), func(o *testenv.Options) {
			o.SyntheticOff = true
		})
	hash := func(i int) string { return "/api/v1/contracts/results/0x" + strings.Repeat(fmt.Sprintf("4%d", i), 32) }
	const missing = `{"_status":{"messages":[{"message":"Not found"}]}}`
	for path, want := range map[string]string{
		hash(0): syntheticBody, "/api/v1/contracts/results/0.0.1001-1784900000-0": syntheticBody,
		"/api/v1/contracts/1009/results/1784900000.5":             syntheticBody,
		"/api/v1/contracts/results/1784900000.5":                  syntheticBody,
		"/api/v1/contracts/1010/results/1784900000.5":             missing,
		"/api/v1/contracts/results/0.0.1002-1784900000-0":         missing,
		"/api/v1/contracts/results/0.0.1001-1784900000-0?nonce=1": missing,
		hash(2): missing, hash(9): missing,
	} {
		path = strings.Replace(path, "0000.5", "0000.000000005", 1)
		status := http.StatusPartialContent
		if want == missing {
			status = http.StatusNotFound
		}
		if got := g.Get(t, path); got.Status != status || got.Body != want {
			t.Errorf("%s: status %d\n%s, want\n%s", path, got.Status, got.Body, want)
		}
		if got := off.Get(t, path); got.Status != http.StatusNotFound {
			t.Errorf("switched off: %s: status %d: %s", path, got.Status, got.Body)
		}
	}
	for _, path := range []string{
		"/api/v1/contracts/results/0.0.1001-1784900200-0",
		"/api/v1/contracts/1011/results/1784900200.000000005",
	} {
		if got := g.Get(t, path); got.Status != http.StatusPartialContent ||
			!strings.Contains(got.Body, `"logs":[]`) || !strings.Contains(got.Body, `"contract_id":"0.0.1011"`) {
			t.Errorf("a wildcard alone: %s: status %d: %s", path, got.Status, got.Body)
		}
	}
	for path, want := range map[string]string{
		"":                                     "1784900100.000000005 1784900000.000000005",
		"?order=asc&limit=1":                   "1784900000.000000005",
		"?from=1001":                           "",
		"?from=gt:1":                           "",
		"?block.number=77":                     "1784900100.000000005 1784900000.000000005",
		"?block.number=76":                     "",
		"?block.number=77&transaction.index=3": "",
	} {
		if got := fieldsOf(g.Get(t, "/api/v1/contracts/results"+path).Body, "timestamp"); got != want {
			t.Errorf("list%s: %s, want %s", path, got, want)
		}
		if got := fieldsOf(off.Get(t, "/api/v1/contracts/results"+path).Body, "timestamp"); got != "" {
			t.Errorf("switched off: list%s: %s", path, got)
		}
		got := fieldsOf(g.Get(t, "/api/v1/contracts/1009/results"+path).Body, "timestamp")
		if want = "1784900000.000000005"; path != "" && path != "?order=asc&limit=1" && path != "?block.number=77" {
			want = ""
		}
		if got != want {
			t.Errorf("list of a contract%s: %s, want %s", path, got, want)
		}
	}
	short := g.Get(t, "/api/v1/contracts/1009/results").Body
	if want, _, _ := strings.Cut(syntheticBody, `,"block_hash"`); !strings.Contains(short, want+"}") {
		t.Errorf("a row of a contract's list: %s, want %s}", short, want)
	}
	// A trace needs code that ran.
	for _, path := range []string{hash(0), "/api/v1/contracts/results/0.0.1001-1784900000-0"} {
		if got := g.Do(t, http.MethodGet, path+"/opcodes", "",
			"Accept-Encoding: gzip"); got.Status != http.StatusNotFound {
			t.Errorf("%s/opcodes: status %d: %s", path, got.Status, got.Body)
		}
	}
}

// unzip returns the body of a response, which can be compressed.
func unzip(t *testing.T, got *testenv.Response) string {
	t.Helper()
	if got.Header.Get("Content-Encoding") != "gzip" {
		return got.Body
	}
	zip, err := gzip.NewReader(strings.NewReader(got.Body))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fieldsOf returns the texts of all members with a name.
func fieldsOf(body, name string) string {
	var out []string
	for _, part := range strings.Split(body, `"`+name+`":`)[1:] {
		out = append(out, strings.Trim(part[:strings.IndexAny(part, ",}")], `"`))
	}
	return strings.Join(out, " ")
}

// TestWildcardLogs tests that a log for all serials is hidden, takes no place in pages and is not found.
func TestWildcardLogs(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, synthetic.Shared(t))
	for path, want := range map[string]string{
		"/contracts/results/logs?timestamp=1784900100.000000005&limit=3":                        "4 3 1",
		"/contracts/results/logs?timestamp=1784900100.000000005&limit=3&index=lt:1":             "0",
		"/contracts/1010/results/logs?limit=3":                                                  "4 3 1",
		"/contracts/1010/results/logs?order=asc":                                                "0 1 3 4",
		"/contracts/1010/results/logs?timestamp=1784900100.000000005&topic3=0xffffffffffffffff": "",
		"/contracts/1011/results/logs":                                                          "",
		"/contracts/1010/results/1784900100.000000005":                                          "0 1 3 4",
		"/contracts/results/0.0.1001-1784900100-0":                                              "0 1 3 4",
	} {
		body := g.Get(t, "/api/v1"+path).Body
		if got := fieldsOf(body, "index"); got != want {
			t.Errorf("%s: %s, want %s: %s", path, got, want, body)
		}
	}
	if next := g.Get(t,
		"/api/v1/contracts/results/logs?timestamp=1784900100.000000005&limit=3").Body; !strings.Contains(next,
		"index=lt:1") {
		t.Errorf("the link skips rows: %s", next)
	}
}

// prestate has an Ethereum call with which 0.0.1001 pays 10 tinybars to the contract 0.0.1252, which changes a slot,
// and a contract that it creates.
var prestate = testenv.Rows("prestate", func(b *pgx.Batch) {
	const at = int64(1784900000000000005)
	b.Queue(`insert into entity (id, num, realm, shard, type, created_timestamp, timestamp_range, deleted, evm_address, memo, balance, ethereum_nonce) values
(1001, 1001, 0, 0, 'ACCOUNT', 1, '[1,)', false, null, '', 1, 9), (1252, 1252, 0, 0, 'CONTRACT', 1, '[1,)', false, null, '', 1, 1),
(1300, 1300, 0, 0, 'CONTRACT', 1784900000000000005, '[1784900000000000005,)', false, decode(repeat('c3', 20), 'hex'), '', 0, 1),
(1301, 1301, 0, 0, 'ACCOUNT', 1, '[1,)', false, null, '', 1, 1), (98, 98, 0, 0, 'ACCOUNT', 1, '[1,)', false, null, '', 1, 1)`)
	b.Queue(`insert into contract (id, initcode, runtime_bytecode) values (1252, '', '\x6080'), (1300, '', '\x6001')`)
	b.Queue(`insert into record_file (name, load_start, load_end, hash, prev_hash, consensus_start, consensus_end, count, digest_algorithm, version, file_hash, index, gas_used)
values ('a', 1, 1, repeat('ab', 48), repeat('00', 48), 1784900000000000000, 1784900000000000009, 3, 0, 6, '', 77, 300000)`)
	b.Queue(`insert into account_balance (consensus_timestamp, balance, account_id) values (1784890000000000000, 7, 2), (1784890000000000000, 2500000010, 1001),
(1784890000000000000, 24, 1252)`)
	b.Queue(`insert into crypto_transfer (consensus_timestamp, entity_id, amount, payer_account_id) values ` +
		`(1784891000000000000, 1001, -10, 1001)`)
	b.Queue(`insert into transaction (consensus_timestamp, payer_account_id, valid_start_ns, type, result, nonce, `+
		`entity_id) values ($1::bigint, 98, $1::bigint - 5, 50, 22, 0, 1252)`, at)
	b.Queue(`insert into contract_result (consensus_timestamp, contract_id, sender_id, payer_account_id, function_parameters, gas_limit, transaction_hash, transaction_nonce,
transaction_result, call_result, created_contract_ids) values ($1, 1252, 1001, 98, '', 1, decode(repeat('50', 32), 'hex'), 0, 22, '', '{1300}')`, at)
	b.Queue(`insert into contract_transaction (consensus_timestamp, entity_id, contract_ids, payer_account_id) `+
		`select $1::bigint, e, '{1252,98}', 98 from unnest('{1252,98}'::bigint[]) e`, at)
	b.Queue(`insert into contract_transaction_hash (consensus_timestamp, hash, payer_account_id, entity_id, `+
		`transaction_result) values ($1, decode(repeat('50', 32), 'hex'), 98, 1252, 22)`, at)
	b.Queue(`insert into ethereum_transaction (consensus_timestamp, payer_account_id, data, gas_limit, hash, max_gas_allowance, nonce, type, chain_id, signature_r, signature_s, signature_v, recovery_id) values
($1, 98, '', 1, '', 0, 3, 0, '\x0128', '', '', '', 1)`, at)
	b.Queue(`insert into contract_action (consensus_timestamp, payer_account_id, index, call_depth, call_type, call_operation_type, caller, caller_type, gas, gas_used, input,
recipient_contract, recipient_account, result_data, result_data_type, value) values
($1, 98, 0, 0, 1, 1, 1001, 'ACCOUNT', 1, 1, '', 1252, null, '', 11, 10), ($1, 98, 1, 1, 2, 5, 1252, 'CONTRACT', 1, 1, '', 1300, null, '', 11, 0),
($1, 98, 2, 1, 1, 1, 1252, 'CONTRACT', 1, 1, '', null, 1301, '', 12, 99), ($1, 98, 3, 1, 1, 3, 1252, 'CONTRACT', 1, 1, '', null, 1301, '', 11, 99)`, at)
	b.Queue(`insert into contract_state_change (consensus_timestamp, contract_id, payer_account_id, slot, value_read, value_written, migration) values
($1, 1252, 98, '\x01', '\x24', '\x25', false), ($1, 1252, 98, '\x02', '\x07', null, false), ($1, 1252, 98, '\x03', '', '\x', false)`, at)
})

// TestPrestate tests the states before and after a transaction.
func TestPrestate(t *testing.T) {
	t.Parallel()
	off := testenv.Over(t, prestate.Shared(t), func(o *testenv.Options) { o.EVM.Prestate = false })
	g := testenv.Over(t, prestate.Shared(t))
	zeros := func(n int, last string) string { return strings.Repeat("0", n-len(last)) + last }
	account := func(address string, balance int64, code string, nonce int, storage string) string {
		return fmt.Sprintf(`{"address":"0x%s","balance":%d,"code":%s,"nonce":%d,"storage":%s}`, zeros(40, address),
			balance, code, nonce, storage)
	}
	slot := func(key, value string) string { return `"0x` + zeros(64, key) + `":"0x` + zeros(64, value) + `"` }
	path := "/api/v1/contracts/results/0x" + strings.Repeat("50", 32) + "/prestate"
	created := strings.Repeat("c3", 20)
	gzip := "Accept-Encoding: gzip"
	for query, want := range map[string]string{
		"?code=true&storage=true&diff=true": `{"pre":[` + account("3e9", 2500000000, "null", 3, "null") + `,` +
			account("4e4", 24, `"0x6080"`, 0, "{"+slot("1", "24")+"}") + `],"post":[` +
			account("3e9", 2499999990, "null", 4, "null") + `,` +
			account("4e4", 34, `"0x6080"`, 0, "{"+slot("1", "25")+"}") +
			`,` + account(created, 0, `"0x6001"`, 0, "{}") + `]}`,
		"?storage=true": `{"pre":[` + account("3e9", 2500000000, "null", 3, "null") +
			`,` + account("4e4", 24, "null", 0, "{"+slot("1", "24")+","+slot("2", "7")+"}") + `,` +
			account("515", 0, "null", 0, "null") + `],"post":[]}`,
		"?diff=true": `{"pre":[` + account("3e9", 2500000000, "null", 3, "null") + `,` +
			account("4e4", 24, "null", 0, "{}") + `],"post":[` +
			account("3e9", 2499999990, "null", 4, "null") + `,` + account("4e4", 34, "null", 0, "{}") + `,` +
			account(created, 0, "null", 0, "{}") + `]}`,
	} {
		if got := g.Do(t, http.MethodGet, path+query, "", gzip); got.Status != http.StatusOK || unzip(t, got) != want {
			t.Errorf("%s: %d\n%s, want\n%s", query, got.Status, unzip(t, got), want)
		}
	}
	if got := g.Do(t, http.MethodGet, "/api/v1/contracts/results/0.0.98-1784900000-0/prestate", "",
		gzip); got.Status != http.StatusOK {
		t.Errorf("by transaction ID: %d: %s", got.Status, got.Body)
	}
	for _, c := range []struct {
		g      *testenv.Gateway
		path   string
		header []string
		status int
		want   string
	}{
		{off, path, []string{gzip}, 501, callProblem("Not Implemented", "", "")},
		{off, path, []string{"Accept-Encoding: br"}, 501, callProblem("Not Implemented", "", "")},
		{off, path, nil, 400, callProblem("Bad Request",
			"Required request header 'accept-encoding' for method parameter type String is not present", "")},
		{off, path + "?code=maybe", []string{gzip}, 400, callProblem("Bad Request", "Failed to convert 'code'", "")},
		{
			g, path,
			[]string{"Accept-Encoding: br"},
			406, callProblem("Not Acceptable", "Accept-Encoding: gzip header is required", ""),
		},
		{
			g, strings.Replace(path, "50", "51", 1),
			[]string{gzip},
			404, callProblem("Not Found", "Contract transaction hash not found.", ""),
		},
		{
			g, "/api/v1/contracts/results/0.0.98-1784900001-0/prestate",
			[]string{gzip},
			404, callProblem("Not Found", "Transaction not found.", ""),
		},
		{
			g, "/api/v1/contracts/results/x/prestate",
			[]string{gzip},
			400,
			callProblem("Bad Request", "Unsupported ID format: 'x'", ""),
		},
	} {
		if got := c.g.Do(t, http.MethodGet, c.path, "", c.header...); got.Status != c.status ||
			unzip(t, got) != c.want {
			t.Errorf("%s %v: %d %s, want %d %s", c.path, c.header, got.Status, unzip(t, got), c.status, c.want)
		}
	}
	const query = `{ contractResult(at: "1784900000.000000005") { isChild v prestate(diff: true) { pre { entityId ` +
		`nonce entity { entityId } } post { entityId balance } } } }`
	if got := g.Query(t, query, nil).Body; !strings.Contains(got,
		`"isChild":false,"v":"628","prestate":{"pre":[{"entityId":"0.0.1001","nonce":"3",`+
			`"entity":{"entityId":"0.0.1001"}}`) {
		t.Error(got)
	}
	if got := off.Query(t, query, nil).Body; !strings.Contains(got, `"NOT_FOUND"`) {
		t.Errorf("switched off: %s", got)
	}
}

// TestNewTypes tests transactions whose types or response codes are newer than the gateway, or new in 0.167.
func TestNewTypes(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Rows("newtypes", func(b *pgx.Batch) {
		b.Queue(`insert into transaction (consensus_timestamp, payer_account_id, valid_start_ns, type, result, nonce)
select 1784900000000000000 + n, 1001, 1784900000000000000 + n, type, result, 0
from unnest(array[82, 87, 91, 14], array[22, 22, 22, 9999]) with ordinality x (type, result, n)`)
	}).Shared(t))
	for query, want := range map[string]string{
		"?order=asc":                               "UNKNOWN CLPRREDACTMESSAGE CLPRENDPOINTPUBLICATION CRYPTOTRANSFER",
		"?transactiontype=clprRedactMessage":       "CLPRREDACTMESSAGE",
		"?transactiontype=CLPRENDPOINTPUBLICATION": "CLPRENDPOINTPUBLICATION",
		"?result=fail":                             "CRYPTOTRANSFER",
		"?transactiontype=CLPRSUBMITBUNDLE":        "",
	} {
		if got := fieldsOf(g.Get(t, "/api/v1/transactions"+query).Body, "name"); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := g.Get(t, "/api/v1/transactions?result=fail"); fieldsOf(got.Body, "result") != "UNKNOWN" {
		t.Error(got.Body)
	}
	const query = `{ transactions(order: ASC) { nodes { type typeNumber result resultNumber } } }`
	want := `{"data":{"transactions":{"nodes":[{"type":"UNKNOWN","typeNumber":82,"result":"SUCCESS",` +
		`"resultNumber":22},` +
		`{"type":"CLPRREDACTMESSAGE","typeNumber":87,"result":"SUCCESS","resultNumber":22},` +
		`{"type":"CLPRENDPOINTPUBLICATION","typeNumber":91,"result":"SUCCESS","resultNumber":22},` +
		`{"type":"CRYPTOTRANSFER","typeNumber":14,"result":"UNKNOWN","resultNumber":9999}]}}}`
	if got := g.Query(t, query, nil).Body; got != want {
		t.Error(got)
	}
}

// TestRateOfInvalid tests that the rates of traces and prestates count invalid requests.
func TestRateOfInvalid(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, prestate.Shared(t), func(o *testenv.Options) {
		o.EVM.TracesPerSecond, o.EVM.Clock = 1, func() time.Time { return time.Unix(1, 0) }
	})
	limited := callProblem("Too Many Requests", "Requests per second rate limit exceeded", "")
	for _, end := range []string{"/opcodes", "/prestate"} {
		for i, want := range []string{callProblem("Bad Request", "Unsupported ID format: 'x'", ""), limited, limited} {
			id := []string{"x", "x", "0x" + strings.Repeat("50", 32)}[i]
			if got := g.Do(t, http.MethodGet, "/api/v1/contracts/results/"+id+end, "",
				"Accept-Encoding: gzip"); unzip(t, got) != want {
				t.Errorf("%s%s: %d %s, want %s", id, end, got.Status, unzip(t, got), want)
			}
		}
	}
}

// TestRelay sends the requests of a JSON-RPC relay to a demo network that never had file 0.0.111.
func TestRelay(t *testing.T) {
	t.Parallel()
	url := testenv.Filled.Fresh(t)
	pgtest.Exec(t, pgtest.Connect(t, url), `delete from file_data where entity_id = 111`)
	g := testenv.Over(t, url, feesOf("DEMO"))
	get := func(path string) map[string]any {
		t.Helper()
		got := g.Get(t, "/api/v1"+path)
		if got.Status != http.StatusOK && got.Status != http.StatusPartialContent {
			t.Fatalf("%s: status %d: %s", path, got.Status, got.Body)
		}
		var body map[string]any
		testenv.Decode(t, got.Body, &body)
		return body
	}
	price := fmt.Sprint(get("/network/fees")["fees"].([]any)[2].(map[string]any)["gas"])
	block := get("/blocks?limit=1&order=desc")["blocks"].([]any)[0].(map[string]any)
	span := block["timestamp"].(map[string]any)
	within := fmt.Sprintf("timestamp=gte:%s&timestamp=lte:%s", span["from"], span["to"])
	get(fmt.Sprintf("/blocks/%v", block["number"]))
	get("/contracts/results/logs?" + within)
	seen := 0
	for _, path := range []string{"/contracts/results?" + within, "/contracts/results?limit=100"} {
		for _, row := range get(path)["results"].([]any) {
			r := row.(map[string]any)
			one := get(fmt.Sprintf("/contracts/results/%s", r["hash"]))
			for _, member := range []string{
				"from", "gas_limit", "gas_price", "child", "to", "block_number",
				"transaction_index",
			} {
				if member != "gas_limit" && fmt.Sprint(one[member]) != fmt.Sprint(r[member]) &&
					one["timestamp"] == r["timestamp"] && r["type"] == nil {
					t.Errorf("%s: %s is %v alone and %v in the list", r["hash"], member, one[member], r[member])
				}
			}
			if one["gas_price"] == nil {
				t.Errorf("%s has no gas price", r["hash"])
			}
			seen++
		}
	}
	// The history of fees: the prices at the ends of blocks.
	for _, b := range get("/blocks?limit=10&order=desc")["blocks"].([]any) {
		to := b.(map[string]any)["timestamp"].(map[string]any)["to"]
		if fees := get(fmt.Sprintf("/network/fees?timestamp=lte:%s", to))["fees"].([]any); len(fees) != 3 ||
			fmt.Sprint(fees[0].(map[string]any)["gas"]) != price {
			t.Errorf("the fees at %s: %v, want a price of %s", to, fees, price)
		}
	}
	for _, estimate := range []bool{false, true} {
		body := fmt.Sprintf(`{"block":"latest","data":"0x18160ddd",`+
			`"to":"0x0000000000000000000000000000000000000bb9","estimate":%t}`, estimate)
		if got := g.Do(t, http.MethodPost, "/api/v1/contracts/call", body,
			"Content-Type: application/json"); got.Status != http.StatusOK {
			t.Errorf("call, estimate %t: %d: %s", estimate, got.Status, got.Body)
		}
	}
	if seen == 0 {
		t.Error("the demo network has no results")
	}
}

// TestClusterID tests the header with the name of the cluster.
func TestClusterID(t *testing.T) {
	t.Parallel()
	named := testenv.Demo(t, func(o *testenv.Options) { o.REST.ClusterID = "harbour" })
	for _, path := range []string{"/blocks?limit=1", "/network/fees", "/nothing"} {
		if got := named.Get(t, "/api/v1"+path).Header.Get("x-cluster-id"); got != "harbour" {
			t.Errorf("%s: %q", path, got)
		}
		if got := testenv.Demo(t).Get(t, "/api/v1"+path).Header.Values("x-cluster-id"); got != nil {
			t.Errorf("%s without a name: %q", path, got)
		}
	}
}

// TestLastTimestamps tests ranges at the ends of the numbers: they are empty and do not wrap.
func TestLastTimestamps(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	for path, want := range map[string]string{
		"/network/fees?timestamp=gt:9223372036.854775807": notFoundBody("File 0.0.113 not found"),
		"/network/registered-nodes?registerednode.id=gt:9223372036854775807": `{"registered_nodes":[],` +
			`"links":{"next":null}}`,
		"/network/nodes?node.id=gt:9223372036854775807":                 `{"nodes":[],"links":{"next":null}}`,
		"/network/nodes?node.id=lt:0":                                   `{"nodes":[],"links":{"next":null}}`,
		"/accounts/1001/allowances/nfts?account.id=gt:0.0.274877906943": `{"allowances":[],"links":{"next":null}}`,
		"/topics/4001/messages?sequencenumber=gt:9223372036854775807":   `{"messages":[],"links":{"next":null}}`,
	} {
		if got := g.Get(t, "/api/v1"+path); got.Body != want {
			t.Errorf("%s: %d %s, want %s", path, got.Status, got.Body, want)
		}
	}
}

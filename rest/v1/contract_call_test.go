package v1_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/resolvers/contractcalls"
	"heliograph/storage/demo"
)

const callPath = "/api/v1/contracts/call"

// The addresses of the demo network's contracts and accounts.
const (
	coinAddress  = "0000000000000000000000000000000000000bb9"
	gaugeAddress = "0000000000000000000000000000000000000bbb"
	trentAddress = "00000000000000000000000000000000000003f9"
)

// call posts a body.
func call(t *testing.T, g *testenv.Gateway, body string) *testenv.Response {
	t.Helper()
	return g.Do(t, http.MethodPost, callPath, body, "Content-Type: application/json")
}

// callProblem returns the body of a problem with all three members.
func callProblem(messages ...string) string {
	var items []string
	for i := 0; i < len(messages); i += 3 {
		items = append(items, fmt.Sprintf(`{"message":%q,"detail":%q,"data":%q}`, messages[i], messages[i+1],
			messages[i+2]))
	}
	return `{"_status":{"messages":[` + strings.Join(items, ",") + `]}}`
}

func TestContractCall(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const supply = `"data":"18160ddd","to":"` + coinAddress + `"`
	total := `{"result":"0x` + fmt.Sprintf("%064x", 100_000_000) + `"}`
	bad := func(details ...string) string {
		var m []string
		for _, d := range details {
			m = append(m, "Bad Request", d, "")
		}
		return callProblem(m...)
	}
	cases := []struct {
		name, body string
		status     int
		want       string
	}{
		{"plain", `{` + supply + `}`, 200, total},
		{"with prefixes", `{"data":"0X18160DDD","to":"0x` + coinAddress + `"}`, 200, total},
		{"as relays send it", `{"to":"0x` + coinAddress +
			`","data":"0x18160ddd","estimate":false,"block":"latest","from":null,"blockNumber":"0x5"}`, 200, total},
		{"gas in a string", `{` + supply + `,"gas":"100000"}`, 200, total},
		{"no value", `{` + supply + `,"value":null,"gasPrice":null,"estimate":null,"block":null}`, 200, total},
		{"earliest block", `{` + supply + `,"block":"EARLIEST"}`, 200, `{"result":"0x"}`},
		{"block 0 in hex", `{` + supply + `,"block":"0x0"}`, 200, `{"result":"0x"}`},
		{"an account", `{"to":"` + trentAddress + `"}`, 200, `{"result":"0x"}`},
		{"estimate", `{"to":"` + trentAddress + `","estimate":true}`, 200, `{"result":"0x000000000000573e"}`},
		{
			"historical estimate", `{"to":"` + trentAddress + `","estimate":true,"block":"1500"}`, 200,
			`{"result":"0x000000000000573e"}`,
		},
		{"creation", `{"data":"60016000526001601ff3"}`, 200, `{"result":"0x01"}`},
		{
			"creation at the zero address",
			`{"data":"60016000526001601ff3","to":"0x0000000000000000000000000000000000000000"}`,
			200, `{"result":"0x01"}`,
		},
		{"rate", `{"to":"0x0000000000000000000000000000000000000168","data":"0x2e3cff6a` + fmt.Sprintf("%064x", 1200) +
			`"}`, 200, `{"result":"0x` + fmt.Sprintf("%064x", 101) + `"}`},

		{
			"unknown function", `{"data":"01020304","to":"` + coinAddress + `"}`,
			400, callProblem("CONTRACT_REVERT_EXECUTED", "", "0x"),
		},
		{"out of gas", `{` + supply + `,"gas":21100}`, 400, callProblem("INSUFFICIENT_GAS", "", "0x")},
		{
			"unknown sender", `{` + supply + `,"from":"00000000000000000000000000000000000ffff0"}`,
			400, callProblem("PAYER_ACCOUNT_NOT_FOUND", "Sender account not found.", ""),
		},
		{"unknown block", `{` + supply + `,"block":"99999999"}`, 400, bad("Unknown block number")},
		{
			"gas too small", `{` + supply + `,"gas":20999}`, 400,
			bad("gas field must be greater than or equal to 21000"),
		},
		{"gas null", `{` + supply + `,"gas":null}`, 400, bad("gas field must be greater than or equal to 21000")},
		{
			"gas too large", `{` + supply + `,"gas":15000001}`,
			400, bad("gas field must be less than or equal to 15000000"),
		},
		{
			"negative numbers", `{` + supply + `,"gasPrice":-1,"value":-1}`, 400,
			bad("gasPrice field must be greater than or equal to 0",
				"value field must be greater than or equal to 0"),
		},
		{"data no hex", `{"data":"xy","to":"` + coinAddress + `"}`, 400, bad("data field invalid hexadecimal string")},
		{"odd data", `{"data":"0x123","to":"` + coinAddress + `"}`, 400, bad("Odd number of characters.")},
		{"from empty", `{` + supply + `,"from":""}`, 400, bad("from field invalid hexadecimal string")},
		{"to short", `{"to":"0x12"}`, 400, bad("to field invalid hexadecimal string")},
		{"value without a sender", `{` + supply + `,"value":1}`, 400, bad("from field must not be empty")},
		{
			"value without a receiver", `{"data":"00","from":"` + trentAddress + `","value":1}`, 400,
			bad("to field must not be empty"),
		},
		{
			"overrides null", `{` + supply + `,"state_overrides":null}`, 400,
			bad("stateOverrides field must not be null"),
		},
		{
			"overrides off", `{` + supply + `,"state_overrides":[{"address":"` + coinAddress + `"}]}`,
			400, bad(`400 BAD_REQUEST "State overrides are not supported."`),
		},
		{"block -1", `{"block":"-1"}`, 400, bad("JSON parse error: Invalid block value: -1")},
		{
			"block too large", `{"block":"9223372036854775808"}`,
			400, bad("JSON parse error: Decimal value out of range for block: 9223372036854775808"),
		},
		{
			"block too large in hex", `{"block":"0x8000000000000000"}`, 400,
			bad("JSON parse error: Hex value out of range for block: 0x8000000000000000"),
		},
		{"hash of no block", `{"block":"0x` + strings.Repeat("ab", 32) + `"}`, 400, bad("Unknown block number")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := call(t, g, c.body); got.Status != c.status || got.Body != c.want {
				t.Errorf("status %d, %s\nwant %d, %s", got.Status, got.Body, c.status, c.want)
			}
		})
	}
	for _, digits := range []int{300_002, 262_000} {
		// The limit of the document is lower than that of data.
		got := call(t, g, `{"to":"`+trentAddress+`","data":"`+strings.Repeat("0", digits)+`"}`)
		if status := map[int]int{300_002: 400, 262_000: 200}[digits]; got.Status != status {
			t.Errorf("%d digits of data: status %d, %s", digits, got.Status, got.Body)
		}
	}
	for _, body := range []string{
		`{"data":"` + strings.Repeat("0", 280_000) + `"}`, strings.Repeat(" ", 263_168) + `{}`,
		`{`, `[]`, `"x"`, `{} {}`, `{"gas":1.5}`, `{"gas":true}`, `{"gas":12345678901234567890}`, `{"data":{}}`,
		`{"estimate":"perhaps"}`, `{"state_overrides":7}`,
		`{"` + strings.Repeat("n", 101) + `":1}`, strings.Repeat(`{"a":`, 11) + `1` + strings.Repeat(`}`, 11),
		`{"a":[` + strings.Repeat("1,", 100) + `1]}`,
	} {
		got := call(t, g, body)
		if got.Status != http.StatusBadRequest || !strings.Contains(got.Body, `"detail":"JSON parse error: `) ||
			!strings.HasSuffix(got.Body, `,"data":""}]}}`) {
			t.Errorf("%.40s: status %d, %s", body, got.Status, got.Body)
		}
	}
	got := g.Do(t, http.MethodPost, callPath, `{}`, "Content-Type: text/plain;charset=UTF-8")
	if want := callProblem("Unsupported Media Type", "Content-Type 'text/plain;charset=UTF-8' is not supported",
		""); got.Status != http.StatusUnsupportedMediaType || got.Body != want {
		t.Errorf("status %d, %s", got.Status, got.Body)
	}
	got = g.Do(t, http.MethodOptions, callPath, "", "Origin: https://example.com",
		"Access-Control-Request-Method: POST")
	if got.Status != http.StatusOK || got.Header.Get("Access-Control-Allow-Origin") != "*" ||
		got.Header.Get("Access-Control-Allow-Methods") != "GET,HEAD,POST" {
		t.Errorf("preflight: status %d, %v", got.Status, got.Header)
	}
}

func TestContractCallBounds(t *testing.T) {
	t.Parallel()
	var clock time.Time
	still := func(change func(*contractcalls.Options)) *testenv.Gateway {
		return testenv.Demo(t, func(o *testenv.Options) {
			o.EVM.Clock = func() time.Time { return clock }
			change(&o.EVM)
		})
	}
	const body = `{"to":"` + trentAddress + `"}`
	g := still(func(o *contractcalls.Options) { o.RequestsPerSecond = 2 })
	for range 2 {
		if got := call(t, g, body); got.Status != http.StatusOK {
			t.Fatalf("status %d, %s", got.Status, got.Body)
		}
	}
	if got := call(t, g, body); got.Status != http.StatusTooManyRequests ||
		got.Body != callProblem("Too Many Requests", "Requests per second rate limit exceeded", "") {
		t.Errorf("status %d, %s", got.Status, got.Body)
	}
	// Unused gas is refunded except for a part. A call that fails before it runs is refunded in full.
	g = still(func(o *contractcalls.Options) { o.GasPerSecond = 15_020_000 })
	for range 3 {
		if got := call(t, g, `{"to":"`+trentAddress+`","gas":15000001}`); got.Status != http.StatusBadRequest {
			t.Errorf("status %d, %s", got.Status, got.Body)
		}
	}
	if got := call(t, g, body); got.Status != http.StatusOK {
		t.Errorf("status %d, %s", got.Status, got.Body)
	}
	if got := call(t, g, body); got.Status != http.StatusTooManyRequests ||
		got.Body != callProblem("Too Many Requests", "Gas per second rate limit exceeded.", "") {
		t.Errorf("status %d, %s", got.Status, got.Body)
	}
	filters := []contractcalls.Filter{
		{Field: "TO", Pattern: "^" + coinAddress + "$", Action: contractcalls.Reject},
		{Field: "GAS", Pattern: "^30000$", Action: contractcalls.Throttle, Limit: 1},
	}
	for i := range filters {
		if err := filters[i].Compile(); err != nil {
			t.Fatal(err)
		}
	}
	g = still(func(o *contractcalls.Options) { o.Filters = filters })
	if got := call(t, g, `{"to":"`+coinAddress+`"}`); got.Status != http.StatusBadRequest ||
		got.Body != callProblem("Bad Request", "Invalid request", "") {
		t.Errorf("status %d, %s", got.Status, got.Body)
	}
	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if got := call(t, g, `{"to":"`+trentAddress+`","gas":30000}`); got.Status != want {
			t.Errorf("status %d, want %d, %s", got.Status, want, got.Body)
		}
	}
}

func TestContractCallDeadline(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) {
		o.EVM.Timeout, o.EVM.MaxGas, o.EVM.GasPerSecond = 300*time.Millisecond, 1<<50, 1<<52
	})
	start := time.Now()
	got := call(t, g, `{"data":"5b600056","gas":1000000000000000}`)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("an endless loop was stopped after %s", took)
	}
	if got.Status != http.StatusServiceUnavailable || got.Body != callProblem("Service Unavailable", "", "") {
		t.Errorf("status %d, %s", got.Status, got.Body)
	}
}

func TestStateOverrides(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, func(o *testenv.Options) { o.EVM.Overrides = true })
	const missing = "00000000000000000000000000000000000ffff0"
	word := func(v int) string { return fmt.Sprintf("%064x", v) }
	cases := []struct {
		name, overrides, data, to, want string
		status                          int
	}{
		// Slot 2 holds the total supply.
		{"a slot", `{"address":"` + coinAddress + `","state_diff":[{"key":"` + word(2) + `","value":"` + word(7) +
			`"}]}`, "18160ddd", coinAddress, word(7), 200},
		{"all slots", `{"address":"` + coinAddress + `","state":[{"key":"` + word(9) + `","value":"` + word(7) +
			`"}]}`, "18160ddd", coinAddress, word(0), 200},
		{"no slots", `{"address":"` + coinAddress + `","state":[]}`, "18160ddd", coinAddress, word(100_000_000), 200},
		{
			"no slots except zero", `{"address":"` + coinAddress + `","state":[{"key":"` + word(0) + `","value":"` +
				word(0) + `"}]}`,
			"18160ddd", coinAddress, word(0), 200,
		},
		{
			"code", `{"address":"` + coinAddress + `","code":"60ff60005260206000f3"}`, "18160ddd", coinAddress,
			word(255), 200,
		},
		{
			"balance of a missing account", `{"address":"` + missing + `","balance":"0x64",` +
				`"code":"4760005260206000f3"}`,
			"", missing, word(100), 200,
		},
		{"storage of a missing account", `{"address":"` + missing + `","state_diff":[{"key":"` +
			word(1) + `","value":"` + word(9) + `"}],"code":"60015460005260206000f3"}`, "", missing, word(9), 200},
		{
			"both", `{"address":"` + coinAddress + `","state":[],"state_diff":[]}`, "", coinAddress,
			"state and state_diff are mutually exclusive", 400,
		},
		{"no address", `{"code":"00"}`, "", coinAddress, "address field invalid hexadecimal string", 400},
		{
			"balance as a number", `{"address":"` + missing + `","balance":100,"nonce":7,"code":"4760005260206000f3"}`,
			"", missing, word(100), 200,
		},
		{
			"balance in decimal", `{"address":"` + missing + `","balance":"100","nonce":"7",` +
				`"code":"4760005260206000f3"}`,
			"", missing, word(100), 200,
		},
		{
			"prefixes in capitals", `{"address":"0X` + missing + `","balance":"0X64","code":"0X4760005260206000F3"}`,
			"", missing, word(100), 200,
		},
		{
			"maximum nonce of relays", `{"address":"` + missing +
				`","nonce":"0x7fffffffffffffff","balance":9223372036854775807,"code":"4760005260206000f3"}`, "",
			missing,
			word(math.MaxInt64), 200,
		},
		{
			"negative balance", `{"address":"` + missing + `","balance":-1}`, "", missing,
			`"balance field must be greater than or equal to 0"`, 400,
		},
		{
			"negative nonce", `{"address":"` + missing + `","nonce":-1}`, "",
			missing, `"nonce field must be greater than or equal to 0"`, 400,
		},
		{"fraction", `{"address":"` + missing + `","nonce":1.5}`, "", missing, "JSON parse error: ", 400},
		{
			"no number", `{"address":"` + missing + `","balance":"many"}`, "", missing,
			`"balance field invalid hexadecimal string"`, 400,
		},
		{
			"17 digits", `{"address":"` + missing + `","balance":"0x00000000000000001"}`, "", missing,
			`"balance field invalid hexadecimal string"`, 400,
		},
		{
			"code", `{"address":"` + missing + `","code":"0xyz"}`, "", missing, `"code field invalid hexadecimal ` +
				`string"`,
			400,
		},
		{"no overrides but settings of tracers", `{"address":"` + missing +
			`"}],"tracer_config":{"tracer":"callTracer"},"unknown":[1`, "", missing, `"0x"`, 200},
		{
			"ten", strings.Repeat(`{"address":"`+missing+`"},`, 9) + `{"address":"` + missing + `"}`, "", missing,
			`"0x"`, 200,
		},
		{
			"eleven", strings.Repeat(`{"address":"`+missing+`"},`, 10) + `{"address":"` + missing + `"}`, "", missing,
			`"stateOverrides field size must be between 0 and 10"`, 400,
		},
	}
	for _, c := range cases {
		got := call(t, g, `{"data":"`+c.data+`","to":"`+c.to+`","state_overrides":[`+c.overrides+`]}`)
		if got.Status != c.status || !strings.Contains(got.Body, c.want) {
			t.Errorf("%s: status %d, %s", c.name, got.Status, got.Body)
		}
	}
}

// trace requests a trace.
func trace(t *testing.T, g *testenv.Gateway, path string, headers ...string) (*testenv.Response, map[string]any) {
	t.Helper()
	got := g.Do(t, http.MethodGet, path, "", headers...)
	if got.Header.Get("Content-Encoding") != "gzip" {
		return got, nil
	}
	zip, err := gzip.NewReader(strings.NewReader(got.Body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	got.Body = string(text)
	return got, body
}

func TestOpcodes(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type result struct {
		Hash        string
		Timestamp   string
		ContractID  string  `json:"contract_id"`
		Error       *string `json:"error_message"`
		CallResult  string  `json:"call_result"`
		GasConsumed *int64  `json:"gas_consumed"`
	}
	// All calls of the demo network can be replayed and return the same result with the same gas.
	replayed, same := map[string]int{}, 0
	var results struct{ Results []result }
	for num := demo.HarbourCoin; num < demo.Switchboard; num++ {
		if num > demo.SunkenGauge && num < demo.Storehouse || num == demo.TokenDesk {
			continue // contracts that were only created, or calls that need tokens
		}
		id := fmt.Sprintf("0.0.%d", num)
		results.Results = nil
		testenv.Decode(t, g.Get(t, "/api/v1/contracts/"+id+"/results?limit=10").Body, &results)
		for _, r := range results.Results {
			got, body := trace(t, g, "/api/v1/contracts/results/"+r.Hash+"/opcodes?storage=true&memory=true",
				"Accept-Encoding: gzip")
			if got.Status != http.StatusOK || body == nil {
				t.Errorf("%s %s: status %d, %s", id, r.Hash, got.Status, got.Body)
				continue
			}
			replayed[id]++
			if body["failed"] != (r.Error != nil) || body["contract_id"] != r.ContractID {
				t.Errorf("%s %s at %s: %.200s", id, r.Hash, r.Timestamp, got.Body)
			}
			// The address of a launched boat depends on the nonce of the yard. The demo network has no historical
			// nonces.
			if r.Error == nil && body["return_value"] != r.CallResult && num != 3006 {
				t.Errorf("%s %s returned %v, and now %s", id, r.Hash, r.CallResult, body["return_value"])
			}
			gas, _ := body["gas"].(float64)
			switch more := int64(gas) - *r.GasConsumed; {
			case more == 0:
				same++
			case more > 0 && more <= 3072 && more%2 == 0: // the demo network does not charge for words of initcode
			// it does not charge for new accounts and gives no refunds either
			case more < 0 && (-more == 25_000 || -more <= *r.GasConsumed/5):
			default:
				t.Errorf("%s %s used %d gas, and now %v", id, r.Hash, *r.GasConsumed, gas)
			}
			checkSteps(t, body)
		}
	}
	if same < 45 {
		t.Errorf("only %d results used the same gas", same)
	}
	if len(replayed) < 11 {
		t.Errorf("only these contracts have results: %v", replayed)
	}
	results.Results = nil
	testenv.Decode(t, g.Get(t, "/api/v1/contracts/"+coinAddress+"/results?limit=1").Body, &results)
	byHash, _ := trace(t, g, "/api/v1/contracts/results/"+results.Results[0].Hash+"/opcodes",
		"Accept-Encoding: GZIP, br")
	for _, path := range []string{
		"?timestamp=" + results.Results[0].Timestamp,
		"", "?transaction.hash=" + results.Results[0].Hash,
	} {
		if got, _ := trace(t, g, "/api/v1/contracts/0.0.3001/results/opcodes"+path,
			"Accept-Encoding: gzip"); got.Body != byHash.Body {
			t.Errorf("%q: %.200s", path, got.Body)
		}
	}
	if got, body := trace(t, g, "/api/v1/contracts/results/"+results.Results[0].Hash+"/opcodes?stack=false",
		"Accept-Encoding: gzip"); body == nil || !strings.Contains(got.Body, `"stack":[],"storage":{}}`) {
		t.Errorf("%.200s", got.Body)
	}
	unknown := "0x" + strings.Repeat("ab", 32)
	for _, c := range []struct {
		path, header string
		status       int
		detail       string
	}{
		{
			results.Results[0].Hash, "",
			400, "Required request header 'accept-encoding' for method parameter type String is not present",
		},
		{results.Results[0].Hash, "Accept-Encoding: br", 406, "Accept-Encoding: gzip header is required"},
		{unknown, "Accept-Encoding: gzip", 404, "Contract transaction hash not found: TransactionHashParameter[hash=" +
			unknown + "]"},
		{
			"0.0.1001-1700000000-000000001", "Accept-Encoding: gzip",
			404,
			"Transaction not found: TransactionIdParameter[payerAccountId=0.0.1001, " +
				"validStart=2023-11-14T22:13:20.000000001Z]",
		},
		{
			"0.0.1001@1700000000.000000001", "Accept-Encoding: gzip",
			400, "Unsupported ID format: '0.0.1001@1700000000.000000001'",
		},
		{
			"0x" + strings.Repeat("ab", 48), "Accept-Encoding: gzip",
			400, "Unsupported ID format: '0x" + strings.Repeat("ab", 48) + "'",
		},
		{"%20", "Accept-Encoding: gzip", 400, "Missing transaction ID or hash"},
	} {
		var headers []string
		if c.header != "" {
			headers = append(headers, c.header)
		}
		got := g.Do(t, http.MethodGet, "/api/v1/contracts/results/"+c.path+"/opcodes", "", headers...)
		if want := callProblem(http.StatusText(c.status), c.detail, ""); got.Status != c.status || got.Body != want {
			t.Errorf("%s: status %d:\n%s", c.path, got.Status, testenv.Diff(want, got.Body))
		}
	}
	off := testenv.Demo(t, func(o *testenv.Options) { o.EVM.TracesOff = true })
	if got := off.Get(t, "/api/v1/contracts/results/"+unknown+"/opcodes"); got.Status != http.StatusNotImplemented ||
		got.Body != callProblem("Not Implemented", "", "") {
		t.Errorf("status %d, %s", got.Status, got.Body)
	}
}

// checkSteps checks the properties that all traces share.
func checkSteps(t *testing.T, body map[string]any) {
	t.Helper()
	steps, _ := body["opcodes"].([]any)
	if len(steps) == 0 {
		return
	}
	first, _ := steps[0].(map[string]any)
	// Compiled code starts with the free memory pointer, after its immutable value if it has one.
	stack := fmt.Sprint(first["stack"])
	free := stack == fmt.Sprintf("[0x%064x]", 0x80) || stack == fmt.Sprintf("[0x%064x]", 0xa0)
	if first["op"] == "PUSH1" && (first["pc"] != 0.0 || first["depth"] != 0.0 || first["gas_cost"] != 3.0 || !free) {
		t.Errorf("the first step is %v", first)
	}
	depth := 0.0
	for i, s := range steps {
		step, _ := s.(map[string]any)
		if d, _ := step["depth"].(float64); d > depth+1 {
			t.Errorf("step %d goes from depth %v to %v", i, depth, d)
		} else {
			depth = d
		}
		if storage, _ := step["storage"].(map[string]any); (step["op"] == "SSTORE" || step["op"] == "SLOAD") &&
			len(storage) == 0 && body["failed"] == false {
			t.Errorf("step %d, %v, has no storage", i, step["op"])
		}
	}
}

// TestHistoricalBalances compares a holder's historical balances at some blocks with the sums of the logs up to them.
func TestHistoricalBalances(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type log struct {
		Data   string
		Block  int64 `json:"block_number"`
		Topics []string
	}
	var logs []log
	for next := "/api/v1/contracts/0.0.3001/results/logs?order=asc&limit=100"; next != ""; {
		var page struct {
			Logs  []log
			Links struct{ Next *string }
		}
		testenv.Decode(t, g.Get(t, next).Body, &page)
		logs = append(logs, page.Logs...)
		next = ""
		if page.Links.Next != nil {
			next = *page.Links.Next
		}
	}
	const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
	balances := map[string]int64{}
	checked := 0
	for i, l := range logs {
		if l.Topics[0] != transfer {
			continue
		}
		var amount int64
		if _, err := fmt.Sscanf(l.Data, "0x%x", &amount); err != nil {
			t.Fatal(err)
		}
		balances[l.Topics[1]] -= amount
		balances[l.Topics[2]] += amount
		if i+1 < len(logs) && logs[i+1].Block == l.Block || i%7 != 0 {
			continue
		}
		for _, holder := range l.Topics[1:3] {
			if holder == "0x"+strings.Repeat("0", 64) {
				continue
			}
			checked++
			data := "70a08231" + holder[2:]
			got := call(t, g, fmt.Sprintf(`{"data":%q,"to":%q,"block":"%d"}`, data, coinAddress, l.Block))
			if want := fmt.Sprintf(`{"result":"0x%064x"}`, balances[holder]); got.Body != want {
				t.Errorf("block %d, %s: %s, want %s", l.Block, holder, got.Body, want)
			}
		}
	}
	for holder, want := range balances {
		if holder == "0x"+strings.Repeat("0", 64) {
			continue
		}
		got := call(t, g, fmt.Sprintf(`{"data":%q,"to":%q}`, "70a08231"+holder[2:], coinAddress))
		if want := fmt.Sprintf(`{"result":"0x%064x"}`, want); got.Body != want {
			t.Errorf("now, %s: %s, want %s", holder, got.Body, want)
		}
	}
	if checked < 10 {
		t.Errorf("only %d balances were compared", checked)
	}
}

func FuzzContractCallBody(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"data":"0x18160ddd","to":"0x0000000000000000000000000000000000000bb9","gas":21000}`,
		`{"state_overrides":[{"address":"00"}]}`,
		`{"block":"0xffffffffffffffff","value":1,"from":"00"}`, `[[[[[[[[[[[`, `{"gas":1e9}`, `{"a":null,"data":null}`,
	} {
		f.Add(s)
	}
	g := testenv.Demo(f)
	f.Fuzz(func(t *testing.T, body string) {
		got := call(t, g, body)
		switch got.Status {
		case http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		default:
			t.Errorf("status %d, %s", got.Status, got.Body)
		}
		if !json.Valid([]byte(got.Body)) {
			t.Errorf("no JSON: %s", got.Body)
		}
	})
}

// TestTraceWithoutContract requests traces of transactions that ran no contract, such as a token transfer, which has
// a synthetic result.
func TestTraceWithoutContract(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t)
	ask := func(query string) string {
		t.Helper()
		body, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		return g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json").Body
	}
	var list struct {
		Data struct {
			ContractResults struct {
				Nodes []struct {
					ConsensusTimestamp string
					Synthetic          bool
				}
			}
		}
	}
	testenv.Decode(t, ask(`{ contractResults(first: 100) { nodes { consensusTimestamp synthetic } } }`), &list)
	at := ""
	for _, r := range list.Data.ContractResults.Nodes {
		if r.Synthetic {
			at = r.ConsensusTimestamp
		}
	}
	if at == "" {
		t.Fatal("the demo network has no synthetic result")
	}
	query := `{ contractResults(first: 1, filter: {timestamp: {eq: "` + at +
		`"}}) { nodes { synthetic trace { gas } } } }`
	if got := ask(query); got != `{"data":{"contractResults":{"nodes":[{"synthetic":true,"trace":null}]}}}` {
		t.Errorf("a synthetic result: %s", got)
	}
	var transactions struct {
		Transactions []struct {
			ID string `json:"transaction_id"`
		}
	}
	testenv.Decode(t, g.Get(t, "/api/v1/transactions?timestamp="+at).Body, &transactions)
	path := "/api/v1/contracts/results/" + transactions.Transactions[0].ID + "/opcodes"
	want := callProblem("Not Found", "Contract result not found: "+strings.Replace(at, ".", "", 1), "")
	if got, _ := trace(t, g, path, "Accept-Encoding: gzip"); got.Status != http.StatusNotFound || got.Body != want {
		t.Errorf("%s: status %d, %s, want %s", path, got.Status, got.Body, want)
	}
	if got := ask(`{ contractTrace(at: "` + at + `") { gas } }`); got != `{"data":{"contractTrace":null}}` {
		t.Errorf("the graph: %s", got)
	}
}

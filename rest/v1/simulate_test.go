package v1_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/app/testing/testenv"
)

// simulate posts a simulation.
func simulate(t *testing.T, g *testenv.Gateway, body string) *testenv.Response {
	t.Helper()
	return g.Do(t, http.MethodPost, "/api/v1/contracts/simulate", body, "Content-Type: application/json")
}

// simulated is a result of a simulated call.
type simulated struct {
	GasUsed    string `json:"gas_used"`
	ReturnData string `json:"return_data"`
	Status     string
	Logs       []struct {
		Address          string
		BlockHash        string `json:"block_hash"`
		BlockNumber      int64  `json:"block_number"`
		Data             string
		LogIndex         int `json:"log_index"`
		Removed          bool
		Topics           []string
		TransactionHash  string `json:"transaction_hash"`
		TransactionIndex int    `json:"transaction_index"`
	}
}

func simulations(t *testing.T, g *testenv.Gateway, body string) []simulated {
	t.Helper()
	got := simulate(t, g, body)
	if got.Status != http.StatusOK {
		t.Fatalf("%s: status %d, %s", body, got.Status, got.Body)
	}
	var out struct{ Result []simulated }
	testenv.Decode(t, got.Body, &out)
	return out.Result
}

func withSimulations(o *testenv.Options) { o.EVM.Simulations, o.EVM.Overrides = true, true }

// hashOf returns the hash of data and an index of 8 bytes.
func hashWithIndex(data string, index int) string {
	b := binary.BigEndian.AppendUint64(common.FromHex(data), uint64(index))
	return "0x" + hex.EncodeToString(crypto.Keccak256(b))
}

// Code that creates a contract whose code is a value of the block, so that the simulation returns it.
const (
	numberAsCode = "4360005260206000f3"
	timeAsCode   = "4260005260206000f3"
)

// coinHolder returns the address of an account that received coins.
func coinHolder(t *testing.T, g *testenv.Gateway) string {
	t.Helper()
	var list struct{ Logs []struct{ Topics []string } }
	testenv.Decode(t, g.Get(t, "/api/v1/contracts/0.0.3001/results/logs").Body, &list)
	for _, l := range list.Logs {
		if l.Topics[0] == "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" {
			return l.Topics[2][26:]
		}
	}
	t.Fatal("no coins were transferred")
	return ""
}

func TestSimulate(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, withSimulations)
	var blocks struct {
		Blocks []struct {
			Number int64
			Hash   string
		}
	}
	testenv.Decode(t, g.Get(t, "/api/v1/blocks?limit=1").Body, &blocks)
	anchor, anchorHash := blocks.Blocks[0].Number, blocks.Blocks[0].Hash[:66]
	nextHash := hashWithIndex(anchorHash, 1)
	word := func(n int64) string { return fmt.Sprintf("%064x", n) }
	const receiver = "00000000000000000000000000000000000ffff1"
	holder := coinHolder(t, g)
	from := `"from":"` + holder + `","to":"` + coinAddress + `",`
	transfer := `{` + from + `"data":"a9059cbb` + strings.Repeat("0", 24) + receiver + word(5) + `"}`
	balance := `{"to":"` + coinAddress + `","data":"0x70a08231` + strings.Repeat("0", 24) + receiver + `"}`
	// The example of the documentation.
	if got := simulate(t, g, `{"block_state_calls":[{"calls":[{"to":"`+trentAddress+`"}]}]}`); got.Body !=
		`{"result":[{"gas_used":"0x5208","logs":[],"return_data":"0x","status":"0x1"}]}` {
		t.Errorf("a call of an account: status %d, %s", got.Status, got.Body)
	}

	// Changes stay for later calls and blocks, except those of failed calls.
	got := simulations(
		t,
		g,
		`{"block_state_calls":[{"calls":[`+transfer+`,{`+from+`"data":"01020304"},`+transfer+`]},{"calls":[`+
			balance+`,`+transfer+`]}]}`,
	)
	if len(got) != 5 {
		t.Fatalf("%d results", len(got))
	}
	for i, want := range []struct {
		status, data, hash string
		logs, block        int
	}{
		{"0x1", "0x" + word(1), anchorHash, 1, 0},
		{"0x0", "0x", anchorHash, 0, 0},
		{"0x1", "0x" + word(1), anchorHash, 1, 0},
		{"0x1", "0x" + word(10), nextHash, 0, 1},
		{"0x1", "0x" + word(1), nextHash, 1, 1},
	} {
		r := got[i]
		if r.Status != want.status || r.ReturnData != want.data || len(r.Logs) != want.logs || len(r.GasUsed) < 6 {
			t.Errorf("call %d: %+v", i, r)
		}
		for _, l := range r.Logs {
			index := []int{0, 1, 2, 0, 1}[i]
			if l.Address != "0x"+coinAddress || l.BlockNumber != anchor+int64(want.block) ||
				l.BlockHash != want.hash || l.LogIndex != []int{0, 0, 1, 0, 0}[i] ||
				l.Removed || len(l.Topics) != 3 ||
				l.Data != "0x"+word(5) ||
				l.TransactionIndex != index ||
				l.TransactionHash != hashWithIndex(r.ReturnData, index) {
				t.Errorf("log of call %d: %+v", i, l)
			}
		}
	}

	// The block of an entry, and values that replace it.
	got = simulations(
		t,
		g,
		`{"block":"latest","block_state_calls":[{"calls":[{"data":"`+numberAsCode+`"}]},{"calls":[{"data":"`+
			numberAsCode+`"}]},`+
			`{"calls":[{"data":"`+numberAsCode+`"}],"block_override":{"number":"0x10"}},{"calls":[{"data":"`+
			timeAsCode+`"}],"block_override":{"time":"42"}}]}`,
	)
	for i, want := range []int64{anchor, anchor + 1, 16, 42} {
		if got[i].ReturnData != "0x"+word(want) {
			t.Errorf("block of entry %d: %s, want %d", i, got[i].ReturnData, want)
		}
	}

	// Overrides stay for later blocks. Transfers of value have logs if they are requested.
	got = simulations(t, g, `{"trace_transfers":true,"block_state_calls":[
		{"state_overrides":[{"address":"`+receiver+`","balance":100,"code":"4760005260206000f3"}],"calls":[{"to":"`+receiver+`"}]},
		{"calls":[{"from":"`+trentAddress+`","to":"`+receiver+`","value":7},{"to":"`+receiver+`","gas":"0x7530"}]}]}`)
	if got[0].ReturnData != "0x"+word(100) || got[1].ReturnData != "0x"+word(107) ||
		got[2].ReturnData != "0x"+word(107) {
		t.Errorf("overrides: %+v", got)
	}
	if l := got[1].Logs; len(got[0].Logs) != 0 || len(l) != 1 || l[0].Address != "0x"+strings.Repeat("e", 40) ||
		l[0].Data != "0x"+word(7) ||
		strings.Join(
			l[0].Topics,
			" ",
		) != "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef 0x"+strings.Repeat(
			"0",
			24,
		)+trentAddress+
			" 0x"+strings.Repeat(
			"0",
			24,
		)+receiver {
		t.Errorf("logs of transfers: %+v", got)
	}

	// A contract that one call creates can be called by the next: the address is that of the next number.
	query := `{"query":"{ simulateCalls(input: {blocks: [{calls: [{data: \"0x` + numberAsCode +
		`\", gas: 100000}]}]}) ` +
		`{ blockNumber calls { gasUsed failure { code } returnData } } }"}`
	if got := g.Do(t, http.MethodPost, "/graphql", query, "Content-Type: application/json"); !strings.Contains(
		got.Body,
		fmt.Sprintf(`"simulateCalls":{"blockNumber":"%d","calls":[{"gasUsed":"`, anchor),
	) ||
		!strings.Contains(got.Body, `"failure":null,"returnData":"0x`+word(anchor)) {
		t.Errorf("the graph: %s", got.Body)
	}
}

func TestSimulateErrors(t *testing.T) {
	t.Parallel()
	on := testenv.Demo(t, withSimulations)
	off := testenv.Demo(t, func(o *testenv.Options) { o.EVM.Simulations = false })
	noOverrides := testenv.Demo(t, func(o *testenv.Options) { o.EVM.Simulations = true })
	bad := func(detail string) string { return callProblem("Bad Request", detail, "") }
	const plain = `{"to":"` + trentAddress + `"}`
	blocks := func(entries string) string { return `{"block_state_calls":[` + entries + `]}` }
	override := `{"calls":[` + plain + `],"state_overrides":[{"address":"` + trentAddress + `"}]}`
	for _, c := range []struct {
		name   string
		g      *testenv.Gateway
		body   string
		status int
		want   string
	}{
		{"off", off, blocks(`{"calls":[` + plain + `]}`), 501, callProblem("Not Implemented", "", "")},
		{
			"body before the switch", off, blocks(`{"calls":[]}`),
			400, bad("at least one call is required across block_state_calls"),
		},
		{"switch before overrides", off, blocks(override), 501, callProblem("Not Implemented", "", "")},
		{
			"overrides off", noOverrides, blocks(override), 400,
			bad(`400 BAD_REQUEST "State overrides are not supported."`),
		},
		{"no calls", on, blocks(``), 400, bad("at least one call is required across block_state_calls")},
		{
			"17 calls", on, blocks(`{"calls":[` + strings.Repeat(plain+",", 8) + plain + `]},{"calls":[` +
				strings.Repeat(plain+",", 7) + plain + `]}`), 400,
			bad("total number of calls across block_state_calls must not exceed 16"),
		},
		{
			"17 blocks", on, blocks(strings.Repeat(`{"calls":[]},`, 16) + `{"calls":[` + plain + `]}`),
			400, bad("blockStateCalls field size must be between 0 and 16"),
		},
		{
			"missing blocks", on, `{}`,
			400, callProblem("Bad Request", "at least one call is required across block_state_calls", "",
				"Bad Request", "blockStateCalls field must not be null", ""),
		},
		{
			"missing calls", on, blocks(`{}`), 400,
			callProblem("Bad Request", "at least one call is required across block_state_calls", "",
				"Bad Request", "calls field must not be null", ""),
		},
		{"eleven overrides", on, blocks(`{"calls":[` + plain + `],"state_overrides":[` +
			strings.Repeat(`{"address":"`+trentAddress+`"},`, 10) +
			`{"address":"` + trentAddress + `"}]}`), 400, bad("stateOverrides field size must be between 0 and 10")},
		{
			"too much gas", on, blocks(`{"calls":[{"gas":15000001}]}`), 400,
			bad("gas field must be less than or equal to 15000000"),
		},
		{
			"too little gas", on, blocks(`{"calls":[{"gas":"20999"}]}`), 400,
			bad("gas field must be greater than or equal to 21000"),
		},
		{
			"negative value", on, blocks(`{"calls":[{"value":-1}]}`),
			400, bad("value field must be greater than or equal to 0"),
		},
		{
			"negative price", on, blocks(`{"calls":[{"gas_price":-1}]}`), 400,
			bad("gasPrice field must be greater than or equal to 0"),
		},
		{"address", on, blocks(`{"calls":[{"from":"12"}]}`), 400, bad("from field invalid hexadecimal string")},
		{
			"number and time", on, blocks(`{"calls":[` + plain + `],"block_override":{"number":"1","time":"1"}}`), 400,
			bad("number and time cannot be populated simultaneously"),
		},
		{
			"unknown block", on, `{"block":"99999999","block_state_calls":[{"calls":[` + plain + `]}]}`,
			400, bad("Unknown block number"),
		},
		{
			"access list", on, blocks(`{"calls":[{"access_list":[{"address":"1","storage_keys":["0x00"]}]}]}`),
			400, bad("address field invalid hexadecimal string"),
		},
	} {
		if got := simulate(t, c.g, c.body); got.Status != c.status || got.Body != c.want {
			t.Errorf("%s: status %d, %s\nwant %d, %s", c.name, got.Status, got.Body, c.status, c.want)
		}
	}
	// Members that are validated, but not used.
	full := blocks(
		`{"calls":[{"gas":null,"max_fee_per_gas":"0x01","access_list":[{"address":"` + trentAddress +
			`","storage_keys":["0x` + strings.Repeat(
			"0",
			64,
		) +
			`"]}],"authorization_list":[{"address":"` + trentAddress +
			`","chain_id":"0x128","nonce":"0x1","r":"0x1","s":"0x2","y_parity":"0x0"}],"to":"` + trentAddress + `"}]}`,
	)
	if got := simulate(t, on, full); got.Status != http.StatusOK {
		t.Errorf("unused members: status %d, %s", got.Status, got.Body)
	}
	query := `{"query":"{ simulateCalls(input: {blocks: [{calls: [{}]}]}) { blockNumber } }"}`
	if got := off.Do(t, http.MethodPost, "/graphql", query, "Content-Type: application/json"); !strings.Contains(
		got.Body,
		`"code":"FORBIDDEN"`,
	) {
		t.Errorf("the graph: %s", got.Body)
	}
}

// TestSimulateBudget checks that a simulation takes the gas of all its calls, and returns what they do not use.
func TestSimulateBudget(t *testing.T) {
	t.Parallel()
	var clock time.Time
	g := testenv.Demo(t, func(o *testenv.Options) {
		withSimulations(o)
		o.EVM.GasPerSecond, o.EVM.Clock = 31_000_000, func() time.Time { return clock }
	})
	body := func(calls int) string {
		return `{"block_state_calls":[{"calls":[` + strings.Repeat(
			`{"to":"`+trentAddress+`"},`,
			calls-1,
		) + `{"to":"` + trentAddress + `"}]}]}`
	}
	for _, c := range []struct{ calls, status int }{{3, 429}, {2, 200}, {2, 200}, {3, 429}} {
		if got := simulate(t, g, body(c.calls)); got.Status != c.status {
			t.Errorf("%d calls: status %d, %s", c.calls, got.Status, got.Body)
		}
	}
}

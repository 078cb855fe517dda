package evm_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"heliograph/app/testing/testenv"
	"heliograph/storage/demo"
)

// compiled is the compiler's output for a contract of the demo network.
type compiled struct {
	abi           abi.ABI
	code, runtime []byte
}

// readCompiled reads the compiled contracts of the demo network, by name.
func readCompiled(t testing.TB) map[string]compiled {
	t.Helper()
	b, err := os.ReadFile("../../../storage/demo/contracts/compiled.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Contracts map[string]struct {
			ABI                       json.RawMessage
			Bytecode, RuntimeBytecode string
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	out := map[string]compiled{}
	for name, c := range file.Contracts {
		parsed, err := abi.JSON(bytes.NewReader(c.ABI))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = compiled{parsed, common.FromHex(c.Bytecode), common.FromHex(c.RuntimeBytecode)}
	}
	return out
}

// bay is the demo network as seen by a client that calls its contracts through HTTP.
type bay struct {
	*testenv.Gateway
	compiled map[string]compiled
	// blocks has the block of each transaction of a contract. The first transaction is the creation.
	blocks map[int64][]int64
}

func newBay(t *testing.T) *bay {
	t.Helper()
	b := &bay{
		Gateway: testenv.Demo(t, func(o *testenv.Options) {
			o.EVM.RequestsPerSecond, o.EVM.GasPerSecond = 1<<40, 1<<60
		}),
		compiled: readCompiled(t), blocks: map[int64][]int64{},
	}
	for _, r := range rowsOf[struct{ Contract, Block int64 }](t, b, `
		select contract_id as contract, (select min(index) from record_file where consensus_end >= consensus_timestamp) as block
		from contract_result where contract_id > 0 order by consensus_timestamp`) {
		b.blocks[r.Contract] = append(b.blocks[r.Contract], r.Block)
	}
	return b
}

// value reads one value from the database.
func value[T any](t *testing.T, b *bay, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := b.DB.Pool().QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatal(err, sql)
	}
	return v
}

// address returns the address that contracts use for an entity.
func (b *bay) address(t *testing.T, num int64) common.Address {
	t.Helper()
	a := value[[]byte](t,
		b,
		"select coalesce(evm_address, case when length(alias) = 20 then alias end, ''::bytea) from entity where id "+
			"= $1", num)
	if len(a) == 20 {
		return common.Address(a)
	}
	return common.Address(lz(num))
}

// moment is the block of a contract's n-th transaction. Transaction 0 is the creation. Without a contract it is the
// present.
type moment struct {
	contract int64
	n        int
}

var now = moment{}

func (m moment) old() bool { return m.contract != 0 }

// fails is the failure of a call. child is the response code of a failed operation of a system contract on the way, if
// any.
type fails struct {
	code, reason string
	data         []byte
	child        string
}

func reverts(data []byte) fails { return fails{code: "CONTRACT_REVERT_EXECUTED", data: data} }

// revertsWith returns a revert with a text.
func revertsWith(text string) fails {
	data, _ := abi.Arguments{{Type: abi.Type{T: abi.StringTy}}}.Pack(text)
	return fails{code: "CONTRACT_REVERT_EXECUTED", reason: text, data: append(common.FromHex("08c379a0"), data...)}
}

// after returns the failure with the response code of an earlier failed operation.
func (f fails) after(child string) fails {
	f.child = child
	return f
}

// panics returns a revert of a compiler-generated check.
func panics(code int64) fails { return reverts(append(common.FromHex("4e487b71"), word(code)...)) }

// testCall is a call of a function and its expected result.
type testCall struct {
	at     moment
	method string
	args   []any
	want   []any // return values with go-ethereum's types; empty if the call fails
	fails  *fails
	from   int64
	value  int64
	gas    int64
}

// does, then and failing return test calls. Calls without a sender use the treasury.
func does(method string, args []any, want ...any) testCall {
	return testCall{method: method, args: args, want: want}
}

func failing(method string, args []any, f fails) testCall {
	return testCall{method: method, args: args, fails: &f}
}

func (a testCall) by(num int64) testCall       { a.from = num; return a }
func (a testCall) when(m moment) testCall      { a.at = m; return a }
func (a testCall) paying(value int64) testCall { a.value = value; return a }
func (a testCall) with(gas int64) testCall     { a.gas = gas; return a }

func with(args ...any) []any { return args }

func n(v int64) *big.Int { return big.NewInt(v) }

// body returns the JSON request of a call.
func (b *bay) body(t *testing.T, to *common.Address, data []byte, a testCall) string {
	t.Helper()
	body := map[string]any{"data": "0x" + hex.EncodeToString(data)}
	if to != nil {
		body["to"] = to.Hex()
	}
	if a.from != 0 {
		body["from"] = b.address(t, a.from).Hex()
	}
	if a.value != 0 {
		body["value"] = a.value
	}
	if a.gas != 0 {
		body["gas"] = a.gas
	}
	if a.at.old() {
		body["block"] = strconv.FormatInt(b.blocks[a.at.contract][a.at.n], 10)
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// check runs the call of a test call and compares the result.
func (b *bay) check(t *testing.T, contract string, to common.Address, a testCall) {
	t.Helper()
	method, ok := b.compiled[contract].abi.Methods[a.method]
	if !ok {
		t.Errorf("%s has no function %s", contract, a.method)
		return
	}
	in, err := method.Inputs.Pack(a.args...)
	if err != nil {
		t.Errorf("%s.%s: %v", contract, a.method, err)
		return
	}
	got := b.Do(t, http.MethodPost, "/api/v1/contracts/call",
		b.body(t, &to, append(slices.Clone(method.ID), in...), a), "Content-Type: application/json")
	status := http.StatusOK
	var want string
	if a.fails != nil {
		status, want = http.StatusBadRequest, failure(t, *a.fails)
	} else {
		out, err := method.Outputs.Pack(a.want...)
		if err != nil {
			t.Errorf("%s.%s: %v", contract, a.method, err)
			return
		}
		want = `{"result":"0x` + hex.EncodeToString(out) + `"}`
	}
	if got.Status != status || got.Body != want {
		t.Errorf("%s.%s%v at %v:\n got %d %s\nwant %d %s", contract, a.method, a.args, a.at, got.Status, got.Body,
			status, want)
	}
}

// failure returns the response body of a failed call.
func failure(t *testing.T, f fails) string {
	t.Helper()
	detail, err := json.Marshal(f.reason)
	if err != nil {
		t.Fatal(err)
	}
	child := ""
	if f.child != "" {
		child = fmt.Sprintf(`,{"message":%q,"detail":"","data":""}`, f.child)
	}
	return fmt.Sprintf(`{"_status":{"messages":[{"message":%q,"detail":%s,"data":"0x%x"}%s]}}`, f.code, detail,
		f.data, child)
}

// TestContracts calls every function of the demo network's contracts, now and at older blocks.
func TestContracts(t *testing.T) {
	t.Parallel()
	b := newBay(t)
	for _, group := range []map[string][]testCall{
		b.tokens(t), b.harbour(t), b.breakwater(t), b.furnace(),
		b.storehouse(t), b.switchboard(t),
	} {
		for contract, testCalls := range group {
			b.covers(t, contract, testCalls)
			t.Run(contract, func(t *testing.T) {
				t.Parallel()
				for _, a := range testCalls {
					b.check(t, contract, b.address(t, numbers[contract]), a)
				}
			})
		}
	}
}

// numbers has the entity numbers of the contracts. The logbook is called through its proxy.
var numbers = map[string]int64{
	"HarbourCoin": demo.HarbourCoin, "PierPass": demo.PierPass, "TideGauge": demo.TideGauge, "Logbook": demo.Signpost,
	"Signpost": demo.Signpost,
	"Shipyard": demo.Shipyard, "Boat": demo.Boat, "TokenDesk": demo.TokenDesk, "Tollgate": demo.Tollgate,
	"Storehouse": demo.Storehouse,
	"Breakwater": demo.Breakwater, "Furnace": demo.Furnace, "Switchboard": demo.Switchboard,
}

// covers checks that each function of a contract is called both now and at an older block.
func (b *bay) covers(t *testing.T, contract string, testCalls []testCall) {
	t.Helper()
	for name := range b.compiled[contract].abi.Methods {
		for _, old := range []bool{false, true} {
			if !slices.ContainsFunc(testCalls, func(a testCall) bool {
				return a.method == name && a.at.old() == old
			}) {
				t.Errorf("%s.%s is not called (at an older block: %t)", contract, name, old)
			}
		}
	}
}

// TestContractsAll checks that every contract is tested.
func TestContractsAll(t *testing.T) {
	t.Parallel()
	for name, c := range readCompiled(t) {
		if len(c.abi.Methods) > 0 && numbers[name] == 0 {
			t.Errorf("nothing calls %s", name)
		}
	}
}

// TestContractsUnborn calls contracts in the block before their creation, where they do not exist.
func TestContractsUnborn(t *testing.T) {
	t.Parallel()
	b := newBay(t)
	for name, num := range numbers {
		block := b.blocks[num][0] - 1
		body := `{"data":"0x12345678","to":"` + b.address(t, num).Hex() + `","block":"` +
			strconv.FormatInt(block, 10) + `"}`
		got := b.Do(t, http.MethodPost, "/api/v1/contracts/call", body, "Content-Type: application/json")
		if got.Status != http.StatusOK || got.Body != `{"result":"0x"}` {
			t.Errorf("%s at %d: %d %s", name, block, got.Status, got.Body)
		}
	}
}

// TestContractsCreated creates each contract again, now and at a historical block. The call returns the compiler's
// runtime code, or the constructor's failure.
func TestContractsCreated(t *testing.T) {
	t.Parallel()
	b := newBay(t)
	fund := b.address(t, demo.Fund)
	wreck := func(depth int64) []any { return with(n(depth)) }
	for _, c := range []struct {
		name  string
		args  []any
		fails *fails
	}{
		{"HarbourCoin", with(n(5), fund), nil},
		{"PierPass", with(fund), nil},
		{"TideGauge", with("a place"), nil},
		{"Logbook", nil, nil},
		{"Signpost", with(fund, fund), nil},
		{"Shipyard", nil, nil},
		{"Boat", with("Auk"), nil},
		{"TokenDesk", nil, nil},
		{"Tollgate", with(n(1)), nil},
		{"Breakwater", nil, nil},
		{"Furnace", nil, nil},
		{"Switchboard", nil, nil},
		{"Wreck", wreck(9), new(revertsWith("Wreck: it lies too deep"))},
		{"Wreck", wreck(0), new(reverts(b.compiled["Breakwater"].abi.Errors["Closed"].ID.Bytes()[:4]))},
	} {
		args, err := b.compiled[c.name].abi.Pack("", c.args...)
		if err != nil {
			t.Fatal(err)
		}
		status, want := http.StatusOK, `{"result":"0x`+hex.EncodeToString(b.compiled[c.name].runtime)+`"}`
		if c.fails != nil {
			status, want = http.StatusBadRequest, failure(t, *c.fails)
		}
		for _, at := range []moment{now, {demo.HarbourCoin, 0}} {
			body := b.body(t, nil, append(slices.Clone(b.compiled[c.name].code), args...), testCall{at: at})
			got := b.Do(t, http.MethodPost, "/api/v1/contracts/call", body, "Content-Type: application/json")
			if got.Status != status || got.Body != want {
				t.Errorf("%s at %v: %d %.200s, want %d %.200s", c.name, at, got.Status, got.Body, status, want)
			}
		}
	}
}

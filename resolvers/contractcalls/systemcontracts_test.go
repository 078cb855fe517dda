package contractcalls_test

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/big"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/entities"
	"heliograph/storage/evmstate"
)

const viewGas = 2607

// bench runs calls on the demo network.
type bench struct {
	machine *evm.Machine
	reader  *evmstate.Reader
}

func newBench(t testing.TB) *bench {
	t.Helper()
	db := testenv.Shared(t).DB
	contracts := system.Contracts(system.Config{ChainID: evm.ChainIDTestnet})
	return &bench{
		evm.New(evm.Config{SystemContracts: contracts, MinimumBalance: evm.DefaultMinimumBalance}),
		evmstate.NewReader(db, entities.NewCallPrices(db), 0),
	}
}

// call runs one call at a block.
func (b *bench) call(t testing.TB, ref worldstate.BlockRef, from, to common.Address, data []byte) *evm.Result {
	t.Helper()
	r, err := b.try(t, ref, from, to, data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// callWith runs one call with a gas limit.
func (b *bench) callWith(t testing.TB, gas uint64, from, to common.Address, data []byte) *evm.Result {
	t.Helper()
	r, err := b.run(t, now(), gas, from, to, data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bench) try(t testing.TB, ref worldstate.BlockRef, from, to common.Address, data []byte) (*evm.Result, error) {
	t.Helper()
	return b.run(t, ref, 15_000_000, from, to, data)
}

func (b *bench) run(
	t testing.TB, ref worldstate.BlockRef, gas uint64, from, to common.Address, data []byte,
) (*evm.Result, error) {
	t.Helper()
	s, err := b.reader.Open(t.Context(),
		evmstate.Request{Block: ref, Addresses: []ledger.EVMAddress{ledger.EVMAddress(from), ledger.EVMAddress(to)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return b.machine.Begin(t.Context(), s, s.Block()).Call(evm.Message{
		From: ledger.Of(ledger.EVMAddress(from)), To: ledger.Of(ledger.EVMAddress(to)), Data: data, Gas: gas,
	})
}

// lz returns the long-zero address of a number.
func lz(num int64) common.Address { return common.Address(ledger.EntityID(num).LongZero()) }

// method returns the arguments of a function, parsed by go-ethereum's ABI package.
func method(t testing.TB, signature string) abi.Arguments {
	t.Helper()
	sel, err := abi.ParseSelector(signature)
	if err != nil {
		t.Fatal(err)
	}
	return arguments(t, sel.Inputs)
}

func arguments(t testing.TB, in []abi.ArgumentMarshaling) (out abi.Arguments) {
	t.Helper()
	for _, a := range in {
		typ, err := abi.NewType(a.Type, "", a.Components)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, abi.Argument{Type: typ})
	}
	return out
}

// input returns the encoded call of a function.
func input(t testing.TB, signature string, args ...any) []byte {
	t.Helper()
	in := method(t, signature)
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = convert(t, reflect.ValueOf(a), in[i].Type.GetType()).Interface()
	}
	data, err := in.Pack(values...)
	if err != nil {
		t.Fatalf("%s: %v", signature, err)
	}
	return append(crypto.Keccak256([]byte(signature))[:4], data...)
}

// convert converts plain values and lists to the Go type of the ABI.
func convert(t testing.TB, v reflect.Value, to reflect.Type) reflect.Value {
	t.Helper()
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	list, isList := v.Interface().([]any)
	switch {
	case to.Kind() == reflect.Struct && isList:
		out := reflect.New(to).Elem()
		for i := range list {
			out.Field(i).Set(convert(t, reflect.ValueOf(list[i]), to.Field(i).Type))
		}
		return out
	case to.Kind() == reflect.Slice && isList:
		out := reflect.MakeSlice(to, 0, len(list))
		for i := range list {
			out = reflect.Append(out, convert(t, reflect.ValueOf(list[i]), to.Elem()))
		}
		return out
	case to == reflect.TypeFor[*big.Int]() && v.Kind() == reflect.Int:
		return reflect.ValueOf(big.NewInt(v.Int()))
	default:
		return v.Convert(to)
	}
}

// output returns return data as text: values separated by spaces, lists in brackets.
func output(t testing.TB, types string, data []byte) string {
	t.Helper()
	values, err := method(t, "f("+types+")").Unpack(data)
	if err != nil {
		t.Fatalf("%x is no (%s): %v", data, types, err)
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = text(reflect.ValueOf(v))
	}
	return strings.Join(parts, " ")
}

func text(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case common.Address:
		if num, ok := ledger.EVMAddress(x).Num(); ok {
			return "@" + big.NewInt(num).String()
		}
		return strings.ToLower(x.Hex())
	case *big.Int:
		return x.String()
	case []byte:
		return "0x" + hex.EncodeToString(x)
	}
	var parts []string
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			parts = append(parts, text(field))
		}
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, text(v.Index(i)))
		}
	case reflect.String:
		return `"` + v.String() + `"`
	case reflect.Bool:
		if v.Bool() {
			return "true"
		}
		return "false"
	case reflect.Int64, reflect.Int32:
		return big.NewInt(v.Int()).String()
	default:
		return new(big.Int).SetUint64(v.Uint()).String()
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// revertCode returns the response code in revert data, or 0 for other data.
func revertCode(data []byte) int64 {
	if len(data) != 32 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(data[24:]))
}

// send sends a request and returns the status and body of the response.
func send(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // the body was read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

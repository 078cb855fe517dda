package abi_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	geth "github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/evm/system/abi"
)

// show describes decoded data.
func show(d *abi.Decoded) string {
	if d == nil {
		return "null"
	}
	list := func(arguments []*abi.Argument) string {
		var out strings.Builder
		for _, a := range arguments {
			fmt.Fprintf(&out, " %s %s=%s", a.Type, a.Name, a.Value)
			if a.Indexed {
				out.WriteString(" (indexed)")
			}
		}
		return out.String()
	}
	text := d.Signature + ":" + list(d.Arguments)
	if d.Results != nil {
		text += " ->" + list(d.Results)
	}
	return text
}

const seaABI = `[
	{"type":"constructor","inputs":[]},
	{"type":"function","name":"sail","inputs":[{"name":"legs","type":"tuple[]","components":[{"name":"port","type":"string"},{"name":"days","type":"uint16"}]},
		{"name":"flags","type":"bool[3]"},{"name":"log","type":"bytes"},{"name":"tag","type":"bytes4"}],"outputs":[{"name":"","type":"int256"},{"name":"ok","type":"bool"}]},
	{"type":"error","name":"Storm","inputs":[{"name":"force","type":"uint8"},{"name":"where","type":"address"}]},
	{"type":"event","name":"Moored","inputs":[{"name":"ship","type":"string","indexed":true},{"name":"berth","type":"uint256","indexed":true},{"name":"crew","type":"address[]"},
		{"name":"depth","type":"int64"}]},
	{"type":"event","name":"Quiet","anonymous":true,"inputs":[]}]`

// seaText are the same declarations in the notation of Solidity.
var seaText = []string{
	"function sail((string port, uint16 days)[] calldata legs, bool[3] memory flags, bytes log, bytes4 tag) " +
		"external returns (int256, bool ok);",
	" error Storm( uint8 force,address where )",
	"event Moored(string indexed ship, uint indexed berth, address[] crew, int64 depth)",
}

type leg struct {
	Port string
	Days uint16
}

// TestABI decodes what go-ethereum encodes, with declarations in both notations.
func TestABI(t *testing.T) {
	t.Parallel()
	reference, err := geth.JSON(strings.NewReader(seaABI))
	if err != nil {
		t.Fatal(err)
	}
	pack := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	at := common.HexToAddress("0xAbCd000000000000000000000000000000000001")
	call := pack(reference.Pack(
		"sail", []leg{{"Skagen", 3}, {"K\"", 65535}}, [3]bool{true, false, true}, []byte{1, 2}, [4]byte{0xca, 0xfe},
	))
	output := pack(reference.Methods["sail"].Outputs.Pack(big.NewInt(-5), true))
	storm := slices.Concat(
		reference.Errors["Storm"].ID.Bytes()[:4], pack(reference.Errors["Storm"].Inputs.Pack(uint8(9), at)),
	)
	moored := reference.Events["Moored"]
	data := pack(moored.Inputs.NonIndexed().Pack([]common.Address{at}, int64(-7)))
	topics := [][]byte{moored.ID.Bytes(), crypto.Keccak256([]byte("Gull")), common.BigToHash(big.NewInt(12)).Bytes()}
	for name, texts := range map[string][]string{"JSON": {seaABI}, "Solidity": seaText} {
		a, err := abi.New(texts, nil)
		if err != nil {
			t.Fatal(err)
		}
		const arguments = `sail((string,uint16)[],bool[3],bytes,bytes4): (string,uint16)[] ` +
			`legs=[{"port":"Skagen","days":"3"},{"port":"K\"","days":"65535"}]` +
			` bool[3] flags=[true,false,true] bytes log=0x0102 bytes4 tag=0xcafe0000`
		for _, tc := range []struct {
			what, want string
			got        *abi.Decoded
		}{
			{"call", arguments, a.Call(call, nil)},
			{"call and results", arguments + " -> int256 =-5 bool ok=true", a.Call(call, output)},
			{"call and other results", arguments, a.Call(call, output[:32])},
			{"truncated call", "null", a.Call(call[:len(call)-40], nil)},
			{"short call", "null", a.Call(call[:3], nil)},
			{
				"error", "Storm(uint8,address): uint8 force=9 address where=0xabcd000000000000000000000000000000000001",
				a.Error(storm),
			},
			{"error with a number that is too great", "null", a.Error(
				append(storm[:4:4], append([]byte{1}, storm[5:]...)...),
			)},
			{"unknown error", "null", a.Error(call)},
			{
				"log", "Moored(string,uint256,address[],int64): string ship=0x" + hex.EncodeToString(
					topics[1],
				) + " (indexed) uint256 berth=12 (indexed)" +
					` address[] crew=["0xabcd000000000000000000000000000000000001"] int64 depth=-7`, a.Log(
					topics, data,
				),
			},
			{"log with a topic less", "null", a.Log(topics[:2], data)},
			{"log without topics", "null", a.Log(nil, data)},
			{"anonymous log", "null", a.Log([][]byte{crypto.Keccak256([]byte("Quiet()"))}, nil)},
		} {
			if got := show(tc.got); got != tc.want {
				t.Errorf("%s, %s:\n got %s\nwant %s", name, tc.what, got, tc.want)
			}
		}
	}
}

// TestABIOrder uses own declarations first, and tells those with the same identifier apart by topics and results.
func TestABIOrder(t *testing.T) {
	t.Parallel()
	standard, err := abi.New(strings.Split(strings.TrimSpace(abi.Standard), "\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	own, err := abi.New(
		[]string{"event Transfer(address indexed payer, address indexed payee, uint256 amount)"}, standard,
	)
	if err != nil {
		t.Fatal(err)
	}
	word := func(n byte) []byte { return append(make([]byte, 31), n) }
	id := crypto.Keccak256([]byte("Transfer(address,address,uint256)"))
	zero := "0x000000000000000000000000000000000000000"
	approve := append([]byte{0x09, 0x5e, 0xa7, 0xb3}, append(word(1), word(2)...)...)
	const transfer = "Transfer(address,address,uint256): "
	for want, got := range map[string]*abi.Decoded{
		transfer + "address from=" + zero + "1 (indexed) address to=" + zero +
			"2 (indexed) uint256 value=3": standard.Log([][]byte{id, word(1), word(2)}, word(3)),
		transfer + "address from=" + zero + "1 (indexed) address to=" + zero +
			"2 (indexed) uint256 tokenId=3 (indexed)": own.Log([][]byte{id, word(1), word(2), word(3)}, nil),
		transfer + "address payer=" + zero + "1 (indexed) address payee=" +
			zero + "2 (indexed) uint256 amount=3": own.Log([][]byte{id, word(1), word(2)}, word(3)),
		"approve(address,uint256): address spender=" + zero +
			"1 uint256 value=2 -> bool =true": own.Call(approve, word(1)),
		"approve(address,uint256): address to=" + zero +
			"1 uint256 tokenId=2 ->": own.Call(approve, []byte{}),
		"Panic(uint256): uint256 code=17": own.Error(append([]byte{0x4e, 0x48, 0x7b, 0x71}, word(17)...)),
	} {
		if show(got) != want {
			t.Errorf("got %s\nwant %s", show(got), want)
		}
	}
}

// TestInvalidABI rejects declarations.
func TestInvalidABI(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "transfer(address)", "function", "function f", "function f(", "function f(uint7)", "function f(uint256",
		"function f(uint256) returns (", "function f(int0)",
		"function f(bytes33)", "function f(uint08)", "event e(uint256[0])", "event e(uint256[5000])",
		"event e(uint256[-1])", "event e(uint256[02])",
		"error e(" + strings.Repeat("(", 9) + "uint256" + strings.Repeat(")[]", 9) + ")", // nests 18 types
		"event e(()[])", "event e(uint256[x])",
		"error e(uint256) {}", "error e(uint256" + strings.Repeat(
			"[]", 20,
		) + ")", "error e" + strings.Repeat("(", 100_000), "error e(" + strings.Repeat("uint,", 5000) + "uint)",
		"error e(uint " + strings.Repeat("x", 65) + ")", "function f(fixed128x18)", `{"type":"event"`, `[1]`,
		`{"type":"event","name":"e","inputs":[{"type":"tuple["}]}`,
		`{"name":"","inputs":[]}`, "error e(uint256,)", "error e(,uint256)", "error e(uint256 a b c d]",
	} {
		if _, err := abi.New([]string{text}, nil); err == nil {
			t.Errorf("%.60q is valid", text)
		}
	}
}

// transferCall is a call of f(address), with the address 1.
var transferCall = append(crypto.Keccak256([]byte("f(address)"))[:4], common.BigToHash(common.Big1).Bytes()...)

// publicForms are declarations of f(address) in the forms that tools write and that people paste.
var publicForms = []string{
	"function f(address a)",
	"function f(address a); ",
	"function f(address a);\n",
	"\tfunction f(address a)\r\n;\r\n",
	";;function f(address a);;",
	"function f ( address /* payable */ a ) // sends",
	"// SPDX-License-Identifier: MIT\n/** sends\n * @param a where to */ function f(address a) external;",
	"function f(address payable a) external payable",
	"function f(address a) public view virtual override(A, B) returns (uint256)",
	"function f(address a) external override(A,B);",
	"function f(address a) external onlyRole(keccak256(\"a)b\")) whenNotPaused nonReentrant() returns (bool ok)",
	"constructor(address owner) payable Ownable(owner); function f(address a)",
	"receive() external payable; fallback(bytes calldata input) external returns (bytes memory); function f(address a)",
	"function f(address a)\nfunction g(uint256)\nevent E(uint256 indexed n) anonymous\nerror X()",
	"event E(uint256) ; function f(address a)",
	"\ufeff" + `[{"type":"function","name":"f","inputs":[{"name":"a","type":"address"}]}]`,
	` {"type":"function","name":"f","inputs":[{"name":"a","type":"address","internalType":"address ` +
		`payable"}],"outputs":[],"stateMutability":"view"}`,
	`{"name":"f","inputs":[{"name":"a","type":"address"}],"constant":true}`,
	`["function f(address a)","event E(uint256 indexed n)"]`,
	`["constructor()","function f(address a) view returns (uint256);"]`,
	`{"abi":[{"type":"constructor","inputs":[]},{"type":"function","name":"f","inputs":[{"name":"a",` +
		`"type":"address"}]}],"bytecode":"0x60"}`,
	`{"_format":"hh-sol-artifact-1","contractName":"F","abi":["function f(address a)"],"linkReferences":{}}`,
	`[{"type":"fallback","stateMutability":"payable"},{"type":"receive"},{"type":"function","name":"f",` +
		`"inputs":[{"name":"a","type":"address"}],"outputs":null}]`,
}

// TestPublicForms accepts the same declaration in many forms.
func TestPublicForms(t *testing.T) {
	t.Parallel()
	for _, text := range publicForms {
		a, err := abi.New([]string{text}, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := a.Call(
			transferCall, nil,
		); d == nil || d.Signature != "f(address)" || d.Arguments[0].Name != "a" && d.Arguments[0].Name != "" {
			t.Errorf("%s: got %s", text, show(d))
		}
	}
	several, err := abi.New([]string{publicForms[13]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ids := several.Identifiers(); len(ids) != 3 {
		t.Errorf("got %d identifiers of three declarations that are not anonymous", len(ids))
	}
}

// TestABIErrors checks that errors have the words of ABIs and JSON, not those of Go.
func TestABIErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "must start with function, event or error",
		" ; ":                          "must start with function, event or error",
		"transfer(address)":            "must start with function, event or error",
		"struct A { uint256 n; }":      "must start with function, event or error",
		"function (address)":           "a name and parameters are missing",
		"function f(IERC20 token)":     `"IERC20" is not an ABI type: use address for contracts`,
		"function f(uint a b)":         `a parameter has two names, "a" and "b"`,
		"function f() { return; }":     "a body is not part of a declaration",
		"function f() -> uint":         `unexpected "-> uint" after the parameters`,
		"function f() m(1":             `the arguments of the modifier "m" do not end`,
		"function f() /* x":            `unexpected "/* x" after the parameters`,
		"function f(); g()":            "must start with function, event or error",
		`[1]`:                          `JSON of an ABI: "1" is neither a declaration nor a text`,
		`[[]]`:                         `JSON of an ABI: "[]" is neither a declaration nor a text`,
		`{"type":"event"`:              "JSON of an ABI: unexpected end of JSON input after 15 bytes",
		`{"type":5}`:                   "JSON of an ABI: type must not be a JSON number",
		`{"name":["f"]}`:               "JSON of an ABI: name must not be a JSON array",
		`{"name":"f","inputs":"none"}`: "JSON of an ABI: inputs must not be a JSON string",
		`[{"name":"f","inputs":[{"type":"address","indexed":"yes"}]}]`: "indexed must not be a JSON string",
		`[{"name":"f","inputs":["address"]}]`:                          "inputs must not be a JSON string",
		`{"abi":"function f()"}`:                                       "abi must be an array",
		`{"abi":[{"abi":[]}]}`: "abi must be an array, and a member of the " +
			"outermost object",
		`{"contracts":{}}`:     "a name and parameters are missing",
		`["function f(", "x"]`: `"" is not an ABI type`,
	} {
		_, err := abi.New([]string{text}, nil)
		if err == nil || !strings.Contains(
			err.Error(), want,
		) || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "struct field") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestOffsetBombs limits how many values are decoded from data whose offsets refer to the same place.
func TestOffsetBombs(t *testing.T) {
	t.Parallel()
	const n = 1000
	words := make([]byte, 0, 64*n)
	for range 2 * n {
		words = append(words, common.BigToHash(big.NewInt(32*n)).Bytes()...)
	}
	for _, types := range []string{
		"string[1000][1000]", "(string[1000],string[1000],string[1000])[1000]", "bytes[1000]", "string[][][][]",
	} {
		a, err := abi.New([]string{"error e(" + types + ")"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		id := crypto.Keccak256([]byte("e(" + types + ")"))[:4]
		text, _ := json.Marshal(a.Error(append(id, words...)))
		if len(text) > 10*len(words) {
			t.Errorf("%s: %d bytes from %d", types, len(text), len(words))
		}
	}
}

// FuzzABI decodes any data with any declarations. What is decoded is not much longer than both.
func FuzzABI(f *testing.F) {
	for _, text := range slices.Concat(
		seaText, publicForms, []string{seaABI, "error e(string[4][2] a)", "event e((bytes,uint8[])[] a)"},
	) {
		f.Add(text, make([]byte, 96))
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if len(text) > 4096 {
			return
		}
		a, err := abi.New([]string{text}, nil)
		if err != nil {
			if message := err.Error(); len(
				message,
			) > 600 || strings.Contains(message, "Go value") || strings.Contains(message, "Go struct") {
				t.Errorf("%q: %s", text, message)
			}
			return
		}
		for _, id := range a.Identifiers() {
			whole := append([]byte(id), data...)
			out := []*abi.Decoded{a.Call(whole, data), a.Error(whole), a.Log([][]byte{[]byte(id)}, data)}
			size, _ := json.Marshal(out)
			if len(size) > 1000*(len(data)+1024)+40*len(text) {
				t.Errorf("%d bytes from %d with %q", len(size), len(data), text)
			}
		}
	})
}

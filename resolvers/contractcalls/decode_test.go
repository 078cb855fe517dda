package contractcalls_test

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm/system"
	"heliograph/internal/domain/evm/system/abi"
)

// builtIn returns the declarations that are built in.
func builtIn(t testing.TB) *abi.ABI {
	t.Helper()
	texts := append(strings.Split(strings.TrimSpace(abi.Standard), "\n"), system.Declarations()...)
	a, err := abi.New(texts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// describe returns a decoded call as text: name(argument=value, …) -> results, and the inner call in braces.
func describe(d *abi.Decoded) string {
	if d == nil {
		return "null"
	}
	list := func(arguments []*abi.Argument) string {
		var out []string
		for _, a := range arguments {
			out = append(out, a.Name+"="+a.Value)
		}
		return strings.Join(out, ", ")
	}
	text := d.Name + "(" + list(d.Arguments) + ")"
	if d.Results != nil {
		text += " -> " + list(d.Results)
	}
	if d.Inner != nil {
		text += " {" + describe(d.Inner) + "}"
	}
	return text
}

// TestDecodeRedirects decodes calls of redirect functions, whose arguments are ABI-encoded or packed.
func TestDecodeRedirects(t *testing.T) {
	t.Parallel()
	a := builtIn(t)
	const token, none = "0x00000000000000000000000000000000000007d4", "0x0000000000000000000000000000000000000000"
	target := common.HexToAddress(token)
	alice := common.HexToAddress("0x3e9")
	number := func(n int64) []byte { return common.BigToHash(big.NewInt(n)).Bytes() }
	packed := func(selector uint32, inner []byte) []byte {
		head := []byte{byte(selector >> 24), byte(selector >> 16), byte(selector >> 8), byte(selector)}
		return slices.Concat(head, target[:], inner)
	}
	balance := input(t, "balanceOf(address)", alice)
	transfer := input(t, "transferFrom(address,address,uint256)", common.Address{}, alice, 7)
	for name, tc := range map[string]struct {
		input, output []byte
		want          string
	}{
		"token, packed": {
			packed(0x618dc65e, balance), number(5),
			"redirectForToken(token=" + token + ", encodedFunctionSelector=0x" + hex.EncodeToString(balance) + ") " +
				"{balanceOf(account=0x00000000000000000000000000000000000003e9) -> =5}",
		},
		"token, encoded": {
			input(t, "redirectForToken(address,bytes)", target, balance), number(5),
			"redirectForToken(token=" + token + ", encodedFunctionSelector=0x" + hex.EncodeToString(balance) + ") " +
				"{balanceOf(account=0x00000000000000000000000000000000000003e9) -> =5}",
		},
		"token without arguments": {
			packed(0x618dc65e, input(t, "name()")), nil,
			"redirectForToken(token=" + token + ", encodedFunctionSelector=0x06fdde03) {name()}",
		},
		"token, several arguments with a zero address": {
			packed(0x618dc65e, transfer), number(1),
			"redirectForToken(token=" + token + ", encodedFunctionSelector=0x" + hex.EncodeToString(
				transfer,
			) + ") {transferFrom(" +
				"from=" + none + ", to=0x00000000000000000000000000000000000003e9, value=7) -> =true}",
		},
		"unknown inner function": {
			packed(0x618dc65e, []byte{1, 2, 3, 4}), nil,
			"redirectForToken(token=" + token + ", encodedFunctionSelector=0x01020304)",
		},
		"account": {
			packed(0xe4cbd3a7, input(t, "hbarApprove(address,int256)", alice, 3)), number(22),
			"redirectForAccount(account=" + token + ", encodedFunctionSelector=0x86aff07c" + strings.Repeat(
				"0", 60,
			) + "03e9" +
				strings.Repeat(
					"0", 63,
				) +
				"3) {hbarApprove(spender=0x00000000000000000000000000000000000003e9, amount=3) -> responseCode=22}",
		},
		"schedule": {
			packed(0x5c3889ca, input(t, "signSchedule()")), number(22),
			"redirectForScheduleTxn(schedule=" + token +
				", encodedFunctionSelector=0x06d15889) {signSchedule() -> responseCode=22}",
		},
		"no inner function": {packed(0x618dc65e, []byte{1, 2, 3}), nil, "null"},
		"no token":          {[]byte{0x61, 0x8d, 0xc6, 0x5e}, nil, "null"},
		"cut off":           {[]byte{0x61, 0x8d, 0xc6}, nil, "null"},
		"not redirected": {balance, number(
			5,
		), "balanceOf(account=0x00000000000000000000000000000000000003e9) -> =5"},
		"system contract": {
			input(
				t, "mintToken(address,int64,bytes[])", target, 7, []any{},
			), slices.Concat(number(22), number(9), number(96), number(0)),
			"mintToken(token=" + token +
				", amount=7, metadata=[]) -> responseCode=22, newTotalSupply=9, serialNumbers=[]",
		},
		"system contract with a tuple": {
			input(t, "updateTokenKeys(address,(uint256,(bool,address,bytes,bytes,address))[])", target,
				[]any{[]any{1, []any{true, common.Address{}, []byte{}, []byte{}, common.Address{}}}}), nil,
			"updateTokenKeys(token=" +
				token + `, keys=[{"keyType":"1","key":{"inheritAccountKey":true,"contractId":"` + none +
				`","ed25519":"0x","ECDSA_secp256k1":"0x","delegatableContractId":"` + none + `"}}])`,
		},
	} {
		if got := describe(system.DecodeCall(a, tc.input, tc.output)); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
}

// TestDeclarationNames checks that all parameters of system contracts and the members of their tuples have names.
func TestDeclarationNames(t *testing.T) {
	t.Parallel()
	for _, d := range system.Declarations() {
		declared, _, _ := strings.Cut(d, " returns ")
		_, parameters, _ := strings.Cut(declared, "(")
		separates := func(r rune) bool { return strings.ContainsRune("(),", r) }
		for _, part := range strings.FieldsFunc(parameters, separates) {
			if fields := strings.Fields(part); len(fields) != 2 && part[0] != '[' && part[0] != ' ' {
				t.Errorf("%s: %q has no name", d, part)
			}
		}
	}
}

// TestDecodeErrors names the response codes in reverts of system contracts.
func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	a := builtIn(t)
	code := func(n int64) []byte { return common.BigToHash(big.NewInt(n)).Bytes() }
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"response code":        {code(184), "TOKEN_NOT_ASSOCIATED_TO_ACCOUNT(responseCode=184)"},
		"another":              {code(300), "INVALID_ALLOWANCE_OWNER_ID(responseCode=300)"},
		"success is no error":  {code(22), "null"},
		"zero":                 {code(0), "null"},
		"unknown number":       {code(9999), "null"},
		"large number":         {code(1 << 20), "null"},
		"address":              {common.HexToHash("0x3e93e93e93e93e93e93e93e93e93e93e93e93e9").Bytes(), "null"},
		"text":                 {input(t, "Error(string)", "no"), "Error(message=no)"},
		"number of 31 bytes":   {code(184)[1:], "null"},
		"two words":            {append(code(184), code(184)...), "null"},
		"nothing":              {nil, "null"},
		"code of 32-byte text": {[]byte("abcdefghijklmnopqrstuvwxyz012345"), "null"},
	} {
		if got := describe(system.DecodeError(a, tc.data)); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// FuzzDecodeCall decodes any data as calls and errors with all built-in declarations.
func FuzzDecodeCall(f *testing.F) {
	a := builtIn(f)
	for _, seed := range []string{"618dc65e", "e4cbd3a7", "5c3889ca", "e0f4059a", "1f69565f"} {
		head, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(head, make([]byte, 100)...), []byte{})
	}
	f.Fuzz(func(_ *testing.T, data, output []byte) {
		_, _ = system.DecodeCall(a, data, output), system.DecodeError(a, data)
	})
}

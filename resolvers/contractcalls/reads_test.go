package contractcalls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
	"heliograph/storage/evmstate"
)

// Times in the history of the demo network: now, 60 days ago, when accounts had granted allowances, and 100 days ago,
// before that.
func now() worldstate.BlockRef    { return worldstate.BlockRef{} }
func autumn() worldstate.BlockRef { return ago(60) }
func spring() worldstate.BlockRef { return ago(100) }
func ago(d int) worldstate.BlockRef {
	return worldstate.BlockRef{Before: ledger.TimestampOf(testenv.Now().AddDate(0, 0, -d))}
}

// missing is the number of an account that does not exist.
const missing = 987_654

// reading is a call of a read-only function and its result: values as text, or the response code of the revert.
type reading struct {
	signature, returns string
	to                 int64
	args               []any
	want               string
}

func TestReads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob, heidi, ivan := b.addressOf(t, demo.Bob), b.addressOf(t, demo.Heidi), b.addressOf(t, demo.Ivan)
	bobText, heidiText := strings.ToLower(bob.Hex()), strings.ToLower(heidi.Hex())
	tokens, accounts := int64(system167), int64(system16a)
	trent := "0xd2c5e170b9454c7ae8e5ec41fd2571cc90a88cba62b79d01add6b1d95bf371ae"
	keys := func(admin, supply, other string) string {
		one := func(n int, key string) string { return fmt.Sprintf("[%d [false @0 %s 0x @0]]", n, key) }
		return "[" + strings.Join([]string{
			one(1, admin), one(2, "0x"), one(4, "0x"), one(8, "0x"), one(16, supply),
			one(32, other), one(64, "0x"),
		}, " ") + "]"
	}
	tide := `[["Tide" "TIDE" @1017 "Rises and falls" true 1000000000 false ` + keys(trent, trent, trent) +
		` [1786106146 @0 7776000]] 499000000 false false false [] ` +
		`[[1 100 1 500 false @1018] [1 1000 0 0 true @1021]] [] "0x01"]`
	card := `["Postcards" "POST" @1017 "" false 9223372036854775807 false [[1 [false @0 0x 0x @0]] [2 [false @0 0x ` +
		`0x @0]] [4 [false @0 0x 0x @0]] [8 [false @0 ` + trent +
		` 0x @0]] [16 [false @0 ` + trent +
		` 0x @0]] [32 [false @0 0x 0x @0]] [64 [false @0 0x 0x @0]]] [1755002407 @0 7776000]] 7 false false false ` +
		`[] [] [] "0x01"`
	noInfo := `[["" "" @0 "" false 0 false [] [0 @0 0]] 0 false false false [] [] [] ""]`
	cases := []struct {
		name string
		at   worldstate.BlockRef
		list []reading
	}{
		{"now", now(), []reading{
			{"isToken(address)", "int64,bool", tokens, []any{lz(demo.Tide)}, "22 true"},
			{"isToken(address)", "int64,bool", tokens, []any{lz(demo.Alice)}, "22 false"},
			{"isToken(address)", "int64,bool", tokens, []any{lz(demo.FerryPass)}, "22 false"},
			{"isToken(address)", "int64,bool", tokens, []any{bob}, "22 false"},
			{"getTokenType(address)", "int64,int32", tokens, []any{lz(demo.Tide)}, "22 0"},
			{"getTokenType(address)", "int64,int32", tokens, []any{lz(demo.Lighthouse)}, "22 1"},
			{"getTokenType(address)", "int64,int32", tokens, []any{lz(demo.Bottle)}, "167 0"},
			{"isFrozen(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), lz(demo.Alice)}, "22 true"},
			{"isFrozen(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), lz(demo.Carol)}, "22 false"},
			// by default
			{"isFrozen(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), lz(demo.Dave)}, "22 true"},
			{"isFrozen(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), bob}, "22 false"},
			// has only an alias
			{"isFrozen(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), lz(demo.Bob)}, "15 false"},
			{"isFrozen(address,address)", "int64,bool", tokens, []any{lz(1), lz(demo.Alice)}, "167 false"},
			{"isKyc(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), lz(demo.Alice)}, "22 true"},
			{"isKyc(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), lz(demo.Carol)}, "22 false"},
			{"isKyc(address,address)", "int64,bool", tokens, []any{lz(demo.Ration), lz(demo.Dave)}, "22 true"},
			{"isKyc(address,address)", "int64,bool", tokens, []any{lz(demo.Tide), bob}, "22 true"},
			{
				"isKyc(address,address)", "int64,bool", tokens,
				[]any{lz(demo.Tide), common.Address{19: 1, 0: 1}},
				"15 false",
			},
			{"getTokenDefaultFreezeStatus(address)", "int64,bool", tokens, []any{lz(demo.Foghorn)}, "22 true"},
			{"getTokenDefaultFreezeStatus(address)", "int64,bool", tokens, []any{lz(demo.Tide)}, "22 false"},
			{"getTokenDefaultKycStatus(address)", "int64,bool", tokens, []any{lz(demo.Foghorn)}, "22 false"},
			{"getTokenDefaultKycStatus(address)", "int64,bool", tokens, []any{lz(demo.Tide)}, "22 true"},
			{
				"getTokenCustomFees(address)", "int64," + fx + "[]," + fr + "[]," + ry + "[]", tokens,
				[]any{lz(demo.Tide)},
				"22 [] [[1 100 1 500 false @1018] [1 1000 0 0 true @1021]] []",
			},
			{
				"getTokenCustomFees(address)", "int64," + fx + "[]," + fr + "[]," + ry + "[]", tokens,
				[]any{lz(demo.Driftwood)},
				"22 [[1 @2003 false false @1017] [250 @2001 false false @1017]] [] []",
			},
			{
				"getTokenCustomFees(address)", "int64," + fx + "[]," + fr + "[]," + ry + "[]", tokens,
				[]any{lz(demo.Seashell)},
				"22 [] [] [[1 10 0 @0 true " + heidiText + "]]",
			},
			{
				"getTokenCustomFees(address)", "int64," + fx + "[]," + fr + "[]," + ry + "[]", tokens,
				[]any{lz(demo.Lighthouse)},
				"22 [] [] [[5 100 200000000 @0 true @1018]]",
			},
			{
				"getTokenExpiryInfo(address)", "int64,(int64,address,int64)", tokens,
				[]any{lz(demo.Sunlight)},
				"22 [1755002126 @1021 7776000]",
			},
			{"getTokenInfo(address)", "int64," + ti, tokens, []any{lz(demo.Tide)}, "22 " + tide},
			{"getTokenInfo(address)", "int64," + ti, tokens, []any{lz(9)}, "167 " + noInfo},
			{
				"getFungibleTokenInfo(address)", "int64,(" + ti + ",int32)", tokens,
				[]any{lz(demo.Tide)},
				"22 [" + tide + " 2]",
			},
			{
				"getFungibleTokenInfo(address)", "int64,(" + ti + ",int32)", tokens,
				[]any{lz(demo.Postcard)},
				"167 [" + noInfo + " 0]",
			},
			{
				"getNonFungibleTokenInfo(address,int64)", nfti, tokens,
				[]any{lz(demo.Postcard), 1},
				"22 [[" + card + "] 1 @1001 %created 0x4772656574696e67732066726f6d207468652070696572 " + heidiText +
					"]",
			},
			{
				"getNonFungibleTokenInfo(address,int64)", nfti, tokens,
				[]any{lz(demo.Postcard), 4},
				"225 [" + noInfo + " 0 @0 0 0x @0]",
			},
			{
				"getNonFungibleTokenInfo(address,int64)", nfti, tokens,
				[]any{lz(demo.Tide), 1},
				"167 [" + noInfo + " 0 @0 0 0x @0]",
			},
			{
				"getTokenKey(address,uint256)", "int64," + kv, tokens,
				[]any{lz(demo.Tide), 16},
				"22 [false @0 " + trent + " 0x @0]",
			},
			{"getTokenKey(address,uint256)", "int64," + kv, tokens, []any{lz(demo.Tide), 2}, "44 [false @0 0x 0x @0]"},
			{"getTokenKey(address,uint256)", "int64," + kv, tokens, []any{lz(demo.Tide), 3}, "44 [false @0 0x 0x @0]"},
			{
				"allowance(address,address,address)", "int64,uint256", tokens,
				[]any{lz(demo.LampOil), lz(demo.Alice), bob},
				"22 65000000000",
			},
			{
				"allowance(address,address,address)", "int64,uint256", tokens,
				[]any{lz(demo.LampOil), lz(demo.Alice), heidi},
				"22 30000000000",
			},
			{
				"allowance(address,address,address)", "int64,uint256", tokens,
				[]any{lz(demo.Lighthouse), lz(demo.Alice), bob},
				"22 0",
			},
			{
				"allowance(address,address,address)", "int64,uint256", tokens,
				[]any{lz(demo.LampOil), lz(missing), bob},
				"300 0",
			},
			{"getApproved(address,uint256)", "int64,address", tokens, []any{lz(demo.Lighthouse), 2}, "22 @1003"},
			{"getApproved(address,uint256)", "int64,address", tokens, []any{lz(demo.Lighthouse), 1}, "22 @0"},
			{"getApproved(address,uint256)", "int64,address", tokens, []any{lz(demo.Lighthouse), 21}, "225 @0"},
			{
				"isApprovedForAll(address,address,address)", "int64,bool", tokens,
				[]any{lz(demo.Lighthouse), lz(demo.Alice), bob},
				"22 true",
			},
			{
				"isApprovedForAll(address,address,address)", "int64,bool", tokens,
				[]any{lz(demo.Lighthouse), lz(demo.Dave), lz(demo.Carol)},
				"22 false",
			},

			{"name()", "string", demo.Sunlight, nil, `"Sunlight"`},
			{"symbol()", "string", demo.Lighthouse, nil, `"LIGHT"`},
			{"decimals()", "uint8", demo.Sunlight, nil, "6"},
			{"decimals()", "uint8", demo.Lighthouse, nil, "revert 167"},
			{"totalSupply()", "uint256", demo.Sunlight, nil, "10250000000000"},
			{"totalSupply()", "uint256", demo.Postcard, nil, "7"},
			{"balanceOf(address)", "uint256", demo.Foghorn, []any{lz(demo.Alice)}, "1000"},
			{"balanceOf(address)", "uint256", demo.Foghorn, []any{lz(demo.Carol)}, "500"},
			{"balanceOf(address)", "uint256", demo.Foghorn, []any{ivan}, "0"},
			{"balanceOf(address)", "uint256", demo.Foghorn, []any{lz(demo.Ivan)}, "revert 15"},
			{"balanceOf(address)", "uint256", demo.Postcard, []any{lz(demo.Alice)}, "1"},
			{"balanceOf(address)", "uint256", demo.Kelp, []any{lz(demo.Carol)}, "250000"},
			{"allowance(address,address)", "uint256", demo.LampOil, []any{lz(demo.Alice), bob}, "65000000000"},
			{"allowance(address,address)", "uint256", demo.LampOil, []any{lz(missing), bob}, "revert 300"},
			{"ownerOf(uint256)", "address", demo.Lighthouse, []any{2}, "@1001"},
			{"ownerOf(uint256)", "address", demo.Lighthouse, []any{5}, "@1017"},
			{"ownerOf(uint256)", "address", demo.Lighthouse, []any{99}, "revert 225"},
			{"ownerOf(uint256)", "address", demo.Tide, []any{1}, "revert 167"},
			{"tokenURI(uint256)", "string", demo.Postcard, []any{1}, `"Greetings from the pier"`},
			{
				"tokenURI(uint256)", "string", demo.Postcard,
				[]any{4},
				`"ERC721Metadata: URI query for nonexistent token"`,
			},
			{"tokenURI(uint256)", "string", demo.Tide, []any{1}, "revert 0"},
			{"getApproved(uint256)", "address", demo.Lighthouse, []any{2}, "@1003"},
			{"getApproved(uint256)", "address", demo.Lighthouse, []any{22}, "revert 225"},
			{"isApprovedForAll(address,address)", "bool", demo.Lighthouse, []any{lz(demo.Alice), bob}, "true"},
			{"isApprovedForAll(address,address)", "bool", demo.Lighthouse, []any{bob, heidi}, "false"},
			{"isAssociated()", "bool", demo.Foghorn, nil, "true"},
			{"isAssociated()", "bool", demo.Ration, nil, "false"},
			{
				"redirectForToken(address,bytes)", "string", tokens,
				[]any{lz(demo.Tide), input(t, "symbol()")},
				`"TIDE"`,
			},
			{
				"redirectForToken(address,bytes)", "string", tokens,
				[]any{lz(demo.Bottle), input(t, "symbol()")},
				"revert 167",
			},

			{"hbarAllowance(address,address)", "int64,int256", accounts, []any{lz(demo.Alice), bob}, "22 60000000000"},
			{
				"hbarAllowance(address,address)", "int64,int256", accounts,
				[]any{lz(demo.Fund), lz(demo.Walter)},
				"22 910000000000",
			},
			{
				"hbarAllowance(address,address)", "int64,int256", accounts,
				[]any{lz(demo.Alice), lz(demo.Frank)},
				"22 0",
			},
			{
				"hbarAllowance(address,address)", "int64,int256", accounts,
				[]any{lz(demo.Bob), lz(demo.Frank)},
				"revert 300",
			},
			{"hbarAllowance(address)", "int64,int256", demo.Alice, []any{lz(demo.Carol)}, "22 10000000000"},
			{"getEvmAddressAlias(address)", "int64,address", accounts, []any{lz(demo.Bob)}, "22 " + bobText},
			{"getEvmAddressAlias(address)", "int64,address", accounts, []any{lz(demo.Alice)}, "15 @0"},
			{"getEvmAddressAlias(address)", "int64,address", accounts, []any{bob}, "15 @0"},
			{"getHederaAccountNumAlias(address)", "int64,address", accounts, []any{bob}, "22 @1002"},
			{"getHederaAccountNumAlias(address)", "int64,address", accounts, []any{common.Address{9}}, "29 @0"},
			{"isValidAlias(address)", "bool", accounts, []any{bob}, "true"},
			{"isValidAlias(address)", "bool", accounts, []any{lz(demo.Alice)}, "true"},
			{"isValidAlias(address)", "bool", accounts, []any{lz(demo.Tide)}, "false"},
		}},
		{"60 days ago", autumn(), []reading{
			{"isToken(address)", "int64,bool", tokens, []any{lz(demo.Bottle)}, "22 true"},
			{"name()", "string", demo.Driftwood, nil, `"Driftwood (washed ashore)"`},
			{"allowance(address,address)", "uint256", demo.LampOil, []any{lz(demo.Alice), bob}, "65000000000"},
			{
				"hbarAllowance(address,address)", "int64,int256", accounts,
				[]any{lz(demo.Fund), lz(demo.Walter)},
				"22 910000000000",
			},
			{
				"isApprovedForAll(address,address)", "bool", demo.Lighthouse,
				[]any{lz(demo.Dave), lz(demo.Carol)},
				"false",
			},
			{"tokenURI(uint256)", "string", demo.Bottle, []any{1}, `"To whoever finds this"`},
			{"ownerOf(uint256)", "address", demo.Bottle, []any{1}, bobText},
			{"ownerOf(uint256)", "address", demo.Lighthouse, []any{5}, "@1017"},
			{"totalSupply()", "uint256", demo.Bottle, nil, "3"},
			{"balanceOf(address)", "uint256", demo.Bottle, []any{bob}, "1"},
			{"totalSupply()", "uint256", demo.Tide, nil, "499000000"},
			{"isFrozen(address,address)", "int64,bool", tokens, []any{lz(demo.Foghorn), lz(demo.Alice)}, "22 true"},
		}},
		{"100 days ago", spring(), []reading{
			{"allowance(address,address)", "uint256", demo.LampOil, []any{lz(demo.Alice), bob}, "0"},
			{
				"hbarAllowance(address,address)", "int64,int256", accounts,
				[]any{lz(demo.Fund), lz(demo.Walter)},
				"22 0",
			},
			{"isApprovedForAll(address,address)", "bool", demo.Lighthouse, []any{lz(demo.Alice), bob}, "false"},
			{"getApproved(uint256)", "address", demo.Lighthouse, []any{2}, "@0"},
			{"ownerOf(uint256)", "address", demo.Lighthouse, []any{5}, "@1003"},
			{"ownerOf(uint256)", "address", demo.Lighthouse, []any{4}, heidiText},
			{"balanceOf(address)", "uint256", demo.Lighthouse, []any{lz(demo.Walter)}, "1"},
		}},
		{"366 days ago", ago(366), []reading{
			{"totalSupply()", "uint256", demo.Sunlight, nil, "10000000000000"},
			{"totalSupply()", "uint256", demo.Tide, nil, "500000000"},
			{"totalSupply()", "uint256", demo.Lighthouse, nil, "0"},
			{"balanceOf(address)", "uint256", demo.Foghorn, []any{lz(demo.Carol)}, "800"},
			{"ownerOf(uint256)", "address", demo.Lighthouse, []any{1}, "revert 225"},
			{"balanceOf(address)", "uint256", demo.LampOil, []any{lz(demo.Alice)}, "500000000000"},
		}},
	}
	for _, c := range cases {
		for _, r := range c.list {
			t.Run(fmt.Sprintf("%s/%s of %d", c.name, r.signature, r.to), func(t *testing.T) {
				t.Parallel()
				got := b.read(t, c.at, r)
				if before, after, ok := strings.Cut(r.want, "%created"); ok && strings.HasPrefix(got, before) &&
					strings.HasSuffix(got, after) {
					return // the creation time of a serial is not constant in demo data
				}
				if got != r.want {
					t.Errorf("%v: got %s, want %s", r.args, got, r.want)
				}
			})
		}
	}
}

// read makes a call as Alice and returns its result as text. All read-only functions cost the same gas.
func (b *bench) read(t *testing.T, at worldstate.BlockRef, r reading) string {
	t.Helper()
	data := input(t, r.signature, r.args...)
	result := b.call(t, at, lz(demo.Alice), lz(r.to), data)
	if direct := r.to == system167 || r.to == system16a; direct && result.Code == codes.Success {
		if want := intrinsic(data) + viewGas; result.GasUsed != want {
			t.Errorf("used %d gas, want %d", result.GasUsed, want)
		}
	}
	switch result.Code {
	case codes.Success:
		return output(t, r.returns, result.Output)
	case codes.ContractRevertExecuted:
		return fmt.Sprintf("revert %d", revertCode(result.Output))
	default:
		return result.Code.String()
	}
}

// intrinsic returns the intrinsic gas of call data.
func intrinsic(data []byte) uint64 {
	gas := uint64(21_000)
	for _, b := range data {
		if b == 0 {
			gas += 4
		} else {
			gas += 16
		}
	}
	return gas
}

// dataFloor returns the minimum gas of a call with data: 10 per zero byte, and 40 per other byte.
func dataFloor(data []byte) uint64 { return 21_000 + (intrinsic(data)-21_000)*10/4 }

const (
	system167 = 0x167
	system16a = 0x16a

	kv = "(bool,address,bytes,bytes,address)"
	fx = "(int64,address,bool,bool,address)"
	fr = "(int64,int64,int64,int64,bool,address)"
	ry = "(int64,int64,int64,address,bool,address)"
	ti = "((string,string,address,string,bool,int64,bool,(uint256," + kv +
		")[],(int64,address,int64)),int64,bool,bool,bool," + fx + "[]," + fr + "[]," + ry + "[],string)"
	nfti = "int64,(" + ti + ",int64,address,int64,bytes,address)"
)

// TestReadsAgree reads all tokens and their holders from the current state and from the historical state at the newest
// block, which uses other tables.
func TestReadsAgree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s, err := b.reader.Open(t.Context(), evmstate.Request{})
	if err != nil {
		t.Fatal(err)
	}
	then := worldstate.BlockRef{Number: ledger.Of(s.Block().Number)}
	s.Close()
	for token := int64(demo.Sunlight); token <= demo.Ration; token++ {
		for _, r := range []reading{
			{"getTokenInfo(address)", "int64," + ti, system167, []any{lz(token)}, ""},
			{"balanceOf(address)", "uint256", token, []any{lz(demo.Trent)}, ""},
			{"balanceOf(address)", "uint256", token, []any{lz(demo.Alice)}, ""},
			{"balanceOf(address)", "uint256", token, []any{lz(demo.Victor)}, ""},
			{"balanceOf(address)", "uint256", token, []any{lz(demo.Fund)}, ""},
			{"ownerOf(uint256)", "address", token, []any{3}, ""},
			{"isKyc(address,address)", "int64,bool", system167, []any{lz(token), lz(demo.Erin)}, ""},
		} {
			if token == demo.FerryPass || token == demo.Bottle {
				r.to = system167 // a deleted token has no functions at its address
				r.signature, r.returns, r.args = "isToken(address)", "int64,bool", []any{lz(token)}
			}
			if got, want := b.read(t, then, r), b.read(t, now(), r); got != want {
				t.Errorf("token %d, %s: %s then, %s now", token, r.signature, got, want)
			}
		}
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	steps := []step{
		{to: lz(system167), data: input(t, "getTokenType(address)", lz(demo.Lighthouse)), op: vm.STATICCALL},
		{to: lz(system167), data: input(t, "getTokenType(address)", lz(demo.Bottle)), op: vm.STATICCALL},
		{to: lz(system167), data: input(t, "getTokenType(address)", lz(demo.Bottle))},
		{
			to: lz(system167), data: input(t, "associateToken(address,address)", lz(demo.Alice), lz(demo.Ration)),
			op: vm.STATICCALL,
		},
		{to: lz(demo.Tide), data: input(t, "totalSupply()"), op: vm.STATICCALL},
		{to: lz(demo.Tide), data: input(t, "approve(address,uint256)", lz(demo.Carol), 1), op: vm.STATICCALL},
		{to: lz(system167), data: append(input(t, "getTokenType(address)", lz(demo.Tide))[:4], 1)},
		{to: lz(system167), data: input(t, "isToken(address)", lz(demo.Tide))[:35]},
		{to: lz(system167), data: []byte{1, 2, 3}},
		{to: lz(system167), data: input(t, "getTokenType(address)", lz(demo.Lighthouse)), op: vm.DELEGATECALL},
		{to: lz(system167), data: append(common.FromHex("618dc65e"),
			append(lz(demo.Tide).Bytes(), input(t, "totalSupply()")...)...), op: vm.DELEGATECALL},
		{to: lz(system167), data: append(common.FromHex("618dc65e"),
			append(lz(demo.Tide).Bytes(), input(t, "totalSupply()")...)...)},
		{
			to: lz(system16a), data: input(t, "hbarApprove(address,address,int256)", lz(demo.Alice), lz(demo.Carol), 1),
			op: vm.DELEGATECALL,
		},
	}
	want := []string{
		"true 22", "false 167", "true 167", "false 0", "true 499000000", "false 0", "false 0", "false 0",
		"false 0", "false 0", "false 0", "true 499000000", "false 300",
	}
	for i, got := range b.as(t, now(), lz(demo.Alice), steps...) {
		if text := fmt.Sprint(got.ok, " ", got.word); text != want[i] {
			t.Errorf("step %d: got %s, want %s", i, text, want[i])
		}
	}
}

func TestUnknownFunctions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if r := b.call(t, now(), lz(demo.Alice), lz(system167), []byte{1, 2, 3, 4}); r.Code != codes.Success ||
		len(r.Output) > 0 || r.GasUsed != 15_000_000 {
		t.Errorf("an unknown function: %s, %d gas", r.Code, r.GasUsed)
	}
	if r := b.call(t, now(), lz(demo.Alice), lz(system167), nil); r.Code != codes.ContractExecutionException {
		t.Errorf("no data: %s", r.Code)
	}
}

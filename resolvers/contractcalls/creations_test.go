package contractcalls_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
	"heliograph/storage/evmstate"
)

// Functions that create tokens, in three versions.
const (
	oldFixed        = "(uint32,address,bool,bool,address)"
	oldPart         = "(uint32,uint32,uint32,uint32,bool,address)"
	oldRoyalty      = "(uint32,uint32,uint32,address,bool,address)"
	createUnits     = "createFungibleToken(" + tokenTuple + ",int64,int32)"
	createUnitsFees = "createFungibleTokenWithCustomFees(" + tokenTuple + ",int64,int32," + fixedTuple + "[]," +
		partTuple + "[])"
	createNFT     = "createNonFungibleToken(" + tokenTuple + ")"
	createNFTFees = "createNonFungibleTokenWithCustomFees(" + tokenTuple + "," + fixedTuple + "[]," + royaltyTuple +
		"[])"
)

// next returns the number before the first entity that a simulation creates.
func (b *bench) next(t testing.TB) int64 {
	t.Helper()
	s, err := b.reader.Open(t.Context(), evmstate.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	highest, err := s.HighestEntity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return highest + 1000
}

// hbars is the value that creations send in tinybars, more than their charge.
const hbars = 500 * 100_000_000

// with returns a copy of a list with one element replaced.
func with(list []any, place int, v any) []any {
	out := append([]any{}, list...)
	out[place] = v
	return out
}

// Indexes in the tuple of a new token.
const (
	nameAt = iota
	symbolAt
	treasuryAt
	memoAt
	finiteAt
	maxAt
	freezeAt
	keysAt
	expiryAt
)

// gull returns a valid new token. Trent is the treasury, Alice is the auto-renew account. Without keys, one key of 32
// bytes of 7 has all roles.
func gull(keys ...any) []any {
	if keys == nil {
		keys = []any{keyFor(127)}
	}
	return []any{
		"Gull", "GULL", lz(demo.Trent), "a bird", true, 1000, false,
		keys,
		[]any{0, lz(demo.Alice), 7_776_000},
	}
}

func keyFor(kinds int) []any {
	return []any{kinds, []any{false, common.Address{}, bytes.Repeat([]byte{7}, 32), []byte{}, common.Address{}}}
}

// TestCreations creates tokens and uses them. Each case runs first in a frame that reverts.
func TestCreations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	twice(t, b, creations(b.next(t)))
}

func creations(next int64) []updateCase {
	const hts = system167
	alice, carol, dave, judy, victor, fund := lz(demo.Alice), lz(demo.Carol), lz(demo.Dave), lz(demo.Judy),
		lz(demo.Victor), lz(demo.Fund)
	trent, sun, none := lz(demo.Trent), lz(demo.Sunlight), common.Address{}
	one, two := lz(next+1), lz(next+2)
	create := func(signature, want string, args ...any) updating {
		return updating{to: hts, signature: signature, args: args, want: want, value: hbars}
	}
	address := func(u updating, num int64) updating {
		u.nth, u.want = 1, fmt.Sprint("true ", num)
		return u
	}
	call := func(want, signature string, args ...any) updating {
		return updating{to: hts, signature: signature, args: args, want: want}
	}
	at := func(num int64, want, signature string, args ...any) updating {
		return updating{to: num, signature: signature, args: args, want: want}
	}
	word := func(n int, u updating) updating {
		u.nth = n
		return u
	}
	units := create(createUnits, "true 22", gull(), 500, 2)
	nfts := create(createNFT, "true 22", gull())
	fees := []any{
		[]any{5, sun, false, false, victor},
		[]any{7, none, true, false, victor},
		[]any{9, none, false, true, judy},
	}
	cases := []updateCase{
		{"units", now(), alice, []updating{
			units,
			address(units, next+2),
			word(2, at(next+1, said("Gull"), "name()")),
			word(2, at(next+1, said("GULL"), "symbol()")),
			at(next+1, "true 2", "decimals()"),
			at(next+1, "true 500", "totalSupply()"),
			at(next+1, "true 500", "balanceOf(address)", trent),
			at(next+1, "true 0", "balanceOf(address)", carol),
			word(1, call("true 1", "isToken(address)", one)),
			word(1, call("true 0", "isToken(address)", lz(next+3))),
			word(1, call("true 0", "getTokenType(address)", one)),
			word(1, call("true 0", "isFrozen(address,address)", one, trent)),
			word(1, call("true 1", "isKyc(address,address)", one, trent)),
			word(3, call("true 7776000", "getTokenExpiryInfo(address)", one)),
			word(2, call("true 1001", "getTokenExpiryInfo(address)", one)),
			call("true 22", "getTokenInfo(address)", one),
			call("true 22", "getFungibleTokenInfo(address)", one),
			word(8, call("true "+new(big.Int).SetBytes(bytes.Repeat([]byte{7}, 32)).String(),
				"getTokenKey(address,uint256)", one, 16)),
			call("true 22", "associateToken(address,address)", carol, one),
			call("true 194", "associateToken(address,address)", trent, one),
			call("true 22", "grantTokenKyc(address,address)", one, carol),
			call("true 22", "transferToken(address,address,address,int64)", one, trent, carol, 100),
			at(next+1, "true 100", "balanceOf(address)", carol),
			call("true 178", "transferToken(address,address,address,int64)", one, trent, carol, 401),
			call("true 22", "mintToken(address,int64,bytes[])", one, 500, []any{}),
			call("true 236", "mintToken(address,int64,bytes[])", one, 1, []any{}),
			at(next+1, "true 900", "balanceOf(address)", trent),
			call("true 22", "wipeTokenAccount(address,address,int64)", one, carol, 40),
			call("true 22", "updateTokenKeys(address,"+keyTuple+"[])", one, []any{keyFor(1)}),
			call("true 22", "pauseToken(address)", one),
			call("true 265", "transferToken(address,address,address,int64)", one, trent, carol, 1),
			call("true 22", "unpauseToken(address)", one),
			call("true 22", "deleteToken(address)", one),
			call("true 179", "transferToken(address,address,address,int64)", one, trent, carol, 1),
			at(next+2, "true 500", "balanceOf(address)", trent), // the second token
			word(3, at(hts, "true 0", "getTokenKey(address,uint256)", two, 1)),
		}},
		{"serials", now(), alice, []updating{
			nfts,
			at(next+1, "true 0", "totalSupply()"),
			call("true 22", "mintToken(address,int64,bytes[])", one, 0, []any{[]byte("one"), []byte("two")}),
			at(next+1, "true 1017", "ownerOf(uint256)", 2),
			word(2, at(next+1, said("two"), "tokenURI(uint256)", 2)),
			call("true 22", "associateToken(address,address)", carol, one),
			call("true 22", "grantTokenKyc(address,address)", one, carol),
			call("true 22", "transferNFT(address,address,address,int64)", one, trent, carol, 2),
			at(next+1, "true 1003", "ownerOf(uint256)", 2),
			at(next+1, "false 225", "ownerOf(uint256)", 3),
			call("true 22", "getNonFungibleTokenInfo(address,int64)", one, 1),
			// A new treasury receives the serials of the old one, and must not own any before.
			call("true 195", updateInfo, one, aToken("", "", carol, "", []any{})),
			call("true 22", "associateToken(address,address)", dave, one),
			call("true 176", updateInfo, one, aToken("", "", dave, "", []any{})),
			call("true 22", "grantTokenKyc(address,address)", one, dave),
			call("true 22", updateInfo, one, aToken("", "", dave, "", []any{})),
			at(next+1, "true 1004", "ownerOf(uint256)", 1),
			at(next+1, "true 1003", "ownerOf(uint256)", 2),
			at(next+1, "true 1", "balanceOf(address)", dave),
			at(next+1, "true 0", "balanceOf(address)", trent),
		}},
		{"fees of units", now(), alice, []updating{
			create(createUnitsFees, "true 22", with(gull(keyFor(1)), maxAt, 100_000), 50_000, 0,
				fees, []any{[]any{1, 10, 2, 50, true, fund}}),
			word(4, call("true 3", "getTokenCustomFees(address)", one)),
			word(5, call("true 5", "getTokenCustomFees(address)", one)),
			word(6, call("true 2001", "getTokenCustomFees(address)", one)),
			word(16, call(fmt.Sprint("true ", next+1), "getTokenCustomFees(address)", one)),
			// Fee collectors are associated with the token at creation.
			call("true 194", "associateToken(address,address)", judy, one),
			call("true 194", "associateToken(address,address)", fund, one),
			call("true 22", "associateToken(address,address)", carol, one),
			call("true 22", "associateToken(address,address)", dave, one),
			call("true 22", "transferToken(address,address,address,int64)", one, trent, carol, 1000),
			call("true 22", "associateToken(address,address)", alice, one),
			// Carol pays five Sunlight and seven tinybars to Victor, nine to Judy, and a tenth, at most 50, to the
			// fund.
			call("true 22", "transferToken(address,address,address,int64)", one, carol, dave, 600),
			at(next+1, "true 600", "balanceOf(address)", dave),
			at(next+1, "true 9", "balanceOf(address)", judy),
			at(next+1, "true 50", "balanceOf(address)", fund),
			at(next+1, "true 341", "balanceOf(address)", carol),
		}},
		{"fees of serials", now(), alice, []updating{
			create(createNFTFees, "true 22", gull(keyFor(1|16)), fees[:2],
				[]any{[]any{1, 2, 100, none, true, victor}, []any{1, 3, 0, none, false, fund}}),
			word(16, call("true 2", "getTokenCustomFees(address)", one)),
		}},
		{"kept from moving", now(), alice, []updating{
			create(createUnits, "true 22", with(gull(keyFor(1|2|4)), freezeAt, true), 500, 2),
			word(1, call("true 0", "isFrozen(address,address)", one, trent)),
			call("true 22", "associateToken(address,address)", carol, one),
			word(1, call("true 1", "isFrozen(address,address)", one, carol)),
			word(1, call("true 0", "isKyc(address,address)", one, carol)),
			call("true 165", "transferToken(address,address,address,int64)", one, trent, carol, 1),
			call("true 22", "unfreezeToken(address,address)", one, carol),
			call("true 176", "transferToken(address,address,address,int64)", one, trent, carol, 1),
		}},
		{"without an end", now(), alice, []updating{
			create(createUnits, "true 22", with(with(gull(keyFor(16)), finiteAt, false), maxAt, 0), 500, 2),
			call("true 22", "mintToken(address,int64,bytes[])", one, int64(math.MaxInt64-500), []any{}),
			call("true 236", "mintToken(address,int64,bytes[])", one, 1, []any{}),
			call("true 193", "deleteToken(address)", one),
		}},
		{"at a second", now(), alice, []updating{
			create(createUnits, "true 22", with(gull(), expiryAt, []any{4_000_000_000, alice, 0}), 0, 2),
			word(1, call("true 4000000000", "getTokenExpiryInfo(address)", one)),
		}},
		{"by the caller", now(), lz(demo.Tollgate), []updating{
			create(createUnits, "true 22", with(gull([]any{1, []any{true, none, []byte{}, []byte{}, none}}),
				treasuryAt, lz(demo.Tollgate)), 7, 0),
			word(3, call("true 3010", "getTokenKey(address,uint256)", one, 1)),
			at(next+1, "true 7", "balanceOf(address)", lz(demo.Tollgate)),
		}},
		{"366 days ago", ago(366), alice, []updating{units, at(next+1, "true 500", "totalSupply()")}},
		{"refusals", now(), alice, refusedCreations(create, call)},
	}
	return append(cases, olderCreations(next, create, at)...)
}

// refusedCreations returns creations that fail. None of them allocates a number.
func refusedCreations(create, call func(string, string, ...any) updating) []updating {
	alice, victor, judy, sun, none := lz(demo.Alice), lz(demo.Victor), lz(demo.Judy), lz(demo.Sunlight),
		common.Address{}
	long := strings.Repeat("x", 101)
	expiring := func(second int64, payer common.Address, period int64) []any {
		return with(gull(), expiryAt, []any{second, payer, period})
	}
	key := func(value ...any) []any { return gull([]any{1, value}) }
	var out []updating
	for _, c := range []struct {
		code int
		args []any
	}{
		{50, []any{key(false, none, []byte{}, []byte{}, none), 5, 0}},
		{50, []any{key(false, none, make([]byte, 16), []byte{}, none), 5, 0}},
		{50, []any{key(false, alice, make([]byte, 32), []byte{}, none), 5, 0}},
		{50, []any{key(true, alice, []byte{}, []byte{}, none), 5, 0}},
		{174, []any{with(gull(), symbolAt, ""), 5, 0}},
		{15, []any{with(gull(), treasuryAt, lz(missing)), 5, 0}},
		{15, []any{with(gull(), treasuryAt, none), 5, 0}},
		{45, []any{expiring(0, none, 7_776_000), 5, 0}},
		{45, []any{expiring(0, alice, 0), 5, 0}},
		{45, []any{expiring(1, alice, 0), 5, 0}},
		{45, []any{expiring(9_000_000_000, alice, 0), 5, 0}},
		{45, []any{expiring(0, alice, math.MaxInt64), 5, 0}},
		{70, []any{expiring(0, alice, -1), 5, 0}},
		{70, []any{expiring(0, alice, 2_591_999), 5, 0}},
		{70, []any{expiring(0, alice, 8_000_002), 5, 0}},
		{159, []any{expiring(0, lz(missing), 7_776_000), 5, 0}},
		{169, []any{gull(), -1, 0}},
		{169, []any{gull(), 1001, 0}},
		{168, []any{gull(), 5, -1}},
		{224, []any{with(gull(), maxAt, 0), 5, 0}},
		{224, []any{with(gull(), maxAt, -1), 5, 0}},
		{224, []any{with(gull(), finiteAt, false), 5, 0}},
		{172, []any{with(gull(keyFor(1)), freezeAt, true), 5, 0}},
		{190, []any{with(gull(), nameAt, ""), 5, 0}},
		{191, []any{with(gull(), nameAt, long), 5, 0}},
		{175, []any{with(gull(), symbolAt, long), 5, 0}},
		{8, []any{with(gull(), memoAt, long), 5, 0}},
		{211, []any{with(gull(), nameAt, "a\x00b"), 5, 0}},
	} {
		out = append(out, create(createUnits, fmt.Sprint("true ", c.code), c.args...))
	}
	for _, c := range []struct {
		code         int
		fixed, parts []any
	}{
		{232, times(11, []any{1, none, true, false, victor}), []any{}},
		{239, []any{[]any{0, none, true, false, victor}}, []any{}},
		{50, []any{[]any{1, none, false, false, victor}}, []any{}},
		{50, []any{[]any{1, sun, true, false, victor}}, []any{}},
		{50, []any{[]any{1, sun, false, true, victor}}, []any{}},
		{50, []any{[]any{1, none, true, true, victor}}, []any{}},
		{234, []any{[]any{1, lz(missing), false, false, victor}}, []any{}},
		{245, []any{[]any{1, lz(demo.Lighthouse), false, false, victor}}, []any{}},
		{233, []any{[]any{1, none, true, false, lz(missing)}}, []any{}},
		{235, []any{[]any{1, sun, false, false, judy}}, []any{}},
		{230, []any{}, []any{[]any{1, 0, 0, 0, true, victor}}},
		{239, []any{}, []any{[]any{-1, 10, 0, 0, true, victor}}},
		{243, []any{}, []any{[]any{1, 10, 5, 4, true, victor}}},
	} {
		out = append(out, create(createUnitsFees, fmt.Sprint("true ", c.code), gull(), 5, 0, c.fixed, c.parts))
	}
	unpaid := call("true 9", createUnits, gull(), 5, 0)
	little := unpaid
	little.value = 100
	static := call("false 0", createUnits, gull(), 5, 0)
	static.op = vm.STATICCALL
	return append(
		out,
		create(createNFT, "true 180", gull(keyFor(1))),
		create(createNFTFees, "true 242", gull(), []any{}, []any{[]any{3, 2, 0, none, true, victor}}),
		create(createNFTFees, "true 245", gull(), []any{[]any{1, none, false, true, victor}}, []any{}),
		unpaid, little, static,
	)
}

// olderCreations returns creations with the older versions of the functions.
func olderCreations(
	next int64, create func(string, string, ...any) updating, at func(int64, string, string, ...any) updating,
) []updateCase {
	sun, none, victor, fund, alice := lz(demo.Sunlight), common.Address{}, lz(demo.Victor), lz(demo.Fund),
		lz(demo.Alice)
	fixed := []any{[]any{5, sun, false, false, victor}}
	parts := []any{[]any{1, 10, 2, 50, true, fund}}
	royalties := []any{[]any{1, 2, 100, none, true, victor}}
	var out []updateCase
	for _, version := range []struct{ name, token, supply, decimals string }{
		{"first", oldTuple, "uint256", "uint256"},
		{"second", newerTuple, "uint64", "uint32"},
	} {
		units := "(" + version.token + "," + version.supply + "," + version.decimals
		out = append(out, updateCase{version.name + " version", now(), alice, []updating{
			create("createFungibleToken"+units+")", "true 22", gull(), 500, 2),
			at(next+1, "true 500", "totalSupply()"),
			at(next+1, "true 2", "decimals()"),
			create("createFungibleTokenWithCustomFees"+units+","+oldFixed+"[],"+oldPart+"[])", "true 22", gull(),
				600, 3, fixed, parts),
			at(next+2, "true 600", "balanceOf(address)", lz(demo.Trent)),
			create("createNonFungibleToken("+version.token+")", "true 22", gull()),
			create("createNonFungibleTokenWithCustomFees("+version.token+","+oldFixed+"[],"+oldRoyalty+"[])",
				"true 22", gull(), fixed, royalties),
			{to: system167, signature: "getTokenType(address)", args: []any{lz(next + 4)}, want: "true 1", nth: 1},
			create("createNonFungibleTokenWithCustomFees("+version.token+","+oldFixed+"[],"+oldRoyalty+"[])",
				"true 239", gull(), []any{[]any{0, none, true, false, victor}}, royalties),
		}})
	}
	huge := new(big.Int).Lsh(common.Big1, 64)
	return append(out, updateCase{"too much for the ledger", now(), alice, []updating{
		create("createFungibleToken("+oldTuple+",uint256,uint256)", "true 169", gull(), huge, 2),
		create("createFungibleToken("+oldTuple+",uint256,uint256)", "true 168", gull(), 5, huge),
	}})
}

// TestCreationGas checks the price of creations: constant gas, and a value. The caller keeps the excess value.
func TestCreationGas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	fees := []any{gull(), 5, 0, []any{[]any{5, common.Address{}, true, false, lz(demo.Victor)}}, []any{}}
	balance := step{code: append(append([]byte{byte(vm.PUSH20)}, lz(demo.Alice).Bytes()...), byte(vm.BALANCE),
		byte(vm.PUSH1), 0, byte(vm.MSTORE),
		byte(vm.PUSH1), 32, byte(vm.PUSH1), 0, byte(vm.RETURN))}
	create := func(value uint64, signature string, args ...any) step {
		return step{to: lz(system167), data: input(t, signature, args...), value: value}
	}
	got := b.as(
		t, now(), lz(demo.Alice), balance, create(hbars, createUnits, gull(), 5, 0),
		balance, create(hbars, createUnitsFees, fees...), balance,
		create(hbars, createUnits, gull(), -1, 0), balance, create(1, createUnits, gull(), 5, 0), balance,
	)
	cost := func(i int) int64 { return new(big.Int).Sub(got[i-1].word, got[i+1].word).Int64() }
	price := cost(1)
	if price <= 0 || price >= hbars {
		t.Errorf("a token costs %d tinybars", price)
	}
	// The gas price is subtracted once. So the charge for two dollars plus 20 percent is more than twice that for one
	// dollar plus 20 percent.
	if twice := cost(3); twice <= 2*price || twice > 2*price+price/10 {
		t.Errorf("a token costs %d tinybars, one with fees %d", price, twice)
	}
	if cost(5) != 0 || cost(7) != 0 {
		t.Errorf("what was not created cost %d and %d tinybars", cost(5), cost(7))
	}
	exact := b.as(t, now(), lz(demo.Alice), create(uint64(price)-1, createUnits, gull(), 5, 0),
		create(uint64(price), createUnits, gull(), 5, 0))
	if exact[0].word.Int64() != 9 || exact[1].word.Int64() != 22 {
		t.Errorf("for %d tinybars there is no token: %v", price, exact)
	}
	data := input(t, createUnits, gull(), 5, 0)
	r := b.call(t, now(), lz(demo.Alice), lz(system167), data)
	if got := r.GasUsed - intrinsic(data); got != 100_000 || r.Code != codes.Success || len(r.Children) != 1 ||
		r.Children[0] != 9 {
		t.Errorf("a creation costs %d gas: %s %v", got, r.Code, r.Children)
	}
	if r := b.call(t, now(), lz(demo.Alice), lz(system167), data[:200]); r.Code != codes.ContractExecutionException {
		t.Errorf("half a creation: %s", r.Code)
	}
}

// TestConstructor associates tokens and creates one in a constructor. The contract gets the first number, the token
// the next.
func TestConstructor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	next := b.next(t)
	alice, self, token := lz(demo.Alice), lz(next+1), lz(next+2)
	call := func(to common.Address, signature string, args ...any) step {
		return step{to: to, data: input(t, signature, args...)}
	}
	create := call(lz(system167), createUnits,
		with(gull(keyFor(1), []any{16, []any{true, common.Address{}, []byte{}, []byte{}, common.Address{}}}),
			treasuryAt, self), 500, 2)
	create.value = hbars
	own := call(lz(system167), "getTokenKey(address,uint256)", token, 16)
	own.nth = 3
	steps := []step{
		call(lz(system167), "associateToken(address,address)", self, lz(demo.LampOil)),
		call(lz(system167), transfer, lz(demo.LampOil), alice, self, 9),
		call(lz(demo.LampOil), "balanceOf(address)", self),
		call(
			lz(system167),
			"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64,"+
				"bool)[])[])",
			[]any{[]any{[]any{alice, -hbars, false}, []any{self, hbars, false}}}, []any{},
		),
		create,
		call(token, "balanceOf(address)", self),
		call(lz(system167), "mintToken(address,int64,bytes[])", token, 5, []any{}),
		own,
		call(lz(system16a), "getHederaAccountNumAlias(address)", self),
	}
	want := []int64{22, 22, 9, 22, 22, 500, 22, next + 1, 22}
	s, err := b.reader.Open(t.Context(), evmstate.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sim := b.machine.Begin(t.Context(), s, s.Block())
	for range 2 { // the first run must leave no changes
		r, err := sim.Call(evm.Message{
			From: ledger.Of(ledger.EVMAddress(alice)), Data: script(steps, false, nil),
			Gas: 15_000_000,
		})
		if err != nil || r.Code != codes.Success || r.Contract != ledger.EVMAddress(self) {
			t.Fatalf("%v: %+v", err, r)
		}
		for i, w := range want {
			if got := new(big.Int).SetBytes(r.Output[64*i+32 : 64*i+64]); r.Output[64*i+31] != 1 || got.Int64() != w {
				t.Errorf("step %d: got %d %d, want %d", i, r.Output[64*i+31], got, w)
			}
		}
	}
}

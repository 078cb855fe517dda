package contractcalls_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/storage/demo"
)

// Tuples in function signatures.
const (
	keyTuple      = "(uint256," + kv + ")"
	expiryTuple   = "(int64,address,int64)"
	oldExpiry     = "(uint32,address,uint32)"
	tokenTuple    = "(string,string,address,string,bool,int64,bool," + keyTuple + "[]," + expiryTuple + ")"
	oldTuple      = "(string,string,address,string,bool,uint32,bool," + keyTuple + "[]," + oldExpiry + ")"
	newerTuple    = "(string,string,address,string,bool,int64,bool," + keyTuple + "[]," + oldExpiry + ")"
	fixedTuple    = "(int64,address,bool,bool,address)"
	partTuple     = "(int64,int64,int64,int64,bool,address)"
	royaltyTuple  = "(int64,int64,int64,address,bool,address)"
	updateInfo    = "updateTokenInfo(address," + tokenTuple + ")"
	updateKeys    = "updateTokenKeys(address," + keyTuple + "[])"
	updateExpiry  = "updateTokenExpiryInfo(address," + expiryTuple + ")"
	updateFees    = "updateFungibleTokenCustomFees(address," + fixedTuple + "[]," + partTuple + "[])"
	updateRoyalty = "updateNonFungibleTokenCustomFees(address," + fixedTuple + "[]," + royaltyTuple + "[])"
	updateSerials = "updateNFTsMetadata(address,int64[],bytes)"
	claims        = "claimAirdrops((address,address,address,int64)[])"
	cancels       = "cancelAirdrops((address,address,address,int64)[])"
	rejects       = "rejectTokens(address,address[],(address,int64)[])"
)

// aToken returns an update of a token. It includes the supply, which cannot be changed, and an unchanged expiration.
func aToken(name, symbol string, treasury common.Address, memo string, keys []any) []any {
	return []any{name, symbol, treasury, memo, true, 5, true, keys, []any{0, common.Address{}, 0}}
}

// updating is a step and its expected return word: the first one, unless nth is set.
type updating struct {
	to        int64
	signature string
	args      []any
	want      string
	nth       int
	value     uint64 // tinybars
	op        vm.OpCode
}

// said returns a word that encodes a text.
func said(text string) string {
	return "true " + new(big.Int).SetBytes(common.RightPadBytes([]byte(text), 32)).String()
}

func times(n int, v any) []any {
	var out []any
	for range n {
		out = append(out, v)
	}
	return out
}

// TestUpdates updates tokens and settles pending airdrops. Each case runs twice: first in a frame that reverts and
// must leave no changes.
func TestUpdates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	twice(t, b, updates(b.addressOf(t, demo.Bob), b.addressOf(t, demo.Heidi)))
}

// twice runs the steps of each case twice in a simulation: in a frame that reverts, and again with the same expected
// results.
func twice(t *testing.T, b *bench, cases []updateCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			steps := make([]step, len(c.steps))
			for i, u := range c.steps {
				steps[i] = step{
					to: lz(u.to), data: input(t, u.signature, u.args...), nth: u.nth, value: u.value,
					op: u.op,
				}
			}
			got := b.as(t, c.at, c.who, append([]step{{undone: steps}}, steps...)...)
			if got[0].ok {
				t.Error("the frame did not revert")
			}
			for i, u := range c.steps {
				if text := fmt.Sprint(got[i+1].ok, " ", got[i+1].word); text != u.want {
					t.Errorf("step %d, %.60s%v: got %s, want %s", i, u.signature, u.args, text, u.want)
				}
			}
		})
	}
}

type updateCase struct {
	name  string
	at    worldstate.BlockRef
	who   common.Address
	steps []updating
}

func updates(bob, heidi common.Address) []updateCase {
	const hts = system167
	alice, carol, dave, erin, judy := lz(demo.Alice), lz(demo.Carol), lz(demo.Dave), lz(demo.Erin), lz(demo.Judy)
	trent, victor, fund, none := lz(demo.Trent), lz(demo.Victor), lz(demo.Fund), common.Address{}
	sun, tide, fog, oil, light, shell, post := lz(demo.Sunlight), lz(demo.Tide), lz(demo.Foghorn), lz(demo.LampOil),
		lz(demo.Lighthouse), lz(demo.Seashell),
		lz(demo.Postcard)
	long := strings.Repeat("x", 101)
	ed25519 := bytes.Repeat([]byte{7}, 32)
	key := func(kinds int, contract common.Address, ed25519 []byte) []any {
		return []any{kinds, []any{false, contract, ed25519, []byte{}, none}}
	}
	texts := func(name, symbol, memo string) []any { return []any{sun, aToken(name, symbol, none, memo, []any{})} }
	older := func(name string) []any {
		return []any{sun, []any{name, "", none, "older", false, 0, false, []any{}, []any{0, none, 0}}}
	}
	return []updateCase{
		{"texts", now(), trent, []updating{
			{to: hts, signature: updateInfo, args: texts("Sunshine", "SHINE", "Paid with"), want: "true 22"},
			{to: demo.Sunlight, signature: "name()", want: said("Sunshine"), nth: 2},
			{to: demo.Sunlight, signature: "symbol()", want: said("SHINE"), nth: 2},
			{to: hts, signature: updateInfo, args: texts("", "RAY", "Paid with"), want: "true 22"},
			{to: demo.Sunlight, signature: "name()", want: said("Sunshine"), nth: 2},
			{to: demo.Sunlight, signature: "symbol()", want: said("RAY"), nth: 2},
			{to: demo.Sunlight, signature: "totalSupply()", want: "true 10250000000000"},
			{to: hts, signature: updateInfo, args: texts(long, "", "m"), want: "true 191"},
			{to: hts, signature: updateInfo, args: texts("", long, "m"), want: "true 175"},
			{to: hts, signature: updateInfo, args: texts("", "", long), want: "true 8"},
			{to: hts, signature: updateInfo, args: texts("a\x00b", "", "m"), want: "true 211"},
			{to: hts, signature: "updateTokenInfo(address," + oldTuple + ")", args: older("Old"), want: "true 22"},
			{to: demo.Sunlight, signature: "name()", want: said("Old"), nth: 2},
			{to: hts, signature: "updateTokenInfo(address," + newerTuple + ")", args: older("Newer"), want: "true 22"},
			{to: demo.Sunlight, signature: "name()", want: said("Newer"), nth: 2},
			{to: hts, signature: updateInfo, args: []any{oil, aToken("Oil", "", none, "", []any{})}, want: "true 193"},
			{
				to: hts, signature: updateInfo, args: []any{lz(demo.Kelp), aToken("Weed", "", none, "", []any{})},
				want: "true 265",
			},
			{
				to: hts, signature: updateInfo, args: []any{lz(missing), aToken("Nothing", "", none, "", []any{})},
				want: "true 167",
			},
			// An update that fails in its last check changes nothing.
			{
				to: hts, signature: updateInfo,
				args: []any{sun, aToken("Frozen", "", none, "m", []any{key(4, alice, nil)})}, want: "true 172",
			},
			{to: demo.Sunlight, signature: "name()", want: said("Newer"), nth: 2},
		}},
		{"keys", now(), trent, []updating{
			{
				to: hts, signature: updateKeys, args: []any{sun, []any{key(1, lz(demo.HarbourCoin), nil)}},
				want: "true 22",
			},
			{to: hts, signature: "getTokenKey(address,uint256)", args: []any{sun, 1}, want: "true 3001", nth: 3},
			{
				to: hts, signature: updateKeys,
				args: []any{fog, []any{key(8|16, none, ed25519), key(2, lz(demo.PierPass), nil)}}, want: "true 22",
			},
			{
				to: hts, signature: "getTokenKey(address,uint256)", args: []any{fog, 16},
				want: "true " + new(big.Int).SetBytes(ed25519).String(), nth: 8,
			},
			{to: hts, signature: "getTokenKey(address,uint256)", args: []any{fog, 2}, want: "true 3002", nth: 3},
			{to: hts, signature: updateKeys, args: []any{sun, []any{key(2, none, ed25519)}}, want: "true 177"},
			{to: hts, signature: updateKeys, args: []any{sun, []any{key(4, none, ed25519)}}, want: "true 172"},
			{to: hts, signature: updateKeys, args: []any{tide, []any{key(8, none, ed25519)}}, want: "true 181"},
			{to: hts, signature: updateKeys, args: []any{tide, []any{key(64, none, ed25519)}}, want: "true 266"},
			{to: hts, signature: updateKeys, args: []any{fog, []any{key(32, none, ed25519)}}, want: "true 240"},
			{
				to: hts, signature: updateKeys, args: []any{lz(demo.Driftwood), []any{key(16, none, ed25519)}},
				want: "true 180",
			},
			{to: hts, signature: updateKeys, args: []any{oil, []any{}}, want: "true 193"},
		}},
		{"expiry", now(), trent, []updating{
			{
				to: hts, signature: updateExpiry, args: []any{sun, []any{4_000_000_000, alice, 7_776_000}},
				want: "true 22",
			},
			{to: hts, signature: "getTokenExpiryInfo(address)", args: []any{sun}, want: "true 4000000000", nth: 1},
			{to: hts, signature: "getTokenExpiryInfo(address)", args: []any{sun}, want: "true 1001", nth: 2},
			{to: hts, signature: "getTokenExpiryInfo(address)", args: []any{sun}, want: "true 7776000", nth: 3},
			{to: hts, signature: updateExpiry, args: []any{sun, []any{3_999_999_999, none, 0}}, want: "true 45"},
			{to: hts, signature: updateExpiry, args: []any{sun, []any{9_000_000_000, none, 0}}, want: "true 45"},
			{to: hts, signature: updateExpiry, args: []any{sun, []any{0, lz(missing), 0}}, want: "true 159"},
			{to: hts, signature: updateExpiry, args: []any{sun, []any{0, none, 2_591_999}}, want: "true 70"},
			{to: hts, signature: updateExpiry, args: []any{sun, []any{0, none, 8_000_002}}, want: "true 70"},
			{
				to: hts, signature: "updateTokenExpiryInfo(address," + oldExpiry + ")",
				args: []any{sun, []any{4_000_000_001, none, 0}}, want: "true 22",
			},
			{to: hts, signature: "getTokenExpiryInfo(address)", args: []any{sun}, want: "true 4000000001", nth: 1},
			{to: hts, signature: updateExpiry, args: []any{oil, []any{0, none, 0}}, want: "true 193"},
		}},
		{"fees", now(), trent, []updating{
			{to: hts, signature: updateFees, args: []any{
				tide,
				[]any{
					[]any{5, sun, false, false, victor},
					[]any{7, none, true, false, victor},
					[]any{9, none, false, true, victor},
				},
				[]any{[]any{1, 10, 2, 50, true, fund}},
			}, want: "true 22"},
			{to: hts, signature: "getTokenCustomFees(address)", args: []any{tide}, want: "true 3", nth: 4},
			{to: hts, signature: "getTokenCustomFees(address)", args: []any{tide}, want: "true 5", nth: 5},
			{to: hts, signature: "getTokenCustomFees(address)", args: []any{tide}, want: "true 2001", nth: 6},
			{to: hts, signature: "getTokenCustomFees(address)", args: []any{tide}, want: "true 1", nth: 12},
			{to: hts, signature: "getTokenCustomFees(address)", args: []any{tide}, want: "true 2002", nth: 16},
			{to: hts, signature: "getTokenCustomFees(address)", args: []any{tide}, want: "true 50", nth: 24},
			{
				to: hts, signature: updateFees, args: []any{tide, []any{[]any{0, sun, false, false, victor}}, []any{}},
				want: "true 239",
			},
			{to: hts, signature: updateFees, args: []any{
				tide,
				[]any{[]any{1, lz(missing), false, false, victor}},
				[]any{},
			}, want: "true 234"},
			{
				to: hts, signature: updateFees, args: []any{
					tide,
					[]any{[]any{1, light, false, false, victor}},
					[]any{},
				},
				want: "true 245",
			},
			{to: hts, signature: updateFees, args: []any{
				tide,
				[]any{[]any{1, sun, false, false, lz(missing)}},
				[]any{},
			}, want: "true 233"},
			{
				to: hts, signature: updateFees, args: []any{tide, []any{[]any{1, sun, false, false, judy}}, []any{}},
				want: "true 235",
			},
			{
				to: hts, signature: updateFees, args: []any{tide, []any{}, []any{[]any{1, 0, 0, 0, true, fund}}},
				want: "true 230",
			},
			{
				to: hts, signature: updateFees, args: []any{tide, []any{}, []any{[]any{-1, 10, 0, 0, true, fund}}},
				want: "true 239",
			},
			{
				to: hts, signature: updateFees, args: []any{tide, []any{}, []any{[]any{1, 10, 5, 4, true, fund}}},
				want: "true 243",
			},
			{to: hts, signature: updateFees, args: []any{
				tide, times(11, []any{1, none, true, false, victor}),
				[]any{},
			}, want: "true 232"},
			{to: hts, signature: updateFees, args: []any{tide, []any{}, []any{}}, want: "true 22"},
			{to: hts, signature: updateFees, args: []any{tide, []any{}, []any{}}, want: "true 244"},
			// Without fees the receiver gets the entire amount.
			{to: hts, signature: "associateToken(address,address)", args: []any{judy, tide}, want: "true 22"},
			{
				to: hts, signature: "transferToken(address,address,address,int64)",
				args: []any{tide, carol, judy, 1000},
				want: "true 22",
			},
			{to: demo.Tide, signature: "balanceOf(address)", args: []any{judy}, want: "true 1000"},
			{to: hts, signature: updateFees, args: []any{oil, []any{}, []any{}}, want: "true 240"},
			{
				to: hts, signature: updateFees, args: []any{light, []any{}, []any{[]any{1, 10, 0, 0, true, fund}}},
				want: "true 246",
			},
			{to: hts, signature: updateRoyalty, args: []any{
				light,
				[]any{},
				[]any{[]any{1, 2, 100, none, true, victor}, []any{1, 3, 0, none, false, fund}},
			}, want: "true 22"},
			{to: hts, signature: "getTokenCustomFees(address)", args: []any{light}, want: "true 2", nth: 6},
			{
				to: hts, signature: updateRoyalty, args: []any{
					light,
					[]any{},
					[]any{[]any{3, 2, 0, none, true, victor}},
				},
				want: "true 242",
			},
			{to: hts, signature: updateRoyalty, args: []any{
				light,
				[]any{},
				[]any{[]any{1, 2, 5, light, false, victor}},
			}, want: "true 245"},
			{to: hts, signature: updateRoyalty, args: []any{
				light,
				[]any{},
				[]any{[]any{1, 2, -5, none, true, victor}},
			}, want: "true 239"},
			{
				to: hts, signature: updateRoyalty, args: []any{
					tide,
					[]any{},
					[]any{[]any{1, 2, 0, none, true, victor}},
				},
				want: "true 261",
			},
		}},
		{"metadata", now(), heidi, []updating{
			{to: hts, signature: updateSerials, args: []any{shell, []any{1, 2}, []byte("painted")}, want: "true 22"},
			{to: demo.Seashell, signature: "tokenURI(uint256)", args: []any{2}, want: said("painted"), nth: 2},
			{to: hts, signature: updateSerials, args: []any{shell, []any{}, []byte("x")}, want: "true 336"},
			{to: hts, signature: updateSerials, args: []any{shell, times(11, 1), []byte("x")}, want: "true 228"},
			{to: hts, signature: updateSerials, args: []any{shell, []any{1}, []byte(long)}, want: "true 227"},
			{
				to: hts, signature: updateSerials, args: []any{shell, []any{1, 999}, []byte("washed off")},
				want: "true 226",
			},
			{to: demo.Seashell, signature: "tokenURI(uint256)", args: []any{1}, want: said("painted"), nth: 2},
		}},
		{"refusals", now(), bob, []updating{
			{to: hts, signature: rejects, args: []any{carol, []any{tide}, []any{}}, want: "true 22"},
			{to: demo.Tide, signature: "balanceOf(address)", args: []any{carol}, want: "true 0"},
			{to: hts, signature: rejects, args: []any{carol, []any{tide}, []any{}}, want: "true 178"},
			{to: hts, signature: rejects, args: []any{trent, []any{tide}, []any{}}, want: "true 196"},
			{to: hts, signature: rejects, args: []any{dave, []any{tide}, []any{}}, want: "true 184"},
			{to: hts, signature: rejects, args: []any{alice, []any{fog}, []any{}}, want: "true 165"},
			{to: hts, signature: rejects, args: []any{alice, []any{lz(demo.Kelp)}, []any{}}, want: "true 265"},
			{to: hts, signature: rejects, args: []any{alice, []any{lz(missing)}, []any{}}, want: "true 167"},
			{to: hts, signature: rejects, args: []any{alice, []any{}, []any{[]any{post, 1}}}, want: "true 22"},
			{to: demo.Postcard, signature: "ownerOf(uint256)", args: []any{1}, want: "true 1017"},
			{to: hts, signature: rejects, args: []any{alice, []any{}, []any{[]any{post, 1}}}, want: "true 354"},
			{to: hts, signature: rejects, args: []any{alice, []any{}, []any{[]any{post, 999}}}, want: "true 226"},
			{to: hts, signature: rejects, args: []any{trent, []any{}, []any{[]any{post, 1}}}, want: "true 196"},
			{to: hts, signature: rejects, args: []any{alice, []any{}, []any{}}, want: "true 358"},
			{to: hts, signature: rejects, args: []any{alice, []any{oil, oil}, []any{}}, want: "true 353"},
			{to: hts, signature: rejects, args: []any{alice, []any{}, times(11, []any{post, 1})}, want: "true 355"},
			{to: demo.Tide, signature: "rejectTokenFT()", want: "true 22"},
			{to: demo.Tide, signature: "rejectTokenFT()", want: "true 178"},
			{to: demo.Tide, signature: "balanceOf(address)", args: []any{bob}, want: "true 0"},
			{to: demo.Postcard, signature: "rejectTokenNFTs(int64[])", args: []any{[]any{2}}, want: "true 22"},
			{to: demo.Postcard, signature: "ownerOf(uint256)", args: []any{2}, want: "true 1017"},
			{to: demo.Postcard, signature: "rejectTokenNFTs(int64[])", args: []any{[]any{}}, want: "true 358"},
		}},
		{"claims", now(), erin, []updating{
			// Erin has pending airdrops of oil from Alice and the fund, and of shells, postcards and lighthouses.
			{to: hts, signature: claims, args: []any{[]any{[]any{alice, erin, oil, 0}}}, want: "true 22"},
			{to: demo.LampOil, signature: "balanceOf(address)", args: []any{erin}, want: "true 500000000"},
			{to: hts, signature: claims, args: []any{[]any{[]any{alice, erin, oil, 0}}}, want: "true 367"},
			{to: demo.LampOil, signature: "claimAirdropFT(address)", args: []any{fund}, want: "true 22"},
			{to: demo.LampOil, signature: "balanceOf(address)", args: []any{erin}, want: "true 10500000000"},
			{
				to: hts, signature: claims, args: []any{[]any{
					[]any{heidi, erin, shell, 4},
					[]any{trent, judy, tide, 0},
				}},
				want: "true 22",
			},
			{to: demo.Seashell, signature: "ownerOf(uint256)", args: []any{4}, want: "true 1005"},
			{to: demo.Tide, signature: "balanceOf(address)", args: []any{judy}, want: "true 10000"},
			{to: demo.Postcard, signature: "claimAirdropNFT(address,int64)", args: []any{bob, 2}, want: "true 22"},
			{to: demo.Postcard, signature: "ownerOf(uint256)", args: []any{2}, want: "true 1005"},
			{to: demo.Postcard, signature: "claimAirdropNFT(address,int64)", args: []any{bob, 0}, want: "true 367"},
			// A missing airdrop undoes the others.
			{
				to: hts, signature: claims,
				args: []any{[]any{[]any{trent, erin, light, 9}, []any{trent, erin, light, 10}}}, want: "true 367",
			},
			{to: demo.Lighthouse, signature: "ownerOf(uint256)", args: []any{9}, want: "true 1017"},
			{to: hts, signature: claims, args: []any{[]any{}}, want: "true 361"},
			{to: hts, signature: claims, args: []any{times(2, []any{trent, erin, light, 9})}, want: "true 362"},
			{to: hts, signature: claims, args: []any{times(11, []any{trent, erin, light, 9})}, want: "true 363"},
		}},
		{"withdrawals", now(), alice, []updating{
			{
				to: hts, signature: cancels, args: []any{[]any{
					[]any{alice, erin, sun, 0},
					[]any{trent, erin, light, 9},
				}},
				want: "true 22",
			},
			{to: hts, signature: cancels, args: []any{[]any{[]any{alice, erin, sun, 0}}}, want: "true 367"},
			{to: hts, signature: claims, args: []any{[]any{[]any{trent, erin, light, 9}}}, want: "true 367"},
			{to: demo.LampOil, signature: "cancelAirdropFT(address)", args: []any{erin}, want: "true 22"},
			{to: demo.LampOil, signature: "cancelAirdropFT(address)", args: []any{erin}, want: "true 367"},
			{
				to: demo.Lighthouse, signature: "cancelAirdropNFT(address,int64)", args: []any{erin, 9},
				want: "true 367",
			},
		}},
		{"another treasury", now(), trent, []updating{
			{
				to: hts, signature: updateInfo, args: []any{sun, aToken("", "", alice, "moved", []any{})},
				want: "true 22",
			},
			{to: hts, signature: "getTokenInfo(address)", args: []any{sun}, want: "true 1001", nth: 13},
			{to: demo.Sunlight, signature: "balanceOf(address)", args: []any{trent}, want: "true 0"},
			{
				to: hts, signature: updateInfo, args: []any{sun, aToken("", "", alice, "stays", []any{})},
				want: "true 22",
			},
		}},
		{"what is open", now(), alice, []updating{
			{to: hts, signature: updateInfo, args: []any{sun, aToken("", "", none, "", []any{})}, want: "true 22"},
			{
				to: hts, signature: updateInfo, args: []any{sun, aToken("", "", lz(missing), "", []any{})},
				want: "true 170",
			},
			{to: hts, signature: updateInfo, args: []any{sun, aToken("", "", judy, "", []any{})}, want: "true 184"},
			{to: hts, signature: updateInfo, args: []any{post, aToken("", "", none, "", []any{})}, want: "true 193"},
			// Without an admin key, existing keys can be replaced and the expiration can be extended.
			{to: hts, signature: updateKeys, args: []any{post, []any{}}, want: "true 193"},
			{to: hts, signature: updateKeys, args: []any{post, []any{key(1, none, ed25519)}}, want: "true 193"},
			{to: hts, signature: updateKeys, args: []any{post, []any{key(4, none, ed25519)}}, want: "true 172"},
			{to: hts, signature: updateKeys, args: []any{post, []any{key(16, none, ed25519)}}, want: "true 22"},
			{
				to: hts, signature: "getTokenKey(address,uint256)", args: []any{post, 16},
				want: "true " + new(big.Int).SetBytes(ed25519).String(), nth: 8,
			},
			{to: hts, signature: updateExpiry, args: []any{oil, []any{4_100_000_000, none, 0}}, want: "true 22"},
			{to: hts, signature: updateExpiry, args: []any{oil, []any{4_100_000_000, alice, 0}}, want: "true 193"},
			{to: hts, signature: updateExpiry, args: []any{sun, []any{-1, none, 0}}, want: "true 45"},
			{to: hts, signature: updateExpiry, args: []any{sun, []any{0, none, -1}}, want: "true 70"},
			// An invalid key, the key of the caller, and the key of a missing contract.
			{
				to: hts, signature: updateKeys, args: []any{tide, []any{key(1, none, make([]byte, 16))}},
				want: "true 50",
			},
			{to: hts, signature: updateKeys, args: []any{tide, []any{key(1, alice, ed25519)}}, want: "true 50"},
			{to: hts, signature: updateKeys, args: []any{tide, []any{key(1, none, nil)}}, want: "true 50"},
			{to: hts, signature: updateKeys, args: []any{tide, []any{key(128, none, ed25519)}}, want: "true 334"},
			{to: hts, signature: updateKeys, args: []any{tide, []any{key(256, none, ed25519)}}, want: "true 22"},
			{
				to: hts, signature: updateKeys,
				args: []any{tide, []any{[]any{1, []any{true, none, []byte{}, []byte{}, none}}}}, want: "true 22",
			},
			{to: hts, signature: updateKeys, args: []any{tide, []any{key(1, stranger(), nil)}}, want: "true 22"},
			{
				to: hts, signature: "getTokenKey(address,uint256)", args: []any{tide, 1},
				want: "true " + stranger().Big().String(), nth: 3,
			},
			// A fee must name exactly one currency.
			{
				to: hts, signature: updateFees, args: []any{tide, []any{[]any{5, none, false, false, victor}}, []any{}},
				want: "true 50",
			},
			{
				to: hts, signature: updateFees, args: []any{tide, []any{[]any{5, sun, true, false, victor}}, []any{}},
				want: "true 50",
			},
			{
				to: hts, signature: updateFees, args: []any{tide, []any{[]any{5, none, true, true, victor}}, []any{}},
				want: "true 50",
			},
			{to: hts, signature: updateRoyalty, args: []any{
				light,
				[]any{[]any{5, none, false, true, victor}},
				[]any{},
			}, want: "true 245"},
			// The supply key is sufficient for serials that the treasury owns.
			{to: hts, signature: updateSerials, args: []any{post, []any{1}, []byte("mine")}, want: "true 334"},
			{to: hts, signature: rejects, args: []any{alice, []any{}, []any{[]any{post, 1}}}, want: "true 22"},
			{to: hts, signature: updateSerials, args: []any{post, []any{1}, []byte("theirs")}, want: "true 22"},
			{to: demo.Postcard, signature: "tokenURI(uint256)", args: []any{1}, want: said("theirs"), nth: 2},
			{to: hts, signature: updateSerials, args: []any{tide, []any{1}, []byte("units")}, want: "true 226"},
			{to: hts, signature: updateSerials, args: []any{oil, []any{1}, []byte("units")}, want: "true 226"},
			// A missing account, and entities of the wrong kind.
			{to: hts, signature: rejects, args: []any{lz(missing), []any{tide}, []any{}}, want: "true 354"},
			{to: hts, signature: rejects, args: []any{alice, []any{post}, []any{}}, want: "true 254"},
			{to: hts, signature: rejects, args: []any{alice, []any{}, []any{[]any{oil, 1}}}, want: "true 226"},
			{to: hts, signature: claims, args: []any{[]any{[]any{lz(missing), erin, oil, 0}}}, want: "true 15"},
			{to: hts, signature: cancels, args: []any{[]any{[]any{alice, erin, bob, 0}}}, want: "true 167"},
		}},
		{"before anything was offered", spring(), erin, []updating{
			{to: hts, signature: claims, args: []any{[]any{[]any{alice, erin, oil, 0}}}, want: "true 367"},
			{to: demo.LampOil, signature: "claimAirdropFT(address)", args: []any{fund}, want: "true 367"},
			{to: hts, signature: updateInfo, args: texts("Sunbeam", "", "then"), want: "true 22"},
			{to: demo.Sunlight, signature: "name()", want: said("Sunbeam"), nth: 2},
		}},
	}
}

package contractcalls_test

import (
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/storage/demo"
)

const (
	airdrops = "airdropTokens((address,(address,int64,bool)[],(address,address,int64,bool)[])[])"
	transfer = "transferToken(address,address,address,int64)"
	moveAll  = "cryptoTransfer((address,(address,int64)[],(address,address,int64)[])[])"
)

// stranger returns an address without an account.
func stranger() common.Address {
	return common.HexToAddress("0x57a4657a4657a4657a4657a4657a4657a4657a46")
}

// sent returns the argument for an airdrop of units of a token.
func sent(token, from, to common.Address, amount int64) []any {
	return []any{token, []any{[]any{from, -amount, false}, []any{to, amount, false}}, []any{}}
}

// handed returns the argument for an airdrop of a serial.
func handed(token, from, to common.Address, serial int64) []any {
	return []any{token, []any{}, []any{[]any{from, to, serial, false}}}
}

// hts returns a step that calls the token service.
func hts(want, signature string, args ...any) updating {
	return updating{to: system167, signature: signature, args: args, want: want}
}

// balance returns a step that checks an account's balance of a token.
func balance(want, token int64, who common.Address) updating {
	return updating{to: token, signature: "balanceOf(address)", args: []any{who}, want: fmt.Sprint("true ", want)}
}

// TestAirdrops sends tokens to receivers that accept them and to receivers that must claim them. Each case runs first
// in a frame that reverts.
func TestAirdrops(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	next := b.next(t)
	alice, bob, carol, dave, judy := lz(demo.Alice), b.addressOf(t, demo.Bob), lz(demo.Carol), lz(demo.Dave),
		lz(demo.Judy)
	trent, fund, missingAt := lz(demo.Trent), lz(demo.Fund), lz(missing)
	oil, post, light, kelp, fog := lz(demo.LampOil), lz(demo.Postcard), lz(demo.Lighthouse), lz(demo.Kelp),
		lz(demo.Foghorn)
	drop := func(code int, parts ...any) updating {
		return hts(fmt.Sprint("true ", code), airdrops, parts)
	}
	one := lz(next + 1)
	create := hts("true 22", createUnitsFees, with(gull(keyFor(1)), maxAt, 100_000), 50_000, 0, []any{},
		[]any{[]any{1, 10, 0, 0, false, fund}})
	create.value = hbars
	static := drop(0, sent(oil, alice, carol, 10))
	static.op, static.want = vm.STATICCALL, "false 0"
	twice(t, b, []updateCase{
		{"receiver with free associations", now(), alice, []updating{
			static,
			drop(22, sent(oil, alice, carol, 10)),
			balance(10, demo.LampOil, carol),
			hts("true 367", claims, []any{[]any{alice, carol, oil, 0}}),
			drop(22, sent(oil, alice, carol, 10)), // Carol is associated now
			balance(20, demo.LampOil, carol),
			drop(22, sent(oil, alice, stranger(), 30)),
			balance(30, demo.LampOil, stranger()),
		}},
		{"receiver without free associations", now(), alice, []updating{
			drop(22, sent(oil, alice, judy, 5)),
			drop(22, sent(oil, alice, judy, 6)),
			balance(0, demo.LampOil, judy),
			hts("true 22", claims, []any{[]any{alice, judy, oil, 0}}),
			balance(11, demo.LampOil, judy),
			hts("true 367", claims, []any{[]any{alice, judy, oil, 0}}),
			drop(22, sent(oil, alice, lz(demo.Erin), 7)), // added to Erin's pending airdrop
			hts("true 22", claims, []any{[]any{alice, lz(demo.Erin), oil, 0}}),
			balance(500_000_007, demo.LampOil, lz(demo.Erin)),
		}},
		{"taken back", now(), alice, []updating{
			drop(22, sent(oil, alice, judy, 5)),
			{to: demo.LampOil, signature: "cancelAirdropFT(address)", args: []any{judy}, want: "true 22"},
			hts("true 367", claims, []any{[]any{alice, judy, oil, 0}}),
			drop(22, handed(post, alice, judy, 1)),
			hts("true 22", cancels, []any{[]any{alice, judy, post, 1}}),
			hts("true 367", cancels, []any{[]any{alice, judy, post, 1}}),
		}},
		{"serials", now(), alice, []updating{
			drop(22, handed(post, alice, judy, 1)),
			{to: demo.Postcard, signature: "ownerOf(uint256)", args: []any{1}, want: "true 1001"},
			drop(364, handed(post, alice, judy, 1)),
			hts("true 22", claims, []any{[]any{alice, judy, post, 1}}),
			{to: demo.Postcard, signature: "ownerOf(uint256)", args: []any{1}, want: "true 1010"},
			drop(237, handed(post, alice, bob, 1)),
			drop(22, handed(post, b.addressOf(t, demo.Heidi), bob, 6)),
			{to: demo.Postcard, signature: "balanceOf(address)", args: []any{bob}, want: "true 2"},
		}},
		{"many at once", now(), alice, []updating{
			drop(22, []any{
				oil,
				[]any{[]any{alice, -30, false}, []any{carol, 10, false}, []any{judy, 20, false}},
				[]any{},
			}, handed(post, alice, bob, 1)),
			balance(10, demo.LampOil, carol),
			balance(0, demo.LampOil, judy),
			hts("true 22", claims, []any{[]any{alice, judy, oil, 0}}),
			balance(20, demo.LampOil, judy),
		}},
		{"fees", now(), alice, []updating{
			create,
			hts("true 22", "associateTokens(address,address[])", carol, []any{one}),
			hts("true 22", transfer, one, trent, carol, 1000),
			// The sender pays the fund's tenth in addition to the pending amount.
			drop(22, sent(one, carol, judy, 100)),
			balance(990, next+1, carol),
			balance(10, next+1, fund),
			hts("true 22", claims, []any{[]any{carol, judy, one, 0}}),
			balance(890, next+1, carol),
			balance(100, next+1, judy),
			drop(178, sent(one, carol, dave, 820)), // the fee is 82 more
		}},
		{"refusals", now(), alice, []updating{
			drop(199),
			drop(50, times(11, sent(oil, alice, carol, 1))...),
			drop(200, []any{oil, []any{}, []any{}}),
			drop(197, sent(oil, alice, carol, 1), sent(oil, alice, judy, 1)),
			drop(13, []any{oil, []any{[]any{alice, -1, true}, []any{carol, 1, false}}, []any{}}),
			drop(13, []any{post, []any{}, []any{[]any{alice, bob, 1, true}}}),
			drop(398, []any{
				oil,
				[]any{[]any{alice, -1, false}, []any{fund, -1, false}, []any{carol, 2, false}},
				[]any{},
			}),
			drop(398, []any{post, []any{}, []any{[]any{alice, judy, 1, false}, []any{bob, judy, 2, false}}}),
			drop(173, []any{oil, []any{[]any{alice, -1, false}, []any{carol, 2, false}}, []any{}}),
			drop(254, sent(post, alice, carol, 1)),
			drop(226, handed(oil, alice, carol, 1)),
			drop(226, handed(post, alice, judy, 999)),
			drop(237, handed(post, alice, judy, 2)),
			drop(178, sent(oil, alice, judy, 1<<60)),
			drop(178, sent(oil, alice, carol, 1<<60)),
			drop(184, sent(oil, judy, carol, 1)),
			drop(184, sent(oil, judy, dave, 1)),
			drop(15, sent(oil, alice, missingAt, 1)),
			drop(15, sent(oil, missingAt, alice, 1)),
			drop(167, sent(missingAt, alice, carol, 1)),
			drop(265, sent(kelp, alice, carol, 1)),
			drop(165, sent(fog, alice, judy, 1)),
			drop(368, handed(light, bob, judy, 3)),
		}},
	})
}

// TestFees charges custom fees of every kind in every form. Each case runs first in a frame that reverts.
func TestFees(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	next := b.next(t)
	alice, carol, dave, judy := lz(demo.Alice), lz(demo.Carol), lz(demo.Dave), lz(demo.Judy)
	trent, fund, victor, none := lz(demo.Trent), lz(demo.Fund), lz(demo.Victor), common.Address{}
	one, two, three := lz(next+1), lz(next+2), lz(next+3)
	paid := func(u updating) updating {
		u.value = hbars
		return u
	}
	units := func(fixed, parts []any) updating {
		return paid(hts("true 22", createUnitsFees, with(gull(keyFor(1|32)), maxAt, 100_000), 50_000, 0, fixed, parts))
	}
	everybody := func(token common.Address) []updating {
		var out []updating
		for _, who := range []common.Address{alice, carol, dave, judy} {
			out = append(out, hts("true 22", "associateToken(address,address)", who, token))
		}
		return append(out, hts("true 22", transfer, token, trent, carol, 1000))
	}
	together := func(lists ...[]updating) (out []updating) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	var cases []updateCase
	add := func(name string, lists ...[]updating) {
		cases = append(cases, updateCase{name, now(), alice, together(lists...)})
	}
	add("parts of what many get", []updating{units([]any{}, []any{[]any{1, 10, 0, 0, false, fund}})}, everybody(one),
		[]updating{
			hts("true 22", moveAll,
				[]any{[]any{one, []any{[]any{carol, -101}, []any{dave, 60}, []any{judy, 41}}, []any{}}}),
			// Ten of 101: Dave pays 10 * 60/101 = 5, Judy 10 * 41/101 = 4, and the first payer the remainder of 1.
			balance(54, next+1, dave),
			balance(37, next+1, judy),
			balance(10, next+1, fund),
			balance(899, next+1, carol),
			// The fund pays no fee to itself, and transfers to it are exempt.
			hts("true 22", transfer, one, carol, fund, 100),
			balance(110, next+1, fund),
			hts("true 22", transfer, one, fund, dave, 100),
			balance(154, next+1, dave),
		})
	add("several parts",
		[]updating{units([]any{}, []any{[]any{1, 2, 0, 0, false, fund}, []any{2, 3, 0, 0, false, victor}})},
		everybody(one), []updating{
			hts("true 259", transfer, one, carol, dave, 100),
			balance(0, next+1, dave),
		})
	add("a fee in a token with a fee", []updating{
		units([]any{}, []any{[]any{1, 10, 0, 0, false, fund}}),
		hts("true 22", "associateToken(address,address)", victor, one),
		units([]any{[]any{50, one, false, false, victor}}, []any{}),
	}, everybody(one), everybody(two), []updating{
		hts("true 22", transfer, two, carol, dave, 100),
		balance(100, next+2, dave),
		balance(950, next+1, carol),
		balance(45, next+1, victor), // a tenth goes to the fund
		balance(5, next+1, fund),
		// A third token with a fee in the second one exceeds the limit of fee levels.
		hts("true 22", "associateToken(address,address)", victor, two),
		units([]any{[]any{7, two, false, false, victor}}, []any{}),
	}, everybody(three), []updating{
		hts("true 257", transfer, three, carol, dave, 1),
	})
	serials := paid(hts("true 22", createNFTFees, gull(keyFor(1|16)), []any{},
		[]any{[]any{1, 10, 100, none, true, victor}}))
	add("royalties", []updating{units([]any{}, []any{}), serials}, everybody(one), []updating{
		hts("true 22", "mintToken(address,int64,bytes[])", two, 0, []any{[]byte("one"), []byte("two")}),
		hts("true 22", "associateToken(address,address)", carol, two),
		hts("true 22", "associateToken(address,address)", dave, two),
		hts("true 22", "associateToken(address,address)", victor, one),
		hts("true 22", "transferNFTs(address,address[],address[],int64[])", two, []any{trent, trent},
			[]any{dave, dave}, []any{1, 2}),
		// Dave receives 500 for both and pays a tenth once.
		hts("true 22", moveAll, []any{
			[]any{two, []any{}, []any{[]any{dave, carol, 1}, []any{dave, carol, 2}}},
			[]any{one, []any{[]any{carol, -500}, []any{dave, 500}}, []any{}},
		}),
		balance(450, next+1, dave),
		balance(50, next+1, victor),
		{to: next + 2, signature: "ownerOf(uint256)", args: []any{2}, want: "true 1003"},
		// Without a payment the receiver owes the fallback fee, but is not associated with the token of the fee.
		hts("true 22", "transferNFT(address,address,address,int64)", two, carol, dave, 1),
	})
	add("to a missing account", []updating{
		hts("true 22", transfer, lz(demo.LampOil), alice, stranger(), 12),
		balance(12, demo.LampOil, stranger()),
		{to: system16a, signature: "isValidAlias(address)", args: []any{stranger()}, want: "true 1"},
		hts("true 22", transfer, lz(demo.LampOil), stranger(), carol, 5),
		balance(7, demo.LampOil, stranger()),
		hts("true 15", transfer, lz(demo.LampOil), common.HexToAddress("0x1111111111111111111111111111111111111111"),
			carol, 5),
		hts("true 15", transfer, lz(demo.LampOil), alice, lz(missing), 5),
	})
	twice(t, b, cases)
}

// TestNewAccountGas checks the gas of transfers that create an account: the price of the creation plus the transfer.
func TestNewAccountGas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		data []byte
		gas  uint64
	}{
		// (10,000,000 + 500,000,000 + 851,999) * 1000 / 852,000 = 599591 and 119918
		{input(t, transfer, lz(demo.LampOil), lz(demo.Alice), stranger(), 1), 719_509},
		// 1,000,851,999,000 / 852,000 = 1174708 and 234941
		{input(t, airdrops, []any{sent(lz(demo.LampOil), lz(demo.Alice), lz(demo.Judy), 1)}), 1_409_649},
	} {
		r := b.call(t, now(), lz(demo.Alice), lz(system167), c.data)
		if got := r.GasUsed - intrinsic(c.data); got != c.gas || revertCode(r.Output) != 22 {
			t.Errorf("%x costs %d gas, want %d: %x", c.data[:4], got, c.gas, r.Output)
		}
	}
}

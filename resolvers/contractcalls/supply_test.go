package contractcalls_test

import (
	"fmt"
	"math"
	"testing"

	"heliograph/storage/demo"
)

// TestSupplyCodes checks the response codes of functions that change a supply, an association or serials: each case in
// a simulation of its own. Serials and tokens have these owners and keys: Alice owns postcard 1, Heidi 6, the treasury
// Trent none. The lamp oil has no supply key. Foghorns have keys for KYC, freezing and wiping; Alice is frozen, Carol
// has no KYC. The kelp is paused.
func TestSupplyCodes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const (
		mint, mintOld = "mintToken(address,int64,bytes[])", "mintToken(address,uint64,bytes[])"
		burn, burnOld = "burnToken(address,int64,int64[])", "burnToken(address,uint64,int64[])"
		wipe, wipeOld = "wipeTokenAccount(address,address,int64)", "wipeTokenAccount(address,address,uint32)"
		wipeNFT       = "wipeTokenAccountNFT(address,address,int64[])"
		metadata      = "updateNFTsMetadata(address,int64[],bytes)"
		send, sendNFT = "transferTokens(address,address[],int64[])",
			"transferNFTs(address,address[],address[],int64[])"
		sendOne       = "transferToken(address,address,address,int64)"
		grant, revoke = "grantTokenKyc(address,address)", "revokeTokenKyc(address,address)"
		freeze, thaw  = "freezeToken(address,address)", "unfreezeToken(address,address)"
		dissociate    = "dissociateToken(address,address)"
		dissociateAll = "dissociateTokens(address,address[])"
		remove        = "deleteToken(address)"
		twoAccounts   = "cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address," +
			"int64,bool)[])[])"
	)
	tide, fog, oil, post, kelp, none := lz(
		demo.Tide,
	), lz(demo.Foghorn), lz(demo.LampOil), lz(demo.Postcard), lz(demo.Kelp), lz(missing)
	alice, carol, trent, dave, fund := lz(demo.Alice), lz(demo.Carol), lz(demo.Trent), lz(demo.Dave), lz(demo.Fund)
	bob, heidi := b.addressOf(t, demo.Bob), b.addressOf(t, demo.Heidi)
	list := func(values ...any) []any { return values }
	repeat := func(n int, v any) (out []any) {
		for range n {
			out = append(out, v)
		}
		return out
	}
	eleven := func(first int) (out []any) {
		for i := range 11 {
			out = append(out, first+i)
		}
		return out
	}
	text := []byte("m")
	minted := []writing{{system167, mint, list(post, 0, list(text)), "true 22"}} // serial 9 of the treasury
	for _, tc := range []struct {
		want      string
		before    []writing // which must succeed
		signature string
		args      []any
	}{
		{"true 22", nil, mint, list(tide, 0, list())},
		{"true 50", nil, mint, list(tide, 1, list(text))},
		{"true 50", nil, mint, list(post, 1, list(text))},
		{"true 50", nil, mint, list(none, 1, list(text))},
		{"true 22", nil, mint, list(tide, 0, list(text))},
		{"true 182", nil, mint, list(tide, -1, list())},
		{"true 182", nil, mint, list(none, -1, list(text))},
		{"true 167", nil, mint, list(none, 1, list())},
		{"true 228", nil, mint, list(post, 0, repeat(11, text))},
		{"true 228", nil, mint, list(oil, 0, repeat(11, text))},
		{"true 227", nil, mint, list(oil, 0, list(make([]byte, 101)))},
		{"true 248", nil, mint, list(post, 0, list())},
		{"true 248", nil, mint, list(post, 5, list())},
		{"true 265", nil, mint, list(kelp, 1, list())},
		{"true 180", nil, mint, list(oil, 1, list())},
		{"true 236", nil, mint, list(tide, int64(math.MaxInt64), list())},
		{"false 0", nil, mintOld, list(tide, uint64(math.MaxInt64+1), list())},
		{"true 22", nil, burn, list(tide, 0, list())},
		{"true 22", nil, burn, list(tide, 0, list(1, 2))},
		{"true 22", nil, burn, list(tide, 1, list(1, 2))},
		{"true 22", nil, burn, list(tide, 0, list(0))},
		{"true 183", nil, burn, list(tide, -1, list())},
		{"true 183", nil, burn, list(tide, 1_000_000_001, list())},
		{"true 183", nil, burn, list(none, -1, list(1))},
		{"true 167", nil, burn, list(none, 0, list(0))},
		{"true 249", nil, burn, list(post, 0, list())},
		{"true 249", nil, burn, list(post, -1, list())},
		{"true 22", minted, burn, list(post, 0, list(9))},
		{"true 22", minted, burn, list(post, 5, list(9))},
		{"true 22", minted, burn, list(post, 0, list(9, 9))},
		{"true 22", minted, burn, list(post, 0, repeat(11, 9))},
		{"true 228", minted, burn, list(post, 0, eleven(9))},
		{"true 226", minted, burn, list(post, 0, append(eleven(9), 0))},
		{"true 226", nil, burn, list(post, 0, list(-1))},
		{"true 226", minted, burn, list(post, 0, list(9, 999))},
		{"true 252", nil, burn, list(post, 0, list(1))},
		{"true 180", nil, burn, list(oil, 0, list())},
		{"true 265", nil, burn, list(kelp, 0, list())},
		{"false 0", nil, burnOld, list(tide, uint64(math.MaxUint64), list())},
		{"true 192", nil, wipe, list(none, alice, -1)},
		{"true 167", nil, wipe, list(none, alice, 1)},
		{"true 15", nil, wipe, list(oil, none, 1)},
		{"true 265", nil, wipe, list(kelp, alice, 1)},
		{"true 181", nil, wipe, list(tide, dave, 1)},
		{"true 165", nil, wipe, list(fog, alice, 1)},
		{"true 176", nil, wipe, list(fog, carol, 1)},
		{"true 185", nil, wipe, list(fog, trent, 1)},
		{"true 22", []writing{{system167, grant, list(fog, carol), "true 22"}}, wipe, list(fog, carol, 0)},
		{"true 22", []writing{{system167, grant, list(fog, carol), "true 22"}}, wipeOld, list(fog, carol, 500)},
		{"true 192", []writing{{system167, grant, list(fog, carol), "true 22"}}, wipe, list(fog, carol, 501)},
		{"true 22", []writing{{system167, grant, list(fog, carol), "true 22"}}, wipeNFT, list(fog, carol, list(1, 2))},
		{"true 192", nil, wipe, list(post, alice, 1)},
		{"true 192", nil, wipeNFT, list(post, alice, list())},
		{"true 22", nil, wipeNFT, list(post, alice, list(1, 1))},
		{"true 22", nil, wipeNFT, list(post, alice, repeat(11, 1))},
		{"true 228", nil, wipeNFT, list(post, alice, eleven(1))},
		{"true 226", nil, wipeNFT, list(none, none, list(0))},
		{"true 226", nil, wipeNFT, list(post, alice, list(1, 999))},
		{"true 253", nil, wipeNFT, list(post, alice, list(6))},
		{"true 336", nil, metadata, list(none, list(), text)},
		{"true 167", nil, metadata, list(none, list(1), text)},
		{"true 22", minted, metadata, list(post, list(9, 9), text)},
		{"true 334", minted, metadata, list(post, list(9, 1), text)},
		{"true 226", minted, metadata, list(post, list(999), text)},
		{"true 227", minted, metadata, list(post, list(9), make([]byte, 101))},
		{"true 228", minted, metadata, list(post, repeat(11, 9), text)},
		{"true 22", nil, send, list(oil, list(alice, fund), list(-1, 1))},
		{"true 74", nil, send, list(oil, list(alice, alice, fund), list(-1, -1, 2))},
		{"true 74", nil, sendOne, list(oil, alice, alice, 1)},
		{"true 173", nil, send, list(oil, list(alice, alice), list(-1, 2))},
		{"true 200", nil, send, list(oil, list(), list())},
		{"true 225", nil, sendNFT, list(post, list(alice), list(heidi), list(0))},
		{"true 226", nil, sendNFT, list(post, list(alice), list(heidi), list(999))},
		{"true 48", nil, sendNFT, list(post, list(alice, heidi), list(heidi, alice), list(1, 1))},
		{"true 74", nil, sendNFT, list(post, list(alice), list(alice), list(1))},
		{"true 228", nil, sendNFT, list(post, repeat(11, alice), repeat(11, heidi), eleven(1))},
		{"true 74", nil, twoAccounts, list(
			list(list(list(alice, -2, false), list(bob, 1, false), list(bob, 1, false))), list(),
		)},
		{"true 165", nil, freeze, list(fog, alice)},
		{"true 165", nil, grant, list(fog, alice)},
		{"true 165", nil, revoke, list(fog, alice)},
		{"true 22", nil, thaw, list(fog, alice)},
		{"true 22", nil, thaw, list(fog, carol)},
		{"true 184", nil, dissociate, list(dave, none)},
		{"true 167", nil, dissociate, list(dave, bob)},
		{"true 197", nil, dissociateAll, list(dave, list(none, none))},
		{"true 265", nil, dissociate, list(alice, kelp)},
		{"true 195", nil, dissociate, list(carol, tide)},
		{"true 22", []writing{{system167, remove, list(tide), "true 22"}}, dissociate, list(carol, tide)},
		{"true 179", []writing{{system167, remove, list(tide), "true 22"}}, burn, list(tide, 1, list())},
	} {
		name := fmt.Sprintf("%s%v", tc.signature, tc.args)
		var steps []step
		for _, w := range tc.before {
			steps = append(steps, step{to: lz(w.to), data: input(t, w.signature, w.args...)})
		}
		got := b.as(t, now(), trent, append(
			steps, step{to: lz(system167), data: input(t, tc.signature, tc.args...)},
		)...)
		for i, w := range tc.before {
			if text := fmt.Sprint(got[i].ok, " ", got[i].word); text != w.want {
				t.Errorf("%s: before it got %s, want %s", name, text, w.want)
			}
		}
		if text := fmt.Sprint(got[len(steps)].ok, " ", got[len(steps)].word); text != tc.want {
			t.Errorf("%s: got %s, want %s", name, text, tc.want)
		}
	}
}

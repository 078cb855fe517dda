package contractcalls_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// writing is a step by an account and its expected result: whether the call succeeded, and the first return word.
type writing struct {
	to        int64
	signature string
	args      []any
	want      string
}

// TestWrites runs the steps of each case in one simulation. Later steps see the changes of earlier ones.
func TestWrites(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob, heidi := b.addressOf(t, demo.Bob), b.addressOf(t, demo.Heidi)
	alice, carol, dave, trent, victor, fund := lz(demo.Alice), lz(demo.Carol), lz(demo.Dave), lz(demo.Trent),
		lz(demo.Victor), lz(demo.Fund)
	const htsAt = system167
	sun, tide, fog, oil := lz(demo.Sunlight), lz(demo.Tide), lz(demo.Foghorn), lz(demo.LampOil)
	light, post := lz(demo.Lighthouse), lz(demo.Postcard)
	cases := []struct {
		name  string
		at    worldstate.BlockRef
		who   common.Address
		steps []writing
	}{
		{"associations", now(), alice, []writing{
			{htsAt, "associateToken(address,address)", []any{carol, oil}, "true 22"},
			{htsAt, "associateToken(address,address)", []any{carol, oil}, "true 194"},
			{htsAt, "associateToken(address,address)", []any{carol, lz(demo.Bottle)}, "true 167"},
			{htsAt, "associateToken(address,address)", []any{carol, lz(demo.Kelp)}, "true 265"},
			{htsAt, "associateToken(address,address)", []any{lz(missing), oil}, "true 15"},
			{htsAt, "associateTokens(address,address[])", []any{dave, []any{oil, oil}}, "true 197"},
			// so the association with oil fails too
			{htsAt, "associateTokens(address,address[])", []any{dave, []any{oil, fog}}, "true 194"},
			{htsAt, "dissociateToken(address,address)", []any{dave, oil}, "true 184"},
			{htsAt, "associateTokens(address,address[])", []any{dave, []any{oil, post}}, "true 22"},
			{htsAt, "dissociateTokens(address,address[])", []any{dave, []any{oil, post}}, "true 22"},
			{htsAt, "dissociateToken(address,address)", []any{carol, oil}, "true 22"},
			{htsAt, "dissociateToken(address,address)", []any{alice, oil}, "true 195"},
			{htsAt, "dissociateToken(address,address)", []any{alice, post}, "true 251"},
			{htsAt, "dissociateToken(address,address)", []any{trent, tide}, "true 196"},
			{htsAt, "dissociateToken(address,address)", []any{alice, fog}, "true 165"},
			{demo.Ration, "isAssociated()", nil, "true 0"},
			{demo.Ration, "associate()", nil, "true 22"},
			{demo.Ration, "isAssociated()", nil, "true 1"},
			{demo.Ration, "associate()", nil, "true 194"},
			{demo.Ration, "dissociate()", nil, "true 22"},
			{demo.Ration, "dissociate()", nil, "true 184"},
		}},
		{"units", now(), alice, []writing{
			// Lamp oil has no fees. Carol has a free automatic association.
			{htsAt, "transferToken(address,address,address,int64)", []any{oil, fund, carol, 700}, "true 22"},
			{demo.LampOil, "balanceOf(address)", []any{carol}, "true 700"},
			{htsAt, "transferToken(address,address,address,int64)", []any{oil, carol, lz(demo.Judy), 1}, "true 184"},
			{htsAt, "transferToken(address,address,address,int64)", []any{oil, carol, fund, 701}, "true 178"},
			{htsAt, "transferToken(address,address,address,int64)", []any{oil, carol, lz(missing), 1}, "true 15"},
			{
				htsAt, "transferTokens(address,address[],int64[])",
				[]any{oil, []any{carol, fund}, []any{-3, 2}},
				"true 173",
			},
			{
				htsAt, "transferTokens(address,address[],int64[])",
				[]any{oil, []any{carol, fund, bob}, []any{-300, 200, 100}},
				"true 22",
			},
			{demo.LampOil, "balanceOf(address)", []any{carol}, "true 400"},
			{htsAt, "transferToken(address,address,address,int64)", []any{lz(demo.Kelp), alice, carol, 1}, "true 265"},
			{htsAt, "transferToken(address,address,address,int64)", []any{fog, alice, trent, 1}, "true 165"},
			{htsAt, "transferToken(address,address,address,int64)", []any{fog, trent, carol, 1}, "true 176"},
			{htsAt, "transferToken(address,address,address,int64)", []any{light, alice, bob, 1}, "true 254"},
			{demo.LampOil, "transfer(address,uint256)", []any{carol, 50}, "true 1"},
			{demo.LampOil, "balanceOf(address)", []any{carol}, "true 450"},
			{demo.LampOil, "transfer(address,uint256)", []any{lz(demo.Judy), 50}, "false 184"},
			{demo.LampOil, "transferFrom(address,address,uint256)", []any{bob, carol, 1}, "false 292"},
			{demo.Foghorn, "transfer(address,uint256)", []any{trent, 1}, "false 165"},
			{htsAt, "transferFrom(address,address,address,uint256)", []any{oil, carol, alice, 1}, "true 292"},
		}},
		{"allowances", now(), bob, []writing{
			// Alice approves 650 hbars' worth of lamp oil for Bob.
			{
				demo.LampOil, "transferFrom(address,address,uint256)",
				[]any{alice, heidi, 650_000_000_00 + 1},
				"false 293",
			},
			{
				htsAt, "transferFrom(address,address,address,uint256)",
				[]any{oil, alice, heidi, 640_000_000_00},
				"true 22",
			},
			{demo.LampOil, "allowance(address,address)", []any{alice, bob}, "true 1000000000"},
			{demo.LampOil, "transferFrom(address,address,uint256)", []any{alice, heidi, 1_000_000_000}, "true 1"},
			{demo.LampOil, "transferFrom(address,address,uint256)", []any{alice, heidi, 1}, "false 292"},
			{demo.LampOil, "approve(address,uint256)", []any{carol, 5}, "true 1"},
			{demo.LampOil, "allowance(address,address)", []any{bob, carol}, "true 5"},
			{demo.LampOil, "approve(address,uint256)", []any{lz(missing), 5}, "false 301"},
			{demo.LampOil, "approve(address,uint256)", []any{bob, 5}, "false 288"},
			{demo.Tide, "approve(address,uint256)", []any{carol, 1_000_000_001}, "false 289"},
			{demo.Foghorn, "approve(address,uint256)", []any{carol, 1}, "false 184"},
			{htsAt, "approve(address,address,uint256)", []any{oil, carol, 9}, "true 22"},
			{htsAt, "approve(address,address,uint256)", []any{light, carol, 3}, "true 299"},
			{htsAt, "allowance(address,address,address)", []any{oil, bob, carol}, "true 22"},
			{system16a, "hbarApprove(address,address,int256)", []any{bob, carol, 77}, "true 22"},
			{system16a, "hbarApprove(address,address,int256)", []any{bob, bob, 77}, "true 288"},
			{system16a, "hbarApprove(address,address,int256)", []any{bob, carol, -1}, "true 290"},
			{system16a, "hbarApprove(address,address,int256)", []any{lz(missing), carol, 1}, "false 300"},
			{system16a, "hbarApprove(address,address,int256)", []any{bob, lz(missing), 1}, "false 301"},
			{demo.Carol, "hbarApprove(address,int256)", []any{bob, 3}, "true 22"},
			{demo.Carol, "hbarAllowance(address)", []any{bob}, "true 22"},
			{demo.Carol, "setUnlimitedAutomaticAssociations(bool)", []any{true}, "true 22"},
		}},
		{"automatic associations", now(), alice, []writing{
			{htsAt, "transferToken(address,address,address,int64)", []any{oil, fund, lz(demo.Judy), 7}, "true 184"},
			{demo.Judy, "setUnlimitedAutomaticAssociations(bool)", []any{true}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{oil, fund, lz(demo.Judy), 7}, "true 22"},
			{demo.LampOil, "balanceOf(address)", []any{lz(demo.Judy)}, "true 7"},
			{htsAt, "transferToken(address,address,address,int64)", []any{fog, trent, lz(demo.Judy), 7}, "true 176"},
		}},
		{"serials", now(), alice, []writing{
			{htsAt, "transferNFT(address,address,address,int64)", []any{post, alice, bob, 1}, "true 22"},
			{htsAt, "transferNFT(address,address,address,int64)", []any{post, alice, bob, 1}, "true 237"},
			{htsAt, "transferNFT(address,address,address,int64)", []any{post, alice, bob, 4}, "true 226"},
			{htsAt, "transferNFT(address,address,address,int64)", []any{post, bob, lz(demo.Judy), 1}, "true 184"},
			{demo.Postcard, "transferFrom(address,address,uint256)", []any{bob, alice, 1}, "false 292"},
			{
				htsAt, "transferNFTs(address,address[],address[],int64[])",
				[]any{post, []any{bob, bob}, []any{alice, alice}, []any{1, 2}},
				"true 22",
			},
			{demo.Postcard, "balanceOf(address)", []any{alice}, "true 2"},
			{demo.Postcard, "approve(address,uint256)", []any{bob, 2}, "true 0"},
			{htsAt, "getApproved(address,uint256)", []any{post, 2}, "true 22"},
			{demo.Postcard, "approve(address,uint256)", []any{common.Address{}, 2}, "true 0"},
			{demo.Postcard, "getApproved(uint256)", []any{2}, "true 0"},
			{demo.Postcard, "approve(address,uint256)", []any{bob, 6}, "false 305"}, // owned by Heidi
			{demo.Postcard, "setApprovalForAll(address,bool)", []any{bob, true}, "true 0"},
			{demo.Postcard, "isApprovedForAll(address,address)", []any{alice, bob}, "true 1"},
			{htsAt, "setApprovalForAll(address,address,bool)", []any{oil, bob, true}, "true 298"},
			{htsAt, "setApprovalForAll(address,address,bool)", []any{post, bob, false}, "true 22"},
			{htsAt, "approveNFT(address,address,uint256)", []any{post, carol, 1}, "true 22"},
			{demo.Postcard, "transferFrom(address,address,uint256)", []any{alice, heidi, 2}, "true 0"},
			// Bob approves all of his lighthouses for Alice. The fallback fee of the royalty is 2 hbars, which the
			// receiver pays.
			{demo.Lighthouse, "transferFrom(address,address,uint256)", []any{bob, heidi, 3}, "true 0"},
			{demo.Postcard, "transfer(address,uint256)", []any{bob, 1}, "false 254"},
		}},
		{"supply", now(), trent, []writing{
			{htsAt, "mintToken(address,int64,bytes[])", []any{tide, 1_000_000, []any{}}, "true 22"},
			{demo.Tide, "totalSupply()", nil, "true 500000000"},
			{htsAt, "mintToken(address,uint64,bytes[])", []any{tide, 500_000_001, []any{}}, "true 236"},
			{htsAt, "mintToken(address,int64,bytes[])", []any{tide, -1, []any{}}, "true 182"},
			{htsAt, "mintToken(address,int64,bytes[])", []any{oil, 1, []any{}}, "true 180"},
			{htsAt, "burnToken(address,int64,int64[])", []any{tide, 400_000_000, []any{}}, "true 22"},
			{demo.Tide, "totalSupply()", nil, "true 100000000"},
			{htsAt, "burnToken(address,uint64,int64[])", []any{tide, 100_000_000, []any{}}, "true 178"},
			{htsAt, "burnToken(address,int64,int64[])", []any{oil, 1, []any{}}, "true 180"},
			{
				htsAt, "mintToken(address,int64,bytes[])",
				[]any{post, 0, []any{[]byte("one"), []byte("two")}},
				"true 22",
			},
			{demo.Postcard, "totalSupply()", nil, "true 9"},
			{demo.Postcard, "ownerOf(uint256)", []any{10}, "true 1017"},
			{htsAt, "mintToken(address,int64,bytes[])", []any{post, 0, []any{make([]byte, 101)}}, "true 227"},
			{htsAt, "mintToken(address,int64,bytes[])", []any{post, 0, []any{}}, "true 248"},
			{htsAt, "burnToken(address,int64,int64[])", []any{post, 0, []any{9, 10}}, "true 22"},
			{htsAt, "burnToken(address,int64,int64[])", []any{post, 0, []any{10}}, "true 226"},
			{htsAt, "burnToken(address,int64,int64[])", []any{post, 0, []any{1}}, "true 252"},
			{demo.Postcard, "ownerOf(uint256)", []any{10}, "false 225"},
			{htsAt, "wipeTokenAccount(address,address,uint32)", []any{fog, carol, 100}, "true 176"},
			{htsAt, "grantTokenKyc(address,address)", []any{fog, carol}, "true 22"},
			{htsAt, "wipeTokenAccount(address,address,uint32)", []any{fog, carol, 100}, "true 22"},
			{demo.Foghorn, "balanceOf(address)", []any{carol}, "true 400"},
			{htsAt, "wipeTokenAccount(address,address,int64)", []any{fog, carol, 401}, "true 192"},
			{htsAt, "wipeTokenAccount(address,address,int64)", []any{fog, trent, 1}, "true 185"},
			{htsAt, "wipeTokenAccount(address,address,int64)", []any{fog, victor, 1}, "true 184"},
			{htsAt, "wipeTokenAccount(address,address,int64)", []any{tide, carol, 1}, "true 181"},
			{htsAt, "wipeTokenAccountNFT(address,address,int64[])", []any{post, alice, []any{1}}, "true 22"},
			{htsAt, "wipeTokenAccountNFT(address,address,int64[])", []any{post, alice, []any{2}}, "true 253"},
			{demo.Postcard, "balanceOf(address)", []any{alice}, "true 0"},
		}},
		{"statuses", now(), trent, []writing{
			{htsAt, "unfreezeToken(address,address)", []any{fog, alice}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{fog, alice, trent, 1}, "true 22"},
			{htsAt, "freezeToken(address,address)", []any{fog, alice}, "true 22"},
			{htsAt, "isFrozen(address,address)", []any{fog, alice}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{fog, alice, trent, 1}, "true 165"},
			{htsAt, "freezeToken(address,address)", []any{tide, alice}, "true 172"},
			{htsAt, "freezeToken(address,address)", []any{fog, bob}, "true 184"},
			{htsAt, "grantTokenKyc(address,address)", []any{fog, carol}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{fog, trent, carol, 1}, "true 22"},
			{htsAt, "revokeTokenKyc(address,address)", []any{fog, carol}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{fog, trent, carol, 1}, "true 176"},
			{htsAt, "grantTokenKyc(address,address)", []any{tide, carol}, "true 177"},
			{htsAt, "pauseToken(address)", []any{sun}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{sun, trent, alice, 1}, "true 265"},
			{htsAt, "unpauseToken(address)", []any{sun}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{sun, trent, alice, 1}, "true 22"},
			{htsAt, "pauseToken(address)", []any{tide}, "true 266"},
			{htsAt, "deleteToken(address)", []any{post}, "true 193"},
			{htsAt, "deleteToken(address)", []any{tide}, "true 22"},
			{htsAt, "isToken(address)", []any{tide}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{tide, trent, alice, 1}, "true 179"},
		}},
		{"fees", now(), trent, []writing{
			// The sender pays an additional thousandth to the fund. A hundredth is deducted from the receiver's amount
			// and paid to Victor.
			{htsAt, "transferToken(address,address,address,int64)", []any{tide, trent, carol, 100_000}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{tide, trent, dave, 1}, "true 184"},
			{htsAt, "associateToken(address,address)", []any{lz(demo.Judy), tide}, "true 22"},
			{htsAt, "associateToken(address,address)", []any{lz(demo.Erin), tide}, "true 22"},
			{
				htsAt, "transferToken(address,address,address,int64)",
				[]any{tide, trent, lz(demo.Judy), 20_000},
				"true 22",
			},
			{
				htsAt, "transferToken(address,address,address,int64)",
				[]any{tide, lz(demo.Judy), lz(demo.Erin), 10_000},
				"true 22",
			},
			{demo.Tide, "balanceOf(address)", []any{lz(demo.Judy)}, "true 9990"},
			{demo.Tide, "balanceOf(address)", []any{lz(demo.Erin)}, "true 9900"},
			{
				htsAt, "transferToken(address,address,address,int64)",
				[]any{tide, lz(demo.Judy), lz(demo.Erin), 9_990},
				"true 178",
			},
		}},
		{"many at once", now(), alice, []writing{
			{
				htsAt, "cryptoTransfer((address,(address,int64)[],(address,address,int64)[])[])",
				[]any{[]any{
					[]any{oil, []any{[]any{alice, -5}, []any{carol, 5}}, []any{}},
					[]any{post, []any{}, []any{[]any{alice, bob, 1}}},
				}},
				"true 22",
			},
			{demo.LampOil, "balanceOf(address)", []any{carol}, "true 5"},
			{
				htsAt, "cryptoTransfer((address,(address,int64)[],(address,address,int64)[])[])",
				[]any{[]any{
					[]any{oil, []any{[]any{alice, -5}, []any{carol, 5}}, []any{}},
					[]any{post, []any{}, []any{[]any{alice, bob, 1}}},
				}},
				"true 237",
			},
			{demo.LampOil, "balanceOf(address)", []any{carol}, "true 5"},
			{
				htsAt,
				"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64," +
					"bool)[])[])",
				[]any{[]any{[]any{[]any{alice, -70, false}, []any{carol, 70, false}}}, []any{}},
				"true 22",
			},
			{
				htsAt,
				"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64," +
					"bool)[])[])",
				[]any{[]any{[]any{[]any{alice, -70, false}, []any{carol, 60, false}}}, []any{}},
				"true 48",
			},
			{
				htsAt,
				"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64," +
					"bool)[])[])",
				[]any{
					[]any{[]any{[]any{heidi, -20 * 100_000_000, true}, []any{alice, 20 * 100_000_000, false}}},
					[]any{},
				},
				"true 22",
			},
			{
				htsAt,
				"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64," +
					"bool)[])[])",
				[]any{[]any{[]any{[]any{heidi, -1, true}, []any{alice, 1, false}}}, []any{}},
				"true 292",
			},
		}},
		{"fees whose sum exceeds 64 bits", now(), trent, []writing{
			{htsAt, "associateToken(address,address)", []any{lz(demo.Judy), tide}, "true 22"},
			{htsAt, "associateToken(address,address)", []any{lz(demo.Erin), tide}, "true 22"},
			{htsAt, "associateToken(address,address)", []any{dave, tide}, "true 22"},
			{htsAt, updateFees, []any{tide, []any{}, []any{}}, "true 22"},
			{htsAt, "transferToken(address,address,address,int64)", []any{tide, trent, carol, 10}, "true 22"},
			{
				htsAt, updateFees, []any{tide, []any{}, []any{
					[]any{1, 10, math.MaxInt64, 0, true, lz(demo.Judy)},
					[]any{1, 10, math.MaxInt64, 0, true, lz(demo.Erin)},
				}}, "true 22",
			},
			{htsAt, "transferToken(address,address,address,int64)", []any{tide, carol, dave, 1}, "true 259"},
			{demo.Tide, "balanceOf(address)", []any{lz(demo.Judy)}, "true 0"},
			{
				htsAt, updateFees,
				[]any{tide, []any{}, []any{[]any{1 << 62, 1, 0, 0, true, lz(demo.Judy)}}},
				"true 22",
			},
			{htsAt, "transferToken(address,address,address,int64)", []any{tide, carol, dave, 4}, "true 241"},
		}},
		{"an airdrop of more than 63 bits", now(), trent, []writing{
			{htsAt, "mintToken(address,int64,bytes[])", []any{sun, 1 << 62, []any{}}, "true 22"},
			{
				htsAt, airdrops, []any{[]any{[]any{
					sun,
					[]any{
						[]any{trent, math.MinInt64, false},
						[]any{lz(demo.Judy), 1 << 62, false},
						[]any{dave, 1 << 62, false},
					},
					[]any{},
				}}}, "true 178",
			},
		}},
		{"an approved amount of more than 63 bits", now(), alice, []writing{
			{
				htsAt,
				"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64," +
					"bool)[])[])",
				[]any{[]any{[]any{
					[]any{heidi, math.MinInt64, true}, []any{alice, 1 << 62, false}, []any{carol, 1 << 62, false},
				}}, []any{}},
				"true 293",
			},
		}},
		{"366 days ago", ago(366), trent, []writing{
			{htsAt, "mintToken(address,int64,bytes[])", []any{light, 0, []any{[]byte("first")}}, "true 22"},
			{demo.Lighthouse, "ownerOf(uint256)", []any{1}, "true 1017"},
			{htsAt, "grantTokenKyc(address,address)", []any{fog, carol}, "true 22"},
			{htsAt, "wipeTokenAccount(address,address,int64)", []any{fog, carol, 800}, "true 22"},
			{demo.Foghorn, "totalSupply()", nil, "true 8999200"},
			{htsAt, "transferToken(address,address,address,int64)", []any{lz(demo.Kelp), alice, carol, 1}, "true 22"},
			{demo.Kelp, "balanceOf(address)", []any{carol}, "true 250001"},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			steps := make([]step, len(c.steps))
			for i, w := range c.steps {
				steps[i] = step{to: lz(w.to), data: input(t, w.signature, w.args...)}
			}
			for i, got := range b.as(t, c.at, c.who, steps...) {
				if text := fmt.Sprint(got.ok, " ", got.word); text != c.steps[i].want {
					t.Errorf("step %d, %s%v: got %s, want %s", i, c.steps[i].signature, c.steps[i].args, text,
						c.steps[i].want)
				}
			}
		})
	}
}

// TestMinimumBalance transfers more hbars than an account owns with several minimum balances of the machine.
func TestMinimumBalance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	alice, carol := lz(demo.Alice), lz(demo.Carol)
	const most = evm.DefaultMinimumBalance
	for _, c := range []struct {
		cfg    evm.Config
		amount int64
		want   string
	}{
		{evm.Config{MinimumBalance: most}, most, "true 22"},
		{evm.Config{MinimumBalance: most}, most + 1, "true 28"},
		{evm.Config{MinimumBalance: 2 * most}, 2 * most, "true 22"},
		{evm.Config{MinimumBalance: most, ValidatePayer: true}, most, "true 28"},
		{evm.Config{MinimumBalance: most, ValidatePayer: true}, 1, "true 22"},
	} {
		c.cfg.SystemContracts = system.Contracts(system.Config{ChainID: evm.ChainIDTestnet})
		with := bench{evm.New(c.cfg), b.reader}
		got := with.as(t, now(), alice, step{to: lz(system167), data: input(t,
			"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64,"+
				"bool)[])[])",
			[]any{[]any{[]any{alice, -c.amount, false}, []any{carol, c.amount, false}}}, []any{})})
		if text := fmt.Sprint(got[0].ok, " ", got[0].word); text != c.want {
			t.Errorf("%d with a minimum of %d and payers validated %t: got %s, want %s", c.amount, c.cfg.MinimumBalance,
				c.cfg.ValidatePayer, text, c.want)
		}
	}
}

// TestUndo makes changes of every kind in frames that revert, and checks that they are undone.
func TestUndo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bob := b.addressOf(t, demo.Bob)
	alice, carol, oil, post, tide, fog := lz(demo.Alice), lz(demo.Carol), lz(demo.LampOil), lz(demo.Postcard),
		lz(demo.Tide), lz(demo.Foghorn)
	hts := func(signature string, args ...any) step {
		return step{to: lz(system167), data: input(t, signature, args...)}
	}
	at := func(token int64, signature string, args ...any) step {
		return step{to: lz(token), data: input(t, signature, args...)}
	}
	looks := []step{
		at(demo.LampOil, "balanceOf(address)", carol), at(demo.LampOil, "allowance(address,address)", alice, bob),
		at(demo.Tide, "totalSupply()"),
		at(demo.Postcard, "totalSupply()"), at(demo.Postcard, "ownerOf(uint256)", 1),
		at(demo.Postcard, "getApproved(uint256)", 1),
		at(demo.Lighthouse, "isApprovedForAll(address,address)", alice, bob), at(demo.Ration, "isAssociated()"),
		at(demo.Foghorn, "balanceOf(address)", carol),
		at(demo.Tide, "symbol()"), at(demo.Postcard, "ownerOf(uint256)", 9),
	}
	changes := []step{
		hts("transferToken(address,address,address,int64)", oil, alice, carol, 10),
		at(demo.LampOil, "approve(address,uint256)", bob, 3),
		hts("mintToken(address,int64,bytes[])", tide, 5, []any{}),
		hts("mintToken(address,int64,bytes[])", post, 0, []any{[]byte("new")}),
		hts("transferNFT(address,address,address,int64)", post, alice, bob, 1),
		at(demo.Lighthouse, "setApprovalForAll(address,bool)", bob, false),
		at(demo.Ration, "associate()"), hts("grantTokenKyc(address,address)", fog, carol),
		hts("wipeTokenAccount(address,address,int64)", fog, carol, 5), hts("deleteToken(address)", tide),
	}
	var steps []step
	steps = append(steps, looks...)
	steps = append(steps, step{undone: changes})
	steps = append(steps, looks...)
	steps = append(steps, changes...)
	steps = append(steps, looks...)
	got := b.as(t, now(), alice, steps...)
	n, same := len(looks), 0
	if got[n].ok {
		t.Error("the frame did not revert")
	}
	for i := range looks {
		before, undone, after := got[i], got[n+1+i], got[n+1+n+len(changes)+i]
		if before.ok != undone.ok || before.word.Cmp(undone.word) != 0 {
			t.Errorf("look %d: %v before, %v after changes that were undone", i, before, undone)
		}
		if before.ok == after.ok && before.word.Cmp(after.word) == 0 {
			same++
			t.Errorf("look %d: still %v after changes", i, after)
		}
	}
}

// TestWriteGas compares the gas of functions that write with the network's prices: a tenth of a cent is 14085 units of
// gas, plus 20 percent.
func TestWriteGas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	alice, carol := lz(demo.Alice), lz(demo.Carol)
	bob := b.addressOf(t, demo.Bob)
	for _, c := range []struct {
		signature string
		args      []any
		gas       uint64
	}{
		// (10,000,000 + 851,999) * 1000 / 852,000 = 12737, plus 20 percent (2547)
		{"transferToken(address,address,address,int64)", []any{lz(demo.LampOil), alice, carol, 1}, 15_284},
		// 20,851,999,000 / 852,000 = 24474 and 4894
		{"transferToken(address,address,address,int64)", []any{lz(demo.Tide), alice, carol, 1}, 29_368},
		// 500,851,999,000 / 852,000 = 587854 and 117570
		{"associateToken(address,address)", []any{carol, lz(demo.LampOil)}, 705_424},
		// 1,000,851,999,000 / 852,000 = 1174708 and 234941
		{"associateTokens(address,address[])", []any{carol, []any{lz(demo.LampOil), lz(demo.Postcard)}}, 1_409_649},
		{"approve(address,address,uint256)", []any{lz(demo.LampOil), bob, 1}, 705_424},
		// 400,851,999,000 / 852,000 = 470483 and 94096
		{"mintToken(address,int64,bytes[])", []any{lz(demo.Postcard), 0, []any{[]byte("a"), []byte("b")}}, 564_579},
		{"freezeToken(address,address)", []any{lz(demo.Foghorn), carol}, 15_284},
		{"updateTokenKeys(address,(uint256," + kv + ")[])", []any{lz(demo.Sunlight), []any{}}, 15_284},
		{"rejectTokens(address,address[],(address,int64)[])", []any{alice, []any{lz(demo.LampOil)}, []any{}}, 15_284},
		{
			"claimAirdrops((address,address,address,int64)[])",
			[]any{[]any{[]any{alice, lz(demo.Erin), lz(demo.LampOil), 0}}},
			15_284,
		},
		// 1,851,999,000 / 852,000 = 2173 and 434, at least the price of a read
		{
			"cryptoTransfer(((address,int64,bool)[]),(address,(address,int64,bool)[],(address,address,int64," +
				"bool)[])[])",
			[]any{[]any{[]any{}}, []any{}},
			2_607,
		},
	} {
		data := input(t, c.signature, c.args...)
		r := b.call(t, now(), alice, lz(system167), data)
		if r.Code != codes.Success || revertCode(r.Output[:32]) != 22 {
			t.Errorf("%s: %s, %x", c.signature, r.Code, r.Output)
		}
		if got := r.GasUsed - intrinsic(data); got != c.gas {
			t.Errorf("%s costs %d gas, want %d", c.signature, got, c.gas)
		}
	}
}

// TestTooLittleGas calls a function with less gas than it needs.
func TestTooLittleGas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	data := input(t, "associateToken(address,address)", lz(demo.Carol), lz(demo.LampOil))
	r := b.callWith(t, 200_000, lz(demo.Alice), lz(system167), data)
	if r.Code != codes.InsufficientGas {
		t.Errorf("got %s", r.Code)
	}
}

// TestTokenDesk runs a contract of the demo network that transfers tokens. If a transfer fails, it reverts with its
// own error texts.
func TestTokenDesk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const signature = "send(address,address,address,int64)"
	r := b.call(t, now(), lz(demo.Alice), lz(demo.TokenDesk),
		input(t, signature, lz(demo.LampOil), lz(demo.Fund), lz(demo.Carol), 5))
	if r.Code != codes.Success || revertCode(r.Output) != 22 {
		t.Errorf("got %s, %x", r.Code, r.Output)
	}
	r = b.call(t, now(), lz(demo.Alice), lz(demo.TokenDesk),
		input(t, signature, lz(demo.LampOil), lz(demo.Fund), lz(demo.Judy), 5))
	if reason := evm.RevertReason(r.Output); r.Code != codes.ContractRevertExecuted ||
		!strings.Contains(reason, "refused") || len(r.Children) != 1 ||
		r.Children[0] != 184 {
		t.Errorf("got %s %q, children %v", r.Code, reason, r.Children)
	}
}

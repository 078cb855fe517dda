package evm_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/jackc/pgx/v5"

	"heliograph/storage/demo"
)

const hbar = 100_000_000

// rowsOf reads rows from the database.
func rowsOf[T any](t *testing.T, b *bay, sql string, args ...any) []T {
	t.Helper()
	rows, _ := b.DB.Pool().Query(t.Context(), sql, args...) // CollectRows returns the error
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		t.Fatal(err, sql)
	}
	return out
}

// event is an event that a contract emitted.
type event struct{ Topic1, Topic2, Data []byte }

// events returns the events of a kind that a contract emitted, in order. The current state must agree with them.
func (b *bay) events(t *testing.T, contract int64, kind string) []event {
	t.Helper()
	topic := crypto.Keccak256([]byte(kind))
	return rowsOf[event](t,
		b,
		"select coalesce(topic1, '') as topic1, coalesce(topic2, '') as topic2, data from contract_log where "+
			"contract_id = $1 and topic0 = $2 order by consensus_timestamp, index",
		contract, slices.Clone(topic))
}

// both returns test calls whose results were the same when the contract was created.
func both(contract int64, list ...testCall) []testCall {
	var out []testCall
	for _, a := range list {
		out = append(out, a, a.when(moment{contract, 0}))
	}
	return out
}

// tokens returns the test calls of Harbour Coin and Pier Pass.
func (b *bay) tokens(t *testing.T) map[string][]testCall {
	t.Helper()
	alice, bob, heidi, ivan, trent, carol := b.address(t, demo.Alice), b.address(t, demo.Bob),
		b.address(t, demo.Heidi), b.address(t, demo.Ivan),
		b.address(t, demo.Trent), b.address(t, demo.Carol)
	coins := map[common.Address]int64{}
	for _, e := range b.events(t, demo.HarbourCoin, "Transfer(address,address,uint256)") {
		amount := new(big.Int).SetBytes(e.Data).Int64()
		coins[common.BytesToAddress(e.Topic1)] -= amount
		coins[common.BytesToAddress(e.Topic2)] += amount
	}
	coin := func(n int) moment { return moment{demo.HarbourCoin, n} }
	short := func(owner common.Address, available, needed int64) fails {
		id := b.compiled["HarbourCoin"].abi.Errors["InsufficientBalance"].ID
		return reverts(slices.Concat(id[:4], word(0)[:12], owner[:], word(available), word(needed)))
	}
	harbourCoin := append(both(demo.HarbourCoin,
		does("name", nil, "Harbour Coin"), does("symbol", nil, "HBRC"), does("decimals", nil, uint8(2)),
		does("totalSupply", nil, n(100_000_000)),
		does("approve", with(bob, n(7)), true).by(demo.Alice),
		does("transfer", with(bob, n(5)), true).by(demo.Alice),
		failing("transferFrom", with(alice, carol, n(6)),
			revertsWith("HarbourCoin: allowance too small")).by(demo.Trent),
	),
		// The first transaction created the coin and six distributed it. Then an approval, a transfer from the
		// approved amount, and Heidi's transfer followed.
		does("balanceOf", with(alice), n(100_000_000)).when(coin(0)),
		does("balanceOf", with(bob), n(0)).when(coin(0)),
		does("balanceOf", with(alice), n(97_000_000)).when(coin(6)),
		does("balanceOf", with(bob), n(500_000)).when(coin(6)),
		does("balanceOf", with(alice), n(96_975_000)).when(coin(8)),
		does("balanceOf", with(heidi), n(525_000)).when(coin(8)),
		does("balanceOf", with(heidi), n(523_800)).when(coin(9)),
		does("balanceOf", with(ivan), n(1_200)).when(coin(9)),
		does("balanceOf", with(alice), n(coins[alice])), does("balanceOf", with(bob), n(coins[bob])),
		does("balanceOf", with(heidi), n(coins[heidi])),
		does("allowance", with(alice, bob), n(0)).when(coin(6)),
		does("allowance", with(alice, bob), n(75_000)).when(coin(7)),
		does("allowance", with(alice, bob), n(50_000)).when(coin(8)),
		does("allowance", with(alice, bob), n(50_000)),
		does("transferFrom", with(alice, carol, n(50_000)), true).by(demo.Bob),
		does("transferFrom", with(alice, carol, n(75_000)), true).by(demo.Bob).when(coin(7)),
		failing("transferFrom", with(alice, carol, n(50_001)),
			revertsWith("HarbourCoin: allowance too small")).by(demo.Bob),
		failing("transfer", with(bob, n(1_000_000_000)), short(alice, coins[alice], 1_000_000_000)).by(demo.Alice),
		failing("transfer", with(bob, n(97_000_001)),
			short(alice, 97_000_000, 97_000_001)).by(demo.Alice).when(coin(6)),
		failing("transfer", with(bob, n(1)), short(trent, 0, 1)).by(demo.Trent).when(coin(0)),
	)
	pass := func(n int) moment { return moment{demo.PierPass, n} }
	none := common.Address{}
	erc165, erc721, metadata := [4]byte{0x01, 0xff, 0xc9, 0xa7}, [4]byte{0x80, 0xac, 0x58, 0xcd},
		[4]byte{0x5b, 0x5e, 0x13, 0x9f}
	pierPass := append(both(demo.PierPass,
		does("name", nil, "Pier Pass"), does("symbol", nil, "PIER"), does("minter", nil, trent),
		failing("mint", with(carol), revertsWith("PierPass: only the harbour office mints")).by(demo.Carol),
		failing("ownerOf", with(n(9)), revertsWith("PierPass: no such pass")),
		failing("tokenURI", with(n(9)), revertsWith("PierPass: no such pass")),
		failing("approve", with(bob, n(9)), revertsWith("PierPass: no such pass")),
		failing("transferFrom", with(bob, alice, n(9)), revertsWith("PierPass: no such pass")),
		does("supportsInterface", with(erc165), true), does("supportsInterface", with(erc721), true),
		does("supportsInterface", with(metadata), true),
		does("supportsInterface", with([4]byte{0xff, 0xff, 0xff, 0xff}), false),
		does("isApprovedForAll", with(alice, bob), false), does("setApprovalForAll", with(bob, true)).by(demo.Alice),
		failing("safeTransferFrom", with(bob, alice, n(9)), revertsWith("PierPass: no such pass")),
		failing("safeTransferFrom0", with(bob, alice, n(9), []byte("x")), revertsWith("PierPass: no such pass")),
	),
		// Four passes were minted for Alice. Bob was approved for the second and took it.
		does("lastId", nil, n(0)).when(pass(0)), does("lastId", nil, n(4)).when(pass(4)), does("lastId", nil, n(4)),
		does("mint", with(carol), n(1)).by(demo.Trent).when(pass(0)), does("mint", with(carol), n(5)).by(demo.Trent),
		does("balanceOf", with(alice), n(0)).when(pass(0)), does("balanceOf", with(alice), n(4)).when(pass(4)),
		does("balanceOf", with(alice), n(3)),
		does("balanceOf", with(bob), n(1)),
		does("ownerOf", with(n(2)), alice).when(pass(5)), does("ownerOf", with(n(2)), bob),
		does("ownerOf", with(n(1)), alice),
		does("getApproved", with(n(2)), none).when(pass(4)), does("getApproved", with(n(2)), bob).when(pass(5)),
		does("getApproved", with(n(2)), none),
		does("approve", with(carol, n(1))).by(demo.Alice),
		does("approve", with(carol, n(2))).by(demo.Alice).when(pass(5)),
		failing("approve", with(carol, n(2)), revertsWith("PierPass: not yours")).by(demo.Alice),
		does("transferFrom", with(alice, carol, n(2))).by(demo.Bob).when(pass(5)),
		failing("transferFrom", with(alice, carol, n(2)), revertsWith("PierPass: wrong owner")).by(demo.Bob),
		failing("transferFrom", with(alice, none, n(1)), revertsWith("PierPass: no receiver")).by(demo.Alice),
		does("safeTransferFrom", with(alice, carol, n(1))).by(demo.Alice),
		does("safeTransferFrom0", with(alice, carol, n(1), []byte("x"))).by(demo.Alice),
		failing("transferFrom", with(alice, carol, n(1)), revertsWith("PierPass: not allowed")).by(demo.Bob),
		does("tokenURI", with(n(1)), "ipfs://pier-pass/season.json"),
		does("tokenURI", with(n(1)), "ipfs://pier-pass/season.json").when(pass(1)),
	)
	return map[string][]testCall{"HarbourCoin": harbourCoin, "PierPass": pierPass}
}

// harbour returns the test calls of the gauge, the logbook behind its proxy, the shipyard and its boats, the token
// desk and the toll gate.
func (b *bay) harbour(t *testing.T) map[string][]testCall {
	t.Helper()
	return map[string][]testCall{
		"TideGauge": b.gauge(t), "Logbook": b.logbook(t), "Signpost": b.signpost(t), "Shipyard": b.shipyard(t),
		"Boat": b.boat(t), "TokenDesk": b.desk(t),
		"Tollgate": b.tollgate(t),
	}
}

func (b *bay) gauge(t *testing.T) []testCall {
	t.Helper()
	rupert, heidi := b.address(t, demo.Rupert), b.address(t, demo.Heidi)
	var count, highest, lowest, all, ruperts int64
	var last testCall
	for i, e := range b.events(t, demo.TideGauge, "TideRead(address,uint256,int64)") {
		mm := int64(binary.BigEndian.Uint64(e.Data[24:]))
		count, highest, lowest, all = count+1, max(highest, mm), min(lowest, mm), all+mm
		who := common.BytesToAddress(e.Topic1)
		if who == rupert {
			ruperts++
		}
		last = does("readings", with(n(int64(i))), mm, uint64(i+1), who)
	}
	seal := func(count, highest, lowest int64) [32]byte {
		two := func(v int64) []byte { return common.BigToHash(new(big.Int).And(n(v), common.MaxHash.Big())).Bytes() }
		return sha256.Sum256(slices.Concat(word(count), two(highest), two(lowest)))
	}
	then := func(n int) moment { return moment{demo.TideGauge, n} }
	return append(both(demo.TideGauge,
		failing("report", with(int64(10_000)), revertsWith("TideGauge: implausible reading")),
		failing("report", with(int64(-10_000)), revertsWith("TideGauge: implausible reading")),
		does("rename", with("x")), does("setOpen", with(false)), does("open", nil, true),
		failing("readings", with(n(1_000_000)), reverts(nil)),
	),
		// Rupert reported 812, then Heidi -301.
		does("count", nil, n(0)).when(then(0)), does("count", nil, n(2)).when(then(2)), does("count", nil, n(count)),
		does("highest", nil, int64(812)).when(then(2)), does("highest", nil, highest),
		does("lowest", nil, int64(0)).when(then(1)), does("lowest", nil, int64(-301)).when(then(2)),
		does("lowest", nil, lowest),
		does("place", nil, "East Mole").when(then(2)),
		does("place", nil, "East Mole, at the foot of the stairs that lead up to the light"),
		does("readings", with(n(0)), int64(812), uint64(1), rupert).when(then(1)),
		does("readings", with(n(1)), int64(-301), uint64(2), heidi), last,
		failing("readings", with(n(1)), reverts(nil)).when(then(1)),
		does("reportsOf", with(rupert), n(0)).when(then(0)), does("reportsOf", with(rupert), n(1)).when(then(2)),
		does("reportsOf", with(rupert), n(ruperts)),
		failing("average", nil, revertsWith("TideGauge: nothing read yet")).when(then(0)),
		does("average", nil, n(255)).when(then(2)), does("average", nil, n(all/count)),
		does("seal", nil, seal(2, 812, -301)).when(then(2)), does("seal", nil, seal(count, highest, lowest)),
		does("report", with(int64(1)), n(3)).when(then(2)), does("report", with(int64(1)), n(count+1)),
	)
}

func (b *bay) logbook(t *testing.T) []testCall {
	t.Helper()
	walter := b.address(t, demo.Walter)
	written := int64(len(b.events(t, demo.Signpost, "Written(uint256,address,string)")))
	then := func(n int) moment { return moment{demo.Signpost, n} }
	const first = "First night of the new lamp. Calm sea, no ships."
	return append(both(demo.Signpost, failing("write", with(""), revertsWith("Logbook: empty entry"))),
		does("entries", nil, n(0)).when(then(0)), does("entries", nil, n(1)).when(then(1)),
		does("entries", nil, n(written)),
		does("entry", with(n(1)), "").when(then(0)), does("entry", with(n(1)), first).when(then(1)),
		does("entry", with(n(1)), first),
		does("author", with(n(1)), common.Address{}).when(then(0)), does("author", with(n(1)), walter).when(then(1)),
		does("author", with(n(1)), walter),
		does("write", with("Fog."), n(2)).when(then(1)), does("write", with("Fog."), n(written+1)),
	)
}

func (b *bay) signpost(t *testing.T) []testCall {
	t.Helper()
	carol := b.address(t, demo.Carol)
	return both(demo.Signpost,
		does("upgradeTo", with(carol)).by(demo.Walter),
		failing("upgradeTo", with(carol), revertsWith("Signpost: not the admin")).by(demo.Carol),
	)
}

func (b *bay) shipyard(t *testing.T) []testCall {
	t.Helper()
	yard, petrel, heron := b.address(t, demo.Shipyard), b.address(t, demo.Boat), b.address(t, demo.SecondBoat)
	then := func(n int) moment { return moment{demo.Shipyard, n} }
	args, err := b.compiled["Boat"].abi.Pack("", "Auk")
	if err != nil {
		t.Fatal(err)
	}
	salt := [32]byte{9}
	foretold := crypto.CreateAddress2(yard, salt, crypto.Keccak256(slices.Concat(b.compiled["Boat"].code, args)))
	next := crypto.CreateAddress(yard, 3) // after the first nonce of a contract and two boats
	return append(both(demo.Shipyard,
		does("launchAt", with("Auk", salt), foretold), does("fleetTo", with(int32(1), int32(-1))),
		failing("boats", with(n(2)), reverts(nil)),
		does("launch", with("Auk"), next), // nonces have no history
	),
		does("boats", with(n(0)), petrel).when(then(1)), does("boats", with(n(0)), petrel),
		does("boats", with(n(1)), heron),
		failing("boats", with(n(1)), reverts(nil)).when(then(1)),
	)
}

func (b *bay) boat(t *testing.T) []testCall {
	t.Helper()
	return append(both(demo.Boat,
		does("name", nil, "Petrel"), does("builder", nil, b.address(t, demo.Shipyard)),
		does("sail", with(int32(5), int32(-6))),
	),
		does("latitude", nil, int32(0)).when(moment{demo.Boat, 0}),
		does("longitude", nil, int32(0)).when(moment{demo.Boat, 0}),
		does("latitude", nil, int32(5432)), does("longitude", nil, int32(1014)),
	)
}

func (b *bay) desk(t *testing.T) []testCall {
	t.Helper()
	alice, bob, carol := b.address(t, demo.Alice), b.address(t, demo.Bob), b.address(t, demo.Carol)
	sunlight, kelp := common.Address(lz(demo.Sunlight)), common.Address(lz(demo.Kelp))
	served := int64(len(b.events(t, demo.TokenDesk, "Served(address,address,address,int64)")))
	return append(both(demo.TokenDesk,
		does("send", with(sunlight, alice, bob, int64(1_000)), int64(22)),
	),
		// Alice and Carol have held kelp since before the desk opened. It was paused later.
		does("send", with(kelp, alice, carol, int64(1)), int64(22)).when(moment{demo.TokenDesk, 0}),
		failing("send", with(kelp, alice, carol, int64(1)),
			revertsWith("TokenDesk: the transfer was refused").after("TOKEN_IS_PAUSED")),
		does("served", nil, n(0)).when(moment{demo.TokenDesk, 0}),
		does("served", nil, n(1)).when(moment{demo.TokenDesk, 1}), does("served", nil, n(served)),
	)
}

func (b *bay) tollgate(t *testing.T) []testCall {
	t.Helper()
	grace := b.address(t, demo.Grace)
	passed := value[int64](t,
		b, "select count(*) from contract_result where contract_id = $1 and amount > 0 and transaction_result = 22",
		demo.Tollgate)
	return append(both(demo.Tollgate,
		does("limit", nil, n(50*hbar)), does("allow", with(n(50*hbar)), true),
		failing("allow", with(n(50*hbar+1)), revertsWith("Tollgate: too much for this gate")),
		does("pay", with(grace)).by(demo.Dave).paying(5),
		failing("pay", with(grace), revertsWith("Tollgate: nothing to pay")).by(demo.Dave),
	),
		does("passed", nil, n(0)).when(moment{demo.Tollgate, 0}),
		does("passed", nil, n(1)).when(moment{demo.Tollgate, 1}), does("passed", nil, n(passed)),
	)
}

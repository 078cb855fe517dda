package demo

import (
	"crypto/sha512"
	"fmt"
	"math/big"

	"heliograph/internal/domain/fees"
)

func bigInt(v int64) *big.Int { return big.NewInt(v) }

// collectionsOpen mints the collections and sells the first serials.
func (w *world) collectionsOpen() {
	lights := []string{
		"East Mole", "West Light", "Gull Rock", "Outer Buoy", "Needle Point", "Black Ledge", "Old Battery", "Sandbar", "Cormorant", "Ferry Pier",
		"Lower Lock", "Three Sisters", "Whale Back", "Fog Island", "North Stack", "Lantern Tower", "Pilot Station", "Heron Reef", "Storm Head", "Last Light",
	}
	for i := 0; i < len(lights); i += 5 {
		var metadata []string
		for _, l := range lights[i : i+5] {
			metadata = append(metadata, "ipfs://lighthouses/"+l+".json")
		}
		w.mintNfts(Lighthouse, metadata...)
	}
	w.mintNfts(Lighthouse, "ipfs://lighthouses/misprint.json", "ipfs://lighthouses/test.json")
	w.mintNfts(Seashell, "ipfs://shells/cockle.json", "ipfs://shells/whelk.json", "ipfs://shells/scallop.json", "ipfs://shells/razor.json", "ipfs://shells/limpet.json", "ipfs://shells/periwinkle.json")
	w.mintNfts(Postcard, "Greetings from the pier", "The lock at dawn", "Fog, and nothing else", "Goats", "The crane", "Regatta", "Winter storm", "Harbour dog")
	w.mintNfts(Bottle, "To whoever finds this", "Send biscuits", "Never mind")

	w.associate(Alice, Postcard)
	w.associate(Bob, Bottle)
	w.associate(Dave, Lighthouse, Seashell)
	w.sendNft(Trent, Alice, Lighthouse, 1, 40*hbar, "East Mole")
	w.sendNft(Trent, Alice, Lighthouse, 2, 45*hbar, "West Light")
	w.sendNft(Trent, Bob, Lighthouse, 3, 50*hbar, "Gull Rock")
	w.sendNft(Trent, Heidi, Lighthouse, 4, 35*hbar, "Outer Buoy")
	w.sendNft(Trent, Carol, Lighthouse, 5, 38*hbar, "")
	w.sendNft(Trent, Frank, Lighthouse, 6, 39*hbar, "")
	w.sendNft(Trent, Dave, Lighthouse, 7, 60*hbar, "Old Battery")
	w.sendNft(Trent, Walter, Lighthouse, 8, 30*hbar, "")
	w.sendNft(Alice, Bob, Lighthouse, 1, 80*hbar, "resold at twice the price")
	w.sendNft(Bob, Heidi, Lighthouse, 1, 0, "a present: the fallback fee is due")
	w.sendNft(Trent, Heidi, Seashell, 1, 5*hbar, "")
	w.sendNft(Trent, Bob, Seashell, 2, 6*hbar, "")
	w.sendNft(Trent, Carol, Seashell, 3, 6*hbar, "")
	w.sendNft(Bob, Dave, Seashell, 2, 9*hbar, "")
	w.sendNft(Trent, Alice, Postcard, 1, 0, "from the harbour office")
	w.sendNft(Trent, Bob, Postcard, 2, 0, "")
	w.sendNft(Trent, Frank, Postcard, 4, 0, "")
	w.sendNft(Trent, Heidi, Postcard, 6, 0, "")
	w.sendNft(Trent, Bob, Bottle, 1, hbar, "")
	w.endNfts(typeTokenBurn, Lighthouse, Trent, 21, 22)
	w.endNfts(typeTokenWipe, Postcard, Frank, 4)
	w.describeNfts(Seashell, "ipfs://shells/scallop-2.json", 3)
}

// changesOfSpring changes accounts, tokens, topics and files, so that they have a history.
func (w *world) changesOfSpring() {
	w.pay(Treasury, Fund, 20_000*hbar, "grant for the spring")
	w.supply(typeTokenMint, Sunlight, Trent, 250_000_000_000)
	w.supply(typeTokenBurn, Tide, Trent, -1_000_000)
	w.supply(typeTokenWipe, Foghorn, Carol, -300)
	w.administer(typeTokenUpdate, Sunlight, row{"name": "Sunlight", "metadata": []byte("ipfs://sunlight/token-2.json")})
	w.administer(typeTokenUpdate, Driftwood, row{"name": "Driftwood (washed ashore)"})
	w.administer(typeTokenPause, Sunlight, row{"pause_status": "PAUSED"})
	w.sendToken(Alice, Bob, Sunlight, 1_000, "refused: paused")
	w.administer(typeTokenUnpause, Sunlight, row{"pause_status": "UNPAUSED"})
	w.administer(typeTokenPause, Kelp, row{"pause_status": "PAUSED"})
	w.sendToken(Alice, Carol, Kelp, 10, "refused: paused")
	t := w.administer(typeTokenDelete, FerryPass, nil)
	w.changeEntity(FerryPass, t.ts, row{"deleted": true})
	w.sendToken(Alice, Erin, FerryPass, 1, "refused: deleted")
	w.newFees(Sunlight, []map[string]any{fixedFee(50_000, Victor, 0, true)})
	w.newFees(HarbourNotices, []map[string]any{fixedFee(hbar/4, Victor, 0, false), fixedFee(1_000, Fund, Sunlight, false)})
	w.dissociate(Erin, FerryPass)
	w.changeTreasury(Seashell, Heidi)

	w.updateAccount(Alice, row{"memo": "Alice's wallet, second edition", "staked_node_id": int64(2), "stake_period_start": w.clock / day, "max_automatic_token_associations": 25})
	w.updateAccount(Erin, row{"key": keyList(edKey("Erin's new key")), "memo": "Erin's savings, new key"})
	w.updateAccount(Dave, row{"staked_node_id": int64(-1), "staked_account_id": int64(Fund), "stake_period_start": int64(-1)})
	w.updateAccount(Bob, row{"receiver_sig_required": true})
	w.updateAccount(Bob, row{"receiver_sig_required": false, "memo": "Bob the boat builder, slipway 2"})
	w.updateAccount(Peggy, row{"decline_reward": false, "expiration_timestamp": w.clock + 2*renewal*second})
	w.deleteAccount(Olivia, Alice)
	refused := w.tx(typeCryptoTransfer, Alice)
	refused.result, refused.memo = resultAccountDeleted, "for Olivia"
	w.commit(refused)
	for i := 7; i < len(w.cast.residents); i += 42 {
		w.deleteAccount(w.cast.residents[i], Fund)
		w.cast.residents[i] = Fund
	}

	w.updateTopic(WeatherReports, Alice, "Weather reports of Lantern Bay", row{"submit_key": edKey("Alice's weather station")})
	w.deleteTopic(OldNewsletter, Alice)
	recipe := w.createFile(Carol, "Fish soup", []byte("Fish soup for six\n1 onion, 2 carrots, 1 kg of what the boats brought in\n"))
	w.appendFile(Carol, recipe, []byte("Simmer, never boil.\n"))
	w.updateFile(Carol, recipe, []byte("Fish soup for eight\n2 onions, 3 carrots, 1.5 kg of what the boats brought in\nSimmer, never boil.\n"), "Fish soup, improved")
	w.updateFile(Carol, recipe, nil, "Fish soup, improved and renamed")
	note := w.createFile(Frank, "A note", []byte("Back in ten minutes."))
	w.deleteFile(typeFileDelete, Frank, note, true)
	hidden := w.createFile(Mallory, "A rude poem", []byte("(not fit to print)"))
	w.deleteFile(typeSystemDelete, addressBookAdmin, hidden, true)
	w.deleteFile(typeSystemUndelete, addressBookAdmin, hidden, false)
	w.changeContract(SunkenGauge, Frank, row{"memo": "Gauge on the sand bank, lost in a storm"})
	w.deleteContract(SunkenGauge, Frank, Fund, true)

	for i, kind := range []int{typeAddLiveHash, typeDeleteLiveHash} {
		t := w.tx(kind, Judy)
		t.entity = Judy
		if i == 0 {
			h := sha512.Sum384([]byte("Judy's certificate"))
			w.out.add("live_hash", row{"livehash": h[:], "consensus_timestamp": t.ts})
		}
		w.commit(t)
	}
}

// allowancesAndAirdrops lets people spend for each other, and offers tokens to others.
func (w *world) allowancesAndAirdrops() {
	w.approveHbars(Alice, Bob, 500*hbar)
	w.approveHbars(Alice, Carol, 100*hbar)
	w.approveHbars(Alice, Frank, 50*hbar)
	w.approveHbars(Heidi, Alice, 20*hbar)
	w.approveHbars(Fund, Walter, 10_000*hbar)
	w.spendHbars(Alice, Bob, Heidi, 120*hbar, "for the paint")
	w.spendHbars(Fund, Walter, Frank, 900*hbar, "rope and oil")
	w.spendHbars(Heidi, Rupert, Rupert, hbar, "refused: not allowed")
	w.approveHbars(Alice, Bob, 600*hbar)
	w.approveHbars(Alice, Frank, 0)
	w.approveTokens(Alice, Bob, LampOil, 900*hbar)
	w.approveTokens(Alice, Heidi, LampOil, 100*hbar)
	w.approveTokens(Alice, Heidi, Tide, 50_000)
	w.approveTokens(Bob, Alice, Sunlight, 2_000_000)
	w.approveTokens(Walter, Frank, LampOil, 40*hbar)
	w.spendTokens(Alice, Bob, Walter, LampOil, 250*hbar)
	w.approveTokens(Alice, Heidi, LampOil, 300*hbar)
	w.approveTokens(Walter, Frank, LampOil, 0)
	w.approveNfts(Alice, Bob, Lighthouse, true)
	w.approveNfts(Alice, Heidi, Postcard, true)
	w.approveNfts(Bob, Alice, Lighthouse, true)
	w.approveNfts(Heidi, Alice, Seashell, true)
	w.approveNfts(Dave, Carol, Lighthouse, true)
	w.approveNfts(Dave, Carol, Lighthouse, false)
	w.approveSerial(Alice, 0, Carol, Lighthouse, 2)
	w.approveSerial(Heidi, 0, Frank, Lighthouse, 4)
	w.approveSerial(Bob, Alice, Dave, Lighthouse, 3)
	w.approveSerial(Alice, 0, Heidi, Postcard, 1)
	w.approveSerial(Carol, 0, Erin, Lighthouse, 5)
	w.clearSerial(Carol, Lighthouse, 5)
	w.spendSerial(Heidi, Frank, Frank, Lighthouse, 4)
	w.reject(Carol, Lighthouse, 5)

	w.airdrop(Alice, Erin, LampOil, 0, 5*hbar)
	w.airdrop(Alice, Grace, LampOil, 0, 7*hbar)
	w.airdrop(Alice, Dave, Tide, 0, 1_200)
	w.airdrop(Alice, Erin, Sunlight, 0, 900_000)
	w.airdrop(Heidi, Erin, Seashell, 4, 0)
	w.airdrop(Heidi, Grace, Seashell, 5, 0)
	w.airdrop(Bob, Erin, Postcard, 2, 0)
	w.airdrop(Fund, Erin, LampOil, 0, 100*hbar)
	w.airdrop(Trent, Judy, Tide, 0, 10_000)
	w.airdrop(Trent, Erin, Lighthouse, 9, 0)
	w.airdrop(Trent, Erin, Lighthouse, 10, 0)
	w.claimAirdrop(Alice, Grace, LampOil, 0)
	w.claimAirdrop(Heidi, Grace, Seashell, 5)
	w.cancelAirdrop(Alice, Dave, Tide, 0)
	w.cancelAirdrop(Trent, Erin, Lighthouse, 10)
	for i := 2; i < 60; i += 9 {
		w.airdrop(Fund, w.cast.residents[i], LampOil, 0, int64(i+1)*hbar)
	}

	w.addHook(Alice, 1, "Alice")
	w.addHook(Alice, 2, "")
	w.addHook(Bob, 1, "Bob")
	w.addHook(Heidi, 7, "")
	w.storeHook(Alice, 1, slot{word(0), word(50 * hbar)}, slot{word(1), word(1)}, slot{word(2), word(77)})
	w.storeHook(Alice, 1, slot{word(1), word(2)}, slot{digest("payee")[:32], word(Bob)})
	w.storeHook(Alice, 1, slot{word(2), nil})
	w.storeHook(Bob, 1, slot{word(0), word(9 * hbar)})
	w.storeHook(Heidi, 7, slot{word(0), word(hbar)}, slot{word(1), word(0)})
	w.removeHook(Alice, 2)
}

// upgradeNetwork is what the network's operators did: new software, nodes, fees and addresses.
func (w *world) upgradeNetwork() {
	w.registerServices()
	w.freeze(3)
	w.freeze(1)
	w.until(w.clock + 10*minute)
	nodes := w.bookNodes(1)
	book := bookFile(nodes)
	t := w.updateSystemFile(fileAddressBook102, addressBookAdmin, book)
	w.publishBook(t, nodes)
	gas := feeFile(852_000, w.clock)
	w.updateSystemFile(fileFeeSchedule, feeScheduleAdmin, gas[:len(gas)/2], gas[len(gas)/2:])
	simple, err := fees.DefaultFile()
	if err != nil {
		w.fail("simple fee schedule: %w", err)
	}
	w.updateSystemFile(fileSimpleFees, feeScheduleAdmin, simple)
	w.changeNode(typeNodeUpdate, 0, row{"associated_registered_nodes": []int64{1, 2}})
	w.changeNode(typeNodeUpdate, 1, row{"decline_reward": true, "associated_registered_nodes": []int64{3}})
	w.changeNode(typeNodeDelete, nodeCount, row{"deleted": true})
}

// changesOfAutumn is a batch of transactions, random numbers and more versions.
func (w *world) changesOfAutumn() {
	w.pay(Treasury, Fund, 25_000*hbar, "grant for the winter")
	w.batch()
	for i := range 6 {
		w.random(w.cast.residents[i*3], []int64{0, 6, 1_000}[i%3])
	}
	w.updateAccount(Alice, row{"memo": "Alice's wallet"})
	w.updateAccount(Fund, row{"max_automatic_token_associations": -1, "memo": "Lantern Bay community fund"})
	w.administer(typeTokenUpdate, Driftwood, row{"name": "Driftwood"})
	ended := w.administer(typeTokenDelete, Bottle, nil)
	w.changeEntity(Bottle, ended.ts, row{"deleted": true})
	w.updateTopic(LostAndFound, Frank, "Lost and found at the tackle shop", row{})
	w.duplicate()
	w.call(call{payer: Walter, contract: Signpost, source: "Logbook", method: "write", args: []any{""}, gas: 300_000})
}

// batch is an atomic batch of three transactions by different people.
func (w *world) batch() {
	outer := w.tx(typeBatch, Fund)
	outer.memo = "market day"
	for i, pair := range [][2]int64{{Alice, Bob}, {Bob, Carol}, {Carol, Alice}} {
		inner := w.child(outer, typeCryptoTransfer)
		inner.nonce, inner.payer, inner.validStart, inner.node = 0, pair[0], outer.validStart-int64(i+1)*1_000, outer.node
		inner.validDuration, inner.batchKey, inner.fee, inner.maxFee = 120, edKey("Fund"), 800_000, 2*hbar
		inner.hash = transactionHash(inner)
		inner.hbars(pair[0], pair[1], int64(i+2)*hbar)
		outer.inner = append(outer.inner, inner.payer, inner.validStart)
		w.commit(inner)
	}
	w.commit(outer)
}

// random asks the network for a random number below a limit, or for random bytes.
func (w *world) random(payer, limit int64) {
	t := w.tx(typePrng, payer)
	r := row{"consensus_timestamp": t.ts, "range": limit, "prng_bytes": nil, "prng_number": nil, "payer_account_id": payer}
	if limit == 0 {
		r["prng_bytes"] = digest("random", w.seq)
	} else {
		r["prng_number"] = int64(digest("random", w.seq)[0]) % limit
	}
	w.out.add("prng", r)
	w.commit(t)
}

// duplicate sends a transaction to two nodes: the second one to reach consensus is refused, but still costs a little.
func (w *world) duplicate() {
	first := w.pay(Alice, Heidi, 7*hbar, "sent twice by mistake")
	w.quick = true
	defer func() { w.quick = false }()
	second := w.tx(typeCryptoTransfer, Alice)
	second.validStart, second.hash, second.memo, second.maxFee = first.validStart, first.hash, first.memo, first.maxFee
	second.result, second.node = resultDuplicate, firstNodeAccount+(first.node-firstNodeAccount+1)%nodeCount
	w.commit(second)
}

// schedulesOfTheWeek makes schedules in every state.
func (w *world) schedulesOfTheWeek() {
	run := func(from, to, amount int64) func(*transaction) {
		return func(t *transaction) { t.hbars(from, to, amount) }
	}
	rent, made := w.schedule(plan{memo: "Rent of the boat shed", creator: Bob, payer: Bob, admin: "Bob", from: Bob, to: Trent, amount: 250 * hbar})
	w.sign(rent, Bob, 3)
	w.sign(rent, Trent, 3, 6)
	w.execute(rent, made, run(Bob, Trent, 250*hbar))

	fees, made2 := w.schedule(plan{memo: "Harbour dues, when the week is over", creator: Carol, payer: Carol, admin: "Carol", from: Carol, to: Trent, amount: 12 * hbar, expires: 6 * hour, waitForExpiry: true})
	w.sign(fees, Carol, 3, 6)

	gift, _ := w.schedule(plan{memo: "A gift that was thought better of", creator: Frank, payer: Frank, admin: "Frank", from: Frank, to: Mallory, amount: 3 * hbar, expires: 20 * hour})
	w.deleteSchedule(gift, Frank)

	w.schedule(plan{memo: "Nobody else signed this", creator: Erin, payer: Erin, from: Dave, to: Erin, amount: 1_000 * hbar})
	guarded, _ := w.schedule(plan{memo: "Guarded by the toll gate", creator: Dave, payer: Dave, from: Grace, to: Dave, amount: 5 * hbar, expires: day})
	w.sign(guarded, Dave, 2)

	call := message(nil).num(1, 5*hbar).msg(3, message(nil).msg(1, pbID(TideGauge)).num(2, 100_000).bytes(4, w.pack("TideGauge", "report", int64(77))))
	w.schedule(plan{memo: "A reading, tomorrow", creator: Walter, payer: Alice, admin: "Walter", expires: 3 * day, waitForExpiry: true, body: call})

	w.until(w.schedules[fees]["expiration_time"].(int64))
	w.quick = true
	w.execute(fees, made2, run(Carol, Trent, 12*hbar))
	w.quick = false
	for i := range 8 {
		payer := w.cast.residents[10+i*7]
		id, made := w.schedule(plan{memo: fmt.Sprintf("Choir fund, share %d", i+1), creator: payer, payer: payer, from: payer, to: Fund, amount: hbar})
		if i%2 == 0 {
			w.execute(id, made, run(payer, Fund, hbar))
		}
	}
}

// lastSchedules leaves some schedules waiting.
func (w *world) lastSchedules() {
	w.pay(Treasury, Fund, 15_000*hbar, "grant for the fog signal")
	id, _ := w.schedule(plan{memo: "New bell for the fog signal", creator: Alice, payer: Alice, admin: "Alice", from: Fund, to: Walter, amount: 800 * hbar, expires: 20 * day})
	w.sign(id, Alice, 3)
	w.schedule(plan{memo: "Painting of the east mole", creator: Heidi, payer: Heidi, from: Fund, to: Heidi, amount: 120 * hbar, expires: 10 * day, waitForExpiry: true})
	w.schedule(plan{memo: "A round for everybody", creator: Frank, payer: Frank, from: Frank, to: Bob, amount: 2 * hbar})
}

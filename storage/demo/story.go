package demo

import (
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// cast holds those of the story that have no constants: residents and what they own.
type cast struct {
	residents []int64
	holders   map[int64][]int64 // of fungible tokens
	coined    []int64           // holders of Harbour Coin, the contract
}

// personName is the name under which the keys of somebody with a constant were made.
func personName(id int64) string {
	names := []string{
		"Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi", "Ivan", "Judy", "Mallory", "Niaj", "Olivia", "Peggy",
		"Rupert", "Sybil", "Trent", "Victor", "Walter", "Relay", "Fund",
	}
	if id >= Alice && id < Alice+int64(len(names)) {
		return names[id-Alice]
	}
	return fmt.Sprintf("0.0.%d", id)
}

// until moves the clock to an instant and lets happen what the network does by itself on the way: the end of each
// staking period at midnight with a balance snapshot after it, and new exchange rates, hourly in the last day.
func (w *world) until(t int64) {
	for ; w.next <= t-3*second; w.next += hour {
		midnight := w.next%day == 0
		if !midnight && w.end-w.next > 26*hour {
			continue
		}
		w.byItself = true
		if midnight {
			w.clock = max(w.clock, w.next)
			w.endStakingPeriod(w.next)
		}
		w.clock = max(w.clock, w.next+600_000_000)
		w.updateRates()
		if midnight && w.end-w.clock > 20*minute {
			w.snapshot()
			w.clock += blockTime + 100_000_000
		}
		w.byItself = false
	}
	w.clock = max(w.clock, t)
}

// ago moves the clock to a time before the end.
func (w *world) ago(d int64) { w.until(w.end - d) }

// tell tells the whole story.
func tell(end int64) (*world, error) {
	w := newWorld(end)
	var err error
	if w.artifacts, err = readArtifacts(); err != nil {
		return nil, err
	}
	if w.vm, err = newMachine(); err != nil {
		return nil, err
	}
	w.cast.holders = map[int64][]int64{}
	w.foundNetwork()
	w.foundFiles()
	for i := range int64(nodeCount) {
		w.createNode(i, firstNodeAccount+i)
	}
	w.createNode(nodeCount, firstNodeAccount+nodeCount)
	w.publishLedger()

	w.ago(188 * day)
	w.foundTown()
	w.ago(187 * day)
	first := w.numbers["account"] + 1001
	w.settleStreet("Lantern Street", 64)
	w.settleStreet("Rope Walk", 58)
	w.settleStreet("Signal Hill", 66)
	for id := first; id < w.numbers["account"]+1001; id++ {
		w.cast.residents = append(w.cast.residents, id)
	}
	w.ago(180 * day)
	w.foundTokens()
	w.ago(170 * day)
	w.foundTopics()
	w.ago(160 * day)
	w.foundContracts()
	w.ago(155 * day)
	w.collectionsOpen()
	w.lifeUntil(150*day, 20)
	w.lifeUntil(120*day, 30)
	w.changesOfSpring()
	w.lifeUntil(90*day, 31)
	w.allowancesAndAirdrops()
	w.lifeUntil(60*day, 30)
	w.upgradeNetwork()
	w.lifeUntil(30*day, 45)
	w.changesOfAutumn()
	w.lifeUntil(2*day, 60)
	w.schedulesOfTheWeek()
	w.lifeUntil(700*second, 40)
	w.lastTenMinutes()
	w.finish()
	if w.err != nil {
		return nil, w.err
	}
	return w, nil
}

// foundTokens creates the tokens and shares some out.
func (w *world) foundTokens() {
	exempt := true
	w.expect(w.createToken(Trent, coin{
		name: "Sunlight", symbol: "SUN", memo: "What the town pays with", decimals: 6, initial: 10_000_000_000_000, treasury: Trent,
		admin: "Trent", supply: "Trent", pause: "Trent", feeSchedule: "Trent", meta: "Trent", wipe: "Trent", metadata: "ipfs://sunlight/token.json",
		fixed: []map[string]any{fixedFee(100_000, Victor, 0, exempt)}, renewedBy: Fund,
	}), Sunlight)
	w.expect(w.createToken(Trent, coin{
		name: "Tide", symbol: "TIDE", memo: "Rises and falls", decimals: 2, initial: 500_000_000, maximum: 1_000_000_000, treasury: Trent,
		admin: "Trent", supply: "Trent", feeSchedule: "Trent",
		fractional: []map[string]any{
			{"all_collectors_are_exempt": false, "collector_account_id": Victor, "numerator": 1, "denominator": 100, "minimum_amount": 1, "maximum_amount": 500, "net_of_transfers": false},
			{"all_collectors_are_exempt": exempt, "collector_account_id": Fund, "numerator": 1, "denominator": 1000, "minimum_amount": 0, "maximum_amount": nil, "net_of_transfers": exempt},
		},
	}), Tide)
	w.expect(w.createToken(Trent, coin{name: "Driftwood", symbol: "DRIFT", decimals: 0, initial: 40_000_000, treasury: Trent, admin: "Trent", feeSchedule: "Trent"}), Driftwood)
	w.expect(w.createToken(Trent, coin{
		name: "Foghorn", symbol: "FOG", memo: "For licensed pilots only", decimals: 3, initial: 9_000_000, treasury: Trent, admin: "Trent",
		freeze: "Trent", kyc: "Trent", wipe: "Trent", supply: "Trent", frozenByDefault: true,
	}), Foghorn)
	w.expect(w.createToken(Trent, coin{name: "Kelp", symbol: "KELP", decimals: 4, initial: 77_000_000, treasury: Trent, admin: "Trent", pause: "Trent"}), Kelp)
	w.expect(w.createToken(Trent, coin{name: "Old Ferry Pass", symbol: "FERRY", memo: "The ferry no longer runs", decimals: 0, initial: 5_000, treasury: Trent, admin: "Trent"}), FerryPass)
	w.expect(w.createToken(Trent, coin{
		name: "Lighthouses", symbol: "LIGHT", memo: "One for every light on the coast", nft: true, treasury: Trent, admin: "Trent", supply: "Trent", feeSchedule: "Trent", wipe: "Trent",
		metadata: "ipfs://lighthouses/collection.json",
		royalty: []map[string]any{{
			"all_collectors_are_exempt": false, "collector_account_id": Victor, "numerator": 5, "denominator": 100,
			"fallback_fee": map[string]any{"amount": 2 * hbar, "denominating_token_id": nil},
		}},
	}), Lighthouse)
	w.expect(w.createToken(Heidi, coin{
		name: "Seashells", symbol: "SHELL", memo: "Found and drawn by Heidi", nft: true, maximum: 50, treasury: Trent, admin: "Heidi", supply: "Trent", meta: "Heidi",
		royalty: []map[string]any{{"all_collectors_are_exempt": exempt, "collector_account_id": Heidi, "numerator": 1, "denominator": 10, "fallback_fee": nil}},
	}), Seashell)
	w.expect(w.createToken(Trent, coin{name: "Postcards", symbol: "POST", nft: true, treasury: Trent, supply: "Trent", wipe: "Trent"}), Postcard)
	w.expect(w.createToken(Trent, coin{name: "Messages in bottles", symbol: "BOTTLE", nft: true, treasury: Trent, admin: "Trent", supply: "Trent"}), Bottle)
	w.expect(w.createToken(Fund, coin{name: "Lamp oil", symbol: "OIL", decimals: 8, initial: 21_000_000_00_000_000, maximum: 21_000_000_00_000_000, treasury: Fund}), LampOil)
	w.expect(w.createToken(Fund, coin{
		name: "Ration cards", symbol: "RATION", decimals: 0, initial: 100_000, treasury: Fund, admin: "Fund", supply: "Fund", kyc: "Fund", freeze: "Fund", metadata: "handed out each winter",
	}), Ration)

	// Driftwood costs a fee in itself and one in Sunlight, which can only be said once it exists.
	w.newFees(Driftwood, []map[string]any{fixedFee(1, Trent, Driftwood, false), fixedFee(250, Trent, Sunlight, exempt)})

	for i, id := range w.cast.residents {
		if i%3 == 0 {
			if !w.autoAssociates(id) {
				w.associate(id, Sunlight, Driftwood)
			}
			w.sendToken(Trent, id, Sunlight, 20_000_000+int64(i)*1_000_000, "welcome to Lantern Bay")
			w.cast.holders[Sunlight] = append(w.cast.holders[Sunlight], id)
			if w.related(id, Driftwood) {
				w.sendToken(Trent, id, Driftwood, 500, "")
				w.cast.holders[Driftwood] = append(w.cast.holders[Driftwood], id)
			}
		}
	}
	for _, id := range []int64{Alice, Bob, Carol, Frank, Heidi, Victor, Fund} {
		w.sendToken(Trent, id, Sunlight, 5_000_000_000, "opening gift")
		w.sendToken(Trent, id, Tide, 400_000, "")
		w.cast.holders[Sunlight] = append(w.cast.holders[Sunlight], id)
		w.cast.holders[Tide] = append(w.cast.holders[Tide], id)
	}
	for _, id := range []int64{Alice, Bob, Heidi, Walter, Victor} {
		w.sendToken(Fund, id, LampOil, 5_000*hbar, "for the lamps")
		w.cast.holders[LampOil] = append(w.cast.holders[LampOil], id)
	}
	w.associate(Alice, Foghorn, Kelp, FerryPass)
	w.associate(Carol, Foghorn, Kelp)
	w.associate(Dave, Foghorn, Ration, Sunlight)
	w.associate(Erin, Ration, FerryPass)
	w.sendToken(Trent, Alice, Kelp, 1_000_000, "")
	w.sendToken(Trent, Carol, Kelp, 250_000, "")
	w.sendToken(Trent, Alice, FerryPass, 20, "summer")
	w.sendToken(Trent, Alice, Foghorn, 1_000, "refused: still frozen")
	w.status(typeTokenUnfreeze, Alice, Foghorn)
	w.sendToken(Trent, Alice, Foghorn, 1_000, "refused: not known yet")
	w.status(typeTokenGrantKYC, Alice, Foghorn)
	w.sendToken(Trent, Alice, Foghorn, 1_000, "pilot's licence")
	w.status(typeTokenUnfreeze, Carol, Foghorn)
	w.status(typeTokenGrantKYC, Carol, Foghorn)
	w.sendToken(Trent, Carol, Foghorn, 800, "pilot's licence")
	w.status(typeTokenRevokeKYC, Carol, Foghorn)
	w.status(typeTokenFreeze, Alice, Foghorn)
	w.status(typeTokenGrantKYC, Dave, Ration)
	w.sendToken(Fund, Dave, Ration, 12, "first winter")
}

// autoAssociates says whether an account takes tokens without having been told of them.
func (w *world) autoAssociates(id int64) bool {
	n, _ := w.entities.get(key(id))["max_automatic_token_associations"].(int)
	return n != 0
}

// newFees changes the custom fees of a token or topic by a transaction.
func (w *world) newFees(id int64, fixed []map[string]any) {
	t := w.tx(typeFeeSchedule, Trent)
	t.entity = id
	w.setFees(id, t.ts, fixed, nil, nil)
	w.commit(t)
}

// foundTopics creates the topics and lets people talk.
func (w *world) foundTopics() {
	w.expect(w.createTopic(Walter, forum{memo: "Lighthouse keepers' chat"}), KeepersChat)
	w.expect(w.createTopic(Alice, forum{memo: "Weather reports of the bay", admin: "Alice", submit: "Alice", submitters: []int64{Alice, Walter}, renewedBy: Alice}), WeatherReports)
	w.expect(w.createTopic(Trent, forum{
		memo: "Harbour notices", admin: "Trent", feeSchedule: "Trent", exempt: []string{"Trent", "Fund"}, exemptAccounts: []int64{Trent, Fund},
		fixed: []map[string]any{fixedFee(hbar/2, Victor, 0, false)}, renewedBy: Fund,
	}), HarbourNotices)
	w.expect(w.createTopic(Frank, forum{memo: "Lost and found", admin: "Frank", submit: "Frank", submitters: []int64{Frank, Carol, Erin}}), LostAndFound)
	w.expect(w.createTopic(Olivia, forum{memo: "Newsletter, no longer sent", admin: "Olivia"}), OldNewsletter)
	w.expect(w.createTopic(Heidi, forum{memo: "Photo album"}), PhotoAlbum)

	w.say(KeepersChat, Walter, "West light here. Lamp lit, log open. Who else is awake?")
	w.say(KeepersChat, Alice, "Good evening Walter! The east mole is quiet tonight.")
	w.say(KeepersChat, Bob, "Passing by with the new boat. Your light is very bright.")
	w.sayLong(KeepersChat, Walter, keepersLetter, 180)
	w.say(WeatherReports, Alice, `{"wind":"SW 4","sea":"moderate","visibility_km":12}`)
	w.say(WeatherReports, Bob, "I would say it looks like rain.")
	w.say(OldNewsletter, Olivia, "Issue 1: the harbour got a new crane.")
	w.say(LostAndFound, Carol, "Found: one oar, painted blue, near the fish market.")
	w.say(LostAndFound, Erin, "Lost: my other oar. It is blue.")
	w.submit(HarbourNotices, Trent, []byte("The harbour office opens at eight."), nil, 0)
	w.submit(HarbourNotices, Bob, []byte("Boat for sale, ask at the slipway."), nil, hbar)
	w.submit(HarbourNotices, Alice, []byte("Choir practice on Thursday."), nil, hbar/10)
	w.submit(PhotoAlbum, Heidi, []byte{0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 'J', 'F', 'I', 'F', 0x00, 0x01}, nil, 0)
	w.sayLong(PhotoAlbum, Heidi, strings.Repeat("pixels of a sunset over the bay; ", 30), 300)
}

const keepersLetter = `Dear colleagues along the coast, a few words from the west light. The new lamp burns a third less oil than the old one and still reaches
the outer buoy in clear weather. I polish the glass on Mondays, wind the clockwork twice a night, and write down each ship that answers. On the
fourth we counted eleven, the most since spring. If your mirror turns stiffly, try a drop of oil on the lower bearing, never on the upper one.
Please leave the gate of the foot path closed: the goats have learned to open it by themselves, and they do not like the foghorn. Signals stay
as agreed: three short for fog, one long for all is well. Yours, Walter.`

// foundContracts deploys the contracts and uses each a little.
func (w *world) foundContracts() {
	code := []byte(common.Bytes2Hex(w.initcode("HarbourCoin", bigInt(100_000_000), w.address(Alice))))
	third := len(code) / 3
	file := w.createFile(Alice, "initcode of Harbour Coin", code[:third], code[third:2*third], code[2*third:])
	w.expect(w.deploy(Alice, deployment{source: "HarbourCoin", args: []any{bigInt(100_000_000), w.address(Alice)}, memo: "Harbour Coin", key: edKey("Alice"), file: file, gas: 2_500_000, renewedBy: Alice}), HarbourCoin)
	w.expect(w.deploy(Trent, deployment{source: "PierPass", args: []any{w.address(Trent)}, memo: "Season tickets for the pier", key: edKey("Trent"), gas: 2_500_000, expires: true}), PierPass)
	id := w.sendEthereum(ethereum{kind: 2, sender: Bob, create: &deployment{source: "TideGauge", args: []any{"East Mole"}, memo: "Tide gauge at the east mole", gas: 3_000_000}})
	w.expect(id, TideGauge)
	w.expect(w.deploy(Walter, deployment{source: "Logbook", memo: "Logbook, implementation", gas: 2_000_000}), Logbook)
	w.expect(w.deploy(Walter, deployment{source: "Signpost", args: []any{w.address(Logbook), w.address(Walter)}, memo: "Logbook of the west light", gas: 1_500_000}), Signpost)
	id = w.sendEthereum(ethereum{kind: 0, sender: Bob, create: &deployment{source: "Shipyard", memo: "Bob's shipyard", gas: 3_000_000}})
	w.expect(id, Shipyard)
	w.call(call{payer: Alice, contract: Shipyard, source: "Shipyard", method: "launch", args: []any{"Petrel"}, gas: 1_500_000})
	w.sendEthereum(ethereum{kind: 2, sender: Bob, call: call{contract: Shipyard, source: "Shipyard", method: "launchAt", args: []any{"Heron", [32]byte{7}}, gas: 1_500_000}})
	w.expect(w.numbers["contract"]+3000, SecondBoat)
	w.expect(w.deploy(Trent, deployment{source: "TokenDesk", memo: "Token desk", gas: 1_200_000, key: keyList(edKey("Trent"))}), TokenDesk)
	w.expect(w.deploy(Dave, deployment{source: "Tollgate", args: []any{bigInt(50 * hbar)}, memo: "Toll gate, used as a hook", gas: 1_200_000}), Tollgate)
	w.expect(w.deploy(Frank, deployment{source: "TideGauge", args: []any{"Old battery"}, memo: "Gauge at the old battery", gas: 3_000_000, key: edKey("Frank")}), OldGauge)
	w.expect(w.deploy(Frank, deployment{source: "TideGauge", args: []any{"A place whose name is too long to fit into one word of storage"}, memo: "Gauge on the sand bank", gas: 3_000_000, key: edKey("Frank")}), SunkenGauge)
	for i, place := range []string{"Gull Rock", "Customs House", "Fish Market", "Rope Walk", "Ferry Pier", "Upper Lock", "Lower Lock"} {
		w.deploy(w.cast.residents[i*5], deployment{source: "TideGauge", args: []any{place}, memo: "Gauge at " + place, gas: 3_000_000})
	}
	w.expect(w.deploy(Grace, deployment{source: "HarbourCoin", args: []any{bigInt(1_000), w.address(Grace)}, memo: "Grace's practice coin", gas: 2_500_000}), lastContract)
	w.deploy(Carol, deployment{source: "PierPass", gas: 900_000, broken: true})

	for _, p := range []int64{Bob, Heidi, Rupert, Carol, Erin, Walter} {
		w.call(call{payer: Alice, contract: HarbourCoin, source: "HarbourCoin", method: "transfer", args: []any{w.address(p), bigInt(500_000)}})
		w.cast.coined = append(w.cast.coined, p)
	}
	w.call(call{payer: Alice, contract: HarbourCoin, source: "HarbourCoin", method: "approve", args: []any{w.address(Bob), bigInt(75_000)}})
	w.sendEthereum(ethereum{kind: 2, sender: Bob, call: call{contract: HarbourCoin, source: "HarbourCoin", method: "transferFrom", args: []any{w.address(Alice), w.address(Heidi), bigInt(25_000)}}, access: true})
	w.sendEthereum(ethereum{kind: 1, sender: Heidi, access: true, call: call{contract: HarbourCoin, source: "HarbourCoin", method: "transfer", args: []any{w.address(Ivan), bigInt(1_200)}}})
	w.sendEthereum(ethereum{kind: 0, sender: Heidi, call: call{contract: HarbourCoin, source: "HarbourCoin", method: "transfer", args: []any{w.address(Bob), bigInt(9_000_000_000)}}})
	w.sendEthereum(ethereum{kind: 4, sender: Rupert, delegate: Logbook, call: call{contract: TideGauge, source: "TideGauge", method: "report", args: []any{int64(812)}}})
	w.sendEthereum(ethereum{kind: 2, sender: Heidi, anonymous: true, call: call{contract: TideGauge, source: "TideGauge", method: "report", args: []any{int64(-301)}}})
	for range 4 {
		w.call(call{payer: Trent, contract: PierPass, source: "PierPass", method: "mint", args: []any{w.address(Alice)}})
	}
	w.call(call{payer: Alice, contract: PierPass, source: "PierPass", method: "approve", args: []any{w.address(Bob), bigInt(2)}})
	w.sendEthereum(ethereum{kind: 2, sender: Bob, call: call{contract: PierPass, source: "PierPass", method: "transferFrom", args: []any{w.address(Alice), w.address(Bob), bigInt(2)}}})
	w.call(call{payer: Carol, contract: PierPass, source: "PierPass", method: "mint", args: []any{w.address(Carol)}})
	w.call(call{payer: Walter, contract: Signpost, source: "Logbook", method: "write", args: []any{"First night of the new lamp. Calm sea, no ships."}, gas: 600_000})
	w.call(call{payer: Carol, contract: Signpost, source: "Signpost", method: "upgradeTo", args: []any{w.address(Carol)}})
	w.call(call{payer: Bob, contract: Shipyard, source: "Shipyard", method: "fleetTo", args: []any{int32(54_32), int32(10_14)}})
	w.call(call{payer: Alice, contract: TideGauge, source: "TideGauge", method: "seal"})
	w.call(call{payer: Alice, contract: TideGauge, source: "TideGauge", method: "average", gas: 21_500})
	w.exportState(w.call(call{payer: Alice, contract: TideGauge, source: "TideGauge", method: "setOpen", args: []any{true}}), TideGauge)
	w.call(call{payer: Dave, contract: TideGauge, gas: 50_000, value: 3 * hbar})
	w.call(call{payer: Dave, contract: Tollgate, source: "Tollgate", method: "pay", args: []any{w.address(Grace)}, value: 5 * hbar})
	w.call(call{payer: Alice, contract: TokenDesk, source: "TokenDesk", method: "send", args: []any{longZero(Sunlight), w.address(Alice), w.address(Bob), int64(1_500_000)}})
	w.failEarly(Erin, 100_000, common.Hex2Bytes("a9059cbb"))
	wrong := uint64(99)
	w.sendEthereum(ethereum{kind: 2, sender: Bob, nonce: &wrong, call: call{contract: TideGauge, source: "TideGauge", method: "report", args: []any{int64(5)}}})
	data := w.pack("TideGauge", "rename", "East Mole, at the foot of the stairs that lead up to the light")
	dataFile := w.createFile(Relay, "call data that were too large", []byte(common.Bytes2Hex(data)))
	w.sendEthereum(ethereum{kind: 2, sender: Bob, file: dataFile, call: call{contract: TideGauge, data: data}})
	w.deleteContract(OldGauge, Frank, Frank, false)
	w.changeContract(TideGauge, Bob, row{"memo": "Tide gauge at the east mole, repainted"})
}

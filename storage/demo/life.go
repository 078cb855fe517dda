package demo

// lifeUntil fills the time up to an age with everyday life: n moments, evenly spread, with a few transactions each.
func (w *world) lifeUntil(age, n int64) {
	from, to := w.clock, w.end-age
	for i := int64(1); i <= n; i++ {
		w.until(from + (to-from)*i/(n+1))
		for range 1 + w.pick(4) {
			w.everyday()
		}
	}
	w.until(to)
}

// lastTenMinutes is the newest part of the story: a block every two seconds, the last of which ends exactly at the end.
func (w *world) lastTenMinutes() {
	const blocks = 300
	for i := int64(blocks); i > 0; i-- {
		w.until(w.end - i*blockTime + 40_000_000)
		if i == 200 {
			w.lastSchedules()
			continue
		}
		for range 1 + w.pick(4) {
			w.everyday()
		}
		w.buildAtTheQuay(i)
	}
	w.forced = w.end
	w.say(KeepersChat, Walter, "All is well.")
	w.forced = 0
}

func (w *world) someone() int64 { return w.cast.residents[w.pick(int64(len(w.cast.residents)))] }

// two picks two different members of a list.
func (w *world) two(list []int64) (int64, int64) {
	a := w.pick(int64(len(list)))
	b := (a + 1 + w.pick(int64(len(list)-1))) % int64(len(list))
	return list[a], list[b]
}

var memos = []string{
	"", "", "fish soup", "thanks for yesterday", "new rope", "half of the paint", "mooring, this week", "for the kettle", "bread and eggs",
	"bet lost", "two tickets for the regatta", "oil", "a small loan", "back with thanks", "nets mended", "choir", "lesson", "postcards",
}

var chat = []string{
	"All quiet at the east mole.", "Two ships answered tonight.", "Fog coming in from the west.", "Fog lifting.", "Who left the gate open? The goats are on the pier.",
	"Lamp trimmed, glass polished.", "Signal received, thank you.", "Can somebody lend me a spanner?", "Good morning from Gull Rock!", "The new mirror turns like a dream.",
	"Heavy swell at the outer buoy.", "Supper is ready, over and out.", "Three short, one long.", "I can see your light from the ferry.", "Clockwork rewound.",
	"Counted nine ships before midnight.", "The kettle is on ☕", "The sun is out ☀ — whole town at the beach.", "Does anyone read this at four in the morning?", "I do.", "Calm sea, clear sky.",
}

// everyday lets one ordinary thing happen.
func (w *world) everyday() {
	switch n := w.pick(100); {
	case n < 24:
		w.payToSomeone()
	case n < 38:
		from, to := w.two(w.cast.holders[Sunlight])
		w.sendToken(from, to, Sunlight, 1_000+w.pick(900_000), memos[w.pick(int64(len(memos)))])
	case n < 43:
		from, to := w.two(w.cast.holders[Tide])
		w.sendToken(from, to, Tide, 10+w.pick(2_000), "")
	case n < 47:
		from, to := w.two(w.cast.holders[LampOil])
		w.sendToken(from, to, LampOil, 1+w.pick(3*hbar), "lamp oil")
	case n < 49:
		from, to := w.two(w.cast.holders[Driftwood])
		w.sendToken(from, to, Driftwood, 1+w.pick(4), "")
	case n < 63:
		who := []int64{Alice, Bob, Walter, Frank, Heidi, Erin, w.someone()}[w.pick(7)]
		w.say(KeepersChat, who, chat[w.pick(int64(len(chat)))])
	case n < 67:
		w.weather()
	case n < 69:
		w.submit(HarbourNotices, []int64{Bob, Heidi, Carol}[w.pick(3)], []byte("Notice: the slipway is in use."), nil, 0)
	case n < 86:
		w.contractDay()
	case n < 88:
		w.someNft()
	case n < 90:
		w.random(w.someone(), []int64{0, 6, 100}[w.pick(3)])
	case n < 92:
		w.newcomer()
	case n < 94:
		w.tooPoor()
	case n < 95:
		w.approveHbars(w.someone(), []int64{Alice, Bob, Fund}[w.pick(3)], (1+w.pick(9))*hbar)
	case n < 96:
		w.duplicate()
	case n < 97:
		w.batch()
	case n < 98:
		w.airdrop(Fund, w.someone(), LampOil, 0, (1+w.pick(5))*1_000_000)
	case n < 99:
		w.updateAccount(Walter, row{"memo": "Walter, keeper of the west light; " + chat[w.pick(int64(len(chat)))]})
	default:
		w.storeHook(Alice, 1, slot{word(1), word(w.pick(1_000))})
	}
}

func (w *world) payToSomeone() {
	from, to := w.two(w.cast.residents)
	if w.balances[from] < 40*hbar {
		from = Fund
	}
	if from == to {
		to = Alice
	}
	w.pay(from, to, hbar/10+w.pick(9*hbar), memos[w.pick(int64(len(memos)))])
}

func (w *world) weather() {
	wind := []string{"N 2", "SW 4", "W 6", "S 1", "NW 7"}[w.pick(5)]
	sea := []string{"calm", "slight", "moderate", "rough"}[w.pick(4)]
	w.say(WeatherReports, []int64{Alice, Walter}[w.pick(2)], `{"wind":"`+wind+`","sea":"`+sea+`"}`)
}

// contractDay is one of the things that people do with contracts, some of them in vain.
func (w *world) contractDay() {
	from, to := w.two(w.cast.coined)
	coin := func(amount int64) call {
		return call{contract: HarbourCoin, source: "HarbourCoin", method: "transfer", args: []any{w.address(to), bigInt(amount)}}
	}
	reading := call{contract: TideGauge, source: "TideGauge", method: "report", args: []any{w.pick(3_000) - 1_500}}
	switch w.pick(12) {
	case 0, 1, 2:
		c := coin(1 + w.pick(900))
		c.payer = from
		w.call(c)
	case 3, 4:
		w.sendEthereum(ethereum{kind: 2, sender: []int64{Bob, Heidi, Rupert}[w.pick(3)], call: coin(1 + w.pick(900))})
	case 5, 6:
		reading.payer = []int64{Walter, Alice, Dave}[w.pick(3)]
		w.call(reading)
	case 7:
		w.sendEthereum(ethereum{kind: int(w.pick(3)), sender: Bob, call: reading, access: true})
	case 8:
		w.call(call{payer: Walter, contract: Signpost, source: "Logbook", method: "write", args: []any{chat[w.pick(int64(len(chat)))]}, gas: 600_000})
	case 9:
		c := coin(900_000_000)
		c.payer = from
		w.call(c)
	case 10:
		w.call(call{payer: Alice, contract: TokenDesk, source: "TokenDesk", method: "send", args: []any{longZero(Sunlight), w.address(Alice), w.address(Bob), 1 + w.pick(9_000)}})
	case 11:
		w.call(call{payer: Dave, contract: Tollgate, source: "Tollgate", method: "pay", args: []any{w.address(Walter)}, value: 1_000_000 + w.pick(hbar)})
	}
}

// someNft moves one of the lighthouses that are still with the harbour office, or passes one on.
func (w *world) someNft() {
	serial := 11 + w.pick(10)
	owner, _ := w.nfts.get(nftKey(Lighthouse, serial))["account_id"].(int64)
	buyers := []int64{Alice, Bob, Heidi, Victor, Fund}
	buyer := buyers[w.pick(int64(len(buyers)))]
	if buyer == owner {
		buyer = Trent
	}
	w.sendNft(owner, buyer, Lighthouse, serial, (10+w.pick(30))*hbar, "")
}

// newcomer opens an account, half of the time by being paid at an address that nobody had used.
func (w *world) newcomer() {
	name := "newcomer " + key(w.numbers["account"])
	if w.pick(2) == 0 {
		w.fundAlias(Fund, person{key: keyList(), alias: evmAddress(name), evm: evmAddress(name), associates: -1}, 20*hbar)
		return
	}
	w.newPerson(Fund, person{memo: "Newcomer", key: edKey(name), initial: (10 + w.pick(50)) * hbar})
}

// tooPoor is a payment that fails for want of hbars; the fee is due all the same.
func (w *world) tooPoor() {
	t := w.tx(typeCryptoTransfer, w.someone())
	t.result, t.memo = resultInsufficient, "more than I have"
	w.commit(t)
}

// liveUntil lets the network live on up to a consensus time, at which a block ends: what it does by itself until then, and two seconds of a
// town's life, with a payment, a contract that writes logs and a message in each.
func (w *world) liveUntil(end int64) {
	days := len(w.stakeDays)
	w.end = end
	w.until(end - blockTime + 40_000_000)
	w.grant()
	w.payToSomeone()
	w.signal()
	for range w.pick(3) {
		w.everyday()
	}
	w.forced = end
	w.say(KeepersChat, []int64{Walter, Alice, Bob, Heidi, Erin, Frank}[w.pick(6)], chat[w.pick(int64(len(chat)))])
	w.forced = 0
	for _, d := range w.stakeDays[days:] {
		w.stakesAfter(d)
	}
	if end%snapshotEvery == 0 && end-w.snaps.last >= snapshotEvery {
		w.snapshot()
	}
	w.writeHistory()
}

// signal is a call of a contract that leaves a log.
func (w *world) signal() {
	from, to := w.two(w.cast.coined)
	if w.pick(2) == 0 {
		w.call(call{payer: from, contract: TideGauge, source: "TideGauge", method: "report", args: []any{w.pick(3_000) - 1_500}})
		return
	}
	w.sendEthereum(ethereum{kind: 2, sender: Bob, call: call{contract: HarbourCoin, source: "HarbourCoin", method: "transfer", args: []any{w.address(to), bigInt(1 + w.pick(9))}}})
}

// grant helps somebody out who is about to run out of hbars, so that life never ends for want of them.
func (w *world) grant() {
	const little, enough = 60 * hbar, 400 * hbar
	for id := int64(Alice); id <= Fund; id++ {
		if w.balances[id] < little && w.entities.get(key(id))["deleted"] != true {
			w.pay(Treasury, id, enough, "grant of the treasury")
			return
		}
	}
	for _, id := range w.cast.residents {
		if w.balances[id] < little {
			w.pay(Treasury, id, enough, "grant of the treasury")
			return
		}
	}
}

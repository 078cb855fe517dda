package scenario

import (
	"fmt"
	"math/big"
	"strings"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

func bigInt(v int64) *big.Int { return big.NewInt(v) }

// EverydayUntil adds n groups of everyday transactions, evenly distributed until an age.
func (w *Scenario) EverydayUntil(age, n int64) {
	from, to := w.Now(), w.End()-age
	for i := int64(1); i <= n; i++ {
		w.liveUntil(from + (to-from)*i/(n+1))
		for range 1 + w.Pick(4) {
			w.addEverydayEvent()
		}
	}
	w.liveUntil(to)
}

// lastTenMinutes adds a block every two seconds. The last block ends at the end of the scenario.
func (w *Scenario) lastTenMinutes() {
	const blocks = 300
	for i := int64(blocks); i > 0; i-- {
		w.AdvanceToAge(i*world.BlockTime - 40_000_000)
		if i == 200 {
			w.play("pending schedules")
			continue
		}
		for range 1 + w.Pick(4) {
			w.addEverydayEvent()
		}
		w.Detached(func() { w.play(fmt.Sprint("block ", i)) })
	}
	w.At(w.End(), func() { w.SubmitText(demo.KeepersChat, demo.Walter, "All is well.") })
}

func (w *Scenario) anyResident() int64 { return w.residents[w.Pick(int64(len(w.residents)))] }

// pickTwo returns two different members of a list.
func (w *Scenario) pickTwo(list []int64) (int64, int64) {
	a := w.Pick(int64(len(list)))
	b := (a + 1 + w.Pick(int64(len(list)-1))) % int64(len(list))
	return list[a], list[b]
}

var memos, chat = strings.Split(section("memos"), "\n"), strings.Split(section("chat"), "\n")

// addEverydayEvent adds one randomly chosen transaction.
func (w *Scenario) addEverydayEvent() {
	switch n := w.Pick(100); {
	case n < 24:
		w.payAnyone()
	case n < 38:
		from, to := w.pickTwo(w.holders[demo.Sunlight])
		w.TransferToken(from, to, demo.Sunlight, 1_000+w.Pick(900_000), memos[w.Pick(int64(len(memos)))])
	case n < 43:
		from, to := w.pickTwo(w.holders[demo.Tide])
		w.TransferToken(from, to, demo.Tide, 10+w.Pick(2_000), "")
	case n < 47:
		from, to := w.pickTwo(w.holders[demo.LampOil])
		w.TransferToken(from, to, demo.LampOil, 1+w.Pick(3*world.Hbar), "lamp oil")
	case n < 49:
		from, to := w.pickTwo(w.holders[demo.Driftwood])
		w.TransferToken(from, to, demo.Driftwood, 1+w.Pick(4), "")
	case n < 63:
		who := []int64{demo.Alice, demo.Bob, demo.Walter, demo.Frank, demo.Heidi, demo.Erin, w.anyResident()}[w.Pick(7)]
		w.SubmitText(demo.KeepersChat, who, chat[w.Pick(int64(len(chat)))])
	case n < 67:
		w.reportWeather()
	case n < 69:
		w.SubmitMessage(demo.HarbourNotices, []int64{demo.Bob, demo.Heidi, demo.Carol}[w.Pick(3)], []byte("Notice: the slipway is in use."), nil, 0)
	case n < 86:
		w.useContract()
	case n < 88:
		w.tradeNFT()
	case n < 90:
		w.RandomNumber(w.anyResident(), []int64{0, 6, 100}[w.Pick(3)])
	case n < 92:
		w.addNewcomer()
	case n < 94:
		w.FailTransfer(w.anyResident(), codes.InsufficientAccountBalance, "more than I have")
	case n < 95:
		w.ApproveHbars(w.anyResident(), []int64{demo.Alice, demo.Bob, demo.Fund}[w.Pick(3)], (1+w.Pick(9))*world.Hbar)
	case n < 96:
		w.DuplicateTransfer(demo.Alice, demo.Heidi, 7*world.Hbar, "sent twice by mistake")
	case n < 97:
		w.MarketDay()
	case n < 98:
		w.Airdrop(demo.Fund, w.anyResident(), demo.LampOil, 0, (1+w.Pick(5))*1_000_000)
	case n < 99:
		w.UpdateAccount(demo.Walter, world.Row{"memo": "Walter, keeper of the west light; " + chat[w.Pick(int64(len(chat)))]})
	default:
		w.StoreHook(demo.Alice, 1, world.HookSlot{Key: world.Word(1), Value: world.Word(w.Pick(1_000))})
	}
}

func (w *Scenario) payAnyone() { w.pay(w.pickTwo(w.residents)) }

// pay adds a payment. The community fund pays for accounts with a low balance.
func (w *Scenario) pay(from, to int64) {
	if w.Balance(from) < 40*world.Hbar {
		from = demo.Fund
	}
	if from == to {
		to = demo.Alice
	}
	w.TransferHbars(from, to, world.Hbar/10+w.Pick(9*world.Hbar), memos[w.Pick(int64(len(memos)))])
}

func (w *Scenario) reportWeather() {
	wind := []string{"N 2", "SW 4", "W 6", "S 1", "NW 7"}[w.Pick(5)]
	sea := []string{"calm", "slight", "moderate", "rough"}[w.Pick(4)]
	w.SubmitText(demo.WeatherReports, []int64{demo.Alice, demo.Walter}[w.Pick(2)], `{"wind":"`+wind+`","sea":"`+sea+`"}`)
}

// useContract adds a randomly chosen contract call. Some of them fail.
func (w *Scenario) useContract() {
	from, to := w.pickTwo(w.coinHolders)
	coin := func(amount int64) world.Call {
		return world.Call{Contract: demo.HarbourCoin, Source: "HarbourCoin", Method: "transfer", Args: []any{w.Address(to), bigInt(amount)}}
	}
	reading := world.Call{Contract: demo.TideGauge, Source: "TideGauge", Method: "report", Args: []any{w.Pick(3_000) - 1_500}}
	switch w.Pick(12) {
	case 0, 1, 2:
		c := coin(1 + w.Pick(900))
		c.Payer = from
		w.CallContract(c)
	case 3, 4:
		w.SendEthereum(world.EthereumTransaction{Type: 2, Sender: []int64{demo.Bob, demo.Heidi, demo.Rupert}[w.Pick(3)], Call: coin(1 + w.Pick(900))})
	case 5, 6:
		reading.Payer = []int64{demo.Walter, demo.Alice, demo.Dave}[w.Pick(3)]
		w.CallContract(reading)
	case 7:
		w.SendEthereum(world.EthereumTransaction{Type: int(w.Pick(3)), Sender: demo.Bob, Call: reading, Access: true})
	case 8:
		w.CallContract(world.Call{
			Payer: demo.Walter, Contract: demo.Signpost, Source: "Logbook", Method: "write", Args: []any{chat[w.Pick(int64(len(chat)))]},
			Gas: 600_000,
		})
	case 9:
		c := coin(900_000_000)
		c.Payer = from
		w.CallContract(c)
	case 10:
		w.CallContract(world.Call{
			Payer: demo.Alice, Contract: demo.TokenDesk, Source: "TokenDesk", Method: "send",
			Args: []any{world.LongZeroAddress(demo.Sunlight), w.Address(demo.Alice), w.Address(demo.Bob), 1 + w.Pick(9_000)},
		})
	case 11:
		w.CallContract(world.Call{
			Payer: demo.Dave, Contract: demo.Tollgate, Source: "Tollgate", Method: "pay", Args: []any{w.Address(demo.Walter)},
			Value: 1_000_000 + w.Pick(world.Hbar),
		})
	}
}

// tradeNFT sells one of ten lighthouses.
func (w *Scenario) tradeNFT() {
	serial := 11 + w.Pick(10)
	owner := w.OwnerOf(demo.Lighthouse, serial)
	buyers := []int64{demo.Alice, demo.Bob, demo.Heidi, demo.Victor, demo.Fund}
	buyer := buyers[w.Pick(int64(len(buyers)))]
	if buyer == owner {
		buyer = demo.Trent
	}
	w.TransferNFT(owner, buyer, demo.Lighthouse, serial, (10+w.Pick(30))*world.Hbar, "")
}

// addNewcomer creates an account, half of the time by a payment to an unused address.
func (w *Scenario) addNewcomer() {
	name := fmt.Sprint("newcomer ", w.NextID("account")-world.FirstAccount)
	if w.Pick(2) == 0 {
		w.FundAlias(demo.Fund, 20*world.Hbar, world.Account{
			Key: world.KeyList(), Alias: world.EVMAddress(name), EVMAddress: world.EVMAddress(name), AutoAssociations: -1,
		})
		return
	}
	w.CreateAccount(demo.Fund, world.Account{Memo: "Newcomer", Key: world.Ed25519Key(name), Initial: (10 + w.Pick(50)) * world.Hbar})
}

func (w *Scenario) emitLog() {
	from, to := w.pickTwo(w.coinHolders)
	if w.Pick(2) == 0 {
		w.CallContract(world.Call{Payer: from, Contract: demo.TideGauge, Source: "TideGauge", Method: "report", Args: []any{w.Pick(3_000) - 1_500}})
		return
	}
	w.SendEthereum(world.EthereumTransaction{Type: 2, Sender: demo.Bob, Call: world.Call{
		Contract: demo.HarbourCoin, Source: "HarbourCoin",
		Method: "transfer", Args: []any{w.Address(to), bigInt(1 + w.Pick(9))},
	}})
}

// grant transfers hbars to an account with a low balance, so that a live network never runs out of hbars.
func (w *Scenario) grant() {
	const little, enough = 60 * world.Hbar, 400 * world.Hbar
	for id := int64(demo.Alice); id <= demo.Fund; id++ {
		if w.Balance(id) < little && !w.IsDeleted(id) {
			w.TransferHbars(demo.Treasury, id, enough, "grant of the treasury")
			return
		}
	}
	for _, id := range w.residents {
		if w.Balance(id) < little {
			w.TransferHbars(demo.Treasury, id, enough, "grant of the treasury")
			return
		}
	}
}

package scenario

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

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
		who := []int64{
			demo.Alice, demo.Bob, demo.Walter, demo.Frank, demo.Heidi, demo.Erin,
			w.anyResident(),
		}[w.Pick(7)]
		w.SubmitText(demo.KeepersChat, who, chat[w.Pick(int64(len(chat)))])
	case n < 67:
		w.reportWeather()
	case n < 69:
		w.SubmitMessage(demo.HarbourNotices, []int64{demo.Bob, demo.Heidi, demo.Carol}[w.Pick(3)],
			[]byte("Notice: the slipway is in use."), nil, 0)
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
		w.UpdateAccount(demo.Walter,
			world.Row{"memo": "Walter, keeper of the west light; " + chat[w.Pick(int64(len(chat)))]})
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
	w.SubmitText(demo.WeatherReports, []int64{demo.Alice, demo.Walter}[w.Pick(2)],
		`{"wind":"`+wind+`","sea":"`+sea+`"}`)
}

// useContract adds a randomly chosen contract call. Some of them fail.
func (w *Scenario) useContract() {
	from, to := w.pickTwo(w.coinHolders)
	coin := func(amount int64) world.Call {
		return world.Call{
			Contract: demo.HarbourCoin, Source: "HarbourCoin", Method: "transfer",
			Args: []any{w.Address(to), bigInt(amount)},
		}
	}
	reading := world.Call{
		Contract: demo.TideGauge, Source: "TideGauge", Method: "report",
		Args: []any{w.Pick(3_000) - 1_500},
	}
	switch w.Pick(12) {
	case 0, 1, 2:
		c := coin(1 + w.Pick(900))
		c.Payer = from
		w.CallContract(c)
	case 3, 4:
		w.SendEthereum(world.EthereumTransaction{
			Type:   2,
			Sender: []int64{demo.Bob, demo.Heidi, demo.Rupert}[w.Pick(3)], Call: coin(1 + w.Pick(900)),
		})
	case 5, 6:
		reading.Payer = []int64{demo.Walter, demo.Alice, demo.Dave}[w.Pick(3)]
		w.CallContract(reading)
	case 7:
		w.SendEthereum(world.EthereumTransaction{Type: int(w.Pick(3)), Sender: demo.Bob, Call: reading, Access: true})
	case 8:
		w.CallContract(world.Call{
			Payer: demo.Walter, Contract: demo.Signpost, Source: "Logbook", Method: "write",
			Args: []any{chat[w.Pick(int64(len(chat)))]},
			Gas:  600_000,
		})
	case 9:
		c := coin(900_000_000)
		c.Payer = from
		w.CallContract(c)
	case 10:
		w.CallContract(world.Call{
			Payer: demo.Alice, Contract: demo.TokenDesk, Source: "TokenDesk", Method: "send",
			Args: []any{
				world.LongZeroAddress(demo.Sunlight), w.Address(demo.Alice), w.Address(demo.Bob),
				1 + w.Pick(9_000),
			},
		})
	case 11:
		w.CallContract(world.Call{
			Payer: demo.Dave, Contract: demo.Tollgate, Source: "Tollgate", Method: "pay",
			Args:  []any{w.Address(demo.Walter)},
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
			Key: world.KeyList(), Alias: world.EVMAddress(name), EVMAddress: world.EVMAddress(name),
			AutoAssociations: -1,
		})
		return
	}
	w.CreateAccount(demo.Fund, world.Account{
		Memo: "Newcomer", Key: world.Ed25519Key(name),
		Initial: (10 + w.Pick(50)) * world.Hbar,
	})
}

func (w *Scenario) emitLog() {
	from, to := w.pickTwo(w.coinHolders)
	if w.Pick(2) == 0 {
		w.CallContract(world.Call{
			Payer: from, Contract: demo.TideGauge, Source: "TideGauge", Method: "report",
			Args: []any{w.Pick(3_000) - 1_500},
		})
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

// The methods below are called by the story.

// CreateStreet creates the accounts of residents, which have no constants.
func (w *Scenario) CreateStreet(street string, houses int64) {
	for house := int64(1); house <= houses; house++ {
		name := fmt.Sprintf("%s %d", street, house)
		p := world.Account{
			Memo: name, Key: world.Ed25519Key(name), Initial: (200 + w.Pick(4_000)) * world.Hbar,
			AutoAssociations: w.Pick(6) * 2,
		}
		switch house % 9 {
		case 1:
			node := w.Pick(demo.NodeCount)
			p.StakedNode = &node
		case 2, 5:
			p.Key, p.EVMAddress = world.ECDSAKey(name), world.EVMAddress(name)
			p.Alias = p.EVMAddress
		case 3:
			p.Key, p.Memo = world.ThresholdKey(1, world.Ed25519Key(name), world.Ed25519Key(name+", attic")),
				name+", shared"
		case 4:
			p.StakedTo = demo.Fund
		case 7:
			p.Key, p.Alias, p.EVMAddress = world.ECDSAKey(name), world.ECDSAKey(name), world.EVMAddress(name)
			p.AutoAssociations = -1
		case 8:
			p.RenewedBy, p.HighVolume = demo.Fund, house%4 == 0
		}
		id := w.CreateAccount(demo.Fund, p)
		w.residents = append(w.residents, id)
		w.names[id] = name
	}
}

// GiveTokens distributes some of the supply of tokens.
func (w *Scenario) GiveTokens() {
	for i, id := range w.residents {
		if i%3 == 0 {
			if !w.AutoAssociates(id) {
				w.Associate(id, demo.Sunlight, demo.Driftwood)
			}
			w.give(demo.Trent, id, demo.Sunlight, 20_000_000+int64(i)*1_000_000, "welcome to Lantern Bay")
			if w.IsAssociated(id, demo.Driftwood) {
				w.give(demo.Trent, id, demo.Driftwood, 500, "")
			}
		}
	}
	for _, id := range []int64{demo.Alice, demo.Bob, demo.Carol, demo.Frank, demo.Heidi, demo.Victor, demo.Fund} {
		w.give(demo.Trent, id, demo.Sunlight, 5_000_000_000, "opening gift")
		w.give(demo.Trent, id, demo.Tide, 400_000, "")
	}
	for _, id := range []int64{demo.Alice, demo.Bob, demo.Heidi, demo.Walter, demo.Victor} {
		w.give(demo.Fund, id, demo.LampOil, 5_000*world.Hbar, "for the lamps")
	}
}

func (w *Scenario) give(from, to, token, amount int64, memo string) {
	w.TransferToken(from, to, token, amount, memo)
	w.holders[token] = append(w.holders[token], to)
}

// DeployHarbourCoin deploys the contract with its initcode in a file of three parts, and returns its number.
func (w *Scenario) DeployHarbourCoin() int64 {
	args := []any{bigInt(100_000_000), w.Address(demo.Alice)}
	code := []byte(common.Bytes2Hex(w.Initcode("HarbourCoin", args...)))
	third := len(code) / 3
	file := w.CreateFile(demo.Alice, "initcode of Harbour Coin", code[:third], code[third:2*third], code[2*third:])
	return w.Deploy(demo.Alice, world.Deployment{
		Source: "HarbourCoin", Args: args, Memo: "Harbour Coin", Key: world.Ed25519Key("Alice"), File: file,
		Gas: 2_500_000, RenewedBy: demo.Alice,
	})
}

// DeployGauges deploys the tide gauges of residents.
func (w *Scenario) DeployGauges(places ...string) {
	for i, place := range places {
		w.Deploy(w.residents[i*5], world.Deployment{
			Source: "TideGauge", Args: []any{place}, Memo: "Gauge at " + place,
			Gas: 3_000_000,
		})
	}
}

// GiveCoins gives Harbour Coins to people.
func (w *Scenario) GiveCoins(to ...int64) {
	for _, p := range to {
		w.CallContract(world.Call{
			Payer: demo.Alice, Contract: demo.HarbourCoin, Source: "HarbourCoin", Method: "transfer",
			Args: []any{w.Address(p), bigInt(500_000)},
		})
	}
	w.coinHolders = to
}

// RenameGauge calls a contract with call data in a file.
func (w *Scenario) RenameGauge(name string) {
	data := w.Pack("TideGauge", "rename", name)
	file := w.CreateFile(demo.Relay, "call data that were too large", []byte(common.Bytes2Hex(data)))
	w.SendEthereum(world.EthereumTransaction{
		Type: 2, Sender: demo.Bob, File: file,
		Call: world.Call{Contract: demo.TideGauge, Data: data},
	})
}

// ResidentsLeave deletes the accounts of some residents.
func (w *Scenario) ResidentsLeave() {
	for i := 7; i < len(w.residents); i += 42 {
		w.DeleteAccount(w.residents[i], demo.Fund)
		w.residents[i] = demo.Fund
	}
}

// AirdropToResidents offers lamp oil to some residents.
func (w *Scenario) AirdropToResidents() {
	for i := 2; i < 60; i += 9 {
		w.Airdrop(demo.Fund, w.residents[i], demo.LampOil, 0, int64(i+1)*world.Hbar)
	}
}

// DrawNumbers generates random numbers.
func (w *Scenario) DrawNumbers() {
	for i := range 6 {
		w.RandomNumber(w.residents[i*3], []int64{0, 6, 1_000}[i%3])
	}
}

// CollectShares creates schedules of residents, of which every other is executed.
func (w *Scenario) CollectShares() {
	for i := range 8 {
		payer := w.residents[10+i*7]
		from := w.residents[10+i*7+i%2] // a neighbour who does not sign, or the payer
		id := w.CreateSchedule(world.Schedule{
			Memo: fmt.Sprintf("Choir fund, share %d", i+1), Creator: payer, Payer: payer, From: from, To: demo.Fund,
			Amount: world.Hbar, Signers: []string{w.names[payer]},
		})
		if i%2 == 0 {
			w.ExecuteSchedule(id)
		}
	}
}

// MarketDay adds an atomic batch of three payments.
func (w *Scenario) MarketDay() {
	w.AtomicBatch(demo.Fund, "market day", demo.Alice, demo.Bob, demo.Carol)
}

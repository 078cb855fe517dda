package scenario

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

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
			w.Everyday()
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
			w.play(section("pending schedules"))
			continue
		}
		for range 1 + w.Pick(4) {
			w.Everyday()
		}
		w.Detached(func() { w.play(section(fmt.Sprint("block ", i))) })
	}
	w.At(w.End(), func() { w.SubmitText(demo.KeepersChat, demo.Walter, "All is well.") })
}

// pickTwo returns two different members of a list.
func (w *Scenario) pickTwo(list []int64) (int64, int64) {
	a := w.Pick(int64(len(list)))
	b := (a + 1 + w.Pick(int64(len(list)-1))) % int64(len(list))
	return list[a], list[b]
}

// Pay adds a payment. The community fund pays for accounts with a low balance.
func (w *Scenario) Pay(from, to int64) {
	if w.Balance(from) < 40*world.Hbar {
		from = demo.Fund
	}
	if from == to {
		to = demo.Alice
	}
	w.play("TransferHbars " + fmt.Sprint(from, to) + ` <10_000_000..910_000_000> "<memos>"`)
}

// ReportWeather submits a message to the topic of the weather reports.
func (w *Scenario) ReportWeather() {
	wind := []string{"N 2", "SW 4", "W 6", "S 1", "NW 7"}[w.Pick(5)]
	sea := []string{"calm", "slight", "moderate", "rough"}[w.Pick(4)]
	w.SubmitText(demo.WeatherReports, []int64{demo.Alice, demo.Walter}[w.Pick(2)],
		`{"wind":"`+wind+`","sea":"`+sea+`"}`)
}

// Everyday adds a transaction of everyday life.
func (w *Scenario) Everyday() { w.playOne(everyday) }

// UseContract calls a contract.
func (w *Scenario) UseContract() {
	w.results["from"], w.results["to"] = w.pickTwo(w.coinHolders)
	w.results["level"] = w.Pick(3_000) - 1_500
	w.playOne(contractCalls)
}

// TradeNFT sells one of ten lighthouses.
func (w *Scenario) TradeNFT() {
	serial := 11 + w.Pick(10)
	owner := w.OwnerOf(demo.Lighthouse, serial)
	buyers := []int64{demo.Alice, demo.Bob, demo.Heidi, demo.Victor, demo.Fund}
	buyer := buyers[w.Pick(int64(len(buyers)))]
	if buyer == owner {
		buyer = demo.Trent
	}
	w.TransferNFT(owner, buyer, demo.Lighthouse, serial, (10+w.Pick(30))*world.Hbar, "")
}

// AddNewcomer creates an account, half of the time by a payment to an unused address.
func (w *Scenario) AddNewcomer() {
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

// TradeSunlight transfers Sunlight between two of its holders.
func (w *Scenario) TradeSunlight() {
	from, to := w.busy(w.holders[demo.Sunlight]), w.busy(w.holders[demo.Sunlight])
	if from != to {
		w.TransferToken(from, to, demo.Sunlight, 1_000+w.Pick(50_000), "")
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

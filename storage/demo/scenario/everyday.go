package scenario

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

// EverydayUntil adds n groups of one to four everyday transactions, evenly distributed from now until an age, which is
// a time in nanoseconds before the end, and those of the year that are due meanwhile. It leaves the clock at that age.
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

// lastTenMinutes adds the transactions of the last 300 blocks, one every two seconds: everyday ones and those of the
// script. One block has the pending schedules instead. The last block ends at the end of the scenario, with a
// message.
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
		w.play(section(fmt.Sprint("block ", i)))
	}
	w.At(w.End(), func() { w.SubmitText(demo.KeepersChat, demo.Walter, "All is well.") })
}

// pickTwo returns two different members of a list, which has at least two. It advances the random numbers of the
// scenario.
func (w *Scenario) pickTwo(list []int64) (int64, int64) {
	a := w.Pick(int64(len(list)))
	b := (a + 1 + w.Pick(int64(len(list)-1))) % int64(len(list))
	return list[a], list[b]
}

// Pay adds a transfer of a random amount of hbars with a random memo. The community fund pays for accounts with a
// balance below 40 hbars. If the payer is the receiver, Alice receives instead.
func (w *Scenario) Pay(from, to int64) {
	if w.Balance(from) < 40*world.Hbar {
		from = demo.Fund
	}
	if from == to {
		to = demo.Alice
	}
	w.play("TransferHbars " + fmt.Sprint(from, to) + ` <10_000_000..910_000_000> "<memos>"`)
}

// ReportWeather submits a random JSON message from Alice or Walter to the topic of the weather reports.
func (w *Scenario) ReportWeather() {
	wind := []string{"N 2", "SW 4", "W 6", "S 1", "NW 7"}[w.Pick(5)]
	sea := []string{"calm", "slight", "moderate", "rough"}[w.Pick(4)]
	w.SubmitText(demo.WeatherReports, []int64{demo.Alice, demo.Walter}[w.Pick(2)],
		`{"wind":"`+wind+`","sea":"`+sea+`"}`)
}

// Everyday adds the transactions of a random line of the everyday section of the script.
func (w *Scenario) Everyday() { w.playOne(everyday) }

// coinHolders are the holders of Harbour Coin, the contract.
var coinHolders = []int64{demo.Bob, demo.Heidi, demo.Rupert, demo.Carol, demo.Erin, demo.Walter}

// UseContract adds a random contract call of the script. It sets the results from, to and level, which the lines
// use.
func (w *Scenario) UseContract() {
	w.results["from"], w.results["to"] = w.pickTwo(coinHolders)
	w.results["level"] = w.Pick(3_000) - 1_500
	w.playOne(contractCalls)
}

// TradeNFT sells one of ten lighthouses to a random account for 10 to 39 hbars. Trent buys it if that account owns
// it. The seller pays the fee of the transaction. A transfer that is impossible is a failed transaction.
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

// AddNewcomer creates an account that the community fund pays, half of the time by a payment to an unused address.
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

// grant transfers hbars from the treasury to the first account with a balance below 60 hbars, if there is one, so
// that a live network never runs out of hbars.
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

// CreateStreet creates the accounts of the residents of a street, one for each house, with random balances and
// different kinds of keys, and adds them to w.residents. The community fund pays. It moves the clock before each
// account. The accounts have no constants.
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
		w.pause(name)
		w.residents = append(w.residents, w.CreateAccount(demo.Fund, p))
	}
}

// WelcomeResidents transfers tokens of Trent to every third resident, who become holders that trade. Residents
// without automatic associations are associated first, and get Sunlight and Driftwood; the others get Sunlight, and
// Driftwood only if they are associated with it.
func (w *Scenario) WelcomeResidents() {
	for i, id := range w.residents {
		if i%3 == 0 {
			if !w.AutoAssociates(id) {
				w.Associate(id, demo.Sunlight, demo.Driftwood)
			}
			w.Give(demo.Trent, id, demo.Sunlight, 20_000_000+int64(i)*1_000_000, "welcome to Lantern Bay")
			if w.IsAssociated(id, demo.Driftwood) {
				w.Give(demo.Trent, id, demo.Driftwood, 500, "")
			}
		}
	}
}

// Give transfers units of a token, and adds the receiver to the holders that trade with them in everyday life, even if
// the transfer fails.
func (w *Scenario) Give(from, to, token, amount int64, memo string) {
	w.TransferToken(from, to, token, amount, memo)
	w.holders[token] = append(w.holders[token], to)
}

// DeployHarbourCoin adds the transactions that create a file with the initcode of the contract Harbour Coin, in three
// parts, and deploy it, all paid by Alice. It returns the number of the contract.
func (w *Scenario) DeployHarbourCoin() int64 {
	args := []any{big.NewInt(100_000_000), w.Address(demo.Alice)}
	code := []byte(common.Bytes2Hex(w.Initcode("HarbourCoin", args...)))
	third := len(code) / 3
	file := w.CreateFile(demo.Alice, "initcode of Harbour Coin", code[:third], code[third:2*third], code[2*third:])
	return w.Deploy(demo.Alice, world.Deployment{
		Source: "HarbourCoin", Args: args, Memo: "Harbour Coin", Key: world.Ed25519Key("Alice"), File: file,
		Gas: 2_500_000, RenewedBy: demo.Alice,
	})
}

// ResidentsLeave deletes the accounts of every 42nd resident, from the eighth on. The community fund inherits their
// hbars and takes their places in w.residents.
func (w *Scenario) ResidentsLeave() {
	for i := 7; i < len(w.residents); i += 42 {
		w.DeleteAccount(w.residents[i], demo.Fund)
		w.residents[i] = demo.Fund
	}
}

// TradeSunlight transfers a random amount of Sunlight between two of its holders. If both are the same, it does
// nothing.
func (w *Scenario) TradeSunlight() {
	from, to := w.busy(w.holders[demo.Sunlight]), w.busy(w.holders[demo.Sunlight])
	if from != to {
		w.TransferToken(from, to, demo.Sunlight, 1_000+w.Pick(50_000), "")
	}
}

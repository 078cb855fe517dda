package scenario

import (
	"fmt"

	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

// createPeople creates the accounts with constants.
func (w *Scenario) createPeople() {
	person1 := func(want int64, p world.Account) { w.ExpectID(w.CreateAccount(demo.Treasury, p), want) }
	person1(demo.Alice, world.Account{Memo: "Alice's wallet", Key: world.Ed25519Key("Alice"), Initial: 250_000 * world.Hbar, AutoAssociations: 10, StakedNode: 1})
	person1(demo.Bob, world.Account{
		Memo: "Bob the boat builder", Key: world.ECDSAKey("Bob"), Alias: world.EVMAddress("Bob"),
		EVMAddress: world.EVMAddress("Bob"), Initial: 180_000 * world.Hbar, AutoAssociations: -1,
	})
	person1(demo.Carol, world.Account{
		Memo: "Carol and her sister", Key: world.KeyList(world.Ed25519Key("Carol"), world.ECDSAKey("Carol's sister")),
		Initial: 90_000 * world.Hbar, AutoAssociations: 5,
	})
	person1(demo.Dave, world.Account{Memo: "Dave, two of three sign", Key: world.ThresholdKey(2, world.Ed25519Key("Dave"), world.Ed25519Key("Dave's phone"),
		world.ECDSAKey("Dave's safe")), Initial: 75_000 * world.Hbar, StakedNode: 3})
	person1(demo.Erin, world.Account{Memo: "Erin's savings", Key: world.KeyList(world.Ed25519Key("Erin")), Initial: 60_000 * world.Hbar, StakedNode: 0})
	person1(demo.Frank, world.Account{
		Memo: "Frank's tackle shop", Key: world.ThresholdKey(1, world.ECDSAKey("Frank")), Initial: 45_000 * world.Hbar,
		AutoAssociations: 20,
	})
	person1(demo.Grace, world.Account{Memo: "Grace, guarded by a contract", Key: world.ContractKey(demo.Tollgate), Initial: 30_000 * world.Hbar})
	person1(demo.Heidi, world.Account{
		Memo: "Heidi's studio", Key: world.ECDSAKey("Heidi"), Alias: world.ECDSAKey("Heidi"),
		EVMAddress: world.EVMAddress("Heidi"), Initial: 120_000 * world.Hbar, AutoAssociations: -1, StakedNode: 2,
	})
	w.ExpectID(w.FundAlias(demo.Alice, world.Account{
		Key: world.KeyList(), Alias: world.EVMAddress("Ivan"), EVMAddress: world.EVMAddress("Ivan"),
		AutoAssociations: -1,
	}, 500*world.Hbar), demo.Ivan)
	person1(demo.Judy, world.Account{Memo: "Judy's account, from before keys were kept", Initial: 10_000 * world.Hbar})
	person1(demo.Mallory, world.Account{
		Memo: "Mallory asks before receiving", Key: world.Ed25519Key("Mallory"), Initial: 20_000 * world.Hbar,
		SignsToReceive: true,
	})
	w.ExpectID(w.FundAlias(demo.Alice, world.Account{Key: world.Ed25519Key("Niaj"), Alias: world.Ed25519Key("Niaj"), AutoAssociations: 3}, 2_500*world.Hbar),
		demo.Niaj)
	person1(demo.Olivia, world.Account{Memo: "Olivia moved away", Key: world.Ed25519Key("Olivia"), Initial: 1_200 * world.Hbar})
	person1(demo.Peggy, world.Account{Memo: "Peggy stakes with Alice", Key: world.Ed25519Key("Peggy"), Initial: 55_000 * world.Hbar, StakedTo: demo.Alice})
	person1(demo.Rupert, world.Account{
		Memo: "Rupert declines rewards", Key: world.ECDSAKey("Rupert"), EVMAddress: world.EVMAddress("Rupert"),
		Initial: 88_000 * world.Hbar, StakedNode: 1, DeclinesRewards: true,
	})
	person1(demo.Sybil, world.Account{Memo: "Sybil, renewed by the fund", Key: world.Ed25519Key("Sybil"), Initial: 5_000 * world.Hbar, AutoAssociations: 2})
	person1(demo.Trent, world.Account{
		Memo: "Harbour office, treasury of the town's tokens", Key: world.Ed25519Key("Trent"), Initial: 400_000 * world.Hbar,
		AutoAssociations: -1,
	})
	person1(demo.Victor, world.Account{Memo: "Victor collects fees", Key: world.Ed25519Key("Victor"), Initial: 15_000 * world.Hbar, AutoAssociations: -1})
	person1(demo.Walter, world.Account{
		Memo: "Walter, keeper of the west light",
		Key:  world.KeyList(world.ContractKey(demo.HarbourCoin), world.DelegatableKey(demo.Logbook), world.Ed25519Key("Walter")), Initial: 33_000 * world.Hbar,
		AutoAssociations: 4, StakedNode: 4,
	})
	person1(demo.Relay, world.Account{
		Memo: "Harbour relay", Key: world.ECDSAKey("Relay"), Alias: world.EVMAddress("Relay"),
		EVMAddress: world.EVMAddress("Relay"), Initial: 100_000 * world.Hbar,
	})
	person1(demo.Fund, world.Account{
		Memo: "Lantern Bay community fund", Key: world.Ed25519Key("Fund"), Initial: 1_500_000 * world.Hbar, AutoAssociations: -1,
		StakedNode: 5,
	})
	w.UpdateAccount(demo.Sybil, world.Row{"auto_renew_account_id": int64(demo.Fund)})
	w.UpdateAccount(demo.Judy, world.Row{"key": nil, "public_key": nil, "memo": "Judy's account, without a key"})
}

// createStreet creates the accounts of residents, which have no constants.
func (w *Scenario) createStreet(street string, houses int) {
	for house := 1; house <= houses; house++ {
		name := fmt.Sprintf("%s %d", street, house)
		p := world.Account{Memo: name, Key: world.Ed25519Key(name), Initial: (200 + w.Pick(4_000)) * world.Hbar, AutoAssociations: int(w.Pick(6)) * 2}
		switch house % 9 {
		case 1:
			p.StakedNode = int(w.Pick(demo.NodeCount))
		case 2, 5:
			p.Key, p.EVMAddress = world.ECDSAKey(name), world.EVMAddress(name)
			p.Alias = p.EVMAddress
		case 3:
			p.Key, p.Memo = world.ThresholdKey(1, world.Ed25519Key(name), world.Ed25519Key(name+", attic")), name+", shared"
		case 4:
			p.StakedTo = demo.Fund
		case 7:
			p.Key, p.Alias, p.EVMAddress = world.ECDSAKey(name), world.ECDSAKey(name), world.EVMAddress(name)
			p.AutoAssociations = -1
		case 8:
			p.RenewedBy, p.HighVolume = demo.Fund, house%4 == 0
		}
		w.names[w.CreateAccount(demo.Fund, p)] = name
	}
}

package demo

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/ethereum/go-ethereum/common"
)

// renewal is how long entities live before they have to be renewed, in seconds. Those with an expiry of their own have
// been paid for three times as long, which is beyond the end of the story.
const renewal = int64(7_776_000)

// newEntity puts an entity into the ledger with what all kinds have in common; r adds to that.
func (w *world) newEntity(kind string, id, ts int64, r row) {
	e := row{
		"id": id, "num": id, "realm": 0, "shard": 0, "type": kind, "memo": "", "deleted": false, "created_timestamp": ts,
		"decline_reward": false, "staked_node_id": nil, "stake_period_start": -1, "staked_account_id": nil,
		"auto_renew_period": renewal, "ethereum_nonce": nil, "key": nil, "evm_address": nil, "alias": nil,
	}
	if kind == "ACCOUNT" || kind == "CONTRACT" {
		e["staked_node_id"], e["staked_account_id"], e["max_automatic_token_associations"] = int64(-1), int64(0), 0
		e["receiver_sig_required"], e["ethereum_nonce"] = false, int64(0)
		e["balance"], e["balance_timestamp"] = int64(0), ts
		if _, ok := w.balances[id]; !ok {
			w.balances[id], w.changed[id] = 0, ts
		}
		w.snaps.hbar[id] = true
	}
	maps.Copy(e, r)
	if k, ok := e["key"].([]byte); ok {
		e["public_key"] = publicKey(k)
	}
	if a, ok := e["evm_address"].([]byte); ok && a != nil {
		w.ids[common.BytesToAddress(a)] = id
	}
	w.entities.put(key(id), ts, e)
}

// changeEntity starts a new version of an entity. Versions that have passed keep the balance they had at their end.
func (w *world) changeEntity(id, ts int64, changed row) {
	e := w.entities.get(key(id))
	if e == nil {
		w.fail("no entity 0.0.%d to change", id)
		return
	}
	if _, ok := e["balance"]; ok {
		e["balance"], e["balance_timestamp"] = w.balances[id], w.changed[id]
	}
	if k, ok := changed["key"].([]byte); ok {
		changed["public_key"] = publicKey(k)
	}
	w.entities.change(key(id), ts, changed)
}

// writeEntities gives accounts and contracts their final balances.
func (w *world) writeEntities() {
	for _, k := range w.entities.order {
		e := w.entities.get(k)
		if _, ok := e["balance"]; ok {
			id := e["id"].(int64)
			e["balance"], e["balance_timestamp"] = w.balances[id], max(w.changed[id], e["created_timestamp"].(int64))
		}
	}
}

// address is the EVM address of an account or contract: its own, else the one made of its number.
func (w *world) address(id int64) common.Address {
	if e := w.entities.get(key(id)); e != nil {
		if a, ok := e["evm_address"].([]byte); ok && a != nil {
			return common.BytesToAddress(a)
		}
	}
	return longZero(id)
}

func longZero(id int64) common.Address {
	return common.BytesToAddress(binary.BigEndian.AppendUint64(nil, uint64(id)))
}

// person describes an account that is about to be created.
type person struct {
	memo       string
	key        []byte
	alias, evm []byte
	initial    int64 // tinybars
	associates int   // automatic associations, -1 for unlimited
	stakedNode any
	stakedTo   int64
	decline    bool
	signs      bool // must sign to receive
	renewedBy  int64
	highVolume bool
}

// newPerson creates an account by a transaction of its own.
func (w *world) newPerson(payer int64, p person) int64 {
	t := w.tx(typeCryptoCreate, payer)
	id := w.createAccount(t, p)
	t.entity, t.initialBalance = id, p.initial
	if p.initial > 0 {
		t.hbars(payer, id, p.initial)
	}
	if p.highVolume {
		t.highVolume, t.highVolumeMultiplier, t.fee = true, int64(4000), t.fee*4
		t.maxFee = t.fee * 2
	}
	w.commit(t)
	return id
}

// createAccount makes the account that a transaction creates.
func (w *world) createAccount(t *transaction, p person) int64 {
	id := w.number("account")
	r := row{
		"memo": p.memo, "key": p.key, "alias": p.alias, "evm_address": p.evm, "max_automatic_token_associations": p.associates,
		"decline_reward": p.decline, "receiver_sig_required": p.signs, "auto_renew_account_id": orNil(p.renewedBy),
		"staked_account_id": p.stakedTo,
	}
	if id%2 == 1 {
		r["expiration_timestamp"] = t.ts + 3*renewal*second
	}
	if node, ok := p.stakedNode.(int); ok {
		r["staked_node_id"], r["stake_period_start"] = int64(node), t.ts/day
	}
	w.newEntity("ACCOUNT", id, t.ts, r)
	return id
}

// updateAccount changes an account by a transaction.
func (w *world) updateAccount(id int64, changed row) {
	t := w.tx(typeCryptoUpdate, id)
	t.entity = id
	w.changeEntity(id, t.ts, changed)
	w.commit(t)
}

// deleteAccount deletes an account whose hbars go to another one.
func (w *world) deleteAccount(id, heir int64) {
	t := w.tx(typeCryptoDelete, heir)
	t.entity = id
	if rest := w.balances[id]; rest > 0 {
		t.hbars(id, heir, rest)
	}
	w.commit(t)
	w.changeEntity(id, t.ts, row{"deleted": true, "obtainer_id": heir})
}

// pay moves hbars. Either account may be staked to a node, and collects a reward then.
func (w *world) pay(from, to, amount int64, memo string) *transaction {
	t := w.tx(typeCryptoTransfer, from)
	t.memo = memo
	t.hbars(from, to, amount)
	w.reward(t, from)
	w.reward(t, to)
	return w.commit(t)
}

// reward adds the staking reward of an account that was touched, if it earns any.
func (w *world) reward(t *transaction, account int64) {
	e := w.entities.get(key(account))
	node, _ := e["staked_node_id"].(int64)
	if _, staked := e["staked_node_id"].(int64); !staked || node < 0 || e["decline_reward"] == true || w.seq%2 != 0 {
		return
	}
	t.rewards = append(t.rewards, transfer{account: account, amount: 150_000 + account*7%90_000 + int64(w.seq)%1_000})
}

// fundAlias sends hbars to an alias or address that no account has yet, which creates one that is hollow for an address.
func (w *world) fundAlias(from int64, p person, amount int64) int64 {
	t := w.tx(typeCryptoTransfer, from)
	c := w.before(t, typeCryptoCreate)
	c.memo = ""
	c.entity = w.createAccount(c, p)
	w.commit(c)
	t.hbars(from, c.entity, amount)
	w.commit(t)
	return c.entity
}

// foundNetwork makes the accounts and files that exist from the start, with all hbars shared out among them.
func (w *world) foundNetwork() {
	start := w.clock
	system := func(id int64, memo string, balance int64) {
		w.balances[id], w.changed[id] = balance, start
		w.newEntity("ACCOUNT", id, start, row{
			"memo": memo, "key": edKey(fmt.Sprintf("system %d", id)), "auto_renew_period": renewal,
		})
	}
	rest := totalSupply
	give := func(id int64, memo string, balance int64) {
		rest -= balance
		start++
		system(id, memo, balance)
	}
	for i, name := range nodeNames {
		give(firstNodeAccount+int64(i), name+" node", 25_000*hbar)
	}
	give(42, "reserve", 1_000_000*hbar)
	for id := int64(44); id <= 71; id++ {
		give(id, "reserve", 20_000_000*hbar)
	}
	for id := int64(73); id <= 87; id++ {
		give(id, "reserve", 10_000_000*hbar)
	}
	give(NetworkFees, "network fees", 0)
	give(99, "reserve", 5_000_000*hbar)
	give(100, "reserve", 5_000_000*hbar)
	for id := int64(200); id <= 209; id++ {
		give(id, "reserve", 1_000_000*hbar)
	}
	for id := int64(400); id <= 409; id++ {
		give(id, "reserve", 1_000_000*hbar)
	}
	give(StakingRewards, "staking rewards", 4_000_000*hbar)
	give(NodeRewards, "node rewards", 2_000_000*hbar)
	give(FeeCollection, "fee collection", 0)
	start++
	system(Treasury, "treasury of the network", rest)
	w.clock = start + second
}

// foundTown creates the people with names and the residents without.
func (w *world) foundTown() {
	person1 := func(want int64, p person) { w.expect(w.newPerson(Treasury, p), want) }
	person1(Alice, person{memo: "Alice's wallet", key: edKey("Alice"), initial: 250_000 * hbar, associates: 10, stakedNode: 1})
	person1(Bob, person{memo: "Bob the boat builder", key: ecKey("Bob"), alias: evmAddress("Bob"), evm: evmAddress("Bob"), initial: 180_000 * hbar, associates: -1})
	person1(Carol, person{memo: "Carol and her sister", key: keyList(edKey("Carol"), ecKey("Carol's sister")), initial: 90_000 * hbar, associates: 5})
	person1(Dave, person{memo: "Dave, two of three sign", key: thresholdKey(2, edKey("Dave"), edKey("Dave's phone"), ecKey("Dave's safe")), initial: 75_000 * hbar, stakedNode: 3})
	person1(Erin, person{memo: "Erin's savings", key: keyList(edKey("Erin")), initial: 60_000 * hbar, stakedNode: 0})
	person1(Frank, person{memo: "Frank's tackle shop", key: thresholdKey(1, ecKey("Frank")), initial: 45_000 * hbar, associates: 20})
	person1(Grace, person{memo: "Grace, guarded by a contract", key: contractKey(Tollgate), initial: 30_000 * hbar})
	person1(Heidi, person{memo: "Heidi's studio", key: ecKey("Heidi"), alias: ecKey("Heidi"), evm: evmAddress("Heidi"), initial: 120_000 * hbar, associates: -1, stakedNode: 2})
	w.expect(w.fundAlias(Alice, person{key: keyList(), alias: evmAddress("Ivan"), evm: evmAddress("Ivan"), associates: -1}, 500*hbar), Ivan)
	person1(Judy, person{memo: "Judy's account, from before keys were kept", initial: 10_000 * hbar})
	person1(Mallory, person{memo: "Mallory asks before receiving", key: edKey("Mallory"), initial: 20_000 * hbar, signs: true})
	w.expect(w.fundAlias(Alice, person{key: edKey("Niaj"), alias: edKey("Niaj"), associates: 3}, 2_500*hbar), Niaj)
	person1(Olivia, person{memo: "Olivia moved away", key: edKey("Olivia"), initial: 1_200 * hbar})
	person1(Peggy, person{memo: "Peggy stakes with Alice", key: edKey("Peggy"), initial: 55_000 * hbar, stakedTo: Alice})
	person1(Rupert, person{memo: "Rupert declines rewards", key: ecKey("Rupert"), evm: evmAddress("Rupert"), initial: 88_000 * hbar, stakedNode: 1, decline: true})
	person1(Sybil, person{memo: "Sybil, renewed by the fund", key: edKey("Sybil"), initial: 5_000 * hbar, associates: 2})
	person1(Trent, person{memo: "Harbour office, treasury of the town's tokens", key: edKey("Trent"), initial: 400_000 * hbar, associates: -1})
	person1(Victor, person{memo: "Victor collects fees", key: edKey("Victor"), initial: 15_000 * hbar, associates: -1})
	person1(Walter, person{memo: "Walter, keeper of the west light", key: keyList(contractKey(HarbourCoin), delegatableKey(Logbook), edKey("Walter")), initial: 33_000 * hbar, associates: 4, stakedNode: 4})
	person1(Relay, person{memo: "Harbour relay", key: ecKey("Relay"), alias: evmAddress("Relay"), evm: evmAddress("Relay"), initial: 100_000 * hbar})
	person1(Fund, person{memo: "Lantern Bay community fund", key: edKey("Fund"), initial: 1_500_000 * hbar, associates: -1, stakedNode: 5})
	w.updateAccount(Sybil, row{"auto_renew_account_id": int64(Fund)})
	w.updateAccount(Judy, row{"key": nil, "public_key": nil, "memo": "Judy's account, without a key"})
}

// residents of a street: accounts that make the town look inhabited.
func (w *world) settleStreet(street string, houses int) {
	for house := 1; house <= houses; house++ {
		name := fmt.Sprintf("%s %d", street, house)
		p := person{memo: name, key: edKey(name), initial: (200 + w.pick(4_000)) * hbar, associates: int(w.pick(6)) * 2}
		switch house % 9 {
		case 1:
			p.stakedNode = int(w.pick(nodeCount))
		case 2, 5:
			p.key, p.evm = ecKey(name), evmAddress(name)
			p.alias = p.evm
		case 3:
			p.key, p.memo = thresholdKey(1, edKey(name), edKey(name+", attic")), name+", shared"
		case 4:
			p.stakedTo = Fund
		case 7:
			p.key, p.alias, p.evm = ecKey(name), ecKey(name), evmAddress(name)
			p.associates = -1
		case 8:
			p.renewedBy, p.highVolume = Fund, house%4 == 0
		}
		w.newPerson(Fund, p)
	}
}

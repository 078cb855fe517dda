package world

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// RenewalPeriod is the auto-renew period of entities in seconds.
const RenewalPeriod = int64(7_776_000)

// paidPeriods is how many periods are paid for entities that have an expiration time, which is beyond the end of the
// scenario.
const paidPeriods = 5

// newEntity adds an entity with the columns that all types have in common and those of r, which take precedence. It
// derives public_key from the key, registers the EVM address for idOf, and starts the balance of an account or
// contract at 0, unless it has one.
func (w *World) newEntity(kind string, id, ts int64, r Row) {
	e := Row{
		"id": id, "num": id, "realm": 0, "shard": 0, "type": kind, "memo": "", "deleted": false,
		"created_timestamp": ts,
		"decline_reward":    false, "staked_node_id": nil, "stake_period_start": -1, "staked_account_id": nil,
		"auto_renew_period": RenewalPeriod, "ethereum_nonce": nil, "key": nil, "evm_address": nil, "alias": nil,
	}
	if kind == "ACCOUNT" || kind == "CONTRACT" {
		e["staked_node_id"], e["staked_account_id"], e["max_automatic_token_associations"] = int64(-1), int64(0),
			int64(0)
		e["receiver_sig_required"], e["ethereum_nonce"] = false, int64(0)
		e["balance"], e["balance_timestamp"] = int64(0), ts
		if _, ok := w.balances[id]; !ok {
			w.balances[id], w.balanceChanged[id] = 0, ts
		}
		w.snapshots.hbar[id] = true
	}
	maps.Copy(e, r)
	if k, ok := e["key"].([]byte); ok {
		e["public_key"] = publicKey(k)
	}
	if a, ok := e["evm_address"].([]byte); ok && a != nil {
		w.idByAddress[common.BytesToAddress(a)] = id
	}
	w.entities.save(ts, e)
}

// ChangeEntity adds a transaction of type kind that changes columns of an entity. It adds the id and derived columns
// to changed. If the entity does not exist, it calls [World.Fail] and adds the transaction nevertheless.
func (w *World) ChangeEntity(kind ledger.TransactionType, payer, id int64, changed Row) {
	t := w.tx(kind, payer, id)
	w.changeEntity(id, t.ts, changed)
	w.commit(t)
}

// Change adds a row to one of the versioned tables, or changes columns of an existing row, in a transaction about
// an entity, or about none if entity is 0. row must contain the primary key. Changes of the table node have no
// fee. For an unknown table, it adds the transaction only.
func (w *World) Change(kind ledger.TransactionType, payer, entity int64, table string, row Row) {
	t := w.tx(kind, payer, entity)
	if table == "node" {
		t.fee = 0
	}
	for _, v := range w.versioned() {
		if v.table == table {
			v.save(t.ts, row)
		}
	}
	w.commit(t)
}

// changeEntity starts a new version of an entity at ts, without a transaction. It writes the id and a derived
// public_key into changed. The version that ends keeps the balance at its end. If the entity does not exist, it
// calls [World.Fail] and changes nothing.
func (w *World) changeEntity(id, ts int64, changed Row) {
	e := w.entities.get(id)
	if e == nil {
		w.Fail("no entity 0.0.%d to change", id)
		return
	}
	if _, ok := e["balance"]; ok {
		e["balance"], e["balance_timestamp"] = w.balances[id], w.balanceChanged[id]
	}
	if k, ok := changed["key"].([]byte); ok {
		changed["public_key"] = publicKey(k)
	}
	changed["id"] = id
	w.entities.save(ts, changed)
}

// writeEntities copies the current balances and their times into the rows of accounts and contracts, without new
// versions.
func (w *World) writeEntities() {
	for _, c := range w.entities.all {
		e := c.row
		if _, ok := e["balance"]; ok {
			id := e["id"].(int64)
			e["balance"], e["balance_timestamp"] = w.balances[id],
				max(w.balanceChanged[id], e["created_timestamp"].(int64))
		}
	}
}

// Address returns the EVM address of an account or contract, or its long-zero address.
func (w *World) Address(id int64) common.Address {
	if e := w.entities.get(id); e != nil {
		if a, ok := e["evm_address"].([]byte); ok && a != nil {
			return common.BytesToAddress(a)
		}
	}
	return LongZeroAddress(id)
}

// LongZeroAddress returns the EVM address that contains the number of an entity.
func LongZeroAddress(id int64) common.Address {
	return common.BytesToAddress(binary.BigEndian.AppendUint64(nil, uint64(id)))
}

// Account describes an account to create.
type Account struct {
	Memo              string
	Key               []byte
	Alias, EVMAddress []byte
	Initial           int64 // tinybars
	AutoAssociations  int64 // automatic associations, -1 for unlimited
	StakedNode        *int64
	StakedTo          int64
	DeclinesRewards   bool
	SignsToReceive    bool // must sign to receive
	RenewedBy         int64
	HighVolume        bool
}

// CreateAccount creates an account in a transaction that payer pays and returns its number. It transfers the initial
// balance from payer; if that has too little, it calls [World.Fail]. In high-volume mode, the fee is four times as
// high.
func (w *World) CreateAccount(payer int64, p Account) int64 {
	t := w.tx(codes.TypeCryptoCreate, payer, 0)
	id := w.insertAccount(t, p)
	t.entity, t.initialBalance = id, p.Initial
	if p.Initial > 0 {
		t.hbars(payer, id, p.Initial)
	}
	if p.HighVolume {
		t.highVolume, t.highVolumeMultiplier, t.fee = true, int64(4000), t.fee*4
		t.maxFee = t.fee * 2
	}
	w.commit(t)
	return id
}

// insertAccount adds the entity of an account that transaction t creates and returns its number. It transfers no
// hbars. Accounts with odd numbers get an expiration time.
func (w *World) insertAccount(t *Transaction, p Account) int64 {
	id := w.takeID("account")
	r := Row{
		"memo": p.Memo, "key": p.Key, "alias": p.Alias, "evm_address": p.EVMAddress,
		"max_automatic_token_associations": p.AutoAssociations,
		"decline_reward":                   p.DeclinesRewards, "receiver_sig_required": p.SignsToReceive,
		"auto_renew_account_id": nullIfZero(p.RenewedBy),
		"staked_account_id":     p.StakedTo,
	}
	if id%2 == 1 {
		r["expiration_timestamp"] = t.ts + paidPeriods*RenewalPeriod*Second
	}
	if p.StakedNode != nil {
		r["staked_node_id"], r["stake_period_start"] = *p.StakedNode, t.ts/Day
	}
	w.newEntity("ACCOUNT", id, t.ts, r)
	return id
}

// UpdateAccount changes the columns of an account in a transaction that the account itself pays, and that collects
// its pending staking reward, if any. The story calls it by name. It adds the id and derived columns to changed. For
// an account that does not exist, it calls [World.Fail].
func (w *World) UpdateAccount(id int64, changed Row) {
	t := w.tx(codes.TypeCryptoUpdate, id, id)
	w.collect(t, id)
	if node, ok := changed["staked_node_id"].(int64); ok && node >= 0 {
		changed["stake_period_start"] = t.ts / Day
	}
	w.changeEntity(id, t.ts, changed)
	w.commit(t)
}

// DeleteAccount marks an account as deleted and transfers its hbars, including a pending staking reward, to heir,
// who pays the fee.
func (w *World) DeleteAccount(id, heir int64) {
	t := w.tx(codes.TypeCryptoDelete, heir, id)
	if rest := w.balances[id] + w.collect(t, id); rest > 0 {
		t.hbars(id, heir, rest)
	}
	w.collected[heir] += w.collected[id]
	delete(w.collected, id)
	w.commit(t)
	w.changeEntity(id, t.ts, Row{"deleted": true, "obtainer_id": heir})
}

// TransferHbars transfers an amount of tinybars in a transaction that the sender pays, and returns the transaction. If
// the sender has too little, or an account does not exist, it calls [World.Fail].
func (w *World) TransferHbars(from, to, amount int64, memo string) *Transaction {
	t := w.tx(codes.TypeCryptoTransfer, from, 0)
	t.memo = memo
	t.hbars(from, to, amount)
	return w.commit(t)
}

// FundAlias transfers tinybars to an unused alias or EVM address, which creates an account in a preceding child
// transaction. It returns the number of the account. p has the alias or address, which must be unused and is not
// checked, and the key; an empty [KeyList] makes the account hollow. p.Initial is ignored.
func (w *World) FundAlias(from, amount int64, p Account) int64 {
	t := w.tx(codes.TypeCryptoTransfer, from, 0)
	c := w.before(t, codes.TypeCryptoCreate)
	c.memo = ""
	c.entity = w.insertAccount(c, p)
	w.commit(c)
	t.hbars(from, c.entity, amount)
	w.commit(t)
	return c.entity
}

// systemAccounts are the system accounts besides those of nodes and the treasury, which gets the rest of the hbars.
var systemAccounts = []struct {
	first, last int64
	memo        string
	hbars       int64 // of each
}{
	{42, 42, "reserve", 1_000_000},
	{44, 71, "reserve", 20_000_000},
	{73, 87, "reserve", 10_000_000},
	{demo.NetworkFees, demo.NetworkFees, "network fees", 0},
	{99, 100, "reserve", 5_000_000},
	{200, 209, "reserve", 1_000_000},
	{400, 409, "reserve", 1_000_000},
	{demo.StakingRewards, demo.StakingRewards, "staking rewards", 4_000_000},
	{demo.NodeRewards, demo.NodeRewards, "node rewards", 2_000_000},
	{demo.FeeCollection, demo.FeeCollection, "fee collection", 0},
}

// createSystemAccounts creates the system accounts, without transactions, and distributes all hbars among them.
// The treasury gets the rest. It moves the clock one second past the last creation.
func (w *World) createSystemAccounts() {
	start, rest := w.clock, totalSupply
	give := func(id int64, memo string, balance int64) {
		rest -= balance
		start++
		w.balances[id], w.balanceChanged[id] = balance, start
		w.newEntity("ACCOUNT", id, start, Row{
			"memo": memo, "key": Ed25519Key(fmt.Sprintf("system %d", id)),
			"auto_renew_period": RenewalPeriod,
		})
	}
	for i, name := range demo.NodeNames {
		give(demo.FirstNodeAccount+int64(i), name+" node", 25_000*Hbar)
		if i < demo.NodeCount {
			maps.Copy(w.entities.get(demo.FirstNodeAccount+int64(i)),
				Row{"staked_node_id": int64(i), "stake_period_start": start / Day, "decline_reward": true})
		}
	}
	for _, a := range systemAccounts {
		for id := a.first; id <= a.last; id++ {
			give(id, a.memo, a.hbars*Hbar)
		}
	}
	give(demo.Treasury, "treasury of the network", rest)
	w.clock = start + Second
}

// Word returns a number, which must not be negative, as a 32-byte big-endian word.
func Word(v int64) []byte { return common.LeftPadBytes(number(v), 32) }

// AddHook adds a hook with number id to an account, in an account update that the account pays and that starts a new
// version of the account. All hooks use the same contract. admin is the holder of the admin key, or empty for none.
func (w *World) AddHook(owner, id int64, admin string) {
	t := w.tx(codes.TypeCryptoUpdate, owner, owner)
	w.hooks.save(t.ts, Row{
		"contract_id": int64(demo.Tollgate), "created_timestamp": t.ts, "hook_id": id, "owner_id": owner,
		"extension_point": "ACCOUNT_ALLOWANCE_HOOK",
		"deleted":         false, "admin_key": nullableKey(admin), "type": "EVM",
	})
	w.changeEntity(owner, t.ts, Row{})
	w.commit(t)
}

// RemoveHook marks a hook of an account as deleted, in an account update that the account pays and that starts a new
// version of the account. The hook must exist.
func (w *World) RemoveHook(owner, id int64) {
	t := w.tx(codes.TypeCryptoUpdate, owner, owner)
	w.hooks.save(t.ts, Row{"owner_id": owner, "hook_id": id, "deleted": true})
	w.changeEntity(owner, t.ts, Row{})
	w.commit(t)
}

// HookSlot is a storage slot of a hook. A nil value removes it.
type HookSlot struct {
	Key   []byte
	Value []byte
}

// StoreHook writes storage slots of a hook, and a row of hook_storage_change for each of them, in one transaction
// that the owner pays. A nil value deletes a slot. It does not check that the hook exists.
func (w *World) StoreHook(owner, id int64, slots ...HookSlot) {
	t := w.tx(codes.TypeHookStore, owner, owner)
	for _, s := range slots {
		known, before, value := w.hookSlots.get(owner, id, s.Key), []byte{}, present(s.Value)
		r := Row{
			"hook_id": id, "owner_id": owner, "key": s.Key, "modified_timestamp": t.ts, "value": value,
			"deleted": s.Value == nil,
		}
		if known == nil {
			r["created_timestamp"] = t.ts
		} else {
			before = known["value"].([]byte)
		}
		w.hookSlots.save(t.ts, r)
		w.rows.add("hook_storage_change", Row{
			"consensus_timestamp": t.ts, "hook_id": id, "owner_id": owner, "key": s.Key, "value_read": before,
			"value_written": value, "deleted": s.Value == nil,
		})
	}
	w.commit(t)
}

package demo

import (
	"crypto/rsa"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
)

// nodeNames are the places where the nodes stand.
var nodeNames = [nodeCount + 1]string{"East Mole", "West Light", "Gull Rock", "Customs House", "Fish Market", "Signal Hill", "Rope Walk", "Old Battery"}

// bookNode is a node as an address book shows it.
type bookNode struct {
	id, account int64
	description string
	key         string // hexadecimal DER
	certHash    string
	ip          []byte
	domain      string
}

// bookNodes are the nodes of a version of the address book. From the second version on they have names in the DNS.
func (w *world) bookNodes(version int) []bookNode {
	nodes := make([]bookNode, nodeCount)
	for i := range nodes {
		cert := sha512.Sum384(fmt.Append(nil, "certificate of node ", i, " version ", version))
		nodes[i] = bookNode{
			id: int64(i), account: firstNodeAccount + int64(i), description: nodeNames[i] + " node",
			key: nodeKey(i), certHash: hex.EncodeToString(cert[:]), ip: []byte{10, 0, byte(i + 1), byte(10 + version)},
		}
		if version > 0 {
			nodes[i].domain = fmt.Sprintf("node%d.lantern-bay.example", i)
		}
	}
	return nodes
}

// nodeKey is an RSA public key of 3072 bits whose modulus is made of hashes: it has the right form, and no private key.
func nodeKey(node int) string {
	var modulus []byte
	for i := range 6 {
		part := sha512.Sum512(fmt.Append(nil, "modulus of node ", node, " part ", i))
		modulus = append(modulus, part[:]...)
	}
	modulus[0] |= 0x80
	modulus[len(modulus)-1] |= 1
	der, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: 65537})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(der)
}

// bookFile is a NodeAddressBook.
func bookFile(nodes []bookNode) []byte {
	m := message{}
	for _, n := range nodes {
		x := message(nil).text(3, fmt.Sprintf("0.0.%d", n.account)).text(4, n.key).num(5, n.id).msg(6, pbID(n.account)).
			text(7, n.certHash).msg(8, message(nil).bytes(1, n.ip).num(2, 50211)).msg(8, message(nil).bytes(1, n.ip).num(2, 50212))
		if n.domain != "" {
			x = x.msg(8, message(nil).num(2, 443).text(3, n.domain))
		}
		m = m.msg(1, x.text(9, n.description))
	}
	return m
}

// publishBook makes the address book that a file transaction carried the current one, from the nanosecond after it.
func (w *world) publishBook(t *transaction, nodes []bookNode) {
	start := t.ts + 1
	for _, r := range w.out["address_book"] {
		if r["file_id"] == t.entity && r["end_consensus_timestamp"] == nil {
			r["end_consensus_timestamp"] = start
		}
	}
	w.out.add("address_book", row{"start_consensus_timestamp": start, "end_consensus_timestamp": nil, "file_id": t.entity, "node_count": len(nodes), "file_data": bookFile(nodes)})
	for _, n := range nodes {
		w.out.add("address_book_entry", row{
			"consensus_timestamp": start, "memo": fmt.Sprintf("0.0.%d", n.account), "public_key": n.key, "node_id": n.id,
			"node_account_id": n.account, "node_cert_hash": []byte(n.certHash), "description": n.description, "stake": 0,
		})
		endpoint := func(ip string, port int, domain string) {
			w.out.add("address_book_service_endpoint", row{"consensus_timestamp": start, "ip_address_v4": ip, "node_id": n.id, "port": port, "domain_name": domain})
		}
		ip := fmt.Sprintf("%d.%d.%d.%d", n.ip[0], n.ip[1], n.ip[2], n.ip[3])
		endpoint(ip, 50211, "")
		endpoint(ip, 50212, "")
		if n.domain != "" {
			endpoint("", 443, n.domain)
		}
	}
}

func (w *world) createNode(id, account int64) {
	t := w.tx(typeNodeCreate, addressBookAdmin)
	t.fee, t.entity = 0, account
	proxy, _ := json.Marshal(map[string]any{"domain_name": fmt.Sprintf("proxy%d.lantern-bay.example", id), "ip_address_v4": "", "port": 443})
	r := row{
		"admin_key": edKey(nodeNames[id]), "created_timestamp": t.ts, "deleted": false, "node_id": id, "decline_reward": id == 6,
		"grpc_proxy_endpoint": nil, "account_id": account, "associated_registered_nodes": nilInts(nil),
	}
	if id%2 == 0 {
		r["grpc_proxy_endpoint"] = proxy
	}
	w.nodes.put(key(id), t.ts, r)
	w.commit(t)
}

func (w *world) changeNode(kind int, id int64, changed row) {
	t := w.tx(kind, addressBookAdmin)
	t.fee, t.entity = 0, firstNodeAccount+id
	if kind == typeNodeDelete {
		t.entity = 0
	}
	w.nodes.change(key(id), t.ts, changed)
	w.commit(t)
}

// service describes a registered node that is not a consensus node.
type service struct {
	description string
	types       []int16
	endpoints   []map[string]any
}

// register registers a node of another kind.
func (w *world) register(payer, id int64, s service) {
	t := w.tx(typeRegisterNode, payer)
	var endpoints any
	if s.endpoints != nil {
		endpoints, _ = json.Marshal(s.endpoints)
	}
	w.registered.put(key(id), t.ts, row{
		"admin_key": edKey(personName(payer)), "created_timestamp": t.ts, "deleted": false, "description": s.description,
		"registered_node_id": id, "service_endpoints": endpoints, "type": s.types,
	})
	w.commit(t)
}

func (w *world) changeRegistered(kind int, payer, id int64, changed row) {
	t := w.tx(kind, payer)
	w.registered.change(key(id), t.ts, changed)
	w.commit(t)
}

// registerServices registers nodes of every type that the network knows.
func (w *world) registerServices() {
	at := func(kind string, value any, port int, tls bool, where string) map[string]any {
		e := map[string]any{kind: value, "port": port, "requires_tls": tls}
		if where[0] >= '0' && where[0] <= '9' {
			e["ip_address"] = where
		} else {
			e["domain_name"] = where
		}
		return e
	}
	none := map[string]any{}
	w.register(Alice, 1, service{"Block archive of the harbour", []int16{1}, []map[string]any{
		at("block_node", map[string]any{"endpoint_apis": []string{"STATUS", "SUBSCRIBE_STREAM"}}, 8080, true, "blocks.lantern-bay.example"),
		at("block_node", map[string]any{"endpoint_apis": []string{"PUBLISH"}}, 8081, false, "10.1.0.4"),
		at("block_node", map[string]any{"endpoint_apis": []string{"STATE_PROOF", "OTHER"}}, 8082, true, "10.1.0.5"),
	}})
	w.register(Bob, 2, service{"Tide tables", []int16{2}, []map[string]any{at("general_service", map[string]any{"description": "Tide tables of the bay"}, 443, true, "tides.lantern-bay.example")}})
	w.register(Heidi, 3, service{"Mirror of the town", []int16{3}, []map[string]any{at("mirror_node", none, 5551, true, "mirror.lantern-bay.example")}})
	w.register(Relay, 4, service{"Harbour relay", []int16{4}, []map[string]any{at("rpc_relay", none, 7546, true, "relay.lantern-bay.example")}})
	w.register(Fund, 5, service{"All-in-one at Signal Hill", []int16{1, 3, 4}, []map[string]any{
		at("block_node", map[string]any{"endpoint_apis": []string{"STATUS"}}, 8080, true, "10.1.0.9"),
		at("mirror_node", none, 5551, false, "10.1.0.9"), at("rpc_relay", none, 7546, true, "10.1.0.9"),
	}})
	w.register(Walter, 6, service{"A service that gave no address yet", []int16{2}, nil})
	w.register(Frank, 7, service{"Closed mirror", []int16{3}, []map[string]any{at("mirror_node", none, 5551, true, "old-mirror.lantern-bay.example")}})
	w.changeRegistered(typeUpdateRegNode, Bob, 2, row{"description": "Tide tables and moon phases"})
	w.changeRegistered(typeDeleteRegNode, Frank, 7, row{"deleted": true})
}

// stakeDay is a staking period whose figures were announced.
type stakeDay struct{ epoch, ts int64 }

// endStakingPeriod announces the figures of the day that ended at midnight.
func (w *world) endStakingPeriod(midnight int64) {
	t := w.tx(typeNodeStake, Treasury)
	t.node, t.validDuration, t.maxFee = 0, 0, 0
	t.ts = max(t.ts, midnight+300_000_123)
	t.validStart = t.ts - 1
	w.clock = t.ts
	epoch := midnight/day - 1
	total := int64(0)
	for id := range int64(nodeCount) {
		stake := (60_000_000+id*9_000_000)*hbar + (epoch*7919+id*104729)%1_000_000*hbar
		total += stake
		notRewarded := stake / 12
		if id == 6 {
			notRewarded = -1
		}
		w.out.add("node_stake", row{
			"consensus_timestamp": t.ts, "epoch_day": epoch, "node_id": id, "reward_rate": 5_000 + id*100, "stake": stake,
			"stake_rewarded": stake - stake/12, "staking_period": midnight - 1, "max_stake": 450_000_000 * hbar, "min_stake": 30_000_000 * hbar,
			"stake_not_rewarded": notRewarded,
		})
	}
	w.out.add("network_stake", row{
		"consensus_timestamp": t.ts, "epoch_day": epoch, "max_staking_reward_rate_per_hbar": 6_849, "node_reward_fee_denominator": 100,
		"node_reward_fee_numerator": 10, "stake_total": total, "staking_period": midnight - 1, "staking_period_duration": 1440,
		"staking_periods_stored": 365, "staking_reward_fee_denominator": 100, "staking_reward_fee_numerator": 10,
		"staking_reward_rate": 100_000_000_000, "staking_start_threshold": 250_000_000 * hbar, "max_stake_rewarded": 6_500_000_000 * hbar,
		"max_total_reward": 1_782_171_952_920, "reserved_staking_rewards": 1_000_000 * hbar, "reward_balance_threshold": 0,
		"unreserved_staking_reward_balance": 3_000_000 * hbar,
	})
	w.commit(t)
	w.stakeDays = append(w.stakeDays, stakeDay{epoch, t.ts})
}

// writeStakes works out pending rewards and stakes of the accounts after the last two staking periods.
func (w *world) writeStakes() {
	if len(w.stakeDays) < 2 {
		return
	}
	for _, d := range w.stakeDays[len(w.stakeDays)-2:] {
		w.stakesAfter(d)
	}
}

// stakesAfter works out pending rewards and stakes of the accounts after a staking period.
func (w *world) stakesAfter(d stakeDay) {
	for _, k := range w.entities.order {
		e := w.entities.get(k)
		node, staked := e["staked_node_id"].(int64)
		id := e["id"].(int64)
		if e["type"] != "ACCOUNT" || e["deleted"] == true || e["created_timestamp"].(int64) > d.ts || (id != StakingRewards && (!staked || node < 0)) {
			continue
		}
		r := row{
			"id": id, "end_stake_period": d.epoch, "pending_reward": (id*7919 + 1_300) % 2_000_000, "staked_node_id_start": node,
			"staked_to_me": int64(0), "stake_total_start": w.balances[id] / hbar * hbar,
		}
		if id == StakingRewards {
			r["pending_reward"], r["stake_total_start"], r["staked_node_id_start"] = 0, 0, -1
		} else if e["decline_reward"] == true {
			r["pending_reward"] = 0
		}
		if id == Alice || id == Fund {
			r["staked_to_me"] = 55_000 * hbar
			r["stake_total_start"] = w.balances[id]/hbar*hbar + 55_000*hbar
		}
		w.stakes.put(key(id), d.ts, r)
	}
}

// updateRates publishes exchange rates for the hour that begins.
func (w *world) updateRates() {
	w.rates++
	t := w.tx(typeFileUpdate, exchangeRateAdmin)
	t.fee, t.entity = 0, fileExchangeRates
	w.data(t, fileExchangeRates, rateFile(w.rates, t.ts))
	w.commit(t)
}

// freeze announces an upgrade of the network's software.
func (w *world) freeze(kind int) {
	t := w.tx(typeFreeze, freezeAdmin)
	t.entity = fileUpgrade
	hash := sha512.Sum384([]byte("lantern bay release 2"))
	w.out.add("network_freeze", row{
		"consensus_timestamp": t.ts, "end_time": nil, "file_hash": hash[:], "file_id": fileUpgrade, "payer_account_id": freezeAdmin,
		"start_time": t.ts + 10*minute, "type": kind,
	})
	w.commit(t)
}

// publishLedger announces the id of the ledger.
func (w *world) publishLedger() {
	t := w.tx(typeLedgerID, Treasury)
	t.node, t.validDuration, t.maxFee = 0, 0, 0
	list := make([]map[string]any, nodeCount)
	for i := range list {
		list[i] = map[string]any{"history_proof_key": edRaw(fmt.Sprintf("history proof of node %d", i)), "node_id": i, "weight": 1_000 + i}
	}
	contributions, _ := json.Marshal(list)
	w.out.add("ledger", row{
		"consensus_timestamp": t.ts, "history_proof_verification_key": digest("verification key"), "ledger_id": digest("ledger id")[:32],
		"node_contributions": contributions,
	})
	w.commit(t)
}

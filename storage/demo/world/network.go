package world

import (
	"crypto/rsa"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

type addressBookNode struct {
	id, account int64
	description string
	key         string // hexadecimal DER
	certHash    string
	ip          []byte
	domain      string
}

// addressBookNodes returns the nodes of a version of the address book, always the same. From version 1 on, nodes
// have domain names. It stores nothing.
func (w *World) addressBookNodes(version int) []addressBookNode {
	nodes := make([]addressBookNode, demo.NodeCount)
	for i := range nodes {
		cert := sha512.Sum384(fmt.Append(nil, "certificate of node ", i, " version ", version))
		nodes[i] = addressBookNode{
			id: int64(i), account: demo.FirstNodeAccount + int64(i), description: demo.NodeNames[i] + " node",
			key: nodeKey(i), certHash: hex.EncodeToString(cert[:]), ip: []byte{10, 0, byte(i + 1), byte(10 + version)},
		}
		if version > 0 {
			nodes[i].domain = fmt.Sprintf("node%d.lantern-bay.example", i)
		}
	}
	return nodes
}

// nodeKey returns the RSA public key of a node as hexadecimal DER. The key has 3072 bits and no known private key:
// its modulus consists of hashes. If the key cannot be encoded, it returns an empty text.
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

// addressBookFile returns the protobuf message NodeAddressBook, the content of the files 0.0.101 and 0.0.102.
func addressBookFile(nodes []addressBookNode) []byte {
	m := message{}
	for _, n := range nodes {
		x := message(nil).text(3, fmt.Sprintf("0.0.%d", n.account)).text(4, n.key).num(5, n.id).msg(6,
			entityID(n.account)).
			text(7, n.certHash).msg(8, message(nil).bytes(1, n.ip).num(2, 50211)).msg(8,
			message(nil).bytes(1, n.ip).num(2, 50212))
		if n.domain != "" {
			x = x.msg(8, message(nil).num(2, 443).text(3, n.domain))
		}
		m = m.msg(1, x.text(9, n.description))
	}
	return m
}

// publishAddressBook adds the rows of the address book that file transaction t stores, valid from a nanosecond after
// t, and ends the previous one of the same file, unless its row has been discarded. It writes no file contents.
func (w *World) publishAddressBook(t *Transaction, nodes []addressBookNode) {
	start := t.ts + 1
	for _, r := range w.rows["address_book"] {
		if r["file_id"] == t.entity && r["end_consensus_timestamp"] == nil {
			r["end_consensus_timestamp"] = start
		}
	}
	w.rows.add("address_book", Row{
		"start_consensus_timestamp": start, "end_consensus_timestamp": nil, "file_id": t.entity,
		"node_count": len(nodes),
		"file_data":  addressBookFile(nodes),
	})
	for _, n := range nodes {
		w.rows.add("address_book_entry", Row{
			"consensus_timestamp": start, "memo": fmt.Sprintf("0.0.%d", n.account), "public_key": n.key,
			"node_id":         n.id,
			"node_account_id": n.account, "node_cert_hash": []byte(n.certHash), "description": n.description,
			"stake": 0,
		})
		endpoint := func(ip string, port int, domain string) {
			w.rows.add("address_book_service_endpoint",
				Row{
					"consensus_timestamp": start, "ip_address_v4": ip, "node_id": n.id, "port": port,
					"domain_name": domain,
				})
		}
		ip := fmt.Sprintf("%d.%d.%d.%d", n.ip[0], n.ip[1], n.ip[2], n.ip[3])
		endpoint(ip, 50211, "")
		endpoint(ip, 50212, "")
		if n.domain != "" {
			endpoint("", 443, n.domain)
		}
	}
}

// createNode creates a consensus node in a transaction of the address book's administrator, without fee. id is the
// node's number and an index of demo.NodeNames.
func (w *World) createNode(id, account int64) {
	t := w.tx(codes.TypeNodeCreate, AddressBookAdmin, account)
	t.fee = 0
	proxy := fmt.Sprintf(`{"domain_name": "proxy%d.lantern-bay.example", "ip_address_v4": "", "port": 443}`, id)
	r := Row{
		"admin_key": Ed25519Key(demo.NodeNames[id]), "created_timestamp": t.ts, "deleted": false, "node_id": id,
		"decline_reward":      id == 6,
		"grpc_proxy_endpoint": nil, "account_id": account, "associated_registered_nodes": nil,
	}
	if id%2 == 0 {
		r["grpc_proxy_endpoint"] = []byte(proxy)
	}
	w.nodes.save(t.ts, r)
	w.commit(t)
}

// RegisteredNode describes a registered node that is not a consensus node.
type RegisteredNode struct {
	Description string
	Types       []int16
	Endpoints   []Endpoint
}

// Endpoint is an endpoint of a registered node, in the format of the database: its service and its address.
type Endpoint struct {
	Block *struct {
		APIs []string `json:"endpoint_apis"`
	} `json:"block_node,omitempty"`
	General *struct {
		Description string `json:"description"`
	} `json:"general_service,omitempty"`
	Mirror  *struct{} `json:"mirror_node,omitempty"`
	Relay   *struct{} `json:"rpc_relay,omitempty"`
	Domain  string    `json:"domain_name,omitempty"`
	Address string    `json:"ip_address,omitempty"`
	Port    int       `json:"port"`
	TLS     bool      `json:"requires_tls"`
}

// RegisterNode adds a registered node with number id in a transaction that payer pays.
func (w *World) RegisterNode(payer, id int64, s RegisteredNode) {
	t := w.tx(codes.TypeRegisteredNodeCreate, payer, 0)
	w.registered.save(t.ts, Row{
		"admin_key": Ed25519Key(keyHolder(payer)), "created_timestamp": t.ts, "deleted": false,
		"description":        s.Description,
		"registered_node_id": id, "service_endpoints": jsonOf(s.Endpoints), "type": s.Types,
	})
	w.commit(t)
}

// updateRates adds an update of the exchange rates file, without fee. AdvanceTo calls it at full hours.
func (w *World) updateRates() {
	w.rateVersion++
	t := w.tx(codes.TypeFileUpdate, ExchangeRateAdmin, fileExchangeRates)
	t.fee = 0
	w.addFileData(t, fileExchangeRates, rateFile(w.rateVersion, t.ts))
	w.commit(t)
}

// Freeze adds a freeze transaction and a row of network_freeze that schedule a network upgrade in 10 minutes, from
// the freeze administrator and without fee. kind is the freeze type. The simulated network does not stop.
func (w *World) Freeze(kind int) {
	t := w.tx(codes.TypeFreeze, freezeAdmin, fileUpgrade)
	hash := sha512.Sum384([]byte("lantern bay release 2"))
	w.rows.add("network_freeze", Row{
		"consensus_timestamp": t.ts, "end_time": nil, "file_hash": hash[:], "file_id": fileUpgrade,
		"payer_account_id": freezeAdmin,
		"start_time":       t.ts + 10*Minute, "type": kind,
	})
	w.commit(t)
}

// contribution is what a node adds to the ledger ID, in the format of the database.
type contribution struct {
	Key    []byte `json:"history_proof_key"`
	Node   int    `json:"node_id"`
	Weight int    `json:"weight"`
}

// publishLedger adds a transaction and a row of ledger that publish the network's ledger ID with the proof keys of
// its nodes.
func (w *World) publishLedger() {
	t := w.tx(codes.TypeLedgerIdPublication, demo.Treasury, 0)
	t.node, t.validDuration, t.maxFee = 0, 0, 0
	list := make([]contribution, demo.NodeCount)
	for i := range list {
		list[i] = contribution{edRaw(fmt.Sprintf("history proof of node %d", i)), i, 1_000 + i}
	}
	w.rows.add("ledger", Row{
		"consensus_timestamp": t.ts, "history_proof_verification_key": Digest("verification key"),
		"ledger_id":          Digest("ledger id")[:32],
		"node_contributions": jsonOf(list),
	})
	w.commit(t)
}

// rewardRate returns the reward of a staking period in tinybars per hbar that is staked to a node.
func rewardRate(node int64) int64 { return 5_000 + node*100 }

// collect pays the pending staking reward of an account: it adds the reward to the rewards of t, removes it from the
// pending ones, and returns it in tinybars. It also sets stake_period_start in the current row of the account, and
// counts the reward in w.collected, which [World.Balance] leaves out. The balance changes at commit. Without a reward,
// and for child transactions, it returns 0 and does nothing.
func (w *World) collect(t *Transaction, id int64) int64 {
	amount := w.pending[id]
	if amount == 0 || t.nonce > 0 || t.parent != 0 {
		return 0
	}
	delete(w.pending, id)
	w.collected[id] += amount
	w.collected[demo.StakingRewards] -= amount
	w.entities.get(id)["stake_period_start"] = t.ts/Day - 1
	t.rewards = append(t.rewards, transfer{account: id, amount: amount})
	return amount
}

// endStakingPeriod adds the node stake update of the staking period that ended at midnight, and the pending rewards
// of accounts for that period. Stakes are those at the start of the next period, and replace those in w.stakeStart.
// Only the last two periods of the scenario add rows of entity_stake. Accounts that decline rewards, or were not
// staked to a node for the whole period, get no reward.
func (w *World) endStakingPeriod(midnight int64) {
	t := w.tx(codes.TypeNodeStakeUpdate, demo.Treasury, 0)
	t.node, t.validDuration, t.maxFee = 0, 0, 0
	t.ts = max(t.ts, midnight+300_000_123)
	t.validStart = t.ts - 1
	w.clock = t.ts
	epoch := midnight/Day - 1
	stakes := w.accountStakes()
	var total, reserved int64
	var rewarded, declined [demo.NodeCount]int64
	for _, r := range stakes {
		id, node, stake := r["id"].(int64), r["staked_node_id_start"].(int64), r["stake_total_start"].(int64)
		e := w.entities.get(id)
		switch {
		case node < 0:
		case e["decline_reward"] == true:
			declined[node] += stake
		default:
			rewarded[node] += stake
			if e["stake_period_start"].(int64) < epoch {
				w.pending[id] += rewardRate(node) * (w.stakeStart[id] / Hbar)
			}
		}
		total += stake
		reserved += w.pending[id]
		w.stakeStart[id] = stake
		if w.end-midnight <= 2*Day {
			maps.Copy(r, Row{"end_stake_period": epoch, "pending_reward": w.pending[id]})
			w.stakes.save(t.ts, r)
		}
	}
	for id := range int64(demo.NodeCount) {
		notRewarded := declined[id]
		if id == 6 {
			notRewarded = -1
		}
		w.rows.add("node_stake", Row{
			"consensus_timestamp": t.ts, "epoch_day": epoch, "node_id": id, "reward_rate": rewardRate(id),
			"stake":          rewarded[id] + declined[id],
			"stake_rewarded": rewarded[id], "staking_period": midnight - 1, "max_stake": 450_000_000 * Hbar,
			"min_stake":          20_000 * Hbar,
			"stake_not_rewarded": notRewarded,
		})
	}
	w.rows.add("network_stake", Row{
		"consensus_timestamp": t.ts, "epoch_day": epoch, "max_staking_reward_rate_per_hbar": 6_849,
		"node_reward_fee_denominator": 100,
		"node_reward_fee_numerator":   10, "stake_total": total, "staking_period": midnight - 1,
		"staking_period_duration": 1440,
		"staking_periods_stored":  365, "staking_reward_fee_denominator": 100, "staking_reward_fee_numerator": 10,
		"staking_reward_rate": 100_000_000_000, "staking_start_threshold": 1_000_000 * Hbar,
		"max_stake_rewarded": 6_500_000_000 * Hbar,
		"max_total_reward":   1_782_171_952_920, "reserved_staking_rewards": reserved, "reward_balance_threshold": 0,
		"unreserved_staking_reward_balance": w.balances[demo.StakingRewards] - reserved,
	})
	w.commit(t)
}

// accountStakes returns new rows of the table entity_stake, in tinybars rounded down to whole hbars, for the reward
// account and the accounts that are staked to nodes and not deleted. It does not store them.
func (w *World) accountStakes() []Row {
	var rows []Row
	toMe := map[int64]int64{}
	for _, c := range w.entities.all {
		e := c.row
		id := e["id"].(int64)
		if e["type"] != "ACCOUNT" || e["deleted"] == true {
			continue
		}
		if to, _ := e["staked_account_id"].(int64); to != 0 {
			toMe[to] += w.balances[id]
		}
		if node, _ := e["staked_node_id"].(int64); node >= 0 || id == demo.StakingRewards {
			rows = append(rows, Row{"id": id, "staked_node_id_start": node, "stake_total_start": int64(0)})
		}
	}
	for _, r := range rows {
		id := r["id"].(int64)
		r["staked_to_me"] = toMe[id] / Hbar * Hbar
		if id != demo.StakingRewards {
			r["stake_total_start"] = (w.balances[id] + toMe[id]) / Hbar * Hbar
		}
	}
	return rows
}

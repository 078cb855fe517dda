package world

import (
	"maps"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// rewardRate returns the reward of a staking period in tinybars per hbar that is staked to a node.
func rewardRate(node int64) int64 { return 5_000 + node*100 }

// collect adds the pending staking reward of an account to a transaction and returns it. Children pay no rewards.
func (w *World) collect(t *Transaction, id int64) int64 {
	amount := w.pending[id]
	if amount == 0 || t.nonce > 0 || t.parent != 0 {
		return 0
	}
	delete(w.pending, id)
	w.collected[id] += amount
	w.collected[demo.StakingRewards] -= amount
	w.entities.get(key(id))["stake_period_start"] = t.ts/Day - 1
	t.rewards = append(t.rewards, transfer{account: id, amount: amount})
	return amount
}

// endStakingPeriod adds the node stake update of the staking period that ended at midnight. Stakes are those at the start of the next period. The last two
// periods of the scenario have the stakes of accounts.
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
		e := w.entities.get(key(id))
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
			w.stakes.put(key(id), t.ts, r)
		}
	}
	for id := range int64(demo.NodeCount) {
		notRewarded := declined[id]
		if id == 6 {
			notRewarded = -1
		}
		w.rows.add("node_stake", Row{
			"consensus_timestamp": t.ts, "epoch_day": epoch, "node_id": id, "reward_rate": rewardRate(id), "stake": rewarded[id] + declined[id],
			"stake_rewarded": rewarded[id], "staking_period": midnight - 1, "max_stake": 450_000_000 * Hbar, "min_stake": 20_000 * Hbar,
			"stake_not_rewarded": notRewarded,
		})
	}
	w.rows.add("network_stake", Row{
		"consensus_timestamp": t.ts, "epoch_day": epoch, "max_staking_reward_rate_per_hbar": 6_849, "node_reward_fee_denominator": 100,
		"node_reward_fee_numerator": 10, "stake_total": total, "staking_period": midnight - 1, "staking_period_duration": 1440,
		"staking_periods_stored": 365, "staking_reward_fee_denominator": 100, "staking_reward_fee_numerator": 10,
		"staking_reward_rate": 100_000_000_000, "staking_start_threshold": 1_000_000 * Hbar, "max_stake_rewarded": 6_500_000_000 * Hbar,
		"max_total_reward": 1_782_171_952_920, "reserved_staking_rewards": reserved, "reward_balance_threshold": 0,
		"unreserved_staking_reward_balance": w.balances[demo.StakingRewards] - reserved,
	})
	w.commit(t)
}

// accountStakes returns rows of the table entity_stake for the reward account and the accounts that are staked to nodes.
func (w *World) accountStakes() []Row {
	var rows []Row
	toMe := map[int64]int64{}
	for _, k := range w.entities.order {
		e := w.entities.get(k)
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

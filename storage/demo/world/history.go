package world

import (
	"cmp"
	"slices"

	"heliograph/internal/domain/ledger/codes"
)

// Finish writes the blocks and transactions, and the current rows of all tables.
func (w *World) Finish() {
	w.snapshot()
	w.writeHistory()
	w.writeEntities()
	w.writeContracts()
	w.writeSchedules()
	w.writeReconciliation()
	for _, k := range w.lookupOrder {
		w.rows.add("topic_message_lookup", w.lookups[k])
	}
	for _, v := range w.versioned() {
		v.flush()
	}
}

// writeHistory writes the blocks and rows of the transactions so far.
func (w *World) writeHistory() {
	slices.SortFunc(w.transactions, func(a, b *Transaction) int { return cmp.Compare(a.ts, b.ts) })
	w.writeBlocks()
	for _, t := range w.transactions {
		w.writeTransaction(t)
	}
	w.noteLookups()
}

// versioned returns the tables with history.
func (w *World) versioned() []*versions {
	return []*versions{
		w.entities, w.tokens, w.associations, w.nfts, w.fees, w.cryptoAllowances, w.tokenAllowances, w.nftAllowances, w.airdrops,
		w.topics, w.nodes, w.registered, w.hooks, w.stakes,
	}
}

// writeTransaction writes a transaction with its transfers.
func (w *World) writeTransaction(t *Transaction) {
	nftTransfers := make([]map[string]any, len(t.nftMoves))
	for i, m := range t.nftMoves {
		nftTransfers[i] = map[string]any{
			"is_approval": m.approval, "receiver_account_id": nullIfZero(m.receiver), "sender_account_id": nullIfZero(m.sender),
			"serial_number": m.serial, "token_id": m.token,
		}
	}
	r := Row{
		"consensus_timestamp": t.ts, "type": int(t.kind), "result": int(t.result), "payer_account_id": t.payer, "valid_start_ns": t.validStart,
		"valid_duration_seconds": nullIfZero(t.validDuration), "node_account_id": nullIfZero(t.node), "entity_id": nullIfZero(t.entity),
		"initial_balance": t.initialBalance, "max_fee": nullIfZero(t.maxFee), "charged_tx_fee": t.fee, "memo": []byte(t.memo),
		"transaction_hash": t.hash, "scheduled": t.scheduled, "nonce": t.nonce,
		"parent_consensus_timestamp": nullIfZero(t.parent), "index": t.index, "nft_transfer": jsonOf(nftTransfers),
		"max_custom_fees": nullIfEmpty(t.maxCustomFees), "batch_key": t.batchKey, "inner_transactions": nullIfEmpty(t.inner),
		"high_volume": t.highVolume, "high_volume_pricing_multiplier": t.highVolumeMultiplier,
	}
	w.rows.add("transaction", r)
	if t.kind != codes.TypeConsensusSubmitMessage || t.logs > 0 {
		w.rows.add("transaction_hash", Row{"consensus_timestamp": t.ts, "hash": t.hash[:32], "hash_suffix": t.hash[32:], "payer_account_id": t.payer})
	}
	if t.ethereumHash != nil {
		w.rows.add("transaction_hash", Row{"consensus_timestamp": t.ts, "hash": t.ethereumHash, "payer_account_id": t.payer})
	}
	parties := append([]int64{t.entity}, t.parties...)
	for _, m := range t.transfers {
		w.rows.add("crypto_transfer", Row{
			"entity_id": m.account, "consensus_timestamp": t.ts, "amount": m.amount, "payer_account_id": t.payer,
			"is_approval": m.approval,
		})
	}
	for _, m := range t.tokenMoves {
		w.rows.add("token_transfer", Row{
			"token_id": m.token, "account_id": m.account, "consensus_timestamp": t.ts, "amount": m.amount,
			"payer_account_id": t.payer, "is_approval": m.approval,
		})
	}
	for _, m := range t.nftMoves {
		parties = append(parties, m.sender, m.receiver)
	}
	for _, a := range t.assessed {
		w.rows.add("assessed_custom_fee", Row{
			"amount": a.amount, "collector_account_id": a.collector, "consensus_timestamp": t.ts,
			"token_id": nullIfZero(a.token), "effective_payer_account_ids": a.payers, "payer_account_id": t.payer,
		})
	}
	for _, m := range t.rewards {
		w.rows.add("staking_reward_transfer", Row{"account_id": m.account, "amount": m.amount, "consensus_timestamp": t.ts, "payer_account_id": t.payer})
	}
	slices.Sort(parties)
	for _, id := range slices.Compact(parties) {
		if id != 0 {
			w.rows.add("entity_transaction", Row{
				"consensus_timestamp": t.ts, "entity_id": id, "payer_account_id": t.payer, "result": int(t.result), "type": int(t.kind),
			})
		}
	}
}

// AddBlock adds a block that ends at a consensus time to a finished network. It contains automatic transactions, the transactions of events, and the
// single transaction of last, which ends the block.
func (w *World) AddBlock(end int64, events, last func()) {
	w.end = end
	w.AdvanceTo(end - BlockTime + 40_000_000)
	events()
	w.At(end, last)
	if end%snapshotEvery == 0 && end-w.snapshots.last >= snapshotEvery {
		w.snapshot()
	}
	w.writeHistory()
}

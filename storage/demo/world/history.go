package world

import (
	"cmp"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// Finish completes the scenario: it takes a balance snapshot, copies the balances and the nonces of contracts into the
// rows of entities, and adds the rows of blocks, transactions and the reconciliation, and the current rows of all
// versioned tables, to [World.Rows]. It stores nothing in a database. Call it once.
func (w *World) Finish() {
	w.snapshot()
	w.writeHistory()
	w.writeEntities()
	w.setNonces()
	w.writeReconciliation()
	for _, v := range w.versioned() {
		v.flush()
	}
}

// writeHistory sorts the transactions so far and adds the rows of blocks, transactions and topic message lookups.
// [World.DiscardRows] must follow before the next call.
func (w *World) writeHistory() {
	slices.SortFunc(w.transactions, func(a, b *Transaction) int { return cmp.Compare(a.ts, b.ts) })
	w.writeBlocks()
	for _, t := range w.transactions {
		w.writeTransaction(t)
	}
	w.noteLookups()
}

// versioned returns the tables whose rows change: those of which World keeps the current rows by key.
func (w *World) versioned() []*versions {
	return []*versions{
		w.entities, w.tokens, w.associations, w.nfts, w.fees, w.cryptoAllowances, w.tokenAllowances, w.nftAllowances,
		w.airdrops,
		w.topics, w.nodes, w.registered, w.hooks, w.stakes, w.contracts, w.slots, w.schedules, w.hookSlots, w.lookups,
	}
}

// writeTransaction adds the rows of a transaction: itself, its hashes, transfers, fees and rewards, and the accounts
// that it concerns. A message to a topic has no row of transaction_hash unless it has logs.
func (w *World) writeTransaction(t *Transaction) {
	r := Row{
		"consensus_timestamp": t.ts, "type": int(t.kind), "result": int(t.result), "payer_account_id": t.payer,
		"valid_start_ns":         t.validStart,
		"valid_duration_seconds": nullIfZero(t.validDuration), "node_account_id": nullIfZero(t.node),
		"entity_id":       nullIfZero(t.entity),
		"initial_balance": t.initialBalance, "max_fee": nullIfZero(t.maxFee), "charged_tx_fee": t.fee,
		"memo":             []byte(t.memo),
		"transaction_hash": t.hash, "scheduled": t.scheduled, "nonce": t.nonce,
		"parent_consensus_timestamp": nullIfZero(t.parent), "index": t.index, "nft_transfer": jsonOf(t.nftMoves),
		"max_custom_fees": nullIfEmpty(t.maxCustomFees), "batch_key": t.batchKey,
		"inner_transactions": nullIfEmpty(t.inner),
		"high_volume":        t.highVolume, "high_volume_pricing_multiplier": t.highVolumeMultiplier,
	}
	w.rows.add("transaction", r)
	if t.kind != codes.TypeConsensusSubmitMessage || t.logs > 0 {
		w.rows.add("transaction_hash", Row{
			"consensus_timestamp": t.ts, "hash": t.hash[:32],
			"hash_suffix": t.hash[32:], "payer_account_id": t.payer,
		})
	}
	if t.ethereumHash != nil {
		w.rows.add("transaction_hash", Row{
			"consensus_timestamp": t.ts, "hash": t.ethereumHash,
			"payer_account_id": t.payer,
		})
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
		parties = append(parties, int64(m.Sender), int64(m.Receiver))
	}
	for _, a := range t.assessed {
		w.rows.add("assessed_custom_fee", Row{
			"amount": a.amount, "collector_account_id": a.collector, "consensus_timestamp": t.ts,
			"token_id": nullIfZero(a.token), "effective_payer_account_ids": a.payers, "payer_account_id": t.payer,
		})
	}
	for _, m := range t.rewards {
		w.rows.add("staking_reward_transfer", Row{
			"account_id": m.account, "amount": m.amount,
			"consensus_timestamp": t.ts, "payer_account_id": t.payer,
		})
	}
	slices.Sort(parties)
	for _, id := range slices.Compact(parties) {
		if id != 0 {
			w.rows.add("entity_transaction", Row{
				"consensus_timestamp": t.ts, "entity_id": id, "payer_account_id": t.payer, "result": int(t.result),
				"type": int(t.kind),
			})
		}
	}
}

// AddBlock adds a block that ends at consensus time end to a finished network, and moves [World.End] to that time. It
// contains automatic transactions, the transactions of events, and the single transaction of last, which ends the
// block. It adds a balance snapshot if one is due. The rows of the block before must have been discarded with
// [World.DiscardRows]. The current rows of versioned tables are not added; see [World.CurrentRows].
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

// pragueFor is the time before the load from which the blocks have a version of the network whose EVM is at the level
// of Prague.
const pragueFor = 20 * Day

// blockWindow returns the number of the two-second window that contains ts, counted back from the end of the
// scenario. A block consists of the transactions of one window.
func (w *World) blockWindow(ts int64) int64 { return (w.end - ts) / BlockTime }

// chain is the end of the block chain.
type chain struct {
	next int64  // its number
	last string // hash of the block before it, zeros before block 0
}

// writeBlocks divides w.transactions, which must be in order, into blocks. It appends their rows to the tables in
// memory, sets the index of each transaction in its block, and advances w.chain.
func (w *World) writeBlocks() {
	for start := 0; start < len(w.transactions); w.chain.next++ {
		end := start
		for end < len(w.transactions) &&
			w.blockWindow(w.transactions[end].ts) == w.blockWindow(w.transactions[start].ts) {
			end++
		}
		w.chain.last = w.writeBlock(w.chain.next, w.chain.last, w.transactions[start:end])
		start = end
	}
}

// writeBlock adds the row of a block to record_file and returns its hash. txs are its transactions in order, at least
// one. It sets the index of each transaction, and the hash and index columns of their contract rows. The version of
// the network depends on the time from the block to the end of the scenario.
func (w *World) writeBlock(number int64, previous string, txs []*Transaction) string {
	from, to := txs[0].ts, txs[len(txs)-1].ts
	hasher := sha512.New384()
	hasher.Write([]byte(previous))
	var gas, evmIndex, size int64
	var bloom []byte
	sidecars := 0
	for i, t := range txs {
		t.index = i
		hasher.Write(t.hash)
		gas += t.gasUsed
		bloom = mergeBloom(bloom, t.bloom)
		sidecars += t.sidecars
		size += 420 + int64(len(t.transfers))*40 + int64(len(t.memo))
		if len(t.evmRows) == 0 {
			continue
		}
		for _, r := range t.evmRows {
			r["transaction_hash"], r["transaction_index"] = t.evmHash(), evmIndex
		}
		evmIndex++
	}
	hash := hex.EncodeToString(hasher.Sum(nil))
	file := sha512.Sum384([]byte("file " + hash))
	minor := 72
	switch age := w.end - to; {
	case age < pragueFor:
		minor = 77
	case age < 60*Day:
		minor = 75
	}
	name := streamTime(from) + ".rcd.gz"
	r := Row{
		"name": name, "load_start": to/Second + 2, "load_end": to/Second + 2, "hash": hash, "prev_hash": previous,
		"consensus_start": from, "consensus_end": to, "count": len(txs), "digest_algorithm": 0,
		"hapi_version_major": 0,
		"hapi_version_minor": minor, "hapi_version_patch": 1, "version": 6, "file_hash": hex.EncodeToString(file[:]),
		"bytes": nil,
		"index": number, "gas_used": gas, "logs_bloom": present(bloom), "size": size, "sidecar_count": min(sidecars, 1),
		"software_version_major": 0, "software_version_minor": minor, "software_version_patch": 1,
		"round_start": number*3 + 1, "round_end": number*3 + 3,
	}
	if minor >= 77 { // older importers stored none
		root := types.EmptyReceiptsHash
		if evmIndex > 0 {
			root = crypto.Keccak256Hash([]byte("receipts " + hash))
		}
		r["receipts_root"] = root[:]
	}
	w.rows.add("record_file", r)
	if sidecars > 0 {
		digest := sha512.Sum384([]byte("sidecar " + hash))
		w.rows.add("sidecar_file", Row{
			"bytes": nil, "count": sidecars, "consensus_end": to, "hash_algorithm": 0, "hash": digest[:], "id": 1,
			"name": streamTime(from) + "_01.rcd.gz", "size": 900 * sidecars, "types": []int32{1, 2, 3},
		})
	}
	return hash
}

// snapshotEvery is the interval of balance snapshots of a live network.
const snapshotEvery = 15 * Minute

// snapshots tracks which balances changed since the last balance snapshot.
type snapshots struct {
	hbar  map[int64]bool
	token map[[2]int64]bool
	month string
	last  int64
}

// reset empties the sets of accounts and tokens whose balances have changed since the last snapshot.
func (s *snapshots) reset() { s.hbar, s.token = map[int64]bool{}, map[[2]int64]bool{} }

// snapshot adds the rows of a balance snapshot at the current time, which must be the end of a block. The first
// snapshot of a calendar month is complete. Others contain the treasury and the balances that have changed since the
// last one. It then marks all balances as unchanged.
func (w *World) snapshot() {
	ts, s := w.clock, &w.snapshots
	month := time.Unix(0, ts).UTC().Format("2006-01")
	full := month != s.month
	var accounts []int64
	for id := range w.balances {
		if full || s.hbar[id] || id == demo.Treasury {
			accounts = append(accounts, id)
		}
	}
	slices.Sort(accounts)
	for _, id := range accounts {
		w.rows.add("account_balance", Row{"consensus_timestamp": ts, "balance": w.balances[id], "account_id": id})
	}
	for _, c := range w.associations.all {
		r := c.row
		account, token := r["account_id"].(int64), r["token_id"].(int64)
		if (full && r["associated"] == true) || (!full && s.token[[2]int64{account, token}]) {
			w.rows.add("token_balance", Row{
				"consensus_timestamp": ts, "account_id": account, "balance": r["balance"],
				"token_id": token,
			})
		}
	}
	w.rows.add("account_balance_file", Row{
		"consensus_timestamp": ts, "count": len(accounts), "load_start": ts/Second + 5, "load_end": ts/Second + 6,
		"file_hash": nil,
		"name":      streamTime(ts) + "_Balances.pb.gz", "bytes": nil, "time_offset": 0, "synthetic": true,
	})
	s.reset()
	s.month, s.last = month, ts
}

// streamTime returns a time in nanoseconds in the format of the names of stream files.
func streamTime(ts int64) string {
	return time.Unix(0, ts).UTC().Format("2006-01-02T15_04_05") + fmt.Sprintf(".%09dZ", ts%Second)
}

// writeReconciliation adds three rows of reconciliation_job: successful comparisons of balances on the last three
// days.
func (w *World) writeReconciliation() {
	for i := int64(3); i > 0; i-- {
		at := time.Unix(0, w.end-i*Day).UTC().Truncate(time.Hour)
		w.rows.add("reconciliation_job", Row{
			"consensus_timestamp": at.UnixNano(), "count": 24, "error": "", "timestamp_start": at,
			"timestamp_end": at.Add(time.Minute), "status": 1,
		})
	}
}

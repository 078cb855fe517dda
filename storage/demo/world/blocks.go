package world

import (
	"crypto/sha512"
	"encoding/hex"
	"strings"
)

// blockWindow returns the number of the two-second window of a time, counted back from the end.
func (w *World) blockWindow(ts int64) int64 { return (w.end - ts) / BlockTime }

// chain is the end of the block chain.
type chain struct {
	next int64  // its number
	last string // hash of the block before it
}

// newChain returns a chain without blocks. The previous hash of block 0 consists of zeros.
func newChain() chain { return chain{last: strings.Repeat("0", 96)} }

// writeBlocks groups the transactions, which must be in order, into blocks and sets their indexes.
func (w *World) writeBlocks() {
	for start := 0; start < len(w.transactions); w.chain.next++ {
		end := start
		for end < len(w.transactions) && w.blockWindow(w.transactions[end].ts) == w.blockWindow(w.transactions[start].ts) {
			end++
		}
		w.chain.last = w.writeBlock(w.chain.next, w.chain.last, w.transactions[start:end])
		start = end
	}
}

func (w *World) writeBlock(number int64, previous string, txs []*Transaction) string {
	from, to := txs[0].ts, txs[len(txs)-1].ts
	hasher := sha512.New384()
	hasher.Write([]byte(previous))
	var gas, evmIndex, size int64
	var bloom []byte
	sidecars := 0
	for i, t := range txs {
		t.index = i
		if !t.detached {
			hasher.Write(t.hash)
		}
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
	if bloom == nil {
		bloom = []byte{}
	}
	minor := 72
	if w.end-to < 60*Day {
		minor = 75
	}
	name := streamTime(from) + ".rcd.gz"
	r := Row{
		"name": name, "load_start": to/Second + 2, "load_end": to/Second + 2, "hash": hash, "prev_hash": previous,
		"consensus_start": from, "consensus_end": to, "count": len(txs), "digest_algorithm": 0, "hapi_version_major": 0,
		"hapi_version_minor": minor, "hapi_version_patch": 1, "version": 6, "file_hash": hex.EncodeToString(file[:]), "bytes": nil,
		"index": number, "gas_used": gas, "logs_bloom": bloom, "size": size, "sidecar_count": min(sidecars, 1),
		"software_version_major": 0, "software_version_minor": minor, "software_version_patch": 1,
		"round_start": number*3 + 1, "round_end": number*3 + 3,
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

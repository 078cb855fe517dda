package world

import (
	"fmt"
	"slices"
	"time"

	"heliograph/storage/demo"
)

// snapshotEvery is the interval of balance snapshots of a live network.
const snapshotEvery = 15 * Minute

// snapshots tracks which balances changed since the last balance snapshot.
type snapshots struct {
	hbar  map[int64]bool
	token map[[2]int64]bool
	month string
	last  int64
}

func (s *snapshots) reset() { s.hbar, s.token = map[int64]bool{}, map[[2]int64]bool{} }

// snapshot writes the current balances. The clock must be at the end of a block. The first snapshot of a calendar month is complete. Others contain the
// treasury and the changed balances.
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
	for _, k := range w.associations.order {
		r := w.associations.get(k)
		account, token := r["account_id"].(int64), r["token_id"].(int64)
		if (full && r["associated"] == true) || (!full && s.token[[2]int64{account, token}]) {
			w.rows.add("token_balance", Row{"consensus_timestamp": ts, "account_id": account, "balance": r["balance"], "token_id": token})
		}
	}
	w.rows.add("account_balance_file", Row{
		"consensus_timestamp": ts, "count": len(accounts), "load_start": ts/Second + 5, "load_end": ts/Second + 6, "file_hash": nil,
		"name": streamTime(ts) + "_Balances.pb.gz", "bytes": nil, "time_offset": 0, "synthetic": true,
	})
	s.reset()
	s.month, s.last = month, ts
}

// streamTime returns a time in the format of stream file names.
func streamTime(ts int64) string {
	return time.Unix(0, ts).UTC().Format("2006-01-02T15_04_05") + fmt.Sprintf(".%09dZ", ts%Second)
}

// writeReconciliation writes the last reconciliation jobs.
func (w *World) writeReconciliation() {
	for i := int64(3); i > 0; i-- {
		at := time.Unix(0, w.end-i*Day).UTC().Truncate(time.Hour)
		w.rows.add("reconciliation_job", Row{
			"consensus_timestamp": at.UnixNano(), "count": 24, "error": "", "timestamp_start": at, "timestamp_end": at.Add(time.Minute), "status": 1,
		})
	}
}

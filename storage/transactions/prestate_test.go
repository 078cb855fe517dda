package transactions

import (
	"slices"
	"strconv"
	"testing"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/demo/demotest"
	"heliograph/storage/pgtest"
)

// TestTouchedSharesNothing reads what transactions that create accounts touched, for rows that other readers of the
// operation share: the memory after their created contracts must not change.
func TestTouchedSharesNothing(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(t.Context(),
		storage.Options{PoolOptions: storage.PoolOptions{URL: pgtest.Pooled(t, demotest.Network.Shared(t))}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var times []int64
	read(t, db, `select t.consensus_timestamp from transaction t
join transaction c on c.payer_account_id = t.payer_account_id and c.valid_start_ns = t.valid_start_ns
where c.nonce > t.nonce and c.type = 11 and c.result = 22 and c.entity_id is not null and coalesce(c.parent_consensus_timestamp, t.consensus_timestamp) = t.consensus_timestamp
limit 5`,
		func(v int64) { times = append(times, v) })
	if times == nil {
		t.Fatal("no transaction creates an account")
	}
	for _, at := range times {
		var payer ledger.EntityID
		read(t, db, "select payer_account_id from transaction where consensus_timestamp = "+strconv.FormatInt(at, 10),
			func(v int64) { payer = ledger.EntityID(v) })
		ids := []ledger.EntityID{1, 2, 3}
		r := &ledger.ContractResult{
			ConsensusTimestamp: ledger.Timestamp(at), PayerAccountID: payer, CreatedContractIDs: ids[:1],
		}
		touched, err := ReadTouched(t.Context(), db, r, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(touched.Created) < 2 || touched.Created[0] != 1 {
			t.Errorf("at %d: %v were created", at, touched.Created)
		}
		if !slices.Equal(ids, []ledger.EntityID{1, 2, 3}) {
			t.Errorf("at %d: the created contracts are followed by %v", at, ids[1:])
		}
	}
}

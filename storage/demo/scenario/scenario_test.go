package scenario

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

// noon is the time at which the tests end the scenario.
var noon = time.Date(2026, 5, 17, 12, 34, 56, 789, time.UTC)

// TestEthereumTransactionsAreSigned decodes the raw transactions: hash, signer and contents are those of the other
// columns.
func TestEthereumTransactionsAreSigned(t *testing.T) {
	t.Parallel()
	w, err := New(noon.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	senders := map[int64]int64{} // by time
	for _, r := range w.Rows("contract_result") {
		if id, ok := r["sender_id"].(int64); ok {
			senders[r["consensus_timestamp"].(int64)] = id
		}
	}
	nonces := map[common.Address]uint64{}
	for _, r := range w.Rows("ethereum_transaction") {
		var x types.Transaction
		if err := x.UnmarshalBinary(r["data"].([]byte)); err != nil {
			t.Fatal(err)
		}
		if hash := x.Hash(); !bytes.Equal(hash[:], r["hash"].([]byte)) {
			t.Errorf("hash %x, want %s", r["hash"], hash)
		}
		signer, err := types.Sender(types.LatestSignerForChainID(big.NewInt(world.ChainID)), &x)
		if err != nil {
			t.Fatal(err)
		}
		ts := r["consensus_timestamp"].(int64)
		if id, ok := senders[ts]; ok && w.Address(id) != signer {
			t.Errorf("signed by %s, sent by 0.0.%d", signer, id)
		}
		if int64(x.Nonce()) != r["nonce"] || int(x.Type()) != r["type"] || int64(x.Gas()) != r["gas_limit"] {
			t.Errorf("columns of %s differ from the transaction", x.Hash())
		}
		if x.Nonce() == 9_999 {
			continue // the one that was refused
		}
		if x.Nonce() != nonces[signer] {
			t.Errorf("nonce %d of %s, want %d", x.Nonce(), signer, nonces[signer])
		}
		nonces[signer]++
	}
	found := 0
	for _, e := range w.Rows("entity") {
		if n, ok := nonces[w.Address(e["id"].(int64))]; ok {
			found++
			if e["ethereum_nonce"] != int64(n) {
				t.Errorf("0.0.%d has nonce %v, want %d", e["id"], e["ethereum_nonce"], n)
			}
		}
	}
	if found != len(nonces) || found == 0 {
		t.Errorf("%d of %d senders are entities", found, len(nonces))
	}
}

// TestRunningHashes chains the messages again.
func TestRunningHashes(t *testing.T) {
	t.Parallel()
	w, err := New(noon.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	last := map[int64][]byte{}
	for _, r := range w.Rows("topic_message") {
		topic := r["topic_id"].(int64)
		if last[topic] == nil {
			last[topic] = make([]byte, 48)
		}
		last[topic] = world.RunningHash(last[topic], r["payer_account_id"].(int64), topic,
			r["consensus_timestamp"].(int64), r["sequence_number"].(int64), r["message"].([]byte))
		if !bytes.Equal(last[topic], r["running_hash"].([]byte)) {
			t.Errorf("message %d of 0.0.%d breaks the chain", r["sequence_number"], topic)
		}
	}
	if len(last) != 10 {
		t.Errorf("%d topics have messages", len(last))
	}
}

// TestFilesOfContracts joins the pieces of a contract's file: they are the initcode in hexadecimal.
func TestFilesOfContracts(t *testing.T) {
	t.Parallel()
	w, err := New(noon.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	var file any
	for _, r := range w.Rows("contract") {
		if r["id"] == int64(demo.HarbourCoin) {
			file = r["file_id"]
		}
	}
	for _, r := range w.Rows("file_data") {
		if r["entity_id"] == file {
			text = append(text, r["file_data"].([]byte)...)
		}
	}
	if want := common.Bytes2Hex(w.Initcode("HarbourCoin", big.NewInt(100_000_000),
		w.Address(demo.Alice))); string(text) != want {
		t.Errorf("the file has %d digits, want %d", len(text), len(want))
	}
}

// TestTimeChangesTimesOnly compares what two stories at different times say apart from times.
func TestTimeChangesTimesOnly(t *testing.T) {
	t.Parallel()
	lines := func(now time.Time) map[string][]string {
		w, err := New(now.UnixNano())
		if err != nil {
			t.Fatal(err)
		}
		out := map[string][]string{}
		for table, columns := range map[string][]string{
			"entity":         {"id", "type", "memo", "key", "evm_address", "deleted"},
			"token":          {"token_id", "name", "total_supply"},
			"token_account":  {"account_id", "token_id", "balance"},
			"topic_message":  {"topic_id", "sequence_number", "message"},
			"contract_state": {"contract_id", "slot", "value"}, "ethereum_transaction": {"hash", "nonce"},
			"nft":      {"token_id", "serial_number", "account_id"},
			"schedule": {"schedule_id", "transaction_body"}, "hook_storage": {"key", "value"},
		} {
			for _, r := range w.Rows(table) {
				values := make([]any, len(columns))
				for i, c := range columns {
					values[i] = r[c]
				}
				out[table] = append(out[table], fmt.Sprint(values))
			}
		}
		for _, e := range w.Rows("entity") { // rewards depend on the time of day
			out["balance"] = append(out["balance"], fmt.Sprint(e["id"], w.Balance(e["id"].(int64))))
		}
		for _, x := range w.Rows("transaction") {
			if x["type"] != int(codes.TypeNodeStakeUpdate) && x["payer_account_id"] != int64(world.ExchangeRateAdmin) {
				out["transaction"] = append(out["transaction"],
					fmt.Sprint(x["type"], x["payer_account_id"], x["entity_id"], x["charged_tx_fee"], x["memo"],
						x["result"], x["node_account_id"]))
			}
		}
		return out
	}
	a, b := lines(noon), lines(noon.Add(19*24*time.Hour+5*time.Hour+7*time.Minute))
	for table := range a {
		if len(a[table]) != len(b[table]) || len(a[table]) == 0 {
			t.Errorf("%s: %d and %d rows", table, len(a[table]), len(b[table]))
			continue
		}
		for i := range a[table] {
			if a[table][i] != b[table][i] {
				t.Errorf("%s differs: %s, later %s", table, a[table][i], b[table][i])
				break
			}
		}
	}
}

// TestStorageIsTheMachines compares the stored slots with what the EVM has at the end of the story.
func TestStorageIsTheMachines(t *testing.T) {
	t.Parallel()
	w, err := New(noon.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Rows("contract_state")) < 100 {
		t.Fatalf("only %d slots", len(w.Rows("contract_state")))
	}
	for _, r := range w.Rows("contract_state") {
		id, slot := r["contract_id"].(int64), common.BytesToHash(r["slot"].([]byte))
		if got, want := common.BytesToHash(r["value"].([]byte)), w.Storage(id, slot); got != want {
			t.Errorf("slot %s of 0.0.%d is %s, the EVM has %s", slot, id, got, want)
		}
	}
	for _, r := range w.Rows("contract") {
		id := r["id"].(int64)
		if got, want := r["runtime_bytecode"].([]byte), w.Code(id); len(want) == 0 || !bytes.Equal(got, want) {
			t.Errorf("0.0.%d has %d bytes of code, the EVM %d", id, len(got), len(want))
		}
	}
}

// TestLiveForDays simulates days of the live demo network in memory. No account runs out of funds, and the data stays
// consistent.
func TestLiveForDays(t *testing.T) {
	t.Parallel()
	w, err := New(noon.UnixNano() / world.Second * world.Second)
	if err != nil {
		t.Fatal(err)
	}
	w.DiscardRows()
	end := noon.Truncate(2 * time.Second)
	for i := range 3_000 {
		w.Continue(end.Add(time.Duration(i) * time.Minute).UnixNano())
		w.DiscardRows()
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
}

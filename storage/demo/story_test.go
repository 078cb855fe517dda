package demo

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestEthereumTransactionsAreSigned decodes the raw transactions: hash, signer and contents are those of the other columns.
func TestEthereumTransactionsAreSigned(t *testing.T) {
	t.Parallel()
	w, err := tell(noon.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	senders := map[int64]int64{} // by time
	for _, r := range w.out["contract_result"] {
		if id, ok := r["sender_id"].(int64); ok {
			senders[r["consensus_timestamp"].(int64)] = id
		}
	}
	nonces := map[common.Address]uint64{}
	for _, r := range w.out["ethereum_transaction"] {
		var x types.Transaction
		if err := x.UnmarshalBinary(r["data"].([]byte)); err != nil {
			t.Fatal(err)
		}
		if hash := x.Hash(); !bytes.Equal(hash[:], r["hash"].([]byte)) {
			t.Errorf("hash %x, want %s", r["hash"], hash)
		}
		signer, err := types.Sender(types.LatestSignerForChainID(big.NewInt(chainID)), &x)
		if err != nil {
			t.Fatal(err)
		}
		ts := r["consensus_timestamp"].(int64)
		if id, ok := senders[ts]; ok && w.address(id) != signer {
			t.Errorf("signed by %s, sent by 0.0.%d", signer, id)
		}
		if int64(x.Nonce()) != r["nonce"] || int(x.Type()) != r["type"] || int64(x.Gas()) != r["gas_limit"] {
			t.Errorf("columns of %s differ from the transaction", x.Hash())
		}
		if x.Nonce() == 99 {
			continue // the one that was refused
		}
		if x.Nonce() != nonces[signer] {
			t.Errorf("nonce %d of %s, want %d", x.Nonce(), signer, nonces[signer])
		}
		nonces[signer]++
	}
	for a, n := range nonces {
		if e := w.entities.get(key(w.idOf(a))); e["ethereum_nonce"] != int64(n) {
			t.Errorf("the account of %s has nonce %v, want %d", a, e["ethereum_nonce"], n)
		}
	}
}

// TestRunningHashes chains the messages again.
func TestRunningHashes(t *testing.T) {
	t.Parallel()
	w, err := tell(noon.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	last := map[int64][]byte{}
	for _, r := range w.out["topic_message"] {
		topic := r["topic_id"].(int64)
		if last[topic] == nil {
			last[topic] = make([]byte, 48)
		}
		last[topic] = runningHash(last[topic], r["payer_account_id"].(int64), topic, r["consensus_timestamp"].(int64), r["sequence_number"].(int64), r["message"].([]byte))
		if !bytes.Equal(last[topic], r["running_hash"].([]byte)) {
			t.Errorf("message %d of 0.0.%d breaks the chain", r["sequence_number"], topic)
		}
	}
	if len(last) != 6 {
		t.Errorf("%d topics have messages", len(last))
	}
}

// TestFilesOfContracts joins the pieces of a contract's file: they are the initcode in hexadecimal.
func TestFilesOfContracts(t *testing.T) {
	t.Parallel()
	w, err := tell(noon.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, r := range w.out["file_data"] {
		if r["entity_id"] == w.contracts[HarbourCoin]["file_id"] {
			text = append(text, r["file_data"].([]byte)...)
		}
	}
	if want := common.Bytes2Hex(w.initcode("HarbourCoin", bigInt(100_000_000), w.address(Alice))); string(text) != want {
		t.Errorf("the file has %d digits, want %d", len(text), len(want))
	}
}

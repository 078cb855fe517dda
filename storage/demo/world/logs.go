package world

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"

	"github.com/ethereum/go-ethereum/crypto"
)

var (
	topicTransfer = crypto.Keccak256([]byte("Transfer(address,address,uint256)"))
	topicApproval = crypto.Keccak256([]byte("Approval(address,address,uint256)"))
)

// trim removes leading zero bytes, as the database stores topics and slots.
func trim(b []byte) []byte {
	b = bytes.TrimLeft(b, "\x00")
	if b == nil {
		return []byte{}
	}
	return b
}

func number(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// topicAddress returns the address of an account as a log topic. 0 is the zero address of mints and burns.
func (w *World) topicAddress(id int64) []byte {
	if id == 0 {
		return []byte{}
	}
	a := w.Address(id)
	return trim(a[:])
}

// addTransferLog adds the synthetic log of a fungible token transfer outside of the EVM.
func (w *World) addTransferLog(t *Transaction, token, from, to, amount int64) {
	w.addTokenLog(t, token, topicTransfer, w.topicAddress(from), w.topicAddress(to), nil, trim(number(amount)), true)
}

// addNFTTransferLog adds the log of an NFT transfer. Only logs of fungible transfers are marked as synthetic.
func (w *World) addNFTTransferLog(t *Transaction, token, from, to, serial int64) {
	w.addTokenLog(t, token, topicTransfer, w.topicAddress(from), w.topicAddress(to), trim(number(serial)), []byte{}, false)
}

func (w *World) addApprovalLog(t *Transaction, token, owner, spender, amount int64) {
	w.addTokenLog(t, token, topicApproval, w.topicAddress(owner), w.topicAddress(spender), nil, trim(number(amount)), false)
}

func (w *World) addTokenLog(t *Transaction, token int64, topic, from, to, serial, data []byte, synthetic bool) {
	root := token
	if t.caller != nil {
		t, root = t.caller, t.called
	}
	r := Row{
		"bloom": []byte{}, "consensus_timestamp": t.ts, "contract_id": token, "data": data, "index": t.logs, "topic0": topic,
		"topic1": from, "topic2": to, "payer_account_id": t.payer, "root_contract_id": root, "synthetic": synthetic,
	}
	if serial != nil {
		r["topic3"] = serial
	}
	t.logs++
	t.evmRows = append(t.evmRows, r)
	w.rows.add("contract_log", r)
}

func mergeBloom(into, b []byte) []byte {
	if len(b) == 0 {
		return into
	}
	if len(into) == 0 {
		into = make([]byte, 256)
	}
	for i := range b {
		into[i] |= b[i]
	}
	return into
}

func hexOf(b []byte) string { return "0x" + hex.EncodeToString(b) }

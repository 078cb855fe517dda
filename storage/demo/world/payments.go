package world

import (
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// AtomicBatch adds an atomic batch in which each account pays the next one.
func (w *World) AtomicBatch(payer int64, memo string, circle ...int64) {
	outer := w.tx(codes.TypeAtomicBatch, payer, 0)
	outer.memo = memo
	for i, from := range circle {
		inner := w.child(outer, codes.TypeCryptoTransfer)
		inner.nonce, inner.payer, inner.validStart, inner.node = 0, from, outer.validStart-int64(i+1)*1_000, outer.node
		inner.validDuration, inner.batchKey, inner.fee, inner.maxFee = 120, Ed25519Key(keyHolder(payer)), 800_000, 2*Hbar
		inner.hash = transactionHash(inner)
		inner.hbars(from, circle[(i+1)%len(circle)], int64(i+2)*Hbar)
		outer.inner = append(outer.inner, inner.payer, inner.validStart)
		w.commit(inner)
	}
	w.commit(outer)
}

// RandomNumber generates a random number below limit, or random bytes if limit is 0.
func (w *World) RandomNumber(payer, limit int64) {
	t := w.tx(codes.TypeUtilPrng, payer, 0)
	r := Row{"consensus_timestamp": t.ts, "range": limit, "prng_bytes": nil, "prng_number": nil, "payer_account_id": payer}
	if limit == 0 {
		r["prng_bytes"] = Digest("random", w.txSeq)
	} else {
		r["prng_number"] = int64(Digest("random", w.txSeq)[0]) % limit
	}
	w.rows.add("prng", r)
	w.commit(t)
}

// DuplicateTransfer submits a transfer to two nodes. The second one fails as a duplicate and is charged a fee.
func (w *World) DuplicateTransfer(from, to, amount int64, memo string) {
	first := w.TransferHbars(from, to, amount, memo)
	w.consecutive = true
	defer func() { w.consecutive = false }()
	second := w.tx(codes.TypeCryptoTransfer, from, 0)
	second.validStart, second.hash, second.memo, second.maxFee = first.validStart, first.hash, first.memo, first.maxFee
	second.result, second.node = codes.DuplicateTransaction, demo.FirstNodeAccount+(first.node-demo.FirstNodeAccount+1)%demo.NodeCount
	w.commit(second)
}

// FailTransfer adds a transfer that fails with a result code. The payer is charged the fee.
func (w *World) FailTransfer(payer int64, result ledger.ResponseCode, memo string) {
	t := w.tx(codes.TypeCryptoTransfer, payer, 0)
	t.result, t.memo = result, memo
	w.commit(t)
}

// ChangeLiveHash adds the live hash of an account, or deletes it if hash is nil.
func (w *World) ChangeLiveHash(kind ledger.TransactionType, account int64, hash []byte) {
	t := w.tx(kind, account, account)
	if hash != nil {
		w.rows.add("live_hash", Row{"livehash": hash, "consensus_timestamp": t.ts})
	}
	w.commit(t)
}

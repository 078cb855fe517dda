package world

import (
	"encoding/binary"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// transfer is an hbar transfer in tinybars. The amount is negative for the sender.
type transfer struct {
	account, amount int64
	approval        bool
}

type tokenMove struct {
	token, account, amount int64
	approval               bool
}

// nftMove is a transfer of an NFT, in the format of the database.
type nftMove struct {
	Token    int64    `json:"token_id"`
	Serial   int64    `json:"serial_number"`
	Sender   Optional `json:"sender_account_id"`
	Receiver Optional `json:"receiver_account_id"`
	Approval bool     `json:"is_approval"`
}

type assessedFee struct {
	amount, collector, token int64
	payers                   []int64
}

// Transaction is a transaction to commit.
type Transaction struct {
	ts, validStart       int64
	validDuration        int64
	kind                 ledger.TransactionType
	result               ledger.ResponseCode
	payer, node, entity  int64
	fee, maxFee          int64
	initialBalance       int64
	memo                 string
	nonce                int
	scheduled            bool
	parent               int64
	children, preceding  int64
	transfers            []transfer
	tokenMoves           []tokenMove
	nftMoves             []nftMove
	rewards              []transfer
	assessed             []assessedFee
	maxCustomFees        [][]byte
	batchKey             []byte
	inner                []int64
	highVolume           bool
	highVolumeMultiplier any
	hash                 []byte
	ethereumHash         []byte
	gasUsed              int64
	bloom                []byte
	caller               *Transaction // the contract call whose token transfers this child contains, and its contract
	called               int64
	evmRows              []Row // rows that contain the index of the transaction in its block
	logs                 int
	parties              []int64
	sidecars             int
	index                int
}

// tx starts a transaction about an entity, or about none if entity is 0. It moves the clock forward by 30 to 90 ms,
// after the automatic transactions until then, and sets fee, node, valid start and hash. Within [World.At], it sets
// the clock to the given time instead. What varies among transactions depends on their type, their payer and the
// number of such transactions before, so that it is the same for any time of the load, and for whatever other payers
// do. The transaction is not part of the ledger before commit.
func (w *World) tx(kind ledger.TransactionType, payer, entity int64) *Transaction {
	sender := [2]int64{int64(kind), payer}
	w.sent[sender]++
	noise := int64(binary.BigEndian.Uint32(Digest(sender, w.sent[sender])))
	if w.nextTime != 0 {
		w.clock = w.nextTime
	} else {
		w.AdvanceTo(w.clock + 30_000_000 + noise%60_000_000)
	}
	t := &Transaction{
		ts: w.clock, kind: kind, payer: payer, entity: entity, result: codes.Success, validDuration: 120,
		node: demo.FirstNodeAccount + noise%demo.NodeCount, fee: usualFee,
	}
	if fee, known := feesByType[kind]; known {
		t.fee = fee
	}
	if t.fee > 0 {
		t.fee += noise % 10_000
	}
	t.validStart = t.ts - (2+noise%7)*Second - noise%999_999_937
	t.maxFee = t.fee*2 + Hbar
	t.hash = transactionHash(t)
	return t
}

// transactionHash returns the 48-byte hash of a transaction, from its ID, type and nonce. It replaces the hash of
// the signed bytes, which the demo does not have.
func transactionHash(t *Transaction) []byte {
	return Digest("transaction", t.validStart, t.payer, int(t.kind), t.nonce)
}

// child starts a child transaction. It follows its parent by nanoseconds, shares its transaction ID, and has no
// fee. It increments the parent's number of children. The child is not part of the ledger before commit.
func (w *World) child(parent *Transaction, kind ledger.TransactionType) *Transaction {
	parent.children++
	n := parent.children + parent.preceding
	t := &Transaction{
		ts: parent.ts + parent.children, validStart: parent.validStart, kind: kind, result: codes.Success,
		payer: parent.payer, nonce: int(n), parent: parent.ts, scheduled: parent.scheduled,
	}
	t.hash = transactionHash(t)
	return t
}

// before starts a preceding child transaction, such as an account creation, 100 nanoseconds before its parent. It has
// no parent timestamp and no fee. It increments the parent's number of preceding children. The child is not part of
// the ledger before commit.
func (w *World) before(parent *Transaction, kind ledger.TransactionType) *Transaction {
	parent.preceding++
	t := &Transaction{
		ts: parent.ts - 100 + parent.preceding, validStart: parent.validStart, kind: kind, result: codes.Success,
		payer: parent.payer, nonce: int(parent.children + parent.preceding),
	}
	t.hash = transactionHash(t)
	return t
}

// hbars adds a transfer of an amount of tinybars to t. The balances change at commit.
func (t *Transaction) hbars(from, to, amount int64) {
	t.transfers = append(t.transfers, transfer{from, -amount, false}, transfer{to, amount, false})
}

// commit adds to t the transfers of its fee and of the pending staking rewards of all accounts in its hbar transfers,
// changes the balances, and adds t to the ledger, in w.transactions. The node gets 5 % of the fee, the accounts of
// staking and node rewards 10 % each, and the account of network fees the rest. The rows of t follow when
// [World.writeHistory] runs. It returns t. If a balance would be negative, it calls [World.Fail]. It does not look at
// the result of t: transfers of a failed transaction are applied too.
func (w *World) commit(t *Transaction) *Transaction {
	if t.fee > 0 {
		node, staking := t.fee/20, t.fee/10
		t.transfers = append(t.transfers, transfer{account: t.payer, amount: -t.fee},
			transfer{account: t.node, amount: node},
			transfer{account: demo.NetworkFees, amount: t.fee - node - 2*staking},
			transfer{account: demo.StakingRewards, amount: staking},
			transfer{account: demo.NodeRewards, amount: staking})
	}
	for _, m := range t.transfers {
		w.collect(t, m.account)
	}
	for _, r := range t.rewards {
		t.hbars(demo.StakingRewards, r.account, r.amount)
	}
	t.transfers = w.applyTransfers(t)
	for _, m := range t.tokenMoves {
		w.addTokenBalance(m.token, m.account, m.amount, t.ts)
	}
	w.transactions = append(w.transactions, t)
	return t
}

// applyTransfers changes the balances by the hbar transfers of t, marks the accounts for the next balance snapshot,
// and returns one transfer for each account whose sum is not 0. Approved transfers are separate. For unknown accounts
// and negative balances, it calls [World.Fail] and changes the balances nevertheless.
func (w *World) applyTransfers(t *Transaction) []transfer {
	type who struct {
		account  int64
		approval bool
	}
	var order []who
	sums := map[who]int64{}
	for _, m := range t.transfers {
		k := who{m.account, m.approval}
		if _, ok := sums[k]; !ok {
			order = append(order, k)
		}
		sums[k] += m.amount
	}
	var settled []transfer
	for _, k := range order {
		if sums[k] == 0 {
			continue
		}
		settled = append(settled, transfer{k.account, sums[k], k.approval})
		w.balances[k.account] += sums[k]
		w.balanceChanged[k.account] = t.ts
		w.snapshots.hbar[k.account] = true
		if w.entities.get(k.account) == nil {
			w.Fail("transfer of unknown account 0.0.%d in a transaction of type %d: %v", k.account,
				t.kind, t.transfers)
		}
	}
	for _, m := range settled {
		if w.balances[m.account] < 0 {
			w.Fail("0.0.%d has a balance of %d tinybars after a transaction of type %d", m.account,
				w.balances[m.account], t.kind)
		}
	}
	return settled
}

// addTokenBalance adds amount to a token balance without a new version, and marks it for the next balance snapshot. If
// the account is not associated, it calls [World.Fail] and changes nothing. For a negative balance, it calls
// [World.Fail] and sets the balance nevertheless.
func (w *World) addTokenBalance(token, account, amount, ts int64) {
	r := w.associations.get(account, token)
	if r == nil || r["associated"] != true {
		w.Fail("0.0.%d is not associated with token 0.0.%d", account, token)
		return
	}
	b := r["balance"].(int64) + amount
	if b < 0 {
		w.Fail("0.0.%d has a balance of %d of token 0.0.%d", account, b, token)
	}
	r["balance"], r["balance_timestamp"] = b, ts
	w.snapshots.token[[2]int64{account, token}] = true
}

// usualFee is the fee of most transaction types in tinybars.
const usualFee = 820_000

// feesByType are the fees of the other transaction types in tinybars.
var feesByType = map[ledger.TransactionType]int64{
	codes.TypeContractCreate:             190_000_000,
	codes.TypeContractCall:               3_200_000,
	codes.TypeEthereumTransaction:        3_200_000,
	codes.TypeCryptoCreate:               41_000_000,
	codes.TypeTokenAssociateToAccount:    41_000_000,
	codes.TypeTokenDissociateFromAccount: 41_000_000,
	codes.TypeCryptoApproveAllowance:     41_000_000,
	codes.TypeCryptoDeleteAllowance:      41_000_000,
	codes.TypeTokenAirdrop:               41_000_000,
	codes.TypeFileCreate:                 41_000_000,
	codes.TypeFileAppend:                 41_000_000,
	codes.TypeFileUpdate:                 41_000_000,
	codes.TypeTokenCreate:                820_000_000,
	codes.TypeConsensusCreateTopic:       8_200_000,
	codes.TypeScheduleCreate:             8_200_000,
	codes.TypeConsensusSubmitMessage:     85_000,
	codes.TypeNodeStakeUpdate:            0,
	codes.TypeLedgerIdPublication:        0,
	codes.TypeFreeze:                     0,
}

// AtomicBatch adds an atomic batch that payer pays, with an inner transaction for each account of circle, which pays
// its own fee and 2, 3, 4 and so on hbars to the next one, and the last account to the first. If an account has too
// little, it calls [World.Fail].
func (w *World) AtomicBatch(payer int64, memo string, circle ...int64) {
	outer := w.tx(codes.TypeAtomicBatch, payer, 0)
	outer.memo = memo
	for i, from := range circle {
		inner := w.child(outer, codes.TypeCryptoTransfer)
		inner.nonce, inner.payer, inner.validStart, inner.node = 0, from, outer.validStart-int64(i+1)*1_000, outer.node
		inner.validDuration, inner.batchKey, inner.fee, inner.maxFee = 120, Ed25519Key(keyHolder(payer)), 800_000,
			2*Hbar
		inner.hash = transactionHash(inner)
		inner.hbars(from, circle[(i+1)%len(circle)], int64(i+2)*Hbar)
		outer.inner = append(outer.inner, inner.payer, inner.validStart)
		w.commit(inner)
	}
	w.commit(outer)
}

// RandomNumber adds a transaction with a random number below limit, at most 255, or with random bytes if limit is 0.
// The values depend on the payer and are the same in each run.
func (w *World) RandomNumber(payer, limit int64) {
	t := w.tx(codes.TypeUtilPrng, payer, 0)
	r := Row{
		"consensus_timestamp": t.ts, "range": limit, "prng_bytes": nil, "prng_number": nil,
		"payer_account_id": payer,
	}
	if limit == 0 {
		r["prng_bytes"] = Digest("random", payer)
	} else {
		r["prng_number"] = int64(Digest("random", payer)[0]) % limit
	}
	w.rows.add("prng", r)
	w.commit(t)
}

// DuplicateTransfer submits a transfer to two nodes. The second one fails as a duplicate. The sender pays the fees of
// both.
func (w *World) DuplicateTransfer(from, to, amount int64, memo string) {
	first := w.TransferHbars(from, to, amount, memo)
	t := w.tx(codes.TypeCryptoTransfer, from, 0)
	t.validStart, t.hash, t.memo, t.maxFee = first.validStart, first.hash, first.memo, first.maxFee
	t.result = codes.DuplicateTransaction
	t.node = demo.FirstNodeAccount + (first.node-demo.FirstNodeAccount+1)%demo.NodeCount
	w.commit(t)
}

// FailTransfer adds a transfer that fails with a result code. The payer is charged the fee.
func (w *World) FailTransfer(payer int64, result ledger.ResponseCode, memo string) {
	t := w.tx(codes.TypeCryptoTransfer, payer, 0)
	t.result, t.memo = result, memo
	w.commit(t)
}

// ChangeLiveHash adds a transaction of type kind about the live hash of an account, which pays the fee, and a row of
// live_hash if hash is not nil. A nil hash stands for its deletion, which leaves existing rows.
func (w *World) ChangeLiveHash(kind ledger.TransactionType, account int64, hash []byte) {
	t := w.tx(kind, account, account)
	if hash != nil {
		w.rows.add("live_hash", Row{"livehash": hash, "consensus_timestamp": t.ts})
	}
	w.commit(t)
}

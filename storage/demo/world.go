package demo

import (
	"cmp"
	"crypto/sha512"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

const (
	second = int64(time.Second)
	minute = int64(time.Minute)
	hour   = int64(time.Hour)
	day    = 24 * hour

	hbar        = int64(100_000_000)               // tinybars in one hbar
	totalSupply = int64(5_000_000_000_000_000_000) // tinybars in existence
	blockTime   = 2 * second
)

// transfer is one movement of hbars; amounts are tinybars, negative ones leave the account.
type transfer struct {
	account, amount int64
	approval        bool
}

type tokenMove struct {
	token, account, amount int64
	approval               bool
}

type nftMove struct {
	token, serial, sender, receiver int64
	approval                        bool
}

type assessedFee struct {
	amount, collector, token int64
	payers                   []int64
}

// transaction is one transaction on its way to consensus. Whoever makes one fills in what it did, and then commits it.
type transaction struct {
	ts, validStart       int64
	validDuration        int64
	kind, result         int
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
	besides              bool  // see world.besides
	evmRows              []row // rows that need the position of the transaction in its block
	logs                 int
	parties              []int64
	sidecars             int
	index                int
}

// world is the ledger while its story is told: a clock, balances, the objects in force, and the rows made so far. It
// only ever moves forward in time. The first error stops the story at its end.
type world struct {
	end    int64 // consensus time of the last transaction of the story
	clock  int64 // consensus time of the last transaction so far
	next   int64 // the next full hour that has something to do
	rng    *rand.Rand
	seq    int
	forced int64 // consensus time of the next transaction, 0 for a little later than the last
	// quick is set while somebody does several things at once.
	quick bool
	// byItself is set while the network does what its clock tells it: such transactions, whose number depends on the
	// time of the day, must not change what people do.
	byItself bool
	// besides is set while something is told that was added to the story later: it takes its chances, which besideSeq counts, from a series of its
	// own, goes by the last node, and has no part in the hashes of blocks, so that the rest of the story stays what it was.
	besides   bool
	besideSeq int
	out       sink
	err       error

	txs      []*transaction
	chain    chain
	snaps    snapshots
	numbers  map[string]int64
	balances map[int64]int64
	changed  map[int64]int64

	entities, tokens, relations, nfts, fees                 *versions
	cryptoAllowances, tokenAllowances, nftAllowances, drops *versions
	topics, nodes, registered, hooks, stakes                *versions

	topicState    map[int64]*topicState
	schedules     map[int64]row
	serials       map[int64]int64
	scheduleOrder []int64
	contracts     map[int64]row
	slots         map[string]row
	ids           map[common.Address]int64
	nonces        map[int64]int64
	deployed      []int64
	rates         int
	vm            *machine
	artifacts     map[string]artifact
	cast          cast
	stakeDays     []stakeDay
	hookSlots     map[string]row
	lookups       map[string]row // which messages a partition holds, by topic and partition
	lookupOrder   []string
}

func newWorld(end int64) *world {
	w := &world{
		end: end, clock: end - age, out: sink{}, chain: newChain(),
		rng:        rand.New(rand.NewPCG(20_26, 7_31)),
		numbers:    map[string]int64{},
		balances:   map[int64]int64{},
		changed:    map[int64]int64{},
		topicState: map[int64]*topicState{},
		schedules:  map[int64]row{},
		serials:    map[int64]int64{},
		contracts:  map[int64]row{},
		slots:      map[string]row{},
		ids:        map[common.Address]int64{},
		nonces:     map[int64]int64{},
		hookSlots:  map[string]row{},
		lookups:    map[string]row{},
	}
	for table, v := range map[string]**versions{
		"entity": &w.entities, "token": &w.tokens, "token_account": &w.relations, "nft": &w.nfts, "custom_fee": &w.fees,
		"crypto_allowance": &w.cryptoAllowances, "token_allowance": &w.tokenAllowances, "nft_allowance": &w.nftAllowances,
		"token_airdrop": &w.drops, "topic": &w.topics, "node": &w.nodes, "registered_node": &w.registered, "hook": &w.hooks,
		"entity_stake": &w.stakes,
	} {
		*v = newVersions(table, w.out)
	}
	w.next = w.clock/hour*hour + hour
	w.snaps.reset()
	return w
}

// fail keeps the first error of the story.
func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("demo story at %s: "+format, append([]any{time.Unix(0, w.clock).UTC()}, args...)...)
	}
}

// number hands out the next entity number of a kind. Each kind has a range of its own, which makes ids easy to recognise.
func (w *world) number(kind string) int64 {
	n := w.coming(kind)
	w.numbers[kind]++
	return n
}

// coming is the number that number is going to hand out.
func (w *world) coming(kind string) int64 {
	first := map[string]int64{"account": 1001, "token": 2001, besideContract: 2901, "contract": 3001, "topic": 4001, "schedule": 5001, "file": 6001}[kind]
	return first + w.numbers[kind]
}

// besideContract is the kind of contracts that were added to the story later. Their numbers are below those of the others, so that lists which
// begin with the highest ones stay what they were.
const besideContract = "contract beside the story"

// contractKind is the kind of a contract that is made now.
func (w *world) contractKind() string {
	if w.besides {
		return besideContract
	}
	return "contract"
}

// expect checks that the story gave a well-known entity the number that the constants promise.
func (w *world) expect(got, want int64) {
	if got != want {
		w.fail("entity 0.0.%d should be 0.0.%d", got, want)
	}
}

// pick is a deterministic number in [0, n).
func (w *world) pick(n int64) int64 { return w.rng.Int64N(n) }

func digest(parts ...any) []byte {
	h := sha512.Sum384(fmt.Append(nil, parts...))
	return h[:]
}

// tx starts a transaction a little later than the one before, after what the network does by itself until then.
func (w *world) tx(kind int, payer int64) *transaction {
	source := fmt.Append(nil, "network ", w.next)
	switch {
	case w.byItself:
	case w.besides:
		w.besideSeq++
		source = fmt.Append(nil, "besides ", w.besideSeq)
	default:
		w.seq++
		source = fmt.Append(nil, "people ", w.seq)
	}
	noise := int64(binary.BigEndian.Uint32(digest(source)))
	step := 30_000_000 + noise%60_000_000
	switch {
	case w.forced != 0:
		w.clock = w.forced
	case w.byItself:
		w.clock += step
	case !w.quick && w.end-w.clock > 2*hour: // people took their time, before the busy end of the story
		w.until(w.clock + step + noise*20%(80*second))
	default:
		w.until(w.clock + step)
	}
	t := &transaction{
		ts: w.clock, kind: kind, payer: payer, result: resultSuccess, validDuration: 120,
		node: firstNodeAccount + noise%nodeCount, fee: feeOf(kind), besides: w.besides,
	}
	if w.besides {
		t.node = firstNodeAccount + nodeCount - 1
	}
	if t.fee > 0 {
		t.fee += noise % 10_000
	}
	t.validStart = t.ts - (2+noise%7)*second - noise%999_999_937
	t.maxFee = t.fee*2 + hbar
	t.hash = transactionHash(t)
	return t
}

// transactionHash stands in for the hash of the signed bytes.
func transactionHash(t *transaction) []byte {
	return digest("transaction", t.validStart, t.payer, t.kind, t.nonce)
}

// child starts a transaction that another one caused. It follows its parent by nanoseconds and shares its id.
func (w *world) child(parent *transaction, kind int) *transaction {
	parent.children++
	n := parent.children + parent.preceding
	t := &transaction{
		ts: parent.ts + parent.children, validStart: parent.validStart, kind: kind, result: resultSuccess,
		payer: parent.payer, nonce: int(n), parent: parent.ts, scheduled: parent.scheduled,
	}
	t.hash = transactionHash(t)
	return t
}

// before starts a transaction that another one caused and that takes effect before it, without knowing its parent.
func (w *world) before(parent *transaction, kind int) *transaction {
	parent.preceding++
	t := &transaction{
		ts: parent.ts - 100 + parent.preceding, validStart: parent.validStart, kind: kind, result: resultSuccess,
		payer: parent.payer, nonce: int(parent.children + parent.preceding),
	}
	t.hash = transactionHash(t)
	return t
}

// hbars moves tinybars from one account to another.
func (t *transaction) hbars(from, to, amount int64) {
	t.transfers = append(t.transfers, transfer{from, -amount, false}, transfer{to, amount, false})
}

// commit brings a transaction to consensus: charges the fee, applies the movements and keeps it.
func (w *world) commit(t *transaction) *transaction {
	if t.fee > 0 {
		node, staking := t.fee/20, t.fee/10
		t.transfers = append(t.transfers, transfer{account: t.payer, amount: -t.fee}, transfer{account: t.node, amount: node},
			transfer{account: NetworkFees, amount: t.fee - node - 2*staking},
			transfer{account: StakingRewards, amount: staking}, transfer{account: NodeRewards, amount: staking})
	}
	for _, r := range t.rewards {
		t.hbars(StakingRewards, r.account, r.amount)
	}
	t.transfers = w.settle(t)
	for _, m := range t.tokenMoves {
		w.credit(m.token, m.account, m.amount, t.ts)
	}
	w.txs = append(w.txs, t)
	return t
}

// settle adds up the movements of each account, those by approval apart, and applies them.
func (w *world) settle(t *transaction) []transfer {
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
		w.changed[k.account] = t.ts
		w.snaps.hbar[k.account] = true
		if w.entities.get(key(k.account)) == nil {
			w.fail("transfer of unknown account 0.0.%d in a transaction of type %d: %v", k.account, t.kind, t.transfers)
		}
	}
	for _, m := range settled {
		if w.balances[m.account] < 0 {
			w.fail("0.0.%d has a balance of %d tinybars after a transaction of type %d", m.account, w.balances[m.account], t.kind)
		}
	}
	return settled
}

// credit changes the token balance of an account, in place.
func (w *world) credit(token, account, amount, ts int64) {
	r := w.relations.get(key(account, "/", token))
	if r == nil || r["associated"] != true {
		w.fail("0.0.%d is not associated with token 0.0.%d", account, token)
		return
	}
	b := r["balance"].(int64) + amount
	if b < 0 {
		w.fail("0.0.%d has a balance of %d of token 0.0.%d", account, b, token)
	}
	r["balance"], r["balance_timestamp"] = b, ts
	w.snaps.token[[2]int64{account, token}] = true
}

// feeOf is what a transaction of a kind costs, in tinybars.
func feeOf(kind int) int64 {
	switch kind {
	case typeContractCreate:
		return 1_900_000_00
	case typeContractCall, typeEthereum:
		return 3_200_000
	case typeCryptoCreate, typeAssociate, typeDissociate, typeApprove, typeDeleteAllowance, typeAirdrop, typeFileCreate, typeFileAppend, typeFileUpdate:
		return 41_000_000
	case typeTokenCreate:
		return 820_000_000
	case typeTopicCreate, typeScheduleCreate:
		return 8_200_000
	case typeTopicMessage:
		return 85_000
	case typeNodeStake, typeLedgerID, typeFreeze:
		return 0
	}
	return 820_000
}

// finish turns the transactions into blocks and everything that hangs on them, and writes what is in force.
func (w *world) finish() {
	w.snapshot()
	w.writeHistory()
	w.writeEntities()
	w.writeStakes()
	w.writeContracts()
	w.writeSchedules()
	w.writeReconciliation()
	for _, k := range w.lookupOrder {
		w.out.add("topic_message_lookup", w.lookups[k])
	}
	for _, v := range w.versioned() {
		v.flush()
	}
}

// writeHistory turns the transactions so far into blocks, and writes what each of them did.
func (w *world) writeHistory() {
	slices.SortFunc(w.txs, func(a, b *transaction) int { return cmp.Compare(a.ts, b.ts) })
	w.writeBlocks()
	for _, t := range w.txs {
		w.writeTransaction(t)
	}
	w.noteLookups()
}

// versioned are the tables with a history.
func (w *world) versioned() []*versions {
	return []*versions{
		w.entities, w.tokens, w.relations, w.nfts, w.fees, w.cryptoAllowances, w.tokenAllowances, w.nftAllowances, w.drops,
		w.topics, w.nodes, w.registered, w.hooks, w.stakes,
	}
}

// orNil is the value of a column for which zero means none.
func orNil(v int64) any {
	if v == 0 {
		return nil
	}
	return v
}

// writeTransaction writes a transaction with all that it moved.
func (w *world) writeTransaction(t *transaction) {
	var nftTransfer any
	if len(t.nftMoves) > 0 {
		list := make([]map[string]any, len(t.nftMoves))
		for i, m := range t.nftMoves {
			list[i] = map[string]any{
				"is_approval": m.approval, "receiver_account_id": orNil(m.receiver), "sender_account_id": orNil(m.sender),
				"serial_number": m.serial, "token_id": m.token,
			}
		}
		nftTransfer, _ = json.Marshal(list)
	}
	r := row{
		"consensus_timestamp": t.ts, "type": t.kind, "result": t.result, "payer_account_id": t.payer, "valid_start_ns": t.validStart,
		"valid_duration_seconds": orNil(t.validDuration), "node_account_id": orNil(t.node), "entity_id": orNil(t.entity),
		"initial_balance": t.initialBalance, "max_fee": orNil(t.maxFee), "charged_tx_fee": t.fee, "memo": []byte(t.memo),
		"transaction_hash": t.hash, "scheduled": t.scheduled, "nonce": t.nonce,
		"parent_consensus_timestamp": orNil(t.parent), "index": t.index, "nft_transfer": nftTransfer,
		"max_custom_fees": nilBytes(t.maxCustomFees), "batch_key": t.batchKey, "inner_transactions": nilInts(t.inner),
		"high_volume": t.highVolume, "high_volume_pricing_multiplier": t.highVolumeMultiplier,
	}
	w.out.add("transaction", r)
	if t.kind != typeTopicMessage || t.logs > 0 {
		w.out.add("transaction_hash", row{"consensus_timestamp": t.ts, "hash": t.hash[:32], "hash_suffix": t.hash[32:], "payer_account_id": t.payer})
	}
	if t.ethereumHash != nil {
		w.out.add("transaction_hash", row{"consensus_timestamp": t.ts, "hash": t.ethereumHash, "payer_account_id": t.payer})
	}
	parties := append([]int64{t.entity}, t.parties...)
	for _, m := range t.transfers {
		w.out.add("crypto_transfer", row{"entity_id": m.account, "consensus_timestamp": t.ts, "amount": m.amount, "payer_account_id": t.payer, "is_approval": m.approval})
	}
	for _, m := range t.tokenMoves {
		w.out.add("token_transfer", row{"token_id": m.token, "account_id": m.account, "consensus_timestamp": t.ts, "amount": m.amount, "payer_account_id": t.payer, "is_approval": m.approval})
	}
	for _, m := range t.nftMoves {
		parties = append(parties, m.sender, m.receiver)
	}
	for _, a := range t.assessed {
		w.out.add("assessed_custom_fee", row{"amount": a.amount, "collector_account_id": a.collector, "consensus_timestamp": t.ts, "token_id": orNil(a.token), "effective_payer_account_ids": a.payers, "payer_account_id": t.payer})
	}
	for _, m := range t.rewards {
		w.out.add("staking_reward_transfer", row{"account_id": m.account, "amount": m.amount, "consensus_timestamp": t.ts, "payer_account_id": t.payer})
	}
	slices.Sort(parties)
	for _, id := range slices.Compact(parties) {
		if id != 0 {
			w.out.add("entity_transaction", row{"consensus_timestamp": t.ts, "entity_id": id, "payer_account_id": t.payer, "result": t.result, "type": t.kind})
		}
	}
}

func nilBytes(v [][]byte) any {
	if len(v) == 0 {
		return nil
	}
	return v
}

func nilInts(v []int64) any {
	if len(v) == 0 {
		return nil
	}
	return v
}

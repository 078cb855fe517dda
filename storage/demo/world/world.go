// Package world simulates a ledger: accounts, tokens, contracts, topics and transactions, as rows of the mirror
// database. It keeps all rows in memory and does not connect to a database: package demodb stores them.
//
// The exported operations of [World], such as CreateAccount, are the steps of the scenario, whose script calls them by
// name. Each one moves the clock forward and adds a transaction, whose fee the payer pays. Amounts of hbars are in
// tinybars, amounts of tokens in the smallest unit, and times (ts) in nanoseconds since 1970. Operations return no
// error: impossible ones call [World.Fail], and [World.Err] returns the first error.
package world

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/storage/demo"
	"heliograph/storage/demo/contracts"
)

// Units of time in nanoseconds, as consensus timestamps count them.
const (
	Second = int64(time.Second)
	Minute = int64(time.Minute)
	Hour   = int64(time.Hour)
	Day    = 24 * Hour

	Hbar        = int64(100_000_000)               // tinybars in one hbar
	totalSupply = int64(5_000_000_000_000_000_000) // tinybars in existence
	BlockTime   = 2 * Second
)

// age is the length of the scenario.
const age = 370 * Day

// World is a simulated ledger: a clock, balances, the current state of objects, and the rows added so far. Time only
// moves forward. Errors are kept until the end; see Err.
type World struct {
	end      int64 // consensus time of the last transaction of the scenario
	clock    int64 // consensus time of the last transaction so far
	nextHour int64 // next full hour with automatic transactions
	rng      *rand.Rand
	nextTime int64              // consensus time of the next transaction, or 0 for a little later than the last
	sent     map[[2]int64]int64 // transactions so far by type and payer
	rows     sink
	err      error

	transactions   []*Transaction
	chain          chain
	snapshots      snapshots
	idCounts       map[string]int64
	balances       map[int64]int64
	balanceChanged map[int64]int64

	entities, tokens, associations, nfts, fees                 *versions
	cryptoAllowances, tokenAllowances, nftAllowances, airdrops *versions
	topics, nodes, registered, hooks, stakes                   *versions
	contracts, slots, schedules, hookSlots, lookups            *versions // without history

	topicState   map[int64]*topicState
	scheduled    map[int64]*schedule
	signed       map[string]bool // schedules and the keys that have signed them
	serialCounts map[int64]int64
	idByAddress  map[common.Address]int64
	nonces       map[int64]int64
	rateVersion  int
	gasPrice     int64 // of contract calls, in tinybars
	evm          *machine
	artifacts    map[string]contracts.Artifact
	pending      map[int64]int64 // staking rewards of accounts that have not been paid
	stakeStart   map[int64]int64 // stakes of accounts at the start of the staking period
	collected    map[int64]int64 // staking rewards in the balances of accounts
}

// New returns a ledger with the system accounts, files and nodes. Its scenario ends at consensus time end, in
// nanoseconds. It fails if the compiled contracts cannot be read, the EVM cannot be started or the system entities
// cannot be created. In the last case it also returns the ledger, which must not be used.
func New(end int64) (*World, error) {
	compiled, err := contracts.Read()
	if err != nil {
		return nil, err
	}
	vm, err := newMachine()
	if err != nil {
		return nil, err
	}
	w := &World{
		artifacts: compiled, evm: vm,
		end: end, clock: end - age, rows: sink{}, chain: chain{last: strings.Repeat("0", 96)},
		rng:            rand.New(rand.NewPCG(20_26, 7_31)),
		sent:           map[[2]int64]int64{},
		idCounts:       map[string]int64{},
		balances:       map[int64]int64{},
		balanceChanged: map[int64]int64{},
		topicState:     map[int64]*topicState{},
		scheduled:      map[int64]*schedule{},
		signed:         map[string]bool{},
		serialCounts:   map[int64]int64{},
		idByAddress:    map[common.Address]int64{},
		nonces:         map[int64]int64{},
		pending:        map[int64]int64{},
		stakeStart:     map[int64]int64{},
		collected:      map[int64]int64{},
	}
	for table, v := range map[string]**versions{
		"entity": &w.entities, "token": &w.tokens, "token_account": &w.associations, "nft": &w.nfts,
		"custom_fee":       &w.fees,
		"crypto_allowance": &w.cryptoAllowances, "token_allowance": &w.tokenAllowances,
		"nft_allowance": &w.nftAllowances,
		"token_airdrop": &w.airdrops, "topic": &w.topics, "node": &w.nodes, "registered_node": &w.registered,
		"hook":         &w.hooks,
		"entity_stake": &w.stakes,
		"contract":     &w.contracts, "contract_state": &w.slots, "schedule": &w.schedules,
		"hook_storage": &w.hookSlots, "topic_message_lookup": &w.lookups,
	} {
		*v = &versions{
			table: table, out: w.rows, byKey: map[string]*version{}, history: !slices.Contains(unversioned, table),
		}
	}
	vm.known = func(a common.Address) bool { return w.entities.get(w.idOf(a)) != nil }
	vm.tokens.hasFees = func(token common.Address) bool {
		fees := w.fees.get(w.idOf(token))
		return fees["fixed_fees"] != nil || fees["fractional_fees"] != nil
	}
	w.nextHour = w.clock/Hour*Hour + Hour
	w.snapshots.reset()
	w.createSystemAccounts()
	w.createSystemFiles()
	for i := range int64(demo.NodeCount + 1) {
		w.createNode(i, demo.FirstNodeAccount+i)
	}
	w.publishLedger()
	return w, w.err
}

// unversioned are the tables whose rows change without a history.
var unversioned = []string{"contract", "contract_state", "schedule", "hook_storage", "topic_message_lookup"}

// Now returns the consensus time of the last transaction so far, in nanoseconds.
func (w *World) Now() int64 { return w.clock }

// End returns the consensus time of the last transaction of the scenario, in nanoseconds.
func (w *World) End() int64 { return w.end }

// Err returns the first error that [World.Fail] recorded, or nil.
func (w *World) Err() error { return w.err }

// Rows returns the rows of a table that have been added so far, in order. The caller must not change them.
func (w *World) Rows(table string) []Row { return w.rows[table] }

// DiscardRows removes all rows and transactions that have been added so far, once they are stored. The state of the
// ledger remains, and the scenario can continue.
func (w *World) DiscardRows() {
	clear(w.rows)
	clear(w.transactions)
	w.transactions = w.transactions[:0]
}

// LastBlockHash returns the hash of the newest block that has been written to the rows, in hex, or 96 zeros before the
// first block.
func (w *World) LastBlockHash() string { return w.chain.last }

// Balance returns the balance of an account in tinybars without staking rewards. These depend on the time of day, and
// the scenario must not.
func (w *World) Balance(id int64) int64 { return w.balances[id] - w.collected[id] }

// IsDeleted reports whether an entity has been deleted. It returns false for an entity that does not exist.
func (w *World) IsDeleted(id int64) bool { return w.entities.get(id)["deleted"] == true }

// At runs f, which must add one transaction. That transaction gets the consensus time ts. The clock is set to ts
// without a check and without automatic transactions until then: ts must not be before [World.Now].
func (w *World) At(ts int64, f func()) {
	w.nextTime = ts
	f()
	w.nextTime = 0
}

// Fail records an error with the current time, for [World.Err]. It keeps the first error only and does not stop
// the scenario.
func (w *World) Fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("demo scenario at %s: "+format, append([]any{time.Unix(0, w.clock).UTC()}, args...)...)
	}
}

// takeID returns the next free number of an entity type and marks it as used. Each type has its own range of
// numbers.
func (w *World) takeID(kind string) int64 {
	n := w.NextID(kind)
	w.idCounts[kind]++
	return n
}

// FirstAccount is the number of the first account that is not a system account.
const FirstAccount = 1001

// NextID returns the number that the next entity of a type, such as "account", will get. It does not mark it as used.
// The types are account, token, contract, topic, schedule and file; the numbers of any other text begin at 0.
func (w *World) NextID(kind string) int64 {
	first := map[string]int64{
		"account": FirstAccount, "token": 2001, "contract": 3001, "topic": 4001, "schedule": 5001, "file": 6001,
	}[kind]
	return first + w.idCounts[kind]
}

// Pick returns a pseudo-random number in [0, n) and advances the generator. The sequence is the same in each run. It
// panics unless n is positive.
func (w *World) Pick(n int64) int64 { return w.rng.Int64N(n) }

// PickFrom runs f while [World.Pick] uses generator r.
func (w *World) PickFrom(r *rand.Rand, f func()) {
	own := w.rng
	w.rng = r
	f()
	w.rng = own
}

// Digest returns the SHA-384 (48 bytes) of the concatenated parts, formatted like [fmt.Append]. The demo uses it
// for hashes and pseudo-random values.
func Digest(parts ...any) []byte {
	h := sha512.Sum384(fmt.Append(nil, parts...))
	return h[:]
}

// nullIfZero returns v, or nil for 0, as the value of a nullable column.
func nullIfZero(v int64) any {
	if v == 0 {
		return nil
	}
	return v
}

// jsonOf returns a list as JSON, or nil for an empty list. Errors are ignored: the lists of this package can be
// encoded.
func jsonOf[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	b, _ := json.Marshal(list) // lists of maps and numbers can be encoded
	return b
}

// nullIfEmpty returns v, or nil for an empty list, as the value of a nullable column.
func nullIfEmpty[T any](v []T) any {
	if len(v) == 0 {
		return nil
	}
	return v
}

// AdvanceTo moves the clock forward to t, never backward. On the way, it adds the automatic transactions of full
// hours: at midnight the end of the staking period, exchange rates and, except in the last 20 minutes of the scenario,
// a balance snapshot; at the other hours of the last 26 exchange rates only. They take less than three seconds. Those
// of an hour that begins less than three seconds before t are left to a later call.
func (w *World) AdvanceTo(t int64) {
	for w.nextHour <= t-3*Second {
		hour := w.nextHour
		w.nextHour += Hour // first, because the transactions below advance the clock too
		midnight := hour%Day == 0
		if !midnight && w.end-hour > 26*Hour {
			continue
		}
		if midnight {
			w.clock = max(w.clock, hour)
			w.endStakingPeriod(hour)
		}
		w.clock = max(w.clock, hour+600_000_000)
		w.updateRates()
		if midnight && w.end-w.clock > 20*Minute {
			w.snapshot()
			w.clock += BlockTime + 100_000_000
		}
	}
	w.clock = max(w.clock, t)
}

// AdvanceToAge moves the clock forward to d nanoseconds before the end of the scenario, with the automatic
// transactions until then, as [World.AdvanceTo] does.
func (w *World) AdvanceToAge(d int64) { w.AdvanceTo(w.end - d) }

// Row is a table row by column name. Missing columns are null, so columns that are not nullable must be set even if
// the table has a default.
type Row map[string]any

// span returns the range [from, to) of nanoseconds. If to is 0, the range has no upper bound.
func span(from, to int64) pgtype.Range[pgtype.Int8] {
	r := pgtype.Range[pgtype.Int8]{
		Lower: pgtype.Int8{Int64: from, Valid: true}, LowerType: pgtype.Inclusive,
		UpperType: pgtype.Unbounded, Valid: true,
	}
	if to != 0 {
		r.Upper, r.UpperType = pgtype.Int8{Int64: to, Valid: true}, pgtype.Exclusive
	}
	return r
}

// sink collects the rows of all tables in order.
type sink map[string][]Row

// add appends a row to those of a table.
func (s sink) add(table string, r Row) { s[table] = append(s[table], r) }

// PrimaryKeys are the primary keys of the tables whose rows change, as lists of columns. Other tables only grow.
var PrimaryKeys = map[string]string{
	"entity": "id", "token": "token_id", "token_account": "account_id, token_id", "nft": "token_id, serial_number",
	"custom_fee": "entity_id", "crypto_allowance": "owner, spender", "token_allowance": "owner, spender, token_id",
	"nft_allowance": "owner, spender, token_id",
	"token_airdrop": "sender_account_id, receiver_account_id, token_id, serial_number",
	"topic":         "id", "node": "node_id", "registered_node": "registered_node_id", "hook": "owner_id, hook_id",
	"entity_stake": "id", "contract": "id", "schedule": "schedule_id", "contract_state": "contract_id, slot",
	"hook_storage": "owner_id, hook_id, key", "topic_message_lookup": "topic_id, partition",
}

// versions is a table whose rows change. The current row of each object belongs to the table. With a history, its
// historical rows belong to <table>_history, and versions sets the column timestamp_range.
type versions struct {
	table   string
	out     sink
	byKey   map[string]*version
	all     []*version // in the order of their creation
	history bool
}

// version is the current version of an object.
type version struct {
	key  string
	from int64
	row  Row
}

// keyOf returns the values of a primary key as a text, for use as a map key.
func keyOf(values ...any) string { return fmt.Sprintln(values...) }

// get returns the current row with a primary key, or nil. Changes of it take effect at once and do not create a
// version.
func (v *versions) get(key ...any) Row {
	if c, ok := v.byKey[keyOf(key...)]; ok {
		return c.row
	}
	return nil
}

// save adds an object at ts, or starts a new version of an existing object, and returns the new current row. changed
// must contain the primary key and contains the columns that change. The previous version becomes a row of the history
// table, if there is one. A version that started at ts too is replaced instead.
func (v *versions) save(ts int64, changed Row) Row {
	var values []any
	for column := range strings.SplitSeq(PrimaryKeys[v.table], ", ") {
		values = append(values, changed[column])
	}
	k := keyOf(values...)
	c, ok := v.byKey[k]
	if !ok {
		c = &version{key: k, from: ts, row: Row{}}
		v.byKey[k] = c
		v.all = append(v.all, c)
	}
	next := maps.Clone(c.row)
	maps.Copy(next, changed)
	if c.from != ts {
		v.archive(c, ts)
	}
	c.from, c.row = ts, next
	return next
}

// archive adds the row of a version that ends at ts to the history table. Tables without history are left
// unchanged.
func (v *versions) archive(c *version, ts int64) {
	if !v.history {
		return
	}
	old := maps.Clone(c.row)
	old["timestamp_range"] = span(c.from, ts)
	v.out.add(v.table+"_history", old)
}

// flush adds the current rows of all objects to the rows of the table.
func (v *versions) flush() {
	for _, c := range v.all {
		v.out.add(v.table, v.current(c))
	}
}

// current returns the current row of an object. If the table has a history, it sets the timestamp range in that
// row.
func (v *versions) current(c *version) Row {
	if v.history {
		c.row["timestamp_range"] = span(c.from, 0)
	}
	return c.row
}

// CurrentRows returns the current rows of tables whose rows change, by table and key. It first updates balances
// and timestamp ranges in them. The rows are not copies.
func (w *World) CurrentRows() map[string]map[string]Row {
	w.writeEntities()
	tables := map[string]map[string]Row{}
	for _, v := range w.versioned() {
		tables[v.table] = make(map[string]Row, len(v.all))
		for _, c := range v.all {
			tables[v.table][c.key] = v.current(c)
		}
	}
	return tables
}

// Package evmstate reads the state for contract calls: a snapshot of the ledger at one block, in one database
// transaction.
package evmstate

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// Reader reads state for contract executions. Between executions it caches immutable data and keys to prefetch.
type Reader struct {
	db     *storage.DB
	prices *entities.GasPrices
	memory *memory
}

// NewReader returns a new reader of state for contract calls. cacheBytes is the maximum size of cached code; 0
// disables the cache, and the record of what executions read, by which later ones read ahead. It reads nothing yet.
func NewReader(db *storage.DB, prices *entities.GasPrices, cacheBytes uint64) *Reader {
	return &Reader{db: db, prices: prices, memory: newMemory(cacheBytes)}
}

// ErrNoBlock is returned if the requested block does not exist.
var ErrNoBlock = errors.New("there is no such block")

// Request describes an execution, so that its state can be prefetched.
type Request struct {
	Block worldstate.BlockRef
	// Addresses are the addresses of the parties, in any form.
	Addresses []ledger.EVMAddress
	// Callee and Selector identify the called function. The keys that its last call read are prefetched.
	Callee   ledger.EVMAddress
	Selector [4]byte
}

// history describes the time of a snapshot. If past is set, changes up to until are included; otherwise the state is
// the current one.
type history struct {
	past  bool
	until ledger.Timestamp
}

// Snapshot is the state of the ledger at one point in time, in one database transaction. It must be used by one
// goroutine only, and must be closed.
type Snapshot struct {
	evm     *Reader
	db      *storage.DB // runs statements in the transaction
	conn    *pgxpool.Conn
	release func()
	block   worldstate.Block
	history history
	key     footprintKey

	entities map[ledger.EVMAddress]*worldstate.Entity
	slots    map[slotKey][32]byte
	codes    map[ledger.EntityID][]byte
	asked    footprint
	rates    ledger.Null[*ledger.ExchangeRateSet] // null until they are read
	price    ledger.Null[int64]                   // null until it is read
	trips    int
	failed   error // of the first batch that failed, or of the limit
}

// slotKey identifies a storage slot of a contract.
type slotKey struct {
	contract ledger.EntityID
	slot     [32]byte
}

// Open opens a snapshot at a block, on a connection of its own, and prefetches state for the request. The caller must
// call [Snapshot.Close]; the connection is in use until then. It takes one round trip, or two for a historical block.
// The error wraps [ErrNoBlock] if the block does not exist.
func (e *Reader) Open(ctx context.Context, r Request) (*Snapshot, error) {
	conn, release, err := e.db.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{
		evm: e, db: e.db.On(conn.Conn()), conn: conn, release: release, key: footprintKey{r.Callee, r.Selector},
		entities: map[ledger.EVMAddress]*worldstate.Entity{}, slots: map[slotKey][32]byte{},
		codes: map[ledger.EntityID][]byte{},
	}
	if err := s.begin(ctx, r); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// begin begins the transaction of the snapshot, reads its block, and reads ahead what former executions have used.
// Entities of a past block need a second round trip. It fails with [ErrNoBlock] if the block does not exist. After an
// error the caller must close the snapshot.
func (s *Snapshot) begin(ctx context.Context, r Request) error {
	b := s.db.NewBatch()
	b.Exec(`begin isolation level repeatable read read only`)
	read := s.queueBlock(b, r.Block)
	ahead := slices.Concat(r.Addresses, s.evm.memory.footprint(s.key))
	if !r.Block.IsPast() {
		s.queueAhead(b, ahead)
	}
	if err := s.run(ctx, b); err != nil {
		return err
	}
	block, err := read()
	switch {
	case err != nil:
		return err
	case block == nil:
		return ErrNoBlock
	}
	s.block = *block
	if !r.Block.IsPast() {
		return nil
	}
	s.history = history{past: true, until: s.block.End}
	if r.Block.Before != 0 {
		s.history.until = r.Block.Before - 1
	}
	b = s.db.NewBatch()
	s.queueAhead(b, ahead)
	return s.run(ctx, b)
}

// queueAhead queues queries for the entities at addresses, and for the slots of contracts that earlier executions
// read. It marks all of them as read, and fills s when the batch has run.
func (s *Snapshot) queueAhead(b *storage.Batch, addresses []ledger.EVMAddress) {
	s.queueEntities(b, addresses)
	var wanted []slotKey
	for _, a := range addresses {
		if id := s.evm.memory.idOf(s.db.SystemEntity(0), a); id != 0 {
			wanted = append(wanted, s.evm.memory.slotsOf(id)...)
		}
	}
	s.queueSlots(b, wanted)
}

// maxTrips is the maximum number of round trips of an execution. A call that reads this much state takes seconds,
// almost all of them in the database.
const maxTrips = 3000

// ErrTooManyReads is returned if an execution reads too much: it is the error of every method of [Snapshot] that would
// take a round trip beyond the limit.
var ErrTooManyReads = errors.New("the call reads too much state")

// run sends a batch on the connection of the snapshot, unless [Snapshot.trip] fails. If the batch fails, what it should
// have read is missing in the snapshot, which sends nothing anymore.
func (s *Snapshot) run(ctx context.Context, b *storage.Batch) error {
	if err := s.trip(); err != nil {
		return err
	}
	s.failed = b.Run(ctx)
	return s.failed
}

// trip counts a round trip, which the caller then makes. It fails with the error of an earlier batch, or with
// [ErrTooManyReads] after maxTrips round trips.
func (s *Snapshot) trip() error {
	s.trips++
	if s.failed == nil && s.trips > maxTrips {
		s.failed = ErrTooManyReads
	}
	return s.failed
}

// Block returns the block of the snapshot.
func (s *Snapshot) Block() worldstate.Block { return s.block }

// Trips returns the number of database round trips of the snapshot so far.
func (s *Snapshot) Trips() int { return s.trips }

// endTimeout is the timeout for ending the transaction in the background.
const endTimeout = 5 * time.Second

// Close closes the snapshot and records what it read, so that later snapshots read that ahead. A goroutine, for which
// Close does not wait, then ends the read-only transaction, or closes the connection if that fails within endTimeout,
// and releases the connection. Further calls do nothing.
func (s *Snapshot) Close() {
	if s.conn == nil {
		return
	}
	conn := s.conn
	s.conn = nil
	s.evm.memory.remember(s.key, s.asked)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		if !conn.Conn().IsClosed() {
			if _, err := conn.Exec(ctx, `rollback`); err != nil {
				_ = conn.Conn().Close(ctx) // a connection that fails to end a transaction cannot be reused
			}
		}
		s.release()
	}()
}

// ExchangeRates reads the exchange rates of hbar at the block from their system file, or returns nil if that has no
// valid content within [storage.DB.FileAttempts]. The first call that succeeds reads them; its statements do not count
// as [Snapshot.Trips].
func (s *Snapshot) ExchangeRates(ctx context.Context) (*ledger.ExchangeRateSet, error) {
	if s.rates.Valid {
		return s.rates.V, nil
	}
	_, err := entities.SystemFile(ctx, s.db, s.db.SystemEntity(ledger.ExchangeRateFile),
		storage.Window{Upper: s.instant()}, func(content []byte) (err error) {
			s.rates.V, err = ledger.DecodeExchangeRates(content)
			return err
		})
	s.rates.Valid = err == nil
	return s.rates.V, err
}

// GasPrice returns the gas price in tinybars at the block, which it reads from system files unless it is cached, or 0
// if the ledger has none. The first call that succeeds reads it; its statements do not count as [Snapshot.Trips].
func (s *Snapshot) GasPrice(ctx context.Context) (int64, error) {
	if s.price.Valid {
		return s.price.V, nil
	}
	prices, err := s.evm.prices.Read(ctx, s.db, []ledger.Timestamp{min(s.instant(), s.block.End)})
	if err != nil {
		return 0, err
	}
	s.price = ledger.Of(prices[0].V)
	return s.price.V, nil
}

// instant returns the timestamp up to which changes are included: the largest one for the latest block.
func (s *Snapshot) instant() ledger.Timestamp {
	if s.history.past {
		return s.history.until
	}
	return math.MaxInt64
}

// evmBlockRow is a row of record_file.
type evmBlockRow struct {
	worldstate.Block
	hash         string
	major, minor ledger.Null[int32]
}

const evmBlockColumns = `index, hash, consensus_start, consensus_end, hapi_version_major, hapi_version_minor`

var evmBlockRows = storage.NewMapper(func(b *evmBlockRow, into []any) []any {
	return append(into, &b.Number, &b.hash, &b.Start, &b.End, &b.major, &b.minor)
}, func(b *evmBlockRow) (err error) {
	if b.major.Valid && b.minor.Valid {
		b.HAPI = ledger.Of(worldstate.HAPIVersion{Major: b.major.V, Minor: b.minor.V})
	}
	b.Hash, err = hashHead(b.hash)
	return err
}, func(b *evmBlockRow) *worldstate.Block { return &b.Block })

// hashHead returns the first 32 bytes of a block's hash, which is hex with or without "0x". A shorter one is followed
// by zeros. It fails if the text is not hex.
func hashHead(text string) (head [32]byte, err error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return head, fmt.Errorf("reading the hash of a block: %w", err)
	}
	copy(head[:], raw)
	return head, nil
}

// queueBlock queues a query for the block of ref: for the zero value the newest one, for ref.Earliest the one with the
// lowest number, and for ref.Before the first that ends at that time or later. Of several whose hashes begin with
// ref.Hash, which is hex without 0x, it is the newest. The result is nil if the block does not exist.
func (s *Snapshot) queueBlock(b *storage.Batch, ref worldstate.BlockRef) storage.Result[*worldstate.Block] {
	var (
		condition, order string
		args             []any
	)
	switch {
	case ref.Hash != "":
		condition, order, args = `where hash like $1`, `order by index desc`, []any{ref.Hash + "%"}
	case ref.Number.Valid:
		condition, args = `where index = $1`, []any{ref.Number.V}
	case ref.Before != 0:
		condition, order, args = `where consensus_end >= $1`, `order by consensus_end`, []any{int64(ref.Before)}
	case ref.Earliest:
		order = `order by index`
	default:
		order = `order by index desc`
	}
	return storage.First(evmBlockRows.Queue(b,
		`select `+evmBlockColumns+` from record_file `+condition+` `+order+` limit 1`, args))
}

// BlockHash reads the hash of a block by number and returns its first 32 bytes, or zeros if the block does not exist.
// It takes one round trip, and can fail with [ErrTooManyReads].
func (s *Snapshot) BlockHash(ctx context.Context, number int64) (hash [32]byte, err error) {
	if err := s.trip(); err != nil {
		return hash, err
	}
	block, err := evmBlockRows.One(ctx, s.db, "the hash of a block",
		`select `+evmBlockColumns+` from record_file where index = $1 limit 1`, number)
	if err != nil || block == nil {
		return hash, err
	}
	return block.Hash, nil
}

// typeContractCreate is the type of transactions that create a contract.
const typeContractCreate = 8

// Input is the input of a transaction. What does not fit into a transaction is in a file.
type Input struct {
	Created            ledger.Null[bool] // whether the transaction created the contract
	Initcode, CallData []byte            // CallData is that of an Ethereum transaction

	initcodeFile, dataFile []byte
}

var inputRows = storage.MapperOf(func(i *Input, into []any) []any {
	return append(into, &i.Created, &i.Initcode, &i.initcodeFile, &i.CallData, &i.dataFile)
}, func(i *Input) error {
	if len(i.Initcode) == 0 {
		i.Initcode = fromHex(i.initcodeFile)
	}
	if len(i.CallData) == 0 {
		i.CallData = fromHex(i.dataFile)
	}
	return nil
})

// fileContent is a subquery of the content that the file $file had at the time $1.
const fileContent = `(select string_agg(d.file_data, '' order by d.consensus_timestamp) from file_data d
  where d.entity_id = $file and d.consensus_timestamp <= $1 and d.consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = $file and consensus_timestamp <= $1 and ` + entities.StartsVersion + `))`

// inputRead is the statement of [QueueInput].
var inputRead = &storage.Read{
	SQL: `select (select type = $3 from transaction where consensus_timestamp = $1 limit 1),
  coalesce((select failed_initcode from contract_result where consensus_timestamp = $1 and contract_id = $2 limit 1), c.initcode),
  ` + strings.ReplaceAll(fileContent, "$file", "c.file_id") + `, e.call_data, ` + strings.ReplaceAll(fileContent, "$file", "e.call_data_id") + `
from (select) one left join contract c on c.id = $2 left join ethereum_transaction e on e.consensus_timestamp = $1 limit 1`,
	Ahead: []storage.Rows{
		{Table: "transaction", Query: `select type, consensus_timestamp
from transaction where consensus_timestamp = $1`},
		storage.RowsOf("contract_result", `consensus_timestamp = $1 and contract_id = $2`),
		storage.RowsOf("contract", `id = $2`),
		storage.RowsOf("ethereum_transaction", `consensus_timestamp = $1`),
		storage.RowsOf("file_data", `entity_id in (select file_id from contract union all select call_data_id from ethereum_transaction)
  and consensus_timestamp <= $1`),
	},
}

// QueueInput queues a query for the input that the transaction at a consensus time sent to a contract, for traces. The
// result is never nil: what the database does not have is empty or null in it.
func QueueInput(b *storage.Batch, at ledger.Timestamp, contract ledger.EntityID) storage.Result[*Input] {
	return storage.First(inputRows.QueueRead(b, inputRead, []any{int64(at), int64(contract), typeContractCreate}))
}

// fromHex decodes the hexadecimal text of a file. Other content is returned unchanged.
func fromHex(text []byte) []byte {
	digits := bytes.TrimPrefix(bytes.TrimSpace(text), []byte("0x"))
	out := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(out, digits); err != nil {
		return text
	}
	return out
}

// snapshotSpan is the maximum age of a usable balance snapshot.
const snapshotSpan = 31 * 24 * time.Hour

// evmBalanceThen is the balance of the entity v.id at $4, in tinybars. $5 is the treasury; $6 and $7 are one and two
// spans before $4. The treasury's row identifies the newest full snapshot.
const evmBalanceThen = `(select coalesce(own.balance, 0) + coalesce((select sum(amount)::bigint from crypto_transfer
      where entity_id = v.id and consensus_timestamp > coalesce(shot.at, 0) and consensus_timestamp <= $4 and errata is distinct from 'DELETE'), 0)
    from (select max(consensus_timestamp) as at from account_balance where account_id = $5 and consensus_timestamp > $6 and consensus_timestamp <= $4) shot
    left join lateral (select balance from account_balance where account_id = v.id and consensus_timestamp > greatest(shot.at - 2678400000000000, $7)
      and consensus_timestamp <= shot.at order by consensus_timestamp desc limit 1) own on true)`

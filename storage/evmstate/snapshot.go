package evmstate

import (
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

// Reader reads what contract executions need. What does not change, or only helps to ask for much at once, it remembers between them.
type Reader struct {
	db     *storage.DB
	prices *entities.GasPrices
	memory *memory
}

// NewReader makes a reader. cacheBytes bounds the code that is remembered; 0 remembers nothing at all.
func NewReader(db *storage.DB, prices *entities.GasPrices, cacheBytes uint64) *Reader {
	return &Reader{db: db, prices: prices, memory: newMemory(cacheBytes)}
}

// ErrNoBlock is returned when there is no block such as was asked for.
var ErrNoBlock = errors.New("there is no such block")

// Request says what will be run, so that what it needs can be read together.
type Request struct {
	Block worldstate.BlockRef
	// Addresses are who takes part, in any form.
	Addresses []ledger.EVMAddress
	// Callee and Selector tell which function is called. What it read the last time is read at once.
	Callee   ledger.EVMAddress
	Selector [4]byte
}

// history is how an instant of the past is read: what changed until it counts. now has no bound.
type history struct {
	past  bool
	until ledger.Timestamp
}

// Snapshot is the ledger as it is at one instant, in one transaction of the database. It belongs to one goroutine, and must be closed.
type Snapshot struct {
	evm     *Reader
	db      *storage.DB // whose statements run in the transaction
	conn    *pgxpool.Conn
	block   worldstate.Block
	history history
	key     footprintKey

	entities map[ledger.EVMAddress]*worldstate.Entity
	slots    map[slotKey][32]byte
	codes    map[ledger.EntityID][]byte
	asked    footprint
	trips    int
}

// slotKey is a slot of the storage of a contract.
type slotKey struct {
	contract ledger.EntityID
	slot     [32]byte
}

// Open begins a snapshot at a block, and reads what the request will need in one round trip, or two for a block of the past. The error wraps
// [ErrNoBlock] when there is no such block.
func (e *Reader) Open(ctx context.Context, r Request) (*Snapshot, error) {
	conn, err := e.db.Pool().Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("waiting for a connection: %w", err)
	}
	s := &Snapshot{
		evm: e, db: e.db.On(conn.Conn()), conn: conn, key: footprintKey{r.Callee, r.Selector},
		entities: map[ledger.EVMAddress]*worldstate.Entity{}, slots: map[slotKey][32]byte{}, codes: map[ledger.EntityID][]byte{},
	}
	if err := s.begin(ctx, r); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// begin sends the first statements.
func (s *Snapshot) begin(ctx context.Context, r Request) error {
	b := s.db.NewBatch()
	b.Exec(`begin isolation level repeatable read read only`)
	var found bool
	s.queueBlock(b, r.Block, func(block *worldstate.Block) {
		if found = block != nil; found {
			s.block = *block
		}
	})
	ahead := slices.Concat(r.Addresses, s.evm.memory.footprint(s.key))
	if !r.Block.IsPast() {
		s.queueAhead(b, ahead)
	}
	if err := s.run(ctx, b); err != nil {
		return err
	}
	switch {
	case !found:
		return ErrNoBlock
	case !r.Block.IsPast():
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

// queueAhead queues reading what is likely to be asked for.
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

// run sends a batch.
func (s *Snapshot) run(ctx context.Context, b *storage.Batch) error {
	s.trips++
	return b.Run(ctx)
}

// Block is the block that the snapshot is of.
func (s *Snapshot) Block() worldstate.Block { return s.block }

// Trips is how many round trips to the database the snapshot took.
func (s *Snapshot) Trips() int { return s.trips }

// endTimeout bounds the end of a transaction that nobody waits for.
const endTimeout = 5 * time.Second

// Close ends the snapshot. The transaction, which has changed nothing, is ended behind the caller's back.
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
				_ = conn.Conn().Close(ctx) // a connection that cannot end a transaction is of no use
			}
		}
		conn.Release()
	}()
}

// ExchangeRates are what hbars cost; nil when the ledger does not say.
func (s *Snapshot) ExchangeRates(ctx context.Context) (*ledger.ExchangeRateSet, error) {
	var rates *ledger.ExchangeRateSet
	_, err := entities.SystemFile(ctx, s.db, s.db.SystemEntity(ledger.ExchangeRateFile), entities.Bounds{Upper: s.instant()}, func(content []byte) (err error) {
		rates, err = ledger.DecodeExchangeRates(content)
		return err
	})
	return rates, err
}

// GasPrice is what a unit of gas costs, in tinybars; 0 when the ledger does not say.
func (s *Snapshot) GasPrice(ctx context.Context) (int64, error) {
	prices, err := s.evm.prices.Read(ctx, s.db, []ledger.Timestamp{min(s.instant(), s.block.End)})
	if err != nil {
		return 0, err
	}
	return prices[0].V, nil
}

// instant is the last one whose changes count.
func (s *Snapshot) instant() ledger.Timestamp {
	if s.history.past {
		return s.history.until
	}
	return math.MaxInt64
}

// evmBlockRow is a row of record_file.
type evmBlockRow struct {
	worldstate.Block
	hash string
}

func evmBlockTargets(b *evmBlockRow, into []any) []any {
	return append(into, &b.Number, &b.hash, &b.Start, &b.End)
}

func finishEVMBlock(b *evmBlockRow) (err error) {
	b.Hash, err = hashHead(b.hash)
	return err
}

// hashHead is the first 32 bytes of a block's hash.
func hashHead(text string) (head [32]byte, err error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return head, fmt.Errorf("reading the hash of a block: %w", err)
	}
	copy(head[:], raw)
	return head, nil
}

// queueBlock queues reading a block; done gets nil when there is none.
func (s *Snapshot) queueBlock(b *storage.Batch, ref worldstate.BlockRef, done func(*worldstate.Block)) {
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
	storage.Queue(b, `select index, hash, consensus_start, consensus_end from record_file `+condition+` `+order+` limit 1`, args, evmBlockTargets, finishEVMBlock,
		func(rows []*evmBlockRow) {
			if len(rows) == 0 {
				done(nil)
				return
			}
			done(&rows[0].Block)
		})
}

// BlockHash returns the first 32 bytes of a block's hash; zeros when there is no such block.
func (s *Snapshot) BlockHash(ctx context.Context, number int64) (hash [32]byte, err error) {
	s.trips++
	rows, err := storage.List(ctx, s.db, `select index, hash, consensus_start, consensus_end from record_file where index = $1 limit 1`, []any{number}, evmBlockTargets, finishEVMBlock)
	if err != nil || len(rows) == 0 {
		return hash, err
	}
	return rows[0].Hash, nil
}

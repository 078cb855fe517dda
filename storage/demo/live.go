package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrOtherStory says that the demo network of a database was told by another version of the program, which cannot be continued.
var ErrOtherStory = errors.New("the demo network in the database is another version's; `heliograph demo` loads it again")

// ErrContinued says that somebody else has written blocks since the last one.
var ErrContinued = errors.New("somebody else has written blocks to the demo network")

// snapshotEvery is how far balance snapshots are apart while the demo network lives, in nanoseconds.
const snapshotEvery = 15 * minute

// Times that bound a block's way into the database.
const (
	liveConnect = 5 * time.Second
	liveWrite   = 10 * time.Second
)

// KeepAlive continues the demo network of a database with a block every two seconds of now, until the context ends or the network cannot
// be continued. Every block is one transaction, so the database holds it wholly or not at all. What the network does depends on nothing but
// the times of its blocks: after a pause the story is told again in memory, up to the newest block. A database that does not answer is asked
// again. Errors: [ErrNotDemo], [ErrOtherStory], [ErrContinued], and what is wrong in the story itself; none when the context ended.
func KeepAlive(ctx context.Context, url string, now func() time.Time, log *slog.Logger) error {
	k := keeper{url: url, now: now}
	defer k.hangUp(ctx)
	for {
		next := now().Truncate(time.Duration(blockTime)).Add(time.Duration(blockTime))
		timer := time.NewTimer(next.Sub(now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		err := k.block(ctx, next)
		var story *storyError
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, ErrNotDemo), errors.Is(err, ErrOtherStory), errors.Is(err, ErrContinued), errors.As(err, &story):
			return err
		default:
			log.WarnContext(ctx, "the demo network could not be continued; trying again", "error", err)
			k.hangUp(ctx)
		}
	}
}

// keeper is the connection over which a network is continued.
type keeper struct {
	url  string
	now  func() time.Time
	conn *pgx.Conn
	net  *network
}

// block writes the block that ends at an instant.
func (k *keeper) block(ctx context.Context, end time.Time) error {
	if k.conn == nil {
		connecting, cancel := context.WithTimeout(ctx, liveConnect)
		defer cancel()
		conn, err := pgx.Connect(connecting, k.url)
		if err != nil {
			return fmt.Errorf("connecting: %w", err)
		}
		k.conn = conn
	}
	if k.net == nil {
		net, err := resume(ctx, k.conn)
		if err != nil {
			return err
		}
		k.net = net
		debug.FreeOSMemory()                             // telling the story again left much behind
		end = k.now().Truncate(time.Duration(blockTime)) // and took its time
	}
	if err := k.net.make(end.UnixNano()); err != nil {
		return err
	}
	// A block that has been begun is finished, even when the program is asked to stop.
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), liveWrite)
	defer cancel()
	return k.net.write(writing, k.conn)
}

func (k *keeper) hangUp(ctx context.Context) {
	if k.conn == nil {
		return
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = k.conn.Close(closing) // what was written has been committed
	k.conn = nil
}

// storyError is a contradiction in the story.
type storyError struct{ error }

// network is the demo network after its story, as it lives on.
type network struct {
	w *world
	// kept is what the database holds of the tables whose rows change, by table and key.
	kept map[string]map[string]row
	// Blocks that were made and are not known to be written follow the block with the hash before; there are none when it is the chain's last.
	before string
}

// resume tells the story of a database's demo network again, up to its newest block.
func resume(ctx context.Context, conn *pgx.Conn) (*network, error) {
	if is, err := IsDemo(ctx, conn); err != nil {
		return nil, err
	} else if !is {
		return nil, ErrNotDemo
	}
	var end, last int64
	var hash string
	if err := conn.QueryRow(ctx, storyBlock, marker).Scan(&end, &last, &hash); err != nil {
		return nil, fmt.Errorf("looking for the last block of the story: %w", err)
	}
	w, err := tell(end)
	if err != nil {
		return nil, &storyError{err}
	}
	if w.chain.last != hash {
		return nil, ErrOtherStory
	}
	// Of what came after the story, blocks end at even seconds, unless the network made them by itself after a pause.
	rows, err := conn.Query(ctx, "select consensus_end from record_file where index > $1 and consensus_end % $2 = 0 order by index", last, blockTime)
	if err != nil {
		return nil, fmt.Errorf("reading the blocks after the story: %w", err)
	}
	ends, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("reading the blocks after the story: %w", err)
	}
	n := &network{w: w, kept: map[string]map[string]row{}}
	n.forget()
	for _, end := range ends {
		w.liveUntil(end)
		n.forget()
	}
	if w.err != nil {
		return nil, &storyError{w.err}
	}
	if err := conn.QueryRow(ctx, newestBlock).Scan(&hash); err != nil {
		return nil, fmt.Errorf("looking for the newest block: %w", err)
	}
	if w.chain.last != hash {
		return nil, ErrOtherStory
	}
	n.before = hash
	n.keep(n.changed())
	types, err := conn.LoadTypes(ctx, enums)
	if err != nil {
		return nil, fmt.Errorf("looking up the types of the ledger tables: %w", err)
	}
	conn.TypeMap().RegisterTypes(types)
	return n, nil
}

const (
	storyBlock = `
		select consensus_end, index, hash from record_file
		where hash = substring(obj_description('record_file'::regclass, 'pg_class') from length($1::text) + 1)`
	newestBlock = "select hash from record_file order by consensus_end desc limit 1"
)

// make adds the block that ends at a consensus time, unless blocks are waiting to be written, or the last one ended less than two seconds before.
func (n *network) make(end int64) error {
	if n.w.chain.last == n.before && end >= n.w.clock+blockTime {
		n.w.liveUntil(end)
	}
	if n.w.err != nil {
		return &storyError{n.w.err}
	}
	return nil
}

// forget drops the rows that have been written.
func (n *network) forget() {
	clear(n.w.out)
	clear(n.w.txs)
	n.w.txs = n.w.txs[:0]
}

// write brings what was made into the database, in one transaction.
func (n *network) write(ctx context.Context, conn *pgx.Conn) error {
	if n.w.chain.last == n.before {
		return nil
	}
	changes := n.changed()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("starting the transaction of a block: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after a commit
	var newest string
	if err := tx.QueryRow(ctx, newestBlock).Scan(&newest); errors.Is(err, pgx.ErrNoRows) {
		return ErrContinued
	} else if err != nil {
		return fmt.Errorf("looking for the newest block: %w", err)
	}
	switch newest {
	case n.before:
		if err := n.writeTo(ctx, tx, changes); err != nil {
			return err
		}
	case n.w.chain.last: // the commit had succeeded although its answer was lost
	default:
		return ErrContinued
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing a block: %w", err)
	}
	n.before = n.w.chain.last
	n.keep(changes)
	n.forget()
	return nil
}

func (n *network) writeTo(ctx context.Context, tx pgx.Tx, changes []change) error {
	for _, table := range tables {
		if _, kept := keys[table]; kept {
			continue
		}
		if err := copyRows(ctx, tx, table, n.w.out[table]); err != nil {
			return err
		}
	}
	batch := &pgx.Batch{}
	for _, c := range changes {
		sql, args := c.statement()
		batch.Queue(sql, args...)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("writing what a block changed: %w", err)
	}
	return nil
}

package demodb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/base/wrap"
	"heliograph/storage/demo/scenario"
	"heliograph/storage/demo/world"
)

// ErrOtherVersion is returned if another version of the program loaded the demo network. It cannot be continued.
var ErrOtherVersion = errors.New(
	"another version of the program loaded the demo network; run `heliograph demo` to replace it")

// ErrOtherWriter is returned if another process has written blocks.
var ErrOtherWriter = errors.New("another process has written blocks to the demo network")

// Timeouts of writing a block.
const (
	liveConnect = 5 * time.Second
	liveWrite   = 10 * time.Second
)

// KeepAlive adds a block every two seconds, by the clock now, to the demo network of a database until the context
// ends. Each block is one transaction. Blocks depend on nothing but their times: after a pause, the scenario runs
// again in memory up to the newest block. If the database is unavailable, KeepAlive retries. It returns an error for
// an invalid URL, [ErrNotDemo], [ErrOtherVersion], [ErrOtherWriter], errors of the scenario, or nil if the context
// ends.
func KeepAlive(ctx context.Context, url string, now func() time.Time, log *slog.Logger) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("parsing the database URL: %w", err)
	}
	config.MaxConns, config.ConnConfig.ConnectTimeout, config.AfterConnect = 1, liveConnect, registerTypes
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("preparing the connection of the demo network: %w", err)
	}
	defer pool.Close()
	var network *liveNetwork
	for {
		next := now().Truncate(time.Duration(world.BlockTime)).Add(time.Duration(world.BlockTime))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(next.Sub(now())):
		}
		var err error
		if network == nil {
			network, err = resume(ctx, pool)
			debug.FreeOSMemory()                                  // the scenario leaves much garbage
			next = now().Truncate(time.Duration(world.BlockTime)) // running it took time
		}
		if err == nil {
			err = network.write(ctx, pool, next)
		}
		var story *scenarioError
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, ErrNotDemo), errors.Is(err, ErrOtherVersion), errors.Is(err, ErrOtherWriter),
			errors.As(err, &story):
			return err
		default:
			log.WarnContext(ctx, "adding a block to the demo network failed; retrying", "error", err)
		}
	}
}

type scenarioError struct{ error }

// liveNetwork is the demo network with its live blocks.
type liveNetwork struct {
	scenario *scenario.Scenario
	// stored is what the database holds of the tables whose rows change, by table and key.
	stored map[string]map[string]world.Row
	// Blocks that were made and are not known to be written follow the block with the hash before; there are none when
	// it is the chain's last.
	storedHash string
}

// queryer is a connection or a pool.
type queryer interface {
	Querier
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// resume runs the scenario again in memory, up to the newest block of the database. It only reads the database. It
// fails with [ErrNotDemo] or [ErrOtherVersion] if the database has something else, and with a [scenarioError] if a
// step of the scenario fails. Other errors are those of reading.
func resume(ctx context.Context, conn queryer) (*liveNetwork, error) {
	demo, err := IsDemo(ctx, conn)
	if err != nil {
		return nil, err
	}
	if !demo {
		return nil, ErrNotDemo
	}
	var end, last int64
	var hash string
	err = conn.QueryRow(ctx, `
		select consensus_end, index, hash from record_file
		where hash = substring(obj_description('record_file'::regclass, 'pg_class') from length($1::text) + 1)`, marker).Scan(&end, &last, &hash)
	if err != nil {
		return nil, fmt.Errorf("reading the last block of the scenario: %w", err)
	}
	w, err := scenario.New(end)
	if err != nil {
		return nil, &scenarioError{err}
	}
	if w.LastBlockHash() != hash {
		return nil, ErrOtherVersion
	}
	// Live blocks end at even seconds. Other blocks consist of automatic transactions after a pause.
	rows, _ := conn.Query(ctx,
		"select consensus_end from record_file where index > $1 and consensus_end % $2 = 0 order by index", last,
		world.BlockTime)
	ends, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("reading the live blocks: %w", err)
	}
	n := &liveNetwork{scenario: w, stored: map[string]map[string]world.Row{}}
	w.DiscardRows()
	for _, end := range ends {
		w.Continue(end)
		w.DiscardRows()
	}
	err = w.Err()
	if err != nil {
		return nil, &scenarioError{err}
	}
	n.storedHash, err = newestHash(ctx, conn)
	if err != nil {
		return nil, err
	}
	if w.LastBlockHash() != n.storedHash {
		return nil, ErrOtherVersion
	}
	n.markStored(n.changedRows())
	return n, nil
}

// newestHash reads the hash of the newest block, or an empty string if there is none.
func newestHash(ctx context.Context, db Querier) (hash string, err error) {
	err = db.QueryRow(ctx,
		"select coalesce((select hash from record_file order by consensus_end desc limit 1), '')").Scan(&hash)
	return hash, wrap.Error(err, "reading the newest block")
}

// addBlock adds a block that ends at a consensus time to the network in memory. It does nothing if blocks have not
// been written yet, or if the last block ended less than two seconds before. Errors of the scenario are a
// [scenarioError].
func (n *liveNetwork) addBlock(end int64) error {
	if n.scenario.LastBlockHash() == n.storedHash && end >= n.scenario.Now()+world.BlockTime {
		n.scenario.Continue(end)
	}
	if err := n.scenario.Err(); err != nil {
		return &scenarioError{err}
	}
	return nil
}

// write adds the block that ends at the given time to the network in memory, and writes it to the database. If the
// block before could not be written, it writes that one again and adds none. Once the block has begun, the end of ctx
// does not stop the write, but liveWrite does.
func (n *liveNetwork) write(ctx context.Context, conn DB, end time.Time) error {
	err := n.addBlock(end.UnixNano())
	if err != nil {
		return err
	}
	// Finish a started block even if the context ends.
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), liveWrite)
	defer cancel()
	return n.writeBlock(writing, conn)
}

// writeBlock writes the new blocks in one transaction and then removes their rows from memory. It fails with
// [ErrOtherWriter] if another process has written blocks. Without new blocks it does nothing. Blocks that the
// database has already, because the response to their commit was lost, count as written.
func (n *liveNetwork) writeBlock(ctx context.Context, conn DB) error {
	if n.scenario.LastBlockHash() == n.storedHash {
		return nil
	}
	changes := n.changedRows()
	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
		newest, err := newestHash(ctx, tx)
		if err != nil {
			return err
		}
		switch newest {
		case n.storedHash:
			return n.writeRows(ctx, tx, changes)
		case n.scenario.LastBlockHash(): // the commit succeeded, but its response was lost
			return nil
		default:
			return ErrOtherWriter
		}
	})
	if err != nil {
		return err
	}
	n.storedHash = n.scenario.LastBlockHash()
	n.markStored(changes)
	n.scenario.DiscardRows()
	return nil
}

// writeRows copies the new rows of tables without keys into the database, and inserts or updates the changed rows of
// the others. It changes nothing in memory; [liveNetwork.writeBlock] does that after the commit.
func (n *liveNetwork) writeRows(ctx context.Context, tx pgx.Tx, changes []change) error {
	for _, table := range tables {
		if _, kept := world.PrimaryKeys[table]; !kept {
			err := copyRows(ctx, tx, table, n.scenario.Rows(table))
			if err != nil {
				return err
			}
		}
	}
	batch := &pgx.Batch{}
	for _, c := range changes {
		sql, args := c.statement()
		batch.Queue(sql, args...)
	}
	return wrap.Error(tx.SendBatch(ctx, batch).Close(), "writing the changed rows of a block")
}

type change struct {
	table, key string
	row        world.Row
}

// changedRows returns copies of the current rows that differ from what the database contains, sorted by table and
// key. It first updates the balances in the rows of the scenario in memory, and does not read the database.
func (n *liveNetwork) changedRows() []change {
	var changes []change
	for table, rows := range n.scenario.CurrentRows() {
		kept := n.stored[table]
		for k, r := range rows {
			if !reflect.DeepEqual(kept[k], r) {
				changes = append(changes, change{table, k, maps.Clone(r)})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.table+a.key, b.table+b.key) })
	return changes
}

// markStored records in n.stored that the database contains the rows, so that [liveNetwork.changedRows] omits them. It
// keeps the rows of changes, which must not be modified afterwards, and writes nothing to the database.
func (n *liveNetwork) markStored(changes []change) {
	for _, c := range changes {
		if n.stored[c.table] == nil {
			n.stored[c.table] = map[string]world.Row{}
		}
		n.stored[c.table][c.key] = c.row
	}
}

// statement returns the text and the arguments of an insert of the row, which replaces the one with the same primary
// key. It runs nothing. Columns that the row does not have stay as they are.
func (c change) statement() (string, []any) {
	columns := columnsOf([]world.Row{c.row})
	values, sets := make([]string, len(columns)), make([]string, len(columns))
	args := make([]any, len(columns))
	for i, column := range columns {
		values[i], sets[i], args[i] = fmt.Sprintf("$%d", i+1), column+" = excluded."+column, c.row[column]
	}
	return fmt.Sprintf("insert into %s (%s) values (%s) on conflict (%s) do update set %s",
		c.table, strings.Join(columns, ", "), strings.Join(values, ", "), world.PrimaryKeys[c.table],
		strings.Join(sets, ", ")), args
}

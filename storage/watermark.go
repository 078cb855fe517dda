package storage

import (
	"context"
	"fmt"
	"math"

	"heliograph/internal/domain/ledger"
)

// On a distributed database, the rows of a block become visible shard by shard. The importer then keeps a watermark:
// all rows up to it are visible. The gateway reads only blocks up to the watermark, in all statements, and delivers
// only rows up to it to subscriptions.

// watermarkTable has one row with the watermark. Other databases do not have the table.
const watermarkTable = "record_file_watermark"

// visibleBlocks is the condition on the blocks up to the watermark.
const visibleBlocks = ` where consensus_end <=
  coalesce((select min(consensus_end) from ` + watermarkTable + `), 9223372036854775807)`

// blocksTable is the table of blocks.
const blocksTable = "record_file"

// visible returns a FROM item with the blocks that are visible: all, or those up to the watermark.
func (s *servers) visible() string {
	if s.bounded.Load() {
		return "(select * from " + blocksTable + visibleBlocks + ") " + blocksTable
	}
	return blocksTable
}

// readWatermark reads whether the role can read the table of the watermark, up to which all rows are visible, and
// stores the result in db.
func (db *DB) readWatermark(ctx context.Context) error {
	var there bool
	const sql = `select coalesce(has_table_privilege(to_regclass($1)::oid, 'select'), false)`
	err := db.Pool().QueryRow(ctx, sql, watermarkTable).Scan(&there)
	if err != nil {
		return fmt.Errorf("looking for the watermark: %w", err)
	}
	db.servers.bounded.Store(there)
	return nil
}

// Watermark reads the consensus time up to which all rows are visible. Without a watermark, or if its table is empty,
// it is the last possible time.
func (db *DB) Watermark(ctx context.Context) (ledger.Timestamp, error) {
	if !db.servers.bounded.Load() {
		return math.MaxInt64, nil
	}
	const sql = `select min(consensus_end) from ` + watermarkTable
	at, err := Value[ledger.Null[ledger.Timestamp]](ctx, db, "the watermark", sql)
	if err != nil || !at.Valid {
		return math.MaxInt64, err
	}
	return at.V, nil
}

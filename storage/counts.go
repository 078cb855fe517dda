package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"heliograph/internal/domain/ledger"
)

// Countable is a list whose length the database's statistics tell.
type Countable string

// The lists.
const (
	CountAccounts     Countable = `select from entity where type in ('ACCOUNT', 'CONTRACT')`
	CountContracts    Countable = `select from entity where type = 'CONTRACT'`
	CountTokens       Countable = `select from token`
	CountTransactions Countable = `select from transaction`
)

// Estimate is how many rows a list has, as the database expects it. Nothing is read: the planner says what it would have to.
func (db *DB) Estimate(ctx context.Context, what Countable) (int64, error) {
	var text []byte
	if err := db.pool.QueryRow(ctx, `explain (format json) `+string(what)).Scan(&text); err != nil {
		return 0, fmt.Errorf("estimating rows: %w", err)
	}
	var plans []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		} `json:"Plan"`
	}
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		return 0, fmt.Errorf("reading a plan of %d parts: %w", len(plans), err)
	}
	return plans[0].Plan.Rows, nil
}

// CountBlocks is how many blocks there are. They are numbered without gaps, so that the first and the last tell.
func (db *DB) CountBlocks(ctx context.Context) (int64, error) {
	var n int64
	if err := db.pool.QueryRow(ctx, `select coalesce(max(index) - min(index) + 1, 0) from record_file`).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting blocks: %w", err)
	}
	return n, nil
}

// CountTopicMessages is how many messages of a topic there are. They are numbered without gaps, so that the first and the last tell.
func (db *DB) CountTopicMessages(ctx context.Context, topic ledger.EntityID) (int64, error) {
	const end = `(select sequence_number from topic_message where topic_id = $1 order by consensus_timestamp `
	var n int64
	if err := db.pool.QueryRow(ctx, `select coalesce(`+end+`desc limit 1) - `+end+`limit 1) + 1, 0)`, int64(topic)).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting the messages of topic %s: %w", topic, err)
	}
	return n, nil
}

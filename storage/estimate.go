package storage

import (
	"context"
	"encoding/json"
	"fmt"
)

// Countable is a list whose length the database's statistics tell.
type Countable string

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

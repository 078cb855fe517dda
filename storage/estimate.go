package storage

import (
	"context"
	"encoding/json"
	"fmt"
)

// Countable is a statement whose number of rows the planner can estimate.
type Countable string

// Estimate returns the planner's estimate of the number of rows. It does not run the statement.
func (db *DB) Estimate(ctx context.Context, what Countable) (int64, error) {
	text, err := Value[[]byte](ctx, db, "a plan", `explain (format json) `+string(what))
	if err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		} `json:"Plan"`
	}
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		return 0, fmt.Errorf("decoding a plan with %d elements: %w", len(plans), err)
	}
	return plans[0].Plan.Rows, nil
}

package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Beginner begins transactions. Connections and pools of pgx implement it.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// EnsurePartitions creates the missing monthly partitions of the balance snapshots up to the month after now (UTC). The zero time means the session's setting
// heliograph.now, or else the server's clock. Rows of a new month move from the default partition into the new one. It is safe to call at any time and from
// several processes. It changes nothing if no partition is missing. The database must have been created by [Ledger].
func EnsurePartitions(ctx context.Context, conn Beginner, now time.Time) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if !now.IsZero() {
			instant := now.UTC().Format(time.RFC3339)
			if _, err := tx.Exec(ctx, "select set_config('heliograph.now', $1, true)", instant); err != nil {
				return fmt.Errorf("set the instant: %w", err)
			}
		}
		if _, err := tx.Exec(ctx, "call public.create_mirror_node_time_partitions()"); err != nil {
			return fmt.Errorf("call the procedure: %w", err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add monthly partitions: %w", err)
	}
	return nil
}

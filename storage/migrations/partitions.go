package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Beginner starts transactions: a connection or a pool of pgx.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// EnsurePartitions adds the monthly partitions of the balance snapshots that are missing up to the month after now
// (UTC). The zero time stands for the session's setting heliograph.now, or else the server's clock. Rows that the
// default partitions hold for a new month move into its partition. It may run at any time and in several processes; it
// changes nothing where nothing is missing. The database must have been made by [Ledger].
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

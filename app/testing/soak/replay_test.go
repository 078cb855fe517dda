//go:build soak

package soak

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// replayed are the tables of which each transaction can have rows. They have a column consensus_timestamp.
var replayed = []string{
	"transaction", "crypto_transfer", "token_transfer", "entity_transaction", "assessed_custom_fee",
	"staking_reward_transfer", "topic_message",
	"contract_result", "contract_action", "contract_log", "contract_state_change", "contract_transaction",
	"contract_transaction_hash",
	"ethereum_transaction", "transaction_hash",
}

// TestReadersOfLargeDatabase is TestReadersBesideWriter on the database of -soak.database. The writer copies the
// oldest transactions with all their rows to the time after the newest.
func TestReadersOfLargeDatabase(t *testing.T) {
	if *large == "" {
		t.Log("not run: set -soak.database")
		return
	}
	n := &network{url: *large}
	n.gateway, n.address = n.startGateway(t, freeAddress(t))
	t.Cleanup(func() { stopGateway(n.gateway) })
	conn, err := pgx.Connect(t.Context(), n.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	read := func(sql string) (v int64) {
		if err := conn.QueryRow(t.Context(), sql).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	newest := read(`select max(consensus_timestamp) from transaction`)
	t.Cleanup(func() {
		for _, table := range replayed {
			if _, err := conn.Exec(context.WithoutCancel(t.Context()),
				"delete from "+table+" where consensus_timestamp > $1", newest); err != nil {
				t.Error(err)
			}
		}
	})
	paths := pathsOf(read(`select payer_account_id from (select payer_account_id from transaction order by consensus_timestamp desc limit 10000) t
where payer_account_id > 1000 group by 1 order by count(*) desc limit 1`), read(`select topic_id from topic_message group by 1 order by count(*) desc limit 1`))
	readBeside(t, n, paths, "warm-up", *length/2)
	readBeside(t, n, paths, "no writer", *length/2)
	stop := make(chan error, 1)
	go func() { stop <- replay(t.Context(), conn, newest, *beside, *length/2) }()
	readBeside(t, n, paths, fmt.Sprintf("%d transactions/s", *beside), *length/2)
	if err := <-stop; err != nil {
		t.Error(err)
	}
	if got, want := read(fmt.Sprintf("select count(*) from transaction where consensus_timestamp > %d", newest)),
		int64(float64(*beside)*(*length/2).Seconds()); got < want {
		t.Errorf("%d transactions were written, want %d", got, want)
	}
}

// replay copies rate transactions per second, with all their rows, for a time.
func replay(ctx context.Context, conn *pgx.Conn, newest int64, rate int, length time.Duration) error {
	const interval = 100 * time.Millisecond
	var from int64
	if err := conn.QueryRow(ctx, `select min(consensus_timestamp) - 1 from transaction`).Scan(&from); err != nil {
		return fmt.Errorf("reading the oldest transaction: %w", err)
	}
	shift := newest - from
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for range int(length / interval) {
		var until int64
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if err := tx.QueryRow(ctx, `select max(consensus_timestamp) from (select consensus_timestamp from transaction where consensus_timestamp > $1
order by consensus_timestamp limit $2) t`, from, rate*int(interval)/int(time.Second)).Scan(&until); err != nil {
				return fmt.Errorf("reading transactions to copy: %w", err)
			}
			for _, table := range replayed {
				change := `jsonb_build_object('consensus_timestamp', r.consensus_timestamp + $3)`
				if table == "topic_message" { // sequence numbers are unique
					change = `jsonb_build_object('consensus_timestamp', r.consensus_timestamp + $3, ` +
						`'sequence_number', r.sequence_number + 1000000000)`
				}
				sql := fmt.Sprintf(`insert into %[1]s select (jsonb_populate_record(r, %[2]s)).* from %[1]s r
where consensus_timestamp > $1 and consensus_timestamp <= $2`, table, change)
				if _, err := tx.Exec(ctx, sql, from, until, shift); err != nil {
					return fmt.Errorf("copying %s: %w", table, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		from = until
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

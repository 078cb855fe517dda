package v1_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// extreme has an account whose staking period starts after the year 2262, and transactions and topic messages with
// malformed columns.
var extreme = testenv.Rows("extreme", func(b *pgx.Batch) {
	b.Queue(`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, staked_node_id, stake_period_start)
values (302, 302, 0, 0, 'ACCOUNT', '[1000,)', 1000, 3, 1705318581)`)
	b.Queue(`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp) values (700, 700, ` +
		`0, 0, 'TOPIC', '[5,)', 0)`)
	b.Queue(`insert into topic (id, timestamp_range, created_timestamp) values (700, '[5,)', 0)`)
	b.Queue(`insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, transaction_hash, max_custom_fees)
select i, 27, 22, 302, i, '\x00', array['\x0a021802'::bytea, '\xff'] from generate_series(1, 2) i`)
	b.Queue(`insert into topic_message (consensus_timestamp, message, running_hash, sequence_number, payer_account_id, topic_id, chunk_num, chunk_total,
  initial_transaction_id) select i, '\x61', '\x', i, 302, 700, i, 2, '\xff' from generate_series(1, 2) i`)
})

// TestExtremeRows checks members whose columns have values that consensus nodes do not write. Malformed columns do not
// make lists fail. The first row with each is logged. The test is not parallel, because it replaces the default log.
func TestExtremeRows(t *testing.T) {
	g := testenv.Over(t, extreme.Shared(t))
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	for path, want := range map[string]string{
		"/accounts?account.id=302":          `"stake_period_start":"147339525398400.000000000"`,
		"/accounts/0.0.302":                 `"stake_period_start":"147339525398400.000000000"`,
		"/transactions":                     `"max_custom_fees":[]`,
		"/transactions/0.0.302-0-000000001": `"max_custom_fees":[]`,
		"/topics/700/messages":              `"chunk_info":null`,
		"/topics/700/messages/1":            `"chunk_info":null`,
	} {
		if got := g.Get(t, "/api/v1"+path); got.Status != http.StatusOK || !strings.Contains(got.Body, want) {
			t.Errorf("%s: status %d:\n%s", path, got.Status, testenv.Diff(want, got.Body))
		}
	}
	for _, column := range []string{"column=initial_transaction_id", "column=max_custom_fees"} {
		if n := strings.Count(log.String(), column); n != 1 {
			t.Errorf("%d lines with %s in the log:\n%s", n, column, &log)
		}
	}
}

package transactions

import (
	"context"
	"fmt"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// timedTable is a table with an index on the consensus time.
type timedTable struct {
	list          string // the list of the graph that reads it
	table, column string
	where         string // condition on the rows of the list; empty for all
}

var timedTables = []timedTable{
	{"blocks", "record_file", "consensus_end", ""},
	{"transactions", "transaction", "consensus_timestamp", ""},
	{"transfers", "crypto_transfer", "consensus_timestamp", ""},
	{"tokenTransfers", "token_transfer", "consensus_timestamp", ""},
	{"assessedCustomFees", "assessed_custom_fee", "consensus_timestamp", ""},
	{"stakingRewards", "staking_reward_transfer", "consensus_timestamp", ""},
	{"topicMessages", "transaction", "consensus_timestamp", "where " + submitted},
	{"contractResults", "contract_result", "consensus_timestamp", ""},
	{"contractLogs", "contract_log", "consensus_timestamp", ""},
	{"contractActions", "contract_action", "consensus_timestamp", ""},
	{"stateChanges", "contract_state_change", "consensus_timestamp", ""},
	{"ethereumTransactions", "ethereum_transaction", "consensus_timestamp", ""},
	{"balances", "account_balance", "consensus_timestamp", "where account_id = $1"},
	{"files", "file_data", "consensus_timestamp", ""},
}

type partition struct {
	table string
	ledger.GatewayPartition
}

var (
	rangeRows = storage.MapperOf(func(r *ledger.GatewayRange, into []any) []any {
		return append(into, &r.List, &r.Table, &r.AvailableFrom, &r.AvailableTo)
	}, nil)
	partitionRows = storage.MapperOf(func(p *partition, into []any) []any {
		return append(into, &p.table, &p.Name, &p.From, &p.To)
	}, nil)
)

// partitionsByTime is the query for the partitions of all tables by ranges of time.
const partitionsByTime = `select parent.relname::text, child.relname::text, b.limits[1]::bigint, b.limits[2]::bigint
from pg_inherits join pg_class child on child.oid = inhrelid and child.relispartition
join pg_class parent on parent.oid = inhparent and parent.relkind = 'p'
cross join lateral regexp_match(pg_get_expr(child.relpartbound, child.oid),
  '^FOR VALUES FROM \(''?(-?\d+)''?\) TO \(''?(-?\d+)''?\)$') b(limits)
where b.limits is not null order by 3, 2`

// Ranges reads the earliest and latest times for which tables have rows, null for an empty table, and their partitions
// by time, with which the graph describes the database. Tables that the database lacks are omitted. The times of
// balances are those of the treasury, which is in each snapshot.
func Ranges(ctx context.Context, db *storage.DB) (ranges []*ledger.GatewayRange, err error) {
	var parts []string
	for _, t := range timedTables {
		if db.Has(t.table, "") {
			parts = append(parts, fmt.Sprintf(
				`select '%s', '%s', (select min(%s) from %[2]s %[4]s), (select max(%[3]s) from %[2]s %[4]s)`,
				t.list, t.table, t.column, t.where))
		}
	}
	b := db.NewBatch()
	partitions := partitionRows.Queue(b, partitionsByTime, nil)
	ranges, err = storage.Run(ctx, b, rangeRows.Queue(b, strings.Join(parts, "\nunion all "),
		[]any{int64(db.SystemEntity(entities.TreasuryNum))}))
	if err != nil {
		return nil, fmt.Errorf("reading the times of tables: %w", err)
	}
	rows, err := partitions()
	for _, p := range rows {
		for _, r := range ranges {
			if r.Table == p.table {
				r.Partitions = append(r.Partitions, &p.GatewayPartition)
			}
		}
	}
	return ranges, err
}

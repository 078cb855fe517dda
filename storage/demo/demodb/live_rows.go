package demodb

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"heliograph/storage/demo/world"
)

// primaryKeys are the primary keys of tables whose rows change in a live network. Other tables only grow.
var primaryKeys = map[string][]string{
	"entity": {"id"}, "token": {"token_id"}, "token_account": {"account_id", "token_id"}, "nft": {"token_id", "serial_number"},
	"custom_fee": {"entity_id"}, "crypto_allowance": {"owner", "spender"}, "token_allowance": {"owner", "spender", "token_id"},
	"nft_allowance": {"owner", "spender", "token_id"}, "token_airdrop": {"sender_account_id", "receiver_account_id", "token_id", "serial_number"},
	"topic": {"id"}, "node": {"node_id"}, "registered_node": {"registered_node_id"}, "hook": {"owner_id", "hook_id"}, "entity_stake": {"id"},
	"contract_state": {"contract_id", "slot"}, "hook_storage": {"owner_id", "hook_id", "key"}, "topic_message_lookup": {"topic_id", "partition"},
}

// change is a row that differs from the database.
type change struct {
	table, key string
	row        world.Row
}

// changedRows returns copies of the rows that differ from the database.
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

// markStored records that the database contains rows.
func (n *liveNetwork) markStored(changes []change) {
	for _, c := range changes {
		if n.stored[c.table] == nil {
			n.stored[c.table] = map[string]world.Row{}
		}
		n.stored[c.table][c.key] = c.row
	}
}

// statement returns an upsert of the row.
func (c change) statement() (string, []any) {
	columns := columnsOf([]world.Row{c.row})
	values, sets := make([]string, len(columns)), make([]string, len(columns))
	args := make([]any, len(columns))
	for i, column := range columns {
		values[i], sets[i], args[i] = fmt.Sprintf("$%d", i+1), column+" = excluded."+column, c.row[column]
	}
	return fmt.Sprintf("insert into %s (%s) values (%s) on conflict (%s) do update set %s",
		c.table, strings.Join(columns, ", "), strings.Join(values, ", "), strings.Join(primaryKeys[c.table], ", "), strings.Join(sets, ", ")), args
}

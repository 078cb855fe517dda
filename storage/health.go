package storage

import (
	"context"
	"time"

	"heliograph/internal/domain/ledger"
)

// LedgerHealth describes the newest blocks and the activity of nodes.
type LedgerHealth struct {
	// Block is the number of the newest block, and At is its end. Both are 0 if there are no blocks.
	Block int64
	At    ledger.Timestamp
	// Missing is the number of gaps among the newest 100 blocks.
	Missing int64
	// Transactions is the number of newest transactions that were examined.
	Transactions int64
	// Nodes contains the nodes of the newest address book by their IDs.
	Nodes map[int64]*NodeHealth
}

// NodeHealth describes the activity of a consensus node.
type NodeHealth struct {
	ID           int64
	Deleted      bool
	Stake        ledger.Null[int64] // in tinybars; null if no stakes are published
	MinStake     ledger.Null[int64] // the minimum stake for a weight above 0
	Transactions int64              // of the examined transactions, those submitted to this node
}

// Limits of the examined rows.
const (
	healthBlocks       = 100
	healthTransactions = 5000
	healthWindow       = 10 * time.Minute // before the end of the newest block
)

// LedgerHealth reads the health of the ledger. The number of rows it reads does not depend on the size of the ledger.
func (db *DB) LedgerHealth(ctx context.Context) (*LedgerHealth, error) {
	blocks := MapperOf(func(h *LedgerHealth, into []any) []any { return append(into, &h.Block, &h.At, &h.Missing) }, nil)
	h, err := blocks.One(ctx, db, "the newest blocks",
		`select coalesce(max(index), 0), coalesce(max(consensus_end), 0), coalesce(max(index) - min(index) + 1 - count(*), 0)
from (select index, consensus_end from record_file order by consensus_end desc limit $1) b`, healthBlocks)
	if err != nil {
		return nil, err
	}
	activity := MapperOf(func(n *NodeHealth, into []any) []any {
		return append(into, &n.ID, &n.Deleted, &n.Stake, &n.MinStake, &n.Transactions, &h.Transactions)
	}, nil)
	nodes, err := activity.List(ctx, db, "the nodes", `with sent as (
  select node_account_id, count(*) as n from (
    select node_account_id from transaction where consensus_timestamp > $1 order by consensus_timestamp desc limit $2) t
  group by node_account_id)
select e.node_id, coalesce(n.deleted, false), s.stake, nullif(s.min_stake, -1), coalesce(sent.n, 0),
(select coalesce(sum(n), 0)::bigint from sent where node_account_id is not null)
from address_book_entry e
left join node n on n.node_id = e.node_id
left join node_stake s on s.node_id = e.node_id and s.consensus_timestamp = (select max(consensus_timestamp) from node_stake)
left join sent on sent.node_account_id = coalesce(n.account_id, e.node_account_id)
where e.consensus_timestamp = (select max(start_consensus_timestamp) from address_book)`, int64(h.At)-healthWindow.Nanoseconds(), healthTransactions)
	if err != nil {
		return nil, err
	}
	h.Nodes = make(map[int64]*NodeHealth, len(nodes))
	for _, n := range nodes {
		h.Nodes[n.ID] = n
	}
	return h, nil
}

package entities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

var unreleasedAt = storage.ByKeys(`select coalesce(sum(held.balance), 0)::bigint, coalesce(max(held.consensus_timestamp), 0)
from unnest(` + storage.Array1 + `) a(id) cross join lateral (
  select balance, consensus_timestamp from account_balance
  where account_id = a.id and consensus_timestamp between $2 and $3 order by consensus_timestamp desc limit 1) held`)

// NetworkSupply reads the circulating supply: the total supply less the balances of the network's own accounts. It
// returns nil if the database has no balances. Few ranges of accounts cost PostgreSQL less than hundreds of accounts.
func NetworkSupply(ctx context.Context, db *storage.DB) (*ledger.NetworkSupply, error) {
	return supply(ctx, db, `select coalesce(sum(balance), 0)::bigint, coalesce(max(balance_timestamp), 0)
from entity where `+strings.Join(list.Map(ledger.Unreleased[:], func(r [2]int64) string {
		return fmt.Sprintf("id between %d and %d", db.SystemEntity(r[0]), db.SystemEntity(r[1]))
	}), " or "))
}

// NetworkSupplyAt reads the supply from the newest balances within bounds, of which it ignores Except. The search
// starts in the month before that of the upper bound, because each month begins with a full snapshot. It returns nil
// if there are no balances.
func NetworkSupplyAt(ctx context.Context, db *storage.DB, b storage.Window) (*ledger.NetworkSupply, error) {
	return supply(ctx, db, unreleasedAt.Arrays(db).SQL,
		storage.Int64s(ledger.UnreleasedAccounts(db.SystemEntity(0))), int64(max(b.Lower, monthStart(b.Upper, -1))),
		int64(b.Upper))
}

var supplyRows = storage.MapperOf(func(s *ledger.NetworkSupply, into []any) []any {
	return append(into, &s.ReleasedSupply, &s.Timestamp)
}, nil)

// supply runs a statement that returns one row, the unreleased tinybars and their time, and returns the supply of the
// network. The result is nil if there are no balances: the time is 0 then.
func supply(ctx context.Context, db *storage.DB, sql string, args ...any) (*ledger.NetworkSupply, error) {
	s, err := supplyRows.One(ctx, db, "the network's supply", sql, args...)
	if err != nil || s.Timestamp == 0 {
		return nil, err
	}
	s.ReleasedSupply = ledger.TotalSupply - s.ReleasedSupply // the query returns the unreleased supply
	return s, nil
}

// finishNode sets the members of a node that are computed from columns; it decodes the proxy endpoint. It fails if
// that is invalid JSON.
func finishNode(n *nodeRow) error {
	n.AdminKey = n.adminKey.Info()
	n.CertHash, n.PublicKey = withHexPrefix(string(n.certHash)), withHexPrefix(n.publicKey.V)
	if n.stakingPeriod.Valid {
		n.StakingPeriod = new(ledger.StakingPeriodOf(n.stakingPeriod.V))
	}
	err := storage.DecodeJSON(n.proxy, &n.GRPCProxyEndpoint)
	if err != nil {
		return fmt.Errorf("proxy endpoint of node %d: %w", n.NodeID, err)
	}
	return nil
}

// withHexPrefix adds the prefix "0x" to s, which is hex already, unless it is present.
func withHexPrefix(s string) string {
	if strings.HasPrefix(s, "0x") {
		return s
	}
	return "0x" + s
}

// Joins for the current address book of the file $1 and the further data of its nodes e.
const (
	currentBook = `(select * from address_book where file_id = $1 order by start_consensus_timestamp desc limit 1) b`
	nodeFacts   = `left join node n on n.node_id = e.node_id
left join node_stake s on s.consensus_timestamp = (select max(consensus_timestamp) from node_stake) and s.node_id = e.node_id`
)

// bookFile returns the ID of the file of an address book, as the database has it. If file is empty, it is that of the
// one with all details (0.0.102). It reads nothing.
func bookFile(db *storage.DB, file ledger.EntityID) int64 {
	if file.IsNone() {
		return int64(db.SystemEntity(ledger.AddressBookFile))
	}
	return int64(file)
}

// NetworkNodesByStake reads a page of the nodes in a file's current address book, ordered by stake and number. An
// unknown stake counts as -1. If file is 0, it is the one with all details. It reads all nodes of the book, and
// returns those of the page.
func NetworkNodesByStake(
	ctx context.Context, db *storage.DB, file ledger.EntityID, f ledger.NetworkNodeFilter, p storage.Page,
) (
	[]*ledger.NetworkNode, error,
) {
	w := storage.With(bookFile(db, file))
	storage.Filter(&w, "e.node_id", f.NodeID)
	const stake = "coalesce(s.stake, -1)"
	w.Keyset(p, stake, "e.node_id")
	return nodeRows.List(ctx, db, "nodes", `select `+nodeColumns+` from `+currentBook+`
join address_book_entry e on e.consensus_timestamp = b.start_consensus_timestamp
`+nodeFacts+` where true`+w.String()+w.OrderBy(p, stake, "e.node_id"), w.Args...)
}

// CountNetworkNodes reads the number of nodes in a file's current address book, or 0 without one. If file is 0, it is
// the one with all details.
func CountNetworkNodes(ctx context.Context, db *storage.DB, file ledger.EntityID) (int64, error) {
	return storage.Value[int64](ctx, db, "the number of nodes", `select count(*) from `+currentBook+`
join address_book_entry e on e.consensus_timestamp = b.start_consensus_timestamp`, bookFile(db, file))
}

// NetworkNodes reads a page of the nodes in a file's current address book, ordered by number. If file is 0, it is the
// one with all details.
func NetworkNodes(
	ctx context.Context, db *storage.DB, file ledger.EntityID, f ledger.NetworkNodeFilter, p storage.Page,
) ([]*ledger.NetworkNode, error) {
	w := storage.With(bookFile(db, file))
	storage.Filter(&w, "node_id", f.NodeID)
	w.Keyset(p, "node_id")
	sql := `select ` + nodeColumns + ` from ` + currentBook + ` cross join lateral (
  select * from address_book_entry where consensus_timestamp = b.start_consensus_timestamp` + w.String() + w.OrderBy(p, "node_id") + `) e
` + nodeFacts + ` order by e.node_id` + p.Direction()
	return nodeRows.List(ctx, db, "nodes", sql, w.Args...)
}

// NetworkNode reads a node from a file's current address book, or nil if it does not exist. If file is 0, it is the
// one with all details.
func NetworkNode(ctx context.Context, db *storage.DB, file ledger.EntityID, id int64) (*ledger.NetworkNode, error) {
	return storage.FirstOf(NetworkNodes(ctx, db, file,
		ledger.NetworkNodeFilter{NodeID: &ledger.LongFilter{Eq: &id}}, storage.Page{Limit: 1}))
}

// nodesOf describes the statement for the nodes of some owners in the current address book, ordered by number.
// Argument $1 is the file, and $2 an array of keys. condition relates nodes to p.key, the element of $2. Its first
// column is the position of the owner, from 1. It reads nothing.
func nodesOf(condition string) *storage.Read {
	return &storage.Read{Select: `p.ord, ` + nodeColumns, From: currentBook + `
join address_book_entry e on e.consensus_timestamp = b.start_consensus_timestamp
` + nodeFacts + `
join unnest((select $2::bigint[])) with ordinality p(key, ord) on ` + condition + ` order by p.ord, e.node_id`}
}

// QueueNetworkNodes queues a query for nodes by number in the current address book with all details. The result has
// one node per number, or nil for numbers that are not in it.
func QueueNetworkNodes(b *storage.Batch, ids []int64) storage.Result[[]*ledger.NetworkNode] {
	return nodeRows.QueueChild(b, len(ids), nodesOf(`e.node_id = p.key`), []any{bookFile(b.DB(), 0), ids})
}

// QueueNetworkNodesOf queues a query for the nodes of accounts in the current address book with all details. The
// result has one node per account, the first by number, or nil for accounts without a node.
func QueueNetworkNodesOf(b *storage.Batch, accounts []ledger.EntityID) storage.Result[[]*ledger.NetworkNode] {
	return nodeRows.QueueChild(b, len(accounts),
		nodesOf(`coalesce(n.account_id, e.node_account_id) = p.key and p.key <> 0`),
		[]any{bookFile(b.DB(), 0), storage.Int64s(accounts)})
}

// QueueNetworkNodesNaming queues a query for the nodes that are associated with registered nodes, in the current
// address book with all details, ordered by number. The result has one list per registered node.
func QueueNetworkNodesNaming(b *storage.Batch, registered []int64) storage.Result[[][]*ledger.NetworkNode] {
	return nodeRows.QueueChildren(b, len(registered), nodesOf(`p.key = any(n.associated_registered_nodes)`),
		[]any{bookFile(b.DB(), 0), registered})
}

// QueueServiceEndpoints queues a query for the service endpoints of nodes in the address book from which each node was
// read, ordered by address and port. The result has one list per node.
func QueueServiceEndpoints(b *storage.Batch, nodes []*ledger.NetworkNode) storage.Result[[][]*ledger.ServiceEndpoint] {
	books, ids := make([]int64, len(nodes)), make([]int64, len(nodes))
	for i, n := range nodes {
		books[i], ids[i] = int64(n.BookTimestamp.From.V), n.NodeID
	}
	ps, _ := b.Parents("book, node", books, ids)
	return endpointRows.QueueChildren(b, len(nodes), &storage.Read{
		Parents: ps, Select: `p.ord, ` + endpointColumns, From: ps.From,
		Joins: []storage.Join{
			storage.Beside(` join address_book_service_endpoint e on e.consensus_timestamp = p.book
and e.node_id = p.node`),
		},
		Rest: ` order by p.ord, e.ip_address_v4, e.port`,
	}, ps.Args)
}

// finishStake sets the members of the network stake that are computed from columns. The error is always nil.
func finishStake(s *stakeRow) error {
	s.NodeRewardFeeFraction = ledger.NewShare(s.nodeNumerator, s.nodeDenominator)
	s.StakingRewardFeeFraction = ledger.NewShare(s.rewardNumerator, s.rewardDenominator)
	s.StakingPeriod = ledger.StakingPeriodOf(s.stakingPeriod)
	return nil
}

// NetworkStake reads the latest stake of the network. It returns nil if there is none.
func NetworkStake(ctx context.Context, db *storage.DB) (*ledger.NetworkStake, error) {
	return stakeRows.One(ctx, db, "the network's stake", `select `+stakeColumns+`
from network_stake order by consensus_timestamp desc limit 1`)
}

// finishRegistered sets the members of a registered node that are computed from columns; it decodes the endpoints. It
// fails if these are invalid JSON.
func finishRegistered(r *registeredRow) error {
	r.AdminKey = r.adminKey.Info()
	for _, code := range r.types {
		r.Types = append(r.Types, ledger.RegisteredNodeTypeOf(code))
	}
	err := storage.DecodeJSON(r.endpoints, &r.ServiceEndpoints)
	if err != nil {
		return fmt.Errorf("endpoints of registered node %d: %w", r.RegisteredNodeID, err)
	}
	for _, e := range r.ServiceEndpoints {
		if e.BlockNode != nil {
			e.BlockNode.EndpointAPIs = list.Map(e.BlockNode.EndpointAPIs, ledger.BlockNodeAPIOf[ledger.BlockNodeAPI])
		}
	}
	return nil
}

// RegisteredNodes reads a page of the registered nodes that are not deleted, ordered by number.
func RegisteredNodes(
	ctx context.Context, db *storage.DB, f ledger.RegisteredNodeFilter, p storage.Page,
) ([]*ledger.RegisteredNode, error) {
	var w storage.Where
	storage.Filter(&w, "r.registered_node_id", f.RegisteredNodeID)
	if f.Type != nil {
		w.And("r.type @> ?", []int16{f.Type.Code()})
	}
	w.Keyset(p, "r.registered_node_id")
	sql := `select ` + registeredColumns + ` from registered_node r where r.deleted is false` + w.String() +
		w.OrderBy(p, "r.registered_node_id")
	return registeredRows.List(ctx, db, "registered nodes", sql, w.Args...)
}

// CountRegisteredNodes reads the number of registered nodes that are not deleted.
func CountRegisteredNodes(ctx context.Context, db *storage.DB) (int64, error) {
	return storage.Value[int64](ctx, db, "the number of registered nodes",
		`select count(*) from registered_node where deleted is false`)
}

// RegisteredNode reads a registered node, deleted or not. It returns nil if the node does not exist.
func RegisteredNode(ctx context.Context, db *storage.DB, id int64) (*ledger.RegisteredNode, error) {
	return registeredRows.One(ctx, db, "a registered node",
		`select `+registeredColumns+` from registered_node r where r.registered_node_id = $1`, id)
}

// QueueRegisteredNodesOf queues a query for the registered nodes that are associated with nodes, ordered by number,
// without deleted ones. The result has one list per node.
func QueueRegisteredNodesOf(b *storage.Batch, nodes []*ledger.NetworkNode) storage.Result[[][]*ledger.RegisteredNode] {
	var owners, ids []int64
	for i, n := range nodes {
		for _, id := range n.AssociatedRegisteredNodes {
			owners, ids = append(owners, int64(i+1)), append(ids, id)
		}
	}
	return registeredRows.QueueChildren(b, len(nodes), &storage.Read{
		Select: `p.owner, ` + registeredColumns,
		Page:   `select distinct * from unnest((select $1::bigint[]), (select $2::bigint[])) as p(owner, id)`, As: "p",
		Rest: ` join registered_node r on r.registered_node_id = p.id where r.deleted is false order by p.owner, p.id`,
	}, []any{owners, ids})
}

var fileRows = storage.NewMapper(accountTargets, finishAccount, func(r *accountRow) *ledger.File {
	return (*ledger.File)(&r.Account)
})

var filesByID = storage.ByKeys(`select ` + accountColumns +
	` from entity e left join entity_stake s on s.id = e.id where e.type = 'FILE' and e.id = ` + storage.Any1)

// QueueFiles queues a query for files by id, deleted or not. The result has one file per id, or nil for ids that do
// not exist.
func QueueFiles(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]*ledger.File] {
	return storage.QueueByKey(b, fileRows, filesByID, ids, func(f *ledger.File) ledger.EntityID { return f.EntityID })
}

// StartsVersion matches the rows of file_data that start a version of a file: a creation, or an update with content.
const StartsVersion = `(transaction_type = 17 or transaction_type = 19 and length(file_data) > 0)`

// SystemFile reads the newest valid content of a system file within bounds, of which it ignores Except. The last part
// must not be newer than the upper bound, and the first part not older than the lower. If read fails, the newest part
// is dropped and the content is read again; after the first part, the version before follows. The errors of read are
// dropped too. at is the time of the last part of the valid content, which read has to keep. It is null if no content
// is valid within the configured number of attempts. The error is one of the database.
func SystemFile(ctx context.Context, db *storage.DB, file ledger.EntityID, bounds storage.Window,
	read func(content []byte) error,
) (at ledger.Null[ledger.Timestamp], err error) {
	for attempts := db.FileAttempts(); attempts > 0 && bounds.Lower <= bounds.Upper; {
		// The parts of the newest version: the one that created or replaced the content and those that were appended.
		parts, err := filePartRows.List(ctx, db, "a system file", `select `+filePartColumns+` from file_data
where entity_id = $1 and consensus_timestamp <= $3 and consensus_timestamp >= (
  select consensus_timestamp from file_data
  where entity_id = $1 and consensus_timestamp between $2 and $3 and `+StartsVersion+`
  order by consensus_timestamp desc limit 1)
  and not (transaction_type = 19 and coalesce(length(file_data), 0) = 0)
order by consensus_timestamp`, int64(file), int64(bounds.Lower), int64(bounds.Upper))
		if err != nil || len(parts) == 0 {
			return at, err
		}
		content := slices.Concat(list.Map(parts, func(p *filePartRow) []byte { return p.content })...)
		for ; len(parts) > 0 && attempts > 0; attempts-- {
			last := parts[len(parts)-1]
			if read(content) == nil {
				return ledger.Of(last.at), nil
			}
			content, parts = content[:len(content)-len(last.content)], parts[:len(parts)-1]
			bounds.Upper = last.at - 1
		}
	}
	return at, nil
}

// MaxSystemFile is the largest number of a system file. Call data is never stored in system files.
const MaxSystemFile = 1000

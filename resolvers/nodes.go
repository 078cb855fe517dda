package resolvers

import (
	"context"
	"fmt"
	"strconv"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// maxNodes is the maximum number of global ids in one request.
const maxNodes = 100

// Node returns the object with a global id.
func (r queries) Node(ctx context.Context, args graph.QueryNodeArgs) (relay.Node, error) {
	return r.node(ctx, args.ID)
}

// Nodes returns the objects with global ids.
func (r queries) Nodes(ctx context.Context, args graph.QueryNodesArgs) ([]relay.Node, error) {
	if len(args.Ids) > maxNodes {
		return nil, fault.Input("give at most %d ids", maxNodes)
	}
	nodes, errs := r.nodes(ctx, args.Ids)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// nodes reads objects by their global ids. It reads all objects of a type with one statement, and sends all statements in one round trip. Types without
// such a statement are read one by one. It returns one node and one error per id. The node is nil if it does not exist, the error is nil if it was read.
func (r *Resolver) nodes(ctx context.Context, ids []string) ([]relay.Node, []error) {
	nodes, errs := make([]relay.Node, len(ids)), make([]error, len(ids))
	var g gathering
	var alone, gathered []int
	for i, id := range ids {
		if added, err := g.add(i, id); added && err == nil {
			gathered = append(gathered, i)
		} else {
			alone = append(alone, i)
		}
	}
	if err := g.read(ctx, r.db, nodes); err != nil {
		clear(nodes)
		switch Classify(err).Code {
		case fault.Timeout, fault.Unavailable:
			for _, i := range gathered {
				errs[i] = err
			}
		default: // one object failed: read the others one by one
			alone = append(alone, gathered...)
		}
	}
	for _, i := range alone {
		nodes[i], errs[i] = r.node(ctx, ids[i])
	}
	return nodes, errs
}

// gathering has the requested keys by type.
type gathering struct {
	accounts, contracts, schedules, tokens, topics requested[ledger.EntityID]
	blocks                                         requested[int64]
	transactions                                   requested[ledger.Timestamp]
}

// requested has the keys of objects of one type and their positions in the request.
type requested[K any] struct {
	keys      []K
	positions []int
}

// add adds the object of an id. It returns false if the type is not read in batches.
func (g *gathering) add(position int, id string) (bool, error) {
	typ, name, err := relay.ParseID(id)
	if err != nil {
		return false, fault.Input("%q: %v", id, err)
	}
	byEntity := map[string]*requested[ledger.EntityID]{
		accountType: &g.accounts, contractType: &g.contracts, scheduleType: &g.schedules, tokenType: &g.tokens, topicType: &g.topics,
	}
	switch {
	case byEntity[typ] != nil:
		return true, byEntity[typ].add(position, name, parseEntityID)
	case typ == blockType:
		return true, g.blocks.add(position, name, parseNumber)
	case typ == transactionType:
		return true, g.transactions.add(position, name, ledger.ParseTimestamp)
	default:
		return false, nil
	}
}

func (w *requested[K]) add(position int, name string, parse func(string) (K, error)) error {
	key, err := parse(name)
	if err != nil {
		return fault.Input("%v", err)
	}
	w.keys, w.positions = append(w.keys, key), append(w.positions, position)
	return nil
}

// read reads the objects in one round trip and stores them at their positions.
func (g *gathering) read(ctx context.Context, db *storage.DB, into []relay.Node) error {
	b := db.NewBatch()
	queueRequested(b, &g.accounts, entities.QueueAccounts, into)
	queueRequested(b, &g.blocks, transactions.QueueBlocks, into)
	queueRequested(b, &g.contracts, entities.QueueContracts, into)
	queueRequested(b, &g.schedules, transactions.QueueSchedules, into)
	queueRequested(b, &g.tokens, entities.QueueTokens, into)
	queueRequested(b, &g.topics, queueTopics, into)
	queueRequested(b, &g.transactions, transactions.QueueTransactionsAt, into)
	return b.Run(ctx)
}

func queueRequested[K, T any, P nodePointer[T]](b *storage.Batch, w *requested[K], queue func(*storage.Batch, []K, func([]P)), into []relay.Node) {
	if len(w.keys) == 0 {
		return
	}
	queue(b, w.keys, func(rows []P) {
		for i, row := range rows {
			if row != nil {
				into[w.positions[i]] = row
			}
		}
	})
}

// node returns the object with a global id, or nil if it does not exist.
func (r *Resolver) node(ctx context.Context, id string) (relay.Node, error) {
	var g gathering
	gathered, err := g.add(0, id)
	if err != nil {
		return nil, err
	}
	if gathered {
		found := make([]relay.Node, 1)
		err := g.read(ctx, r.db, found)
		return found[0], err
	}
	typ, name, _ := relay.ParseID(id) // add has parsed it
	switch typ {
	case messageType:
		return byKey(name, ledger.ParseTimestamp, func(at ledger.Timestamp) (*ledger.TopicMessage, error) { return entities.TopicMessageAt(ctx, r.db, at) })
	case nftType:
		return r.nftByName(ctx, name)
	case logType:
		return r.logByID(ctx, name)
	case resultType:
		return byKey(name, ledger.ParseTimestamp, func(at ledger.Timestamp) (*ledger.ContractResult, error) { return r.resultAt(ctx, at) })
	case hookType:
		return r.hookByName(ctx, name)
	case networkNodeType:
		return r.networkNodeByName(ctx, name)
	case registeredNodeType:
		return byKey(name, parseNumber, func(id int64) (*ledger.RegisteredNode, error) { return entities.RegisteredNode(ctx, r.db, id) })
	default:
		if statuspages.HasType(typ) {
			return r.status.Node(ctx, typ, name)
		}
		return nil, fault.Input("%q is not the id of any type of this graph", id)
	}
}

// nodePointer is a pointer to a row that has a global id.
type nodePointer[T any] interface {
	*T
	relay.Node
}

// present converts a nil pointer to a nil interface.
func present[T any, P nodePointer[T]](row P, err error) (relay.Node, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return row, nil
}

// byKey reads the object whose key is the local part of a global id.
func byKey[K, T any, P nodePointer[T]](name string, parse func(string) (K, error), read func(K) (P, error)) (relay.Node, error) {
	key, err := parse(name)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return present(read(key))
}

// parseEntityID parses an entity id with shard and realm.
func parseEntityID(name string) (ledger.EntityID, error) { return ledger.ParseEntityID(name, 0) }

func parseNumber(name string) (int64, error) {
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", name)
	}
	return n, nil
}

package resolvers

import (
	"context"
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
		if g.add(i, id) {
			gathered = append(gathered, i)
		} else {
			alone = append(alone, i)
		}
	}
	b := r.db.NewBatch()
	g.queue(b, nodes)
	if err := b.Run(ctx); err != nil {
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
	accounts, contracts, schedules, tokens, topics wanted[ledger.EntityID]
	blocks                                         wanted[int64]
	transactions                                   wanted[ledger.Timestamp]
}

// wanted has the keys of objects of one type and their positions in the request.
type wanted[K any] struct {
	keys   []K
	places []int
}

// add adds the object of an id. It returns false if the type is not read in batches or the id is invalid.
func (g *gathering) add(place int, id string) bool {
	typ, name, err := relay.ParseID(id)
	if err != nil {
		return false
	}
	byEntity := map[string]*wanted[ledger.EntityID]{
		accountType: &g.accounts, contractType: &g.contracts, scheduleType: &g.schedules, tokenType: &g.tokens, topicType: &g.topics,
	}
	switch {
	case byEntity[typ] != nil:
		key, err := ledger.ParseEntityID(name, 0)
		return byEntity[typ].add(place, key, err)
	case typ == blockType:
		key, err := strconv.ParseInt(name, 10, 64)
		return g.blocks.add(place, key, err)
	case typ == transactionType:
		key, err := ledger.ParseTimestamp(name)
		return g.transactions.add(place, key, err)
	default:
		return false
	}
}

func (w *wanted[K]) add(place int, key K, err error) bool {
	if err != nil {
		return false
	}
	w.keys, w.places = append(w.keys, key), append(w.places, place)
	return true
}

// queue queues the statements. Their results are stored at the requested positions.
func (g *gathering) queue(b *storage.Batch, into []relay.Node) {
	queueWanted(b, &g.accounts, entities.QueueAccounts, into)
	queueWanted(b, &g.blocks, transactions.QueueBlocks, into)
	queueWanted(b, &g.contracts, entities.QueueContracts, into)
	queueWanted(b, &g.schedules, transactions.QueueSchedules, into)
	queueWanted(b, &g.tokens, entities.QueueTokens, into)
	queueWanted(b, &g.topics, queueTopics, into)
	queueWanted(b, &g.transactions, transactions.QueueTransactionsAt, into)
}

func queueWanted[K, T any, P nodePointer[T]](b *storage.Batch, w *wanted[K], queue func(*storage.Batch, []K, func([]P)), into []relay.Node) {
	if len(w.keys) == 0 {
		return
	}
	queue(b, w.keys, func(rows []P) {
		for i, row := range rows {
			if row != nil {
				into[w.places[i]] = row
			}
		}
	})
}

// node returns the object with a global id, or nil if it does not exist.
func (r *Resolver) node(ctx context.Context, id string) (relay.Node, error) {
	typ, name, err := relay.ParseID(id)
	if err != nil {
		return nil, fault.Input("%q: %v", id, err)
	}
	switch typ {
	case accountType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Account, error) { return entities.Account(ctx, r.db, id) })
	case topicType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Topic, error) {
			t, _, err := entities.Topic(ctx, r.db, id)
			return t, err
		})
	case blockType:
		number, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return nil, fault.Input("%q is not the id of a block", id)
		}
		return present(transactions.BlockByNumber(ctx, r.db, number))
	case messageType:
		return byTimestamp(name, func(at ledger.Timestamp) (*ledger.TopicMessage, error) { return entities.TopicMessageAt(ctx, r.db, at) })
	case tokenType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Token, error) { return entities.Token(ctx, r.db, id, nil) })
	case nftType:
		return r.nftByName(ctx, name)
	case contractType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Contract, error) {
			return entities.Contract(ctx, r.db, ledger.ContractRef{ID: id}, nil)
		})
	case logType:
		return r.logByID(ctx, name)
	case resultType:
		return byTimestamp(name, func(at ledger.Timestamp) (*ledger.ContractResult, error) { return r.resultAt(ctx, at) })
	case transactionType:
		return byTimestamp(name, func(at ledger.Timestamp) (*ledger.Transaction, error) { return r.transactionAt(ctx, at) })
	case hookType:
		return r.hookByName(ctx, name)
	case networkNodeType:
		return r.networkNodeByName(ctx, name)
	case registeredNodeType:
		return byNumber(name, func(id int64) (*ledger.RegisteredNode, error) { return entities.RegisteredNode(ctx, r.db, id) })
	case scheduleType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Schedule, error) { return transactions.Schedule(ctx, r.db, id) })
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

func byEntityID[T any, P nodePointer[T]](name string, read func(ledger.EntityID) (P, error)) (relay.Node, error) {
	id, err := ledger.ParseEntityID(name, 0)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return present(read(id))
}

func byTimestamp[T any, P nodePointer[T]](name string, read func(ledger.Timestamp) (P, error)) (relay.Node, error) {
	at, err := ledger.ParseTimestamp(name)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return present(read(at))
}

func byNumber[T any, P nodePointer[T]](name string, read func(int64) (P, error)) (relay.Node, error) {
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return nil, fault.Input("%q is not a number", name)
	}
	return present(read(id))
}

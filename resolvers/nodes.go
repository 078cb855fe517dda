package resolvers

import (
	"context"
	"strconv"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// nodes reads things by their global ids: one statement for all of a type, and all statements in one round trip. What has no such statement is read by
// itself. There is one thing for each id, nil where it does not exist, and one error, nil where there is none.
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
		default: // it is of one thing: the others are answered as if they had been asked for by themselves
			alone = append(alone, gathered...)
		}
	}
	for _, i := range alone {
		nodes[i], errs[i] = r.node(ctx, ids[i])
	}
	return nodes, errs
}

// gathering is what is asked for, by type.
type gathering struct {
	accounts, contracts, schedules, tokens, topics wanted[ledger.EntityID]
	blocks                                         wanted[int64]
	transactions                                   wanted[ledger.Timestamp]
}

// wanted are keys of things of one type, and the places that their ids have among all.
type wanted[K any] struct {
	keys   []K
	places []int
}

// add adds what an id names. It returns false for ids of other types, and for those that are wrong.
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

// queue queues the statements; what they find is put into its places.
func (g *gathering) queue(b *storage.Batch, into []relay.Node) {
	queueWanted(b, &g.accounts, entities.QueueAccounts, into)
	queueWanted(b, &g.blocks, transactions.QueueBlocks, into)
	queueWanted(b, &g.contracts, entities.QueueContracts, into)
	queueWanted(b, &g.schedules, transactions.QueueSchedules, into)
	queueWanted(b, &g.tokens, entities.QueueTokens, into)
	queueWanted(b, &g.topics, func(b *storage.Batch, ids []ledger.EntityID, done func([]*ledger.Topic)) {
		entities.QueueTopics(b, ids, func(topics []*ledger.Topic, _ []entities.TopicPart) { done(topics) })
	}, into)
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

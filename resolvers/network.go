package resolvers

import (
	"context"
	"slices"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// networkRelations are the arrows from and to the network's nodes.
type networkRelations struct {
	account          *rowplan.Relation[*ledger.NetworkNode, *ledger.Account]
	accountNode      *rowplan.Relation[*ledger.Account, *ledger.NetworkNode]
	componentNode    *rowplan.Relation[*status.Component, *ledger.NetworkNode]
	networkNodes     *rowplan.Relation[*ledger.RegisteredNode, []*ledger.NetworkNode]
	registeredNodes  *rowplan.Relation[*ledger.NetworkNode, []*ledger.RegisteredNode]
	serviceEndpoints *rowplan.Relation[*ledger.NetworkNode, []*ledger.ServiceEndpoint]
	stakedNode       *rowplan.Relation[*ledger.Account, *ledger.NetworkNode]
	transactionNode  *rowplan.Relation[*ledger.Transaction, *ledger.NetworkNode]
}

// noNode is the number of no node.
const noNode = -1

func newNetworkRelations() networkRelations {
	return networkRelations{
		account:     accountOf(func(n *ledger.NetworkNode) ledger.EntityID { return n.NodeAccountID }),
		accountNode: nodeOf(func(a *ledger.Account) ledger.EntityID { return a.EntityID }),
		componentNode: queued(func(_ context.Context, b *storage.Batch, parents []*status.Component, _ rowplan.Args, done func([]*ledger.NetworkNode)) error {
			entities.QueueNetworkNodes(b, keys(parents, func(c *status.Component) int64 { return c.NodeID.Or(noNode) }), done)
			return nil
		}),
		networkNodes: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.RegisteredNode, _ rowplan.Args, done func([][]*ledger.NetworkNode)) error {
			entities.QueueNetworkNodesNaming(b, keys(parents, func(n *ledger.RegisteredNode) int64 { return n.RegisteredNodeID }), done)
			return nil
		}),
		registeredNodes: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.NetworkNode, _ rowplan.Args, done func([][]*ledger.RegisteredNode)) error {
			entities.QueueRegisteredNodesOf(b, parents, done)
			return nil
		}),
		serviceEndpoints: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.NetworkNode, _ rowplan.Args, done func([][]*ledger.ServiceEndpoint)) error {
			entities.QueueServiceEndpoints(b, parents, done)
			return nil
		}),
		stakedNode: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Account, _ rowplan.Args, done func([]*ledger.NetworkNode)) error {
			entities.QueueNetworkNodes(b, keys(parents, func(a *ledger.Account) int64 { return a.StakedNodeID.Or(noNode) }), done)
			return nil
		}),
		transactionNode: nodeOf(func(t *ledger.Transaction) ledger.EntityID { return t.NodeAccountID }),
	}
}

// nodeOf is the relation from a row to the node whose account it names; a parent may name none.
func nodeOf[T any](account func(T) ledger.EntityID) *rowplan.Relation[T, *ledger.NetworkNode] {
	return queued(func(_ context.Context, b *storage.Batch, parents []T, _ rowplan.Args, done func([]*ledger.NetworkNode)) error {
		entities.QueueNetworkNodesOf(b, keys(parents, account), done)
		return nil
	})
}

func (r *networkRelations) add(t *rowplan.Tables) {
	t.StatusComponent.Add("networkNode", rowplan.RelatedOne(r.componentNode, func() *rowplan.Object[*ledger.NetworkNode] { return t.NetworkNode }))
	node := func() *rowplan.Object[*ledger.NetworkNode] { return t.NetworkNode }
	t.Account.Add("node", rowplan.RelatedOne(r.accountNode, node))
	t.Account.Add("stakedNode", rowplan.RelatedOne(r.stakedNode, node))
	t.NetworkNode.Add("account", rowplan.RelatedOne(r.account, func() *rowplan.Object[*ledger.Account] { return t.Account }))
	t.NetworkNode.Add("registeredNodes", rowplan.RelatedMany(r.registeredNodes, func() *rowplan.Object[*ledger.RegisteredNode] { return t.RegisteredNode }))
	t.NetworkNode.Add("serviceEndpoints", rowplan.RelatedMany(r.serviceEndpoints, func() *rowplan.Object[*ledger.ServiceEndpoint] { return t.ServiceEndpoint }))
	t.RegisteredNode.Add("networkNodes", rowplan.RelatedMany(r.networkNodes, node))
	t.Transaction.Add("node", rowplan.RelatedOne(r.transactionNode, node))
}

func nodeKey(n *ledger.NetworkNode) relay.Key { return relay.Key{n.NodeID} }

func registeredNodeKey(n *ledger.RegisteredNode) relay.Key { return relay.Key{n.RegisteredNodeID} }

// orNone is the id that is given, or the one that names nothing.
func orNone(id *ledger.EntityID) ledger.EntityID {
	if id == nil {
		return 0
	}
	return *id
}

// bounds are the first and the last instant that a filter leaves.
func bounds(at *ledger.TimestampFilter) (entities.Bounds, error) {
	b, ok := entities.BoundsOf(at)
	if !ok {
		return b, fault.Input("ne and notIn are not possible here")
	}
	return b, nil
}

// networkSupply reads how much of the currency is or was in circulation.
func (r *Resolver) networkSupply(ctx context.Context, at *ledger.TimestampFilter) (*ledger.NetworkSupply, error) {
	if at == nil {
		return entities.NetworkSupply(ctx, r.db)
	}
	b, err := bounds(at)
	if err != nil {
		return nil, err
	}
	if b.Lower > b.Upper {
		return nil, fault.Of(fault.BadUserInput, ledger.ErrEmptyRange)
	}
	return entities.NetworkSupplyAt(ctx, r.db, b)
}

// systemFile reads a system file within bounds; found is false when there is none that can be read, which REST is told.
func (r *Resolver) systemFile(ctx context.Context, number int64, b entities.Bounds, read func([]byte) error) (at ledger.Timestamp, found bool, err error) {
	id := r.db.SystemEntity(number)
	when, err := entities.SystemFile(ctx, r.db, id, b, read)
	if err == nil && !when.Valid {
		relay.OutcomeOf(ctx).Missing = &relay.Missing{Kind: relay.MissingFile, ID: id}
	}
	return when.V, when.Valid, err
}

// exchangeRates reads what an hbar is or was worth.
func (r *Resolver) exchangeRates(ctx context.Context, at *ledger.TimestampFilter) (*ledger.ExchangeRateSet, error) {
	b, err := bounds(at)
	if err != nil {
		return nil, err
	}
	return r.exchangeRatesWithin(ctx, b)
}

func (r *Resolver) exchangeRatesWithin(ctx context.Context, b entities.Bounds) (*ledger.ExchangeRateSet, error) {
	var rates *ledger.ExchangeRateSet
	at, found, err := r.systemFile(ctx, ledger.ExchangeRateFile, b, func(content []byte) (err error) {
		rates, err = ledger.DecodeExchangeRates(content)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	rates.Timestamp = at
	return rates, nil
}

// networkFees reads what gas costs or cost.
func (r *Resolver) networkFees(ctx context.Context, at *ledger.TimestampFilter, order relay.Order) (*ledger.NetworkFees, error) {
	b, err := bounds(at)
	if err != nil {
		return nil, err
	}
	var schedules *ledger.FeeSchedules
	since, found, err := r.systemFile(ctx, ledger.FeeScheduleFile, b, func(content []byte) (err error) {
		schedules, err = ledger.DecodeFeeSchedules(content)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	rates, err := r.exchangeRatesWithin(ctx, b)
	if err != nil || rates == nil {
		return nil, err
	}
	// Without an upper bound the file's own time decides which of its schedules holds.
	when := since
	if b.Upper != ledger.MaxTimestamp {
		when = b.Upper
	}
	fees := schedules.GasFees(rates, when)
	if order == relay.Desc {
		slices.Reverse(fees)
	}
	return &ledger.NetworkFees{Fees: fees, Timestamp: since}, nil
}

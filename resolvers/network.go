package resolvers

import (
	"context"
	"slices"
	"strings"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// The lists of the network's nodes.
var (
	nodeList      = ofNumber("nodes", func(n *ledger.NetworkNode) int64 { return n.NodeID })
	nodeStakeList = listOf[ledger.NetworkNode]{"nodes by stake", 2, func(n *ledger.NetworkNode) relay.Key {
		return relay.Key{n.Stake.Or(-1), n.NodeID}
	}}
	registeredNodeList = ofNumber("registered nodes", func(n *ledger.RegisteredNode) int64 {
		return n.RegisteredNodeID
	})
)

// networkNodeByName reads the node with the local part of a global id.
func (r *Resolver) networkNodeByName(ctx context.Context, name string) (relay.Node, error) {
	fileName, number, _ := strings.Cut(name, ":")
	file, err := ledger.ParseEntityID(fileName, 0)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return byKey(number, parseNumber, func(id int64) (*ledger.NetworkNode, error) {
		return entities.NetworkNode(ctx, r.db, file, id)
	})
}

// Network returns the parent of the network's fields.
func (queries) Network(context.Context) (*ledger.Network, error) { return &ledger.Network{}, nil }

// network implements [graph.NetworkFields].
type network struct{ *Resolver }

// ID returns the global id of the network.
func (network) ID(context.Context) (string, error) { return relay.ID(networkType, ""), nil }

// Supply returns the supply of the currency, now or at a time.
func (r network) Supply(ctx context.Context, args graph.NetworkSupplyArgs) (*ledger.NetworkSupply, error) {
	if args.At == nil {
		return entities.NetworkSupply(ctx, r.db)
	}
	b, err := bounds(args.At)
	if err != nil {
		return nil, err
	}
	if b.Lower > b.Upper {
		return nil, fault.Of(fault.BadUserInput, ledger.ErrEmptyRange)
	}
	return entities.NetworkSupplyAt(ctx, r.db, b)
}

// ExchangeRate returns the value of hbar, now or at a time.
func (r network) ExchangeRate(
	ctx context.Context, args graph.NetworkExchangeRateArgs,
) (*ledger.ExchangeRateSet, error) {
	b, err := bounds(args.At)
	if err != nil {
		return nil, err
	}
	return r.exchangeRates(ctx, b)
}

// Fees returns the price of gas, now or at a time.
func (r network) Fees(ctx context.Context, args graph.NetworkFeesArgs) (*ledger.NetworkFees, error) {
	b, err := bounds(args.At)
	if err != nil {
		return nil, err
	}
	file, prices, err := r.gasFile(ctx, b)
	if err != nil {
		return nil, err
	}
	rates, err := r.exchangeRates(ctx, b)
	if err != nil {
		return nil, err
	}
	// Without an upper bound the file's own time selects the rate.
	when := file.Timestamp
	if b.Upper != ledger.MaxTimestamp {
		when = b.Upper
	}
	file.Fees = ledger.GasFees(prices.Tinycents(file.Timestamp), rates.At(when))
	if args.Order == relay.Desc {
		slices.Reverse(file.Fees)
	}
	return file, nil
}

// gasFile reads the file with the price of gas within bounds. If no readable version exists, it returns a note that
// the file of the time is missing.
func (r network) gasFile(ctx context.Context, b storage.Window) (*ledger.NetworkFees, ledger.GasFile, error) {
	first, other := r.db.FeeFiles().At(b.Upper)
	for _, number := range []int64{first, other} {
		if number == 0 {
			continue
		}
		var prices ledger.GasFile
		id, decode := r.db.SystemEntity(number), entities.DecodeGasFile(number)
		at, err := entities.SystemFile(ctx, r.db, id, b, func(content []byte) (err error) {
			prices, err = decode(content)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		if at.Valid {
			return &ledger.NetworkFees{Timestamp: at.V, FileID: id}, prices, nil
		}
	}
	return nil, nil, relay.Lacking(relay.Missing{Kind: relay.MissingFile, ID: r.db.SystemEntity(first)})
}

// Nodes returns a page of the nodes of an address book.
func (r network) Nodes(
	ctx context.Context, args graph.NetworkNodesArgs,
) (*relay.Connection[ledger.NetworkNode], error) {
	l, read := nodeList, entities.NetworkNodes
	if args.OrderBy == model.NetworkNodeOrderStake {
		l, read = nodeStakeList, entities.NetworkNodesByStake
	}
	c, err := l.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.NetworkNode, error) {
		return read(ctx, r.db, orNone(args.File), args.Filter, p)
	})
	count := func(ctx context.Context) (int64, error) {
		return entities.CountNetworkNodes(ctx, r.db, orNone(args.File))
	}
	return counted(c, unfiltered(args.Filter), count), err
}

// RegisteredNodes returns a page of registered nodes.
func (r network) RegisteredNodes(
	ctx context.Context, args graph.NetworkRegisteredNodesArgs,
) (*relay.Connection[ledger.RegisteredNode], error) {
	c, err := registeredNodeList.root(ctx, args.Order, args.Args,
		func(p storage.Page) ([]*ledger.RegisteredNode, error) {
			return entities.RegisteredNodes(ctx, r.db, args.Filter, p)
		})
	count := func(ctx context.Context) (int64, error) { return entities.CountRegisteredNodes(ctx, r.db) }
	return counted(c, unfiltered(args.Filter), count), err
}

// Freshness returns the newest block and its age.
func (r network) Freshness(ctx context.Context) (*ledger.NetworkFreshness, error) {
	blocks, err := transactions.Blocks(ctx, r.db, ledger.BlockFilter{}, false, storage.Page{Limit: 1, Desc: true})
	if err != nil || len(blocks) == 0 {
		return nil, err
	}
	return &ledger.NetworkFreshness{NewestBlock: blocks[0], Lag: blocks[0].Timestamp.To.V.Age(r.now()).Seconds()}, nil
}

// orNone returns an id, or 0 if it is nil.
func orNone(id *ledger.EntityID) ledger.EntityID {
	if id == nil {
		return 0
	}
	return *id
}

// bounds returns the first and last instant that a filter allows.
func bounds(at *ledger.TimestampFilter) (storage.Window, error) {
	b := storage.WindowOf(at)
	if b.Except != nil {
		return b, fault.Input("ne and notIn are not supported here")
	}
	return b, nil
}

// exchangeRates returns the exchange rates within bounds, or a note if no readable version of the file exists.
func (r *Resolver) exchangeRates(
	ctx context.Context, b storage.Window,
) (rates *ledger.ExchangeRateSet, err error) {
	id := r.db.SystemEntity(ledger.ExchangeRateFile)
	at, err := entities.SystemFile(ctx, r.db, id, b, func(content []byte) (err error) {
		rates, err = ledger.DecodeExchangeRates(content)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !at.Valid {
		return nil, relay.Lacking(relay.Missing{Kind: relay.MissingFile, ID: id})
	}
	rates.Timestamp = at.V
	return rates, nil
}

// NetworkNodeRegisteredNodes reads the registered nodes of consensus nodes.
func (fields) NetworkNodeRegisteredNodes(_ context.Context, q rowplan.Request, of []*ledger.NetworkNode) (
	rowplan.Results[[]*ledger.RegisteredNode], error,
) {
	return entities.QueueRegisteredNodesOf(loading.BatchOf(q), of), nil
}

// NetworkNodeServiceEndpoints reads the endpoints of consensus nodes.
func (fields) NetworkNodeServiceEndpoints(_ context.Context, q rowplan.Request, of []*ledger.NetworkNode) (
	rowplan.Results[[]*ledger.ServiceEndpoint], error,
) {
	return entities.QueueServiceEndpoints(loading.BatchOf(q), of), nil
}

// RegisteredNodeNetworkNodes reads the consensus nodes that name registered nodes.
func (fields) RegisteredNodeNetworkNodes(_ context.Context, q rowplan.Request, of []*ledger.RegisteredNode) (
	rowplan.Results[[]*ledger.NetworkNode], error,
) {
	ids := list.Map(of, func(n *ledger.RegisteredNode) int64 { return n.RegisteredNodeID })
	return entities.QueueNetworkNodesNaming(loading.BatchOf(q), ids), nil
}

// Node reads a consensus node.
func (r network) Node(ctx context.Context, args graph.NetworkNodeArgs) (*ledger.NetworkNode, error) {
	return entities.NetworkNode(ctx, r.db, orNone(args.File), args.NodeID)
}

// RegisteredNode reads a registered node.
func (r network) RegisteredNode(ctx context.Context, args graph.NetworkRegisteredNodeArgs) (
	*ledger.RegisteredNode, error,
) {
	return entities.RegisteredNode(ctx, r.db, args.RegisteredNodeID)
}

// Stake reads the newest totals of staking.
func (r network) Stake(ctx context.Context) (*ledger.NetworkStake, error) {
	return entities.NetworkStake(ctx, r.db)
}

// File reads a file.
func (r queries) File(ctx context.Context, args graph.QueryFileArgs) (*ledger.File, error) {
	return loading.LoadOne(ctx, r.db, fileType, args.ID, entities.QueueFiles)
}

// Ledger returns the state of the ledger at a moment, or nil if the block or transaction does not exist.
func (r queries) Ledger(ctx context.Context, args graph.QueryLedgerArgs) (*ledger.LedgerState, error) {
	return r.past.Ledger(ctx, args)
}

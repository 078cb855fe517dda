package resolvers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

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

// networkNodeByName reads the node with the local part of a global id: address book file, ":" and number. It returns
// nil if the node does not exist. A name of another form is BAD_USER_INPUT.
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

// Network resolves Query.network. It returns an empty parent: the fields below it read the database.
func (queries) Network(context.Context) (*ledger.Network, error) { return &ledger.Network{}, nil }

// network implements [graph.NetworkFields].
type network struct{ *Resolver }

// ID resolves Network.id: the global id of the only network.
func (network) ID(context.Context) (string, error) { return relay.ID(networkType, ""), nil }

// Supply resolves Network.supply. It reads the supply of the currency in tinybars, now or at a time; nil if there are
// no balances of that time. A range of times that contains none, or has exceptions, is BAD_USER_INPUT.
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

// ExchangeRate resolves Network.exchangeRate. It reads the file with the value of hbars that was valid at a time, or
// is now. If there is none, it returns nil, and the error is a [relay.Note] that says so. Exceptions in the range of
// times are BAD_USER_INPUT.
func (r network) ExchangeRate(
	ctx context.Context, args graph.NetworkExchangeRateArgs,
) (*ledger.ExchangeRateSet, error) {
	b, err := bounds(args.At)
	if err != nil {
		return nil, err
	}
	return r.exchangeRates(ctx, b)
}

// Fees resolves Network.fees. It reads the files with the price of gas and with the exchange rates that were valid at
// a time, or are now, and returns the prices in tinybars by type of transaction, in reverse with the order DESC. If a
// file is missing, it returns nil, and the error is a [relay.Note] that says so. Exceptions in the range of times are
// BAD_USER_INPUT.
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

// gasFile reads the newest valid version, within b, of the system file that has the price of gas at b.Upper, or else
// of the other file that can have it, if there is one. It returns the file without prices, and its prices. If it finds
// none among the newest versions, the error is a [relay.Note] that the file is missing.
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

// Nodes resolves Network.nodes. It reads a page of the nodes in the current address book of a file, by default the one
// with all details, ordered by number or by stake. Invalid page arguments are BAD_USER_INPUT. Unfiltered lists have a
// totalCount.
func (r network) Nodes(
	ctx context.Context, args graph.NetworkNodesArgs,
) (*relay.Connection[ledger.NetworkNode], error) {
	l, read := nodeList, entities.NetworkNodes
	if args.OrderBy == model.NetworkNodeOrderStake {
		l, read = nodeStakeList, entities.NetworkNodesByStake
	}
	c, err := l.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.NetworkNode, error) {
		return read(ctx, r.db, graph.OrZero(args.File), args.Filter, p)
	})
	count := func(ctx context.Context) (int64, error) {
		return entities.CountNetworkNodes(ctx, r.db, graph.OrZero(args.File))
	}
	return counted(c, unfiltered(args.Filter), count), err
}

// RegisteredNodes resolves Network.registeredNodes. It reads a page of registered nodes, ordered by number, without
// deleted ones. Invalid page arguments are BAD_USER_INPUT. Unfiltered lists have a totalCount.
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

// Freshness resolves Network.freshness. It reads the newest block, and returns it with its age in seconds by the
// resolver's clock; nil if there are no blocks.
func (r network) Freshness(ctx context.Context) (*ledger.NetworkFreshness, error) {
	newest, err := transactions.NewestBlock(ctx, r.db)
	if err != nil || newest == nil {
		return nil, err
	}
	return &ledger.NetworkFreshness{NewestBlock: newest, Lag: newest.Timestamp.To.V.Age(r.now()).Seconds()}, nil
}

// bounds returns the window, with both ends, in which fields of Network look for the newest file or balances. eq and
// in mean "at or before"; a nil filter is any time. It reads nothing. Exceptions in the filter are BAD_USER_INPUT.
func bounds(at *ledger.TimestampFilter) (storage.Window, error) {
	b := storage.WindowOf(at)
	if b.Except != nil {
		return b, fault.Input("ne and notIn are not supported here")
	}
	return b, nil
}

// exchangeRates reads the newest valid version of the exchange rates file within b, trying a limited number of
// versions. If it finds none, it returns nil, and the error is a [relay.Note] that the file is missing.
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

// NetworkNodeRegisteredNodes resolves NetworkNode.registeredNodes. It queues a read in the batch of q: the registered
// nodes that are associated with each consensus node, without deleted ones.
func (fields) NetworkNodeRegisteredNodes(_ context.Context, q rowplan.Request, of []*ledger.NetworkNode) (
	rowplan.Results[[]*ledger.RegisteredNode], error,
) {
	return entities.QueueRegisteredNodesOf(loading.BatchOf(q), of), nil
}

// NetworkNodeServiceEndpoints resolves NetworkNode.serviceEndpoints. It queues a read in the batch of q: the endpoints
// of each consensus node in its address book.
func (fields) NetworkNodeServiceEndpoints(_ context.Context, q rowplan.Request, of []*ledger.NetworkNode) (
	rowplan.Results[[]*ledger.ServiceEndpoint], error,
) {
	return entities.QueueServiceEndpoints(loading.BatchOf(q), of), nil
}

// RegisteredNodeNetworkNodes resolves RegisteredNode.networkNodes. It queues a read in the batch of q: the consensus
// nodes of the current address book that name each registered node, ordered by number.
func (fields) RegisteredNodeNetworkNodes(_ context.Context, q rowplan.Request, of []*ledger.RegisteredNode) (
	rowplan.Results[[]*ledger.NetworkNode], error,
) {
	ids := list.Map(of, func(n *ledger.RegisteredNode) int64 { return n.RegisteredNodeID })
	return entities.QueueNetworkNodesNaming(loading.BatchOf(q), ids), nil
}

// Node resolves Network.node. It reads a consensus node of the current address book of a file, by default the one with
// all details; nil if it does not exist.
func (r network) Node(ctx context.Context, args graph.NetworkNodeArgs) (*ledger.NetworkNode, error) {
	return entities.NetworkNode(ctx, r.db, graph.OrZero(args.File), args.NodeID)
}

// RegisteredNode resolves Network.registeredNode. It reads a registered node, deleted or not; nil if it does not exist.
func (r network) RegisteredNode(ctx context.Context, args graph.NetworkRegisteredNodeArgs) (
	*ledger.RegisteredNode, error,
) {
	return entities.RegisteredNode(ctx, r.db, args.RegisteredNodeID)
}

// Stake resolves Network.stake. It reads the totals of the newest staking period, nil if there is none.
func (r network) Stake(ctx context.Context) (*ledger.NetworkStake, error) {
	return entities.NetworkStake(ctx, r.db)
}

// File resolves Query.file. It reads a file, unless the operation has read it; nil if it does not exist.
func (r queries) File(ctx context.Context, args graph.QueryFileArgs) (*ledger.File, error) {
	return loading.LoadOne(ctx, r.db, fileType, args.ID, entities.QueueFiles)
}

// Ledger resolves Query.ledger with [past.Fields.Ledger]: the state of the ledger at a moment, or nil if the block or
// transaction does not exist. A moment after the newest block, and not exactly one way to select it, are
// BAD_USER_INPUT.
func (r queries) Ledger(ctx context.Context, args graph.QueryLedgerArgs) (*ledger.LedgerState, error) {
	return r.past.Ledger(ctx, args)
}

// warmPause is the pause after each hour whose blocks are counted ahead, so that this takes a small part of one
// connection.
const warmPause = 100 * time.Millisecond

// CountBlocks counts the blocks of the last month ahead, or those since the last call, hour by hour with pauses, for
// [network.Stats]: it reads the database and fills the cache of the block statistics. Without a cache it does nothing.
// The gateway runs it in the background; calls must not overlap. It fails with the first error or at the end of ctx.
func (r *Resolver) CountBlocks(ctx context.Context) error {
	return r.blockStatistics.Warm(ctx, r.db, warmPause)
}

// Stats resolves Network.stats. It returns the numbers of blocks and transactions and the gas of the network for each
// period of a range. Whole hours come from the cache, which it fills, the rest from the database. An invalid range, and
// one with more blocks than may be read, are BAD_USER_INPUT.
func (r network) Stats(ctx context.Context, args graph.NetworkStatsArgs) ([]*ledger.NetworkStatistics, error) {
	bounds, err := args.Range.Periods(args.By, ledger.TimestampOf(r.now()))
	if err != nil {
		return nil, fault.Of(fault.BadUserInput, err)
	}
	periods, err := r.blockStatistics.Read(ctx, r.db, bounds)
	if many := (*transactions.TooManyRowsError)(nil); errors.As(err, &many) {
		return nil, fault.Of(fault.BadUserInput, many)
	}
	out := make([]*ledger.NetworkStatistics, len(periods))
	for i, p := range periods {
		out[i] = &ledger.NetworkStatistics{
			From: bounds[i], To: bounds[i+1], Blocks: p.Rows, Transactions: p.First.V,
			GasUsed: p.Second.V,
		}
	}
	return out, err
}

package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// The lists of contract results and their actions.
var (
	resultList = ofNumber("contract results", func(r *ledger.ContractResult) int64 {
		return int64(r.ConsensusTimestamp)
	})
	actionList = ofNumber("contract actions", func(a *ledger.ContractAction) int64 { return int64(a.Index) })
)

// ContractResultActions resolves ContractResult.actions. It queues a read in the batch of q: a page of the actions of
// each result's transaction, ordered by index. Invalid page arguments are BAD_USER_INPUT.
func (fields) ContractResultActions(
	ctx context.Context, q rowplan.Request, of []*ledger.ContractResult, args graph.ContractResultActionsArgs,
) (
	rowplan.Results[*relay.ContractActionConnection], error,
) {
	located := list.Map(of, func(r *ledger.ContractResult) transactions.Located {
		return transactions.Located{At: r.ConsensusTimestamp, Payer: r.PayerAccountID}
	})
	return below(ctx, q, actionList, args, located, transactions.QueueContractActions)
}

// gasPrices returns a function that returns the price of gas of each result: what offered returns for its Ethereum
// transaction, else the price that the network charged then, in tinybars. It reads the prices that are not in the
// cache, usually with one statement, and caches them. A price that the files do not have is nil.
func (r *Resolver) gasPrices(
	ctx context.Context, results []*ledger.ContractResult, offered func(*ledger.EthereumTransaction) ledger.Quantity,
) (
	rowplan.Results[*ledger.Quantity], error,
) {
	return func() ([]*ledger.Quantity, error) {
		out := make([]*ledger.Quantity, len(results))
		var times []ledger.Timestamp
		var places []int
		for i, result := range results {
			if result.Ethereum != nil {
				out[i] = new(offered(result.Ethereum))
				continue
			}
			times, places = append(times, result.ConsensusTimestamp), append(places, i)
		}
		prices, err := r.gas.Read(ctx, r.db, times)
		if err != nil {
			return nil, err
		}
		for i, p := range prices {
			if p.Valid {
				out[places[i]] = new(ledger.QuantityOfInt(p.V))
			}
		}
		return out, nil
	}, nil
}

// resultsBelow queues reading a page of results for each parent, ordered by time, with queue, in the batch of q.
// Invalid page arguments, and filters that need a lookup, by contract reference and by block, are BAD_USER_INPUT.
func resultsBelow[K any](
	ctx context.Context, q rowplan.Request, args graph.ListArgs[ledger.ContractResultFilter], parents []K,
	queue queueList[K, ledger.ContractResultFilter, ledger.ContractResult],
) (rowplan.Results[*relay.ContractResultConnection], error) {
	if f := args.Filter; f.Contract != nil || f.BlockHash != nil || f.BlockNumber != nil {
		return nil,
			fault.Input("filter.contract, filter.blockHash and filter.blockNumber are supported at the root only; " +
				"use contractId and timestamp")
	}
	return below(ctx, q, resultList, args, parents, queue)
}

// ContractResults resolves Query.contractResults. It reads a page of contract results, newest or oldest first, after
// it has looked up the contract and block of the filter; without synthetic results if they are hidden. Invalid page
// arguments, and both hash and number of a block, are BAD_USER_INPUT. Unfiltered lists have an estimated totalCount.
func (r queries) ContractResults(
	ctx context.Context, args graph.QueryContractResultsArgs,
) (*relay.ContractResultConnection, error) {
	c, err := resultList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.ContractResult, error) {
		f, none, err := r.withContractAndBlock(ctx, args.Filter)
		if err != nil || none {
			return nil, err
		}
		if r.syntheticOff {
			f.Synthetic = new(bool)
		}
		return transactions.ContractResults(ctx, r.db, f, resultParts(rowplan.SelectionOf(ctx)), p)
	})
	return estimated(r.Resolver, c, unfiltered(args.Filter), transactions.CountResults), err
}

// ContractResult resolves Query.contractResult. It reads the result of a transaction, and in the same round trip the
// relations that need nothing but its key. Without a contract result, it derives one from the synthetic logs of the
// transaction, unless they are hidden. If the result is synthetic or not complete, the error beside it is a
// [relay.Note] that says so. Nil stands for a transaction that does not exist or ran no contract. Not exactly one of
// hash, id and time, and a contract without a time, are BAD_USER_INPUT.
func (r queries) ContractResult(
	ctx context.Context, args graph.QueryContractResultArgs,
) (*ledger.ContractResult, error) {
	if err := fault.OneOf("hash, transactionId and at", args.Hash != nil, args.TransactionID != nil,
		args.At != nil); err != nil {
		return nil, err
	}
	if args.Contract != nil && args.At == nil {
		return nil, fault.Input("contract needs at")
	}
	ref, err := resultRef(args.Hash, args.TransactionID, args.Nonce)
	if err != nil {
		return nil, err
	}
	ref.Late = args.Late
	if args.At != nil {
		ref.At = *args.At
	}
	if args.Contract != nil {
		callee, err := r.callee(ctx, *args.Contract)
		if err != nil || !callee.Valid {
			return nil, err
		}
		ref.Contract, ref.Named = callee.V, true
	}
	ref.CallData = rowplan.SelectionOf(ctx).Has("callData", "decodedCall", "failedCallData")
	found, done, err := loading.Ahead(ctx, r.tables, resultType, ref, ref.Key(), resultByKey,
		transactions.QueueContractResults)
	if err == nil && !done {
		found, err = storage.ReadOne(ctx, r.db, resultType, ref, transactions.QueueContractResults)
	}
	if err == nil && found == nil && !r.syntheticOff {
		found, err = transactions.SyntheticResult(ctx, r.db, ref)
	}
	if err == nil && found != nil && (found.Partial || found.Synthetic) {
		err = &relay.Note{Partial: true}
	}
	return found, err
}

// ContractResultIsChild resolves ContractResult.isChild. It queues a read in the batch of q: whether the transaction of
// each result has a parent.
func (fields) ContractResultIsChild(
	_ context.Context, q rowplan.Request, of []*ledger.ContractResult,
) (rowplan.Results[bool], error) {
	return transactions.QueueChildFlags(loading.BatchOf(q), of), nil
}

// ContractActions resolves Query.contractActions. It looks up a transaction by hash or id and reads a page of its
// actions, ordered by index, or returns nil if the transaction does not exist. Both or neither, an invalid hash and
// invalid page arguments are BAD_USER_INPUT. Unfiltered lists have a totalCount.
func (r queries) ContractActions(
	ctx context.Context, args graph.QueryContractActionsArgs,
) (*relay.ContractActionConnection, error) {
	if err := fault.OneOf("hash and transactionId", args.Hash != nil, args.TransactionID != nil); err != nil {
		return nil, err
	}
	ref, err := resultRef(args.Hash, args.TransactionID, args.Nonce)
	if err != nil {
		return nil, err
	}
	found, err := transactions.LocateTransaction(ctx, r.db, ref)
	if err != nil || !found.Valid {
		return nil, err
	}
	c, err := actionList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.ContractAction, error) {
		return transactions.ContractActions(ctx, r.db, found.V, args.Filter, p)
	})
	if err == nil && unfiltered(args.Filter) {
		withCounts(r.db, []*relay.ContractActionConnection{c},
			rowsOf([]transactions.Located{found.V}, args.Filter, transactions.QueueContractActions))
	}
	return c, err
}

// resultParts returns which parts of contract results a list's selection needs: only the row of the result, or also its
// block, Ethereum transaction and others.
func resultParts(list rowplan.Selection) transactions.ResultParts {
	if hasOtherRows(list, recordedFields...) {
		return transactions.ResultDetails
	}
	return transactions.ResultRecord
}

// hasOtherRows reports whether a field of the rows of a list is selected, or may be, that is not among names. list is
// the selection of the connection.
func hasOtherRows(list rowplan.Selection, names ...string) bool {
	return list.Below("nodes").HasOther(names...) || list.Below("edges").Below("node").HasOther(names...)
}

// recordedFields are the fields of a contract result that need neither its block nor its Ethereum transaction.
var recordedFields = []string{
	"__typename", "id", "address", "amount", "bloom", "callResult", "consensusTimestamp", "contractId",
	"contractLongZero", "createdContractIds",
	"decodedError", "errorMessage", "failedInitcode", "from", "functionParameters", "gasConsumed", "gasLimit",
	"gasUsed", "hash", "isChild", "partial", "payerAccountId",
	"result",
	"senderId", "status", "synthetic", "transactionIndex", "transactionNonce",
}

// withContractAndBlock returns f with the id of its contract reference added to contractId.in, and its times limited
// to those of its block, which it reads. Statements ignore the reference and the block, which stay. A contract that
// does not exist adds no id. none reports that nothing can match, because the block does not exist. Both hash and
// number of a block are BAD_USER_INPUT. The filter beside an error must not be used.
func (r *Resolver) withContractAndBlock(
	ctx context.Context, f ledger.ContractResultFilter,
) (changed ledger.ContractResultFilter, none bool, err error) {
	if f.Contract != nil {
		id, err := r.callee(ctx, *f.Contract)
		if err != nil {
			return f, false, err
		}
		f.ContractID = withIDs(f.ContractID)
		if id.Valid {
			f.ContractID = withIDs(f.ContractID, id.V)
		}
	}
	if f.BlockHash == nil && f.BlockNumber == nil {
		return f, false, nil
	}
	if f.BlockHash != nil && f.BlockNumber != nil {
		return f, false, fault.Input("give either blockHash or blockNumber, not both")
	}
	span, err := r.blockSpan(ctx, f)
	if err != nil || !span.Valid {
		return f, true, err
	}
	at := ledger.TimestampFilter{}
	if f.Timestamp != nil {
		at = *f.Timestamp
	}
	from, to := span.V.From.V, span.V.To.V
	if at.Gte == nil || *at.Gte < from {
		at.Gte = &from
	}
	if at.Lte == nil || *at.Lte > to {
		at.Lte = &to
	}
	f.Timestamp = &at
	return f, false, nil
}

// blockSpan reads the time range of the block that a filter names by hash or number, or returns null if the block does
// not exist.
func (r *Resolver) blockSpan(
	ctx context.Context, f ledger.ContractResultFilter,
) (ledger.Null[ledger.TimestampRange], error) {
	var b *ledger.Block
	var err error
	if f.BlockHash != nil {
		b, err = transactions.BlockByHash(ctx, r.db, *f.BlockHash)
	} else {
		b, err = storage.ReadOne(ctx, r.db, "block", *f.BlockNumber, transactions.QueueBlocks)
	}
	if err != nil || b == nil {
		return ledger.Null[ledger.TimestampRange]{}, err
	}
	return ledger.Of(b.Timestamp), nil
}

// resultByKey are the relations of contract results that are read by [transactions.ResultRef.Key], or use the result
// only when it has been read.
var resultByKey = []string{
	"logs", "stateChanges", "callData", "decodedCall", "decodedError", "failedCallData",
	"gasPrice", "gasPriceWeibar", "isChild",
}

// callee returns the id of the contract or account with an id or EVM address, which it reads. It is null if no live
// entity has the address. An id is returned without a lookup. An alias is BAD_USER_INPUT.
func (r *Resolver) callee(ctx context.Context, ref ledger.AccountRef) (ledger.Null[ledger.EntityID], error) {
	if ref.Alias != nil {
		return ledger.Null[ledger.EntityID]{},
			fault.Input("a contract is named by its id or its EVM address, not by an alias")
	}
	return entities.ResolveCallee(ctx, r.db, ref)
}

// resultRef returns the reference to a transaction by hash or id. It reads nothing. A hash that is not hex of the right
// length is BAD_USER_INPUT.
func resultRef(hash *string, id *ledger.TransactionID, nonce int32) (transactions.ResultRef, error) {
	ref := transactions.ResultRef{TransactionID: id, Nonce: nonce}
	if hash == nil {
		return ref, nil
	}
	h, err := ledger.ParseHash(*hash)
	if err != nil {
		return ref, fault.Input("%v", err)
	}
	ref.Hash = h
	return ref, nil
}

// resultAt reads the contract result at a consensus time, as global ids name it: the result of a call, or one derived
// from synthetic logs, unless they are hidden. It returns nil if there is none.
func (r *Resolver) resultAt(ctx context.Context, at ledger.Timestamp) (*ledger.ContractResult, error) {
	found, err := storage.ReadOne(ctx, r.db, "contract result", at, transactions.QueueContractResultsAt)
	if err != nil || found != nil {
		return found, err
	}
	if r.syntheticOff {
		return nil, nil //nolint:nilnil // null in the graph
	}
	return transactions.SyntheticResult(ctx, r.db, transactions.ResultRef{At: at})
}

// AccountContractResults resolves Account.contractResults. It queues a read in the batch of q: a page of the contract
// results whose sender each account is, ordered by time. Invalid page arguments, and a filter by contract reference or
// block, are BAD_USER_INPUT.
func (fields) AccountContractResults(
	ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountContractResultsArgs,
) (rowplan.Results[*relay.Connection[ledger.ContractResult]], error) {
	return resultsBelow(ctx, q, args, accountIDs(of), transactions.QueueResultsOfSenders)
}

// BlockContractResults resolves Block.contractResults. It queues a read in the batch of q: a page of the contract
// results in each block, found by its time range, ordered by time. Invalid page arguments, and a filter by contract
// reference or block, are BAD_USER_INPUT.
func (fields) BlockContractResults(
	ctx context.Context, q rowplan.Request, of []*ledger.Block, args graph.BlockContractResultsArgs,
) (rowplan.Results[*relay.Connection[ledger.ContractResult]], error) {
	return resultsBelow(ctx, q, args, list.Map(of, spanOfBlock), transactions.QueueResultsBetween)
}

// ContractResults resolves Contract.results. It queues a read in the batch of q: a page of the results of each
// contract, ordered by time. Invalid page arguments, and a filter by contract reference or block, are BAD_USER_INPUT.
func (fields) ContractResults(
	ctx context.Context, q rowplan.Request, of []*ledger.Contract, args graph.ContractResultsArgs,
) (rowplan.Results[*relay.Connection[ledger.ContractResult]], error) {
	return resultsBelow(ctx, q, args, list.Map(of, contractEntityID), transactions.QueueResultsOfContracts)
}

// ContractResultGasPrice resolves ContractResult.gasPrice, in tinybars: what an Ethereum transaction offers, else the
// price that the network charged then, nil if it is unknown. It returns a function that reads the prices of the
// network from a cache or, usually with one statement, from the database.
func (r fields) ContractResultGasPrice(ctx context.Context, _ rowplan.Request, of []*ledger.ContractResult) (
	rowplan.Results[*ledger.Quantity], error,
) {
	return r.gasPrices(ctx, of, (*ledger.EthereumTransaction).GasPriceTinybar)
}

// ContractResultGasPriceWeibar resolves ContractResult.gasPriceWeibar: what an Ethereum transaction offers, in
// weibars, else the price that the network charged then, in tinybars, nil if it is unknown. It returns a function that
// reads the prices of the network from a cache or, usually with one statement, from the database.
func (r fields) ContractResultGasPriceWeibar(ctx context.Context, _ rowplan.Request, of []*ledger.ContractResult) (
	rowplan.Results[*ledger.Quantity], error,
) {
	return r.gasPrices(ctx, of, (*ledger.EthereumTransaction).GasPriceWeibar)
}

// ContractResultStateChanges resolves ContractResult.stateChanges. It queues a read in the batch of q: the storage
// slots that the transaction of each result read and wrote, ordered by contract and slot.
func (fields) ContractResultStateChanges(_ context.Context, q rowplan.Request, of []*ledger.ContractResult) (
	rowplan.Results[[]*ledger.ContractStateChange], error,
) {
	return transactions.QueueStateChanges(loading.BatchOf(q), of), nil
}

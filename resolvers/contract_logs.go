package resolvers

import (
	"context"
	"strconv"
	"strings"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

var logList = listOf[ledger.ContractLog]{
	"contract logs", 2, func(l *ledger.ContractLog) relay.Key {
		return relay.Key{int64(l.ConsensusTimestamp), int64(l.Index)}
	},
}

// logByID reads the log with the local part of a global id: its consensus time, "/" and its index. It returns nil if
// the log does not exist. A name of another form is BAD_USER_INPUT.
func (r *Resolver) logByID(ctx context.Context, name string) (relay.Node, error) {
	when, place, _ := strings.Cut(name, "/")
	at, err := ledger.ParseTimestamp(when)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	index, err := strconv.ParseInt(place, 10, 32)
	if err != nil {
		return nil, fault.Input("%q is not the name of a log", name)
	}
	return present(transactions.ContractLog(ctx, r.db, at, index))
}

// ContractResultLogs resolves ContractResult.logs. It queues a read in the batch of q: all logs of the transaction of
// each result, ordered by index, with their blocks only if those are selected.
func (fields) ContractResultLogs(
	_ context.Context, q rowplan.Request, of []*ledger.ContractResult,
) (rowplan.Results[[]*ledger.ContractLog], error) {
	return transactions.QueueLogsOfResults(loading.BatchOf(q), of, q.Selection.Has("blockHash", "blockNumber")), nil
}

// logsBelow queues reading a page of logs for each parent, ordered by time and index, with queue, in the batch of q.
// instant reports whether all logs of a parent belong to one transaction, so that conditions on the index need no
// time. Invalid page arguments, a contract reference, and what checkLogs refuses, are BAD_USER_INPUT.
func logsBelow[K any](
	ctx context.Context, q rowplan.Request, args graph.ListArgs[ledger.ContractLogFilter], instant bool, parents []K,
	queue queueList[K, ledger.ContractLogFilter, ledger.ContractLog],
) (rowplan.Results[*relay.ContractLogConnection], error) {
	if args.Filter.Contract != nil {
		return nil, fault.Input("filter.contract is supported at the root only; use contractId")
	}
	if err := checkLogs(args.Filter, instant); err != nil {
		return nil, err
	}
	return below(ctx, q, logList, args, parents, queue)
}

// ContractLogs resolves Query.contractLogs. It reads a page of logs, ordered by time and index, after it has looked up
// the contract of the filter. Invalid page arguments and topics, topics in all contracts over more than
// [MaxTopicSearch], and a condition on the index without its time, are BAD_USER_INPUT. Unfiltered lists have an
// estimated totalCount.
func (r queries) ContractLogs(
	ctx context.Context, args graph.QueryContractLogsArgs,
) (*relay.ContractLogConnection, error) {
	f := args.Filter
	if err := checkLogs(f, false); err != nil {
		return nil, err
	}
	if len(f.Topics) > 0 && f.Contract == nil && f.ContractID == nil && f.TransactionHash == nil &&
		!isBrief(f.Timestamp, MaxTopicSearch) {
		return nil, fault.Input("a search by topics in all contracts needs an instant, or a range of at most %d days",
			MaxTopicSearch/(24*time.Hour))
	}
	c, err := logList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.ContractLog, error) {
		f, err := r.withLogContract(ctx, f)
		if err != nil {
			return nil, err
		}
		return transactions.ContractLogs(ctx, r.db, f, p)
	})
	return estimated(r.Resolver, c, unfiltered(f), transactions.CountLogs), err
}

// withLogContract returns f with the id of its contract reference, for which it can read the database, as one more of
// the ids that contractId.in lists. Statements ignore the reference, which stays. A contract that does not exist adds
// no id, and without any id the filter matches nothing. The filter beside an error must not be used.
func (r *Resolver) withLogContract(
	ctx context.Context, f ledger.ContractLogFilter,
) (ledger.ContractLogFilter, error) {
	if f.Contract == nil {
		return f, nil
	}
	var err error
	f.ContractID, err = r.withContracts(ctx, f.ContractID, *f.Contract)
	return f, err
}

// MaxTopicSearch is the longest time range in which logs of all contracts can be searched by topic.
const MaxTopicSearch = 7 * 24 * time.Hour

// isBrief reports whether a filter selects single timestamps, or a range of at most the length most that is bounded on
// both sides. It reads nothing.
func isBrief(f *ledger.TimestampFilter, most time.Duration) bool {
	if f == nil {
		return false
	}
	if f.Eq != nil || f.In != nil {
		return true
	}
	// The first and last timestamp within the bounds. Whether the ends are included does not change the length of a
	// range of days.
	var first, last ledger.Timestamp
	switch {
	case f.Gte != nil:
		first = *f.Gte
	case f.Gt != nil:
		first = *f.Gt + 1
	default:
		return false
	}
	switch {
	case f.Lte != nil:
		last = *f.Lte
	case f.Lt != nil:
		last = *f.Lt - 1
	default:
		return false
	}
	return last-first <= ledger.Timestamp(most)
}

// checkLogs fails with BAD_USER_INPUT if a filter of logs has too many topics, topics of the wrong size, or a condition
// on the index without the time that makes it a position. instant reports whether all logs belong to one transaction.
func checkLogs(f ledger.ContractLogFilter, instant bool) error {
	if len(f.Topics) > ledger.MaxTopics {
		return fault.Input("a log has %d topics at most", ledger.MaxTopics)
	}
	for _, wanted := range f.Topics {
		if err := checkWords("topic", wanted...); err != nil {
			return err
		}
	}
	at, index := f.Timestamp, f.Index
	if index == nil || instant || f.TransactionHash != nil || at != nil && (at.Eq != nil || at.In != nil) {
		return nil
	}
	switch {
	case index.Eq != nil || index.In != nil || index.Ne != nil || index.NotIn != nil:
		return fault.Input("this condition on index needs an instant: timestamp.eq")
	case (index.Gt != nil || index.Gte != nil) && (at == nil || at.Gte == nil || at.Gt != nil):
		return fault.Input("a lower bound of index needs timestamp.eq, or timestamp.gte without gt")
	case (index.Lt != nil || index.Lte != nil) && (at == nil || at.Lte == nil || at.Lt != nil):
		return fault.Input("an upper bound of index needs timestamp.eq, or timestamp.lte without lt")
	default:
		return nil
	}
}

// BlockContractLogs resolves Block.contractLogs. It queues a read in the batch of q: a page of the contract logs in
// each block, ordered by time and index. Invalid page arguments and topics, a filter by contract reference, and a
// condition on the index without its time, are BAD_USER_INPUT.
func (fields) BlockContractLogs(
	ctx context.Context, q rowplan.Request, of []*ledger.Block, args graph.BlockContractLogsArgs,
) (rowplan.Results[*relay.Connection[ledger.ContractLog]], error) {
	return logsBelow(ctx, q, args, false, list.Map(of, spanOfBlock), transactions.QueueLogsBetween)
}

// ContractLogs resolves Contract.logs. It queues a read in the batch of q: a page of the logs of each contract,
// ordered by time and index. Invalid page arguments and topics, a filter by contract reference, and a condition on the
// index without its time, are BAD_USER_INPUT.
func (fields) ContractLogs(
	ctx context.Context, q rowplan.Request, of []*ledger.Contract, args graph.ContractLogsArgs,
) (rowplan.Results[*relay.Connection[ledger.ContractLog]], error) {
	return logsBelow(ctx, q, args, false, list.Map(of, contractEntityID), transactions.QueueLogsOfContracts)
}

// TransactionContractLogs resolves Transaction.contractLogs. It queues a read in the batch of q: a page of the
// contract logs of each transaction, ordered by index. Invalid page arguments, a filter by contract reference, and
// topics of a wrong number or size, are BAD_USER_INPUT.
func (fields) TransactionContractLogs(
	ctx context.Context, q rowplan.Request, of []*ledger.Transaction, args graph.TransactionContractLogsArgs,
) (rowplan.Results[*relay.Connection[ledger.ContractLog]], error) {
	instants := list.Map(of, func(t *ledger.Transaction) ledger.TimestampRange {
		return ledger.TimestampRange{From: ledger.Of(t.ConsensusTimestamp), To: ledger.Of(t.ConsensusTimestamp)}
	})
	return logsBelow(ctx, q, args, true, instants, transactions.QueueLogsBetween)
}

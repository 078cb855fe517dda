package resolvers

import (
	"context"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// logRelations are the arrows from and to logs of contracts.
type logRelations struct {
	block        *rowplan.Relation[*ledger.ContractLog, *ledger.Block]
	contract     *rowplan.Relation[*ledger.ContractLog, *ledger.Contract]
	payer        *rowplan.Relation[*ledger.ContractLog, *ledger.Account]
	result       *rowplan.Relation[*ledger.ContractLog, *ledger.ContractResult]
	rootContract *rowplan.Relation[*ledger.ContractLog, *ledger.Contract]
	transaction  *rowplan.Relation[*ledger.ContractLog, *ledger.Transaction]

	ofBlock       *rowplan.Relation[*ledger.Block, *relay.ContractLogConnection]
	ofResult      *rowplan.Relation[*ledger.ContractResult, []*ledger.ContractLog]
	ofTransaction *rowplan.Relation[*ledger.Transaction, *relay.ContractLogConnection]
}

func timeOfLog(l *ledger.ContractLog) ledger.Timestamp { return l.ConsensusTimestamp }

func newLogRelations() logRelations {
	return logRelations{
		block: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.ContractLog, _ rowplan.Args, done func([]*ledger.Block)) error {
			transactions.QueueBlocksAt(b, keys(parents, timeOfLog), done)
			return nil
		}),
		contract: contractOf(func(l *ledger.ContractLog) ledger.EntityID { return l.ContractID }),
		payer:    accountOf(func(l *ledger.ContractLog) ledger.EntityID { return l.PayerAccountID }),
		result: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.ContractLog, _ rowplan.Args, done func([]*ledger.ContractResult)) error {
			transactions.QueueContractResultsAt(b, keys(parents, timeOfLog), done)
			return nil
		}),
		rootContract: contractOf(func(l *ledger.ContractLog) ledger.EntityID { return l.RootContractID }),
		transaction: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.ContractLog, _ rowplan.Args, done func([]*ledger.Transaction)) error {
			transactions.QueueTransactionsAt(b, keys(parents, timeOfLog), done)
			return nil
		}),
		ofBlock: queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.Block, args rowplan.Args, done func([]*relay.ContractLogConnection)) error {
			return queueLogs(ctx, args, false, done, func(f *ledger.ContractLogFilter, p storage.Page, got func([][]*ledger.ContractLog)) {
				transactions.QueueLogsBetween(b, keys(parents, func(b *ledger.Block) ledger.TimestampRange { return b.Timestamp }), f, p, got)
			})
		}),
		ofResult: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.ContractResult, _ rowplan.Args, done func([][]*ledger.ContractLog)) error {
			transactions.QueueLogsOfResults(b, parents, done)
			return nil
		}),
		ofTransaction: queued(func(ctx context.Context, b *storage.Batch, parents []*ledger.Transaction, args rowplan.Args, done func([]*relay.ContractLogConnection)) error {
			return queueLogs(ctx, args, true, done, func(f *ledger.ContractLogFilter, p storage.Page, got func([][]*ledger.ContractLog)) {
				transactions.QueueLogsBetween(b, keys(parents, instantOf), f, p, got)
			})
		}),
	}
}

// instantOf is the time of a transaction as a span.
func instantOf(t *ledger.Transaction) ledger.TimestampRange {
	return ledger.TimestampRange{From: ledger.Of(t.ConsensusTimestamp), To: ledger.Of(t.ConsensusTimestamp)}
}

func (r *logRelations) add(t *rowplan.Tables) {
	contract := func() *rowplan.Object[*ledger.Contract] { return t.Contract }
	page := func() *rowplan.Object[*relay.ContractLogConnection] { return t.ContractLogConnection }
	t.ContractLog.Add("block", rowplan.RelatedOne(r.block, func() *rowplan.Object[*ledger.Block] { return t.Block }))
	t.ContractLog.Add("contract", rowplan.RelatedOne(r.contract, contract))
	t.ContractLog.Add("contractResult", rowplan.RelatedOne(r.result, func() *rowplan.Object[*ledger.ContractResult] { return t.ContractResult }))
	t.ContractLog.Add("payer", rowplan.RelatedOne(r.payer, func() *rowplan.Object[*ledger.Account] { return t.Account }))
	t.ContractLog.Add("rootContract", rowplan.RelatedOne(r.rootContract, contract))
	t.ContractLog.Add("transaction", rowplan.RelatedOne(r.transaction, func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }))
	t.Block.Add("contractLogs", rowplan.RelatedOne(r.ofBlock, page))
	t.ContractResult.Add("logs", rowplan.RelatedMany(r.ofResult, func() *rowplan.Object[*ledger.ContractLog] { return t.ContractLog }))
	t.Transaction.Add("contractLogs", rowplan.RelatedOne(r.ofTransaction, page))
}

func logKey(l *ledger.ContractLog) relay.Key {
	return relay.Key{int64(l.ConsensusTimestamp), int64(l.Index)}
}

// queueLogs queues a page of logs for each of some parents; instant tells that all logs of a parent are of one transaction.
func queueLogs(ctx context.Context, args rowplan.Args, instant bool, done func([]*relay.ContractLogConnection), queue func(*ledger.ContractLogFilter, storage.Page, func([][]*ledger.ContractLog))) error {
	p, err := pageArgs(ctx, args, logKind, 2)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.ContractLogFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	if f != nil && f.Contract != nil {
		return fault.Input("below other things logs cannot be chosen by contract; use contractId")
	}
	if err := checkLogs(f, instant); err != nil {
		return err
	}
	queue(f, storagePage(p), func(rows [][]*ledger.ContractLog) { done(connections(logKind, p, rows, logKey)) })
	return nil
}

// contractLogs reads a page of logs.
func (r *Resolver) contractLogs(ctx context.Context, f *ledger.ContractLogFilter, p relay.Page, sp storage.Page) (*relay.ContractLogConnection, error) {
	if err := checkLogs(f, false); err != nil {
		return nil, err
	}
	if f != nil && len(f.Topics) > 0 && f.Contract == nil && f.ContractID == nil && f.TransactionHash == nil && !isBrief(f.Timestamp) {
		return nil, fault.Input("a search by topics in all contracts needs an instant, or a range of %d days at most", maxTopicSearch/(24*time.Hour))
	}
	if f != nil && f.Contract != nil {
		ids, err := entities.ResolveContracts(ctx, r.db, []ledger.ContractRef{*f.Contract})
		if err != nil {
			return nil, err
		}
		copied := *f
		copied.ContractID = withIDs(f.ContractID, ids)
		f = &copied
	}
	rows, err := transactions.ContractLogs(ctx, r.db, f, sp)
	if err != nil {
		return nil, err
	}
	return relay.NewConnection(logKind, p, rows, logKey), nil
}

// maxTopicSearch is the longest range in which all contracts are searched by topics.
const maxTopicSearch = 7 * 24 * time.Hour

// isBrief tells whether a filter leaves instants, or a range that is not too long to be searched.
func isBrief(f *ledger.TimestampFilter) bool {
	if f == nil {
		return false
	}
	if f.Eq != nil || f.In != nil {
		return true
	}
	// The first and the last instant that the bounds leave: a range of days is as long whether its ends belong to it or not.
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
	return last-first <= ledger.Timestamp(maxTopicSearch)
}

// checkLogs refuses conditions on logs that cannot be meant.
func checkLogs(f *ledger.ContractLogFilter, instant bool) error {
	if f == nil {
		return nil
	}
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

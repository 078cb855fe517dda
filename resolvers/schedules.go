package resolvers

import (
	"context"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// scheduleRelations are the arrows from and to schedules.
type scheduleRelations struct {
	created    *rowplan.Relation[*ledger.Account, *relay.ScheduleConnection]
	creation   *rowplan.Relation[*ledger.Schedule, *ledger.Transaction]
	creator    *rowplan.Relation[*ledger.Schedule, *ledger.Account]
	execution  *rowplan.Relation[*ledger.Schedule, *ledger.Transaction]
	of         *rowplan.Relation[*ledger.Transaction, *ledger.Schedule]
	payer      *rowplan.Relation[*ledger.Schedule, *ledger.Account]
	signatures *rowplan.Relation[*ledger.Schedule, []*ledger.ScheduleSignature]
}

func newScheduleRelations() scheduleRelations {
	return scheduleRelations{
		created:   queued(queueAccountSchedules),
		creation:  scheduleTransaction(func(s *ledger.Schedule) ledger.Timestamp { return s.CreatedTimestamp }),
		creator:   accountOf(func(s *ledger.Schedule) ledger.EntityID { return s.CreatorAccountID }),
		execution: scheduleTransaction(func(s *ledger.Schedule) ledger.Timestamp { return s.ExecutedTimestamp.Or(-1) }),
		of: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Transaction, _ rowplan.Args, done func([]*ledger.Schedule)) error {
			transactions.QueueTransactionSchedules(b, parents, done)
			return nil
		}),
		payer: accountOf(func(s *ledger.Schedule) ledger.EntityID { return s.PayerAccountID }),
		signatures: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Schedule, _ rowplan.Args, done func([][]*ledger.ScheduleSignature)) error {
			transactions.QueueScheduleSignatures(b, keys(parents, func(s *ledger.Schedule) ledger.EntityID { return s.EntityID }), done)
			return nil
		}),
	}
}

func (r *scheduleRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	transaction := func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }
	t.Account.Add("schedules", rowplan.RelatedOne(r.created, func() *rowplan.Object[*relay.ScheduleConnection] { return t.ScheduleConnection }))
	t.Schedule.Add("creation", rowplan.RelatedOne(r.creation, transaction))
	t.Schedule.Add("creator", rowplan.RelatedOne(r.creator, account))
	t.Schedule.Add("execution", rowplan.RelatedOne(r.execution, transaction))
	t.Schedule.Add("payer", rowplan.RelatedOne(r.payer, account))
	t.Schedule.Add("signatures", rowplan.RelatedMany(r.signatures, func() *rowplan.Object[*ledger.ScheduleSignature] { return t.ScheduleSignature }))
	t.Transaction.Add("schedule", rowplan.RelatedOne(r.of, func() *rowplan.Object[*ledger.Schedule] { return t.Schedule }))
}

// addScheduleState makes the state known to the row plan: it depends on the clock.
func (r *Resolver) addScheduleState(t *rowplan.Tables) {
	t.Schedule.Add("state", rowplan.Scalar(func(dst []byte, s *ledger.Schedule, style scalar.Style) []byte {
		return scalar.AppendScheduleState(dst, s.StateAt(r.timestamp()), style)
	}))
}

// scheduleTransaction is the relation from a schedule to the transaction of a consensus time.
func scheduleTransaction(at func(*ledger.Schedule) ledger.Timestamp) *rowplan.Relation[*ledger.Schedule, *ledger.Transaction] {
	return queued(func(_ context.Context, b *storage.Batch, parents []*ledger.Schedule, _ rowplan.Args, done func([]*ledger.Transaction)) error {
		transactions.QueueTransactionsAt(b, keys(parents, at), done)
		return nil
	})
}

func queueAccountSchedules(ctx context.Context, b *storage.Batch, parents []*ledger.Account, args rowplan.Args, done func([]*relay.ScheduleConnection)) error {
	p, err := pageArgs(ctx, args, scheduleKind, 1)
	if err != nil {
		return err
	}
	transactions.QueueAccountSchedules(b, keys(parents, func(a *ledger.Account) ledger.EntityID { return a.EntityID }), storagePage(p), func(rows [][]*ledger.Schedule) {
		done(connections(scheduleKind, p, rows, scheduleKey))
	})
	return nil
}

func scheduleKey(s *ledger.Schedule) relay.Key { return relay.Key{int64(s.EntityID)} }

// schedule reads one schedule. While it waits its answer may change soon.
func (r *Resolver) schedule(ctx context.Context, id ledger.EntityID) (*ledger.Schedule, error) {
	s, err := transactions.Schedule(ctx, r.db, id)
	if err != nil || s == nil {
		return nil, err
	}
	relay.OutcomeOf(ctx).Volatile = s.StateAt(r.timestamp()) == ledger.SchedulePending
	return s, nil
}

package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

var scheduleList = listOf[ledger.Schedule]{"schedules", 1, func(s *ledger.Schedule) relay.Key { return relay.Key{int64(s.EntityID)} }}

const scheduleType = "Schedule" // in global ids

// ScheduleID returns the global id of a schedule.
func (fields) ScheduleID(s *ledger.Schedule) string {
	return relay.ID(scheduleType, s.EntityID.String())
}

// ScheduleState returns the state of a schedule now.
func (f fields) ScheduleState(s *ledger.Schedule) ledger.ScheduleState {
	return s.StateAt(f.timestamp())
}

// ScheduleSignatures reads the signatures of schedules.
func (fields) ScheduleSignatures(_ context.Context, q rowplan.Request, of []*ledger.Schedule) (rowplan.Results[[]*ledger.ScheduleSignature], error) {
	return read(q, of, func(s *ledger.Schedule) ledger.EntityID { return s.EntityID }, transactions.QueueScheduleSignatures)
}

// TransactionSchedule reads the schedules that transactions created or executed.
func (fields) TransactionSchedule(_ context.Context, q rowplan.Request, of []*ledger.Transaction) (rowplan.Results[*ledger.Schedule], error) {
	return readRows(q, of, transactions.QueueTransactionSchedules)
}

// AccountSchedules reads the schedules that accounts created.
func (f fields) AccountSchedules(ctx context.Context, q rowplan.Request, of []*ledger.Account, args graph.AccountSchedulesArgs) (
	rowplan.Results[*relay.ScheduleConnection], error,
) {
	return scheduleList.below(ctx, q, args.Order, args.Args, true, func(b *storage.Batch, p storage.Page, done func([][]*ledger.Schedule)) error {
		transactions.QueueAccountSchedules(b, list.Map(of, accountEntityID), args.Filter, f.timestamp(), p, done)
		return nil
	})
}

// Schedule returns a schedule. While it is pending, the response may change soon.
func (r queries) Schedule(ctx context.Context, args graph.QueryScheduleArgs) (*ledger.Schedule, error) {
	s, err := readAhead(ctx, r.Resolver, "schedule", args.ID, &ledger.Schedule{EntityID: args.ID}, []string{"signatures"}, transactions.QueueSchedules)
	if err != nil || s == nil {
		return nil, err
	}
	relay.OutcomeOf(ctx).Volatile = s.StateAt(r.timestamp()) == ledger.SchedulePending
	return s, nil
}

// Schedules returns a page of schedules.
func (r queries) Schedules(ctx context.Context, args graph.QuerySchedulesArgs) (*relay.ScheduleConnection, error) {
	if f := args.Filter; f != nil && f.State != nil && !selects(f.CreatorAccountID) {
		return nil, fault.Input("state requires creatorAccountId with eq or in")
	}
	c, err := scheduleList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.Schedule, error) {
		return transactions.Schedules(ctx, r.db, args.Filter, r.timestamp(), p)
	})
	return estimated(r.Resolver, c, unfiltered(args.Filter), transactions.CountSchedules), err
}

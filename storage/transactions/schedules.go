package transactions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// scheduleColumns are the columns of a schedule s and its entity e, in the order of scheduleTargets.
const scheduleColumns = `s.schedule_id, s.consensus_timestamp, s.creator_account_id, s.executed_timestamp, s.expiration_time, s.payer_account_id,
  s.transaction_body, s.wait_for_expiry, e.key, e.deleted, e.memo, lower(e.timestamp_range), upper(e.timestamp_range)`

type scheduleRow struct {
	ledger.Schedule
	key   ledger.Key
	owner int64
}

func scheduleTargets(s *scheduleRow, into []any) []any {
	return append(into, &s.EntityID, &s.CreatedTimestamp, &s.CreatorAccountID, &s.ExecutedTimestamp, &s.ExpirationTimestamp, &s.PayerAccountID,
		&s.TransactionBody, &s.WaitForExpiry, (*[]byte)(&s.key), &s.Deleted, &s.StoredMemo, &s.Timestamp.From, &s.Timestamp.To)
}

// ownedScheduleTargets are the scan targets of a schedule whose first column is the position of its parent, starting at 1.
func ownedScheduleTargets(s *scheduleRow, into []any) []any {
	return scheduleTargets(s, append(into, &s.owner))
}

func finishSchedule(s *scheduleRow) error {
	s.AdminKey = s.key.Info()
	return nil
}

// Schedules reads a page of schedules, ordered by id.
func Schedules(ctx context.Context, db *storage.DB, f *ledger.ScheduleFilter, p storage.Page) ([]*ledger.Schedule, error) {
	var w storage.Where
	if f != nil {
		storage.Filter(&w, "s.schedule_id", f.ID)
		storage.Filter(&w, "s.creator_account_id", f.CreatorAccountID)
	}
	w.Keyset(p, "s.schedule_id")
	// The page is limited before the join.
	cut := `select * from schedule s where true` + w.String() + w.OrderBy(p, "s.schedule_id")
	sql := `select ` + scheduleColumns + ` from (` + cut + `) s left join entity e on e.id = s.schedule_id order by s.schedule_id` + p.Direction()
	rows, err := storage.List(ctx, db, sql, w.Args, scheduleTargets, finishSchedule)
	if err != nil {
		return nil, fmt.Errorf("reading schedules: %w", err)
	}
	out := make([]*ledger.Schedule, len(rows))
	for i, r := range rows {
		out[i] = &r.Schedule
	}
	return out, nil
}

// QueueSchedules queues a query for schedules by id. done receives one schedule per id, or nil for ids that do not exist.
func QueueSchedules(b *storage.Batch, ids []ledger.EntityID, done func([]*ledger.Schedule)) {
	storage.Queue(b, `select `+scheduleColumns+` from schedule s left join entity e on e.id = s.schedule_id where s.schedule_id = `+storage.Any1,
		[]any{storage.Int64s(ids)}, scheduleTargets, finishSchedule, func(rows []*scheduleRow) {
			byID := make(map[ledger.EntityID]*ledger.Schedule, len(rows))
			for _, r := range rows {
				byID[r.EntityID] = &r.Schedule
			}
			out := make([]*ledger.Schedule, len(ids))
			for i, id := range ids {
				out[i] = byID[id]
			}
			done(out)
		})
}

// Schedule reads one schedule. It returns nil if the schedule does not exist.
func Schedule(ctx context.Context, db *storage.DB, id ledger.EntityID) (*ledger.Schedule, error) {
	var found *ledger.Schedule
	b := db.NewBatch()
	QueueSchedules(b, []ledger.EntityID{id}, func(got []*ledger.Schedule) { found = got[0] })
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("reading schedule %s: %w", id, err)
	}
	return found, nil
}

// QueueAccountSchedules queues a query for the schedules that each of the given accounts created. done receives one page per account.
func QueueAccountSchedules(b *storage.Batch, creators []ledger.EntityID, p storage.Page, done func([][]*ledger.Schedule)) {
	w := storage.Where{Args: []any{storage.Int64s(creators)}}
	w.Keyset(p, "schedule_id")
	sql := `select s.ord, ` + scheduleColumns + ` from (
  select a.ord, found.* from unnest((select $1::bigint[])) with ordinality a(id, ord) cross join lateral (
    select * from schedule where creator_account_id = a.id` + w.String() + w.OrderBy(p, "schedule_id") + `) found) s
left join entity e on e.id = s.schedule_id
order by s.ord, s.schedule_id` + p.Direction()
	out := make([][]*ledger.Schedule, len(creators))
	storage.Queue(b, sql, w.Args, ownedScheduleTargets, finishSchedule, func(rows []*scheduleRow) {
		for _, r := range rows {
			out[r.owner-1] = append(out[r.owner-1], &r.Schedule)
		}
		done(out)
	})
}

// Types of transactions that create, delete or sign a schedule.
const (
	scheduleDelete = ledger.TransactionType(43)
	scheduleSign   = ledger.TransactionType(44)
)

// QueueTransactionSchedules queues a query for the schedule that each of the given transactions created, signed, deleted or executed. done receives one
// schedule per transaction, or nil if there is none. A scheduled transaction has the id of the transaction that created the schedule.
func QueueTransactionSchedules(b *storage.Batch, of []*ledger.Transaction, done func([]*ledger.Schedule)) {
	n := len(of)
	ids, payers, starts, from, to := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, t := range of {
		switch {
		case t.Type == scheduleCreate, t.Type == scheduleDelete, t.Type == scheduleSign:
			ids[i] = int64(t.EntityID)
		case t.Scheduled:
			payers[i], starts[i] = int64(t.PayerAccountID), int64(t.ValidStartTimestamp)
			from[i], to[i] = int64(t.ValidStartTimestamp-validStartDrift), int64(t.ConsensusTimestamp)
		}
	}
	sql := `select p.ord, ` + scheduleColumns + `
from unnest((select $1::bigint[]), (select $2::bigint[]), (select $3::bigint[]), (select $4::bigint[]), (select $5::bigint[]))
  with ordinality p(id, payer, start, since, until, ord)
left join lateral (
  select entity_id from transaction
  where payer_account_id = p.payer and valid_start_ns = p.start and consensus_timestamp between p.since and p.until and type = 42 and p.payer <> 0
    and result = any($6)
  order by consensus_timestamp limit 1) c on true
join schedule s on s.schedule_id = coalesce(c.entity_id, p.id)
left join entity e on e.id = s.schedule_id`
	storage.Queue(b, sql, []any{ids, payers, starts, from, to, codes(ledger.SuccessCodes())}, ownedScheduleTargets, finishSchedule, func(rows []*scheduleRow) {
		out := make([]*ledger.Schedule, n)
		for _, r := range rows {
			out[r.owner-1] = &r.Schedule
		}
		done(out)
	})
}

type signatureRow struct {
	ledger.ScheduleSignature
	schedule ledger.EntityID
	typ      ledger.Null[int16]
}

func signatureTargets(s *signatureRow, into []any) []any {
	return append(into, &s.schedule, &s.ConsensusTimestamp, (*[]byte)(&s.PublicKeyPrefix), (*[]byte)(&s.Signature), &s.typ)
}

func finishSignature(s *signatureRow) error {
	s.Type = ledger.SignatureTypeOf(s.typ)
	return nil
}

// QueueScheduleSignatures queues a query for the signatures of schedules, oldest first. done receives one list per schedule.
func QueueScheduleSignatures(b *storage.Batch, schedules []ledger.EntityID, done func([][]*ledger.ScheduleSignature)) {
	storage.Queue(b, `select entity_id, consensus_timestamp, public_key_prefix, signature, type from transaction_signature where entity_id = `+storage.Any1,
		[]any{storage.Int64s(schedules)}, signatureTargets, finishSignature, func(rows []*signatureRow) {
			// A stable sort here keeps the stored order of signatures with the same timestamp.
			slices.SortStableFunc(rows, func(a, b *signatureRow) int { return cmp.Compare(a.ConsensusTimestamp, b.ConsensusTimestamp) })
			byID := make(map[ledger.EntityID][]*ledger.ScheduleSignature, len(schedules))
			for _, r := range rows {
				byID[r.schedule] = append(byID[r.schedule], &r.ScheduleSignature)
			}
			out := make([][]*ledger.ScheduleSignature, len(schedules))
			for i, id := range schedules {
				out[i] = byID[id]
			}
			done(out)
		})
}

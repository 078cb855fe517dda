package transactions

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// finishSchedule sets the key of a decoded schedule from its bytes. A key that cannot be read is unknown. The error is
// always nil.
func finishSchedule(s *scheduleRow) error {
	s.AdminKey = s.key.Info()
	return nil
}

// filterSchedules adds the conditions on schedules s to w. The state in the filter is that at the instant now.
func filterSchedules(w *storage.Where, f ledger.ScheduleFilter, now ledger.Timestamp) {
	storage.Filter(w, "s.schedule_id", f.ID)
	storage.Filter(w, "s.creator_account_id", f.CreatorAccountID)
	if f.State == nil {
		return
	}
	if *f.State == ledger.ScheduleExecuted {
		w.Raw(" and s.executed_timestamp is not null")
		return
	}
	w.Raw(" and s.executed_timestamp is null and coalesce((select deleted from entity where id = s.schedule_id), " +
		"false) = ")
	if *f.State == ledger.ScheduleDeleted {
		w.Raw("true")
		return
	}
	w.Raw("false")
	w.And("(coalesce(s.expiration_time + ?, s.consensus_timestamp + ?) <= ?) = ?", int64(ledger.ExpirationDelay),
		int64(ledger.DefaultLifetime), int64(now),
		*f.State == ledger.ScheduleExpired)
}

// Schedules reads a page of schedules, ordered by id. A state in the filter is that at the instant now.
func Schedules(
	ctx context.Context, db *storage.DB, f ledger.ScheduleFilter, now ledger.Timestamp, p storage.Page,
) ([]*ledger.Schedule, error) {
	var w storage.Where
	r := storage.Read{Select: scheduleColumns, As: "s", Joins: []storage.Join{withEntity}}
	if f.CreatorAccountID != nil {
		r.Setting = storage.NoBitmaps
		if _, single := only(f.CreatorAccountID); !single { // a generic plan would read all schedules to find none
			r.Setting = storage.NoBitmapsCustom
		}
	}
	filterSchedules(&w, f, now)
	w.Keyset(p, "s.schedule_id")
	// The page is limited before the join.
	r.Page = `select * from schedule s where true` + w.String() + w.OrderBy(p, "s.schedule_id")
	r.Rest = ` order by s.schedule_id` + p.Direction()
	return scheduleRows.ListRead(ctx, db, "schedules", &r, w.Args)
}

var (
	// withEntity joins a page of schedules s with their entities e.
	withEntity    = storage.By("left join", "entity", "e", "s", "id", "schedule_id")
	schedulesByID = storage.ByKeys(`select ` + scheduleColumns + ` from schedule s left join entity e on e.id = s.schedule_id
where s.schedule_id = ` + storage.Any1)
	signaturesByID = storage.ByKeys(`select ` + signatureColumns + ` from transaction_signature
where entity_id = ` + storage.Any1)
)

// QueueSchedules queues a query for schedules by id. The result has one schedule per id, or nil for ids that do not
// exist.
func QueueSchedules(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]*ledger.Schedule] {
	return storage.QueueByKey(b, scheduleRows, schedulesByID, ids,
		func(s *ledger.Schedule) ledger.EntityID { return s.EntityID })
}

// CountSchedules counts schedules.
const CountSchedules storage.Countable = `select 1 from schedule`

// QueueAccountSchedules queues a query for the schedules that each of the given accounts created, ordered by id. The
// result has one page per account. A state in the filter is that at the instant now.
func QueueAccountSchedules(b *storage.Batch, creators []ledger.EntityID, f ledger.ScheduleFilter,
	now ledger.Timestamp, p storage.Page,
) storage.Result[[][]*ledger.Schedule] {
	ps, w := b.Parents("id", storage.Int64s(creators))
	filterSchedules(&w, f, now)
	w.Keyset(p, "s.schedule_id")
	return scheduleRows.QueueChildren(b, len(creators), &storage.Read{
		Setting: storage.NoBitmaps, Parents: ps, Select: `s.ord, ` + scheduleColumns,
		Page: `
  select p.ord, found.* from ` + ps.From + ` cross join lateral (
    select * from schedule s where s.creator_account_id = ` + ps.Key("id") + w.String() + w.OrderBy(p, "s.schedule_id") + `) found`,
		As: "s", Joins: []storage.Join{withEntity}, Rest: ` order by s.ord, s.schedule_id` + p.Direction(),
	}, w.Args)
}

// Types of transactions that create, delete or sign a schedule.
const (
	scheduleDelete = ledger.TransactionType(43)
	scheduleSign   = ledger.TransactionType(44)
)

// QueueTransactionSchedules queues a query for the schedule that each of the given transactions created, signed,
// deleted or executed. The result has one schedule per transaction, or nil if there is none. A scheduled transaction
// has the id of the transaction that created the schedule.
func QueueTransactionSchedules(b *storage.Batch, of []*ledger.Transaction) storage.Result[[]*ledger.Schedule] {
	n := len(of)
	ids, payers, starts, from, to := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n),
		make([]int64, n)
	for i, t := range of {
		switch {
		case t.Type == scheduleCreate, t.Type == scheduleDelete, t.Type == scheduleSign:
			ids[i] = int64(t.EntityID)
		case t.Scheduled:
			payers[i], starts[i] = int64(t.PayerAccountID), int64(t.ValidStartTimestamp)
			from[i], to[i] = int64(t.ValidStartTimestamp-validStartDrift), int64(t.ConsensusTimestamp)
		}
	}
	ps, _ := b.Parents("id, payer, start, since, until", ids, payers, starts, from, to)
	payer := ps.Key("payer")
	return scheduleRows.QueueChild(b, n, &storage.Read{
		Parents: ps, Select: `p.ord, ` + scheduleColumns, From: ps.From,
		Page: `select coalesce((
  select entity_id from transaction
  where payer_account_id = ` + payer + ` and valid_start_ns = ` + ps.Key("start") + ` and consensus_timestamp ` + within(ps) +
			` and type = 42 and ` + payer + ` <> 0
    and result = any($6)
  order by consensus_timestamp limit 1), ` + ps.Key("id") + `) as id`, As: "c",
		Joins: []storage.Join{
			storage.By("join", "schedule", "s", "c", "schedule_id", "id"),
			storage.Joined(` left join entity e on e.id = s.schedule_id`, "entity", `id in (select schedule_id
from schedule)`),
		},
	}, append(ps.Args, codes(ledger.SuccessCodes())))
}

// finishSignature sets the type of a decoded signature from its number in the database. The error is always nil.
func finishSignature(s *signatureRow) error {
	s.Type = ledger.SignatureTypeOf(s.typ)
	return nil
}

// QueueScheduleSignatures queues a query for the signatures of schedules in a fixed order: oldest first, and by
// public key prefix within one timestamp. The result has one list per schedule.
func QueueScheduleSignatures(
	b *storage.Batch, schedules []ledger.EntityID,
) storage.Result[[][]*ledger.ScheduleSignature] {
	r, args := signaturesByID.For(b.DB(), storage.Int64s(schedules))
	read := signatureRows.QueueRead(b, r, args)
	return storage.Map(read, func(rows []*signatureRow) [][]*ledger.ScheduleSignature {
		slices.SortFunc(rows, func(a, b *signatureRow) int {
			return cmp.Or(
				cmp.Compare(a.ConsensusTimestamp, b.ConsensusTimestamp),
				bytes.Compare(a.PublicKeyPrefix, b.PublicKeyPrefix),
				bytes.Compare(a.Signature, b.Signature), cmp.Compare(a.typ.V, b.typ.V),
			)
		})
		byID := make(map[ledger.EntityID][]*ledger.ScheduleSignature, len(schedules))
		for _, r := range rows {
			byID[r.schedule] = append(byID[r.schedule], &r.ScheduleSignature)
		}
		return list.Map(schedules, func(id ledger.EntityID) []*ledger.ScheduleSignature { return byID[id] })
	})
}

package world

import (
	"crypto/ed25519"

	"heliograph/storage/demo"
)

// Schedule describes a schedule to create.
type Schedule struct {
	Memo          string
	Creator       int64
	Payer         int64 // payer of the scheduled transaction
	Admin         string
	From, To      int64 // the scheduled transfer
	Amount        int64
	Expires       int64 // nanoseconds after the creation, or 0 for the default of 30 minutes
	WaitForExpiry bool
	Body          []byte // instead of a transfer
}

// CreateSchedule creates a schedule. It returns its number and the transaction.
func (w *World) CreateSchedule(p Schedule) (int64, *Transaction) {
	t := w.tx(TypeScheduleCreate, p.Creator)
	id := w.takeID("schedule")
	t.entity = id
	w.newEntity("SCHEDULE", id, t.ts, Row{"memo": p.Memo, "key": nullableKey(p.Admin), "auto_renew_period": nil})
	body := p.Body
	if body == nil {
		amounts := message(nil).
			msg(1, message(nil).msg(1, entityID(p.From)).signed(2, -p.Amount)).
			msg(1, message(nil).msg(1, entityID(p.To)).signed(2, p.Amount))
		body = message(nil).num(1, 2*Hbar).text(2, p.Memo).msg(9, message(nil).msg(1, amounts))
	}
	r := Row{
		"consensus_timestamp": t.ts, "creator_account_id": p.Creator, "executed_timestamp": nil, "payer_account_id": p.Payer,
		"schedule_id": id, "transaction_body": body, "expiration_time": nil, "wait_for_expiry": p.WaitForExpiry,
	}
	if p.Expires > 0 {
		r["expiration_time"] = t.ts + p.Expires
	}
	w.schedules[id] = r
	w.scheduleOrder = append(w.scheduleOrder, id)
	w.signature(t, id, keyHolder(p.Creator), 3)
	w.commit(t)
	return id, t
}

// signature writes a signature of a schedule. Kinds are values of the column type.
func (w *World) signature(t *Transaction, schedule int64, name string, kind int) {
	signature, prefix := ed25519.Sign(edPrivate(name), number(t.ts)), edRaw(name)
	switch kind {
	case 2: // signature of a contract
		prefix, signature = []byte(entityID(demo.Tollgate)), []byte{}
	case 6:
		prefix = ecRaw(name)
	}
	w.rows.add("transaction_signature", Row{
		"consensus_timestamp": t.ts, "public_key_prefix": prefix[:min(len(prefix), 12)], "entity_id": schedule, "signature": signature, "type": kind,
	})
}

// SignSchedule adds signatures to a schedule.
func (w *World) SignSchedule(schedule, payer int64, kinds ...int) {
	t := w.tx(TypeScheduleSign, payer)
	t.entity = schedule
	for i, kind := range kinds {
		name := keyHolder(payer)
		if i > 0 {
			name += "'s second key"
		}
		w.signature(t, schedule, name, kind)
	}
	w.commit(t)
}

// ExecuteSchedule executes the transfer of a schedule. The transaction is marked as scheduled and has the id of the one that created the schedule.
func (w *World) ExecuteSchedule(schedule int64, creation *Transaction, from, to, amount int64) {
	r := w.schedules[schedule]
	t := w.tx(TypeCryptoTransfer, r["payer_account_id"].(int64))
	t.validStart, t.payer, t.scheduled, t.validDuration, t.node = creation.validStart, r["payer_account_id"].(int64), true, 0, demo.FirstNodeAccount
	t.hbars(from, to, amount)
	w.commit(t)
	r["executed_timestamp"] = t.ts
}

// DeleteSchedule deletes a schedule.
func (w *World) DeleteSchedule(schedule, payer int64) {
	t := w.tx(TypeScheduleDelete, payer)
	t.entity = schedule
	w.commit(t)
	w.changeEntity(schedule, t.ts, Row{"deleted": true})
}

func (w *World) writeSchedules() {
	for _, id := range w.scheduleOrder {
		w.rows.add("schedule", w.schedules[id])
	}
}

// UntilExpiry moves the clock to the expiration time of a schedule.
func (w *World) UntilExpiry(schedule int64) {
	w.AdvanceTo(w.schedules[schedule]["expiration_time"].(int64))
}

// ScheduledCall returns the SchedulableTransactionBody of a contract call.
func ScheduledCall(contract, gas, maxFee int64, data []byte) []byte {
	call := message(nil).msg(1, entityID(contract)).num(2, gas).bytes(4, data)
	return message(nil).num(1, maxFee).msg(3, call)
}

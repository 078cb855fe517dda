package demo

import "crypto/ed25519"

// plan describes a schedule that is about to be created.
type plan struct {
	memo          string
	creator       int64
	payer         int64 // of the scheduled transaction
	admin         string
	from, to      int64 // the scheduled transfer
	amount        int64
	expires       int64 // how long after its creation, 0: the default of 30 minutes
	waitForExpiry bool
	body          []byte // instead of a transfer
}

// schedule creates a schedule and returns its number and the transaction that created it.
func (w *world) schedule(p plan) (int64, *transaction) {
	t := w.tx(typeScheduleCreate, p.creator)
	id := w.number("schedule")
	t.entity = id
	w.newEntity("SCHEDULE", id, t.ts, row{"memo": p.memo, "key": edKeyOrNil(p.admin), "auto_renew_period": nil})
	body := p.body
	if body == nil {
		amounts := message(nil).
			msg(1, message(nil).msg(1, pbID(p.from)).signed(2, -p.amount)).
			msg(1, message(nil).msg(1, pbID(p.to)).signed(2, p.amount))
		body = message(nil).num(1, 2*hbar).text(2, p.memo).msg(9, message(nil).msg(1, amounts))
	}
	r := row{
		"consensus_timestamp": t.ts, "creator_account_id": p.creator, "executed_timestamp": nil, "payer_account_id": p.payer,
		"schedule_id": id, "transaction_body": body, "expiration_time": nil, "wait_for_expiry": p.waitForExpiry,
	}
	if p.expires > 0 {
		r["expiration_time"] = t.ts + p.expires
	}
	w.schedules[id] = r
	w.scheduleOrder = append(w.scheduleOrder, id)
	w.signature(t, id, personName(p.creator), 3)
	w.commit(t)
	return id, t
}

// signature keeps what somebody signed for a schedule. Kinds are those of the column type.
func (w *world) signature(t *transaction, schedule int64, name string, kind int) {
	signature, prefix := ed25519.Sign(edPrivate(name), number(t.ts)), edRaw(name)
	switch kind {
	case 2: // a contract that agreed signs by being called
		prefix, signature = []byte(pbID(Tollgate)), []byte{}
	case 6:
		prefix = ecRaw(name)
	}
	w.out.add("transaction_signature", row{
		"consensus_timestamp": t.ts, "public_key_prefix": prefix[:min(len(prefix), 12)], "entity_id": schedule, "signature": signature, "type": kind,
	})
}

// sign adds the signatures of people to a schedule.
func (w *world) sign(schedule, payer int64, kinds ...int) {
	t := w.tx(typeScheduleSign, payer)
	t.entity = schedule
	for i, kind := range kinds {
		name := personName(payer)
		if i > 0 {
			name += "'s second key"
		}
		w.signature(t, schedule, name, kind)
	}
	w.commit(t)
}

// execute runs a schedule: its transaction has the id of the one that created it, and is marked as scheduled.
func (w *world) execute(schedule int64, creation *transaction, do func(*transaction)) {
	r := w.schedules[schedule]
	t := w.tx(typeCryptoTransfer, r["payer_account_id"].(int64))
	t.validStart, t.payer, t.scheduled, t.validDuration, t.node = creation.validStart, r["payer_account_id"].(int64), true, 0, firstNodeAccount
	do(t)
	w.commit(t)
	r["executed_timestamp"] = t.ts
}

func (w *world) deleteSchedule(schedule, payer int64) {
	t := w.tx(typeScheduleDelete, payer)
	t.entity = schedule
	w.commit(t)
	w.changeEntity(schedule, t.ts, row{"deleted": true})
}

func (w *world) writeSchedules() {
	for _, id := range w.scheduleOrder {
		w.out.add("schedule", w.schedules[id])
	}
}

package world

import (
	"bytes"
	"crypto/ed25519"

	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/internal/domain/ledger/codes"
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
	Body          []byte   // instead of a transfer
	Signers       []string // holders of required keys that sign the creation
}

// CreateSchedule creates a schedule. It returns its number and the transaction.
func (w *World) CreateSchedule(p Schedule) (int64, *Transaction) {
	id := w.takeID("schedule")
	t := w.tx(codes.TypeScheduleCreate, p.Creator, id)
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
	accounts := []int64{p.Payer}
	if p.Body == nil {
		accounts = append(accounts, p.From)
		if w.entities.get(key(p.To))["receiver_sig_required"] == true {
			accounts = append(accounts, p.To)
		}
	}
	for _, a := range accounts {
		w.required[id] = append(w.required[id], w.entities.get(key(a))["key"].([]byte)...)
	}
	w.sign(t, id, p.Signers...)
	w.commit(t)
	return id, t
}

// sign adds the signatures of the holders of required keys to a schedule.
func (w *World) sign(t *Transaction, schedule int64, names ...string) {
	digest := crypto.Keccak256(number(t.ts))
	for _, name := range names {
		r := Row{"consensus_timestamp": t.ts, "entity_id": schedule}
		prefix := edRaw(name)
		switch {
		case name == ByContract: // signs by calling the network
			prefix, r["signature"], r["type"] = entityID(demo.Tollgate), []byte{}, 2
		case bytes.Contains(w.required[schedule], prefix):
			r["signature"], r["type"] = ed25519.Sign(edPrivate(name), digest), 3
		default:
			s, err := crypto.Sign(digest, ecPrivate(name))
			if err != nil {
				w.fail("signing a schedule: %w", err)
				return
			}
			prefix, r["signature"], r["type"] = ecRaw(name), s[:64], 6
		}
		r["public_key_prefix"] = prefix[:min(len(prefix), 12)]
		if k := key(schedule, "/", prefix); w.signed[k] || !bytes.Contains(w.required[schedule], prefix) {
			w.fail("%s cannot sign the schedule 0.0.%d", name, schedule)
		} else {
			w.signed[k] = true
		}
		w.rows.add("transaction_signature", r)
	}
}

// ByContract is the signer of a schedule that requires the key of the contract Tollgate.
const ByContract = "Tollgate"

// SignSchedule adds signatures of the holders of required keys to a schedule.
func (w *World) SignSchedule(schedule, payer int64, names ...string) {
	t := w.tx(codes.TypeScheduleSign, payer, schedule)
	w.sign(t, schedule, names...)
	w.commit(t)
}

// ExecuteSchedule executes the transfer of a schedule. The transaction is marked as scheduled and has the id of the one that created the schedule.
func (w *World) ExecuteSchedule(schedule int64, creation *Transaction, from, to, amount int64) {
	r := w.schedules[schedule]
	t := w.tx(codes.TypeCryptoTransfer, r["payer_account_id"].(int64), 0)
	t.validStart, t.payer, t.scheduled, t.validDuration, t.node = creation.validStart, r["payer_account_id"].(int64), true, 0, demo.FirstNodeAccount
	t.hbars(from, to, amount)
	w.commit(t)
	r["executed_timestamp"] = t.ts
}

// DeleteSchedule deletes a schedule.
func (w *World) DeleteSchedule(schedule, payer int64) {
	t := w.tx(codes.TypeScheduleDelete, payer, schedule)
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

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
	Call          *Call    // instead of a transfer
	Signers       []string // holders of required keys that sign the creation
}

type schedule struct {
	Schedule
	creation *Transaction
	row      Row
	required []byte // the keys that must sign
}

// CreateSchedule creates a schedule of a call or a transfer, adds the signatures of p.Signers, and returns its number.
// The creator pays. The row has the call or transfer as the protobuf message SchedulableTransactionBody. It does not
// execute the schedule. It records which keys must sign, as they are now: those of the payer and, for a transfer, of
// the sender and of a receiver that signs to receive.
func (w *World) CreateSchedule(p Schedule) int64 {
	id := w.takeID("schedule")
	t := w.tx(codes.TypeScheduleCreate, p.Creator, id)
	w.newEntity("SCHEDULE", id, t.ts, Row{"memo": p.Memo, "key": nullableKey(p.Admin), "auto_renew_period": nil})
	var body message
	if c := p.Call; c != nil {
		body = message(nil).num(1, 5*Hbar).msg(3, message(nil).msg(1, entityID(c.Contract)).num(2, c.Gas).bytes(4,
			w.inputOf(*c)))
	} else {
		amounts := message(nil).
			msg(1, message(nil).msg(1, entityID(p.From)).signed(2, -p.Amount)).
			msg(1, message(nil).msg(1, entityID(p.To)).signed(2, p.Amount))
		body = message(nil).num(1, 2*Hbar).text(2, p.Memo).msg(9, message(nil).msg(1, amounts))
	}
	r := Row{
		"consensus_timestamp": t.ts, "creator_account_id": p.Creator, "executed_timestamp": nil,
		"payer_account_id": p.Payer,
		"schedule_id":      id, "transaction_body": []byte(body), "expiration_time": nil,
		"wait_for_expiry": p.WaitForExpiry,
	}
	if p.Expires > 0 {
		r["expiration_time"] = t.ts + p.Expires
	}
	c := &schedule{Schedule: p, creation: t, row: w.schedules.save(t.ts, r)}
	w.scheduled[id] = c
	accounts := []int64{p.Payer}
	if p.Call == nil {
		accounts = append(accounts, p.From)
		if w.entities.get(p.To)["receiver_sig_required"] == true {
			accounts = append(accounts, p.To)
		}
	}
	for _, a := range accounts {
		c.required = append(c.required, w.entities.get(a)["key"].([]byte)...)
	}
	w.sign(t, id, p.Signers...)
	w.commit(t)
	return id
}

// sign adds rows of transaction_signature for the given key holders to a schedule, with the first 12 bytes of their
// keys. If a holder has no required key, or has signed before, it calls [World.Fail] and adds the row nevertheless.
// The holder Tollgate is a contract, whose signature is empty. Types of signatures are 2 for contracts, 3 for ED25519
// and 6 for ECDSA.
func (w *World) sign(t *Transaction, schedule int64, names ...string) {
	digest := crypto.Keccak256(number(t.ts))
	for _, name := range names {
		r := Row{"consensus_timestamp": t.ts, "entity_id": schedule}
		prefix := edRaw(name)
		switch {
		case name == "Tollgate": // the contract signs by calling the network
			prefix, r["signature"], r["type"] = entityID(demo.Tollgate), []byte{}, 2
		case bytes.Contains(w.scheduled[schedule].required, prefix):
			r["signature"], r["type"] = ed25519.Sign(edPrivate(name), digest), 3
		default:
			s, err := crypto.Sign(digest, ecPrivate(name))
			if err != nil {
				w.Fail("signing a schedule: %w", err)
				return
			}
			prefix, r["signature"], r["type"] = ecRaw(name), s[:64], 6
		}
		r["public_key_prefix"] = prefix[:min(len(prefix), 12)]
		if k := keyOf(schedule, prefix); w.signed[k] || !bytes.Contains(w.scheduled[schedule].required, prefix) {
			w.Fail("%s cannot sign the schedule 0.0.%d", name, schedule)
		} else {
			w.signed[k] = true
		}
		w.rows.add("transaction_signature", r)
	}
}

// SignSchedule adds signatures of the given key holders to a schedule, in a transaction that payer pays. If a holder
// has no required key, or has signed before, it calls [World.Fail]. It executes nothing, also after the last required
// signature. The schedule must exist.
func (w *World) SignSchedule(schedule, payer int64, names ...string) {
	t := w.tx(codes.TypeScheduleSign, payer, schedule)
	w.sign(t, schedule, names...)
	w.commit(t)
}

// ExecuteSchedule executes the transfer of a schedule, which must exist and not be that of a call, and sets its
// execution time. It does not check the signatures. The transaction is marked as scheduled and has the transaction ID
// of the one that created the schedule.
func (w *World) ExecuteSchedule(id int64) {
	c := w.scheduled[id]
	t := w.tx(codes.TypeCryptoTransfer, c.Payer, 0)
	t.validStart, t.scheduled, t.validDuration, t.node = c.creation.validStart, true, 0, demo.FirstNodeAccount
	t.hbars(c.From, c.To, c.Amount)
	w.commit(t)
	c.row["executed_timestamp"] = t.ts
}

// ExecuteAtExpiry moves the clock to the expiration time of a schedule and executes it with [World.ExecuteSchedule].
// It panics if the schedule was created without an expiration time.
func (w *World) ExecuteAtExpiry(id int64) {
	w.AdvanceTo(w.scheduled[id].row["expiration_time"].(int64))
	w.ExecuteSchedule(id)
}

package demo

import (
	"crypto/sha512"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// topicState is what a topic needs for its next message.
type topicState struct {
	sequence    int64
	runningHash []byte
	exempt      map[int64]bool
	submitters  map[int64]bool // nil: anybody may submit
}

// forum describes a topic that is about to be created.
type forum struct {
	memo                       string
	admin, submit, feeSchedule string // holders of the keys
	exempt                     []string
	exemptAccounts, submitters []int64
	renewedBy                  int64
	fixed                      []map[string]any
}

func (w *world) createTopic(payer int64, f forum) int64 {
	t := w.tx(typeTopicCreate, payer)
	id := w.number("topic")
	t.entity = id
	w.newEntity("TOPIC", id, t.ts, row{"memo": f.memo, "key": edKeyOrNil(f.admin), "auto_renew_account_id": orNil(f.renewedBy)})
	var exempt []byte
	for _, name := range f.exempt {
		exempt = message(exempt).bytes(1, edKey(name))
	}
	w.topics.put(key(id), t.ts, row{
		"admin_key": edKeyOrNil(f.admin), "created_timestamp": t.ts, "id": id, "fee_exempt_key_list": exempt,
		"fee_schedule_key": edKeyOrNil(f.feeSchedule), "submit_key": edKeyOrNil(f.submit),
	})
	w.setFees(id, t.ts, f.fixed, nil, nil)
	s := &topicState{runningHash: make([]byte, 48), exempt: map[int64]bool{}}
	for _, a := range f.exemptAccounts {
		s.exempt[a] = true
	}
	if f.submitters != nil {
		s.submitters = map[int64]bool{}
		for _, a := range f.submitters {
			s.submitters[a] = true
		}
	}
	w.topicState[id] = s
	w.commit(t)
	return id
}

// updateTopic changes the topic's own columns and its memo.
func (w *world) updateTopic(id, payer int64, memo string, changed row) {
	t := w.tx(typeTopicUpdate, payer)
	t.entity = id
	w.changeEntity(id, t.ts, row{"memo": memo})
	w.topics.change(key(id), t.ts, changed)
	w.commit(t)
}

func (w *world) deleteTopic(id, payer int64) {
	t := w.tx(typeTopicDelete, payer)
	t.entity = id
	w.changeEntity(id, t.ts, row{"deleted": true})
	w.topics.change(key(id), t.ts, row{})
	w.commit(t)
}

// chunk says which part of a longer message a message is.
type chunk struct {
	number, total int
	payer, start  int64 // id of the transaction with the first part
}

// say submits a message to a topic. Whoever may not submit gets refused.
func (w *world) say(topic, payer int64, text string) {
	w.submit(topic, payer, []byte(text), nil, 0)
}

// submit is say with everything: chunk information, and the most that the payer accepts as custom fee (0: no limit).
func (w *world) submit(topic, payer int64, text []byte, c *chunk, limit int64) {
	t := w.tx(typeTopicMessage, payer)
	t.entity = topic
	s := w.topicState[topic]
	if limit > 0 {
		t.maxCustomFees = [][]byte{message(nil).msg(1, pbID(payer)).msg(2, message(nil).num(1, limit))}
	}
	if s.submitters != nil && !s.submitters[payer] {
		t.result = resultInvalidSubmitKey
		w.commit(t)
		return
	}
	if !s.exempt[payer] {
		for _, f := range decodeFees(w.fees.get(key(topic))["fixed_fees"]) {
			if limit > 0 && f.Token == 0 && f.Amount > limit {
				t.result = resultMaxCustomFee
				t.transfers, t.assessed, t.tokenMoves = nil, nil, nil
				w.commit(t)
				return
			}
			w.assessFixed(t, payer, f)
		}
	}
	s.sequence++
	s.runningHash = runningHash(s.runningHash, payer, topic, t.ts, s.sequence, text)
	r := row{
		"consensus_timestamp": t.ts, "message": text, "running_hash": s.runningHash, "sequence_number": s.sequence,
		"running_hash_version": 3, "chunk_num": nil, "chunk_total": nil, "payer_account_id": payer, "topic_id": topic,
		"valid_start_timestamp": t.validStart, "initial_transaction_id": nil,
	}
	if c != nil {
		r["chunk_num"], r["chunk_total"] = c.number, c.total
		if c.start == 0 {
			c.payer, c.start = payer, t.validStart
		}
		r["initial_transaction_id"] = []byte(pbTransactionID(c.payer, c.start, false, 0))
		r["valid_start_timestamp"] = c.start
		if topic == PhotoAlbum { // an older writer, which kept the two columns instead
			r["initial_transaction_id"], r["running_hash_version"] = nil, nil
		}
	}
	w.out.add("topic_message", r)
	w.commit(t)
}

// sayLong submits a text in parts of the given size.
func (w *world) sayLong(topic, payer int64, text string, size int) {
	c := &chunk{total: (len(text) + size - 1) / size}
	w.quick = true
	defer func() { w.quick = false }()
	for c.number = 1; c.number <= c.total; c.number++ {
		end := min(c.number*size, len(text))
		w.submit(topic, payer, []byte(text[(c.number-1)*size:end]), c, 0)
	}
}

// runningHash chains a message to the ones before it: SHA-384 over the hash so far, the version (3), payer, topic, time,
// sequence number and the hash of the message.
func runningHash(previous []byte, payer, topic, ts, sequence int64, text []byte) []byte {
	var b []byte
	b = append(b, previous...)
	for _, v := range []int64{3, 0, 0, payer, 0, 0, topic, ts / second} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(ts%second))
	b = binary.BigEndian.AppendUint64(b, uint64(sequence))
	m := sha512.Sum384(text)
	h := sha512.Sum384(append(b, m[:]...))
	return h[:]
}

// noteLookups notes which sequence numbers a partition by month of the messages holds for each topic, with the messages made so far.
func (w *world) noteLookups() {
	for _, r := range w.out["topic_message"] {
		ts, topic, seq := r["consensus_timestamp"].(int64), r["topic_id"].(int64), r["sequence_number"].(int64)
		partition := time.Unix(0, ts).UTC().Format("topic_message_p2006_01")
		k := key(topic, "/", partition)
		first, from := seq, ts
		if known := w.lookups[k]; known != nil {
			first = known["sequence_number_range"].(pgtype.Range[pgtype.Int8]).Lower.Int64
			from = known["timestamp_range"].(pgtype.Range[pgtype.Int8]).Lower.Int64
		} else {
			w.lookupOrder = append(w.lookupOrder, k)
		}
		w.lookups[k] = row{
			"partition": partition, "topic_id": topic, "sequence_number_range": span(first, seq+1), "timestamp_range": span(from, ts+1),
		}
	}
}

package world

import (
	"crypto/sha512"
	"encoding/binary"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// topicState is the state of a topic that its next message depends on.
type topicState struct {
	sequence    int64
	runningHash []byte
	feeExempt   []int64
	submitters  []int64 // nil if everybody can submit
}

// Topic describes a topic to create.
type Topic struct {
	Memo                       string
	Admin, Submit, FeeSchedule string // holders of the keys
	Exempt                     []string
	ExemptAccounts, Submitters []int64
	RenewedBy                  int64
	Fixed                      []FixedFee
}

// CreateTopic creates a topic with its custom fees in a transaction that payer pays, and returns its number.
func (w *World) CreateTopic(payer int64, f Topic) int64 {
	id := w.takeID("topic")
	t := w.tx(codes.TypeConsensusCreateTopic, payer, id)
	w.newEntity("TOPIC", id, t.ts, Row{
		"memo": f.Memo, "key": nullableKey(f.Admin),
		"auto_renew_account_id": nullIfZero(f.RenewedBy),
	})
	var exempt []byte
	for _, name := range f.Exempt {
		exempt = message(exempt).bytes(1, Ed25519Key(name))
	}
	w.topics.save(t.ts, Row{
		"admin_key": nullableKey(f.Admin), "created_timestamp": t.ts, "id": id, "fee_exempt_key_list": exempt,
		"fee_schedule_key": nullableKey(f.FeeSchedule), "submit_key": nullableKey(f.Submit),
	})
	w.setFees(id, t.ts, f.Fixed, nil, nil)
	w.topicState[id] = &topicState{
		runningHash: make([]byte, 48), feeExempt: f.ExemptAccounts,
		submitters: f.Submitters,
	}
	w.commit(t)
	return id
}

// UpdateTopic changes columns and the memo of a topic in a transaction that payer pays. An empty memo replaces the
// memo too. It adds the id to changed. For a topic that does not exist, it calls [World.Fail].
func (w *World) UpdateTopic(id, payer int64, memo string, changed Row) {
	t := w.tx(codes.TypeConsensusUpdateTopic, payer, id)
	w.changeEntity(id, t.ts, Row{"memo": memo})
	changed["id"] = id
	w.topics.save(t.ts, changed)
	w.commit(t)
}

// DeleteTopic marks a topic as deleted in a transaction that payer pays. For a topic that does not exist, it calls
// [World.Fail].
func (w *World) DeleteTopic(id, payer int64) {
	t := w.tx(codes.TypeConsensusDeleteTopic, payer, id)
	w.changeEntity(id, t.ts, Row{"deleted": true})
	w.topics.save(t.ts, Row{"id": id})
	w.commit(t)
}

// chunk identifies a chunk of a longer message.
type chunk struct {
	number, total int
	payer, start  int64 // transaction id of the first chunk
}

// SubmitText submits a message to a topic in a transaction that payer pays, with the custom fees of the topic. If
// payer is not allowed to submit, the transaction fails with INVALID_SUBMIT_KEY.
func (w *World) SubmitText(topic, payer int64, text string) {
	w.SubmitMessage(topic, payer, []byte(text), nil, 0)
}

// SubmitMessage submits a message, or the chunk c of one, to a topic in a transaction that payer pays, with the custom
// fees of the topic. A payer who is not allowed to submit makes it fail with INVALID_SUBMIT_KEY. limit is the maximum
// custom fee in tinybars that the payer accepts; 0 means no limit. For the first chunk, it sets the payer and start of
// c. c is nil for a message in one piece. A fixed fee in tinybars above the maximum makes the transaction fail with
// MAX_CUSTOM_FEE_LIMIT_EXCEEDED. Exempt accounts pay no custom fees. The topic must have been created with
// [World.CreateTopic].
func (w *World) SubmitMessage(topic, payer int64, text []byte, c *chunk, limit int64) {
	t := w.tx(codes.TypeConsensusSubmitMessage, payer, topic)
	s := w.topicState[topic]
	if limit > 0 {
		t.maxCustomFees = [][]byte{message(nil).msg(1, entityID(payer)).msg(2, message(nil).num(1, limit))}
	}
	if s.submitters != nil && !slices.Contains(s.submitters, payer) {
		t.result = codes.InvalidSubmitKey
		w.commit(t)
		return
	}
	if !slices.Contains(s.feeExempt, payer) {
		for _, f := range decodeFees[FixedFee](w.fees.get(topic)["fixed_fees"]) {
			if limit > 0 && f.Token == 0 && f.Amount > limit {
				t.result = codes.MaxCustomFeeLimitExceeded
				t.transfers, t.assessed, t.tokenMoves = nil, nil, nil
				w.commit(t)
				return
			}
			w.assessFixed(t, payer, f)
		}
	}
	s.sequence++
	s.runningHash = RunningHash(s.runningHash, payer, topic, t.ts, s.sequence, text)
	r := Row{
		"consensus_timestamp": t.ts, "message": text, "running_hash": s.runningHash, "sequence_number": s.sequence,
		"running_hash_version": 3, "payer_account_id": payer, "topic_id": topic, "valid_start_timestamp": t.validStart,
	}
	if c != nil {
		r["chunk_num"], r["chunk_total"] = c.number, c.total
		if c.start == 0 {
			c.payer, c.start = payer, t.validStart
		}
		r["initial_transaction_id"] = []byte(transactionID(c.payer, c.start, false, 0))
		r["valid_start_timestamp"] = c.start
		if topic == demo.PhotoAlbum { // as older importers wrote them
			r["initial_transaction_id"], r["running_hash_version"] = nil, nil
		}
	}
	w.rows.add("topic_message", r)
	w.commit(t)
}

// SubmitChunks submits a text in chunks of at most size bytes, one transaction each, which follow each other within
// 90 ms. An empty text submits nothing.
func (w *World) SubmitChunks(topic, payer int64, text string, size int) {
	c := &chunk{total: (len(text) + size - 1) / size}
	for c.number = 1; c.number <= c.total; c.number++ {
		end := min(c.number*size, len(text))
		w.SubmitMessage(topic, payer, []byte(text[(c.number-1)*size:end]), c, 0)
	}
}

// RunningHash returns the running hash of a message: SHA-384 of the previous hash, the version (3), payer, topic,
// time, sequence number and hash of the message. ts is in nanoseconds. Shards and realms are 0.
func RunningHash(previous []byte, payer, topic, ts, sequence int64, text []byte) []byte {
	var b []byte
	b = append(b, previous...)
	for _, v := range []int64{3, 0, 0, payer, 0, 0, topic, ts / Second} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(ts%Second))
	b = binary.BigEndian.AppendUint64(b, uint64(sequence))
	m := sha512.Sum384(text)
	h := sha512.Sum384(append(b, m[:]...))
	return h[:]
}

// noteLookups extends the ranges of topic_message_lookup by the rows of topic_message so far.
func (w *World) noteLookups() {
	for _, r := range w.rows["topic_message"] {
		ts, topic, seq := r["consensus_timestamp"].(int64), r["topic_id"].(int64), r["sequence_number"].(int64)
		partition := time.Unix(0, ts).UTC().Format("topic_message_p2006_01")
		first, from := seq, ts
		if known := w.lookups.get(topic, partition); known != nil {
			first = known["sequence_number_range"].(pgtype.Range[pgtype.Int8]).Lower.Int64
			from = known["timestamp_range"].(pgtype.Range[pgtype.Int8]).Lower.Int64
		}
		w.lookups.save(ts, Row{
			"partition": partition, "topic_id": topic, "sequence_number_range": span(first, seq+1),
			"timestamp_range": span(from, ts+1),
		})
	}
}

package entities

import (
	"context"
	"fmt"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// TopicPart is a database row that is required for a topic and is missing.
type TopicPart string

// Required rows of a topic, in the order in which they are checked.
const (
	TopicRow      TopicPart = "topic"
	TopicEntity   TopicPart = "entity"
	TopicFees     TopicPart = "custom fee"
	topicComplete TopicPart = ""
)

// finishTopic sets the members of a topic that are computed from columns; it decodes keys and custom fees. It fails if
// the list of exempt keys or the JSON of the fees is invalid.
func finishTopic(t *topicRow) error {
	t.AdminKey, t.FeeScheduleKey, t.SubmitKey = t.adminKey.Info(), t.feeScheduleKey.Info(), t.submitKey.Info()
	t.Memo = t.memo.V
	t.ExpirationTimestamp = Expiry(t.expiration, t.CreatedTimestamp, t.AutoRenewPeriod)
	keys, err := ledger.DecodeKeyList(t.feeExemptKeys)
	if err != nil {
		return fmt.Errorf("topic %s: %w", t.EntityID, err)
	}
	t.FeeExemptKeys = make([]*ledger.KeyInfo, len(keys))
	for i, k := range keys {
		t.FeeExemptKeys[i] = k.Info()
	}
	if !t.hasFees {
		return nil
	}
	t.CustomFees = &ledger.TopicCustomFees{CreatedTimestamp: t.feesFrom, FixedFees: []*ledger.FixedFee{}}
	err = storage.DecodeJSON(t.fixedFees, &t.CustomFees.FixedFees)
	if err != nil {
		return fmt.Errorf("custom fees of topic %s: %w", t.EntityID, err)
	}
	return nil
}

var topicsByID = storage.ByKeys(`select ` + topicColumns + `
from topic t left join entity e on e.id = t.id left join custom_fee f on f.entity_id = t.id where t.id = ` + storage.Any1)

// QueueTopics queues a query for topics by id. The result has one topic per id, or nil if the topic does not exist
// or one of its rows is missing.
func QueueTopics(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]*ledger.Topic] {
	return storage.Map(QueueTopicParts(b, ids), func(rows []TopicParts) []*ledger.Topic {
		return list.Map(rows, func(p TopicParts) *ledger.Topic { return p.Topic })
	})
}

// TopicParts is a topic, or nil and the missing part if the topic is incomplete or does not exist.
type TopicParts struct {
	Topic   *ledger.Topic
	Missing TopicPart
}

// QueueTopicParts queues a query for topics by id. The result has one element per id: the topic, or which of its
// rows is missing.
func QueueTopicParts(b *storage.Batch, ids []ledger.EntityID) storage.Result[[]TopicParts] {
	read := storage.QueueByKey(b, topicRows, topicsByID, ids, func(r *topicRow) ledger.EntityID { return r.EntityID })
	return storage.Map(read, func(rows []*topicRow) []TopicParts { return list.Map(rows, (*topicRow).parts) })
}

// parts returns the topic of a row, or nil and which of its rows is missing. A nil r means that the topic has none.
func (r *topicRow) parts() TopicParts {
	switch {
	case r == nil:
		return TopicParts{nil, TopicRow}
	case !r.hasEntity:
		return TopicParts{nil, TopicEntity}
	case !r.hasFees:
		return TopicParts{nil, TopicFees}
	default:
		return TopicParts{&r.Topic, topicComplete}
	}
}

// Topic reads a topic. If the topic is incomplete or does not exist, it returns nil and the missing part.
func Topic(ctx context.Context, db *storage.DB, id ledger.EntityID) (*ledger.Topic, TopicPart, error) {
	p, err := storage.ReadOne(ctx, db, "topic", id, QueueTopicParts)
	return p.Topic, p.Missing, err
}

// sameMessage returns an SQL condition that is true if a chunk belongs to the message of another. c and m are the
// aliases of their rows of topic_message. Only the number of c is checked: the condition is not true if it is invalid.
// It does not compare the topics, which the statement restricts to one.
func sameMessage(c, m string) string {
	const condition = `c.payer_account_id = m.payer_account_id and c.chunk_total = m.chunk_total
      and c.chunk_num between 1 and c.chunk_total
      and c.valid_start_timestamp is not distinct from m.valid_start_timestamp
      and c.initial_transaction_id is not distinct from m.initial_transaction_id`
	return strings.NewReplacer("c.", c+".", "m.", m+".").Replace(condition)
}

// nearby returns an SQL condition for messages c that are at most 256 messages before or after m. Both are aliases of
// topic_message.
func nearby(c, m string) string {
	return c + ".sequence_number between " + m + ".sequence_number - 256 and " + m + ".sequence_number + 256"
}

// standsForMessage returns the condition for the rows of topic_message, without an alias, at which joined messages
// stand: the first chunk, or else the earliest of a message. A chunk with an invalid number stands alone. topic is the
// SQL expression of their topic. The first chunk of most messages is found at once, because their chunks follow each
// other. Citus runs the statement in one shard if the topic is a parameter for each of the tables.
func standsForMessage(topic string) string {
	return `(coalesce(chunk_num, 1) <= 1 or chunk_total is null or chunk_total > 100
  or chunk_num > chunk_total or case
  when exists (select 1 from topic_message c where c.topic_id = ` + topic + `
    and c.sequence_number = topic_message.sequence_number + 1 - topic_message.chunk_num and c.chunk_num = 1
    and ` + sameMessage("c", "topic_message") + `) then false
  else not exists (select 1 from topic_message c where c.topic_id = ` + topic + `
    and ` + nearby("c", "topic_message") + ` and ` + sameMessage("c", "topic_message") + `
    and (c.chunk_num = 1 or c.sequence_number < topic_message.sequence_number
      and not exists (select 1 from topic_message d where d.topic_id = ` + topic + `
        and ` + nearby("d", "c") + ` and ` + sameMessage("d", "c") + `
        and (d.chunk_num = 1 or d.sequence_number < c.sequence_number)))) end)`
}

// joinedMessages describes the statement for messages of a topic that satisfy [standsForMessage], with the joined
// contents of their chunks and the number of them. The first join reads the chunks that follow the first one, of most
// messages all. Otherwise the second join reads the messages before and after the chunk. topic is the SQL expression
// of the topic, sql the statement of the page, and order its direction.
func joinedMessages(topic, sql, order string) *storage.Read {
	return &storage.Read{
		Select: joinedColumns,
		Page:   sql, As: "m",
		Rest: ` left join lateral (
  select count(distinct c.chunk_num) as n, string_agg(c.message, '' order by c.chunk_num) as rest
  from (select c.chunk_num, c.message from topic_message c
    where c.topic_id = ` + topic + `
      and c.sequence_number > m.sequence_number and c.sequence_number <= m.sequence_number + 256
      and m.chunk_num = 1 and m.chunk_total <= 100 and c.chunk_num > 1 and ` + sameMessage("c", "m") + `
    order by c.sequence_number limit greatest(m.chunk_total, 1) - 1) c) f on true left join lateral (
  select count(*)::int as n, string_agg(c.message, '' order by c.chunk_num) as whole
  from (select distinct on (c.chunk_num) c.chunk_num, c.message from topic_message c
    where c.topic_id = ` + topic + ` and c.sequence_number <= m.sequence_number + 256
      and c.sequence_number >= case when m.chunk_num = 1 then m.sequence_number - 256 else m.sequence_number end
      and m.chunk_num between 1 and m.chunk_total and m.chunk_total between 2 and 100 and f.n < m.chunk_total - 1
      and (c.chunk_num <> m.chunk_num or c.sequence_number = m.sequence_number) and ` + sameMessage("c", "m") + `
      and (m.chunk_num = 1 or not exists (select 1 from topic_message d where d.topic_id = ` + topic + ` and d.chunk_num = 1
        and ` + nearby("d", "c") + ` and ` + sameMessage("d", "c") + `))
    order by c.chunk_num, c.sequence_number) c) g on true
order by consensus_timestamp` + order,
	}
}

var malformedID storage.Malformed

// finishMessage sets the members of a message that are computed from columns. If the chunks were joined, the message
// is the joined one. An invalid transaction ID is logged, and ChunkInfo stays nil. The error is always nil.
func finishMessage(m *messageRow) error {
	if !m.chunkNum.Valid {
		m.Complete = true
		return nil
	}
	if m.whole != nil {
		m.Message, m.Joined = m.whole, m.joined.V-1
	}
	m.Complete = m.total.Valid && 1 <= m.chunkNum.V && m.chunkNum.V <= m.total.V && m.JoinedChunks() == m.total.V
	m.id = ledger.MessageTransactionID{AccountID: m.PayerAccountID, TransactionValidStart: m.validStart}
	if m.initial != nil {
		var err error
		if m.id, err = ledger.DecodeTransactionID(m.initial); err != nil {
			malformedID.Report("initial_transaction_id", "topic message", m.ConsensusTimestamp, err)
			return nil
		}
	}
	m.chunk = ledger.ChunkInfo{InitialTransactionID: &m.id, Number: m.chunkNum.V, Total: m.total}
	m.ChunkInfo = &m.chunk
	return nil
}

// TopicMessages reads a page of a topic's messages, ordered by consensus time. With f.JoinChunks, the chunks of a
// message are one row, at the place of the first; see [joinedMessages].
func TopicMessages(
	ctx context.Context, db *storage.DB, topic ledger.EntityID, f ledger.TopicMessageFilter, p storage.Page,
) ([]*ledger.TopicMessage, error) {
	w := storage.With(int64(topic))
	column := filterMessages(&w, "$1", f, p)
	rows, r := messagesOf(db, &w, "$1", column, f, p)
	if f.SequenceNumber != nil && f.Timestamp != nil {
		r.Setting = storage.NoBitmaps // each has an index
	}
	return rows.ListRead(ctx, db, "the messages of a topic", r, w.Args)
}

// messagesOf describes the statement for the messages of a topic that match w, in the order of a column, and returns
// the mapper for its rows. It adds the limit to w. topic is the SQL expression of the topic.
func messagesOf(
	db *storage.DB, w *storage.Where, topic, column string, f ledger.TopicMessageFilter, p storage.Page,
) (*storage.Mapper[messageRow, ledger.TopicMessage], *storage.Read) {
	r := &storage.Read{
		Select: messageColumns, From: `topic_message where topic_id = ` + topic + w.String() + w.OrderBy(p, column),
	}
	if f.JoinChunks {
		return joinedRows, joinedMessages(topic, r.Query(db), p.Direction())
	}
	return messageRows, r
}

// QueueTopicMessages queues a query for the messages of each of the given topics, ordered by consensus time. With
// f.JoinChunks, the chunks of a message are one row, as in [TopicMessages]. The result has one page per topic.
func QueueTopicMessages(
	b *storage.Batch, topics []ledger.EntityID, f ledger.TopicMessageFilter, p storage.Page,
) storage.Result[[][]*ledger.TopicMessage] {
	ps, w := b.ParentsOrOne("id", storage.Int64s(topics))
	column := filterMessages(&w, ps.Key("id"), f, p)
	rows, page := messagesOf(b.DB(), &w, ps.Key("id"), column, f, p)
	return rows.QueueChildren(b, len(topics), &storage.Read{
		Parents: ps, Select: `p.ord, m.*`, From: ps.From, Page: page.Query(b.DB()), As: "m",
		Rest: ` order by p.ord, m.consensus_timestamp` + p.Direction(),
	}, w.Args)
}

// filterMessages adds to w the conditions on the messages of a page, and returns the column that orders them. topic is
// the SQL expression of the topic.
func filterMessages(w *storage.Where, topic string, f ledger.TopicMessageFilter, p storage.Page) string {
	storage.Filter(w, "sequence_number", f.SequenceNumber)
	storage.Filter(w, "consensus_timestamp", f.Timestamp)
	if f.JoinChunks {
		w.And(standsForMessage(topic))
	}
	w.Keyset(p, "consensus_timestamp")
	if f.SequenceNumber != nil && f.Timestamp == nil && p.Greater == nil && p.Less == nil {
		return "sequence_number" // both columns give the same order, but this one lets the index start at the number
	}
	return "consensus_timestamp"
}

// QueueMessagesOf queues a query for messages by topic and sequence number. Chunks are not joined. The result has one
// message per element, or nil for messages that do not exist.
func QueueMessagesOf(b *storage.Batch, keys []ledger.Element) storage.Result[[]*ledger.TopicMessage] {
	topics, numbers := elementKeys(keys)
	ps, _ := b.ParentsOrOne("topic, number", topics, numbers)
	of := `topic_id = ` + ps.Key("topic") + ` and sequence_number = ` + ps.Key("number")
	return messageRows.QueueChild(b, len(keys), &storage.Read{
		Parents: ps, Select: `p.ord, ` + messageColumns, From: ps.From,
		Joins: []storage.Join{storage.Joined(` join topic_message on `+of, "topic_message", of)},
	}, ps.Args)
}

// TopicMessageAt reads the message of the successful transaction at a consensus time. It returns nil if there is none.
func TopicMessageAt(ctx context.Context, db *storage.DB, at ledger.Timestamp) (*ledger.TopicMessage, error) {
	return messageRows.One(ctx, db, "the message at a time", `select `+messageColumns+` from topic_message
where topic_id = (select entity_id from transaction where consensus_timestamp = $1 and result = 22 and type = 27) and consensus_timestamp = $1 limit 2`,
		int64(at))
}

// CountTopicMessages reads the number of messages of each of the given topics. Sequence numbers have no gaps, so
// the first and the last number suffice.
func CountTopicMessages(ctx context.Context, db *storage.DB, topics []ledger.EntityID) ([]int64, error) {
	b := db.NewBatch()
	ps, _ := b.Parents("id", storage.Int64s(topics))
	end := `(select sequence_number from topic_message
where topic_id = ` + ps.Key("id") + ` order by consensus_timestamp `
	counts, err := storage.Run(ctx, b, storage.Values[int64]().QueueChild(b, len(topics), &storage.Read{
		Parents: ps, Select: `p.ord, coalesce(` + end + `desc limit 1) - ` + end + `limit 1) + 1, 0)`, From: ps.From,
		Rest: ` order by p.ord`,
	}, ps.Args))
	return list.Map(counts, func(n *int64) int64 { return *n }), wrap.Error(err, "reading the numbers of messages")
}

// MessagesAfter reads at most limit messages of all topics after a consensus time, in order, for subscriptions.
// Transactions without a message are skipped. The row comparison of type and time makes the planner use the index on
// both columns even if there are few messages.
func MessagesAfter(
	ctx context.Context, db *storage.DB, after ledger.Timestamp, limit int,
) ([]*ledger.TopicMessage, error) {
	return messageRows.ListRead(ctx, db, "new messages", &storage.Read{
		Select: messageColumns,
		Page: `select type, consensus_timestamp as at, entity_id from transaction where (type, consensus_timestamp) > (27, $1)
and (type, consensus_timestamp) < (28, 0) and result = 22`, As: "t",
		Joins: []storage.Join{
			storage.By("join", "topic_message", "m", "t", "topic_id", "entity_id", "consensus_timestamp", "at"),
		},
		Rest: ` order by type, at limit $2`,
	}, []any{int64(after), limit})
}

package resolvers

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// topicRelations are the arrows from topics and their messages.
type topicRelations struct {
	autoRenewAccount *rowplan.Relation[*ledger.Topic, *ledger.Account]
	messages         *rowplan.Relation[*ledger.Topic, *relay.TopicMessageConnection]
	payer            *rowplan.Relation[*ledger.TopicMessage, *ledger.Account]
	topic            *rowplan.Relation[*ledger.TopicMessage, *ledger.Topic]
	transaction      *rowplan.Relation[*ledger.TopicMessage, *ledger.Transaction]
}

func newTopicRelations() topicRelations {
	return topicRelations{
		autoRenewAccount: accountOf(func(t *ledger.Topic) ledger.EntityID { return t.AutoRenewAccountID }),
		messages:         queued(queueMessages),
		payer:            accountOf(func(m *ledger.TopicMessage) ledger.EntityID { return m.PayerAccountID }),
		topic: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.TopicMessage, _ rowplan.Args, done func([]*ledger.Topic)) error {
			entities.QueueTopics(b, keys(parents, func(m *ledger.TopicMessage) ledger.EntityID { return m.TopicID }), func(got []*ledger.Topic, _ []entities.TopicPart) { done(got) })
			return nil
		}),
		transaction: queued(func(_ context.Context, b *storage.Batch, parents []*ledger.TopicMessage, _ rowplan.Args, done func([]*ledger.Transaction)) error {
			transactions.QueueTransactionsAt(b, keys(parents, func(m *ledger.TopicMessage) ledger.Timestamp { return m.ConsensusTimestamp }), done)
			return nil
		}),
	}
}

func (r *topicRelations) add(t *rowplan.Tables) {
	account := func() *rowplan.Object[*ledger.Account] { return t.Account }
	t.Topic.Add("autoRenewAccount", rowplan.RelatedOne(r.autoRenewAccount, account))
	t.Topic.Add("messages", rowplan.RelatedOne(r.messages, func() *rowplan.Object[*relay.TopicMessageConnection] { return t.TopicMessageConnection }))
	t.TopicMessage.Add("payer", rowplan.RelatedOne(r.payer, account))
	t.TopicMessage.Add("topic", rowplan.RelatedOne(r.topic, func() *rowplan.Object[*ledger.Topic] { return t.Topic }))
	t.TopicMessage.Add("transaction", rowplan.RelatedOne(r.transaction, func() *rowplan.Object[*ledger.Transaction] { return t.Transaction }))
}

func queueMessages(ctx context.Context, b *storage.Batch, parents []*ledger.Topic, args rowplan.Args, done func([]*relay.TopicMessageConnection)) error {
	p, err := pageArgs(ctx, args, messageKind, 1)
	if err != nil {
		return err
	}
	f, err := filterArg[ledger.TopicMessageFilter](ctx, args, "filter")
	if err != nil {
		return err
	}
	entities.QueueTopicMessages(b, keys(parents, func(t *ledger.Topic) ledger.EntityID { return t.EntityID }), f, storagePage(p), func(rows [][]*ledger.TopicMessage) {
		done(connections(messageKind, p, rows, messageKey))
	})
	return nil
}

func messageKey(m *ledger.TopicMessage) relay.Key { return relay.Key{int64(m.ConsensusTimestamp)} }

// missingTopicParts are the kinds of the rows that a topic may lack.
var missingTopicParts = map[entities.TopicPart]relay.MissingKind{
	entities.TopicRow: relay.MissingTopic, entities.TopicEntity: relay.MissingTopicEntity, entities.TopicFees: relay.MissingTopicFees,
}

// reportMissingTopic reports the row that a topic lacks, if any, in the outcome.
func reportMissingTopic(ctx context.Context, part entities.TopicPart) {
	if kind, missing := missingTopicParts[part]; missing {
		relay.OutcomeOf(ctx).Missing = &relay.Missing{Kind: kind}
	}
}

// topicMessage reads one message by its number or its time.
func (r *Resolver) topicMessage(ctx context.Context, topic *ledger.EntityID, number *int64, at *ledger.Timestamp) (*ledger.TopicMessage, error) {
	if err := oneOf("sequenceNumber and at", number != nil, at != nil); err != nil {
		return nil, err
	}
	if at != nil {
		m, err := entities.TopicMessageAt(ctx, r.db, *at)
		if err != nil || m == nil || topic != nil && m.TopicID != *topic {
			return nil, err
		}
		return m, nil
	}
	if topic == nil {
		return nil, fault.Input("a sequence number needs its topic")
	}
	return entities.TopicMessageByNumber(ctx, r.db, *topic, *number)
}

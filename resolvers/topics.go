package resolvers

import (
	"context"
	"math"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/entities"
)

var messageList = ofNumber("messages", func(m *ledger.TopicMessage) int64 { return int64(m.ConsensusTimestamp) })

// TopicMessages resolves Topic.messages. It queues a read in the batch of q: a page of the messages of each topic,
// ordered by time, on request with their chunks joined. Invalid page arguments are BAD_USER_INPUT. Unfiltered lists
// without joined chunks have a totalCount, which one more statement reads when it is selected.
func (fields) TopicMessages(ctx context.Context, q rowplan.Request, of []*ledger.Topic, args graph.TopicMessagesArgs) (
	rowplan.Results[*relay.TopicMessageConnection], error,
) {
	topics := list.Map(of, func(t *ledger.Topic) ledger.EntityID { return t.EntityID })
	args.Filter.JoinChunks = args.JoinChunks
	get, err := messageList.below(ctx, q, args.Order, args.Args, false, // not countable: counted below
		rowsOf(topics, args.Filter, entities.QueueTopicMessages))
	if err != nil || !unfiltered(args.Filter) {
		return get, err
	}
	db := loading.BatchOf(q).DB()
	return func() ([]*relay.TopicMessageConnection, error) {
		got, err := get()
		relay.SetCounts(got, func(ctx context.Context) ([]int64, error) {
			return entities.CountTopicMessages(ctx, db, topics)
		}, math.MaxInt64)
		return got, err
	}, nil
}

// Topic resolves Query.topic. It reads a topic; nil if it does not exist or is not complete, and then the error is a
// [relay.Note] that says which part is missing. Other places of the operation use it too.
func (r queries) Topic(ctx context.Context, args graph.QueryTopicArgs) (*ledger.Topic, error) {
	t, lacks, err := entities.Topic(ctx, r.db, args.ID)
	if err == nil {
		loading.Prime(ctx, topicType, args.ID, t)
	}
	if kind := missingTopicParts[lacks]; err == nil && kind != 0 {
		err = relay.Lacking(relay.Missing{Kind: kind})
	}
	return t, err
}

// missingTopicParts has the missing kind of each row that a topic may lack.
var missingTopicParts = map[entities.TopicPart]relay.MissingKind{
	entities.TopicRow: relay.MissingTopic, entities.TopicEntity: relay.MissingTopicEntity,
	entities.TopicFees: relay.MissingTopicFees,
}

// TopicMessages resolves Query.topicMessages. It reads a page of the messages of a topic, ordered by time, on request
// with their chunks joined. The list of a topic that does not exist is empty. Invalid page arguments are
// BAD_USER_INPUT. Unfiltered lists without joined chunks have a totalCount.
func (r queries) TopicMessages(
	ctx context.Context, args graph.QueryTopicMessagesArgs,
) (*relay.TopicMessageConnection, error) {
	args.Filter.JoinChunks = args.JoinChunks
	c, err := messageList.root(ctx, args.Order, args.Args, func(p storage.Page) ([]*ledger.TopicMessage, error) {
		return entities.TopicMessages(ctx, r.db, args.Topic, args.Filter, p)
	})
	count := func(ctx context.Context) (int64, error) {
		counts, err := entities.CountTopicMessages(ctx, r.db, []ledger.EntityID{args.Topic})
		if err != nil {
			return 0, err
		}
		return counts[0], nil
	}
	return counted(c, unfiltered(args.Filter), count), err
}

// TopicMessage resolves Query.topicMessage. It reads the message of a topic with a sequence number, or the message at a
// consensus time; nil if it does not exist or belongs to another topic. Both or neither, and a number without a topic,
// are BAD_USER_INPUT.
func (r queries) TopicMessage(ctx context.Context, args graph.QueryTopicMessageArgs) (*ledger.TopicMessage, error) {
	if err := fault.OneOf("sequenceNumber and at", args.SequenceNumber != nil, args.At != nil); err != nil {
		return nil, err
	}
	if args.At != nil {
		m, err := entities.TopicMessageAt(ctx, r.db, *args.At)
		if err != nil || m == nil || args.Topic != nil && m.TopicID != *args.Topic {
			return nil, err
		}
		return m, nil
	}
	if args.Topic == nil {
		return nil, fault.Input("sequenceNumber needs topic")
	}
	return storage.ReadOne(ctx, r.db, "message", ledger.Element{Entity: *args.Topic, Number: *args.SequenceNumber},
		entities.QueueMessagesOf)
}

package resolvers

import (
	"context"
	"strconv"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/statuspages"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// The types that have global ids, as they stand in them.
const (
	accountType     = "Account"
	blockType       = "Block"
	topicType       = "Topic"
	messageType     = "TopicMessage"
	transactionType = "Transaction"
)

// maxNodes is how many things can be asked for by global id at once.
const maxNodes = 100

// The names of lists in their cursors.
const (
	accountKind     = "accounts"
	balanceKind     = "balances"
	blockKind       = "blocks"
	blockNumberKind = "blocks by number"
	messageKind     = "messages"
	transactionKind = "transactions"
)

func accountID(a *ledger.Account) string { return relay.ID(accountType, a.EntityID.String()) }

func blockID(b *ledger.Block) string { return relay.ID(blockType, strconv.FormatInt(b.Number, 10)) }

func topicID(t *ledger.Topic) string { return relay.ID(topicType, t.EntityID.String()) }

func messageID(m *ledger.TopicMessage) string {
	return relay.ID(messageType, m.ConsensusTimestamp.String())
}

func transactionID(t *ledger.Transaction) string {
	return relay.ID(transactionType, t.ConsensusTimestamp.String())
}

// idField is a row's global id.
func idField[T any](id func(T) string) rowplan.Field[T] {
	return rowplan.Scalar(func(dst []byte, v T, style scalar.Style) []byte { return scalar.AppendString(dst, id(v), style) })
}

func addIDs(t *rowplan.Tables) {
	t.Account.Add("id", idField(accountID))
	t.Block.Add("id", idField(blockID))
	t.Topic.Add("id", idField(topicID))
	t.TopicMessage.Add("id", idField(messageID))
	t.Transaction.Add("id", idField(transactionID))
	addResultIDs(t)
	addContractIDs(t)
	t.Hook.Add("id", idField(hookID))
	addTokenIDs(t)
}

// node reads a thing by its global id, nil when it does not exist.
func (r *Resolver) node(ctx context.Context, id string) (relay.Node, error) {
	typ, name, err := relay.ParseID(id)
	if err != nil {
		return nil, fault.Input("%q: %v", id, err)
	}
	switch typ {
	case accountType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Account, error) { return entities.Account(ctx, r.db, id) })
	case topicType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Topic, error) {
			t, _, err := entities.Topic(ctx, r.db, id)
			return t, err
		})
	case blockType:
		number, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return nil, fault.Input("%q names no block", id)
		}
		return present(transactions.BlockByNumber(ctx, r.db, number))
	case messageType:
		return byTimestamp(name, func(at ledger.Timestamp) (*ledger.TopicMessage, error) { return entities.TopicMessageAt(ctx, r.db, at) })
	case tokenType, nftType:
		return r.tokenNode(ctx, typ, name)
	case contractType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Contract, error) {
			return entities.Contract(ctx, r.db, ledger.ContractRef{ID: id}, nil)
		})
	case logType:
		return r.logByID(ctx, name)
	case resultType:
		return byTimestamp(name, func(at ledger.Timestamp) (*ledger.ContractResult, error) { return r.resultAt(ctx, at) })
	case transactionType:
		return byTimestamp(name, func(at ledger.Timestamp) (*ledger.Transaction, error) { return r.transactionAt(ctx, at) })
	case hookType:
		return r.hookByName(ctx, name)
	case networkNodeType, registeredNodeType, scheduleType:
		return r.networkThing(ctx, typ, name)
	default:
		if statuspages.HasType(typ) {
			return r.status.Node(ctx, typ, name)
		}
		return nil, fault.Input("%q is an id of no type of this graph", id)
	}
}

// nodePointer is a pointer to a row that has a global id.
type nodePointer[T any] interface {
	*T
	relay.Node
}

// present makes a row that does not exist the nil interface.
func present[T any, P nodePointer[T]](row P, err error) (relay.Node, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return row, nil
}

func byEntityID[T any, P nodePointer[T]](name string, read func(ledger.EntityID) (P, error)) (relay.Node, error) {
	id, err := ledger.ParseEntityID(name, 0)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return present(read(id))
}

func byTimestamp[T any, P nodePointer[T]](name string, read func(ledger.Timestamp) (P, error)) (relay.Node, error) {
	at, err := ledger.ParseTimestamp(name)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return present(read(at))
}

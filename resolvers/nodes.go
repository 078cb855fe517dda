package resolvers

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/resolvers/statuspages"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// The types in global ids.
const (
	accountType        = "Account"
	blockType          = "Block"
	contractType       = "Contract"
	fileType           = "File"
	hookType           = "Hook"
	logType            = "ContractLog"
	messageType        = "TopicMessage"
	networkNodeType    = "NetworkNode"
	nftType            = "NFT"
	registeredNodeType = "RegisteredNode"
	resultType         = "ContractResult"
	scheduleType       = "Schedule"
	tokenType          = "Token"
	topicType          = "Topic"
	transactionType    = "Transaction"
)

// Nodes resolves Query.nodes. It reads the objects with global ids, in the order of the ids, nil for those that do not
// exist. If one of them cannot be read, it fails. More than [loading.MaxKeys] ids are BAD_USER_INPUT.
func (r queries) Nodes(ctx context.Context, args graph.QueryNodesArgs) ([]relay.Node, error) {
	if len(args.Ids) > loading.MaxKeys {
		return nil, fault.Input("give at most %d ids", loading.MaxKeys)
	}
	nodes, errs := r.nodes(ctx, args.Ids)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// batched are the types whose objects are read with one statement each, by the local parts of their global ids.
var batched = map[string]queueNodes{
	accountType:     nodesBy(parseEntityID, entities.QueueAccounts),
	blockType:       nodesBy(parseNumber, transactions.QueueBlocks),
	contractType:    nodesBy(parseEntityID, entities.QueueContracts),
	fileType:        nodesBy(parseEntityID, entities.QueueFiles),
	scheduleType:    nodesBy(parseEntityID, transactions.QueueSchedules),
	tokenType:       nodesBy(parseEntityID, entities.QueueTokens),
	topicType:       nodesBy(parseEntityID, entities.QueueTopics),
	nftType:         nodesBy(parseNFT, entities.QueueNFTsByKey),
	hookType:        nodesBy(parseElement, entities.QueueHooksByID),
	transactionType: nodesBy(ledger.ParseTimestamp, transactions.QueueTransactionsAt),

	"CryptoAllowance": inList(func(n *nodeName) (entityID, ledger.CryptoAllowanceFilter) {
		return n.id(), ledger.CryptoAllowanceFilter{SpenderID: equals(n.id())}
	}, directed(false, entities.QueueCryptoAllowances)),
	"TokenAllowance": inList(func(n *nodeName) (entityID, ledger.TokenAllowanceFilter) {
		return n.id(), ledger.TokenAllowanceFilter{SpenderID: equals(n.id()), TokenID: equals(n.id())}
	}, directed(false, entities.QueueTokenAllowances)),
	"NFTAllowance": inList(func(n *nodeName) (entityID, ledger.NFTAllowanceFilter) {
		return n.id(), ledger.NFTAllowanceFilter{AccountID: equals(n.id()), TokenID: equals(n.id())}
	}, directed(false, entities.QueueNftAllowances)),
	"Airdrop": inList(func(n *nodeName) (entityID, ledger.AirdropFilter) {
		return n.id(), ledger.AirdropFilter{
			AccountID: equals(n.id()), TokenID: equals(n.id()),
			SerialNumber: equals(n.number()),
		}
	}, directed(false, entities.QueueAirdrops)),
	"TokenRelationship": inList(func(n *nodeName) (entityID, ledger.TokenRelationshipFilter) {
		return n.id(), ledger.TokenRelationshipFilter{TokenID: equals(n.id())}
	}, entities.QueueTokenRelationships),
	"TokenHolder": inList(func(n *nodeName) (entityID, ledger.TokenHolderFilter) {
		return n.id(), ledger.TokenHolderFilter{AccountID: equals(n.id())}
	}, entities.QueueCurrentHolders),
	"StakingReward": inList(func(n *nodeName) (entityID, ledger.StakingRewardFilter) {
		return n.id(), ledger.StakingRewardFilter{Timestamp: equals(n.at())}
	}, entities.QueueStakingRewards),
	"Transfer": inList(func(n *nodeName) (entityID, ledger.TransferFilter) {
		at, account, token := n.at(), n.id(), n.id()
		return account, ledger.TransferFilter{Token: &token, Timestamp: equals(at)}
	}, func(b *storage.Batch, accounts []ledger.EntityID, f ledger.TransferFilter, p storage.Page,
	) storage.Result[[][]*ledger.Transfer] {
		pages, _ := transactions.QueueAccountTransfers(b, accounts, f, p, false)
		return pages
	}),
	"ContractAction": inList(func(n *nodeName) (transactions.Located, ledger.ContractActionFilter) {
		return transactions.Located{At: n.at(), Payer: n.id()}, ledger.ContractActionFilter{Index: equals(n.number())}
	}, transactions.QueueContractActions),
	"NFTTransaction": inList(func(n *nodeName) (ledger.NFTKey, ledger.NFTTransactionFilter) {
		return ledger.NFTKey{TokenID: n.id(), SerialNumber: n.number()},
			ledger.NFTTransactionFilter{Timestamp: equals(n.at())}
	}, queueNFTTransactions),
	"ContractState": inList(func(n *nodeName) (entityID, ledger.ContractStateFilter) {
		return n.id(), ledger.ContractStateFilter{Slot: &ledger.SlotFilter{Eq: n.word()}}
	}, statesAt(nil)),
	"HookSlot": inList(func(n *nodeName) (ledger.Element, ledger.HookSlotFilter) {
		return ledger.Element{Entity: n.id(), Number: n.number()},
			ledger.HookSlotFilter{Key: &ledger.HookKeyFilter{Eq: n.word()}}
	}, slotsAt(nil)),
}

type entityID = ledger.EntityID

// nodeResult is an object, or an error. Both are nil if the object does not exist.
type nodeResult struct {
	node relay.Node
	err  error
}

// queueNodes queues reading the objects of a type with the given names. The function that it returns has one result for
// each name once the batch has run.
type queueNodes func(ctx context.Context, b *storage.Batch, typ string, names []string) func() []nodeResult

// nodesBy returns the function that queues reading objects of a type by their names in global IDs. parse reads a name,
// and queue reads the rows by key through the loader of the type, so that the operation reads each once. A name that
// cannot be parsed is BAD_USER_INPUT for that node only. If the read fails, each of the other nodes has the error.
func nodesBy[K comparable, T any, P nodePointer[T]](
	parse func(string) (K, error), queue storage.QueueKeys[K, P],
) queueNodes {
	return func(ctx context.Context, b *storage.Batch, typ string, names []string) func() []nodeResult {
		out := make([]nodeResult, len(names))
		var keys []K
		var places []int
		for i, name := range names {
			key, err := parse(name)
			if err != nil {
				out[i].err = fault.Input("%v", err)
				continue
			}
			keys, places = append(keys, key), append(places, i)
		}
		if len(keys) == 0 {
			return func() []nodeResult { return out }
		}
		results := loading.Load(ctx, b, typ, keys, queue)
		return func() []nodeResult {
			rows, err := results()
			for i, place := range places {
				if err != nil {
					out[place].err = err
				} else if rows[i] != nil {
					out[place].node = rows[i]
				}
			}
			return out
		}
	}
}

// nodes reads objects by their global ids. It sends the statements of all types in one round trip. Types without such
// a statement are read one by one, as are all objects if the round trip fails. After a timeout, or if the database is
// unavailable, nothing is repeated: the objects of the round trip have the error. It returns one node and one error
// per id, in their order. The node is nil if it does not exist, the error is nil if it was read. A network is
// BAD_USER_INPUT here.
func (r *Resolver) nodes(ctx context.Context, ids []string) ([]relay.Node, []error) {
	nodes, errs := make([]relay.Node, len(ids)), make([]error, len(ids))
	names, positions := map[string][]string{}, map[string][]int{}
	var alone, together []int
	for i, id := range ids {
		if typ, name, err := relay.ParseID(id); err == nil && batched[typ] != nil {
			names[typ], positions[typ], together = append(names[typ], name), append(positions[typ], i),
				append(together, i)
		} else {
			alone = append(alone, i)
		}
	}
	found, err := r.readBatched(ctx, names)
	for typ, results := range found {
		for i, result := range results {
			nodes[positions[typ][i]], errs[positions[typ][i]] = result.node, result.err
		}
	}
	if err != nil {
		switch Classify(err).Code {
		case fault.Timeout, fault.Unavailable:
			for _, i := range together {
				errs[i] = err
			}
		default:
			alone = append(alone, together...)
		}
	}
	for _, i := range alone {
		nodes[i], errs[i] = r.node(ctx, ids[i])
		if _, ok := nodes[i].(*ledger.Network); ok { // it has no row plan
			nodes[i], errs[i] = nil,
				fault.Input("the network cannot be read together with other objects: use node, or network")
		}
	}
	return nodes, errs
}

// readBatched reads the objects with the names of each type, in one round trip, and returns one result for each name in
// the same order. Each type must be one of [batched]. An error is that of the whole batch.
func (r *Resolver) readBatched(ctx context.Context, names map[string][]string) (map[string][]nodeResult, error) {
	ctx, cancel := context.WithCancel(ctx) // see loading.Load
	defer cancel()
	b := r.db.NewBatch()
	queued := map[string]func() []nodeResult{}
	for _, typ := range slices.Sorted(maps.Keys(names)) {
		queued[typ] = batched[typ](ctx, b, typ, names[typ])
	}
	if err := b.Run(ctx); err != nil {
		return nil, err
	}
	found := map[string][]nodeResult{}
	for typ, results := range queued {
		found[typ] = results()
	}
	return found, nil
}

// node reads the object with a global id, or returns nil if it does not exist. An id that is not one of this graph is
// BAD_USER_INPUT.
func (r *Resolver) node(ctx context.Context, id string) (relay.Node, error) {
	typ, name, err := relay.ParseID(id)
	if err != nil {
		return nil, fault.Input("%q: %v", id, err)
	}
	if batched[typ] != nil {
		found, err := r.readBatched(ctx, map[string][]string{typ: {name}})
		if err != nil {
			return nil, err
		}
		return found[typ][0].node, found[typ][0].err
	}
	switch typ {
	case networkType:
		return &ledger.Network{}, nil
	case messageType:
		return byKey(name, ledger.ParseTimestamp, func(at ledger.Timestamp) (*ledger.TopicMessage, error) {
			return entities.TopicMessageAt(ctx, r.db, at)
		})
	case logType:
		return r.logByID(ctx, name)
	case resultType:
		return byKey(name, ledger.ParseTimestamp, func(at ledger.Timestamp) (*ledger.ContractResult, error) {
			return r.resultAt(ctx, at)
		})
	case networkNodeType:
		return r.networkNodeByName(ctx, name)
	case registeredNodeType:
		return byKey(name, parseNumber, func(id int64) (*ledger.RegisteredNode, error) {
			return entities.RegisteredNode(ctx, r.db, id)
		})
	default:
		if statuspages.HasType(typ) {
			return r.status.Node(ctx, typ, name)
		}
		return nil, fault.Input("%q is not the id of any type of this graph", id)
	}
}

// nodePointer is a pointer to a row that has a global id.
type nodePointer[T any] interface {
	*T
	relay.Node
}

// present converts a row and its error to a node: a nil pointer to a nil interface, which stands for an object that
// does not exist.
func present[T any, P nodePointer[T]](row P, err error) (relay.Node, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return row, nil
}

// byKey reads the object whose key is name, the local part of a global id. It returns nil if read does. A name that
// parse rejects is BAD_USER_INPUT.
func byKey[K, T any, P nodePointer[T]](
	name string, parse func(string) (K, error), read func(K) (P, error),
) (relay.Node, error) {
	key, err := parse(name)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return present(read(key))
}

// parseEntityID parses an entity id with shard and realm, as in global ids. Its error says for clients what is wrong.
func parseEntityID(name string) (ledger.EntityID, error) { return ledger.ParseEntityID(name, 0) }

// parseNumber parses the decimal number of 64 bits that names an object in its global id. Its error says for clients
// what is wrong.
func parseNumber(name string) (int64, error) {
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", name)
	}
	return n, nil
}

// parseElement parses an entity id with a number after "/", such as a hook of an account in global ids. Its error says
// for clients what is wrong; the element beside it is not complete.
func parseElement(name string) (ledger.Element, error) {
	text, digits, _ := strings.Cut(name, "/")
	id, err := parseEntityID(text)
	if err != nil {
		return ledger.Element{}, err
	}
	number, err := parseNumber(digits)
	return ledger.Element{Entity: id, Number: number}, err
}

// parseNFT parses a token id with a serial number after "/", as in global ids. Its error says for clients what is
// wrong; the key beside it is not complete.
func parseNFT(name string) (ledger.NFTKey, error) {
	e, err := parseElement(name)
	return nftOf(e), err
}

// nftOf returns the key of the NFT whose token and serial number are those of an element.
func nftOf(e ledger.Element) ledger.NFTKey {
	return ledger.NFTKey{TokenID: e.Entity, SerialNumber: e.Number}
}

// MaxReferences is the maximum number of references per request.
const MaxReferences = 100

// Entities resolves Query._entities. It reads the objects that other graphs reference by global id or entity id, in the
// order of the references, nil for those that do not exist. One that cannot be read is nil too, and its error is added
// to those of ctx. More than [MaxReferences] are BAD_USER_INPUT.
func (r queries) Entities(ctx context.Context, args graph.QueryEntitiesArgs) ([]relay.Node, error) {
	if len(args.Representations) > MaxReferences {
		return nil, fault.Input("give at most %d references", MaxReferences)
	}
	out := make([]relay.Node, len(args.Representations))
	fail := func(i int, err error) {
		if err != nil {
			graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), err)
		}
	}
	var ids []string
	var places []int
	for i, reference := range args.Representations {
		id, err := r.referred(reference)
		if err == nil {
			ids, places = append(ids, id), append(places, i)
		}
		fail(i, err)
	}
	found, failed := r.nodes(ctx, ids)
	for i, place := range places {
		out[place] = found[i]
		fail(place, failed[i])
	}
	return out, nil
}

// Service resolves Query._service: it returns the schema for gateways of federated graphs, and reads nothing.
func (queries) Service(context.Context) (*relay.Service, error) {
	return &relay.Service{SDL: graph.Subgraph()}, nil
}

// referred returns the global id of a reference from another graph, a JSON object with its type and its global id or
// entity id. It reads nothing. A reference of another form is BAD_USER_INPUT.
func (r *Resolver) referred(of any) (string, error) {
	reference, _ := of.(map[string]any)
	typ, _ := reference["__typename"].(string)
	if id, ok := reference["id"].(string); ok {
		if named, _, err := relay.ParseID(id); err != nil || named != typ {
			return "", fault.Input("%q is not the id of a thing of type %q", id, typ)
		}
		return id, nil
	}
	number, ok := reference["entityId"].(string)
	if !ok {
		return "", fault.Input("a reference needs __typename, and id or entityId, as strings")
	}
	switch typ {
	case accountType, contractType, fileType, scheduleType, tokenType, topicType:
	default:
		return "", fault.Input("things of type %q have no entityId", typ)
	}
	id, err := ledger.ParseEntityID(number, r.db.SystemEntity(0))
	if err != nil {
		return "", fault.Input("%v", err)
	}
	return relay.ID(typ, id.String()), nil
}

// networkType is the type of the only network, in global ids.
const networkType = "Network"

// NetworkNodeID resolves NetworkNode.id: the global id of a consensus node. Each address book has nodes of its own.
func (fields) NetworkNodeID(of *ledger.NetworkNode) string {
	return relay.ID(networkNodeType, of.FileID.String()+":"+strconv.FormatInt(of.NodeID, 10))
}

// nodeName is the local part of a global id that is read part by part.
type nodeName struct {
	rest string
	err  error
}

// part removes the next part of n.rest, up to "/", and returns its value, which parse reads. An error is recorded in n,
// and the result is then zero.
func part[T any](n *nodeName, parse func(string) (T, error)) T {
	text, rest, _ := strings.Cut(n.rest, "/")
	v, err := parse(text)
	if n.rest = rest; err != nil {
		n.err = err
	}
	return v
}

// id removes the next part of the name, an entity id, and returns it. An error is recorded in n, and the result is then
// zero.
func (n *nodeName) id() ledger.EntityID { return part(n, parseEntityID) }

// at removes the next part of the name, a timestamp, and returns it. An error is recorded in n, and the result is then
// zero.
func (n *nodeName) at() ledger.Timestamp { return part(n, ledger.ParseTimestamp) }

// number removes the next part of the name, a decimal number, and returns it. An error is recorded in n, and the result
// is then zero.
func (n *nodeName) number() int64 { return part(n, parseNumber) }

// word removes the next part of the name, a slot of 32 bytes in hex, and returns its bytes. An error is recorded in n,
// and the result is then nil.
func (n *nodeName) word() []byte {
	return part(n, func(text string) ([]byte, error) {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != maxWord {
			return nil, fmt.Errorf("%q does not have %d bytes", text, maxWord)
		}
		return b, nil
	})
}

// inList returns the function that queues reading objects that are rows of the list of a parent. key reads the parent
// and a filter that selects one row from a name. Each name takes a statement or two in the batch. A name of another
// form is BAD_USER_INPUT for that node only.
func inList[K, F, C any, P nodePointer[C]](key func(*nodeName) (K, F), queue queueList[K, F, C]) queueNodes {
	return func(_ context.Context, b *storage.Batch, _ string, names []string) func() []nodeResult {
		out, found := make([]nodeResult, len(names)), make([]storage.Result[[][]*C], len(names))
		for i, name := range names {
			n := &nodeName{rest: name}
			parent, f := key(n)
			if n.err != nil || n.rest != "" {
				out[i].err = fault.Input("%q is not the name of an object of this type", name)
				continue
			}
			found[i] = queue(b, []K{parent}, f, storage.Page{Limit: 1})
		}
		return func() []nodeResult {
			for i, read := range found {
				if read == nil {
					continue
				}
				rows, err := read()
				if out[i].err = err; err == nil && len(rows[0]) > 0 {
					out[i].node = P(rows[0][0])
				}
			}
			return out
		}
	}
}

// equals returns a filter that selects one value, of numbers such as timestamps and ids, for the filters of [batched].
func equals[T ~int64](v T) *ledger.Filter[T] { return &ledger.Filter[T]{Eq: &v} }

// Node resolves Query.node. It reads the object with a global id, nil if it does not exist. An id that is not one of
// this graph is BAD_USER_INPUT.
func (r queries) Node(ctx context.Context, args graph.QueryNodeArgs) (relay.Node, error) {
	return r.node(ctx, args.ID)
}

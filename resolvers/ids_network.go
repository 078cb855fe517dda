package resolvers

import (
	"context"
	"strconv"
	"strings"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/entities"
	"heliograph/storage/transactions"
)

// The types of schedules and of the network's nodes, as they stand in global ids.
const (
	networkNodeType    = "NetworkNode"
	registeredNodeType = "RegisteredNode"
	scheduleType       = "Schedule"
)

// The names of their lists in cursors.
const (
	nodeKind           = "nodes"
	registeredNodeKind = "registered nodes"
	scheduleKind       = "schedules"
)

func scheduleID(s *ledger.Schedule) string { return relay.ID(scheduleType, s.EntityID.String()) }

// networkNodeID names the file as well: each has an address book of its own.
func networkNodeID(n *ledger.NetworkNode) string {
	return relay.ID(networkNodeType, n.FileID.String()+":"+strconv.FormatInt(n.NodeID, 10))
}

func registeredNodeID(n *ledger.RegisteredNode) string {
	return relay.ID(registeredNodeType, strconv.FormatInt(n.RegisteredNodeID, 10))
}

func addNetworkIDs(t *rowplan.Tables) {
	t.NetworkNode.Add("id", idField(networkNodeID))
	t.RegisteredNode.Add("id", idField(registeredNodeID))
	t.Schedule.Add("id", idField(scheduleID))
}

// networkThing reads a schedule or a node by what names it in its global id.
func (r *Resolver) networkThing(ctx context.Context, typ, name string) (relay.Node, error) {
	switch typ {
	case scheduleType:
		return byEntityID(name, func(id ledger.EntityID) (*ledger.Schedule, error) { return transactions.Schedule(ctx, r.db, id) })
	case registeredNodeType:
		return byNumber(name, func(id int64) (*ledger.RegisteredNode, error) { return entities.RegisteredNode(ctx, r.db, id) })
	}
	fileName, number, _ := strings.Cut(name, ":")
	file, err := ledger.ParseEntityID(fileName, 0)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	return byNumber(number, func(id int64) (*ledger.NetworkNode, error) { return entities.NetworkNode(ctx, r.db, file, id) })
}

func byNumber[T any, P nodePointer[T]](name string, read func(int64) (P, error)) (relay.Node, error) {
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return nil, fault.Input("%q is no number", name)
	}
	return present(read(id))
}

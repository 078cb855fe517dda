package v1

import (
	"math"

	"heliograph/graph/relay"
	"heliograph/rest"
)

// networkAge is the max-age of responses about the network, in seconds.
const networkAge = 60

// Page sizes of the network's nodes.
const (
	defaultNodes       = 10
	maxNodes           = 25
	maxRegisteredNodes = 100
)

func networkEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/network/exchangerate", Family: rest.Modern, Params: []rest.Param{networkTime}, Document: "network_exchangerate.graphql",
			MaxAge: networkAge,
		},
		{
			Path: "/network/fees", Family: rest.Modern, Params: []rest.Param{networkTime, rest.ModernOrder()}, Document: "network_fees.graphql",
			Finish: finishFees, MaxAge: networkAge,
		},
		{
			Path: "/network/nodes", Family: rest.Modern, Validation: rest.Validation{ObjectBound: true}, Params: nodesParams, Document: "network_nodes.graphql",
			Paging: rest.Paging{DefaultLimit: defaultNodes, Next: []rest.Cursor{rest.NumberCursor("node.id")}}, MaxAge: networkAge,
		},
		{
			Path: "/network/registered-nodes", Family: rest.Modern, Validation: rest.Validation{ObjectBound: true}, Params: registeredParams,
			Document: "network_registered_nodes.graphql",
			Paging:   rest.Paging{Next: []rest.Cursor{rest.NumberCursor("registerednode.id")}}, MaxAge: networkAge,
		},
		{
			Path: "/network/stake", Family: rest.Modern, Document: "network_stake.graphql",
			NotFound: notFound("No network stake data found"), MaxAge: networkAge,
		},
		{
			Path: "/network/supply", Family: rest.Modern, Params: []rest.Param{networkTime, supplyPart}, Document: "network_supply.graphql",
			Operation: supplyOperation, Shape: rest.Shape{TextOperations: []string{totalSupply, releasedSupply}}, NotFound: notFound("Network supply not found"),
			MaxAge: networkAge,
		},
	}
}

var networkTime = rest.Param{
	Name: "timestamp", Read: rest.ReadTimestamp, MaxValues: 2, ListName: "timestamp", Bind: rest.Windows("at"),
	Doc: "The time of the requested version; `eq` means at or before. The digits after the point are a number of nanoseconds.",
}

func notFound(detail string) func(*rest.Request, *relay.Outcome) *rest.Problem {
	return func(*rest.Request, *relay.Outcome) *rest.Problem { return rest.ModernNotFound(detail) }
}

func finishFees(r *rest.Request) error {
	r.Set("order", r.Order())
	return nil
}

// supplyPart requests one number instead of an object.
var supplyPart = rest.Param{Name: "q", Read: rest.ReadWord("totalcoins", "circulating"), Doc: "Returns one amount in hbars as plain text."}

// The operations that return one number.
const (
	totalSupply    = "TotalSupply"
	releasedSupply = "ReleasedSupply"
)

func supplyOperation(r *rest.Request) string {
	part := r.Values("q")
	switch {
	case len(part) == 0:
		return "Supply"
	case part[0].Text == "totalcoins":
		return totalSupply
	default:
		return releasedSupply
	}
}

var nodesParams = []rest.Param{
	{Name: "file.id", Read: rest.ReadEntityID, Bind: bindBook, Doc: "The file of the address book. Default: 0.0.102."},
	{Name: "node.id", Read: rest.ReadLong, MaxValues: rest.Unlimited, ListName: "node.id", Bind: bindNodes, Doc: "Filters by node ID."},
	rest.ModernLimit(maxNodes, true),
	rest.ModernOrder(),
}

func bindBook(r *rest.Request, values []rest.Value) error {
	if values[0].Op != rest.Eq {
		return rest.ModernBad("Only equality operator is supported for file.id")
	}
	return rest.Texts("file")(r, values)
}

func bindNodes(r *rest.Request, values []rest.Value) error {
	if boundsContradict(values) {
		return rest.ModernBad("Invalid range provided for node.id")
	}
	return rest.Numbers("filter.nodeId")(r, values)
}

// boundsContradict reports whether the bounds among numbers contradict each other. A single bound never does, because links may contain bounds that exclude
// all rows.
func boundsContradict(values []rest.Value) bool {
	lower, upper := int64(math.MinInt64), int64(math.MaxInt64)
	beyond, bounded := false, false
	for _, v := range values {
		switch v.Op {
		case rest.Gt:
			beyond = beyond || v.Number == math.MaxInt64
			lower = max(lower, min(v.Number, math.MaxInt64-1)+1)
		case rest.Gte:
			lower = max(lower, v.Number)
		case rest.Lt:
			upper, bounded = min(upper, v.Number-1), true
		case rest.Lte:
			upper, bounded = min(upper, v.Number), true
		case rest.Eq, rest.Ne:
		}
	}
	return lower > upper || beyond && bounded
}

var registeredParams = []rest.Param{
	rest.ModernLimit(maxRegisteredNodes, false),
	rest.ModernOrder(),
	{
		Name: "registerednode.id", Read: rest.ReadLong.Except(rest.Ne), MaxValues: 2, ListName: "registerednode.id", Bind: bindRegistered,
		Doc: "Filters by node ID.",
	},
	{
		Name: "type", Read: rest.ReadWord("UNKNOWN", "BLOCK_NODE", "GENERAL_SERVICE", "MIRROR_NODE", "RPC_RELAY"), Bind: rest.Texts("filter.type"),
		Doc: "Filters by the type of a service endpoint: BLOCK_NODE, GENERAL_SERVICE, MIRROR_NODE or RPC_RELAY.",
	},
}

func bindRegistered(r *rest.Request, values []rest.Value) error {
	for _, v := range values {
		if v.Op == rest.Eq && len(values) > 1 {
			return rest.ModernBad("The 'eq' operator cannot be combined with other operators")
		}
	}
	if boundsContradict(values) {
		return rest.ModernBad("Invalid range: lower bound exceeds upper bound")
	}
	return rest.Numbers("filter.registeredNodeId")(r, values)
}

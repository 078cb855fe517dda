package v1

import (
	"encoding/hex"
	"strconv"

	"heliograph/graph/relay"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
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

// networkEndpoints returns the descriptions of the endpoints below /network that read the ledger.
func networkEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/network/exchangerate", Family: rest.Modern, Params: []rest.Param{networkTime},
			Document: "network_exchangerate.graphql", MaxAge: networkAge,
		},
		{
			Path: "/network/fees", Family: rest.Modern, Params: []rest.Param{networkTime, rest.ModernOrder()},
			Document: "network_fees.graphql",
			Finish:   func(r *rest.Request) error { r.Set("order", r.Order()); return nil }, MaxAge: networkAge,
		},
		{
			Path: "/network/nodes", Family: rest.Modern,
			Options: rest.Options{ObjectBound: true, DefaultLimit: defaultNodes},
			Params:  nodesParams, Document: "network_nodes.graphql",
			Next:   []rest.Cursor{rest.NumberCursor("node.id")},
			MaxAge: networkAge,
		},
		{
			Path: "/network/registered-nodes", Family: rest.Modern, Options: rest.Options{ObjectBound: true},
			Params:   registeredParams,
			Document: "network_registered_nodes.graphql",
			Next:     []rest.Cursor{rest.NumberCursor("registerednode.id")}, MaxAge: networkAge,
		},
		{
			Path: "/network/stake", Family: rest.Modern, Document: "network_stake.graphql",
			NotFound: notFound("No network stake data found"), MaxAge: networkAge,
		},
		{
			Path: "/network/supply", Family: rest.Modern, Params: []rest.Param{networkTime, supplyPart},
			Document:  "network_supply.graphql",
			Operation: supplyOperation, Options: rest.Options{TextOperations: []string{totalSupply, releasedSupply}},
			NotFound: notFound("Network supply not found"),
			MaxAge:   networkAge,
		},
	}
}

var networkTime = rest.Param{
	Name: "timestamp", Kind: rest.ModernTimestamp, MaxValues: 2, ListName: "timestamp", Bind: rest.Windows("at"),
	Doc: "The time of the requested version; `eq` means at or before. The digits after the point are a number of " +
		"nanoseconds.",
}

// notFound returns a function for Endpoint.NotFound that returns the problem of a 404 with a constant text.
func notFound(detail string) func(*rest.Request, *relay.Outcome) *rest.Problem {
	return func(*rest.Request, *relay.Outcome) *rest.Problem { return rest.ModernNotFound(detail) }
}

// supplyPart requests one number instead of an object.
var supplyPart = rest.Param{
	Name: "q", Kind: rest.Word("totalcoins", "circulating"),
	Doc: "Returns one amount in hbars as plain text.",
}

// The operations that return one number.
const (
	totalSupply    = "TotalSupply"
	releasedSupply = "ReleasedSupply"
)

// supplyOperation returns the operation for the parameter q of GET /network/supply: the object, or one of its numbers
// as text.
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
	{Name: "file.id", Kind: rest.ModernEntityID, Bind: bindBook, Doc: "The file of the address book. Default: " +
		"0.0.102."},
	{
		Name: "node.id", Kind: rest.ModernLong, MaxValues: rest.Unlimited, ListName: "node.id", Bind: bindNodes,
		Doc: "Filters by node ID.",
	},
	rest.ModernLimit(maxNodes, true),
	rest.ModernOrder(),
}

// bindBook sets the variable file of GET /network/nodes, the address book, from the parameter file.id. Another
// operator than eq is a 400.
func bindBook(r *rest.Request, values []rest.Value) error {
	if values[0].Op != rest.Eq {
		return rest.ModernBad("Only equality operator is supported for file.id")
	}
	return rest.Texts("file")(r, values)
}

// bindNodes sets the filter of GET /network/nodes from the parameter node.id. Bounds that exclude each other are a
// 400.
func bindNodes(r *rest.Request, values []rest.Value) error {
	if rest.RangeOf(values).Contradicts() {
		return rest.ModernBad("Invalid range provided for node.id")
	}
	return rest.Numbers("filter.nodeId")(r, values)
}

var registeredParams = []rest.Param{
	rest.ModernLimit(maxRegisteredNodes, false),
	rest.ModernOrder(),
	{
		Name: "registerednode.id", Kind: rest.ModernLong.Except(rest.Ne), MaxValues: 2, ListName: "registerednode.id",
		Bind: bindRegistered,
		Doc:  "Filters by node ID.",
	},
	{
		Name: "type", Kind: rest.Word("UNKNOWN", "BLOCK_NODE", "GENERAL_SERVICE", "MIRROR_NODE", "RPC_RELAY"),
		Bind: rest.Texts("filter.type"),
		Doc:  "Filters by the type of a service endpoint: BLOCK_NODE, GENERAL_SERVICE, MIRROR_NODE or RPC_RELAY.",
	},
}

// bindRegistered sets the filter of GET /network/registered-nodes from the parameter registerednode.id. Bounds that
// exclude each other, and eq beside others, are a 400.
func bindRegistered(r *rest.Request, values []rest.Value) error {
	for _, v := range values {
		if v.Op == rest.Eq && len(values) > 1 {
			return rest.ModernBad("The 'eq' operator cannot be combined with other operators")
		}
	}
	if rest.RangeOf(values).Contradicts() {
		return rest.ModernBad("Invalid range: lower bound exceeds upper bound")
	}
	return rest.Numbers("filter.registeredNodeId")(r, values)
}

var blocksParams = []rest.Param{
	{
		Name: "block.number", Kind: rest.BlockNumber.Except(rest.Ne), Bind: rest.Longs("filter.number"),
		Doc: "Filters by block number.",
	},
	{
		Name: "timestamp", Kind: rest.Timestamp, Bind: rest.Timestamps("filter.timestamp"),
		Doc: "Filters by the consensus timestamp of the last transaction.",
	},
	limit, order,
}

// finishBlocks sets the variable orderBy of GET /blocks to the parameter, block.number or timestamp, that the query
// has first, or to timestamp if it has neither. It leaves out an absent receipts root. It never fails.
func finishBlocks(r *rest.Request) error {
	hideReceipts(r)
	r.Variables["orderBy"] = "TIMESTAMP"
	for _, p := range r.Query {
		if p.Name == "block.number" {
			r.Variables["orderBy"] = "NUMBER"
		}
		if p.Name == "block.number" || p.Name == "timestamp" {
			break
		}
	}
	return nil
}

// hideReceipts sets the variable receipts of GET /blocks and GET /blocks/{hashOrNumber} to false if the database does
// not have the receipts root of blocks.
func hideReceipts(r *rest.Request) {
	if r.Config.ReceiptsRoots != nil && !r.Config.ReceiptsRoots() {
		r.Variables["receipts"] = false
	}
}

// bindBlock sets the variable number or hash from the path of GET /blocks/{hashOrNumber}. Another text is a 400. It
// also leaves out an absent receipts root.
func bindBlock(r *rest.Request) error {
	hideReceipts(r)
	text := r.Path("hashOrNumber")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && rest.IsDigits(text) { // shorter than a hash
		r.Set("number", strconv.FormatInt(n, 10))
		return nil
	}
	h, err := ledger.ParseHash(text)
	if err != nil {
		return rest.InvalidParameter("hashOrNumber")
	}
	r.Set("hash", h.String())
	return nil
}

// DefaultFeeBody is the default of the maximum size of a transaction in bytes. It is greater than the network's
// maximum of most types.
const DefaultFeeBody = 7 << 10

// exampleTransaction is a transfer of 500 of the token 0.0.2001 from "Alice" to "Bob" in the demo network, with one
// signature. It is a serialized protobuf message Transaction.
const exampleTransaction = "\x2a\x3f\x0a\x39\x0a\x0d\x0a\x06\x08\x80\xe2\xcf\xaa\x06\x12\x03\x18\xe9\x07\x12\x02" +
	"\x18\x03\x18\x80\xc2\xd7\x2f\x22\x02\x08\x78" +
	"\x72\x1b\x12\x19\x0a\x03\x18\xd1\x0f\x12\x08\x0a\x03\x18\xe9\x07\x10\xe7\x07" +
	"\x12\x08\x0a\x03\x18\xea\x07\x10\xe8\x07\x12\x02\x0a\x00"

// feeEndpoints returns the description of the endpoint POST /network/fees, which estimates the fee of a transaction
// with at most maxBytes.
func feeEndpoints(maxBytes int64) []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/network/fees", Family: rest.Modern, Params: feeParams, Document: "fee_estimate.graphql",
			Body: &rest.Body{
				Types: []string{"application/protobuf", "application/x-protobuf"}, MaxBytes: maxBytes, SizeFirst: true,
				Bind: bindTransactionBytes,
				Doc: "A transaction: the serialized HAPI message Transaction, not the list of transactions that " +
					"SDKs return " +
					"from toBytes.",
				Example: []byte(exampleTransaction),
			},
			Options: rest.Options{OmitEmpty: []string{"notes"}},
			MaxAge:  networkAge,
		},
	}
}

var feeParams = []rest.Param{
	{
		Name: "mode", Kind: rest.Word("INTRINSIC", "STATE"), Bind: rest.Texts("mode"),
		Doc: "The data that the estimate uses: only the transaction (INTRINSIC, the default), or also the state of " +
			"the ledger (STATE).",
	},
	{
		Name: "high_volume_throttle", Kind: rest.Kind{
			Parse: rest.Int32.Parse,
			Max:   maxThrottle,
		}, Check: throttleInRange, Bind: bindThrottle,
		Doc: "Utilization of the high-volume throttle in basis points, 0 to 10000. Default: 0. Used only in mode " +
			"STATE.",
	},
}

// maxThrottle is the maximum utilization of a throttle, in basis points.
const maxThrottle = 10_000

// throttleInRange returns the complaint about a value of highVolumeThrottle, a parameter of POST /network/fees,
// outside of its range, or "".
func throttleInRange(v rest.Value) string {
	const name = "highVolumeThrottle"
	if complaint := rest.AtLeast(name, 0)(v); complaint != "" {
		return complaint
	}
	return rest.AtMost(name, maxThrottle)(v)
}

// bindThrottle sets the variable of POST /network/fees for the utilization of the high-volume throttle, in basis
// points. It never fails: the value has been checked.
func bindThrottle(r *rest.Request, values []rest.Value) error {
	r.Set("throttle", int(values[0].Number))
	return nil
}

// bindTransactionBytes sets the variable transaction of POST /network/fees to the body in hex. The graph also accepts
// the lists of SDKs, this API does not: they are a 400.
func bindTransactionBytes(r *rest.Request, body []byte) error {
	if fees.IsList(body) {
		return rest.ModernBad(errorTexts[fees.ErrUnreadable])
	}
	r.Set("transaction", "0x"+hex.EncodeToString(body))
	return nil
}

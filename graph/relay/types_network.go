package relay

import "heliograph/internal/domain/ledger"

// The connections and edges of schedules and of the network's nodes.
type (
	ScheduleConnection       = Connection[ledger.Schedule]
	ScheduleEdge             = Edge[ledger.Schedule]
	NetworkNodeConnection    = Connection[ledger.NetworkNode]
	NetworkNodeEdge          = Edge[ledger.NetworkNode]
	RegisteredNodeConnection = Connection[ledger.RegisteredNode]
	RegisteredNodeEdge       = Edge[ledger.RegisteredNode]
)

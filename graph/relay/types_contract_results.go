package relay

import "heliograph/internal/domain/ledger"

// The lists of contract results and of their actions.
type (
	ContractResultConnection = Connection[ledger.ContractResult]
	ContractResultEdge       = Edge[ledger.ContractResult]
	ContractActionConnection = Connection[ledger.ContractAction]
	ContractActionEdge       = Edge[ledger.ContractAction]
)

package relay

import "heliograph/internal/domain/ledger"

// The lists of contracts, of their storage and of their logs.
type (
	ContractConnection      = Connection[ledger.Contract]
	ContractEdge            = Edge[ledger.Contract]
	ContractStateConnection = Connection[ledger.ContractState]
	ContractStateEdge       = Edge[ledger.ContractState]
	ContractLogConnection   = Connection[ledger.ContractLog]
	ContractLogEdge         = Edge[ledger.ContractLog]
)

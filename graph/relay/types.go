package relay

import "heliograph/internal/domain/ledger"

// The connections and edges of the graph, one pair per list. gqlgen binds the schema's types to these names.
type (
	AccountConnection      = Connection[ledger.Account]
	AccountEdge            = Edge[ledger.Account]
	BalanceConnection      = Connection[ledger.Balance]
	BalanceEdge            = Edge[ledger.Balance]
	BlockConnection        = Connection[ledger.Block]
	BlockEdge              = Edge[ledger.Block]
	TransactionConnection  = Connection[ledger.Transaction]
	TransactionEdge        = Edge[ledger.Transaction]
	TopicMessageConnection = Connection[ledger.TopicMessage]
	TopicMessageEdge       = Edge[ledger.TopicMessage]
)

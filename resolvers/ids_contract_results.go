package resolvers

import (
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
)

// resultType is the type of contract results in global ids.
const resultType = "ContractResult"

// The names of lists in their cursors.
const (
	resultKind = "contract results"
	actionKind = "contract actions"
)

func resultID(r *ledger.ContractResult) string {
	return relay.ID(resultType, r.ConsensusTimestamp.String())
}

func addResultIDs(t *rowplan.Tables) { t.ContractResult.Add("id", idField(resultID)) }

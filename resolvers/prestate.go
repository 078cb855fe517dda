package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/contractcalls"
)

// ContractResultPrestate derives the state before and after the transaction of a result.
func (f fields) ContractResultPrestate(
	ctx context.Context, r *ledger.ContractResult, args graph.ContractResultPrestateArgs,
) (*ledger.ContractPrestate, error) {
	if r.Synthetic {
		return nil, nil //nolint:nilnil // null in the graph: the transaction ran no code
	}
	o := contractcalls.PrestateOptions{Code: args.Code, Diff: args.Diff, Storage: args.Storage}
	return f.calls.Prestate(ctx, o, r)
}

package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/contractcalls"
)

// ContractResultPrestate resolves ContractResult.prestate. It starts to derive the states before and after the
// transactions of results, at the same time, each in several statements within its own limits, and returns a function
// that waits for them. Synthetic results have none. An error is that of its result only; see [rowplan.OneByOne].
func (f fields) ContractResultPrestate(
	ctx context.Context, _ rowplan.Request, of []*ledger.ContractResult, args graph.ContractResultPrestateArgs,
) (rowplan.Results[*ledger.ContractPrestate], error) {
	o := contractcalls.PrestateOptions{Code: args.Code, Diff: args.Diff, Storage: args.Storage}
	return rowplan.OneByOne(ctx, of,
		func(ctx context.Context, r *ledger.ContractResult) (*ledger.ContractPrestate, error) {
			if r.Synthetic {
				return nil, nil //nolint:nilnil // null in the graph: the transaction ran no code
			}
			return f.calls.Prestate(ctx, o, r)
		})
}

package resolvers

import (
	"context"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/contractcalls"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// ContractCall resolves Contract.call. It starts a call of each contract, at the same time and each within its own
// limits, and returns a function that waits for them. A call changes nothing in the database. An error is that of its
// contract only; see [rowplan.OneByOne]. At a past moment it first reads the block that ends then, and runs on it; a
// block in args other than the latest, and a moment inside of a block, are BAD_USER_INPUT.
func (f fields) ContractCall(
	ctx context.Context, _ rowplan.Request, of []*ledger.Contract, args graph.ContractCallArgs,
) (rowplan.Results[*calls.ContractCall], error) {
	if m := ledger.MomentOf(ctx); m != nil {
		block, err := f.BlockOf(ctx, m, args.Block)
		if err != nil {
			return nil, err
		}
		args.Block, ctx = block, ledger.Present(ctx)
	}
	return rowplan.OneByOne(ctx, of, func(ctx context.Context, c *ledger.Contract) (*calls.ContractCall, error) {
		address := c.EntityID.LongZero()
		return f.calls.Call(ctx, &calls.ContractCallInput{
			Block: args.Block, Data: args.Data, From: args.From,
			Gas: args.Gas, Value: args.Value, To: address[:],
		})
	})
}

// ContractResultTrace resolves ContractResult.trace. It starts to run the transaction of each result again, at the
// same time and each within its own limits, and returns a function that waits for them. A result without code has
// none. An error is that of its result only; see [rowplan.OneByOne].
func (f fields) ContractResultTrace(
	ctx context.Context, _ rowplan.Request, of []*ledger.ContractResult, args graph.ContractResultTraceArgs,
) (rowplan.Results[*calls.OpcodeTrace], error) {
	return rowplan.OneByOne(ctx, of, func(ctx context.Context, r *ledger.ContractResult) (*calls.OpcodeTrace, error) {
		return relay.WithoutNote(f.ContractTrace(ctx, graph.QueryContractTraceArgs{
			At: &r.ConsensusTimestamp, Stack: args.Stack, Memory: args.Memory, Storage: args.Storage,
			First: args.First,
		}))
	})
}

// ContractTrace resolves Query.contractTrace. Once it is admitted, it finds a transaction, by a time, hash or id or as
// the newest one of a contract, runs it again and returns its steps. If the transaction does not exist, it returns
// nil, and the error is a [relay.Note] that says so. Not exactly one name of a transaction is BAD_USER_INPUT. It fails
// with FORBIDDEN if traces are off, RATE_LIMITED above their rate, and TIMEOUT.
func (r *Resolver) ContractTrace(ctx context.Context, args graph.QueryContractTraceArgs) (*calls.OpcodeTrace, error) {
	return r.calls.Trace(ctx, contractcalls.TraceOptions{
		Stack: args.Stack, Memory: args.Memory, Storage: args.Storage, First: args.First,
	}, func() (*ledger.ContractResult, error) { return r.tracedResult(ctx, &args) })
}

// CallContract resolves Query.callContract. It runs a call without effects on the ledger. If the call fails, the error
// beside it is a [relay.Note] with the failure, which is no error of the field. Invalid and rejected calls are
// BAD_USER_INPUT, others that are not run RATE_LIMITED or TIMEOUT.
func (r queries) CallContract(ctx context.Context, args graph.QueryCallContractArgs) (*calls.ContractCall, error) {
	call, err := r.calls.Call(ctx, &args.Input)
	if err == nil && call.Failure != nil {
		err = &relay.Note{Failure: call.Failure}
	}
	return call, err
}

// EstimateGas resolves Query.estimateGas. It runs a call to estimate its gas. If the call fails, it returns the
// estimate, which has no gas, and beside it a [relay.Note] with the failure, which is no error of the field. Invalid
// and rejected calls are BAD_USER_INPUT, others that are not run RATE_LIMITED or TIMEOUT.
func (r queries) EstimateGas(ctx context.Context, args graph.QueryEstimateGasArgs) (*calls.GasEstimate, error) {
	estimate, err := r.calls.Estimate(ctx, &args.Input)
	if err == nil && estimate.Failure != nil {
		err = &relay.Note{Failure: estimate.Failure}
	}
	return estimate, err
}

// tracedResult reads the result of the transaction that ref names, which ran a contract, for Query.contractTrace. If a
// part is missing, the error is a [relay.Note] that names it. Synthetic results count as missing, because they ran no
// code. No or several names, and an invalid hash, are BAD_USER_INPUT.
func (r *Resolver) tracedResult(
	ctx context.Context, ref *graph.QueryContractTraceArgs,
) (*ledger.ContractResult, error) {
	var contract ledger.Null[ledger.EntityID]
	if ref.Contract != nil {
		callee, err := r.callee(ctx, ref.Contract.AccountRef())
		if err != nil {
			return nil, err
		}
		if !callee.Valid {
			return nil, relay.Lacking(relay.Missing{Kind: relay.MissingContract, Contract: *ref.Contract})
		}
		contract = callee
	}
	at, err := r.tracedAt(ctx, ref, contract)
	if err != nil {
		return nil, err
	}
	// Synthetic results ran no code.
	result, err := storage.ReadOne(ctx, r.db, "contract result", at, transactions.QueueContractResultsAt)
	if err != nil {
		return nil, err
	}
	if result == nil || result.Synthetic || contract.Valid && result.ContractID != contract.V {
		return nil, relay.Lacking(relay.Missing{Kind: relay.MissingContractResult, At: at})
	}
	return result, nil
}

// tracedAt returns the consensus time of the transaction that ref names, which it reads unless the time is given: that
// with a hash or id, else the newest of contract. If it does not exist, the error is a [relay.Note]. No or several
// names, and an invalid hash, are BAD_USER_INPUT. With an error, the time is 0.
func (r *Resolver) tracedAt(
	ctx context.Context, ref *graph.QueryContractTraceArgs, contract ledger.Null[ledger.EntityID],
) (ledger.Timestamp, error) {
	if ref.At == nil && ref.Hash == nil && ref.TransactionID == nil {
		if !contract.Valid {
			return 0, fault.Input("give one of at, hash, transactionId and contract")
		}
		ran := ledger.ContractResultFilter{ContractID: &ledger.EntityIDFilter{Eq: &contract.V}, Synthetic: new(bool)}
		rows, err := transactions.ContractResults(
			ctx, r.db, ran, transactions.ResultDetails, storage.Page{Limit: 1, Desc: true})
		if err != nil {
			return 0, err
		}
		if len(rows) == 0 {
			return 0, relay.Lacking(relay.Missing{Kind: relay.MissingContractResults, ID: contract.V})
		}
		return rows[0].ConsensusTimestamp, nil
	}
	err := fault.OneOf("hash, transactionId and at", ref.Hash != nil, ref.TransactionID != nil, ref.At != nil)
	if err != nil {
		return 0, err
	}
	if ref.At != nil {
		return *ref.At, nil
	}
	located, err := resultRef(ref.Hash, ref.TransactionID, 0)
	if err != nil {
		return 0, err
	}
	found, err := transactions.LocateTransaction(ctx, r.db, located)
	if err != nil {
		return 0, err
	}
	if !found.Valid {
		return 0, relay.Lacking(relay.Missing{
			Kind: relay.MissingContractTransaction, Hash: located.Hash,
			TransactionID: ref.TransactionID,
		})
	}
	return found.V.At, nil
}

// SimulateCalls resolves Query.simulateCalls. It runs blocks of calls on one state, without effects on the ledger. A
// call that fails has its failure in the result. An invalid call is BAD_USER_INPUT; simulations that are off are
// FORBIDDEN, others that are not run RATE_LIMITED or TIMEOUT.
func (r queries) SimulateCalls(ctx context.Context, args graph.QuerySimulateCallsArgs) (*calls.Simulation, error) {
	return r.calls.Simulate(ctx, &args.Input)
}

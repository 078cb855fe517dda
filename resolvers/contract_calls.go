package resolvers

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/contractcalls"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// callContract runs a call, and notes its failure for REST.
func (r *Resolver) callContract(ctx context.Context, in *calls.ContractCallInput) (*calls.ContractCall, error) {
	call, err := r.calls.Call(ctx, in)
	if err == nil {
		noteFailure(ctx, call.Failure)
	}
	return call, err
}

// estimateGas estimates the gas of a call, and notes its failure for REST.
func (r *Resolver) estimateGas(ctx context.Context, in *calls.ContractCallInput) (*calls.GasEstimate, error) {
	estimate, err := r.calls.Estimate(ctx, in)
	if err == nil {
		noteFailure(ctx, estimate.Failure)
	}
	return estimate, err
}

func noteFailure(ctx context.Context, f *calls.ContractCallFailure) {
	if f == nil {
		return
	}
	h := relay.HintsOf(ctx)
	h.Lacks, h.CallFailure = "call", f
}

// callOf calls a contract.
func (r *Resolver) callOf(ctx context.Context, c *ledger.Contract, in *calls.ContractCallInput) (*calls.ContractCall, error) {
	address := c.EntityID.LongZero()
	in.To = address[:]
	return r.callContract(ctx, in)
}

// traceRef identifies a transaction by at, hash or id, or the newest transaction of a contract.
type traceRef struct {
	at       *ledger.Timestamp
	contract *ledger.ContractRef
	hash     *string
	id       *ledger.TransactionID
}

// contractTrace traces a transaction. It returns nil if the transaction does not exist.
func (r *Resolver) contractTrace(ctx context.Context, ref traceRef, o contractcalls.TraceOptions) (*calls.OpcodeTrace, error) {
	return r.calls.Trace(ctx, o, func() (*ledger.ContractResult, error) { return r.tracedResult(ctx, ref) })
}

// tracedResult finds the result of the transaction that is meant. What is missing is told to the REST side.
func (r *Resolver) tracedResult(ctx context.Context, ref traceRef) (*ledger.ContractResult, error) {
	var contract ledger.Null[ledger.EntityID]
	if ref.contract != nil {
		callee, err := r.callee(ctx, ref.contract.AccountRef())
		if err != nil {
			return nil, err
		}
		if !callee.Valid {
			relay.HintsOf(ctx).Lacks = "No contract " + ref.contract.String() + " found"
			return nil, nil //nolint:nilnil // null in the graph
		}
		contract = callee
	}
	at, err := r.tracedAt(ctx, ref, contract)
	if err != nil || at == 0 {
		return nil, err
	}
	result, err := r.resultAt(ctx, at)
	if err != nil {
		return nil, err
	}
	if result == nil || contract.Valid && result.ContractID != contract.V {
		relay.HintsOf(ctx).Lacks = "Contract result not found: " + strconv.FormatInt(int64(at), 10)
		return nil, nil //nolint:nilnil // as above
	}
	return result, nil
}

// tracedAt is when the transaction that is meant reached consensus; 0 when there is none.
func (r *Resolver) tracedAt(ctx context.Context, ref traceRef, contract ledger.Null[ledger.EntityID]) (ledger.Timestamp, error) {
	if ref.at == nil && ref.hash == nil && ref.id == nil {
		if !contract.Valid {
			return 0, fault.Input("give one of at, hash, transactionId and contract")
		}
		rows, err := transactions.ContractResults(ctx, r.db, &ledger.ContractResultFilter{ContractID: &ledger.EntityIDFilter{Eq: &contract.V}}, transactions.ResultDetails, storage.Page{Limit: 1, Desc: true})
		if err != nil || len(rows) == 0 {
			relay.HintsOf(ctx).Lacks = "No result of contract " + contract.V.String() + " found"
			return 0, err
		}
		return rows[0].ConsensusTimestamp, nil
	}
	if err := oneOf("hash, transactionId and at", ref.hash != nil, ref.id != nil, ref.at != nil); err != nil {
		return 0, err
	}
	if ref.at != nil {
		return *ref.at, nil
	}
	located, err := resultRef(ref.hash, ref.id, 0)
	if err != nil {
		return 0, err
	}
	found, err := transactions.LocateTransaction(ctx, r.db, located)
	if err != nil {
		return 0, err
	}
	if !found.Valid {
		h := relay.HintsOf(ctx)
		if ref.hash != nil {
			h.Lacks = "Contract transaction hash not found: TransactionHashParameter[hash=" + string(ledger.AppendHex(nil, located.Hash)) + "]"
		} else {
			h.Lacks = fmt.Sprintf("Transaction not found: TransactionIdParameter[payerAccountId=%s, validStart=%s]", ref.id.Payer,
				time.Unix(0, int64(ref.id.ValidStart)).UTC().Format(time.RFC3339Nano))
		}
		return 0, nil
	}
	return found.V.At, nil
}

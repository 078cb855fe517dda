package resolvers

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// Bounds of traces in the graph. The REST side is told each step as it is made, without bound.
const (
	maxListedSteps = 10_000
	maxActions     = 100_000
)

// traceRef names a transaction: by one of these, or by the contract alone.
type traceRef struct {
	at       *ledger.Timestamp
	contract *ledger.ContractRef
	hash     *string
	id       *ledger.TransactionID
}

// traceParts are what a trace tells of each step.
type traceParts struct {
	stack, memory, storage bool
	first                  int32
}

// contractTrace runs a transaction again; nil when there is no such transaction.
func (r *Resolver) contractTrace(ctx context.Context, ref traceRef, parts traceParts) (*ledger.OpcodeTrace, error) {
	switch {
	case r.evm.o.TracesOff:
		return nil, fault.Missing("404 NOT_FOUND")
	case parts.first < 0 || parts.first > maxListedSteps:
		return nil, fault.Input("first must be between 0 and %d", maxListedSteps)
	case !r.evm.traces.Take(1):
		return nil, &fault.Error{Code: fault.RateLimited, Message: tooManyRequests}
	}
	result, err := r.tracedResult(ctx, ref)
	if err != nil || result == nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.evm.o.Timeout)
	defer cancel()
	message, err := r.replay(ctx, result)
	if err != nil {
		return nil, err
	}
	sim, snapshot, err := r.evm.open(ctx, ledger.EVMBlockRef{Before: result.ConsensusTimestamp}, message)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	reasons, err := r.reasons(ctx, result)
	if err != nil {
		return nil, err
	}
	trace := &ledger.OpcodeTrace{ContractID: result.ContractID}
	trace.Address, _ = ledger.EVMAddressOf(result.Address)
	sink := relay.TraceSinkOf(ctx)
	options := evm.TraceOptions{Stack: parts.stack, Memory: parts.memory, Storage: parts.storage, Reason: reasons.of}
	if sink == nil {
		options.Step = func(s *ledger.OpcodeStep) error {
			trace.Steps++
			if trace.Steps <= int64(parts.first) {
				trace.Opcodes = append(trace.Opcodes, keepStep(s))
			}
			return nil
		}
	} else {
		// What is told before the steps is only known afterwards: the transaction runs once for that, which finds the state read already then.
		outcome, err := sim.Call(*message)
		if err != nil {
			return nil, r.evm.failure(err)
		}
		fillTrace(trace, outcome)
		if err := sink.Head(trace); err != nil {
			return nil, fmt.Errorf("telling a trace: %w", err)
		}
		options.Step = sink.Step
	}
	outcome, err := sim.Trace(*message, options)
	if err != nil {
		return nil, r.evm.failure(err)
	}
	fillTrace(trace, outcome)
	return trace, nil
}

func fillTrace(t *ledger.OpcodeTrace, r *evm.Result) {
	t.Failed, t.Gas, t.ReturnValue = r.Failed(), int64(r.GasUsed), append([]byte{}, r.Output...)
}

// keepStep copies a step, whose memory is used again.
func keepStep(s *ledger.OpcodeStep) *ledger.OpcodeStep {
	c := *s
	c.Reason = bytes.Clone(s.Reason)
	c.Memory, c.Stack = keepWords(s.Memory), keepWords(s.Stack)
	c.Storage = make([]*ledger.SlotValue, len(s.Storage))
	for i, v := range s.Storage {
		c.Storage[i] = &ledger.SlotValue{Key: bytes.Clone(v.Key), Value: bytes.Clone(v.Value)}
	}
	return &c
}

func keepWords(list [][]byte) [][]byte {
	out := make([][]byte, len(list))
	for i, w := range list {
		out[i] = bytes.Clone(w)
	}
	return out
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
		rows, err := r.db.ContractResults(ctx, &ledger.ContractResultFilter{ContractID: &ledger.EntityIDFilter{Eq: &contract.V}}, storage.ResultDetails, storage.Page{Limit: 1, Desc: true})
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
	found, err := r.db.LocateTransaction(ctx, located)
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

// weibarsPerTinybar converts what Ethereum transactions carry.
const weibarsPerTinybar = 10_000_000_000

// replay makes the message of a transaction.
func (r *Resolver) replay(ctx context.Context, result *ledger.ContractResult) (*evm.Message, error) {
	m := &evm.Message{Data: result.FunctionParameters, Value: result.Amount.V, Gas: uint64(max(result.GasLimit, 0))}
	if !result.SenderID.IsNone() {
		m.From = ledger.Of(result.SenderID.LongZero())
	}
	var (
		data    [][]byte
		created bool
		code    []byte
	)
	b := r.db.NewBatch()
	b.QueueCallData([]*ledger.ContractResult{result}, func(got [][]byte) { data = got })
	b.QueueCreation(result.ConsensusTimestamp, result.ContractID, func(is bool, initcode []byte) { created, code = is, initcode })
	if err := b.Run(ctx); err != nil {
		return nil, fmt.Errorf("reading what a transaction called: %w", err)
	}
	e := result.Ethereum
	switch {
	case e != nil:
		m.Gas = uint64(max(e.GasLimit, 0))
		if len(data[0]) > 0 {
			m.Data = data[0]
		}
		weibars := new(big.Int).SetBytes(e.Value)
		if tinybars := weibars.Quo(weibars, big.NewInt(weibarsPerTinybar)); tinybars.IsInt64() {
			m.Value = tinybars.Int64()
		}
		if to, ok := ledger.EVMAddressOf(e.ToAddress); ok && to != (ledger.EVMAddress{}) {
			m.To = ledger.Of(to)
		}
	case created:
		// The record has the constructor's arguments, which the code may end with already.
		if len(code) > 0 && !bytes.HasSuffix(code, m.Data) {
			code = append(bytes.Clone(code), m.Data...)
		}
		if len(code) > 0 {
			m.Data = code
		}
	case !result.ContractID.IsNone():
		m.To = ledger.Of(result.ContractID.LongZero())
	}
	return m, nil
}

// systemReasons are what the system contracts of a transaction were reverted with, by depth and order; nil where they were not.
type systemReasons map[int][][]byte

// of is the reason of a call of a system contract at a depth.
func (s systemReasons) of(depth, n int) []byte {
	if list := s[depth]; n < len(list) {
		return list[n]
	}
	return nil
}

// Kinds of actions and results in the table of actions.
const (
	systemCall    = 4
	revertReasons = 12
)

// reasons reads why the system contracts of a transaction failed.
func (r *Resolver) reasons(ctx context.Context, result *ledger.ContractResult) (systemReasons, error) {
	actions, err := r.db.ContractActions(ctx, storage.Located{At: result.ConsensusTimestamp, Payer: result.PayerAccountID}, nil, storage.Page{Limit: maxActions})
	if err != nil {
		return nil, err
	}
	out := systemReasons{}
	for _, a := range actions {
		if a.CallType != ledger.CallTypeOf(systemCall) {
			continue
		}
		var reason []byte
		if a.ResultDataType == ledger.ResultDataTypeOf(revertReasons) {
			reason = evm.SystemReason(a.ResultData)
		}
		out[int(a.CallDepth)] = append(out[int(a.CallDepth)], reason)
	}
	return out, nil
}

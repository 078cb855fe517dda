package contractcalls

import (
	"bytes"
	"context"
	"fmt"
	"math/big"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/evmstate"
	"heliograph/storage/transactions"
)

// Limits of traces that are returned as a list. A [relay.TraceSink] receives all steps.
const (
	MaxListedSteps = 10_000
	MaxActions     = 100_000
	// MaxListedBytes is the maximum size of the listed steps in memory. words is the size of a word with its header.
	MaxListedBytes = 32 << 20
	words          = 56
)

// TraceOptions select the parts of a trace.
type TraceOptions struct {
	Stack, Memory, Storage bool
	// First is the maximum number of steps to return.
	First int32
}

// Trace runs the transaction of a contract result again and returns its steps. find returns the result to trace, or
// nil. Trace calls it once the request is admitted, and returns nil if there is no such result, with the error of
// find, which can be a [relay.Note]. If ctx has a [relay.TraceSink], the steps go there instead. It fails with
// FORBIDDEN if traces are off, with RATE_LIMITED above the limit per second, and with TIMEOUT after the timeout of
// traces. A number of steps out of bounds is BAD_USER_INPUT.
func (s *Service) Trace(
	ctx context.Context, o TraceOptions, find func() (*ledger.ContractResult, error),
) (*calls.OpcodeTrace, error) {
	if s.o.TracesOff {
		return nil, fault.Of(fault.Forbidden, calls.ErrTracesDisabled)
	}
	if o.First < 0 || o.First > MaxListedSteps {
		return nil, fault.Input("first must be between 0 and %d", MaxListedSteps)
	}
	if err := s.limits.admitOne(ctx, s.limits.traces); err != nil {
		return nil, err
	}
	result, err := find()
	if err != nil || result == nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.TraceTimeout)
	defer cancel()
	message, err := s.message(ctx, result)
	if err != nil {
		return nil, err
	}
	reasons, err := s.reasons(ctx, result)
	if err != nil {
		return nil, err
	}
	options := evm.TraceOptions{Stack: o.Stack, Memory: o.Memory, Storage: o.Storage, Reason: reasons.of}
	var trace *calls.OpcodeTrace
	err = s.prepared(ctx, func() error {
		trace, err = s.replay(ctx, options, o.First, result, message)
		return err
	})
	return trace, err
}

// replay runs the message of a contract result on the state before its transaction. It returns at most first steps, or
// passes all to the sink of the context. For a sink it runs the message twice: the head of the trace, which comes
// first, has the result. Listed steps above [MaxListedBytes] are QUERY_TOO_COMPLEX. The snapshot has a connection, and
// an operation has few, so nothing else may be read meanwhile.
func (s *Service) replay(
	ctx context.Context, options evm.TraceOptions, first int32, result *ledger.ContractResult, message *evm.Message,
) (*calls.OpcodeTrace, error) {
	sim, snapshot, err := s.open(ctx, worldstate.BlockRef{Before: result.ConsensusTimestamp}, message)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	trace := &calls.OpcodeTrace{ContractID: result.ContractID}
	trace.Address, _ = ledger.EVMAddressOf(result.Address)
	sink, kept := relay.TraceSinkOf(ctx), 0
	if sink == nil {
		options.Step = func(step *calls.OpcodeStep) error {
			trace.Steps++
			if trace.Steps > int64(first) {
				return nil
			}
			if kept += words * (8 + len(step.Memory) + len(step.Stack) + 2*len(step.Storage)); kept > MaxListedBytes {
				return &fault.Error{
					Code:    fault.TooComplex,
					Message: "the trace is too large: request fewer steps, or omit memory, stack or storage",
				}
			}
			trace.Opcodes = append(trace.Opcodes, cloneStep(step))
			return nil
		}
	} else {
		// The head of the trace is known only after the run. So the transaction runs twice; the second run reads no
		// state from the database.
		outcome, err := sim.Call(*message)
		if err != nil {
			return nil, failure(err)
		}
		fillTrace(trace, outcome)
		if err := sink.Head(trace); err != nil {
			return nil, fmt.Errorf("writing the head of a trace: %w", err)
		}
		options.Step = sink.Step
	}
	outcome, err := sim.Trace(*message, options)
	if err != nil {
		return nil, failure(err)
	}
	fillTrace(trace, outcome)
	return trace, nil
}

// fillTrace copies the result of an execution, gas, failure and return value, to the trace t.
func fillTrace(t *calls.OpcodeTrace, r *evm.Result) {
	t.Failed, t.Gas, t.ReturnValue = r.Failed(), int64(r.GasUsed), append([]byte{}, r.Output...)
}

// cloneStep returns a deep copy of a step, because the machine reuses its memory.
func cloneStep(s *calls.OpcodeStep) *calls.OpcodeStep {
	c := *s
	c.Reason = bytes.Clone(s.Reason)
	c.Memory, c.Stack = cloneWords(s.Memory), cloneWords(s.Stack)
	c.Storage = make([]*calls.SlotValue, len(s.Storage))
	for i, v := range s.Storage {
		c.Storage[i] = &calls.SlotValue{Key: bytes.Clone(v.Key), Value: bytes.Clone(v.Value)}
	}
	return &c
}

// cloneWords returns deep copies of the words of a step's stack or memory, because the machine reuses them.
func cloneWords(words [][]byte) [][]byte { return list.Map(words, bytes.Clone) }

// systemReasons has the revert reasons of a transaction's calls of system contracts, by depth and order. A call that
// did not revert has a nil reason.
type systemReasons map[int][][]byte

// of returns the reason of the n-th call of a system contract at a depth. It is nil if the call did not revert or is
// not recorded.
func (s systemReasons) of(depth, n int) []byte {
	if list := s[depth]; n < len(list) {
		return list[n]
	}
	return nil
}

// Values of the columns call_type and result_data_type.
const (
	systemCall   = 4
	revertReason = 12
)

// reasons reads the revert reasons of the system contracts that a transaction called, in its first MaxActions actions,
// from the mirror database at once, for [Service.Trace].
func (s *Service) reasons(ctx context.Context, result *ledger.ContractResult) (systemReasons, error) {
	at := transactions.Located{At: result.ConsensusTimestamp, Payer: result.PayerAccountID}
	actions, err := transactions.ContractActions(ctx, s.db, at, ledger.ContractActionFilter{},
		storage.Page{Limit: MaxActions})
	if err != nil {
		return nil, err
	}
	out := systemReasons{}
	for _, a := range actions {
		if a.CallType != ledger.CallTypeOf(systemCall) {
			continue
		}
		var reason []byte
		if a.ResultDataType == ledger.ResultDataTypeOf(revertReason) {
			reason = evm.SystemReason(a.ResultData)
		}
		out[int(a.CallDepth)] = append(out[int(a.CallDepth)], reason)
	}
	return out, nil
}

// weibarsPerTinybar converts the values of Ethereum transactions.
const weibarsPerTinybar = 10_000_000_000

// message returns the message with which a transaction called the EVM, with its value in tinybars. It reads the call
// data of files and the code of new contracts from the database. Where the database lacks these, the data are the
// function parameters of the result. An Ethereum value that exceeds 64 bits is not used: the value is the amount of
// the result.
func (s *Service) message(ctx context.Context, result *ledger.ContractResult) (*evm.Message, error) {
	m := &evm.Message{Data: result.FunctionParameters, Value: result.Amount.V, Gas: uint64(max(result.GasLimit, 0))}
	if !result.SenderID.IsNone() {
		m.From = ledger.Of(result.SenderID.LongZero())
	}
	b := s.db.NewBatch()
	in, err := storage.Run(ctx, b, evmstate.QueueInput(b, result.ConsensusTimestamp, result.ContractID))
	if err != nil {
		return nil, fmt.Errorf("reading the input of a transaction: %w", err)
	}
	e := result.Ethereum
	switch {
	case e != nil:
		m.Gas = uint64(max(e.GasLimit, 0))
		if len(in.CallData) > 0 {
			m.Data = in.CallData
		}
		weibars := new(big.Int).SetBytes(e.Value)
		if tinybars := weibars.Quo(weibars, big.NewInt(weibarsPerTinybar)); tinybars.IsInt64() {
			m.Value = tinybars.Int64()
		}
		if to, ok := ledger.EVMAddressOf(e.ToAddress); ok && to != (ledger.EVMAddress{}) {
			m.To = ledger.Of(to)
		}
	case in.Created.V:
		code := in.Initcode
		// The record has the constructor's arguments. The code may already end with them.
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

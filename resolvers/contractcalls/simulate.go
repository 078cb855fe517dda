package contractcalls

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"heliograph/graph/fault"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
)

// MaxSimulatedBytes is the maximum size of the return data and logs of a simulation.
const MaxSimulatedBytes = 16 << 20

// Simulate runs calls one after another on one state within the limits, without effects on the ledger. It reads the
// state at the block of in from the database, in one snapshot that holds a connection until the last call has ended. A
// call that fails has a Failure, and the next calls run. Any other error ends the simulation, such as BAD_USER_INPUT,
// FORBIDDEN if simulations are off, RATE_LIMITED and TIMEOUT: no result is returned, and all of its gas goes back to
// the limits.
func (s *Service) Simulate(ctx context.Context, in *calls.SimulationInput) (*calls.Simulation, error) {
	done, err := s.limits.admitAll(ctx, in)
	if err != nil {
		return nil, err
	}
	used := int64(0)
	defer func() { done(used) }()
	ref, err := calls.ParseBlockRef(in.Block)
	if err != nil {
		return nil, invalid(err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.SimulationTimeout)
	defer cancel()
	first := messageOf(in.Calls()[0])
	var run *simulationRun
	err = s.prepared(ctx, func() error {
		sim, snapshot, err := s.open(ctx, ref, &first)
		if err != nil {
			return err
		}
		defer snapshot.Close()
		run = &simulationRun{sim: sim, anchor: snapshot.Block(), transfers: in.TraceTransfers}
		for i, block := range in.Blocks {
			if err := run.block(i, block); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, call := range run.calls {
		used += call.GasUsed
	}
	return &calls.Simulation{BlockNumber: run.anchor.Number, Calls: run.calls}, nil
}

// simulationRun is the state of a simulation.
type simulationRun struct {
	sim       *evm.Simulation
	anchor    worldstate.Block
	transfers bool // whether transfers of value have logs
	calls     []*calls.SimulatedCall
	size      int // of return data and logs
}

// block runs the calls of the i-th block on the state that the block before left, and adds their results to r.calls.
// Without a number and a time of its own, it is the i-th block after the anchor, at the time of the anchor. It fails
// with QUERY_TOO_COMPLEX if return data and logs of all blocks exceed [MaxSimulatedBytes]: r.size counts both, the
// logs by logsOf. It also fails if the state overrides cannot be applied or a call cannot run, for example because of
// a timeout. A call that fails is no error.
func (r *simulationRun) block(i int, in *calls.SimulatedBlockInput) error {
	b := r.anchor
	b.Number += int64(i)
	if in.Number != nil {
		b.Number = *in.Number
	}
	if in.Time != nil {
		b.Start = ledger.Timestamp(*in.Time) * 1_000_000_000
	}
	if b.Number != r.anchor.Number {
		b.Hash = hashWithIndex(r.anchor.Hash[:], i)
	}
	r.sim.InBlock(b)
	if err := r.sim.Override(overrides(in.StateOverrides)); err != nil {
		return fmt.Errorf("applying state overrides: %w", err)
	}
	logs := 0
	for index, call := range in.Calls {
		result, err := r.sim.Apply(messageOf(call.Call()))
		if err != nil {
			return failure(err)
		}
		out := &calls.SimulatedCall{
			BlockHash: b.Hash[:], BlockNumber: b.Number, Failure: failureOf(result), GasUsed: int64(result.GasUsed),
			ReturnData: append([]byte{}, result.Output...), TransactionIndex: int32(index),
		}
		hash := hashWithIndex(out.ReturnData, index)
		out.TransactionHash = hash[:]
		for _, l := range r.logsOf(result) {
			out.Logs = append(out.Logs, logOf(l, out, logs))
			logs++
		}
		r.calls = append(r.calls, out)
		if r.size += len(out.ReturnData); r.size > MaxSimulatedBytes {
			return &fault.Error{
				Code:    fault.TooComplex,
				Message: "the simulation returns too much data: simulate fewer calls",
			}
		}
	}
	return nil
}

// logsOf returns the logs of a call, and those of its transfers of value if they are requested. It adds their size
// to r.size.
func (r *simulationRun) logsOf(result *evm.Result) []*types.Log {
	logs := result.Logs
	if r.transfers {
		for i := range result.Transfers {
			logs = append(logs, transferLog(&result.Transfers[i]))
		}
	}
	for _, l := range logs {
		r.size += len(l.Data) + common.HashLength*len(l.Topics)
	}
	return logs
}

var (
	// transferTopic is the signature of the event Transfer(address,address,uint256).
	transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
	// valueEmitter is the address of logs of transfers of value.
	valueEmitter = common.HexToAddress("0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee")
)

// transferLog returns the log that a simulation with traceTransfers reports for a transfer of native value: that of an
// ERC-20 transfer by [valueEmitter], with the amount in tinybars.
func transferLog(t *evm.Transfer) *types.Log {
	amount := t.Value.Bytes32()
	topics := []common.Hash{transferTopic, common.BytesToHash(t.From[:]), common.BytesToHash(t.To[:])}
	return &types.Log{Address: valueEmitter, Topics: topics, Data: amount[:]}
}

// logOf returns a log of the EVM as a row of the schema, with its position in the block of the call.
func logOf(l *types.Log, of *calls.SimulatedCall, index int) *calls.SimulatedLog {
	out := &calls.SimulatedLog{
		Address: ledger.EVMAddress(
			l.Address,
		), BlockHash: of.BlockHash, BlockNumber: of.BlockNumber, Data: append([]byte{}, l.Data...),
		LogIndex: int32(index), TransactionHash: of.TransactionHash, TransactionIndex: of.TransactionIndex,
	}
	for _, topic := range l.Topics {
		out.Topics = append(out.Topics, topic[:])
	}
	return out
}

// hashWithIndex returns the Keccak-256 of data and an index as 8 bytes. Blocks and transactions of a simulation, which
// have no hashes of their own, get such hashes.
func hashWithIndex(data []byte, index int) [32]byte {
	return crypto.Keccak256Hash(data, binary.BigEndian.AppendUint64(nil, uint64(index)))
}

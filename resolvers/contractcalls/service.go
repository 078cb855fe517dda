// Package contractcalls runs contract calls, gas estimates and traces of historical transactions for the graph. It
// decides which requests run: it validates them, applies request filters, rate limits and time-outs, and bounds how
// many run at the same time.
package contractcalls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"heliograph/graph/fault"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/evm/system"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/evmstate"
)

// Service runs contracts. It may be used by several goroutines at the same time.
type Service struct {
	o       Options
	limits  *limits
	machine *evm.Machine
	reader  *evmstate.Reader
	db      *storage.DB
}

// New returns a new service that runs contract calls on the state in the database, with the network's system
// contracts and a cache of code. It reads nothing. Without a database only the limits work.
func New(c Config) *Service {
	o := c.Options
	if !c.Cache {
		o.CacheBytes = 0
	}
	s := &Service{o: o, db: c.DB, limits: newLimits(c, o)}
	if c.DB == nil {
		return s
	}
	s.reader = evmstate.NewReader(c.DB, entities.NewCallPrices(c.DB), o.CacheBytes)
	contracts := o.SystemContracts
	if contracts == nil {
		contracts = system.Contracts(system.Config{ChainID: c.DB.ChainID(), Base: c.DB.SystemEntity(0)})
	}
	s.machine = evm.New(evm.Config{
		ChainID: c.DB.ChainID(), SystemContracts: contracts, MinimumBalance: o.MinimumBalance,
		ValidatePayer: o.ValidatePayer,
		CalldataFloor: o.CalldataFloor, PragueBlock: o.PragueBlock, BlockHashWindow: o.BlockHashWindow,
		CacheBytes: o.CacheBytes,
	})
	return s
}

// AdmitTrace reports whether another trace may run in this second, and counts it. The REST API asks it before it runs
// the document of a trace; [Service.Trace] does not count such a request again.
func (s *Service) AdmitTrace() bool { return s.limits.allow(s.limits.traces, 1) }

// AdmitPrestate reports whether another prestate may be derived in this second, and counts it. The REST API asks it
// before it runs the document of a prestate; [Service.Prestate] does not count such a request again.
func (s *Service) AdmitPrestate() bool { return s.limits.allow(s.limits.prestates, 1) }

// Call runs a call within the limits, without effects on the ledger. It reads the state from the database. A call that
// fails has a Failure and no output, and is no error. Errors are those of [Service.run], such as BAD_USER_INPUT,
// RATE_LIMITED and TIMEOUT.
func (s *Service) Call(ctx context.Context, in *calls.ContractCallInput) (*calls.ContractCall, error) {
	result, block, err := s.run(ctx, in, false)
	if err != nil {
		return nil, err
	}
	call := &calls.ContractCall{BlockNumber: block, GasUsed: int64(result.GasUsed), Failure: failureOf(result)}
	if call.Failure == nil {
		call.Output = append([]byte{}, result.Output...)
	}
	return call, nil
}

// Estimate estimates the gas of a call by running it within the limits, without effects on the ledger. It reads the
// state from the database. A call that fails has a Failure and no estimate, and is no error. Errors are those of
// [Service.run], such as BAD_USER_INPUT, RATE_LIMITED and TIMEOUT.
func (s *Service) Estimate(ctx context.Context, in *calls.ContractCallInput) (*calls.GasEstimate, error) {
	result, block, err := s.run(ctx, in, true)
	if err != nil {
		return nil, err
	}
	estimate := &calls.GasEstimate{BlockNumber: block, Failure: failureOf(result)}
	if estimate.Failure == nil {
		estimate.Gas = ledger.Of(int64(result.GasUsed))
	}
	return estimate, nil
}

// run admits and runs a call or an estimate in a snapshot of the database, within the timeout. It returns the number
// of the block that the call ran in. Invalid or rejected calls, unknown blocks and overrides that are off are
// BAD_USER_INPUT, calls above a rate RATE_LIMITED, those after the timeout TIMEOUT. If it fails after the admission,
// all gas goes back to the limits, but the request remains counted.
func (s *Service) run(
	ctx context.Context, in *calls.ContractCallInput, estimate bool,
) (result *evm.Result, block int64, err error) {
	done, err := s.limits.admit(ctx, in, estimate)
	if err != nil {
		return nil, 0, err
	}
	used := int64(0)
	defer func() { done(used) }()
	if len(in.StateOverrides) > 0 && !s.o.Overrides {
		return nil, 0, invalid(calls.ErrOverridesDisabled)
	}
	ref, err := calls.ParseBlockRef(in.Block)
	if err != nil {
		return nil, 0, invalid(err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	message := messageOf(in)
	err = s.prepared(ctx, func() error {
		sim, snapshot, err := s.open(ctx, ref, &message)
		if err != nil {
			return err
		}
		defer snapshot.Close()
		if err := sim.Override(overrides(in.StateOverrides)); err != nil {
			return fmt.Errorf("applying state overrides: %w", err)
		}
		call := sim.Call
		if estimate {
			call = sim.Estimate
		}
		if result, err = call(message); err != nil {
			return failure(err)
		}
		block = snapshot.Block().Number
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	used = int64(result.GasUsed)
	return result, block, nil
}

// messageOf returns the EVM's message for the input of a call, which has been validated. Without a sender, From is
// null, and [Service.open] reads the treasury instead.
func messageOf(in *calls.ContractCallInput) evm.Message {
	return evm.Message{
		From: in.Sender(), To: in.Callee(), Data: in.Data, Value: in.Value, Gas: uint64(in.Gas), GasPrice: in.GasPrice,
	}
}

// prepared calls run, and again if another server of the database has to answer. If contracts need the point
// evaluation before its set-up, it waits for that without a connection, and calls run again. So run must overwrite
// its results.
func (s *Service) prepared(ctx context.Context, run func() error) error {
	err := run()
	if s.db.Elsewhere(ctx, err) {
		err = run()
	}
	if !errors.Is(err, evm.ErrPointEvaluation) {
		return err
	}
	if err := evm.PreparePointEvaluation(ctx); err != nil {
		return failure(err)
	}
	return run()
}

// treasury is the number of the account that calls if a message has no sender.
const treasury ledger.EntityID = 2

// open reads the state at a block and starts a simulation of a message on it. The caller must close the snapshot,
// which holds a connection. An unknown block is BAD_USER_INPUT. Without a sender, or with the address 0, the treasury
// is read in its place.
func (s *Service) open(
	ctx context.Context, ref worldstate.BlockRef, m *evm.Message,
) (*evm.Simulation, *evmstate.Snapshot, error) {
	r := evmstate.Request{Block: ref, Callee: m.To.V}
	copy(r.Selector[:], m.Data)
	switch {
	case m.From.Valid && m.From.V != ledger.EVMAddress{}:
		r.Addresses = append(r.Addresses, m.From.V)
	default:
		r.Addresses = append(r.Addresses, treasury.LongZero())
	}
	if m.To.Valid {
		r.Addresses = append(r.Addresses, m.To.V)
	}
	snapshot, err := s.reader.Open(ctx, r)
	switch {
	case errors.Is(err, evmstate.ErrNoBlock):
		return nil, nil, invalid(calls.ErrUnknownBlock)
	case err != nil:
		return nil, nil, failure(err)
	}
	return s.machine.Begin(ctx, snapshot, snapshot.Block()), snapshot, nil
}

// failure returns the error for clients that stands for one that the contract did not cause: TIMEOUT after the
// timeout, QUERY_TOO_COMPLEX for too many reads, or else err with a prefix, so that [Service.prepared] finds its
// cause.
func failure(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Timeout, "the call took too long")
	}
	if errors.Is(err, evmstate.ErrTooManyReads) {
		return fault.Of(fault.TooComplex, evmstate.ErrTooManyReads)
	}
	return fmt.Errorf("running a contract: %w", err)
}

// failureOf returns why a call failed, with response code, data and reason, or nil if it succeeded.
func failureOf(r *evm.Result) *calls.ContractCallFailure {
	if !r.Failed() {
		return nil
	}
	f := &calls.ContractCallFailure{
		Code: r.Code, Data: append([]byte{}, r.Output...),
		Children: append([]ledger.ResponseCode{}, r.Children...),
	}
	switch text := evm.RevertReason(r.Output); {
	case r.Code == codes.ContractRevertExecuted && text != "":
		f.Reason = ledger.Of(text)
	case r.NoSender:
		f.Reason, f.NoSender = ledger.Of("the sender does not exist"), true
	}
	return f
}

// overrides converts the state overrides of a request to those of the EVM. The request has been validated: addresses,
// keys and values have their lengths. With a non-empty State, all slots that neither State nor StateDiff lists become
// zero.
func overrides(list []*calls.StateOverrideInput) []evm.Override {
	out := make([]evm.Override, 0, len(list))
	for _, in := range list {
		o := evm.Override{
			Address: ledger.EVMAddress(in.Address), Balance: in.BalanceValue(), Nonce: in.NonceValue(),
			Code: in.Code, All: len(in.State) > 0,
		}
		for _, slot := range append(in.State[:len(in.State):len(in.State)], in.StateDiff...) {
			if o.Slots == nil {
				o.Slots = map[[32]byte][32]byte{}
			}
			o.Slots[[32]byte(slot.Key)] = [32]byte(slot.Value)
		}
		out = append(out, o)
	}
	return out
}

// Options configure contract calls. The tags describe the flags of the command line.
type Options struct {
	// MaxGas is the maximum gas of a call.
	MaxGas int64 `name:"evm-max-gas" env:"HELIOGRAPH_EVM_MAX_GAS" min:"21000" default:"15000000" help:"Maximum gas of a contract call."`
	// GasPerSecond is the maximum gas of all calls per second. It must be at least MaxGas.
	GasPerSecond int64 `name:"evm-gas-per-second" env:"HELIOGRAPH_EVM_GAS_PER_SECOND" min:"21000" default:"7500000000" help:"Maximum gas of all contract calls per second, and so of one call."`
	// RequestsPerSecond is the maximum number of calls and estimates per second.
	RequestsPerSecond int64 `name:"evm-requests-per-second" env:"HELIOGRAPH_EVM_REQUESTS_PER_SECOND" min:"1" default:"500" help:"Maximum number of contract calls per second."`
	// TracesPerSecond is the maximum number of traces per second.
	TracesPerSecond int64 `name:"evm-traces-per-second" env:"HELIOGRAPH_EVM_TRACES_PER_SECOND" min:"1" default:"1" help:"Maximum number of traces (transactions that are executed again) per second."`
	// RefundPercent is the maximum refund of unused gas to GasPerSecond, in percent of a call's gas. It does not apply
	// to calls that used no gas or all of it: all gas of these is returned.
	RefundPercent int64 `name:"evm-refund-percent" env:"HELIOGRAPH_EVM_REFUND_PERCENT" min:"1" max:"100" default:"100" help:"Maximum unused gas of a call that is returned to the budget of gas per second, in percent of the call's gas. All gas is returned of a call that did not run or used all of it."`
	// Overrides allows calls with state overrides.
	Overrides bool `kong:"-"`
	// TracesOff disables traces.
	TracesOff bool `kong:"-"`
	// Simulations enables simulations of several calls.
	Simulations bool `kong:"-"`
	// Prestate enables the states before and after transactions.
	Prestate bool `kong:"-"`
	// ValidatePayer makes a call fail if its sender cannot pay for it.
	ValidatePayer bool `kong:"-"`
	// MinimumBalance is the balance that senders have at least, in tinybars.
	MinimumBalance int64 `name:"evm-minimum-balance" env:"HELIOGRAPH_EVM_MINIMUM_BALANCE" min:"1" default:"100000000000000000" help:"Minimum balance that senders of hbars are assumed to have, in tinybars."`
	// CalldataFloor, PragueBlock and BlockHashWindow are those of [evm.Config].
	CalldataFloor   ledger.Null[bool]  `kong:"-"`
	PragueBlock     ledger.Null[int64] `kong:"-"`
	BlockHashWindow uint64             `name:"evm-block-hash-window" env:"HELIOGRAPH_EVM_BLOCK_HASH_WINDOW" min:"1" default:"256" help:"Number of blocks whose hashes contracts can read."`
	// Timeout is the time limit of a call or an estimate.
	Timeout time.Duration `name:"evm-timeout" env:"HELIOGRAPH_EVM_TIMEOUT" min:"10ms" default:"4s" help:"Timeout of a contract call, including its database statements."`
	// TraceTimeout and SimulationTimeout are the time limits of a trace and of all calls of a simulation.
	TraceTimeout      time.Duration `name:"evm-opcodes-timeout" env:"HELIOGRAPH_EVM_OPCODES_TIMEOUT" min:"10ms" help:"Timeout of a trace. Default: the timeout of a contract call."`
	SimulationTimeout time.Duration `name:"evm-simulate-timeout" env:"HELIOGRAPH_EVM_SIMULATE_TIMEOUT" min:"10ms" help:"Timeout of a simulation of several contract calls. Default: the timeout of a contract call."`
	// CacheBytes is the maximum size of cached code. It counts as 0 if [Config.Cache] is false.
	CacheBytes uint64 `name:"evm-cache-bytes" env:"HELIOGRAPH_EVM_CACHE_BYTES" default:"67108864" help:"Maximum size of the cache of contract code in bytes, and at most an eighth of the memory limit."`
	// Filters are applied before a call runs. They must be compiled.
	Filters []Filter `kong:"-"`
	// Clock is the clock of the rate limits. It must advance even if the time of the ledger is fixed.
	Clock func() time.Time `kong:"-"`
	// SystemContracts are the network's contracts by number. Default: those of the package system.
	SystemContracts map[int64]evm.SystemContract `kong:"-"`
}

// Config has what a [Service] needs.
type Config struct {
	Options

	// DB is the mirror database. If it is nil, no call can run.
	DB     *storage.DB
	Logger *slog.Logger
	// Cache keeps code and read-ahead hints between calls.
	Cache bool
}

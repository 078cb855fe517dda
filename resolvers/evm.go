package resolvers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system"
	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// EVMOptions say how contracts are run. Zero values stand for the defaults.
type EVMOptions struct {
	// MaxGas is the most gas that a call may be given; by default 15 million.
	MaxGas int64
	// GasPerSecond bounds the gas of all calls together, by default 7.5 billion; RequestsPerSecond how many there may be, by default 500;
	// TracesPerSecond how many traces, by default 1.
	GasPerSecond, RequestsPerSecond, TracesPerSecond int64
	// RefundPercent is how much of the gas that a call did not use is given back to the bound of all; 100 by default.
	RefundPercent int64
	// Overrides allows calls on a state that differs from the ledger's.
	Overrides bool
	// TracesOff refuses to trace.
	TracesOff bool
	// ValidatePayer makes calls fail that the caller could not pay for.
	ValidatePayer bool
	// MinimumBalance is what accounts own at least, in tinybars; 10^17 by default.
	MinimumBalance int64
	// CalldataFloor charges data at least by the price of Prague.
	CalldataFloor bool
	// Timeout bounds each call; 10 seconds by default.
	Timeout time.Duration
	// CacheBytes bounds the code that is remembered; 64 MiB by default, nothing where the cache is off.
	CacheBytes uint64
	// Filters are looked at before anything runs.
	Filters []evm.Filter
	// Clock is the clock of the bounds, which has to go on even where the ledger's stands still; by default that of the resolvers.
	Clock func() time.Time
	// SystemContracts are contracts of the network besides those that are always there, by their numbers; those of the package system by default.
	SystemContracts map[int64]evm.SystemContract
}

const (
	defaultMaxGas            = 15_000_000
	defaultGasPerSecond      = 7_500_000_000
	defaultRequestsPerSecond = 500
	defaultTracesPerSecond   = 1
	defaultEVMTimeout        = 10 * time.Second
	defaultEVMCache          = 64 << 20
	gasUnit                  = 10_000 // in which the bound of all calls counts
)

// orDefault replaces a zero value.
func orDefault[T comparable](v *T, by T) {
	var zero T
	if *v == zero {
		*v = by
	}
}

// executor runs contracts for the graph.
type executor struct {
	o                     EVMOptions
	machine               *evm.Machine
	reader                *storage.EVM
	db                    *storage.DB
	gas, requests, traces *evm.Bucket
	filters               *evm.Filters
	// running has room for each call that runs: the others wait, since a call can use more than ten megabytes of memory before its gas is used up.
	running chan struct{}
}

// fewestRunning is how many calls run at once on a machine with few processors. More would not be sooner done.
const fewestRunning = 8

// Texts that tell of bounds.
const (
	tooManyRequests = "Requests per second rate limit exceeded"
	tooMuchGas      = "Gas per second rate limit exceeded."
	refusedRequest  = "Invalid request"
)

func newExecutor(o Options) *executor {
	e := o.EVM
	orDefault(&e.MaxGas, defaultMaxGas)
	orDefault(&e.GasPerSecond, defaultGasPerSecond)
	orDefault(&e.RequestsPerSecond, defaultRequestsPerSecond)
	orDefault(&e.TracesPerSecond, defaultTracesPerSecond)
	orDefault(&e.RefundPercent, 100)
	orDefault(&e.MinimumBalance, evm.DefaultMinimumBalance)
	orDefault(&e.Timeout, defaultEVMTimeout)
	orDefault(&e.CacheBytes, defaultEVMCache)
	if !o.Cache {
		e.CacheBytes = 0
	}
	if e.Clock == nil {
		e.Clock = o.Now
	}
	if e.Clock == nil {
		e.Clock = func() time.Time { return time.Time{} } // nothing is run where there is no clock
	}
	x := &executor{
		o: e, db: o.DB,
		gas: evm.NewBucket(e.GasPerSecond/gasUnit, e.Clock), requests: evm.NewBucket(e.RequestsPerSecond, e.Clock), traces: evm.NewBucket(e.TracesPerSecond, e.Clock),
		filters: evm.NewFilters(e.Filters, e.Clock, o.Logger), running: make(chan struct{}, max(fewestRunning, runtime.GOMAXPROCS(0))),
	}
	if o.DB == nil {
		return x
	}
	x.reader = o.DB.NewEVM(e.CacheBytes)
	if e.SystemContracts == nil {
		e.SystemContracts = system.Contracts(system.Config{ChainID: o.DB.ChainID(), Base: o.DB.SystemEntity(0)})
	}
	x.machine = evm.New(evm.Config{
		ChainID: o.DB.ChainID(), SystemContracts: e.SystemContracts, MinimumBalance: e.MinimumBalance, ValidatePayer: e.ValidatePayer,
		CalldataFloor: e.CalldataFloor, CacheBytes: e.CacheBytes,
	})
	return x
}

// admit takes a call's share of what may be done in a second; done gives back what was not used.
func (x *executor) admit(ctx context.Context, in *ledger.ContractCallInput, estimate bool) (done func(used int64), err error) {
	if complaints := in.Complaints(); len(complaints) > 0 {
		return nil, fault.Input("%s", strings.Join(complaints, "; "))
	}
	switch x.filters.Judge(ctx, in, estimate) {
	case evm.Reject:
		return nil, fault.Input(refusedRequest)
	case evm.Throttle:
		return nil, &fault.Error{Code: fault.RateLimited, Message: tooManyRequests}
	case evm.Log:
	}
	if !x.requests.Take(1) {
		return nil, &fault.Error{Code: fault.RateLimited, Message: tooManyRequests}
	}
	units := in.Gas / gasUnit
	if in.Gas <= gasUnit {
		units = 0
	}
	if !x.gas.Take(units) {
		return nil, &fault.Error{Code: fault.RateLimited, Message: tooMuchGas}
	}
	if in.Gas > x.o.MaxGas {
		x.gas.Give(units)
		return nil, fault.Input("gas field must be less than or equal to %d", x.o.MaxGas)
	}
	return func(used int64) {
		if used <= 0 || used >= in.Gas {
			x.gas.Give(units)
			return
		}
		x.gas.Give(min(in.Gas-used, in.Gas*x.o.RefundPercent/100) / gasUnit)
	}, nil
}

// run runs a call or finds out its gas. number is the block in which it ran.
func (x *executor) run(ctx context.Context, in *ledger.ContractCallInput, estimate bool) (result *evm.Result, number int64, err error) {
	done, err := x.admit(ctx, in, estimate)
	if err != nil {
		return nil, 0, err
	}
	used := int64(0)
	defer func() { done(used) }()
	if len(in.StateOverrides) > 0 && !x.o.Overrides {
		return nil, 0, fault.Input(`400 BAD_REQUEST "State overrides are not supported."`)
	}
	ref, err := ledger.ParseEVMBlockRef(in.Block)
	if err != nil {
		return nil, 0, fault.Input("JSON parse error: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, x.o.Timeout)
	defer cancel()
	select {
	case x.running <- struct{}{}:
		defer func() { <-x.running }()
	case <-ctx.Done():
		return nil, 0, x.failure(ctx.Err())
	}
	message := evm.Message{
		From: in.Sender(), To: in.Callee(), Data: in.Data, Value: in.Value, Gas: uint64(in.Gas), GasPrice: in.GasPrice,
	}
	sim, snapshot, err := x.open(ctx, ref, &message)
	if err != nil {
		return nil, 0, err
	}
	defer snapshot.Close()
	if err := sim.Override(overrides(in.StateOverrides)); err != nil {
		return nil, 0, fmt.Errorf("changing the state of a call: %w", err)
	}
	call := sim.Call
	if estimate {
		call = sim.Estimate
	}
	if result, err = call(message); err != nil {
		return nil, 0, x.failure(err)
	}
	used = int64(result.GasUsed)
	return result, snapshot.Block().Number, nil
}

// open begins a simulation of a message.
func (x *executor) open(ctx context.Context, ref ledger.EVMBlockRef, m *evm.Message) (*evm.Simulation, *storage.EVMSnapshot, error) {
	r := storage.EVMRequest{Block: ref, Callee: m.To.V}
	copy(r.Selector[:], m.Data)
	switch {
	case m.From.Valid && m.From.V != ledger.EVMAddress{}:
		r.Addresses = append(r.Addresses, m.From.V)
	default:
		r.Addresses = append(r.Addresses, ledger.EntityID(2).LongZero())
	}
	if m.To.Valid {
		r.Addresses = append(r.Addresses, m.To.V)
	}
	snapshot, err := x.reader.Open(ctx, r)
	switch {
	case errors.Is(err, storage.ErrNoBlock):
		return nil, nil, fault.Input("Unknown block number")
	case err != nil:
		return nil, nil, x.failure(err)
	}
	return x.machine.Begin(ctx, snapshot, snapshot.Block()), snapshot, nil
}

// failure is what is told of trouble that is not the contract's.
func (x *executor) failure(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &fault.Error{Code: fault.Timeout, Message: "the call took too long"}
	default:
		return fmt.Errorf("running a contract: %w", err)
	}
}

// failureOf is why a call failed; nil when it did not. The REST side is told too, which has no answer then.
func failureOf(ctx context.Context, r *evm.Result) *ledger.ContractCallFailure {
	if !r.Failed() {
		return nil
	}
	f := &ledger.ContractCallFailure{Code: r.Code, Data: append([]byte{}, r.Output...), Children: append([]ledger.ResponseCode{}, r.Children...)}
	switch text := evm.RevertReason(r.Output); {
	case r.Code == evm.ContractRevertExecuted && text != "":
		f.Reason = ledger.Of(text)
	case r.Detail != "":
		f.Reason = ledger.Of(r.Detail)
	}
	h := relay.HintsOf(ctx)
	h.Lacks, h.CallFailure = "call", f
	return f
}

// overrides reads what is different from the ledger.
func overrides(list []*ledger.StateOverrideInput) []evm.Override {
	out := make([]evm.Override, 0, len(list))
	for _, in := range list {
		o := evm.Override{
			Address: ledger.EVMAddress(in.Address), Balance: in.BalanceValue(), Nonce: in.NonceValue(), Code: in.Code, All: in.State != nil,
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

// callContract runs a call.
func (r *Resolver) callContract(ctx context.Context, in *ledger.ContractCallInput) (*ledger.ContractCall, error) {
	result, block, err := r.evm.run(ctx, in, false)
	if err != nil {
		return nil, err
	}
	call := &ledger.ContractCall{BlockNumber: block, GasUsed: int64(result.GasUsed), Failure: failureOf(ctx, result)}
	if call.Failure == nil {
		call.Output = append([]byte{}, result.Output...)
	}
	return call, nil
}

// estimateGas finds out how much gas a call needs.
func (r *Resolver) estimateGas(ctx context.Context, in *ledger.ContractCallInput) (*ledger.GasEstimate, error) {
	result, block, err := r.evm.run(ctx, in, true)
	if err != nil {
		return nil, err
	}
	estimate := &ledger.GasEstimate{BlockNumber: block, Failure: failureOf(ctx, result)}
	if estimate.Failure == nil {
		estimate.Gas = ledger.Of(int64(result.GasUsed))
	}
	return estimate, nil
}

// callOf calls one contract.
func (r *Resolver) callOf(ctx context.Context, c *ledger.Contract, in *ledger.ContractCallInput) (*ledger.ContractCall, error) {
	address := c.EntityID.LongZero()
	in.To = address[:]
	return r.callContract(ctx, in)
}

package contractcalls

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"heliograph/graph/fault"
	"heliograph/internal/domain/evm/calls"
)

// limits decides which requests run. It may be used by several goroutines at the same time.
type limits struct {
	o                Options
	requests, traces *rate.Limiter
	gas              *gasBudget
	filters          *filters
}

func newLimits(c Config, o Options) *limits {
	return &limits{
		o: o, requests: perSecond(o.RequestsPerSecond), traces: perSecond(o.TracesPerSecond), gas: newGasBudget(o.GasPerSecond/gasUnit, o.Clock),
		filters: newFilters(o.Filters, o.Clock, c.Logger),
	}
}

// perSecond returns a limiter that admits n events per second, and n at once.
func perSecond(n int64) *rate.Limiter { return rate.NewLimiter(rate.Limit(n), int(n)) }

func rateLimited(err error) error { return fault.Of(fault.RateLimited, err) }

func invalid(err error) error { return fault.Of(fault.BadUserInput, err) }

// admit validates a call and applies the limits. The caller must call done with the gas that the call used.
func (l *limits) admit(ctx context.Context, in *calls.ContractCallInput, estimate bool) (done func(used int64), err error) {
	if violations := in.Validate(); len(violations) > 0 {
		return nil, fault.Input("%s", joined(violations))
	}
	switch l.filters.apply(ctx, in, estimate) {
	case Reject:
		return nil, invalid(calls.ErrRejected)
	case Throttle:
		return nil, rateLimited(calls.ErrRequestRate)
	case Log:
	}
	if !l.requests.AllowN(l.o.Clock(), 1) {
		return nil, rateLimited(calls.ErrRequestRate)
	}
	units := in.Gas / gasUnit
	if in.Gas <= gasUnit {
		units = 0
	}
	if !l.gas.take(units) {
		return nil, rateLimited(calls.ErrGasRate)
	}
	if in.Gas > l.o.MaxGas {
		l.gas.refund(units)
		return nil, invalid(&calls.InputError{Field: "gas", Rule: calls.AtMost, Bound: l.o.MaxGas})
	}
	return func(used int64) {
		if used <= 0 || used >= in.Gas {
			l.gas.refund(units)
			return
		}
		l.gas.refund(min(in.Gas-used, in.Gas*l.o.RefundPercent/100) / gasUnit)
	}, nil
}

func joined(violations []*calls.InputError) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.Error()
	}
	return strings.Join(texts, "; ")
}

// admitTrace applies the limit of traces.
func (l *limits) admitTrace() error {
	if !l.traces.AllowN(l.o.Clock(), 1) {
		return rateLimited(calls.ErrRequestRate)
	}
	return nil
}

// gasUnit is the gas that the budget counts as one.
const gasUnit = 10_000

// gasBudget is a token bucket for gas. It is not a [rate.Limiter], because calls return unused gas after they ran: a reservation of a Limiter can only be
// canceled as a whole, and before its time.
type gasBudget struct {
	clock func() time.Time
	rate  float64 // units per second, and the capacity

	mu      sync.Mutex
	units   float64
	updated time.Time
}

// newGasBudget returns a full bucket.
func newGasBudget(perSecond int64, clock func() time.Time) *gasBudget {
	return &gasBudget{clock: clock, rate: float64(perSecond), units: float64(perSecond), updated: clock()}
}

// take removes n units and reports true, or removes none if fewer are left.
func (b *gasBudget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock()
	if elapsed := now.Sub(b.updated); elapsed > 0 {
		b.units, b.updated = min(b.rate, b.units+b.rate*elapsed.Seconds()), now
	}
	if float64(n) > b.units {
		return false
	}
	b.units -= float64(n)
	return true
}

// refund returns n units.
func (b *gasBudget) refund(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.units = min(b.rate, b.units+float64(n))
}

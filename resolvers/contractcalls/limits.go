package contractcalls

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"heliograph/graph/fault"
	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
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
		return nil, fault.Input("%s", strings.Join(list.Map(violations, (*calls.InputError).Error), "; "))
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

func (b *gasBudget) refund(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.units = min(b.rate, b.units+float64(n))
}

// Action is what a [Filter] does with a request that it matches.
type Action string

// The actions of filters.
const (
	Log      Action = "LOG"
	Reject   Action = "REJECT"
	Throttle Action = "THROTTLE"
)

// Filter logs, rejects or throttles requests whose field matches a pattern.
type Filter struct {
	// Field is the field to match: BLOCK, DATA, ESTIMATE, FROM, GAS, TO or VALUE. Data and addresses are lower-case hex without 0x.
	Field string `json:"field"`
	// Pattern is a regular expression.
	Pattern string `json:"pattern"`
	Action  Action `json:"action"`
	// Limit is the maximum number of matching requests per second. Used by THROTTLE.
	Limit int64 `json:"limit"`

	match *regexp.Regexp
}

// Compile validates the filter and compiles its pattern. It must be called before the filter is used.
func (f *Filter) Compile() (err error) {
	switch f.Action {
	case Log, Reject, Throttle:
	default:
		return fmt.Errorf("invalid action %q: use LOG, REJECT or THROTTLE", f.Action)
	}
	switch f.Field {
	case "BLOCK", "DATA", "ESTIMATE", "FROM", "GAS", "TO", "VALUE":
	default:
		return fmt.Errorf("invalid field %q: use BLOCK, DATA, ESTIMATE, FROM, GAS, TO or VALUE", f.Field)
	}
	f.match, err = regexp.Compile(f.Pattern)
	return wrap.Error(err, "invalid pattern %q", f.Pattern)
}

// filters is the ordered list of filters.
type filters struct {
	list     []Filter
	limiters []*rate.Limiter // of THROTTLE
	clock    func() time.Time
	log      *slog.Logger
}

func newFilters(list []Filter, clock func() time.Time, log *slog.Logger) *filters {
	f := &filters{list: list, limiters: make([]*rate.Limiter, len(list)), clock: clock, log: log}
	for i := range list {
		f.limiters[i] = perSecond(list[i].Limit)
	}
	return f
}

// apply returns [Reject] or [Throttle] if the request must not run, else [Log].
func (f *filters) apply(ctx context.Context, in *calls.ContractCallInput, estimate bool) Action {
	for i := range f.list {
		filter := &f.list[i]
		if !filter.match.MatchString(fieldOf(filter.Field, in, estimate)) {
			continue
		}
		switch filter.Action {
		case Reject:
			return Reject
		case Throttle:
			if !f.limiters[i].AllowN(f.clock(), 1) {
				return Throttle
			}
		default:
			f.log.InfoContext(ctx, "contract call matches a filter", "field", filter.Field, "pattern", filter.Pattern, "to", hex.EncodeToString(in.To),
				"from", hex.EncodeToString(in.From), "data", hex.EncodeToString(in.Data[:min(len(in.Data), 68)]), "gas", in.Gas, "value", in.Value)
		}
	}
	return Log
}

// fieldOf returns the text of a request's field.
func fieldOf(name string, in *calls.ContractCallInput, estimate bool) string {
	switch name {
	case "BLOCK":
		return in.Block
	case "DATA":
		return hex.EncodeToString(in.Data)
	case "ESTIMATE":
		return strconv.FormatBool(estimate)
	case "FROM":
		return hex.EncodeToString(in.From)
	case "GAS":
		return strconv.FormatInt(in.Gas, 10)
	case "TO":
		return hex.EncodeToString(in.To)
	default:
		return strconv.FormatInt(in.Value, 10)
	}
}

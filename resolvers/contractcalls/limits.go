package contractcalls

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/time/rate"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/evm/calls"
)

// limits decides which requests run. It may be used by several goroutines at the same time.
type limits struct {
	o                                Options
	requests, traces, prestates, gas *rate.Limiter   // gas is counted in units of gasUnit
	throttles                        []*rate.Limiter // of the filters
	log                              *slog.Logger
}

// newLimits returns the limits of contract calls: requests, traces and gas per second, and the filters of requests.
func newLimits(c Config, o Options) *limits {
	return &limits{
		o: o, requests: perSecond(o.RequestsPerSecond), traces: perSecond(o.TracesPerSecond),
		prestates: perSecond(o.TracesPerSecond), gas: perSecond(o.GasPerSecond / gasUnit),
		throttles: list.Map(o.Filters, func(f Filter) *rate.Limiter { return perSecond(f.Limit) }), log: c.Logger,
	}
}

// perSecond returns a limiter that admits n events per second, and n at once.
func perSecond(n int64) *rate.Limiter { return rate.NewLimiter(rate.Limit(n), int(n)) }

// rateLimited returns the RATE_LIMITED error with the message of err, which clients see.
func rateLimited(err error) error { return fault.Of(fault.RateLimited, err) }

// invalid returns the BAD_USER_INPUT error with the message of err, which clients see.
func invalid(err error) error { return fault.Of(fault.BadUserInput, err) }

// admit validates a call, or an estimate, and takes it from the limits: filters, requests and gas per second. The
// caller must call done with the gas that the call used, so that the rest is refunded. If admit fails, done is nil and
// nothing is to be done: an invalid or rejected call is BAD_USER_INPUT, one above a rate RATE_LIMITED. A call with
// more than MaxGas is BAD_USER_INPUT too if the rates permit one with MaxGas, and remains counted as a request.
func (l *limits) admit(
	ctx context.Context, in *calls.ContractCallInput, estimate bool,
) (done func(used int64), err error) {
	if violations := in.Validate(); len(violations) > 0 {
		return nil, fault.Input("%s", strings.Join(list.Map(violations, (*calls.InputError).Error), "; "))
	}
	if err := l.filter(ctx, in, estimate); err != nil {
		return nil, err
	}
	if done, err = l.reserve(min(in.Gas, l.o.MaxGas)); err != nil {
		return nil, err
	}
	if in.Gas > l.o.MaxGas {
		done(0)
		return nil, l.tooMuchGas("gas")
	}
	return done, nil
}

// admitAll validates the calls of a simulation and takes them from the limits as one request, with the sum of their
// gas. The caller must call done with the gas that all calls used. It fails with FORBIDDEN if simulations are off,
// with BAD_USER_INPUT for an invalid or rejected call, more than MaxGas or state overrides that are off, and with
// RATE_LIMITED above a rate. If it fails, nothing is to be done. It does not change in.
func (l *limits) admitAll(ctx context.Context, in *calls.SimulationInput) (done func(used int64), err error) {
	if violations := in.Validate(); len(violations) > 0 {
		return nil, fault.Input("%s", strings.Join(list.Map(violations, (*calls.InputError).Error), "; "))
	}
	switch {
	case !l.o.Simulations:
		return nil, fault.Of(fault.Forbidden, calls.ErrSimulateDisabled)
	case in.HasOverrides() && !l.o.Overrides:
		return nil, invalid(calls.ErrOverridesDisabled)
	}
	gas := int64(0)
	for i, call := range in.Calls() {
		if call.Gas > l.o.MaxGas {
			return nil, l.tooMuchGas("calls[" + strconv.Itoa(i) + "].gas")
		}
		gas = min(gas, math.MaxInt64-call.Gas) + call.Gas
	}
	for _, call := range in.Calls() {
		call.Block = in.Block
		if err := l.filter(ctx, call, false); err != nil {
			return nil, err
		}
	}
	return l.reserve(gas)
}

// tooMuchGas returns the BAD_USER_INPUT error for an input whose field, which is named as clients see it, has more gas
// than MaxGas.
func (l *limits) tooMuchGas(field string) error {
	return invalid(&calls.InputError{Field: field, Rule: calls.AtMost, Bound: l.o.MaxGas})
}

// filter returns an error if the operator's filters do not permit a call, or an estimate: BAD_USER_INPUT if they
// reject it, RATE_LIMITED if they throttle it. Filters apply in their order until one does not permit it. A filter that
// throttles counts a call that it permits, and one for the log logs the call, also if a later filter does not permit
// it.
func (l *limits) filter(ctx context.Context, in *calls.ContractCallInput, estimate bool) error {
	for i, filter := range l.o.Filters {
		switch {
		case !filter.match.MatchString(fields[filter.Field](in, estimate)):
		case filter.Action == Reject:
			return invalid(calls.ErrRejected)
		case filter.Action == Log:
			l.log.InfoContext(ctx, "contract call matches a filter", "field", filter.Field, "pattern", filter.Pattern,
				"to", hex.EncodeToString(in.To),
				"from", hex.EncodeToString(in.From), "data", hex.EncodeToString(in.Data[:min(len(in.Data), 68)]),
				"gas", in.Gas, "value", in.Value)
		case !l.allow(l.throttles[i], 1):
			return rateLimited(calls.ErrRequestRate)
		}
	}
	return nil
}

// reserve takes a request and gas from the budgets per second, or fails with RATE_LIMITED; if only the gas is missing,
// the request remains counted. The caller must call done with the gas that was used; the rest is refunded, up to
// RefundPercent of gas. If none or all of it was used, all is refunded. Gas of at most gasUnit is not counted. More
// gas than GasPerSecond fails always.
func (l *limits) reserve(gas int64) (done func(used int64), err error) {
	if !l.allow(l.requests, 1) {
		return nil, rateLimited(calls.ErrRequestRate)
	}
	units := gas / gasUnit
	if gas <= gasUnit {
		units = 0
	}
	if !l.allow(l.gas, units) {
		return nil, rateLimited(calls.ErrGasRate)
	}
	return func(used int64) {
		unused := units
		if used > 0 && used < gas {
			unused = min(gas-used, gas/100*l.o.RefundPercent+gas%100*l.o.RefundPercent/100) / gasUnit
		}
		l.allow(l.gas, -unused)
	}, nil
}

// allow reports whether a limiter admits n events now, and counts them. A negative number returns events that did not
// take place, up to those of a second.
func (l *limits) allow(of *rate.Limiter, n int64) bool { return of.AllowN(l.o.Clock(), int(n)) }

// admitOne returns a RATE_LIMITED error if a limiter does not admit a request now, else it counts the request. It
// does nothing for requests that are admitted already; see [relay.Admitted].
func (l *limits) admitOne(ctx context.Context, of *rate.Limiter) error {
	if relay.Admitted(ctx) || l.allow(of, 1) {
		return nil
	}
	return rateLimited(calls.ErrRequestRate)
}

// gasUnit is the gas that the budget counts as one.
const gasUnit = 10_000

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
	// Field is the field to match: BLOCK, DATA, ESTIMATE, FROM, GAS, TO or VALUE. Data and addresses are lower-case
	// hex without 0x.
	Field string `json:"field"`
	// Pattern is a regular expression.
	Pattern string `json:"pattern"`
	Action  Action `json:"action"`
	// Limit is the maximum number of matching requests per second, 1 or more. Used by THROTTLE.
	Limit int64 `json:"limit"`

	match *regexp.Regexp
}

// Compile validates the filter and compiles its pattern into it. It must be called before the filter is used. It fails
// for an unknown action or field and for an invalid pattern.
func (f *Filter) Compile() (err error) {
	switch f.Action {
	case Log, Reject, Throttle:
	default:
		return fmt.Errorf("invalid action %q: use LOG, REJECT or THROTTLE", f.Action)
	}
	if f.Action == Throttle && f.Limit < 1 {
		return fmt.Errorf("invalid limit %d: use 1 or more", f.Limit)
	}
	if fields[f.Field] == nil {
		return fmt.Errorf("invalid field %q: use BLOCK, DATA, ESTIMATE, FROM, GAS, TO or VALUE", f.Field)
	}
	f.match, err = regexp.Compile(f.Pattern)
	return wrap.Error(err, "invalid pattern %q", f.Pattern)
}

// fields return the texts of the fields of requests.
var fields = map[string]func(in *calls.ContractCallInput, estimate bool) string{
	"BLOCK":    func(in *calls.ContractCallInput, _ bool) string { return in.Block },
	"DATA":     func(in *calls.ContractCallInput, _ bool) string { return hex.EncodeToString(in.Data) },
	"ESTIMATE": func(_ *calls.ContractCallInput, estimate bool) string { return strconv.FormatBool(estimate) },
	"FROM":     func(in *calls.ContractCallInput, _ bool) string { return hex.EncodeToString(in.From) },
	"GAS":      func(in *calls.ContractCallInput, _ bool) string { return strconv.FormatInt(in.Gas, 10) },
	"TO":       func(in *calls.ContractCallInput, _ bool) string { return hex.EncodeToString(in.To) },
	"VALUE":    func(in *calls.ContractCallInput, _ bool) string { return strconv.FormatInt(in.Value, 10) },
}

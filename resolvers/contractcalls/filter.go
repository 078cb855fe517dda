package contractcalls

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"heliograph/internal/domain/evm/calls"
)

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
	if f.match, err = regexp.Compile(f.Pattern); err != nil {
		return fmt.Errorf("invalid pattern %q: %w", f.Pattern, err)
	}
	return nil
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

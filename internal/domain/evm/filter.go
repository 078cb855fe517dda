package evm

import (
	"context"
	"encoding/hex"
	"log/slog"
	"regexp"
	"strconv"
	"time"

	"heliograph/internal/domain/ledger"
)

// Action is what is done with a request that a filter matches.
type Action string

// The actions. Log is done in passing; it is also what is done with a request that no filter minds.
const (
	Log      Action = "LOG"
	Reject   Action = "REJECT"
	Throttle Action = "THROTTLE"
)

// Filter says what is done with some requests before they run.
type Filter struct {
	// Field is what is looked at: BLOCK, DATA, ESTIMATE, FROM, GAS, TO or VALUE. Data and addresses are hex without 0x, in lower case.
	Field string `json:"field"`
	// Pattern is a regular expression that is looked for in it.
	Pattern string `json:"pattern"`
	Action  Action `json:"action"`
	// Limit is how many matching requests THROTTLE lets through in a second.
	Limit int64 `json:"limit"`

	match *regexp.Regexp
}

// Compile checks the filter. It must be called before the filter is used.
func (f *Filter) Compile() (err error) {
	switch f.Action {
	case Log, Reject, Throttle:
	default:
		return &filterError{"action", string(f.Action)}
	}
	switch f.Field {
	case "BLOCK", "DATA", "ESTIMATE", "FROM", "GAS", "TO", "VALUE":
	default:
		return &filterError{"field", f.Field}
	}
	if f.match, err = regexp.Compile(f.Pattern); err != nil {
		return &filterError{"pattern", f.Pattern}
	}
	return nil
}

// filterError tells which part of a filter cannot be.
type filterError struct{ part, value string }

func (e *filterError) Error() string {
	return "a filter cannot have the " + e.part + " " + strconv.Quote(e.value)
}

// Filters are all filters, in their order.
type Filters struct {
	list    []Filter
	buckets []*Bucket
	log     *slog.Logger
}

// NewFilters makes filters, which have been compiled. The clock is that of THROTTLE.
func NewFilters(list []Filter, now func() time.Time, log *slog.Logger) *Filters {
	f := &Filters{list: list, buckets: make([]*Bucket, len(list)), log: log}
	for i := range list {
		f.buckets[i] = NewBucket(list[i].Limit, now)
	}
	return f
}

// Judge tells what is done with a request: [Reject], [Throttle] when it is one too many, or nothing but [Log].
func (f *Filters) Judge(ctx context.Context, in *ledger.ContractCallInput, estimate bool) Action {
	for i := range f.list {
		filter := &f.list[i]
		if !filter.match.MatchString(fieldOf(filter.Field, in, estimate)) {
			continue
		}
		switch filter.Action {
		case Reject:
			return Reject
		case Throttle:
			if !f.buckets[i].Take(1) {
				return Throttle
			}
		default:
			f.log.InfoContext(ctx, "a contract call", "field", filter.Field, "pattern", filter.Pattern, "to", hex.EncodeToString(in.To),
				"from", hex.EncodeToString(in.From), "data", hex.EncodeToString(in.Data[:min(len(in.Data), 68)]), "gas", in.Gas, "value", in.Value)
		}
	}
	return Log
}

// fieldOf is the text of a field.
func fieldOf(name string, in *ledger.ContractCallInput, estimate bool) string {
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

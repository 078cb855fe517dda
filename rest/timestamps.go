package rest

import (
	"time"

	"heliograph/internal/domain/ledger"
)

// TimestampSet is a set of timestamp conditions: a range and single timestamps.
type TimestampSet struct {
	c *conditions[int64]
	// values are the conditions of the request, before they are merged.
	values []Value
	// bounded replaces the range of the conditions after [TimestampSet.Bound].
	bounded *Range
}

// TimestampFilter returns the timestamp conditions of a parameter.
func (r *Request) TimestampFilter(name string) (*TimestampSet, error) {
	return TimestampsOf(r.Values(name))
}

// TimestampsOf returns the timestamp conditions of values.
func TimestampsOf(values []Value) (*TimestampSet, error) {
	s := &TimestampSet{c: &conditions[int64]{}, values: values}
	for _, v := range values {
		if err := addTimestamp(nil, s.c, v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// MaxTimestampRange is the maximum range of endpoints that require one. Error texts contain its text form.
const (
	MaxTimestampRange     = 7 * 24 * time.Hour
	maxTimestampRangeText = "7d"
)

// TimestampRules are the rules of an endpoint for timestamp conditions. The zero TimestampRules accepts all
// conditions.
type TimestampRules struct {
	// Required requires at least one condition.
	Required bool
	// NoNe rejects "ne". It has an effect only together with Strict.
	NoNe bool
	// Closed requires both ends of a range, unless the conditions include a single timestamp.
	Closed bool
	// Strict allows one bound per side. A single timestamp must be the only condition.
	Strict bool
	// Bounded requires a range that is not empty and not longer than [MaxTimestampRange].
	Bounded bool
}

// StrictTimestamps returns the rules of endpoints that require a timestamp or a short range.
func StrictTimestamps() TimestampRules {
	return TimestampRules{Required: true, NoNe: true, Closed: true, Strict: true, Bounded: true}
}

// Check returns the text for the first violated rule, or "".
func (s *TimestampSet) Check(rules TimestampRules) string {
	n := map[Op]int{}
	for _, v := range s.values {
		n[v.Op]++
	}
	lower, upper := n[Gt]+n[Gte], n[Lt]+n[Lte]
	span := spanOf(s.c)
	switch {
	case rules.Required && len(s.values) == 0:
		return "No timestamp range or eq operator provided"
	case rules.Strict && rules.NoNe && n[Ne] > 0:
		return "Not equals operator not supported for timestamp param"
	case rules.Strict && lower > 1:
		return "Multiple gt or gte operators not permitted for timestamp param"
	case rules.Strict && upper > 1:
		return "Multiple lt or lte operators not permitted for timestamp param"
	case rules.Strict && n[Eq] > 0 && n[Eq] < len(s.values):
		return "Cannot combine eq with ne, gt, gte, lt, or lte for timestamp param"
	case rules.Closed && n[Eq] == 0 && len(s.values) > 0 && (lower == 0 || upper == 0):
		return "Timestamp range must have gt (or gte) and lt (or lte), or eq operator"
	case rules.Bounded && lower > 0 && upper > 0 && !span.within(MaxTimestampRange):
		return "Timestamp range by the lower and upper bounds must be positive and within " + maxTimestampRangeText
	default:
		return ""
	}
}

// Empty reports whether the range is empty.
func (s *TimestampSet) Empty() bool {
	span := spanOf(s.c)
	return span.Empty()
}

// Contradicts reports whether the conditions require two different timestamps.
func (s *TimestampSet) Contradicts() bool { return len(s.c.eq) > 1 }

// AnyInstant makes several single timestamps alternatives. By default they contradict each other.
func (s *TimestampSet) AnyInstant() { s.c.any = true }

// HasEq reports whether the conditions include a single timestamp.
func (s *TimestampSet) HasEq() bool { return s.c.hasEq }

// Filter returns the graph's filter, or nil without conditions.
func (s *TimestampSet) Filter() map[string]any {
	f := s.c.filter()
	if s.bounded == nil {
		return f
	}
	out := s.bounded.timestamps()
	if not, ok := f["notIn"]; ok && out["in"] == nil {
		out["notIn"] = not
	}
	return out
}

// AsOf returns the graph's filter for versions, or nil without conditions. A single timestamp means "at or before", so
// the earliest of several applies, and one that is later than that of any row restricts nothing.
func (s *TimestampSet) AsOf() map[string]any {
	c := *s.c
	c.any, c.hasEq = true, len(c.eq) > 0
	return c.filter()
}

// Bound closes an open range with the first transaction and the current time, and cuts it to the maximum length. In
// descending order it keeps the newest part, otherwise the oldest. A page of a cut range has a next link even if it is
// not full.
func (s *TimestampSet) Bound(r *Request, first func() (ledger.Timestamp, error)) error {
	b := spanOf(s.c)
	if !b.HasLower {
		at, err := first()
		if err != nil {
			return err
		}
		b.Lower = int64(at)
	}
	if !b.HasUpper {
		b.Upper = r.Config.Now().UnixNano()
	}
	b.HasLower, b.HasUpper = true, true
	if most := int64(r.Config.MaxTransactionsRange); b.Upper-b.Lower >= most { // adding one could overflow
		if r.Desc {
			b.Lower = b.Upper - most + 1
			r.Cut = &b.Lower
		} else {
			b.Upper = b.Lower + most - 1
			r.Cut = &b.Upper
		}
	}
	s.bounded = &b
	return nil
}

package rest

import (
	"time"

	"heliograph/internal/domain/ledger"
)

// TimestampSet is what a query says of the time of transactions: a span and instants.
type TimestampSet struct {
	c *conditions[int64]
	// values are the conditions as they were given, before several bounds of one side become one.
	values []Value
	// bounded replaces the span of the conditions when it was bounded.
	bounded *span
}

// TimestampFilter reads a parameter as a set of timestamps.
func (r *Request) TimestampFilter(name string) (*TimestampSet, error) {
	return TimestampsOf(r.Values(name))
}

// TimestampsOf makes a set of values that a parameter of timestamps takes.
func TimestampsOf(values []Value) (*TimestampSet, error) {
	c, err := timestampConditions(values)
	if err != nil {
		return nil, err
	}
	return &TimestampSet{c: c, values: values}, nil
}

// MaxTimestampRange is the longest range in which endpoints look that need one. Its text stands in their errors.
const (
	MaxTimestampRange     = 7 * 24 * time.Hour
	maxTimestampRangeText = "7d"
)

// TimestampRules say what an endpoint asks of a set of timestamps. The zero TimestampRules asks nothing.
type TimestampRules struct {
	// Required wants one condition at least.
	Required bool
	// NoNe refuses "not equal"; it is looked at only where the rules are Strict.
	NoNe bool
	// Closed wants both ends of a range, unless an instant is asked for.
	Closed bool
	// Strict allows one bound on each side, and an instant only alone.
	Strict bool
	// Bounded wants the range to hold something, and to be no longer than [MaxTimestampRange].
	Bounded bool
}

// StrictTimestamps are the rules of searches that need an instant or a range of few days.
func StrictTimestamps() TimestampRules {
	return TimestampRules{Required: true, NoNe: true, Closed: true, Strict: true, Bounded: true}
}

// Check tells the first rule that the set breaks, empty when it breaks none.
func (s *TimestampSet) Check(rules TimestampRules) string {
	n := map[Op]int{}
	for _, v := range s.values {
		n[v.Op]++
	}
	lower, upper := n[Gt]+n[Gte], n[Lt]+n[Lte]
	span := s.c.span(identity)
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

// within tells whether the span holds an instant at least, and most at most: both ends count. Spans begin after 1970, so that they have a length.
func (s span) within(most time.Duration) bool {
	return s.lower <= s.upper && s.upper-s.lower < int64(most)
}

func identity(v int64) int64 { return v }

// Empty tells whether no instant can be in the span.
func (s *TimestampSet) Empty() bool { return s.c.span(identity).empty() }

// Contradicts tells whether two different instants are asked for.
func (s *TimestampSet) Contradicts() bool { return len(s.c.eq) > 1 }

// AnyInstant makes several instants alternatives; otherwise they contradict each other.
func (s *TimestampSet) AnyInstant() { s.c.any = true }

// HasEq tells whether an instant is asked for.
func (s *TimestampSet) HasEq() bool { return s.c.hasEq }

// Filter is the graph's filter, nil when there are no conditions.
func (s *TimestampSet) Filter() map[string]any {
	f := s.c.filter()
	switch {
	case s.bounded == nil:
		return f
	case s.bounded.upper < 0: // no instant can be written that comes before the first
		return map[string]any{"in": []any{}}
	}
	out := map[string]any{
		"gte": ledger.Timestamp(s.bounded.lower).String(),
		"lte": ledger.Timestamp(s.bounded.upper).String(),
	}
	if not, ok := f["notIn"]; ok {
		out["notIn"] = not
	}
	return out
}

// AsOf is the graph's filter for versions of a thing, nil when there are no conditions: of several instants the earliest counts.
func (s *TimestampSet) AsOf() map[string]any {
	f := s.c.filter()
	if s.Contradicts() {
		f["in"] = texts(s.c.eq)
	}
	return f
}

// Bound gives an open span its ends, the first transaction and now, and cuts it to the greatest length: the newest part when the order is
// descending, else the oldest. Where it was cut the page goes on, even when it is not full.
func (s *TimestampSet) Bound(r *Request, first func() (ledger.Timestamp, error)) error {
	b := s.c.span(identity)
	if !b.hasLower {
		at, err := first()
		if err != nil {
			return err
		}
		b.lower = int64(at)
	}
	if !b.hasUpper {
		b.upper = r.Config.Now().UnixNano()
	}
	if most := int64(r.Config.MaxTransactionsRange); b.upper-b.lower >= most { // one more would not always fit
		if r.Desc {
			b.lower = b.upper - most + 1
			r.Cut = &b.lower
		} else {
			b.upper = b.lower + most - 1
			r.Cut = &b.upper
		}
	}
	s.bounded = &b
	return nil
}

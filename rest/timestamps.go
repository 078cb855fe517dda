package rest

import (
	"heliograph/internal/ledger"
)

// TimestampSet is what a query says of the time of transactions: a span and instants.
type TimestampSet struct {
	c *conditions[int64]
	// bounded replaces the span of the conditions when it was bounded.
	bounded *span
}

// TimestampFilter reads a parameter as a set of timestamps.
func (r *Request) TimestampFilter(name string) (*TimestampSet, error) {
	c, err := timestampConditions(r.Values(name))
	if err != nil {
		return nil, err
	}
	return &TimestampSet{c: c}, nil
}

func identity(v int64) int64 { return v }

// Empty tells whether no instant can be in the span.
func (s *TimestampSet) Empty() bool { return s.c.span(identity).empty() }

// Contradicts tells whether two different instants are asked for.
func (s *TimestampSet) Contradicts() bool { return len(s.c.eq) > 1 }

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

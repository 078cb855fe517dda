package storage

import (
	"slices"

	"heliograph/internal/domain/ledger"
)

// Window is a closed interval of timestamps without some instants.
type Window struct {
	Lower, Upper ledger.Timestamp
	Except       []int64
}

// matchesNone reports whether no timestamp satisfies f, because its list is empty or its lower bound is the maximum.
// It does not look at other contradictions. f must not be nil.
func matchesNone(f *ledger.TimestampFilter) bool {
	return f.In != nil && len(f.In) == 0 || f.Gt != nil && *f.Gt == ledger.MaxTimestamp
}

// upperBounds returns the inclusive upper bounds in f. eq and in mean "at or before". f must not be nil.
func upperBounds(f *ledger.TimestampFilter) []ledger.Timestamp {
	bounds := slices.Clone(f.In)
	for _, v := range []*ledger.Timestamp{f.Eq, f.Lte} {
		if v != nil {
			bounds = append(bounds, *v)
		}
	}
	if f.Lt != nil {
		bounds = append(bounds, *f.Lt-1)
	}
	return bounds
}

// WindowOf returns the window of the timestamps that satisfy f, or of all from 0 on if f is nil. If none does, Upper
// can be below Lower. eq and in mean "at or before".
func WindowOf(f *ledger.TimestampFilter) Window {
	b := Window{Lower: 0, Upper: ledger.MaxTimestamp}
	if f == nil {
		return b
	}
	if matchesNone(f) {
		b.Upper = -1
	}
	for _, v := range upperBounds(f) {
		b.Upper = min(b.Upper, v)
	}
	if f.Gte != nil {
		b.Lower = max(b.Lower, *f.Gte)
	}
	if f.Gt != nil && *f.Gt < ledger.MaxTimestamp {
		b.Lower = max(b.Lower, *f.Gt+1)
	}
	if f.Ne != nil {
		b.Except = append(b.Except, int64(*f.Ne))
	}
	b.Except = append(b.Except, Int64s(f.NotIn)...)
	return b
}

// Versions adds to w the condition that a version of a row satisfies a filter. column is the range in which the
// version is valid. eq and in mean "at or before", with several values before the earliest: the newest row that
// matches, which the caller has to select, is the version that was valid then. at may be nil, which is no condition.
func (w *Where) Versions(column string, at *ledger.TimestampFilter) {
	if at == nil {
		return
	}
	if matchesNone(at) {
		w.And("false")
		return
	}
	for _, v := range upperBounds(at) {
		w.And("lower("+column+") <= ?", int64(v))
	}
	if at.Gt != nil { // the upper bound of the range is exclusive
		w.And("coalesce(upper("+column+") - 1 > ?, true)", int64(*at.Gt))
	}
	if at.Gte != nil {
		w.And("coalesce(upper("+column+") > ?, true)", int64(*at.Gte))
	}
	if at.Ne != nil {
		w.And("not "+column+" @> ?::bigint", int64(*at.Ne))
	}
	for _, v := range at.NotIn {
		w.And("not "+column+" @> ?::bigint", int64(v))
	}
}

// During adds to w the condition that the timestamp in column satisfies a filter. eq and in mean "at or before". at
// may be nil: then any timestamp from 0 on satisfies it.
func (w *Where) During(column string, at *ledger.TimestampFilter) {
	window := WindowOf(at)
	w.And(column+" between ? and ?", int64(window.Lower), int64(window.Upper))
	if window.Except != nil {
		w.And(column+" <> all(?)", window.Except)
	}
}

// LatestChanges returns a statement that reads the newest change of each key in a table of changes s. Its columns are
// key, value and at. of is the condition on the object. keys and times are further conditions on keys and on changes,
// empty or as [Where.String] returns them, and order limits the keys to a page, as [Where.OrderBy] does. The keys are
// read from an index in order; the newest change of each key is looked up separately.
func LatestChanges(table, of, key, value, keys, times, order string) string {
	return `select k.key, c.value, c.at from (select distinct ` + key + ` as key from ` + table + ` s where ` + of + keys + times + order + `) k
  cross join lateral (select ` + value + ` as value, s.consensus_timestamp as at from ` + table + ` s where ` + of + ` and ` + key + ` = k.key` + times + `
    order by s.consensus_timestamp desc limit 1) c`
}

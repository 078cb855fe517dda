package rest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// Conditions are the values that a request gives for one column, in the form that the graph parses. They are merged
// into the graph's filter, which has each operator at most once.
type Conditions struct {
	Values []Value
	// AnyOf makes several eq values alternatives. Otherwise all must hold.
	AnyOf bool
	// within replaces the bounds among the values after [Conditions.Bound].
	within *Range
}

// reader converts a value of the classic family to the form that the graph parses.
type reader func(cfg *Config, v Value) (Value, error)

// conditionsOf returns the values of a parameter as conditions, each converted by read. It fails with the problem
// of the first invalid one.
func conditionsOf(cfg *Config, values []Value, read reader) (*Conditions, error) {
	c := &Conditions{Values: make([]Value, len(values))}
	for i, v := range values {
		var err error
		if c.Values[i], err = read(cfg, v); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// TimestampFilter returns the conditions of the parameter with the given name, whose values are timestamps. An
// invalid one is a 400.
func (r *Request) TimestampFilter(name string) (*Conditions, error) {
	return TimestampsOf(r.Values(name))
}

// TimestampsOf returns values as conditions on timestamps. An invalid one is a 400.
func TimestampsOf(values []Value) (*Conditions, error) {
	return conditionsOf(nil, values, readTimestamp)
}

// Filter returns the graph's filter as the value of a variable, or nil without conditions. Of several bounds with the
// same operator it has the strictest one. The eq values are its list "in". That is empty, and matches no row, if
// different eq values must all hold, or if a condition has a value that no row can have and is not one of several
// alternatives.
func (c *Conditions) Filter() map[string]any {
	if len(c.Values) == 0 && c.within == nil {
		return nil
	}
	f := map[string]any{}
	strictest := map[Op]Value{}
	var eq, ne []any
	hasEq, none := false, false
	for _, v := range c.Values {
		hasEq = hasEq || v.Op == Eq
		switch kept, given := strictest[v.Op]; {
		case v.None:
			none = none || v.Op != Eq || !c.AnyOf
		case v.Op == Ne:
			ne = append(ne, v.Text)
		case v.Op != Eq:
			if !given || v.isStricter(kept) {
				strictest[v.Op], f[string(v.Op)] = v, v.Text
			}
		case !slices.Contains(eq, any(v.Text)):
			eq = append(eq, v.Text)
		}
	}
	if c.within != nil {
		f = c.within.timestamps()
	}
	if ne != nil && f["in"] == nil {
		f["notIn"] = ne
	}
	switch {
	case none, !c.AnyOf && len(eq) > 1:
		f["in"] = []any{}
	case hasEq:
		f["in"] = append([]any{}, eq...)
	}
	return f
}

// isStricter reports whether a bound excludes more than another with the same operator. It compares the numbers
// first, then the texts.
func (v Value) isStricter(than Value) bool {
	order := cmp.Or(cmp.Compare(v.Number, than.Number), cmp.Compare(v.Text, than.Text))
	return (order > 0) == (v.Op == Gt || v.Op == Gte) && order != 0
}

// AsOf returns the graph's filter for versions, or nil without conditions. A single timestamp means "at or before", so
// the earliest of several applies, and one that is later than that of any row restricts nothing: if all are, the
// filter is empty, but not nil.
func (c *Conditions) AsOf() map[string]any {
	if len(c.Values) == 0 {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(c.Values), func(v Value) bool { return v.None })
	if len(known) == 0 {
		return map[string]any{}
	}
	return (&Conditions{Values: known, AnyOf: true}).Filter()
}

// Range returns the numbers, such as nanoseconds of timestamps, that the bounds allow. It ignores eq and ne.
func (c *Conditions) Range() Range { return RangeOf(c.Values) }

// Empty reports whether no number is within the bounds.
func (c *Conditions) Empty() bool { return c.Range().Empty() }

// HasEq reports whether at least one of the values has the operator eq.
func (c *Conditions) HasEq() bool { return c.count(Eq) > 0 }

// Contradicts reports whether the conditions require two different values. It ignores bounds, values that no row can
// have, and AnyOf.
func (c *Conditions) Contradicts() bool {
	first := slices.IndexFunc(c.Values, func(v Value) bool { return v.Op == Eq && !v.None })
	return first >= 0 && slices.ContainsFunc(c.Values[first:], func(v Value) bool {
		return v.Op == Eq && !v.None && v.Text != c.Values[first].Text
	})
}

// count returns the number of values with one of some operators.
func (c *Conditions) count(ops ...Op) (n int) {
	for _, v := range c.Values {
		if slices.Contains(ops, v.Op) {
			n++
		}
	}
	return n
}

// MaxTimestampRange is the maximum range of endpoints that require one. Error texts contain its text form.
const (
	MaxTimestampRange     = 7 * 24 * time.Hour
	maxTimestampRangeText = "7d"
)

// CheckInstant returns the text for the first rule that timestamps violate, or "". They must have the operator eq, or
// be a range with one bound on each side that is not empty and not longer than [MaxTimestampRange]. It does not check
// that there is only one eq.
func (c *Conditions) CheckInstant() string {
	n, eq, lower, upper := len(c.Values), c.count(Eq), c.count(Gt, Gte), c.count(Lt, Lte)
	switch {
	case n == 0:
		return "No timestamp range or eq operator provided"
	case c.count(Ne) > 0:
		return "Not equals operator not supported for timestamp param"
	case lower > 1:
		return "Multiple gt or gte operators not permitted for timestamp param"
	case upper > 1:
		return "Multiple lt or lte operators not permitted for timestamp param"
	case eq > 0 && eq < n:
		return "Cannot combine eq with ne, gt, gte, lt, or lte for timestamp param"
	case eq == 0 && (lower == 0 || upper == 0):
		return "Timestamp range must have gt (or gte) and lt (or lte), or eq operator"
	case eq == 0 && !c.Range().within(MaxTimestampRange):
		return "Timestamp range by the lower and upper bounds must be positive and within " + maxTimestampRangeText
	default:
		return ""
	}
}

// Bound changes c: it closes an open range of timestamps with the first transaction and the current time, and cuts it
// to the maximum length. In descending order it keeps the newest part, otherwise the oldest, and sets r.Cut. A page
// of a cut range has a next link even if it is not full. The caller has checked that there is no eq. first is called
// only for a range without a lower bound, and its error is returned.
func (c *Conditions) Bound(r *Request, first func() (ledger.Timestamp, error)) error {
	b := c.Range()
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
	c.within = &b
	return nil
}

// bindFilter returns a binding that sets a variable to the filter of all values, which read converts. With anyOf,
// several eq values are alternatives; otherwise all must hold. A value that read rejects is a 400, and sets nothing.
func bindFilter(variable string, anyOf bool, read reader) Bind {
	return func(r *Request, values []Value) error {
		c, err := conditionsOf(r.Config, values, read)
		if err != nil {
			return err
		}
		c.AnyOf = anyOf
		r.Set(variable, c.Filter())
		return nil
	}
}

// IDs returns a binding that sets a variable to a filter of entity ids. Several eq values are alternatives. An invalid
// id is a 400.
func IDs(variable string) Bind { return bindFilter(variable, true, readID) }

// AllIDs returns a binding that sets a variable to a filter of entity ids. All conditions must hold. An invalid id is
// a 400.
func AllIDs(variable string) Bind { return bindFilter(variable, false, readID) }

// Longs returns a binding that sets a variable to a filter of integers from 0 to 2^63-1, decimal or in hex. All
// conditions must hold. Another text is a 400.
func Longs(variable string) Bind { return bindFilter(variable, false, readLong) }

// PublicKeys returns a binding that sets a variable to a filter of public keys, compared as text. All conditions must
// hold. An invalid key is a 400.
func PublicKeys(variable string) Bind { return bindFilter(variable, false, readPublicKey) }

// Timestamps returns a binding that sets a variable to a filter of timestamps. All conditions must hold. Another text
// is a 400.
func Timestamps(variable string) Bind { return bindFilter(variable, false, readTimestamp) }

// AnyTimestamps returns a binding that sets a variable to a filter of timestamps. Several eq values are alternatives.
// Another text is a 400.
func AnyTimestamps(variable string) Bind { return bindFilter(variable, true, readTimestamp) }

// readID returns v with the text and number of an entity ID or of an address that contains one. v.None says that
// the value is the address of no entity ID, which is not compared. Other texts are a 400.
func readID(cfg *Config, v Value) (Value, error) {
	var id ledger.EntityID
	if IsEntityID(v.Text) {
		var err error
		if id, err = ExpandID(cfg, v.Text); err != nil {
			return v, err
		}
	} else {
		ref, err := ledger.ParseAccountRef(v.Text, cfg.Base)
		if err != nil {
			return v, Bad("Invalid entity ID \"" + v.Text + "\"")
		}
		id, v.None = ref.ID, ref.Address.Valid // an address that is not a long-zero address is not compared
	}
	v.Text, v.Number = id.String(), int64(id)
	return v, nil
}

// ExpandID returns the entity id in a text, with the default shard and realm of cfg. The 400 for an invalid id
// shows the completed id.
func ExpandID(cfg *Config, text string) (ledger.EntityID, error) {
	if id, err := ledger.ParseEntityID(text, cfg.Base); err == nil {
		return id, nil
	}
	full := text
	switch strings.Count(text, ".") {
	case 0:
		full = strconv.FormatInt(cfg.Base.Shard(), 10) + "." + strconv.FormatInt(cfg.Base.Realm(), 10) + "." + text
	case 1:
		full = strconv.FormatInt(cfg.Base.Shard(), 10) + "." + text
	}
	return 0, Bad(`Invalid entity ID "` + full + `"`)
}

// readLong returns v with the text and number of a decimal or hexadecimal number with 63 bits. Other texts are a
// 400.
func readLong(_ *Config, v Value) (Value, error) {
	n, err := parseBlockNumber(trimNumber(v.Text))
	if err != nil {
		return v, Bad("Invalid value " + v.Text)
	}
	v.Text, v.Number = strconv.FormatInt(n, 10), n
	return v, nil
}

// readPublicKey returns v with a public key in the form of the database: hexadecimal without a prefix. Other texts
// are a 400.
func readPublicKey(_ *Config, v Value) (Value, error) {
	key, err := ledger.ParsePublicKey(v.Text)
	if err != nil {
		return v, Bad("Invalid value " + v.Text)
	}
	v.Text = key
	return v, nil
}

// readTimestamp returns v with the text and nanoseconds of a timestamp. A timestamp after [ledger.MaxTimestamp] is
// later than that of any row: as an upper bound or with ne it restricts nothing, as a lower bound or with eq it
// matches no row. Other texts are a 400 that names the parameter "timestamp", whatever its name is.
func readTimestamp(_ *Config, v Value) (Value, error) {
	t, late, err := ParseTimestamp(v.Text)
	switch {
	case err != nil:
		return v, InvalidParameter("timestamp")
	case !late:
	case v.Op == Eq:
		v.None = true
	case v.Op == Lt:
		v.Op = Lte
	case v.Op == Gte:
		v.Op = Gt
	}
	v.Text, v.Number = t.String(), int64(t)
	return v, nil
}

// AsOf returns a binding that sets a variable to the time of the requested version: a filter of timestamps, in which
// eq means "at or before". See [Conditions.AsOf]. An invalid timestamp is a 400.
func AsOf(variable string) Bind {
	return func(r *Request, values []Value) error {
		c, err := TimestampsOf(values)
		if err != nil {
			return err
		}
		r.Set(variable, c.AsOf())
		return nil
	}
}

// ParseTimestamp parses a timestamp of the classic family: seconds since 1970 with up to nine decimals. late reports
// that it is after [ledger.MaxTimestamp], which is returned in its place. Malformed text is an error.
func ParseTimestamp(text string) (t ledger.Timestamp, late bool, err error) {
	t, err = ledger.ParseTimestamp(text)
	if errors.Is(err, ledger.ErrRange) {
		return ledger.MaxTimestamp, true, nil
	}
	return t, false, err
}

package rest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// bound is a value of a filter: a comparable form, and the form that the graph parses.
type bound[T cmp.Ordered] struct {
	key  T
	text string
}

// conditions are all values that a query gives for one filter. They are merged into the graph's filter, which has each
// operator at most once.
type conditions[T cmp.Ordered] struct {
	eq            []bound[T]
	ne            []bound[T]
	gt, gte       *bound[T]
	lt, lte       *bound[T]
	any           bool // several eq values are alternatives; otherwise all must hold
	matchesNone   bool
	unmatchedEq   bool // one of the eq values is a value that no row has
	hasEq, hasAny bool
}

func (c *conditions[T]) add(op Op, b bound[T]) {
	c.hasAny = true
	greatest := func(at **bound[T]) {
		if *at == nil || b.key > (*at).key {
			*at = &b
		}
	}
	least := func(at **bound[T]) {
		if *at == nil || b.key < (*at).key {
			*at = &b
		}
	}
	switch op {
	case Eq:
		c.hasEq = true
		if !slices.ContainsFunc(c.eq, func(o bound[T]) bool { return o.key == b.key }) {
			c.eq = append(c.eq, b)
		}
	case Ne:
		c.ne = append(c.ne, b)
	case Gt:
		greatest(&c.gt)
	case Gte:
		greatest(&c.gte)
	case Lt:
		least(&c.lt)
	case Lte:
		least(&c.lte)
	}
}

// addUnmatched adds a value that no row has.
func (c *conditions[T]) addUnmatched(op Op) {
	c.hasAny = true
	if op == Eq {
		c.hasEq, c.unmatchedEq = true, true
		return
	}
	c.matchesNone = true
}

// filter returns the graph's filter, or nil without conditions.
func (c *conditions[T]) filter() map[string]any {
	if !c.hasAny {
		return nil
	}
	f := map[string]any{}
	for name, b := range map[string]*bound[T]{"gt": c.gt, "gte": c.gte, "lt": c.lt, "lte": c.lte} {
		if b != nil {
			f[name] = b.text
		}
	}
	if len(c.ne) > 0 {
		f["notIn"] = texts(c.ne)
	}
	switch {
	case c.matchesNone || !c.any && (len(c.eq) > 1 || c.unmatchedEq):
		f["in"] = []any{}
	case c.hasEq:
		f["in"] = texts(c.eq)
	}
	return f
}

func texts[T cmp.Ordered](bounds []bound[T]) []any {
	return list.Map(bounds, func(b bound[T]) any { return b.text })
}

// bindFilter returns a binding that adds each value to the conditions of a filter. If anyOf is true, several eq values
// are alternatives; otherwise all must hold.
func bindFilter[T cmp.Ordered](
	variable string, anyOf bool, add func(cfg *Config, c *conditions[T], v Value) error,
) Bind {
	return func(r *Request, values []Value) error {
		c := conditions[T]{any: anyOf}
		for _, v := range values {
			if err := add(r.Config, &c, v); err != nil {
				return err
			}
		}
		r.Set(variable, c.filter())
		return nil
	}
}

// IDs binds entity ids. Several eq values are alternatives.
func IDs(variable string) Bind { return bindFilter(variable, true, addID) }

// AllIDs binds entity ids. All conditions must hold.
func AllIDs(variable string) Bind { return bindFilter(variable, false, addID) }

// Longs binds integers. All conditions must hold.
func Longs(variable string) Bind { return bindFilter(variable, false, addLong) }

// PublicKeys binds public keys, compared as text. All conditions must hold.
func PublicKeys(variable string) Bind { return bindFilter(variable, false, addPublicKey) }

// Timestamps binds timestamps. All conditions must hold.
func Timestamps(variable string) Bind { return bindFilter(variable, false, addTimestamp) }

// AnyTimestamps binds timestamps. Several eq values are alternatives.
func AnyTimestamps(variable string) Bind { return bindFilter(variable, true, addTimestamp) }

func addID(cfg *Config, c *conditions[int64], v Value) error {
	if IsEntityID(v.Text) {
		id, err := ExpandID(cfg, v.Text)
		if err != nil {
			return err
		}
		c.add(v.Op, bound[int64]{int64(id), id.String()})
		return nil
	}
	ref, err := ledger.ParseAccountRef(v.Text, cfg.Base)
	if err != nil {
		return Bad("Invalid entity ID \"" + v.Text + "\"")
	}
	if ref.Address.Valid { // an address that is not a long-zero address is not compared
		c.addUnmatched(v.Op)
		return nil
	}
	c.add(v.Op, bound[int64]{int64(ref.ID), ref.ID.String()})
	return nil
}

// ExpandID parses an entity id and adds the default shard and realm. The error for an invalid id shows the completed
// id.
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

func addLong(_ *Config, c *conditions[int64], v Value) error {
	n, err := parseBlockNumber(trimNumber(v.Text))
	if err != nil {
		return Bad("Invalid value " + v.Text)
	}
	c.add(v.Op, bound[int64]{n, strconv.FormatInt(n, 10)})
	return nil
}

func addPublicKey(_ *Config, c *conditions[string], v Value) error {
	key, err := ledger.ParsePublicKey(v.Text)
	if err != nil {
		return Bad("Invalid value " + v.Text)
	}
	c.add(v.Op, bound[string]{key, key})
	return nil
}

// addTimestamp adds a timestamp. A timestamp after [ledger.MaxTimestamp] is later than that of any row: as an upper
// bound or with ne it restricts nothing, as a lower bound or with eq it matches no row.
func addTimestamp(_ *Config, c *conditions[int64], v Value) error {
	t, late, err := ParseTimestamp(v.Text)
	switch {
	case err != nil:
		return InvalidParameter("timestamp")
	case !late:
	case v.Op == Eq:
		c.addUnmatched(Eq)
		return nil
	case v.Op == Lt:
		v.Op = Lte
	case v.Op == Gte:
		v.Op = Gt
	}
	c.add(v.Op, bound[int64]{int64(t), t.String()})
	return nil
}

// AsOf binds the time of the requested version. See [TimestampSet.AsOf].
func AsOf(variable string) Bind {
	return func(r *Request, values []Value) error {
		set, err := TimestampsOf(values)
		if err != nil {
			return err
		}
		r.Set(variable, set.AsOf())
		return nil
	}
}

// ParseTimestamp parses a timestamp of the classic family. late reports that it is after [ledger.MaxTimestamp], which
// is returned in its place.
func ParseTimestamp(text string) (t ledger.Timestamp, late bool, err error) {
	t, err = ledger.ParseTimestamp(text)
	if errors.Is(err, ledger.ErrRange) {
		return ledger.MaxTimestamp, true, nil
	}
	return t, false, err
}

// spanOf returns the range that the bounds among conditions allow.
func spanOf(c *conditions[int64]) Range {
	r := everything()
	for op, at := range map[Op]*bound[int64]{Gt: c.gt, Gte: c.gte, Lt: c.lt, Lte: c.lte} {
		if at != nil {
			r.narrow(op, at.key)
		}
	}
	return r
}

// Enums binds upper-case enum values. Several values are alternatives.
func Enums(variable string) Bind {
	return func(r *Request, values []Value) error {
		var list []any
		for _, v := range values {
			if name := strings.ToUpper(v.Text); !slices.Contains(list, any(name)) {
				list = append(list, name)
			}
		}
		r.Set(variable, list)
		return nil
	}
}

// LastPublicKey binds the last of several public keys and ignores its operator.
func LastPublicKey(variable string) Bind {
	return func(r *Request, values []Value) error {
		text := values[len(values)-1].Text
		key, err := ledger.ParsePublicKey(text)
		if err != nil {
			return Bad("Invalid value " + text)
		}
		r.Set(variable, map[string]any{"eq": key})
		return nil
	}
}

// LastBoolean binds the last of several booleans and ignores its operator.
func LastBoolean(variable string) Bind {
	return func(r *Request, values []Value) error {
		r.Set(variable, strings.EqualFold(values[len(values)-1].Text, "true"))
		return nil
	}
}

// TextList binds the texts of all values as a list.
func TextList(variable string) Bind {
	return func(r *Request, values []Value) error {
		r.Set(variable, list.Map(values, func(v Value) any { return v.Text }))
		return nil
	}
}

// Without returns a binding that rejects op with the given text, after it has reported values that cannot be
// converted.
func (b Bind) Without(op Op, text string) Bind {
	return func(r *Request, values []Value) error {
		if err := b(r, values); err != nil {
			return err
		}
		if slices.ContainsFunc(values, func(v Value) bool { return v.Op == op }) {
			return Bad(text)
		}
		return nil
	}
}

// MaxLimit returns the maximum page size of the request.
func (r *Request) MaxLimit() int { return r.maxLimit }

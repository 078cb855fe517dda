package rest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
)

// EntityIDCursor returns a cursor that continues a list, in links.next, by the entity id in the parameter param of the
// query string. The sort key must have it as an int64, or Print panics. Key accepts ids without shard and realm, and
// addresses, of which those without an id in them count as 0.
func EntityIDCursor(param string) Cursor {
	return Cursor{
		Param: param,
		Print: func(dst []byte, v any) []byte { return ledger.EntityID(v.(int64)).Append(dst) },
		Key: func(c *Config, text string) (int64, bool) {
			ref, err := ledger.ParseAccountRef(text, c.Base)
			return int64(ref.ID), err == nil
		},
	}
}

// TimestampCursor returns a cursor that continues a list, in links.next, by the consensus timestamp in the parameter
// param of the query string. The sort key must have it as an int64 in nanoseconds since 1970, or Print panics. Key
// replaces a timestamp after [ledger.MaxTimestamp] by that.
func TimestampCursor(param string) Cursor {
	return Cursor{
		Param: param,
		Print: func(dst []byte, v any) []byte { return ledger.Timestamp(v.(int64)).Append(dst) },
		Key: func(_ *Config, text string) (int64, bool) {
			t, _, err := ParseTimestamp(text)
			return int64(t), err == nil
		},
	}
}

// NumberCursor returns a cursor that continues a list, in links.next, by the number in the parameter param of the
// query string. The sort key must have it as an int64, or Print panics. Key accepts numbers that are not negative, in
// decimal or in hex with "0x".
func NumberCursor(param string) Cursor {
	return Cursor{
		Param: param,
		Print: func(dst []byte, v any) []byte { return strconv.AppendInt(dst, v.(int64), 10) },
		Key: func(_ *Config, text string) (int64, bool) {
			n, err := parseBlockNumber(trimNumber(text))
			return n, err == nil
		},
	}
}

// Repeating returns a copy of the cursor whose last value other rows can have too, so that the next page includes
// it.
func (c Cursor) Repeating() Cursor {
	c.Inclusive = true
	return c
}

// next returns the link to the page after the row with the sort key last, or "" if no page follows. The link is the
// path and query string of the request with the bounds in paging direction moved to last. It changes neither r nor
// last.
func (r *Request) next(last relay.Key) string {
	advanced, escape := r.advance, appendPlain
	if r.Endpoint.Family == Modern {
		advanced, escape = r.advanceModern, appendEscaped
	}
	q := advanced(r.Query.clone(), last)
	if q == nil {
		return ""
	}
	path, _, _ := strings.Cut(r.HTTP.RequestURI, "?")
	link := append(make([]byte, 0, len(r.HTTP.RequestURI)+64), strings.TrimSuffix(path, "/")...)
	return string(q.encode(append(link, '?'), escape))
}

var (
	upwards   = []string{"gt:", "gte:"}
	downwards = []string{"lt:", "lte:"}
	bothWays  = append(upwards[:2:2], downwards...)
)

// advance returns the query string of the page after last in the [Classic] family, or nil if no page follows: if no
// parameter continues the list, or if the bounds of the first that does contradict each other. last is the sort key
// of the last row, whose end has the values of r.Next. It may overwrite q.
func (r *Request) advance(q Query, last relay.Key) Query {
	direction, bound := upwards, "gt"
	if r.Desc {
		direction, bound = downwards, "lt"
	}
	last = last[len(last)-len(r.Next):]
	moved := false
	for i, c := range r.Next {
		if c.Skip {
			continue
		}
		value := append(make([]byte, 0, 40), bound...)
		if c.Inclusive {
			value = append(value, 'e')
		}
		q = q.move(c.Param, direction, string(c.Print(append(value, ':'), last[i])))
		if !moved && r.boundsContradict(q, c, last[i]) {
			return nil
		}
		moved = true
	}
	if !moved {
		return nil
	}
	return q
}

// appendPlain appends text to dst without encoding it, as the links of the classic family have it.
func appendPlain(dst []byte, text string) []byte { return append(dst, text...) }

// afterCut returns the link that continues a range that was cut. The first parameter of r.Next gets the cut, and the
// others the values of the last row of the page. Without a row, r.Next must have one parameter only. Like
// [Request.next], it returns "" if no page follows. The caller has checked that r.Cut is set.
func (r *Request) afterCut(last relay.Key) string {
	if last == nil {
		return r.next(relay.Key{*r.Cut})
	}
	at := slices.Clone(last)
	at[len(at)-len(r.Next)] = *r.Cut
	return r.next(at)
}

// move returns the query with the values of a parameter in paging direction, which have a prefix of direction,
// replaced by a new one. If the first value of the parameter has no range operator, the new one is not added to those
// that remain. A parameter without remaining values, unless it is a list, moves to the end with the new value, as does
// one that q does not have. It may overwrite q.
func (q Query) move(name string, direction []string, value string) Query {
	at := q.index(name)
	if at < 0 {
		return append(q, Parameter{Name: name, Values: []string{value}})
	}
	p := &q[at]
	first := p.Values[0]
	kept := slices.DeleteFunc(slices.Clone(p.Values), func(v string) bool { return hasAnyPrefix(v, direction) })
	if len(kept) == 0 && !p.List {
		return append(append(q[:at:at], q[at+1:]...), Parameter{Name: name, Values: []string{value}})
	}
	p.Values = kept
	if hasAnyPrefix(first, bothWays) {
		p.Values = append(p.Values, value)
	}
	return q
}

// hasAnyPrefix reports whether s starts with one of the prefixes.
func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// boundsContradict reports whether the bounds of a cursor's parameter in q, the query of the next page, contradict
// each other, so that no row can follow. last is the value of the last row of this page. Invalid values are ignored.
// It changes nothing.
func (r *Request) boundsContradict(q Query, c Cursor, last any) bool {
	texts := q.Get(c.Param)
	if n, whole := last.(int64); whole && c.Empty == nil && len(texts) == 1 && n != math.MinInt64 &&
		n != math.MaxInt64 {
		return false // a single bound never excludes all numbers
	}
	var bounds []Value
	for _, text := range texts {
		v, ok := r.Endpoint.Grammar.read(text)
		if !ok || !v.Op.isRange() {
			continue
		}
		if c.Empty == nil {
			v.Number, ok = c.Key(r.Config, v.Text)
		}
		if ok {
			bounds = append(bounds, v)
		}
	}
	if c.Empty != nil {
		return c.Empty(r, bounds)
	}
	return RangeOf(bounds).Empty()
}

// isBound reports whether a value of the query string has one of the operators, case-insensitive.
func isBound(text string, ops ...Op) bool {
	op, _, given := strings.Cut(text, ":")
	return given && slices.Contains(ops, Op(strings.ToLower(op)))
}

// advanceModern is [Request.advance] for the modern family: it returns q with the bounds replaced that last, the sort
// key of the last row, exceeds. It adds no bound for a parameter with an exact value, or for an optional one whose
// value is 0. A bound is inclusive if the next parameter gets one too. It returns nil if there can be no next page,
// and may overwrite q.
func (r *Request) advanceModern(q Query, last relay.Key) Query {
	direction, bound := []Op{Gt, Gte}, Gt
	if r.Desc {
		direction, bound = []Op{Lt, Lte}, Lt
	}
	last = last[len(last)-len(r.Next):]
	var columns []Cursor
	var values []any
	for i, c := range r.Next {
		q = r.dropBounds(q, c.Param, direction)
		if c.Optional && last[i] == int64(0) {
			continue
		}
		columns, values = append(columns, c), append(values, last[i])
	}
	for i, c := range columns {
		if r.hasExact(q, c.Param) {
			continue
		}
		op := bound
		if i < len(columns)-1 && !r.hasExact(q, columns[i+1].Param) {
			op += "e" // more rows can have the same value
		}
		text := string(c.Print([]byte(op+":"), values[i]))
		if at := q.index(c.Param); at >= 0 {
			// a value with commas is not split if the parameter is repeated
			q[at].Values = append(r.textsOf(q, c.Param), text)
		} else {
			q = append(q, Parameter{Name: c.Param, Values: []string{text}})
		}
		if i == 0 && (c.Final != nil && c.Final(values[i], r.Desc) || contradicts(r.textsOf(q, c.Param))) {
			return nil
		}
	}
	return q
}

// dropBounds returns the query without the bounds of a parameter in paging direction, and without the parameter if
// no value remains. A value with commas is split if one of its parts is removed. It may overwrite q.
func (r *Request) dropBounds(q Query, name string, direction []Op) Query {
	at := q.index(name)
	if at < 0 {
		return q
	}
	all := r.textsOf(q, name)
	kept := slices.DeleteFunc(slices.Clone(all), func(text string) bool { return isBound(text, direction...) })
	switch {
	case len(kept) == 0:
		return slices.Delete(q, at, at+1)
	case len(kept) < len(all):
		q[at].Values = kept
	}
	return q
}

// textsOf returns the values of a parameter in q that apply, as [Param.texts] does: not the blank ones, only the first
// unless the parameter is a list, and the parts of a single text with commas if it is a list, except with ObjectBound.
// Those of a name that the endpoint does not have are returned as they are.
func (r *Request) textsOf(q Query, name string) []string {
	p := r.Endpoint.param(name)
	if p == nil {
		return q.Get(name)
	}
	return p.texts(q.Get(name), r.Endpoint.ObjectBound)
}

// hasExact reports whether a parameter has a value in q that is not a bound: one without an operator, or with eq or
// ne.
func (r *Request) hasExact(q Query, name string) bool {
	return slices.ContainsFunc(r.textsOf(q, name), func(text string) bool { return !isBound(text, Gt, Gte, Lt, Lte) })
}

// contradicts reports whether no number satisfies all bounds. It ignores bounds that are not plain numbers. The texts
// are values of a parameter of the family [Modern], such as gt:5. Values with eq or ne are ignored too.
func contradicts(texts []string) bool {
	var bounds []Value
	for _, text := range texts {
		v, ok := modernValue(text, false)
		var isNumber bool
		if v.Number, isNumber = naturalNumber(v.Text); ok && isNumber {
			bounds = append(bounds, v)
		}
	}
	return RangeOf(bounds).Empty()
}

// appendEscaped appends s to dst as a name or value of a query string. It percent-encodes all characters that a query
// cannot contain (RFC 3986 §3.4), those that separate parameters, and the plus sign, which servers decode as a space.
func appendEscaped(dst []byte, s string) []byte {
	const plain, digits = "-._~!$'()*,;:@/?", "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '%', digits[c>>4], digits[c&15])
	}
	return dst
}

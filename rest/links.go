package rest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
)

// EntityIDCursor continues a page by an entity id.
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

// TimestampCursor continues a page by a consensus timestamp.
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

// NumberCursor continues a page by a number.
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

// Repeating returns a cursor of a parameter whose last value other rows can have too.
func (c Cursor) Repeating() Cursor {
	c.Inclusive = true
	return c
}

// next returns the link to the next page, or "" if no page follows. The link is the request with the bounds in paging direction moved to last.
func (r *Request) next(last relay.Key) string {
	q := r.Query.clone()
	direction, bound := []string{"gt:", "gte:"}, "gt"
	if r.Desc {
		direction, bound = []string{"lt:", "lte:"}, "lt"
	}
	cursors := r.cursors()
	if len(cursors) == 0 {
		return ""
	}
	last = last[len(last)-len(cursors):]
	moved := false
	for i, c := range cursors {
		if c.Skip {
			continue
		}
		value := append(make([]byte, 0, 40), bound...)
		if c.Inclusive {
			value = append(value, 'e')
		}
		q = advance(q, c.Param, direction, string(c.Print(append(value, ':'), last[i])))
		if !moved && r.boundsContradict(q, c, last[i]) {
			return ""
		}
		moved = true
	}
	if !moved {
		return ""
	}
	path, _, _ := strings.Cut(r.HTTP.RequestURI, "?")
	link := append(make([]byte, 0, len(r.HTTP.RequestURI)+64), strings.TrimSuffix(path, "/")...)
	return string(q.encode(append(link, '?'), appendPlain))
}

// appendPlain appends text without encoding it.
func appendPlain(dst []byte, text string) []byte { return append(dst, text...) }

// afterCut returns the link that continues a range that was cut. It starts at the cut, after the last row of the page if there is one.
func (r *Request) afterCut(last relay.Key) string {
	if last == nil {
		return r.next(relay.Key{*r.Cut})
	}
	at := slices.Clone(last)
	at[len(at)-len(r.cursors())] = *r.Cut
	return r.next(at)
}

// advance replaces the values of a parameter in paging direction by a new one.
func advance(q Query, name string, direction []string, value string) Query {
	at := q.index(name)
	if at < 0 {
		return append(q, Parameter{Name: name, Values: []string{value}})
	}
	p := &q[at]
	first := p.Values[0]
	var kept []string
	for _, v := range p.Values {
		if !hasAnyPrefix(v, direction) {
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 && !p.List {
		return append(append(q[:at:at], q[at+1:]...), Parameter{Name: name, Values: []string{value}})
	}
	p.Values = kept
	if hasAnyPrefix(first, []string{"gt:", "gte:", "lt:", "lte:"}) {
		p.Values = append(p.Values, value)
	}
	return q
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// boundsContradict reports whether the bounds of a cursor's parameter contradict each other, so that no row can follow. last is the end of the page.
func (r *Request) boundsContradict(q Query, c Cursor, last any) bool {
	texts := q.Get(c.Param)
	if n, whole := last.(int64); whole && c.Empty == nil && len(texts) == 1 && n != math.MinInt64 && n != math.MaxInt64 {
		return false // a single bound never excludes all numbers
	}
	bounds := conditions[int64]{}
	var values []Value
	for _, text := range texts {
		v, ok := r.Endpoint.Grammar.read(text)
		if !ok || !v.Op.isRange() {
			continue
		}
		if c.Empty != nil {
			values = append(values, v)
			continue
		}
		if key, ok := c.Key(r.Config, v.Text); ok {
			bounds.add(v.Op, bound[int64]{key: key})
		}
	}
	if c.Empty != nil {
		return c.Empty(r, values)
	}
	return spanOf(&bounds).empty()
}

package rest

import (
	"slices"
	"strings"

	"heliograph/graph/relay"
)

// isBound reports whether a value of the query string has one of the operators, case-insensitive.
func isBound(text string, ops ...Op) bool {
	op, _, given := strings.Cut(text, ":")
	return given && slices.Contains(ops, Op(strings.ToLower(op)))
}

// modernNext returns the modern family's link to the next page, or "" if no page follows.
func (r *Request) modernNext(last relay.Key) string {
	q := r.Query.clone()
	direction, bound := []Op{Gt, Gte}, Gt
	if r.Desc {
		direction, bound = []Op{Lt, Lte}, Lt
	}
	last = last[len(last)-len(r.Endpoint.Next):]
	var columns []Cursor
	var values []any
	for i, c := range r.Endpoint.Next {
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
			q[at].Values = append(r.textsOf(q, c.Param), text) // a value with commas is not split if the parameter is repeated
		} else {
			q = append(q, Parameter{Name: c.Param, Values: []string{text}})
		}
		if i == 0 && (c.Final != nil && c.Final(values[i], r.Desc) || contradicts(r.textsOf(q, c.Param))) {
			return ""
		}
	}
	path, _, _ := strings.Cut(r.HTTP.RequestURI, "?")
	link := append([]byte(nil), strings.TrimSuffix(path, "/")...)
	return string(q.encode(append(link, '?'), appendEscaped))
}

// dropBounds removes the bounds of a parameter in paging direction, and the parameter if no value remains. A value with commas is split if one of its
// parts is removed.
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

// textsOf returns the values of a parameter that apply, split at commas.
func (r *Request) textsOf(q Query, name string) []string {
	p := r.Endpoint.param(name)
	if p == nil {
		return q.Get(name)
	}
	return p.texts(q.Get(name), r.Endpoint.ObjectBound)
}

// hasExact reports whether a parameter has a value that is not a bound.
func (r *Request) hasExact(q Query, name string) bool {
	return slices.ContainsFunc(r.textsOf(q, name), func(text string) bool { return !isBound(text, Gt, Gte, Lt, Lte) })
}

// contradicts reports whether no number satisfies all bounds. It ignores bounds that are not plain numbers.
func contradicts(texts []string) bool {
	var c conditions[int64]
	for _, text := range texts {
		v, ok := modernValue(text)
		if !ok || !v.Op.isRange() {
			continue
		}
		if n, ok := naturalNumber(v.Text); ok {
			c.add(v.Op, bound[int64]{key: n})
		}
	}
	return spanOf(&c).empty()
}

// appendEscaped appends text and percent-encodes all characters that a query component cannot contain (RFC 3986 §3.4), and the plus sign, which servers
// decode as a space.
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

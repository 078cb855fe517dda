package rest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"heliograph/internal/base/list"
)

// MaxParameters limits the parameters of a query string, regardless of the configuration.
const MaxParameters = 1000

var parameterLimit = fmt.Sprintf("Parameter limit exceeded. Only %d parameters allowed.", MaxParameters)

// Parameter is a parameter of a query string with all its values.
type Parameter struct {
	Name   string // in lower case, except in the modern family
	Values []string
	// List reports that the parameter was repeated or has brackets.
	List bool
}

// Query is a query string: parameters in the order of their first occurrence.
type Query []Parameter

// Get returns the values of a parameter in order, or nil. They must not be changed.
func (q Query) Get(name string) []string {
	if i := q.index(name); i >= 0 {
		return q[i].Values
	}
	return nil
}

// index returns the position of a parameter, or -1.
func (q Query) index(name string) int {
	return slices.IndexFunc(q, func(p Parameter) bool { return p.Name == name })
}

// with returns the query with further values of a parameter, which becomes a list if it has some already. It may
// overwrite q.
func (q Query) with(p Parameter) Query {
	at := q.index(p.Name)
	if at < 0 {
		return append(q, p)
	}
	q[at].Values, q[at].List = append(q[at].Values, p.Values...), true
	return q
}

// clone returns a copy that can be changed without changing q.
func (q Query) clone() Query {
	return list.Map(q, func(p Parameter) Parameter {
		p.Values = slices.Clone(p.Values)
		return p
	})
}

// segmentsOf returns the parameters of a query string, not decoded. ok is false if there are more than
// MaxParameters.
func segmentsOf(raw string) (segments []string, ok bool) {
	segments = strings.FieldsFunc(raw, func(r rune) bool { return r == '&' })
	return segments, len(segments) <= MaxParameters
}

// queryError is the reason why a query string is invalid: the status and the text. For brackets with a name it
// includes the parameter, because some endpoints report unknown parameters first.
type queryError struct {
	status int
	text   string
	nested string
}

// parseQuery parses a query string of the classic family, as the old service did. Names are case-insensitive,
// brackets mark a list, and text that cannot be decoded is not changed. The values of order and result become lower
// case. maxRepeats limits the values of one spelling of a name.
func parseQuery(raw string, maxRepeats int) (Query, *queryError) {
	segments, ok := segmentsOf(raw)
	if !ok {
		return nil, &queryError{status: 400, text: parameterLimit}
	}
	var spellings Query
	for _, segment := range segments {
		name, value := splitSegment(segment)
		name, isList, bad := brackets(name, maxRepeats)
		if bad != nil {
			return nil, bad
		}
		spellings = spellings.with(Parameter{Name: name, Values: []string{value}, List: isList})
		if n := len(spellings.Get(name)); n > 1 && n > maxRepeats {
			return nil, arrayLimit(maxRepeats)
		}
	}
	q := make(Query, 0, len(spellings))
	for _, s := range spellings {
		s.Name = strings.ToLower(s.Name)
		if s.Name == "order" || s.Name == "result" {
			s.Values = list.Map(s.Values, strings.ToLower)
		}
		q = q.with(s)
	}
	return q, nil
}

// arrayLimit returns the error for a parameter with more values than the parser of query strings accepts.
func arrayLimit(most int) *queryError {
	return &queryError{status: 400, text: fmt.Sprintf("Array limit exceeded. Only %d elements allowed in an array.",
		most)}
}

// splitSegment returns the decoded name and value of a parameter, split at the = of the first ]=, even in the value, or
// else at the first =. Malformed escapes stay as they are.
func splitSegment(segment string) (name, value string) {
	at := strings.Index(segment, "]=")
	if at >= 0 {
		at++
	} else {
		at = strings.IndexByte(segment, '=')
	}
	if at < 0 {
		return unescape(segment), ""
	}
	return unescape(segment[:at]), unescape(segment[at+1:])
}

// unescape returns a text with decoded plus signs and percent sequences. In malformed text, and if the result would
// not be UTF-8, it decodes the plus signs only.
func unescape(s string) string {
	s = strings.ReplaceAll(s, "+", " ")
	if out, err := url.PathUnescape(s); err == nil && utf8.ValidString(out) {
		return out
	}
	return s
}

// brackets returns a name without the brackets after it. Empty brackets, or a number below maxRepeats, mark a list.
// Brackets with anything else, or several of them, are an error, because no endpoint accepts objects. A name that
// starts with a bracket, or does not end with one, is returned as it is.
func brackets(name string, maxRepeats int) (plain string, list bool, bad *queryError) {
	at := strings.IndexByte(name, '[')
	if at <= 0 || !strings.HasSuffix(name, "]") {
		return name, false, nil
	}
	plain, inside := name[:at], name[at+1:len(name)-1]
	if strings.Contains(inside, "][") {
		return "", false,
			&queryError{status: 400, text: "Input depth exceeded depth option of 1 and strictDepth is true"}
	}
	if inside == "" {
		return plain, true, nil
	}
	n, err := strconv.Atoi(inside)
	switch {
	case err != nil || n < 0:
		return "", false, &queryError{status: 500, nested: strings.ToLower(plain)}
	case n >= maxRepeats:
		return "", false, arrayLimit(maxRepeats)
	default:
		return plain, true, nil
	}
}

// encode appends the query string to dst, in order. appendText appends a name or a value in the encoding of a
// family.
func (q Query) encode(dst []byte, appendText func(dst []byte, text string) []byte) []byte {
	first := true
	for _, p := range q {
		for _, v := range p.Values {
			if !first {
				dst = append(dst, '&')
			}
			first = false
			dst = appendText(append(appendText(dst, p.Name), '='), v)
		}
	}
	return dst
}

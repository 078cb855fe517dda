package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The page sizes of the modern family. They are not configurable.
const (
	modernLimit    = 25
	modernMaxLimit = 100
)

// ModernLimit returns the default page size of an endpoint of the modern family.
func (e *Endpoint) ModernLimit() int { return cmp.Or(e.DefaultLimit, modernLimit) }

// parseModernQuery parses a query string of the modern family. Names are case-sensitive, and "name[]" is a spelling of a parameter that the endpoint
// has. Text that cannot be decoded is not changed.
func (e *Endpoint) parseModernQuery(raw string) (Query, *Problem) {
	q := Query{}
	count := 0
	for segment := range strings.SplitSeq(raw, "&") {
		if segment == "" {
			continue
		}
		count++
		if count > maxParameters {
			return nil, ModernProblem(http.StatusBadRequest, parameterLimit)
		}
		name, value, _ := strings.Cut(segment, "=")
		name, value = unescape(name), unescape(value)
		if plain, ok := strings.CutSuffix(name, "[]"); ok && e.param(plain) != nil {
			name = plain
		}
		if at := q.index(name); at >= 0 {
			q[at].Values, q[at].List = append(q[at].Values, value), true
			continue
		}
		q = append(q, Parameter{Name: name, Values: []string{value}})
	}
	return q, nil
}

// readModern converts a request of the modern family to variables in three steps. It converts all values in the order of the endpoint's parameters,
// checks the constraints, and binds the values.
func (r *Request) readModern() error {
	e := r.Endpoint
	r.Limit = e.ModernLimit()
	q, p := e.parseModernQuery(r.HTTP.URL.RawQuery)
	if p != nil {
		return p
	}
	r.Query = q
	if e.BindPath != nil {
		if err := e.BindPath(r); err != nil {
			return err
		}
	}
	if e.ObjectBound {
		if err := r.rejectRepeats(); err != nil {
			return err
		}
	}
	if p := r.convert(); p != nil {
		return p
	}
	for _, list := range [][]Param{e.PathParams, e.Params} {
		for i := range list {
			values := r.converted[list[i].Name]
			if len(values) == 0 || list[i].Bind == nil {
				continue
			}
			if err := list[i].Bind(r, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// rejectRepeats rejects the first repeated parameter that is not a list.
func (r *Request) rejectRepeats() error {
	for _, p := range r.Endpoint.Params {
		if p.MaxValues == 0 && len(r.Query.Get(p.Name)) > 1 {
			return ModernBad("Only a single instance is supported for " + p.Name)
		}
	}
	return nil
}

// convert converts and checks the values of all parameters. It returns nil if they are valid.
func (r *Request) convert() *Problem {
	e := r.Endpoint
	r.converted = map[string][]Value{}
	var unreadable, broken, messages []Item
	for _, p := range e.PathParams {
		v, ok := p.Read.Convert(r.Config, r.Path.Get(p.Name))
		if !ok {
			return CannotConvert(p.Name)
		}
		r.converted[p.Name] = []Value{v}
		broken = append(broken, p.violations([]Value{v})...)
	}
	for i := range e.Params {
		p := &e.Params[i]
		var values []Value
		failed := false
		for _, text := range p.texts(r.Query.Get(p.Name), e.ObjectBound) {
			v, ok := p.Read.Convert(r.Config, text)
			failed = failed || !ok
			values = append(values, v)
		}
		if failed {
			if !e.ObjectBound {
				return CannotConvert(p.Name)
			}
			unreadable = append(unreadable, invalid(p.Name))
			continue
		}
		r.converted[p.Name] = values
		violations := p.violations(values)
		broken = append(broken, violations...)
		if len(violations) > 0 {
			messages = append(messages, invalid(p.Name))
		}
	}
	if e.ObjectBound {
		return problemOf(slices.Concat(unreadable, messages))
	}
	return problemOf(broken)
}

// texts returns the values of a parameter that apply. Blank values are ignored, only the first value of a parameter that is not a list applies, and a
// list may be one value with commas.
func (p *Param) texts(given []string, objectBound bool) []string {
	switch {
	case len(given) == 0:
		return nil
	case p.MaxValues == 0:
		given = given[:1]
	case len(given) == 1 && !objectBound:
		given = strings.Split(given[0], ",")
	}
	var out []string
	for _, text := range given {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// violations returns the constraints that the values of a parameter violate.
func (p *Param) violations(values []Value) []Item {
	var items []Item
	add := func(detail string) {
		items = append(items, Item{Message: http.StatusText(http.StatusBadRequest), Detail: &detail})
	}
	if p.MaxValues > 0 && len(values) > p.MaxValues {
		add(p.ListName + " size must be between 0 and " + strconv.Itoa(p.MaxValues))
	}
	if p.Check == nil {
		return items
	}
	for _, v := range values {
		if detail := p.Check(v); detail != "" {
			add(detail)
		}
	}
	return items
}

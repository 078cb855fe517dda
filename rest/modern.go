package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"heliograph/internal/base/list"
)

// The page sizes of the modern family. They are not configurable.
const (
	modernLimit    = 25
	modernMaxLimit = 100
)

// ModernLimit returns the default page size of an endpoint of the modern family.
func (e *Endpoint) ModernLimit() int { return cmp.Or(e.DefaultLimit, modernLimit) }

// parseModernQuery parses a query string of the modern family, or returns a 400 if it has too many parameters.
// Names are case-sensitive, and "name[]" is a spelling of a parameter that the endpoint has. Text that cannot be
// decoded is not changed.
func (e *Endpoint) parseModernQuery(raw string) (Query, *Problem) {
	segments, ok := segmentsOf(raw)
	if !ok {
		return nil, ModernProblem(http.StatusBadRequest, parameterLimit)
	}
	q := Query{}
	for _, segment := range segments {
		name, value, _ := strings.Cut(segment, "=")
		name, value = unescape(name), unescape(value)
		if plain, ok := strings.CutSuffix(name, "[]"); ok && e.param(plain) != nil {
			name = plain
		}
		q = q.with(Parameter{Name: name, Values: []string{value}})
	}
	return q, nil
}

// readModern reads a request of the modern family into the variables of r. It binds the path, then takes three steps:
// it converts all values in the order of the endpoint's parameters, checks the constraints, and binds the values.
// Parameters that the endpoint does not have are ignored. The error is the *Problem of the response.
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

// rejectRepeats returns a 400 for the first repeated parameter that is not a list, or nil.
func (r *Request) rejectRepeats() error {
	for _, p := range r.Endpoint.Params {
		if p.MaxValues == 0 && len(r.Query.Get(p.Name)) > 1 {
			return ModernBad("Only a single instance is supported for " + p.Name)
		}
	}
	return nil
}

// convert converts and checks the values of all parameters into r.converted. It returns nil if they are valid, else
// the problem of the response: that of the first parameter that cannot be converted, or else of all violated
// constraints. With ObjectBound it reports all invalid parameters of the query string at once, with short messages.
func (r *Request) convert() *Problem {
	e := r.Endpoint
	r.converted = map[string][]Value{}
	var unreadable, broken, messages []Item
	for i := range e.PathParams {
		p := &e.PathParams[i]
		v, ok := e.Value(r.Config, p, r.Path(p.Name))
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
			v, ok := e.Value(r.Config, p, text)
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

// texts returns the values of a parameter that apply. Blank values are ignored, and only the first value of a
// parameter that is not a list applies. A list may be one value with commas, unless objectBound is set.
func (p *Param) texts(given []string, objectBound bool) []string {
	switch {
	case len(given) == 0:
		return nil
	case p.MaxValues == 0:
		given = given[:1]
	case len(given) == 1 && !objectBound:
		given = strings.Split(given[0], ",")
	}
	return slices.DeleteFunc(list.Map(given, strings.TrimSpace), func(text string) bool { return text == "" })
}

// violations returns the messages for the constraints that the values of a parameter violate. Without any, the result
// is nil.
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

// ModernLimit returns the page size parameter of a modern endpoint, which sets r.Limit. Sizes below 1 are a 400. Sizes
// above most are a 400 too, or are reduced to most if capped is true.
func ModernLimit(most int, capped bool) Param {
	return Param{
		Name: "limit", Kind: Int32, Doc: "The maximum number of items, at least 1.",
		Check: func(v Value) string {
			switch {
			case v.Number <= 0:
				return "limit must be greater than 0"
			case v.Number > int64(most) && !capped:
				return "limit must be less than or equal to " + strconv.Itoa(most)
			default:
				return ""
			}
		},
		Bind: func(r *Request, values []Value) error {
			r.Limit = int(min(values[0].Number, int64(most)))
			return nil
		},
	}
}

// Limit returns the page size parameter of most modern endpoints, which sets r.Limit: 1 to 100. Others are a 400.
func Limit() Param { return ModernLimit(modernMaxLimit, false) }

// ModernOrder returns the order parameter of a modern endpoint, which sets r.Desc.
func ModernOrder() Param {
	return Param{
		Name: "order", Kind: OneOf("asc", "desc"), Doc: "Sort direction: ascending or descending.",
		Bind: func(r *Request, values []Value) error {
			r.Desc = values[0].Text == "desc"
			return nil
		},
	}
}

// AtLeast returns a check, for [Param.Check], that a number is not less than least. The check returns the detail of
// the problem, which has the given name of the parameter, or "".
func AtLeast(name string, least int64) func(Value) string {
	return func(v Value) string {
		if v.Number < least {
			return name + " must be greater than or equal to " + strconv.FormatInt(least, 10)
		}
		return ""
	}
}

// AtMost returns a check, for [Param.Check], that a number is not greater than most. The check returns the detail of
// the problem, which has the given name of the parameter, or "".
func AtMost(name string, most int64) func(Value) string {
	return func(v Value) string {
		if v.Number > most {
			return name + " must be less than or equal to " + strconv.FormatInt(most, 10)
		}
		return ""
	}
}

// Texts returns a binding that sets all given variables to the text of the first value. It ignores the operator and
// further values.
func Texts(variables ...string) Bind {
	return func(r *Request, values []Value) error {
		for _, name := range variables {
			r.Set(name, values[0].Text)
		}
		return nil
	}
}

// Numbers returns a binding that sets a filter of converted values. Several eq values are alternatives, the
// strictest bounds also apply, and ne is ignored.
func Numbers(variable string) Bind {
	return func(r *Request, values []Value) error {
		known := slices.DeleteFunc(slices.Clone(values), func(v Value) bool { return v.Op == Ne })
		r.Set(variable, (&Conditions{Values: known, AnyOf: true}).Filter())
		return nil
	}
}

// Bounds returns a binding that sets a filter with the last bound of each side: the lower one, which may be an eq,
// and the upper one. It ignores ne.
func Bounds(variable string) Bind {
	return func(r *Request, values []Value) error {
		var lower, upper *Value
		for i := range values {
			switch v := &values[i]; v.Op {
			case Eq, Gt, Gte:
				lower = v
			case Lt, Lte:
				upper = v
			case Ne:
			}
		}
		for _, v := range []*Value{lower, upper} {
			if v != nil {
				r.Set(variable+"."+string(v.Op), v.Text)
			}
		}
		return nil
	}
}

// Windows returns a binding that sets a filter of timestamps to a range. The last bound of a side applies, and eq
// means "at the latest".
func Windows(variable string) Bind {
	return func(r *Request, values []Value) error {
		r.Set(variable, LastRange(values, Lte).timestamps())
		return nil
	}
}

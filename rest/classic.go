package rest

import (
	"fmt"
	"slices"
)

// readClassic reads the path and the query string of a request of the classic family into the variables of r. It
// validates the whole query string before it binds values. With PathFirst, it binds those of the path before that. It
// leaves parameters without Bind to Finish. The error is the *Problem of the response.
func (r *Request) readClassic() error {
	e := r.Endpoint
	q, bad := parseQuery(r.HTTP.URL.RawQuery, r.Config.MaxRepeats)
	if bad != nil {
		switch {
		case bad.nested == "":
			return problem(bad.status, bad.text)
		case e.Grammar == InOrder && e.param(bad.nested) == nil:
			return Bad(unknown(bad.nested).Message)
		default:
			return InvalidParameter(bad.nested)
		}
	}
	r.Query = q
	if e.PathFirst && e.BindPath != nil {
		if err := e.BindPath(r); err != nil {
			return err
		}
	}
	if p := e.validate(r.Config, q); p != nil {
		return p
	}
	if !e.PathFirst && e.BindPath != nil {
		if err := e.BindPath(r); err != nil {
			return err
		}
	}
	for i := range q {
		p := e.param(q[i].Name)
		if p == nil || p.Bind == nil {
			continue
		}
		if err := p.Bind(r, r.Values(p.Name)); err != nil {
			return err
		}
	}
	return nil
}

// validate returns the problem of an invalid query string, or nil. [ByGroup] reports wrong counts, then invalid
// values, then each value of an unknown name; [InOrder] reports all in the order of the query. It changes nothing.
func (e *Endpoint) validate(c *Config, q Query) *Problem {
	var counts, bad, unknowns []Item
	for _, given := range q {
		items, group, p := []Item(nil), &bad, e.param(given.Name)
		switch n := len(given.Values); {
		case n > c.MaxRepeats:
			items, group = []Item{tooMany(given.Name, n, c.MaxRepeats)}, &counts
		case p == nil && e.Grammar == InOrder:
			items = []Item{unknown(given.Name)}
		case p == nil:
			items, group = slices.Repeat([]Item{unknown(given.Name)}, n), &unknowns
		default:
			for _, text := range given.Values {
				if _, ok := e.Value(c, p, text); !ok {
					items = append(items, invalid(given.Name))
				}
			}
		}
		if e.Grammar == InOrder {
			group = &bad
		}
		*group = append(*group, items...)
	}
	return problemOf(slices.Concat(counts, bad, unknowns))
}

// param returns the parameter of the query string with the name, or nil.
func (e *Endpoint) param(name string) *Param {
	if i := slices.IndexFunc(e.Params, func(p Param) bool { return p.Name == name }); i >= 0 {
		return &e.Params[i]
	}
	return nil
}

// unknown returns the message for a parameter that the endpoint does not have.
func unknown(name string) Item { return Item{Message: "Unknown query parameter: " + name} }

// invalid returns the message of a problem for a parameter with an invalid value, in the wording of the classic family.
func invalid(name string) Item { return Item{Message: "Invalid parameter: " + name} }

// tooMany returns the message for a parameter that was given n times, more than the maximum most.
func tooMany(name string, n, most int) Item {
	return Item{Message: fmt.Sprintf("Parameter values count exceeds maximum number allowed: %s count: %d max: %d",
		name, n, most)}
}

// problemOf returns a problem with the status 400 and the items, or nil if there are no items.
func problemOf(items []Item) *Problem {
	if items == nil {
		return nil
	}
	return &Problem{Status: 400, Items: items}
}

package rest

import "net/http"

// readClassic converts a request of the classic family to variables. maxLimit is the maximum page size.
func (r *Request) readClassic(maxLimit int) error {
	e := r.Endpoint
	q, bad := parseQuery(r.HTTP.URL.RawQuery, r.Config.MaxRepeats)
	if bad != nil {
		switch {
		case bad.nested == "":
			return &Problem{Status: bad.status, Items: []Item{{Message: bad.text}}}
		case e.Grammar == V1 && e.param(bad.nested) == nil:
			return &Problem{Status: http.StatusBadRequest, Items: []Item{unknown(bad.nested)}}
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
	if q.Get("limit") != nil { // the maximum does not apply to the default
		r.Limit = min(r.Limit, maxLimit)
	}
	return nil
}

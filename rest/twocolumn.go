package rest

import (
	"strconv"
)

// Column is a parameter that stands for a column by which a list is ordered.
type Column struct {
	// Cursor says how a page goes on by the parameter.
	Cursor
	// Field is the filter's field.
	Field string
	// Kind tells which values the parameter takes.
	Kind Kind
	// Doc says what the parameter does.
	Doc string
	// read makes a bound of a value; none tells that the value is nothing that a row could have.
	read func(c *Config, text string) (b bound[int64], none bool, err error)
}

// IDColumn is a column of entity ids.
func IDColumn(param, field, doc string, kind Kind) Column {
	return Column{Cursor: EntityIDCursor(param), Field: field, Kind: kind, Doc: doc, read: func(c *Config, text string) (bound[int64], bool, error) {
		var read conditions[int64]
		if err := addID(c, &read, Value{Op: Eq, Text: text}); err != nil {
			return bound[int64]{}, false, err
		}
		if read.matchesNone {
			return bound[int64]{}, true, nil
		}
		return read.eq[0], false, nil
	}}
}

// NumberColumn is a column of integers.
func NumberColumn(param, field, doc string, kind Kind) Column {
	return Column{Cursor: NumberCursor(param), Field: field, Kind: kind, Doc: doc, read: func(_ *Config, text string) (bound[int64], bool, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return bound[int64]{}, false, InvalidParameter(param)
		}
		return bound[int64]{n, text}, false, nil
	}}
}

// TwoColumns are two parameters by which a list is ordered and continued: the primary, and within its values the secondary one. A page may begin
// or end within a value of the primary column: "token 5 from serial 7 on, and all tokens after it".
type TwoColumns struct {
	Primary   Column
	Secondary Column
	// Filter is the variable with the graph's filter. Its fields are those of the columns, and anyOf for the parts of a range.
	Filter string
}

// term is one condition on a column.
type term struct {
	op   Op
	text string
	none bool
}

// terms are the conditions on a column, of each kind one at most.
type terms struct {
	eq, lower, upper *term
}

func (t *terms) isRange() bool { return t.lower != nil || t.upper != nil }

func (t *terms) isGiven() bool { return t.eq != nil || t.isRange() }

// all are the conditions that are given.
func (t *terms) all() []*term {
	var out []*term
	for _, c := range []*term{t.eq, t.lower, t.upper} {
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}

// strict is a bound without its own value.
func strict(t *term, op Op) *term { return &term{op: op, text: t.text, none: t.none} }

// conditionsOn is the graph's filter on a column, nil when there are no conditions.
func conditionsOn(list ...*term) map[string]any {
	if len(list) == 0 {
		return nil
	}
	f := map[string]any{}
	for _, t := range list {
		if t.none {
			f["in"] = []any{}
			continue
		}
		f[string(t.op)] = t.text
	}
	return f
}

// Params are the two parameters.
func (c *TwoColumns) Params() []Param {
	params := make([]Param, 0, 2)
	for _, col := range []*Column{&c.Primary, &c.Secondary} {
		params = append(params, Param{Name: col.Param, Kind: col.Kind, Doc: col.Doc, Bind: func(r *Request, values []Value) error {
			for _, v := range values {
				if _, _, err := col.read(r.Config, v.Text); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return params
}

// Next are the cursors of the two columns, as they are without conditions.
func (c *TwoColumns) Next() []Cursor {
	primary := c.Primary.Cursor
	primary.Inclusive = true
	return []Cursor{primary, c.Secondary.Cursor}
}

// Finish checks the conditions against each other, and puts them and the cursors into the request.
func (c *TwoColumns) Finish(r *Request) error {
	var p, s terms
	for _, given := range r.Query {
		for col, into := range map[*Column]*terms{&c.Primary: &p, &c.Secondary: &s} {
			if col.Param != given.Name {
				continue
			}
			if err := col.collect(r, into); err != nil {
				return err
			}
		}
	}
	if text := c.contradiction(&p, &s); text != "" {
		return Bad(text)
	}
	if p.eq != nil || !s.isRange() {
		r.Set(c.Filter+"."+c.Primary.Field, conditionsOn(p.all()...))
		r.Set(c.Filter+"."+c.Secondary.Field, conditionsOn(s.all()...))
	} else {
		r.Set(c.Filter+".anyOf", c.parts(&p, &s))
	}
	r.Next = c.Next()
	r.Next[0].Skip, r.Next[0].Inclusive = p.eq != nil, s.eq == nil
	r.Next[1].Skip = s.eq != nil
	return nil
}

// collect sorts the values of a column's parameter.
func (c *Column) collect(r *Request, into *terms) error {
	for _, v := range r.Values(c.Param) {
		at, text := &into.eq, "Only one equal (eq) operator is allowed for "
		switch v.Op {
		case Gt, Gte:
			at, text = &into.lower, "Only one gt/gte operator is allowed for "
		case Lt, Lte:
			at, text = &into.upper, "Only one lt/lte operator is allowed for "
		case Ne:
			return Bad("Not equal (ne) operator is not supported for " + c.Param)
		case Eq:
		}
		if *at != nil {
			return Bad(text + c.Param)
		}
		b, none, err := c.read(r.Config, v.Text)
		if err != nil {
			return err
		}
		*at = &term{op: v.Op, text: b.text, none: none}
	}
	return nil
}

// contradiction says why the conditions of the two columns cannot go together, or nothing.
func (c *TwoColumns) contradiction(p, s *terms) string {
	switch {
	case p.eq != nil && p.isRange():
		return "Can't support both range and equal for " + c.Primary.Param
	case s.eq != nil && s.isRange():
		return "Can't support both range and equal for " + c.Secondary.Param
	case s.isGiven() && !p.isGiven():
		return c.Secondary.Param + " without a " + c.Primary.Param + " parameter filter"
	case p.eq == nil && s.lower != nil && (p.lower == nil || p.lower.op == Gt):
		return c.Primary.Param + " must have gte or eq operator"
	case p.eq == nil && s.upper != nil && (p.upper == nil || p.upper.op == Lt):
		return c.Primary.Param + " must have lte or eq operator"
	default:
		return ""
	}
}

// parts are the alternatives that a range over both columns is made of: what lies in its first value of the primary column, in its last one, and
// between them.
func (c *TwoColumns) parts(p, s *terms) []any {
	if s.lower != nil && s.upper != nil && p.lower.text == p.upper.text {
		// Links lead here when a page ends in the range's last value. First and last part would overlap, and the links would never end.
		return []any{map[string]any{c.Primary.Field: conditionsOn(strict(p.lower, Eq)), c.Secondary.Field: conditionsOn(s.all()...)}}
	}
	var parts []any
	inner := *p
	end := func(of, within *term) {
		parts = append(parts, map[string]any{c.Primary.Field: conditionsOn(strict(of, Eq)), c.Secondary.Field: conditionsOn(within)})
	}
	if p.lower != nil && s.lower != nil {
		end(p.lower, s.lower)
		inner.lower = strict(p.lower, Gt)
	}
	if p.upper != nil && s.upper != nil {
		end(p.upper, s.upper)
		inner.upper = strict(p.upper, Lt)
	}
	return append(parts, map[string]any{c.Primary.Field: conditionsOn(inner.all()...)})
}

package rest

import (
	"fmt"
	"slices"
	"strconv"
)

// Column is a parameter for a column that a list is ordered by.
type Column struct {
	// Cursor continues a page by the parameter.
	Cursor
	// Field is the field of the graph's filter.
	Field string
	// Kind is the kind of values that the parameter accepts.
	Kind Kind
	// Doc describes the parameter.
	Doc string
	// read converts a value to a bound. none reports that no row can have the value.
	read func(c *Config, text string) (b bound[int64], none bool, err error)
}

// IDColumn returns a column of entity ids.
func IDColumn(param, field, doc string, kind Kind) Column {
	return Column{
		Cursor: EntityIDCursor(param), Field: field, Kind: kind, Doc: doc,
		read: func(c *Config, text string) (bound[int64], bool, error) {
			var read conditions[int64]
			if err := addID(c, &read, Value{Op: Eq, Text: text}); err != nil {
				return bound[int64]{}, false, err
			}
			if len(read.eq) == 0 {
				return bound[int64]{}, true, nil
			}
			return read.eq[0], false, nil
		},
	}
}

// NumberColumn returns a column of integers.
func NumberColumn(param, field, doc string, kind Kind) Column {
	return Column{
		Cursor: NumberCursor(param), Field: field, Kind: kind,
		Doc: doc, read: func(_ *Config, text string) (bound[int64], bool, error) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return bound[int64]{}, false, InvalidParameter(param)
			}
			return bound[int64]{n, text}, false, nil
		},
	}
}

// TwoColumns are two parameters that a list is ordered by and paged with: the primary column, and the secondary column
// within equal primary values. A page may begin or end within a primary value: "token 5 from serial 7 on, and all
// tokens after it".
type TwoColumns struct {
	Primary   Column
	Secondary Column
	// Filter is the variable for the graph's filter. The filter has the fields of the columns, and anyOf for the parts
	// of a range.
	Filter string
}

type term struct {
	op   Op
	text string
	none bool
}

// terms are the conditions on a column, at most one of each kind.
type terms struct {
	eq, lower, upper *term
}

// termsOf returns the conditions of values that [CheckBounds] has accepted.
func termsOf(values []Value) (t terms) {
	for _, v := range values {
		switch one := (&term{op: v.Op, text: v.Text}); v.Op {
		case Eq:
			t.eq = one
		case Gt, Gte:
			t.lower = one
		case Lt, Lte:
			t.upper = one
		case Ne:
		}
	}
	return t
}

func (t *terms) isRange() bool { return t.lower != nil || t.upper != nil }

func (t *terms) isGiven() bool { return t.eq != nil || t.isRange() }

// all returns the conditions that are set.
func (t *terms) all() []*term {
	return slices.DeleteFunc([]*term{t.eq, t.lower, t.upper}, func(c *term) bool { return c == nil })
}

// strict returns a bound that excludes its own value.
func strict(t *term, op Op) *term { return &term{op: op, text: t.text, none: t.none} }

// conditionsOn returns the graph's filter on a column, or nil without conditions.
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

// Params returns the two parameters.
func (c *TwoColumns) Params() []Param {
	params := make([]Param, 0, 2)
	for _, col := range []*Column{&c.Primary, &c.Secondary} {
		params = append(params, Param{
			Name: col.Param, Kind: col.Kind, Doc: col.Doc,
			Bind: func(r *Request, values []Value) error {
				for _, v := range values {
					if _, _, err := col.read(r.Config, v.Text); err != nil {
						return err
					}
				}
				return nil
			},
		})
	}
	return params
}

// Next returns the cursors of the two columns of an unfiltered list.
func (c *TwoColumns) Next() []Cursor {
	primary := c.Primary.Cursor
	primary.Inclusive = true
	return []Cursor{primary, c.Secondary.Cursor}
}

// Finish validates the combination of conditions and sets the filter and the cursors of the request.
func (c *TwoColumns) Finish(r *Request) error {
	var p, s terms
	for _, given := range r.Query {
		for col, into := range map[*Column]*terms{&c.Primary: &p, &c.Secondary: &s} {
			if col.Param != given.Name {
				continue
			}
			var err error
			if *into, err = col.collect(r); err != nil {
				return err
			}
		}
	}
	if err := checkTerms(c.Primary.Param, &p, c.Secondary.Param, &s); err != nil {
		return err
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

// collect parses the values of a column's parameter.
func (c *Column) collect(r *Request) (terms, error) {
	values := r.Values(c.Param)
	if err := CheckBounds(c.Param, values); err != nil {
		return terms{}, err
	}
	t := termsOf(values)
	for _, one := range t.all() {
		b, none, err := c.read(r.Config, one.text)
		if err != nil {
			return t, err
		}
		one.text, one.none = b.text, none
	}
	return t, nil
}

// parts returns the alternatives that form a range over both columns: the first primary value, the last one, and the
// values between them. If the range has one primary value, the first and the last part overlap and their union is
// selected, as the contract of the API requires.
func (c *TwoColumns) parts(p, s *terms) []any {
	var parts []any
	inner := *p
	end := func(of, within *term) {
		parts = append(parts, map[string]any{
			c.Primary.Field:   conditionsOn(strict(of, Eq)),
			c.Secondary.Field: conditionsOn(within),
		})
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

// CheckBounds fails unless the values of a parameter are a single eq or a range with at most one bound per side. The
// error names the first excess value.
func CheckBounds(name string, values []Value) error {
	seen := map[string]bool{}
	for _, v := range values {
		kind := ""
		switch v.Op {
		case Eq:
			kind = "equal (eq)"
		case Gt, Gte:
			kind = "gt/gte"
		case Lt, Lte:
			kind = "lt/lte"
		case Ne:
			return Bad("Not equal (ne) operator is not supported for " + name)
		}
		if seen[kind] {
			return Bad(fmt.Sprintf("Only one %s operator is allowed for %s", kind, name))
		}
		seen[kind] = true
	}
	return nil
}

// CheckPair fails if the values of two parameters do not form a range of a list ordered by the first parameter and
// then by the second. [CheckBounds] must have accepted the values of each.
func CheckPair(first string, firstValues []Value, second string, secondValues []Value) error {
	p, s := termsOf(firstValues), termsOf(secondValues)
	if s.eq != nil && p.eq == nil {
		return Bad(first + " must have eq operator")
	}
	return checkTerms(first, &p, second, &s)
}

// checkTerms fails if the conditions on two columns cannot be combined.
func checkTerms(first string, p *terms, second string, s *terms) error {
	switch {
	case p.eq != nil && p.isRange():
		return Bad("Can't support both range and equal for " + first)
	case s.eq != nil && s.isRange():
		return Bad("Can't support both range and equal for " + second)
	case s.isGiven() && !p.isGiven():
		return Bad(second + " without a " + first + " parameter filter")
	case p.eq == nil && s.lower != nil && (p.lower == nil || p.lower.op == Gt):
		return Bad(first + " must have gte or eq operator")
	case p.eq == nil && s.upper != nil && (p.upper == nil || p.upper.op == Lt):
		return Bad(first + " must have lte or eq operator")
	default:
		return nil
	}
}

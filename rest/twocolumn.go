package rest

import (
	"fmt"
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
	Doc  string
	read reader
}

// IDColumn returns a column of entity ids for [TwoColumns]: param is the parameter, field that of the filter, doc the
// description and kind the values of the parameter. An invalid id is a 400.
func IDColumn(param, field, doc string, kind Kind) Column {
	return Column{Cursor: EntityIDCursor(param), Field: field, Kind: kind, Doc: doc, read: readID}
}

// NumberColumn returns a column of 64-bit integers for [TwoColumns]: param is the parameter, field that of the filter,
// doc the description and kind the values of the parameter. Another text is a 400.
func NumberColumn(param, field, doc string, kind Kind) Column {
	return Column{
		Cursor: NumberCursor(param), Field: field, Kind: kind,
		Doc: doc, read: func(_ *Config, v Value) (Value, error) {
			if _, err := strconv.ParseInt(v.Text, 10, 64); err != nil {
				return v, InvalidParameter(param)
			}
			return v, nil
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

// sides are the conditions on a column that is paged by: at most one of each kind.
type sides struct{ eq, lower, upper *Value }

// sidesOf returns the conditions of values that [CheckBounds] has accepted, as pointers to them. A condition that is
// missing is nil.
func sidesOf(values []Value) (s sides) {
	for i := range values {
		switch v := &values[i]; v.Op {
		case Eq:
			s.eq = v
		case Gt, Gte:
			s.lower = v
		case Lt, Lte:
			s.upper = v
		case Ne:
		}
	}
	return s
}

// isRange reports whether the conditions on the column have a lower or upper bound.
func (s *sides) isRange() bool { return s.lower != nil || s.upper != nil }

// isGiven reports whether there is any condition on the column.
func (s *sides) isGiven() bool { return s.eq != nil || s.isRange() }

// with returns a pointer to a copy of the value with another operator.
func (v Value) with(op Op) *Value {
	v.Op = op
	return &v
}

// filterOf returns the graph's filter on a column, or nil without conditions. The filter has the text of each value by
// its operator. Nil values are skipped, and a value that no row can have becomes an empty "in".
func filterOf(list ...*Value) map[string]any {
	f := map[string]any(nil)
	for _, v := range list {
		switch {
		case v == nil:
			continue
		case f == nil:
			f = map[string]any{}
		}
		if v.None {
			f["in"] = []any{}
		} else {
			f[string(v.Op)] = v.Text
		}
	}
	return f
}

// Params returns the two parameters of the columns, the primary one first. Their bindings only check the values, of
// which invalid ones are a 400; [TwoColumns.Finish] sets the filter.
func (c *TwoColumns) Params() []Param {
	params := make([]Param, 0, 2)
	for _, col := range []*Column{&c.Primary, &c.Secondary} {
		params = append(params, Param{
			Name: col.Param, Kind: col.Kind, Doc: col.Doc,
			Bind: func(r *Request, values []Value) error {
				_, err := conditionsOf(r.Config, values, col.read)
				return err
			},
		})
	}
	return params
}

// Next returns new cursors of the two columns of an unfiltered list, the primary one first. The next page includes the
// last primary value of a page.
func (c *TwoColumns) Next() []Cursor {
	primary := c.Primary.Cursor
	primary.Inclusive = true
	return []Cursor{primary, c.Secondary.Cursor}
}

// Finish is the Finish of an endpoint: it validates the combination of conditions on both columns and sets the filter
// and the cursors of the request. Conditions that are invalid or cannot be combined are a 400.
func (c *TwoColumns) Finish(r *Request) error {
	var p, s sides
	for _, given := range r.Query {
		for col, into := range map[*Column]*sides{&c.Primary: &p, &c.Secondary: &s} {
			if col.Param != given.Name {
				continue
			}
			var err error
			if *into, err = col.collect(r); err != nil {
				return err
			}
		}
	}
	if err := checkSides(c.Primary.Param, &p, c.Secondary.Param, &s); err != nil {
		return err
	}
	if p.eq != nil || !s.isRange() {
		r.Set(c.Filter+"."+c.Primary.Field, filterOf(p.eq, p.lower, p.upper))
		r.Set(c.Filter+"."+c.Secondary.Field, filterOf(s.eq, s.lower, s.upper))
	} else {
		r.Set(c.Filter+".anyOf", c.parts(&p, &s))
	}
	r.Next = c.Next()
	r.Next[0].Skip, r.Next[0].Inclusive = p.eq != nil, s.eq == nil
	r.Next[1].Skip = s.eq != nil
	return nil
}

// collect returns the values of a column's parameter as bounds, or a 400 if they are not a single eq or a range, or
// one of them is invalid.
func (c *Column) collect(r *Request) (sides, error) {
	values := r.Values(c.Param)
	if err := CheckBounds(c.Param, values); err != nil {
		return sides{}, err
	}
	read, err := conditionsOf(r.Config, values, c.read)
	if err != nil {
		return sides{}, err
	}
	return sidesOf(read.Values), nil
}

// parts returns the alternatives of a filter that form a range over both columns: the first primary value, the last
// one, and the values between them. If the range has one primary value, the first and the last part overlap and their
// union is selected, as the contract of the API requires. It does not change p and s.
func (c *TwoColumns) parts(p, s *sides) []any {
	var parts []any
	inner := *p
	end := func(of, within *Value) {
		parts = append(parts, map[string]any{
			c.Primary.Field:   filterOf(of.with(Eq)),
			c.Secondary.Field: filterOf(within),
		})
	}
	if p.lower != nil && s.lower != nil {
		end(p.lower, s.lower)
		inner.lower = p.lower.with(Gt)
	}
	if p.upper != nil && s.upper != nil {
		end(p.upper, s.upper)
		inner.upper = p.upper.with(Lt)
	}
	return append(parts, map[string]any{c.Primary.Field: filterOf(inner.eq, inner.lower, inner.upper)})
}

// boundKinds are the kinds of conditions on a column, of which there can be one each.
var boundKinds = map[Op]string{Eq: "equal (eq)", Gt: "gt/gte", Gte: "gt/gte", Lt: "lt/lte", Lte: "lt/lte"}

// CheckBounds fails unless the values of a parameter are a single eq or a range with at most one bound per side. The
// error is the 400 for the first value that is in excess or has the operator ne.
func CheckBounds(name string, values []Value) error {
	seen := map[string]bool{}
	for _, v := range values {
		kind := boundKinds[v.Op]
		switch {
		case kind == "":
			return Bad("Not equal (ne) operator is not supported for " + name)
		case seen[kind]:
			return Bad(fmt.Sprintf("Only one %s operator is allowed for %s", kind, name))
		}
		seen[kind] = true
	}
	return nil
}

// CheckPair fails with a 400 if the values of two parameters do not form a range of a list ordered by the first
// parameter and then by the second. [CheckBounds] must have accepted the values of each.
func CheckPair(first string, firstValues []Value, second string, secondValues []Value) error {
	p, s := sidesOf(firstValues), sidesOf(secondValues)
	if s.eq != nil && p.eq == nil {
		return Bad(first + " must have eq operator")
	}
	return checkSides(first, &p, second, &s)
}

// checkSides fails with a 400 if the conditions p and s on two columns cannot be combined. first and second are their
// parameters.
func checkSides(first string, p *sides, second string, s *sides) error {
	switch {
	case p.eq != nil && p.isRange():
		return Bad("Can't support both range and equal for " + first)
	case s.eq != nil && s.isRange():
		return Bad("Can't support both range and equal for " + second)
	case s.isGiven() && !p.isGiven():
		return Bad(second + " without a " + first + " parameter filter")
	case p.eq == nil && s.lower != nil && (p.lower == nil || p.lower.Op == Gt):
		return Bad(first + " must have gte or eq operator")
	case p.eq == nil && s.upper != nil && (p.upper == nil || p.upper.Op == Lt):
		return Bad(first + " must have lte or eq operator")
	default:
		return nil
	}
}

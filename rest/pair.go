package rest

import "fmt"

// CheckBounds fails unless the values of a parameter are a single eq or a range with at most one bound per side. The error names the first excess value.
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

// CheckPair fails if the values of two parameters do not form a range of a list ordered by the first parameter and then by the second. [CheckBounds]
// must have accepted the values of each.
func CheckPair(first string, firstValues []Value, second string, secondValues []Value) error {
	p, s := boundsOf(firstValues), boundsOf(secondValues)
	switch {
	case s.eq && !p.eq:
		return Bad(first + " must have eq operator")
	case p.eq && p.isRange():
		return Bad("Can't support both range and equal for " + first)
	case s.eq && s.isRange():
		return Bad("Can't support both range and equal for " + second)
	case len(secondValues) > 0 && len(firstValues) == 0:
		return Bad(fmt.Sprintf("%s without a %s parameter filter", second, first))
	case s.lower != "" && !p.eq && p.lower != Gte:
		return Bad(first + " must have gte or eq operator")
	case s.upper != "" && !p.eq && p.upper != Lte:
		return Bad(first + " must have lte or eq operator")
	default:
		return nil
	}
}

// bounds are the operators of a parameter.
type bounds struct {
	eq           bool
	lower, upper Op
}

func boundsOf(values []Value) bounds {
	var b bounds
	for _, v := range values {
		switch v.Op {
		case Eq:
			b.eq = true
		case Gt, Gte:
			b.lower = v.Op
		case Lt, Lte:
			b.upper = v.Op
		case Ne:
		}
	}
	return b
}

func (b bounds) isRange() bool { return b.lower != "" || b.upper != "" }

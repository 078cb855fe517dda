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

// Package fees estimates the fee of a transaction before it is sent. It implements the fee schedule, which the network stores in file 0.0.113, and the
// charges of each transaction type. Amounts are in tinycents. A US cent has 10^8 tinycents. The package neither reads a database nor uses HTTP: callers
// pass the facts of the ledger that [Transaction.Questions] selects.
//
// Arithmetic is saturating on signed 64-bit integers.
package fees

import (
	"errors"
	"fmt"
	"math"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protowire"
)

// ErrSchedule is wrapped by all errors about malformed or inconsistent fee schedules.
var ErrSchedule = errors.New("no valid fee schedule")

// Schedule is a fee schedule. It is immutable.
type Schedule struct {
	nodeBase    int64
	node        []reference
	multiplier  int64
	hasNode     bool
	hasNetwork  bool
	prices      [extras]int64 // 0: no price; the price of a defined extra is positive
	services    []service
	definitions map[services.HederaFunctionality]*definition
}

// reference is an extra that is charged, and the number of units that are included.
type reference struct {
	extra    Extra
	included int64
}

// service is a group of definitions. Only validation uses it.
type service struct {
	name        string
	definitions []*definition
}

// definition has the charges of a transaction type.
type definition struct {
	function   services.HederaFunctionality
	base       int64
	extras     []reference
	exempt     bool // from the fees of node and network
	highVolume *rates
}

// rates are the high-volume multipliers of a transaction type, in thousandths.
type rates struct {
	most   int64
	points []point
}

// point is a point of the curve: a utilization in basis points and its multiplier.
type point struct{ utilization, multiplier int64 }

// find returns the reference to an extra in a definition.
func (d *definition) find(e Extra) (reference, bool) {
	for _, r := range d.extras {
		if r.extra == e {
			return r, true
		}
	}
	return reference{}, false
}

// ParseSchedule decodes and validates a serialized FeeSchedule. An unknown field makes the schedule invalid, because unknown prices must not be ignored. All
// errors wrap [ErrSchedule].
func ParseSchedule(content []byte) (*Schedule, error) {
	s := &Schedule{definitions: map[services.HederaFunctionality]*definition{}}
	if err := s.read(content); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchedule, err)
	}
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchedule, err)
	}
	for _, svc := range s.services {
		for _, d := range svc.definitions {
			if s.definitions[d.function] == nil { // the first one is used
				s.definitions[d.function] = d
				d.highVolume.sort()
			}
		}
	}
	s.services = nil
	return s, nil
}

// shape has the known fields of a message by number.
type shape map[protowire.Number]protowire.Type

const (
	number = protowire.VarintType
	nested = protowire.BytesType
)

// each calls f for every field of a serialized message that has only fields of the given shape.
func each(b []byte, fields shape, f func(num protowire.Number, v uint64, b []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("reading a tag: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if want, known := fields[num]; !known || want != typ {
			return fmt.Errorf("field %d with wire type %d is not known", num, typ)
		}
		var v uint64
		var content []byte
		if typ == number {
			v, n = protowire.ConsumeVarint(b)
		} else {
			content, n = protowire.ConsumeBytes(b)
		}
		if n < 0 {
			return fmt.Errorf("reading field %d: %w", num, protowire.ParseError(n))
		}
		b = b[n:]
		if err := f(num, v, content); err != nil {
			return err
		}
	}
	return nil
}

// read reads a FeeSchedule: 1 node, 2 network, 3 unreadable, 4 extras, 5 services.
func (s *Schedule) read(b []byte) error {
	return each(b, shape{1: nested, 2: nested, 3: nested, 4: nested, 5: nested}, func(num protowire.Number, _ uint64, b []byte) error {
		switch num {
		case 1:
			s.hasNode = true
			return s.readNode(b)
		case 2:
			s.hasNetwork = true
			return each(b, shape{1: number}, func(_ protowire.Number, v uint64, _ []byte) error {
				s.multiplier = int64(int32(v))
				return nil
			})
		case 3: // the fee of unreadable transactions, which cannot be estimated
			return each(b, shape{1: number}, func(protowire.Number, uint64, []byte) error { return nil })
		case 4:
			return s.readExtra(b)
		default:
			return s.readService(b)
		}
	})
}

// readNode reads a NodeFee: 1 base fee, 2 extras.
func (s *Schedule) readNode(b []byte) error {
	return each(b, shape{1: number, 2: nested}, func(num protowire.Number, v uint64, b []byte) (err error) {
		if num == 1 {
			s.nodeBase = int64(v)
			return nil
		}
		s.node, err = appendReference(s.node, b)
		return err
	})
}

// readExtra reads an ExtraFeeDefinition: 1 name, 2 fee.
func (s *Schedule) readExtra(b []byte) error {
	var name uint64
	var price int64
	err := each(b, shape{1: number, 2: number}, func(num protowire.Number, v uint64, _ []byte) error {
		if num == 1 {
			name = v
		} else {
			price = int64(v)
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("an extra: %w", err)
	case name >= extras:
		return fmt.Errorf("extra %d is not known", name)
	case s.prices[name] != 0:
		return fmt.Errorf("extra %s is priced twice", Extra(name))
	case price <= 0:
		return fmt.Errorf("extra %s costs %d", Extra(name), price)
	}
	s.prices[name] = price
	return nil
}

// appendReference reads an ExtraFeeReference: 1 name, 2 included count.
func appendReference(list []reference, b []byte) ([]reference, error) {
	var name uint64
	var included int64
	err := each(b, shape{1: number, 2: number}, func(num protowire.Number, v uint64, _ []byte) error {
		if num == 1 {
			name = v
		} else {
			included = int64(int32(v))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("a reference to an extra: %w", err)
	}
	if name >= extras {
		return nil, fmt.Errorf("extra %d is not known", name)
	}
	return append(list, reference{Extra(name), included}), nil
}

// readService reads a ServiceFeeSchedule: 1 name, 2 definitions.
func (s *Schedule) readService(b []byte) error {
	var svc service
	err := each(b, shape{1: nested, 2: nested}, func(num protowire.Number, _ uint64, b []byte) error {
		if num == 1 {
			svc.name = string(b)
			return nil
		}
		d, err := readDefinition(b)
		svc.definitions = append(svc.definitions, d)
		return err
	})
	s.services = append(s.services, svc)
	if err != nil {
		return fmt.Errorf("service %q: %w", svc.name, err)
	}
	return nil
}

// readDefinition reads a ServiceFeeDefinition: 1 function, 2 base fee, 3 extras, 4 free, 5 rates of high volume, 6 exempt from node and network.
func readDefinition(b []byte) (*definition, error) {
	d := &definition{}
	err := each(b, shape{1: number, 2: number, 3: nested, 4: number, 5: nested, 6: number}, func(num protowire.Number, v uint64, b []byte) (err error) {
		switch num {
		case 1:
			d.function = services.HederaFunctionality(int32(v))
		case 2:
			d.base = int64(v)
		case 3:
			d.extras, err = appendReference(d.extras, b)
		case 5:
			if d.highVolume == nil {
				d.highVolume = &rates{}
			}
			err = d.highVolume.read(b)
		case 6:
			d.exempt = protowire.DecodeBool(v)
		}
		return err
	})
	if err != nil {
		return d, fmt.Errorf("%s: %w", d.function, err)
	}
	return d, nil
}

// read reads a VariableRateDefinition: 2 maximum multiplier, 3 curve (1 piecewise linear (1 points)).
func (r *rates) read(b []byte) error {
	return each(b, shape{2: number, 3: nested}, func(num protowire.Number, v uint64, b []byte) error {
		if num == 2 {
			r.most = int64(int32(v))
			return nil
		}
		return each(b, shape{1: nested}, func(_ protowire.Number, _ uint64, b []byte) error {
			return each(b, shape{1: nested}, func(_ protowire.Number, _ uint64, b []byte) error {
				var p point
				err := each(b, shape{1: number, 2: number}, func(num protowire.Number, v uint64, _ []byte) error {
					if num == 1 {
						p.utilization = int64(int32(v))
					} else {
						p.multiplier = int64(int32(v))
					}
					return nil
				})
				r.points = append(r.points, p)
				return err
			})
		})
	})
}

// validate checks that all references have a price, that nothing is declared twice, and that nothing is negative.
func (s *Schedule) validate() error {
	switch {
	case !s.hasNode || !s.hasNetwork:
		return errors.New("the fee of the node or of the network is missing")
	case s.multiplier < 1:
		return fmt.Errorf("the network's multiplier is %d", s.multiplier)
	case len(s.services) == 0:
		return errors.New("there is no service")
	}
	if err := s.sound(s.nodeBase, s.node); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	seen := map[string]bool{}
	for _, svc := range s.services {
		if seen[svc.name] {
			return fmt.Errorf("service %q is there twice", svc.name)
		}
		seen[svc.name] = true
		if len(svc.definitions) == 0 {
			return fmt.Errorf("service %q defines nothing", svc.name)
		}
		defined := map[services.HederaFunctionality]bool{}
		for _, d := range svc.definitions {
			if defined[d.function] {
				return fmt.Errorf("service %q defines %s twice", svc.name, d.function)
			}
			defined[d.function] = true
			if err := s.sound(d.base, d.extras); err != nil {
				return fmt.Errorf("%s: %w", d.function, err)
			}
		}
	}
	return nil
}

// sound checks a base fee and its extras.
func (s *Schedule) sound(base int64, list []reference) error {
	if base < 0 {
		return fmt.Errorf("the base fee is %d", base)
	}
	var seen [extras]bool
	for _, r := range list {
		switch {
		case seen[r.extra]:
			return fmt.Errorf("extra %s is named twice", r.extra)
		case s.prices[r.extra] == 0:
			return fmt.Errorf("extra %s has no price", r.extra)
		case r.included < 0:
			return fmt.Errorf("%d of extra %s are included", r.included, r.extra)
		}
		seen[r.extra] = true
	}
	return nil
}

// plus and times return the sum and the product of non-negative numbers, saturating at the maximum.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// Package fees estimates the fee of a transaction before it is sent. It implements the fee schedule, which the network
// stores in file 0.0.113, and the charges of each transaction type. Amounts are in tinycents. A US cent has 10^8
// tinycents. The package neither reads a database nor uses HTTP: callers pass the facts of the ledger that
// [Transaction.Questions] selects.
//
// Arithmetic is saturating on signed 64-bit integers.
package fees

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/fees/feepb"
	"heliograph/internal/domain/ledger"
)

// ErrSchedule is wrapped by all errors about malformed or inconsistent fee schedules.
var ErrSchedule = errors.New("no valid fee schedule")

// Schedule is a fee schedule. It is immutable.
type Schedule struct {
	nodeBase    int64
	node        []reference
	multiplier  int64
	prices      [extras]int64 // 0: no price; the price of a defined extra is positive
	definitions map[services.HederaFunctionality]*definition
}

// reference is an extra that is charged, and the number of units that are included.
type reference struct {
	extra    Extra
	included int64
}

type definition struct {
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

// find returns the reference to an extra, with the number of included units, and whether the transaction type has it.
func (d *definition) find(e Extra) (reference, bool) {
	for _, r := range d.extras {
		if r.extra == e {
			return r, true
		}
	}
	return reference{}, false
}

// decode decodes a serialized FeeSchedule. It fails if a message has an unknown field, because unknown prices must not
// be ignored. Errors wrap [ErrSchedule]. It does not check the prices.
func decode(content []byte) (*feepb.FeeSchedule, error) {
	var file feepb.FeeSchedule
	err := proto.Unmarshal(content, &file)
	if err == nil {
		err = checkKnown(&file)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchedule, err)
	}
	return &file, nil
}

// checkKnown fails if a message or one of its nested messages has an unknown field. Known fields with another wire type
// count as unknown.
func checkKnown(m proto.Message) error {
	err := protorange.Range(m.ProtoReflect(), func(at protopath.Values) error {
		if m, ok := at.Index(-1).Value.Interface().(protoreflect.Message); ok && len(m.GetUnknown()) > 0 {
			num, typ, _ := protowire.ConsumeTag(m.GetUnknown())
			return fmt.Errorf("field %d with wire type %d is not known", num, typ)
		}
		return nil
	})
	return wrap.Error(err, "checking a message")
}

// ParseSchedule decodes and validates a serialized FeeSchedule. An unknown field makes the schedule invalid. All
// errors wrap [ErrSchedule].
func ParseSchedule(content []byte) (*Schedule, error) {
	file, err := decode(content)
	if err != nil {
		return nil, err
	}
	s, err := newSchedule(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchedule, err)
	}
	return s, nil
}

// GasPrice returns the price of gas in a serialized FeeSchedule, in tinycents. An unknown field makes the schedule
// invalid; the other prices need not be valid. All errors wrap [ErrSchedule]. The price is null if the schedule does
// not price gas.
func GasPrice(content []byte) (ledger.SimpleGas, error) {
	file, err := decode(content)
	if err != nil {
		return ledger.SimpleGas{}, err
	}
	for _, e := range file.GetExtras() {
		if e.GetName() == feepb.Extra_GAS {
			return ledger.SimpleGas(ledger.Of(e.GetFee())), nil
		}
	}
	return ledger.SimpleGas{}, nil
}

// newSchedule returns the schedule of a file. It fails if the fee of the node or of the network or all services are
// missing, if a reference has no price, if something is unknown or declared twice, if a price or the multiplier of the
// network is not positive, or if something else is negative. It does not keep the file.
func newSchedule(file *feepb.FeeSchedule) (*Schedule, error) {
	s := &Schedule{
		nodeBase: file.GetNode().GetBaseFee(), multiplier: int64(file.GetNetwork().GetMultiplier()),
		definitions: map[services.HederaFunctionality]*definition{},
	}
	for _, e := range file.GetExtras() {
		switch name := e.GetName(); {
		case name < 0 || name >= extras:
			return nil, fmt.Errorf("extra %d is not known", name)
		case s.prices[name] != 0:
			return nil, fmt.Errorf("extra %s is priced twice", name)
		case e.GetFee() <= 0:
			return nil, fmt.Errorf("extra %s costs %d", name, e.GetFee())
		default:
			s.prices[name] = e.GetFee()
		}
	}
	switch {
	case file.GetNode() == nil || file.GetNetwork() == nil:
		return nil, errors.New("the fee of the node or of the network is missing")
	case s.multiplier < 1:
		return nil, fmt.Errorf("the network's multiplier is %d", s.multiplier)
	case len(file.GetServices()) == 0:
		return nil, errors.New("there is no service")
	}
	var err error
	if s.node, err = s.references(s.nodeBase, file.GetNode().GetExtras()); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	seen := map[string]bool{}
	for _, svc := range file.GetServices() {
		if seen[svc.GetName()] {
			return nil, fmt.Errorf("service %q is there twice", svc.GetName())
		}
		seen[svc.GetName()] = true
		if err := s.addService(svc); err != nil {
			return nil, fmt.Errorf("service %q %w", svc.GetName(), err)
		}
	}
	return s, nil
}

// addService adds the definitions of a service to the schedule. If two services define a function, the first
// definition is used. It fails if the service is empty, defines a function twice, or has an invalid definition.
func (s *Schedule) addService(svc *feepb.ServiceFees) error {
	if len(svc.GetSchedule()) == 0 {
		return errors.New("defines nothing")
	}
	defined := map[services.HederaFunctionality]bool{}
	for _, d := range svc.GetSchedule() {
		if defined[d.GetName()] {
			return fmt.Errorf("defines %s twice", d.GetName())
		}
		defined[d.GetName()] = true
		list, err := s.references(d.GetBaseFee(), d.GetExtras())
		if err != nil {
			return fmt.Errorf("has an invalid definition of %s: %w", d.GetName(), err)
		}
		if s.definitions[d.GetName()] == nil {
			s.definitions[d.GetName()] = &definition{
				base: d.GetBaseFee(), extras: list, exempt: d.GetNodeNetworkFeeExempt(),
				highVolume: newRates(d.GetHighVolumeRates()),
			}
		}
	}
	return nil
}

// references returns the extras of a fee with their included units. It fails if the base fee is negative, or if an
// extra is unknown, repeated, without price or has a negative count. The prices of s must be set. It does not change
// s.
func (s *Schedule) references(base int64, list []*feepb.ExtraReference) ([]reference, error) {
	if base < 0 {
		return nil, fmt.Errorf("the base fee is %d", base)
	}
	var out []reference
	for _, r := range list {
		name, included := r.GetName(), r.GetIncludedCount()
		switch {
		case name < 0 || name >= extras:
			return nil, fmt.Errorf("extra %d is not known", name)
		case slices.ContainsFunc(out, func(other reference) bool { return other.extra == Extra(name) }):
			return nil, fmt.Errorf("extra %s is named twice", name)
		case s.prices[name] == 0:
			return nil, fmt.Errorf("extra %s has no price", name)
		case included < 0:
			return nil, fmt.Errorf("%d of extra %s are included", included, name)
		}
		out = append(out, reference{Extra(name), int64(included)})
	}
	return out, nil
}

// plus returns the sum of non-negative numbers, or the largest number if it does not fit.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// times returns the product of non-negative numbers, or the largest number if it does not fit.
func times(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// builtIn is the schedule of a new network, as JSON.
//
//go:embed simple_fees.json
var builtIn []byte

// Default returns the schedule of a new network, which is built in. Callers use it if the database has none. It parses
// it at each call. It fails only if the built-in file is wrong.
func Default() (*Schedule, error) {
	file, err := DefaultFile()
	if err != nil {
		return nil, err
	}
	return ParseSchedule(file)
}

// DefaultFile returns the content of the fee schedule file of a new network: a new serialized FeeSchedule. It fails
// only if the built-in JSON is wrong.
func DefaultFile() ([]byte, error) { return EncodeSchedule(builtIn) }

// EncodeSchedule converts a schedule from JSON to a serialized FeeSchedule, in the same order. It does not validate
// the schedule. Errors wrap [ErrSchedule].
func EncodeSchedule(text []byte) ([]byte, error) {
	var s feepb.FeeSchedule
	if err := protojson.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: reading its JSON form: %w", ErrSchedule, err)
	}
	b, err := proto.Marshal(&s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchedule, err)
	}
	return b, nil
}

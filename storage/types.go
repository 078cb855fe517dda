package storage

import (
	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/internal/ledger"
)

// registerTypes teaches a connection to read into the ledger's values without allocating: nullable columns into Null, and named integers
// as the integers they are. A null read into an EntityID is the id that names nothing.
func registerTypes(m *pgtype.Map) {
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapNull, wrapInteger}, m.TryWrapScanPlanFuncs...)
}

// nullable is a *ledger.Null of any type.
type nullable interface {
	ScanTarget() any
	SetValid(valid bool)
}

type nullPlan struct{ next pgtype.ScanPlan }

func (p *nullPlan) SetNext(next pgtype.ScanPlan) { p.next = next }

func (p *nullPlan) Scan(src []byte, dst any) error {
	n := dst.(nullable)
	n.SetValid(src != nil)
	if src == nil {
		return nil
	}
	return p.next.Scan(src, n.ScanTarget()) //nolint:wrapcheck // the driver names the column
}

func wrapNull(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	if n, ok := target.(nullable); ok {
		return &nullPlan{}, n.ScanTarget(), true
	}
	return nil, nil, false
}

// integerPlan reads a named integer type T as the basic type B it is made of.
type integerPlan[T, B any] struct {
	next pgtype.ScanPlan
	cast func(*T) *B
}

func (p *integerPlan[T, B]) SetNext(next pgtype.ScanPlan) { p.next = next }

func (p *integerPlan[T, B]) Scan(src []byte, dst any) error {
	v := p.cast(dst.(*T))
	if src == nil {
		var zero B
		*v = zero
		return nil
	}
	return p.next.Scan(src, v) //nolint:wrapcheck // the driver names the column
}

func wrapInteger(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	switch v := target.(type) {
	case *ledger.EntityID:
		return &integerPlan[ledger.EntityID, int64]{cast: func(v *ledger.EntityID) *int64 { return (*int64)(v) }}, (*int64)(v), true
	case *ledger.Timestamp:
		return &integerPlan[ledger.Timestamp, int64]{cast: func(v *ledger.Timestamp) *int64 { return (*int64)(v) }}, (*int64)(v), true
	case *ledger.TransactionType:
		return &integerPlan[ledger.TransactionType, int16]{cast: func(v *ledger.TransactionType) *int16 { return (*int16)(v) }}, (*int16)(v), true
	case *ledger.ResponseCode:
		return &integerPlan[ledger.ResponseCode, int16]{cast: func(v *ledger.ResponseCode) *int16 { return (*int16)(v) }}, (*int16)(v), true
	default:
		return nil, nil, false
	}
}

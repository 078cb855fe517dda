package storage

import (
	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/internal/ledger"
)

// registerTypes teaches the driver what the ledger's values are, for what [decoder] leaves to it: nullable columns are read into Null, named
// integers as the integers they are. A null read into an EntityID is the id that names nothing.
func registerTypes(m *pgtype.Map) {
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapNull, wrapInteger}, m.TryWrapScanPlanFuncs...)
}

// blob is a []byte that is read into an arena. A target is one of these where a column has bytes in most rows, and few of them.
type blob []byte

// arena is memory that the bytes of one connection are read into, one behind the other. A chunk of it lives as long as one of its values.
type arena struct{ free []byte }

// Sizes in bytes. What is larger than a part of a chunk gets memory of its own, so that little is lost at a chunk's end.
const (
	chunkSize = 4096
	mostShare = chunkSize / 8
)

// keep copies b; the copy of no bytes is not nil, which would be null.
func (a *arena) keep(b []byte) []byte {
	n := len(b)
	if n == 0 || n > mostShare {
		return append(make([]byte, 0, n), b...)
	}
	if n > len(a.free) {
		a.free = make([]byte, chunkSize)
	}
	kept := a.free[:n:n]
	a.free = a.free[n:]
	copy(kept, b)
	return kept
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

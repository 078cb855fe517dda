package storage

import (
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/internal/domain/ledger"
)

// registerTypes teaches the driver what the ledger's values are, for what [decoder] leaves to it: nullable columns are read into Null, named
// integers as the integers they are. A null read into an EntityID is the id that names nothing.
func registerTypes(m *pgtype.Map) {
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapNull, wrapInteger}, m.TryWrapScanPlanFuncs...)
	if number, ok := m.TypeForOID(pgtype.Int8OID); ok {
		m.RegisterType(&pgtype.Type{Name: "_int8", OID: pgtype.Int8ArrayOID, Codec: &int64Array{pgtype.ArrayCodec{ElementType: number}}})
	}
}

// int64Array is the driver's codec of bigint[], but for []int64, the ids and times of a page that nearly every statement for children has: the
// driver would look for the way to write each of its numbers.
type int64Array struct{ pgtype.ArrayCodec }

// PlanEncode implements pgtype.Codec.
func (c *int64Array) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.([]int64); ok && format == pgtype.BinaryFormatCode {
		return int64ArrayPlan{}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

type int64ArrayPlan struct{}

// Encode writes the array as PostgreSQL's array_recv reads it: number of dimensions, whether there are nulls, the element's type, then for the
// dimension its length and lower bound, then each element behind its length in bytes.
func (int64ArrayPlan) Encode(value any, buf []byte) ([]byte, error) {
	list := value.([]int64)
	if list == nil {
		return nil, nil
	}
	dimensions := min(len(list), 1)
	buf = slices.Grow(buf, 20+12*len(list))
	for _, v := range [...]int{dimensions, 0, pgtype.Int8OID} {
		buf = binary.BigEndian.AppendUint32(buf, uint32(v))
	}
	if dimensions == 0 {
		return buf, nil
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(list)))
	buf = binary.BigEndian.AppendUint32(buf, 1)
	for _, v := range list {
		buf = binary.BigEndian.AppendUint32(buf, 8)
		buf = binary.BigEndian.AppendUint64(buf, uint64(v))
	}
	return buf, nil
}

// Blob is a []byte that is read into an arena. A target is one of these where a column has bytes in most rows, and few of them.
type Blob []byte

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

package storage

import (
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/internal/domain/ledger"
)

// registerTypes registers the types of internal/domain/ledger with the driver, for the columns that [decoder] leaves to it: ledger.Null for nullable
// columns, and named integer types. Null is decoded into an EntityID or a Timestamp as 0.
func registerTypes(m *pgtype.Map) {
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapNull, wrapInteger}, m.TryWrapScanPlanFuncs...)
	if number, ok := m.TypeForOID(pgtype.Int8OID); ok {
		m.RegisterType(&pgtype.Type{Name: "_int8", OID: pgtype.Int8ArrayOID, Codec: &int64Array{pgtype.ArrayCodec{ElementType: number}}})
	}
}

// int64Array is the codec of bigint[]. It encodes []int64, the type of the IDs and timestamps of parents, faster than the driver, which would plan the
// encoding of each element.
type int64Array struct{ pgtype.ArrayCodec }

// PlanEncode implements pgtype.Codec.
func (c *int64Array) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.([]int64); ok && format == pgtype.BinaryFormatCode {
		return int64ArrayPlan{}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

type int64ArrayPlan struct{}

// Encode writes the binary format of arrays: number of dimensions, flag for nulls, type of the elements, length and lower bound of the dimension, then
// for each element its length in bytes and its value.
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

// Blob is a []byte that shares memory with the other values of its connection. Use it for columns with few bytes that are rarely null.
type Blob []byte

// arena allocates byte slices from chunks. A chunk is freed when none of its slices is referenced any more.
type arena struct{ free []byte }

// Sizes in bytes. Larger values are allocated separately, so that little memory is unused at the end of a chunk.
const (
	chunkSize = 4096
	maxShared = chunkSize / 8
)

// clone returns a copy of b that is not nil, even if b is empty.
func (a *arena) clone(b []byte) []byte {
	n := len(b)
	if n == 0 || n > maxShared {
		return append(make([]byte, 0, n), b...)
	}
	if n > len(a.free) {
		a.free = make([]byte, chunkSize)
	}
	out := a.free[:n:n]
	a.free = a.free[n:]
	copy(out, b)
	return out
}

// nullable is implemented by *ledger.Null[T].
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
	return p.next.Scan(src, n.ScanTarget()) //nolint:wrapcheck // the driver adds the name of the column
}

func wrapNull(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	if n, ok := target.(nullable); ok {
		return &nullPlan{}, n.ScanTarget(), true
	}
	return nil, nil, false
}

// integerPlan decodes the named integer type T as its underlying type B.
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
	return p.next.Scan(src, v) //nolint:wrapcheck // the driver adds the name of the column
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

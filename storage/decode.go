package storage

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/internal/domain/ledger"
)

// decoder decodes rows into the types of internal/domain/ledger. It decodes integers and lists of them, booleans, text
// and bytes itself; text and bytes share memory with other values, so that whoever keeps them for longer than a request
// should copy them. The driver decodes all other types, and invalid values, for which it
// returns an error. With the scanning of the driver, which plans each value, REST lists of 100 rows take 7 %
// (accounts), 8 % (transactions) and 10 % (messages) more CPU time in BenchmarkWays of app/testing/bench with that page
// size, and allocate twice as often.
//
// A connection has one decoder, because it reads the rows of one statement at a time.
type decoder struct {
	types   *pgtype.Map
	columns []pgconn.FieldDescription
	plans   []pgtype.ScanPlan // of the driver, for the columns that need one
	targets []any             // the pointers for the columns of a row
	arena   arena
}

// decoderKey is the key of the decoder in the custom data of a connection.
const decoderKey = "heliograph.decoder"

// decoderOf returns the decoder of the connection of rows, which it creates on first use, prepared for the columns
// of rows.
func decoderOf(rows pgx.Rows) *decoder {
	c := rows.Conn()
	own := c.PgConn().CustomData()
	d, ok := own[decoderKey].(*decoder)
	if !ok {
		d = &decoder{types: c.TypeMap()}
		own[decoderKey] = d
	}
	d.columns, d.plans = rows.FieldDescriptions(), d.plans[:0]
	return d
}

// row decodes the values of a row into d.targets. It fails if there are more or fewer values than targets, or if a
// value does not fit. It then names the column, and the targets before it are set.
func (d *decoder) row(values [][]byte) error {
	if len(values) != len(d.targets) {
		return fmt.Errorf("%d columns for %d targets", len(values), len(d.targets))
	}
	for i, target := range d.targets {
		if d.direct(i, values[i], target) {
			continue
		}
		if err := d.scan(i, values[i], target); err != nil {
			return fmt.Errorf("column %s: %w", d.columns[i].Name, err)
		}
	}
	return nil
}

// scan decodes the value of column i with pgx, whose plans are kept in d for the next rows of the statement: they have
// targets of the same types. It fails if the value does not fit the target; a null fits only targets that can be null.
func (d *decoder) scan(i int, src []byte, target any) error {
	if len(d.plans) == 0 {
		d.plans = slices.Grow(d.plans, len(d.columns))[:len(d.columns)]
		clear(d.plans)
	}
	if d.plans[i] == nil {
		d.plans[i] = d.types.PlanScan(d.columns[i].DataTypeOID, d.columns[i].Format, target)
	}
	return d.plans[i].Scan(src, target) //nolint:wrapcheck // the caller names the column
}

// direct decodes a value without the driver. It returns false if the driver has to decode the value or report its
// error: it does not support the combination of column and target, or the value does not fit. The target can then be
// changed to its zero value.
func (d *decoder) direct(i int, src []byte, target any) (ok bool) {
	switch t := target.(type) {
	case *int64:
		return d.integer(i, src, t)
	case *ledger.EntityID:
		return d.integerOrZero(i, src, (*int64)(t))
	case *ledger.Timestamp:
		return d.integerOrZero(i, src, (*int64)(t))
	case *ledger.Null[int64]:
		t.Valid = src != nil
		return d.integerOrZero(i, src, &t.V)
	case *ledger.Null[ledger.EntityID]:
		t.Valid = src != nil
		return d.integerOrZero(i, src, (*int64)(&t.V))
	case *ledger.Null[ledger.Timestamp]:
		t.Valid = src != nil
		return d.integerOrZero(i, src, (*int64)(&t.V))
	case *int16:
		return narrow(d, i, src, t)
	case *int32:
		return narrow(d, i, src, t)
	case *ledger.Null[int32]:
		t.Valid = src != nil
		return narrowOrZero(d, i, src, &t.V)
	case *ledger.Null[int16]:
		t.Valid = src != nil
		return narrowOrZero(d, i, src, &t.V)
	case *ledger.TransactionType:
		return narrowOrZero(d, i, src, (*int16)(t))
	case *ledger.ResponseCode:
		return narrowOrZero(d, i, src, (*int16)(t))
	case *bool:
		return d.boolean(i, src, t)
	case *ledger.Null[bool]:
		t.Valid, t.V = src != nil, false
		return src == nil || d.boolean(i, src, &t.V)
	case *string:
		return d.text(i, src, t)
	case *ledger.Null[string]:
		t.Valid, t.V = src != nil, ""
		return src == nil || d.text(i, src, &t.V)
	case *[]byte:
		return d.bytes(i, src, t)
	case *ledger.Key:
		return d.bytes(i, src, (*[]byte)(t))
	case *ledger.Alias:
		return d.bytes(i, src, (*[]byte)(t))
	case *ledger.LineBytes:
		return d.bytes(i, src, (*[]byte)(t))
	case *[]int64:
		return integers(d, i, src, t)
	case *[]ledger.EntityID:
		return integers(d, i, src, t)
	case *[][]byte:
		*t = nil
		return src == nil
	}
	return false
}

// binary reports whether column i has the type oid in its binary format.
func (d *decoder) binary(i int, oid uint32) bool {
	return d.columns[i].Format == pgx.BinaryFormatCode && d.columns[i].DataTypeOID == oid
}

// integer decodes an integer of any width into *into. It returns false, without a change, if pgx has to decode the
// value.
func (d *decoder) integer(i int, src []byte, into *int64) bool {
	if d.columns[i].Format != pgx.BinaryFormatCode {
		return false
	}
	switch oid := d.columns[i].DataTypeOID; {
	case oid == pgtype.Int8OID && len(src) == 8:
		*into = int64(binary.BigEndian.Uint64(src))
	case oid == pgtype.Int4OID && len(src) == 4:
		*into = int64(int32(binary.BigEndian.Uint32(src)))
	case oid == pgtype.Int2OID && len(src) == 2:
		*into = int64(int16(binary.BigEndian.Uint16(src)))
	default:
		return false
	}
	return true
}

// integerOrZero decodes an integer, and null as 0. It returns false, with 0 in *into, if pgx has to decode the value.
func (d *decoder) integerOrZero(i int, src []byte, into *int64) bool {
	*into = 0
	return src == nil || d.integer(i, src, into)
}

// narrow decodes an integer into a smaller type. It returns false, without a change, if pgx has to decode the value,
// or if it does not fit, so that the driver reports the error.
func narrow[T int32 | int16](d *decoder, i int, src []byte, into *T) bool {
	var v int64
	if !d.integer(i, src, &v) || int64(T(v)) != v {
		return false
	}
	*into = T(v)
	return true
}

// narrowOrZero decodes an integer into a smaller type, and null as 0. It returns false, with 0 in *into, if pgx has to
// decode the value, or if it does not fit, so that the driver reports the error.
func narrowOrZero[T int32 | int16](d *decoder, i int, src []byte, into *T) bool {
	*into = 0
	return src == nil || narrow(d, i, src, into)
}

// boolean decodes a Boolean into *into. It returns false, without a change, if pgx has to decode the value.
func (d *decoder) boolean(i int, src []byte, into *bool) bool {
	if len(src) != 1 || !d.binary(i, pgtype.BoolOID) {
		return false
	}
	*into = src[0] != 0
	return true
}

// text decodes a text into memory of the arena. It returns false, without a change, if pgx has to decode the value,
// also for null.
func (d *decoder) text(i int, src []byte, into *string) bool {
	oid, text := d.columns[i].DataTypeOID, d.columns[i].Format == pgx.TextFormatCode // for example, enums
	// both formats of text have the same bytes
	if src == nil || oid != pgtype.TextOID && oid != pgtype.VarcharOID && !text {
		return false
	}
	if len(src) == 0 {
		*into = ""
		return true
	}
	kept := d.arena.clone(src)
	*into = unsafe.String(unsafe.SliceData(kept), len(kept)) // these bytes are not modified
	return true
}

// bytes decodes bytes, and JSON as text, into memory of the arena, and null as nil. It returns false, with nil in
// *into, if pgx has to decode the value.
func (d *decoder) bytes(i int, src []byte, into *[]byte) bool {
	*into = nil
	if src == nil {
		return true
	}
	bytea := d.columns[i].DataTypeOID == pgtype.ByteaOID
	if bytea != (d.columns[i].Format == pgx.BinaryFormatCode) {
		return false
	}
	*into = d.arena.clone(src)
	return true
}

// integers decodes an array of bigint, which has the format of [int64ArrayPlan.Encode], and null as nil. It returns
// false, with nil in *into, if pgx has to decode the value: empty arrays, several dimensions, and null elements.
func integers[T ~int64](d *decoder, i int, src []byte, into *[]T) bool {
	*into = nil
	if src == nil {
		return true
	}
	if len(src) < 20 || !d.binary(i, pgtype.Int8ArrayOID) ||
		binary.BigEndian.Uint64(src) != 1<<32 /* one dimension, no nulls */ {
		return false
	}
	n := int(binary.BigEndian.Uint32(src[12:]))
	if len(src) != 20+12*n {
		return false
	}
	*into = make([]T, n)
	for k := range *into {
		(*into)[k] = T(binary.BigEndian.Uint64(src[24+12*k:]))
	}
	return true
}

// registerTypes registers ledger.Null with the driver, for the nullable columns that [decoder] leaves to it, and a
// faster codec of bigint[]. It changes m.
func registerTypes(m *pgtype.Map) {
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapNull}, m.TryWrapScanPlanFuncs...)
	if number, ok := m.TypeForOID(pgtype.Int8OID); ok {
		m.RegisterType(&pgtype.Type{
			Name: "_int8", OID: pgtype.Int8ArrayOID,
			Codec: &int64Array{pgtype.ArrayCodec{ElementType: number}},
		})
	}
}

// int64Array is the codec of bigint[]. It encodes []int64, the type of the IDs and timestamps of parents, faster than
// the driver, which plans the encoding of each element: that is 144 allocations for 25 transactions, and 6 % of the CPU
// (BenchmarkWays in app/testing/bench).
type int64Array struct{ pgtype.ArrayCodec }

// PlanEncode implements pgtype.Codec: it returns the faster plan for []int64 in the binary format, and that of the
// driver for other values.
func (c *int64Array) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.([]int64); ok && format == pgtype.BinaryFormatCode {
		return int64ArrayPlan{}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

type int64ArrayPlan struct{}

// Encode implements pgtype.EncodePlan: it appends value, a []int64, to buf and returns the result. The binary format
// of arrays is: number of dimensions, flag for nulls, type of the elements, length and lower bound of the dimension,
// then for each element its length in bytes and its value. A nil list is null: it returns nil. It never returns an
// error.
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

// arena allocates byte slices from chunks, each twice as large as the one before. A chunk is freed when none of its
// slices is referenced any more.
type arena struct {
	free []byte
	size int // of the last chunk
}

// Sizes in bytes. Larger values are allocated separately, so that little memory is unused at the end of a chunk.
const (
	chunkSize  = 4096
	firstChunk = chunkSize / 8
	maxShared  = firstChunk
)

// clone returns a copy of b that is not nil, even if b is empty. Small copies share memory, which stays allocated
// as long as any of them.
func (a *arena) clone(b []byte) []byte {
	n := len(b)
	if n == 0 || n > maxShared {
		return append(make([]byte, 0, n), b...)
	}
	if n > len(a.free) {
		a.size = min(max(2*a.size, firstChunk), chunkSize)
		a.free = make([]byte, a.size)
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

// SetNext sets the plan for values that are not null. The driver calls it.
func (p *nullPlan) SetNext(next pgtype.ScanPlan) { p.next = next }

// Scan implements pgtype.ScanPlan: it decodes src into dst, a nullable, or makes dst null if src is nil.
func (p *nullPlan) Scan(src []byte, dst any) error {
	n := dst.(nullable)
	n.SetValid(src != nil)
	if src == nil {
		return nil
	}
	return p.next.Scan(src, n.ScanTarget()) //nolint:wrapcheck // the driver adds the name of the column
}

// wrapNull returns the plan for values that can be null, and the target into which the next plan decodes a value. Of
// targets that are not nullable it returns false. It is one of pgtype.Map's functions TryWrapScanPlanFuncs.
func wrapNull(target any) (pgtype.WrappedScanPlanNextSetter, any, bool) {
	if n, ok := target.(nullable); ok {
		return &nullPlan{}, n.ScanTarget(), true
	}
	return nil, nil, false
}

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

// decoder reads the columns of one answer into the ledger's values. What nearly all columns are – whole numbers, truth values, texts and bytes –
// it reads itself, into memory that many values share; the driver reads the rest, and whatever is wrong, so that it says what.
//
// A connection has one decoder: it reads one answer at a time.
type decoder struct {
	types   *pgtype.Map
	columns []pgconn.FieldDescription
	plans   []pgtype.ScanPlan // the driver's, of the columns that needed one
	targets []any             // where the columns of a row go
	arena   arena
}

// ownDecoder is where a connection keeps its decoder.
const ownDecoder = "heliograph.decoder"

// decoderOf is the decoder of the rows' connection, ready for them.
func decoderOf(rows pgx.Rows) *decoder {
	c := rows.Conn()
	own := c.PgConn().CustomData()
	d, ok := own[ownDecoder].(*decoder)
	if !ok {
		d = &decoder{types: c.TypeMap()}
		own[ownDecoder] = d
	}
	d.columns, d.plans = rows.FieldDescriptions(), d.plans[:0]
	return d
}

// row reads the values of one row into the decoder's targets.
func (d *decoder) row(values [][]byte) error {
	if len(values) != len(d.targets) {
		return fmt.Errorf("%d columns do not go into %d values", len(values), len(d.targets))
	}
	for i, target := range d.targets {
		if d.direct(i, values[i], target) {
			continue
		}
		if err := d.driven(i, values[i], target); err != nil {
			return fmt.Errorf("column %s: %w", d.columns[i].Name, err)
		}
	}
	return nil
}

// driven leaves a value to the driver.
func (d *decoder) driven(i int, src []byte, target any) error {
	if b, ok := target.(*Blob); ok {
		target = (*[]byte)(b)
	}
	if len(d.plans) == 0 {
		d.plans = slices.Grow(d.plans, len(d.columns))[:len(d.columns)]
		clear(d.plans)
	}
	if d.plans[i] == nil {
		d.plans[i] = d.types.PlanScan(d.columns[i].DataTypeOID, d.columns[i].Format, target)
	}
	return d.plans[i].Scan(src, target) //nolint:wrapcheck // the caller names the column
}

// direct reads a value whose column and target are made for each other; ok is false when they are not.
func (d *decoder) direct(i int, src []byte, target any) (ok bool) {
	switch t := target.(type) {
	case *int64:
		return d.integer(i, src, t)
	case *ledger.EntityID:
		return d.orZero(i, src, (*int64)(t))
	case *ledger.Timestamp:
		return d.orZero(i, src, (*int64)(t))
	case *ledger.Null[int64]:
		t.Valid = src != nil
		return d.orZero(i, src, &t.V)
	case *ledger.Null[ledger.EntityID]:
		t.Valid = src != nil
		return d.orZero(i, src, (*int64)(&t.V))
	case *ledger.Null[ledger.Timestamp]:
		t.Valid = src != nil
		return d.orZero(i, src, (*int64)(&t.V))
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
		return d.truth(i, src, t)
	case *ledger.Null[bool]:
		t.Valid, t.V = src != nil, false
		return src == nil || d.truth(i, src, &t.V)
	case *string:
		return d.text(i, src, t)
	case *ledger.Null[string]:
		t.Valid, t.V = src != nil, ""
		return src == nil || d.text(i, src, &t.V)
	case *[]byte:
		*t = nil
		return src == nil
	case *[]int64:
		*t = nil
		return src == nil
	case *[][]byte:
		*t = nil
		return src == nil
	case *Blob:
		*t = nil
		if src == nil {
			return true
		}
		if d.binary(i, pgtype.ByteaOID) {
			*t = d.arena.keep(src)
			return true
		}
	}
	return false
}

func (d *decoder) binary(i int, oid uint32) bool {
	return d.columns[i].Format == pgx.BinaryFormatCode && d.columns[i].DataTypeOID == oid
}

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

// orZero reads a number, and null as 0.
func (d *decoder) orZero(i int, src []byte, into *int64) bool {
	*into = 0
	return src == nil || d.integer(i, src, into)
}

// narrow reads a number into a type that may be too small for it; then the driver says so.
func narrow[T int32 | int16](d *decoder, i int, src []byte, into *T) bool {
	var v int64
	if !d.integer(i, src, &v) || int64(T(v)) != v {
		return false
	}
	*into = T(v)
	return true
}

func narrowOrZero[T int32 | int16](d *decoder, i int, src []byte, into *T) bool {
	*into = 0
	return src == nil || narrow(d, i, src, into)
}

func (d *decoder) truth(i int, src []byte, into *bool) bool {
	if len(src) != 1 || !d.binary(i, pgtype.BoolOID) {
		return false
	}
	*into = src[0] != 0
	return true
}

func (d *decoder) text(i int, src []byte, into *string) bool {
	oid := d.columns[i].DataTypeOID
	if src == nil || oid != pgtype.TextOID && oid != pgtype.VarcharOID { // whose bytes are the same in both formats
		return false
	}
	if len(src) == 0 {
		*into = ""
		return true
	}
	kept := d.arena.keep(src)
	*into = unsafe.String(unsafe.SliceData(kept), len(kept)) // nobody else has these bytes, and nobody changes them
	return true
}

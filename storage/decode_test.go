package storage

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"heliograph/internal/domain/ledger"
)

// TestArena checks that adjacent values do not overlap, and that empty and null differ.
func TestArena(t *testing.T) {
	t.Parallel()
	var a arena
	if kept := a.clone([]byte{}); kept == nil || len(kept) != 0 {
		t.Errorf("no bytes are kept as %#v", kept)
	}
	var kept, want [][]byte
	for i := range 3 * chunkSize / 10 {
		b := bytes.Repeat([]byte{byte(i)}, i%20)
		kept, want = append(kept, a.clone(b)), append(want, bytes.Clone(b))
		clear(b) // the driver's memory is used again
	}
	large := a.clone(bytes.Repeat([]byte{1}, chunkSize))
	for i := range kept {
		_ = append(kept[i], 0xff) // must not reach the neighbour
	}
	for i := range kept {
		if !bytes.Equal(kept[i], want[i]) {
			t.Fatalf("value %d is %x, not %x", i, kept[i], want[i])
		}
	}
	if len(large) != chunkSize || large[0] != 1 {
		t.Error("a large value is lost")
	}
}

// TestDirect checks that values of the columns that most rows have are decoded without the driver, whose reflection
// takes ten times as long, and that it gets those that the decoder does not know.
func TestDirect(t *testing.T) {
	t.Parallel()
	number := binary.BigEndian.AppendUint64(nil, 7)
	list, err := int64ArrayPlan{}.Encode([]int64{7, 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target any
		oid    uint32
		value  []byte
	}{
		{new(int64), pgtype.Int8OID, number},
		{new(ledger.EntityID), pgtype.Int8OID, number},
		{new(int16), pgtype.Int2OID, number[6:]},
		{new(int32), pgtype.Int4OID, number[4:]},
		{new([]byte), pgtype.ByteaOID, number},
		{new(ledger.Key), pgtype.ByteaOID, number},
		{new(ledger.Alias), pgtype.ByteaOID, number},
		{new(ledger.LineBytes), pgtype.ByteaOID, number},
		{new([]int64), pgtype.Int8ArrayOID, list},
		{new([]ledger.EntityID), pgtype.Int8ArrayOID, list},
	} {
		d := decoder{columns: []pgconn.FieldDescription{{DataTypeOID: c.oid, Format: pgx.BinaryFormatCode}}}
		if !d.direct(0, c.value, c.target) {
			t.Errorf("%T: the driver decodes it", c.target)
		}
	}
	d := decoder{columns: []pgconn.FieldDescription{{DataTypeOID: pgtype.Int8ArrayOID, Format: pgx.BinaryFormatCode}}}
	for cut := range list {
		if d.direct(0, list[:cut], new([]int64)) {
			t.Errorf("%d bytes of an array are decoded", cut)
		}
	}
	for place := range 8 { // several dimensions, or with null elements
		other := bytes.Clone(list)
		other[place]++
		if d.direct(0, other, new([]int64)) {
			t.Errorf("an array with another byte %d is decoded", place)
		}
	}
}

package scalar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"heliograph/graph/fault"
	"heliograph/graph/relay"
	"heliograph/internal/base/values"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// reader is an Unmarshal function of any type.
type reader func(context.Context, any) (any, error)

func of[T any](read func(context.Context, any) (T, error)) reader {
	return func(ctx context.Context, v any) (any, error) { return read(ctx, v) }
}

// readers are the Unmarshal functions, by the names of the scalars. Of those that are generated, it has one of each
// kind.
func readers() map[string]reader {
	return map[string]reader{
		"Long": of(UnmarshalLong), "Int": of(UnmarshalInt), "Boolean": of(UnmarshalBoolean),
		"String": of(UnmarshalString), "EntityID": of(UnmarshalEntityID),
		"Timestamp": of(UnmarshalTimestamp), "Bytes": of(UnmarshalBytes), "Hex": of(UnmarshalHex),
		"Hash":          of(UnmarshalHash),
		"TransactionID": of(UnmarshalTransactionID), "AccountRef": of(UnmarshalAccountRef),
		"ContractRef": of(UnmarshalContractRef), "Order": of(UnmarshalOrder),
		"TransactionType": of(UnmarshalTransactionType), "ComponentStatus": of(UnmarshalComponentStatus),
		"DateTime": of(UnmarshalDateTime),
		"Date":     of(UnmarshalDate), "HbarAmount": of(UnmarshalHbarAmount), "NullLong": of(UnmarshalNullLong),
	}
}

// TestUnmarshal tests input values of the types that variables have.
func TestUnmarshal(t *testing.T) {
	t.Parallel()
	ctx := values.Context(t.Context(), (&Env{Base: ledger.EntityID(0).WithNum(0), ChainID: 295}).Value())
	hash := strings.Repeat("aB", 32)
	for _, c := range []struct {
		scalar string
		in     any
		want   any // nil for an error
	}{
		{"Long", json.Number("9223372036854775807"), int64(9223372036854775807)},
		{"Long", "-9223372036854775808", int64(-9223372036854775808)},
		{"Long", int64(5), int64(5)},
		{"Long", 5, int64(5)},
		{"Long", json.Number("9223372036854775808"), nil},
		{"Long", json.Number("1.5"), nil},
		{"Long", json.Number("1e3"), nil},
		{"Long", "", nil},
		{"Long", "0x5", nil},
		{"Long", true, nil},
		{"Long", 1.5, nil},
		{"Int", json.Number("-2147483648"), int32(-2147483648)},
		{"Int", int64(7), int32(7)},
		{"Int", int32(7), int32(7)},
		{"Int", json.Number("2147483648"), nil},
		{"Int", json.Number("1.0"), nil},
		{"Int", "5", nil},
		{"Boolean", true, true},
		{"Boolean", "true", nil},
		{"String", "x", "x"},
		{"String", json.Number("5"), nil},
		{"EntityID", "0.0.98", ledger.EntityID(98)},
		{"EntityID", json.Number("98"), ledger.EntityID(98)},
		{"EntityID", "0.98", ledger.EntityID(98)},
		{"EntityID", "1024.0.1", nil},
		{"EntityID", "", nil},
		{"EntityID", "-5", nil},
		{"Timestamp", "1.5", ledger.Timestamp(1_500_000_000)},
		{"Timestamp", json.Number("1"), ledger.Timestamp(1_000_000_000)},
		{"Timestamp", "1.", nil},
		{"Timestamp", "9223372037", nil},
		{"Bytes", "0xFB", []byte{0xfb}},
		{"Bytes", "fb", []byte{0xfb}},
		{"Bytes", "fbf", nil},
		{"Bytes", "+/8=", nil},
		{"Hash", hash, "0x" + strings.ToLower(hash)},
		{"Hash", "0x" + hash[:62], nil},
		{"TransactionID", "0.0.2-7-42", ledger.TransactionID{Payer: 2, ValidStart: 7_000_000_042}},
		{"TransactionID", "0.0.2@7", nil},
		{"TransactionID", "0.0.2@7.42", ledger.TransactionID{Payer: 2, ValidStart: 7_000_000_042}},
		{"AccountRef", "98", ledger.AccountRef{ID: 98}},
		{"AccountRef", "0x0000000000000000000000000000000000000062", ledger.AccountRef{ID: 98}},
		{"AccountRef", "0.0.2@7.42", ledger.AccountRef{ID: 2}},
		{"AccountRef", "0.0.2-x", nil},
		{"AccountRef", " 0.0.123-vfmkw ", ledger.AccountRef{ID: 123}}, // the example of HIP-15
		{"AccountRef", "0.0.123-vfmkx", nil},
		{"EntityID", "0.0.123-vfmkw", ledger.EntityID(123)},
		{"ContractRef", "0.0.123-vfmkw", ledger.ContractRef{ID: 123}},
		{"AccountRef", "x", nil},
		{"EntityID", "0x0000000000000000000000000000000000000062", ledger.EntityID(98)},
		{"EntityID", "0x" + hash[:40], nil},
		{"TransactionType", "CRYPTOTRANSFER", ledger.TransactionType(14)},
		{"TransactionType", "UNKNOWN", nil},
		{"Order", "DESC", relay.Desc},
		{"Order", true, nil},
		{"ComponentStatus", "OPERATIONAL", status.ComponentStatus("operational")},
		{"ComponentStatus", 1.5, nil},
		{"ContractRef", "x", nil},
		{"DateTime", "2026-01-31T12:00:00.0009Z", time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)},
		{"DateTime", "1969-12-31T23:59:59Z", nil},
		{"DateTime", "2026-01-31", nil},
		{"Date", "2026-01-31", status.Date("2026-01-31")},
		{"Date", "2026-02-30", nil},
		{"HbarAmount", "1", nil}, // not an input
		{"NullLong", "5", ledger.Of(int64(5))},
		{"NullLong", nil, ledger.Null[int64]{}},
		{"NullLong", "x", nil},
	} {
		got, err := readers()[c.scalar](ctx, c.in)
		name := fmt.Sprintf("%s of %#v", c.scalar, c.in)
		var own *fault.Error
		switch {
		case c.want == nil && (!errors.As(err, &own) || own.Code != fault.BadUserInput):
			t.Errorf("%s is %#v, error %v; want BAD_USER_INPUT", name, got, err)
		case c.want != nil && (err != nil || !reflect.DeepEqual(got, c.want)):
			t.Errorf("%s is %#v, error %v; want %#v", name, got, err, c.want)
		}
	}
}

// TestUnmarshalAnything tests that each function accepts any type of value, or rejects it with BAD_USER_INPUT.
func TestUnmarshalAnything(t *testing.T) {
	t.Parallel()
	for name, read := range readers() {
		for _, v := range []any{
			nil, true, "", "x", "\x00", json.Number("1e999"), 1.5,
			[]any{},
			map[string]any{},
			int64(-1), strings.Repeat("9", 400),
		} {
			_, err := read(t.Context(), v)
			var own *fault.Error
			if err != nil && (!errors.As(err, &own) || own.Code != fault.BadUserInput) {
				t.Errorf("%s of %#v: got %v, want BAD_USER_INPUT", name, v, err)
			}
		}
	}
}

// FuzzUnmarshal passes arbitrary strings and numbers to each Unmarshal function.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{
		"", "0.0.5", "1.5", "0xab", "ABCDE", "-1", "9223372036854775808", "0.0.2-7-42",
		"CRYPTOTRANSFER", "\xff\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, read := range readers() {
			for _, v := range []any{s, json.Number(s)} {
				_, err := read(t.Context(), v)
				var own *fault.Error
				if err != nil && (!errors.As(err, &own) || own.Code != fault.BadUserInput) {
					t.Errorf("%s of %#v: got %v, want BAD_USER_INPUT", name, v, err)
				}
			}
		}
	})
}

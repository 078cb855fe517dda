package ledger_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestEVMAddressOf(t *testing.T) {
	a, ok := ledger.EVMAddressOf(count(20))
	if !ok || a.String() != "0x0102030405060708090a0b0c0d0e0f1011121314" {
		t.Errorf("got %v, %v", a, ok)
	}
	for _, n := range []int{0, 19, 21} {
		if _, ok := ledger.EVMAddressOf(count(n)); ok {
			t.Errorf("%d bytes were taken for an address", n)
		}
	}
}

func TestEVMAddressNum(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		num      int64
		ok       bool
	}{
		{"long-zero", "0x00000000000000000000000000000000000004d2", 1234, true},
		{"long-zero of nothing", "0x0000000000000000000000000000000000000000", 0, true},
		{"long-zero of the greatest number", "0x0000000000000000000000000000003fffffffff", 274877906943, true},
		{"opaque: above the greatest number", "0x0000000000000000000000000000004000000000", 0, false},
		{"opaque: all of the last eight bytes", "0x000000000000000000000000ffffffffffffffff", 0, false},
		{"opaque: the twelfth byte is set", "0x00000000000000000000000100000000000004d2", 0, false},
		{"opaque: shard and realm in front", "0x00000001000000000000000200000000000004d2", 0, false},
		{"opaque: the first byte is set", "0x01000000000000000000000000000000000004d2", 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := ledger.ParseEVMAddress(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			num, ok := a.Num()
			if ok != tc.ok || ok && num != tc.num {
				t.Errorf("got %d, %v", num, ok)
			}
		})
	}
}

func TestParseEVMAddressAccepts(t *testing.T) {
	const want = "0xabcdefabcdef0123456789abcdefabcdef012345"
	for _, tc := range []struct{ name, in string }{
		{"with prefix", want},
		{"without prefix", want[2:]},
		{"upper case digits", strings.ToUpper(want[2:])},
		{"mixed case digits", "0xABCDEFabcdef0123456789abcdefABCDEF012345"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := ledger.ParseEVMAddress(tc.in)
			if err != nil || a.String() != want {
				t.Errorf("got %v, %v", a, err)
			}
		})
	}
}

func TestParseEVMAddressRejects(t *testing.T) {
	const length = "does not have 40 hex digits"
	for _, tc := range []struct{ name, in, errText string }{
		{"empty", "", length},
		{"prefix alone", "0x", length},
		{"39 digits", strings.Repeat("1", 39), length},
		{"41 digits", strings.Repeat("1", 41), length},
		{"prefix and 38 digits", "0x" + strings.Repeat("1", 38), length},
		{"a letter", strings.Repeat("1", 39) + "g", "'g' at 39 is not a hex digit"},
		{"second prefix as part of 40", "0x0x" + strings.Repeat("1", 38), "'x' at 1 is not a hex digit"},
		{"upper case prefix", "0X" + strings.Repeat("1", 40), length},
		{"shard and realm", "0.0." + strings.Repeat("1", 40), length},
		{"line break", strings.Repeat("1", 40) + "\n", length},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseEVMAddress(tc.in)
			wantError(t, err, ledger.ErrSyntax, tc.errText)
		})
	}
}

var evmAddressForm = regexp.MustCompile(`^(0x)?[A-Fa-f0-9]{40}$`)

func FuzzParseEVMAddress(f *testing.F) {
	for _, s := range []string{
		"0x00000000000000000000000000000000000004d2", strings.Repeat("Af", 20), "0x0x" + strings.Repeat("1", 38),
		"0x0000000000000000000000000000004000000000", "0X" + strings.Repeat("1", 40), "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ledger.ParseEVMAddress(s)
		if (err == nil) != evmAddressForm.MatchString(s) || err != nil && !errors.Is(err, ledger.ErrSyntax) {
			t.Fatalf("%q is %v, %v", s, a, err)
		}
		if err != nil {
			return
		}
		if back, err := ledger.ParseEVMAddress(a.String()); err != nil || back != a ||
			!strings.HasSuffix(a.String(), strings.ToLower(s)) {
			t.Fatalf("%q is %v, which parses to %v, %v", s, a, back, err)
		}
		if num, ok := a.Num(); ok && ledger.EntityID(0).WithNum(num).LongZero() != a {
			t.Fatalf("%v is not the long-zero address of %d", a, num)
		}
	})
}

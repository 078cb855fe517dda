package ledger_test

import (
	"errors"
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestParseContractRef(t *testing.T) {
	t.Parallel()
	const opaque, longZero = "00a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3", "000000000000000000000000000000000000791f"
	base, err := ledger.NewEntityID(1, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		{"31007", "1.2.31007"},
		{"3.31007", "1.3.31007"},
		{"0.0.31007", "0.0.31007"},
		{opaque, "0x" + opaque},
		{"0x00A1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3", "0x" + opaque},
		{"1.2." + opaque, "0x" + opaque},
		{"9.9." + opaque, "0x" + opaque},
		{"9." + opaque, "0x" + opaque},
		{longZero, "1.2.31007"},
		{"0x" + longZero, "1.2.31007"},
		{"2." + longZero, "1.2.31007"},
		{"1.2." + longZero, "1.2.31007"},
	} {
		got, err := ledger.ParseContractRef(c.in, base)
		if err != nil || got.String() != c.want {
			t.Errorf("%q is read as %s, %v; want %s", c.in, got, err, c.want)
		}
	}
	for _, c := range []struct{ in, id string }{
		{"-1", "1.2.-1"},
		{"1234567890123", "1.2.1234567890123"},
		{"0." + longZero, "1.0." + longZero},
		{"0.0." + longZero, "0.0." + longZero},
	} {
		_, err := ledger.ParseContractRef(c.in, base)
		var bad *ledger.EntityIDError
		if !errors.As(err, &bad) || bad.ID != c.id || !errors.Is(err, ledger.ErrRange) {
			t.Errorf("%q: %v; want an id out of range, %s", c.in, err, c.id)
		}
	}
	for _, in := range []string{
		"", "abc", "1.2.3.4", "1.2.3." + opaque, "0.0.0x" + opaque, "x." + opaque, "." + opaque, opaque[1:],
		opaque + "0", "12345." + "2." + opaque,
		"CIQNOWUYAGBLCCVX2VF75U6JMQDTUDXBOLZ5VJRDEWXQEGTI64DVCGQ",
	} {
		if _, err := ledger.ParseContractRef(in, base); !errors.Is(err, ledger.ErrSyntax) {
			t.Errorf("%q: %v; want a syntax error", in, err)
		}
	}
}

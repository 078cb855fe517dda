package ledger_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestAliasPrints(t *testing.T) {
	a := ledger.Alias(count(5))
	if a.String() != "AEBAGBAF" || string(a.Append([]byte("x"))) != "xAEBAGBAF" {
		t.Errorf("prints %s, appends %s", a, a.Append(nil))
	}
	if got := ledger.Alias(count(6)).String(); got != "AEBAGBAFAY" {
		t.Errorf("got %s, want no padding", got)
	}
}

func TestParseAliasAccepts(t *testing.T) {
	for _, tc := range []struct{ name, in, hex string }{
		{"length 2 mod 8", "74", "ff"},
		{"length 4 mod 8", "777Q", "ffff"},
		{"length 5 mod 8", "77776", "ffffff"},
		{"length 7 mod 8", "777777Y", "ffffffff"},
		{"length 0 mod 8", "77777777", "ffffffffff"},
		{"a 20-byte EVM address", "AEBAGBAFAYDQQCIKBMGA2DQPCAIREEYU", "0102030405060708090a0b0c0d0e0f1011121314"},
		{"zeros", "AA", "00"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseAlias(tc.in)
			if err != nil || hex.EncodeToString(got) != tc.hex {
				t.Errorf("%q is %x, %v; want %s", tc.in, []byte(got), err, tc.hex)
			}
		})
	}
}

func TestParseAliasRejects(t *testing.T) {
	const length, bits, letter = "no number of bytes has", "bits set that belong to no byte",
		"is not one of A to Z and 2 to 7"
	for _, tc := range []struct{ name, in, errText string }{
		{"empty", "", "empty"},
		{"length 1 mod 8", "A", length},
		{"length 3 mod 8", "AAA", length},
		{"length 6 mod 8", "AAAAAA", length},
		{"length 9", "AAAAAAAAA", length},
		{"trailing bits of length 2", "75", bits},
		{"trailing bits of length 4", "7773", bits},
		{"trailing bits of length 5", "77777", bits},
		{"trailing bits of length 7", "7777777", bits},
		{"lower case", "aa", "'a' at 0 " + letter},
		{"lower case in the middle", "AAaA", "'a' at 2 " + letter},
		{"digit 0", "A0", letter},
		{"digit 1", "A1", letter},
		{"digit 8", "A8", letter},
		{"digit 9", "A9", letter},
		{"padding", "AA======", "'=' at 2 " + letter},
		{"line break in the middle", "A\nA", letter},
		{"line break at the end", "AA\r\n", letter},
		{"line breaks that make up the length", "7\n\n\n\n\n\n4", letter},
		{"space", " AA", letter},
		{"point", "0.AA", letter},
		{"letter of another script", "AÀ", "'À' at 1 " + letter},
		{"bytes that are no text", "A\xff", "at 1 " + letter},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseAlias(tc.in)
			wantError(t, err, ledger.ErrSyntax, tc.errText)
		})
	}
}

var aliasForm = regexp.MustCompile(`^[A-Z2-7]+$`)

// goodAlias reports whether s is a valid alias. It counts bits: those after the last whole byte must be fewer than a
// letter has, and zero.
func goodAlias(s string) bool {
	if !aliasForm.MatchString(s) {
		return false
	}
	rest := len(s) * 5 % 8
	last := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", s[len(s)-1])
	return rest < 5 && last&(1<<rest-1) == 0
}

func FuzzParseAlias(f *testing.F) {
	for _, s := range []string{
		"AA", "74", "75", "777Q", "77776", "777777Y", "77777777", "AAA", "aa", "AA======",
		"7\n\n\n\n\n\n4", "0.0.AA", "",
	} {
		f.Add(s, []byte(s))
	}
	f.Fuzz(func(t *testing.T, s string, b []byte) {
		if back, err := ledger.ParseAlias(ledger.Alias(b).String()); (err == nil) != (len(b) > 0) ||
			!bytes.Equal(back, b) {
			t.Fatalf("%x prints %q, which parses to %x, %v", b, ledger.Alias(b), []byte(back), err)
		}
		got, err := ledger.ParseAlias(s)
		if (err == nil) != goodAlias(s) || err != nil && !errors.Is(err, ledger.ErrSyntax) {
			t.Fatalf("%q is %x, %v", s, []byte(got), err)
		}
		if err == nil && got.String() != s {
			t.Fatalf("%q prints as %q", s, got)
		}
	})
}

package ledger_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

// count returns n bytes: 1, 2, 3 and so on.
func count(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}

func TestParseHex(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []byte
	}{
		{"with prefix", "0x0102", []byte{1, 2}},
		{"without prefix", "0102", []byte{1, 2}},
		{"upper case digits", "0xFf", []byte{255}},
		{"no digits", "", nil},
		{"prefix alone", "0x", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseHex(tc.in)
			if err != nil || !bytes.Equal(got, tc.want) {
				t.Errorf("got %x, %v", got, err)
			}
		})
	}
	for _, tc := range []struct{ name, in, errText string }{
		{"odd number of digits", "0x123", "an odd number of digits"},
		{"letter", "0x1g", "'g' at 1 is not a hex digit"},
		{"second prefix", "0x0x12", "'x' at 1 is not a hex digit"},
		{"upper case prefix", "0X12", "'X' at 1 is not a hex digit"},
		{"space", " 12", "' ' at 0 is not a hex digit"},
		{"digit of another script", "1٣", "'٣' at 1 is not a hex digit"},
		{"bytes that are no text", "1\xff", "at 1 is not a hex digit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseHex(tc.in)
			wantError(t, err, ledger.ErrSyntax, tc.errText)
		})
	}
}

// TestAppendHexDigits tests each byte, after others.
func TestAppendHexDigits(t *testing.T) {
	for n := range 257 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i)
		}
		if got, want := string(ledger.AppendHexDigits([]byte("x"), b)), "x"+hex.EncodeToString(b); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
	}
}

func TestIsHex(t *testing.T) {
	for _, s := range []string{"0", "09afAF"} {
		if !ledger.IsHex(s) {
			t.Errorf("%q is hex", s)
		}
	}
	for _, s := range []string{"", "0x0", "g", "G", "/", ":", "`", "@", "٣"} {
		if ledger.IsHex(s) {
			t.Errorf("%q is not hex", s)
		}
	}
}

func TestHashPrints(t *testing.T) {
	if got := ledger.Hash(count(3)).String(); got != "0x010203" {
		t.Errorf("got %s", got)
	}
	if got := string(ledger.Hash{0xab}.Append([]byte("x"))); got != "x0xab" {
		t.Errorf("appended %s", got)
	}
}

func TestParseHashAccepts(t *testing.T) {
	short, long := hex.EncodeToString(count(32)), hex.EncodeToString(count(48))
	for _, tc := range []struct {
		name, in string
		want     []byte
	}{
		{"32 bytes", short, count(32)},
		{"32 bytes with prefix", "0x" + short, count(32)},
		{"48 bytes", long, count(48)},
		{"48 bytes with prefix", "0x" + long, count(48)},
		{"upper case digits", "0x" + strings.ToUpper(long), count(48)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseHash(tc.in)
			if err != nil || !bytes.Equal(got, tc.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestParseHashRejects(t *testing.T) {
	const length = "neither 64 nor 96 hex digits"
	for _, tc := range []struct{ name, in, errText string }{
		{"empty", "", length},
		{"prefix alone", "0x", length},
		{"31 bytes", strings.Repeat("1", 62), length},
		{"63 digits", strings.Repeat("1", 63), length},
		{"33 bytes", strings.Repeat("1", 66), length},
		{"49 bytes", strings.Repeat("1", 98), length},
		{"a letter", strings.Repeat("1", 63) + "g", "'g' at 63 is not a hex digit"},
		{"line break", strings.Repeat("1", 63) + "\n", "not a hex digit"},
		{"upper case prefix", "0X" + strings.Repeat("1", 64), length},
		{"upper case prefix as part of 64", "0X" + strings.Repeat("1", 62), "not a hex digit"},
		{"second prefix as part of 64", "0x0x" + strings.Repeat("1", 62), "not a hex digit"},
		{"second prefix as part of 96", "0x0x" + strings.Repeat("1", 94), "not a hex digit"},
		{"base64", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{255}, 48)), "not a hex digit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseHash(tc.in)
			wantError(t, err, ledger.ErrSyntax, tc.errText)
		})
	}
}

func TestParseTransactionHashAccepts(t *testing.T) {
	all := bytes.Repeat([]byte{0xfb, 0xff, 0xbf}, 16) // "+/+/" throughout
	std := base64.StdEncoding.EncodeToString(all)
	hexDigits := strings.Repeat("0123456789abcdef", 4)
	fromHexDigits, err := base64.StdEncoding.DecodeString(hexDigits)
	if err != nil {
		t.Fatal(err)
	}
	prefixed, err := base64.StdEncoding.DecodeString("0x" + hexDigits[:62])
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, in string
		want     []byte
	}{
		{"base64, standard alphabet", std, all},
		{"base64, URL alphabet", base64.URLEncoding.EncodeToString(all), all},
		{"base64, both alphabets mixed", strings.Replace(strings.Replace(std, "+", "-", 3), "/", "_", 5), all},
		{"64 hex digits are base64", hexDigits, fromHexDigits},
		{"0x and 62 hex digits are base64", "0x" + hexDigits[:62], prefixed},
		{"96 hex digits", hex.EncodeToString(count(48)), count(48)},
		{"96 hex digits with prefix", "0x" + hex.EncodeToString(count(48)), count(48)},
		{"96 upper case hex digits", strings.ToUpper(hex.EncodeToString(count(48))), count(48)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseTransactionHash(tc.in)
			if err != nil || !bytes.Equal(got, tc.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestParseTransactionHashRejects(t *testing.T) {
	const length = "neither 64 base64 letters nor 96 hex digits"
	for _, tc := range []struct{ name, in, errText string }{
		{"empty", "", length},
		{"63 letters", strings.Repeat("A", 63), length},
		{"65 letters", strings.Repeat("A", 65), length},
		{"0x and 64 hex digits", "0x" + strings.Repeat("1", 64), length},
		{"padding of one letter", strings.Repeat("A", 63) + "=", "not base64"},
		{"padding of two letters", strings.Repeat("A", 62) + "==", "not base64"},
		{"padding behind 64 letters", strings.Repeat("A", 64) + "==", length},
		{"letter of no alphabet", strings.Repeat("A", 63) + "*", "not base64"},
		{"line breaks among 64", strings.Repeat("A", 60) + "\n\r\n\n", "not base64"},
		{"line break behind 64", strings.Repeat("A", 64) + "\n", length},
		{"letter among 96 digits", strings.Repeat("1", 95) + "g", "'g' at 95 is not a hex digit"},
		{"second prefix", "0x0x" + strings.Repeat("1", 94), "not a hex digit"},
		{"upper case prefix", "0X" + strings.Repeat("1", 96), length},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseTransactionHash(tc.in)
			wantError(t, err, ledger.ErrSyntax, tc.errText)
		})
	}
}

var (
	hashForm            = regexp.MustCompile(`^(0x)?([0-9A-Fa-f]{64}|[0-9A-Fa-f]{96})$`)
	transactionHashForm = regexp.MustCompile(`^([\dA-Za-z+\-/_]{64}|(0x)?[\dA-Fa-f]{96})$`)
)

// checkHash compares a parser's result for s with the reference form.
func checkHash(t *testing.T, s string, form *regexp.Regexp, got ledger.Hash, err error) {
	t.Helper()
	if (err == nil) != form.MatchString(s) || err != nil && !errors.Is(err, ledger.ErrSyntax) {
		t.Fatalf("%q is %v, %v", s, got, err)
	}
	if err != nil {
		return
	}
	if back, err := ledger.ParseHash(got.String()); err != nil || !bytes.Equal(back, got) {
		t.Fatalf("%q is %v, which parses to %v, %v", s, got, back, err)
	}
}

func FuzzParseHash(f *testing.F) {
	for _, s := range []string{
		strings.Repeat("1f", 32), "0x" + strings.Repeat("F1", 48),
		"0x0x" + strings.Repeat("1", 62), "0x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ledger.ParseHash(s)
		checkHash(t, s, hashForm, got, err)
	})
}

func FuzzParseTransactionHash(f *testing.F) {
	for _, s := range []string{
		strings.Repeat("1f", 32), "0x" + strings.Repeat("F1", 48), "0x0x" + strings.Repeat("1", 94),
		strings.Repeat("+/-_", 16),
		strings.Repeat("A", 62) + "==", strings.Repeat("A", 60) + "\r\n\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ledger.ParseTransactionHash(s)
		checkHash(t, s, transactionHashForm, got, err)
		if err == nil && len(got) != ledger.LongHash {
			t.Fatalf("%q has %d bytes", s, len(got))
		}
	})
}

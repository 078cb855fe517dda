package ledger_test

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

func TestTimestampPrints(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   ledger.Timestamp
		want string
	}{
		{"zero", 0, "0.000000000"},
		{"less than a second keeps its zero", 123, "0.000000123"},
		{"nine digits of nanoseconds", 7_000_000_042, "7.000000042"},
		{"ordinary", 1700000001000000007, "1700000001.000000007"},
		{"whole seconds", 5_000_000_000, "5.000000000"},
		{"latest", ledger.MaxTimestamp, "9223372036.854775807"},
		{"a nanosecond before 1970", -1, "-0.000000001"},
		{"half a second before 1970", -500_000_000, "-0.500000000"},
		{"some seconds before 1970", -1_500_000_000, "-1.500000000"},
		{"earliest", math.MinInt64, "-9223372036.854775808"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.in.String(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if got := string(tc.in.Append([]byte("x"))); got != "x"+tc.want {
				t.Errorf("appended %s", got)
			}
		})
	}
}

func TestTimestampOfTime(t *testing.T) {
	at := time.Date(2023, 11, 14, 22, 13, 21, 7, time.FixedZone("", 3600))
	stamp := ledger.TimestampOf(at)
	if stamp != 1699996401000000007 {
		t.Errorf("got %d", stamp)
	}
	if back := stamp.Time(); !back.Equal(at) || back.Location() != time.UTC {
		t.Errorf("back to %v", back)
	}
}

func TestParseTimestampAccepts(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     ledger.Timestamp
	}{
		{"seconds only", "1700000001", 1700000001_000000000},
		{"zero", "0", 0},
		{"zero with a fraction", "0.0", 0},
		{"a fraction is padded on the right", "1.5", 1_500_000_000},
		{"leading zeros of a fraction count", "1.05", 1_050_000_000},
		{"all nine digits", "1700000001.000000007", 1700000001_000000007},
		{"leading zeros of the seconds", "0000000001.1", 1_100_000_000},
		{"latest instant", "9223372036.854775807", math.MaxInt64},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseTimestamp(tc.in)
			if err != nil || got != tc.want {
				t.Errorf("%q is %v, %v; want %v", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestParseTimestampRejects(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		kind     error
		errText  string
	}{
		{"empty", "", ledger.ErrSyntax, "seconds: digits are missing"},
		{"no seconds", ".5", ledger.ErrSyntax, "seconds: digits are missing"},
		{"no fraction after the point", "1.", ledger.ErrSyntax, "fraction: digits are missing"},
		{
			"eleven digits of seconds", "12345678901", ledger.ErrSyntax,
			"seconds: \"12345678901\" has more than 10 digits",
		},
		{"bare nanoseconds", "1700000001000000007", ledger.ErrSyntax, "more than 10 digits"},
		{
			"ten digits of a fraction", "1.0123456789", ledger.ErrSyntax,
			"fraction: \"0123456789\" has more than 9 digits",
		},
		{"two points", "1.2.3", ledger.ErrSyntax, `fraction: "2.3" is not a number`},
		{"dash", "1-2", ledger.ErrSyntax, "not a number"},
		{"negative", "-1", ledger.ErrSyntax, "not a number"},
		{"negative fraction", "1.-1", ledger.ErrSyntax, "not a number"},
		{"plus", "+1", ledger.ErrSyntax, "not a number"},
		{"exponent", "1e9", ledger.ErrSyntax, "not a number"},
		{"space", "1 ", ledger.ErrSyntax, "not a number"},
		{"line break", "1\n", ledger.ErrSyntax, "not a number"},
		{"letters", "now", ledger.ErrSyntax, "not a number"},
		{"a nanosecond after the latest", "9223372036.854775808", ledger.ErrRange, "is after 9223372036.854775807"},
		{"a second after the latest", "9223372037", ledger.ErrRange, "9223372037.000000000 is after"},
		{"greatest of the form", "9999999999.999999999", ledger.ErrRange, "is after"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseTimestamp(tc.in)
			wantError(t, err, tc.kind, tc.errText)
		})
	}
}

var timestampForm = regexp.MustCompile(`^(\d{1,10})(?:\.(\d{1,9}))?$`)

func FuzzParseTimestamp(f *testing.F) {
	for _, s := range []string{
		"0", "1.5", "1700000001.000000007", "9223372036.854775807", "9223372036.854775808",
		"9999999999", "1.", ".1", "-1", "1\n",
	} {
		f.Add(s, int64(-1))
	}
	f.Fuzz(func(t *testing.T, s string, nanos int64) {
		if stamp := ledger.Timestamp(nanos); stamp >= 0 {
			if back, err := ledger.ParseTimestamp(stamp.String()); err != nil || back != stamp {
				t.Fatalf("%d prints %q, which parses to %d, %v", nanos, stamp, back, err)
			}
		} else if text := stamp.String(); text[0] != '-' || len(text) < len("-0.000000000") {
			t.Fatalf("%d prints %q", nanos, text)
		}
		got, err := ledger.ParseTimestamp(s)
		m := timestampForm.FindStringSubmatch(s)
		if m == nil {
			if !errors.Is(err, ledger.ErrSyntax) {
				t.Fatalf("%q is %v, %v", s, got, err)
			}
			return
		}
		want, _ := new(big.Int).SetString(m[1]+m[2]+strings.Repeat("0", 9-len(m[2])), 10)
		switch {
		case !want.IsInt64():
			if !errors.Is(err, ledger.ErrRange) {
				t.Fatalf("%q is %v, %v", s, got, err)
			}
		case err != nil || int64(got) != want.Int64():
			t.Fatalf("%q is %d, %v; want %v", s, got, err, want)
		}
	})
}

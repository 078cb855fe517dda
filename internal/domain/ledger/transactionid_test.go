package ledger_test

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestTransactionIDPrints(t *testing.T) {
	for _, tc := range []struct {
		name string
		id   ledger.TransactionID
		want string
	}{
		{
			"nanoseconds have nine digits",
			ledger.TransactionID{Payer: 1234, ValidStart: 7_000_000_042},
			"0.0.1234-7-000000042",
		},
		{"zero", ledger.TransactionID{}, "0.0.0-0-000000000"},
		{
			"a high shard",
			ledger.TransactionID{Payer: -1, ValidStart: math.MaxInt64},
			"1023.65535.274877906943-9223372036-854775807",
		},
		{"before 1970", ledger.TransactionID{Payer: 5, ValidStart: -1_000_000_001}, "0.0.5--1-000000001"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.id.String(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if got := string(tc.id.Append([]byte("x"))); got != "x"+tc.want {
				t.Errorf("appended %s", got)
			}
		})
	}
}

func TestParseTransactionIDAccepts(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     ledger.TransactionID
	}{
		{
			"as printed", "0.0.1234-1700000001-000000007",
			ledger.TransactionID{Payer: 1234, ValidStart: 1700000001_000000007},
		},
		{"nanoseconds are not padded", "0.0.1234-1-5", ledger.TransactionID{Payer: 1234, ValidStart: 1_000_000_005}},
		{
			"nanoseconds with leading zeros", "0.0.1234-1-05",
			ledger.TransactionID{Payer: 1234, ValidStart: 1_000_000_005},
		},
		{
			"19 digits of seconds", "0.0.2-0000000000000000001-0",
			ledger.TransactionID{Payer: 2, ValidStart: 1_000_000_000},
		},
		{"another shard and realm", "3.4.5-0-0", ledger.TransactionID{Payer: entity(t, 3, 4, 5)}},
		{
			"latest valid start", "0.0.1-9223372036-854775807",
			ledger.TransactionID{Payer: 1, ValidStart: math.MaxInt64},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseTransactionID(tc.in)
			if err != nil || got != tc.want {
				t.Errorf("%q is %v, %v; want %v", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestParseTransactionIDRejects(t *testing.T) {
	const form = "is not shard.realm.num-seconds-nanoseconds"
	for _, tc := range []struct {
		name, in string
		kind     error
		errText  string
	}{
		{"empty", "", ledger.ErrSyntax, form},
		{"no valid start", "0.0.1", ledger.ErrSyntax, form},
		{"no nanoseconds", "0.0.1-1", ledger.ErrSyntax, form},
		{"separators of another notation", "0.0.1@1.1", ledger.ErrSyntax, form},
		{"points instead of dashes", "0.0.1.1.1", ledger.ErrSyntax, form},
		{"payer without shard", "0.1-1-1", ledger.ErrSyntax, form},
		{"payer of four parts", "0.0.0.1-1-1", ledger.ErrSyntax, form},
		{"empty part of the payer", "0..1-1-1", ledger.ErrSyntax, `entity id: "" is not a number`},
		{"letter in the payer", "0.0.a-1-1", ledger.ErrSyntax, `entity id: "a" is not a number`},
		{"empty seconds", "0.0.1--1", ledger.ErrSyntax, `seconds: "" is not a number`},
		{"20 digits of seconds", "0.0.1-00000000000000000001-1", ledger.ErrSyntax, "of at most 19 digits"},
		{"seconds beyond 64 bits", "0.0.1-9223372036854775808-1", ledger.ErrSyntax, "seconds do not fit into 64 bits"},
		{"empty nanoseconds", "0.0.1-1-", ledger.ErrSyntax, "nanoseconds: digits are missing"},
		{
			"ten digits of nanoseconds", "0.0.1-1-0123456789", ledger.ErrSyntax,
			"nanoseconds: \"0123456789\" has more than 9 digits",
		},
		{"something after the nanoseconds", "0.0.1-1-1-1", ledger.ErrSyntax, `nanoseconds: "1-1" is not a number`},
		{"query suffix of another notation", "0.0.1-1-1?s", ledger.ErrSyntax, "\"1?s\" is not a number"},
		{"line break", "0.0.1-1-1\n", ledger.ErrSyntax, "not a number"},
		{"shard of too many digits", "00000.0.1-1-1", ledger.ErrRange, `"00000.0.1": a part has too many digits`},
		{
			"number of too many digits", "0.0.1234567890123-1-1", ledger.ErrRange,
			`"0.0.1234567890123": a part has too many digits`,
		},
		{"shard above its greatest value", "1024.0.1-1-1", ledger.ErrRange, `"1024.0.1": shard 1024`},
		{"realm above its greatest value", "0.65536.01-1-1", ledger.ErrRange, `"0.65536.01": realm 65536`},
		{
			"a bad payer is reported before bad seconds", "0.65536.1-9223372036854775808-1", ledger.ErrRange,
			"realm 65536",
		},
		{"bad nanoseconds are reported before a bad payer", "0.65536.1-1-x", ledger.ErrSyntax, "nanoseconds"},
		{"greatest seconds", "0.0.1-9223372036854775807-1", ledger.ErrRange, "is after"},
		{"a nanosecond after the latest", "0.0.1-9223372036-854775808", ledger.ErrRange, "is after"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseTransactionID(tc.in)
			wantError(t, err, tc.kind, tc.errText)
			var idErr *ledger.EntityIDError
			if errors.As(err, &idErr) && !strings.HasPrefix(tc.in, idErr.ID+"-") {
				t.Errorf("the error has the id %q, not the input", idErr.ID)
			}
		})
	}
}

var transactionIDForm = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)-(\d{1,19})-(\d{1,9})$`)

func FuzzParseTransactionID(f *testing.F) {
	for _, s := range []string{
		"0.0.1234-1700000001-000000007", "0.0.1-1-5", "1023.65535.274877906943-9223372036-854775807",
		"0.0.1-9223372036854775808-1",
		"0.0.1-9223372036-854775808", "00000.0.1-1-1", "0.0.1@1.1", "0.0.1--1-1", "0.0.1-1-1\n",
	} {
		f.Add(s, int64(1234), int64(-1))
	}
	f.Fuzz(func(t *testing.T, s string, payer, start int64) {
		id := ledger.TransactionID{Payer: ledger.EntityID(payer), ValidStart: ledger.Timestamp(start)}
		if back, err := ledger.ParseTransactionID(id.String()); (err == nil) != (start >= 0) || err == nil &&
			back != id {
			t.Fatalf("%d, %d prints %q, which parses to %v, %v", payer, start, id, back, err)
		}
		got, err := ledger.ParseTransactionID(s)
		m := transactionIDForm.FindStringSubmatch(s)
		if m == nil {
			if !errors.Is(err, ledger.ErrSyntax) {
				t.Fatalf("%q is %v, %v", s, got, err)
			}
			return
		}
		payerText := strings.Join(m[1:4], ".")
		wantPayer, payerErr := ledger.ParseEntityID(payerText, 0)
		tooLate := len(m[4]) == 19 && m[4] > "9223372036854775807"
		var idErr *ledger.EntityIDError
		switch {
		case payerErr != nil:
			if !errors.As(err, &idErr) || idErr.ID != payerText {
				t.Fatalf("%q: %v", s, err)
			}
		case tooLate:
			if !errors.Is(err, ledger.ErrSyntax) {
				t.Fatalf("%q: %v", s, err)
			}
		case err != nil:
			if !errors.Is(err, ledger.ErrRange) || errors.As(err, &idErr) {
				t.Fatalf("%q: %v", s, err)
			}
		default:
			back, err := ledger.ParseTransactionID(got.String())
			if err != nil || back != got || got.Payer != wantPayer {
				t.Fatalf("%q is %v, which parses to %v, %v", s, got, back, err)
			}
		}
	})
}

package ledger_test

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

func TestEntityIDEncoding(t *testing.T) {
	for _, tc := range []struct {
		name              string
		shard, realm, num int64
		encoded           int64
		text              string
	}{
		{"in shard and realm 0 the id is the number", 0, 0, 1234, 1234, "0.0.1234"},
		{"nothing", 0, 0, 0, 0, "0.0.0"},
		{"realm starts at bit 38", 0, 1, 0, 1 << 38, "0.1.0"},
		{"shard starts at bit 54", 1, 0, 0, 1 << 54, "1.0.0"},
		{"all parts", 1, 2, 3, 1<<54 | 2<<38 | 3, "1.2.3"},
		{"greatest number", 0, 0, 274877906943, 274877906943, "0.0.274877906943"},
		{"greatest realm", 0, 65535, 1, 65535<<38 | 1, "0.65535.1"},
		{"greatest shard with a positive id", 511, 65535, 274877906943, math.MaxInt64, "511.65535.274877906943"},
		{"shard 512 sets the sign", 512, 0, 0, math.MinInt64, "512.0.0"},
		{"shard 512 with a number", 512, 0, 7, math.MinInt64 + 7, "512.0.7"},
		{"greatest of everything", 1023, 65535, 274877906943, -1, "1023.65535.274877906943"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id, err := ledger.NewEntityID(tc.shard, tc.realm, tc.num)
			if err != nil {
				t.Fatal(err)
			}
			if int64(id) != tc.encoded {
				t.Errorf("encoded as %d, want %d", int64(id), tc.encoded)
			}
			if id.Shard() != tc.shard || id.Realm() != tc.realm || id.Num() != tc.num {
				t.Errorf("parts are %d, %d, %d", id.Shard(), id.Realm(), id.Num())
			}
			if id.String() != tc.text || string(id.Append([]byte("x"))) != "x"+tc.text {
				t.Errorf("prints %q and appends %q, want %q", id, id.Append(nil), tc.text)
			}
			if id.IsNone() != (tc.num == 0) {
				t.Errorf("IsNone is %v", id.IsNone())
			}
			back, err := ledger.ParseEntityID(tc.text, 0)
			if err != nil || back != id {
				t.Errorf("parses back to %v, %v", back, err)
			}
		})
	}
}

func TestNewEntityIDRefusesPartsThatDoNotFit(t *testing.T) {
	for _, tc := range []struct {
		name              string
		shard, realm, num int64
		errText           string
	}{
		{"shard 1024", 1024, 0, 1, "shard 1024 is not between 0 and 1023"},
		{"negative shard", -1, 0, 1, "shard -1 is"},
		{"realm 65536", 0, 65536, 1, "realm 65536 is not between 0 and 65535"},
		{"negative realm", 0, -1, 1, "realm -1 is"},
		{"number of 39 bits", 0, 0, 1 << 38, "number 274877906944 is not between 0 and 274877906943"},
		{"negative number", 0, 0, -1, "number -1 is"},
		{"shard is named first", 1024, 65536, -1, "shard 1024"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.NewEntityID(tc.shard, tc.realm, tc.num)
			wantError(t, err, ledger.ErrRange, tc.errText)
		})
	}
}

func TestEntityIDWithNumKeepsShardAndRealm(t *testing.T) {
	for _, base := range []ledger.EntityID{0, entity(t, 1, 2, 3), entity(t, 1023, 65535, 274877906943)} {
		got := base.WithNum(98)
		if got != entity(t, base.Shard(), base.Realm(), 98) {
			t.Errorf("%v with number 98 is %v", base, got)
		}
	}
}

func TestEntityIDLongZero(t *testing.T) {
	for _, tc := range []struct {
		name string
		id   ledger.EntityID
		want string
	}{
		{"number 0", 0, "0x0000000000000000000000000000000000000000"},
		{"number 1234", 1234, "0x00000000000000000000000000000000000004d2"},
		{"greatest number", entity(t, 0, 0, ledger.MaxNum), "0x0000000000000000000000000000003fffffffff"},
		{"shard and realm are left out", entity(t, 1023, 65535, 255), "0x00000000000000000000000000000000000000ff"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := tc.id.LongZero()
			if a.String() != tc.want {
				t.Errorf("got %v, want %s", a, tc.want)
			}
			if num, ok := a.Num(); !ok || num != tc.id.Num() {
				t.Errorf("reads back as %d, %v", num, ok)
			}
		})
	}
}

func TestParseEntityIDAccepts(t *testing.T) {
	base := entity(t, 5, 6, 7)
	for _, tc := range []struct {
		name, in string
		want     ledger.EntityID
	}{
		{"number only takes shard and realm of base", "8", entity(t, 5, 6, 8)},
		{"realm and number take the shard of base", "9.8", entity(t, 5, 9, 8)},
		{"three parts are as given", "0.0.8", entity(t, 0, 0, 8)},
		{"zero", "0", entity(t, 5, 6, 0)},
		{"leading zeros", "0001.00002.000000000003", entity(t, 1, 2, 3)},
		{"twelve digits", "274877906943", entity(t, 5, 6, 274877906943)},
		{"greatest of everything", "1023.65535.274877906943", -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseEntityID(tc.in, base)
			if err != nil || got != tc.want {
				t.Errorf("%q is %v, %v; want %v", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestParseEntityIDRejects(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		kind     error
		errText  string
	}{
		{"empty", "", ledger.ErrSyntax, "number: digits are missing"},
		{"a point only", ".", ledger.ErrSyntax, "realm: digits are missing"},
		{"empty number", "0.0.", ledger.ErrSyntax, "number: digits are missing"},
		{"empty realm", "0..1", ledger.ErrSyntax, "realm: digits are missing"},
		{"empty shard", ".0.1", ledger.ErrSyntax, "shard: digits are missing"},
		{"four parts", "0.0.0.1", ledger.ErrSyntax, "more than three parts"},
		{"letters", "abc", ledger.ErrSyntax, `number: "abc" is not a number`},
		{"letters in the realm", "0.a.1", ledger.ErrSyntax, `realm: "a" is not a number`},
		{"hex", "0x10", ledger.ErrSyntax, "not a number"},
		{"space before", " 1", ledger.ErrSyntax, "not a number"},
		{"space after", "0.0.1 ", ledger.ErrSyntax, "not a number"},
		{"line break", "1\n", ledger.ErrSyntax, "not a number"},
		{"digits of another script", "١", ledger.ErrSyntax, "not a number"},
		{"plus sign", "+1", ledger.ErrSyntax, "not a number"},
		{"sign in a dotted id", "0.0.-1", ledger.ErrSyntax, `"-1" is not a number`},
		{"sign before a dotted id", "-1.0.1", ledger.ErrSyntax, `"-1" is not a number`},
		{"sign alone", "-", ledger.ErrSyntax, "not a number"},
		{"shard of five digits", "00001.0.1", ledger.ErrSyntax, "shard: \"00001\" has more than 4 digits"},
		{"realm of six digits", "000001.1", ledger.ErrSyntax, "realm: \"000001\" has more than 5 digits"},
		{
			"dotted number of 13 digits", "0.0.0000000000001", ledger.ErrSyntax,
			"number: \"0000000000001\" has more than 12 digits",
		},
		{"20 digits", "12345678901234567890", ledger.ErrSyntax, "more than 12 digits"},
		{"sign and 20 digits", "-12345678901234567890", ledger.ErrSyntax, "digits"},
		{"shard above its greatest value", "1024.0.1", ledger.ErrRange, "shard 1024 is not between"},
		{"realm above its greatest value", "0.65536.1", ledger.ErrRange, `"0.65536.1": realm 65536 is not between`},
		{"number above its greatest value", "274877906944", ledger.ErrRange, `"1.2.274877906944": number`},
		{
			"number of 13 digits", "1234567890123", ledger.ErrRange,
			`"1.2.1234567890123": the number has more than 12 digits`,
		},
		{"number of 13 digits that would fit", "0000000000001", ledger.ErrRange, "more than 12 digits"},
		{"number of 19 digits beyond 64 bits", "9999999999999999999", ledger.ErrRange, "more than 12 digits"},
		{"negative number", "-1", ledger.ErrRange, `"1.2.-1": the number has a sign`},
		{"encoded id of a high shard", "-9223372036854775808", ledger.ErrRange, "the number has a sign"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParseEntityID(tc.in, entity(t, 1, 2, 0))
			wantError(t, err, tc.kind, tc.errText)
			var idErr *ledger.EntityIDError
			if errors.As(err, &idErr) != errors.Is(tc.kind, ledger.ErrRange) {
				t.Errorf("error %q is of type %T", err, err)
			}
		})
	}
}

// The well-formed entity ids. Those of the second group are out of range unless they have at most 12 digits.
var (
	dottedID = regexp.MustCompile(`^(\d{1,4}\.)?\d{1,5}\.\d{1,12}$`)
	loneID   = regexp.MustCompile(`^-?\d{1,19}$`)
)

func FuzzParseEntityID(f *testing.F) {
	for _, s := range []string{
		"1", "0.1", "0.0.1", "1023.65535.274877906943", "-1", "1234567890123", "0.65536.1",
		"0.0.0.1", "x", "1\n", "00001.0.1",
	} {
		f.Add(s, int64(0))
		f.Add(s, int64(-1))
	}
	f.Fuzz(func(t *testing.T, s string, encoded int64) {
		base := ledger.EntityID(encoded)
		if back, err := ledger.ParseEntityID(base.String(), 0); err != nil || back != base {
			t.Fatalf("%d prints %q, which parses to %d, %v", encoded, base, back, err)
		}
		id, err := ledger.ParseEntityID(s, base)
		wellFormed := dottedID.MatchString(s) || loneID.MatchString(s)
		switch {
		case err == nil:
			if !wellFormed {
				t.Fatalf("%q was accepted", s)
			}
			// The oracle calculates with decimal text instead of bits.
			parts := strings.Split(s, ".")
			for len(parts) < 3 {
				parts = append([]string{strconv.FormatInt([]int64{base.Realm(), base.Shard()}[len(parts)-1], 10)},
					parts...)
			}
			for i := range parts {
				if parts[i] = strings.TrimLeft(parts[i], "0"); parts[i] == "" {
					parts[i] = "0"
				}
			}
			if want := strings.Join(parts, "."); id.String() != want {
				t.Fatalf("%q is %v, want %s", s, id, want)
			}
		case errors.Is(err, ledger.ErrSyntax) == wellFormed:
			t.Fatalf("%q: %v", s, err)
		}
	})
}

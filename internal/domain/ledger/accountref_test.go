package ledger_test

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

const opaque = "abcdefabcdef0123456789abcdefabcdef012345"

func TestParseAccountRefAccepts(t *testing.T) {
	home := entity(t, 1, 2, 0)
	address, err := ledger.ParseEVMAddress(opaque)
	if err != nil {
		t.Fatal(err)
	}
	byAddress := ledger.AccountRef{Address: ledger.Of(address)}
	byAlias := ledger.AccountRef{Alias: count(5)}
	for _, tc := range []struct {
		name, in string
		want     ledger.AccountRef
	}{
		{"number", "5", ledger.AccountRef{ID: entity(t, 1, 2, 5)}},
		{"realm and number", "9.5", ledger.AccountRef{ID: entity(t, 1, 9, 5)}},
		{"id of another shard and realm", "0.0.5", ledger.AccountRef{ID: 5}},
		{"letters of an alias that are all digits are a number", "2222", ledger.AccountRef{ID: entity(t, 1, 2, 2222)}},
		{"opaque address", opaque, byAddress},
		{"opaque address with prefix", "0x" + opaque, byAddress},
		{"opaque address in upper case", strings.ToUpper(opaque), byAddress},
		{"opaque address with shard and realm", "1.2." + opaque, byAddress},
		{"opaque address with realm", "2." + opaque, byAddress},
		{"opaque address with leading zeros in shard and realm", "0001.00002." + opaque, byAddress},
		{
			"long-zero address", "0x00000000000000000000000000000000000004d2",
			ledger.AccountRef{ID: entity(t, 1, 2, 1234)},
		},
		{
			"long-zero address of 40 digits", "0000000000000000000000000000000000000123",
			ledger.AccountRef{ID: entity(t, 1, 2, 0x123)},
		},
		{
			"long-zero address with shard and realm", "1.2.00000000000000000000000000000000000004d2",
			ledger.AccountRef{ID: entity(t, 1, 2, 1234)},
		},
		{"long-zero address of nothing", strings.Repeat("0", 40), ledger.AccountRef{ID: home}},
		{"alias", "AEBAGBAF", byAlias},
		{"alias with realm", "2.AEBAGBAF", byAlias},
		{"alias with shard and realm", "1.2.AEBAGBAF", byAlias},
		{"alias with five digits of shard", "00001.00002.AEBAGBAF", byAlias},
		{"letters of hex only, but not 40", "ABCDEFAA", ledger.AccountRef{Alias: unhex(t, "0044321400")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseAccountRef(tc.in, home)
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Fatalf("got %+v, %v; want %+v", got, err, tc.want)
			}
			back, err := ledger.ParseAccountRef(got.String(), home)
			if err != nil || !reflect.DeepEqual(back, got) {
				t.Errorf("prints %q, which parses to %+v, %v", got, back, err)
			}
		})
	}
}

func TestParseAccountRefRejects(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		kind     error
		errText  string
	}{
		{"empty", "", ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"neither id nor alias", "hello", ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"empty number", "0.0.", ledger.ErrSyntax, "digits are missing"},
		{"empty part", "0..1", ledger.ErrSyntax, "digits are missing"},
		{"letter in an id", "0.0.a", ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"four parts", "0.0.0.1", ledger.ErrSyntax, "more than three parts"},
		{"sign in a dotted id", "0.0.-1", ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{
			"20 digits, though an alias could have them", "22222222222222222222", ledger.ErrSyntax,
			"more than 12 digits",
		},
		{"13 digits", "1234567890123", ledger.ErrRange, `"1.2.1234567890123"`},
		{"negative number", "-5", ledger.ErrRange, `"1.2.-5"`},
		{"shard above its greatest value", "1024.0.1", ledger.ErrRange, "shard 1024"},
		{"number above its greatest value", "274877906944", ledger.ErrRange, "number 274877906944"},
		{
			"address with 0x behind shard and realm", "1.2.0x" + opaque, ledger.ErrSyntax,
			"no entity id, EVM address or alias",
		},
		{"address of 39 digits", opaque[1:], ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"address with a second prefix", "0x0x" + opaque[2:], ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"address with an upper case prefix", "0X" + opaque, ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"address of a foreign shard", "0.2." + opaque, ledger.ErrSyntax, "shard and realm are not 1.2"},
		{"address of a foreign realm", "3." + opaque, ledger.ErrSyntax, "shard and realm are not 1.2"},
		{"address of a shard that cannot exist", "9999.2." + opaque, ledger.ErrSyntax, "shard and realm are not 1.2"},
		{
			"address with five digits of shard", "00001.2." + opaque, ledger.ErrSyntax,
			"shard: \"00001\" has more than 4 digits",
		},
		{"address with an empty realm", "1.." + opaque, ledger.ErrSyntax, "realm: digits are missing"},
		{"address with three parts in front", "1.1.2." + opaque, ledger.ErrSyntax, `realm: "1.2" is not a number`},
		{"alias in lower case", "aebagbaf", ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"alias of impossible length", "AEBAGB", ledger.ErrSyntax, "no number of bytes has 6 letters"},
		{"alias with trailing bits", "AB", ledger.ErrSyntax, "bits set that belong to no byte"},
		{"alias with padding", "AA======", ledger.ErrSyntax, "no entity id, EVM address or alias"},
		{"alias of a foreign shard", "0.2.AEBAGBAF", ledger.ErrSyntax, "shard and realm are not 1.2"},
		{"alias of a foreign realm", "0.AEBAGBAF", ledger.ErrSyntax, "shard and realm are not 1.2"},
		{
			"alias with six digits of shard", "000001.2.AEBAGBAF", ledger.ErrSyntax,
			"shard: \"000001\" has more than 5 digits",
		},
		{"alias with a shard that is no number", "A.2.AEBAGBAF", ledger.ErrSyntax, `shard: "A" is not a number`},
		{"alias with a point only", ".AEBAGBAF", ledger.ErrSyntax, "realm: digits are missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParseAccountRef(tc.in, entity(t, 1, 2, 0))
			wantError(t, err, tc.kind, tc.errText)
			if !reflect.DeepEqual(got, ledger.AccountRef{}) {
				t.Errorf("an account in spite of the error: %+v", got)
			}
		})
	}
}

var (
	prefixedAddress = regexp.MustCompile(`^(?:(?:0x)?|(?:(\d{1,4})\.)?(\d{1,5})\.)[A-Fa-f0-9]{40}$`)
	prefixedAlias   = regexp.MustCompile(`^(?:(\d{1,5})\.)?(?:(\d{1,5})\.)?([A-Z2-7]+)$`)
	addressEnd      = regexp.MustCompile(`(^|^0x|\.)[A-Fa-f0-9]{40}$`)
	digitsAndPoints = regexp.MustCompile(`^[\d.]*$`)
)

// refKind returns the kind of reference that s is. It tests the forms in order: id, address, alias, or none. Shard and
// realm before an address or alias must be 0, and may only be spelled with zeros.
func refKind(s string) string {
	zero := func(parts ...string) bool { return strings.Trim(strings.Join(parts, ""), "0") == "" }
	switch {
	case dottedID.MatchString(s) || loneID.MatchString(s):
		return "id"
	case addressEnd.MatchString(s):
		if m := prefixedAddress.FindStringSubmatch(s); m != nil && zero(m[1:3]...) {
			return "address"
		}
	case digitsAndPoints.MatchString(s):
	default:
		if m := prefixedAlias.FindStringSubmatch(s); m != nil && zero(m[1:3]...) && goodAlias(m[3]) {
			return "alias"
		}
	}
	return ""
}

func FuzzParseAccountRef(f *testing.F) {
	for _, s := range []string{
		"5", "0.5", "0.0.5", "-5", "1234567890123", "22222222222222222222", opaque, "0x" + opaque, "0.0." + opaque,
		"00000.0." + opaque,
		"1." + opaque, "0.0.0x" + opaque, "AEBAGBAF", "0.0.AEBAGBAF", "00000.00000.AEBAGBAF", "AB", "0.0.0.1",
		strings.Repeat("0", 40),
		"0x0x" + opaque[2:], ".AA", "0..AA",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := ledger.ParseAccountRef(s, 0)
		kind := refKind(s)
		if err != nil {
			if kind != "" && (kind != "id" || !errors.Is(err, ledger.ErrRange)) || kind == "" &&
				!errors.Is(err, ledger.ErrSyntax) {
				t.Fatalf("%q is an %s: %v", s, kind, err)
			}
			return
		}
		got := "id"
		switch {
		case ref.Alias != nil:
			got = "alias"
		case ref.Address.Valid:
			got = "address"
		case kind == "address":
			// A long-zero address is parsed as the id in it. Other addresses must not be.
			if a := ref.ID.LongZero().String(); strings.EqualFold(a[2:], s[len(s)-40:]) {
				got = "address"
			}
		}
		if got != kind {
			t.Fatalf("%q is an %s, want %q: %+v", s, got, kind, ref)
		}
		// Text of digits only, and forty hex digits, are parsed as other references. So the text of an alias always
		// parses back to the same alias.
		back, err := ledger.ParseAccountRef(ref.String(), 0)
		if err != nil || !reflect.DeepEqual(back, ref) {
			t.Fatalf("%q prints %q, which parses to %+v, %v", s, ref, back, err)
		}
	})
}

func TestParseLiteralAccountRef(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"literal:0x00000000000000000000000000000000000003e8", "literal:AAAQ", "0.0.5",
		"0xabcdefabcdefabcdefabcdefabcdefabcdefabcd", "AAAQ",
	} {
		ref, err := ledger.ParseLiteralAccountRef(text, 0)
		if err != nil || ref.String() != text || ref.Literal != strings.HasPrefix(text, "literal:") {
			t.Errorf("%s is read as %+v, %v", text, ref, err)
		}
	}
	for _, text := range []string{
		"literal:5", "literal:0.0.5", "literal:", "literal:literal:AAAQ",
		"literal:0.0.AAAQ",
	} {
		if ref, err := ledger.ParseLiteralAccountRef(text, 0); !errors.Is(err, ledger.ErrSyntax) {
			t.Errorf("%s is read as %+v, %v", text, ref, err)
		}
	}
}

package ledger_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

// unhex decodes hex of a test.
func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestKeyDecode(t *testing.T) {
	ed, ec := strings.Repeat("a1", 32), "02"+strings.Repeat("b2", 32)
	for _, tc := range []struct {
		name, in string
		typ      ledger.KeyType
		value    string
	}{
		{"ED25519", "1220" + ed, ledger.KeyED25519, ed},
		{"ED25519 in a list of one", "32240a221220" + ed, ledger.KeyED25519, ed},
		{"ED25519 in a threshold key of one of one", "2a28080112240a221220" + ed, ledger.KeyED25519, ed},
		{"ECDSA", "3a21" + ec, ledger.KeyECDSASecp256k1, ec},
		{"ECDSA in a list of one", "32250a233a21" + ec, ledger.KeyECDSASecp256k1, ec},
		{"ECDSA in a threshold key of one of one", "2a29080112250a233a21" + ec, ledger.KeyECDSASecp256k1, ec},
		{"empty bytes", "", ledger.KeyProtobufEncoded, ""},
		{
			"list of two", "32480a221220" + ed + "0a221220" + ed, ledger.KeyProtobufEncoded,
			"32480a221220" + ed + "0a221220" + ed,
		},
		{
			"threshold key of none of one", "2a28080012240a221220" + ed, ledger.KeyProtobufEncoded,
			"2a28080012240a221220" + ed,
		},
		{"list in a list", "32260a2432220a201220" + ed, ledger.KeyProtobufEncoded, "32260a2432220a201220" + ed},
		{"contract id", "0a0318d209", ledger.KeyProtobufEncoded, "0a0318d209"},
		{"ED25519 of 31 bytes", "1220" + ed[2:], ledger.KeyProtobufEncoded, "1220" + ed[2:]},
		{"ED25519 of 33 bytes", "1220" + ed + "00", ledger.KeyProtobufEncoded, "1220" + ed + "00"},
		{"ED25519 prefix with the size of ECDSA", "1220" + ec, ledger.KeyProtobufEncoded, "1220" + ec},
		{"ECDSA prefix with the size of ED25519", "3a21" + ed, ledger.KeyProtobufEncoded, "3a21" + ed},
		{"prefix alone", "1220", ledger.KeyProtobufEncoded, "1220"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			key := ledger.Key(unhex(t, tc.in))
			typ, value := key.Decode()
			if typ != tc.typ || hex.EncodeToString(value) != tc.value {
				t.Errorf("decoded as %s %x", typ, value)
			}
			if info := key.Info(); info == nil || info.Type != tc.typ || info.Value().String() != tc.value {
				t.Errorf("seen as %+v", info)
			}
		})
	}
}

func TestKeyThatIsNone(t *testing.T) {
	for _, k := range []ledger.Key{nil, {0x32, 0x00}} {
		if !k.IsNone() || k.Info() != nil {
			t.Errorf("%x is a key: %+v", []byte(k), k.Info())
		}
	}
	for _, k := range []ledger.Key{
		{},
		{0x32},
		{0x32, 0x00, 0x00},
		{0x2a, 0x00},
		unhexKey(t, "1220"+strings.Repeat("00", 32)),
	} {
		if k.IsNone() || k.Info() == nil {
			t.Errorf("%x is no key", []byte(k))
		}
	}
}

func unhexKey(tb testing.TB, s string) ledger.Key {
	tb.Helper()
	return unhex(tb, s)
}

// keyForms maps the hex of an entire key to its type.
var keyForms = []struct {
	typ  ledger.KeyType
	form *regexp.Regexp
}{
	{ledger.KeyED25519, regexp.MustCompile(`^(1220|32240a221220|2a28080112240a221220)([0-9a-f]{64})$`)},
	{ledger.KeyECDSASecp256k1, regexp.MustCompile(`^(3a21|32250a233a21|2a29080112250a233a21)([0-9a-f]{66})$`)},
}

func FuzzKey(f *testing.F) {
	for _, prefix := range []string{
		"1220", "32240a221220", "2a28080112240a221220", "3a21", "32250a233a21",
		"2a29080112250a233a21", "3200", "",
	} {
		for _, size := range []int{0, 32, 33} {
			f.Add(append(unhex(f, prefix), count(size)...))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := hex.EncodeToString(b)
		wantType, want := ledger.KeyProtobufEncoded, whole
		for _, k := range keyForms {
			if m := k.form.FindStringSubmatch(whole); m != nil {
				wantType, want = k.typ, m[2]
			}
		}
		typ, value := ledger.Key(b).Decode()
		if typ != wantType || hex.EncodeToString(value) != want {
			t.Fatalf("%s is %s %x, want %s %s", whole, typ, value, wantType, want)
		}
		none := b == nil || whole == "3200"
		if info := ledger.Key(b).Info(); (info == nil) != none || info != nil &&
			(info.Type != typ || info.Value().String() != want) {
			t.Fatalf("%s is seen as %+v", whole, info)
		}
	})
}

func TestParsePublicKeyAccepts(t *testing.T) {
	ed, ec, der := strings.Repeat("a1", 32), "02"+strings.Repeat("b2", 32), "302a300506032b6570032100"
	other := "302d300706052b8104000a032200" + strings.Repeat("c", 60)
	for _, tc := range []struct{ name, in, want string }{
		{"ED25519", ed, ed},
		{"ED25519 with prefix", "0x" + ed, ed},
		{"ED25519 in upper case", strings.ToUpper(ed), ed},
		{"ED25519 in DER", der + ed, ed},
		{"ED25519 in DER with prefix and in upper case", "0x" + strings.ToUpper(der+ed), ed},
		{"ECDSA", ec, ec},
		{"ECDSA with prefix", "0x" + strings.ToUpper(ec), ec},
		{"88 digits of anything else", other, other},
		{"64 digits that begin like DER", der + ed[:40], der + ed[:40]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.ParsePublicKey(tc.in)
			if err != nil || got != tc.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

var publicKeyForm = regexp.MustCompile(`^(0x)?([0-9a-fA-F]{64}|[0-9a-fA-F]{66}|[0-9a-fA-F]{88})$`)

func TestParsePublicKeyRejects(t *testing.T) {
	const length = "neither 64, 66 nor 88 hex digits"
	for _, tc := range []struct{ name, in, errText string }{
		{"empty", "", length},
		{"62 digits", strings.Repeat("1", 62), length},
		{"65 digits", strings.Repeat("1", 65), length},
		{"uncompressed ECDSA", "04" + strings.Repeat("1", 128), length},
		{"a letter", strings.Repeat("1", 63) + "g", "'g' at 63 is not a hex digit"},
		{"second prefix", "0x0x" + strings.Repeat("1", 62), "not a hex digit"},
		{"prefix among 64", "0x" + strings.Repeat("1", 62), length},
		{"line break", strings.Repeat("1", 64) + "\n", length},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.ParsePublicKey(tc.in)
			wantError(t, err, ledger.ErrSyntax, tc.errText)
		})
	}
}

func FuzzParsePublicKey(f *testing.F) {
	for _, s := range []string{
		strings.Repeat("A1", 32), "0x02" + strings.Repeat("1", 64),
		"302a300506032b6570032100" + strings.Repeat("1", 64),
		"0x0x" + strings.Repeat("1", 62),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ledger.ParsePublicKey(s)
		if (err == nil) != publicKeyForm.MatchString(s) || err != nil && !errors.Is(err, ledger.ErrSyntax) {
			t.Fatalf("%q is %q, %v", s, got, err)
		}
		if err != nil {
			return
		}
		want := strings.ToLower(strings.TrimPrefix(s, "0x"))
		if len(want) == 88 {
			want = strings.TrimPrefix(want, "302a300506032b6570032100")
		}
		if back, err := ledger.ParsePublicKey(got); got != want || back != got {
			t.Fatalf("%q is %q, which parses to %q, %v", s, got, back, err)
		}
	})
}

func TestDecodeKeyList(t *testing.T) {
	ed := "1220" + strings.Repeat("a1", 32)
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"no bytes", "", nil},
		{"one key", "0a22" + ed, []string{ed}},
		{"two keys keep their order", "0a023200" + "0a22" + ed, []string{"3200", ed}},
		{"a key without bytes", "0a00", []string{""}},
		{"fields of other numbers are left out", "1203aabbcc" + "0a023200" + "1805", []string{"3200"}},
		{
			"field 1 of other types is left out", "0805" + "0d01020304" + "090102030405060708" + "0b0c" + "0a023200",
			[]string{"3200"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ledger.DecodeKeyList(unhex(t, tc.in))
			if err != nil || got == nil || len(got) != len(tc.want) {
				t.Fatalf("got %x, %v", got, err)
			}
			for i, want := range tc.want {
				if got[i] == nil || hex.EncodeToString(got[i]) != want {
					t.Errorf("key %d is %x, want %s", i, []byte(got[i]), want)
				}
			}
		})
	}
	for _, tc := range malformedMessages {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ledger.DecodeKeyList(unhex(t, tc.in))
			wantError(t, err, ledger.ErrSyntax, "reading a list of keys: "+tc.errText)
		})
	}
}

func FuzzDecodeKeyList(f *testing.F) {
	for _, s := range []string{"", "0a00", "0a023200", "0a22", "0805", "0b0c", "0a0232000a00", "1203aabbcc"} {
		f.Add(unhex(f, s))
	}
	descriptors := messages(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ledger.DecodeKeyList(b)
		msg, wantErr := unmarshal(descriptors.ByName("KeyList"), b)
		if (err == nil) != (wantErr == nil) || err != nil && !errors.Is(err, ledger.ErrSyntax) {
			t.Fatalf("%x: %v, want %v", b, err, wantErr)
		}
		if err != nil {
			return
		}
		want := list(msg, "keys")
		if want.Len() != len(got) {
			t.Fatalf("%x has %d keys, want %d", b, len(got), want.Len())
		}
		for i, key := range got {
			if !bytes.Equal(key, want.Get(i).Bytes()) {
				t.Fatalf("%x: key %d is %x", b, i, []byte(key))
			}
		}
	})
}

// show describes a decoded key: its type, and the start of a public key or address, an ID, or its members.
func show(k *ledger.KeyInfo) string {
	list := func(keys []*ledger.KeyInfo) string {
		var out []string
		for _, k := range keys {
			out = append(out, show(k))
		}
		return "of [" + strings.Join(out, ", ") + "]"
	}
	switch d := k.Decoded().(type) {
	case *ledger.ED25519Key:
		return "ED25519Key " + d.PublicKey.String()[:4]
	case *ledger.ECDSAKey:
		return "ECDSAKey " + d.PublicKey.String()[:4]
	case *ledger.KeyList:
		return "KeyList " + list(d.Keys)
	case *ledger.ThresholdKey:
		return fmt.Sprintf("ThresholdKey %d %s", d.Threshold, list(d.Keys))
	case *ledger.ContractKey:
		return fmt.Sprintf("ContractKey %s %t", d.ContractID, d.EVMAddress.Valid)
	case *ledger.DelegatableContractKey:
		return fmt.Sprintf("DelegatableContractKey %s %t", d.ContractID, d.EVMAddress.Valid)
	default:
		return "null"
	}
}

// TestKeyContent decodes keys level by level.
func TestKeyContent(t *testing.T) {
	t.Parallel()
	ed := "1220" + strings.Repeat("a1", 32)
	for in, want := range map[string]string{
		ed:                                    "ED25519Key a1a1",
		"3a21" + strings.Repeat("b2", 33):     "ECDSAKey b2b2",
		"32240a22" + ed:                       "KeyList of [ED25519Key a1a1]",
		"2a2808011224" + "0a22" + ed:          "ThresholdKey 1 of [ED25519Key a1a1]",
		"2a020802":                            "ThresholdKey 2 of []",
		"32020a00":                            "KeyList of [null]",
		"32080a0632040a020a00":                "KeyList of [KeyList of [ContractKey 0.0.0 false]]",
		"0a0318d209":                          "ContractKey 0.0.1234 false",
		"420318d209":                          "DelegatableContractKey 0.0.1234 false",
		"0a162214" + strings.Repeat("c3", 20): "ContractKey 0.0.0 true",
		"0a0318":                              "null", // truncated
		"0a0118":                              "null", // a truncated contract
		"32020aff":                            "null", // a truncated member
		"1a020000":                            "null", // an RSA key, which the network does not use
		"":                                    "null",
	} {
		if got := show(ledger.Key(unhex(t, in)).Info()); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestMissingKeys compares keys with the signatures of a schedule.
func TestMissingKeys(t *testing.T) {
	t.Parallel()
	key := func(b string) string { return "0a221220" + strings.Repeat(b, 32) }
	a, b, c := key("a1"), key("b2"), key("c3")
	list := "32" + "6c" + a + b + c
	threshold := func(n string) string { return "2a70" + "08" + n + "126c" + a + b + c }
	nested := "329801" + "0a72" + threshold("02") + key("d4") // a list of a threshold key and of a key
	for name, tc := range map[string]struct{ key, signed, want string }{
		"one":                   {a[4:], "", "a1"},
		"one, signed":           {a[4:], "a1a1a1", ""},
		"empty prefix":          {a[4:], "-", "a1"},
		"list":                  {list, "b2", "a1c3"},
		"list, all":             {list, "a1 b2 c3", ""},
		"threshold":             {threshold("02"), "b2", "a1c3"},
		"threshold, enough":     {threshold("02"), "b2 c3", ""},
		"nested":                {nested, "b2 c3", "d4"},
		"nested, not enough":    {nested, "b2 d4", "a1c3"},
		"contract":              {"0a0318d209", "b2", "18"},
		"contract, by its call": {"0a0318d209", "18d209", ""},
	} {
		var signatures []*ledger.ScheduleSignature
		for prefix := range strings.FieldsSeq(tc.signed) {
			signatures = append(signatures,
				&ledger.ScheduleSignature{PublicKeyPrefix: unhex(t, strings.Trim(prefix, "-"))})
		}
		got := ""
		for _, k := range ledger.Key(unhex(t, tc.key)).Info().Missing(signatures) {
			if got += k.Value().String()[:2]; k.Type == ledger.KeyProtobufEncoded {
				got = k.Value().String()[4:6]
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

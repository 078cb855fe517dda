package ledger_test

import (
	"strings"
	"testing"

	"heliograph/internal/domain/ledger"
)

// testNetwork is the chain id of the network whose checksums the tests use.
const testNetwork = 296

// kinds returns what a text can name, in the order of the fields.
func kinds(c ledger.Candidates) string {
	var out []string
	for _, k := range []struct {
		name string
		set  bool
	}{
		{"entity", !c.Entity.IsNone()},
		{"address", c.Address.Valid},
		{"alias", c.Alias != nil},
		{"key", c.PublicKey != ""},
		{"hash", c.Hash != nil},
		{"transaction", c.Transaction.Valid},
		{"time", c.At.Valid},
		{"number", c.Number.Valid},
		{"element", c.Element != ledger.Element{}},
		{"name", c.Name != ""},
	} {
		if k.set {
			out = append(out, k.name)
		}
	}
	return strings.Join(out, " ")
}

const (
	hex32 = "a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90"
	hex48 = hex32 + "00112233445566778899aabbccddeeff"
	hex20 = "5ff137d4b0fdcd49dca30c7cf57e578a026d2789"
)

// searches are texts, by what they can name.
var searches = map[string][]string{
	"entity": {
		"0.0.1001", "0.0.2", "0.0.98", "0.0.800", "0.0.1", "0.0.274877906943", "0.1001", "0.7", "1.2.3",
		"1023.65535.1", "0.0.00042", "00.0.5", "  0.0.1001", "0.0.1001\n",
		"\t0.0.1001 ", "3.4", "0.0.9007199", "0.0.123-esxsf", " 0.0.123-esxsf ",
		"0x00000000000000000000000000000000000003e9", "00000000000000000000000000000000000003e9",
		"0x00000000000000000000000000000000000003E9", "0x0000000000000000000000000000000000000001",
		"0x0000000000000000000000000000003FFFFFFFFF",
		"0.0.00000000000000000000000000000000000003e9", "0.00000000000000000000000000000000000003e9",
		"0000000000000000000000000000000000000167", "123-esxsf", "0.123-esxsf",
	},
	"entity number": {"1", "2", "17", "98", "01", "05", " 7 "},
	"entity number name": {
		"100", "1001", "0000005", "359", "0042", "4294967296", "274877906943",
		"1001 ", "1700000000",
	},
	"number": {"0", "00"},
	"number name": {
		"274877906944", "999999999999", "1234567890123", "123456789012345678", "000000000000000000",
		"000",
	},
	"name": {
		"Sunlight", "sun", "SUN", "Harbour Coin", "HBAR", "USDC", "usd coin", "Wrapped Bitcoin [0x]", "0xBitcoin",
		"0xdeadbeef", "100% cotton", "a_b_cde", `back\slash`, "Lighthouses",
		"日本語", "морской", "café", "🦀 crab", "Karate!", "100x", "1inch", "1.5x leverage", "version 1.2.3",
		"0.0.1001-7-", "0.0.1001 extra", "0..1001x", "-100", "1234567890123456789",
		"literal:0x5ff1", "c-3po droid", "abc/def", "abc#1", "abc@1", "#hashtag",
		"name with 100 letters " + strings.Repeat("x", 78), "GEZDGNBVGY3TQOJQ", "MFRGG", "ABCDEFGH",
		"0x" + hex20[:38], "0x" + hex20 + "00", hex32[:62], "select * from token", "'; drop table token; --",
		"%abc%", "___abc", "true", "null", "NaN", "1e10", "0x3e9",
		"0.0.1001?", "transaction", "0.0.1001.7abc", "1001-abcde", "1001-esxsf", "z" + hex20[:39], "one two",
		"1700000000.123 abc",
	},
	"address": {
		"0X" + hex20, "0X" + strings.ToUpper(hex20), "0.0.0x" + hex20, "0.0.0X" + hex20, "0.0x" + hex20,
		"0x" + hex20, hex20, "0x" + strings.ToUpper(hex20), strings.ToUpper(hex20), "0.0." + hex20, "0." + hex20,
		" 0x" + hex20 + " ", "0x" + strings.Repeat("f", 40),
		"0x0000000000000000000000000000004000000000", "0x000000000000000000000001000000000000001e",
	},
	// In lower case it can also be the name of a token.
	"alias name": {
		"abcdefghijklmnopqrstuvwxyz234567", "ciqa" + strings.Repeat("a", 51), "0.0.hiqq" + strings.Repeat("a", 52),
		"Gezdgnbvgy3tqojqGEZDGNBVGY3TQOJQ",
	},
	"alias": {
		"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "CIQA" + strings.Repeat("A", 51), "HIQQ" + strings.Repeat("A", 52),
		"0.0.CIQA" + strings.Repeat("A", 51), "0.HIQQ" + strings.Repeat("A", 52),
		" CIQA" + strings.Repeat("A", 51),
	},
	"key": {
		"0.0.302a300506032b6570032100" + hex32, "0.302a300506032b6570032100" + hex32,
		"0.0.302D300706052B8104000A03220002" + hex32, "0.0.02" + hex32,
		"0X302a300506032b6570032100" + hex32, "0.0.0x03" + hex32, "0X02" + hex32,
		"02" + hex32, "03" + hex32, "0x02" + hex32, "0x03" + hex32, "02" + strings.ToUpper(hex32),
		"302a300506032b6570032100" + hex32, "302A300506032B6570032100" + strings.ToUpper(hex32),
		"0x302a300506032b6570032100" + hex32, "302d300706052b8104000a03220002" + hex32,
		"302d300706052b8104000a03220003" + hex32,
		"3036301006072a8648ce3d020106052b8104000a03220003" + hex32, " 02" + hex32 + " ",
	},
	"key hash": {
		"0X" + hex32, "0.0." + hex32, hex32, "0x" + hex32, strings.ToUpper(hex32),
		"0x" + strings.ToUpper(hex32), " " + hex32,
		strings.Repeat("0", 64), strings.Repeat("f", 64), strings.Repeat("A", 64),
	},
	"hash": {
		hex48, "0X" + hex48, "0x" + hex48, strings.ToUpper(hex48), " 0x" + hex48 + "\n", strings.Repeat("G", 64),
		strings.Repeat("Zm9v", 16), strings.Repeat("-_Zz", 16), strings.Repeat("+/Zz", 16),
		strings.Repeat("ab/+", 16),
	},
	"transaction": {
		"0.0.1020-1795340293-944155807", "0.0.1020@1795340293.944155807", "0.0.2-1700000000-0", "0.0.2@1700000000.0",
		"0.0.2@1700000000.5", "1.2.3-4-5", "1.2.3@4.5",
		"0.0.1020@1795340293.944155807?scheduled", "0.0.1020@1795340293.944155807/1",
		"0.0.1020@1795340293.944155807?scheduled/3", "0.0.1020-1795340293-944155807?scheduled",
		"0.0.1020-1795340293-944155807/2", " 0.0.1020@1795340293.944155807 ", "0.0.0@1.0", "0.0.98-1-999999999",
	},
	"time": {
		"1700000000.000000001", "1795340293.944155807", " 1795340293.944155807", "1234567.123456789",
		"100000.000000000",
	},
	"element": {
		"0.0.4001/7", "0.0.4001#7", "0.0.4001@7", "0.0.4001:7", "0.0.4001-7", "4001/7", "4001#7", "4001@7", "4001:7",
		"4001-7", "0.4001/7", "0.0.2007/1", "0.0.2007@1", "2007#0001",
		"1.2.3/123456789012345678", " 0.0.4001/7 ", "0.0.4001/0", "12-31",
	},
	"": {
		"", " ", "\n\t", "a", "ab", "x1", "--", "...", "0.0.", ".", "0.0.1001-abcde", "0.0.123-vfmkw", "0.0.123-ogizo",
		"0.0.123-esxsg", "0.0.123-ESXSF", "0.0.123-", "0.0.123-esxs", "0.0.123-esxsff",
		"v1.2.3", "0.0.x", "a-b-c", "a b c d", "!?", "\x00abc", "abc\x00", "\xff\xfe\xfd", "abc\xff",
		strings.Repeat("x", 101), strings.Repeat("long name ", 11), "::", "/", "#", "@", "-", "0x", "%%%", "____",
		"5/", "ü", "日本",
	},
}

// TestParseSearch checks what texts can name.
func TestParseSearch(t *testing.T) {
	t.Parallel()
	texts := 0
	for want, list := range searches {
		for _, text := range list {
			texts++
			if got := kinds(ledger.ParseSearch(text, 0, testNetwork)); got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
	if texts < 200 {
		t.Errorf("%d texts", texts)
	}
}

// TestParseSearchValues checks the values that texts name.
func TestParseSearchValues(t *testing.T) {
	t.Parallel()
	base, err := ledger.NewEntityID(1, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := ledger.ParseSearch("77", base, testNetwork)
	if c.Entity != base.WithNum(77) || c.Number.V != 77 {
		t.Errorf("a number is %s and %v", c.Entity, c.Number)
	}
	message := ledger.Element{Entity: base.WithNum(4001), Number: 12}
	if c = ledger.ParseSearch("4001#12", base, testNetwork); c.Element != message {
		t.Errorf("an element is %v", c.Element)
	}
	want := ledger.TransactionID{Payer: 1020, ValidStart: 1795340293944155807}
	for _, text := range []string{
		"0.0.1020-1795340293-944155807", "0.0.1020@1795340293.944155807",
		"0.0.1020@1795340293.944155807?scheduled/2",
	} {
		if c = ledger.ParseSearch(text, 0, testNetwork); c.Transaction.V != want {
			t.Errorf("%s is %v", text, c.Transaction)
		}
	}
	if c = ledger.ParseSearch("302D300706052B8104000A03220002"+hex32, 0, testNetwork); c.PublicKey != "02"+hex32 {
		t.Errorf("the key is %s", c.PublicKey)
	}
}

// TestChecksum checks the examples of HIP-15 and of the network's SDKs.
func TestChecksum(t *testing.T) {
	t.Parallel()
	for chain, want := range map[uint64]string{294: "", 295: "vfmkw", 296: "esxsf", 297: "ogizo", 299: "", 0: ""} {
		if got := ledger.EntityID(123).Checksum(chain); got != want {
			t.Errorf("chain %d: %q, want %q", chain, got, want)
		}
	}
}

// FuzzParseSearch checks that texts name only what their forms allow.
func FuzzParseSearch(f *testing.F) {
	for _, list := range searches {
		for _, text := range list {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := ledger.ParseSearch(text, 0, testNetwork)
		if again := kinds(ledger.ParseSearch(" "+text+" ", 0, testNetwork)); again != kinds(c) {
			t.Errorf("%q: %q, with space %q", text, kinds(c), again)
		}
		if c.Name != "" && (c.Hash != nil || c.Address.Valid || c.Alias != nil && strings.ToUpper(c.Name) == c.Name ||
			len(c.Name) > 100) {
			t.Errorf("%q: %q", text, kinds(c))
		}
		if !c.Entity.IsNone() && c.Element != (ledger.Element{}) {
			t.Errorf("%q: %q", text, kinds(c))
		}
		if c.Transaction.Valid {
			if id, err := ledger.ParseAnyTransactionID(c.Transaction.V.String()); err != nil || id != c.Transaction.V {
				t.Errorf("%q: %s, %v", text, id, err)
			}
		}
	})
}

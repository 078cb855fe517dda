package system

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
)

// document lists all functions. The test generates its tables from the tables of functions. Run it with UPDATE_DOCS=1
// to update the document.
const document = "../../../../docs/system-contracts.md"

func TestDocument(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, s := range allServices(Config{}) {
		for name, list := range map[string][]*function{
			fmt.Sprintf("0x%x", s.number):        s.direct,
			fmt.Sprintf("0x%x facade", s.number): s.facade,
		} {
			begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
			before, rest, ok := strings.Cut(text, begin)
			got, after, closed := strings.Cut(rest, end)
			if !ok || !closed {
				t.Fatalf("%s has no table of %s", document, name)
			}
			want := listing(t, list)
			if got != want {
				t.Errorf("the table of %s is not what there is", name)
				text = before + begin + want + end + after
			}
		}
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// listing is a table of functions.
func listing(t *testing.T, list []*function) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| selector | function | |\n|---|---|---|\n")
	for _, f := range list {
		f.prepare()
		answer := map[kind]string{read: "reads", write: "changes"}[f.kind]
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n",
			hex.EncodeToString([]byte{
				byte(f.selector >> 24), byte(f.selector >> 16), byte(f.selector >> 8),
				byte(f.selector),
			}), f.canonical(), answer)
	}
	return b.String()
}

// TestSelectors compares the functions with the network's selectors.
func TestSelectors(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"0x167": `19f37361 93272baf 46de0fb1 f2c31ff4 a7daa18d 335e04c1 ae7611a0 d614cdb8 1f69565f 3f28a19b 287e1da8 3c4dd32e 927da105 098f2366 f49f40db
			189a554c 0e71804f 82bba493 eca36917 2c4ba191 5cfc9011 15dacbea 9b23d3d9 e1f21c67 7336aaf0 367605ca 278e0b88 e0f4059a acb9cff9 d6910d06 49146bde
			2e63879b 099794e8 78b63918 5b8f8584 52f91387 8f8d7f99 af99c633 7c41ad2c 3b3bff0f f069f712 9790686d efef57f9 f7f38e26 0fb65bf3 2af0c59a ea83f293
			abb54eb5 7d305cfa d27be6cd 6fc3cbaf d5f60c47 30727a29 0fcaca1f 2f348119 012ebcaf 05961641 ebd595e0 7812a04b c23baeb6 4c381ae7 b937581a 9dc711e0
			9c89bb35 5bc7c0e6 45733969 2cccc36f 18370d34 593d6e82`,
		"0x167 facade": `06fdde03 95d89b41 313ce567 18160ddd 70a08231 dd62ed3e 6352211e c87b56dd 081812fc e985e9c5 095ea7b3 a9059cbb 23b872dd a22cb465 4d8fdd6d
			0a754de6 5c9217e0 cef5b705 ad4917cf a83bc5b2 63ada5d7 76c6b391 a869c78a`,
		"0x16a":        `fec46666 a0918464 dea3d081 bbf12d2e 308ef301 b2a31da4 b2526367`,
		"0x16a facade": `bbee989e 86aff07c f5677e99`,
		"0x16b":        `f0637961 358eeb03 ca829811 da2d5f8f d68c902c 6f5bfde8 e6599c18 105772b2 72d42394 dfb4a999`,
		"0x16b facade": `06d15889 c61dea85`,
		"0x16c": `19f37361 93272baf 46de0fb1 f2c31ff4 a7daa18d 335e04c1 ae7611a0 d614cdb8 1f69565f 3f28a19b 287e1da8 3c4dd32e 927da105 098f2366 f49f40db
			189a554c 0e71804f 82bba493 eca36917 2c4ba191 5cfc9011 15dacbea 9b23d3d9 e1f21c67 7336aaf0 367605ca 278e0b88 e0f4059a acb9cff9 d6910d06 49146bde
			2e63879b 099794e8 78b63918 5b8f8584 52f91387 8f8d7f99 af99c633 7c41ad2c 3b3bff0f f069f712 9790686d efef57f9 f7f38e26 d27be6cd 6fc3cbaf d5f60c47
			30727a29 0fcaca1f 2f348119 012ebcaf 05961641 ebd595e0 7cb8323a 5ac3e67a ad7f8f0b c5bc16bc 54c832a5`,
	}
	want["0x16c facade"] = want["0x167 facade"]
	for _, s := range allServices(Config{}) {
		for name, functions := range map[string]table{
			fmt.Sprintf("0x%x", s.number):        s.functions,
			fmt.Sprintf("0x%x facade", s.number): s.redirected,
		} {
			got := map[string]bool{}
			for selector := range functions {
				got[fmt.Sprintf("%08x", selector)] = true
			}
			for selector := range strings.FieldsSeq(want[name]) {
				if !got[selector] {
					t.Errorf("%s has no function %s", name, selector)
				}
				delete(got, selector)
			}
			for selector := range got {
				t.Errorf("%s has a function %s that the network has not: %s", name, selector,
					functions[must(t, selector)].signature)
			}
		}
	}
}

func must(t *testing.T, selector string) (v uint32) {
	t.Helper()
	if _, err := fmt.Sscanf(selector, "%08x", &v); err != nil {
		t.Fatal(err)
	}
	return v
}

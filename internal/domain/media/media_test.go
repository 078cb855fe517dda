package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heliograph/internal/domain/ledger"
)

// pack returns the data URI of an inscribed file, and its hash.
func pack(tb testing.TB, typ string, content []byte, options ...zstd.EOption) (uri, hash string) {
	tb.Helper()
	w, err := zstd.NewWriter(nil, options...)
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return "data:" + typ + ";base64," + base64.StdEncoding.EncodeToString(w.EncodeAll(content, nil)),
		hex.EncodeToString(sum[:])
}

// messages returns the messages of a topic with a text.
func messages(text string, size int) (list [][]byte) {
	for n := 0; n*size < len(text); n++ {
		list = append(list, fmt.Appendf(nil, `{"o":%d,"c":%q}`, n, text[n*size:min((n+1)*size, len(text))]))
	}
	return list
}

func join(list [][]byte) parts {
	p := parts{}
	for _, m := range list {
		p.add(m)
	}
	return p
}

// TestFiles reads files of all sizes whose parts arrive in any order and repeatedly.
func TestFiles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 12))
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBestCompression} {
		for size := 1; size <= MaxFile; size *= 3 {
			content := bytes.Repeat([]byte("noise 0123456789 "), size/17+1)[:size]
			for i := range size / 2 {
				content[i] = byte(random.Uint32())
			}
			uri, hash := pack(t, "image/png", content, zstd.WithEncoderLevel(level))
			list := messages(uri, 900)
			list = append(list, list[len(list)/2], []byte("not a part"), []byte(`{"o":-1,"c":"x"}`),
				[]byte(`{"o":9000}`))
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			f, err := join(list).file(hash, MaxFile)
			if err != nil || f.Type != "image/png" || !bytes.Equal(f.Content, content) {
				t.Errorf("level %v, %d bytes: %v", level, size, err)
			}
		}
	}
}

// TestRefusals checks the reasons for which files are refused, and the memory that this needs.
func TestRefusals(t *testing.T) {
	content := make([]byte, 1000)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	uri, hash := pack(t, "text/plain", content)
	list := messages(uri, 40)
	bomb := func(options ...zstd.EOption) string {
		var packed bytes.Buffer
		w, err := zstd.NewWriter(&packed, append(options, zstd.WithEncoderConcurrency(1))...)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 << 30 / len(zeros) {
			_, _ = w.Write(zeros)
		}
		_ = w.Close()
		return "data:image/png;base64," + base64.StdEncoding.EncodeToString(packed.Bytes())
	}
	frame := make([]byte, 3<<20)
	small, _ := pack(t, "image/png", frame)
	packed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(small, "data:image/png;base64,"))
	if err != nil {
		t.Fatal(err)
	}
	frames := "data:image/png;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat(packed, 1<<30/len(frame)))
	for name, c := range map[string]struct {
		list   [][]byte
		hash   string
		reason string
	}{
		"wrong hash":       {list, strings.Repeat("0", 64), "the file does not have the SHA-256"},
		"first part":       {list[1:], hash, "part 0 of the file is missing"},
		"middle part":      {slices.Delete(slices.Clone(list), 2, 3), hash, "part 2 of the file is missing"},
		"last part":        {list[:len(list)-1], hash, "the last "},
		"no parts":         {nil, hash, "not a data URI"},
		"no data URI":      {messages(uri[len("data:text/plain;base64,"):], 40), hash, "data URI with base64"},
		"no base64":        {messages("data:image/png;base64,####", 40), hash, "data URI with base64"},
		"not compressed":   {messages("data:image/png;base64,AAAAAAAAAAAA", 40), hash, "cannot be decompressed"},
		"bomb":             {messages(bomb(), 900), hash, "more than 4194304 bytes"},
		"bomb of frames":   {messages(frames, 900), hash, "more than 4194304 bytes"},
		"window":           {messages(bomb(zstd.WithWindowSize(1<<27)), 900), hash, "more than 4194304 bytes"},
		"a byte too large": {messages(uri, 900), hash, fmt.Sprintf("more than %d bytes", len(content)-1)},
	} {
		most := MaxFile
		if name == "a byte too large" {
			most = len(content) - 1
		}
		joined := join(c.list)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := joined.file(c.hash, most)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 64 {
			t.Errorf("%s: %d MiB allocated", name, used)
		} else {
			t.Logf("%s: %d MiB allocated", name, used)
		}
	}
}

var zeros = make([]byte, 1<<20)

// TestTopics checks which topics can have a file.
func TestTopics(t *testing.T) {
	t.Parallel()
	hash, key := strings.Repeat("0a", 32), &ledger.KeyInfo{}
	memo := hash + ":zstd:base64"
	for name, c := range map[string]struct {
		topic *ledger.Topic
		ok    bool
	}{
		"good":          {&ledger.Topic{Memo: memo, SubmitKey: key}, true},
		"upper case":    {&ledger.Topic{Memo: strings.ToUpper(hash) + ":zstd:base64", SubmitKey: key}, true},
		"missing":       {nil, false},
		"no submit key": {&ledger.Topic{Memo: memo}, false},
		"admin key":     {&ledger.Topic{Memo: memo, SubmitKey: key, AdminKey: key}, false},
		"short hash":    {&ledger.Topic{Memo: memo[1:], SubmitKey: key}, false},
		"brotli":        {&ledger.Topic{Memo: hash + ":brotli:base64", SubmitKey: key}, false},
		"more":          {&ledger.Topic{Memo: memo + ":x", SubmitKey: key}, false},
	} {
		if got, err := hashOf(c.topic); (err == nil) != c.ok || c.ok && got != hash {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// places have public gateways in a folder.
func places(tb testing.TB) *Places {
	tb.Helper()
	ipfs, err := url.Parse("https://ipfs.example/ipfs/")
	if err != nil {
		tb.Fatal(err)
	}
	return &Places{IPFS: ipfs}
}

// TestFind checks the URLs of locations. None leads out of the folder of a gateway, or runs a script.
func TestFind(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"hcs://1/0.0.4711":                    "/hcs/1/0.0.4711",
		"hcs://1/4711":                        "/hcs/1/0.0.4711",
		"HCS://1/0.0.4711":                    "/hcs/1/0.0.4711",
		"hcs://2/0.0.4711":                    "",
		"hcs://1/0.0.x":                       "",
		"hcs://1/../../graphql":               "",
		"ipfs://Qm1/East Mole #2?.json":       "https://ipfs.example/ipfs/Qm1/East%20Mole%20%232%3F.json",
		"ipfs://Qm1/East%20Mole.json":         "https://ipfs.example/ipfs/Qm1/East%20Mole.json",
		"ipfs://Qm1/100%.json":                "https://ipfs.example/ipfs/Qm1/100%25.json",
		"ipfs://ipfs/Qm1":                     "https://ipfs.example/ipfs/Qm1",
		"ipfs://../../api/v0/pin":             "https://ipfs.example/ipfs/api/v0/pin",
		"ipfs://%2e%2e/%2E%2e/api":            "https://ipfs.example/ipfs/api",
		"ipfs://user@other.example/":          "https://ipfs.example/ipfs/user@other.example",
		"ipfs://":                             "",
		"ar://abc":                            "",
		"https://files.example/a b.png?x=1":   "https://files.example/a%20b.png?x=1",
		"https://user:word@files.example/":    "",
		"https:///x":                          "",
		"http://files.example/":               "",
		"javascript:alert(1)":                 "",
		"data:image/png;base64,AAAA":          "data:image/png;base64,AAAA",
		"data:text/html,<script></script>":    "",
		"file:///etc/passwd":                  "",
		"lantern":                             "",
		"":                                    "",
		"data:image/svg+xml;charset=utf-8,<a": "data:image/svg+xml;charset=utf-8,<a",
	} {
		if got := places(t).Find(location).URL; got != want {
			t.Errorf("%s: %q, not %q", location, got, want)
		}
	}
}

// TestMetadata reads metadata with fields of unexpected types.
func TestMetadata(t *testing.T) {
	t.Parallel()
	f, err := Inline(`{"name":7,"description":{"x":1},"creator":null,"image":"ipfs://Qm1","type":"image/png",
		"format":"HIP412@2.0.0","files":[1,{"type":"x"},{"uri":"hcs://1/0.0.9","is_default_file":true}],
		"attributes":[{"trait_type":"letter","value":"A"},{"value":true,"max_value":1e3},null,{"value":[1]}]}`)
	m := places(t).Describe("", Place{}, f, err)
	if m.Name.V != "7" || m.Description.Valid || m.Creator.Valid || m.Standard.V != "HIP412@2.0.0" || m.Problem.Valid ||
		m.Image.URL.V != "https://ipfs.example/ipfs/Qm1" || m.Image.MimeType.V != "image/png" {
		t.Errorf("%+v %+v", m, m.Image)
	}
	if len(m.Files) != 1 || m.Files[0].URL.V != "/hcs/1/0.0.9" || !m.Files[0].IsDefault || m.Files[0].MimeType.Valid {
		t.Errorf("%+v", m.Files)
	}
	if len(m.Attributes) != 3 || m.Attributes[0].Value.V != "A" || m.Attributes[1].Value.V != "true" ||
		m.Attributes[1].MaxValue.V != "1e3" || m.Attributes[2].Value.Valid {
		t.Errorf("%+v", m.Attributes)
	}
	many, err := Inline(`{"attributes":[` + strings.Repeat(`{"value":1},`, 500) + `{}]}`)
	if m := places(t).Describe("", Place{}, many, err); len(m.Attributes) != MaxListed {
		t.Errorf("%d attributes", len(m.Attributes))
	}
}

// TestInline reads metadata that is in the NFT itself.
func TestInline(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"name":"Tide card"}`:                              "Tide card",
		`data:application/json,{"name":"Tide%20card"}`:      "Tide card",
		`data:application/json;base64,eyJuYW1lIjoiVGlkZSJ9`: "Tide",
		`data:application/json;base64,%7e`:                  "! the data URI cannot be decoded",
		`data:image/svg+xml,<svg/>`:                         "image image/svg+xml data:image/svg+xml,<svg/>",
		`data:,fog`:                                         "file text/plain ",
		`data:text/html;charset=utf-8,<p>`:                  "file text/html ",
		`data:no type,x`:                                    "file application/octet-stream ",
		`[1]`: "! the metadata is neither JSON nor a location of a " +
			"known form",
		`Greetings from the pier`: "! the metadata is neither JSON nor a location of a " +
			"known form",
		`{"name"`: "! the metadata is neither JSON nor a location of a " +
			"known form",
	} {
		f, err := Inline(text)
		m := places(t).Describe("", places(t).Find(text), f, err)
		got := m.Name.V
		switch {
		case m.Problem.Valid:
			got = "! " + m.Problem.V
		case m.Image != nil:
			got = "image " + m.Image.MimeType.V + " " + m.Image.URL.V
		case len(m.Files) > 0:
			got = "file " + m.Files[0].MimeType.V + " " + m.Files[0].URL.V
		}
		if got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

// FuzzDescribe checks that no metadata makes a URL of a form that runs scripts.
func FuzzDescribe(f *testing.F) {
	f.Add(`{"image":"hcs://1/0.0.5","files":[{"uri":"javascript:alert(1)"}]}`)
	f.Add(`data:application/json;base64,e30=`)
	f.Fuzz(func(t *testing.T, text string) {
		p := places(t)
		file, err := Inline(text)
		m := p.Describe(text, p.Find(text), file, err)
		files := m.Files
		if m.Image != nil {
			files = append(files, m.Image)
		}
		for _, f := range files {
			if u := f.URL.V; u != "" && !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "/hcs/1/") &&
				!strings.HasPrefix(strings.ToLower(u), "data:image/") {
				t.Errorf("%q", u)
			}
		}
	})
}

// FuzzParts checks that messages of any form are refused or ignored.
func FuzzParts(f *testing.F) {
	f.Add([]byte(`{"o":0,"c":"data:image/png;base64,AAAA"}`), []byte(`{"o":1,"c":"AAAA"}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if file, err := join([][]byte{a, b}).file("", MaxFile); err == nil {
			t.Errorf("%+v", file)
		}
	})
}

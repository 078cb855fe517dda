package compare

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestDifferences checks the causes of differences.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const page = `{"rows":[{"id":1,"sub":{"list":[1,2]}},{"id":2,"sub":{"list":[]}}],"links":{"next":"/n"}}`
	for body, want := range map[string]string{
		page: "",
		strings.Replace(page, `"id":2`, `"id":"2"`,
			1): "type rows[].id number number|string",
		strings.Replace(page, `"id":2,`,
			``, 1): "member missing rows[].id",
		strings.Replace(page, `"id":2`, `"id":2,"new":1`,
			1): "member added rows[].new",
		strings.Replace(page, `"id":2`, `"id":3`, 1): "value rows[].id",
		strings.Replace(page, `[1,2]`,
			`[1]`, 1): "items rows[].sub.list",
		strings.Replace(page, `{"list":[]}`, `null`,
			1): "type rows[].sub object null|object",
		strings.Replace(page, `"/n"`, `null`, 1):                                                    "link links.next",
		strings.Replace(page, `"rows":[`, `"rows": [`, 1):                                           "text /rows",
		`{"rows":[{"id":2,"sub":{"list":[]}},{"id":1,"sub":{"list":[1,2]}}],"links":{"next":"/n"}}`: "items rows",
		`{"rows":[{"id":2,"sub":{"list":[]}}],"links":{"next":"/n"}}`:                               "items rows",
		`{"rows":[],"links":{"next":"/n"}}`:                                                         "items rows",
		`[]`: "type  object " +
			"array",
		`{"rows":[`: "type  object " +
			"text",
		page +
			`x`: "type  object text",
		page + "\n": "text /rows",
	} {
		a := NewDigest(&Response{Status: 200, Body: []byte(page)})
		b := NewDigest(&Response{Status: 200, Body: []byte(body)})
		var got []string
		for _, d := range Differences("/rows", a, b) {
			got = append(got, strings.TrimSpace(strings.Join([]string{d.Kind, d.Where, d.Before, d.After}, " ")))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	header := func(name, value string) *Digest {
		return NewDigest(&Response{Status: 200, Header: http.Header{name: {value}}, Body: []byte(page)})
	}
	if got := Differences("", header("Link", `</n>; rel="next"`), header("Link", `</n>; rel="next"`)); got != nil {
		t.Errorf("equal links: %+v", got)
	}
	if got := Differences("", header("Cache-Control", "a"), header("Cache-Control", "b")); len(got) != 1 ||
		got[0].Cause != (Cause{HeaderChanged, "Cache-Control", "a", "b"}) {
		t.Errorf("headers: %+v", got)
	}
	failed := NewDigest(&Response{Body: []byte("refused")})
	if got := Differences("/rows", header("Link", ""), failed); len(got) != 1 ||
		got[0].Cause != (Cause{StatusChanged, "/rows", "200", "no response"}) || got[0].To != "refused" {
		t.Errorf("no response: %+v", got)
	}
	if got := Differences("/rows", failed, failed); len(got) != 1 {
		t.Errorf("no response on both sides: %+v", got)
	}
}

const log = `127.0.0.1 - - [10/Oct/2025:13:55:36 +0000] "GET /api/v1/accounts?limit=2 HTTP/1.1" 200 2326
10.0.0.1 - bob [10/Oct/2025:13:55:37 +0000] "GET /api/v1/accounts?limit=2 HTTP/1.1" 200 2326 "-" "curl/8"
10.0.0.1 - - [10/Oct/2025:13:55:37 +0000] "POST /api/v1/contracts/call HTTP/1.1" 200 12 "-" "curl/8"
10.0.0.1 - - [10/Oct/2025:13:55:37 +0000] "GET /other HTTP/1.1" 200 12 "-" "curl/8"
{"time":"2025-10-10T13:55:36Z","msg":"request","method":"GET","path":"/api/v1/blocks","query":"limit=1","status":200}
{"method":"HEAD","path":"/api/v1/blocks"}
{"request_uri":"/api/v1/blocks/1"}
{"request":"GET /api/v1/blocks/2 HTTP/2.0"}
{"request":{"method":"GET","uri":"/api/v1/blocks/3?a=%20b"}}
{"url":"https://mirror.example.com/api/v1/blocks/4"}
{"path":7}
{
garbage
"GET
`

// TestReadLog checks which requests of an access log are read.
func TestReadLog(t *testing.T) {
	t.Parallel()
	got, err := ReadLog(strings.NewReader(log), "/api/v1", 100)
	var paths []string
	for _, r := range got {
		paths = append(paths, strings.TrimPrefix(r.Path, "/api/v1/"))
	}
	if want := []string{
		"accounts?limit=2", "blocks?limit=1", "blocks/1", "blocks/2", "blocks/3?a=%20b",
		"blocks/4",
	}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("%q, %v, want %q", paths, err, want)
	}
	if got, err = ReadLog(strings.NewReader(log), "/api/v1", 2); err != nil || len(got) != 2 {
		t.Errorf("with a maximum of 2: %v, %v", got, err)
	}
	if _, err = ReadLog(strings.NewReader(strings.Repeat("x", maxLine+1)), "/api/v1", 2); err == nil {
		t.Error("a line without an end was accepted")
	}
}

// FuzzLog checks that any line gives a path that can be requested, or none.
func FuzzLog(f *testing.F) {
	for line := range strings.SplitSeq(log, "\n") {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		path, ok := logPath(line)
		if !ok {
			return
		}
		if _, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path,
			http.NoBody); err != nil && strings.HasPrefix(path, "/") {
			t.Errorf("%q: %v", path, err)
		}
	})
}

// TestDeepBody checks that the memory for a body with many nested values does not grow with the square of their depth:
// it is compared as text.
func TestDeepBody(t *testing.T) {
	t.Parallel()
	for nested, typ := range map[string]string{"[": "array", `{"member":`: "object"} {
		for depth, want := range map[int]string{50: typ, 3000: "text"} {
			ends := strings.NewReplacer("[", "]", "{", "}", `"member":`, "")
			body := strings.Repeat(nested, depth) + "1" + strings.Repeat(ends.Replace(nested), depth)
			d := NewDigest(&Response{Status: 200, Body: []byte(body)})
			if got := d.Members[0].Types; got != want || want == "text" && len(d.Members) != 1 {
				t.Errorf("%d times %s: %d members, the first is %s", depth, nested, len(d.Members), got)
			}
		}
	}
}

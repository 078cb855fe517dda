package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
)

// modernEndpoint returns a modern endpoint with one parameter of each kind.
func modernEndpoint() *Endpoint {
	return &Endpoint{
		Path: "/accounts/{id}/rows/{row}", Family: Modern,
		PathParams: []Param{
			{Name: "id", Kind: PathAccount, Bind: Texts("id")},
			{Name: "row", Kind: Int64, Check: AtLeast("row", 0), Bind: Texts("row")},
		},
		Params: []Param{
			{
				Name: "account.id", Kind: ModernEntityID, MaxValues: 2, ListName: "accountIds",
				Bind: Numbers("filter.account"),
			},
			Limit(),
			ModernOrder(),
			{Name: "owner", Kind: Switch, Bind: Texts("owner")},
			{
				Name: "serialnumber", Kind: ModernLong, MaxValues: 2, ListName: "serialNumbers",
				Bind: Numbers("filter.serial"),
			},
			{Name: "timestamp", Kind: ModernTimestamp, MaxValues: 2, ListName: "timestamps", Bind: Windows("at")},
			{Name: "mode", Kind: Word("BLOCK_NODE", "RPC_RELAY"), Bind: Texts("mode")},
		},
		Next: []Cursor{
			EntityIDCursor("account.id"),
			{Param: "serialnumber", Print: NumberCursor("").Print, Optional: true},
		},
	}
}

func modernRequest(t testing.TB, e *Endpoint, id, row, query string) *Request {
	t.Helper()
	base, err := ledger.NewEntityID(0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	e.route = newRoute("", e.Path)
	return &Request{
		Config: &Config{Base: base}, Endpoint: e, Next: e.Next,
		path:      "/accounts/" + url.PathEscape(id) + "/rows/" + url.PathEscape(row),
		Variables: map[string]any{},
		HTTP: &http.Request{
			Method: http.MethodGet, URL: &url.URL{RawQuery: query},
			RequestURI: "/api/v1/accounts/5/rows/1?" + query,
		},
	}
}

func variablesOf(t *testing.T, r *Request) string {
	t.Helper()
	text, err := json.Marshal(r.Variables)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestModernValues(t *testing.T) {
	t.Parallel()
	const address, alias = "00000000000000000000000000000000000003E8",
		"HIQQEXWKW53RKN4W6XXC4Q232SYNZ3SZANVZZSUME5B5PRGXL663UAQA"
	for _, c := range []struct{ id, query, want string }{
		{"5", "", `{}`},
		{"7.5", "", `{"id":"0.7.5"}`},
		{address, "", `{"id":"literal:0x00000000000000000000000000000000000003e8"}`},
		{"9.9." + address, "", `{"id":"literal:0x00000000000000000000000000000000000003e8"}`},
		{"3.4." + alias, "", `{"id":"literal:` + alias + `"}`},
		{strings.Repeat("A", 41) + "B", "", `{"id":"literal:` + strings.Repeat("A", 42) +
			`"}`}, // surplus bits after the last byte
		{"5", "unknown=1&Limit=x&account.id=", `{}`},
		{"5", "account.id=gT:7&account.id=LTE:0.1.9", `{"filter":{"account":{"gt":"0.0.7","lte":"0.1.9"}}}`},
		{"5", "account.id=gt:7,%20lt:9", `{"filter":{"account":{"gt":"0.0.7","lt":"0.0.9"}}}`},
		{"5", "account.id[]=gt:7&account.id%5B%5D=lt:9", `{"filter":{"account":{"gt":"0.0.7","lt":"0.0.9"}}}`},
		{"5", "account.id=7&account.id=eq:8", `{"filter":{"account":{"in":["0.0.7","0.0.8"]}}}`},
		{"5", "account.id=ne:7", `{}`},
		{"5", "serialnumber=9223372036854775807", `{"filter":{"serial":{"in":["9223372036854775807"]}}}`},
		{"5", "owner=OFF&owner=maybe", `{"owner":"false"}`},
		{"5", "mode=block-node", `{"mode":"BLOCK_NODE"}`},
		{"5", "timestamp=1.5", `{"at":{"lte":"1.000000005"}}`},
		{"5", "timestamp=gt:0.0001&timestamp=GTE:7", `{"at":{"gte":"7.000000000"}}`},
		{"5", "timestamp=gt:1&timestamp=lt:00000000000000002", `{"at":{"gte":"1.000000001","lte":"1.999999999"}}`},
		{"5", "timestamp=lt:0", `{"at":{"in":[]}}`},
	} {
		r := modernRequest(t, modernEndpoint(), c.id, "1", c.query)
		if err := r.readModern(); err != nil {
			t.Errorf("%s %s: %v", c.id, c.query, err)
			continue
		}
		delete(r.Variables, "row")
		if c.id == "5" {
			delete(r.Variables, "id")
		}
		if got := variablesOf(t, r); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.id, c.query, got, c.want)
		}
	}
}

func TestModernPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		limit int
		desc  bool
	}{
		{"", 25, false},
		{"limit=", 25, false},
		{"limit=100&limit=x&order=DESC", 100, true},
		{"limit=1&order=Asc", 1, false},
	} {
		r := modernRequest(t, modernEndpoint(), "5", "1", c.query)
		if err := r.readModern(); err != nil || r.Limit != c.limit || r.Desc != c.desc {
			t.Errorf("%q: limit %d desc %v error %v", c.query, r.Limit, r.Desc, err)
		}
	}
	e := modernEndpoint()
	e.DefaultLimit, e.Params = 10, []Param{ModernLimit(25, true)}
	for query, want := range map[string]int{"": 10, "limit=26": 25, "limit=2147483647": 25, "limit=7": 7} {
		r := modernRequest(t, e, "5", "1", query)
		if err := r.readModern(); err != nil || r.Limit != want {
			t.Errorf("%q: limit %d error %v, want %d", query, r.Limit, err, want)
		}
	}
}

// details returns the details of a problem, one line per item.
func details(err error) string {
	var p *Problem
	if !errors.As(err, &p) {
		return ""
	}
	var lines []string
	for _, i := range p.Items {
		if i.Detail == nil {
			lines = append(lines, i.Message)
			continue
		}
		lines = append(lines, i.Message+": "+*i.Detail)
	}
	return strings.Join(lines, "\n")
}

func TestModernProblems(t *testing.T) {
	t.Parallel()
	const bad = "Bad Request: "
	for _, c := range []struct{ id, row, query, want string }{
		{"x", "y", "limit=z", bad + "Failed to convert 'id'"},
		{"0.0.0x00000000000000000000000000000000000003e8", "1", "", bad + "Failed to convert 'id'"},
		{"1.2.3.4", "1", "", bad + "Failed to convert 'id'"},
		{"1024.0.1", "1", "", bad + "Failed to convert 'id'"},
		{"-1", "1", "", bad + "Failed to convert 'id'"},
		{strings.Repeat("A", 43), "1", "", bad + "Failed to convert 'id'"},
		{strings.Repeat("A", 71), "1", "", bad + "Failed to convert 'id'"},
		{"5", "y", "limit=z", bad + "Failed to convert 'row'"},
		{"5", "9223372036854775808", "", bad + "Failed to convert 'row'"},
		{"5", "-1", "", bad + "row must be greater than or equal to 0"},
		{"5", "-1", "order=up&limit=1.5", bad + "Failed to convert 'limit'"},
		{"5", "-1", "order=up&limit=0", bad + "Failed to convert 'order'"},
		{"5", "-1", "limit=0&account.id=1,2,3", bad + "row must be greater than or equal to 0\n" +
			bad + "accountIds size must be between 0 and 2\n" + bad + "limit must be greater than 0"},
		{"5", "1", "limit=101", bad + "limit must be less than or equal to 100"},
		{"5", "1", "limit=2147483648", bad + "Failed to convert 'limit'"},
		{"5", "1", "limit=-7", bad + "limit must be greater than 0"},
		{"5", "1", "limit=1,2", bad + "Failed to convert 'limit'"},
		{"5", "1", "account.id=gt:1:2", bad + "Failed to convert 'account.id'"},
		{"5", "1", "account.id=around:1", bad + "Failed to convert 'account.id'"},
		{"5", "1", "account.id=gt:", bad + "Failed to convert 'account.id'"},
		{"5", "1", "account.id=0.0.0.1", bad + "Failed to convert 'account.id'"},
		{"5", "1", "account.id=0..1", bad + "Failed to convert 'account.id'"},
		{"5", "1", "account.id=274877906944", bad + "Failed to convert 'account.id'"},
		{"5", "1", "account.id=0x00000000000000000000000000000000000003e8", bad + "Failed to convert 'account.id'"},
		{"5", "1", "account.id=1,2&account.id=3", bad + "Failed to convert 'account.id'"},
		{"5", "1", "owner=maybe", bad + "Failed to convert 'owner'"},
		{"5", "1", "serialnumber=-1", bad + "Failed to convert 'serialnumber'"},
		{"5", "1", "serialnumber=9223372036854775808", bad + "Failed to convert 'serialnumber'"},
		{"5", "1", "timestamp=ne:1", bad + "Failed to convert 'timestamp'"},
		{"5", "1", "timestamp=123456789012345678", bad + "Failed to convert 'timestamp'"},
		{"5", "1", "timestamp=9223372036.854775808", bad + "Failed to convert 'timestamp'"},
		{"5", "1", "timestamp=1.1234567890", bad + "Failed to convert 'timestamp'"},
		{"5", "1", "timestamp=1&timestamp=2&timestamp=3", bad + "timestamps size must be between 0 and 2"},
		{"5", "1", "mode=node", bad + "Failed to convert 'mode'"},
		{"5", "1", strings.Repeat("a&", 1001), bad + "Parameter limit exceeded. Only 1000 parameters allowed."},
	} {
		r := modernRequest(t, modernEndpoint(), c.id, c.row, c.query)
		if got := details(r.readModern()); got != c.want {
			t.Errorf("%s %s %.60q:\n%s\nwant\n%s", c.id, c.row, c.query, got, c.want)
		}
	}
}

func TestObjectBoundProblems(t *testing.T) {
	t.Parallel()
	e := modernEndpoint()
	e.ObjectBound = true
	const invalidText = "Invalid parameter: "
	for query, want := range map[string]string{
		"order=up&limit=0&account.id=x": invalidText + "account.id\n" + invalidText + "order\n" +
			invalidText + "limit",
		"account.id=1,2": invalidText + "account.id",
		"account.id=1&account.id=2&account.id=3&limit=101": invalidText + "account.id\n" + invalidText + "limit",
		"limit=1&limit=2&account.id=x": "Bad Request: Only a single instance is supported for " +
			"limit",
		"account.id=1&account.id=x&account.id=y": invalidText + "account.id",
		"limit=&order=":                          "",
	} {
		r := modernRequest(t, e, "5", "1", query)
		if got := details(r.readModern()); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
}

func TestModernLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query           string
		account, serial int64
		want            string
	}{
		{"", 8, 0, "account.id=gt:0.0.8"},
		{"", 8, 3, "account.id=gte:0.0.8&serialnumber=gt:3"},
		{"limit=1", 8, 3, "limit=1&account.id=gte:0.0.8&serialnumber=gt:3"},
		{"account.id=5&limit=1", 5, 3, "account.id=5&limit=1&serialnumber=gt:3"},
		{
			"account.id=GTE:1&account.id=lt:0.0.9&limit=1&serialnumber=gt:2",
			8, 3, "account.id=lt:0.0.9&account.id=gte:0.0.8&limit=1&serialnumber=gt:3",
		},
		{"account.id=gte:1,lt:9", 8, 0, "account.id=lt:9&account.id=gt:0.0.8"},
		{"serialnumber=1,2", 8, 2, "serialnumber=1,2&account.id=gt:0.0.8"},
		{"limit=2&account.id=gte:7&serialnumber=3", 8, 3, "limit=2&serialnumber=3&account.id=gt:0.0.8"},
		{"account.id=gte:1&order=desc", 8, 3, "account.id=gte:1&account.id=lte:0.0.8&order=desc&serialnumber=lt:3"},
		{"serialnumber=gt:0&account.id=gt:2", 8, 0, "account.id=gt:0.0.8"},
		{"ODD=%41%26b%20c%2B%22&x=1&ODD=2", 8, 0, "ODD=A%26b%20c%2B%22&ODD=2&x=1&account.id=gt:0.0.8"},
		{"account.id[]=gt:2&other[]=3", 8, 0, "other%5B%5D=3&account.id=gt:0.0.8"},
		{"account.id=eq:5&serialnumber=3", 5, 3, "account.id=eq:5&serialnumber=3"},
		// ids with points are not compared
		{"account.id=gt:9&account.id=lt:4", 8, 0, "account.id=lt:4&account.id=gt:0.0.8"},
	} {
		r := modernRequest(t, modernEndpoint(), "5", "1", c.query)
		if err := r.readModern(); err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if got, want := r.next(relay.Key{c.account, c.serial}),
			"/api/v1/accounts/5/rows/1?"+c.want; got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.query, got, want)
		}
	}
}

func TestModernLinkWithoutRows(t *testing.T) {
	t.Parallel()
	e := modernEndpoint()
	e.Next = []Cursor{NumberCursor("serialnumber")}
	for query, want := range map[string]string{
		"serialnumber=gte:3&order=desc":             "",
		"serialnumber=gte:3&order=desc&limit=2":     "",
		"serialnumber=gte:2&order=desc":             "serialnumber=gte:2&serialnumber=lt:3&order=desc",
		"serialnumber=lt:5&order=asc":               "serialnumber=lt:5&serialnumber=gt:3&order=asc",
		"serialnumber=lte:3&order=asc":              "",
		"serialnumber=3":                            "serialnumber=3",
		"serialnumber=3&serialnumber=gte:3&limit=1": "serialnumber=3&limit=1",
	} {
		r := modernRequest(t, e, "5", "1", query)
		if err := r.readModern(); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			want = "/api/v1/accounts/5/rows/1?" + want
		}
		if got := r.next(relay.Key{int64(3)}); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestSlot(t *testing.T) {
	t.Parallel()
	e, p := Endpoint{Family: Modern}, Param{Kind: Slot}
	zeros := strings.Repeat("0", 63)
	for text, want := range map[string]Value{
		"a":                              {Op: Eq, Text: "0x" + zeros + "a"},
		"gte:0xA":                        {Op: Gte, Text: "0x" + zeros + "a", Given: true},
		"lt:" + strings.Repeat("fF", 32): {Op: Lt, Text: "0x" + strings.Repeat("f", 64), Given: true},
	} {
		if got, ok := e.Value(nil, &p, text); !ok || got != want {
			t.Errorf("%s: %+v %v", text, got, ok)
		}
	}
	for _, text := range []string{"ne:1", "GT:1", "", "0x", "g", strings.Repeat("0", 65), "gt:lt:1"} {
		if got, ok := e.Value(nil, &p, text); ok {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}

// FuzzModern parses random query strings. An accepted query string must be accepted again in its next link, and the
// page must continue there.
func FuzzModern(f *testing.F) {
	for _, query := range []string{
		"account.id=gte:1&account.id=lt:0.0.9&limit=1&serialnumber=gt:2&order=desc",
		"timestamp[]=gt:1.5&timestamp%5b%5d=LT:2", "ODD=%41%26b+c%2B%22%zz",
		"account.id=1,2", "a=b=c&&=&x", "owner=yes&mode=rpc relay", "serialnumber=ne:4,5&account.id=%00",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := modernRequest(t, modernEndpoint(), "5", "1", query)
		if err := r.readModern(); err != nil {
			if details(err) == "" {
				t.Fatalf("%q: %v", query, err)
			}
			return
		}
		link := r.next(relay.Key{int64(1 << 30), int64(7)})
		if link == "" {
			return
		}
		u, err := url.ParseRequestURI(link)
		if err != nil {
			t.Fatalf("link %q of %q: %v", link, query, err)
		}
		again := modernRequest(t, modernEndpoint(), "5", "1", u.RawQuery)
		if err := again.readModern(); err != nil {
			if !strings.Contains(details(err), "size must be") { // the added bound can exceed the maximum size
				t.Fatalf("link %q of %q: %v", link, query, err)
			}
			return
		}
		if again.Limit != r.Limit || again.Desc != r.Desc {
			t.Fatalf("link %q of %q selects another page", link, query)
		}
	})
}

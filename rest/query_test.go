package rest

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"heliograph/graph/relay"
	"heliograph/internal/domain/ledger"
)

// TestParseQuery checks parsed query strings.
func TestParseQuery(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Query{
		"":                                       {},
		"&&":                                     {},
		"a":                                      {{"a", []string{""}, false}},
		"a=":                                     {{"a", []string{""}, false}},
		"a=b=c":                                  {{"a", []string{"b=c"}, false}},
		"a=1&b=2&a=3":                            {{"a", []string{"1", "3"}, true}, {"b", []string{"2"}, false}},
		"account.id=1&account.Id=2&account.id=3": {{"account.id", []string{"1", "3", "2"}, true}},
		"a[]=1":                                  {{"a", []string{"1"}, true}},
		"a%5B%5D=1&a=2":                          {{"a", []string{"1", "2"}, true}},
		"a[1]=x&a[0]=y":                          {{"a", []string{"x", "y"}, true}},
		"a[=1":                                   {{"a[", []string{"1"}, false}},
		"[]=1":                                   {{"[]", []string{"1"}, false}},
		"a[]b=1":                                 {{"a[]b", []string{"1"}, false}},
		"a=+1%202+":                              {{"a", []string{" 1 2 "}, false}},
		"a=%zz+x":                                {{"a", []string{"%zz x"}, false}},
		"%41=%c3%a9":                             {{"a", []string{"é"}, false}},
		"a=%ff%41+x":                             {{"a", []string{"%ff%41 x"}, false}},
		"Order=DESC&Result=FaiL&x=Y": {
			{"order", []string{"desc"}, false},
			{"result", []string{"fail"}, false},
			{"x", []string{"Y"}, false},
		},
	} {
		got, bad := parseQuery(raw, 100)
		if bad != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, error %v; want %v", raw, got, bad, want)
		}
	}
}

// fuzzEndpoint returns an endpoint with a parameter of each kind.
func fuzzEndpoint(grammar Grammar) (*Endpoint, *Config) {
	return &Endpoint{
			Path: "/things", Grammar: grammar,
			Next: []Cursor{
				EntityIDCursor("account.id"), TimestampCursor("timestamp"),
				NumberCursor("block.number"),
			},
			Params: []Param{
				{Name: "account.id", Kind: EntityID, Bind: IDs("filter.id")},
				{Name: "timestamp", Kind: Timestamp, Bind: Timestamps("filter.timestamp")},
				{Name: "block.number", Kind: BlockNumber.Except(Ne), Bind: Longs("filter.number")},
				{Name: "account.balance", Kind: Long(0), Bind: Longs("filter.balance")},
				{Name: "account.publickey", Kind: PublicKey, Bind: PublicKeys("filter.key")},
				{Name: "transactiontype", Kind: TransactionType, Bind: Enums("filter.types")},
				{Name: "nonce", Kind: Int.Only(Eq)},
				{Name: "scheduled", Kind: Boolean},
				{Name: "token.id", Kind: EntityIDOrLongZero},
				{Name: "order", Kind: OneOf("asc", "desc")},
			},
		}, &Config{
			MaxRepeats: 8, LimitDefault: 25, LimitMax: 100, MaxTransactionsRange: time.Hour,
			Now: func() time.Time {
				return time.Unix(1700000000, 0)
			},
		}
}

// FuzzQuery parses and validates random query strings. Nothing may panic, an accepted query can be bound, and the next
// link is a query that is accepted and continues in the same direction.
func FuzzQuery(f *testing.F) {
	for _, raw := range []string{
		"", "account.id=gt:0.0.5&account.id=lt:10&order=desc", "timestamp=gte:1.5&timestamp[]=ne:7",
		"block.number=0x1F", "a[b]=1", "a[1][2]=3", "account.id[7]=5&account.id[8]=5",
		"transactiontype=CRYPTOTRANSFER&Nonce=eq:5&scheduled=TRUE", "account.publickey=0x" + strings.Repeat("ab", 32),
		"token.id=0x" + strings.Repeat("0", 39) + "5",
		"account.id=0." + strings.Repeat("a", 40), "?limit=%zz&+=%20",
		"timestamp=gt:9223372036.854775807&timestamp=lt:0", "x:y:z=gt:gt:5", "block.number=gt:9223372036854775807",
		"account.balance=ne:0&account.balance=lt:9223372036854775807",
	} {
		f.Add(raw, false)
		f.Add(raw, true)
	}
	f.Fuzz(func(t *testing.T, raw string, desc bool) {
		for _, grammar := range []Grammar{InOrder, ByGroup} {
			e, cfg := fuzzEndpoint(grammar)
			q, bad := parseQuery(raw, cfg.MaxRepeats)
			if bad != nil {
				if bad.text == "" && bad.nested == "" && !strings.Contains(raw, "[") {
					t.Fatalf("%q is rejected without a reason", raw)
				}
				continue
			}
			if p := e.validate(cfg, q); p != nil {
				if len(p.Items) == 0 || len(p.body()) == 0 {
					t.Fatalf("%q is a problem without items", raw)
				}
				continue
			}
			r := &Request{
				Config: cfg, HTTP: &http.Request{RequestURI: "/api/v1/things"}, Endpoint: e, Query: q, Next: e.Next,
				Variables: map[string]any{}, Desc: desc,
			}
			refused := false
			for _, p := range q {
				if bind := e.param(p.Name).Bind; bind != nil {
					refused = bind(r, r.Values(p.Name)) != nil || refused
				}
			}
			if set, err := r.TimestampFilter("timestamp"); err == nil && !set.Empty() && !set.HasEq() {
				if err := set.Bound(r, func() (ledger.Timestamp, error) { return 5, nil }); err != nil {
					t.Fatal(err)
				}
				if filter := set.Filter(); strings.Contains(textOf(filter["gte"])+textOf(filter["lte"]), "-") {
					t.Fatalf("%q is bound to %v", raw, filter)
				}
			}
			if refused {
				continue
			}
			link := r.next(relay.Key{int64(1 << 30), int64(1 << 40), int64(77)})
			if link == "" || !q.isPlain() {
				continue
			}
			_, query, _ := strings.Cut(link, "?")
			next, bad := parseQuery(query, cfg.MaxRepeats+1)
			if bad != nil {
				t.Fatalf("%q links to %q, which is rejected: %v", raw, link, bad)
			}
			cfg.MaxRepeats++ // for the added bound
			if p := e.validate(cfg, next); p != nil {
				t.Fatalf("%q links to %q, which is rejected: %v", raw, link, p)
			}
		}
	})
}

// isPlain reports whether a link preserves the meaning of the query: links are not encoded, and ByGroup ignores any
// text before an operator.
func (q Query) isPlain() bool {
	for _, p := range q {
		if strings.ContainsAny(strings.Join(p.Values, ""), "]&%+") {
			return false
		}
	}
	return true
}

// TestPublicKeys checks the form in which public keys are searched.
func TestPublicKeys(t *testing.T) {
	t.Parallel()
	const der = "302a300506032b6570032100"
	raw := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		raw:                               raw,
		"0x" + strings.ToUpper(raw):       raw,
		"02" + raw:                        "02" + raw,
		der + raw:                         raw,
		"0x" + strings.ToUpper(der) + raw: raw,
		der + raw[:40]:                    der + raw[:40], // a raw key that starts like DER
		der + raw[:42]:                    der + raw[:42],
		"302d300706052b8104000a032200" + raw[:60]: "302d300706052b8104000a032200" + raw[:60],
	} {
		for name, bind := range map[string]Bind{"all": PublicKeys("key"), "last": LastPublicKey("key")} {
			r := &Request{Variables: map[string]any{}}
			if err := bind(r, []Value{{Op: Eq, Text: text}}); err != nil {
				t.Errorf("%s, %s: %v", name, text, err)
				continue
			}
			filter, _ := r.Variables["key"].(map[string]any)
			if in, ok := filter["in"].([]any); ok && len(in) == 1 {
				filter = map[string]any{"eq": in[0]}
			}
			if filter["eq"] != want {
				t.Errorf("%s: %s is looked for as %v, want %s", name, text, filter, want)
			}
		}
	}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// FuzzPath looks random paths up. The letter case does not matter, and no parameter may be empty.
func FuzzPath(f *testing.F) {
	for _, p := range []string{
		"/api/v1/accounts/5", "/api/v1//", "/API/V1", "/api/v1/a%2Fb/", "",
		"/Accounts/5/X/6/", "/accounts//x/6", "/x/5//6",
	} {
		f.Add(p)
	}
	const pattern = `/accounts/{id}/x/{y:^[0-9]+$}`
	a := &API{Prefix: "/api/v1", routes: map[outline][]*route{outlineOf(pattern): {newRoute("", pattern)}}}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.ParseRequestURI("/api/v1" + text)
		if err != nil {
			return
		}
		escaped := u.EscapedPath()
		at := a.route(escaped)
		if at != a.route(strings.ToUpper(escaped)) {
			t.Errorf("%q is found in one letter case only", escaped)
		}
		if at == nil {
			return
		}
		path := a.relativePath(escaped)
		if id, y := at.param(path, "id"), at.param(path, "y"); id == "" || y == "" {
			t.Errorf("%q has the parameters %q and %q", escaped, id, y)
		}
	})
}

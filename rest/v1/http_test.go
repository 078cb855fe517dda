package v1_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"heliograph/app/testing/testenv"
)

// TestMethods checks the responses to methods other than GET, by family.
func TestMethods(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			checkProblem(t, g.Do(t, method, "/api/v1/accounts", ""), http.StatusNotFound, messages("Not found"))
			checkProblem(t, g.Do(t, method, "/api/v1/nothing", ""), http.StatusNotFound, messages("Not found"))
			got := g.Do(t, method, "/api/v1/topics/700", "")
			want := modernProblem("Method Not Allowed", "Request method '"+method+"' is not supported")
			if got.Status != http.StatusMethodNotAllowed || got.Body != want || got.Header.Get("Allow") == "" {
				t.Errorf("status %d, Allow %q, %s", got.Status, got.Header.Get("Allow"), got.Body)
			}
		})
	}
}

// TestHead checks that HEAD is GET without the body.
func TestHead(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for _, path := range []string{
		"/accounts?limit=1", "/accounts/302", "/topics/700", "/accounts/x", "/nothing",
		"/blocks/41",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			get, head := g.Get(t, "/api/v1"+path), g.Do(t, http.MethodHead, "/api/v1"+path, "")
			if head.Body != "" || head.Status != get.Status {
				t.Errorf("status %d, want %d; body %q", head.Status, get.Status, head.Body)
			}
			for _, name := range []string{
				"Content-Type", "Content-Length", "Etag", "Link", "Cache-Control",
				"Access-Control-Allow-Origin",
			} {
				if head.Header.Get(name) != get.Header.Get(name) {
					t.Errorf("%s is %q, with GET %q", name, head.Header.Get(name), get.Header.Get(name))
				}
			}
		})
	}
}

// TestPreflight checks the responses to CORS preflight requests.
func TestPreflight(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for path, want := range map[string]struct {
		status  int
		methods string
	}{
		"/accounts":            {http.StatusNoContent, "GET,HEAD,PUT,PATCH,POST,DELETE"},
		"/nothing":             {http.StatusNoContent, "GET,HEAD,PUT,PATCH,POST,DELETE"},
		"/topics/700/messages": {http.StatusNoContent, "GET,HEAD,PUT,PATCH,POST,DELETE"},
		"/topics/700":          {http.StatusOK, "GET,HEAD,POST"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got := g.Do(t, http.MethodOptions, "/api/v1"+path, "", "Origin: http://other.example",
				"Access-Control-Request-Method: GET",
				"Access-Control-Request-Headers: x-one, X-Two", "Authorization: Basic bm9ib2R5Ong=")
			if got.Status != want.status || got.Body != "" ||
				got.Header.Get("Access-Control-Allow-Methods") != want.methods {
				t.Errorf("status %d, methods %q, body %q", got.Status, got.Header.Get("Access-Control-Allow-Methods"),
					got.Body)
			}
			if h := got.Header; h.Get("Access-Control-Allow-Origin") != "*" ||
				h.Get("Access-Control-Allow-Headers") != "x-one, X-Two" ||
				h.Get("Vary") != "Access-Control-Request-Headers" {
				t.Errorf("headers %v", h)
			}
			if want.status == http.StatusOK && got.Header.Get("Content-Length") != "0" {
				t.Errorf("Content-Length %q", got.Header.Get("Content-Length"))
			}
		})
	}
}

// TestHeaders checks the headers that all responses have, and that there are no others of the gateway.
func TestHeaders(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	known := map[string]bool{
		"Access-Control-Allow-Origin": true, "Content-Type": true, "Content-Length": true, "Etag": true, "Date": true,
		"Link": true, "Cache-Control": true, "Vary": true,
		"X-Content-Type-Options": true, "Server-Timing": true,
	}
	for path, media := range map[string]string{
		"/accounts?limit=1": "application/json; charset=utf-8", "/nothing": "application/json; charset=utf-8",
		"/accounts/x": "application/json; charset=utf-8",
		"/topics/700": "application/json;charset=UTF-8", "/topics/7": "application/json;charset=UTF-8",
	} {
		got := g.Get(t, "/api/v1"+path)
		if got.Header.Get("Access-Control-Allow-Origin") != "*" || got.Header.Get("Content-Type") != media {
			t.Errorf("%s: headers %v", path, got.Header)
		}
		if timing := got.Header.Get("Server-Timing"); !strings.HasPrefix(timing, "queue;dur=") {
			t.Errorf("%s: Server-Timing %q", path, timing)
		}
		for name := range got.Header {
			if !known[name] {
				t.Errorf("%s: header %s", path, name)
			}
		}
	}
}

// TestCacheControl checks the max-age of responses.
func TestCacheControl(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for path, want := range map[string]string{
		"/accounts": "10", "/accounts/302": "2", "/balances": "1", "/blocks": "1", "/blocks/41": "600",
		"/topics/700": "5", "/topics/700/messages": "1",
		"/topics/700/messages/1": "600", "/topics/messages/1700000009": "600",
		"/topics/701/messages/1700000009.0": "600", "/transactions": "2", "/transactions?type=credit&type=debit": "2",
		"/transactions/0.0.302-1700000000-999999999": "600",
	} {
		got := g.Get(t, "/api/v1"+path)
		if got.Status != http.StatusOK || got.Header.Get("Cache-Control") != "public, max-age="+want {
			t.Errorf("%s: status %d, Cache-Control %q, want max-age=%s", path, got.Status,
				got.Header.Get("Cache-Control"), want)
		}
	}
}

// TestCacheOfSchedules checks that a scheduled transaction has a short max-age while its execution may still join it.
func TestCacheOfSchedules(t *testing.T) {
	t.Parallel()
	url := rows.Fresh(t)
	// 0.0.304 creates three schedules: one that ran, one that has not, one that failed.
	testenv.Exec(t, url, `insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, scheduled, transaction_hash) values
(1700001000000000001, 42, 22, 304, 1700001000000000000, false, decode(repeat('c1', 48), 'hex')), (1700001500000000001, 14, 22, 304, 1700001000000000000, true, null),
(1700002000000000001, 42, 22, 304, 1700002000000000000, false, decode(repeat('c2', 48), 'hex')), (1700003000000000001, 42, 10, 304, 1700003000000000000, false, null)`,
		`insert into transaction_hash (consensus_timestamp, hash, hash_suffix, payer_account_id) values `+
			`(1700002000000000001, decode(repeat('c2', 32), 'hex'), decode(repeat('c2', 16), 'hex'), 304)`)
	at := func(d time.Duration) testenv.Option {
		return func(o *testenv.Options) {
			o.REST.Now = func() time.Time { return time.Unix(1700002000, 1).Add(d) }
		}
	}
	soon := testenv.Over(t, url, at(time.Minute))
	edge := testenv.Over(t, url, at(89285*time.Minute-1))
	late := testenv.Over(t, url, at(89285*time.Minute))
	for name, c := range map[string]struct {
		g    *testenv.Gateway
		path string
		want string
	}{
		"waits":                        {soon, "0.0.304-1700002000-0", "5"},
		"waits, last moment":           {edge, "0.0.304-1700002000-0", "5"},
		"cannot run any more":          {late, "0.0.304-1700002000-0", "600"},
		"has run":                      {soon, "0.0.304-1700001000-0", "600"},
		"failed":                       {soon, "0.0.304-1700003000-0", "600"},
		"by hash":                      {soon, strings.Repeat("c2", 48), "600"},
		"asked for the unscheduled":    {soon, "0.0.304-1700002000-0?scheduled=false", "600"},
		"with nonce":                   {soon, "0.0.304-1700002000-0?nonce=eq:0", "5"},
		"the execution that was asked": {soon, "0.0.304-1700001000-0?scheduled=eq:true", "600"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.g.Get(t, "/api/v1/transactions/"+c.path)
			if got.Status != http.StatusOK || got.Header.Get("Cache-Control") != "public, max-age="+c.want {
				t.Errorf("status %d, Cache-Control %q, want max-age=%s: %s", got.Status,
					got.Header.Get("Cache-Control"), c.want, got.Body)
			}
		})
	}
}

// TestConditionalGet checks responses to conditional requests.
func TestConditionalGet(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for _, path := range []string{"/accounts?limit=1", "/topics/700", "/blocks?limit=12"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			first := g.Get(t, "/api/v1"+path)
			tag := first.Header.Get("Etag")
			if weak := strings.HasPrefix(tag, `W/"`); weak == (path == "/topics/700") || !strings.HasSuffix(tag, `"`) {
				t.Errorf("ETag %s", tag)
			}
			for header, want := range map[string]int{
				tag: 304, strings.TrimPrefix(tag, "W/"): 304, `"x", ` + tag: 304, "*": 304,
				`"x"`: 200, `W/"x"`: 200, strings.Trim(tag, `W/"`): 200, strings.ToUpper(tag) + "x": 200,
			} {
				got := g.Do(t, http.MethodGet, "/api/v1"+path, "", "If-None-Match: "+header)
				if got.Status != want || (got.Body == "") != (want == http.StatusNotModified) ||
					got.Header.Get("Etag") != tag {
					t.Errorf("If-None-Match %s: status %d, ETag %s, %d bytes; want %d", header, got.Status,
						got.Header.Get("Etag"), len(got.Body), want)
				}
				if got.Header.Get("Cache-Control") != first.Header.Get("Cache-Control") ||
					got.Header.Get("Link") != first.Header.Get("Link") {
					t.Errorf("If-None-Match %s: headers %v", header, got.Header)
				}
			}
		})
	}
	t.Run("a problem has no match", func(t *testing.T) {
		t.Parallel()
		tag := g.Get(t, "/api/v1/accounts/x").Header.Get("Etag")
		if got := g.Do(t, http.MethodGet, "/api/v1/accounts/x",
			"", "If-None-Match: "+tag); got.Status != http.StatusBadRequest {
			t.Errorf("status %d", got.Status)
		}
	})
}

// TestCompression checks the selected encoding, and that it can be decoded.
func TestCompression(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	const large = "/api/v1/blocks"
	plain := g.Get(t, large)
	for accept, want := range map[string]string{
		"gzip": "gzip", "br": "br", "deflate": "deflate", "gzip, deflate, br": "br", "gzip;q=1.0, br;q=0.5": "gzip",
		"*": "br", "GZIP": "gzip", "br;q=0, *;q=0.1": "zstd",
		"gzip;q=0": "", "identity": "", "zstd": "zstd", "gzip, deflate, br, zstd": "br", "": "", "gzip;q=x": "",
		"br; q=0.2, deflate ; q=0.3": "deflate", "identity, gzip;q=0.5": "", "identity;q=0.5, gzip": "gzip",
	} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()
			got := g.Do(t, http.MethodGet, large, "", "Accept-Encoding: "+accept)
			if got.Header.Get("Content-Encoding") != want || got.Header.Get("Vary") != "Accept-Encoding" {
				t.Fatalf("Content-Encoding %q, want %q; Vary %q", got.Header.Get("Content-Encoding"),
					want, got.Header.Get("Vary"))
			}
			if text := decode(t, want, got.Body); text != plain.Body {
				t.Errorf("the decoded body is %.100s…", text)
			}
			if got.Header.Get("Etag") != plain.Header.Get("Etag") {
				t.Errorf("ETag %s, want %s", got.Header.Get("Etag"), plain.Header.Get("Etag"))
			}
		})
	}
	t.Run("small bodies stay as they are", func(t *testing.T) {
		t.Parallel()
		got := g.Do(t, http.MethodGet, "/api/v1/blocks/41", "", "Accept-Encoding: gzip")
		if len(got.Body) >= 1024 || got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%d bytes, Content-Encoding %q", len(got.Body), got.Header.Get("Content-Encoding"))
		}
	})
}

func decode(t *testing.T, encoding, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	var err error
	switch encoding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "br":
		r = brotli.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	case "deflate":
		r, err = zlib.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPaths checks that other spellings of a path have the same response.
func TestPaths(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	hash := strings.Repeat("a", 94) + "29"
	for want, spellings := range map[string][]string{
		"/accounts": {"/accounts/", "/ACCOUNTS", "/Accounts/?"},
		"/accounts/302": {
			"/accounts/0.302", "/accounts/0.0.302", "/Accounts/302/",
			"/accounts/0x000000000000000000000000000000000000012E",
			"/accounts/0.0.000000000000000000000000000000000000012e", "/accounts/%30%2E0.302",
		},
		"/accounts/210": {
			"/accounts/" + alias(), "/accounts/0.0." + alias(),
			"/accounts/0." + alias(),
		},
		"/accounts/211": {
			"/accounts/" + evmAddress, "/accounts/0x" + evmAddress,
			"/accounts/0.0." + evmAddress, "/accounts/0." + strings.ToUpper(evmAddress),
		},
		"/blocks/41": {
			"/blocks/" + hash, "/blocks/0x" + hash,
			"/BLOCKS/0x" + strings.ToUpper(hash), "/blocks/0000041",
		},
		"/topics/700":            {"/topics/0.700", "/topics/0.0.700", "/Topics/700/"},
		"/topics/700/messages/1": {"/topics/0.0.700/Messages/1/", "/topics/700/messages/01"},
		"/topics/messages/1700000009.000000000": {
			"/topics/701/messages/1700000009.0", "/topics/MESSAGES/1700000009",
			"/topics/701/messages/9223372036854775807",
		},
		"/transactions/0.0.302-1700000000-999999999": {"/Transactions/0.0.302-1700000000-999999999/"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			first := g.Get(t, "/api/v1"+want)
			if first.Status != http.StatusOK {
				t.Fatalf("status %d: %s", first.Status, first.Body)
			}
			for _, path := range spellings {
				if got := g.Get(t, "/api/v1"+path); got.Body != first.Body {
					t.Errorf("%s: status %d:\n%s", path, got.Status, testenv.Diff(first.Body, got.Body))
				}
			}
		})
	}
	t.Run("the prefix too", func(t *testing.T) {
		t.Parallel()
		if got := g.Get(t, "/API/V1/blocks/41"); got.Status != http.StatusOK {
			t.Errorf("status %d: %s", got.Status, got.Body)
		}
	})
}

// TestHashForms checks the forms in which a transaction is found by its hash.
func TestHashForms(t *testing.T) {
	t.Parallel()
	url := rows.Fresh(t)
	testenv.Exec(t, url,
		`update transaction set transaction_hash = decode(repeat('fbff', 24), 'hex') where consensus_timestamp = `+
			`1700000003000000000`,
		`insert into transaction_hash (consensus_timestamp, hash, hash_suffix, payer_account_id)
values (1700000003000000000, decode(repeat('fbff', 16), 'hex'), decode(repeat('fbff', 8), 'hex'), 302)`)
	g := testenv.Over(t, url)
	mixed := base64Of(t, true)[:32] + strings.ReplaceAll(base64Of(t, true)[32:], "-", "+")
	for _, form := range []string{
		strings.Repeat("fbff", 24), "0x" + strings.Repeat("FBff", 24), base64Of(t, false),
		base64Of(t, true), mixed,
	} {
		got := g.Get(t, "/api/v1/transactions/"+form)
		if got.Status != http.StatusOK || !strings.Contains(got.Body, `"consensus_timestamp":"1700000003.000000000"`) {
			t.Errorf("%s: status %d, %s", form, got.Status, got.Body)
		}
	}
	// A hash that shares only the first 32 bytes is another hash.
	checkProblem(t, g.Get(t, "/api/v1/transactions/"+strings.Repeat("fbff", 16)+strings.Repeat("0", 32)),
		http.StatusNotFound, messages("Not found"))
}

// base64Of returns the hash of TestHashForms in one of the alphabets, as part of a path.
func base64Of(t *testing.T, urlSafe bool) string {
	t.Helper()
	text := encode(urlSafe, mustHex(strings.Repeat("fbff", 24)))
	if len(text) != 64 || !strings.ContainsAny(text, "/_") || !strings.ContainsAny(text, "+-") {
		t.Fatalf("%s is the same in both alphabets", text)
	}
	return strings.ReplaceAll(text, "/", "%2F")
}

// TestValues checks the format of values that other encoders would change.
func TestValues(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for path, want := range map[string]string{
		"/accounts/212?transactions=false": `"balance":{` +
			`"balance":9223372036854775807,"timestamp":"0.000002345","tokens":[]}`,
		"/accounts/213?transactions=false": "\"memo\":\"a\\\"b\\\\c<&" +
			">é\\n\\t\\u0001\u2028\U0001F600\",",
		"/accounts/302?transactions=false": `,"transactions":[],` +
			`"links":{"next":null}}`,
		"/accounts/302?limit=1":                      `"charged_tx_fee":9223372036854775807,`,
		"/transactions/0.0.302-1700000000-999999999": `"max_fee":"9223372036854775807"`,
		"/transactions?timestamp=1700000001": `"staking_reward_transfers":[` +
			`{"account":"0.0.302","amount":7}]`,
		"/transactions?timestamp=1700000002": `"staking_reward_transfers":[]`,
		"/transactions?timestamp=1700000003": `"staking_reward_transfers":[]`,
		"/topics/701/messages": `"message":"Iv/AXAo=",` +
			`"payer_account_id":"0.0.302","running_hash":"","running_hash_version":3,` +
			`"sequence_number":9223372036854775807`,
		"/topics/701/messages?encoding=utf-8": "\"message\":\"\\\"\uFFFD" +
			"\uFFFD\\\\\\n\"",
		"/topics/701/messages?encoding=UTF8": "\"message\":\"\\\"\uFFFD" +
			"\uFFFD\\\\\\n\"",
		"/topics/701/messages?encoding=gt:utf-8":             `"message":"Iv/AXAo="`,
		"/topics/701/messages?encoding=utf8&encoding=base64": `"message":"Iv/AXAo="`,
		"/topics/700/messages/1":                             `"running_hash":"+/8="`,
		"/topics/700": `"created_timestamp":"0.0",` +
			`"custom_fees":{"created_timestamp":"0.000000005","fixed_fees":[]}`,
		"/accounts/302?timestamp=1700000010&transactions=false": `"balance":{"balance":304,` +
			`"timestamp":"1700000002.000000000","tokens":[]}`,
		"/accounts/302?timestamp=1700000010&timestamp=1699000010&transactions=false": `"balance":{"balance":303,` +
			`"timestamp":"1699000001.000000000","tokens":[]}`,
		"/balances?account.id=302&order=asc": `"balance":3020,` +
			`"tokens":[{"token_id":"0.0.901","balance":901},{"token_id":"0.0.902","balance":902},` +
			`{"token_id":"0.0.904","balance":904}`,
		"/balances?account.id=302&order=desc": `"tokens":[{` +
			`"token_id":"0.0.905","balance":905},{"token_id":"0.0.904","balance":904},{"token_id":"0.0.902"`,
		"/accounts?account.id=302&balance=false": `"balance":null,`,
		"/blocks/41": `"gas_used":null,` +
			`"logs_bloom":null`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			if got := g.Get(t, "/api/v1"+path); got.Status != http.StatusOK || !strings.Contains(got.Body, want) {
				t.Errorf("status %d, %s\nmust contain %s", got.Status, got.Body, want)
			}
		})
	}
}

// TestDelegationAddress checks that the property is present only if it is configured.
func TestDelegationAddress(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		g := testenv.Over(t, rows.Shared(t), func(o *testenv.Options) { o.REST.DelegationAddress = on })
		for _, path := range []string{"/accounts?account.id=302", "/accounts/302"} {
			if got := g.Get(t, "/api/v1"+path); strings.Contains(got.Body, `"delegation_address":"0x",`) != on {
				t.Errorf("%s with %v: %s", path, on, got.Body)
			}
		}
	}
}

// TestTokenLimits checks how many tokens an account shows.
func TestTokenLimits(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t), func(o *testenv.Options) {
		o.REST.TokensInList, o.REST.TokensOfAccount = 2, 3
	})
	for path, want := range map[string]int{
		"/accounts?account.id=302": 2, "/balances?account.id=302": 2,
		"/accounts/302": 3,
	} {
		if got := g.Get(t, "/api/v1"+path); strings.Count(got.Body, `"token_id":`) != want {
			t.Errorf("%s: %d tokens, want %d", path, strings.Count(got.Body, `"token_id":`), want)
		}
	}
}

// TestLinkHeaderIsValid checks that a link is a valid header value and valid UTF-8.
func TestLinkHeaderIsValid(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	got := g.Get(t, "/api/v1/accounts?account.id=gt:300&limit=1&balance=tru%FF")
	checkProblem(t, got, http.StatusBadRequest, messages("Invalid parameter: balance"))
	got = g.Get(t, "/api/v1/accounts?limit=1&a%FF%0D%0A=1")
	checkProblem(t, got, http.StatusBadRequest,
		"{\"_status\":{\"messages\":[{\"message\":\"Unknown query parameter: a%ff%0d%0a\"}]}}")
}

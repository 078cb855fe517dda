package v1_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/rest"
	v1 "heliograph/rest/v1"
)

// hostileValues returns malformed and malicious values of paths and parameters.
func hostileValues() []string {
	return []string{
		"", "%", "%zz", "%0", "%00", "a%00b", "%ff%fe", "%C3%28", "%ED%A0%80", "%F0%9F%98%80", "%2F", "..%2F..",
		"%2e%2e", "%0d%0aX-Injected:%201", "%25", "%20", "+", "%09",
		"-1", "-0", "0", "00", "01", "1.", ".1", "1..2", "1.2.3.4", "1e9", "0x", "0x0", "0X1", "NaN", "Infinity",
		"1_000", "%D9%A1", "null", "undefined", "true",
		"2147483647", "2147483648", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
		"99999999999999999999999999", "-9223372036854775808",
		"274877906943", "274877906944", "1023.65535.274877906943", "1024.0.1", "0.65536.1", "0.0.274877906944",
		"999.99999.999999999999", "0.0.0",
		"9223372036", "9223372036.854775807", "9223372036.854775808", "9223372037", "9999999999.999999999",
		"0.000000000", "0.0000000001", "1700000000.5",
		"0.0.2-9223372036854775807-999999999", "0.0.2-0-0", "0.0.2@1.2", "0.0.2-1-", "1024.0.2-1-1",
		"0.0.2-99999999999999999999-1",
		strings.Repeat("0", 40), strings.Repeat("f", 40), strings.Repeat("A", 40),
		"0x" + strings.Repeat("0", 24) + "00000000000003ea", strings.Repeat("a", 64), strings.Repeat("F", 96),
		"0x" + strings.Repeat("0", 96), strings.Repeat("/", 64), strings.Repeat("_", 64), strings.Repeat("7", 65),
		strings.Repeat("A", 52), "ABC", "AAAAAAAA",
		strings.Repeat("9", 5000), strings.Repeat("%41", 3000),
		"'", "1'--", "1;drop%20table%20x", "$1", "%27%20or%201=1", "{}", "[]", "[1,2]", "a,b", ",", "<script>",
		"\"", "\\", "&amp;", "*", "()", "éü", "\xff\xfe", "\xc3", "🚀",
		"gt:", ":", "::", "eq:", "eq:eq:1", "gt:gt:5", "lt:-1", "ne:0", "GT:5", "like:%25", "gt:%00", "in:1,2",
		"lte:9223372036854775807", "gt:9223372036854775807", "lt:0",
		"desc", "asc", "credit", "debit", "CRYPTOTRANSFER", "utf-8", "ALL", "success", "BLOCK_NODE", "block-node",
		"circulating", "INTRINSIC",
	}
}

// hostileNames returns unknown and malformed parameter names.
func hostileNames() []string {
	return []string{
		"", "foo", "__proto__", "constructor", "limit[]", "limit[0]", "limit[99]", "limit[100]", "limit[-1]",
		"limit[a]", "limit[a][b]", "limit[", "limit]", "[limit]", "[]", "[0]",
		"timestamp%5B%5D", "LIMIT", "Order", "%00", "%zz", "a%26b", "account.id[]", "account.ID", "\xff", "?limit",
		"limit%00", "filter", "first", "after", strings.Repeat("n", 3000),
	}
}

// hostileMethods returns all standard methods and some unknown ones.
func hostileMethods() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodTrace,
		http.MethodConnect, "PROPFIND", "get", "X",
	}
}

// hostile sends requests as a server parses them, and records the errors that the gateway logs.
type hostile struct {
	g        *testenv.Gateway
	handler  http.Handler
	patterns []rest.Endpoint
	mu       sync.Mutex
	log      bytes.Buffer
}

// Write records log lines.
func (h *hostile) Write(line []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.Write(line)
}

func newHostile(tb testing.TB) *hostile {
	tb.Helper()
	h := &hostile{patterns: v1.Endpoints(v1.DefaultFeeBody)}
	h.g = testenv.Demo(tb,
		func(o *testenv.Options) {
			o.Logger = slog.New(slog.NewTextHandler(h, &slog.HandlerOptions{Level: slog.LevelError}))
		})
	h.handler = h.g.Public()
	return h
}

// sqlWords are words of which every match of sqlText has one. They are a quick pre-check.
var sqlWords = []string{
	"sqlstate", "select ", "syntax error", "invalid byte", "out of range", "goroutine ",
	"runtime error", "jackc/pgx", ".go:",
}

// sqlText matches text that exposes SQL statements or program internals.
var sqlText = regexp.MustCompile(`(?i)sqlstate|select .* from|syntax error at|invalid byte sequence|out of range ` +
	`for type|goroutine \d|runtime error|pgx|\.go:\d`)

// send sends a request with its target unchanged, except for characters that a request line cannot contain. It returns
// nil if a server rejects the request before calling a handler.
func (h *hostile) send(tb testing.TB, method, target string) *http.Response {
	tb.Helper()
	var line strings.Builder
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c == 0x7f {
			fmt.Fprintf(&line, "%%%02X", c)
		} else {
			line.WriteByte(c)
		}
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + line.String() +
		" HTTP/1.1\r\nHost: gateway\r\n\r\n")))
	if err != nil {
		return nil
	}
	w := httptest.NewRecorder()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h.handler.ServeHTTP(w, r.WithContext(ctx))
	return w.Result()
}

// check sends a request and reports malformed responses.
func (h *hostile) check(tb testing.TB, method, target string) int {
	tb.Helper()
	resp := h.send(tb, method, target)
	if resp == nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }() // the body is in memory
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	report := func(what string, args ...any) {
		tb.Helper()
		tb.Errorf("%s %.300q: status %d, %s: %.300s", method, target, resp.StatusCode, fmt.Sprintf(what, args...),
			body)
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		report("a request can be bad, but the gateway must not be")
	}
	if resp.Header.Get("X-Injected") != "" {
		report("the request wrote a header")
	}
	asked := strings.ToLower(target)
	if text := strings.ToLower(string(body)); slices.ContainsFunc(sqlWords, func(word string) bool {
		return strings.Contains(text, word)
	}) {
		for _, found := range sqlText.FindAllString(text, -1) {
			if !strings.Contains(asked, found) {
				report("the response contains %q", found)
			}
		}
	}
	switch {
	case method == http.MethodHead || resp.StatusCode == http.StatusNoContent || method == http.MethodOptions:
		if len(body) > 0 {
			report("there is a body")
		}
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json"):
		if resp.StatusCode < http.StatusBadRequest {
			if !json.Valid(body) {
				report("the body is no JSON")
			}
			break
		}
		if wrong := badEnvelope(resp.Header.Get("Content-Type"), body); wrong != "" {
			report("%s", wrong)
		}
	case resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain"):
		report("Content-Type is %q", resp.Header.Get("Content-Type"))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.log.Len() > 0 {
		report("log: %s", h.log.String())
		h.log.Reset()
	}
	return resp.StatusCode
}

// badEnvelope returns what is wrong with the body of a problem, or "".
func badEnvelope(contentType string, body []byte) string {
	var envelope struct {
		Status *struct {
			Messages []struct {
				Message *string `json:"message"`
				Detail  *string `json:"detail"`
				Data    *string `json:"data"` // only in contract calls and traces
			} `json:"messages"`
		} `json:"_status"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&envelope); err != nil || envelope.Status == nil || len(envelope.Status.Messages) == 0 {
		return "the body is no envelope of problems"
	}
	modern := contentType == "application/json;charset=UTF-8"
	if !modern && contentType != "application/json; charset=utf-8" {
		return "Content-Type is of no family: " + contentType
	}
	for _, m := range envelope.Status.Messages {
		switch {
		case m.Message == nil || *m.Message == "":
			return "a problem has no message"
		case modern && m.Detail == nil && !strings.HasPrefix(*m.Message, "Invalid parameter: "):
			return "a problem of the modern family has no detail"
		case modern && m.Detail != nil &&
			!slices.Contains([]string{
				"Bad Request", "Not Found", "Method Not Allowed", "Request Entity Too Large",
				"Unsupported Media Type",
			}, *m.Message):
			return "a problem of the modern family has a message that is no reason phrase"
		}
	}
	return ""
}

// pathOf replaces the parameters of a path.
func pathOf(pattern string, values func() string) string {
	segments := strings.Split(pattern, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			segments[i] = values()
		}
	}
	return v1.Prefix + strings.Join(segments, "/")
}

// TestHostileRequests sends some thousand pseudo-random requests to all paths, the same ones in each run. No response
// may be an internal error.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	samples := map[string][]string{}
	for _, e := range h.patterns {
		if !strings.Contains(e.Path, "{") {
			continue
		}
		if _, known := samples[e.Path]; !known && !e.Undocumented {
			samples[e.Path] = samplePaths(t, h.g, e.Path)
		}
	}
	seen := map[int]int{}
	for range 30 {
		for _, e := range h.patterns {
			path := pathOf(e.Path, func() string { return pick(hostileValues()) })
			// to test the code after the path validation too
			if good := samples[e.Path]; good != nil && random.IntN(3) > 0 {
				path = v1.Prefix + pick(good)
			}
			var query []string
			for range random.IntN(5) {
				name := pick(hostileNames())
				if len(e.Params) > 0 && random.IntN(4) > 0 {
					name = e.Params[random.IntN(len(e.Params))].Name
				}
				op := ""
				if random.IntN(2) == 0 {
					op = pick([]string{"eq:", "ne:", "gt:", "gte:", "lt:", "lte:", "GTE:"})
				}
				query = append(query, name+"="+op+pick(hostileValues()))
			}
			if query != nil {
				path += "?" + strings.Join(query, "&")
			}
			method := http.MethodGet
			if random.IntN(20) == 0 {
				method = pick(hostileMethods())
			}
			seen[h.check(t, method, path)]++
		}
	}
	for _, status := range []int{200, 400, 404} {
		if seen[status] < 50 {
			t.Errorf("status %d has been seen %d times only: %v", status, seen[status], seen)
		}
	}
}

// TestHostileSizes sends requests that are too long or have too many values.
func TestHostileSizes(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	for _, e := range h.patterns {
		if e.Undocumented {
			continue
		}
		path := pathOf(e.Path, func() string { return "1" })
		h.check(t, http.MethodGet, path+"/"+strings.Repeat("x/", 20000))
		h.check(t, http.MethodGet, pathOf(e.Path, func() string { return strings.Repeat("1", 100000) }))
		h.check(t, http.MethodGet, pathOf(e.Path, func() string {
			return strings.Repeat("%C3%A9", 20000)
		})+"?limit="+strings.Repeat("9", 100000))
		for _, p := range append(slices.Clone(e.Params), rest.Param{Name: "foo"}) {
			for _, n := range []int{101, 1001, 10000} {
				if got := h.check(t, http.MethodGet,
					path+"?"+strings.TrimSuffix(strings.Repeat(p.Name+"=1&", n), "&")); got != http.StatusBadRequest &&
					got != http.StatusMethodNotAllowed && n > 1000 {
					t.Errorf("%s: %s %d times: status %d", e.Path, p.Name, n, got)
				}
			}
		}
		for _, method := range hostileMethods() {
			h.check(t, method, path)
		}
	}
}

// TestMalformedRequestLines checks that the server rejects malformed requests and continues.
func TestMalformedRequestLines(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for _, target := range []string{
		"/api/v1/accounts/%zz", "/api/v1/accounts/%", "/api/v1/accounts/1 2",
		"/api/v1/accounts?limit=\x01", "accounts", "/api/v1/accounts/\x7f",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(g.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("GET " + target +
			" HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", target, err)
		}
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: status %d", target, resp.StatusCode)
		}
		_, _ = resp.Body.Close(), conn.Close() // they are not used any more
		cancel()
	}
	if got := g.Get(t, v1.Prefix+"/accounts?limit=1"); got.Status != http.StatusOK {
		t.Errorf("after them: status %d", got.Status)
	}
}

// FuzzRequest sends a request with a random path and query to an endpoint.
func FuzzRequest(f *testing.F) {
	h := newHostile(f)
	for i, e := range h.patterns {
		query := "limit=1&order=desc"
		var querySb317 strings.Builder
		for _, p := range e.Params {
			querySb317.WriteString("&" + p.Name + "=gte:1")
		}
		query += querySb317.String()
		f.Add(byte(i), byte(0), "0.0.1002", "1", query)
	}
	for i, v := range hostileValues() {
		if len(v) < 200 {
			f.Add(byte(i%len(h.patterns)), byte(i%40), v, v, "timestamp="+
				v+"&"+hostileNames()[i%len(hostileNames())][:min(20, len(hostileNames()[i%len(hostileNames())]))]+
				"="+v)
		}
	}
	f.Fuzz(func(t *testing.T, endpoint, method byte, first, second, query string) {
		values := []string{first, second}
		target := pathOf(h.patterns[int(endpoint)%len(h.patterns)].Path, func() string {
			v := values[0]
			values = append(values[1:], v)
			return v
		})
		if query != "" {
			target += "?" + query
		}
		verb := http.MethodGet
		if methods := hostileMethods(); int(method) < len(methods) {
			verb = methods[method]
		}
		h.check(t, verb, target)
	})
}

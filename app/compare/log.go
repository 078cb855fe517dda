package compare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"heliograph/internal/base/wrap"
	"heliograph/rest/requests"
)

// maxLine is the maximum length of a line of an access log in bytes.
const maxLine = 1 << 20

// ReadLog returns the first GET requests of an access log whose paths are below prefix, each path once, and at most
// most of them. Lines are in the common or combined log format, or JSON objects with the path in path, uri, url or
// request, which can be objects. A query string beside the path can be an object of parameters. Other lines are
// ignored. If a line is longer than maxLine or reading fails, it returns the requests before it and an error.
func ReadLog(r io.Reader, prefix string, most int) ([]requests.Request, error) {
	var out []requests.Request
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for len(out) < most && lines.Scan() {
		path, ok := logPath(lines.Bytes())
		if ok && strings.HasPrefix(path, prefix+"/") && !seen[path] {
			seen[path] = true
			out = append(out, requests.Request{Path: path, Pages: requests.Pages})
		}
	}
	return out, wrap.Error(lines.Err(), "reading the access log")
}

// logPath returns the path and the query string of a GET request in a line of an access log. ok is false for other
// methods and for lines without a path. A JSON object without a method counts as GET.
func logPath(line []byte) (path string, ok bool) {
	text := strings.TrimSpace(string(line))
	method := ""
	if strings.HasPrefix(text, "{") {
		method, text = jsonRequest([]byte(text))
		method = cmp.Or(method, http.MethodGet)
	} else {
		_, text, _ = strings.Cut(text, `"`) // the request is the first quoted text
		text, _, _ = strings.Cut(text, `"`)
	}
	if parts := strings.Split(text, " "); len(parts) > 1 { // method, path, protocol
		method, text = parts[0], parts[1]
	}
	u, err := url.ParseRequestURI(text)
	if err != nil || method != http.MethodGet {
		return "", false
	}
	return u.RequestURI(), true
}

// jsonRequest returns the method and the path, with its query string, in a JSON line of an access log. Either is empty
// if the object does not have it, and the path also if its query string cannot be read. It also searches the nested
// objects http, request and url.
func jsonRequest(line []byte) (method, path string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return "", ""
	}
	text := func(names ...string) (value string) {
		for _, name := range names {
			if json.Unmarshal(members[name], &value) == nil && value != "" {
				return value
			}
		}
		return ""
	}
	method = text("method", "request_method")
	for _, name := range []string{"http", "request", "url"} { // the layouts of Caddy and of the Elastic Common Schema
		if nested := members[name]; len(nested) > 0 && nested[0] == '{' {
			inner, found := jsonRequest(nested)
			method, path = cmp.Or(method, inner), cmp.Or(path, found)
		}
	}
	if path == "" {
		path = text("path", "uri", "url", "request_uri", "request")
	}
	for _, name := range []string{"query", "query_string"} {
		given := members[name]
		if path == "" || len(given) == 0 || strings.Contains(path, "?") {
			continue
		}
		query, ok := queryString(given)
		if !ok {
			return method, ""
		}
		if query != "" {
			path += "?" + query
		}
	}
	return method, path
}

// queryString returns a query string that is given as a text, or as an object of parameters. It reports false for
// anything else.
func queryString(given json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(given, &text) == nil { // also null
		return strings.TrimPrefix(text, "?"), true
	}
	var parameters map[string]json.RawMessage
	if json.Unmarshal(given, &parameters) != nil {
		return "", false
	}
	values := url.Values{}
	for name, value := range parameters {
		var several []json.RawMessage
		if json.Unmarshal(value, &several) != nil {
			several = []json.RawMessage{value}
		}
		for _, one := range several {
			var text string
			switch {
			case json.Unmarshal(one, &text) == nil:
				values.Add(name, text)
			case one[0] == '{' || one[0] == '[':
				return "", false
			default:
				values.Add(name, string(one)) // a number or a boolean
			}
		}
	}
	return values.Encode(), true
}

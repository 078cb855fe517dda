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

// ReadLog returns the first most distinct GET requests of an access log whose paths are below prefix. Lines are in the common or combined log format, or
// JSON objects with the path in path, uri, url or request. Other lines are ignored.
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

// logPath returns the path and the query string of a GET request in a line of an access log.
func logPath(line []byte) (path string, ok bool) {
	text := strings.TrimSpace(string(line))
	method := ""
	if strings.HasPrefix(text, "{") {
		method, text = jsonRequest([]byte(text))
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

// jsonRequest returns the method, by default GET, and the path of a JSON line.
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
	if nested, ok := members["request"]; ok && nested[0] == '{' {
		return jsonRequest(nested)
	}
	path = text("path", "uri", "url", "request_uri", "request")
	if query := text("query", "query_string"); query != "" && !strings.Contains(path, "?") {
		path += "?" + strings.TrimPrefix(query, "?")
	}
	return cmp.Or(text("method", "request_method"), http.MethodGet), path
}

// Package wild_test sends requests that people reported in public as faults of services and clients of this trade,
// and compares the responses. Each file with the extension http is a case. CONTRIBUTING.md describes how to add one.
package wild_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// timeout is the maximum duration of a case.
const timeout = 30 * time.Second

// testCase is a request and the response to expect. Patterns are texts in which "…" stands for any text.
type testCase struct {
	method, target string
	headers        []string // of the request
	body           string
	status         string
	want           []string // patterns of headers
	wantBody       string   // pattern; empty if the body is not compared
}

// TestCases runs all cases against the demo network.
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	g := testenv.Demo(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".http"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			send := c.send
			if c.method == "WEBSOCKET" {
				send = c.talk
			}
			got, err := send(ctx, strings.TrimPrefix(g.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if got.status != c.status {
				t.Errorf("status %s, want %s: %s", got.status, c.status, got.body)
			}
			for _, want := range c.want {
				name, value, _ := strings.Cut(want, ":")
				if values := strings.Join(got.header.Values(name), ", "); !matches(values, strings.TrimSpace(value)) {
					t.Errorf("%s: %s, want %s", name, values, value)
				}
			}
			if c.wantBody != "" && !matches(got.body, c.wantBody) {
				t.Errorf("got:\n%s\nwant:\n%s", got.body, c.wantBody)
			}
		})
	}
}

// parse reads a case: why it matters, the request, a line with "===" and the status, headers, and the body.
func parse(text string) (*testCase, error) {
	request, response, ok := strings.Cut(text, "\n=== ")
	if !ok {
		return nil, errors.New("the line with === and the status is missing")
	}
	lines := strings.Split(request, "\n")
	why := 0
	for why < len(lines) && strings.HasPrefix(lines[why], "#") {
		why++
	}
	if why == 0 {
		return nil, errors.New("the first line must say why the case matters, after #")
	}
	c := &testCase{}
	method, headers, body := section(lines[why:])
	if c.method, c.target, ok = strings.Cut(method, " "); !ok {
		return nil, fmt.Errorf("%q is not a method and a path", method)
	}
	c.headers, c.body = headers, body
	c.status, c.want, c.wantBody = section(strings.Split(response, "\n"))
	return c, nil
}

// section returns the first line, the lines before the first empty one, and the rest without empty lines at its end.
func section(lines []string) (first string, headers []string, body string) {
	at := 1
	for at < len(lines) && lines[at] != "" {
		at++
	}
	return lines[0], lines[1:at], strings.Trim(strings.Join(lines[at:], "\n"), "\n")
}

// matches reports whether a text matches a pattern.
func matches(text, pattern string) bool {
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", `.*`) +
		`$`).MatchString(text)
}

// response is a response as the cases write it. Control characters of the body are written as in Go, except line
// feeds. A line feed at its end is removed.
type response struct {
	status string
	header http.Header
	body   string
}

// send sends the request as it is written, which clients of package net/http would correct.
func (c *testCase) send(ctx context.Context, address string) (*response, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	head := append([]string{c.method + " " + c.target + " HTTP/1.1", "Host: " + address, "Connection: close"},
		c.headers...)
	if c.body != "" {
		head = append(head, "Content-Length: "+strconv.Itoa(len(c.body)))
	}
	if _, err := io.WriteString(conn, strings.Join(head, "\r\n")+"\r\n\r\n"+c.body); err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: c.method})
	if err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	return &response{strconv.Itoa(got.StatusCode), got.Header, visible(string(body))}, nil
}

// talk sends each line of the body as a message of a WebSocket, and returns as many messages as the case expects,
// one a line. If the server closes the connection, the last line is "close" and the code.
func (c *testCase) talk(ctx context.Context, address string) (*response, error) {
	header := http.Header{}
	for _, line := range c.headers {
		name, value, _ := strings.Cut(line, ":")
		header.Add(name, strings.TrimSpace(value))
	}
	conn, shake, err := websocket.Dial(ctx, "ws://"+address+c.target,
		&websocket.DialOptions{Subprotocols: header["Sec-Websocket-Protocol"], HTTPHeader: header})
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.CloseNow() }()
	for line := range strings.SplitSeq(c.body, "\n") {
		if err := conn.Write(ctx, websocket.MessageText, []byte(line)); err != nil {
			break // the server has closed the connection
		}
	}
	var lines []string
	for range strings.Count(c.wantBody, "\n") + 1 {
		_, message, err := conn.Read(ctx)
		if code := websocket.CloseStatus(err); code >= 0 {
			lines = append(lines, fmt.Sprintf("close %d", code))
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading message %d: %w", len(lines)+1, err)
		}
		lines = append(lines, visible(string(message)))
	}
	return &response{strconv.Itoa(shake.StatusCode), shake.Header, strings.Join(lines, "\n")}, nil
}

// visible writes control characters as in Go, except line feeds.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.TrimSuffix(text, "\n") {
		if quoted := strconv.QuoteRune(r); r != '\n' && quoted[1] == '\\' && r != '\\' && r != '\'' {
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

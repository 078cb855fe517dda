package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare compares services on the command line.
func TestCompare(t *testing.T) {
	t.Parallel()
	service := func(body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	number, text := service(`{"accounts":[{"balance":1}]}`), service(`{"accounts":[{"balance":"1"}]}`)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	log, empty := filepath.Join(t.TempDir(), "access.log"), filepath.Join(t.TempDir(), "empty.log")
	for path, content := range map[string]string{
		log:   `- - - [] "GET /api/v1/accounts HTTP/1.1" 200 1` + "\n",
		empty: "none\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const changed = "type accounts[].balance: number → string\n  1 request in 1 endpoint, such as " +
		"/api/v1/accounts\n  - 1\n  + \"1\"\n"
	for _, c := range []struct {
		code         int
		args         []string
		stdout, errs string
	}{
		{
			0,
			[]string{"--against", number, "--url", number, "--access-log", log},
			"1 requests compared, 0 causes of differences", "",
		},
		{1, []string{"--against", number, "--url", text, "--access-log", log}, changed, "differs from"},
		{
			1,
			[]string{"--against", number, "--url", text, "--requests", "40"},
			"40 requests compared, 1 causes",
			"differs from",
		},
		{2, []string{"--against", closed.URL, "--url", number, "--access-log", log}, "", "refused"},
		{2, []string{"--against", number, "--url", closed.URL}, "", "refused"},
		{
			2,
			[]string{"--against", number, "--url", number, "--access-log", empty},
			"",
			"has no GET requests of /api/v1",
		},
		{2, []string{"--against", "nowhere"}, "", "is not a URL"},
		{2, []string{"--against", number, "--requests", "0"}, "", "must be positive"},
		{2, nil, "", "--against"},
	} {
		r := runCommand(t, append([]string{"compare"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stdout, c.stdout) || !strings.Contains(r.stderr, c.errs) {
			t.Errorf("%q: %+v", c.args, r)
		}
	}
}

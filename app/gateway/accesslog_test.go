package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// slowOutput is an output whose writes wait for a token.
type slowOutput struct {
	tokens chan struct{}

	mu     sync.Mutex
	bytes  bytes.Buffer
	writes int
}

func (o *slowOutput) Write(p []byte) (int, error) {
	<-o.tokens
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(p) > 0 {
		o.writes++
	}
	return o.bytes.Write(p)
}

func (o *slowOutput) state() (text string, writes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.String(), o.writes
}

// TestAccessLogForm compares the lines of requests with those of slog, also for texts that JSON escapes.
func TestAccessLogForm(t *testing.T) {
	lines := func(handler func(io.Writer) slog.Handler, texts []string) []map[string]any {
		out := &slowOutput{tokens: make(chan struct{})}
		close(out.tokens) // not slow
		l := NewAccessLog(out, handler)
		for i, text := range texts {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody)
			r.Method, r.URL.Path, r.URL.RawQuery, r.RemoteAddr = "M"+text, text, text, "[::1]:80"
			l.request(r, slog.Level(i%4*4-4), 200+i, i, time.Unix(int64(i), int64(i)), time.Duration(i), text)
		}
		l.Flush()
		written, _ := out.state()
		var all []map[string]any
		for d := json.NewDecoder(strings.NewReader(written)); d.More(); {
			var line map[string]any
			if err := d.Decode(&line); err != nil {
				t.Fatal(err)
			}
			all = append(all, line)
		}
		return all
	}
	texts := []string{"", "/a?b=c&d=<e>", strings.Repeat("é", maxLogged)}
	for c := range 0x120 {
		texts = append(texts, "x"+string(rune(c))+"y", "x"+string([]byte{byte(c)})+"y")
	}
	o := &slog.HandlerOptions{Level: slog.LevelDebug}
	got := lines(func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, o) }, texts)
	want := lines(func(w io.Writer) slog.Handler {
		return struct{ slog.Handler }{slog.NewJSONHandler(w, o)} // of a type that the log does not know
	}, texts)
	if diff := cmp.Diff(want, got); diff != "" || len(want) != len(texts) {
		t.Errorf("%d lines, slog (-) and the log (+): %s", len(want), diff)
	}
}

// TestAccessLog checks that lines are written together, that those which do not fit are dropped, and that their number
// is counted and logged.
func TestAccessLog(t *testing.T) {
	out := &slowOutput{tokens: make(chan struct{}, 100)}
	l := NewAccessLog(out, func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/blocks?limit=1", http.NoBody)
	request := func() { l.request(r, slog.LevelInfo, http.StatusOK, 10, time.Now(), time.Millisecond, "a key") }
	request()
	text, _ := out.state()
	if text != "" {
		t.Errorf("a request has written %q", text)
	}
	for range 99 {
		request()
	}
	for range cap(out.tokens) {
		out.tokens <- struct{}{}
	}
	l.Flush()
	l.Flush()
	text, writes := out.state()
	if n := strings.Count(text, `"msg":"request","method":"GET","path":"/api/v1/blocks","query":"limit=1",`+
		`"status":200,`+
		`"bytes":10,"took":1000000,"client":"192.0.2.1:1234","key":"a key"}`+"\n"); n != 100 || writes > 3 {
		t.Errorf("%d of 100 lines, in %d writes: %.300s", n, writes, text)
	}
	if l.total.Load() != 0 {
		t.Errorf("%d lines were dropped", l.total.Load())
	}
	for len(out.tokens) > 0 {
		<-out.tokens
	}
	for l.total.Load() == 0 {
		request()
	}
	for range cap(out.tokens) {
		out.tokens <- struct{}{}
	}
	l.Flush() // as at the end of the process
	if text, _ = out.state(); !strings.Contains(text, `"msg":"lines of the access log were dropped","lines":1}`) {
		t.Errorf("no line about dropped lines: %s", text[max(0, len(text)-300):])
	}
}

package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"heliograph/resolvers/contractcalls"
)

// TestTransfer checks the deadlines of clients that stop sending or reading, and that slow clients and slow handlers
// are not affected.
func TestTransfer(t *testing.T) {
	t.Parallel()
	const unit = 300 * time.Millisecond
	limits := transfer{read: unit, body: 4 * unit, write: 6 * unit}
	ended := make(chan error, 10)
	s := httptest.NewServer(limits.limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/slow": // longer than all deadlines of the body
			select {
			case <-time.After(6 * unit):
			case <-r.Context().Done():
				err = r.Context().Err()
			}
			_, _ = io.WriteString(w, "done")
		case "/large":
			_, err = w.Write(make([]byte, 64<<20))
		}
		ended <- err
	})))
	t.Cleanup(s.Close) // after the connections
	connect := func(head string) net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.(*net.TCPConn).SetReadBuffer(64 << 10)
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
		return c
	}
	result := func(want bool, name string) {
		t.Helper()
		select {
		case err := <-ended:
			if (err == nil) != want {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(60 * unit):
			t.Errorf("%s: the request does not end", name)
		}
	}
	post := func(path string, n int) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, n)
	}

	connect(post("/", 1000) + "half")
	result(false, "a body that ends in the middle")

	c := connect(post("/", 1000))
	for range 100 { // each part in time, but never all of them
		if _, err := io.WriteString(c, "x"); err != nil {
			break
		}
		time.Sleep(unit / 10)
	}
	result(false, "a body of single bytes")

	c = connect(post("/slow", 30))
	for range 3 {
		_, _ = io.WriteString(c, strings.Repeat("x", 10))
		time.Sleep(unit / 3)
	}
	result(true, "a slow handler behind a slow body")
	if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != http.StatusOK ||
		resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Error(resp, err)
	}

	connect(post("/large", 0))
	result(false, "a client that does not read")

	c = connect(post("/large", 0))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	// slow, but always in time: more than the limit in all, which is long because another process may delay a part
	for buf := make([]byte, 1<<20); err == nil; time.Sleep(unit / 8) {
		_, err = io.ReadFull(resp.Body, buf)
	}
	result(true, "a client that reads slowly")
}

// TestUnread checks that the bytes of large responses count until they are sent.
func TestUnread(t *testing.T) {
	t.Parallel()
	var sizes []int
	recorder := httptest.NewRecorder()
	w := limitedWriter{ResponseWriter: recorder, c: *http.NewResponseController(recorder), sending: func(n int) {
		sizes = append(sizes, n)
	}}
	for _, size := range []int{charged - 1, charged} {
		if _, err := w.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{charged, -charged}; !slices.Equal(sizes, want) {
		t.Errorf("counted %d, want %d", sizes, want)
	}
	graph, evm := GraphOptions{MaxResponse: 1 << 20}, contractcalls.Options{CacheBytes: 1 << 20}
	graph.CacheBytes = 1 << 20
	for _, none := range []int64{0, -1} {
		LimitMemory(none, &graph, &evm)
	}
	if graph.CacheBytes != 1<<20 || graph.MaxResponse != 1<<20 || evm.CacheBytes != 1<<20 {
		t.Error("without a limit, caches are limited")
	}
}

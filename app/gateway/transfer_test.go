package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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

// held has the bytes that a response held, in order.
type held []int

func (h *held) Hold(bytes int) { *h = append(*h, bytes) }

func (h *held) Leave() {}

// TestUnread checks that the bytes of large responses count until they are sent.
func TestUnread(t *testing.T) {
	t.Parallel()
	var sizes held
	recorder := httptest.NewRecorder()
	w := limitedWriter{ResponseWriter: recorder, c: *http.NewResponseController(recorder), turn: &sizes}
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

// TestUpgradedBody checks that the rest of a body is read after a response, but not from an upgraded connection.
func TestUpgradedBody(t *testing.T) {
	t.Parallel()
	for status, left := range map[int]int{http.StatusOK: 0, http.StatusSwitchingProtocols: 4} {
		body := strings.NewReader("rest")
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", body)
		defaultTransfer().limit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		})).ServeHTTP(httptest.NewRecorder(), r)
		if body.Len() != left {
			t.Errorf("after status %d, %d bytes are not read, want %d", status, body.Len(), left)
		}
	}
}

// deadlineConn records the write deadlines that it gets.
type deadlineConn struct {
	net.Conn

	deadlines []time.Time
}

func (c *deadlineConn) SetWriteDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

func (c *deadlineConn) SetDeadline(t time.Time) error { return c.SetWriteDeadline(t) }

func (c *deadlineConn) Write(p []byte) (int, error) { return len(p), nil }

// TestLazyConn checks that a connection never has a later deadline than the server has set for a write, nor one that
// is earlier by more than tolerance, and that responses in a short time share one.
func TestLazyConn(t *testing.T) {
	t.Parallel()
	begin, none := time.Now().Add(time.Minute), time.Time{}
	after := begin.Add
	for name, c := range map[string]struct{ set, want []time.Time }{
		"close responses": {[]time.Time{begin, after(1), after(tolerance)}, []time.Time{begin}},
		"distant responses": {
			[]time.Time{begin, after(tolerance + 1)}, []time.Time{begin, after(tolerance + 1)},
		},
		"an earlier deadline":        {[]time.Time{begin, after(-1), begin}, []time.Time{begin, after(-1)}},
		"no deadline after another":  {[]time.Time{begin, none, none}, []time.Time{begin, none}},
		"a deadline after none":      {[]time.Time{none, begin}, []time.Time{begin}},
		"an old deadline after none": {[]time.Time{begin, none, after(1)}, []time.Time{begin, none, after(1)}},
	} {
		inner := &deadlineConn{}
		conn := &lazyConn{Conn: inner}
		for _, deadline := range c.set {
			for _, set := range []time.Time{none, deadline} { // the server removes the one of the last response
				if err := conn.SetWriteDeadline(set); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := conn.Write([]byte("x")); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if !slices.Equal(inner.deadlines, c.want) {
			t.Errorf("%s: %v, want %v", name, inner.deadlines, c.want)
		}
	}
	inner := &deadlineConn{}
	conn := &lazyConn{Conn: inner}
	for range 2 { // as for a WebSocket, whose later writes have no deadline
		_ = conn.SetDeadline(begin)
		_ = conn.SetDeadline(none)
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if want := []time.Time{begin, none, begin, none}; !slices.Equal(inner.deadlines, want) {
		t.Errorf("SetDeadline: %v, want %v", inner.deadlines, want)
	}
}

// TestUnnoticed checks the read with which net/http notices that a client has disconnected: it begins after a while,
// can be interrupted before it is called, before and after it begins, and an interruption ends one read only.
func TestUnnoticed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, inner := net.Pipe()
		conn := &lazyConn{Conn: inner, interrupt: make(chan struct{}, 1), unnoticed: time.NewTimer(unnoticed)}
		interrupt := func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) }
		for name, end := range map[string]func(){
			"early": func() {}, "at once": interrupt,
			"soon": func() { time.Sleep(unnoticed / 2); interrupt() },
			"late": func() { time.Sleep(2 * unnoticed); interrupt() },
		} {
			if name == "early" {
				interrupt()
			}
			read := make(chan error)
			go func() {
				_, err := conn.Read(make([]byte, 1))
				read <- err
			}()
			begin := time.Now()
			end()
			ended := time.Now()
			if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(ended) > 0 {
				t.Errorf("%s: %v after %s", name, err, time.Since(begin))
			}
			_ = conn.SetReadDeadline(time.Time{}) // as net/http does after each
		}
		begin := time.Now()
		time.AfterFunc(unnoticed/2, func() { _ = client.Close() })
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(begin) != unnoticed {
			t.Errorf("a client that disconnects: %v after %s", err, time.Since(begin))
		}
		begin = time.Now()
		if _, err := conn.Read(make([]byte, 2)); !errors.Is(err, io.EOF) || time.Since(begin) > 0 {
			t.Errorf("a read of a request: %v after %s", err, time.Since(begin))
		}
	})
}

// TestCloseWrite checks that the server can end a response while the client still sends, through the listener that
// limits connections.
func TestCloseWrite(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := LimitConnections(inner, 1, nil)
	t.Cleanup(func() { _ = l.Close() })
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	half, ok := server.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("a connection cannot be closed for writing")
	}
	if _, err := io.WriteString(server, "answer"); err != nil {
		t.Fatal(err)
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); string(got) != "answer" || err != nil {
		t.Errorf("the client got %q, %v", got, err)
	}
	if _, err := io.WriteString(client, "rest"); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 4)
	if _, err := io.ReadFull(server, rest); string(rest) != "rest" || err != nil {
		t.Errorf("the server got %q, %v", rest, err)
	}
	if err := (&lazyConn{Conn: &deadlineConn{}}).CloseWrite(); err != nil {
		t.Errorf("a connection without it: %v", err)
	}
}

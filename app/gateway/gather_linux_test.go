package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestGather checks that responses of any size are complete, and that those of up to 20 kB are sent as one segment if
// their size is known and nothing of them was sent before.
func TestGather(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("0123456789abcdef"), 2*transferPart/16)
	handler := func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.FormValue("size"))
		rest := body[:size]
		if length := r.FormValue("length"); length != "" {
			w.Header().Set("Content-Length", length)
		}
		if r.FormValue("flush") != "" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		if r.FormValue("parts") != "" { // as those of GraphQL
			_, _ = w.Write(body[:8])
			size, rest = size-8, body[8:size]
		}
		if n, err := w.Write(rest); r.Method == http.MethodGet && (n != size || err != nil) {
			t.Errorf("%s: %d bytes are written: %v", r.URL, n, err)
		}
	}
	accepted := make(chan net.Conn, 1)
	server := &http.Server{
		Handler: defaultTransfer().limit(http.HandlerFunc(handler)), ReadHeaderTimeout: time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			limited, _ := c.(*limitedConn)
			accepted <- limited.Conn
			return ConnContext(ctx, c)
		},
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(LimitConnections(inner, 1, nil)) }()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r, inside := bufio.NewReader(conn), <-accepted
	check := func(method string, size int, query string, most uint32) {
		before := segments(t, inside)
		_, _ = fmt.Fprintf(conn, "%s /?size=%d%s HTTP/1.1\r\nHost: x\r\n\r\n", method, size, query)
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%s %d %s: %v", method, size, query, err)
		}
		got, err := io.ReadAll(resp.Body)
		want := body[:size]
		if method == http.MethodHead {
			want = nil
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s %d %s: %d bytes, %v", method, size, query, len(got), err)
		}
		if n := segments(t, inside) - before; n > most && size <= 20000 { // the kernel divides larger ones
			t.Errorf("%s %d %s: %d segments, want %d", method, size, query, n, most)
		}
	}
	for _, size := range []int{
		0, 1, 2048, 2049, 3500, 3900, 4096, 4097, 8192, 20000, transferPart, transferPart + smallPart,
	} {
		length := fmt.Sprintf("&length=%d", size)
		check(http.MethodHead, size, length, 1)
		check(http.MethodGet, size, length, 1)
		check(http.MethodGet, size, length+"&flush=on", 2)
		switch {
		case size > 2*smallPart:
			check(http.MethodGet, size, length+"&parts=on", 1)
		case size > 8: // the server can keep the end of the second part until the handler returns
			check(http.MethodGet, size, length+"&parts=on", 2)
		}
		check(http.MethodGet, size, "", 2) // with the end of the chunks
		check(http.MethodGet, size, "&flush=on", 3)
	}
}

// segments returns the number of segments with data that a connection has sent, without repetitions.
func segments(t *testing.T, c net.Conn) uint32 {
	t.Helper()
	tcp, _ := c.(*net.TCPConn)
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var info *unix.TCPInfo
	if control := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.SOL_TCP, unix.TCP_INFO)
	}); control != nil || err != nil {
		t.Fatal(control, err)
	}
	return info.Data_segs_out - info.Total_retrans
}

// TestGatherFails checks how many bytes of a part are written, if the connection fails before, in or after the part
// that waited.
func TestGatherFails(t *testing.T) {
	t.Parallel()
	const first, second = "first", "second"
	for room := range len(first+second) + 1 {
		inner := &narrowConn{room: room}
		c := &lazyConn{Conn: inner, gathers: true}
		if n, err := c.Write([]byte(first)); n != len(first) || err != nil || inner.got.Len() > 0 {
			t.Fatal(n, err, inner.got.String())
		}
		n, err := c.Write([]byte(second))
		if want := max(0, room-len(first)); n != want || (err == nil) != (want == len(second)) {
			t.Errorf("room for %d bytes: %d of the second part are written: %v", room, n, err)
		}
		if got, want := inner.got.String(), (first + second)[:room]; got != want || c.first != nil {
			t.Errorf("room for %d bytes: %q, want %q", room, got, want)
		}
	}
}

// narrowConn fails after some bytes.
type narrowConn struct {
	net.Conn

	room int
	got  bytes.Buffer
}

func (c *narrowConn) Write(p []byte) (int, error) {
	n, _ := c.got.Write(p[:min(len(p), c.room)])
	c.room -= n
	if n < len(p) {
		return n, errors.New("no room")
	}
	return n, nil
}

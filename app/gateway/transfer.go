package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"heliograph/internal/base/admission"
	"heliograph/internal/base/values"
)

// transfer limits how long clients take to send a request body and to read a response. Both may take long as long as
// bytes arrive.
type transfer struct {
	read  time.Duration // between two parts of a request body
	body  time.Duration // for the whole request body
	write time.Duration // for each part of a response
}

// transferPart is the size of a part of a response in bytes.
const transferPart = 64 << 10

// defaultTransfer returns the deadlines of connections: 10 seconds for the next bytes of a body, 2 minutes for a whole
// body, and 30 seconds to send a part of transferPart bytes. Clients that send a body of 512 KiB at 5 KiB a second and
// read at 3 KiB a second meet them.
func defaultTransfer() transfer {
	return transfer{read: 10 * time.Second, body: 2 * time.Minute, write: 30 * time.Second}
}

// limit is the first middleware: it sets the deadlines of the connection, replaces the writer and the body by those
// that extend them, and sets X-Content-Type-Options. After the response it reads the rest of the body, unless the
// client waits for permission to send it (Expect). Connections without deadlines, as in tests, are not limited.
func (t transfer) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Content-Type-Options"] = nosniff
		conn, _ := connKey.Of(r.Context())
		out := &limitedWriter{ResponseWriter: w, c: *http.NewResponseController(w), conn: conn, timeout: t.write}
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(out, r)
			return
		}
		b := &limitedBody{
			ReadCloser: r.Body, c: &out.c, limits: t,
			end: time.Now().Add(t.body), //nolint:forbidigo // deadlines use the system clock
		}
		r.Body = b
		next.ServeHTTP(out, r)
		// an upgraded connection belongs to others, and with Expect the client waits for permission to send the body
		if r.Header.Get("Expect") == "" && out.status != http.StatusSwitchingProtocols {
			b.discard()
			out.extend()
		}
	})
}

var nosniff = []string{"nosniff"}

// limitedBody is a request body that has to make progress.
type limitedBody struct {
	io.ReadCloser

	c      *http.ResponseController
	limits transfer
	end    time.Time

	quantum int // bytes read without a pause
}

// extend moves the read deadline of the connection to limits.read from now, but not past the end of the time for
// the whole body.
func (b *limitedBody) extend() {
	deadline := time.Now().Add(b.limits.read) //nolint:forbidigo // deadlines use the system clock
	if deadline.After(b.end) {
		deadline = b.end
	}
	_ = b.c.SetReadDeadline(deadline)
}

// Read extends the read deadline and reads from the body. At the end of the body or on an error it removes the
// deadline: otherwise the server would take its expiry for a client that disconnected, and cancel the request.
func (b *limitedBody) Read(p []byte) (int, error) {
	b.extend()
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.c.SetReadDeadline(time.Time{})
	} else if b.quantum += n; b.quantum >= transferPart {
		b.quantum = 0
		runtime.Gosched() // many bodies can arrive at the same time
	}
	return n, err //nolint:wrapcheck // io.EOF must not be wrapped
}

// discard reads the rest of the body, up to the size that endpoints allow, before the response to a rejected request is
// sent: closing the connection before would reset it, and the client might not read the response.
func (b *limitedBody) discard() {
	_, _ = io.CopyN(io.Discard, b, maxExplained) // an error is that of the connection
}

// limitedWriter writes a response in parts, each with a deadline. A handler that sets deadlines itself, as for
// streams, replaces them. It is the writer of all handlers of the gateway, which keep here what others need to know of
// the request.
type limitedWriter struct {
	http.ResponseWriter

	c       http.ResponseController
	conn    *lazyConn // nil if it is not known, as in tests
	timeout time.Duration
	own     bool
	status  int         // of the response; 0 before it begins
	size    int         // bytes written
	turn    holder      // of the request; nil if it has none
	timer   *time.Timer // ends the turn of a client that reads slowly
	key     string      // name of the API key, for the log
	refused bool        // the request was refused
}

// holder is the part of [admission.Turn] that sending a response needs.
type holder interface {
	Hold(bytes int)
	Leave()
}

// limited returns the writer of [transfer.limit], which is the first middleware. It panics for any other writer.
func limited(w http.ResponseWriter) *limitedWriter {
	return w.(*limitedWriter) //nolint:forcetypeassert // the others do not replace it
}

const (
	// buffered is the size of a response, in bytes, that the server buffers until its handler returns.
	buffered = 2 << 10
	// slowWrite is the duration of writing a response after which its client reads slowly.
	slowWrite = 10 * time.Millisecond
)

// receive reads the body of a request into memory when turn has room for it, up to the size that endpoints allow, and
// replaces r.Body, so that the handler reads the same bytes and the same error. Larger bodies are left to the handler.
// It fails if the memory of waiting requests is used up, or the queue times out while a large body waits for room,
// before it reads anything that does not fit. It also fails if the client disconnects while it waits. turn counts the
// memory until it starts, ends or is refused.
func receive(r *http.Request, turn *admission.Turn) error {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength > maxExplained {
		return nil
	}
	size := int(r.ContentLength)
	if size < 0 { // unknown
		size = maxExplained
	}
	err := turn.Receive(r.Context(), size)
	if err != nil {
		return err
	}
	body, rest := r.Body, io.Reader(r.Body)
	received := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	_, err = io.CopyN(received, body, maxExplained+1)
	turn.Hold(received.Len() - size)
	if errors.Is(err, io.EOF) { // complete: the handler can use the bytes without a copy
		r.Body = struct {
			*bytes.Buffer
			io.Closer
		}{received, body}
		return nil
	}
	if err != nil {
		rest = failed{err} // the body has no deadline anymore
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(received, rest), body}
	return nil
}

// failed is a reader that returns an error.
type failed struct{ err error }

// Read reads nothing and returns the error that ended the body before.
func (f failed) Read([]byte) (int, error) { return 0, f.err }

// Unwrap returns the writer below, in which [http.ResponseController] finds deadlines and flushes.
func (w *limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetWriteDeadline sets the write deadline of the connection for [http.ResponseController]. From then on, writes
// do not extend it.
func (w *limitedWriter) SetWriteDeadline(deadline time.Time) error {
	w.own = true
	return w.c.SetWriteDeadline(deadline) //nolint:wrapcheck // as of the underlying writer
}

// extend moves the write deadline of the connection to timeout from now, unless the handler has set its own. A
// connection without deadlines stays as it is.
func (w *limitedWriter) extend() {
	if !w.own {
		_ = w.c.SetWriteDeadline(time.Now().Add(w.timeout)) //nolint:forbidigo // deadlines use the system clock
	}
}

// stop stops the timer that reports a slow client, if it runs. The response is complete then.
func (w *limitedWriter) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// WriteHeader sends the status and records it for the log. It ignores all statuses after the first one.
func (w *limitedWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write writes p in parts and extends the write deadline of the connection before each. If p has charged bytes or
// more, the turn holds their number until it returns. If a response has more than buffered bytes and takes longer than
// slowWrite, it leaves the turn once, in a goroutine of its own.
func (w *limitedWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.size+len(p) > buffered && w.turn != nil && w.timer == nil {
		w.timer = time.AfterFunc(slowWrite, w.turn.Leave)
	}
	if w.turn != nil && len(p) >= charged {
		w.turn.Hold(len(p))
		defer w.turn.Hold(-len(p))
	}
	for written := 0; ; {
		part := p[written:min(len(p), written+transferPart)]
		if w.size == 0 || w.size+len(part) > buffered { // else the server keeps it
			w.extend()
		}
		n, err := w.send(part)
		written += n
		w.size += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// send writes a part of a response. If it is so large that the server writes its first bytes, with the header, before
// the others, all are one system call.
func (w *limitedWriter) send(part []byte) (int, error) {
	if w.conn == nil || len(part) <= buffered {
		return w.ResponseWriter.Write(part) //nolint:wrapcheck // as of the underlying writer
	}
	w.conn.gathers = true
	n, err := w.ResponseWriter.Write(part)
	w.conn.gathers = false
	if w.conn.first != nil { // the server still buffers the bytes that follow
		err = cmp.Or(err, w.c.Flush())
	}
	return n, err
}

const refusal = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// refusalTimeout is how long a client can take to read it and to close the connection.
const refusalTimeout = time.Second

// LimitConnections returns a listener that keeps at most the given number of connections of a client address open,
// except of trusted proxies. IPv6 addresses of the same /64 network count as one. Further connections get a response
// with status 503 and are closed.
func LimitConnections(l net.Listener, most int, proxies []netip.Prefix) net.Listener {
	return &limitedListener{Listener: l, most: most, proxies: proxies, open: map[string]int{}}
}

type limitedListener struct {
	net.Listener

	most    int
	proxies []netip.Prefix

	mu   sync.Mutex
	open map[string]int // by address
}

// Accept returns the next connection of a client that has fewer open connections than permitted, and refuses the
// others in goroutines of their own. Connections of trusted proxies have no limit, because many clients share them.
// Those whose address is not an IP address have none either.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // as of the underlying listener
		}
		peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
		addr := peer.Addr().Unmap()
		if err != nil || slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return &lazyConn{Conn: c}, nil //nolint:nilerr // other kinds of addresses have no limit
		}
		client := httprate.CanonicalizeIP(addr.String())
		l.mu.Lock()
		excess := l.open[client] >= l.most
		if !excess {
			l.open[client]++
		}
		l.mu.Unlock()
		if !excess {
			return &limitedConn{lazyConn: lazyConn{
				Conn: c, interrupt: make(chan struct{}, 1), unnoticed: time.NewTimer(unnoticed),
			}, l: l, client: client}, nil
		}
		go refuse(c)
	}
}

// refuse responds to a connection above the limit and closes it. It discards what the client has sent: closing the
// connection before would reset it, and the client might not read the response. It takes at most refusalTimeout.
func refuse(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(refusalTimeout)) //nolint:forbidigo // deadlines use the system clock
	_, _ = io.WriteString(c, refusal)
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	}
	_ = c.Close()
}

// lazyConn moves the write deadline of a connection only before it writes, and only if it has none, it is later than
// it should be, or earlier by more than tolerance. Setting a deadline for each response and removing it, as net/http
// does after each, takes 1 % of the time of a small one. It can also write two parts of a response together, which
// takes up to 12 % less of the time of a list than two writes. One goroutine at a time may write, and set the deadline.
type lazyConn struct {
	net.Conn

	deadline, current time.Time // as set for the next write, and that of the connection; zero for none

	gathers bool             // a small part waits for the next one
	first   *[smallPart]byte // which waits; nil if none does
	before  int              // its size

	interrupt chan struct{} // has an element while a read in the background shall end
	unnoticed *time.Timer   // until that read begins; nil if it begins at once
}

// unnoticed is how long a request runs before the server looks whether its client has disconnected.
const unnoticed = 25 * time.Millisecond

// Read reads from the connection. While a handler runs, net/http reads a single byte in the background to notice that
// the client has disconnected, and interrupts that after the response with a deadline that has passed. This read begins
// when the request has run for unnoticed: most have ended then, and save its system call (docs/performance.md).
func (c *lazyConn) Read(p []byte) (int, error) {
	if len(p) == 1 && c.unnoticed != nil {
		c.unnoticed.Reset(unnoticed)
		select {
		case <-c.interrupt:
			return 0, os.ErrDeadlineExceeded
		case <-c.unnoticed.C:
		}
	}
	return c.Conn.Read(p) //nolint:wrapcheck // as of the underlying connection
}

// SetReadDeadline sets the deadline for reading. It fails if the connection is closed.
func (c *lazyConn) SetReadDeadline(t time.Time) error {
	select {
	case <-c.interrupt: // a read that had begun was interrupted by the deadline of the connection
	default:
	}
	if c.interrupt != nil && t.Unix() == 1 { // the deadline with which net/http interrupts
		c.interrupt <- struct{}{}
	}
	return c.Conn.SetReadDeadline(t) //nolint:wrapcheck // as of the underlying connection
}

// parts are the unused buffers of parts that wait, which would be a fifteenth of the memory that requests allocate.
var parts = sync.Pool{New: func() any { return new([smallPart]byte) }}

// smallPart is the size of the buffer of net/http for a header and the first bytes of its body.
const smallPart = 4 << 10

var connKey = values.NewKey[*lazyConn]()

// ConnContext is the [http.Server.ConnContext] of a server with a listener of [LimitConnections] and HTTP/1: with it,
// a large response needs one system call less.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if of, ok := c.(interface{ lazy() *lazyConn }); ok {
		return values.Context(ctx, connKey.Is(of.lazy()))
	}
	return ctx
}

func (c *lazyConn) lazy() *lazyConn { return c }

// tolerance is how much earlier than it was set a deadline may be. All timeouts are ten seconds or more.
const tolerance = time.Second

// SetDeadline sets the deadlines for reading and writing. It fails if the connection is closed.
func (c *lazyConn) SetDeadline(t time.Time) error {
	c.deadline, c.current = t, t
	return c.Conn.SetDeadline(t) //nolint:wrapcheck // as of the underlying connection
}

// SetWriteDeadline sets the deadline for the next writes. It never fails.
func (c *lazyConn) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

// Write writes p, after the part that waits, before the deadline for writing. If the connection gathers parts, and p is
// small and the first one, it waits, and a copy is written with the next one.
func (c *lazyConn) Write(p []byte) (int, error) {
	if c.gathers && c.first == nil && len(p) <= smallPart {
		c.first = parts.Get().(*[smallPart]byte) //nolint:forcetypeassert // it has nothing else
		c.before = copy(c.first[:], p)
		return len(p), nil
	}
	if early := c.deadline.Sub(c.current); early < 0 || early > tolerance {
		c.current = c.deadline
		if err := c.Conn.SetWriteDeadline(c.deadline); err != nil {
			return 0, err //nolint:wrapcheck // as of the underlying connection
		}
	}
	if c.first == nil {
		return c.Conn.Write(p) //nolint:wrapcheck // as of the underlying connection
	}
	both := net.Buffers{c.first[:c.before], p}
	n, err := both.WriteTo(c.Conn)
	parts.Put(c.first)
	c.first = nil
	return max(0, int(n)-c.before), err
}

// CloseWrite ends what the client receives; it can still send. The server does so before it closes a connection with
// a request that it has not read: otherwise the client could lose the response. Connections without it, as in tests,
// stay open.
func (c *lazyConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// limitedConn is counted until it is closed.
type limitedConn struct {
	lazyConn

	l      *limitedListener
	client string
	once   sync.Once
}

// Close closes the connection and, the first time, subtracts it from the open connections of its client.
func (c *limitedConn) Close() error {
	c.once.Do(func() {
		c.l.mu.Lock()
		defer c.l.mu.Unlock()
		c.l.open[c.client]--
		if c.l.open[c.client] == 0 {
			delete(c.l.open, c.client)
		}
	})
	return c.Conn.Close() //nolint:wrapcheck // as of the underlying connection
}

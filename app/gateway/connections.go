package gateway

import (
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/httprate"
)

// refusal is the response to a connection above the limit.
const refusal = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// refusalTimeout is how long a client can take to read it and to close the connection.
const refusalTimeout = time.Second

// LimitConnections returns a listener that accepts at most the given number of connections of an address, except of trusted proxies. IPv6 addresses of the
// same /64 network count as one. Further connections get a response with status 503 and are closed.
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

// Accept implements [net.Listener].
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // as of the underlying listener
		}
		peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
		addr := peer.Addr().Unmap()
		if err != nil || slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return c, nil //nolint:nilerr // other kinds of addresses have no limit
		}
		client := httprate.CanonicalizeIP(addr.String())
		l.mu.Lock()
		excess := l.open[client] >= l.most
		if !excess {
			l.open[client]++
		}
		l.mu.Unlock()
		if !excess {
			return &limitedConn{Conn: c, l: l, client: client}, nil
		}
		go refuse(c)
	}
}

// refuse responds to a connection above the limit and closes it. It discards what the client has sent: closing the connection before would reset it, and the
// client might not read the response.
func refuse(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(refusalTimeout)) //nolint:forbidigo // deadlines use the system clock
	_, _ = io.WriteString(c, refusal)
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	}
	_ = c.Close()
}

// limitedConn is counted until it is closed.
type limitedConn struct {
	net.Conn

	l      *limitedListener
	client string
	once   sync.Once
}

// Close implements [net.Conn].
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

// Package outbound makes HTTP clients for addresses that others choose, such as the receivers of webhooks. A client
// connects only to the public internet and to networks that the operator allows, uses no proxy, and limits time,
// redirects and headers. Callers limit the body.
package outbound

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limits of all clients.
const (
	maxRedirects = 3
	maxHeader    = 64 << 10 // bytes of response headers
)

// Options configure a client.
type Options struct {
	// Timeout is the maximum time of a request, with all redirects and the body.
	Timeout time.Duration
	// Allowed are the networks to which the client connects in addition to public addresses.
	Allowed []netip.Prefix
	// Setting is the name of the flag that allows networks, for errors.
	Setting string
}

// New returns an HTTP client for URLs that others choose. It connects only to public addresses and to the allowed
// networks, without a proxy. If a redirect is not followed, its response is the result: one of too many, one that
// changes the method, and one from HTTPS to HTTP.
func New(o Options) *http.Client {
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: o.Timeout, Control: o.control()}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    o.Timeout,
			DisableKeepAlives:      true, // each request has a connection of its own, whose address is checked
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || req.Method != via[0].Method || via[0].URL.Scheme == "https" &&
				req.URL.Scheme != "https" {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// Reason returns an error with the cause why a request or a connection failed, without its method and its URL, for
// logs and status pages. timeout is what the message for a timeout mentions. Other errors, and nil, are returned as
// they are.
func Reason(err error, timeout time.Duration) error {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return fmt.Errorf("no response within %s", timeout)
	}
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

// Text returns at most most bytes of a text in which other servers have a part, such as an error or a status line, in
// a form that PostgreSQL stores: without zero bytes, and with "?" in place of invalid UTF-8.
func Text(text string, most int) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), most)], "\x00", ""), "?")
}

// Networks that contain an IPv4 address in an IPv6 address, at the given byte.
var embedding = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"): 12, // NAT64
	netip.MustParsePrefix("2002::/16"):    2,  // 6to4
	netip.MustParsePrefix("::/96"):        12, // IPv4-compatible, which includes the unspecified address and loopback
}

// special are the networks that are not public, in addition to those that [netip.Addr] knows.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address belongs to the public internet. If an IPv6 address contains an IPv4 address, as in
// NAT64, the IPv4 address decides.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for network, from := range embedding {
		if network.Contains(a) {
			b := a.As16()
			return public(netip.AddrFrom4([4]byte(b[from : from+4])))
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// control returns a function for [net.Dialer] that refuses connections to addresses that are neither public nor in the
// allowed networks. The dialer calls it with the resolved address of each connection, so that neither names nor
// redirects bypass it.
func (o *Options) control() func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%s is not an address: %w", address, err)
		}
		a := to.Addr().Unmap().WithZone("")
		if !public(a) && !slices.ContainsFunc(o.Allowed, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return fmt.Errorf("%s is not a public address; permit its network with --%s", a, o.Setting)
		}
		return nil
	}
}

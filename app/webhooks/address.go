package webhooks

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// Networks that contain an IPv4 address in an IPv6 address, at the given byte.
var embedding = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"): 12, // NAT64
	netip.MustParsePrefix("2002::/16"):    2,  // 6to4
	netip.MustParsePrefix("::/96"):        12, // IPv4-compatible, which includes the unspecified address and loopback
}

// special are the networks that are not public, in addition to those that [netip.Addr] knows.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"), netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address belongs to the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for network, from := range embedding {
		if network.Contains(a) {
			b := a.As16()
			return public(netip.AddrFrom4([4]byte(b[from : from+4])))
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// control returns a function for [net.Dialer] that refuses connections to addresses that are neither public nor in the allowed networks. The dialer calls it
// with the resolved address of each connection, so that neither names nor redirects bypass it.
func control(allowed []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%s is not an address: %w", address, err)
		}
		a := to.Addr().Unmap().WithZone("")
		if !public(a) && !slices.ContainsFunc(allowed, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return fmt.Errorf("%s is not a public address; permit its network with --webhook-networks", a)
		}
		return nil
	}
}

package outbound

import (
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestControl checks which addresses the dialer accepts.
func TestControl(t *testing.T) {
	t.Parallel()
	check := (&Options{}).control()
	for address, want := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1]:443": true, "[::ffff:8.8.8.8]:80": true, "[64:ff9b::808:808]:80": true,
		"[2002:808:808::1]:80": true,
		"127.0.0.1:80":         false, "127.9.9.9:80": false, "[::1]:80": false, "0.0.0.0:80": false, "[::]:80": false,
		"0.1.2.3:80":  false,
		"10.0.0.1:80": false, "172.16.0.1:80": false, "172.31.255.255:80": false, "172.32.0.1:80": true,
		"192.168.1.1:80": false, "100.64.0.1:80": false,
		"169.254.169.254:80": false, "[fe80::1%eth0]:80": false, "[fd00::1]:80": false, "[fec0::1]:80": false,
		"224.0.0.1:80": false, "[ff02::1]:80": false,
		"255.255.255.255:80": false, "240.0.0.1:80": false, "198.18.0.1:80": false, "192.0.0.8:80": false,
		"[::ffff:127.0.0.1]:80": false,
		"[::ffff:10.0.0.1]:80":  false, "[64:ff9b::7f00:1]:80": false, "[64:ff9b::a00:1]:80": false,
		"[64:ff9b:1::808:808]:80": false,
		"[::7f00:1]:80":           false, "[2002:7f00:1::]:80": false, "[2002:a9fe:a9fe::]:80": false,
		"[2001:db8::1]:80": false,
		"[2001::1]:80":     false, "example.com:80": false,
	} {
		if err := check("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	allowed := (&Options{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}).control()
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "[::ffff:127.0.0.1]:80": true,
		"10.0.0.1:80": false, "8.8.8.8:80": true,
	} {
		if err := allowed("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s with loopback allowed: %v", address, err)
		}
	}
}

// TestText checks that texts of other servers can be stored.
func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "status 500": "status 500", "malformed header: \x00a\xff\xfeb": "malformed header: a?b",
		strings.Repeat("a", 27) + "äää": strings.Repeat("a", 27) + "ä?", // cut within a character
	} {
		if got := Text(text, 30); got != want || !utf8.ValidString(got) {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

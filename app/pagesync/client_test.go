package pagesync

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestRedirects checks which redirects a mirror follows, one after the other.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		chain []string
		ok    bool
	}{
		{"another path", []string{"http://a/x", "http://a/y"}, true},
		{"to https", []string{"http://a/x", "https://a/x"}, true},
		{"to https on another port", []string{"http://a:80/x", "https://a:8443/x", "https://a:8443/y"}, true},
		{"another host", []string{"https://a/x", "https://b/x"}, false},
		{"another port", []string{"https://a/x", "https://a:8443/x"}, false},
		{"from https to http", []string{"https://a/x", "http://a/x"}, false},
		{"to https and back", []string{"http://a/x", "https://a/x", "http://a/x"}, false},
		{"to https and then another port", []string{"http://a/x", "https://a:8443/x", "https://a:9443/x"}, false},
	} {
		var via []*http.Request
		for i, url := range c.chain {
			to := httptest.NewRequest(http.MethodGet, url, http.NoBody)
			if i > 0 {
				err := sameHost(to, via)
				if last := i == len(c.chain)-1; (err == nil) != (c.ok || !last) {
					t.Errorf("%s, %s: %v", c.name, url, err)
				}
			}
			via = append(via, to)
		}
	}
}

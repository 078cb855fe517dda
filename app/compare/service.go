package compare

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxBody is the maximum size of a response in bytes.
const maxBody = 64 << 20

// NewService returns the service at a URL, such as https://mirror.example.com. header is sent with each request. Each request has the given timeout.
// Redirects are not followed.
func NewService(base string, header map[string]string, timeout time.Duration, concurrency int) (Service, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not a URL such as https://mirror.example.com", base)
	}
	base = strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/api/v1")
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: concurrency, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeout,
	}
	return func(ctx context.Context, path string) (*Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, http.NoBody)
		if err != nil {
			return nil, fmt.Errorf("requesting %s: %w", path, err)
		}
		for name, value := range header {
			req.Header.Set(name, value)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, fmt.Errorf("requesting %s: %w", path, err)
		}
		defer func() { _ = resp.Body.Close() }() // it is read to its end, or the connection is not used again
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
		if err != nil {
			return nil, fmt.Errorf("reading the response to %s%s: %w", base, path, err)
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("the response to %s%s is larger than %d bytes", base, path, maxBody)
		}
		return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
	}, nil
}

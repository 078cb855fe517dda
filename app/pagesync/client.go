// Package pagesync mirrors other status pages: it polls their documents over HTTP, decodes them with
// [status.ReadDocuments], and imports them.
package pagesync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"heliograph/internal/base/outbound"
	"heliograph/internal/domain/status"
)

// requestTimeout is the timeout of a request, including its body.
const requestTimeout = 10 * time.Second

// maxRedirects is the maximum number of redirects of a request.
const maxRedirects = 3

// Client reads the documents of one page.
type Client struct {
	base string
	http *http.Client
}

// NewClient returns a client for the page at a URL such as https://status.example.com, to which the paths of the
// documents are appended. A trailing /api/v2 is removed before. It sends nothing yet. It fails if the URL is not one
// of HTTP or HTTPS, or contains a user, a query or a fragment. A nil transport stands for [http.DefaultTransport].
func NewClient(pageURL string, transport http.RoundTripper) (*Client, error) {
	base := strings.TrimSuffix(strings.TrimRight(pageURL, "/"), "/api/v2")
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil {
		return nil, status.Errorf(status.BadInput, "%q is not the URL of a page, such as https://status.example.com",
			pageURL)
	}
	return &Client{base: base, http: &http.Client{
		Transport: transport, Timeout: requestTimeout,
		CheckRedirect: sameHost,
	}}, nil
}

// Base returns the URL of the page, without a trailing slash.
func (c *Client) Base() string { return c.base }

// errOtherHost rejects redirects to another host.
var errOtherHost = errors.New("it redirects to another host")

// sameHost is the redirect policy of the client. It compares each redirect with the request before, and fails for
// another host, for http if that was https, for another port with the same scheme, and after maxRedirects.
func sameHost(to *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	case to.URL.Hostname() != last.Hostname(), to.URL.Scheme != "https" && to.URL.Scheme != last.Scheme,
		to.URL.Scheme == last.Scheme && to.URL.Port() != last.Port():
		return errOtherHost
	}
	return nil
}

// Reading is the result of [Client.Read].
type Reading struct {
	// Documents are the documents by name, or nil if they have not changed.
	Documents map[string][]byte
	// Tags are the ETags of all documents.
	Tags map[string]string
}

// Read reads the documents of the page with their ETags, unless the summary still has the ETag in tags: each write to
// a page changes it. Then Documents is nil. step, if not nil, is called with the number of documents that have been
// read. It changes no argument. It fails if one of the documents cannot be read.
func (c *Client) Read(ctx context.Context, tags map[string]string, step func(done, total int)) (*Reading, error) {
	// These documents contain the whole page. The other five are parts of them.
	names := []string{status.SummaryDocument, status.IncidentsDocument, status.ScheduledDocument}
	r := &Reading{Documents: map[string][]byte{}, Tags: map[string]string{}}
	for i, name := range names {
		known := ""
		if name == status.SummaryDocument {
			known = tags[name]
		}
		body, tag, err := c.get(ctx, name, known)
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot read %s/api/v2/%s: %w", c.base, name, err)
		case body == nil:
			return &Reading{Tags: tags}, nil
		case step != nil:
			step(i+1, len(names))
		}
		r.Documents[name], r.Tags[name] = body, tag
	}
	return r, nil
}

// get requests a document and returns its body, of at most one byte more than [status.LongestDocument], and its ETag.
// The body is nil if it still has the given ETag. Other statuses than 200 and 304 are errors. Without a tag, 304 is
// one too.
func (c *Client) get(ctx context.Context, name, tag string) (body []byte, newTag string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/v2/"+name, http.NoBody)
	if err != nil {
		return nil, "", fmt.Errorf("requesting %s: %w", name, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "heliograph")
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, "", outbound.Reason(err, requestTimeout)
	}
	defer func() { _ = resp.Body.Close() }() // an error has no consequences
	switch {
	case resp.StatusCode == http.StatusNotModified && tag != "":
		return nil, tag, nil
	case resp.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("the server responds with %s", resp.Status)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, status.LongestDocument+1)) // a larger document cannot be imported
	if err != nil {
		return nil, "", outbound.Reason(err, requestTimeout)
	}
	return body, resp.Header.Get("ETag"), nil
}

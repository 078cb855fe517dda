// Package pagesync copies status pages from elsewhere: it reads their documents over HTTP, hands them to [status.ReadDocuments], and keeps copies up to date.
package pagesync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"heliograph/internal/domain/status"
)

// requestTimeout bounds each request, its body included.
const requestTimeout = 10 * time.Second

// mostRedirects is how many redirects of a request are followed.
const mostRedirects = 3

// Client reads the documents of one page.
type Client struct {
	base string
	http *http.Client
}

// NewClient makes a client of the page at a URL such as https://status.example.com; the paths of the documents are added to it. transport is the default one
// where it is nil.
func NewClient(pageURL string, transport http.RoundTripper) (*Client, error) {
	base := strings.TrimSuffix(strings.TrimRight(pageURL, "/"), "/api/v2")
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, status.Refuse(status.BadInput, "%q is no URL of a page, such as https://status.example.com", pageURL)
	}
	return &Client{base: base, http: &http.Client{Transport: transport, Timeout: requestTimeout, CheckRedirect: sameHost}}, nil
}

// Base is the URL of the page, without a slash at the end.
func (c *Client) Base() string { return c.base }

// errElsewhere is what a redirect fails of that leaves the host.
var errElsewhere = errors.New("it redirects to another host")

// sameHost follows redirects that stay on the host, and do not give up encryption.
func sameHost(to *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > mostRedirects:
		return fmt.Errorf("it redirects more than %d times", mostRedirects)
	case to.URL.Hostname() != first.Hostname(), to.URL.Scheme != "https" && to.URL.Scheme != first.Scheme, to.URL.Scheme == first.Scheme && to.URL.Port() != first.Port():
		return errElsewhere
	}
	return nil
}

// read are the documents that say everything of a page; the other five are parts of them.
func read() []string {
	return []string{status.SummaryDocument, status.IncidentsDocument, status.ScheduledDocument}
}

// Reading is what was read.
type Reading struct {
	// Documents are the documents by name, none when they have not changed.
	Documents map[string][]byte
	// Tags are the ETags to give next time; none where the documents may be of different moments, so that they are read again.
	Tags map[string]string
}

// Read reads the documents of the page. With the tags of the last time, nothing is read where nothing has changed. step, if not nil, is told how many documents
// have been read.
func (c *Client) Read(ctx context.Context, tags map[string]string, step func(done, total int)) (*Reading, error) {
	r := &Reading{Documents: map[string][]byte{}, Tags: map[string]string{}}
	names := read()
	known := map[string]string{}
	if len(tags) >= len(names) { // without one of them, all are needed anyway
		known = tags
	}
	for changed := false; ; changed, known = true, nil {
		for i, name := range names {
			if step != nil {
				step(i, len(names))
			}
			if r.Documents[name] != nil {
				continue
			}
			body, tag, err := c.get(ctx, name, known[name])
			if err != nil {
				return nil, fmt.Errorf("cannot read %s/api/v2/%s: %w", c.base, name, err)
			}
			if body != nil {
				r.Documents[name] = body
			}
			if tag != "" {
				r.Tags[name] = tag
			}
		}
		if changed || len(r.Documents) == 0 || len(r.Documents) == len(names) {
			break
		}
	}
	if len(r.Documents) == 0 {
		r.Documents, r.Tags = nil, tags
		return r, nil
	}
	if !oneMoment(r.Documents) {
		r.Tags = nil
	}
	return r, nil
}

// oneMoment tells whether documents say that their page was last written to at the same instant.
func oneMoment(documents map[string][]byte) bool {
	first := ""
	for _, text := range documents {
		var d struct {
			Page struct {
				UpdatedAt string `json:"updated_at"`
			} `json:"page"`
		}
		if err := json.Unmarshal(text, &d); err != nil { // which is told by who reads it whole
			return false
		}
		if first == "" {
			first = d.Page.UpdatedAt
		}
		if d.Page.UpdatedAt != first {
			return false
		}
	}
	return true
}

// get asks for a document. The body is nil when it is still the one of the tag.
func (c *Client) get(ctx context.Context, name, tag string) (body []byte, newTag string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api/v2/"+name, http.NoBody)
	if err != nil {
		return nil, "", fmt.Errorf("asking for %s: %w", name, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "heliograph")
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, "", plain(err)
	}
	defer func() { _ = resp.Body.Close() }() // what is left of it does not matter
	switch {
	case resp.StatusCode == http.StatusNotModified && tag != "":
		return nil, tag, nil
	case resp.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("the server answers %s", resp.Status)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, status.LongestDocument+1)) // decompressed, so a small answer cannot become a large one
	switch {
	case err != nil:
		return nil, "", plain(err)
	case len(body) > status.LongestDocument:
		return nil, "", fmt.Errorf("it is larger than %d MiB", status.LongestDocument>>20)
	}
	return body, resp.Header.Get("ETag"), nil
}

// plain is an error of the HTTP client without the URL, which is told already.
func plain(err error) error {
	var u *url.Error
	if !errors.As(err, &u) {
		return err
	}
	if u.Timeout() {
		return fmt.Errorf("no answer within %s", requestTimeout)
	}
	return u.Err
}

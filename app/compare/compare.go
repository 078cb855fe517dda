package compare

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/rest"
	"heliograph/rest/requests"
)

// Service sends a GET request for a path with its query string.
type Service func(ctx context.Context, path string) (*Response, error)

// Comparison compares two services.
type Comparison struct {
	// Against is the service whose responses are expected, and Own the one to check.
	Against, Own Service
	// API has the endpoints.
	API *rest.API
	// Requests are the requests to send to both.
	Requests []requests.Request
	// Most is the maximum number of requests, including those of following pages.
	Most int
	// Concurrency is the number of requests that are compared at once.
	Concurrency int
	// Waits are the times before the repetitions of a request whose responses differ.
	Waits []time.Duration
	// Progress is called with the number of compared requests. It may be nil.
	Progress func(done, total int)
}

// Run compares the responses. Rows may be written meanwhile: a difference is reported if it remains after all
// repetitions and is not caused by rows that are newer than the start. It fails if a service does not respond to the
// first request. If ctx ends, it returns an incomplete report and an error. Its goroutines, [Comparison.Concurrency]
// of them, end before it returns. Without any, it would wait forever.
func (c *Comparison) Run(ctx context.Context) (*Report, error) {
	newest, err := c.newest(ctx)
	if err != nil {
		return nil, err
	}
	r := run{Comparison: c, newest: newest, report: &Report{}}
	queue := make(chan requests.Request)
	var workers sync.WaitGroup
	for range c.Concurrency {
		workers.Go(func() {
			for request := range queue {
				r.pages(ctx, request)
			}
		})
	}
	for _, request := range c.Requests {
		queue <- request
	}
	close(queue)
	workers.Wait()
	return r.report, wrap.Error(ctx.Err(), "comparing")
}

// newest requests the newest transaction of both services, and returns the newest consensus timestamp that both have,
// or "" if one of them has none. It fails if one does not respond.
func (c *Comparison) newest(ctx context.Context) (string, error) {
	at := ""
	for _, service := range []Service{c.Against, c.Own} {
		got, err := service(ctx, c.API.Prefix+"/transactions?limit=1&order=desc")
		if err != nil {
			return "", err
		}
		var body struct {
			Transactions []struct {
				At string `json:"consensus_timestamp"`
			}
		}
		_ = json.Unmarshal(got.Body, &body) // another body has no transactions
		if len(body.Transactions) != 1 {
			return "", nil
		}
		if own := body.Transactions[0].At; at == "" || own < at { // both have the same number of digits
			at = own
		}
	}
	return at, nil
}

// run is a comparison that runs.
type run struct {
	*Comparison

	newest string

	mu       sync.Mutex
	started  int
	finished int
	report   *Report
}

// pages requests a path from both services, and then the pages that follow, and records the differences in r. It stops
// after request.Pages pages, at a page with a difference in the link, after [Comparison.Most] requests of all paths,
// or when ctx ends.
func (r *run) pages(ctx context.Context, request requests.Request) {
	path := request.Path
	for page := 0; page < request.Pages && path != "" && ctx.Err() == nil; page++ {
		r.mu.Lock()
		allowed := r.started < r.Most
		r.started++
		r.mu.Unlock()
		if !allowed {
			return
		}
		path = r.one(ctx, path)
	}
}

// one requests path from both services, repeats the requests while they differ in a way that is not known or a rate
// limit rejects one, and adds the outcome to the report. If they still differ, it compares only the rows up to the
// start of the comparison, where the endpoint can select them. It calls Progress, and holds the lock of r meanwhile.
// It returns the path of the next page, or "" if there is none, the responses have different ones, or a rate limit
// rejected the request.
func (r *run) one(ctx context.Context, path string) (next string) {
	endpoint, request := r.endpoint(path), path
	a, b := r.both(ctx, path)
	found := Differences(endpoint, a, b)
	repetitions := 0
	for ; repetitions < len(r.Waits) && (limited(a, b) || !r.known(found)); repetitions++ {
		select {
		case <-ctx.Done():
		case <-time.After(r.Waits[repetitions]):
		}
		a, b = r.both(ctx, path)
		found = Differences(endpoint, a, b)
	}
	differs := len(found) > 0
	if bounded, ok := requests.Before(r.API, path, r.newest); ok && differs && r.newest != "" {
		boundedA, boundedB := r.both(ctx, bounded)
		if boundedA.Status == a.Status && boundedB.Status == b.Status {
			found, request = Differences(endpoint, boundedA, boundedB), bounded
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished++
	if r.Progress != nil {
		r.Progress(r.finished, max(r.finished, min(r.Most, len(r.Requests))))
	}
	switch {
	case limited(a, b):
		r.report.Limited++
		return ""
	case differs && len(found) == 0:
		r.report.Newer++
	case !differs && repetitions > 0:
		r.report.Repeated++
	}
	r.report.Requests++
	r.report.Add(endpoint, request, found)
	if next = a.Next(); next != b.Next() {
		return ""
	}
	return next
}

// known reports whether all differences have causes that at least three requests had after their repetitions, or there
// is no difference. Such requests are not repeated, which would take hours if the services differ everywhere.
func (r *run) known(differences []Difference) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range differences {
		if g := r.report.byWhat[d.Cause]; g == nil || g.requests < 3 {
			return false
		}
	}
	return true
}

// limited reports whether a service rejected a request because of its rate limit: such a request is repeated, and not
// compared if it is rejected again.
func limited(a, b *Digest) bool {
	return a.Status == http.StatusTooManyRequests || b.Status == http.StatusTooManyRequests
}

// both sends a request to both services at once, and returns the digests of Against and of Own when both have ended.
// The digest of a failed request has the status 0 and the error as its body.
func (r *run) both(ctx context.Context, path string) (a, b *Digest) {
	send := func(service Service) *Digest {
		got, err := service(ctx, path)
		if err != nil {
			got = &Response{Body: []byte(err.Error())}
		}
		return NewDigest(got)
	}
	var other sync.WaitGroup
	other.Go(func() { a = send(r.Against) })
	b = send(r.Own)
	other.Wait()
	return a, b
}

// endpoint returns the path pattern of a request, or its path without the query string if the API does not have it. It
// sends nothing.
func (r *run) endpoint(path string) string {
	request, err := http.NewRequest(http.MethodGet, path, http.NoBody) //nolint:noctx // only its path is used
	if err == nil {
		if pattern := r.API.Pattern(request); pattern != "" {
			return pattern
		}
	}
	path, _, _ = strings.Cut(path, "?")
	return path
}

// maxBody is the maximum size of a response in bytes.
const maxBody = 64 << 20

// NewService returns the service at a URL, such as https://mirror.example.com; a trailing /api/v1 is ignored. It sends
// nothing yet, and fails if base is not such a URL. The service sends header with each request, uses the proxy of the
// environment, does not follow redirects, and fails after timeout or if the body is larger than maxBody. It keeps at
// most concurrency idle connections.
func NewService(base string, header map[string]string, timeout time.Duration, concurrency int) (Service, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("%q is not a URL such as https://mirror.example.com", base)
	}
	base = strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/api/v1")
	client := &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: concurrency,
			ForceAttemptHTTP2: true,
		},
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

// Report groups differences by cause.
type Report struct {
	groups []*group
	byWhat map[Cause]*group

	// Requests is the number of compared requests.
	Requests int
	// Repeated is the number of requests whose responses were equal after a repetition.
	Repeated int
	// Newer is the number of requests whose responses differed only in rows that are newer than the start of the
	// comparison.
	Newer int
	// Limited is the number of requests that were not compared because a service rejected them with status 429.
	Limited int
}

type group struct {
	Cause
	requests  int
	endpoints []string
	example   string
	from, to  string
}

// Add records the differences of one request, so that each cause counts the requests and the endpoints in which it
// occurred. endpoint is the path pattern, and request the path that serves as the example of a new cause. Calls must
// not be concurrent.
func (r *Report) Add(endpoint, request string, differences []Difference) {
	if r.byWhat == nil {
		r.byWhat = map[Cause]*group{}
	}
	for _, d := range differences {
		g := r.byWhat[d.Cause]
		if g == nil {
			g = &group{Cause: d.Cause, example: request, from: d.From, to: d.To}
			r.byWhat[d.Cause] = g
			r.groups = append(r.groups, g)
		}
		g.requests++
		if !slices.Contains(g.endpoints, endpoint) {
			g.endpoints = append(g.endpoints, endpoint)
		}
	}
}

// Causes sorts the groups of the report and returns their causes, those of most requests first. The slice is new.
func (r *Report) Causes() []Cause {
	slices.SortStableFunc(r.groups, func(a, b *group) int { return cmp.Compare(b.requests, a.requests) })
	return list.Map(r.groups, func(g *group) Cause { return g.Cause })
}

// maxShown limits the length of an example value.
const maxShown = 160

// WriteTo implements [io.WriterTo]: it writes each cause as text with its number of requests and an example, the
// most frequent ones first, and returns the number of bytes written. It sorts the report.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	r.Causes() // sorts the groups
	for _, g := range r.groups {
		fmt.Fprintf(&b, "%s %s", g.Kind, cmp.Or(shorten(g.Where), "body"))
		if g.Before != "" || g.After != "" {
			fmt.Fprintf(&b, ": %s → %s", cmp.Or(shorten(g.Before), "none"), cmp.Or(shorten(g.After), "none"))
		}
		fmt.Fprintf(&b, "\n  %s in %s, such as %s\n",
			count(g.requests, "request"), count(len(g.endpoints), "endpoint"), shorten(g.example))
		if g.from != "" || g.to != "" {
			fmt.Fprintf(&b, "  - %s\n  + %s\n", shorten(g.from), shorten(g.to))
		}
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// count returns a number with its English noun for the report, with an s if it is not 1.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shorten returns a text for the report in one line, without surrounding spaces, cut to maxShown bytes.
func shorten(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", " ")
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

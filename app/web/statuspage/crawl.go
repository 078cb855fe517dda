package statuspage

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"heliograph/internal/base/repeat"
	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
)

// localLink is a link or a resource of the same site in a page. The second part is its path.
var localLink = regexp.MustCompile(`((?:href|src)=")(/[^"#]*)`)

// Intervals of [Site.Warm].
const (
	warmDelay    = 3 * time.Second // after the start
	warmInterval = time.Minute
)

// Warm renders older months and notices of all cached status pages every warmInterval and keeps them in s.lazy, so
// that they can be served while the database is unavailable. Those that have been rendered before stay as they are. It
// blocks until the context ends, and returns at once if the cache is disabled.
func (s *Site) Warm(ctx context.Context) {
	if s.o.Cache.Disabled() {
		return
	}
	for wait := warmDelay; repeat.Sleep(ctx, wait); wait = warmInterval {
		for p := range s.cached.All() {
			_ = s.crawl(ctx, p, true, func(string, []byte) error { return nil }) // the cache logs errors
		}
	}
}

// Export renders a status page for a static web server and calls write with each file: the page, all notices and
// months, feeds, badge and assets. Links in pages are relative. It stops at the first error, also of write.
func (s *Site) Export(ctx context.Context, p *status.Page, write func(file string, body []byte) error) error {
	return s.crawl(ctx, p, false, func(address string, body []byte) error {
		file := fileOf(address)
		if strings.HasSuffix(file, ".html") {
			up := "./" + strings.Repeat("../", strings.Count(file, "/"))
			body = localLink.ReplaceAllFunc(body, func(link []byte) []byte {
				parts := localLink.FindSubmatch(link)
				return append(parts[1], up+strings.TrimSuffix(fileOf(string(parts[2])), "index.html")...)
			})
		}
		return write(file, body)
	})
}

// fileOf returns the file of an exported document. Pages are index files, so that their addresses need no extension.
// address is its path with its query string.
func fileOf(address string) string {
	path, query, _ := strings.Cut(address, "?month=")
	switch {
	case path == "/":
		return "index.html"
	case path == historyPath && query != "":
		return "history/" + query + "/index.html"
	case path == historyPath, strings.HasPrefix(path, incidentPrefix):
		return path[1:] + "/index.html"
	default:
		return path[1:]
	}
}

// crawl calls visit with the address and body of a page and of all documents of the site that it links to,
// directly or not. With known, documents that were rendered on request before are not rendered again. It stops at
// the first error, also of visit.
func (s *Site) crawl(
	ctx context.Context, p *status.Page, known bool, visit func(address string, body []byte) error,
) error {
	host, err := url.Parse(p.URL)
	if err != nil {
		return fmt.Errorf("parsing the URL of the page: %w", err)
	}
	queue, seen := []string{"/"}, map[string]bool{"/": true}
	for i := 0; i < len(queue); i++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, queue[i], http.NoBody)
		if err != nil {
			return fmt.Errorf("requesting %s: %w", queue[i], err)
		}
		r.Host = host.Host
		body, err := s.body(r, p, known)
		if err != nil {
			return err
		}
		if err := visit(queue[i], body); err != nil {
			return err
		}
		if !bytes.HasPrefix(body, []byte("<!doctype html>")) {
			continue
		}
		for _, link := range localLink.FindAllSubmatch(body, -1) {
			address := string(link[2])
			if path, _, _ := strings.Cut(address, "?"); Has(path) && !seen[address] {
				seen[address] = true
				queue = append(queue, address)
			}
		}
	}
	return nil
}

// body returns the uncompressed body of a path of a page: an embedded file, or the document of [Site.find], which may
// read the database and keep what it renders. If known is true, it prefers a document of any revision that was
// rendered on request before. An error says with which status the path cannot be rendered.
func (s *Site) body(r *http.Request, p *status.Page, known bool) ([]byte, error) {
	if file := s.files[r.URL.Path]; file != nil {
		return file.Unpack()
	}
	t, code := targetOf(r), http.StatusNotFound
	var v *doccache.Document
	if t != nil {
		if cached, _ := s.lazy.GetIfPresent(p.Code + t.key); known && cached != nil {
			return cached.document.Body(), nil
		}
		v, _, code = s.find(r, t)
	}
	if v == nil {
		return nil, fmt.Errorf("%s cannot be rendered: status %d", r.URL, code)
	}
	return v.Body(), nil
}

// stale returns the document to send. If the database is unavailable, it sets the header of out-of-date responses
// in w and returns pages with a notice that has the time of the last refresh. It keeps such pages in s.lazy.
func (s *Site) stale(w http.ResponseWriter, v *doccache.Document, t *target, page *status.Page) *doccache.Document {
	since := s.o.Cache.MarkStale(w.Header())
	if since.IsZero() || t.media != htmlMedia {
		return v
	}
	key := "stale " + since.String() + v.ETag()
	if cached, found := s.lazy.GetIfPresent(key); found {
		return cached.document
	}
	var notice bytes.Buffer
	if err := s.templates.ExecuteTemplate(&notice, "stale", since.In(page.Zone)); err != nil {
		return v // does not happen: tests render the template
	}
	before, main, found := bytes.Cut(v.Body(), []byte("<main"))
	attributes, content, closed := bytes.Cut(main, []byte(">"))
	if !found || !closed {
		return v
	}
	marked, err := doccache.NewDocument(bytes.Join(
		[][]byte{before, []byte("<main"), attributes, []byte(">"), notice.Bytes(), content}, nil))
	if err != nil { // does not happen: only the compression can fail
		return v
	}
	s.lazy.Set(key, &lazyDocument{document: marked})
	return marked
}

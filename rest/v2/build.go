package v2

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/status"
)

// Source is where pages come from.
type Source interface {
	// Pages are all pages; none where the database has no status tables.
	Pages(ctx context.Context) (status.Pages, error)
	// Snapshot returns a context in which documents see one moment, and the function that ends it.
	Snapshot(ctx context.Context) (context.Context, func(), error)
	// Listen calls heard when it has begun to listen, and whenever a page was written to. It returns when it cannot hear any more.
	Listen(ctx context.Context, heard func()) error
}

// Keeper is a [Source] that keeps what was served.
type Keeper interface {
	// Keep keeps the documents of a revision of a page, by name.
	Keep(ctx context.Context, p *status.Page, documents map[string][]byte) error
}

// edition is what is served: all documents of all pages at one moment.
type edition struct {
	pages  status.Pages
	shelf  map[string]*shelf // by the code of the page
	goodAt atomic.Int64      // when the pages were last seen to be so, in nanoseconds since 1970
}

func (e *edition) at() time.Time { return time.Unix(0, e.goodAt.Load()) }

// shelf has the documents of a page, in the order of the endpoints.
type shelf struct {
	revision int64
	volumes  []*volume
}

// volume is a document as it is sent. Header values are lists already, as headers want them; nobody changes them.
type volume struct {
	plain, zipped             []byte
	etag, length, zippedCount []string
	tag                       string // the ETag without the mark of weakness
}

// warnSize is the size of a document, in bytes, from which the log warns: some clients read no more than 1 MB.
const warnSize = 900_000

// zipFrom is the size of a document, in bytes, from which compressing it is worth while.
const zipFrom = 512

// newVolume makes a document ready to be sent.
func newVolume(body []byte) (*volume, error) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	v := &volume{plain: body, tag: tag, etag: []string{"W/" + tag}, length: []string{strconv.Itoa(len(body))}}
	if len(body) < zipFrom {
		return v, nil
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compressing a document: %w", err)
	}
	v.zipped, v.zippedCount = b.Bytes(), []string{strconv.Itoa(b.Len())}
	return v, nil
}

// refresh looks at the pages, and makes the documents of those anew that were written to. What cannot be read stays as it is.
func (a *API) refresh(ctx context.Context) error {
	a.building.Lock()
	defer a.building.Unlock()
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	next, built, err := a.read(ctx)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // the gateway stops, or the client that waited has gone
			return err
		}
		a.failures.Add(1)
		if !a.failing.Swap(true) {
			a.o.Logger.WarnContext(ctx, "the status pages cannot be read; the last good documents are served", "for", maxStale.String(), "error", err)
		}
		return err
	}
	next.goodAt.Store(a.o.Now().UnixNano())
	old := a.current.Swap(next)
	a.builds.Add(int64(built))
	a.keep(ctx, old, next)
	if a.failing.Swap(false) {
		a.o.Logger.InfoContext(ctx, "the status pages can be read again")
	}
	if none := len(next.pages) == 0; a.missing.Swap(none) != none && none {
		a.o.Logger.InfoContext(ctx, "there is no status page: /api/v2 answers 404; `heliograph migrate --status-only` makes the tables where there are none")
	}
	return nil
}

// keep has what is served now kept, where it is new. Whether that succeeds makes no difference to readers.
func (a *API) keep(ctx context.Context, old, now *edition) {
	keeper, ok := a.o.Source.(Keeper)
	if !ok {
		return
	}
	for _, p := range now.pages {
		s := now.shelf[p.Code]
		if old != nil && old.shelf[p.Code] == s {
			continue
		}
		documents := map[string][]byte{}
		for i, e := range endpoints() {
			documents[e.path] = s.volumes[i].plain
		}
		if err := keeper.Keep(ctx, p, documents); err != nil {
			a.o.Logger.DebugContext(ctx, "the documents of a revision are not kept", "page", p.Slug, "revision", p.Revision, "error", err)
		}
	}
}

// read reads all pages in one snapshot. Documents of pages that have not changed are kept; built is how many pages were made anew.
func (a *API) read(ctx context.Context) (next *edition, built int, err error) {
	ctx, end, err := a.o.Source.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer end()
	next = &edition{shelf: map[string]*shelf{}}
	if next.pages, err = a.o.Source.Pages(ctx); err != nil {
		return nil, 0, err
	}
	old := a.current.Load()
	for _, p := range next.pages {
		if old != nil {
			if s := old.shelf[p.Code]; s != nil && s.revision == p.Revision {
				next.shelf[p.Code] = s
				continue
			}
		}
		s := &shelf{revision: p.Revision}
		for i, e := range endpoints() {
			v, err := a.make(ctx, i, p)
			if err != nil {
				return nil, 0, fmt.Errorf("making %s of page %s: %w", e.path, p.Slug, err)
			}
			if len(v.plain) > warnSize {
				a.o.Logger.WarnContext(ctx, "a status document is larger than some clients read", "document", e.path, "page", p.Slug, "bytes", len(v.plain))
			}
			s.volumes = append(s.volumes, v)
		}
		next.shelf[p.Code] = s
		built++
	}
	return next, built, nil
}

// make makes one document.
func (a *API) make(ctx context.Context, i int, p *status.Page) (*volume, error) {
	body, err := a.run(ctx, i, p.Slug)
	if err != nil {
		return nil, err
	}
	return newVolume(body)
}

// unlimited lets documents have lists as long as they are.
const unlimited = math.MaxInt32 - 1

// run runs the document of an endpoint and makes the body of its data.
func (a *API) run(ctx context.Context, i int, slug string) ([]byte, error) {
	doc := a.prepared[i]
	res := a.o.Server.Run(ctx, server.Call{
		Document: doc, Operation: doc.Operations()[0].Name, Variables: map[string]any{"page": slug}, Style: scalar.Status,
		Limits: relay.Limits{Default: unlimited, Max: unlimited},
	})
	switch {
	case res == nil:
		return nil, fmt.Errorf("running the document: %w", context.Cause(ctx))
	case len(res.Errors) > 0:
		return nil, fmt.Errorf("running the document: %w", res.Errors)
	}
	defer a.o.Server.Done(res.Data)
	return bodyOf(res.Data)
}

// member is a member of a JSON object, as it stands there.
type member struct {
	name  string
	value json.RawMessage
}

// bodyOf makes a document's body of the data: the members of the object "inside" take its place, and a connection's nodes that of the connection. Groups alone have a
// list of components in them.
func bodyOf(data []byte) ([]byte, error) {
	roots, err := members(data)
	if err != nil {
		return nil, err
	}
	var all []member
	for _, m := range roots {
		if m.name != "inside" {
			all = append(all, m)
			continue
		}
		inner, err := members(m.value)
		if err != nil {
			return nil, err
		}
		for _, m := range inner {
			if bytes.HasPrefix(m.value, []byte(`{"nodes":`)) {
				nodes, err := members(m.value)
				if err != nil {
					return nil, err
				}
				m.value = nodes[0].value
			}
			all = append(all, m)
		}
	}
	body := append(make([]byte, 0, len(data)), '{')
	for i, m := range all {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(append(strconv.AppendQuote(body, m.name), ':'), m.value...)
	}
	body = append(body, '}')
	// A quote inside of text is escaped, so this can only be the member itself.
	return bytes.ReplaceAll(body, []byte(`,"components":null`), nil), nil
}

// members are the members of an object in their order.
func members(object []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("an object is needed, not %.40q", object)
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("reading a member: %w", err)
		}
		m := member{}
		m.name, _ = name.(string)
		if err := d.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("reading a member: %w", err)
		}
		out = append(out, m)
	}
	return out, nil
}

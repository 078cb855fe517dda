package v2

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
)

// warnSize is the document size, in bytes, above which a warning is logged: some clients read at most 1 MB.
const warnSize = 900_000

// Render renders all documents of a page, by name. Use the context of a snapshot or of a write transaction, so that the documents are consistent.
func (a *API) Render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	bodies := make(map[string][]byte, len(a.prepared))
	for i, e := range endpoints() {
		body, err := a.run(ctx, i, p.Slug)
		if err != nil {
			return nil, fmt.Errorf("rendering %s of page %s: %w", e.path, p.Slug, err)
		}
		bodies[e.path] = body
	}
	return bodies, nil
}

// renderAll renders all documents of a page in the order of the endpoints. They are valid until the page changes.
func (a *API) renderAll(ctx context.Context, p *status.Page) ([]*doccache.Document, time.Time, error) {
	bodies, err := a.Render(ctx, p)
	if err != nil {
		return nil, time.Time{}, err
	}
	var all []*doccache.Document
	for _, e := range endpoints() {
		d, err := doccache.NewDocument(bodies[e.path])
		if err != nil {
			return nil, time.Time{}, err
		}
		if d.Size() > warnSize {
			a.o.Logger.WarnContext(ctx, "a status document is larger than some clients read", "document", e.path, "page", p.Slug, "bytes", d.Size())
		}
		all = append(all, d)
	}
	if a.o.Save == nil {
		return all, time.Time{}, nil
	}
	if err := a.o.Save(ctx, p, bodies); err != nil { // the response is not affected
		a.o.Logger.DebugContext(ctx, "saving the documents of a revision failed", "page", p.Slug, "revision", p.Revision, "error", err)
	}
	return all, time.Time{}, nil
}

// render renders one document.
func (a *API) render(ctx context.Context, i int, p *status.Page) (*doccache.Document, error) {
	body, err := a.run(ctx, i, p.Slug)
	if err != nil {
		return nil, err
	}
	return doccache.NewDocument(body)
}

// unlimited is the maximum page size of lists in documents.
const unlimited = math.MaxInt32 - 1

// run runs the document of an endpoint and renders the body from its data.
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

// member is a member of a JSON object, as source text.
type member struct {
	name  string
	value json.RawMessage
}

// bodyOf renders a body from data. It replaces the data by the members of the object "inside", and connections by their nodes. Only groups have a list
// of components.
func bodyOf(data []byte) ([]byte, error) {
	roots, err := members(data)
	if err != nil {
		return nil, err
	}
	var all []member
	for _, m := range roots {
		if m.name != relay.InsideAlias {
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
	// Quotes in strings are escaped, so this can only be the member itself.
	return bytes.ReplaceAll(body, []byte(`,"components":null`), nil), nil
}

// members returns the members of an object in order.
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

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
	"heliograph/rest/edition"
)

// warnSize is the document size, in bytes, above which a warning is logged: some clients read at most 1 MB.
const warnSize = 900_000

// makeAll renders all documents of a page in the order of the endpoints. They are valid until the page changes.
func (a *API) makeAll(ctx context.Context, p *status.Page) ([]*edition.Volume, time.Time, error) {
	var all []*edition.Volume
	bodies := map[string][]byte{}
	for i, e := range endpoints() {
		body, err := a.run(ctx, i, p.Slug)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("making %s: %w", e.path, err)
		}
		v, err := edition.NewVolume(body)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("making %s: %w", e.path, err)
		}
		bodies[e.path] = body
		if v.Size() > warnSize {
			a.o.Logger.WarnContext(ctx, "a status document is larger than some clients read", "document", e.path, "page", p.Slug, "bytes", v.Size())
		}
		all = append(all, v)
	}
	if a.o.Keep == nil {
		return all, time.Time{}, nil
	}
	if err := a.o.Keep(ctx, p, bodies); err != nil { // the response is not affected
		a.o.Logger.DebugContext(ctx, "the documents of a revision are not kept", "page", p.Slug, "revision", p.Revision, "error", err)
	}
	return all, time.Time{}, nil
}

// make renders one document.
func (a *API) make(ctx context.Context, i int, p *status.Page) (*edition.Volume, error) {
	body, err := a.run(ctx, i, p.Slug)
	if err != nil {
		return nil, err
	}
	return edition.NewVolume(body)
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

package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"heliograph/graph/server"
)

// Explanation is the operation that a REST path runs.
type Explanation struct {
	// Query is the document. It requires the variables.
	Query string `json:"query"`
	// Standalone is the same document with the variables inlined.
	Standalone    string         `json:"-"`
	Variables     map[string]any `json:"variables"`
	OperationName string         `json:"operationName"`
	// DocumentID is the id of the operation as a trusted document. It takes the same variables.
	DocumentID string `json:"documentId"`
}

// Explain returns the operation that a REST path with its query string would run. It does not run it. The prefix "POST " selects the path's POST
// endpoint, with the example body. A path that supports POST only does not need the prefix. If the path would be rejected, Explain returns the
// [*Problem] of the response.
func (a *API) Explain(ctx context.Context, target string) (*Explanation, error) {
	return a.ExplainBody(ctx, target, nil)
}

// ExplainBody is [API.Explain] for a POST endpoint and the given body. A nil body selects the example.
func (a *API) ExplainBody(ctx context.Context, target string, body []byte) (*Explanation, error) {
	target, isPost := strings.CutPrefix(target, http.MethodPost+" ")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, Bad("not a path: " + target)
	}
	r.RequestURI = r.URL.RequestURI()
	r.Header.Set("Accept-Encoding", "gzip") // some paths require it
	escaped := r.URL.EscapedPath()
	if len(escaped) < len(a.Prefix) || !strings.EqualFold(escaped[:len(a.Prefix)], a.Prefix) {
		return nil, NotFound("no such path: " + escaped)
	}
	at := a.route(escaped)
	if at == nil {
		return nil, NotFound("no such path: " + escaped)
	}
	e := at.get
	if isPost || e == nil {
		e = at.post
	}
	if e == nil {
		return nil, NotFound("no such path for POST: " + escaped)
	}
	if e.Body != nil {
		if body == nil {
			body = e.Body.Example
		}
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Type", e.Body.Types[0])
	}
	req, err := a.read(r, e, a.Config.LimitMax, runNothing)
	var direct *Direct
	switch {
	case errors.As(err, &direct):
		return nil, Bad("the conditions contradict each other, so no operation runs; the response is " + direct.Body)
	case err != nil:
		return nil, err
	}
	return NewExplanation(a.Server, req.document, req.operation(), req.Variables)
}

// NewExplanation returns the explanation of an operation of a document.
func NewExplanation(s *server.Server, d *server.Document, operation string, variables map[string]any) (*Explanation, error) {
	x := &Explanation{Variables: variables, OperationName: operation, DocumentID: server.DocumentID(d.Text()) + "#" + operation}
	var err error
	if x.Query, err = s.Standalone(d, operation, nil, false); err != nil {
		return nil, fmt.Errorf("explaining %s: %w", operation, err)
	}
	if x.Standalone, err = s.Standalone(d, operation, variables, true); err != nil {
		return nil, fmt.Errorf("explaining %s: %w", operation, err)
	}
	return x, nil
}

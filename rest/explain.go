package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"heliograph/graph/server"
)

// Explanation is the operation that a REST path runs.
type Explanation struct {
	// Query is the document; its variables have to be sent along.
	Query string `json:"query"`
	// Standalone is the same document with the variables in it.
	Standalone    string         `json:"-"`
	Variables     map[string]any `json:"variables"`
	OperationName string         `json:"operationName"`
	// DocumentID is the id under which the whole document may be asked for, with the same variables and operation name.
	DocumentID string `json:"documentId"`
}

// Explain tells what a REST path, with its query string, would run. It runs nothing. What it cannot tell is a [*Problem] like the one that the
// path itself would be answered with.
func (a *API) Explain(ctx context.Context, target string) (*Explanation, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, Bad("not a path: " + target)
	}
	r.RequestURI = r.URL.RequestURI()
	escaped := r.URL.EscapedPath()
	if len(escaped) < len(a.Prefix) || !strings.EqualFold(escaped[:len(a.Prefix)], a.Prefix) {
		return nil, NotFound("no such path: " + escaped)
	}
	e := a.endpoint(escaped)
	if e == nil {
		return nil, NotFound("no such path: " + escaped)
	}
	req, err := a.read(r, e, a.Config.LimitMax, nobody)
	var direct *Direct
	switch {
	case errors.As(err, &direct):
		return nil, Bad("the conditions contradict each other: nothing is asked of the graph, and the answer is " + direct.Body)
	case err != nil:
		return nil, err
	}
	op := req.operation()
	x := &Explanation{Variables: req.Variables, OperationName: op, DocumentID: server.DocumentID(req.document.Text())}
	if x.Query, err = a.Server.Standalone(req.document, op, nil, false); err != nil {
		return nil, fmt.Errorf("explaining %s: %w", target, err)
	}
	if x.Standalone, err = a.Server.Standalone(req.document, op, req.Variables, true); err != nil {
		return nil, fmt.Errorf("explaining %s: %w", target, err)
	}
	return x, nil
}

package v2

import (
	"fmt"
	"net/url"

	"heliograph/rest"
)

// Explain returns the operation of the document at a path. It does not run it. The variables have the short name of the default page; replace it to
// select another page.
func (a *API) Explain(target string) (*rest.Explanation, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, rest.Bad("not a path: " + target)
	}
	i, known := a.index[u.Path]
	if !known {
		return nil, rest.NotFound("no such path: " + u.Path)
	}
	doc := a.prepared[i]
	x := &rest.Explanation{Variables: map[string]any{"page": a.anyPage()}, OperationName: doc.Operations()[0].Name}
	if x.Query, err = a.o.Server.Standalone(doc, x.OperationName, nil, false); err != nil {
		return nil, fmt.Errorf("explaining %s: %w", target, err)
	}
	if x.Standalone, err = a.o.Server.Standalone(doc, x.OperationName, x.Variables, true); err != nil {
		return nil, fmt.Errorf("explaining %s: %w", target, err)
	}
	return x, nil
}

// anyPage returns the short name of the default page if it is known.
func (a *API) anyPage() string {
	if p := a.o.Cache.DefaultPage(); p != nil {
		return p.Slug
	}
	return "status"
}

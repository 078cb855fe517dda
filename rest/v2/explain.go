package v2

import (
	"fmt"
	"net/url"

	"heliograph/rest"
)

// Explain tells what the graph is asked for the document of a path. It runs nothing. The page in the variables is the one that has no other name: who has
// several puts a short name there.
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

// anyPage is the short name of the default page, as far as it is known.
func (a *API) anyPage() string {
	if p := a.o.Keeper.Default(); p != nil {
		return p.Slug
	}
	return "status"
}

package v2

import (
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
	return rest.NewExplanation(a.o.Server, doc, doc.Operations()[0].Name, map[string]any{"page": a.anyPage()})
}

// anyPage returns the short name of the default page if it is known.
func (a *API) anyPage() string {
	if p := a.o.Cache.DefaultPage(); p != nil {
		return p.Slug
	}
	return "status"
}

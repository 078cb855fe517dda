// Package graphiql serves GraphiQL, a web page for browsing the schema and for writing, running and sharing GraphQL
// documents.
//
// scripts/build-assets.sh builds the page from src/ into dist/, which contains brotli files. The content security
// policy prevents requests to other hosts.
package graphiql

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"heliograph/app/web/assets"
)

//go:embed dist
var dist embed.FS

// The policy allows requests to the origin of the page only. It allows inline styles, because Monaco creates style
// elements and attributes for syntax highlighting.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; " +
	"style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const page = "/graphiql"

// Handler serves the page at /graphiql and its files below that path. The page sends requests to /graphql,
// /graphql/explain and /graphql/schema.graphql, which this handler does not serve. A proxy in front of it may add a
// prefix to all of them.
//
// Handler panics if the embedded files are invalid, which the tests of this package rule out.
func Handler() http.Handler {
	files, err := load()
	if err != nil {
		panic(fmt.Sprintf("graphiql: %v", err))
	}
	return handler(files)
}

// load returns all files by their path relative to the page. The key of the page itself is "". All handlers of a
// process share the files.
var load = sync.OnceValues(func() (map[string]*assets.File, error) {
	files, err := assets.Load(dist, "dist")
	if err != nil {
		return nil, err
	}
	files[""] = files["/index.html"]
	delete(files, "/index.html")
	examples, err := json.Marshal(Examples())
	if err != nil {
		return nil, fmt.Errorf("encoding the examples: %w", err)
	}
	files["/examples.json"] = assets.Pack(examples, "application/json", assets.Checked)
	return files, nil
})

type handler map[string]*assets.File

// ServeHTTP serves GraphiQL's page and its embedded files by path, redirects /graphiql/ to /graphiql, and responds
// with 404 to other paths and with 405 to other methods than GET and HEAD.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !assets.Guard(w, r, contentSecurityPolicy) {
		return
	}
	rest, ours := strings.CutPrefix(r.URL.Path, page)
	if ours && rest == "/" {
		// The page refers to its files relative to the path without a slash. The redirect is relative too, so that it
		// works behind a proxy that adds a prefix.
		target := "../graphiql"
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	found, ok := h[rest]
	if !ours || !ok {
		http.NotFound(w, r)
		return
	}
	found.ServeHTTP(w, r)
}

//go:embed src/examples
var exampleFiles embed.FS

// groups are the groups of examples by the first digit of their file names.
var groups = [...]string{
	"Applications", "Accounts and tokens", "Transactions and blocks", "Contracts",
	"Network and search", "Subscriptions", "The ledger at any time",
}

// Example is a document in the list of examples of the page. On the first visit, the page opens the first group in
// tabs.
type Example struct {
	// Name is the file name without number and extension, for example "topic-messages".
	Name string `json:"name"`
	// Group is the title of the group.
	Group string `json:"group"`
	// Title is the text of the comment in the first line of the document: a short title, a colon, and a description.
	Title string `json:"title"`
	// Query is the GraphQL document, including the title.
	Query string `json:"query"`
	// Variables is a JSON object with the variables of the document, or nil. They are those of the demo network. The
	// page replaces them with objects of the connected database.
	Variables json.RawMessage `json:"variables,omitempty"`
}

// Examples returns the example queries of the page, from the embedded folder src/examples in the order of their file
// names. NN-name.graphql contains the document, and NN-name.json the variables, if any. It panics if the first digit
// of a name is not that of one of the groups.
func Examples() []Example {
	const folder = "src/examples"
	// Reading embedded files cannot fail.
	names, _ := fs.Glob(exampleFiles, folder+"/*.graphql")
	examples := make([]Example, 0, len(names))
	for _, name := range names {
		document, _ := exampleFiles.ReadFile(name)
		stem := strings.TrimSuffix(name, ".graphql")
		variables, _ := exampleFiles.ReadFile(stem + ".json") // nil without the file
		query := string(document)
		title, _, _ := strings.Cut(query, "\n")
		number, short, _ := strings.Cut(path.Base(stem), "-")
		examples = append(examples, Example{
			Name:      short,
			Group:     groups[number[0]-'0'],
			Title:     strings.TrimSpace(strings.TrimPrefix(title, "#")),
			Query:     query,
			Variables: variables,
		})
	}
	return examples
}

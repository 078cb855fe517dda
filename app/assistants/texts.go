// Package assistants serves what language models need: the documents as text, and tools over the Model Context Protocol
// (MCP).
package assistants

import (
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"heliograph/docs"
)

// DocsPrefix is the prefix of the paths of the documents.
const DocsPrefix = "/docs/"

// Texts returns the handlers of the documents, by the patterns of their paths: /llms.txt has the links to all
// documents, /llms-full.txt the documents themselves.
func Texts() map[string]http.Handler {
	files := http.StripPrefix(DocsPrefix, http.FileServerFS(docs.Files))
	return map[string]http.Handler{
		"/llms.txt": text(index), "/llms-full.txt": text(full), DocsPrefix + "*": typed(files),
	}
}

// text returns a handler that serves a text as Markdown. of is called once, on the first request. If it fails, all
// requests get the status 500.
func text(of func() (string, error)) http.Handler {
	read := sync.OnceValues(of)
	return typed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := read()
		if err != nil {
			http.Error(w, "The documents cannot be read.", http.StatusInternalServerError)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}))
}

// typed is middleware of the documents that sets the content type of Markdown and lets caches keep the response for an
// hour.
func typed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		next.ServeHTTP(w, r)
	})
}

// summary is the beginning of /llms.txt, in the form that llmstxt.org proposes.
const summary = `# Heliograph

> A GraphQL and REST gateway for Hedera/Hiero mirror node databases. POST /graphql executes GraphQL documents, whose
> schema is at /graphql/schema.graphql; /api/v1 is the mirror node REST API, and /api/v2 the API of the status page. The
> documents are below, and all in one at /llms-full.txt.
`

var (
	// outside matches links to files that a gateway does not serve.
	outside = regexp.MustCompile(`\[([^\]]+)\]\(\.\./[^)]*\)`)
	// inside matches links to documents.
	inside = regexp.MustCompile(`\]\(([a-z0-9-]+\.md)`)
)

// index returns the Markdown text of /llms.txt: the summary, and the list of documents in the embedded README.md
// without its title, with links that point into this gateway. It fails if README.md cannot be read. The text beside an
// error is only the summary.
func index() (string, error) {
	list, err := docs.Files.ReadFile("README.md")
	_, links, _ := strings.Cut(string(list), "\n") // after the title
	return summary + inside.ReplaceAllString(outside.ReplaceAllString(links, "$1"), "]("+DocsPrefix+"$1"), err
}

// full returns the Markdown text of /llms-full.txt: the summary, and all embedded documents, each after a comment with
// its path. It fails if a document cannot be read.
func full() (string, error) {
	names, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		return "", err
	}
	all := []string{summary}
	for _, name := range names {
		content, err := docs.Files.ReadFile(name)
		if err != nil {
			return "", err
		}
		all = append(all, "<!-- "+DocsPrefix+name+" -->\n\n"+string(content))
	}
	return strings.Join(all, "\n"), nil
}

// Package docs has the documents, which a gateway serves.
package docs

import "embed"

// Files are the documents in Markdown.
//
//go:embed *.md
var Files embed.FS

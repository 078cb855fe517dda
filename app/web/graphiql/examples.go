package graphiql

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
)

//go:embed src/examples
var exampleFiles embed.FS

// Example is a document that the page offers in its list of examples, and in a tab on a first visit when it is a role's.
type Example struct {
	// Name is the file's name without its number and suffix, for instance "topic-messages".
	Name string `json:"name"`
	// Title is for people; it is the document's first line, a comment.
	Title string `json:"title"`
	// Role says that it is what one kind of application needs, all in one: those whose numbers begin with 0. Others show a resource, or a subscription.
	Role bool `json:"role"`
	// Query is the GraphQL document, its title included.
	Query string `json:"query"`
	// Variables is a JSON object with the document's variables; nil when it takes none.
	Variables json.RawMessage `json:"variables,omitempty"`
}

// Examples returns the documents of src/examples in the order of their file names: NN-name.graphql holds the document
// and NN-name.json, where there is one, its variables.
func Examples() []Example {
	const folder = "src/examples"
	// Reading an embedded folder and its own names cannot fail.
	names, _ := fs.Glob(exampleFiles, folder+"/*.graphql")
	examples := make([]Example, 0, len(names))
	for _, name := range names {
		document, _ := exampleFiles.ReadFile(name)
		stem := strings.TrimSuffix(name, ".graphql")
		variables, err := exampleFiles.ReadFile(stem + ".json")
		if err != nil {
			variables = nil
		}
		query := string(document)
		title, _, _ := strings.Cut(query, "\n")
		number, short, _ := strings.Cut(path.Base(stem), "-")
		examples = append(examples, Example{
			Name:      short,
			Title:     strings.TrimSpace(strings.TrimPrefix(title, "#")),
			Role:      strings.HasPrefix(number, "0"),
			Query:     query,
			Variables: variables,
		})
	}
	return examples
}

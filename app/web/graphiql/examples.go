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

// Example is a document in the list of examples of the page. On the first visit, the page opens the role examples in tabs.
type Example struct {
	// Name is the file name without number and extension, for example "topic-messages".
	Name string `json:"name"`
	// Title is the text of the comment in the first line of the document.
	Title string `json:"title"`
	// Role reports whether the example combines what a kind of application needs. File names of such examples start with 0. Other examples show a
	// resource or a subscription.
	Role bool `json:"role"`
	// Query is the GraphQL document, including the title.
	Query string `json:"query"`
	// Variables is a JSON object with the variables of the document, or nil.
	Variables json.RawMessage `json:"variables,omitempty"`
}

// Examples returns the examples of src/examples in the order of their file names. NN-name.graphql contains the document, and NN-name.json the
// variables, if any.
func Examples() []Example {
	const folder = "src/examples"
	// Reading embedded files cannot fail.
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

package assistants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"heliograph/rest"
)

// Options configure the tools.
type Options struct {
	Version string
	// Graph is the handler of the GraphQL API, which the tools send requests to.
	Graph http.Handler
	// Schema is nil if clients must not read it.
	Schema *ast.Schema
	// Explain returns the GraphQL operation of a REST path.
	Explain func(ctx context.Context, path string, body []byte) (*rest.Explanation, error)
	// MaxBody is the maximum size of a request in bytes.
	MaxBody int64
}

// instructions are the instructions for clients.
const instructions = `Tools for the data of a Hedera/Hiero ledger: accounts, tokens, NFTs, topics,
contracts, transactions and blocks. Use search for an ID, address, hash, time or name; describe_type for what can be
queried; then query for a GraphQL document.`

const (
	searchDocument = `query Search($text: String!) { search(text: $text, first: 10) { nodes { __typename
  ... on Node { id } ... on Account { entityId memo evmAddress } ... on Contract { entityId memo }
  ... on Token { entityId name symbol tokenType: type } ... on Topic { entityId memo }
  ... on NFT { tokenId serialNumber } ... on Block { number hash }
  ... on Transaction { transactionId transactionType: type result consensusTimestamp } } } }`
	statusDocument = `{ gateway { version compatibility limits { documents { cost depth } pages { max } } }
  network { freshness { newestBlock { number timestamp { toIso } } lag } }
  status { name rollup { indicator description } } }`
)

// Documents returns the GraphQL documents that the tools search and status send. The gateway adds them to its
// trusted documents, so that the tools also work if it accepts no others.
func Documents() []string { return []string{searchDocument, statusDocument} }

// Tools returns the handler of the MCP endpoint (streamable HTTP, without sessions). Each request has a server of its
// own, whose tools send GraphQL requests with the context of the request: they have its turn, limits and rates.
func Tools(o Options) http.Handler {
	schemas := mcp.NewSchemaCache()
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "heliograph", Version: o.Version},
			&mcp.ServerOptions{Instructions: instructions, SchemaCache: schemas})
		t := tools{o, r.Context()}
		add(s, "search", "Finds accounts, tokens, NFTs, topics, contracts, transactions and blocks by ID, EVM "+
			"address, public key, hash, time, or the start of a token's name.", t.search)
		add(s, "describe_type", "Returns the description of a GraphQL type, or of one of its fields as in "+
			"Query.account. Without a name, the fields of Query.", t.describe)
		add(s, "query", "Runs a GraphQL query. Lists have pages (first, after). The tool status returns the limits.",
			t.query)
		add(s, "explain_rest", "Returns the GraphQL document of a path of the REST API, such as "+
			"/api/v1/accounts/0.0.2.", t.explain)
		add(s, "status", "Returns the version of the gateway, its limits, the newest block, and the state of "+
			"the network.", t.status)
		return s
	}, &mcp.StreamableHTTPOptions{
		// the host is checked nowhere else: the data are public, and changes need a token
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: o.MaxBody,
	})
}

// add registers a tool of the MCP server s that returns the text of run and is marked as read-only. An error of
// run becomes a tool result with its text, not an error of the protocol.
func add[In any](s *mcp.Server, name, description string, run func(In) (string, error)) {
	mcp.AddTool(s, &mcp.Tool{
		Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		text, err := run(in)
		if err != nil {
			return nil, nil, err // becomes a result with the text of the error
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// tools are the tools of one request, whose context they use.
type tools struct {
	Options

	ctx context.Context //nolint:containedctx // of this one request
}

type searchInput struct {
	Text string `json:"text" jsonschema:"an ID such as 0.0.1234, an EVM address, a hash, a time, or the start of a name"`
}

// search is the tool that searches the ledger. It returns the JSON response of searchDocument, or the error of
// [tools.ask].
func (t *tools) search(in searchInput) (string, error) {
	return t.ask(searchDocument, map[string]any{"text": in.Text})
}

type queryInput struct {
	Query     string         `json:"query" jsonschema:"a GraphQL document with one query"`
	Variables map[string]any `json:"variables,omitempty" jsonschema:"the values of its variables"`
}

// query is the tool that runs the client's own GraphQL document with its variables. Mutations fail. It returns the
// JSON response, or the error of [tools.ask].
func (t *tools) query(in queryInput) (string, error) { return t.ask(in.Query, in.Variables) }

// status is the tool that returns the JSON response of statusDocument: version, limits, newest block and network. Its
// errors are those of [tools.ask].
func (t *tools) status(struct{}) (string, error) { return t.ask(statusDocument, nil) }

type describeInput struct {
	Name string `json:"name,omitempty" jsonschema:"a type such as Account, or a field such as Query.account"`
}

// describe is the tool that returns the definition of a GraphQL type or of one field as SDL. Without a name it
// returns the fields of Query, without their arguments. It reads the schema only, and fails for an unknown name or
// if introspection is off.
func (t *tools) describe(in describeInput) (string, error) {
	if t.Schema == nil {
		return "", errors.New("the schema of this gateway is not public")
	}
	name, field, _ := strings.Cut(in.Name, ".")
	if name == "" {
		name = t.Schema.Query.Name
	}
	def := t.Schema.Types[name]
	if def == nil {
		return "", fmt.Errorf("there is no type %q", name)
	}
	described := *def
	if field != "" {
		f := def.Fields.ForName(field)
		if f == nil {
			return "", fmt.Errorf("the type %s has no field %q", name, field)
		}
		described.Fields = ast.FieldList{f}
	} else if name == t.Schema.Query.Name { // its arguments would be too long
		described.Fields = nil
		for _, f := range def.Fields {
			short := *f
			short.Arguments = nil
			described.Fields = append(described.Fields, &short)
		}
	}
	var text strings.Builder
	formatter.NewFormatter(&text, formatter.WithIndent("  ")).
		FormatSchemaDocument(&ast.SchemaDocument{Definitions: ast.DefinitionList{&described}})
	return text.String(), nil
}

type explainInput struct {
	Path string `json:"path" jsonschema:"the path with its query string, after POST for an endpoint with a body"`
}

// explain is the tool that returns the GraphQL document of a path of the REST API, with its variables inserted. It
// executes nothing. For an endpoint with a body it uses the example of the body. A path that the API would reject is
// an error.
func (t *tools) explain(in explainInput) (string, error) {
	x, err := t.Explain(t.ctx, in.Path, nil)
	if err != nil {
		return "", fmt.Errorf("explaining the path: %w", err)
	}
	return x.Standalone, nil
}

// ask sends a GraphQL request to the server in this process, with the context of the MCP request, and returns the
// body of the response. That may report errors beside the data. A response without data is an error whose text is
// that body. The request has no token, so mutations fail, and streams are refused.
func (t *tools) ask(query string, variables map[string]any) (string, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return "", fmt.Errorf("encoding the variables: %w", err)
	}
	r, err := http.NewRequestWithContext(t.ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("creating a request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	w := &memory{header: http.Header{}}
	t.Graph.ServeHTTP(w, r)
	if response := w.body.String(); strings.HasPrefix(response, `{"data":{`) {
		return response, nil
	}
	return "", errors.New(w.body.String())
}

// memory is a response in memory.
type memory struct {
	header http.Header
	body   strings.Builder
}

// Header returns the headers of the response in memory, which the handler sets and nobody reads.
func (m *memory) Header() http.Header { return m.header }

// Write appends to the body of the response in memory, for [tools.ask]. It never fails.
func (m *memory) Write(b []byte) (int, error) { return m.body.Write(b) } //nolint:wrapcheck // never fails

// WriteHeader ignores the status of the response in memory, because the body says whether the request failed.
func (m *memory) WriteHeader(int) {}

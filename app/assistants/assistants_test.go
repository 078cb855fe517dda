package assistants_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"heliograph/app/gateway"
	"heliograph/app/testing/testenv"
)

// connect returns a session of the client of the protocol's library.
func connect(t *testing.T, g *testenv.Gateway) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	to := &mcp.StreamableClientTransport{Endpoint: g.URL + "/mcp", MaxRetries: -1}
	session, err := client.Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	p, ok := got.Content[0].(*mcp.TextContent)
	if !ok || len(got.Content) != 1 {
		t.Fatalf("%s: %+v", tool, got.Content)
	}
	return p.Text, got.IsError
}

func withTools(change func(*gateway.GraphOptions)) testenv.Option {
	return func(o *testenv.Options) {
		o.Graph.MCP = true
		change(&o.Graph)
	}
}

// TestTools calls each tool.
func TestTools(t *testing.T) {
	t.Parallel()
	s := connect(t, testenv.Demo(t, withTools(func(o *gateway.GraphOptions) { o.Bounds.Cost = 300 })))
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 5 {
		t.Fatalf("%v: %+v", err, tools)
	}
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
		failed    bool
	}{
		{"search", map[string]any{"text": "0.0.1001"}, `"entityId":"0.0.1001"`, false},
		{"search", map[string]any{"text": "nothing has this name"}, `{"data":{"search":{"nodes":[]}}}`, false},
		{"search", map[string]any{}, `text`, true},
		{"describe_type", map[string]any{}, "accountsByIds: [Account]!", false},
		{"describe_type", map[string]any{"name": "Query.account"}, "id: AccountRef!", false},
		{"describe_type", map[string]any{"name": "Order"}, "DESC", false},
		{"describe_type", map[string]any{"name": "Nothing"}, `no type "Nothing"`, true},
		{"describe_type", map[string]any{"name": "Account.nothing"}, `no field "nothing"`, true},
		{
			"query",
			map[string]any{
				"query":     `query($id: AccountRef!) { account(id: $id) { entityId } }`,
				"variables": map[string]any{"id": "0.0.2"},
			},
			`{"data":{"account":{"entityId":"0.0.2"}}}`, false,
		},
		{"query", map[string]any{"query": `{ nothing }`}, "Cannot query field", true},
		{
			"query",
			map[string]any{"query": `{ accounts(first: 100) { nodes { tokens(first: 100) { nodes { balance } } } } }`},
			"QUERY_TOO_COMPLEX", true,
		},
		{
			"query",
			map[string]any{"query": `subscription { topicMessages(topic: "4001") { text } }`},
			"requires Accept", true,
		},
		{
			"query",
			map[string]any{"query": `mutation { removeIncident(input: {code: "x"}) { __typename } }`},
			`"errors"`, true,
		},
		{"explain_rest", map[string]any{"path": "/api/v1/accounts/0.0.2"}, "account(", false},
		{"explain_rest", map[string]any{"path": "/api/v1/nothing"}, "explaining the path", true},
		{"status", map[string]any{}, `"compatibility":"0.167"`, false},
	} {
		if text, failed := call(t, s, c.tool, c.arguments); failed != c.failed || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: failed %t, %.300s", c.tool, c.arguments, failed, text)
		}
	}
}

// TestToolLimits checks that tools are off by default, and have the rates and the permissions of the graph.
func TestToolLimits(t *testing.T) {
	t.Parallel()
	got := testenv.Shared(t).Do(t, http.MethodPost, "/mcp", `{}`, "Content-Type: application/json")
	if got.Status != http.StatusNotFound {
		t.Errorf("off by default: %d", got.Status)
	}
	limited := connect(t, testenv.Demo(t, withTools(func(*gateway.GraphOptions) {}),
		func(o *testenv.Options) { o.Rates = gateway.RateOptions{PerMinute: 20} }))
	query := map[string]any{
		"query": `{ accounts(first: 100) { nodes { transactions(first: 40) { nodes { type } } } } }`,
	}
	if text, failed := call(t, limited, "query", query); !failed || !strings.Contains(text, "RATE_LIMITED") {
		t.Errorf("%.300s", text)
	}
	hidden := connect(t, testenv.Demo(t, withTools(func(o *gateway.GraphOptions) {
		o.IntrospectionOff, o.OnlyTrusted = true, true
	})))
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
		failed    bool
	}{
		{"describe_type", map[string]any{}, "not public", true},
		{"query", map[string]any{"query": "{ __typename }"}, "FORBIDDEN", true},
		{"search", map[string]any{"text": "0.0.2"}, `"0.0.2"`, false},
		{"status", map[string]any{}, "compatibility", false},
	} {
		if text, failed := call(t, hidden, c.tool, c.arguments); !strings.Contains(text, c.want) || failed != c.failed {
			t.Errorf("%s: %.300s", c.tool, text)
		}
	}
}

// TestTexts checks that the documents are served, and that all links of the list lead to one.
func TestTexts(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	index := g.Get(t, "/llms.txt")
	if index.Status != http.StatusOK || !strings.HasPrefix(index.Body, "# Heliograph\n\n> ") ||
		index.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
		t.Fatalf("%d %v: %.300s", index.Status, index.Header, index.Body)
	}
	links := regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(index.Body, -1)
	full := g.Get(t, "/llms-full.txt").Body
	for _, link := range links {
		document := g.Get(t, link[1])
		if document.Status != http.StatusOK || !strings.Contains(document.Body, "# ") ||
			!strings.Contains(full, document.Body) {
			t.Errorf("%s: %d %.100s", link[1], document.Status, document.Body)
		}
	}
	if len(links) < 15 || len(full) < 200_000 {
		t.Errorf("%d links, %d bytes", len(links), len(full))
	}
	for _, path := range []string{"/docs/", "/docs/docs.go", "/docs/nothing.md", "/docs/../go.mod"} {
		if got := g.Get(t, path); got.Status == http.StatusOK && strings.Contains(got.Body, "package docs") {
			t.Errorf("%s: %.100s", path, got.Body)
		}
	}
}

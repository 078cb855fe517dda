// Package v1 is the mirror REST API under /api/v1. An endpoint is a row of a table and a document. The functions that
// the rows refer to are declared beside their table, one file per resource.
package v1

import (
	"cmp"
	"embed"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"heliograph/graph"
	"heliograph/graph/rowplan"
	"heliograph/graph/server"
	"heliograph/rest"
)

//go:embed documents/*.graphql
var documents embed.FS

// Prefix is where the API is served.
const Prefix = "/api/v1"

// The max-age of responses in seconds. Most show current data; single transactions, blocks and messages do not change.
const (
	shortAge     = 1
	immutableAge = 600
)

// Endpoints returns new descriptions of all endpoints of /api/v1, for [rest.API], and reads nothing. feeBody is the
// maximum size in bytes of a transaction whose fee is estimated.
func Endpoints(feeBody int64) []rest.Endpoint {
	return slices.Concat(
		coreEndpoints(),
		networkEndpoints(),
		feeEndpoints(feeBody),
		scheduleEndpoints(),
		contractEndpoints(),
		contractResultEndpoints(),
		callEndpoints(),
		allowanceEndpoints(),
		hookEndpoints(),
		tokenEndpoints(),
		accountListEndpoints(),
	)
}

// coreEndpoints returns the descriptions of the endpoints of accounts, balances, blocks, topics and transactions.
func coreEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/accounts", Grammar: rest.InOrder, Params: accountsParams, Document: "accounts.graphql",
			Finish: finishAccounts, Next: byAccount, MaxAge: 10,
		},
		{
			Path: "/accounts/{idOrAliasOrEvmAddress}", Grammar: rest.ByGroup, Params: accountParams,
			Document: "account.graphql", Operation: always("Account"),
			BindPath: bindAccount, Desc: true, Next: byTimestamp, Finish: finishAccount,
			NotFound: missingAccount, MaxAge: 2,
		},
		{
			Path: "/balances", Grammar: rest.InOrder, Params: balancesParams, Document: "balances.graphql",
			Desc: true, Next: byAccount, Finish: finishBalances, MaxAge: shortAge,
		},
		{
			Path: "/blocks", Grammar: rest.ByGroup, Params: blocksParams, Document: "blocks.graphql",
			Desc: true, Next: byBlockNumber, Finish: finishBlocks, MaxAge: shortAge,
		},
		{
			Path: "/blocks/{hashOrNumber}", Grammar: rest.InOrder, Document: "block.graphql", BindPath: bindBlock,
			MaxAge: immutableAge,
		},
		{Path: "/topics/{id}", Family: rest.Modern, Document: "topic.graphql", PathParams: topicPath, MaxAge: 5},
		{
			Path: "/topics/{id}/messages", Grammar: rest.ByGroup, Options: pathFirst,
			Params:   topicMessagesParams,
			Document: "topic_messages.graphql", Operation: messageOperation,
			BindPath: bindTopic, Next: byTimestamp, MaxAge: shortAge,
		},
		{
			Path: "/topics/{id}/messages/{sequenceNumber}", Grammar: rest.InOrder, Document: "topic_message.graphql",
			BindPath: bindMessage, MaxAge: immutableAge,
		},
		{
			Path: "/topics/messages/{consensusTimestamp}", Grammar: rest.InOrder, Document: "topic_message.graphql",
			BindPath: bindMessageTime, MaxAge: immutableAge,
		},
		{
			Path: "/transactions", Grammar: rest.ByGroup, Params: transactionsParams, Document: "transactions.graphql",
			Operation: always("Transactions"),
			Desc:      true, Next: byTimestamp, Finish: finishTransactions, MaxAge: 2,
		},
		{
			Path: "/transactions/{transactionIdOrHash}", Grammar: rest.ByGroup, Params: transactionParams,
			Document: "transaction.graphql",
			BindPath: bindTransaction,
			Options:  rest.Options{OmitEmpty: []string{"assessed_custom_fees"}, MaxAgeVolatile: 5},
			MaxAge:   immutableAge,
		},
	}
}

// New returns the API /api/v1, which runs its documents on srv. It reads no database, and fails if an embedded
// document is invalid.
func New(cfg *rest.Config, srv *server.Server) (*rest.API, error) {
	api := &rest.API{
		Prefix: Prefix, Endpoints: Endpoints(cmp.Or(cfg.FeeBodyBytes, DefaultFeeBody)), Documents: documents,
		Config: cfg, Server: srv,
		Wording: rest.Wording{Missing: missingText, Error: errorText},
	}
	if err := api.Init(); err != nil {
		return nil, err
	}
	return api, nil
}

// The OpenAPI document, which rest/generate writes.
var (
	//go:embed openapi.json
	openAPIJSON string
	//go:embed openapi.yml
	openAPIYAML string
)

// OpenAPI returns the OpenAPI document of /api/v1 as JSON and as YAML, with the settings of cfg. version is the
// version of the gateway.
func OpenAPI(cfg *rest.Config, version string) (json, yaml []byte) {
	return cfg.FillOpenAPI(openAPIJSON, version), cfg.FillOpenAPI(openAPIYAML, version)
}

// NewOffline returns the API over a graph without a database, for generators and tests. It can be described but cannot
// serve requests. It changes cfg: it switches all abilities on. It fails if the schema or an embedded document is
// invalid.
func NewOffline(cfg *rest.Config) (*rest.API, error) {
	cfg.Prestate, cfg.TracesOff = true, false
	srv, err := server.New(server.Options{
		Schema: graph.NewExecutableSchema(graph.Config{}), Tables: rowplan.NewTables(nil),
		Settings: server.Settings{DocumentBytes: 1 << 20}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, fmt.Errorf("making a graph without resolvers: %w", err)
	}
	return New(cfg, srv)
}

// pathFirst are the options of most paths with an object and a query string.
var pathFirst = rest.Options{PathFirst: true}

// The sort keys of lists, by which links.next continues.
var (
	byAccount     = []rest.Cursor{rest.EntityIDCursor("account.id")}
	byTimestamp   = []rest.Cursor{rest.TimestampCursor("timestamp")}
	byBlockNumber = []rest.Cursor{rest.NumberCursor("block.number")}
)

// limit and order are parameters of every list.
var (
	limit = rest.Param{
		Name: "limit", Kind: rest.Long(1), Bind: bindLimit,
		Doc: "The maximum number of items. Values above the maximum page size are reduced to it.", Single: true,
	}
	order = rest.Param{
		Name: "order", Kind: rest.OneOf("asc", "desc"), Bind: bindOrder,
		Doc: "Sort direction: ascending or descending.",
	}
)

// always returns a function that selects the given operation for every request.
func always(operation string) func(*rest.Request) string {
	return func(*rest.Request) string { return operation }
}

// bindLimit sets the page size of the request to the last value, reduced to the maximum. The maximum does not apply
// to the default. With the grammar [rest.InOrder], an operator is a 400.
func bindLimit(r *rest.Request, values []rest.Value) error {
	v := values[len(values)-1]
	if r.Endpoint.Grammar == rest.InOrder && v.Given {
		return rest.InvalidParameter("limit")
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return rest.InvalidParameter("limit")
	}
	r.Limit = int(min(n, int64(r.MaxLimit())))
	return nil
}

// bindOrder sets the order of the request to the last value. With the grammar [rest.InOrder], it ignores a value with
// an operator and repeated values: the default applies.
func bindOrder(r *rest.Request, values []rest.Value) error {
	if r.Endpoint.Grammar == rest.InOrder && (len(r.Query.Get("order")) > 1 || values[0].Given) {
		return nil
	}
	r.Desc = strings.EqualFold(values[len(values)-1].Text, "desc")
	return nil
}

// withPath returns a copy of the endpoint with another path.
func withPath(e rest.Endpoint, path string) rest.Endpoint {
	e.Path = path
	return e
}

// undocumented returns a copy of the endpoint that the OpenAPI document omits.
func undocumented(e rest.Endpoint) rest.Endpoint {
	e.Undocumented = true
	return e
}

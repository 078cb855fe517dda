// Package v1 is the mirror REST API: /api/v1. Each endpoint is a row of the table below and one document; what the rows name is defined beside
// it, one file a resource.
package v1

import (
	"embed"
	"slices"

	"heliograph/graph/server"
	"heliograph/rest"
)

//go:embed documents/*.graphql
var documents embed.FS

// Prefix is where the API is served.
const Prefix = "/api/v1"

// Seconds for which answers may be kept: most are about the present; single transactions, blocks and messages are history.
const (
	brief   = 1
	history = 600
)

// endpoints is the whole API.
func endpoints() []rest.Endpoint {
	return slices.Concat(
		coreEndpoints(),
		networkEndpoints(),
		feeEndpoints(),
		scheduleEndpoints(),
		contractEndpoints(),
		contractResultEndpoints(),
		callEndpoints(),
		grantEndpoints(),
		hookEndpoints(),
		tokenEndpoints(),
		accountListEndpoints(),
	)
}

// coreEndpoints are accounts, balances, blocks, topics and transactions.
func coreEndpoints() []rest.Endpoint {
	return []rest.Endpoint{
		{
			Path: "/accounts", Grammar: rest.V1, Params: accountsParams, Document: "accounts.graphql",
			Finish: finishAccounts, Next: byAccount, MaxAge: 10,
		},
		{
			Path: "/accounts/{idOrAliasOrEvmAddress}", Grammar: rest.V2, Params: accountParams, Document: "account.graphql", Operation: always("Account"),
			BindPath: bindAccount, Desc: true, Finish: finishAccount, Next: byTimestamp, NotFound: missingAccount, MaxAge: 2,
		},
		{
			Path: "/balances", Grammar: rest.V1, Params: balancesParams, Document: "balances.graphql",
			Desc: true, Finish: finishBalances, Next: byAccount, MaxAge: brief,
		},
		{
			Path: "/blocks", Grammar: rest.V2, Params: blocksParams, Document: "blocks.graphql",
			Desc: true, Finish: finishBlocks, Next: byBlockNumber, MaxAge: brief,
		},
		{
			Path: "/blocks/{hashOrNumber}", Grammar: rest.V1, Document: "block.graphql",
			BindPath: bindBlock, MaxAge: history,
		},
		{
			Path: "/topics/{id}", Family: rest.Modern, Document: "topic.graphql",
			PathParams: topicPath, MaxAge: 5,
		},
		{
			Path: "/topics/{id}/messages", Grammar: rest.V2, Params: topicMessagesParams, Document: "topic_messages.graphql", Operation: messageOperation,
			PathFirst: true, BindPath: bindTopic, Next: byTimestamp, MaxAge: brief,
		},
		{
			Path: "/topics/{id}/messages/{sequenceNumber}", Grammar: rest.V1, Document: "topic_message.graphql",
			BindPath: bindMessage, MaxAge: history,
		},
		{
			Path: "/topics/messages/{consensusTimestamp}", Grammar: rest.V1, Document: "topic_message.graphql",
			BindPath: bindMessageTime, MaxAge: history,
		},
		{
			Path: "/transactions", Grammar: rest.V2, Params: transactionsParams, Document: "transactions.graphql", Operation: always("Transactions"),
			Desc: true, Finish: finishTransactions, Next: byTimestamp, MaxAge: 2,
		},
		{
			Path: "/transactions/{transactionIdOrHash}", Grammar: rest.V2, Params: transactionParams, Document: "transaction.graphql",
			BindPath: bindTransaction, OmitEmpty: []string{"assessed_custom_fees"}, MaxAge: history, MaxAgeVolatile: 5,
		},
	}
}

// New makes the API.
func New(cfg *rest.Config, srv *server.Server) (*rest.API, error) {
	api := &rest.API{
		Prefix: Prefix, Endpoints: endpoints(), PathDocs: pathDocs(), Documents: documents, Config: cfg, Server: srv,
		Wording: rest.Wording{Missing: missingText, Error: errorText},
	}
	if err := api.Init(); err != nil {
		return nil, err
	}
	return api, nil
}

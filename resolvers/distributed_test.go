package resolvers_test

import (
	"os"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
)

// distributed returns the URL of the demo network in distributed tables: on one server, or on the Citus cluster at
// HELIOGRAPH_TEST_CITUS_URL, into which TestRecordCitus of rest/v1 has loaded it.
func distributed(t *testing.T) string {
	t.Helper()
	if url := os.Getenv("HELIOGRAPH_TEST_CITUS_URL"); url != "" {
		return url
	}
	url := testenv.Filled.Fresh(t)
	if err := pgtest.Distributed(t.Context(), url, migrations.Distribution()); err != nil {
		t.Fatal(err)
	}
	return url
}

// TestKeyByKey tests that the statements for distributed tables give the responses of those for PostgreSQL, for fields
// that no REST document has.
func TestKeyByKey(t *testing.T) {
	t.Parallel()
	plain, distributed := testenv.Shared(t), testenv.Over(t, distributed(t))
	for name, document := range map[string]string{
		"counterparties": `{ account(id: 1001) { transfers(first: 25) { nodes { amount fee token { symbol } ` +
			`counterparties { amount accountId } fees { amount } } } } }`,
		"nested counts": `{ accounts(first: 20) { nodes { nfts(first: 1) { totalCount { value exact } } tokens(first: 1) { totalCount { value exact } }
			schedules(first: 1, filter: {state: PENDING}) { totalCount { value exact } } } } }`,
		"joined chunks": `{ topicMessages(topic: 4001, joinChunks: true) { totalCount { value } nodes { sequenceNumber message } }
			topic(id: 4001) { messages(joinChunks: true, order: DESC) { totalCount { value } nodes { sequenceNumber message } } } }`,
		"nodes": `{ network { nodes { nodes { nodeId account { node { nodeId } } serviceEndpoints { port } ` +
			`registeredNodes { registeredNodeId networkNodes { nodeId } } } } } }`,
		"holders": `{ token(id: 2001) { holders(first: 10, order: DESC) { nodes { accountId balance } } } }`,
		"results": `{ contract(id: 3001) { results(first: 10) { nodes { hash callData transaction { name: type } ` +
			`logs { data } } } } }`,
		"search":  `{ search(text: "1001") { nodes { __typename } } }`,
		"history": `{ account(id: 1001) { history(first: 5) { nodes { changes { field before } } } } }`,
	} {
		want, got := plain.Query(t, document, nil).Body, distributed.Query(t, document, nil).Body
		if want != got || strings.Contains(want, `"errors"`) {
			t.Errorf("%s:\n got %.1000s\nwant %.1000s", name, got, want)
		}
	}
}

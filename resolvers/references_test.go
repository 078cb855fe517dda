package resolvers_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestReferences reads ids with the objects that they identify. The alias of an object is that of its id with the
// prefix of_.
func TestReferences(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for name, query := range map[string]string{
		"transfers": `{ transactions(first: 100) { nodes { transfers { id: accountId of_id: account { entityId } }
			tokenTransfers { token: tokenId of_token: token { entityId } account: accountId of_account: account { entityId } }
			assessedCustomFees { collector: collectorAccountId of_collector: collectorAccount { entityId } token: tokenId of_token: token { entityId } } } } }`,
		"limits": `{ transactions(first: 100, order: ASC, filter: {types: [CONSENSUSSUBMITMESSAGE]}) { nodes { maxCustomFees {
			account: accountId of_account: account { entityId } token: denominatingTokenId of_token: denominatingToken { entityId } } } } }`,
		"fees": `{ tokens(first: 100) { nodes { customFees {
			fractionalFees { token: denominatingTokenId of_token: denominatingToken { entityId } collector: collectorAccountId of_collector: collectorAccount { entityId } }
			royaltyFees { fallbackFee { token: denominatingTokenId of_token: denominatingToken { entityId } } } } } } }`,
		"chunks": `{ topicMessages(topic: "0.0.4001", first: 100) { nodes { chunkInfo {
			initialTransactionId { id: accountId of_id: account { entityId } } } } } }`,
		"spenders": `{ nfts(first: 100) { nodes { id: delegatingSpenderId of_id: delegatingSpender { entityId } ` +
			`owner: ownerId of_owner: owner { entityId } } } }`,
		"state": `{ contracts(first: 100) { nodes { proxy: proxyAccountId of_proxy: proxyAccount { entityId }
			state(first: 5) { nodes { id: contractId of_id: contract { entityId } } } } } }`,
		"changes": `{ contractResults(first: 100) { nodes { stateChanges { id: contractId of_id: contract { ` +
			`entityId } } } } }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(map[string]string{"query": query})
			if err != nil {
				t.Fatal(err)
			}
			got := g.Do(t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json")
			var response struct{ Data, Errors any }
			testenv.Decode(t, got.Body, &response)
			if response.Errors != nil {
				t.Fatal(got.Body)
			}
			checked := 0
			var visit func(any)
			visit = func(v any) {
				switch v := v.(type) {
				case []any:
					for _, element := range v {
						visit(element)
					}
				case map[string]any:
					for member, value := range v {
						visit(value)
						id, isID := strings.CutPrefix(member, "of_")
						object, found := value.(map[string]any)
						switch {
						case !isID:
						case found && object["entityId"] != v[id]:
							t.Errorf("%s is %v, but its object is %v", id, v[id], object)
						case found:
							checked++
						}
					}
				}
			}
			visit(response.Data)
			if checked == 0 {
				t.Errorf("no id has an object: %.500s", got.Body)
			}
		})
	}
}

// TestFailedPlaces checks that an object is read for one root field if another one that was to read it fails.
func TestFailedPlaces(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const id = "QWNjb3VudDowLjAuMTAwMQ" // Account:0.0.1001
	for range 20 {
		got := g.Query(t, `{
			a: node(id: "`+id+`") { ... on Account { stakedAccount { memo } rewards(first: -1) { nodes { amount } } } }
			b: node(id: "`+id+`") { ... on Account { memo stakedAccount { memo } contract { memo } } }
			c: node(id: "QWNjb3VudDpub25l") { id }
			d: account(id: "0.0.1001") { memo stakedAccount { memo } } }`, nil)
		if !strings.Contains(got.Body, `"a":null`) || !strings.Contains(got.Body, `"b":{"memo":`) ||
			!strings.Contains(got.Body, `"d":{"memo":`) || strings.Count(got.Body, `"message"`) != 2 {
			t.Fatal(got.Body)
		}
	}
}

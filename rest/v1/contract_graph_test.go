package v1_test

import (
	"net/http"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// TestContractsInGraphQL runs GraphQL queries for the data behind the REST API and for data that only the graph has.
func TestContractsInGraphQL(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	const supply = `data: "0x18160ddd"`
	for _, c := range []struct{ query, want string }{
		{
			`{ callContract(input: {to: "0x` + coinAddress + `", ` + supply +
				`}) { output gasUsed failure { code } } }`,
			`{"data":{"callContract":{` +
				`"output":"0x0000000000000000000000000000000000000000000000000000000005f5e100","gasUsed":"23404",` +
				`"failure":null}}}`,
		},
		{
			`{ contract(id: "0.0.3001") { call(` + supply + `, block: "earliest") { output blockNumber } } }`,
			`{"data":{"contract":{"call":{"output":"0x","blockNumber":"0"}}}}`,
		},
		{
			`{ callContract(input: {to: "0x` + coinAddress +
				`", data: "0x01020304"}) { output failure { code reason data children } } }`,
			`{"data":{"callContract":{"output":null,"failure":{"code":"CONTRACT_REVERT_EXECUTED","reason":null,` +
				`"data":"0x","children":[]}}}}`,
		},
		{
			`{ estimateGas(input: {to: "0x` + coinAddress + `", ` + supply + `}) { gas gasHex failure { code } } }`,
			`{"data":{"estimateGas":{"gas":"24757","gasHex":"0x00000000000060b5","failure":null}}}`,
		},
		{`{ callContract(input: {to: "0x12"}) { output } }`, `"code":"BAD_USER_INPUT"`},
		{
			`{ callContract(input: {to: "0x` + strings.Repeat("0", 37) + `7d1", ` + supply + `}) { output } }`,
			`000952839be400"`,
		},
		{
			`{ callContract(input: {to: "0x` + strings.Repeat("0", 36) + `1389", data: "0x06d15889"}) { output } }`,
			`0000d5"`,
		}, // already executed
		{
			`{ contractTrace(contract: "0.0.3001", first: 1) { contractId failed opcodes { depth op pc gasCost ` +
				`stack memory storage { key } reason } } }`,
			`{"data":{"contractTrace":{"contractId":"0.0.3001","failed":false,"opcodes":[{"depth":0,"op":"PUSH1",` +
				`"pc":"0","gasCost":"3","stack":["0x` + strings.Repeat("0", 62) + `80"],"memory":[],"storage":[],` +
				`"reason":null}]}}}`,
		},
		{`{ contractTrace(contract: "0.0.3001", first: -1) { gas } }`, `"code":"BAD_USER_INPUT"`},
		{`{ contractResults(first: 1, filter: {contractId: {eq: "0.0.3001"}}) { nodes { trace(first: 0) { steps ` +
			`opcodes { op } } } } }`, `"opcodes":[]`},
	} {
		query := strings.ReplaceAll(c.query, `"`, `\"`)
		got := g.Do(t, http.MethodPost, "/graphql", `{"query":"`+query+`"}`, "Content-Type: application/json")
		if !strings.Contains(got.Body, c.want) {
			t.Errorf("%s\n%s", c.query, testenv.Diff(c.want, got.Body))
		}
	}
}

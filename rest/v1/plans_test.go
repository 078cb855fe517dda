//go:build slow

package v1_test

import (
	"net/http"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	v1 "heliograph/rest/v1"
	"heliograph/storage/pgtest"
)

// largeTables returns the tables that no list may scan sequentially.
func largeTables() []string {
	return []string{
		"entity", "token", "token_account", "nft", "nft_history", "crypto_allowance", "token_allowance",
		"nft_allowance", "token_airdrop", "hook", "hook_storage",
		"hook_storage_change", "staking_reward_transfer", "transaction", "transaction_hash", "crypto_transfer",
		"token_transfer", "record_file",
		"contract_result", "contract_log", "contract_action", "contract_transaction", "contract_transaction_hash",
		"ethereum_transaction", "contract_state",
		"contract_state_change", "topic_message", "custom_fee", "schedule", "transaction_signature", "account_balance",
		"token_balance", "file_data",
	}
}

// TestPlansOfLists requests every list with its parameters from a database with many rows and explains all statements.
// They must use indexes and read few more rows than the page has, at any position in the list.
func TestPlansOfLists(t *testing.T) {
	t.Parallel()
	url := crowded.Shared(t)
	const usual = 130 // the page and one more row, from each of several sources, and the joined rows
	for request, most := range map[string]float64{
		// although the newest entities are 20,000 schedules
		"/accounts": usual, "/accounts?order=desc": usual, "/balances": usual,
		"/accounts?account.id=gt:20000": usual, "/accounts?account.id=2000&account.id=3000": usual,
		"/accounts?account.balance=gt:5000":           5000,
		"/accounts?account.publickey=<key>":           usual,
		"/accounts/1001":                              1100,
		"/accounts/1001?timestamp=lt:1700000300":      500,
		"/accounts/1001?transactiontype=CONTRACTCALL": 1100,
		"/accounts/1001/nfts":                         usual, "/accounts/1001/nfts?token.id=50002": usual,
		"/accounts/1001/nfts?token.id=gte:50002&serialnumber=gt:10000&order=asc":       usual,
		"/accounts/1001/nfts?spender.id=1100":                                          usual,
		"/accounts/1001/nfts?token.id=50002&serialnumber=lt:10000":                     usual,
		"/accounts/1001/rewards":                                                       usual,
		"/accounts/1001/rewards?timestamp=lt:1700000300":                               usual,
		"/accounts/1001/rewards?timestamp=gte:1700000300&order=asc":                    usual,
		"/accounts/1001/tokens":                                                        usual,
		"/accounts/1001/tokens?token.id=gt:52000":                                      usual,
		"/accounts/1001/tokens?token.id=52000&token.id=52001":                          usual,
		"/accounts/1001/allowances/crypto":                                             usual,
		"/accounts/1001/allowances/crypto?spender.id=lt:4000":                          usual,
		"/accounts/1001/allowances/crypto?spender.id=4000":                             usual,
		"/accounts/1001/allowances/tokens":                                             usual,
		"/accounts/1001/allowances/tokens?spender.id=2500":                             usual,
		"/accounts/1001/allowances/tokens?spender.id=gte:2500&token.id=gte:50003":      usual,
		"/accounts/1001/allowances/nfts":                                               usual,
		"/accounts/1001/allowances/nfts?account.id=gte:2500&token.id=gt:50003":         usual,
		"/accounts/1002/allowances/nfts?owner=false":                                   usual,
		"/accounts/1001/airdrops/outstanding":                                          usual,
		"/accounts/1001/airdrops/outstanding?receiver.id=gte:2500&token.id=gt:50003":   usual,
		"/accounts/1002/airdrops/pending":                                              usual,
		"/accounts/1002/airdrops/pending?sender.id=gt:1001":                            usual,
		"/accounts/1001/hooks":                                                         usual,
		"/accounts/1001/hooks?hook.id=lt:2500":                                         usual,
		"/accounts/1500/hooks?hook.id=1&hook.id=2":                                     usual,
		"/accounts/1001/hooks/1/storage":                                               usual,
		"/accounts/1001/hooks/1/storage?key=gt:0x9c4":                                  usual,
		"/accounts/1001/hooks/1/storage?timestamp=1700000300":                          usual,
		"/accounts/1001/hooks/1/storage?timestamp=1700000300&key=gte:0x9c4&order=desc": usual,
		"/balances?account.id=lt:20000":                                                usual,
		"/balances?account.id=2000&account.id=3000":                                    usual,
		"/balances?account.publickey=<key>":                                            usual,
		"/balances?timestamp=1700000600":                                               usual,
		"/balances?timestamp=1700000600&account.id=lt:20000":                           usual,
		"/tokens": usual, "/tokens?token.id=gt:52000": usual, "/tokens?token.id=52000": usual,
		"/tokens?account.id=1001": usual, "/tokens?publickey=<token-key>": usual,
		"/tokens?type=NON_FUNGIBLE_UNIQUE": usual, "/tokens?name=<name>": usual, "/tokens?order=desc": usual,
		"/tokens/50001":          usual,
		"/tokens/50001/balances": usual, "/tokens/50001/balances?account.id=lt:20000": usual,
		"/tokens/50001/balances?account.balance=gt:2000": usual,
		"/tokens/50001/balances?account.publickey=<key>": usual, "/tokens/50001/balances?timestamp=1700000600": usual,
		"/tokens/50001/balances?timestamp=1700000600&account.id=lt:20000": usual,
		"/tokens/50002/nfts": usual, "/tokens/50002/nfts?serialnumber=lt:10000": usual,
		"/tokens/50002/nfts?account.id=1002": 600,
		"/tokens/50002/nfts/7/transactions":  400, "/tokens/50002/nfts/7/transactions?timestamp=lt:1700000300": 400,
		"/transactions": usual, "/transactions?order=asc": usual, "/transactions?timestamp=lt:1700000300": usual,
		"/transactions?timestamp=gte:1700000300&order=asc": usual,
		"/transactions?transactiontype=CONTRACTCALL":       usual, "/transactions?transactiontype=TOKENMINT": usual,
		"/transactions?result=fail":     1500,
		"/transactions?account.id=1001": usual, "/transactions?account.id=1001&timestamp=lt:1700000300": 500,
		"/transactions?account.id=1001&transactiontype=CONTRACTCALL": 300,
		"/transactions?account.id=1001&type=debit":                   3100, "/transactions?account.id=98": 200,
		"/transactions?account.id=1001&result=success":        300,
		"/transactions?account.id=1001&result=fail":           1500,
		"/transactions?account.id=1001&result=fail&order=asc": 1500,
		"/transactions/0.0.1001-1700000000-049999999":         usual,
		"/blocks": usual, "/blocks?block.number=lt:10000": usual, "/blocks?timestamp=gte:1700000300&order=asc": usual,
		"/blocks?block.number=gt:1000&timestamp=gte:1700000300&timestamp=lt:1700000400": 7000,
		"/blocks/10000": usual, "/blocks/<block-hash>": usual,
		"/contracts": usual, "/contracts?contract.id=lt:61000": usual, "/contracts?contract.id=61000": usual,
		"/contracts/60001":         usual,
		"/contracts/60001/results": 200, "/contracts/60001/results?timestamp=lt:1700000300": 200,
		"/contracts/60001/results?from=1001": 500, "/contracts/60001/results?internal=true": 200,
		"/contracts/60001/results?block.number=10000": usual,
		"/contracts/results":                          200, "/contracts/results?timestamp=lt:1700000300": 200,
		"/contracts/results?from=1001": 200, "/contracts/results?internal=true": 200,
		"/contracts/results?block.number=10000":                                                         usual,
		"/contracts/results?block.number=10000&transaction.index=1":                                     usual,
		"/contracts/results?block.hash=<block-hash>":                                                    usual,
		"/contracts/results/<result-hash>":                                                              usual,
		"/contracts/results/0.0.1001-1700000000-049999999":                                              usual,
		"/contracts/60001/results/1700000000.030000000":                                                 usual,
		"/contracts/results/<actions-hash>/actions":                                                     usual,
		"/contracts/results/<actions-hash>/actions?index=gt:100":                                        usual,
		"/contracts/60001/state":                                                                        usual,
		"/contracts/60001/state?slot=gt:0x1000":                                                         usual,
		"/contracts/60001/state?slot=0x1000&slot=0x1001":                                                usual,
		"/contracts/60001/state?timestamp=1700000300":                                                   usual,
		"/contracts/60001/state?timestamp=1700000300&slot=gt:0x1000&order=desc":                         usual,
		"/contracts/60001/results/logs":                                                                 200,
		"/contracts/60001/results/logs?timestamp=lt:1700000300":                                         200,
		"/contracts/60001/results/logs?timestamp=lte:1700000300&index=lt:1":                             200,
		"/contracts/60001/results/logs?timestamp=gte:1700000300&timestamp=lt:1700000400&topic0=<topic>": 300,
		"/contracts/results/logs":                                                                       200,
		"/contracts/results/logs?timestamp=lt:1700000300":                                               200,
		"/contracts/results/logs?timestamp=gte:1700000300&timestamp=lt:1700000400&topic0=<topic>":       400,
		"/contracts/results/logs?transaction.hash=<hash>":                                               usual,
		"/schedules": usual, "/schedules?order=desc": usual, "/schedules?schedule.id=gt:90000": usual,
		"/schedules?schedule.id=90000": usual, "/schedules?account.id=1001": 300,
		"/schedules?account.id=lt:1001": usual, "/schedules/90000": usual,
		"/topics/70001": usual, "/topics/70001/messages": usual, "/topics/70001/messages?order=desc": usual,
		"/topics/70001/messages?timestamp=gt:1700000300":            usual,
		"/topics/70001/messages?sequencenumber=gt:20000":            usual,
		"/topics/70001/messages?sequencenumber=lt:20000&order=desc": usual,
		"/topics/70001/messages?sequencenumber=20000":               usual,
		"/topics/70001/messages/20000":                              usual,
		"/topics/messages/1700000300.010000000":                     usual,
		"/network/registered-nodes?registerednode.id=gt:100":        usual,
		"/network/exchangerate?timestamp=1700000300":                usual,
	} {
		t.Run(strings.NewReplacer("/", "_", "?", "_").Replace(strings.Trim(request, "/")), func(t *testing.T) {
			t.Parallel()
			var rec pgtest.Recorder
			g := testenv.Over(t, url, func(o *testenv.Options) {
				o.Storage.Tracer, o.Storage.MaxConnections = &rec, 1
			})
			path := v1.Prefix + request
			for word, sql := range map[string]string{
				"<key>":        `select public_key from entity where id = 2002`,
				"<token-key>":  `select public_key from entity where id = 52000`,
				"<name>":       `select substr(name, 8, 12) from token where token_id = 52000`,
				"<block-hash>": `select hash from record_file where index = 10000`,
				"<hash>": `select encode(transaction_hash, 'hex') from transaction where ` +
					`consensus_timestamp = 1700000300000000000`,
				"<result-hash>": `select encode(transaction_hash, 'hex') from contract_result where ` +
					`consensus_timestamp = 1700000300000000000`,
				"<actions-hash>": `select encode(transaction_hash, 'hex') from contract_result where ` +
					`consensus_timestamp = 1700000000010000000`,
				"<topic>": `select encode(topic0, 'hex') from contract_log where consensus_timestamp = ` +
					`1700000300000000000 and index = 1`,
			} {
				if strings.Contains(path, word) {
					path = strings.ReplaceAll(path, word, texts(t, g, sql)[0])
				}
			}
			rec.Reset()
			got := g.Get(t, path)
			if exists := got.Status == http.StatusOK || got.Status == http.StatusPartialContent; !exists &&
				!strings.HasPrefix(request, "/network/") {
				t.Errorf("status %d: %s", got.Status, got.Body)
			}
			rec.CheckPlans(t, g.DB.Pool(), largeTables(), most)
		})
	}
}

// TestPlansOfStates requests two pages of lists of a past moment from the same database. Their statements must use
// indexes too, although each table is then a union with its history.
func TestPlansOfStates(t *testing.T) {
	t.Parallel()
	url := crowded.Shared(t)
	const usual = 130
	for list, most := range map[string]float64{
		// and the NFTs of the account, whose numbers are balances
		"account(id: 1001) { tokens(PAGE) { nodes { tokenId balance token { name } } PAGES } }":                1100,
		"account(id: 1001) { nfts(PAGE) { nodes { serialNumber deleted } PAGES } }":                            1100,
		"account(id: 1001) { allowances { crypto(PAGE) { nodes { amountGranted spender { memo } } PAGES } } }": usual,
		"account(id: 1001) { allowances { tokens(PAGE) { nodes { amountGranted token { name } } PAGES } } }":   usual,
		"account(id: 1001) { nftAllowances(PAGE) { nodes { token { name } } PAGES } }":                         usual,
		"account(id: 1001) { transactions(PAGE) { nodes { consensusTimestamp } PAGES } }":                      500,
		// and the versions that ended before, of 40,000 in all
		"token(id: 50002) { nfts(PAGE) { nodes { serialNumber deleted owner { memo } } PAGES } }": 40_000,
		"contract(id: 60001) { state(PAGE) { nodes { slot value } PAGES } }":                      10_000,
		"contract(id: 60001) { results(PAGE) { nodes { consensusTimestamp } PAGES } }":            500,
		"contract(id: 60001) { logs(PAGE) { nodes { consensusTimestamp } PAGES } }":               500,
		"topic(id: 70001) { messages(PAGE) { nodes { sequenceNumber } PAGES } }":                  usual,
	} {
		name, _, _ := strings.Cut(strings.ReplaceAll(list, ") { ", "."), "(PAGE")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rec pgtest.Recorder
			g := testenv.Over(t, url, func(o *testenv.Options) {
				o.Storage.Tracer, o.Storage.MaxConnections = &rec, 1
			})
			document := strings.ReplaceAll(list, "PAGES", "pageInfo { endCursor }")
			for range 2 {
				rec.Reset()
				got := g.Query(t, `{ ledger(at: {time: "1700000500"}) { `+
					strings.ReplaceAll(document, "PAGE", "first: 25")+` } }`, nil).Body
				rec.CheckPlans(t, g.DB.Pool(), largeTables(), most)
				_, rest, found := strings.Cut(got, `"endCursor":"`)
				cursor, _, _ := strings.Cut(rest, `"`)
				if !found || strings.Contains(got, `"errors"`) {
					t.Fatalf("no page: %.500s", got)
				}
				document = strings.ReplaceAll(document, "PAGE", `first: 25, after: "`+cursor+`"`)
			}
		})
	}
}

package v1_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
)

// TestNextLinks checks the next links. Paths and links are relative to the prefix. null means no link.
func TestNextLinks(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for path, want := range map[string]string{
		// Single rules: a bound in paging direction is replaced, at its position in a list, or at the end if it is the
		// only value.
		"/accounts?account.id=gte:0.0.300&account.id=lt:0.0.340&limit=6": "/accounts?account.id=lt:0.0.340&" +
			"account.id=gt:0.0.312&limit=6",
		"/accounts?account.id=gt:0.0.300&limit=6": "/accounts?limit=6&account.id=gt:0.0.312",
		"/accounts?limit=6&order=DESC": "/accounts?limit=6&order=desc&" +
			"account.id=lt:0.0.312",
		"/accounts?account.id=312&limit=1&order=asc": "/accounts?account.id=312&limit=1&" +
			"order=asc",
		"/accounts?account.id=lte:0.0.312&account.id=gte:302&limit=6": "null",
		"/accounts?account.id=302&account.id=304&limit=2": "/accounts?account.id=302&" +
			"account.id=304&limit=2",
		"/accounts?account.id=302&account.id=304&limit=3": "null",
		"/accounts?account.id=gte:302&account.id=ne:304&limit=2": "/accounts?account.id=ne:304&" +
			"account.id=gt:0.0.306&limit=2",
		"/accounts?account.id=ne:304&account.id=gt:300&limit=2":  "/accounts?account.id=ne:304&limit=2",
		"/accounts?account.id=gt:300&account.id=gte:301&limit=2": "/accounts?account.id=gt:0.0.304&limit=2",
		"/accounts?account.id[]=gt:300&limit=1":                  "/accounts?account.id=gt:0.0.302&limit=1",
		"/accounts?account.id[0]=gt:300&account.id[7]=lt:310&limit=1": "/accounts?account.id=lt:310&" +
			"account.id=gt:0.0.302&limit=1",
		"/accounts?account.id%5B%5D=lt:310&account.id%5B%5D=gt:300&limit=1": "/accounts?account.id=lt:310&" +
			"account.id=gt:0.0.302&limit=1",
		"/accounts?account.id=lt:310&order=desc&limit=2": "/accounts?order=desc&limit=2&" +
			"account.id=lt:0.0.306",
		"/accounts?account.id=gte:320&limit=2": "/accounts?limit=2&account.id=gt:0.0.322",
		"/accounts?account.id=gte:320&limit=3": "null",
		"/accounts?Account.ID=gt:300&LIMIT=1&account.balance=gt:1": "/accounts?limit=1&" +
			"account.balance=gt:1&account.id=gt:0.0.302",
		"/accounts?account.id=0.302&account.publickey=" + edDER + ed25519Key +
			"&limit=1": "/accounts?account.id=0.302&account.publickey=" + edDER + ed25519Key + "&limit=1",
		"/accounts/?limit=1&account.id=gt:300": "/accounts?limit=1&" +
			"account.id=gt:0.0.302",
		"/Accounts?limit=1&account.id=gt:300": "/Accounts?limit=1&" +
			"account.id=gt:0.0.302",
		"/accounts?account.id=gt:300&limit=1&": "/accounts?limit=1&" +
			"account.id=gt:0.0.302",
		"/accounts?limit=2&limit=1&account.id=gt:300": "/accounts?limit=2&limit=1&" +
			"account.id=gt:0.0.302",
		"/accounts?account.id=gt:300&account.id=lt:9999&account.id=gt:310&limit=1": "/accounts?account.id=lt:9999&" +
			"account.id=gt:0.0.312&limit=1",
		"/accounts?limit=1&order=desc&order=asc&account.id=gt:300": "/accounts?limit=1&order=desc&" +
			"order=asc&account.id=gt:0.0.302",

		"/balances?limit=2":                             "/balances?limit=2&account.id=lt:0.0.320",
		"/balances?timestamp=1700000010&limit=1":        "/balances?timestamp=1700000010&limit=1&account.id=lt:0.0.304",
		"/balances?timestamp=1700000010&limit=3":        "/balances?timestamp=1700000010&limit=3&account.id=lt:0.0.2",
		"/balances?timestamp=1700000010&limit=4":        "null",
		"/balances?account.id=302&limit=1":              "/balances?account.id=302&limit=1",
		"/balances?account.id=gte:302&limit=100":        "null",
		"/balances?order=asc&account.id=gt:300&limit=1": "/balances?order=asc&limit=1&account.id=gt:0.0.302",

		"/blocks?limit=1": "/blocks?limit=1&block.number=lt:41",
		"/blocks?block.number=gt:35&timestamp=lt:1700000040.999999999&order=asc&limit=1": "/blocks?" +
			"timestamp=lt:1700000040.999999999&order=asc&limit=1&block.number=gt:36",
		"/blocks?block.number=41&limit=1": "/blocks?block.number=41&" +
			"limit=1",
		"/blocks?block.number=0x29&limit=1": "/blocks?block." +
			"number=0x29&limit=1",
		"/blocks?block.number=gte:30&limit=12":                     "null",
		"/blocks?block.number=gte:0x1E&block.number=lt:32&limit=2": "null",
		"/blocks?timestamp=1700000041.999999999&limit=1": "/blocks?" +
			"timestamp=1700000041.999999999&limit=1&block.number=lt:41",

		"/topics/700/messages?sequencenumber=gte:5&timestamp=lt:1700000200&limit=4": "/topics/700/" +
			"messages?sequencenumber=gte:5&timestamp=lt:1700000200&timestamp=gt:1700000108.000000000&limit=4",
		"/topics/0.700/messages?timestamp=lt:1700000200&limit=4&order=desc": "/topics/0.700/" +
			"messages?limit=4&order=desc&timestamp=lt:1700000107.000000000",
		"/topics/700/messages?timestamp=lte:1700000104&limit=4": "null",
		"/topics/0.0.700/messages?sequencenumber=9&limit=1": "/topics/0.0.700/" +
			"messages?sequencenumber=9&limit=1&timestamp=gt:1700000109.000000000",
		"/topics/700/messages?timestamp=1700000109&limit=1": "/topics/700/" +
			"messages?timestamp=1700000109&limit=1",
		"/topics/700/messages/?limit=1": "/topics/700/messages?limit=1&" +
			"timestamp=gt:1700000101.000000000",

		"/transactions?limit=3": "/transactions?limit=3&" +
			"timestamp=lt:1700000008.000000000",
		"/transactions?account.id=302&limit=3&order=asc": "/transactions?account." +
			"id=302&limit=3&order=asc&timestamp=gt:1700000003.000000000",
		"/transactions?limit=3&timestamp=gte:1700000008": "null",
		"/transactions?timestamp=gte:1700000002&limit=3": "/transactions?" +
			"timestamp=gte:1700000002&timestamp=lt:1700000008.000000000&limit=3",
		"/transactions?timestamp=lte:1700000009&limit=3": "/transactions?limit=3&" +
			"timestamp=lt:1700000007.000000000",
		"/transactions?timestamp=1700000009&limit=1": "/transactions?" +
			"timestamp=1700000009&limit=1",
		"/transactions?timestamp=5&timestamp=6&limit=1":       "null",
		"/transactions?timestamp=gt:6&timestamp=lt:6&limit=1": "null",
		"/transactions?Result=SUCCESS&transactionType=cryptoTransfer&limit=1": "/transactions?" +
			"result=success&transactiontype=cryptoTransfer&limit=1&timestamp=lt:1700000008.000000000",
		"/accounts/302?transactiontype=CRYPTOTRANSFER&limit=1&timestamp=lt:1700000003": "/accounts/" +
			"302?transactiontype=CRYPTOTRANSFER&limit=1&timestamp=lt:1700000002.000000000",
		"/accounts/302?limit=1&transactions=false": "null",
		"/accounts/0.0.304?limit=8": "/accounts/0.0.304?limit=8&" +
			"timestamp=lt:1700000001.000000000",
		"/accounts/0.0.304?limit=9": "null",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			if want != "null" {
				want = "/api/v1" + want
			}
			if got := nextOf(t, g.Get(t, "/api/v1"+path)); got != want {
				t.Errorf("next is\n%s, want\n%s", got, want)
			}
		})
	}
}

// TestCappedLimitInLink checks that a link keeps the requested limit.
func TestCappedLimitInLink(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t), func(o *testenv.Options) { o.REST.LimitMax = 3 })
	const want = "/api/v1/transactions?limit=1000&timestamp=lt:1700000008.000000000"
	if got := nextOf(t, g.Get(t, "/api/v1/transactions?limit=1000")); got != want {
		t.Errorf("next is %s, want %s", got, want)
	}
}

// TestBoundTimestampRange checks how open timestamp ranges are bounded if configured. The current time is second
// 1700000000 + 100 days, the first transaction is at 1700000001, and the maximum range is 60 days.
func TestBoundTimestampRange(t *testing.T) {
	t.Parallel()
	const day = 86400
	g := testenv.Over(t, rows.Shared(t), func(o *testenv.Options) {
		o.REST.BindTimestampRange = true
		o.REST.Now = func() time.Time { return time.Unix(firstSecond+100*day, 0) }
	})
	for path, want := range map[string]struct {
		rows int
		next string
	}{
		"/transactions?limit=1": {
			0,
			"/transactions?limit=1&timestamp=lt:1703456000.000000001",
		},
		"/transactions?limit=1&order=asc": {
			1,
			"/transactions?limit=1&order=asc&timestamp=gt:1700000001.000000000",
		},
		"/transactions?order=asc": {
			10,
			"/transactions?order=asc&timestamp=gt:1705184000.999999999",
		},
		"/transactions?timestamp=gte:1600000000&limit=1": {
			0,
			"/transactions?timestamp=gte:1600000000&timestamp=lt:1703456000.000000001&limit=1",
		},
		"/transactions?timestamp=gte:1600000000&limit=1&order=asc": {
			0,
			"/transactions?limit=1&order=asc&timestamp=gt:1605183999.999999999",
		},
		"/transactions?timestamp=lte:1700000010": {10, "null"},
		"/transactions?timestamp=lte:1700000010&limit=2": {
			2,
			"/transactions?limit=2&timestamp=lt:1700000009.000000000",
		},
		"/transactions?timestamp=lte:1705184001": {
			9,
			"/transactions?timestamp=lt:1700000001.000000001",
		},
		// exactly 60 days from the first transaction
		"/transactions?timestamp=lt:1705184001": {10, "null"},
		"/transactions?timestamp=1700000005":    {1, "null"},
		"/transactions?timestamp=ne:1700000005&order=asc": {
			9,
			"/transactions?timestamp=ne:1700000005&order=asc",
		},
		"/transactions?timestamp=5&timestamp=6":           {0, "null"},
		"/transactions?timestamp=lt:0":                    {0, "null"},
		"/transactions?timestamp=gt:9223372036.854775807": {0, "null"},
		"/transactions?timestamp=gte:0&timestamp=lte:9223372036.854775807&order=asc": {
			0,
			"/transactions?timestamp=lte:9223372036.854775807&timestamp=gt:5183999.999999999&order=asc",
		},
		"/transactions?timestamp=gt:1999999999": {0, "null"},
		"/accounts/302?order=asc&limit=2": {
			2,
			"/accounts/302?order=asc&limit=2&timestamp=gt:1700000002.000000000",
		},
		"/accounts/302": {
			0,
			"/accounts/302?timestamp=lt:1703456000.000000001",
		},
		"/accounts/302?transactions=false": {0, "null"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got := g.Get(t, "/api/v1"+path)
			if next := strings.TrimPrefix(nextOf(t, got), "/api/v1"); next != want.next {
				t.Errorf("next is %s, want %s", next, want.next)
			}
			var body struct{ Transactions []struct{} }
			testenv.Decode(t, got.Body, &body)
			if len(body.Transactions) != want.rows {
				t.Errorf("%d rows, want %d", len(body.Transactions), want.rows)
			}
		})
	}
}

// TestBoundEmptyLedger checks that a ledger without transactions starts at 0.
func TestBoundEmptyLedger(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Shared(t), func(o *testenv.Options) { o.REST.BindTimestampRange = true })
	got := g.Get(t, "/api/v1/transactions?order=asc")
	const want = `{"transactions":[],"links":{"next":"/api/v1/transactions?order=asc&timestamp=gt:5183999.999999999"}}`
	if got.Body != want {
		t.Errorf("body %s, want %s", got.Body, want)
	}
}

// TestSelections checks which rows conditions select, by the keys of the rows.
func TestSelections(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	for path, want := range map[string]string{
		"/accounts?account.id=302&account.id=304&account.id=gt:302":    "0.0.304",
		"/accounts?account.id=lt:304&account.id=gte:302":               "0.0.302",
		"/accounts?account.id=0.0.302&account.id=0.302&account.id=302": "0.0.302",
		"/accounts?account.id=" +
			evmAddress: "",
		"/accounts?account.id=0x000000000000000000000000000000000000012e": "0.0.302",
		"/accounts?account.id=302&account.id=" +
			evmAddress: "0.0.302",
		"/accounts?account.id=ne:" +
			evmAddress: "",
		"/accounts?account.balance=3020":                                     "0.0.302",
		"/accounts?account.balance=3020&account.balance=3040":                "",
		"/accounts?account.balance=gt:3020&account.balance=lt:3060":          "0.0.304",
		"/accounts?account.balance=9223372036854775807":                      "0.0.212",
		"/accounts?account.balance=ne:1&account.id=lt:300":                   "0.0.212",
		"/accounts?account.id=2":                                             "",
		"/accounts?account.id=2&balance=TRUE":                                "",
		"/transactions?timestamp=5&timestamp=9999999999":                     "",
		"/transactions?timestamp=lt:9999999999&timestamp=gt:1700000009":      "10",
		"/transactions?timestamp=gte:9999999999":                             "",
		"/blocks?timestamp=ne:9999999999&limit=1":                            "41",
		"/balances?timestamp=9999999999&timestamp=1699000010&account.id=302": "0.0.302",
		"/accounts?account.id=2&balance=FALSE":                               "0.0.2",
		"/accounts?account.id=2&balance=false&balance=true":                  "",
		"/accounts?account.id=lt:304&balance=eq:true&account.balance=777&account.publickey=ne:" +
			strings.Repeat("0", 64): "0.0.302",
		"/accounts?account.id=lte:304&account.publickey=" +
			ed25519Key: "0.0.302 0.0.304",
		"/accounts?account.id=lte:302&account.publickey=0x" +
			strings.ToUpper(edDER+ed25519Key): "0.0.302",
		"/accounts?account.publickey=" + ed25519Key + "&account.publickey=" +
			strings.Repeat("0", 64): "",
		"/accounts?account.id=gte:320&order=desc":            "0.0.322 0.0.320",
		"/accounts?account.id=gte:320&order=eq:desc":         "0.0.320 0.0.322",
		"/accounts?account.id=gte:320&order=desc&order=desc": "0.0.320 0.0.322",
		"/accounts?account.id=gt:511.65535.274877906943":     "",
		"/balances?account.id=" +
			alias(): "0.0.210",
		"/balances?account.id=0x" +
			strings.ToUpper(evmAddress): "0.0.211",
		"/balances?account.id=302&account.id=" +
			evmAddress: "0.0.302 0.0.211",
		"/balances?account.id=" +
			deadAddress: "",
		"/balances?account.id=2":                                             "0.0.2",
		"/balances?timestamp=1700000010&account.balance=gte:304":             "0.0.304 0.0.302",
		"/balances?timestamp=1700000010&timestamp=1699000010&account.id=302": "0.0.302",
		"/balances?timestamp=1700000010&account.publickey=ne:" +
			ed25519Key: "0.0.304 0.0.302",
		"/balances?timestamp=lt:1699000001":                                  "",
		"/blocks?block.number=40&block.number=41":                            "",
		"/blocks?block.number=41&block.number=41":                            "41",
		"/blocks?block.number=gte:0x28&block.number=gte:41":                  "41",
		"/blocks?timestamp=1700000041":                                       "",
		"/blocks?timestamp=1700000041.999999999":                             "41",
		"/blocks?timestamp=ne:1700000041.999999999&limit=1":                  "40",
		"/topics/700/messages?sequencenumber=gt:8&sequencenumber=ne:9":       "10",
		"/topics/700/messages?sequencenumber=3&sequencenumber=4":             "",
		"/topics/700/messages?order=DESC&limit=2":                            "10 9",
		"/topics/700/messages?order=gt:desc&limit=1":                         "10",
		"/topics/700/messages?timestamp=1700000103&timestamp=gte:1700000103": "3",
		"/topics/701/messages":                                               "9223372036854775807",
		"/topics/99999/messages":                                             "",
		"/transactions?account.id=304": "8 7 6 5 " +
			"4 3 2 1",
		"/transactions?account.id=304&account.id=302&timestamp=gte:1700000008":                           "10 9 8",
		"/transactions?account.id=ne:302&timestamp=lt:1700000003":                                        "2 1",
		"/transactions?account.id=304&type=debit":                                                        "",
		"/transactions?account.id=304&type=CREDIT&limit=2":                                               "8 7",
		"/transactions?type=credit&type=Credit&limit=1":                                                  "8",
		"/transactions?type=credit&type=debit":                                                           "",
		"/transactions?type=debit&result=fail":                                                           "5",
		"/transactions?result=fail":                                                                      "10 5",
		"/transactions?result=fail&result=success&limit=1":                                               "9",
		"/transactions?transactiontype=consensussubmitmessage":                                           "9",
		"/transactions?transactiontype=consensussubmitmessage&transactiontype=lt:CRYPTOTRANSFER&limit=3": "10 9 8",
		"/transactions?timestamp=ne:1700000010&timestamp=ne:1700000009&limit=1":                          "8",
		"/transactions?timestamp=1700000005.0&timestamp=1700000005":                                      "5",
		"/transactions?timestamp=1700000005&timestamp=ne:1700000005":                                     "",
		"/transactions?timestamp=1700000005&timestamp=gt:1700000005":                                     "",
		"/transactions?account.id=" +
			evmAddress: "",
		"/transactions?limit=1&order=eq:asc":                           "1",
		"/accounts/304?limit=2&order=asc":                              "1 2",
		"/accounts/0x0000000000000000000000000000000000000130?limit=1": "8",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got := g.Get(t, "/api/v1"+path)
			if got.Status != http.StatusOK {
				t.Fatalf("status %d: %s", got.Status, got.Body)
			}
			if keys := keysOf(t, got.Body); keys != want {
				t.Errorf("the rows are %q, want %q", keys, want)
			}
		})
	}
}

// keysOf returns the keys of a list's rows: ids, numbers, or for transactions the seconds after the first.
func keysOf(t *testing.T, body string) string {
	t.Helper()
	var lists struct {
		Accounts []struct{ Account string }
		Balances []struct{ Account string }
		Blocks   []struct{ Number json.Number }
		Messages []struct {
			Number json.Number `json:"sequence_number"`
		}
		Transactions []struct {
			At string `json:"consensus_timestamp"`
		}
	}
	testenv.Decode(t, body, &lists)
	var keys []string
	for _, a := range append(lists.Accounts, lists.Balances...) {
		keys = append(keys, a.Account)
	}
	for _, b := range lists.Blocks {
		keys = append(keys, string(b.Number))
	}
	for _, m := range lists.Messages {
		keys = append(keys, string(m.Number))
	}
	for _, x := range lists.Transactions {
		at, _ := strings.CutSuffix(strings.TrimPrefix(x.At, "17000000"), ".000000000")
		keys = append(keys, strings.TrimPrefix(at, "0"))
	}
	return strings.Join(keys, " ")
}

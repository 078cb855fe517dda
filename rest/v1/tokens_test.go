package v1_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
)

// exchange is a request and its expected response.
type exchange struct {
	path     string
	response string // the status and the body
}

// readExchanges reads a file of requests and responses, two lines each.
func readExchanges(tb testing.TB, file string) []exchange {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var all []exchange
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		if strings.HasPrefix(block, "#") {
			continue
		}
		path, response, ok := strings.Cut(block, "\n")
		if !ok {
			tb.Fatalf("%s: %q has no response", file, block)
		}
		all = append(all, exchange{path, response})
	}
	return all
}

// tokensURL returns a database with the rows of tokens.sql.
func tokensURL(tb testing.TB) string {
	tb.Helper()
	rows, err := os.ReadFile("testdata/tokens.sql")
	if err != nil {
		tb.Fatal(err)
	}
	url := testenv.Empty.Fresh(tb)
	testenv.Exec(tb, url, string(rows))
	return url
}

// TestTokenPaths checks the responses of tokens and of the lists of an account, with and without row plans. With
// -update it rewrites them.
func TestTokenPaths(t *testing.T) {
	t.Parallel()
	const file = "testdata/tokens.golden"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	url := tokensURL(t)
	for _, way := range []struct {
		name    string
		gateway *testenv.Gateway
	}{
		{"plans", testenv.Over(t, url)},
	} {
		for _, e := range readExchanges(t, file) {
			got := way.gateway.Get(t, "/api/v1"+e.path)
			response := fmt.Sprintf("%d %s", got.Status, strings.ReplaceAll(got.Body, "/api/v1", ""))
			switch {
			case response == e.response:
			case *update:
				text = bytes.Replace(text, []byte("\n"+e.path+"\n"+e.response), []byte("\n"+e.path+"\n"+response), 1)
			default:
				t.Errorf("%s: %s: response\n%s\nwant\n%s\nIf that is intended, run go test ./rest/v1 -run "+
					"TestTokenPaths -update", way.name, e.path, response, e.response)
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTokenLinks checks that following the links of a list returns each row once and ends.
func TestTokenLinks(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, tokensURL(t))
	for _, c := range []struct {
		path string
		rows int
	}{
		{"/tokens?limit=2", 5},
		{"/tokens?limit=2&order=desc", 5},
		{"/tokens/1500/balances?limit=1&order=asc", 4},
		{"/tokens/1500/balances?limit=1&timestamp=1779000000", 2},
		{"/tokens/1501/nfts?limit=1", 4},
		{"/tokens/1503/nfts/5/transactions?limit=1", 3},
		{"/accounts/1001/nfts?limit=2", 7},
		{"/accounts/1001/nfts?limit=1&order=asc", 7},
		{"/accounts/1001/nfts?token.id=gte:1501&serialnumber=gt:1&token.id=lt:1506&limit=1&order=asc", 4},
		{"/accounts/1001/nfts?spender.id=2000&limit=1", 3},
		{"/accounts/1001/rewards?limit=1", 3},
		{"/accounts/1001/tokens?limit=1", 3},
		{"/accounts/1001/allowances/crypto?limit=1", 2},
		{"/accounts/1001/allowances/tokens?limit=1", 6},
		{"/accounts/1001/allowances/tokens?limit=2&order=desc", 6},
		{"/accounts/1001/allowances/tokens?spender.id=gte:2001&spender.id=lte:2003&token.id=1504&limit=1", 3},
	} {
		seen := map[string]bool{}
		for path, pages := "/api/v1"+c.path, 0; path != ""; pages++ {
			if pages > c.rows {
				t.Errorf("%s: the links do not end: %s", c.path, path)
				break
			}
			got := g.Get(t, path)
			var body map[string]any
			testenv.Decode(t, got.Body, &body)
			if got.Status != http.StatusOK {
				t.Fatalf("%s: status %d: %s", path, got.Status, got.Body)
			}
			path = ""
			for name, value := range body {
				switch value := value.(type) {
				case []any:
					for _, row := range value {
						text := fmt.Sprint(row)
						if seen[text] {
							t.Errorf("%s: %s is shown twice", c.path, text)
						}
						seen[text] = true
					}
				case map[string]any:
					if name == "links" {
						path, _ = value["next"].(string)
					}
				}
			}
		}
		if len(seen) != c.rows {
			t.Errorf("%s: the links return %d rows, want %d", c.path, len(seen), c.rows)
		}
	}
}

// TestTokenCaching checks the max-age of responses, and that responses with partial history support conditional
// requests.
func TestTokenCaching(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, tokensURL(t))
	for path, age := range map[string]string{
		"/tokens": "10", "/tokens/1500": "5", "/tokens/1500/balances": "1", "/tokens/1501/nfts": "1",
		"/tokens/1501/nfts/1":               "1",
		"/tokens/1501/nfts/77/transactions": "1", "/accounts/1001/nfts": "1", "/accounts/1001/rewards": "60",
		"/accounts/1001/tokens":            "1",
		"/accounts/1001/allowances/crypto": "1", "/accounts/1001/allowances/tokens": "1",
	} {
		got := g.Get(t, "/api/v1"+path)
		if c := got.Header.Get("Cache-Control"); c != "public, max-age="+age {
			t.Errorf("%s: Cache-Control %q", path, c)
		}
		if again := g.Do(t, http.MethodGet, "/api/v1"+path, "",
			"If-None-Match: "+got.Header.Get("ETag")); again.Status != http.StatusNotModified || again.Body != "" {
			t.Errorf("%s: conditional request: status %d, body %q", path, again.Status, again.Body)
		}
	}
	if got := g.Get(t,
		"/api/v1/accounts/1001/nfts?limit=1"); got.Header.Get("Link") != `</api/v1/accounts/1001/nfts?limit=1&`+
		`token.id=lte:0.0.1506&serialnumber=lt:7>; rel="next"` {
		t.Errorf("Link is %q", got.Header.Get("Link"))
	}
}

// TestNFTHistoryDuplicates checks that a duplicate timestamp in the history returns its transaction once but counts as
// two rows of the page.
func TestNFTHistoryDuplicates(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	testenv.Exec(t, url,
		`insert into nft (token_id, serial_number, created_timestamp, timestamp_range) values (5, 1, 1, '[20,)')`,
		`insert into nft_history (token_id, serial_number, created_timestamp, timestamp_range) values (5, 1, 1, `+
			`'[20,20]'), (5, 1, 1, '[10,20)'), (5, 1, 1, '[5,10)')`,
		`insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns) values (20, `+
			`14, 22, 1, 1), (10, 14, 22, 1, 1)`)
	g := testenv.Over(t, url)
	for query, want := range map[string]string{
		"?limit=1": `0.000000020 /api/v1/tokens/5/nfts/1/transactions?limit=1&timestamp=lt:0.000000020`,
		"?limit=2": `0.000000020 `,
		"?limit=3": `0.000000020 0.000000010 `,
		"":         `0.000000020 0.000000010 `,
	} {
		var body struct {
			Transactions []struct {
				ConsensusTimestamp string `json:"consensus_timestamp"`
			} `json:"transactions"`
			Links struct {
				Next string `json:"next"`
			} `json:"links"`
		}
		testenv.Decode(t, g.Get(t, "/api/v1/tokens/5/nfts/1/transactions"+query).Body, &body)
		var got strings.Builder
		for _, tx := range body.Transactions {
			got.WriteString(tx.ConsensusTimestamp + " ")
		}
		got.WriteString(body.Links.Next)
		if got.String() != want {
			t.Errorf("%q: %s, not %s", query, got.String(), want)
		}
	}
}

// TestOverlappingParts checks that a range of one primary value selects the union of its two parts, not their
// intersection.
func TestOverlappingParts(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, tokensURL(t))
	for all, parts := range map[string]string{
		"/accounts/1001/allowances/tokens?spender.id=2001": "/accounts/1001/allowances/tokens?spender.id=gte:2001&" +
			"spender.id=lte:2001&token.id=gt:1&token.id=lt:2",
		"/accounts/1001/nfts?token.id=1501": "/accounts/1001/nfts?token.id=gte:1501&" +
			"token.id=lte:1501&serialnumber=gt:1&serialnumber=lt:2",
	} {
		want, got := listIn(t, []byte(g.Get(t, "/api/v1"+all).Body)), listIn(t, []byte(g.Get(t, "/api/v1"+parts).Body))
		if len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s: %v\nwant %v", parts, got, want)
		}
	}
}

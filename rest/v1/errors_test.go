package v1_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/rest"
)

// repeatParameter returns a query string that repeats a parameter n times.
func repeatParameter(name string, n int) string {
	return strings.TrimSuffix(strings.Repeat(name+"=5&", n), "&")
}

// TestBadQueries checks the items of problems of invalid query strings, and their order.
func TestBadQueries(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t), func(o *testenv.Options) { o.REST.MaxRepeats = 8 })
	tx := badTransactionIDText
	for path, want := range map[string][]string{
		// V1: one pass, in the order of the request.
		"/accounts?account.id=lte:0.1.2.3&account.balance=gt:-2&account.publickey=abcdef&timestamp=-1.2&order=any&" +
			"balance=1&token.id=0.0.45678": {
			"Invalid parameter: account.id", "Invalid parameter: account.balance",
			"Invalid parameter: account.publickey", "Unknown query parameter: timestamp",
			"Invalid parameter: order", "Invalid parameter: balance", "Unknown query parameter: token.id",
		},
		"/accounts?foo=1&limit=0&foo=2": {
			"Unknown query parameter: foo",
			"Invalid parameter: limit",
		},
		"/accounts?account.id=x&account.id=x&account.id=y": {
			"Invalid parameter: account.id",
			"Invalid parameter: account.id", "Invalid parameter: account.id",
		},
		"/accounts?account.id=gt:gt:5":                           {"Invalid parameter: account.id"},
		"/accounts?account.id=GT:5":                              {"Invalid parameter: account.id"},
		"/accounts?account.id=like:5":                            {"Invalid parameter: account.id"},
		"/accounts?account.id=":                                  {"Invalid parameter: account.id"},
		"/accounts?account.id":                                   {"Invalid parameter: account.id"},
		"/accounts?account.id=gt:":                               {"Invalid parameter: account.id"},
		"/accounts?ACCOUNT.ID=x":                                 {"Invalid parameter: account.id"},
		"/accounts?account.id=0.0.0x" + evmAddress:               {"Invalid parameter: account.id"},
		"/accounts?account.id=1.0." + evmAddress:                 {"Invalid parameter: account.id"},
		"/accounts?account.id=0.65536.1":                         {`Invalid entity ID "0.65536.1"`},
		"/accounts?account.id=1234567890123":                     {`Invalid entity ID "0.0.1234567890123"`},
		"/accounts?account.id=-5":                                {`Invalid entity ID "0.0.-5"`},
		"/accounts?account.id=1024.0.1":                          {`Invalid entity ID "1024.0.1"`},
		"/accounts?account.id=0.274877906944":                    {`Invalid entity ID "0.0.274877906944"`},
		"/accounts?account.id=0.65536.1&limit=0":                 {"Invalid parameter: limit"},
		"/accounts?account.id=12345678901234567890":              {"Invalid parameter: account.id"},
		"/accounts?account.balance=9223372036854775808":          {"Invalid parameter: account.balance"},
		"/accounts?account.balance=1.5":                          {"Invalid parameter: account.balance"},
		"/accounts?balance=gt:true":                              {"Invalid parameter: balance"},
		"/accounts?limit=-1":                                     {"Invalid parameter: limit"},
		"/accounts?limit=1e2":                                    {"Invalid parameter: limit"},
		"/accounts?limit=9223372036854775808":                    {"Invalid parameter: limit"},
		"/accounts?limit=eq:5":                                   {"Invalid parameter: limit"},
		"/accounts?order=up&order=asc":                           {"Invalid parameter: order"},
		"/accounts?account.publickey=" + strings.Repeat("a", 65): {"Invalid parameter: account.publickey"},
		"/accounts??limit=5":                                     {"Unknown query parameter: ?limit"},
		"/accounts?limit=5%":                                     {"Invalid parameter: limit"},
		"/accounts?%6Cimit=0":                                    {"Invalid parameter: limit"},
		"/accounts?limit=+5":                                     {"Invalid parameter: limit"},

		// Limits of the query string.
		"/accounts?" + repeatParameter("account.id",
			9): {"Array limit exceeded. Only 8 elements allowed in an array."},
		"/accounts?foo=1&" + repeatParameter("account.id",
			9): {"Array limit exceeded. Only 8 elements allowed in an array."},
		"/accounts?account.id[8]=5": {"Array limit exceeded. Only 8 elements allowed in " +
			"an array."},
		"/accounts?account.id[a][b]=5": {"Input depth exceeded depth option of 1 and " +
			"strictDepth is true"},
		"/accounts?account.id[a]=5": {"Invalid parameter: account.id"},
		"/accounts?foo[a]=5":        {"Unknown query parameter: foo"},
		"/blocks?foo[a]=5":          {"Invalid parameter: foo"},
		"/accounts?" + repeatParameter("a", 8) + "&" + repeatParameter("A", 1) +
			"&limit=0": {
			"Parameter values count exceeds maximum number allowed: a count: 9 max: 8",
			"Invalid parameter: limit",
		},
		"/accounts?limit=0&" + repeatParameter("account.id", 5) +
			"&" + repeatParameter("account.Id", 4): {
			"Invalid parameter: limit",
			"Parameter values count exceeds maximum number allowed: account.id count: 9 max: 8",
		},
		"/blocks?limit=0&foo=1&" + repeatParameter("timestamp", 5) + "&" + repeatParameter("Timestamp", 4): {
			"Parameter values count exceeds maximum number allowed: timestamp count: 9 max: 8",
			"Invalid parameter: limit", "Unknown query parameter: foo",
		},
		"/accounts?" + distinctParameters(1001): {"Parameter limit exceeded. Only 1000 parameters allowed."},

		// V2: counts, then invalid values, then unknown names; one item per value.
		"/blocks?block.number=gt:foo&timestamp=foo&order=any&limit=foo&index=2": {
			"Invalid parameter: block.number", "Invalid parameter: timestamp", "Invalid parameter: order",
			"Invalid parameter: limit", "Unknown query parameter: index",
		},
		"/transactions?foo=1&limit=0&transactionType=nothing&order=up": {
			"Invalid parameter: limit", "Invalid parameter: transactiontype", "Invalid parameter: order",
			"Unknown query parameter: foo",
		},
		"/transactions?foo=1&foo=1&limit=0&limit=0": {
			"Invalid parameter: limit", "Invalid parameter: limit",
			"Unknown query parameter: foo", "Unknown query parameter: foo",
		},
		"/tokens?name=%00abc": {"Invalid parameter: name"},
		"/transactions?nonce=1&scheduled=true": {
			"Unknown query parameter: nonce",
			"Unknown query parameter: scheduled",
		},
		"/transactions?result=failed&type=both":       {"Invalid parameter: result", "Invalid parameter: type"},
		"/transactions?timestamp=1700000000000000000": {"Invalid parameter: timestamp"},
		"/transactions?timestamp=1.1234567890":        {"Invalid parameter: timestamp"},
		"/transactions?timestamp=1.":                  {"Invalid parameter: timestamp"},
		"/transactions?timestamp=-1":                  {"Invalid parameter: timestamp"},
		"/transactions?account.id=" + alias():         {"Invalid parameter: account.id"},
		"/blocks?block.number=ne:5":                   {"Invalid parameter: block.number"},
		"/blocks?block.number=0x":                     {"Invalid parameter: block.number"},
		"/blocks?block.number=-1":                     {"Invalid parameter: block.number"},
		"/blocks?block.number=9223372036854775808":    {"Invalid parameter: block.number"},
		"/topics/700/messages?foo=1&order=up&timestamp=x&sequencenumber=0": {
			"Invalid parameter: order", "Invalid parameter: timestamp", "Invalid parameter: sequencenumber",
			"Unknown query parameter: foo",
		},
		"/topics/700/messages?encoding=utf16&topic.id=7": {
			"Invalid parameter: encoding",
			"Unknown query parameter: topic.id",
		},
		"/topics/x/messages?limit=0":            {"Invalid parameter: topic.id"},
		"/topics/0x" + evmAddress + "/messages": {"Invalid parameter: topic.id"},
		"/topics/-5/messages":                   {`Invalid entity ID "0.0.-5"`},
		"/topics/0.65536.7/messages?limit=0":    {`Invalid entity ID "0.65536.7"`},

		// Single objects.
		"/blocks/41?limit=5&limit=6":           {"Unknown query parameter: limit"},
		"/blocks/0x10":                         {"Invalid parameter: hashOrNumber"},
		"/blocks/-1":                           {"Invalid parameter: hashOrNumber"},
		"/blocks/1test":                        {"Invalid parameter: hashOrNumber"},
		"/blocks/9223372036854775808":          {"Invalid parameter: hashOrNumber"},
		"/blocks/" + strings.Repeat("a", 65):   {"Invalid parameter: hashOrNumber"},
		"/blocks/0X" + strings.Repeat("a", 64): {"Invalid parameter: hashOrNumber"},
		"/blocks/x?foo=1":                      {"Unknown query parameter: foo"},
		"/topics/700/messages/0":               {"Invalid parameter: sequencenumber"},
		"/topics/x/messages/0": {
			"Invalid parameter: topic.id",
			"Invalid parameter: sequencenumber",
		},
		"/topics/x/messages/1700000000.5": {
			"Invalid parameter: topic.id",
			"Invalid parameter: sequencenumber",
		},
		"/topics/0.65536.7/messages/1":                {`Invalid entity ID "0.65536.7"`},
		"/topics/700/messages/9223372036854775808":    {"Invalid parameter: sequencenumber"},
		"/topics/700/messages/1?encoding=utf8":        {"Unknown query parameter: encoding"},
		"/topics/messages/x":                          {"Invalid parameter: consensus_timestamp"},
		"/topics/messages/gt:5":                       {"Invalid parameter: consensus_timestamp"},
		"/topics/messages/12345678901":                {"Invalid parameter: consensus_timestamp"},
		"/topics/messages/x?limit=1":                  {"Unknown query parameter: limit"},
		"/transactions/x":                             {tx},
		"/transactions/0.0.302@1700000000.000000001":  {tx},
		"/transactions/0.0.302-1700000000":            {tx},
		"/transactions/0.0.302-1700000000-1234567890": {tx},
		"/transactions/302-1700000000-1":              {tx},
		"/transactions/0.0.302-1-1?nonce=-1":          {"Invalid parameter: nonce"},
		"/transactions/0.0.302-1-1?nonce=gt:1":        {"Invalid parameter: nonce"},
		"/transactions/0.0.302-1-1?nonce=2147483648":  {"Invalid parameter: nonce"},
		"/transactions/0.0.302-1-1?scheduled=ne:true&a=": {
			"Invalid parameter: scheduled",
			"Unknown query parameter: a",
		},
		"/transactions/x?scheduled=1":        {"Invalid parameter: scheduled"},
		"/transactions/0.65536.1-1-1":        {`Invalid entity ID "0.65536.1"`},
		"/transactions/0.0.274877906944-1-1": {`Invalid entity ID "0.0.274877906944"`},
		"/accounts/x":                        {"Invalid parameter: idOrAliasOrEvmAddress"},
		"/accounts/0.0.0.5":                  {"Invalid parameter: idOrAliasOrEvmAddress"},
		"/accounts/0.65536.5":                {"Invalid parameter: idOrAliasOrEvmAddress"},
		"/accounts/1.0." + evmAddress:        {"Invalid parameter: idOrAliasOrEvmAddress"},
		"/accounts/0.1." + alias():           {"Invalid parameter: idOrAliasOrEvmAddress"},
		"/accounts/ABC":                      {"Invalid parameter: idOrAliasOrEvmAddress"},
		"/accounts/x?limit=0":                {"Invalid parameter: limit"},
		"/accounts/302?timestamp=x&transactions=1&transactiontype=x&foo=": {
			"Invalid parameter: timestamp", "Invalid parameter: transactions", "Invalid parameter: transactiontype",
			"Unknown query parameter: foo",
		},
		"/balances?account.id=ABC":               {"Invalid accountAlias string ABC"},
		"/balances?account.id=abc":               {"Invalid parameter: account.id"},
		"/balances?account.id=0.0." + alias():    {"Invalid parameter: account.id"},
		"/balances?account.id=0.0." + evmAddress: {"Invalid parameter: account.id"},
		"/balances?account.publickey=x&timestamp=x&balance=1": {
			"Invalid parameter: account.publickey",
			"Invalid parameter: timestamp", "Unknown query parameter: balance",
		},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			checkProblem(t, g.Get(t, "/api/v1"+path), http.StatusBadRequest, messages(want...))
		})
	}
}

const badTransactionIDText = `Invalid Transaction id. Please use "shard.realm.num-sss-nnn" format where sss are ` +
	`seconds and nnn are nanoseconds`

// distinctParameters returns a query string with n different names.
func distinctParameters(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString("p" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + "=1")
	}
	return b.String()
}

// TestBalanceAccounts checks the problems of invalid accounts of balances, with details.
func TestBalanceAccounts(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	const onlyEq, onlyOne = "EVM address or alias only supports equals operator",
		"Only one EVM address or alias is allowed."
	for query, detail := range map[string]string{
		"account.id=gt:" + evmAddress:                                                    onlyEq,
		"account.id=ne:" + alias():                                                       onlyEq,
		"account.id=" + evmAddress + "&account.id=gt:5":                                  onlyEq,
		"account.id=" + evmAddress + "&account.id=" + alias():                            onlyOne,
		"account.id=" + alias() + "&account.id=0x" + deadAddress:                         onlyOne,
		"account.id=5&account.id=" + alias() + "&account.id=lt:7":                        onlyEq,
		"account.id=0x00000000000000000000000000000000000000d3&account.id=" + evmAddress: onlyOne,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			checkProblem(t, g.Get(t, "/api/v1/balances?"+query), http.StatusBadRequest,
				modernProblem("Invalid parameter: account.id", detail))
		})
	}
}

// TestMissing checks the responses for objects that do not exist.
func TestMissing(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	otherAlias := alias()[:len(alias())-2] + "AA"
	for path, want := range map[string]string{
		"/":                     "Not found",
		"":                      "Not found",
		"/account":              "Not found",
		"/accounts/302/nothing": "Not found",
		"/topics":               "Not found",
		"/topics/700/message":   "Not found",
		"/accounts/99999":       "Not found",
		"/accounts/700":         "Not found",
		"/accounts//nfts":       "Not found",
		"/accounts//":           "Not found",
		"//accounts":            "Not found",
		"/accounts//hooks":      "Not found",
		"/accounts/2":           "Not found",
		"/accounts/0x" + strings.Repeat("ab", 20):                     "Not found",
		"/accounts/" + deadAddress:                                    "Not found",
		"/accounts/" + otherAlias:                                     "No account with a matching alias found",
		"/accounts/302?timestamp=gt:5&timestamp=lte:5":                "Timestamp range is empty",
		"/accounts/302?timestamp=lt:0.000001":                         "Not found",
		"/accounts/" + otherAlias + "?timestamp=gt:5&timestamp=lte:5": "No account with a matching alias found",
		"/blocks/99":                         "Not found",
		"/blocks/" + strings.Repeat("b", 64): "Not found",
		"/blocks/" + strings.Repeat("a", 64): "Not found", // an ambiguous prefix
		"/topics/700/messages/11":            "Not found",
		"/topics/99999/messages/1":           "Not found",
		"/topics/messages/1700000101":        "Not found", // a message without its transaction
		// a transaction that is not a message
		"/topics/messages/1700000001":                               "Not found",
		"/topics/700/messages/1700000009.000000000":                 "Not found", // a message of another topic
		"/transactions/0.0.302-1-1":                                 "Not found",
		"/transactions/1.2.302-1700000000-999999999":                "Not found",
		"/transactions/0.0.302-9223372036854775807-1":               "Not found",
		"/transactions/" + strings.Repeat("f", 96):                  "Not found",
		"/transactions/0.0.302-1700000000-999999999?nonce=7":        "Not found",
		"/transactions/0.0.302-1700000000-999999999?scheduled=TRUE": "Not found",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			checkProblem(t, g.Get(t, "/api/v1"+path), http.StatusNotFound, messages(want))
		})
	}
}

// TestAmbiguousAddress checks that two live entities with one address are an internal error, not a client error.
func TestAmbiguousAddress(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	checkProblem(t, g.Get(t, "/api/v1/accounts/"+twinAddress), http.StatusInternalServerError,
		messages("Internal error"))
}

// TestModernFamily checks the problems of the modern family: with details and Cache-Control.
func TestModernFamily(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t))
	const convert = "Failed to convert 'id'"
	for path, want := range map[string]struct {
		status int
		detail string
	}{
		"/topics/x":                {400, convert},
		"/topics/0.0.0.7":          {400, convert},
		"/topics/-7":               {400, convert},
		"/topics/%20700":           {400, convert},
		"/topics/0x" + evmAddress:  {400, convert},
		"/topics/" + evmAddress:    {400, convert},
		"/topics/1024.0.7":         {400, convert},
		"/topics/274877906944":     {400, convert},
		"/topics/0..7":             {400, convert},
		"/topics/99999":            {404, "Topic not found"},
		"/topics/302":              {404, "Topic not found"},
		"/topics/702":              {404, "Entity not found"},
		"/topics/703?whatever=yes": {404, "Custom fee for entity not found"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got := g.Get(t, "/api/v1"+path)
			if body := modernProblem(http.StatusText(want.status), want.detail); got.Status != want.status ||
				got.Body != body {
				t.Errorf("status %d, %s\nwant %d, %s", got.Status, got.Body, want.status, body)
			}
			if cache, media := got.Header.Get("Cache-Control"),
				got.Header.Get("Content-Type"); cache != "public, max-age=5" ||
				media != "application/json;charset=UTF-8" {
				t.Errorf("Cache-Control %q, Content-Type %q", cache, media)
			}
		})
	}
	t.Run("empty id", func(t *testing.T) {
		t.Parallel()
		got := g.Get(t, "/api/v1/topics/")
		if want := modernProblem("Not Found",
			"No static resource api/v1/topics for request '/api/v1/topics/'."); got.Status != http.StatusNotFound ||
			got.Body != want {
			t.Errorf("status %d, %s", got.Status, got.Body)
		}
	})
}

// TestAuthentication checks valid credentials, and that invalid ones are reported first.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t), func(o *testenv.Options) {
		o.REST.LimitDefault, o.REST.LimitMax = 3, 5
		o.REST.Users = []rest.User{
			{Username: "many", Password: "pass:word", Limit: 8},
			{Username: "few", Password: "x", Limit: 2},
			{Username: "plain", Password: "x"},
		}
	})
	rowsOf := func(t *testing.T, path, authorization string) int {
		t.Helper()
		var headers []string
		if authorization != "" {
			headers = append(headers, "Authorization: "+authorization)
		}
		got := g.Do(t, http.MethodGet, "/api/v1"+path, "", headers...)
		if got.Status != http.StatusOK {
			t.Fatalf("status %d: %s", got.Status, got.Body)
		}
		var body struct{ Accounts []struct{} }
		testenv.Decode(t, got.Body, &body)
		return len(body.Accounts)
	}
	basic := func(user, password string) string {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	for name, c := range map[string]struct {
		query, authorization string
		want                 int
	}{
		"no credentials, default":           {"", "", 3},
		"no credentials, above the maximum": {"?limit=100", "", 5},
		"more than others":                  {"?limit=100", basic("many", "pass:word"), 8},
		"more, default":                     {"", basic("many", "pass:word"), 3},
		"fewer than others":                 {"?limit=100", basic("few", "x"), 2},
		"fewer than the default":            {"", basic("few", "x"), 3},
		"fewer, between the two":            {"?limit=3", basic("few", "x"), 2},
		"no limit of their own":             {"?limit=100", basic("plain", "x"), 5},
		"another scheme":                    {"?limit=100", "Bearer abc", 5},
		"malformed credentials":             {"?limit=100", "Basic %%%", 5},
		"credentials without colon":         {"?limit=100", "Basic YWJj", 5},
		"scheme in small letters": {
			"?limit=100",
			strings.Replace(basic("many", "pass:word"), "Basic", "basic", 1), 8,
		},
		"smaller than every maximum": {"?limit=1", basic("many", "pass:word"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := rowsOf(t, "/accounts"+c.query, c.authorization); got != c.want {
				t.Errorf("%d rows, want %d", got, c.want)
			}
		})
	}
	for name, c := range map[string][2]string{
		"wrong password":          {"/accounts", basic("many", "pass")},
		"wrong name":              {"/accounts", basic("nobody", "x")},
		"unknown path":            {"/nothing", basic("nobody", "x")},
		"bad query":               {"/accounts?limit=0", basic("nobody", "x")},
		"empty name and password": {"/accounts", basic("", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := g.Do(t, http.MethodGet, "/api/v1"+c[0], "", "Authorization: "+c[1])
			checkProblem(t, got, http.StatusUnauthorized, messages("Invalid credentials"))
			if got.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("a browser would ask for a password: %v", got.Header)
			}
		})
	}
	t.Run("the modern family ignores credentials", func(t *testing.T) {
		t.Parallel()
		got := g.Do(t, http.MethodGet, "/api/v1/topics/700", "", "Authorization: "+basic("nobody", "x"))
		if got.Status != http.StatusOK {
			t.Errorf("status %d: %s", got.Status, got.Body)
		}
	})
	t.Run("no users are configured", func(t *testing.T) {
		t.Parallel()
		got := testenv.Over(t, rows.Shared(t)).Do(t, http.MethodGet, "/api/v1/accounts",
			"", "Authorization: "+basic("a", "b"))
		checkProblem(t, got, http.StatusUnauthorized, messages("Invalid credentials"))
	})
}

// TestTopicLookupMode checks that ne is rejected with the lookup table.
func TestTopicLookupMode(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, rows.Shared(t), func(o *testenv.Options) { o.REST.TopicMessageLookup = true })
	for _, name := range []string{"sequencenumber", "timestamp"} {
		checkProblem(t, g.Get(t, "/api/v1/topics/700/messages?"+url.Values{name: {"ne:5"}}.Encode()),
			http.StatusBadRequest,
			messages("Not equal (ne) operator is not supported for "+name))
	}
}

package v1_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// grants has allowances of collections and airdrops between a few accounts. Owner 1000 allows 1001 … 1004 to spend the
// collections 2001 … 2003, and 1005 allows 1006 to spend the collection 2001. One allowance was revoked. Sender 1000
// offers receivers 1001 … 1003 the serials 1 … 3 of the tokens 2001 …
//  2003. Sender 1010 offers fungible tokens. Account 1007 has an alias and an address, 1008 has a long-zero address,
//     1009 is deleted, and 1011 is only
//
// referenced.
var grants = testenv.Rows("grants", func(b *pgx.Batch) {
	entity := `insert into entity (id, num, realm, shard, type, timestamp_range, deleted, alias, evm_address) ` +
		`values ($1, $1, 0, 0, 'ACCOUNT', '[1,)', $2, $3, $4)`
	b.Queue(entity, 1000, false, nil, nil)
	b.Queue(entity, 1007, false, mustHex(aliasBytes), mustHex(evmAddress))
	b.Queue(entity, 1008, false, nil, mustHex("00000000000000000000000000000000000003f0"))
	b.Queue(entity, 1009, true, mustHex("1220"+strings.Repeat("77", 32)), mustHex(deadAddress))
	b.Queue(entity, 1011, nil, mustHex("1220"+strings.Repeat("99", 32)), mustHex(twinAddress))
	b.Queue(`insert into nft_allowance (approved_for_all, owner, payer_account_id, spender, timestamp_range, token_id)
select not (s = 1004 and t = 2003), 1000, 1000, s, int8range(1000000000::bigint * s + t, null), t from generate_series(1001, 1004) s, generate_series(2001, 2003) t`)
	b.Queue(`insert into nft_allowance (approved_for_all, owner, payer_account_id, spender, timestamp_range, token_id) values
(true, 1006, 1006, 1005, '[0,)', 2001), (true, 1006, 1006, 1001, '[5,7)', 2002), (true, 1007, 1, 1008, '[5,)', 2001), (true, 1008, 1, 1007, '[6,)', 2001)`)
	b.Queue(`insert into token_airdrop (amount, receiver_account_id, sender_account_id, serial_number, state, timestamp_range, token_id)
select null, r, 1000, s, 'PENDING', int8range(1000000000::bigint * r + s, null), t
from generate_series(1001, 1003) r, generate_series(2001, 2003) t, generate_series(1, 3) s`)
	b.Queue(`insert into token_airdrop (amount, receiver_account_id, sender_account_id, serial_number, state, timestamp_range, token_id) values
(9223372036854775807, 1001, 1010, 0, 'PENDING', '[1000000001,)', 2005), (5, 1002, 1010, 0, 'PENDING', '[1000000002,)', 2005), (null, 1003, 1010, 7, 'PENDING', '[1000000003,)', 2006),
(5, 1004, 1010, 0, 'CLAIMED', '[1000000004,)', 2005), (5, 1005, 1010, 0, 'CANCELLED', '[1000000005,)', 2005)`)
})

// rowIDs returns the ids of a list's rows, one text per row.
func rowIDs(t *testing.T, body, list string, names ...string) []string {
	t.Helper()
	var all map[string]any
	testenv.Decode(t, body, &all)
	rows, ok := all[list].([]any)
	if !ok {
		t.Fatalf("no %s in %s", list, body)
	}
	out := make([]string, len(rows))
	for i, r := range rows {
		var parts []string
		for _, n := range names {
			parts = append(parts, strings.TrimPrefix(fmt.Sprint(r.(map[string]any)[n]), "0.0."))
		}
		out[i] = strings.Join(parts, "/")
	}
	return out
}

func TestNftAllowanceBody(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	got := g.Get(t, "/api/v1/accounts/1005/allowances/nfts?owner=false")
	want := `{"allowances":[{"approved_for_all":true,"owner":"0.0.1006","spender":"0.0.1005",` +
		`"timestamp":{"from":"0.0","to":null},"token_id":"0.0.2001"}],"links":{"next":null}}`
	if got.Status != http.StatusOK || got.Body != want {
		t.Errorf("status %d:\n%s", got.Status, testenv.Diff(want, got.Body))
	}
	if h := got.Header; h.Get("Cache-Control") != "public, max-age=1" ||
		h.Get("Content-Type") != "application/json;charset=UTF-8" || !strings.HasPrefix(h.Get("ETag"), `"`) {
		t.Errorf("headers %v", h)
	}
	if got := g.Get(t, "/api/v1/accounts/7/allowances/nfts"); got.Body != `{"allowances":[],"links":{"next":null}}` {
		t.Errorf("an account without rows: %s", got.Body)
	}
}

// TestNftAllowanceSelection checks which rows (spender/token, or owner/token) bounds select, and their order.
func TestNftAllowanceSelection(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	for _, c := range []struct{ query, want string }{
		{"limit=4", "1001/2001 1001/2002 1001/2003 1002/2001"},
		{"order=desc&limit=3", "1004/2002 1004/2001 1003/2003"}, // one was revoked
		{"account.id=1002", "1002/2001 1002/2002 1002/2003"},
		{"account.id=0.0.1002&token.id=gt:2001", "1002/2002 1002/2003"},
		{"account.id=gte:1003&token.id=gte:2003", "1003/2003 1004/2001 1004/2002"},
		{"account.id=gte:1003&token.id=gt:0.0.2002", "1003/2003 1004/2001 1004/2002"},
		{"account.id=gte:1003&token.id=2001", "1003/2001 1004/2001"},
		{"account.id=gt:1002&token.id=2001", "1003/2001 1004/2001"},
		{"account.id=lte:1002&token.id=lt:2002", "1001/2001 1001/2002 1001/2003 1002/2001"},
		{"account.id=lte:1002&token.id=lt:2002&order=desc", "1002/2001 1001/2003 1001/2002 1001/2001"},
		{"account.id=gte:1001&account.id=lte:1002&token.id=gte:2003&token.id=lte:2001", "1001/2003 1002/2001"},
		{"account.id=gte:1002&account.id=lte:1002&token.id=gt:2001&token.id=lt:2003", "1002/2002"},
		{"account.id=gt:1001&account.id=lt:1003&token.id=2003", "1002/2003"},
		{"account.id=GTE:1004", "1004/2001 1004/2002"},
		{"account.id=gt:1004", ""},
		{"owner=1&account.id=1005", ""},
	} {
		got := g.Get(t, "/api/v1/accounts/1000/allowances/nfts?"+c.query)
		if rows := strings.Join(rowIDs(t, got.Body, "allowances", "spender", "token_id"), " "); rows != c.want {
			t.Errorf("%s: %s, want %s", c.query, rows, c.want)
		}
	}
	got := g.Get(t, "/api/v1/accounts/1001/allowances/nfts?owner=No&account.id=gte:1000&token.id=gte:2003")
	if rows := strings.Join(rowIDs(t, got.Body, "allowances", "owner", "token_id"),
		" "); rows != "1000/2003 1006/2002" {
		t.Errorf("received: %s", rows)
	}
}

// TestModernAccount checks how accounts are looked up by id, alias and address.
func TestModernAccount(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	for name, want := range map[string]string{
		"0.0.1007":                         "0.0.1007",
		alias():                            "0.0.1007",
		"7.9." + alias():                   "0.0.1007", // shard and realm are ignored
		"0x" + strings.ToUpper(evmAddress): "0.0.1007",
		evmAddress:                         "0.0.1007",
		"5.5." + evmAddress:                "0.0.1007",
		"00000000000000000000000000000000000003f0": "0.0.1008", // as stored
	} {
		got := g.Get(t, "/api/v1/accounts/"+name+"/allowances/nfts")
		if rows := rowIDs(t, got.Body, "allowances", "owner"); len(rows) != 1 || "0.0."+rows[0] != want {
			t.Errorf("%s names %v, want %s", name, rows, want)
		}
	}
	unknown := modernProblem("Not Found", "No account found for the given ID")
	for _, name := range []string{
		"0x00000000000000000000000000000000000003e8", // long-zero addresses are not converted to ids
		deadAddress, twinAddress, strings.Repeat("A", 40),
		"CIQHO53XO53XO53XO53XO53XO53XO53XO53XO53XO53XO53XO53XO5Y", // deleted
		"CIQJTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGMZTGI", // may be deleted
	} {
		for _, path := range []string{
			"allowances/nfts", "airdrops/outstanding", "airdrops/pending", "hooks",
			"hooks/1/storage",
		} {
			got := g.Get(t, "/api/v1/accounts/"+name+"/"+path)
			if got.Status != http.StatusNotFound || got.Body != unknown ||
				got.Header.Get("Cache-Control") != "public, max-age=1" {
				t.Errorf("%s of %s: %d %s %v", path, name, got.Status, got.Body, got.Header)
			}
		}
	}
}

func TestNftAllowanceProblems(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	for query, want := range map[string]string{
		"account.id=gt:5&account.id=lt:6": "Invalid range provided for account.id",
		"account.id=6&account.id=lte:5":   "Invalid range provided for account.id",
		"token.id=5":                      "token.id parameter must have account.id present",
		"token.id=5&account.id=ne:5":      "token.id parameter must have account.id present",
		"account.id=ne:5":                 "Unsupported range operator ne for account.id",
		"token.id=ne:5":                   "Unsupported range operator ne for token.id",
		"account.id=5&account.id=6": "Only one range operator from [eq] is " +
			"allowed for the given parameter for account.id",
		"account.id=gt:5&account.id=gte:6": "Only one range operator from [gt, gte] is " +
			"allowed for the given parameter for account.id",
		"account.id=gte:1&token.id=lt:5&token.id=lte:6": "Only one range operator from [lt, lte] is " +
			"allowed for the given parameter for token.id",
		"account.id=5&account.id=lt:7": "Can't support both range and equal for " +
			"account.id",
		"account.id=5&token.id=gt:7&token.id=9":    "Can't support both range and equal for token.id",
		"account.id=5&token.id=gt:7&token.id=lt:7": "Invalid range provided for token.id",
		"account.id=gte:5&token.id=lt:7": "Requires the presence of an lte or eq " +
			"account.id parameter",
		"account.id=gt:5&token.id=gt:7": "Requires the presence of an gte or eq " +
			"account.id parameter",
		"account.id=gt:5&account.id=lt:9&token.id=gt:7&token.id=lt:1": "Requires the presence of an lte or eq " +
			"account.id parameter",
		"account.id=1&account.id=2&account.id=3": "accountIds size must be between 0 and 2",
		"token.id=x&limit=0":                     "Failed to convert 'token.id'",
		"owner=2":                                "Failed to convert 'owner'",
	} {
		got := g.Get(t, "/api/v1/accounts/"+alias()+"0/allowances/nfts?"+query)
		if got.Status != http.StatusBadRequest || got.Body != modernProblem("Bad Request", "Failed to convert 'id'") {
			t.Errorf("a bad path with %s: %s", query, got.Body)
		}
		// Parameters are validated before the account.
		for _, name := range []string{"1000", deadAddress} {
			got = g.Get(t, "/api/v1/accounts/"+name+"/allowances/nfts?"+query)
			if got.Status != http.StatusBadRequest || got.Body != modernProblem("Bad Request", want) {
				t.Errorf("%s: %d %s", query, got.Status, got.Body)
			}
		}
	}
}

func TestNftAllowanceLinks(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	const path = "/api/v1/accounts/1000/allowances/nfts"
	for query, want := range map[string]string{
		"?limit=1":                               "?limit=1&account.id=gte:0.0.1001&token.id=gt:0.0.2001",
		"?account.id=0.0.1002&limit=1&order=asc": "?account.id=0.0.1002&limit=1&order=asc&token.id=gt:0.0.2001",
		"?account.id=gte:1001&account.id=lt:1003&owner=true&token.id=gt:2001&limit=1&order=asc": "?account." +
			"id=lt:1003&account.id=gte:0.0.1001&owner=true&limit=1&order=asc&token.id=gt:0.0.2002",
		"?limit=2&account.id=gte:0.0.1001&token.id=0.0.2002": "?limit=2&" +
			"token.id=0.0.2002&account.id=gt:0.0.1002",
		"?account.id=gte:1001&owner=true&token.id=gt:2001&limit=2&order=desc": "?account." +
			"id=gte:1001&account.id=lte:0.0.1004&owner=true&token.id=gt:2001&token.id=lt:0.0.2001&limit=2&order=desc",
		"?limit=100":       "null",
		"?limit=1&odd=%26": "?limit=1&odd=%26&account.id=gte:0.0.1001&token.id=gt:0.0.2001",
	} {
		if want != "null" {
			want = path + want
		}
		if next := nextOf(t, g.Get(t, path+query)); next != want {
			t.Errorf("%s goes on at %s, want %s", query, next, want)
		}
	}
	// All pages together are the complete list in both directions. The last page may be empty.
	for _, order := range []string{"asc", "desc"} {
		whole := rowIDs(t, g.Get(t, path+"?order="+order).Body, "allowances", "spender", "token_id")
		var walked []string
		for next := path + "?limit=1&order=" + order; next != "null"; {
			got := g.Get(t, next)
			walked = append(walked, rowIDs(t, got.Body, "allowances", "spender", "token_id")...)
			next = nextOf(t, got)
		}
		if len(whole) != 11 || !slices.Equal(whole, walked) {
			t.Errorf("%s: %v, walked %v", order, whole, walked)
		}
	}
}

func TestAirdropBody(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	got := g.Get(t, "/api/v1/accounts/1010/airdrops/outstanding")
	want := `{"airdrops":[` +
		`{"amount":9223372036854775807,"receiver_id":"0.0.1001","sender_id":"0.0.1010","serial_number":null,` +
		`"timestamp":{"from":"1.000000001","to":null},"token_id":"0.0.2005"},` +
		`{"amount":5,"receiver_id":"0.0.1002","sender_id":"0.0.1010","serial_number":null,` +
		`"timestamp":{"from":"1.000000002","to":null},"token_id":"0.0.2005"},` +
		`{"amount":null,"receiver_id":"0.0.1003","sender_id":"0.0.1010","serial_number":7,` +
		`"timestamp":{"from":"1.000000003","to":null},"token_id":"0.0.2006"}],"links":{"next":null}}`
	if got.Status != http.StatusOK || got.Body != want {
		t.Errorf("status %d:\n%s", got.Status, testenv.Diff(want, got.Body))
	}
	got = g.Get(t, "/api/v1/accounts/1003/airdrops/pending?sender.id=gt:1000")
	if rows := strings.Join(rowIDs(t, got.Body, "airdrops", "sender_id", "token_id", "serial_number"),
		" "); rows != "1010/2006/7" {
		t.Errorf("pending: %s", rows)
	}
}

// TestAirdropBounds checks which of 27 airdrops bounds select.
func TestAirdropBounds(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	for query, holds := range map[string]func(r, t, s int) bool{
		"": func(_, _, _ int) bool { return true },
		"receiver.id=gte:1002&token.id=gte:2002&serialnumber=gte:2": func(r, t, s int) bool {
			return r == 2 && (t == 2 && s >= 2 || t > 2) || r > 2
		},
		"receiver.id=gte:1001&receiver.id=lte:1003&token.id=gte:2002&token.id=lte:2002&serialnumber=gte:2&" +
			"serialnumber=lte:2": func(r, t, s int) bool {
			return r == 1 && (t == 2 && s >= 2 || t > 2) || r == 2 || r == 3 && (t < 2 || t == 2 && s <= 2)
		},
		"receiver.id=gt:1001&token.id=gte:2002": func(r, _, _ int) bool { return r > 1 },
		"receiver.id=1002&token.id=gt:2001&serialnumber=lt:3": func(r, t, s int) bool {
			return r == 2 && t > 1 && s < 3
		},
		"receiver.id=gte:1002&token.id=2002": func(r, t, _ int) bool { return r >= 2 && t == 2 },
		"receiver.id=lte:1002&token.id=2002&serialnumber=gt:1": func(r, t, s int) bool {
			return r == 2 && t == 2 || r < 2 && t == 2
		},
		// bounds on different sides
		"receiver.id=gte:1002&token.id=lte:2002": func(r, _, _ int) bool { return r >= 2 },
		"receiver.id=gte:1002&receiver.id=lte:1002&token.id=lt:2003": func(r, t, _ int) bool {
			return r == 2 && t < 3
		},
		"receiver.id=gte:1002&serialnumber=gte:3": func(r, _, s int) bool {
			return r > 2 || r == 2 && s >= 3
		},
		// no inclusive bound
		"receiver.id=lt:1003&serialnumber=lt:2": func(r, _, _ int) bool { return r < 3 },
		"receiver.id=lte:1002&serialnumber=lt:2": func(r, _, s int) bool {
			return r < 2 || r == 2 && s < 2
		},
		"receiver.id=gte:1002&serialnumber=2": func(r, _, s int) bool { return r >= 2 && s == 2 },
		"token.id=gte:2002&serialnumber=gte:3": func(_, t, s int) bool {
			return t > 2 || t == 2 && s >= 3
		},
		"token.id=2003&serialnumber=lte:2": func(_, t, s int) bool { return t == 3 && s <= 2 },
		"token.id=lte:2002&serialnumber=lt:2": func(_, t, s int) bool {
			return t < 2 || t == 2 && s < 2
		},
		"serialnumber=gt:1&serialnumber=lt:3":                   func(_, _, s int) bool { return s == 2 },
		"serialnumber=gt:9223372036854775807":                   func(_, _, _ int) bool { return false },
		"token.id=gte:2002&serialnumber=gt:9223372036854775807": func(_, t, _ int) bool { return t > 2 },
		"receiver.id=ne:1002":                                   func(_, _, _ int) bool { return true },
		// the last one applies
		"receiver.id=gte:1001&receiver.id=gte:1003": func(r, _, _ int) bool { return r >= 3 },
		"serialnumber=3&serialnumber=1":             func(_, _, s int) bool { return s == 1 },
		"receiver.id=gt:1000,lt:1002&token.id=2001": func(r, t, _ int) bool { return r == 1 && t == 1 },
	} {
		var want []string
		for i := range 27 {
			if r, k, s := i/9+1, i/3%3+1, i%3+1; holds(r, k, s) {
				want = append(want, fmt.Sprintf("%d/%d/%d", 1000+r, 2000+k, s))
			}
		}
		for _, order := range []string{"asc", "desc"} {
			got := g.Get(t, "/api/v1/accounts/1000/airdrops/outstanding?limit=100&"+query+"&order="+order)
			if rows := rowIDs(t, got.Body, "airdrops", "receiver_id", "token_id", "serial_number"); !slices.Equal(rows,
				want) {
				t.Errorf("%s %s: %v, want %v", query, order, rows, want)
			}
			slices.Reverse(want)
		}
	}
}

func TestAirdropLinks(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	const fungible, serials = "/api/v1/accounts/1010/airdrops/outstanding",
		"/api/v1/accounts/1000/airdrops/outstanding"
	for _, c := range []struct{ path, query, want string }{
		{fungible, "?limit=1", "?limit=1&receiver.id=gte:0.0.1001&token.id=gt:0.0.2005"},
		{serials, "?limit=1", "?limit=1&receiver.id=gte:0.0.1001&token.id=gte:0.0.2001&serialnumber=gt:1"},
		{
			fungible, "?limit=1&receiver.id=gt:2&token.id=gte:4&serialnumber=gt:0",
			"?limit=1&receiver.id=gte:0.0.1001&token.id=gt:0.0.2005",
		},
		{
			serials, "?limit=1&receiver.id=gte:1001&order=desc",
			"?limit=1&receiver.id=gte:1001&receiver.id=lte:0.0.1003&order=desc&token.id=lte:0.0.2003&serialnumber=lt:3",
		},
		{
			serials, "?limit=1&serialnumber=3&token.id=2002",
			"?limit=1&serialnumber=3&token.id=2002&receiver.id=gt:0.0.1001",
		},
	} {
		if next := nextOf(t, g.Get(t, c.path+c.query)); next != c.path+c.want {
			t.Errorf("%s goes on at %s, want %s", c.query, next, c.want)
		}
	}
	for _, order := range []string{"asc", "desc"} {
		whole := rowIDs(t, g.Get(t, serials+"?limit=100&order="+order).Body, "airdrops", "receiver_id", "token_id",
			"serial_number")
		var walked []string
		for next := serials + "?limit=2&order=" + order; next != "null"; {
			got := g.Get(t, next)
			walked = append(walked, rowIDs(t, got.Body, "airdrops", "receiver_id", "token_id", "serial_number")...)
			next = nextOf(t, got)
		}
		if len(whole) != 27 || !slices.Equal(whole, walked) {
			t.Errorf("%s: %v, walked %v", order, whole, walked)
		}
	}
}

func TestAirdropProblems(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, grants.Shared(t))
	for path, want := range map[string]string{
		"outstanding?receiver.id=gt:5&receiver.id=lt:6": "Invalid range provided for account.id",
		"pending?sender.id=6&sender.id=lt:6":            "Invalid range provided for account.id",
		"outstanding?receiver.id=1,2,3":                 "receiverIds size must be between 0 and 2",
		"pending?sender.id=1,2,3":                       "senderIds size must be between 0 and 2",
		"pending?token.id=1,2,3":                        "tokenIds size must be between 0 and 2",
		"pending?serialnumber=1,2,3":                    "serialNumbers size must be between 0 and 2",
		"pending?serialnumber=-1":                       "Failed to convert 'serialnumber'",
		"pending?sender.id=" + evmAddress:               "Failed to convert 'sender.id'",
		"pending?limit=101":                             "limit must be less than or equal to 100",
	} {
		got := g.Get(t, "/api/v1/accounts/1000/airdrops/"+path)
		if got.Status != http.StatusBadRequest || got.Body != modernProblem("Bad Request", want) {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	// The parameter of the other side is unknown here.
	if got := g.Get(t,
		"/api/v1/accounts/1000/airdrops/outstanding?sender.id=x&Limit=0&limit=1"); got.Status != http.StatusOK {
		t.Errorf("an unknown parameter: %d %s", got.Status, got.Body)
	}
	got := g.Do(t, http.MethodPost, "/api/v1/accounts/1000/airdrops/pending", "")
	if got.Status != http.StatusMethodNotAllowed ||
		got.Body != modernProblem("Method Not Allowed", "Request method 'POST' is not supported") {
		t.Errorf("POST: %d %s", got.Status, got.Body)
	}
	got = g.Do(t, http.MethodHead, "/api/v1/accounts/1000/airdrops/pending", "")
	if got.Status != http.StatusOK || got.Body != "" || got.Header.Get("ETag") == "" {
		t.Errorf("HEAD: %d %q %v", got.Status, got.Body, got.Header)
	}
	again := g.Do(t, http.MethodGet, "/api/v1/accounts/1000/airdrops/pending",
		"", "If-None-Match: "+got.Header.Get("ETag"))
	if again.Status != http.StatusNotModified || again.Body != "" {
		t.Errorf("the same again: %d %q", again.Status, again.Body)
	}
}

// TestAllowancesInGraphQL queries the relations of allowances and airdrops, with and without row plans.
func TestAllowancesInGraphQL(t *testing.T) {
	t.Parallel()
	const document = `{
  accounts(filter: {id: {in: ["0.0.1000", "0.0.1007", "0.0.1008"]}}) { nodes { entityId
    nftAllowances(first: 2, filter: {accountId: {gte: "0.0.1001"}, tokenId: {eq: "0.0.2001"}}) { nodes { spenderId owner { entityId } } pageInfo { hasNextPage } }
    receivedNFTAllowances { nodes { owner { entityId } tokenId } }
    outstandingAirdrops(last: 1, order: DESC) { nodes { receiverId serialNumber sender { entityId } } }
    pendingAirdrops { nodes { senderId } }
  } }
  airdrops(receiver: "0.0.1001", filter: {accountId: {gt: "0.0.1000"}, serialNumber: {eq: "0"}}) { nodes { amount receiver { entityId } } }
  empty: nftAllowances(owner: "literal:0x00000000000000000000000000000000000003e8") { nodes { tokenId } }
}`
	const want = `{"data":{"accounts":{"nodes":[` +
		`{"entityId":"0.0.1000","nftAllowances":{"nodes":[{"spenderId":"0.0.1001","owner":{"entityId":"0.0.1000"}},` +
		`{"spenderId":"0.0.1002","owner":{"entityId":"0.0.1000"}}],"pageInfo":{"hasNextPage":true}},` +
		`"receivedNFTAllowances":{"nodes":[]},"outstandingAirdrops":{"nodes":[{"receiverId":"0.0.1001",` +
		`"serialNumber":"1","sender":{"entityId":"0.0.1000"}}]},"pendingAirdrops":{"nodes":[]}},` +
		`{"entityId":"0.0.1007","nftAllowances":{"nodes":[{"spenderId":"0.0.1008",` +
		`"owner":{"entityId":"0.0.1007"}}],"pageInfo":{"hasNextPage":false}},` +
		`"receivedNFTAllowances":{"nodes":[{"owner":{"entityId":"0.0.1008"},"tokenId":"0.0.2001"}]},` +
		`"outstandingAirdrops":{"nodes":[]},"pendingAirdrops":{"nodes":[]}},` +
		`{"entityId":"0.0.1008","nftAllowances":{"nodes":[{"spenderId":"0.0.1007",` +
		`"owner":{"entityId":"0.0.1008"}}],"pageInfo":{"hasNextPage":false}},` +
		`"receivedNFTAllowances":{"nodes":[{"owner":{"entityId":"0.0.1007"},"tokenId":"0.0.2001"}]},` +
		`"outstandingAirdrops":{"nodes":[]},"pendingAirdrops":{"nodes":[]}}]},` +
		`"airdrops":{"nodes":[{"amount":"9223372036854775807","receiver":null}]},"empty":null}}`
	for name, options := range map[string][]testenv.Option{"default": nil} {
		g := testenv.Over(t, grants.Shared(t), options...)
		if got := g.Query(t, document, nil); got.Body != want {
			t.Errorf("%s:\n%s", name, testenv.Diff(want, got.Body))
		}
	}
	g := testenv.Over(t, grants.Shared(t))
	for _, bad := range []string{
		`{nftAllowances{nodes{tokenId}}}`,
		`{airdrops(sender:"1",receiver:"2"){nodes{tokenId}}}`, `{airdrops(sender:"literal:5"){nodes{tokenId}}}`,
	} {
		if got := g.Query(t, bad, nil); !strings.Contains(got.Body, `"BAD_USER_INPUT"`) {
			t.Errorf("%s: %s", bad, got.Body)
		}
	}
}

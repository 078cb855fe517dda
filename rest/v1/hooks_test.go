package v1_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// hooked has six hooks of account 1000 and the storage of hook 2. Hook 3 was deleted, and hook 1 has few values. The
// slots are 1 to 5 and ff…ff. Slot 1 was written at 10, 20 and 30 seconds, slot 2 at 10. Slot 4 was deleted at 30, and
// slot 5 was only read.
var hooked = testenv.Rows("hooked", func(b *pgx.Batch) {
	slot := func(n string) string { return `decode(lpad('` + n + `', 64, '0'), 'hex')` }
	last := `decode(repeat('ff', 32), 'hex')`
	b.Queue(`insert into entity (id, num, realm, shard, type, timestamp_range) values (1000, 1000, 0, 0, ` +
		`'ACCOUNT', '[1,)')`)
	b.Queue(`insert into hook (owner_id, hook_id, contract_id, created_timestamp, timestamp_range, deleted, admin_key)
select 1000, i, 700 + i, 1000000000::bigint * i, int8range(1000000000::bigint * i, case when i = 3 then 9000000000 end), i = 3, decode('` + "1220" + ed25519Key + `', 'hex') from generate_series(2, 6) i`)
	b.Queue(`insert into hook (owner_id, hook_id) values (1000, 1)`)
	b.Queue(`insert into hook (owner_id, hook_id, contract_id, timestamp_range, admin_key) values (1000, ` +
		`9223372036854775807, 1, '[0,)', '\x3200')`)
	b.Queue(`insert into hook_storage (owner_id, hook_id, key, value, deleted, created_timestamp, modified_timestamp) values
(1000, 2, ` + slot("1") + `, ` + slot("c8") + `, false, 10000000000, 30000000000),
(1000, 2, ` + slot("2") + `, '\x', false, 10000000000, 10000000000),
(1000, 2, ` + slot("3") + `, '\x07', false, 20000000000, 20000000000),
(1000, 2, ` + slot("4") + `, '\x', true, 10000000000, 30000000000),
(1000, 2, ` + slot("5") + `, ` + slot("5") + `, false, 1, 1),
(1000, 2, ` + last + `, ` + last + `, false, 1, 1),
(1000, 3, ` + slot("1") + `, '\x01', false, 1, 1)`)
	b.Queue(`insert into hook_storage_change (owner_id, hook_id, key, value_read, value_written, deleted, consensus_timestamp) values
(1000, 2, ` + slot("1") + `, '\x', '\x0a', false, 10000000000), (1000, 2, ` + slot("1") + `, '\x0a', '\x14', false, 20000000000), (1000, 2, ` + slot("1") + `, '\x14', '\xc8', false, 30000000000),
(1000, 2, ` + slot("2") + `, '\x', '\x0b', false, 10000000000),
(1000, 2, ` + slot("4") + `, '\x', '\x0d', false, 10000000000), (1000, 2, ` + slot("4") + `, '\x0d', '\x', true, 30000000000),
(1000, 2, ` + slot("5") + `, '\x05', null, false, 20000000000),
(1000, 3, ` + slot("1") + `, '\x', '\x01', false, 10000000000)`)
	b.Queue(`insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns) values ` +
		`(20000000000, 75, 22, 1000, 1)`)
})

// slotText returns a slot as formatted in responses.
func slotText(digits string) string { return "0x" + strings.Repeat("0", 64-len(digits)) + digits }

var lastSlot = "0x" + strings.Repeat("f", 64)

func TestHookBody(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, hooked.Shared(t))
	got := g.Get(t, "/api/v1/accounts/0.0.1000/hooks?hook.id=3&hook.id=1&hook.id=9223372036854775807")
	want := `{"hooks":[` +
		`{"admin_key":null,"contract_id":"0.0.1","created_timestamp":null,"deleted":false,` +
		`"extension_point":"ACCOUNT_ALLOWANCE_HOOK","hook_id":9223372036854775807,"owner_id":"0.0.1000",` +
		`"timestamp_range":{"from":"0.0","to":null},"type":"EVM"},` +
		`{"admin_key":{"_type":"ED25519","key":"` + ed25519Key +
		`"},"contract_id":"0.0.703","created_timestamp":"3.000000000","deleted":true,` +
		`"extension_point":"ACCOUNT_ALLOWANCE_HOOK","hook_id":3,"owner_id":"0.0.1000",` +
		`"timestamp_range":{"from":"3.000000000","to":"9.000000000"},"type":"EVM"},` +
		`{"admin_key":null,"contract_id":null,"created_timestamp":null,"deleted":false,` +
		`"extension_point":"ACCOUNT_ALLOWANCE_HOOK","hook_id":1,"owner_id":"0.0.1000","timestamp_range":null,` +
		`"type":"EVM"}],` +
		`"links":{"next":null}}`
	if got.Status != http.StatusOK || got.Body != want || got.Header.Get("Cache-Control") != "public, max-age=1" {
		t.Errorf("status %d:\n%s", got.Status, testenv.Diff(want, got.Body))
	}
	if got := g.Get(t, "/api/v1/accounts/77/hooks"); got.Status != http.StatusOK ||
		got.Body != `{"hooks":[],"links":{"next":null}}` {
		t.Errorf("unknown owner: %d %s", got.Status, got.Body)
	}
}

func TestHookSelection(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, hooked.Shared(t))
	const path, greatest = "/api/v1/accounts/1000/hooks", "9223372036854775807"
	for _, c := range []struct{ query, want, next string }{
		{"", greatest + " 6 5 4 3 2 1", "null"},
		{"order=asc&limit=2", "1 2", "?order=asc&limit=2&hook.id=gt:2"},
		{"limit=2&hook.id=lte:6", "6 5", "?limit=2&hook.id=lt:5"},
		{"limit=2&order=desc&hook.id=lt:" + greatest, "6 5", "?limit=2&order=desc&hook.id=lt:5"},
		{"hook.id=gte:2&hook.id=gt:3&hook.id=lt:6", "5 4", "null"},
		{"hook.id=gte:2&limit=7", greatest + " 6 5 4 3 2", "null"},
		{"hook.id=1&hook.id=eq:4&hook.id=5&hook.id=gt:1", "5 4", "null"},
		{"hook.id=1,2,3&order=asc", "1 2 3", "null"},
		{"hook.id=9&hook.id=lt:3", "", "null"},
		// a value without a bound stops the link
		{"hook.id=ne:4&limit=1&order=asc", "1", "?hook.id=ne:4&limit=1&order=asc"},
		{"hook.id=gte:4&limit=3&order=desc", greatest + " 6 5", "?hook.id=gte:4&hook.id=lt:5&limit=3&order=desc"},
		{"hook.id=gte:4&hook.id=lte:5&limit=2", "5 4", "null"}, // no value satisfies gte:4 and lt:4
		{"hook.id=5&limit=1", "5", "?hook.id=5&limit=1"},
	} {
		got := g.Get(t, path+"?"+c.query)
		if rows := strings.Join(rowIDs(t, got.Body, "hooks", "hook_id"), " "); rows != c.want {
			t.Errorf("%s: %s, want %s", c.query, rows, c.want)
		}
		if next := nextOf(t, got); strings.TrimPrefix(next, path) != c.next {
			t.Errorf("%s goes on at %s, want %s", c.query, next, c.next)
		}
	}
}

func TestHookProblems(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, hooked.Shared(t))
	const storage = "1000/hooks/2/storage?"
	for path, want := range map[string]string{
		"x/hooks":                                       "Failed to convert 'ownerId'",
		"1000/hooks?hook.id=-1":                         "Failed to convert 'hook.id'",
		"1000/hooks?hook.id=gt:lt:1":                    "Failed to convert 'hook.id'",
		"1000/hooks?order=down":                         "Failed to convert 'order'",
		"1000/hooks?" + repeatParameter("hook.id", 101): "hookId size must be between 0 and 100",
		"x/hooks/y/storage":                             "Failed to convert 'ownerId'",
		"1000/hooks/y/storage":                          "Failed to convert 'hookId'",
		"1000/hooks/-1/storage":                         "hookId must be greater than or equal to 0",
		storage + "key=ne:1":                            "Failed to convert 'key'",
		storage + "key=GT:1":                            "Failed to convert 'key'",
		storage + "key=" + strings.Repeat("0", 65):      "Failed to convert 'key'",
		storage + repeatParameter("key", 101):           "keys size must be between 0 and 100",
		storage + "timestamp=ne:1":                      "Failed to convert 'timestamp'",
		storage + "timestamp=1,2,3":                     "timestamps size must be between 0 and 2",
		storage + "limit=0":                             "limit must be greater than 0",
	} {
		got := g.Get(t, "/api/v1/accounts/"+path)
		if got.Status != http.StatusBadRequest || got.Body != modernProblem("Bad Request", want) {
			t.Errorf("%.60s: %d %s", path, got.Status, got.Body)
		}
	}
	got := g.Get(t, "/api/v1/accounts/1000/hooks/-1/storage?limit=101")
	item := func(detail string) string { return `{"message":"Bad Request","detail":"` + detail + `"}` }
	if want := `{"_status":{"messages":[` + item("hookId must be greater than or equal to 0") + "," +
		item("limit must be less than or equal to 100") + `]}}`; got.Body != want {
		t.Errorf("two constraints: %s", got.Body)
	}
}

func TestHookStorageBody(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, hooked.Shared(t))
	got := g.Get(t, "/api/v1/accounts/1000/hooks/2/storage?limit=3")
	want := `{"hook_id":2,"owner_id":"0.0.1000","storage":[` +
		`{"key":"` + slotText("1") + `","value":"` + slotText("c8") + `","timestamp":"30.000000000"},` +
		`{"key":"` + slotText("2") + `","value":"` + slotText("") + `","timestamp":"10.000000000"},` +
		`{"key":"` + slotText("3") + `","value":"` + slotText("7") + `","timestamp":"20.000000000"}],` +
		`"links":{"next":"/api/v1/accounts/1000/hooks/2/storage?limit=3&key=gt:` + slotText("3") + `"}}`
	if got.Status != http.StatusOK || got.Body != want {
		t.Errorf("status %d:\n%s", got.Status, testenv.Diff(want, got.Body))
	}
	got = g.Get(t, "/api/v1/accounts/1000/hooks/2/storage?timestamp=gte:20&key=gte:4")
	want = `{"hook_id":2,"owner_id":"0.0.1000","storage":[` +
		`{"key":"` + slotText("4") + `","value":"` + slotText("") + `","timestamp":"30.000000000"},` +
		`{"key":"` + slotText("5") + `","value":null,"timestamp":"20.000000000"}],"links":{"next":null}}`
	if got.Status != http.StatusOK || got.Body != want {
		t.Errorf("status %d:\n%s", got.Status, testenv.Diff(want, got.Body))
	}
	got = g.Get(t, "/api/v1/accounts/88/hooks/9/storage")
	if want := `{"hook_id":9,"owner_id":"0.0.88","storage":[],"links":{"next":null}}`; got.Status != http.StatusOK ||
		got.Body != want {
		t.Errorf("a hook that does not exist: %d %s", got.Status, got.Body)
	}
}

// TestHookStorageSelection checks which slots a query selects, each with the last digits of its value.
func TestHookStorageSelection(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, hooked.Shared(t))
	last := strings.Repeat("f", 64)
	for query, want := range map[string]string{
		"":                                     "1=c8 2=00 3=07 5=05 f=ff",
		"order=desc":                           "f=ff 5=05 3=07 2=00 1=c8",
		"key=gt:1&key=lte:0x3":                 "2=00 3=07",
		"key=gte:1&key=gte:3&key=lt:5":         "3=07",
		"key=1&key=eq:0x03&key=4":              "1=c8 3=07", // 4 is deleted
		"key=1&key=3&key=gt:1":                 "3=07",
		"key=1&key=gt:3":                       "",
		"key=gt:5":                             "f=ff",
		"key=gt:" + last:                       "1=c8 2=00 3=07 5=05 f=ff", // wraps around after the last key
		"key=lt:0":                             "1=c8 2=00 3=07 5=05 f=ff",
		"key=1,2":                              "1=c8 2=00",
		"timestamp=10":                         "1=0a 2=0b 4=0d",
		"timestamp=9.999999999":                "",
		"timestamp=lt:20":                      "1=0a 2=0b 4=0d",
		"timestamp=19.1":                       "1=0a 2=0b 4=0d",
		"timestamp=eq:20":                      "1=14 2=0b 4=0d 5=null",
		"timestamp=gt:10":                      "1=c8 4=00 5=null",
		"timestamp=gt:10&timestamp=lt:30":      "1=14 5=null",
		"timestamp=gt:10&timestamp=gte:30":     "1=c8 4=00",
		"timestamp=gt:20&timestamp=lt:20":      "",
		"timestamp=lt:0":                       "",
		"timestamp=gte:0&order=desc":           "5=null 4=00 2=0b 1=c8",
		"timestamp=gte:0&key=1&key=5&key=gt:1": "1=c8 5=null", // all, because one of them is in the range
		"timestamp=gte:0&key=1&key=5&key=gt:5": "",
		"timestamp=gte:0&key=lt:5&key=gt:1":    "2=0b 4=00",
	} {
		got := g.Get(t, "/api/v1/accounts/1000/hooks/2/storage?"+query)
		var rows []string
		for _, row := range rowIDs(t, got.Body, "storage", "key", "value") {
			key, value, _ := strings.Cut(row, "/")
			if value == "<nil>" {
				value = "null"
			} else {
				value = value[len(value)-2:]
			}
			rows = append(rows, key[len(key)-1:]+"="+value)
		}
		if shown := strings.Join(rows, " "); shown != want {
			t.Errorf("%s: %s, want %s", query, shown, want)
		}
	}
}

func TestHookStorageLinks(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, hooked.Shared(t))
	const path = "/api/v1/accounts/1000/hooks/2/storage"
	for query, want := range map[string]string{
		"?limit=2&order=asc&timestamp=gt:1":      path + "?limit=2&order=asc&timestamp=gt:1&key=gt:" + slotText("2"),
		"?limit=2&order=desc&key=lt:ff&key=gt:1": path + "?limit=2&order=desc&key=gt:1&key=lt:" + slotText("3"),
		"?limit=1&key=1":                         path + "?limit=1&key=1",
		"?limit=1&key=gte:6":                     "null", // no key follows the last one
		"?limit=9":                               "null",
	} {
		if next := nextOf(t, g.Get(t, path+query)); next != want {
			t.Errorf("%s goes on at %s, want %s", query, next, want)
		}
	}
	var walked []string
	for next := path + "?limit=2"; next != "null"; {
		got := g.Get(t, next)
		walked = append(walked, rowIDs(t, got.Body, "storage", "key")...)
		next = nextOf(t, got)
	}
	if want := []string{slotText("1"), slotText("2"), slotText("3"), slotText("5"), lastSlot}; !slices.Equal(walked,
		want) {
		t.Errorf("walked %v", walked)
	}
}

// TestHooksInGraphQL queries the relations of hooks, with and without row plans.
func TestHooksInGraphQL(t *testing.T) {
	t.Parallel()
	const document = `{
  account(id: "0.0.1000") {
    hooks(first: 2, order: ASC, filter: {hookId: {gte: 2}}) { nodes { id hookId owner { entityId } adminKey { type }
      storage(first: 1) { hookId nodes { key value timestamp transaction { result } } pageInfo { hasNextPage } }
      then: storage(at: {lte: "25"}, filter: {key: {in: ["0x01"]}}) { ownerId edges { node { value transaction { result } hook { hookId } } cursor } } } } }
  hook(owner: "1000", hookId: "9") { hookId }
  node(id: "SG9vazowLjAuMTAwMC8z") { ... on Hook { hookId deleted } }
}`
	one, fourteen, c8 := slotText("1"), slotText("14"), slotText("c8")
	cursor := "aG9vayBzdG9yYWdlOngwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAx"
	want := `{"data":{"account":{"hooks":{"nodes":[` +
		`{"id":"SG9vazowLjAuMTAwMC8y","hookId":"2","owner":{"entityId":"0.0.1000"},"adminKey":{"type":"ED25519"},` +
		`"storage":{"hookId":"2","nodes":[{"key":"` + one + `","value":"` +
		c8 + `","timestamp":"30.000000000","transaction":null}],"pageInfo":{"hasNextPage":true}},` +
		`"then":{"ownerId":"0.0.1000","edges":[{"node":{"value":"` + fourteen +
		`","transaction":{"result":"SUCCESS"},"hook":{"hookId":"2"}},"cursor":"` + cursor + `"}]}},` +
		`{"id":"SG9vazowLjAuMTAwMC8z","hookId":"3","owner":{"entityId":"0.0.1000"},"adminKey":{"type":"ED25519"},` +
		`"storage":{"hookId":"3","nodes":[{"key":"` + one + `","value":"` +
		one + `","timestamp":"0.000000001","transaction":null}],"pageInfo":{"hasNextPage":false}},` +
		`"then":{"ownerId":"0.0.1000","edges":[{"node":{"value":"` + one +
		`","transaction":null,"hook":{"hookId":"3"}},"cursor":"` + cursor + `"}]}}]}},` +
		`"hook":null,"node":{"hookId":"3","deleted":true}}}`
	for name, options := range map[string][]testenv.Option{"default": nil} {
		g := testenv.Over(t, hooked.Shared(t), options...)
		if got := g.Query(t, document, nil); got.Body != want {
			t.Errorf("%s:\n%s", name, testenv.Diff(want, got.Body))
		}
		var page struct {
			HookStorage struct{ Nodes []struct{ Key string } }
		}
		g.Data(t,
			`query($after: String) { hookStorage(owner: "1000", hookId: 2, after: $after, first: 1) { nodes { key `+
				`} } }`, map[string]any{"after": cursor}, &page)
		if len(page.HookStorage.Nodes) != 1 || page.HookStorage.Nodes[0].Key != slotText("2") {
			t.Errorf("%s: after slot 1 comes %v", name, page)
		}
	}
	g := testenv.Over(t, hooked.Shared(t))
	for _, bad := range []string{
		`{node(id:"SG9vazowLjAuMTAwMC94"){id}}`,
		`{hookStorage(owner:"1000",hookId:1,after:"x"){nodes{key}}}`, `{hooks(owner:"1000",first:101){nodes{id}}}`,
	} {
		if got := g.Query(t, bad, nil); !strings.Contains(got.Body, `"BAD_USER_INPUT"`) {
			t.Errorf("%s: %s", bad, got.Body)
		}
	}
}

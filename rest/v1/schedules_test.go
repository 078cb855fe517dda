package v1_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// scheduleRows are schedules around the tests' current time, 1779021296. 5100 is executed and has a long signature,
// 5101 is missing in the table entity, 5102 is deleted, and 5103 to 5108 are before and after their expiration.
var scheduleRows = testenv.Rows("schedules", func(b *pgx.Batch) {
	for _, sql := range []string{
		`insert into schedule (schedule_id, consensus_timestamp, creator_account_id, payer_account_id, executed_timestamp, expiration_time, transaction_body, wait_for_expiry) values
(5100, 1700000009000000321, 4711, 4712, 1700000100000000002, null, '\x0a0b0c0d', true), (5101, 1700000010000000000, 4711, 4711, null, null, '\x', false),
(5102, 1779021296000000000, 4713, 4711, null, null, '\x01', false),
(5103, 1779019436000000000, 4713, 4711, null, null, '\x01', false), (5104, 1779019436000000001, 4713, 4711, null, null, '\x01', false),
(5105, 1, 4713, 4711, null, 1779021236000000000, '\x01', false), (5106, 1, 4713, 4711, null, 1779021236000000001, '\x01', true),
(5107, 1779021296000000000, 4713, 4711, null, null, '\x01', false)`,
		`insert into entity (id, num, realm, shard, type, timestamp_range, memo, key, deleted) values
(5100, 5100, 0, 0, 'SCHEDULE', '[1,)', 'rent', '\x0a0b0c', false), (5102, 5102, 0, 0, 'SCHEDULE', '[1,)', '"deleted":null,', '\x3200', true),
(5107, 5107, 0, 0, 'SCHEDULE', '[1,)', '', null, null), (4711, 4711, 0, 0, 'ACCOUNT', '[1,)', 'creator', null, false)`,
		`insert into transaction_signature (consensus_timestamp, public_key_prefix, entity_id, signature, type) values
(1700000060000000000, decode(repeat('00', 57), 'hex'), 5100, decode(repeat('ff', 64), 'hex'), null), (1700000050000000001, '\x0a6b', 5100, '\x0c0d0e', 3),
(1, '\x', 5199, '\x', 2)`,
	} {
		b.Queue(sql)
	}
})

// full is the schedule 5100. unknown is the schedule 5101 up to the members that the list omits.
const (
	full = `{"admin_key":{"_type":"ProtobufEncoded","key":"0a0b0c"},"deleted":false,` +
		`"consensus_timestamp":"1700000009.000000321","creator_account_id":"0.0.4711",` +
		`"executed_timestamp":"1700000100.000000002","expiration_time":null,"memo":"rent",` +
		`"payer_account_id":"0.0.4712","schedule_id":"0.0.5100",` +
		`"signatures":[{"consensus_timestamp":"1700000050.000000001","public_key_prefix":"Cms=",` +
		`"signature":"DA0O","type":"ED25519"},{"consensus_timestamp":"1700000060.000000000",` +
		`"public_key_prefix":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA` +
		`AAAAAAAAAAA","signature":"////////////////////////////////////////////////////////` +
		`////////////////////\n/////////w==","type":"UNKNOWN"}],` +
		`"transaction_body":"CgsMDQ==","wait_for_expiry":true}`

	unknownRest = `"payer_account_id":"0.0.4711","schedule_id":"0.0.5101","signatures":[],"transaction_body":"",` +
		`"wait_for_expiry":false}`
	unknownHead = `"consensus_timestamp":"1700000010.000000000","creator_account_id":"0.0.4711",` +
		`"executed_timestamp":null,"expiration_time":null,`
)

func TestSchedules(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, scheduleRows.Shared(t))
	unlisted := `{"admin_key":null,` + unknownHead + unknownRest
	deleted := `{"admin_key":null,"deleted":true,"consensus_timestamp":"1779021296.000000000",` +
		`"creator_account_id":"0.0.4713","executed_timestamp":null,"expiration_time":null,"memo":"\"deleted\":null,` +
		`","payer_account_id":"0.0.4711","schedule_id":"0.0.5102","signatures":[],"transaction_body":"AQ==",` +
		`"wait_for_expiry":false}`
	nullDeleted := `{"admin_key":null,"deleted":null,"consensus_timestamp":"1779021296.000000000",` +
		`"creator_account_id":"0.0.4713","executed_timestamp":null,"expiration_time":null,"memo":"",` +
		`"payer_account_id":"0.0.4711","schedule_id":"0.0.5107","signatures":[],"transaction_body":"AQ==",` +
		`"wait_for_expiry":false}`
	late := `{"admin_key":null,"consensus_timestamp":"0.000000001","creator_account_id":"0.0.4713",` +
		`"executed_timestamp":null,"expiration_time":"1779021236.000000001","payer_account_id":"0.0.4711",` +
		`"schedule_id":"0.0.5106","signatures":[],"transaction_body":"AQ==","wait_for_expiry":true}`
	page := func(next string, rows ...string) string {
		if next != "null" {
			next = `"/api/v1/schedules?` + next + `"`
		}
		return `{"schedules":[` + strings.Join(rows, ",") + `],"links":{"next":` + next + `}}`
	}
	for query, want := range map[string]string{
		"account.id=4711": page("null", full, unlisted),
		"limit=3": page("limit=3&schedule.id=gt:0.0.5102",
			full, unlisted, deleted),
		"schedule.id=gte:5106": page("null", late, nullDeleted),
		"limit=2&order=DESC&account.id=4713": page("limit=2&order=desc&account.id=4713&"+
			"schedule.id=lt:0.0.5106", nullDeleted, late),
		"account.id=0.0.4711&order=desc&limit=2": page("account.id=0.0.4711&order=desc&limit=2&"+
			"schedule.id=lt:0.0.5100", unlisted, full),
		"schedule.id=lte:5101&limit=2":                              page("null", full, unlisted),
		"schedule.id=5100&limit=1":                                  page("schedule.id=5100&limit=1", full),
		"schedule.id=5100&schedule.id=5101":                         page("null"), // both must hold
		"schedule.id=5100&schedule.id=0.0.5100":                     page("null", full),
		"account.id=4711&account.id=4713":                           page("null"),
		"account.id=ne:4713&schedule.id=ne:0.5100":                  page("null", unlisted),
		"account.id=0x0000000000000000000000000000000000001267":     page("null", full, unlisted),
		"account.id=0x1000000000000000000000000000000000001267":     page("null"),
		"schedule.id=gt:0x1000000000000000000000000000000000001267": page("null"),
		"schedule.id=gt:5107":                                       page("null"),
		"schedule.id=gt:5107&schedule.id=lt:4":                      page("null"),

		"foo=1&limit=x&schedule.id=a.b&order=up": `{"_status":{"messages":[{"message":"Invalid parameter: ` +
			`limit"},{"message":"Invalid parameter: schedule.id"},{"message":"Invalid parameter: ` +
			`order"},{"message":"Unknown query parameter: foo"}]}}`,
		"timestamp=1": `{"_status":{"messages":[{"message":"Unknown query parameter: ` +
			`timestamp"}]}}`,
		"limit=0": invalidBody("limit"),
		"account.id=0.65536.1": `{"_status":{"messages":[{"message":"Invalid entity ID ` +
			`\"0.65536.1\""}]}}`,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			got := g.Get(t, "/api/v1/schedules?"+query)
			status, cache := http.StatusOK, "public, max-age=10"
			if strings.HasPrefix(want, `{"_status"`) {
				status, cache = http.StatusBadRequest, ""
			}
			if got.Status != status || got.Body != want || got.Header.Get("Cache-Control") != cache {
				t.Errorf("status %d, Cache-Control %q, %s\nwant %d, %q, %s", got.Status,
					got.Header.Get("Cache-Control"), got.Body, status, cache, want)
			}
		})
	}
}

func TestScheduleByID(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, scheduleRows.Shared(t))
	badID := invalidBody("scheduleid")
	const missing, longTime, shortTime = `{"_status":{"messages":[{"message":"Not found"}]}}`, "public, max-age=3600",
		"public, max-age=1"
	for path, c := range map[string]struct {
		status      int
		body, cache string
	}{
		"5100":     {200, full, longTime},
		"0.5100":   {200, full, longTime},
		"0.0.5100": {200, full, longTime},
		"5101":     {200, `{"admin_key":null,"deleted":null,` + unknownHead + `"memo":null,` + unknownRest, longTime},
		"5102":     {200, "", longTime},
		"5103":     {200, "", longTime},
		"5104":     {200, "", shortTime},
		"5105":     {200, "", longTime},
		"5106":     {200, "", shortTime},
		"5107":     {200, "", shortTime},
		"4711":     {404, missing, ""},
		"0.1.5100": {404, missing, ""},

		"abc":           {400, badID, ""},
		"0.0.0.5100":    {400, badID, ""},
		"-1":            {400, badID, ""},
		"0.65536.1":     {400, badID, ""},
		"1234567890123": {400, badID, ""},
		"0x00000000000000000000000000000000000013ec": {400, badID, ""},
		"abc?order=asc": {400, `{"_status":{"messages":[{"message":"Unknown query parameter: order"}]}}`, ""},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			got := g.Get(t, "/api/v1/schedules/"+path)
			if got.Status != c.status || c.body != "" && got.Body != c.body ||
				got.Header.Get("Cache-Control") != c.cache {
				t.Errorf("status %d, Cache-Control %q, %s\nwant %d, %q, %s", got.Status,
					got.Header.Get("Cache-Control"), got.Body, c.status, c.cache, c.body)
			}
		})
	}
}

// TestScheduleSignatureLines compares the lines of base64 with those of the database. Unlike the API, the database
// adds a line break after a full last line, so no size here is a multiple of 57.
func TestScheduleSignatureLines(t *testing.T) {
	t.Parallel()
	url := scheduleRows.Fresh(t)
	testenv.Exec(t, url, `insert into transaction_signature (consensus_timestamp, public_key_prefix, entity_id, signature, type)
select i, decode(repeat('5a', i * 19 / 2 + 1), 'hex'), 5107, decode(repeat('a5', i * 57 + (i % 2) * 2 - 1), 'hex'), 6 from generate_series(1, 8) i`)
	g := testenv.Over(t, url)
	var got struct {
		Signatures []struct {
			Prefix    string `json:"public_key_prefix"`
			Signature string
		}
	}
	testenv.Decode(t, g.Get(t, "/api/v1/schedules/5107").Body, &got)
	want := texts(t,
		g,
		`select encode(public_key_prefix, 'base64') || ' ' || encode(signature, 'base64') from `+
			`transaction_signature where entity_id = 5107 order by consensus_timestamp`)
	if len(got.Signatures) != len(want) {
		t.Fatalf("%d signatures, want %d", len(got.Signatures), len(want))
	}
	for i, s := range got.Signatures {
		if text := s.Prefix + " " + s.Signature; text != want[i] {
			t.Errorf("signature %d is\n%s\nwant\n%s", i, text, want[i])
		}
		if _, err := base64.StdEncoding.DecodeString(s.Signature); err != nil {
			t.Errorf("signature %d: %v", i, err)
		}
	}
}

// TestSignatureOrder stores signatures with the same timestamp in all orders. The response has them by timestamp and
// public key prefix.
func TestSignatureOrder(t *testing.T) {
	t.Parallel()
	url := scheduleRows.Fresh(t)
	rows := []string{
		`(9, '\x', 5101, '\xaa', 3)`, `(9, '\x01', 5101, '\xab', 3)`, `(9, '\x0100', 5101, '\xac', 2)`,
		`(8, '\xff', 5101, '\xad', 3)`,
	}
	g := testenv.Over(t, url)
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}} {
		testenv.Exec(t, url, `delete from transaction_signature where entity_id = 5101`)
		for _, i := range order {
			testenv.Exec(t,
				url,
				`insert into transaction_signature (consensus_timestamp, public_key_prefix, entity_id, signature, `+
					`type) values `+rows[i])
		}
		got := g.Get(t, "/api/v1/schedules/5101")
		at := 0
		for _, signature := range []string{"rQ==", "qg==", "qw==", "rA=="} {
			next := strings.Index(got.Body[at:], `"signature":"`+signature+`"`)
			if next < 0 {
				t.Fatalf("%v: %s is not in its place: %s", order, signature, got.Body)
			}
			at += next
		}
	}
}

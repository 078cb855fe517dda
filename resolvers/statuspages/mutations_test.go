package statuspages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

const (
	adminToken    = "admin-token-of-the-tests"
	operatorToken = "operator-token-of-the-tests"
	reporterToken = "reporter-token-of-the-tests"
	viewerToken   = "viewer-token-of-the-tests"
	allTokens     = "ann:admin:" + adminToken + ",otto:operator:" + operatorToken + ",rita:reporter:" + reporterToken +
		",vera:viewer:" + viewerToken
)

// desk is a gateway with a status page and editors.
type desk struct {
	*testenv.Gateway
	t         *testing.T
	page      string
	component string
	log       *safeBuffer
}

// safeBuffer is a log buffer for concurrent use.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, log: &safeBuffer{}}
	d.Gateway = testenv.Over(t, testenv.Empty.Fresh(t), testenv.Tokens(allTokens),
		func(o *testenv.Options) {
			o.Logger = slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
	ed := statuspages.NewEditor(d.Status, testenv.Now)
	var err error
	if d.page, err = ed.InitPage(t.Context(), statuspages.Author{Name: "test"},
		status.Page{Name: "Lantern", URL: "https://status.example"}, "API"); err != nil {
		t.Fatal(err)
	}
	if err := d.Status.Pool().QueryRow(t.Context(), `select id from status.component`).Scan(&d.component); err != nil {
		t.Fatal(err)
	}
	return d
}

// answer is the response to a mutation.
type answer struct {
	Data   map[string]json.RawMessage
	Errors []struct {
		Message    string
		Extensions map[string]any
	}
}

// code returns the code of the only error, or an empty string if there is none.
func (a *answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return show(a.Errors[0].Extensions["code"])
}

// show formats values, separated by spaces.
func show(values ...any) string { return strings.TrimSpace(fmt.Sprintln(values...)) }

// as sends a document with a token.
func (d *desk) as(token, document string, input map[string]any) *answer {
	d.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": map[string]any{"in": input}})
	if err != nil {
		d.t.Fatal(err)
	}
	headers := []string{"Content-Type: application/json"}
	if token != "" {
		headers = append(headers, "Authorization: Bearer "+token)
	}
	var a answer
	testenv.Decode(d.t, d.Do(d.t, "POST", "/graphql", string(body), headers...).Body, &a)
	return &a
}

const (
	openDocument = `mutation($in: OpenIncidentInput!) { r: openIncident(input: $in) { incident { id code ` +
		`version status impact components { status } updates { code status affectedComponents { oldStatus newStatus ` +
		`} } } } }`
	updateDocument = `mutation($in: UpdateIncidentInput!) { r: updateIncident(input: $in) { incident { id code ` +
		`version status impact components { status } updates { code status affectedComponents { oldStatus newStatus ` +
		`} } } } }`
	scheduleDocument = `mutation($in: ScheduleMaintenanceInput!) { r: scheduleMaintenance(input: $in) { maintenance ` +
		`{ id code version status remindMinutes autoCompleted page { slug revision } } } }`
	moveDocument = `mutation($in: MoveMaintenanceInput!) { r: moveMaintenance(input: $in) { maintenance { id ` +
		`version status components { status shownStatus } updates { body } } } }`
)

// ok sends a mutation, which must succeed, and returns the written object.
func (d *desk) ok(token, document string, input map[string]any) map[string]any {
	d.t.Helper()
	a := d.as(token, document, input)
	if len(a.Errors) > 0 {
		d.t.Fatalf("%s with %v: %v", document, input, a.Errors)
	}
	var payload map[string]map[string]any
	if err := json.Unmarshal(a.Data["r"], &payload); err != nil {
		d.t.Fatalf("%v in %s", err, a.Data["r"])
	}
	for _, object := range payload {
		return object
	}
	return nil
}

func TestMutations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	affected := func(s string) []any { return []any{map[string]any{"componentId": d.component, "status": s}} }
	got := d.ok(operatorToken, openDocument, map[string]any{
		"name": "Slow", "body": "We look.",
		"affected": affected("PARTIAL_OUTAGE"),
	})
	text, _ := json.Marshal(got["components"])
	updates, _ := json.Marshal(got["updates"])
	if got["status"] != "INVESTIGATING" || got["impact"] != "MAJOR" || got["version"] != "1" ||
		string(text) != `[{"status":"PARTIAL_OUTAGE"}]` ||
		!strings.Contains(string(updates), `[{"newStatus":"PARTIAL_OUTAGE","oldStatus":"OPERATIONAL"}]`) {
		t.Errorf("%v", got)
	}
	id := got["id"]
	d.ok(reporterToken, updateDocument, map[string]any{
		"id": got["code"], "status": "MONITORING", "body": "Better.",
		"expectedVersion": 1,
	})
	a := d.as(operatorToken, updateDocument, map[string]any{
		"id": id, "status": "RESOLVED", "body": "Over.",
		"expectedVersion": 1,
	})
	if a.code() != "CONFLICT" {
		t.Errorf("%+v", a)
	}
	d.ok(operatorToken, updateDocument, map[string]any{
		"id": id, "status": "RESOLVED", "body": "Over.",
		"expectedVersion": 2,
	})
	a = d.as(operatorToken, updateDocument, map[string]any{"id": id, "status": "MONITORING", "body": "x"})
	if want := "[RESOLVED POSTMORTEM]"; a.code() != "BAD_STATE" ||
		show(a.Errors[0].Extensions["from"], a.Errors[0].Extensions["to"],
			a.Errors[0].Extensions["allowed"]) != "RESOLVED MONITORING "+want {
		t.Errorf("%+v", a)
	}
	const postmortem = `mutation($in: PublishPostmortemInput!) { r: publishPostmortem(input: $in) { incident { ` +
		`status } } }`
	if got := d.ok(operatorToken, postmortem, map[string]any{
		"id":   id,
		"body": "So it was.",
	}); got["status"] != "POSTMORTEM" {
		t.Errorf("%v", got)
	}
	if got := d.ok(operatorToken, strings.Replace(updateDocument, "updateIncident", "reopenIncident", 1),
		map[string]any{"id": id, "status": "IDENTIFIED", "body": "Again."}); got["status"] != "IDENTIFIED" {
		t.Errorf("%v", got)
	}
	first := updates[bytes.Index(updates, []byte(`"code":"`))+8:]
	const edit = `mutation($in: EditUpdateInput!) { r: editUpdate(input: $in) { update { body displayAt notice { ` +
		`... on StatusIncident { createdAt } } } } }`
	if got := d.ok(operatorToken, edit, map[string]any{
		"id": string(first[:12]), "body": "We looked.",
		"displayAt": "2026-05-17T10:00:00.5Z",
	}); show(
		got) != "map[body:We looked. displayAt:2026-05-17T10:00:00.000Z "+
		"notice:map[createdAt:2026-05-17T10:00:00.000Z]]" {
		t.Errorf("%v", got)
	}
	const editNotice = `mutation($in: EditNoticeInput!) { r: editStatusNotice(input: $in) { notice { name impact } } }`
	if got := d.ok(operatorToken, editNotice, map[string]any{
		"id": id, "name": "Very slow",
		"impactOverride": "CRITICAL",
	}); show(got) != "map[impact:CRITICAL name:Very slow]" {
		t.Errorf("%v", got)
	}
	const remove = `mutation($in: NoticeInput!) { r: deleteStatusNotice(input: $in) { code } }`
	if a := d.as(operatorToken, remove, map[string]any{"id": id}); a.code() != "" {
		t.Errorf("%+v", a)
	}
	if a := d.as(operatorToken, remove, map[string]any{"id": id}); a.code() != "NOT_FOUND" {
		t.Errorf("%+v", a)
	}
	if strings.Contains(d.log.String(), "-token-of-the-tests") {
		t.Error("the log contains a token")
	}
}

func TestMaintenanceMutations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	in := map[string]any{
		"name": "Work", "body": "Soon.", "scheduledFor": "2026-05-17T13:00:00Z",
		"scheduledUntil": "2026-05-17T14:00:00Z", "componentIds": []string{d.component}, "idempotencyKey": "w1",
	}
	got := d.ok(operatorToken, scheduleDocument, in)
	if show(got["status"], got["remindMinutes"], got["autoCompleted"],
		got["page"]) != "SCHEDULED 60 true map[revision:2 slug:lantern]" {
		t.Errorf("%v", got)
	}
	if again := d.ok(operatorToken, scheduleDocument, in); again["id"] != got["id"] ||
		show(again["page"]) != "map[revision:2 slug:lantern]" {
		t.Errorf("the same key: %v", again)
	}
	in["name"] = "Other work"
	if a := d.as(operatorToken, scheduleDocument, in); a.code() != "CONFLICT" {
		t.Errorf("the same key for another maintenance: %+v", a)
	}
	in["name"] = "Work"
	id := got["id"]
	const reschedule = `mutation($in: RescheduleMaintenanceInput!) { r: rescheduleMaintenance(input: $in) { ` +
		`maintenance { scheduledFor updates { status body } } } }`
	got = d.ok(operatorToken, reschedule, map[string]any{
		"id": id, "scheduledFor": "2026-05-17T12:00:00+00:00",
		"scheduledUntil": "2026-05-17T15:00:00Z", "body": "Earlier.",
	})
	if show(got["scheduledFor"],
		got["updates"]) != "2026-05-17T12:00:00.000Z [map[body:Earlier. status:SCHEDULED] map[body:Soon. "+
		"status:SCHEDULED]]" {
		t.Errorf("%v", got)
	}
	if a := d.as(operatorToken, moveDocument, map[string]any{
		"id":     id,
		"status": "VERIFYING",
	}); a.code() != "BAD_STATE" ||
		show(a.Errors[0].Extensions["allowed"]) != "[SCHEDULED IN_PROGRESS COMPLETED]" {
		t.Errorf("%+v", a)
	}
	got = d.ok(operatorToken, moveDocument, map[string]any{"id": id, "status": "IN_PROGRESS"})
	if show(got["components"]) != "[map[shownStatus:OPERATIONAL status:UNDER_MAINTENANCE]]" ||
		!strings.Contains(show(got["updates"]), "This maintenance has started.") {
		t.Errorf("%v", got)
	}
	const cancel = `mutation($in: CancelMaintenanceInput!) { r: cancelMaintenance(input: $in) { maintenance { ` +
		`status } } }`
	if a := d.as(operatorToken, cancel, map[string]any{"id": id}); a.code() != "BAD_STATE" {
		t.Errorf("%+v", a)
	}
	delete(in, "idempotencyKey")
	id = d.ok(operatorToken, scheduleDocument, in)["id"]
	if got := d.ok(operatorToken, cancel, map[string]any{"id": id}); got["status"] != "COMPLETED" {
		t.Errorf("%v", got)
	}
}

func TestPageMutations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const add = `mutation($in: AddComponentInput!) { r: addComponent(input: $in) { component { id code isGroup ` +
		`position showcase startDate group { name } } } }`
	group := d.ok(adminToken, add, map[string]any{"name": "Mainnet", "isGroup": true, "showcase": false})
	relay := d.ok(adminToken, add, map[string]any{"name": "Relay", "groupId": group["id"]})
	if show(relay["group"], relay["position"], relay["showcase"],
		relay["startDate"]) != "map[name:Mainnet] 1 true 2026-05-17" {
		t.Errorf("%v", relay)
	}
	const move = `mutation($in: MoveComponentInput!) { r: moveComponent(input: $in) { component { position group { ` +
		`name } } } }`
	if got := d.ok(adminToken, move, map[string]any{"id": relay["id"], "position": 1}); show(
		got) != "map[group:<nil> position:1]" {
		t.Errorf("%v", got)
	}
	const edit = `mutation($in: EditComponentInput!) { r: editComponent(input: $in) { component { name description ` +
		`nodeId } } }`
	if got := d.ok(adminToken, edit, map[string]any{
		"id": relay["code"], "name": "JSON-RPC", "description": "Relays",
		"nodeId": 3,
	}); show(got) != "map[description:Relays name:JSON-RPC nodeId:3]" {
		t.Errorf("%v", got)
	}
	const setStatus = `mutation($in: SetComponentStatusInput!) { r: setComponentStatus(input: $in) { component { ` +
		`status baseStatus } } }`
	if got := d.ok(reporterToken, setStatus, map[string]any{"id": relay["code"], "status": "MAJOR_OUTAGE"}); show(
		got) != "map[baseStatus:MAJOR_OUTAGE status:MAJOR_OUTAGE]" {
		t.Errorf("%v", got)
	}
	const remove = `mutation($in: RemoveComponentInput!) { r: removeComponent(input: $in) { code } }`
	for _, c := range []map[string]any{relay, group} {
		if a := d.as(adminToken, remove, map[string]any{"id": c["id"]}); a.code() != "" {
			t.Errorf("%+v", a)
		}
	}
	const page = `mutation($in: SetStatusPageInput!) { r: setStatusPage(input: $in) { page { name timeZone } } }`
	if got := d.ok(adminToken, page, map[string]any{"settings": []any{
		map[string]any{"key": "name", "value": "Beacon"},
		map[string]any{"key": "time_zone", "value": "Asia/Kolkata"},
	}}); show(
		got) != "map[name:Beacon timeZone:Asia/Kolkata]" {
		t.Errorf("%v", got)
	}
	if a := d.as(adminToken, page,
		map[string]any{"settings": []any{map[string]any{
			"key":   "color",
			"value": "red",
		}}}); a.code() != "BAD_USER_INPUT" {
		t.Errorf("%+v", a)
	}
	if a := d.as(adminToken, page, map[string]any{"page": "none", "settings": []any{}}); a.code() != "NOT_FOUND" {
		t.Errorf("%+v", a)
	}
	// A mutation reads the writes of earlier mutations in the same document.
	got := d.as(adminToken,
		`mutation($a: SetStatusPageInput!, $b: SetStatusPageInput!) { a: setStatusPage(input: {settings: [{key: `+
			`"name", value: "One"}]}) { page { name revision } } b: setStatusPage(input: {settings: [{key: "name", `+
			`value: "Two"}]}) { page { name revision } } }`, nil)
	if len(got.Errors) == 0 {
		t.Error("unused variables are accepted")
	}
	got = d.as(adminToken,
		`mutation { a: setStatusPage(input: {settings: [{key: "name", value: "One"}]}) { page { name } } b: `+
			`setStatusPage(input: {settings: [{key: "name", value: "Two"}]}) { page { name } } }`, nil)
	if string(got.Data["a"])+string(got.Data["b"]) != `{"page":{"name":"One"}}{"page":{"name":"Two"}}` {
		t.Errorf("%s", got.Data)
	}
}

// TestRoles checks which mutations each role may run, and that others are denied.
func TestRoles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	open := map[string]any{"name": "Slow", "body": "We look."}
	code := d.ok(operatorToken, openDocument, open)["code"]
	update := map[string]any{"id": code, "status": "IDENTIFIED", "body": "x"}
	const setStatus = `mutation($in: SetComponentStatusInput!) { r: setComponentStatus(input: $in) { component { ` +
		`status } } }`
	const add = `mutation($in: AddComponentInput!) { r: addComponent(input: $in) { component { id } } }`
	state := map[string]any{"id": d.component, "status": "OPERATIONAL"}
	for _, c := range []struct{ token, document, want string }{
		{"", openDocument, "UNAUTHENTICATED"},
		{"wrong", openDocument, "UNAUTHENTICATED"},
		{adminToken + "x", openDocument, "UNAUTHENTICATED"},
		{"ann", openDocument, "UNAUTHENTICATED"},
		{viewerToken, openDocument, "FORBIDDEN"},
		{viewerToken, updateDocument, "FORBIDDEN"},
		{viewerToken, setStatus, "FORBIDDEN"},
		{reporterToken, openDocument, "FORBIDDEN"},
		{reporterToken, updateDocument, ""},
		{reporterToken, setStatus, ""},
		{reporterToken, add, "FORBIDDEN"},
		{operatorToken, openDocument, ""},
		{operatorToken, setStatus, ""},
		{operatorToken, add, "FORBIDDEN"},
		{adminToken, add, ""},
		{adminToken, openDocument, ""},
	} {
		input := map[string]map[string]any{
			openDocument: open, updateDocument: update, setStatus: state,
			add: {"name": "New"},
		}[c.document]
		if got := d.as(c.token, c.document, input); got.code() != c.want {
			t.Errorf("%s as %s: %+v, want %q", c.document[:60], c.token, got, c.want)
		}
	}
	// Tokens in the database are equivalent, on the pages that they are valid for.
	ed := statuspages.NewEditor(d.Status, testenv.Now)
	by := statuspages.Author{Name: "test"}
	token, err := ed.AddToken(t.Context(), by,
		status.Token{Name: "bot", Role: status.Operator, PageCode: ledger.Of(d.page)})
	if err != nil {
		t.Fatal(err)
	}
	d.ok(token, openDocument, open)
	if _, err := ed.InitPage(t.Context(), by, status.Page{
		Name: "Other",
		URL:  "https://other.example",
	}, "X"); err != nil {
		t.Fatal(err)
	}
	if a := d.as(token, openDocument, map[string]any{
		"page": "other", "name": "x",
		"body": "x",
	}); a.code() != "NOT_FOUND" {
		t.Errorf("token of another page: %+v", a)
	}
	var actor string
	if err := d.Status.Pool().QueryRow(t.Context(),
		`select actor from status.audit where action = 'incident.open' order by id desc limit 1`).Scan(
		&actor); err != nil || actor != "bot" {
		t.Errorf("the audit log has the actor %s, %v", actor, err)
	}
	if err := ed.RemoveToken(t.Context(), by, "bot"); err != nil {
		t.Fatal(err)
	}
	if a := d.as(token, openDocument, open); a.code() != "UNAUTHENTICATED" {
		t.Errorf("deleted token: %+v", a)
	}
}

// TestDraftsAreHidden checks that drafts are visible only with a token.
func TestDraftsAreHidden(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	code := d.ok(operatorToken, openDocument, map[string]any{
		"name": "Maybe", "body": "x",
		"draft": true,
	})["code"].(string)
	const drafts = `{ statusDrafts { code name } }`
	if a := d.as(viewerToken, drafts, nil); string(a.Data["statusDrafts"]) != `[{"code":"`+code+`","name":"Maybe"}]` {
		t.Errorf("%+v", a)
	}
	if a := d.as("", drafts, nil); a.code() != "UNAUTHENTICATED" {
		t.Errorf("%+v", a)
	}
	if a := d.as("", `{ statusIncident(code: "`+code+`") { name } status { incidents { nodes { name } } } }`,
		nil); string(a.Data["statusIncident"])+string(a.Data["status"]) != `null{"incidents":{"nodes":[]}}` {
		t.Errorf("%s", a.Data)
	}
	const publish = `mutation($in: NoticeInput!) { r: publishDraft(input: $in) { incident { name } } }`
	d.ok(operatorToken, publish, map[string]any{"id": code})
	if a := d.as("", `{ statusIncident(code: "`+code+`") { name } }`,
		nil); string(a.Data["statusIncident"]) != `{"name":"Maybe"}` {
		t.Errorf("%s", a.Data)
	}
}

// TestGetDoesNotMutate checks that GET requests cannot run mutations.
func TestGetDoesNotMutate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	got := d.Do(t, "GET", "/graphql?query="+url.QueryEscape(
		`mutation { openIncident(input: {name: "x", body: "x"}) { incident { id } } }`), "",
		"Authorization: Bearer "+adminToken)
	if got.Status != 405 || !strings.Contains(got.Body, "POST") {
		t.Errorf("status %d: %s", got.Status, got.Body)
	}
	var n int
	if err := d.Status.Pool().QueryRow(t.Context(), `select count(*) from status.incident`).Scan(&n); err != nil ||
		n != 0 {
		t.Errorf("%d incidents, %v", n, err)
	}
}

// TestUnwritableMutations tests mutations on a read-only database.
func TestUnwritableMutations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	testenv.Exec(t, pgtest.Direct(d.Status.Pool().Config().ConnString()),
		`do $$ begin execute format('alter database %I set default_transaction_read_only = on', `+
			`current_database()); end $$`,
		`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> `+
			`pg_backend_pid()`)
	d.Status.Pool().Reset()
	a := d.as(operatorToken, openDocument, map[string]any{"name": "x", "body": "x"})
	if a.code() != "UNAVAILABLE" || !strings.Contains(a.Errors[0].Message, "cannot write to the status database") {
		t.Errorf("%+v", a)
	}
}

// TestWebhookMutations adds, lists, rotates and removes webhooks. Only administrators may.
func TestWebhookMutations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const add = `mutation($in: AddStatusWebhookInput!) { r: addStatusWebhook(input: $in) { secret webhook { code ` +
		`url components pending failures lastError disabledAt } } }`
	in := map[string]any{"url": "https://r.example/x", "componentIds": []any{d.component}, "idempotencyKey": "w"}
	if a := d.as(operatorToken, add, in); a.code() != "FORBIDDEN" {
		t.Errorf("%+v", a)
	}
	ok := func(document string, input map[string]any) (got map[string]any) {
		t.Helper()
		a := d.as(adminToken, document, input)
		if err := json.Unmarshal(a.Data["r"], &got); err != nil || len(a.Errors) > 0 {
			t.Fatalf("%+v, %v", a, err)
		}
		return got
	}
	got := ok(add, in)
	hook, _ := got["webhook"].(map[string]any)
	if secret := show(got["secret"]); !strings.HasPrefix(secret, "whsec_") ||
		show(hook["url"], hook["components"], hook["pending"]) != "https://r.example/x ["+d.component+"] 0" {
		t.Errorf("%v", got)
	}
	if again := ok(add, in); again["secret"] != nil || show(again["webhook"]) != show(hook) {
		t.Errorf("repeated: %v", again)
	}
	if a := d.as(adminToken, add, map[string]any{"url": "file:///etc/passwd"}); a.code() != "BAD_USER_INPUT" {
		t.Errorf("%+v", a)
	}
	d.ok(operatorToken, openDocument, map[string]any{
		"name": "Slow", "body": "x",
		"affected": []any{map[string]any{"componentId": d.component, "status": "MAJOR_OUTAGE"}},
	})
	d.ok(operatorToken, openDocument, map[string]any{"name": "Quiet", "body": "x", "deliverNotifications": false})
	const listed = `{ statusWebhooks { code pending } }`
	if a := d.as(adminToken, listed, nil); string(a.Data["statusWebhooks"]) != `[{"code":"`+show(
		hook["code"])+`","pending":"2"}]` {
		t.Errorf("%s", a.Data)
	}
	if a := d.as(operatorToken, listed, nil); a.code() != "FORBIDDEN" {
		t.Errorf("%+v", a)
	}
	code := map[string]any{"code": hook["code"]}
	const rotate = `mutation($in: StatusWebhookInput!) { r: rotateStatusWebhook(input: $in) { secret webhook { ` +
		`code } } }`
	if again := ok(rotate, code); !strings.HasPrefix(show(again["secret"]), "whsec_") ||
		again["secret"] == got["secret"] {
		t.Errorf("%v", again)
	}
	const enable = `mutation($in: StatusWebhookInput!) { r: enableStatusWebhook(input: $in) { webhook { disabledAt ` +
		`} } }`
	ok(enable, code)
	const remove = `mutation($in: StatusWebhookInput!) { r: removeStatusWebhook(input: $in) { code } }`
	ok(remove, code)
	if a := d.as(adminToken, remove, code); a.code() != "NOT_FOUND" {
		t.Errorf("%+v", a)
	}
}

package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/demo"
	"heliograph/storage/statuspages"
)

// statusChange is an event of statusChanged.
type statusChange struct {
	Revision int64 `json:",string"`
	At       string
	Page     struct {
		Revision int64 `json:",string"`
		Rollup   struct{ Indicator string }
	}
	ComponentChanges []struct {
		Code, Name                               string
		OldStatus, NewStatus, OldShown, NewShown string
		Component                                struct{ Status string }
	}
	Updates []struct {
		Code, Status, Body string
		Notice             struct{ Name string }
	}
}

const listenStatus = `subscription($from: Long, $since: DateTime, $page: String) { statusChanged(page: $page, from: $from, since: $since) {
  revision at page { revision rollup { indicator } }
  componentChanges { code name oldStatus newStatus oldShown newShown component { status } }
  updates { code status body notice { name } }
} }`

// changeOf decodes an event.
func changeOf(t *testing.T, e event) statusChange {
	t.Helper()
	var v struct {
		Data struct{ StatusChanged statusChange }
	}
	testenv.Decode(t, e.data, &v)
	if v.Data.StatusChanged.Revision == 0 {
		t.Fatalf("event %s %s", e.name, e.data)
	}
	return v.Data.StatusChanged
}

// brief returns a short form of an event.
func (c statusChange) brief() string {
	var b strings.Builder
	fmt.Fprint(&b, c.Revision)
	for _, x := range c.ComponentChanges {
		fmt.Fprintf(&b, " %s:%s>%s", x.Name, x.OldStatus, x.NewStatus)
	}
	for _, u := range c.Updates {
		fmt.Fprintf(&b, " %s=%s", u.Notice.Name, u.Status)
	}
	return b.String()
}

// importerOf returns the code of the demo network's component Importer.
func importerOf(t *testing.T, g *testenv.Gateway) string {
	t.Helper()
	page, err := g.Status.PageByCode(t.Context(), demo.StatusPage)
	if err != nil {
		t.Fatal(err)
	}
	components, err := g.Status.Components(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	return components[slices.IndexFunc(components, func(c *status.Component) bool {
		return c.Name == "Importer"
	})].Code
}

// TestStatusChanged checks the event of each write to the status page: live, and replayed by revision and by time.
func TestStatusChanged(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t))
	now := testenv.Now()
	editor := statuspages.NewEditor(g.Status, func() time.Time { return now })
	by, ctx := statuspages.Author{Name: "test"}, t.Context()
	start, err := g.Status.NewestRevision(ctx, demo.StatusPage)
	if err != nil || start < 100 {
		t.Fatal(start, err)
	}
	importer := importerOf(t, g)
	events := subscribe(t, g, listenStatus, map[string]any{"from": strconv.FormatInt(start, 10)})

	var want []string
	revision := start
	wrote := func(event string, code string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		revision++
		want = append(want, strings.TrimRight(fmt.Sprint(revision, " ", event), " "))
		now = now.Add(time.Minute)
		return code
	}
	code, err := editor.OpenIncident(ctx, by, demo.StatusPage, status.NewIncident{
		Name: "No blocks", Body: "No new blocks.",
		Affected: []status.Assignment{{Component: importer, Status: status.MajorOutage}},
	})
	code = wrote("Gateway - Importer:OPERATIONAL>MAJOR_OUTAGE No blocks=INVESTIGATING", code, err)
	// The event of a changed description has no component changes, and the event of a draft is empty.
	named, err := editor.EditComponent(ctx, by, importer,
		status.ComponentEdit{Description: ledger.Of("Imports blocks")})
	wrote("", named, err)
	draft, err := editor.OpenIncident(ctx, by, demo.StatusPage,
		status.NewIncident{Name: "Not yet", Body: "A draft.", Draft: true})
	draft = wrote("", draft, err)
	_, err = editor.UpdateIncident(ctx, by, code, status.NewUpdate{
		State: status.Resolved,
		Body:  "The importer runs again.",
	})
	wrote("Gateway - Importer:MAJOR_OUTAGE>OPERATIONAL No blocks=RESOLVED", code, err)
	middle := now
	_, err = editor.PublishDraft(ctx, by, draft, status.VersionInput{})
	wrote("Not yet=INVESTIGATING", draft, err)

	var got []string
	for range want {
		got = append(got, changeOf(t, await(t, events)).brief())
	}
	if !slices.Equal(got, want) {
		t.Fatal(cmp.Diff(want, got))
	}
	// A replay delivers the same changes with the current state of the page.
	again := subscribe(t, g, listenStatus, map[string]any{
		"from": strconv.FormatInt(start+1, 10),
		"page": "lantern-bay",
	})
	for _, w := range want[1:] {
		c := changeOf(t, await(t, again))
		if c.brief() != w || c.Page.Revision != revision || c.Page.Rollup.Indicator == "" {
			t.Errorf("replay: got %s with page revision %d, want %s with %d", c.brief(), c.Page.Revision, w, revision)
		}
	}
	later := subscribe(t, g, listenStatus, map[string]any{"since": middle.Add(-time.Second).Format(time.RFC3339)})
	if c := changeOf(t, await(t, later)); c.brief() != want[len(want)-1] {
		t.Errorf("since a time: got %s", c.brief())
	}
	// An edited update is delivered with the write that edited it.
	last := changeOf(t,
		await(t, subscribe(t, g, listenStatus, map[string]any{"from": strconv.FormatInt(revision-1, 10)})))
	_, err = editor.EditUpdate(ctx, by, last.Updates[0].Code, status.UpdateEdit{Body: ledger.Of("An edited text.")})
	wrote("Not yet=INVESTIGATING", "", err)
	for _, stream := range []<-chan event{events, again, later} {
		if c := changeOf(t, await(t, stream)); c.brief() != want[len(want)-1] ||
			c.Updates[0].Body != "An edited text." {
			t.Errorf("edited update: got %s", c.brief())
		}
	}
	if c := changeOf(t,
		await(t,
			subscribe(t, g, listenStatus,
				map[string]any{"from": strconv.FormatInt(revision-2, 10)}))); len(c.Updates) != 0 {
		t.Errorf("the edited update is delivered with an earlier write: %s", c.brief())
	}
}

// TestStatusHistory replays the history of the demo network's page: each revision once, each published update once,
// and consecutive component changes.
func TestStatusHistory(t *testing.T) {
	t.Parallel()
	checkHistory(t, testenv.Demo(t))
}

// checkHistory replays the history from the first revision and checks it.
func checkHistory(t *testing.T, g *testenv.Gateway) {
	t.Helper()
	newest, err := g.Status.NewestRevision(t.Context(), demo.StatusPage)
	if err != nil {
		t.Fatal(err)
	}
	events := subscribe(t, g, listenStatus, map[string]any{"from": "0"})
	updates, states := map[string]bool{}, map[string]string{}
	for n := range newest {
		c := changeOf(t, await(t, events))
		if c.Revision != n+1 {
			t.Fatalf("got revision %d after %d", c.Revision, n)
		}
		for _, u := range c.Updates {
			if updates[u.Code] {
				t.Errorf("update %s is delivered twice", u.Code)
			}
			updates[u.Code] = true
		}
		for _, x := range c.ComponentChanges {
			if before, known := states[x.Code]; known && before != x.OldStatus {
				t.Errorf("%s: old status %s, want %s", x.Name, x.OldStatus, before)
			}
			if states[x.Code] = x.NewStatus; x.NewStatus == "UNDER_MAINTENANCE" && x.NewShown != "OPERATIONAL" {
				t.Errorf("%s: shown status %s in the documented vocabulary", x.Name, x.NewShown)
			}
			if x.Component.Status == "" {
				t.Errorf("%s has no current status", x.Name)
			}
		}
	}
	if len(updates) < 150 || len(states) < 8 {
		t.Errorf("%d updates, %d components", len(updates), len(states))
	}
}

// TestStatusWrites checks that concurrent writes are delivered once and in order to many subscribers over both
// transports.
func TestStatusWrites(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t))
	start, err := g.Status.NewestRevision(t.Context(), demo.StatusPage)
	if err != nil {
		t.Fatal(err)
	}
	const writes, writers = 40, 4
	var streams []<-chan event
	for i := range 5 {
		streams = append(streams,
			subscribe(t, g, `subscription($from: Long) { of: statusChanged(from: $from) { revision } }`,
				map[string]any{"from": strconv.FormatInt(start-int64(i), 10)}))
	}
	conn := socketOf(t, g, "graphql-transport-ws")
	for _, m := range []string{
		`{"type":"connection_init"}`,
		fmt.Sprintf(`{"id":"s","type":"subscribe","payload":{"query":"subscription { of: statusChanged(from: `+
			`\"%d\") { revision } }"}}`, start),
	} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	failed := make(chan error, writers)
	for range writers {
		go func() {
			var err error
			for i := 0; i < writes/writers && err == nil; i++ {
				err = g.Status.Write(context.Background(), demo.StatusPage, testenv.Now(), nil,
					func(context.Context, *statuspages.Tx) error {
						return nil
					})
			}
			failed <- err
		}()
	}
	for range writers {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	for i, stream := range streams {
		for n := start - int64(i) + 1; n <= start+writes; n++ {
			if e := await(t, stream); e.data != fmt.Sprintf(`{"data":{"of":{"revision":"%d"}}}`, n) {
				t.Fatalf("stream %d: got %s, want revision %d", i, e.data, n)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, got, err := conn.Read(ctx); err != nil || string(got) != `{"type":"connection_ack"}` {
		t.Fatal(string(got), err)
	}
	for n := start + 1; n <= start+writes; n++ {
		if _, got, err := conn.Read(ctx); err != nil ||
			string(got) != fmt.Sprintf(`{"type":"next","id":"s","payload":{"data":{"of":{"revision":"%d"}}}}`, n) {
			t.Fatalf("WebSocket: got %s (%v), want revision %d", got, err, n)
		}
	}
	g.Close()
	if e := await(t, streams[0]); !strings.Contains(e.data, "shutting down") {
		t.Errorf("last event: %s", e.data)
	}
	// No error before the close code: clients of WebSockets subscribe again only if there is none.
	if _, got, err := conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("WebSocket after Close: got %s (%v), want close code 1001", got, err)
	}
}

// TestStatusChangedNow checks that each event shows the current state of the page, not the state when the stream
// began.
func TestStatusChangedNow(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t))
	editor, by, ctx := statuspages.NewEditor(g.Status, testenv.Now), statuspages.Author{Name: "test"}, t.Context()
	start, err := g.Status.NewestRevision(ctx, demo.StatusPage)
	if err != nil {
		t.Fatal(err)
	}
	importer := importerOf(t, g)
	events := subscribe(t, g, listenStatus, map[string]any{"from": strconv.FormatInt(start, 10)})
	var indicators []string
	for i, s := range []status.ComponentStatus{status.MajorOutage, status.DegradedPerformance, status.Operational} {
		if _, err := editor.EditComponent(ctx, by, importer, status.ComponentEdit{Status: s}); err != nil {
			t.Fatal(err)
		}
		c := changeOf(t, await(t, events))
		if c.Page.Revision != start+int64(i)+1 ||
			!strings.EqualFold(c.ComponentChanges[0].Component.Status, string(s)) {
			t.Errorf("revision %d: page revision %d, component status %s, want %s", c.Revision, c.Page.Revision,
				c.ComponentChanges[0].Component.Status, s)
		}
		indicators = append(indicators, c.Page.Rollup.Indicator)
	}
	if indicators[0] != "MAJOR" || indicators[2] == "MAJOR" {
		t.Errorf("page indicators: %v", indicators)
	}
}

// TestStatusChangedErrors checks the errors of invalid subscriptions.
func TestStatusChangedErrors(t *testing.T) {
	t.Parallel()
	g, none := testenv.Demo(t), testenv.Over(t, testenv.Empty.Fresh(t))
	for _, c := range []struct {
		on       *testenv.Gateway
		document string
		want     string
	}{
		{g, `subscription { statusChanged(page: "nowhere") { revision } }`, "NOT_FOUND"},
		{
			g, `subscription { statusChanged(from: "1", since: "2026-01-01T00:00:00Z") { revision } }`,
			"cannot be combined",
		},
		{g, `subscription { statusChanged(from: "-1") { revision } }`, "must not be negative"},
		{none, `subscription { statusChanged { revision } }`, "NOT_FOUND"},
	} {
		if e := await(t, subscribe(t, c.on, c.document, nil)); !strings.Contains(e.data, c.want) {
			t.Errorf("%s: got %s, want %s", c.document, e.data, c.want)
		}
	}
}

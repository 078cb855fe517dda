package statuspages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// sentMessage is the content of a message that the tests look at.
type sentMessage struct {
	Page struct {
		Indicator string `json:"status_indicator"`
	}
	Incident *struct {
		Name, Status string
		Updates      []struct {
			Body     string
			Affected []struct {
				New string `json:"new_status"`
			} `json:"affected_components"`
		} `json:"incident_updates"`
		Components []struct{ Status string }
	}
	Update *struct {
		Old string `json:"old_status"`
		New string `json:"new_status"`
	} `json:"component_update"`
	Component struct{ Name string }
}

// sendAll claims and records all messages that are due, and returns them as text: the path of the URL and the content.
func (n *editorTest) sendAll() string {
	n.t.Helper()
	var out []string
	for {
		claimed, err := n.ClaimDeliveries(n.t.Context(), 100, time.Minute)
		must(n.t, claimed, err)
		if len(claimed) == 0 {
			return strings.Join(out, ", ")
		}
		slices.SortFunc(claimed, func(a, b *status.Delivery) int { return strings.Compare(a.URL, b.URL) })
		for _, d := range claimed {
			var m sentMessage
			if err := json.Unmarshal(d.Body, &m); err != nil {
				n.t.Fatal(err)
			}
			text := strings.TrimPrefix(d.URL, "https://r.example/") + ": " + m.Page.Indicator + " "
			if m.Incident != nil {
				text += fmt.Sprint(m.Incident.Name, " ", m.Incident.Status, " ", m.Incident.Updates,
					m.Incident.Components)
			} else {
				text += fmt.Sprint(m.Component.Name, " ", *m.Update)
			}
			out = append(out, text)
		}
		if err := n.RecordDelivered(n.t.Context(), claimed); err != nil {
			n.t.Fatal(err)
		}
	}
}

// TestWebhooks checks which writes are sent to which webhooks.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Europe/Berlin")
	ctx := t.Context()
	group := must2(t)(n.AddComponent(ctx, editor, n.page, status.NewComponent{Name: "Main", IsGroup: true}))
	relay := must2(t)(n.AddComponent(ctx, editor, n.page, status.NewComponent{Name: "Relay", Group: group}))
	api := one[string](t, n, `select id from status.component where name = 'API'`)
	var hooks []string
	for _, in := range []status.NewWebhook{
		{URL: "https://r.example/all"},
		{URL: "https://r.example/api", Components: []string{api}},
		{URL: "https://r.example/group", Components: []string{group}},
	} {
		code, secret, err := n.AddWebhook(ctx, editor, n.page, in)
		if hooks = append(hooks, must(t, code, err)); !strings.HasPrefix(secret, "whsec_") {
			t.Errorf("the secret is %q", secret)
		}
	}
	expect := func(what, want string) {
		t.Helper()
		if got := n.sendAll(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, want)
		}
	}
	expect("nothing", "")
	code := must2(t)(n.OpenIncident(ctx, editor, n.page,
		status.NewIncident{Name: "Slow", Body: "We look.", Affected: set(relay, "partial_outage")}))
	expect("incident", "all: minor Slow investigating [{We look. [{partial_outage}]}] [{partial_outage}], "+
		"group: minor Slow investigating [{We look. [{partial_outage}]}] [{partial_outage}], all: minor Relay "+
		"{operational partial_outage}, "+
		"group: minor Relay {operational partial_outage}")
	must2(t)(n.UpdateIncident(ctx, editor, code, status.NewUpdate{
		State: status.Resolved, Body: "Over.",
		Notify: ledger.Of(false),
	}))
	expect("silent update", "")
	update := one[string](t, n, `select id from status.incident_update where state = 'resolved'`)
	must2(t)(n.EditUpdate(ctx, editor, update, status.UpdateEdit{Body: ledger.Of("It is over.")}))
	expect("edited update", "")
	must2(t)(n.EditComponent(ctx, editor, api, status.ComponentEdit{Status: status.MajorOutage}))
	expect("component", "all: major API {operational major_outage}, api: major API {operational major_outage}")
	must2(t)(n.EditComponent(ctx, editor, api, status.ComponentEdit{Status: status.Operational}))
	n.sendAll()
	draft := must2(t)(n.OpenIncident(ctx, editor, n.page, status.NewIncident{Name: "Maybe", Body: "x", Draft: true}))
	expect("draft", "")
	must2(t)(n.PublishDraft(ctx, editor, draft, status.VersionInput{}))
	expect("published draft", "all: none Maybe investigating [{x []}] []")
	must2(t)(n.OpenIncident(ctx, editor, n.page, status.NewIncident{
		Name: "Old", Body: "x", Backfill: true, StartedAt: ledger.Of(n.clock().Add(-2 * time.Hour)),
		ResolvedAt: ledger.Of(n.clock().Add(-time.Hour)),
	}))
	expect("backfilled incident", "")
	must2(t)(n.ScheduleMaintenance(ctx, editor, n.page, status.NewMaintenance{
		Name: "Upgrade", Body: "Soon.", Start: n.clock().Add(time.Hour), End: n.clock().Add(2 * time.Hour),
		Components:     []string{api},
		AutoInProgress: true, AutoMaintenanceState: true,
	}))
	expect("maintenance",
		"all: none Upgrade scheduled [{Soon. [{operational}]}] [{operational}], api: none Upgrade scheduled [{Soon. "+
			"[{operational}]}] [{operational}]")
	n.wait(90 * time.Minute)
	if _, err := n.RunDue(ctx); err != nil {
		t.Fatal(err)
	}
	if got := n.sendAll(); !strings.Contains(got, "all: none Upgrade in_progress [{This maintenance has started.") {
		t.Errorf("started maintenance: %s", got)
	}
	// A preview sends nothing, and neither does a removed webhook.
	preview := editor
	preview.Preview = func(context.Context) error { return nil }
	must2(t)(n.UpdateIncident(ctx, preview, draft, status.NewUpdate{State: status.Identified, Body: "x"}))
	expect("preview", "")
	must2(t)(n.UpdateIncident(ctx, editor, draft, status.NewUpdate{State: status.Identified, Body: "x"}))
	must2(t)(n.RemoveWebhook(ctx, editor, hooks[0], status.VersionInput{}))
	expect("removed webhook", "")
	if got := one[int64](t, n,
		`select count(*) from status.audit where before::text || after::text like '%secret%'`); got != 0 {
		t.Errorf("%d entries of the audit log contain a secret", got)
	}
	for _, c := range []struct {
		in     status.NewWebhook
		reason status.Reason
	}{
		{status.NewWebhook{URL: "https://r.example/api"}, status.Conflict},
		{status.NewWebhook{URL: "ftp://r.example/"}, status.BadInput},
		{status.NewWebhook{URL: "https://user@r.example/"}, status.BadInput},
		{status.NewWebhook{URL: "https:///x"}, status.BadInput},
		{status.NewWebhook{URL: "https://r.example/new", Components: []string{"none"}}, status.NotFound},
	} {
		var rejected *status.Error
		if _, _, err := n.AddWebhook(ctx, editor, n.page, c.in); !errors.As(err, &rejected) ||
			rejected.Reason != c.reason {
			t.Errorf("%+v: %v", c.in, err)
		}
	}
}

// TestOutbox checks leases, the order of messages, retries, disabled webhooks, and both secrets after a rotation.
func TestOutbox(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "")
	ctx := t.Context()
	hook, first, err := n.AddWebhook(ctx, statuspages.Author{Name: "test", Key: "k"}, n.page,
		status.NewWebhook{URL: "https://r.example/"})
	must(t, hook, err)
	if again, secret, err := n.AddWebhook(ctx, statuspages.Author{Name: "test", Key: "k"}, n.page,
		status.NewWebhook{URL: "https://r.example/"}); err != nil || again != hook || secret != "" {
		t.Errorf("repeated with the same key: %s, %s, %v", again, secret, err)
	}
	code := must2(t)(n.OpenIncident(ctx, editor, n.page, status.NewIncident{Name: "A", Body: "1"}))
	must2(t)(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Identified, Body: "2"}))
	claim := func() *status.Delivery {
		t.Helper()
		got, err := n.ClaimDeliveries(ctx, 10, time.Minute)
		must(t, got, err)
		if len(got) == 0 {
			return nil
		}
		return got[0]
	}
	one1 := claim()
	if claim() != nil {
		t.Error("a webhook was claimed twice")
	}
	n.wait(61 * time.Second) // the gateway crashed
	one2 := claim()
	if one1 == nil || one2 == nil || one1.Message != one2.Message || !bytes.Equal(one1.Body, one2.Body) {
		t.Fatalf("after the lease: %+v, then %+v", one1, one2)
	}
	_, second, err := n.RotateWebhook(ctx, editor, hook, status.VersionInput{})
	must(t, second, err)
	if err := n.RecordFailed(ctx, one2, "status 500", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if claim() != nil {
		t.Error("a failed message is repeated at once")
	}
	n.wait(6 * time.Second)
	both := claim()
	if both.Message != one1.Message || both.Failures != 1 || len(both.Keys) != 2 ||
		len(strings.Fields(both.Signature(n.clock()))) != 2 || first == second {
		t.Errorf("after a failure and a rotation: %+v", both)
	}
	if err := n.RecordDelivered(ctx, []*status.Delivery{both}); err != nil {
		t.Fatal(err)
	}
	n.wait(25 * time.Hour)
	last := claim()
	if last == nil || last.Message == one1.Message || last.Failures != 0 || len(last.Keys) != 1 {
		t.Errorf("second message: %+v", last)
	}
	if err := n.RecordFailed(ctx, last, "status 410", 0); err != nil {
		t.Fatal(err)
	}
	list, err := n.db.Webhooks(ctx, n.page)
	must(t, list, err)
	if len(list) != 1 || !list[0].DisabledAt.Valid || list[0].Pending != 0 || list[0].LastError.V != "status 410" {
		t.Errorf("disabled: %+v", list[0])
	}
	must2(t)(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Monitoring, Body: "3"}))
	if claim() != nil {
		t.Error("a disabled webhook has a message")
	}
	must2(t)(n.EnableWebhook(ctx, editor, hook, status.VersionInput{}))
	must2(t)(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Resolved, Body: "4"}))
	if d := claim(); d == nil || !strings.Contains(string(d.Body), `"status":"resolved"`) {
		t.Errorf("enabled: %+v", d)
	}
	if stats, err := n.PruneMessages(ctx); err != nil || stats.Pending != 1 || stats.Disabled != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	if got := one[int64](t, n, `select count(*) from status.message`); got != 1 {
		t.Errorf("%d messages after pruning", got)
	}
}

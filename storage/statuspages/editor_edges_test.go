package statuspages_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/migrations"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

func TestDrafts(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, api, ok := t.Context(), n.api(), must2(t)
	draft := status.NewIncident{Name: "Maybe", Body: "Checks fail.", Affected: set(api, "partial_outage"), Draft: true}
	code := ok(n.OpenIncident(ctx, editor, n.page, draft))
	if got := n.states(api); got != "o" {
		t.Errorf("a draft changes a component: %s", got)
	}
	wantReason(t, e(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Identified, Body: "x"})),
		status.BadState, "draft")
	other := ok(n.OpenIncident(ctx, editor, n.page,
		status.NewIncident{Name: "Real", Body: "x", Affected: set(api, "degraded_performance")}))
	n.wait(time.Hour)
	ok(n.PublishDraft(ctx, editor, code, status.VersionInput{ExpectedVersion: 1}))
	if got := n.states(api) + " " + n.notice(code) + " " +
		n.history(code); got != "p investigating major v2 investigating dp" {
		t.Error(got)
	}
	if !one[bool](t, n,
		`select created_at = $2 and started_at < created_at and not draft from status.incident where id = $1`, code,
		n.clock()) {
		t.Error("the update is not dated when it was published")
	}
	wantReason(t, e(n.PublishDraft(ctx, editor, code, status.VersionInput{})), status.BadState, "not a draft")
	wantReason(t, e(n.DiscardDraft(ctx, editor, other, status.VersionInput{})), status.BadState, "not a draft")
	code = ok(n.OpenIncident(ctx, editor, n.page, draft))
	ok(n.DiscardDraft(ctx, editor, code, status.VersionInput{}))
	wantReason(t, e(n.PublishDraft(ctx, editor, code, status.VersionInput{})), status.NotFound, "does not exist")
}

func TestBackfill(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, api, ok := t.Context(), n.api(), must2(t)
	from, until := n.clock().Add(-72*time.Hour), n.clock().Add(-70*time.Hour)
	in := status.NewIncident{
		Name: "Once", Body: "Queries were slow.", Backfill: true, StartedAt: ledger.Of(from),
		ResolvedAt: ledger.Of(until), Affected: set(api, "major_outage"),
	}
	code := ok(n.OpenIncident(ctx, editor, n.page, in))
	if got := n.states(api) + " " + n.notice(code) + " " +
		n.history(code); got != "o resolved critical v1 investigating om; resolved mo" {
		t.Error(got)
	}
	if !one[bool](t, n,
		`select created_at = $2 and resolved_at = $3 and backfilled and updated_at = $4 from status.incident
where id = $1`, code, from, until, n.clock()) {
		t.Error("unexpected dates")
	}
	if got := one[int](t, n, `select count(*)::int from status.component_change`); got != 0 {
		t.Errorf("%d changes of components", got)
	}
	for words, change := range map[string]func(*status.NewIncident){
		"after the start": func(i *status.NewIncident) { i.ResolvedAt = i.StartedAt },
		"future":          func(i *status.NewIncident) { i.ResolvedAt = ledger.Of(n.clock().Add(time.Minute)) },
		"needs":           func(i *status.NewIncident) { i.ResolvedAt = ledger.Null[time.Time]{} },
		"draft":           func(i *status.NewIncident) { i.Draft = true },
		"resolved, not":   func(i *status.NewIncident) { i.State = status.Monitoring },
	} {
		bad := in
		change(&bad)
		wantReason(t, e(n.OpenIncident(ctx, editor, n.page, bad)), status.BadInput, words)
	}
	wantReason(t, e(n.OpenIncident(ctx, editor, n.page,
		status.NewIncident{Name: "x", Body: "x", State: status.Resolved})), status.BadInput, "backfill")

	work := ok(n.ScheduleMaintenance(ctx, editor, n.page, status.NewMaintenance{
		Name: "Done", Body: "It was done.", Start: from, End: until,
		Components: []string{api}, State: status.Completed,
	}))
	if got := n.notice(work) + " " + n.history(work); got != "completed maintenance v1 completed oo" {
		t.Error(got)
	}
	now := ok(n.ScheduleMaintenance(ctx, editor, n.page, status.NewMaintenance{
		Name: "Now", Body: "In progress.", Start: n.clock(), End: n.clock().Add(time.Hour), Components: []string{api},
		State: status.InProgress, AutoMaintenanceState: true,
	}))
	if got := n.states(api) + " " + n.notice(now) + " " +
		n.history(now); got != "u in_progress maintenance v1 in_progress ou" {
		t.Error(got)
	}
	// Without automatic recovery, the component keeps its state.
	ok(n.MoveMaintenance(ctx, editor, now, status.NewUpdate{State: status.Completed}))
	if got := n.states(api); got != "u" {
		t.Errorf("kept as %s", got)
	}
}

func TestEditUpdate(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "America/New_York")
	ctx, ok := t.Context(), must2(t)
	code := ok(n.OpenIncident(ctx, editor, n.page, status.NewIncident{Name: "Slow", Body: "We are investigating."}))
	n.wait(time.Hour)
	ok(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Monitoring, Body: "Better."}))
	n.wait(time.Hour)
	ok(n.UpdateIncident(ctx, editor, code, status.NewUpdate{State: status.Resolved, Body: "Over."}))
	update := func(state string) string {
		return one[string](t, n, `select id from status.incident_update where incident_id = $1 and state::text = $2`,
			code, state)
	}
	early := n.at("2026-05-17T11:00:00.5Z")
	for state, column := range map[string]string{
		"investigating": "created_at", "monitoring": "monitoring_at",
		"resolved": "resolved_at",
	} {
		ok(n.EditUpdate(ctx, editor, update(state), status.UpdateEdit{DisplayAt: ledger.Of(early)}))
		if !one[bool](t, n, `select `+column+` = $2 from status.incident where id = $1`, code,
			early.Truncate(time.Second)) {
			t.Errorf("%s is not updated with the update %s", column, state)
		}
	}
	ok(n.EditUpdate(ctx, editor, update("resolved"), status.UpdateEdit{Body: ledger.Of("All over.")}))
	if got := one[string](t, n, `select body from status.incident_update where id = $1`,
		update("resolved")); got != "All over." {
		t.Error(got)
	}
	ok(n.PublishPostmortem(ctx, editor, code, status.NewUpdate{Body: "So it was."}))
	wantReason(t, e(n.EditUpdate(ctx, editor, update("postmortem"), status.UpdateEdit{DisplayAt: ledger.Of(early)})),
		status.BadInput, "no date")
	wantReason(t, e(n.EditUpdate(ctx, editor, update("resolved"), status.UpdateEdit{Body: ledger.Of("\n")})),
		status.BadInput, "empty")
	wantReason(t, e(n.EditUpdate(ctx, editor, "none", status.UpdateEdit{})), status.NotFound, "does not exist")

	ok(n.EditNotice(ctx, editor, code, status.NoticeEdit{
		Name:           ledger.Of("Very slow"),
		ImpactOverride: ledger.Of(status.ImpactCritical), Reminders: ledger.Of("[3, 6]"),
	}))
	if got := n.notice(code); !strings.HasPrefix(got, "postmortem critical") {
		t.Error(got)
	}
	ok(n.EditNotice(ctx, editor, code, status.NoticeEdit{ImpactOverride: ledger.Of(status.Impact(""))}))
	if got := n.notice(code); !strings.HasPrefix(got, "postmortem none") {
		t.Error(got)
	}
	wantReason(t, e(n.EditNotice(ctx, editor, code, status.NoticeEdit{Reminders: ledger.Of("[6, 3]")})),
		status.BadInput, "ascending")
	wantReason(t, e(n.EditNotice(ctx, editor, code, status.NoticeEdit{AutoCompleted: ledger.Of(true)})),
		status.BadInput, "only maintenances")
}

func TestComponents(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, api, ok := t.Context(), n.api(), must2(t)
	group := ok(n.AddComponent(ctx, editor, n.page, status.NewComponent{IsGroup: true, Name: "Mainnet"}))
	relay := ok(n.AddComponent(ctx, editor, n.page,
		status.NewComponent{Name: "Relay", Group: group, NodeID: ledger.Of(int64(3))}))
	mirror := ok(n.AddComponent(ctx, editor, n.page,
		status.NewComponent{Name: "Mirror", Group: group, Position: 1, Description: "Reads"}))
	order := func() string {
		return one[string](t, n, `select string_agg(coalesce((select g.name || '/' from status.component g where g.id = c.group_id), '') || name || position, ' ' order by group_id nulls first, position)
from status.component c where deleted_at is null`)
	}
	if got := order(); got != "API1 Mainnet2 Mainnet/Mirror1 Mainnet/Relay2" {
		t.Error(got)
	}
	ok(n.MoveComponent(ctx, editor, api, status.ComponentMove{Group: group, Position: 2}))
	if got := order(); got != "Mainnet2 Mainnet/Mirror1 Mainnet/API2 Mainnet/Relay3" {
		t.Error(got)
	}
	ok(n.MoveComponent(ctx, editor, relay, status.ComponentMove{Group: "", Position: 1}))
	if got := order(); got != "Relay1 Mainnet2 Mainnet/Mirror1 Mainnet/API2" {
		t.Error(got)
	}
	ok(n.EditComponent(ctx, editor, mirror, status.ComponentEdit{
		Status:      status.PartialOutage,
		Description: ledger.Of(""), ExpectedVersion: 1,
	}))
	if got := n.states(mirror, group, api); got != "ppo" {
		t.Error(got)
	}
	wantReason(t, e(n.EditComponent(ctx, editor, mirror,
		status.ComponentEdit{Name: ledger.Of("x"), ExpectedVersion: 1})), status.Conflict, "version 2")
	wantReason(t, e(n.EditComponent(ctx, editor, group, status.ComponentEdit{Status: status.PartialOutage})),
		status.BadInput, "group")
	wantReason(t, e(n.EditComponent(ctx, editor, group, status.ComponentEdit{Showcase: ledger.Of(true)})),
		status.BadInput, "only a name and a description")
	wantReason(t, e(n.EditComponent(ctx, editor, api, status.ComponentEdit{NodeID: ledger.Of(int64(3))})),
		status.Conflict, "node 3")
	wantReason(t, e(n.MoveComponent(ctx, editor, group, status.ComponentMove{Group: group, Position: 1})),
		status.BadInput, "do not nest")
	wantReason(t, e(n.MoveComponent(ctx, editor, api, status.ComponentMove{Group: relay, Position: 1})),
		status.BadInput, "not a group")
	wantReason(t, e(n.RemoveComponent(ctx, editor, group, status.VersionInput{})), status.BadState, "2 components")
	incident := ok(n.OpenIncident(ctx, editor, n.page,
		status.NewIncident{Name: "Slow", Body: "x", Affected: set(api, "major_outage", mirror, "partial_outage")}))
	if got := n.history(incident); got != "investigating pp,om" { // ordered by position: Mirror is above API
		t.Error(got)
	}
	ok(n.RemoveComponent(ctx, editor, api, status.VersionInput{}))
	wantReason(t, e(n.EditComponent(ctx, editor, api, status.ComponentEdit{})), status.NotFound, "does not exist")
	ok(n.UpdateIncident(ctx, editor, incident, status.NewUpdate{State: status.Resolved, Body: "x"}))
	if got := n.history(incident); got != "investigating pp,om; resolved pp" {
		t.Error(got)
	}
	ok(n.RemoveComponent(ctx, editor, mirror, status.VersionInput{}))
	ok(n.RemoveComponent(ctx, editor, group, status.VersionInput{}))
	board := mustPage(t, n)
	if c, err := board.Find("Relay"); err != nil || c.Code != relay {
		t.Errorf("%v %v", c, err)
	}
}

func mustPage(t *testing.T, n *editorTest) *status.WorkingCopy {
	t.Helper()
	p, err := n.db.PageByCode(t.Context(), n.page)
	b, err2 := n.db.WorkingCopy(t.Context(), must(t, p, err))
	return must(t, b, err2)
}

func TestDeleteReleasesComponents(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, api, ok := t.Context(), n.api(), must2(t)
	code := ok(n.OpenIncident(ctx, editor, n.page,
		status.NewIncident{Name: "Down", Body: "x", Affected: set(api, "major_outage")}))
	ok(n.EditComponent(ctx, editor, api, status.ComponentEdit{Status: status.DegradedPerformance}))
	if got := n.states(api); got != "m" {
		t.Error(got)
	}
	// The hold of a hidden notice does not count, whoever has hidden it.
	for _, hidden := range []bool{true, false} {
		one[bool](t, n, `update status.incident set draft = $2 where id = $1 returning draft`, code, hidden)
		if got := n.states(api); got != map[bool]string{true: "d", false: "m"}[hidden] {
			t.Errorf("hidden %t: %s", hidden, got)
		}
	}
	ok(n.DeleteNotice(ctx, editor, code, status.VersionInput{}))
	if got := n.states(api); got != "d" {
		t.Error(got)
	}
	wantReason(t, e(n.DeleteNotice(ctx, editor, code, status.VersionInput{})), status.NotFound, "does not exist")
}

// TestIdempotencyKey checks that a write with an idempotency key is executed once.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, ok := t.Context(), must2(t)
	by := statuspages.Author{Name: "test", Key: "k1"}
	in := status.NewIncident{Name: "Slow", Body: "x"}
	var codes [4]string
	var group sync.WaitGroup
	for i := range codes {
		group.Go(func() { codes[i] = ok(n.OpenIncident(ctx, by, n.page, in)) })
	}
	group.Wait()
	for _, c := range codes {
		if c == "" || c != codes[0] {
			t.Errorf("codes %v", codes)
		}
	}
	if got := one[int](t, n, `select count(*)::int from status.incident`); got != 1 {
		t.Errorf("%d incidents", got)
	}
	wantReason(t, e(n.UpdateIncident(ctx, by, codes[0], status.NewUpdate{State: status.Resolved, Body: "x"})),
		status.Conflict, "key")
}

// TestConcurrentEditors checks that no editor overwrites a version that it has not seen.
func TestConcurrentEditors(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, ok := t.Context(), must2(t)
	code := ok(n.OpenIncident(ctx, editor, n.page, status.NewIncident{Name: "Slow", Body: "x"}))
	var won sync.Map
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			if _, err := n.UpdateIncident(ctx, editor, code,
				status.NewUpdate{State: status.Identified, Body: "x", ExpectedVersion: 1}); err == nil {
				won.Store(i, true)
			} else {
				wantReason(t, err, status.Conflict, "has changed")
			}
		})
	}
	group.Wait()
	winners := 0
	won.Range(func(any, any) bool { winners++; return true })
	if winners != 1 || n.notice(code) != "identified none v2" {
		t.Errorf("%d writes succeeded, want 1; %s", winners, n.notice(code))
	}
}

func TestPageSettings(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, ok := t.Context(), must2(t)
	code := ok(n.OpenIncident(ctx, editor, n.page, status.NewIncident{Name: "Slow", Body: "x"}))
	ok(n.SetPage(ctx, editor, n.page, []status.PageSetting{
		{Key: "url", Value: "https://new.example/"},
		{Key: "vocabulary", Value: "statuspage"},
		{Key: "hosts", Value: "A.example, b.example"},
		{Key: "text.de.maintenance_started", Value: "Los."},
		{Key: "locale", Value: "de"},
	}))
	if got := one[string](t, n, `select shortlink from status.incident where id = $1`,
		code); got != "https://new.example/incidents/"+code {
		t.Error(got)
	}
	p, err := n.db.PageByCode(ctx, n.page)
	must(t, p, err)
	if p.Text(status.MaintenanceStarted) != "Los." || p.Vocabulary != status.Statuspage ||
		strings.Join(p.Hosts, " ") != "a.example b.example" {
		t.Errorf("%+v", p)
	}
	for _, s := range []status.PageSetting{
		{Key: "time_zone", Value: "Mars/Base"},
		{Key: "url", Value: "ftp://x"},
		{Key: "slug", Value: "A b"},
		{Key: "vocabulary", Value: "own"},
		{Key: "color", Value: "red"},
		{Key: "name", Value: ""},
		{Key: "text.en.lunch", Value: "x"},
		{Key: "auto_publish", Value: "maybe"},
		{Key: "default", Value: "false"},
		{Key: "hosts", Value: "a b"},
	} {
		wantReason(t, e(n.SetPage(ctx, editor, n.page, []status.PageSetting{s})), status.BadInput, "")
	}
	other := ok(n.InitPage(ctx, editor, status.Page{
		Name: "Other",
		URL:  "https://other.example",
	}, "X"))
	ok(n.SetPage(ctx, editor, other, []status.PageSetting{{Key: "default", Value: "true"}}))
	wantReason(t, e(n.SetPage(ctx, editor, other, []status.PageSetting{{Key: "slug", Value: "lantern-net"}})),
		status.Conflict, "is in use by another page")
	_, err = n.InitPage(ctx, editor, status.Page{
		Name: "Other",
		URL:  "https://other.example",
	}, "X")
	wantReason(t, err, status.Conflict, "is in use by another page")
	// A token for one page cannot write to another.
	_, err = n.SetPage(ctx, statuspages.Author{Page: other}, n.page, nil)
	wantReason(t, err, status.NotFound, "does not exist")
	// A mirror cannot be edited.
	if _, err := n.db.Pool().Exec(ctx, `update status.page set mode = 'mirror' where id = $1`, other); err != nil {
		t.Fatal(err)
	}
	wantReason(t, e(n.OpenIncident(ctx, editor, other, status.NewIncident{Name: "x", Body: "x"})), status.BadState,
		"is a mirror")
	ok(n.SetPage(ctx, editor, other, []status.PageSetting{{Key: "name", Value: "Mirror"}}))
}

// TestResolveProbedError checks that an incident of probes that cannot be resolved does not affect another one.
func TestResolveProbedError(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, ok := t.Context(), must2(t)
	ok(n.SetPage(ctx, editor, n.page, []status.PageSetting{{Key: "auto_publish", Value: "true"}}))
	by := statuspages.Author{Origin: status.FromProbe}
	var codes []string
	for range 2 {
		code := ok(n.OpenIncident(ctx, by, n.page, status.NewIncident{Name: "Down", Body: "x"}))
		ok(n.UpdateIncident(ctx, by, code, status.NewUpdate{State: status.Monitoring, Body: "x"}))
		codes = append(codes, code)
	}
	for _, sql := range []string{
		`update status.incident set probe_version = version`,
		`create function fail() returns trigger language plpgsql as $$ begin raise 'it cannot be resolved'; end $$`,
		`create trigger failing before update on status.incident for each row
when (new.state = 'resolved' and new.id = '` + codes[0] + `') execute function fail()`,
	} {
		if _, err := n.db.Pool().Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	n.wait(status.ProbeHoldOff)
	resolved, err := n.ResolveProbed(ctx)
	if len(resolved) != 1 || resolved[0] != codes[1] || err == nil ||
		!strings.Contains(err.Error(), "resolving the incident "+codes[0]) {
		t.Errorf("resolved %s, %v; want %s", resolved, err, codes[1])
	}
}

// TestSourceOfSeveralPages checks that the source of a URL that had another page before is that of the present page,
// and that the other one is not claimed.
func TestSourceOfSeveralPages(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx, ok := t.Context(), must2(t)
	other := ok(n.InitPage(ctx, editor, status.Page{Name: "Other", URL: "https://other.example"}, "X"))
	const url = "https://source.example"
	for i, page := range []string{n.page, other, n.page} {
		n.wait(time.Hour)
		err := n.db.ReleaseSource(ctx, &statuspages.PageSource{
			Page: page, URL: url, Tags: map[string]string{"page": page}, OKAt: n.clock(), NextAt: n.clock(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		source, claimed, err := n.db.ClaimSource(ctx, url, n.clock(), time.Minute)
		if err != nil || !claimed || source.Page != page || source.Tags["page"] != page {
			t.Errorf("%+v, claimed %t, %v; want page %s", source, claimed, err, page)
		}
		held := one[int](t, n, `select count(*)::int from status.sync_source where next_at > $1`, n.clock())
		if held != 1 {
			t.Errorf("%d sources are claimed", held)
		}
		source, claimed, err = n.db.ClaimSource(ctx, url, n.clock(), time.Minute)
		if err != nil || claimed || source.Page != page {
			t.Errorf("a second claim: %+v, claimed %t, %v; want page %s", source, claimed, err, page)
		}
	}
}

// TestTokens checks that only hashes of tokens are stored.
func TestTokens(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx := t.Context()
	token, err := n.AddToken(ctx, editor, status.Token{
		Name: "bot", Role: status.Reporter, PageCode: ledger.Of(n.page),
		ExpiresAt: ledger.Of(n.clock().Add(time.Hour)),
	})
	must(t, token, err)
	if got := one[int](t, n,
		`select count(*)::int from (select row_to_json(t)::text x
from status.operator_token t union all select row_to_json(a)::text from status.audit a) r where strpos(x, $1) > 0`, token); got != 0 {
		t.Error("the database contains the token")
	}
	if got := one[int](t, n,
		`select count(*)::int from status.audit where action = 'token.add' and after ? 'role'
and not after ? 'token_sha256'`); got != 1 {
		t.Error("the audit log lacks the name of the token, or contains its hash")
	}
	list, err := n.db.Tokens(ctx, n.clock())
	must(t, list, err)
	if len(list) != 1 {
		t.Fatalf("%d tokens", len(list))
	}
	if found := status.FindToken(list, token); found == nil || found.Name != "bot" || found.Role != status.Reporter ||
		!found.For(n.page) || found.For("other") {
		t.Errorf("%+v", found)
	}
	if status.FindToken(list, token+"x") != nil || status.FindToken(list, "") != nil {
		t.Error("a wrong token is accepted")
	}
	if err := n.db.RecordTokenUse(ctx, list[0].ID, n.clock()); err != nil {
		t.Error(err)
	}
	n.wait(time.Hour)
	if list, err = n.db.Tokens(ctx, n.clock()); err != nil || len(list) != 0 {
		t.Errorf("an expired token: %v, %v", list, err)
	}
	_, err = n.AddToken(ctx, editor, status.Token{Name: "bot", Role: status.Admin})
	wantReason(t, err, status.Conflict, "bot")
	_, err = n.AddToken(ctx, editor, status.Token{Name: "x", Role: "root"})
	wantReason(t, err, status.BadInput, "role")
	if err := n.RemoveToken(ctx, editor, "bot"); err != nil {
		t.Error(err)
	}
	wantReason(t, n.RemoveToken(ctx, editor, "bot"), status.NotFound, "bot")
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx := t.Context()
	tmpl := status.Template{
		Name: "slow", Kind: status.Realtime, State: status.Identified, Title: "{what} is slow",
		Body: "{what} will be back at {time}.",
	}
	for range 2 {
		if err := n.SetTemplate(ctx, editor, n.page, tmpl); err != nil {
			t.Fatal(err)
		}
	}
	list, err := n.db.Templates(ctx, n.page)
	must(t, list, err)
	if len(list) != 1 {
		t.Fatalf("%d templates", len(list))
	}
	title, body, err := list[0].Fill(map[string]string{"what": "The API", "time": "nine"})
	must(t, title, err)
	if title != "The API is slow" || body != "The API will be back at nine." {
		t.Errorf("%s: %s", title, body)
	}
	_, _, err = list[0].Fill(map[string]string{"what": "x"})
	wantReason(t, err, status.BadInput, "needs values for time")
	_, _, err = list[0].Fill(map[string]string{"what": "x", "time": "x", "who": "x"})
	wantReason(t, err, status.BadInput, "no placeholder {who}")
	bad := tmpl
	bad.State = status.Planned
	wantReason(t, n.SetTemplate(ctx, editor, n.page, bad), status.BadInput, "state")
	if err := n.RemoveTemplate(ctx, editor, n.page, "slow"); err != nil {
		t.Error(err)
	}
	wantReason(t, n.RemoveTemplate(ctx, editor, n.page, "slow"), status.NotFound, "slow")
}

// TestUnwritable checks the errors for databases that are read-only or lack tables.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	ctx := t.Context()
	if _, err := n.db.Pool().Exec(ctx,
		`do $$ begin execute format('alter database %I
set default_transaction_read_only = on', current_database()); end $$`); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, pgtest.Connect(t, n.url), // sessions of a pooler keep their settings
		`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database()
and pid <> pg_backend_pid()`)
	for words, url := range map[string]string{
		"cannot write to the status database": n.url,
		"migrate --status-only":               pgtest.Database(t),
	} {
		ed := statuspages.NewEditor(openStatus(t, url), n.clock)
		for name, err := range map[string]error{
			"open": e(ed.OpenIncident(ctx, editor, n.page, status.NewIncident{Name: "x", Body: "x"})),
			"init": e(ed.InitPage(ctx, editor, status.Page{
				Name: "x",
				URL:  "https://x.example",
			}, "x")),
			"token": e(ed.AddToken(ctx, editor, status.Token{Name: "x", Role: status.Admin})),
		} {
			if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "SQLSTATE") {
				t.Errorf("%s: %v, want %s", name, err, words)
			}
		}
	}
}

// TestPreview checks that a preview sees the write and that it is rolled back.
func TestPreview(t *testing.T) {
	t.Parallel()
	n := newEditorTest(t, "Etc/UTC")
	before := n.revision()
	seen := 0
	by := editor
	by.Preview = func(ctx context.Context) error {
		p, err := n.db.PageByCode(ctx, n.page)
		if err != nil {
			return err
		}
		list, err := n.db.Notices(ctx, p, statuspages.NoticeFilter{Kind: status.Realtime}, statuspages.ByCreation,
			storage.Page{Limit: 9})
		seen = len(list)
		return err
	}
	must2(t)(n.OpenIncident(t.Context(), by, n.page, status.NewIncident{Name: "x", Body: "x"}))
	if after := n.revision(); seen != 1 || after != before {
		t.Errorf("%d incidents in the preview, revision %d, before %d", seen, after, before)
	}
}

// TestRestoredTables replaces the tables while connections have prepared statements. Each connection may fail once,
// not once for each of its statements: the types of the new tables have other OIDs.
func TestRestoredTables(t *testing.T) {
	t.Parallel()
	e := newEditorTest(t, "UTC")
	page, err := e.db.PageByCode(t.Context(), e.page)
	if must(t, page, err) == nil {
		t.Fatal("no page")
	}
	read := func() error {
		if _, err := e.db.PageByCode(t.Context(), e.page); err != nil {
			return err
		}
		if _, err := e.db.Components(t.Context(), page); err != nil {
			return err
		}
		_, err := e.db.Notices(t.Context(), page, statuspages.NoticeFilter{Kind: status.Realtime},
			statuspages.ByCreation, storage.Page{Limit: 10})
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	used := int(e.db.Pool().Stat().TotalConns())
	conn := pgtest.Connect(t, e.url)
	pgtest.Exec(t, conn, `drop schema status cascade`)
	if err := migrations.Status(t.Context(), e.url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for range 50 {
		if read() != nil {
			failed++
		}
	}
	if failed > used {
		t.Errorf("%d of 50 rounds failed with %d connections", failed, used)
	}
}

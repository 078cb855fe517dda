package v2_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// TestImportRemoves mirrors a remote page: what the remote page removes is removed here, if the documents imply it.
func TestImportRemoves(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, g.Status, status.Statuspage)
	const gone, incident, running = "m9r4k2q6j1zv", "l4h9p1c6t8rz", "q6b2z9x4r7mt"
	c := parse(t, example(t))
	c.Components = slices.DeleteFunc(c.Components, func(x *status.Component) bool { return x.Code == gone })
	c.Notices = slices.DeleteFunc(c.Notices, func(n *status.SourceNotice) bool {
		return n.Code == incident || n.Code == running
	})
	delete(c.Coverage, status.Scheduled) // the list of maintenances was not imported
	result := importPage(t, g.Status, c, mirrorOptions(""), lastWrite().AddDate(0, 0, 1))
	if result.Changed != 2 || !slices.Equal(result.Stale, []string{running}) {
		t.Errorf("%+v", result)
	}
	incidents, summary := g.Get(t, "/api/v2/incidents.json").Body, g.Get(t, summaryPath).Body
	if strings.Contains(incidents, incident) || !strings.Contains(summary, running) ||
		strings.Contains(summary, `"id":"`+gone) {
		t.Errorf("incidents %s\nsummary %s", incidents, summary)
	}
	// Updates keep the name of a removed component.
	if scheduled := g.Get(t, "/api/v2/scheduled-maintenances.json").Body; !strings.Contains(scheduled,
		`{"code":"`+gone+`","name":"Testnet - Mirror Node REST"`) {
		t.Errorf("the update has lost its component: %s", scheduled)
	}
	// After another import of the example, the page is as before.
	importExample(t, g.Status, status.Statuspage)
	if got := g.Get(t, summaryPath).Body; got != string(example(t)[summaryPath]) {
		t.Errorf("back again it is %s", got)
	}
}

// TestImportNotifies checks that listeners are notified of changes only. Unchanged updates of a notice keep their
// revision.
func TestImportNotifies(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importExample(t, g.Status, status.Statuspage)
	c := parse(t, example(t))
	edited := c.Notices[0].Updates[0]
	edited.Body += " Edited."
	state := slices.IndexFunc(c.Components, func(x *status.Component) bool {
		return !x.IsGroup && x.BaseStatus == status.Operational
	})
	c.Components[state].BaseStatus, c.Components[state].UpdatedAt = status.PartialOutage, lastWrite().AddDate(0, 0, 1)
	importPage(t, g.Status, c, mirrorOptions(""), lastWrite().AddDate(0, 0, 1))
	page, err := g.Status.PageByCode(t.Context(), c.Page.Code)
	if err != nil {
		t.Fatal(err)
	}
	all, err := g.Status.Revisions(t.Context(), page.Code, 0, page.Revision, 10)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d revisions, %v", len(all), err)
	}
	updates, err := g.Status.UpdatesOfRevisions(t.Context(), status.Pages{page}, all)
	if err != nil {
		t.Fatal(err)
	}
	if len(updates[0]) < 5 || len(updates[1]) != 1 || updates[1][0].Code != edited.Code ||
		updates[1][0].Body != edited.Body {
		t.Errorf("%d updates at first, then %d", len(updates[0]), len(updates[1]))
	}
	changes, err := g.Status.ChangesOfRevisions(t.Context(), status.Pages{page}, all)
	if err != nil {
		t.Fatal(err)
	}
	if last := changes[1]; len(last) != 1 || last[0].ComponentCode != c.Components[state].Code ||
		last[0].OldStatus != status.Operational ||
		last[0].NewStatus != status.PartialOutage {
		t.Errorf("%d changes at last", len(last))
	}
}

// TestImportModes checks that a mirror can become an own page, and that imports do not write to pages of another mode.
func TestImportModes(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	importPage(t, g.Status, parse(t, example(t)), status.ImportOptions{
		Mode: status.Imported,
		URL:  "https://status.own.example/",
	}, lastWrite())
	got := g.Get(t, summaryPath).Body
	if !strings.Contains(got, `"url":"https://status.own.example"`) ||
		strings.Contains(got, "https://status.ledgerlight.example") ||
		!strings.Contains(got, `"https://status.own.example/incidents/d8s3q7v2n5xk"`) {
		t.Errorf("the page is %s", got)
	}
	if slug := g.Query(t, `{ status { slug mode vocabulary } }`,
		nil).Body; slug != `{"data":{"status":{"slug":"ledgerlight-network","mode":"IMPORT",`+
		`"vocabulary":"DOCUMENTED"}}}` {
		t.Errorf("it is called %s", slug)
	}
	if _, err := g.Status.ImportPage(t.Context(), statuspages.Author{}, parse(t, example(t)), mirrorOptions("x"),
		lastWrite()); err == nil {
		t.Error("a page of its own was made a mirror")
	}
}

// TestReadDocuments checks which deviations of other pages' documents are accepted, and the errors for others.
func TestReadDocuments(t *testing.T) {
	t.Parallel()
	const page = `"page":{"id":"p","name":"P","url":"https://p.example/","time_zone":%q,` +
		`"updated_at":"2026-01-01T00:00:00Z"}`
	read := func(zone, rest string) (*status.Source, error) {
		return status.ReadDocuments(map[string][]byte{status.SummaryDocument: []byte("{" + fmt.Sprintf(page, zone) +
			rest + "}")})
	}
	c, err := read("", `,"components":[{"id":"a","name":"A","status":"on_fire","position":1,"created_at":"2026-01-01T01:02:03+01:00","updated_at":"2026-01-01T00:00:00.123456Z","more":1,"start_date":"2026-01-01T00:00:00Z"},{"id":"b b","name":"B","status":"operational","position":1,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}],
"incidents":[{"id":"i","name":"I","status":"identified","impact":"odd","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","incident_updates":[{"id":"u","status":"identified","body":"","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","affected_components":[]}]},
{"id":"j","name":"J","status":"scheduled","impact":"none","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}]`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Page.TimeZone != "Etc/UTC" || c.Page.URL != "https://p.example" || len(c.Components) != 1 ||
		len(c.Notices) != 1 || len(c.Warnings) != 5 {
		t.Fatalf("%+v, warnings %q", c, c.Warnings)
	}
	a, n := c.Components[0], c.Notices[0]
	if a.BaseStatus != status.MajorOutage || a.CreatedAt.Format("15:04:05.000") != "00:02:03.000" ||
		a.UpdatedAt.Nanosecond() != 123_000_000 || a.StartDate.V != "2026-01-01" {
		t.Errorf("component %+v", a)
	}
	if n.Impact != status.ImpactCritical || !n.StartedAt.Equal(n.CreatedAt) || !n.Updates[0].EmptyAffected {
		t.Errorf("notice %+v", n)
	}
	for rest, zone := range map[string]string{
		`,"components":[{"position":"1"}]`:     "UTC",
		`,"components":[{"created_at":"now"}]`: "UTC", `]`: "UTC",
	} {
		if _, err := read(zone, rest); err == nil {
			t.Errorf("%s is read", rest)
		}
	}
	if _, err := status.ReadDocuments(nil); err == nil {
		t.Error("no documents are accepted")
	}
	documents := example(t)
	other := strings.ReplaceAll(string(documents[summaryPath]), `"h4d7q2m9x1tz"`, `"other"`)
	if _, err := status.ReadDocuments(map[string][]byte{
		status.SummaryDocument: []byte(other),
		status.StatusDocument:  documents["/api/v2/status.json"],
	}); err == nil {
		t.Error("documents of two pages are read as one")
	}
	var many struct{ Incidents []json.RawMessage }
	for i := range 50 {
		many.Incidents = append(many.Incidents,
			json.RawMessage(fmt.Sprintf(`{"id":"i%d","name":"I","status":"resolved","impact":"none",`+
				`"created_at":"2026-01-01T00:%02d:00Z","updated_at":"2026-01-01T00:00:00Z"}`, i, 59-i)))
	}
	list, err := json.Marshal(many.Incidents)
	if err != nil {
		t.Fatal(err)
	}
	c, err = status.ReadDocuments(map[string][]byte{status.IncidentsDocument: []byte("{" + fmt.Sprintf(page, "UTC") +
		`,"incidents":` + string(list) + "}")})
	if err != nil {
		t.Fatal(err)
	}
	reach := c.Coverage[status.Realtime]
	if last := c.Notices[49].CreatedAt; !reach.Equal(last) ||
		!c.Notices[48].CreatedAt.After(reach) || len(c.Coverage) != 1 {
		t.Errorf("a full list reaches back to %+v, its last row is of %s", c.Coverage, last)
	}
}

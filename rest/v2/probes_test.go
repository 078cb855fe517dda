package v2_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"heliograph/app/probe"
	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// TestLedgerProbes derives the state of the demo network's components from the ledger. The result is a draft, which an
// editor reads and accepts through the graph.
func TestLedgerProbes(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Filled.Fresh(t), testenv.Tokens("watch:operator:0123456789abcdef0123456789abcdef"))
	now := testenv.Now()
	ed := statuspages.NewEditor(g.Status, func() time.Time { return now })
	p, b := pageAndBoard(t, g.Status)
	add := func(ref string, in status.Probe) int64 {
		t.Helper()
		c, err := b.Find(ref)
		if err != nil {
			t.Fatal(err)
		}
		in.Component, in.Every, in.FailAfter, in.PassAfter, in.Sets, in.Publish = c.Code, time.Minute, 2, 1,
			status.MajorOutage, status.PublishPublic
		id, err := ed.AddProbe(t.Context(), testAuthor, in)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	late := add("Importer", status.Probe{
		Kind: status.LagProbe,
		Spec: status.ProbeSpec{BadMS: time.Hour.Milliseconds()},
	})
	var nodes []int64
	for _, c := range b.Components {
		if c.NodeID.Valid {
			nodes = append(nodes, add(c.Code, status.Probe{Kind: status.NodeProbe}))
		}
	}
	if len(nodes) != 7 {
		t.Fatalf("%d nodes", len(nodes))
	}
	w := probe.NewWatcher(ed, probe.NewChecker(func() time.Time {
		return now
	}, g.DB.LedgerHealth), slog.New(slog.DiscardHandler))
	look := func() {
		t.Helper()
		now = now.Add(time.Minute)
		if probed, err := w.RunDue(t.Context()); err != nil || probed != len(nodes)+1 {
			t.Fatalf("%d probes ran, %v", probed, err)
		}
	}
	look()
	found, err := g.Status.Probes(t.Context(), p.Code)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found {
		good := x.Last.Level == status.Good || x.Kind == status.NodeProbe && x.Last.Level == status.Unknown &&
			strings.Contains(x.Last.Detail, "too few")
		if !good || x.Last.Detail == "" || x.Kind == status.LagProbe && !strings.HasPrefix(x.Last.Detail, "block ") {
			t.Errorf("probe %d of %s finds %+v", x.ID, x.Name, x.Last)
		}
	}
	// The ledger does not advance, and two hours exceed the limit.
	now = now.Add(2 * time.Hour)
	look()
	look()
	const token = "Authorization: Bearer 0123456789abcdef0123456789abcdef"
	query := func(document string) string {
		t.Helper()
		return g.Do(t, "POST", "/graphql", `{"query":"`+strings.ReplaceAll(document, `"`, `\"`)+`"}`,
			"Content-Type: application/json", token).Body
	}
	// The probes of the lag and of the nodes fail, in one incident. One of the nodes is under maintenance.
	var drafts struct {
		Data struct {
			StatusDrafts []struct {
				Code       string
				Version    string
				Components []struct{ Name string }
			}
		}
	}
	testenv.Decode(t, query(`{ statusDrafts { code version components { name } } }`), &drafts)
	var code, version string
	for _, d := range drafts.Data.StatusDrafts {
		if len(d.Components) == len(nodes) {
			code, version = d.Code, d.Version
		}
	}
	if code == "" {
		t.Fatalf("the drafts are %+v", drafts)
	}
	if body := g.Get(t, summaryPath).Body; strings.Contains(body, code) {
		t.Error("readers see a draft")
	}
	if got := query(`mutation { publishDraft(input: {id: "` + code + `", expectedVersion: ` + version +
		`}) { incident { status impact } } }`); got != `{"data":{"publishDraft":{"incident":{`+
		`"status":"INVESTIGATING","impact":"CRITICAL"}}}}` {
		t.Errorf("publishing returns %s", got)
	}
	if body := g.Get(t, summaryPath).Body; !strings.Contains(body, code) ||
		!strings.Contains(body, `"indicator":"major"`) {
		t.Errorf("the summary is %s", body)
	}
	if p, err := g.Status.Probe(t.Context(), late); err != nil || p.Applied != status.Bad || p.Incident != code {
		t.Errorf("%+v, %v", p, err)
	}
}

// pageAndBoard returns the default page and its working copy.
func pageAndBoard(t *testing.T, db *statuspages.DB) (*status.Page, *status.WorkingCopy) {
	t.Helper()
	pages, err := db.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := db.WorkingCopy(t.Context(), pages.Default())
	if err != nil {
		t.Fatal(err)
	}
	return pages.Default(), b
}

// TestSavedDocuments checks that served documents are stored by revision.
func TestSavedDocuments(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t), withCache())
	importExample(t, g.Status, status.Statuspage)
	waitFor(t, 15*time.Second, "the page is there", func() bool { return g.Get(t, summaryPath).Status == 200 })
	p, _ := pageAndBoard(t, g.Status)
	first := g.Get(t, summaryPath).Body
	set(t, g.Status, lastWrite().Add(time.Minute), status.MajorOutage)
	waitForWrite(t, "the write shows", func() bool { return g.Get(t, summaryPath).Body != first })
	for revision, want := range map[int64]string{p.Revision: first, p.Revision + 1: g.Get(t, summaryPath).Body} {
		var saved map[string]string
		waitForWrite(t, "the revision is saved", func() bool {
			var err error
			saved, err = g.Status.SavedDocuments(context.Background(), p.Code, revision)
			return err == nil && saved != nil
		})
		if len(saved) != len(status.Documents()) || saved[status.SummaryDocument] != want {
			t.Errorf("revision %d is saved as %v", revision, saved)
		}
	}
	for r := range int64(120) {
		if err := g.Status.SaveDocuments(t.Context(), p.Code, 10+r, map[string][]byte{"x": nil},
			lastWrite()); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := g.Status.SavedRevisions(t.Context(), p.Code); err != nil || len(list) != 100 || list[0] != 129 ||
		list[99] != 30 {
		t.Errorf("saved revisions %v, %v", list, err)
	}
	if saved, err := g.Status.SavedDocuments(t.Context(), p.Code, 1); saved != nil || err != nil {
		t.Errorf("%v, %v", saved, err)
	}
}

package statuspage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/base/breadth"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// history writes a page with a random history.
type history struct {
	*rand.Rand
	t          *testing.T
	edit       *statuspages.Editor
	now        time.Time
	page       *status.Page
	components []string
	notices    []string // codes; incidents and maintenances
	acts       map[string]int
}

// act writes and reports whether the state permits it.
func (h *history) act(name string) func(code string, err error) bool {
	return func(code string, err error) bool {
		h.t.Helper()
		var rejected *status.Error
		var transition *status.TransitionError
		if err != nil {
			if !errors.As(err, &rejected) && !errors.As(err, &transition) {
				h.t.Fatalf("%s: %v", name, err)
			}
			return false
		}
		h.acts[name]++
		if name == "open" || name == "schedule" || name == "backfill" {
			h.notices = append(h.notices, code)
		}
		return true
	}
}

// affected returns statuses for some components.
func (h *history) affected() (out []status.Assignment) {
	for _, c := range h.components {
		if h.IntN(2) == 0 {
			out = append(out, status.Assignment{
				Component: c,
				Status:    status.ComponentStatuses()[[]int{0, 2, 3, 4}[h.IntN(4)]],
			})
		}
	}
	return out
}

// step writes once, some hours after the step before.
func (h *history) step() {
	ctx, by := h.t.Context(), testenv.Author
	h.now = h.now.Add(time.Duration(h.IntN(90*3600)) * time.Second)
	code := ""
	if len(h.notices) > 0 {
		code = h.notices[max(0, len(h.notices)-1-h.IntN(3))]
	}
	update := status.NewUpdate{Body: "Update.", State: []status.State{
		status.Investigating, status.Identified,
		status.Monitoring,
	}[h.IntN(3)], Affected: h.affected()}
	if h.IntN(6) == 0 {
		update.DisplayAt = ledger.Of(h.now.Add(-time.Duration(h.IntN(7200)) * time.Second))
	}
	switch h.IntN(16) {
	case 0, 1, 2:
		h.act("open")(h.edit.OpenIncident(ctx, by, h.page.Code,
			status.NewIncident{Name: "Incident", Body: "Open.", Affected: h.affected()}))
	case 3, 4:
		h.act("update")(h.edit.UpdateIncident(ctx, by, code, update))
	case 5, 6, 12, 13, 14, 15:
		keep := h.IntN(12) == 0
		if code != "" && !h.act("resolve")(h.edit.UpdateIncident(ctx, by, code,
			status.NewUpdate{Body: "Over.", State: status.Resolved, Keep: keep})) {
			h.act("complete")(h.edit.MoveMaintenance(ctx, by, code, status.NewUpdate{State: status.Completed}))
		}
	case 7:
		h.act("reopen")(h.edit.ReopenIncident(ctx, by, code, update))
	case 8, 9:
		start := h.now.Add(-time.Duration(1+h.IntN(400)) * time.Hour)
		h.act("backfill")(h.edit.OpenIncident(ctx, by, h.page.Code, status.NewIncident{
			Name: "Backfilled", Body: "It was.", Affected: h.affected(), Backfill: true, StartedAt: ledger.Of(start),
			ResolvedAt: ledger.Of(start.Add(time.Duration(1+h.IntN(int(h.now.Sub(start).Seconds()))) * time.Second)),
		}))
	case 10:
		h.act("schedule")(h.edit.ScheduleMaintenance(ctx, by, h.page.Code, status.NewMaintenance{
			Name: "Maintenance", Body: "Work.", Start: h.now, End: h.now.Add(time.Hour), State: status.InProgress,
			Components:           h.components[:1],
			AutoMaintenanceState: true, AutoOperationalState: true,
		}))
	case 11:
		if len(h.components) > 3 {
			if h.act("remove")(h.edit.RemoveComponent(ctx, by, h.components[3], status.VersionInput{})) {
				h.components = h.components[:3]
			}
		}
	}
}

// TestRoundTrip writes pages with random histories, imports their documents into another database, and compares
// documents, uptime and headlines.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	source, target := testenv.Over(t, testenv.Empty.Fresh(t)), testenv.Over(t, testenv.Empty.Fresh(t))
	acts := map[string]int{}
	headlines := map[string]int{}
	pages := breadth.Of(12, 50)
	for n := range pages {
		h := &history{
			Rand: rand.New(rand.NewPCG(19, uint64(n))), t: t,
			now: time.Date(2026, 2, 10, 8, 0, 0, 0, time.UTC), acts: acts,
		}
		h.edit = statuspages.NewEditor(source.Status, func() time.Time { return h.now })
		h.page = &status.Page{
			Name: fmt.Sprintf("Page %d", n), URL: fmt.Sprintf("https://p%d.example", n),
			Vocabulary: []status.Vocabulary{status.Documented, status.Statuspage}[n%2],
			TimeZone:   []string{"America/New_York", "Europe/Berlin", "Etc/UTC"}[n%3],
		}
		code, err := h.edit.InitPage(t.Context(), testenv.Author, *h.page, "A")
		if err != nil {
			t.Fatal(err)
		}
		if h.page, err = source.Status.PageByCode(t.Context(), code); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			c, err := h.edit.AddComponent(t.Context(), testenv.Author, h.page.Code, status.NewComponent{
				Name: string(rune('B' + i)), StartDate: ledger.Of(status.Date("2026-01-01")),
			})
			if err != nil {
				t.Fatal(err)
			}
			h.components = append(h.components, c)
		}
		w, err := source.Status.WorkingCopy(t.Context(), h.page)
		if err != nil {
			t.Fatal(err)
		}
		h.components = append([]string{w.Components[0].Code}, h.components...)
		for range 24 {
			h.step()
		}

		documents := map[string][]byte{}
		// which a sync reads
		names := []string{status.SummaryDocument, status.IncidentsDocument, status.ScheduledDocument}
		for _, name := range names {
			documents[name] = []byte(atHost(source, h.page.URL, "/api/v2/"+name))
		}
		read, err := status.ReadDocuments(documents)
		if err != nil || len(read.Warnings) > 0 {
			t.Fatal(err, read.Warnings)
		}
		options := status.ImportOptions{Mode: status.Imported, Vocabulary: h.page.Vocabulary, URL: h.page.URL}
		if _, err := target.Status.ImportPage(t.Context(), testenv.Author, read, options,
			read.Page.UpdatedAt); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if got := atHost(target, h.page.URL, "/api/v2/"+name); got != string(documents[name]) {
				t.Errorf("page %d: %s is\n%s\nafter the import\n%s", n, name, documents[name], got)
			}
		}
		const query = `query($page: String!) { statusPage(slug: $page) { components { nodes { name startDate
uptime { percent days { date percent worstShown outageSeconds partialSeconds degradedSeconds } } } } } }`
		slug := map[string]any{"page": status.Slug(h.page.Name)}
		before, after := source.Query(t, query, slug).Body, target.Query(t, query, slug).Body
		if before != after || !bytes.Contains([]byte(before), []byte(`"percent":`)) {
			t.Errorf("page %d: uptime\n%s\nafter the import\n%s", n, before, after)
		}
		headline := func(g *testenv.Gateway) string {
			return elements(t, atHost(g, h.page.URL, "/"), ofClass("h1", ""))[0].text
		}
		if a, b := headline(source), headline(target); a != b {
			t.Errorf("page %d: headline %q, after the import %q", n, a, b)
		}
		headlines[headline(target)]++

		// Ending what is open releases all components, except those that were kept.
		edit := statuspages.NewEditor(target.Status, func() time.Time { return h.now.Add(time.Hour) })
		kept := map[string]bool{}
		p, err := target.Status.PageByCode(t.Context(), h.page.Code)
		if err != nil {
			t.Fatal(err)
		}
		if w, err = target.Status.WorkingCopy(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for _, c := range w.Components {
			kept[c.Code] = c.BaseStatus != status.Operational
		}
		for _, notice := range read.Notices {
			end, to := edit.UpdateIncident, status.Resolved
			if notice.Kind == status.Scheduled {
				end, to = edit.MoveMaintenance, status.Completed
			}
			if notice.State.Open() {
				if _, err := end(t.Context(), testenv.Author, notice.Code,
					status.NewUpdate{Body: "Over.", State: to}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var data struct {
			Components []struct{ ID, Status string }
		}
		if err := json.Unmarshal([]byte(atHost(target, h.page.URL, "/api/v2/components.json")), &data); err != nil {
			t.Fatal(err)
		}
		for _, c := range data.Components {
			if c.Status != string(status.Operational) && !kept[c.ID] {
				t.Errorf("page %d: %s stays %s", n, c.ID, c.Status)
			}
		}
	}
	for _, name := range []string{
		"open", "update", "resolve", "reopen", "backfill", "schedule", "complete",
		"remove",
	} {
		if acts[name] < pages/5 {
			t.Errorf("%d times %s on %d pages", acts[name], name, pages)
		}
	}
	t.Logf("acts %v, headlines %v", acts, headlines)
}

// TestSize checks the compressed size of a page with 50 components with bars.
func TestSize(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Fresh(t))
	h := &history{
		Rand: rand.New(rand.NewPCG(19, 50)), t: t, now: testenv.Now().AddDate(0, 0, -100),
		acts: map[string]int{},
	}
	h.edit = statuspages.NewEditor(g.Status, func() time.Time { return h.now })
	code, err := h.edit.InitPage(t.Context(), testenv.Author,
		status.Page{Name: "Large", URL: "https://large.example"}, "First")
	if err != nil {
		t.Fatal(err)
	}
	h.page = &status.Page{Code: code}
	for i := range 49 {
		c, err := h.edit.AddComponent(t.Context(), testenv.Author, code,
			status.NewComponent{Name: fmt.Sprintf("Component %d", i)})
		if err != nil {
			t.Fatal(err)
		}
		h.components = append(h.components, c)
	}
	for range 12 {
		h.step()
	}
	got := g.Do(t, http.MethodGet, "/", "", "Accept-Encoding: gzip")
	bars := strings.Count(g.Get(t, "/").Body, `<svg class="bars"`)
	t.Logf("%d bars, %d bytes", bars, len(got.Body))
	if got.Header.Get("Content-Encoding") != "gzip" || bars != 50-h.acts["remove"] || len(got.Body) > 60<<10 {
		t.Errorf("%d bars, %d bytes with %s", bars, len(got.Body), got.Header.Get("Content-Encoding"))
	}
}

// atHost requests a path from the page with a URL.
func atHost(g *testenv.Gateway, url, path string) string {
	r, w := httptest.NewRequest(http.MethodGet, url+path, http.NoBody), httptest.NewRecorder()
	g.Public().ServeHTTP(w, r)
	return w.Body.String()
}

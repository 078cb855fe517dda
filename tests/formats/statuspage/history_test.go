package statuspage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// history is a page that changes at random.
type history struct {
	random *rand.Rand
	now    time.Time
	copied status.Source
	next   int
}

func pick[T any](h *history, list []T) T { return list[h.random.IntN(len(list))] }

func (h *history) code(kind string) string {
	h.next++
	return kind + strconv.Itoa(h.next)
}

// text returns text with characters that have a meaning in JSON and HTML.
func (h *history) text() string {
	return pick(h, []string{
		"Plain.", "<br /> & \"quotes\" \\", "lines\r\nand\ttabs", "Grüße 🌞 \u2028", "`code`",
		`"components":null`, "\x01",
	})
}

// edit performs a random change.
func (h *history) edit() {
	h.now = h.now.Add(time.Duration(1+h.random.IntN(100_000_000)) * time.Millisecond)
	c := &h.copied
	switch n := h.random.IntN(20); {
	case n < 3 || len(c.Components) < 3:
		h.addComponent()
	case n == 3 && len(c.Components) > 6:
		h.dropComponent()
	case n < 9:
		if leaf := pick(h, c.Components); !leaf.IsGroup {
			leaf.BaseStatus, leaf.UpdatedAt = pick(h, status.ComponentStatuses()), h.now
		}
	case n < 13 || len(c.Notices) == 0:
		h.open()
	default:
		h.addUpdate(pick(h, c.Notices))
	}
}

func (h *history) addComponent() {
	c := &status.Component{
		Code: h.code("c"), PageCode: "random", Name: "Component " + h.text(), Position: int32(h.random.IntN(5)),
		ListIndex: int32(len(h.copied.Components)),
		CreatedAt: h.now, UpdatedAt: h.now, Origin: status.FromSync, IsGroup: h.random.IntN(4) == 0,
	}
	if !c.IsGroup {
		c.BaseStatus, c.Showcase, c.OnlyShowIfDegraded = status.Operational, h.random.IntN(2) == 0,
			h.random.IntN(3) == 0
		c.StartDate = ledger.Of(status.DateOf(h.now))
		if g := pick(h, append(h.copied.Components, c)); g.IsGroup {
			c.GroupCode = ledger.Of(g.Code)
		}
	}
	if h.random.IntN(2) == 0 {
		c.Description = ledger.Of(h.text())
	}
	h.copied.Components = append(h.copied.Components, c)
}

// dropComponent deletes a component, or a group with its components.
func (h *history) dropComponent() {
	gone := pick(h, h.copied.Components)
	h.copied.Components = slices.DeleteFunc(h.copied.Components, func(c *status.Component) bool {
		return c == gone || gone.IsGroup && c.GroupCode.V == gone.Code
	})
}

func (h *history) open() {
	n := &status.SourceNotice{Notice: status.Notice{
		Code: h.code("n"), PageCode: "random", Kind: pick(h,
			[]status.Kind{status.Realtime, status.Realtime, status.Scheduled}), Name: h.text() + " happened",
		Impact: pick(h, status.Impacts()), Shortlink: "https://random.example/incidents/x", StartedAt: h.now,
		CreatedAt: h.now, UpdatedAt: h.now,
		NotifyAtStart: true, NotifyAtEnd: true, Origin: status.FromSync,
	}}
	if n.Kind == status.Scheduled {
		n.ScheduledFor, n.ScheduledUntil = ledger.Of(h.now.Add(time.Hour)), ledger.Of(h.now.Add(2*time.Hour))
	}
	h.copied.Notices = append(h.copied.Notices, n)
	h.move(n, pick(h, status.States(n.Kind)))
}

// addUpdate adds an update with a permitted state.
func (h *history) addUpdate(n *status.SourceNotice) {
	to := pick(h, status.States(n.Kind))
	if status.CheckTransition(n.Kind, n.State, to) != nil &&
		(n.Kind == status.Scheduled || status.CheckReopen(n.State, to) != nil) {
		return
	}
	h.move(n, to)
}

func (h *history) move(n *status.SourceNotice, to status.State) {
	if n.State == status.NoState && to == status.Postmortem {
		to = status.Resolved
	}
	n.State, n.UpdatedAt = to, h.now
	u := &status.Update{
		Code: h.code("u"), NoticeCode: n.Code, State: to, Body: h.text(), CreatedAt: h.now, UpdatedAt: h.now,
		DisplayAt:            ledger.Of(h.now),
		DeliverNotifications: h.random.IntN(2) == 0, Origin: status.FromSync, EmptyAffected: h.random.IntN(10) == 0,
	}
	switch to {
	case status.Monitoring, status.Verifying:
		n.MonitoringAt = ledger.Of(h.now)
	case status.Resolved, status.Completed:
		n.ResolvedAt = ledger.Of(h.now)
	case status.Postmortem:
		u.DisplayAt = ledger.Null[time.Time]{}
	case status.Investigating, status.Identified:
		n.ResolvedAt = ledger.Null[time.Time]{}
	default:
	}
	if to.Open() {
		n.ResolvedAt = ledger.Null[time.Time]{}
	}
	if c := pick(h, h.copied.Components); !c.IsGroup && !u.EmptyAffected {
		if !slices.Contains(n.Components, c.Code) {
			n.Components = append(n.Components, c.Code)
		}
		u.Affected = []*status.AffectedComponent{{
			PageCode: "random", UpdateCode: u.Code, Code: c.Code, Name: c.QualifiedName(),
			OldStatus: pick(h, status.ComponentStatuses()), NewStatus: pick(h, status.ComponentStatuses()),
		}}
	}
	n.Updates = append([]*status.Update{u}, n.Updates...)
}

// TestRandomHistory performs random edits in both vocabularies and checks the documents after each. With the build tag
// slow there are a thousand of them.
func TestRandomHistory(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	for i, v := range []status.Vocabulary{status.Documented, status.Statuspage} {
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			const together = 20
			g := testenv.Over(t, testenv.Empty.Fresh(t))
			zoneName := []string{"America/New_York", "Etc/UTC"}[i]
			zone, err := status.LoadZone(zoneName)
			if err != nil {
				t.Fatal(err)
			}
			h := &history{
				random: rand.New(rand.NewPCG(7, uint64(i))),
				now:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), copied: status.Source{
					Page: &status.Page{
						Code: "random", Name: "Random", URL: "https://random.example",
						TimeZone: zoneName,
						Zone:     zone,
					}, Coverage: map[status.Kind]time.Time{},
				},
			}
			var etag string
			for range editsOfHistories / together {
				for range together {
					h.edit()
				}
				if _, err := g.Status.ImportPage(t.Context(), statuspages.Author{}, &h.copied,
					status.ImportOptions{Mode: status.Mirror, Slug: "random", Vocabulary: v}, h.now); err != nil {
					t.Fatal(err)
				}
				documents := map[string][]byte{}
				for _, name := range status.Documents() {
					got := g.Get(t, "/api/v2/"+name)
					documents[name] = []byte(got.Body)
					if name == status.SummaryDocument {
						if got.Header.Get("ETag") == etag {
							t.Fatal("the ETag of the summary did not change after a write")
						}
						etag = got.Header.Get("ETag")
					}
				}
				for name, text := range documents {
					if err := validate(all[name], text); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if err := checkOrder(text); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
				}
				if err := invariants(documents, v); err != nil {
					t.Fatal(err)
				}
			}
			if len(h.copied.Notices) < editsOfHistories*6/100 {
				t.Errorf("only %d notices", len(h.copied.Notices))
			}
		})
	}
}

// The parts of documents that the invariants concern.
type (
	anyComponent struct {
		ID, Status string
		GroupID    *string `json:"group_id"`
		Group      bool
		Components []string
		Position   int
	}
	anyNotice struct {
		ID, Status string
		ResolvedAt *string                   `json:"resolved_at"`
		PageID     string                    `json:"page_id"`
		CreatedAt  string                    `json:"created_at"`
		Updates    []struct{ Status string } `json:"incident_updates"`
	}
	anyDocument struct {
		Page         json.RawMessage
		Components   json.RawMessage
		Incidents    json.RawMessage
		Maintenances json.RawMessage `json:"scheduled_maintenances"`
		Status       json.RawMessage
	}
)

// invariants fails if the documents of a revision are inconsistent.
func invariants(documents map[string][]byte, v status.Vocabulary) error {
	d := map[string]anyDocument{}
	for name, text := range documents {
		var one anyDocument
		if err := json.Unmarshal(text, &one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d[name] = one
	}
	summary := d[status.SummaryDocument]
	for what, pair := range map[string][2]json.RawMessage{
		"components": {summary.Components, d[status.ComponentsDocument].Components},
		"incidents":  {summary.Incidents, d[status.UnresolvedDocument].Incidents},
		"status":     {summary.Status, d[status.StatusDocument].Status},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			return fmt.Errorf("the %s of the summary differ: %s, want %s", what, pair[0], pair[1])
		}
	}
	for name, one := range d {
		if !bytes.Equal(one.Page, summary.Page) {
			return fmt.Errorf("%s belongs to another revision: %s", name, one.Page)
		}
		if v == status.Documented && (bytes.Contains(documents[name], []byte(`"under_maintenance"`)) ||
			bytes.Contains(documents[name], []byte(`"indicator":"maintenance"`))) {
			return fmt.Errorf("%s contains undocumented values: %s", name, documents[name])
		}
	}
	if err := noticeInvariants(d); err != nil {
		return err
	}
	return componentInvariants(summary.Components)
}

func noticeInvariants(d map[string]anyDocument) error {
	lists := map[string][]anyNotice{}
	for name, raw := range map[string]json.RawMessage{
		"incidents": d[status.IncidentsDocument].Incidents, "unresolved": d[status.UnresolvedDocument].Incidents,
		"maintenances": d[status.ScheduledDocument].Maintenances,
		"upcoming":     d[status.UpcomingDocument].Maintenances, "active": d[status.ActiveDocument].Maintenances,
		"unfinished": d[status.SummaryDocument].Maintenances,
	} {
		var list []anyNotice
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for _, n := range list {
			state := n.Updates[0].Status
			if n.Status == "postmortem" || state == "postmortem" {
				state = n.Status
			}
			over := n.Status == "resolved" || n.Status == "postmortem" || n.Status == "completed"
			if state != n.Status || over != (n.ResolvedAt != nil) {
				return fmt.Errorf("%s: the notice %+v contradicts its updates", name, n)
			}
		}
		lists[name] = list
	}
	codes := func(list []anyNotice) (out []string) {
		for _, n := range list {
			out = append(out, n.ID)
		}
		slices.Sort(out)
		return out
	}
	if both := append(codes(lists["upcoming"]),
		codes(lists["active"])...); !slices.Equal(slices.Sorted(slices.Values(both)), codes(lists["unfinished"])) {
		return fmt.Errorf("upcoming and active are %q, the summary has %q", both, codes(lists["unfinished"]))
	}
	if len(lists["incidents"]) > 50 || len(lists["maintenances"]) > 50 {
		return fmt.Errorf("%d incidents and %d maintenances are listed", len(lists["incidents"]),
			len(lists["maintenances"]))
	}
	for _, n := range lists["unresolved"] {
		oldest := ""
		if list := lists["incidents"]; len(list) == 50 {
			oldest = list[49].CreatedAt
		}
		if !slices.Contains(codes(lists["incidents"]), n.ID) &&
			(oldest == "" || n.CreatedAt > oldest && n.CreatedAt[len(n.CreatedAt)-1] == 'Z') {
			return fmt.Errorf("the unresolved incident %s is not in the list of the newest", n.ID)
		}
	}
	return nil
}

func componentInvariants(raw json.RawMessage) error {
	var list []anyComponent
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	byID := map[string]anyComponent{}
	for i, c := range list {
		byID[c.ID] = c
		if i > 0 && list[i-1].Position > c.Position {
			return fmt.Errorf("position %d precedes %d", list[i-1].Position, c.Position)
		}
	}
	for _, c := range list {
		if c.GroupID != nil && !slices.Contains(byID[*c.GroupID].Components, c.ID) {
			return fmt.Errorf("component %s is in the group %s, which does not list it", c.ID, *c.GroupID)
		}
		worst := status.ComponentStatus("")
		for _, child := range c.Components {
			k, ok := byID[child]
			if !ok || k.GroupID == nil || *k.GroupID != c.ID {
				return fmt.Errorf("group %s lists %s, which does not belong to it", c.ID, child)
			}
			worst = status.Worst(worst, status.ComponentStatus(k.Status))
		}
		if c.Group && string(worst) != c.Status {
			return fmt.Errorf("group %s has the status %s, its worst component %s", c.ID, c.Status, worst)
		}
	}
	return nil
}

package status

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

// exampleDocuments returns the eight documents of a page.
func exampleDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("../../../rest/v2/testdata/ledgerlight.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, name := range Documents() {
		out[name] = all["/api/v2/"+name]
	}
	return out
}

func exampleSource(t *testing.T) *Source {
	t.Helper()
	s, err := ReadDocuments(exampleDocuments(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// storedAs returns what is stored after an import into an empty page.
func storedAs(s *Source, p *Page) Stored {
	out := Stored{Page: p}
	for _, c := range s.Components {
		out.Components = append(out.Components, &StoredComponent{Component: *c})
	}
	for _, n := range s.Notices {
		notice := n.Notice
		state := NoticeState{Notice: &notice}
		for _, u := range n.Updates {
			stored := *u
			stored.Revision = ledger.Of(int64(1))
			state.Updates = append(state.Updates, &stored)
		}
		for _, c := range n.Components {
			state.Attachments = append(state.Attachments,
				&Attachment{NoticeCode: n.Code, ComponentCode: c, HeldStatus: n.Held[c]})
		}
		out.Notices = append(out.Notices, state)
	}
	return out
}

func TestImport(t *testing.T) {
	t.Parallel()
	mirror := ImportOptions{Mode: Mirror}
	source := exampleSource(t)
	page := NewImportedPage(source.Page, mirror)
	if page.Mode != Mirror || page.URL != source.Page.URL || page.Slug != Slug(source.Page.Name) {
		t.Errorf("%+v", page)
	}
	first := CompareImport(source, Stored{Page: page}, mirror)
	if first.Page != nil || len(first.Components) != len(source.Components) ||
		len(first.Notices) != len(source.Notices) || first.Empty() ||
		first.Changed() != len(source.Components)+len(source.Notices) {
		t.Errorf("%d components and %d notices", len(first.Components), len(first.Notices))
	}
	groups := true
	for _, c := range first.Components {
		if c.IsGroup && !groups {
			t.Error("a group follows a component")
		}
		groups = c.IsGroup
	}
	leaves := slices.DeleteFunc(slices.Clone(source.Components), func(c *Component) bool { return c.IsGroup })
	if len(first.Changes) != len(leaves) {
		t.Errorf("%d changes of %d components", len(first.Changes), len(leaves))
	}
	for _, c := range leaves {
		if c.BaseStatus != Operational {
			t.Errorf("%s is %s, although a notice holds it", c.Name, c.BaseStatus)
		}
	}
	stored := storedAs(exampleSource(t), page)
	if again := CompareImport(exampleSource(t), stored, mirror); !again.Empty() || len(again.Stale) > 0 {
		t.Errorf("a second import writes %d objects", again.Changed())
	}

	// Every change of the source is found, and only that.
	open := slices.IndexFunc(source.Notices, func(n *SourceNotice) bool {
		return n.State.Open() && n.Kind == Realtime
	})
	leaf := slices.IndexFunc(source.Components, func(c *Component) bool { return !c.IsGroup })
	for name, c := range map[string]struct {
		change func(*Source)
		check  func(*Import) bool
	}{
		"page": {func(s *Source) {
			s.Page.Name = "New"
		}, func(i *Import) bool { return i.Page.Name == "New" && i.Changed() == 0 }},
		"url": {func(s *Source) {
			s.Page.URL = "https://new.example"
		}, func(i *Import) bool { return i.Page.URL == "https://new.example" }},
		"status": {
			func(s *Source) { s.Components[leaf].BaseStatus = MajorOutage },
			func(i *Import) bool {
				return len(i.Changes) == 1 && i.Changes[0].OldStatus == Operational &&
					i.Changes[0].NewStatus == MajorOutage && !i.Changes[0].UpdateCode.Valid
			},
		},
		"name": {func(s *Source) {
			s.Components[leaf].Name = "New"
		}, func(i *Import) bool { return len(i.Changes) == 0 && len(i.Components) == 1 }},
		"component": {
			func(s *Source) { s.Components = s.Components[1:] },
			func(i *Import) bool { return slices.Equal(i.DeletedComponents, []string{source.Components[0].Code}) },
		},
		"notice": {func(s *Source) { s.Notices[0].Name = "New" }, func(i *Import) bool {
			return i.Notices[0].Name == "New" && unchanged(i.Notices[0]) == len(s0(source).Updates)
		}},
		"update": {func(s *Source) {
			s.Notices[0].Updates[0].Body = "New"
		}, func(i *Import) bool { return unchanged(i.Notices[0]) == len(s0(source).Updates)-1 }},
		"attachments": {func(s *Source) {
			s.Notices[0].Components = append(s.Notices[0].Components, s.Components[leaf].Code+"x")
		}, func(i *Import) bool { return i.Empty() }}, // unknown ones are ignored
		"no list": {func(s *Source) { s.Components = nil }, func(i *Import) bool { return i.Empty() }},
	} {
		changed := exampleSource(t)
		c.change(changed)
		got := CompareImport(changed, storedAs(exampleSource(t), page), mirror)
		if name != "page" && name != "url" && got.Changed() > 1 || !c.check(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}

	// A notice that the list would contain was deleted; an open one beyond the list is stale; what editors wrote
	// stays.
	for _, c := range []struct {
		coverage         time.Time
		origin           Origin
		deleted, isStale bool
	}{
		{time.Time{}, FromSync, true, false},
		{time.Now().AddDate(100, 0, 0), FromSync, false, true},
		{time.Time{}, FromOperator, false, false},
	} {
		changed, stored := exampleSource(t), storedAs(exampleSource(t), page)
		code := source.Notices[open].Code
		changed.Coverage[Realtime] = c.coverage
		changed.Notices = slices.DeleteFunc(changed.Notices, func(n *SourceNotice) bool { return n.Code == code })
		stored.Notices[open].Notice.Origin = c.origin
		got := CompareImport(changed, stored, mirror)
		if slices.Contains(got.DeletedNotices, code) != c.deleted || slices.Contains(got.Stale, code) != c.isStale {
			t.Errorf("%+v: deleted %v, stale %v", c.coverage, got.DeletedNotices, got.Stale)
		}
	}

	// A mirror becomes a page that is edited here.
	own := ImportOptions{Mode: Imported, URL: "https://own.example/", Slug: "own"}
	got := CompareImport(exampleSource(t), stored, own)
	if !got.EndsMirror || got.Page.URL != "https://own.example" || got.Page.Mode != Imported ||
		!strings.HasPrefix(got.Notices[0].Shortlink, "https://own.example/incidents/") {
		t.Errorf("%+v", got.Page)
	}
	if p := NewImportedPage(source.Page, own); p.URL != "https://own.example" || p.Slug != "own" {
		t.Errorf("%+v", p)
	}
	// A group becomes a component, and a deleted component returns.
	stored = storedAs(exampleSource(t), page)
	changed := exampleSource(t)
	group := slices.IndexFunc(changed.Components, func(c *Component) bool { return c.IsGroup })
	changed.Components[group].IsGroup, changed.Components[group].BaseStatus = false, Operational
	stored.Components[leaf].Deleted = true
	got = CompareImport(changed, stored, mirror)
	if !slices.Equal(got.Ungrouped, []string{changed.Components[group].Code}) || len(got.Components) != 2 ||
		len(got.DeletedComponents) > 0 {
		t.Errorf("%+v", got)
	}
}

func s0(s *Source) *SourceNotice { return s.Notices[0] }

func TestCheckImport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		has, mode Mode
		edited    bool
		words     string
	}{
		{Mirror, Mirror, true, ""},
		{Mirror, Imported, true, ""},
		{Imported, Imported, false, ""},
		{Imported, Imported, true, "would overwrite"},
		{Imported, Mirror, false, "is edited here"},
		{Own, Imported, false, "is edited here"},
		{Own, Mirror, false, "is edited here"},
	} {
		err := CheckImport(&Page{Mode: c.has}, c.mode, c.edited)
		if c.words == "" && err == nil {
			continue
		}
		wantError(t, err, BadState, c.words)
	}
}

func TestCheckDocuments(t *testing.T) {
	t.Parallel()
	if found := CheckDocuments(exampleDocuments(t)); len(found) > 0 {
		t.Fatalf("contradictions: %v", found)
	}
	for name, c := range map[string]struct{ document, old, new, want string }{
		"revision": {StatusDocument, `"page":{"id":"`, `"page":{"id":"x`, "belongs to another revision"},
		"components": {
			ComponentsDocument, `"status":"operational"`, `"status":"major_outage"`,
			"components of the summary",
		},
		"indicator": {StatusDocument, `"description":"`, `"description":"Not `, "status of the summary"},
		"malformed": {ActiveDocument, `{`, `[`, "is not a document"},
		"incidents": {UnresolvedDocument, `"impact":"`, `"impact":"un`, "the incidents of the summary"},
		"upcoming":  {UpcomingDocument, `"impact":"`, `"impact":"un`, "the maintenances of the summary"},
		"state": {
			IncidentsDocument, `"status":"identified","updated_at":"2`,
			`"status":"monitoring","updated_at":"2`, "but its newest update is",
		},
	} {
		d := exampleDocuments(t)
		text := strings.ReplaceAll(compact(t, d[c.document]), c.old, c.new)
		for other := range d {
			d[other] = []byte(compact(t, d[other]))
		}
		if text == string(d[c.document]) {
			t.Errorf("%s: %s does not contain %s", name, c.document, c.old)
		}
		d[c.document] = []byte(text)
		if found := strings.Join(CheckDocuments(d), "\n"); !strings.Contains(found, c.want) {
			t.Errorf("%s: %q, want %s", name, found, c.want)
		}
	}
	// Groups and their components refer to each other, in order.
	for groups, want := range map[string]string{
		`[{"id":"g","group":true,"components":["a"],"position":1},{"id":"a","group_id":"g","position":1}]`: "",
		`[{"id":"g","group":true,"components":["a","b"],"position":1},{"id":"a","group_id":"g"}]`: "the " +
			"group g lists",
		`[{"id":"g","group":true,"components":[],"position":1}]`: "has " +
			"no component",
		`[{"id":"a","group_id":"h","position":1}]`: "the " +
			"group h is not listed",
		`[{"id":"a","position":2},{"id":"b","position":1}]`: "out " +
			"of order",
	} {
		var found []string
		var components []componentObject
		if err := json.Unmarshal([]byte(groups), &components); err != nil {
			t.Fatal(err)
		}
		checkGroups(components, func(condition bool, format string, args ...any) {
			if condition {
				found = append(found, fmt.Sprintf(format, args...))
			}
		})
		if text := strings.Join(found, "\n"); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%s: %q, want %s", groups, text, want)
		}
	}
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestReadDocumentsReplaces(t *testing.T) {
	t.Parallel()
	read := func(text string) (*Source, error) {
		return ReadDocuments(map[string][]byte{SummaryDocument: []byte(text)})
	}
	const page = `"page":{"id":"p","name":"P","url":"https://p.example/","time_zone":"Mars/Olympus"}`
	s, err := read(`{` + page + `,"components":[{"id":"a","name":"A\u0000","status":"odd","start_date":"soon","description":"","position":1},{"id":"b","name":"B","group_id":"z"},{"id":"!","name":"C"},{"id":"a","name":"D"}],
"incidents":[{"id":"i","name":"I","status":"resolved","impact":"huge","shortlink":"javascript:x","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","components":[{"id":"a"},{"id":"a"}],
"incident_updates":[{"id":"u","status":"resolved","body":"x","created_at":"2026-01-01T00:00:00Z","tweet_id":12,"affected_components":[{"code":"a","name":"A","old_status":"x","new_status":"operational"},{"code":"a"}]},
{"id":"u","status":"resolved"},{"id":"v","status":"scheduled"}]},{"id":"i"},{"id":"j","name":"J","status":"scheduled"}],
"scheduled_maintenances":[{"id":"m","name":"M","status":"scheduled"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Page; p.URL != "https://p.example" || p.TimeZone != "Etc/UTC" || p.Zone != time.UTC ||
		!p.UpdatedAt.Equal(time.Unix(0, 0)) {
		t.Errorf("%+v", p)
	}
	if a, b := s.Components[0], s.Components[1]; len(s.Components) != 2 || a.Name != "A\uFFFD" ||
		a.BaseStatus != MajorOutage || b.BaseStatus != Operational || a.StartDate.Valid ||
		a.Description.Valid || b.GroupCode.Valid || !a.CreatedAt.Equal(s.Page.UpdatedAt) {
		t.Errorf("%+v", s.Components)
	}
	n := s.Notices[0]
	if len(s.Notices) != 1 || n.Impact != ImpactCritical || n.Shortlink != "https://p.example/incidents/i" ||
		len(n.Updates) != 1 ||
		len(n.Updates[0].Affected) != 1 || n.Updates[0].TweetID.V != "12" ||
		!slices.Equal(n.Components, []string{"a"}) {
		t.Errorf("%+v", n)
	}
	for _, words := range []string{
		"time zone", "character 0", "status \"odd\"", "start date", "group \"z\"",
		"cannot be stored", "listed twice", "impact \"huge\"", "link", "is omitted", "creation time",
	} {
		if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, words) }) {
			t.Errorf("no warning contains %s: %q", words, s.Warnings)
		}
	}
	for words, text := range map[string]string{
		"page is missing": `{}`, "cannot be stored": `{"page":{"id":"p"}}`, "cannot unmarshal": `[]`,
		"is not an instant": `{"page":{"id":"p","name":"P","updated_at":"now"}}`,
		"out of range":      `{"page":{"id":"p","name":"P","updated_at":"9999-12-31T23:59:59-01:00"}}`,
		"maximum of 5000":   `{` + page + `,"components":[{}` + strings.Repeat(`,{}`, 5000) + `]}`,
		"larger than":       strings.Repeat(" ", LongestDocument+1),
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.60s: %v, want %s", text, err, words)
		}
	}
	if _, err := ReadDocuments(nil); err == nil {
		t.Error("no documents")
	}
	if _, err := ReadDocuments(map[string][]byte{
		SummaryDocument: []byte(`{` + page + `}`),
		StatusDocument:  []byte(`{"page":{"id":"q","name":"Q"}}`),
	}); err == nil {
		t.Error("documents of two pages")
	}
	// A full list covers only the time after its last notice.
	var list []string
	for i := range mostListed {
		at := time.Date(2026, 1, 1, 0, 0, mostListed-i, 0, time.UTC).Format(time.RFC3339)
		list = append(list,
			fmt.Sprintf(`{"id":"i%d","name":"I","status":"resolved","impact":"none","created_at":%q,`+
				`"incident_updates":[]}`, i, at))
	}
	full, err := ReadDocuments(map[string][]byte{IncidentsDocument: []byte(`{` + page + `,"incidents":[` +
		strings.Join(list, ",") + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
	last := time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)
	if !full.Coverage[Realtime].Equal(last) || full.Components != nil {
		t.Errorf("%+v", full.Coverage)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	pages := Pages{
		{Code: "a", Slug: "one", URL: "https://Status.One.example:8443/x", Zone: berlin, Vocabulary: Statuspage},
		{
			Code: "b", Slug: "two", URL: "https://two.example", Hosts: []string{"zwei.example"}, Zone: time.UTC,
			Vocabulary: Documented,
		},
	}
	for host, want := range map[string]string{
		"zwei.example": "b", "TWO.example:80": "b", "two.example.": "b",
		"status.one.example": "a", "other.example": "a", "": "a",
	} {
		if got := pages.ByHost(host); got.Code != want {
			t.Errorf("host %q has page %s", host, got.Code)
		}
	}
	if pages.Default().Code != "a" || pages.BySlug("two").Code != "b" || pages.BySlug("x") != nil ||
		pages.ByCode("b").Slug != "two" || Pages(nil).ByHost("x") != nil {
		t.Error("pages")
	}
	if pages.Zone("a") != berlin || pages.Zone("x") != time.UTC || pages.Vocabulary("a") != Statuspage ||
		pages.Vocabulary("x") != Documented {
		t.Error("settings of pages")
	}
	components := ComputeStatuses([]*Component{
		{Code: "g", Position: 1, IsGroup: true},
		{
			Code: "a", Position: 1, ListIndex: 1, GroupCode: ledger.Of("g"), BaseStatus: UnderMaintenance,
			NodeID: ledger.Of(int64(3)),
		},
		{Code: "b", Position: 2, BaseStatus: Operational},
	}, nil, Documented)
	s := NewPageState(pages[1], components, ImpactMinor)
	if s.Component("g").Status != UnderMaintenance || s.Component("x") != nil || s.ComponentOfNode(3).Code != "a" ||
		s.ComponentOfNode(4) != nil {
		t.Error("components of a page")
	}
	if s.Rollup().Indicator != ImpactMaintenance || s.ShownRollup().Indicator != ImpactNone ||
		s.EffectiveIndicator() != ImpactMinor {
		t.Errorf("%v, %v, %s", s.Rollup(), s.ShownRollup(), s.EffectiveIndicator())
	}
	m := Maintenance{Notice{
		Kind: Scheduled, ScheduledFor: ledger.Of(time.Unix(1, 0)),
		ScheduledUntil: ledger.Of(time.Unix(2, 0)),
	}}
	if !m.Start().Equal(time.Unix(1, 0)) || !m.End().Equal(time.Unix(2, 0)) || !m.RecentAt().Equal(m.Start()) {
		t.Error("dates of a maintenance")
	}
	m.ResolvedAt = ledger.Of(time.Unix(3, 0))
	if i := (Notice{Kind: Realtime, CreatedAt: time.Unix(4, 0)}); !m.RecentAt().Equal(time.Unix(3, 0)) ||
		!i.RecentAt().Equal(time.Unix(4, 0)) {
		t.Error("order of notices")
	}
}

// TestNoneAffected reads updates that affect no component, in the forms of other pages. None of them causes a warning.
func TestNoneAffected(t *testing.T) {
	t.Parallel()
	const placeholder = `"name":"No components were affected by this update."`
	for affected, want := range map[string]string{
		`null`: "null", `[]`: "[]", `[{` + placeholder + `}]`: "[]",
		`[{"code":null,` + placeholder + `,"old_status":"","new_status":""}]`:                                    "[]",
		`[{"code":"component",` + placeholder + `}]`:                                                             "[]",
		`[{` + placeholder + `},{"code":"a","name":"A","old_status":"operational","new_status":"major_outage"}]`: "a",
		`[{"code":"a","name":"A","old_status":"operational","new_status":"major_outage"}]`:                       "a",
	} {
		s, err := ReadDocuments(map[string][]byte{IncidentsDocument: []byte(`{"page":{"id":"p","name":"P","url":"https://p.example","time_zone":"UTC","updated_at":"2026-01-01T00:00:00Z"},
"incidents":[{"id":"i","name":"I","status":"resolved","impact":"none","shortlink":"https://p.example/i","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z",
"incident_updates":[{"id":"u","status":"resolved","body":"x","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","affected_components":` + affected + `}]}]}`)})
		if err != nil {
			t.Fatal(err)
		}
		u := s.Notices[0].Updates[0]
		got := "null"
		switch {
		case len(u.Affected) > 0:
			got = u.Affected[0].Code
		case u.EmptyAffected:
			got = "[]"
		}
		if got != want || len(s.Warnings) > 0 {
			t.Errorf("%s: %s, want %s; warnings %q", affected, got, want, s.Warnings)
		}
	}
}

// TestUnknownOnce reads many components with the same unknown status, which cause one warning.
func TestUnknownOnce(t *testing.T) {
	t.Parallel()
	s, err := ReadDocuments(map[string][]byte{ComponentsDocument: []byte(`{"page":{"id":"p","name":"P","url":"https://p.example","time_zone":"UTC","updated_at":"2026-01-01T00:00:00Z"},
"components":[{"id":"a","name":"A","status":"full_outage","position":1,"created_at":"2026-01-01T00:00:00Z"},{"id":"b","name":"B","status":"full_outage","position":2,"created_at":"2026-01-01T00:00:00Z"},
{"id":"c","name":"C","status":"security_event","position":3,"created_at":"2026-01-01T00:00:00Z"}]}`)})
	if err != nil || len(s.Warnings) != 2 || s.Components[0].BaseStatus != MajorOutage ||
		s.Components[1].BaseStatus != MajorOutage || s.Components[2].BaseStatus != MajorOutage {
		t.Errorf("%v, %q, %+v", err, s.Warnings, s.Components)
	}
}

// unchanged returns the number of updates of a notice that an import does not change.
func unchanged(n *SourceNotice) (count int) {
	for _, u := range n.Updates {
		if u.Revision.Valid {
			count++
		}
	}
	return count
}

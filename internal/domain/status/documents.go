package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// The documents of a page, by the last part of their paths.
const (
	SummaryDocument    = "summary.json"
	StatusDocument     = "status.json"
	ComponentsDocument = "components.json"
	IncidentsDocument  = "incidents.json"
	UnresolvedDocument = "incidents/unresolved.json"
	ScheduledDocument  = "scheduled-maintenances.json"
	UpcomingDocument   = "scheduled-maintenances/upcoming.json"
	ActiveDocument     = "scheduled-maintenances/active.json"
	mostListed         = 50 // maximum length of the two lists of all notices
	defaultZone        = "Etc/UTC"

	// LongestDocument is the maximum size of a document of another status page, in bytes.
	LongestDocument = 16 << 20
)

// Limits of documents of other status pages, about a hundred times the size of usual pages.
const (
	mostComponents = 5_000
	mostNotices    = 5_000
	mostUpdates    = 50_000
)

// Documents returns the names of the eight documents that the status API serves and that imports read.
func Documents() []string {
	return []string{
		SummaryDocument, StatusDocument, ComponentsDocument, IncidentsDocument, UnresolvedDocument, ScheduledDocument,
		UpcomingDocument, ActiveDocument,
	}
}

// Source is the content of the documents of another status page.
type Source struct {
	Page *Page
	// Components are all components and groups in order, or nil if no document lists them.
	Components []*Component
	Notices    []*SourceNotice
	// Coverage has the instants after which the lists of all notices are complete, by kind: that of the last notice
	// (see [Notice.RecentAt]), or zero for a list of all. A later notice that is not in the list was deleted. A kind
	// is missing if its list was not given.
	Coverage map[Kind]time.Time
	// Mixed reports whether the documents have different times of the last write, so that they belong to different
	// revisions of the page.
	Mixed bool
	// Warnings describe invalid values and their replacements.
	Warnings []string
}

// SourceNotice is a notice of a source with its components and updates.
type SourceNotice struct {
	Notice
	Components []string                   // codes
	Held       map[string]ComponentStatus // statuses in which the open notice holds components, by code
	Updates    []*Update                  // newest first
}

// The content of documents.
type (
	pageDocument struct {
		Page        *pageObject       `json:"page"`
		Components  []componentObject `json:"components"`
		Incidents   []noticeObject    `json:"incidents"`
		Maintenance []noticeObject    `json:"scheduled_maintenances"`
		Status      Rollup            `json:"status"`
	}
	pageObject struct {
		ID        string  `json:"id"`
		Name      string  `json:"name"`
		URL       string  `json:"url"`
		TimeZone  string  `json:"time_zone"`
		UpdatedAt instant `json:"updated_at"`
	}
	componentObject struct {
		ID                 string  `json:"id"`
		Name               string  `json:"name"`
		Status             string  `json:"status"`
		CreatedAt          instant `json:"created_at"`
		UpdatedAt          instant `json:"updated_at"`
		Position           int32   `json:"position"`
		Description        *string `json:"description"`
		Showcase           bool    `json:"showcase"`
		StartDate          *string `json:"start_date"`
		GroupID            *string `json:"group_id"`
		Group              bool    `json:"group"`
		OnlyShowIfDegraded bool    `json:"only_show_if_degraded"`
		// Components are the codes of the components of a group.
		Components []string `json:"components,omitempty"`
	}
	noticeObject struct {
		ID                string            `json:"id"`
		Name              string            `json:"name"`
		Status            string            `json:"status"`
		CreatedAt         instant           `json:"created_at"`
		UpdatedAt         instant           `json:"updated_at"`
		MonitoringAt      *instant          `json:"monitoring_at"`
		ResolvedAt        *instant          `json:"resolved_at"`
		Impact            string            `json:"impact"`
		Shortlink         string            `json:"shortlink"`
		StartedAt         *instant          `json:"started_at"`
		Updates           []updateObject    `json:"incident_updates"`
		Components        []componentObject `json:"components"`
		ReminderIntervals *string           `json:"reminder_intervals"`
		ScheduledFor      *instant          `json:"scheduled_for"`
		ScheduledUntil    *instant          `json:"scheduled_until"`
	}
	updateObject struct {
		ID                   string            `json:"id"`
		Status               string            `json:"status"`
		Body                 string            `json:"body"`
		CreatedAt            instant           `json:"created_at"`
		UpdatedAt            instant           `json:"updated_at"`
		DisplayAt            *instant          `json:"display_at"`
		Affected             *[]affectedObject `json:"affected_components"`
		DeliverNotifications bool              `json:"deliver_notifications"`
		CustomTweet          *string           `json:"custom_tweet"`
		TweetID              any               `json:"tweet_id"`
	}
	affectedObject struct {
		Code      string `json:"code"`
		Name      string `json:"name"`
		OldStatus string `json:"old_status"`
		NewStatus string `json:"new_status"`
	}
)

// instant is an instant in a document, with any offset and precision.
type instant time.Time

// UnmarshalText reads an RFC 3339 time, converts it to UTC and cuts it to milliseconds. It fails for other text and
// for years outside of 1 to 9999.
func (i *instant) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("%q is not an instant", text)
	}
	*i = instant(Milliseconds(t).UTC())
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return fmt.Errorf("the year of %q is out of range", text)
	}
	return nil
}

// checkSize fails if a document of another server has more components, notices or updates than the limits.
func (d *pageDocument) checkSize() error {
	updates := 0
	for _, list := range [][]noticeObject{d.Incidents, d.Maintenance} {
		for i := range list {
			updates += len(list[i].Updates)
		}
	}
	for _, c := range []struct {
		what    string
		n, most int
	}{
		{"components", len(d.Components), mostComponents},
		{"incidents", len(d.Incidents), mostNotices},
		{"maintenances", len(d.Maintenance), mostNotices},
		{"updates", updates, mostUpdates},
	} {
		if c.n > c.most {
			return fmt.Errorf("it has %d %s, more than the maximum of %d", c.n, c.what, c.most)
		}
	}
	return nil
}

// ReadDocuments decodes the documents of another status page, by the names of [Documents], for an import. Documents
// may be missing, but not all. It fails if a document is malformed, too large or of another page. Invalid values are
// replaced or omitted with a warning.
func ReadDocuments(documents map[string][]byte) (*Source, error) {
	r := reader{
		source: &Source{Coverage: map[Kind]time.Time{}}, seen: map[string]bool{},
	}
	for _, name := range Documents() {
		text, given := documents[name]
		if !given {
			continue
		}
		err := r.document(name, text)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	if r.source.Page == nil {
		return nil, errors.New("all documents are missing")
	}
	r.source.hold()
	return r.source, nil
}

// hold sets n.Held of the open notices that gave the components their statuses, so that the components are
// released when the notices end. The base status of these components becomes operational. Statuses that no open
// notice explains stay base statuses.
func (s *Source) hold() {
	for _, c := range s.Components {
		explained := false
		for _, n := range s.Notices {
			for _, u := range n.Updates { // the newest that mentions the component
				i := slices.IndexFunc(u.Affected, func(a *AffectedComponent) bool { return a.Code == c.Code })
				if i < 0 || !n.State.Open() {
					continue
				}
				held := u.Affected[i].NewStatus
				if held.WorseThan(c.BaseStatus) { // lowered since, without an update of this notice
					held = c.BaseStatus
				}
				if held != Operational {
					explained = explained || held == c.BaseStatus
					n.Held[c.Code] = held
				}
				break
			}
		}
		if explained {
			c.BaseStatus = Operational
		}
	}
}

// CheckDocuments returns the contradictions between the eight documents of a revision, as sorted English texts, or
// nil, for the command "status check". documents are those that a gateway has rendered, by the names of [Documents]; a
// null page panics. If one is missing or cannot be decoded, that is the only contradiction reported.
func CheckDocuments(documents map[string][]byte) []string {
	var found []string
	complain := func(condition bool, format string, args ...any) {
		if condition {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	d := map[string]*pageDocument{}
	for _, name := range Documents() {
		d[name] = &pageDocument{Page: &pageObject{}}
		err := json.Unmarshal(documents[name], d[name])
		if err != nil {
			return []string{fmt.Sprintf("%s is not a document: %v", name, err)}
		}
		complain(*d[name].Page != *d[SummaryDocument].Page, "%s belongs to another revision", name)
	}
	summary := d[SummaryDocument]
	complain(!reflect.DeepEqual(summary.Components, d[ComponentsDocument].Components),
		"the components of the summary differ from %s", ComponentsDocument)
	complain(summary.Status != d[StatusDocument].Status, "the status of the summary differs from %s", StatusDocument)
	open, parts := summary.Incidents, slices.Concat(d[UpcomingDocument].Maintenance, d[ActiveDocument].Maintenance)
	complain(!sameList(open, d[UnresolvedDocument].Incidents), "the incidents of the summary and %s differ",
		UnresolvedDocument)
	complain(!sameList(summary.Maintenance, parts), "the maintenances of the summary and its parts differ")

	incidents, maintenances := d[IncidentsDocument].Incidents, d[ScheduledDocument].Maintenance
	complain(len(incidents) > mostListed || len(maintenances) > mostListed,
		"%d incidents and %d maintenances are listed, more than %d", len(incidents), len(maintenances), mostListed)
	for i := range open {
		n := &open[i]
		newer := !slices.ContainsFunc(incidents, func(o noticeObject) bool { return o.ID == n.ID })
		complain(newer && len(incidents) < mostListed, "the unresolved incident %s is not in %s", n.ID,
			IncidentsDocument)
		complain(!slices.Contains(OpenStates(Realtime), State(n.Status)), "the incident %s is unresolved and %s", n.ID,
			n.Status)
	}
	for _, n := range slices.Concat(open, parts, incidents, maintenances) {
		newest := ""
		for _, u := range n.Updates {
			if newest = u.Status; newest != string(Postmortem) {
				break
			}
		}
		complain(newest == "", "%s has no update", n.ID)
		complain(newest != "" && n.Status != string(Postmortem) && newest != n.Status,
			"%s is %s, but its newest update is %s", n.ID, n.Status, newest)
	}
	checkGroups(summary.Components, complain)
	slices.Sort(found)
	return slices.Compact(found)
}

// sameList reports whether two lists contain the same notices with the same content, in any order. It changes
// neither.
func sameList(a, b []noticeObject) bool {
	byID := func(a, b noticeObject) int { return strings.Compare(a.ID, b.ID) }
	a, b = slices.SortedFunc(slices.Values(a), byID), slices.SortedFunc(slices.Values(b), byID)
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// checkGroups calls complain for groups that do not match the components in them, and for components that are out of
// order. complain ignores calls whose condition is false.
func checkGroups(components []componentObject, complain func(condition bool, format string, args ...any)) {
	children := map[string][]string{}
	var last int32
	for _, c := range components {
		complain(c.Position < last, "the component %s is out of order", c.ID)
		last = c.Position
		if c.GroupID != nil {
			children[*c.GroupID] = append(children[*c.GroupID], c.ID)
		}
	}
	for _, c := range components {
		if c.Group {
			complain(len(c.Components) == 0, "the group %s has no component", c.ID)
			complain(!slices.Equal(c.Components, children[c.ID]),
				"the group %s lists %v, but the components in it are %v", c.ID, c.Components, children[c.ID])
			delete(children, c.ID)
		}
	}
	for id := range children {
		complain(true, "the group %s is not listed", id)
	}
}

package status

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"heliograph/internal/ledger"
)

// The documents of a page, by the ends of their paths.
const (
	SummaryDocument     = "summary.json"
	StatusDocument      = "status.json"
	ComponentsDocument  = "components.json"
	IncidentsDocument   = "incidents.json"
	UnresolvedDocument  = "incidents/unresolved.json"
	ScheduledDocument   = "scheduled-maintenances.json"
	UpcomingDocument    = "scheduled-maintenances/upcoming.json"
	ActiveDocument      = "scheduled-maintenances/active.json"
	mostListed          = 50 // what the two lists of all notices hold at most
	defaultZone         = "Etc/UTC"
	longestPageDocument = 16 << 20
)

// Documents returns the names of all documents, in the order in which they are described.
func Documents() []string {
	return []string{
		SummaryDocument, StatusDocument, ComponentsDocument, IncidentsDocument, UnresolvedDocument, ScheduledDocument, UpcomingDocument, ActiveDocument,
	}
}

// Copy is what the documents of a page elsewhere say.
type Copy struct {
	Page *Page
	// Components are all components and groups in their order, nil where no document lists them.
	Components []*Component
	Notices    []*CopiedNotice
	// Reach tells how far back the lists of all notices go, by kind. A kind is missing where its list was not given.
	Reach map[Kind]Reach
	// Warnings are what could not be understood, and what was made of it.
	Warnings []string
}

// CopiedNotice is a notice with what belongs to it.
type CopiedNotice struct {
	Notice
	Components []string  // codes
	Updates    []*Update // the newest first
}

// Reach is how far back a list of notices goes: a notice that is not in it although it would have a place there was deleted.
type Reach struct {
	All bool      // it has all there are
	To  time.Time // else, the instant of the last one; see [Notice.RecentAt]
}

// Covers tells whether the list would have a notice of this instant.
func (r Reach) Covers(recentAt time.Time) bool { return r.All || recentAt.After(r.To) }

// What documents hold.
type (
	pageDocument struct {
		Page        *pageObject       `json:"page"`
		Components  []componentObject `json:"components"`
		Incidents   []noticeObject    `json:"incidents"`
		Maintenance []noticeObject    `json:"scheduled_maintenances"`
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

// instant is an instant in a document, whatever its offset and its decimals.
type instant struct{ time.Time }

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *instant) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("%q is no instant", text)
	}
	i.Time = Milliseconds(t).UTC()
	return nil
}

// ReadDocuments reads the documents of one page, by the names of [Documents]; not all of them have to be given. A document that cannot be read at all is
// an error. What is in it that this page cannot have is replaced or left out, with a warning.
func ReadDocuments(documents map[string][]byte) (*Copy, error) {
	r := reader{copied: &Copy{Reach: map[Kind]Reach{}}, seen: map[string]bool{}}
	for _, name := range Documents() {
		text, given := documents[name]
		if !given {
			continue
		}
		if len(text) > longestPageDocument {
			return nil, fmt.Errorf("%s is larger than %d bytes", name, longestPageDocument)
		}
		var d pageDocument
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if d.Page == nil {
			return nil, fmt.Errorf("reading %s: it has no page", name)
		}
		if err := r.document(name, &d); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	if r.copied.Page == nil {
		return nil, fmt.Errorf("none of the documents of a page is there")
	}
	return r.copied, nil
}

// reader gathers what documents say.
type reader struct {
	copied *Copy
	seen   map[string]bool // codes of notices
}

func (r *reader) warn(format string, args ...any) {
	r.copied.Warnings = append(r.copied.Warnings, fmt.Sprintf(format, args...))
}

func (r *reader) document(name string, d *pageDocument) error {
	if err := r.page(d.Page); err != nil {
		return err
	}
	if r.copied.Components == nil && (name == SummaryDocument || name == ComponentsDocument) {
		r.copied.Components = []*Component{}
		for i := range d.Components {
			r.component(&d.Components[i], int32(i))
		}
	}
	for i := range d.Incidents {
		r.notice(Realtime, &d.Incidents[i])
	}
	for i := range d.Maintenance {
		r.notice(Scheduled, &d.Maintenance[i])
	}
	switch name {
	case IncidentsDocument:
		r.reach(Realtime, d.Incidents)
	case ScheduledDocument:
		r.reach(Scheduled, d.Maintenance)
	}
	return nil
}

func (r *reader) page(o *pageObject) error {
	if p := r.copied.Page; p != nil {
		if p.Code != o.ID {
			return fmt.Errorf("it is of page %q, others are of %q", o.ID, p.Code)
		}
		return nil
	}
	if !ValidCode(o.ID) || o.Name == "" {
		return fmt.Errorf("page %q with the name %q cannot be stored", o.ID, o.Name)
	}
	zoneName := o.TimeZone
	zone, err := LoadZone(zoneName)
	if err != nil {
		if zoneName != "" {
			r.warn("the time zone %q is not known; %s is taken", zoneName, defaultZone)
		}
		zoneName, zone = defaultZone, time.UTC
	}
	r.copied.Page = &Page{Code: o.ID, Name: o.Name, URL: strings.TrimRight(o.URL, "/"), TimeZone: zoneName, Zone: zone, UpdatedAt: o.UpdatedAt.Time}
	return nil
}

func (r *reader) component(o *componentObject, index int32) {
	if !ValidCode(o.ID) || o.Name == "" || o.Position < 0 {
		r.warn("component %q with the name %q and the position %d cannot be stored", o.ID, o.Name, o.Position)
		return
	}
	c := &Component{
		Code: o.ID, PageCode: r.copied.Page.Code, IsGroup: o.Group, Name: o.Name, Position: o.Position, ListIndex: index,
		CreatedAt: o.CreatedAt.Time, UpdatedAt: o.UpdatedAt.Time, Origin: FromSync,
	}
	if o.Description != nil && *o.Description != "" {
		c.Description = ledger.Of(*o.Description)
	}
	if !o.Group {
		c.BaseStatus = r.state(o.Status, "component "+o.ID)
		c.Showcase, c.OnlyShowIfDegraded = o.Showcase, o.OnlyShowIfDegraded
		if o.GroupID != nil && *o.GroupID != "" {
			c.GroupCode = ledger.Of(*o.GroupID)
		}
		if o.StartDate != nil {
			if day, err := ParseDate((*o.StartDate + "          ")[:len(dateLayout)]); err == nil {
				c.StartDate = ledger.Of(day)
			} else {
				r.warn("component %s: the first day %q is left out", o.ID, *o.StartDate)
			}
		}
	}
	r.copied.Components = append(r.copied.Components, c)
}

// state reads the state of a component. What is not known works, for all that can be said.
func (r *reader) state(text, of string) ComponentStatus {
	if s := ComponentStatus(text); s.Valid() {
		return s
	}
	r.warn("%s: the state %q is not known; operational is taken", of, text)
	return Operational
}

func (r *reader) notice(kind Kind, o *noticeObject) {
	if r.seen[o.ID] {
		return
	}
	r.seen[o.ID] = true
	n := &CopiedNotice{Notice: Notice{
		Code: o.ID, PageCode: r.copied.Page.Code, Kind: kind, Name: o.Name, State: State(o.Status), Impact: Impact(o.Impact), Shortlink: o.Shortlink,
		CreatedAt: o.CreatedAt.Time, UpdatedAt: o.UpdatedAt.Time, StartedAt: o.CreatedAt.Time,
		MonitoringAt: known(o.MonitoringAt), ResolvedAt: known(o.ResolvedAt), ScheduledFor: known(o.ScheduledFor), ScheduledUntil: known(o.ScheduledUntil),
		Origin: FromSync, NotifyAtStart: true, NotifyAtEnd: true,
	}}
	if !ValidCode(o.ID) || o.Name == "" || !n.State.Valid() || n.State.Kind() != kind || kind == Scheduled && (o.ScheduledFor == nil || o.ScheduledUntil == nil) {
		r.warn("the notice %q with the name %q and the state %q cannot be stored", o.ID, o.Name, o.Status)
		return
	}
	if o.StartedAt != nil {
		n.StartedAt = o.StartedAt.Time
	}
	if kind == Realtime && o.ReminderIntervals != nil {
		n.ReminderIntervals = ledger.Of(*o.ReminderIntervals)
	}
	if !n.Impact.Valid() {
		r.warn("notice %s: the impact %q is not known; none is taken", o.ID, o.Impact)
		n.Impact = ImpactNone
	}
	for i := range o.Components {
		n.Components = append(n.Components, o.Components[i].ID)
	}
	var given []ComponentStatus
	for i := range o.Updates {
		if u := r.update(n, &o.Updates[i]); u != nil {
			n.Updates = append(n.Updates, u)
			for _, a := range u.Affected {
				given = append(given, a.NewStatus)
			}
		}
	}
	slices.SortStableFunc(n.Updates, newestFirst)
	// What cannot follow from the updates was an editor's word, and stays so when the page is edited here.
	if n.Impact != ImpactOf(kind, "", given...) {
		n.ImpactOverride = ledger.Of(n.Impact)
	}
	r.copied.Notices = append(r.copied.Notices, n)
}

func known(i *instant) ledger.Null[time.Time] {
	if i == nil {
		return ledger.Null[time.Time]{}
	}
	return ledger.Of(i.Time)
}

func (r *reader) update(n *CopiedNotice, o *updateObject) *Update {
	u := &Update{
		Code: o.ID, NoticeCode: n.Code, State: State(o.Status), Body: o.Body, CreatedAt: o.CreatedAt.Time, UpdatedAt: o.UpdatedAt.Time,
		DisplayAt: known(o.DisplayAt), DeliverNotifications: o.DeliverNotifications, EmptyAffected: o.Affected != nil && len(*o.Affected) == 0, Origin: FromSync,
	}
	if !ValidCode(o.ID) || !u.State.Valid() {
		r.warn("the update %q of notice %s in the state %q cannot be stored", o.ID, n.Code, o.Status)
		return nil
	}
	if o.CustomTweet != nil {
		u.CustomTweet = ledger.Of(*o.CustomTweet)
	}
	if o.TweetID != nil {
		u.TweetID = ledger.Of(fmt.Sprint(o.TweetID))
	}
	if o.Affected == nil {
		return u
	}
	seen := map[string]bool{}
	for _, a := range *o.Affected {
		if !ValidCode(a.Code) || seen[a.Code] {
			r.warn("update %s: the component %q is left out", o.ID, a.Code)
			continue
		}
		seen[a.Code] = true
		u.Affected = append(u.Affected, &AffectedComponent{
			PageCode: n.PageCode, UpdateCode: u.Code, Ordinal: int32(len(u.Affected)), Code: a.Code, Name: a.Name,
			OldStatus: r.state(a.OldStatus, "update "+o.ID), NewStatus: r.state(a.NewStatus, "update "+o.ID),
		})
	}
	return u
}

// reach notes how far back a list goes.
func (r *reader) reach(kind Kind, list []noticeObject) {
	if len(list) < mostListed {
		r.copied.Reach[kind] = Reach{All: true}
		return
	}
	var to time.Time
	for _, n := range r.copied.Notices {
		if n.Kind == kind && n.Code == list[len(list)-1].ID {
			to = n.RecentAt()
		}
	}
	if to.IsZero() { // the last row could not be stored: nothing is known to be missing
		return
	}
	r.copied.Reach[kind] = Reach{To: to}
}

// newestFirst is the order of updates.
func newestFirst(a, b *Update) int {
	if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
		return c
	}
	return strings.Compare(b.Code, a.Code)
}

package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// reader collects the content of documents.
type reader struct {
	source *Source
	seen   map[string]bool // "component CODE", "notice CODE", "update CODE", and "value X" of unknown values
}

// reportUnknown adds a warning that a value is unknown, and which one is used. of names the object, and kind what the
// value is. Each value is reported once, whatever object has it.
func (r *reader) reportUnknown(of, kind, value, used string) {
	if !r.seen["value "+value] {
		r.seen["value "+value] = true
		r.warn("%s: the %s %q is unknown; %s is used", of, kind, value, used)
	}
}

// warn adds a warning to the result. Whatever it is about is changed or omitted.
func (r *reader) warn(format string, args ...any) {
	r.source.Warnings = append(r.source.Warnings, fmt.Sprintf(format, args...))
}

// text returns s, with a warning and a replacement if it contains character 0, which the database cannot store. of
// names the object in the warning.
func (r *reader) text(s, of string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	r.warn("%s: the character 0 in a text is replaced", of)
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// optional returns a text that may be missing, or null. It replaces the character 0 in it, with a warning in which of
// names the object.
func (r *reader) optional(s *string, of string) ledger.Null[string] {
	if s == nil {
		return ledger.Null[string]{}
	}
	return ledger.Of(r.text(*s, of))
}

// times returns when an object was created and updated. If one is missing, the other is used; if both are, the time of
// the page. A missing creation time adds a warning, in which of names the object.
func (r *reader) times(createdAt, updatedAt instant, of string) (created, updated time.Time) {
	created, updated = time.Time(createdAt), time.Time(updatedAt)
	if created.IsZero() {
		created = cmp.Or(updated, r.source.Page.UpdatedAt)
		r.warn("%s: the creation time is missing", of)
	}
	return created, cmp.Or(updated, created)
}

// document adds the contents of one document of another server to the result. Objects of earlier documents are not
// replaced, and only the first document that lists all components sets them. It fails if the document is too large,
// malformed, or of another page.
func (r *reader) document(name string, text []byte) error {
	err := FailIf(len(text) > LongestDocument, BadInput, "it is larger than %d MiB", LongestDocument>>20)
	if err != nil {
		return err
	}
	var d pageDocument
	err = cmp.Or(json.Unmarshal(text, &d), FailIf(d.Page == nil, BadInput, "the page is missing"))
	if err != nil {
		return err
	}
	err = cmp.Or(d.checkSize(), r.page(d.Page))
	if err != nil {
		return err
	}
	if r.source.Components == nil && (name == SummaryDocument || name == ComponentsDocument) {
		r.source.Components = []*Component{}
		for i := range d.Components {
			r.component(&d.Components[i], int32(i))
		}
		r.groups()
	}
	for i := range d.Incidents {
		r.notice(Realtime, &d.Incidents[i])
	}
	for i := range d.Maintenance {
		r.notice(Scheduled, &d.Maintenance[i])
	}
	switch name {
	case IncidentsDocument:
		r.coverage(Realtime, d.Incidents)
	case ScheduledDocument:
		r.coverage(Scheduled, d.Maintenance)
	}
	return nil
}

// page sets the page of the result, or checks that a further document is of the same page. If the documents are of
// different revisions, it sets Mixed. It fails if the page is another one or cannot be stored. An invalid URL is
// omitted with a warning, and an unknown time zone is replaced by UTC.
func (r *reader) page(o *pageObject) error {
	updated := cmp.Or(time.Time(o.UpdatedAt), time.Unix(0, 0).UTC())
	if p := r.source.Page; p != nil {
		if p.Code != o.ID {
			return fmt.Errorf("it belongs to page %q, other documents to %q", o.ID, p.Code)
		}
		r.source.Mixed = r.source.Mixed || !updated.Equal(p.UpdatedAt)
		return nil
	}
	if !ValidCode(o.ID) || o.Name == "" {
		return fmt.Errorf("page %q with the name %q cannot be stored", o.ID, o.Name)
	}
	zoneName := o.TimeZone
	zone, err := LoadZone(zoneName)
	if err != nil {
		if zoneName != "" {
			r.warn("the time zone %q is unknown; %s is used", zoneName, defaultZone)
		}
		zoneName, zone = defaultZone, time.UTC
	}
	p := &Page{
		Code: o.ID, Name: r.text(o.Name, "the page"), URL: strings.TrimRight(o.URL, "/"),
		TimeZone: zoneName, Zone: zone, UpdatedAt: updated,
	}
	if !IsWebURL(p.URL, true) {
		r.warn("the URL %q of the page is invalid", o.URL)
		p.URL = ""
	}
	r.source.Page = p
	return nil
}

// groups removes components of the result from groups that do not exist, with a warning.
func (r *reader) groups() {
	groups := map[string]bool{}
	for _, c := range r.source.Components {
		groups[c.Code] = c.IsGroup
	}
	for _, c := range r.source.Components {
		if g := c.GroupCode; g.Valid && !groups[g.V] {
			r.warn("component %s: the group %q does not exist", c.Code, g.V)
			c.GroupCode = ledger.Null[string]{}
		}
	}
}

// component adds a component to the result. If it cannot be stored or is a duplicate, it adds a warning instead.
// index is its position in the document.
func (r *reader) component(o *componentObject, index int32) {
	if !ValidCode(o.ID) || o.Name == "" || o.Position < 0 {
		r.warn("component %q with the name %q and the position %d cannot be stored", o.ID, o.Name, o.Position)
		return
	}
	of := "component " + o.ID
	if r.seen[of] {
		r.warn("%s is listed twice; the first is used", of)
		return
	}
	r.seen[of] = true
	c := &Component{
		Code: o.ID, PageCode: r.source.Page.Code, IsGroup: o.Group, Name: r.text(o.Name, of), Position: o.Position,
		ListIndex: index, Origin: FromSync,
		Version: 1,
	}
	c.CreatedAt, c.UpdatedAt = r.times(o.CreatedAt, o.UpdatedAt, of)
	c.Description = ledger.NonZero(r.optional(o.Description, of).V)
	if !o.Group {
		c.BaseStatus = r.status(o.Status, of)
		c.Showcase, c.OnlyShowIfDegraded = o.Showcase, o.OnlyShowIfDegraded
		c.GroupCode = ledger.NonZero(ledger.FromPointer(o.GroupID).V)
		if o.StartDate != nil {
			if day, err := ParseDate((*o.StartDate + "          ")[:len(dateLayout)]); err == nil {
				c.StartDate = ledger.Of(day)
			} else {
				r.warn("component %s: the start date %q is omitted", o.ID, *o.StartDate)
			}
		}
	}
	r.source.Components = append(r.source.Components, c)
}

// status returns the status of a component. With a warning, in which of names the object, a missing one becomes
// operational, and an unknown one the worst: what has a name of its own is hardly operational.
func (r *reader) status(text, of string) ComponentStatus {
	s := ComponentStatus(text)
	if s.Valid() {
		return s
	}
	if s = Operational; text != "" {
		s = MajorOutage
	}
	r.reportUnknown(of, "status", text, string(s))
	return s
}

// notice adds an incident or a maintenance with its updates to the result. If it cannot be stored, it adds a warning
// instead. A notice that was added before is ignored. With a warning, an unknown impact becomes critical, a missing
// one none, and an invalid link that of the page here.
func (r *reader) notice(kind Kind, o *noticeObject) {
	of := "notice " + o.ID
	if r.seen[of] {
		return
	}
	r.seen[of] = true
	n := &SourceNotice{Held: map[string]ComponentStatus{}, Notice: Notice{
		Code: o.ID, PageCode: r.source.Page.Code, Kind: kind, Name: r.text(o.Name, of), State: State(o.Status),
		Impact: Impact(o.Impact), Shortlink: o.Shortlink,
		MonitoringAt: nullTime(o.MonitoringAt), ResolvedAt: nullTime(o.ResolvedAt),
		ScheduledFor: nullTime(o.ScheduledFor), ScheduledUntil: nullTime(o.ScheduledUntil),
		Origin: FromSync, NotifyAtStart: true, NotifyAtEnd: true, AutoOperationalState: kind == Scheduled,
		Version: 1,
	}}
	if !ValidCode(o.ID) || o.Name == "" || !n.State.Valid() || n.State.Kind() != kind || kind == Scheduled &&
		(o.ScheduledFor == nil || o.ScheduledUntil == nil) {
		r.warn("the notice %q with the name %q and the state %q cannot be stored", o.ID, o.Name, o.Status)
		return
	}
	n.CreatedAt, n.UpdatedAt = r.times(o.CreatedAt, o.UpdatedAt, of)
	n.StartedAt = cmp.Or(nullTime(o.StartedAt).V, n.CreatedAt)
	if !IsWebURL(n.Shortlink, true) { // pages link to it
		r.warn("%s: the link %q is invalid", of, o.Shortlink)
		n.Shortlink = r.source.Page.NoticeURL(n.Code)
	}
	if kind == Realtime {
		n.ReminderIntervals = r.optional(o.ReminderIntervals, of)
	}
	if !n.Impact.Valid() {
		n.Impact = ImpactNone
		if o.Impact != "" {
			n.Impact = ImpactCritical
		}
		r.reportUnknown(of, "impact", o.Impact, string(n.Impact))
	}
	for i := range o.Components {
		if code := o.Components[i].ID; !slices.Contains(n.Components, code) {
			n.Components = append(n.Components, code)
		}
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
	// An impact that does not follow from the updates was set by an editor.
	if n.Impact != ImpactOf(kind, "", given...) {
		n.ImpactOverride = ledger.Of(n.Impact)
	}
	r.source.Notices = append(r.source.Notices, n)
}

// nullTime returns the time at i, an optional member of a document, or null if i is nil.
func nullTime(i *instant) ledger.Null[time.Time] { return ledger.FromPointer((*time.Time)(i)) }

// noneAffected is the name of the only component of an update that affects none, on pages of the service whose API
// this is.
const noneAffected = "No components were affected by this update."

// update returns an update of n, or nil with a warning if it cannot be stored or is a duplicate. Components that are
// invalid or listed twice are omitted with a warning. It does not add the update to n.
func (r *reader) update(n *SourceNotice, o *updateObject) *Update {
	of := "update " + o.ID
	u := &Update{
		Code: o.ID, NoticeCode: n.Code, State: State(o.Status), Body: r.text(o.Body, of),
		DisplayAt: nullTime(o.DisplayAt), DeliverNotifications: o.DeliverNotifications,
		EmptyAffected: o.Affected != nil &&
			len(*o.Affected) == 0, Origin: FromSync,
	}
	if !ValidCode(o.ID) || !u.State.Valid() || u.State.Kind() != n.Kind {
		r.warn("the update %q of notice %s in the state %q cannot be stored", o.ID, n.Code, o.Status)
		return nil
	}
	if r.seen[of] {
		r.warn("%s of notice %s is listed twice; the first is used", of, n.Code)
		return nil
	}
	r.seen[of] = true
	u.CreatedAt, u.UpdatedAt = r.times(o.CreatedAt, o.UpdatedAt, of)
	u.CustomTweet = r.optional(o.CustomTweet, of)
	if o.TweetID != nil {
		u.TweetID = ledger.Of(r.text(fmt.Sprint(o.TweetID), of))
	}
	if o.Affected == nil {
		return u
	}
	seen := map[string]bool{}
	for _, a := range *o.Affected {
		if a.Name == noneAffected {
			u.EmptyAffected = len(*o.Affected) == 1
			continue
		}
		if !ValidCode(a.Code) || seen[a.Code] {
			r.warn("update %s: the component %q is omitted", o.ID, a.Code)
			continue
		}
		seen[a.Code] = true
		u.Affected = append(u.Affected, &AffectedComponent{
			PageCode: n.PageCode, UpdateCode: u.Code, Ordinal: int32(len(u.Affected)), Code: a.Code,
			Name:      r.text(a.Name, of),
			OldStatus: r.status(a.OldStatus, of), NewStatus: r.status(a.NewStatus, of),
		})
	}
	return u
}

// coverage sets r.source.Coverage of a kind from the list of all notices of another server: since when it is
// complete. That is always, the zero time, if it is short, else since its last notice. If that notice was omitted,
// nothing is set.
func (r *reader) coverage(kind Kind, list []noticeObject) {
	var after time.Time
	if len(list) >= mostListed {
		for _, n := range r.source.Notices {
			if n.Kind == kind && n.Code == list[len(list)-1].ID {
				after = n.RecentAt()
			}
		}
		if after.IsZero() { // the last notice was omitted: the coverage is unknown
			return
		}
	}
	r.source.Coverage[kind] = after
}

// newestFirst compares updates for sorting: by creation time, newest first, then by code in descending order.
func newestFirst(a, b *Update) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(b.Code, a.Code))
}

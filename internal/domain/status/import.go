package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
)

// ImportOptions configure how a page is imported from the documents of another status page.
type ImportOptions struct {
	// Mode is [Mirror] for a page that follows its source, or [Imported] for a page that is edited here afterwards.
	// Importing a mirror with [Imported] ends mirroring.
	Mode Mode
	// Slug, URL and Vocabulary are settings of a page that is created. The default Slug follows from the name, and the
	// default URL is that of the source. A mirror always keeps the URL and the links of its source.
	Slug       string
	URL        string
	Vocabulary Vocabulary
}

// NewImportedPage returns a copy of the source's page with the settings of the import, for insertion if the page does
// not exist. It keeps the URL of the source for a mirror, or if the settings have none. Without a slug, it derives
// one from the name. It checks nothing, and source does not change.
func NewImportedPage(source *Page, o ImportOptions) *Page {
	p := *source
	p.Mode, p.Vocabulary, p.Slug = o.Mode, o.Vocabulary, o.Slug
	if o.URL != "" && o.Mode != Mirror {
		p.URL = strings.TrimRight(o.URL, "/")
	}
	p.Slug = cmp.Or(p.Slug, Slug(source.Name))
	return &p
}

// CheckImport fails with [BadState] if an import would overwrite what editors wrote. edited reports whether editors
// have changed the page since it was imported. A mirror is never edited, so that it can always be imported.
func CheckImport(p *Page, mode Mode, edited bool) error {
	if p.Mode == Mirror {
		return nil
	}
	return cmp.Or(FailIf(p.Mode != Imported || mode != Imported, BadState,
		"the page %s is edited here (its mode is %s): it cannot become a copy of another page", p.Slug, p.Mode),
		FailIf(edited, BadState,
			"the page %s has been edited since it was imported: importing it again would overwrite the edits", p.Slug))
}

// StoredComponent is a component in the database, which may be deleted.
type StoredComponent struct {
	Component
	Deleted bool
}

// Stored is what the database has of a page that is imported.
type Stored struct {
	Page       *Page
	Components []*StoredComponent
	// Notices are those that are not deleted, with their updates, newest first.
	Notices []NoticeState
	// Changes are changes of statuses without an update, oldest first.
	Changes []*HistoryEvent
}

// Import is what has to be written so that a page equals the documents of its source.
type Import struct {
	// Page has the new name, time zone, URL and mode, or is nil if they do not change.
	Page *Page
	// EndsMirror reports whether a mirror becomes a page that is edited here. Its notices then link to the new URL.
	EndsMirror bool
	// Ungrouped are groups that become components, which must be empty before.
	Ungrouped []string
	// Components are new or changed. Groups precede the components in them.
	Components        []*Component
	DeletedComponents []string
	// Changes are the changes of statuses. Those that follow from an update have its code.
	Changes []*Change
	// Notices are new or changed, with all their updates. Updates that do not change have their revision, or 0 if they
	// have none. The others belong to the revision that the import writes.
	Notices        []*SourceNotice
	DeletedNotices []string
	// Released are the codes of stored notices that hold components, although the documents do not list them.
	Released []string
	// Stale are the codes of open notices that the documents no longer list, although they were not closed.
	Stale []string
}

// Changed returns the number of components and notices to write or delete.
func (i *Import) Changed() int {
	return len(i.Components) + len(i.DeletedComponents) + len(i.Notices) + len(i.DeletedNotices)
}

// Empty reports whether the import has nothing to write, because the documents equal what is stored.
func (i *Import) Empty() bool {
	return i.Changed() == 0 && i.Page == nil && len(i.Ungrouped) == 0 && len(i.Changes) == 0 && len(i.Released) == 0
}

// CompareImport returns what an import has to write: the differences between the documents of a source and what is
// stored. It changes the components, notices and updates of source. Codes and instants of the source are kept. What
// the documents no longer list is deleted if they would list it, except for notices that were not imported.
func CompareImport(source *Source, stored Stored, o ImportOptions) *Import {
	i := &Import{}
	url := i.comparePage(source.Page, stored.Page, o)
	known := i.compareComponents(source, stored.Components)
	byCode := list.By(stored.Notices, func(s NoticeState) string { return s.Notice.Code })
	listed := map[string]bool{}
	for _, n := range source.Notices {
		listed[n.Code] = true
		if o.Mode != Mirror {
			n.Shortlink = noticeURL(url, n.Code)
		}
		n.Components = slices.DeleteFunc(n.Components, func(code string) bool { return !known[code] })
		i.compareNotice(n, byCode[n.Code])
	}
	for _, s := range stored.Notices {
		n := s.Notice
		if listed[n.Code] || n.Origin != FromSync {
			continue
		}
		if slices.ContainsFunc(s.Attachments, func(a *Attachment) bool { return a.HeldStatus != "" }) {
			i.Released = append(i.Released, n.Code)
		}
		if after, given := source.Coverage[n.Kind]; given && n.RecentAt().After(after) {
			i.DeletedNotices = append(i.DeletedNotices, n.Code)
		} else if n.State.Open() {
			i.Stale = append(i.Stale, n.Code)
		}
	}
	i.compareStatuses(source, stored)
	return i
}

// compareStatuses adds to i.Changes the changes of statuses, and those that the history needs so that it ends with the
// current statuses. i.DeletedNotices must be complete, because the history omits these notices.
func (i *Import) compareStatuses(source *Source, stored Stored) {
	before, after := map[string]ComponentStatus{}, map[string]ComponentStatus{}
	for _, c := range stored.Components {
		before[c.Code] = c.BaseStatus
	}
	events := map[string][]*HistoryEvent{}
	add := func(n *Notice, updates []*Update) {
		mentioned := map[string]bool{}
		for _, u := range slices.Backward(updates) {
			e := HistoryEvent{
				Notice: n.Code, Update: u.Code, State: u.State, CreatedAt: u.CreatedAt,
				DisplayAt: u.DisplayAt,
			}
			for _, a := range u.Affected {
				stated := e
				stated.Component, stated.Old, stated.New = a.Code, a.OldStatus, a.NewStatus
				events[a.Code] = append(events[a.Code], &stated)
				mentioned[a.Code] = true
			}
			if !u.State.Open() { // ends also what the update does not mention
				for code := range mentioned {
					ended := e
					ended.Component = code
					events[code] = append(events[code], &ended)
				}
			}
		}
	}
	for _, n := range slices.Backward(source.Notices) {
		for code, s := range n.Held {
			after[code] = Worst(after[code], s)
		}
		add(&n.Notice, n.Updates)
	}
	for _, s := range slices.Backward(stored.Notices) {
		for _, a := range s.Attachments {
			before[a.ComponentCode] = Worst(before[a.ComponentCode], a.HeldStatus)
		}
		if !slices.ContainsFunc(source.Notices, func(n *SourceNotice) bool { return n.Code == s.Notice.Code }) &&
			!slices.Contains(i.DeletedNotices, s.Notice.Code) {
			add(s.Notice, s.Updates)
		}
	}
	for _, e := range stored.Changes {
		events[e.Component] = append(events[e.Component], e)
	}
	for _, c := range source.Components {
		if c.IsGroup {
			continue
		}
		list := events[c.Code]
		slices.SortStableFunc(list, func(a, b *HistoryEvent) int { return a.CreatedAt.Compare(b.CreatedAt) })
		history := HistoryOf(list, time.Time{}, HistoryPoint{})
		last := history[len(history)-1]
		change := &Change{
			ComponentCode: c.Code, At: c.UpdatedAt, OldStatus: before[c.Code],
			NewStatus: Worst(c.BaseStatus, after[c.Code]), Origin: FromSync,
		}
		switch {
		case last.Status != change.NewStatus: // an editor or a probe of the source has set it
			change.OldStatus, change.At = last.Status, later(change.At, last.At.Add(time.Millisecond))
		case change.OldStatus == change.NewStatus:
			continue
		case len(list) > 0:
			change.UpdateCode = ledger.NonZero(list[len(list)-1].Update)
		}
		i.Changes = append(i.Changes, change)
	}
}

// comparePage sets i.Page if the settings of the page of the source, from, and of the stored one, to, differ, and
// i.EndsMirror if a mirror becomes editable. It returns the URL of the page after the import, and changes neither
// page.
func (i *Import) comparePage(from, to *Page, o ImportOptions) string {
	p := *to
	p.Name, p.TimeZone, p.Mode = from.Name, from.TimeZone, o.Mode
	i.EndsMirror = to.Mode == Mirror && o.Mode == Imported
	switch {
	case o.Mode == Mirror:
		p.URL = from.URL
	case i.EndsMirror && o.URL != "":
		p.URL = strings.TrimRight(o.URL, "/")
	}
	if p.Name != to.Name || p.TimeZone != to.TimeZone || p.URL != to.URL || i.EndsMirror {
		i.Page = &p
	}
	return p.URL
}

// compareComponents adds the components that differ to i, with those that are deleted, and returns the codes of all
// that notices may refer to. It sets KnownFrom in those that are older than what the documents cover.
// source.Components is nil if no document lists components: then it adds nothing, and returns the codes of the stored
// ones.
func (i *Import) compareComponents(source *Source, stored []*StoredComponent) (known map[string]bool) {
	byCode := make(map[string]*StoredComponent, len(stored))
	known = make(map[string]bool, len(stored))
	for _, c := range stored {
		byCode[c.Code], known[c.Code] = c, true
	}
	if source.Components == nil {
		return known
	}
	from := source.Page.UpdatedAt // without a list of incidents, nothing is known of the past
	if after, given := source.Coverage[Realtime]; given {
		from = after
	}
	listed := make(map[string]bool, len(source.Components))
	for _, groups := range []bool{true, false} {
		for _, c := range source.Components {
			if c.IsGroup != groups {
				continue
			}
			listed[c.Code], known[c.Code] = true, true
			old := byCode[c.Code]
			if old != nil && old.IsGroup && !c.IsGroup {
				i.Ungrouped = append(i.Ungrouped, c.Code)
			}
			if old != nil && !old.Deleted && sameComponent(c, &old.Component) {
				continue
			}
			if !c.IsGroup && from.After(c.CreatedAt) {
				c.KnownFrom = ledger.Of(from)
			}
			i.Components = append(i.Components, c)
		}
	}
	for _, c := range stored {
		if !listed[c.Code] && !c.Deleted {
			i.DeletedComponents = append(i.DeletedComponents, c.Code)
		}
	}
	return known
}

// compareNotice adds n to i.Notices unless it is equal to the stored notice; old.Notice is nil if there is none. It
// sets the revisions of updates of n that are equal to those stored.
func (i *Import) compareNotice(n *SourceNotice, old NoticeState) {
	if old.Notice != nil {
		attached := list.Map(old.Attachments, func(a *Attachment) string {
			return a.ComponentCode + " " +
				string(a.HeldStatus)
		})
		now := list.Map(n.Components, func(code string) string { return code + " " + string(n.Held[code]) })
		if sameNotice(&n.Notice, old.Notice) && slices.Equal(sorted(now), sorted(attached)) &&
			slices.EqualFunc(n.Updates, old.Updates, sameUpdate) {
			return
		}
		byCode := list.By(old.Updates, func(u *Update) string { return u.Code })
		for _, u := range n.Updates {
			if was := byCode[u.Code]; was != nil && sameUpdate(u, was) {
				u.Revision = ledger.Of(was.Revision.V)
			}
		}
	}
	i.Notices = append(i.Notices, n)
}

// sorted returns a sorted copy of a list, to compare lists in any order.
func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// sameComponent reports whether two components with the same code are equal in all other fields that imports read from
// documents.
func sameComponent(a, b *Component) bool {
	return a.IsGroup == b.IsGroup && a.GroupCode == b.GroupCode && a.Name == b.Name &&
		a.Description == b.Description &&
		a.BaseStatus == b.BaseStatus &&
		a.Position == b.Position && a.ListIndex == b.ListIndex && a.Showcase == b.Showcase &&
		a.OnlyShowIfDegraded == b.OnlyShowIfDegraded &&
		a.StartDate == b.StartDate && a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt)
}

// sameNotice reports whether two notices with the same code are equal in all other fields that imports read from
// documents, and in the override of the impact. It does not compare components and updates.
func sameNotice(a, b *Notice) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.State == b.State && a.Impact == b.Impact &&
		a.ImpactOverride == b.ImpactOverride &&
		a.Shortlink == b.Shortlink &&
		a.StartedAt.Equal(b.StartedAt) && a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt) &&
		sameTime(a.MonitoringAt, b.MonitoringAt) &&
		sameTime(a.ResolvedAt, b.ResolvedAt) && a.ReminderIntervals == b.ReminderIntervals &&
		sameTime(a.ScheduledFor, b.ScheduledFor) &&
		sameTime(a.ScheduledUntil, b.ScheduledUntil)
}

// sameTime reports whether two times are both null or the same instant, in any zone.
func sameTime(a, b ledger.Null[time.Time]) bool { return a.Valid == b.Valid && a.V.Equal(b.V) }

// sameUpdate reports whether two updates are equal in all fields that documents have.
func sameUpdate(a, b *Update) bool {
	return a.Code == b.Code && a.State == b.State && a.Body == b.Body && a.CreatedAt.Equal(b.CreatedAt) &&
		a.UpdatedAt.Equal(b.UpdatedAt) &&
		sameTime(a.DisplayAt, b.DisplayAt) &&
		a.DeliverNotifications == b.DeliverNotifications && a.CustomTweet == b.CustomTweet && a.TweetID == b.TweetID &&
		a.EmptyAffected == b.EmptyAffected &&
		slices.EqualFunc(a.Affected, b.Affected, func(x, y *AffectedComponent) bool {
			return x.Code == y.Code && x.Name == y.Name && x.OldStatus == y.OldStatus && x.NewStatus == y.NewStatus
		})
}

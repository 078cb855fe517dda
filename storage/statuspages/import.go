package statuspages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// ImportOptions say what a page becomes that is copied from elsewhere.
type ImportOptions struct {
	// Mode is [status.Mirror] for a page that stays a copy, or [status.Imported] for one that is edited here afterwards. A mirror can be imported: it is ours from then on.
	Mode status.Mode
	// Slug, URL, Vocabulary and Hosts are those of the page when it is made; they are not changed later on. An empty Slug is made of the name, and an empty URL is
	// that of the page elsewhere. A mirror keeps the URL, and the links of notices, of the page elsewhere whatever is given.
	Slug       string
	URL        string
	Vocabulary status.Vocabulary
	Hosts      []string
	// Author is who imports, as the audit is to say; empty is "sync".
	Author string
	// Preview is called in place of the end, as that of [Author] is. Then all is undone.
	Preview func(ctx context.Context) error
}

// ImportResult says what an import did.
type ImportResult struct {
	Page string // code
	// Created tells whether there was no such page before.
	Created bool
	// Changed is how many components and notices were written or deleted.
	Changed int
	// Stale are the codes of open notices that the documents do not have any more although nobody closed them.
	Stale []string
}

// ImportPage writes what the documents of a page elsewhere say, in one transaction with a row in the audit. Codes and instants are kept. Doing it again writes
// nothing, and does not raise the page's revision. What the documents do not have any more is deleted, where they would have it. A page that is edited here is not
// written to: that is a [*status.Refusal].
func (s *DB) ImportPage(ctx context.Context, c *status.Copy, o ImportOptions, at time.Time) (*ImportResult, error) {
	result := &ImportResult{Page: c.Page.Code}
	err := s.write(ctx, c.Page.Code, at, func(tx pgx.Tx) error {
		var there bool
		if err := tx.QueryRow(ctx, `select exists (select from status.page where id = $1)`, c.Page.Code).Scan(&there); err != nil {
			return fmt.Errorf("looking for the page: %w", err)
		}
		if there {
			return nil
		}
		result.Created = true
		return insertPage(ctx, tx, newPage(c.Page, o), at)
	}, func(ctx context.Context, tx *Tx) error {
		if err := mayImport(ctx, tx, o.Mode); err != nil {
			return err
		}
		i := &importer{db: s, tx: tx, mode: o.Mode, copied: c, result: result, batch: &pgx.Batch{}}
		i.page(o)
		if err := i.run(ctx); err != nil {
			return err
		}
		if !result.Created && i.batch.Len() == 0 {
			return ErrUnchanged
		}
		i.batch.Queue(`insert into status.audit (at, page_id, actor, action, object_id, after) values ($1, $2, $3, $4, $2, jsonb_build_object('changed', $5::int))`,
			tx.At, tx.Page.Code, orText(o.Author, "sync"), map[status.Mode]string{status.Mirror: "page.sync", status.Imported: "page.import"}[o.Mode], result.Changed)
		if err := tx.SendBatch(ctx, i.batch).Close(); err != nil {
			return fmt.Errorf("writing the copy: %w", err)
		}
		if o.Preview == nil {
			return nil
		}
		if err := raise(ctx, tx, tx.Page.Code, tx.At); err != nil {
			return err
		}
		if err := o.Preview(ctx); err != nil {
			return err
		}
		return errPreviewed
	})
	var pg *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, errPreviewed):
		return result, nil
	case duplicate(err) && errors.As(err, &pg) && pg.ConstraintName == "page_slug_key":
		return nil, status.Refuse(status.Conflict, "there is another page with the short name %s: choose one", newPage(c.Page, o).Slug)
	case duplicate(err):
		return nil, status.Refuse(status.Conflict, "an id of the page %s is one of another page here", c.Page.Code)
	}
	return nil, explainWrite(fmt.Errorf("importing page %s: %w", c.Page.Code, err))
}

// mayImport refuses to write over what editors wrote here.
func mayImport(ctx context.Context, tx *Tx, mode status.Mode) error {
	switch has := tx.Page.Mode; {
	case has == status.Mirror:
		return nil
	case has != status.Imported || mode != status.Imported:
		return status.Refuse(status.BadState, "the page %s is edited here (its mode is %s): it cannot become a copy of another one", tx.Page.Slug, has)
	}
	var edited bool
	err := tx.QueryRow(ctx, `select exists (select from status.audit where page_id = $1 and action not in ('page.sync', 'page.import'))`, tx.Page.Code).Scan(&edited)
	if err != nil {
		return fmt.Errorf("looking for edits: %w", err)
	}
	if edited {
		return status.Refuse(status.BadState, "the page %s has been edited here since it was imported: importing it again would undo that", tx.Page.Slug)
	}
	return nil
}

// newPage is the page that a copy becomes.
func newPage(p *status.Page, o ImportOptions) *status.Page {
	page := *p
	page.Mode, page.Vocabulary, page.Slug, page.Hosts = o.Mode, o.Vocabulary, o.Slug, o.Hosts
	if o.URL != "" && o.Mode != status.Mirror {
		page.URL = strings.TrimRight(o.URL, "/")
	}
	if page.Slug == "" {
		page.Slug = status.Slug(p.Name)
	}
	return &page
}

// importer queues what has to be written to make the tables say what the documents do.
type importer struct {
	db     *DB
	tx     *Tx
	mode   status.Mode
	copied *status.Copy
	result *ImportResult
	batch  *pgx.Batch
	url    string // of the page, afterwards
}

func (i *importer) run(ctx context.Context) error {
	known, err := i.components(ctx)
	if err != nil {
		return err
	}
	return i.notices(ctx, known)
}

// page queues the name and the zone, and what changes when a mirror becomes ours.
func (i *importer) page(o ImportOptions) {
	from, to := i.copied.Page, i.tx.Page
	url := to.URL
	ours := to.Mode == status.Mirror && i.mode == status.Imported
	switch {
	case i.mode == status.Mirror:
		url = from.URL
	case ours && o.URL != "":
		url = strings.TrimRight(o.URL, "/")
	}
	if from.Name != to.Name || from.TimeZone != to.TimeZone || url != to.URL || ours {
		i.batch.Queue(`update status.page set name = $2, time_zone = $3, url = $4, mode = $5 where id = $1`, to.Code, from.Name, from.TimeZone, url, string(i.mode))
	}
	if ours {
		i.batch.Queue(`delete from status.sync_source where page_id = $1`, to.Code)
		i.batch.Queue(`update status.incident set shortlink = $2 || '/incidents/' || id where page_id = $1`, to.Code, url)
	}
	i.url = url
}

// storedComponent is a component as it is stored, deleted or not.
type storedComponent struct {
	status.Component
	deleted bool
}

// components queues components and returns the codes of all that notices may refer to.
func (i *importer) components(ctx context.Context) (map[string]bool, error) {
	stored, err := read(ctx, i.db, `select `+componentColumns+`, deleted_at is not null from status.component where page_id = $1`, []any{i.tx.Page.Code},
		func(c *storedComponent, into []any) []any {
			return append(componentTargets(&c.Component, into), &c.deleted)
		}, nil)
	if err != nil {
		return nil, err
	}
	byCode, known := map[string]*storedComponent{}, map[string]bool{}
	for _, c := range stored {
		byCode[c.Code], known[c.Code] = c, true
	}
	if i.copied.Components == nil {
		return known, nil
	}
	listed := map[string]bool{}
	for _, c := range i.copied.Components {
		if old := byCode[c.Code]; old != nil && old.IsGroup && !c.IsGroup { // it has to be empty before it stops being a group
			i.batch.Queue(`update status.component set group_id = null where page_id = $1 and group_id = $2`, i.tx.Page.Code, c.Code)
		}
	}
	// Groups come first: the components in them refer to them.
	for _, groups := range []bool{true, false} {
		for _, c := range i.copied.Components {
			if c.IsGroup == groups {
				i.component(c, byCode[c.Code])
				listed[c.Code], known[c.Code] = true, true
			}
		}
	}
	for _, c := range stored {
		if !listed[c.Code] && !c.deleted {
			i.batch.Queue(`update status.component set deleted_at = $2, version = version + 1 where id = $1`, c.Code, i.tx.At)
			i.result.Changed++
		}
	}
	return known, nil
}

// component queues a component, unless it is stored as it is.
func (i *importer) component(c *status.Component, stored *storedComponent) {
	if stored != nil && !stored.deleted && sameComponent(c, &stored.Component) {
		return
	}
	i.result.Changed++
	i.batch.Queue(`insert into status.component (id, page_id, is_group, group_id, name, description, base_status, position, list_index, showcase, only_show_if_degraded,
  start_date, origin, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7::text::status.component_status, $8, $9, $10, $11, $12::text::date, 'sync', $13, $14)
on conflict (page_id, id) do update set is_group = excluded.is_group, group_id = excluded.group_id, name = excluded.name, description = excluded.description,
  base_status = excluded.base_status, position = excluded.position, list_index = excluded.list_index, showcase = excluded.showcase,
  only_show_if_degraded = excluded.only_show_if_degraded, start_date = excluded.start_date, created_at = excluded.created_at, updated_at = excluded.updated_at,
  version = component.version + 1, deleted_at = null`,
		c.Code, i.tx.Page.Code, c.IsGroup, valueOrNull(c.GroupCode), c.Name, valueOrNull(c.Description), orNull(c.BaseStatus), c.Position, c.ListIndex, c.Showcase, c.OnlyShowIfDegraded,
		valueOrNull(c.StartDate), c.CreatedAt, c.UpdatedAt)
	if c.IsGroup || stored != nil && stored.BaseStatus == c.BaseStatus {
		return
	}
	var old *string
	when := c.UpdatedAt
	if stored != nil {
		old = orNull(stored.BaseStatus)
	}
	i.batch.Queue(`insert into status.component_change (component_id, changed_at, old_status, new_status, origin)
values ($1, $2, $3::text::status.component_status, $4::text::status.component_status, 'sync')
on conflict (component_id, changed_at) do update set new_status = excluded.new_status, revision = excluded.revision`, c.Code, when, old, string(c.BaseStatus))
}

// sameComponent tells whether a component is stored as the documents have it.
func sameComponent(a, b *status.Component) bool {
	return a.IsGroup == b.IsGroup && a.GroupCode == b.GroupCode && a.Name == b.Name && a.Description == b.Description && a.BaseStatus == b.BaseStatus &&
		a.Position == b.Position && a.ListIndex == b.ListIndex && a.Showcase == b.Showcase && a.OnlyShowIfDegraded == b.OnlyShowIfDegraded &&
		a.StartDate == b.StartDate && a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt)
}

// valueOrNull is what a value is as a parameter: null where it is unknown.
func valueOrNull[T any](v ledger.Null[T]) *T {
	if !v.Valid {
		return nil
	}
	return &v.V
}

// orNull is what a name is as a parameter: null where it is empty.
func orNull[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	text := string(s)
	return &text
}

// notices queues notices. known are the components that they may refer to.
func (i *importer) notices(ctx context.Context, known map[string]bool) error {
	pages := status.Pages{i.tx.Page}
	all, err := read(ctx, i.db, `select `+noticeColumns+` from status.incident n where n.page_id = $1 and n.deleted_at is null`, []any{i.tx.Page.Code}, noticeTargets, nil)
	if err != nil {
		return err
	}
	updates, err := i.db.Updates(ctx, pages, all)
	if err != nil {
		return err
	}
	attached, err := i.db.Attachments(ctx, all)
	if err != nil {
		return err
	}
	place := map[string]int{}
	for n, notice := range all {
		place[notice.Code] = n
	}
	listed := map[string]bool{}
	for _, n := range i.copied.Notices {
		listed[n.Code] = true
		if i.mode != status.Mirror {
			n.Shortlink = i.url + "/incidents/" + n.Code
		}
		n.Components = slices.DeleteFunc(n.Components, func(code string) bool { return !known[code] })
		said := map[string]*status.Update{} // what was said already
		if at, stored := place[n.Code]; stored {
			codes := make([]string, len(attached[at]))
			for k, a := range attached[at] {
				codes[k] = a.ComponentCode
			}
			if sameNotice(&n.Notice, all[at]) && slices.Equal(sorted(n.Components), sorted(codes)) && slices.EqualFunc(n.Updates, updates[at], sameUpdate) {
				continue
			}
			for _, u := range updates[at] {
				said[u.Code] = u
			}
		}
		i.notice(n, said)
	}
	for _, n := range all {
		if listed[n.Code] || n.Origin != status.FromSync {
			continue
		}
		reach, given := i.copied.Reach[n.Kind]
		switch {
		case given && reach.Covers(n.RecentAt()):
			i.batch.Queue(`update status.incident set deleted_at = $2, version = version + 1 where id = $1`, n.Code, i.tx.At)
			i.result.Changed++
		case n.State.Open():
			i.result.Stale = append(i.result.Stale, n.Code)
		}
	}
	return nil
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// sameNotice tells whether a notice is stored as the documents have it.
func sameNotice(a, b *status.Notice) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.State == b.State && a.Impact == b.Impact && a.ImpactOverride == b.ImpactOverride && a.Shortlink == b.Shortlink &&
		a.StartedAt.Equal(b.StartedAt) && a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt) && sameTime(a.MonitoringAt, b.MonitoringAt) &&
		sameTime(a.ResolvedAt, b.ResolvedAt) && a.ReminderIntervals == b.ReminderIntervals && sameTime(a.ScheduledFor, b.ScheduledFor) &&
		sameTime(a.ScheduledUntil, b.ScheduledUntil)
}

func sameTime(a, b ledger.Null[time.Time]) bool { return a.Valid == b.Valid && a.V.Equal(b.V) }

// sameUpdate tells whether an update is stored as the documents have it.
func sameUpdate(a, b *status.Update) bool {
	return a.Code == b.Code && a.State == b.State && a.Body == b.Body && a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt) && sameTime(a.DisplayAt, b.DisplayAt) &&
		a.DeliverNotifications == b.DeliverNotifications && a.CustomTweet == b.CustomTweet && a.TweetID == b.TweetID && a.EmptyAffected == b.EmptyAffected &&
		slices.EqualFunc(a.Affected, b.Affected, func(x, y *status.AffectedComponent) bool {
			return x.Code == y.Code && x.Name == y.Name && x.OldStatus == y.OldStatus && x.NewStatus == y.NewStatus
		})
}

// notice queues a notice with all that belongs to it. What was said already in the same way stays of the revision that it is of.
func (i *importer) notice(n *status.CopiedNotice, said map[string]*status.Update) {
	i.result.Changed++
	i.batch.Queue(`insert into status.incident (id, page_id, kind, name, state, impact, impact_override, shortlink, started_at, created_at, updated_at, monitoring_at, resolved_at,
  reminder_intervals, scheduled_for, scheduled_until, origin)
values ($1, $2, $3::text::status.incident_kind, $4, $5::text::status.incident_state, $6::text::status.impact, $7::text::status.impact, $8, $9, $10, $11, $12, $13, $14, $15, $16, 'sync')
on conflict (page_id, id) do update set kind = excluded.kind, name = excluded.name, state = excluded.state, impact = excluded.impact, impact_override = excluded.impact_override,
  shortlink = excluded.shortlink, started_at = excluded.started_at, created_at = excluded.created_at, updated_at = excluded.updated_at, monitoring_at = excluded.monitoring_at,
  resolved_at = excluded.resolved_at, reminder_intervals = excluded.reminder_intervals, scheduled_for = excluded.scheduled_for, scheduled_until = excluded.scheduled_until,
  version = incident.version + 1, deleted_at = null`,
		n.Code, i.tx.Page.Code, string(n.Kind), n.Name, string(n.State), string(n.Impact), valueOrNull(n.ImpactOverride), n.Shortlink, n.StartedAt, n.CreatedAt, n.UpdatedAt,
		valueOrNull(n.MonitoringAt), valueOrNull(n.ResolvedAt), valueOrNull(n.ReminderIntervals), valueOrNull(n.ScheduledFor), valueOrNull(n.ScheduledUntil))
	i.batch.Queue(`delete from status.incident_component where incident_id = $1 and component_id <> all($2::text[])`, n.Code, notNil(n.Components))
	i.batch.Queue(`insert into status.incident_component (page_id, incident_id, component_id) select $1, $2, unnest($3::text[]) on conflict (incident_id, component_id) do nothing`,
		i.tx.Page.Code, n.Code, notNil(n.Components))
	i.batch.Queue(`delete from status.incident_update where incident_id = $1`, n.Code)
	for _, u := range n.Updates {
		revision := ledger.Of(i.tx.Page.Revision + 1)
		if old := said[u.Code]; old != nil && sameUpdate(u, old) {
			revision = old.Revision
		}
		i.batch.Queue(`insert into status.incident_update (id, incident_id, state, body, created_at, updated_at, display_at, deliver_notifications, custom_tweet, tweet_id, empty_affected, origin, revision)
values ($1, $2, $3::text::status.incident_state, $4, $5, $6, $7, $8, $9, $10, $11, 'sync', $12)`,
			u.Code, n.Code, string(u.State), u.Body, u.CreatedAt, u.UpdatedAt, valueOrNull(u.DisplayAt), u.DeliverNotifications, valueOrNull(u.CustomTweet), valueOrNull(u.TweetID), u.EmptyAffected,
			valueOrNull(revision))
		for _, a := range u.Affected {
			i.batch.Queue(`insert into status.update_component (update_id, ordinal, code, name, old_status, new_status)
values ($1, $2, $3, $4, $5::text::status.component_status, $6::text::status.component_status)`, u.Code, a.Ordinal, a.Code, a.Name, string(a.OldStatus), string(a.NewStatus))
		}
	}
}

// notNil is a list that is empty where it was nil: nil would be null.
func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

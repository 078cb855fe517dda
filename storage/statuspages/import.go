package statuspages

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

// ImportResult is the result of an import.
type ImportResult struct {
	Page string // code
	// Created reports whether the page did not exist before.
	Created bool
	// Changed is the number of components and notices that were written or deleted.
	Changed int
	// Stale are the codes of open notices that the documents no longer list, although they were not closed.
	Stale []string
}

// ImportPage writes the documents of another page in one transaction, which also writes the audit log and messages for
// webhooks, and raises the page's revision. A second import of the same documents writes nothing and does not change
// the revision. It fails with a [*status.Error] if the page is edited here. The default name of the author is "sync".
func (s *DB) ImportPage(
	ctx context.Context, by Author, source *status.Source, o status.ImportOptions, at time.Time,
) (*ImportResult, error) {
	result := &ImportResult{Page: source.Page.Code}
	by.Name, by.Origin = cmp.Or(by.Name, "sync"), status.FromSync
	action := map[status.Mode]string{status.Mirror: "page.sync", status.Imported: "page.import"}[o.Mode]
	editor := NewEditor(s, func() time.Time { return at })
	_, err := editor.create(ctx, by, action, status.NewImportedPage(source.Page, o),
		func(ctx context.Context, tx *commandTx) error {
			result.Created = tx.created
			tx.conflict = status.Errorf(status.Conflict, "an id of the page %s is in use by another page here",
				result.Page)
			var edited bool
			_, err := tx.scan(ctx, "looking for edits", []any{&edited}, `select exists (select from status.audit where page_id = $1
  and action not in ('page.sync', 'page.import') and action not like 'webhook.%')`, result.Page)
			if err != nil {
				return err
			}
			err = status.CheckImport(tx.Page, o.Mode, edited)
			if err != nil {
				return err
			}
			stored, err := s.stored(ctx, tx.Page)
			if err != nil {
				return err
			}
			changes := status.CompareImport(source, stored, o)
			result.Changed, result.Stale = changes.Changed(), changes.Stale
			if !tx.created && changes.Empty() {
				return ErrUnchanged
			}
			tx.storeImport(changes)
			_, err = tx.target(ctx, pageTable, byID, result.Page)
			return err
		})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// stored reads the components, notices and changes of statuses that the database has of a page, including deleted
// components but not deleted notices, for [status.CompareImport].
func (s *DB) stored(ctx context.Context, p *status.Page) (out status.Stored, err error) {
	out.Page = p
	out.Components, err = read(ctx, s, func(c *status.StoredComponent, into []any) []any {
		return append(componentTargets(&c.Component, into), &c.Deleted)
	}, nil, `select `+componentColumns+`, deleted_at is not null from status.component where page_id = $1`, p.Code)
	if err != nil {
		return out, err
	}
	notices, err := read(ctx, s, noticeTargets, nil,
		`select `+noticeColumns+` from status.incident n where n.page_id = $1 and n.deleted_at is null`, p.Code)
	if err != nil {
		return out, err
	}
	if out.Notices, err = s.noticeStates(ctx, status.Pages{p}, notices); err != nil {
		return out, err
	}
	out.Changes, err = read(ctx, s, eventTargets, nil,
		statusChanges+` join status.component c on c.id = component_id where c.page_id = $1 and update_id is null
order by changed_at`, p.Code)
	return out, err
}

// Unexplained reads the imported components of a page whose base status no open incident or maintenance explains and
// no editor or probe has set, for the command that checks a page. Imports before schema version 10 did not hold
// components by their incidents, so that ending these had no effect.
func (s *DB) Unexplained(ctx context.Context, page *status.Page) ([]*status.Component, error) {
	return read(ctx, s, componentTargets, nil,
		`select `+componentColumns+` from status.component c where page_id = $1 and deleted_at is null and origin = 'sync'
  and base_status <> 'operational' and not exists (select from status.incident_component h join status.incident n on n.id = h.incident_id
    where h.component_id = c.id and n.deleted_at is null and not n.draft and n.resolved_at is null and n.state <> 'scheduled')
  and coalesce((select h.origin from status.component_change h where h.component_id = c.id order by h.changed_at desc limit 1), 'sync') = 'sync'
order by position, id`, page.Code)
}

// storeImport queues the statements that write an import: page, components, notices and their history. If the import
// ends a mirror, its source is deleted.
func (tx *commandTx) storeImport(i *status.Import) {
	page := tx.Page.Code
	if p := i.Page; p != nil {
		tx.queue(`update status.page set name = $2, time_zone = $3, url = $4, mode = $5 where id = $1`, page, p.Name,
			p.TimeZone, p.URL, string(p.Mode))
	}
	if i.EndsMirror {
		tx.queue(`delete from status.sync_source where page_id = $1`, page)
		tx.queue(`update status.incident set shortlink = $2 || '/incidents/' || id where page_id = $1`, page,
			i.Page.URL)
	}
	for _, code := range i.Ungrouped {
		tx.queue(`update status.component set group_id = null where page_id = $1 and group_id = $2`, page, code)
	}
	for _, c := range i.Components {
		tx.queue(upsertComponent, componentRow(c)...)
	}
	for _, code := range i.DeletedComponents {
		tx.queue(`update status.component set deleted_at = $2, version = version + 1 where id = $1`, code, tx.At)
	}
	for _, n := range i.Notices {
		tx.storeImported(n)
	}
	tx.queue(`update status.incident_component set held_status = null where incident_id = any($1::text[])`,
		append([]string{}, i.Released...))
	for _, c := range i.Changes {
		tx.queue(`insert into status.component_change (component_id, changed_at, old_status, new_status, update_id, origin) values ($1, $2, $3, $4, $5, 'sync')
on conflict (component_id, changed_at) do update set new_status = excluded.new_status, update_id = excluded.update_id, revision = excluded.revision`,
			c.ComponentCode, c.At, ledger.NonZero(c.OldStatus).Pointer(), c.NewStatus, c.UpdateCode.Pointer())
	}
	for _, code := range i.DeletedNotices {
		tx.deleteNotice(code)
	}
}

// upsertComponent inserts a component, or replaces what documents have of it.
var upsertComponent = insertComponent +
	" on conflict (page_id, id) do update set version = component.version + 1, deleted_at = null, " +
	excluded("is_group", "group_id", "name", "description", "base_status", "position", "list_index", "showcase",
		"only_show_if_degraded", "start_date",
		"created_at", "updated_at")

// importNotice inserts a notice, or replaces what documents have of it.
var importNotice = insertNotice +
	" on conflict (page_id, id) do update set version = incident.version + 1, deleted_at = null, " +
	excluded("kind", "name", "state", "impact", "impact_override", "shortlink", "started_at", "created_at",
		"updated_at", "monitoring_at", "resolved_at",
		"reminder_intervals", "scheduled_for", "scheduled_until")

// storeImported queues the statements that write a notice of an import. Its updates and components that the import
// does not have are deleted. Updates without a revision get the one that the write makes, also in n.
func (tx *commandTx) storeImported(n *status.SourceNotice) {
	tx.queue(importNotice, noticeRow(&n.Notice)...)
	tx.queue(`delete from status.incident_component where incident_id = $1 and component_id <> all($2::text[])`, n.Code,
		append([]string{}, n.Components...)) // not nil, which would be null
	for _, code := range n.Components {
		tx.statements.Attach(tx.Page.Code, &status.Attachment{
			NoticeCode: n.Code, ComponentCode: code, HeldStatus: n.Held[code],
		})
	}
	tx.queue(`delete from status.incident_update where incident_id = $1 and id <> all($2::text[])`, n.Code,
		append([]string{}, list.Map(n.Updates, func(u *status.Update) string { return u.Code })...))
	for _, u := range n.Updates {
		u.Revision = ledger.Of(u.Revision.Or(tx.Page.Revision + 1))
		tx.statements.WriteUpdate(u)
	}
}

// PageSource is another status page that a mirror follows.
type PageSource struct {
	Page string // code
	URL  string
	// Every is the polling interval.
	Every time.Duration
	// Tags are the ETags of the documents when they were last read, by name.
	Tags map[string]string
	// OKAt is the time of the last successful read, or zero. Error is the error of the last attempt, or empty.
	OKAt  time.Time
	Error string
	// Failures is the number of failed attempts since then.
	Failures int
	// NextAt is the time of the next read.
	NextAt time.Time
}

// maxNextRead is the maximum time until the next read. A later one was set by a clock that has been set back since.
const maxNextRead = time.Hour

// lastRead follows the columns of a source in statements. It selects the one with a URL that was read last.
const lastRead = ` from status.sync_source where base_url = $1 order by last_ok_at desc nulls last, page_id limit 1`

// ClaimSource claims the next read of a source for the duration of a lease, by moving its next read. claimed is false
// if it is not due, because another gateway holds it or the last read was recent; the source then has the time of the
// next read. A source that was never read is not claimed exclusively, since imports are idempotent. A next read more
// than an hour ahead counts as due, since only a clock that was set back leaves it. If the URL had another page
// before, the source is that of the last successful read.
func (s *DB) ClaimSource(
	ctx context.Context, url string, now time.Time, lease time.Duration,
) (source *PageSource, claimed bool, err error) {
	rows, _ := s.pool.Query(ctx,
		`update status.sync_source set next_at = $3
where page_id = (select page_id`+lastRead+`) and (next_at <= $2 or next_at > $4) returning `+sourceColumns,
		url, now, now.Add(lease), now.Add(maxNextRead)) // rows have the error
	taken, err := storage.MapperOf(sourceTargets, nil).Collect(rows)
	if err != nil {
		return nil, false, explainWrite(fmt.Errorf("claiming the read of %s: %w", url, err))
	}
	if len(taken) > 0 {
		return taken[0], true, nil
	}
	source, err = readOne(ctx, s, sourceTargets, nil, `select `+sourceColumns+lastRead, url)
	if err == nil && source == nil {
		return &PageSource{URL: url}, true, nil
	}
	return source, false, err
}

// ReleaseSource records the outcome of a read and the time of the next one. A source without a page was never read,
// and is not recorded. An interval below [MinSourceEvery] is recorded as that.
func (s *DB) ReleaseSource(ctx context.Context, source *PageSource) error {
	if source.Page == "" {
		return nil
	}
	ok := ledger.Null[time.Time]{V: source.OKAt, Valid: !source.OKAt.IsZero()}
	return s.exec(ctx, "recording the read of "+source.URL, `insert into status.sync_source (
  page_id, base_url, every_seconds, etags, last_ok_at, last_error, failures, next_at) values ($1, $2, $3, coalesce($4::jsonb, '{}'), $5, nullif($6, ''), $7, $8)
on conflict (page_id) do update set base_url = excluded.base_url, every_seconds = excluded.every_seconds, etags = excluded.etags,
last_ok_at = excluded.last_ok_at,
  last_error = excluded.last_error, failures = excluded.failures, next_at = excluded.next_at`,
		source.Page, source.URL, int(max(source.Every, MinSourceEvery)/time.Second), source.Tags, ok.Pointer(),
		source.Error, source.Failures, source.NextAt)
}

// MinSourceEvery is the minimum polling interval of sources.
const MinSourceEvery = 15 * time.Second

// SourceOf returns the source of a mirror, or nil if the page is not a mirror or was never read.
func (s *DB) SourceOf(ctx context.Context, page string) (*PageSource, error) {
	return readOne(ctx, s, sourceTargets, nil,
		`select `+sourceColumns+` from status.sync_source where page_id = $1`, page)
}

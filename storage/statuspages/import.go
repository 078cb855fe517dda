package statuspages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
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

// ImportPage writes the documents of another page in one transaction with an entry in the audit log. A second import of the same documents writes nothing and
// does not change the revision. It fails with a [*status.Error] if the page is edited here. The default name of the author is "sync".
func (s *DB) ImportPage(ctx context.Context, by Author, source *status.Source, o status.ImportOptions, at time.Time) (*ImportResult, error) {
	result := &ImportResult{Page: source.Page.Code}
	page := status.NewImportedPage(source.Page, o)
	err := s.write(ctx, page.Code, at, func(tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, `select exists (select from status.page where id = $1)`, page.Code).Scan(&exists); err != nil {
			return fmt.Errorf("looking for the page: %w", err)
		}
		if exists {
			return nil
		}
		result.Created = true
		return insertPage(ctx, tx, page, at)
	}, func(ctx context.Context, tx *Tx) error {
		var edited bool
		err := tx.QueryRow(ctx, `select exists (select from status.audit where page_id = $1 and action not in ('page.sync', 'page.import')
  and action not like 'webhook.%')`, page.Code).Scan(&edited)
		if err != nil {
			return fmt.Errorf("looking for edits: %w", err)
		}
		if err := status.CheckImport(tx.Page, o.Mode, edited); err != nil {
			return err
		}
		stored, err := s.stored(ctx, tx.Page)
		if err != nil {
			return err
		}
		changes := status.CompareImport(source, stored, o)
		result.Changed, result.Stale = changes.Changed(), changes.Stale
		if !result.Created && changes.Empty() {
			return ErrUnchanged
		}
		batch := &importBatch{page: page.Code, at: tx.At, revision: tx.Page.Revision + 1}
		batch.queue(changes)
		batch.Queue(`insert into status.audit (at, page_id, actor, action, object_id, after) values ($1, $2, $3, $4, $2, jsonb_build_object('changed', $5::int))`,
			tx.At, page.Code, cmp.Or(by.Name, "sync"), map[status.Mode]string{status.Mirror: "page.sync", status.Imported: "page.import"}[o.Mode], result.Changed)
		if err := tx.SendBatch(ctx, &batch.Batch.Batch).Close(); err != nil {
			return fmt.Errorf("writing the imported page: %w", err)
		}
		return tx.preview(ctx, by.Preview)
	})
	var pg *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, errPreviewed):
		return result, nil
	case duplicate(err) && errors.As(err, &pg) && pg.ConstraintName == "page_slug_key":
		return nil, status.Errorf(status.Conflict, "the slug %s is in use by another page: choose one", page.Slug)
	case duplicate(err):
		return nil, status.Errorf(status.Conflict, "an id of the page %s is in use by another page here", page.Code)
	}
	return nil, explainWrite(fmt.Errorf("importing page %s: %w", page.Code, err))
}

// stored reads what the database has of a page.
func (s *DB) stored(ctx context.Context, p *status.Page) (out status.Stored, err error) {
	out.Page = p
	out.Components, err = read(ctx, s, `select `+componentColumns+`, deleted_at is not null from status.component where page_id = $1`, []any{p.Code},
		func(c *status.StoredComponent, into []any) []any {
			return append(componentTargets(&c.Component, into), &c.Deleted)
		}, nil)
	if err != nil {
		return out, err
	}
	notices, err := read(ctx, s, `select `+noticeColumns+` from status.incident n where n.page_id = $1 and n.deleted_at is null`, []any{p.Code},
		noticeTargets, nil)
	if err != nil {
		return out, err
	}
	if out.Notices, err = s.noticeStates(ctx, status.Pages{p}, notices); err != nil {
		return out, err
	}
	out.Changes, err = read(ctx, s, statusChanges+` join status.component c on c.id = component_id where c.page_id = $1 and update_id is null order by changed_at`,
		[]any{p.Code}, eventTargets, nil)
	return out, err
}

// Unexplained returns the imported components of a page whose base status no open incident or maintenance explains and no editor or probe has set. Imports
// before schema version 10 did not hold components by their incidents, so that ending these had no effect.
func (s *DB) Unexplained(ctx context.Context, page *status.Page) ([]*status.Component, error) {
	return read(ctx, s, `select `+componentColumns+` from status.component c where page_id = $1 and deleted_at is null and origin = 'sync'
  and base_status <> 'operational' and not exists (select from status.incident_component h join status.incident n on n.id = h.incident_id
    where h.component_id = c.id and n.deleted_at is null and not n.draft and n.resolved_at is null and n.state <> 'scheduled')
  and coalesce((select h.origin from status.component_change h where h.component_id = c.id order by h.changed_at desc limit 1), 'sync') = 'sync'
order by position, id`, []any{page.Code}, componentTargets, nil)
}

// importBatch collects the statements of an import.
type importBatch struct {
	Batch
	page     string
	at       time.Time
	revision int64 // of the page after the import
}

func (b *importBatch) queue(i *status.Import) {
	if p := i.Page; p != nil {
		b.Queue(`update status.page set name = $2, time_zone = $3, url = $4, mode = $5 where id = $1`, b.page, p.Name, p.TimeZone, p.URL, string(p.Mode))
	}
	if i.EndsMirror {
		b.Queue(`delete from status.sync_source where page_id = $1`, b.page)
		b.Queue(`update status.incident set shortlink = $2 || '/incidents/' || id where page_id = $1`, b.page, i.Page.URL)
	}
	for _, code := range i.Ungrouped {
		b.Queue(`update status.component set group_id = null where page_id = $1 and group_id = $2`, b.page, code)
	}
	for _, c := range i.Components {
		b.Queue(upsertComponent, componentRow(c)...)
	}
	for _, code := range i.DeletedComponents {
		b.Queue(`update status.component set deleted_at = $2, version = version + 1 where id = $1`, code, b.at)
	}
	for _, n := range i.Notices {
		b.notice(n)
	}
	b.Queue(`update status.incident_component set held_status = null where incident_id = any($1::text[])`, append([]string{}, i.Released...))
	for _, c := range i.Changes {
		b.Queue(`insert into status.component_change (component_id, changed_at, old_status, new_status, update_id, origin) values ($1, $2, $3, $4, $5, 'sync')
on conflict (component_id, changed_at) do update set new_status = excluded.new_status, update_id = excluded.update_id, revision = excluded.revision`,
			c.ComponentCode, c.At, ledger.NonZero(c.OldStatus).Pointer(), c.NewStatus, c.UpdateCode.Pointer())
	}
	for _, code := range i.DeletedNotices {
		b.Queue(`update status.incident set deleted_at = $2, version = version + 1 where id = $1`, code, b.at)
	}
}

// upsertComponent inserts a component, or replaces what documents have of it.
var upsertComponent = insertComponent + " on conflict (page_id, id) do update set version = component.version + 1, deleted_at = null, " +
	excluded("is_group", "group_id", "name", "description", "base_status", "position", "list_index", "showcase", "only_show_if_degraded", "start_date",
		"created_at", "updated_at")

// upsertNotice inserts a notice, or replaces what documents have of it.
var upsertNotice = insertNotice + " on conflict (page_id, id) do update set version = incident.version + 1, deleted_at = null, " +
	excluded("kind", "name", "state", "impact", "impact_override", "shortlink", "started_at", "created_at", "updated_at", "monitoring_at", "resolved_at",
		"reminder_intervals", "scheduled_for", "scheduled_until")

// upsertUpdate replaces an update that exists.
var upsertUpdate = " on conflict (id) do update set " + excluded(updateRowColumns[1:]...)

func (b *importBatch) notice(n status.ImportedNotice) {
	b.Queue(upsertNotice, noticeRow(&n.Notice)...)
	components := append([]string{}, n.Components...) // not nil, which would be null
	held := list.Map(components, func(code string) string { return string(n.Held[code]) })
	b.Queue(`delete from status.incident_component where incident_id = $1 and component_id <> all($2::text[])`, n.Code, components)
	b.Queue(`insert into status.incident_component (page_id, incident_id, component_id, held_status)
select $1, $2, code, nullif(held, '')::status.component_status from unnest($3::text[], $4::text[]) x(code, held)
on conflict (incident_id, component_id) do update set held_status = excluded.held_status`, b.page, n.Code, components, held)
	b.Queue(`delete from status.incident_update where incident_id = $1 and id <> all($2::text[])`, n.Code,
		append([]string{}, list.Map(n.Updates, func(u *status.Update) string { return u.Code })...))
	for _, u := range n.Updates {
		revision, unchanged := n.Revisions[u.Code]
		if !unchanged {
			revision = ledger.Of(b.revision)
		}
		written := *u
		written.Revision = revision
		b.Queue(insertUpdate+upsertUpdate, updateRow(&written)...)
		b.Queue(`delete from status.update_component where update_id = $1`, u.Code)
		b.insertAffected(u)
	}
}

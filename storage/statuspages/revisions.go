package statuspages

import (
	"context"
	"time"

	"heliograph/internal/domain/status"
)

// Revisions returns at most limit revisions of a page after one revision up to and including another, in order. Writes older than the list of revisions are
// missing.
func (s *DB) Revisions(ctx context.Context, page string, after, until int64, limit int) ([]*status.Revision, error) {
	return read(ctx, s, `select page_id, revision, at from status.revision where page_id = $1 and revision > $2 and revision <= $3 order by revision limit $4`,
		[]any{page, after, until, limit}, func(r *status.Revision, into []any) []any { return append(into, &r.PageCode, &r.Number, &r.At) }, nil)
}

// NewestRevision returns the revision of a page, or 0 if it does not exist.
func (s *DB) NewestRevision(ctx context.Context, page string) (int64, error) {
	return readValue[int64](ctx, s, `select revision from status.page where id = $1`, page)
}

// RevisionBefore returns the last revision of a page that was written not later than an instant.
func (s *DB) RevisionBefore(ctx context.Context, page string, at time.Time) (int64, error) {
	return readValue[int64](ctx, s, `select coalesce((select min(revision) - 1 from status.revision where page_id = $1 and at > $2), revision) from status.page
where id = $1`, page, at)
}

// revisionKeys returns revisions as two parameters: their pages and their numbers.
func revisionKeys(list []*status.Revision) []any {
	pages, numbers := make([]string, len(list)), make([]int64, len(list))
	for i, r := range list {
		pages[i], numbers[i] = r.PageCode, r.Number
	}
	return []any{pages, numbers}
}

// ownedChange is a change with the index of its revision, starting at 1.
type ownedChange struct {
	status.Change
	owner int64
}

// ChangesOfRevisions returns the changes of statuses that revisions wrote, in order; one list per revision.
func (s *DB) ChangesOfRevisions(ctx context.Context, pages status.Pages, revisions []*status.Revision) ([][]*status.Change, error) {
	rows, err := read(ctx, s, `select r.ord, c.page_id, case when g.id is null then c.name else g.name || ' - ' || c.name end, h.component_id, h.changed_at,
  coalesce(h.old_status::text, ''), h.new_status::text, h.update_id, h.origin::text, h.revision
from unnest($1::text[], $2::bigint[]) with ordinality r(page, number, ord)
join status.component_change h on h.revision = r.number
join status.component c on c.id = h.component_id and c.page_id = r.page
left join status.component g on g.id = c.group_id
order by r.ord, h.changed_at, c.position, c.list_index, c.id`, revisionKeys(revisions),
		func(c *ownedChange, into []any) []any {
			return append(into, &c.owner, &c.PageCode, &c.Name, &c.ComponentCode, &c.At, &c.OldStatus, &c.NewStatus, &c.UpdateCode, &c.Origin, &c.Revision)
		}, nil)
	if err != nil {
		return nil, err
	}
	out := make([][]*status.Change, len(revisions))
	for _, r := range rows {
		c := &r.Change
		v := pages.Vocabulary(c.PageCode)
		c.OldShown, c.NewShown = c.OldStatus.Shown(v), c.NewStatus.Shown(v)
		inZone(pages.Zone(c.PageCode), &c.At)
		out[r.owner-1] = append(out[r.owner-1], c)
	}
	return out, nil
}

// ownedUpdate is an update with the page and the index of its revision, starting at 1.
type ownedUpdate struct {
	updateOnPage
	owner int64
}

// UpdatesOfRevisions returns the updates of published notices that revisions created or changed, in order; one list per revision. An update belongs to the
// last revision that changed it.
func (s *DB) UpdatesOfRevisions(ctx context.Context, pages status.Pages, revisions []*status.Revision) ([][]*status.Update, error) {
	rows, err := read(ctx, s, `select r.ord, n.page_id, `+updateColumns+`
from unnest($1::text[], $2::bigint[]) with ordinality r(page, number, ord)
join status.incident_update u on u.revision = r.number
join status.incident n on n.id = u.incident_id and n.page_id = r.page and n.deleted_at is null and not n.draft
order by r.ord, u.created_at, u.id`, revisionKeys(revisions),
		func(u *ownedUpdate, into []any) []any {
			return updateTargets(&u.Update, append(into, &u.owner, &u.page))
		}, nil)
	if err != nil {
		return nil, err
	}
	out := make([][]*status.Update, len(revisions))
	all := make([]*status.Update, len(rows))
	pageOf := make(map[string]string, len(rows))
	for i, r := range rows {
		all[i], pageOf[r.Code] = &r.Update, r.page
		out[r.owner-1] = append(out[r.owner-1], &r.Update)
	}
	return out, s.completeUpdates(ctx, pages, all, pageOf)
}

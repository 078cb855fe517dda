package statuspages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/gzip"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/status"
)

// Revisions reads at most limit revisions of a page after one revision up to and including another, in order. Writes
// older than the list of revisions are missing.
func (s *DB) Revisions(ctx context.Context, page string, after, until int64, limit int) ([]*status.Revision, error) {
	return read(ctx, s, revisionTargets, nil,
		`select `+revisionColumns+` from status.revision where page_id = $1 and revision > $2 and revision <= $3
order by revision limit $4`, page, after, until, limit)
}

// NewestRevision reads the revision of a page, or 0 if it does not exist.
func (s *DB) NewestRevision(ctx context.Context, page string) (int64, error) {
	return readValue[int64](ctx, s, `select revision from status.page where id = $1`, page)
}

// RevisionBefore returns the last revision of a page that was written not later than an instant, or 0 if the page
// does not exist.
func (s *DB) RevisionBefore(ctx context.Context, page string, at time.Time) (int64, error) {
	return readValue[int64](ctx, s, `select coalesce((select min(revision) - 1 from status.revision where page_id = $1 and at > $2), revision) from status.page
where id = $1`, page, at)
}

// revisionKeys returns revisions as two array parameters: their pages and their numbers.
func revisionKeys(list []*status.Revision) []any {
	pages, numbers := make([]string, len(list)), make([]int64, len(list))
	for i, r := range list {
		pages[i], numbers[i] = r.PageCode, r.Number
	}
	return []any{pages, numbers}
}

// ChangesOfRevisions returns the changes of statuses that revisions wrote, in order; one list per revision.
func (s *DB) ChangesOfRevisions(
	ctx context.Context, pages status.Pages, revisions []*status.Revision,
) ([][]*status.Change, error) {
	return readOwned(ctx, s, len(revisions), changeTargets, func(c *status.Change, _ int) {
		v := pages.Vocabulary(c.PageCode)
		c.OldShown, c.NewShown = c.OldStatus.Shown(v), c.NewStatus.Shown(v)
		status.InZone(pages.Zone(c.PageCode), &c.At)
	}, `select r.ord, `+changeColumns+`
from unnest($1::text[], $2::bigint[]) with ordinality r(page, number, ord)
join status.component_change h on h.revision = r.number
join status.component c on c.id = h.component_id and c.page_id = r.page
left join status.component g on g.id = c.group_id
order by r.ord, h.changed_at, c.position, c.list_index, c.id`, revisionKeys(revisions)...)
}

// UpdatesOfRevisions returns the updates of published notices that revisions created or changed, in order; one list
// per revision. An update belongs to the last revision that changed it.
func (s *DB) UpdatesOfRevisions(
	ctx context.Context, pages status.Pages, revisions []*status.Revision,
) ([][]*status.Update, error) {
	var all []*status.Update
	out, err := readOwned(ctx, s, len(revisions), updateTargets, func(u *status.Update, _ int) {
		all = append(all, u)
	}, `select r.ord, `+updateColumns+`
from unnest($1::text[], $2::bigint[]) with ordinality r(page, number, ord)
join status.incident_update u on u.revision = r.number
join status.incident n on n.id = u.incident_id and n.page_id = r.page and n.deleted_at is null and not n.draft
order by r.ord, u.created_at, u.id`, revisionKeys(revisions)...)
	if err != nil {
		return nil, err
	}
	return out, s.completeUpdates(ctx, pages, all)
}

// maxSavedRevisions is the number of revisions of a page whose documents are saved.
const maxSavedRevisions = 100

// SaveDocuments saves the documents of a revision of a page, compressed, as they are served, unless they are saved
// already. If it saves them, it deletes those of revisions that are maxSavedRevisions or more before it.
func (s *DB) SaveDocuments(
	ctx context.Context, page string, revision int64, documents map[string][]byte, at time.Time,
) error {
	texts := make(map[string]string, len(documents))
	for name, body := range documents {
		texts[name] = string(body)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	err := errors.Join(json.NewEncoder(w).Encode(texts), w.Close())
	if err != nil {
		return fmt.Errorf("compressing revision %d: %w", revision, err)
	}
	return s.exec(ctx, "saving documents", `with kept as (
  insert into status.document_cache (page_id, revision, made_at, documents) values ($1, $2, $3, $4) on conflict do nothing returning revision)
delete from status.document_cache where page_id = $1 and revision <= (select revision from kept) - $5`, page, revision, at, b.Bytes(), maxSavedRevisions)
}

// SavedDocuments reads the documents of a revision of a page as they were served, by name, or nil if they are not
// saved.
func (s *DB) SavedDocuments(ctx context.Context, page string, revision int64) (map[string]string, error) {
	compressed, err := readValue[[]byte](ctx, s,
		`select documents from status.document_cache where page_id = $1 and revision = $2`, page, revision)
	if err != nil || compressed == nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("decompressing revision %d: %w", revision, err)
	}
	var documents map[string]string
	err = json.NewDecoder(r).Decode(&documents)
	return documents, wrap.Error(err, "reading revision %d", revision)
}

// SavedRevisions reads the revisions of a page whose documents are saved, newest first.
func (s *DB) SavedRevisions(ctx context.Context, page string) ([]int64, error) {
	rows, err := read(ctx, s, value[int64], nil,
		`select revision from status.document_cache where page_id = $1 order by revision desc`, page)
	return list.Map(rows, func(r *int64) int64 { return *r }), err
}

package statuspages

import (
	"context"
	"fmt"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

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

const sourceColumns = `page_id, base_url, make_interval(secs => every_seconds), etags, last_ok_at, coalesce(last_error, ''), failures,
  case when isfinite(next_at) then next_at end`

func sourceTargets(s *PageSource, into []any) []any {
	return append(into, &s.Page, &s.URL, &s.Every, &s.Tags, (*maybeTime)(&s.OKAt), &s.Error, &s.Failures, (*maybeTime)(&s.NextAt))
}

// maybeTime scans an instant; null becomes the zero value.
type maybeTime time.Time

// Scan implements sql.Scanner.
func (t *maybeTime) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t = maybeTime{}
	case time.Time:
		*t = maybeTime(v)
	default:
		return fmt.Errorf("%v is not an instant", v)
	}
	return nil
}

// PageSources returns the sources of all mirrors.
func (s *DB) PageSources(ctx context.Context) ([]*PageSource, error) {
	return read(ctx, s, `select `+sourceColumns+` from status.sync_source order by page_id`, nil, sourceTargets, nil)
}

// maxNextRead is the maximum time until the next read. A later one was set by a clock that has been set back since.
const maxNextRead = time.Hour

// ClaimSource claims the next read of a source for the duration of a lease. claimed is false if another gateway holds it; the source then has the time of the
// next read. A source that was never read is not claimed exclusively, since imports are idempotent.
func (s *DB) ClaimSource(ctx context.Context, url string, now time.Time, lease time.Duration) (source *PageSource, claimed bool, err error) {
	rows, err := s.pool.Query(ctx, `update status.sync_source set next_at = $3 where base_url = $1 and (next_at <= $2 or next_at > $4) returning `+sourceColumns,
		url, now, now.Add(lease), now.Add(maxNextRead))
	var taken []*PageSource
	if err == nil {
		taken, err = storage.MapperOf(sourceTargets, nil).Collect(rows)
	}
	if err != nil {
		return nil, false, explainWrite(fmt.Errorf("claiming the read of %s: %w", url, err))
	}
	if len(taken) > 0 {
		return taken[0], true, nil
	}
	source, err = readOne(ctx, s, `select `+sourceColumns+` from status.sync_source where base_url = $1`, []any{url}, sourceTargets, nil)
	if err == nil && source == nil {
		return &PageSource{URL: url}, true, nil
	}
	return source, false, err
}

// ReleaseSource records the outcome of a read and the time of the next one. A source without a page was never read, and is not recorded.
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
		source.Page, source.URL, int(max(source.Every, MinSourceEvery)/time.Second), source.Tags, ok.Pointer(), source.Error, source.Failures, source.NextAt)
}

// MinSourceEvery is the minimum polling interval of sources.
const MinSourceEvery = 15 * time.Second

// SourceOf returns the source of a mirror, or nil if the page is not a mirror or was never read.
func (s *DB) SourceOf(ctx context.Context, page string) (*PageSource, error) {
	return readOne(ctx, s, `select `+sourceColumns+` from status.sync_source where page_id = $1`, []any{page}, sourceTargets, nil)
}

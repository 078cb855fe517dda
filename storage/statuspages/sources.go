package statuspages

import (
	"context"
	"fmt"
	"heliograph/storage"
	"time"
)

// PageSource is a page elsewhere of which a page is a copy.
type PageSource struct {
	Page string // code
	URL  string
	// Every is how often it is read.
	Every time.Duration
	// Tags are what the server said of its documents when they were last read, by name.
	Tags map[string]string
	// OKAt is when it was last read, the zero value when it never was; Error is what the last attempt failed of, empty where it did not.
	OKAt  time.Time
	Error string
	// Failures are the attempts that failed since then.
	Failures int
	// NextAt is when it is to be read again.
	NextAt time.Time
}

const sourceColumns = `page_id, base_url, every_seconds, etags, last_ok_at, coalesce(last_error, ''), failures, case when isfinite(next_at) then next_at end`

func sourceTargets(s *PageSource, into []any) []any {
	return append(into, &s.Page, &s.URL, (*wholeSeconds)(&s.Every), &s.Tags, (*maybeTime)(&s.OKAt), &s.Error, &s.Failures, (*maybeTime)(&s.NextAt))
}

// wholeSeconds is a duration that the database keeps as a number of seconds.
type wholeSeconds time.Duration

// Scan implements sql.Scanner.
func (d *wholeSeconds) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%v is no number of seconds", v)
	}
	*d = wholeSeconds(time.Duration(n) * time.Second)
	return nil
}

// maybeTime is an instant that is the zero value where the database has null.
type maybeTime time.Time

// Scan implements sql.Scanner.
func (t *maybeTime) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t = maybeTime{}
	case time.Time:
		*t = maybeTime(v)
	default:
		return fmt.Errorf("%v is no instant", v)
	}
	return nil
}

// PageSources reads the pages elsewhere that pages are copies of.
func (s *DB) PageSources(ctx context.Context) ([]*PageSource, error) {
	return read(ctx, s, `select `+sourceColumns+` from status.sync_source order by page_id`, nil, sourceTargets, nil)
}

// latestTurn is how far ahead a turn can be. One that is further ahead was set by a clock that has gone back since.
const latestTurn = time.Hour

// TakeTurn takes the turn to read a page elsewhere, for as long as the lease at most: others who ask meanwhile are told when the next turn is. A page that was never
// read is nobody's: all may read it, and the import does the rest.
func (s *DB) TakeTurn(ctx context.Context, url string, now time.Time, lease time.Duration) (source *PageSource, mine bool, err error) {
	rows, err := s.pool.Query(ctx, `update status.sync_source set next_at = $3 where base_url = $1 and (next_at <= $2 or next_at > $4) returning `+sourceColumns,
		url, now, now.Add(lease), now.Add(latestTurn))
	if err != nil {
		return nil, false, explainWrite(fmt.Errorf("taking the turn to read %s: %w", url, err))
	}
	taken, err := storage.Collect(rows, sourceTargets, nil)
	if err != nil {
		return nil, false, explainWrite(fmt.Errorf("taking the turn to read %s: %w", url, err))
	}
	if len(taken) > 0 {
		return taken[0], true, nil
	}
	there, err := read(ctx, s, `select `+sourceColumns+` from status.sync_source where base_url = $1`, []any{url}, sourceTargets, nil)
	if err != nil {
		return nil, false, err
	}
	if len(there) > 0 {
		return there[0], false, nil
	}
	return &PageSource{URL: url}, true, nil
}

// EndTurn notes how a turn ended, and when the next one is. A source without a page is one that could not even be read once: nothing is noted of it.
func (s *DB) EndTurn(ctx context.Context, source *PageSource) error {
	if source.Page == "" {
		return nil
	}
	var ok *time.Time
	if !source.OKAt.IsZero() {
		ok = &source.OKAt
	}
	_, err := s.pool.Exec(ctx, `insert into status.sync_source (page_id, base_url, every_seconds, etags, last_ok_at, last_error, failures, next_at)
values ($1, $2, $3, coalesce($4::jsonb, '{}'), $5, nullif($6, ''), $7, $8)
on conflict (page_id) do update set base_url = excluded.base_url, every_seconds = excluded.every_seconds, etags = excluded.etags, last_ok_at = excluded.last_ok_at,
  last_error = excluded.last_error, failures = excluded.failures, next_at = excluded.next_at`,
		source.Page, source.URL, int(max(source.Every, MinSourceEvery)/time.Second), source.Tags, ok, source.Error, source.Failures, source.NextAt)
	if err != nil {
		return explainWrite(fmt.Errorf("noting how %s was read: %w", source.URL, err))
	}
	return nil
}

// MinSourceEvery is how often pages elsewhere are read at most.
const MinSourceEvery = 15 * time.Second

// SourceOf is the page elsewhere of which a page is a copy, nil where it is none or was never read.
func (s *DB) SourceOf(ctx context.Context, page string) (*PageSource, error) {
	rows, err := read(ctx, s, `select `+sourceColumns+` from status.sync_source where page_id = $1`, []any{page}, sourceTargets, nil)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

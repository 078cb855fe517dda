package statuspages

import (
	"context"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

const pageColumns = `id, slug, name, url, hosts, is_default, time_zone, locale, vocabulary, mode, auto_publish, texts, revision, created_at, updated_at`

func pageTargets(p *status.Page, into []any) []any {
	return append(into, &p.Code, &p.Slug, &p.Name, &p.URL, &p.Hosts, &p.IsDefault, &p.TimeZone, &p.Locale, &p.Vocabulary, &p.Mode, &p.AutoPublish, &p.Texts,
		&p.Revision, &p.CreatedAt, &p.UpdatedAt)
}

// finishPage sets the zone of a page. If the system does not have the zone, UTC is used.
func finishPage(p *status.Page) error {
	zone, err := status.LoadZone(p.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	p.Zone = zone
	inZone(zone, &p.CreatedAt, &p.UpdatedAt)
	return nil
}

// inZone converts instants to a zone.
func inZone(zone *time.Location, list ...*time.Time) {
	for _, t := range list {
		*t = t.In(zone)
	}
}

// nullInZone converts instants that may be null to a zone.
func nullInZone(zone *time.Location, list ...*ledger.Null[time.Time]) {
	for _, t := range list {
		t.V = t.V.In(zone)
	}
}

// Pages returns all status pages: the default page first, then oldest first.
func (s *DB) Pages(ctx context.Context) (status.Pages, error) {
	return read(ctx, s, `select `+pageColumns+` from status.page order by is_default desc, created_at, id`, nil, pageTargets, finishPage)
}

// PageByCode returns the page with a code, or nil.
func (s *DB) PageByCode(ctx context.Context, code string) (*status.Page, error) {
	return readOne(ctx, s, `select `+pageColumns+` from status.page where id = $1`, []any{code}, pageTargets, finishPage)
}

package statuspages

import (
	"cmp"
	"context"
	"time"

	"heliograph/internal/domain/status"
)

// finishPage sets the zone of a decoded page and converts its instants to it. If the system does not have the zone,
// UTC is used. The error is always nil.
func finishPage(p *status.Page) error {
	zone, err := status.LoadZone(p.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	p.Zone = zone
	status.InZone(zone, &p.CreatedAt, &p.UpdatedAt)
	return nil
}

// Pages reads all status pages with one statement: the default page first, then oldest first.
func (s *DB) Pages(ctx context.Context) (status.Pages, error) {
	return read(ctx, s, pageTargets, finishPage,
		`select `+pageColumns+` from status.page order by is_default desc, created_at, id`)
}

// PageByCode reads the page with a code with one statement; nil if it does not exist.
func (s *DB) PageByCode(ctx context.Context, code string) (*status.Page, error) {
	return readOne(ctx, s, pageTargets, finishPage,
		`select `+pageColumns+` from status.page where id = $1`, code)
}

// InitPage creates a page with its first component, which has the given name, and returns the code of the page. Empty
// settings get defaults; see [status.NewPage]. The first page of all is the default page. It fails with
// [status.BadInput] for invalid settings, and with [status.Conflict] if another page has the slug. It is one
// transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) InitPage(ctx context.Context, by Author, page status.Page, component string) (string, error) {
	p, err := status.NewPage(page)
	err = cmp.Or(err, status.CheckName("the first component", component))
	if err != nil {
		return "", err
	}
	p.Code = status.NewCode()
	return e.create(ctx, by, "page.init", p, func(_ context.Context, tx *commandTx) error {
		c, _, err := tx.emptyCopy().AddComponent(status.NewComponent{Name: component})
		if err != nil {
			return err
		}
		tx.table, tx.object = pageTable, p.Code
		tx.insertComponent(c)
		return nil
	})
}

// slugConflict returns the [status.Conflict] error of a slug that another page has.
func slugConflict(p *status.Page) error {
	return status.Errorf(status.Conflict, "the slug %s is in use by another page", p.Slug)
}

// SetPage changes settings of a page and returns its code. If it becomes the default page, the previous one stops
// being it. If the URL changes, the links of notices below the old URL change too. It fails with [status.NotFound] if
// the page does not exist, with [status.BadInput] for invalid settings, and with [status.Conflict] if another page has
// the slug. It is one transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) SetPage(ctx context.Context, by Author, page string, settings []status.PageSetting) (string, error) {
	return e.edit(ctx, by, "page.set", page,
		func(ctx context.Context, tx *commandTx) error {
			_, err := tx.target(ctx, pageTable, byID, page)
			if err != nil {
				return err
			}
			p, err := tx.Page.WithSettings(settings)
			if err != nil {
				return err
			}
			if p.IsDefault && !tx.Page.IsDefault {
				tx.queue(`update status.page set is_default = false where is_default`)
			}
			tx.conflict = slugConflict(p)
			tx.queue(`update status.page set name = $2, slug = $3, url = $4, hosts = coalesce($5::text[], '{}'), is_default = $6,
time_zone = $7, locale = $8,
  vocabulary = $9, auto_publish = $10, texts = coalesce($11::jsonb, '{}') where id = $1`,
				page, p.Name, p.Slug, p.URL, p.Hosts, p.IsDefault, p.TimeZone, p.Locale, p.Vocabulary, p.AutoPublish,
				p.Texts)
			if p.URL != tx.Page.URL {
				tx.queue(`update status.incident set shortlink = $3 || '/incidents/' || id
where page_id = $1 and shortlink = $2 || '/incidents/' || id`,
					page, tx.Page.URL, p.URL)
			}
			return nil
		})
}

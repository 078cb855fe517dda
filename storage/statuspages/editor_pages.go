package statuspages

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/internal/domain/status"
)

// PageInit describes a page to create. Empty settings of the page get defaults; see [status.NewPage].
type PageInit struct {
	Page status.Page
	// Component is the name of its first component.
	Component string
}

// InitPage creates a page with its first component and returns its code. The first page of all is the default page.
func (e *Editor) InitPage(ctx context.Context, by Author, in PageInit) (string, error) {
	p, err := status.NewPage(in.Page)
	if err != nil {
		return "", err
	}
	if err := status.CheckName("the first component", in.Component); err != nil {
		return "", err
	}
	if p.Code, err = e.code(); err != nil {
		return "", err
	}
	at := status.Milliseconds(e.now()).In(p.Zone)
	err = e.db.begin(ctx, func(tx pgx.Tx) error {
		if err := insertPage(ctx, tx, p, at); err != nil {
			return err
		}
		w := &write{Tx: &Tx{Tx: tx, Page: p, At: at}, editor: e, command: command{by: by, name: "page.init", page: p.Code}, table: pageTable, object: p.Code}
		if err := w.replay(ctx); err != nil {
			return err
		}
		c, _, err := w.emptyCopy().AddComponent(status.NewComponent{Name: in.Component})
		if err != nil {
			return err
		}
		if err := w.insertComponent(c); err != nil {
			return err
		}
		w.audit()
		if err := w.send(context.WithValue(ctx, txKey{e.db}, &sharedTx{tx: tx})); err != nil {
			return err
		}
		return incrementRevision(ctx, tx, p.Code, at)
	})
	var replayed *replayedError
	switch {
	case errors.As(err, &replayed):
		return replayed.object, nil
	case err == nil, errors.Is(err, errPreviewed):
		return p.Code, nil
	case duplicate(err):
		return "", status.Errorf(status.Conflict, "the slug %s is in use by another page", p.Slug)
	}
	return "", explainWrite(fmt.Errorf("creating a status page: %w", err))
}

// duplicate reports whether a statement failed because of a unique constraint.
func duplicate(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName != idempotencyKeyConstraint
}

// SetPage changes settings of a page.
func (e *Editor) SetPage(ctx context.Context, by Author, page string, settings []status.PageSetting) (string, error) {
	return e.edit(ctx, command{by: by, name: "page.set", page: page, settings: true}, func(ctx context.Context, w *write) error {
		if err := w.target(ctx, pageTable, page); err != nil {
			return err
		}
		p, err := w.Page.WithSettings(settings)
		if err != nil {
			return err
		}
		if p.IsDefault && !w.Page.IsDefault {
			w.queue(`update status.page set is_default = false where is_default`)
		}
		w.conflict = status.Errorf(status.Conflict, "the slug %s is in use by another page", p.Slug)
		w.queue(`update status.page set name = $2, slug = $3, url = $4, hosts = coalesce($5::text[], '{}'), is_default = $6,
time_zone = $7, locale = $8,
  vocabulary = $9, auto_publish = $10, texts = coalesce($11::jsonb, '{}') where id = $1`,
			page, p.Name, p.Slug, p.URL, p.Hosts, p.IsDefault, p.TimeZone, p.Locale, p.Vocabulary, p.AutoPublish, p.Texts)
		if p.URL == w.Page.URL {
			return nil
		}
		w.queue(`update status.incident set shortlink = $3 || '/incidents/' || id
where page_id = $1 and shortlink = $2 || '/incidents/' || id`,
			page, w.Page.URL, p.URL)
		return nil
	})
}

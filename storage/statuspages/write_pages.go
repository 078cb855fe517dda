package statuspages

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// PageInit is a page to be made. What is empty of its rows gets the usual values: a slug of the name, the zone Etc/UTC, the documented vocabulary.
type PageInit struct {
	Page status.Page
	// Component is the name of its first component: readers take a page without any for broken.
	Component string
}

// InitPage makes a page with its first component, and returns its code. The first page of all is the default page.
func (e *Editor) InitPage(ctx context.Context, by Author, in PageInit) (string, error) {
	p := in.Page
	p.Slug, p.TimeZone, p.Locale = orText(p.Slug, status.Slug(p.Name)), orText(p.TimeZone, "Etc/UTC"), orText(p.Locale, "en")
	p.Vocabulary = status.Vocabulary(orText(string(p.Vocabulary), string(status.Documented)))
	if err := status.CheckPage(&p); err != nil {
		return "", err
	}
	if err := status.CheckName("the first component", in.Component); err != nil {
		return "", err
	}
	var err error
	if p.Code, err = e.code(); err != nil {
		return "", err
	}
	at := status.Milliseconds(e.now()).In(p.Zone)
	err = pgx.BeginFunc(ctx, e.db.pool, func(tx pgx.Tx) error {
		if err := insertPage(ctx, tx, &p, at); err != nil {
			return err
		}
		w := &writing{Tx: &Tx{Tx: tx, Page: &p, At: at}, editor: e, action: action{by: by, name: "page.init", page: p.Code}, table: pageTable, object: p.Code}
		if err := w.replay(ctx); err != nil {
			return err
		}
		c := &status.Component{
			Name: in.Component, Position: 1, Showcase: true, StartDate: ledger.Of(status.DateOf(at)), BaseStatus: status.Operational, Origin: by.origin(),
		}
		if err := w.insertComponent(ctx, c); err != nil {
			return err
		}
		if err := w.audit(ctx); err != nil {
			return err
		}
		if err := raise(ctx, tx, p.Code, at); err != nil {
			return err
		}
		if by.Preview == nil {
			return nil
		}
		if err := by.Preview(context.WithValue(ctx, txKey{e.db}, &sharedTx{tx: tx})); err != nil {
			return err
		}
		return errPreviewed
	})
	var done *replayed
	switch {
	case errors.As(err, &done):
		return done.object, nil
	case err == nil, errors.Is(err, errPreviewed):
		return p.Code, nil
	case duplicate(err):
		return "", status.Refuse(status.Conflict, "there is a page with the short name %s: choose another one", p.Slug)
	}
	return "", explainWrite(fmt.Errorf("making a status page: %w", err))
}

// duplicate tells whether a statement failed because there is such a row already.
func duplicate(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}

// Setting is a setting of a page with its new value; see [status.Page.Set].
type Setting struct{ Key, Value string }

// SetPage changes settings of a page.
func (e *Editor) SetPage(ctx context.Context, by Author, page string, settings []Setting) (string, error) {
	return e.edit(ctx, action{by: by, name: "page.set", page: page, settings: true}, func(ctx context.Context, w *writing) error {
		if err := w.watch(ctx, pageTable, page); err != nil {
			return err
		}
		p := *w.Page
		for _, s := range settings {
			if err := p.Set(s.Key, s.Value); err != nil {
				return err
			}
		}
		if err := status.CheckPage(&p); err != nil {
			return err
		}
		if w.Page.IsDefault && !p.IsDefault {
			return status.Refuse(status.BadInput, "one page is the default page: make another one it")
		}
		if p.IsDefault && !w.Page.IsDefault {
			if err := w.exec(ctx, "taking the default from the other page", `update status.page set is_default = false where is_default`); err != nil {
				return err
			}
		}
		err := w.exec(ctx, "changing the page", `update status.page set name = $2, slug = $3, url = $4, hosts = coalesce($5::text[], '{}'), is_default = $6, time_zone = $7, locale = $8,
  vocabulary = $9, auto_publish = $10, texts = coalesce($11::jsonb, '{}') where id = $1`,
			page, p.Name, p.Slug, p.URL, p.Hosts, p.IsDefault, p.TimeZone, p.Locale, p.Vocabulary, p.AutoPublish, p.Texts)
		if duplicate(err) {
			return status.Refuse(status.Conflict, "there is another page with the short name %s", p.Slug)
		}
		if err != nil || p.URL == w.Page.URL {
			return err
		}
		return w.exec(ctx, "moving the notices to the new URL", `update status.incident set shortlink = $3 || '/incidents/' || id where page_id = $1 and shortlink = $2 || '/incidents/' || id`,
			page, w.Page.URL, p.URL)
	})
}

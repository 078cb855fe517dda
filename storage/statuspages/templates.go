package statuspages

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/status"
)

// SetTemplate creates a template, or changes the one with the same name.
func (e *Editor) SetTemplate(ctx context.Context, by Author, page string, t status.Template) error {
	if err := t.Check(); err != nil {
		return err
	}
	_, err := e.edit(ctx, command{by: by, name: "template.set", page: page, settings: true}, func(ctx context.Context, w *write) error {
		id, err := w.template(ctx, t.Name)
		if err != nil {
			return err
		}
		if id != "" {
			if err := w.target(ctx, templateTable, id); err != nil {
				return err
			}
		}
		err = w.QueryRow(ctx, `insert into status.template (page_id, name, kind, state, title, body) values ($1, $2, $3, $4, $5, $6)
on conflict (page_id, name) do update set kind = excluded.kind, state = excluded.state, title = excluded.title, body = excluded.body returning id::text`,
			page, t.Name, t.Kind, t.State, t.Title, t.Body).Scan(&w.object)
		if err != nil {
			return fmt.Errorf("writing a template: %w", err)
		}
		w.table = templateTable
		return nil
	})
	return err
}

// template returns the id of the template with a name, or "".
func (w *write) template(ctx context.Context, name string) (string, error) {
	var id string
	err := w.QueryRow(ctx, `select id::text from status.template where page_id = $1 and name = $2`, w.Page.Code, name).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("reading a template: %w", err)
	}
	return id, nil
}

// RemoveTemplate removes a template.
func (e *Editor) RemoveTemplate(ctx context.Context, by Author, page, name string) error {
	_, err := e.edit(ctx, command{by: by, name: "template.remove", page: page, settings: true}, func(ctx context.Context, w *write) error {
		id, err := w.template(ctx, name)
		if err != nil {
			return err
		}
		if id == "" {
			return status.Errorf(status.NotFound, "template %s does not exist", name)
		}
		if err := w.target(ctx, templateTable, id); err != nil {
			return err
		}
		w.queue(`delete from status.template where page_id = $1 and name = $2`, page, name)
		return nil
	})
	return err
}

// Templates returns the templates of a page, by name.
func (s *DB) Templates(ctx context.Context, page string) ([]*status.Template, error) {
	return read(ctx, s, `select page_id, name, kind::text, state::text, title, body from status.template where page_id = $1 order by name`, []any{page},
		func(t *status.Template, into []any) []any {
			return append(into, &t.PageCode, &t.Name, &t.Kind, &t.State, &t.Title, &t.Body)
		}, nil)
}

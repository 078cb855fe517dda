package statuspages

import (
	"context"

	"heliograph/internal/domain/status"
)

// SetTemplate creates a template, or changes the one with the same name.
func (e *Editor) SetTemplate(ctx context.Context, by Author, page string, t status.Template) error {
	if err := t.Check(); err != nil {
		return err
	}
	_, err := e.edit(ctx, command{by: by, name: "template.set", page: page, settings: true}, func(ctx context.Context, w *write) {
		w.template(ctx, t.Name)
		w.scan(ctx, "writing a template", []any{&w.object}, `insert into status.template (page_id, name, kind, state, title, body)
values ($1, $2, $3, $4, $5, $6)
on conflict (page_id, name) do update set kind = excluded.kind, state = excluded.state, title = excluded.title, body = excluded.body returning id::text`,
			page, t.Name, t.Kind, t.State, t.Title, t.Body)
	})
	return err
}

// template makes the template with a name the target of the write. It reports whether the template exists.
func (w *write) template(ctx context.Context, name string) bool {
	var id string
	w.table = templateTable
	return w.scan(ctx, "reading a template", []any{&id}, `select id::text from status.template where page_id = $1 and name = $2`, w.Page.Code, name) &&
		w.target(ctx, templateTable, id)
}

// RemoveTemplate removes a template.
func (e *Editor) RemoveTemplate(ctx context.Context, by Author, page, name string) error {
	_, err := e.edit(ctx, command{by: by, name: "template.remove", page: page, settings: true}, func(ctx context.Context, w *write) {
		if !w.template(ctx, name) {
			check(status.Errorf(status.NotFound, "template %s does not exist", name))
		}
		w.queue(`delete from status.template where page_id = $1 and name = $2`, page, name)
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

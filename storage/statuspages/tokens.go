package statuspages

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// AddToken creates a token with a name, a role, and optionally a page and an expiry time. It returns its secret, of
// which only the hash is stored. It fails with [status.BadInput] for invalid settings, and with [status.Conflict] if
// the name is in use, or an idempotency key was used before, since the secret cannot be returned again. It is one
// transaction, with an entry in the audit log. With an error, the secret that it returns is not valid.
func (e *Editor) AddToken(ctx context.Context, by Author, in status.Token) (string, error) {
	err := in.Check(e.now())
	if err != nil {
		return "", err
	}
	token := status.NewToken()
	return token, e.editTokens(ctx, by, "token.add", func(ctx context.Context, tx *commandTx) error {
		tx.conflict = status.Errorf(status.Conflict, "a token with the name %s exists already", in.Name)
		_, err := tx.scan(ctx, "inserting a token", []any{&tx.object}, `insert into status.operator_token (name, token_sha256, role, page_id, created_at, expires_at)
values ($1, $2, $3, $4, $5, $6) returning id::text`,
			in.Name, status.HashToken(token), in.Role, in.PageCode.Pointer(), tx.At, in.ExpiresAt.Pointer())
		return err
	})
}

// RemoveToken deletes the token with a name, which revokes it. It fails with [status.NotFound] if it does not exist. It
// is one transaction, with an entry in the audit log.
func (e *Editor) RemoveToken(ctx context.Context, by Author, name string) error {
	return e.editTokens(ctx, by, "token.remove", func(ctx context.Context, tx *commandTx) error {
		tx.queue(`delete from status.operator_token where name = $1`, name)
		return tx.existing(ctx, tokenTable, "token "+name, `name = $1 for update`, name)
	})
}

// editTokens runs do in a write to the tokens. They do not belong to a page, so no revision changes. The audit log
// gets an entry with the action name. The author must not have a preview, which needs a page. An idempotency key that
// was used before fails with [status.Conflict].
func (e *Editor) editTokens(
	ctx context.Context, by Author, name string, do func(ctx context.Context, tx *commandTx) error,
) error {
	tx := &commandTx{editor: e, by: by, action: name, table: tokenTable}
	_, err := tx.finish(e.db.begin(ctx, func(open pgx.Tx) error {
		tx.Tx = &Tx{Tx: open, At: status.Milliseconds(e.now())}
		return tx.run(ctx, do)
	}))
	return err
}

// Tokens reads the tokens that are valid at an instant, or all if it is zero, by name. They have hashes and no secrets.
func (s *DB) Tokens(ctx context.Context, at time.Time) ([]*status.Token, error) {
	validAt := ledger.Null[time.Time]{V: at, Valid: !at.IsZero()}.Pointer()
	return read(ctx, s, tokenTargets, nil, `select `+tokenColumns+` from status.operator_token
where $1::timestamptz is null or expires_at is null or expires_at > $1 order by name`, validAt)
}

// RecordTokenUse stores that a token was used at an instant, unless it was used within the minute before. If the
// token was removed, it does nothing. The audit log gets no entry.
func (s *DB) RecordTokenUse(ctx context.Context, id int64, at time.Time) error {
	return s.exec(ctx, "recording the use of a token", `update status.operator_token set last_used_at = $2 where id = $1
and (last_used_at is null or last_used_at < $2::timestamptz - interval '1 minute')`, id, at)
}

// SetTemplate creates a template of a page, or changes the one with the same name. An invalid template fails with
// [status.BadInput], and a page that does not exist with [status.NotFound]. It is one transaction, which also writes
// the audit log and raises the page's revision.
func (e *Editor) SetTemplate(ctx context.Context, by Author, page string, t status.Template) error {
	err := t.Check()
	if err != nil {
		return err
	}
	_, err = e.edit(ctx, by, "template.set", page,
		func(ctx context.Context, tx *commandTx) error {
			_, err := tx.target(ctx, templateTable, templateByName, page, t.Name)
			if err != nil {
				return err
			}
			_, err = tx.scan(ctx, "writing a template", []any{&tx.object}, `insert into status.template (page_id, name, kind, state, title, body)
values ($1, $2, $3, $4, $5, $6)
on conflict (page_id, name) do update set kind = excluded.kind, state = excluded.state, title = excluded.title, body = excluded.body returning id::text`,
				page, t.Name, t.Kind, t.State, t.Title, t.Body)
			return err
		})
	return err
}

// templateByName selects a template t.
const templateByName = `t.page_id = $1 and t.name = $2`

// RemoveTemplate deletes the template of a page with a name. It fails with [status.NotFound] if it does not exist. It
// is one transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) RemoveTemplate(ctx context.Context, by Author, page, name string) error {
	_, err := e.edit(ctx, by, "template.remove", page,
		func(ctx context.Context, tx *commandTx) error {
			tx.queue(`delete from status.template where page_id = $1 and name = $2`, page, name)
			return tx.existing(ctx, templateTable, "template "+name, templateByName, page, name)
		})
	return err
}

// Templates reads the templates of a page with one statement, ordered by name.
func (s *DB) Templates(ctx context.Context, page string) ([]*status.Template, error) {
	return read(ctx, s, templateTargets, nil,
		`select `+templateColumns+` from status.template where page_id = $1
order by name`, page)
}

package statuspages

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/migrations"
)

// Author is who writes, and how.
type Author struct {
	// Name is what the audit says.
	Name string
	// Origin is what kind of writer it is; none is an operator.
	Origin status.Origin
	// Page is the only page that may be written to, by its code; empty for all.
	Page string
	// Key makes a write that is sent twice be done once: the second one finds what the first one did. Empty for none.
	Key string
	// Preview is called in place of the end of the write, with a context in which the pages read as if it had been done. Then all is undone.
	Preview func(ctx context.Context) error
}

func (a *Author) origin() status.Origin {
	if a.Origin == "" {
		return status.FromOperator
	}
	return a.Origin
}

// Editor writes to status pages. Each of its methods is one transaction: it is done as a whole, with a row in the audit, or not at all. What an editor
// asks for that cannot be done is a [*status.Refusal] or a [*status.StepError].
type Editor struct {
	db     *DB
	now    func() time.Time
	random io.Reader
}

// NewEditor makes an editor with a clock. random is what codes and tokens are made of, [rand.Reader] where it is nil.
func NewEditor(db *DB, now func() time.Time, random io.Reader) *Editor {
	if random == nil {
		random = rand.Reader
	}
	return &Editor{db: db, now: now, random: random}
}

// DB is the database that the editor writes to.
func (e *Editor) DB() *DB { return e.db }

// Unwritable says that the status database takes no writes, and what to do about it.
type Unwritable struct {
	Text string
	err  error
}

func (e *Unwritable) Error() string { return e.Text }

func (e *Unwritable) Unwrap() error { return e.err }

// explainWrite makes sentences for editors of errors that say something about the database as a whole.
func explainWrite(err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case missingTables(err):
		return &Unwritable{Text: "the database has no status tables: make them with heliograph migrate --status-only", err: err}
	case errors.As(err, &pg) && (pg.Code == "25006" || pg.Code == "42501"): // read_only_sql_transaction, insufficient_privilege
		return &Unwritable{Text: "the status database can only be read by this user", err: err}
	case errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == "audit_idempotency_key_key":
		return status.Refuse(status.Conflict, "the idempotency key is being used by another write")
	}
	return err
}

// code makes a new code.
func (e *Editor) code() (string, error) { return status.NewCode(e.random) }

// errPreviewed undoes a write that was only to be looked at.
var errPreviewed = errors.New("only a preview")

// action is one write to a page.
type action struct {
	by   Author
	name string // in the audit
	page string // its code
	// settings tells writes that are allowed on mirrors, since they do not touch what was mirrored.
	settings bool
}

// replayed is the error of a write whose key was used: the object is as the first write left it, or later ones.
type replayed struct{ object string }

func (*replayed) Error() string { return "it has been done" }

// edit writes to a page. do returns the code of what it wrote to. The code is also returned when the write was done before, with the same key.
func (e *Editor) edit(ctx context.Context, a action, do func(ctx context.Context, w *writing) error) (string, error) {
	if a.by.Page != "" && a.by.Page != a.page {
		return "", status.Refuse(status.NotFound, "there is no page %s", a.page)
	}
	w := &writing{editor: e, action: a}
	err := e.db.Write(ctx, a.page, e.now(), func(ctx context.Context, tx *Tx) error {
		w.Tx = tx
		w.before, w.object = nil, ""
		if err := w.replay(ctx); err != nil {
			return err
		}
		if !a.settings && a.by.origin() != status.FromSync && tx.Page.Mode == status.Mirror {
			return status.Refuse(status.BadState, "the page %s is a copy of a page elsewhere: nobody edits it here", tx.Page.Slug)
		}
		if err := do(ctx, w); err != nil {
			return err
		}
		if err := w.audit(ctx); err != nil {
			return err
		}
		if a.by.Preview == nil {
			return nil
		}
		if err := raise(ctx, tx, a.page, tx.At); err != nil {
			return err
		}
		if err := a.by.Preview(ctx); err != nil {
			return err
		}
		return errPreviewed
	})
	var done *replayed
	switch {
	case errors.As(err, &done):
		return done.object, nil
	case errors.Is(err, errPreviewed):
		return w.object, nil
	case errors.Is(err, ErrNoPage):
		return "", status.Refuse(status.NotFound, "there is no page %s", a.page)
	}
	return w.object, explainWrite(err)
}

// writing is a write while it goes on.
type writing struct {
	*Tx
	editor *Editor
	action action
	object string // the code of what is written to
	table  string // where it is
	before []byte // the row as it was, nil where it is new
}

// replay ends the write when it was done before.
func (w *writing) replay(ctx context.Context) error {
	if w.action.by.Key == "" {
		return nil
	}
	var page, name, object *string
	err := w.QueryRow(ctx, `select page_id, action, object_id from status.audit where idempotency_key = $1`, w.action.by.Key).Scan(&page, &name, &object)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("looking for the idempotency key: %w", err)
	case *name != w.action.name || page == nil || *page != w.action.page || object == nil:
		return status.Refuse(status.Conflict, "the idempotency key was used by another write")
	}
	return &replayed{object: *object}
}

// The tables whose rows the audit keeps.
const (
	pageTable      = "status.page"
	componentTable = "status.component"
	noticeTable    = "status.incident"
	updateTable    = "status.incident_update"
	templateTable  = "status.template"
	tokenTable     = "status.operator_token"
)

// watch says what is written to, before it is.
func (w *writing) watch(ctx context.Context, table, code string) error {
	w.table, w.object = table, code
	err := w.QueryRow(ctx, `select to_jsonb(t) - 'token_sha256' from `+table+` t where t.id::text = $1`, code).Scan(&w.before)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("reading what is there: %w", err)
	}
	return nil
}

// audit records the write.
func (w *writing) audit(ctx context.Context) error {
	_, err := w.Exec(ctx, `insert into status.audit (at, page_id, actor, action, object_id, idempotency_key, before, after)
values ($1, nullif($2, ''), $3, $4, $5, nullif($6, ''), $7, (select to_jsonb(t) - 'token_sha256' from `+w.table+` t where t.id::text = $5))`,
		w.At, w.action.page, orText(w.action.by.Name, "unknown"), w.action.name, w.object, w.action.by.Key, w.before)
	if err != nil {
		return fmt.Errorf("writing the audit: %w", err)
	}
	return nil
}

// exec runs a statement of a write.
func (w *writing) exec(ctx context.Context, what, sql string, args ...any) error {
	if _, err := w.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// pageOf is the page of a row, a [*status.Refusal] when there is none.
func (e *Editor) pageOf(ctx context.Context, table, what, code string) (string, error) {
	var page string
	err := e.db.pool.QueryRow(ctx, `select page_id::text from `+table+` where id = $1`, code).Scan(&page)
	switch {
	case errors.Is(err, pgx.ErrNoRows), storage.FailureOf(err) == storage.FailureOutOfBounds: // what is no code names nothing
		return "", status.Refuse(status.NotFound, "there is no %s %s", what, code)
	case err != nil:
		return "", explainWrite(fmt.Errorf("looking for the page of a %s: %w", what, err))
	}
	return page, nil
}

// Writable tells whether pages can be written to, with an error that says why not.
func (e *Editor) Writable(ctx context.Context) error {
	has, err := e.db.Exists(ctx)
	if err != nil {
		return explainWrite(err)
	}
	if !has {
		return explainWrite(&pgconn.PgError{Code: "42P01", Message: fmt.Sprintf("status tables are older than version %d", migrations.StatusVersion())})
	}
	return nil
}

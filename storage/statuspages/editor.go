package statuspages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/migrations"
)

// Author identifies who writes, and how.
type Author struct {
	// Name is the name in the audit log.
	Name string
	// Origin is the origin of the write; [status.FromOperator] by default.
	Origin status.Origin
	// Page is the code of the only page that may be written to; empty for all.
	Page string
	// Key is an idempotency key: a second write with the same key returns the result of the first. Empty for none.
	Key string
	// Content is a hash of what is written. A second write with the same key and other content fails. Nil is not
	// compared.
	Content []byte
	// Preview is called instead of committing, with a context in which pages read as if the write had been committed.
	// The write is then rolled back.
	Preview func(ctx context.Context) error
}

// origin returns the origin of the author's writes; [status.FromOperator] by default.
func (a *Author) origin() status.Origin { return cmp.Or(a.Origin, status.FromOperator) }

// Editor writes to status pages. Each method is one transaction with an entry in the audit log. Writes that are not
// possible fail with a [*status.Error] or a [*status.TransitionError].
type Editor struct {
	db  *DB
	now func() time.Time
}

// NewEditor returns an Editor that writes to db with the times of now.
func NewEditor(db *DB, now func() time.Time) *Editor { return &Editor{db: db, now: now} }

// DB returns the database of the editor.
func (e *Editor) DB() *DB { return e.db }

// Unwritable reports that the status database cannot be written to, and what to do.
type Unwritable struct {
	Text string
	err  error
}

// Error returns the text for people who edit a page: why it cannot be written, and what to do.
func (e *Unwritable) Error() string { return e.Text }

// Unwrap returns the error of the database.
func (e *Unwritable) Unwrap() error { return e.err }

const idempotencyKeyConstraint = "audit_idempotency_key_key"

// explainWrite returns err, or in place of errors that concern the database as a whole an [*Unwritable] or
// [status.Conflict] error for editors.
func explainWrite(err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case missingTables(err):
		return &Unwritable{err: err, Text: "the database has no status tables: " +
			"create them with heliograph migrate --status-only"}
	case errors.As(err, &pg) && (pg.Code == "25006" || pg.Code == "42501"):
		// read_only_sql_transaction, insufficient_privilege
		return &Unwritable{err: err, Text: "the role cannot write to the status database: " +
			"use the role that owns its tables in --status-database-url"}
	case errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == idempotencyKeyConstraint:
		return status.Errorf(status.Conflict, "the idempotency key is in use by a concurrent write")
	}
	return err
}

// errPreviewed rolls back a previewed write.
var errPreviewed = errors.New("only a preview")

// replayedError ends a write whose idempotency key was used. object is the code that the first write returned.
type replayedError struct{ object string }

// Error implements error. [commandTx.finish] handles the error, so that editors do not see it.
func (*replayedError) Error() string { return "the write was done before" }

// edit writes to a page in a transaction and returns the code of the object that do writes to, also if the write
// was done before with the same key. The audit log gets an entry with the action. It fails with [status.NotFound]
// if the page does not exist or the author may not write to it.
func (e *Editor) edit(
	ctx context.Context, by Author, action, page string, do func(ctx context.Context, tx *commandTx) error,
) (string, error) {
	if by.Page != "" && by.Page != page {
		return "", status.Errorf(status.NotFound, "page %s does not exist", page)
	}
	return e.write(ctx, &commandTx{editor: e, by: by, action: action, page: page}, nil, do)
}

// create writes in a transaction, like [Editor.edit], to a page that it inserts, in the same transaction, if it does
// not exist. If the page exists, it stays as it is, and p has no effect on it. The page of the author is not checked.
func (e *Editor) create(
	ctx context.Context, by Author, action string, p *status.Page, do func(ctx context.Context, tx *commandTx) error,
) (string, error) {
	tx := &commandTx{editor: e, by: by, action: action, page: p.Code, conflict: slugConflict(p)}
	return e.write(ctx, tx, func(open pgx.Tx) error {
		var exists bool
		err := open.QueryRow(ctx, `select exists (select from status.page where id = $1)`, p.Code).Scan(&exists)
		if err != nil {
			return fmt.Errorf("looking for the page: %w", err)
		}
		if exists {
			return nil
		}
		tx.created = true
		return insertPage(ctx, open, p, e.now())
	}, do)
}

// write runs a command do in a transaction of [DB.Write], after prepare, which may be nil, and returns what
// [commandTx.finish] makes of its outcome: the code of the written object, or the error. It sets tx.Tx.
func (e *Editor) write(
	ctx context.Context, tx *commandTx, prepare func(pgx.Tx) error, do func(ctx context.Context, tx *commandTx) error,
) (string, error) {
	return tx.finish(e.db.Write(ctx, tx.page, e.now(), prepare, func(ctx context.Context, open *Tx) error {
		tx.Tx = open
		return tx.run(ctx, do)
	}))
}

// editRow writes to an existing row of a page in a transaction, like [Editor.edit]. The row becomes the object in the
// audit log. what names the row in errors. It fails with [status.NotFound] if the row does not exist.
func (e *Editor) editRow(ctx context.Context, by Author, action, table, what, code string,
	do func(ctx context.Context, tx *commandTx) error,
) (string, error) {
	page, err := e.pageOf(ctx, by, table, what, code)
	if err != nil {
		return "", err
	}
	return e.edit(ctx, by, action, page, func(ctx context.Context, tx *commandTx) error {
		err := tx.existing(ctx, table, what+" "+code, byID, code)
		if err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// commandTx is the transaction of a command. It first reads, and collects statements that are sent at the end.
type commandTx struct {
	*Tx
	statements Batch
	editor     *Editor
	by         Author
	action     string // in the audit log
	page       string // code
	created    bool   // whether the page did not exist before
	object     string // code of the object that is written to
	table      string // its table
	before     []byte // its row before the write, nil if it is new
	conflict   error  // replaces the error of a violated unique constraint, if not nil
}

// run runs a command in its transaction. For an idempotency key that was used it calls nothing and fails with a
// [*replayedError], or with [status.Conflict] if that was another write. It rejects edits of mirrors with
// [status.BadState], except imports and changes of settings, templates, tokens and webhooks. It calls do, adds the
// audit entry, and sends the statements. If the author has a preview, it then calls that and fails with errPreviewed.
func (tx *commandTx) run(ctx context.Context, do func(ctx context.Context, tx *commandTx) error) error {
	if err := tx.replay(ctx); err != nil {
		return err
	}
	object, _, _ := strings.Cut(tx.action, ".")
	content := !slices.Contains([]string{"page", "template", "token", "webhook"}, object) // which is that of the source
	if content && tx.by.origin() != status.FromSync && tx.Page.Mode == status.Mirror {
		return status.Errorf(status.BadState, "the page %s is a mirror of another page and cannot be edited",
			tx.Page.Slug)
	}
	if err := do(ctx, tx); err != nil {
		return err
	}
	tx.audit()
	err := tx.SendBatch(ctx, &tx.statements.Batch).Close()
	if err != nil {
		return fmt.Errorf("executing a write: %w", err)
	}
	return tx.preview(ctx, tx.by.Preview)
}

// finish returns the code of the written object, or the error for editors. err is the error of the transaction:
// replayed and previewed writes succeed, a missing page is [status.NotFound], and violated unique constraints become
// tx.conflict.
func (tx *commandTx) finish(err error) (string, error) {
	var replayed *replayedError
	switch {
	case tx.conflict != nil && duplicate(err):
		return "", tx.conflict
	case errors.As(err, &replayed):
		return replayed.object, nil
	case errors.Is(err, errPreviewed):
		return tx.object, nil
	case errors.Is(err, ErrNoPage):
		return "", status.Errorf(status.NotFound, "page %s does not exist", tx.page)
	}
	return tx.object, explainWrite(err)
}

// duplicate reports whether a statement failed because a row with the same unique value exists, other than an
// idempotency key.
func duplicate(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName != idempotencyKeyConstraint
}

// preview calls the preview function show, if any, with the revision incremented, and fails with errPreviewed so that
// the transaction is rolled back.
func (tx *Tx) preview(ctx context.Context, show func(ctx context.Context) error) error {
	if show == nil {
		return nil
	}
	if err := incrementRevision(ctx, tx, tx.Page.Code, tx.At); err != nil {
		return err
	}
	if err := show(ctx); err != nil {
		return err
	}
	return errPreviewed
}

// scan runs a query in the transaction and reads its first row into the given pointers. found is false if there is
// none. what describes the statement in errors.
func (tx *commandTx) scan(
	ctx context.Context, what string, into []any, sql string, args ...any,
) (found bool, err error) {
	err = tx.QueryRow(ctx, sql, args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, wrap.Error(err, "%s", what)
}

// replay fails with a [*replayedError] if a write with the same idempotency key was done before, and with
// [status.Conflict] if that was another write. Without a key it does nothing.
func (tx *commandTx) replay(ctx context.Context) error {
	if tx.by.Key == "" {
		return nil
	}
	var page, name, object *string
	var content []byte
	found, err := tx.scan(ctx, "reading the idempotency key", []any{&page, &name, &object, &content},
		`select page_id, action, object_id, idempotency_content from status.audit where idempotency_key = $1`,
		tx.by.Key)
	if err != nil || !found {
		return err
	}
	if *name != tx.action || page == nil || *page != tx.page || object == nil ||
		content != nil && tx.by.Content != nil && !bytes.Equal(content, tx.by.Content) {
		return status.Errorf(status.Conflict, "the idempotency key was used by another write")
	}
	return &replayedError{*object}
}

// The tables whose rows are in the audit log.
const (
	pageTable      = "status.page"
	componentTable = "status.component"
	noticeTable    = "status.incident"
	updateTable    = "status.incident_update"
	templateTable  = "status.template"
	tokenTable     = "status.operator_token"
	probeTable     = "status.probe"
	webhookTable   = "status.webhook"
)

// auditedRow is a row in the audit log, without secrets.
const auditedRow = `to_jsonb(t) - '{token_sha256,secret,old_secret}'::text[]`

// byID selects a row t by its id.
const byID = `t.id::text = $1`

// target makes a row t the object of the write, and reads its code and content before it changes, for the audit log.
// It reports whether the row exists. It does not lock the row. If the row does not exist, tx keeps its object, but not
// its table.
func (tx *commandTx) target(ctx context.Context, table, where string, args ...any) (exists bool, err error) {
	tx.table = table
	return tx.scan(ctx, "reading the row to change", []any{&tx.object, &tx.before},
		`select t.id::text, `+auditedRow+` from `+table+` t where `+where, args...)
}

// existing is [commandTx.target], but fails with [status.NotFound] if the row does not exist. what names the row
// in the error.
func (tx *commandTx) existing(ctx context.Context, table, what, where string, args ...any) error {
	found, err := tx.target(ctx, table, where, args...)
	return cmp.Or(err, status.FailIf(!found, status.NotFound, "%s does not exist", what))
}

// audit queues the entry of the object in the audit log. It must follow the statements that write the object, because
// it reads the row after them.
func (tx *commandTx) audit() {
	tx.queue(`insert into status.audit (at, page_id, actor, action, object_id, idempotency_key, before,
  idempotency_content, after)
values ($1, nullif($2, ''), $3, $4, $5, nullif($6, ''), $7, $8, (select `+auditedRow+` from `+tx.table+` t where t.id::text = $5))`,
		tx.At, tx.page, cmp.Or(tx.by.Name, "unknown"), tx.action, tx.object, tx.by.Key,
		tx.before, tx.by.Content)
}

// queue adds a statement to those that [commandTx.run] sends at the end.
func (tx *commandTx) queue(sql string, args ...any) { tx.statements.Queue(sql, args...) }

// exec runs a statement that is not part of a write to a page, without audit log and revision. what describes it in
// errors. It uses the pool, even if ctx has a transaction.
func (s *DB) exec(ctx context.Context, what, sql string, args ...any) error {
	_, err := s.pool.Exec(ctx, sql, args...)
	return explainWrite(wrap.Error(err, "%s", what))
}

// pageOf reads the code of the page of a row, or fails with [status.NotFound] if the row does not exist, code is not a
// valid text, the component of a probe was removed, or the author may not write to the page. what names the row in
// errors. It reads on the pool, even if ctx has a transaction.
func (e *Editor) pageOf(ctx context.Context, by Author, table, what, code string) (string, error) {
	var page string
	if table == probeTable {
		table += ` p join (select id as component_id, page_id from status.component where deleted_at is null) c
using (component_id)`
	}
	err := e.db.pool.QueryRow(ctx, `select page_id::text from `+table+` where id::text = $1`, code).Scan(&page)
	switch {
	case errors.Is(err, pgx.ErrNoRows), storage.FailureOf(err) == storage.FailureOutOfBounds, // not a code
		err == nil && by.Page != "" && by.Page != page:
		return "", status.Errorf(status.NotFound, "%s %s does not exist", what, code)
	case err != nil:
		return "", explainWrite(fmt.Errorf("reading the page of a %s: %w", what, err))
	}
	return page, nil
}

// Writable fails with an [*Unwritable] error if the database lacks the status tables or has an older version of
// them. It does not try to write.
func (e *Editor) Writable(ctx context.Context) error {
	has, err := e.db.Exists(ctx)
	if err == nil && !has {
		text := fmt.Sprintf("status tables are older than version %d", migrations.StatusVersion())
		err = &pgconn.PgError{Code: "42P01", Message: text}
	}
	return explainWrite(err)
}

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	ID     int64
	At     time.Time
	Page   string // code; empty if the write concerned no page
	Actor  string
	Action string
	Object string
	// Before and After are the row before and after the write, as JSON; nil if it did not exist.
	Before, After json.RawMessage
	// Changed are the columns that the write changed, in alphabetical order; none if the row was created or deleted.
	Changed []string
}

// Audit reads at most limit entries of the audit log, newest first, of one page and object unless these are empty.
func (s *DB) Audit(ctx context.Context, page, object string, limit int) ([]*AuditEntry, error) {
	rows, err := read(ctx, s, auditTargets, nil, `select `+auditColumns+` from status.audit
where ($1 = '' or page_id = $1) and ($2 = '' or object_id = $2) order by id desc limit $3`, page, object, limit)
	return rows, wrap.Error(err, "reading the audit log")
}

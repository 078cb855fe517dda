package statuspages

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

// Webhooks reads the webhooks of a page with their state of delivery, oldest first.
func (s *DB) Webhooks(ctx context.Context, page string) ([]*status.Webhook, error) {
	return read(ctx, s, webhookTargets, nil,
		`select `+webhookColumns+` from status.webhook w where w.page_id = $1 order by w.created_at, w.id`, page)
}

// Webhook reads the webhook with a code, with its state of delivery, or nil if it does not exist.
func (s *DB) Webhook(ctx context.Context, code string) (*status.Webhook, error) {
	return readOne(ctx, s, webhookTargets, nil, `select `+webhookColumns+` from status.webhook w where w.id = $1`, code)
}

// AddWebhook adds a webhook to a page. It returns its code and its secret, which is empty if the write was done before
// with the same idempotency key, and not valid with an error. It fails with [status.NotFound] if the page or a
// component does not exist, with [status.BadInput] for an invalid URL, and with [status.Conflict] if the page has the
// URL already. It sends no request to the URL. It is one transaction, which also raises the revision of the page and
// adds an entry to the audit log.
func (e *Editor) AddWebhook(
	ctx context.Context, by Author, page string, in status.NewWebhook,
) (code, secret string, err error) {
	code, err = e.edit(ctx, by, "webhook.add", page,
		func(ctx context.Context, tx *commandTx) error {
			c, err := tx.workingCopy(ctx)
			if err != nil {
				return err
			}
			err = in.Check(c)
			if err != nil {
				return err
			}
			key, text := status.NewWebhookSecret()
			tx.table, tx.object, secret = webhookTable, status.NewCode(), text
			tx.conflict = status.Errorf(status.Conflict, "the page has a webhook with the URL %s already", in.URL)
			tx.queue(`insert into status.webhook (id, page_id, url, components, secret, created_at)
values ($1, $2, $3, coalesce($4::text[], '{}'), $5, $6)`, tx.object, page, in.URL, in.Components, key, tx.At)
			return nil
		})
	return code, secret, err
}

// RotateWebhook replaces the secret of a webhook. It returns its code and the new secret, which is empty if the write
// was done before with the same key, and not valid with an error. For a day, messages are signed with both. It ignores
// the expected version. It fails with [status.NotFound] if the webhook does not exist. It is one transaction, which
// also writes the audit log and raises the page's revision.
func (e *Editor) RotateWebhook(
	ctx context.Context, by Author, code string, _ status.VersionInput,
) (_, secret string, err error) {
	code, err = e.editRow(ctx, by, "webhook.rotate", webhookTable, "webhook", code,
		func(_ context.Context, tx *commandTx) error {
			key, text := status.NewWebhookSecret()
			secret = text
			tx.queue(`update status.webhook set secret = $2, old_secret = secret, old_until = $3 where id = $1`, code,
				key, tx.At.Add(status.WebhookSecretOverlap))
			return nil
		})
	return code, secret, err
}

// EnableWebhook enables a webhook that was disabled after failures, and returns its code. The next message is sent at
// once. It ignores the expected version. It fails with [status.NotFound] if the webhook does not exist. It is one
// transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) EnableWebhook(ctx context.Context, by Author, code string, _ status.VersionInput) (string, error) {
	return e.editRow(ctx, by, "webhook.enable", webhookTable, "webhook", code, executing(
		`update status.webhook set disabled_at = null, failures = 0, last_error = null, next_at = '-infinity'
where id = $1`, code))
}

// RemoveWebhook deletes a webhook and its pending messages, and returns its code. It ignores the expected version. It
// fails with [status.NotFound] if the webhook does not exist. It is one transaction, which also writes the audit log
// and raises the page's revision.
func (e *Editor) RemoveWebhook(ctx context.Context, by Author, code string, _ status.VersionInput) (string, error) {
	return e.editRow(ctx, by, "webhook.remove", webhookTable, "webhook", code,
		executing(`delete from status.webhook where id = $1`, code))
}

// executing returns a function for [Editor.editRow] that queues a statement in the transaction of the write. It runs
// nothing itself.
func executing(sql string, args ...any) func(context.Context, *commandTx) error {
	return func(_ context.Context, tx *commandTx) error {
		tx.queue(sql, args...)
		return nil
	}
}

// notify adds messages about the updates and changes of a write to the outbox, in its transaction. It sends nothing,
// and adds nothing if the page has no enabled webhook. Edited updates, backfilled incidents, and updates for which
// editors have turned notifications off have no messages.
func (s *DB) notify(ctx context.Context, tx *Tx) error {
	wanted, err := read(ctx, s, value[bool], nil,
		`select true from status.webhook where page_id = $1 and disabled_at is null limit 1`, tx.Page.Code)
	if err != nil || len(wanted) == 0 {
		return err
	}
	messages, err := s.messages(ctx, tx)
	if err != nil {
		return err
	}
	for _, m := range messages {
		body, err := json.Marshal(m.Content(tx.At))
		if err != nil {
			return fmt.Errorf("encoding a message: %w", err)
		}
		if _, err := tx.Exec(ctx, `with added as (
  insert into status.message (id, page_id, created_at, body) values ($1, $2, $3, $4) returning id)
insert into status.outbox (webhook_id, message_id) select w.id, added.id from status.webhook w, added
where w.page_id = $2 and w.disabled_at is null and (w.components = '{}' or w.components && $5::text[])`,
			status.NewCode(), tx.Page.Code, tx.At, string(body), m.Components); err != nil {
			return fmt.Errorf("adding a message to the outbox: %w", err)
		}
	}
	return nil
}

// messages returns the messages of webhooks about what tx has written, which it reads in the transaction: one for
// each notice with a new update, and one for each changed component.
func (s *DB) messages(ctx context.Context, tx *Tx) ([]*status.Message, error) {
	page, err := s.PageByCode(ctx, tx.Page.Code)
	if err != nil || page == nil {
		return nil, err
	}
	pages, revision := status.Pages{page}, []*status.Revision{{PageCode: page.Code, Number: tx.Page.Revision + 1}}
	updates, err := s.UpdatesOfRevisions(ctx, pages, revision)
	if err != nil {
		return nil, err
	}
	changes, err := s.ChangesOfRevisions(ctx, pages, revision)
	if err != nil || len(updates[0])+len(changes[0]) == 0 {
		return nil, err
	}
	state, err := s.PageState(ctx, page)
	if err != nil {
		return nil, err
	}
	codes, silent := map[string]bool{}, map[string]bool{}
	for _, u := range updates[0] {
		if u.DeliverNotifications && u.CreatedAt.Equal(u.UpdatedAt) {
			codes[u.NoticeCode] = true
		}
		silent[u.Code] = !u.DeliverNotifications
	}
	out, err := s.noticeMessages(ctx, state, codes)
	for _, c := range changes[0] {
		if m := state.ChangeMessage(c); m != nil && !silent[c.UpdateCode.V] {
			out = append(out, m)
		}
	}
	return out, err
}

// noticeMessages returns the messages of webhooks about notices that have changed, by their codes, in no order.
// Notices that were written afterwards have none.
func (s *DB) noticeMessages(
	ctx context.Context, state *status.PageState, codes map[string]bool,
) ([]*status.Message, error) {
	pages := status.Pages{state.Page}
	found, err := s.NoticesByCode(ctx, pages, slices.Collect(maps.Keys(codes)))
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(found, func(_ string, n *status.Notice) bool { return n.Backfilled })
	states, err := s.noticeStates(ctx, pages, slices.Collect(maps.Values(found)))
	return list.Map(states, func(n status.NoticeState) *status.Message { return state.NoticeMessage(&n) }), err
}

// ClaimDeliveries returns the next message of at most limit webhooks, and claims the webhooks for the duration of
// the lease. Other gateways do not send to them meanwhile. The messages stay in the outbox.
func (e *Editor) ClaimDeliveries(ctx context.Context, limit int, lease time.Duration) ([]*status.Delivery, error) {
	now := e.now()
	// This runs every second. If nothing is due, nothing is written, so that a read-only database is no error.
	const due = ` from status.webhook w where w.next_at <= $1 and w.disabled_at is null and exists (select
from status.outbox o where o.webhook_id = w.id)`
	waiting, err := read(ctx, e.db, value[bool], nil, `select true`+due+` limit 1`, now)
	if err != nil || len(waiting) == 0 {
		return nil, explainWrite(err)
	}
	var out []*status.Delivery
	err = pgx.BeginFunc(ctx, e.db.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `update status.webhook set next_at = $2 where id in (select w.id`+due+`
  order by w.next_at, w.id limit $3 for update of w skip locked) returning id::text`, now, now.Add(lease), limit) // rows have the error
		taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("claiming webhooks: %w", err)
		}
		// A statement of its own, whose snapshot includes the deliveries of gateways that had claimed the webhooks
		// before.
		rows, _ = tx.Query(ctx, `select o.id, o.message_id, w.id, w.url, array_remove(array[w.secret, case when w.old_until > $2 then w.old_secret end], null),
  convert_to(m.body, 'UTF8'), w.failures
from status.webhook w cross join lateral (select * from status.outbox o where o.webhook_id = w.id order by o.id limit 1) o
join status.message m on m.id = o.message_id where w.id = any($1)`, taken, now)
		out, err = storage.MapperOf(func(d *status.Delivery, into []any) []any {
			return append(into, &d.ID, &d.Message, &d.Webhook, &d.URL, &d.Keys, &d.Body, &d.Failures)
		}, nil).Collect(rows)
		return wrap.Error(err, "reading claimed messages")
	})
	if err != nil {
		return nil, explainWrite(err) // also those that were read are not claimed
	}
	return out, nil
}

// RecordDelivered removes sent messages from the outbox and ends the claims of their webhooks, whose failures count
// from 0 again. The commit does not wait for the disk: a crash of the database repeats the delivery, as a crash of the
// gateway does.
func (e *Editor) RecordDelivered(ctx context.Context, sent []*status.Delivery) error {
	var b pgx.Batch
	b.Queue(`select set_config('synchronous_commit', 'off', true)`)
	b.Queue(`delete from status.outbox where id = any($1)`,
		list.Map(sent, func(d *status.Delivery) int64 { return d.ID }))
	b.Queue(`update status.webhook set next_at = $2, failures = 0, last_error = null where id = any($1)`,
		list.Map(sent, func(d *status.Delivery) string { return d.Webhook }), e.now())
	return explainWrite(wrap.Error(e.db.pool.SendBatch(ctx, &b).Close(), "recording sent messages"))
}

// RecordFailed records a failed attempt, after which the webhook waits for the duration retry before the message is
// sent again. If retry is not positive, it disables the webhook and drops its messages. For a disabled webhook it does
// nothing.
func (e *Editor) RecordFailed(ctx context.Context, d *status.Delivery, reason string, retry time.Duration) error {
	return e.db.exec(ctx, "recording a failed message", `with failed as (
  update status.webhook set failures = failures + 1, last_error = $2, next_at = $3, disabled_at = case when $4 then $5::timestamptz end
  where id = $1 and disabled_at is null returning id)
delete from status.outbox o using failed where $4 and o.webhook_id = failed.id`, d.Webhook, reason, e.now().Add(retry), retry <= 0, e.now())
}

// OutboxStats are the numbers of messages that wait to be sent and of disabled webhooks.
type OutboxStats struct {
	Pending, Disabled int64

	old bool // whether there are messages to delete
}

// messageRetention is the minimum time that messages are kept.
const messageRetention = time.Hour

// PruneMessages deletes old messages that no webhook waits for, and returns the state of the outbox from before.
// Messages are old after messageRetention. If the deletion fails, it returns the state with the error.
func (e *Editor) PruneMessages(ctx context.Context) (OutboxStats, error) {
	const old = ` m.created_at < $1 and not exists (select from status.outbox o where o.message_id = m.id)`
	before := e.now().Add(-messageRetention)
	stats, err := read(ctx, e.db,
		func(s *OutboxStats, into []any) []any { return append(into, &s.Pending, &s.Disabled, &s.old) }, nil, `
select (select count(*) from status.outbox), (select count(*) from status.webhook where disabled_at is not null),
  exists (select from status.message m where`+old+`)`, before)
	if err != nil || len(stats) == 0 {
		return OutboxStats{}, explainWrite(err)
	}
	if stats[0].old {
		err = e.db.exec(ctx, "deleting sent messages", `delete from status.message m where`+old, before)
	}
	return *stats[0], err
}

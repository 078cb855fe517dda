package statuspages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// The columns of rows that are written, in the order of the functions that return their values.
var (
	componentRowColumns = strings.Fields(`id page_id is_group group_id name description base_status position list_index showcase only_show_if_degraded
start_date known_from node_id origin version created_at updated_at`)
	noticeRowColumns = strings.Fields(`id page_id kind name state impact impact_override shortlink started_at created_at updated_at monitoring_at
resolved_at reminder_intervals scheduled_for scheduled_until auto_in_progress auto_completed auto_maintenance_state auto_operational_state notify_at_start
notify_at_end remind_minutes reminded_at backfilled draft origin probe_id version`)
	updateRowColumns = strings.Fields(`id incident_id state body created_at updated_at display_at deliver_notifications custom_tweet tweet_id
empty_affected origin revision`)
)

var (
	insertComponent = insertInto(componentTable, componentRowColumns)
	insertNotice    = insertInto(noticeTable, noticeRowColumns)
	// upsertNotice and upsertUpdate insert a row, or replace it.
	upsertNotice = insertNotice + " on conflict (page_id, id) do update set " + excluded(noticeRowColumns[2:]...)
	upsertUpdate = insertInto(updateTable, updateRowColumns) + " on conflict (id) do update set " +
		excluded(updateRowColumns[1:]...)
)

// insertInto returns a statement that inserts a row. Its parameters are the values of the columns.
func insertInto(table string, columns []string) string {
	parameters := make([]string, len(columns))
	for i := range columns {
		parameters[i] = fmt.Sprintf("$%d", i+1)
	}
	return "insert into " + table + " (" + strings.Join(columns, ", ") + ") values (" +
		strings.Join(parameters, ", ") +
		")"
}

// excluded returns the assignments that replace columns of an existing row on a conflict.
func excluded(columns ...string) string {
	return strings.Join(list.Map(columns, func(c string) string { return c + " = excluded." + c }), ", ")
}

// componentRow returns the values of a row of status.component, in the order of componentRowColumns.
func componentRow(c *status.Component) []any {
	return []any{
		c.Code, c.PageCode, c.IsGroup, c.GroupCode.Pointer(), c.Name, c.Description.Pointer(),
		ledger.NonZero(c.BaseStatus).Pointer(), c.Position,
		c.ListIndex, c.Showcase, c.OnlyShowIfDegraded, (*string)(c.StartDate.Pointer()), c.KnownFrom.Pointer(),
		c.NodeID.Pointer(), c.Origin, c.Version,
		c.CreatedAt, c.UpdatedAt,
	}
}

// noticeRow returns the values of a row of status.incident, in the order of noticeRowColumns.
func noticeRow(n *status.Notice) []any {
	return []any{
		n.Code, n.PageCode, n.Kind, n.Name, n.State, n.Impact, n.ImpactOverride.Pointer(), n.Shortlink, n.StartedAt,
		n.CreatedAt, n.UpdatedAt,
		n.MonitoringAt.Pointer(), n.ResolvedAt.Pointer(), n.ReminderIntervals.Pointer(), n.ScheduledFor.Pointer(),
		n.ScheduledUntil.Pointer(),
		n.AutoInProgress, n.AutoCompleted, n.AutoMaintenanceState, n.AutoOperationalState, n.NotifyAtStart,
		n.NotifyAtEnd, n.RemindMinutes.Pointer(),
		n.RemindedAt.Pointer(), n.Backfilled, n.Draft, n.Origin, n.ProbeID.Pointer(), n.Version,
	}
}

// updateRow returns the values of a row of status.incident_update, in the order of updateRowColumns. The components
// of the update are not part of it.
func updateRow(u *status.Update) []any {
	return []any{
		u.Code, u.NoticeCode, u.State, u.Body, u.CreatedAt, u.UpdatedAt, u.DisplayAt.Pointer(), u.DeliverNotifications,
		u.CustomTweet.Pointer(),
		u.TweetID.Pointer(), u.EmptyAffected, u.Origin, u.Revision.Pointer(),
	}
}

// Batch collects statements that write rows of status pages.
type Batch struct{ pgx.Batch }

// InsertComponent queues the insert of a component. The batch fails if its code exists.
func (b *Batch) InsertComponent(c *status.Component) { b.Queue(insertComponent, componentRow(c)...) }

// WriteNotice queues the insert of a notice, or its update if it exists.
func (b *Batch) WriteNotice(n *status.Notice) { b.Queue(upsertNotice, noticeRow(n)...) }

// Attach queues the insert of a component of a notice, or the update of the status in which the notice holds it. With
// an empty status the notice holds none.
func (b *Batch) Attach(page string, a *status.Attachment) {
	b.Queue(`insert into status.incident_component (page_id, incident_id, component_id, held_status) values ($1, $2, $3, $4)
on conflict (incident_id, component_id) do update set held_status = excluded.held_status`,
		page, a.NoticeCode, a.ComponentCode, ledger.NonZero(a.HeldStatus).Pointer())
}

// WriteUpdate queues the insert of an update with its components, or their replacement if the update exists.
func (b *Batch) WriteUpdate(u *status.Update) {
	b.Queue(upsertUpdate, updateRow(u)...)
	b.Queue(`delete from status.update_component where update_id = $1`, u.Code)
	for _, a := range u.Affected {
		b.Queue(
			`insert into status.update_component (update_id, ordinal, code, name, old_status, new_status)
values ($1, $2, $3, $4, $5, $6)`,
			u.Code, a.Ordinal, a.Code, a.Name, a.OldStatus, a.NewStatus)
	}
}

// WorkingCopy reads the components of a page, including empty groups, and the holds of notices, and returns them with
// computed statuses. It locks nothing. Drafts and deleted notices hold nothing.
func (s *DB) WorkingCopy(ctx context.Context, p *status.Page) (*status.WorkingCopy, error) {
	components, err := s.components(ctx, p)
	if err != nil {
		return nil, err
	}
	holds, err := read(ctx, s, attachmentTargets, nil,
		`select `+attachmentColumns+` from status.incident_component c where page_id = $1 and held_status is not null
and exists (select from status.incident n where n.id = c.incident_id and not n.draft and n.deleted_at is null)`, p.Code)
	if err != nil {
		return nil, err
	}
	return status.NewWorkingCopy(p, components, holds), nil
}

// workingCopy reads the components of the page and the holds on them in the transaction, to which ctx must belong, and
// returns them with [Tx.Page] as a working copy, on which the domain computes the changes of a command. It has the
// time and origin of the command.
func (tx *commandTx) workingCopy(ctx context.Context) (*status.WorkingCopy, error) {
	c, err := tx.editor.db.WorkingCopy(ctx, tx.Page)
	if err != nil {
		return nil, err
	}
	c.At, c.Origin, c.NewCode = tx.At, tx.by.origin(), status.NewCode
	return c, nil
}

// emptyCopy returns a working copy without components, with the time and origin of the command, for rules that do not
// need them. It reads nothing.
func (tx *commandTx) emptyCopy() *status.WorkingCopy {
	return &status.WorkingCopy{Page: tx.Page, At: tx.At, Origin: tx.by.origin(), NewCode: status.NewCode}
}

// notice locks a notice and reads it with its components and updates. It fails with [status.NotFound] if it does not
// exist. what names it in the error. The lock is held until the transaction ends.
func (tx *commandTx) notice(ctx context.Context, what, code string) (status.NoticeState, error) {
	s, err := tx.noticeState(ctx, code, ` for update`)
	return s, cmp.Or(err, status.FailIf(s.Notice == nil, status.NotFound, "%s %s does not exist", what, code))
}

// noticeState reads a notice with its components and updates, oldest first. The notice is nil if it does not exist, or
// is locked and lock skips locked rows. lock is the locking clause of the statement.
func (tx *commandTx) noticeState(ctx context.Context, code, lock string) (status.NoticeState, error) {
	db := tx.editor.db
	rows, err := read(ctx, db, noticeTargets, func(n *status.Notice) error {
		n.In(tx.Page.Zone)
		return nil
	}, `select `+noticeColumns+` from status.incident n where n.id = $1 and n.deleted_at is null`+lock, code)
	if err != nil || len(rows) == 0 {
		return status.NoticeState{}, err
	}
	states, err := db.noticeStates(ctx, status.Pages{tx.Page}, rows)
	if err != nil {
		return status.NoticeState{}, err
	}
	slices.Reverse(states[0].Updates) // oldest first
	return states[0], nil
}

// store queues the statements that write an effect on a notice. A new notice becomes the object of the write. It
// sets the revision of the updates.
func (tx *commandTx) store(e *status.Effect) {
	b := &tx.statements
	if e.New {
		tx.table, tx.object = noticeTable, e.Notice.Code
	}
	b.WriteNotice(e.Notice)
	for _, u := range e.Updates {
		u.Revision = ledger.Of(tx.Page.Revision + 1)
		b.WriteUpdate(u)
	}
	for _, a := range e.Attachments {
		b.Attach(tx.Page.Code, a)
	}
	for _, c := range e.BaseChanged {
		tx.updateBase(c)
	}
	tx.insertChanges(e.Changes)
}

// updateBase queues the statement that writes the base status of a component, its time, and the next version.
func (tx *commandTx) updateBase(c *status.Component) {
	tx.queue(`update status.component set base_status = $2, updated_at = $3, version = version + 1 where id = $1`,
		c.Code, c.BaseStatus, tx.At)
}

// insertChanges queues the statements that write changes of statuses, and the versions of their components, which
// increase by one per command. The second change of a component within a millisecond is dated a millisecond later.
func (tx *commandTx) insertChanges(list []*status.Change) {
	for _, c := range list {
		tx.queue(`insert into status.component_change (component_id, changed_at, old_status, new_status, update_id, origin)
values ($1::text, greatest($2::timestamptz, (select max(changed_at) + interval '1 millisecond' from status.component_change
where component_id = $1::text)), $3, $4, $5, $6)`,
			c.ComponentCode, c.At, c.OldStatus, c.NewStatus, c.UpdateCode.Pointer(), c.Origin)
		tx.queue(
			`update status.component set updated_at = $2, version = version + 1 where id = $1 and updated_at <> $2`,
			c.ComponentCode, tx.At)
	}
}

package statuspages

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

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
	updateNotice    = updateOf(noticeTable, noticeRowColumns)
	insertUpdate    = insertInto(updateTable, updateRowColumns)
	// replaceUpdate also writes an update that exists. Its origin and the values that only imported updates have stay.
	replaceUpdate = insertUpdate + " on conflict (id) do update set " +
		excluded("state", "body", "created_at", "updated_at", "display_at", "deliver_notifications", "revision")
)

// insertInto returns a statement that inserts a row. Its parameters are the values of the columns.
func insertInto(table string, columns []string) string {
	parameters := make([]string, len(columns))
	for i := range columns {
		parameters[i] = fmt.Sprintf("$%d", i+1)
	}
	return "insert into " + table + " (" + strings.Join(columns, ", ") + ") values (" + strings.Join(parameters, ", ") + ")"
}

// updateOf returns a statement that updates the row with the id in the first parameter. Its parameters are those of [insertInto].
func updateOf(table string, columns []string) string {
	assignments := make([]string, len(columns))
	for i, c := range columns {
		assignments[i] = fmt.Sprintf("%s = $%d", c, i+1)
	}
	return "update " + table + " set " + strings.Join(assignments, ", ") + " where id = $1"
}

// excluded returns the assignments that replace columns of an existing row on a conflict.
func excluded(columns ...string) string {
	assignments := make([]string, len(columns))
	for i, c := range columns {
		assignments[i] = c + " = excluded." + c
	}
	return strings.Join(assignments, ", ")
}

func componentRow(c *status.Component) []any {
	return []any{
		c.Code, c.PageCode, c.IsGroup, c.GroupCode.Pointer(), c.Name, c.Description.Pointer(), ledger.NonZero(c.BaseStatus).Pointer(), c.Position,
		c.ListIndex, c.Showcase, c.OnlyShowIfDegraded, (*string)(c.StartDate.Pointer()), c.KnownFrom.Pointer(), c.NodeID.Pointer(), c.Origin, c.Version,
		c.CreatedAt, c.UpdatedAt,
	}
}

func noticeRow(n *status.Notice) []any {
	return []any{
		n.Code, n.PageCode, n.Kind, n.Name, n.State, n.Impact, n.ImpactOverride.Pointer(), n.Shortlink, n.StartedAt, n.CreatedAt, n.UpdatedAt,
		n.MonitoringAt.Pointer(), n.ResolvedAt.Pointer(), n.ReminderIntervals.Pointer(), n.ScheduledFor.Pointer(), n.ScheduledUntil.Pointer(),
		n.AutoInProgress, n.AutoCompleted, n.AutoMaintenanceState, n.AutoOperationalState, n.NotifyAtStart, n.NotifyAtEnd, n.RemindMinutes.Pointer(),
		n.RemindedAt.Pointer(), n.Backfilled, n.Draft, n.Origin, n.ProbeID.Pointer(), n.Version,
	}
}

func updateRow(u *status.Update) []any {
	return []any{
		u.Code, u.NoticeCode, u.State, u.Body, u.CreatedAt, u.UpdatedAt, u.DisplayAt.Pointer(), u.DeliverNotifications, u.CustomTweet.Pointer(),
		u.TweetID.Pointer(), u.EmptyAffected, u.Origin, u.Revision.Pointer(),
	}
}

// Batch collects statements that write rows of status pages.
type Batch struct{ pgx.Batch }

// InsertComponent inserts a component.
func (b *Batch) InsertComponent(c *status.Component) { b.Queue(insertComponent, componentRow(c)...) }

// InsertNotice inserts a notice.
func (b *Batch) InsertNotice(n *status.Notice) { b.Queue(insertNotice, noticeRow(n)...) }

// InsertUpdate inserts an update with its components.
func (b *Batch) InsertUpdate(u *status.Update) {
	b.Queue(insertUpdate, updateRow(u)...)
	b.insertAffected(u)
}

func (b *Batch) insertAffected(u *status.Update) {
	for _, a := range u.Affected {
		b.Queue(`insert into status.update_component (update_id, ordinal, code, name, old_status, new_status) values ($1, $2, $3, $4, $5, $6)`,
			u.Code, a.Ordinal, a.Code, a.Name, a.OldStatus, a.NewStatus)
	}
}

package statuspages

import (
	"context"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// NewMaintenance is a maintenance to be announced.
type NewMaintenance struct {
	Name           string
	Body           string
	Start, End     time.Time
	Components     []string // codes
	ImpactOverride ledger.Null[status.Impact]
	// State is the first state: none for announced; in progress for work that has begun, completed for what was told only after it was over.
	State status.State
	// What it does by itself.
	AutoInProgress, AutoCompleted              bool
	AutoMaintenanceState, AutoOperationalState bool
	RemindMinutes                              ledger.Null[int32]
	Silent                                     bool // the announcement notifies nobody
	SilentAtStart, SilentAtEnd                 bool
}

// ScheduleMaintenance announces a maintenance and returns its code.
func (e *Editor) ScheduleMaintenance(ctx context.Context, by Author, page string, in NewMaintenance) (string, error) {
	return e.edit(ctx, action{by: by, name: "maintenance.schedule", page: page}, func(ctx context.Context, w *writing) error {
		return w.schedule(ctx, in)
	})
}

// ScheduleSeries announces a maintenance that is repeated: at its own start, and at all of others, each time as long. It is one write: all of them are announced, or
// none. It returns their codes.
func (e *Editor) ScheduleSeries(ctx context.Context, by Author, page string, in NewMaintenance, others []time.Time) ([]string, error) {
	if by.Key != "" && len(others) > 0 {
		return nil, status.Refuse(status.BadInput, "a series has no idempotency key: it is several things")
	}
	var codes []string
	_, err := e.edit(ctx, action{by: by, name: "maintenance.schedule", page: page}, func(ctx context.Context, w *writing) error {
		codes = nil
		length := in.End.Sub(in.Start)
		for i, start := range append([]time.Time{in.Start}, others...) {
			one := in
			one.Start, one.End = start, start.Add(length)
			if err := w.schedule(ctx, one); err != nil {
				return err
			}
			codes = append(codes, w.object)
			if i < len(others) { // the last one has its row in the audit as every write has
				if err := w.audit(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return codes, err
}

// schedule announces one maintenance.
func (w *writing) schedule(ctx context.Context, in NewMaintenance) error {
	n, err := w.newNotice(status.Scheduled, in.Name)
	if err != nil {
		return err
	}
	start, end := status.Milliseconds(in.Start).In(w.Page.Zone), status.Milliseconds(in.End).In(w.Page.Zone)
	if err := status.CheckTimes(start, end); err != nil {
		return err
	}
	state := status.State(orText(string(in.State), string(status.Planned)))
	switch {
	case state == status.Completed && end.After(w.At):
		return status.Refuse(status.BadInput, "a maintenance that was over cannot end in the future")
	case state == status.InProgress && start.After(w.At):
		return status.Refuse(status.BadInput, "a maintenance that goes on cannot begin in the future")
	case state != status.Completed && !end.After(w.At):
		return status.Refuse(status.BadInput, "the end, %s, has passed", end.Format(time.RFC3339))
	case in.RemindMinutes.Valid && in.RemindMinutes.V < 1:
		return status.Refuse(status.BadInput, "a reminder comes one minute or more before the start")
	case in.ImpactOverride.Valid && !in.ImpactOverride.V.Valid():
		return status.Refuse(status.BadInput, "%q is no impact", in.ImpactOverride.V)
	}
	n.ScheduledFor, n.ScheduledUntil, n.ImpactOverride = ledger.Of(start), ledger.Of(end), in.ImpactOverride
	n.AutoInProgress, n.AutoCompleted, n.RemindMinutes = in.AutoInProgress, in.AutoCompleted, in.RemindMinutes
	n.AutoMaintenanceState, n.AutoOperationalState = in.AutoMaintenanceState, in.AutoOperationalState
	n.NotifyAtStart, n.NotifyAtEnd = !in.SilentAtStart, !in.SilentAtEnd
	s := status.Saying{State: state, Body: in.Body, Deliver: !in.Silent}
	for _, c := range in.Components {
		s.Set = append(s.Set, status.Setting{Component: c, Status: status.Operational})
	}
	if state == status.Completed {
		n.Backfilled, s.At = true, end
	}
	var attached []*status.Attachment
	if state == status.InProgress { // those without a state of their own get that of maintenance
		b, err := w.board(ctx)
		if err != nil {
			return err
		}
		for _, set := range s.Set {
			c, err := b.Leaf(set.Component)
			if err != nil {
				return err
			}
			attached = append(attached, &status.Attachment{NoticeCode: n.Code, ComponentCode: c.Code})
		}
		s.Set = nil
	}
	effect, err := w.say(ctx, n, attached, s)
	if err != nil || state != status.Completed {
		return err
	}
	effect.Notice.CreatedAt, effect.Notice.StartedAt, effect.Notice.UpdatedAt = start, start, w.At
	return w.storeNotice(ctx, effect.Notice)
}

// MoveMaintenance takes a maintenance to a state, or says something more in the one that it is in. Where nothing is said, the page's own text is.
func (e *Editor) MoveMaintenance(ctx context.Context, by Author, code string, u NewUpdate) (string, error) {
	return e.editNotice(ctx, by, "maintenance.move", status.Scheduled, code, u.ExpectedVersion, func(ctx context.Context, w *writing, n *status.Notice, attached []*status.Attachment) error {
		s := u.saying()
		s.Body = orText(s.Body, w.eventText(s.State))
		_, err := w.say(ctx, n, attached, s)
		return err
	})
}

// eventText is what the page says when a maintenance gets to a state; empty where that is announced.
func (w *writing) eventText(s status.State) string {
	switch s {
	case status.InProgress:
		return w.Page.Text(status.MaintenanceStarted)
	case status.Verifying:
		return w.Page.Text(status.MaintenanceVerifying)
	case status.Completed:
		return w.Page.Text(status.MaintenanceCompleted)
	default:
		return ""
	}
}

// CancelMaintenance ends a maintenance that has not begun. Readers see that it is completed.
func (e *Editor) CancelMaintenance(ctx context.Context, by Author, code, body string, silent bool, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "maintenance.cancel", status.Scheduled, code, expectedVersion, func(ctx context.Context, w *writing, n *status.Notice, attached []*status.Attachment) error {
		if n.State != status.Planned {
			return status.Refuse(status.BadState, "a maintenance that is %s cannot be cancelled: complete it", n.State)
		}
		_, err := w.say(ctx, n, attached, status.Saying{State: status.Completed, Body: orText(body, w.Page.Text(status.MaintenanceCancelled)), Deliver: !silent})
		return err
	})
}

// RescheduleMaintenance moves a maintenance that has not begun, or the end of one that goes on. Where something is said, it is an update in the same state.
func (e *Editor) RescheduleMaintenance(ctx context.Context, by Author, code string, start, end time.Time, body string, silent bool, expectedVersion int64) (string, error) {
	return e.editNotice(ctx, by, "maintenance.reschedule", status.Scheduled, code, expectedVersion, func(ctx context.Context, w *writing, n *status.Notice, attached []*status.Attachment) error {
		after, err := status.Reschedule(n, start, end, w.At)
		if err != nil {
			return err
		}
		if body == "" {
			return w.storeNotice(ctx, after)
		}
		after.Version = n.Version // which the update raises
		_, err = w.say(ctx, after, attached, status.Saying{State: n.State, Body: body, Deliver: !silent})
		return err
	})
}

package statuspages

import (
	"context"
	"time"

	"heliograph/internal/domain/status"
)

// ScheduleMaintenance schedules a maintenance and returns its code.
func (e *Editor) ScheduleMaintenance(ctx context.Context, by Author, page string, in status.NewMaintenance) (string, error) {
	return e.addNotice(ctx, by, "maintenance.schedule", page, func(c *status.WorkingCopy) (*status.Effect, error) { return c.ScheduleMaintenance(in) })
}

// ScheduleSeries schedules a maintenance and repeats it, with the same duration, at further start times. It schedules all or none, and returns their codes.
func (e *Editor) ScheduleSeries(ctx context.Context, by Author, page string, in status.NewMaintenance, others []time.Time) ([]string, error) {
	if by.Key != "" && len(others) > 0 {
		return nil, status.Errorf(status.BadInput, "a series cannot have an idempotency key: it creates several maintenances")
	}
	var codes []string
	_, err := e.edit(ctx, command{by: by, name: "maintenance.schedule", page: page}, func(ctx context.Context, w *write) error {
		duration := in.End.Sub(in.Start)
		for i, start := range append([]time.Time{in.Start}, others...) {
			if i > 0 { // edit adds the audit entry of the last one
				w.audit()
			}
			one := in
			one.Start, one.End = start, start.Add(duration)
			if err := w.apply(ctx, func(c *status.WorkingCopy) (*status.Effect, error) { return c.ScheduleMaintenance(one) }); err != nil {
				return err
			}
			codes = append(codes, w.object)
		}
		return nil
	})
	return codes, err
}

// MoveMaintenance changes the state of a maintenance, or adds text in its current state.
func (e *Editor) MoveMaintenance(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return e.changeNotice(ctx, by, "maintenance.move", status.Scheduled, code, in.ExpectedVersion, with(in, (*status.WorkingCopy).MoveMaintenance))
}

// CancelMaintenance ends a maintenance that has not started. It is published as completed.
func (e *Editor) CancelMaintenance(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return e.changeNotice(ctx, by, "maintenance.cancel", status.Scheduled, code, in.ExpectedVersion, with(in, (*status.WorkingCopy).CancelMaintenance))
}

// RescheduleMaintenance moves a maintenance that has not started, or the end of one in progress. A body is published as an update in the current state.
func (e *Editor) RescheduleMaintenance(ctx context.Context, by Author, code string, in status.Reschedule) (string, error) {
	return e.changeNotice(ctx, by, "maintenance.reschedule", status.Scheduled, code, in.ExpectedVersion, with(in, (*status.WorkingCopy).RescheduleMaintenance))
}

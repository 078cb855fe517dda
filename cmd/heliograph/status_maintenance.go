package main

import (
	"cmp"
	"context"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

type statusMaintenanceCmd struct {
	Schedule   statusScheduleCmd   `cmd:"" help:"Schedule a maintenance."`
	Start      statusProgressCmd   `cmd:"" help:"Start a maintenance."`
	Verify     statusProgressCmd   `cmd:"" help:"Set a maintenance to verifying: the work is done and is being checked."`
	Complete   statusCompleteCmd   `cmd:"" help:"Complete a maintenance."`
	Cancel     statusCancelCmd     `cmd:"" help:"Cancel a maintenance that has not started."`
	Reschedule statusRescheduleCmd `cmd:"" help:"Change the times of a maintenance."`
	Note       statusProgressCmd   `cmd:"" help:"Add an update to a maintenance in its current status."`
	Rm         statusNoticeCmd     `cmd:"" help:"Delete an incident or a maintenance. It no longer affects its components."`
}

// timeFlags are the start and end, or the duration, of a maintenance.
type timeFlags struct {
	From  string        `required:"" help:"Start time: RFC 3339, or local time of the page."`
	Until string        `xor:"end" help:"End time."`
	For   time.Duration `xor:"end" help:"Duration, such as 40m."`
}

// times returns the start and the end.
func (f *timeFlags) times(s *session) (from, until time.Time, err error) {
	if from, err = s.time(f.From); err != nil {
		return from, until, err
	}
	switch {
	case f.Until != "":
		until, err = s.time(f.Until)
	case f.For > 0:
		until = from.Add(f.For)
	default:
		err = status.Errorf(status.BadInput, "the end is missing: use --until or --for")
	}
	return from, until, err
}

type statusScheduleCmd struct {
	Name            string   `help:"Title (default: the title of the template)."`
	Affect          []string `sep:"none" placeholder:"COMPONENT" help:"Affected component; can be repeated."`
	Status          string   `enum:"scheduled,in_progress,completed" default:"scheduled" help:"Status: scheduled, in_progress for work that has started, or completed for work that is over."`
	Impact          string   `help:"Impact: none, minor, major or critical (default: maintenance)."`
	AutoStart       bool     `default:"true" negatable:"" help:"Start automatically."`
	AutoEnd         bool     `default:"true" negatable:"" help:"Complete automatically."`
	AutoState       bool     `default:"true" negatable:"" help:"Set the components to under_maintenance while the maintenance is in progress."`
	AutoOperational bool     `default:"true" negatable:"" help:"End the effect on the components when the maintenance is completed."`
	Repeat          string   `placeholder:"RRULE" help:"Recurrence rule (RFC 5545), such as FREQ=WEEKLY;BYDAY=TU;COUNT=8. Occurrences have the same local time."`
	Remind          int32    `default:"60" help:"Minutes before the start at which a reminder is published; 0 for none."`
	timeFlags
	textFlags
}

func (c *statusScheduleCmd) run(ctx context.Context, s *session) error {
	text, err := c.text(ctx, s)
	if err != nil {
		return err
	}
	in := status.NewMaintenance{
		Name: cmp.Or(c.Name, text.title), Body: text.body, State: status.State(c.Status), ImpactOverride: ledger.NonZero(status.Impact(c.Impact)),
		AutoInProgress: c.AutoStart, AutoCompleted: c.AutoEnd, AutoMaintenanceState: c.AutoState, AutoOperationalState: c.AutoOperational,
		RemindMinutes: ledger.NonZero(c.Remind), Notify: ledger.Of(!c.Quiet),
	}
	if in.Start, in.End, err = c.times(s); err != nil {
		return err
	}
	for _, ref := range c.Affect {
		found, err := s.find(ctx, ref)
		if err != nil {
			return err
		}
		in.Components = append(in.Components, found.Code)
	}
	if c.Repeat != "" {
		return c.series(ctx, s, in)
	}
	return s.confirmNotice(ctx)(s.ScheduleMaintenance(ctx, s.by, s.page.Code, in))
}

// series schedules a recurring maintenance.
func (c *statusScheduleCmd) series(ctx context.Context, s *session, in status.NewMaintenance) error {
	if in.State != status.Planned {
		return status.Errorf(status.BadInput, "--repeat requires the status scheduled, not %s", in.State)
	}
	times, err := status.Occurrences(c.Repeat, in.Start)
	if err != nil {
		return err
	}
	codes, err := s.ScheduleSeries(ctx, s.by, s.page.Code, in, times[1:])
	if err != nil || s.DryRun {
		return err
	}
	found, err := s.db.NoticesByCode(ctx, status.Pages{s.page}, codes)
	if err != nil {
		return err
	}
	return s.listNotices(list.Map(codes, func(code string) *status.Notice { return found[code] }))
}

// statusProgressCmd are the commands that add an update to a maintenance: in a state, or in its current one.
type statusProgressCmd struct{ updateFlags }

func (c *statusProgressCmd) run(ctx context.Context, s *session) (err error) {
	state, given := map[string]status.State{"start": status.InProgress, "verify": status.Verifying}[s.name]
	if !given {
		if state, err = s.state(ctx, c.code()); err != nil {
			return err
		}
	}
	return c.write(ctx, s, state, false, s.MoveMaintenance)
}

type statusCompleteCmd struct {
	Keep bool `help:"Keep the statuses of the components."`
	updateFlags
}

func (c *statusCompleteCmd) run(ctx context.Context, s *session) error {
	return c.write(ctx, s, status.Completed, c.Keep, s.MoveMaintenance)
}

type statusCancelCmd struct {
	noticeFlags
	Body  string `help:"Text of the update (default: the text of the page)."`
	Quiet bool   `help:"Do not notify subscribers."`
}

func (c *statusCancelCmd) run(ctx context.Context, s *session) error {
	return s.confirmNotice(ctx)(s.CancelMaintenance(ctx, s.by, c.code(), status.NewUpdate{
		Body: c.Body, Notify: ledger.Of(!c.Quiet), ExpectedVersion: c.Expect,
	}))
}

type statusRescheduleCmd struct {
	noticeFlags
	timeFlags
	Body  string `help:"Text of an update (default: no update)."`
	Quiet bool   `help:"Do not notify subscribers."`
}

func (c *statusRescheduleCmd) run(ctx context.Context, s *session) error {
	from, until, err := c.times(s)
	if err != nil {
		return err
	}
	return s.confirmNotice(ctx)(s.RescheduleMaintenance(ctx, s.by, c.code(), status.Reschedule{
		Start: from, End: until, Body: c.Body, Notify: ledger.Of(!c.Quiet), ExpectedVersion: c.Expect,
	}))
}

package main

import (
	"context"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

type statusMaintenanceCmd struct {
	Schedule   statusScheduleCmd   `cmd:"" help:"Announce a maintenance."`
	Start      statusStartCmd      `cmd:"" help:"Begin a maintenance."`
	Verify     statusVerifyCmd     `cmd:"" help:"Say that the work is done and being checked."`
	Complete   statusCompleteCmd   `cmd:"" help:"End a maintenance."`
	Cancel     statusCancelCmd     `cmd:"" help:"Call a maintenance off that has not begun."`
	Reschedule statusRescheduleCmd `cmd:"" help:"Move a maintenance to other times."`
	Note       statusNoteCmd       `cmd:"" help:"Say something of a maintenance, as far as it is."`
	Rm         statusDeleteCmd     `cmd:"" help:"Take a notice off the page, and let go of its components."`
}

// timeFlags are the start and end, or the duration, of a maintenance.
type timeFlags struct {
	From  string        `required:"" help:"When it is to begin: RFC 3339, or the local time of the page."`
	Until string        `xor:"end" help:"When it is to end."`
	For   time.Duration `xor:"end" help:"How long it is to take, such as 40m."`
}

// times returns the start and the end.
func (f *timeFlags) times(n *newsroom) (from, until time.Time, err error) {
	if from, err = n.time(f.From); err != nil {
		return from, until, err
	}
	switch {
	case f.Until != "":
		until, err = n.time(f.Until)
	case f.For > 0:
		until = from.Add(f.For)
	default:
		err = status.Errorf(status.BadInput, "say when it ends: --until or --for")
	}
	return from, until, err
}

type statusScheduleCmd struct {
	Name            string   `help:"Its title."`
	Affect          []string `sep:"none" placeholder:"REF" help:"A component that it is about; repeatable."`
	Status          string   `enum:"scheduled,in_progress,completed" default:"scheduled" help:"How far it is: scheduled, in_progress for work that has begun, completed for what is over."`
	Impact          string   `help:"How bad it is, in place of maintenance: none, minor, major, critical."`
	AutoStart       bool     `default:"true" negatable:"" help:"Begin by itself."`
	AutoEnd         bool     `default:"true" negatable:"" help:"End by itself."`
	AutoState       bool     `default:"true" negatable:"" help:"Put its components under maintenance while it goes on."`
	AutoOperational bool     `default:"true" negatable:"" help:"Let go of its components when it ends."`
	Repeat          string   `placeholder:"RRULE" help:"Announce it again and again, at the same local time: a rule such as FREQ=WEEKLY;BYDAY=TU;COUNT=8."`
	Remind          int32    `default:"60" help:"Minutes before its beginning at which a reminder is published; 0 for none."`
	timeFlags
	textFlags
}

// Run schedules a maintenance.
func (c *statusScheduleCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		_, title, body, err := c.fill(ctx, n)
		if err != nil {
			return err
		}
		in := status.NewMaintenance{
			Name: c.Name, Body: body, State: status.State(c.Status), AutoInProgress: c.AutoStart, AutoCompleted: c.AutoEnd, AutoMaintenanceState: c.AutoState,
			AutoOperationalState: c.AutoOperational, RemindMinutes: ledger.Null[int32]{V: c.Remind, Valid: c.Remind != 0}, Silent: c.Quiet,
		}
		if in.Name == "" {
			in.Name = title
		}
		if c.Impact != "" {
			in.ImpactOverride = ledger.Of(status.Impact(c.Impact))
		}
		if in.Start, in.End, err = c.times(n); err != nil {
			return err
		}
		for _, ref := range c.Affect {
			found, err := n.find(ctx, ref)
			if err != nil {
				return err
			}
			in.Components = append(in.Components, found.Code)
		}
		if c.Repeat != "" {
			return c.series(ctx, n, in)
		}
		code, err := n.ScheduleMaintenance(ctx, n.by, n.page.Code, in)
		return n.confirmNotice(ctx, code, err)
	})
}

// series schedules a recurring maintenance.
func (c *statusScheduleCmd) series(ctx context.Context, n *newsroom, in status.NewMaintenance) error {
	if in.State != status.Planned {
		return status.Errorf(status.BadInput, "only what is scheduled is repeated")
	}
	times, err := status.Occurrences(c.Repeat, in.Start)
	if err != nil {
		return err
	}
	codes, err := n.ScheduleSeries(ctx, n.by, n.page.Code, in, times[1:])
	if err != nil || n.DryRun {
		return err
	}
	found, err := n.db.NoticesByCode(ctx, status.Pages{n.page}, codes)
	if err != nil {
		return err
	}
	return n.listNotices(list.Map(codes, func(code string) *status.Notice { return found[code] }))
}

// move changes the state of a maintenance.
func (f *sayFlags) move(ctx context.Context, s *statusSettings, state status.State, keep bool) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		u, err := f.update(ctx, n, state, keep)
		if err != nil {
			return err
		}
		code, err := n.MoveMaintenance(ctx, n.by, noticeCode(f.ID), u)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusStartCmd struct{ sayFlags }

// Run starts a maintenance.
func (c *statusStartCmd) Run(ctx context.Context, s *statusSettings) error {
	return c.move(ctx, s, status.InProgress, false)
}

type statusVerifyCmd struct{ sayFlags }

// Run moves a maintenance to the state verifying.
func (c *statusVerifyCmd) Run(ctx context.Context, s *statusSettings) error {
	return c.move(ctx, s, status.Verifying, false)
}

type statusCompleteCmd struct {
	Keep bool `help:"Leave the components as they are."`
	sayFlags
}

// Run completes a maintenance.
func (c *statusCompleteCmd) Run(ctx context.Context, s *statusSettings) error {
	return c.move(ctx, s, status.Completed, c.Keep)
}

type statusNoteCmd struct{ sayFlags }

// Run adds an update to a maintenance.
func (c *statusNoteCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		state, err := n.state(ctx, noticeCode(c.ID))
		if err != nil {
			return err
		}
		u, err := c.update(ctx, n, state, false)
		if err != nil {
			return err
		}
		code, err := n.MoveMaintenance(ctx, n.by, noticeCode(c.ID), u)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusCancelCmd struct {
	noticeFlags
	Body  string `help:"What is said (default: the text of the page)."`
	Quiet bool   `help:"Tell no subscribers."`
}

// Run cancels a maintenance.
func (c *statusCancelCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code, err := n.CancelMaintenance(ctx, n.by, noticeCode(c.ID), c.Body, c.Quiet, c.Expect)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusRescheduleCmd struct {
	noticeFlags
	timeFlags
	Body  string `help:"What is said (default: nothing)."`
	Quiet bool   `help:"Tell no subscribers."`
}

// Run reschedules a maintenance.
func (c *statusRescheduleCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		from, until, err := c.times(n)
		if err != nil {
			return err
		}
		code, err := n.RescheduleMaintenance(ctx, n.by, noticeCode(c.ID), from, until, c.Body, c.Quiet, c.Expect)
		return n.confirmNotice(ctx, code, err)
	})
}

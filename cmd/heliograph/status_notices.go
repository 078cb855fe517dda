package main

import (
	"cmp"
	"context"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

type statusIncidentCmd struct {
	Open       statusOpenCmd       `cmd:"" help:"Open an incident."`
	Update     statusUpdateCmd     `cmd:"" help:"Add an update to an open incident."`
	Resolve    statusEndCmd        `cmd:"" help:"Resolve an incident. It no longer affects its components."`
	Reopen     statusReopenCmd     `cmd:"" help:"Reopen a resolved incident."`
	Postmortem statusPostmortemCmd `cmd:"" help:"Publish the postmortem of a resolved incident."`
	Backfill   statusBackfillCmd   `cmd:"" help:"Publish an incident that is over. Components do not change."`
	Edit       statusEditCmd       `cmd:"" help:"Edit an incident, a maintenance or an update, without a new update."`
	Publish    statusNoticeCmd     `cmd:"" help:"Publish a draft."`
	Discard    statusNoticeCmd     `cmd:"" help:"Delete a draft."`
	Rm         statusNoticeCmd     `cmd:"" help:"Delete an incident or a maintenance. It no longer affects its components."`
}

// textFlags are the flags for the text of an update: a body, or a template with its values.
type textFlags struct {
	Body     string            `help:"Text of the update."`
	Template string            `help:"Name of a template for the text. Its values are the arguments KEY=VALUE."`
	Quiet    bool              `help:"Do not notify subscribers."`
	Values   map[string]string `arg:"" optional:"" help:"Values of the template, as KEY=VALUE."`
}

// text returns the text of an update from the flags, or from a template of the page with its values filled in, which
// it reads from the database. Title and state are those of the template, if one is used. Errors go to [session.fail].
func (f *textFlags) text(ctx context.Context, s *session) (text status.Template) {
	s.fail(cmp.Or(
		status.FailIf(f.Template == "" && len(f.Values) > 0, status.BadInput, "a value KEY=VALUE requires --template"),
		status.FailIf(f.Template != "" && f.Body != "", status.BadInput, "--body and --template cannot be combined")))
	if f.Template == "" {
		return status.Template{Body: f.Body}
	}
	all, err := s.db.Templates(ctx, s.page.Code)
	t := list.Find(all, func(t *status.Template) bool { return t.Name == f.Template })
	if err != nil || t == nil {
		s.fail(cmp.Or(err, status.Errorf(status.NotFound, "template %s does not exist", f.Template)))
		return text
	}
	text = *t
	text.Title, text.Body, err = t.Fill(f.Values)
	s.fail(err)
	return text
}

type statusOpenCmd struct {
	Name      string   `help:"Title (default: the title of the template)."`
	Status    string   `help:"Status: investigating, identified or monitoring (default: that of the template, or investigating)."`
	Affect    []string `sep:"none" placeholder:"COMPONENT=STATUS" help:"Component and its status, such as Mainnet/API=partial_outage; can be repeated."`
	Impact    string   `help:"Impact: none, minor, major or critical (default: computed from the component statuses)."`
	Started   string   `help:"Start time (default: now)."`
	Reminders string   `help:"Times at which editors are reminded, as a JSON list of hours after the start, such as [3, 6, 12] (default: none)."`
	Draft     bool     `help:"Create a draft, which is not public until it is published."`
	textFlags
}

// run opens an incident on the page in the database of status pages, with an entry in the audit log and, without
// --quiet and --draft, messages for webhooks, and prints it. A template, if given, has the defaults of name, text and
// state. An invalid argument goes to s.err, and then nothing is written.
func (c *statusOpenCmd) run(ctx context.Context, s *session) error {
	text := c.text(ctx, s)
	return write(ctx, s, s.page.Code, status.NewIncident{
		Name: cmp.Or(c.Name, text.Title), Body: text.Body, State: cmp.Or(status.State(c.Status), text.State),
		Notify: ledger.Of(!c.Quiet), Draft: c.Draft, Affected: s.affected(ctx, c.Affect),
		ImpactOverride: ledger.NonZero(status.Impact(c.Impact)), Reminders: ledger.NonZero(c.Reminders),
		StartedAt: s.optionalTime(c.Started),
	}, s.OpenIncident, s.showNotice)
}

type noticeFlags struct {
	ID     string `arg:"" help:"ID or link of the incident or maintenance."`
	Expect int64  `help:"Expected version. The command fails if the current version differs (default: any version)."`
}

// code returns the code of the notice that the argument identifies.
func (f *noticeFlags) code() string { return noticeCode(f.ID) }

type updateFlags struct {
	noticeFlags
	Affect []string `sep:"none" placeholder:"COMPONENT=STATUS" help:"Component and its status; can be repeated."`
	At     string   `help:"Date of the update (default: now)."`
	textFlags
}

// add writes the update that the flags describe to a notice with do and prints the notice. do also writes an entry of
// the audit log and, without --quiet, messages for webhooks. An empty state is the current one, or for the command
// update that of the template if one is used. If the update ends the notice, keep leaves the components in the
// statuses that it has given them; otherwise keep has no effect. An invalid argument goes to s.err, and then nothing
// is written.
func (f *updateFlags) add(ctx context.Context, s *session, state status.State, keep bool,
	do func(context.Context, statuspages.Author, string, status.NewUpdate) (string, error),
) error {
	text := f.text(ctx, s)
	if s.name == "update" {
		state = cmp.Or(state, text.State)
	}
	return write(ctx, s, f.code(), status.NewUpdate{
		State: state, Body: text.Body, Keep: keep, Notify: ledger.Of(!f.Quiet), ExpectedVersion: f.Expect,
		Affected: s.affected(ctx, f.Affect), DisplayAt: s.optionalTime(f.At),
	}, do, s.showNotice)
}

type statusUpdateCmd struct {
	Status string `help:"New status: investigating, identified or monitoring (default: that of the template, or the current one)."`
	updateFlags
}

// run adds an update to an incident in the database of status pages, with an entry in the audit log and, without
// --quiet, messages for webhooks, and prints the incident. keep is false: it has no effect on a notice that stays
// open. An invalid argument goes to s.err, and then nothing is written.
func (c *statusUpdateCmd) run(ctx context.Context, s *session) error {
	return c.add(ctx, s, status.State(c.Status), false, s.UpdateIncident)
}

// statusEndCmd are the commands that end an incident or a maintenance.
type statusEndCmd struct {
	Keep bool `help:"Keep the statuses of the components."`
	updateFlags
}

// run adds the last update of an incident or, as the command complete, of a maintenance, in the database of status
// pages, with an entry in the audit log and, without --quiet, messages for webhooks, and prints the notice. Without a
// body and a template, the update has the text of the page. An invalid argument goes to s.err, and then nothing is
// written.
func (c *statusEndCmd) run(ctx context.Context, s *session) error {
	if s.name == "complete" {
		return c.add(ctx, s, status.Completed, c.Keep, s.MoveMaintenance)
	}
	if c.Body == "" && c.Template == "" {
		c.Body = s.page.Text(status.IncidentResolved)
	}
	return c.add(ctx, s, status.Resolved, c.Keep, s.UpdateIncident)
}

type statusReopenCmd struct {
	Status string `default:"investigating" help:"New status: investigating, identified or monitoring."`
	updateFlags
}

// run opens a resolved incident again with an update, in the database of status pages, with an entry in the audit log
// and, without --quiet, messages for webhooks, and prints it. keep is false: it has no effect on a notice that stays
// open. An invalid argument goes to s.err, and then nothing is written.
func (c *statusReopenCmd) run(ctx context.Context, s *session) error {
	return c.add(ctx, s, status.State(c.Status), false, s.ReopenIncident)
}

type statusPostmortemCmd struct {
	noticeFlags
	Body  string `required:"" help:"Text of the postmortem."`
	Quiet bool   `help:"Do not notify subscribers."`
}

// run publishes the postmortem of an incident in the database of status pages, in place of an earlier one, with an
// entry in the audit log, and prints the incident. A new one without --quiet adds messages for webhooks. It fails if
// the incident is not resolved, or its version is not that of --expect.
func (c *statusPostmortemCmd) run(ctx context.Context, s *session) error {
	return write(ctx, s, c.code(), status.NewUpdate{
		Body: c.Body, Notify: ledger.Of(!c.Quiet), ExpectedVersion: c.Expect,
	}, s.PublishPostmortem, s.showNotice)
}

type statusBackfillCmd struct {
	Name       string   `required:"" help:"Title."`
	Body       string   `required:"" help:"Text of the first update."`
	Resolution string   `help:"Text of the last update (default: the text of the page)."`
	From       string   `required:"" help:"Start time."`
	Until      string   `required:"" help:"End time."`
	Affect     []string `sep:"none" placeholder:"COMPONENT=STATUS" help:"Component and its status during the incident; can be repeated."`
	Impact     string   `help:"Impact: none, minor, major or critical (default: computed from the component statuses)."`
	Quiet      bool     `help:"Do not notify subscribers."`
}

// run writes an incident of the past with its beginning and end to the page in the database of status pages, with an
// entry in the audit log, and prints it. Components do not change, and there are no messages for webhooks. An invalid
// argument goes to s.err, and then nothing is written.
func (c *statusBackfillCmd) run(ctx context.Context, s *session) error {
	return write(ctx, s, s.page.Code, status.NewIncident{
		Name: c.Name, Body: c.Body, Resolution: c.Resolution, Backfill: true, Notify: ledger.Of(!c.Quiet),
		ImpactOverride: ledger.NonZero(status.Impact(c.Impact)), Affected: s.affected(ctx, c.Affect),
		StartedAt: s.optionalTime(c.From), ResolvedAt: s.optionalTime(c.Until),
	}, s.OpenIncident, s.showNotice)
}

type statusEditCmd struct {
	noticeFlags
	Name      *string `help:"New title."`
	Impact    *string `help:"New impact; empty to compute it from the component statuses."`
	Reminders *string `help:"New times at which editors are reminded, as a JSON list of hours; empty for none."`
	Update    string  `help:"ID of the update to edit with --body and --at."`
	Body      *string `help:"New text of the update."`
	At        string  `help:"New date of the update."`
}

// run changes the given properties of a notice, or with --update the text and time of one of its updates, in the
// database of status pages, with an entry in the audit log, and prints the notice. An invalid argument goes to s.err,
// and then nothing is written.
func (c *statusEditCmd) run(ctx context.Context, s *session) error {
	ofNotice, ofUpdate := c.Name != nil || c.Impact != nil || c.Reminders != nil, c.Body != nil || c.At != ""
	s.fail(cmp.Or(status.FailIf(c.Update == "" && ofUpdate, status.BadInput,
		"--body and --at require --update, the id of the update to edit"),
		status.FailIf(c.Update != "" && ofNotice, status.BadInput,
			"--update cannot be combined with --name, --impact or --reminders: use two commands")))
	if c.Update == "" {
		return write(ctx, s, c.code(), status.NoticeEdit{
			Name: ledger.FromPointer(c.Name), ImpactOverride: ledger.FromPointer((*status.Impact)(c.Impact)),
			Reminders: ledger.FromPointer(c.Reminders), ExpectedVersion: c.Expect,
		}, s.EditNotice, s.showNotice)
	}
	return write(ctx, s, c.Update, status.UpdateEdit{
		Body: ledger.FromPointer(c.Body), DisplayAt: s.optionalTime(c.At),
	}, s.EditUpdate, func(ctx context.Context, _ string) error { return s.showNotice(ctx, c.code()) })
}

// statusNoticeCmd are the commands that need only a notice.
type statusNoticeCmd struct{ noticeFlags }

// run runs the commands publish, discard and rm on a notice in the database of status pages, with an entry in the
// audit log, and prints its state or that it was deleted. A published draft, unless it was opened with --quiet, and
// changed statuses of components add messages for webhooks. It fails if the notice does not exist, has not the version
// of --expect, or for the first two is not a draft.
func (c *statusNoticeCmd) run(ctx context.Context, s *session) error {
	do := map[string]func(context.Context, statuspages.Author, string, status.VersionInput) (string, error){
		"publish": s.PublishDraft, "discard": s.DiscardDraft, "rm": s.DeleteNotice,
	}[s.name]
	return write(ctx, s, c.code(), status.VersionInput{ExpectedVersion: c.Expect}, do, s.showNotice)
}

type statusMaintenanceCmd struct {
	Schedule   statusScheduleCmd   `cmd:"" help:"Schedule a maintenance."`
	Start      statusProgressCmd   `cmd:"" help:"Start a maintenance."`
	Verify     statusProgressCmd   `cmd:"" help:"Set a maintenance to verifying: the work is done and is being checked."`
	Complete   statusEndCmd        `cmd:"" help:"Complete a maintenance."`
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

// times returns the start and the end of a maintenance from the flags: --until, else --for after the start. If one is
// missing or invalid, the error goes to [session.fail], with which the write of the command fails, and the times are
// not valid. It does not check that the end is after the start. The session must have a page.
func (f *timeFlags) times(s *session) (from, until time.Time) {
	from = s.time(f.From)
	switch {
	case f.Until != "":
		until = s.time(f.Until)
	case f.For != 0:
		until = from.Add(f.For)
	default:
		s.fail(status.Errorf(status.BadInput, "the end is missing: use --until or --for"))
	}
	return from, until
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

// run writes a maintenance or, with --repeat, all maintenances of a series to the page in the database of status
// pages, with entries in the audit log and, without --quiet, messages for webhooks, and prints them. An invalid
// argument goes to s.err, and then nothing is written.
func (c *statusScheduleCmd) run(ctx context.Context, s *session) error {
	text := c.text(ctx, s)
	from, until := c.times(s)
	in := status.NewMaintenance{
		Name: cmp.Or(c.Name, text.Title), Body: text.Body, State: status.State(c.Status), Start: from, End: until,
		ImpactOverride: ledger.NonZero(status.Impact(c.Impact)),
		AutoInProgress: c.AutoStart, AutoCompleted: c.AutoEnd, AutoMaintenanceState: c.AutoState,
		AutoOperationalState: c.AutoOperational, RemindMinutes: ledger.NonZero(c.Remind),
		Notify: ledger.Of(!c.Quiet), Components: s.codes(ctx, c.Affect),
	}
	if c.Repeat != "" {
		return c.series(ctx, s, in)
	}
	return write(ctx, s, s.page.Code, in, s.ScheduleMaintenance, s.showNotice)
}

// series writes all maintenances of a series in one transaction, with entries in the audit log and messages for
// webhooks, and prints them. In a dry run, the editor rolls that back, and it prints none. It fails, and writes
// nothing, if an argument before was invalid, the state is not scheduled, or the recurrence rule is invalid.
func (c *statusScheduleCmd) series(ctx context.Context, s *session, in status.NewMaintenance) error {
	times, err := status.Occurrences(c.Repeat, in.Start)
	err = cmp.Or(s.err, status.FailIf(in.State != status.Planned, status.BadInput,
		"--repeat requires the status scheduled, not %s", in.State), err)
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

// run starts or verifies a maintenance with an update or, as the command note, adds an update in its current state, in
// the database of status pages, with an entry in the audit log and, without --quiet, messages for webhooks, and prints
// it. keep is false: it has no effect on a notice that stays open. An invalid argument goes to s.err, and then nothing
// is written.
func (c *statusProgressCmd) run(ctx context.Context, s *session) error {
	state := map[string]status.State{"start": status.InProgress, "verify": status.Verifying}[s.name]
	return c.add(ctx, s, state, false, s.MoveMaintenance)
}

type statusCancelCmd struct {
	noticeFlags
	Body  string `help:"Text of the update (default: the text of the page)."`
	Quiet bool   `help:"Do not notify subscribers."`
}

// run cancels a maintenance with an update in the database of status pages, with an entry in the audit log and,
// without --quiet, messages for webhooks, and prints it. Without a body, the update has the text of the page. It fails
// if the maintenance has started, or its version is not that of --expect.
func (c *statusCancelCmd) run(ctx context.Context, s *session) error {
	return write(ctx, s, c.code(), status.NewUpdate{
		Body: c.Body, Notify: ledger.Of(!c.Quiet), ExpectedVersion: c.Expect,
	}, s.CancelMaintenance, s.showNotice)
}

type statusRescheduleCmd struct {
	noticeFlags
	timeFlags
	Body  string `help:"Text of an update (default: no update)."`
	Quiet bool   `help:"Do not notify subscribers."`
}

// run changes begin and end of a maintenance in the database of status pages, with an entry in the audit log, and
// prints it. A body adds an update and, without --quiet, messages for webhooks. An invalid argument goes to s.err, and
// then nothing is written.
func (c *statusRescheduleCmd) run(ctx context.Context, s *session) error {
	from, until := c.times(s)
	return write(ctx, s, c.code(), status.Reschedule{
		Start: from, End: until, Body: c.Body, Notify: ledger.Of(!c.Quiet), ExpectedVersion: c.Expect,
	}, s.RescheduleMaintenance, s.showNotice)
}

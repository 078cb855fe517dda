package statuspages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/status"
)

// OpenIncident opens an incident on a page, changes its components, and returns the code of the incident. The rules
// are those of [status.WorkingCopy.OpenIncident]. It fails with [status.NotFound] if the page or a component does not
// exist, and with [status.BadInput] for invalid input. It is one transaction, which also writes the audit log and
// messages for webhooks, and raises the page's revision.
func (e *Editor) OpenIncident(ctx context.Context, by Author, page string, in status.NewIncident) (string, error) {
	return e.addNotice(ctx, by, "incident.open", page, func(c *status.WorkingCopy) (*status.Effect, error) {
		return c.OpenIncident(in)
	})
}

// UpdateIncident adds an update to an incident that is not over, or resolves it, and returns the code of the incident.
// An empty state is the current one, and [status.Postmortem] publishes the postmortem. An incident that does not exist
// fails with [status.NotFound], invalid input with [status.BadInput], a draft with [status.BadState], an impossible
// transition with a [*status.TransitionError], and an in.ExpectedVersion that is neither 0 nor the current version
// with [status.Conflict]. It is one transaction, which also writes the audit log and messages for webhooks, and raises
// the page's revision.
func (e *Editor) UpdateIncident(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return changeNotice(ctx, e, by, "incident.update", status.Realtime, code, in.ExpectedVersion, in,
		(*status.WorkingCopy).UpdateIncident)
}

// ReopenIncident reopens an incident that is over with an update, and returns the code of the incident. It fails with
// [status.NotFound] if the incident does not exist, with a [*status.TransitionError] if it is not over, with
// [status.BadInput] for invalid input, and with [status.Conflict] if in.ExpectedVersion is neither 0 nor the current
// version. It is one transaction, which also writes the audit log and messages for webhooks, and raises the page's
// revision.
func (e *Editor) ReopenIncident(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return changeNotice(ctx, e, by, "incident.reopen", status.Realtime, code, in.ExpectedVersion, in,
		(*status.WorkingCopy).ReopenIncident)
}

// PublishPostmortem adds the postmortem to a resolved incident, or replaces it, and returns the code of the incident.
// It fails with [status.NotFound] if the incident does not exist, with a [*status.TransitionError] if it is not
// resolved, with [status.BadInput] for an empty text, and with [status.Conflict] if in.ExpectedVersion is neither 0
// nor the current version. It is one transaction, which also writes the audit log and messages for webhooks, and
// raises the page's revision.
func (e *Editor) PublishPostmortem(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return changeNotice(ctx, e, by, "incident.postmortem", status.Realtime, code, in.ExpectedVersion, in,
		(*status.WorkingCopy).PublishPostmortem)
}

// PublishDraft publishes a draft and returns its code. The update is dated now, and sets the components to the
// statuses that it states. It fails with [status.NotFound] if the incident does not exist, with [status.BadState] if
// it is not a draft, and with [status.Conflict] if in.ExpectedVersion is neither 0 nor the current version. It is one
// transaction, which also writes the audit log and messages for webhooks, and raises the page's revision.
func (e *Editor) PublishDraft(ctx context.Context, by Author, code string, in status.VersionInput) (string, error) {
	return changeNotice(ctx, e, by, "incident.publish", status.Realtime, code, in.ExpectedVersion, in,
		(*status.WorkingCopy).PublishDraft)
}

// DiscardDraft marks a draft as deleted and returns its code. It fails with [status.NotFound] if the incident does not
// exist, with [status.BadState] if it is published, and with [status.Conflict] if in.ExpectedVersion is neither 0 nor
// the current version. It is one transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) DiscardDraft(ctx context.Context, by Author, code string, in status.VersionInput) (string, error) {
	return e.editNotice(ctx, by, "incident.discard", status.Realtime, code, in.ExpectedVersion,
		func(ctx context.Context, tx *commandTx, s status.NoticeState) error {
			err := status.CheckDraft(s.Notice)
			if err != nil {
				return err
			}
			tx.deleteNotice(code)
			return nil
		})
}

// deleteNotice queues in the transaction the statement that marks a notice as deleted. Its rows remain.
func (tx *commandTx) deleteNotice(code string) {
	tx.queue(`update status.incident set deleted_at = $2, updated_at = $2, version = version + 1 where id = $1`, code,
		tx.At)
}

// EditUpdate changes the text or the date of an update, and returns the code of the update. It fails with
// [status.NotFound] if the update does not exist, and with [status.BadInput] for an empty text, a date in the future,
// and a date of a postmortem. It is one transaction, which also writes the audit log and raises the page's revision.
func (e *Editor) EditUpdate(ctx context.Context, by Author, update string, edit status.UpdateEdit) (string, error) {
	notice, err := readValue[string](ctx, e.db, `select incident_id from status.incident_update where id = $1`, update)
	err = cmp.Or(err, status.FailIf(notice == "", status.NotFound, "update %s does not exist", update))
	if err != nil {
		return "", explainWrite(err)
	}
	return e.editNotice(ctx, by, "update.edit", "", notice, 0,
		func(ctx context.Context, tx *commandTx, s status.NoticeState) error {
			_, err := tx.target(ctx, updateTable, byID, update)
			if err != nil {
				return err
			}
			n, u, err := tx.emptyCopy().EditUpdate(s, update, edit)
			if err != nil {
				return err
			}
			tx.statements.WriteNotice(n)
			tx.queue(
				`update status.incident_update set body = $2, display_at = $3, updated_at = $4, revision = default
where id = $1`,
				update, u.Body, u.DisplayAt.Pointer(), u.UpdatedAt)
			return nil
		})
}

// EditNotice changes the name, impact or settings of an incident or a maintenance without an update, and returns its
// code. It fails with [status.NotFound] if it does not exist, with [status.BadInput] for invalid settings, and with
// [status.Conflict] if edit.ExpectedVersion is neither 0 nor the current version. It is one transaction, which also
// writes the audit log and raises the page's revision.
func (e *Editor) EditNotice(ctx context.Context, by Author, code string, edit status.NoticeEdit) (string, error) {
	return e.editNotice(ctx, by, "notice.edit", "", code, edit.ExpectedVersion,
		func(ctx context.Context, tx *commandTx, s status.NoticeState) error {
			given, err := read(ctx, e.db, value[status.ComponentStatus], nil,
				`select distinct c.new_status::text from status.update_component c
join status.incident_update u on u.id = c.update_id where u.incident_id = $1`, code)
			if err != nil {
				return err
			}
			statuses := list.Map(given, func(s *status.ComponentStatus) status.ComponentStatus { return *s })
			n, err := tx.emptyCopy().EditNotice(s.Notice, edit, statuses)
			if err != nil {
				return err
			}
			tx.statements.WriteNotice(n)
			return nil
		})
}

// DeleteNotice marks an incident or a maintenance as deleted, releases its components, and returns its code. It fails
// with [status.NotFound] if it does not exist, and with [status.Conflict] if in.ExpectedVersion is neither 0 nor the
// current version. It is one transaction, which also writes the audit log and messages for webhooks, and raises the
// page's revision.
func (e *Editor) DeleteNotice(ctx context.Context, by Author, code string, in status.VersionInput) (string, error) {
	return e.editNotice(ctx, by, "notice.delete", "", code, in.ExpectedVersion,
		func(ctx context.Context, tx *commandTx, _ status.NoticeState) error {
			c, err := tx.workingCopy(ctx)
			if err != nil {
				return err
			}
			tx.queue(`update status.incident_component set held_status = null where incident_id = $1`, code)
			tx.insertChanges(c.Release(code))
			tx.deleteNotice(code)
			return nil
		})
}

// ScheduleMaintenance schedules a maintenance on a page and returns its code. The rules are those of
// [status.WorkingCopy.ScheduleMaintenance]. It fails with [status.NotFound] if the page or a component does not exist,
// and with [status.BadInput] for invalid times and settings. It is one transaction, which also writes the audit log
// and messages for webhooks, and raises the page's revision.
func (e *Editor) ScheduleMaintenance(
	ctx context.Context, by Author, page string, in status.NewMaintenance,
) (string, error) {
	return e.addNotice(ctx, by, "maintenance.schedule", page, func(c *status.WorkingCopy) (*status.Effect, error) {
		return c.ScheduleMaintenance(in)
	})
}

// ScheduleSeries schedules a maintenance and repeats it, with the same duration, at further start times. It schedules
// all or none, in one transaction, which also writes an audit entry and messages for webhooks for each, and raises the
// page's revision. It returns their codes. It fails as [Editor.ScheduleMaintenance] does, and with [status.BadInput]
// for a series with an idempotency key. With an error, none is scheduled, and the codes are not valid.
func (e *Editor) ScheduleSeries(
	ctx context.Context, by Author, page string, in status.NewMaintenance, others []time.Time,
) ([]string, error) {
	if by.Key != "" && len(others) > 0 {
		return nil, status.Errorf(status.BadInput,
			"a series cannot have an idempotency key: it creates several maintenances")
	}
	var codes []string
	_, err := e.edit(ctx, by, "maintenance.schedule", page,
		func(ctx context.Context, tx *commandTx) error {
			duration := in.End.Sub(in.Start)
			for i, start := range append([]time.Time{in.Start}, others...) {
				if i > 0 { // edit adds the audit entry of the last one
					tx.audit()
				}
				one := in
				one.Start, one.End = start, start.Add(duration)
				err := tx.storeNotice(ctx, func(c *status.WorkingCopy) (*status.Effect, error) {
					return c.ScheduleMaintenance(one)
				})
				if err != nil {
					return err
				}
				codes = append(codes, tx.object)
			}
			return nil
		})
	return codes, err
}

// MoveMaintenance changes the state of a maintenance, or adds text in its current state, and returns its code. It
// fails with [status.NotFound] if the maintenance does not exist, with a [*status.TransitionError] for an impossible
// transition, with [status.BadInput] for invalid input, and with [status.Conflict] if in.ExpectedVersion is neither 0
// nor the current version. It is one transaction, which also writes the audit log and messages for webhooks, and
// raises the page's revision.
func (e *Editor) MoveMaintenance(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return changeNotice(ctx, e, by, "maintenance.move", status.Scheduled, code, in.ExpectedVersion, in,
		(*status.WorkingCopy).MoveMaintenance)
}

// CancelMaintenance ends a maintenance that has not started and returns its code. It is published as completed. It
// fails with [status.NotFound] if the maintenance does not exist, with [status.BadState] if it has started, and with
// [status.Conflict] if in.ExpectedVersion is neither 0 nor the current version. It is one transaction, which also
// writes the audit log and messages for webhooks, and raises the page's revision.
func (e *Editor) CancelMaintenance(ctx context.Context, by Author, code string, in status.NewUpdate) (string, error) {
	return changeNotice(ctx, e, by, "maintenance.cancel", status.Scheduled, code, in.ExpectedVersion, in,
		(*status.WorkingCopy).CancelMaintenance)
}

// RescheduleMaintenance moves a maintenance that has not started, or the end of one in progress, and returns its code.
// A body is published as an update in the current state. It fails with [status.NotFound] if the maintenance does not
// exist, with [status.BadInput] for an end that is not after the start, with [status.BadState] for another start of
// one in progress, with a [*status.TransitionError] if it is over, and with [status.Conflict] if in.ExpectedVersion is
// neither 0 nor the current version. It is one transaction, which also writes the audit log and messages for webhooks,
// and raises the page's revision.
func (e *Editor) RescheduleMaintenance(
	ctx context.Context, by Author, code string, in status.Reschedule,
) (string, error) {
	return changeNotice(ctx, e, by, "maintenance.reschedule", status.Scheduled, code, in.ExpectedVersion, in,
		(*status.WorkingCopy).RescheduleMaintenance)
}

// addNotice runs a command that creates a notice on a page and returns its code. name is the action in the audit log.
// add computes what is written, from the components of the page; its error ends the command.
func (e *Editor) addNotice(
	ctx context.Context, by Author, name, page string, add func(*status.WorkingCopy) (*status.Effect, error),
) (string, error) {
	return e.edit(ctx, by, name, page, func(ctx context.Context, tx *commandTx) error {
		return tx.storeNotice(ctx, add)
	})
}

// storeNotice reads the components of the page in the transaction, and queues the statements that write the effect
// that compute returns for its current state. If compute fails, it queues nothing and returns that error.
func (tx *commandTx) storeNotice(
	ctx context.Context, compute func(*status.WorkingCopy) (*status.Effect, error),
) error {
	c, err := tx.workingCopy(ctx)
	if err != nil {
		return err
	}
	effect, err := compute(c)
	if err != nil {
		return err
	}
	tx.store(effect)
	return nil
}

// changeNotice writes to a notice what change returns for an input, and returns the code of the notice. name is the
// action in the audit log, and k the kind that the notice must have, otherwise it fails with [status.NotFound]. It
// fails with [status.Conflict] unless expected is 0 or the current version. An error of change ends the write.
func changeNotice[T any](ctx context.Context, e *Editor, by Author, name string, k status.Kind, code string,
	expected int64, in T, change func(*status.WorkingCopy, status.NoticeState, T) (*status.Effect, error),
) (string, error) {
	return e.editNotice(ctx, by, name, k, code, expected,
		func(ctx context.Context, tx *commandTx, s status.NoticeState) error {
			return tx.storeNotice(ctx, func(c *status.WorkingCopy) (*status.Effect, error) { return change(c, s, in) })
		})
}

// editNotice runs do with a locked notice of a kind, or of any kind if k is empty, in one transaction, in the audit
// log as the action name, and returns the code of the notice. It fails with [status.NotFound] for other kinds, and
// with [status.Conflict] unless expected is 0 or the current version.
func (e *Editor) editNotice(ctx context.Context, by Author, name string, k status.Kind, code string, expected int64,
	do func(ctx context.Context, tx *commandTx, s status.NoticeState) error,
) (string, error) {
	what := cmp.Or(map[status.Kind]string{status.Realtime: "incident", status.Scheduled: "maintenance"}[k], "notice")
	return e.editRow(ctx, by, name, noticeTable, what, code, func(ctx context.Context, tx *commandTx) error {
		s, err := tx.notice(ctx, what, code)
		if err != nil {
			return err
		}
		err = cmp.Or(
			status.FailIf(k != "" && s.Notice.Kind != k, status.NotFound, "%s %s does not exist", what, code),
			status.CheckVersion(s.Notice.Name, expected, s.Notice.Version))
		if err != nil {
			return err
		}
		return do(ctx, tx, s)
	})
}

// DueAction is an action that [Editor.RunDue] performed.
type DueAction struct {
	Notice *status.Notice // before the action
	Due    status.Due
}

// maxDue is the maximum number of actions that can be due for a notice at once: a start and an end.
const maxDue = 2

// RunDue performs the actions that are due on all pages: it starts and completes maintenances, publishes their
// reminders, and records reminders of incidents. Missed actions follow in order. Each is a write of its own, which
// happens once even if several gateways call RunDue. It returns the actions that it performed, also with an error: an
// error of one notice does not affect the others. Actions that follow another one wait for the next call after an
// error.
func (e *Editor) RunDue(ctx context.Context) ([]DueAction, error) {
	var done []DueAction
	var failed []error
	for range maxDue + 1 {
		list, err := e.due(ctx)
		if err != nil {
			return done, errors.Join(append(failed, err)...)
		}
		before := len(done)
		for _, n := range list {
			action, err := e.runDue(ctx, n)
			if err != nil {
				failed = append(failed, fmt.Errorf("running what is due for %s: %w", n.Code, err))
			} else if action != nil {
				done = append(done, *action)
			}
		}
		if len(done) == before || len(failed) > 0 {
			break
		}
	}
	return done, errors.Join(failed...)
}

// due reads the notices for which an action is due, earliest first. Drafts are excluded, and mirrors too, since they
// follow their sources.
func (e *Editor) due(ctx context.Context) ([]*status.Notice, error) {
	now := e.now()
	list, err := read(ctx, e.db, noticeTargets, nil,
		`select `+noticeColumns+` from status.incident n join status.page p on p.id = n.page_id and p.mode <> 'mirror'
where n.deleted_at is null and not n.draft and (
  n.state = 'scheduled' and (n.auto_in_progress or n.remind_minutes is not null)
  or n.state in ('in_progress', 'verifying') and n.auto_completed
  or n.state in ('investigating', 'identified', 'monitoring') and n.reminder_intervals is not null)
order by coalesce(n.scheduled_for, n.created_at), n.id`)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(n *status.Notice) bool { return status.DueOf(n, now) == status.NothingDue }),
		nil
}

// runDue performs the action that is due for a notice, as a write of its own by the author "schedule". It locks
// the notice. It returns nil if nothing is due, for example because another gateway performed it or has locked the
// notice.
func (e *Editor) runDue(ctx context.Context, n *status.Notice) (*DueAction, error) {
	var action *DueAction
	by := Author{Name: "schedule", Origin: status.FromSchedule}
	_, err := e.edit(ctx, by, "schedule", n.PageCode,
		func(ctx context.Context, tx *commandTx) error {
			_, err := tx.target(ctx, noticeTable, byID, n.Code)
			if err != nil {
				return err
			}
			s, err := tx.noticeState(ctx, n.Code, ` for update skip locked`)
			if err != nil {
				return err
			}
			if s.Notice == nil {
				return ErrUnchanged
			}
			due := status.DueOf(s.Notice, tx.At)
			if due == status.NothingDue {
				return ErrUnchanged
			}
			action = &DueAction{s.Notice, due}
			tx.action = "schedule." + string(due)
			return tx.storeNotice(ctx, func(c *status.WorkingCopy) (*status.Effect, error) { return c.RunDue(s, due) })
		})
	if err != nil {
		return nil, err
	}
	return action, nil
}

package status

import (
	"time"

	"heliograph/internal/domain/ledger"
)

// NewIncident describes an incident to open.
type NewIncident struct {
	Target
	Name           string
	Body           string
	State          State // default: investigating
	Affected       []Assignment
	ImpactOverride ledger.Null[Impact]
	StartedAt      ledger.Null[time.Time] // default: now
	Reminders      ledger.Null[string]    // see [ParseReminders]
	Notify         ledger.Null[bool]      // whether subscribers are notified; default: true
	// Draft hides the incident, and does not change components, until it is published.
	Draft   bool
	ProbeID ledger.Null[int64]
	// Backfill records an incident that is over, from StartedAt to ResolvedAt. It lists components, but does not change them.
	Backfill   bool
	ResolvedAt ledger.Null[time.Time]
	Resolution string // text of the last update of a backfilled incident; default: the text of the page
}

// OpenIncident opens an incident.
func (b *WorkingCopy) OpenIncident(in NewIncident) (*Effect, error) {
	n, err := b.newNotice(Realtime, in.Name)
	if err != nil {
		return nil, err
	}
	n.Draft, n.Backfilled, n.ProbeID, n.ReminderIntervals, n.ImpactOverride = in.Draft, in.Backfill, in.ProbeID, in.Reminders, in.ImpactOverride
	if in.Reminders.Valid {
		if _, err := ParseReminders(in.Reminders.V); err != nil {
			return nil, err
		}
	}
	if err := checkImpact(in.ImpactOverride); err != nil {
		return nil, err
	}
	if in.StartedAt.Valid {
		n.StartedAt = b.local(in.StartedAt.V)
		if n.StartedAt.After(b.At) {
			return nil, Errorf(BadInput, "an incident cannot start in the future")
		}
	}
	if in.Backfill {
		return b.backfill(n, in)
	}
	u := update{NewUpdate: NewUpdate{State: in.State, Body: in.Body, Affected: in.Affected, Notify: in.Notify}}
	switch u.State {
	case NoState:
		u.State = Investigating
	case Resolved:
		return nil, Errorf(BadInput, "a new incident that is resolved needs its start and its end: backfill it")
	default:
	}
	return b.addUpdate(NoticeState{Notice: n}, u)
}

// newNotice returns a new notice. Its first update completes it.
func (b *WorkingCopy) newNotice(k Kind, name string) (*Notice, error) {
	if err := CheckName("the notice", name); err != nil {
		return nil, err
	}
	code, err := b.NewCode()
	if err != nil {
		return nil, err
	}
	return &Notice{
		Code: code, PageCode: b.Page.Code, Kind: k, Name: name, Shortlink: b.Page.NoticeURL(code), NotifyAtStart: true, NotifyAtEnd: true,
		Origin: b.Origin, Version: 1,
	}, nil
}

// local returns an instant as it is stored and shown.
func (b *WorkingCopy) local(t time.Time) time.Time { return Milliseconds(t).In(b.At.Location()) }

func checkImpact(override ledger.Null[Impact]) error {
	if override.Valid && !override.V.Valid() {
		return Errorf(BadInput, "%q is not an impact", override.V)
	}
	return nil
}

// backfill records an incident that is over, with two updates.
func (b *WorkingCopy) backfill(n *Notice, in NewIncident) (*Effect, error) {
	switch {
	case in.Draft:
		return nil, Errorf(BadInput, "a backfilled incident cannot be a draft")
	case !in.StartedAt.Valid || !in.ResolvedAt.Valid:
		return nil, Errorf(BadInput, "a backfilled incident needs its start and its end")
	case in.State != NoState && in.State != Resolved:
		return nil, Errorf(BadInput, "a backfilled incident is resolved, not %s", in.State)
	}
	start, end := b.local(in.StartedAt.V), b.local(in.ResolvedAt.V)
	if err := CheckTimes(start, end); err != nil {
		return nil, err
	}
	if end.After(b.At) {
		return nil, Errorf(BadInput, "a backfilled incident cannot end in the future")
	}
	first, err := b.addUpdate(NoticeState{Notice: n}, update{
		NewUpdate: NewUpdate{State: Investigating, Body: in.Body, Affected: in.Affected, Notify: in.Notify}, at: start,
	})
	if err != nil {
		return nil, err
	}
	last, err := b.addUpdate(NoticeState{first.Notice, first.Attachments, first.Updates}, update{
		NewUpdate: NewUpdate{State: Resolved, Body: b.textOr(in.Resolution, IncidentResolved), Affected: in.Affected, Keep: true, Notify: in.Notify}, at: end,
	})
	if err != nil {
		return nil, err
	}
	last.Notice.UpdatedAt, last.Notice.Version = b.At, 1
	return first.then(last), nil
}

// textOr returns a text, or the page's text for an event if it is empty.
func (b *WorkingCopy) textOr(text string, e Event) string {
	if text == "" {
		return b.Page.Text(e)
	}
	return text
}

// UpdateIncident adds an update to an incident that is not over, or resolves it. In state [Postmortem] it publishes the postmortem.
func (b *WorkingCopy) UpdateIncident(s NoticeState, in NewUpdate) (*Effect, error) {
	if s.Notice.Draft {
		return nil, Errorf(BadState, "%s is a draft: publish or discard it first", s.Notice.Code)
	}
	if in.State == Postmortem {
		return b.PublishPostmortem(s, in)
	}
	return b.addUpdate(s, update{NewUpdate: in})
}

// ReopenIncident reopens an incident that is over.
func (b *WorkingCopy) ReopenIncident(s NoticeState, in NewUpdate) (*Effect, error) {
	return b.addUpdate(s, update{NewUpdate: in, reopen: true})
}

// PublishPostmortem adds the postmortem to a resolved incident, or replaces it.
func (b *WorkingCopy) PublishPostmortem(s NoticeState, in NewUpdate) (*Effect, error) {
	u := update{NewUpdate: NewUpdate{State: Postmortem, Body: in.Body, Notify: in.Notify}, textOnly: true}
	for _, old := range s.Updates {
		if old.State == Postmortem {
			u.code = old.Code
		}
	}
	if s.Notice.State == Postmortem {
		resolved := *s.Notice
		resolved.State, s.Notice = Resolved, &resolved
	}
	return b.addUpdate(s, u)
}

// PublishDraft publishes a draft: its update is dated now, and sets the components to the statuses that it states.
func (b *WorkingCopy) PublishDraft(s NoticeState) (*Effect, error) {
	if err := CheckDraft(s.Notice); err != nil {
		return nil, err
	}
	first := s.Updates[0]
	u := update{NewUpdate: NewUpdate{State: s.Notice.State, Body: first.Body, Notify: ledger.Of(first.DeliverNotifications)}, code: first.Code}
	for _, a := range first.Affected {
		if b.Component(a.Code) != nil {
			u.Affected = append(u.Affected, Assignment{a.Code, a.NewStatus})
		}
	}
	n := *s.Notice
	n.State, n.Draft = NoState, false // as if this were its first update
	e, err := b.addUpdate(NoticeState{Notice: &n, Attachments: s.Attachments}, u)
	if err != nil {
		return nil, err
	}
	e.New = false
	e.Notice.Version++
	return e, nil
}

// CheckDraft fails if a notice is not a draft.
func CheckDraft(n *Notice) error {
	if !n.Draft {
		return Errorf(BadState, "%s is not a draft", n.Code)
	}
	return nil
}

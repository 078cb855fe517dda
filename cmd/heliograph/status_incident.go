package main

import (
	"context"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

type statusIncidentCmd struct {
	Open       statusOpenCmd       `cmd:"" help:"Open an incident."`
	Update     statusUpdateCmd     `cmd:"" help:"Say something of an incident that is not over."`
	Resolve    statusResolveCmd    `cmd:"" help:"Resolve an incident, which lets go of its components."`
	Reopen     statusReopenCmd     `cmd:"" help:"Open an incident again that was over."`
	Postmortem statusPostmortemCmd `cmd:"" help:"Tell what happened in an incident that is resolved."`
	Backfill   statusBackfillCmd   `cmd:"" help:"Tell of an incident that is over. It leaves the components as they are."`
	Edit       statusEditCmd       `cmd:"" help:"Change a notice, or one of its updates, without saying anything."`
	Publish    statusPublishCmd    `cmd:"" help:"Open an incident that is a draft."`
	Discard    statusDiscardCmd    `cmd:"" help:"Delete a draft."`
	Rm         statusDeleteCmd     `cmd:"" help:"Take a notice off the page, and let go of its components."`
}

// textFlags are the flags for the text of an update: a body, or a template with its values.
type textFlags struct {
	Body     string   `help:"What is said."`
	Template string   `help:"Prepared text; its values follow as key=value."`
	Quiet    bool     `help:"Tell no subscribers."`
	Values   []string `arg:"" optional:"" help:"Values of the template, as key=value."`
}

// fill returns the template, if one is set, and the title and body from it or from the flags.
func (f *textFlags) fill(ctx context.Context, n *newsroom) (t *status.Template, title, body string, err error) {
	if f.Template == "" {
		if len(f.Values) > 0 {
			return nil, "", "", status.Errorf(status.BadInput, "%q is a value, but there is no --template", f.Values[0])
		}
		return nil, "", f.Body, nil
	}
	if f.Body != "" {
		return nil, "", "", status.Errorf(status.BadInput, "give either --body or --template")
	}
	list, err := n.db.Templates(ctx, n.page.Code)
	if err != nil {
		return nil, "", "", err
	}
	for _, one := range list {
		if one.Name == f.Template {
			t = one
		}
	}
	if t == nil {
		return nil, "", "", status.Errorf(status.NotFound, "there is no template %s", f.Template)
	}
	values := map[string]string{}
	for _, text := range f.Values {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, "", "", status.Errorf(status.BadInput, "%q is not of the form key=value", text)
		}
		values[key] = value
	}
	title, body, err = t.Fill(values)
	return t, title, body, err
}

type statusOpenCmd struct {
	Name      string   `help:"Its title."`
	Status    string   `help:"How far it is: investigating, identified, monitoring (default: investigating, or that of the template)."`
	Affect    []string `sep:"none" placeholder:"REF=STATE" help:"What it does to a component, such as Mainnet/API=partial_outage; repeatable."`
	Impact    string   `help:"How bad it is, whatever its updates say: none, minor, major, critical."`
	Started   string   `help:"When it began (default: now)."`
	Reminders string   `help:"After how many hours editors are reminded of it: [3, 6, 12]."`
	Draft     bool     `help:"Keep it from readers until it is published."`
	textFlags
}

// Run opens an incident.
func (c *statusOpenCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		t, title, body, err := c.fill(ctx, n)
		if err != nil {
			return err
		}
		in := status.NewIncident{Name: c.Name, Body: body, State: status.State(c.Status), Silent: c.Quiet, Draft: c.Draft}
		if t != nil {
			if in.Name == "" {
				in.Name = title
			}
			if in.State == "" {
				in.State = t.State
			}
		}
		if in.Affected, err = n.affected(ctx, c.Affect); err != nil {
			return err
		}
		if c.Impact != "" {
			in.ImpactOverride = ledger.Of(status.Impact(c.Impact))
		}
		if c.Reminders != "" {
			in.Reminders = ledger.Of(c.Reminders)
		}
		if c.Started != "" {
			at, err := n.time(c.Started)
			if err != nil {
				return err
			}
			in.StartedAt = ledger.Of(at)
		}
		code, err := n.OpenIncident(ctx, n.by, n.page.Code, in)
		return n.confirmNotice(ctx, code, err)
	})
}

// sayFlags are the flags of commands that add an update.
type sayFlags struct {
	ID     string   `arg:"" help:"Its id, or its link."`
	Affect []string `sep:"none" placeholder:"REF=STATE" help:"What it does to a component; repeatable."`
	At     string   `help:"Date of the update (default: now)."`
	Expect int64    `help:"Refuse when the notice is at another version."`
	textFlags
}

// update returns the update that the flags describe.
func (f *sayFlags) update(ctx context.Context, n *newsroom, state status.State, keep bool) (status.NewUpdate, error) {
	t, _, body, err := f.fill(ctx, n)
	if err != nil {
		return status.NewUpdate{}, err
	}
	if state == "" && t != nil {
		state = t.State
	}
	u := status.NewUpdate{State: state, Body: body, Keep: keep, Silent: f.Quiet, ExpectedVersion: f.Expect}
	if u.Affected, err = n.affected(ctx, f.Affect); err != nil {
		return u, err
	}
	if f.At != "" {
		at, err := n.time(f.At)
		if err != nil {
			return u, err
		}
		u.DisplayAt = ledger.Of(at)
	}
	return u, nil
}

// state returns the current state of a notice.
func (n *newsroom) state(ctx context.Context, code string) (status.State, error) {
	found, err := n.db.NoticesByCode(ctx, status.Pages{n.page}, []string{code})
	if err != nil {
		return "", err
	}
	if found[code] == nil {
		return "", status.Errorf(status.NotFound, "there is no notice %s", code)
	}
	return found[code].State, nil
}

type statusUpdateCmd struct {
	Status string `help:"How far it is: investigating, identified, monitoring (default: as it is, or that of the template)."`
	sayFlags
}

// Run adds an update to an incident.
func (c *statusUpdateCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code := noticeCode(c.ID)
		state := status.State(c.Status)
		if state == "" && c.Template == "" {
			var err error
			if state, err = n.state(ctx, code); err != nil {
				return err
			}
		}
		u, err := c.update(ctx, n, state, false)
		if err != nil {
			return err
		}
		code, err = n.UpdateIncident(ctx, n.by, code, u)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusResolveCmd struct {
	Keep bool `help:"Leave the components as they are."`
	sayFlags
}

// Run resolves an incident.
func (c *statusResolveCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		u, err := c.update(ctx, n, status.Resolved, c.Keep)
		if err != nil {
			return err
		}
		if u.Body == "" {
			u.Body = n.page.Text(status.IncidentResolved)
		}
		code, err := n.UpdateIncident(ctx, n.by, noticeCode(c.ID), u)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusReopenCmd struct {
	Status string `default:"investigating" help:"How far it is: investigating, identified, monitoring."`
	sayFlags
}

// Run reopens an incident.
func (c *statusReopenCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		u, err := c.update(ctx, n, status.State(c.Status), false)
		if err != nil {
			return err
		}
		code, err := n.ReopenIncident(ctx, n.by, noticeCode(c.ID), u)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusPostmortemCmd struct {
	ID     string `arg:"" help:"Its id, or its link."`
	Body   string `required:"" help:"What happened."`
	Quiet  bool   `help:"Tell no subscribers."`
	Expect int64  `help:"Refuse when the incident is at another version."`
}

// Run publishes a postmortem.
func (c *statusPostmortemCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code, err := n.PublishPostmortem(ctx, n.by, noticeCode(c.ID), c.Body, c.Quiet, c.Expect)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusBackfillCmd struct {
	Name       string   `required:"" help:"Its title."`
	Body       string   `required:"" help:"What is said of its beginning."`
	Resolution string   `help:"What is said of its end (default: the text of the page)."`
	From       string   `required:"" help:"When it began."`
	Until      string   `required:"" help:"When it was over."`
	Affect     []string `sep:"none" placeholder:"REF=STATE" help:"What it did to a component; repeatable."`
	Impact     string   `help:"How bad it was, whatever it did to components: none, minor, major, critical."`
	Quiet      bool     `help:"Tell no subscribers."`
}

// Run adds an incident that is already over.
func (c *statusBackfillCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		from, err := n.time(c.From)
		if err != nil {
			return err
		}
		until, err := n.time(c.Until)
		if err != nil {
			return err
		}
		in := status.NewIncident{
			Name: c.Name, Body: c.Body, Resolution: c.Resolution, Backfill: true, StartedAt: ledger.Of(from), ResolvedAt: ledger.Of(until), Silent: c.Quiet,
		}
		if c.Impact != "" {
			in.ImpactOverride = ledger.Of(status.Impact(c.Impact))
		}
		if in.Affected, err = n.affected(ctx, c.Affect); err != nil {
			return err
		}
		code, err := n.OpenIncident(ctx, n.by, n.page.Code, in)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusEditCmd struct {
	ID        string  `arg:"" help:"Its id, or its link."`
	Name      *string `help:"Its title."`
	Impact    *string `help:"How bad it is, whatever its updates say; empty for what they say."`
	Reminders *string `help:"After how many hours editors are reminded of it; empty for none."`
	Update    string  `help:"Id of the update that changes."`
	Body      *string `help:"What the update said."`
	At        string  `help:"Date of the update."`
	Expect    int64   `help:"Refuse when the notice is at another version."`
}

// Run edits a notice or an update.
func (c *statusEditCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code := noticeCode(c.ID)
		if c.Update == "" {
			if c.Body != nil || c.At != "" {
				return status.Errorf(status.BadInput, "say which update changes: --update")
			}
			code, err := n.EditNotice(ctx, n.by, code, status.NoticeEdit{
				Name: nullFrom(c.Name), ImpactOverride: nullFrom((*status.Impact)(c.Impact)), Reminders: nullFrom(c.Reminders), ExpectedVersion: c.Expect,
			})
			return n.confirmNotice(ctx, code, err)
		}
		if c.Name != nil || c.Impact != nil || c.Reminders != nil {
			return status.Errorf(status.BadInput, "change the notice and its update one after the other")
		}
		edit := status.UpdateEdit{Body: nullFrom(c.Body)}
		if c.At != "" {
			at, err := n.time(c.At)
			if err != nil {
				return err
			}
			edit.DisplayAt = ledger.Of(at)
		}
		_, err := n.EditUpdate(ctx, n.by, c.Update, edit)
		return n.confirmNotice(ctx, code, err)
	})
}

// noticeFlags identify a notice.
type noticeFlags struct {
	ID     string `arg:"" help:"Its id, or its link."`
	Expect int64  `help:"Refuse when the notice is at another version."`
}

type statusPublishCmd struct{ noticeFlags }

// Run publishes a draft.
func (c *statusPublishCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code, err := n.PublishDraft(ctx, n.by, noticeCode(c.ID), c.Expect)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusDiscardCmd struct{ noticeFlags }

// Run deletes a draft.
func (c *statusDiscardCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code, err := n.DiscardDraft(ctx, n.by, noticeCode(c.ID), c.Expect)
		return n.confirmNotice(ctx, code, err)
	})
}

type statusDeleteCmd struct{ noticeFlags }

// Run deletes a notice.
func (c *statusDeleteCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code, err := n.DeleteNotice(ctx, n.by, noticeCode(c.ID), c.Expect)
		return n.confirmNotice(ctx, code, err)
	})
}

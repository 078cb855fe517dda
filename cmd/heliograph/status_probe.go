package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"heliograph/app/probe"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

type statusProbeCmd struct {
	Add     statusProbeAddCmd    `cmd:"" help:"Add a probe to a component."`
	List    statusProbeListCmd   `cmd:"" help:"List the probes of the page with their last results."`
	Test    statusProbeTestCmd   `cmd:"" help:"Run a probe once and print the result, without effect on the page."`
	Run     statusProbeRunCmd    `cmd:"" anypage:"" nodryrun:"" help:"Run the probes of all pages that are due, once. serve and watch do so continuously."`
	Beat    statusProbeBeatCmd   `cmd:"" anypage:"" nodryrun:"" help:"Send a heartbeat to a probe of the kind heartbeat."`
	Enable  statusProbeSwitchCmd `cmd:"" help:"Enable a probe."`
	Disable statusProbeSwitchCmd `cmd:"" help:"Disable a probe."`
	Rm      statusProbeSwitchCmd `cmd:"" help:"Delete a probe. The status that it has set stays."`
}

type statusProbeAddCmd struct {
	status.Probe
	componentArg
	Slow    time.Duration `help:"Response time, block age or time since the last heartbeat from which the result is slow (default: never)."`
	Bad     time.Duration `help:"Response time, block age or time since the last heartbeat from which the result is bad (default: never)."`
	Timeout time.Duration `default:"10s" help:"Timeout, at most 10s."`
}

// run adds a probe to a component in the database of status pages, with an entry in the audit log, and prints its id.
// The durations of the flags become milliseconds, of which they must have whole ones. It fails if the component does
// not exist, or the settings are invalid or do not fit it.
func (c *statusProbeAddCmd) run(ctx context.Context, s *session) error {
	found, err := s.find(ctx, c.Ref)
	if err != nil {
		return err
	}
	for _, d := range []time.Duration{c.Slow, c.Bad, c.Timeout} {
		if d%time.Millisecond != 0 { // less than one would mean that it is not set
			return invalid("--slow, --bad and --timeout must have whole milliseconds, not %s", d)
		}
	}
	c.Component, c.Sets = found.Code, componentStatus(string(c.Sets))
	c.Spec.SlowMS, c.Spec.BadMS = c.Slow.Milliseconds(), c.Bad.Milliseconds()
	c.Spec.TimeoutMS = c.Timeout.Milliseconds()
	id, err := s.AddProbe(ctx, s.by, c.Probe)
	return s.done(err, map[string]any{"id": id, "kind": c.Kind, "component": found.Code}, "%d %s of %s", id, c.Kind,
		found.QualifiedName())
}

type statusProbeListCmd struct{}

// run reads the probes of the page from the database of status pages, and prints them with their last results.
func (statusProbeListCmd) run(ctx context.Context, s *session) error {
	list, err := s.db.Probes(ctx, s.page.Code)
	if err != nil {
		return err
	}
	return table(s, list, func(p *status.Probe) (map[string]any, []string) {
		state := string(p.Level)
		if !p.Enabled {
			state = "disabled"
		} else if p.Streak > 0 {
			state += fmt.Sprintf(" (%d × %s)", p.Streak, p.Toward)
		}
		last := "never run"
		if !p.Last.At.IsZero() {
			last = at(p.Last.At.In(s.page.Zone)) + ": " + p.Last.Detail
		}
		return probeObject(p), []string{strconv.FormatInt(p.ID, 10), string(p.Kind), p.Name, state, last}
	})
}

// probeObject returns the members of a probe in the JSON output. The last result is null if the probe has not run.
func probeObject(p *status.Probe) map[string]any {
	o := map[string]any{
		"id": p.ID, "kind": p.Kind, "component": p.Component, "name": p.Name, "spec": p.Spec,
		"every_seconds": int(p.Every.Seconds()),
		"fail_after":    p.FailAfter, "pass_after": p.PassAfter, "sets": p.Sets, "publish": p.Publish,
		"enabled": p.Enabled, "level": p.Level,
		"streak": p.Streak, "toward": p.Toward, "applied": p.Applied, "incident": p.Incident, "last": nil,
	}
	if !p.Last.At.IsZero() {
		o["last"] = resultObject(p.Last)
	}
	return o
}

// resultObject returns the members of a probe's result in the JSON output. The milliseconds are null if the time was
// not measured.
func resultObject(r status.ProbeResult) map[string]any {
	o := map[string]any{"at": r.At, "level": r.Level, "milliseconds": nil, "detail": r.Detail}
	if r.Took >= 0 {
		o["milliseconds"] = r.Took.Milliseconds()
	}
	return o
}

type probeArg struct {
	ID int64 `arg:"" help:"Number of the probe."`
}

// find reads the probe with the id of the argument. It fails if the probe does not exist or belongs to another page
// than that of the session; the returned probe must not be used then.
func (a *probeArg) find(ctx context.Context, s *session) (*status.Probe, error) {
	p, err := s.db.Probe(ctx, a.ID)
	if err == nil && (p == nil || p.PageCode != s.page.Code) {
		err = status.Errorf(status.NotFound, "probe %d does not exist on page %s", a.ID, s.page.Slug)
	}
	return p, err
}

type statusProbeTestCmd struct{ probeArg }

// run runs a probe once, which sends its request or reads the ledger database, and prints the result, which it does
// not record. It exits with 1 unless the result is good or unknown, so that scripts can use the command.
func (c *statusProbeTestCmd) run(ctx context.Context, s *session) error {
	p, err := c.find(ctx, s)
	if err != nil {
		return err
	}
	checker, done := probe.NewChecker(s.now, nil), func() {}
	if p.Kind == status.LagProbe || p.Kind == status.NodeProbe {
		checker, done, err = s.checker(ctx)
		if err != nil {
			return err
		}
	}
	defer done()
	r := checker.Check(ctx, p)
	level := string(r.Level)
	if r.Level == status.Unknown {
		level = "unknown"
	}
	took := ""
	if p.Kind.Remote() && r.Took >= 0 {
		took = fmt.Sprintf(" after %s", r.Took.Round(time.Millisecond))
	}
	err = s.print(resultObject(r), "%s%s: %s", level, took, r.Detail)
	if err != nil {
		return err
	}
	if r.Level == status.Bad || r.Level == status.Slow {
		return &exitError{1, fmt.Errorf("%s is %s", p.Name, level)}
	}
	return nil
}

type statusProbeRunCmd struct{}

// run runs the probes of all pages that are due until none is due, writes their results and effects to the database
// of status pages, and prints their number. It ends after the first round with an error.
func (statusProbeRunCmd) run(ctx context.Context, s *session) error {
	checker, done, err := s.checker(ctx)
	if err != nil {
		return err
	}
	defer done()
	total := 0
	for w := probe.NewWatcher(s.Editor, checker, s.logger()); ; {
		n, err := w.RunDue(ctx)
		if err != nil {
			return err
		}
		if total += n; n == 0 {
			return s.print(map[string]int{"probes": total}, "%d probes were run", total)
		}
	}
}

type statusProbeBeatCmd struct{ probeArg }

// run records a heartbeat of a probe, with the present time, in the database of status pages, and prints that it did.
// It fails if no page has a probe of the kind heartbeat with the number.
func (c *statusProbeBeatCmd) run(ctx context.Context, s *session) error {
	return s.done(s.RecordHeartbeat(ctx, c.ID), map[string]int64{"id": c.ID}, "probe %d received a heartbeat", c.ID)
}

// statusProbeSwitchCmd are the commands that need only a probe of the page.
type statusProbeSwitchCmd struct{ probeArg }

// run enables, disables or deletes a probe in the database of status pages, as the name of the command says, with an
// entry in the audit log, and prints that. It fails if the page has no probe with the number.
func (c *statusProbeSwitchCmd) run(ctx context.Context, s *session) error {
	_, err := c.find(ctx, s)
	if err != nil {
		return err
	}
	done := s.name + "d"
	if s.name == "rm" {
		done = "deleted"
		err = s.RemoveProbe(ctx, s.by, c.ID)
	} else {
		err = s.EnableProbe(ctx, s.by, c.ID, s.name == "enable")
	}
	return s.done(err, map[string]int64{"id": c.ID}, "probe %d was %s", c.ID, done)
}

type statusAuditCmd struct {
	Object string `help:"ID of a notice, an update, a component or a page, or number of a probe, whose entries to list (default: all)."`
	Limit  uint32 `default:"50" help:"Maximum number of entries."`
}

// run reads the newest entries of the audit log from the database of status pages, and prints them: those of the page
// with --page, and all, including those without a page, otherwise. With --object they are those of one object.
func (c *statusAuditCmd) run(ctx context.Context, s *session) error {
	page, err := s.givenPage(ctx)
	if err != nil {
		return err
	}
	found, err := s.db.Audit(ctx, page, noticeCode(c.Object), int(max(c.Limit, 1)))
	if err != nil {
		return err
	}
	return table(s, found, func(a *statuspages.AuditEntry) (map[string]any, []string) {
		object := map[string]any{
			"id": a.ID, "at": a.At, "page": a.Page, "actor": a.Actor, "action": a.Action, "object": a.Object,
			"before": a.Before, "after": a.After,
		}
		return object, []string{
			a.At.UTC().Format(time.RFC3339), a.Actor, a.Action, a.Object,
			strings.Join(a.Changed, " "),
		}
	})
}

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
	Add     statusProbeAddCmd     `cmd:"" help:"Declare a probe of a component."`
	List    statusProbeListCmd    `cmd:"" help:"List the probes of the page with what they have found."`
	Test    statusProbeTestCmd    `cmd:"" help:"Ask a probe now, and only print what it finds."`
	Run     statusProbeRunCmd     `cmd:"" help:"Ask the probes whose time has come once, as serve and watch do all the time."`
	Beat    statusProbeBeatCmd    `cmd:"" help:"Tell a probe of the kind heartbeat that all is well."`
	Enable  statusProbeEnableCmd  `cmd:"" help:"Have a probe ask again."`
	Disable statusProbeDisableCmd `cmd:"" help:"Have a probe not ask any more."`
	Rm      statusProbeRmCmd      `cmd:"" help:"Remove a probe. What it has said of its component stays."`
}

type statusProbeAddCmd struct {
	Kind      string            `arg:"" enum:"http,graphql,tcp,mirror_lag,node,heartbeat" help:"http, graphql, tcp, mirror_lag (age of the newest block), node (whether a consensus node takes part and has stake), or heartbeat (pushed by a job)."`
	Ref       string            `arg:"" help:"The component: its id, its name, or Group/Component."`
	URL       string            `name:"url" help:"What http and graphql ask. Redirects are not followed."`
	Address   string            `help:"What tcp connects to, such as api.example.com:443."`
	Header    map[string]string `help:"Header of the request, as NAME=VALUE; a value env:VARIABLE is read from the environment. Repeatable."`
	Query     string            `help:"What graphql asks."`
	Path      string            `help:"Path of names and indexes, with dots between them, at which the answer has to have a value."`
	Expect    int               `help:"Status that http expects (default: any from 200 to 299)."`
	Body      string            `help:"Regular expression that the body has to match."`
	TLSDays   int               `name:"tls-days" help:"Days for which the certificate has to be good, or the component is slow."`
	Node      int64             `help:"Number of the node (default: that of the component)."`
	Slow      time.Duration     `help:"Answer time, lag or pause from which on its performance is degraded."`
	Bad       time.Duration     `help:"Answer time, lag or pause from which on it fails."`
	Timeout   time.Duration     `default:"10s" help:"How long it waits, 10s at most."`
	Every     time.Duration     `default:"30s" help:"How often it asks."`
	FailAfter int32             `default:"3" help:"How many results in a row make it worse."`
	PassAfter int32             `default:"5" help:"How many results in a row make it better."`
	Sets      string            `default:"partial_outage" help:"State of the component when it fails."`
	Publish   string            `enum:"component,draft,public" default:"public" help:"What becomes of a failure where the page has auto_publish=true: the state of the component alone, a draft, or a public incident. Elsewhere it is always a draft."`
}

// Run creates a probe.
func (c *statusProbeAddCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		found, err := n.find(ctx, c.Ref)
		if err != nil {
			return err
		}
		p := status.Probe{
			Component: found.Code, Kind: status.ProbeKind(c.Kind), Every: c.Every, FailAfter: c.FailAfter, PassAfter: c.PassAfter, Sets: componentStatus(c.Sets),
			Publish: status.Publish(c.Publish),
			Spec: status.ProbeSpec{
				URL: c.URL, Address: c.Address, Headers: c.Header, Query: c.Query, Path: c.Path, Status: c.Expect, Body: c.Body, TLSDays: c.TLSDays, Node: c.Node,
				SlowMS: c.Slow.Milliseconds(), BadMS: c.Bad.Milliseconds(), TimeoutMS: c.Timeout.Milliseconds(),
			},
		}
		id, err := n.AddProbe(ctx, n.by, p)
		if err != nil {
			return err
		}
		return n.print(map[string]any{"id": id, "kind": c.Kind, "component": found.Code}, "%d %s of %s", id, c.Kind, found.QualifiedName())
	})
}

type statusProbeListCmd struct{}

// Run lists the probes.
func (statusProbeListCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		list, err := n.db.Probes(ctx, n.page.Code)
		if err != nil {
			return err
		}
		objects := make([]map[string]any, len(list))
		var rows [][]string
		for i, p := range list {
			objects[i] = probeObject(p)
			state := string(p.Level)
			if !p.Enabled {
				state = "disabled"
			} else if p.Streak > 0 {
				state += fmt.Sprintf(" (%d × %s)", p.Streak, p.Toward)
			}
			last := "never asked"
			if !p.Last.At.IsZero() {
				last = at(p.Last.At.In(n.page.Zone)) + ": " + p.Last.Detail
			}
			rows = append(rows, []string{strconv.FormatInt(p.ID, 10), string(p.Kind), p.Name, state, last})
		}
		return n.table(objects, rows)
	})
}

// probeObject returns a probe as a JSON object.
func probeObject(p *status.Probe) map[string]any {
	o := map[string]any{
		"id": p.ID, "kind": p.Kind, "component": p.Component, "name": p.Name, "spec": p.Spec, "every_seconds": int(p.Every.Seconds()), "fail_after": p.FailAfter,
		"pass_after": p.PassAfter,
		"sets":       p.Sets, "publish": p.Publish, "enabled": p.Enabled, "level": p.Level, "streak": p.Streak, "toward": p.Toward, "acted": p.Applied,
		"incident": p.Incident, "last": nil,
	}
	if !p.Last.At.IsZero() {
		o["last"] = resultObject(p.Last)
	}
	return o
}

// resultObject returns a result as a JSON object.
func resultObject(r status.ProbeResult) map[string]any {
	o := map[string]any{"at": r.At, "level": r.Level, "milliseconds": nil, "detail": r.Detail}
	if r.Took >= 0 {
		o["milliseconds"] = r.Took.Milliseconds()
	}
	return o
}

// probeArg identifies a probe.
type probeArg struct {
	ID int64 `arg:"" help:"Its number."`
}

// find returns the probe, or fails if the page does not have it.
func (a *probeArg) find(ctx context.Context, n *newsroom) (*status.Probe, error) {
	p, err := n.db.Probe(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if p == nil || p.PageCode != n.page.Code {
		return nil, status.Errorf(status.NotFound, "there is no probe %d on the page %s", a.ID, n.page.Slug)
	}
	return p, nil
}

type statusProbeTestCmd struct{ probeArg }

// Run runs a probe once and prints the result. The command fails unless the result is good, so that scripts can use it.
func (c *statusProbeTestCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		p, err := c.find(ctx, n)
		if err != nil {
			return err
		}
		checker, done, err := n.checker(ctx)
		if err != nil {
			return err
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
		if err := n.print(resultObject(r), "%s%s: %s", level, took, r.Detail); err != nil {
			return err
		}
		if r.Level == status.Bad || r.Level == status.Slow {
			return &exitError{1, fmt.Errorf("%s is %s", p.Name, level)}
		}
		return nil
	})
}

type statusProbeRunCmd struct{}

// Run runs all probes that are due, on all pages.
func (statusProbeRunCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		if s.DryRun {
			return status.Errorf(status.BadInput, "probes write what they find: `heliograph status probe test` only prints it")
		}
		checker, done, err := n.checker(ctx)
		if err != nil {
			return err
		}
		defer done()
		total := 0
		for w := probe.NewWatcher(n.Editor, checker, s.logger(), nil); ; {
			asked, err := w.Look(ctx)
			if err != nil {
				return err
			}
			if total += asked; asked == 0 {
				return n.print(map[string]int{"asked": total}, "%d probes were asked", total)
			}
		}
	})
}

type statusProbeBeatCmd struct{ probeArg }

// Run records a heartbeat.
func (c *statusProbeBeatCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		if s.DryRun {
			return status.Errorf(status.BadInput, "a heartbeat changes no document: there is nothing to show")
		}
		if err := n.RecordHeartbeat(ctx, c.ID); err != nil {
			return err
		}
		return n.print(map[string]int64{"id": c.ID}, "probe %d has heard it", c.ID)
	})
}

type statusProbeEnableCmd struct{ probeArg }

// Run enables a probe.
func (c *statusProbeEnableCmd) Run(ctx context.Context, s *statusSettings) error {
	return c.change(ctx, s, "asks again", func(ctx context.Context, n *newsroom) error { return n.EnableProbe(ctx, n.by, c.ID, true) })
}

type statusProbeDisableCmd struct{ probeArg }

// Run disables a probe.
func (c *statusProbeDisableCmd) Run(ctx context.Context, s *statusSettings) error {
	return c.change(ctx, s, "does not ask any more", func(ctx context.Context, n *newsroom) error { return n.EnableProbe(ctx, n.by, c.ID, false) })
}

type statusProbeRmCmd struct{ probeArg }

// Run deletes a probe.
func (c *statusProbeRmCmd) Run(ctx context.Context, s *statusSettings) error {
	return c.change(ctx, s, "has been removed", func(ctx context.Context, n *newsroom) error { return n.RemoveProbe(ctx, n.by, c.ID) })
}

// change applies a write to a probe of the page.
func (a *probeArg) change(ctx context.Context, s *statusSettings, what string, write func(ctx context.Context, n *newsroom) error) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		if _, err := a.find(ctx, n); err != nil {
			return err
		}
		if err := write(ctx, n); err != nil {
			return err
		}
		return n.print(map[string]int64{"id": a.ID}, "probe %d %s", a.ID, what)
	})
}

type statusAuditCmd struct {
	Object string `help:"Only writes to this: the id of a notice, an update, a component, a page, or the number of a probe."`
	Limit  int    `default:"50" help:"How many at most."`
}

// Run lists the audit log: the entries of the page with --page, and all entries, including those without a page, otherwise.
func (c *statusAuditCmd) Run(ctx context.Context, s *statusSettings) error {
	list := func(ctx context.Context, n *newsroom) error {
		f := statuspages.AuditFilter{Object: noticeCode(c.Object)}
		if n.page != nil {
			f.Page = n.page.Code
		}
		found, err := n.db.Audit(ctx, f, max(c.Limit, 1))
		if err != nil {
			return err
		}
		objects := make([]map[string]any, len(found))
		var rows [][]string
		for i, a := range found {
			objects[i] = map[string]any{"id": a.ID, "at": a.At, "page": a.Page, "actor": a.Actor, "action": a.Action, "object": a.Object, "before": a.Before,
				"after": a.After}
			rows = append(rows, []string{a.At.UTC().Format(time.RFC3339), a.Actor, a.Action, a.Object, strings.Join(a.Changed(), " ")})
		}
		return n.table(objects, rows)
	}
	if s.Slug != "" {
		return s.with(ctx, list)
	}
	return s.session(ctx, list)
}

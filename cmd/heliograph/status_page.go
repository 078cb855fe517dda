package main

import (
	"context"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

type statusInitCmd struct {
	Name       string `required:"" help:"Name of the page."`
	URL        string `name:"url" required:"" help:"Where people see it, such as https://status.example.com."`
	TimeZone   string `default:"Etc/UTC" help:"Zone in which its days begin, such as Europe/Berlin."`
	ShortName  string `help:"Short name (default: made of the name)."`
	Locale     string `default:"en" help:"Language of what it says by itself."`
	Vocabulary string `enum:"documented,statuspage" default:"documented" help:"Which words its documents use: documented, or statuspage with maintenance as a state."`
	Component  string `default:"API" help:"Name of its first component."`
}

// Run creates a page.
func (c *statusInitCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		if s.DryRun {
			n.by.Preview = func(context.Context) error { return nil }
		}
		slug := c.ShortName
		if slug == "" {
			slug = s.Slug
		}
		code, err := n.InitPage(ctx, n.by, statuspages.PageInit{Component: c.Component, Page: status.Page{
			Name: c.Name, Slug: slug, URL: c.URL, TimeZone: c.TimeZone, Locale: c.Locale, Vocabulary: status.Vocabulary(c.Vocabulary),
		}})
		if err != nil || s.DryRun {
			return err
		}
		p, err := n.db.PageByCode(ctx, code)
		if err != nil {
			return err
		}
		return n.print(pageObject(p), "%s %s at %s", code, p.Slug, p.URL)
	})
}

type statusPageCmd struct {
	Set statusPageSetCmd `cmd:"" help:"Change settings: name, slug, url, hosts, default, time_zone, locale, vocabulary, auto_publish, text.<locale>.<event>."`
}

type statusPageSetCmd struct {
	Settings []string `arg:"" help:"Settings as key=value."`
}

// Run changes settings of a page.
func (c *statusPageSetCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		var list []status.PageSetting
		for _, text := range c.Settings {
			key, value, ok := strings.Cut(text, "=")
			if !ok {
				return status.Errorf(status.BadInput, "%q is not of the form key=value", text)
			}
			list = append(list, status.PageSetting{Key: key, Value: value})
		}
		code, err := n.SetPage(ctx, n.by, n.page.Code, list)
		if err != nil || s.DryRun {
			return err
		}
		p, err := n.db.PageByCode(ctx, code)
		if err != nil {
			return err
		}
		return n.print(pageObject(p), "%s %s at %s, revision %d", code, p.Slug, p.URL, p.Revision)
	})
}

type statusGroupCmd struct {
	Add    statusGroupAddCmd    `cmd:"" help:"Add a group. It shows when it has a component."`
	Rename statusGroupRenameCmd `cmd:"" help:"Rename a group."`
	Move   statusMoveCmd        `cmd:"" help:"Put a group somewhere else."`
	Rm     statusRemoveCmd      `cmd:"" help:"Remove a group that has no components."`
}

type statusGroupAddCmd struct {
	Name        string `arg:"" help:"Its name."`
	Description string `help:"What it is."`
	Position    int32  `help:"Its place on the page, from 1 on (default: the last one)."`
}

// Run adds a group.
func (c *statusGroupAddCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code, err := n.AddComponent(ctx, n.by, n.page.Code, status.NewComponent{IsGroup: true, Name: c.Name, Description: c.Description, Position: c.Position})
		return n.confirmComponent(ctx, code, err)
	})
}

type statusGroupRenameCmd struct {
	Ref  string `arg:"" help:"The group: its id or its name."`
	Name string `arg:"" help:"Its new name."`
}

// Run renames a group.
func (c *statusGroupRenameCmd) Run(ctx context.Context, s *statusSettings) error {
	return (&statusComponentSetCmd{Ref: c.Ref, Name: &c.Name}).Run(ctx, s)
}

type statusComponentCmd struct {
	Add  statusComponentAddCmd `cmd:"" help:"Add a component."`
	Set  statusComponentSetCmd `cmd:"" help:"Change a component: its state, its name and what else there is."`
	Move statusMoveCmd         `cmd:"" help:"Put a component somewhere else."`
	Rm   statusRemoveCmd       `cmd:"" help:"Take a component off the page. What was said of it stays."`
}

type statusComponentAddCmd struct {
	Name               string `arg:"" help:"Its name."`
	Description        string `help:"What it is."`
	Group              string `help:"The group it is in."`
	Position           int32  `help:"Its place there, from 1 on (default: the last one)."`
	Status             string `default:"operational" help:"Its state."`
	Showcase           bool   `default:"true" negatable:"" help:"Show its uptime."`
	OnlyShowIfDegraded bool   `help:"Show it only while something is wrong with it."`
	StartDate          string `help:"First day of its uptime (default: today)."`
	Node               *int64 `help:"Number of the consensus node that it is."`
}

// Run adds a component.
func (c *statusComponentAddCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		group, err := n.group(ctx, c.Group)
		if err != nil {
			return err
		}
		in := status.NewComponent{
			Name: c.Name, Description: c.Description, Group: group, Position: c.Position, Status: componentStatus(c.Status), Showcase: c.Showcase,
			OnlyShowIfDegraded: c.OnlyShowIfDegraded, NodeID: nullFrom(c.Node),
		}
		if c.StartDate != "" {
			day, err := status.ParseDate(c.StartDate)
			if err != nil {
				return status.Errorf(status.BadInput, "%v", err)
			}
			in.StartDate = ledger.Of(day)
		}
		code, err := n.AddComponent(ctx, n.by, n.page.Code, in)
		return n.confirmComponent(ctx, code, err)
	})
}

// nullFrom converts an optional flag.
func nullFrom[T any](p *T) ledger.Null[T] {
	if p == nil {
		return ledger.Null[T]{}
	}
	return ledger.Of(*p)
}

type statusComponentSetCmd struct {
	Ref                string  `arg:"" help:"The component: its id, its name, or Group/Component."`
	Status             string  `help:"Its state: operational, degraded_performance, partial_outage, major_outage, under_maintenance. Open notices may hold it in a worse one."`
	Name               *string `help:"Its name."`
	Description        *string `help:"What it is; empty for nothing."`
	Showcase           *bool   `negatable:"" help:"Show its uptime."`
	OnlyShowIfDegraded *bool   `negatable:"" help:"Show it only while something is wrong with it."`
	StartDate          *string `help:"First day of its uptime; empty for none."`
	Node               *int64  `help:"Number of the consensus node that it is; -1 for none."`
	Expect             int64   `help:"Refuse when the component is at another version."`
}

// Run changes a component.
func (c *statusComponentSetCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		found, err := n.find(ctx, c.Ref)
		if err != nil {
			return err
		}
		change := status.ComponentEdit{
			Name: nullFrom(c.Name), Description: nullFrom(c.Description), Showcase: nullFrom(c.Showcase), OnlyShowIfDegraded: nullFrom(c.OnlyShowIfDegraded),
			NodeID: nullFrom(c.Node), ExpectedVersion: c.Expect,
		}
		if c.Status != "" {
			change.Status = ledger.Of(componentStatus(c.Status))
		}
		if c.StartDate != nil {
			day := status.Date("")
			if *c.StartDate != "" {
				if day, err = status.ParseDate(*c.StartDate); err != nil {
					return status.Errorf(status.BadInput, "%v", err)
				}
			}
			change.StartDate = ledger.Of(day)
		}
		code, err := n.EditComponent(ctx, n.by, found.Code, change)
		return n.confirmComponent(ctx, code, err)
	})
}

type statusMoveCmd struct {
	Ref      string  `arg:"" help:"The component or group: its id, its name, or Group/Component."`
	Position int32   `help:"Its new place, from 1 on (default: the last one)."`
	Group    *string `help:"The group that it is to be in; empty for none (default: where it is)."`
}

// Run moves a component or group.
func (c *statusMoveCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		found, err := n.find(ctx, c.Ref)
		if err != nil {
			return err
		}
		group := found.GroupCode.V
		if c.Group != nil {
			if group, err = n.group(ctx, *c.Group); err != nil {
				return err
			}
		}
		code, err := n.MoveComponent(ctx, n.by, found.Code, group, c.Position, 0)
		return n.confirmComponent(ctx, code, err)
	})
}

type statusRemoveCmd struct {
	Ref string `arg:"" help:"The component or group: its id, its name, or Group/Component."`
}

// Run removes a component or group.
func (c *statusRemoveCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		found, err := n.find(ctx, c.Ref)
		if err != nil {
			return err
		}
		code, err := n.RemoveComponent(ctx, n.by, found.Code, 0)
		return n.confirmComponent(ctx, code, err)
	})
}

package main

import (
	"context"
	"fmt"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

type statusTokenCmd struct {
	Add  statusTokenAddCmd  `cmd:"" help:"Make a token and print it. It is shown this once: only its hash is kept."`
	Rm   statusTokenRmCmd   `cmd:"" help:"Make a token worthless."`
	List statusTokenListCmd `cmd:"" help:"List who has a token."`
}

type statusTokenAddCmd struct {
	Name    string        `arg:"" help:"Who it is for."`
	Role    string        `arg:"" enum:"viewer,reporter,operator,admin" help:"What it allows: viewer (see drafts), reporter (states and updates), operator (all notices), admin (pages and components)."`
	Expires time.Duration `help:"After how long it expires, such as 720h (default: never)."`
}

// Run creates a token. With --page it is valid for that page only.
func (c *statusTokenAddCmd) Run(ctx context.Context, s *statusSettings) error {
	add := func(ctx context.Context, n *newsroom) error {
		if s.DryRun {
			return status.Errorf(status.BadInput, "tokens change no document: there is nothing to show")
		}
		in := status.TokenInput{Name: c.Name, Role: status.Role(c.Role)}
		if n.page != nil {
			in.Page = n.page.Code
		}
		if c.Expires > 0 {
			in.ExpiresAt = ledger.Of(n.now().Add(c.Expires))
		}
		token, err := n.AddToken(ctx, n.by, in)
		if err != nil {
			return err
		}
		return n.print(map[string]string{"name": c.Name, "role": c.Role, "token": token}, "%s", token)
	}
	if s.Slug != "" {
		return s.with(ctx, add)
	}
	return s.session(ctx, add)
}

type statusTokenRmCmd struct {
	Name string `arg:"" help:"Who it was for."`
}

// Run deletes a token.
func (c *statusTokenRmCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		if s.DryRun {
			return status.Errorf(status.BadInput, "tokens change no document: there is nothing to show")
		}
		if err := n.RemoveToken(ctx, n.by, c.Name); err != nil {
			return err
		}
		return n.print(map[string]string{"name": c.Name}, "%s has no token any more", c.Name)
	})
}

type statusTokenListCmd struct{}

// Run lists the tokens.
func (statusTokenListCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		list, err := n.db.Tokens(ctx, time.Time{})
		if err != nil {
			return err
		}
		objects := make([]map[string]any, len(list))
		var table [][]string
		for i, t := range list {
			objects[i] = map[string]any{"name": t.Name, "role": t.Role, "page": orNull(t.PageCode), "expires_at": orNull(t.ExpiresAt),
				"last_used_at": orNull(t.LastUsedAt)}
			row := []string{t.Name, string(t.Role), t.PageCode.Or("all pages"), "never expires", "never used"}
			if t.ExpiresAt.Valid {
				row[3] = "expires " + t.ExpiresAt.V.UTC().Format(time.RFC3339)
			}
			if t.LastUsedAt.Valid {
				row[4] = "used " + t.LastUsedAt.V.UTC().Format(time.RFC3339)
			}
			table = append(table, row)
		}
		return n.table(objects, table)
	})
}

type statusTemplateCmd struct {
	Set  statusTemplateSetCmd  `cmd:"" help:"Make a template, or change one."`
	Rm   statusTemplateRmCmd   `cmd:"" help:"Remove a template."`
	List statusTemplateListCmd `cmd:"" help:"List the templates."`
}

type statusTemplateSetCmd struct {
	Name   string `arg:"" help:"Its name."`
	Status string `default:"investigating" help:"The state that it is for, of an incident or of a maintenance."`
	Title  string `required:"" help:"Title of a notice, with places for values: {name}."`
	Body   string `required:"" help:"What is said, with places for values: {name}."`
}

// Run creates or replaces a template.
func (c *statusTemplateSetCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		state := status.State(c.Status)
		err := n.SetTemplate(ctx, n.by, n.page.Code, status.Template{Name: c.Name, Kind: state.Kind(), State: state, Title: c.Title, Body: c.Body})
		if err != nil {
			return err
		}
		return n.print(map[string]string{"name": c.Name}, "%s is ready", c.Name)
	})
}

type statusTemplateRmCmd struct {
	Name string `arg:"" help:"Its name."`
}

// Run deletes a template.
func (c *statusTemplateRmCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		if err := n.RemoveTemplate(ctx, n.by, n.page.Code, c.Name); err != nil {
			return err
		}
		return n.print(map[string]string{"name": c.Name}, "%s has been removed", c.Name)
	})
}

type statusTemplateListCmd struct{}

// Run lists the templates.
func (statusTemplateListCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		list, err := n.db.Templates(ctx, n.page.Code)
		if err != nil {
			return err
		}
		objects := make([]map[string]any, len(list))
		var table [][]string
		for i, t := range list {
			objects[i] = map[string]any{"name": t.Name, "status": t.State, "title": t.Title, "body": t.Body}
			table = append(table, []string{t.Name, string(t.State), fmt.Sprintf("%q", t.Title)})
		}
		return n.table(objects, table)
	})
}

package main

import (
	"context"
	"strconv"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

type statusTokenCmd struct {
	Add  statusTokenAddCmd  `cmd:"" help:"Create a token and print it. It cannot be printed again: only its hash is stored."`
	Rm   statusTokenRmCmd   `cmd:"" help:"Delete a token."`
	List statusTokenListCmd `cmd:"" help:"List the tokens."`
}

type statusTokenAddCmd struct {
	Name    string        `arg:"" help:"Name of the token."`
	Role    string        `arg:"" enum:"viewer,reporter,operator,admin" help:"Role: viewer (reads drafts), reporter (sets component statuses, updates incidents), operator (edits all incidents and maintenances) or admin (edits pages and components)."`
	Expires time.Duration `help:"Time until the token expires, such as 720h (default: never)."`
}

// runWithoutPage creates a token for the page with --page, and for all pages otherwise.
func (c *statusTokenAddCmd) runWithoutPage(ctx context.Context, s *session) error {
	if err := s.rejectDryRun(); err != nil {
		return err
	}
	in := status.TokenInput{Name: c.Name, Role: status.Role(c.Role)}
	if s.Slug != "" {
		if err := s.selectPage(ctx); err != nil {
			return err
		}
		in.Page = s.page.Code
	}
	if c.Expires > 0 {
		in.ExpiresAt = ledger.Of(s.now().Add(c.Expires))
	}
	token, err := s.AddToken(ctx, s.by, in)
	if err != nil {
		return err
	}
	return s.print(map[string]string{"name": c.Name, "role": c.Role, "token": token}, "%s", token)
}

type statusTokenRmCmd struct {
	Name string `arg:"" help:"Name of the token."`
}

func (c *statusTokenRmCmd) runWithoutPage(ctx context.Context, s *session) error {
	if err := s.rejectDryRun(); err != nil {
		return err
	}
	if err := s.RemoveToken(ctx, s.by, c.Name); err != nil {
		return err
	}
	return s.print(map[string]string{"name": c.Name}, "token %s was deleted", c.Name)
}

type statusTokenListCmd struct{}

func (statusTokenListCmd) runWithoutPage(ctx context.Context, s *session) error {
	list, err := s.db.Tokens(ctx, time.Time{})
	if err != nil {
		return err
	}
	return table(s, list, func(t *status.Token) (map[string]any, []string) {
		row := []string{t.Name, string(t.Role), t.PageCode.Or("all pages"), "never expires", "never used"}
		if t.ExpiresAt.Valid {
			row[3] = "expires " + t.ExpiresAt.V.UTC().Format(time.RFC3339)
		}
		if t.LastUsedAt.Valid {
			row[4] = "used " + t.LastUsedAt.V.UTC().Format(time.RFC3339)
		}
		return map[string]any{
			"name": t.Name, "role": t.Role, "page": t.PageCode.Pointer(), "expires_at": t.ExpiresAt.Pointer(), "last_used_at": t.LastUsedAt.Pointer(),
		}, row
	})
}

type statusTemplateCmd struct {
	Set  statusTemplateSetCmd  `cmd:"" help:"Create or replace a template."`
	Rm   statusTemplateRmCmd   `cmd:"" help:"Delete a template."`
	List statusTemplateListCmd `cmd:"" help:"List the templates."`
}

type statusTemplateSetCmd struct {
	Name   string `arg:"" help:"Name of the template."`
	Status string `default:"investigating" help:"Status of the incident or maintenance that the template is for."`
	Title  string `required:"" help:"Title, with placeholders such as {name}."`
	Body   string `required:"" help:"Text, with placeholders such as {name}."`
}

func (c *statusTemplateSetCmd) run(ctx context.Context, s *session) error {
	state := status.State(c.Status)
	err := s.SetTemplate(ctx, s.by, s.page.Code, status.Template{Name: c.Name, Kind: state.Kind(), State: state, Title: c.Title, Body: c.Body})
	if err != nil {
		return err
	}
	return s.print(map[string]string{"name": c.Name}, "template %s was saved", c.Name)
}

type statusTemplateRmCmd struct {
	Name string `arg:"" help:"Name of the template."`
}

func (c *statusTemplateRmCmd) run(ctx context.Context, s *session) error {
	if err := s.RemoveTemplate(ctx, s.by, s.page.Code, c.Name); err != nil {
		return err
	}
	return s.print(map[string]string{"name": c.Name}, "template %s was deleted", c.Name)
}

type statusTemplateListCmd struct{}

func (statusTemplateListCmd) run(ctx context.Context, s *session) error {
	list, err := s.db.Templates(ctx, s.page.Code)
	if err != nil {
		return err
	}
	return table(s, list, func(t *status.Template) (map[string]any, []string) {
		return map[string]any{"name": t.Name, "status": t.State, "title": t.Title, "body": t.Body}, []string{t.Name, string(t.State), strconv.Quote(t.Title)}
	})
}

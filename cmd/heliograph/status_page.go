package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

type statusInitCmd struct {
	Name       string `required:"" help:"Name of the page."`
	URL        string `name:"url" required:"" help:"Public URL of the page, such as https://status.example.com."`
	TimeZone   string `default:"Etc/UTC" help:"Time zone of the page, such as Europe/Berlin."`
	ShortName  string `help:"Short name (default: derived from the name)."`
	Locale     string `default:"en" help:"Language of automatic texts and of what editors write, such as de or pt-BR. The rest of the HTML pages is English."`
	Vocabulary string `enum:"documented,statuspage" default:"documented" help:"Status values in documents: documented, or statuspage, which has statuses for maintenance."`
	Component  string `default:"API" help:"Name of the first component."`
}

// run creates a page with its first component in the database of status pages, with an entry in the audit log, and
// prints it, but not in a dry run. It fails if another page has the short name or a setting is invalid.
func (c *statusInitCmd) run(ctx context.Context, s *session) error {
	code, err := s.InitPage(ctx, s.by, status.Page{
		Name: c.Name, Slug: cmp.Or(c.ShortName, s.Slug), URL: c.URL, TimeZone: c.TimeZone, Locale: c.Locale,
		Vocabulary: status.Vocabulary(c.Vocabulary),
	}, c.Component)
	if err != nil || s.DryRun {
		return err
	}
	return s.showPage(ctx, code)
}

// showPage reads a page, which must exist, and prints it after a write.
func (s *session) showPage(ctx context.Context, code string) error {
	p, err := s.db.PageByCode(ctx, code)
	if err != nil {
		return err
	}
	return s.print(pageObject(p), "%s %s at %s, revision %d", code, p.Slug, p.URL, p.Revision)
}

type statusPageCmd struct {
	Set statusPageSetCmd `cmd:"" help:"Change settings: name, slug, url, hosts, default, time_zone, locale, vocabulary, auto_publish, text.LOCALE.EVENT (the automatic text for an event, while the locale is LOCALE)."`
}

type statusPageSetCmd struct {
	Settings map[string]string `arg:"" help:"Settings, as KEY=VALUE."`
}

// run writes settings of the page to the database of status pages, with an entry in the audit log, and prints the
// page. If the vocabulary changes, it also prints what that means for clients, except as JSON.
func (c *statusPageSetCmd) run(ctx context.Context, s *session) error {
	settings := list.Map(slices.Sorted(maps.Keys(c.Settings)), func(key string) status.PageSetting {
		return status.PageSetting{Key: key, Value: c.Settings[key]}
	})
	err := write(ctx, s, s.page.Code, settings, s.SetPage, s.showPage)
	if err != nil || s.DryRun || s.JSON {
		return err
	}
	after, err := s.db.PageByCode(ctx, s.page.Code)
	if err != nil {
		return err
	}
	if after.Vocabulary == s.page.Vocabulary {
		return nil
	}
	return s.print(nil, "%s", map[status.Vocabulary]string{
		status.Documented: "Clients no longer get the component status under_maintenance and the indicator " +
			"maintenance: a running maintenance is listed, but its " +
			"components have their other status.",
		status.Statuspage: "Clients get the component status under_maintenance and the indicator maintenance while " +
			"a maintenance is in progress. Clients that know " +
			"only the four documented values can fail.",
	}[after.Vocabulary])
}

type statusGroupCmd struct {
	Add    statusGroupAddCmd    `cmd:"" help:"Add a group. It is shown once it has a component."`
	Rename statusGroupRenameCmd `cmd:"" help:"Rename a group."`
	Move   statusMoveCmd        `cmd:"" help:"Change the position of a group."`
	Rm     statusRemoveCmd      `cmd:"" help:"Delete an empty group."`
}

type statusGroupAddCmd struct {
	Name        string `arg:"" help:"Name."`
	Description string `help:"Description (default: none)."`
	Position    int32  `help:"Position on the page, starting at 1 (default: last)."`
}

// run adds a group of components to the page in the database of status pages, with an entry in the audit log, and
// prints it. A group that the editor rejects is an error, with which nothing is written.
func (c *statusGroupAddCmd) run(ctx context.Context, s *session) error {
	return write(ctx, s, s.page.Code, status.NewComponent{
		IsGroup: true, Name: c.Name, Description: c.Description, Position: c.Position,
	}, s.AddComponent, s.showComponent)
}

type statusGroupRenameCmd struct {
	Ref  string `arg:"" help:"ID or name of the group."`
	Name string `arg:"" help:"New name."`
}

// run renames a group of the page in the database of status pages, with an entry in the audit log, and prints the
// group. A component that is no group is not renamed. That, like an invalid argument, goes to s.err, and then nothing
// is written.
func (c *statusGroupRenameCmd) run(ctx context.Context, s *session) error {
	return (&statusComponentSetCmd{componentArg: componentArg{Ref: c.Ref}, Name: &c.Name}).run(ctx, s)
}

type statusComponentCmd struct {
	Add  statusComponentAddCmd `cmd:"" help:"Add a component."`
	Set  statusComponentSetCmd `cmd:"" help:"Change the status or settings of a component."`
	Move statusMoveCmd         `cmd:"" help:"Change the position or the group of a component."`
	Rm   statusRemoveCmd       `cmd:"" help:"Delete a component. Updates that mention it stay."`
}

type statusComponentAddCmd struct {
	Name               string `arg:"" help:"Name."`
	Description        string `help:"Description (default: none)."`
	Group              string `help:"ID or name of the group (default: none)."`
	Position           int32  `help:"Position in the group or on the page, starting at 1 (default: last)."`
	Status             string `default:"operational" help:"Base status: operational, degraded_performance, partial_outage, major_outage or under_maintenance."`
	Showcase           bool   `default:"true" negatable:"" help:"Show the uptime."`
	OnlyShowIfDegraded bool   `help:"Hide the component while it is operational."`
	StartDate          string `help:"First day of the uptime, such as 2026-01-31 (default: today)."`
	Node               *int64 `help:"Number of the consensus node that the component represents (default: none)."`
}

// run adds a component to the page or, with --group, to a group, in the database of status pages, with an entry in the
// audit log, and prints it. A group that is not found is an error in s.err, with which nothing is written.
func (c *statusComponentAddCmd) run(ctx context.Context, s *session) error {
	return write(ctx, s, s.page.Code, status.NewComponent{
		Name: c.Name, Description: c.Description, Group: s.component(ctx, c.Group).Code, Position: c.Position,
		Status: componentStatus(c.Status), Showcase: ledger.Of(c.Showcase), OnlyShowIfDegraded: c.OnlyShowIfDegraded,
		StartDate: ledger.NonZero(status.Date(c.StartDate)), NodeID: ledger.FromPointer(c.Node),
	}, s.AddComponent, s.showComponent)
}

type componentArg struct {
	Ref string `arg:"" help:"ID or name of the component or group, or GROUP/COMPONENT."`
}

type statusComponentSetCmd struct {
	componentArg
	Status             string  `help:"Base status: operational, degraded_performance, partial_outage, major_outage or under_maintenance. Open incidents and maintenances can set a worse one."`
	Name               *string `help:"Name."`
	Description        *string `help:"Description; empty for none."`
	Showcase           *bool   `negatable:"" help:"Show the uptime."`
	OnlyShowIfDegraded *bool   `negatable:"" help:"Hide the component while it is operational."`
	StartDate          *string `help:"First day of the uptime, such as 2026-01-31; empty for none."`
	Node               *int64  `help:"Number of the consensus node that the component represents; -1 for none."`
	Expect             int64   `help:"Expected version. The command fails if the current version differs (default: any version)."`
}

// run changes the given properties of a component in the database of status pages, leaves the others, and prints the
// component, but not in a dry run. The write has an entry in the audit log, and a changed status messages for
// webhooks. An invalid argument goes to s.err, and then nothing is written. It fails if the version of the component
// is not that of --expect.
func (c *statusComponentSetCmd) run(ctx context.Context, s *session) error {
	return write(ctx, s, s.changed(ctx, c.Ref).Code, status.ComponentEdit{
		Name: ledger.FromPointer(c.Name), Description: ledger.FromPointer(c.Description),
		Showcase: ledger.FromPointer(c.Showcase), OnlyShowIfDegraded: ledger.FromPointer(c.OnlyShowIfDegraded),
		StartDate: ledger.FromPointer((*status.Date)(c.StartDate)), NodeID: ledger.FromPointer(c.Node),
		ExpectedVersion: c.Expect, Status: componentStatus(c.Status),
	}, s.EditComponent, s.showComponent)
}

type statusMoveCmd struct {
	componentArg
	Position int32   `help:"New position, starting at 1 (default: last)."`
	Group    *string `help:"ID or name of the new group; empty for none (default: unchanged)."`
}

// run changes the position of a component, and with --group its group, in the database of status pages, with an entry
// in the audit log, and prints the component. An invalid argument goes to s.err, and then nothing is written.
func (c *statusMoveCmd) run(ctx context.Context, s *session) error {
	found := s.changed(ctx, c.Ref)
	group := found.GroupCode.V
	if c.Group != nil {
		group = s.component(ctx, *c.Group).Code
	}
	return write(ctx, s, found.Code, status.ComponentMove{Group: group, Position: c.Position}, s.MoveComponent,
		s.showComponent)
}

type statusRemoveCmd struct{ componentArg }

// run deletes a component or group from the page in the database of status pages, with an entry in the audit log, and
// prints that. An invalid argument goes to s.err, and then nothing is written. It fails for a group that is not empty.
func (c *statusRemoveCmd) run(ctx context.Context, s *session) error {
	return write(ctx, s, s.changed(ctx, c.Ref).Code, status.VersionInput{}, s.RemoveComponent, s.showComponent)
}

type statusTokenCmd struct {
	Add  statusTokenAddCmd  `cmd:"" anypage:"" nodryrun:"" help:"Create a token and print it. It cannot be printed again: only its hash is stored."`
	Rm   statusTokenRmCmd   `cmd:"" anypage:"" nodryrun:"" help:"Delete a token."`
	List statusTokenListCmd `cmd:"" anypage:"" help:"List the tokens."`
}

type statusTokenAddCmd struct {
	status.Token
	Expires *time.Duration `help:"Time until the token expires, such as 720h (default: never)."`
}

// run creates an access token in the database of status pages, with an entry in the audit log, and prints its secret,
// which is not shown again. The token is for the page with --page, and for all pages otherwise. It never expires
// without --expires. It fails if the name is in use or the time until it expires is not positive.
func (c *statusTokenAddCmd) run(ctx context.Context, s *session) error {
	page, err := s.givenPage(ctx)
	if err != nil {
		return err
	}
	if c.PageCode = ledger.NonZero(page); c.Expires != nil {
		c.ExpiresAt = ledger.Of(s.now().Add(*c.Expires))
	}
	token, err := s.AddToken(ctx, s.by, c.Token)
	return s.done(err, map[string]string{"name": c.Name, "role": string(c.Role), "token": token}, "%s", token)
}

// givenPage reads the page with --page from the database and returns its code, or "" without the flag. With the flag it
// also sets s.page, and fails if the page does not exist.
func (s *session) givenPage(ctx context.Context) (string, error) {
	if s.Slug == "" {
		return "", nil
	}
	err := s.selectPage(ctx)
	if err != nil {
		return "", err
	}
	return s.page.Code, nil
}

type statusTokenRmCmd struct {
	Name string `arg:"" help:"Name of the token."`
}

// run deletes an access token in the database of status pages, with an entry in the audit log, and prints its name. It
// fails if the token does not exist.
func (c *statusTokenRmCmd) run(ctx context.Context, s *session) error {
	return s.done(s.RemoveToken(ctx, s.by, c.Name), map[string]string{"name": c.Name}, "token %s was deleted", c.Name)
}

type statusTokenListCmd struct{}

// run reads the access tokens of all pages, also expired ones, from the database of status pages, and prints them
// without their secrets.
func (statusTokenListCmd) run(ctx context.Context, s *session) error {
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
			"name": t.Name, "role": t.Role, "page": t.PageCode.Pointer(), "expires_at": t.ExpiresAt.Pointer(),
			"last_used_at": t.LastUsedAt.Pointer(),
		}, row
	})
}

type statusTemplateCmd struct {
	Set  statusTemplateSetCmd  `cmd:"" help:"Create or replace a template."`
	Rm   statusTemplateRmCmd   `cmd:"" help:"Delete a template."`
	List statusTemplateListCmd `cmd:"" help:"List the templates."`
}

type statusTemplateSetCmd struct{ status.Template }

// run writes a template of the page to the database of status pages, with an entry in the audit log, and prints its
// name. One with the same name is replaced. The state decides whether it is for incidents or maintenances. An invalid
// template is an error.
func (c *statusTemplateSetCmd) run(ctx context.Context, s *session) error {
	c.Kind = c.State.Kind()
	return s.done(s.SetTemplate(ctx, s.by, s.page.Code, c.Template), map[string]string{"name": c.Name},
		"template %s was saved", c.Name)
}

type statusTemplateRmCmd struct {
	Name string `arg:"" help:"Name of the template."`
}

// run deletes a template of the page in the database of status pages, with an entry in the audit log, and prints its
// name. It fails if the page has no such template.
func (c *statusTemplateRmCmd) run(ctx context.Context, s *session) error {
	return s.done(s.RemoveTemplate(ctx, s.by, s.page.Code, c.Name), map[string]string{"name": c.Name},
		"template %s was deleted", c.Name)
}

type statusTemplateListCmd struct{}

// run reads the templates of the page from the database of status pages, and prints them.
func (statusTemplateListCmd) run(ctx context.Context, s *session) error {
	list, err := s.db.Templates(ctx, s.page.Code)
	if err != nil {
		return err
	}
	return table(s, list, func(t *status.Template) (map[string]any, []string) {
		return map[string]any{"name": t.Name, "status": t.State, "title": t.Title, "body": t.Body}, []string{
			t.Name,
			string(t.State), strconv.Quote(t.Title),
		}
	})
}

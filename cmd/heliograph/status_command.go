package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/pmezard/go-difflib/difflib"

	"heliograph/app/gateway"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/rest"
	"heliograph/storage"
	"heliograph/storage/embedded"
	"heliograph/storage/statuspages"
)

// Exit codes of the status commands, besides 0 and 1.
const (
	exitUsage    = 2
	exitBadState = 3
)

// statusCmd is the command group that edits status pages.
type statusCmd struct {
	statusSettings `group:"Flags of all status commands"`

	Init        statusInitCmd        `cmd:"" help:"Create a page with its first component."`
	Page        statusPageCmd        `cmd:"" help:"Settings of a page."`
	Group       statusGroupCmd       `cmd:"" help:"Groups of components."`
	Component   statusComponentCmd   `cmd:"" help:"Components."`
	Incident    statusIncidentCmd    `cmd:"" help:"Incidents."`
	Maintenance statusMaintenanceCmd `cmd:"" help:"Maintenances."`
	Template    statusTemplateCmd    `cmd:"" help:"Templates of incidents and maintenances."`
	Token       statusTokenCmd       `cmd:"" help:"Access tokens for GraphQL mutations."`
	List        statusListCmd        `cmd:"" help:"List incidents, maintenances, components or pages."`
	Show        statusShowCmd        `cmd:"" help:"Show an incident, a maintenance or a component."`
	Render      statusRenderCmd      `cmd:"" help:"Print a document as it is served."`
	Export      statusExportCmd      `cmd:"" help:"Write the page with all its documents to a folder, for a static web server."`
	Check       statusCheckCmd       `cmd:"" help:"Report inconsistent documents, overdue maintenances and outdated mirrors."`
	Sync        statusSyncCmd        `cmd:"" help:"Mirror or import a page of another server."`
	Probe       statusProbeCmd       `cmd:"" help:"Probes, which check components at regular intervals."`
	Webhook     statusWebhookCmd     `cmd:"" help:"Webhooks, to which the updates of a page are sent."`
	Audit       statusAuditCmd       `cmd:"" help:"List the audit log, newest entries first."`
	Watch       statusWatchCmd       `cmd:"" help:"Run probes and due actions, and send to webhooks, in the foreground, as serve does in the background."`
}

// statusSettings are the flags that all status commands share.
type statusSettings struct {
	Slug      string `name:"page" env:"HELIOGRAPH_STATUS_PAGE" help:"Short name of the page (default: the default page)."`
	JSON      bool   `help:"Print JSON."`
	DryRun    bool   `help:"Print what would change in the documents, and write nothing."`
	As        string `env:"HELIOGRAPH_STATUS_AS" help:"Author in the audit log (default: the user name)."`
	FixedTime string `env:"HELIOGRAPH_FIXED_TIME" help:"Fixed current time (RFC 3339), for tests and demos (default: the system clock)."`
	databaseSettings
	logSettings
}

// Each status command implements one of these interfaces.
type (
	// pageCommand is a command that needs a page.
	pageCommand interface {
		run(ctx context.Context, s *session) error
	}
	// databaseCommand is a command that needs only the status database.
	databaseCommand interface {
		runWithoutPage(ctx context.Context, s *session) error
	}
)

// session is the context of a status command: the database, the editor and the page.
type session struct {
	*statusSettings
	*statuspages.Editor
	db   *statuspages.DB
	url  string
	page *status.Page // nil if the command does not need a page
	now  func() time.Time
	by   statuspages.Author
	name string // of the command, without its group

	before map[string][]byte // documents before the write, for a dry run
}

// Run opens the status database and runs the selected command.
func (c *statusCmd) Run(ctx context.Context, call *kong.Context) (err error) {
	now, err := parseClock(c.FixedTime)
	if err != nil {
		return err
	}
	url, done, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	db, err := statuspages.Open(ctx, c.pool(url, statusTimeout, statusConnections))
	if err != nil {
		return unreachable(url, err)
	}
	defer db.Close()
	s := &session{
		statusSettings: &c.statusSettings, Editor: statuspages.NewEditor(db, now), db: db, url: url, now: now,
		by: statuspages.Author{Name: c.author()}, name: call.Selected().Name,
	}
	return explainStatus(url, s.dispatch(ctx, call.Selected().Target.Addr().Interface()))
}

// dispatch runs a command, with the selected page if the command needs it.
func (s *session) dispatch(ctx context.Context, command any) error {
	err := s.Writable(ctx)
	if err != nil {
		return err
	}
	switch c := command.(type) {
	case databaseCommand:
		return c.runWithoutPage(ctx, s)
	case pageCommand:
		err = s.selectPage(ctx)
		if err != nil {
			return err
		}
		return c.run(ctx, s)
	}
	return fmt.Errorf("%T cannot run", command)
}

// selectPage sets the page of the session. It fails if the page does not exist.
func (s *session) selectPage(ctx context.Context) error {
	pages, err := s.db.Pages(ctx)
	if err != nil {
		return err
	}
	if s.page = pages.Default(); s.Slug != "" {
		s.page = pages.BySlug(s.Slug)
	}
	switch {
	case s.page == nil && s.Slug != "":
		return status.Errorf(status.NotFound, "page %q does not exist: create it with `heliograph status init`",
			s.Slug)
	case s.page == nil:
		return status.Errorf(status.NotFound, "there is no status page: create one with `heliograph status init`")
	case !s.DryRun:
		return nil
	}
	s.before, err = s.render(ctx, s.page)
	s.by.Preview = s.preview
	return err
}

// rejectDryRun fails in a dry run. It is for commands that do not change documents, or not immediately.
func (s *session) rejectDryRun() error {
	if s.DryRun {
		return status.Errorf(status.BadInput, "this command does not support --dry-run")
	}
	return nil
}

// statusTimeout is the statement timeout of status commands.
const statusTimeout = 20 * time.Second

// author returns the name that the audit log records.
func (s *statusSettings) author() string {
	if s.As != "" {
		return s.As
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "command line"
}

// database returns the URL of the status database. Without a configured URL it is the embedded database, which is
// started unless another process runs it.
func (s *statusSettings) database(ctx context.Context) (url string, done func() error, err error) {
	nothing := func() error { return nil }
	if s.StatusURL != "" || s.DatabaseURL != "" {
		url, err = s.statusURL(s.DatabaseURL)
		return url, nothing, err
	}
	if err := s.hasDatabase(); err != nil {
		return "", nil, err
	}
	d, err := s.open(ctx, slog.New(slog.DiscardHandler))
	if err == nil {
		return d.url, d.close, nil
	}
	if !errors.Is(err, embedded.ErrInUse) {
		return "", nil, err
	}
	dir, dirErr := s.dataDir()
	if dirErr != nil {
		return "", nil, dirErr
	}
	sockets, globErr := filepath.Glob(filepath.Join(dir, "pg*", "s", ".s.PGSQL.5432"))
	if globErr != nil || len(sockets) != 1 {
		return "", nil, err
	}
	return "host='" + filepath.Dir(sockets[0]) + "' port=5432 user=" + embedded.Name + " dbname=" +
		embedded.Name, nothing, nil
}

// explainStatus maps an error to its exit code and a one-line message.
func explainStatus(url string, err error) error {
	var transition *status.TransitionError
	var rejected *status.Error
	var exit *exitError
	var unwritable *statuspages.Unwritable
	switch {
	case err == nil, errors.As(err, &exit):
		return err
	case errors.As(err, &transition):
		return &exitError{exitBadState, transition}
	case errors.As(err, &rejected):
		code := map[status.Reason]int{status.BadInput: exitUsage, status.BadState: exitBadState}[rejected.Reason]
		if code == exitUsage {
			return &exitError{code, fmt.Errorf("%w (see --help of the command)", rejected)}
		}
		if rejected.Reason == status.NotFound && !strings.Contains(rejected.Error(), "`") {
			return fmt.Errorf("%w; `heliograph status list` prints incidents, maintenances, components or pages",
				rejected)
		}
		return &exitError{max(code, 1), rejected}
	case errors.As(err, &unwritable):
		return unwritable
	case storage.FailureOf(err) == storage.FailureDatabase:
		return unreachable(url, err)
	default:
		return err
	}
}

func (s *session) render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	g, err := s.gateway(false)
	if err != nil {
		return nil, err
	}
	return g.Render(ctx, p)
}

// gateway returns a gateway that renders the documents and, if static is set, the HTML of pages as files.
func (s *session) gateway(static bool) (*gateway.Gateway, error) {
	cfg := &rest.Config{LimitDefault: 25, LimitMax: 100, Now: s.now, Cache: static}
	return gateway.New(gateway.Options{
		Status: s.db, REST: cfg, Logger: slog.New(slog.DiscardHandler), Static: static,
	})
}

// preview prints the documents that a write changes. It ignores their modification times.
func (s *session) preview(ctx context.Context) error {
	page, err := s.db.PageByCode(ctx, s.page.Code)
	if err != nil {
		return err
	}
	after, err := s.render(ctx, page)
	if err != nil {
		return err
	}
	return s.printChanged(s.before, after)
}

// printChanged prints the differences between documents as unified diffs of their properties, one a line.
func (s *session) printChanged(before, after map[string][]byte) error {
	for _, name := range status.Documents() {
		diff := difflib.UnifiedDiff{
			A: lines(before[name]), B: lines(after[name]), FromFile: name, ToFile: name,
			Context: 3,
		}
		if err := difflib.WriteUnifiedDiff(os.Stdout, diff); err != nil {
			return fmt.Errorf("printing the changes of %s: %w", name, err)
		}
	}
	return nil
}

// lines returns the lines of a document with one property each, without the modification time of its page.
func lines(document []byte) []string {
	var b bytes.Buffer
	if json.Indent(&b, document, "", "  ") != nil { // there is no document
		return nil
	}
	b.WriteByte('\n')
	all := slices.Collect(strings.Lines(b.String()))
	if i := slices.IndexFunc(all, func(line string) bool {
		return strings.HasPrefix(line,
			`    "updated_at"`)
	}); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	return all
}

// print prints an object as JSON if the JSON flag is set, and the formatted line otherwise. It prints nothing in a dry
// run.
func (s *session) print(object any, line string, args ...any) error {
	if s.DryRun {
		return nil
	}
	if !s.JSON {
		_, err := fmt.Fprintf(os.Stdout, line+"\n", args...)
		return err //nolint:wrapcheck // writing to the terminal
	}
	return printJSON(object)
}

// arguments converts the arguments of a command. After an error, conversions return zero values; commands check err
// before they write.
type arguments struct {
	*session
	ctx context.Context //nolint:containedctx // of one command
	err error
}

func (s *session) arguments(ctx context.Context) *arguments { return &arguments{session: s, ctx: ctx} }

// fail records the first error.
func (a *arguments) fail(err error) { a.err = cmp.Or(a.err, err) }

func (a *arguments) time(text string) time.Time {
	t, err := status.ParseTime(text, a.page.Zone)
	a.fail(err)
	return t
}

// optionalTime is like time for an optional flag. An empty text is null.
func (a *arguments) optionalTime(text string) ledger.Null[time.Time] {
	if text == "" {
		return ledger.Null[time.Time]{}
	}
	return ledger.Of(a.time(text))
}

// optionalDate parses a date. An empty text is the empty date.
func (a *arguments) optionalDate(text string) status.Date {
	if text == "" {
		return ""
	}
	day, err := status.ParseDate(text)
	if err != nil {
		a.fail(status.Errorf(status.BadInput, "%v", err))
	}
	return day
}

// component returns the component or group with the given id or name. It is empty after an error.
func (a *arguments) component(ref string) *status.Component {
	c, err := a.find(a.ctx, ref)
	a.fail(err)
	if err != nil {
		return &status.Component{}
	}
	return c
}

// codes returns the codes of the components or groups with the given ids or names.
func (a *arguments) codes(refs []string) []string {
	return list.Map(refs, func(ref string) string { return a.component(ref).Code })
}

// group returns the code of the group with the given id or name, or an empty string for an empty reference.
func (a *arguments) group(ref string) string {
	if ref == "" {
		return ""
	}
	return a.component(ref).Code
}

func (a *arguments) affected(given []string) (out []status.Assignment) {
	for _, text := range given {
		i := strings.LastIndex(text, "=")
		if i < 0 {
			a.fail(status.Errorf(status.BadInput, "%q does not have the form COMPONENT=STATUS", text))
			return nil
		}
		c, to := a.component(text[:i]), componentStatus(text[i+1:])
		if !to.Valid() {
			all := list.Map(status.ComponentStatuses(), func(s status.ComponentStatus) string { return string(s) })
			a.fail(status.Errorf(status.BadInput, "%q is not a component status: use one of %s", text[i+1:],
				strings.Join(all, ", ")))
		}
		out = append(out, status.Assignment{Component: c.Code, Status: to})
	}
	return out
}

// state returns the current state of the notice with a code.
func (a *arguments) state(code string) status.State {
	n, err := a.notice(a.ctx, code)
	if err == nil && n == nil {
		err = status.Errorf(status.NotFound, "notice %s does not exist", code)
	}
	a.fail(err)
	if err != nil {
		return ""
	}
	return n.State
}

// find returns the component or group with the given id or name.
func (s *session) find(ctx context.Context, ref string) (*status.Component, error) {
	w, err := s.db.WorkingCopy(ctx, s.page)
	if err != nil {
		return nil, err
	}
	return w.Find(ref)
}

// keyValues splits arguments of the form KEY=VALUE.
func keyValues(texts []string) ([]status.PageSetting, error) {
	out := make([]status.PageSetting, len(texts))
	for i, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, status.Errorf(status.BadInput, "%q does not have the form KEY=VALUE", text)
		}
		out[i] = status.PageSetting{Key: key, Value: value}
	}
	return out, nil
}

func componentStatus(text string) status.ComponentStatus {
	return status.ComponentStatus(strings.ReplaceAll(strings.ToLower(text), "-", "_"))
}

// noticeCode returns the code of a notice from its code or URL.
func noticeCode(ref string) string {
	return ref[strings.LastIndex(strings.TrimRight(ref, "/"), "/")+1:]
}

// notice returns the notice with a code, or nil.
func (s *session) notice(ctx context.Context, code string) (*status.Notice, error) {
	notices, err := s.db.NoticesByCode(ctx, status.Pages{s.page}, []string{code})
	return notices[code], err
}

// confirm returns a function that takes the results of a write, and shows the object unless the write failed or was a
// dry run.
func (s *session) confirm(show func(code string) error) func(code string, err error) error {
	return func(code string, err error) error {
		if err != nil || s.DryRun {
			return err
		}
		return show(code)
	}
}

// confirmNotice is [session.confirm] for notices.
func (s *session) confirmNotice(ctx context.Context) func(code string, err error) error {
	return s.confirm(func(code string) error {
		n, err := s.notice(ctx, code)
		if err != nil {
			return err
		}
		switch {
		case n == nil:
			return s.confirmDeleted(code)
		case n.Draft:
			return s.print(noticeObject(n), "%s is %s (draft), impact %s, version %d", code, n.State, n.Impact,
				n.Version)
		default:
			return s.print(noticeObject(n), "%s is %s, impact %s, version %d", code, n.State, n.Impact, n.Version)
		}
	})
}

// confirmComponent is [session.confirm] for components.
func (s *session) confirmComponent(ctx context.Context) func(code string, err error) error {
	return s.confirm(func(code string) error {
		w, err := s.db.WorkingCopy(ctx, s.page)
		if err != nil {
			return err
		}
		c := w.Component(code)
		switch {
		case c == nil:
			return s.confirmDeleted(code)
		case c.IsGroup:
			return s.print(componentObject(c), "%s %s, a group, position %d", code, c.Name, c.Position)
		default:
			return s.print(componentObject(c), "%s %s is %s, position %d, version %d", code, c.QualifiedName(),
				c.Status, c.Position, c.Version)
		}
	})
}

func (s *session) confirmDeleted(code string) error {
	return s.print(map[string]string{"id": code}, "%s was deleted", code)
}

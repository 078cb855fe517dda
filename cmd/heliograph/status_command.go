package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
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

	Init        statusInitCmd        `cmd:"" anypage:"" help:"Create a page with its first component."`
	Page        statusPageCmd        `cmd:"" help:"Settings of a page."`
	Group       statusGroupCmd       `cmd:"" help:"Groups of components."`
	Component   statusComponentCmd   `cmd:"" help:"Components."`
	Incident    statusIncidentCmd    `cmd:"" help:"Incidents."`
	Maintenance statusMaintenanceCmd `cmd:"" help:"Maintenances."`
	Template    statusTemplateCmd    `cmd:"" help:"Templates of incidents and maintenances."`
	Token       statusTokenCmd       `cmd:"" help:"Access tokens for GraphQL mutations."`
	List        statusListCmd        `cmd:"" anypage:"" help:"List incidents, maintenances, components or pages."`
	Show        statusShowCmd        `cmd:"" help:"Show an incident, a maintenance or a component."`
	Render      statusRenderCmd      `cmd:"" help:"Print a document as it is served."`
	Export      statusExportCmd      `cmd:"" nodryrun:"" help:"Write the page with all its documents to a folder, for a static web server."`
	Check       statusCheckCmd       `cmd:"" help:"Report inconsistent documents, overdue maintenances and outdated mirrors."`
	Sync        statusSyncCmd        `cmd:"" anypage:"" help:"Mirror or import a page of another server."`
	Probe       statusProbeCmd       `cmd:"" help:"Probes, which check components at regular intervals."`
	Webhook     statusWebhookCmd     `cmd:"" help:"Webhooks, to which the updates of a page are sent."`
	Audit       statusAuditCmd       `cmd:"" anypage:"" help:"List the audit log, newest entries first."`
	Watch       statusWatchCmd       `cmd:"" anypage:"" nodryrun:"" help:"Run probes and due actions, and send to webhooks, in the foreground, as serve does in the background."`
}

// statusSettings are the flags that all status commands share.
type statusSettings struct {
	Slug      string `name:"page" env:"HELIOGRAPH_STATUS_PAGE" help:"Short name of the page (default: the default page)."`
	JSON      bool   `help:"Print JSON."`
	DryRun    bool   `help:"Print what would change in the documents, and write nothing."`
	As        string `env:"HELIOGRAPH_STATUS_AS,LOGNAME,USER" default:"command line" help:"Author in the audit log (default: the variable LOGNAME or USER)."`
	FixedTime string `env:"HELIOGRAPH_FIXED_TIME" help:"Fixed current time (RFC 3339), for tests and demos (default: the system clock)."`
	databaseSettings
	logSettings
}

// statusCommand is a status command. It has the selected page unless its tag is anypage, and cannot be a dry run if
// its tag is nodryrun.
type statusCommand interface {
	run(ctx context.Context, s *session) error
}

// session is the context of a status command: the database, the editor and the page.
type session struct {
	*statusSettings
	*statuspages.Editor
	db   *statuspages.DB
	url  string
	page *status.Page // nil if the command does not need a page
	now  func() time.Time
	by   statuspages.Author
	// name and parent are the names of the command and of its group.
	name, parent string
	err          error // the first error of an argument
}

// Run opens the status database, starting the embedded server if necessary, and runs the selected command in a
// session. In a dry run the database rolls back each write after [session.preview]. Errors of the command have the
// exit code and message of [explainStatus]. It closes the pool at the end and stops a server that it has started; an
// error of that is joined to the one of the command.
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
		by: statuspages.Author{Name: c.As}, name: call.Selected().Name, parent: call.Selected().Parent.Name,
	}
	if s.DryRun {
		s.by.Preview = func(preview context.Context) error { return s.preview(ctx, preview) }
	}
	return explainStatus(url, s.dispatch(ctx, call.Selected()))
}

// dispatch runs a command, with the selected page in s.page if the command needs it. It fails if the command does
// not support --dry-run, or the database is not writable.
func (s *session) dispatch(ctx context.Context, selected *kong.Node) error {
	command, ok := selected.Target.Addr().Interface().(statusCommand)
	if !ok {
		return fmt.Errorf("%s cannot run", selected.Name)
	}
	err := cmp.Or(status.FailIf(s.DryRun && selected.Tag.Has("nodryrun"), status.BadInput,
		"this command does not support --dry-run"), s.Writable(ctx))
	if err == nil && !selected.Tag.Has("anypage") {
		err = s.selectPage(ctx)
	}
	if err != nil {
		return err
	}
	return command.run(ctx, s)
}

// selectPage reads the pages and sets s.page to the one with the slug of the flag, by default the default page. From
// then on, the session writes to this page only. It fails if the page does not exist.
func (s *session) selectPage(ctx context.Context) error {
	pages, err := s.db.Pages(ctx)
	if err != nil {
		return err
	}
	if s.page = pages.Default(); s.Slug != "" {
		s.page = pages.BySlug(s.Slug)
	}
	if s.page != nil {
		s.by.Page = s.page.Code
	}
	return cmp.Or(status.FailIf(s.page == nil && s.Slug != "", status.NotFound,
		"page %q does not exist: create it with `heliograph status init`", s.Slug),
		status.FailIf(s.page == nil, status.NotFound,
			"there is no status page: create one with `heliograph status init`"))
}

// statusTimeout is the statement timeout of status commands.
const statusTimeout = 20 * time.Second

// database returns the URL of the status database, and a function that stops what it has started. Without a configured
// URL it is the embedded database, which must exist unless --data-dir is set, and which is started unless another
// process runs it. In that case the result is a keyword string with the folder of its socket. After an error, done can
// be nil.
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
	sockets, globErr := fs.Glob(os.DirFS(filepath.Clean(dir)), "pg*/s/.s.PGSQL.5432")
	if globErr != nil || len(sockets) != 1 {
		return "", nil, err
	}
	return "host='" + filepath.Join(dir, path.Dir(sockets[0])) + "' port=5432 user=" + embedded.Name + " dbname=" +
		embedded.Name, nothing, nil
}

// explainStatus returns the error of a status command with its exit code and a one-line message that says what to do.
// url is that of the database, whose password the message does not contain. Errors that are not of a rejected edit or
// of the database, and those that have an exit code already, are returned as they are; nil stays nil.
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
			return fmt.Errorf("%w; `heliograph status list` prints incidents, maintenances and components of the "+
				"page, which --page selects, or pages", rejected)
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

// render returns the bodies of all documents of the status API by name, from a gateway that it creates in this process
// and does not keep; false leaves out the HTML. It reads the present state on the pool, or the state in the
// transaction of ctx: a snapshot or a write that is previewed. It writes nothing.
func (s *session) render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	g, err := s.gateway(false)
	if err != nil {
		return nil, err
	}
	return g.Render(ctx, p)
}

// gateway returns a new gateway in this process, without a ledger and without listening, that renders the
// documents and, if static is set, the HTML of pages as files.
func (s *session) gateway(static bool) (*gateway.Gateway, error) {
	cfg := &rest.Config{LimitDefault: 25, LimitMax: 100, Now: s.now, Cache: static}
	return gateway.New(gateway.Options{
		Status: s.db, REST: cfg, Logger: slog.New(slog.DiscardHandler), Static: static,
	})
}

// preview prints the differences of the documents that a write changes, without their modification times. Reads with
// the context now see the state before the write, those with after the state after it. It compares the pages whose
// revision has changed; a new page has only added lines. The caller, which is the editor, rolls the write back.
func (s *session) preview(now, after context.Context) error {
	pages, err := s.db.Pages(now)
	if err != nil {
		return err
	}
	changed, err := s.db.Pages(after)
	if err != nil {
		return err
	}
	for _, p := range changed {
		var before map[string][]byte
		switch old := pages.ByCode(p.Code); {
		case old == nil:
		case old.Revision == p.Revision:
			continue
		default:
			before, err = s.render(now, old)
			if err != nil {
				return err
			}
		}
		rendered, err := s.render(after, p)
		if err != nil {
			return err
		}
		err = s.printChanged(before, rendered)
		if err != nil {
			return err
		}
	}
	return nil
}

// printChanged prints the differences between documents to standard output, as unified diffs of their properties, one
// a line. before and after are the bodies by the names of [status.Documents]. A missing document counts as empty, and
// equal ones print nothing.
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

// lines returns the lines of a JSON document with one property each, without the modification time of its page,
// for a diff. It returns nil if there is no document.
func lines(document []byte) []string {
	var b bytes.Buffer
	if json.Indent(&b, document, "", "  ") != nil { // there is no document
		return nil
	}
	b.WriteByte('\n')
	return slices.DeleteFunc(slices.Collect(strings.Lines(b.String())), func(line string) bool {
		return strings.HasPrefix(line, `    "updated_at"`)
	})
}

// print writes an object as JSON to standard output if the JSON flag is set, and the formatted line otherwise. It
// prints nothing in a dry run.
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

// done prints the result of a write to standard output: object as JSON if the JSON flag is set, and the formatted line
// otherwise. In a dry run it prints nothing, and if err is not nil it only returns that.
func (s *session) done(err error, object any, line string, args ...any) error {
	if err != nil {
		return err
	}
	return s.print(object, line, args...)
}

// write sends an input to do, a method of the editor, with the code of the object that it changes, and calls show with
// the returned code. do writes to the database, with an entry in the audit log and messages for webhooks; in a dry run
// it rolls back. write returns s.err without writing if an argument was invalid, and shows nothing in a dry run.
func write[I any](ctx context.Context, s *session, code string, in I,
	do func(ctx context.Context, by statuspages.Author, code string, in I) (string, error),
	show func(ctx context.Context, code string) error,
) error {
	if s.err != nil {
		return s.err
	}
	code, err := do(ctx, s.by, code, in)
	if err != nil || s.DryRun {
		return err
	}
	return show(ctx, code)
}

// The following methods convert arguments. If one is invalid, they record the error and return the zero value.

// fail records the error of an argument in s.err, unless that has an earlier one. A write then returns it. Nil is no
// error and changes nothing.
func (s *session) fail(err error) { s.err = cmp.Or(s.err, err) }

// time parses the time of an argument, in the time zone of the page unless the text has one. An error goes to
// [session.fail], and the result is the zero time. The session must have a page.
func (s *session) time(text string) time.Time {
	t, err := status.ParseTime(text, s.page.Zone)
	s.fail(err)
	return t
}

// optionalTime parses the time of an optional flag, in the time zone of the page unless the text has one. An empty
// text is null. The error of an invalid one goes to [session.fail], and the result is the zero time, not null. The
// session must have a page.
func (s *session) optionalTime(text string) ledger.Null[time.Time] {
	if text == "" {
		return ledger.Null[time.Time]{}
	}
	return ledger.Of(s.time(text))
}

// component reads the component or group with the given id or name, or returns an empty one for an empty
// reference. An error goes to [session.fail], and the result is empty too.
func (s *session) component(ctx context.Context, ref string) *status.Component {
	if ref == "" {
		return &status.Component{}
	}
	c, err := s.find(ctx, ref)
	s.fail(err)
	return cmp.Or(c, &status.Component{})
}

// changed is [session.component] for the one that a command changes. If the command is one of groups, a component is an
// error too.
func (s *session) changed(ctx context.Context, ref string) *status.Component {
	c := s.component(ctx, ref)
	s.fail(status.FailIf(s.parent == "group" && c.Code != "" && !c.IsGroup, status.BadInput, "%s is not a group",
		c.QualifiedName()))
	return c
}

// codes returns the codes of the components or groups with the given ids or names, which it reads from the database.
// An error goes to [session.fail], and the code at that position is empty.
func (s *session) codes(ctx context.Context, refs []string) []string {
	return list.Map(refs, func(ref string) string { return s.component(ctx, ref).Code })
}

// affected parses arguments of the form COMPONENT=STATUS. It reads components from the database. An error goes to
// [session.fail], and the result still has an item for that argument, whose component is empty if it is missing or
// unknown. It does not check that the status exists.
func (s *session) affected(ctx context.Context, given []string) (out []status.Assignment) {
	for _, text := range given {
		i := strings.LastIndex(text, "=")
		s.fail(status.FailIf(i < 0, status.BadInput, "%q does not have the form COMPONENT=STATUS", text))
		out = append(out, status.Assignment{
			Component: s.component(ctx, text[:max(i, 0)]).Code, Status: componentStatus(text[i+1:]),
		})
	}
	return out
}

// find reads the components of the page and returns the component or group with the given id or name. It fails if
// there is none, or if several have the name.
func (s *session) find(ctx context.Context, ref string) (*status.Component, error) {
	w, err := s.db.WorkingCopy(ctx, s.page)
	if err != nil {
		return nil, err
	}
	return w.Find(ref)
}

// componentStatus returns the status in an argument, in which case does not matter and a hyphen is an underscore.
// It does not check that it exists.
func componentStatus(text string) status.ComponentStatus {
	return status.ComponentStatus(strings.ReplaceAll(strings.ToLower(text), "-", "_"))
}

// noticeCode returns the code of a notice from its code or the URL of its page. It reads nothing.
func noticeCode(ref string) string {
	ref = strings.TrimRight(ref, "/")
	return ref[strings.LastIndex(ref, "/")+1:]
}

// notice reads the notice with a code, or returns nil if it does not exist. Its times are in the zone of the page of
// the session, or in UTC if it belongs to another page.
func (s *session) notice(ctx context.Context, code string) (*status.Notice, error) {
	notices, err := s.db.NoticesByCode(ctx, status.Pages{s.page}, []string{code})
	return notices[code], err
}

// showNotice reads a notice and prints its state after a write, or that it was deleted if it does not exist any
// more.
func (s *session) showNotice(ctx context.Context, code string) error {
	n, err := s.notice(ctx, code)
	switch {
	case err != nil:
		return err
	case n == nil:
		return s.showDeleted(code)
	}
	draft := ""
	if n.Draft {
		draft = " (draft)"
	}
	return s.print(noticeObject(n), "%s is %s%s, impact %s, version %d", code, n.State, draft, n.Impact, n.Version)
}

// showComponent reads a component and prints its state after a write, or that it was deleted if it does not exist
// any more.
func (s *session) showComponent(ctx context.Context, code string) error {
	w, err := s.db.WorkingCopy(ctx, s.page)
	if err != nil {
		return err
	}
	c := w.Component(code)
	switch {
	case c == nil:
		return s.showDeleted(code)
	case c.IsGroup:
		return s.print(componentObject(c), "%s %s, a group, position %d", code, c.Name, c.Position)
	default:
		return s.print(componentObject(c), "%s %s is %s, position %d, version %d", code, c.QualifiedName(),
			c.Status, c.Position, c.Version)
	}
}

// showDeleted prints to standard output that the notice or component with a code was deleted. In a dry run it prints
// nothing.
func (s *session) showDeleted(code string) error {
	return s.print(map[string]string{"id": code}, "%s was deleted", code)
}

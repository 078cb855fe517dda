package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"heliograph/app/gateway"
	"heliograph/internal/domain/status"
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
	statusSettings
	Init        statusInitCmd        `cmd:"" help:"Make a page with its first component."`
	Page        statusPageCmd        `cmd:"" help:"Settings of a page."`
	Group       statusGroupCmd       `cmd:"" help:"Groups of components."`
	Component   statusComponentCmd   `cmd:"" help:"Components."`
	Incident    statusIncidentCmd    `cmd:"" help:"Incidents."`
	Maintenance statusMaintenanceCmd `cmd:"" help:"Maintenances."`
	Template    statusTemplateCmd    `cmd:"" help:"Prepared texts."`
	Token       statusTokenCmd       `cmd:"" help:"Who may write through the graph."`
	List        statusListCmd        `cmd:"" help:"List what is on a page."`
	Show        statusShowCmd        `cmd:"" help:"Show a notice or a component."`
	Render      statusRenderCmd      `cmd:"" help:"Print a document as it is served."`
	Export      statusExportCmd      `cmd:"" help:"Write all documents into a folder that any web server can serve."`
	Check       statusCheckCmd       `cmd:"" help:"Look for contradictions in the documents, and for maintenances that are overdue."`
	Sync        statusSyncCmd        `cmd:"" help:"Copy a page from elsewhere, once or again and again."`
	Probe       statusProbeCmd       `cmd:"" help:"What is asked regularly to find out how components are."`
	Audit       statusAuditCmd       `cmd:"" help:"List who wrote what, the newest first."`
	Watch       statusWatchCmd       `cmd:"" help:"Do what the time has come for and ask the probes, in the foreground, as serve does in the background."`
}

// AfterApply binds the settings for the Run methods of the commands.
func (c *statusCmd) AfterApply(call *kong.Context) error { //nolint:unparam // kong asks for it
	call.Bind(&c.statusSettings)
	return nil
}

// statusSettings are the flags that all status commands share.
type statusSettings struct {
	Slug      string `name:"page" env:"HELIOGRAPH_STATUS_PAGE" help:"Short name of the page (default: the default page)."`
	JSON      bool   `help:"Print JSON."`
	DryRun    bool   `help:"Print the documents that would change, and change nothing."`
	As        string `env:"HELIOGRAPH_STATUS_AS" help:"Who writes, for the audit (default: the user)."`
	FixedTime string `env:"HELIOGRAPH_FIXED_TIME" help:"RFC 3339 instant at which \"now\" stands still (default: the real clock)."`
	databaseSettings
	logSettings
}

// newsroom is the context of a status command: the database, the editor, the page and the output.
type newsroom struct {
	*statusSettings
	*statuspages.Editor
	db   *statuspages.DB
	url  string
	page *status.Page // nil if the command does not need a page
	now  func() time.Time
	by   statuspages.Author
	out  io.Writer

	before map[string][]byte // documents before the write, for a dry run
}

// with calls run with the selected page. It fails if the page does not exist.
func (s *statusSettings) with(ctx context.Context, run func(ctx context.Context, n *newsroom) error) error {
	return s.session(ctx, func(ctx context.Context, n *newsroom) error {
		pages, err := n.db.Pages(ctx)
		if err != nil {
			return err
		}
		if n.page = pages.Default(); s.Slug != "" {
			n.page = pages.BySlug(s.Slug)
		}
		switch {
		case n.page == nil && s.Slug != "":
			return status.Errorf(status.NotFound, "there is no page %q: `heliograph status init` makes one", s.Slug)
		case n.page == nil:
			return status.Errorf(status.NotFound, "there is no page: `heliograph status init` makes one")
		}
		if s.DryRun {
			if n.before, err = n.render(ctx, n.page); err != nil {
				return err
			}
			n.by.Preview = n.preview
		}
		return run(ctx, n)
	})
}

// session opens the status database and calls run without a page.
func (s *statusSettings) session(ctx context.Context, run func(ctx context.Context, n *newsroom) error) (err error) {
	now, err := (&ledgerSettings{FixedTime: s.FixedTime}).clock()
	if err != nil {
		return err
	}
	url, done, err := s.database(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	db, err := statuspages.Open(ctx, storage.PoolOptions{URL: url, StatementTimeout: statusTimeout, ConnectTimeout: connectTimeout,
		MaxConnections: statusConnections})
	if err != nil {
		return unreachable(url, err)
	}
	defer db.Close()
	n := &newsroom{statusSettings: s, Editor: statuspages.NewEditor(db, now, nil), db: db, url: url, now: now, by: statuspages.Author{Name: s.author()},
		out: os.Stdout}
	if err := n.Writable(ctx); err != nil {
		return explainStatus(url, err)
	}
	return explainStatus(url, run(ctx, n))
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

// database returns the URL of the status database. Without a configured URL it is the embedded database, which is started unless another process runs it.
func (s *statusSettings) database(ctx context.Context) (url string, done func() error, err error) {
	nothing := func() error { return nil }
	if s.StatusURL != "" || s.DatabaseURL != "" {
		url, err = s.statusURL(s.DatabaseURL)
		return url, nothing, err
	}
	log := slog.New(slog.DiscardHandler)
	d, err := s.open(ctx, log)
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
	return "host='" + filepath.Dir(sockets[0]) + "' port=5432 user=" + embedded.Name + " dbname=" + embedded.Name, nothing, nil
}

// explainStatus maps an error to its exit code and a one-line message.
func explainStatus(url string, err error) error {
	var step *status.TransitionError
	var refusal *status.Error
	var exit *exitError
	var unwritable *statuspages.Unwritable
	switch {
	case err == nil, errors.As(err, &exit):
		return err
	case errors.As(err, &step):
		return &exitError{exitBadState, step}
	case errors.As(err, &refusal):
		code := map[status.Reason]int{status.BadInput: exitUsage, status.BadState: exitBadState}[refusal.Reason]
		return &exitError{max(code, 1), refusal}
	case errors.As(err, &unwritable):
		return unwritable
	case storage.FailureOf(err) == storage.FailureDatabase:
		return unreachable(url, err)
	default:
		return err
	}
}

// render renders all documents of a page.
func (n *newsroom) render(ctx context.Context, p *status.Page) (map[string][]byte, error) {
	cfg, err := (&ledgerSettings{
		FixedTime: n.FixedTime, ChainID: "1", LimitDefault: 25, LimitMax: 100, LimitTokenBalancesList: 1, LimitTokenBalancesAccount: 1, MaxRepeatedParameters: 1,
		MaxTransactionsRange: 1, MaxFileAttempts: 1,
	}).rest()
	if err != nil {
		return nil, err
	}
	g, err := gateway.New(gateway.Options{Status: n.db, REST: cfg, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return g.Render(ctx, p)
}

// preview prints the documents that a write changes. It ignores their modification times.
func (n *newsroom) preview(ctx context.Context) error {
	pages, err := n.db.Pages(ctx)
	if err != nil {
		return err
	}
	for _, p := range pages {
		if n.page == nil || p.Code != n.page.Code {
			continue
		}
		after, err := n.render(ctx, p)
		if err != nil {
			return err
		}
		n.printChanged(n.before, after)
	}
	return nil
}

// printChanged prints the documents that differ.
func (n *newsroom) printChanged(before, after map[string][]byte) {
	for _, name := range status.Documents() {
		if !bytes.Equal(undated(before[name]), undated(after[name])) {
			fmt.Fprintf(n.out, "%s\n%s\n", name, after[name])
		}
	}
}

// undated returns a document without the modification time of its page.
func undated(document []byte) []byte {
	const key = `"updated_at":"`
	before, after, found := bytes.Cut(document, []byte(key))
	if !found {
		return document
	}
	_, after, _ = bytes.Cut(after, []byte(`"`))
	return slices.Concat(before, after)
}

// print prints an object as JSON if the JSON flag is set, and the formatted line otherwise. It prints nothing in a dry run.
func (n *newsroom) print(object any, line string, args ...any) error {
	if n.DryRun {
		return nil
	}
	if !n.JSON {
		_, err := fmt.Fprintf(n.out, line+"\n", args...)
		return err //nolint:wrapcheck // writing to the terminal
	}
	enc := json.NewEncoder(n.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(object) //nolint:wrapcheck // writing to the terminal
}

// time parses a time in the time zone of the page.
func (n *newsroom) time(text string) (time.Time, error) { return status.ParseTime(text, n.page.Zone) }

// find returns the component or group with the given id or name.
func (n *newsroom) find(ctx context.Context, ref string) (*status.Component, error) {
	b, err := n.db.WorkingCopy(ctx, n.page)
	if err != nil {
		return nil, err
	}
	return b.Find(ref)
}

// group returns the code of the group with the given id or name, or an empty string for an empty reference.
func (n *newsroom) group(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	c, err := n.find(ctx, ref)
	if err != nil {
		return "", err
	}
	return c.Code, nil
}

// affected parses a list of REFERENCE=STATE assignments.
func (n *newsroom) affected(ctx context.Context, list []string) ([]status.Assignment, error) {
	var out []status.Assignment
	for _, text := range list {
		i := strings.LastIndex(text, "=")
		if i < 0 {
			return nil, status.Errorf(status.BadInput, "%q is not of the form component=state", text)
		}
		c, err := n.find(ctx, text[:i])
		if err != nil {
			return nil, err
		}
		s := componentStatus(text[i+1:])
		if !s.Valid() {
			return nil, status.Errorf(status.BadInput,
				"%q is no state of a component: there are operational, degraded_performance, partial_outage, major_outage, under_maintenance", text[i+1:])
		}
		out = append(out, status.Assignment{Component: c.Code, Status: s})
	}
	return out, nil
}

// componentStatus parses a component state.
func componentStatus(text string) status.ComponentStatus {
	return status.ComponentStatus(strings.ReplaceAll(strings.ToLower(text), "-", "_"))
}

// noticeCode returns the code of a notice from its code or URL.
func noticeCode(ref string) string {
	return ref[strings.LastIndex(strings.TrimRight(ref, "/"), "/")+1:]
}

// confirmNotice prints a notice after a write.
func (n *newsroom) confirmNotice(ctx context.Context, code string, err error) error {
	if err != nil || n.DryRun {
		return err
	}
	found, err := n.db.NoticesByCode(ctx, status.Pages{n.page}, []string{code})
	if err != nil {
		return err
	}
	notice := found[code]
	if notice == nil {
		return n.print(map[string]string{"id": code}, "%s has been removed", code)
	}
	draft := ""
	if notice.Draft {
		draft = " (draft)"
	}
	return n.print(noticeObject(notice), "%s is %s%s, impact %s, version %d", code, notice.State, draft, notice.Impact, notice.Version)
}

// confirmComponent prints a component after a write.
func (n *newsroom) confirmComponent(ctx context.Context, code string, err error) error {
	if err != nil || n.DryRun {
		return err
	}
	b, err := n.db.WorkingCopy(ctx, n.page)
	if err != nil {
		return err
	}
	c := b.Component(code)
	switch {
	case c == nil:
		return n.print(map[string]string{"id": code}, "%s has been removed", code)
	case c.IsGroup:
		return n.print(componentObject(c), "%s %s, a group, position %d", code, c.Name, c.Position)
	default:
		return n.print(componentObject(c), "%s %s is %s, position %d, version %d", code, c.QualifiedName(), c.Status, c.Position, c.Version)
	}
}

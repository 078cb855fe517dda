package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// pageObject returns the members of a page in the JSON output of status commands. p must not be nil.
func pageObject(p *status.Page) map[string]any {
	return map[string]any{
		"id": p.Code, "slug": p.Slug, "name": p.Name, "url": p.URL, "hosts": p.Hosts, "default": p.IsDefault,
		"time_zone": p.TimeZone,
		"locale":    p.Locale, "vocabulary": p.Vocabulary, "mode": p.Mode, "auto_publish": p.AutoPublish,
		"texts":      p.Texts,
		"revision":   p.Revision,
		"updated_at": p.UpdatedAt,
	}
}

// componentObject returns the members of a component or group in the JSON output of status commands. What it does not
// have is null.
func componentObject(c *status.Component) map[string]any {
	return map[string]any{
		"id": c.Code, "name": c.Name, "qualified_name": c.QualifiedName(), "status": c.Status,
		"base_status": c.BaseStatus, "group": c.IsGroup,
		"group_id": c.GroupCode.Pointer(), "position": c.Position, "description": c.Description.Pointer(),
		"showcase":              c.Showcase,
		"only_show_if_degraded": c.OnlyShowIfDegraded, "start_date": c.StartDate.Pointer(),
		"node_id": c.NodeID.Pointer(), "version": c.Version,
	}
}

// noticeObject returns the members of an incident or a maintenance, without updates, in the JSON output of status
// commands. What it does not have is null.
func noticeObject(n *status.Notice) map[string]any {
	return map[string]any{
		"id": n.Code, "kind": n.Kind, "name": n.Name, "status": n.State, "impact": n.Impact,
		"impact_override": n.ImpactOverride.Pointer(),
		"shortlink":       n.Shortlink, "started_at": n.StartedAt, "created_at": n.CreatedAt,
		"updated_at":    n.UpdatedAt,
		"monitoring_at": n.MonitoringAt.Pointer(), "resolved_at": n.ResolvedAt.Pointer(),
		"scheduled_for":   n.ScheduledFor.Pointer(),
		"scheduled_until": n.ScheduledUntil.Pointer(), "draft": n.Draft, "version": n.Version,
	}
}

// table prints a list as JSON objects if the JSON flag is set, otherwise as rows in aligned columns. row returns both
// forms of an item. In a dry run it prints rows, but no JSON.
func table[T any](s *session, list []T, row func(T) (object map[string]any, columns []string)) error {
	objects := make([]map[string]any, len(list))
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	for i, one := range list {
		var columns []string
		objects[i], columns = row(one)
		fmt.Fprintln(w, strings.Join(columns, "\t"))
	}
	if s.JSON {
		return s.print(objects, "")
	}
	return w.Flush() //nolint:wrapcheck // writing to the terminal
}

type statusListCmd struct {
	What  string `arg:"" optional:"" enum:"open,incidents,maintenances,components,drafts,pages" default:"open" help:"Objects to list: open (incidents and maintenances that are not over), incidents, maintenances, components, drafts or pages."`
	Limit uint32 `default:"50" help:"Maximum number of incidents and of maintenances."`
}

// run reads pages, components or a kind of notices from the database of status pages, and prints them. Only pages need
// no selected page. Open notices are at first the incidents, then the maintenances, each up to the limit and the
// newest first.
func (c *statusListCmd) run(ctx context.Context, s *session) error {
	if c.What == "pages" {
		return listPages(ctx, s)
	}
	err := s.selectPage(ctx)
	if err != nil {
		return err
	}
	if c.What == "components" {
		return s.listComponents(ctx)
	}
	filters := map[string][]statuspages.NoticeFilter{
		"open":         {{Kind: status.Realtime, States: status.OpenStates(status.Realtime)}, openMaintenances()},
		"incidents":    {{Kind: status.Realtime}},
		"maintenances": {{Kind: status.Scheduled}},
		"drafts":       {{Kind: status.Realtime, Drafts: true}},
	}
	var list []*status.Notice
	for _, f := range filters[c.What] {
		order := statuspages.ByCreation
		if f.Kind == status.Scheduled {
			order = statuspages.ByRecency
		}
		got, err := s.db.Notices(ctx, s.page, f, order, storage.Page{Limit: int(max(c.Limit, 1)), Desc: true})
		if err != nil {
			return err
		}
		list = append(list, got...)
	}
	return s.listNotices(list)
}

// openMaintenances returns the filter for published maintenances that have not ended, also those in the future.
func openMaintenances() statuspages.NoticeFilter {
	return statuspages.NoticeFilter{Kind: status.Scheduled, States: status.OpenStates(status.Scheduled)}
}

// listPages reads all pages of the database, and prints them; the default page is marked.
func listPages(ctx context.Context, s *session) error {
	pages, err := s.db.Pages(ctx)
	if err != nil {
		return err
	}
	return table(s, pages, func(p *status.Page) (map[string]any, []string) {
		row := []string{p.Slug, p.Name, p.URL, p.TimeZone, string(p.Mode)}
		if p.IsDefault {
			row = append(row, "default")
		}
		return pageObject(p), row
	})
}

// listComponents reads and prints all components of the page, those of groups below them.
func (s *session) listComponents(ctx context.Context) error {
	w, err := s.db.WorkingCopy(ctx, s.page)
	if err != nil {
		return err
	}
	var list []*status.Component
	for _, c := range w.Children("") {
		list = append(append(list, c), w.Children(c.Code)...)
	}
	return table(s, list, func(c *status.Component) (map[string]any, []string) {
		indent := ""
		if c.GroupCode.Valid {
			indent = "  "
		}
		return componentObject(c), []string{c.Code, indent + c.Name, string(c.Status)}
	})
}

// at formats a time for people, to the minute and with its zone.
func at(t time.Time) string { return t.Format("2006-01-02 15:04 MST") }

// scheduled formats the scheduled times of a maintenance for people, in the zones that they have.
func scheduled(n *status.Notice) string {
	return at(n.ScheduledFor.V) + " to " + at(n.ScheduledUntil.V)
}

// listNotices prints notices, and marks those whose next step or update is overdue. It reads nothing. Overdue is by
// the clock of the session.
func (s *session) listNotices(list []*status.Notice) error {
	return table(s, list, func(n *status.Notice) (map[string]any, []string) {
		object := noticeObject(n)
		object["overdue"] = n.Overdue(s.now())
		when := at(n.CreatedAt)
		if n.Kind == status.Scheduled {
			when = scheduled(n)
		}
		row := []string{n.Code, string(n.State), string(n.Impact), when, n.Name}
		if n.Overdue(s.now()) {
			row = append(row, "OVERDUE")
		}
		return object, row
	})
}

type statusShowCmd struct {
	Ref string `arg:"" help:"ID or link of an incident or a maintenance; or ID or name of a component, or GROUP/COMPONENT."`
}

// run reads the notice or component of the page that the argument identifies from the database of status pages, and
// prints it. A notice wins. It fails if there is neither, or several components have the name.
func (c *statusShowCmd) run(ctx context.Context, s *session) error {
	notice, err := s.notice(ctx, noticeCode(c.Ref))
	if err != nil {
		return err
	}
	if notice == nil || notice.PageCode != s.page.Code {
		found, err := s.find(ctx, c.Ref)
		if err != nil {
			return err
		}
		return s.showComponent(ctx, found.Code)
	}
	updates, err := s.db.Updates(ctx, status.Pages{s.page}, []*status.Notice{notice})
	if err != nil {
		return err
	}
	return s.printNotice(notice, updates[0])
}

// printNotice prints a notice with its updates and the components that they changed. It prints text, or JSON with the
// flag, and reads nothing.
func (s *session) printNotice(notice *status.Notice, updates []*status.Update) error {
	object := noticeObject(notice)
	list := make([]map[string]any, len(updates))
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n%s, impact %s, version %d\n%s\n", notice.Code, notice.Name, notice.State, notice.Impact,
		notice.Version, notice.Shortlink)
	if notice.Kind == status.Scheduled {
		fmt.Fprintln(&b, scheduled(notice))
	}
	for i, u := range updates {
		list[i] = map[string]any{"id": u.Code, "status": u.State, "body": u.Body, "display_at": u.DisplayAt.Pointer()}
		fmt.Fprintf(&b, "\n%s  %s  %s\n%s\n", u.Code, at(u.At()), u.State, u.Body)
		var affected []map[string]any
		for _, a := range u.Affected {
			affected = append(affected, map[string]any{
				"code": a.Code, "name": a.Name, "old_status": a.OldStatus,
				"new_status": a.NewStatus,
			})
			fmt.Fprintf(&b, "  %s: %s, was %s\n", a.Name, a.NewStatus, a.OldStatus)
		}
		list[i]["affected_components"] = affected
	}
	object["updates"] = list
	return s.print(object, "%s", strings.TrimRight(b.String(), "\n"))
}

type statusRenderCmd struct {
	Document string `arg:"" help:"Document, such as summary.json or incidents/unresolved.json."`
	At       int64  `placeholder:"REVISION" help:"Revision to print, one of the last hundred that a gateway has served (default: the current state)."`
}

// run renders a document of the status API from the database of status pages, and writes its body to the standard
// output. The name can have the prefix /api/v2/ and lack the suffix .json. Another name is a usage error.
func (c *statusRenderCmd) run(ctx context.Context, s *session) error {
	documents, err := c.documents(ctx, s)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(strings.TrimPrefix(c.Document, "/"), "api/v2/")
	if !strings.HasSuffix(name, ".json") {
		name += ".json"
	}
	body, ok := documents[name]
	if !ok {
		return status.Errorf(status.BadInput, "%q is not a document: use one of %s", c.Document,
			strings.Join(status.Documents(), ", "))
	}
	_, err = os.Stdout.Write(body)
	return err
}

// documents returns all documents of the page by name: the saved ones of the given revision, or those rendered from the
// current state, both from the database. It fails if the revision is not saved.
func (c *statusRenderCmd) documents(ctx context.Context, s *session) (map[string][]byte, error) {
	if c.At == 0 {
		return s.documents(ctx)
	}
	saved, err := s.db.SavedDocuments(ctx, s.page.Code, c.At)
	if err != nil {
		return nil, err
	}
	if saved == nil {
		revisions, err := s.db.SavedRevisions(ctx, s.page.Code)
		if err != nil {
			return nil, err
		}
		return nil, status.Errorf(status.NotFound, "revision %d of page %s is not saved: the saved revisions are %d",
			c.At, s.page.Slug, revisions)
	}
	documents := make(map[string][]byte, len(saved))
	for name, body := range saved {
		documents[name] = []byte(body)
	}
	return documents, nil
}

// documents renders the documents of the page, by name, in one snapshot of the database.
func (s *session) documents(ctx context.Context) (map[string][]byte, error) {
	ctx, end, err := s.db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return s.render(ctx, s.page)
}

type statusCheckCmd struct{}

// run renders the documents of the page and looks for contradictions in them, overdue maintenances among up to 1,000
// that have not ended, a mirror that is out of date, and unexplained statuses of an import. It exits with 1 if it
// finds any.
func (statusCheckCmd) run(ctx context.Context, s *session) error {
	documents, err := s.documents(ctx)
	if err != nil {
		return err
	}
	found := status.CheckDocuments(documents)
	maintenances, err := s.db.Notices(ctx, s.page, openMaintenances(), statuspages.ByStart, storage.Page{Limit: 1000})
	if err != nil {
		return err
	}
	for _, m := range maintenances {
		if m.Overdue(s.now()) {
			found = append(found, fmt.Sprintf("the maintenance %s is %s and overdue: %s", m.Code, m.State,
				scheduled(m)))
		}
	}
	outdated, err := s.outdatedMirror(ctx)
	if err != nil {
		return err
	}
	found = append(found, outdated...)
	if s.page.Mode == status.Imported {
		unexplained, err := s.db.Unexplained(ctx, s.page)
		if err != nil {
			return err
		}
		for _, c := range unexplained {
			found = append(found,
				fmt.Sprintf(
					"the import left %s %s, but no incident or maintenance in progress affects it: open one, or run "+
						"`heliograph status component set %s --status operational`", c.Name, c.BaseStatus, c.Code))
		}
	}
	if len(found) == 0 {
		return s.print([]string{}, "page %s has no problems", s.page.Slug)
	}
	if s.JSON {
		err = printJSON(found)
		if err != nil {
			return err
		}
	}
	return &exitError{1, fmt.Errorf("%s", strings.Join(found, "; "))}
}

type statusExportCmd struct {
	Folder string `arg:"" help:"Folder. It is created if it does not exist."`
}

// run writes the static site of the page to a folder and prints the number of files. It replaces each file atomically,
// and removes the pages of notices and months in this folder that do not exist any more. If rendering or writing fails,
// it removes nothing, and the files that were written before stay.
func (c *statusExportCmd) run(ctx context.Context, s *session) error {
	g, err := s.gateway(true)
	if err != nil {
		return err
	}
	written := map[string]bool{}
	err = g.Export(ctx, s.page, func(file string, body []byte) error {
		written[file] = true
		target := filepath.Join(c.Folder, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target+".new", body, 0o644); err != nil {
			return err
		}
		return os.Rename(target+".new", target)
	})
	if err != nil {
		return err
	}
	for _, folder := range []string{"incidents", "history"} {
		// The name of the folder is not part of the pattern: it can have characters such as * and [.
		pages, err := fs.Glob(os.DirFS(filepath.Clean(c.Folder)), folder+"/*/index.html")
		if err != nil {
			return fmt.Errorf("listing the exported pages: %w", err)
		}
		for _, file := range pages {
			if !written[file] {
				err = os.RemoveAll(filepath.Join(c.Folder, filepath.FromSlash(path.Dir(file))))
				if err != nil {
					return err
				}
			}
		}
	}
	return s.print(map[string]any{"folder": c.Folder, "files": len(written)}, "%d files were written to %s",
		len(written), c.Folder)
}

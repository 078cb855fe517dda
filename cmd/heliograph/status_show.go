package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// orNull returns the value for JSON, or nil if it is null.
func orNull[T any](v ledger.Null[T]) any {
	if !v.Valid {
		return nil
	}
	return v.V
}

// pageObject returns a page as a JSON object.
func pageObject(p *status.Page) map[string]any {
	return map[string]any{
		"id": p.Code, "slug": p.Slug, "name": p.Name, "url": p.URL, "hosts": p.Hosts, "default": p.IsDefault, "time_zone": p.TimeZone, "locale": p.Locale,
		"vocabulary": p.Vocabulary,
		"mode":       p.Mode, "auto_publish": p.AutoPublish, "texts": p.Texts, "revision": p.Revision, "updated_at": p.UpdatedAt,
	}
}

// componentObject returns a component as a JSON object.
func componentObject(c *status.Component) map[string]any {
	return map[string]any{
		"id": c.Code, "name": c.Name, "qualified_name": c.QualifiedName(), "status": c.Status, "base_status": c.BaseStatus, "group": c.IsGroup,
		"group_id": orNull(c.GroupCode), "position": c.Position,
		"description": orNull(c.Description), "showcase": c.Showcase, "only_show_if_degraded": c.OnlyShowIfDegraded, "start_date": orNull(c.StartDate),
		"node_id": orNull(c.NodeID), "version": c.Version,
	}
}

// noticeObject returns a notice as a JSON object.
func noticeObject(n *status.Notice) map[string]any {
	return map[string]any{
		"id": n.Code, "kind": n.Kind, "name": n.Name, "status": n.State, "impact": n.Impact, "impact_override": orNull(n.ImpactOverride),
		"shortlink": n.Shortlink, "started_at": n.StartedAt,
		"created_at": n.CreatedAt, "updated_at": n.UpdatedAt, "monitoring_at": orNull(n.MonitoringAt), "resolved_at": orNull(n.ResolvedAt),
		"scheduled_for":   orNull(n.ScheduledFor),
		"scheduled_until": orNull(n.ScheduledUntil), "draft": n.Draft, "version": n.Version,
	}
}

// table prints a list as JSON or in columns.
func (n *newsroom) table(objects []map[string]any, rows [][]string) error {
	if n.JSON {
		return n.print(objects, "")
	}
	w := tabwriter.NewWriter(n.out, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush() //nolint:wrapcheck // writing to the terminal
}

type statusListCmd struct {
	What  string `arg:"" optional:"" enum:"open,incidents,maintenances,components,drafts,pages" default:"open" help:"open (what is not over), incidents, maintenances, components, drafts, or pages."`
	Limit int32  `default:"50" help:"How many at most."`
}

// Run lists objects of the given kind.
func (c *statusListCmd) Run(ctx context.Context, s *statusSettings) error {
	if c.What == "pages" {
		return s.session(ctx, listPages)
	}
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		if c.What == "components" {
			return n.listComponents(ctx)
		}
		page := storage.Page{Limit: int(max(c.Limit, 1)), Desc: true}
		var filters []statuspages.NoticeFilter
		switch c.What {
		case "incidents":
			filters = []statuspages.NoticeFilter{{Kind: status.Realtime}}
		case "maintenances":
			filters = []statuspages.NoticeFilter{{Kind: status.Scheduled}}
		case "drafts":
			filters = []statuspages.NoticeFilter{{Kind: status.Realtime, Drafts: true}}
		default:
			filters = []statuspages.NoticeFilter{
				{Kind: status.Realtime, States: []status.State{status.Investigating, status.Identified, status.Monitoring}},
				{Kind: status.Scheduled, States: []status.State{status.Planned, status.InProgress, status.Verifying}},
			}
		}
		var list []*status.Notice
		for _, f := range filters {
			order := statuspages.ByCreation
			if f.Kind == status.Scheduled {
				order = statuspages.ByRecency
			}
			got, err := n.db.Notices(ctx, n.page, f, order, page)
			if err != nil {
				return err
			}
			list = append(list, got...)
		}
		return n.listNotices(list)
	})
}

func listPages(ctx context.Context, n *newsroom) error {
	pages, err := n.db.Pages(ctx)
	if err != nil {
		return err
	}
	objects := make([]map[string]any, len(pages))
	var rows [][]string
	for i, p := range pages {
		objects[i] = pageObject(p)
		row := []string{p.Slug, p.Name, p.URL, p.TimeZone, string(p.Mode)}
		if p.IsDefault {
			row = append(row, "default")
		}
		rows = append(rows, row)
	}
	return n.table(objects, rows)
}

func (n *newsroom) listComponents(ctx context.Context) error {
	b, err := n.db.WorkingCopy(ctx, n.page)
	if err != nil {
		return err
	}
	var objects []map[string]any
	var rows [][]string
	add := func(c *status.Component, indent string) {
		objects = append(objects, componentObject(c))
		rows = append(rows, []string{c.Code, indent + c.Name, string(c.Status)})
	}
	for _, c := range b.Children("") {
		add(c, "")
		if c.IsGroup {
			for _, child := range b.Children(c.Code) {
				add(child, "  ")
			}
		}
	}
	return n.table(objects, rows)
}

// at formats a time for people.
func at(t time.Time) string { return t.Format("2006-01-02 15:04 MST") }

func (n *newsroom) listNotices(list []*status.Notice) error {
	objects := make([]map[string]any, len(list))
	var rows [][]string
	for i, notice := range list {
		objects[i] = noticeObject(notice)
		objects[i]["overdue"] = notice.Overdue(n.now())
		when := at(notice.CreatedAt)
		if notice.Kind == status.Scheduled {
			when = at(notice.ScheduledFor.V) + " to " + at(notice.ScheduledUntil.V)
		}
		row := []string{notice.Code, string(notice.State), string(notice.Impact), when, notice.Name}
		if notice.Overdue(n.now()) {
			row = append(row, "OVERDUE")
		}
		rows = append(rows, row)
	}
	return n.table(objects, rows)
}

type statusShowCmd struct {
	Ref string `arg:"" help:"Id or link of a notice, or a component: its id, its name, or Group/Component."`
}

// Run shows a notice with its updates, or a component.
func (c *statusShowCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		code, pages := noticeCode(c.Ref), status.Pages{n.page}
		found, err := n.db.NoticesByCode(ctx, pages, []string{code})
		if err != nil {
			return err
		}
		notice := found[code]
		if notice == nil || notice.PageCode != n.page.Code {
			component, err := n.find(ctx, c.Ref)
			if err != nil {
				return err
			}
			return n.confirmComponent(ctx, component.Code, nil)
		}
		updates, err := n.db.Updates(ctx, pages, []*status.Notice{notice})
		if err != nil {
			return err
		}
		return n.showNotice(notice, updates[0])
	})
}

func (n *newsroom) showNotice(notice *status.Notice, updates []*status.Update) error {
	object := noticeObject(notice)
	list := make([]map[string]any, len(updates))
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n%s, impact %s, version %d\n%s\n", notice.Code, notice.Name, notice.State, notice.Impact, notice.Version, notice.Shortlink)
	if notice.Kind == status.Scheduled {
		fmt.Fprintf(&b, "%s to %s\n", at(notice.ScheduledFor.V), at(notice.ScheduledUntil.V))
	}
	for i, u := range updates {
		list[i] = map[string]any{"id": u.Code, "status": u.State, "body": u.Body, "display_at": orNull(u.DisplayAt)}
		fmt.Fprintf(&b, "\n%s  %s  %s\n%s\n", u.Code, at(u.DisplayAt.Or(u.CreatedAt)), u.State, u.Body)
		var affected []map[string]any
		for _, a := range u.Affected {
			affected = append(affected, map[string]any{"code": a.Code, "name": a.Name, "old_status": a.OldStatus, "new_status": a.NewStatus})
			fmt.Fprintf(&b, "  %s: %s, was %s\n", a.Name, a.NewStatus, a.OldStatus)
		}
		list[i]["affected_components"] = affected
	}
	object["updates"] = list
	return n.print(object, "%s", strings.TrimRight(b.String(), "\n"))
}

type statusRenderCmd struct {
	Document string `arg:"" help:"The document, such as summary.json or incidents/unresolved.json."`
	At       int64  `placeholder:"REVISION" help:"As it was served at this revision (default: as it is now). Gateways keep the last hundred that they have served."`
}

// Run prints a rendered document.
func (c *statusRenderCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		documents, err := c.documents(ctx, n)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(strings.TrimPrefix(c.Document, "/"), "api/v2/")
		if !strings.HasSuffix(name, ".json") {
			name += ".json"
		}
		body, ok := documents[name]
		if !ok {
			return status.Errorf(status.BadInput, "there is no document %s: there are %s", c.Document, strings.Join(status.Documents(), ", "))
		}
		_, err = n.out.Write(body)
		return err //nolint:wrapcheck // writing to the terminal
	})
}

// documents returns all documents as they are now, or those of the given revision.
func (c *statusRenderCmd) documents(ctx context.Context, n *newsroom) (map[string][]byte, error) {
	if c.At == 0 {
		return n.documents(ctx)
	}
	kept, err := n.db.SavedDocuments(ctx, n.page.Code, c.At)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		revisions, err := n.db.SavedRevisions(ctx, n.page.Code)
		if err != nil {
			return nil, err
		}
		return nil, status.Errorf(status.NotFound, "revision %d of the page %s was not kept: gateways have kept %d", c.At, n.page.Slug, revisions)
	}
	documents := make(map[string][]byte, len(kept))
	for name, body := range kept {
		documents[name] = []byte(body)
	}
	return documents, nil
}

// documents renders all documents from one snapshot.
func (n *newsroom) documents(ctx context.Context) (map[string][]byte, error) {
	ctx, end, err := n.db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return n.render(ctx, n.page)
}

type statusExportCmd struct {
	Folder string `arg:"" help:"The folder; it is made where there is none."`
}

// Run writes all documents to a folder. Each file is replaced atomically.
func (c *statusExportCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		documents, err := n.documents(ctx)
		if err != nil {
			return err
		}
		for _, name := range status.Documents() {
			path := filepath.Join(c.Folder, "api", "v2", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path+".new", documents[name], 0o644); err != nil {
				return err
			}
			if err := os.Rename(path+".new", path); err != nil {
				return err
			}
		}
		return n.print(map[string]any{"folder": c.Folder, "documents": status.Documents()}, "%d documents are in %s", len(documents),
			filepath.Join(c.Folder, "api", "v2"))
	})
}

type statusCheckCmd struct{}

// Run checks the page, and fails if it finds problems.
func (statusCheckCmd) Run(ctx context.Context, s *statusSettings) error {
	return s.with(ctx, func(ctx context.Context, n *newsroom) error {
		documents, err := n.documents(ctx)
		if err != nil {
			return err
		}
		found := status.CheckDocuments(documents)
		open, err := n.db.Notices(ctx, n.page, statuspages.NoticeFilter{Kind: status.Scheduled,
			States: []status.State{status.Planned, status.InProgress, status.Verifying}}, statuspages.ByStart, storage.Page{Limit: 1000})
		if err != nil {
			return err
		}
		for _, m := range open {
			if m.Overdue(n.now()) {
				found = append(found, fmt.Sprintf("the maintenance %s is %s and overdue: %s to %s", m.Code, m.State, at(m.ScheduledFor.V), at(m.ScheduledUntil.V)))
			}
		}
		late, err := n.lateCopy(ctx)
		if err != nil {
			return err
		}
		found = append(found, late...)
		if len(found) == 0 {
			return n.print([]string{}, "nothing is wrong with the page %s", n.page.Slug)
		}
		if n.JSON {
			if err := json.NewEncoder(n.out).Encode(found); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
		}
		return &exitError{1, fmt.Errorf("%s", strings.Join(found, "; "))}
	})
}

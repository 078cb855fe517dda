package statuspages

import (
	"context"
	"slices"
	"time"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// Relations are the arrows of status pages. They are in a database of their own, so they do not join the batches of the ledger; each of them makes one
// statement, or a fixed number of them, for all parents.
type Relations struct {
	Rollup               *rowplan.Relation[*status.Page, *status.Rollup]
	ShownRollup          *rowplan.Relation[*status.Page, *status.Rollup]
	EffectiveIndicator   *rowplan.Relation[*status.Page, status.Indicator]
	Components           *rowplan.Relation[*status.Page, *relay.StatusComponentConnection]
	Incidents            *rowplan.Relation[*status.Page, *relay.StatusIncidentConnection]
	UnresolvedIncidents  *rowplan.Relation[*status.Page, *relay.StatusIncidentConnection]
	Maintenances         *rowplan.Relation[*status.Page, *relay.StatusMaintenanceConnection]
	ActiveMaintenances   *rowplan.Relation[*status.Page, *relay.StatusMaintenanceConnection]
	UpcomingMaintenances *rowplan.Relation[*status.Page, *relay.StatusMaintenanceConnection]

	ComponentPage         *rowplan.Relation[*status.Component, *status.Page]
	Group                 *rowplan.Relation[*status.Component, *status.Component]
	Children              *rowplan.Relation[*status.Component, []*status.Component]
	NodeComponent         *rowplan.Relation[*ledger.NetworkNode, *status.Component]
	Uptime                *rowplan.Relation[*status.Component, *status.Uptime]
	ComponentIncidents    *rowplan.Relation[*status.Component, *relay.StatusIncidentConnection]
	ComponentMaintenances *rowplan.Relation[*status.Component, *relay.StatusMaintenanceConnection]

	Incident    NoticeRelations[*status.Incident]
	Maintenance NoticeRelations[*status.Maintenance]

	Notice            *rowplan.Relation[*status.Update, relay.StatusNotice]
	AffectedComponent *rowplan.Relation[*status.AffectedComponent, *status.Component]

	ChangePage       *rowplan.Relation[*status.Revision, *status.Page]
	ComponentChanges *rowplan.Relation[*status.Revision, []*status.Change]
	ChangeUpdates    *rowplan.Relation[*status.Revision, []*status.Update]
	ChangedComponent *rowplan.Relation[*status.Change, *status.Component]
}

// NoticeRelations are the arrows that both kinds of notices have.
type NoticeRelations[N any] struct {
	Page       *rowplan.Relation[N, *status.Page]
	Updates    *rowplan.Relation[N, []*status.Update]
	Components *rowplan.Relation[N, []*status.Component]
}

// fromStatus is a relation that is read at once.
func fromStatus[T, R any](read func(ctx context.Context, parents []T, args rowplan.Args) ([]R, error)) *rowplan.Relation[T, R] {
	return &rowplan.Relation[T, R]{Load: func(ctx context.Context, _ rowplan.Batch, parents []T, args rowplan.Args) (func() ([]R, error), error) {
		got, err := read(ctx, parents, args)
		if err != nil {
			return nil, err
		}
		return func() ([]R, error) { return got, nil }, nil
	}}
}

// ofPage is a relation of pages. There are few of them, and rows that belong to one all point to it, so each is read once.
func ofPage[R any](read func(ctx context.Context, p *status.Page, args rowplan.Args) (R, error)) *rowplan.Relation[*status.Page, R] {
	return fromStatus(func(ctx context.Context, parents []*status.Page, args rowplan.Args) ([]R, error) {
		known := map[string]R{}
		out := make([]R, len(parents))
		for i, p := range parents {
			r, ok := known[p.Code]
			if !ok {
				var err error
				if r, err = read(ctx, p, args); err != nil {
					return nil, err
				}
				known[p.Code] = r
			}
			out[i] = r
		}
		return out, nil
	})
}

func newRelations(r *Resolver) Relations {
	rel := Relations{
		Incident:    newNoticeRelations(r, func(n *status.Incident) *status.Notice { return &n.Notice }),
		Maintenance: newNoticeRelations(r, func(n *status.Maintenance) *status.Notice { return &n.Notice }),
		Notice:      fromStatus(r.noticesOfUpdates),
		AffectedComponent: fromStatus(func(ctx context.Context, parents []*status.AffectedComponent, _ rowplan.Args) ([]*status.Component, error) {
			return fromStates(ctx, r, parents, func(a *status.AffectedComponent) string { return a.PageCode },
				func(s *status.PageState, a *status.AffectedComponent) *status.Component { return s.Component(a.Code) })
		}),
	}
	rel.addPage(r)
	rel.addComponent(r)
	rel.addChanges(r)
	return rel
}

// addPage makes the relations of pages.
func (rel *Relations) addPage(r *Resolver) {
	rel.Rollup = ofPage(func(ctx context.Context, p *status.Page, _ rowplan.Args) (*status.Rollup, error) {
		s, err := r.state(ctx, p.Code)
		if err != nil {
			return nil, err
		}
		rollup := s.Rollup()
		return &rollup, nil
	})
	rel.ShownRollup = ofPage(func(ctx context.Context, p *status.Page, _ rowplan.Args) (*status.Rollup, error) {
		s, err := r.state(ctx, p.Code)
		if err != nil {
			return nil, err
		}
		rollup := s.ShownRollup()
		return &rollup, nil
	})
	rel.EffectiveIndicator = ofPage(func(ctx context.Context, p *status.Page, _ rowplan.Args) (status.Indicator, error) {
		s, err := r.state(ctx, p.Code)
		if err != nil {
			return "", err
		}
		return s.EffectiveIndicator(), nil
	})
	rel.Components = ofPage(func(ctx context.Context, p *status.Page, args rowplan.Args) (*relay.StatusComponentConnection, error) {
		s, err := r.state(ctx, p.Code)
		if err != nil {
			return nil, err
		}
		return componentList(ctx, s, args)
	})
	incidents := func(states ...status.State) *rowplan.Relation[*status.Page, *relay.StatusIncidentConnection] {
		return ofPage(func(ctx context.Context, p *status.Page, args rowplan.Args) (*relay.StatusIncidentConnection, error) {
			l, err := incidentList(ctx, args, states...)
			if err != nil {
				return nil, err
			}
			rows, err := r.db.Notices(ctx, p, l.filter, l.order, storagePage(l.page))
			if err != nil {
				return nil, err
			}
			return l.incidents(rows), nil
		})
	}
	maintenances := func(byStart bool, states ...status.State) *rowplan.Relation[*status.Page, *relay.StatusMaintenanceConnection] {
		return ofPage(func(ctx context.Context, p *status.Page, args rowplan.Args) (*relay.StatusMaintenanceConnection, error) {
			l, err := maintenanceList(ctx, args, byStart, states...)
			if err != nil {
				return nil, err
			}
			rows, err := r.db.Notices(ctx, p, l.filter, l.order, storagePage(l.page))
			if err != nil {
				return nil, err
			}
			return l.maintenances(rows), nil
		})
	}
	rel.Incidents, rel.UnresolvedIncidents = incidents(), incidents(status.Investigating, status.Identified, status.Monitoring)
	rel.Maintenances, rel.ActiveMaintenances = maintenances(false), maintenances(true, status.InProgress, status.Verifying)
	rel.UpcomingMaintenances = maintenances(true, status.Planned)
}

// addComponent makes the relations of components.
func (rel *Relations) addComponent(r *Resolver) {
	pageCode := func(c *status.Component) string { return c.PageCode }
	rel.ComponentPage = pageOf(r, pageCode)
	rel.Group = fromStatus(func(ctx context.Context, parents []*status.Component, _ rowplan.Args) ([]*status.Component, error) {
		return fromStates(ctx, r, parents, pageCode, func(s *status.PageState, c *status.Component) *status.Component { return s.Component(c.GroupCode.V) })
	})
	rel.Children = fromStatus(func(ctx context.Context, parents []*status.Component, _ rowplan.Args) ([][]*status.Component, error) {
		return fromStates(ctx, r, parents, pageCode, func(s *status.PageState, c *status.Component) []*status.Component {
			children := make([]*status.Component, len(c.Children))
			for i, code := range c.Children {
				children[i] = s.Component(code)
			}
			return children
		})
	})
	rel.NodeComponent = fromStatus(r.componentsOfNodes)
	rel.Uptime = fromStatus(r.uptimes)
	rel.ComponentIncidents = fromStatus(func(ctx context.Context, parents []*status.Component, args rowplan.Args) ([]*relay.StatusIncidentConnection, error) {
		l, err := incidentList(ctx, args)
		if err != nil {
			return nil, err
		}
		rows, err := r.db.NoticesOfComponents(ctx, parents, l.filter, l.order, storagePage(l.page))
		return list.Map(rows, l.incidents), err
	})
	rel.ComponentMaintenances = fromStatus(func(ctx context.Context, parents []*status.Component, args rowplan.Args) ([]*relay.StatusMaintenanceConnection, error) {
		l, err := maintenanceList(ctx, args, false)
		if err != nil {
			return nil, err
		}
		rows, err := r.db.NoticesOfComponents(ctx, parents, l.filter, l.order, storagePage(l.page))
		return list.Map(rows, l.maintenances), err
	})
}

// pageOf is the relation from a row to its page.
func pageOf[T any](r *Resolver, code func(T) string) *rowplan.Relation[T, *status.Page] {
	return fromStatus(func(ctx context.Context, parents []T, _ rowplan.Args) ([]*status.Page, error) {
		pages, err := r.pages(ctx)
		return list.Map(parents, func(row T) *status.Page { return pages.ByCode(code(row)) }), err
	})
}

// fromStates is what the states of the pages of some rows say of each of them.
func fromStates[T, R any](ctx context.Context, r *Resolver, parents []T, page func(T) string, of func(*status.PageState, T) R) ([]R, error) {
	out := make([]R, len(parents))
	for i, row := range parents {
		s, err := r.state(ctx, page(row))
		if err != nil {
			return nil, err
		}
		out[i] = of(s, row)
	}
	return out, nil
}

func newNoticeRelations[N any](r *Resolver, notice func(N) *status.Notice) NoticeRelations[N] {
	return NoticeRelations[N]{
		Page: pageOf(r, func(n N) string { return notice(n).PageCode }),
		Updates: fromStatus(func(ctx context.Context, parents []N, _ rowplan.Args) ([][]*status.Update, error) {
			pages, err := r.pages(ctx)
			if err != nil {
				return nil, err
			}
			return r.db.Updates(ctx, pages, list.Map(parents, notice))
		}),
		Components: fromStatus(func(ctx context.Context, parents []N, _ rowplan.Args) ([][]*status.Component, error) {
			return r.componentsOfNotices(ctx, list.Map(parents, notice))
		}),
	}
}

// componentsOfNotices are the components that each notice ever had, in the order of documents. Deleted ones are left out.
func (r *Resolver) componentsOfNotices(ctx context.Context, notices []*status.Notice) ([][]*status.Component, error) {
	attached, err := r.db.Attachments(ctx, notices)
	if err != nil {
		return nil, err
	}
	out := make([][]*status.Component, len(notices))
	for i, n := range notices {
		s, err := r.state(ctx, n.PageCode)
		if err != nil {
			return nil, err
		}
		out[i] = []*status.Component{}
		if len(attached[i]) == 0 {
			continue
		}
		codes := list.Map(attached[i], func(a *status.Attachment) string { return a.ComponentCode })
		for _, c := range s.Components {
			if slices.Contains(codes, c.Code) {
				out[i] = append(out[i], c)
			}
		}
	}
	return out, nil
}

// noticesOfUpdates are the notices that updates are about.
func (r *Resolver) noticesOfUpdates(ctx context.Context, parents []*status.Update, _ rowplan.Args) ([]relay.StatusNotice, error) {
	found, err := r.notices(ctx, list.Map(parents, func(u *status.Update) string { return u.NoticeCode }))
	if err != nil {
		return nil, err
	}
	return list.Map(parents, func(u *status.Update) relay.StatusNotice {
		switch n := found[u.NoticeCode]; {
		case n == nil:
			return nil
		case n.Kind == status.Scheduled:
			return &status.Maintenance{Notice: *n}
		default:
			return &status.Incident{Notice: *n}
		}
	}), nil
}

// componentsOfNodes are the components that consensus nodes are on the default page.
func (r *Resolver) componentsOfNodes(ctx context.Context, nodes []*ledger.NetworkNode, _ rowplan.Args) ([]*status.Component, error) {
	page, err := r.Page(ctx, nil)
	if err != nil || page == nil {
		return make([]*status.Component, len(nodes)), err
	}
	s, err := r.state(ctx, page.Code)
	if err != nil {
		return nil, err
	}
	return list.Map(nodes, func(n *ledger.NetworkNode) *status.Component { return s.ComponentOfNode(n.NodeID) }), nil
}

// uptimes are how much components were up; nil for groups, and where none is counted.
func (r *Resolver) uptimes(ctx context.Context, parents []*status.Component, args rowplan.Args) ([]*status.Uptime, error) {
	days, err := uptimeDays(ctx, args)
	if err != nil {
		return nil, err
	}
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := r.db.Changes(ctx, parents)
	if err != nil {
		return nil, err
	}
	out := make([]*status.Uptime, len(parents))
	for i, c := range parents {
		if !c.IsGroup && c.StartDate.Valid {
			now := r.now().In(pages.Zone(c.PageCode)).Truncate(time.Millisecond)
			out[i] = status.UptimeOf(changes[i], c.Status, c.StartDate.V, days, now, pages.Vocabulary(c.PageCode))
		}
	}
	return out, nil
}

// add makes the relations known to the row plan.
func (rel *Relations) add(t *rowplan.Tables) {
	page := func() *rowplan.Object[*status.Page] { return t.StatusPage }
	component := func() *rowplan.Object[*status.Component] { return t.StatusComponent }
	rollup := func() *rowplan.Object[*status.Rollup] { return t.StatusRollup }
	incidents := func() *rowplan.Object[*relay.StatusIncidentConnection] { return t.StatusIncidentConnection }
	maintenances := func() *rowplan.Object[*relay.StatusMaintenanceConnection] { return t.StatusMaintenanceConnection }

	t.StatusPage.Add("rollup", rowplan.RelatedOne(rel.Rollup, rollup))
	t.StatusPage.Add("shownRollup", rowplan.RelatedOne(rel.ShownRollup, rollup))
	t.StatusPage.Add("effectiveIndicator", rowplan.RelatedScalar(rel.EffectiveIndicator, scalar.AppendStatusIndicator))
	t.StatusPage.Add("components", rowplan.RelatedOne(rel.Components, func() *rowplan.Object[*relay.StatusComponentConnection] { return t.StatusComponentConnection }))
	t.StatusPage.Add("incidents", rowplan.RelatedOne(rel.Incidents, incidents))
	t.StatusPage.Add("unresolvedIncidents", rowplan.RelatedOne(rel.UnresolvedIncidents, incidents))
	t.StatusPage.Add("maintenances", rowplan.RelatedOne(rel.Maintenances, maintenances))
	t.StatusPage.Add("activeMaintenances", rowplan.RelatedOne(rel.ActiveMaintenances, maintenances))
	t.StatusPage.Add("upcomingMaintenances", rowplan.RelatedOne(rel.UpcomingMaintenances, maintenances))

	t.StatusComponent.Add("page", rowplan.RelatedOne(rel.ComponentPage, page))
	t.StatusComponent.Add("group", rowplan.RelatedOne(rel.Group, component))
	t.StatusComponent.Add("children", rowplan.RelatedMany(rel.Children, component))
	t.StatusComponent.Add("uptime", rowplan.RelatedOne(rel.Uptime, func() *rowplan.Object[*status.Uptime] { return t.StatusUptime }))
	t.StatusComponent.Add("incidents", rowplan.RelatedOne(rel.ComponentIncidents, incidents))
	t.StatusComponent.Add("maintenances", rowplan.RelatedOne(rel.ComponentMaintenances, maintenances))
	t.NetworkNode.Add("statusComponent", rowplan.RelatedOne(rel.NodeComponent, component))

	addNotice(t, t.StatusIncident, &rel.Incident)
	addNotice(t, t.StatusMaintenance, &rel.Maintenance)
	t.StatusAffectedComponent.Add("component", rowplan.RelatedOne(rel.AffectedComponent, component))

	t.StatusChange.Add("page", rowplan.RelatedOne(rel.ChangePage, page))
	t.StatusChange.Add("componentChanges", rowplan.RelatedMany(rel.ComponentChanges, func() *rowplan.Object[*status.Change] { return t.StatusComponentChange }))
	t.StatusChange.Add("updates", rowplan.RelatedMany(rel.ChangeUpdates, func() *rowplan.Object[*status.Update] { return t.StatusUpdate }))
	t.StatusComponentChange.Add("component", rowplan.RelatedOne(rel.ChangedComponent, component))
}

func addNotice[N any](t *rowplan.Tables, of *rowplan.Object[N], rel *NoticeRelations[N]) {
	of.Add("page", rowplan.RelatedOne(rel.Page, func() *rowplan.Object[*status.Page] { return t.StatusPage }))
	of.Add("updates", rowplan.RelatedMany(rel.Updates, func() *rowplan.Object[*status.Update] { return t.StatusUpdate }))
	of.Add("components", rowplan.RelatedMany(rel.Components, func() *rowplan.Object[*status.Component] { return t.StatusComponent }))
}

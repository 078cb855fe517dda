package resolvers

import (
	"context"
	"slices"
	"time"

	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

// statusRelations are the arrows of status pages. They are in a database of their own, so they do not join the batches of the ledger; each of them makes one
// statement, or a fixed number of them, for all parents.
type statusRelations struct {
	rollup               *rowplan.Relation[*status.Page, *status.Rollup]
	shownRollup          *rowplan.Relation[*status.Page, *status.Rollup]
	effectiveIndicator   *rowplan.Relation[*status.Page, status.Indicator]
	components           *rowplan.Relation[*status.Page, *relay.StatusComponentConnection]
	incidents            *rowplan.Relation[*status.Page, *relay.StatusIncidentConnection]
	unresolvedIncidents  *rowplan.Relation[*status.Page, *relay.StatusIncidentConnection]
	maintenances         *rowplan.Relation[*status.Page, *relay.StatusMaintenanceConnection]
	activeMaintenances   *rowplan.Relation[*status.Page, *relay.StatusMaintenanceConnection]
	upcomingMaintenances *rowplan.Relation[*status.Page, *relay.StatusMaintenanceConnection]

	componentPage         *rowplan.Relation[*status.Component, *status.Page]
	group                 *rowplan.Relation[*status.Component, *status.Component]
	children              *rowplan.Relation[*status.Component, []*status.Component]
	networkNode           *rowplan.Relation[*status.Component, *ledger.NetworkNode]
	nodeComponent         *rowplan.Relation[*ledger.NetworkNode, *status.Component]
	uptime                *rowplan.Relation[*status.Component, *status.Uptime]
	componentIncidents    *rowplan.Relation[*status.Component, *relay.StatusIncidentConnection]
	componentMaintenances *rowplan.Relation[*status.Component, *relay.StatusMaintenanceConnection]

	incident    noticeRelations[*status.Incident]
	maintenance noticeRelations[*status.Maintenance]

	notice            *rowplan.Relation[*status.Update, relay.StatusNotice]
	affectedComponent *rowplan.Relation[*status.AffectedComponent, *status.Component]

	changePage       *rowplan.Relation[*status.Revision, *status.Page]
	componentChanges *rowplan.Relation[*status.Revision, []*status.Change]
	changeUpdates    *rowplan.Relation[*status.Revision, []*status.Update]
	changedComponent *rowplan.Relation[*status.Change, *status.Component]
}

// noticeRelations are the arrows that both kinds of notices have.
type noticeRelations[N any] struct {
	page       *rowplan.Relation[N, *status.Page]
	updates    *rowplan.Relation[N, []*status.Update]
	components *rowplan.Relation[N, []*status.Component]
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

func newStatusRelations(r *Resolver) statusRelations {
	rel := statusRelations{
		incident:    newNoticeRelations(r, func(n *status.Incident) *status.Notice { return &n.Notice }),
		maintenance: newNoticeRelations(r, func(n *status.Maintenance) *status.Notice { return &n.Notice }),
		notice:      fromStatus(r.noticesOfUpdates),
		affectedComponent: fromStatus(func(ctx context.Context, parents []*status.AffectedComponent, _ rowplan.Args) ([]*status.Component, error) {
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
func (rel *statusRelations) addPage(r *Resolver) {
	rel.rollup = ofPage(func(ctx context.Context, p *status.Page, _ rowplan.Args) (*status.Rollup, error) {
		s, err := r.statusState(ctx, p.Code)
		if err != nil {
			return nil, err
		}
		rollup := s.Rollup()
		return &rollup, nil
	})
	rel.shownRollup = ofPage(func(ctx context.Context, p *status.Page, _ rowplan.Args) (*status.Rollup, error) {
		s, err := r.statusState(ctx, p.Code)
		if err != nil {
			return nil, err
		}
		rollup := s.ShownRollup()
		return &rollup, nil
	})
	rel.effectiveIndicator = ofPage(func(ctx context.Context, p *status.Page, _ rowplan.Args) (status.Indicator, error) {
		s, err := r.statusState(ctx, p.Code)
		if err != nil {
			return "", err
		}
		return s.EffectiveIndicator(), nil
	})
	rel.components = ofPage(func(ctx context.Context, p *status.Page, args rowplan.Args) (*relay.StatusComponentConnection, error) {
		s, err := r.statusState(ctx, p.Code)
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
			rows, err := r.status.Notices(ctx, p, l.filter, l.order, storagePage(l.page))
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
			rows, err := r.status.Notices(ctx, p, l.filter, l.order, storagePage(l.page))
			if err != nil {
				return nil, err
			}
			return l.maintenances(rows), nil
		})
	}
	rel.incidents, rel.unresolvedIncidents = incidents(), incidents(status.Investigating, status.Identified, status.Monitoring)
	rel.maintenances, rel.activeMaintenances = maintenances(false), maintenances(true, status.InProgress, status.Verifying)
	rel.upcomingMaintenances = maintenances(true, status.Planned)
}

// addComponent makes the relations of components.
func (rel *statusRelations) addComponent(r *Resolver) {
	pageCode := func(c *status.Component) string { return c.PageCode }
	rel.componentPage = pageOf(r, pageCode)
	rel.group = fromStatus(func(ctx context.Context, parents []*status.Component, _ rowplan.Args) ([]*status.Component, error) {
		return fromStates(ctx, r, parents, pageCode, func(s *status.PageState, c *status.Component) *status.Component { return s.Component(c.GroupCode.V) })
	})
	rel.children = fromStatus(func(ctx context.Context, parents []*status.Component, _ rowplan.Args) ([][]*status.Component, error) {
		return fromStates(ctx, r, parents, pageCode, func(s *status.PageState, c *status.Component) []*status.Component {
			children := make([]*status.Component, len(c.Children))
			for i, code := range c.Children {
				children[i] = s.Component(code)
			}
			return children
		})
	})
	rel.networkNode = queued(func(_ context.Context, b *storage.Batch, parents []*status.Component, _ rowplan.Args, done func([]*ledger.NetworkNode)) error {
		b.QueueNetworkNodes(keys(parents, func(c *status.Component) int64 { return c.NodeID.Or(noNode) }), done)
		return nil
	})
	rel.nodeComponent = fromStatus(r.componentsOfNodes)
	rel.uptime = fromStatus(r.uptimes)
	rel.componentIncidents = fromStatus(func(ctx context.Context, parents []*status.Component, args rowplan.Args) ([]*relay.StatusIncidentConnection, error) {
		l, err := incidentList(ctx, args)
		if err != nil {
			return nil, err
		}
		rows, err := r.status.NoticesOfComponents(ctx, parents, l.filter, l.order, storagePage(l.page))
		return each(rows, l.incidents), err
	})
	rel.componentMaintenances = fromStatus(func(ctx context.Context, parents []*status.Component, args rowplan.Args) ([]*relay.StatusMaintenanceConnection, error) {
		l, err := maintenanceList(ctx, args, false)
		if err != nil {
			return nil, err
		}
		rows, err := r.status.NoticesOfComponents(ctx, parents, l.filter, l.order, storagePage(l.page))
		return each(rows, l.maintenances), err
	})
}

// each makes something of each element.
func each[T, R any](list []T, make1 func(T) R) []R {
	out := make([]R, len(list))
	for i, v := range list {
		out[i] = make1(v)
	}
	return out
}

// pageOf is the relation from a row to its page.
func pageOf[T any](r *Resolver, code func(T) string) *rowplan.Relation[T, *status.Page] {
	return fromStatus(func(ctx context.Context, parents []T, _ rowplan.Args) ([]*status.Page, error) {
		pages, err := r.statusPages(ctx)
		return each(parents, func(row T) *status.Page { return pages.ByCode(code(row)) }), err
	})
}

// fromStates is what the states of the pages of some rows say of each of them.
func fromStates[T, R any](ctx context.Context, r *Resolver, parents []T, page func(T) string, of func(*status.PageState, T) R) ([]R, error) {
	out := make([]R, len(parents))
	for i, row := range parents {
		s, err := r.statusState(ctx, page(row))
		if err != nil {
			return nil, err
		}
		out[i] = of(s, row)
	}
	return out, nil
}

func newNoticeRelations[N any](r *Resolver, notice func(N) *status.Notice) noticeRelations[N] {
	return noticeRelations[N]{
		page: pageOf(r, func(n N) string { return notice(n).PageCode }),
		updates: fromStatus(func(ctx context.Context, parents []N, _ rowplan.Args) ([][]*status.Update, error) {
			pages, err := r.statusPages(ctx)
			if err != nil {
				return nil, err
			}
			return r.status.Updates(ctx, pages, keys(parents, notice))
		}),
		components: fromStatus(func(ctx context.Context, parents []N, _ rowplan.Args) ([][]*status.Component, error) {
			return r.componentsOfNotices(ctx, keys(parents, notice))
		}),
	}
}

// componentsOfNotices are the components that each notice ever had, in the order of documents. Deleted ones are left out.
func (r *Resolver) componentsOfNotices(ctx context.Context, notices []*status.Notice) ([][]*status.Component, error) {
	attached, err := r.status.Attachments(ctx, notices)
	if err != nil {
		return nil, err
	}
	out := make([][]*status.Component, len(notices))
	for i, n := range notices {
		s, err := r.statusState(ctx, n.PageCode)
		if err != nil {
			return nil, err
		}
		out[i] = []*status.Component{}
		if len(attached[i]) == 0 {
			continue
		}
		codes := keys(attached[i], func(a *status.Attachment) string { return a.ComponentCode })
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
	found, err := r.statusNotices(ctx, keys(parents, func(u *status.Update) string { return u.NoticeCode }))
	if err != nil {
		return nil, err
	}
	return each(parents, func(u *status.Update) relay.StatusNotice {
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
	page, err := r.statusPage(ctx, nil)
	if err != nil || page == nil {
		return make([]*status.Component, len(nodes)), err
	}
	s, err := r.statusState(ctx, page.Code)
	if err != nil {
		return nil, err
	}
	return each(nodes, func(n *ledger.NetworkNode) *status.Component { return s.ComponentOfNode(n.NodeID) }), nil
}

// uptimes are how much components were up; nil for groups, and where none is counted.
func (r *Resolver) uptimes(ctx context.Context, parents []*status.Component, args rowplan.Args) ([]*status.Uptime, error) {
	days, err := uptimeDays(ctx, args)
	if err != nil {
		return nil, err
	}
	pages, err := r.statusPages(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := r.status.Changes(ctx, parents)
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
func (rel *statusRelations) add(t *rowplan.Tables) {
	page := func() *rowplan.Object[*status.Page] { return t.StatusPage }
	component := func() *rowplan.Object[*status.Component] { return t.StatusComponent }
	rollup := func() *rowplan.Object[*status.Rollup] { return t.StatusRollup }
	incidents := func() *rowplan.Object[*relay.StatusIncidentConnection] { return t.StatusIncidentConnection }
	maintenances := func() *rowplan.Object[*relay.StatusMaintenanceConnection] { return t.StatusMaintenanceConnection }

	t.StatusPage.Add("rollup", rowplan.RelatedOne(rel.rollup, rollup))
	t.StatusPage.Add("shownRollup", rowplan.RelatedOne(rel.shownRollup, rollup))
	t.StatusPage.Add("effectiveIndicator", rowplan.RelatedScalar(rel.effectiveIndicator, scalar.AppendStatusIndicator))
	t.StatusPage.Add("components", rowplan.RelatedOne(rel.components, func() *rowplan.Object[*relay.StatusComponentConnection] { return t.StatusComponentConnection }))
	t.StatusPage.Add("incidents", rowplan.RelatedOne(rel.incidents, incidents))
	t.StatusPage.Add("unresolvedIncidents", rowplan.RelatedOne(rel.unresolvedIncidents, incidents))
	t.StatusPage.Add("maintenances", rowplan.RelatedOne(rel.maintenances, maintenances))
	t.StatusPage.Add("activeMaintenances", rowplan.RelatedOne(rel.activeMaintenances, maintenances))
	t.StatusPage.Add("upcomingMaintenances", rowplan.RelatedOne(rel.upcomingMaintenances, maintenances))

	t.StatusComponent.Add("page", rowplan.RelatedOne(rel.componentPage, page))
	t.StatusComponent.Add("group", rowplan.RelatedOne(rel.group, component))
	t.StatusComponent.Add("children", rowplan.RelatedMany(rel.children, component))
	t.StatusComponent.Add("networkNode", rowplan.RelatedOne(rel.networkNode, func() *rowplan.Object[*ledger.NetworkNode] { return t.NetworkNode }))
	t.StatusComponent.Add("uptime", rowplan.RelatedOne(rel.uptime, func() *rowplan.Object[*status.Uptime] { return t.StatusUptime }))
	t.StatusComponent.Add("incidents", rowplan.RelatedOne(rel.componentIncidents, incidents))
	t.StatusComponent.Add("maintenances", rowplan.RelatedOne(rel.componentMaintenances, maintenances))
	t.NetworkNode.Add("statusComponent", rowplan.RelatedOne(rel.nodeComponent, component))

	addNotice(t, t.StatusIncident, &rel.incident)
	addNotice(t, t.StatusMaintenance, &rel.maintenance)
	t.StatusAffectedComponent.Add("component", rowplan.RelatedOne(rel.affectedComponent, component))

	t.StatusChange.Add("page", rowplan.RelatedOne(rel.changePage, page))
	t.StatusChange.Add("componentChanges", rowplan.RelatedMany(rel.componentChanges, func() *rowplan.Object[*status.Change] { return t.StatusComponentChange }))
	t.StatusChange.Add("updates", rowplan.RelatedMany(rel.changeUpdates, func() *rowplan.Object[*status.Update] { return t.StatusUpdate }))
	t.StatusComponentChange.Add("component", rowplan.RelatedOne(rel.changedComponent, component))
}

func addNotice[N any](t *rowplan.Tables, of *rowplan.Object[N], rel *noticeRelations[N]) {
	of.Add("page", rowplan.RelatedOne(rel.page, func() *rowplan.Object[*status.Page] { return t.StatusPage }))
	of.Add("updates", rowplan.RelatedMany(rel.updates, func() *rowplan.Object[*status.Update] { return t.StatusUpdate }))
	of.Add("components", rowplan.RelatedMany(rel.components, func() *rowplan.Object[*status.Component] { return t.StatusComponent }))
}

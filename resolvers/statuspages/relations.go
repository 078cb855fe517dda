package statuspages

import (
	"context"
	"slices"
	"time"

	"heliograph/graph"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// Fields implements the functions of [graph.Fields] for status pages. Status pages are in a database of their own, so
// the functions do not use the batches of the ledger: each sends one statement, or a fixed number of them, for all
// parents.
type Fields struct{ *Resolver }

// ready returns the results of a field that have been read already, or the error of that read. The function that it
// returns reads nothing.
func ready[R any](got []R, err error) (rowplan.Results[R], error) {
	return func() ([]R, error) { return got, nil }, err
}

// perPage reads a field of pages with read, which is called once per page at once, and returns one result for each of
// them. There are few pages, and rows of one page share the pointer to it. The first error of read ends it.
func perPage[R any](of []*status.Page, read func(p *status.Page) (R, error)) (rowplan.Results[R], error) {
	known := map[string]R{}
	out := make([]R, len(of))
	for i, p := range of {
		r, ok := known[p.Code]
		if !ok {
			var err error
			if r, err = read(p); err != nil {
				return nil, err
			}
			known[p.Code] = r
		}
		out[i] = r
	}
	return ready(out, nil)
}

// pageCode returns the code of a page, for functions that find the page of a row.
func pageCode(p *status.Page) string { return p.Code }

// StatusPageRollup resolves StatusPage.rollup. It computes the status of pages from their states, which are read
// once per operation.
func (f Fields) StatusPageRollup(
	ctx context.Context, _ rowplan.Request, of []*status.Page,
) (rowplan.Results[*status.Rollup], error) {
	return fromState(ctx, f, of, pageCode, func(s *status.PageState,
		_ *status.Page,
	) *status.Rollup {
		return new(s.Rollup())
	})
}

// StatusPageShownRollup resolves StatusPage.shownRollup. It computes the status that pages show from their states,
// which are read once per operation.
func (f Fields) StatusPageShownRollup(
	ctx context.Context, _ rowplan.Request, of []*status.Page,
) (rowplan.Results[*status.Rollup], error) {
	return fromState(ctx, f, of, pageCode, func(s *status.PageState,
		_ *status.Page,
	) *status.Rollup {
		return new(s.ShownRollup())
	})
}

// StatusPageEffectiveIndicator resolves StatusPage.effectiveIndicator. It computes the indicators of pages from
// their states, which are read once per operation.
func (f Fields) StatusPageEffectiveIndicator(
	ctx context.Context, _ rowplan.Request, of []*status.Page,
) (rowplan.Results[status.Indicator], error) {
	return fromState(ctx, f, of, pageCode, func(s *status.PageState,
		_ *status.Page,
	) status.Indicator {
		return s.EffectiveIndicator()
	})
}

// StatusPageComponents resolves StatusPage.components. It returns the components of each page from its state, which is
// read once per operation. Errors of the arguments are BAD_USER_INPUT.
func (f Fields) StatusPageComponents(ctx context.Context, _ rowplan.Request, of []*status.Page,
	args graph.StatusPageComponentsArgs) (
	rowplan.Results[*relay.StatusComponentConnection], error,
) {
	return perPage(of, func(p *status.Page) (*relay.StatusComponentConnection, error) {
		s, err := f.state(ctx, p.Code)
		if err != nil {
			return nil, err
		}
		return componentList(ctx, s, args)
	})
}

// StatusPageComponent resolves StatusPage.component. It returns the component with a code from the state of each page,
// which is read once per operation; nil if it does not exist.
func (f Fields) StatusPageComponent(ctx context.Context, _ rowplan.Request, of []*status.Page,
	args graph.StatusPageComponentArgs) (
	rowplan.Results[*status.Component], error,
) {
	return perPage(of, func(p *status.Page) (*status.Component, error) { return f.Component(ctx, p, args.Code) })
}

// StatusPageUnresolvedIncidents resolves StatusPage.unresolvedIncidents. It reads a page of the unresolved incidents
// of each page at once, newest first, from the database of status pages, with one statement per page. Errors of the
// arguments are BAD_USER_INPUT.
func (f Fields) StatusPageUnresolvedIncidents(ctx context.Context, _ rowplan.Request, of []*status.Page,
	args graph.StatusPageUnresolvedIncidentsArgs) (
	rowplan.Results[*relay.StatusIncidentConnection], error,
) {
	return f.incidents(ctx, of, graph.StatusPageIncidentsArgs{Args: args.Args}, status.Investigating,
		status.Identified,
		status.Monitoring)
}

// incidents reads the incidents of each page in the given states, or in all without any, as connections. States in
// args replace them. Each page is read with one statement. Errors of the arguments are BAD_USER_INPUT.
func (f Fields) incidents(ctx context.Context, of []*status.Page, args graph.StatusPageIncidentsArgs,
	states ...status.State) (
	rowplan.Results[*relay.StatusIncidentConnection], error,
) {
	l, err := incidentList(ctx, args, states...)
	if err != nil {
		return nil, err
	}
	return perPage(of, func(p *status.Page) (*relay.StatusIncidentConnection, error) {
		rows, err := f.db.Notices(ctx, p, l.filter, l.order, storage.NewPage(l.page.Range()))
		c := l.incidents(rows)
		countNotices(f, []*status.Page{p}, pageCode, []*relay.Connection[status.Incident]{c},
			statuspages.NoticesOfPage,
			l.filter)
		return c, err
	})
}

// StatusPageActiveMaintenances resolves StatusPage.activeMaintenances. It reads a page of the maintenances in progress
// of each page at once, ordered by their start, from the database of status pages, with one statement per page. Errors
// of the arguments are BAD_USER_INPUT.
func (f Fields) StatusPageActiveMaintenances(ctx context.Context, _ rowplan.Request, of []*status.Page,
	args graph.StatusPageActiveMaintenancesArgs) (
	rowplan.Results[*relay.StatusMaintenanceConnection], error,
) {
	return f.maintenances(ctx, of, graph.StatusPageMaintenancesArgs{Args: args.Args}, true, status.InProgress,
		status.Verifying)
}

// StatusPageUpcomingMaintenances resolves StatusPage.upcomingMaintenances. It reads a page of the planned maintenances
// of each page at once, ordered by their start, from the database of status pages, with one statement per page. Errors
// of the arguments are BAD_USER_INPUT.
func (f Fields) StatusPageUpcomingMaintenances(ctx context.Context, _ rowplan.Request, of []*status.Page,
	args graph.StatusPageUpcomingMaintenancesArgs) (
	rowplan.Results[*relay.StatusMaintenanceConnection], error,
) {
	return f.maintenances(ctx, of, graph.StatusPageMaintenancesArgs{Args: args.Args}, true, status.Planned)
}

// maintenances reads the maintenances of each page in the given states, or in all without any, as connections, ordered
// by their start with byStart. States in args replace them. Each page is read with one statement. Errors of the
// arguments are BAD_USER_INPUT.
func (f Fields) maintenances(ctx context.Context, of []*status.Page, args graph.StatusPageMaintenancesArgs,
	byStart bool, states ...status.State) (
	rowplan.Results[*relay.StatusMaintenanceConnection], error,
) {
	l, err := maintenanceList(ctx, args, byStart, states...)
	if err != nil {
		return nil, err
	}
	return perPage(of, func(p *status.Page) (*relay.StatusMaintenanceConnection, error) {
		rows, err := f.db.Notices(ctx, p, l.filter, l.order, storage.NewPage(l.page.Range()))
		c := l.maintenances(rows)
		countNotices(f, []*status.Page{p}, pageCode, []*relay.Connection[status.Maintenance]{c},
			statuspages.NoticesOfPage, l.filter)
		return c, err
	})
}

// componentCode returns the code of a component, for functions that group rows by it.
func componentCode(c *status.Component) string { return c.Code }

// pageOf returns the page of each row by its code, nil for pages that do not exist. Pages are read from the database
// once per operation.
func pageOf[T any](ctx context.Context, f Fields, of []T, code func(T) string) (rowplan.Results[*status.Page], error) {
	pages, err := f.pages(ctx)
	return ready(list.Map(of, func(row T) *status.Page { return pages.ByCode(code(row)) }), err)
}

// onPages reads a field with read, a function of the database that needs all pages, and calls it at once for all rows.
// Pages are read once per operation.
func onPages[T, R any](
	ctx context.Context, f Fields, of []T, read func(context.Context, status.Pages, []T) ([]R, error),
) (rowplan.Results[R], error) {
	pages, err := f.pages(ctx)
	if err != nil {
		return nil, err
	}
	return ready(read(ctx, pages, of))
}

// fromState returns a field that get computes from the states of the pages that rows belong to. A state has the
// components of a page and the worst impact of its open incidents. It is read from the database once per operation. An
// error of one page fails the field for all rows.
func fromState[T, R any](
	ctx context.Context, f Fields, of []T, page func(T) string, get func(*status.PageState, T) R,
) (rowplan.Results[R], error) {
	out := make([]R, len(of))
	for i, row := range of {
		s, err := f.state(ctx, page(row))
		if err != nil {
			return nil, err
		}
		out[i] = get(s, row)
	}
	return ready(out, nil)
}

// pageOfComponent returns the code of the page of a component, for [fromState] and [pageOf].
func pageOfComponent(c *status.Component) string { return c.PageCode }

// StatusComponentGroup resolves StatusComponent.group. It returns the group of each component from the state of its
// page, which is read once per operation; nil for components without a group.
func (f Fields) StatusComponentGroup(
	ctx context.Context, _ rowplan.Request, of []*status.Component,
) (rowplan.Results[*status.Component], error) {
	return fromState(ctx, f, of, pageOfComponent, func(s *status.PageState,
		c *status.Component,
	) *status.Component {
		return s.Component(c.GroupCode.V)
	})
}

// StatusComponentChildren resolves StatusComponent.children. It returns the components of each group from the state of
// its page, which is read once per operation.
func (f Fields) StatusComponentChildren(
	ctx context.Context, _ rowplan.Request, of []*status.Component,
) (rowplan.Results[[]*status.Component], error) {
	return fromState(ctx, f, of, pageOfComponent, func(s *status.PageState, c *status.Component) []*status.Component {
		return list.Map(c.Children, s.Component)
	})
}

// StatusComponentUptime resolves StatusComponent.uptime. It reads the histories of components at once, from the
// database of status pages, and computes their uptime in the zones of their pages. Groups, components without a start
// date, and those of which nothing is known have no uptime. A number of days that is not between 1 and [MaxUptimeDays]
// is BAD_USER_INPUT.
func (f Fields) StatusComponentUptime(ctx context.Context, _ rowplan.Request, of []*status.Component,
	args graph.StatusComponentUptimeArgs) (
	rowplan.Results[*status.Uptime], error,
) {
	if err := checkUptimeDays(args.Days); err != nil {
		return nil, err
	}
	pages, err := f.pages(ctx)
	if err != nil {
		return nil, err
	}
	histories, err := f.db.Histories(ctx, of)
	if err != nil {
		return nil, err
	}
	out := make([]*status.Uptime, len(of))
	for i, c := range of {
		if !c.IsGroup && c.StartDate.Valid {
			now := f.now().In(pages.Zone(c.PageCode)).Truncate(time.Millisecond)
			if u := status.UptimeOf(histories[i], c.StartDate.V, int(args.Days), now,
				pages.Vocabulary(c.PageCode)); len(u.Days) > 0 {
				out[i] = u
			}
		}
	}
	return ready(out, nil)
}

// StatusComponentIncidents resolves StatusComponent.incidents. It reads a page of the incidents that affected each
// component at once, newest first, from the database of status pages, with one statement for all components. Errors of
// the arguments are BAD_USER_INPUT.
func (f Fields) StatusComponentIncidents(ctx context.Context, _ rowplan.Request, of []*status.Component,
	args graph.StatusComponentIncidentsArgs) (
	rowplan.Results[*relay.StatusIncidentConnection], error,
) {
	l, err := incidentList(ctx, graph.StatusPageIncidentsArgs{Args: args.Args})
	if err != nil {
		return nil, err
	}
	rows, err := f.db.NoticesOfComponents(ctx, of, l.filter, l.order, storage.NewPage(l.page.Range()))
	out := list.Map(rows, l.incidents)
	countNotices(f, of, componentCode, out, statuspages.NoticesOfComponent, l.filter)
	return ready(out, err)
}

// StatusComponentMaintenances resolves StatusComponent.maintenances. It reads a page of the maintenances that affect
// each component at once, the most recent first by their end or else their start, from the database of status pages,
// with one statement for all components. Errors of the arguments are BAD_USER_INPUT.
func (f Fields) StatusComponentMaintenances(ctx context.Context, _ rowplan.Request, of []*status.Component,
	args graph.StatusComponentMaintenancesArgs) (
	rowplan.Results[*relay.StatusMaintenanceConnection], error,
) {
	l, err := maintenanceList(ctx, graph.StatusPageMaintenancesArgs{Args: args.Args}, false)
	if err != nil {
		return nil, err
	}
	rows, err := f.db.NoticesOfComponents(ctx, of, l.filter, l.order, storage.NewPage(l.page.Range()))
	out := list.Map(rows, l.maintenances)
	countNotices(f, of, componentCode, out, statuspages.NoticesOfComponent, l.filter)
	return ready(out, err)
}

// NetworkNodeStatusComponent resolves NetworkNode.statusComponent. It returns the components that represent consensus
// nodes, from the state of the default page, which is read once per operation; nil for nodes without one, and for all
// if there is no page.
func (f Fields) NetworkNodeStatusComponent(
	ctx context.Context, _ rowplan.Request, of []*ledger.NetworkNode,
) (rowplan.Results[*status.Component], error) {
	page, err := f.Page(ctx, nil)
	if err != nil || page == nil {
		return ready(make([]*status.Component, len(of)), err)
	}
	s, err := f.state(ctx, page.Code)
	if err != nil {
		return nil, err
	}
	return ready(list.Map(of, func(n *ledger.NetworkNode) *status.Component { return s.ComponentOfNode(n.NodeID) }),
		nil)
}

// noticeOfIncident returns a pointer to the notice in an incident, not a copy.
func noticeOfIncident(n *status.Incident) *status.Notice { return &n.Notice }

// noticeOfMaintenance returns a pointer to the notice in a maintenance, not a copy.
func noticeOfMaintenance(n *status.Maintenance) *status.Notice { return &n.Notice }

// components returns the components that notices ever affected, in the order of documents, without deleted ones. It
// reads the lists of the notices with one statement, and takes the components from the states of their pages, for
// StatusIncident.components and StatusMaintenance.components.
func (f Fields) components(
	ctx context.Context, notices []*status.Notice,
) (rowplan.Results[[]*status.Component], error) {
	attached, err := f.db.Attachments(ctx, notices)
	if err != nil {
		return nil, err
	}
	out := make([][]*status.Component, len(notices))
	for i, n := range notices {
		s, err := f.state(ctx, n.PageCode)
		if err != nil {
			return nil, err
		}
		codes := list.Map(attached[i], func(a *status.Attachment) string { return a.ComponentCode })
		out[i] = slices.DeleteFunc(slices.Clone(s.Components), func(c *status.Component) bool {
			return !slices.Contains(codes, c.Code)
		})
	}
	return ready(out, nil)
}

// StatusUpdateNotice resolves StatusUpdate.notice. It reads the notice of each update at once, from the database of
// status pages, with one statement for all; nil for one that was deleted or is a draft.
func (f Fields) StatusUpdateNotice(
	ctx context.Context, _ rowplan.Request, of []*status.Update,
) (rowplan.Results[relay.StatusNotice], error) {
	found, err := f.notices(ctx, list.Map(of, func(u *status.Update) string { return u.NoticeCode }))
	if err != nil {
		return nil, err
	}
	return ready(list.Map(of, func(u *status.Update) relay.StatusNotice {
		if n := found[u.NoticeCode]; n != nil {
			return asNotice(n)
		}
		return nil
	}), nil)
}

// StatusAffectedComponentComponent resolves StatusAffectedComponent.component. It returns the component that an update
// changed from the state of its page, which is read once per operation; nil for a deleted one.
func (f Fields) StatusAffectedComponentComponent(ctx context.Context, _ rowplan.Request,
	of []*status.AffectedComponent) (
	rowplan.Results[*status.Component], error,
) {
	return fromState(ctx, f, of, func(a *status.AffectedComponent) string { return a.PageCode },
		func(s *status.PageState, a *status.AffectedComponent) *status.Component { return s.Component(a.Code) })
}

// StatusComponentChangeComponent resolves StatusComponentChange.component. It returns the component of each change from
// the state of its page, which is read once per operation; nil for a deleted one.
func (f Fields) StatusComponentChangeComponent(
	ctx context.Context, _ rowplan.Request, of []*status.Change,
) (rowplan.Results[*status.Component], error) {
	return fromState(ctx, f, of, func(c *status.Change) string { return c.PageCode },
		func(s *status.PageState, c *status.Change) *status.Component { return s.Component(c.ComponentCode) })
}

// StatusChangePage resolves StatusChange.page. It returns the page of each revision; pages are read once per operation.
func (f Fields) StatusChangePage(ctx context.Context, _ rowplan.Request, of []*status.Revision) (
	rowplan.Results[*status.Page], error,
) {
	return pageOf(ctx, f, of, func(row *status.Revision) string { return row.PageCode })
}

// StatusChangeComponentChanges resolves StatusChange.componentChanges. It reads the changes of components in each
// revision at once, from the database of status pages, with one statement for all.
func (f Fields) StatusChangeComponentChanges(ctx context.Context, _ rowplan.Request, of []*status.Revision) (
	rowplan.Results[[]*status.Change], error,
) {
	return onPages(ctx, f, of, f.db.ChangesOfRevisions)
}

// StatusChangeUpdates resolves StatusChange.updates. It reads the updates in each revision at once, from the database
// of status pages, with one statement for the updates of all and one for their components.
func (f Fields) StatusChangeUpdates(ctx context.Context, _ rowplan.Request, of []*status.Revision) (
	rowplan.Results[[]*status.Update], error,
) {
	return onPages(ctx, f, of, f.db.UpdatesOfRevisions)
}

// StatusComponentPage resolves StatusComponent.page. It returns the page of each component; pages are read once per
// operation.
func (f Fields) StatusComponentPage(ctx context.Context, _ rowplan.Request, of []*status.Component) (
	rowplan.Results[*status.Page], error,
) {
	return pageOf(ctx, f, of, pageOfComponent)
}

// StatusIncidentPage resolves StatusIncident.page. It returns the page of each incident; pages are read once per
// operation.
func (f Fields) StatusIncidentPage(ctx context.Context, _ rowplan.Request, of []*status.Incident) (
	rowplan.Results[*status.Page], error,
) {
	return pageOf(ctx, f, of, func(row *status.Incident) string { return row.PageCode })
}

// StatusIncidentUpdates resolves StatusIncident.updates. It reads the updates of each incident at once, newest first,
// from the database of status pages, with one statement for the updates of all and one for their components.
func (f Fields) StatusIncidentUpdates(ctx context.Context, _ rowplan.Request, of []*status.Incident) (
	rowplan.Results[[]*status.Update], error,
) {
	return onPages(ctx, f, list.Map(of, noticeOfIncident), f.db.Updates)
}

// StatusIncidentComponents resolves StatusIncident.components. It reads the components that each incident affected,
// with one statement for all and the states of their pages.
func (f Fields) StatusIncidentComponents(ctx context.Context, _ rowplan.Request, of []*status.Incident) (
	rowplan.Results[[]*status.Component], error,
) {
	return f.components(ctx, list.Map(of, noticeOfIncident))
}

// StatusMaintenancePage resolves StatusMaintenance.page. It returns the page of each maintenance; pages are read once
// per operation.
func (f Fields) StatusMaintenancePage(ctx context.Context, _ rowplan.Request, of []*status.Maintenance) (
	rowplan.Results[*status.Page], error,
) {
	return pageOf(ctx, f, of, func(row *status.Maintenance) string { return row.PageCode })
}

// StatusMaintenanceUpdates resolves StatusMaintenance.updates. It reads the updates of each maintenance at once,
// newest first, from the database of status pages, with one statement for the updates of all and one for their
// components.
func (f Fields) StatusMaintenanceUpdates(ctx context.Context, _ rowplan.Request, of []*status.Maintenance) (
	rowplan.Results[[]*status.Update], error,
) {
	return onPages(ctx, f, list.Map(of, noticeOfMaintenance), f.db.Updates)
}

// StatusMaintenanceComponents resolves StatusMaintenance.components. It reads the components that each maintenance
// affects, with one statement for all and the states of their pages.
func (f Fields) StatusMaintenanceComponents(ctx context.Context, _ rowplan.Request, of []*status.Maintenance) (
	rowplan.Results[[]*status.Component], error,
) {
	return f.components(ctx, list.Map(of, noticeOfMaintenance))
}

// StatusPageIncidents resolves StatusPage.incidents. It reads a page of the incidents of each page at once, newest
// first, from the database of status pages, with one statement per page. Errors of the arguments are BAD_USER_INPUT.
func (f Fields) StatusPageIncidents(
	ctx context.Context, _ rowplan.Request, of []*status.Page, args graph.StatusPageIncidentsArgs,
) (rowplan.Results[*relay.Connection[status.Incident]], error) {
	return f.incidents(ctx, of, args)
}

// StatusPageMaintenances resolves StatusPage.maintenances. It reads a page of the maintenances of each page at once,
// the most recent first, by their end or else their start, or on request ascending by their start, from the database
// of status pages, with one statement per page. Errors of the arguments are BAD_USER_INPUT.
func (f Fields) StatusPageMaintenances(
	ctx context.Context, _ rowplan.Request, of []*status.Page, args graph.StatusPageMaintenancesArgs,
) (rowplan.Results[*relay.Connection[status.Maintenance]], error) {
	return f.maintenances(ctx, of, args, false)
}

package statuspages

import (
	"context"
	"slices"
	"time"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// The names of the lists of status pages in their cursors.
const (
	componentKind   = "status components"
	incidentKind    = "status incidents"
	maintenanceKind = "status maintenances"
	startKind       = "status maintenances by start"
)

// MaxUptimeDays is the maximum number of days of uptime in one request.
const MaxUptimeDays = 400

type noticeList struct {
	filter statuspages.NoticeFilter
	order  statuspages.NoticeOrder
	kind   string // in cursors
	page   relay.Page
}

// incidentList checks the arguments of a list of incidents in some states, or all, and returns its filter, order and
// page. The newest incidents are first. Errors are BAD_USER_INPUT. It reads nothing.
func incidentList(
	ctx context.Context, args graph.StatusPageIncidentsArgs, states ...status.State,
) (l noticeList, err error) {
	l = noticeList{
		filter: statuspages.NoticeFilter{Kind: status.Realtime, States: states},
		order:  statuspages.ByCreation, kind: incidentKind,
	}
	l.restrict(args.Statuses, args.Component, args.Since, args.Until)
	l.page, err = pageOfList(ctx, args.Args, l.kind, 2, true)
	return l, err
}

// maintenanceList checks the arguments of a list of maintenances in some states, or all, and returns its filter, order
// and page. With byStart, or on request of the client, the order is that of the start, the earliest first. Otherwise
// the most recent are first, by their end or else their start. It reads nothing. Errors are BAD_USER_INPUT.
func maintenanceList(
	ctx context.Context, args graph.StatusPageMaintenancesArgs, byStart bool, states ...status.State,
) (l noticeList, err error) {
	l = noticeList{
		filter: statuspages.NoticeFilter{Kind: status.Scheduled, States: states},
		order:  statuspages.ByRecency, kind: maintenanceKind,
	}
	if byStart || args.OrderBy == model.MaintenanceOrderStartFirst {
		l.order, l.kind = statuspages.ByStart, startKind
	}
	l.restrict(args.Statuses, args.Component, args.Since, args.Until)
	l.page, err = pageOfList(ctx, args.Args, l.kind, 2, l.order == statuspages.ByRecency)
	return l, err
}

// restrict adds the conditions that incident and maintenance lists share to the filter of l. states, if given,
// replace those of the filter.
func (l *noticeList) restrict(states []status.State, component *string, since, until *time.Time) {
	if states != nil {
		l.filter.States = states
	}
	l.filter.Component = ledger.FromPointer(component).V
	l.filter.Since, l.filter.Until = ledger.FromPointer(since), ledger.FromPointer(until)
}

// key returns the values of the sort columns of a notice for its cursor: the time of the order of l in milliseconds,
// and the code.
func (l *noticeList) key(n *status.Notice) relay.Key {
	at := n.RecentAt()
	if l.order == statuspages.ByStart {
		at = n.ScheduledFor.V
	}
	return relay.Key{at.UnixMilli(), []byte(n.Code)}
}

// incidents returns rows of the list, which were read for its page, as a connection of incidents.
func (l *noticeList) incidents(rows []*status.Notice) *relay.StatusIncidentConnection {
	return relay.NewConnection(l.kind, l.page, list.Map(rows, asIncident),
		func(n *status.Incident) relay.Key { return l.key(&n.Notice) })
}

// maintenances returns rows of the list, which were read for its page, as a connection of maintenances.
func (l *noticeList) maintenances(rows []*status.Notice) *relay.StatusMaintenanceConnection {
	return relay.NewConnection(l.kind, l.page, list.Map(rows, asMaintenance),
		func(n *status.Maintenance) relay.Key { return l.key(&n.Notice) })
}

// countNotices sets the count functions of lists, one for each of the objects of: they read the numbers of notices of
// all objects, found by their codes, with one statement, if totalCount is selected. source is what relates notices to
// the objects, such as [statuspages.NoticesOfPage]. Without status pages there is no count.
func countNotices[T, C any](
	f Fields, of []T, code func(T) string, lists []*relay.Connection[C], source string,
	filter statuspages.NoticeFilter,
) {
	relay.SetCounts(lists, func(ctx context.Context) ([]int64, error) {
		counts, err := f.db.CountNotices(ctx, list.Map(of, code), source, filter)
		if len(counts) < len(lists) { // the database has no status pages
			return nil, err
		}
		return counts, err
	}, storage.MaxCount)
}

// componentList returns the components of a page as a connection. The page is in memory; no statement is sent. Errors
// of the arguments are BAD_USER_INPUT.
func componentList(
	ctx context.Context, s *status.PageState, args graph.StatusPageComponentsArgs,
) (*relay.StatusComponentConnection, error) {
	p, err := pageOfList(ctx, args.Args, componentKind, 4, false)
	if err != nil {
		return nil, err
	}
	var rows []*status.Component
	for _, c := range s.Components {
		healthy := c.OnlyShowIfDegraded && c.Status == status.Operational
		filtered := args.Statuses != nil && !slices.Contains(args.Statuses, c.Status)
		if !args.Flat && c.GroupCode.Valid || !args.IncludeHiddenWhenHealthy && healthy || filtered {
			continue
		}
		rows = append(rows, c)
	}
	count := &relay.Count{Value: int64(len(rows)), Exact: true}
	read := func(context.Context) (*relay.Count, error) { return count, nil }
	return relay.NewConnection(componentKind, p, within(rows, p), componentKey).WithCount(read), nil
}

// componentKey returns the values of the sort columns of a component for its cursor.
func componentKey(c *status.Component) relay.Key {
	return relay.Key{int64(c.Position), int64(c.ListIndex), c.CreatedAt.UnixMilli(), []byte(c.Code)}
}

// within returns the components of an ascending list that belong to a page, in reading order, and the one after
// them. It overwrites all.
func within(all []*status.Component, p relay.Page) []*status.Component {
	rows := slices.DeleteFunc(all, func(c *status.Component) bool {
		return p.After != nil && status.CompareComponents(c, place(p.After)) <= 0 ||
			p.Before != nil && status.CompareComponents(c, place(p.Before)) >= 0
	})
	if p.Backward {
		slices.Reverse(rows)
	}
	return rows[:min(len(rows), p.Limit+1)]
}

// place returns a component at the place of a cursor; see [componentKey]. A modified cursor may have columns of other
// types, which count as zero.
func place(k relay.Key) *status.Component {
	position, _ := k[0].(int64)
	index, _ := k[1].(int64)
	created, _ := k[2].(int64)
	code, _ := k[3].([]byte)
	return &status.Component{
		Position: int32(position), ListIndex: int32(index), CreatedAt: time.UnixMilli(created), Code: string(code),
	}
}

// checkUptimeDays fails with BAD_USER_INPUT unless the number of days is between 1 and [MaxUptimeDays].
func checkUptimeDays(days int32) error {
	if days < 1 || days > MaxUptimeDays {
		return fault.Input("days must be between 1 and %d", MaxUptimeDays)
	}
	return nil
}

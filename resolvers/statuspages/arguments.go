package statuspages

import (
	"bytes"
	"cmp"
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

// maintenanceList reads the arguments of a list of maintenances.
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

// restrict adds the conditions that incident and maintenance lists share.
func (l *noticeList) restrict(states []status.State, component *string, since, until *time.Time) {
	if states != nil {
		l.filter.States = states
	}
	l.filter.Component = ledger.FromPointer(component).V
	l.filter.Since, l.filter.Until = ledger.FromPointer(since), ledger.FromPointer(until)
}

func (l *noticeList) key(n *status.Notice) relay.Key {
	at := n.RecentAt()
	if l.order == statuspages.ByStart {
		at = n.ScheduledFor.V
	}
	return relay.Key{at.UnixMilli(), []byte(n.Code)}
}

func (l *noticeList) incidents(rows []*status.Notice) *relay.StatusIncidentConnection {
	return relay.NewConnection(l.kind, l.page, list.Map(rows, asIncident),
		func(n *status.Incident) relay.Key { return l.key(&n.Notice) })
}

func (l *noticeList) maintenances(rows []*status.Notice) *relay.StatusMaintenanceConnection {
	return relay.NewConnection(l.kind, l.page, list.Map(rows, asMaintenance),
		func(n *status.Maintenance) relay.Key { return l.key(&n.Notice) })
}

// countNotices makes lists count the notices of some objects.
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
	count := func(context.Context) (*relay.Count, error) {
		return &relay.Count{Value: int64(len(rows)), Exact: true}, nil
	}
	return relay.NewConnection(componentKind, p, within(rows, p, componentKey), componentKey).WithCount(count), nil
}

func componentKey(c *status.Component) relay.Key {
	return relay.Key{int64(c.Position), int64(c.ListIndex), c.CreatedAt.UnixMilli(), []byte(c.Code)}
}

// within returns the rows of an ascending list that belong to a page, in reading order, and the row after them.
func within[T any](all []*T, p relay.Page, key func(*T) relay.Key) []*T {
	var rows []*T
	for _, row := range all {
		if k := key(row); (p.After == nil || compareKeys(k, p.After) > 0) &&
			(p.Before == nil || compareKeys(k, p.Before) < 0) {
			rows = append(rows, row)
		}
	}
	if p.Backward {
		slices.Reverse(rows)
	}
	return rows[:min(len(rows), p.Limit+1)]
}

// compareKeys compares positions in one list. A modified cursor may have columns of other types, which sort first.
func compareKeys(a, b relay.Key) int {
	for i := range a {
		switch x := a[i].(type) {
		case int64:
			y, _ := b[i].(int64)
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		case []byte:
			y, _ := b[i].([]byte)
			if c := bytes.Compare(x, y); c != 0 {
				return c
			}
		}
	}
	return 0
}

// checkUptimeDays fails if the number of days is out of range.
func checkUptimeDays(days int32) error {
	if days < 1 || days > MaxUptimeDays {
		return fault.Input("days must be between 1 and %d", MaxUptimeDays)
	}
	return nil
}

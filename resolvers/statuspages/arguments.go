package statuspages

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/graph/rowplan"
	"heliograph/graph/scalar"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// The names of the lists of status pages in their cursors.
const (
	componentKind   = "status components"
	incidentKind    = "status incidents"
	maintenanceKind = "status maintenances"
	startKind       = "status maintenances by start"
)

// maxUptimeDays is how many days of uptime can be asked for.
const maxUptimeDays = 400

// noticeList is a list of notices as it was asked for.
type noticeList struct {
	filter statuspages.NoticeFilter
	order  statuspages.NoticeOrder
	kind   string // in cursors
	page   relay.Page
}

// incidentList reads the arguments of a list of incidents.
func incidentList(ctx context.Context, args rowplan.Args, states ...status.State) (l noticeList, err error) {
	l = noticeList{filter: statuspages.NoticeFilter{Kind: status.Realtime, States: states}, order: statuspages.ByCreation, kind: incidentKind}
	err = l.read(ctx, args, true)
	return l, err
}

// maintenanceList reads the arguments of a list of maintenances.
func maintenanceList(ctx context.Context, args rowplan.Args, byStart bool, states ...status.State) (l noticeList, err error) {
	l = noticeList{filter: statuspages.NoticeFilter{Kind: status.Scheduled, States: states}, order: statuspages.ByRecency, kind: maintenanceKind}
	if byStart || args["orderBy"] == string(model.MaintenanceOrderStartFirst) {
		l.order, l.kind = statuspages.ByStart, startKind
	}
	err = l.read(ctx, args, l.order == statuspages.ByRecency)
	return l, err
}

// read reads what both kinds of lists can be asked for.
func (l *noticeList) read(ctx context.Context, args rowplan.Args, newestFirst bool) error {
	var err error
	if args["statuses"] != nil {
		if l.filter.States, err = listArg(ctx, args["statuses"], scalar.UnmarshalNoticeStatus); err != nil {
			return err
		}
	}
	l.filter.Component, _ = args["component"].(string)
	if l.filter.Since, err = scalar.UnmarshalNullDateTime(ctx, args["since"]); err != nil {
		return err
	}
	if l.filter.Until, err = scalar.UnmarshalNullDateTime(ctx, args["until"]); err != nil {
		return err
	}
	given := rowplan.Args{"order": string(relay.Asc)}
	if newestFirst {
		given["order"] = string(relay.Desc)
	}
	for _, name := range []string{"first", "after", "last", "before"} {
		given[name] = args[name]
	}
	l.page, err = pageArgs(ctx, given, l.kind, 2)
	return err
}

// listArg reads an argument that is a list.
func listArg[T any](ctx context.Context, v any, read func(context.Context, any) (T, error)) ([]T, error) {
	items := graphql.CoerceList(v)
	out := make([]T, len(items))
	for i, item := range items {
		var err error
		if out[i], err = read(ctx, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// key is the place of a notice in the list.
func (l *noticeList) key(n *status.Notice) relay.Key {
	at := n.RecentAt()
	if l.order == statuspages.ByStart {
		at = n.ScheduledFor.V
	}
	return relay.Key{at.UnixMilli(), []byte(n.Code)}
}

func (l *noticeList) incidents(rows []*status.Notice) *relay.StatusIncidentConnection {
	list := make([]*status.Incident, len(rows))
	for i, n := range rows {
		list[i] = &status.Incident{Notice: *n}
	}
	return relay.NewConnection(l.kind, l.page, list, func(n *status.Incident) relay.Key { return l.key(&n.Notice) })
}

func (l *noticeList) maintenances(rows []*status.Notice) *relay.StatusMaintenanceConnection {
	list := make([]*status.Maintenance, len(rows))
	for i, n := range rows {
		list[i] = &status.Maintenance{Notice: *n}
	}
	return relay.NewConnection(l.kind, l.page, list, func(n *status.Maintenance) relay.Key { return l.key(&n.Notice) })
}

// componentList makes the list of a page's components that was asked for.
func componentList(ctx context.Context, s *status.PageState, args rowplan.Args) (*relay.StatusComponentConnection, error) {
	var states []status.ComponentStatus
	if args["statuses"] != nil {
		var err error
		if states, err = listArg(ctx, args["statuses"], scalar.UnmarshalComponentStatus); err != nil {
			return nil, err
		}
	}
	p, err := pageArgs(ctx, args, componentKind, 4)
	if err != nil {
		return nil, err
	}
	var rows []*status.Component
	for _, c := range s.Components {
		healthy := c.OnlyShowIfDegraded && c.Status == status.Operational
		if args["flat"] == false && c.GroupCode.Valid || args["includeHiddenWhenHealthy"] == false && healthy || states != nil && !slices.Contains(states, c.Status) {
			continue
		}
		rows = append(rows, c)
	}
	return relay.NewConnection(componentKind, p, within(rows, p, componentKey), componentKey), nil
}

func componentKey(c *status.Component) relay.Key {
	return relay.Key{int64(c.Position), int64(c.ListIndex), c.CreatedAt.UnixMilli(), []byte(c.Code)}
}

// within are the rows of an ascending list that a page has, and the one behind them, in reading order.
func within[T any](list []*T, p relay.Page, key func(*T) relay.Key) []*T {
	var rows []*T
	for _, row := range list {
		if k := key(row); (p.After == nil || compareKeys(k, p.After) > 0) && (p.Before == nil || compareKeys(k, p.Before) < 0) {
			rows = append(rows, row)
		}
	}
	if p.Backward {
		slices.Reverse(rows)
	}
	return rows[:min(len(rows), p.Limit+1)]
}

// compareKeys compares places of one list. A cursor that was tampered with may have columns of other types, which are in front of all.
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

// uptimeDays reads how many days of uptime were asked for.
func uptimeDays(ctx context.Context, args rowplan.Args) (int, error) {
	days, err := scalar.UnmarshalInt(ctx, args["days"])
	if err != nil {
		return 0, err
	}
	if days < 1 || days > maxUptimeDays {
		return 0, fault.Input("days must be between 1 and %d", maxUptimeDays)
	}
	return int(days), nil
}

package statuspage

import (
	"context"
	"slices"
	"time"

	"heliograph/internal/domain/status"
	"heliograph/rest/doccache"
)

const (
	// pastDays is the number of past days on the page, not counting today.
	pastDays = 14
	// troubled is the lifetime of a page with a component in outage: its uptime falls without any write.
	troubled = 10 * time.Minute
)

// noon returns 12:00 of a day in its time zone. Days are counted from noon to noon, because every day has a noon.
func noon(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, t.Location())
}

// renderAll renders the cached documents of a page, by path: the page itself, the current month, the banner, badges, feeds, and the
// pages of the notices that it shows.
// They are valid until the page changes, and at most until the returned time.
func (s *Site) renderAll(ctx context.Context, page *status.Page) (map[string]*doccache.Document, time.Time, error) {
	now := s.o.Now().In(page.Zone)
	today := noon(now)
	oldest := today.AddDate(0, 0, -pastDays)
	until := status.DateOf(today).Next().Start(page.Zone)
	var got struct{ Page *pageData }
	if err := s.query(ctx, "page", map[string]any{"page": page.Slug, "since": status.DateOf(oldest).Start(page.Zone).Format(time.RFC3339)}, &got); err != nil {
		return nil, until, err
	}
	if got.Page == nil {
		return nil, until, errGone
	}
	p := got.Page.in(page.Zone)
	front := frontPage{
		head: s.head(p, p.Name+" status", "status"), Headline: headlineOf(p), UpdatedAt: p.UpdatedAt, Incidents: p.UnresolvedIncidents.Nodes,
		Active: p.ActiveMaintenances.Nodes, Upcoming: p.UpcomingMaintenances.Nodes, Components: shown(p.Components.Nodes),
		Maintenance: p.Vocabulary == status.Statuspage,
	}
	ended := slices.DeleteFunc(slices.Concat(p.Incidents.Nodes, p.Maintenances.Nodes),
		func(n notice) bool { return n.day().Before(status.DateOf(oldest).Start(page.Zone)) })
	front.Days, front.Legend = daysOf(today, oldest, ended, true), hasUptime(p.Components.Nodes)
	if hasTrouble(p.Components.Nodes) {
		until = earlier(until, now.Add(troubled))
	}

	out := map[string]*doccache.Document{}
	var err error
	if out["/"], err = s.render("front", front); err != nil {
		return nil, until, err
	}
	front.Title = p.Name + ": " + front.Headline.Text
	if out[framePath], err = s.render("frame", front); err != nil {
		return nil, until, err
	}
	for _, list := range [][]notice{p.UnresolvedIncidents.Nodes, p.ActiveMaintenances.Nodes, p.UpcomingMaintenances.Nodes, ended} {
		for i := range list {
			if out[incidentPrefix+list[i].Code], err = s.noticePage(p, &list[i]); err != nil {
				return nil, until, err
			}
		}
	}
	if out[historyPath+"?month="], err = s.history(ctx, page, ""); err != nil {
		return nil, until, err
	}
	if err := s.addBadges(out, p, front.Headline); err != nil {
		return nil, until, err
	}
	return out, until, s.addFeeds(ctx, out, page)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// hasTrouble reports whether a component has a partial or major outage.
func hasTrouble(list []component) bool {
	return slices.ContainsFunc(list, func(c component) bool {
		return c.Status == status.PartialOutage || c.Status == status.MajorOutage || hasTrouble(c.Children)
	})
}

// addBadges renders the badges of the page and of its components.
func (s *Site) addBadges(out map[string]*doccache.Document, p *pageData, h headline) error {
	add := func(key, left, right string, i status.Indicator) error {
		svg, err := makeBadge(left, right, i)
		if err != nil {
			return err
		}
		out[key], err = doccache.NewDocument(svg)
		return err
	}
	if err := add(badgePath, p.Name, h.Text, h.Indicator); err != nil {
		return err
	}
	var each func(list []component) error
	each = func(list []component) error {
		for i := range list {
			c := &list[i]
			if err := add(badgeOf(c.Code), c.Name, stateName(c.Status), indicatorOf(c.Status)); err != nil {
				return err
			}
			if err := each(c.Children); err != nil {
				return err
			}
		}
		return nil
	}
	return each(p.Components.Nodes)
}

func badgeOf(component string) string { return badgePath + "?component=" + component }

func (s *Site) addFeeds(ctx context.Context, out map[string]*doccache.Document, page *status.Page) error {
	var got struct{ Page *pageData }
	if err := s.query(ctx, "feed", map[string]any{"page": page.Slug, "first": feedLength}, &got); err != nil {
		return err
	}
	if got.Page == nil {
		return errGone
	}
	for path, name := range map[string]string{atomPath: "atom", rssPath: "rss"} {
		text, err := s.feed(name, got.Page.in(page.Zone))
		if err != nil {
			return err
		}
		if out[path], err = doccache.NewDocument(text); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) noticePage(p *pageData, n *notice) (*doccache.Document, error) {
	return s.render("notice", noticePage{s.head(p, n.Name+" – "+p.Name+" status", ""), n})
}

// notice renders the page of a notice that is not cached. It returns [errGone] if the page has no such notice.
func (s *Site) notice(ctx context.Context, page *status.Page, code string) (*doccache.Document, error) {
	var got struct {
		Page                  *pageData
		Incident, Maintenance *notice
	}
	if err := s.query(ctx, "notice", map[string]any{"page": page.Slug, "code": code}, &got); err != nil {
		return nil, err
	}
	n := got.Incident
	if n == nil {
		n = got.Maintenance
	}
	if got.Page == nil || n == nil || n.PageCode != page.Code {
		return nil, errGone
	}
	n.in(page.Zone, page.Locale)
	return s.noticePage(got.Page, n)
}

// monthLayout is the format of months in URLs.
const monthLayout = "2006-01"

// history renders the page of a month, by default the current one. It returns [errGone] for an invalid or future month.
func (s *Site) history(ctx context.Context, page *status.Page, month string) (*doccache.Document, error) {
	now := s.o.Now().In(page.Zone)
	first := time.Date(now.Year(), now.Month(), 1, 12, 0, 0, 0, page.Zone)
	if month != "" {
		t, err := time.ParseInLocation(monthLayout, month, page.Zone)
		if err != nil || t.After(now) || t.Year() < 1970 {
			return nil, errGone
		}
		first = noon(t)
	}
	next := first.AddDate(0, 1, 0)
	begin, end := status.DateOf(first).Start(page.Zone), status.DateOf(next).Start(page.Zone)
	var got struct{ Page *pageData }
	variables := map[string]any{"page": page.Slug, "since": begin.Format(time.RFC3339), "until": end.Format(time.RFC3339)}
	if err := s.query(ctx, "history", variables, &got); err != nil {
		return nil, err
	}
	p := got.Page.in(page.Zone)
	if p == nil {
		return nil, errGone
	}
	h := historyPage{head: s.head(p, first.Format("January 2006")+" – "+p.Name+" status", "history"), Month: first.Format("January 2006")}
	all := slices.Concat(p.Incidents.Nodes, p.Maintenances.Nodes)
	h.Days = daysOf(next.AddDate(0, 0, -1), first, all, false)
	earliest := p.CreatedAt
	for _, n := range slices.Concat(p.Earliest.Nodes, p.EarliestMaintenance.Nodes) {
		earliest = earlier(earliest, n.day())
	}
	if earliest.Before(begin) {
		h.Older = first.AddDate(0, -1, 0).Format(monthLayout)
	}
	if !next.After(now) {
		h.Newer = next.Format(monthLayout)
	}
	return s.render("history", h)
}

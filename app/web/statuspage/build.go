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

// renderAll renders the cached documents of a page, by path: the page itself, the current month, the banner, badges,
// feeds, and the pages of the notices that it shows. They are valid until the page changes, and at most until the
// returned time. That is the end of the day in the zone of the page, or earlier, after troubled, if a component has an
// outage. If one document cannot be rendered, all fail.
func (s *Site) renderAll(ctx context.Context, page *status.Page) (map[string]*doccache.Document, time.Time, error) {
	now := s.o.Now().In(page.Zone)
	today := noon(now)
	oldest := today.AddDate(0, 0, -pastDays)
	until := status.DateOf(today).Next().Start(page.Zone)
	p, err := s.page(ctx, "page", page,
		map[string]any{"since": status.DateOf(oldest).Start(page.Zone).Format(time.RFC3339)})
	if err != nil {
		return nil, until, err
	}
	front := frontPage{
		head: s.head(p, p.Name+" status", "status"), pageData: p, Headline: headlineOf(p),
		Components: shown(p.Components.Nodes),
	}
	ended := slices.DeleteFunc(slices.Concat(p.Incidents.Nodes, p.Maintenances.Nodes),
		func(n notice) bool { return n.RecentAt().Before(status.DateOf(oldest).Start(page.Zone)) })
	front.Days, front.Legend = daysOf(today, oldest, ended, true), hasUptime(p.Components.Nodes)
	if hasTrouble(p.Components.Nodes) {
		until = earlier(until, now.Add(troubled))
	}

	out := map[string]*doccache.Document{}
	out["/"], err = s.render("front", front)
	if err != nil {
		return nil, until, err
	}
	front.Title = p.Name + ": " + front.Headline.Description
	out[framePath], err = s.render("frame", front)
	if err != nil {
		return nil, until, err
	}
	for _, list := range [][]notice{
		p.UnresolvedIncidents.Nodes, p.ActiveMaintenances.Nodes,
		p.UpcomingMaintenances.Nodes, ended,
	} {
		for i := range list {
			out[incidentPrefix+list[i].Code], err = s.noticePage(p, &list[i])
			if err != nil {
				return nil, until, err
			}
		}
	}
	out[historyPath+"?month="], err = s.history(ctx, page, "")
	if err != nil {
		return nil, until, err
	}
	err = addBadge(out, badgePath, p.Name, front.Headline.Description, front.Headline.Indicator)
	if err != nil {
		return nil, until, err
	}
	err = addBadges(out, p.Components.Nodes)
	if err != nil {
		return nil, until, err
	}
	return out, until, s.addFeeds(ctx, out, page)
}

// page runs one of the site's documents and returns the data of a page, with times in its zone, or [errGone] if the
// page does not exist. It sets the variable "page" in variables. It reads at once, through the graph, in the snapshot
// of ctx if it has one.
func (s *Site) page(
	ctx context.Context, document string, page *status.Page, variables map[string]any,
) (*pageData, error) {
	var got struct{ Page *pageData }
	variables["page"] = page.Slug
	err := s.query(ctx, document, variables, &got)
	if err == nil && got.Page == nil {
		err = errGone
	}
	if err != nil {
		return nil, err
	}
	return got.Page.in(page.Zone), nil
}

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }

// hasTrouble reports whether one of the components or of their children has a partial or major outage.
func hasTrouble(list []component) bool {
	return slices.ContainsFunc(list, func(c component) bool {
		return c.Status == status.PartialOutage || c.Status == status.MajorOutage || hasTrouble(c.Children)
	})
}

// addBadges renders the badges of components and of their children, and adds them to out by path. It stops at the
// first error, after which out must not be used.
func addBadges(out map[string]*doccache.Document, list []component) error {
	for i := range list {
		c := &list[i]
		err := addBadge(out, badgeOf(c.Code), c.Name, stateName(c.Status), indicatorOf(c.Status))
		if err != nil {
			return err
		}
		err = addBadges(out, c.Children)
		if err != nil {
			return err
		}
	}
	return nil
}

// addBadge renders a badge with the label left, the state right and the colour of an indicator, and adds it to out
// under key. After an error out must not be used.
func addBadge(out map[string]*doccache.Document, key, left, right string, i status.Indicator) error {
	badge, err := makeBadge(left, right, i)
	if err != nil {
		return err
	}
	out[key], err = doccache.NewDocument(badge)
	return err
}

// badgeOf returns the path, with its query string, of a component's badge: the key of the rendered document.
func badgeOf(component string) string { return badgePath + "?component=" + component }

// addFeeds reads the newest notices of a page, renders its Atom and RSS feed, and adds them to out by path. It reads
// with [Site.page]. After an error, out can have one of the feeds.
func (s *Site) addFeeds(ctx context.Context, out map[string]*doccache.Document, page *status.Page) error {
	p, err := s.page(ctx, "feed", page, map[string]any{"first": feedLength})
	if err != nil {
		return err
	}
	for path, name := range map[string]string{atomPath: "atom", rssPath: "rss"} {
		feed, err := s.feed(name, p)
		if err != nil {
			return err
		}
		out[path], err = doccache.NewDocument(feed)
		if err != nil {
			return err
		}
	}
	return nil
}

// noticePage renders the HTML page of n, a notice of p whose times are in the zone of the page. It reads no database.
func (s *Site) noticePage(p *pageData, n *notice) (*doccache.Document, error) {
	return s.render("notice", noticePage{s.head(p, n.Name+" – "+p.Name+" status", ""), n})
}

// notice reads a notice with [Site.query] and renders its page, for notices whose page is not cached. It returns
// [errGone] if the page has no such notice.
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

// history reads the notices of a month with [Site.page] and renders its page. month is in monthLayout, and empty for
// the current month. It lists only days with notices (false). It returns [errGone] if the page does not exist, and for
// an invalid or future month, or one before 1970.
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
	p, err := s.page(ctx, "history", page, map[string]any{
		"since": begin.Format(time.RFC3339), "until": end.Format(time.RFC3339),
	})
	if err != nil {
		return nil, err
	}
	h := historyPage{
		head:  s.head(p, first.Format("January 2006")+" – "+p.Name+" status", "history"),
		Month: first.Format("January 2006"),
	}
	all := slices.Concat(p.Incidents.Nodes, p.Maintenances.Nodes)
	h.Days = daysOf(next.AddDate(0, 0, -1), first, all, false)
	earliest := p.CreatedAt
	for _, n := range slices.Concat(p.Earliest.Nodes, p.EarliestMaintenance.Nodes) {
		earliest = earlier(earliest, n.RecentAt())
	}
	if earliest.Before(begin) {
		h.Older = first.AddDate(0, -1, 0).Format(monthLayout)
	}
	if !next.After(now) {
		h.Newer = next.Format(monthLayout)
	}
	return s.render("history", h)
}

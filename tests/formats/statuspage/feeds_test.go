package statuspage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"heliograph/app/testing/testenv"
)

// TestFeeds parses both feeds. They contain the newest fifty notices in the same order, with unique ids and all
// updates. RSS has no time of the last update beside the time of publication, which is therefore that of the update.
func TestFeeds(t *testing.T) {
	t.Parallel()
	g := testenv.Demo(t, testenv.Cached)
	g.WaitForPage(t)
	read := func(path, kind string) *gofeed.Feed {
		t.Helper()
		feed, err := gofeed.NewParser().ParseString(g.Get(t, path).Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if feed.FeedType != kind || feed.Title != "Lantern Bay status" || feed.Link != "http://localhost:8080" ||
			feed.FeedLink != "http://localhost:8080"+path || feed.UpdatedParsed == nil {
			t.Errorf("%s: type %s, title %q, link %s, own link %s, updated %v", path, feed.FeedType, feed.Title,
				feed.Link, feed.FeedLink, feed.UpdatedParsed)
		}
		if len(feed.Items) != 50 {
			t.Errorf("%s has %d entries", path, len(feed.Items))
		}
		return feed
	}
	atom, rss := read("/history.atom", "atom"), read("/history.rss", "rss")
	seen, kinds := map[string]bool{}, map[string]int{}
	last := time.Now()
	for i, a := range atom.Items {
		r := rss.Items[i]
		if a.Title != r.Title || a.GUID != r.GUID || a.Link != r.Link || a.Content != r.Description ||
			!a.UpdatedParsed.Equal(*r.PublishedParsed) {
			t.Errorf("entry %d: Atom %+v, RSS %+v", i, a, r)
		}
		if seen[a.GUID] || !strings.HasPrefix(a.GUID, "tag:localhost,2025-") ||
			!strings.HasPrefix(a.Link, "http://localhost:8080/incidents/") {
			t.Errorf("entry %d: id %s, link %s", i, a.GUID, a.Link)
		}
		seen[a.GUID] = true
		if a.UpdatedParsed.After(last) || a.PublishedParsed.After(*a.UpdatedParsed) {
			t.Errorf("entry %d: published %v, updated %v, previous entry updated %v", i, a.PublishedParsed,
				a.UpdatedParsed, last)
		}
		last = *a.UpdatedParsed
		if len(a.Categories) != 1 || len(r.Categories) != 1 {
			t.Fatalf("entry %d: categories %v", i, a.Categories)
		}
		kinds[a.Categories[0]]++
		if !strings.Contains(a.Content, "<strong>") || !strings.Contains(a.Content, "<p>") ||
			strings.Contains(a.Title, "Not yet told") {
			t.Errorf("entry %d %s: content %s", i, a.Title, a.Content)
		}
	}
	if kinds["incident"] < 30 || kinds["maintenance"] < 5 {
		t.Errorf("kinds of entries: %v", kinds)
	}
}

package statuspages_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/graph/relay"
)

// statusQueries returns documents that follow all relations of status pages.
func statusQueries() map[string]string {
	const component = `id code name qualifiedName status shownStatus baseStatus description position isGroup ` +
		`groupCode childCodes showcase onlyShowIfDegraded startDate createdAt updatedAt version nodeId pageCode`
	const notice = `id code name impact impactOverride shortlink startedAt createdAt updatedAt monitoringAt ` +
		`resolvedAt version pageCode`
	const update = `id code noticeCode status body createdAt updatedAt displayAt deliverNotifications customTweet ` +
		`tweetId affectedComponents { code name oldStatus newStatus oldShown newShown }`
	return map[string]string{
		"page": `{ status { __typename id code slug name url timeZone locale vocabulary mode isDefault createdAt ` +
			`updatedAt revision rollup { indicator description } shownRollup { indicator } effectiveIndicator } ` +
			`statusPage(slug: "lantern-bay") { code } default: statusPage { code } none: statusPage(slug: "none") ` +
			`{ code } }`,
		"components": `{ status { components(first: 100) { nodes { ` + component +
			` group { code name } children { code status } page { slug rollup { indicator } } } pageInfo { ` +
			`hasNextPage hasPreviousPage startCursor endCursor } } } }`,
		"some components": `{ status { tops: components(flat: false) { nodes { name children { name children { name } } } } healthy: components(includeHiddenWhenHealthy: false, first: 100) { nodes { name } }
bad: components(statuses: [DEGRADED_PERFORMANCE, UNDER_MAINTENANCE]) { nodes { name status shownStatus } } last: components(last: 3) { edges { cursor node { name } } } } }`,
		"incidents": `{ status { incidents(first: 60) { edges { cursor node { code } } nodes { ` + notice +
			` status reminderIntervals backfilled updates { ` + update +
			` } components { code status incidents(first: 2) { nodes { code } } } page { slug } } pageInfo { ` +
			`hasNextPage endCursor } } } }`,
		"maintenances": `{ status { maintenances { nodes { ` + notice + ` status scheduledFor scheduledUntil autoInProgress autoCompleted autoMaintenanceState autoOperationalState remindMinutes updates { ` + update + ` } components { code maintenances(first: 2) { nodes { code status } } } } }
byStart: maintenances(orderBy: START_FIRST, first: 4) { nodes { code scheduledFor } } activeMaintenances { nodes { code status } } upcomingMaintenances { nodes { code status scheduledFor } } unresolvedIncidents { nodes { code status impact } } } }`,
		"filters": `{ status { resolved: incidents(statuses: [RESOLVED, POSTMORTEM], first: 3) { nodes { code status } } one: incidents(statuses: MONITORING) { nodes { status } } may: incidents(since: "2026-05-01T00:00:00+01:00", until: "2026-05-10T00:00:00Z") { nodes { createdAt } }
planned: maintenances(statuses: [SCHEDULED]) { nodes { status } } now: maintenances(since: "2026-05-17T12:30:00Z", until: "2026-05-17T12:34:00Z") { nodes { status } } } }`,
		"notices of updates": `{ status { unresolvedIncidents { nodes { updates { code notice { __typename id ` +
			`code name updates { code } ... on StatusIncident { status } } affectedComponents { component { name ` +
			`group { name } } } } } } upcomingMaintenances { nodes { updates { notice { __typename ... on ` +
			`StatusMaintenance { scheduledFor } } } } } } }`,
		"nodes and components": `{ network { nodes { nodes { nodeId stake description serviceEndpoints { port } ` +
			`statusComponent { name status networkNode { nodeId account { entityId } } maintenances(first: 1) { ` +
			`nodes { name } } } } } } status { components(first: 100) { nodes { nodeId networkNode { nodeId ` +
			`statusComponent { nodeId } } } } } }`,
		"uptime": `{ status { components(first: 100) { nodes { name uptime(days: 30) { percent days { ` +
			`date percent worst worstShown outageSeconds partialSeconds degradedSeconds maintenanceSeconds } } ` +
			`week: uptime(days: 7) { percent } } } } }`,
		"merged": `{ status { incidents(first: 2) { nodes { updates { code } } } incidents(first: 2) ` +
			`{ nodes { updates { body } components { code } } } } again: status { name incidents(first: 1) { nodes ` +
			`{ name } } } }`,
	}
}

// TestStatusQueries checks that the queries have rows and no errors.
func TestStatusQueries(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for name, query := range statusQueries() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := g.Query(t, query, nil)
			if strings.Contains(got.Body, `"errors"`) || strings.Contains(got.Body, `"nodes":[]}`) {
				t.Errorf("got %s", got.Body)
			}
		})
	}
}

// TestStatusLists reads lists in both directions and checks that every notice appears once.
func TestStatusLists(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type list struct {
		Nodes    []struct{ Code string }
		PageInfo struct {
			HasNextPage, HasPreviousPage bool
			StartCursor, EndCursor       string
		}
	}
	for name, field := range map[string]string{
		"incidents": "incidents(", "maintenances": "maintenances(",
		"maintenances by start": "maintenances(orderBy: START_FIRST, ", "components": "components(",
		"resolved":               "incidents(statuses: [RESOLVED], ",
		"notices of a component": `component(code: "` + codeOf(t, g, "Gull Rock") + `") { incidents(`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := ""
			if strings.Contains(field, "{") {
				end = "}"
			}
			page := func(args string) list {
				var data struct {
					Status map[string]any
				}
				query := `{ status { ` + field + args +
					`) { nodes { code } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } ` + end +
					` } }`
				g.Data(t, query, nil, &data)
				text := g.Query(t, query, nil).Body
				var l list
				at := strings.Index(text, `{"nodes"`)
				testenv.Decode(t, text[at:], &l)
				return l
			}
			codes := func(l list) (out []string) {
				for _, n := range l.Nodes {
					out = append(out, n.Code)
				}
				return out
			}
			var forward, backward []string
			for args := "first: 4"; args != ""; {
				l := page(args)
				forward = append(forward, codes(l)...)
				if args = ""; l.PageInfo.HasNextPage {
					args = fmt.Sprintf("first: 4, after: %q", l.PageInfo.EndCursor)
				}
			}
			for args := "last: 7"; args != ""; {
				l := page(args)
				backward = append(codes(l), backward...)
				if args = ""; l.PageInfo.HasPreviousPage {
					args = fmt.Sprintf("last: 7, before: %q", l.PageInfo.StartCursor)
				}
			}
			if !slices.Equal(forward, backward) || len(forward) < 8 {
				t.Errorf("forward %q, backward %q", forward, backward)
			}
			sorted := slices.Sorted(slices.Values(forward))
			if len(slices.Compact(sorted)) != len(forward) {
				t.Errorf("duplicates in %q", forward)
			}
			if first := codes(page("first: 100")); len(forward) <= 100 && !slices.Equal(first, forward) {
				t.Errorf("one page %q, several pages %q", first, forward)
			}
		})
	}
}

// codeOf returns the code of a component.
func codeOf(t *testing.T, g *testenv.Gateway, name string) string {
	t.Helper()
	var code string
	if err := g.Status.Pool().QueryRow(t.Context(), `select id from status.component where name = $1`,
		name).Scan(&code); err != nil {
		t.Fatal(err)
	}
	return code
}

// TestStatusIDs reads every object by its global id. Drafts must not be found.
func TestStatusIDs(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var names []string
	if err := g.Status.Pool().QueryRow(t.Context(), `select array_agg(name) from (select 'StatusPage:' || id as name from status.page union all (select 'StatusComponent:' || id from status.component limit 3)
union all (select case kind when 'realtime' then 'StatusIncident:' else 'StatusMaintenance:' end || id from status.incident where not draft limit 90)
union all (select 'StatusUpdate:' || u.id from status.incident_update u join status.incident n on n.id = u.incident_id and not n.draft limit 3)) x`).Scan(&names); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		typ, code, _ := strings.Cut(name, ":")
		seen[typ] = true
		var data struct {
			Node struct {
				Typename string `json:"__typename"`
				ID       string
			}
		}
		g.Data(t, `query($id: ID!) { node(id: $id) { __typename id } }`, map[string]any{"id": relay.ID(typ, code)},
			&data)
		if data.Node.Typename != typ || data.Node.ID != relay.ID(typ, code) {
			t.Errorf("%s: %+v", name, data)
		}
	}
	if len(seen) != 5 {
		t.Errorf("types %v", seen)
	}
	var draft, other, update string
	if err := g.Status.Pool().QueryRow(t.Context(),
		`select n.id, (select id from status.incident where kind = 'scheduled' limit 1), u.id from status.incident `+
			`n join status.incident_update u on u.incident_id = n.id where draft`).
		Scan(&draft, &other, &update); err != nil {
		t.Fatal(err)
	}
	got := g.Query(t,
		`query($draft: String!, $other: String!, $id: ID!, $update: ID!) { statusIncident(code: $draft) { name } `+
			`wrong: statusIncident(code: $other) { name } statusMaintenance(code: $draft) { name } node(id: $id) { `+
			`id } said: node(id: $update) { id } }`,
		map[string]any{
			"draft": draft, "other": other, "id": relay.ID("StatusIncident", draft),
			"update": relay.ID("StatusUpdate", update),
		}).Body
	if got != `{"data":{"statusIncident":null,"wrong":null,"statusMaintenance":null,"node":null,"said":null}}` {
		t.Errorf("a draft is visible: %s", got)
	}
	if all := g.Query(t, `{ status { incidents(first: 100) { nodes { name } } component(code: "`+codeOf(t, g,
		"Faucet")+`") { status incidents { nodes { name } } } } }`, nil).Body; strings.Contains(all, "Not yet told") ||
		!strings.Contains(all, `"status":"OPERATIONAL"`) {
		t.Errorf("a draft is visible in %s", all)
	}
}

// TestStatusArguments tests rejected arguments.
func TestStatusArguments(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for query, want := range map[string]string{
		`{ status { incidents(first: 101) { nodes { code } } } }`: "first must be " +
			"between 0 and 100",
		`{ status { incidents(after: "x") { nodes { code } } } }`: "the cursor is " +
			"not one of this list",
		`{ status { components(after: "c3RhdHVzIGNvbXBvbmVudHM6MQ") { nodes { code } } } }`: "the cursor is " +
			"not one of this list",
		`{ status { incidents(since: "yesterday") { nodes { code } } } }`: "is not an RFC " +
			"3339 time",
		`{ status { incidents(statuses: [SCHEDULED]) { nodes { code } } } }`: "SCHEDULED",
		`{ status { components { nodes { uptime(days: 0) { percent } } } } }`: "days must be " +
			"between 1 and 400",
		`{ status { components { nodes { uptime(days: 401) { percent } } } } }`: "days must be " +
			"between 1 and 400",
		`{ status { maintenances(orderBy: RECENT_FIRST, first: 1, last: 1) { nodes { code } } } }`: "give either " +
			"first or last",
	} {
		if got := g.Query(t, query, nil).Body; !strings.Contains(got, want) || !strings.Contains(got, `"errors"`) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// TestCountsOfNotices compares the counts of lists with full lists.
func TestCountsOfNotices(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*testenv.Gateway{"demo": testenv.Shared(t)} {
		type notices struct {
			Short, Long struct {
				Nodes      []struct{ Code string }
				TotalCount struct {
					Value string
					Exact bool
				}
			}
		}
		counted, most := 0, 0
		check := func(what string, n notices) {
			count := n.Short.TotalCount
			if all := len(n.Long.Nodes); count != n.Long.TotalCount || !count.Exact ||
				count.Value != strconv.Itoa(all) {
				t.Errorf("%s, %s: %+v, but there are %d", name, what, count, all)
			} else {
				counted, most = counted+1, max(most, all)
			}
		}
		for _, list := range []string{
			"incidents", "incidents(statuses: [RESOLVED])",
			`incidents(since: "2026-05-01T00:00:00Z", until: "2026-05-10T00:00:00Z")`, "unresolvedIncidents",
			"maintenances", "maintenances(orderBy: START_FIRST, statuses: [SCHEDULED])", "activeMaintenances",
			"upcomingMaintenances",
		} {
			field, args, _ := strings.Cut(strings.TrimSuffix(list, ")"), "(")
			selection := func(first int, args string) string {
				return fmt.Sprintf(`%s(first: %d %s) { nodes { code } totalCount { value exact } }`, field, first,
					args)
			}
			var data struct {
				Status struct {
					notices
					Components struct{ Nodes []notices }
				}
			}
			query := "short: " + selection(1, args) + " long: " + selection(100, args)
			if args == "" && (field == "incidents" || field == "maintenances") {
				query += " components(first: 60) { nodes { " + query + " } }"
			}
			g.Data(t, "{ status { "+query+" } }", nil, &data)
			check(list, data.Status.notices)
			for i, c := range data.Status.Components.Nodes {
				check(fmt.Sprintf("%s of component %d", list, i), c)
			}
		}
		if counted < 20 || most < 5 {
			t.Errorf("%s: %d lists were counted, the longest has %d notices", name, counted, most)
		}
	}
}

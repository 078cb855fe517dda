package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
)

// statusCLI runs status commands on a database.
type statusCLI struct {
	t   *testing.T
	url string
	now string
}

func (e *statusCLI) run(args ...string) result {
	e.t.Helper()
	return runCommand(e.t,
		append([]string{"status", "--status-database-url", e.url, "--fixed-time", e.now, "--as", "test"}, args...)...)
}

// ok runs a command that must succeed, and returns its output.
func (e *statusCLI) ok(args ...string) string {
	e.t.Helper()
	r := e.run(args...)
	if r.code != 0 || r.stderr != "" && r.stderr != "reading documents\n" { // the progress of sync, on a slow machine
		e.t.Fatalf("status %q: code %d, %s", args, r.code, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// id returns the id at the start of a command's output.
func (e *statusCLI) id(args ...string) string {
	e.t.Helper()
	return strings.Fields(e.ok(args...))[0]
}

// fails runs a command that must fail with the given exit code and a one-line message.
func (e *statusCLI) fails(code int, words string, args ...string) {
	e.t.Helper()
	r := e.run(args...)
	if r.code != code || !strings.Contains(r.stderr, words) || strings.Count(r.stderr, "\n") != 1 || r.stdout != "" {
		e.t.Errorf("status %q: code %d, %s%s; want code %d and %s", args, r.code, r.stderr, r.stdout, code, words)
	}
}

func newStatusCLI(t *testing.T) *statusCLI {
	t.Helper()
	e := &statusCLI{t: t, url: tables.Status.Fresh(t), now: "2026-05-17T12:34:56Z"}
	e.fails(1, "status init", "list")
	e.ok("init", "--name", "Lantern Net", "--url", "https://status.lantern.example/", "--time-zone",
		"America/New_York")
	return e
}

func TestStatusIncidents(t *testing.T) {
	t.Parallel()
	e := newStatusCLI(t)
	e.ok("group", "add", "Mainnet")
	e.ok("component", "add", "Relay", "--group", "Mainnet", "--node", "3", "--no-showcase")
	e.ok("group", "add", "Testnet")
	e.ok("component", "add", "Relay", "--group", "Testnet")
	for _, command := range [][]string{{"rename", "API", "x"}, {"move", "API"}, {"rm", "API"}} {
		e.fails(2, "API is not a group", append([]string{"group"}, command...)...)
	}
	e.fails(2, "ambiguous", "component", "set", "Relay", "--status", "partial_outage")
	if got := e.ok("component", "set", "Mainnet/Relay", "--status", "degraded-performance",
		"--showcase"); !strings.Contains(got, "Mainnet - Relay is degraded_performance") {
		t.Error(got)
	}
	e.ok("component", "set", "Mainnet/Relay", "--status", "operational")
	id := e.id("incident", "open", "--name", "Slow", "--body", "We are investigating.", "--affect",
		"Mainnet/Relay=partial_outage", "--affect", "API=major_outage")
	e.fails(3, "cannot become in_progress", "incident", "update", id, "--status", "in_progress", "--body", "x")
	e.fails(3, "it is not over", "incident", "reopen", id, "--body", "x")
	e.fails(1, "version 1, not 5", "incident", "update", id, "--body", "x", "--expect", "5")
	e.fails(2, "does not have the form COMPONENT=STATUS", "incident", "update", id, "--body", "x", "--affect", "API")
	e.fails(2, "is not a component status", "incident", "update", id, "--body", "x", "--affect", "API=bad")
	e.fails(1, `component "Web" does not exist`, "incident", "update", id, "--body", "x", "--affect",
		"Web=operational")
	e.fails(2, "body is empty (see --help of the command)", "incident", "update", id)
	e.fails(1, "incident nothing does not exist; `heliograph status list` prints", "incident", "resolve", "nothing")
	e.fails(2, "not a time such as", "incident", "update", id, "--body", "x", "--at", "noon")
	if got := e.ok("incident", "update", "https://status.lantern.example/incidents/"+id+"/", "--status", "monitoring",
		"--body", "Better.", "--at", "2026-05-17 08:30"); !strings.Contains(got,
		"monitoring, impact critical, version 2") {
		t.Error(got)
	}
	dry := e.ok("incident", "resolve", id, "--dry-run")
	if !strings.Contains(dry, "incidents/unresolved.json\n") || !strings.Contains(dry, `"status": "resolved"`) ||
		!strings.Contains(dry, "status.json\n") ||
		!strings.Contains(dry, "\n-      \"status\": \"major_outage\",\n+      \"status\": \"operational\",\n") {
		t.Errorf("a dry run prints %s", dry)
	}
	if got := e.ok("show", id); !strings.Contains(got, "monitoring, impact critical, version 2") ||
		!strings.Contains(got, "2026-05-17 08:30 EDT") ||
		!strings.Contains(got, "Mainnet - Relay: partial_outage, was operational") {
		t.Error(got)
	}
	e.ok("incident", "resolve", id, "--keep")
	e.ok("incident", "postmortem", id, "--body", "What happened.")
	var shown struct {
		Status  string
		Updates []struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(e.ok("show", id, "--json")), &shown); err != nil || shown.Status != "postmortem" ||
		len(shown.Updates) != 4 {
		t.Errorf("%+v, %v", shown, err)
	}
	e.ok("incident", "edit", id, "--update", shown.Updates[0].ID, "--body", "What really happened.")
	e.ok("incident", "edit", id, "--name", "Very slow", "--impact", "minor")
	if got := e.ok("list", "incidents"); !strings.Contains(got, "minor") || !strings.Contains(got, "Very slow") {
		t.Error(got)
	}
	if got := e.ok("list",
		"components"); !regexp.MustCompile(`API +major_outage\n.*Mainnet +partial_outage\n.*  Relay +partial_outage`).
		MatchString(got) {
		t.Error(got)
	}
	draft := e.id("incident", "open", "--name", "Maybe", "--body", "x", "--draft")
	if got := e.ok("list", "drafts"); !strings.HasPrefix(got, draft) || e.ok("list") != "" {
		t.Error(got)
	}
	e.ok("incident", "publish", draft)
	e.fails(3, "not a draft", "incident", "discard", draft)
	e.ok("incident", "rm", draft)
	e.ok("incident", "backfill", "--name", "Once", "--body", "It was.", "--from", "2026-03-07 12:00", "--until",
		"2026-03-08 03:00", "--affect", "API=partial_outage")
	e.fails(2, "does not exist", "incident", "backfill", "--name", "Once", "--body", "It was.", "--from",
		"2026-03-08 02:30", "--until", "2026-03-08 04:00")
	if got := e.ok("check"); !strings.Contains(got, "has no problems") {
		t.Error(got)
	}
}

func TestStatusMaintenances(t *testing.T) {
	t.Parallel()
	e := newStatusCLI(t)
	id := e.id("maintenance", "schedule", "--name", "Work", "--body", "Soon.", "--from", "2026-05-17 09:00",
		"--for", "40m", "--affect", "API", "--no-auto-start")
	e.fails(2, "--until or --for", "maintenance", "schedule", "--name", "Work", "--body", "Soon.", "--from",
		"2026-05-17 09:00")
	e.fails(2, "must be after the start", "maintenance", "schedule", "--name", "Work", "--body", "Soon.", "--from",
		"2026-05-17 09:00", "--for=-40m")
	for _, list := range []string{"list", "audit"} {
		e.fails(2, "--limit", list, "--limit=-1")
	}
	e.fails(2, "occurs twice", "maintenance", "schedule", "--name", "Work", "--body", "Soon.", "--from",
		"2026-11-01 01:30", "--for", "1h")
	e.fails(3, "only scheduled, in_progress, completed", "maintenance", "verify", id)
	e.ok("maintenance", "reschedule", id, "--from", "2026-05-17T12:00:00Z", "--until", "2026-05-17 08:40")
	if r := e.run("check"); r.code != 1 ||
		!strings.Contains(r.stderr, "overdue: 2026-05-17 08:00 EDT to 2026-05-17 08:40 EDT") {
		t.Errorf("%+v", r)
	}
	if got := e.ok("list"); !strings.Contains(got, "OVERDUE") {
		t.Error(got)
	}
	e.ok("maintenance", "start", id)
	e.fails(2, "the body is empty", "maintenance", "note", id)
	e.ok("maintenance", "note", id, "--body", "Half of the work is done.")
	e.fails(3, "complete it", "maintenance", "cancel", id)
	e.ok("maintenance", "verify", id)
	if got := e.ok("maintenance", "complete", id); !strings.Contains(got, "completed, impact maintenance") {
		t.Error(got)
	}
	other := e.id("maintenance", "schedule", "--name", "Other", "--body", "Soon.", "--from", "2026-06-17T09:00",
		"--until", "2026-06-17T10:00")
	e.ok("maintenance", "cancel", other, "--body", "No.")
}

func TestStatusTokensAndTemplates(t *testing.T) {
	t.Parallel()
	e := newStatusCLI(t)
	token := e.ok("token", "add", "bot", "reporter", "--expires", "720h")
	if len(token) < 40 || strings.Contains(e.ok("token", "list", "--json"), token) {
		t.Errorf("token %q", token)
	}
	if got := e.ok("token", "list"); !strings.Contains(got, "reporter") || !strings.Contains(got, "all pages") ||
		!strings.Contains(got, "expires 2026-06-16T12:34:56Z") {
		t.Error(got)
	}
	e.fails(1, "bot", "token", "add", "bot", "admin")
	for _, expires := range []string{"-1h", "0s"} {
		e.fails(2, "in the past", "token", "add", "late", "reporter", "--expires="+expires)
	}
	e.fails(2, "must be one of", "token", "add", "x", "king")
	e.ok("token", "rm", "bot")
	e.fails(1, "does not exist", "token", "rm", "bot")

	e.ok("template", "set", "slow", "--status", "identified", "--title", "{what} is slow", "--body",
		"{what} will be back.")
	if got := e.ok("incident", "open", "--template", "slow", "what=The API"); !strings.Contains(got, "identified") {
		t.Error(got)
	}
	e.fails(2, "needs values for what", "incident", "open", "--template", "slow")
	e.fails(2, "requires --template", "incident", "open", "--name", "x", "--body", "x", "what=x")
	if got := e.ok("template", "list"); !strings.Contains(got, "slow") {
		t.Error(got)
	}
	e.ok("template", "rm", "slow")

	if got := e.ok("page", "set", "vocabulary=statuspage",
		"text.en.maintenance_started=The work has started."); !strings.Contains(got, "lantern-net") ||
		!strings.Contains(got, "under_maintenance") {
		t.Error(got)
	}
	if got := e.ok("page", "set", "vocabulary=statuspage"); strings.Contains(got, "under_maintenance") {
		t.Errorf("nothing changes for clients: %s", got)
	}
	e.fails(2, "unknown setting", "page", "set", "color=red")
	e.fails(1, `page "none" does not exist`, "--page", "none", "list")
	if got := e.ok("list", "pages"); !strings.Contains(got, "default") {
		t.Error(got)
	}
	dir := t.TempDir()
	e.fails(2, "does not support --dry-run", "export", dir, "--dry-run")
	e.ok("export", dir)
	exported, err := os.ReadFile(filepath.Join(dir, "api", "v2", "incidents", "unresolved.json"))
	if err != nil || string(exported) != e.run("render", "incidents/unresolved.json").stdout ||
		!strings.Contains(string(exported), `"name":"The API is slow"`) {
		t.Errorf("%s, %v", exported, err)
	}
	checkExport(t, dir)
	e.fails(2, "summary.json", "render", "nothing")
}

// TestStatusOtherPage checks that commands change objects of the selected page only.
func TestStatusOtherPage(t *testing.T) {
	t.Parallel()
	e := newStatusCLI(t)
	e.ok("init", "--name", "Other", "--url", "https://other.example")
	onOther := func(args ...string) []string { return append([]string{"--page", "other"}, args...) }
	hook := strings.Fields(e.ok(onOther("webhook", "add", "https://hooks.example/x")...))[1]
	notice := e.id(onOther("incident", "open", "--name", "Slow", "--body", "x", "--affect", "API=partial_outage")...)
	var shown struct{ Updates []struct{ ID string } }
	err := json.Unmarshal([]byte(e.ok(onOther("show", notice, "--json")...)), &shown)
	if err != nil || len(shown.Updates) != 1 {
		t.Fatalf("%+v, %v", shown, err)
	}
	for _, command := range [][]string{
		{"webhook", "rotate", hook},
		{"webhook", "enable", hook},
		{"incident", "update", notice, "--body", "x"},
		{"incident", "edit", notice, "--update", shown.Updates[0].ID, "--body", "x"},
		{"incident", "resolve", notice},
		{"webhook", "rm", hook},
		{"incident", "rm", notice},
	} {
		e.fails(1, "does not exist", command...)
		e.ok(onOther(command...)...)
	}
}

// TestStatusExportFolder exports to a folder whose name is a pattern that matches another folder too. Only its own old
// pages are removed.
func TestStatusExportFolder(t *testing.T) {
	t.Parallel()
	e := newStatusCLI(t)
	dir := t.TempDir()
	var old []string
	for _, folder := range []string{"site*", "site2"} {
		old = append(old, filepath.Join(dir, folder, "incidents", "gone", "index.html"))
		if err := os.MkdirAll(filepath.Dir(old[len(old)-1]), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(old[len(old)-1], nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e.ok("export", filepath.Join(dir, "site*"))
	if _, err := os.Stat(old[0]); err == nil {
		t.Error("an old page of the folder stays")
	}
	if _, err := os.Stat(old[1]); err != nil {
		t.Errorf("a page of another folder is removed: %v", err)
	}
}

// TestStatusCommands checks that every status command can run.
func TestStatusCommands(t *testing.T) {
	t.Parallel()
	parser := newParser(t, &commands{})
	group := parser.Model.Children[slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool {
		return n.Name == "status"
	})]
	for _, n := range group.Leaves(false) {
		if _, ok := n.Target.Addr().Interface().(statusCommand); !ok {
			t.Errorf("%s has no method to run", n.FullPath())
		}
	}
}

func TestStatusWithoutTables(t *testing.T) {
	t.Parallel()
	e := &statusCLI{t: t, url: pgtest.Database(t), now: "2026-05-17T12:34:56Z"}
	e.fails(1, "migrate --status-only", "list")
	e.url = "postgres://nobody:hidden@127.0.0.1:1/none"
	e.fails(1, "cannot use the database none on 127.0.0.1", "list")
}

// checkExport checks that an exported folder has all parts of the page, and that all links of its pages lead to its
// files.
func checkExport(t *testing.T, dir string) {
	t.Helper()
	for _, pattern := range []string{
		"index.html", "history/index.html", "history.atom", "history.rss", "badge.svg", "incidents/*/index.html",
		"api/v2/summary.json", "page-assets/style-*.css",
	} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) == 0 {
			t.Errorf("%s is missing, %v", pattern, err)
		}
	}
	target := regexp.MustCompile(`(?:href|src)="([^"#]*)`)
	links := 0
	err := filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".html" {
			return err
		}
		page, err := os.ReadFile(file)
		for _, m := range target.FindAllStringSubmatch(string(page), -1) {
			links++
			path := filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
			if m[1] == "" || strings.HasSuffix(m[1], "/") {
				path = filepath.Join(path, "index.html")
			}
			if _, err := os.Stat(path); m[1] != "" && err != nil || strings.HasPrefix(m[1], "/") {
				t.Errorf("%s: broken link %s", file, m[1])
			}
		}
		return err
	})
	if err != nil || links < 20 {
		t.Errorf("%d links, %v", links, err)
	}
}

package probe_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/probe"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/pgtest"
	"heliograph/storage/pgtest/tables"
	"heliograph/storage/statuspages"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var editor = statuspages.Author{Name: "test"}

// lab is a page with components, a target whose responses the test controls, and a clock that the test sets.
type lab struct {
	t       *testing.T
	db      *statuspages.DB
	editor  *statuspages.Editor
	watcher *probe.Watcher
	page    string
	parts   map[string]string // component codes by name

	mu     sync.Mutex
	now    time.Time
	broken map[string]bool // paths of the target that respond with status 500
	target *httptest.Server
}

func newLab(t *testing.T, settings ...status.PageSetting) *lab {
	t.Helper()
	l := &lab{
		t: t, now: time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC), broken: map[string]bool{},
		parts: map[string]string{},
	}
	l.target = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.broken[r.URL.Path] {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(l.target.Close)
	db, err := statuspages.Open(t.Context(), storage.PoolOptions{
		URL:              tables.Status.Fresh(t),
		StatementTimeout: 30 * time.Second, MaxConnections: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	l.db, l.editor = db, statuspages.NewEditor(db, l.clock)
	l.watcher = l.newWatcher()
	if l.page, err = l.editor.InitPage(t.Context(), editor,
		status.Page{Name: "P", URL: "https://p.example"}, "A"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.editor.SetPage(t.Context(), editor, l.page, settings); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"B", "C", "D", "E"} {
		if _, err := l.editor.AddComponent(t.Context(), editor, l.page, status.NewComponent{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	_, b := l.read()
	for _, c := range b.Components {
		l.parts[c.Name] = c.Code
	}
	return l
}

func (l *lab) newWatcher() *probe.Watcher {
	return probe.NewWatcher(l.editor, probe.NewChecker(l.clock, nil), slog.New(slog.DiscardHandler))
}

func (l *lab) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *lab) wait(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// setBroken makes the targets of components fail or succeed.
func (l *lab) setBroken(broken bool, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range names {
		l.broken["/"+n] = broken
	}
}

func (l *lab) read() (*status.Page, *status.WorkingCopy) {
	l.t.Helper()
	p, err := l.db.PageByCode(l.t.Context(), l.page)
	if err != nil {
		l.t.Fatal(err)
	}
	b, err := l.db.WorkingCopy(l.t.Context(), p)
	if err != nil {
		l.t.Fatal(err)
	}
	return p, b
}

// watch adds HTTP probes for components. They run every minute and need two failures or two successes to change their
// level.
func (l *lab) watch(publish status.Publish, names ...string) []int64 {
	l.t.Helper()
	ids := make([]int64, len(names))
	for i, n := range names {
		var err error
		ids[i], err = l.editor.AddProbe(l.t.Context(), editor, status.Probe{
			Component: l.parts[n], Kind: status.HTTPProbe, Spec: status.ProbeSpec{URL: l.target.URL + "/" + n},
			Every: time.Minute, FailAfter: 2, PassAfter: 2,
			Sets: status.PartialOutage, Publish: publish,
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return ids
}

// rounds runs n rounds of all probes.
func (l *lab) rounds(n int) {
	l.t.Helper()
	for range n {
		l.wait(time.Minute)
		if _, err := l.watcher.RunDue(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
	}
}

// fail makes the targets of components fail, and runs n rounds.
func (l *lab) fail(n int, names ...string) {
	l.t.Helper()
	l.setBroken(true, names...)
	l.rounds(n)
}

// recover makes the targets of components succeed, and runs n rounds.
func (l *lab) recover(n int, names ...string) {
	l.t.Helper()
	l.setBroken(false, names...)
	l.rounds(n)
}

// summary returns the incidents with their states and updates, oldest first, and the components that are not
// operational. A ? marks drafts.
func (l *lab) summary() string {
	l.t.Helper()
	p, b := l.read()
	var all []*status.Notice
	for _, drafts := range []bool{false, true} {
		list, err := l.db.Notices(l.t.Context(), p, statuspages.NoticeFilter{Kind: status.Realtime, Drafts: drafts},
			statuspages.ByCreation, storage.Page{Limit: 100})
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, list...)
	}
	updates, err := l.db.Updates(l.t.Context(), status.Pages{p}, all)
	if err != nil {
		l.t.Fatal(err)
	}
	var out []string
	for i, n := range all {
		var texts []string
		for _, u := range updates[i] {
			words := []string{string(u.State)}
			for _, a := range u.Affected {
				words = append(words, a.Name+":"+short(a.OldStatus)+short(a.NewStatus))
			}
			texts = append([]string{strings.Join(words, " ")}, texts...)
		}
		text := strings.Join(texts, ", ")
		if n.Draft {
			text += "?"
		}
		out = append(out, text)
	}
	states := []string{" |"}
	for _, c := range b.Components {
		if c.Status != status.Operational {
			states = append(states, c.Name+":"+short(c.Status))
		}
	}
	return strings.Join(out, "; ") + strings.Join(states, " ")
}

func short(s status.ComponentStatus) string { return string(s[0]) }

// audit returns the actions of probes in the audit log.
func (l *lab) audit() string {
	l.t.Helper()
	list, err := l.db.Audit(l.t.Context(), l.page, "", 1000)
	if err != nil {
		l.t.Fatal(err)
	}
	var out []string
	for i := len(list) - 1; i >= 0; i-- {
		if strings.HasPrefix(list[i].Actor, "probe ") {
			out = append(out, strings.TrimPrefix(list[i].Action, "probe."))
		}
	}
	return strings.Join(out, " ")
}

func (l *lab) expect(what, want string) {
	l.t.Helper()
	if got := l.summary(); got != want {
		l.t.Errorf("%s: got %s\nwant %s", what, got, want)
	}
}

func auto() status.PageSetting { return status.PageSetting{Key: "auto_publish", Value: "true"} }

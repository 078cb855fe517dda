package probe_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/internal/ledger"
	"heliograph/internal/pgtest"
	"heliograph/internal/probe"
	"heliograph/internal/status"
	"heliograph/storage"
	"heliograph/storage/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var statusTables = &pgtest.Template{Name: "status", Prepare: func(ctx context.Context, url string) error {
	return migrations.Status(ctx, url, slog.New(slog.DiscardHandler))
}}

var editor = storage.Author{Name: "test"}

// lab is a page with components, a target that answers as the test says, and a clock that the test sets.
type lab struct {
	t       *testing.T
	db      *storage.StatusDB
	editor  *storage.StatusEditor
	watcher *probe.Watcher
	page    string
	parts   map[string]string // codes of components by name

	mu     sync.Mutex
	now    time.Time
	broken map[string]bool // paths of the target that answer 500
	target *httptest.Server
}

func newLab(t *testing.T, settings ...storage.Setting) *lab {
	t.Helper()
	l := &lab{t: t, now: time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC), broken: map[string]bool{}, parts: map[string]string{}}
	l.target = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.broken[r.URL.Path] {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(l.target.Close)
	db, err := storage.OpenStatus(t.Context(), storage.PoolOptions{URL: statusTables.Fresh(t), StatementTimeout: 30 * time.Second, MaxConnections: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	l.db, l.editor = db, storage.NewStatusEditor(db, l.clock, nil)
	l.watcher = l.newWatcher()
	if l.page, err = l.editor.InitPage(t.Context(), editor, storage.PageInit{Page: status.Page{Name: "P", URL: "https://p.example"}, Component: "A"}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.editor.SetPage(t.Context(), editor, l.page, settings); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"B", "C", "D", "E"} {
		if _, err := l.editor.AddComponent(t.Context(), editor, l.page, storage.NewComponent{Name: name}); err != nil {
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
	return probe.NewWatcher(l.editor, probe.NewChecker(l.clock, nil), slog.New(slog.DiscardHandler), func() float64 { return 0.5 })
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

// breaks breaks the targets of components, or mends them.
func (l *lab) breaks(broken bool, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range names {
		l.broken["/"+n] = broken
	}
}

func (l *lab) read() (*status.Page, *status.Board) {
	l.t.Helper()
	p, err := l.db.PageByCode(l.t.Context(), l.page)
	if err != nil {
		l.t.Fatal(err)
	}
	b, err := l.db.Board(l.t.Context(), p)
	if err != nil {
		l.t.Fatal(err)
	}
	return p, b
}

// watch has components probed over HTTP, every minute, two failures and two successes to change.
func (l *lab) watch(publish status.Publish, names ...string) []int64 {
	l.t.Helper()
	ids := make([]int64, len(names))
	for i, n := range names {
		var err error
		ids[i], err = l.editor.AddProbe(l.t.Context(), editor, status.Probe{
			Component: l.parts[n], Kind: status.HTTPProbe, Spec: status.ProbeSpec{URL: l.target.URL + "/" + n}, Every: time.Minute, FailAfter: 2, PassAfter: 2,
			Sets: status.PartialOutage, Publish: publish,
		})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return ids
}

// rounds lets so many rounds of all probes pass.
func (l *lab) rounds(n int) {
	l.t.Helper()
	for range n {
		l.wait(time.Minute)
		if _, err := l.watcher.Look(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
	}
}

// story is what readers and editors see: incidents with their states and updates, the oldest first, drafts with a question mark, and components that are not operational.
func (l *lab) story() string {
	l.t.Helper()
	p, b := l.read()
	var all []*status.Notice
	for _, drafts := range []bool{false, true} {
		list, err := l.db.Notices(l.t.Context(), p, storage.NoticeFilter{Kind: status.Realtime, Drafts: drafts}, storage.ByCreation, storage.Page{Limit: 100})
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
		var said []string
		for _, u := range updates[i] {
			words := []string{string(u.State)}
			for _, a := range u.Affected {
				words = append(words, a.Name+":"+short(a.OldStatus)+short(a.NewStatus))
			}
			said = append([]string{strings.Join(words, " ")}, said...)
		}
		text := strings.Join(said, ", ")
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

// audit is what probes did, as the audit has it.
func (l *lab) audit() string {
	l.t.Helper()
	list, err := l.db.Audit(l.t.Context(), storage.AuditFilter{Page: l.page}, 1000)
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
	if got := l.story(); got != want {
		l.t.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

func auto() storage.Setting { return storage.Setting{Key: "auto_publish", Value: "true"} }

// TestDrafts makes drafts by default: readers see nothing until an editor accepts one, and what an editor has dismissed does not come back.
func TestDrafts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.watch(status.PublishPublic, "A", "B")
	l.rounds(3)
	before, _ := l.read()
	l.breaks(true, "A")
	l.rounds(1)
	l.expect("after one failure", " |")
	l.rounds(1)
	l.expect("after two", "investigating A:op? |")
	l.breaks(true, "B")
	l.rounds(2)
	l.expect("components that fail together share a draft", "investigating A:op B:op? |")
	l.breaks(false, "A")
	l.rounds(2)
	l.expect("one is well again", "investigating B:op? |")
	l.breaks(false, "B")
	l.rounds(2)
	l.expect("all is well again", " |")
	if after, _ := l.read(); after.UpdatedAt.Equal(before.UpdatedAt) || l.audit() != "draft draft draft withdraw" {
		t.Errorf("the audit has %q", l.audit())
	}
	// Dismissed.
	draft := func() string {
		t.Helper()
		p, _ := l.read()
		list, err := l.db.Notices(t.Context(), p, storage.NoticeFilter{Kind: status.Realtime, Drafts: true}, storage.ByCreation, storage.Page{Limit: 2})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d drafts, %v", len(list), err)
		}
		return list[0].Code
	}
	l.breaks(true, "A")
	l.rounds(2)
	if _, err := l.editor.DiscardDraft(t.Context(), editor, draft(), 0); err != nil {
		t.Fatal(err)
	}
	l.rounds(3)
	l.expect("dismissed", " |")
	l.breaks(false, "A")
	l.rounds(2)
	l.breaks(true, "A")
	l.rounds(2)
	l.expect("it fails anew", "investigating A:op? |")
	// Accepted: it is people's from then on.
	code := draft()
	if _, err := l.editor.PublishDraft(t.Context(), editor, code, 0); err != nil {
		t.Fatal(err)
	}
	l.expect("accepted", "investigating A:op | A:p")
	l.breaks(false, "A")
	l.rounds(3)
	l.expect("people resolve what they have accepted", "investigating A:op | A:p")
	if got := l.audit(); !strings.HasSuffix(got, "draft note") {
		t.Errorf("the audit has %q", got)
	}
}

// TestPublic opens, reopens and resolves by itself where the page says so.
func TestPublic(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B")
	l.breaks(true, "A")
	l.rounds(2)
	l.expect("it fails", "investigating A:op | A:p")
	l.rounds(5)
	l.expect("nothing is said twice", "investigating A:op | A:p")
	l.breaks(false, "A")
	l.rounds(2)
	l.expect("it is well again", "investigating A:op, monitoring A:po |")
	l.rounds(8)
	l.breaks(true, "A")
	l.rounds(2)
	l.expect("it fails while it is watched", "investigating A:op, monitoring A:po, investigating A:op | A:p")
	l.breaks(false, "A")
	l.rounds(11)
	l.expect("not yet", "investigating A:op, monitoring A:po, investigating A:op, monitoring A:po |")
	l.rounds(1)
	resolved := "investigating A:op, monitoring A:po, investigating A:op, monitoring A:po, resolved A:oo"
	l.expect("all was well for ten minutes", resolved+" |")
	l.breaks(true, "A")
	l.rounds(3)
	l.expect("it fails again soon", resolved+", investigating A:op | A:p")
	l.breaks(false, "A")
	l.rounds(13)
	l.rounds(10)
	l.breaks(true, "A")
	l.rounds(2)
	l.expect("later it is another incident", resolved+", investigating A:op, monitoring A:po, resolved A:oo; investigating A:op | A:p")
	l.rounds(1)
	l.breaks(true, "B")
	l.rounds(2)
	l.expect("what fails later is an incident of its own", resolved+", investigating A:op, monitoring A:po, resolved A:oo; investigating A:op; investigating B:op | A:p B:p")
	if got := l.audit(); got != "open recover update recover resolve reopen recover resolve open open" {
		t.Errorf("the audit has %q", got)
	}
}

// TestJoin puts components that fail together into one incident, which is watched when the last of them is well again.
func TestJoin(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B", "C")
	l.breaks(true, "A")
	l.rounds(1)
	l.breaks(true, "B")
	l.rounds(2)
	l.expect("both", "investigating A:op, investigating A:pp B:op | A:p B:p")
	l.breaks(false, "A")
	l.rounds(2)
	l.expect("one is well", "investigating A:op, investigating A:pp B:op, investigating A:po B:pp | B:p")
	l.breaks(false, "B")
	l.rounds(2)
	l.expect("both are", "investigating A:op, investigating A:pp B:op, investigating A:po B:pp, monitoring A:oo B:po |")
	l.rounds(11)
	if got := l.audit(); got != "open join recover recover resolve" {
		t.Errorf("the audit has %q", got)
	}
}

// TestPeople leaves incidents alone that people have written to, and opens no other one meanwhile.
func TestPeople(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	l.breaks(true, "A")
	l.rounds(2)
	p, _ := l.read()
	list, err := l.db.Notices(t.Context(), p, storage.NoticeFilter{Kind: status.Realtime}, storage.ByCreation, storage.Page{Limit: 2})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	if _, err := l.editor.UpdateIncident(t.Context(), editor, list[0].Code, storage.NewUpdate{State: status.Identified, Body: "We know."}); err != nil {
		t.Fatal(err)
	}
	l.breaks(false, "A")
	l.rounds(15)
	l.breaks(true, "A")
	l.rounds(3)
	l.expect("people have taken over", "investigating A:op, identified A:pp | A:p")
	if got := l.audit(); got != "open note note" {
		t.Errorf("the audit has %q", got)
	}
	if _, err := l.editor.UpdateIncident(t.Context(), editor, list[0].Code, storage.NewUpdate{State: status.Resolved, Body: "So."}); err != nil {
		t.Fatal(err)
	}
	l.breaks(false, "A")
	l.rounds(2)
	l.breaks(true, "A")
	l.rounds(2)
	l.expect("what people have resolved is not opened again", "investigating A:op, identified A:pp, resolved A:po; investigating A:op | A:p")
}

// TestComponentAlone says how the component is without an incident, and takes back only what it has said itself.
func TestComponentAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishComponent, "A", "B")
	l.breaks(true, "A", "B")
	l.rounds(2)
	l.expect("it fails", " | A:p B:p")
	if _, err := l.editor.SetComponent(t.Context(), editor, l.parts["B"], storage.ComponentChange{Status: ledger.Of(status.MajorOutage)}); err != nil {
		t.Fatal(err)
	}
	l.breaks(false, "A", "B")
	l.rounds(2)
	l.expect("it is well again, but people have said something else of the other", " | B:m")
	if got := l.audit(); got != "set set set note" && got != "set set note set" { // they answer in any order
		t.Errorf("the audit has %q", got)
	}
}

// TestMaintenance waits for maintenances.
func TestMaintenance(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	work, err := l.editor.ScheduleMaintenance(t.Context(), editor, l.page, storage.NewMaintenance{
		Name: "Work", Body: "x", State: status.InProgress, Start: l.clock(), End: l.clock().Add(time.Hour), Components: []string{l.parts["A"]}, AutoMaintenanceState: true, AutoOperationalState: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.breaks(true, "A")
	l.rounds(4)
	l.expect("work goes on", " | A:u")
	if _, err := l.editor.MoveMaintenance(t.Context(), editor, work, storage.NewUpdate{State: status.Completed}); err != nil {
		t.Fatal(err)
	}
	l.rounds(1)
	l.expect("work is over, and it still fails", "investigating A:op | A:p")
}

// TestRestraint publishes no more than three incidents in an hour, and nothing when all remote probes fail at once.
func TestRestraint(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B", "C", "D", "E")
	for _, n := range []string{"A", "B", "C", "D"} {
		l.breaks(true, n)
		l.rounds(5)
	}
	l.expect("the fourth is a draft", "investigating A:op; investigating B:op; investigating C:op; investigating D:op? | A:p B:p C:p")
	l = newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B", "C")
	l.breaks(true, "A", "B", "C")
	l.rounds(2)
	if got := l.story(); !strings.HasSuffix(got, "? |") || strings.Count(got, ";") != 0 {
		t.Errorf("all fail at once: %s", got)
	}
}

// TestFlapping changes nothing as long as results do not agree, and counts in results, whatever the clock does.
func TestFlapping(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	for range 6 {
		l.breaks(true, "A")
		l.rounds(1)
		l.breaks(false, "A")
		l.rounds(1)
	}
	l.expect("every other result is bad", " |")
	l.breaks(true, "A")
	l.rounds(1)
	l.wait(-36 * time.Hour) // the clock goes back
	l.rounds(1)
	l.expect("the clock has gone back", "investigating A:op | A:p")
	l.wait(1000 * time.Hour)
	l.rounds(1)
	l.expect("the clock has gone far ahead", "investigating A:op | A:p")
	for range 5 {
		l.breaks(false, "A")
		l.rounds(1)
		l.breaks(true, "A")
		l.rounds(1)
	}
	l.expect("every other result is good", "investigating A:op | A:p")
}

// TestManyGateways has several gateways watch at the same time: each probe is asked by one of them, and each thing is said once.
func TestManyGateways(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	names := []string{"A", "B", "C", "D"}
	l.watch(status.PublishPublic, names...)
	l.breaks(true, "A", "B")
	others := []*probe.Watcher{l.watcher, l.newWatcher(), l.newWatcher(), l.newWatcher()}
	for round := range 4 {
		l.wait(time.Minute)
		var group sync.WaitGroup
		var mu sync.Mutex
		asked := 0
		for _, w := range others {
			group.Go(func() {
				n, err := w.Look(t.Context())
				mu.Lock()
				defer mu.Unlock()
				if asked += n; err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if asked != len(names) {
			t.Errorf("round %d: %d questions", round, asked)
		}
	}
	if got := l.story(); !strings.HasSuffix(got, "| A:p B:p") || strings.Count(got, ";") != 0 {
		t.Error(got)
	}
}

// TestRemoved removes and disables probes, and refuses those that cannot work.
func TestRemoved(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	ids := l.watch(status.PublishPublic, "A", "B")
	l.breaks(true, "A", "B")
	if err := errors.Join(l.editor.RemoveProbe(t.Context(), editor, ids[0]), l.editor.EnableProbe(t.Context(), editor, ids[1], false)); err != nil {
		t.Fatal(err)
	}
	l.rounds(5)
	l.expect("nobody asks", " |")
	if err := l.editor.EnableProbe(t.Context(), editor, ids[1], true); err != nil {
		t.Fatal(err)
	}
	l.rounds(2)
	l.expect("it asks again", "investigating B:op | B:p")
	var refusal *status.Refusal
	if err := l.editor.RemoveProbe(t.Context(), editor, ids[0]); !errors.As(err, &refusal) || refusal.Reason != status.NotFound {
		t.Error(err)
	}
	good := status.Probe{Component: l.parts["A"], Kind: status.TCPProbe, Spec: status.ProbeSpec{Address: "127.0.0.1:1"}, Every: time.Minute, FailAfter: 1, PassAfter: 1, Sets: status.MajorOutage, Publish: status.PublishDraft}
	for name, change := range map[string]func(p *status.Probe){
		"no kind of probe":      func(p *status.Probe) { p.Kind = "icmp" },
		"every 5s to":           func(p *status.Probe) { p.Every = time.Second },
		"1 to 1000 results":     func(p *status.Probe) { p.FailAfter = 0 },
		"says degraded":         func(p *status.Probe) { p.Sets = status.Operational },
		"way to publish":        func(p *status.Probe) { p.Publish = "all" },
		"is bad takes longer":   func(p *status.Probe) { p.Spec.SlowMS, p.Spec.BadMS = 2, 1 },
		"no regular expression": func(p *status.Probe) { p.Spec.Body = "(" },
		"no address":            func(p *status.Probe) { p.Spec.Address = "127.0.0.1" },
		"has no URL":            func(p *status.Probe) { p.Spec.URL = "http://127.0.0.1" },
		"needs a --url":         func(p *status.Probe) { p.Kind, p.Spec = status.HTTPProbe, status.ProbeSpec{URL: "file:///etc/passwd"} },
		"needs a --query":       func(p *status.Probe) { p.Kind, p.Spec = status.GraphQLProbe, status.ProbeSpec{URL: "http://127.0.0.1"} },
		"needs --bad":           func(p *status.Probe) { p.Kind, p.Spec = status.LagProbe, status.ProbeSpec{} },
		"is no consensus node":  func(p *status.Probe) { p.Kind, p.Spec = status.NodeProbe, status.ProbeSpec{} },
		"is a secret": func(p *status.Probe) {
			p.Kind, p.Spec = status.HTTPProbe, status.ProbeSpec{URL: "http://127.0.0.1", Headers: map[string]string{"Authorization": "Bearer x"}}
		},
		"there is no component":   func(p *status.Probe) { p.Component = "nothing" },
		"only probes of the kind": func(p *status.Probe) { p.Spec.Node = 3 },
	} {
		p := good
		change(&p)
		if _, err := l.editor.AddProbe(t.Context(), editor, p); !errors.As(err, &refusal) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.editor.AddProbe(t.Context(), editor, good); err != nil {
		t.Error(err)
	}
}

// TestCheck asks targets of all kinds, those that do harm among them.
func TestCheck(t *testing.T) {
	t.Parallel()
	elsewhere := false
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"up":[{"is":true}],"key":%q}`, r.Header.Get("Authorization"))
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { elsewhere = true })
	mux.HandleFunc("/slow", func(http.ResponseWriter, *http.Request) { time.Sleep(30 * time.Millisecond) })
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	mux.HandleFunc("/graphql", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":{"network":{"supply":null}}}`) })
	mux.HandleFunc("/errors", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"errors":[{"message":"no"}]}`) })
	server, secure := httptest.NewServer(mux), httptest.NewUnstartedServer(mux)
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo) // which says that nobody trusts its certificate
	secure.StartTLS()
	defer server.Close()
	defer secure.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	now := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	health := &storage.LedgerHealth{Block: 7, At: ledger.Timestamp(now.Add(-90 * time.Second).UnixNano()), Transactions: 1000, Nodes: map[int64]*storage.NodeHealth{
		0: {ID: 0, Transactions: 900, Stake: ledger.Of(int64(10)), MinStake: ledger.Of(int64(5))}, 1: {ID: 1, Transactions: 100, Stake: ledger.Of(int64(4)), MinStake: ledger.Of(int64(5))},
		2: {ID: 2, Stake: ledger.Of(int64(10))}, 3: {ID: 3, Deleted: true, Transactions: 1},
	}}
	healthErr := error(nil)
	c := probe.NewChecker(func() time.Time { return now }, func(context.Context) (*storage.LedgerHealth, error) { return health, healthErr })
	c.Getenv = func(name string) string { return "secret of " + name }
	check := func(kind status.ProbeKind, s status.ProbeSpec, level status.Level, detail string) {
		t.Helper()
		p := &status.Probe{Kind: kind, Spec: s, NodeID: -1}
		if kind == status.NodeProbe {
			p.NodeID = s.Node
		}
		if kind == status.HeartbeatProbe && s.BadMS != 1 {
			p.BeatAt = now.Add(-time.Minute)
		}
		if r := c.Check(t.Context(), p); r.Level != level || !strings.Contains(r.Detail, detail) || !r.At.Equal(now) {
			t.Errorf("%s %+v: %+v, want %q and %s", kind, s, r, level, detail)
		}
	}
	at := func(path string) status.ProbeSpec { return status.ProbeSpec{URL: server.URL + path, TimeoutMS: 2000} }
	with := func(s status.ProbeSpec, change func(s *status.ProbeSpec)) status.ProbeSpec {
		change(&s)
		return s
	}
	check(status.HTTPProbe, at("/ok"), status.Good, "200 OK")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) {
		s.Path, s.Body = "up.0.is", `secret of TOKEN`
		s.Headers = map[string]string{"Authorization": "env:TOKEN"}
	}), status.Good, "")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) { s.Path = "up.1.is" }), status.Bad, "nothing at up.1.is")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) { s.Body = "down" }), status.Bad, "does not match")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) { s.Status = 204 }), status.Bad, "200 OK")
	check(status.HTTPProbe, at("/nothing"), status.Bad, "404")
	check(status.HTTPProbe, at("/away"), status.Bad, "302")
	check(status.HTTPProbe, with(at("/slow"), func(s *status.ProbeSpec) { s.SlowMS = 20 }), status.Slow, "200")
	check(status.HTTPProbe, with(at("/hang"), func(s *status.ProbeSpec) { s.TimeoutMS = 50 }), status.Bad, "no answer within 50ms")
	check(status.HTTPProbe, at("/endless"), status.Good, "")
	check(status.HTTPProbe, status.ProbeSpec{URL: secure.URL + "/ok"}, status.Bad, "certificate")
	check(status.HTTPProbe, status.ProbeSpec{URL: "http://" + silent.Addr().String(), TimeoutMS: 50}, status.Bad, "no answer")
	check(status.GraphQLProbe, with(at("/graphql"), func(s *status.ProbeSpec) { s.Query = "{ x }" }), status.Good, "")
	check(status.GraphQLProbe, with(at("/graphql"), func(s *status.ProbeSpec) { s.Query, s.Path = "{ x }", "network.supply" }), status.Bad, "nothing at")
	check(status.GraphQLProbe, with(at("/errors"), func(s *status.ProbeSpec) { s.Query = "{ x }" }), status.Bad, "has an error: no")
	check(status.TCPProbe, status.ProbeSpec{Address: address}, status.Good, "connected")
	check(status.TCPProbe, status.ProbeSpec{Address: "127.0.0.1:1"}, status.Bad, "refused")
	check(status.LagProbe, status.ProbeSpec{SlowMS: 60_000, BadMS: 100_000}, status.Slow, "block 7 is 1m30s old")
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Bad, "")
	check(status.NodeProbe, status.ProbeSpec{Node: 0}, status.Good, "900 of the newest 1000")
	check(status.NodeProbe, status.ProbeSpec{Node: 1}, status.Slow, "too little stake")
	check(status.NodeProbe, status.ProbeSpec{Node: 2}, status.Bad, "none of the newest 1000")
	check(status.NodeProbe, status.ProbeSpec{Node: 3}, status.Bad, "deleted")
	check(status.NodeProbe, status.ProbeSpec{Node: 4}, status.Bad, "not in the address book")
	check(status.HeartbeatProbe, status.ProbeSpec{BadMS: 120_000}, status.Good, "1m0s ago")
	check(status.HeartbeatProbe, status.ProbeSpec{BadMS: 60_000}, status.Bad, "")
	check(status.HeartbeatProbe, status.ProbeSpec{BadMS: 1}, status.Unknown, "yet")
	health.Transactions = 100
	check(status.NodeProbe, status.ProbeSpec{Node: 2}, status.Unknown, "too few")
	health.At = ledger.Timestamp(now.Add(time.Hour).UnixNano())
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Good, "") // the clock is behind
	health.Missing = 2
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Bad, "2 blocks are missing")
	healthErr = errors.New("away")
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Bad, "cannot be read")
	check(status.NodeProbe, status.ProbeSpec{Node: 0}, status.Unknown, "cannot be read")
	if elsewhere {
		t.Error("a redirect was followed")
	}
}

// TestHanging has one target hang: the others are asked on time.
func TestHanging(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	hanging := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hanging }))
	defer stuck.Close()
	defer close(hanging)
	if _, err := l.editor.AddProbe(t.Context(), editor, status.Probe{
		Component: l.parts["B"], Kind: status.HTTPProbe, Spec: status.ProbeSpec{URL: stuck.URL}, Every: time.Minute, FailAfter: 1, PassAfter: 1, Sets: status.MajorOutage, Publish: status.PublishPublic,
	}); err != nil {
		t.Fatal(err)
	}
	l.breaks(true, "A")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.watcher.Run(ctx)
	}()
	for end := time.Now().Add(8 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if strings.Contains(l.story(), "A:p") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a target that hangs keeps others from being asked")
		}
		l.wait(30 * time.Second)
	}
	stop()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Error("a target that hangs keeps the gateway from stopping")
	}
	if got := l.story(); strings.Contains(got, "B:m") {
		t.Errorf("what was asked when the gateway stopped says something: %s", got)
	}
}

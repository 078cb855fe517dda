package probe_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/probe"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// TestDrafts checks that probes create drafts by default. Readers see nothing until an editor publishes one, and a
// discarded draft is not created again.
func TestDrafts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.watch(status.PublishPublic, "A", "B")
	l.rounds(3)
	before, _ := l.read()
	l.fail(1, "A")
	l.expect("one failure", " |")
	l.rounds(1)
	l.expect("two failures", "investigating A:op? |")
	l.fail(2, "B")
	l.expect("second component fails", "investigating A:op B:op? |")
	l.recover(2, "A")
	l.expect("first component recovers", "investigating B:op? |")
	l.recover(2, "B")
	l.expect("second component recovers", " |")
	if after, _ := l.read(); after.UpdatedAt.Equal(before.UpdatedAt) || l.audit() != "draft draft draft withdraw" {
		t.Errorf("audit log: %q", l.audit())
	}
	// The editor discards the draft.
	draft := func() string {
		t.Helper()
		p, _ := l.read()
		list, err := l.db.Notices(t.Context(), p, statuspages.NoticeFilter{Kind: status.Realtime, Drafts: true},
			statuspages.ByCreation, storage.Page{Limit: 2})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d drafts, %v", len(list), err)
		}
		return list[0].Code
	}
	l.fail(2, "A")
	if _, err := l.editor.DiscardDraft(t.Context(), editor, draft(), status.VersionInput{}); err != nil {
		t.Fatal(err)
	}
	l.rounds(3)
	l.expect("draft discarded, still failing", " |")
	l.recover(2, "A")
	l.fail(2, "A")
	l.expect("recovered and failed again", "investigating A:op? |")
	// The editor publishes the draft. Probes do not change it any more.
	code := draft()
	if _, err := l.editor.PublishDraft(t.Context(), editor, code, status.VersionInput{}); err != nil {
		t.Fatal(err)
	}
	l.expect("draft published", "investigating A:op | A:p")
	l.recover(3, "A")
	l.expect("component recovers after the draft was published", "investigating A:op | A:p")
	if got := l.audit(); !strings.HasSuffix(got, "draft note") {
		t.Errorf("audit log: %q", got)
	}
}

// TestPublic checks that incidents are opened, reopened and resolved automatically if the page allows it.
func TestPublic(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B")
	l.fail(2, "A")
	l.expect("two failures", "investigating A:op | A:p")
	l.rounds(5)
	l.expect("further failures", "investigating A:op | A:p")
	l.recover(2, "A")
	l.expect("recovered", "investigating A:op, monitoring A:po |")
	l.rounds(8)
	l.fail(2, "A")
	l.expect("failure during monitoring", "investigating A:op, monitoring A:po, investigating A:op | A:p")
	l.recover(11, "A")
	l.expect("recovered for less than ten minutes",
		"investigating A:op, monitoring A:po, investigating A:op, monitoring A:po |")
	l.rounds(1)
	resolved := "investigating A:op, monitoring A:po, investigating A:op, monitoring A:po, resolved A:oo"
	l.expect("recovered for ten minutes", resolved+" |")
	l.fail(3, "A")
	l.expect("failure within ten minutes after the end", resolved+", investigating A:op | A:p")
	l.recover(13, "A")
	l.rounds(10)
	l.fail(2, "A")
	l.expect("failure after more than ten minutes",
		resolved+", investigating A:op, monitoring A:po, resolved A:oo; investigating A:op | A:p")
	l.rounds(1)
	l.fail(2, "B")
	l.expect("second component fails later",
		resolved+
			", investigating A:op, monitoring A:po, resolved A:oo; investigating A:op; investigating B:op | A:p B:p")
	if got := l.audit(); got != "open recover update recover resolve reopen recover resolve open open" {
		t.Errorf("audit log: %q", got)
	}
}

// TestJoin checks that components that fail together share one incident, which moves to monitoring when the last one
// recovers.
func TestJoin(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B", "C")
	l.fail(1, "A")
	l.fail(2, "B")
	l.expect("both fail", "investigating A:op, investigating A:pp B:op | A:p B:p")
	l.recover(2, "A")
	l.expect("first component recovers", "investigating A:op, investigating A:pp B:op, investigating A:po B:pp | B:p")
	l.recover(2, "B")
	l.expect("both recovered",
		"investigating A:op, investigating A:pp B:op, investigating A:po B:pp, monitoring A:oo B:po |")
	l.rounds(11)
	if got := l.audit(); got != "open join recover recover resolve" {
		t.Errorf("audit log: %q", got)
	}
}

// TestEditorTakesOver checks that probes leave incidents alone that an editor has updated, and open no other incident
// meanwhile.
func TestEditorTakesOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	l.fail(2, "A")
	p, _ := l.read()
	list, err := l.db.Notices(t.Context(), p, statuspages.NoticeFilter{Kind: status.Realtime}, statuspages.ByCreation,
		storage.Page{Limit: 2})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	if _, err := l.editor.UpdateIncident(t.Context(), editor, list[0].Code,
		status.NewUpdate{State: status.Identified, Body: "The cause is known."}); err != nil {
		t.Fatal(err)
	}
	l.recover(15, "A")
	l.fail(3, "A")
	l.expect("editor has updated the incident", "investigating A:op, identified A:pp | A:p")
	if got := l.audit(); got != "open note note" {
		t.Errorf("audit log: %q", got)
	}
	if _, err := l.editor.UpdateIncident(t.Context(), editor, list[0].Code,
		status.NewUpdate{State: status.Resolved, Body: "Fixed."}); err != nil {
		t.Fatal(err)
	}
	l.recover(2, "A")
	l.fail(2, "A")
	l.expect("failure after an editor resolved the incident",
		"investigating A:op, identified A:pp, resolved A:po; investigating A:op | A:p")
}

// TestPublishComponent sets the state of the component without an incident, and reverts only states that the probe
// itself has set.
func TestPublishComponent(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishComponent, "A", "B")
	l.fail(2, "A", "B")
	l.expect("both fail", " | A:p B:p")
	if _, err := l.editor.EditComponent(t.Context(), editor, l.parts["B"],
		status.ComponentEdit{Status: status.MajorOutage}); err != nil {
		t.Fatal(err)
	}
	l.recover(2, "A", "B")
	l.expect("both recovered, editor has changed one", " | B:m")
	if got := l.audit(); got != "set set set note" && got != "set set note set" { // probes finish in any order
		t.Errorf("audit log: %q", got)
	}
}

// TestMaintenance checks that probes do nothing during a maintenance.
func TestMaintenance(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	work, err := l.editor.ScheduleMaintenance(t.Context(), editor, l.page, status.NewMaintenance{
		Name: "Work", Body: "x", State: status.InProgress, Start: l.clock(), End: l.clock().Add(time.Hour),
		Components:           []string{l.parts["A"]},
		AutoMaintenanceState: true, AutoOperationalState: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.fail(4, "A")
	l.expect("maintenance in progress", " | A:u")
	if _, err := l.editor.MoveMaintenance(t.Context(), editor, work,
		status.NewUpdate{State: status.Completed}); err != nil {
		t.Fatal(err)
	}
	l.rounds(1)
	l.expect("maintenance completed, still failing", "investigating A:op | A:p")
}

// TestPublishLimits checks that probes publish at most three incidents per hour, and none if all remote probes fail at
// once.
func TestPublishLimits(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B", "C", "D", "E")
	for _, n := range []string{"A", "B", "C", "D"} {
		l.fail(5, n)
	}
	l.expect("fourth incident within an hour",
		"investigating A:op; investigating B:op; investigating C:op; investigating D:op? | A:p B:p C:p")
	l = newLab(t, auto())
	l.watch(status.PublishPublic, "A", "B", "C")
	l.fail(2, "A", "B", "C")
	if got := l.summary(); !strings.HasSuffix(got, "? |") || strings.Count(got, ";") != 0 {
		t.Errorf("all probes fail at once: %s", got)
	}
}

// TestFlapping checks that alternating results change nothing, and that results are counted independently of the
// clock.
func TestFlapping(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	for range 6 {
		l.fail(1, "A")
		l.recover(1, "A")
	}
	l.expect("alternating results, good before", " |")
	l.fail(1, "A")
	l.wait(-36 * time.Hour) // the clock is set back
	l.rounds(1)
	l.expect("clock set back", "investigating A:op | A:p")
	l.wait(1000 * time.Hour)
	l.rounds(1)
	l.expect("clock set ahead", "investigating A:op | A:p")
	for range 5 {
		l.recover(1, "A")
		l.fail(1, "A")
	}
	l.expect("alternating results, bad before", "investigating A:op | A:p")
}

// TestManyGateways runs several watchers at once. Each due probe is run by one of them, and each action is taken once.
func TestManyGateways(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	names := []string{"A", "B", "C", "D"}
	l.watch(status.PublishPublic, names...)
	l.setBroken(true, "A", "B")
	others := []*probe.Watcher{l.watcher, l.newWatcher(), l.newWatcher(), l.newWatcher()}
	for round := range 4 {
		l.wait(time.Minute)
		var group sync.WaitGroup
		var mu sync.Mutex
		run := 0
		for _, w := range others {
			group.Go(func() {
				n, err := w.RunDue(t.Context())
				mu.Lock()
				defer mu.Unlock()
				if run += n; err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if run != len(names) {
			t.Errorf("round %d: %d probes were run", round, run)
		}
	}
	if got := l.summary(); !strings.HasSuffix(got, "| A:p B:p") || strings.Count(got, ";") != 0 {
		t.Error(got)
	}
}

// TestHealthTimeout runs probes of the ledger together: none of them limits the time in which its health is read for
// all.
func TestHealthTimeout(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	for _, name := range []string{"A", "B"} {
		if _, err := l.editor.AddProbe(t.Context(), editor, status.Probe{
			Component: l.parts[name], Kind: status.LagProbe, Spec: status.ProbeSpec{TimeoutMS: 100, BadMS: 60_000},
			Every: time.Minute, FailAfter: 1, PassAfter: 1, Sets: status.PartialOutage, Publish: status.PublishDraft,
		}); err != nil {
			t.Fatal(err)
		}
	}
	var reads []time.Duration
	health := func(ctx context.Context) (*storage.LedgerHealth, error) {
		end, _ := ctx.Deadline()
		reads = append(reads, time.Until(end))
		return &storage.LedgerHealth{}, nil
	}
	w := probe.NewWatcher(l.editor, probe.NewChecker(l.clock, health), slog.New(slog.DiscardHandler))
	if n, err := w.RunDue(t.Context()); n != 2 || err != nil {
		t.Fatalf("%d probes were run: %v", n, err)
	}
	if len(reads) != 1 || reads[0] < time.Second {
		t.Errorf("the health was read with the timeouts %v", reads)
	}
}

// TestEditProbes deletes and disables probes, and rejects invalid ones.
func TestEditProbes(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	ids := l.watch(status.PublishPublic, "A", "B")
	l.setBroken(true, "A", "B")
	if err := errors.Join(l.editor.RemoveProbe(t.Context(), editor, ids[0]),
		l.editor.EnableProbe(t.Context(), editor, ids[1], false)); err != nil {
		t.Fatal(err)
	}
	l.rounds(5)
	l.expect("probes deleted and disabled", " |")
	if err := l.editor.EnableProbe(t.Context(), editor, ids[1], true); err != nil {
		t.Fatal(err)
	}
	l.rounds(2)
	l.expect("probe enabled", "investigating B:op | B:p")
	var rejected *status.Error
	if err := l.editor.RemoveProbe(t.Context(), editor, ids[0]); !errors.As(err, &rejected) ||
		rejected.Reason != status.NotFound {
		t.Error(err)
	}
	good := status.Probe{
		Component: l.parts["A"], Kind: status.TCPProbe, Spec: status.ProbeSpec{Address: "127.0.0.1:1"},
		Every: time.Minute, FailAfter: 1,
		PassAfter: 1, Sets: status.MajorOutage, Publish: status.PublishDraft,
	}
	for name, change := range map[string]func(p *status.Probe){
		"not a kind of probe":                func(p *status.Probe) { p.Kind = "icmp" },
		"5s to 24h":                          func(p *status.Probe) { p.Every = time.Second },
		"1 to 1000 results":                  func(p *status.Probe) { p.FailAfter = 0 },
		"sets degraded":                      func(p *status.Probe) { p.Sets = status.Operational },
		"way to publish":                     func(p *status.Probe) { p.Publish = "all" },
		"must be greater than that for slow": func(p *status.Probe) { p.Spec.SlowMS, p.Spec.BadMS = 2, 1 },
		"not a regular expression":           func(p *status.Probe) { p.Spec.Body = "(" },
		"not an address":                     func(p *status.Probe) { p.Spec.Address = "127.0.0.1" },
		"has no URL":                         func(p *status.Probe) { p.Spec.URL = "http://127.0.0.1" },
		"needs a --url": func(p *status.Probe) {
			p.Kind, p.Spec = status.HTTPProbe,
				status.ProbeSpec{URL: "file:///etc/passwd"}
		},
		"needs a --query": func(p *status.Probe) {
			p.Kind, p.Spec = status.GraphQLProbe,
				status.ProbeSpec{URL: "http://127.0.0.1"}
		},
		"needs --bad": func(p *status.Probe) {
			p.Kind, p.Spec = status.LagProbe,
				status.ProbeSpec{}
		},
		"does not represent a consensus node": func(p *status.Probe) {
			p.Kind, p.Spec = status.NodeProbe,
				status.ProbeSpec{}
		},
		"is secret": func(p *status.Probe) {
			p.Kind, p.Spec = status.HTTPProbe, status.ProbeSpec{
				URL:     "http://127.0.0.1",
				Headers: map[string]string{"Authorization": "Bearer x"},
			}
		},
		"does not exist":          func(p *status.Probe) { p.Component = "missing" },
		"only probes of the kind": func(p *status.Probe) { p.Spec.Node = 3 },
	} {
		p := good
		change(&p)
		if _, err := l.editor.AddProbe(t.Context(), editor, p); !errors.As(err, &rejected) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.editor.AddProbe(t.Context(), editor, good); err != nil {
		t.Error(err)
	}
}

package probe_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/probe"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// TestDrafts checks that probes create drafts by default. Readers see nothing until an editor publishes one, and a discarded draft is not created again.
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
	// The editor discards the draft.
	draft := func() string {
		t.Helper()
		p, _ := l.read()
		list, err := l.db.Notices(t.Context(), p, statuspages.NoticeFilter{Kind: status.Realtime, Drafts: true}, statuspages.ByCreation, storage.Page{Limit: 2})
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
	// The editor publishes the draft. Probes do not change it any more.
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

// TestPublic checks that incidents are opened, reopened and resolved automatically if the page allows it.
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

// TestJoin checks that components that fail together share one incident, which moves to monitoring when the last one recovers.
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

// TestPeople checks that probes leave incidents alone that an editor has updated, and open no other incident meanwhile.
func TestPeople(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	l.breaks(true, "A")
	l.rounds(2)
	p, _ := l.read()
	list, err := l.db.Notices(t.Context(), p, statuspages.NoticeFilter{Kind: status.Realtime}, statuspages.ByCreation, storage.Page{Limit: 2})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	if _, err := l.editor.UpdateIncident(t.Context(), editor, list[0].Code, status.NewUpdate{State: status.Identified, Body: "We know."}); err != nil {
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
	if _, err := l.editor.UpdateIncident(t.Context(), editor, list[0].Code, status.NewUpdate{State: status.Resolved, Body: "So."}); err != nil {
		t.Fatal(err)
	}
	l.breaks(false, "A")
	l.rounds(2)
	l.breaks(true, "A")
	l.rounds(2)
	l.expect("what people have resolved is not opened again", "investigating A:op, identified A:pp, resolved A:po; investigating A:op | A:p")
}

// TestComponentAlone sets the state of the component without an incident, and reverts only states that the probe itself has set.
func TestComponentAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishComponent, "A", "B")
	l.breaks(true, "A", "B")
	l.rounds(2)
	l.expect("it fails", " | A:p B:p")
	if _, err := l.editor.EditComponent(t.Context(), editor, l.parts["B"], status.ComponentEdit{Status: ledger.Of(status.MajorOutage)}); err != nil {
		t.Fatal(err)
	}
	l.breaks(false, "A", "B")
	l.rounds(2)
	l.expect("it is well again, but people have said something else of the other", " | B:m")
	if got := l.audit(); got != "set set set note" && got != "set set note set" { // probes finish in any order
		t.Errorf("the audit has %q", got)
	}
}

// TestMaintenance checks that probes do nothing during a maintenance.
func TestMaintenance(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	work, err := l.editor.ScheduleMaintenance(t.Context(), editor, l.page, status.NewMaintenance{
		Name: "Work", Body: "x", State: status.InProgress, Start: l.clock(), End: l.clock().Add(time.Hour), Components: []string{l.parts["A"]},
		AutoMaintenanceState: true, AutoOperationalState: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.breaks(true, "A")
	l.rounds(4)
	l.expect("work goes on", " | A:u")
	if _, err := l.editor.MoveMaintenance(t.Context(), editor, work, status.NewUpdate{State: status.Completed}); err != nil {
		t.Fatal(err)
	}
	l.rounds(1)
	l.expect("work is over, and it still fails", "investigating A:op | A:p")
}

// TestRestraint publishes at most three incidents per hour, and none if all remote probes fail at once.
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

// TestFlapping checks that alternating results change nothing, and that results are counted independently of the clock.
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
	l.wait(-36 * time.Hour) // the clock is set back
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

// TestManyGateways runs several watchers at once. Each due probe is run by one of them, and each action is taken once.
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
				n, err := w.RunDue(t.Context())
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

// TestRemoved deletes and disables probes, and rejects invalid ones.
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
	var refusal *status.Error
	if err := l.editor.RemoveProbe(t.Context(), editor, ids[0]); !errors.As(err, &refusal) || refusal.Reason != status.NotFound {
		t.Error(err)
	}
	good := status.Probe{Component: l.parts["A"], Kind: status.TCPProbe, Spec: status.ProbeSpec{Address: "127.0.0.1:1"}, Every: time.Minute, FailAfter: 1,
		PassAfter: 1, Sets: status.MajorOutage, Publish: status.PublishDraft}
	for name, change := range map[string]func(p *status.Probe){
		"not a kind of probe":                 func(p *status.Probe) { p.Kind = "icmp" },
		"5s to 24h":                           func(p *status.Probe) { p.Every = time.Second },
		"1 to 1000 results":                   func(p *status.Probe) { p.FailAfter = 0 },
		"sets degraded":                       func(p *status.Probe) { p.Sets = status.Operational },
		"way to publish":                      func(p *status.Probe) { p.Publish = "all" },
		"must be greater than that for slow":  func(p *status.Probe) { p.Spec.SlowMS, p.Spec.BadMS = 2, 1 },
		"not a regular expression":            func(p *status.Probe) { p.Spec.Body = "(" },
		"not an address":                      func(p *status.Probe) { p.Spec.Address = "127.0.0.1" },
		"has no URL":                          func(p *status.Probe) { p.Spec.URL = "http://127.0.0.1" },
		"needs a --url":                       func(p *status.Probe) { p.Kind, p.Spec = status.HTTPProbe, status.ProbeSpec{URL: "file:///etc/passwd"} },
		"needs a --query":                     func(p *status.Probe) { p.Kind, p.Spec = status.GraphQLProbe, status.ProbeSpec{URL: "http://127.0.0.1"} },
		"needs --bad":                         func(p *status.Probe) { p.Kind, p.Spec = status.LagProbe, status.ProbeSpec{} },
		"does not represent a consensus node": func(p *status.Probe) { p.Kind, p.Spec = status.NodeProbe, status.ProbeSpec{} },
		"is secret": func(p *status.Probe) {
			p.Kind, p.Spec = status.HTTPProbe, status.ProbeSpec{URL: "http://127.0.0.1", Headers: map[string]string{"Authorization": "Bearer x"}}
		},
		"does not exist":          func(p *status.Probe) { p.Component = "nothing" },
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

package status

import (
	"slices"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

// probed applies a result of a probe to a page and returns the outcome.
func (p *fakePage) probed(f ProbeFacts) *ProbeOutcome {
	p.t.Helper()
	p.Origin = FromProbe
	out, err := p.ApplyProbe(f)
	if err != nil {
		p.t.Fatal(err)
	}
	if out.Withdraw != "" {
		delete(p.notices, out.Withdraw)
	}
	if out.Effect != nil {
		p.store(out.Effect, nil)
	}
	p.changes = append(p.changes, out.Changes...)
	f.Probe.Applied, f.Probe.Incident, f.Probe.Set = f.Probe.Level, out.Incident, out.Set
	return out
}

func newProbe(id int64, component string) *Probe {
	return &Probe{
		ID: id, Component: component, Kind: HTTPProbe, Sets: MajorOutage, Publish: PublishPublic,
		Hysteresis: Hysteresis{Level: Bad},
	}
}

func TestProbeIncident(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	api, web := newProbe(1, "api"), newProbe(2, "web")
	web.Sets = PartialOutage
	out := p.probed(ProbeFacts{Probe: api})
	s := p.notices[out.Object]
	if out.Action != ProbeOpen || s.Notice.Name != "Problems with API" || s.Notice.ProbeID.V != 1 ||
		s.Notice.Origin != FromProbe ||
		p.statusesOf("api") != "m" || api.Incident != out.Object || out.Draft() {
		t.Fatalf("%+v, %+v", out, s.Notice)
	}
	// Another component fails within the period for joining.
	p.wait(time.Minute)
	out = p.probed(ProbeFacts{Probe: web, Joinable: *s})
	if out.Action != ProbeJoined || web.Incident != api.Incident || p.statusesOf("api", "web") != "mp" ||
		s.Notice.State != Investigating {
		t.Errorf("%+v", out)
	}
	// One recovers: the incident goes on.
	p.wait(time.Minute)
	api.Level = Good
	out = p.probed(ProbeFacts{Probe: api, Incident: *s, Others: []*Probe{web}})
	if out.Action != ProbeRecover || s.Notice.State != Investigating || p.statusesOf("api", "web") != "op" ||
		s.Updates[2].Body != "Automatic checks succeed again." {
		t.Errorf("%+v", out)
	}
	web.Level = Good
	out = p.probed(ProbeFacts{Probe: web, Incident: *s})
	if out.Action != ProbeRecover || s.Notice.State != Monitoring || p.statusesOf("api", "web") != "oo" {
		t.Errorf("%+v", out)
	}
	// It gets slow while the incident is open, then fails.
	web.Level = Slow
	if out = p.probed(ProbeFacts{Probe: web, Incident: *s}); out.Action != ProbeUpdate ||
		s.Notice.State != Investigating || p.statusesOf("web") != "d" {
		t.Errorf("%+v", out)
	}
	web.Level = Good
	p.probed(ProbeFacts{Probe: web, Incident: *s})
	p.wait(ProbeHoldOff)
	p.store(p.ResolveProbed(*s))
	if s.Notice.State != Resolved || s.Updates[len(s.Updates)-1].Body != "This incident is over." {
		t.Errorf("%+v", s.Notice)
	}
	// A failure reopens it within the hold-off, even if there are many incidents. Later it opens a new one.
	p.wait(ProbeHoldOff - 1)
	api.Level = Bad
	if out = p.probed(ProbeFacts{Probe: api, Incident: *s, PublishedLastHour: 3}); out.Action != ProbeReopen ||
		s.Notice.State != Investigating ||
		p.statusesOf("api") != "m" {
		t.Errorf("%+v", out)
	}
	api.Level = Good
	p.probed(ProbeFacts{Probe: api, Incident: *s})
	p.store(p.ResolveProbed(*s))
	p.wait(ProbeHoldOff)
	api.Level = Bad
	if out = p.probed(ProbeFacts{Probe: api, Incident: *s}); out.Action != ProbeOpen || out.Object == s.Notice.Code {
		t.Errorf("%+v", out)
	}
	// What joins an incident in monitoring makes it investigating again.
	p = newFakePage(t)
	s = p.store(p.OpenIncident(NewIncident{Name: "x", Body: "x", State: Monitoring}))
	if out = p.probed(ProbeFacts{Probe: newProbe(3, "n"), Joinable: *s}); out.Action != ProbeJoined ||
		s.Notice.State != Investigating {
		t.Errorf("%+v", out)
	}
}

// TestProbesOfOneComponent gives a component the worst status of its probes.
func TestProbesOfOneComponent(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	bad, slow := newProbe(1, "api"), newProbe(2, "api")
	out := p.probed(ProbeFacts{Probe: bad})
	s := p.notices[out.Object]
	slow.Level = Slow
	p.probed(ProbeFacts{Probe: slow, Joinable: *s, Others: []*Probe{bad}})
	if p.statusesOf("api") != "m" {
		t.Errorf("api is %s", p.statusesOf("api"))
	}
	bad.Level = Good
	p.probed(ProbeFacts{Probe: bad, Incident: *s, Others: []*Probe{slow}})
	if p.statusesOf("api") != "d" || s.Notice.State != Investigating {
		t.Errorf("api is %s, the incident %s", p.statusesOf("api"), s.Notice.State)
	}
	slow.Level = Good
	p.probed(ProbeFacts{Probe: slow, Incident: *s})
	if p.statusesOf("api") != "o" || s.Notice.State != Monitoring {
		t.Errorf("api is %s, the incident %s", p.statusesOf("api"), s.Notice.State)
	}
}

func TestProbeDrafts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page  bool // publishes automatically
		facts ProbeFacts
		want  string
	}{
		"the page does not publish": {false, ProbeFacts{}, ProbeDraft},
		"the probe drafts":          {true, ProbeFacts{Probe: &Probe{Publish: PublishDraft}}, ProbeDraft},
		"too many incidents":        {true, ProbeFacts{PublishedLastHour: 3}, ProbeDraft},
		"not too many incidents":    {true, ProbeFacts{PublishedLastHour: 2}, ProbeOpen},
		"all remote probes fail":    {true, ProbeFacts{Remotes: 3, FailingRemotes: 3}, ProbeDraft},
		"two remote probes":         {true, ProbeFacts{Remotes: 2, FailingRemotes: 2}, ProbeOpen},
		"one remote probe passes":   {true, ProbeFacts{Remotes: 4, FailingRemotes: 3}, ProbeOpen},
		"a local probe": {true, ProbeFacts{
			Probe:   &Probe{Publish: PublishPublic, Kind: LagProbe},
			Remotes: 3, FailingRemotes: 3,
		}, ProbeOpen},
		"many incidents, set component": {true, ProbeFacts{
			Probe:             &Probe{Publish: PublishComponent},
			PublishedLastHour: 3,
		}, ProbeSet},
	} {
		p := newFakePage(t)
		p.Page.AutoPublish = c.page
		probe := newProbe(1, "api")
		if c.facts.Probe != nil {
			probe.Publish = c.facts.Probe.Publish
			if c.facts.Probe.Kind != "" {
				probe.Kind = c.facts.Probe.Kind
			}
		}
		c.facts.Probe = probe
		if out := p.probed(c.facts); out.Action != c.want || out.Draft() != (c.want == ProbeDraft) {
			t.Errorf("%s: %s", name, out.Action)
		}
	}

	p := newFakePage(t)
	p.Page.AutoPublish = false
	api, web := newProbe(1, "api"), newProbe(2, "web")
	first := p.probed(ProbeFacts{Probe: api}).Object
	out := p.probed(ProbeFacts{Probe: web, JoinableDraft: *p.notices[first], Others: []*Probe{api}})
	s := p.notices[out.Object]
	if out.Withdraw != first || len(p.notices) != 1 || s.Notice.Name != "Problems with 2 components" ||
		story(s) != "investigating api:om web:om" || p.statusesOf("api", "web") != "oo" {
		t.Errorf("%+v: %s", out, story(s))
	}
	api.Incident = out.Object // as the database does
	api.Level = Good
	out = p.probed(ProbeFacts{Probe: api, Incident: *s, Others: []*Probe{web}})
	if s = p.notices[out.Object]; story(s) != "investigating web:om" {
		t.Errorf("%+v: %s", out, story(s))
	}
	web.Incident, web.Level = out.Object, Good
	out = p.probed(ProbeFacts{Probe: web, Incident: *s})
	if out.Action != ProbeWithdraw || out.Object != s.Notice.Code || len(p.notices) != 0 || !out.Draft() {
		t.Errorf("%+v", out)
	}
}

func TestProbeStatus(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	probe := newProbe(1, "db") // whose performance is degraded already
	probe.Publish, probe.Level = PublishComponent, Slow
	if out := p.probed(ProbeFacts{Probe: probe}); out.Action != ProbeNote || !out.Unchanged || out.Object != "db" ||
		probe.Set != "" {
		t.Errorf("%+v", out)
	}
	probe.Level = Bad
	if out := p.probed(ProbeFacts{Probe: probe}); out.Action != ProbeSet || out.Component.BaseStatus != MajorOutage ||
		len(out.Changes) != 1 ||
		probe.Set != MajorOutage {
		t.Errorf("%+v", out)
	}
	probe.Level = Slow
	if out := p.probed(ProbeFacts{Probe: probe}); out.Action != ProbeSet || p.statusesOf("db") != "d" ||
		probe.Set != DegradedPerformance {
		t.Errorf("%+v", out)
	}
	probe.Level = Good
	if out := p.probed(ProbeFacts{Probe: probe}); out.Action != ProbeSet || p.statusesOf("db") != "o" ||
		probe.Set != "" {
		t.Errorf("%+v", out)
	}
	probe.Level = Bad
	p.probed(ProbeFacts{Probe: probe})
	p.Component("db").BaseStatus = PartialOutage // by an editor
	probe.Level = Good
	if out := p.probed(ProbeFacts{Probe: probe}); !out.Unchanged || out.Object != "db" ||
		p.Component("db").BaseStatus != PartialOutage {
		t.Errorf("%+v", out)
	}
	if out := p.probed(ProbeFacts{Probe: newProbe(2, "api")}); out.Action != ProbeOpen {
		t.Errorf("%+v", out)
	}
	if out, err := p.ApplyProbe(ProbeFacts{Probe: newProbe(1, "gone")}); out != nil || err != nil {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestProbesAndEditors checks that probes do not change what editors have changed.
func TestProbesAndEditors(t *testing.T) {
	t.Parallel()
	p := newFakePage(t)
	probe := newProbe(1, "api")
	out := p.probed(ProbeFacts{Probe: probe})
	s := *p.notices[out.Object]
	probe.Level = Good
	if out = p.probed(ProbeFacts{Probe: probe, Incident: s, Edited: true}); !out.Unchanged ||
		out.Action != ProbeNote || out.Object != s.Notice.Code {
		t.Errorf("%+v", out)
	}
	p.Page.AutoPublish = false
	if out = p.probed(ProbeFacts{Probe: probe, Incident: s}); !out.Unchanged || out.Object != s.Notice.Code {
		t.Errorf("%+v", out)
	}
	p.Page.AutoPublish = true
	s = *p.store(p.UpdateIncident(s, NewUpdate{State: Resolved, Body: "x"}))
	if out = p.probed(ProbeFacts{Probe: probe, Incident: s}); !out.Unchanged || out.Object != "" {
		t.Errorf("%+v", out)
	}
	probe.Level = Bad
	if out = p.probed(ProbeFacts{Probe: probe, Incident: s, Edited: true}); out.Action != ProbeOpen ||
		out.Object == s.Notice.Code {
		t.Errorf("%+v", out)
	}
}

func TestProbeSettings(t *testing.T) {
	t.Parallel()
	for _, k := range ProbeKinds() {
		if remote := slices.Contains([]string{"http", "graphql", "tcp"}, string(k)); k.Remote() != remote {
			t.Errorf("%s: remote %t", k, k.Remote())
		}
	}
	s := ProbeSpec{SlowMS: 100, BadMS: 200}
	for took, want := range map[time.Duration]Level{
		0: Good, 99 * time.Millisecond: Good, 100 * time.Millisecond: Slow, 199 * time.Millisecond: Slow,
		200 * time.Millisecond: Bad,
	} {
		if got := s.LevelAt(took); got != want {
			t.Errorf("%s: %s", took, got)
		}
	}
	for ms, want := range map[int64]time.Duration{
		0: ProbeTimeout, 1500: 1500 * time.Millisecond,
		20_000: ProbeTimeout,
	} {
		if got := (&ProbeSpec{TimeoutMS: ms}).Timeout(); got != want {
			t.Errorf("timeout of %d ms: %s", ms, got)
		}
	}
	base := func(k ProbeKind) *Probe {
		p := &Probe{
			Kind: k, Every: time.Minute, FailAfter: 3, PassAfter: 2, Sets: PartialOutage,
			Publish: PublishDraft,
		}
		switch k {
		case HTTPProbe:
			p.Spec.URL = "https://api.example.com"
		case GraphQLProbe:
			p.Spec.URL, p.Spec.Query = "https://api.example.com", "{ a }"
		case TCPProbe:
			p.Spec.Address = "api.example.com:443"
		case LagProbe, HeartbeatProbe:
			p.Spec.BadMS = 1000
		case NodeProbe:
		}
		return p
	}
	for _, k := range ProbeKinds() {
		if err := CheckProbe(base(k)); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	for words, c := range map[string]struct {
		kind   ProbeKind
		change func(*Probe)
	}{
		"not a kind of probe": {"ping", func(*Probe) {}},
		"5s to 24h":           {HTTPProbe, func(p *Probe) { p.Every = time.Second }},
		"1 to 1000":           {HTTPProbe, func(p *Probe) { p.PassAfter = 0 }},
		"that fails sets":     {HTTPProbe, func(p *Probe) { p.Sets = UnderMaintenance }},
		"way to publish":      {HTTPProbe, func(p *Probe) { p.Publish = "all" }},
		"threshold for bad":   {HTTPProbe, func(p *Probe) { p.Spec.SlowMS, p.Spec.BadMS = 2, 2 }},
		"must be 10s at most": {HTTPProbe, func(p *Probe) { p.Spec.TimeoutMS = 10_001 }},
		"regular expression":  {HTTPProbe, func(p *Probe) { p.Spec.Body = "(" }},
		"not an HTTP status":  {HTTPProbe, func(p *Probe) { p.Spec.Status = -200 }},
		"not a valid header":  {HTTPProbe, func(p *Probe) { p.Spec.Headers = map[string]string{"X Y": "z"} }},
		"is secret": {HTTPProbe, func(p *Probe) {
			p.Spec.Headers = map[string]string{"Authorization": "Bearer x"}
		}},
		"http needs a --url":     {HTTPProbe, func(p *Probe) { p.Spec.URL = "ftp://x" }},
		"node has no URL":        {NodeProbe, func(p *Probe) { p.Spec.Status = 200 }},
		"needs a --query":        {GraphQLProbe, func(p *Probe) { p.Spec.Query = " " }},
		"graphql needs":          {TCPProbe, func(p *Probe) { p.Spec.Query = "{ a }" }},
		"needs an --address":     {TCPProbe, func(p *Probe) { p.Spec.Address = "" }},
		"not an address such as": {TCPProbe, func(p *Probe) { p.Spec.Address = "api.example.com" }},
		"mirror_lag needs --bad": {LagProbe, func(p *Probe) { p.Spec.BadMS = 0 }},
		"heartbeat needs --bad":  {HeartbeatProbe, func(p *Probe) { p.Spec.BadMS = 0 }},
		"kind node have":         {LagProbe, func(p *Probe) { p.Spec.Node = 1 }},
		"is not a node number":   {NodeProbe, func(p *Probe) { p.Spec.Node = -1 }},
	} {
		p := base(c.kind)
		c.change(p)
		wantError(t, CheckProbe(p), BadInput, words)
	}
	p := base(HTTPProbe)
	p.Spec.Headers = map[string]string{"authorization": "env:TOKEN", "X-Y": "z"}
	if err := CheckProbe(p); err != nil {
		t.Error(err)
	}
}

func TestTokenInput(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 17, 0, 0, 0, 0, time.UTC)
	for words, in := range map[string]Token{
		"name of the token": {Role: Admin}, "not a role": {Name: "x", Role: "king"},
		"in the past": {Name: "x", Role: Admin, ExpiresAt: ledger.Of(now)},
	} {
		wantError(t, in.Check(now), BadInput, words)
	}
	in := Token{Name: "x", Role: Admin, ExpiresAt: ledger.Of(now.Add(1))}
	if err := in.Check(now); err != nil {
		t.Error(err)
	}
	token := Token{ExpiresAt: in.ExpiresAt, PageCode: ledger.Of("p")}
	if !token.For("p") || token.For("q") || !(&Token{}).For("q") {
		t.Error("unexpected validity of a token")
	}
}

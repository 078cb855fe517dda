package status

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ProbeKind is what a probe asks.
type ProbeKind string

// The kinds of probes.
const (
	HTTPProbe      ProbeKind = "http"       // a URL, its status, body and speed
	GraphQLProbe   ProbeKind = "graphql"    // a GraphQL API, by a query
	TCPProbe       ProbeKind = "tcp"        // whether a port takes connections
	LagProbe       ProbeKind = "mirror_lag" // how old the newest block is
	NodeProbe      ProbeKind = "node"       // whether a consensus node takes part and has stake
	HeartbeatProbe ProbeKind = "heartbeat"  // whether somebody has said lately that all is well
)

// ProbeKinds returns the kinds of probes.
func ProbeKinds() []ProbeKind {
	return []ProbeKind{HTTPProbe, GraphQLProbe, TCPProbe, LagProbe, NodeProbe, HeartbeatProbe}
}

// Remote tells whether probes of this kind ask over the network: where all of them fail at once, it is more likely ours that is down.
func (k ProbeKind) Remote() bool { return k == HTTPProbe || k == GraphQLProbe || k == TCPProbe }

// Level is what a probe finds.
type Level string

// The levels.
const (
	Good    Level = "good"
	Slow    Level = "slow"
	Bad     Level = "bad"
	Unknown Level = "" // nothing can be said, and nothing is
)

func (l Level) rank() int { return slices.Index([]Level{Good, Slow, Bad}, l) }

// Publish is what becomes of what a probe finds.
type Publish string

// The ways. Where the page does not publish by itself, all of them are drafts.
const (
	PublishComponent Publish = "component" // the component's state alone
	PublishDraft     Publish = "draft"     // an incident that an editor publishes or discards
	PublishPublic    Publish = "public"    // an incident that opens and resolves by itself
)

// ProbeSpec is what a probe asks and what it expects. Which fields count depends on the kind.
type ProbeSpec struct {
	URL     string            `json:"url,omitempty"`
	Address string            `json:"address,omitempty"` // host:port
	Headers map[string]string `json:"headers,omitempty"` // a value env:NAME stands for that environment variable
	Query   string            `json:"query,omitempty"`   // of GraphQL
	// Path leads to a value that has to be there in the JSON that is answered: names and indexes, with dots between them.
	Path    string `json:"path,omitempty"`
	Status  int    `json:"status,omitempty"`   // of HTTP; 0 is any from 200 to 299
	Body    string `json:"body,omitempty"`     // a regular expression that the body has to match
	TLSDays int    `json:"tls_days,omitempty"` // the certificate has to be good for so many days more, or it is slow
	Node    int64  `json:"node,omitempty"`     // of nodes: the number of the node; 0 is that of the component where it has one
	// SlowMS and BadMS are from which answer times, block lags or pauses between heartbeats on it is slow or bad; 0 for never.
	SlowMS    int64 `json:"slow_ms,omitempty"`
	BadMS     int64 `json:"bad_ms,omitempty"`
	TimeoutMS int64 `json:"timeout_ms,omitempty"` // 0 is ten seconds
}

// ProbeTimeout is how long a probe waits at most.
const ProbeTimeout = 10 * time.Second

// Timeout is how long the probe waits.
func (s *ProbeSpec) Timeout() time.Duration {
	if d := time.Duration(s.TimeoutMS) * time.Millisecond; d > 0 && d < ProbeTimeout {
		return d
	}
	return ProbeTimeout
}

// Judge is what an answer time, a lag or a pause says.
func (s *ProbeSpec) Judge(took time.Duration) Level {
	switch ms := took.Milliseconds(); {
	case s.BadMS > 0 && ms >= s.BadMS:
		return Bad
	case s.SlowMS > 0 && ms >= s.SlowMS:
		return Slow
	default:
		return Good
	}
}

// Probe is something that is asked regularly to find out how a component is.
type Probe struct {
	ID        int64
	PageCode  string
	Component string // code
	Name      string // of the component, with that of its group in front
	Kind      ProbeKind
	Spec      ProbeSpec
	Every     time.Duration
	FailAfter int32
	PassAfter int32
	Sets      ComponentStatus // when it is bad; when it is slow, its performance is degraded
	Publish   Publish
	Enabled   bool

	Hysteresis
	// Acted is the level that the page was told.
	Acted    Level
	Incident string // code of the last incident that it opened or joined, empty for none
	Set      ComponentStatus
	NextAt   time.Time
	BeatAt   time.Time
	NodeID   int64 // of the component, -1 where it is no node
	// Last is the newest result, the zero value where there is none.
	Last ProbeResult
}

// ProbeResult is what a probe found once.
type ProbeResult struct {
	At     time.Time
	Level  Level
	Took   time.Duration // negative where it does not count
	Detail string        // for editors; it can tell addresses and is never published
}

// Hysteresis is what results say once enough of them agree.
type Hysteresis struct {
	Level  Level
	Streak int32 // results in a row that are all worse, or all better, than the level
	Toward Level // the level that all of them support: of worse ones the best, of better ones the worst
}

// Next is the state after one more result: it takes failAfter results in a row that are worse to become worse, and passAfter that are better to become better.
// What is unknown changes nothing.
func (h Hysteresis) Next(result Level, failAfter, passAfter int32) Hysteresis {
	r, now := result.rank(), h.Level.rank()
	if r < 0 {
		return h
	}
	if r == now {
		return Hysteresis{Level: h.Level, Toward: h.Level}
	}
	worse := r > now
	next := Hysteresis{Level: h.Level, Streak: 1, Toward: result}
	if toward := h.Toward.rank(); h.Streak > 0 && worse == (toward > now) {
		next.Streak = h.Streak + 1
		if (toward < r) == worse { // the one nearer to the level is what all of them support
			next.Toward = h.Toward
		}
	}
	need := passAfter
	if worse {
		need = failAfter
	}
	if next.Streak >= need {
		return Hysteresis{Level: next.Toward, Toward: next.Toward}
	}
	return next
}

// Says is the state of the component at a level.
func (p *Probe) Says(l Level) ComponentStatus {
	switch l {
	case Bad:
		return p.Sets
	case Slow:
		return DegradedPerformance
	case Good, Unknown:
		return Operational
	default:
		return Operational
	}
}

// headerName is the form of a header's name.
var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// CheckProbe refuses a probe that cannot work.
func CheckProbe(p *Probe) error {
	s := &p.Spec
	switch {
	case !slices.Contains(ProbeKinds(), p.Kind):
		return Refuse(BadInput, "%q is no kind of probe: there are %s", p.Kind, ProbeKinds())
	case p.Every < 5*time.Second || p.Every > 24*time.Hour:
		return Refuse(BadInput, "a probe asks every 5s to every 24h, not every %s", p.Every)
	case p.FailAfter < 1 || p.PassAfter < 1 || p.FailAfter > 1000 || p.PassAfter > 1000:
		return Refuse(BadInput, "a probe changes its mind after 1 to 1000 results")
	case p.Sets != DegradedPerformance && p.Sets != PartialOutage && p.Sets != MajorOutage:
		return Refuse(BadInput, "a probe that fails says degraded_performance, partial_outage or major_outage, not %q", p.Sets)
	case p.Publish != PublishComponent && p.Publish != PublishDraft && p.Publish != PublishPublic:
		return Refuse(BadInput, "%q is no way to publish: there are component, draft and public", p.Publish)
	case s.SlowMS < 0 || s.BadMS < 0 || s.TimeoutMS < 0 || s.TLSDays < 0 || s.SlowMS > 0 && s.BadMS > 0 && s.BadMS <= s.SlowMS:
		return Refuse(BadInput, "what is bad takes longer than what is slow, and nothing is negative")
	}
	if _, err := regexp.Compile(s.Body); err != nil {
		return Refuse(BadInput, "%q is no regular expression", s.Body)
	}
	for name, value := range s.Headers {
		switch {
		case !headerName.MatchString(name) || strings.ContainsAny(value, "\r\n\x00"):
			return Refuse(BadInput, "%q is no header", name)
		case slices.Contains([]string{"authorization", "cookie", "x-api-key"}, strings.ToLower(name)) && !strings.HasPrefix(value, "env:"):
			return Refuse(BadInput, "the header %s is a secret: give the environment variable that has it, as env:NAME", name)
		}
	}
	return p.checkTarget()
}

// checkTarget refuses probes that do not say what they ask, or ask for what others do.
func (p *Probe) checkTarget() error {
	s := &p.Spec
	overHTTP := p.Kind == HTTPProbe || p.Kind == GraphQLProbe
	u, err := url.Parse(s.URL)
	switch {
	case overHTTP && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil):
		return Refuse(BadInput, "a probe of the kind %s needs a --url such as https://api.example.com/health", p.Kind)
	case !overHTTP && (s.URL != "" || len(s.Headers) > 0 || s.Path != "" || s.Body != "" || s.Status != 0 || s.TLSDays != 0):
		return Refuse(BadInput, "a probe of the kind %s has no URL, headers, body or status", p.Kind)
	case (p.Kind == GraphQLProbe) != (strings.TrimSpace(s.Query) != ""):
		return Refuse(BadInput, "a probe of the kind graphql needs a --query, and no other has one")
	case (p.Kind == TCPProbe) != (s.Address != ""):
		return Refuse(BadInput, "a probe of the kind tcp needs an --address such as api.example.com:443, and no other has one")
	case (p.Kind == LagProbe || p.Kind == HeartbeatProbe) && s.BadMS == 0:
		return Refuse(BadInput, "a probe of the kind %s needs --bad, the time after which it fails", p.Kind)
	case p.Kind != NodeProbe && s.Node != 0:
		return Refuse(BadInput, "only probes of the kind node have one")
	case p.Kind == NodeProbe && s.Node < 0:
		return Refuse(BadInput, "%d is no number of a node", s.Node)
	}
	if p.Kind == TCPProbe {
		if host, port, err := net.SplitHostPort(s.Address); err != nil || host == "" || port == "" {
			return Refuse(BadInput, "%q is no address such as api.example.com:443", s.Address)
		}
	}
	return nil
}

// Rules of what probes publish by themselves.
const (
	ProbeHoldOff  = 10 * time.Minute // how long all has to be well before an incident is resolved, and within which a new failure opens it again
	ProbeJoin     = 2 * time.Minute  // components that fail within it share an incident
	ProbeIncident = 3                // incidents in an hour at most; more are drafts
	ProbeRemotes  = 3                // that many remote probes and more do not fail all at once but by our own network
)

package status

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ProbeKind is the kind of a probe.
type ProbeKind string

// The kinds of probes.
const (
	HTTPProbe      ProbeKind = "http"       // requests a URL and checks status, body and response time
	GraphQLProbe   ProbeKind = "graphql"    // runs a query on a GraphQL API
	TCPProbe       ProbeKind = "tcp"        // connects to a port
	LagProbe       ProbeKind = "mirror_lag" // measures the age of the newest block
	NodeProbe      ProbeKind = "node"       // checks that a consensus node has an address book entry and stake
	HeartbeatProbe ProbeKind = "heartbeat"  // expects regular heartbeats
)

// ProbeKinds returns the kinds of probes.
func ProbeKinds() []ProbeKind {
	return []ProbeKind{HTTPProbe, GraphQLProbe, TCPProbe, LagProbe, NodeProbe, HeartbeatProbe}
}

// Remote reports whether probes of this kind use the network. If all of them fail at once, the gateway's own network
// is probably down.
func (k ProbeKind) Remote() bool { return k == HTTPProbe || k == GraphQLProbe || k == TCPProbe }

// Level is the result of a probe.
type Level string

// The levels.
const (
	Good    Level = "good"
	Slow    Level = "slow"
	Bad     Level = "bad"
	Unknown Level = "" // no result; changes nothing
)

// rank returns the index of a level, best first, or -1 for an unknown one.
func (l Level) rank() int { return slices.Index([]Level{Good, Slow, Bad}, l) }

// Publish selects how failures of a probe are published.
type Publish string

// The ways to publish. If the page does not publish automatically, all failures become drafts.
const (
	PublishComponent Publish = "component" // changes only the status of the component
	PublishDraft     Publish = "draft"     // opens a draft that an editor publishes or discards
	PublishPublic    Publish = "public"    // opens an incident, which is resolved automatically
)

// ProbeSpec is the target and the expectations of a probe. The kind determines which fields are used. The tags for the
// command line describe the fields.
type ProbeSpec struct {
	URL     string            `json:"url,omitempty" name:"url" help:"URL that http and graphql request. Redirects are not followed."`
	Address string            `json:"address,omitempty" help:"Address that tcp connects to, such as api.example.com:443."`
	Headers map[string]string `json:"headers,omitempty" name:"header" help:"Request header, as NAME=VALUE; can be repeated. The value env:VARIABLE is read from the environment."`
	Query   string            `json:"query,omitempty" help:"GraphQL query."`
	Path    string            `json:"path,omitempty" help:"Path of a value that the JSON response must contain: names and indexes, separated by dots."`
	Status  int               `json:"status,omitempty" name:"expect" help:"Expected HTTP status (default: 200 to 299)."`
	Body    string            `json:"body,omitempty" help:"Regular expression that the response body must match."`
	TLSDays int               `json:"tls_days,omitempty" name:"tls-days" help:"Minimum days until the certificate expires; fewer count as slow (default: not checked)."`
	Node    int64             `json:"node,omitempty" help:"Number of the consensus node (default: that of the component)."`
	// SlowMS and BadMS are the thresholds of response time, block age, or time since the last heartbeat, in
	// milliseconds; 0 for none.
	SlowMS    int64 `json:"slow_ms,omitempty" kong:"-"`
	BadMS     int64 `json:"bad_ms,omitempty" kong:"-"`
	TimeoutMS int64 `json:"timeout_ms,omitempty" kong:"-"` // milliseconds; 0 for [ProbeTimeout]
}

// ProbeTimeout is the maximum and default timeout of a probe.
const ProbeTimeout = 10 * time.Second

// Timeout returns the timeout of a run: that of the settings, in milliseconds, if it is shorter than
// [ProbeTimeout], which is the default.
func (s *ProbeSpec) Timeout() time.Duration {
	if d := time.Duration(s.TimeoutMS) * time.Millisecond; d > 0 && d < ProbeTimeout {
		return d
	}
	return ProbeTimeout
}

// LevelAt returns the level for a response time, block age, or time since the last heartbeat, by the thresholds of
// the settings. A threshold of 0 does not apply.
func (s *ProbeSpec) LevelAt(took time.Duration) Level {
	switch ms := took.Milliseconds(); {
	case s.BadMS > 0 && ms >= s.BadMS:
		return Bad
	case s.SlowMS > 0 && ms >= s.SlowMS:
		return Slow
	default:
		return Good
	}
}

// Probe is a regular check of a component. The tags for the command line describe the settings.
type Probe struct {
	ID        int64         `kong:"-"`
	PageCode  string        `kong:"-"`
	Component string        `kong:"-"` // code
	Name      string        `kong:"-"` // qualified name of the component
	Kind      ProbeKind     `arg:"" enum:"http,graphql,tcp,mirror_lag,node,heartbeat" help:"Kind: http, graphql, tcp, mirror_lag (age of the newest block), node (activity and stake of a consensus node), or heartbeat (sent by a job)."`
	Spec      ProbeSpec     `embed:""`
	Every     time.Duration `default:"30s" help:"Interval, 5s to 24h."`
	FailAfter int32         `default:"3" help:"Number of consecutive results after which the component becomes worse."`
	PassAfter int32         `default:"5" help:"Number of consecutive results after which the component recovers."`
	// Sets is the status of the component at the level [Bad]. At [Slow] it is degraded performance.
	Sets    ComponentStatus `help:"Status of the component if results are bad: degraded_performance, partial_outage or major_outage." default:"partial_outage"`
	Publish Publish         `help:"Effect of a failure if the page has auto_publish=true: component (changes only the status of the component), draft (creates a draft) or public (opens an incident). On other pages it is always draft." enum:"component,draft,public" default:"public"`
	Enabled bool            `kong:"-"`

	Hysteresis `kong:"-"`
	// Applied is the level that was last applied to the page.
	Applied  Level           `kong:"-"`
	Incident string          `kong:"-"` // code of the last incident that the probe opened or joined; empty for none
	Set      ComponentStatus `kong:"-"` // base status that the probe has set; empty for none
	BeatAt   time.Time       `kong:"-"`
	NodeID   int64           `kong:"-"` // of the component; -1 for none
	// Last is the newest result, or the zero value.
	Last ProbeResult `kong:"-"`
}

// ProbeResult is a single result of a probe.
type ProbeResult struct {
	At     time.Time
	Level  Level
	Took   time.Duration // negative if not measured
	Detail string        // for editors only: may contain addresses
}

// Hysteresis is the level of a probe after several results: it changes when enough consecutive results agree.
type Hysteresis struct {
	Level  Level
	Streak int32 // consecutive results that are all worse, or all better, than the level
	Toward Level // the result of these that is nearest to the level
}

// Next returns the hysteresis after another result. The level becomes worse after failAfter consecutive worse results,
// and better after passAfter consecutive better ones: it becomes the one of these that is nearest to it. Unknown
// results are ignored.
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
		if (toward < r) == worse { // nearer to the level
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

// StatusAt returns the status that the probe gives to its component at a level: operational if that is good or
// unknown.
func (p *Probe) StatusAt(l Level) ComponentStatus {
	switch l {
	case Bad:
		return p.Sets
	case Slow:
		return DegradedPerformance
	default:
		return Operational
	}
}

// reason returns an English text for readers of the page that says what fails, without addresses. It uses the
// newest result.
func (p *Probe) reason() string {
	age := fmt.Sprintf("%.0f s", p.Last.Took.Seconds())
	switch {
	case p.Kind == LagProbe && p.Last.Took > 0:
		return "the newest block is " + age + " old"
	case p.Kind == HeartbeatProbe && p.Last.Took > 0:
		return "the last heartbeat was " + age + " ago"
	case p.Kind == NodeProbe:
		return "the node takes no part in consensus"
	case p.Level == Slow:
		return "responses are slow"
	case p.Kind == TCPProbe:
		return "connections fail"
	default:
		return "requests fail"
	}
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// CheckProbe fails with [BadInput] if the settings of a probe are invalid. It does not check whether the component
// exists. Secret headers must name an environment variable.
func CheckProbe(p *Probe) error {
	s := &p.Spec
	_, noPattern := regexp.Compile(s.Body)
	err := cmp.Or(
		badIf(!slices.Contains(ProbeKinds(), p.Kind), "%q is not a kind of probe: there are %s", p.Kind, ProbeKinds()),
		badIf(p.Every < 5*time.Second || p.Every > 24*time.Hour,
			"the interval of a probe must be 5s to 24h, not %s", p.Every),
		badIf(p.FailAfter < 1 || p.PassAfter < 1 || p.FailAfter > 1000 || p.PassAfter > 1000,
			"a probe needs 1 to 1000 results to fail or to pass"),
		badIf(p.Sets != DegradedPerformance && p.Sets != PartialOutage && p.Sets != MajorOutage,
			"a probe that fails sets degraded_performance, partial_outage or major_outage, not %q", p.Sets),
		badIf(p.Publish != PublishComponent && p.Publish != PublishDraft && p.Publish != PublishPublic,
			"%q is not a way to publish: use component, draft or public", p.Publish),
		badIf(s.SlowMS < 0 || s.BadMS < 0 || s.TimeoutMS < 0 || s.TLSDays < 0 ||
			s.SlowMS > 0 && s.BadMS > 0 && s.BadMS <= s.SlowMS,
			"the threshold for bad must be greater than that for slow, and no number may be negative"),
		badIf(s.TimeoutMS > ProbeTimeout.Milliseconds(), "the timeout of a probe must be %s at most", ProbeTimeout),
		badIf(s.Status != 0 && (s.Status < 100 || s.Status > 999), "%d is not an HTTP status", s.Status),
		badIf(noPattern != nil, "%q is not a regular expression", s.Body),
	)
	for name, value := range s.Headers {
		err = cmp.Or(err,
			badIf(!headerName.MatchString(name) || strings.ContainsAny(value, "\r\n\x00"),
				"%q is not a valid header", name),
			badIf(slices.Contains(secretHeaders, strings.ToLower(name)) && !strings.HasPrefix(value, "env:"),
				"the header %s is secret: name the environment variable that contains it, as env:NAME", name))
	}
	return cmp.Or(err, p.checkTarget())
}

// secretHeaders are headers whose values are not stored.
var secretHeaders = []string{"authorization", "cookie", "x-api-key"}

// checkTarget fails with [BadInput] if the URL, address, query or node in the settings does not fit the kind of
// the probe.
func (p *Probe) checkTarget() error {
	s := &p.Spec
	overHTTP := p.Kind == HTTPProbe || p.Kind == GraphQLProbe
	host, port, _ := net.SplitHostPort(s.Address) // both are empty after an error
	return cmp.Or(
		badIf(overHTTP && !IsWebURL(s.URL, true),
			"a probe of the kind %s needs a --url such as https://api.example.com/health", p.Kind),
		badIf(!overHTTP && (s.URL != "" || len(s.Headers) > 0 || s.Path != "" || s.Body != "" || s.Status != 0 ||
			s.TLSDays != 0), "a probe of the kind %s has no URL, headers, body or status", p.Kind),
		badIf((p.Kind == GraphQLProbe) != (strings.TrimSpace(s.Query) != ""),
			"a probe of the kind graphql needs a --query, and no other has one"),
		badIf((p.Kind == TCPProbe) != (s.Address != ""),
			"a probe of the kind tcp needs an --address such as api.example.com:443, and no other has one"),
		badIf((p.Kind == LagProbe || p.Kind == HeartbeatProbe) && s.BadMS == 0,
			"a probe of the kind %s needs --bad, the time after which it fails", p.Kind),
		badIf(p.Kind != NodeProbe && s.Node != 0, "only probes of the kind node have a node"),
		badIf(p.Kind == NodeProbe && s.Node < 0, "%d is not a node number", s.Node),
		badIf(p.Kind == TCPProbe && (host == "" || port == ""),
			"%q is not an address such as api.example.com:443", s.Address),
	)
}

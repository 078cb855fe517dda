package statusdemo

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/demo"
)

// Where the page is shown, and the zone of its days.
const (
	pageURL  = "http://localhost:8080"
	timeZone = "Europe/Lisbon"
)

type incidentKind struct {
	title, investigating, identified, monitoring string
	component                                    string
	state                                        status.ComponentStatus
}

func incidentKinds() []incidentKind {
	return []incidentKind{
		{
			"Queries over long time ranges are slow", "Lists over several months answer slower than usual.", "A statement lost its index.",
			"The index is used again; we are watching.", "rest", status.DegradedPerformance,
		},
		{
			"The importer is behind", "The newest block is more than a minute old.", "A large file held up the import.", "The importer has caught up.", "importer",
			status.DegradedPerformance,
		},
		{
			"A node does not answer", "The node at Gull Rock does not take transactions.", "Spray got into the cabinet.",
			"The cabinet is dry, and the node is back.", "node2", status.MajorOutage,
		},
		{"Errors in the graph", "Some queries end with an error.", "A deployment brought a bad limit.", "The limit is as it was.", "graphql", status.PartialOutage},
		{"The faucet is dry", "Nobody gets any coins.", "Its account was empty.", "It was filled up.", "faucet", status.MajorOutage},
		{
			"Fog on the line", "Transactions at the Fish Market take longer.", "The radio link suffers from fog.", "The fog has lifted.", "node4",
			status.DegradedPerformance,
		},
		{
			"The explorer shows old data", "Balances in the explorer are an hour old.", "A cache was not emptied.", "The cache was emptied.", "explorer",
			status.PartialOutage,
		},
	}
}

// builder builds the status page. It applies the steps in order of time, so that every state follows from the previous ones.
type builder struct {
	now, start, last time.Time
	components       []*status.Component
	byName           map[string]*status.Component
	notices          []*notice
	steps            []step
	changes          []*status.Change
	revision         int64
	err              error // the first step that could not be taken
}

func (s *builder) build() {
	s.addComponents()
	s.addIncidents()
	s.addMaintenances()
	s.addCurrent()
	s.applySteps()
}

func (s *builder) addComponents() {
	s.component("network", "", "Lantern Bay | Network Uptime (v0.70.0)", "Transactions reach consensus", nil)
	s.group("nodes", "Consensus nodes")
	for i := range demo.NodeCount {
		s.component(fmt.Sprint("node", i), "nodes", demo.NodeNames[i], fmt.Sprintf("Node %d, account 0.0.%d", i, demo.FirstNodeAccount+i),
			func(c *status.Component) { c.NodeID = ledger.Of(int64(i)) })
	}
	s.group("gateway", "Gateway")
	s.component("graphql", "gateway", "GraphQL", "Queries of the graph", nil)
	s.component("rest", "gateway", "Mirror Node REST API", "The paths below /api/v1", nil)
	s.component("importer", "gateway", "Importer", "Blocks on their way into the database", nil)
	s.group("town", "Around town")
	s.component("explorer", "town", "Explorer", "", nil)
	s.component("faucet", "town", "Faucet", "Coins for newcomers", func(c *status.Component) { c.OnlyShowIfDegraded = true })
	s.component("website", "", "Website", "lantern-bay.example", func(c *status.Component) { c.Showcase = false })
}

// addIncidents adds resolved incidents, one every three days.
func (s *builder) addIncidents() {
	const every, count = 3, 54
	all := incidentKinds()
	for i := range count {
		x := all[i%len(all)]
		begin := s.now.AddDate(0, 0, -every*(count-i)-4).Add(time.Duration(i*47%720) * time.Minute)
		n := s.incident(fmt.Sprint("incident ", i), x.title)
		pace := time.Duration(4+i*7%23) * time.Minute
		s.addStep(n, begin, status.Investigating, x.investigating, map[string]status.ComponentStatus{x.component: x.state})
		if i%4 != 3 {
			s.addStep(n, begin.Add(pace), status.Identified, x.identified, nil)
		}
		if i%5 == 2 {
			s.addStep(n, begin.Add(2*pace), status.Identified, "It gets better.", map[string]status.ComponentStatus{x.component: status.DegradedPerformance})
		}
		s.addStep(n, begin.Add(3*pace), status.Monitoring, x.monitoring, map[string]status.ComponentStatus{x.component: status.Operational})
		s.addStep(n, begin.Add(5*pace), status.Resolved, "All is well again.", nil)
		if i%9 == 4 {
			s.addStep(n, begin.AddDate(0, 0, 2), status.Postmortem, "What happened: "+x.identified+"<br />What we do about it: a check that notices it earlier.", nil)
		}
		if i%13 == 6 {
			n.ImpactOverride = ledger.Of(status.ImpactMinor)
		}
	}
}

// addMaintenances adds completed and scheduled maintenances: an upgrade per month, of which one was canceled.
func (s *builder) addMaintenances() {
	nodes := func(state status.ComponentStatus, which ...int) map[string]status.ComponentStatus {
		out := map[string]status.ComponentStatus{}
		for _, i := range which {
			out[fmt.Sprint("node", i)] = state
		}
		return out
	}
	for i := range 5 {
		from := s.now.AddDate(0, 0, -30*(5-i)+5).Truncate(time.Hour)
		n := s.maintenance(fmt.Sprint("upgrade ", i), fmt.Sprintf("Upgrade of the nodes to 0.%d", 65+i), from, 2*time.Hour)
		s.addStep(n, from.AddDate(0, 0, -6), status.Planned, "Nodes restart one after the other. Transactions may take longer.",
			nodes(status.Operational, 0, 1, 2, 3, 4, 5, 6))
		if i == 2 {
			s.addStep(n, from.AddDate(0, 0, -1), status.Completed, "This maintenance will not take place.", nil)
			continue
		}
		s.addStep(n, from.Add(11*time.Second), status.InProgress, "This maintenance has started.", nodes(status.UnderMaintenance, 0, 1, 2, 3, 4, 5, 6))
		s.addStep(n, from.Add(80*time.Minute), status.Verifying, "All nodes run the new version; we are checking them.", nil)
		s.addStep(n, from.Add(2*time.Hour+13*time.Second), status.Completed, "This maintenance is finished.", nil)
	}
	soon := s.now.Truncate(time.Hour).AddDate(0, 0, 1)
	n := s.maintenance("next", "New disks for the importer", soon, 45*time.Minute)
	s.addStep(n, s.now.AddDate(0, 0, -3).Add(-20*time.Minute), status.Planned, "The importer stops for a while. Reads go on.",
		map[string]status.ComponentStatus{"importer": status.Operational})
	n = s.maintenance("after next", "Upgrade of the nodes to 0.71", soon.AddDate(0, 0, 7), 2*time.Hour)
	s.addStep(n, s.now.AddDate(0, 0, -1).Add(-3*time.Hour), status.Planned, "Nodes restart one after the other. Transactions may take longer.",
		nodes(status.Operational, 0, 1, 2, 3, 4, 5, 6))
}

// addCurrent adds unresolved incidents and maintenances in every state.
func (s *builder) addCurrent() {
	ago := func(minutes int) time.Time { return s.now.Add(-time.Duration(minutes) * time.Minute) }

	running := s.maintenance("running", "Repairs at the Rope Walk", ago(25), time.Hour)
	s.addStep(running, s.now.AddDate(0, 0, -2), status.Planned, "The node at the Rope Walk gets a new roof.",
		map[string]status.ComponentStatus{"node6": status.Operational})
	s.addStep(running, ago(25).Add(9*time.Second), status.InProgress, "This maintenance has started.",
		map[string]status.ComponentStatus{"node6": status.UnderMaintenance})

	checked := s.maintenance("checked", "A new version of the website", ago(90), 2*time.Hour)
	s.addStep(checked, s.now.AddDate(0, 0, -4), status.Planned, "The website may be away for some minutes.",
		map[string]status.ComponentStatus{"website": status.Operational})
	s.addStep(checked, ago(90).Add(14*time.Second), status.InProgress, "This maintenance has started.",
		map[string]status.ComponentStatus{"website": status.UnderMaintenance})
	s.addStep(checked, ago(20), status.Verifying, "The new version is up; we are reading every page.", nil)

	watched := s.incident("watched", "Short outage of the explorer")
	s.addStep(watched, ago(75), status.Investigating, "The explorer does not open.", map[string]status.ComponentStatus{"explorer": status.MajorOutage})
	s.addStep(watched, ago(60), status.Identified, "A certificate has expired.", nil)
	s.addStep(watched, ago(41), status.Monitoring, "It has a new certificate.", map[string]status.ComponentStatus{"explorer": status.Operational})

	found := s.incident("found", "Transactions through Gull Rock are slow")
	s.addStep(found, ago(50), status.Investigating, "Transactions take twice as long there.",
		map[string]status.ComponentStatus{"node2": status.DegradedPerformance})
	s.addStep(found, ago(33), status.Identified, "Its link to the town is saturated. Other nodes are not affected.", nil)

	unknown := s.incident("unknown", "Reports of missing balances")
	s.addStep(unknown, ago(12), status.Investigating, "Two people say that balances are missing in answers. We are looking into it.", nil)

	draft := s.incident("draft", "Not yet told")
	draft.Draft = true
	s.addStep(draft, ago(5), status.Investigating, "This has not been published.", map[string]status.ComponentStatus{"faucet": status.PartialOutage})
}

// notice is an incident or a maintenance with its updates and components.
type notice struct {
	status.Notice
	attached []string // codes of components, in the order in which they came
	held     map[string]status.ComponentStatus
	reported []status.ComponentStatus
	updates  []*status.Update
	name     string // in the script
}

// step is an update of a notice.
type step struct {
	at       time.Time
	notice   *notice
	to       status.State
	body     string
	statuses map[string]status.ComponentStatus // by the name of the component in the script
	origin   status.Origin
}

// days is the age of the status page in days.
const days = 180

func newBuilder(now time.Time) *builder {
	return &builder{now: now, start: now.AddDate(0, 0, -days), byName: map[string]*status.Component{}}
}

// codeOf derives a code from a name.
func codeOf(name string) string {
	const alphabet = "0123456789bcdfghjklmnpqrstvwxyz"
	sum := sha256.Sum256([]byte("status page of Lantern Bay: " + name))
	code := make([]byte, 12)
	for i := range code {
		code[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(code)
}

// component adds a component or a group. group is the name of its group, or empty.
func (s *builder) component(name, group, label, description string, change func(*status.Component)) {
	c := &status.Component{
		Code: codeOf(name), PageCode: demo.StatusPage, Name: label, BaseStatus: status.Operational, Status: status.Operational, Showcase: true,
		Origin: status.FromOperator, Version: 1,
		CreatedAt: s.start.Add(time.Duration(len(s.components)) * time.Second), StartDate: ledger.Of(status.DateOf(s.start)),
	}
	c.UpdatedAt = c.CreatedAt
	if description != "" {
		c.Description = ledger.Of(description)
	}
	position := int32(1)
	for _, other := range s.components {
		if group == "" && !other.GroupCode.Valid || group != "" && other.GroupCode.V == s.byName[group].Code {
			position++
		}
	}
	c.Position = position
	if group != "" {
		c.GroupCode, c.GroupName = ledger.Of(s.byName[group].Code), s.byName[group].Name
	}
	if change != nil {
		change(c)
	}
	s.components, s.byName[name] = append(s.components, c), c
}

func (s *builder) group(name, label string) {
	s.component(name, "", label, "", func(c *status.Component) {
		c.IsGroup, c.BaseStatus, c.Status, c.Showcase, c.StartDate = true, "", "", false, ledger.Null[status.Date]{}
	})
}

// incident adds an incident without steps.
func (s *builder) incident(name, title string) *notice {
	n := &notice{name: name, held: map[string]status.ComponentStatus{}, Notice: status.Notice{
		Code: codeOf(name), PageCode: demo.StatusPage, Kind: status.Realtime, Name: title, NotifyAtStart: true, NotifyAtEnd: true, Origin: status.FromOperator,
	}}
	n.Shortlink = pageURL + "/incidents/" + n.Code
	s.notices = append(s.notices, n)
	return n
}

// maintenance adds a maintenance without steps.
func (s *builder) maintenance(name, title string, from time.Time, length time.Duration) *notice {
	n := s.incident(name, title)
	n.Kind, n.ScheduledFor, n.ScheduledUntil, n.RemindMinutes = status.Scheduled, ledger.Of(from), ledger.Of(from.Add(length)), ledger.Of(int32(60))
	n.AutoInProgress, n.AutoCompleted, n.AutoMaintenanceState, n.AutoOperationalState = true, true, true, true
	return n
}

// addStep adds a step to a notice.
func (s *builder) addStep(n *notice, at time.Time, to status.State, body string, gives map[string]status.ComponentStatus) {
	origin := status.FromOperator
	if n.Kind == status.Scheduled && (to == status.InProgress || to == status.Completed) {
		origin = status.FromSchedule
	}
	s.steps = append(s.steps, step{at: at, notice: n, to: to, body: body, statuses: gives, origin: origin})
}

// applySteps applies all steps in order of time.
func (s *builder) applySteps() {
	slices.SortStableFunc(s.steps, func(a, b step) int { return a.at.Compare(b.at) })
	for i := range s.steps {
		if s.err == nil {
			s.err = s.apply(&s.steps[i])
		}
	}
	s.last = s.steps[len(s.steps)-1].at
}

// apply applies a step: it adds the update and changes the components and the notice.
func (s *builder) apply(x *step) error {
	n := x.notice
	if err := status.CheckTransition(n.Kind, n.State, x.to); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	s.revision++
	n.Version++
	u := &status.Update{
		Code: codeOf(fmt.Sprint(n.name, " update ", len(n.updates))), NoticeCode: n.Code, State: x.to, Body: x.body, CreatedAt: x.at, UpdatedAt: x.at,
		DisplayAt: ledger.Of(x.at), DeliverNotifications: true, Origin: x.origin, Revision: ledger.Of(s.revision),
	}
	if n.State == status.NoState {
		n.CreatedAt, n.StartedAt = x.at, x.at.Add(-8*time.Millisecond)
	}
	n.State, n.UpdatedAt = x.to, x.at.Add(21*time.Millisecond)
	switch x.to {
	case status.Monitoring, status.Verifying:
		n.MonitoringAt = ledger.Of(x.at)
	case status.Resolved, status.Completed:
		n.ResolvedAt = ledger.Of(x.at)
	case status.Postmortem:
		u.DisplayAt = ledger.Null[time.Time]{}
	default: // the instants stay as they are
	}
	s.changeComponents(n, u, x)
	n.Impact = status.ImpactOf(n.Kind, n.ImpactOverride.V, n.reported...)
	n.updates = append(n.updates, u)
	return nil
}

// changeComponents sets the statuses of a step, and restores the components when its notice ends.
func (s *builder) changeComponents(n *notice, u *status.Update, x *step) {
	var touched []string
	for name := range x.statuses {
		touched = append(touched, name)
	}
	if !x.to.Open() && x.to != status.Postmortem {
		for name, c := range s.byName {
			if n.held[c.Code] != "" && x.statuses[name] == "" {
				touched = append(touched, name)
			}
		}
	}
	place := status.DisplayOrder(s.components)
	slices.SortFunc(touched, func(a, b string) int { return place(s.byName[a], s.byName[b]) })
	for _, name := range touched {
		c := s.byName[name]
		if !slices.Contains(n.attached, c.Code) {
			n.attached = append(n.attached, c.Code)
		}
		before := c.Status
		n.held[c.Code] = x.statuses[name]
		if x.statuses[name] == status.Operational || !x.to.Open() || n.Draft {
			n.held[c.Code] = ""
		}
		n.reported = append(n.reported, x.statuses[name])
		if !n.Draft {
			c.Status = s.statusOf(c)
		}
		after := c.Status
		if n.Draft { // a draft has no effect on components
			after = x.statuses[name]
		}
		u.Affected = append(u.Affected, &status.AffectedComponent{
			Ordinal: int32(len(u.Affected)), Code: c.Code, Name: c.QualifiedName(), OldStatus: before, NewStatus: after,
		})
		if before != c.Status {
			c.UpdatedAt = x.at
			s.changes = append(s.changes, &status.Change{
				ComponentCode: c.Code, At: x.at, OldStatus: before, NewStatus: c.Status, UpdateCode: ledger.Of(u.Code), Origin: x.origin, Revision: u.Revision,
			})
		}
	}
}

func (s *builder) statusOf(c *status.Component) status.ComponentStatus {
	var held []status.ComponentStatus
	for _, n := range s.notices {
		if !n.Draft {
			held = append(held, n.held[c.Code])
		}
	}
	return status.EffectiveStatus(c.BaseStatus, held...)
}

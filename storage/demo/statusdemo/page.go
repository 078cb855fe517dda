package statusdemo

import (
	"fmt"
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

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

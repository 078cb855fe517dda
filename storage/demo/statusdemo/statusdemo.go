// Package statusdemo writes the status page of the demo network into a database.
package statusdemo

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/base/list"
	"heliograph/internal/base/wrap"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/demo"
	"heliograph/storage/statuspages"
)

// ErrNotDemo is returned if the database has other status pages than that of the demo network.
var ErrNotDemo = errors.New(
	"the status database holds pages other than that of the demo network; use an empty database")

// Load writes the status page of the demo network into a database with the status tables, in one transaction, in
// which it locks the pages against other writes. The same time gives the same rows. It does nothing if there are
// status pages. With again, it replaces the page of the demo network, and returns [ErrNotDemo] and changes nothing if
// there are other pages.
func Load(ctx context.Context, conn *pgx.Conn, now time.Time, again bool) error {
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `lock table status.page in share row exclusive mode`); err != nil {
			return fmt.Errorf("locking the status pages: %w", err)
		}
		replaced := ""
		if again {
			replaced = demo.StatusPage
		}
		var others bool
		err := tx.QueryRow(ctx, `select exists (select from status.page where id <> $1)`, replaced).Scan(&others)
		switch {
		case err != nil:
			return fmt.Errorf("checking for status pages: %w", err)
		case others && again:
			return ErrNotDemo
		case others:
			return nil
		}
		s, err := build(now.UTC().Truncate(time.Second))
		if err != nil {
			return fmt.Errorf("build the demo status page: %w", err)
		}
		return wrap.Error(tx.SendBatch(ctx, s.batch()).Close(), "writing the demo status page")
	})
}

// builder builds the status page. It applies the updates in order of time with the rules that apply to editors.
type builder struct {
	*status.WorkingCopy
	now     time.Time
	start   time.Time
	codes   map[string]string // of components, by name
	notices []*notice
	updates []*update
	changes []*status.Change
}

// batch returns the statements that replace the demo page in the database by s and notify gateways. It runs none of
// them. s is a result of [build].
func (s *builder) batch() *pgx.Batch {
	b := &statuspages.Batch{}
	b.Queue(`delete from status.page where id = $1`, s.Page.Code)
	b.Queue(`insert into status.page (id, slug, name, url, is_default, time_zone, revision, created_at, updated_at)
values ($1, $2, $3, $4, true, $5, $6, $7, $8)`,
		s.Page.Code, s.Page.Slug, s.Page.Name, s.Page.URL, s.Page.TimeZone, len(s.updates), s.start, s.At)
	for _, groups := range []bool{true, false} { // components refer to their groups
		for _, c := range s.Components {
			if c.IsGroup == groups {
				b.InsertComponent(c)
			}
		}
	}
	for _, n := range s.notices {
		b.WriteNotice(n.state.Notice)
		for _, a := range n.state.Attachments {
			b.Attach(demo.StatusPage, a)
		}
		for _, u := range n.state.Updates {
			b.WriteUpdate(u)
		}
	}
	for _, c := range s.changes {
		b.Queue(`insert into status.component_change (component_id, changed_at, old_status, new_status, update_id, origin, revision)
values ($1, $2, $3, $4, $5, $6, $7)`,
			c.ComponentCode, c.At, ledger.NonZero(c.OldStatus).Pointer(), c.NewStatus, c.UpdateCode.Pointer(),
			c.Origin, c.Revision.Pointer())
	}
	for i, u := range s.updates { // each of them was a write
		b.Queue(`insert into status.revision (page_id, revision, at) values ($1, $2, $3)`, demo.StatusPage, i+1,
			s.now.Add(time.Duration(u.At)))
	}
	b.Queue(`select pg_notify('status_page', $1 || ':' || $2::bigint)`, demo.StatusPage, len(s.updates))
	return &b.Batch
}

// days is the age of the status page in days.
const days = 180

// offset is a time as its distance to the time at which the page is loaded.
type offset time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler]: it sets o to a duration such as "-1h30m", relative to the time
// of the load. It fails for other text.
func (o *offset) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("time of the script: %w", err)
	}
	*o = offset(d)
	return nil
}

// notice is an incident, or a maintenance if it has a length.
type notice struct {
	Name          string // from which its code is derived
	Title         string
	Start, Length offset
	Draft         bool
	WholeHour     bool // rounds Start down to the hour
	Updates       []*update
	impact        ledger.Null[status.Impact]
	state         status.NoticeState
}

// update is an update of a notice. It sets all its components to one status.
type update struct {
	At         offset
	State      status.State
	Body       string
	Components []string // keys
	Status     status.ComponentStatus
	notice     *notice
}

// add appends an update to n with state s and a text, which sets components, by their keys, to a status. Without
// components, the status is empty. at is relative to the time of the load.
func (n *notice) add(at offset, s status.State, body string, to status.ComponentStatus, components ...string) {
	n.Updates = append(n.Updates, &update{At: at, State: s, Body: body, Components: components, Status: to})
}

//go:embed page.json
var pageJSON []byte

// script is page.json.
type script struct {
	// Components are the components and groups. Group is a key.
	Components []struct {
		status.NewComponent

		Key string
	}
	// Recurring are incidents that happened several times.
	Recurring []struct {
		Title, Investigating, Identified, Monitoring, Component string
		Status                                                  status.ComponentStatus
	}
	// Current are maintenances that have not started, and notices in every state that is not over.
	Current []*notice
}

// build returns the page with a history of incidents until now, which page.json and the rules of package status
// determine. It writes to no database. It fails if page.json is invalid or the rules reject a component or an update.
func build(now time.Time) (*builder, error) {
	page := &status.Page{
		Code: demo.StatusPage, Slug: "lantern-bay", Name: "Lantern Bay", URL: "http://localhost:8080",
		TimeZone: "Europe/Lisbon",
	}
	s := &builder{
		WorkingCopy: status.NewWorkingCopy(page, nil, nil), now: now, start: now.AddDate(0, 0, -days),
		codes: map[string]string{},
	}
	var all script
	err := json.Unmarshal(pageJSON, &all)
	if err != nil {
		return nil, fmt.Errorf("page.json: %w", err)
	}
	err = s.addComponents(&all)
	if err != nil {
		return nil, err
	}
	s.addIncidents(&all)
	s.addUpgrades()
	s.notices = append(s.notices, all.Current...)
	for _, n := range s.notices {
		for _, u := range n.Updates {
			u.notice = n
			s.updates = append(s.updates, u)
		}
	}
	slices.SortStableFunc(s.updates, func(a, b *update) int { return cmp.Compare(a.At, b.At) })
	for i, u := range s.updates {
		if err := s.apply(u, int64(i+1)); err != nil {
			return nil, fmt.Errorf("%s: %w", u.notice.Name, err)
		}
	}
	return s, nil
}

// codeOf derives the code of an object from its name, so that each load gives the same codes.
func codeOf(name string) string {
	const alphabet = "0123456789bcdfghjklmnpqrstvwxyz"
	sum := sha256.Sum256([]byte("status page of Lantern Bay: " + name))
	code := make([]byte, 12)
	for i := range code {
		code[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(code)
}

// addComponents adds the components and their groups to the working copy in s, with fixed codes. It records the codes
// by key in s.codes, replaces the working copy, and writes to no database. A component whose group does not come
// before it gets no group. It fails if the rules of package status reject a component.
func (s *builder) addComponents(all *script) error {
	s.Origin = status.FromOperator
	for i, in := range all.Components {
		s.At = s.start.Add(time.Duration(i) * time.Second)
		in.Group = s.codes[in.Group]
		c, _, err := s.AddComponent(in.NewComponent)
		if err != nil {
			return fmt.Errorf("component %s: %w", in.Key, err)
		}
		c.Code, c.PageCode, c.Version, c.CreatedAt, c.UpdatedAt = codeOf(in.Key), s.Page.Code, 1, s.At, s.At
		s.codes[in.Key] = c.Code
		s.Components = append(s.Components, c)
	}
	s.WorkingCopy = status.NewWorkingCopy(s.Page, s.Components, nil) // computes their statuses
	return nil
}

// addIncidents adds 54 resolved incidents from a script to s.notices, one every three days until a week ago. They take
// the recurring incidents in turn, and differ in their times and updates by their number. The script must have at
// least one. It writes nothing to a database.
func (s *builder) addIncidents(all *script) {
	const day, every, count = 24 * time.Hour, 3, 54
	for i := range count {
		x := all.Recurring[i%len(all.Recurring)]
		n := &notice{Name: fmt.Sprint("incident ", i), Title: x.Title}
		begin := offset(-(every*(count-time.Duration(i))+4)*day + time.Duration(i*47%720)*time.Minute)
		pace := offset(time.Duration(4+i*7%23) * time.Minute)
		n.add(begin, status.Investigating, x.Investigating, x.Status, x.Component)
		if i%4 != 3 {
			n.add(begin+pace, status.Identified, x.Identified, "")
		}
		if i%5 == 2 {
			n.add(begin+2*pace, status.Identified, "It gets better.", status.DegradedPerformance, x.Component)
		}
		n.add(begin+3*pace, status.Monitoring, x.Monitoring, status.Operational, x.Component)
		n.add(begin+5*pace, status.Resolved, "All is well again.", "")
		if i%9 == 4 {
			n.add(begin+offset(2*day), status.Postmortem, "What happened: "+x.Identified+
				"<br />What we do about it: a check that notices it earlier.", "")
		}
		if i%13 == 6 {
			n.impact = ledger.Of(status.ImpactMinor)
		}
		s.notices = append(s.notices, n)
	}
}

// addUpgrades adds maintenances of all nodes to s.notices, one per month, of which one was canceled.
func (s *builder) addUpgrades() {
	var nodes []string
	for i := range demo.NodeCount {
		nodes = append(nodes, fmt.Sprint("node", i))
	}
	for i := range 5 {
		from := offset(s.now.AddDate(0, 0, -30*(5-i)+5).Truncate(time.Hour).Sub(s.now))
		n := &notice{
			Name: fmt.Sprint("upgrade ", i), Title: fmt.Sprintf("Upgrade of the nodes to 0.%d", 65+i),
			Start: from, Length: offset(2 * time.Hour),
		}
		n.add(from-offset(6*24*time.Hour), status.Planned,
			"Nodes restart one after the other. Transactions may take longer.", status.Operational, nodes...)
		if i == 2 {
			n.add(from-offset(24*time.Hour), status.Completed, "This maintenance will not take place.", "")
		} else {
			n.add(from+offset(11*time.Second), status.InProgress, "This maintenance has started.",
				status.UnderMaintenance, nodes...)
			n.add(from+offset(80*time.Minute), status.Verifying,
				"All nodes run the new version; we are checking them.", "")
			n.add(from+offset(2*time.Hour+13*time.Second), status.Completed, "This maintenance is finished.", "")
		}
		s.notices = append(s.notices, n)
	}
}

// apply applies an update to the working copy in s with the time and codes of the script, and collects what has to be
// written in s.changes and in the state of its notice. It writes to no database. revision is that of the page. It
// fails if the rules of package status reject the update.
func (s *builder) apply(u *update, revision int64) error {
	n := u.notice
	s.At, s.Origin = s.now.Add(time.Duration(u.At)), status.FromOperator
	if u.State == status.InProgress || u.State == status.Completed {
		s.Origin = status.FromSchedule
	}
	names := []string{n.Name} // the rules first take the code of the notice, then that of the update
	if n.state.Notice != nil {
		names = nil
	}
	names = append(names, fmt.Sprint(n.Name, " update ", len(n.state.Updates)))
	s.NewCode = func() string {
		code := codeOf(names[0])
		names = names[1:]
		return code
	}
	effect, err := s.write(u)
	if err != nil {
		return err
	}
	for _, added := range effect.Updates {
		added.Revision = ledger.Of(revision)
	}
	for _, c := range effect.Changes {
		c.Revision = ledger.Of(revision)
		s.Component(c.ComponentCode).UpdatedAt = s.At
	}
	s.changes = append(s.changes, effect.Changes...)
	n.state = status.NoticeState{
		Notice: effect.Notice, Attachments: effect.Attachments,
		Updates: append(n.state.Updates, effect.Updates...),
	}
	return nil
}

// write applies an update of the history to the working copy through the domain, and returns what has to be
// written. The first one opens the incident or schedules the maintenance. It writes to no database.
func (s *builder) write(u *update) (*status.Effect, error) {
	n := u.notice
	codes := list.Map(u.Components, func(name string) string { return s.codes[name] })
	affected := list.Map(codes, func(code string) status.Assignment {
		return status.Assignment{Component: code, Status: u.Status}
	})
	switch {
	case n.state.Notice != nil:
		return s.UpdateIncident(n.state, status.NewUpdate{State: u.State, Body: u.Body, Affected: affected})
	case n.Length > 0:
		start := s.now.Add(time.Duration(n.Start))
		if n.WholeHour {
			start = start.Truncate(time.Hour)
		}
		return s.ScheduleMaintenance(status.NewMaintenance{
			Name: n.Title, Body: u.Body, Components: codes, Start: start, End: start.Add(time.Duration(n.Length)),
			RemindMinutes:  ledger.Of(int32(60)),
			AutoInProgress: true, AutoCompleted: true, AutoMaintenanceState: true, AutoOperationalState: true,
		})
	default:
		return s.OpenIncident(status.NewIncident{
			Name: n.Title, Body: u.Body, State: u.State, Affected: affected,
			Draft: n.Draft, ImpactOverride: n.impact,
		})
	}
}

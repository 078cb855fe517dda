package status

import (
	"strconv"
	"strings"
	"time"

	"heliograph/internal/domain/ledger"
)

// Limits of what probes publish.
const (
	// ProbeHoldOff is how long all probes of an incident must pass before it is resolved. A failure within that time
	// after the end reopens it.
	ProbeHoldOff = 10 * time.Minute
	// ProbeJoin is the period within which failing components share an incident.
	ProbeJoin = 2 * time.Minute
	// maxProbeIncidents is the maximum number of incidents that probes publish per hour and page. Further ones are
	// drafts.
	maxProbeIncidents = 3
	// minRemoteProbes is the number of remote probes from which it is assumed that the gateway's own network is down
	// if all of them fail at once.
	minRemoteProbes = 3
)

// The actions of probes, as the audit log names them.
const (
	ProbeNote     = "probe.note"     // nothing is published: editors have taken over
	ProbeDraft    = "probe.draft"    // a draft for editors
	ProbeWithdraw = "probe.withdraw" // removes a draft when its probes pass again
	ProbeOpen     = "probe.open"
	ProbeReopen   = "probe.reopen"
	ProbeJoined   = "probe.join"
	ProbeUpdate   = "probe.update"
	ProbeRecover  = "probe.recover"
	ProbeResolve  = "probe.resolve"
	ProbeSet      = "probe.set" // changes the base status of the component
)

// ProbeFacts is what [WorkingCopy.ApplyProbe] decides on.
type ProbeFacts struct {
	// Probe is the probe, whose level differs from the applied one.
	Probe *Probe
	// Incident is the last incident of the probe; the notice is nil if there is none, or if it was deleted.
	Incident NoticeState
	// Edited reports whether an editor has changed the incident since a probe last did.
	Edited bool
	// Joinable are the newest published incident and the newest draft that probes opened within [ProbeJoin] and no
	// editor has changed. Their notices are nil if there are none.
	Joinable, JoinableDraft NoticeState
	// Others are the other enabled probes of the page that have an incident and an applied level other than [Good].
	Others []*Probe
	// PublishedLastHour is the number of incidents that probes published within the last hour. Remotes and
	// FailingRemotes count the enabled probes that are remote, and those of them whose last result failed.
	PublishedLastHour, Remotes, FailingRemotes int
}

// ProbeOutcome is what a probe does to its page.
type ProbeOutcome struct {
	Action string // as the audit log names it
	// Object is the code of the notice or component that is written, or that is the reason why nothing is.
	Object string
	// Unchanged reports whether the page stays as it is.
	Unchanged bool
	// Effect is what happens to a notice, or nil.
	Effect *Effect
	// Withdraw is the code of a draft that is deleted, or "". If Effect is not nil, it replaces the draft.
	Withdraw string
	// Component is the component whose base status changes, with the resulting Changes, or nil.
	Component *Component
	Changes   []*Change
	// Incident and Set are the probe's incident and the status that it set, afterwards.
	Incident string
	Set      ComponentStatus
}

// Draft reports whether the outcome opens, changes or withdraws a draft, so that readers see nothing.
func (o *ProbeOutcome) Draft() bool {
	return o.Withdraw != "" || o.Effect != nil && o.Effect.Notice.Draft
}

// probeRun is the application of a probe's result.
type probeRun struct {
	*WorkingCopy
	ProbeFacts
	component *Component
	status    ComponentStatus // of the component, according to the probe and the others of the component
	out       ProbeOutcome
}

// ApplyProbe decides what a change of a probe's level does to the page, and applies it to the working copy. Settings
// of the probe and the page choose between an incident, a draft and the base status of the component. Probes do not
// change what editors have changed. It returns nil without an error if the component does not exist. f is only read.
// It fails as updates of incidents do; then the working copy must not be used.
func (w *WorkingCopy) ApplyProbe(f ProbeFacts) (*ProbeOutcome, error) {
	p := f.Probe
	r := &probeRun{WorkingCopy: w, ProbeFacts: f, component: w.Component(p.Component), status: p.StatusAt(p.Level)}
	if r.component == nil {
		return nil, nil //nolint:nilnil // nothing to do
	}
	r.out.Incident, r.out.Set = p.Incident, p.Set
	if err := r.apply(); err != nil {
		return nil, err
	}
	return &r.out, nil
}

// apply decides what the changed level of a probe does, and does it on the working copy: change an incident or a
// draft, open one, change the component only, or nothing. The result is in r.out, which must not be used after an
// error.
func (r *probeRun) apply() error {
	n := r.Incident.Notice
	open := n != nil && n.State.Open()
	if open && (r.Edited || !n.Draft && !r.Page.AutoPublish) {
		return r.leave(n.Code)
	}
	if r.Probe.Level == Good {
		return r.recover(open)
	}
	publish := r.publish()
	switch {
	case open && n.Draft:
		return r.redraft(n.Code)
	case open:
		return r.update(r.Incident, ProbeUpdate, Investigating, ProbeFailed)
	case publish == PublishComponent:
		return r.setStatus(r.status)
	case publish == PublishDraft && r.JoinableDraft.Notice != nil:
		return r.redraft(r.JoinableDraft.Notice.Code)
	case publish == PublishDraft:
		return r.open(ProbeDraft, []Assignment{{r.component.Code, r.status}})
	case r.mayReopen():
		return r.update(r.Incident, ProbeReopen, Investigating, ProbeFailed)
	case r.Joinable.Notice != nil:
		state := r.Joinable.Notice.State
		if state == Monitoring {
			state = Investigating
		}
		return r.update(r.Joinable, ProbeJoined, state, ProbeFailed)
	default:
		return r.open(ProbeOpen, []Assignment{{r.component.Code, r.status}})
	}
}

// leave records in r.out that the page does not change, and returns nil. object is what editors have changed, if any,
// for the audit log.
func (r *probeRun) leave(object string) error {
	r.out.Action, r.out.Object, r.out.Unchanged = ProbeNote, object, true
	return nil
}

// publish returns how a failure of the probe is published. It is a draft if the page does not publish automatically,
// if probes have published many incidents recently and the failure does not reopen one, or if the probe is remote and
// all remote probes fail at once.
func (r *probeRun) publish() Publish {
	switch {
	case !r.Page.AutoPublish,
		r.Probe.Kind.Remote() && r.Remotes >= minRemoteProbes && r.FailingRemotes == r.Remotes,
		r.Probe.Publish == PublishPublic && r.PublishedLastHour >= maxProbeIncidents && !r.mayReopen():
		return PublishDraft
	default:
		return r.Probe.Publish
	}
}

// mayReopen reports whether the last incident of the probe ended so recently that a failure reopens it. A draft, and
// an incident that an editor has changed, are not reopened.
func (r *probeRun) mayReopen() bool {
	n := r.Incident.Notice
	return n != nil && !n.Draft && !r.Edited && n.State == Resolved && r.At.Sub(n.ResolvedAt.V) < ProbeHoldOff
}

// open opens an incident on the working copy, or a draft if action is [ProbeDraft], with the first update, and records
// it in r.out. After an error, r.out must not be used.
func (r *probeRun) open(action string, affected []Assignment) error {
	n, err := r.newNotice(Realtime, r.name(len(affected)))
	if err != nil {
		return err
	}
	n.Draft, n.ProbeID = action == ProbeDraft, ledger.Of(r.Probe.ID)
	r.out.Effect, err = r.addUpdate(NoticeState{Notice: n},
		update{NewUpdate: NewUpdate{State: Investigating, Body: r.text(ProbeFailed), Affected: affected}})
	r.out.Action, r.out.Object, r.out.Incident = action, n.Code, n.Code
	return err
}

// name returns the English name of an incident of the given number of components.
func (r *probeRun) name(components int) string {
	if components > 1 {
		return "Problems with " + strconv.Itoa(components) + " components"
	}
	return "Problems with " + r.component.QualifiedName()
}

// text returns the page's text for an event, with the reason of the failure in place of the placeholder.
func (r *probeRun) text(e Event) string {
	return strings.ReplaceAll(r.Page.Text(e), reasonPlaceholder, r.Probe.reason())
}

// redraft replaces the draft with the code old by one with the current results, since drafts have no updates. The new
// one has the components of the other probes of the old one, and that of this probe while it or one of them does not
// find it operational. Without components there is no new one. It does not delete the old draft: r.out.Withdraw tells
// the caller to.
func (r *probeRun) redraft(old string) error {
	affected := r.others(old)
	if r.Probe.Level != Good || r.status != Operational {
		affected = append(affected, Assignment{r.component.Code, r.status})
	}
	r.out.Withdraw = old
	if len(affected) == 0 {
		r.out.Action, r.out.Object = ProbeWithdraw, old
		return nil
	}
	return r.open(ProbeDraft, affected)
}

// others returns the statuses that the other probes of an incident give to components. Those of the probe's own
// component are not in the result: they make r.status worse, which stays so.
func (r *probeRun) others(incident string) []Assignment {
	index := map[string]int{}
	var out []Assignment
	for _, p := range r.Others {
		if p.Incident != incident {
			continue
		}
		s := p.StatusAt(p.Applied)
		if p.Component == r.component.Code {
			r.status = Worst(r.status, s)
			continue
		}
		i, known := index[p.Component]
		if !known {
			index[p.Component] = len(out)
			out = append(out, Assignment{p.Component, s})
			continue
		}
		out[i].Status = Worst(out[i].Status, s)
	}
	return out
}

// update adds an update in a state to a published incident on the working copy, with the status of the component and
// the text of the page for an event. action is for the audit log. It reopens the incident if it is resolved. If the
// probe joins the incident, it also renames it for all its components. The result is in r.out, which must not be used
// after an error.
func (r *probeRun) update(s NoticeState, action string, state State, text Event) error {
	r.others(s.Notice.Code) // those of the same component
	e, err := r.addUpdate(s, update{
		NewUpdate: NewUpdate{State: state, Body: r.text(text), Affected: []Assignment{{r.component.Code, r.status}}},
		reopen:    !s.Notice.State.Open(),
	})
	if err == nil && action == ProbeJoined { // no editor has changed it
		e.Notice.Name = r.name(len(e.Attachments))
	}
	r.out.Action, r.out.Object, r.out.Incident, r.out.Effect = action, s.Notice.Code, s.Notice.Code, e
	return err
}

// recover changes the working copy after the probe passes again. It takes back the base status that the probe set, or
// redrafts a draft, or updates the incident, which becomes monitoring once all its probes pass. It leaves the page if
// an editor has changed that status, or if the probe has neither set a status nor an open incident, which open
// reports.
func (r *probeRun) recover(open bool) error {
	switch n := r.Incident.Notice; {
	case r.Probe.Set != "" && r.component.BaseStatus != r.Probe.Set: // an editor has changed it
		return r.leave(r.component.Code)
	case r.Probe.Set != "":
		return r.setStatus(Operational)
	case !open:
		return r.leave("")
	case n.Draft:
		return r.redraft(n.Code)
	case len(r.others(n.Code)) > 0 || r.status != Operational:
		return r.update(r.Incident, ProbeRecover, n.State, ProbePassed)
	default:
		return r.update(r.Incident, ProbeRecover, Monitoring, ProbePassed)
	}
}

// setStatus sets the base status of the component in the working copy, unless an editor has set one that is at least
// as bad, and records the result in r.out. The error is always nil.
func (r *probeRun) setStatus(s ComponentStatus) error {
	if s != Operational && !s.WorseThan(r.component.BaseStatus) && r.Probe.Set == "" { // an editor has set it already
		return r.leave(r.component.Code)
	}
	r.out.Changes = r.setBase(r.component, s)
	r.out.Action, r.out.Object, r.out.Component = ProbeSet, r.component.Code, r.component
	if r.out.Set = s; s == Operational {
		r.out.Set = ""
	}
	return nil
}

// ResolveProbed returns what is written to resolve an incident of probes, and changes the working copy. The caller
// checks that the probes have passed for [ProbeHoldOff]. An incident with a postmortem fails with a
// [*TransitionError], and a blank text of the page with [BadInput]. s does not change.
func (w *WorkingCopy) ResolveProbed(s NoticeState) (*Effect, error) {
	return w.addUpdate(s, textUpdate(Resolved, w.Page.Text(IncidentResolved), ledger.Null[bool]{}))
}

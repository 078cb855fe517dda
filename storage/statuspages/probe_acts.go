package statuspages

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
)

// ProbeAct is what a probe has done about what it found.
type ProbeAct struct {
	Probe  *status.Probe
	Action string // as in the audit, such as probe.open; probe.note where it was left to people
	Object string // code of the notice or the component
	Draft  bool
}

// What probes do, as the audit has it.
const (
	probeNote     = "probe.note"     // nothing that readers see: people have taken over
	probeDraft    = "probe.draft"    // an incident that an editor publishes or discards
	probeWithdraw = "probe.withdraw" // the draft, since all is well again
	probeOpen     = "probe.open"
	probeReopen   = "probe.reopen"
	probeJoin     = "probe.join"
	probeUpdate   = "probe.update"
	probeRecover  = "probe.recover"
	probeResolve  = "probe.resolve"
	probeSet      = "probe.set" // the state of the component alone
)

// errLeft undoes a write in which a probe leaves its page as it is, and has nothing more to do.
var errLeft = errors.New("the page is left as it is")

// probeAuthor is a probe as the audit names it.
func probeAuthor(p *status.Probe) Author {
	return Author{Name: "probe " + strconv.FormatInt(p.ID, 10), Origin: status.FromProbe}
}

// ActOnProbe tells the page what a probe has found, as its settings say: as an incident, as a draft, or as the state of the component alone. Each is one write, done
// once however many gateways call this. It returns nil where there is nothing to do: another one did it, or a maintenance goes on, during which probes wait.
func (e *Editor) ActOnProbe(ctx context.Context, id int64) (*ProbeAct, error) {
	p, err := e.db.Probe(ctx, id)
	if err != nil || p == nil {
		return nil, explainWrite(err)
	}
	act := &ProbeAct{Probe: p}
	done, left := false, false
	_, err = e.edit(ctx, action{by: probeAuthor(p), name: probeNote, page: p.PageCode}, func(ctx context.Context, w *writing) error {
		a := &acting{writing: w}
		if err := a.begin(ctx, id); err != nil {
			return err
		}
		if a.probe == nil {
			return ErrUnchanged
		}
		act.Probe = a.probe
		err := a.act(ctx)
		act.Action, act.Object, act.Draft = w.action.name, w.object, a.draft
		if errors.Is(err, errLeft) {
			left = true
			return ErrUnchanged
		}
		if err != nil {
			return err
		}
		done = true
		return a.end(ctx)
	})
	switch {
	case err != nil:
		return nil, err
	case left:
		return act, e.leave(ctx, act)
	case !done:
		return nil, nil //nolint:nilnil // there was nothing to do
	}
	return act, nil
}

// leave notes that a probe has left its page as it is. Readers see nothing of it.
func (e *Editor) leave(ctx context.Context, act *ProbeAct) error {
	p := act.Probe
	err := pgx.BeginFunc(ctx, e.db.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `update status.probe set acted = $2 where id = $1 and acted = $3`, p.ID, string(p.Level), string(p.Acted))
		if err != nil {
			return fmt.Errorf("marking the probe: %w", err)
		}
		if tag.RowsAffected() == 0 || act.Action != probeNote || act.Object == "" {
			return nil
		}
		_, err = tx.Exec(ctx, `insert into status.audit (at, page_id, actor, action, object_id, after) values ($1, $2, $3, $4, $5, jsonb_build_object('component', $6::text, 'level', $7::text))`,
			e.now(), p.PageCode, probeAuthor(p).Name, probeNote, act.Object, p.Component, string(p.Level))
		if err != nil {
			return fmt.Errorf("adding to the audit: %w", err)
		}
		return nil
	})
	if err != nil {
		return explainWrite(fmt.Errorf("noting what a probe found: %w", err))
	}
	return nil
}

// acting is a probe's write while it goes on.
type acting struct {
	*writing
	probe     *status.Probe
	component *status.Component
	board     *status.Board
	says      status.ComponentStatus
	incident  *status.Notice // the last one, nil where there is none
	attached  []*status.Attachment
	touched   bool // people have written to it
	draft     bool // what is written is one
}

// begin locks the probe and reads what it works on. The probe is nil afterwards where there is nothing to do, or not now.
func (a *acting) begin(ctx context.Context, id int64) error {
	if _, err := a.Exec(ctx, `select from status.probe where id = $1 for update`, id); err != nil {
		return fmt.Errorf("locking the probe: %w", err)
	}
	p, err := a.editor.db.Probe(ctx, id)
	if err != nil || p == nil || !p.Enabled || p.Level == p.Acted || a.Page.Mode == status.Mirror {
		return err
	}
	if a.board, err = a.writing.board(ctx); err != nil {
		return err
	}
	if a.component = a.board.Component(p.Component); a.component == nil {
		return nil
	}
	var working bool
	if err := a.QueryRow(ctx, `select exists (select from status.incident_component h join status.incident n on n.id = h.incident_id
where h.component_id = $1 and n.state in ('in_progress', 'verifying') and n.deleted_at is null and not n.draft)`, p.Component).Scan(&working); err != nil {
		return fmt.Errorf("looking for maintenances: %w", err)
	}
	if working {
		return nil
	}
	if p.Incident != "" {
		n, attached, err := a.notice(ctx, "incident", p.Incident)
		var refusal *status.Refusal
		if err != nil && !errors.As(err, &refusal) { // which says that it was deleted
			return err
		}
		if n != nil {
			a.incident, a.attached = n, attached
			if a.touched, err = a.taken(ctx, n); err != nil {
				return err
			}
		}
	}
	a.object, a.table, a.before = "", "", nil
	a.probe, a.says = p, p.Says(p.Level)
	return nil
}

// taken tells whether people have written to an incident that probes opened.
func (a *acting) taken(ctx context.Context, n *status.Notice) (bool, error) {
	var taken bool
	if err := a.QueryRow(ctx, `select probe_version is distinct from version from status.incident where id = $1`, n.Code).Scan(&taken); err != nil {
		return false, fmt.Errorf("looking whether people have written to an incident: %w", err)
	}
	return taken, nil
}

// act does what has to be done.
func (a *acting) act(ctx context.Context) error {
	open := a.incident != nil && a.incident.State.Open()
	if open && (a.touched || !a.incident.Draft && !a.Page.AutoPublish) {
		a.action.name, a.object = probeNote, a.incident.Code
		return errLeft
	}
	if a.probe.Level == status.Good {
		return a.recover(ctx, open)
	}
	publish, err := a.publish(ctx)
	if err != nil {
		return err
	}
	switch {
	case open && a.incident.Draft:
		return a.redraft(ctx, a.incident)
	case open:
		return a.tell(ctx, a.incident, probeUpdate, status.Investigating, status.ProbeFailed)
	case publish == status.PublishComponent:
		return a.set(ctx, a.says)
	case publish == status.PublishDraft:
		return a.openDraft(ctx)
	default:
		return a.open(ctx)
	}
}

// publish is what becomes of a failure. It is a draft where the page does not publish by itself, where the probe has published a lot lately, and where all remote
// probes fail at once.
func (a *acting) publish(ctx context.Context) (status.Publish, error) {
	if !a.Page.AutoPublish || a.probe.Publish == status.PublishDraft {
		return status.PublishDraft, nil
	}
	var opened, remotes, failing int
	err := a.QueryRow(ctx, `select (select count(*) from status.incident where page_id = $1 and origin = 'probe' and not draft and created_at > $2),
  count(*) filter (where p.kind in ('http', 'graphql', 'tcp')), count(*) filter (where p.kind in ('http', 'graphql', 'tcp') and (p.level = 'bad' or p.streak > 0 and p.toward = 'bad'))
from status.probe p join status.component c on c.id = p.component_id and c.deleted_at is null where c.page_id = $1 and p.enabled`, a.Page.Code, a.At.Add(-time.Hour)).Scan(&opened, &remotes, &failing)
	switch {
	case err != nil:
		return "", fmt.Errorf("counting what probes have published: %w", err)
	case a.probe.Kind.Remote() && remotes >= status.ProbeRemotes && failing == remotes:
		return status.PublishDraft, nil
	case a.probe.Publish == status.PublishPublic && opened >= status.ProbeIncident && !a.mayReopen():
		return status.PublishDraft, nil
	}
	return a.probe.Publish, nil
}

// mayReopen tells whether the last incident of the probe was over so lately that a new failure opens it again.
func (a *acting) mayReopen() bool {
	n := a.incident
	return n != nil && !n.Draft && !a.touched && n.State == status.Resolved && a.At.Sub(n.ResolvedAt.V) < status.ProbeHoldOff
}

// open publishes an incident, opens the last one again, or joins one that has just begun.
func (a *acting) open(ctx context.Context) error {
	if a.mayReopen() {
		return a.tell(ctx, a.incident, probeReopen, status.Investigating, status.ProbeFailed)
	}
	other, err := a.justBegun(ctx, false)
	if err != nil {
		return err
	}
	if other != nil {
		return a.tell(ctx, other, probeJoin, other.State, status.ProbeFailed)
	}
	a.action.name = probeOpen
	return a.begins(ctx, []status.Setting{{Component: a.component.Code, Status: a.says}})
}

// openDraft makes a draft, or adds to one that has just been made.
func (a *acting) openDraft(ctx context.Context) error {
	other, err := a.justBegun(ctx, true)
	if err != nil {
		return err
	}
	if other != nil {
		return a.redraft(ctx, other)
	}
	a.action.name, a.draft = probeDraft, true
	return a.begins(ctx, []status.Setting{{Component: a.component.Code, Status: a.says}})
}

// justBegun is an incident that probes have just begun and people have not written to, nil where there is none.
func (a *acting) justBegun(ctx context.Context, draft bool) (*status.Notice, error) {
	var code *string
	err := a.QueryRow(ctx, `select max(id) from status.incident where page_id = $1 and origin = 'probe' and draft = $2 and deleted_at is null and resolved_at is null
  and probe_version = version and created_at between $3::timestamptz and $4::timestamptz`, a.Page.Code, draft, a.At.Add(-status.ProbeJoin), a.At).Scan(&code)
	if err != nil {
		return nil, fmt.Errorf("looking for an incident to join: %w", err)
	}
	if code == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	n, attached, err := a.notice(ctx, "incident", *code)
	if err != nil {
		return nil, err
	}
	a.attached = attached
	return n, nil
}

// begins begins an incident that does this to components.
func (a *acting) begins(ctx context.Context, set []status.Setting) error {
	n, err := a.newNotice(status.Realtime, "Problems with "+a.component.QualifiedName())
	if err != nil {
		return err
	}
	if len(set) > 1 {
		n.Name = "Problems with " + strconv.Itoa(len(set)) + " components"
	}
	n.Draft, n.ProbeID = a.draft, ledger.Of(a.probe.ID)
	if _, err = a.say(ctx, n, nil, status.Saying{State: status.Investigating, Body: a.Page.Text(status.ProbeFailed), Set: set, Deliver: true}); err != nil {
		return err
	}
	a.probe.Incident = n.Code
	return nil
}

// redraft writes a draft anew, with what the probe says now: drafts have no updates. Without components it is withdrawn.
func (a *acting) redraft(ctx context.Context, old *status.Notice) error {
	set, err := a.others(ctx, old.Code)
	if err != nil {
		return err
	}
	if a.probe.Level != status.Good {
		set = append(set, status.Setting{Component: a.component.Code, Status: a.says})
	}
	if err := a.watch(ctx, noticeTable, old.Code); err != nil {
		return err
	}
	if err := a.exec(ctx, "withdrawing a draft", `update status.incident set deleted_at = $2, version = version + 1 where id = $1`, old.Code, a.At); err != nil {
		return err
	}
	a.draft = true
	if len(set) == 0 {
		a.action.name = probeWithdraw
		return nil
	}
	a.action.name = probeDraft
	if err := a.begins(ctx, set); err != nil {
		return err
	}
	return a.exec(ctx, "moving probes to the new draft", `update status.probe set incident_id = $2 where incident_id = $1`, old.Code, a.probe.Incident)
}

// others are what other probes say of components in an incident.
func (a *acting) others(ctx context.Context, incident string) ([]status.Setting, error) {
	rows, err := read(ctx, a.editor.db, `select `+probeColumns+probeTables+` where p.incident_id = $1 and p.id <> $2 and p.acted <> 'good' and p.enabled order by p.id`,
		[]any{incident, a.probe.ID}, probeTargets, nil)
	if err != nil {
		return nil, err
	}
	worst := map[string]int{}
	var out []status.Setting
	for _, p := range rows {
		says := p.Says(p.Acted)
		if p.Component == a.component.Code { // it is as bad as the worst of them
			a.says = status.Worst(a.says, says)
			continue
		}
		i, there := worst[p.Component]
		if !there {
			worst[p.Component] = len(out)
			out = append(out, status.Setting{Component: p.Component, Status: says})
			continue
		}
		out[i].Status = status.Worst(out[i].Status, says)
	}
	if a.probe.Level == status.Good && a.says != status.Operational {
		out = append(out, status.Setting{Component: a.component.Code, Status: a.says})
	}
	return out, nil
}

// tell says something of an incident that is published.
func (a *acting) tell(ctx context.Context, n *status.Notice, name string, state status.State, text status.Event) error {
	a.action.name = name
	if n.State == status.Monitoring && state == status.Monitoring && a.probe.Level != status.Good {
		state = status.Investigating
	}
	if err := a.watch(ctx, noticeTable, n.Code); err != nil {
		return err
	}
	if _, err := a.others(ctx, n.Code); err != nil { // other probes of the component
		return err
	}
	_, err := a.say(ctx, n, a.attached, status.Saying{
		State: state, Body: a.Page.Text(text), Set: []status.Setting{{Component: a.component.Code, Status: a.says}}, Deliver: true, Reopen: !n.State.Open(),
	})
	a.probe.Incident = n.Code
	return err
}

// recover does what has to be done when all is well again.
func (a *acting) recover(ctx context.Context, open bool) error {
	switch {
	case a.probe.Set != "":
		if a.component.BaseStatus != a.probe.Set { // people have said something else since
			a.action.name, a.object = probeNote, a.component.Code
			return errLeft
		}
		return a.set(ctx, status.Operational)
	case !open:
		return errLeft
	case a.incident.Draft:
		return a.redraft(ctx, a.incident)
	}
	others, err := a.others(ctx, a.incident.Code)
	if err != nil {
		return err
	}
	state := status.Monitoring
	if len(others) > 0 {
		state = a.incident.State
	}
	return a.tell(ctx, a.incident, probeRecover, state, status.ProbePassed)
}

// set says how the component is, without an incident.
func (a *acting) set(ctx context.Context, s status.ComponentStatus) error {
	a.action.name = probeSet
	if s != status.Operational && !s.WorseThan(a.component.BaseStatus) && a.probe.Set == "" {
		a.action.name, a.object = probeNote, a.component.Code // it is known to be as bad
		return errLeft
	}
	if err := a.watch(ctx, componentTable, a.component.Code); err != nil {
		return err
	}
	changes := a.board.SetBase(a.component, s, status.FromProbe, a.At)
	if err := a.storeChanges(ctx, changes); err != nil {
		return err
	}
	a.probe.Set = s
	if s == status.Operational {
		a.probe.Set = ""
	}
	return a.exec(ctx, "saying how a component is", `update status.component set base_status = $2, updated_at = $3, version = version + 1 where id = $1`, a.component.Code, s, a.At)
}

// end notes what the probe has done, and the version at which it leaves its incident.
func (a *acting) end(ctx context.Context) error {
	if err := a.exec(ctx, "noting what a probe has done", `update status.probe set acted = level, incident_id = nullif($2, ''), set_status = nullif($3, '')::status.component_status where id = $1`,
		a.probe.ID, a.probe.Incident, string(a.probe.Set)); err != nil {
		return err
	}
	if a.object != a.probe.Incident { // it was not written to now, and may be people's since
		return nil
	}
	return a.exec(ctx, "noting the version of an incident", `update status.incident set probe_version = version where id = $1`, a.object)
}

// ResolveProbed resolves the incidents of probes on which all has been well for long enough, and which people have not written to. It returns their codes.
func (e *Editor) ResolveProbed(ctx context.Context) ([]string, error) {
	const ready = ` n.origin = 'probe' and not n.draft and n.deleted_at is null and n.state = 'monitoring' and n.probe_version = n.version and n.monitoring_at <= $1
  and not exists (select from status.probe p where p.incident_id = n.id and p.enabled and (p.acted <> 'good' or p.level <> 'good'))`
	list, err := read(ctx, e.db, `select `+noticeColumns+` from status.incident n join status.page g on g.id = n.page_id and g.mode <> 'mirror' and g.auto_publish where`+ready,
		[]any{e.now().Add(-status.ProbeHoldOff)}, noticeTargets, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, found := range list {
		by := Author{Name: "probe " + strconv.FormatInt(found.ProbeID.V, 10), Origin: status.FromProbe}
		done := false
		_, err := e.edit(ctx, action{by: by, name: probeResolve, page: found.PageCode}, func(ctx context.Context, w *writing) error {
			var still bool
			if err := w.QueryRow(ctx, `select exists (select from status.incident n where n.id = $2 and`+ready+`)`, w.At.Add(-status.ProbeHoldOff), found.Code).Scan(&still); err != nil {
				return fmt.Errorf("looking whether an incident can be resolved: %w", err)
			}
			if !still {
				return ErrUnchanged
			}
			n, attached, err := w.notice(ctx, "incident", found.Code)
			if err != nil {
				return err
			}
			if _, err := w.say(ctx, n, attached, status.Saying{State: status.Resolved, Body: w.Page.Text(status.IncidentResolved), Deliver: true}); err != nil {
				return err
			}
			done = true
			return w.exec(ctx, "noting the version of an incident", `update status.incident set probe_version = version where id = $1`, n.Code)
		})
		if err != nil {
			return out, err
		}
		if done {
			out = append(out, found.Code)
		}
	}
	return out, nil
}

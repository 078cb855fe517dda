package statuspage_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/statuspages"
)

// randomEditor writes to a page at random. Some writes are not permitted.
type randomEditor struct {
	*statuspages.Editor
	t        *testing.T
	db       *statuspages.DB
	random   *rand.Rand
	now      time.Time
	page     string
	done     map[string]int // edits by name
	rejected int
}

// read returns the page and its working copy.
func (o *randomEditor) read() (*status.Page, *status.WorkingCopy) {
	o.t.Helper()
	p, err := o.db.PageByCode(o.t.Context(), o.page)
	if err != nil {
		o.t.Fatal(err)
	}
	b, err := o.db.WorkingCopy(o.t.Context(), p)
	if err != nil {
		o.t.Fatal(err)
	}
	return p, b
}

func anyOf[T any](o *randomEditor, list ...T) T { return list[o.random.IntN(len(list))] }

// component returns the code of a random component, or an empty string if there is none.
func (o *randomEditor) component(b *status.WorkingCopy, groups bool) string {
	var codes []string
	for _, c := range b.Components {
		if c.IsGroup == groups {
			codes = append(codes, c.Code)
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return anyOf(o, codes...)
}

// notice returns the code of one of the newest notices of a kind, or an empty string if there is none.
func (o *randomEditor) notice(p *status.Page, k status.Kind, drafts bool) string {
	o.t.Helper()
	order := statuspages.ByCreation
	if k == status.Scheduled {
		order = statuspages.ByStart
	}
	list, err := o.db.Notices(o.t.Context(), p, statuspages.NoticeFilter{Kind: k, Drafts: drafts},
		order, storage.Page{Limit: 8, Desc: true})
	if err != nil {
		o.t.Fatal(err)
	}
	if len(list) == 0 {
		return "none"
	}
	return anyOf(o, list...).Code
}

func (o *randomEditor) affected(b *status.WorkingCopy) []status.Assignment {
	var out []status.Assignment
	for range o.random.IntN(3) {
		if c := o.component(b, o.random.IntN(20) == 0); c != "" {
			out = append(out, status.Assignment{Component: c, Status: anyOf(o, status.ComponentStatuses()...)})
		}
	}
	return out
}

func (o *randomEditor) update(b *status.WorkingCopy, k status.Kind) status.NewUpdate {
	return status.NewUpdate{
		State: anyOf(o, status.States(k)...), Body: anyOf(o, "We look.", "<b>So</b> & so\r\n", "Ünïcode"),
		Affected: o.affected(b), Keep: o.random.IntN(4) == 0, Notify: ledger.Of(o.random.IntN(2) != 0),
	}
}

// edit performs a write and advances the clock.
func (o *randomEditor) edit() {
	o.t.Helper()
	o.now = o.now.Add(anyOf(o, time.Millisecond, time.Second, time.Minute, 20*time.Minute, 3*time.Hour))
	ctx, t := o.t.Context(), o.t
	p, b := o.read()
	edits := []struct {
		name string
		do   func() (string, error)
	}{
		{"open", func() (string, error) {
			return o.OpenIncident(ctx, testenv.Author, o.page,
				status.NewIncident{
					Name: fmt.Sprint("Incident ", o.now.UnixMilli()),
					Body: "x", Affected: o.affected(b), Draft: o.random.IntN(6) == 0,
				})
		}},
		{"update", func() (string, error) {
			return o.UpdateIncident(ctx, testenv.Author, o.notice(p, status.Realtime, false),
				o.update(b, status.Realtime))
		}},
		{"resolve", func() (string, error) {
			return o.UpdateIncident(ctx, testenv.Author, o.notice(p, status.Realtime, false),
				status.NewUpdate{State: status.Resolved, Body: "x", Keep: o.random.IntN(5) == 0})
		}},
		{"reopen", func() (string, error) {
			return o.ReopenIncident(ctx, testenv.Author, o.notice(p, status.Realtime, false),
				o.update(b, status.Realtime))
		}},
		{"postmortem", func() (string, error) {
			return o.PublishPostmortem(ctx, testenv.Author, o.notice(p, status.Realtime, false),
				status.NewUpdate{Body: "x"})
		}},
		{"backfill", func() (string, error) {
			end := o.now.Add(-time.Duration(o.random.IntN(1000)) * time.Hour)
			return o.OpenIncident(ctx, testenv.Author, o.page, status.NewIncident{
				Name: "Once", Body: "x", Backfill: true, StartedAt: ledger.Of(end.Add(-time.Hour)),
				ResolvedAt: ledger.Of(end), Affected: o.affected(b),
			})
		}},
		{"publish", func() (string, error) {
			return o.PublishDraft(ctx, testenv.Author, o.notice(p, status.Realtime, true), status.VersionInput{})
		}},
		{"discard", func() (string, error) {
			return o.DiscardDraft(ctx, testenv.Author, o.notice(p, status.Realtime, true), status.VersionInput{})
		}},
		{"delete", func() (string, error) {
			if o.random.IntN(4) > 0 {
				return "", errors.ErrUnsupported
			}
			return o.DeleteNotice(ctx, testenv.Author, o.notice(p, anyOf(o, status.Realtime, status.Scheduled), false),
				status.VersionInput{})
		}},
		{"schedule", func() (string, error) {
			start := o.now.Add(time.Duration(o.random.IntN(300)-20) * time.Minute)
			in := status.NewMaintenance{
				Name: "Work", Body: "x", Start: start, End: start.Add(time.Duration(o.random.IntN(200)) * time.Minute),
				AutoInProgress: o.random.IntN(4) > 0, AutoCompleted: o.random.IntN(4) > 0,
				AutoMaintenanceState: o.random.IntN(4) > 0, AutoOperationalState: o.random.IntN(4) > 0,
			}
			if c := o.component(b, false); c != "" {
				in.Components = []string{c}
			}
			if o.random.IntN(2) == 0 {
				in.RemindMinutes = ledger.Of(int32(60))
			}
			return o.ScheduleMaintenance(ctx, testenv.Author, o.page, in)
		}},
		{"move", func() (string, error) {
			return o.MoveMaintenance(ctx, testenv.Author, o.notice(p, status.Scheduled, false),
				o.update(b, status.Scheduled))
		}},
		{"cancel", func() (string, error) {
			return o.CancelMaintenance(ctx, testenv.Author, o.notice(p, status.Scheduled, false), status.NewUpdate{})
		}},
		{"reschedule", func() (string, error) {
			return o.RescheduleMaintenance(ctx, testenv.Author, o.notice(p, status.Scheduled, false),
				status.Reschedule{
					Start: o.now.Add(time.Hour), End: o.now.Add(2 * time.Hour), Body: anyOf(o, "", "Later."),
				})
		}},
		{"add", func() (string, error) {
			in := status.NewComponent{
				Name: fmt.Sprint("C", o.random.IntN(9)), IsGroup: o.random.IntN(4) == 0,
				Position: int32(o.random.IntN(5)),
			}
			if o.random.IntN(2) == 0 {
				in.Group = o.component(b, true)
			}
			return o.AddComponent(ctx, testenv.Author, o.page, in)
		}},
		{"set", func() (string, error) {
			return o.EditComponent(ctx, testenv.Author, o.component(b, o.random.IntN(9) == 0),
				status.ComponentEdit{Status: anyOf(o, status.ComponentStatuses()...)})
		}},
		{"place", func() (string, error) {
			group := ""
			if o.random.IntN(2) == 0 {
				group = o.component(b, true)
			}
			return o.MoveComponent(ctx, testenv.Author, o.component(b, o.random.IntN(3) == 0), status.ComponentMove{
				Group: group, Position: int32(o.random.IntN(5)),
			})
		}},
		{"remove", func() (string, error) {
			if o.random.IntN(3) > 0 {
				return "", errors.ErrUnsupported
			}
			return o.RemoveComponent(ctx, testenv.Author, o.component(b, o.random.IntN(2) == 0),
				status.VersionInput{})
		}},
		{"tick", func() (string, error) {
			_, err := o.RunDue(ctx)
			return "", err
		}},
	}
	one := anyOf(o, edits...)
	_, err := one.do()
	var refusal *status.Error
	var step *status.TransitionError
	switch {
	case err == nil:
		o.done[one.name]++
	case errors.As(err, &refusal), errors.As(err, &step):
		o.rejected++
	case !errors.Is(err, errors.ErrUnsupported):
		t.Fatalf("%s: %v", one.name, err)
	}
}

// TestRandomEditors performs random writes of editors and checks the documents after each. With the build tag slow
// there are a thousand of them, and fewer for the other vocabulary.
func TestRandomEditors(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	for i, v := range []status.Vocabulary{status.Documented, status.Statuspage} {
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			const together = min(50, editsOfHistories/3)
			edits := []int{editsOfHistories, editsOfHistories * 3 / 10}[i]
			g := testenv.Over(t, testenv.Empty.Fresh(t))
			o := &randomEditor{
				t: t, db: g.Status, random: rand.New(rand.NewPCG(11, uint64(i))),
				now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), done: map[string]int{},
			}
			o.Editor = statuspages.NewEditor(g.Status, func() time.Time {
				return o.now
			})
			var err error
			o.page, err = o.InitPage(t.Context(), testenv.Author, status.Page{
				Name: "Random", URL: "https://random.example",
				TimeZone: []string{"America/New_York", "Etc/UTC"}[i], Vocabulary: v,
			}, "API")
			if err != nil {
				t.Fatal(err)
			}
			for made := 0; made < edits; {
				for range together {
					o.edit()
				}
				made = 0
				for _, n := range o.done {
					made += n
				}
				documents := map[string][]byte{}
				for _, name := range status.Documents() {
					documents[name] = []byte(g.Get(t, "/api/v2/"+name).Body)
					value, err := jsonschema.UnmarshalJSON(bytes.NewReader(documents[name]))
					if err == nil {
						err = all[name].Validate(value)
					}
					if err == nil {
						err = checkOrder(documents[name])
					}
					if err != nil {
						t.Fatalf("%s: %v in %s", name, err, documents[name])
					}
				}
				if err := invariants(documents, v); err != nil {
					t.Fatal(err)
				}
				if found := status.CheckDocuments(documents); len(found) > 0 {
					t.Fatal(found)
				}
				o.compare()
			}
			if len(o.done) < min(15, edits/10) || o.rejected == 0 {
				t.Errorf("edits %v, %d rejected", o.done, o.rejected)
			}
			t.Logf("edits %v, %d rejected", o.done, o.rejected)
		})
	}
}

// compare checks that the tables are consistent.
func (o *randomEditor) compare() {
	o.t.Helper()
	for what, sql := range map[string]string{
		"components whose history ends elsewhere": `select count(*)::int from status.component_now n join lateral (
  select new_status from status.component_change c where c.component_id = n.id order by changed_at desc limit 1) c on true where not n.is_group and c.new_status <> n.status`,
		"changes that do not follow another": `select count(*)::int from (
  select old_status, lag(new_status) over (partition by component_id order by changed_at) as before from status.component_change) c where before <> old_status`,
		"holds of what is over, deleted or a draft": `select count(*)::int from status.incident_component c join status.incident i on i.id = c.incident_id
where c.held_status is not null and (i.resolved_at is not null or i.deleted_at is not null or i.draft)`,
		"revisions that are no write's": `select abs((select revision from status.page) - (select count(*) from ` +
			`status.audit))::int`,
	} {
		var n int
		if err := o.db.Pool().QueryRow(o.t.Context(), sql).Scan(&n); err != nil || n != 0 {
			o.t.Fatalf("%d %s, %v", n, what, err)
		}
	}
}

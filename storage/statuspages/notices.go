package statuspages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

// NoticeFilter selects notices of one kind. The zero values of the other fields select all published ones.
type NoticeFilter struct {
	Kind      status.Kind
	States    []status.State
	Component string // only notices with this component
	// Since and Until select incidents that were created in this period, and maintenances whose planned or actual
	// duration overlaps it.
	Since, Until ledger.Null[time.Time]
	// Drafts selects drafts instead of published notices.
	Drafts bool
}

// NoticeOrder is an order of notices: by an instant, then by code.
type NoticeOrder string

// The orders.
const (
	ByCreation NoticeOrder = `n.created_at` // of incidents
	// of maintenances: actual end, or else planned start
	ByRecency NoticeOrder = `coalesce(n.resolved_at, n.scheduled_for)`
	ByStart   NoticeOrder = `n.scheduled_for` // of maintenances
)

// add adds the conditions of the filter to w, the conditions of a statement on status.incident as n.
func (f *NoticeFilter) add(w *storage.Where) {
	w.And("n.kind = ?::text::status.incident_kind and n.deleted_at is null", string(f.Kind))
	if f.Drafts {
		w.And("n.draft")
	} else {
		w.And("not n.draft")
	}
	if f.States != nil {
		w.Among("n.state = any(?::text[]::status.incident_state[])", len(f.States),
			list.Map(f.States, func(s status.State) string { return string(s) }))
	}
	if f.Component != "" {
		w.And("exists (select from status.incident_component a where a.incident_id = n.id and a.component_id = ?)",
			f.Component)
	}
	since, until := "n.created_at >= ?", "n.created_at < ?"
	if f.Kind == status.Scheduled {
		since, until = "greatest(n.scheduled_until, n.resolved_at) > ?", "n.scheduled_for < ?"
	}
	if f.Since.Valid {
		w.And(since, f.Since.V)
	}
	if f.Until.Valid {
		w.And(until, f.Until.V)
	}
}

// statusPlaces returns the page with the values of its cursors as parameters: a time and a code in place of
// milliseconds and the bytes of a code. It fails for other values. p does not change.
func statusPlaces(p storage.Page) (storage.Page, error) {
	for _, place := range []*[]any{&p.Greater, &p.Less} {
		if *place == nil {
			continue
		}
		at, ok := (*place)[0].(int64)
		code, isCode := (*place)[1].([]byte)
		if !ok || !isCode {
			return p, fmt.Errorf("%v is no place in a list of notices", *place)
		}
		*place = []any{time.UnixMilli(at), string(code)}
	}
	return p, nil
}

// Notices reads a page of the notices of a status page in the given order, with times in its zone. A cursor consists
// of milliseconds since 1970 and the bytes of the code. It fails for other cursors.
func (s *DB) Notices(
	ctx context.Context, page *status.Page, f NoticeFilter, order NoticeOrder, p storage.Page,
) ([]*status.Notice, error) {
	p, err := statusPlaces(p)
	if err != nil {
		return nil, err
	}
	w := storage.With(page.Code)
	f.add(&w)
	w.Keyset(p, string(order), "n.id")
	return read(ctx, s, noticeTargets, func(n *status.Notice) error {
		n.In(page.Zone)
		return nil
	}, `select `+noticeColumns+` from status.incident n where n.page_id = $1`+w.String()+w.OrderBy(p,
		string(order), "n.id"), w.Args...)
}

// The sources of notices n that belong to an object p.
const (
	NoticesOfPage      = `status.incident n where n.page_id = p.code`
	NoticesOfComponent = `status.incident_component a join status.incident n on n.id = a.incident_id
where a.component_id = p.code`
)

// CountNotices reads the number of notices of each of the given objects, up to [storage.MaxCount] + 1, in the order
// of codes. source is SQL after "from" that relates notices n to an object, such as a component, by its code p.code.
func (s *DB) CountNotices(ctx context.Context, codes []string, source string, f NoticeFilter) ([]int64, error) {
	w := storage.With(codes, storage.MaxCount+1)
	f.add(&w)
	counts, err := read(ctx, s, value[int64], nil,
		`select (select count(*) from (select from `+source+w.String()+` limit $2) n)
from unnest($1::text[]) with ordinality p(code, ord) order by p.ord`, w.Args...)
	return list.Map(counts, func(n *int64) int64 { return *n }), err
}

// NoticesOfComponents reads a page of the notices of each component with one statement, with times in the zone of the
// component's creation time; one list per component. It fails for cursors of another form than that of [DB.Notices].
func (s *DB) NoticesOfComponents(ctx context.Context, components []*status.Component, f NoticeFilter,
	order NoticeOrder,
	p storage.Page,
) ([][]*status.Notice, error) {
	p, err := statusPlaces(p)
	if err != nil {
		return nil, err
	}
	w := storage.With(list.Map(components, func(c *status.Component) string { return c.Code }))
	f.add(&w)
	w.Keyset(p, string(order), "n.id")
	return readOwned(ctx, s, len(components), noticeTargets, func(n *status.Notice, owner int) {
		n.In(components[owner].CreatedAt.Location())
	}, `
select p.ord, `+noticeColumns+` from unnest($1::text[]) with ordinality p(code, ord) cross join lateral (
  select n.* from status.incident_component a join status.incident n on n.id = a.incident_id where a.component_id = p.code`+w.String()+
		w.OrderBy(p, string(order), "n.id")+
		`) n order by p.ord, `+string(order)+p.Direction()+`, n.id`+p.Direction(),
		w.Args...)
}

// NoticesByCode reads notices of any kind, drafts included, by their codes; those that do not exist or were deleted
// are missing from the map.
func (s *DB) NoticesByCode(
	ctx context.Context, pages status.Pages, codes []string,
) (map[string]*status.Notice, error) {
	rows, err := read(ctx, s, noticeTargets, func(n *status.Notice) error {
		n.In(pages.Zone(n.PageCode))
		return nil
	}, `select `+noticeColumns+` from status.incident n where n.id = any($1::text[]) and n.deleted_at is null`, codes)
	return list.By(rows, func(n *status.Notice) string { return n.Code }), err
}

// Updates reads the updates of notices, also of drafts and deleted ones, with their components, newest first, with
// times in the zones of pages; one list per notice.
func (s *DB) Updates(ctx context.Context, pages status.Pages, notices []*status.Notice) ([][]*status.Update, error) {
	codes := list.Map(notices, func(n *status.Notice) string { return n.Code })
	rows, err := read(ctx, s, updateTargets, nil, `select `+updateColumns+` from status.incident_update u
join status.incident n on n.id = u.incident_id where u.incident_id = any($1::text[]) order by u.created_at desc, u.id desc`, codes)
	if err != nil {
		return nil, err
	}
	byNotice := grouped(rows, codes, func(u *status.Update) string { return u.NoticeCode })
	return byNotice, s.completeUpdates(ctx, pages, rows)
}

// UpdateByCode reads the update with a code and its components, or nil if it does not exist or its notice is a draft or
// deleted.
func (s *DB) UpdateByCode(ctx context.Context, pages status.Pages, code string) (*status.Update, error) {
	u, err := readOne(ctx, s, updateTargets, nil, `select `+updateColumns+` from status.incident_update u
join status.incident n on n.id = u.incident_id where u.id = $1 and n.deleted_at is null and not n.draft`, code)
	if err != nil || u == nil {
		return nil, err
	}
	return u, s.completeUpdates(ctx, pages, []*status.Update{u})
}

// completeUpdates reads the components of updates into them, and converts their instants to the zones of pages. An
// update without components has nil, or an empty list if the row says so.
func (s *DB) completeUpdates(ctx context.Context, pages status.Pages, updates []*status.Update) error {
	if len(updates) == 0 {
		return nil
	}
	byCode := list.By(updates, func(u *status.Update) string { return u.Code })
	for _, u := range updates {
		u.In(pages.Zone(u.PageCode))
		if u.EmptyAffected {
			u.Affected = []*status.AffectedComponent{}
		}
	}
	rows, err := read(ctx, s, affectedTargets, nil, `select `+affectedColumns+` from status.update_component
where update_id = any($1::text[]) order by update_id, ordinal`, slices.Collect(maps.Keys(byCode)))
	if err != nil {
		return err
	}
	for _, a := range rows {
		u := byCode[a.UpdateCode]
		a.PageCode = u.PageCode
		v := pages.Vocabulary(a.PageCode)
		a.OldShown, a.NewShown = a.OldStatus.Shown(v), a.NewStatus.Shown(v)
		u.Affected = append(u.Affected, a)
	}
	return nil
}

// noticeStates reads the components and updates of notices, and returns one state per notice, in order. Updates
// are newest first.
func (s *DB) noticeStates(
	ctx context.Context, pages status.Pages, notices []*status.Notice,
) ([]status.NoticeState, error) {
	updates, err := s.Updates(ctx, pages, notices)
	if err != nil {
		return nil, err
	}
	attachments, err := s.Attachments(ctx, notices)
	if err != nil {
		return nil, err
	}
	out := make([]status.NoticeState, len(notices))
	for i, n := range notices {
		out[i] = status.NoticeState{Notice: n, Attachments: attachments[i], Updates: updates[i]}
	}
	return out, nil
}

// Attachments reads the components of notices, with the statuses in which the notices hold them; one list per notice,
// in no order.
func (s *DB) Attachments(ctx context.Context, notices []*status.Notice) ([][]*status.Attachment, error) {
	codes := list.Map(notices, func(n *status.Notice) string { return n.Code })
	rows, err := read(ctx, s, attachmentTargets, nil,
		`select `+attachmentColumns+` from status.incident_component
where incident_id = any($1::text[])`, codes)
	return grouped(rows, codes, func(a *status.Attachment) string { return a.NoticeCode }), err
}

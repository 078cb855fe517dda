package statuspages

import (
	"context"
	"time"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/status"
)

const componentColumns = `id, page_id, is_group, group_id, name, description, coalesce(base_status::text, ''), position, list_index, showcase,
only_show_if_degraded,
  to_char(start_date, 'YYYY-MM-DD'), node_id, origin::text, version, created_at, updated_at`

func componentTargets(c *status.Component, into []any) []any {
	return append(into, &c.Code, &c.PageCode, &c.IsGroup, &c.GroupCode, &c.Name, &c.Description, &c.BaseStatus, &c.Position, &c.ListIndex, &c.Showcase,
		&c.OnlyShowIfDegraded, &c.StartDate, &c.NodeID, &c.Origin, &c.Version, &c.CreatedAt, &c.UpdatedAt)
}

// hold is a status in which a notice holds a component.
type hold struct {
	component string
	status    status.ComponentStatus
}

func holdTargets(h *hold, into []any) []any { return append(into, &h.component, &h.status) }

// components reads the rows of the components of a page.
func (s *DB) components(ctx context.Context, page *status.Page) ([]*status.Component, error) {
	return read(ctx, s, `select `+componentColumns+` from status.component where page_id = $1 and deleted_at is null`, []any{page.Code},
		componentTargets, func(c *status.Component) error {
			inZone(page.Zone, &c.CreatedAt, &c.UpdatedAt)
			return nil
		})
}

// Components returns the components of a page with their statuses, in the order of documents.
func (s *DB) Components(ctx context.Context, page *status.Page) ([]*status.Component, error) {
	components, err := s.components(ctx, page)
	if err != nil {
		return nil, err
	}
	holds, err := read(ctx, s, `select h.component_id, h.held_status::text
from status.incident_component h
join status.incident n on n.id = h.incident_id
where h.page_id = $1 and h.held_status is not null and n.deleted_at is null and not n.draft`, []any{page.Code}, holdTargets, nil)
	if err != nil {
		return nil, err
	}
	held := make(map[string][]status.ComponentStatus, len(holds))
	for _, h := range holds {
		held[h.component] = append(held[h.component], h.status)
	}
	return status.ComputeStatuses(components, held, page.Vocabulary), nil
}

// PageState returns the state of a page in one snapshot.
func (s *DB) PageState(ctx context.Context, page *status.Page) (*status.PageState, error) {
	if ctx.Value(txKey{s}) == nil {
		snapshot, end, err := s.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		ctx = snapshot
	}
	components, err := s.Components(ctx, page)
	if err != nil {
		return nil, err
	}
	worst, err := read(ctx, s, `select coalesce(max(impact)::text, '') from status.incident
where page_id = $1 and kind = 'realtime' and state in ('investigating', 'identified', 'monitoring') and deleted_at is null and not draft`, []any{page.Code},
		value[status.Impact], nil)
	if err != nil {
		return nil, err
	}
	return status.NewPageState(page, components, *worst[0]), nil
}

// PageOfComponent returns the code of the page of a component, or "" if the component does not exist.
func (s *DB) PageOfComponent(ctx context.Context, code string) (string, error) {
	rows, err := read(ctx, s, `select page_id from status.component where id = $1 and deleted_at is null`, []any{code},
		value[string], nil)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return *rows[0], nil
}

// Changes returns the changes of the statuses of components, oldest first; one list per component.
func (s *DB) Changes(ctx context.Context, components []*status.Component) ([][]*status.Change, error) {
	codes := make([]string, len(components))
	zones := make(map[string]*time.Location, len(components))
	for i, c := range components {
		codes[i], zones[c.Code] = c.Code, c.CreatedAt.Location()
	}
	rows, err := read(ctx, s, `select component_id, changed_at, coalesce(old_status::text, ''), new_status::text, update_id, origin::text
from status.component_change where component_id = any($1::text[]) order by component_id, changed_at`, []any{codes},
		func(c *status.Change, into []any) []any {
			return append(into, &c.ComponentCode, &c.At, &c.OldStatus, &c.NewStatus, &c.UpdateCode, &c.Origin)
		}, nil)
	if err != nil {
		return nil, err
	}
	byCode := make(map[string][]*status.Change, len(components))
	for _, r := range rows {
		inZone(zones[r.ComponentCode], &r.At)
		byCode[r.ComponentCode] = append(byCode[r.ComponentCode], r)
	}
	return lookup(codes, byCode), nil
}

// lookup returns the value of each key; keys may repeat.
func lookup[V any](keys []string, byKey map[string]V) []V {
	return list.Map(keys, func(k string) V { return byKey[k] })
}

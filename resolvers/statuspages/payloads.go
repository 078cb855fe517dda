package statuspages

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/graph/relay"
	"heliograph/internal/domain/status"
)

// The functions in this file read objects after a write.

// found fails if an object was deleted after it was written.
func found[T any](row *T, err error) (*T, error) {
	if err == nil && row == nil {
		return nil, &fault.Error{Code: fault.NotFound, Message: "the object was deleted after the write"}
	}
	return row, err
}

// notice reads a notice. It includes drafts.
func (r *Resolver) notice(ctx context.Context, code string) (*status.Notice, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	byCode, err := r.db.NoticesByCode(ctx, pages, []string{code})
	return found(byCode[code], err)
}

func (r *Resolver) incidentPayload(ctx context.Context, code string) (*model.IncidentPayload, error) {
	n, err := r.notice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.IncidentPayload{Incident: asIncident(n)}, nil
}

func (r *Resolver) maintenancePayload(ctx context.Context, code string) (*model.MaintenancePayload, error) {
	n, err := r.notice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.MaintenancePayload{Maintenance: asMaintenance(n)}, nil
}

func (r *Resolver) noticePayload(ctx context.Context, code string) (*model.NoticePayload, error) {
	n, err := r.notice(ctx, code)
	if err != nil {
		return nil, err
	}
	return &model.NoticePayload{Notice: asNotice(n)}, nil
}

// asNotice converts a notice to its type in the schema.
func asNotice(n *status.Notice) relay.StatusNotice {
	if n.Kind == status.Scheduled {
		return asMaintenance(n)
	}
	return asIncident(n)
}

func asIncident(n *status.Notice) *status.Incident { return &status.Incident{Notice: *n} }

func asMaintenance(n *status.Notice) *status.Maintenance { return &status.Maintenance{Notice: *n} }

func (r *Resolver) updatePayload(ctx context.Context, code string) (*model.UpdatePayload, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	u, err := found(r.db.UpdateByCode(ctx, pages, code))
	return &model.UpdatePayload{Update: u}, err
}

func (r *Resolver) pagePayload(ctx context.Context, code string) (*model.StatusPagePayload, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p, err := found(pages.ByCode(code), nil)
	return &model.StatusPagePayload{Page: p}, err
}

// componentPayload includes groups without components.
func (r *Resolver) componentPayload(ctx context.Context, code string) (*model.ComponentPayload, error) {
	ofComponent, err := r.db.PageOfComponent(ctx, code)
	if err != nil {
		return nil, err
	}
	p, err := r.pagePayload(ctx, ofComponent)
	if err != nil {
		return nil, err
	}
	b, err := r.db.WorkingCopy(ctx, p.Page)
	if err != nil {
		return nil, err
	}
	c, err := found(b.Component(code), nil)
	return &model.ComponentPayload{Component: c}, err
}

func removed(_ context.Context, code string) (*model.RemovedPayload, error) {
	return &model.RemovedPayload{Code: code}, nil
}

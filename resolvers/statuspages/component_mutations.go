package statuspages

import (
	"context"

	"heliograph/graph/model"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// SetComponentStatus resolves Mutation.setComponentStatus.
func (r *Resolver) SetComponentStatus(ctx context.Context, in status.ComponentEdit) (*model.ComponentPayload, error) {
	return write(ctx, r, status.Reporter, component, &in, r.editor.EditComponent, r.componentPayload)
}

// AddComponent resolves Mutation.addComponent.
func (r *Resolver) AddComponent(ctx context.Context, in status.NewComponent) (*model.ComponentPayload, error) {
	return write(ctx, r, status.Admin, page, &in, r.editor.AddComponent, r.componentPayload)
}

// EditComponent resolves Mutation.editComponent.
func (r *Resolver) EditComponent(ctx context.Context, in status.ComponentEdit) (*model.ComponentPayload, error) {
	return write(ctx, r, status.Admin, component, &in, r.editor.EditComponent, r.componentPayload)
}

// MoveComponent resolves Mutation.moveComponent.
func (r *Resolver) MoveComponent(ctx context.Context, in status.ComponentMove) (*model.ComponentPayload, error) {
	return write(ctx, r, status.Admin, component, &in, r.editor.MoveComponent, r.componentPayload)
}

// RemoveComponent resolves Mutation.removeComponent.
func (r *Resolver) RemoveComponent(ctx context.Context, in status.VersionInput) (*model.RemovedPayload, error) {
	return write(ctx, r, status.Admin, component, &in, expecting(r.editor.RemoveComponent), removed)
}

// componentPayload reads a component after a write. It includes groups without components.
func (r *Resolver) componentPayload(ctx context.Context, code string) (*model.ComponentPayload, error) {
	ofComponent, err := r.db.PageOfComponent(ctx, code)
	if err != nil {
		return nil, err
	}
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p, err := found(pages.ByCode(ofComponent), nil)
	if err != nil {
		return nil, err
	}
	b, err := r.db.WorkingCopy(ctx, p)
	if err != nil {
		return nil, err
	}
	c, err := found(b.Component(code), nil)
	return &model.ComponentPayload{Component: c}, err
}

// SetStatusPage resolves Mutation.setStatusPage.
func (r *Resolver) SetStatusPage(ctx context.Context, in status.PageEdit) (*model.StatusPagePayload, error) {
	return write(ctx, r, status.Admin, page, &in, func(ctx context.Context, by statuspages.Author, code string, in status.PageEdit) (string, error) {
		return r.editor.SetPage(ctx, by, code, in.Settings)
	}, func(ctx context.Context, code string) (*model.StatusPagePayload, error) {
		pages, err := r.pages(ctx)
		if err != nil {
			return nil, err
		}
		p, err := found(pages.ByCode(code), nil)
		return &model.StatusPagePayload{Page: p}, err
	})
}

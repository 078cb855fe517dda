package statuspages

import (
	"context"

	"heliograph/graph/model"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

func (r *Resolver) componentPayload(ctx context.Context, code string) (*model.ComponentPayload, error) {
	page, err := r.db.PageOfComponent(ctx, code)
	if err != nil {
		return nil, err
	}
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p := pages.ByCode(page)
	if p == nil {
		return nil, errGone
	}
	b, err := r.db.WorkingCopy(ctx, p) // includes groups without components
	if err != nil {
		return nil, err
	}
	c := b.Component(code)
	if c == nil {
		return nil, errGone
	}
	return &model.ComponentPayload{Component: c}, nil
}

// SetComponentStatus resolves Mutation.setComponentStatus.
func (r *Resolver) SetComponentStatus(ctx context.Context, in model.SetComponentStatusInput) (*model.ComponentPayload, error) {
	return payload(ctx, r.componentPayload)(r.change(ctx, status.Reporter, in.IdempotencyKey, in.ID, componentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.EditComponent(ctx, by, code, status.ComponentEdit{Status: ledger.Of(in.Status), ExpectedVersion: orZero(in.ExpectedVersion)})
		}))
}

// groupCode returns the code of a group, or an empty string for the top level of the page.
func groupCode(id *string) (string, error) {
	if id == nil {
		return "", nil
	}
	return codeOf(*id, componentType)
}

// AddComponent resolves Mutation.addComponent.
func (r *Resolver) AddComponent(ctx context.Context, in model.AddComponentInput) (*model.ComponentPayload, error) {
	group, err := groupCode(in.GroupID)
	if err != nil {
		return nil, err
	}
	return payload(ctx, r.componentPayload)(r.create(ctx, status.Admin, in.IdempotencyKey, in.Page, func(by statuspages.Author, page string) (string, error) {
		return r.editor.AddComponent(ctx, by, page, status.NewComponent{
			IsGroup: in.IsGroup, Name: in.Name, Description: orZero(in.Description), Group: group, Position: orZero(in.Position), Status: in.Status,
			Showcase: ledger.FromPointer(in.Showcase).Or(true), OnlyShowIfDegraded: orZero(in.OnlyShowIfDegraded),
			StartDate: ledger.FromPointer(in.StartDate), NodeID: ledger.FromPointer(in.NodeID),
		})
	}))
}

// EditComponent resolves Mutation.editComponent.
func (r *Resolver) EditComponent(ctx context.Context, in model.EditComponentInput) (*model.ComponentPayload, error) {
	return payload(ctx, r.componentPayload)(r.change(ctx, status.Admin, in.IdempotencyKey, in.ID, componentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.EditComponent(ctx, by, code, status.ComponentEdit{
				Name: ledger.FromPointer(in.Name), Description: ledger.FromPointer(in.Description), Showcase: ledger.FromPointer(in.Showcase),
				OnlyShowIfDegraded: ledger.FromPointer(in.OnlyShowIfDegraded), StartDate: ledger.FromPointer(in.StartDate),
				NodeID: ledger.FromPointer(in.NodeID), ExpectedVersion: orZero(in.ExpectedVersion),
			})
		}))
}

// MoveComponent resolves Mutation.moveComponent.
func (r *Resolver) MoveComponent(ctx context.Context, in model.MoveComponentInput) (*model.ComponentPayload, error) {
	group, err := groupCode(in.GroupID)
	if err != nil {
		return nil, err
	}
	return payload(ctx, r.componentPayload)(r.change(ctx, status.Admin, in.IdempotencyKey, in.ID, componentTypes,
		func(by statuspages.Author, code string) (string, error) {
			return r.editor.MoveComponent(ctx, by, code, group, orZero(in.Position), orZero(in.ExpectedVersion))
		}))
}

// RemoveComponent resolves Mutation.removeComponent.
func (r *Resolver) RemoveComponent(ctx context.Context, in model.RemoveComponentInput) (*model.RemovedPayload, error) {
	return removedPayload(r.change(ctx, status.Admin, in.IdempotencyKey, in.ID, componentTypes, func(by statuspages.Author, code string) (string, error) {
		return r.editor.RemoveComponent(ctx, by, code, orZero(in.ExpectedVersion))
	}))
}

// SetStatusPage resolves Mutation.setStatusPage.
func (r *Resolver) SetStatusPage(ctx context.Context, in model.SetStatusPageInput) (*model.StatusPagePayload, error) {
	list := make([]status.PageSetting, len(in.Settings))
	for i, s := range in.Settings {
		list[i] = status.PageSetting{Key: s.Key, Value: s.Value}
	}
	return payload(ctx, r.pagePayload)(r.create(ctx, status.Admin, in.IdempotencyKey, in.Page, func(by statuspages.Author, page string) (string, error) {
		return r.editor.SetPage(ctx, by, page, list)
	}))
}

func (r *Resolver) pagePayload(ctx context.Context, code string) (*model.StatusPagePayload, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, err
	}
	p := pages.ByCode(code)
	if p == nil {
		return nil, errGone
	}
	return &model.StatusPagePayload{Page: p}, nil
}

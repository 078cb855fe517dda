package statuspages

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// Webhooks resolves Query.statusWebhooks.
func (r *Resolver) Webhooks(ctx context.Context, slug *string) ([]*status.Webhook, error) {
	p, err := r.pageToRead(ctx, status.Admin, slug)
	if err != nil {
		return nil, err
	}
	return r.db.Webhooks(ctx, p.Code)
}

// pageToRead authenticates the sender, and returns the page with a short name or the default page.
func (r *Resolver) pageToRead(ctx context.Context, needed status.Role, slug *string) (*status.Page, error) {
	t, err := r.operator(ctx, needed)
	if err != nil {
		return nil, err
	}
	p, err := r.pageToEdit(ctx, slug)
	if err != nil {
		return nil, err
	}
	if !t.For(p.Code) {
		return nil, &fault.Error{Code: fault.Forbidden, Message: "the token does not permit this page"}
	}
	return p, nil
}

// webhookPayload returns a function that reads a webhook after a write. secret is the secret that the write created, if any.
func (r *Resolver) webhookPayload(secret *string) func(ctx context.Context, code string) (*model.StatusWebhookPayload, error) {
	return func(ctx context.Context, code string) (*model.StatusWebhookPayload, error) {
		w, err := r.db.Webhook(ctx, code)
		if err == nil && w == nil {
			err = errGone
		}
		if err != nil {
			return nil, err
		}
		p := &model.StatusWebhookPayload{Webhook: w}
		if *secret != "" {
			p.Secret = secret
		}
		return p, nil
	}
}

// AddStatusWebhook resolves Mutation.addStatusWebhook.
func (r *Resolver) AddStatusWebhook(ctx context.Context, in model.AddStatusWebhookInput) (*model.StatusWebhookPayload, error) {
	components := make([]string, len(in.ComponentIds))
	for i, id := range in.ComponentIds {
		var err error
		if components[i], err = codeOf(id, componentType); err != nil {
			return nil, err
		}
	}
	var secret string
	return payload(ctx, r.webhookPayload(&secret))(r.create(ctx, status.Admin, in.IdempotencyKey, in.Page,
		func(by statuspages.Author, page string) (code string, err error) {
			code, secret, err = r.editor.AddWebhook(ctx, by, page, status.NewWebhook{URL: in.URL, Components: components})
			return code, err
		}))
}

// RotateStatusWebhook resolves Mutation.rotateStatusWebhook.
func (r *Resolver) RotateStatusWebhook(ctx context.Context, in model.StatusWebhookInput) (*model.StatusWebhookPayload, error) {
	var secret string
	return payload(ctx, r.webhookPayload(&secret))(r.change(ctx, status.Admin, in.IdempotencyKey, in.Code, nil,
		func(by statuspages.Author, code string) (_ string, err error) {
			secret, err = r.editor.RotateWebhook(ctx, by, code)
			return code, err
		}))
}

// EnableStatusWebhook resolves Mutation.enableStatusWebhook.
func (r *Resolver) EnableStatusWebhook(ctx context.Context, in model.StatusWebhookInput) (*model.StatusWebhookPayload, error) {
	return payload(ctx, r.webhookPayload(new(string)))(r.change(ctx, status.Admin, in.IdempotencyKey, in.Code, nil,
		func(by statuspages.Author, code string) (string, error) { return r.editor.EnableWebhook(ctx, by, code) }))
}

// RemoveStatusWebhook resolves Mutation.removeStatusWebhook.
func (r *Resolver) RemoveStatusWebhook(ctx context.Context, in model.StatusWebhookInput) (*model.RemovedPayload, error) {
	return removedPayload(r.change(ctx, status.Admin, in.IdempotencyKey, in.Code, nil, func(by statuspages.Author, code string) (string, error) {
		return r.editor.RemoveWebhook(ctx, by, code)
	}))
}

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

// writeWebhook executes a mutation of a webhook. do returns the code and the new secret, which may be empty.
func writeWebhook[I any, T input[I]](ctx context.Context, r *Resolver, kind target, in T,
	do func(ctx context.Context, by statuspages.Author, code string, in I) (string, string, error),
) (*model.StatusWebhookPayload, error) {
	var p model.StatusWebhookPayload
	return write(ctx, r, status.Admin, kind, in, func(ctx context.Context, by statuspages.Author, code string, in I) (string, error) {
		code, secret, err := do(ctx, by, code, in)
		if secret != "" {
			p.Secret = &secret
		}
		return code, err
	}, func(ctx context.Context, code string) (_ *model.StatusWebhookPayload, err error) {
		p.Webhook, err = found(r.db.Webhook(ctx, code))
		return &p, err
	})
}

// AddStatusWebhook resolves Mutation.addStatusWebhook.
func (r *Resolver) AddStatusWebhook(ctx context.Context, in status.NewWebhook) (*model.StatusWebhookPayload, error) {
	return writeWebhook(ctx, r, page, &in, r.editor.AddWebhook)
}

// RotateStatusWebhook resolves Mutation.rotateStatusWebhook.
func (r *Resolver) RotateStatusWebhook(ctx context.Context, in status.VersionInput) (*model.StatusWebhookPayload, error) {
	return writeWebhook(ctx, r, webhook, &in, func(ctx context.Context, by statuspages.Author, code string, _ status.VersionInput) (string, string, error) {
		secret, err := r.editor.RotateWebhook(ctx, by, code)
		return code, secret, err
	})
}

// EnableStatusWebhook resolves Mutation.enableStatusWebhook.
func (r *Resolver) EnableStatusWebhook(ctx context.Context, in status.VersionInput) (*model.StatusWebhookPayload, error) {
	return writeWebhook(ctx, r, webhook, &in, func(ctx context.Context, by statuspages.Author, code string, _ status.VersionInput) (string, string, error) {
		code, err := r.editor.EnableWebhook(ctx, by, code)
		return code, "", err
	})
}

// RemoveStatusWebhook resolves Mutation.removeStatusWebhook.
func (r *Resolver) RemoveStatusWebhook(ctx context.Context, in status.VersionInput) (*model.RemovedPayload, error) {
	return write(ctx, r, status.Admin, webhook, &in, func(ctx context.Context, by statuspages.Author, code string, _ status.VersionInput) (string, error) {
		return r.editor.RemoveWebhook(ctx, by, code)
	}, removed)
}

package statuspages

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// target is a kind of object that mutations write to: the types of its global ids. Mutations of a page write to a new object of it.
type target []string

var (
	page        target
	component   = target{componentType}
	incident    = target{incidentType}
	maintenance = target{maintenanceType}
	notice      = target{incidentType, maintenanceType}
	update      = target{updateType}
	webhook     = target{}
)

// input is the input of a mutation.
type input[I any] interface {
	*I
	Destination() *status.Target
}

// write executes a mutation: it authenticates the sender, replaces global ids by codes, calls do with the code of the target, and reads the written object.
func write[I, P any, T input[I]](ctx context.Context, r *Resolver, needed status.Role, kind target, in T,
	do func(ctx context.Context, by statuspages.Author, code string, in I) (string, error), read func(ctx context.Context, code string) (P, error),
) (out P, err error) {
	to := in.Destination()
	by, err := r.author(ctx, needed, to.IdempotencyKey)
	if err != nil {
		return out, err
	}
	code, err := r.destination(ctx, kind, to)
	if err != nil {
		return out, err
	}
	for _, id := range components(in) {
		if *id, err = codeOf(*id, componentType); err != nil {
			return out, err
		}
	}
	code, err = do(ctx, by, code, *in)
	r.written(ctx)
	if err != nil {
		return out, err
	}
	return read(ctx, code)
}

// destination returns the code of the object or page that a mutation writes to.
func (r *Resolver) destination(ctx context.Context, kind target, to *status.Target) (string, error) {
	if kind != nil {
		return codeOf(to.ID, kind...)
	}
	p, err := r.pageToEdit(ctx, to.Page)
	if err != nil {
		return "", err
	}
	return p.Code, nil
}

// components returns the ids of components in an input.
func components(in any) (ids []*string) {
	var affected []status.Assignment
	var list []string
	var group *string
	switch in := in.(type) {
	case *status.NewIncident:
		affected = in.Affected
	case *status.NewUpdate:
		affected = in.Affected
	case *status.NewMaintenance:
		list = in.Components
	case *status.NewWebhook:
		list = in.Components
	case *status.NewComponent:
		group = &in.Group
	case *status.ComponentMove:
		group = &in.Group
	}
	if group != nil && *group != "" {
		ids = append(ids, group)
	}
	for i := range affected {
		ids = append(ids, &affected[i].Component)
	}
	for i := range list {
		ids = append(ids, &list[i])
	}
	return ids
}

// expecting returns a function for [write] that writes an object whose version may be checked.
func expecting(do func(ctx context.Context, by statuspages.Author, code string, version int64) (string, error)) func(
	context.Context, statuspages.Author, string, status.VersionInput,
) (string, error) {
	return func(ctx context.Context, by statuspages.Author, code string, in status.VersionInput) (string, error) {
		return do(ctx, by, code, in.ExpectedVersion)
	}
}

// written discards the operation's cached reads of status pages after a write.
func (r *Resolver) written(ctx context.Context) {
	reads := r.readsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	reads.read, reads.pages, reads.states = false, nil, map[string]*status.PageState{}
}

// found fails if an object was deleted after it was written.
func found[T any](row *T, err error) (*T, error) {
	if err == nil && row == nil {
		return nil, &fault.Error{Code: fault.NotFound, Message: "the object was deleted after the write"}
	}
	return row, err
}

func removed(_ context.Context, code string) (*model.RemovedPayload, error) {
	return &model.RemovedPayload{Code: code}, nil
}

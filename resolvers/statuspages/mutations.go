package statuspages

import (
	"context"

	"heliograph/graph/fault"
	"heliograph/graph/model"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage/statuspages"
)

// orZero returns an optional argument, or the zero value if it is missing.
func orZero[T any](p *T) T { return ledger.FromPointer(p).V }

// written discards the operation's cached reads of status pages after a write.
func (r *Resolver) written(ctx context.Context) {
	reads := r.readsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	reads.read, reads.pages, reads.states = false, nil, map[string]*status.PageState{}
}

// change authenticates the sender, resolves the id of the object to change, and calls write. It returns the code that write returns.
func (r *Resolver) change(ctx context.Context, needed status.Role, key *string, id string, types []string,
	write func(by statuspages.Author, code string) (string, error),
) (string, error) {
	by, err := r.author(ctx, needed, key)
	if err != nil {
		return "", err
	}
	code, err := codeOf(id, types...)
	if err != nil {
		return "", err
	}
	code, err = write(by, code)
	r.written(ctx)
	return code, err
}

// create authenticates the sender, finds the page to write to, and calls write.
func (r *Resolver) create(ctx context.Context, needed status.Role, key, slug *string,
	write func(by statuspages.Author, page string) (string, error),
) (string, error) {
	by, err := r.author(ctx, needed, key)
	if err != nil {
		return "", err
	}
	p, err := r.pageToEdit(ctx, slug)
	if err != nil {
		return "", err
	}
	code, err := write(by, p.Code)
	r.written(ctx)
	return code, err
}

// errGone reports that the written object was deleted before it could be read.
var errGone = &fault.Error{Code: fault.NotFound, Message: "the object was deleted after the write"}

// payload returns a function that reads the written object, unless the write failed. The function takes the results of [Resolver.change] and
// [Resolver.create].
func payload[P any](ctx context.Context, read func(ctx context.Context, code string) (*P, error)) func(code string, err error) (*P, error) {
	return func(code string, err error) (*P, error) {
		if err != nil {
			return nil, err
		}
		return read(ctx, code)
	}
}

func removedPayload(code string, err error) (*model.RemovedPayload, error) {
	if err != nil {
		return nil, err
	}
	return &model.RemovedPayload{Code: code}, nil
}

var (
	componentTypes   = []string{componentType}
	incidentTypes    = []string{incidentType}
	maintenanceTypes = []string{maintenanceType}
	noticeTypes      = []string{incidentType, maintenanceType}
	updateTypes      = []string{updateType}
)

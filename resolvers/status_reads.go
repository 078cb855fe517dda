package resolvers

import (
	"context"
	"sync"

	"heliograph/internal/base/values"
	"heliograph/internal/domain/status"
)

// statusReads is what an operation has read of status pages: the pages, and how those are that it asks for. Both are small, and everything else
// needs them.
type statusReads struct {
	mu     sync.Mutex
	read   bool
	pages  status.Pages
	states map[string]*status.PageState
}

var sharedReads = values.NewKey[*statusReads]()

// WithStatusReads returns a context whose operations read pages and the states of their components once between them.
func WithStatusReads(ctx context.Context) context.Context {
	return values.Context(ctx, sharedReads.Is(&statusReads{}))
}

// statusReadsOf is what the operation has read, or what several operations have read that share it.
func statusReadsOf(ctx context.Context) *statusReads {
	if shared, ok := sharedReads.Of(ctx); ok {
		return shared
	}
	return &operationOf(ctx).reads
}

// statusPages are all status pages, nil where there are none.
func (r *Resolver) statusPages(ctx context.Context) (status.Pages, error) {
	if r.status == nil {
		return nil, nil
	}
	reads := statusReadsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	if reads.read {
		return reads.pages, nil
	}
	pages, err := r.status.Pages(ctx)
	reads.pages, reads.read = pages, err == nil
	return pages, err
}

// statusPage is the page of a short name, or the default page; nil when there is none.
func (r *Resolver) statusPage(ctx context.Context, slug *string) (*status.Page, error) {
	pages, err := r.statusPages(ctx)
	if err != nil {
		return nil, err
	}
	if slug != nil {
		return pages.BySlug(*slug), nil
	}
	return pages.Default(), nil
}

// statusState is how a page is. A page that does not exist has no components.
func (r *Resolver) statusState(ctx context.Context, page string) (*status.PageState, error) {
	pages, err := r.statusPages(ctx)
	if err != nil {
		return nil, err
	}
	p := pages.ByCode(page)
	if p == nil {
		return status.NewPageState(nil, nil, ""), nil
	}
	reads := statusReadsOf(ctx)
	reads.mu.Lock()
	defer reads.mu.Unlock()
	if s := reads.states[page]; s != nil {
		return s, nil
	}
	s, err := r.status.PageState(ctx, p)
	if err == nil {
		if reads.states == nil {
			reads.states = map[string]*status.PageState{}
		}
		reads.states[page] = s
	}
	return s, err
}

// statusComponent is a component of any page, nil when there is none.
func (r *Resolver) statusComponent(ctx context.Context, code string) (*status.Component, error) {
	page, err := r.status.PageOfComponent(ctx, code)
	if err != nil || page == "" {
		return nil, err
	}
	s, err := r.statusState(ctx, page)
	if err != nil {
		return nil, err
	}
	return s.Component(code), nil
}

// statusNotices are notices by their codes. Those that are not published are left out.
func (r *Resolver) statusNotices(ctx context.Context, codes []string) (map[string]*status.Notice, error) {
	pages, err := r.statusPages(ctx)
	if err != nil || pages == nil {
		return nil, err
	}
	found, err := r.status.NoticesByCode(ctx, pages, codes)
	for code, n := range found {
		if n.Draft {
			delete(found, code)
		}
	}
	return found, err
}

// statusIncident is an incident, nil when there is none.
func (r *Resolver) statusIncident(ctx context.Context, code string) (*status.Incident, error) {
	found, err := r.statusNotices(ctx, []string{code})
	if n := found[code]; err == nil && n != nil && n.Kind == status.Realtime {
		return &status.Incident{Notice: *n}, nil
	}
	return nil, err
}

// statusMaintenance is a maintenance, nil when there is none.
func (r *Resolver) statusMaintenance(ctx context.Context, code string) (*status.Maintenance, error) {
	found, err := r.statusNotices(ctx, []string{code})
	if n := found[code]; err == nil && n != nil && n.Kind == status.Scheduled {
		return &status.Maintenance{Notice: *n}, nil
	}
	return nil, err
}

// componentOn is a component of a page, nil when there is none.
func (r *Resolver) componentOn(ctx context.Context, p *status.Page, code string) (*status.Component, error) {
	s, err := r.statusState(ctx, p.Code)
	if err != nil {
		return nil, err
	}
	return s.Component(code), nil
}

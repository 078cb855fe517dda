package v2

import (
	"context"
	"time"
)

// Run keeps the documents fresh until the context ends: it looks at the pages when somebody tells of a write, when it has begun to listen, and every ten seconds. It
// returns at once where documents are made when they are asked for.
func (a *API) Run(ctx context.Context) {
	if a.o.Source == nil || a.o.CacheOff {
		return
	}
	heard := make(chan struct{}, 1)
	wake := func() {
		select {
		case heard <- struct{}{}:
		default: // the next look sees this write too
		}
	}
	go a.listen(ctx, wake)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		_ = a.refresh(ctx) // which counts and logs what goes wrong
		select {
		case <-ctx.Done():
			return
		case <-heard:
		case <-tick.C:
		}
	}
}

// listen listens until the context ends, and begins again when it cannot hear any more.
func (a *API) listen(ctx context.Context, heard func()) {
	for ctx.Err() == nil {
		err := a.o.Source.Listen(ctx, heard)
		if ctx.Err() != nil {
			return
		}
		a.o.Logger.DebugContext(ctx, "not listening to writes of status pages; looking every ten seconds", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(relistenPace):
		}
	}
}

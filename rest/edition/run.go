package edition

import (
	"context"
	"time"
)

// Run keeps the edition fresh until the context ends: it looks at the pages when somebody tells of a write, when it has begun to listen, and every ten seconds. It
// returns at once where nothing is kept.
func (k *Keeper) Run(ctx context.Context) {
	if k.o.Source == nil || k.o.CacheOff {
		return
	}
	heard := make(chan struct{}, 1)
	wake := func() {
		select {
		case heard <- struct{}{}:
		default: // the next look sees this write too
		}
	}
	go k.listen(ctx, wake)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		_ = k.refresh(ctx) // which counts and logs what goes wrong
		select {
		case <-ctx.Done():
			return
		case <-heard:
		case <-tick.C:
		}
	}
}

// listen listens until the context ends, and begins again when it cannot hear any more.
func (k *Keeper) listen(ctx context.Context, heard func()) {
	for ctx.Err() == nil {
		listened := false
		err := k.o.Source.Listen(ctx, func() {
			listened = true
			heard()
		})
		if ctx.Err() != nil {
			return
		}
		if listened { // whatever ended it may have ended the database too
			heard()
		}
		k.o.Logger.DebugContext(ctx, "not listening to writes of status pages; looking every ten seconds", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(relistenPace):
		}
	}
}

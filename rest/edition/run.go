package edition

import (
	"context"
	"time"
)

// Run refreshes the edition until the context ends: after each notification of a write, when listening starts, and every ten seconds. It returns at once
// if the cache is disabled.
func (k *Keeper) Run(ctx context.Context) {
	if k.o.Source == nil || k.o.CacheOff {
		return
	}
	heard := make(chan struct{}, 1)
	wake := func() {
		select {
		case heard <- struct{}{}:
		default: // the pending refresh includes this write
		}
	}
	go k.listen(ctx, wake)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		_ = k.refresh(ctx) // refresh counts and logs errors
		select {
		case <-ctx.Done():
			return
		case <-heard:
		case <-tick.C:
		}
	}
}

// listen listens until the context ends and reconnects when the connection is lost.
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
		if listened { // the database may be down
			heard()
		}
		k.o.Logger.DebugContext(ctx, "not listening to writes of status pages; looking every ten seconds", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(relistenPace):
		}
	}
}

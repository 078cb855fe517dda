package embedded

import (
	"context"
	"os"
	"time"
)

// WatchParent returns a channel that is closed when the go command that started this process has ended. `go run` does not forward SIGTERM, so without this,
// terminating it would leave the gateway running. If another program started this process, the channel is nil and never ready. Watching ends with ctx.
func WatchParent(ctx context.Context) <-chan struct{} {
	return watchParent(ctx, "go", time.Second)
}

// watchParent watches a parent with the given name and checks it at every interval.
func watchParent(ctx context.Context, name string, interval time.Duration) <-chan struct{} {
	parent := os.Getppid()
	if processName(parent) != name {
		return nil
	}
	gone := make(chan struct{})
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if os.Getppid() != parent {
					close(gone)
					return
				}
			}
		}
	}()
	return gone
}

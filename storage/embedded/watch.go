package embedded

import (
	"context"
	"os"
	"time"
)

// WatchParent returns a channel that is closed when the go command that started this process has gone. `go run` does
// not pass SIGTERM on: without this, terminating it would leave the gateway running. The channel is nil, and so never
// ready, when this process was started by something else. Watching ends with ctx.
func WatchParent(ctx context.Context) <-chan struct{} {
	return watchParent(ctx, "go", time.Second)
}

// watchParent does so for a parent of the given name, and looks at every interval.
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

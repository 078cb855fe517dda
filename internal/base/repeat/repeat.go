// Package repeat has what loops in the background share.
package repeat

import (
	"context"
	"time"
)

// Every returns a sequence for a range loop without variables: it runs the loop's body immediately, even if the
// context has ended, and then at each interval until the context ends. Ticks that pass while the body runs are
// dropped. The loop panics if the interval is not positive.
func Every(ctx context.Context, interval time.Duration) func(body func() bool) {
	return func(body func() bool) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for body() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if ctx.Err() != nil { // both were ready
					return
				}
			}
		}
	}
}

// Sleep waits for a duration and returns true, or returns false as soon as the context ends. If both happen at the
// same time, it returns either.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

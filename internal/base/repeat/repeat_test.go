package repeat_test

import (
	"context"
	"testing"
	"time"

	"heliograph/internal/base/repeat"
)

func TestEvery(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runs := 0
	for range repeat.Every(ctx, time.Millisecond) {
		runs++
		if runs == 3 {
			break
		}
	}
	cancel()
	if runs != 3 {
		t.Errorf("the loop ran %d times", runs)
	}
	for range repeat.Every(ctx, time.Hour) { // returns, because the context has ended
		runs++
	}
	if runs != 4 {
		t.Errorf("the body ran %d times with an ended context, want once", runs-3)
	}
}

// TestEveryEnds ends the context while a tick is ready: the body does not run again.
func TestEveryEnds(t *testing.T) {
	t.Parallel()
	for range 20 {
		if runs := runUntilEnd(t); runs != 1 {
			t.Fatalf("the body ran %d times", runs)
		}
	}
}

// runUntilEnd returns how often a body runs that takes longer than the interval and then ends its context.
func runUntilEnd(t *testing.T) (runs int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range repeat.Every(ctx, time.Microsecond) {
		time.Sleep(time.Millisecond)
		cancel()
		runs++
	}
	return runs
}

func TestSleep(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if !repeat.Sleep(ctx, time.Millisecond) {
		t.Error("the time has not passed")
	}
	cancel()
	if repeat.Sleep(ctx, time.Hour) {
		t.Error("the context has ended")
	}
}

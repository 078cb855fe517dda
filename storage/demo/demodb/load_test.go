package demodb

import (
	"context"
	"errors"
	"testing"
	"time"

	"heliograph/storage/pgtest"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, empty.Fresh(t))
	if is, err := IsEmpty(t.Context(), conn); err != nil || !is {
		t.Fatalf("IsEmpty before the load: %v, %v", is, err)
	}
	if is, err := IsDemo(t.Context(), conn); err != nil || is {
		t.Fatalf("IsDemo before the load: %v, %v", is, err)
	}
	var steps []string
	last, rows := 0, 0
	err := Load(t.Context(), conn, noon, func(step string, done, total int) {
		steps = append(steps, step)
		if done < last || done > total {
			t.Errorf("progress at %s: %d of %d after %d", step, done, total, last)
		}
		last, rows = done, total
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) < 50 || last == 0 || last >= rows {
		t.Errorf("%d steps, the last with %d of %d rows", len(steps), last, rows)
	}
	if got, want := one(t, conn, "select max(consensus_timestamp) from transaction"),
		noon.Truncate(time.Second).Add(-4*time.Second); got != want.UnixNano() {
		t.Errorf("last transaction at %d, want %v", got, want)
	}
	if is, err := IsDemo(t.Context(), conn); err != nil || !is {
		t.Errorf("IsDemo after the load: %v, %v", is, err)
	}
	if is, err := IsEmpty(t.Context(), conn); err != nil || is {
		t.Errorf("IsEmpty after the load: %v, %v", is, err)
	}
	if err := Load(t.Context(), conn, noon, nil); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("second load: %v", err)
	}
}

// TestLoadTwiceAtOnce lets two loads find the same empty database.
func TestLoadTwiceAtOnce(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	results := make(chan error, 2)
	for range cap(results) {
		conn := pgtest.Connect(t, url)
		go func() {
			err := Load(t.Context(), conn, noon, nil)
			results <- err
		}()
	}
	a, b := <-results, <-results
	if (a == nil) == (b == nil) || !errors.Is(errors.Join(a, b), ErrNotEmpty) {
		t.Errorf("one load should succeed and one find data: %v, %v", a, b)
	}
}

// TestLoadCancelled stops a load half way: nothing may be left.
func TestLoadCancelled(t *testing.T) {
	t.Parallel()
	url := empty.Fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := Load(ctx, pgtest.Connect(t, url), noon, func(_ string, done, total int) {
		if total > 0 && done > total/2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled load: %v", err)
	}
	if is, err := IsEmpty(t.Context(), pgtest.Connect(t, url)); err != nil || !is {
		t.Errorf("IsEmpty after a cancelled load: %v, %v", is, err)
	}
}

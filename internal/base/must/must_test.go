package must_test

import (
	"errors"
	"testing"

	"heliograph/internal/base/must"
)

func TestRun(t *testing.T) {
	t.Parallel()
	broken, other := errors.New("broken"), errors.New("other")
	steps := 0
	err := must.Run(func() error {
		steps += must.Get(1, nil)
		must.Do(nil)
		if err := must.Run(func() error { return must.Get(other, nil) }); !errors.Is(err, other) {
			t.Errorf("the inner function returned %v", err)
		}
		steps += must.Get(1, broken)
		return nil
	})
	if !errors.Is(err, broken) || steps != 1 {
		t.Errorf("%v after %d steps", err, steps)
	}
	defer func() {
		if p := recover(); p != "panic" {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = must.Run(func() error { panic("panic") })
}

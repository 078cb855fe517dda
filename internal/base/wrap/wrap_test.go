package wrap

import (
	"errors"
	"testing"
)

func TestError(t *testing.T) {
	t.Parallel()
	if err := Error(nil, "reading %s", "x"); err != nil {
		t.Errorf("nil became %v", err)
	}
	cause := errors.New("no luck")
	if err := Error(cause, "reading %s", "x"); !errors.Is(err, cause) || err.Error() != "reading x: no luck" {
		t.Errorf("got %v", err)
	}
}

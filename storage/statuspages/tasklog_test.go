package statuspages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"heliograph/storage/statuspages"
)

// TestTaskLog checks that each error is logged once, that the recovery is logged, and that an unreachable database has
// level debug.
func TestTaskLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	task := statuspages.TaskLog{Task: "sending", Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))}
	unreachable := fmt.Errorf("refused: %w", &pgconn.ConnectError{Config: &pgconn.Config{}})
	for _, err := range []error{nil, errors.New("a"), errors.New("a"), errors.New("b"), nil, nil, unreachable, nil} {
		task.Record(t.Context(), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	task.Record(ended, errors.New("c"))
	want := `level=WARN msg="a background task failed" task=sending error=a
level=WARN msg="a background task failed" task=sending error=b
level=INFO msg="a background task succeeds again" task=sending
level=DEBUG msg="a background task failed" task=sending error=` + fmt.Sprintf("%q", unreachable.Error()) + `
level=DEBUG msg="a background task succeeds again" task=sending
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

func TestFailureOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want Failure
	}{
		"unknown":             {errors.New("x"), FailureOther},
		"undecodable":         {&unreadable{io.EOF}, FailureOther},
		"ambiguous":           {ErrAmbiguous, FailureAmbiguous},
		"statement timeout":   {&pgconn.PgError{Code: "57014"}, FailureTimeout},
		"request timeout":     {context.DeadlineExceeded, FailureTimeout},
		"cancelled":           {context.Canceled, FailureCancelled},
		"out of range":        {&pgconn.PgError{Code: "22003"}, FailureOutOfBounds},
		"undefined table":     {&pgconn.PgError{Code: "42P01"}, FailureDatabase},
		"failed to connect":   {&pgconn.ConnectError{}, FailureDatabase},
		"closed pool":         {puddle.ErrClosedPool, FailureDatabase},
		"lost connection":     {io.ErrUnexpectedEOF, FailureDatabase},
		"end of the response": {io.EOF, FailureDatabase},
	} {
		if got := FailureOf(fmt.Errorf("reading: %w", c.err)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestSilentServer connects to a server that accepts connections and says nothing: it is unreachable, which is another
// failure than that of a statement that takes too long.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = pgconn.Connect(ctx, "postgres://u@"+l.Addr().String()+"/d?sslmode=disable")
	if got := FailureOf(err); got != FailureDatabase {
		t.Errorf("the class of %v is %d", err, got)
	}
}

// TestPermissionDenied checks that a missing permission is reported like a missing table.
func TestPermissionDenied(t *testing.T) {
	t.Parallel()
	err := new(DB).explain(fmt.Errorf("reading: %w",
		&pgconn.PgError{Code: "42501", Message: "permission denied for table token"}))
	if FailureOf(err) != FailureMismatch ||
		err.Error() != "the gateway's role has no permission: permission denied for table token" {
		t.Errorf("%v", err)
	}
}

package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"heliograph/internal/base/turns"
	"heliograph/internal/base/values"
)

// TestBegin checks that an operation of a stream that is refused a turn tries again, but not for ever.
func TestBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := turns.New(4, 2, 100*time.Millisecond)
		held := q.Turn("client")
		if err := held.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		request := q.Turn("client")
		ctx := values.Context(t.Context(), request.Value())
		if turn := begin(ctx); turn != nil {
			t.Error("a second turn of the client is granted")
		}
		time.AfterFunc(3*time.Second, held.Leave)
		since := time.Now()
		turn := begin(ctx)
		if waited := time.Since(since); turn == nil || waited < 3*time.Second || waited > 3*time.Second+startPause {
			t.Errorf("the turn is %v after %s", turn, waited)
		}
		turn.Leave()
		gone, leave := context.WithCancel(ctx)
		leave()
		if begin(gone) != nil {
			t.Error("a client that has disconnected has a turn")
		}
	})
}

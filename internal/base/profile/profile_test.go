package profile_test

import (
	"context"
	"testing"
	"time"

	"heliograph/internal/base/profile"
)

// TestSlowestCanBeExplained tests that the slowest round trip is one whose statements can be executed again, although
// another one takes longer.
func TestSlowestCanBeExplained(t *testing.T) {
	t.Parallel()
	p := profile.New(func(context.Context) string { return "tokens" })
	explained := func(context.Context) (float64, []profile.Scan, error) {
		return 1, []profile.Scan{{Table: "token", Index: "token_pkey"}}, nil
	}
	at := profile.Place{Field: "tokens", Level: 1}
	p.Trip()(at, 25, explained)
	slow := p.Trip()
	time.Sleep(2 * time.Millisecond)
	slow(at, 1, nil)
	p.Finish(t.Context(), 0, 100)
	if s := p.Statements[0]; len(s.Scans) != 1 || s.Server != 1 {
		t.Errorf("the statement that can be executed again: %+v", s)
	}
	if s := p.Statements[1]; s.Scans != nil || s.Milliseconds < 2 {
		t.Errorf("the slowest statement: %+v", s)
	}
}

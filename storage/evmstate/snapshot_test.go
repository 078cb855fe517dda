package evmstate

import (
	"context"
	"testing"

	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/storage/demo"
)

// TestFailedSnapshot checks that a snapshot does not report what it could not read as missing.
func TestFailedSnapshot(t *testing.T) {
	t.Parallel()
	at, _ := open(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	addresses := []ledger.EVMAddress{ledger.EntityID(demo.Alice).LongZero()}
	slots := [][32]byte{{}}
	s := at(worldstate.BlockRef{})
	defer s.Close()
	for _, ctx := range []context.Context{ended, t.Context()} {
		if got, err := s.Entities(ctx, addresses); err == nil {
			t.Errorf("the entities are %v without an error", got)
		}
	}
	s = at(worldstate.BlockRef{})
	defer s.Close()
	for _, ctx := range []context.Context{ended, t.Context()} {
		if got, err := s.Slots(ctx, ledger.EntityID(demo.Trent), slots); err == nil {
			t.Errorf("the slots are %v without an error", got)
		}
	}
}

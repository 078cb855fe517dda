package evm_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/ledger/codes"
)

// TestPointEvaluation checks that runs end without the set-up of the point evaluation, and evaluate after it.
func TestPointEvaluation(t *testing.T) {
	t.Parallel()
	infinity := append([]byte{0xc0}, make([]byte, 47)...) // commitment to and proof of the polynomial 0
	hash := sha256.Sum256(infinity)
	hash[0] = 1
	sim, message := begin(t, newMachine(), world(t, "STOP")), to(10, hash[:], word(5), word(0), infinity, infinity)
	if _, err := sim.Call(message); !errors.Is(err, evm.ErrPointEvaluation) {
		t.Errorf("before the set-up: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := evm.PreparePointEvaluation(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled request: %v", err)
	}
	start := time.Now()
	if err := evm.PreparePointEvaluation(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("the set-up took %s", time.Since(start))
	if r, err := sim.Call(message); err != nil || r.Code != codes.Success || len(words(r.Output)) != 2 ||
		words(r.Output)[0].Big().Int64() != 4096 {
		t.Errorf("after the set-up: %+v, %v", r, err)
	}
	message.Data[95] = 1
	if r, err := sim.Call(message); err != nil || !r.Failed() {
		t.Errorf("a wrong value: %+v, %v", r, err)
	}
}

package evm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto/kzg4844"
)

// ErrPointEvaluation ends a run that needs the point evaluation (EIP-4844) before its set-up, which takes seconds. Run it again after [PreparePointEvaluation].
var ErrPointEvaluation = errors.New("the point evaluation is not set up")

const pointEvaluationNumber = 0x0a

// setUp is the set-up of the point evaluation in this process. ready is closed when it is complete.
var setUp = struct {
	start sync.Once
	ready chan struct{}
}{ready: make(chan struct{})}

// PreparePointEvaluation waits for the set-up of the point evaluation, which the first call starts. The set-up continues if ctx ends.
func PreparePointEvaluation(ctx context.Context) error {
	setUp.start.Do(func() {
		go func() {
			defer close(setUp.ready)
			_ = kzg4844.UseCKZG(false) // sets up the Go implementation, which cannot fail
		}()
	})
	select {
	case <-setUp.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the set-up of the point evaluation: %w", ctx.Err())
	}
}

// pointEvaluation ends runs before its set-up, so that they do not keep the connection of their snapshot for seconds.
type pointEvaluation struct {
	vm.PrecompiledContract
	sim **Simulation
}

// Run implements vm.PrecompiledContract.
func (p pointEvaluation) Run(input []byte) ([]byte, error) {
	select {
	case <-setUp.ready:
	default:
		(*p.sim).state.Abort(ErrPointEvaluation)
	}
	return p.PrecompiledContract.Run(input) //nolint:wrapcheck // the interpreter compares errors
}
